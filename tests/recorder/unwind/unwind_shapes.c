/*
 * unwind_shapes.c - functions of every shape that compilers give them, each of which compares its
 * stack as three unwinders see it.  unwind_shapes.sh compiles it at several levels.
 */
#include <alloca.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "own_stack.h"
#include "recorder/unwind/unwind.h"
#include "unwind_compare.h"

#define NOINLINE __attribute__((noinline))

static volatile uint32_t sink;

/* No tail calls: the frame is to stay. */
#define STAY() __asm__ volatile("" ::: "memory")

static NOINLINE void plain(const char *what)
{
	compare_here(what, 3);
	STAY();
}

static NOINLINE void recursion(uint32_t depth)
{
	if (depth)
		recursion(depth - 1);
	else
		plain("recursion");
	STAY();
}

static NOINLINE void variable_array(uint32_t bytes)
{
	char array[bytes];

	memset(array, 1, bytes);
	sink += (uint32_t)array[bytes / 2];
	plain("variable length array");
	STAY();
}

static NOINLINE void allocates(uint32_t bytes)
{
	char *memory = alloca(bytes);

	memset(memory, 1, bytes);
	sink += (uint32_t)memory[bytes / 2];
	plain("alloca");
	STAY();
}

static NOINLINE void large_frame(void)
{
	char array[300000];

	memset(array, 1, sizeof(array));
	sink += (uint32_t)array[sink % sizeof(array)];
	plain("a frame too large for a short rule");
	STAY();
}

static NOINLINE void aligned_local(void)
{
	__attribute__((aligned(64))) char array[128];

	memset(array, 1, sizeof(array));
	sink += (uint32_t)array[sink % sizeof(array)];
	plain("locals that realign the stack");
	STAY();
}

static NOINLINE void aligned_variable(uint32_t bytes)
{
	__attribute__((aligned(64))) char array[128];
	char *memory = alloca(bytes);

	memset(array, 1, sizeof(array));
	memset(memory, 1, bytes);
	sink += (uint32_t)(array[sink % sizeof(array)] + memory[0]);
	plain("realigned, and alloca");
	STAY();
}

#if defined(__x86_64__)
static NOINLINE __attribute__((force_align_arg_pointer)) void aligned_pointer(void)
{
	plain("force_align_arg_pointer");
	STAY();
}

typedef double vector __attribute__((vector_size(32)));

static NOINLINE __attribute__((target("avx"))) void avx_locals(uint32_t n)
{
	volatile vector v[4];
	vector one = {1, 2, 3, n};

	v[n & 3] = one;
	plain("AVX locals");
	v[0] = v[n & 3] + one;
	STAY();
}
#endif

static NOINLINE uint32_t many_arguments(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
					uint32_t f, uint32_t g, uint32_t h, uint32_t i)
{
	plain("arguments on the stack");
	return a + b + c + d + e + f + g + h + i;
}

static int compare_callback(const void *a, const void *b)
{
	static uint32_t calls;

	if (calls++ < 3)
		plain("inside qsort");
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void in_qsort(void)
{
	int number[8] = {5, 2, 7, 1, 9, 0, 3, 4};

	qsort(number, 8, sizeof(number[0]), compare_callback);
	sink += (uint32_t)number[0];
}

static void *thread_main(void *argument)
{
	(void)argument;
	plain("a thread whose stack is not known");
	trc_unwind_thread(own_stack_bytes());
	plain("a thread whose stack is known");
	recursion(20);
	return NULL;
}

static NOINLINE void in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_main, NULL) == 0)
		pthread_join(thread, NULL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)info;
	plain(number == SIGUSR1 ? "in a signal handler" : "in a handler on its own stack");
	compare_context("interrupted", context);
}

static NOINLINE void in_signal(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	stack_t stack = {.ss_size = 65536};

	sigaction(SIGUSR1, &action, NULL);
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	sigaltstack(&stack, NULL);
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	STAY();
}

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	/* __start_context says that it is the outermost; libunwind and we believe it. */
	plain("in a coroutine");
	swapcontext(&coroutine_context, &main_context);
	plain("in a coroutine, again");
	STAY();
}

static NOINLINE void in_coroutine(void)
{
	size_t bytes = 65536;
	void *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = bytes;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&main_context, &coroutine_context);
	swapcontext(&main_context, &coroutine_context);
	munmap(stack, bytes);
}

__attribute__((constructor)) static void at_start(void)
{
	const char *note;

	if (trc_unwind_setup(TRC_UNWIND_AUTO, &note) == 0)
		plain("in a constructor");
}

static void every_shape(void)
{
	plain("plain");
	recursion(40);
	recursion(200);
	variable_array(100);
	variable_array(70000);
	allocates(1000);
	large_frame();
	aligned_local();
	aligned_variable(777);
#if defined(__x86_64__)
	aligned_pointer();
	avx_locals(1);
#endif
	sink += many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
	in_qsort();
	in_thread();
	in_signal();
	in_coroutine();
}

int main(void)
{
	const char *note;

	/* The second time all rules come from the cache, the third they are made anew. */
	every_shape();
	every_shape();
	trc_unwind_modules_changed();
	if (trc_unwind_setup(TRC_UNWIND_CFI, &note))
		return 1;
	every_shape();
	printf("%" PRIu32 " stacks compared, %" PRIu32 " differ\n", compare_made, compare_failed);
	return compare_failed || compare_made < 50;
}
