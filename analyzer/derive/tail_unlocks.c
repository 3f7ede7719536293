/*
 * tail_unlocks.c - where a lock was released, if the function that released it has left no frame.
 *
 * Optimized code ends a function with a jump to the unlock: a C++ lock_guard at the end of a function does.
 * The release is then recorded at the caller.  Which function it was, symbols know only if the call is a direct one
 * (symbols.h); a pool's thread calls its tasks through pointers.  But the wait for the lock has the function.
 *
 *   tail_unlocks:T1  a release gets the stack of a wait for the same lock if the release's stack is what is left of it
 *       without the innermost frame.  Then both happened in the one call that this frame is of: what the function called
 *       to take the lock had returned, else the function would be on the release's stack
 *   tail_unlocks:T2  that is the wait by which this thread took the lock.  If it did not wait, nothing says which function
 *       it was, even if all waits for the lock there are of one function: another one may hold the lock long and
 *       never wait for it
 *
 * Then the release is told at the line that takes the lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/parts.h"
#include "format/waits.h"

struct tail_unlocks {
	struct trc_model *m;
	size_t n_stacks;
	/* By a release's stack: the first one with the same frames; 0 = it is in no release. */
	uint32_t *same;
	uint32_t *shorter; /* by a wait's stack: the release's stack without its innermost frame */
	bool *is_wait;	   /* by stack: it was looked at */
	bool *is_shorter;  /* by a release's stack: it is that of a wait's stack */
	size_t n_shorter;
	struct trc_index by_frames; /* releases' stacks, by a sum of their frames */
	struct trc_index object;    /* numbers the locks */
	struct trc_index waited;    /* by lock and thread: its last wait for it */
};

static uint64_t stack_sum_add_frame(uint64_t sum, uint64_t frame)
{
	return trc_index_key(sum, frame);
}

static bool is_end_of(const struct trc_stack_view *whole, size_t skipped,
		      const struct trc_stack_view *end)
{
	return whole->n_frames - skipped == end->n_frames &&
	       !memcmp(whole->frame + skipped, end->frame, end->n_frames * sizeof(*end->frame));
}

static bool view_of(const struct tail_unlocks *t, uint32_t stack, struct trc_stack_view *view)
{
	return stack && stack < t->n_stacks && !trc_reader_stack(t->m->reader, stack, view) &&
	       view->n_frames;
}

/* Stacks that were made before and after a library was loaded may have the same frames. */
static int add_release_stack(struct tail_unlocks *t, uint32_t stack)
{
	struct trc_stack_view view, other;
	uint64_t sum = 0;
	uint32_t at;

	if (stack >= t->n_stacks || t->same[stack] || !view_of(t, stack, &view))
		return 0;
	for (size_t i = view.n_frames; i-- > 0;)
		sum = stack_sum_add_frame(sum, view.frame[i]);
	at = trc_index_get(&t->by_frames, sum);
	if (at != TRC_INDEX_NONE) {
		t->same[stack] = view_of(t, at, &other) && is_end_of(&view, 0, &other) ? at : stack;
		return 0;
	}
	t->same[stack] = stack;
	return trc_index_put(&t->by_frames, sum, stack);
}

/* Finds the release's stack that this wait's stack has one frame more than. */
static void add_wait_stack(struct tail_unlocks *t, uint32_t stack)
{
	struct trc_stack_view view, release;
	uint64_t sum = 0;
	uint32_t at;

	if (stack >= t->n_stacks || t->is_wait[stack] || !view_of(t, stack, &view))
		return;
	t->is_wait[stack] = true;
	for (size_t i = view.n_frames; i-- > 1;)
		sum = stack_sum_add_frame(sum, view.frame[i]);
	at = view.n_frames > 1 ? trc_index_get(&t->by_frames, sum) : TRC_INDEX_NONE;
	if (at == TRC_INDEX_NONE || !view_of(t, at, &release) || !is_end_of(&view, 1, &release))
		return;
	t->shorter[stack] = at;
	t->is_shorter[at] = true;
	t->n_shorter++;
}

static int find_shorter(struct tail_unlocks *t)
{
	const struct trc_unlock *unlock = t->m->unlocks.row;
	const struct trc_park *park = t->m->parks.row;
	int err = 0;

	for (size_t i = 0; i < t->m->unlocks.n && !err; i++)
		err = add_release_stack(t, unlock[i].stack);
	for (size_t i = 0; i < t->m->parks.n && !err; i++)
		if (trc_reason_is_lock(park[i].reason))
			add_wait_stack(t, park[i].stack);
	return err;
}

