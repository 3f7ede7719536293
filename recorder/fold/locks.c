/*
 * locks.c - who was made to wait by which unlock: see private.h.
 *
 * What is left at the end of a wait follows the rules of format/waits/charges.h.  An unlock is recorded
 * some time after it was done; until the lag is over, waits and unlocks lie in a heap by the time
 * when they were done.  One that comes even later is taken as if it was done after the last.
 *
 * A lock keeps the sum of the times since when the waiting of its waiters has not been charged to
 * an unlock.  Where that is not enough - a window began meanwhile, an unlock comes late - its
 * waiters are looked at one by one.
 */
#include "private.h"
#include "format/waits/charges.h"

static struct trc_fold_lock_wait *wait_at(const struct trc_fold *f, uint32_t id)
{
	return trc_fold_table_at(&f->lock_waits, id);
}

/* ---- the heap -------------------------------------------------------------------------- */

static bool is_before(const struct trc_fold_lock_event *a, const struct trc_fold_lock_event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void step(struct trc_fold *f, const struct trc_fold_lock_event *e);

static void heap_take(struct trc_fold *f, struct trc_fold_lock_event *first)
{
	struct trc_fold_lock_event *heap = f->lock_event, last = heap[--f->n_lock_events];
	uint32_t i = 0, child;

	*first = heap[0];
	for (; (child = 2 * i + 1) < f->n_lock_events; i = child) {
		if (child + 1 < f->n_lock_events && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &last))
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
		step(f, &first);
	}
	e.order = (uint64_t)what << 62 | ++f->numbers;
	i = f->n_lock_events++;
	for (; i && is_before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

/* ---- waits that were given up ---------------------------------------------------------- */

/* Those that began no later than the one of this number. */
static void drop_gave_up(struct trc_fold *f, struct trc_fold_lock *lock, uint64_t last,
			 bool left_out)
{
	uint32_t *at = &lock->gave_up;

	while (*at) {
		struct trc_fold_lock_wait *w = wait_at(f, *at);

		if (w->item.key > last) {
			at = &w->item.extra;
			continue;
		}
		*at = w->item.extra;
		if (left_out)
			trc_fold_leave_out(f, TRC_VIEW_MUTEX, w->end);
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

		for (uint32_t id = lock ? lock->gave_up : 0; id; id = wait_at(f, id)->item.extra) {
			uint64_t number = wait_at(f, id)->item.key;

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

uint32_t trc_fold_lock_begin(struct trc_fold *f, uint64_t start, uint64_t object, uint32_t holder)
{
	bool doubt = f->full_until && start >= f->full_since;
	struct trc_fold_lock_event e = {.time = start, .object = object};
	struct trc_fold_lock_wait *w = NULL;

	if (f->lock_waits.n == f->lock_waits.max)
		evict_gave_up(f);
	if (!doubt)
		w = trc_fold_table_add(&f->lock_waits, ++f->numbers);
	if (!w) {
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, start);
		return 0;
	}
	w->start = start;
	w->object = object;
	w->holder = holder;
	e.wait = trc_fold_table_id(&f->lock_waits, w);
	heap_put(f, TRC_FOLD_BEGIN, e);
	return e.wait;
}

void trc_fold_lock_end(struct trc_fold *f, uint32_t wait, uint64_t end, int result)
{
	struct trc_fold_lock_wait *w = wait_at(f, wait);
	struct trc_fold_lock_event e = {.object = w->object, .wait = wait};

	e.time = w->end = end > w->start ? end : w->start; /* not before it began */
	w->failed = result > 0;
	w->no_end = result < 0;
	heap_put(f, TRC_FOLD_END, e);
}

void trc_fold_lock_unlock(struct trc_fold *f, const struct trc_fold_event *e)
{
	struct trc_fold_lock_event unlock = {.time = e->c,
					     .object = e->a,
					     .thread = e->thread,
					     .stack = e->stack,
					     .labels = trc_fold_labels_of(f, e->thread)};
	uint64_t held = (uint64_t)((double)e->b / f->ns_per_tick);

	if (held && held < unlock.time)
		unlock.taken = unlock.time - held;

	heap_put(f, TRC_FOLD_UNLOCK, unlock);
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
		step(f, &first);
	}
}

/* ---- locks ----------------------------------------------------------------------------- */

/* Nobody knows who waits for it now, and since when. */
static void forget_lock(struct trc_fold *f, struct trc_fold_lock *lock)
{
	for (uint32_t id = lock->item.extra; id; id = wait_at(f, id)->item.extra)
		wait_at(f, id)->left_out = true;
	forget_gave_up(f, lock);
	lock->item.extra = 0;
	lock->n_waiting = 0;
	lock->unlocked = false;
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
		if (!lock || lock->n_waiting ||
		    (lock->unlocked && lock->last.at + f->between_ticks >= now))
			continue;
		forget_gave_up(f, lock);
		trc_fold_table_remove(&f->locks, lock);
	}
}

static struct trc_fold_lock *lock_of(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_lock *lock = trc_fold_table_find(&f->locks, e->object);

	if (!lock) {
		if (f->locks.n == f->locks.max)
			evict_locks(f, e->time);
		lock = trc_fold_table_add(&f->locks, e->object);
		if (lock)
			lock->gap = f->gaps;
	}
	if (lock && lock->gap != f->gaps)
		forget_lock(f, lock);
	return lock;
}

static uint64_t base_of(const struct trc_fold_lock *lock, const struct trc_fold_lock_wait *w)
{
	return lock->unlocked && lock->last.at > w->start ? lock->last.at : w->start;
}

static void link_wait(struct trc_fold *f, struct trc_fold_lock *lock, uint32_t id)
{
	struct trc_fold_lock_wait *w = wait_at(f, id), *next = wait_at(f, lock->item.extra);

	w->item.extra = lock->item.extra;
	w->previous = 0;
	if (next)
		next->previous = id;
	lock->item.extra = id;
}

static void unlink_wait(struct trc_fold *f, struct trc_fold_lock *lock,
			struct trc_fold_lock_wait *w)
{
	struct trc_fold_lock_wait *previous = wait_at(f, w->previous);
	struct trc_fold_lock_wait *next = wait_at(f, w->item.extra);

	if (previous)
		previous->item.extra = w->item.extra;
	else
		lock->item.extra = w->item.extra;
	if (next)
		next->previous = w->previous;
}

static void wait_begins(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_lock *lock = lock_of(f, e);
	struct trc_fold_lock_wait *w = wait_at(f, e->wait);

	if (!lock) {
		w->left_out = true;
		return;
	}
	w->begun = true;
	w->start = base_of(lock, w); /* it is told late: what was before has been charged */
	if (!lock->n_waiting || w->start < lock->oldest_base)
		lock->oldest_base = w->start;
	if (!lock->n_waiting || w->start > lock->newest_base)
		lock->newest_base = w->start;
	if (!lock->n_waiting)
		lock->base_sum = 0;
	lock->n_waiting++;
	lock->base_sum += w->start;
	link_wait(f, lock, e->wait);
}

/* One wait is charged to an unlock that did not happen during it, from `start` on. */
static void charge(struct trc_fold *f, const struct trc_fold_lock *lock,
		   const struct trc_fold_unlock *unlock, const struct trc_fold_lock_wait *w,
		   uint64_t start)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_MUTEX);

		if (view && unlock->at >= view->begin)
			trc_view_add_unlock(view, unlock, lock->item.key, 1,
					    trc_view_clip(view, start, w->end));
	}
}

