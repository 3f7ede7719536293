/* lock_meets.c - see lock_meets.h. */
#include "lock_meets.h"

#include <errno.h>
#include <string.h>
#include "format/check.h"

/* Of a hostile trace, too, each event and each lock taken looks at few. */
enum { MEETS_MAX = 1 << 16, MEETS_OF_THREAD_MAX = 256 };

struct meet {
	uint64_t object;
	uint32_t life, thread;
	int64_t last_ns; /* of a barrier: when the thread came there */
	uint32_t next;	 /* of the same thread, TRC_INDEX_NONE = none */
	uint8_t reason;
};

void trc_lock_meets_begin(struct trc_lock_meets *m)
{
	*m = (struct trc_lock_meets){.tooks = {.row_bytes = sizeof(struct trc_lock_edge)},
				     .meets = {.row_bytes = sizeof(struct meet)}};
}

void trc_lock_meets_free(struct trc_lock_meets *m)
{
	trc_index_free(&m->took_row);
	trc_array_free(&m->tooks);
	trc_index_free(&m->meet_row);
	trc_array_free(&m->meets);
}

int trc_lock_meets_took(struct trc_lock_meets *m, const struct trc_lock_edge *edge)
{
	const uint64_t what[3] = {edge->taken, (uint64_t)edge->taken_life << 32 | edge->thread,
				  edge->taken_reason};
	uint64_t key = trc_check64(what, sizeof(what), 0);
	struct trc_lock_edge *took = m->tooks.row;
	uint32_t row = trc_index_get(&m->took_row, key);

	if (row != TRC_INDEX_NONE) {
		took[row].count++;
		took[row].last_ns = edge->last_ns;
		return 0;
	}
	if (m->tooks.n == TRC_LOCK_EDGES_MAX)
		return 0;
	took = trc_array_add(&m->tooks);
	if (!took || trc_index_put(&m->took_row, key, (uint32_t)(m->tooks.n - 1)))
		return -ENOMEM;
	*took = *edge;
	took->count = 1;
	return 0;
}

int trc_lock_meets_add(struct trc_lock_meets *m, unsigned int reason, uint64_t object,
		       uint32_t life, uint32_t thread, int64_t ts_ns)
{
	uint32_t first = trc_index_get(&m->meet_row, thread);
	struct meet *meet = m->meets.row;
	unsigned int n = 0;

	for (uint32_t i = first; i != TRC_INDEX_NONE; i = meet[i].next) {
		if (meet[i].object == object && meet[i].life == life && meet[i].reason == reason) {
			meet[i].last_ns = ts_ns;
			return 0;
		}
		if (++n == MEETS_OF_THREAD_MAX)
			return 0;
	}
	if (m->meets.n == MEETS_MAX)
		return 0;
	meet = trc_array_add(&m->meets);
	if (!meet || trc_index_put(&m->meet_row, thread, (uint32_t)(m->meets.n - 1)))
		return -ENOMEM;
	*meet = (struct meet){object, life, thread, ts_ns, first, (uint8_t)reason};
	return 0;
}

int trc_lock_meets_edges(const struct trc_lock_meets *m,
			 int (*add)(void *context, const struct trc_lock_edge *edge), void *context)
{
	const struct trc_lock_edge *took = m->tooks.row;
	const struct meet *meet = m->meets.row;
	int err = 0;

	for (size_t i = 0; i < m->tooks.n; i++) {
		struct trc_lock_edge edge = took[i];

		for (uint32_t k = trc_index_get(&m->meet_row, edge.thread);
		     k != TRC_INDEX_NONE && !err; k = meet[k].next) {
			/* K2 */
			if (meet[k].reason == TRC_REASON_BARRIER &&
			    edge.first_ns >= meet[k].last_ns)
				continue;
			edge.held = meet[k].object;
			edge.held_life = meet[k].life;
			edge.held_reason = meet[k].reason;
			err = add(context, &edge);
		}
	}
	return err;
}
