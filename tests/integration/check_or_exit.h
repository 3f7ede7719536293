/* check_or_exit.h - for programs under test: what is not so ends them, with the line. */
#ifndef TRC_TESTS_INTEGRATION_CHECK_OR_EXIT_H
#define TRC_TESTS_INTEGRATION_CHECK_OR_EXIT_H

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #condition, errno);   \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#endif
