/*
 * trigger.c - conditions and times as users write them (trigger.h).
 *
 * Context: any thread.  A recorded process calls this while it looks at its environment, so nothing
 * here allocates, prints, or depends on the locale.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include "format/schema.h"
#include "trigger.h"

/* Waits for another thread.  The others have a pace of their own, and are watched only if they
 * are named. */
#define FOR_THREADS                                                                                \
	(1u << TRC_REASON_MUTEX | 1u << TRC_REASON_RWLOCK_READ | 1u << TRC_REASON_RWLOCK_WRITE |   \
	 1u << TRC_REASON_SPIN | 1u << TRC_REASON_COND | 1u << TRC_REASON_COND_MUTEX |             \
	 1u << TRC_REASON_SEM | 1u << TRC_REASON_BARRIER | 1u << TRC_REASON_JOIN |                 \
	 1u << TRC_REASON_ONCE)

_Static_assert(TRC_REASON_COUNT <= 32, "a bit for each reason");

/* A piece of the text. */
struct piece {
	const char *at;
	size_t n;
};

/* ---- the sentence that says what is wrong ---------------------------------------------- */

static void error_append(char *error, size_t n_bytes, const char *text, size_t n)
{
	size_t used = strlen(error);

	if (n > n_bytes - 1 - used)
		n = n_bytes - 1 - used;
	memcpy(error + used, text, n);
	error[used + n] = '\0';
}

/* "PIECE: WHY", or WHY alone. */
static int trigger_refuse(char *error, size_t n_bytes, struct piece piece, const char *why)
{
	if (!n_bytes)
		return -EINVAL;
	error[0] = '\0';
	if (piece.n) {
		error_append(error, n_bytes, piece.at, piece.n);
		error_append(error, n_bytes, ": ", 2);
	}
	error_append(error, n_bytes, why, strlen(why));
	return -EINVAL;
}

/* ---- times ----------------------------------------------------------------------------- */

static bool piece_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Nanoseconds of a unit; 0 = no such unit. */
static uint64_t unit_ns(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(text, units[i].name))
			return units[i].ns;
	return 0;
}

int trc_duration_parse(const char *text, uint64_t *ns)
{
	const char *end = text, *at = text;
	uint64_t total = 0, unit, place;

	while (piece_is_digit(*end))
		end++;
	if (end == text)
		return -EINVAL;
	if (*end == '.' && piece_is_digit(end[1]))
		for (end++; piece_is_digit(*end);)
			end++;
	unit = place = unit_ns(end);
	if (!unit)
		return -EINVAL;
	for (; piece_is_digit(*at); at++)
		if (__builtin_mul_overflow(total, 10, &total) ||
		    __builtin_add_overflow(total, (uint64_t)(*at - '0'), &total))
			return -EINVAL;
	if (__builtin_mul_overflow(total, unit, &total))
		return -EINVAL;
	for (at += *at == '.'; piece_is_digit(*at); at++) {
		place /= 10; /* what is less than a nanosecond is nothing */
		if (__builtin_add_overflow(total, place * (uint64_t)(*at - '0'), &total))
			return -EINVAL;
	}
	*ns = total;
	return 0;
}

/* ---- conditions ------------------------------------------------------------------------ */

static bool piece_is(struct piece p, const char *word)
{
	return p.n == strlen(word) && !memcmp(p.at, word, p.n);
}

static bool text_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* "mutex,cond" */
static int parse_reasons(struct trc_trigger_spec *spec, struct piece list, char *error,
			 size_t n_bytes)
{
	const char *end = list.at + list.n;

	for (const char *at = list.at; at <= end; at++) {
		struct piece name = {at, 0};
		unsigned int reason = 1;

		while (at < end && *at != ',')
			at++;
		name.n = (size_t)(at - name.at);
		while (reason < TRC_REASON_RECORDED && !piece_is(name, trc_reason_name(reason)))
			reason++;
		if (reason == TRC_REASON_RECORDED)
			return trigger_refuse(
				error, n_bytes, name,
				"no such reason to wait; mutex, cond, poll, ... are some");
		spec->reasons |= 1u << reason;
	}
	return 0;
}

static int trigger_name_parse(struct trc_trigger_spec *spec, struct piece name, char *error,
			      size_t n_bytes)
{
	if (!name.n)
		return trigger_refuse(error, n_bytes, name,
				      "a name is missing, as in region:NAME>50ms");
	if (name.n >= sizeof(spec->name))
		return trigger_refuse(error, n_bytes, name,
				      "this name is too long (at most 63 bytes)");
	memcpy(spec->name, name.at, name.n);
	return 0;
}

