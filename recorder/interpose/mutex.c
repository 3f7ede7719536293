/*
 * mutex.c - pthread_mutex_*.  Context: traced thread, signal handlers.
 */
#include "mutex.h"
#include "mutex_inline.h"
#define TRC_DEFINES_MUTEX
#include "recorder/unwind/poison.h"

/* One's own is taken again or refused, not waited for; but a normal one deadlocks, and should be
 * seen to. */
static bool waits_not(const pthread_mutex_t *mutex)
{
	int type = trc_mutex_type(mutex);

	return (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE) &&
	       trc_mutex_owner(mutex) == trc_own_tid();
}

bool trc_mutex_park(struct trc_span *span, const pthread_mutex_t *mutex)
{
	if (trc_switch.locks == TRC_LOCKS_NONE || waits_not(mutex))
		return false;
	trc_park(&span->wait, TRC_REASON_MUTEX, mutex, trc_mutex_owner(mutex));
	trc_span_guard(span, true); /* the thread may be cancelled at any time */
	return true;
}

/* Kinds that check who unlocks them. */
static bool release_refused(const pthread_mutex_t *mutex)
{
	int type = trc_mutex_type(mutex);

	if (type != PTHREAD_MUTEX_ERRORCHECK && type != PTHREAD_MUTEX_RECURSIVE &&
	    !(mutex->__data.__kind & TRC_MUTEX_ROBUST))
		return false;
	return trc_mutex_owner(mutex) != trc_own_tid();
}

void trc_mutex_releasing(struct trc_release *release, const pthread_mutex_t *mutex)
{
	*release = (struct trc_release){.object = mutex, .nested = trc_mutex_is_nested(mutex)};
	if (trc_switch.locks == TRC_LOCKS_NONE)
		return;
	/* Before the release, or the next owner's acquire would be recorded first. */
	if (trc_locks_all() && !release_refused(mutex))
		trc_released(TRC_REASON_MUTEX, mutex);
	if (release->nested)
		return;
	release->waiters = trc_lock_waiters(mutex);
	if (release->waiters)
		release->at = trc_lock_releasing(mutex);
}

void trc_mutex_released(const struct trc_release *release)
{
	if (!release->waiters && !release->nested) {
		trc_lock_given_unwanted(release->object);
		return;
	}
	trc_lock_given();
	if (release->waiters)
		trc_unlocked(TRC_REASON_MUTEX, release->object, release->waiters, release->at);
}

enum variant { PLAIN, TIMED, CLOCK };
struct attempt {
	enum variant variant;
	clockid_t clock;
	const struct timespec *deadline;
};

static int mutex_real_lock(pthread_mutex_t *mutex, const struct attempt *attempt)
{
	if (attempt->variant == PLAIN)
		return REAL(pthread_mutex_lock)(mutex);
	if (attempt->variant == TIMED)
		return REAL(pthread_mutex_timedlock)(mutex, attempt->deadline);
	return REAL(pthread_mutex_clocklock)(mutex, attempt->clock, attempt->deadline);
}

/*
 * The special kinds are looked at, not tried: glibc's trylock leaves a robust mutex that is not
 * recoverable locked for ever, and takes one with a ceiling where lock is refused.  Between the
 * look and the real call another thread may take the mutex: such a wait goes unseen.
 */
static inline __attribute__((always_inline)) int mutex_try_lock(pthread_mutex_t *mutex)
{
	uint32_t word;

	if (trc_mutex_inline(mutex) && trc_tid_is_own())
		return trc_mutex_take(mutex, trc_self.tid) ? 0 : EBUSY;
	if (!(mutex->__data.__kind & TRC_MUTEX_SPECIAL))
		return REAL(pthread_mutex_trylock)(mutex);
	word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
	if (mutex->__data.__kind & TRC_MUTEX_PROTECT)
		return word & ~TRC_MUTEX_CEILING ? EBUSY : EAGAIN;
	return word & FUTEX_TID_MASK && !(word & FUTEX_OWNER_DIED) ? EBUSY : EAGAIN;
}

/* `tried` is not 0.  The real call decides, also about every error. */
static __attribute__((noinline)) int mutex_lock_slow(pthread_mutex_t *mutex, int tried,
						     const struct attempt *attempt)
{
	struct trc_span span;
	bool parked = tried == EBUSY && trc_mutex_park(&span, mutex);
	int result = mutex_real_lock(mutex, attempt);

	if (!result || result == EOWNERDEAD)
		trc_mutex_taken(mutex); /* first: span:I2 */
	if (parked)
		trc_span_end(&span, result);
	return result;
}

static int mutex_lock_recorded(pthread_mutex_t *mutex, const struct attempt *attempt)
{
	int tried = mutex_try_lock(mutex);

	if (tried)
		return mutex_lock_slow(mutex, tried, attempt);
	trc_mutex_taken(mutex);
	return 0;
}

static __attribute__((noinline)) int lock_plain(pthread_mutex_t *mutex)
{
	if (!trc_recording())
		return REAL(pthread_mutex_lock)(mutex);
	return mutex_lock_recorded(mutex, &(struct attempt){.variant = PLAIN});
}

/* What is usual needs no call and no register saved. */
TRC_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (TRC_LIKELY(trc_mutex_inline(mutex) && trc_tid_is_own() && !trc_locks_all()) &&
	    TRC_LIKELY(trc_mutex_take(mutex, trc_self.tid))) {
		trc_lock_taken_alone(mutex);
		return 0;
	}
	return lock_plain(mutex);
}

TRC_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int result = REAL(pthread_mutex_trylock)(mutex);

	if (trc_recording() && (!result || result == EOWNERDEAD))
		trc_mutex_tried(mutex);
	return result;
}

TRC_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
	if (!trc_recording())
		return REAL(pthread_mutex_timedlock)(mutex, deadline);
	return mutex_lock_recorded(mutex,
				   &(struct attempt){.variant = TIMED, .deadline = deadline});
}

TRC_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				       const struct timespec *deadline)
{
	/* An unknown clock is an error even if the mutex is free. */
	if (!trc_recording() || !trc_clock_known(clock))
		return REAL(pthread_mutex_clocklock)(mutex, clock, deadline);
	return mutex_lock_recorded(mutex, &(struct attempt){CLOCK, clock, deadline});
}

static __attribute__((noinline)) int unlock_slow(pthread_mutex_t *mutex)
{
	struct trc_release release;
	int result;

	trc_mutex_releasing(&release, mutex);
	result = REAL(pthread_mutex_unlock)(mutex);
	if (!result)
		trc_mutex_released(&release);
	return result;
}

/* Of a kind that never refuses to be unlocked, and for which nobody waits: nothing can come after
 * the real call, unless the drainer is to be woken. */
static __attribute__((noinline)) int unlock_any(pthread_mutex_t *mutex)
{
	if (trc_recording()) {
		if (TRC_UNLIKELY(trc_lock_is_wanted(mutex) || trc_locks_all() ||
				 mutex->__data.__kind != PTHREAD_MUTEX_NORMAL ||
				 trc_self.wake_owed))
			return unlock_slow(mutex);
		trc_lock_given_unwanted(mutex);
	}
	return REAL(pthread_mutex_unlock)(mutex);
}

/* Here it does not matter whether anything records. */
TRC_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (TRC_LIKELY(trc_mutex_inline(mutex) && !trc_locks_all()) &&
	    TRC_LIKELY(!trc_lock_is_wanted(mutex) && trc_mutex_give(mutex))) {
		trc_lock_given_unwanted(mutex);
		return 0;
	}
	return unlock_any(mutex);
}
