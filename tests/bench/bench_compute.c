/*
 * bench_compute.c - a program that does not wait at all: one thread for each processor, each with
 * the same amount of arithmetic.  Prints the seconds that it took, from the inside.
 *
 *   bench_compute [MILLIONS_OF_ROUNDS]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };
static uint64_t rounds = 400000000;

static void *compute(void *arg)
{
	uint64_t x = (uint64_t)(uintptr_t)arg + 1;

	for (uint64_t i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return (void *)(uintptr_t)(x | 1);
}

int main(int argc, char **argv)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[THREADS_MAX];
	struct timespec began, ended;

	if (argc > 1)
		rounds = strtoull(argv[1], NULL, 10) * 1000000;
	if (n < 1 || n > THREADS_MAX)
		n = n < 1 ? 1 : THREADS_MAX;
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (long i = 1; i < n; i++)
		if (pthread_create(&thread[i], NULL, compute, (void *)i))
			return 1;
	compute(NULL);
	for (long i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	printf("seconds\t%.6f\n", (double)(ended.tv_sec - began.tv_sec) +
					  (double)(ended.tv_nsec - began.tv_nsec) * 1e-9);
	return 0;
}
