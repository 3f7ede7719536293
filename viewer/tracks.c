/*
 * tracks.c - see tracks.h.
 *
 * Every thread is walked twice: once to count intervals by length, from which follows
 * what has to be merged, and once to write them.
 */
#include "tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/timeline.h"

#include "format/waits.h"

enum { NEST_MAX = 64, STATES = 128 };
enum { ANY_ROW = 1, ANY_BEHIND = 2 };

/* Rows of a table by thread: those of thread row i are row[first[i] .. first[i + 1]).  Only those of which
 * something may lie in the page. */
struct by_thread {
	uint32_t *first, *row;
	uint32_t *
		before; /* by thread row: row + 1 of the last one that ends before the page; 0 = none */
	uint8_t *any; /* by thread row: ANY_*, 0 = it has none, in the page or not */
};

struct stretch {
	int64_t ns;
	uint32_t park, proc;
	uint64_t n_merged;
	uint8_t state;
};

struct walk {
	struct trc_tracks *tracks;
	const struct trc_model *model;
	const struct trc_cut *cut;
	const struct trc_park *park;
	const struct trc_on_cpu *on_cpu;
	size_t n_on_cpu;
	struct by_thread parks, on_cpus;
	int64_t start_ns, end_ns; /* of the trace */
	int64_t from_ns, to_ns;	  /* of the page */
	int64_t switches_ns;	  /* since then every proc has switch records ... */
	bool is_cut;		  /* ... but some may be missing at the trace's end */
	uint32_t *park_idx;	  /* by row: index in shown + 1 */

	bool counting;
	uint64_t by_length[65]; /* counting: intervals by the number of bits in their length */

	/* The thread being walked. */
	const struct trc_thread *thread;
	uint32_t thread_idx;
	uint32_t cpu_first, cpu_next, cpu_limit; /* its on_cpus */
	uint32_t cpu_before; /* row + 1 of its last one before these; 0 = none */
	bool has_cpu;	     /* it has some, here or elsewhere */
	bool has_cpu_behind; /* behind the page */
	uint8_t beyond;	     /* TRC_BEYOND_* */
	uint64_t n_thread_intervals;
	uint64_t written_ns; /* since the start of the trace */
	int64_t time_ns[STATES];

	struct stretch last; /* may still grow */

	/* Short intervals held back, to be merged: waits for locks apart (1).  The last of them, and all together. */
	uint64_t n_held[2];
	struct stretch held;
	int64_t held_ns, held_by_state_ns[STATES];
	int64_t step_ns; /* T2: no run of them grows beyond this length */
};

bool trc_state_is_lock(unsigned int state)
{
	return state > TRC_STATE_PARKED &&
	       trc_wait_class(state - TRC_STATE_PARKED) == TRC_WAIT_LOCKS;
}

static void by_thread_free(struct by_thread *b)
{
	free(b->first);
	free(b->row);
	free(b->before);
	free(b->any);
}

/* Index of a thread's row, or -1. */
static ptrdiff_t thread_idx(const struct trc_model *m, uint32_t serial)
{
	size_t n;
	const struct trc_thread *all = trc_model_threads(m, &n);
	const struct trc_thread *t = trc_model_thread(m, serial);

	return t ? t - all : -1;
}

/* A table with a thread and times, whichever it is. */
struct timed {
	const void *rows;
	size_t n, row_bytes, thread_off, start_off, end_off;
};

#define TIMED(type, rows, n)                                                                       \
	(struct timed)                                                                             \
	{                                                                                          \
		rows, n, sizeof(struct type), offsetof(struct type, thread),                       \
			offsetof(struct type, start_ns), offsetof(struct type, end_ns)             \
	}

static int64_t timed_ns(const struct timed *t, size_t i, size_t off)
{
	int64_t ns;

	memcpy(&ns, (const char *)t->rows + i * t->row_bytes + off, sizeof(ns));
	return ns;
}

