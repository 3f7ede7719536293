/* session_options.c - session options from the environment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/sampling/heap.h"
#include "session.h"

enum { MIN_WAIT_NS_DEFAULT = 1000 };
#define FLIGHT_BYTES_DEFAULT (UINT64_C(64) << 20)
#define WINDOW_NS_DEFAULT    UINT64_C(10000000000)

int trc_bytes_parse(const char *text, uint64_t *bytes)
{
	char *end;
	unsigned int shift = 0;
	unsigned long long n = strtoull(text, &end, 10);

	if (end == text || *text == '-')
		return -EINVAL;
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (shift)
		end++;
	if (*end || n > UINT64_MAX >> 30)
		return -EINVAL;
	*bytes = (uint64_t)n << shift;
	return 0;
}

/* The number of `text` in a list that ends with NULL; -1 if it is not there. */
static int find_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	return -1;
}

/* Conditions, separated by semicolons. */
static int parse_triggers(const char *text, struct trc_session_options *o)
{
	char one[sizeof(o->trigger->text)], error[128];

	for (o->n_triggers = 0; *text; o->n_triggers++) {
		size_t n = strcspn(text, ";");

		if (n >= sizeof(one) || o->n_triggers == TRC_TRIGGER_SPECS_MAX)
			return -EINVAL;
		memcpy(one, text, n);
		one[n] = '\0';
		if (trc_trigger_parse(&o->trigger[o->n_triggers], one, error, sizeof(error)))
			return -EINVAL;
		text += n + (text[n] == ';');
	}
	return 0;
}

static int parse_variable(struct trc_session_options *o, const char *name, const char *text)
{
	static const char *const locks[] = {"contended", "all", "none", NULL};
	static const char *const on_full[] = {"wait", "drop", NULL};
	static const char *const paths[] = {"auto", "rseq", "overflow", NULL};
	static const char *const clocks[] = {"auto", "tsc", "cntvct", "monotonic", NULL};
	static const char *const zero_one[] = {"0", "1", NULL};
	static const char *const off_on[] = {"off", "on", NULL};
	int word = 0;

	if (!strcmp(name, "TRC_RING_SIZE"))
		return trc_bytes_parse(text, &o->ring_bytes);
	if (!strcmp(name, "TRC_MAX_SIZE"))
		return trc_bytes_parse(text, &o->max_bytes);
	if (!strcmp(name, "TRC_HEAP"))
		return trc_bytes_parse(text, &o->heap_bytes) ? -EINVAL
		       : o->heap_bytes > TRC_HEAP_PERIOD_MAX ? -EINVAL
							     : 0;
	if (!strcmp(name, "TRC_TRIGGERS"))
		return parse_triggers(text, o);
	if (!strcmp(name, "TRC_WINDOW"))
		return trc_duration_parse(text, &o->window_ns);
	if (!strcmp(name, "TRC_FLIGHT"))
		o->flight = (word = find_word(text, zero_one)) == 1;
	if (!strcmp(name, "TRC_CRASH"))
		o->crash = (word = find_word(text, off_on)) == 1;
	if (!strcmp(name, "TRC_OTEL"))
		o->no_otel = (word = find_word(text, off_on)) == 0;
	if (!strcmp(name, "TRC_WAIT_NS"))
		return trc_bytes_parse(text, &o->min_wait_ns);
	if (!strcmp(name, "TRC_UNWIND"))
		return trc_unwind_mode_parse(text, &o->unwind) ? 0 : -EINVAL;
	if (!strcmp(name, "TRC_LOCKS"))
		o->locks = (enum trc_locks)(word = find_word(text, locks));
	else if (!strcmp(name, "TRC_ON_FULL"))
		o->on_full = (enum trc_on_full)(word = find_word(text, on_full));
	else if (!strcmp(name, "TRC_RING_PATH"))
		o->path = (enum trc_ring_path)(word = find_word(text, paths));
	else if (!strcmp(name, "TRC_CLOCK"))
		o->clock = (enum trc_clock_kind)(word = find_word(text, clocks));
	return word < 0 ? -EINVAL : 0;
}

