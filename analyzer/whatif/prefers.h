/*
 * prefers.h - whom a rwlock lets in first: glibc has three kinds, and a trace does not name them.
 *
 * What tells them apart is what happened while a reader waited:
 *
 *   prefers:F1  a writer that leaves lets in all readers that wait, before other writers; or, if the lock prefers writers,
 *       a writer that waits.  So a reader waits for one writer to leave, or for several
 *   prefers:F2  a reader that comes while others read joins them; or, if the lock prefers writers and is not for
 *       recursive use, waits if a writer waits.  So a reader that waits sees other readers leave before any
 *       writer does, or it does not
 */
#ifndef TRC_ANALYZER_WHATIF_PREFERS_H
#define TRC_ANALYZER_WHATIF_PREFERS_H

#include "waits.h"

enum trc_rwlock_prefers {
	TRC_RWLOCK_READERS,	    /* as without attributes; also of all other locks */
	TRC_RWLOCK_WAITING_WRITERS, /* when a writer leaves */
	TRC_RWLOCK_WRITERS	    /* then, and before readers that come */
};

/* events: struct trc_lock_event, by time.  *out, owned, has an enum trc_rwlock_prefers for each of the locks.  0 or -ENOMEM. */
int trc_prefers_make(uint8_t **out, const struct trc_array *events, size_t n_locks,
		     const struct trc_outer_waits *waits);

#endif
