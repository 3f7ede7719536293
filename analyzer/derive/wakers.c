/*
 * wakers.c - who ended which wait, and what each unlock's critical section cost.
 *
 * Parks, unlocks and unparks are taken object by object, each object's in time order.
 *
 * Locks.  An unlock of a lock ends one critical section.  Cut a waiter's time into the
 * pieces between the unlocks of its lock that happened meanwhile: each piece was caused
 * by the section that the unlock at its end closes.  Before that section began nobody held the
 * lock: those that waited had been woken, and had not run yet.  That part of the piece, and the
 * piece after the last unlock, is the time it took to wake up and charged to nobody.  An unlock
 * tells when its section began if others waited then; else it began before all of its pieces.
 *
 *   wakers:W1  the caused_ns of all unlocks of a lock add up to no more than the waiting for it
 *   wakers:W2  the waker is the last unlock at or before the end of the wait
 *
 * A rwlock is no different: with several readers inside, each piece of a writer's
 * waiting goes to the reader that left at its end; readers that are let in together are
 * each charged to the writer that left.
 *
 * What is left at the end of a wait - nobody released the lock in it, or it was given up - follows the
 * rules of format/charges.h.
 *
 * Everything else that is woken: a signal or post lets `count` of those go on that wait
 * at that time: those whose waits end first.  Those that timed out were not woken.
 *
 * Semaphores: a post may be taken by a thread that did not wait, while who was woken by it finds
 * nothing and waits on, in the same call.  So a wait was ended by the last post in it that ended no
 * other.
 *
 * Descriptors: the same for who reads, by the number of the descriptor and the reason.  Who writes
 * may have to wait for room several times in one call: the last that made room ended the wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/parts.h"
#include "format/charges.h"

/* Rows of one object: where its part of each index array begins, and how many they are. */
struct object {
	uint32_t first_park, n_parks;
	uint32_t first_unlock, n_unlocks;
	uint32_t first_unpark, n_unparks;
};

struct wakers {
	struct trc_model *m;
	struct trc_park *park;
	struct trc_unlock *unlock;
	const struct trc_unpark *unpark;
	size_t n_unparks;
	struct trc_index object_row;
	struct trc_array objects;
	uint32_t *park_idx, *unlock_idx, *unpark_idx; /* by object, then by time */
	struct trc_key *end, *scratch;		      /* one object's parks by end */
	uint32_t *heap;
};

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
static uint64_t key_of(uint64_t address, unsigned int reason)
{
	switch (class_of(reason)) {
	case WAIT_LOCK:
		return address ^ (uint64_t)1 << 63;
	case WAIT_DESCRIPTOR:
		return address ^ (uint64_t)reason << 56;
	default:
		return address;
	}
}

static struct object *object_of(struct wakers *w, uint64_t address, unsigned int reason, bool add)
{
	uint64_t key = key_of(address, reason);
	uint32_t row = trc_index_get(&w->object_row, key);
	struct object *object;

	if (row != TRC_INDEX_NONE)
		return (struct object *)w->objects.row + row;
	if (!add)
		return NULL;
	object = trc_array_add(&w->objects);
	if (!object || trc_index_put(&w->object_row, key, (uint32_t)(w->objects.n - 1)))
		return NULL;
	return object;
}

/* A trace may say anything: locks are not woken. */
static unsigned int unpark_reason(const struct trc_unpark *unpark)
{
	return class_of(unpark->reason) == WAIT_LOCK ? TRC_REASON_NONE : unpark->reason;
}

static int count_objects(struct wakers *w)
{
	for (size_t i = 0; i < w->m->parks.n; i++) {
		unsigned int reason = w->park[i].reason;
		struct object *object;

		if (class_of(reason) == WAIT_OTHER)
			continue;
		object = object_of(w, w->park[i].object, reason, true);
		if (!object)
			return -ENOMEM;
		object->n_parks++;
	}
	/* Unlocks and unparks for which nobody waited concern nobody. */
	for (size_t i = 0; i < w->m->unlocks.n; i++) {
		struct object *object = object_of(w, w->unlock[i].object, TRC_REASON_MUTEX, false);

		if (object)
			object->n_unlocks++;
	}
	for (size_t i = 0; i < w->n_unparks; i++) {
		struct object *object =
			object_of(w, w->unpark[i].object, unpark_reason(&w->unpark[i]), false);

		if (object)
			object->n_unparks++;
	}
	return 0;
}

