/*
 * bench_create.c - the processor time of a thread's start and end: threads that do nothing are
 * created and joined, one after the other, in bursts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include "bench.h"

enum { BURST = 100, ROUNDS = 60 };

static void *nothing(void *arg)
{
	return arg;
}

static double process_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

int main(void)
{
	struct bench_series us = {.n = 0};

	for (int i = 0; i < ROUNDS; i++) {
		double from = process_us();

		for (int k = 0; k < BURST; k++) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, nothing, NULL)) {
				perror("bench_create");
				return 1;
			}
			pthread_join(thread, NULL);
		}
		bench_add(&us, (process_us() - from) / BURST);
	}
	bench_print("create_us", bench_median(&us));
	return 0;
}
