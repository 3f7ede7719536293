/* pools.h - threads that do the same work. */
#ifndef TRC_ANALYZER_WORDS_POOLS_H
#define TRC_ANALYZER_WORDS_POOLS_H

#include "words.h"

/*
 * A pool: threads that one thread created at one place, whose names differ in digits only, and which began
 * in the same function, as far as stacks tell.  A thread that nobody is known to have created is a pool by
 * itself.
 */
struct trc_pools {
	uint32_t *of; /* by row of thread: 0, 1, ... */
	uint32_t n;
};

/* Free with trc_pools_free(), also after a failure.  0 or -ENOMEM. */
int trc_pools_of(struct trc_pools *pools, const struct trc_report *r);
void trc_pools_free(struct trc_pools *pools);
/* How long the thread was on a proc, by switch records; without them, how long it was in no recorded wait. */
int64_t trc_thread_busy_ns(const struct trc_report *r, size_t row);
/* The threads of the pool: " compressor (12)", " 4 threads like worker 1 (12)". */
void trc_pools_add(struct trc_report *r, struct trc_line *line, const struct trc_pools *pools,
		   uint32_t pool);

#endif
