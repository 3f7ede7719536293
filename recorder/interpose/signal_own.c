/*
 * signal_own.c - a signal of ours that the program may use as well (signal:H6).
 * Context: traced thread, signal handlers.
 */
#include <string.h>
#include "format/raw.h"
#include "restart.h"
#include "signal.h"
#include "signal_own.h"
#include "recorder/shared/signals.h"
#include "recorder/unwind/poison.h"

#define BIT(number) (UINT64_C(1) << ((number)-1))
#ifdef __x86_64__
enum { RESTORER_FLAG = 0x04000000 }; /* the kernel's SA_RESTORER, which glibc adds and shows */
#else
enum { RESTORER_FLAG = 0 };
#endif

typedef bool take_fn(const siginfo_t *info, const void *context);

static _Atomic int owned; /* 0 = none */
static take_fn *_Atomic owner;

/* The program's action.  Where a signal comes in the middle of a change it may find its parts old
 * and new; nobody could tell that from the other order of handler and mask. */
static struct {
	_Atomic uint64_t handler, flags, mask;
} programs;

static uint64_t own_word_load(const _Atomic uint64_t *word)
{
	/* relaxed: each word is about itself. */
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void own_word_store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

bool trc_signal_is_owned(int number)
{
	return number && number == atomic_load_explicit(&owned, memory_order_relaxed);
}

int trc_signal_own_number(void)
{
	return atomic_load_explicit(&owned, memory_order_relaxed);
}

/* ---- the signal ------------------------------------------------------------------------ */

/* As the kernel would have: on which stack, and with the mask of the action, until the signal's
 * return. */
static void call_make(struct trc_signal_call *call)
{
	const ucontext_t *context = call->context;
	uint64_t flags = own_word_load(&programs.flags), own = BIT(call->number);

	memcpy(&call->mask, &context->uc_sigmask, sizeof(call->mask));
	call->mask |= own_word_load(&programs.mask) | (flags & SA_NODEFER ? 0 : own);
	if (flags & (unsigned int)SA_RESETHAND)
		own_word_store(&programs.handler, (uintptr_t)SIG_DFL);
	if (!(flags & SA_RESTART))
		trc_restart_undo(call->context);
	trc_restart_handled((int)call->number, call->context);
	if (!(flags & SA_ONSTACK) || trc_altstack_is_own(&context->uc_stack))
		trc_signal_frame_move(call);
}

/* True if the program's handler is to run. */
bool trc_signal_own_arrived(int number, siginfo_t *info, void *context,
			    struct trc_signal_call *call, uintptr_t frame)
{
	take_fn *take = atomic_load_explicit(&owner, memory_order_relaxed);
	uint64_t handler = own_word_load(&programs.handler);
	int saved = errno;
	bool taken;

	taken = take(info, context);
	if (!taken && trc_mask_holds_back(info, context)) {
		errno = saved;
		return false;
	}
	if (!taken)
		trc_signal_look_at(number, info);
	errno = saved;
	if (taken || handler == (uintptr_t)SIG_IGN) {
		trc_sample_interrupted(context);
	} else if (handler == (uintptr_t)SIG_DFL) {
		trc_signal_act_by_default(number, info);
	} else {
		*call = (struct trc_signal_call){.number = (uint64_t)number,
						 .info = info,
						 .context = context,
						 .frame = frame,
						 .handler = handler};
		call_make(call);
	}
	if (taken)
		errno = saved;
	return !taken && handler != (uintptr_t)SIG_IGN && handler != (uintptr_t)SIG_DFL;
}

/* On the stack on which the program's handler will run. */
void trc_signal_own_enter(const uint64_t *mask)
{
	trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(*mask));
}

#ifndef __x86_64__
void trc_signal_own_entry(int number, siginfo_t *info, void *context)
{
	struct trc_signal_call call;

	if (!trc_signal_own_arrived(number, info, context, &call, 0))
		return;
	trc_signal_own_enter(&call.mask);
	((void (*)(int, siginfo_t *, void *))call.handler)(number, info, context);
}
#endif

bool trc_signal_own_taken(int number, const siginfo_t *info)
{
	take_fn *take = atomic_load_explicit(&owner, memory_order_relaxed);

	return trc_signal_is_owned(number) && take(info, NULL);
}

/* ---- actions --------------------------------------------------------------------------- */

bool trc_signal_is_own(const struct sigaction *action)
{
	return action->sa_sigaction == trc_signal_own_entry;
}

void trc_signal_own_action(struct sigaction *action)
{
	uint64_t mask = own_word_load(&programs.mask);

	action->sa_flags = (int)own_word_load(&programs.flags);
	action->sa_handler = (sighandler_t)(uintptr_t)own_word_load(&programs.handler);
	memset(&action->sa_mask, 0, sizeof(action->sa_mask));
	memcpy(&action->sa_mask, &mask, sizeof(mask));
	if (!(action->sa_flags & RESTORER_FLAG))
		action->sa_restorer = NULL;
}

