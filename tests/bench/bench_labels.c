/*
 * bench_labels.c - what labels cost the thread that sets them.
 *
 *   bench_labels TRACE
 *
 * Two prebuilt sets in turn, with nothing recording and while recording, in bursts that fit the
 * ring; then a scope, which has a set, puts it in force and restores what was before: the same set
 * each time; one of 256, which are more than a thread keeps; one that has never been before.  New
 * sets come last: they fill the table, and one that finds no room in it is recorded with
 * its bytes until the table's next epoch, which takes twice the time.  For the same reason each of
 * them is measured for itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <trc/labels.h>
#include "bench.h"

enum { BURST = 5000, ROUNDS = 100, PAUSE_MS = 20 };

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

static double burst_met(void)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++) {
		TRACE_LABELS("phase", "parse");
	}
	return per_call(from);
}

static double burst_scopes(void)
{
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++) {
		TRACE_LABELS("request", i & 255);
	}
	return per_call(from);
}

static double burst_new(void)
{
	static int64_t number = 1000;
	uint64_t from = bench_now_ns();

	for (int i = 0; i < BURST; i++) {
		TRACE_LABELS("request", number++);
	}
	return per_call(from);
}

/* What is printed: "PREFIXset_ns" and so on. */
static void print(const char *prefix, const char *name, struct bench_series *series)
{
	char whole[40];

	snprintf(whole, sizeof(whole), "%s%s", prefix, name);
	bench_print(whole, bench_median(series));
}

static void measure(const char *prefix)
{
	static double (*const scopes[])(void) = {burst_met, burst_scopes, burst_new};
	struct bench_series set = {.n = 0}, ratio = {.n = 0}, scope[3] = {{.n = 0}};

	for (int i = 0; i < ROUNDS; i++) {
		double t = burst_ticks(), s = burst_sets();

		bench_add(&set, s);
		bench_add(&ratio, s / t);
		bench_sleep_ms(PAUSE_MS);
	}
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < ROUNDS; i++) {
			bench_sleep_ms(PAUSE_MS);
			bench_add(&scope[k], scopes[k]());
		}
	}
	print(prefix, "set_ns", &set);
	print(prefix, "over_rdtsc", &ratio);
	print(prefix, "scope_met_ns", &scope[0]);
	print(prefix, "scope_ns", &scope[1]);
	print(prefix, "scope_new_ns", &scope[2]);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bench_labels TRACE\n");
		return 2;
	}
	trace_labels_set(prebuilt("42"));
	measure("off_");
	if (trace_start(argv[1], NULL)) {
		fprintf(stderr, "bench_labels: %s\n", trace_last_error());
		return 1;
	}
	measure("");
	return trace_stop() ? 1 : 0;
}
