/*
 * caused.c - what each unlock's critical section caused to waits, as far as they are selected
 * (selection:V3).
 *
 * The rules are those of format/waits/charges.h.  Here the waiter's time is cut into the parts that are selected.  Of the
 * unlocks within a part, all but the first have their whole time in the part, and this time is the same for every waiter.
 * So these unlocks are only counted, and charged at the end.
 *
 *   caused:F1  if all is selected, the result is caused_ns and caused_waits of unlocks
 *   caused:F2  if two selections share no time, their caused_ns add up to the caused_ns of both together
 *   caused:F3  if all is selected, preempted_waits_ns is the sum, over the causes of all waits, of the
 *       unlock's pieces at depth 1 that are preempted (analyzer/causes)
 *   caused:F4  the work is in proportion to the waits in the window that is selected, and the unlocks in these waits
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/between.h"
#include "analyzer/model/charge.h"
#include "analyzer/model/preempted.h"
#include "analyzer/model/selection.h"
#include "analyzer/model/unlocks_of.h"
#include "wakers.h"

struct caused {
	const struct trc_selection *s;
	const struct trc_model *m;
	const struct trc_preempted *preempted; /* NULL = nobody asks */
	const struct trc_unlock *unlock;
	const struct trc_park *park;
	size_t n_unlocks, n_parks;
	const struct trc_index *lock; /* by trc_charge_key(): its number, 1, 2, ... */
	const uint32_t *first, *row;  /* by number: where its unlocks begin in row[], by time */
	struct places {
		uint32_t from,
			to; /* in row[]: what is charged with something lies between, without `to` */
	} * places;	    /* by number */
	int64_t *
		whole; /* by place in row[]: how many begin (+) or end (-) to be charged with all */
	struct trc_selected_cause *out;
	struct waited {
		int64_t from_ns, to_ns;
	} * waited; /* by row of unlocks, with `preempted`: from the first wait charged to it on */
	uint64_t n_pieces;
};

/* Waits do not overlap, but for those that lie within others: only a file that was made to be hard
 * has as many pieces as this lets pass. */
enum { WITHIN_EACH_OTHER_MAX = 64, PIECES_MIN = 1 << 20 };

static bool too_many(const struct caused *c)
{
	size_t n_spans = c->s ? c->s->spans.n : 0;

	return c->n_pieces > (c->n_parks + n_spans) * (uint64_t)WITHIN_EACH_OTHER_MAX + PIECES_MIN;
}

static void selected_cause_add(struct trc_selected_cause *cause, int64_t ns)
{
	if (__builtin_add_overflow(cause->caused_ns, ns, &cause->caused_ns))
		cause->caused_ns = INT64_MAX;
}

static const struct trc_unlock *unlock_at(const struct caused *c, uint32_t at)
{
	return &c->unlock[c->row[at]];
}

/* What `n` waits are charged with for this time of the holder's. */
static void cause_preempted(struct caused *c, uint32_t at, int64_t from_ns, int64_t to_ns,
			    int64_t n)
{
	struct trc_selected_cause *cause = &c->out[c->row[at]];
	struct waited *waited;
	int64_t ns;

	if (!c->waited || from_ns >= to_ns)
		return;
	waited = &c->waited[c->row[at]];
	ns = trc_preempted_ns(c->preempted, unlock_at(c, at)->thread, from_ns, to_ns);
	if (__builtin_mul_overflow(ns, n, &ns) ||
	    __builtin_add_overflow(cause->preempted_waits_ns, ns, &cause->preempted_waits_ns))
		cause->preempted_waits_ns = INT64_MAX;
	if (waited->from_ns >= waited->to_ns || from_ns < waited->from_ns)
		waited->from_ns = from_ns;
	if (to_ns > waited->to_ns)
		waited->to_ns = to_ns;
}

/* ---- unlocks by lock ---- */

/* Something is charged to the unlocks from..to of the lock, with `to`. */
static void note_places(struct caused *c, uint32_t number, uint32_t from, uint32_t to)
{
	struct places *p = &c->places[number];

	if (p->from == p->to)
		*p = (struct places){from, to + 1};
	p->from = from < p->from ? from : p->from;
	p->to = to >= p->to ? to + 1 : p->to;
}

