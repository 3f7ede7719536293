/*
 * fibers_finish.c - after the last event: which fiber threads are in at the end, and what each fiber's waits came to.
 */
#include <errno.h>
#include <stdlib.h>
#include "fibers.h"

/* The thread is in this fiber at the end. */
static int end_add(struct fibers *f, struct trc_index *told, uint32_t thread, uint32_t id)
{
	struct trc_change change = {
		.thread = thread, .ts_ns = TRC_CHANGE_AT_END, .value = id, .before = id};

	return trc_changes_add(&f->changes, &change) || trc_index_put(told, thread, 1) ? -ENOMEM
										       : 0;
}

/* As the file's table has it; there may be nothing else of the thread (spans:B1). */
static int ends_told(struct fibers *f, struct trc_index *told)
{
	const struct trc_thread_fiber_entry *e;
	size_t n = trc_reader_thread_fibers(f->m->reader, &e);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		uint32_t id = e[i].fiber ? trc_fibers_row(f, e[i].fiber) : 0;

		if (!e[i].thread)
			continue;
		if (e[i].fiber && !id)
			return -ENOMEM;
		if (id)
			err = trc_fibers_set_name(f, id, e[i].name);
		if (!err)
			err = end_add(f, told, e[i].thread, id);
	}
	return err;
}

/* What threads are in at the end.  Whom a whole file does not tell of is in its root fiber, if it is
 * there. */
static int find_ends(struct fibers *f)
{
	struct trc_index told = {.n = 0};
	size_t n = f->changes.changes.n;
	int err = ends_told(f, &told);

	if (!trc_reader_info(f->m->reader)->complete)
		n = 0;
	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_change *c = f->changes.changes.row;
		uint32_t thread = (uint32_t)c[i].thread;

		if (trc_index_get(&told, thread) == TRC_INDEX_NONE &&
		    trc_index_get(&f->exits.row, thread) == TRC_INDEX_NONE)
			err = end_add(f, &told, thread, 0);
	}
	trc_index_free(&told);
	return err;
}

/* Sorts the fibers by number; what has their row ids gets the new ones. */
static int fibers_sort(struct fibers *f)
{
	struct trc_model *m = f->m;
	struct trc_fiber_wait *wait = m->fiber_waits.row;
	struct trc_change *c = f->changes.changes.row;
	uint32_t *id = calloc(m->fibers.n + 1, sizeof(*id));
	int err = id ? trc_array_sort(&m->fibers, offsetof(struct trc_fiber, fiber),
				      offsetof(struct trc_fiber, creator_thread))
		     : -ENOMEM;

	if (!err)
		err = trc_array_sort(&f->now, offsetof(struct fiber_now, number),
				     offsetof(struct fiber_now, id));
	if (!err) {
		for (uint32_t i = 0; i < f->now.n; i++)
			id[now_at(f, i + 1)->id] = i + 1;
		for (size_t i = 0; i < m->fiber_waits.n; i++)
			wait[i].fiber = id[wait[i].fiber];
		for (size_t i = 0; i < f->changes.changes.n; i++) {
			c[i].value = id[c[i].value];
			c[i].before = id[c[i].before];
		}
	}
	free(id);
	return err;
}

/* What a fiber does in the end; its runs have told of one that runs. */
static void fiber_finish(struct fibers *f, uint32_t id)
{
	static const uint8_t states[] = {
		[PHASE_UNSEEN] = TRC_FIBER_UNKNOWN, [PHASE_NEW] = TRC_FIBER_NEW,
		[PHASE_RUNS] = TRC_FIBER_UNKNOWN,   [PHASE_CAN_RUN] = TRC_FIBER_RUNNABLE,
		[PHASE_WAITS] = TRC_FIBER_WAITING,  [PHASE_ENDED] = TRC_FIBER_ENDED,
	};
	struct fiber_now *now = now_at(f, id);
	struct trc_fiber *fiber = fiber_at(f, id);

	if (fiber->state == TRC_FIBER_RUNNING && now->phase != PHASE_ENDED) {
		if (now->phase == PHASE_WAITS)
			wait_miss(wait_at(f, now), f->m->end_ns); /* fibers:F2 */
		return;
	}
	fiber->state = states[now->phase];
	if (now->phase == PHASE_CAN_RUN)
		trc_add_ns(&fiber->runnable_ns, now->since_ns, f->m->end_ns);
	if (now->phase != PHASE_WAITS)
		return;
	wait_at(f, now)->flags |= TRC_FIBER_WAIT_OPEN;
	if (wait_at(f, now)->ready_ns != TRC_NEVER)
		fiber->state = TRC_FIBER_RUNNABLE;
}

