/*
 * same.h - for programs that say what each libc call did, to be run plain and interposed: what
 * they print must be the same.
 */
#ifndef TRC_TESTS_INTERPOSE_SAME_H
#define TRC_TESTS_INTERPOSE_SAME_H

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A call that returns an error number. */
static inline void tell(const char *what, int result)
{
	const char *name = result >= 0 ? strerrorname_np(result) : NULL;

	if (name)
		printf("%-60s %s\n", what, name);
	else
		printf("%-60s %d\n", what, result);
	fflush(stdout);
}

/* A call that returns -1 and sets errno. */
#define TELL_ERRNO(what, call)                                                                     \
	do {                                                                                       \
		errno = 0;                                                                         \
		long tell_result = (long)(call);                                                   \
		tell(what, tell_result == -1 ? errno : 0);                                         \
		if (tell_result != -1)                                                             \
			tell("  and leaves errno", errno);                                         \
	} while (0)

static inline struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static inline void *run_thread(void *(*start)(void *), void *arg)
{
	pthread_t thread;
	void *value;

	if (pthread_create(&thread, NULL, start, arg) || pthread_join(thread, &value))
		abort();
	return value;
}

#endif
