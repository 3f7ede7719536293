/*
 * derived_locks.c - which futexes and semaphores are locks: futexes of Rust's std, InnoDB and others, which call SYS_futex
 * themselves, and semaphores of Python's threading.Lock and others.
 *
 * Nothing in a wait or a waking says what the object is for, but who wakes whom does.  Whoever was woken has the lock:
 * as long as others wait for it all the time, nobody else can release it, and the next waking is that thread's.
 * Semaphores with room for several, queues and condition variables have wakings by others then, and barriers wake
 * several at a time.
 *
 *   derived_locks:V1  a futex is a lock if AGREE_LEAST wakings were made by the thread that was woken before, while
 *       others waited all the time; at most one in ODD_PART of such wakings was by another, or is missing: it
 *       waits again without one.  (Within AGAIN_NS: another thread was faster, and has the lock.)  And at most
 *       one in ODD_PART of all wakings woke more than one.  Who waited all the time must have been another thread
 *       than the one that had woken it: two threads that take turns by a futex wake each other in just this way, and
 *       with two threads alone nothing shows that it is a lock
 *       Or if a wait for it told who holds it: the kernel's protocol with priority inheritance is for locks alone.
 *       Or if its first wait is in a function that waits for nothing else (named_locks.h)
 *   derived_locks:V2  the wakings of such a futex are its unlocks.  The section of a thread that was woken began when its
 *       wait ended.  A thread that did not wait took the lock unrecorded, and the time is not known.  A release that
 *       nobody waited for is not known either
 *   derived_locks:V3  a semaphore is a lock by the same rule, with its posts for wakings, if the sections of V1 had it for one part
 *       in HELD_PART of the time in which anybody waited.  At a gate, which each thread that passes opens for the next,
 *       threads wait for the first one to open it, and hand it on at once
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"
#include "named_locks.h"

enum { AGREE_LEAST = 4, ODD_PART = 10, AGAIN_NS = 50000, HELD_PART = 20 };
enum what { BEGINS, WAKES, ENDS }; /* in this order at one time */

struct event {
	int64_t ts_ns;
	uint32_t what;	 /* enum what; the second key of the sort */
	uint32_t number; /* of the object */
	uint32_t thread;
	uint32_t row; /* of a waking: in unparks */
	bool woken;   /* the wait ended so */
};

struct object {
	uint64_t n_waiting, n_wakes, n_several, n_agree, n_odd;
	uint64_t n_third; /* of n_agree, those for which a third thread waited */
	uint64_t
		waiting_sum; /* of the numbers of the threads that wait: of one that waits alone it is its number */
	uint32_t waker;	   /* who woke last */
	uint32_t woken_by; /* who woke the holder */
	uint32_t stack;	   /* of its first wait that has one */
	uint32_t holder;   /* thread that was woken, while others wait; 0 = not known */
	int64_t taken_ns;  /* when that was */
	int64_t waited_ns; /* somebody waited; */
	int64_t since_ns;  /* ... since then, if anybody waits */
	int64_t held_ns;   /* of that, in sections that agree */
	bool is_sem;
	bool tells_holder;
	bool is_lock;
};

struct finder {
	struct trc_model *m;
	struct trc_unpark *unpark;
	struct trc_index number; /* of objects by address and kind: rows + 1 */
	struct trc_array objects, events;
};

static struct object *finder_object_at(const struct finder *f, uint32_t number)
{
	return (struct object *)f->objects.row + number - 1;
}

/* What the waits of this reason turn out to be for; NONE: they never do. */
static unsigned int lock_reason(unsigned int reason)
{
	switch (reason) {
	case TRC_REASON_FUTEX:
		return TRC_REASON_FUTEX_LOCK;
	case TRC_REASON_SEM:
		return TRC_REASON_SEM_LOCK;
	default:
		return TRC_REASON_NONE;
	}
}

static uint64_t derived_lock_key(unsigned int reason, uint64_t address)
{
	return reason == TRC_REASON_SEM ? address ^ (uint64_t)1 << 63 : address;
}

