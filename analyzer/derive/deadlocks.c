/*
 * deadlocks.c - who holds what the waiting threads wait for, and so who waits for whom.
 *
 * Each waiter recorded who held the lock when the wait began.  That may be long ago: so for each lock
 * the newest claim counts, whichever thread made it.
 *
 *   deadlocks:D1  a claim says who held a lock at a time.  If a wait begins, the claim is what the lock said.
 *       If a wait ends well, or a lock is acquired, the claim is the thread itself.  A claim that nobody held the lock
 *       counts, too
 *   deadlocks:D2  a claim is void once its holder has recorded a release after it
 *   deadlocks:D3  a claim cannot have become wrong if its thread was waiting already, in the wait in which it still
 *       is.  Any other claim is certain only if no events were lost since: a release
 *       while somebody waits is recorded
 *   deadlocks:D4  a wait that began after the window's end is in no cycle: what other threads did
 *       after the window's end is not known
 *   deadlocks:D5  a lock that readers hold and writers wait for is a node of its own, between the writers and the
 *       readers: so there are as many edges as threads, not one for each pair
 *   deadlocks:D6  where a lock was taken is known if taking it is an event (--locks=all); or if its holder had waited for
 *       it, and somebody who waits for it still has done so since before: then a release would have been recorded
 *
 * A writer that waits for readers waits for all of them; who they are is known with --locks=all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "deadlocks.h"

struct claim {
	uint64_t object;
	int64_t ns;
	uint32_t holder;    /* 0 = nobody, or not known */
	uint8_t reason;	    /* as the holder took it */
	uint32_t n_waiters; /* that wait for the holder, with edges */
	/* D6: the newest wait that ended well, of whom, where and when; 0 = there was none. */
	uint32_t taker, taken_stack;
	int64_t taken_ns;
	int64_t first_since_ns; /* since when somebody has been waiting for it that still is */
};

/* D5 */
struct read_lock {
	uint64_t object;
	uint32_t first_reader; /* thread; 0 = none was seen yet */
	uint32_t n_writers;    /* that wait for its readers */
};

static bool is_exclusive(unsigned int reason)
{
	return trc_reason_is_lock(reason) && reason != TRC_REASON_RWLOCK_READ;
}

/* How somebody else has the lock that a waiter for this reason cannot get. */
static uint8_t reason_held(uint8_t reason)
{
	switch (reason) {
	case TRC_REASON_RWLOCK_READ:
		return TRC_REASON_RWLOCK_WRITE;
	case TRC_REASON_COND_MUTEX:
		return TRC_REASON_MUTEX;
	default:
		return reason;
	}
}

/* --- claims --- */

static struct claim *claim_of(const struct trc_deadlocks *d, uint64_t object)
{
	uint32_t row = trc_index_get(&d->claim_row, object);

	return row == TRC_INDEX_NONE ? NULL : (struct claim *)d->claims.row + row;
}

static struct claim *claim_find_or_add(struct trc_deadlocks *d, uint64_t object)
{
	struct claim *claim = claim_of(d, object);

	if (claim)
		return claim;
	claim = trc_array_add(&d->claims);
	if (!claim || trc_index_put(&d->claim_row, object, (uint32_t)(d->claims.n - 1)))
		return NULL;
	*claim = (struct claim){.object = object, .ns = TRC_NEVER, .first_since_ns = INT64_MAX};
	return claim;
}

static int claims_begin(struct trc_deadlocks *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const struct trc_thread_now *now = &d->now[i];
		struct claim *claim;

		if (!trc_reason_is_lock(now->reason))
			continue;
		claim = claim_find_or_add(d, now->object);
		if (!claim)
			return -ENOMEM;
		if (now->since_ns != TRC_NEVER && now->since_ns < claim->first_since_ns)
			claim->first_since_ns = now->since_ns;
	}
	return 0;
}

static void claim_put(struct claim *claim, int64_t ns, uint32_t holder, uint8_t reason)
{
	if (ns < claim->ns || (ns == claim->ns && !holder))
		return;
	claim->ns = ns;
	claim->holder = holder;
	claim->reason = reason;
}

/* D6 */
static void claim_took(struct claim *claim, const struct trc_park *park)
{
	if (!is_exclusive(park->reason) || (claim->taker && park->end_ns < claim->taken_ns))
		return;
	claim->taker = park->thread;
	claim->taken_stack = park->stack;
	claim->taken_ns = park->end_ns;
}

