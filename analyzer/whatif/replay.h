/*
 * replay.h - runs the programs of a trace's threads (program.h) as a discrete simulation.
 *
 *   replay:Y1  a lock that is released is free: whoever comes next has it.  Of those that wait the first is
 *       woken, looks at the lock when it runs again, and waits on, as the last, if another thread was quicker
 *   replay:Y2  a rwlock is glibc's.  Readers share.  Of writers that find readers the first is the next: the lock is
 *       its own from when the last reader leaves, though it runs later.  A writer that leaves lets in all readers that
 *       wait, who have the lock from then on, and wakes the first of the other writers, which is the next if it
 *       finds readers.  If the lock prefers writers (prefers.h) it is left to the writers that wait, and a reader
 *       that comes lets the next writer go first
 *   replay:Y3  with `procs` the active threads share them equally at each moment, and need the time that they
 *       were on a proc; without, each has its own, and needs the time that it was active
 *   replay:Y4  threads that all wait for each other, which sections that are assumed can bring about,
 *       are made to go on: the one whose wait was recorded first
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
/* What the length was, as recorded. */
int64_t trc_replay_recorded_ns(const struct trc_program *p);

#endif
