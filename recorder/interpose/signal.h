/*
 * signal.h - signals that tell of a fault, or that set off a snapshot: seen first by the recorder,
 * then dealt with as the program wants it; and a signal of our own, shared with the program.
 *
 *   signal:H1  where the program's action for such a signal is SIG_DFL, the kernel has
 *       trc_signal_on_default(); where it is a handler, the kernel has a wrapper, with the
 *       handler's own flags and mask, but for H5; SIG_IGN is left alone
 *   signal:H2  a wrapper jumps to the program's handler: the handler runs on the frame that the
 *       kernel made, and returns to the kernel
 *   signal:H3  a wrapper stands for one handler for ever.  So the kernel's answer to sigaction()
 *       alone tells what the program's action was: nothing is kept that could disagree with it, but
 *       for one bit of H5
 *   signal:H4  what is told to the program never shows any of this
 *   signal:H5  as long as the only alternate stacks are ours, the kernel has all handlers of the
 *       program's without SA_ONSTACK, whatever the signal; one bit for each keeps that
 *   signal:H6  a signal of ours has our handler in the kernel for ever, and the program's action
 *       here (trc_signal_own()). While there is one, all handlers of the program's have wrappers
 *       (restart.h)
 */
#ifndef TRC_RECORDER_INTERPOSE_SIGNAL_H
#define TRC_RECORDER_INTERPOSE_SIGNAL_H

#include <stdbool.h>

/*
 * From now on signals are seen: those that conditions ask for, and with `crash` those that report a
 * fault.  Also gives the calling thread an alternate stack if it has none.  Idempotent; again in a
 * forked child that is recorded itself.  Context: any thread, while this process is recorded.
 */
void trc_signals_start(bool crash);
/* Gives the kernel the program's actions back.  Context: any thread. */
void trc_signals_stop(void);
/* In a forked child, before it may start its own recording: nothing that is ours reaches it, so the
 * kernel has the program's actions, that for the signal of ours as well.  Context: its only thread. */
void trc_signals_forked(void);

/* A thread has waited for this signal and got it; no handler runs.  Context: traced thread. */
void trc_signal_taken(int number);

/* ---- go.c ---- */

/* Go's runtime asks the kernel itself, and hands the faults of C code on to a handler that it finds
 * there instead of reporting them.  Context: any thread, may block. */
bool trc_runs_go(void);

/* ---- sandbox.c ---- */

/* The program has forbidden itself, and so the recorder, some system calls: nothing is recorded, and
 * none is made any more. */
bool trc_sandbox_entered(void);
/* It has set a filter, whatever that forbids. */
bool trc_sandbox_is_restricted(void);
/* Called before a filter is set in which no recording can begin; NULL = nobody wants to know.  Set once,
 * at start.  Context: any thread, a child that runs in its parent's memory. */
extern void (*trc_filter_hook)(void);
/* Before SYS_prctl or SYS_seccomp by syscall(), with the first of its arguments. */
void trc_sandbox_look(long number, long a, long b, long c);

/* ---- altstack.c ---- */

/* Whether threads are to get one. Context: any thread. */
void trc_altstack_want(bool want);
/* Gives the calling thread an alternate signal stack if it has none, so that a handler of ours
 * can run when its own stack is used up; takes it away again.  Context: the thread itself, which
 * must call the second before it ends. */
void trc_altstack_enter(void);
void trc_altstack_leave(void);
/* Whether all alternate stacks there may be are ours.  Context: any thread. */
bool trc_altstack_hides(void);
/* No longer: gives handlers their SA_ONSTACK back.  Context: any thread, signal handlers. */
void trc_signals_on_stack(void);
/* In a forked child. */
void trc_altstack_forked(void);

#endif
