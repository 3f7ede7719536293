/*
 * bench_threads.c - what every one of many threads is doing: how long it takes to know, and for
 * how long each is interrupted.
 *
 *   bench_threads cold|recorded THREADS
 *
 * cold: nothing was recorded when they began to wait, so that each has to be asked.  recorded:
 * those that have a slot have told their stack already.
 *
 * Linked with the objects of libtrc, to see what recorders do not write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <trc/trace.h>
#include "recorder/profile/thread_profile.h"
#include "bench.h"

enum { ROUNDS = 7, STACK_BYTES = 128 << 10, CALLS_BETWEEN = 11 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static _Atomic unsigned int n_waiting;
static volatile bool done; /* never */
static volatile int depth_reached;

__attribute__((noinline)) static void wait_for_ever(void)
{
	pthread_mutex_lock(&mutex);
	n_waiting++;
	while (!done)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void call_down(int depth)
{
	if (depth == 1)
		wait_for_ever();
	else
		call_down(depth - 1);
	depth_reached = depth;
}

static void *run(void *arg)
{
	call_down(CALLS_BETWEEN);
	return NULL;
}

static bool start_threads(unsigned int n)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (unsigned int i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attr, run, NULL)) {
			fprintf(stderr, "bench_threads: no more than %u threads\n", i);
			return false;
		}
	}
	while (n_waiting < n)
		bench_sleep_ms(10);
	bench_sleep_ms(500);
	return true;
}

static bool start_recording(void)
{
	if (!trace_flight_start(NULL))
		return true;
	fprintf(stderr, "bench_threads: %s\n", trace_last_error());
	return false;
}

static unsigned int without_stack(const struct trc_thread_profile *p)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < p->n_rows; i++)
		n += !p->row[i].n_frames;
	return n;
}

/* Of all threads. */
static double processor_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static int measure(void)
{
	struct bench_series ms = {.n = 0}, cpu_ms = {.n = 0}, longest_us = {.n = 0};
	unsigned int n_incomplete = 0, n_asked = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct trc_thread_profile *p;
		double before_ms = processor_ms();

		if (trc_thread_profile_take(&p, 0))
			return 1;
		bench_add(&ms, (double)p->duration_ns / 1e6);
		bench_add(&cpu_ms, processor_ms() - before_ms);
		bench_add(&longest_us, (double)p->longest_ns / 1e3);
		n_incomplete += without_stack(p);
		n_asked = p->n_asked;
		trc_thread_profile_free(p);
		bench_sleep_ms(200);
	}
	bench_print("threads_ms", bench_median(&ms));
	bench_print("threads_cpu_ms", bench_median(&cpu_ms));
	bench_print("threads_longest_us", bench_median(&longest_us));
	bench_print("threads_incomplete", n_incomplete);
	bench_print("threads_asked", n_asked);
	return 0;
}

int main(int argc, char **argv)
{
	bool recorded = argc == 3 && !strcmp(argv[1], "recorded");
	unsigned int n = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;
	int status;

	if (!n) {
		fprintf(stderr, "usage: bench_threads cold|recorded THREADS\n");
		return 2;
	}
	if ((recorded && !start_recording()) || !start_threads(n) ||
	    (!recorded && !start_recording()))
		return 1;
	status = measure();
	trace_flight_stop();
	fflush(stdout);
	_Exit(status);
}
