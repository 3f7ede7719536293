/*
 * waits.c - where the time went that threads spent waiting, and who caused it.
 *
 * Four sections, by what ends the waits (waits.h).  Each row is an object with the places where threads waited for it,
 * or a place.  Each row says who caused or ended its waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/lock_sums.h"

static const char *const HEADING[TRC_WAIT_CLASSES] = {
	[TRC_WAIT_LOCKS] = "Waiting for locks",
	[TRC_WAIT_THREADS] = "Waiting for other threads",
	[TRC_WAIT_FILES] = "Waiting for files and sockets",
	[TRC_WAIT_OUTSIDE] = "Waiting for requests, timers and children",
};

static void line_add_part(struct trc_line *line, int64_t part, int64_t whole)
{
	char number[TRC_NUMBER_BYTES];

	if (whole > 0 && part < whole - whole / 2000)
		trc_line_add(line, ", %s of it", trc_text_share(number, part, whole));
}

static void add_timed_out(struct trc_line *line, const struct trc_group *group)
{
	char number[TRC_NUMBER_BYTES];

	if (group->timed_out == group->waits)
		trc_line_add(line, group->waits == 1 ? "timed out" : "all timed out");
	else
		trc_line_add(
			line, "%s timed out",
			trc_text_share(number, (int64_t)group->timed_out, (int64_t)group->waits));
}

bool trc_report_blame(struct trc_report *r, struct trc_line *line,
		      const struct trc_group_details *d)
{
	bool lock = trc_wait_class(d->group->reason) == TRC_WAIT_LOCKS;
	int64_t total_ns = d->group->total_ns;

	if (d->group->reason == TRC_REASON_JOIN)
		return false;
	if (d->group->timed_out) {
		add_timed_out(line, d->group);
		if (!d->n_by_threads && !d->holder)
			return true;
		trc_line_add(line, "; ");
	}
	if (d->n_by_threads) {
		trc_line_add(line, lock ? "caused by " : "woken by ");
		if (d->by_stack) {
			trc_report_place(r, line, d->by_stack);
			line_add_part(line, d->by_stack_ns, total_ns);
			trc_line_add(line, ", in ");
		}
		trc_report_thread(r, line, d->by_thread, 26);
		if (d->n_by_threads > 1 && d->by_thread_ns < total_ns - total_ns / 20)
			trc_line_add(line, " and %u other%s", d->n_by_threads - 1,
				     d->n_by_threads == 2 ? "" : "s");
		return true;
	}
	if (d->holder) {
		trc_line_add(line, "held by ");
		trc_report_thread(r, line, d->holder, 26);
		line_add_part(line, d->holder_ns, total_ns);
		return true;
	}
	return false;
}

/* The labels of most of it, each with its share if that is not all. */
static void print_wait_labels(struct trc_report *r, const struct trc_group_details *d)
{
	struct trc_line line;

	if (!d->n_labels)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "under ");
	for (size_t i = 0; i < d->n_labels; i++) {
		trc_line_add(&line, i ? "; " : "");
		trc_report_label(r, &line, d->label[i].label);
		line_add_part(&line, d->label[i].ns, d->group->total_ns);
	}
	trc_report_line(r, &line);
}

static void waits_print_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, 10, "total");
	trc_line_right(&line, 9, "of time");
	trc_line_right(&line, 11, "waits");
	trc_line_right(&line, 10, "mean");
	trc_line_right(&line, 10, "longest");
	trc_line_right(&line, 9, "threads");
	trc_line_add(&line, "  for");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void add_numbers(struct trc_line *line, const struct trc_group_details *d)
{
	const struct trc_group *group = d->group;
	char number[TRC_NUMBER_BYTES];

	trc_line_right(line, 10, trc_text_duration(number, group->total_ns));
	trc_line_right(line, 9, trc_text_share(number, group->total_ns, d->threads_ns));
	trc_line_right(line, 11, trc_text_count(number, group->waits));
	trc_line_right(line, 10,
		       trc_text_duration(number, group->total_ns / (int64_t)group->waits));
	trc_line_right(line, 10, trc_text_duration(number, group->max_ns));
	trc_line_right(line, 9, trc_text_count(number, d->n_threads));
	trc_line_add(line, "  ");
}

