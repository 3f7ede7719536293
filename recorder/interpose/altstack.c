/*
 * altstack.c - sigaltstack(), and an alternate signal stack for each thread that has none.
 *
 * A thread that has used up its stack cannot run a handler on its stack.  So each recorded thread
 * gets an alternate stack: 1 MiB of address space and a guard page.  The stack takes memory only
 * when a signal is handled on it.
 *
 *   altstack:A1  the program never sees our stacks: sigaltstack() tells of the program's own stack
 *       or of none.  Until the program gives a first thread an alternate stack, its handlers are
 *       installed without SA_ONSTACK, so that all handlers run where they would without us
 *       (signal.c).  After that, one thing can be noticed: in threads to which the program gave no
 *       stack, handlers with SA_ONSTACK run on our stack
 *   altstack:A2  at most IN_USE_MAX threads have an alternate stack of ours, and not more than the
 *       share allows (share.h).  Of the stacks given back, POOL are kept for later threads
 *   altstack:A3  a stack is given back only when the kernel does not use it any more
 *   altstack:A4  no two threads have the same stack in the kernel.  A program may give all its threads
 *       one stack, for the one crash that it expects; signals that sample threads come to several at
 *       once, and each would overwrite the frames of the others.  Who asks for a stack that another
 *       thread has gets ours, and is told that it has what it asked for.  So it is from when recording
 *       has first begun, and of threads whose end is noticed
 *   altstack:A5  while A4 does not hold, the handler of samples runs on no alternate stack.  So it
 *       is of stacks from before the first recording, and of stacks that ours cannot replace, until
 *       their threads have ended or asked for others.  A thread gets ours in sigaltstack() alone: a
 *       handler of the program that it might be in would give it the old one back when it returns
 */
#include <string.h>
#include <sys/auxv.h>
#include "format/raw.h"
#include "signal.h"
#include "signal_own.h"
#include "span.h"
#include "thread.h"
#include "recorder/ring/share.h"
#include "recorder/unwind/poison.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { IN_USE_MAX = 2048, POOL = 16, STACK_BYTES = 1 << 20, REST_BYTES = 512 << 10 };
enum { TAKEN_MAX = 256 }; /* where more threads have stacks of the program, A4 holds for so many */

static _Atomic uintptr_t pool[POOL]; /* mappings; 0 = none */
static _Atomic uint32_t in_use;
static _Atomic bool wanted, given, programs;
static _Atomic bool shares; /* stacks that threads share are told apart */
/* The calling thread's; 0 = none. */
static __thread uintptr_t own __attribute__((tls_model("initial-exec")));
/* The program's stack that the calling thread has in the kernel, as in `taken`; 0 = none. */
static __thread uintptr_t takes __attribute__((tls_model("initial-exec")));
/* The program's stack in whose place the kernel has ours (A4); ss_sp 0 = none. */
static __thread stack_t told __attribute__((tls_model("initial-exec")));
static _Atomic uintptr_t taken[TAKEN_MAX]; /* 0 = free */
/* Threads that have a stack in the kernel that another thread has as well; under `turning`. */
static uint32_t n_doubles;
/* The process whose thread is at it, 0 = none: guards n_doubles, and how the handler of samples is
 * installed. */
static _Atomic uint32_t turning;
/* The calling thread is one of them. */
static __thread bool doubles __attribute__((tls_model("initial-exec")));
/* A signal handler may come here while the thread does. */
static __thread bool entering __attribute__((tls_model("initial-exec")));
/* Set before the first is made; constant then. */
static size_t guard_bytes, stack_bytes;

/* What the kernel stores there (much, on processors with wide registers), and room to work. */
static void sizes_find(void)
{
	size_t kernels = (size_t)getauxval(AT_MINSIGSTKSZ), page = (size_t)getauxval(AT_PAGESZ);
	size_t n_bytes = kernels + REST_BYTES > STACK_BYTES ? kernels + REST_BYTES : STACK_BYTES;

	guard_bytes = page;
	stack_bytes = (n_bytes + page - 1) & ~(page - 1);
}

