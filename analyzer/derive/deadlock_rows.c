/* deadlock_rows.c - the rows of m->deadlocks: whom each thread of a deadlock waits for. */
#include <errno.h>
#include <stdlib.h>
#include "deadlocks.h"

/* Why this one is kept: of those in a cycle, another that is, rather than what else it waits for. */
static const struct trc_wait_edge *edge_that_keeps(const struct trc_deadlocks *d, uint32_t row)
{
	uint32_t n;
	const struct trc_wait_edge *edge = trc_deadlocks_edges(d, row, &n);

	for (uint32_t i = 0; i < n; i++)
		if (d->dead[edge[i].to] == d->dead[row] &&
		    (!d->in_cycle[row] || d->in_cycle[edge[i].to]))
			return &edge[i];
	return NULL;
}

/* The thread that keeps it: of a lock that readers hold, one of these. */
static const struct trc_wait_edge *thread_that_keeps(const struct trc_deadlocks *d, uint32_t row)
{
	const struct trc_wait_edge *edge = edge_that_keeps(d, row);

	return edge && edge->to >= d->n ? d->lock_kept[edge->to - d->n] : edge;
}

/* Once for each lock: every writer asks, and there may be as many readers (deadlocks:D5). */
static int find_lock_kept(struct trc_deadlocks *d)
{
	d->lock_kept = calloc(d->n_nodes - d->n + 1, sizeof(*d->lock_kept));
	if (!d->lock_kept)
		return -ENOMEM;
	for (uint32_t i = d->n; i < d->n_nodes; i++)
		d->lock_kept[i - d->n] = edge_that_keeps(d, i);
	return 0;
}

static int deadlock_row(struct trc_deadlocks *d, uint32_t row)
{
	const struct trc_thread_now *now = &d->now[row];
	const struct trc_wait_edge *edge = thread_that_keeps(d, row);
	struct trc_deadlock *out = edge ? trc_array_add(&d->m->deadlocks) : NULL;

	if (!out)
		return edge ? -ENOMEM : 0;
	*out = (struct trc_deadlock){
		.deadlock = d->dead[row],
		.thread = now->thread,
		.holder = d->now[edge->to].thread,
		.reason = now->reason,
		.object = now->object,
		.since_ns = now->since_ns,
		.stack = now->stack,
		.in_cycle = d->in_cycle[row],
		.certain = edge->certain,
	};
	return 0;
}

/* From one in the cycle to the one that it waits for, as long as that has not been told. */
static int cycle_rows(struct trc_deadlocks *d, uint32_t row, bool *told)
{
	int err = 0;

	while (!told[row] && !err) {
		told[row] = true;
		err = deadlock_row(d, row);
		row = thread_that_keeps(d, row)->to;
	}
	return err;
}

/* The rows of threads by their deadlocks: those of a number from first[number] to first[number + 1]. */
static void sort_by_deadlock(const struct trc_deadlocks *d, uint32_t *first, uint32_t *row)
{
	for (uint32_t i = 0; i < d->n; i++)
		first[d->dead[i] + 2]++;
	for (uint32_t number = 1; number < d->n_dead + 2; number++)
		first[number + 1] += first[number];
	for (uint32_t i = 0; i < d->n; i++)
		row[first[d->dead[i] + 1]++] = i;
}

int trc_deadlocks_rows(struct trc_deadlocks *d)
{
	bool *told = calloc(d->n + 1, sizeof(*told));
	uint32_t *first = calloc(d->n_dead + 4, sizeof(*first));
	uint32_t *row = calloc(d->n + 1, sizeof(*row));
	int err = told && first && row ? find_lock_kept(d) : -ENOMEM;

	if (!err)
		sort_by_deadlock(d, first, row);
	for (uint32_t number = 1; number <= d->n_dead && !err; number++) {
		/* One walk tells of all, but where a writer waits for several that are in it. */
		for (uint32_t k = first[number]; k < first[number + 1] && !err; k++)
			if (d->in_cycle[row[k]])
				err = cycle_rows(d, row[k], told);
		for (uint32_t k = first[number]; k < first[number + 1] && !err; k++)
			if (!d->in_cycle[row[k]])
				err = deadlock_row(d, row[k]);
	}
	free(told);
	free(first);
	free(row);
	return err;
}

/* A wait for the same reason at the same place that timed out: this one has a timeout as well. */
int trc_deadlocks_find_timeouts(struct trc_deadlocks *d)
{
	struct trc_index seen = {0};
	struct trc_deadlock *row = d->m->deadlocks.row;
	const struct trc_park *park = d->m->parks.row;
	int err = 0;

	for (size_t i = 0; d->m->deadlocks.n && i < d->m->parks.n && !err; i++)
		if (park[i].result == ETIMEDOUT && park[i].stack)
			err = trc_index_put(&seen, (uint64_t)park[i].stack << 8 | park[i].reason,
					    1);
	for (size_t i = 0; i < d->m->deadlocks.n; i++)
		row[i].may_end = trc_index_get(&seen, (uint64_t)row[i].stack << 8 |
							      row[i].reason) != TRC_INDEX_NONE;
	trc_index_free(&seen);
	return err;
}
