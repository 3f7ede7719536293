/*
 * lock_order.c - in which order threads take locks: TRC_PART_LOCK_ORDER.
 *
 * An edge leads from a lock that a thread holds to a lock that the thread takes meanwhile, and for which it could have
 * waited.  Edges that lead round in a circle could be a deadlock, though none happened: see
 * lock_cycles.c.
 *
 *   lock_order:U1  a lock that is taken by a call that does not wait, or that the thread holds already, gets
 *       no edge: no thread can be caught there
 *   lock_order:U2  the locks that a thread holds are forgotten where events were lost, and when the thread ends: a
 *       false edge is worse than a missing one
 *   lock_order:U3  a guard of an edge is a lock that was held each time, by nobody else.  Of those held
 *       at a time the first TRC_LOCK_GUARDS_MAX are looked at
 *   lock_order:U5  a lock is its address, and a number among the locks that lay there one after another (remade.h)
 *   lock_order:U6  a wait for the end of a thread, or at a barrier, counts as taking the locks of the threads that are to
 *       come (lock_meets.h)
 *   lock_order:U4  a thread's first HELD_MAX locks are followed, and the first TRC_LOCK_EDGES_MAX edges
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/parts.h"
#include "format/check.h"
#include "lock_meets.h"
#include "lock_order.h"
#include "remade.h"

enum { HELD_MAX = 32 };

struct held {
	uint64_t object;
	uint32_t life;	/* U5 */
	uint32_t stack; /* where it was taken first */
	uint32_t n;	/* so often without a release */
	uint8_t reason;
};

struct holder {
	struct trc_lock_life life; /* first: the two share an address */
	uint32_t n;
	struct held held[HELD_MAX];
};

struct lock_order {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_index holder_row; /* by thread */
	struct trc_array holders;    /* struct holder */
	struct trc_index edge_row;   /* by check of what makes an edge one */
	struct trc_remade remade;
	struct trc_lock_meets meets;
	struct trc_index held_locks; /* by address: those that were held where another was taken */
	struct trc_index waited_for; /* by address: meetings that somebody waited for with a lock */
	bool any;		     /* acquisitions were recorded at all */
};

static struct holder *order_holder_of(struct lock_order *o, uint32_t thread)
{
	size_t n = o->holders.n;
	uint32_t number = trc_index_number(&o->holder_row, thread);
	struct holder *holder;

	if (!number)
		return NULL;
	if (number <= n)
		return (struct holder *)o->holders.row + number - 1;
	holder = trc_array_add(&o->holders);
	if (holder) {
		holder->life = (struct trc_lock_life){thread, 0, TRC_NEVER, TRC_NEVER};
	}
	return holder;
}

static struct held *held_find(struct holder *holder, uint64_t object)
{
	for (uint32_t i = 0; i < holder->n; i++)
		if (holder->held[i].object == object)
			return &holder->held[i];
	return NULL;
}

/* ---- edges ---- */

/* U3 */
static uint32_t guards_of(const struct holder *holder, const struct held *besides, uint64_t guard[])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < holder->n && n < TRC_LOCK_GUARDS_MAX; i++)
		if (&holder->held[i] != besides && holder->held[i].reason != TRC_REASON_RWLOCK_READ)
			guard[n++] = holder->held[i].object;
	return n;
}

static void guards_keep(struct trc_lock_edge *edge, const uint64_t guard[], uint32_t n)
{
	uint8_t kept = 0;

	for (uint8_t i = 0; i < edge->n_guards; i++)
		for (uint32_t j = 0; j < n; j++)
			if (edge->guard[i] == guard[j]) {
				edge->guard[kept++] = guard[j];
				break;
			}
	edge->n_guards = kept;
}