enum place { BEFORE, INSIDE, BEHIND };

/* The thread's row, or -1; where this row of the table lies. */
static ptrdiff_t timed_thread(const struct walk *w, const struct timed *t, size_t i,
			      enum place *place)
{
	int64_t start = timed_ns(t, i, t->start_off), end = timed_ns(t, i, t->end_off);
	uint32_t serial;

	memcpy(&serial, (const char *)t->rows + i * t->row_bytes + t->thread_off, sizeof(serial));
	*place = INSIDE;
	if (end != TRC_NEVER && end <= w->from_ns && w->from_ns > w->start_ns)
		*place = BEFORE;
	else if (start >= w->to_ns && w->to_ns < w->end_ns)
		*place = BEHIND;
	return trc_cut_has_thread(w->cut, serial) ? thread_idx(w->model, serial) : -1;
}

/* The first row from `i` on that may count: of waits only those in the page do. */
static size_t timed_next(const struct walk *w, const struct timed *t, size_t i)
{
	return t->rows == w->park ? trc_cut_next_overlapping(w->cut, i, t->n) : i;
}

static void by_thread_count(struct by_thread *b, const struct walk *w, const struct timed *t)
{
	enum place place;

	for (size_t i = timed_next(w, t, 0); i < t->n; i = timed_next(w, t, i + 1)) {
		ptrdiff_t thread = timed_thread(w, t, i, &place);

		if (thread < 0)
			continue;
		b->any[thread] |= place == BEHIND ? ANY_ROW | ANY_BEHIND : ANY_ROW;
		if (place == BEFORE)
			b->before[thread] = (uint32_t)i + 1;
		else if (place == INSIDE)
			b->first[thread + 2]++;
	}
}

/* Counting sort, stable: rows stay in order of start. */
static int by_thread_make(struct by_thread *b, const struct walk *w, const struct timed *t,
			  size_t n_threads)
{
	enum place place;

	b->first = calloc(n_threads + 2, sizeof(*b->first));
	b->before = calloc(n_threads + 1, sizeof(*b->before));
	b->any = calloc(n_threads + 1, 1);
	if (!b->first || !b->before || !b->any)
		return -ENOMEM;
	by_thread_count(b, w, t);
	for (size_t i = 1; i < n_threads + 2; i++)
		b->first[i] += b->first[i - 1];
	b->row = malloc((b->first[n_threads + 1] + (size_t)1) * sizeof(*b->row));
	if (!b->row)
		return -ENOMEM;
	for (size_t i = timed_next(w, t, 0); i < t->n; i = timed_next(w, t, i + 1)) {
		ptrdiff_t thread = timed_thread(w, t, i, &place);

		if (thread >= 0 && place == INSIDE)
			b->row[b->first[thread + 1]++] = (uint32_t)i;
	}
	return 0;
}

/* The index of the park + 1, which is shown from now on, and lasts until the end of this interval. */
static uint32_t park_show(struct walk *w, const struct stretch *i)
{
	struct trc_tracks *t = w->tracks;
	uint64_t start_ns = w->written_ns - (uint64_t)i->ns;
	struct trc_shown_park *p;

	if (!w->park_idx[i->park]) {
		t->shown[t->n_shown] =
			(struct trc_shown_park){.start_ns = start_ns, .row = i->park};
		w->park_idx[i->park] = ++t->n_shown;
	}
	p = &t->shown[w->park_idx[i->park] - 1];
	p->end_ns = w->written_ns;
	if (i->state == TRC_STATE_WOKEN) {
		p->wake_ns = start_ns;
	} else {
		p->wake_ns = w->written_ns;
		p->reason = i->state - TRC_STATE_PARKED;
	}
	return w->park_idx[i->park];
}

