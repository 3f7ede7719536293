/*
 * favoured.c - one thread that does different kinds of work by turns, of which samples have to take equal notice: it
 * computes, takes free locks, allocates, calls the kernel, and is deep in calls.  Prints the processor time of each kind
 * by the thread's own clock, a line each: the function, nanoseconds, separated by a tab.
 *
 *   favoured MILLISECONDS
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_NS = 150000, DEEP = 200 };

static volatile uint64_t sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void compute(int n)
{
	for (int i = 0; i < n; i++)
		sink += (uint64_t)i * 3;
}

/* A few microseconds of each kind, between two looks at the clock. */
static void some_computing(void)
{
	compute(5000);
}
static void some_locking(void)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mutex);
		sink++;
		pthread_mutex_unlock(&mutex);
	}
}
static void some_allocating(void)
{
	for (int i = 0; i < 200; i++) {
		void *volatile object = malloc(16 + (size_t)i % 500);

		free(object);
	}
}
static void some_calling(void)
{
	for (int i = 0; i < 30; i++)
		sink += (uint64_t)syscall(SYS_getppid);
}
__attribute__((noinline)) static uint64_t deeper(int n)
{
	if (!n) {
		compute(3000);
		return sink;
	}
	return deeper(n - 1) + 1;
}
static void some_deep(void)
{
	sink += deeper(DEEP);
}

/* The function that the samples are looked for in: it begins and ends at its own readings of the clock. */
#define KIND(name, some)                                                                           \
	__attribute__((noinline)) static uint64_t name(void)                                       \
	{                                                                                          \
		uint64_t begin_ns = cpu_ns(), now_ns;                                              \
                                                                                                   \
		do {                                                                               \
			some();                                                                    \
			now_ns = cpu_ns();                                                         \
		} while (now_ns - begin_ns < SLICE_NS);                                            \
		return now_ns - begin_ns;                                                          \
	}

KIND(work_compute, some_computing)
KIND(work_lock, some_locking)
KIND(work_allocate, some_allocating)
KIND(work_call, some_calling)
KIND(work_deep, some_deep)

static struct kind {
	const char *name;
	uint64_t (*work)(void);
	uint64_t ns;
} kinds[] = {
	{"work_compute", work_compute, 0},   {"work_lock", work_lock, 0},
	{"work_allocate", work_allocate, 0}, {"work_call", work_call, 0},
	{"work_deep", work_deep, 0},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* In an order that keeps no step with anything. */
int main(int argc, char **argv)
{
	uint64_t all_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000) * 1000000;
	uint64_t state = 1, end_ns = cpu_ns() + all_ns;

	while (cpu_ns() < end_ns) {
		struct kind *kind;

		state = state * 6364136223846793005u + 1442695040888963407u;
		kind = &kinds[(state >> 33) % KINDS];
		kind->ns += kind->work();
	}
	for (size_t i = 0; i < KINDS; i++)
		printf("%s\t%llu\n", kinds[i].name, (unsigned long long)kinds[i].ns);
	return 0;
}
