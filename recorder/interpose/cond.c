/*
 * cond.c - pthread_cond_*.  Context: traced thread, signal handlers.
 *
 * A wait gives up the mutex inside the real call.  The release is recorded before the wait, as
 * nothing can be recorded after the release until the wait ends.  The wait also takes the mutex
 * again inside the real call: from the signal on the thread counts as a waiter of its mutex.  If
 * the mutex was held, the wait for the mutex is recorded at its end (recorder/guest/signalled.c).
 */
#include "cond.h"
#include "versions.h"
#include "recorder/unwind/poison.h"

void trc_cond_wait_begin(struct trc_span *span, const void *cond, const pthread_mutex_t *mutex)
{
	struct trc_release release;

	trc_span_park(span, TRC_REASON_COND, cond); /* while the mutex is held: span:I2 */
	trc_mutex_releasing(&release, mutex);
	trc_mutex_released(&release);
	span->retakes_a_lock = true;
	if (trc_switch.locks != TRC_LOCKS_NONE)
		trc_cond_waits(&span->wait, mutex);
}

void trc_cond_wait_end(struct trc_span *span, const pthread_mutex_t *mutex, int result)
{
	if (result != ENOTRECOVERABLE)
		trc_mutex_taken(mutex);
	trc_span_end(span, result);
}

void trc_cond_waking(struct trc_release *release, const void *cond, uint64_t count)
{
	*release = (struct trc_release){.object = cond, .waiters = trc_waiters(cond)};
	if (!release->waiters)
		return;
	release->at = trc_now();
	trc_cond_signalled(cond, count, release->at);
}

void trc_cond_woken(const struct trc_release *release, uint64_t count)
{
	if (release->waiters)
		trc_unparked(TRC_REASON_COND, release->object, count, release->at);
}

/* An error-checking mutex that somebody else holds is refused: nothing is released. */
static bool wait_refused(const pthread_mutex_t *mutex)
{
	return trc_mutex_type(mutex) == PTHREAD_MUTEX_ERRORCHECK &&
	       trc_mutex_owner(mutex) != trc_own_tid();
}

int TRC_VERSIONED(pthread_cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex);
TRC_EXPORT int TRC_VERSIONED(pthread_cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	struct trc_span span;
	int result;

	if (!trc_recording() || wait_refused(mutex))
		return REAL(pthread_cond_wait)(cond, mutex);
	trc_cond_wait_begin(&span, cond, mutex);
	result = REAL(pthread_cond_wait)(cond, mutex);
	trc_cond_wait_end(&span, mutex, result);
	return result;
}
TRC_CURRENT_VERSION(pthread_cond_wait, "GLIBC_2.3.2");

int TRC_VERSIONED(pthread_cond_timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
					  const struct timespec *deadline);
TRC_EXPORT int TRC_VERSIONED(pthread_cond_timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
						     const struct timespec *deadline)
{
	struct trc_span span;
	int result;

	if (!trc_recording() || wait_refused(mutex) || !trc_time_valid(deadline))
		return REAL(pthread_cond_timedwait)(cond, mutex, deadline);
	trc_cond_wait_begin(&span, cond, mutex);
	result = REAL(pthread_cond_timedwait)(cond, mutex, deadline);
	trc_cond_wait_end(&span, mutex, result);
	return result;
}
TRC_CURRENT_VERSION(pthread_cond_timedwait, "GLIBC_2.3.2");

TRC_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				      const struct timespec *deadline)
{
	struct trc_span span;
	int result;

	if (!trc_recording() || wait_refused(mutex) || !trc_clock_known(clock) ||
	    !trc_time_valid(deadline))
		return REAL(pthread_cond_clockwait)(cond, mutex, clock, deadline);
	trc_cond_wait_begin(&span, cond, mutex);
	result = REAL(pthread_cond_clockwait)(cond, mutex, clock, deadline);
	trc_cond_wait_end(&span, mutex, result);
	return result;
}

int TRC_VERSIONED(pthread_cond_signal)(pthread_cond_t *cond);
TRC_EXPORT int TRC_VERSIONED(pthread_cond_signal)(pthread_cond_t *cond)
{
	struct trc_release release;
	int result;

	if (!trc_recording())
		return REAL(pthread_cond_signal)(cond);
	trc_cond_waking(&release, cond, 1);
	result = REAL(pthread_cond_signal)(cond);
	trc_cond_woken(&release, 1);
	return result;
}
TRC_CURRENT_VERSION(pthread_cond_signal, "GLIBC_2.3.2");

int TRC_VERSIONED(pthread_cond_broadcast)(pthread_cond_t *cond);
TRC_EXPORT int TRC_VERSIONED(pthread_cond_broadcast)(pthread_cond_t *cond)
{
	struct trc_release release;
	int result;

	if (!trc_recording())
		return REAL(pthread_cond_broadcast)(cond);
	trc_cond_waking(&release, cond, TRC_WAKE_ALL);
	result = REAL(pthread_cond_broadcast)(cond);
	trc_cond_woken(&release, TRC_WAKE_ALL);
	return result;
}
TRC_CURRENT_VERSION(pthread_cond_broadcast, "GLIBC_2.3.2");

#ifdef __x86_64__
/* Programs from before glibc 2.3.2: another kind of object, left to its real functions. */
int TRC_VERSIONED(old_cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex);
TRC_EXPORT int TRC_VERSIONED(old_cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return REAL(old_cond_wait)(cond, mutex);
}
TRC_OLD_VERSION(old_cond_wait, pthread_cond_wait, "GLIBC_2.2.5");

int TRC_VERSIONED(old_cond_timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
				      const struct timespec *deadline);
TRC_EXPORT int TRC_VERSIONED(old_cond_timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
						 const struct timespec *deadline)
{
	return REAL(old_cond_timedwait)(cond, mutex, deadline);
}
TRC_OLD_VERSION(old_cond_timedwait, pthread_cond_timedwait, "GLIBC_2.2.5");

int TRC_VERSIONED(old_cond_signal)(pthread_cond_t *cond);
TRC_EXPORT int TRC_VERSIONED(old_cond_signal)(pthread_cond_t *cond)
{
	return REAL(old_cond_signal)(cond);
}
TRC_OLD_VERSION(old_cond_signal, pthread_cond_signal, "GLIBC_2.2.5");

int TRC_VERSIONED(old_cond_broadcast)(pthread_cond_t *cond);
TRC_EXPORT int TRC_VERSIONED(old_cond_broadcast)(pthread_cond_t *cond)
{
	return REAL(old_cond_broadcast)(cond);
}
TRC_OLD_VERSION(old_cond_broadcast, pthread_cond_broadcast, "GLIBC_2.2.5");
#endif
