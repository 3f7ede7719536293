/*
 * power_of_two.h - sizes of hash tables and rings.
 */
#ifndef TRC_RECORDER_SHARED_POWER_OF_TWO_H
#define TRC_RECORDER_SHARED_POWER_OF_TWO_H

#include <stdint.h>

/* The least one that is `n` or more; `n` is 2^63 at most. */
static inline uint64_t trc_power_of_two(uint64_t n)
{
	uint64_t power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

#endif
