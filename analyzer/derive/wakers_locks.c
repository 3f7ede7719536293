/*
 * wakers_locks.c - what each unlock of a lock ended and cost, as format/waits/locks.h says.
 *
 *   wakers:W1  the caused_ns of all unlocks of a lock add up to no more than the waiting for it
 *   wakers:W2  the waker is the last unlock at or before the end of the wait
 *
 * If a rwlock has several readers inside, each piece of a writer's waiting is charged to the reader
 * that left at the end of the piece.  If readers are let in together, the waiting of each is charged to the writer
 * that left (charges:C6): here waits to read are an object of their own.
 */
#include "wakers.h"
#include "analyzer/model/charge.h"

/* A lock while its waiters come and go. */
struct lock_sweep {
	struct trc_wakers *w;
	const struct trc_waker_object *o;
	struct trc_waited_lock lock;
	struct trc_unlock *last;
	uint32_t n_begun, n_ended;
};

/* What does not fit stays at the largest that does: a damaged clock makes waits of 146 years. */
static void unlock_add_cause(struct trc_unlock *unlock, uint64_t waits, unsigned __int128 ns)
{
	ns += (uint64_t)unlock->caused_ns;
	unlock->caused_ns = ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
	unlock->caused_waits += (uint32_t)waits;
}

static struct trc_park *sweep_park_at(const struct lock_sweep *s, uint32_t i)
{
	return &s->w->park[s->w->park_idx[s->o->first_park + i]];
}

/* Those that begin no later than this. */
static void sweep_begin(struct lock_sweep *s, int64_t upto_ns)
{
	for (; s->n_begun < s->o->n_parks; s->n_begun++) {
		const struct trc_park *park = sweep_park_at(s, s->n_begun);
		struct trc_lock_waiter *waiter = &s->w->waiter[s->n_begun];

		if (park->start_ns > upto_ns)
			return;
		waiter->wait =
			(struct trc_charge_wait){trc_charge_time(park->start_ns),
						 trc_charge_time(park->end_ns), park->holder};
		trc_lock_wait_begins(&s->lock, waiter);
	}
}

static void park_set_waker(struct lock_sweep *s, struct trc_park *park)
{
	park->waker = s->last->thread;
	park->waker_stack = s->last->stack;
	park->unlock = (uint32_t)(s->last - s->w->unlock) + 1;
	if (s->last->ts_ns >= park->start_ns)
		park->wake_ns = s->last->ts_ns;
}

static void wait_ends(struct lock_sweep *s, uint32_t i)
{
	struct trc_park *park = sweep_park_at(s, i);
	struct trc_lock_waiter *waiter = &s->w->waiter[i];
	int result = park->flags & TRC_PARK_NO_END ? -1 : park->result;

	switch (trc_lock_wait_ends(&s->lock, waiter, result, TRC_CHARGE_BETWEEN_NS)) {
	case TRC_CHARGE_NOBODY:
	case TRC_CHARGE_NEXT:
		break;
	case TRC_CHARGE_LAST:
		unlock_add_cause(s->last, 1, waiter->wait.end - waiter->wait.start);
		park_set_waker(s, park);
		break;
	case TRC_CHARGE_WOKEN:
		park_set_waker(s, park);
		break;
	}
}

/* Those that end before this.  Those still waiting end last, and here never. */
static void sweep_end(struct lock_sweep *s, int64_t until_ns)
{
	while (s->n_ended < s->o->n_parks && s->w->end[s->n_ended].key < until_ns)
		wait_ends(s, s->w->end[s->n_ended++].row);
}

static void sweep_unlock(struct lock_sweep *s, struct trc_unlock *unlock)
{
	const struct trc_charge_unlock charge = trc_charge_unlock_of(unlock);
	const struct trc_lock_waiter *waiter;
	unsigned __int128 ns;
	uint64_t since, n = trc_lock_waited(&s->lock, &charge, 0, &ns);
	bool charged;

	unlock_add_cause(unlock, n, ns);
	while ((waiter = trc_lock_take_gave_up(&s->lock, &charge, &charged, &since)))
		if (charged)
			unlock_add_cause(unlock, 1, waiter->wait.end - since);
	trc_lock_unlocks(&s->lock, &charge);
	s->last = unlock;
}

void trc_wakers_sweep_lock(struct trc_wakers *w, const struct trc_waker_object *o)
{
	struct lock_sweep s = {.w = w, .o = o};

	trc_wakers_sort_by_end(w, o);
	for (uint32_t i = 0; i < o->n_unlocks; i++) {
		struct trc_unlock *unlock = &w->unlock[w->unlock_idx[o->first_unlock + i]];

		sweep_begin(&s, unlock->ts_ns);
		sweep_end(&s, unlock->ts_ns);
		sweep_unlock(&s, unlock);
	}
	sweep_begin(&s, INT64_MAX);
	sweep_end(&s, INT64_MAX);
}