/* What stands between the first word and the last '>', and the time after that. */
static int parse_limit(struct trc_trigger_spec *spec, const char *text, char *error, size_t n_bytes)
{
	const char *sign = strrchr(text, '>');
	size_t word_bytes = strcspn(text, ":>");
	struct piece what = {text + word_bytes, 0};
	bool named = text[word_bytes] == ':';
	struct piece time;

	if (!sign || (size_t)(sign - text) < word_bytes)
		return trigger_refuse(error, n_bytes, (struct piece){text, strlen(text)},
				      "a time is missing, as in park>100ms");
	time = (struct piece){sign + 1, strlen(sign + 1)};
	if (trc_duration_parse(time.at, &spec->min_ns))
		return trigger_refuse(error, n_bytes, time,
				      "not a time such as 50ms (ns, us, ms, s)");
	what.at += named;
	what.n = (size_t)(sign - what.at);
	if (spec->kind != TRC_TRIGGER_PARK)
		return trigger_name_parse(spec, named ? what : (struct piece){text, 0}, error,
					  n_bytes);
	if (named)
		return parse_reasons(spec, what, error, n_bytes);
	if (what.n) /* park>1s>2s */
		return trigger_refuse(error, n_bytes, (struct piece){text, strlen(text)},
				      "more than one time");
	spec->reasons = FOR_THREADS;
	return 0;
}

/* A small number; -1 if it is none. */
static int trigger_number_parse(const char *text)
{
	int n = 0;

	if (!*text)
		return -1;
	for (; piece_is_digit(*text) && n < 1000; text++)
		n = 10 * n + (*text - '0');
	return *text ? -1 : n;
}

/* USR2, SIGUSR2, 12, RTMIN+1; 0 if there is no such signal. */
static int signal_number(const char *text)
{
	int number = trigger_number_parse(text);

	if (text_begins(text, "SIG"))
		text += 3;
	if (!strcmp(text, "RTMIN"))
		number = SIGRTMIN;
	else if (text_begins(text, "RTMIN+") && trigger_number_parse(text + 6) >= 0)
		number = SIGRTMIN + trigger_number_parse(text + 6);
	for (int sig = 1; number < 0 && sig < NSIG; sig++) {
		const char *name = sigabbrev_np(sig);

		if (name && !strcmp(name, text))
			number = sig;
	}
	return number > 0 && number <= SIGRTMAX ? number : 0;
}

static int parse_signal(struct trc_trigger_spec *spec, const char *text, char *error,
			size_t n_bytes)
{
	struct piece name = {text, strlen(text)};

	spec->signal = signal_number(text);
	if (!spec->signal)
		return trigger_refuse(error, n_bytes, name, "no such signal");
	if (spec->signal == SIGKILL || spec->signal == SIGSTOP)
		return trigger_refuse(error, n_bytes, name, "no process sees this signal arrive");
	return 0;
}

static int trigger_kind_parse(struct trc_trigger_spec *spec, const char *text, char *error,
			      size_t n_bytes)
{
	struct piece all = {text, strlen(text)}, word = {text, strcspn(text, ":>=")};

	if (piece_is(all, "exit") || piece_is(all, "crash")) {
		spec->kind = piece_is(all, "exit") ? TRC_TRIGGER_EXIT : TRC_TRIGGER_CRASH;
		return 0;
	}
	if (text_begins(text, "signal=")) {
		spec->kind = TRC_TRIGGER_SIGNAL;
		return parse_signal(spec, text + 7, error, n_bytes);
	}
	if (piece_is(word, "park"))
		spec->kind = TRC_TRIGGER_PARK;
	else if (piece_is(word, "region"))
		spec->kind = TRC_TRIGGER_REGION;
	else if (piece_is(word, "task"))
		spec->kind = TRC_TRIGGER_TASK;
	else
		return trigger_refuse(error, n_bytes, all,
				      "not one of park>TIME, park:REASON>TIME, region:NAME>TIME, "
				      "task:NAME>TIME, signal=NAME, exit, crash");
	return parse_limit(spec, text, error, n_bytes);
}

int trc_trigger_parse(struct trc_trigger_spec *spec, const char *text, char *error, size_t n_bytes)
{
	struct piece all = {text, strlen(text)};

	*spec = (struct trc_trigger_spec){0};
	if (all.n >= sizeof(spec->text))
		return trigger_refuse(error, n_bytes, (struct piece){text, 40},
				      "this condition is too long (at most 95 bytes)");
	for (const char *c = text; *c; c++) /* ';' separates them in TRC_TRIGGERS */
		if ((unsigned char)*c < ' ' || *c == 127 || *c == ';')
			return trigger_refuse(error, n_bytes,
					      (struct piece){text, (size_t)(c - text)},
					      "a condition holds no ';' and no control character");
	memcpy(spec->text, text, all.n);
	return trigger_kind_parse(spec, text, error, n_bytes);
}
