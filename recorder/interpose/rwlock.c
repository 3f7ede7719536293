/*
 * rwlock.c - pthread_rwlock_*.  Context: traced thread, signal handlers.
 *
 * glibc keeps the writer's thread id; readers are only counted, so a writer that waits for
 * readers does not know its holder.
 */
#include "span.h"
#include "recorder/unwind/poison.h"

enum variant { PLAIN, TIMED, CLOCK };
struct attempt {
	enum trc_reason reason;
	enum variant variant;
	clockid_t clock;
	const struct timespec *deadline;
};

static uint32_t rwlock_writer(const pthread_rwlock_t *lock)
{
	return (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}

static int rwlock_real(pthread_rwlock_t *lock, const struct attempt *a)
{
	bool reads = a->reason == TRC_REASON_RWLOCK_READ;

	switch (a->variant) {
	case PLAIN:
		return reads ? REAL(pthread_rwlock_rdlock)(lock)
			     : REAL(pthread_rwlock_wrlock)(lock);
	case TIMED:
		return reads ? REAL(pthread_rwlock_timedrdlock)(lock, a->deadline)
			     : REAL(pthread_rwlock_timedwrlock)(lock, a->deadline);
	case CLOCK:
		break;
	}
	return reads ? REAL(pthread_rwlock_clockrdlock)(lock, a->clock, a->deadline)
		     : REAL(pthread_rwlock_clockwrlock)(lock, a->clock, a->deadline);
}

static void rwlock_taken(const pthread_rwlock_t *lock, enum trc_reason reason, bool tried)
{
	if (reason == TRC_REASON_RWLOCK_WRITE)
		trc_lock_taken_alone(lock);
	else
		trc_lock_taken();
	if (trc_locks_all())
		trc_acquired(reason, lock, tried);
}

/* The real call decides, also about every error.  A writer that asks again is refused at once. */
static __attribute__((noinline)) int rwlock_slow(pthread_rwlock_t *lock, int tried,
						 const struct attempt *attempt)
{
	struct trc_span span;
	uint32_t writer = rwlock_writer(lock);
	bool parked = tried == EBUSY && trc_switch.locks != TRC_LOCKS_NONE &&
		      (!writer || writer != trc_own_tid());
	int result;

	if (parked) {
		trc_park(&span.wait, attempt->reason, lock, writer);
		trc_span_guard(&span, true);
	}
	result = rwlock_real(lock, attempt);
	if (!result)
		rwlock_taken(lock, attempt->reason, false); /* first: span:I2 */
	if (parked)
		trc_span_end(&span, result);
	return result;
}

static int rwlock_recorded(pthread_rwlock_t *lock, const struct attempt *attempt)
{
	int tried = attempt->reason == TRC_REASON_RWLOCK_READ
			    ? REAL(pthread_rwlock_tryrdlock)(lock)
			    : REAL(pthread_rwlock_trywrlock)(lock);

	if (TRC_UNLIKELY(tried))
		return rwlock_slow(lock, tried, attempt);
	rwlock_taken(lock, attempt->reason, false);
	return 0;
}

/* glibc checks clock and time first, even if the lock is free. */
static bool deadline_refused(clockid_t clock, const struct timespec *deadline)
{
	return !trc_clock_known(clock) || !trc_time_valid(deadline);
}

#define RWLOCK(rd, REASON)                                                                         \
	TRC_EXPORT int pthread_rwlock_##rd##lock(pthread_rwlock_t *lock)                           \
	{                                                                                          \
		if (!trc_recording())                                                              \
			return REAL(pthread_rwlock_##rd##lock)(lock);                              \
		return rwlock_recorded(lock, &(struct attempt){.reason = REASON});                 \
	}                                                                                          \
	TRC_EXPORT int pthread_rwlock_try##rd##lock(pthread_rwlock_t *lock)                        \
	{                                                                                          \
		int result = REAL(pthread_rwlock_try##rd##lock)(lock);                             \
                                                                                                   \
		if (!result && trc_recording())                                                    \
			rwlock_taken(lock, REASON, true);                                          \
		return result;                                                                     \
	}                                                                                          \
	TRC_EXPORT int pthread_rwlock_timed##rd##lock(pthread_rwlock_t *lock,                      \
						      const struct timespec *deadline)             \
	{                                                                                          \
		if (!trc_recording() || deadline_refused(CLOCK_REALTIME, deadline))                \
			return REAL(pthread_rwlock_timed##rd##lock)(lock, deadline);               \
		return rwlock_recorded(lock, &(struct attempt){REASON, TIMED, 0, deadline});       \
	}                                                                                          \
	TRC_EXPORT int pthread_rwlock_clock##rd##lock(pthread_rwlock_t *lock, clockid_t clock,     \
						      const struct timespec *deadline)             \
	{                                                                                          \
		if (!trc_recording() || deadline_refused(clock, deadline))                         \
			return REAL(pthread_rwlock_clock##rd##lock)(lock, clock, deadline);        \
		return rwlock_recorded(lock, &(struct attempt){REASON, CLOCK, clock, deadline});   \
	}
RWLOCK(rd, TRC_REASON_RWLOCK_READ)
RWLOCK(wr, TRC_REASON_RWLOCK_WRITE)

/* The lock may be gone after the real call. */
TRC_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	enum trc_reason reason;
	uint32_t waiters = 0;
	uint64_t at = 0;
	int result;

	if (!trc_recording())
		return REAL(pthread_rwlock_unlock)(lock);
	reason = rwlock_writer(lock) ? TRC_REASON_RWLOCK_WRITE : TRC_REASON_RWLOCK_READ;
	if (trc_locks_all())
		trc_released(reason, lock);
	if (trc_switch.locks != TRC_LOCKS_NONE)
		waiters = trc_lock_waiters(lock);
	if (waiters)
		at = trc_now();
	result = REAL(pthread_rwlock_unlock)(lock);
	if (waiters) {
		trc_lock_given();
		trc_unlocked(reason, lock, waiters, at);
	} else {
		trc_lock_given_unwanted(lock);
	}
	return result;
}
