/*
 * holds.c - when threads held which locks: TRC_PART_HOLDS.
 *
 * With --locks=all every acquisition and every release is an event.  A hold lasts from a thread's
 * first acquisition of a lock to the release that gives it back.
 *
 *   holds:Y1  a lock that its holder takes again is held until it is released as often
 *   holds:Y2  a hold in which events were lost is left out: a release and the next acquisition may
 *       be among them
 *   holds:Y3  a release without an acquisition is left out: the lock was taken before the trace
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"

struct lost {
	int64_t ts_ns, since_ns; /* since_ns: the earliest of this gap and all after it */
};

struct holds {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_index
		latest; /* by object and thread: the row of the thread's latest hold of the lock */
	struct trc_array lost; /* struct lost, by ts_ns */
	bool any;	       /* acquisitions were recorded at all */
};

/* The thread's latest hold of the lock, or NULL and in *key where to enter one. */
static struct trc_hold *latest_of(const struct holds *h, uint64_t object, uint32_t thread,
				  uint64_t *key)
{
	uint32_t row;

	*key = trc_index_key(object, thread);
	while ((row = trc_index_get(&h->latest, *key)) != TRC_INDEX_NONE) {
		struct trc_hold *hold = (struct trc_hold *)h->m->holds.row + row;

		if (hold->object == object && hold->thread == thread)
			return hold;
		++*key;
	}
	return NULL;
}

static int hold_acquired(struct holds *h, const struct trc_columns *c, uint32_t row)
{
	uint64_t object = TRC_ROW_ARG(c, row, acquire, object), key;
	struct trc_hold *hold = latest_of(h, object, c->thread[row], &key);

	if (hold && hold->depth) { /* Y1 */
		hold->depth++;
		return 0;
	}
	hold = trc_array_add(&h->m->holds);
	if (!hold || trc_index_put(&h->latest, key, (uint32_t)(h->m->holds.n - 1)))
		return -ENOMEM;
	*hold = (struct trc_hold){
		.start_ns = c->time_ns[row],
		.end_ns = TRC_NEVER,
		.object = object,
		.thread = c->thread[row],
		.stack = (uint32_t)TRC_ROW_ARG(c, row, acquire, stack),
		.depth = 1,
		.proc = c->proc[row],
		.reason = (uint8_t)TRC_ROW_ARG(c, row, acquire, reason),
		.tried = TRC_ROW_ARG(c, row, acquire, tried) != 0,
	};
	return 0;
}

static void hold_released(struct holds *h, const struct trc_columns *c, uint32_t row)
{
	uint64_t key;
	struct trc_hold *hold =
		latest_of(h, TRC_ROW_ARG(c, row, release, object), c->thread[row], &key);

	if (hold && hold->depth && !--hold->depth) /* else Y3 */
		hold->end_ns = c->time_ns[row];
}

static int hold_lost_add(struct holds *h, const struct trc_columns *c, uint32_t row)
{
	struct lost *lost;

	if (!TRC_ROW_ARG(c, row, gap, lost_events))
		return 0;
	lost = trc_array_add(&h->lost);
	if (!lost)
		return -ENOMEM;
	*lost = (struct lost){c->time_ns[row], (int64_t)TRC_ROW_ARG(c, row, gap, since)};
	return 0;
}

static int holds_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct holds *h = (struct holds *)derive;
	const struct trc_columns *c = span->columns;
	int err = 0;

	if (!h->any || !trc_block_has_kinds(span->block, &derive->kinds))
		return 0;
	for (uint32_t row = span->first; row < span->last && !err; row++) {
		if (c->kind[row] == TRC_KIND_ACQUIRE)
			err = hold_acquired(h, c, row);
		else if (c->kind[row] == TRC_KIND_RELEASE)
			hold_released(h, c, row);
		else if (c->kind[row] == TRC_KIND_GAP)
			err = hold_lost_add(h, c, row);
	}
	return err;
}

/* Y2.  Rows are by start, and gaps by time. */
static void leave_out_lost(struct holds *h)
{
	struct trc_array *holds = &h->m->holds;
	struct trc_hold *hold = holds->row;
	struct lost *lost = h->lost.row;
	size_t kept = 0, next = 0;

	for (size_t i = h->lost.n; i-- > 1;)
		if (lost[i].since_ns < lost[i - 1].since_ns)
			lost[i - 1].since_ns = lost[i].since_ns;
	for (size_t i = 0; i < holds->n; i++) {
		int64_t end_ns = hold[i].end_ns == TRC_NEVER ? h->m->end_ns : hold[i].end_ns;

		while (next < h->lost.n && lost[next].ts_ns < hold[i].start_ns)
			next++;
		if (next < h->lost.n && lost[next].since_ns <= end_ns)
			continue;
		hold[kept] = hold[i];
		hold[kept++].depth = 0;
	}
	holds->n = kept;
}

static int holds_end(struct trc_derive *derive)
{
	struct holds *h = (struct holds *)derive;
	int err = trc_array_sort(&h->m->holds, offsetof(struct trc_hold, start_ns),
				 offsetof(struct trc_hold, thread));

	if (!err && h->m->holds.n)
		leave_out_lost(h);
	return err;
}

static void holds_free(struct trc_derive *derive)
{
	struct holds *h = (struct holds *)derive;

	trc_index_free(&h->latest);
	trc_array_free(&h->lost);
	free(h);
}

int trc_derive_holds(struct trc_derive **out, struct trc_model *m)
{
	struct holds *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->m = m;
	h->lost.row_bytes = sizeof(struct lost);
	h->derive = (struct trc_derive){
		.part = TRC_PART_HOLDS, .span = holds_span, .end = holds_end, .free = holds_free};
	trc_kind_mask_add(&h->derive.kinds, TRC_KIND_ACQUIRE);
	h->any = trc_model_has_kinds(m, &h->derive.kinds);
	trc_kind_mask_add(&h->derive.kinds, TRC_KIND_RELEASE);
	trc_kind_mask_add(&h->derive.kinds, TRC_KIND_GAP);
	*out = &h->derive;
	return 0;
}
