/*
 * order.h - the order of times: for qsort(), and the earlier or later of two.
 */
#ifndef TRC_ANALYZER_MODEL_ORDER_H
#define TRC_ANALYZER_MODEL_ORDER_H

#include <stdint.h>

/* Of two int64_t: nanoseconds, the shortest first. */
static inline int trc_compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static inline int64_t trc_earlier_ns(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static inline int64_t trc_later_ns(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

#endif
