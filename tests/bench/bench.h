/*
 * bench.h - timing loops for the benchmark programs.
 *
 * A figure is a median over rounds; what is compared runs in turn within each round, so that
 * a machine that changes its pace changes it for both.  Programs print one line a figure,
 * separated by tabs: its name, the value.  run.sh knows the targets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_TESTS_BENCH_H
#define TRC_TESTS_BENCH_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_ROUNDS_MAX = 1024 };

struct bench_series {
	double value[BENCH_ROUNDS_MAX];
	unsigned int n;
};

static inline uint64_t bench_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static inline void bench_sleep_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

/* The calling thread stays on this processor, if there is such a one. */
static inline void bench_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline void bench_add(struct bench_series *s, double value)
{
	if (s->n < BENCH_ROUNDS_MAX)
		s->value[s->n++] = value;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(struct bench_series *s)
{
	qsort(s->value, s->n, sizeof(s->value[0]), bench_compare);
	if (!s->n)
		return 0;
	return s->n % 2 ? s->value[s->n / 2] : (s->value[s->n / 2 - 1] + s->value[s->n / 2]) / 2;
}

static inline void bench_print(const char *name, double value)
{
	printf("%s\t%.4f\n", name, value);
	fflush(stdout);
}

/* In a shared library of its own. */
void bench_empty(const char *name, int64_t value);

#endif
