/*
 * lock_cycles.c - edges of the order of locks that lead round in a circle: they could be a deadlock.
 *
 * The lock that one edge takes is the lock that the next edge holds.  For a deadlock the
 * threads have to be there at the same time, each waiting for the next:
 *
 *   lock_cycles:Y1  each edge belongs to another thread
 *   lock_cycles:Y2  no two edges have a guard in common, which would keep one of the threads out
 *   lock_cycles:Y3  where one edge takes a lock to read, the next one does not hold it to read
 *   lock_cycles:Y4  no edge was over before the thread of another edge was created, by the edge's own thread or by a
 *       thread that this had created.  Nor did an edge begin after the thread of another edge had ended, if the edge's own
 *       thread had created that thread: it has been joined, as a rule.  If one edge was merely earlier than another, this
 *       is chance.  Edges that several threads made are not checked for this
 *
 * An edge is in at most one reported cycle, which has as few edges as possible, up to CYCLE_MAX; the
 * search ends after STEPS_MAX steps.
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/array.h"
#include "format/check.h"
#include "format/schema.h"
#include "lock_order.h"

enum { CYCLE_MAX = 6, STEPS_MAX = 1 << 20, NONE = UINT32_MAX };

struct cycles {
	struct trc_lock_edge *edge;
	size_t n_edges;
	uint32_t n_locks;
	struct trc_index number; /* of a lock, from 1 */
	uint32_t *held, *taken;	 /* by edge: locks from 0 */
	uint32_t *first;	 /* by lock: where its edges begin in out[] */
	uint32_t *out;		 /* edges by the lock that they hold */
	uint32_t *component;	 /* by lock: which can all be reached from each other */
	uint32_t steps, n_found;
	const struct trc_lock_lives *lives;
};

/* ---- the graph ---- */

/* A lock is its address, if none lay there before. */
static uint64_t lock_key(uint64_t object, uint32_t life)
{
	const uint64_t what[2] = {object, life};

	return life ? trc_check64(what, sizeof(what), 0) : object;
}

static int locks_number(struct cycles *c)
{
	for (size_t i = 0; i < c->n_edges; i++) {
		const struct trc_lock_edge *edge = &c->edge[i];
		uint32_t held = trc_index_number(&c->number, lock_key(edge->held, edge->held_life));
		uint32_t taken =
			trc_index_number(&c->number, lock_key(edge->taken, edge->taken_life));

		if (!held || !taken)
			return -ENOMEM;
		c->held[i] = held - 1;
		c->taken[i] = taken - 1;
	}
	c->n_locks = (uint32_t)c->number.n;
	return 0;
}

/* By counting: first[lock + 1] is where the edges of the lock end. */
static void edges_list(struct cycles *c)
{
	for (size_t i = 0; i < c->n_edges; i++)
		c->first[c->held[i] + 1]++;
	for (uint32_t i = 0; i < c->n_locks; i++)
		c->first[i + 1] += c->first[i];
	for (size_t i = c->n_edges; i-- > 0;) /* from the last, so that each list keeps its order */
		c->out[--c->first[c->held[i] + 1]] = (uint32_t)i;
	/* Each first[lock + 1] is now where the edges of the lock begin. */
	for (uint32_t i = 0; i < c->n_locks; i++)
		c->first[i] = c->first[i + 1];
	c->first[c->n_locks] = (uint32_t)c->n_edges;
}

/* Tarjan's search, without recursion. */
struct search {
	uint32_t *order, *low, *at, *path, *open;
	uint32_t n_seen, n_path, n_open;
};

static void search_enter(struct search *s, const struct cycles *c, uint32_t lock)
{
	s->order[lock] = s->low[lock] = ++s->n_seen;
	s->at[lock] = c->first[lock];
	s->path[s->n_path++] = lock;
	s->open[s->n_open++] = lock;
}

/* The lock has no more edges: it ends its component, or is of that of the lock before. */
static void search_leave(struct search *s, struct cycles *c, uint32_t lock)
{
	s->n_path--;
	if (s->low[lock] == s->order[lock]) {
		uint32_t member;

		do {
			member = s->open[--s->n_open];
			c->component[member] = lock;
		} while (member != lock);
	}
	if (s->n_path) {
		uint32_t before = s->path[s->n_path - 1];

		if (s->low[lock] < s->low[before])
			s->low[before] = s->low[lock];
	}
}

static void lock_cycle_search_from(struct search *s, struct cycles *c, uint32_t root)
{
	search_enter(s, c, root);
	while (s->n_path) {
		uint32_t lock = s->path[s->n_path - 1], to;

		if (s->at[lock] == c->first[lock + 1]) {
			search_leave(s, c, lock);
			continue;
		}
		to = c->taken[c->out[s->at[lock]++]];
		if (!s->order[to])
			search_enter(s, c, to);
		else if (c->component[to] == NONE && s->order[to] < s->low[lock])
			s->low[lock] = s->order[to];
	}
}