/* Up to where it is known to have lasted (fibers:F2). */
static void wait_cut_short(const struct fibers *f, struct trc_fiber_wait *wait)
{
	int64_t from_ns = wait->start_ns, until_ns = wait->end_ns;

	wait->end_ns =
		trc_changes_may_miss(&f->changes, &from_ns, &until_ns) ? from_ns : wait->start_ns;
	if (wait->ready_ns > wait->end_ns)
		wait_readied(wait, &nobody);
}

/* What its waker ran when it made the fiber ready; from here on ready_ns is in the wait (fibers:F4). */
static void waker_finish(struct fibers *f, struct trc_fiber_wait *wait)
{
	int64_t ready_ns = wait->ready_ns, from_ns = ready_ns, until_ns = wait->start_ns;

	if (ready_ns == TRC_NEVER)
		return;
	if (ready_ns < wait->start_ns) {
		if (trc_changes_may_miss(&f->changes, &from_ns, &until_ns)) {
			wait_readied(wait, &nobody);
			if (wait->flags & TRC_FIBER_WAIT_OPEN)
				fiber_at(f, wait->fiber)->state = TRC_FIBER_WAITING;
			return;
		}
		wait->ready_ns = wait->start_ns;
	}
	wait->waker_fiber =
		trc_model_fiber_at(f->m, wait->waker_thread, ready_ns, wait->ready_place);
}

/* False if it was none after all. */
static bool wait_finish(struct fibers *f, struct trc_fiber_wait *wait)
{
	struct trc_model *m = f->m;
	int64_t from_ns = wait->start_ns, until_ns = wait->ready_ns;

	if (wait->flags & WAIT_DROPPED)
		return false;
	/* What it did before it was made ready may have been lost. */
	if (wait->flags & TRC_FIBER_WAIT_CUT &&
	    trc_changes_may_miss(&f->changes, &from_ns, &until_ns))
		return false;
	if (wait->flags & TRC_FIBER_WAIT_LOST)
		wait_cut_short(f, wait);
	wait->labels = trc_model_labels_at(m, wait->thread, wait->start_ns, wait->start_place);
	waker_finish(f, wait);
	return true;
}

static void wait_sum(struct trc_model *m, const struct trc_fiber_wait *wait)
{
	struct trc_fiber *fiber = (struct trc_fiber *)m->fibers.row + wait->fiber - 1;
	int64_t end_ns = wait->end_ns == TRC_NEVER ? m->end_ns : wait->end_ns;
	int64_t ready_ns = wait->ready_ns == TRC_NEVER ? end_ns : wait->ready_ns;

	fiber->n_waits++;
	trc_add_ns(&fiber->waited_ns, wait->start_ns, ready_ns);
	if (!(wait->flags & TRC_FIBER_WAIT_ENDED))
		trc_add_ns(&fiber->runnable_ns, ready_ns, end_ns);
}

static int waits_finish(struct fibers *f)
{
	struct trc_array *waits = &f->m->fiber_waits;
	struct trc_fiber_wait *wait = waits->row;
	size_t n = 0;

	for (size_t i = 0; i < waits->n; i++) {
		if (!wait_finish(f, &wait[i]))
			continue;
		wait_sum(f->m, &wait[i]);
		wait[n++] = wait[i];
	}
	waits->n = n;
	return trc_array_sort(waits, offsetof(struct trc_fiber_wait, start_ns),
			      offsetof(struct trc_fiber_wait, thread));
}

int trc_fibers_finish(struct fibers *f)
{
	struct trc_model *m = f->m;
	struct trc_fiber *fiber;
	int err = find_ends(f);

	if (!err)
		err = fibers_sort(f);
	if (!err)
		err = trc_changes_make_spans(&f->changes, &m->fiber_spans);
	if (!err)
		err = trc_derive_fiber_runs(m, &f->changes, &f->exits);
	fiber = m->fibers.row;
	for (uint32_t i = 0; i < m->fibers.n && !err; i++) {
		fiber_finish(f, i + 1);
		if (fiber[i].creator_thread)
			fiber[i].creator =
				trc_model_fiber_at(m, fiber[i].creator_thread, fiber[i].created_ns,
						   fiber[i].created_place);
	}
	return err ? err : waits_finish(f);
}

uint32_t trc_model_fiber_at(const struct trc_model *m, uint32_t thread, int64_t ts_ns,
			    uint64_t place)
{
	return trc_thread_spans_at(&m->fiber_spans, thread, ts_ns, place);
}

bool trc_model_has_fibers(const struct trc_model *m)
{
	const struct trc_thread_fiber_entry *ignored;
	struct trc_kind_mask mask = {{0}};

	if (trc_reader_thread_fibers(m->reader, &ignored))
		return true;
	trc_kind_mask_add(&mask, TRC_KIND_FIBER_SWITCH);
	return trc_model_has_kinds(m, &mask);
}
