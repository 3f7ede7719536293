/*
 * spin.c - pthread_spin_*.  Context: traced thread, signal handlers.
 *
 * Spin locks are held for less time than a record takes.  So a thread parks only if it did not get
 * the lock for about a microsecond; it goes on spinning in the real call.
 */
#include "span.h"
#include "recorder/unwind/poison.h"

enum { SPIN_TRIES = 32 }; /* a try with a pause takes 10 to 60 ns */

static inline void pause_briefly(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#else
	__asm__ volatile("isb" ::: "memory");
#endif
}

static void spin_lock_taken(pthread_spinlock_t *lock, bool tried)
{
	trc_lock_taken_alone(lock);
	if (trc_locks_all())
		trc_acquired(TRC_REASON_SPIN, (const void *)lock, tried);
}

static int spin_lock_slow(pthread_spinlock_t *lock)
{
	bool parked = trc_switch.locks != TRC_LOCKS_NONE;
	struct trc_span span;
	int result;

	if (parked)
		trc_span_park(&span, TRC_REASON_SPIN, (const void *)lock);
	result = REAL(pthread_spin_lock)(lock);
	if (!result)
		spin_lock_taken(lock, false); /* first: span:I2 */
	if (parked)
		trc_span_end(&span, result);
	return result;
}

TRC_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int tries;

	if (!trc_recording())
		return REAL(pthread_spin_lock)(lock);
	for (tries = 0; tries < SPIN_TRIES; tries++) {
		if (!REAL(pthread_spin_trylock)(lock)) {
			spin_lock_taken(lock, false);
			return 0;
		}
		pause_briefly();
	}
	return spin_lock_slow(lock);
}

TRC_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	int result = REAL(pthread_spin_trylock)(lock);

	if (!result && trc_recording())
		spin_lock_taken(lock, true);
	return result;
}

/* The lock may be gone after the real call. */
TRC_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	uint32_t waiters = 0;
	uint64_t at = 0;
	int result;

	if (!trc_recording())
		return REAL(pthread_spin_unlock)(lock);
	if (trc_locks_all())
		trc_released(TRC_REASON_SPIN, (const void *)lock);
	if (trc_switch.locks != TRC_LOCKS_NONE)
		waiters = trc_lock_waiters((const void *)lock);
	if (waiters)
		at = trc_now();
	result = REAL(pthread_spin_unlock)(lock);
	if (waiters) {
		trc_lock_given();
		trc_unlocked(TRC_REASON_SPIN, (const void *)lock, waiters, at);
	} else {
		trc_lock_given_unwanted(lock);
	}
	return result;
}
