/* tree.c - see tree.h. */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/descriptors.h"
#include "format/check.h"

/* Beyond so many, what lies deeper is left out: their parents have its time. */
enum { NODES_MAX = 500000 };

int trc_why_tree_begin(struct trc_why_tree *tree, const struct trc_report *r)
{
	*tree = (struct trc_why_tree){
		.r = r,
		.nodes = {.row_bytes = sizeof(struct trc_why_node)},
		.of_row = {.row_bytes = sizeof(uint32_t)},
		.leaves = {.row_bytes = sizeof(struct trc_why_node)},
		.path = {.row_bytes = sizeof(struct trc_cause)},
		.rows = {.row_bytes = sizeof(struct trc_cause)},
		.threads = {.instead_ns = {.row_bytes = sizeof(int64_t)}},
		.leaf_threads = {.instead_ns = {.row_bytes = sizeof(int64_t)}},
	};
	return trc_array_add(&tree->nodes) ? 0 : -ENOMEM;
}

static void threads_free(struct trc_why_threads *threads)
{
	trc_index_free(&threads->seen);
	trc_index_free(&threads->instead);
	trc_array_free(&threads->instead_ns);
}

void trc_why_tree_free(struct trc_why_tree *tree)
{
	trc_array_free(&tree->nodes);
	trc_array_free(&tree->of_row);
	trc_array_free(&tree->leaves);
	trc_array_free(&tree->path);
	trc_array_free(&tree->rows);
	trc_index_free(&tree->node);
	trc_index_free(&tree->leaf);
	threads_free(&tree->threads);
	threads_free(&tree->leaf_threads);
	trc_draws_free(&tree->node_draws);
	trc_draws_free(&tree->leaf_draws);
}

/* "waited" is said of waits that others end, whether it is known who did. */
static uint8_t told_kind(const struct trc_why_tree *tree, const struct trc_cause *row)
{
	bool waits = row->kind == TRC_CAUSE_IO || row->kind == TRC_CAUSE_OUTSIDE;

	return waits && !tree->keeps_kinds ? TRC_CAUSE_WAITING : row->kind;
}

/* Two connections to one server have one name, as trc_report_waited() tells it. */
static uint64_t told_descriptor(const struct trc_why_tree *tree, const struct trc_cause *row)
{
	const struct trc_descriptor_name *d = trc_model_descriptor(tree->r->m, row->descriptor);

	return d && strcmp(d->kind, trc_reason_name(row->reason)) != 0
		       ? trc_check64(d->name, strlen(d->name), 0)
		       : 0;
}

/* Who wrote it matters only where nothing else tells two apart.  A thread that is joined is called by an address, which is the
 * next thread's when it has ended: what the ends were waited for is told below. */
static uint64_t hash_of(const struct trc_why_tree *tree, const struct trc_cause *row,
			uint32_t parent)
{
	uint32_t stack = trc_report_canonical(tree->r, row->stack);
	const uint64_t alike[] = {
		parent,
		(uint64_t)told_kind(tree, row) << 32 | row->reason,
		(uint64_t)row->stack_of << 32 | stack,
		row->reason == TRC_REASON_JOIN ? 0 : row->object,
		told_descriptor(tree, row),
		row->unlock != 0,
		stack ? 0 : row->thread,
	};

	return trc_check64(alike, sizeof(alike), 0);
}

static uint64_t thread_key(uint32_t node, uint32_t thread)
{
	return (uint64_t)node << 32 | thread;
}

static void tree_add_times(int64_t *sum, int64_t ns, uint32_t times)
{
	if (__builtin_mul_overflow(ns, (int64_t)times, &ns))
		ns = INT64_MAX;
	trc_report_add(sum, ns);
}

/* A thread ran instead; 0 or -ENOMEM. */
static int count_instead(struct trc_why_node *node, struct trc_why_threads *threads, uint32_t id,
			 const struct trc_cause *row, uint32_t times)
{
	uint32_t number = trc_index_number(&threads->instead, thread_key(id, row->instead));
	int64_t *ns;

	if (!number || (number > threads->instead_ns.n && !trc_array_add(&threads->instead_ns)))
		return -ENOMEM;
	ns = (int64_t *)threads->instead_ns.row + number - 1;
	node->n_instead += !*ns;
	tree_add_times(ns, row->instead_ns, times);
	if (*ns > node->instead_ns) {
		node->instead_ns = *ns;
		node->instead = row->instead;
	}
	return 0;
}

