/* section_lengths.c - how long critical sections last where that is not recorded: sections:V5. */
#include <errno.h>
#include <stdlib.h>
#include "section_lengths.h"

/* Readers and writers may release a lock at the same place.  Rows of locks are far below 2^31. */
uint64_t trc_length_key(uint32_t lock, bool reader, uint32_t stack)
{
	return (uint64_t)reader << 63 | (uint64_t)lock << 32 | stack;
}

int trc_length_learn_one(struct trc_sweep *w, uint64_t key, int64_t ns)
{
	struct trc_known_length *known = trc_array_add(&w->known);

	if (!known)
		return -ENOMEM;
	*known = (struct trc_known_length){key, ns};
	return 0;
}

static int by_key_and_ns(const void *a, const void *b)
{
	const struct trc_known_length *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Of each key what a fourth is shorter than: an unlock tells too long a time, if the thread released the lock
 * meanwhile when nobody waited. */
int trc_length_learned(struct trc_sweep *w)
{
	const struct trc_known_length *known;
	int err = 0;

	if (w->known.n)
		qsort(w->known.row, w->known.n, sizeof(struct trc_known_length), by_key_and_ns);
	known = w->known.row;
	for (size_t i = 0, first = 0; i < w->known.n && !err; i++) {
		if (i + 1 < w->known.n && known[i + 1].key == known[i].key)
			continue;
		err = trc_index_put(&w->known_row, known[i].key,
				    (uint32_t)(first + (i - first) / 4));
		first = i + 1;
	}
	return err;
}

/* stack: of the unlock, or of the wait that it began with; both are learnt, and the lock's. */
int trc_length_learn(struct trc_sweep *w, uint32_t lock, bool reader, uint32_t stack,
		     uint32_t wait_stack, int64_t ns)
{
	int err = trc_length_learn_one(w, trc_length_key(lock, reader, TRC_WHOLE_LOCK), ns);

	if (!err && stack)
		err = trc_length_learn_one(w, trc_length_key(lock, reader, stack), ns);
	if (!err && wait_stack && wait_stack != stack)
		err = trc_length_learn_one(w, trc_length_key(lock, reader, wait_stack), ns);
	return err;
}

/* Of sections at this place, or of all of the lock; where none of readers is known, of writers, and the other way round.
 * -1 = not known. */
int64_t trc_length_usual_ns(const struct trc_sweep *w, const struct trc_lock_user *use,
			    uint32_t stack)
{
	uint32_t row = trc_index_get(&w->known_row, trc_length_key(use->lock, use->reader, stack));

	if (row == TRC_INDEX_NONE)
		row = trc_index_get(&w->known_row, trc_length_key(use->lock, !use->reader, stack));
	return row == TRC_INDEX_NONE ? -1 : ((const struct trc_known_length *)w->known.row)[row].ns;
}

/* sections:V5: a wait in the thread is within or without: the nearer of its ends. */
int64_t trc_length_out_of_wait(const struct trc_sweep *w, uint32_t thread, int64_t ts_ns)
{
	uint32_t id = trc_outer_wait_at(w->waits, thread, ts_ns);
	const struct trc_park *park = id ? &w->waits->park[id - 1] : NULL;
	int64_t end_ns = park ? trc_park_end_ns(w->waits->m, park) : 0;

	if (!park)
		return ts_ns;
	return trc_ns_between(park->start_ns, ts_ns) < trc_ns_between(ts_ns, end_ns)
		       ? park->start_ns
		       : end_ns;
}

/* ---- sections:V5 without known ones: by stacks ---- */

/* Where the function calls from that has the other stack's frames but for the innermost: the place of that call; 0 = it is not
 * in this stack. */
static uint64_t call_in(const struct trc_sweep *w, uint32_t stack_id,
			const struct trc_stack_view *other)
{
	struct trc_stack_view stack;
	uint32_t below;

	if (!stack_id || trc_reader_stack(trc_model_reader(w->waits->m), stack_id, &stack) ||
	    other->n_frames < 2 || stack.n_frames < other->n_frames)
		return 0;
	below = stack.n_frames - other->n_frames;
	for (uint32_t i = 1; i < other->n_frames; i++)
		if (stack.frame[below + i] != other->frame[i])
			return 0;
	return stack.frame[below];
}

/* The function that unlocks called what waited, before the call that unlocks, and behind that which locks, if this one is
 * known. */
static bool called_inside(const struct trc_sweep *w, const struct trc_lock_user *use,
			  uint32_t wait_stack, uint32_t unlock_stack)
{
	struct trc_stack_view unlock;
	uint64_t call, lock;

	if (!unlock_stack || trc_reader_stack(trc_model_reader(w->waits->m), unlock_stack, &unlock))
		return false;
	call = call_in(w, wait_stack, &unlock);
	if (!call)
		return false;
	lock = call_in(w, use->stack, &unlock);
	return call < unlock.frame[0] && (call > lock || lock > unlock.frame[0]);
}

/* Back over what the function called that unlocks. */
int64_t trc_length_over_calls(const struct trc_sweep *w, const struct trc_lock_user *use,
			      const struct trc_unlock *unlock, int64_t begin_ns, int64_t least_ns)
{
	uint32_t id;

	while ((id = trc_outer_wait_before(w->waits, unlock->thread, begin_ns)) != 0) {
		const struct trc_park *park = &w->waits->park[id - 1];

		if (park->start_ns < least_ns || park->start_ns >= begin_ns ||
		    !called_inside(w, use, park->stack, unlock->stack))
			break;
		begin_ns = park->start_ns;
	}
	return begin_ns;
}
