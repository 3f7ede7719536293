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
/* In a forked child: none is ours. */
void trc_signal_own_forked(void);
/* Whether this is our handler, as the kernel has it. */
bool trc_signal_is_own(const struct sigaction *action);
/* The program's action in place of the kernel's. */
void trc_signal_own_action(struct sigaction *action);
/* sigaction(), sigset() and siginterrupt() for it. `old` may be NULL. */
void trc_signal_own_swap(const struct sigaction *action, struct sigaction *old);
sighandler_t trc_signal_own_set(sighandler_t handler);
void trc_signal_own_interrupt(bool interrupt);

/*
 * Around an exec: what the program ignores is ignored by the kernel, as the next program inherits
 * that.  The first returns true if that made a difference: then the second has to follow when the
 * exec has failed, and what was sent meanwhile is lost.  Also in a child that runs in our memory.
 */
bool trc_signal_own_exec_begin(void);
void trc_signal_own_exec_failed(void);

/* The program has waited for a signal and got this one: whether it is ours, so that it waits on. */
bool trc_signal_own_taken(int number, const siginfo_t *info);

/* ---- signal_frame.c, and the entry in the thunks ---- */

/* A handler that is to run: what the entry reads (its offsets are in thunk_x86_64.S). */
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
 * Moves what the kernel has pushed on the alternate stack to the one that was interrupted, as if it
 * had never left that.  False, with nothing changed: it has not, or there is no room, or it is not
 * known how.  Context: signal handlers, all signals blocked.
 */
bool trc_signal_frame_move(struct trc_signal_call *call);

/* What the kernel has as the handler: calls the first of these, and if it returns true, on the
 * stack of call->frame, the second, and jumps to the program's handler. */
void trc_signal_own_entry(int number, siginfo_t *info, void *context);
bool trc_signal_own_arrived(int number, siginfo_t *info, void *context,
			    struct trc_signal_call *call, uintptr_t frame);
void trc_signal_own_enter(const uint64_t *mask);

/* ---- signal_mask.c.  Context: traced thread, signal handlers. ---- */

/* From now on masks are hidden. */
void trc_mask_start(void);
/* In a forked child: not any more. */
void trc_mask_forked(void);
/* The program speaks of our signal or of its twin alone. */
void trc_mask_speak(void);
/* Before a thread is created: whether the creator's mask is what it is said to be; the new thread is
 * told first. */
bool trc_mask_thread_making(void);
void trc_mask_thread_begin(bool creator_settled);
/* Around what makes a child or another program of this one, which get the mask as it is said to be:
 * true if the second has to follow in the thread. */
bool trc_mask_show(void);
void trc_mask_hide(void);
/* The program's own signal has come to a thread that is said to block it: that holds from now on, and
 * the signal is pending again.  Context: our handler. */
bool trc_mask_holds_back(const siginfo_t *info, void *context);

/* ---- altstack.c ---- */

/* Whether this is one of ours: the program has given the thread none.  Context: signal handlers. */
bool trc_altstack_is_own(const stack_t *stack);

/* ---- signal.c ---- */

/* What the kernel has, as the program sees it (signal:H4).  Context: any thread, signal
 * handlers. */
void trc_signal_as_program_sees(int number, struct sigaction *action);
/* It may be one that sets off a snapshot.  Context: signal handlers. */
void trc_signal_look_at(int number, const siginfo_t *info);
/* As if no handler of ours had been here.  Context: signal handlers, the signal blocked. */
void trc_signal_act_by_default(int number, siginfo_t *info);
/* From now on all handlers of the program's have wrappers; `own` is ours.  Context: any thread. */
void trc_signals_watch(int own);
/* Whether all of them have.  Context: any thread, signal handlers. */
bool trc_signals_watched(void);

#endif
