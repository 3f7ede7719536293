/* task_pick.h - which tasks are meant by an id or a type, and by so many percent of them. */
#ifndef TRC_ANALYZER_MODEL_TASK_PICK_H
#define TRC_ANALYZER_MODEL_TASK_PICK_H

#include "array.h"
#include "model.h"

/* `percent` of n tasks, at least one; 0 if n is 0. */
size_t trc_slowest_of(size_t n, double percent);

struct trc_task_pick {
	const uint64_t *id; /* NULL = those of `type` */
	const char *type;
	double slowest; /* so many percent, those that took longest, but one at least; 0 = all */
	/* Which of them are meant; NULL = all. */
	bool (*wanted)(void *context, const struct trc_model *m, size_t row);
	void *context;
};

struct trc_picked_task {
	size_t row;
	int64_t ns; /* 0 = it did not begin and end in the trace: such are never the slowest */
};

/* Adds the tasks to `picked` (struct trc_picked_task, empty), the slowest first; *n_of is the number of
 * tasks from which the slowest were picked.  0 or -ENOMEM. */
int trc_tasks_pick(const struct trc_model *m, const struct trc_task_pick *pick,
		   struct trc_array *picked, size_t *n_of);

#endif
