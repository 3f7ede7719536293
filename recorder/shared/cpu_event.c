/*
 * cpu_event.c - events as users write them (cpu_event.h).
 *
 * Context: any thread. A recorded process calls this while it looks at its environment, so nothing
 * here allocates, prints, or depends on the locale.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "cpu_event.h"
#include "format/hex.h"
#include "one_line.h"

#define NAMES                                                                                      \
	"auto, timer, cpu-clock, task-clock, page-faults, context-switches, cycles, "              \
	"instructions, cache-references, cache-misses, branches, branch-misses and rHEX"

enum { SHOWN_BYTES = 64 };
enum { CLOCK = 1, TIMER = 2, AUTO = 4, HARDWARE = 8, IN_KERNEL = 16 };

static const struct kind {
	const char *name;
	uint32_t type;
	uint64_t config, preset, least;
	unsigned int flags;
} kinds[] = {
	{"auto", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000, 10000, CLOCK | AUTO},
	{"timer", 0, 0, 10000000, 10000, CLOCK | TIMER},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000, 10000, CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1000000, 10000, CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 10, 1, 0},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 10, 1, IN_KERNEL},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 3000000, 10000, HARDWARE},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 3000000, 10000, HARDWARE},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 100000, 100,
	 HARDWARE},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 10000, 100, HARDWARE},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 500000, 1000, HARDWARE},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 10000, 100, HARDWARE},
};
static const struct kind raw_kind = {"rHEX", PERF_TYPE_RAW, 0, 1000000, 100, HARDWARE};

/* A piece of the text. */
struct piece {
	const char *at;
	int n;
};

struct parser {
	struct trc_cpu_event *event;
	unsigned int n;
	uint64_t frequency_hz;
	enum trc_sample_by by;
	struct piece text; /* what is looked at: an event, or the list */
	char *error;
	size_t error_bytes;
};

/* "TEXT: WHY", and never so much text that no room is left for why. */
static int event_refuse(const struct parser *p, const char *why)
{
	bool cut = p->text.n > SHOWN_BYTES;

	snprintf(p->error, p->error_bytes, "%.*s%s: %s", cut ? SHOWN_BYTES : p->text.n, p->text.at,
		 cut ? "..." : "", why);
	trc_one_line(p->error);
	return -EINVAL;
}

static struct piece piece_until(const char *at, const char *end, char separator)
{
	struct piece piece = {at, 0};

	while (at + piece.n < end && at[piece.n] != separator)
		piece.n++;
	return piece;
}

static bool piece_is_word(struct piece p, const char *word)
{
	return (size_t)p.n == strlen(word) && !memcmp(p.at, word, (size_t)p.n);
}

/* ---- names ----------------------------------------------------------------------------- */

/* False if it is no rHEX of at most 64 bits. */
static bool parse_raw(struct piece name, uint64_t *config)
{
	*config = 0;
	if (name.n < 2 || name.n > 17 || name.at[0] != 'r')
		return false;
	for (int i = 1; i < name.n; i++) {
		int digit = trc_hex_digit(name.at[i]);

		if (digit < 0)
			return false;
		*config = *config << 4 | (uint64_t)digit;
	}
	return true;
}

static const struct kind *event_name_parse(const struct parser *p, struct piece name,
					   uint64_t *config)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (piece_is_word(name, kinds[i].name)) {
			*config = kinds[i].config;
			return &kinds[i];
		}
	}
	if (parse_raw(name, config))
		return &raw_kind;
	if (name.n && name.at[0] == 'r')
		event_refuse(p, "not an event such as r1a8, up to 16 hexadecimal digits; there "
				"are " NAMES);
	else
		event_refuse(p, "no such event; there are " NAMES);
	return NULL;
}

/* ---- what follows a name --------------------------------------------------------------- */

static int parse_modifiers(const struct parser *p, struct trc_cpu_event *e, struct piece text)
{
	bool u = false, k = false, h = false;
	unsigned int precise = 0;

	for (int i = 0; i < text.n; i++) {
		u |= text.at[i] == 'u';
		k |= text.at[i] == 'k';
		h |= text.at[i] == 'h';
		precise += text.at[i] == 'p';
		if (!strchr("ukhp", text.at[i]))
			return event_refuse(p, "not a period, nor modifiers as with perf: u, k, h, "
					       "p, pp, ppp");
	}
	if (precise > 3)
		return event_refuse(p, "not more than ppp");
	if (precise && !e->is_hardware)
		return event_refuse(p, "only the processor's events have p, pp and ppp: cycles, "
				       "instructions, ...");
	e->precise = (uint8_t)precise;
	e->said_modes = u || k || h;
	e->exclude_user = e->said_modes && !u;
	e->exclude_kernel = e->said_modes && !k;
	e->exclude_hv = e->said_modes && !h;
	return 0;
}

