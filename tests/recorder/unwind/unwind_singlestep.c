/*
 * unwind_singlestep.c - unwinds at every single instruction of a small workload, and compares with
 * libunwind's unw_step().  The processor's trap flag raises SIGTRAP after each instruction: in
 * prologues and epilogues, PLT stubs, the dynamic linker's lazy binding, inside libc.
 */
#if defined(__x86_64__)
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include "recorder/unwind/unwind.h"
#include "unwind_compare.h"

#define TRAP_FLAG 0x100ul
#define NOINLINE  __attribute__((noinline))

enum {
	STEPS_MAX = 60000, /* then the rest runs freely */
	FAILURES_MAX = 5,  /* told in full */
};

static uint32_t steps, errno_changed, through_signal_differ;
static volatile uint64_t sink;

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int before = errno;
	uint64_t interrupted[TRC_UNWIND_FRAMES_MAX], own[TRC_UNWIND_FRAMES_MAX];
	uint32_t n, m;

	(void)number;
	(void)info;
	errno = 4711;
	n = trc_unwind_context(context, interrupted, TRC_UNWIND_FRAMES_MAX);
	m = trc_unwind(own, TRC_UNWIND_FRAMES_MAX, 0); /* the trampoline comes first */
	errno_changed += errno != 4711;
	through_signal_differ +=
		m != n + 1 || memcmp(own + 1, interrupted, n * sizeof(own[0])) != 0;
	errno = before;
	if (!compare_context("instruction", context) && compare_failed == FAILURES_MAX)
		uc->uc_mcontext.gregs[REG_EFL] &= (long long)~TRAP_FLAG;
	if (++steps == STEPS_MAX)
		uc->uc_mcontext.gregs[REG_EFL] &= (long long)~TRAP_FLAG;
}

/* In assembly, so that the rules tell of the pushed flags. */
void trap_set(unsigned long on);
__asm__(".text\n"
	".type trap_set, @function\n"
	"trap_set:\n"
	"	.cfi_startproc\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	andq $~0x100, (%rsp)\n"
	"	orq %rdi, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size trap_set, . - trap_set\n");

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static NOINLINE uint64_t realigned(uint32_t n)
{
	__attribute__((aligned(64))) volatile char array[128];

	for (uint32_t i = 0; i < n; i++)
		array[i] = (char)i;
	return (uint64_t)array[n / 2];
}

static NOINLINE uint64_t variable(uint32_t n)
{
	char array[n];

	memset(array, (int)n, n);
	return (uint64_t)array[n - 1] + (n > 10 ? variable(n / 2) : 0);
}

static NOINLINE void workload(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int number[6] = {4, 2, 6, 1, 9, 3};
	struct timespec now;
	char text[64];
	char *copy;

	qsort(number, 6, sizeof(number[0]), ascending);
	snprintf(text, sizeof(text), "%d %s %5.2f", number[3], "words", 1.25);
	copy = strdup(text);
	sink += strlen(copy) + (uint64_t)strtol(text, NULL, 10);
	free(copy);
	pthread_mutex_lock(&mutex);
	sink += realigned(40) + variable(60);
	pthread_mutex_unlock(&mutex);
	clock_gettime(CLOCK_MONOTONIC, &now); /* in the vDSO */
	sink += (uint64_t)now.tv_nsec + (getenv("PATH") != NULL);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t stack = {.ss_size = 1 << 18};
	const char *note;

	if (trc_unwind_setup(TRC_UNWIND_CFI, &note))
		return 1;
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	sigaltstack(&stack, NULL);
	sigaction(SIGTRAP, &action, NULL);
	trap_set(TRAP_FLAG);
	workload();
	trap_set(0);
	printf("%" PRIu32 " instructions, %" PRIu32 " stacks differ, %" PRIu32
	       " from within the handler, errno changed %" PRIu32 " times\n",
	       steps, compare_failed, through_signal_differ, errno_changed);
	return steps < 5000 || compare_failed || through_signal_differ || errno_changed;
}
#else
int main(void)
{
	return 77; /* no trap flag */
}
#endif
