/*
 * bench_unwind.c - what a stack of 16 frames costs: by cached rules, by frame pointers, and by
 * libunwind and the C library beside them.  Built with frame pointers (bench_unwind_fp) and
 * without.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>
#include "recorder/unwind/unwind.h"
#include "bench.h"

enum { FRAMES = 16, CALLS = 4000, ROUNDS = 101 };

typedef int backtrace_fn(void **, int);

static uint64_t frame[FRAMES];
static void *address[FRAMES];
static backtrace_fn *unw_backtrace;
static struct bench_series rules, pointers, libunwind, glibc;
static uint32_t frames_by_rules, frames_by_pointers;

static __attribute__((noinline)) uint32_t park(void)
{
	uint32_t n = trc_unwind(frame, FRAMES, 0);

	__asm__ volatile("" : "+r"(n));
	return n;
}

static double captures(enum trc_unwind_mode mode, uint32_t *frames)
{
	const char *note;
	uint64_t from;

	if (trc_unwind_setup(mode, &note) || note)
		exit(1);
	*frames = park(); /* the rules are known from here on */
	from = bench_now_ns();
	for (uint32_t i = 0; i < CALLS; i++)
		park();
	return (double)(bench_now_ns() - from) / CALLS;
}

static double backtraces(backtrace_fn *capture, uint32_t calls)
{
	uint64_t from;

	capture(address, FRAMES);
	from = bench_now_ns();
	for (uint32_t i = 0; i < calls; i++)
		capture(address, FRAMES);
	return (double)(bench_now_ns() - from) / calls;
}

static __attribute__((noinline)) void measure(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		bench_add(&rules, captures(TRC_UNWIND_AUTO, &frames_by_rules));
		bench_add(&pointers, captures(TRC_UNWIND_FP, &frames_by_pointers));
		if (unw_backtrace)
			bench_add(&libunwind, backtraces(unw_backtrace, CALLS));
		bench_add(&glibc, backtraces(backtrace, CALLS / 20));
	}
}

/* A chain of functions with frames of different sizes, as in real programs. */
#define LEVEL(name, words, next)                                                                   \
	static __attribute__((noinline)) uint32_t name(uint32_t x)                                 \
	{                                                                                          \
		volatile uint32_t local[words];                                                    \
		local[0] = x;                                                                      \
		next;                                                                              \
		return x + local[0];                                                               \
	}

LEVEL(f00, 3, measure())
LEVEL(f01, 9, x = f00(x))
LEVEL(f02, 30, x = f01(x))
LEVEL(f03, 5, x = f02(x))
LEVEL(f04, 3, x = f03(x))
LEVEL(f05, 12, x = f04(x))
LEVEL(f06, 66, x = f05(x))
LEVEL(f07, 7, x = f06(x))
LEVEL(f08, 3, x = f07(x))
LEVEL(f09, 20, x = f08(x))
LEVEL(f10, 5, x = f09(x))
LEVEL(f11, 3, x = f10(x))
LEVEL(f12, 100, x = f11(x))
LEVEL(f13, 3, x = f12(x))
LEVEL(f14, 11, x = f13(x))
LEVEL(f15, 3, x = f14(x))

int main(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_LOCAL | RTLD_NOW);
	void *symbol = library ? dlsym(library, "unw_backtrace") : NULL;

	memcpy(&unw_backtrace, &symbol, sizeof(symbol));
	bench_pin(0);
	f15(1);
	bench_print("frames_by_rules", frames_by_rules);
	bench_print("frames_by_pointers", frames_by_pointers);
	bench_print("unwind_rules_ns", bench_median(&rules));
	bench_print("unwind_pointers_ns", bench_median(&pointers));
	if (unw_backtrace)
		bench_print("unwind_libunwind_ns", bench_median(&libunwind));
	bench_print("unwind_glibc_ns", bench_median(&glibc));
	return frames_by_rules != FRAMES;
}