void trc_altstack_begin(void)
{
	if (!stack_bytes)
		sizes_find();
	/* release: pairs with the acquire in altstack_share(): the sizes are known. */
	atomic_store_explicit(&shares, true, memory_order_release);
}

void trc_altstack_want(bool want)
{
	int saved = errno;

	if (want && !stack_bytes)
		sizes_find();
	if (want)
		atomic_store_explicit(&given, true, memory_order_relaxed);
	/* release: pairs with the acquire in trc_altstack_enter(): the sizes are known. */
	atomic_store_explicit(&wanted, want, memory_order_release);
	errno = saved;
}

bool trc_altstack_hides(void)
{
	/* seq_cst: pairs with the store in programs_note(); see signal.c, onstack_note(). */
	return atomic_load_explicit(&given, memory_order_relaxed) &&
	       !atomic_load_explicit(&programs, memory_order_seq_cst);
}

/* The program uses alternate stacks. */
static void programs_note(void)
{
	/* seq_cst like the store, which is not to be repeated. */
	if (trc_self.quiet || atomic_load_explicit(&programs, memory_order_seq_cst))
		return;
	/* seq_cst: pairs with trc_altstack_hides().  Of this thread, which stores `programs` and
	 * then loads the bits in trc_signals_on_stack(), and onstack_note(), which sets a bit and
	 * then loads `programs`, at least one sees the other's store. */
	atomic_store_explicit(&programs, true, memory_order_seq_cst);
	trc_signals_on_stack();
}