/* Gives each object its part of the index arrays and forgets the counts. */
static uint32_t place_objects(struct wakers *w)
{
	struct object *object = w->objects.row;
	uint32_t parks = 0, unlocks = 0, unparks = 0, most = 0;

	for (size_t i = 0; i < w->objects.n; i++) {
		struct object o = object[i];

		object[i] = (struct object){parks, 0, unlocks, 0, unparks, 0};
		parks += o.n_parks;
		unlocks += o.n_unlocks;
		unparks += o.n_unparks;
		most = o.n_parks > most ? o.n_parks : most;
	}
	return most;
}

static void index_objects(struct wakers *w)
{
	for (size_t i = 0; i < w->m->parks.n; i++) {
		unsigned int reason = w->park[i].reason;
		struct object *o = class_of(reason) == WAIT_OTHER
					   ? NULL
					   : object_of(w, w->park[i].object, reason, false);

		if (o)
			w->park_idx[o->first_park + o->n_parks++] = (uint32_t)i;
	}
	for (size_t i = 0; i < w->m->unlocks.n; i++) {
		struct object *o = object_of(w, w->unlock[i].object, TRC_REASON_MUTEX, false);

		if (o)
			w->unlock_idx[o->first_unlock + o->n_unlocks++] = (uint32_t)i;
	}
	for (size_t i = 0; i < w->n_unparks; i++) {
		struct object *o =
			object_of(w, w->unpark[i].object, unpark_reason(&w->unpark[i]), false);

		if (o)
			w->unpark_idx[o->first_unpark + o->n_unparks++] = (uint32_t)i;
	}
}

static int64_t end_of(const struct trc_park *park)
{
	return park->end_ns == TRC_NEVER ? INT64_MAX : park->end_ns;
}

/* The object's parks by their end, those still open last, into w->end. */
static void sort_by_end(struct wakers *w, const struct object *o)
{
	for (uint32_t i = 0; i < o->n_parks; i++) {
		uint32_t idx = w->park_idx[o->first_park + i];

		w->end[i] = (struct trc_key){end_of(&w->park[idx]), idx};
	}
	trc_keys_sort(w->end, w->scratch, o->n_parks);
}

/* A lock while its waiters come and go.  base: since when the waiting of a waiter is to be charged to
 * the next unlock. */
struct lock_sweep {
	struct wakers *w;
	const struct object *o;
	uint32_t next_unlock;
	uint64_t n_waiting;
	__int128 base_sum;
	int64_t last_unlock_ns;
	int64_t base_ns; /* of all that waited then: of the last unlock, or when it was taken since */
	bool taken;	 /* it was, as the next unlock says */
};

static struct trc_unlock *sweep_unlock_at(const struct lock_sweep *s, uint32_t i)
{
	return &s->w->unlock[s->w->unlock_idx[s->o->first_unlock + i]];
}

static void sweep_begin(struct lock_sweep *s, const struct trc_park *park)
{
	s->n_waiting++;
	s->base_sum += park->start_ns;
}

