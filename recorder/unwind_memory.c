/*
 * unwind_memory.c - see unwind_memory.h.
 *
 * The stacks that are known: the main thread's, whose top the kernel tells, and those of threads
 * that called trc_unwind_thread().  Others (signal stacks, coroutines, threads from before us) are
 * asked about page by page, at every capture anew: what was mapped there once need not be now.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "unwind_memory.h"
#include "poison.h"

#define MAIN_STACK_BYTES ((uintptr_t)128 << 20) /* the gap that the kernel keeps free below it */
#define PROBE_BYTES	 ((uintptr_t)4096)	/* the smallest page of any kernel */

/* Stored by trc_range_setup(), before the first capture; constant then. */
static struct trc_range main_stack;
/* Stored by the thread itself. */
static __thread struct trc_range own_stack __attribute__((tls_model("initial-exec")));

/* The raw call: errno stays as it is. */
static long sigprocmask_raw(long how, uintptr_t set)
{
#if defined(__x86_64__)
	register long old __asm__("rdx") = 0;
	register long bytes __asm__("r10") = 8;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"((long)SYS_rt_sigprocmask), "D"(how), "S"(set), "r"(old), "r"(bytes)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = SYS_rt_sigprocmask;
	register long x0 __asm__("x0") = how;
	register uintptr_t x1 __asm__("x1") = set;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 8;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#endif
}

/*
 * Whether the page of `at` can be read.  A call that no filter forbids, and that never changes
 * anything: the kernel fetches the new mask (EFAULT if it cannot) before it looks at the
 * impossible `how` (EINVAL).
 */
static bool page_readable(uintptr_t at)
{
	return sigprocmask_raw(-1, at & ~(uintptr_t)7) == -EINVAL;
}

bool trc_range_reach(struct trc_range *range, uintptr_t at)
{
	uintptr_t page = at & ~(PROBE_BYTES - 1);

	if (range->whole || !page || !page_readable(at))
		return false;
	if (page == range->hi && range->hi)
		range->hi += PROBE_BYTES;
	else
		*range = (struct trc_range){page, page + PROBE_BYTES, false};
	return true;
}

static bool within(const struct trc_range *range, uintptr_t at)
{
	return at - range->lo < range->hi - range->lo;
}

void trc_range_stack(struct trc_range *range, uintptr_t sp, uintptr_t own_sp)
{
	const struct trc_range *stack = within(&own_stack, sp) ? &own_stack : &main_stack;

	sp &= ~(uintptr_t)7;
	range->lo = 0;
	range->hi = 0;
	range->whole = false;
	if (!within(stack, sp))
		return;
	/* Above a frame of ours all is mapped; otherwise above any byte that is. */
	if ((sp < own_sp || !within(stack, own_sp)) && !page_readable(sp))
		return;
	range->lo = sp;
	range->hi = stack->hi;
	range->whole = true;
}

void trc_range_setup(void)
{
	/* The kernel puts these bytes above everything that the main thread will push. */
	uintptr_t top = getauxval(AT_RANDOM);
	uintptr_t bytes = MAIN_STACK_BYTES;
	struct rlimit limit;

	if (!top)
		return;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	top &= ~(uintptr_t)7;
	main_stack = (struct trc_range){top - bytes, top, true};
}

void trc_range_thread(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t attr;
	void *start = NULL;
	size_t bytes = 0;

	if (within(&main_stack, here) || pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &start, &bytes) == 0 && here - (uintptr_t)start < bytes)
		own_stack = (struct trc_range){(uintptr_t)start, (uintptr_t)start + bytes, true};
	pthread_attr_destroy(&attr);
}
