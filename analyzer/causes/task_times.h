/*
 * task_times.h - how the threads that worked for a task, or were in a region, spent that time.
 *
 * task_spans.h says which threads worked for a task, and when.  steps.h says what they did meanwhile, as for
 * causes: so the sums are those of --why, and of the page.
 *
 *   task_times:U1  the times of a task's thread add up to the thread's spans for that task.  The times of a region add up
 *       to the part of the region that lies in the trace
 *   task_times:U2  the times waiting and woken for a reason add up to the waits for that reason, as far as these lie in the
 *       spans.  Each time counts for the innermost wait.  Times in which the thread had no proc are left out (timeline:P1)
 */
#ifndef TRC_ANALYZER_CAUSES_TASK_TIMES_H
#define TRC_ANALYZER_CAUSES_TASK_TIMES_H

#include "analyzer/model/array.h"
#include "analyzer/model/model.h"

enum trc_task_state {
	TRC_TASK_RUNNING,  /* on a proc, as switch records say */
	TRC_TASK_RUNNABLE, /* it could have run: another thread had its proc */
	TRC_TASK_ACTIVE,   /* in no recorded wait; without switch records nobody knows if it ran */
	TRC_TASK_OFF,	   /* off its proc, in no recorded wait */
	TRC_TASK_WAITING,  /* up to when it was woken */
	TRC_TASK_WOKEN,	   /* from then until the wait was over */
	TRC_TASK_ABSENT,   /* it had not begun yet, or had ended */
	TRC_TASK_UNWORKED, /* no thread worked for the task, or ran the region's fiber */
	TRC_TASK_STATES
};

/* A thread worked for the task. */
struct trc_task_span {
	uint64_t task; /* the user's id */
	int64_t from_ns, to_ns;
	uint32_t thread;
};

struct trc_task_time {
	uint64_t task; /* of a region its id */
	int64_t ns;
	uint32_t thread; /* 0 = of UNWORKED */
	uint8_t state;	 /* enum trc_task_state */
	uint8_t reason;	 /* of WAITING and WOKEN; else 0 */
};

/* "running", ...; for SQL, too. */
const char *trc_task_state_name(unsigned int state);

/* Each makes an array that is the caller's to free, task by task in the model's order; derives what it needs.  A model
 * that keeps such arrays (trc_model_keep()) has the rows, which are made once (array:A4).
 * Children of a task count down to 64 generations.  0 or -errno with a line in error: -EOVERFLOW if many tasks
 * have many runs of fibers in common. */
int trc_task_spans_list(struct trc_model *m, struct trc_array *spans, struct trc_error *error);
int trc_task_times_list(struct trc_model *m, struct trc_array *times, struct trc_error *error);
/* The times of all regions, region by region: struct trc_task_time. */
int trc_region_times_list(struct trc_model *m, struct trc_array *times, struct trc_error *error);
/* Where in one of these lists (TRC_KEPT_TASK_SPANS, TRC_KEPT_TASK_TIMES, TRC_KEPT_REGION_TIMES) the rows of each task or region
 * begin: first[i] of the model's row i, and first[n] is how long the list is.  Makes the list if need be.  *first = NULL: the
 * model keeps no lists.  0 or -errno, as above. */
int trc_task_rows_first(struct trc_model *m, enum trc_kept_kind kind, const uint32_t **first,
			struct trc_error *error);

struct trc_image;
struct trc_image_pause;
/* Makes all three arrays, for an image (analyzer/model/image.h) of a model that keeps them.  Pages may be made while it
 * pauses.  Rows that cannot be made are left to whoever asks for them later.  0, or -ECANCELED: the pause said to give up. */
int trc_task_times_prepare(struct trc_model *m, const struct trc_image_pause *pause);
/* The walk of all three arrays, in an image. */
int trc_task_times_walk(struct trc_image *image, struct trc_model *m);

#endif
