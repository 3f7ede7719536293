/*
 * parks.h - pairs the parks of each thread with their ends.
 *
 *   parks:K1  the open parks of a thread are a stack: a signal handler may park while the
 *       thread that it interrupted is parked
 *   parks:K2  a resume ends the innermost open park with its reason and object; what is
 *       open above that was left without a resume: abandoned
 *   parks:K3  an open park is abandoned, too, when its thread does what it could not do
 *       inside a signal handler that interrupted the park: it exits, ends a region that
 *       was open when it parked, runs another fiber, or has a stack that does not contain
 *       the park's; the last two say nothing of a wait that the program announced, and nothing is
 *       said by what the wait does itself: that a wait for a condition gives up its mutex and has
 *       it again, and that one for a lock has taken the lock
 *   parks:K4  what is open at the end is still in progress, unless other events of
 *       the thread followed and the status table does not confirm the wait
 *   parks:K5  a resume without a park ends a wait that began before the window, if its thread was
 *       there then and has done nothing in the window before it
 *   parks:K6  of a park from before the window, where streams are missing, a resume in the window
 *       says that the thread waited since the window began; one before that is of another wait,
 *       perhaps
 *   parks:K7  a wait for a condition ends when its thread was signalled: what follows is a wait for
 *       the mutex, told when that is over, before the resume
 */
#ifndef TRC_ANALYZER_DERIVE_PARKS_H
#define TRC_ANALYZER_DERIVE_PARKS_H

#include "analyzer/model/parts.h"

struct trc_open_park {
	size_t park;	      /* index in trc_model.parks */
	int32_t region_depth; /* of the thread when it parked */
	int64_t next_ns;      /* its first event since; TRC_NEVER = none */
	int64_t woken_ns;     /* of a condition: when it began to wait for its mutex, instead */
};

/* What is known of a thread while events go by. */
struct trc_park_thread {
	struct trc_open_park *open;
	uint32_t n_open, capacity;
	int32_t region_depth; /* relative to the depth at its first event, or switch to a fiber */
	int64_t last_ns;      /* its own event before; TRC_NEVER = none */
	uint64_t place;	      /* of the event that is looked at (merge.h) */
	/* The wait that ended last. */
	int64_t last_start_ns;
	uint64_t last_object;
	uint8_t last_reason;
};

/* One event of the thread, in its order.  0 or -ENOMEM. */
int trc_parks_event(struct trc_model *m, struct trc_park_thread *thread,
		    const struct trc_span *span, uint32_t row);
/* The trace is over.  `status` is what the last status table says that the thread waits for, NULL
 * if for nothing; last_gap_ns is the time of the last gap, or TRC_NEVER.  0 or -ENOMEM. */
int trc_parks_finish(struct trc_model *m, struct trc_park_thread *thread,
		     const struct trc_status_entry *status, int64_t last_gap_ns);
void trc_parks_free(struct trc_park_thread *thread);

#endif
