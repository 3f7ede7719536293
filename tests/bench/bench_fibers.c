/*
 * bench_fibers.c - what it costs a scheduler to tell of its fibers.
 *
 *   bench_fibers TRACE
 *
 * One thread that goes from one fiber to another and back, with nothing recording and while
 * recording, in bursts that fit the ring; beside it what glibc's swapcontext() takes for the change
 * of stacks that such a scheduler makes each time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <trc/fiber.h>
#include <trc/labels.h>
#include <ucontext.h>
#include "bench.h"

enum { BURST = 10000, ROUNDS = 60, PAUSE_MS = 8, STACK_BYTES = 64 << 10 };

static struct trace_fiber *one, *other, *labelled;
static ucontext_t here, there;

static double per_call(uint64_t from_ns)
{
	return (double)(bench_now_ns() - from_ns) / BURST;
}

static double burst_switches(struct trace_fiber *a, struct trace_fiber *b,
			     enum trace_fiber_leave how)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i += 2) {
		trace_fiber_switch(a, how, &here);
		trace_fiber_switch(b, how, &here);
	}
	return per_call(from);
}

static double burst_ready(void)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++)
		trace_fiber_ready(one);
	return per_call(from);
}

static void come_back(void)
{
	for (;;)
		swapcontext(&there, &here);
}

static double burst_contexts(void)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i += 2)
		swapcontext(&here, &there);
	return per_call(from);
}

static void fibers_make(void)
{
	{
		TRACE_LABELS("tenant", "one");
		one = trace_fiber_create("one");
		other = trace_fiber_create("other");
	}
	TRACE_LABELS("tenant", "two");
	labelled = trace_fiber_create("labelled");
}

static void measure_recording(void)
{
	struct bench_series going = {.n = 0}, labels = {.n = 0}, waits = {.n = 0}, ready = {.n = 0};

	for (int i = 0; i < ROUNDS; i++) {
		bench_add(&going, burst_switches(one, other, TRACE_FIBER_YIELD));
		bench_sleep_ms(PAUSE_MS);
		bench_add(&labels, burst_switches(one, labelled, TRACE_FIBER_YIELD));
		bench_sleep_ms(PAUSE_MS);
		bench_add(&waits, burst_switches(one, other, TRACE_FIBER_WAIT));
		bench_sleep_ms(PAUSE_MS);
		bench_add(&ready, burst_ready());
		bench_sleep_ms(PAUSE_MS);
	}
	bench_print("switch_ns", bench_median(&going));
	bench_print("labels_ns", bench_median(&labels));
	bench_print("wait_ns", bench_median(&waits));
	bench_print("ready_ns", bench_median(&ready));
}

static void measure_off(void)
{
	struct bench_series off = {.n = 0}, contexts = {.n = 0};

	for (int i = 0; i < ROUNDS; i++) {
		bench_add(&off, burst_switches(one, other, TRACE_FIBER_YIELD));
		bench_add(&contexts, burst_contexts());
	}
	bench_print("off_switch_ns", bench_median(&off));
	bench_print("swapcontext_ns", bench_median(&contexts));
}

int main(int argc, char **argv)
{
	static char stack[STACK_BYTES];

	if (argc != 2) {
		fprintf(stderr, "usage: bench_fibers TRACE\n");
		return 2;
	}
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, come_back, 0);
	fibers_make();
	measure_off();
	if (trace_start(argv[1], NULL)) {
		fprintf(stderr, "bench_fibers: %s\n", trace_last_error());
		return 1;
	}
	measure_recording();
	return trace_stop() ? 1 : 0;
}