/* The edge, new with a count of 0; NULL and *err 0: there is no room for more. */
static struct trc_lock_edge *edge_find(struct lock_order *o, const struct held *held,
				       const struct held *taken, int *err)
{
	uint64_t what[4] = {held->object, taken->object,
			    (uint64_t)held->reason << 8 | taken->reason,
			    (uint64_t)held->life << 32 | taken->life};
	uint64_t key = trc_check64(what, sizeof(what), 0);
	struct trc_array *edges = &o->m->lock_edges;
	struct trc_lock_edge *edge = edges->row;
	uint32_t row;

	*err = 0;
	for (; (row = trc_index_get(&o->edge_row, key)) != TRC_INDEX_NONE; key++)
		if (edge[row].held == held->object && edge[row].taken == taken->object &&
		    edge[row].held_life == held->life && edge[row].taken_life == taken->life &&
		    edge[row].held_reason == held->reason &&
		    edge[row].taken_reason == taken->reason)
			return &edge[row];
	if (edges->n == TRC_LOCK_EDGES_MAX) /* U4 */
		return NULL;
	edges->row_bytes = sizeof(*edge);
	edge = trc_array_add(edges);
	if (!edge || trc_index_put(&o->edge_row, key, (uint32_t)edges->n - 1)) {
		*err = -ENOMEM;
		return NULL;
	}
	edge->held = held->object;
	edge->taken = taken->object;
	edge->held_life = held->life;
	edge->taken_life = taken->life;
	edge->held_reason = held->reason;
	edge->taken_reason = taken->reason;
	return edge;
}

static bool reason_is_meeting(unsigned int reason)
{
	return reason == TRC_REASON_JOIN || reason == TRC_REASON_BARRIER;
}

static int lock_edge_add(struct lock_order *o, const struct holder *holder, const struct held *held,
			 const struct held *taken, int64_t ts_ns)
{
	uint64_t guard[TRC_LOCK_GUARDS_MAX];
	uint32_t n = guards_of(holder, held, guard);
	int err;
	struct trc_lock_edge *edge = edge_find(o, held, taken, &err);

	if (!edge)
		return err;
	if (!edge->count++) {
		edge->first_ns = ts_ns;
		edge->thread = holder->life.thread;
		edge->held_stack = held->stack;
		edge->taken_stack = taken->stack;
		memcpy(edge->guard, guard, n * sizeof(*guard));
		edge->n_guards = (uint8_t)n;
	}
	guards_keep(edge, guard, n);
	edge->several_threads |= edge->thread != holder->life.thread;
	edge->last_ns = ts_ns;
	if (reason_is_meeting(taken->reason))
		err = trc_index_put(&o->waited_for, taken->object, 1);
	return err ? err : trc_index_put(&o->held_locks, held->object, 1);
}

/* lock_meets:K3.  Of several threads that take the lock, and have to come to the same meeting, the first is told. */
static int meet_edge_add(void *context, const struct trc_lock_edge *more)
{
	struct lock_order *o = context;
	const struct held held = {
		.object = more->held, .life = more->held_life, .reason = more->held_reason};
	const struct held taken = {
		.object = more->taken, .life = more->taken_life, .reason = more->taken_reason};
	struct trc_lock_edge *edge;
	int err;

	if (trc_index_get(&o->held_locks, more->taken) == TRC_INDEX_NONE ||
	    trc_index_get(&o->waited_for, more->held) == TRC_INDEX_NONE)
		return 0;
	edge = edge_find(o, &held, &taken, &err);
	if (!edge)
		return err;
	if (!edge->count) {
		*edge = *more;
		return 0;
	}
	edge->count += more->count;
	edge->several_threads |= edge->thread != more->thread;
	edge->first_ns = more->first_ns < edge->first_ns ? more->first_ns : edge->first_ns;
	edge->last_ns = more->last_ns > edge->last_ns ? more->last_ns : edge->last_ns;
	return 0;
}

/* ---- events ---- */

/* For meetings. */
static int took(struct lock_order *o, const struct holder *holder, const struct held *taken,
		int64_t ts_ns)
{
	struct trc_lock_edge edge = {.taken = taken->object,
				     .taken_life = taken->life,
				     .taken_reason = taken->reason,
				     .taken_stack = taken->stack,
				     .thread = holder->life.thread,
				     .first_ns = ts_ns,
				     .last_ns = ts_ns};

	return trc_lock_meets_took(&o->meets, &edge);
}

