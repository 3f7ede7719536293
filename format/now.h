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

#endif
