/*
 * signal.c - sigaction() and its family (signal.h).  Context: traced thread, signal handlers.
 */
#include <string.h>
#include "format/raw.h"
#include "restart.h"
#include "signal.h"
#include "signal_own.h"
#include "thread.h"
#include "recorder/shared/signals.h"
#include "recorder/shared/trigger.h"
#include "recorder/unwind/poison.h"

#define BIT(number) (UINT64_C(1) << ((number)-1))
/* What is deadly by default, and tells of a fault in the program. */
#define CRASHES                                                                                    \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGABRT) | BIT(SIGTRAP) |    \
	 BIT(SIGSYS))

static _Atomic uint64_t seen;	    /* signals that are, or were, dealt with here */
static _Atomic uint64_t reported;   /* of those: SIG_DFL as well */
static _Atomic uint64_t crash;	    /* of those: to be recorded as a fault */
static _Atomic uint64_t one_shots;  /* last installed with SA_RESETHAND */
static _Atomic uint64_t interrupts; /* what siginterrupt() said */
static _Atomic uint64_t onstack;    /* H5: SA_ONSTACK was given, the kernel does not have it */
/* Numbers of sessions, 0 = none: what was true of a parent is not true of its forked child, however
 * that was made. */
static _Atomic uint32_t active;	 /* between start and stop */
static _Atomic uint32_t watched; /* every handler has a wrapper */

static uint64_t signal_load(const _Atomic uint64_t *word)
{
	/* relaxed: each word is about itself. */
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* relaxed: see trc_recording(). */
static uint32_t session(void)
{
	return atomic_load_explicit(&trc_switch.on, memory_order_relaxed);
}

static bool signal_is_of_session(const _Atomic uint32_t *number)
{
	return trc_recording() && atomic_load_explicit(number, memory_order_relaxed) == session();
}

/* The one fact by which handlers get wrappers, and by which it is known that they have them. */
static bool wraps(void)
{
	return signal_is_of_session(&active) && !trc_self.quiet;
}

static void unwrapped_note(void)
{
	atomic_store_explicit(&watched, 0, memory_order_relaxed);
}

static bool is_seen(int number)
{
	return number >= 1 && number <= 64 && (signal_load(&seen) & BIT(number));
}

static bool is_dealt_with(int number)
{
	return (number >= 1 && number <= 64 &&
		((signal_load(&seen) | signal_load(&onstack)) & BIT(number))) ||
	       trc_signal_is_owned(number);
}

/* ---- wrappers -------------------------------------------------------------------------- */

enum { WRAPPERS = 64, WRAPPER_BYTES = 16 };
/* The thunks' code: WRAPPERS entries. */
extern const char trc_signal_wrappers[] __attribute__((visibility("hidden")));

#define WANTS_INFO (UINT64_C(1) << 63)	    /* the program gave SA_SIGINFO */
static _Atomic uint64_t handlers[WRAPPERS]; /* H3; with WANTS_INFO; 0 = not used yet */

/* The number of a wrapper by its address; WRAPPERS if it is none. */
static uint64_t wrapper_number(const struct sigaction *action)
{
	uint64_t off = (uintptr_t)action->sa_handler - (uintptr_t)trc_signal_wrappers;

	return off < (uint64_t)WRAPPERS * WRAPPER_BYTES ? off / WRAPPER_BYTES : WRAPPERS;
}

static bool is_default_of_ours(const struct sigaction *action)
{
	return trc_signal_default && (void *)(uintptr_t)action->sa_handler == trc_signal_default;
}

/* WRAPPERS if none is left. */
static unsigned int wrapper_for(uint64_t handler)
{
	unsigned int i;

	for (i = 0; i < WRAPPERS; i++) {
		uint64_t stands_for = signal_load(&handlers[i]);

		if (!stands_for && atomic_compare_exchange_strong_explicit(
					   &handlers[i], &stands_for, handler, memory_order_relaxed,
					   memory_order_relaxed))
			break;
		if (stands_for == handler)
			break;
	}
	return i;
}

/* ---- what a signal does ---------------------------------------------------------------- */

void trc_signal_look_at(int number, const siginfo_t *info)
{
	if (signal_load(&reported) & BIT(number) && trc_signal_recorded())
		trc_trigger_signal(number, info->si_code <= 0 && info->si_code != SI_TIMER
						   ? (uint32_t)info->si_pid
						   : 0);
}

static void adopt_without(int number, int flags);

/* From the thunk: called as a handler of the kernel's.  Returns whom to jump to. */
void *trc_signal_arrived(int number, siginfo_t *info, void *context, unsigned long wrapper);
void *trc_signal_arrived(int number, siginfo_t *info, void *context, unsigned long wrapper)
{
	uint64_t handler = signal_load(&handlers[wrapper]);
	int saved = errno;

	/* The kernel has made it SIG_DFL, with the handler's flags. */
	if (signal_load(&one_shots) & BIT(number) && wraps())
		adopt_without(number, handler & WANTS_INFO ? 0 : SA_SIGINFO);
	trc_signal_look_at(number, info);
	if (signal_load(&crash) & BIT(number) && trc_signal_recorded())
		trc_signal_handled(number, info, context);
	trc_restart_handled(number, context);
	errno = saved;
	return (void *)(uintptr_t)(handler & ~WANTS_INFO);
}

void trc_signal_taken(int number)
{
	if (number <= 64 && signal_load(&reported) & BIT(number))
		trc_trigger_signal(number, 0);
}

/* The instruction that was interrupted will do it again.  Of SI_KERNEL one cannot tell: it is also
 * what a thread gets that has no room for the frame of another signal. */
static bool comes_again(int number, const siginfo_t *info)
{
	if (number == SIGBUS && info->si_code == BUS_MCEERR_AO)
		return false;
	return (BIT(number) & (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL))) &&
	       info->si_code > 0 && info->si_code != SI_KERNEL;
}

