/*
 * task_spans.h - when which thread worked for a task, and for its children (selection:V7).
 *
 * A task and all tasks below it are a family.  Tasks that are set apart begin families of their own.
 */
#ifndef TRC_ANALYZER_MODEL_TASK_SPANS_H
#define TRC_ANALYZER_MODEL_TASK_SPANS_H

#include "array.h"
#include "model.h"

/* A time that belongs to a task.  A track is a thread's serial, or trc_fiber_track(). */
struct trc_selected_span {
	uint64_t track;
	int64_t from_ns, to_ns;
	int64_t before_ns; /* of the track's spans before this one, summed */
};

static inline uint64_t trc_fiber_track(uint32_t fiber)
{
	return (uint64_t)1 << 32 | fiber;
}

static inline bool trc_track_is_fiber(uint64_t track)
{
	return track >> 32;
}

/* Rows by what they belong to: those of i are row[first[i]] up to row[first[i + 1]]. */
struct trc_rows_of {
	uint32_t *first, *row;
};

struct trc_task_spans {
	const struct trc_model *m;
	const struct trc_task *task;
	size_t n_tasks;
	struct trc_index row_of;	      /* by the task's id: its first row */
	struct trc_rows_of children, regions; /* by row of tasks */
	struct trc_rows_of runs;	      /* by row of fibers */
	struct trc_array ends;		      /* who ended which task, by thread and time */
	uint32_t *end_of;		      /* by row of tasks: index + 1 in ends; 0 = none */
	struct trc_array family;  /* uint32_t: the rows of the last one, its root first */
	uint32_t *root_of;	  /* by row: the root's row + 1 of that family */
	uint32_t generations_max; /* of a family, below its root; 0 = any number */
};

/* TRC_PART_USER and TRC_PART_FIBERS must have been derived.  0 or -ENOMEM; close it in both cases. */
int trc_task_spans_open(struct trc_task_spans *s, const struct trc_model *m);
/* The same for trc_task_spans_join() only. */
int trc_task_spans_open_runs(struct trc_task_spans *s, const struct trc_model *m);
void trc_task_spans_close(struct trc_task_spans *s);

/* A row is set apart. */
enum { TRC_TASK_APART = 2 };
/* Adds the spans of the family of the task in this row, as struct trc_selected_span and in no order, and
 * leaves its rows in s->family.  apart: by row; NULL = none is.  0 or -ENOMEM. */
int trc_task_spans_add(struct trc_task_spans *s, uint32_t row, const uint8_t *apart,
		       struct trc_array *spans);
/* Makes spans disjoint, by track and time; those of fibers are also the time of the threads that ran them.  0
 * or -ENOMEM. */
int trc_task_spans_join(const struct trc_task_spans *s, struct trc_array *spans);

#endif