/* A thread waits for the end of another, or comes to a barrier: what it holds, it holds for all that have to come. */
static int meets(struct lock_order *o, const struct trc_columns *c, uint32_t row,
		 const struct held *meeting)
{
	struct holder *holder = order_holder_of(o, c->thread[row]);
	bool joins = meeting->reason == TRC_REASON_JOIN;
	int err = holder ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < holder->n; i++)
		err = lock_edge_add(o, holder, &holder->held[i], meeting, c->time_ns[row]);
	if (!err && (!joins || holder->n))
		err = trc_lock_meets_add(&o->meets, meeting->reason, meeting->object, meeting->life,
					 joins ? meeting->life : c->thread[row], c->time_ns[row]);
	return err;
}

static int parked(struct lock_order *o, const struct trc_columns *c, uint32_t row)
{
	struct held meeting = {.object = TRC_ROW_ARG(c, row, park, object),
			       .stack = (uint32_t)TRC_ROW_ARG(c, row, park, stack),
			       .reason = (uint8_t)TRC_ROW_ARG(c, row, park, reason)};

	if (meeting.reason == TRC_REASON_JOIN)
		meeting.life = (uint32_t)TRC_ROW_ARG(c, row, park, holder);
	return meeting.reason == TRC_REASON_BARRIER || meeting.life ? meets(o, c, row, &meeting)
								    : 0;
}

/* The last one that comes to a barrier does not wait. */
static int unparked(struct lock_order *o, const struct trc_columns *c, uint32_t row)
{
	const struct held meeting = {.object = TRC_ROW_ARG(c, row, unpark, object),
				     .stack = (uint32_t)TRC_ROW_ARG(c, row, unpark, stack),
				     .reason = TRC_REASON_BARRIER};

	return TRC_ROW_ARG(c, row, unpark, reason) == TRC_REASON_BARRIER
		       ? meets(o, c, row, &meeting)
		       : 0;
}

static int order_acquired(struct lock_order *o, const struct trc_columns *c, uint32_t row)
{
	struct holder *holder = order_holder_of(o, c->thread[row]);
	struct held taken = {
		.object = TRC_ROW_ARG(c, row, acquire, object),
		.stack = (uint32_t)TRC_ROW_ARG(c, row, acquire, stack),
		.reason = (uint8_t)TRC_ROW_ARG(c, row, acquire, reason),
		.n = 1,
	};
	struct held *again = holder ? held_find(holder, taken.object) : NULL;
	int err = holder ? 0 : -ENOMEM;

	if (again)
		again->n++;
	if (!err && !again)
		err = trc_remade_life(&o->remade, taken.object, &taken.life);
	if (err || again)
		return err;
	for (uint32_t i = 0; i < holder->n && !TRC_ROW_ARG(c, row, acquire, tried) && !err; i++)
		err = lock_edge_add(o, holder, &holder->held[i], &taken, c->time_ns[row]); /* U1 */
	if (!TRC_ROW_ARG(c, row, acquire, tried) && !err)
		err = took(o, holder, &taken, c->time_ns[row]);
	if (holder->n < HELD_MAX)
		holder->held[holder->n++] = taken;
	return err;
}

static int order_released(struct lock_order *o, const struct trc_columns *c, uint32_t row)
{
	struct holder *holder = order_holder_of(o, c->thread[row]);
	struct held *held = holder ? held_find(holder, TRC_ROW_ARG(c, row, release, object)) : NULL;

	if (held && !--held->n)
		memmove(held, held + 1,
			(size_t)(holder->held + --holder->n - held) * sizeof(*held));
	return holder ? 0 : -ENOMEM;
}

/* U2 */
static void forget_all(struct lock_order *o)
{
	struct holder *holder = o->holders.row;

	for (size_t i = 0; i < o->holders.n; i++)
		holder[i].n = 0;
}

static int started(struct lock_order *o, const struct trc_columns *c, uint32_t row)
{
	struct holder *holder = order_holder_of(o, c->thread[row]);

	if (holder) {
		holder->life.start_ns = c->time_ns[row];
		holder->life.creator = (uint32_t)TRC_ROW_ARG(c, row, thread_start, creator);
	}
	return holder ? 0 : -ENOMEM;
}

static int order_thread_ended(struct lock_order *o, uint32_t thread, int64_t ts_ns)
{
	struct holder *holder = order_holder_of(o, thread);

	if (holder) {
		holder->n = 0;
		holder->life.end_ns = ts_ns;
	}
	return holder ? 0 : -ENOMEM;
}

