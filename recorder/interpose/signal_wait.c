/*
 * signal_wait.c - waits for signals.  Context: traced thread, signal handlers.
 */
#include "recorder/interpose/signal.h"
#include "recorder/interpose/span.h"

/* The one that was waited for: no handler sees it. */
static int taken(int number)
{
	if (number > 0)
		trc_signal_taken(number);
	return number;
}

#define SIGNAL_CALL(name, parameters, arguments)                                                   \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		struct trc_span span;                                                              \
		int result;                                                                        \
                                                                                                   \
		if (!trc_recording())                                                              \
			return REAL(name) arguments;                                               \
		trc_span_begin(&span, TRC_REASON_SIGNAL, 0);                                       \
		result = REAL(name) arguments;                                                     \
		trc_span_end(&span, result == -1 ? errno : 0);                                     \
		return taken(result);                                                              \
	}
SIGNAL_CALL(sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
SIGNAL_CALL(sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
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
	if (!result)
		taken(*number);
	return result;
}
