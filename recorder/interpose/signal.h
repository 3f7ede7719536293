/*
 * signal.h - signals of faults, and signals that set off a snapshot: the recorder sees them first,
 * then they have the effect that the program wants.  Also a signal of our own, shared with the
 * program.
 *
 *   signal:H1  where the program's action for such a signal is SIG_DFL, the kernel has
 *       trc_signal_on_default(); where it is a handler, the kernel has a wrapper, with the
 *       handler's own flags and mask, but for H5; SIG_IGN is left alone
 *   signal:H2  a wrapper jumps to the program's handler: the handler runs on the frame that the
 *       kernel made, and returns to the kernel
 *   signal:H3  a wrapper stands for one handler for ever.  So the kernel's answer to sigaction()
 *       alone tells what the program's action was.  Nothing that could disagree with the answer is
 *       kept, except one bit of H5
 *   signal:H4  the program is never told of wrappers or of handlers of ours
 *   signal:H5  as long as the only alternate stacks are ours, the kernel has all handlers of the
 *       program's without SA_ONSTACK, whatever the signal.  One bit for each signal keeps the
 *       program's SA_ONSTACK
 *   signal:H6  a signal of ours has our handler in the kernel for ever, and the program's action
 *       here (trc_signal_own()).  While there is a signal of ours, all handlers of the program's
 *       have wrappers (restart.h)
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
/* In a forked child, before it may start its own recording: no signal of ours reaches the child, so
 * the kernel gets the program's actions back, also the action for our own signal.  Context: the
 * child's only thread. */
void trc_signals_forked(void);

/* A thread has waited for this signal and got the signal; no handler runs.  Context: traced
 * thread. */
void trc_signal_taken(int number);

/* ---- go.c ---- */

/* True if Go's runtime runs here.  Go's runtime asks the kernel for handlers, and hands faults of C
 * code on to a handler that it finds there instead of reporting the faults.  Context: any thread,
 * may block. */
bool trc_runs_go(void);

/* ---- sandbox.c ---- */

/* True if the program has forbidden itself, and so the recorder, some system calls: nothing is
 * recorded, and the recorder makes no system call any more. */
bool trc_sandbox_entered(void);
/* Called before a filter is set in which no recording can begin; NULL = nobody wants to know.  Set once,
 * at start.  Context: any thread, a child that runs in its parent's memory. */
extern void (*trc_filter_hook)(void);
/* Before SYS_prctl or SYS_seccomp by syscall(), with the first of its arguments. */
void trc_sandbox_look(long number, long a, long b, long c);

/* ---- altstack.c ---- */

/* From now on no two threads have the same stack of the program in the kernel (altstack:A4).
 * Context: any thread. */
void trc_altstack_begin(void);
/* Sets whether threads get an alternate stack of ours.  Context: any thread. */
void trc_altstack_want(bool want);
/* Gives the calling thread an alternate signal stack if it has none, so that a handler of ours can
 * run when the thread's own stack is used up.  The second function takes the alternate stack away.
 * Context: the thread itself, which must call the second function before it ends. */
void trc_altstack_enter(void);
void trc_altstack_leave(void);
/* True if all alternate stacks that there may be are ours.  Context: any thread. */
bool trc_altstack_hides(void);
/* From now on not all alternate stacks are ours: gives handlers their SA_ONSTACK back.  Context:
 * any thread, signal handlers. */
void trc_signals_on_stack(void);
/* In a forked child. */
void trc_altstack_forked(void);

#endif
