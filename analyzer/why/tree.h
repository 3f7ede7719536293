/* tree.h - the causes of one wait or of many, with those that are alike summed. */
#ifndef TRC_ANALYZER_WHY_TREE_H
#define TRC_ANALYZER_WHY_TREE_H

#include "analyzer/causes/causes.h"
#include "analyzer/causes/together.h"
#include "analyzer/words/words.h"

/* Causes of one kind at one place, below the same node. */
struct trc_why_node {
	struct trc_cause key;	      /* of the first; `stack` is canonical, `thread` one of them */
	uint32_t parent, first, next; /* ids of nodes, 0 = none */
	uint32_t n_threads;
	/* Of PREEMPTED: how many threads ran instead, which of them longest, and for how long. */
	uint32_t n_instead, instead;
	int64_t instead_ns;
	uint64_t n;
	int64_t total_ns;
	double margin_ns; /* how far total_ns may be off, where samples tell the place; else 0 */
};

/* What is known of the threads of nodes, by node and thread. */
struct trc_why_threads {
	struct trc_index seen;	     /* counted */
	struct trc_index instead;    /* numbers those that ran instead; ... */
	struct trc_array instead_ns; /* int64_t: ... for how long each did */
};

struct trc_why_tree {
	const struct trc_report *r;
	struct trc_array
		nodes;	       /* struct trc_why_node; its id is its index + 1, and 1 is the root */
	struct trc_index node; /* by trc_check64() of what is alike */
	struct trc_why_threads threads;
	struct trc_array
		of_row; /* uint32_t: the node of each row of the tree that is being added */
	struct trc_array leaves; /* struct trc_why_node, without a tree */
	struct trc_index leaf;
	struct trc_why_threads leaf_threads;
	/* The leaves of the longest of the trees, if they are to be kept: struct trc_cause, by time. */
	bool keeps_path;
	struct trc_array path;
	int64_t path_ns;
	/* The rows themselves, struct trc_cause, if they are to be kept and there is one tree. */
	bool keeps_rows;
	struct trc_array rows;
	/* Waits that are told in the same words are not one if their kinds differ. */
	bool keeps_kinds;
	/* What samples tell of the rows, which are those of the report's causes: for trc_why_tree_margins(). */
	struct trc_draws node_draws, leaf_draws; /* by id */
	int64_t total_ns;
	uint32_t depth; /* of the deepest row */
	uint64_t n;	/* trees that were added */
};

/* Each returns 0 or -ENOMEM. */
int trc_why_tree_begin(struct trc_why_tree *tree, const struct trc_report *r);
int trc_why_tree_add(struct trc_why_tree *tree, const struct trc_cause *rows, size_t n);
/* Adds each row but the first as many times as marked waits have it; but no leaf.  The first was added before. */
int trc_why_tree_add_below(struct trc_why_tree *tree, const struct trc_cause *rows,
			   const struct trc_cause_times *times, size_t n);
/* The node of the first row that was added last. */
uint32_t trc_why_tree_head(const struct trc_why_tree *tree);
/* Sets the margins of nodes, leaves and rows that are kept, after the last tree was added, and before leaves are sorted.
 * 0 or -ENOMEM. */
int trc_why_tree_margins(struct trc_why_tree *tree);
void trc_why_tree_free(struct trc_why_tree *tree);

/* The nodes below this node, largest first; an array of ids that is the caller's to free.  NULL without memory. */
uint32_t *trc_why_tree_below(const struct trc_why_tree *tree, uint32_t id, size_t *n);
/* The largest node below this node; 0 = there is none. */
uint32_t trc_why_tree_largest_below(const struct trc_why_tree *tree, uint32_t id);
/* The largest node below this node, if it is more than half of this node; else 0. */
uint32_t trc_why_tree_most_of(const struct trc_why_tree *tree, uint32_t id);
/* Sorts the leaves, largest first. */
void trc_why_tree_sort_leaves(struct trc_why_tree *tree);

static inline struct trc_why_node *trc_why_tree_node(const struct trc_why_tree *tree, uint32_t id)
{
	return (struct trc_why_node *)tree->nodes.row + id - 1;
}

#endif
