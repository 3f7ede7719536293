/*
 * lock_meets.h - joins and barriers in the order of locks.
 *
 *   lock_meets:K1  a thread that waits for another thread's end waits for the locks that the other takes before its end:
 *       each thread holds its end as long as it lives
 *   lock_meets:K2  a thread that waits at a barrier waits for the locks that the threads take who have to come there: each
 *       of these threads holds the barrier until it comes there for the last time
 *   lock_meets:K3  only some of these edges are made: each begins at a meeting for which a thread waited while it held a
 *       lock, and leads to a lock that a thread held when it waited so, or when it took another lock.  No other edge
 *       can be in a circle
 */
#ifndef TRC_ANALYZER_DERIVE_LOCK_MEETS_H
#define TRC_ANALYZER_DERIVE_LOCK_MEETS_H

#include "analyzer/model/array.h"
#include "analyzer/model/model.h"

/* Locks that each thread took, and where threads wait for threads. */
struct trc_lock_meets {
	struct trc_index took_row; /* by check of thread and lock */
	struct trc_array tooks;	   /* struct trc_lock_edge: only what is taken, and by whom */
	struct trc_index meet_row; /* by thread: its last meeting, which leads to others */
	struct trc_array meets;
};

void trc_lock_meets_begin(struct trc_lock_meets *m);
void trc_lock_meets_free(struct trc_lock_meets *m);
/* edge->thread takes edge->taken.  0 or -ENOMEM. */
int trc_lock_meets_took(struct trc_lock_meets *m, const struct trc_lock_edge *edge);
/* This thread has to end, or to come to a barrier, and at `ts_ns` does, or has not yet.  The meeting is called by an
 * object, and a number: TRC_REASON_JOIN by the thread's serial.  0 or -ENOMEM. */
int trc_lock_meets_add(struct trc_lock_meets *m, unsigned int reason, uint64_t object,
		       uint32_t life, uint32_t thread, int64_t ts_ns);
/* Calls add() for each edge from a meeting to a lock.  0 or what add() returned. */
int trc_lock_meets_edges(const struct trc_lock_meets *m,
			 int (*add)(void *context, const struct trc_lock_edge *edge),
			 void *context);

#endif
