/*
 * bench_labels.c - what labels cost the thread that sets them.
 *
 *   bench_labels TRACE
 *
 * Two prebuilt sets in turn, with nothing recording and while recording, in bursts that fit the
 * ring; and a scope, which makes a set, puts it in force and restores what was before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <trc/labels.h>
#include "bench.h"

enum { BURST = 20000, ROUNDS = 60, PAUSE_MS = 8 };

static volatile uint64_t blackhole;

static double per_call(uint64_t from_ns)
{
	return (double)(bench_now_ns() - from_ns) / BURST;
}

static double burst_ticks(void)
{
	uint64_t from = bench_now_ns(), sum = 0;

	for (int i = 0; i < BURST; i++)
		sum += bench_ticks();
	blackhole = sum;
	return per_call(from);
}

static const struct trace_labels *prebuilt(const char *value)
{
	const struct trace_label label = {"tenant", value, 0, NULL};
	const struct trace_labels *labels;

	if (trace_labels_create(&labels, NULL, &label, 1)) {
		fprintf(stderr, "bench_labels: %s\n", trace_last_error());
		exit(1);
	}
	return labels;
}

/* Each call puts in force what the one before it took out. */
static double burst_sets(void)
{
	const struct trace_labels *spare = prebuilt("spare");
	uint64_t from = bench_now_ns();
	double ns;

	for (int i = 0; i < BURST; i++)
		spare = trace_labels_set(spare);
	ns = per_call(from);
	trace_labels_destroy(spare);
	return ns;
}

static double burst_scopes(void)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++) {
		TRACE_LABELS("request", i & 255);
	}
	return per_call(from);
}

static void measure(const char *set_name, const char *scope_name, const char *ratio_name)
{
	struct bench_series set = {.n = 0}, scope = {.n = 0}, ratio = {.n = 0};

	for (int i = 0; i < ROUNDS; i++) {
		double t = burst_ticks(), s = burst_sets();

		bench_sleep_ms(PAUSE_MS);
		bench_add(&scope, burst_scopes());
		bench_sleep_ms(PAUSE_MS);
		bench_add(&set, s);
		bench_add(&ratio, s / t);
	}
	bench_print(set_name, bench_median(&set));
	bench_print(scope_name, bench_median(&scope));
	bench_print(ratio_name, bench_median(&ratio));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bench_labels TRACE\n");
		return 2;
	}
	trace_labels_set(prebuilt("42"));
	measure("off_set_ns", "off_scope_ns", "off_over_rdtsc");
	if (trace_start(argv[1], NULL)) {
		fprintf(stderr, "bench_labels: %s\n", trace_last_error());
		return 1;
	}
	measure("set_ns", "scope_ns", "set_over_rdtsc");
	return trace_stop() ? 1 : 0;
}
