/* why_tasks.c - see why_tasks.h. */
#include "why_tasks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int trc_why_add_stretch(struct trc_why_tree *tree, struct trc_causes *causes, uint32_t thread,
			int64_t from_ns, int64_t to_ns)
{
	const struct trc_report *r = tree->r;
	const struct trc_cause *rows;
	size_t n;
	int err;

	if (from_ns == TRC_NEVER || from_ns < r->start_ns)
		from_ns = r->start_ns;
	if (to_ns == TRC_NEVER || to_ns > r->end_ns)
		to_ns = r->end_ns;
	err = trc_causes_of_thread(causes, thread, from_ns, to_ns, &rows, &n);
	return err ? err : trc_why_tree_add(tree, rows, n);
}

struct picked_task {
	const struct trc_task *task;
	int64_t ns;
};

static int longest_first(const void *a, const void *b)
{
	const struct picked_task *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->task > y->task) - (x->task < y->task);
}

/* Of n tasks so many percent, but one at least. */
static size_t slowest_of(size_t n, double percent)
{
	double wanted = ceil((double)n * percent / 100);

	return wanted < 1 ? n > 0 : wanted > (double)n ? n : (size_t)wanted;
}

/* Those that began and ended in the trace, if some are to be slowest. */
static int pick(const struct trc_report *r, const struct trc_why_tasks *tasks,
		struct trc_array *picked)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(r->m, &n);

	for (size_t i = 0; i < n; i++) {
		bool whole = task[i].start_ns != TRC_NEVER && task[i].end_ns != TRC_NEVER;
		struct picked_task *added;

		if (tasks->id ? task[i].task != *tasks->id : strcmp(task[i].type, tasks->type) != 0)
			continue;
		if (tasks->slowest > 0 && !whole)
			continue;
		if (!trc_report_wanted(r, task[i].start_thread, task[i].start_ns,
				       task[i].start_place))
			continue;
		added = trc_array_add(picked);
		if (!added)
			return -ENOMEM;
		added->task = &task[i];
		added->ns = whole ? task[i].end_ns - task[i].start_ns : 0;
	}
	return 0;
}

/* A task is followed back from the thread that ended it: what that one waited for before it had the
 * task is what others did with it until then. */
static int add_picked(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks, struct trc_array *picked)
{
	struct picked_task *row = picked->row;
	size_t n = picked->n;
	int err = 0;

	if (n)
		qsort(row, n, sizeof(*row), longest_first);
	n = tasks->slowest > 0 ? slowest_of(n, tasks->slowest) : n;
	n = tasks->most && n > tasks->most ? tasks->most : n;
	tasks->least_ns = n ? row[n - 1].ns : 0;
	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_task *task = row[i].task;

		err = trc_why_add_stretch(tree, causes,
					  task->end_thread ? task->end_thread : task->start_thread,
					  task->start_ns, task->end_ns);
	}
	return err;
}

int trc_why_add_tasks(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks)
{
	struct trc_array picked = {.row_bytes = sizeof(struct picked_task)};
	int err = pick(tree->r, tasks, &picked);

	if (!err)
		err = add_picked(tree, causes, tasks, &picked);
	trc_array_free(&picked);
	return err;
}
