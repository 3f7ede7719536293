/*
 * sleep.c - waits for time to pass.  Context: traced thread, signal handlers.
 */
#include "recorder/interpose/span.h"

TRC_CALL(int, nanosleep, SLEEP, 0, true, (const struct timespec *time, struct timespec *left),
	 (time, left))
TRC_ALIAS(__nanosleep, nanosleep);
TRC_CALL(int, usleep, SLEEP, 0, us > 0, (useconds_t us), (us))

/* Returns what is left of the time when a signal came. */
TRC_EXPORT unsigned int sleep(unsigned int seconds)
{
	struct trc_span span;
	unsigned int left;

	if (!trc_recording() || !seconds)
		return REAL(sleep)(seconds);
	trc_span_begin(&span, TRC_REASON_SLEEP, 0);
	left = REAL(sleep)(seconds);
	trc_span_end(&span, left ? EINTR : 0);
	return left;
}

/* Returns the error. */
TRC_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			       struct timespec *left)
{
	struct trc_span span;
	int result;

	if (!trc_recording())
		return REAL(clock_nanosleep)(clock, flags, time, left);
	trc_span_begin(&span, TRC_REASON_SLEEP, 0);
	result = REAL(clock_nanosleep)(clock, flags, time, left);
	trc_span_end(&span, result);
	return result;
}
