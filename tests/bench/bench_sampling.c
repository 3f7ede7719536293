/*
 * bench_sampling.c - two threads that only compute, in stacks of 16 frames.  Prints the
 * seconds that it took from beginning to end, and those of CPU time that both took.
 *
 *   bench_sampling [THOUSANDS_OF_LEAVES]     of each thread; one takes some 10 microseconds
 *
 * A leaf is reached by one of 64 ways, the next time by another: sampling such a program
 * meets stacks that it has seen before, but not always the same one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include "bench.h"

enum {
	THREADS = 2,
	FRAMES = 16,
	BELOW = 3, /* run(), and the two of the C library that call it */
	WAYS_LEVELS = 6,
	LEAF_ROUNDS = 3500,
};

struct computation {
	pthread_t thread;
	uint64_t result; /* so that nobody can leave the work out */
	double cpu_seconds;
};

static uint64_t leaves = 100000;

static uint64_t left(unsigned int way, unsigned int frames, uint64_t x);
static uint64_t right(unsigned int way, unsigned int frames, uint64_t x);

__attribute__((noinline)) static uint64_t leaf(uint64_t x)
{
	/* or it would have none, and a walk of frame pointers would leave out who called it */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (int i = 0; i < LEAF_ROUNDS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static inline uint64_t deeper(unsigned int way, unsigned int frames, uint64_t x)
{
	if (frames == 1)
		return leaf(x);
	return way & 1 ? right(way >> 1, frames - 1, x) : left(way >> 1, frames - 1, x);
}

/* What comes back is worked on, so that it has to come back: no call becomes a jump or a loop. */
__attribute__((noinline)) static uint64_t left(unsigned int way, unsigned int frames, uint64_t x)
{
	x = deeper(way, frames, x);
	return x ^ x >> 1;
}

__attribute__((noinline)) static uint64_t right(unsigned int way, unsigned int frames, uint64_t x)
{
	x = deeper(way, frames, x);
	return x ^ x >> 2;
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *run(void *arg)
{
	struct computation *c = arg;
	uint64_t x = 1;

	for (uint64_t i = 0; i < leaves; i++)
		x = deeper((unsigned int)i % (1 << WAYS_LEVELS), FRAMES - BELOW, x | 1);
	c->result = x;
	c->cpu_seconds = cpu_seconds();
	return NULL;
}

int main(int argc, char **argv)
{
	struct computation computation[THREADS];
	double sum = 0;
	uint64_t began_ns = bench_now_ns();

	if (argc > 1)
		leaves = strtoull(argv[1], NULL, 10) * 1000;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&computation[i].thread, NULL, run, &computation[i]))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(computation[i].thread, NULL);
		sum += computation[i].cpu_seconds;
	}
	bench_print("seconds", (double)(bench_now_ns() - began_ns) * 1e-9);
	bench_print("cpu_seconds", sum);
	return 0;
}
