/*
 * fibers.c - the fibers of the program's own scheduler, while the events go by: TRC_PART_FIBERS.
 *
 * Which fiber a thread runs follows from its switches as its labels do from theirs (spans.h).  What a
 * fiber waits for follows from its own events, whatever threads make them.
 *
 *   fibers:F1  a fiber that is left with a reason waits until a switch on any thread runs it, or it
 *       ends; a fiber that is left without a reason could go on at once
 *   fibers:F2  if a fiber that waits is left, or runs in the end, it ran again unseen.  Then its wait is taken
 *       to last to the first gap since
 *   fibers:F3  waits are followed from the beginning of a snapshot's window on.  If the first event of a fiber in the
 *       window makes it ready, and the second event does not leave it, the fiber waited since before
 *       the window: this wait is cut
 *   fibers:F4  a fiber that is made ready while it runs is about to wait: it was found before it
 *       was left.  If it is left with a reason next, its wait was over when it began.  The readying is forgotten
 *       if the fiber is left without a reason, or may have waited and run again unseen; so is the readying of a
 *       fiber that could go on
 *   fibers:F5  when another program is executed, all fibers end
 */
#include <errno.h>
#include <stdlib.h>
#include "fibers.h"

/* --- while the events go by --- */

uint32_t trc_fibers_row(struct fibers *f, uint64_t number)
{
	uint32_t row = trc_index_get(&f->row, number);
	struct trc_fiber *fiber;
	struct fiber_now *now;

	if (row != TRC_INDEX_NONE)
		return row + 1;
	fiber = trc_array_add(&f->m->fibers);
	now = trc_array_add(&f->now);
	if (!fiber || !now || trc_index_put(&f->row, number, (uint32_t)(f->now.n - 1)))
		return 0;
	*fiber = (struct trc_fiber){
		.fiber = number, .name = "", .created_ns = TRC_NEVER, .ended_ns = TRC_NEVER};
	now->number = (int64_t)number;
	now->early = nobody;
	now->id = (uint32_t)f->now.n;
	return now->id;
}

int trc_fibers_set_name(struct fibers *f, uint32_t id, uint64_t string)
{
	const char *name = trc_model_string(f->m, string);

	if (name && *name)
		fiber_at(f, id)->name = name;
	return name ? 0 : -ENOMEM;
}

/* The fiber waits from now on. */
static struct trc_fiber_wait *wait_add(struct fibers *f, uint32_t id, int64_t start_ns)
{
	struct trc_fiber_wait *wait = trc_array_add(&f->m->fiber_waits);
	struct fiber_now *now = now_at(f, id);

	if (!wait)
		return NULL;
	*wait = (struct trc_fiber_wait){.start_ns = start_ns,
					.start_place = f->place,
					.ready_ns = TRC_NEVER,
					.end_ns = TRC_NEVER,
					.fiber = id};
	now->phase = PHASE_WAITS;
	now->wait = (uint32_t)f->m->fiber_waits.n;
	return wait;
}

/* Who made the fiber ready while it ran, which is forgotten (F4); if it ran since before the window,
 * that was taken for the end of a wait from before it. */
static struct waker take_early(struct fibers *f, struct fiber_now *now)
{
	struct waker early = now->early;
	const struct trc_fiber_wait *wait;

	now->early = nobody;
	if (now->phase != PHASE_WAITS)
		return early;
	wait = wait_at(f, now);
	if (wait->flags & TRC_FIBER_WAIT_CUT)
		early = (struct waker){wait->ready_ns, wait->ready_place, wait->waker_thread,
				       wait->waker_stack};
	return early;
}

static int fiber_left(struct fibers *f, uint32_t id, const struct trc_columns *c, uint32_t row)
{
	struct fiber_now *now = now_at(f, id);
	struct waker early = take_early(f, now);
	uint8_t reason = (uint8_t)TRC_ROW_ARG(c, row, fiber_switch, reason);
	struct trc_fiber_wait *wait;

	if (now->phase == PHASE_ENDED)
		return 0;
	if (now->phase == PHASE_WAITS)
		wait_miss(wait_at(f, now), c->time_ns[row]);
	now->phase = PHASE_CAN_RUN;
	now->since_ns = c->time_ns[row];
	if (!reason)
		return 0;
	wait = wait_add(f, id, c->time_ns[row]);
	if (!wait)
		return -ENOMEM;
	wait->reason = reason;
	wait->object = TRC_ROW_ARG(c, row, fiber_switch, object);
	wait->thread = c->thread[row];
	wait->stack = (uint32_t)TRC_ROW_ARG(c, row, fiber_switch, stack);
	wait_readied(wait, &early);
	return 0;
}

