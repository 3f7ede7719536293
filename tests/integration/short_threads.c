/*
 * short_threads.c - many threads that live for less than the time between two samples, and one
 * function beside them that works for long.  Prints the processor time of both, by the threads' own
 * clocks, and how much of it began late: "short 3012.5 long 1498.2 late 20.1 1.5", in milliseconds.
 *
 * What waits for a processor often gets it when the kernel's tick takes it away from another program, and has done
 * its work before the next tick.
 *
 *   short_threads THREADS MICROSECONDS [FILES [SIGNALS]]
 *                                         there may be so many descriptors, and so many pending
 *                                         signals and timers
 *   short_threads execs N                 N execs that fail, each after 4 ms of work; prints the milliseconds of processor time
 *   short_threads tick                    prints how often the kernel looks at timers, in ns
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) void work_short(void);
__attribute__((noinline)) void work_long(void);

static volatile uint64_t sink;
static uint64_t short_ns;
static _Atomic uint64_t worked_ns, worked_late_ns;
static _Atomic uint64_t
	ready_ns; /* when a thread was made, or had done its work: the next may begin */

enum { LATE_NS = 500000 };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Hardly ever in the C library, which may have no frame pointers: the kernel cannot tell who called it. */
static void burn(uint64_t until_ns)
{
	while (cpu_ns() < until_ns)
		for (int i = 0; i < 5000; i++)
			sink += (uint64_t)i * 3;
}

void work_short(void)
{
	burn(short_ns);
	__asm__ volatile("");
}

void work_long(void)
{
	burn(cpu_ns() + short_ns / 2);
	__asm__ volatile("");
}

/* All of a thread's time is in work_short(), but for what starting and ending take. */
static void *one(void *arg)
{
	uint64_t begin_ns = cpu_ns();

	work_short();
	begin_ns = cpu_ns() - begin_ns;
	worked_ns += begin_ns;
	if (now_ns() - ready_ns > cpu_ns() + LATE_NS)
		worked_late_ns += begin_ns;
	ready_ns = now_ns();
	return arg;
}

/* Execs that fail, each after a while: more of them than threads must end before new ones take first samples. */
static int fail_to_exec(int n)
{
	char *const none[] = {"/nonexistent/program", NULL};

	for (int i = 0; i < n; i++) {
		work_long();
		execv(none[0], none);
	}
	printf("%.3f\n", (double)cpu_ns() / 1e6);
	return 0;
}

static int limit(int what, const char *most)
{
	struct rlimit limit = {(rlim_t)atoi(most), (rlim_t)atoi(most)};

	return setrlimit((__rlimit_resource_t)what, &limit);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000;
	uint64_t long_ns = 0, long_late_ns = 0, begin_ns;
	pthread_t thread;
	struct timespec tick;

	if (argc == 2 && !strcmp(argv[1], "tick")) {
		clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
		printf("%ld\n", tick.tv_nsec);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "execs")) {
		short_ns = 4000 * 1000;
		return fail_to_exec(atoi(argv[2]));
	}
	short_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 300) * 1000;
	if ((argc > 3 && limit(RLIMIT_NOFILE, argv[3])) ||
	    (argc > 4 && limit(RLIMIT_SIGPENDING, argv[4])))
		return 1;
	for (int i = 0; i < n; i++) {
		ready_ns = now_ns();
		if (pthread_create(&thread, NULL, one, NULL) || pthread_join(thread, NULL))
			return 1;
		begin_ns = cpu_ns();
		work_long();
		begin_ns = cpu_ns() - begin_ns;
		long_ns += begin_ns;
		if (now_ns() - ready_ns > begin_ns + LATE_NS)
			long_late_ns += begin_ns;
	}
	printf("short %.3f long %.3f late %.3f %.3f\n", (double)worked_ns / 1e6,
	       (double)long_ns / 1e6, (double)worked_late_ns / 1e6, (double)long_late_ns / 1e6);
	return 0;
}