/* D1 */
static void claims_from_parks(struct trc_deadlocks *d)
{
	const struct trc_park *park = d->m->parks.row;

	for (size_t i = 0; i < d->m->parks.n; i++, park++) {
		bool got = park->result == 0 || park->result == EOWNERDEAD;
		struct claim *claim =
			trc_reason_is_lock(park->reason) ? claim_of(d, park->object) : NULL;

		if (!claim)
			continue;
		if (!(park->flags & TRC_PARK_CUT))
			claim_put(claim, park->start_ns, park->holder, reason_held(park->reason));
		if (got && !(park->flags & TRC_PARK_NO_END)) {
			claim_took(claim, park);
			claim_put(claim, park->end_ns,
				  is_exclusive(park->reason) ? park->thread : 0,
				  reason_held(park->reason));
		}
	}
}

/* D1 */
static void claims_from_uses(struct trc_deadlocks *d)
{
	const struct trc_lock_use *use = d->uses->uses.row;

	for (size_t i = 0; i < d->uses->uses.n; i++, use++) {
		struct claim *claim = use->n_held ? claim_of(d, use->object) : NULL;

		if (claim && is_exclusive(use->reason))
			claim_put(claim, use->acquired_ns, use->thread, use->reason);
	}
}

/* D2 */
static void claims_check(struct trc_deadlocks *d)
{
	struct claim *claim = d->claims.row;

	for (size_t i = 0; i < d->claims.n; i++, claim++) {
		const struct trc_lock_use *use =
			trc_lock_uses_find(d->uses, claim->object, claim->holder);

		if (claim->holder && use && use->released_ns >= claim->ns)
			claim->holder = 0;
	}
}

/* --- who waits for whom --- */

static bool nothing_missing_since(const struct trc_deadlocks *d, int64_t ns)
{
	return d->m->window_ns <= ns && d->last_gap_ns < ns;
}

static int edge_put(struct trc_deadlocks *d, uint32_t from, uint32_t to, bool certain)
{
	struct trc_wait_edge *edge = trc_array_add(&d->edges);

	if (!edge)
		return -ENOMEM;
	*edge = (struct trc_wait_edge){from, to, certain};
	return 0;
}

/* D3: the thread in row `to` had at that time what somebody waits for. */
static bool holder_is_certain(const struct trc_deadlocks *d, uint32_t to, int64_t ns)
{
	return trc_reader_info(d->m->reader)->complete &&
	       ((d->now[to].state == TRC_THREAD_WAITING && d->now[to].since_ns <= ns) ||
		nothing_missing_since(d, ns));
}

static int deadlock_edge_add(struct trc_deadlocks *d, uint32_t from, uint32_t holder, int64_t ns)
{
	uint32_t to = trc_index_get(&d->row, holder);

	if (!d->now[from].holder)
		d->now[from].holder = holder;
	if (to == TRC_INDEX_NONE || d->now[from].since_ns > d->until_ns)
		return 0;
	return edge_put(d, from, to, holder_is_certain(d, to, ns));
}

/* Only the thread itself can end what a joiner waits for, whenever it was asked. */
static int edge_add_join(struct trc_deadlocks *d, uint32_t from, uint32_t joined)
{
	return deadlock_edge_add(d, from, joined, INT64_MAX);
}

static int edge_of_claim(struct trc_deadlocks *d, uint32_t from, struct claim *claim)
{
	size_t n = d->edges.n;
	int err = deadlock_edge_add(d, from, claim->holder, claim->ns);

	claim->n_waiters += d->edges.n > n;
	return err;
}

static int edges_from_waits(struct trc_deadlocks *d)
{
	int err = 0;

	for (uint32_t i = 0; i < d->n && !err; i++) {
		struct claim *claim =
			trc_reason_is_lock(d->now[i].reason) ? claim_of(d, d->now[i].object) : NULL;
		uint32_t told = d->now[i].holder;

		d->now[i].holder = 0;
		if (claim && claim->holder)
			err = edge_of_claim(d, i, claim);
		else if (!claim && d->now[i].reason == TRC_REASON_JOIN && told)
			err = edge_add_join(d, i, told);
	}
	return err;
}

/* ---- readers (D5) ---- */

static struct read_lock *read_lock_of(const struct trc_deadlocks *d, uint64_t object)
{
	uint32_t row = trc_index_get(&d->read_lock_row, object);

	return row == TRC_INDEX_NONE ? NULL : (struct read_lock *)d->read_locks.row + row;
}

static bool waits_to_write(const struct trc_thread_now *now)
{
	return now->reason == TRC_REASON_RWLOCK_WRITE;
}