/* Writes one interval as it is. */
static void emit(struct walk *w, const struct stretch *i)
{
	struct trc_tracks *t = w->tracks;

	trc_column_add(&t->duration, (uint64_t)i->ns);
	trc_column_add(&t->state, i->state);
	w->n_thread_intervals++;
	trc_first_add(&t->first, w->thread_idx, w->written_ns, w->written_ns + (uint64_t)i->ns,
		      i->state);
	w->written_ns += (uint64_t)i->ns;
	if (i->state & TRC_STATE_MERGED) {
		trc_column_add(&t->merged, i->n_merged);
		return;
	}
	if (i->state == TRC_STATE_RUNNING)
		trc_column_add(&t->proc, i->proc);
	if (i->state != TRC_STATE_WOKEN && i->state < TRC_STATE_PARKED)
		return;
	trc_column_add(&t->park, park_show(w, i));
}

/* Of what is held back the waits for locks, or all others. */
static void emit_merged(struct walk *w, bool locks)
{
	struct stretch i = {.n_merged = w->n_held[locks]};
	unsigned int most = 0;

	if (!i.n_merged)
		return;
	for (unsigned int s = 1; s < STATES; s++) {
		if (trc_state_is_lock(s) != locks)
			continue;
		i.ns += w->held_by_state_ns[s];
		if (!most || w->held_by_state_ns[s] > w->held_by_state_ns[most])
			most = s;
	}
	i.state = (uint8_t)(most | TRC_STATE_MERGED);
	emit(w, &i);
}

static void held_flush(struct walk *w)
{
	if (w->n_held[false] + w->n_held[true] == 1) {
		emit(w, &w->held);
	} else {
		emit_merged(w, false);
		emit_merged(w, true);
	}
	memset(w->n_held, 0, sizeof(w->n_held));
	w->held_ns = 0;
	memset(w->held_by_state_ns, 0, sizeof(w->held_by_state_ns));
}

/* An interval that will not grow any more: counted, written, or held back. */
static void last_flush(struct walk *w)
{
	struct stretch i = w->last;

	w->last.ns = 0;
	if (!i.ns)
		return;
	if (w->counting) {
		w->by_length[64 - __builtin_clzll((uint64_t)i.ns)]++;
		return;
	}
	w->time_ns[i.state] += i.ns;
	if (i.ns >= w->tracks->merged_below_ns || i.state == TRC_STATE_ABSENT) {
		held_flush(w);
		emit(w, &i);
		return;
	}
	w->held = i;
	w->held_ns += i.ns;
	w->held_by_state_ns[i.state] += i.ns;
	w->n_held[trc_state_is_lock(i.state)]++;
	if (w->held_ns >= w->step_ns)
		held_flush(w);
}

/* Within the page. */
static void add_interval(struct walk *w, int64_t from, int64_t until, uint8_t state, uint32_t park,
			 uint32_t proc)
{
	struct stretch *l = &w->last;

	if (!l->ns || l->state != state || l->park != park || l->proc != proc) {
		last_flush(w);
		*l = (struct stretch){.state = state, .park = park, .proc = proc};
	}
	l->ns += until - from;
}

/* cut:A3, A5.  A thread's time under labels that are not asked for is not in the page; a wait is by its own labels, or is not. */
static void interval(struct walk *w, int64_t from, int64_t until, uint8_t state, uint32_t park,
		     uint32_t proc)
{
	int64_t start = from > w->from_ns ? from : w->from_ns, next;
	int64_t end = until < w->to_ns ? until : w->to_ns;
	bool waits = state >= TRC_STATE_PARKED || state == TRC_STATE_WOKEN, inside;

	for (; start < end; start = next) {
		next = end;
		inside = trc_cut_works_at(w->cut, w->thread->serial, start, &next) &&
			 (waits ? trc_cut_has_labels_of(w->cut, &w->park[park])
				: trc_cut_labels_at(w->cut, w->thread->serial, start, &next));
		if (inside && state != TRC_STATE_ABSENT) {
			w->beyond |=
				from < w->from_ns && start == w->from_ns ? TRC_BEYOND_START : 0;
			w->beyond |= until > w->to_ns && next == w->to_ns ? TRC_BEYOND_END : 0;
		}
		add_interval(w, start, next, inside ? state : TRC_STATE_ABSENT, inside ? park : 0,
			     inside ? proc : 0);
	}
}