static void fiber_entered(struct fibers *f, uint32_t id, int64_t now_ns, uint32_t thread)
{
	struct fiber_now *now = now_at(f, id);

	if (now->phase == PHASE_ENDED)
		return;
	if (now->phase == PHASE_WAITS) {
		wait_at(f, now)->end_ns = now_ns;
		wait_at(f, now)->end_thread = thread;
	} else if (now->phase == PHASE_CAN_RUN) {
		trc_add_ns(&fiber_at(f, id)->runnable_ns, now->since_ns, now_ns);
	}
	now->phase = PHASE_RUNS;
	now->early = nobody;
}

/* The thread was there when recording began, this is the first that is said of its fibers, and the
 * fiber was there, too: that the switch is made now is not said. */
static int look_first_seen(struct fibers *f, struct trc_change *change)
{
	uint64_t thread = (uint64_t)change->thread;

	if (trc_index_get(&f->found, thread) != 1)
		return 0;
	if (change->value && !change->before && !change->note &&
	    fiber_at(f, change->value)->created_ns == TRC_NEVER)
		change->note = TRC_FIBER_FIRST_SEEN;
	return trc_index_put(&f->found, thread, 0);
}

static int switch_event(struct fibers *f, const struct trc_columns *c, uint32_t row)
{
	uint64_t number = TRC_ROW_ARG(c, row, fiber_switch, fiber);
	uint64_t left = TRC_ROW_ARG(c, row, fiber_switch, left);
	uint32_t id = number ? trc_fibers_row(f, number) : 0,
		 left_id = left ? trc_fibers_row(f, left) : 0;
	struct trc_change change = {
		.thread = c->thread[row],
		.ts_ns = c->time_ns[row],
		.place = f->place,
		.value = id,
		.before = left_id,
		.note = (uint8_t)TRC_ROW_ARG(c, row, fiber_switch, reason),
	};
	int err;

	if ((number && !id) || (left && !left_id))
		return -ENOMEM;
	err = look_first_seen(f, &change);
	if (!err && change.thread)
		err = trc_changes_add(&f->changes, &change);
	if (!err && id)
		err = trc_fibers_set_name(f, id, TRC_ROW_ARG(c, row, fiber_switch, name));
	if (err || change.ts_ns < f->m->window_ns) /* F3 */
		return err;
	if (left_id)
		err = fiber_left(f, left_id, c, row);
	if (!err && id)
		fiber_entered(f, id, change.ts_ns, c->thread[row]);
	return err;
}

static int create_event(struct fibers *f, uint32_t id, const struct trc_columns *c, uint32_t row)
{
	struct trc_fiber *fiber = fiber_at(f, id);
	struct fiber_now *now = now_at(f, id);
	uint32_t stack = (uint32_t)TRC_ROW_ARG(c, row, fiber_create, stack);

	if (stack && fiber->created_ns == TRC_NEVER) {
		fiber->created_ns = c->time_ns[row];
		fiber->created_place = f->place;
		fiber->creator_thread = c->thread[row];
		fiber->create_stack = stack;
	}
	/* Without a stack it was made before recording began, and may have run and waited then. */
	if (stack && now->phase == PHASE_UNSEEN && c->time_ns[row] >= f->m->window_ns)
		now->phase = PHASE_NEW;
	return trc_fibers_set_name(f, id, TRC_ROW_ARG(c, row, fiber_create, name));
}

static int ready_event(struct fibers *f, uint32_t id, const struct trc_columns *c, uint32_t row)
{
	struct fiber_now *now = now_at(f, id);
	struct waker waker = {c->time_ns[row], f->place, c->thread[row],
			      (uint32_t)TRC_ROW_ARG(c, row, fiber_ready, stack)};
	struct trc_fiber_wait *wait;

	if (c->time_ns[row] < f->m->window_ns)
		return 0;
	if (now->phase == PHASE_UNSEEN && f->m->window_ns != TRC_NEVER) { /* F3 */
		wait = wait_add(f, id, f->m->window_ns);
		if (!wait)
			return -ENOMEM;
		wait->flags = TRC_FIBER_WAIT_CUT;
	} else if (now->phase == PHASE_UNSEEN || now->phase == PHASE_NEW) {
		now->phase = PHASE_CAN_RUN;
		now->since_ns = c->time_ns[row];
	}
	if (now->phase == PHASE_WAITS && wait_at(f, now)->ready_ns == TRC_NEVER)
		wait_readied(wait_at(f, now), &waker);
	else if (now->phase == PHASE_RUNS && now->early.ns == TRC_NEVER)
		now->early = waker; /* F4 */
	return 0;
}

static void fiber_end(struct fibers *f, uint32_t id, int64_t now_ns)
{
	struct fiber_now *now = now_at(f, id);

	if (now->phase == PHASE_ENDED)
		return;
	if (now->phase == PHASE_WAITS) {
		wait_at(f, now)->end_ns = now_ns;
		wait_at(f, now)->flags |= TRC_FIBER_WAIT_ENDED;
	}
	now->phase = PHASE_ENDED;
	fiber_at(f, id)->ended_ns = now_ns;
}

