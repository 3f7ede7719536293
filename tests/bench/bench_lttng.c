/*
 * bench_lttng.c - what one event of LTTng-UST costs, measured as bench_event.c measures ours.
 *
 * Needs a session daemon and a session with trc_bench:counter enabled: run.sh sees to them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_lttng_tp.h"
#include "bench.h"

enum { BURST = 20000, ROUNDS = 60, PAUSE_MS = 8 };

int main(void)
{
	struct bench_series event = {.n = 0};

	if (!lttng_ust_tracepoint_enabled(trc_bench, counter)) {
		fprintf(stderr, "bench_lttng: no session has the event enabled\n");
		return 1;
	}
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = bench_now_ns();

		for (int i = 0; i < BURST; i++)
			lttng_ust_tracepoint(trc_bench, counter, 1, i);
		bench_add(&event, (double)(bench_now_ns() - from) / BURST);
		bench_sleep_ms(PAUSE_MS);
	}
	bench_print("lttng_event_ns", bench_median(&event));
	return 0;
}