/* What the thread did while off its proc, before its switch record `cpu_next`. */
static uint8_t state_off_proc(const struct walk *w)
{
	uint32_t last =
		w->cpu_next > w->cpu_first ? w->on_cpus.row[w->cpu_next - 1] + 1 : w->cpu_before;

	if (last)
		return w->on_cpu[last - 1].preempted ? TRC_STATE_RUNNABLE : TRC_STATE_OFF_PROC;
	/* A thread that was there before the trace may have run unseen. */
	return w->thread->start_ns != TRC_NEVER ? TRC_STATE_RUNNABLE : TRC_STATE_ACTIVE;
}

/* The thread is in no recorded wait: the switch records, if any, say more; the same as for causes (step_active() of
 * analyzer/causes/steps.c). */
static void walk_unparked(struct walk *w, int64_t from, int64_t until)
{
	int64_t unknown = !w->has_cpu || until < w->switches_ns ? until : w->switches_ns;

	if (from < unknown) {
		interval(w, from, unknown, TRC_STATE_ACTIVE, 0, 0);
		from = unknown;
	}
	while (from < until) {
		const struct trc_on_cpu *next =
			w->cpu_next < w->cpu_limit ? &w->on_cpu[w->on_cpus.row[w->cpu_next]] : NULL;
		int64_t start = next && next->start_ns < until ? next->start_ns : until;
		int64_t end = next && next->end_ns != TRC_NEVER ? next->end_ns : w->end_ns;

		if (!next && w->is_cut &&
		    !w->has_cpu_behind) { /* when it ran again is not in the trace */
			interval(w, from, until, TRC_STATE_ACTIVE, 0, 0);
			return;
		}
		if (next && end <= from) {
			w->cpu_next++;
			continue;
		}
		if (start > from) {
			interval(w, from, start, state_off_proc(w), 0, 0);
			from = start;
			continue;
		}
		end = end < until ? end : until;
		interval(w, from, end, TRC_STATE_RUNNING, 0, next->proc);
		from = end;
	}
}

static int64_t park_end(const struct walk *w, uint32_t row)
{
	int64_t end = w->park[row].end_ns;

	return end == TRC_NEVER || end > w->end_ns ? w->end_ns : end;
}

/* timeline:P1.  Whether its thread had no proc at this time, by force; *until_ns is then when it ran again, or else when it next has
 * none, if that is earlier. */
static bool is_preempted(struct walk *w, int64_t from, int64_t *until_ns)
{
	const struct trc_on_cpu *off, *on;
	int64_t end_ns;
	uint32_t last;

	for (; w->cpu_next < w->cpu_limit; w->cpu_next++) {
		on = &w->on_cpu[w->on_cpus.row[w->cpu_next]];
		if (on->end_ns == TRC_NEVER || on->end_ns > from)
			break;
	}
	if (from < w->switches_ns) {
		*until_ns = w->switches_ns < *until_ns ? w->switches_ns : *until_ns;
		return false;
	}
	last = w->cpu_next > w->cpu_first ? w->on_cpus.row[w->cpu_next - 1] + 1 : w->cpu_before;
	off = last ? &w->on_cpu[last - 1] : NULL;
	if (w->cpu_next == w->cpu_limit) { /* it ran again behind the page, or no more */
		end_ns =
			w->has_cpu_behind ? *until_ns : trc_off_until_ns(w->model, w->thread, NULL);
		if (from >= end_ns)
			return false;
		*until_ns = end_ns < *until_ns ? end_ns : *until_ns;
		return off && off->preempted;
	}
	on = &w->on_cpu[w->on_cpus.row[w->cpu_next]];
	end_ns = on->end_ns == TRC_NEVER ? INT64_MAX : on->end_ns;
	if (on->start_ns > from) {
		*until_ns = on->start_ns < *until_ns ? on->start_ns : *until_ns;
		return off && off->preempted;
	}
	*until_ns = end_ns < *until_ns ? end_ns : *until_ns;
	return false;
}

