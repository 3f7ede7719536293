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
 *   tail_unlocks:T2  that is the wait by which this thread took the lock.  If it did not wait, it is any thread's wait
 *       for the lock, if only one stack comes into question
 *
 * Then the release is told at the line that takes the lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/parts.h"
#include "format/waits.h"

/* Of no more waits' stacks it is asked which one comes into question. */
enum { LONGER_MAX = 64, NONE = 0 };

/* A stack of waits that has one frame more than a release's stack. */
struct longer {
	uint32_t stack, next; /* next: index + 1 */
};

struct tail_unlocks {
	struct trc_model *m;
	size_t n_stacks;
	uint32_t *first;   /* by a release's stack: index + 1 in longers */
	uint32_t *n_first; /* and how many they are */
	uint32_t *
		same; /* by a release's stack: the first one with the same frames; 0 = it is in no release */
	uint32_t *shorter; /* by a wait's stack: the release's stack without its innermost frame */
	bool *is_wait;	   /* by stack: it was looked at */
	struct trc_array longers;
	struct trc_index by_frames; /* releases' stacks, by a sum of their frames */
	struct trc_index object;    /* numbers the locks */
	struct trc_index seen;	    /* by lock and stack: a wait for this lock has it */
	struct trc_index
		waited; /* by lock and thread: its last wait for it, index + 1; 0 = for an earlier release */
};

static uint64_t add_frame(uint64_t sum, uint64_t frame)
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
		sum = add_frame(sum, view.frame[i]);
	at = trc_index_get(&t->by_frames, sum);
	if (at != TRC_INDEX_NONE) {
		t->same[stack] = view_of(t, at, &other) && is_end_of(&view, 0, &other) ? at : stack;
		return 0;
	}
	t->same[stack] = stack;
	return trc_index_put(&t->by_frames, sum, stack);
}

static int add_longer(struct tail_unlocks *t, uint32_t release, uint32_t stack)
{
	struct longer *longer = trc_array_add(&t->longers);

	if (!longer)
		return -ENOMEM;
	*longer = (struct longer){stack, t->first[release]};
	t->first[release] = (uint32_t)t->longers.n;
	t->n_first[release]++;
	t->shorter[stack] = release;
	return 0;
}

/* Finds the release's stack that this wait's stack has one frame more than. */
static int add_wait_stack(struct tail_unlocks *t, uint32_t stack)
{
	struct trc_stack_view view, release;
	uint64_t sum = 0;
	uint32_t at;

	if (stack >= t->n_stacks || t->is_wait[stack] || !view_of(t, stack, &view))
		return 0;
	t->is_wait[stack] = true;
	for (size_t i = view.n_frames; i-- > 1;)
		sum = add_frame(sum, view.frame[i]);
	at = view.n_frames > 1 ? trc_index_get(&t->by_frames, sum) : TRC_INDEX_NONE;
	return at != TRC_INDEX_NONE && view_of(t, at, &release) && is_end_of(&view, 1, &release)
		       ? add_longer(t, at, stack)
		       : 0;
}

static int find_longer(struct tail_unlocks *t)
{
	const struct trc_unlock *unlock = t->m->unlocks.row;
	const struct trc_park *park = t->m->parks.row;
	int err = 0;

	for (size_t i = 0; i < t->m->unlocks.n && !err; i++)
		err = add_release_stack(t, unlock[i].stack);
	for (size_t i = 0; i < t->m->parks.n && !err; i++)
		if (trc_reason_is_lock(park[i].reason))
			err = add_wait_stack(t, park[i].stack);
	return err;
}

/* ---- the releases ---- */

static uint64_t both(uint32_t object, uint32_t number)
{
	return (uint64_t)object << 32 | number;
}

static bool has_longer(const struct tail_unlocks *t, uint32_t stack)
{
	return stack < t->n_stacks && t->same[stack] && t->first[t->same[stack]];
}

/* The locks of releases that may change, and with which stacks threads waited for them. */
static int find_seen(struct tail_unlocks *t)
{
	const struct trc_unlock *unlock = t->m->unlocks.row;
	const struct trc_park *park = t->m->parks.row;

	for (size_t i = 0; i < t->m->unlocks.n; i++)
		if (has_longer(t, unlock[i].stack) &&
		    !trc_index_number(&t->object, unlock[i].object))
			return -ENOMEM;
	for (size_t i = 0; i < t->m->parks.n; i++) {
		uint32_t object;

		if (!trc_reason_is_lock(park[i].reason) || park[i].stack >= t->n_stacks ||
		    !t->shorter[park[i].stack])
			continue;
		object = trc_index_get(&t->object, park[i].object);
		if (object != TRC_INDEX_NONE &&
		    trc_index_put(&t->seen, both(object, park[i].stack), 1))
			return -ENOMEM;
	}
	return 0;
}

