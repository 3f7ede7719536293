/*
 * work.h - functions whose share of the CPU time is known beforehand.
 *
 * Each is a loop in which every step needs the result of the one before: as many rounds take
 * as long in one as in the other, and no compiler or processor can do two steps at once.  They
 * are aligned alike and are not merged, inlined or cloned.  A program prints, for each, its
 * name, a tab, and what the thread's own clock says it took, in nanoseconds: what a profile
 * can be held against if the machine did not keep its pace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_TESTS_BENCH_ACCURACY_WORK_H
#define TRC_TESTS_BENCH_ACCURACY_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__has_attribute) && __has_attribute(no_icf)
#define WORK_ATTRIBUTES noinline, aligned(64), no_icf
#else
#define WORK_ATTRIBUTES noinline, aligned(64)
#endif

#define WORK_FUNCTION(name)                                                                        \
	__attribute__((WORK_ATTRIBUTES)) static uint64_t name(uint64_t x, uint64_t rounds)         \
	{                                                                                          \
		for (uint64_t i = 0; i < rounds; i++) {                                            \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			x ^= x << 17;                                                              \
		}                                                                                  \
		return x;                                                                          \
	}

struct work {
	const char *name;
	uint64_t (*function)(uint64_t x, uint64_t rounds);
	uint64_t cpu_ns;
};

static inline uint64_t work_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Returns what the function made of x, so that nobody can leave it out. */
static inline uint64_t work_do(struct work *w, uint64_t x, uint64_t rounds)
{
	uint64_t began_ns = work_cpu_ns();

	x = w->function(x, rounds);
	w->cpu_ns += work_cpu_ns() - began_ns;
	return x;
}

static inline void work_print(const struct work *w, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		printf("%s\t%llu\n", w[i].name, (unsigned long long)w[i].cpu_ns);
}

/* The one argument: rounds, in thousands. */
static inline uint64_t work_rounds(int argc, char **argv, uint64_t otherwise)
{
	return 1000 * (argc > 1 ? strtoull(argv[1], NULL, 10) : otherwise);
}

#endif
