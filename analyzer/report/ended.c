/*
 * ended.c - how the process ended, what a snapshot was taken for, and which time it covers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/signal_names.h"

enum { FRAMES_MAX = 16 }; /* on a terminal */

/* A signal that came `times` times; `s` is the last. */
static void print_signal(struct trc_report *r, const struct trc_signal *s, size_t times)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	if (times > 1)
		trc_line_add(&line, "%s times, the last in ", trc_text_count(number, times));
	trc_report_thread(r, &line, s->thread, 30);
	trc_line_add(&line, " at %s: ", trc_text_duration(number, s->ts_ns - r->start_ns));
	trc_line_style(&line, s->fatal ? TRC_STYLE_ALARM : TRC_STYLE_PLAIN);
	trc_report_signal(&line, s);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	if (!s->fatal)
		trc_line_add(&line, ", handled by the program");
	trc_report_line(r, &line);
}

/* What the process itself left behind, if its event is not in the trace. */
static void print_ended_note(struct trc_report *r)
{
	struct trc_line line;

	if (!trc_report_info(r, "signal"))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_report_signal_note(r, &line);
	trc_report_line(r, &line);
}

/* Handled signals of one kind: virtual machines stop their threads by hundreds of them. */
struct handled {
	const struct trc_signal *last;
	size_t times;
};

/* The kinds of which the last came last, at most so many; how many there are. */
static size_t find_handled(const struct trc_signal *s, size_t n, struct handled *kind, size_t most)
{
	size_t n_kinds = 0, k;

	for (size_t i = n; i-- > 0;) {
		if (s[i].fatal)
			continue;
		for (k = 0; k < n_kinds; k++)
			if (kind[k].last->signal == s[i].signal && kind[k].last->code == s[i].code)
				break;
		if (k == n_kinds && n_kinds == most)
			continue;
		if (k == n_kinds)
			kind[n_kinds++] = (struct handled){&s[i], 0};
		kind[k].times++;
	}
	return n_kinds;
}

static void print_signals(struct trc_report *r, const struct trc_signal *s, size_t n)
{
	enum { KINDS_MAX = 10 };
	struct handled kind[KINDS_MAX];
	size_t n_kinds = find_handled(s, n, kind, r->top < KINDS_MAX ? r->top : KINDS_MAX);
	bool any_fatal = false;

	for (size_t i = 0; i < n; i++) {
		if (!s[i].fatal)
			continue;
		any_fatal = true;
		print_signal(r, &s[i], 1);
		trc_report_frames(r, s[i].stack,
				  r->full || r->width == TRC_WIDTH_MAX ? SIZE_MAX : FRAMES_MAX);
	}
	if (!any_fatal)
		print_ended_note(r);
	/* The last ones first: what was dealt with just before. */
	for (size_t k = 0; k < n_kinds; k++)
		print_signal(r, kind[k].last, kind[k].times);
}

int trc_report_ended(struct trc_report *r)
{
	const char *ended = trc_report_info(r, "ended");
	bool killed = ended && !strncmp(ended, "killed by", 9);
	size_t n;
	const struct trc_signal *s = trc_model_signals(r->m, &n);

	/* That it was killed says the head already. */
	if (!n && !trc_report_info(r, "signal"))
		return 0;
	trc_report_heading(r, killed ? "How it ended" : "Signals", killed ? ended : NULL);
	print_signals(r, s, n);
	return 0;
}

/* ---- snapshots ---- */

static void print_triggers(struct trc_report *r)
{
	size_t n;
	const struct trc_trigger *t = trc_model_triggers(r->m, &n);
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	for (size_t i = n > r->top ? n - r->top : 0; i < n; i++) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "  trigger at %s in ",
			     trc_text_duration(number, t[i].ts_ns - r->start_ns));
		trc_report_thread(r, &line, t[i].thread, 30);
		trc_line_add(&line, ": ");
		trc_line_data(&line, t[i].condition, 80);
		trc_report_line(r, &line);
	}
}

/* The stream whose ring goes back least far: it is what limits the window.  NULL: all have
 * everything since the recording began. */
static const struct trc_coverage *shortest(const struct trc_coverage *c, size_t n)
{
	const struct trc_coverage *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (c[i].source != TRC_SOURCE_KERNEL && c[i].held_ns != TRC_NEVER &&
		    (!found || c[i].held_ns > found->held_ns))
			found = &c[i];
	return found;
}

static void add_stream(struct trc_line *line, const struct trc_coverage *c)
{
	if (c->source == TRC_SOURCE_OVERFLOW)
		trc_line_add(line, "the overflow stream");
	else
		trc_line_add(line, "proc %u%s", c->proc,
			     c->source == TRC_SOURCE_KERNEL ? "'s switch records" : "");
}

static void warn_begin(struct trc_report *r, struct trc_line *line)
{
	trc_line_begin(line, r->width, r->colour);
	trc_line_add(line, "  ");
	trc_line_style(line, TRC_STYLE_ALARM);
	trc_line_add(line, "warning: ");
}

