/*
 * fiber_runs.c - when each fiber ran, and where.
 *
 *   fiber_runs:F6  a run begins and ends with a switch of its thread's.  If a switch is missing, the run is
 *       told from the end of the gap on, or up to the gap's beginning (spans:B2).  Of a run from before the
 *       window, the part in the window is told
 *   fiber_runs:F7  a thread's last run ends with the thread, at the latest when another program is
 *       executed.  A run whose end was lost ends in the same way
 *   fiber_runs:F8  a thread that was there before recording began records its fiber by a switch from its root
 *       fiber: when this run began is not known
 */
#include <errno.h>
#include <stdlib.h>
#include "fibers.h"

struct runs {
	struct trc_model *m;
	const struct trc_changes *changes;
	const struct trc_thread_exits *exits;
	size_t next; /* the first change that is not before the span */
};

/* The first change of the span's thread at this time or after it, from next on. */
static size_t change_at(const struct runs *r, const struct trc_thread_span *span, int64_t ts_ns)
{
	const struct trc_change *c = r->changes->changes.row;
	size_t i = r->next, n = r->changes->changes.n;

	while (i < n &&
	       (c[i].thread < span->thread || (c[i].thread == span->thread && c[i].ts_ns < ts_ns)))
		i++;
	return i;
}

static bool is_at(const struct runs *r, size_t i, const struct trc_thread_span *span, int64_t ts_ns)
{
	const struct trc_change *c = r->changes->changes.row;

	return i < r->changes->changes.n && c[i].thread == span->thread && c[i].ts_ns == ts_ns;
}

/* Where it begins (F6). */
static void run_begin(struct runs *r, struct trc_fiber_run *run, const struct trc_thread_span *span)
{
	const struct trc_change *c = r->changes->changes.row;
	int64_t from_ns = span->start_ns;
	int64_t until_ns = span->end_ns == TRC_NEVER ? r->m->end_ns : span->end_ns;
	bool seen = false;

	run->start_ns = from_ns;
	if (from_ns == TRC_NEVER)
		run->start_ns = trc_changes_may_miss(r->changes, &from_ns, &until_ns)
					? until_ns
					: r->m->start_ns;
	else if (from_ns < r->m->window_ns)
		run->start_ns = r->m->window_ns;
	r->next = change_at(r, span, run->start_ns);
	for (size_t i = r->next; !seen && is_at(r, i, span, span->start_ns); i++)
		seen = c[i].value == span->value && !(c[i].note & TRC_FIBER_FIRST_SEEN); /* F8 */
	if (!seen)
		run->flags |= TRC_FIBER_RUN_CUT;
}

/* The first execution of another program after this time; TRC_NEVER = there was none. */
static int64_t exec_after(const struct runs *r, int64_t ts_ns)
{
	const int64_t *exec_ns = r->exits->exec_ns.row;
	size_t low = 0, high = r->exits->exec_ns.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (exec_ns[middle] <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->exits->exec_ns.n ? exec_ns[low] : TRC_NEVER;
}

/* Where a run ends that no switch ends (F7); TRC_NEVER = it lasts. */
static void run_end_unseen(const struct runs *r, struct trc_fiber_run *run,
			   const struct trc_thread_span *span)
{
	uint32_t row = trc_index_get(&r->exits->row, span->thread);
	int64_t exec_ns = exec_after(r, run->start_ns);
	bool lost = span->end_ns != TRC_NEVER;

	run->end_ns = span->end_ns;
	if (!lost && row != TRC_INDEX_NONE)
		run->end_ns = ((const int64_t *)r->exits->ns.row)[row];
	if (exec_ns != TRC_NEVER && (run->end_ns == TRC_NEVER || exec_ns < run->end_ns)) {
		run->end_ns = exec_ns;
		lost = false;
	}
	if (run->end_ns == TRC_NEVER)
		run->flags |= TRC_FIBER_RUN_OPEN;
	if (lost)
		run->flags |= TRC_FIBER_RUN_LOST;
}

static void run_end(struct runs *r, struct trc_fiber_run *run, const struct trc_thread_span *span)
{
	const struct trc_change *c = r->changes->changes.row;

	for (size_t i = span->end_ns == TRC_NEVER ? r->changes->changes.n
						  : change_at(r, span, span->end_ns);
	     is_at(r, i, span, span->end_ns); i++) {
		if (c[i].before == span->value) {
			run->end_ns = span->end_ns;
			run->reason = (uint8_t)c[i].note;
			return;
		}
	}
	run_end_unseen(r, run, span);
}

static int run_add(struct runs *r, const struct trc_thread_span *span)
{
	struct trc_fiber *fiber = (struct trc_fiber *)r->m->fibers.row + span->value - 1;
	struct trc_fiber_run run = {.fiber = span->value, .thread = span->thread}, *row;

	if (span->end_ns != TRC_NEVER && span->end_ns <= r->m->window_ns)
		return 0;
	run_begin(r, &run, span);
	run_end(r, &run, span);
	if (run.end_ns != TRC_NEVER && run.end_ns <= run.start_ns)
		return 0;
	row = trc_array_add(&r->m->fiber_runs);
	if (!row)
		return -ENOMEM;
	*row = run;
	fiber->n_runs++;
	if (run.flags & TRC_FIBER_RUN_OPEN)
		fiber->state = TRC_FIBER_RUNNING;
	trc_add_ns(&fiber->run_ns, run.start_ns,
		   run.end_ns == TRC_NEVER ? r->m->end_ns : run.end_ns);
	return 0;
}

/* The runs are in order. */
static int runs_mark_last(struct trc_model *m)
{
	const struct trc_fiber *fiber = m->fibers.row;
	struct trc_fiber_run *run = m->fiber_runs.row;
	bool *later = calloc(m->fibers.n + 1, sizeof(*later));

	if (!later)
		return -ENOMEM;
	for (size_t i = m->fiber_runs.n; i-- > 0;) {
		if (!later[run[i].fiber] && fiber[run[i].fiber - 1].ended_ns != TRC_NEVER)
			run[i].flags |= TRC_FIBER_RUN_ENDED;
		later[run[i].fiber] = true;
	}
	free(later);
	return 0;
}

int trc_derive_fiber_runs(struct trc_model *m, const struct trc_changes *changes,
			  const struct trc_thread_exits *exits)
{
	struct runs r = {.m = m, .changes = changes, .exits = exits};
	const struct trc_thread_span *span = m->fiber_spans.span.row;
	int err = 0;

	for (size_t i = 0; i < m->fiber_spans.span.n && !err; i++)
		if (span[i].value)
			err = run_add(&r, &span[i]);
	if (!err)
		err = trc_array_sort(&m->fiber_runs, offsetof(struct trc_fiber_run, start_ns),
				     offsetof(struct trc_fiber_run, thread));
	return err ? err : runs_mark_last(m);
}
