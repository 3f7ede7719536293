/*
 * order.h - the order of times, for qsort().
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

#endif