/* 0 if there is none to be had. */
static uintptr_t altstack_map(void)
{
	long map;

	for (int i = 0; i < POOL; i++) {
		uintptr_t kept = 0;

		if (atomic_load_explicit(&pool[i], memory_order_relaxed))
			/* acquire: pairs with the release of the thread that gave it back. */
			kept = atomic_exchange_explicit(&pool[i], 0, memory_order_acquire);
		if (kept)
			return kept;
	}
	if (!trc_share_take(guard_bytes + stack_bytes))
		return 0;
	map = trc_raw6(SYS_mmap, 0, (long)(guard_bytes + stack_bytes), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (map < 0 && map > -4096) {
		trc_share_give(guard_bytes + stack_bytes);
		return 0;
	}
	trc_raw3(SYS_mprotect, map, guard_bytes, PROT_NONE);
	return (uintptr_t)map;
}

static void mapping_give(uintptr_t map)
{
	for (int i = 0; i < POOL; i++) {
		uintptr_t none = 0;

		/* release: pairs with the acquire in altstack_map(). */
		if (atomic_compare_exchange_strong_explicit(
			    &pool[i], &none, map, memory_order_release, memory_order_relaxed))
			return;
	}
	trc_raw2(SYS_munmap, map, guard_bytes + stack_bytes);
	trc_share_give(guard_bytes + stack_bytes);
}

static stack_t altstack_of(uintptr_t map)
{
	return (stack_t){.ss_sp = (void *)(map + guard_bytes), .ss_size = stack_bytes};
}

/* The kernel has one of ours from now on, if there is one to be had. */
static void altstack_use_ours(void)
{
	stack_t ours;

	if (atomic_fetch_add_explicit(&in_use, 1, memory_order_relaxed) < IN_USE_MAX)
		own = altstack_map();
	ours = altstack_of(own);
	if (own && REAL(sigaltstack)(&ours, NULL)) {
		mapping_give(own);
		own = 0;
	}
	if (!own)
		atomic_fetch_sub_explicit(&in_use, 1, memory_order_relaxed);
}

/* The kernel has it no more. */
static void altstack_give(void)
{
	for (int i = 0; takes && i < TAKEN_MAX; i++) {
		uintptr_t mine = takes;

		/* release: pairs with the acquire in altstack_take(): what handlers of this thread
		 * stored there comes before what those of the next thread store. */
		if (atomic_compare_exchange_strong_explicit(
			    &taken[i], &mine, 0, memory_order_release, memory_order_relaxed))
			break;
	}
	takes = 0;
}

/* Another thread may have found room before `mine` while this one looked behind it, and has not seen it. */
static bool altstack_taken_twice(uintptr_t stack, int mine)
{
	/* seq_cst: pairs with itself.  Of two that have stored one address, here at least one sees
	 * the other's. */
	atomic_thread_fence(memory_order_seq_cst);
	for (int i = 0; i < TAKEN_MAX; i++)
		if (i != mine && atomic_load_explicit(&taken[i], memory_order_relaxed) == stack) {
			atomic_store_explicit(&taken[mine], 0, memory_order_relaxed);
			takes = 0;
			return true;
		}
	return false;
}

/* False: another thread has it (A4). */
static bool altstack_take(uintptr_t stack)
{
	int room = -1;

	/* relaxed: a hint.  Whoever has it is seen by the exchange below, or behind the fence. */
	for (int i = 0; i < TAKEN_MAX; i++) {
		uintptr_t at = atomic_load_explicit(&taken[i], memory_order_relaxed);

		if (at == stack)
			return false;
		if (!at && room < 0)
			room = i;
	}
	for (int i = room; i >= 0 && i < TAKEN_MAX; i++) {
		uintptr_t none = 0;

		/* acquire: pairs with the release in altstack_give(). */
		if (atomic_compare_exchange_strong_explicit(
			    &taken[i], &none, stack, memory_order_acquire, memory_order_relaxed)) {
			takes = stack;
			return !altstack_taken_twice(stack, i);
		}
		if (none == stack) /* at the same time */
			return false;
	}
	return true;
}

/* True if the calling thread has ours in its place. */
static bool altstack_replace(const stack_t *stack)
{
	stack_t ours = altstack_of(own);

	/* acquire: pairs with the release in trc_altstack_begin(). */
	if (!atomic_load_explicit(&shares, memory_order_acquire))
		return false;
	/* Ours has no less room, and is not taken away while a handler runs: such a stack stays the program's. */
	if (stack->ss_size > stack_bytes || stack->ss_flags & (int)SS_AUTODISARM)
		return false;
	if (!own)
		altstack_use_ours();
	else if (REAL(sigaltstack)(&ours, NULL))
		return false;
	if (own)
		told = *stack;
	return own;
}

/* A forked child has no such thread of its parent's: what the child runs before fork() returns must not
 * wait for it. */
static bool turn_try(uint32_t pid)
{
	uint32_t holder = 0;

	/* acquire, both: pairs with the release in turn_give(): what the last one did is seen. */
	return atomic_compare_exchange_strong_explicit(&turning, &holder, pid, memory_order_acquire,
						       memory_order_relaxed) ||
	       (holder != pid && atomic_compare_exchange_strong_explicit(&turning, &holder, pid,
									 memory_order_acquire,
									 memory_order_relaxed));
}

/* A handler that came meanwhile would wait for what it has interrupted. */
static uint64_t turn_take(void)
{
	static const uint64_t all = ~UINT64_C(0);
	const uint32_t pid = (uint32_t)trc_raw1(SYS_getpid, 0);
	const struct timespec a_while = {0, 50000};
	uint64_t mask = 0;

	trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&mask, sizeof(mask));
	while (!turn_try(pid))
		trc_raw2(SYS_nanosleep, &a_while, NULL);
	return mask;
}

static void turn_give(uint64_t mask)
{
	/* release: pairs with the acquire in turn_take(). */
	atomic_store_explicit(&turning, 0, memory_order_release);
	trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask));
}

int trc_altstack_install(int number, struct sigaction *action)
{
	uint64_t mask = turn_take();
	int result;

	if (n_doubles)
		action->sa_flags &= ~SA_ONSTACK;
	result = REAL(sigaction)(number, action, NULL);
	turn_give(mask);
	return result;
}

/* Whether the calling thread has another's stack in the kernel (A5). */
static void altstack_double(bool is)
{
	uint64_t mask;

	if (doubles == is || trc_sandbox_entered())
		return;
	mask = turn_take();
	doubles = is;
	if (is ? !n_doubles++ : !--n_doubles)
		trc_signal_own_onstack(!is);
	turn_give(mask);
}

/* The calling thread has this stack of the program in the kernel; asked: it asks for it now. */
static void altstack_share(const stack_t *stack, bool asked)
{
	if (trc_sandbox_entered() || !trc_thread_arm())
		return;
	altstack_double(!altstack_take((uintptr_t)stack->ss_sp) &&
			!(asked && altstack_replace(stack)));
}