/* Its share, its stack, and who caused it, if that is not who caused most of all. */
static void print_wait_place(struct trc_report *r, const struct trc_group_details *d,
			     const struct trc_group_details *place)
{
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 18,
		       trc_text_share(share, place->group->total_ns, d->group->total_ns));
	trc_line_add(&line, "  ");
	if (d->group->several_reasons)
		trc_line_add(&line, "%s at ", trc_reason_name(place->group->reason));
	trc_report_stack(r, &line, place->group->stack);
	if (!place->by_stack || place->by_stack == d->by_stack)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 20);
	if (trc_report_blame(r, &line, place))
		trc_report_line(r, &line);
}

static void print_wait_places(struct trc_report *r, const struct trc_group_details *d)
{
	int64_t rest_ns = d->group->total_ns;
	size_t n_more = d->group->n_places - d->n_places;
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;

	for (size_t i = 0; i < d->n_places; i++) {
		print_wait_place(r, d, &d->place[i]);
		rest_ns -= d->place[i].group->total_ns;
	}
	if (!n_more)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 18, trc_text_share(share, rest_ns, d->group->total_ns));
	trc_line_add(&line, "  at %zu more place%s", n_more, n_more == 1 ? "" : "s");
	trc_report_line(r, &line);
}

/* Where the program made an object that has no name. */
static void print_allocated(struct trc_report *r, uint32_t stack)
{
	struct trc_line line;

	if (!stack)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "allocated at ");
	trc_report_one_stack(r, &line, stack);
}

/* What is a fifth of the waits or more. */
static void print_no_proc(struct trc_report *r, const struct trc_group_details *d)
{
	int64_t ns = d->group->no_proc_ns;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!ns || ns < d->group->total_ns / 5)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "for %s of it %s could have run, but had no proc",
		     trc_text_duration(number, ns), d->n_threads == 1 ? "it" : "they");
	trc_report_line(r, &line);
}

static void print_wait_group(struct trc_report *r, const struct trc_lock_sums *locks,
			     const struct trc_group_details *d)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	add_numbers(&line, d);
	trc_report_what(r, &line, d);
	trc_report_line(r, &line);
	print_allocated(r, d->group->allocated_at);
	if (d->n_places) {
		print_wait_places(r, d);
	} else {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_to(&line, 12);
		trc_report_stack(r, &line, d->group->stack);
	}
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	if (trc_report_blame(r, &line, d))
		trc_report_line(r, &line);
	trc_report_lock_lines(r, locks, d);
	print_wait_labels(r, d);
}

/* Of groups by place, or else by object, too. */
static void print_waits_rest(struct trc_report *r, size_t n_groups, int64_t rest_ns, bool by_place)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!n_groups)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, rest_ns));
	if (by_place)
		trc_line_add(&line, "  at %zu more place%s", n_groups, n_groups == 1 ? "" : "s");
	else
		trc_line_add(&line, "  for %zu other%s", n_groups, n_groups == 1 ? "" : "s");
	trc_report_line(r, &line);
}

/* What is next to nothing beside the largest is not told one by one. */
static bool is_negligible(const struct trc_group_details *d,
			  const struct trc_group_details *largest)
{
	return d->group->total_ns < largest->group->total_ns / 200;
}

