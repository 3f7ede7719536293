/*
 * bench_mutex.c - an uncontended pthread mutex, taken and given back; knows nothing of trc.
 *
 * Prints nanoseconds a pair: the median of rounds.  Run it bare and under trace-record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include "bench.h"

enum { PAIRS = 2000000, ROUNDS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* glibc takes shortcuts while a process has a single thread. */
static void *second_thread(void *arg)
{
	return arg;
}

int main(void)
{
	struct bench_series pair = {.n = 0};
	pthread_t thread;

	if (pthread_create(&thread, NULL, second_thread, NULL))
		return 1;
	pthread_join(thread, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = bench_now_ns();

		for (int i = 0; i < PAIRS; i++) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		}
		bench_add(&pair, (double)(bench_now_ns() - from) / PAIRS);
	}
	bench_print("mutex_pair_ns", bench_median(&pair));
	return 0;
}