/* Adds the row, so many times, to the node with this id; 0 or -ENOMEM. */
static int count(struct trc_why_node *node, struct trc_why_threads *threads, uint32_t id,
		 const struct trc_cause *row, uint32_t times)
{
	uint64_t key = thread_key(id, row->thread);
	int err = 0;

	node->n += times;
	tree_add_times(&node->total_ns, row->to_ns - row->from_ns, times);
	if (row->instead)
		err = count_instead(node, threads, id, row, times);
	if (err || trc_index_get(&threads->seen, key) != TRC_INDEX_NONE)
		return err;
	node->n_threads++;
	return trc_index_put(&threads->seen, key, 1);
}

/* The node for this row below `parent`, in *id; 0 = there is no room for it. */
static int find_node(struct trc_why_tree *tree, const struct trc_cause *row, uint32_t parent,
		     uint32_t *id)
{
	uint64_t hash = hash_of(tree, row, parent);
	struct trc_why_node *node;

	*id = trc_index_get(&tree->node, hash);
	if (*id != TRC_INDEX_NONE)
		return 0;
	*id = 0;
	if (tree->nodes.n >= NODES_MAX)
		return 0;
	node = trc_array_add(&tree->nodes);
	if (!node)
		return -ENOMEM;
	*id = (uint32_t)tree->nodes.n;
	node->key = *row;
	node->key.stack = trc_report_canonical(tree->r, row->stack);
	node->parent = parent;
	node->next = trc_why_tree_node(tree, parent)->first;
	trc_why_tree_node(tree, parent)->first = *id;
	return trc_index_put(&tree->node, hash, *id);
}

static int tree_add_row(struct trc_why_tree *tree, const struct trc_cause *row, uint32_t times)
{
	uint32_t *place = trc_array_add(&tree->of_row), parent = 1, id = 0;
	int err;

	if (!place)
		return -ENOMEM;
	if (row->parent)
		parent = ((uint32_t *)tree->of_row.row)[row->parent - 1];
	err = parent ? find_node(tree, row, parent, &id) : 0;
	*place = id;
	if (err || !id || !times)
		return err;
	if (tree->r->causes)
		err = trc_causes_draws(tree->r->causes, row, times, id, &tree->node_draws);
	return err ? err : count(trc_why_tree_node(tree, id), &tree->threads, id, row, times);
}

static int add_leaf(struct trc_why_tree *tree, const struct trc_cause *row)
{
	uint64_t hash = hash_of(tree, row, 0);
	uint32_t id = trc_index_get(&tree->leaf, hash);
	struct trc_why_node *leaf;

	if (id == TRC_INDEX_NONE) {
		leaf = trc_array_add(&tree->leaves);
		id = (uint32_t)tree->leaves.n;
		if (!leaf || trc_index_put(&tree->leaf, hash, id))
			return -ENOMEM;
		leaf->key = *row;
		leaf->key.stack = trc_report_canonical(tree->r, row->stack);
	}
	if (tree->r->causes && trc_causes_draws(tree->r->causes, row, 1, id, &tree->leaf_draws))
		return -ENOMEM;
	return count((struct trc_why_node *)tree->leaves.row + id - 1, &tree->leaf_threads, id, row,
		     1);
}

/* causes:Q1: the leaves follow each other in time, as the rows do. */
static int keep_path(struct trc_why_tree *tree, const struct trc_cause *rows, size_t n)
{
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		if (!rows[i].depth)
			trc_report_add(&ns, rows[i].to_ns - rows[i].from_ns);
	if (tree->path.n && ns <= tree->path_ns)
		return 0;
	tree->path_ns = ns;
	tree->path.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct trc_cause *leaf = rows[i].leaf ? trc_array_add(&tree->path) : NULL;

		if (rows[i].leaf && !leaf)
			return -ENOMEM;
		if (leaf) {
			*leaf = rows[i];
			leaf->stack = trc_report_canonical(tree->r, rows[i].stack);
		}
	}
	return 0;
}

static int keep_rows(struct trc_why_tree *tree, const struct trc_cause *rows, size_t n)
{
	tree->rows.n = 0;
	for (size_t i = 0; i < n && !tree->n; i++) {
		struct trc_cause *row = trc_array_add(&tree->rows);

		if (!row)
			return -ENOMEM;
		*row = rows[i];
	}
	return 0;
}

