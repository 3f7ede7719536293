/*
 * sanitized.h - whether this build has a sanitizer (make check sets TRC_SANITIZE): its malloc()
 * stands before libtrc's, which then has no profile of the heap, and its shadows count as memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_sanitized(void)
{
	const char *how = getenv("TRC_SANITIZE");

	return how && *how && strcmp(how, "no");
}

#endif
