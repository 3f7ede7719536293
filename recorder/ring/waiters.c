/*
 * waiters.c - the number of threads that wait for an object: an unlock or a wake-up for which
 * nobody waits is not recorded.
 *
 * A hash table.  A place has the number of waiters, and the sum of their objects' addresses: the
 * sum says whether all waiters wait for one object.  Locks have a table of their own.  Else a
 * thread that waits hours for work could share a place with a lock, and all unlocks of the lock
 * would look waited for.
 *
 *   waiters:W1  each count of a waiter is taken back once: by the thread itself when its wait
 *               returns or, for a thread that gave up on a lock, by the thread that releases the
 *               lock
 *   waiters:W2  in a forked child only threads count that began to wait in the child, as the
 *               parent's threads never return there: the tables lie on pages that read as zero in a
 *               child
 *
 * All atomics are relaxed: each word stands for itself.  The lock itself orders a thread that takes
 * the lock after the release.  A waiter that has only just arrived, and is not seen, has recorded
 * its own wait with the holder in it.
 */
#include <errno.h>
#include <sys/mman.h>
#include "rec.h"
#include "waiters.h"
#include "recorder/unwind/poison.h"

enum { ADDRESS_BITS = 45 }; /* without the lowest two */
#define ADDRESS_SUM ((UINT64_C(1) << ADDRESS_BITS) - 1)

union trc_waiting_pages trc_waiting_pages __attribute__((aligned(65536)));

void trc_waiters_setup(void)
{
	madvise(&trc_waiting_pages, sizeof(trc_waiting_pages), MADV_WIPEONFORK);
}

void trc_waiters_start(uint32_t session)
{
	uint32_t none = 0;

	/* The first session of this process stands for the process: a child's is another one. */
	atomic_compare_exchange_strong_explicit(&trc_waiting.first_session, &none, session,
						memory_order_relaxed, memory_order_relaxed);
}

static uint64_t waiters_load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static uint64_t as_waiters(uint64_t object, uint64_t n)
{
	return n << ADDRESS_BITS | ((object >> 2) * n & ADDRESS_SUM);
}

/* Of an object among those that are waited for at its place: never too few; sometimes too many,
 * where there are several objects. */
static uint32_t waiters_among(uint64_t place, uint64_t object)
{
	uint64_t n = place >> ADDRESS_BITS;

	if (n == 1 && place != as_waiters(object, 1))
		return 0;
	return (uint32_t)n;
}

uint32_t trc_waiters(const void *object)
{
	return waiters_among(waiters_load(&trc_waiting.other[trc_waiter_place((uintptr_t)object)]),
			     (uintptr_t)object);
}

uint32_t trc_lock_waiters(const void *lock)
{
	return waiters_among(waiters_load(&trc_waiting.lock[trc_waiter_place((uintptr_t)lock)]),
			     (uintptr_t)lock);
}

/* ---- coming and going ------------------------------------------------------------------ */

static _Atomic uint64_t *waiters_place(const struct trc_wait *wait)
{
	uint32_t place = trc_waiter_place(wait->object);

	return trc_reason_is_lock(wait->reason) ? &trc_waiting.lock[place]
						: &trc_waiting.other[place];
}

/* Adds one, and the address to the sum: what is carried out of the sum must not count. */
static void waiters_place_add(_Atomic uint64_t *place, uint64_t object, uint64_t n)
{
	uint64_t old = waiters_load(place), new;

	do
		new = ((old >> ADDRESS_BITS) + n) << ADDRESS_BITS |
		      ((old + (object >> 2) * n) & ADDRESS_SUM);
	while (!atomic_compare_exchange_weak_explicit(place, &old, new, memory_order_relaxed,
						      memory_order_relaxed));
}

void trc_lock_waiters_add(uint64_t lock, int n)
{
	waiters_place_add(&trc_waiting.lock[trc_waiter_place(lock)], lock, (uint64_t)(int64_t)n);
}

void trc_waiter_enter(struct trc_wait *wait)
{
	wait->counted = atomic_load_explicit(&trc_waiting.first_session, memory_order_relaxed);
	if (wait->counted)
		waiters_place_add(waiters_place(wait), wait->object, 1);
}

bool trc_waiter_is_counted(const struct trc_wait *wait)
{
	/* A handler may have forked inside a wait: then it is the parent's. */
	return wait->counted && wait->counted == atomic_load_explicit(&trc_waiting.first_session,
								      memory_order_relaxed);
}

void trc_waiter_leave(struct trc_wait *wait, int result)
{
	bool stays = result == ETIMEDOUT && trc_reason_is_lock(wait->reason) &&
		     trc_lock_gave_up(wait->object);

	wait->counted = 0;
	if (!stays)
		waiters_place_add(waiters_place(wait), wait->object, ~UINT64_C(0));
}

/* ---- locks that somebody gave up on ---------------------------------------------------- */

/*
 * Who has the lock now is to blame, and has to see that, so the waiter still counts until the lock is
 * released.  One for each lock is enough; where two locks meet the second one's goes.  A lock that is
 * never released stays: what lies at its address later records one release more.
 */
static _Atomic uint64_t *gave_up_at(uint64_t lock)
{
	enum { N = sizeof(trc_waiting.gave_up) / sizeof(trc_waiting.gave_up[0]) };

	return &trc_waiting.gave_up[trc_waiter_place(lock) % N];
}

bool trc_lock_gave_up(uint64_t lock)
{
	uint64_t none = 0;

	return atomic_compare_exchange_strong_explicit(gave_up_at(lock), &none, lock,
						       memory_order_relaxed, memory_order_relaxed);
}

bool trc_lock_forget_gave_up(uint64_t lock)
{
	uint64_t it = lock;

	if (!atomic_compare_exchange_strong_explicit(gave_up_at(lock), &it, 0, memory_order_relaxed,
						     memory_order_relaxed))
		return false;
	trc_lock_waiters_add(lock, -1);
	return true;
}

/* ---- when a lock that was wanted was released ------------------------------------------ */

uint64_t trc_lock_releasing(const void *lock)
{
	struct trc_released *place = &trc_waiting.released[trc_waiter_place((uintptr_t)lock)];
	uint64_t at = trc_clock_now();

	/* Of two mutexes at one place one may stand with the other's time: they were released at the
	 * same moment. */
	atomic_store_explicit(&place->lock, (uintptr_t)lock, memory_order_relaxed);
	atomic_store_explicit(&place->at, at, memory_order_relaxed);
	return at;
}

bool trc_lock_released_since(uint64_t lock, uint64_t since)
{
	const struct trc_released *place = &trc_waiting.released[trc_waiter_place(lock)];

	return waiters_load(&place->lock) == lock && waiters_load(&place->at) > since;
}
