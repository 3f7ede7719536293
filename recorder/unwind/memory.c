/*
 * memory.c - see memory.h.
 *
 * Known stacks are: the main thread's, whose top the kernel tells; stacks of threads that called
 * trc_unwind_thread(); stacks of coroutines that the program told of.  The ends of other stacks
 * (signal stacks, other coroutines, threads from before us) are not known, and the memory behind
 * them may be unmapped between any two instructions.  So other stacks are read in copies that the
 * kernel makes, at every capture anew.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "format/raw.h"
#include "memory.h"
#include "valgrind.h"
#include "poison.h"

#define MAIN_STACK_BYTES ((uintptr_t)128 << 20) /* the gap that the kernel keeps free below it */
#define PAGE_BYTES	 ((uintptr_t)4096)	/* the smallest page of any kernel */
#define COPIED_BELOW	 ((uintptr_t)64)	/* of what is copied at once */

/* Stored by trc_range_setup(), before the first capture; constant then. */
static struct trc_range main_stack;
static bool on_valgrind; /* which complains of impossible arguments */
/* Stored by the thread itself. */
static __thread struct trc_range own_stack __attribute__((tls_model("initial-exec")));
/* Read by its signal handlers, too. */
static __thread const struct trc_range *volatile coroutine_stack
	__attribute__((tls_model("initial-exec")));

/*
 * Whether the page of `at` can be read.  A call that no filter forbids, and that never changes
 * anything: the kernel fetches the new mask (EFAULT if it cannot) before it looks at the
 * impossible `how` (EINVAL).
 */
static bool page_readable(uintptr_t at)
{
	uintptr_t word;

	if (on_valgrind)
		return trc_memory_copy(&word, at & ~(uintptr_t)7, sizeof(word));
	return trc_raw4(SYS_rt_sigprocmask, -1, at & ~(uintptr_t)7, 0, 8) == -EINVAL;
}

bool trc_memory_readable(uintptr_t at)
{
	return at >= PAGE_BYTES && page_readable(at);
}

bool trc_memory_copy(void *to, uintptr_t from, uint32_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
	long self = trc_raw1(SYS_getpid, 0);

	return trc_raw6(SYS_process_vm_readv, self, (long)(uintptr_t)&local, 1,
			(long)(uintptr_t)&remote, 1, 0) == (long)bytes;
}

/* A little of what is below as well: rules ask for the return address first. */
static bool copied_move(struct trc_copied *copied, uintptr_t at)
{
	uintptr_t in_page = at & (PAGE_BYTES - 1);
	uintptr_t below = in_page < COPIED_BELOW ? in_page : COPIED_BELOW;
	uintptr_t bytes = PAGE_BYTES - (in_page - below);

	if (bytes > copied->max_bytes)
		bytes = copied->max_bytes;
	copied->lo = at - below;
	copied->hi = copied->lo;
	if (at < PAGE_BYTES || trc_copied_gave_up(copied))
		return false;
	copied->n_copies++;
	if (!trc_memory_copy(copied->word, copied->lo, (uint32_t)bytes))
		return false;
	copied->hi += bytes;
	return true;
}

bool trc_copied_read(struct trc_copied *copied, uintptr_t at, uintptr_t *value)
{
	/* unsigned: as in trc_range_has(), also where `hi` has wrapped to 0 */
	if (at - copied->lo >= copied->hi - copied->lo && !copied_move(copied, at))
		return false;
	*value = copied->word[(at - copied->lo) / sizeof(copied->word[0])];
	return true;
}

static bool within(const struct trc_range *range, uintptr_t at)
{
	return at - range->lo < range->hi - range->lo;
}

void trc_range_coroutine(const struct trc_range *stack)
{
	coroutine_stack = stack;
	/* A signal's handler that unwinds from the next instruction on finds the stack. */
	atomic_signal_fence(memory_order_seq_cst);
}

/* The one that this address is in, if any.  A coroutine's may be a piece of its thread's. */
static const struct trc_range *stack_range_of(uintptr_t sp)
{
	const struct trc_range *coroutine = coroutine_stack;

	if (coroutine && within(coroutine, sp))
		return coroutine;
	return within(&own_stack, sp) ? &own_stack : &main_stack;
}

bool trc_memory_is_own(uintptr_t from, uint32_t bytes)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const struct trc_range *stack = within(&own_stack, here) ? &own_stack : &main_stack;

	/* Below `here` nothing need be mapped yet (the main thread's stack grows), and where the thread is on
	 * another stack this one is left out, for its end is not known. */
	return within(stack, here) && from >= here && from < stack->hi && bytes <= stack->hi - from;
}

void trc_range_stack(struct trc_range *range, uintptr_t sp, uintptr_t own_sp)
{
	const struct trc_range *stack = stack_range_of(sp);

	sp &= ~(uintptr_t)7;
	range->lo = 0;
	range->hi = 0;
	range->whole = false;
	if (!within(stack, sp)) {
		/* Right below it are frames of ours. */
		if (sp == own_sp) {
			range->lo = sp;
			range->hi = ((sp - 1) | (PAGE_BYTES - 1)) + 1;
		}
		return;
	}
	/* Above a frame of ours all is mapped; otherwise above any byte that is. */
	if ((sp < own_sp || !within(stack, own_sp)) && !page_readable(sp))
		return;
	range->lo = sp;
	range->hi = stack->hi;
	range->whole = true;
}

uintptr_t trc_range_above(uintptr_t sp)
{
	const struct trc_range *stack = stack_range_of(sp);

	return within(stack, sp) ? stack->hi - sp : 0;
}

void trc_range_setup(void)
{
	/* The kernel puts these bytes above everything that the main thread will push. */
	uintptr_t top = getauxval(AT_RANDOM);
	uintptr_t bytes = MAIN_STACK_BYTES;
	struct rlimit limit;

	on_valgrind = trc_on_valgrind();
	if (!top)
		return;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	top &= ~(uintptr_t)7;
	main_stack = (struct trc_range){top - bytes, top, true, NULL};
}

/*
 * glibc puts the thread's descriptor, which pthread_self() points to, at the top of its stack, and
 * all below it down to here is mapped.  Not pthread_getattr_np(): that calls malloc(), which takes
 * an arena of 64 MiB of address space for a thread that may never call it.
 */
void trc_range_thread(size_t stack_bytes)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t top = (uintptr_t)pthread_self() & ~(uintptr_t)7;
#if defined(__x86_64__)
	size_t above = 2 * PAGE_BYTES; /* the descriptor */
#else
	size_t above = stack_bytes / 4; /* the descriptor and the program's thread variables */
#endif

	if (stack_bytes > above && top - here < stack_bytes - above)
		own_stack = (struct trc_range){top - (stack_bytes - above), top, true, NULL};
}