/* ---- what happened to each ---- */

/* Of what is waited for; 0 without memory. */
static uint32_t derived_lock_number(struct finder *f, unsigned int reason, uint64_t address)
{
	size_t n = f->number.n;
	uint32_t number = trc_index_number(&f->number, derived_lock_key(reason, address));
	struct object *object = number > n ? trc_array_add(&f->objects) : NULL;

	if (number <= n)
		return number;
	if (object)
		object->is_sem = reason == TRC_REASON_SEM;
	return object ? number : 0;
}

static int event_add(struct finder *f, const struct event *event)
{
	struct event *row = trc_array_add(&f->events);

	if (row)
		*row = *event;
	return row ? 0 : -ENOMEM;
}

static int finder_add_waits(struct finder *f)
{
	const struct trc_park *park = f->m->parks.row;
	int err = 0;

	for (size_t i = 0; i < f->m->parks.n && !err; i++) {
		struct event event = {park[i].start_ns, BEGINS, 0, park[i].thread, 0, false};

		if (!lock_reason(park[i].reason))
			continue;
		event.number = derived_lock_number(f, park[i].reason, park[i].object);
		err = event.number ? event_add(f, &event) : -ENOMEM;
		if (!err && !finder_object_at(f, event.number)->stack)
			finder_object_at(f, event.number)->stack = park[i].stack;
		if (!err && park[i].holder && park[i].reason == TRC_REASON_FUTEX)
			finder_object_at(f, event.number)->tells_holder = true;
		event.ts_ns = park[i].end_ns;
		event.what = ENDS;
		event.woken = !(park[i].flags & TRC_PARK_NO_END) && !park[i].result;
		if (!err && event.ts_ns != TRC_NEVER)
			err = event_add(f, &event);
	}
	return err;
}

static int add_wakings(struct finder *f, const struct trc_array *unparks)
{
	const struct trc_unpark *unpark = f->unpark;
	int err = unparks->n < UINT32_MAX ? 0 : -EOVERFLOW;

	for (size_t i = 0; i < unparks->n && !err; i++) {
		struct event event = {unpark[i].ts_ns,	WAKES,	     0,
				      unpark[i].thread, (uint32_t)i, false};

		if (!lock_reason(unpark[i].reason))
			continue;
		event.number = trc_index_get(&f->number,
					     derived_lock_key(unpark[i].reason, unpark[i].object));
		if (event.number != TRC_INDEX_NONE)
			err = event_add(f, &event);
	}
	return err;
}

/* ---- who wakes whom ---- */

static void wakes(struct object *object, const struct event *event, struct trc_unpark *unpark)
{
	object->n_wakes++;
	object->n_several += unpark->count > 1;
	if (object->holder && object->holder == event->thread) {
		object->n_agree++;
		object->n_third += object->n_waiting > 1 ||
				   (object->n_waiting && object->waiting_sum != object->woken_by);
		trc_add_ns(&object->held_ns, object->taken_ns, event->ts_ns);
		unpark->taken_ns = object->taken_ns;
	} else if (object->holder) {
		object->n_odd++;
	}
	object->holder = 0;
	object->waker = event->thread;
}

static void begins(struct object *object, const struct event *event)
{
	if (!object->n_waiting++)
		object->since_ns = event->ts_ns;
	object->waiting_sum += event->thread;
	if (object->holder != event->thread)
		return;
	object->n_odd += (uint64_t)event->ts_ns - (uint64_t)object->taken_ns > AGAIN_NS;
	object->holder = 0;
}

static void ends(struct object *object, const struct event *event)
{
	if (event->woken) {
		object->holder = event->thread;
		object->woken_by = object->waker;
		object->taken_ns = event->ts_ns;
	}
	object->waiting_sum -= event->thread;
	if (object->n_waiting && !--object->n_waiting)
		trc_add_ns(&object->waited_ns, object->since_ns, event->ts_ns);
	if (!object->n_waiting)
		object->holder = 0;
}

