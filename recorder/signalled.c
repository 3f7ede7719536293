/*
 * signalled.c - threads that wait for a condition, and those that were signalled and want their
 * mutex back.
 *
 * Who was signalled waits for the mutex, inside the C library, and counts as a waiter of it: so
 * whoever holds the mutex records its release.  Each thread in a wait for a condition has a place in
 * a table; where there is none its mutex is not counted.
 *
 *   signalled:G1  a place changes hands by its state only: FREE, BUSY, WAITS, SIGNALLED, FREE, and
 *                 with each round the number in the upper bits
 *   signalled:G2  cond and mutex are stored while the place is BUSY
 *   signalled:G3  a place that is SIGNALLED counts one waiter of its mutex; whoever takes it out of
 *                 that state takes the count back
 *
 * A signal marks some thread that waits; the C library may wake another one, which then takes the
 * mark over.
 */
#include "rec.h"
#include "poison.h"

enum { FREE, BUSY, WAITS, SIGNALLED, STATES, NEAR = 32 };

struct place {
	_Atomic uint64_t state; /* + STATES for each round */
	_Atomic uint64_t cond, mutex;
	_Atomic uint64_t at; /* SIGNALLED: when */
};
static struct place places[TRC_WAITER_PLACES];

static struct place *place_near(uint64_t cond, uint32_t i)
{
	return &places[(trc_waiter_place(cond) + i) % TRC_WAITER_PLACES];
}

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static bool change(struct place *p, uint64_t state, uint64_t to)
{
	/* acq_rel: cond and mutex are those of the state (G2); a mark is seen with its count (G3). */
	return atomic_compare_exchange_strong_explicit(&p->state, &state, state - state % STATES + to,
						       memory_order_acq_rel, memory_order_relaxed);
}

void trc_cond_waits(struct trc_wait *wait, const void *mutex)
{
	for (uint32_t i = 0; wait->counted && i < NEAR; i++) {
		struct place *p = place_near(wait->object, i);
		uint64_t state = load(&p->state);

		if (state % STATES != FREE || !change(p, state, BUSY))
			continue;
		atomic_store_explicit(&p->cond, wait->object, memory_order_relaxed);
		atomic_store_explicit(&p->mutex, (uintptr_t)mutex, memory_order_relaxed);
		atomic_store_explicit(&p->at, 0, memory_order_relaxed);
		/* release: pairs with the acquire in signal_one(); what is above is of this state. */
		atomic_store_explicit(&p->state, state + WAITS, memory_order_release);
		wait->cond_place = (uint32_t)(p - places) + 1;
		return;
	}
}

/* True if this place is of a thread that waits for the condition, and is marked now. */
static bool signal_one(struct place *p, uint64_t cond, uint64_t at)
{
	/* acquire: pairs with the release in trc_cond_waits(). */
	uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire), mutex;

	if (state % STATES != WAITS || load(&p->cond) != cond)
		return false;
	mutex = load(&p->mutex);
	trc_lock_waiters_add(mutex, 1);
	if (!change(p, state, SIGNALLED)) {
		trc_lock_waiters_add(mutex, -1);
		return false;
	}
	atomic_store_explicit(&p->at, at, memory_order_relaxed);
	return true;
}

void trc_cond_signalled(const void *cond, uint64_t count, uint64_t at)
{
	for (uint32_t i = 0; count && i < NEAR; i++)
		count -= signal_one(place_near((uintptr_t)cond, i), (uintptr_t)cond, at);
}

/* Of a marked place, which becomes `to`; *at is when it was marked, 0 = only just.  False: it is not
 * marked. */
static bool take_mark(struct place *p, uint64_t cond, uint64_t mutex, uint64_t to, uint64_t *at)
{
	/* acquire: as in signal_one(). */
	uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire);
	uint64_t marked = load(&p->at);

	if (state % STATES != SIGNALLED || load(&p->cond) != cond || load(&p->mutex) != mutex ||
	    !change(p, state, to))
		return false;
	trc_lock_waiters_add(mutex, -1);
	*at = marked;
	return true;
}

uint64_t trc_cond_returned(struct trc_wait *wait, bool woken, uint64_t *mutex)
{
	struct place *p = &places[wait->cond_place - 1];
	uint64_t at = 0, state;
	bool marked = false;

	wait->cond_place = 0;
	*mutex = load(&p->mutex);
	/* Another thread may mark it, or take its mark over, meanwhile. */
	do {
		state = load(&p->state);
		marked = take_mark(p, wait->object, *mutex, FREE + STATES, &at);
	} while (!marked && (state % STATES != WAITS || !change(p, state, FREE + STATES)));
	for (uint32_t i = 0; woken && !marked && i < NEAR; i++)
		marked = take_mark(place_near(wait->object, i), wait->object, *mutex, WAITS, &at);
	return at;
}