/*
 * The default action, as if this had never been here: the signal comes again when the handler has
 * returned, with the same siginfo.
 */
void trc_signal_act_by_default(int number, siginfo_t *info)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, was;
	long pid = trc_raw1(SYS_getpid, 0), tid = trc_raw1(SYS_gettid, 0);

	REAL(sigaction)(number, &plain, &was);
	if (!is_default_of_ours(&was) &&
	    !trc_signal_is_own(&was)) /* the program's, from just now */
		REAL(sigaction)(number, &was, NULL);
	if (comes_again(number, info))
		return;
	if (trc_raw4(SYS_rt_tgsigqueueinfo, pid, tid, number, info) < 0)
		trc_raw3(SYS_tgkill, pid, tid, number);
}

static void on_default(int number, siginfo_t *info, void *context)
{
	bool deadly = true;
	int saved = errno;

	if (trc_signal_recorded()) {
		trc_signal_look_at(number, info);
		if (signal_load(&crash) & BIT(number))
			trc_signal_fatal(number, info, context);
		/* The program lives: whoever made this signal a condition asked for that. */
		deadly = (BIT(number) & CRASHES) || !(BIT(number) & trc_trigger_signals());
	}
	if (deadly)
		trc_signal_act_by_default(number, info);
	errno = saved;
}

/* ---- actions, as the program and as the kernel sees them ------------------------------- */

#ifdef __x86_64__
enum { RESTORER_FLAG = 0x04000000 }; /* the kernel's SA_RESTORER, which glibc adds and shows */
#else
enum { RESTORER_FLAG = 0 };
#endif

/* The flags and mask that the program gave with SIG_DFL. */
static struct {
	_Atomic uint64_t flags, mask;
} given[65];

static void given_note(int number, const struct sigaction *action)
{
	uint64_t mask;

	memcpy(&mask, &action->sa_mask, sizeof(mask));
	mask &= ~(BIT(SIGKILL) | BIT(SIGSTOP));
	atomic_store_explicit(&given[number].flags, (uint32_t)action->sa_flags,
			      memory_order_relaxed);
	atomic_store_explicit(&given[number].mask, mask, memory_order_relaxed);
}