/* The first of low..high at or after the time; or, behind, the first after it. */
static uint32_t caused_find(const struct caused *c, uint32_t low, uint32_t high, int64_t ts_ns,
			    bool behind)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int64_t at_ns = unlock_at(c, middle)->ts_ns;

		if (at_ns < ts_ns || (behind && at_ns == ts_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* charges:C5, of a lock whose unlocks begin at `first`. */
static int64_t base_ns(const struct caused *c, uint32_t first, uint32_t at)
{
	const struct trc_charge_unlock unlock = trc_charge_unlock_of(unlock_at(c, at));
	struct trc_charge_unlock last = {0};

	if (at > first)
		last = trc_charge_unlock_of(unlock_at(c, at - 1));
	return trc_charge_ns(trc_charge_since(at > first ? &last : NULL, &unlock));
}

/* ---- waits ---- */

/* A wait and the unlocks first..last of its lock, without `last`, that happened in it. */
struct waiter {
	const struct trc_park *park;
	uint32_t lock_first, lock_end, first, last;
	uint32_t counted; /* the last unlock + 1 that counts it; 0 = none */
};

static void charge_part(struct caused *c, struct waiter *w, uint32_t at, int64_t from_ns,
			int64_t until_ns, bool begins)
{
	int64_t since_ns = base_ns(c, w->lock_first, at), ns = 0;
	struct trc_selected_cause *cause = &c->out[c->row[at]];

	if (from_ns > since_ns)
		since_ns = from_ns;
	trc_add_ns(&ns, since_ns, until_ns);
	selected_cause_add(cause, ns);
	cause_preempted(c, at, since_ns, until_ns, 1);
	if ((ns || begins) && w->counted != at + 1) {
		cause->caused_waits++;
		w->counted = at + 1;
	}
}

/* What the unlocks in the wait are charged with for from..until of it. */
static void charge_piece(struct caused *c, struct waiter *w, int64_t from_ns, int64_t until_ns)
{
	bool begins = from_ns == w->park->start_ns;
	uint32_t at = caused_find(c, w->first, w->last, from_ns, !begins);
	uint32_t end = caused_find(c, at, w->last, until_ns, true);

	if (at == end) { /* no unlock in it */
		if (at < w->last)
			charge_part(c, w, at, from_ns, until_ns, begins);
		return;
	}
	charge_part(c, w, at, from_ns, unlock_at(c, at)->ts_ns, begins);
	if (at + 1 < end) {
		c->whole[at + 1]++;
		if (end < w->lock_end) /* else there is nobody to be told */
			c->whole[end]--;
		w->counted = end;
	}
	if (end < w->last)
		charge_part(c, w, end, unlock_at(c, end - 1)->ts_ns, until_ns, false);
}

static void end_preempted(struct caused *c, const struct trc_park *park, uint32_t at,
			  int64_t since_ns)
{
	int64_t from_ns, until_ns;

	while (c->waited && !too_many(c) &&
	       trc_selection_next(c->s, park->thread, &since_ns, park->end_ns, &from_ns,
				  &until_ns)) {
		cause_preempted(c, at, from_ns, until_ns, 1);
		c->n_pieces++;
	}
}

/* format/waits/charges.h: what is left at the end of a wait. */
static void charge_end(struct caused *c, const struct waiter *w)
{
	const struct trc_park *park = w->park;
	const struct trc_charge_wait wait = {trc_charge_time(park->start_ns),
					     trc_charge_time(park->end_ns), park->holder};
	int result = park->flags & TRC_PARK_NO_END ? -1 : park->result;
	bool any = w->last > w->lock_first;
	struct trc_charge_unlock last = {0}, next;
	uint64_t since = wait.start;
	uint32_t at = w->last;

	if (any)
		last = trc_charge_unlock_of(unlock_at(c, w->last - 1));
	switch (trc_charge_end(&wait, result, any ? &last : NULL, TRC_CHARGE_BETWEEN_NS)) {
	case TRC_CHARGE_NOBODY:
	case TRC_CHARGE_WOKEN:
		return;
	case TRC_CHARGE_LAST:
		at = w->last - 1;
		break;
	case TRC_CHARGE_NEXT:
		if (w->last == w->lock_end)
			return;
		next = trc_charge_unlock_of(unlock_at(c, w->last));
		if (!trc_charge_to_next(&wait, any ? &last : NULL, &next, &since))
			return;
		break;
	}
	if (!trc_selection_touches(c->s, park->thread, trc_charge_ns(since), park->end_ns))
		return;
	selected_cause_add(
		&c->out[c->row[at]],
		trc_selection_ns(c->s, park->thread, trc_charge_ns(since), park->end_ns));
	end_preempted(c, park, at, trc_charge_ns(since));
	c->out[c->row[at]].caused_waits++;
}

static void charge_wait(struct caused *c, const struct trc_park *park)
{
	uint32_t number = trc_index_get(c->lock, trc_charge_key(park->object, park->reason));
	int64_t end_ns = trc_wakers_end_of(park), at_ns = park->start_ns, from_ns, until_ns;
	struct waiter w = {.park = park};

	if (number == TRC_INDEX_NONE || !trc_reason_is_lock(park->reason))
		return;
	w.lock_first = c->first[number];
	w.lock_end = c->first[number + 1];
	w.first = caused_find(c, w.lock_first, w.lock_end, park->start_ns, false);
	w.last = caused_find(c, w.first, w.lock_end, end_ns, true);
	/* At its end the one before the wait, or the one after it, may be charged. */
	note_places(c, number, w.first > w.lock_first ? w.first - 1 : w.first,
		    w.last < w.lock_end ? w.last : w.last - (w.last > w.lock_first));
	if (at_ns == end_ns && trc_selection_has_time(c->s, park->thread, at_ns))
		charge_piece(c, &w, at_ns, at_ns);
	while (trc_selection_next(c->s, park->thread, &at_ns, end_ns, &from_ns, &until_ns) &&
	       !too_many(c)) {
		charge_piece(c, &w, from_ns, until_ns);
		c->n_pieces++;
	}
	if (end_ns != INT64_MAX)
		charge_end(c, &w);
}

/* ---- what all were charged with ---- */

static void charge_whole(struct caused *c)
{
	for (size_t lock = 1; lock <= c->lock->n; lock++) {
		int64_t n = 0;

		for (uint32_t at = c->places[lock].from; at < c->places[lock].to; at++) {
			const struct trc_unlock *unlock = unlock_at(c, at);
			int64_t ns = 0;

			n += c->whole[at];
			if (!n)
				continue;
			trc_add_ns(&ns, base_ns(c, c->first[lock], at), unlock->ts_ns);
			if (__builtin_mul_overflow(ns, n, &ns))
				ns = INT64_MAX;
			selected_cause_add(&c->out[c->row[at]], ns);
			cause_preempted(c, at, base_ns(c, c->first[lock], at), unlock->ts_ns, n);
			c->out[c->row[at]].caused_waits += (uint32_t)n;
		}
	}
}

/* Of each section the time of its holder in which others waited for it. */
static void sum_preempted(struct caused *c)
{
	for (size_t lock = 1; lock <= c->lock->n; lock++)
		for (uint32_t at = c->places[lock].from; at < c->places[lock].to; at++) {
			size_t i = c->row[at];

			c->out[i].preempted_ns =
				trc_preempted_ns(c->preempted, c->unlock[i].thread,
						 c->waited[i].from_ns, c->waited[i].to_ns);
		}
}

/* Rows of unlocks that are charged with something lie between. */
static void find_range(const struct caused *c, struct trc_selected_range *range)
{
	*range = (struct trc_selected_range){0};
	for (size_t lock = 1; lock <= c->lock->n; lock++) {
		const struct places *p = &c->places[lock];

		if (p->from == p->to)
			continue;
		if (!range->end || c->row[p->from] < range->first)
			range->first = c->row[p->from];
		if (c->row[p->to - 1] >= range->end)
			range->end = (size_t)c->row[p->to - 1] + 1;
	}
}

static void charge_waits(struct caused *c)
{
	int64_t from_ns = c->s ? c->s->from_ns : INT64_MIN, to_ns = c->s ? c->s->to_ns : INT64_MAX;
	size_t i = trc_between_next(c->m, TRC_BETWEEN_PARKS, 0, from_ns, to_ns);

	for (; i < c->n_parks; i = trc_between_next(c->m, TRC_BETWEEN_PARKS, i + 1, from_ns, to_ns))
		if (c->park[i].start_ns <= to_ns && trc_wakers_end_of(&c->park[i]) >= from_ns)
			charge_wait(c, &c->park[i]);
}

struct trc_selected_cause *trc_selection_caused_in(const struct trc_selection *s,
						   const struct trc_model *m,
						   const struct trc_preempted *preempted,
						   struct trc_selected_range *range)
{
	const struct trc_unlocks_of *of = trc_model_unlocks_of(m);
	struct caused c = {.s = s, .m = m, .preempted = preempted};
	int err;

	if (!of)
		return NULL;
	c.lock = &of->lock;
	c.first = of->first;
	c.row = of->row;
	c.unlock = trc_model_unlocks(m, &c.n_unlocks);
	c.park = trc_model_parks(m, &c.n_parks);
	c.places = calloc(c.lock->n + 1, sizeof(*c.places));
	c.whole = calloc((size_t)c.first[c.lock->n + 1] + 1, sizeof(*c.whole));
	c.out = calloc(c.n_unlocks + 1, sizeof(*c.out));
	if (trc_preempted_known(preempted))
		c.waited = calloc(c.n_unlocks + 1, sizeof(*c.waited));
	err = c.places && c.whole && c.out && (c.waited || !trc_preempted_known(preempted))
		      ? 0
		      : -ENOMEM;
	if (!err)
		charge_waits(&c);
	if (!err && too_many(&c))
		err = -E2BIG;
	if (!err)
		charge_whole(&c);
	if (!err && c.waited)
		sum_preempted(&c);
	if (!err)
		find_range(&c, range);
	free(c.waited);
	free(c.places);
	free(c.whole);
	if (err) {
		free(c.out);
		return NULL;
	}
	return c.out;
}

struct trc_selected_cause *trc_selection_caused(const struct trc_selection *s,
						const struct trc_model *m,
						const struct trc_preempted *preempted)
{
	struct trc_selected_range range;

	return trc_selection_caused_in(s, m, preempted, &range);
}