static int components_find(struct cycles *c)
{
	size_t n = c->n_locks + 1;
	uint32_t *memory = calloc(5 * n, sizeof(*memory));
	struct search s = {.order = memory,
			   .low = memory + n,
			   .at = memory + 2 * n,
			   .path = memory + 3 * n,
			   .open = memory + 4 * n};

	if (!memory)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n_locks; i++)
		c->component[i] = NONE;
	for (uint32_t i = 0; i < c->n_locks; i++)
		if (!s.order[i])
			lock_cycle_search_from(&s, c, i);
	free(memory);
	return 0;
}

/* ---- cycles ---- */

static bool share_guard(const struct trc_lock_edge *a, const struct trc_lock_edge *b)
{
	for (uint8_t i = 0; i < a->n_guards; i++)
		for (uint8_t j = 0; j < b->n_guards; j++)
			if (a->guard[i] == b->guard[j])
				return true;
	return false;
}

/* Y4: b's thread descends from a's, by a creation after a's edge; or a's thread was created by b's, and had ended
 * before b's edge. */
static bool was_before(const struct cycles *c, const struct trc_lock_edge *a,
		       const struct trc_lock_edge *b)
{
	enum { GENERATIONS_MAX = 64 };
	const struct trc_lock_life *own = c->lives->of(c->lives->context, a->thread);
	uint32_t thread = b->thread;

	if (own && own->creator == b->thread && own->end_ns != TRC_NEVER &&
	    own->end_ns <= b->first_ns)
		return true;
	for (int i = 0; i < GENERATIONS_MAX && thread; i++) {
		const struct trc_lock_life *life = c->lives->of(c->lives->context, thread);

		if (!life)
			return false;
		if (life->creator == a->thread)
			return life->start_ns != TRC_NEVER && life->start_ns >= a->last_ns;
		thread = life->creator;
	}
	return false;
}

static bool at_once(const struct cycles *c, const struct trc_lock_edge *a,
		    const struct trc_lock_edge *b)
{
	if (share_guard(a, b)) /* Y2 */
		return false;
	if (a->several_threads || b->several_threads)
		return true;
	return a->thread != b->thread && /* Y1 */
	       !was_before(c, a, b) && !was_before(c, b, a);
}

/* Y3 */
static bool excludes(const struct trc_lock_edge *takes, const struct trc_lock_edge *holds)
{
	return takes->taken_reason != TRC_REASON_RWLOCK_READ ||
	       holds->held_reason != TRC_REASON_RWLOCK_READ;
}

static bool fits(const struct cycles *c, const uint32_t *path, uint32_t n, uint32_t next)
{
	const struct trc_lock_edge *edge = c->edge;

	if (edge[next].deadlock || !excludes(&edge[path[n - 1]], &edge[next]))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!at_once(c, &edge[path[i]], &edge[next]) ||
		    (i && c->held[path[i]] == c->taken[next]))
			return false;
	return true;
}

/* Extends the path to so many edges, the last of which leads to its begin. */
static bool close_in(struct cycles *c, uint32_t *path, uint32_t n, uint32_t wanted)
{
	uint32_t lock = c->taken[path[n - 1]];

	for (uint32_t i = c->first[lock]; i < c->first[lock + 1] && c->steps < STEPS_MAX; i++) {
		uint32_t next = c->out[i];
		bool closes = c->taken[next] == c->held[path[0]];

		c->steps++;
		if (closes != (n + 1 == wanted) ||
		    c->component[c->taken[next]] != c->component[lock] || !fits(c, path, n, next))
			continue;
		path[n] = next;
		if (closes ? excludes(&c->edge[next], &c->edge[path[0]])
			   : close_in(c, path, n + 1, wanted))
			return true;
	}
	return false;
}

static void cycle_through(struct cycles *c, uint32_t edge)
{
	uint32_t path[CYCLE_MAX] = {edge};

	if (c->edge[edge].deadlock || c->component[c->held[edge]] != c->component[c->taken[edge]])
		return;
	for (uint32_t wanted = 2; wanted <= CYCLE_MAX; wanted++) {
		if (!close_in(c, path, 1, wanted))
			continue;
		c->n_found++;
		for (uint32_t i = 0; i < wanted; i++)
			c->edge[path[i]].deadlock = c->n_found;
		return;
	}
}

int trc_lock_order_cycles(struct trc_lock_edge *edge, size_t n, const struct trc_lock_lives *lives)
{
	struct cycles c = {.edge = edge, .n_edges = n, .lives = lives};
	size_t room = 2 * n + 2; /* locks: at most two for each edge */
	uint32_t *memory = n ? calloc(3 * n + 2 * room, sizeof(*memory)) : NULL;
	int err = 0;

	if (!n)
		return 0;
	if (!memory)
		return -ENOMEM;
	c.held = memory;
	c.taken = memory + n;
	c.out = memory + 2 * n;
	c.first = memory + 3 * n;
	c.component = memory + 3 * n + room;
	err = locks_number(&c);
	if (!err) {
		edges_list(&c);
		err = components_find(&c);
	}
	for (uint32_t i = 0; i < n && !err; i++)
		cycle_through(&c, i);
	trc_index_free(&c.number);
	free(memory);
	return err;
}
