/*
 * fibers.c - fibers and their waits: see private.h.
 *
 * A fiber waits from when a thread leaves it, for a reason, to when any thread runs it again, or to
 * its end.  This wait is no time of a thread's: no park is around the wait, and none is inside.
 * Waits of fibers that began before the fold are told by no event, and are not counted.
 */
#include "private.h"

static struct trc_fold_park fiber_park(const struct trc_fold_fiber *fiber)
{
	return (struct trc_fold_park){.open = {.start = fiber->start, .stack = fiber->stack},
				      .thread = fiber->thread,
				      .labels = fiber->labels,
				      .blocked = true};
}

static void fiber_leave_out(struct trc_fold *f, struct trc_fold_fiber *fiber, uint64_t now)
{
	trc_fold_leave_out_wait(f, true, false, now);
	trc_fold_table_remove(&f->fibers, fiber);
}

/* Makes room: waits that are in doubt are not going to be counted, however they end. */
static void evict(struct trc_fold *f, uint64_t now)
{
	if (f->fibers_evicted == f->gap_time)
		return;
	f->fibers_evicted = f->gap_time;
	for (uint32_t id = 1; id <= f->fibers.used; id++) {
		struct trc_fold_fiber *fiber = trc_fold_table_at(&f->fibers, id);

		if (fiber && fiber->start < f->gap_time)
			fiber_leave_out(f, fiber, now);
	}
}

static void wait_begin(struct trc_fold *f, const struct trc_fold_event *e)
{
	struct trc_fold_fiber *fiber;

	if (f->fibers.n == f->fibers.max)
		evict(f, e->time);
	fiber = trc_fold_table_add(&f->fibers, e->b);
	if (!fiber) {
		trc_fold_leave_out_wait(f, true, false, e->time);
		return;
	}
	fiber->start = e->time;
	fiber->thread = e->thread;
	fiber->stack = e->stack;
	fiber->labels = trc_fold_labels_of(f, e->thread);
}

void trc_fold_fiber_end(struct trc_fold *f, uint64_t number, uint64_t time)
{
	struct trc_fold_fiber *fiber = trc_fold_table_find(&f->fibers, number);
	struct trc_fold_park wait;

	if (!fiber)
		return;
	wait = fiber_park(fiber);
	trc_fold_table_remove(&f->fibers, fiber);
	trc_fold_count_wait(f, &wait, time > wait.open.start ? time : wait.open.start);
}

/* A thread that leaves its root fiber is one that runs another: it does not wait. */
void trc_fold_fiber_switch(struct trc_fold *f, const struct trc_fold_event *e)
{
	struct trc_fold_fiber *ran = trc_fold_table_find(&f->fibers, e->b);

	if (ran) /* nobody saw it go on, and it did */
		fiber_leave_out(f, ran, e->time);
	if (e->b && trc_fold_is_blocked(e->reason))
		wait_begin(f, e);
	trc_fold_fiber_end(f, e->a, e->time);
}

/* ---- for a copy ------------------------------------------------------------------------ */

void trc_fold_fibers_so_far(struct trc_fold *f, struct trc_view *copy)
{
	for (uint32_t id = 1; id <= f->fibers.used; id++) {
		const struct trc_fold_fiber *fiber = trc_fold_table_at(&f->fibers, id);
		struct trc_fold_park wait;

		if (!fiber)
			continue;
		wait = fiber_park(fiber);
		trc_fold_open_so_far(f, &wait, copy);
	}
}

void trc_fold_fibers_mark(struct trc_fold *f)
{
	for (uint32_t id = 1; id <= f->fibers.used; id++) {
		const struct trc_fold_fiber *fiber = trc_fold_table_at(&f->fibers, id);

		if (!fiber)
			continue;
		trc_fold_intern_mark(&f->stacks, fiber->stack);
		trc_fold_intern_mark(&f->label_sets, fiber->labels);
	}
}
