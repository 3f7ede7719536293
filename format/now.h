/* now.h - the time by a clock of the kernel. */
#ifndef TRC_FORMAT_NOW_H
#define TRC_FORMAT_NOW_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds; the clock has to exist.  Context: any thread, signal handlers. */
static inline uint64_t trc_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The time in ns nanoseconds, as waits with a time limit want it.  Context: as above. */
static inline struct timespec trc_from_now(clockid_t clock, uint64_t ns)
{
	uint64_t until_ns = trc_now_ns(clock) + ns;

	return (struct timespec){(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
}

#endif