/* Of a wait, as long as nobody ended it. */
static void walk_waiting(struct walk *w, uint32_t row, int64_t from, int64_t until, uint8_t state)
{
	bool may_be = w->has_cpu && trc_wait_may_be_preempted(&w->park[row]), preempted;

	for (int64_t next = until; from < until; from = next, next = until) {
		preempted = may_be && is_preempted(w, from, &next);
		interval(w, from, next, preempted ? TRC_STATE_RUNNABLE : state, preempted ? 0 : row,
			 0);
	}
}

/* A stretch of one wait: parked until it is woken, then woken. */
static void walk_parked(struct walk *w, uint32_t row, int64_t from, int64_t until)
{
	const struct trc_park *p = &w->park[row];
	uint8_t state = (uint8_t)(TRC_STATE_PARKED + (p->reason & 63));
	int64_t wake = p->wake_ns == TRC_NEVER ? until : p->wake_ns;

	wake = wake < from ? from : wake > until ? until : wake;
	walk_waiting(w, row, from, wake, state);
	interval(w, wake, until, TRC_STATE_WOKEN, row, 0);
}

/* Shows waits up to `until`: the innermost one that is open, or none.  Returns the depth left. */
static size_t walk_until(struct walk *w, const uint32_t *open, size_t depth, int64_t *at,
			 int64_t until)
{
	while (depth) {
		uint32_t row = open[depth - 1];
		int64_t end = park_end(w, row);

		if (*at < end && *at < until) {
			walk_parked(w, row, *at, end < until ? end : until);
			*at = end < until ? end : until;
		}
		if (end > until)
			return depth;
		depth--;
	}
	if (*at < until)
		walk_unparked(w, *at, until);
	*at = *at > until ? *at : until;
	return 0;
}

static void walk_thread(struct walk *w, size_t idx)
{
	const struct trc_thread *t = w->thread;
	int64_t birth = t->start_ns == TRC_NEVER ? w->start_ns : t->start_ns;
	int64_t death = t->end_ns == TRC_NEVER ? w->end_ns : t->end_ns;
	int64_t at;
	uint32_t open[NEST_MAX];
	size_t depth = 0;

	birth = birth < w->start_ns ? w->start_ns : birth > w->end_ns ? w->end_ns : birth;
	death = death < birth ? birth : death > w->end_ns ? w->end_ns : death;
	at = birth;
	w->cpu_first = w->cpu_next = w->on_cpus.first[idx];
	w->cpu_limit = w->on_cpus.first[idx + 1];
	w->cpu_before = w->on_cpus.before[idx];
	w->has_cpu = w->on_cpus.any[idx];
	w->has_cpu_behind = w->on_cpus.any[idx] & ANY_BEHIND;
	interval(w, w->start_ns, birth, TRC_STATE_ABSENT, 0, 0);
	for (uint32_t i = w->parks.first[idx]; i < w->parks.first[idx + 1]; i++) {
		uint32_t row = w->parks.row[i];
		int64_t start = w->park[row].start_ns;

		start = start < at ? at : start > death ? death : start;
		depth = walk_until(w, open, depth, &at, start);
		if (depth < NEST_MAX)
			open[depth++] = row;
	}
	walk_until(w, open, depth, &at, death);
	interval(w, at > death ? at : death, w->end_ns, TRC_STATE_ABSENT, 0, 0);
}

