/*
 * wakers_woken.c - who ended waits that are not for locks.
 *
 * A signal lets `count` of the threads go on that wait at that time: the threads whose waits end first.  Threads
 * whose waits timed out were not woken.
 *
 * Semaphores: a post may be taken by a thread that did not wait.  Then the thread that the post woke finds
 * nothing and waits on, in the same call.  So a wait was ended by the last post in it that ended no
 * other wait.
 *
 * Descriptors: the same for readers, by the number of the descriptor and the reason.  A writer
 * may have to wait for room several times in one call: the last read that made room ended the wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wakers.h"

/* The waiters that may be woken now, the one whose wait ends first on top. */
struct wake_sweep {
	struct trc_wakers *w;
	uint32_t n;
};

static bool park_ends_before(const struct wake_sweep *s, uint32_t a, uint32_t b)
{
	int64_t a_ns = trc_wakers_end_of(&s->w->park[a]), b_ns = trc_wakers_end_of(&s->w->park[b]);

	return a_ns < b_ns || (a_ns == b_ns && a < b);
}

static void wake_push(struct wake_sweep *s, uint32_t park)
{
	uint32_t *heap = s->w->heap;
	uint32_t i = s->n++;

	while (i && park_ends_before(s, park, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = park;
}

static uint32_t wake_pop(struct wake_sweep *s)
{
	uint32_t *heap = s->w->heap;
	uint32_t top = heap[0], last = heap[--s->n], i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= s->n)
			break;
		if (child + 1 < s->n && park_ends_before(s, heap[child + 1], heap[child]))
			child++;
		if (!park_ends_before(s, heap[child], last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	if (s->n)
		heap[i] = last;
	return top;
}

static void woken_by(struct trc_park *park, const struct trc_unpark *unpark)
{
	park->waker = unpark->thread;
	park->waker_stack = unpark->stack;
	park->wake_ns = unpark->ts_ns;
}

static void wake_apply(struct wake_sweep *s, const struct trc_unpark *unpark)
{
	/* Whose wait had ended before was woken by something else. */
	while (s->n && trc_wakers_end_of(&s->w->park[s->w->heap[0]]) < unpark->ts_ns)
		wake_pop(s);
	for (uint64_t left = unpark->count; left && s->n; left--)
		woken_by(&s->w->park[wake_pop(s)], unpark);
}

static void sweep_woken(struct trc_wakers *w, const struct trc_waker_object *o)
{
	struct wake_sweep s = {.w = w};
	uint32_t begun = 0;

	for (uint32_t i = 0; i < o->n_unparks; i++) {
		const struct trc_unpark *unpark = &w->unpark[w->unpark_idx[o->first_unpark + i]];

		for (; begun < o->n_parks; begun++) {
			uint32_t idx = w->park_idx[o->first_park + begun];

			if (w->park[idx].start_ns > unpark->ts_ns)
				break;
			/* Still waiting, abandoned or timed out: not woken. */
			if (!(w->park[idx].flags & TRC_PARK_NO_END) && w->park[idx].result == 0)
				wake_push(&s, idx);
		}
		wake_apply(&s, unpark);
	}
}

/* Each wait by the last unpark in it. */
static void sweep_room(struct trc_wakers *w, const struct trc_waker_object *o)
{
	uint32_t next = 0;

	trc_wakers_sort_by_end(w, o);
	for (uint32_t i = 0; i < o->n_parks; i++) {
		struct trc_park *park = &w->park[w->park_idx[o->first_park + w->end[i].row]];
		const struct trc_unpark *unpark;

		while (next < o->n_unparks &&
		       w->unpark[w->unpark_idx[o->first_unpark + next]].ts_ns <= w->end[i].key)
			next++;
		if (!next || park->flags & TRC_PARK_NO_END || park->result)
			continue;
		unpark = &w->unpark[w->unpark_idx[o->first_unpark + next - 1]];
		if (unpark->ts_ns >= park->start_ns)
			woken_by(park, unpark);
	}
}

/* Forgets the older half of the posts that ended no wait, of which there are more than waits.  Returns
 * how many are left. */
static uint32_t posts_forget(uint32_t *post, uint32_t n)
{
	uint32_t left = n / 2;

	memmove(post, post + n - left, left * sizeof(*post));
	return left;
}

/* Each wait by the last post in it that ended no other: w->heap has those that are left, the last on top, and
 * a post for two is there twice. */
static void sweep_posts(struct trc_wakers *w, const struct trc_waker_object *o)
{
	uint32_t next = 0, n = 0, room = 2 * o->n_parks + 2;

	trc_wakers_sort_by_end(w, o);
	for (uint32_t i = 0; i < o->n_parks; i++) {
		struct trc_park *park = &w->park[w->park_idx[o->first_park + w->end[i].row]];
		const struct trc_unpark *unpark = w->unpark;

		for (; next < o->n_unparks; next++) {
			uint32_t idx = w->unpark_idx[o->first_unpark + next];

			if (unpark[idx].ts_ns > w->end[i].key)
				break;
			for (uint64_t c = unpark[idx].count; c && n < room; c--)
				w->heap[n++] = idx;
			if (n == room)
				n = posts_forget(w->heap, n);
		}
		if (park->flags & TRC_PARK_NO_END || park->result || !n ||
		    unpark[w->heap[n - 1]].ts_ns < park->start_ns)
			continue;
		woken_by(park, &unpark[w->heap[--n]]);
	}
}

static unsigned int reason_of(const struct trc_wakers *w, const struct trc_waker_object *o)
{
	return w->park[w->park_idx[o->first_park]].reason;
}

/* By what is waited for, as its first wait says. */
void trc_wakers_sweep_unparks(struct trc_wakers *w, const struct trc_waker_object *o)
{
	switch (reason_of(w, o)) {
	case TRC_REASON_WRITE:
	case TRC_REASON_SEND:
		sweep_room(w, o);
		break;
	case TRC_REASON_SEM:
		sweep_posts(w, o);
		break;
	default:
		sweep_woken(w, o);
	}
}

static int by_creator_and_start(const void *x, const void *y)
{
	const struct trc_thread *a = *(const struct trc_thread *const *)x;
	const struct trc_thread *b = *(const struct trc_thread *const *)y;

	if (a->creator != b->creator)
		return a->creator < b->creator ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* A thread that had recorded nothing yet when its creator joined it: it began and ended in the
 * wait.  0 = none, or several. */
static uint32_t joined_in(const struct trc_park *park, struct trc_thread *const *thread, size_t n)
{
	enum { LOOKED_AT = 64 }; /* its creator waits, and creates no more */
	uint32_t joined = 0;
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (thread[mid]->creator < park->thread || (thread[mid]->creator == park->thread &&
							    thread[mid]->start_ns < park->start_ns))
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low;
	     i < n && thread[i]->creator == park->thread && thread[i]->start_ns <= park->end_ns;
	     i++) {
		if (i - low == LOOKED_AT)
			return 0;
		if (thread[i]->end_ns == TRC_NEVER || thread[i]->end_ns > park->end_ns)
			continue;
		if (joined)
			return 0;
		joined = thread[i]->serial;
	}
	return joined;
}

static bool ended_by_exit(const struct trc_park *park)
{
	return park->reason == TRC_REASON_JOIN && !(park->flags & TRC_PARK_NO_END) && !park->result;
}

int trc_wakers_find_joined(struct trc_wakers *w)
{
	size_t n = w->m->threads.n, unknown = 0;
	struct trc_thread *all = w->m->threads.row, **thread;

	for (size_t i = 0; i < w->m->parks.n; i++)
		unknown += ended_by_exit(&w->park[i]) && !w->park[i].holder;
	if (!unknown)
		return 0;
	thread = malloc((n + 1) * sizeof(struct trc_thread *));
	if (!thread)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		thread[i] = &all[i];
	qsort(thread, n, sizeof(struct trc_thread *), by_creator_and_start);
	for (size_t i = 0; i < w->m->parks.n; i++)
		if (ended_by_exit(&w->park[i]) && !w->park[i].holder)
			w->park[i].holder = joined_in(&w->park[i], thread, n);
	free(thread);
	return 0;
}

/* A join ends with the other thread. */
void trc_wakers_wake_joins(struct trc_wakers *w)
{
	for (size_t i = 0; i < w->m->parks.n; i++) {
		struct trc_park *park = &w->park[i];
		const struct trc_thread *joined;

		if (!park->holder || !ended_by_exit(park))
			continue;
		joined = trc_model_thread(w->m, park->holder);
		if (!joined || joined->end_ns == TRC_NEVER)
			continue;
		park->waker = park->holder;
		if (joined->end_ns >= park->start_ns && joined->end_ns <= park->end_ns)
			park->wake_ns = joined->end_ns;
	}
}