/* H4 */
void trc_signal_as_program_sees(int number, struct sigaction *action)
{
	uint64_t wrapper = wrapper_number(action), mask;

	if (trc_signal_is_own(action)) {
		trc_signal_own_action(action);
		return;
	}
	if (signal_load(&onstack) & BIT(number))
		action->sa_flags |= SA_ONSTACK;
	if (is_default_of_ours(action)) {
		mask = signal_load(&given[number].mask);
		memset(&action->sa_mask, 0, sizeof(action->sa_mask));
		memcpy(&action->sa_mask, &mask, sizeof(mask));
		action->sa_flags = (int)signal_load(&given[number].flags);
		if (!(action->sa_flags & RESTORER_FLAG))
			action->sa_restorer = NULL;
		action->sa_handler = SIG_DFL;
	} else if (wrapper < WRAPPERS) {
		uint64_t handler = signal_load(&handlers[wrapper]);

		if (!(handler & WANTS_INFO))
			action->sa_flags &= ~SA_SIGINFO;
		action->sa_handler = (sighandler_t)(uintptr_t)(handler & ~WANTS_INFO);
	}
}

/* Makes a program's action the kernel's (H1); false if they are the same. */
static bool as_kernel_sees(int number, struct sigaction *action)
{
	uint64_t handler = (uintptr_t)action->sa_handler;
	unsigned int wrapper;

	if (action->sa_handler == SIG_IGN || is_default_of_ours(action) ||
	    trc_signal_is_own(action) ||
	    (action->sa_handler == SIG_DFL && !(signal_load(&reported) & BIT(number))) ||
	    wrapper_number(action) < WRAPPERS || handler & WANTS_INFO)
		return false;
	if (action->sa_handler == SIG_DFL) {
		memset(action, 0, sizeof(*action));
		action->sa_sigaction = on_default;
		/* Those of others than faults interrupt calls that go on by themselves. */
		action->sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
		memset(&action->sa_mask, 0xff, sizeof(action->sa_mask));
		return true;
	}
	if (action->sa_flags & SA_SIGINFO)
		handler |= WANTS_INFO;
	wrapper = wrapper_for(handler);
	if (wrapper == WRAPPERS) {
		unwrapped_note();
		return false; /* one handler too many: it runs, unseen */
	}
	action->sa_handler =
		(sighandler_t)(uintptr_t)(trc_signal_wrappers + (size_t)wrapper * WRAPPER_BYTES);
	action->sa_flags |= SA_SIGINFO;
	return true;
}

/* H5; true if it makes a difference. */
static bool onstack_hide(struct sigaction *action)
{
	if (!(action->sa_flags & SA_ONSTACK) || action->sa_handler == SIG_DFL ||
	    action->sa_handler == SIG_IGN || is_default_of_ours(action) ||
	    trc_signal_is_own(action) || !trc_altstack_hides())
		return false;
	action->sa_flags &= ~SA_ONSTACK;
	return true;
}

static void onstack_restore(int number)
{
	struct sigaction action;

	/* seq_cst: pairs with onstack_note(); the bit is taken by one thread only, which
	 * restores. */
	if (!(atomic_fetch_and_explicit(&onstack, ~BIT(number), memory_order_seq_cst) &
	      BIT(number)) ||
	    REAL(sigaction)(number, NULL, &action) || is_default_of_ours(&action) ||
	    trc_signal_is_own(&action))
		return;
	action.sa_flags |= SA_ONSTACK;
	REAL(sigaction)(number, &action, NULL);
}

/* The action is installed. */
static void onstack_note(int number, bool hidden)
{
	if (!hidden) {
		/* seq_cst: pairs with onstack_restore(): a later restore leaves the new action
		 * alone. */
		atomic_fetch_and_explicit(&onstack, ~BIT(number), memory_order_seq_cst);
		return;
	}
	/* seq_cst: pairs with programs_note() in altstack.c, which stores `programs`, then loads
	 * the bits.  If its load came before this, trc_altstack_hides() sees its store. */
	atomic_fetch_or_explicit(&onstack, BIT(number), memory_order_seq_cst);
	if (!trc_altstack_hides())
		onstack_restore(number);
}

static void note_installed(int number, const struct sigaction *program)
{
	if (program->sa_handler == SIG_DFL)
		given_note(number, program);
	if ((unsigned int)program->sa_flags & SA_RESETHAND)
		atomic_fetch_or_explicit(&one_shots, BIT(number), memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&one_shots, ~BIT(number), memory_order_relaxed);
}

