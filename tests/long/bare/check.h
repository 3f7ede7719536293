/* check.h - of libcheck what fixtures use, for programs that are no test of libcheck's. */
#ifndef TRC_TESTS_BARE_CHECK_H
#define TRC_TESTS_BARE_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ck_assert(x)                                                                               \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
#define ck_assert_int_eq(a, b) ck_assert((a) == (b))
#define ck_assert_int_ge(a, b) ck_assert((a) >= (b))
#define ck_assert_uint_eq(a, b) ck_assert((a) == (b))
#define ck_assert_uint_lt(a, b) ck_assert((a) < (b))
#define ck_assert_ptr_eq(a, b) ck_assert((a) == (b))
#define ck_assert_ptr_ne(a, b) ck_assert((a) != (b))
#define ck_assert_ptr_nonnull(a) ck_assert((a) != NULL)
#define ck_assert_ptr_null(a) ck_assert((a) == NULL)
#define ck_assert_str_eq(a, b) ck_assert(!strcmp((a), (b)))
#define ck_assert_msg(x, ...) ck_assert(x)

#endif
