/*
 * bench_park.c - what it costs a thread to say that it begins to wait, stack of 16 frames included.
 *
 *   bench_park TRACE
 *
 * Linked with the objects of libtrc, to call trc_park() itself: around a real wait nobody could
 * tell the recording from the kernel.  Compiled twice, without and with frame pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <trc/trace.h>
#include "bench.h"
#include "recorder/ring/hot.h"

/* measure() and main() and what libc calls main() from make up the rest of the 16. */
enum { BURST = 8000, ROUNDS = 40, PAUSE_MS = 8, CALLS_BETWEEN = 11 };

static struct bench_series park, clock_read;
static volatile int depth_reached;
static double ns_per_tick;

static void measure_burst(void)
{
	uint64_t in_park = 0, in_nothing = 0;
	int object;

	for (int i = 0; i < BURST; i++) {
		struct trc_wait wait;
		uint64_t from = bench_ticks(), parked;

		trc_park(&wait, TRC_REASON_MUTEX, &object, 0);
		parked = bench_ticks();
		trc_resume(&wait, 0);
		in_park += parked - from;
	}
	for (int i = 0; i < BURST; i++) {
		uint64_t from = bench_ticks();

		in_nothing += bench_ticks() - from;
	}
	bench_add(&park, (double)in_park * ns_per_tick / BURST);
	bench_add(&clock_read, (double)in_nothing * ns_per_tick / BURST);
}

__attribute__((noinline)) static void measure(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		measure_burst();
		bench_sleep_ms(PAUSE_MS);
	}
	depth_reached = 0;
}

/* The store after the call keeps compilers from making a loop of it. */
__attribute__((noinline)) static void call_down(int depth)
{
	if (depth == 1)
		measure();
	else
		call_down(depth - 1);
	depth_reached = depth;
}

static void calibrate(void)
{
	uint64_t from_ns = bench_now_ns(), from = bench_ticks();

	bench_sleep_ms(100);
	ns_per_tick = (double)(bench_now_ns() - from_ns) / (double)(bench_ticks() - from);
}

int main(int argc, char **argv)
{
	struct trace_options options = TRACE_OPTIONS_INIT;

#ifdef TRC_BENCH_FRAME_POINTERS
	options.unwind = TRACE_UNWIND_FP;
#endif
	if (argc != 2 || trace_start(argv[1], &options)) {
		fprintf(stderr, "bench_park: %s\n",
			argc == 2 ? trace_last_error() : "no file named");
		return 1;
	}
	calibrate();
	call_down(CALLS_BETWEEN);
	if (trace_stop())
		return 1;
	bench_print("park_ns", bench_median(&park) - bench_median(&clock_read));
	bench_print("park_with_clock_ns", bench_median(&park));
	return 0;
}
