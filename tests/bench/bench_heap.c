/*
 * bench_heap.c - what malloc() and free() cost: of a pair that does nothing else, and in a program
 * that does little else.  bench_heap [OBJECTS]: thousands, that the second allocates (default
 * 2000).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include "bench.h"

enum { PAIRS = 100000, ROUNDS = 51, LIVE = 20000, DEPTH = 8 };

/* Not known to the compiler as what they are. */
static void *(*volatile allocate)(size_t n) = malloc;
static void (*volatile release)(void *object) = free;

static double pair_ns(void)
{
	struct bench_series series = {.n = 0};

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t since = bench_now_ns();

		for (int i = 0; i < PAIRS; i++)
			release(allocate(64));
		bench_add(&series, (double)(bench_now_ns() - since) / PAIRS);
	}
	return bench_median(&series);
}

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static char *live[LIVE];

/* Frames of their own: a stack as deep as those of programs. */
static __attribute__((noinline)) void replace(unsigned int depth, uint32_t random)
{
	char **at = &live[random % LIVE];
	size_t n = 16 + (random >> 8) % 1000;

	if (depth) {
		replace(depth - 1, random);
		__asm__ volatile("" ::: "memory");
		return;
	}
	release(*at);
	*at = allocate(n);
	if (*at)
		memset(*at, 1, n < 64 ? n : 64);
}

static double heavy_seconds(unsigned long objects)
{
	uint64_t since = bench_now_ns();
	uint32_t state = 1;

	while (objects--)
		replace(DEPTH, next(&state));
	return (double)(bench_now_ns() - since) / 1e9;
}

int main(int argc, char **argv)
{
	unsigned long thousands = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;

	bench_pin(0);
	bench_print("pair_ns", pair_ns());
	bench_print("seconds", heavy_seconds(thousands * 1000));
	return 0;
}
