/*
 * section_calls.c - system calls between the taking of a lock and its release.
 *
 * The kernel hands each system call of the thread that is made in such a section to a handler
 * (Syscall User Dispatch), which counts the call by its number and then makes it.  Prints how many
 * sections there were, how many of them began with a wait for the lock, how many signals of samples
 * came in them, and the calls made in them: "sections 20000 waits 0 samples 0 calls 3: 202 3".
 *
 *   section_calls free|held|nested|labels|control|held-control
 *
 * A section begins when a lock has the thread as its owner, and ends when no lock has: in the midst
 * of pthread_mutex_lock() and pthread_mutex_unlock().
 *
 * Exit status 77: the kernel cannot do this.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "trc/labels.h"

#if !defined(__x86_64__) || !defined(PR_SET_SYSCALL_USER_DISPATCH)
int main(void)
{
	return 77;
}
#else

enum { ALLOW = 0, BLOCK = 1, SECTIONS = 20000, WARM_UP = 60000, PACE = 500, NUMBERS = 512 };

static __thread volatile char selector __attribute__((tls_model("initial-exec")));
static __thread volatile int own_tid __attribute__((tls_model("initial-exec")));
static __thread volatile bool waited __attribute__((tls_model("initial-exec")));
static uint64_t calls[NUMBERS], samples, waits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile uint64_t sink;
static const struct trace_labels *set;

/* Calls made from these bytes are not handed to the handler: the handler's own, and its return. */
extern const char exempt_begin[], exempt_end[];
long exempt_call(long number, long a, long b, long c, long d, long e, long f);
void exempt_return(void);
__asm__(".pushsection .text\n"
	"exempt_begin:\n"
	"exempt_call:\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	"	ret\n"
	"exempt_return:\n"
	"	movq $15, %rax\n"
	"	syscall\n"
	"	ret\n"
	"exempt_end:\n"
	".popsection\n");

static bool in_section(void)
{
	return __atomic_load_n(&lock.__data.__owner, __ATOMIC_RELAXED) == own_tid ||
	       __atomic_load_n(&inner.__data.__owner, __ATOMIC_RELAXED) == own_tid ||
	       __atomic_load_n(&rwlock.__data.__cur_writer, __ATOMIC_RELAXED) == own_tid;
}

static void count(long call, const ucontext_t *context)
{
	const greg_t *reg = context->uc_mcontext.gregs;

	if (in_section())
		__atomic_add_fetch(&calls[call & (NUMBERS - 1)], 1, __ATOMIC_RELAXED);
	else if (call == SYS_futex && reg[REG_RDI] == (greg_t)&lock &&
		 (reg[REG_RSI] & FUTEX_CMD_MASK) == FUTEX_WAIT)
		waited = true;
}

/* Counts the call, makes it, and gives its result to whoever made it. */
static void on_call(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	long call = info->si_syscall;

	(void)number;
	count(call, context);
	reg[REG_RAX] = exempt_call(call, reg[REG_RDI], reg[REG_RSI], reg[REG_RDX], reg[REG_R10],
				   reg[REG_R8], reg[REG_R9]);
}

/* The kernel's struct sigaction: libc's has a return of its own. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* No signal comes while ours is blocked: a call of the other handler's would end the process. */
static void set_handler(void)
{
	struct action action = {on_call, SA_SIGINFO | 0x04000000 /* SA_RESTORER */, exempt_return,
				~UINT64_C(0)};

	if (exempt_call(SYS_rt_sigaction, SIGSYS, (long)&action, 0, 8, 0, 0))
		exit(77);
}

/* The recorder's handler of samples: a signal in a section is counted, the handler's calls are not.
 */
static void (*take_sample)(int, siginfo_t *, void *);

static void on_sample(int number, siginfo_t *info, void *context)
{
	char watched = selector;

	selector = ALLOW;
	if (watched == BLOCK && in_section())
		__atomic_add_fetch(&samples, 1, __ATOMIC_RELAXED);
	take_sample(number, info, context);
	selector = watched;
}

static void wrap_samples(void)
{
	struct action action;

	if (exempt_call(SYS_rt_sigaction, SIGPROF, 0, (long)&action, 8, 0, 0))
		exit(1);
	take_sample = action.handler;
	if ((uintptr_t)take_sample <= 1) /* SIG_DFL, SIG_IGN */
		return;
	action.handler = on_sample;
	action.restorer = exempt_return;
	if (exempt_call(SYS_rt_sigaction, SIGPROF, (long)&action, 0, 8, 0, 0))
		exit(1);
}

static void dispatch(void)
{
	own_tid = gettid();
	if (exempt_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
			(long)exempt_begin, exempt_end - exempt_begin, (long)&selector, 0))
		exit(77);
}

