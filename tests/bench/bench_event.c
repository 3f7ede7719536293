/*
 * bench_event.c - what one event costs the thread that records it.
 *
 *   bench_event cost TRACE        bursts that fit the ring, beside a loop of bare clock reads
 *   bench_event sustain TRACE N   N events by as many threads as there are processors, flat out
 *
 * An event is trace_counter_set() with a literal name: two arguments, no stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <trc/trace.h>
#include "bench.h"

/* 20,000 records of four words are 640 kB: they fit every ring, whatever the drainer does. */
enum { BURST = 20000, ROUNDS = 60, PAUSE_MS = 8, THREADS_MAX = 64 };

static volatile uint64_t blackhole;

static double per_event(uint64_t from_ns)
{
	return (double)(bench_now_ns() - from_ns) / BURST;
}

static double burst_ticks(void)
{
	uint64_t from = bench_now_ns(), sum = 0;

	for (int i = 0; i < BURST; i++)
		sum += bench_ticks();
	blackhole = sum;
	return per_event(from);
}

static double burst_empty(void)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++)
		bench_empty("bench", i);
	return per_event(from);
}

static double burst_events(void)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++)
		trace_counter_set("bench", i);
	return per_event(from);
}

static double burst_computed(const char *name)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++)
		(trace_counter_set)(name, i);
	return per_event(from);
}

static void measure_off(void)
{
	struct bench_series empty = {.n = 0}, off = {.n = 0};
	double a, b;

	for (int i = 0; i < ROUNDS; i++) {
		bench_add(&empty, burst_empty());
		bench_add(&off, burst_events());
	}
	a = bench_median(&empty);
	b = bench_median(&off);
	bench_print("empty_call_ns", a);
	bench_print("off_event_ns", b);
	bench_print("off_over_empty_ns", b - a);
}

static void measure_on(void)
{
	struct bench_series ticks = {.n = 0}, event = {.n = 0}, computed = {.n = 0},
			    ratio = {.n = 0};
	char name[32];

	snprintf(name, sizeof(name), "computed %d", getpid());
	for (int i = 0; i < ROUNDS; i++) {
		double t = burst_ticks(), e = burst_events();

		bench_sleep_ms(PAUSE_MS);
		bench_add(&computed, burst_computed(name));
		bench_sleep_ms(PAUSE_MS);
		bench_add(&ticks, t);
		bench_add(&event, e);
		bench_add(&ratio, e / t);
	}
	bench_print("rdtsc_ns", bench_median(&ticks));
	bench_print("event_ns", bench_median(&event));
	bench_print("event_over_rdtsc", bench_median(&ratio));
	bench_print("computed_name_ns", bench_median(&computed));
}

/* ---- two threads at once ------------------------------------------------------------------- */

struct twin {
	pthread_t thread;
	int cpu;
	struct bench_series event;
};
static atomic_uint twins_there;

static void twins_meet(unsigned int meeting)
{
	twins_there++;
	while (twins_there < 2 * meeting)
		;
}

static void *twin_main(void *arg)
{
	struct twin *twin = arg;

	bench_pin(twin->cpu);
	trace_counter_set("warm", 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		twins_meet(i + 1);
		bench_add(&twin->event, burst_events());
		bench_sleep_ms(PAUSE_MS);
	}
	return NULL;
}

static void measure_two(void)
{
	static struct twin twin[2];

	for (int i = 0; i < 2; i++) {
		twin[i].cpu = i;
		if (pthread_create(&twin[i].thread, NULL, twin_main, &twin[i]))
			exit(1);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(twin[i].thread, NULL);
	bench_print("two_threads_first_ns", bench_median(&twin[0].event));
	bench_print("two_threads_second_ns", bench_median(&twin[1].event));
}

/* ---- as fast as it goes -------------------------------------------------------------------- */

static uint64_t sustain_events;

static void *sustain_main(void *arg)
{
	for (uint64_t i = 0; i < sustain_events; i++)
		trace_counter_set("sustained", (int64_t)i);
	return arg;
}

static void sustain(uint64_t events)
{
	long threads = sysconf(_SC_NPROCESSORS_ONLN) - 1; /* the drainer needs one */
	pthread_t thread[THREADS_MAX];
	uint64_t from = bench_now_ns(), emitted_ns, written_ns;

	threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
	sustain_events = events / (uint64_t)threads;
	for (long i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, sustain_main, NULL))
			exit(1);
	}
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	emitted_ns = bench_now_ns() - from;
	if (trace_stop())
		fprintf(stderr, "bench_event: %s\n", trace_last_error());
	written_ns = bench_now_ns() - from;
	bench_print("sustained_threads", (double)threads);
	bench_print("sustained_events", (double)(sustain_events * (uint64_t)threads));
	bench_print("sustained_emitted_per_s", (double)events * 1e9 / (double)emitted_ns);
	bench_print("sustained_written_per_s", (double)events * 1e9 / (double)written_ns);
}

int main(int argc, char **argv)
{
	bool cost = argc == 3 && !strcmp(argv[1], "cost");

	if (!cost && (argc != 4 || strcmp(argv[1], "sustain"))) {
		fprintf(stderr, "usage: bench_event cost TRACE | sustain TRACE EVENTS\n");
		return 2;
	}
	if (cost)
		measure_off();
	if (trace_start(argv[2], NULL)) {
		fprintf(stderr, "bench_event: %s\n", trace_last_error());
		return 1;
	}
	trace_counter_set("warm", 0);
	if (!cost) {
		sustain(strtoull(argv[3], NULL, 10));
		return 0;
	}
	measure_on();
	measure_two();
	return trace_stop() ? 1 : 0;
}
