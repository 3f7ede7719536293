/* selection_window.c - FROM..TO as it is written, and the time of the trace that it means. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "analyzer/text/line.h"
#include "selection_parts.h"

#define SAY(error, ...) snprintf((error)->text, sizeof((error)->text), __VA_ARGS__)

static const int64_t DAY_NS = INT64_C(86400000000000);

/* ---- times since the beginning, and how long something lasts ---- */

static const struct {
	const char *name;
	double ns;
} UNITS[] = {
	{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"min", 60e9}, {"s", 1e9},
};

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " ");
}

/* One number and its unit, at *text, which moves behind it. */
static bool take_term(const char **text, int64_t *ns)
{
	const char *digits = *text;
	char *end;
	double number;

	if (*digits != '.' && (*digits < '0' || *digits > '9'))
		return false;
	/* No sign, no exponent, nothing hexadecimal. */
	if (digits[strspn(digits, "0123456789")] == 'x' ||
	    digits[strspn(digits, "0123456789")] == 'X')
		return false;
	number = strtod(digits, &end);
	end += strspn(end, " ");
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(*UNITS); i++) {
		size_t n = strlen(UNITS[i].name);

		if (strncmp(end, UNITS[i].name, n) != 0)
			continue;
		number *= UNITS[i].ns;
		if (!(number < (double)(INT64_MAX / 4)))
			return false;
		*ns += (int64_t)(number + 0.5);
		*text = skip_blanks(end + n);
		return true;
	}
	/* Nought is nought in any unit. */
	*text = end;
	return number == 0 && !*end;
}

/* "1.2s", "350 ms", "2 min 05 s": as the report prints times. */
static bool parse_duration(const char *text, int64_t *ns)
{
	*ns = 0;
	text = skip_blanks(text);
	if (!*text)
		return false;
	for (int terms = 0; *text && terms < 4; terms++)
		if (!take_term(&text, ns))
			return false;
	return !*text;
}

/* ---- times of a clock ---- */

/* n digits at *text, which moves behind them. */
static bool take_digits(const char **text, size_t n, int least, int most, int *number)
{
	*number = 0;
	for (; n; n--, ++*text) {
		if (**text < '0' || **text > '9')
			return false;
		*number = *number * 10 + (**text - '0');
	}
	return *number >= least && *number <= most;
}

static bool take_char(const char **text, const char *any)
{
	if (!**text || !strchr(any, **text))
		return false;
	++*text;
	return true;
}

/* "2026-11-24T" or "2026-11-24 ": the midnight before it, since 1970. */
static bool take_date(const char **text, int64_t *ns)
{
	struct tm tm = {0};
	int month, day;

	if (!take_digits(text, 4, 1970, 2200, &tm.tm_year) || !take_char(text, "-") ||
	    !take_digits(text, 2, 1, 12, &month) || !take_char(text, "-") ||
	    !take_digits(text, 2, 1, 31, &day) || !take_char(text, "T "))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	*ns = (int64_t)timegm(&tm) * 1000000000;
	return tm.tm_mday == day; /* no 31st of February */
}

/* "11:47:52.25", since midnight.  Some logs write a comma. */
static bool take_time_of_day(const char **text, int64_t *ns)
{
	int hour, minute, second;

	if (!take_digits(text, 2, 0, 23, &hour) || !take_char(text, ":") ||
	    !take_digits(text, 2, 0, 59, &minute) || !take_char(text, ":") ||
	    !take_digits(text, 2, 0, 60, &second))
		return false;
	*ns = ((hour * 60 + minute) * INT64_C(60) + second) * 1000000000;
	if (!take_char(text, ".,"))
		return true;
	for (int64_t unit_ns = 100000000; **text >= '0' && **text <= '9'; ++*text, unit_ns /= 10)
		*ns += unit_ns * (**text - '0');
	return (*text)[-1] >= '0' && (*text)[-1] <= '9';
}

/* "2026-11-24T11:47:52.25Z", "11:47:52": in UTC, as the report says when a trace began. */
static bool parse_clock(const char *text, struct trc_window_end *end)
{
	int64_t of_day_ns, date_ns = 0;

	text = skip_blanks(text);
	end->is = TRC_END_TIME_OF_DAY;
	if (text[strspn(text, "0123456789")] == '-') {
		end->is = TRC_END_DATE;
		if (!take_date(&text, &date_ns))
			return false;
	}
	if (!take_time_of_day(&text, &of_day_ns))
		return false;
	end->ns = date_ns + of_day_ns;
	text = skip_blanks(text);
	if (!take_char(&text, "Z") && !strncmp(text, "UTC", 3))
		text += 3;
	return !*skip_blanks(text);
}

/* ---- windows ---- */

static bool parse_end(const char *text, size_t n, struct trc_window_end *end)
{
	char copy[64];

	if (n >= sizeof(copy))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	text = skip_blanks(copy);
	end->is = TRC_END_OPEN;
	if (!*text)
		return true;
	if (strchr(text, ':'))
		return parse_clock(text, end);
	end->is = *text == '+' ? TRC_END_AFTER : TRC_END_SINCE_BEGIN;
	return parse_duration(text + (*text == '+'), &end->ns);
}

static int backwards(const char *text, bool empty, struct trc_error *error)
{
	SAY(error, empty ? "%.60s is empty" : "%.60s ends before it begins", text);
	return -EINVAL;
}

