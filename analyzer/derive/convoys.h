/*
 * convoys.h - stretches in which a lock was handed from waiter to waiter (lock_sums:K4).
 *
 * In such a stretch each holder got the lock by waiting for it, and hands it to the next waiter: the lock is never
 * free for a thread that comes later.  A thread that takes the lock without such a wait ends the stretch.
 */
#ifndef TRC_ANALYZER_DERIVE_CONVOYS_H
#define TRC_ANALYZER_DERIVE_CONVOYS_H

#include "analyzer/model/parts.h"

/* The links of one unlock. */
struct trc_convoy_link {
	int64_t handed_ns; /* when the last wait that it ended was over; TRC_NEVER = it ended none */
	uint32_t next;	   /* the lock's next unlock, its row; TRC_INDEX_NONE = there is none */
	uint32_t entered_by; /* id of the unlock that let its thread in; 0 = it did not wait */
};

struct trc_convoys {
	struct trc_convoy_link *link; /* by row of unlocks */
	size_t n;
};

/* Needs TRC_PART_WAITS.  lock: by row of unlocks, the number of its lock, less than n_locks.  0 or -ENOMEM;
 * close it in both cases. */
int trc_convoys_open(struct trc_convoys *c, const struct trc_model *m, const uint32_t *lock,
		     size_t n_locks);
void trc_convoys_close(struct trc_convoys *c);

/* A stretch of one lock while its unlocks go by. */
struct trc_convoy {
	uint32_t first; /* the row of its first unlock */
	uint64_t handovers;
	int64_t start_ns, end_ns; /* from its first unlock until the last who waited had the lock */
};

static inline bool trc_convoy_is_one(const struct trc_convoy *convoy)
{
	return convoy->handovers >= 2;
}

/* The lock's next unlock.  True if it begins another stretch, and the one before was a convoy: *ended. */
bool trc_convoy_unlock(const struct trc_convoys *c, struct trc_convoy *convoy, size_t row,
		       int64_t ts_ns, struct trc_convoy *ended);

#endif
