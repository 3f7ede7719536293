/*
 * futex_locks.c - which futexes are locks: those of Rust's std, InnoDB and others, which call SYS_futex themselves.
 *
 * Nothing in a wait or a waking says what the word is for, but who wakes whom does.  Whoever was woken has the lock:
 * as long as others wait for it all the time, nobody else can release it, and the next waking is that thread's.
 * Semaphores with room for several, queues and condition variables have wakings by others then, and barriers wake
 * several at a time.
 *
 *   futex_locks:V1  a futex is a lock if AGREE_LEAST wakings were made by the thread that was woken before, while
 *       others waited all the time; at most one in ODD_PART of such wakings was by another, or is missing: it
 *       waits again without one.  (Within AGAIN_NS: another thread was faster, and has the lock.)  And at most
 *       one in ODD_PART of all wakings woke more than one.  With two threads alone nothing shows it
 *   futex_locks:V2  its wakings are its unlocks.  The section of who was woken began when its wait ended; who did
 *       not wait took the lock unrecorded, and it is not known when.  Nor is a release that nobody waited for
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"

enum { AGREE_LEAST = 4, ODD_PART = 10, AGAIN_NS = 50000 };
enum what { BEGINS, WAKES, ENDS }; /* in this order at one time */

struct event {
	int64_t ts_ns;
	uint32_t what;	 /* enum what; the second key of the sort */
	uint32_t number; /* of the futex */
	uint32_t thread;
	uint32_t row; /* of a waking: in unparks */
	bool woken;   /* the wait ended so */
};

struct futex {
	uint64_t n_waiting, n_wakes, n_several, n_agree, n_odd;
	uint32_t holder;  /* thread that was woken, while others wait; 0 = not known */
	int64_t taken_ns; /* when that was */
	bool is_lock;
};

struct finder {
	struct trc_model *m;
	struct trc_unpark *unpark;
	struct trc_index number; /* of futexes by address: rows + 1 */
	struct trc_array futexes, events;
};

static struct futex *futex_at(const struct finder *f, uint32_t number)
{
	return (struct futex *)f->futexes.row + number - 1;
}

/* ---- what happened to each ---- */

/* Of a futex that is waited for; 0 without memory. */
static uint32_t number_of(struct finder *f, uint64_t object)
{
	size_t n = f->number.n;
	uint32_t number = trc_index_number(&f->number, object);

	return number > n && !trc_array_add(&f->futexes) ? 0 : number;
}

static int event_add(struct finder *f, const struct event *event)
{
	struct event *row = trc_array_add(&f->events);

	if (row)
		*row = *event;
	return row ? 0 : -ENOMEM;
}

static int add_waits(struct finder *f)
{
	const struct trc_park *park = f->m->parks.row;
	int err = 0;

	for (size_t i = 0; i < f->m->parks.n && !err; i++) {
		struct event event = {park[i].start_ns, BEGINS, 0, park[i].thread, 0, false};

		if (park[i].reason != TRC_REASON_FUTEX)
			continue;
		event.number = number_of(f, park[i].object);
		err = event.number ? event_add(f, &event) : -ENOMEM;
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

		if (unpark[i].reason != TRC_REASON_FUTEX)
			continue;
		event.number = trc_index_get(&f->number, unpark[i].object);
		if (event.number != TRC_INDEX_NONE)
			err = event_add(f, &event);
	}
	return err;
}

/* ---- who wakes whom ---- */

static void wakes(struct futex *futex, const struct event *event, struct trc_unpark *unpark)
{
	futex->n_wakes++;
	futex->n_several += unpark->count > 1;
	if (futex->holder && futex->holder == event->thread) {
		futex->n_agree++;
		unpark->taken_ns = futex->taken_ns;
	} else if (futex->holder) {
		futex->n_odd++;
	}
	futex->holder = 0;
}

static void follow(struct finder *f, const struct event *event)
{
	struct futex *futex = futex_at(f, event->number);

	switch ((enum what)event->what) {
	case BEGINS:
		futex->n_waiting++;
		if (futex->holder != event->thread)
			break;
		futex->n_odd += (uint64_t)event->ts_ns - (uint64_t)futex->taken_ns > AGAIN_NS;
		futex->holder = 0;
		break;
	case WAKES:
		wakes(futex, event, &f->unpark[event->row]);
		break;
	case ENDS:
		futex->n_waiting -= futex->n_waiting > 0;
		if (event->woken) {
			futex->holder = event->thread;
			futex->taken_ns = event->ts_ns;
		}
		if (!futex->n_waiting)
			futex->holder = 0;
		break;
	}
}

static void judge(struct finder *f)
{
	const struct event *event = f->events.row;
	struct futex *futex = f->futexes.row;

	for (size_t i = 0; i < f->events.n; i++)
		follow(f, &event[i]);
	for (size_t i = 0; i < f->futexes.n; i++) /* V1 */
		futex[i].is_lock =
			futex[i].n_agree >= AGREE_LEAST &&
			futex[i].n_odd <= (futex[i].n_agree + futex[i].n_odd) / ODD_PART &&
			futex[i].n_several <= futex[i].n_wakes / ODD_PART;
}

/* ---- locks they are, then ---- */

static bool is_lock(const struct finder *f, unsigned int reason, uint64_t object)
{
	uint32_t number =
		reason == TRC_REASON_FUTEX ? trc_index_get(&f->number, object) : TRC_INDEX_NONE;

	return number != TRC_INDEX_NONE && futex_at(f, number)->is_lock;
}

/* V2 */
static int unlock_add(struct trc_model *m, const struct trc_unpark *unpark)
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
		.reason = TRC_REASON_FUTEX_LOCK,
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
			park[i].reason = TRC_REASON_FUTEX_LOCK;
	for (size_t i = 0; i < unparks->n && !err; i++) {
		if (is_lock(f, unpark[i].reason, unpark[i].object))
			err = unlock_add(f->m, &unpark[i]);
		else
			unpark[kept++] = unpark[i];
	}
	if (err || kept == unparks->n)
		return err;
	unparks->n = kept;
	return trc_array_sort(&f->m->unlocks, offsetof(struct trc_unlock, ts_ns),
			      offsetof(struct trc_unlock, thread));
}

int trc_derive_futex_locks(struct trc_model *m, struct trc_array *unparks)
{
	struct finder f = {.m = m,
			   .unpark = unparks->row,
			   .futexes = {.row_bytes = sizeof(struct futex)},
			   .events = {.row_bytes = sizeof(struct event)}};
	int err = add_waits(&f);

	if (!err)
		err = add_wakings(&f, unparks);
	if (!err && f.events.n)
		err = trc_array_sort(&f.events, offsetof(struct event, ts_ns),
				     offsetof(struct event, what));
	if (!err) {
		judge(&f);
		err = change(&f, unparks);
	}
	trc_index_free(&f.number);
	trc_array_free(&f.futexes);
	trc_array_free(&f.events);
	return err;
}
