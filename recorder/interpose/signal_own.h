/*
 * signal_own.h - between signal.c and signal_own.c: the signal that is ours (signal:H6).
 */
#ifndef TRC_RECORDER_INTERPOSE_SIGNAL_OWN_H
#define TRC_RECORDER_INTERPOSE_SIGNAL_OWN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- signal_own.c.  Context: any thread, signal handlers. ---- */

bool trc_signal_is_owned(int number);
int trc_signal_own_number(void); /* 0 = none is */
/* In a forked child: no signal is ours. */
void trc_signal_own_forked(void);
/* True if this action, as the kernel has it, is our handler. */
bool trc_signal_is_own(const struct sigaction *action);
/* Puts the program's action in place of the kernel's. */
void trc_signal_own_action(struct sigaction *action);
/* sigaction(), sigset() and siginterrupt() for our signal.  `old` may be NULL. */
void trc_signal_own_swap(const struct sigaction *action, struct sigaction *old);
sighandler_t trc_signal_own_set(sighandler_t handler);
void trc_signal_own_interrupt(bool interrupt);

/*
 * Around an exec: if the program ignores our signal, the kernel has to ignore the signal, as the
 * next program inherits this.  The first function returns true if it changed the kernel's action.
 * Then the second function has to follow after a failed exec; signals sent meanwhile are lost.
 * Also in a child that runs in our memory.
 */
bool trc_signal_own_exec_begin(void);
void trc_signal_own_exec_failed(void);

/* The program has waited for a signal and got this signal: true if the signal is ours, so that the
 * program waits on. */
bool trc_signal_own_taken(int number, const siginfo_t *info);

/* ---- signal_frame.c, and the entry in the thunks ---- */

/* A handler that is to run, as the entry reads it (the offsets are in thunk_x86_64.S). */
struct trc_signal_call {
	uint64_t number;
	siginfo_t *info;
	void *context;
	uintptr_t frame; /* where the return address of the handler lies */
	uintptr_t handler;
	uint64_t mask; /* the signals that are blocked while it runs */
	uint64_t unused;
};

/*
 * Moves the frame that the kernel has pushed from the alternate stack to the interrupted stack, as
 * if the thread had never left the interrupted stack.  False, with nothing changed: the thread did
 * not change stacks, there is no room, or the frame's layout is not known.  Context: signal
 * handlers, all signals blocked.
 */
bool trc_signal_frame_move(struct trc_signal_call *call);

/* The handler in the kernel: calls the first of the next functions.  If it returns true, the
 * handler calls the second on the stack of call->frame, and jumps to the program's handler. */
void trc_signal_own_entry(int number, siginfo_t *info, void *context);
bool trc_signal_own_arrived(int number, siginfo_t *info, void *context,
			    struct trc_signal_call *call, uintptr_t frame);
void trc_signal_own_enter(const uint64_t *mask);

/* ---- signal_mask.c.  Context: traced thread, signal handlers. ---- */

/* From now on masks are hidden. */
void trc_mask_start(void);
/* In a forked child: masks are no longer hidden. */
void trc_mask_forked(void);
/* The program names our signal or its twin alone. */
void trc_mask_speak(void);
/* Before a thread is created: true if the creator's mask in the kernel is the mask that the program
 * was told; the new thread is told first. */
bool trc_mask_thread_making(void);
void trc_mask_thread_begin(bool creator_settled);
/* Around calls that make a child or execute a program, which get the mask that the program was
 * told.  True if the second function has to follow in the thread. */
bool trc_mask_show(void);
void trc_mask_hide(void);
/* The program's own signal has come to a thread that blocks the signal, as the program was told.
 * From now on the thread does block it, and the signal is pending again.  Context: our handler. */
bool trc_mask_holds_back(const siginfo_t *info, void *context);

/* Whether the handler of our own signal runs on the alternate stack.  Context: any thread, with its
 * signals blocked; one at a time. */
void trc_signal_own_onstack(bool onstack);

/* ---- altstack.c ---- */

/* sigaction() for that handler, with SA_ONSTACK where that is safe (altstack:A5).  Context: any
 * thread, signal handlers. */
int trc_altstack_install(int number, struct sigaction *action);
/* True if this stack is one of ours: the program has given the thread no stack.  Context: signal
 * handlers. */
bool trc_altstack_is_own(const stack_t *stack);

/* ---- signal.c ---- */

/* Turns the kernel's action into the action that the program sees (signal:H4).  Context: any
 * thread, signal handlers. */
void trc_signal_as_program_sees(int number, struct sigaction *action);
/* Looks at a signal that may set off a snapshot.  Context: signal handlers. */
void trc_signal_look_at(int number, const siginfo_t *info);
/* Acts by default, as if no handler of ours had run.  Context: signal handlers, the signal
 * blocked. */
void trc_signal_act_by_default(int number, siginfo_t *info);
/* From now on all handlers of the program's have wrappers; `own` is ours.  Context: any thread. */
void trc_signals_watch(int own);
/* True if all handlers of the program's have wrappers.  Context: any thread, signal handlers. */
bool trc_signals_watched(void);

#endif