/* What does not fit stays at the largest that does: a damaged clock makes waits of 146 years. */
static void cause_add(struct trc_unlock *unlock, __int128 ns)
{
	ns += unlock->caused_ns;
	unlock->caused_ns = ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* The next that happens to the lock itself; INT64_MAX = nothing. */
static int64_t sweep_next_ns(const struct lock_sweep *s, bool *takes)
{
	const struct trc_unlock *unlock;

	*takes = false;
	if (s->next_unlock == s->o->n_unlocks)
		return INT64_MAX;
	unlock = sweep_unlock_at(s, s->next_unlock);
	*takes = !s->taken && unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= unlock->ts_ns &&
		 (!s->next_unlock || unlock->taken_ns > s->last_unlock_ns);
	return *takes ? unlock->taken_ns : unlock->ts_ns;
}

/* Nobody held it up to now. */
static void sweep_taken(struct lock_sweep *s, int64_t now_ns)
{
	s->taken = true;
	s->base_ns = now_ns;
	s->base_sum = (__int128)s->n_waiting * now_ns;
}

static void sweep_unlock(struct lock_sweep *s)
{
	struct trc_unlock *unlock = sweep_unlock_at(s, s->next_unlock++);
	__int128 now_sum = (__int128)s->n_waiting * unlock->ts_ns;

	cause_add(unlock, now_sum - s->base_sum);
	unlock->caused_waits += (uint32_t)s->n_waiting;
	s->base_sum = now_sum;
	s->last_unlock_ns = s->base_ns = unlock->ts_ns;
	s->taken = false;
}

/* What happens next to the lock itself. */
static void sweep_step(struct lock_sweep *s)
{
	bool takes;
	int64_t now_ns = sweep_next_ns(s, &takes);

	if (takes)
		sweep_taken(s, now_ns);
	else
		sweep_unlock(s);
}

static void park_set_waker(struct lock_sweep *s, struct trc_park *park,
			   const struct trc_unlock *unlock)
{
	park->waker = unlock->thread;
	park->waker_stack = unlock->stack;
	park->unlock = (uint32_t)(unlock - s->w->unlock) + 1;
	if (unlock->ts_ns >= park->start_ns)
		park->wake_ns = unlock->ts_ns;
}

/* For charges.h: the same order and the same differences, TRC_NEVER as 0. */
static uint64_t charge_time(int64_t ns)
{
	return (uint64_t)ns ^ (uint64_t)1 << 63;
}

static struct trc_charge_unlock as_charge_unlock(const struct trc_unlock *unlock)
{
	return (struct trc_charge_unlock){charge_time(unlock->ts_ns), charge_time(unlock->taken_ns),
					  unlock->thread};
}

/* Charges what the wait lasted from `since` on. */
static void charge_wait(struct trc_unlock *unlock, const struct trc_charge_wait *wait,
			uint64_t since)
{
	cause_add(unlock, (__int128)(wait->end - since));
	unlock->caused_waits++;
}

/* A wait was given up: whoever had the lock at its end has not released it yet. */
static void sweep_give_up(struct lock_sweep *s, const struct trc_charge_wait *wait,
			  const struct trc_charge_unlock *last)
{
	struct trc_charge_unlock next;
	uint64_t since;

	if (s->next_unlock == s->o->n_unlocks)
		return;
	next = as_charge_unlock(sweep_unlock_at(s, s->next_unlock));
	if (trc_charge_to_next(wait, last, &next, &since))
		charge_wait(sweep_unlock_at(s, s->next_unlock), wait, since);
}

static void sweep_uncharge(struct lock_sweep *s, const struct trc_park *park)
{
	bool has_base = s->next_unlock || s->taken;

	s->n_waiting--;
	s->base_sum -= has_base && s->base_ns >= park->start_ns ? s->base_ns : park->start_ns;
}

static void sweep_end(struct lock_sweep *s, struct trc_park *park)
{
	const struct trc_charge_wait wait = {charge_time(park->start_ns), charge_time(park->end_ns),
					     park->holder};
	int result = park->flags & TRC_PARK_NO_END ? -1 : park->result;
	struct trc_unlock *unlock = s->next_unlock ? sweep_unlock_at(s, s->next_unlock - 1) : NULL;
	struct trc_charge_unlock last = {0};

	if (unlock)
		last = as_charge_unlock(unlock);
	sweep_uncharge(s, park);
	switch (trc_charge_end(&wait, result, unlock ? &last : NULL, TRC_CHARGE_BETWEEN_NS)) {
	case TRC_CHARGE_NOBODY:
		break;
	case TRC_CHARGE_WOKEN:
		park_set_waker(s, park, unlock);
		break;
	case TRC_CHARGE_LAST:
		charge_wait(unlock, &wait, wait.start);
		park_set_waker(s, park, unlock);
		break;
	case TRC_CHARGE_NEXT:
		sweep_give_up(s, &wait, unlock ? &last : NULL);
		break;
	}
}

/* At equal times waits begin, then the lock is released, then waits end. */
static void sweep_lock(struct wakers *w, const struct object *o)
{
	struct lock_sweep s = {.w = w, .o = o};
	uint32_t begun = 0, ended = 0;
	bool takes;

	sort_by_end(w, o);
	while (ended < o->n_parks && w->end[ended].key != INT64_MAX) {
		int64_t end_ns = w->end[ended].key;
		int64_t step_ns = sweep_next_ns(&s, &takes);
		const struct trc_park *next =
			begun < o->n_parks ? &w->park[w->park_idx[o->first_park + begun]] : NULL;

		if (next && next->start_ns <= step_ns && next->start_ns <= end_ns) {
			sweep_begin(&s, next);
			begun++;
		} else if (step_ns <= end_ns) {
			sweep_step(&s);
		} else {
			sweep_end(&s, &w->park[w->end[ended++].row]);
		}
	}
	/* Those still waiting have been waiting for the sections that end from here on, too. */
	while (s.next_unlock < o->n_unlocks) {
		const struct trc_park *next =
			begun < o->n_parks ? &w->park[w->park_idx[o->first_park + begun]] : NULL;

		if (next && next->start_ns <= sweep_next_ns(&s, &takes)) {
			sweep_begin(&s, next);
			begun++;
		} else {
			sweep_step(&s);
		}
	}
}

/* The waiters that may be woken now, the one whose wait ends first on top. */
struct wake_sweep {
	struct wakers *w;
	uint32_t n;
};

static bool ends_before(const struct wake_sweep *s, uint32_t a, uint32_t b)
{
	int64_t a_ns = end_of(&s->w->park[a]), b_ns = end_of(&s->w->park[b]);

	return a_ns < b_ns || (a_ns == b_ns && a < b);
}

static void wake_push(struct wake_sweep *s, uint32_t park)
{
	uint32_t *heap = s->w->heap;
	uint32_t i = s->n++;

	while (i && ends_before(s, park, heap[(i - 1) / 2])) {
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
		if (child + 1 < s->n && ends_before(s, heap[child + 1], heap[child]))
			child++;
		if (!ends_before(s, heap[child], last))
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
	while (s->n && end_of(&s->w->park[s->w->heap[0]]) < unpark->ts_ns)
		wake_pop(s);
	for (uint64_t left = unpark->count; left && s->n; left--)
		woken_by(&s->w->park[wake_pop(s)], unpark);
}

static void sweep_woken(struct wakers *w, const struct object *o)
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
static void sweep_room(struct wakers *w, const struct object *o)
{
	uint32_t next = 0;

	sort_by_end(w, o);
	for (uint32_t i = 0; i < o->n_parks; i++) {
		struct trc_park *park = &w->park[w->end[i].row];
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
static void sweep_posts(struct wakers *w, const struct object *o)
{
	uint32_t next = 0, n = 0, room = 2 * o->n_parks + 2;

	sort_by_end(w, o);
	for (uint32_t i = 0; i < o->n_parks; i++) {
		struct trc_park *park = &w->park[w->end[i].row];
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

static unsigned int reason_of(const struct wakers *w, const struct object *o)
{
	return w->park[w->park_idx[o->first_park]].reason;
}

/* By what is waited for, as its first wait says. */
static void sweep_unparks(struct wakers *w, const struct object *o)
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

static int find_joined(struct wakers *w)
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
static void wake_joins(struct wakers *w)
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

static void *index_alloc(size_t n, size_t bytes)
{
	return malloc((n + 1) * bytes);
}

static int wakers_run(struct wakers *w)
{
	uint32_t most;

	if (count_objects(w))
		return -ENOMEM;
	most = place_objects(w);
	w->park_idx = index_alloc(w->m->parks.n, sizeof(uint32_t));
	w->unlock_idx = index_alloc(w->m->unlocks.n, sizeof(uint32_t));
	w->unpark_idx = index_alloc(w->n_unparks, sizeof(uint32_t));
	w->end = index_alloc(most, sizeof(*w->end));
	w->scratch = index_alloc(most, sizeof(*w->scratch));
	w->heap = index_alloc(2 * (size_t)most + 1, sizeof(uint32_t));
	if (!w->park_idx || !w->unlock_idx || !w->unpark_idx || !w->end || !w->scratch || !w->heap)
		return -ENOMEM;
	index_objects(w);
	for (size_t i = 0; i < w->objects.n; i++) {
		const struct object *o = (const struct object *)w->objects.row + i;

		if (o->n_unlocks)
			sweep_lock(w, o);
		if (o->n_unparks)
			sweep_unparks(w, o);
	}
	if (find_joined(w))
		return -ENOMEM;
	wake_joins(w);
	return 0;
}

int trc_derive_wakers(struct trc_model *m, const struct trc_array *unparks)
{
	struct wakers w = {.m = m,
			   .park = m->parks.row,
			   .unlock = m->unlocks.row,
			   .unpark = unparks->row,
			   .n_unparks = unparks->n,
			   .objects = {.row_bytes = sizeof(struct object)}};
	int err;

	if (m->parks.n >= UINT32_MAX / 2 - 1 || m->unlocks.n >= UINT32_MAX ||
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
	return err;
}
