/*
 * selection.h - the part of a trace that is asked for.  Every output is narrowed to it.
 *
 * A selection is a set of disjoint intervals [from, to) of each thread: the intervals that --window, --thread,
 * and --task with --slowest leave together.  --label-filter judges rows by their labels.  A model
 * has one selection or none (trc_model_select()); the report, SQL and profiles take the selection
 * from the model.
 *
 *   selection:V1  a wait has the part of its time that lies inside, and counts once if there is such a part.
 *       A wait that took no time counts if its moment is inside.  A wait of a fiber is judged by
 *       the fiber's time
 *   selection:V2  samples, allocations, messages and values of counters count by their thread and
 *       time
 *   selection:V3  a critical section has the part that lies inside of the waiting that it caused
 *       (analyzer/derive/caused.c), whether the section itself is inside or not
 *   selection:V4  a task or region counts if some of its time is inside, with its whole duration:
 *       a request does not become shorter because a part of it is looked at
 *   selection:V5  labels are the labels at the begin of a wait, sample, task or region.  A critical
 *       section has the labels of the thread that released the lock.  A thread's time is cut where its labels change
 *   selection:V6  if a window begins or ends where the trace does, the window is open on that side: events
 *       on the edge are inside
 *   selection:V7  a thread works for a task
 *         - from the task's begin to its end, if the thread does both and is in no fiber
 *         - if another thread began the task: up to its end, from the task's begin or from when
 *           this thread ended the task before, whichever is later.  --why follows the same thread
 *         - in a region of the task, wherever that is
 *         - as long as it runs a fiber that began the task, or a region of it
 *       and so do those that work for its children; none of them longer than the task lasts
 */
#ifndef TRC_ANALYZER_MODEL_SELECTION_H
#define TRC_ANALYZER_MODEL_SELECTION_H

#include "array.h"
#include "label_filter.h"
#include "model.h"
#include "task_spans.h"

enum { TRC_SELECTION_ASKED_MAX = 16 };

struct trc_selection {
	/* What is asked for.  Texts are borrowed. */
	struct trc_label_filter *labels; /* NULL = whatever labels */
	const char *window;		 /* as it was written; NULL = none */
	const char *thread[TRC_SELECTION_ASKED_MAX], *task[TRC_SELECTION_ASKED_MAX];
	size_t n_threads, n_tasks;
	double slowest; /* percent of the tasks of each type; 0 = all */

	/* What trc_selection_find() found in the trace. */
	int64_t from_ns, to_ns; /* the window; INT64_MIN, INT64_MAX = no end (V6) */
	struct trc_index in;	/* by serial: threads, if n_threads */
	struct trc_array spans; /* struct trc_selected_span, by track and time, if n_tasks */
	uint8_t *task_in; /* by row of tasks, if n_tasks: 1 = a child's; TRC_TASK_APART = it is
			       asked for */
	size_t n_picked, n_of_type; /* tasks that are asked for, and those they were picked from */
	int64_t least_ns;	    /* the shortest of those picked */
};

/* ---- what is asked for: selection_find.c.  Each returns 0, or -errno with a line in error ---- */
int trc_selection_ask_window(struct trc_selection *s, const char *text, struct trc_error *error);
int trc_selection_ask_thread(struct trc_selection *s, const char *text, struct trc_error *error);
int trc_selection_ask_task(struct trc_selection *s, const char *text, struct trc_error *error);
int trc_selection_ask_slowest(struct trc_selection *s, const char *text, struct trc_error *error);
/* -EINVAL with a line if the parts of the selection make no sense together. */
int trc_selection_check(const struct trc_selection *s, struct trc_error *error);
/* Finds the intervals, and derives what it needs for that.  -ENOENT: nothing of the trace is left.
 */
int trc_selection_find(struct trc_selection *s, struct trc_model *m, struct trc_error *error);
/* Frees what the selection owns, not the selection. */
void trc_selection_free(struct trc_selection *s);

