/*
 * samples_due.c - uses CPU time in ways that samples may miss, and says how much in all.
 *
 *   blocked  with SIGPROF blocked half of the time: for long, and many times shortly
 *   open     never blocks it
 *   threads  in 3,000 threads of half a millisecond each, one after the other
 *   leaves   in 1,000 such threads; then becomes `open` by exec, without its environment, so without the recorder
 *
 * Output: nanoseconds; and how many of them went by without the program: between two looks at its
 * clock, which are some microseconds apart.  A hypervisor that takes a processor away for a while
 * need not say so, and what it takes counts as the thread's time; the kernel's timers stand still.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The shortest period that is sampled: in a shorter stall no sample is lost. */
enum { STALL_NS = 100000 };
static uint64_t stalled_ns; /* by one thread at a time */

static void *burn(void *us)
{
	uint64_t last = now_ns(CLOCK_THREAD_CPUTIME_ID), now;
	uint64_t until = last + (uintptr_t)us * UINT64_C(1000);
	volatile unsigned int n = 0;

	for (; last < until; last = now) {
		for (unsigned int i = 0; i < 1000; i++)
			n = n + i;
		now = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (now - last > STALL_NS)
			stalled_ns += now - last;
	}
	return NULL;
}

static void burn_half_blocked(uintptr_t us)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	burn((void *)us);
	sigprocmask(SIG_BLOCK, &set, NULL);
	burn((void *)us);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* As threads of servers and compressors do. */
static void *burn_all_blocked(void *us)
{
	sigset_t set;

	sigfillset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	return burn(us);
}

static void burn_in_threads(int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++) {
		pthread_create(&thread, NULL, burn, (void *)500);
		pthread_join(thread, NULL);
	}
}

static void tell_used(void)
{
	printf("%llu %llu\n", (unsigned long long)now_ns(CLOCK_PROCESS_CPUTIME_ID),
	       (unsigned long long)stalled_ns);
	fflush(stdout);
}

static void leave(char *program)
{
	char *argv[] = {program, "open", NULL}, *none[] = {NULL};

	burn_in_threads(1000);
	execve("/nothing/here", argv, none); /* one that fails changes nothing */
	tell_used();
	execve(program, argv, none);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(what, "blocked") == 0) {
		burn_half_blocked(300000);
		for (int i = 0; i < 100; i++)
			burn_half_blocked(1000);
	} else if (strcmp(what, "open") == 0) {
		burn((void *)800000);
	} else if (strcmp(what, "closed") == 0) {
		pthread_create(&thread, NULL, burn_all_blocked, (void *)800000);
		pthread_join(thread, NULL);
	} else if (strcmp(what, "threads") == 0) {
		burn_in_threads(3000);
	} else {
		if (strcmp(what, "leaves") == 0)
			leave(argv[0]);
		return 2;
	}
	tell_used();
	return 0;
}