static int parse_period(const struct parser *p, struct trc_cpu_event *e, struct piece text,
			uint64_t least)
{
	char why[96];
	uint64_t n = 0;

	for (int i = 0; i < text.n; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return event_refuse(p, "not a period: a number such as 1000000");
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(text.at[i] - '0'), &n))
			n = UINT64_MAX;
	}
	if (n && (n < least || n > INT64_MAX)) {
		snprintf(why, sizeof(why), "this period is too %s: %llu %s",
			 n < least ? "short" : "long",
			 (unsigned long long)(n < least ? least : INT64_MAX),
			 n < least ? "at least" : "at most");
		return event_refuse(p, why);
	}
	if (n)
		e->period = n;
	return n != 0; /* 0 = the preset */
}

/* ":PERIOD", ":MODIFIERS", each at most once.  1 if there was a period, 0 or -EINVAL. */
static int parse_rest(const struct parser *p, struct trc_cpu_event *e, const char *at,
		      uint64_t least)
{
	const char *end = p->text.at + p->text.n;
	bool period = false, modifiers = false;
	int has_period = 0;

	while (at < end) {
		struct piece text = piece_until(at + 1, end, ':');
		bool number = text.n && text.at[0] >= '0' && text.at[0] <= '9';
		int err;

		if (!text.n)
			return event_refuse(p,
					    "a period or modifiers are missing behind the colon");
		if (number ? period : modifiers)
			return event_refuse(p, number ? "two periods" : "modifiers twice");
		if (!number && (e->is_timer || e->is_auto))
			return event_refuse(p, "a timer has a period, but no modifiers");
		err = number ? parse_period(p, e, text, least) : parse_modifiers(p, e, text);
		if (err < 0)
			return err;
		has_period |= err; /* that of a period */
		period |= number;
		modifiers |= !number;
		at = text.at + text.n;
	}
	return has_period;
}

/* ---- one event ------------------------------------------------------------------------- */

/* Name and modifiers in one order, so that the same event has one name. */
static void event_put_name(struct trc_cpu_event *e, struct piece name)
{
	char text[8];
	int n = 0;

	for (int i = 0; e->said_modes && i < 3; i++) {
		const bool excluded[] = {e->exclude_user, e->exclude_kernel, e->exclude_hv};

		if (!excluded[i])
			text[n++] = "ukh"[i];
	}
	for (int i = 0; i < e->precise; i++)
		text[n++] = 'p';
	snprintf(e->name, sizeof(e->name), "%.*s%s%.*s", name.n, name.at, n ? ":" : "", n, text);
}

bool trc_cpu_event_same(const struct trc_cpu_event *a, const struct trc_cpu_event *b)
{
	/* What auto may turn out to be. */
	if (a->is_auto || b->is_auto) {
		const struct trc_cpu_event *other = a->is_auto ? b : a;

		return other->is_auto || other->is_timer ||
		       (other->type == PERF_TYPE_SOFTWARE &&
			other->config == PERF_COUNT_SW_CPU_CLOCK && !other->said_modes);
	}
	return a->is_timer == b->is_timer && a->type == b->type && a->config == b->config &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel;
}

static const char *why_twice(const struct trc_cpu_event *a, const struct trc_cpu_event *b)
{
	if (a->is_auto != b->is_auto)
		return "auto is cpu-clock or timer: not beside these";
	if (a->precise != b->precise)
		return "twice the same event, which p, pp and ppp make no other; there are " NAMES;
	return "twice the same event; there are " NAMES;
}

static int event_check(const struct parser *p, const struct trc_cpu_event *e, unsigned int flags)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (trc_cpu_event_same(&p->event[i], e))
			return event_refuse(p, why_twice(&p->event[i], e));
	if ((flags & IN_KERNEL) && e->exclude_kernel)
		return event_refuse(p, "it happens in the kernel: not with :u alone");
	if (e->is_timer && e->by == TRC_SAMPLE_BY_KERNEL)
		return event_refuse(p, "a timer sends a signal: not by the kernel; cpu-clock is "
				       "the clock that goes with kernel");
	return 0;
}

static int parse_event(struct parser *p)
{
	struct piece name = piece_until(p->text.at, p->text.at + p->text.n, ':');
	struct trc_cpu_event *e = &p->event[p->n];
	const struct kind *kind;
	uint64_t config;
	int has_period, err;

	kind = event_name_parse(p, name, &config);
	if (!kind)
		return -EINVAL;
	*e = (struct trc_cpu_event){
		.unit = kind->flags & CLOCK ? "nanoseconds" : "count",
		.type = kind->type,
		.config = config,
		.is_auto = kind->flags & AUTO,
		.is_timer = kind->flags & TIMER,
		.is_clock = kind->flags & CLOCK,
		.is_hardware = kind->flags & HARDWARE,
		.period = kind->preset,
		.by = p->by,
	};
	has_period = parse_rest(p, e, name.at + name.n, kind->least);
	if (has_period < 0)
		return has_period;
	e->is_preset = !has_period && !(e->is_clock && p->frequency_hz);
	if (!e->is_preset && !has_period) {
		e->period = 1000000000 / p->frequency_hz;
		e->frequency_hz = p->frequency_hz;
	}
	event_put_name(e, name);
	err = event_check(p, e, kind->flags);
	p->n += !err;
	return err;
}

