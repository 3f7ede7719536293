/*
 * bench_lttng_tp.h - a tracepoint of LTTng-UST with two arguments, to compare with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER trc_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/bench_lttng_tp.h"

#if !defined(TRC_TESTS_BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRC_TESTS_BENCH_LTTNG_TP_H

#include <stdint.h>
#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
	trc_bench, counter,
	LTTNG_UST_TP_ARGS(uint64_t, name, int64_t, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, name, name)
		lttng_ust_field_integer(int64_t, value, value)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