/* ---- what is inside; with NULL for a selection everything is ---- */
/* Only labels narrow it. */
bool trc_selection_has_all_time(const struct trc_selection *s);
bool trc_selection_passes(const struct trc_selection *s, const struct trc_model *m,
			  uint32_t labels);
/* Whether it is inside at this time, and until when that stays so; INT64_MAX = for ever. */
bool trc_selection_at(const struct trc_selection *s, uint32_t thread, int64_t ts_ns,
		      int64_t *until_ns);
bool trc_selection_has_time(const struct trc_selection *s, uint32_t thread, int64_t ts_ns);
/* The same, and the labels that the thread has at this place (model:M5). */
bool trc_selection_has(const struct trc_selection *s, const struct trc_model *m, uint32_t thread,
		       int64_t ts_ns, uint64_t place);
/* How much of from..to is inside, regardless of labels. */
int64_t trc_selection_ns(const struct trc_selection *s, uint32_t thread, int64_t from_ns,
			 int64_t to_ns);
/* The next part of *at_ns..to_ns that is inside, and goes on behind it; false if there is none. */
bool trc_selection_next(const struct trc_selection *s, uint32_t thread, int64_t *at_ns,
			int64_t to_ns, int64_t *from_ns, int64_t *until_ns);
/* V1: of any length. */
bool trc_selection_touches(const struct trc_selection *s, uint32_t thread, int64_t from_ns,
			   int64_t to_ns);
/* The same for a fiber's waits. */
bool trc_selection_has_fiber_wait(const struct trc_selection *s, const struct trc_model *m,
				  const struct trc_fiber_wait *wait);
int64_t trc_selection_fiber_ns(const struct trc_selection *s, const struct trc_fiber_wait *wait,
			       int64_t from_ns, int64_t to_ns);
/* V4, V5; rows of the model's tables. */
bool trc_selection_has_task(const struct trc_selection *s, const struct trc_model *m, size_t row);
bool trc_selection_has_region(const struct trc_selection *s, const struct trc_model *m, size_t row);
/* How much of the thread's life is inside, and under labels that are asked for. */
int64_t trc_selection_thread_ns(const struct trc_selection *s, const struct trc_model *m,
				const struct trc_thread *thread);

/* ---- in words: selection_text.c ---- */
/* "the slowest 1% of task request (5 of 500, from 12 ms on); thread worker; the window 1s..2s;
 * under tenant=7" */
void trc_selection_tell(struct trc_line *line, const struct trc_selection *s);
/* " --window 1s..2s --thread 'worker 1'": what asks for it again; nothing for NULL. */
void trc_selection_options(struct trc_line *line, const struct trc_selection *s);

/* Whether the whole text is a number; then *number is set. */
bool trc_selection_number(const char *text, uint64_t *number);

/* ---- V3: analyzer/derive/caused.c ---- */
struct trc_preempted;
struct trc_selected_cause {
	int64_t caused_ns;
	uint32_t caused_waits;
	/* With `preempted`: how long the holder had no proc while others waited, and how long they
	 * waited meanwhile, summed. */
	int64_t preempted_ns, preempted_waits_ns;
};
/* By row of unlocks, to be freed by free(); NULL without memory, or if a hostile trace would take
 * too long.  preempted (preempted.h): NULL if nobody asks. */
struct trc_selected_cause *trc_selection_caused(const struct trc_selection *s,
						const struct trc_model *m,
						const struct trc_preempted *preempted);
/* Rows first..end of unlocks, without `end`.  Rows outside of all ranges caused nothing that is selected. */
struct trc_selected_range {
	size_t first, end;
};
/* The same, and the ranges of the unlocks that caused something. */
struct trc_selected_cause *trc_selection_caused_in(const struct trc_selection *s,
						   const struct trc_model *m,
						   const struct trc_preempted *preempted,
						   struct trc_selected_range *range);

#endif
