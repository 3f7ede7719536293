/*
 * signals.h - what the interposers of signal functions (interpose/signal.c) tell the recorder.
 *
 * Context of all: signal handlers of the interrupted thread, which may be any thread at any
 * place, with its stack in any state.  The functions may change errno.
 */
#ifndef TRC_RECORDER_SHARED_SIGNALS_H
#define TRC_RECORDER_SHARED_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* True if the calling process is the recorded process, not a child of it; also not a child that
 * runs in its memory. */
bool trc_signal_recorded(void);
/* Makes a SIGNAL event; the program's own handler will handle the signal. */
void trc_signal_handled(int number, const siginfo_t *info, const void *context);
/* Makes a SIGNAL event for a signal that ends the process, and fills in the mapping's crash block
 * for the first such signal. */
void trc_signal_fatal(int number, const siginfo_t *info, const void *context);

/*
 * Makes the signal `number` the recorder's.  From now on `take` is called for each such signal,
 * with all signals blocked, and errno kept.  `take` returns false if the signal is the program's,
 * which then has the effect that the program wants.  `context` is NULL if the program waited for
 * the signal and got one of the recorder's: the program then waits on.
 * The signal stays the recorder's for ever: late signals must not end the process.  Idempotent; one
 * signal per process.  0, or -EBUSY: another signal is the recorder's.
 * Context: any thread, while this process is recorded.
 * The function is NULL where nothing is interposed.
 */
int trc_signal_own(int number, bool (*take)(const siginfo_t *info, const void *context))
	__attribute__((weak, visibility("hidden")));

/* True if the program has set a filter of system calls, whatever the filter forbids.  The function is NULL
 * where nothing is interposed.  Context: any thread, signal handlers. */
bool trc_sandbox_is_restricted(void) __attribute__((weak, visibility("hidden")));
/* True if such a filter would end a process that creates a thread.  As above. */
bool trc_sandbox_forbids_threads(void) __attribute__((weak, visibility("hidden")));

/* The handler that the kernel has in place of SIG_DFL; it is not the program's.  NULL = there is
 * none. */
extern __attribute__((visibility("hidden"))) void *trc_signal_default;

#endif