int trc_why_tree_add(struct trc_why_tree *tree, const struct trc_cause *rows, size_t n)
{
	int err = tree->keeps_path ? keep_path(tree, rows, n) : 0;

	if (!err && tree->keeps_rows)
		err = keep_rows(tree, rows, n);
	tree->of_row.n = 0;
	tree->n++;
	for (size_t i = 0; i < n && !err; i++) {
		if (!rows[i].depth)
			trc_report_add(&tree->total_ns, rows[i].to_ns - rows[i].from_ns);
		if (rows[i].depth > tree->depth)
			tree->depth = rows[i].depth;
		err = tree_add_row(tree, &rows[i], 1);
		if (!err && rows[i].leaf)
			err = add_leaf(tree, &rows[i]);
	}
	return err;
}

static int set_margins(const struct trc_why_tree *tree, const struct trc_draws *draws,
		       struct trc_array *nodes)
{
	struct trc_why_node *node = nodes->row;
	double *margin = calloc(nodes->n + 1, sizeof(*margin));
	int err =
		margin ? trc_draws_margins(draws, tree->r->m, NULL, nodes->n + 1, margin) : -ENOMEM;

	for (size_t i = 0; i < nodes->n && !err; i++)
		node[i].margin_ns = margin[i + 1];
	free(margin);
	return err;
}

int trc_why_tree_margins(struct trc_why_tree *tree)
{
	struct trc_causes *causes = tree->r->causes;
	int err = set_margins(tree, &tree->node_draws, &tree->nodes);

	if (!err)
		err = set_margins(tree, &tree->leaf_draws, &tree->leaves);
	if (!err && causes)
		err = trc_causes_margins(causes, tree->rows.row, tree->rows.n,
					 tree->rows.row_bytes);
	if (!err && causes)
		err = trc_causes_margins(causes, tree->path.row, tree->path.n,
					 tree->path.row_bytes);
	return err;
}

int trc_why_tree_add_below(struct trc_why_tree *tree, const struct trc_cause *rows,
			   const struct trc_cause_times *times, size_t n)
{
	int err = 0;

	tree->of_row.n = 0;
	for (size_t i = 0; i < n && !err; i++)
		err = tree_add_row(tree, &rows[i], i ? times[i].n_marked : 0);
	return err;
}

uint32_t trc_why_tree_head(const struct trc_why_tree *tree)
{
	return tree->of_row.n ? *(const uint32_t *)tree->of_row.row : 0;
}

static int by_total(const void *a, const void *b)
{
	const struct trc_why_node *left = a, *right = b;

	return (left->total_ns < right->total_ns) - (left->total_ns > right->total_ns);
}

void trc_why_tree_sort_leaves(struct trc_why_tree *tree)
{
	if (tree->leaves.n)
		qsort(tree->leaves.row, tree->leaves.n, tree->leaves.row_bytes, by_total);
}

static int ids_by_total(const void *a, const void *b, void *context)
{
	const struct trc_why_tree *tree = context;

	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = by_total(trc_why_tree_node(tree, left), trc_why_tree_node(tree, right));

	/* Of equal ones the first that there was. */
	return order ? order : (left > right) - (left < right);
}

uint32_t *trc_why_tree_below(const struct trc_why_tree *tree, uint32_t id, size_t *n)
{
	uint32_t *below;
	size_t at = 0;

	*n = 0;
	for (uint32_t i = trc_why_tree_node(tree, id)->first; i;
	     i = trc_why_tree_node(tree, i)->next)
		++*n;
	below = malloc((*n + 1) * sizeof(*below));
	if (!below)
		return NULL;
	for (uint32_t i = trc_why_tree_node(tree, id)->first; i;
	     i = trc_why_tree_node(tree, i)->next)
		below[at++] = i;
	qsort_r(below, *n, sizeof(*below), ids_by_total, (void *)tree);
	return below;
}

uint32_t trc_why_tree_largest_below(const struct trc_why_tree *tree, uint32_t id)
{
	uint32_t largest = 0;

	for (uint32_t i = trc_why_tree_node(tree, id)->first; i;
	     i = trc_why_tree_node(tree, i)->next)
		if (!largest || trc_why_tree_node(tree, i)->total_ns >
					trc_why_tree_node(tree, largest)->total_ns)
			largest = i;
	return largest;
}

uint32_t trc_why_tree_most_of(const struct trc_why_tree *tree, uint32_t id)
{
	uint32_t below = trc_why_tree_largest_below(tree, id);

	return below && trc_why_tree_node(tree, below)->total_ns >
				       trc_why_tree_node(tree, id)->total_ns / 2
		       ? below
		       : 0;
}
