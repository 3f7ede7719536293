/*
 * often.h - checks of what is compared thousands of times.
 *
 * libcheck sends a message to the parent process for each ck_assert_...(): a million of them take seconds,
 * and minutes under a sanitizer.  These send none unless they fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_OFTEN_H
#define TESTS_OFTEN_H

#include <check.h>
#include <stdint.h>

#define expect(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg("%s does not hold", #condition);                              \
	} while (0)

/* The other arguments say what the failure is, as printf() writes it. */
#define expect_msg(condition, ...)                                                                 \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

#define expect_same(got, wanted)                                                                   \
	expect_same_numbers((uint64_t)(got), (uint64_t)(wanted), #got, #wanted)
static inline void expect_same_numbers(uint64_t got, uint64_t wanted, const char *got_text,
				       const char *wanted_text)
{
	if (got != wanted)
		ck_abort_msg("%s is %llu (%lld), not %s, which is %llu", got_text,
			     (unsigned long long)got, (long long)got, wanted_text,
			     (unsigned long long)wanted);
}

#endif
