/*
 * timeline.h - which wait each thread was in at each time, for all code that cuts a thread's time.
 *
 *   timeline:P1  a call that reads or writes is a wait from its begin to its end.  If a thread is taken off its proc in
 *       the call, though it could go on, it waits for a proc, and not for the file: this piece is preempted.  A wait that
 *       another thread ended is never preempted, nor is a wait for a lock or a thread: with a proc the thread would have
 *       waited all the same
 */
#ifndef TRC_ANALYZER_MODEL_TIMELINE_H
#define TRC_ANALYZER_MODEL_TIMELINE_H

#include "array.h"
#include "format/waits.h"
#include "model.h"

/* Rows of a table by thread, in the table's order: those of the thread in row i of the model's
 * threads are row[first[i]] up to row[first[i + 1]].  Zeroed memory is what may be freed. */
struct trc_by_thread {
	uint32_t *first, *row;
};

/* The serial of the thread that a row belongs to; 0 = the row is left out. */
typedef uint32_t trc_thread_of_fn(const void *row);

/* 0 or -ENOMEM; free it in both cases.  Rows of unknown threads are left out. */
int trc_by_thread_make(struct trc_by_thread *by, const struct trc_model *m, const void *rows,
		       size_t n, size_t row_bytes, trc_thread_of_fn *thread_of);
void trc_by_thread_free(struct trc_by_thread *by);
uint32_t trc_thread_of_park(const void *park);
uint32_t trc_thread_of_on_cpu(const void *on_cpu);
/* Samples without a stack are left out. */
uint32_t trc_thread_of_sample(const void *sample);

/* From here up to the next piece the thread is in this wait. */
struct trc_wait_piece {
	int64_t start_ns;
	uint32_t park;	/* id in parks, the innermost wait; 0 = in none */
	bool begins;	/* the wait begins here */
	bool preempted; /* P1: of this wait, the thread could go on, and had no proc */
};

/*
 * Cuts the time of a thread, from INT64_MIN on, into `pieces` (struct trc_wait_piece), which are emptied
 * first.  parks: those of trc_thread_of_park(); stretches: those of trc_thread_of_on_cpu(); outer: of trc_waits_nesting().
 * 0 or -ENOMEM.
 */
int trc_wait_pieces_make(struct trc_array *pieces, const struct trc_model *m,
			 const struct trc_by_thread *parks, const struct trc_by_thread *stretches,
			 const uint32_t *outer, size_t thread);
/* P1: of waits that can be preempted. */
static inline bool trc_wait_may_be_preempted(const struct trc_park *park)
{
	return !park->waker && trc_wait_class(park->reason) == TRC_WAIT_FILES;
}
/* P1: until when the thread had no proc after a stretch on one; next: its next stretch, NULL = it ran no more.  Without a next
 * stretch this is when the thread ended, or the trace.  But if the trace was cut, the thread may have run: INT64_MIN. */
static inline int64_t trc_off_until_ns(const struct trc_model *m, const struct trc_thread *t,
				       const struct trc_on_cpu *next)
{
	int64_t end_ns = trc_model_end_ns(m);

	if (t->end_ns != TRC_NEVER && t->end_ns < end_ns)
		end_ns = t->end_ns;
	if (next)
		return next->start_ns < end_ns ? next->start_ns : end_ns;
	return trc_reader_info(trc_model_reader(m))->complete ? end_ns : INT64_MIN;
}
/* The index of the piece that this time lies in. */
size_t trc_wait_piece_at(const struct trc_array *pieces, int64_t ts_ns);
/* The same, found sooner if it is one of the next after `near`. */
size_t trc_wait_piece_near(const struct trc_array *pieces, int64_t ts_ns, size_t near);

/* Since when there are switch records of every proc. */
int64_t trc_model_switches_from_ns(const struct trc_model *m);

#endif
