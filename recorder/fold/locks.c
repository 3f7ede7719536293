/*
 * locks.c - which unlock made which thread wait: see private.h.
 *
 * format/waits/locks.h says what an unlock is charged with.  An unlock is recorded some time after
 * the release.  Until this lag is over, waits and unlocks lie in a heap, ordered by the time when
 * they happened.
 */
#include "private.h"

static struct trc_fold_lock_wait *lock_wait_at(const struct trc_fold *f, uint32_t id)
{
	return trc_fold_table_at(&f->lock_waits, id);
}

static struct trc_fold_lock_wait *lock_wait_of(struct trc_lock_waiter *waiter)
{
	return waiter ? (struct trc_fold_lock_wait *)(void *)((unsigned char *)waiter -
							      offsetof(struct trc_fold_lock_wait,
								       waiter))
		      : NULL;
}

/* ---- the heap -------------------------------------------------------------------------- */

static bool lock_event_is_before(const struct trc_fold_lock_event *a,
				 const struct trc_fold_lock_event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void lock_step(struct trc_fold *f, const struct trc_fold_lock_event *e);

static void heap_take(struct trc_fold *f, struct trc_fold_lock_event *first)
{
	struct trc_fold_lock_event *heap = f->lock_event, last = heap[--f->n_lock_events];
	uint32_t i = 0, child;

	*first = heap[0];
	for (; (child = 2 * i + 1) < f->n_lock_events; i = child) {
		if (child + 1 < f->n_lock_events &&
		    lock_event_is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!lock_event_is_before(&heap[child], &last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
}

static void heap_put(struct trc_fold *f, enum trc_fold_lock_step what, struct trc_fold_lock_event e)
{
	struct trc_fold_lock_event *heap = f->lock_event;
	uint32_t i;

	if (f->n_lock_events == f->max_lock_events) { /* the first one's time has come, then */
		struct trc_fold_lock_event first;

		heap_take(f, &first);
		lock_step(f, &first);
	}
	e.order = (uint64_t)what << 62 | ++f->numbers;
	i = f->n_lock_events++;
	for (; i && lock_event_is_before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

/* ---- waits that were given up ---------------------------------------------------------- */

/* Those that began no later than the one of this number. */
static void drop_gave_up(struct trc_fold *f, struct trc_fold_lock *lock, uint64_t last,
			 bool left_out)
{
	struct trc_lock_waiter **at = &lock->waited.gave_up;

	while (*at) {
		struct trc_fold_lock_wait *w = lock_wait_of(*at);

		if (w->item.key > last) {
			at = &w->waiter.older;
			continue;
		}
		*at = w->waiter.older;
		if (left_out)
			trc_fold_leave_out(f, TRC_VIEW_MUTEX, w->waiter.wait.end);
		trc_fold_table_remove(&f->lock_waits, w);
		f->n_gave_up--;
	}
}

static void forget_gave_up(struct trc_fold *f, struct trc_fold_lock *lock)
{
	drop_gave_up(f, lock, UINT64_MAX, false);
}

/* Makes room: the older half of them.  The unlock that they wait for may never come: one that
 * nobody waits for is not recorded. */
static void evict_gave_up(struct trc_fold *f)
{
	uint64_t first = UINT64_MAX, last = 0;

	if (f->n_gave_up < f->lock_waits.max / 8)
		return;
	for (uint32_t i = 1; i <= f->locks.used; i++) {
		const struct trc_fold_lock *lock = trc_fold_table_at(&f->locks, i);

		for (struct trc_lock_waiter *w = lock ? lock->waited.gave_up : NULL; w;
		     w = w->older) {
			uint64_t number = lock_wait_of(w)->item.key;

			first = number < first ? number : first;
			last = number > last ? number : last;
		}
	}
	for (uint32_t i = 1; i <= f->locks.used; i++) {
		struct trc_fold_lock *lock = trc_fold_table_at(&f->locks, i);

		if (lock)
			drop_gave_up(f, lock, first + (last - first) / 2, true);
	}
}

/* ---- what comes ------------------------------------------------------------------------ */

uint32_t trc_fold_lock_begin(struct trc_fold *f, uint64_t start, uint64_t object,
			     unsigned int reason, uint32_t holder)
{
	bool doubt = f->full_until && start >= f->full_since;
	struct trc_fold_lock_event e = {
		.time = start, .key = trc_charge_key(object, reason), .object = object};
	struct trc_fold_lock_wait *w = NULL;

	if (f->lock_waits.n == f->lock_waits.max)
		evict_gave_up(f);
	if (!doubt)
		w = trc_fold_table_add(&f->lock_waits, ++f->numbers);
	if (!w) {
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, start);
		return 0;
	}
	w->waiter.wait = (struct trc_charge_wait){.start = start, .holder = holder};
	w->key = e.key;
	w->object = object;
	e.wait = trc_fold_table_id(&f->lock_waits, w);
	heap_put(f, TRC_FOLD_BEGIN, e);
	return e.wait;
}

void trc_fold_lock_end(struct trc_fold *f, uint32_t wait, uint64_t end, int result)
{
	struct trc_fold_lock_wait *w = lock_wait_at(f, wait);
	struct trc_fold_lock_event e = {.key = w->key, .object = w->object, .wait = wait};

	/* Not before it began. */
	e.time = end > w->waiter.wait.start ? end : w->waiter.wait.start;
	w->waiter.wait.end = e.time;
	w->result = (int16_t)result;
	heap_put(f, TRC_FOLD_END, e);
}

void trc_fold_lock_unlock(struct trc_fold *f, const struct trc_fold_event *e)
{
	struct trc_fold_lock_event unlock = {.time = e->c,
					     .object = e->a,
					     .thread = e->thread,
					     .stack = e->stack,
					     .labels = trc_fold_labels_of(f, e->thread)};
	uint64_t held = (uint64_t)((double)e->b / f->ns_per_tick), key[2];
	unsigned int n = trc_charge_keys(e->a, e->reason, key);

	if (held && held < unlock.time)
		unlock.taken = unlock.time - held;
	for (unsigned int i = 0; i < n; i++) {
		unlock.key = key[i];
		heap_put(f, TRC_FOLD_UNLOCK, unlock);
	}
}

void trc_fold_lock_gap(struct trc_fold *f, uint64_t time)
{
	const struct trc_fold_lock_event e = {.time = time};

	heap_put(f, TRC_FOLD_GAP, e);
}

void trc_fold_locks_pass(struct trc_fold *f, uint64_t upto)
{
	while (f->n_lock_events && f->lock_event[0].time <= upto) {
		struct trc_fold_lock_event first;

		heap_take(f, &first);
		lock_step(f, &first);
	}
}

/* ---- locks ----------------------------------------------------------------------------- */

/* Nobody knows who waits for it now, and since when. */
static void forget_lock(struct trc_fold *f, struct trc_fold_lock *lock)
{
	for (struct trc_lock_waiter *w = lock->waited.newest; w; w = w->older)
		lock_wait_of(w)->left_out = true;
	forget_gave_up(f, lock);
	lock->waited = (struct trc_waited_lock){.newest = NULL};
	lock->gap = f->gaps;
}

/* Makes room: locks that nobody waits for, and that were not unlocked just now. */
static void evict_locks(struct trc_fold *f, uint64_t now)
{
	if (now < f->locks_evicted + f->between_ticks)
		return;
	f->locks_evicted = now;
	for (uint32_t id = 1; id <= f->locks.used; id++) {
		struct trc_fold_lock *lock = trc_fold_table_at(&f->locks, id);

		if (lock && lock->gap != f->gaps)
			forget_lock(f, lock);
		if (!lock || lock->waited.n_waiting ||
		    (lock->waited.unlocked && lock->last.charge.at + f->between_ticks >= now))
			continue;
		forget_gave_up(f, lock);
		trc_fold_table_remove(&f->locks, lock);
	}
}

static struct trc_fold_lock *fold_lock_of(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_lock *lock = trc_fold_table_find(&f->locks, e->key);

	if (!lock) {
		if (f->locks.n == f->locks.max)
			evict_locks(f, e->time);
		lock = trc_fold_table_add(&f->locks, e->key);
		if (lock) {
			lock->object = e->object;
			lock->gap = f->gaps;
		}
	}
	if (lock && lock->gap != f->gaps)
		forget_lock(f, lock);
	return lock;
}

static void wait_begins(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_lock *lock = fold_lock_of(f, e);
	struct trc_fold_lock_wait *w = lock_wait_at(f, e->wait);

	if (!lock) {
		w->left_out = true;
		return;
	}
	w->begun = true;
	trc_lock_wait_begins(&lock->waited, &w->waiter);
}

/* One wait is charged to an unlock that did not happen during it, from `start` on. */
static void lock_charge(struct trc_fold *f, const struct trc_fold_lock *lock,
			const struct trc_fold_unlock *unlock, const struct trc_fold_lock_wait *w,
			uint64_t start)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_MUTEX);

		if (view && unlock->charge.at >= view->begin)
			trc_view_add_unlock(view, unlock, lock->object, 1,
					    trc_view_clip(view, start, w->waiter.wait.end));
	}
}

/* True if the lock keeps it for the next unlock. */
static bool lock_wait_settle(struct trc_fold *f, struct trc_fold_lock *lock,
			     struct trc_fold_lock_wait *w)
{
	switch (trc_lock_wait_ends(&lock->waited, &w->waiter, w->result, f->between_ticks)) {
	case TRC_CHARGE_NOBODY:
	case TRC_CHARGE_WOKEN:
		break;
	case TRC_CHARGE_LAST:
		lock_charge(f, lock, &lock->last, w, w->waiter.wait.start);
		break;
	case TRC_CHARGE_NEXT:
		f->n_gave_up++;
		return true;
	}
	return false;
}

static void lock_wait_ends(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_lock_wait *w = lock_wait_at(f, e->wait);
	struct trc_fold_lock *lock = w->begun ? fold_lock_of(f, e) : NULL;

	if (!lock || w->left_out)
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, e->time);
	else if (lock_wait_settle(f, lock, w))
		return;
	trc_fold_table_remove(&f->lock_waits, w);
}

static void charge_waiting(struct trc_fold *f, const struct trc_fold_lock *lock,
			   const struct trc_fold_unlock *unlock)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_MUTEX);
		unsigned __int128 ticks;
		uint64_t n;

		if (!view || unlock->charge.at < view->begin)
			continue;
		n = trc_lock_waited(&lock->waited, &unlock->charge, view->begin, &ticks);
		if (n)
			trc_view_add_unlock(view, unlock, lock->object, n, (uint64_t)ticks);
	}
}

