/*
 * heap_draw.h - the distance to the next sample.  Whole numbers only: the flags of the floating
 * point unit, which malloc() does not touch, are the program's.
 */
#ifndef TRC_RECORDER_SAMPLING_HEAP_DRAW_H
#define TRC_RECORDER_SAMPLING_HEAP_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/* The product of numbers with 32 bits behind the point. */
static inline uint64_t trc_heap_product(uint64_t a, uint64_t b)
{
	return a * b >> 32;
}

/*
 * log2(m) for m in [1, 2] with 63 bits behind the point; the result has 32, of which the last few
 * are off.  With s = (m - 1) / (m + 1) it is 2 / ln 2 (s + s^3 / 3 + s^5 / 5 + ...); beyond the
 * square root of 2 it is 1 - log2(2 / m).  So s is at most 0.172, and 7 terms are enough.
 */
static inline uint64_t trc_heap_log2_of(uint64_t m)
{
	const uint64_t one = UINT64_C(1) << 32, root = UINT64_C(13043817825332782212);
	bool upper = m > root;
	uint64_t above = upper ? -m : m - (UINT64_C(1) << 63);
	uint64_t sum = (m >> 32) + (one >> 1 << upper); /* 31 bits behind the point */
	uint64_t s = above / sum, square = trc_heap_product(s, s), series = one / 13;

	series = one / 11 + trc_heap_product(square, series);
	series = one / 9 + trc_heap_product(square, series);
	series = one / 7 + trc_heap_product(square, series);
	series = one / 5 + trc_heap_product(square, series);
	series = one / 3 + trc_heap_product(square, series);
	series = one + trc_heap_product(square, series);
	s = trc_heap_product(trc_heap_product(s, series), UINT64_C(12392656037));
	return upper ? one - s : s;
}

/* -log2(u) for u = random / 2^64, with 32 bits behind the point; random is not 0. */
static inline uint64_t trc_heap_log2(uint64_t random)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(random);

	return ((uint64_t)(zeros + 1) << 32) - trc_heap_log2_of(random << zeros);
}

/* The number of bytes up to and with the next drawn byte, if one byte in `period` is drawn on
 * average: exponential with the mean `period`, rounded up.  So s bytes hold the drawn byte with
 * probability 1 - exp(-s / period). */
static inline uint64_t trc_heap_distance(uint64_t random, uint64_t period)
{
	const uint64_t ln2 = 2977044472; /* with 32 bits behind the point */
	uint64_t log2 = trc_heap_log2(random ? random : 1);

	if (period <= 1)
		return 1;
	return (uint64_t)(((unsigned __int128)log2 * ln2 * period >> 64) + 1);
}

#endif