/* T2: the only one of them with which any thread waited for the lock; NONE = there is none, or are several. */
static uint32_t only_one(const struct tail_unlocks *t, uint32_t object, uint32_t release)
{
	const struct longer *longer = t->longers.row;
	uint32_t found = NONE;

	if (t->n_first[release] > LONGER_MAX)
		return NONE;
	for (uint32_t i = t->first[release]; i; i = longer[i - 1].next) {
		if (trc_index_get(&t->seen, both(object, longer[i - 1].stack)) == TRC_INDEX_NONE)
			continue;
		if (found != NONE)
			return NONE;
		found = longer[i - 1].stack;
	}
	return found;
}

static void set_stack(struct tail_unlocks *t, struct trc_unlock *unlock)
{
	const struct trc_park *park = t->m->parks.row;
	uint32_t object = trc_index_get(&t->object, unlock->object), at, stack;

	if (object == TRC_INDEX_NONE || !has_longer(t, unlock->stack))
		return;
	at = trc_index_get(&t->waited, both(object, unlock->thread));
	if (at != TRC_INDEX_NONE && at && park[at - 1].end_ns != TRC_NEVER &&
	    park[at - 1].end_ns <= unlock->ts_ns && !park[at - 1].result) {
		stack = park[at - 1].stack;
		if (stack < t->n_stacks && t->shorter[stack] == t->same[unlock->stack])
			unlock->stack = stack;
		return;
	}
	stack = only_one(t, object, t->same[unlock->stack]);
	if (stack != NONE)
		unlock->stack = stack;
}

/* In the order of time, so that each thread's last wait for a lock is known when it releases it. */
static int set_stacks(struct tail_unlocks *t)
{
	struct trc_unlock *unlock = t->m->unlocks.row;
	const struct trc_park *park = t->m->parks.row;
	size_t n_begun = 0;
	int err = 0;

	for (size_t i = 0; i < t->m->unlocks.n && !err; i++) {
		uint32_t object = trc_index_get(&t->object, unlock[i].object);

		for (; n_begun < t->m->parks.n && !err && park[n_begun].start_ns <= unlock[i].ts_ns;
		     n_begun++) {
			uint32_t of_park = trc_reason_is_lock(park[n_begun].reason)
						   ? trc_index_get(&t->object, park[n_begun].object)
						   : TRC_INDEX_NONE;

			if (of_park != TRC_INDEX_NONE)
				err = trc_index_put(&t->waited, both(of_park, park[n_begun].thread),
						    (uint32_t)n_begun + 1);
		}
		if (err || object == TRC_INDEX_NONE)
			continue;
		set_stack(t, &unlock[i]);
		if (trc_index_get(&t->waited, both(object, unlock[i].thread)) != TRC_INDEX_NONE)
			err = trc_index_put(&t->waited, both(object, unlock[i].thread), 0);
	}
	return err;
}

int trc_derive_tail_unlocks(struct trc_model *m)
{
	struct tail_unlocks t = {.m = m,
				 .n_stacks = trc_reader_stacks(m->reader),
				 .longers = {.row_bytes = sizeof(struct longer)}};
	int err = 0;

	if (!m->unlocks.n || !m->parks.n || m->parks.n >= UINT32_MAX / 2)
		return 0;
	t.first = calloc(t.n_stacks + 1, sizeof(*t.first));
	t.n_first = calloc(t.n_stacks + 1, sizeof(*t.n_first));
	t.same = calloc(t.n_stacks + 1, sizeof(*t.same));
	t.shorter = calloc(t.n_stacks + 1, sizeof(*t.shorter));
	t.is_wait = calloc(t.n_stacks + 1, sizeof(*t.is_wait));
	if (!t.first || !t.n_first || !t.same || !t.shorter || !t.is_wait)
		err = -ENOMEM;
	if (!err)
		err = find_longer(&t);
	if (!err && t.longers.n)
		err = find_seen(&t);
	if (!err && t.longers.n)
		err = set_stacks(&t);
	free(t.first);
	free(t.n_first);
	free(t.same);
	free(t.shorter);
	free(t.is_wait);
	trc_array_free(&t.longers);
	trc_index_free(&t.by_frames);
	trc_index_free(&t.object);
	trc_index_free(&t.seen);
	trc_index_free(&t.waited);
	return err;
}
