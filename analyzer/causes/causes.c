/* causes.c - see causes.h. */
#include "causes.h"

#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/timeline.h"
#include "analyzer/model/waits.h"
#include "format/charges.h"

/* The unlocks of a lock: unlock_row[first] up to unlock_row[first + n], by time. */
struct lock {
	uint32_t first, n;
};

struct trc_causes {
	const struct trc_model *m;
	const struct trc_thread *thread;
	const struct trc_park *park;
	const struct trc_unlock *unlock;
	const struct trc_on_cpu *on_cpu;
	const struct trc_sample *sample;
	size_t n_threads, n_parks, n_unlocks, n_on_cpu, n_samples;
	uint32_t *outer;
	struct trc_by_thread parks, stretches, samples;
	struct trc_array *pieces; /* by row of the thread; made when first asked for */
	struct trc_index lock_row;
	struct trc_array locks; /* struct lock */
	uint32_t *unlock_row;
	int64_t switches_ns;
	int64_t *lost_since_ns;	     /* of gaps[i] and all after it, the earliest */
	struct trc_index holder_now; /* by park id: the thread that holds the lock at the end */

	/* The wait that is being explained. */
	struct trc_array rows; /* struct trc_cause */
	uint32_t wait;
	uint32_t chain[TRC_CAUSES_DEPTH_MAX + 1]; /* ids of the waits that a row lies in */
	uint32_t n_chain;
};

/* Where rows go, and what is known of a piece whose thread is to be looked at. */
struct place {
	uint32_t parent, depth;
	uint32_t stack;	 /* of the event that ended the piece; 0 = not known */
	uint32_t unlock; /* id; 0 = none */
	uint32_t hops;	 /* creators that were asked instead of their threads */
};

static int64_t later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* ---- rows ---- */

static struct trc_cause *row_add(struct trc_causes *c, const struct place *at, uint8_t kind,
				 uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	struct trc_cause *row = trc_array_add(&c->rows);

	if (!row)
		return NULL;
	row->wait = c->wait;
	row->id = (uint32_t)c->rows.n;
	row->parent = at->parent;
	row->depth = at->depth;
	row->kind = kind;
	row->leaf = kind != TRC_CAUSE_WAITING;
	row->thread = thread;
	row->from_ns = from_ns;
	row->to_ns = to_ns;
	row->unlock = at->unlock;
	return row;
}

static void row_of_park(struct trc_causes *c, struct trc_cause *row, uint32_t park)
{
	const struct trc_park *p = &c->park[park - 1];

	row->park = park;
	row->reason = p->reason;
	row->object = p->object;
	row->stack = p->stack;
	row->stack_of = p->stack ? TRC_CAUSE_STACK_WAIT : TRC_CAUSE_STACK_NONE;
}

static bool was_lost(const struct trc_causes *c, int64_t from_ns, int64_t to_ns)
{
	size_t n, low = 0, high;
	const struct trc_gap *gap = trc_model_gaps(c->m, &n);

	high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gap[middle].ts_ns < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && c->lost_since_ns[low] <= to_ns;
}

/* A leaf of a thread that waits. */
static int leaf_of_park(struct trc_causes *c, const struct place *at, uint8_t kind, uint32_t park,
			int64_t from_ns, int64_t to_ns)
{
	struct trc_cause *row;

	if (from_ns >= to_ns)
		return 0;
	if (kind == TRC_CAUSE_UNKNOWN && was_lost(c, from_ns, to_ns))
		kind = TRC_CAUSE_LOST;
	row = row_add(c, at, kind, c->park[park - 1].thread, from_ns, to_ns);
	if (!row)
		return -ENOMEM;
	row_of_park(c, row, park);
	return 0;
}

static int leaf_of_thread(struct trc_causes *c, const struct place *at, uint8_t kind,
			  uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	struct trc_cause *row;

	if (from_ns >= to_ns)
		return 0;
	if (kind == TRC_CAUSE_UNKNOWN && was_lost(c, from_ns, to_ns))
		kind = TRC_CAUSE_LOST;
	row = row_add(c, at, kind, thread, from_ns, to_ns);
	if (!row)
		return -ENOMEM;
	row->stack = at->stack;
	row->stack_of = at->stack ? TRC_CAUSE_STACK_END : TRC_CAUSE_STACK_NONE;
	return 0;
}

