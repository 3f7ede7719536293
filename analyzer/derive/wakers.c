/*
 * wakers.c - who ended which wait, and what each unlock's critical section cost.
 *
 * Parks, unlocks and unparks are taken object by object, each object's in time order: locks by
 * wakers_locks.c, all others by wakers_woken.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "wakers.h"

enum wait_class { WAIT_LOCK, WAIT_WOKEN, WAIT_DESCRIPTOR, WAIT_OTHER };

static enum wait_class class_of(unsigned int reason)
{
	if (trc_reason_is_lock(reason))
		return WAIT_LOCK;
	switch (reason) {
	case TRC_REASON_COND:
	case TRC_REASON_SEM:
	case TRC_REASON_BARRIER:
	case TRC_REASON_ONCE:
	case TRC_REASON_FUTEX:
	case TRC_REASON_MSG:
	case TRC_REASON_USER:
		return WAIT_WOKEN;
	case TRC_REASON_READ:
	case TRC_REASON_WRITE:
	case TRC_REASON_RECV:
	case TRC_REASON_SEND:
	case TRC_REASON_EPOLL:
		return WAIT_DESCRIPTOR;
	default:
		return WAIT_OTHER;
	}
}

/* Memory is used again: what was a lock may become a condition variable.  A descriptor has waits of
 * several kinds. */
static uint64_t waker_object_key(uint64_t address, unsigned int reason)
{
	switch (class_of(reason)) {
	case WAIT_LOCK:
		return trc_charge_key(address, reason) ^ (uint64_t)1 << 63;
	case WAIT_DESCRIPTOR:
		return address ^ (uint64_t)reason << 56;
	default:
		return address;
	}
}

static struct trc_waker_object *waker_object(struct trc_wakers *w, uint64_t address,
					     unsigned int reason, bool add)
{
	uint64_t key = waker_object_key(address, reason);
	uint32_t row = trc_index_get(&w->object_row, key);
	struct trc_waker_object *object;

	if (row != TRC_INDEX_NONE)
		return (struct trc_waker_object *)w->objects.row + row;
	if (!add)
		return NULL;
	object = trc_array_add(&w->objects);
	if (!object || trc_index_put(&w->object_row, key, (uint32_t)(w->objects.n - 1)))
		return NULL;
	return object;
}

/* What those wait for that this unlock lets in (charges:C6); NULL = nobody waits. */
static void objects_of_unlock(struct trc_wakers *w, const struct trc_unlock *unlock,
			      struct trc_waker_object *object[2])
{
	object[0] = waker_object(w, unlock->object, TRC_REASON_MUTEX, false);
	object[1] = unlock->reason == TRC_REASON_RWLOCK_WRITE
			    ? waker_object(w, unlock->object, TRC_REASON_RWLOCK_READ, false)
			    : NULL;
}

/* A trace may say anything: locks are not woken. */
static unsigned int unpark_reason(const struct trc_unpark *unpark)
{
	return class_of(unpark->reason) == WAIT_LOCK ? TRC_REASON_NONE : unpark->reason;
}

static int count_objects(struct trc_wakers *w)
{
	struct trc_waker_object *object[2];

	for (size_t i = 0; i < w->m->parks.n; i++) {
		unsigned int reason = w->park[i].reason;
		struct trc_waker_object *of_park;

		if (class_of(reason) == WAIT_OTHER)
			continue;
		of_park = waker_object(w, w->park[i].object, reason, true);
		if (!of_park)
			return -ENOMEM;
		of_park->n_parks++;
	}
	/* Unlocks and unparks for which nobody waited concern nobody. */
	for (size_t i = 0; i < w->m->unlocks.n; i++) {
		objects_of_unlock(w, &w->unlock[i], object);
		for (int j = 0; j < 2; j++)
			if (object[j])
				object[j]->n_unlocks++;
	}
	for (size_t i = 0; i < w->n_unparks; i++) {
		struct trc_waker_object *woken =
			waker_object(w, w->unpark[i].object, unpark_reason(&w->unpark[i]), false);

		if (woken)
			woken->n_unparks++;
	}
	return 0;
}

