/* tasks.c - see tasks.h. */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/steps.h"
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

static bool why_task_is_wanted(void *context, const struct trc_model *m, size_t row)
{
	return trc_selection_has_task(context, m, row);
}

struct adding {
	struct trc_why_tree *tree;
	struct trc_causes *causes;
};

static int why_add_task(void *context, const struct trc_task *task)
{
	struct adding *to = context;
	const struct trc_cause *rows;
	size_t n;
	int err = trc_causes_of_task(to->causes, task, &rows, &n);

	return err ? err : trc_why_tree_add(to->tree, rows, n);
}

static int each_picked(const struct trc_why_tree *tree, struct trc_why_tasks *tasks,
		       const struct trc_array *picked,
		       int (*add)(void *context, const struct trc_task *task), void *context)
{
	const struct trc_picked_task *row = picked->row;
	size_t n, most = tasks->most && picked->n > tasks->most ? tasks->most : picked->n;
	const struct trc_task *all = trc_model_tasks(tree->r->m, &n);
	int err = 0;

	tasks->least_ns = most ? row[most - 1].ns : 0;
	for (size_t i = 0; i < most && !err; i++)
		err = add(context, &all[row[i].row]);
	return err;
}

static int pick(const struct trc_why_tree *tree, const struct trc_why_tasks *tasks,
		struct trc_array *picked)
{
	/* The context is only read. */
	const struct trc_task_pick pick = {tasks->id, tasks->type, tasks->slowest,
					   why_task_is_wanted,
					   (void *)(uintptr_t)tree->r->selection};
	size_t n_of;

	return trc_tasks_pick(tree->r->m, &pick, picked, &n_of);
}

int trc_why_add_tasks(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks)
{
	struct trc_array picked = {0};
	int err = pick(tree, tasks, &picked);

	if (!err)
		err = each_picked(tree, tasks, &picked, why_add_task,
				  &(struct adding){tree, causes});
	trc_array_free(&picked);
	return err;
}

/* ---- tasks, and what most of their time went to ---- */

struct chained {
	struct trc_why_tree *tree;
	struct trc_causes *causes;
	struct trc_array parts; /* struct trc_together_part: waits for locks */
	struct trc_array nodes; /* uint32_t: the node of each */
};

static int keep_part(struct chained *c, const struct trc_cause *row, uint32_t node)
{
	struct trc_together_part *part = trc_array_add(&c->parts);
	uint32_t *of = trc_array_add(&c->nodes);

	if (!part || !of)
		return -ENOMEM;
	*part = (struct trc_together_part){row->park, row->from_ns, row->to_ns};
	*of = node;
	return 0;
}

static int add_heads(void *context, const struct trc_task *task)
{
	struct chained *c = context;
	const struct trc_cause *rows;
	size_t n;
	int err = trc_causes_heads_of_task(c->causes, task, &rows, &n);

	if (!err)
		err = trc_why_tree_add(c->tree, rows, n);
	for (size_t i = 0; i < n && !err; i++)
		if (!rows[i].depth && rows[i].kind == TRC_CAUSE_WAITING &&
		    (i + 1 == n || !rows[i + 1].depth))
			err = keep_part(c, &rows[i], ((uint32_t *)c->tree->of_row.row)[i]);
	return err;
}

/* Nobody asks what is below other nodes than the largest, but samples there tell as well how far the others may be off. */
static int add_shared(void *context, const struct trc_cause *row,
		      const struct trc_cause_times *times, size_t n)
{
	struct chained *c = context;
	bool marked = false;
	int err = 0;

	for (size_t i = 1; i < n && !err; i++) {
		marked |= times[i].n_marked > 0;
		if (row[i].leaf && times[i].n > times[i].n_marked)
			err = trc_causes_draws(c->causes, &row[i], times[i].n - times[i].n_marked,
					       0, &c->tree->node_draws);
	}
	return err || !marked ? err : trc_why_tree_add_below(c->tree, row, times, n);
}

/* Without samples all that is below other nodes says nothing. */
static void leave_largest(struct chained *c, uint32_t largest)
{
	struct trc_together_part *part = c->parts.row;
	uint32_t *node = c->nodes.row;
	size_t left = 0;

	for (size_t i = 0; i < c->nodes.n; i++)
		if (node[i] == largest) {
			part[left] = part[i];
			node[left++] = node[i];
		}
	c->parts.n = c->nodes.n = left;
}

static int add_below_largest(struct chained *c)
{
	const struct trc_steps *steps = trc_causes_steps(c->causes);
	const uint32_t largest = trc_why_tree_largest_below(c->tree, 1);
	const uint32_t *node = c->nodes.row;
	struct trc_together *t;
	int err;

	if (!steps->samples.first[steps->n_threads])
		leave_largest(c, largest);
	err = trc_together_open_parts(&t, c->causes, c->parts.row, c->parts.n);
	if (err)
		return err;
	for (size_t i = 0; i < c->nodes.n; i++)
		if (node[i] == largest)
			trc_together_mark(t, i);
	err = trc_together_rows(t, SIZE_MAX, add_shared, c);
	trc_together_close(t);
	return err;
}

int trc_why_add_chain(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks)
{
	struct chained c = {.tree = tree,
			    .causes = causes,
			    .parts = {.row_bytes = sizeof(struct trc_together_part)},
			    .nodes = {.row_bytes = sizeof(uint32_t)}};
	struct trc_array picked = {0};
	int err = pick(tree, tasks, &picked);

	if (!err)
		err = each_picked(tree, tasks, &picked, add_heads, &c);
	if (!err)
		err = add_below_largest(&c);
	trc_array_free(&picked);
	trc_array_free(&c.parts);
	trc_array_free(&c.nodes);
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