/* ---- what a thread that does not wait does ---- */

static bool is_of_a_clock(const struct trc_causes *c, const struct trc_sample *sample)
{
	size_t n;
	const struct trc_sample_event *event = trc_model_sample_events(c->m, &n);

	for (size_t i = 0; i < n; i++)
		if (event[i].event == sample->event)
			return trc_sample_event_is_clock(&event[i]);
	return false;
}

/* Index in samples.row of the thread's first sample at or after this time. */
static uint32_t sample_from(const struct trc_causes *c, size_t thread, int64_t ts_ns)
{
	uint32_t low = c->samples.first[thread], high = c->samples.first[thread + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->sample[c->samples.row[middle]].ts_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The thread ran: cut midway between its samples, each piece with the stack of its own. */
static int explain_sampled(struct trc_causes *c, const struct place *at, uint8_t kind,
			   size_t thread, int64_t from_ns, int64_t to_ns)
{
	const struct trc_sample *held = NULL;
	struct trc_cause *row = NULL;

	for (uint32_t i = sample_from(c, thread, from_ns); i < c->samples.first[thread + 1]; i++) {
		const struct trc_sample *sample = &c->sample[c->samples.row[i]];
		int64_t cut_ns;

		if (sample->ts_ns >= to_ns)
			break;
		if (!is_of_a_clock(c, sample))
			continue;
		cut_ns = held ? held->ts_ns + (sample->ts_ns - held->ts_ns) / 2 : from_ns;
		/* Samples of one function are one row. */
		if (row && row->stack == sample->stack) {
			held = sample;
			continue;
		}
		if (row)
			row->to_ns = cut_ns;
		if (!row || cut_ns > row->from_ns)
			row = row_add(c, at, kind, c->thread[thread].serial, cut_ns, to_ns);
		if (!row)
			return -ENOMEM;
		row->to_ns = to_ns;
		row->stack = sample->stack;
		row->stack_of = TRC_CAUSE_STACK_SAMPLE;
		held = sample;
	}
	return row ? 0 : leaf_of_thread(c, at, kind, c->thread[thread].serial, from_ns, to_ns);
}

/* Index in stretches.row of the thread's first stretch on a proc that ends after this time. */
static uint32_t stretch_from(const struct trc_causes *c, size_t thread, int64_t ts_ns)
{
	uint32_t low = c->stretches.first[thread], high = c->stretches.first[thread + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int64_t end_ns = c->on_cpu[c->stretches.row[middle]].end_ns;

		if (end_ns != TRC_NEVER && end_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int explain_switched(struct trc_causes *c, const struct place *at, size_t thread,
			    int64_t from_ns, int64_t to_ns)
{
	uint32_t i = stretch_from(c, thread, from_ns);
	uint32_t serial = c->thread[thread].serial;
	int err = 0;

	for (; from_ns < to_ns && !err; i++) {
		bool more = i < c->stretches.first[thread + 1];
		bool preempted = i > c->stretches.first[thread] &&
				 c->on_cpu[c->stretches.row[i - 1]].preempted;
		const struct trc_on_cpu *on = more ? &c->on_cpu[c->stretches.row[i]] : NULL;
		int64_t on_ns = to_ns, off_ns = to_ns;

		if (on) {
			/* One from before the trace has no start, which is the least number. */
			on_ns = later(from_ns, earlier(on->start_ns, to_ns));
			off_ns = on->end_ns == TRC_NEVER ? to_ns : earlier(on->end_ns, to_ns);
		}
		err = leaf_of_thread(c, at, preempted ? TRC_CAUSE_PREEMPTED : TRC_CAUSE_OFF, serial,
				     from_ns, on_ns);
		if (!err && on && on_ns < off_ns)
			err = explain_sampled(c, at, TRC_CAUSE_RUNNING, thread, on_ns, off_ns);
		from_ns = later(on_ns, off_ns);
	}
	return err;
}

static int explain_active(struct trc_causes *c, const struct place *at, size_t thread,
			  int64_t from_ns, int64_t to_ns)
{
	bool switched = c->stretches.first[thread] < c->stretches.first[thread + 1];
	int64_t switches_ns = switched ? earlier(later(c->switches_ns, from_ns), to_ns) : to_ns;
	int err = 0;

	if (from_ns < switches_ns)
		err = explain_sampled(c, at, TRC_CAUSE_ACTIVE, thread, from_ns, switches_ns);
	return err ? err : explain_switched(c, at, thread, switches_ns, to_ns);
}

/* ---- what a thread does in a piece ---- */

static int explain_wait(struct trc_causes *c, const struct place *at, uint32_t park,
			int64_t from_ns, int64_t to_ns);
static int explain_thread(struct trc_causes *c, const struct place *place, uint32_t serial,
			  int64_t from_ns, int64_t to_ns);

static const struct trc_array *pieces_of(struct trc_causes *c, size_t thread)
{
	struct trc_array *pieces = &c->pieces[thread];

	if (!pieces->n) {
		pieces->row_bytes = sizeof(struct trc_wait_piece);
		if (trc_wait_pieces_make(pieces, c->m, &c->parks, c->outer, thread)) {
			pieces->n = 0;
			return NULL;
		}
		trc_array_trim(pieces);
	}
	return pieces;
}

static int explain_life(struct trc_causes *c, const struct place *at, size_t thread,
			int64_t from_ns, int64_t to_ns)
{
	const struct trc_array *pieces = pieces_of(c, thread);
	const struct trc_wait_piece *piece;
	int err = 0;

	if (!pieces)
		return -ENOMEM;
	piece = pieces->row;
	for (size_t i = trc_wait_piece_at(pieces, from_ns); from_ns < to_ns && !err; i++) {
		int64_t end_ns = i + 1 < pieces->n ? earlier(piece[i + 1].start_ns, to_ns) : to_ns;

		if (end_ns <= from_ns)
			continue;
		err = piece[i].park ? explain_wait(c, at, piece[i].park, from_ns, end_ns)
				    : explain_active(c, at, thread, from_ns, end_ns);
		from_ns = end_ns;
	}
	return err;
}

static bool waits_in_chain(const struct trc_causes *c, uint32_t thread)
{
	for (uint32_t i = 0; i < c->n_chain; i++)
		if (c->park[c->chain[i] - 1].thread == thread)
			return true;
	return false;
}

/* A thread that is still to come is waited for until its creator gets there; one whose creator waits
 * has been created. */
static int explain_unborn(struct trc_causes *c, const struct place *at, const struct trc_thread *t,
			  int64_t from_ns, int64_t to_ns)
{
	struct place creator = *at;

	if (waits_in_chain(c, t->creator))
		return leaf_of_thread(c, at, TRC_CAUSE_STARTING, t->serial, from_ns, to_ns);
	creator.hops++;
	creator.stack = t->creator_stack;
	return explain_thread(c, &creator, t->creator, from_ns, to_ns);
}

/* What the thread with this serial did. */
static int explain_thread(struct trc_causes *c, const struct place *place, uint32_t serial,
			  int64_t from_ns, int64_t to_ns)
{
	const struct trc_thread *t = serial ? trc_model_thread(c->m, serial) : NULL;
	struct place at = *place;
	int64_t life_ns = from_ns, end_ns = to_ns;
	int err = 0;

	if (from_ns >= to_ns)
		return 0;
	if (!t)
		return leaf_of_thread(c, &at, TRC_CAUSE_UNKNOWN, serial, from_ns, to_ns);
	if (at.depth > TRC_CAUSES_DEPTH_MAX || at.hops > TRC_CAUSES_DEPTH_MAX)
		return leaf_of_thread(c, &at, TRC_CAUSE_DEEP, serial, from_ns, to_ns);
	if (t->start_ns != TRC_NEVER && t->start_ns > from_ns) {
		life_ns = earlier(t->start_ns, to_ns);
		err = explain_unborn(c, &at, t, from_ns, life_ns);
	}
	if (t->end_ns != TRC_NEVER && t->end_ns < to_ns)
		end_ns = later(t->end_ns, life_ns);
	if (!err)
		err = explain_life(c, &at, (size_t)(t - c->thread), life_ns, end_ns);
	return err ? err : leaf_of_thread(c, &at, TRC_CAUSE_GONE, serial, end_ns, to_ns);
}

/* ---- waits for locks ---- */

static const struct trc_unlock *unlock_at(const struct trc_causes *c, const struct lock *lock,
					  uint32_t i)
{
	return &c->unlock[c->unlock_row[lock->first + i]];
}

static const struct lock *lock_of(const struct trc_causes *c, uint64_t object)
{
	static const struct lock none;
	uint32_t row = trc_index_get(&c->lock_row, object);

	return row == TRC_INDEX_NONE ? &none : (const struct lock *)c->locks.row + row;
}

/* The first unlock at or after this time. */
static uint32_t unlock_from(const struct trc_causes *c, const struct lock *lock, int64_t ts_ns)
{
	uint32_t low = 0, high = lock->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (unlock_at(c, lock, middle)->ts_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* When the section that this unlock ends began, if it says so and this can be, as wakers.c does; else
 * since the unlock before. */
static int64_t section_from(const struct trc_causes *c, const struct lock *lock, uint32_t i)
{
	const struct trc_unlock *unlock = unlock_at(c, lock, i);
	int64_t before_ns = i ? unlock_at(c, lock, i - 1)->ts_ns : TRC_NEVER;

	if (unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= unlock->ts_ns &&
	    unlock->taken_ns > before_ns)
		return unlock->taken_ns;
	return before_ns;
}

/* A piece in which the thread of this unlock held the lock. */
static int explain_section(struct trc_causes *c, const struct place *below,
			   const struct trc_unlock *unlock, int64_t from_ns, int64_t to_ns)
{
	struct place at = *below;

	at.stack = unlock->stack;
	at.unlock = (uint32_t)(unlock - c->unlock) + 1;
	return explain_thread(c, &at, unlock->thread, from_ns, to_ns);
}

/* For charges.h: the same order and the same differences, TRC_NEVER as 0. */
static uint64_t charge_time(int64_t ns)
{
	return (uint64_t)ns ^ (uint64_t)1 << 63;
}

static int64_t charge_ns(uint64_t time)
{
	return (int64_t)(time ^ (uint64_t)1 << 63);
}

static struct trc_charge_unlock as_charge_unlock(const struct trc_unlock *unlock)
{
	return (struct trc_charge_unlock){charge_time(unlock->ts_ns), charge_time(unlock->taken_ns),
					  unlock->thread};
}

/* No unlock says who had the lock: perhaps the lock itself did. */
static int explain_held(struct trc_causes *c, const struct place *below, uint32_t park,
			bool unlocked, int64_t from_ns, int64_t to_ns)
{
	const struct trc_park *p = &c->park[park - 1];
	uint32_t holder = trc_index_get(&c->holder_now, park);

	if (holder == TRC_INDEX_NONE)
		holder = 0;
	if (!holder && !unlocked && (p->flags & TRC_PARK_OPEN || p->result > 0))
		holder = p->holder;
	if (holder)
		return explain_thread(c, below, holder, from_ns, to_ns);
	return leaf_of_park(c, below,
			    p->flags & TRC_PARK_OPEN ? TRC_CAUSE_UNWOKEN : TRC_CAUSE_UNKNOWN, park,
			    from_ns, to_ns);
}

/* What is left of a wait after the last unlock in it, which is lock's unlock `next` - 1. */
static int explain_rest(struct trc_causes *c, const struct place *below, uint32_t park,
			const struct lock *lock, uint32_t next, int64_t from_ns, int64_t to_ns)
{
	const struct trc_park *p = &c->park[park - 1];
	const struct trc_charge_wait wait = {charge_time(p->start_ns), charge_time(p->end_ns),
					     p->holder};
	int result = p->flags & TRC_PARK_NO_END ? -1 : p->result;
	struct trc_charge_unlock last = {0}, after;
	bool unlocked = next && unlock_at(c, lock, next - 1)->ts_ns >= p->start_ns;
	uint64_t since;
	int err;

	if (from_ns >= to_ns)
		return 0;
	if (next)
		last = as_charge_unlock(unlock_at(c, lock, next - 1));
	switch (trc_charge_end(&wait, result, next ? &last : NULL, TRC_CHARGE_BETWEEN_NS)) {
	case TRC_CHARGE_WOKEN:
		return leaf_of_park(c, below, TRC_CAUSE_WAKING, park, from_ns, to_ns);
	case TRC_CHARGE_LAST:
		return explain_section(c, below, unlock_at(c, lock, next - 1), from_ns, to_ns);
	case TRC_CHARGE_NEXT:
		if (next == lock->n)
			break;
		after = as_charge_unlock(unlock_at(c, lock, next));
		if (!trc_charge_to_next(&wait, next ? &last : NULL, &after, &since))
			break;
		since = since > charge_time(to_ns) ? charge_time(to_ns) : since;
		err = leaf_of_park(c, below, TRC_CAUSE_FREE, park, from_ns, charge_ns(since));
		return err ? err
			   : explain_section(c, below, unlock_at(c, lock, next),
					     later(from_ns, charge_ns(since)), to_ns);
	case TRC_CHARGE_NOBODY:
		break;
	}
	return explain_held(c, below, park, unlocked, from_ns, to_ns);
}

static int explain_lock(struct trc_causes *c, const struct place *below, uint32_t park,
			int64_t from_ns, int64_t to_ns)
{
	int64_t end_ns = trc_park_end_ns(c->m, &c->park[park - 1]);
	const struct lock *lock = lock_of(c, c->park[park - 1].object);
	uint32_t i = unlock_from(c, lock, from_ns);
	int err = 0;

	for (; i < lock->n && from_ns < to_ns && !err; i++) {
		const struct trc_unlock *unlock = unlock_at(c, lock, i);
		int64_t free_ns = earlier(section_from(c, lock, i), to_ns);

		if (unlock->ts_ns > end_ns)
			break;
		err = leaf_of_park(c, below, TRC_CAUSE_FREE, park, from_ns, free_ns);
		from_ns = later(from_ns, free_ns);
		if (!err)
			err = explain_section(c, below, unlock, from_ns,
					      earlier(unlock->ts_ns, to_ns));
		from_ns = later(from_ns, earlier(unlock->ts_ns, to_ns));
	}
	return err ? err : explain_rest(c, below, park, lock, i, from_ns, to_ns);
}

/* ---- other waits ---- */

/* Who ended a wait that is not for a lock, and when; 0 = nobody that is known. */
static uint32_t ended_by(const struct trc_causes *c, const struct trc_park *p, int64_t *wake_ns)
{
	*wake_ns = p->wake_ns;
	if (p->waker && p->wake_ns != TRC_NEVER)
		return p->waker;
	/* Until the thread ends that is joined. */
	*wake_ns = trc_park_end_ns(c->m, p);
	return p->reason == TRC_REASON_JOIN ? p->holder : 0;
}

static uint8_t kind_alone(const struct trc_park *p)
{
	if (p->reason == TRC_REASON_SLEEP || p->result == ETIMEDOUT || p->result == EAGAIN)
		return TRC_CAUSE_SLEEPING;
	switch (trc_wait_class(p->reason)) {
	case TRC_WAIT_FILES:
		return TRC_CAUSE_IO;
	case TRC_WAIT_OUTSIDE:
		return TRC_CAUSE_OUTSIDE;
	default:
		return p->flags & TRC_PARK_OPEN ? TRC_CAUSE_UNWOKEN : TRC_CAUSE_UNKNOWN;
	}
}

static int explain_other(struct trc_causes *c, const struct place *below, uint32_t park,
			 int64_t from_ns, int64_t to_ns)
{
	const struct trc_park *p = &c->park[park - 1];
	struct place at = *below;
	int64_t wake_ns;
	uint32_t waker = ended_by(c, p, &wake_ns);
	int err;

	if (!waker)
		return leaf_of_park(c, below, kind_alone(p), park, from_ns, to_ns);
	at.stack = p->waker_stack;
	wake_ns = later(from_ns, earlier(wake_ns, to_ns));
	err = explain_thread(c, &at, waker, from_ns, wake_ns);
	return err ? err : leaf_of_park(c, below, TRC_CAUSE_WAKING, park, wake_ns, to_ns);
}

/* ---- a wait ---- */

static bool is_in_chain(const struct trc_causes *c, uint32_t park)
{
	for (uint32_t i = 0; i < c->n_chain; i++)
		if (c->chain[i] == park)
			return true;
	return false;
}

/* A wait whose only cause is the waiter's own state is that leaf itself. */
static void fold_single(struct trc_causes *c, size_t i)
{
	struct trc_cause *row = (struct trc_cause *)c->rows.row + i;

	if (c->rows.n != i + 2 || row[1].park != row->park || row[1].unlock)
		return;
	row->kind = row[1].kind;
	row->leaf = true;
	c->rows.n--;
}

/* As far as it lies in from_ns..to_ns. */
static int explain_wait(struct trc_causes *c, const struct place *at, uint32_t park,
			int64_t from_ns, int64_t to_ns)
{
	const struct trc_park *p = &c->park[park - 1];
	struct place below = {.depth = at->depth + 1, .hops = at->hops};
	size_t i = c->rows.n;
	struct trc_cause *row;
	int err;

	if (is_in_chain(c, park))
		return leaf_of_park(c, at,
				    p->flags & TRC_PARK_OPEN ? TRC_CAUSE_DEADLOCK : TRC_CAUSE_CYCLE,
				    park, from_ns, to_ns);
	if (at->depth >= TRC_CAUSES_DEPTH_MAX)
		return leaf_of_park(c, at, TRC_CAUSE_DEEP, park, from_ns, to_ns);
	row = row_add(c, at, TRC_CAUSE_WAITING, p->thread, from_ns, to_ns);
	if (!row)
		return -ENOMEM;
	row_of_park(c, row, park);
	below.parent = row->id;
	c->chain[c->n_chain++] = park;
	err = trc_reason_is_lock(p->reason) ? explain_lock(c, &below, park, from_ns, to_ns)
					    : explain_other(c, &below, park, from_ns, to_ns);
	c->n_chain--;
	fold_single(c, i);
	if (!err && c->rows.n == i + 1) {
		row = (struct trc_cause *)c->rows.row + i;
		row->kind = row->leaf ? row->kind : kind_alone(p); /* a wait of no length */
		row->leaf = true;
	}
	return err;
}

static void begin(struct trc_causes *c, uint32_t wait)
{
	c->rows.n = 0;
	c->wait = wait;
	c->n_chain = 0;
}

static int finish(struct trc_causes *c, int err, const struct trc_cause **rows, size_t *n)
{
	*rows = c->rows.row;
	*n = err ? 0 : c->rows.n;
	return err;
}

int trc_causes_of_wait(struct trc_causes *c, uint32_t park, const struct trc_cause **rows,
		       size_t *n)
{
	const struct trc_park *p = &c->park[park - 1];
	int64_t from_ns = trc_park_start_ns(c->m, p), to_ns = trc_park_end_ns(c->m, p);
	const struct place top = {0};

	begin(c, park);
	return finish(c, explain_wait(c, &top, park, from_ns, to_ns), rows, n);
}

int trc_causes_of_thread(struct trc_causes *c, uint32_t thread, int64_t from_ns, int64_t to_ns,
			 const struct trc_cause **rows, size_t *n)
{
	const struct place top = {0};

	begin(c, 0);
	return finish(c, explain_thread(c, &top, thread, from_ns, to_ns), rows, n);
}

/* ---- what all waits share ---- */

static int locks_make(struct trc_causes *c)
{
	struct lock *lock;
	uint32_t first = 0;

	c->locks.row_bytes = sizeof(struct lock);
	c->unlock_row = calloc(c->n_unlocks + 1, sizeof(*c->unlock_row));
	if (!c->unlock_row)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_unlocks; i++) {
		uint32_t row = trc_index_get(&c->lock_row, c->unlock[i].object);

		if (row == TRC_INDEX_NONE) {
			row = (uint32_t)c->locks.n;
			if (!trc_array_add(&c->locks) ||
			    trc_index_put(&c->lock_row, c->unlock[i].object, row))
				return -ENOMEM;
		}
		((struct lock *)c->locks.row)[row].n++;
	}
	lock = c->locks.row;
	for (size_t i = 0; i < c->locks.n; i++) {
		lock[i].first = first;
		first += lock[i].n;
		lock[i].n = 0;
	}
	for (size_t i = 0; i < c->n_unlocks; i++) {
		struct lock *l = &lock[trc_index_get(&c->lock_row, c->unlock[i].object)];

		c->unlock_row[l->first + l->n++] = (uint32_t)i;
	}
	return 0;
}

static int gaps_make(struct trc_causes *c)
{
	size_t n;
	const struct trc_gap *gap = trc_model_gaps(c->m, &n);
	int64_t since_ns = INT64_MAX;

	c->lost_since_ns = calloc(n + 1, sizeof(*c->lost_since_ns));
	if (!c->lost_since_ns)
		return -ENOMEM;
	for (size_t i = n; i > 0; i--) {
		if (gap[i - 1].lost_events)
			since_ns = earlier(since_ns, gap[i - 1].since_ns);
		c->lost_since_ns[i - 1] = since_ns;
	}
	return 0;
}

static int holders_make(struct trc_causes *c)
{
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(c->m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (now[i].park && now[i].holder)
			err = trc_index_put(&c->holder_now, now[i].park, now[i].holder);
	return err;
}

static uint32_t thread_of_sample(const void *row)
{
	const struct trc_sample *sample = row;

	return sample->stack ? sample->thread : 0;
}

static int causes_make(struct trc_causes *c)
{
	const struct trc_model *m = c->m;
	int err;

	c->rows.row_bytes = sizeof(struct trc_cause);
	c->pieces = calloc(c->n_threads + 1, sizeof(*c->pieces));
	c->outer = trc_waits_nesting(m);
	if (!c->pieces || !c->outer)
		return -ENOMEM;
	err = trc_by_thread_make(&c->parks, m, c->park, c->n_parks, sizeof(*c->park),
				 trc_thread_of_park);
	if (!err)
		err = trc_by_thread_make(&c->stretches, m, c->on_cpu, c->n_on_cpu,
					 sizeof(*c->on_cpu), trc_thread_of_on_cpu);
	if (!err)
		err = trc_by_thread_make(&c->samples, m, c->sample, c->n_samples,
					 sizeof(*c->sample), thread_of_sample);
	if (!err)
		err = locks_make(c);
	if (!err)
		err = gaps_make(c);
	return err ? err : holders_make(c);
}

int trc_causes_open(struct trc_causes **out, const struct trc_model *m)
{
	struct trc_causes *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->m = m;
	c->thread = trc_model_threads(m, &c->n_threads);
	c->park = trc_model_parks(m, &c->n_parks);
	c->unlock = trc_model_unlocks(m, &c->n_unlocks);
	c->on_cpu = trc_model_on_cpu(m, &c->n_on_cpu);
	c->sample = trc_model_samples(m, &c->n_samples);
	c->switches_ns = trc_model_switches_from_ns(m);
	if (causes_make(c)) {
		trc_causes_close(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void trc_causes_close(struct trc_causes *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->pieces && i < c->n_threads; i++)
		trc_array_free(&c->pieces[i]);
	free(c->pieces);
	free(c->outer);
	trc_by_thread_free(&c->parks);
	trc_by_thread_free(&c->stretches);
	trc_by_thread_free(&c->samples);
	trc_index_free(&c->lock_row);
	trc_array_free(&c->locks);
	free(c->unlock_row);
	free(c->lost_since_ns);
	trc_index_free(&c->holder_now);
	trc_array_free(&c->rows);
	free(c);
}

const char *trc_cause_name(enum trc_cause_kind kind)
{
	static const char *const name[TRC_CAUSE_KINDS] = {
		[TRC_CAUSE_WAITING] = "waiting",
		[TRC_CAUSE_RUNNING] = "running",
		[TRC_CAUSE_ACTIVE] = "active",
		[TRC_CAUSE_PREEMPTED] = "preempted",
		[TRC_CAUSE_OFF] = "off_cpu",
		[TRC_CAUSE_FREE] = "lock_free",
		[TRC_CAUSE_WAKING] = "waking",
		[TRC_CAUSE_SLEEPING] = "sleeping",
		[TRC_CAUSE_IO] = "io",
		[TRC_CAUSE_OUTSIDE] = "outside",
		[TRC_CAUSE_UNWOKEN] = "unwoken",
		[TRC_CAUSE_STARTING] = "starting",
		[TRC_CAUSE_GONE] = "thread_ended",
		[TRC_CAUSE_DEADLOCK] = "deadlock",
		[TRC_CAUSE_CYCLE] = "cycle",
		[TRC_CAUSE_LOST] = "events_lost",
		[TRC_CAUSE_UNKNOWN] = "unknown",
		[TRC_CAUSE_DEEP] = "too_deep",
	};

	return kind < TRC_CAUSE_KINDS ? name[kind] : "?";
}

const char *trc_cause_stack_name(enum trc_cause_stack stack_of)
{
	static const char *const name[] = {NULL, "wait", "sample", "end"};

	return stack_of < sizeof(name) / sizeof(name[0]) ? name[stack_of] : NULL;
}
