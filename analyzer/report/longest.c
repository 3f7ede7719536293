/*
 * longest.c - the longest single waits.
 *
 * Pools of idle threads wait longest of all.  So waits for other threads have a list of their own
 * without idle threads, and waits for something from outside have no list.  If a trace was recovered, it is not known how
 * long the waits lasted in which the process died: these come first.
 */
#include <errno.h>
#include <stdlib.h>
#include "parts.h"

/* Whether it lasted longer than is known, as its process lived on for nobody knows how long. */
static bool goes_on(const struct trc_report *r, const struct trc_park *park)
{
	return (park->flags & TRC_PARK_OPEN) && trc_report_recovered(r);
}

static bool is_before(const struct trc_longest_row *a, const struct trc_longest_row *b)
{
	return a->goes_on != b->goes_on ? a->goes_on : a->ns > b->ns;
}

void trc_longest_begin(struct trc_longest *longest, const struct trc_report *r)
{
	longest->n = 0;
	longest->most = (r->top + 1) / 2 < TRC_LONGEST_MAX ? (r->top + 1) / 2 : TRC_LONGEST_MAX;
}

void trc_longest_add(struct trc_longest *longest, struct trc_longest_row row)
{
	size_t at;

	if (longest->n == longest->most) {
		if (!longest->n || !is_before(&row, &longest->row[longest->n - 1]))
			return;
		longest->n--;
	}
	for (at = longest->n; at && is_before(&row, &longest->row[at - 1]); at--)
		longest->row[at] = longest->row[at - 1];
	longest->row[at] = row;
	longest->n++;
}

static void longest_add_park(struct trc_longest *longest, const struct trc_report *r, size_t row)
{
	const struct trc_park *park = &r->park[row];

	trc_longest_add(longest,
			(struct trc_longest_row){(uint32_t)row, goes_on(r, park),
						 trc_park_end_ns(r->m, park) - park->start_ns});
}

void trc_longest_columns(struct trc_report *r, const char *who)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, 10, "lasted");
	trc_line_right(&line, 12, "began at");
	trc_line_add(&line, "  %s", who);
	trc_line_to(&line, 50);
	trc_line_add(&line, "  for");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

/* Who held the lock when the wait began; of one that goes on, who holds it now: it may have
 * changed hands meanwhile. */
static uint32_t park_holder_of(const struct trc_report *r, const struct trc_park *park)
{
	uint32_t id = trc_report_park_id(r, (size_t)(park - r->park));
	const struct trc_thread_now *now;
	size_t n;

	if (!(park->flags & TRC_PARK_OPEN))
		return park->holder;
	now = trc_model_threads_now(r->m, &n);
	for (size_t i = 0; i < n; i++)
		if (now[i].park == id && now[i].holder)
			return now[i].holder;
	return park->holder;
}

static void print_people(struct trc_report *r, const struct trc_park *park)
{
	bool lock = trc_wait_class(park->reason) == TRC_WAIT_LOCKS;
	uint32_t holder = park_holder_of(r, park);
	struct trc_line line;

	if (park->reason == TRC_REASON_JOIN || (!holder && !park->waker))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	if (holder && holder == park->waker) {
		trc_line_add(&line, "held and ");
	} else if (holder) {
		trc_line_add(&line, "held by ");
		trc_report_thread(r, &line, holder, 26);
		trc_line_add(&line, park->waker ? ", " : "");
	}
	if (park->waker) {
		trc_line_add(&line, lock ? "released by " : "woken by ");
		if (park->waker_stack) {
			trc_report_place(r, &line, park->waker_stack);
			trc_line_add(&line, " in ");
		}
		trc_report_thread(r, &line, park->waker, 26);
	}
	trc_report_line(r, &line);
}

void trc_longest_times(const struct trc_report *r, struct trc_line *line,
		       const struct trc_longest_times *times)
{
	char number[TRC_NUMBER_BYTES], lasted[TRC_LASTED_BYTES];

	trc_text_duration(number, times->end_ns - times->start_ns);
	snprintf(lasted, sizeof(lasted), "%s%s", times->longer ? "> " : "", number);
	trc_line_right(line, 10, lasted);
	trc_line_right(line, 12,
		       times->before || times->start_ns < r->start_ns
			       ? "before"
			       : trc_text_duration(number, times->start_ns - r->start_ns));
}

/* Of one that is older than a snapshot's window at least that long, and some time before; of one
 * that a dead process was in at least that long, too. */
static void longest_add_times(const struct trc_report *r, struct trc_line *line,
			      const struct trc_park *park)
{
	bool cut = park->flags & TRC_PARK_CUT;
	struct trc_longest_times times = {park->start_ns, trc_park_end_ns(r->m, park), cut,
					  cut || goes_on(r, park)};

	trc_longest_times(r, line, &times);
}

static void print_park(struct trc_report *r, const struct trc_park *park)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	longest_add_times(r, &line, park);
	trc_line_add(&line, "  ");
	trc_report_thread(r, &line, park->thread, 26);
	trc_line_to(&line, 50);
	trc_line_add(&line, "  %s", trc_reason_name(park->reason));
	if (park->reason == TRC_REASON_JOIN && park->holder) {
		trc_line_add(&line, " ");
		trc_report_thread(r, &line, park->holder, 26);
	} else {
		trc_report_waited_park(r, &line, park);
	}
	if (park->flags & TRC_PARK_OPEN) {
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_line_add(&line, ", still waiting");
		trc_line_style(&line, TRC_STYLE_PLAIN);
	} else if (park->result == ETIMEDOUT) {
		trc_line_add(&line, ", timed out");
	}
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_report_one_stack(r, &line, park->stack);
	print_people(r, park);
	trc_report_labels_line(r, trc_park_labels(r->m, park));
}

static void print_list(struct trc_report *r, const struct trc_longest *longest, const char *heading)
{
	if (!longest->n)
		return;
	trc_report_heading(r, heading, NULL);
	trc_longest_columns(r, "thread");
	for (size_t i = 0; i < longest->n; i++)
		print_park(r, &r->park[longest->row[i].row]);
}

int trc_report_longest(struct trc_report *r)
{
	struct trc_longest locks, threads;

	trc_longest_begin(&locks, r);
	threads = locks;
	threads.most = (locks.most + 1) / 2;
	for (size_t i = 0; i < r->n_parks; i++) {
		switch (trc_wait_class(r->park[i].reason)) {
		case TRC_WAIT_LOCKS:
		case TRC_WAIT_FILES:
			longest_add_park(&locks, r, i);
			break;
		case TRC_WAIT_THREADS:
			if (!trc_report_is_idle(r, &r->park[i]))
				longest_add_park(&threads, r, i);
			break;
		default:
			break;
		}
	}
	print_list(r, &locks, "Longest single waits, for locks and files");
	print_list(r, &threads, "Longest single waits, for other threads");
	return 0;
}