static void warn_end(struct trc_report *r, struct trc_line *line)
{
	trc_line_style(line, TRC_STYLE_PLAIN);
	trc_report_line(r, line);
}

/* Less than half of what was asked for. */
static void warn_short(struct trc_report *r, const struct trc_coverage *c, size_t n)
{
	const char *text = trc_report_info(r, "window_ns");
	int64_t asked_ns = text ? strtoll(text, NULL, 10) : 0;
	const struct trc_coverage *limit = shortest(c, n);
	int64_t from_ns = trc_model_window_ns(r->m), window_ns;
	char covered[TRC_NUMBER_BYTES], asked[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!limit || asked_ns <= 0 || from_ns == TRC_NEVER)
		return;
	window_ns = r->end_ns - from_ns;
	if (window_ns >= asked_ns / 2)
		return;
	warn_begin(r, &line);
	trc_line_add(&line, "only %s of the %s asked for: ", trc_text_duration(covered, window_ns),
		     trc_text_duration(asked, asked_ns));
	add_stream(&line, limit);
	trc_line_add(&line, " had no room for more");
	warn_end(r, &line);
}

/* Streams whose history begins later than what the trace has of others. */
static void warn_later(struct trc_report *r, const struct trc_coverage *c, size_t n)
{
	/* What a page of a ring may hold is no news. */
	int64_t slack_ns = (r->end_ns - r->start_ns) / 100;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	size_t told = 0;

	for (size_t i = 0; i < n; i++) {
		/* Before the window there are events of a ring from `held` on. */
		int64_t from_ns = c[i].source == TRC_SOURCE_KERNEL ? c[i].from_ns : c[i].held_ns;

		if (from_ns == TRC_NEVER || from_ns - r->start_ns <= slack_ns || told++ >= r->top)
			continue;
		warn_begin(r, &line);
		add_stream(&line, &c[i]);
		trc_line_add(&line, ": nothing from the first %s is known",
			     trc_text_duration(number, from_ns - r->start_ns));
		warn_end(r, &line);
	}
}

static size_t count_covered_procs(const struct trc_coverage *c, size_t n)
{
	size_t n_procs = 0;

	for (size_t i = 0; i < n; i++)
		n_procs += c[i].source == TRC_SOURCE_RING;
	return n_procs;
}

static void print_window(struct trc_report *r, const struct trc_coverage *c, size_t n)
{
	int64_t from_ns = trc_model_window_ns(r->m);
	char window[TRC_NUMBER_BYTES], before[TRC_NUMBER_BYTES];
	size_t n_procs = count_covered_procs(c, n);
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	if (from_ns == TRC_NEVER) { /* only the kernel's records have a window */
		trc_line_add(&line, "  covers all that was recorded, but for the kernel's records");
		trc_report_line(r, &line);
		return;
	}
	trc_line_add(&line, "  covers the last %s of %zu proc%s in full",
		     trc_text_duration(window, r->end_ns - from_ns), n_procs,
		     n_procs == 1 ? "" : "s");
	if (r->start_ns < from_ns)
		trc_line_add(&line, ", and parts of the %s before",
			     trc_text_duration(before, from_ns - r->start_ns));
	else if (!shortest(c, n) && n_procs)
		trc_line_add(&line, "; nothing has been overwritten yet");
	trc_report_line(r, &line);
}

/* How long after the trace's end the process had gone; 0 = not known. */
static int64_t gone_after_ns(const struct trc_report *r)
{
	const char *recovered = trc_report_info(r, "recovered_ns");
	int64_t recovered_ns = recovered ? strtoll(recovered, NULL, 10) : 0;

	return r->end_ns >= 0 && recovered_ns > r->end_ns ? recovered_ns - r->end_ns : 0;
}

/* Nobody saw the process die: what was in progress at the end went on for a time not known. */
static void print_recovered(struct trc_report *r)
{
	int64_t gone_ns = gone_after_ns(r);
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  the process may have lived ");
	if (gone_ns)
		trc_line_add(&line, "up to %s ", trc_text_duration(number, gone_ns));
	trc_line_add(&line, "longer, and its last waits lasted longer (\">\")");
	trc_report_line(r, &line);
}

int trc_report_snapshot(struct trc_report *r)
{
	const char *what = trc_report_info(r, "snapshot"), *trigger = trc_report_info(r, "trigger");
	size_t n, n_triggers;
	const struct trc_coverage *c = trc_model_coverage(r->m, &n);
	struct trc_line line;

	trc_model_triggers(r->m, &n_triggers);
	if (!what && !n && !n_triggers)
		return 0;
	/* A recording that began beside a flight recorder has a window, too. */
	trc_report_heading(r, what ? "Snapshot" : n ? "Window" : "Triggers", what);
	if (trigger) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "  taken for ");
		trc_line_data(&line, trigger, 80);
		trc_report_line(r, &line);
	}
	print_triggers(r);
	if (n) {
		print_window(r, c, n);
		warn_short(r, c, n);
		warn_later(r, c, n);
	}
	if (trc_report_recovered(r))
		print_recovered(r);
	return 0;
}