/* Gives each object its part of the index arrays and forgets the counts. */
static uint32_t place_objects(struct trc_wakers *w, uint32_t *most_of_lock)
{
	struct trc_waker_object *object = w->objects.row;
	uint32_t parks = 0, unlocks = 0, unparks = 0, most = 0;

	*most_of_lock = 0;
	for (size_t i = 0; i < w->objects.n; i++) {
		struct trc_waker_object o = object[i];

		object[i] = (struct trc_waker_object){parks, 0, unlocks, 0, unparks, 0};
		parks += o.n_parks;
		unlocks += o.n_unlocks;
		unparks += o.n_unparks;
		most = o.n_parks > most ? o.n_parks : most;
		if (o.n_unlocks && o.n_parks > *most_of_lock)
			*most_of_lock = o.n_parks;
	}
	return most;
}

static void index_objects(struct trc_wakers *w)
{
	struct trc_waker_object *of_unlock[2];

	for (size_t i = 0; i < w->m->parks.n; i++) {
		unsigned int reason = w->park[i].reason;
		struct trc_waker_object *o =
			class_of(reason) == WAIT_OTHER
				? NULL
				: waker_object(w, w->park[i].object, reason, false);

		if (o)
			w->park_idx[o->first_park + o->n_parks++] = (uint32_t)i;
	}
	for (size_t i = 0; i < w->m->unlocks.n; i++) {
		objects_of_unlock(w, &w->unlock[i], of_unlock);
		for (int j = 0; j < 2; j++)
			if (of_unlock[j])
				w->unlock_idx[of_unlock[j]->first_unlock +
					      of_unlock[j]->n_unlocks++] = (uint32_t)i;
	}
	for (size_t i = 0; i < w->n_unparks; i++) {
		struct trc_waker_object *o =
			waker_object(w, w->unpark[i].object, unpark_reason(&w->unpark[i]), false);

		if (o)
			w->unpark_idx[o->first_unpark + o->n_unparks++] = (uint32_t)i;
	}
}

void trc_wakers_sort_by_end(struct trc_wakers *w, const struct trc_waker_object *o)
{
	for (uint32_t i = 0; i < o->n_parks; i++) {
		const struct trc_park *park = &w->park[w->park_idx[o->first_park + i]];

		w->end[i] = (struct trc_key){trc_wakers_end_of(park), i};
	}
	trc_keys_sort(w->end, w->scratch, o->n_parks);
}

static void *index_alloc(size_t n, size_t bytes)
{
	return malloc((n + 1) * bytes);
}

static int wakers_run(struct trc_wakers *w)
{
	uint32_t most, most_of_lock;

	if (count_objects(w))
		return -ENOMEM;
	most = place_objects(w, &most_of_lock);
	w->park_idx = index_alloc(w->m->parks.n, sizeof(uint32_t));
	w->unlock_idx = index_alloc(2 * w->m->unlocks.n, sizeof(uint32_t));
	w->unpark_idx = index_alloc(w->n_unparks, sizeof(uint32_t));
	w->end = index_alloc(most, sizeof(*w->end));
	w->scratch = index_alloc(most, sizeof(*w->scratch));
	w->heap = index_alloc(2 * (size_t)most + 1, sizeof(uint32_t));
	w->waiter = index_alloc(most_of_lock, sizeof(*w->waiter));
	if (!w->park_idx || !w->unlock_idx || !w->unpark_idx || !w->end || !w->scratch ||
	    !w->heap || !w->waiter)
		return -ENOMEM;
	index_objects(w);
	for (size_t i = 0; i < w->objects.n; i++) {
		const struct trc_waker_object *o =
			(const struct trc_waker_object *)w->objects.row + i;

		if (o->n_unlocks)
			trc_wakers_sweep_lock(w, o);
		if (o->n_unparks)
			trc_wakers_sweep_unparks(w, o);
	}
	if (trc_wakers_find_joined(w))
		return -ENOMEM;
	trc_wakers_wake_joins(w);
	return 0;
}

int trc_derive_wakers(struct trc_model *m, const struct trc_array *unparks)
{
	struct trc_wakers w = {.m = m,
			       .park = m->parks.row,
			       .unlock = m->unlocks.row,
			       .unpark = unparks->row,
			       .n_unparks = unparks->n,
			       .objects = {.row_bytes = sizeof(struct trc_waker_object)}};
	int err;

	if (m->parks.n >= UINT32_MAX / 2 - 1 || m->unlocks.n >= UINT32_MAX / 2 - 1 ||
	    unparks->n >= UINT32_MAX)
		return -EOVERFLOW;
	err = wakers_run(&w);
	trc_index_free(&w.object_row);
	trc_array_free(&w.objects);
	free(w.park_idx);
	free(w.unlock_idx);
	free(w.unpark_idx);
	free(w.end);
	free(w.scratch);
	free(w.heap);
	free(w.waiter);
	return err;
}
