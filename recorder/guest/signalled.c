/*
 * signalled.c - threads that wait for a condition, and signalled threads that want their mutex
 * back.
 *
 * A signalled thread waits for the mutex inside the C library, and counts as a waiter of the mutex:
 * so the mutex's holder records the release.  Each thread in a wait for a condition has a place in
 * a table.  A thread without a place does not count as a waiter of its mutex.
 *
 *   signalled:G1  a place changes hands by its state only: FREE, BUSY, WAITS, SIGNALLED, FREE, and
 *                 with each round the number in the upper bits
 *   signalled:G2  cond and mutex are stored while the place is BUSY
 *   signalled:G3  a place that is SIGNALLED counts one waiter of its mutex; the thread that takes
 *                 the place out of that state takes the count back
 *
 * A signal marks some thread that waits; the C library may wake another thread, which then takes
 * the mark over, with or without a place of its own.  A mark may be left over nevertheless: the
 * signal went to a thread of another process, or came before the C library knew of the wait.  Such
 * a mark would count as a waiter while its thread sleeps; so a later signal takes back old marks.
 */
#include <sys/mman.h>
#include "recorder/ring/rec.h"
#include "recorder/ring/waiters.h"
#include "recorder/unwind/poison.h"

enum { FREE, BUSY, WAITS, SIGNALLED, STATES, NEAR = 32 };
enum { OLD_NS = 1000 * 1000 * 1000 };

struct place {
	_Atomic uint64_t state; /* + STATES for each round */
	_Atomic uint64_t cond, mutex;
	_Atomic uint64_t at; /* SIGNALLED: when; stored before the state */
};
/* A forked child has none of its parent's: they read as zero there. */
static struct place places[TRC_WAITER_PLACES] __attribute__((aligned(65536)));
_Static_assert(sizeof(places) % 65536 == 0, "whole pages of any size");

void trc_conds_setup(void)
{
	madvise(places, sizeof(places), MADV_WIPEONFORK);
}

static struct place *place_near(uint64_t cond, uint32_t i)
{
	return &places[(trc_waiter_place(cond) + i) % TRC_WAITER_PLACES];
}

static uint64_t word_load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static bool place_change(struct place *p, uint64_t state, uint64_t to)
{
	/* acq_rel: cond and mutex are those of the state (G2); a mark is seen with its count (G3). */
	return atomic_compare_exchange_strong_explicit(&p->state, &state,
						       state - state % STATES + to,
						       memory_order_acq_rel, memory_order_relaxed);
}

void trc_cond_waits(struct trc_wait *wait, const void *mutex)
{
	wait->cond_mutex = wait->counted ? (uintptr_t)mutex : 0;
	for (uint32_t i = 0; wait->counted && i < NEAR; i++) {
		struct place *p = place_near(wait->object, i);
		uint64_t state = word_load(&p->state);

		if (state % STATES != FREE || !place_change(p, state, BUSY))
			continue;
		atomic_store_explicit(&p->cond, wait->object, memory_order_relaxed);
		atomic_store_explicit(&p->mutex, (uintptr_t)mutex, memory_order_relaxed);
		/* release: pairs with the acquire in signal_one(); what is above is of this state. */
		atomic_store_explicit(&p->state, state + WAITS, memory_order_release);
		wait->cond_place = (uint32_t)(p - places) + 1;
		return;
	}
}

/* Of a marked place, which becomes `to`; *at is when it was marked.  False: it is not marked. */
static bool take_mark(struct place *p, uint64_t cond, uint64_t mutex, uint64_t to, uint64_t *at)
{
	/* acquire: as in signal_one(). */
	uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire);
	uint64_t marked = word_load(&p->at);

	if (state % STATES != SIGNALLED || word_load(&p->cond) != cond ||
	    word_load(&p->mutex) != mutex || !place_change(p, state, to))
		return false;
	trc_lock_waiters_add(mutex, -1);
	*at = marked;
	return true;
}

/* True if this place is of a thread that waits for the condition, and is marked now. */
static bool signal_one(struct place *p, uint64_t cond, uint64_t at)
{
	/* acquire: pairs with the release in trc_cond_waits(). */
	uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire), mutex;

	if (state % STATES != WAITS || word_load(&p->cond) != cond)
		return false;
	mutex = word_load(&p->mutex);
	trc_lock_waiters_add(mutex, 1);
	/* relaxed: place_change() releases it.  Of two that signal at once either time will do. */
	atomic_store_explicit(&p->at, at, memory_order_relaxed);
	if (!place_change(p, state, SIGNALLED)) {
		trc_lock_waiters_add(mutex, -1);
		return false;
	}
	return true;
}

/* A mark whose thread has not come back for so long that it was hardly woken. */
static void forget_old(struct place *p, uint64_t cond, uint64_t now)
{
	uint64_t at = word_load(&p->at);

	/* relaxed: take_mark() looks again. */
	if (word_load(&p->state) % STATES == SIGNALLED && word_load(&p->cond) == cond && now > at &&
	    trc_clock_ticks_to_ns(now - at) > OLD_NS)
		take_mark(p, cond, word_load(&p->mutex), WAITS, &at);
}

void trc_cond_signalled(const void *cond, uint64_t count, uint64_t at)
{
	for (uint32_t i = 0; count && i < NEAR; i++) {
		struct place *p = place_near((uintptr_t)cond, i);

		forget_old(p, (uintptr_t)cond, at);
		count -= signal_one(p, (uintptr_t)cond, at);
	}
}

/* The thread's own place is free again.  True if it was marked. */
static bool leave_place(struct trc_wait *wait, uint64_t *at)
{
	struct place *p = &places[wait->cond_place - 1];
	uint64_t state;
	bool marked;

	wait->cond_place = 0;
	/* Another thread may mark it, or take its mark over, meanwhile. */
	do {
		state = word_load(&p->state);
		marked = take_mark(p, wait->object, wait->cond_mutex, FREE + STATES, at);
	} while (!marked && (state % STATES != WAITS || !place_change(p, state, FREE + STATES)));
	return marked;
}

uint64_t trc_cond_returned(struct trc_wait *wait, bool woken)
{
	uint64_t at = 0;
	bool marked = wait->cond_place && leave_place(wait, &at);

	for (uint32_t i = 0; woken && !marked && i < NEAR; i++)
		marked = take_mark(place_near(wait->object, i), wait->object, wait->cond_mutex,
				   WAITS, &at);
	return at;
}