static int read_locks_find(struct trc_deadlocks *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		struct read_lock *lock;

		if (!waits_to_write(&d->now[i]) || read_lock_of(d, d->now[i].object))
			continue;
		lock = trc_array_add(&d->read_locks);
		if (!lock || trc_index_put(&d->read_lock_row, d->now[i].object,
					   (uint32_t)(d->read_locks.n - 1)))
			return -ENOMEM;
		lock->object = d->now[i].object;
	}
	return 0;
}

/* From the lock to who reads it, if somebody waits to write. */
static int edges_to_readers(struct trc_deadlocks *d)
{
	const struct trc_lock_use *use = d->uses->uses.row;
	int err = 0;

	for (size_t u = 0; u < d->uses->uses.n && !err; u++, use++) {
		const struct claim *claim = use->n_held ? claim_of(d, use->object) : NULL;
		struct read_lock *lock = claim ? read_lock_of(d, use->object) : NULL;
		uint32_t to = trc_index_get(&d->row, use->thread);

		if (!lock || claim->holder || use->reason != TRC_REASON_RWLOCK_READ ||
		    use->released_ns > use->acquired_ns)
			continue;
		if (!lock->first_reader)
			lock->first_reader = use->thread;
		if (to != TRC_INDEX_NONE)
			err = edge_put(
				d, d->n + (uint32_t)(lock - (struct read_lock *)d->read_locks.row),
				to, holder_is_certain(d, to, use->acquired_ns));
	}
	return err;
}

/* From who waits to write to the lock, if somebody reads it. */
static int edges_from_writers(struct trc_deadlocks *d)
{
	int err = 0;

	for (uint32_t i = 0; i < d->n && !err; i++) {
		struct read_lock *lock =
			waits_to_write(&d->now[i]) ? read_lock_of(d, d->now[i].object) : NULL;

		if (!lock || !lock->first_reader)
			continue;
		if (!d->now[i].holder)
			d->now[i].holder = lock->first_reader;
		if (d->now[i].since_ns > d->until_ns)
			continue;
		lock->n_writers++;
		err = edge_put(d, i,
			       d->n + (uint32_t)(lock - (struct read_lock *)d->read_locks.row),
			       true);
	}
	return err;
}

static int edges_of_read_locks(struct trc_deadlocks *d)
{
	int err = read_locks_find(d);

	d->n_nodes = d->n + (uint32_t)d->read_locks.n;
	if (!err)
		err = edges_to_readers(d);
	return err ? err : edges_from_writers(d);
}

const struct trc_wait_edge *trc_deadlocks_edges(const struct trc_deadlocks *d, uint32_t row,
						uint32_t *n)
{
	*n = d->first_edge[row + 1] - d->first_edge[row];
	/* There may be no edge at all, and no row to add to. */
	return *n ? (const struct trc_wait_edge *)d->edges.row + d->first_edge[row] : NULL;
}

static int by_from(const void *a, const void *b)
{
	const struct trc_wait_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int edges_sort(struct trc_deadlocks *d)
{
	const struct trc_wait_edge *edge;

	d->first_edge = calloc(d->n_nodes + 2, sizeof(*d->first_edge));
	if (!d->first_edge)
		return -ENOMEM;
	if (d->edges.n)
		qsort(d->edges.row, d->edges.n, sizeof(struct trc_wait_edge), by_from);
	edge = d->edges.row;
	for (size_t i = 0; i < d->edges.n; i++)
		d->first_edge[edge[i].from + 1]++;
	for (uint32_t i = 0; i < d->n_nodes; i++)
		d->first_edge[i + 1] += d->first_edge[i];
	return 0;
}

/* --- what each thread holds --- */

/* D6 */
static bool is_where_taken(const struct trc_deadlocks *d, const struct claim *claim)
{
	const struct trc_lock_use *use = trc_lock_uses_find(d->uses, claim->object, claim->holder);

	if (claim->taker != claim->holder || !claim->taken_stack ||
	    claim->first_since_ns >= claim->taken_ns)
		return false;
	return !(use && use->released_ns >= claim->taken_ns) &&
	       nothing_missing_since(d, claim->taken_ns) && trc_reader_info(d->m->reader)->complete;
}

static struct trc_lock_held *held_add(struct trc_deadlocks *d, uint32_t thread, uint64_t object,
				      uint8_t reason, uint32_t n_waiters)
{
	const struct trc_lock_use *use = trc_lock_uses_find(d->uses, object, thread);
	struct trc_lock_held *held = trc_array_add(&d->m->locks_held);

	if (!held)
		return NULL;
	*held = (struct trc_lock_held){.thread = thread,
				       .reason = reason,
				       .object = object,
				       .since_ns = TRC_NEVER,
				       .waiters = n_waiters};
	if (use && use->n_held) {
		held->since_ns = use->acquired_ns;
		held->stack = use->stack;
	}
	return held;
}

static int held_add_claimed(struct trc_deadlocks *d, const struct claim *claim)
{
	struct trc_lock_held *held =
		held_add(d, claim->holder, claim->object, claim->reason, claim->n_waiters);

	if (held && !held->stack && is_where_taken(d, claim)) {
		held->since_ns = claim->taken_ns;
		held->stack = claim->taken_stack;
	}
	return held ? 0 : -ENOMEM;
}

static int compare_held(const void *a, const void *b)
{
	const struct trc_lock_held *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->object > y->object) - (x->object < y->object);
}

