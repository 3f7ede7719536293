/*
 * bench_empty.c - the call that does nothing, to compare with; a shared library of its own,
 * since libtrc is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

__attribute__((visibility("default"))) void bench_empty(const char *name, int64_t value)
{
	__asm__ volatile("" : : "r"(name), "r"(value));
}
