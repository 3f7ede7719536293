/*
 * locks.h - what each thread did with each lock, while events go by.
 *
 * With --locks=all every acquisition and release is recorded; without it only the releases for which other
 * threads waited.
 */
#ifndef TRC_ANALYZER_DERIVE_LOCKS_H
#define TRC_ANALYZER_DERIVE_LOCKS_H

#include "analyzer/model/parts.h"

/* One thread and one lock. */
struct trc_lock_use {
	uint64_t object;
	uint32_t thread;
	uint32_t n_held;     /* acquisitions not yet released */
	uint8_t reason;	     /* of the last acquisition */
	uint32_t stack;	     /* of the first acquisition not yet released */
	int64_t acquired_ns; /* when that was; TRC_NEVER = never seen */
	/* When its last release was recorded, which is after it was done (or of a release event,
	 * just before); TRC_NEVER = never seen. */
	int64_t released_ns;
};

struct trc_lock_uses {
	struct trc_array uses; /* struct trc_lock_use */
	struct trc_index row;  /* by lock_key() */
};

void trc_lock_uses_init(struct trc_lock_uses *u);
void trc_lock_uses_free(struct trc_lock_uses *u);
/* Notes an unlock, acquire or release event.  0 or -ENOMEM. */
int trc_lock_uses_event(struct trc_lock_uses *u, const struct trc_columns *c, uint32_t row);
/* NULL = this thread did nothing with this lock that was recorded. */
const struct trc_lock_use *trc_lock_uses_find(const struct trc_lock_uses *u, uint64_t object,
					      uint32_t thread);

/* deadlocks.c: who holds what the waiting threads of m->threads_now wait for: fills in their
 * `holder` and `deadlock`, and m->deadlocks and m->locks_held.  0 or -ENOMEM. */
int trc_derive_deadlocks(struct trc_model *m, const struct trc_lock_uses *uses);

#endif
