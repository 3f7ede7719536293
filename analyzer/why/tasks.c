/* tasks.c - see tasks.h. */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/task_pick.h"

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

static bool is_wanted(void *context, const struct trc_model *m, size_t row)
{
	return trc_selection_has_task(context, m, row);
}

static int add_task(struct trc_why_tree *tree, struct trc_causes *causes,
		    const struct trc_task *task)
{
	const struct trc_cause *rows;
	size_t n;
	int err = trc_causes_of_task(causes, task, &rows, &n);

	return err ? err : trc_why_tree_add(tree, rows, n);
}

static int add_picked(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks, const struct trc_array *picked)
{
	const struct trc_picked_task *row = picked->row;
	size_t n, most = tasks->most && picked->n > tasks->most ? tasks->most : picked->n;
	const struct trc_task *all = trc_model_tasks(tree->r->m, &n);
	int err = 0;

	tasks->least_ns = most ? row[most - 1].ns : 0;
	for (size_t i = 0; i < most && !err; i++)
		err = add_task(tree, causes, &all[row[i].row]);
	return err;
}

int trc_why_add_tasks(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks)
{
	/* The context is only read. */
	const struct trc_task_pick pick = {tasks->id, tasks->type, tasks->slowest, is_wanted,
					   (void *)(uintptr_t)tree->r->selection};
	struct trc_array picked = {0};
	size_t n_of;
	int err = trc_tasks_pick(tree->r->m, &pick, &picked, &n_of);

	if (!err)
		err = add_picked(tree, causes, tasks, &picked);
	trc_array_free(&picked);
	return err;
}

/* ---- regions ---- */

struct picked_region {
	const struct trc_region *region;
	int64_t from_ns, to_ns; /* within the trace */
};

static int longest_region_first(const void *a, const void *b)
{
	const struct picked_region *x = a, *y = b;
	int64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return (x->region > y->region) - (x->region < y->region);
}

static int regions_pick(const struct trc_report *r, const uint64_t *id, const char *type,
			double slowest, struct trc_array *picked)
{
	size_t n;
	const struct trc_region *region = trc_model_regions(r->m, &n);

	for (size_t i = 0; i < n; i++) {
		bool whole = region[i].start_ns != TRC_NEVER && region[i].end_ns != TRC_NEVER;
		struct picked_region p = {
			&region[i],
			region[i].start_ns == TRC_NEVER ? r->start_ns : region[i].start_ns,
			region[i].end_ns == TRC_NEVER ? r->end_ns : region[i].end_ns};
		struct picked_region *added;

		if ((id ? *id != i + 1 : strcmp(region[i].type, type) != 0) ||
		    (slowest > 0 && !whole) ||
		    (r->selection &&
		     !trc_selection_ns(r->selection, region[i].thread, p.from_ns, p.to_ns)))
			continue;
		added = trc_array_add(picked);
		if (!added)
			return -ENOMEM;
		*added = p;
	}
	if (picked->n)
		qsort(picked->row, picked->n, picked->row_bytes, longest_region_first);
	if (slowest > 0)
		picked->n = trc_slowest_of(picked->n, slowest);
	return 0;
}

int trc_why_add_regions(struct trc_why_tree *tree, struct trc_causes *causes, const uint64_t *id,
			const char *type, double slowest)
{
	struct trc_array picked = {.row_bytes = sizeof(struct picked_region)};
	int err = regions_pick(tree->r, id, type, slowest, &picked);
	const struct picked_region *p = picked.row;

	for (size_t i = 0; i < picked.n && !err; i++)
		err = trc_why_add_stretch(tree, causes, p[i].region->thread, p[i].from_ns,
					  p[i].to_ns);
	trc_array_free(&picked);
	return err;
}
