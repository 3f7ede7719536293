/*
 * sleep.c - waits for time to pass.  Context: traced thread, signal handlers.
 *
 * The kernel tells the time left when a signal came: nothing is measured here.
 */
#include "restart.h"
#include "recorder/unwind/poison.h"

/* As the real one; `recorded` as a wait. */
static int sleep_on(const struct timespec *time, struct timespec *left, bool recorded)
{
	struct trc_restart restart;
	struct timespec rest;
	int result;

	trc_restart_begin(&restart, TRC_REASON_SLEEP, 0, recorded);
	do
		result = REAL(nanosleep)(time, &rest);
	while (TRC_UNLIKELY(result) && trc_restart_rest(&restart, &time, &rest));
	if (result && errno == EINTR && left)
		*left = rest;
	trc_restart_end(&restart, result ? errno : 0);
	return result;
}

TRC_EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
	return sleep_on(time, left, true);
}
TRC_ALIAS(__nanosleep, nanosleep);

/* These two are nanosleep() in libc as well. */
TRC_EXPORT int usleep(useconds_t us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000L};

	return sleep_on(&time, NULL, us > 0);
}

/* Returns what is left of the time when a signal came. */
TRC_EXPORT unsigned int sleep(unsigned int seconds)
{
	struct timespec left = {.tv_sec = seconds};

	return sleep_on(&left, &left, seconds > 0) ? (unsigned int)left.tv_sec : 0;
}

/* Returns the error. */
TRC_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			       struct timespec *left)
{
	struct trc_restart restart;
	struct timespec rest;
	int result;

	trc_restart_begin(&restart, TRC_REASON_SLEEP, 0, true);
	do
		result = REAL(clock_nanosleep)(clock, flags, time, &rest);
	while (TRC_UNLIKELY(result == EINTR) &&
	       trc_restart_slept(&restart, flags & TIMER_ABSTIME, &time, &rest));
	if (result == EINTR && left && !(flags & TIMER_ABSTIME))
		*left = rest;
	trc_restart_end(&restart, result);
	return result;
}
