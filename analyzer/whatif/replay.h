/*
 * replay.h - runs the programs of a trace's threads (program.h) as a discrete simulation.
 *
 *   replay:Y1  a lock that is released is free: the next thread that comes has it.  Of the waiters the first is
 *       woken, and looks at the lock when it runs again.  If another thread was quicker, the woken thread waits again,
 *       as the last
 *   replay:Y2  readers share.  A reader that comes while others read does not wait for a waiting writer.  A
 *       writer that releases the lock hands it over to all waiting readers; if there are none, it wakes a writer
 *   replay:Y3  with `procs` the active threads take turns on the procs (turns.h), and need the time that they were on a
 *       proc.  Without `procs` each thread has its own proc, and needs the time that it was active
 *   replay:Y4  assumed sections can make threads wait for each other in a circle.  Then one of them is made to go on: the
 *       thread whose wait was recorded first
 */
#ifndef TRC_ANALYZER_WHATIF_REPLAY_H
#define TRC_ANALYZER_WHATIF_REPLAY_H

#include "program.h"

struct trc_replay {
	int64_t *task_begin_ns, *task_end_ns; /* by row of tasks; TRC_NEVER = not reached; owned */
	int64_t length_ns; /* up to the last thread's end, or its wait that does not end */
	uint64_t n_forced; /* Y4 */
};

struct trc_replay_options {
	uint32_t procs;	     /* 0 = as many as are wanted */
	const bool *no_lock; /* by row of locks: it is never waited for; NULL = none is */
};

/* 0, -ENOMEM, or -ELOOP: there is no way on; free it in all cases. */
int trc_replay_run(struct trc_replay *replay, const struct trc_program *p,
		   const struct trc_replay_options *options);
void trc_replay_free(struct trc_replay *replay);
/* The recorded length of the run. */
int64_t trc_replay_recorded_ns(const struct trc_program *p);

#endif