static struct trc_charge_wait as_charge_wait(const struct trc_fold_lock_wait *w)
{
	return (struct trc_charge_wait){w->start, w->end, w->holder};
}

static struct trc_charge_unlock as_charge_unlock(const struct trc_fold_unlock *unlock)
{
	return (struct trc_charge_unlock){unlock->at, unlock->taken, unlock->thread};
}

/* What was not charged yet is kept for the next unlock. */
static void give_up(struct trc_fold *f, struct trc_fold_lock *lock, struct trc_fold_lock_wait *w)
{
	w->item.extra = lock->gave_up;
	lock->gave_up = trc_fold_table_id(&f->lock_waits, w);
	f->n_gave_up++;
}

/* True if it is kept. */
static bool settle(struct trc_fold *f, struct trc_fold_lock *lock, struct trc_fold_lock_wait *w)
{
	const struct trc_charge_wait wait = as_charge_wait(w);
	const struct trc_charge_unlock last = as_charge_unlock(&lock->last);
	int result = w->no_end ? -1 : w->failed;

	switch (trc_charge_end(&wait, result, lock->unlocked ? &last : NULL, f->between_ticks)) {
	case TRC_CHARGE_NOBODY:
	case TRC_CHARGE_WOKEN:
		break;
	case TRC_CHARGE_LAST:
		charge(f, lock, &lock->last, w, w->start);
		break;
	case TRC_CHARGE_NEXT:
		give_up(f, lock, w);
		return true;
	}
	return false;
}