/* ---- the list -------------------------------------------------------------------------- */

static int parse_list(struct parser *p, const char *list)
{
	const char *end = list + strlen(list);

	for (const char *at = list;; at++) {
		int err;

		p->text = piece_until(at, end, ',');
		if (!p->text.n) {
			p->text = (struct piece){list, (int)(end - list)};
			return event_refuse(p, "an event is missing; there are " NAMES);
		}
		if (p->n == TRC_CPU_EVENTS_MAX)
			return event_refuse(p, "one too many: at most 16 events in a session");
		err = parse_event(p);
		if (err)
			return err;
		at += p->text.n;
		if (at == end)
			return 0;
	}
}

int trc_cpu_events_parse(const char *list, uint64_t frequency_hz, enum trc_sample_by by,
			 struct trc_cpu_event *out, char *error, size_t n_bytes)
{
	struct parser p = {.event = out,
			   .frequency_hz = frequency_hz,
			   .by = by,
			   .error = error,
			   .error_bytes = n_bytes};
	bool used = !frequency_hz;
	int err;

	_Static_assert(TRC_CPU_EVENTS_MAX == 16, "as the sentence in parse_list() says");
	if (frequency_hz > TRC_CPU_EVENT_HZ_MAX) {
		snprintf(error, n_bytes,
			 "%llu: this frequency is too high: at most 100000 a second",
			 (unsigned long long)frequency_hz);
		return -EINVAL;
	}
	if ((!list || !*list) && !frequency_hz)
		return 0;
	err = parse_list(&p, list && *list ? list : "auto");
	if (err)
		return err;
	for (unsigned int i = 0; i < p.n; i++)
		used |= out[i].frequency_hz != 0;
	if (!used) {
		p.text = (struct piece){list, (int)strlen(list)};
		return event_refuse(&p, "a frequency is for clocks without a period: auto, timer, "
					"cpu-clock and task-clock; others have periods, as in "
					"cycles:1000000");
	}
	return (int)p.n;
}

static const char user_only_word[] = "user;";

/* Not what its name says, but what there is. */
static bool is_user_only(const struct trc_cpu_event *settled)
{
	return settled->exclude_kernel && !settled->said_modes;
}

void trc_kernel_events_add(char *list, size_t n_bytes, const struct trc_cpu_event *settled)
{
	const size_t n_word = sizeof(user_only_word) - 1;
	size_t n = strlen(list);

	if (is_user_only(settled) && strncmp(list, user_only_word, n_word) != 0 &&
	    n + n_word < n_bytes) {
		memmove(list + n_word, list, n + 1);
		memcpy(list, user_only_word, n_word);
		n += n_word;
	}
	snprintf(list + n, n_bytes - n, "%s%s:%llu", n && list[n - 1] != ';' ? "," : "",
		 settled->name, (unsigned long long)settled->period);
}

int trc_kernel_events_parse(const char *list, struct trc_cpu_event *out, bool *user_only,
			    char *error, size_t n_bytes)
{
	const size_t n_word = sizeof(user_only_word) - 1;

	*user_only = list && !strncmp(list, user_only_word, n_word);
	return trc_cpu_events_parse(*user_only ? list + n_word : list, 0, TRC_SAMPLE_BY_KERNEL, out,
				    error, n_bytes);
}

bool trc_kernel_event_is_same(const struct trc_cpu_event *settled, bool user_only)
{
	return settled->first_by_signal &&
	       (settled->said_modes || is_user_only(settled) == user_only);
}

bool trc_sample_by_parse(const char *text, enum trc_sample_by *by)
{
	static const char *const words[] = {"auto", "signal", "kernel"};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(text, words[i])) {
			*by = (enum trc_sample_by)i;
			return true;
		}
	}
	return false;
}

uint64_t trc_cpu_event_scaled(uint64_t period, uint64_t enabled_ns, uint64_t running_ns)
{
	unsigned __int128 value;

	/* A hundredth is what the two clocks may be apart. */
	if (!running_ns || enabled_ns <= running_ns + running_ns / 100)
		return period;
	value = (unsigned __int128)period * enabled_ns / running_ns;
	return value > INT64_MAX ? INT64_MAX : (uint64_t)value;
}
