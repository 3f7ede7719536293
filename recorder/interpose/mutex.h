/*
 * mutex.h - functions that the interposers of pthread mutexes, C11 mutexes and condition variables
 * share.
 *
 * A C11 mutex is a pthread mutex inside glibc, so both come here.  An acquisition tries the lock
 * first, and parks only if the try fails.  A release is recorded only if a thread is parked on the
 * lock; the record is made after the release, with a time taken before it.  The lock word does not
 * tell reliably about waiters: it says "none" while a woken waiter has not run yet.
 */
#ifndef TRC_RECORDER_INTERPOSE_MUTEX_H
#define TRC_RECORDER_INTERPOSE_MUTEX_H

#include <linux/futex.h>
#include "span.h"

/* glibc's encoding of __kind (its ABI: static initialisers have it). */
enum {
	TRC_MUTEX_TYPE = 3, /* PTHREAD_MUTEX_NORMAL, _RECURSIVE, _ERRORCHECK, _ADAPTIVE_NP */
	TRC_MUTEX_ROBUST = 16,
	TRC_MUTEX_INHERIT = 32,
	TRC_MUTEX_PROTECT = 64,
	TRC_MUTEX_SPECIAL = TRC_MUTEX_ROBUST | TRC_MUTEX_INHERIT | TRC_MUTEX_PROTECT,
};
/* The bits of the ceiling in the lock word of a mutex with a ceiling. */
#define TRC_MUTEX_CEILING 0xfff80000u

static inline int trc_mutex_type(const pthread_mutex_t *mutex)
{
	return mutex->__data.__kind & TRC_MUTEX_TYPE;
}

/* The kernel gives a PI mutex to its next owner, and stores the owner in the lock word.  The new
 * owner stores itself in the mutex when it runs. */
static inline uint32_t trc_mutex_owner(const pthread_mutex_t *mutex)
{
	if (mutex->__data.__kind & (TRC_MUTEX_ROBUST | TRC_MUTEX_INHERIT))
		return (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) &
		       FUTEX_TID_MASK;
	return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}

/* True if the owner has taken the mutex more than once. */
static inline bool trc_mutex_is_nested(const pthread_mutex_t *mutex)
{
	return trc_mutex_type(mutex) == PTHREAD_MUTEX_RECURSIVE && mutex->__data.__count > 1;
}

static inline void trc_mutex_taken_by(const pthread_mutex_t *mutex, bool tried)
{
	if (trc_mutex_is_nested(mutex))
		trc_lock_taken(); /* it was held already */
	else
		trc_lock_taken_alone(mutex);
	if (trc_locks_all())
		trc_acquired(TRC_REASON_MUTEX, mutex, tried);
}

static inline void trc_mutex_taken(const pthread_mutex_t *mutex)
{
	trc_mutex_taken_by(mutex, false);
}

/* After a call that took the mutex and would not have waited. */
static inline void trc_mutex_tried(const pthread_mutex_t *mutex)
{
	trc_mutex_taken_by(mutex, true);
}

/* After an attempt that found the mutex held: begins a park if the real call is going to wait. */
bool trc_mutex_park(struct trc_span *span, const pthread_mutex_t *mutex);

/* A release in two halves.  The mutex may be gone when the second one runs. */
struct trc_release {
	const void *object;
	uint64_t at;
	uint32_t waiters; /* 0 = nothing to record */
	bool nested;	  /* the mutex stays held */
};
void trc_mutex_releasing(struct trc_release *release, const pthread_mutex_t *mutex);
void trc_mutex_released(const struct trc_release *release);

#endif