int trc_window_parse(struct trc_window *w, const char *text, struct trc_error *error)
{
	const char *dots = strstr(text, "..");
	bool both;

	*w = (struct trc_window){.text = text};
	if (!strncmp(text, "task:", 5) && trc_selection_number(text + 5, &w->task) && w->task)
		return 0;
	w->task = 0;
	if (!dots || !parse_end(text, (size_t)(dots - text), &w->from) ||
	    w->from.is == TRC_END_AFTER || !parse_end(dots + 2, strlen(dots + 2), &w->to)) {
		SAY(error,
		    "a window is FROM..TO, times since the beginning with a unit or of the clock in UTC, "
		    "as in 1.2s..1.5s, 350ms.. or 11:47:52.2..+300ms, or task:ID, not %.60s",
		    text);
		return -EINVAL;
	}
	/* Where nothing of the trace is needed to know. */
	if (w->to.is == TRC_END_AFTER)
		return w->to.ns ? 0 : backwards(text, true, error);
	both = w->from.is == w->to.is && w->from.is != TRC_END_TIME_OF_DAY;
	if ((both || (w->from.is == TRC_END_OPEN && w->to.is == TRC_END_SINCE_BEGIN)) &&
	    w->to.is != TRC_END_OPEN && w->from.ns >= w->to.ns)
		return backwards(text, w->from.ns == w->to.ns, error);
	return 0;
}

/* ---- in a trace ---- */

/* When the trace began and ended, by the clock; false if it does not say. */
static bool clock_of(const struct trc_window_trace *t, int64_t *began_ns, int64_t *ended_ns)
{
	uint64_t realtime_ns = trc_reader_info(t->reader)->start_realtime_ns;

	return realtime_ns && realtime_ns < INT64_MAX / 2 &&
	       !__builtin_add_overflow((int64_t)realtime_ns, t->start_ns, began_ns) &&
	       *began_ns >= DAY_NS && !__builtin_add_overflow(*began_ns, t->lasts_ns, ended_ns) &&
	       *ended_ns < INT64_MAX - 2 * DAY_NS;
}

/* A time of day is on that day which brings it nearest to the trace: of a trace of several days the first. */
static int64_t nearest_day(int64_t of_day_ns, int64_t began_ns, int64_t ended_ns)
{
	int64_t midnight_ns = began_ns - began_ns % DAY_NS, best_ns = 0, least_ns = INT64_MAX;

	for (int day = -1; day <= 1; day++) {
		int64_t at_ns = midnight_ns + day * DAY_NS + of_day_ns;
		int64_t off_ns = at_ns < began_ns   ? began_ns - at_ns
				 : at_ns > ended_ns ? at_ns - ended_ns
						    : 0;

		if (off_ns < least_ns) {
			least_ns = off_ns;
			best_ns = at_ns;
		}
	}
	return best_ns;
}

static bool is_clock(const struct trc_window_end *end)
{
	return end->is == TRC_END_DATE || end->is == TRC_END_TIME_OF_DAY;
}

/* Since the beginning; `otherwise` if it is open. */
static int64_t since_begin(const struct trc_window_end *end, const struct trc_window_trace *t,
			   int64_t otherwise)
{
	int64_t began_ns, ended_ns, at_ns, ns;

	if (end->is == TRC_END_OPEN)
		return otherwise;
	if (!is_clock(end) || !clock_of(t, &began_ns, &ended_ns))
		return end->ns;
	at_ns = end->is == TRC_END_DATE ? end->ns : nearest_day(end->ns, began_ns, ended_ns);
	at_ns = trc_reader_at_realtime(t->reader, (uint64_t)at_ns);
	if (__builtin_sub_overflow(at_ns, t->start_ns, &ns))
		ns = at_ns < t->start_ns ? INT64_MIN : INT64_MAX;
	return ns;
}

static const char *clock_text(char text[40], int64_t realtime_ns, const char *format)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm utc;
	size_t n = gmtime_r(&seconds, &utc) ? strftime(text, 30, format, &utc) : 0;

	snprintf(text + n, 40 - n, ".%03d", (int)(realtime_ns / 1000000 % 1000));
	return text;
}

int trc_window_place(const struct trc_window *w, const struct trc_window_trace *trace,
		     int64_t *from_ns, int64_t *to_ns, struct trc_error *error)
{
	bool by_clock = is_clock(&w->from) || is_clock(&w->to);
	int64_t began_ns = 0, ended_ns = 0;
	char from[40], to[40];

	if (by_clock && !clock_of(trace, &began_ns, &ended_ns)) {
		SAY(error, "--window %.90s: the trace does not say what time it was", w->text);
		return -ENOENT;
	}
	*from_ns = since_begin(&w->from, trace, 0);
	*to_ns = since_begin(&w->to, trace, INT64_MAX);
	if (w->to.is == TRC_END_AFTER && __builtin_add_overflow(*from_ns, *to_ns, to_ns))
		*to_ns = INT64_MAX;
	if (*from_ns >= *to_ns)
		return backwards(w->text, *from_ns == *to_ns, error);
	if (*from_ns <= trace->lasts_ns && *to_ns > 0)
		return 0;
	if (by_clock)
		SAY(error, "--window %.90s: the trace is of %s to %s UTC", w->text,
		    clock_text(from, began_ns, "%Y-%m-%d %H:%M:%S"),
		    clock_text(to, ended_ns, "%H:%M:%S"));
	else
		SAY(error, "--window %.90s: the trace lasts %s", w->text,
		    trc_text_duration(from, trace->lasts_ns));
	return -ENOENT;
}
