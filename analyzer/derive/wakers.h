/* wakers.h - what the files that find who ended a wait share. */
#ifndef TRC_ANALYZER_DERIVE_WAKERS_H
#define TRC_ANALYZER_DERIVE_WAKERS_H

#include "analyzer/model/parts.h"
#include "format/waits/locks.h"

/* Rows of one object: where its part of each index array begins, and how many they are. */
struct trc_waker_object {
	uint32_t first_park, n_parks;
	uint32_t first_unlock, n_unlocks;
	uint32_t first_unpark, n_unparks;
};

struct trc_wakers {
	struct trc_model *m;
	struct trc_park *park;
	struct trc_unlock *unlock;
	const struct trc_unpark *unpark;
	size_t n_unparks;
	struct trc_index object_row;
	struct trc_array objects;
	uint32_t *park_idx, *unlock_idx, *unpark_idx; /* by object, then by time */
	struct trc_key *end, *scratch;	/* one object's parks by end; row: which of them */
	struct trc_lock_waiter *waiter; /* one object's parks, if it is a lock */
	uint32_t *heap;
};

/* Parks in progress count as ending last. */
static inline int64_t trc_wakers_end_of(const struct trc_park *park)
{
	return park->end_ns == TRC_NEVER ? INT64_MAX : park->end_ns;
}

/* The object's parks by their end into w->end. */
void trc_wakers_sort_by_end(struct trc_wakers *w, const struct trc_waker_object *o);

/* wakers_locks.c */
void trc_wakers_sweep_lock(struct trc_wakers *w, const struct trc_waker_object *o);

/* wakers_woken.c */
void trc_wakers_sweep_unparks(struct trc_wakers *w, const struct trc_waker_object *o);
/* Fills in the joined thread of each join that did not know it.  0 or -ENOMEM. */
int trc_wakers_find_joined(struct trc_wakers *w);
void trc_wakers_wake_joins(struct trc_wakers *w);

#endif