static bool is_handler(const struct sigaction *action)
{
	return action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* sigaction() of a signal that is dealt with here. */
static int action_swap(int number, const struct sigaction *action, struct sigaction *old)
{
	bool noted = action && !trc_self.quiet, wrapped = noted && is_seen(number) && wraps();
	struct sigaction kernel, program, was;
	bool hidden = false;
	int result;

	if (noted && trc_signal_is_owned(number)) {
		trc_signal_own_swap(action, old);
		return 0;
	}
	if (noted) {
		kernel = program = *action;
		program.sa_flags |= RESTORER_FLAG;
		if (wrapped)
			as_kernel_sees(number, &kernel);
		hidden = onstack_hide(&kernel);
		action = &kernel;
	}
	result = REAL(sigaction)(number, action, &was);
	if (result)
		return result;
	if (old) {
		*old = was;
		trc_signal_as_program_sees(number, old);
	}
	if (noted)
		onstack_note(number, hidden);
	if (wrapped)
		note_installed(number, &program);
	else if (is_seen(number) && is_handler(action) && trc_signal_recorded())
		unwrapped_note(); /* a handler of the program's runs in the middle of our work */
	return 0;
}

static bool action_is_same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags;
}

/* Whatever the action is now: puts ours in its place.  If it is SIG_DFL, the flags given here are
 * not the program's. */
static void adopt_without(int number, int flags)
{
	struct sigaction found, program, kernel, was;

	if (REAL(sigaction)(number, NULL, &found))
		return;
	program = found;
	if (program.sa_handler == SIG_DFL) {
		program.sa_flags &= ~flags;
		/* seq_cst: as in onstack_restore(). */
		if (atomic_fetch_and_explicit(&onstack, ~BIT(number), memory_order_seq_cst) &
		    BIT(number))
			program.sa_flags |= SA_ONSTACK;
	}
	kernel = program;
	if (!as_kernel_sees(number, &kernel) && action_is_same(&kernel, &found))
		return;
	note_installed(number, &program);
	REAL(sigaction)(number, &kernel, &was);
	if (!action_is_same(&was, &found)) /* another thread changed it just now: that holds */
		REAL(sigaction)(number, &was, NULL);
}

static void onstack_find(int number)
{
	struct sigaction found, kernel, was;

	if (REAL(sigaction)(number, NULL, &found))
		return;
	kernel = found;
	if (!onstack_hide(&kernel))
		return;
	REAL(sigaction)(number, &kernel, &was);
	if (action_is_same(&was, &found))
		onstack_note(number, true);
	else
		REAL(sigaction)(number, &was, NULL);
}

static void adopt(int number)
{
	adopt_without(number, 0);
}

/* The reverse. */
static void signal_give_back(int number)
{
	struct sigaction kernel, program, was;

	if (REAL(sigaction)(number, NULL, &kernel) || trc_signal_is_own(&kernel))
		return;
	program = kernel;
	trc_signal_as_program_sees(number, &program);
	/* H5 still holds: threads keep their alternate stacks. */
	if (signal_load(&onstack) & BIT(number))
		program.sa_flags &= ~SA_ONSTACK;
	if (action_is_same(&program, &kernel))
		return;
	REAL(sigaction)(number, &program, &was);
	if (!action_is_same(&was, &kernel))
		REAL(sigaction)(number, &was, NULL);
}

/* ---- start and stop -------------------------------------------------------------------- */

static void for_each(uint64_t signals, void (*what)(int number))
{
	for (int number = 1; number <= 64; number++)
		if (signals & BIT(number))
			what(number);
}

/* A thread from before the recording. */
static void thread_found(void)
{
	if (trc_thread_arm())
		trc_altstack_enter();
}

void trc_signals_start(bool with_crash)
{
	uint64_t crashes = with_crash && !trc_runs_go() ? CRASHES : 0;
	uint64_t signals = crashes | trc_trigger_signals();

	trc_altstack_begin();
	if (trc_signal_own_number())
		trc_signals_watch(trc_signal_own_number());
	if (!signals)
		return;
	trc_signal_default = (void *)(uintptr_t)on_default;
	atomic_store_explicit(&crash, crashes, memory_order_relaxed);
	atomic_store_explicit(&reported, signals, memory_order_relaxed);
	atomic_fetch_or_explicit(&seen, signals, memory_order_relaxed);
	atomic_store_explicit(&active, session(), memory_order_relaxed);
	for_each(signals, adopt);
	trc_altstack_want(crashes != 0);
	for_each(UINT64_MAX, onstack_find);
	trc_attach_hook = thread_found;
	thread_found();
}

