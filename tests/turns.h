/*
 * turns.h - which part of what a test does is this run's, where a run does not do all of it.
 *
 * A run with CI_SEED does one part of several, which the seed chooses; with CI_WHOLE=yes, or without a
 * seed, it does all of them (docs/hacking.md, "What takes turns").
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_TURNS_H
#define TESTS_TURNS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether the n-th of equal things is in this run's part of so many. */
static inline bool takes_turn(size_t n, unsigned int parts)
{
	const char *seed = getenv("CI_SEED"), *whole = getenv("CI_WHOLE");

	if (!seed || !*seed || (whole && !strcmp(whole, "yes")))
		return true;
	return (n + strtoul(seed, NULL, 10)) % parts == 0;
}

#endif
