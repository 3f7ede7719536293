/*
 * c11.c - mtx_*, cnd_*, thrd_*.  Context: traced thread.
 *
 * Inside glibc these objects are pthread objects, but glibc's functions call each other by names
 * that cannot be interposed.
 */
#include "cond.h"
#include "mutex_inline.h"
#include "restart.h"
#include "thread.h"
#include "recorder/unwind/poison.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a C11 mutex is a pthread mutex");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "and so are condition variables");

/* As an errno, for the resume event. */
static int mtx_error(int result)
{
	switch (result) {
	case thrd_success:
		return 0;
	case thrd_busy:
		return EBUSY;
	case thrd_timedout:
		return ETIMEDOUT;
	case thrd_nomem:
		return ENOMEM;
	default:
		return EINVAL;
	}
}

static int mtx_lock_slow(mtx_t *mutex, int tried, bool timed, const struct timespec *deadline)
{
	const pthread_mutex_t *inner = (const pthread_mutex_t *)mutex;
	struct trc_span span;
	bool parked = tried == thrd_busy && trc_mutex_park(&span, inner);
	int result = timed ? REAL(mtx_timedlock)(mutex, deadline) : REAL(mtx_lock)(mutex);

	if (result == thrd_success)
		trc_mutex_taken(inner); /* first: span:I2 */
	if (parked)
		trc_span_end(&span, mtx_error(result));
	return result;
}

static int mtx_try_lock(mtx_t *mutex)
{
	pthread_mutex_t *inner = (pthread_mutex_t *)mutex;

	if (trc_mutex_inline(inner) && trc_tid_is_own())
		return trc_mutex_take(inner, trc_self.tid) ? thrd_success : thrd_busy;
	return REAL(mtx_trylock)(mutex);
}

static int mtx_lock_recorded(mtx_t *mutex, bool timed, const struct timespec *deadline)
{
	int tried = mtx_try_lock(mutex);

	if (TRC_UNLIKELY(tried != thrd_success))
		return mtx_lock_slow(mutex, tried, timed, deadline);
	trc_mutex_taken((const pthread_mutex_t *)mutex);
	return tried;
}

TRC_EXPORT int mtx_lock(mtx_t *mutex)
{
	if (!trc_recording())
		return REAL(mtx_lock)(mutex);
	return mtx_lock_recorded(mutex, false, NULL);
}

TRC_EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
	if (!trc_recording())
		return REAL(mtx_timedlock)(mutex, deadline);
	return mtx_lock_recorded(mutex, true, deadline);
}

TRC_EXPORT int mtx_trylock(mtx_t *mutex)
{
	int result = REAL(mtx_trylock)(mutex);

	if (result == thrd_success && trc_recording())
		trc_mutex_tried((const pthread_mutex_t *)mutex);
	return result;
}

TRC_EXPORT int mtx_unlock(mtx_t *mutex)
{
	struct trc_release release;
	int result;

	if (!trc_recording())
		return REAL(mtx_unlock)(mutex);
	if (trc_mutex_inline((pthread_mutex_t *)mutex) && !trc_locks_all() &&
	    !trc_lock_is_wanted(mutex) && trc_mutex_give((pthread_mutex_t *)mutex)) {
		trc_lock_given_unwanted(mutex);
		return thrd_success;
	}
	trc_mutex_releasing(&release, (const pthread_mutex_t *)mutex);
	result = REAL(mtx_unlock)(mutex);
	if (result == thrd_success)
		trc_mutex_released(&release);
	return result;
}

TRC_EXPORT int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	struct trc_span span;
	int result;

	if (!trc_recording())
		return REAL(cnd_wait)(cond, mutex);
	trc_cond_wait_begin(&span, cond, (const pthread_mutex_t *)mutex);
	result = REAL(cnd_wait)(cond, mutex);
	trc_cond_wait_end(&span, (const pthread_mutex_t *)mutex, mtx_error(result));
	return result;
}

TRC_EXPORT int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
			     const struct timespec *restrict deadline)
{
	struct trc_span span;
	int result;

	if (!trc_recording() || !trc_time_valid(deadline))
		return REAL(cnd_timedwait)(cond, mutex, deadline);
	trc_cond_wait_begin(&span, cond, (const pthread_mutex_t *)mutex);
	result = REAL(cnd_timedwait)(cond, mutex, deadline);
	trc_cond_wait_end(&span, (const pthread_mutex_t *)mutex, mtx_error(result));
	return result;
}

TRC_EXPORT int cnd_signal(cnd_t *cond)
{
	struct trc_release release;
	int result;

	if (!trc_recording())
		return REAL(cnd_signal)(cond);
	trc_cond_waking(&release, cond, 1);
	result = REAL(cnd_signal)(cond);
	trc_cond_woken(&release, 1);
	return result;
}

TRC_EXPORT int cnd_broadcast(cnd_t *cond)
{
	struct trc_release release;
	int result;

	if (!trc_recording())
		return REAL(cnd_broadcast)(cond);
	trc_cond_waking(&release, cond, TRC_WAKE_ALL);
	result = REAL(cnd_broadcast)(cond);
	trc_cond_woken(&release, TRC_WAKE_ALL);
	return result;
}

TRC_EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	struct trc_handoff *handoff =
		trc_handoff_wanted() ? trc_handoff_make(NULL, NULL, start, arg) : NULL;
	int result;

	if (!handoff)
		return REAL(thrd_create)(thread, start, arg);
	result = REAL(thrd_create)(thread, trc_thread_run_c11, handoff);
	if (result != thrd_success)
		trc_handoff_drop(handoff);
	return result;
}

TRC_EXPORT int thrd_join(thrd_t thread, int *value)
{
	struct trc_span span;
	int result;

	if (!trc_recording())
		return REAL(thrd_join)(thread, value);
	trc_join_begin(&span, thread, trc_tid_of(thread));
	result = REAL(thrd_join)(thread, value);
	trc_span_end(&span, mtx_error(result));
	return result;
}

TRC_EXPORT void thrd_exit(int value)
{
	if (trc_recording())
		trc_thread_arm();
	REAL(thrd_exit)(value);
	__builtin_unreachable();
}

TRC_EXPORT int thrd_sleep(const struct timespec *duration, struct timespec *remaining)
{
	struct trc_restart restart;
	struct timespec rest;
	int result;

	trc_restart_begin(&restart, TRC_REASON_SLEEP, 0, true);
	do
		result = REAL(thrd_sleep)(duration, &rest);
	while (TRC_UNLIKELY(result == -1) && trc_restart_slept(&restart, false, &duration, &rest));
	if (result == -1 && remaining)
		*remaining = rest;
	/* 0, -1 when a signal came, or another negative value. */
	trc_restart_end(&restart, result == 0 ? 0 : result == -1 ? EINTR : EINVAL);
	return result;
}
