/*
 * program.h - a trace as a program for each thread: what it does in which order, without the waiting
 * that comes from others.
 *
 *   program:B1  between two operations a thread is active for as long as recorded
 *   program:B2  these waits keep their length: a sleep, a wait for a file, a device or the outside, a wait that gave up,
 *       and a wait that nothing in the trace ended.  So a client outside is a closed loop: it sends its
 *       next request after the answer to the last.  And a sleep until a time counts as a sleep for a time
 *   program:B3  a wait for a lock lasts until the thread gets the lock: an ACQUIRE
 *   program:B4  a wait that another thread ended is an AWAIT.  It lasts until the other thread comes to the place where it
 *       ended the wait: a TELL.  A thread that comes to its AWAIT after the TELL does not wait
 *   program:B5  a thread begins when its creator comes to the place where it began the thread
 *   program:B6  if a thread ends a task that another thread began, the thread does not go beyond its last task before this
 *       one until this one has begun: it may have found the task in a queue without waiting.  This does not apply while
 *       the thread holds a lock
 *   program:B7  from being woken to running takes as long as recorded
 */
#ifndef TRC_ANALYZER_WHATIF_PROGRAM_H
#define TRC_ANALYZER_WHATIF_PROGRAM_H

#include "sections.h"

enum trc_op_kind {
	TRC_OP_RELEASE, /* of equal times the lower number comes first */
	TRC_OP_TELL,
	TRC_OP_END,
	TRC_OP_BEGIN,
	TRC_OP_AWAIT_TASK, /* AWAIT, without a wait in the trace */
	TRC_OP_AWAIT_START,
	TRC_OP_ACQUIRE,
	TRC_OP_DELAY,
	TRC_OP_AWAIT,
	TRC_OP_STOP, /* a wait that has not ended */
	TRC_OP_LAST
};

struct trc_op {
	int64_t ts_ns;	   /* as recorded */
	int64_t active_ns; /* before it */
	int64_t off_ns; /* of active_ns: off the procs, and not for want of one; 0 without switch records */
	int64_t on_ns;	 /* of active_ns: on a proc */
	int64_t wait_ns; /* DELAY: how long; ACQUIRE, AWAIT: from being woken on, -1 = not known */
	uint32_t thread; /* row */
	uint32_t what;	 /* lock, moment, or row of the task */
	uint32_t park;	 /* id; 0 = none */
	uint32_t kind;	 /* enum trc_op_kind */
	bool reader;
	bool tried; /* ACQUIRE: it does without the lock rather than wait */
};

struct trc_program {
	const struct trc_model *m;
	struct trc_outer_waits waits;
	struct trc_sections sections;
	struct trc_array ops; /* struct trc_op, by thread */
	size_t *first;	      /* by row of threads: ops first[i] up to first[i + 1] */
	int64_t *begin_ns;    /* by row of threads */
	uint32_t n_moments;
	int64_t wake_ns; /* where from being woken to running is not known: the middle one of those known */
	int64_t wake_low_ns; /* a fourth of them is below */
	int64_t turn_ns;     /* of threads that share a proc (turns.h) */
	uint64_t n_kept;     /* waits that keep their length though others may have ended them */
	int64_t kept_ns;
};

/* 0 or -errno with a line in error; free it in both cases. */
int trc_program_make(struct trc_program *p, const struct trc_model *m, bool assume,
		     struct trc_error *error);
void trc_program_free(struct trc_program *p);

/* `to - from`, but 0 if this is negative; never overflows. */
int64_t trc_time_between(int64_t from_ns, int64_t to_ns);
int64_t trc_time_after(int64_t ns, int64_t more_ns);

#endif