static int lock_order_event(struct lock_order *o, const struct trc_columns *c, uint32_t row)
{
	switch (c->kind[row]) {
	case TRC_KIND_ACQUIRE:
		return order_acquired(o, c, row);
	case TRC_KIND_RELEASE:
		return order_released(o, c, row);
	case TRC_KIND_PARK:
		return parked(o, c, row);
	case TRC_KIND_UNPARK:
		return unparked(o, c, row);
	case TRC_KIND_THREAD_START:
		return started(o, c, row);
	case TRC_KIND_THREAD_EXIT:
		return order_thread_ended(o, c->thread[row], c->time_ns[row]);
	case TRC_KIND_GAP:
		forget_all(o);
		break;
	case TRC_KIND_ALLOC:
		trc_remade_memory(&o->remade, TRC_ROW_ARG(c, row, alloc, address),
				  TRC_ROW_ARG(c, row, alloc, bytes));
		break;
	case TRC_KIND_FREE:
		trc_remade_memory(&o->remade, TRC_ROW_ARG(c, row, free, address),
				  TRC_ROW_ARG(c, row, free, bytes));
		break;
	default:
		break;
	}
	return 0;
}

static int lock_order_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct lock_order *o = (struct lock_order *)derive;
	int err = 0;

	if (!o->any || !trc_block_has_kinds(span->block, &derive->kinds))
		return 0;
	for (uint32_t row = span->first; row < span->last && !err; row++)
		err = lock_order_event(o, span->columns, row);
	return err;
}

static const struct trc_lock_life *life_of(const void *context, uint32_t thread)
{
	const struct lock_order *o = context;
	uint32_t number = trc_index_get(&o->holder_row, thread);

	return number == TRC_INDEX_NONE ? NULL
					: &((const struct holder *)o->holders.row)[number - 1].life;
}

static int lock_order_end(struct trc_derive *derive)
{
	struct lock_order *o = (struct lock_order *)derive;
	const struct trc_lock_lives lives = {life_of, o};
	struct trc_array *edges = &o->m->lock_edges;
	int err = trc_lock_meets_edges(&o->meets, meet_edge_add, o);

	if (!err)
		err = trc_array_sort(edges, offsetof(struct trc_lock_edge, first_ns),
				     offsetof(struct trc_lock_edge, thread));

	return err ? err : trc_lock_order_cycles(edges->row, edges->n, &lives);
}

static void lock_order_free(struct trc_derive *derive)
{
	struct lock_order *o = (struct lock_order *)derive;

	trc_index_free(&o->holder_row);
	trc_array_free(&o->holders);
	trc_index_free(&o->edge_row);
	trc_remade_free(&o->remade);
	trc_lock_meets_free(&o->meets);
	trc_index_free(&o->held_locks);
	trc_index_free(&o->waited_for);
	free(o);
}

int trc_derive_lock_order(struct trc_derive **out, struct trc_model *m)
{
	struct trc_kind_mask acquire = {{0}};
	static const unsigned int kinds[] = {
		TRC_KIND_ACQUIRE,     TRC_KIND_RELEASE, TRC_KIND_THREAD_START,
		TRC_KIND_THREAD_EXIT, TRC_KIND_GAP,	TRC_KIND_ALLOC,
		TRC_KIND_FREE,	      TRC_KIND_PARK,	TRC_KIND_UNPARK};
	struct lock_order *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->m = m;
	trc_remade_begin(&o->remade);
	trc_lock_meets_begin(&o->meets);
	m->lock_edges.row_bytes = sizeof(struct trc_lock_edge);
	o->holders.row_bytes = sizeof(struct holder);
	o->derive = (struct trc_derive){.part = TRC_PART_LOCK_ORDER,
					.span = lock_order_span,
					.end = lock_order_end,
					.free = lock_order_free};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		trc_kind_mask_add(&o->derive.kinds, kinds[i]);
	trc_kind_mask_add(&acquire, TRC_KIND_ACQUIRE);
	o->any = trc_model_has_kinds(m, &acquire);
	*out = &o->derive;
	return 0;
}
