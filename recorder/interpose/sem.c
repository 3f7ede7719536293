/*
 * sem.c - sem_*.  Context: traced thread, signal handlers.
 */
#include "restart.h"
#include "recorder/unwind/poison.h"

/* Takes it if that is possible without waiting, and leaves errno alone. */
static bool taken_at_once(sem_t *sem)
{
	int saved = errno;

	/* The real calls are cancellation points even when they do not wait; sem_trywait is none.
	 */
	pthread_testcancel();
	if (!REAL(sem_trywait)(sem))
		return true;
	errno = saved;
	return false;
}

/* The real call, with a park around it. */
#define SEM_PARKED(sem, call)                                                                      \
	({                                                                                         \
		struct trc_restart restart;                                                        \
		int result;                                                                        \
                                                                                                   \
		trc_restart_park(&restart, TRC_REASON_SEM, sem, 0);                                \
		do                                                                                 \
			result = call;                                                             \
		while (TRC_UNLIKELY(result) && trc_restart(&restart, NULL));                       \
		trc_restart_end(&restart, result ? errno : 0);                                     \
		result;                                                                            \
	})

/* The same while nothing is recorded: the kernel never restarts those with a deadline. */
#define SEM_UNRECORDED(call)                                                                       \
	({                                                                                         \
		struct trc_restart restart;                                                        \
		int result;                                                                        \
                                                                                                   \
		trc_restart_begin(&restart, TRC_REASON_SEM, 0, false);                             \
		do                                                                                 \
			result = call;                                                             \
		while (TRC_UNLIKELY(result) && trc_restart(&restart, NULL));                       \
		trc_restart_end(&restart, 0);                                                      \
		result;                                                                            \
	})

TRC_EXPORT int sem_wait(sem_t *sem)
{
	if (!trc_recording())
		return REAL(sem_wait)(sem);
	if (taken_at_once(sem))
		return 0;
	return SEM_PARKED(sem, REAL(sem_wait)(sem));
}

TRC_EXPORT int sem_trywait(sem_t *sem)
{
	return REAL(sem_trywait)(sem);
}

TRC_EXPORT int sem_timedwait(sem_t *sem, const struct timespec *deadline)
{
	if (!trc_recording() || !trc_time_valid(deadline))
		return SEM_UNRECORDED(REAL(sem_timedwait)(sem, deadline));
	if (taken_at_once(sem))
		return 0;
	return SEM_PARKED(sem, REAL(sem_timedwait)(sem, deadline));
}

TRC_EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
	if (!trc_recording() || !trc_clock_known(clock) || !trc_time_valid(deadline))
		return SEM_UNRECORDED(REAL(sem_clockwait)(sem, clock, deadline));
	if (taken_at_once(sem))
		return 0;
	return SEM_PARKED(sem, REAL(sem_clockwait)(sem, clock, deadline));
}

/* The semaphore may be gone after the real call. */
TRC_EXPORT int sem_post(sem_t *sem)
{
	uint32_t waiters;
	uint64_t at = 0;
	int result;

	if (!trc_recording())
		return REAL(sem_post)(sem);
	waiters = trc_waiters(sem);
	if (waiters)
		at = trc_now();
	result = REAL(sem_post)(sem);
	if (waiters && !result)
		trc_unparked(TRC_REASON_SEM, sem, 1, at);
	return result;
}