/* What trace-record samples by the kernel: of these events only the threads' first samples are ours.  A process that may not
 * count what trace-record counts, as behind a filter or without its capabilities, has the kernel's samples alone. */
static void parse_kernel_events(struct trc_session_options *o)
{
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	bool user_only;
	char error[256];
	int n = trc_kernel_events_parse(secure_getenv("TRC_KERNEL_EVENTS"), event, &user_only,
					error, sizeof(error));

	if (n > 0 && trc_cpu_events_settle(event, (unsigned int)n, true, error, sizeof(error)))
		n = 0;
	for (int i = 0; i < n && o->n_cpu_events < TRC_CPU_EVENTS_MAX; i++)
		if (trc_kernel_event_is_same(&event[i], user_only))
			o->cpu_event[o->n_cpu_events++] = event[i];
}

/* Three variables, which mean something together. */
static int parse_cpu_events(struct trc_session_options *o, char *error, size_t n_bytes)
{
	const char *list = secure_getenv("TRC_CPU_EVENTS");
	const char *frequency = secure_getenv("TRC_CPU_FREQUENCY");
	const char *by_name = secure_getenv("TRC_SAMPLE_BY");
	enum trc_sample_by by = TRC_SAMPLE_BY_AUTO;
	uint64_t frequency_hz = 0;
	char *end = NULL;
	int n;

	if (frequency && *frequency)
		frequency_hz = strtoull(frequency, &end, 10);
	if (end && (*end || *frequency == '-' || !frequency_hz)) {
		snprintf(error, n_bytes, "TRC_CPU_FREQUENCY=%s is not understood", frequency);
		return -EINVAL;
	}
	if (by_name && *by_name && !trc_sample_by_parse(by_name, &by)) {
		snprintf(error, n_bytes, "TRC_SAMPLE_BY=%s is not understood", by_name);
		return -EINVAL;
	}
	n = trc_cpu_events_parse(list, frequency_hz, by, o->cpu_event, error, n_bytes);
	if (n < 0)
		return n;
	o->n_cpu_events = (unsigned int)n;
	n = trc_cpu_events_settle(o->cpu_event, o->n_cpu_events, false, error, n_bytes);
	if (!n)
		parse_kernel_events(o);
	return n;
}

void trc_session_flight(struct trc_session_options *o)
{
	o->flight = true;
	if (!o->max_bytes && !o->ring_bytes)
		o->max_bytes = FLIGHT_BYTES_DEFAULT;
	if (!o->window_ns)
		o->window_ns = WINDOW_NS_DEFAULT;
}

int trc_session_options_init(struct trc_session_options *o, char *error, size_t n_bytes)
{
	static const char *const names[] = {
		"TRC_RING_SIZE", "TRC_WAIT_NS", "TRC_UNWIND", "TRC_LOCKS",    "TRC_ON_FULL",
		"TRC_RING_PATH", "TRC_CLOCK",	"TRC_FLIGHT", "TRC_MAX_SIZE", "TRC_WINDOW",
		"TRC_TRIGGERS",	 "TRC_CRASH",	"TRC_HEAP",   "TRC_OTEL",     NULL};
	int err = 0;

	memset(o, 0, sizeof(*o));
	o->crash = true;
	o->min_wait_ns = MIN_WAIT_NS_DEFAULT;
	o->dir = secure_getenv("TRC_RING_DIR");
	if (!o->dir)
		o->dir = "/dev/shm";
	for (int i = 0; names[i]; i++) {
		const char *text = secure_getenv(names[i]);

		if (text && *text && parse_variable(o, names[i], text)) {
			snprintf(error, n_bytes, "%s=%s is not understood", names[i], text);
			err = -EINVAL;
		}
	}
	if (o->flight)
		trc_session_flight(o);
	return err ? err : parse_cpu_events(o, error, n_bytes);
}
