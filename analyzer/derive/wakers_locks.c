/*
 * wakers_locks.c - what each unlock of a lock ended and cost.
 *
 * An unlock of a lock ends one critical section.  Cut a waiter's time into the
 * pieces between the unlocks of its lock that happened meanwhile: each piece was caused
 * by the section that the unlock at its end closes.  Before that section began nobody held the
 * lock: those that waited had been woken, and had not run yet.  That part of the piece, and the
 * piece after the last unlock, is the time it took to wake up and charged to nobody.  An unlock
 * tells when its section began if others waited then; else it began before all of its pieces.
 *
 *   wakers:W1  the caused_ns of all unlocks of a lock add up to no more than the waiting for it
 *   wakers:W2  the waker is the last unlock at or before the end of the wait
 *
 * A rwlock is no different: with several readers inside, each piece of a writer's
 * waiting goes to the reader that left at its end; readers that are let in together are
 * each charged to the writer that left.
 *
 * What is left at the end of a wait - nobody released the lock in it, or it was given up - follows the
 * rules of format/waits/charges.h.
 */
#include "wakers.h"
#include "analyzer/model/charge.h"

/* A lock while its waiters come and go.  base: since when the waiting of a waiter is to be charged to
 * the next unlock. */
struct lock_sweep {
	struct trc_wakers *w;
	const struct trc_waker_object *o;
	uint32_t next_unlock;
	uint64_t n_waiting;
	__int128 base_sum;
	int64_t last_unlock_ns;
	int64_t base_ns; /* of all that waited then: of the last unlock, or when it was taken since */
	bool taken;	 /* it was, as the next unlock says */
};

static struct trc_unlock *sweep_unlock_at(const struct lock_sweep *s, uint32_t i)
{
	return &s->w->unlock[s->w->unlock_idx[s->o->first_unlock + i]];
}

static void sweep_begin(struct lock_sweep *s, const struct trc_park *park)
{
	s->n_waiting++;
	s->base_sum += park->start_ns;
}