/* ---- the releases ---- */

static uint64_t both(uint32_t object, uint32_t number)
{
	return (uint64_t)object << 32 | number;
}

static bool may_change(const struct tail_unlocks *t, uint32_t stack)
{
	return stack < t->n_stacks && t->same[stack] && t->is_shorter[t->same[stack]];
}

static int find_objects(struct tail_unlocks *t)
{
	const struct trc_unlock *unlock = t->m->unlocks.row;

	for (size_t i = 0; i < t->m->unlocks.n; i++)
		if (may_change(t, unlock[i].stack) &&
		    !trc_index_number(&t->object, unlock[i].object))
			return -ENOMEM;
	return 0;
}

/* T2.  A wait before an earlier release, which none is told of if nobody waited for it, is not how the lock was taken. */
static bool took_it(const struct trc_park *park, const struct trc_unlock *unlock)
{
	return unlock->taken_ns >= park->start_ns && unlock->taken_ns <= park->end_ns &&
	       unlock->taken_ns <= unlock->ts_ns && !park->result;
}

static void set_stack(const struct tail_unlocks *t, uint32_t object, struct trc_unlock *unlock)
{
	const struct trc_park *park = t->m->parks.row;
	uint32_t at = trc_index_get(&t->waited, both(object, unlock->thread));

	if (at == TRC_INDEX_NONE || !may_change(t, unlock->stack))
		return;
	park += at;
	if (took_it(park, unlock) && park->stack < t->n_stacks &&
	    t->shorter[park->stack] == t->same[unlock->stack])
		unlock->stack = park->stack;
}

/* In the order of time, so that each thread's last wait for a lock is known when it releases it. */
static int set_stacks(struct tail_unlocks *t)
{
	struct trc_unlock *unlock = t->m->unlocks.row;
	const struct trc_park *park = t->m->parks.row;
	size_t n_begun = 0;

	for (size_t i = 0; i < t->m->unlocks.n; i++) {
		uint32_t object = trc_index_get(&t->object, unlock[i].object);

		for (; n_begun < t->m->parks.n && park[n_begun].start_ns <= unlock[i].ts_ns;
		     n_begun++) {
			uint32_t of_park = trc_reason_is_lock(park[n_begun].reason)
						   ? trc_index_get(&t->object, park[n_begun].object)
						   : TRC_INDEX_NONE;

			if (of_park != TRC_INDEX_NONE &&
			    trc_index_put(&t->waited, both(of_park, park[n_begun].thread),
					  (uint32_t)n_begun))
				return -ENOMEM;
		}
		if (object != TRC_INDEX_NONE)
			set_stack(t, object, &unlock[i]);
	}
	return 0;
}

int trc_derive_tail_unlocks(struct trc_model *m)
{
	struct tail_unlocks t = {.m = m, .n_stacks = trc_reader_stacks(m->reader)};
	struct trc_unlock *unlock = m->unlocks.row;
	int err = 0;

	for (size_t i = 0; i < m->unlocks.n; i++)
		unlock[i].recorded_stack = unlock[i].stack;
	if (!m->unlocks.n || !m->parks.n || m->parks.n >= UINT32_MAX / 2)
		return 0;
	t.same = calloc(t.n_stacks + 1, sizeof(*t.same));
	t.shorter = calloc(t.n_stacks + 1, sizeof(*t.shorter));
	t.is_wait = calloc(t.n_stacks + 1, sizeof(*t.is_wait));
	t.is_shorter = calloc(t.n_stacks + 1, sizeof(*t.is_shorter));
	if (!t.same || !t.shorter || !t.is_wait || !t.is_shorter)
		err = -ENOMEM;
	if (!err)
		err = find_shorter(&t);
	if (!err && t.n_shorter)
		err = find_objects(&t);
	if (!err && t.n_shorter)
		err = set_stacks(&t);
	free(t.same);
	free(t.shorter);
	free(t.is_wait);
	free(t.is_shorter);
	trc_index_free(&t.by_frames);
	trc_index_free(&t.object);
	trc_index_free(&t.waited);
	return err;
}