static void print_class(struct trc_report *r, const struct trc_lock_sums *locks,
			const struct trc_groups *g, enum trc_wait_class class)
{
	const struct trc_group_details *d = trc_groups_details(g, class);
	size_t n = g->n_of[class], most = class == TRC_WAIT_OUTSIDE ? (r->top + 1) / 2 : r->top, i;
	char total[TRC_NUMBER_BYTES], waits[TRC_NUMBER_BYTES], right[128];
	int64_t rest_ns = g->sum_ns[class];

	if (!n && !g->n_idle[class])
		return;
	snprintf(right, sizeof(right), "%s in %s wait%s%s",
		 trc_text_duration(total, g->total_ns[class]),
		 trc_text_count(waits, g->waits[class]), g->waits[class] == 1 ? "" : "s",
		 r->any_section ? ""
		 : r->selection ? "  (of time: share of the waiting threads' selected time)"
				: "  (of time: share of the waiting threads' lifetime)");
	trc_report_heading(r, HEADING[class], right);
	if (n)
		waits_print_columns(r);
	for (i = 0; i < n && i < most && !is_negligible(&d[i], &d[0]); i++) {
		print_wait_group(r, locks, &d[i]);
		print_no_proc(r, &d[i]);
		rest_ns -= d[i].group->total_ns;
	}
	print_waits_rest(r, g->n_groups_of[class] - i, rest_ns,
			 class == TRC_WAIT_FILES || class == TRC_WAIT_OUTSIDE);
	trc_report_idle_line(r, g, class);
}

int trc_report_waits(struct trc_report *r)
{
	struct trc_lock_sums locks = {0};
	struct trc_error error;
	struct trc_groups g;
	int err = trc_groups_of_objects(&g, r, r->top);

	if (!err && g.n_of[TRC_WAIT_LOCKS])
		err = trc_lock_sums_make(&locks, r->m, false, &error);
	for (int class = 0; class < TRC_WAIT_CLASSES && !err; class ++)
		print_class(r, &locks, &g, (enum trc_wait_class) class);
	trc_lock_sums_free(&locks);
	trc_groups_free(&g);
	return err;
}

/* ---- critical sections ---- */

static void print_holder_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, 10, "caused");
	trc_line_right(&line, 11, "to waits");
	trc_line_right(&line, 11, "sections");
	trc_line_right(&line, 10, "mean");
	trc_line_right(&line, 10, "longest");
	trc_line_add(&line, "  lock, released at");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void print_holder(struct trc_report *r, const struct trc_group_details *d)
{
	const struct trc_group *group = d->group;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, group->total_ns));
	trc_line_right(&line, 11, trc_text_count(number, group->waits));
	trc_line_right(&line, 11, trc_text_count(number, group->sections));
	trc_line_right(&line, 10,
		       trc_text_duration(number, group->total_ns / (int64_t)group->sections));
	trc_line_right(&line, 10, trc_text_duration(number, group->max_ns));
	trc_line_add(&line, "  ");
	trc_report_what(r, &line, d);
	trc_line_add(&line, ", by ");
	trc_report_thread(r, &line, d->thread, 26);
	if (d->n_threads > 1)
		trc_line_add(&line, " and %u other%s", d->n_threads - 1,
			     d->n_threads == 2 ? "" : "s");
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_report_stack(r, &line, group->stack);
	print_wait_labels(r, d);
}

static void print_holders(struct trc_report *r, const struct trc_groups *g,
			  enum trc_wait_class class)
{
	const struct trc_group_details *d = trc_groups_details(g, class);
	int64_t rest_ns = g->sum_ns[class];
	size_t i;

	for (i = 0; i < g->n_of[class] && !is_negligible(&d[i], &d[0]); i++) {
		print_holder(r, &d[i]);
		rest_ns -= d[i].group->total_ns;
	}
	print_waits_rest(r, g->n_groups_of[class] - i, rest_ns, true);
}

int trc_report_holders(struct trc_report *r)
{
	char total[TRC_NUMBER_BYTES], right[128];
	struct trc_groups g;
	int64_t total_ns = 0;
	int err = trc_groups_of_unlocks(&g, r, r->top);

	if (!err && g.n_details) {
		for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
			total_ns += g.sum_ns[class];
		snprintf(right, sizeof(right), "%s of others' waiting, by who released the lock",
			 trc_text_duration(total, total_ns));
		trc_report_heading(r, "Critical sections", right);
		print_holder_columns(r);
		print_holders(r, &g, TRC_WAIT_LOCKS);
		print_holders(r, &g, TRC_WAIT_THREADS);
	}
	trc_groups_free(&g);
	return err;
}