static void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += (uint64_t)i;
}

/* Nobody else wants it. */
static void section_free(void)
{
	pthread_mutex_lock(&lock);
	work(20);
	pthread_mutex_unlock(&lock);
	pthread_rwlock_wrlock(&rwlock);
	work(20);
	pthread_rwlock_unlock(&rwlock);
}

static void section_nested(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&inner);
	work(10);
	pthread_mutex_unlock(&inner);
	if (!pthread_mutex_trylock(&inner))
		pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&lock);
}

/* Another proc has another ring, which gets its memory when it is first used. */
static void stay_on_proc(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((unsigned int)sched_getcpu(), &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		exit(1);
}

/* Those before the last ones warm up: a ring, and the tables, get their memory when it is first
 * used. */
static void sections(void (*section)(void), int warm_up)
{
	stay_on_proc();
	for (int i = 0; i < warm_up + SECTIONS; i++) {
		selector = i >= warm_up ? BLOCK : ALLOW;
		section();
		selector = ALLOW;
		if (i % PACE == 0)
			usleep(2000); /* the drainer keeps up */
	}
}

/* Until somebody else waits for the lock, which the thread holds. */
static void be_wanted(void)
{
	char watched = selector;

	selector = ALLOW;
	for (int i = 0; i < 1000 && __atomic_load_n(&lock.__data.__lock, __ATOMIC_RELAXED) != 2;
	     i++)
		sched_yield();
	selector = watched;
}

/* Calls are handed over all the time: whose they are is told by the owner of the lock. */
static void *wants(void *control)
{
	dispatch();
	for (int i = 0; i < WARM_UP / 8; i++) {
		waited = false;
		selector = i >= WARM_UP / 16 ? BLOCK : ALLOW;
		pthread_mutex_lock(&lock);
		if (control)
			syscall(SYS_getppid);
		if (i % 4 == 0)
			be_wanted();
		work(400);
		pthread_mutex_unlock(&lock);
		selector = ALLOW;
		__atomic_add_fetch(&waits, waited, __ATOMIC_RELAXED);
		work(200);
	}
	return NULL;
}

/* Whose ring gets its memory: changes of labels are events. */
static void fill_ring(size_t cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(1);
	for (int i = 0; i < WARM_UP; i++) {
		trace_labels_set(set);
		trace_labels_set(NULL);
		if (i % PACE == 0)
			usleep(500);
	}
}

/* Stays on two procs. */
static void fill_rings(void)
{
	cpu_set_t all, some;

	CPU_ZERO(&some);
	if (sched_getaffinity(0, sizeof(all), &all))
		exit(1);
	for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < 2; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		fill_ring(cpu);
		CPU_SET(cpu, &some);
	}
	if (sched_setaffinity(0, sizeof(some), &some))
		exit(1);
}

static int wait_in_turn(bool control)
{
	pthread_t thread[3];

	fill_rings();
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, wants, control ? &lock : NULL))
			exit(1);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return 3 * (WARM_UP / 8 - WARM_UP / 16);
}

/* Under a label set of the section's own. */
static void section_labels(void)
{
	const struct trace_labels *before;

	pthread_mutex_lock(&lock);
	before = trace_labels_set(trace_labels_copy(set));
	work(10);
	trace_labels_destroy(trace_labels_set(before));
	pthread_mutex_unlock(&lock);
}

static void section_control(void)
{
	pthread_mutex_lock(&lock);
	syscall(SYS_getppid);
	pthread_mutex_unlock(&lock);
}

static void tell(int n_sections)
{
	uint64_t all = 0;

	for (int i = 0; i < NUMBERS; i++)
		all += calls[i];
	printf("sections %d waits %llu samples %llu calls %llu:", n_sections,
	       (unsigned long long)waits, (unsigned long long)samples, (unsigned long long)all);
	for (int i = 0; i < NUMBERS; i++)
		if (calls[i])
			printf(" %d %llu", i, (unsigned long long)calls[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	void (*section)(void) = !strcmp(what, "nested")	   ? section_nested
				: !strcmp(what, "control") ? section_control
				: !strcmp(what, "labels")  ? section_labels
							   : section_free;
	const struct trace_label label = {.key = "section", .value = "critical"};
	int n = SECTIONS;

	if (trace_labels_create(&set, NULL, &label, 1))
		return 1;
	wrap_samples();
	set_handler();
	dispatch();
	if (!strncmp(what, "held", 4)) {
		n = wait_in_turn(!strcmp(what, "held-control"));
	} else {
		sections(section, WARM_UP);
	}
	tell(n);
	return 0;
}
#endif
