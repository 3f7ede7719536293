/*
 * signal_wait.c - waits for signals.  Context: traced thread, signal handlers.
 */
#include "recorder/interpose/span.h"

TRC_CALL(int, sigwaitinfo, SIGNAL, 0, true, (const sigset_t *set, siginfo_t *info), (set, info))
TRC_CALL(int, sigtimedwait, SIGNAL, 0, true,
	 (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
	 (set, info, timeout))
TRC_CALL(int, sigsuspend, SIGNAL, 0, true, (const sigset_t *mask), (mask))
TRC_ALIAS(__sigsuspend, sigsuspend);
TRC_CALL(int, pause, SIGNAL, 0, true, (void), ())

/* Returns the error. */
TRC_EXPORT int sigwait(const sigset_t *set, int *number)
{
	struct trc_span span;
	int result;

	if (!trc_recording())
		return REAL(sigwait)(set, number);
	trc_span_begin(&span, TRC_REASON_SIGNAL, 0);
	result = REAL(sigwait)(set, number);
	trc_span_end(&span, result);
	return result;
}
