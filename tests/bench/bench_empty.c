/*
 * bench_empty.c - the call that does nothing, to compare with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/bench/bench.h"

void bench_empty(const char *name, int64_t value)
{
	__asm__ volatile("" : : "r"(name), "r"(value));
}
