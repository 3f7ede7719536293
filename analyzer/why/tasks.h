/* tasks.h - what threads did while tasks or regions lasted, for trees of causes. */
#ifndef TRC_ANALYZER_WHY_TASKS_H
#define TRC_ANALYZER_WHY_TASKS_H

#include "tree.h"

enum { TRC_SLOWEST_MAX = 100 }; /* of more tasks only so many are followed */

/* Which tasks: those that the report's filter leaves. */
struct trc_why_tasks {
	const uint64_t *id; /* NULL = those of `type` */
	const char *type;
	double slowest;	  /* so many percent, those that took longest; 0 = all */
	size_t most;	  /* no more than that; 0 = any number */
	int64_t least_ns; /* set: the shortest of those that were added */
};

/* Each adds to the tree, and returns 0 or -ENOMEM. */
int trc_why_add_tasks(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks);
/* The same, but of what is waited for in waits for locks only what is below the largest node of the root, and no leaf: enough for the
 * chain of largest nodes.  Takes time linear in the events while the tasks last, however many of them wait for a lock. */
int trc_why_add_chain(struct trc_why_tree *tree, struct trc_causes *causes,
		      struct trc_why_tasks *tasks);
/* Adds the region with this id.  id NULL: adds the selected regions of this type, or so many percent of them, the longest;
 * 0 = all. */
int trc_why_add_regions(struct trc_why_tree *tree, struct trc_causes *causes, const uint64_t *id,
			const char *type, double slowest);
/* Adds what a thread did in this time; TRC_NEVER: from the trace's begin, or up to its end. */
int trc_why_add_stretch(struct trc_why_tree *tree, struct trc_causes *causes, uint32_t thread,
			int64_t from_ns, int64_t to_ns);

#endif