void trc_signals_watch(int own)
{
	/* What glibc keeps for itself is refused. */
	uint64_t all = ~(BIT(own) | BIT(SIGKILL) | BIT(SIGSTOP));

	atomic_fetch_and_explicit(&onstack, ~BIT(own), memory_order_relaxed);
	atomic_fetch_or_explicit(&seen, trc_runs_go() ? 0 : all, memory_order_relaxed);
	atomic_store_explicit(&active, session(), memory_order_relaxed);
	atomic_store_explicit(&watched, trc_runs_go() ? 0 : session(), memory_order_relaxed);
	if (!trc_runs_go())
		trc_mask_start();
	for_each(signal_load(&seen), adopt);
}

bool trc_signals_watched(void)
{
	return signal_is_of_session(&watched) && wraps();
}

void trc_signals_on_stack(void)
{
	int saved = errno;

	/* seq_cst: pairs with onstack_note(). */
	for_each(atomic_load_explicit(&onstack, memory_order_seq_cst), onstack_restore);
	errno = saved;
}

void trc_signals_stop(void)
{
	trc_attach_hook = NULL;
	trc_altstack_want(false);
	atomic_store_explicit(&active, 0, memory_order_relaxed);
	unwrapped_note();
	for_each(signal_load(&seen), signal_give_back);
}

void trc_signals_forked(void)
{
	int saved = errno, own = trc_signal_own_number();

	atomic_store_explicit(&active, 0, memory_order_relaxed);
	unwrapped_note();
	for_each(signal_load(&seen), signal_give_back);
	trc_mask_forked();
	trc_signal_own_forked();
	if (own)
		onstack_find(own);
	errno = saved;
}

/* ---- the functions --------------------------------------------------------------------- */

TRC_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	bool on_stack = action && action->sa_flags & SA_ONSTACK && number >= 1 && number <= 64;

	if (number == SIGVTALRM && is_handler(action))
		trc_mask_speak();

	return on_stack || is_dealt_with(number) ? action_swap(number, action, old)
						 : REAL(sigaction)(number, action, old);
}
TRC_ALIAS(__sigaction, sigaction);

/* signal() and its like, of a signal that is dealt with here. */
static sighandler_t replace(int number, sighandler_t handler, int flags, uint64_t mask)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	memcpy(&action.sa_mask, &mask, sizeof(mask));
	return action_swap(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

TRC_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	if (!is_dealt_with(number))
		return REAL(signal)(number, handler);
	return replace(number, handler, signal_load(&interrupts) & BIT(number) ? 0 : SA_RESTART,
		       BIT(number));
}
TRC_ALIAS(ssignal, signal);
TRC_ALIAS(bsd_signal, signal);

TRC_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	enum { SA_INTERRUPT_ = 0x20000000 };

	if (!is_dealt_with(number))
		return REAL(sysv_signal)(number, handler);
	return replace(number, handler, (int)SA_RESETHAND | SA_NODEFER | SA_INTERRUPT_, 0);
}
TRC_ALIAS(__sysv_signal, sysv_signal);

TRC_EXPORT int siginterrupt(int number, int interrupt)
{
	int result = REAL(siginterrupt)(number, interrupt);

	if (!result && trc_signal_is_owned(number) && !trc_self.quiet)
		trc_signal_own_interrupt(interrupt != 0);
	if (!result && interrupt)
		atomic_fetch_or_explicit(&interrupts, BIT(number), memory_order_relaxed);
	else if (!result)
		atomic_fetch_and_explicit(&interrupts, ~BIT(number), memory_order_relaxed);
	return result;
}

/* Also blocks or unblocks the signal, and tells whether it was blocked. */
TRC_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	struct sigaction now;
	sighandler_t old;

	if (number == SIGPROF || number == SIGVTALRM)
		trc_mask_speak();
	if (trc_signal_is_owned(number) && !trc_self.quiet)
		return trc_signal_own_set(handler);
	if (!is_dealt_with(number))
		return REAL(sigset)(number, handler);
	if (action_swap(number, NULL, &now))
		return SIG_ERR;
	old = REAL(sigset)(number, handler);
	if (old == SIG_ERR)
		return old;
	if (handler != SIG_HOLD && !trc_self.quiet)
		onstack_note(number, false);
	if (handler != SIG_HOLD && is_seen(number) && wraps())
		adopt(number);
	return old == SIG_HOLD ? old : now.sa_handler;
}
