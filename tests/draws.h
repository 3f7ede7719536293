/*
 * draws.h - numbers at random, the same ones again for the same seed: for what tests make up.
 *
 * `state` is the seed, and then what the next draw comes from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_DRAWS_H
#define TESTS_DRAWS_H

#include <math.h>
#include <stdint.h>

/* From 0 on, less than 1. */
static inline double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* A length that is as likely to end at each moment: so long on average. */
static inline double exponential(uint64_t *state, double mean)
{
	return -mean * log(1 - uniform(state));
}

#endif
