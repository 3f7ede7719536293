/*
 * group_tallies.c - details of the groups that are shown: objects, threads, labels, and who ended or
 * caused the waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/charge.h"
#include "analyzer/model/unlocks_of.h"
#include "words.h"

/* Time by (slot, id): ids are of objects, threads or stacks. */
struct tally_row {
	uint32_t slot, id;
	int64_t ns;
};
struct tally {
	struct trc_index index;
	struct trc_array rows; /* struct tally_row */
};

static int tally_add(struct tally *tally, uint32_t slot, uint32_t id, int64_t ns)
{
	uint64_t key = (uint64_t)slot << 32 | id;
	uint32_t at = trc_index_get(&tally->index, key);
	struct tally_row *row;

	if (at == TRC_INDEX_NONE) {
		tally->rows.row_bytes = sizeof(*row);
		row = trc_array_add(&tally->rows);
		if (!row || trc_index_put(&tally->index, key, (uint32_t)(tally->rows.n - 1)))
			return -ENOMEM;
		row->slot = slot;
		row->id = id;
	} else {
		row = (struct tally_row *)tally->rows.row + at;
	}
	trc_report_add(&row->ns, ns);
	return 0;
}

static void tally_free(struct tally *tally)
{
	trc_index_free(&tally->index);
	trc_array_free(&tally->rows);
}

struct tallies {
	struct tally object, descriptor, thread, by_stack, by_thread, holder, label;
	struct trc_index object_id;
	struct trc_array objects; /* uint64_t by id */
	struct trc_array turns;	  /* struct turn */
};

/* From this release of a lock on, so many more waits of the slot are cut there, or fewer. */
struct turn {
	uint32_t slot, at, lock; /* as in list->row, and the lock's number */
	int32_t n;
};

static int tally_object(struct tallies *t, uint32_t slot, uint64_t object, int64_t ns)
{
	uint32_t id = trc_index_get(&t->object_id, object);
	uint64_t *added;

	if (id == TRC_INDEX_NONE) {
		t->objects.row_bytes = sizeof(*added);
		added = trc_array_add(&t->objects);
		if (!added)
			return -ENOMEM;
		*added = object;
		id = (uint32_t)(t->objects.n - 1);
		if (trc_index_put(&t->object_id, object, id))
			return -ENOMEM;
	}
	return tally_add(&t->object, slot, id, ns);
}

static void tallies_free(struct tallies *t)
{
	tally_free(&t->object);
	tally_free(&t->descriptor);
	tally_free(&t->thread);
	tally_free(&t->by_stack);
	tally_free(&t->by_thread);
	tally_free(&t->holder);
	tally_free(&t->label);
	trc_index_free(&t->object_id);
	trc_array_free(&t->objects);
	trc_array_free(&t->turns);
}

/* The id with most time in each slot, and how many there are. */
#define TALLY_INTO(g, tally, best, best_ns, count)                                                 \
	do {                                                                                       \
		const struct tally_row *row_ = (tally)->rows.row;                                  \
		for (size_t i_ = 0; i_ < (tally)->rows.n; i_++, row_++) {                          \
			struct trc_group_details *d_ = &(g)->details[row_->slot - 1];              \
			d_->count++;                                                               \
			if (d_->count == 1 || row_->ns > d_->best_ns) {                            \
				d_->best = row_->id;                                               \
				d_->best_ns = row_->ns;                                            \
			}                                                                          \
		}                                                                                  \
	} while (0)

/* Keeps the labels with most time, of each key the one with most. */
static void label_into(struct trc_group_details *d, const struct trc_set_label *label, int64_t ns)
{
	size_t at = 0, n = d->n_labels;

	while (at < n && strcmp(d->label[at].label->key, label->key) != 0)
		at++;
	if (at < n && d->label[at].ns >= ns)
		return;
	if (at == TRC_GROUP_LABELS_MAX) {
		if (d->label[--at].ns >= ns)
			return;
	} else if (at == n) {
		d->n_labels++;
	}
	for (; at && d->label[at - 1].ns < ns; at--)
		d->label[at] = d->label[at - 1];
	d->label[at] = (struct trc_label_share){label, ns};
}