/* What does not fit stays at the largest that does: a damaged clock makes waits of 146 years. */
static void cause_add(struct trc_unlock *unlock, __int128 ns)
{
	ns += unlock->caused_ns;
	unlock->caused_ns = ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* The next that happens to the lock itself; INT64_MAX = nothing. */
static int64_t sweep_next_ns(const struct lock_sweep *s, bool *takes)
{
	const struct trc_unlock *unlock;

	*takes = false;
	if (s->next_unlock == s->o->n_unlocks)
		return INT64_MAX;
	unlock = sweep_unlock_at(s, s->next_unlock);
	*takes = !s->taken && unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= unlock->ts_ns &&
		 (!s->next_unlock || unlock->taken_ns > s->last_unlock_ns);
	return *takes ? unlock->taken_ns : unlock->ts_ns;
}

/* Nobody held it up to now. */
static void sweep_taken(struct lock_sweep *s, int64_t now_ns)
{
	s->taken = true;
	s->base_ns = now_ns;
	s->base_sum = (__int128)s->n_waiting * now_ns;
}

static void sweep_unlock(struct lock_sweep *s)
{
	struct trc_unlock *unlock = sweep_unlock_at(s, s->next_unlock++);
	__int128 now_sum = (__int128)s->n_waiting * unlock->ts_ns;

	cause_add(unlock, now_sum - s->base_sum);
	unlock->caused_waits += (uint32_t)s->n_waiting;
	s->base_sum = now_sum;
	s->last_unlock_ns = s->base_ns = unlock->ts_ns;
	s->taken = false;
}

/* What happens next to the lock itself. */
static void sweep_step(struct lock_sweep *s)
{
	bool takes;
	int64_t now_ns = sweep_next_ns(s, &takes);

	if (takes)
		sweep_taken(s, now_ns);
	else
		sweep_unlock(s);
}

static void park_set_waker(struct lock_sweep *s, struct trc_park *park,
			   const struct trc_unlock *unlock)
{
	park->waker = unlock->thread;
	park->waker_stack = unlock->stack;
	park->unlock = (uint32_t)(unlock - s->w->unlock) + 1;
	if (unlock->ts_ns >= park->start_ns)
		park->wake_ns = unlock->ts_ns;
}

/* Charges what the wait lasted from `since` on. */
static void charge_wait(struct trc_unlock *unlock, const struct trc_charge_wait *wait,
			uint64_t since)
{
	cause_add(unlock, (__int128)(wait->end - since));
	unlock->caused_waits++;
}

/* A wait was given up: whoever had the lock at its end has not released it yet. */
static void sweep_give_up(struct lock_sweep *s, const struct trc_charge_wait *wait,
			  const struct trc_charge_unlock *last)
{
	struct trc_charge_unlock next;
	uint64_t since;

	if (s->next_unlock == s->o->n_unlocks)
		return;
	next = trc_charge_unlock_of(sweep_unlock_at(s, s->next_unlock));
	if (trc_charge_to_next(wait, last, &next, &since))
		charge_wait(sweep_unlock_at(s, s->next_unlock), wait, since);
}

static void sweep_uncharge(struct lock_sweep *s, const struct trc_park *park)
{
	bool has_base = s->next_unlock || s->taken;

	s->n_waiting--;
	s->base_sum -= has_base && s->base_ns >= park->start_ns ? s->base_ns : park->start_ns;
}

static void sweep_end(struct lock_sweep *s, struct trc_park *park)
{
	const struct trc_charge_wait wait = {trc_charge_time(park->start_ns),
					     trc_charge_time(park->end_ns), park->holder};
	int result = park->flags & TRC_PARK_NO_END ? -1 : park->result;
	struct trc_unlock *unlock = s->next_unlock ? sweep_unlock_at(s, s->next_unlock - 1) : NULL;
	struct trc_charge_unlock last = {0};

	if (unlock)
		last = trc_charge_unlock_of(unlock);
	sweep_uncharge(s, park);
	switch (trc_charge_end(&wait, result, unlock ? &last : NULL, TRC_CHARGE_BETWEEN_NS)) {
	case TRC_CHARGE_NOBODY:
		break;
	case TRC_CHARGE_WOKEN:
		park_set_waker(s, park, unlock);
		break;
	case TRC_CHARGE_LAST:
		charge_wait(unlock, &wait, wait.start);
		park_set_waker(s, park, unlock);
		break;
	case TRC_CHARGE_NEXT:
		sweep_give_up(s, &wait, unlock ? &last : NULL);
		break;
	}
}

/* At equal times waits begin, then the lock is released, then waits end. */
void trc_wakers_sweep_lock(struct trc_wakers *w, const struct trc_waker_object *o)
{
	struct lock_sweep s = {.w = w, .o = o};
	uint32_t begun = 0, ended = 0;
	bool takes;

	trc_wakers_sort_by_end(w, o);
	while (ended < o->n_parks && w->end[ended].key != INT64_MAX) {
		int64_t end_ns = w->end[ended].key;
		int64_t step_ns = sweep_next_ns(&s, &takes);
		const struct trc_park *next =
			begun < o->n_parks ? &w->park[w->park_idx[o->first_park + begun]] : NULL;

		if (next && next->start_ns <= step_ns && next->start_ns <= end_ns) {
			sweep_begin(&s, next);
			begun++;
		} else if (step_ns <= end_ns) {
			sweep_step(&s);
		} else {
			sweep_end(&s, &w->park[w->end[ended++].row]);
		}
	}
	/* Those still waiting have been waiting for the sections that end from here on, too. */
	while (s.next_unlock < o->n_unlocks) {
		const struct trc_park *next =
			begun < o->n_parks ? &w->park[w->park_idx[o->first_park + begun]] : NULL;

		if (next && next->start_ns <= sweep_next_ns(&s, &takes)) {
			sweep_begin(&s, next);
			begun++;
		} else {
			sweep_step(&s);
		}
	}
}
