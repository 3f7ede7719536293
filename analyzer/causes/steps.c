/* steps.c - see steps.h. */
#include "steps.h"

#include <errno.h>
#include "analyzer/model/charge.h"
#include "analyzer/model/order.h"
#include "analyzer/model/waits.h"

/* ---- what a thread that does not wait does ---- */

/* Index in samples.row of the thread's first sample after this time. */
static uint32_t sample_after(const struct trc_steps *s, size_t thread, int64_t ts_ns)
{
	uint32_t low = s->samples.first[thread], high = s->samples.first[thread + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->sample[s->samples.row[middle]].ts_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The sample if it is the thread's and lies in from_ns..to_ns, or NULL. */
static const struct trc_sample *sample_in(const struct trc_steps *s, size_t thread, uint32_t i,
					  int64_t from_ns, int64_t to_ns)
{
	const struct trc_sample *sample;

	if (i < s->samples.first[thread] || i >= s->samples.first[thread + 1])
		return NULL;
	sample = &s->sample[s->samples.row[i]];
	return sample->ts_ns >= from_ns && sample->ts_ns < to_ns ? sample : NULL;
}

static int64_t midway(const struct trc_sample *a, const struct trc_sample *b)
{
	return a->ts_ns + (b->ts_ns - a->ts_ns) / 2;
}

/* The thread ran from from_ns to step->until_ns: the stack is that of the nearest sample meanwhile, up to
 * midway to the next. */
static void step_sampled(const struct trc_steps *s, size_t thread, int64_t from_ns, int64_t ts_ns,
			 struct trc_step *step)
{
	int64_t to_ns = step->until_ns;
	uint32_t i;
	const struct trc_sample *before, *after, *nearest;

	if (s->samples.first[thread] == s->samples.first[thread + 1])
		return;
	i = sample_after(s, thread, ts_ns);
	before = i ? sample_in(s, thread, i - 1, from_ns, to_ns) : NULL;
	after = sample_in(s, thread, i, from_ns, to_ns);
	nearest = before;
	if (after && (!before || midway(before, after) <= ts_ns)) {
		nearest = after;
		after = sample_in(s, thread, i + 1, from_ns, to_ns);
	}
	if (!nearest)
		return;
	step->stack = nearest->stack;
	step->sample = (uint32_t)(nearest - s->sample) + 1;
	step->stack_of = TRC_CAUSE_STACK_SAMPLE;
	if (after)
		step->until_ns = trc_later_ns(midway(nearest, after), ts_ns + 1);
}

/* Index in stretches.row of the thread's first stretch on a proc that ends after this time. */
static uint32_t stretch_from(const struct trc_steps *s, size_t thread, int64_t ts_ns)
{
	uint32_t low = s->stretches.first[thread], high = s->stretches.first[thread + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int64_t end_ns = s->on_cpu[s->stretches.row[middle]].end_ns;

		if (end_ns != TRC_NEVER && end_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* After this stretch, in no wait: unless the wait was recorded in the stretch, and is missing. */
static uint8_t off_proc(const struct trc_steps *s, const struct trc_on_cpu *on)
{
	if (on->preempted)
		return TRC_CAUSE_PREEMPTED;
	return trc_steps_missing(s, on->start_ns, on->end_ns) ? TRC_CAUSE_LOST : TRC_CAUSE_OFF;
}

/* From the piece's begin at from_ns up to step->until_ns it is in no wait. */
static void step_active(const struct trc_steps *s, size_t thread, int64_t from_ns, int64_t ts_ns,
			struct trc_step *step)
{
	uint32_t first = s->stretches.first[thread], limit = s->stretches.first[thread + 1], i;
	const struct trc_on_cpu *on;

	if (first == limit || ts_ns < s->switches_ns) {
		step->kind = TRC_CAUSE_ACTIVE;
		if (first < limit)
			step->until_ns = trc_earlier_ns(step->until_ns, s->switches_ns);
		step_sampled(s, thread, from_ns, ts_ns, step);
		return;
	}
	i = stretch_from(s, thread, ts_ns);
	on = i < limit ? &s->on_cpu[s->stretches.row[i]] : NULL;
	if (!on && s->cut) { /* when it ran again is not in the trace, and it did something */
		step->kind = TRC_CAUSE_ACTIVE;
		step_sampled(s, thread, from_ns, ts_ns, step);
		return;
	}
	/* One from before the trace has no start, which is the least number. */
	if (on && on->start_ns <= ts_ns) {
		step->kind = TRC_CAUSE_RUNNING;
		if (on->end_ns != TRC_NEVER)
			step->until_ns = trc_earlier_ns(step->until_ns, on->end_ns);
		step_sampled(s, thread, trc_later_ns(from_ns, on->start_ns), ts_ns, step);
		return;
	}
	if (on)
		step->until_ns = trc_earlier_ns(step->until_ns, on->start_ns);
	if (i > first) {
		step->kind = off_proc(s, &s->on_cpu[s->stretches.row[i - 1]]);
		return;
	}
	step->born = s->thread[thread].start_ns != TRC_NEVER;
	step->kind = step->born ? TRC_CAUSE_STARTING : TRC_CAUSE_ACTIVE;
	/* A thread that was there before the trace may have run unseen. */
	if (!step->born)
		step_sampled(s, thread, from_ns, ts_ns, step);
}

uint32_t trc_step_proc_of(const struct trc_steps *s, size_t thread, int64_t ts_ns)
{
	uint32_t first = s->stretches.first[thread], i = stretch_from(s, thread, ts_ns);

	return i > first ? s->on_cpu[s->stretches.row[i - 1]].proc : TRC_NO_PROC;
}

/* ---- a thread ---- */

const struct trc_array *trc_steps_pieces_of(struct trc_steps *s, size_t thread)
{
	struct trc_array *pieces = &s->pieces[thread];

	if (!pieces->n) {
		pieces->row_bytes = sizeof(struct trc_wait_piece);
		if (trc_wait_pieces_make(pieces, s->m, &s->parks, &s->stretches, s->outer,
					 thread)) {
			pieces->n = 0;
			return NULL;
		}
		trc_array_trim(pieces);
	}
	return pieces;
}

int trc_step_seek_near(struct trc_steps *s, struct trc_step_cursor *cursor, size_t thread,
		       int64_t ts_ns, size_t near)
{
	cursor->pieces = trc_steps_pieces_of(s, thread);
	if (!cursor->pieces)
		return -ENOMEM;
	cursor->thread = thread;
	cursor->piece = trc_wait_piece_near(cursor->pieces, ts_ns, near);
	return 0;
}

int trc_step_seek(struct trc_steps *s, struct trc_step_cursor *cursor, size_t thread, int64_t ts_ns)
{
	return trc_step_seek_near(s, cursor, thread, ts_ns, SIZE_MAX);
}

/* The innermost wait in which the thread, by row, was then; NULL = in none. */
static const struct trc_park *steps_park_at(const struct trc_steps *s, size_t thread, int64_t ts_ns)
{
	uint32_t low = s->parks.first[thread], high = s->parks.first[thread + 1], first = low, i;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->park[s->parks.row[middle]].start_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	i = low > first ? s->parks.row[low - 1] + 1 : 0;
	while (i && trc_park_end_ns(s->m, &s->park[i - 1]) < ts_ns)
		i = s->outer[i - 1];
	return i ? &s->park[i - 1] : NULL;
}

/*
 * When the creator of a thread had created it, at the latest: a thread that waits or has ended creates none.  So before
 * the wait in which the creator was when the thread began.  Within a wait that the program announced it may do anything.
 */
static int64_t created_ns(const struct trc_steps *s, const struct trc_thread *t)
{
	const struct trc_thread *creator = t->creator ? trc_model_thread(s->m, t->creator) : NULL;
	const struct trc_park *park;

	if (!creator)
		return t->start_ns;
	if (creator->end_ns != TRC_NEVER && creator->end_ns < t->start_ns)
		return creator->end_ns;
	park = steps_park_at(s, (size_t)(creator - s->thread), t->start_ns);
	if (!park || park->reason == TRC_REASON_USER)
		return t->start_ns;
	return park->start_ns;
}

static void step_before_begin(const struct trc_steps *s, const struct trc_thread *t, int64_t ts_ns,
			      struct trc_step *step)
{
	int64_t by_ns = created_ns(s, t);

	step->kind = TRC_CAUSE_STARTING;
	if (ts_ns >= by_ns) {
		step->created = true;
		step->until_ns = t->start_ns;
		return;
	}
	step->on = t->creator;
	step->stack = t->creator_stack;
	step->until_ns = by_ns;
}

void trc_step_of_thread(const struct trc_steps *s, struct trc_step_cursor *cursor, int64_t ts_ns,
			struct trc_step *step)
{
	const struct trc_thread *t = &s->thread[cursor->thread];
	const struct trc_wait_piece *piece = cursor->pieces->row;
	size_t n = cursor->pieces->n;

	*step = (struct trc_step){.until_ns = INT64_MAX};
	if (t->start_ns != TRC_NEVER && ts_ns < t->start_ns) {
		step_before_begin(s, t, ts_ns, step);
		return;
	}
	if (t->end_ns != TRC_NEVER && ts_ns >= t->end_ns) {
		step->kind = TRC_CAUSE_GONE;
		return;
	}
	while (cursor->piece + 1 < n && piece[cursor->piece + 1].start_ns <= ts_ns)
		cursor->piece++;
	if (cursor->piece + 1 < n)
		step->until_ns = piece[cursor->piece + 1].start_ns;
	if (t->end_ns != TRC_NEVER)
		step->until_ns = trc_earlier_ns(step->until_ns, t->end_ns);
	piece += cursor->piece;
	if (piece->park) {
		step->kind = piece->preempted ? TRC_CAUSE_PREEMPTED : TRC_CAUSE_WAITING;
		step->park = piece->park;
	} else {
		step_active(s, cursor->thread, piece->start_ns, ts_ns, step);
	}
}

/* ---- a lock ---- */

static const struct trc_unlock *steps_unlock_at(const struct trc_steps *s,
						const struct trc_steps_lock *lock, uint32_t i)
{
	return &s->unlock[s->unlock_row[lock->first + i]];
}

const struct trc_steps_lock *trc_step_lock_of(const struct trc_steps *s, uint64_t key)
{
	static const struct trc_steps_lock none;
	uint32_t row = trc_index_get(&s->lock_row, key);

	return row == TRC_INDEX_NONE ? &none : (const struct trc_steps_lock *)s->locks.row + row;
}

uint32_t trc_step_lock_seek(const struct trc_steps *s, const struct trc_steps_lock *lock,
			    int64_t ts_ns)
{
	uint32_t low = 0, high = lock->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (steps_unlock_at(s, lock, middle)->ts_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* When the section that this unlock ends began, if it says so and this can be, as wakers_locks.c does;
 * else since the unlock before. */
static int64_t section_from(const struct trc_steps *s, const struct trc_steps_lock *lock,
			    uint32_t i)
{
	const struct trc_unlock *unlock = steps_unlock_at(s, lock, i);
	int64_t before_ns = i ? steps_unlock_at(s, lock, i - 1)->ts_ns : TRC_NEVER;

	if (unlock->taken_ns != TRC_NEVER && unlock->taken_ns <= unlock->ts_ns &&
	    unlock->taken_ns > before_ns)
		return unlock->taken_ns;
	return before_ns;
}

/* Nobody held the lock from from_ns to to_ns, or its last unlock had woken the thread, unless a section or an unlock meanwhile is lost. */
static uint8_t unless_lost(const struct trc_steps *s, int64_t from_ns, int64_t to_ns, uint8_t kind)
{
	return trc_steps_lost(s, from_ns, to_ns) ? TRC_CAUSE_LOST : kind;
}

static void step_section(const struct trc_steps *s, const struct trc_unlock *unlock,
			 struct trc_step *step)
{
	step->kind = TRC_CAUSE_WAITING;
	step->on = unlock->thread;
	step->stack = unlock->stack;
	step->unlock = (uint32_t)(unlock - s->unlock) + 1;
}

void trc_step_of_lock(const struct trc_steps *s, const struct trc_steps_lock *lock, uint32_t *next,
		      int64_t ts_ns, struct trc_step *step)
{
	int64_t from_ns;

	*step = (struct trc_step){.until_ns = INT64_MAX, .kind = TRC_CAUSE_UNKNOWN};
	while (*next < lock->n && steps_unlock_at(s, lock, *next)->ts_ns <= ts_ns)
		++*next;
	if (*next == lock->n)
		return;
	from_ns = section_from(s, lock, *next);
	if (ts_ns < from_ns) {
		step->kind =
			unless_lost(s, *next ? steps_unlock_at(s, lock, *next - 1)->ts_ns : ts_ns,
				    from_ns, TRC_CAUSE_FREE);
		step->until_ns = from_ns;
		return;
	}
	step->until_ns = steps_unlock_at(s, lock, *next)->ts_ns;
	step_section(s, steps_unlock_at(s, lock, *next), step);
}

/* ---- a wait for a lock, after the last unlock in it ---- */

/* No unlock says who had the lock: perhaps the lock itself did. */
static void step_held(const struct trc_steps *s, uint32_t park, bool unlocked,
		      struct trc_step *step)
{
	const struct trc_park *p = &s->park[park - 1];
	uint32_t holder = trc_index_get(&s->holder_now, park);

	if (holder == TRC_INDEX_NONE)
		holder = 0;
	if (!holder && !unlocked && (p->flags & TRC_PARK_OPEN || p->result > 0))
		holder = p->holder;
	step->on = holder;
	step->kind = holder			? TRC_CAUSE_WAITING
		     : p->flags & TRC_PARK_OPEN ? TRC_CAUSE_UNWOKEN
						: trc_step_kind_unknown(s, p);
}

/* It gave up: who had the lock then has not released it yet.  False if that is not known. */
static bool step_given_up(const struct trc_steps *s, const struct trc_step_wait *wait,
			  const struct trc_charge_wait *charge,
			  const struct trc_charge_unlock *last, int64_t ts_ns,
			  struct trc_step *step)
{
	struct trc_charge_unlock after;
	uint64_t since;

	if (wait->next == wait->lock->n)
		return false;
	after = trc_charge_unlock_of(steps_unlock_at(s, wait->lock, wait->next));
	if (!trc_charge_to_next(charge, last, &after, &since))
		return false;
	if (trc_charge_time(ts_ns) >= since) {
		step_section(s, steps_unlock_at(s, wait->lock, wait->next), step);
	} else {
		step->until_ns = trc_charge_ns(since);
		step->kind = unless_lost(s, last ? trc_charge_ns(last->at) : ts_ns, step->until_ns,
					 TRC_CAUSE_FREE);
	}
	return true;
}

static void step_rest(const struct trc_steps *s, const struct trc_step_wait *wait, int64_t ts_ns,
		      struct trc_step *step)
{
	const struct trc_park *p = &s->park[wait->park - 1];
	const struct trc_charge_wait charge = {trc_charge_time(p->start_ns),
					       trc_charge_time(p->end_ns), p->holder};
	const struct trc_unlock *before =
		wait->next ? steps_unlock_at(s, wait->lock, wait->next - 1) : NULL;
	int result = p->flags & TRC_PARK_NO_END ? -1 : p->result;
	struct trc_charge_unlock last = {0};

	if (before)
		last = trc_charge_unlock_of(before);
	switch (trc_charge_end(&charge, result, before ? &last : NULL, TRC_CHARGE_BETWEEN_NS)) {
	case TRC_CHARGE_WOKEN:
		step->kind = unless_lost(s, before->ts_ns, p->end_ns, TRC_CAUSE_WAKING);
		return;
	case TRC_CHARGE_LAST:
		step_section(s, before, step);
		return;
	case TRC_CHARGE_NEXT:
		if (step_given_up(s, wait, &charge, before ? &last : NULL, ts_ns, step))
			return;
		break;
	case TRC_CHARGE_NOBODY:
		break;
	}
	step_held(s, wait->park, before && before->ts_ns >= p->start_ns, step);
}

/* ---- other waits ---- */

uint8_t trc_step_kind_alone(const struct trc_park *p)
{
	/* The futex had changed: the call returned at once, and nobody woke the thread. */
	if (p->reason == TRC_REASON_FUTEX && p->result == EAGAIN)
		return TRC_CAUSE_ACTIVE;
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

/* In the call, the thread waits for nobody: it runs, or has no proc. */
static void step_in_call(const struct trc_steps *s, const struct trc_park *p, int64_t ts_ns,
			 struct trc_step *step)
{
	const struct trc_thread *t = trc_model_thread(s->m, p->thread);

	step_active(s, (size_t)(t - s->thread), p->start_ns, ts_ns, step);
	step->stack = step->sample = 0;
	step->stack_of = TRC_CAUSE_STACK_NONE;
}

/* When the thread had given the mutex of its condition wait back; before any time if nobody waited for it. */
static int64_t released_ns(const struct trc_steps *s, const struct trc_park *p)
{
	uint32_t unlock = p->reason == TRC_REASON_COND
				  ? trc_index_get(&s->release, (uint64_t)(p - s->park) + 1)
				  : TRC_INDEX_NONE;

	return unlock == TRC_INDEX_NONE ? INT64_MIN : s->unlock[unlock - 1].ts_ns;
}

/* R1: false if the wait does not go on in another. */
static bool step_goes_on(const struct trc_steps *s, const struct trc_park *p, struct trc_step *step)
{
	uint32_t last = p->result == ETIMEDOUT
				? trc_index_get(&s->goes_on, (uint64_t)(p - s->park) + 1)
				: TRC_INDEX_NONE;

	if (last == TRC_INDEX_NONE)
		return false;
	step->on = s->park[last - 1].waker;
	step->stack = s->park[last - 1].waker_stack;
	step->kind = TRC_CAUSE_WAITING;
	return true;
}

static void step_woken(const struct trc_steps *s, const struct trc_park *p, int64_t ts_ns,
		       struct trc_step *step)
{
	bool woken = p->waker && p->wake_ns != TRC_NEVER;
	int64_t given_ns = released_ns(s, p);

	/* Who comes last to a barrier wakes the others; up to the release others wait for this thread. */
	if ((woken && p->waker == p->thread && p->reason == TRC_REASON_BARRIER) ||
	    ts_ns < given_ns) {
		step_in_call(s, p, ts_ns, step);
		if (ts_ns < given_ns)
			step->until_ns = trc_earlier_ns(step->until_ns, given_ns);
		return;
	}
	if (step_goes_on(s, p, step))
		return;
	if (woken && ts_ns >= p->wake_ns) {
		step->kind = TRC_CAUSE_WAKING;
		return;
	}
	if (woken)
		step->until_ns = p->wake_ns;
	/* Until the thread ends that is joined. */
	step->on = woken ? p->waker : p->reason == TRC_REASON_JOIN ? p->holder : 0;
	step->stack = woken ? p->waker_stack : 0;
	step->kind = step->on ? TRC_CAUSE_WAITING : trc_step_kind_alone(p);
	if (step->kind == TRC_CAUSE_UNKNOWN)
		step->kind = trc_step_kind_unknown(s, p);
}

/* ---- a wait ---- */

void trc_step_wait_begin(const struct trc_steps *s, struct trc_step_wait *wait, uint32_t park,
			 int64_t from_ns)
{
	const struct trc_park *p = &s->park[park - 1];
	bool woken = p->unlock && p->wake_ns != TRC_NEVER;
	uint64_t key;
	uint32_t last;

	*wait = (struct trc_step_wait){.park = park, .lock_until_ns = INT64_MIN};
	if (!trc_reason_is_lock(p->reason))
		return;
	key = trc_charge_key(p->object, p->reason);
	wait->lock = trc_step_lock_of(s, key);
	last = woken && key == p->object
		       ? s->unlock_place[p->unlock - 1] + 1
		       : trc_step_lock_seek(s, wait->lock,
					    woken ? p->wake_ns : trc_park_end_ns(s->m, p));
	if (last)
		wait->lock_until_ns = steps_unlock_at(s, wait->lock, last - 1)->ts_ns;
	/* Mostly there is one unlock in a wait. */
	if (woken && last > 1 && steps_unlock_at(s, wait->lock, last - 2)->ts_ns <= from_ns &&
	    wait->lock_until_ns > from_ns)
		wait->next = last - 1;
	else
		wait->next = trc_step_lock_seek(s, wait->lock, from_ns);
}

/* If the last section took no time, nobody may have been waited for. */
static bool has_section(const struct trc_steps *s, const struct trc_steps_lock *lock,
			int64_t until_ns)
{
	uint32_t next = trc_step_lock_seek(s, lock, until_ns - 1);
	struct trc_step step;

	trc_step_of_lock(s, lock, &next, until_ns - 1, &step);
	return step.kind == TRC_CAUSE_WAITING;
}

const struct trc_steps_lock *trc_step_lock_of_part(const struct trc_steps *s, uint32_t park,
						   int64_t from_ns, int64_t to_ns,
						   int64_t *until_ns)
{
	struct trc_step_wait wait;
	int64_t last_ns;
	uint32_t last;

	trc_step_wait_begin(s, &wait, park, from_ns);
	if (!wait.lock || wait.lock_until_ns > trc_park_end_ns(s->m, &s->park[park - 1]))
		return NULL;
	last = trc_step_lock_seek(s, wait.lock, trc_earlier_ns(wait.lock_until_ns, to_ns));
	last_ns = last ? steps_unlock_at(s, wait.lock, last - 1)->ts_ns : from_ns;
	if (last_ns <= from_ns || !has_section(s, wait.lock, last_ns))
		return NULL;
	*until_ns = last_ns;
	return wait.lock;
}

void trc_step_of_wait(const struct trc_steps *s, struct trc_step_wait *wait, int64_t ts_ns,
		      struct trc_step *step)
{
	if (wait->lock && ts_ns < wait->lock_until_ns) {
		trc_step_of_lock(s, wait->lock, &wait->next, ts_ns, step);
		return;
	}
	*step = (struct trc_step){.until_ns = INT64_MAX};
	if (!wait->lock) {
		step_woken(s, &s->park[wait->park - 1], ts_ns, step);
		return;
	}
	while (wait->next < wait->lock->n &&
	       steps_unlock_at(s, wait->lock, wait->next)->ts_ns <= ts_ns)
		wait->next++;
	step_rest(s, wait, ts_ns, step);
}
