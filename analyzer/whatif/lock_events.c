/* lock_events.c - see lock_events.h. */
#include "lock_events.h"

#include <errno.h>
#include <stdio.h>
#include "analyzer/model/merge.h"

static int lock_events_no_memory(struct trc_error *error)
{
	snprintf(error->text, sizeof(error->text), "critical sections: out of memory");
	return -ENOMEM;
}

/* The row of a lock, added if it is new; TRC_INDEX_NONE without memory. */
static uint32_t lock_row(struct trc_sections *s, uint64_t object)
{
	uint32_t row = trc_index_get(&s->lock_row, object);
	uint64_t *lock;

	if (row != TRC_INDEX_NONE)
		return row;
	lock = trc_array_add(&s->locks);
	if (!lock || trc_index_put(&s->lock_row, object, (uint32_t)(s->locks.n - 1)))
		return TRC_INDEX_NONE;
	*lock = object;
	return (uint32_t)(s->locks.n - 1);
}

static int lock_event_add(struct trc_array *events, struct trc_sections *s, uint64_t object,
			  const struct trc_lock_event *event)
{
	uint32_t lock = event->kind == TRC_LOCK_COND ? 0 : lock_row(s, object);
	struct trc_lock_event *row =
		lock == TRC_INDEX_NONE ? NULL : (struct trc_lock_event *)trc_array_add(events);

	if (!row)
		return -ENOMEM;
	*row = *event;
	row->lock = lock;
	row->rank = event->kind != TRC_LOCK_UNLOCKED;
	return 0;
}

static bool ended_with_lock(const struct trc_park *park)
{
	return trc_reason_is_lock(park->reason) && !(park->flags & TRC_PARK_NO_END) &&
	       !park->result && park->end_ns != TRC_NEVER;
}

/* At equal times an unlock comes before the end of the wait that it ended: rank. */
static int lock_events_add_rows(struct trc_array *events, struct trc_sections *s,
				const struct trc_model *m)
{
	size_t n_parks, n_unlocks;
	const struct trc_park *park = trc_model_parks(m, &n_parks);
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n_unlocks);
	struct trc_lock_event event;
	int err = 0;

	for (size_t i = 0; i < n_unlocks && !err; i++) {
		event = (struct trc_lock_event){
			.ts_ns = unlock[i].ts_ns,
			.thread = unlock[i].thread,
			.row = (uint32_t)i + 1,
			.kind = TRC_LOCK_UNLOCKED,
			.reader = unlock[i].reason == TRC_REASON_RWLOCK_READ,
		};
		err = lock_event_add(events, s, unlock[i].object, &event);
	}
	for (size_t i = 0; i < n_parks && !err; i++) {
		event = (struct trc_lock_event){
			.ts_ns = park[i].start_ns,
			.thread = park[i].thread,
			.row = (uint32_t)i + 1,
			.reader = park[i].reason == TRC_REASON_RWLOCK_READ,
		};
		if (park[i].reason == TRC_REASON_COND) {
			event.kind = TRC_LOCK_COND;
			err = lock_event_add(events, s, 0, &event);
		} else if (ended_with_lock(&park[i])) {
			event.kind = TRC_LOCK_WANTED;
			err = lock_event_add(events, s, park[i].object, &event);
			event.kind = TRC_LOCK_GOT;
			event.ts_ns = park[i].end_ns;
			if (!err)
				err = lock_event_add(events, s, park[i].object, &event);
		}
	}
	return err;
}

/* Of acquire and release both arguments have the same places. */
_Static_assert((int)TRC_ARG_INDEX(acquire, object) == (int)TRC_ARG_INDEX(release, object),
	       "an acquire and a release look alike");

static uint64_t argument(const struct trc_columns *c, uint32_t row, unsigned int arg)
{
	const uint64_t *const *args = c->arg[c->kind[row]];

	return args && args[arg] ? args[arg][c->rank[row]] : 0;
}

static int lock_events_add_span(struct trc_array *events, struct trc_sections *s,
				const struct trc_span *span)
{
	const struct trc_columns *c = span->columns;
	int err = 0;

	for (uint32_t i = span->first; i < span->last && !err; i++) {
		struct trc_lock_event event = {.ts_ns = c->time_ns[i], .thread = c->thread[i]};

		if (c->kind[i] != TRC_KIND_ACQUIRE && c->kind[i] != TRC_KIND_RELEASE)
			continue;
		event.kind = c->kind[i] == TRC_KIND_ACQUIRE ? TRC_LOCK_ACQUIRED : TRC_LOCK_RELEASED;
		event.reader =
			argument(c, i, TRC_ARG_INDEX(acquire, reason)) == TRC_REASON_RWLOCK_READ;
		event.tried = c->kind[i] == TRC_KIND_ACQUIRE &&
			      argument(c, i, TRC_ARG_INDEX(acquire, tried));
		err = lock_event_add(events, s, argument(c, i, TRC_ARG_INDEX(acquire, object)),
				     &event);
		s->all = true;
	}
	return err;
}

static int add_all_uses(struct trc_array *events, struct trc_sections *s, const struct trc_model *m,
			struct trc_error *error)
{
	struct trc_kind_mask kinds = {{0}};
	struct trc_merge_options options = TRC_MERGE_EVERYTHING;
	struct trc_error damage;
	struct trc_merge *merge;
	struct trc_span span;
	int got, err = 0;

	trc_kind_mask_add(&kinds, TRC_KIND_ACQUIRE);
	trc_kind_mask_add(&kinds, TRC_KIND_RELEASE);
	options.kinds = &kinds;
	if (trc_merge_open(&merge, trc_model_reader(m), &options))
		return lock_events_no_memory(error);
	/* A damaged block was told when the other parts were derived. */
	while (!err && (got = trc_merge_next(merge, &span, &damage)) != 0)
		if (got > 0)
			err = lock_events_add_span(events, s, &span);
	trc_merge_close(merge);
	return err ? lock_events_no_memory(error) : 0;
}

int trc_lock_events_make(struct trc_array *events, struct trc_sections *s,
			 const struct trc_model *m, struct trc_error *error)
{
	int err;

	events->row_bytes = sizeof(struct trc_lock_event);
	s->locks.row_bytes = sizeof(uint64_t);
	err = lock_events_add_rows(events, s, m) ? lock_events_no_memory(error) : 0;
	if (!err)
		err = add_all_uses(events, s, m, error);
	if (!err && trc_array_sort(events, offsetof(struct trc_lock_event, ts_ns),
				   offsetof(struct trc_lock_event, rank)))
		err = lock_events_no_memory(error);
	return err;
}