/* F5 */
static int process_event(struct fibers *f, const struct trc_columns *c, uint32_t row)
{
	int64_t *ns;

	if (TRC_ROW_ARG(c, row, process, what) != TRC_PROCESS_EXEC)
		return 0;
	ns = trc_array_add(&f->exits.exec_ns);
	if (!ns)
		return -ENOMEM;
	*ns = c->time_ns[row];
	for (; f->n_executed < f->m->fibers.n; f->n_executed++)
		fiber_end(f, (uint32_t)f->n_executed + 1, c->time_ns[row]);
	return 0;
}

/* Whom nobody created may have been there before recording began. */
static int start_event(struct fibers *f, const struct trc_columns *c, uint32_t row)
{
	if (!c->thread[row] || TRC_ROW_ARG(c, row, thread_start, creator))
		return 0;
	return trc_index_put(&f->found, c->thread[row], 1);
}

static int exit_event(struct fibers *f, const struct trc_columns *c, uint32_t row)
{
	int64_t *ns = trc_array_add(&f->exits.ns);

	if (!ns)
		return -ENOMEM;
	*ns = c->time_ns[row];
	return trc_index_put(&f->exits.row, c->thread[row], (uint32_t)(f->exits.ns.n - 1));
}

/* An event that is about one fiber. */
static int fiber_event(struct fibers *f, const struct trc_columns *c, uint32_t row)
{
	uint64_t number = TRC_ROW_ARG(c, row, fiber_create, fiber);
	uint32_t id = number ? trc_fibers_row(f, number) : 0;

	if (!number)
		return 0;
	if (!id)
		return -ENOMEM;
	if (c->kind[row] == TRC_KIND_FIBER_CREATE)
		return create_event(f, id, c, row);
	if (c->kind[row] == TRC_KIND_FIBER_READY)
		return ready_event(f, id, c, row);
	fiber_end(f, id, c->time_ns[row]);
	return 0;
}

static int fibers_event(struct fibers *f, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;

	f->place = span->place + row;
	switch (c->kind[row]) {
	case TRC_KIND_FIBER_SWITCH:
		return switch_event(f, c, row);
	case TRC_KIND_FIBER_CREATE:
	case TRC_KIND_FIBER_READY:
	case TRC_KIND_FIBER_END:
		return fiber_event(f, c, row);
	case TRC_KIND_THREAD_EXIT:
		return exit_event(f, c, row);
	case TRC_KIND_PROCESS:
		return process_event(f, c, row);
	case TRC_KIND_THREAD_START:
		return start_event(f, c, row);
	case TRC_KIND_GAP:
		return trc_changes_gap(&f->changes, span, row);
	default:
		return 0;
	}
}

static int fibers_span(struct trc_derive *derive, const struct trc_span *span)
{
	int err = 0;

	if (!trc_block_has_kinds(span->block, &derive->kinds))
		return 0;
	for (uint32_t row = span->first; row < span->last && !err; row++)
		err = fibers_event((struct fibers *)derive, span, row);
	return err;
}

static int fibers_end(struct trc_derive *derive)
{
	return trc_fibers_finish((struct fibers *)derive);
}

static void fibers_free(struct trc_derive *derive)
{
	struct fibers *f = (struct fibers *)derive;

	trc_changes_free(&f->changes);
	trc_index_free(&f->row);
	trc_array_free(&f->now);
	trc_index_free(&f->exits.row);
	trc_array_free(&f->exits.ns);
	trc_array_free(&f->exits.exec_ns);
	trc_index_free(&f->found);
	free(f);
}

int trc_derive_fibers(struct trc_derive **out, struct trc_model *m)
{
	static const unsigned int kinds[] = {TRC_KIND_FIBER_CREATE, TRC_KIND_FIBER_SWITCH,
					     TRC_KIND_FIBER_READY,  TRC_KIND_FIBER_END,
					     TRC_KIND_THREAD_START, TRC_KIND_THREAD_EXIT,
					     TRC_KIND_PROCESS,	    TRC_KIND_GAP};
	struct fibers *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->m = m;
	trc_changes_init(&f->changes, m);
	f->now.row_bytes = sizeof(struct fiber_now);
	f->exits.ns.row_bytes = sizeof(int64_t);
	f->exits.exec_ns.row_bytes = sizeof(int64_t);
	f->derive = (struct trc_derive){.part = TRC_PART_FIBERS,
					.span = fibers_span,
					.end = fibers_end,
					.free = fibers_free};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		trc_kind_mask_add(&f->derive.kinds, kinds[i]);
	*out = &f->derive;
	return 0;
}
