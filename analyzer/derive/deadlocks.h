/* deadlocks.h - who waits for whom, as the files that find deadlocks share it. */
#ifndef TRC_ANALYZER_DERIVE_DEADLOCKS_H
#define TRC_ANALYZER_DERIVE_DEADLOCKS_H

#include "locks.h"

/* Nodes: `from` waits for something that `to` has. */
struct trc_wait_edge {
	uint32_t from, to;
	bool certain;
};

struct trc_deadlocks {
	struct trc_model *m;
	const struct trc_lock_uses *uses;
	struct trc_thread_now *now;
	uint32_t n;			/* threads, the first nodes: rows of threads_now */
	uint32_t n_nodes;		/* the others are read_locks */
	struct trc_array read_locks;	/* struct read_lock */
	struct trc_index read_lock_row; /* by object */
	struct trc_index row;		/* by thread */
	struct trc_index claim_row;	/* by object */
	struct trc_array claims;	/* struct claim: of every lock that is waited for */
	struct trc_array edges;		/* struct trc_wait_edge; after edges_sort() by `from` */
	uint32_t *first_edge;		/* [n_nodes + 1] */
	int64_t until_ns;		/* D4 */
	int64_t last_gap_ns;
	uint32_t *dead; /* [n_nodes]: number of the deadlock, 0 = none */
	bool *in_cycle; /* [n_nodes] */
	uint32_t n_dead;
	const struct trc_wait_edge **
		lock_kept; /* [n_nodes - n]: of a read_lock in a deadlock, one that keeps it; NULL = none */
};

/* The *n edges that begin at this node; NULL = none. */
const struct trc_wait_edge *trc_deadlocks_edges(const struct trc_deadlocks *d, uint32_t row,
						uint32_t *n);

/* ---- deadlock_cycles.c ---- */

/* Finds which nodes are in a circle, or wait for one: d->in_cycle and d->dead.  0 or -ENOMEM. */
int trc_deadlocks_find_cycles(struct trc_deadlocks *d);
/* Numbers the deadlocks anew, in d->dead and d->now.  0 or -ENOMEM. */
int trc_deadlocks_number(struct trc_deadlocks *d);

/* ---- deadlock_rows.c ---- */

/* Fills m->deadlocks.  0 or -ENOMEM. */
int trc_deadlocks_rows(struct trc_deadlocks *d);
/* Notes of which rows the wait may end by itself.  0 or -ENOMEM. */
int trc_deadlocks_find_timeouts(struct trc_deadlocks *d);

#endif
