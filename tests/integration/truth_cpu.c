/*
 * truth_cpu.c - a program that measures where its CPU time goes, so that samples of it can be
 * judged.
 *
 *   truth_cpu threads           three threads, each with shares of its own
 *   truth_cpu churn N           N threads one after the other, each shorter than a sample's period
 *   truth_cpu children          a child that is forked, and one by vfork
 *   truth_cpu execs N           executes itself N times, SIGPROF blocked at every other
 *   truth_cpu blocked           SIGPROF blocked for most of the time
 *   truth_cpu closes            closes all its descriptors half way, by system calls
 *   truth_cpu before FILE       records itself; its threads are there before
 *
 * Output: "cpu", tid, function, nanoseconds of the thread's CPU time, separated by tabs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trc/trace.h>

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void tell(const char *function, uint64_t ns)
{
	printf("cpu\t%ld\t%s\t%llu\n", syscall(SYS_gettid), function, (unsigned long long)ns);
	fflush(stdout);
}

/* Each a function of its own, never inlined, that uses this much CPU time of its thread. */
#define BURN(name)                                                                                 \
	__attribute__((noinline)) static void name(unsigned int ms)                                \
	{                                                                                          \
		uint64_t from = cpu_ns(CLOCK_THREAD_CPUTIME_ID), now = from;                       \
		volatile unsigned int n = 0;                                                       \
                                                                                                   \
		while (now - from < ms * UINT64_C(1000000)) {                                      \
			for (unsigned int i = 0; i < 50000; i++)                                   \
				n = n + i;                                                         \
			now = cpu_ns(CLOCK_THREAD_CPUTIME_ID);                                     \
		}                                                                                  \
		tell(#name, now - from);                                                           \
	}
BURN(burn_alpha)
BURN(burn_beta)
BURN(burn_gamma)
BURN(burn_delta)

static void *first(void *unused)
{
	burn_alpha(300);
	burn_beta(100);
	return unused;
}

static void *second(void *unused)
{
	burn_beta(150);
	burn_gamma(250);
	return unused;
}

static int threads(void)
{
	pthread_t thread[2];

	pthread_create(&thread[0], NULL, first, NULL);
	pthread_create(&thread[1], NULL, second, NULL);
	burn_delta(200);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}

/* ---- short threads --------------------------------------------------------------------- */

static void *short_life(void *unused)
{
	uint64_t from = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	volatile unsigned int n = 0;

	while (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - from < 3000000)
		for (unsigned int i = 0; i < 10000; i++)
			n = n + i;
	return unused;
}

static int churn(unsigned int n)
{
	uint64_t from;
	pthread_t thread;

	from = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned int i = 0; i < n; i++) {
		pthread_create(&thread, NULL, short_life, NULL);
		pthread_join(thread, NULL);
	}
	tell("short_life", cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - from);
	return 0;
}

/* ---- children -------------------------------------------------------------------------- */

static int children(void)
{
	int status, vfork_status;
	pid_t child = fork();

	if (child == 0) {
		burn_alpha(200);
		_exit(0);
	}
	waitpid(child, &status, 0);
	child = vfork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &vfork_status, 0);
	burn_beta(200);
	return status || vfork_status;
}

/* ---- exec ------------------------------------------------------------------------------ */

static int execs(unsigned int n)
{
	char left[16];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	sigprocmask(n % 2 ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
	if (!n) {
		burn_alpha(100);
		return execl("/nonexistent", "none", (char *)NULL) != -1;
	}
	for (volatile unsigned int i = 0; i < 300000; i++)
		;
	if (n == 1) {
		execl("/nonexistent", "none", (char *)NULL);
		burn_beta(100);
	}
	snprintf(left, sizeof(left), "%u", n - 1);
	execl("/proc/self/exe", "truth_cpu", "execs", left, (char *)NULL);
	return 1;
}

/* ---- unfriendly programs --------------------------------------------------------------- */

static int blocked(void)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	burn_alpha(100);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	burn_beta(300);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	burn_gamma(100);
	return 0;
}

static int closes(void)
{
	int out = dup(1);

	burn_alpha(100);
	for (int fd = 0; fd < 20000; fd++)
		if (fd != out)
			syscall(SYS_close, fd); /* which nobody sees: sampled_guest.c closes them by libc */
	dup2(out, 1);
	burn_beta(100);
	return threads();
}

/* ---- threads from before --------------------------------------------------------------- */

static atomic_bool go;

static void *early(void *unused)
{
	while (!atomic_load(&go)) /* without a call that the recorder would see */
		syscall(SYS_sched_yield);
	burn_alpha(300);
	return unused;
}

static int before(const char *path)
{
	pthread_t thread;

	pthread_create(&thread, NULL, early, NULL);
	if (trace_start(path, NULL)) {
		fprintf(stderr, "%s\n", trace_last_error());
		return 1;
	}
	atomic_store(&go, true);
	burn_beta(200);
	pthread_join(thread, NULL);
	return trace_stop() != 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "threads";

	if (!strcmp(mode, "threads"))
		return threads();
	if (!strcmp(mode, "churn") && argc > 2)
		return churn((unsigned int)atoi(argv[2]));
	if (!strcmp(mode, "execs") && argc > 2)
		return execs((unsigned int)atoi(argv[2]));
	if (!strcmp(mode, "children"))
		return children();
	if (!strcmp(mode, "blocked"))
		return blocked();
	if (!strcmp(mode, "closes"))
		return closes();
	if (!strcmp(mode, "before") && argc > 2)
		return before(argv[2]);
	return 2;
}
