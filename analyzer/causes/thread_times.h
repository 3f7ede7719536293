/*
 * thread_times.h - how long a thread was in each state within any span of time.
 *
 * A thread's steps are computed once, for any number of spans.
 *
 *   thread_times:Y1  a thread's stretches follow each other without a gap, from the trace's begin to its end
 *   thread_times:Y2  adding a span takes time in proportion to its stretches, but no more than for some dozens of stretches
 *       and for the states that the thread ever was in
 */
#ifndef TRC_ANALYZER_CAUSES_THREAD_TIMES_H
#define TRC_ANALYZER_CAUSES_THREAD_TIMES_H

#include "format/schema.h"
#include "steps.h"
#include "task_times.h"

/* A state and a reason are one number. */
enum { TRC_STATE_CELLS = TRC_TASK_STATES * TRC_REASON_COUNT };

/* Zeroed memory has no sums. */
struct trc_state_sums {
	int64_t ns[TRC_STATE_CELLS];
	uint16_t cell[TRC_STATE_CELLS]; /* those with some time, in no order */
	size_t n;
};

struct trc_thread_line;

struct trc_thread_times {
	struct trc_steps steps;
	struct trc_thread_line *line; /* by row of threads */
};

/* TRC_CAUSES_PARTS must have been derived.  0 or -ENOMEM; close it in both cases. */
int trc_thread_times_open(struct trc_thread_times *t, struct trc_model *m);
void trc_thread_times_close(struct trc_thread_times *t);

/* Adds what the thread in this row did in a span, which lies in the trace.  0 or -ENOMEM. */
int trc_thread_times_add(struct trc_thread_times *t, size_t thread, int64_t from_ns, int64_t to_ns,
			 struct trc_state_sums *sums);
/* Adds from..to to one cell.  A difference too large for the
 * type counts as the largest value. */
void trc_state_sums_add(struct trc_state_sums *sums, unsigned int cell, int64_t from_ns,
			int64_t to_ns);
/* Puts the cells in order: by state, then by reason. */
void trc_state_sums_sort(struct trc_state_sums *sums);
/* Makes all of them 0. */
void trc_state_sums_clear(struct trc_state_sums *sums);

#endif
