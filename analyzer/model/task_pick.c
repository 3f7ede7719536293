/* task_pick.c - see task_pick.h. */
#include "task_pick.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int tasks_longest_first(const void *a, const void *b)
{
	const struct trc_picked_task *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

size_t trc_slowest_of(size_t n, double percent)
{
	double wanted = ceil((double)n * percent / 100);

	return wanted < 1 ? n > 0 : wanted > (double)n ? n : (size_t)wanted;
}

int trc_tasks_pick(const struct trc_model *m, const struct trc_task_pick *pick,
		   struct trc_array *picked, size_t *n_of)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(m, &n);

	picked->row_bytes = sizeof(struct trc_picked_task);
	for (size_t i = 0; i < n; i++) {
		bool whole = task[i].start_ns != TRC_NEVER && task[i].end_ns != TRC_NEVER;
		struct trc_picked_task *added;

		if (pick->id ? task[i].task != *pick->id : strcmp(task[i].type, pick->type) != 0)
			continue;
		if (pick->slowest > 0 && !whole)
			continue;
		if (pick->wanted && !pick->wanted(pick->context, m, i))
			continue;
		added = trc_array_add(picked);
		if (!added)
			return -ENOMEM;
		added->row = i;
		added->ns = whole && task[i].end_ns > task[i].start_ns
				    ? task[i].end_ns - task[i].start_ns
				    : 0;
	}
	*n_of = picked->n;
	if (picked->n)
		qsort(picked->row, picked->n, picked->row_bytes, tasks_longest_first);
	if (pick->slowest > 0)
		picked->n = trc_slowest_of(picked->n, pick->slowest);
	return 0;
}