static void tallies_into(struct trc_groups *g, const struct trc_report *r, const struct tallies *t)
{
	const uint64_t *object = t->objects.row;
	const struct tally_row *row = t->thread.rows.row;

	TALLY_INTO(g, &t->object, object, object_ns, n_objects);
	for (size_t i = 0; i < t->descriptor.rows.n; i++) {
		const struct tally_row *fd = (struct tally_row *)t->descriptor.rows.row + i;

		trc_report_descriptor_into(r, &g->details[fd->slot - 1], fd->id, fd->ns);
	}
	TALLY_INTO(g, &t->by_stack, by_stack, by_stack_ns, n_by_stacks);
	TALLY_INTO(g, &t->by_thread, by_thread, by_thread_ns, n_by_threads);
	for (size_t i = 0; i < t->holder.rows.n; i++) {
		const struct tally_row *holder = (struct tally_row *)t->holder.rows.row + i;
		struct trc_group_details *d = &g->details[holder->slot - 1];

		if (!d->holder || holder->ns > d->holder_ns) {
			d->holder = holder->id;
			d->holder_ns = holder->ns;
		}
	}
	for (size_t i = 0; i < t->label.rows.n; i++) {
		const struct tally_row *label = (struct tally_row *)t->label.rows.row + i;

		label_into(&g->details[label->slot - 1], &r->label[label->id], label->ns);
	}
	for (size_t i = 0; i < g->n_details; i++)
		if (g->details[i].n_objects)
			g->details[i].object = object[g->details[i].object];
	for (size_t i = 0; i < t->thread.rows.n; i++, row++) {
		struct trc_group_details *d = &g->details[row->slot - 1];
		const struct trc_thread *thread = trc_model_thread(r->m, row->id);

		if (!d->n_threads++ || row->ns > d->thread_ns) {
			d->thread = row->id;
			d->thread_ns = row->ns;
		}
		trc_report_add(&d->threads_ns, thread ? trc_report_lifetime_ns(r, thread) : 0);
	}
}

static const struct trc_group *group_of(const struct trc_groups *g, size_t row)
{
	return g->of_row[row] ? (const struct trc_group *)g->groups.row + g->of_row[row] - 1 : NULL;
}

static int64_t park_ns(const struct trc_report *r, const struct trc_park *park)
{
	return trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);
}

static int tally_by(struct tallies *t, const struct trc_report *r, uint32_t slot, uint32_t thread,
		    uint32_t stack, int64_t ns)
{
	int err = tally_add(&t->by_thread, slot, thread, ns);

	return err ? err : tally_add(&t->by_stack, slot, trc_report_same_place(r, stack), ns);
}