static void charge_gave_up(struct trc_fold *f, struct trc_fold_lock *lock,
			   const struct trc_fold_unlock *unlock)
{
	struct trc_lock_waiter *waiter;
	uint64_t since;
	bool charged;

	while ((waiter = trc_lock_take_gave_up(&lock->waited, &unlock->charge, &charged, &since))) {
		if (charged)
			lock_charge(f, lock, unlock, lock_wait_of(waiter), since);
		trc_fold_table_remove(&f->lock_waits, lock_wait_of(waiter));
		f->n_gave_up--;
	}
}

static void unlocks(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_unlock unlock = {{e->time, e->taken, e->thread}, e->stack, e->labels};
	struct trc_fold_lock *lock = fold_lock_of(f, e);

	if (!lock) {
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, e->time);
		return;
	}
	if (lock->waited.unlocked && lock->last.charge.at > unlock.charge.at)
		unlock.charge.at = lock->last.charge.at;
	if (lock->waited.n_waiting)
		charge_waiting(f, lock, &unlock);
	charge_gave_up(f, lock, &unlock);
	trc_lock_unlocks(&lock->waited, &unlock.charge);
	lock->last = unlock;
}

static void lock_step(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	switch ((enum trc_fold_lock_step)(e->order >> 62)) {
	case TRC_FOLD_BEGIN:
		wait_begins(f, e);
		break;
	case TRC_FOLD_UNLOCK:
		unlocks(f, e);
		break;
	case TRC_FOLD_END:
		lock_wait_ends(f, e);
		break;
	case TRC_FOLD_GAP:
		f->gaps++;
		break;
	}
}

void trc_fold_locks_mark(struct trc_fold *f)
{
	for (uint32_t i = 0; i < f->n_lock_events; i++) {
		trc_fold_intern_mark(&f->stacks, f->lock_event[i].stack);
		trc_fold_intern_mark(&f->label_sets, f->lock_event[i].labels);
	}
	for (uint32_t id = 1; id <= f->locks.used; id++) {
		const struct trc_fold_lock *lock = trc_fold_table_at(&f->locks, id);

		if (!lock || !lock->waited.unlocked)
			continue;
		trc_fold_intern_mark(&f->stacks, lock->last.stack);
		trc_fold_intern_mark(&f->label_sets, lock->last.labels);
	}
}
