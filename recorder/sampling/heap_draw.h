/*
 * heap_draw.h - how far it is to the next sample.  Whole numbers only: the flags of the floating
 * point unit, which malloc() does not touch, are the program's.
 */
#ifndef TRC_RECORDER_SAMPLING_HEAP_DRAW_H
#define TRC_RECORDER_SAMPLING_HEAP_DRAW_H

#include <stdint.h>

/* -log2(u) for u = random / 2^64, with 32 bits behind the point; random is not 0. */
static inline uint64_t trc_heap_log2(uint64_t random)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(random);
	uint64_t m = random << zeros; /* [1, 2) with 63 bits behind the point */
	uint64_t fraction = 0;

	/* Squared, the logarithm is twice what it was: its whole part is the next bit. */
	for (unsigned int bit = 0; bit < 32; bit++) {
		unsigned __int128 square = (unsigned __int128)m * m;
		unsigned int carry = (unsigned int)(square >> 127);

		m = (uint64_t)(square >> (63 + carry));
		fraction = fraction << 1 | carry;
	}
	return ((uint64_t)(zeros + 1) << 32) - fraction;
}

/* Bytes up to and with the one that is drawn, if one in `period` is on average: exponential with
 * that mean, rounded up.  So s bytes hold it with probability 1 - exp(-s / period). */
static inline uint64_t trc_heap_distance(uint64_t random, uint64_t period)
{
	const uint64_t ln2 = 2977044472; /* with 32 bits behind the point */
	uint64_t log2 = trc_heap_log2(random ? random : 1);

	if (period <= 1)
		return 1;
	return (uint64_t)(((unsigned __int128)log2 * ln2 * period >> 64) + 1);
}

#endif
