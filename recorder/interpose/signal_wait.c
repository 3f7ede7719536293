/*
 * signal_wait.c - waits for signals.  Context: traced thread, signal handlers.
 */
#include "restart.h"
#include "signal.h"
#include "signal_own.h"
#include "recorder/unwind/poison.h"

/* The one that was waited for: no handler sees it. */
static int taken(int number)
{
	if (number > 0 && trc_recording())
		trc_signal_taken(number);
	return number;
}

/* After a real call: whether to wait on.  What is left of the time is known if nothing interrupted.
 */
static bool signal_wait_again(struct trc_restart *r, int result, const siginfo_t *info,
			      const struct timespec **timeout)
{
	if (result > 0)
		return trc_signal_own_taken(result, info) && trc_restart_on(r, timeout);
	return timeout ? trc_restart_time(r, NULL, timeout) : trc_restart(r, NULL);
}

/* Where the program does not want to know, we do: it may be a signal of ours. */
#define SIGNAL_CALL(name, limit, parameters, arguments)                                            \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		struct trc_restart restart;                                                        \
		siginfo_t own_info;                                                                \
		int result;                                                                        \
                                                                                                   \
		info = info ? info : &own_info;                                                    \
		trc_restart_begin(&restart, TRC_REASON_SIGNAL, 0, true);                           \
		do                                                                                 \
			result = REAL(name) arguments;                                             \
		while (signal_wait_again(&restart, result, info, limit));                          \
		trc_restart_end(&restart, result == -1 ? errno : 0);                               \
		return taken(result);                                                              \
	}
SIGNAL_CALL(sigwaitinfo, NULL, (const sigset_t *set, siginfo_t *info), (set, info))
SIGNAL_CALL(sigtimedwait, &timeout,
	    (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
	    (set, info, timeout))
TRC_CALL_AGAIN(int, sigsuspend, SIGNAL, 0, true, trc_restart(&restart, mask),
	       (const sigset_t *mask), (mask))
TRC_ALIAS(__sigsuspend, sigsuspend);
TRC_CALL_AGAIN(int, pause, SIGNAL, 0, true, trc_restart(&restart, NULL), (void), ())

/* Returns the error; is never interrupted. */
TRC_EXPORT int sigwait(const sigset_t *set, int *number)
{
	struct trc_restart restart;
	siginfo_t info;
	int result, saved = errno;

	trc_restart_begin(&restart, TRC_REASON_SIGNAL, 0, true);
	do
		result = REAL(sigwaitinfo)(set, &info);
	while ((result == -1 && errno == EINTR) || trc_signal_own_taken(result, &info));
	trc_restart_end(&restart, result == -1 ? errno : 0);
	if (result == -1) {
		result = errno;
		errno = saved;
		return result;
	}
	errno = saved;
	*number = taken(result);
	return 0;
}