/* Each label of the set by itself: sets that only one request has are many. */
static int tally_labels(struct tallies *t, const struct trc_report *r, uint32_t slot,
			uint32_t labels, int64_t ns)
{
	size_t n;
	const struct trc_set_label *label = trc_model_label_set(r->m, labels, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = tally_add(&t->label, slot, r->label_first[label + i - r->label], ns);
	return err;
}

/* The address of a thread that has ended becomes that of another one. */
static uint64_t park_tally_object(const struct trc_park *park)
{
	return park->reason == TRC_REASON_JOIN && park->holder ? park->holder : park->object;
}

/* Of a place of an object only who caused the waits is told: its objects are those of its parent. */
static int tally_park(struct tallies *t, const struct trc_report *r, const struct trc_group *group,
		      const struct trc_park *park)
{
	bool is_lock = trc_wait_class(park->reason) == TRC_WAIT_LOCKS;
	uint32_t slot = group->slot;
	int64_t ns = park_ns(r, park);
	int err = 0;

	if (!group->parent || is_lock) /* a lock's releases are listed by object */
		err = tally_object(t, slot, park_tally_object(park), ns);
	if (!err && !group->parent)
		err = tally_add(&t->thread, slot, park->thread, ns);
	if (!err && park->descriptor)
		err = tally_add(&t->descriptor, slot, park->descriptor, ns);
	if (!err && park->holder)
		err = tally_add(&t->holder, slot, park->holder, ns);
	if (!err && park->waker && !is_lock)
		err = tally_by(t, r, slot, park->waker, park->waker_stack, ns);
	if (err || group->parent)
		return err;
	return tally_labels(t, r, slot, trc_park_labels(r->m, park), ns);
}

/*
 * Who made others wait for a lock is not who let them in last: a wait is cut at the releases
 * of its lock that happened meanwhile, and each piece is for the section that ended there, but
 * for the time before that began (as analyzer/derive/wakers_locks.c has it: shares of waits and caused_ns agree).
 *
 * Where many wait for one lock these are many pieces: waits times releases.  But only a wait's first piece is its own; all
 * others begin at the release before them, whoever waited.  So it is enough to know how many waits are cut at each release.
 */

/* The number in the list of the releases that the wait is cut at; 0 = there is none, which has no rows there. */
static uint32_t releases_of(const struct trc_unlocks_of *list, const struct trc_park *park)
{
	uint32_t number = trc_index_get(&list->lock, trc_charge_key(park->object, park->reason));

	return number == TRC_INDEX_NONE ? 0 : number;
}

/* The lock's first release at or after ts_ns, in list->row. */
static uint32_t release_from(const struct trc_unlocks_of *list, const struct trc_report *r,
			     uint32_t id, int64_t ts_ns)
{
	uint32_t low = list->first[id], high = list->first[id + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->unlock[list->row[middle]].ts_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* When the section began that ends with this release; TRC_NEVER = not known. */
static int64_t taken_ns(const struct trc_unlocks_of *list, const struct trc_report *r, uint32_t id,
			uint32_t at)
{
	const struct trc_unlock *unlock = &r->unlock[list->row[at]];

	if (unlock->taken_ns == TRC_NEVER || unlock->taken_ns > unlock->ts_ns ||
	    (at > list->first[id] && unlock->taken_ns <= r->unlock[list->row[at - 1]].ts_ns))
		return TRC_NEVER;
	return unlock->taken_ns;
}

/* A wait that was given up: who had the lock then, and released it later. */
static int blame_later(struct tallies *t, const struct trc_report *r, uint32_t slot,
		       const struct trc_park *park, const struct trc_unlock *unlock,
		       int64_t since_ns, int64_t took_ns, bool in_pieces)
{
	bool taken = took_ns != TRC_NEVER && took_ns <= park->end_ns;

	if (!taken && (in_pieces || !park->holder || unlock->thread != park->holder))
		return 0;
	if (taken && took_ns > since_ns)
		since_ns = took_ns;
	return tally_by(t, r, slot, unlock->thread, unlock->stack, park->end_ns - since_ns);
}

/* When the wait itself ended, if what is selected of it ends before; else TRC_NEVER. */
static int64_t goes_on_until_ns(const struct trc_report *r, const struct trc_park *park)
{
	size_t n;
	const struct trc_park *all = trc_model_parks(r->m, &n);
	uint32_t id = trc_report_park_id(r, (size_t)(park - r->park));
	int64_t end_ns;

	if (trc_selection_has_all_time(r->selection) || !id || id > n)
		return TRC_NEVER;
	end_ns = trc_park_end_ns(r->m, &all[id - 1]);
	return end_ns > trc_park_end_ns(r->m, park) ? end_ns : TRC_NEVER;
}

static int64_t times(int64_t ns, int64_t n)
{
	int64_t product;

	return __builtin_mul_overflow(ns, n, &product) ? INT64_MAX : product;
}

/* So many waits are cut at the release, of which the piece before began at since_ns. */
static int blame_release(struct tallies *t, const struct trc_unlocks_of *list,
			 const struct trc_report *r, uint32_t slot, uint32_t lock, uint32_t at,
			 int64_t since_ns, int64_t n)
{
	const struct trc_unlock *unlock = &r->unlock[list->row[at]];
	int64_t took_ns = taken_ns(list, r, lock, at);

	if (took_ns != TRC_NEVER && took_ns > since_ns)
		since_ns = took_ns;
	return tally_by(t, r, slot, unlock->thread, unlock->stack,
			times(unlock->ts_ns - since_ns, n));
}

static int tally_add_turn(struct tallies *t, uint32_t slot, uint32_t lock, uint32_t at, int32_t n)
{
	struct turn *turn;

	t->turns.row_bytes = sizeof(*turn);
	turn = trc_array_add(&t->turns);
	if (!turn)
		return -ENOMEM;
	*turn = (struct turn){slot, at, lock, n};
	return 0;
}

static int by_slot(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* All pieces but the first of each wait. */
static int blame_turns(struct tallies *t, const struct trc_unlocks_of *list,
		       const struct trc_report *r)
{
	const struct turn *turn = t->turns.row;
	int64_t n = 0;
	int err = 0;

	if (t->turns.n)
		qsort(t->turns.row, t->turns.n, sizeof(*turn), by_slot);
	for (size_t i = 0; i + 1 < t->turns.n && !err; i++) {
		n += turn[i].n;
		for (uint32_t at = turn[i].at; n && at < turn[i + 1].at && !err; at++)
			err = blame_release(t, list, r, turn[i].slot, turn[i].lock, at,
					    r->unlock[list->row[at - 1]].ts_ns, n);
	}
	return err;
}

static int blame_park(struct tallies *t, const struct trc_unlocks_of *list,
		      const struct trc_report *r, uint32_t slot, const struct trc_park *park)
{
	uint32_t id = releases_of(list, park);
	int64_t since_ns = trc_park_start_ns(r->m, park), end_ns = trc_park_end_ns(r->m, park);
	uint32_t first = release_from(list, r, id, since_ns), end = list->first[id + 1];
	uint32_t at = end_ns < INT64_MAX ? release_from(list, r, id, end_ns + 1) : end;
	int64_t until_ns = goes_on_until_ns(r, park);
	bool in_pieces = at > first;
	int err = 0;

	if (in_pieces) {
		err = blame_release(t, list, r, slot, id, first, since_ns, 1);
		since_ns = r->unlock[list->row[at - 1]].ts_ns;
	} else {
		at = first;
	}
	if (!err && at > first + 1)
		err = tally_add_turn(t, slot, id, first + 1, 1);
	if (!err && at > first + 1)
		err = tally_add_turn(t, slot, id, at, -1);
	if (err)
		return err;
	if (until_ns != TRC_NEVER) { /* the section that ends behind what is selected */
		const struct trc_unlock *unlock = at < end ? &r->unlock[list->row[at]] : NULL;
		int64_t took_ns = unlock ? taken_ns(list, r, id, at) : TRC_NEVER;

		if (took_ns != TRC_NEVER && took_ns > since_ns)
			since_ns = took_ns;
		return unlock && unlock->ts_ns <= until_ns && since_ns < end_ns
			       ? tally_by(t, r, slot, unlock->thread, unlock->stack,
					  end_ns - since_ns)
			       : 0;
	}
	if (!(park->flags & TRC_PARK_NO_END) && park->result > 0 && at < end)
		return blame_later(t, r, slot, park, &r->unlock[list->row[at]], since_ns,
				   taken_ns(list, r, id, at), in_pieces);
	if (!in_pieces && park->waker)
		return tally_by(t, r, slot, park->waker, park->waker_stack, park_ns(r, park));
	return 0;
}

static int blame_locks(struct trc_groups *g, struct tallies *t, const struct trc_report *r)
{
	const struct trc_unlocks_of *list = trc_model_unlocks_of(r->m);
	int err = list ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->n_parks && g->n_of[TRC_WAIT_LOCKS] && !err; i++) {
		const struct trc_group *group = group_of(g, i);

		if (group && group->slot && trc_wait_class(group->reason) == TRC_WAIT_LOCKS)
			err = blame_park(t, list, r, group->slot, &r->park[i]);
	}
	return err ? err : blame_turns(t, list, r);
}

int trc_groups_tally_parks(struct trc_groups *g, const struct trc_report *r)
{
	struct tallies t = {0};
	int err = 0;

	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const struct trc_group *group = group_of(g, i);

		if (group && group->slot)
			err = tally_park(&t, r, group, &r->park[i]);
	}
	if (!err)
		err = blame_locks(g, &t, r);
	if (!err)
		tallies_into(g, r, &t);
	tallies_free(&t);
	return err;
}

static int tally_unlock(struct tallies *t, const struct trc_report *r, uint32_t slot,
			const struct trc_unlock *unlock, int64_t caused_ns)
{
	int err = tally_object(t, slot, unlock->object, caused_ns);

	if (!err)
		err = tally_add(&t->thread, slot, unlock->thread, caused_ns);
	if (!err)
		err = tally_labels(
			t, r, slot,
			trc_model_labels_at(r->m, unlock->thread, unlock->ts_ns, unlock->place),
			caused_ns);
	return err;
}

int trc_groups_tally_unlocks(struct trc_groups *g, const struct trc_report *r)
{
	struct tallies t = {0};
	int err = 0;

	for (size_t i = 0; i < r->n_unlocks && !err; i++) {
		const struct trc_group *group = group_of(g, i);

		if (group && group->slot)
			err = tally_unlock(&t, r, group->slot, &r->unlock[i],
					   g->caused[i].caused_ns);
	}
	if (!err)
		tallies_into(g, r, &t);
	tallies_free(&t);
	return err;
}