static void finder_follow(struct finder *f, const struct event *event)
{
	struct object *object = finder_object_at(f, event->number);

	switch ((enum what)event->what) {
	case BEGINS:
		begins(object, event);
		break;
	case WAKES:
		wakes(object, event, &f->unpark[event->row]);
		break;
	case ENDS:
		ends(object, event);
		break;
	}
}

/* V1, V3 */
static bool agrees(const struct object *object)
{
	return object->n_agree >= AGREE_LEAST &&
	       (object->is_sem || object->n_third >= AGREE_LEAST) &&
	       object->n_odd <= (object->n_agree + object->n_odd) / ODD_PART &&
	       object->n_several <= object->n_wakes / ODD_PART &&
	       (!object->is_sem || object->held_ns >= object->waited_ns / HELD_PART);
}

static int finder_judge(struct finder *f)
{
	struct trc_named_locks named = {.reader = f->m->reader};
	const struct event *event = f->events.row;
	struct object *object = f->objects.row;
	int err = 0;

	for (size_t i = 0; i < f->events.n; i++)
		finder_follow(f, &event[i]);
	for (size_t i = 0; i < f->objects.n && !err; i++) {
		object[i].is_lock = object[i].tells_holder || agrees(&object[i]);
		if (!object[i].is_lock && !object[i].is_sem)
			err = trc_named_locks_find(&named, object[i].stack, &object[i].is_lock);
	}
	trc_named_locks_free(&named);
	return err;
}

/* ---- locks they are, then ---- */

static bool is_lock(const struct finder *f, unsigned int reason, uint64_t address)
{
	uint32_t number = lock_reason(reason)
				  ? trc_index_get(&f->number, derived_lock_key(reason, address))
				  : TRC_INDEX_NONE;

	return number != TRC_INDEX_NONE && finder_object_at(f, number)->is_lock;
}

/* V2 */
static int derived_unlock_add(struct trc_model *m, const struct trc_unpark *unpark)
{
	struct trc_unlock *unlock = trc_array_add(&m->unlocks);

	if (!unlock)
		return -ENOMEM;
	*unlock = (struct trc_unlock){
		.ts_ns = unpark->ts_ns,
		.taken_ns = unpark->taken_ns,
		.object = unpark->object,
		.waiters = unpark->count,
		.thread = unpark->thread,
		.stack = unpark->stack,
		.proc = unpark->proc,
		.reason = (uint8_t)lock_reason(unpark->reason),
		.place = unpark->place,
	};
	return 0;
}

static int change(struct finder *f, struct trc_array *unparks)
{
	struct trc_park *park = f->m->parks.row;
	struct trc_unpark *unpark = unparks->row;
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < f->m->parks.n; i++)
		if (is_lock(f, park[i].reason, park[i].object))
			park[i].reason = (uint8_t)lock_reason(park[i].reason);
	for (size_t i = 0; i < unparks->n && !err; i++) {
		if (is_lock(f, unpark[i].reason, unpark[i].object))
			err = derived_unlock_add(f->m, &unpark[i]);
		else
			unpark[kept++] = unpark[i];
	}
	if (err || kept == unparks->n)
		return err;
	unparks->n = kept;
	return trc_array_sort(&f->m->unlocks, offsetof(struct trc_unlock, ts_ns),
			      offsetof(struct trc_unlock, thread));
}

int trc_derive_locks(struct trc_model *m, struct trc_array *unparks)
{
	struct finder f = {.m = m,
			   .unpark = unparks->row,
			   .objects = {.row_bytes = sizeof(struct object)},
			   .events = {.row_bytes = sizeof(struct event)}};
	int err = finder_add_waits(&f);

	if (!err)
		err = add_wakings(&f, unparks);
	if (!err && f.events.n)
		err = trc_array_sort(&f.events, offsetof(struct event, ts_ns),
				     offsetof(struct event, what));
	if (!err)
		err = finder_judge(&f);
	if (!err)
		err = change(&f, unparks);
	trc_index_free(&f.number);
	trc_array_free(&f.objects);
	trc_array_free(&f.events);
	return err;
}