/* Who wait to write what this thread reads. */
static uint32_t n_writers(const struct trc_deadlocks *d, const struct trc_lock_use *use)
{
	const struct read_lock *lock =
		use->reason == TRC_REASON_RWLOCK_READ ? read_lock_of(d, use->object) : NULL;

	return lock ? lock->n_writers : 0;
}

static int find_locks_held(struct trc_deadlocks *d)
{
	const struct trc_lock_use *use = d->uses->uses.row;
	const struct claim *claim = d->claims.row;
	int err = 0;

	for (size_t i = 0; i < d->claims.n && !err; i++, claim++)
		if (claim->holder)
			err = held_add_claimed(d, claim);
	for (size_t i = 0; i < d->uses->uses.n && !err; i++, use++) {
		claim = claim_of(d, use->object);
		if (use->n_held && use->released_ns <= use->acquired_ns &&
		    trc_index_get(&d->row, use->thread) != TRC_INDEX_NONE &&
		    !(claim && claim->holder) &&
		    !held_add(d, use->thread, use->object, use->reason, n_writers(d, use)))
			err = -ENOMEM;
	}
	if (d->m->locks_held.n)
		qsort(d->m->locks_held.row, d->m->locks_held.n, sizeof(struct trc_lock_held),
		      compare_held);
	return err;
}

static void look_around(struct trc_deadlocks *d)
{
	const struct trc_coverage *c = d->m->coverage.row;
	const struct trc_gap *gap = d->m->gaps.row;

	d->until_ns = d->m->coverage.n ? TRC_NEVER : INT64_MAX;
	for (size_t i = 0; i < d->m->coverage.n; i++)
		if (c[i].to_ns > d->until_ns)
			d->until_ns = c[i].to_ns;
	d->last_gap_ns = TRC_NEVER;
	for (size_t i = 0; i < d->m->gaps.n; i++)
		if (gap[i].lost_events && gap[i].source != TRC_SOURCE_KERNEL &&
		    gap[i].ts_ns > d->last_gap_ns)
			d->last_gap_ns = gap[i].ts_ns;
}

static int deadlocks_run(struct trc_deadlocks *d)
{
	int err = 0;

	for (uint32_t i = 0; i < d->n && !err; i++)
		err = trc_index_put(&d->row, d->now[i].thread, i);
	if (!err)
		err = claims_begin(d);
	if (err)
		return err;
	claims_from_parks(d);
	claims_from_uses(d);
	claims_check(d);
	look_around(d);
	err = edges_from_waits(d);
	if (!err)
		err = edges_of_read_locks(d);
	if (!err)
		err = edges_sort(d);
	if (!err)
		err = trc_deadlocks_find_cycles(d);
	if (!err)
		err = trc_deadlocks_number(d);
	if (!err)
		err = trc_deadlocks_rows(d);
	if (!err)
		err = trc_deadlocks_find_timeouts(d);
	return err ? err : find_locks_held(d);
}

int trc_derive_deadlocks(struct trc_model *m, const struct trc_lock_uses *uses)
{
	struct trc_deadlocks d = {
		.m = m,
		.uses = uses,
		.now = m->threads_now.row,
		.n = (uint32_t)m->threads_now.n,
		.claims = {.row_bytes = sizeof(struct claim)},
		.edges = {.row_bytes = sizeof(struct trc_wait_edge)},
		.read_locks = {.row_bytes = sizeof(struct read_lock)},
	};
	int err = deadlocks_run(&d);

	trc_index_free(&d.row);
	trc_index_free(&d.claim_row);
	trc_array_free(&d.claims);
	trc_array_free(&d.edges);
	trc_array_free(&d.read_locks);
	trc_index_free(&d.read_lock_row);
	free(d.first_edge);
	free(d.dead);
	free(d.in_cycle);
	free(d.lock_kept);
	return err;
}