static void programs_set(const struct sigaction *action, int flags)
{
	uint64_t mask;

	memcpy(&mask, &action->sa_mask, sizeof(mask));
	own_word_store(&programs.mask, mask & ~(BIT(SIGKILL) | BIT(SIGSTOP)));
	own_word_store(&programs.flags, (uint32_t)flags);
	own_word_store(&programs.handler, (uintptr_t)action->sa_handler);
}

/* On the alternate stack, where no two threads have the same: a sample may land where there is next
 * to nothing left of the thread's own. */
static struct sigaction action_of_ours(void)
{
	struct sigaction ours = {.sa_sigaction = trc_signal_own_entry,
				 .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	memset(&ours.sa_mask, 0xff, sizeof(ours.sa_mask));
	return ours;
}

static int kernel_install(int number)
{
	struct sigaction ours = action_of_ours();

	return trc_altstack_install(number, &ours);
}

void trc_signal_own_onstack(bool onstack)
{
	int number = atomic_load_explicit(&owned, memory_order_relaxed);
	struct sigaction ours = action_of_ours(), now;

	if (!number || REAL(sigaction)(number, NULL, &now) || !trc_signal_is_own(&now))
		return;
	if (!onstack)
		ours.sa_flags &= ~SA_ONSTACK;
	REAL(sigaction)(number, &ours, NULL);
}

void trc_signal_own_swap(const struct sigaction *action, struct sigaction *old)
{
	int number = atomic_load_explicit(&owned, memory_order_relaxed);
	struct sigaction was;

	if (REAL(sigaction)(number, NULL, &was))
		return;
	trc_signal_as_program_sees(number, &was);
	programs_set(action, action->sa_flags | RESTORER_FLAG);
	if (old)
		*old = was;
}

/* Also blocks or unblocks the signal, and tells whether it was blocked. */
sighandler_t trc_signal_own_set(sighandler_t handler)
{
	int number = atomic_load_explicit(&owned, memory_order_relaxed);
	struct sigaction action = {.sa_handler = handler}, old;
	uint64_t mask = BIT(number), was = 0;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (handler == SIG_HOLD)
		trc_signal_own_action(&old);
	else
		trc_signal_own_swap(&action, &old);
	trc_raw4(SYS_rt_sigprocmask, handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &mask, &was,
		 sizeof(mask));
	return was & mask ? SIG_HOLD : old.sa_handler;
}

/* libc has changed the kernel's flags: those are ours. */
void trc_signal_own_interrupt(bool interrupt)
{
	uint64_t flags = own_word_load(&programs.flags);

	own_word_store(&programs.flags,
		       interrupt ? flags & ~(uint64_t)SA_RESTART : flags | SA_RESTART);
	kernel_install(atomic_load_explicit(&owned, memory_order_relaxed));
}

bool trc_signal_own_exec_begin(void)
{
	int number = atomic_load_explicit(&owned, memory_order_relaxed);
	struct sigaction ignored = {.sa_handler = SIG_IGN}, now;

	return number && own_word_load(&programs.handler) == (uintptr_t)SIG_IGN &&
	       !REAL(sigaction)(number, NULL, &now) && trc_signal_is_own(&now) &&
	       !REAL(sigaction)(number, &ignored, NULL);
}

void trc_signal_own_exec_failed(void)
{
	kernel_install(atomic_load_explicit(&owned, memory_order_relaxed));
}

/* As a process begins with it: libc would add a flag. */
static void kernel_default(int number, uintptr_t handler)
{
	const struct {
		uint64_t handler, flags, restorer, mask;
	} action = {.handler = handler};

	trc_raw4(SYS_rt_sigaction, number, &action, NULL, sizeof(action.mask));
}

void trc_signal_own_forked(void)
{
	int number = atomic_exchange_explicit(&owned, 0, memory_order_relaxed);
	struct sigaction action;

	if (!number || REAL(sigaction)(number, NULL, &action) || !trc_signal_is_own(&action))
		return;
	trc_signal_own_action(&action);
	if (!RESTORER_FLAG || action.sa_flags & RESTORER_FLAG)
		REAL(sigaction)(number, &action, NULL);
	else
		kernel_default(number, (uintptr_t)action.sa_handler);
}

int trc_signal_own(int number, take_fn *take)
{
	int before = 0;
	struct sigaction now;

	/* relaxed: `owned` is a number, whole by itself; a handler sees `owner` because it is installed
	 * below. */
	if (!atomic_compare_exchange_strong_explicit(&owned, &before, number, memory_order_relaxed,
						     memory_order_relaxed) &&
	    before != number)
		return -EBUSY;
	atomic_store_explicit(&owner, take, memory_order_relaxed);
	if (REAL(sigaction)(number, NULL, &now))
		return -errno;
	if (!trc_signal_is_own(&now)) {
		trc_signal_as_program_sees(number, &now);
		programs_set(&now, now.sa_flags);
		kernel_install(number);
	}
	trc_signals_watch(number);
	return 0;
}