static void altstack_enter(void)
{
	stack_t now;

	if (own || REAL(sigaltstack)(NULL, &now))
		return;
	if (now.ss_flags & SS_DISABLE) {
		altstack_use_ours();
		return;
	}
	programs_note();
	if (!takes && !(now.ss_flags & SS_ONSTACK))
		altstack_share(&now, false);
}

void trc_altstack_enter(void)
{
	int saved = errno;

	/* acquire: pairs with the release of `wanted`: the sizes are known. */
	if (own || entering || !atomic_load_explicit(&wanted, memory_order_acquire))
		return;
	entering = true;
	/* seq_cst, both: a handler in this thread finds `entering` set in altstack_enter(). */
	atomic_signal_fence(memory_order_seq_cst);
	altstack_enter();
	atomic_signal_fence(memory_order_seq_cst);
	entering = false;
	errno = saved;
}

void trc_altstack_leave(void)
{
	stack_t now, none = {.ss_flags = SS_DISABLE}, ours = altstack_of(own);
	int saved = errno;

	if (trc_sandbox_entered())
		return;
	/* First: a signal may still come here.  A thread that ends on it keeps it. */
	if ((takes || doubles) && !REAL(sigaltstack)(&none, NULL)) {
		altstack_give();
		altstack_double(false);
	}
	errno = saved;
	if (!own)
		return;
	/* A thread that ends on it, in a handler, leaves it mapped (A3). */
	if (!REAL(sigaltstack)(NULL, &now) &&
	    (now.ss_sp != ours.ss_sp || !REAL(sigaltstack)(&none, NULL)))
		mapping_give(own);
	own = 0;
	atomic_fetch_sub_explicit(&in_use, 1, memory_order_relaxed);
	errno = saved;
}

bool trc_altstack_is_own(const stack_t *stack)
{
	return own && !told.ss_sp && stack->ss_sp == altstack_of(own).ss_sp;
}

void trc_altstack_forked(void)
{
	/* relaxed, all: a forked child has one thread. */
	atomic_store_explicit(&turning, 0, memory_order_relaxed);
	doubles = false;
	n_doubles = 0;
	atomic_store_explicit(&in_use, own != 0, memory_order_relaxed);
	for (int i = 0; i < TAKEN_MAX; i++)
		if (atomic_load_explicit(&taken[i], memory_order_relaxed) != takes)
			atomic_store_explicit(&taken[i], 0, memory_order_relaxed);
}

/* Where the stack before was the recorder's own, the program had none, or the one that it was told
 * of.  False: the kernel cannot write there. */
static bool tell_before(stack_t *old, stack_t before, stack_t before_told)
{
	stack_t ours = altstack_of(own);

	if (REAL(sigaltstack)(NULL, old))
		return false;
	before_told.ss_flags = before.ss_flags;
	if (own && before.ss_sp == ours.ss_sp)
		before = before_told.ss_sp ? before_told : (stack_t){.ss_flags = SS_DISABLE};
	*old = before;
	return true;
}

/* With all signals blocked: none must come while the kernel has a stack that another thread has. */
static int altstack_change(const stack_t *stack, stack_t *before)
{
	stack_t ours = altstack_of(own);
	int result = REAL(sigaltstack)(stack, before);

	if (result || !stack)
		return result;
	altstack_give();
	told = (stack_t){0};
	if (!(stack->ss_flags & SS_DISABLE)) {
		programs_note();
		altstack_share(stack, true);
	} else {
		altstack_double(false);
		if (own)
			REAL(sigaltstack)(&ours, NULL);
	}
	return 0;
}

TRC_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	static const uint64_t all = ~UINT64_C(0);
	stack_t before, before_told = told;
	uint64_t mask = 0;
	bool blocks = !trc_sandbox_entered() &&
		      !trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&mask, 8);
	int result, saved;

	result = altstack_change(stack, &before);
	saved = errno;
	if (blocks)
		trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8);
	errno = saved;
	if (result)
		return result;
	/* Last: both may be the same. */
	return old && !tell_before(old, before, before_told) ? -1 : 0;
}