static void wait_ends(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_lock_wait *w = wait_at(f, e->wait);
	struct trc_fold_lock *lock = w->begun ? lock_of(f, e) : NULL;
	bool kept = false;

	if (!lock || w->left_out) {
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, e->time);
	} else {
		unlink_wait(f, lock, w);
		lock->n_waiting--;
		lock->base_sum -= base_of(lock, w);
		kept = settle(f, lock, w);
	}
	if (!kept)
		trc_fold_table_remove(&f->lock_waits, w);
}

/* How many waited before `at`, and how long since then or since it was charged last. */
static uint64_t look_at_waits(const struct trc_fold *f, const struct trc_fold_lock *lock,
			      uint64_t at, uint64_t begin, uint64_t *ticks)
{
	uint64_t n = 0;

	*ticks = 0;
	for (uint32_t id = lock->item.extra; id; id = wait_at(f, id)->item.extra) {
		uint64_t base = base_of(lock, wait_at(f, id));

		if (base > at)
			continue;
		n++;
		base = base > begin ? base : begin;
		*ticks += at > base ? at - base : 0;
	}
	return n;
}

static void charge_waiting(struct trc_fold *f, const struct trc_fold_lock *lock,
			   const struct trc_fold_unlock *unlock)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_MUTEX);
		uint64_t n = lock->n_waiting, ticks = n * unlock->at - lock->base_sum, begin;

		if (!view || unlock->at < view->begin)
			continue;
		/* Before it was taken nobody held it. */
		begin = view->begin > unlock->taken ? view->begin : unlock->taken;
		if (begin > lock->oldest_base || unlock->at < lock->newest_base)
			n = look_at_waits(f, lock, unlock->at, begin, &ticks);
		if (n)
			trc_view_add_unlock(view, unlock, lock->item.key, n, ticks);
	}
}

static void charge_gave_up(struct trc_fold *f, struct trc_fold_lock *lock,
			   const struct trc_fold_unlock *unlock)
{
	const struct trc_charge_unlock last = as_charge_unlock(&lock->last);
	const struct trc_charge_unlock next = as_charge_unlock(unlock);

	for (uint32_t id = lock->gave_up; id; id = wait_at(f, id)->item.extra) {
		const struct trc_charge_wait wait = as_charge_wait(wait_at(f, id));
		uint64_t since;

		if (trc_charge_to_next(&wait, lock->unlocked ? &last : NULL, &next, &since))
			charge(f, lock, unlock, wait_at(f, id), since);
	}
	forget_gave_up(f, lock);
}

static void unlocks(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	struct trc_fold_unlock unlock = {e->time, e->taken, e->thread, e->stack, e->labels};
	struct trc_fold_lock *lock = lock_of(f, e);

	if (!lock) {
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, e->time);
		return;
	}
	if (lock->unlocked && lock->last.at > unlock.at)
		unlock.at = lock->last.at;
	if (lock->n_waiting)
		charge_waiting(f, lock, &unlock);
	charge_gave_up(f, lock, &unlock);
	lock->last = unlock;
	lock->unlocked = true;
	lock->base_sum = lock->n_waiting * unlock.at;
	if (unlock.at < lock->newest_base && lock->n_waiting) {
		lock->base_sum = 0;
		for (uint32_t id = lock->item.extra; id; id = wait_at(f, id)->item.extra)
			lock->base_sum += base_of(lock, wait_at(f, id));
	} else {
		lock->newest_base = unlock.at;
	}
	lock->oldest_base = unlock.at;
}

static void step(struct trc_fold *f, const struct trc_fold_lock_event *e)
{
	switch ((enum trc_fold_lock_step)(e->order >> 62)) {
	case TRC_FOLD_BEGIN:
		wait_begins(f, e);
		break;
	case TRC_FOLD_UNLOCK:
		unlocks(f, e);
		break;
	case TRC_FOLD_END:
		wait_ends(f, e);
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

		if (!lock || !lock->unlocked)
			continue;
		trc_fold_intern_mark(&f->stacks, lock->last.stack);
		trc_fold_intern_mark(&f->label_sets, lock->last.labels);
	}
}