/* The page's times are since the start of the trace; before its part nothing is drawn, nor of a thread that is left
 * out. */
static void walk_page(struct walk *w, size_t idx)
{
	bool out = !trc_cut_has_thread(w->cut, w->thread->serial);
	int64_t from = out ? w->to_ns : w->from_ns;

	w->beyond = out ? TRC_BEYOND_ALL : 0;
	if (from > w->start_ns)
		add_interval(w, w->start_ns, from, TRC_STATE_ABSENT, 0, 0);
	if (!out)
		walk_thread(w, idx);
	last_flush(w);
}

/* The thread that was walked has some time in the page. */
static bool is_there(const struct walk *w)
{
	bool any = false;

	for (unsigned int s = TRC_STATE_ABSENT + 1; s < STATES && !any; s++)
		any = w->time_ns[s] > 0;
	return any;
}

static void walk_all(struct walk *w)
{
	size_t n_threads;
	const struct trc_thread *thread = trc_model_threads(w->model, &n_threads);
	struct trc_tracks *t = w->tracks;

	for (size_t i = 0; i < n_threads; i++) {
		w->thread = &thread[i];
		w->thread_idx = (uint32_t)i;
		w->n_thread_intervals = 0;
		w->written_ns = 0;
		memset(w->time_ns, 0, sizeof(w->time_ns));
		walk_page(w, i);
		if (w->counting)
			continue;
		held_flush(w);
		t->n_intervals += w->n_thread_intervals;
		trc_column_add(&t->interval_count, w->n_thread_intervals);
		if (w->cut->selection && !is_there(w))
			w->beyond = TRC_BEYOND_ALL;
		t->n_threads_out += w->beyond == TRC_BEYOND_ALL;
		trc_column_add(&t->beyond, w->beyond);
		for (uint32_t s = TRC_STATE_ABSENT + 1; s < STATES; s++) {
			if (!w->time_ns[s])
				continue;
			trc_column_add(&t->time_thread, i);
			trc_column_add(&t->time_state, s);
			trc_column_add(&t->time_ns, (uint64_t)w->time_ns[s]);
		}
	}
}

/* The shortest length from which intervals must be kept whole: half as many as wanted, since between two long ones there can
 * be two merged ones (T2). */
static void choose_merging(struct walk *w, uint64_t intervals_max)
{
	uint64_t total = 0, longer = 0;

	for (size_t bits = 0; bits <= 64; bits++)
		total += w->by_length[bits];
	w->tracks->n_before_merging = total;
	if (total <= intervals_max)
		return;
	for (unsigned int bits = 63; bits > 0; bits--) {
		if (2 * (longer + w->by_length[bits]) > intervals_max) {
			w->tracks->merged_below_ns = (int64_t)1 << (bits < 62 ? bits : 62);
			return;
		}
		longer += w->by_length[bits];
	}
}

/* T2: steps make half as many as wanted, at most; and what is merged is several. */
static void choose_step(struct walk *w, uint64_t intervals_max)
{
	uint64_t steps = intervals_max / (4 * ((uint64_t)w->tracks->first.n_threads + 1));
	int64_t least_ns =
		8 * (w->tracks->merged_below_ns < INT64_MAX / 8 ? w->tracks->merged_below_ns
								: INT64_MAX / 8);

	steps = steps < w->tracks->first.steps ? steps : w->tracks->first.steps;
	w->step_ns = (w->to_ns - w->from_ns) / (int64_t)(steps ? steps : 1);
	w->step_ns = w->step_ns > least_ns ? w->step_ns : least_ns;
}

