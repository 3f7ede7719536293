/*
 * signals.h - what the interposers of signal functions (interpose/signal.c) tell the recorder.
 *
 * Context of all: signal handlers of the interrupted thread, which may be any thread at any
 * place, with its stack in any state.  They return with errno changed perhaps.
 */
#ifndef TRC_RECORDER_SHARED_SIGNALS_H
#define TRC_RECORDER_SHARED_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* True if the calling process is the one recorded: not a child of it, also not one that runs in
 * its memory. */
bool trc_signal_recorded(void);
/* A SIGNAL event: the program's own handler will deal with it. */
void trc_signal_handled(int number, const siginfo_t *info, const void *context);
/* A SIGNAL event, and if it is the first such the mapping's crash block: this ends the process. */
void trc_signal_fatal(int number, const siginfo_t *info, const void *context);

/*
 * Makes `number` ours: from now on `take` is called for each that comes, with all signals blocked,
 * and errno kept.  It returns false if the signal is not ours: that does what the program wants.
 * `context` is NULL if the program has waited for the signal and got one of ours: it waits on.
 * For ever: late ones must not end the process.  Idempotent; one signal per process.  0, or -EBUSY:
 * another is ours.  Context: any thread, while this process is recorded.
 * NULL where nothing is interposed.
 */
int trc_signal_own(int number, bool (*take)(const siginfo_t *info, const void *context))
	__attribute__((weak, visibility("hidden")));

/* What stands in the kernel for SIG_DFL: no handler of the program's.  NULL = nothing does. */
extern __attribute__((visibility("hidden"))) void *trc_signal_default;

#endif