static void tracks_init(struct trc_tracks *t)
{
	*t = (struct trc_tracks){
		.interval_count = trc_column_make("iv.count", TRC_COLUMN_VARINT),
		.duration = trc_column_make("iv.duration", TRC_COLUMN_VARINT),
		.state = trc_column_make("iv.state", TRC_COLUMN_BYTES),
		.park = trc_column_make("iv.park", TRC_COLUMN_DELTA),
		.proc = trc_column_make("iv.proc", TRC_COLUMN_VARINT),
		.merged = trc_column_make("iv.merged", TRC_COLUMN_VARINT),
		.time_thread = trc_column_make("time.thread", TRC_COLUMN_DELTA),
		.time_state = trc_column_make("time.state", TRC_COLUMN_VARINT),
		.time_ns = trc_column_make("time.ns", TRC_COLUMN_VARINT),
		.beyond = trc_column_make("thread.beyond", TRC_COLUMN_BYTES),
	};
	t->proc.as_bytes = true;
	t->merged.as_bytes = true;
}

void trc_tracks_columns(struct trc_tracks *t, struct trc_column *column[TRC_TRACKS_COLUMNS])
{
	struct trc_column *all[TRC_TRACKS_COLUMNS] = {
		&t->interval_count, &t->duration,    &t->state,	     &t->park,	  &t->proc,
		&t->merged,	    &t->time_thread, &t->time_state, &t->time_ns, &t->beyond,
	};

	memcpy(column, all, sizeof(all));
}

void trc_tracks_free(struct trc_tracks *t)
{
	struct trc_column *column[TRC_TRACKS_COLUMNS];

	trc_tracks_columns(t, column);
	for (size_t i = 0; i < TRC_TRACKS_COLUMNS; i++)
		trc_bytes_free(&column[i]->bytes);
	trc_first_free(&t->first);
	free(t->shown);
	t->shown = NULL;
}

static int walk_prepare(struct walk *w)
{
	size_t n_parks, n_threads;
	struct timed parks, on_cpu;

	w->park = trc_model_parks(w->model, &n_parks);
	w->on_cpu = trc_model_on_cpu(w->model, &w->n_on_cpu);
	trc_model_threads(w->model, &n_threads);
	parks = TIMED(trc_park, w->park, n_parks);
	on_cpu = TIMED(trc_on_cpu, w->on_cpu, w->n_on_cpu);
	if (by_thread_make(&w->parks, w, &parks, n_threads) ||
	    by_thread_make(&w->on_cpus, w, &on_cpu, n_threads) ||
	    trc_first_init(&w->tracks->first, (uint32_t)n_threads,
			   (uint64_t)(w->from_ns - w->start_ns),
			   (uint64_t)(w->to_ns - w->start_ns)))
		return -ENOMEM;
	w->park_idx = calloc(n_parks + 1, sizeof(*w->park_idx));
	w->tracks->shown =
		malloc((w->parks.first[n_threads] + (size_t)1) * sizeof(*w->tracks->shown));
	return w->park_idx && w->tracks->shown ? 0 : -ENOMEM;
}

int trc_tracks_make(struct trc_tracks *t, const struct trc_cut *cut, uint64_t intervals_max)
{
	struct walk *w = calloc(1, sizeof(*w));
	int rc = -ENOMEM;

	tracks_init(t);
	if (!w)
		return rc;
	w->tracks = t;
	w->model = cut->m;
	w->cut = cut;
	w->start_ns = trc_model_start_ns(cut->m);
	w->end_ns = trc_model_end_ns(cut->m);
	w->from_ns = cut->from_ns;
	w->to_ns = cut->to_ns;
	w->switches_ns = trc_model_switches_from_ns(cut->m);
	w->is_cut = !trc_reader_info(trc_model_reader(cut->m))->complete;
	rc = walk_prepare(w);
	if (!rc) {
		w->counting = true;
		walk_all(w);
		choose_merging(w, intervals_max);
		choose_step(w, intervals_max);
		w->counting = false;
		walk_all(w);
	}
	by_thread_free(&w->parks);
	by_thread_free(&w->on_cpus);
	free(w->park_idx);
	free(w);
	if (rc)
		trc_tracks_free(t);
	return rc;
}
