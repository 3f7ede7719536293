/*
 * tracks.c - see tracks.h.
 *
 * Every thread is walked twice: once to count intervals by length, from which follows
 * what has to be merged, and once to write them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/timeline.h"
#include "format/waits.h"
#include "tracks_private.h"

bool trc_state_is_lock(unsigned int state)
{
	return state > TRC_STATE_PARKED &&
	       trc_wait_class(state - TRC_STATE_PARKED) == TRC_WAIT_LOCKS;
}

static void by_thread_free(struct trc_track_rows *b)
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
static ptrdiff_t timed_thread(const struct trc_track_walk *w, const struct timed *t, size_t i,
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
static size_t timed_next(const struct trc_track_walk *w, const struct timed *t, size_t i)
{
	return t->rows == w->park ? trc_cut_next_overlapping(w->cut, i, t->n) : i;
}

static void by_thread_count(struct trc_track_rows *b, const struct trc_track_walk *w,
			    const struct timed *t)
{
	enum place place;

	for (size_t i = timed_next(w, t, 0); i < t->n; i = timed_next(w, t, i + 1)) {
		ptrdiff_t thread = timed_thread(w, t, i, &place);

		if (thread < 0)
			continue;
		b->any[thread] |=
			place == BEHIND ? TRC_TRACK_ROW | TRC_TRACK_BEHIND : TRC_TRACK_ROW;
		if (place == BEFORE)
			b->before[thread] = (uint32_t)i + 1;
		else if (place == INSIDE)
			b->first[thread + 2]++;
	}
}

/* Counting sort, stable: rows stay in order of start. */
static int by_thread_make(struct trc_track_rows *b, const struct trc_track_walk *w,
			  const struct timed *t, size_t n_threads)
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
static uint32_t park_show(struct trc_track_walk *w, const struct trc_track_stretch *i)
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
static void emit(struct trc_track_walk *w, const struct trc_track_stretch *i)
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
static void emit_merged(struct trc_track_walk *w, bool locks)
{
	struct trc_track_stretch i = {.n_merged = w->n_held[locks]};
	unsigned int most = 0;

	if (!i.n_merged)
		return;
	for (unsigned int s = 1; s < TRC_TRACK_STATES; s++) {
		if (trc_state_is_lock(s) != locks)
			continue;
		i.ns += w->held_by_state_ns[s];
		if (!most || w->held_by_state_ns[s] > w->held_by_state_ns[most])
			most = s;
	}
	i.state = (uint8_t)(most | TRC_STATE_MERGED);
	emit(w, &i);
}

static void held_flush(struct trc_track_walk *w)
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
static void last_flush(struct trc_track_walk *w)
{
	struct trc_track_stretch i = w->last;

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
static void add_interval(struct trc_track_walk *w, int64_t from, int64_t until, uint8_t state,
			 uint32_t park, uint32_t proc)
{
	struct trc_track_stretch *l = &w->last;

	if (!l->ns || l->state != state || l->park != park || l->proc != proc) {
		last_flush(w);
		*l = (struct trc_track_stretch){.state = state, .park = park, .proc = proc};
	}
	l->ns += until - from;
}

/* cut:A3, A5.  A thread's time under labels that are not asked for is not in the page; a wait is by its own labels, or is not. */
void trc_track_interval(struct trc_track_walk *w, int64_t from, int64_t until, uint8_t state,
			uint32_t park, uint32_t proc)
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

/* The page's times are since the start of the trace; before its part nothing is drawn, nor of a thread that is left
 * out. */
static void walk_page(struct trc_track_walk *w, size_t idx)
{
	bool out = !trc_cut_has_thread(w->cut, w->thread->serial);
	int64_t from = out ? w->to_ns : w->from_ns;

	w->beyond = out ? TRC_BEYOND_ALL : 0;
	if (from > w->start_ns)
		add_interval(w, w->start_ns, from, TRC_STATE_ABSENT, 0, 0);
	if (!out)
		trc_track_walk_thread(w, idx);
	last_flush(w);
}

/* The thread that was walked has some time in the page. */
static bool walk_is_there(const struct trc_track_walk *w)
{
	bool any = false;

	for (unsigned int s = TRC_STATE_ABSENT + 1; s < TRC_TRACK_STATES && !any; s++)
		any = w->time_ns[s] > 0;
	return any;
}

static void walk_all(struct trc_track_walk *w)
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
		if (w->cut->selection && !walk_is_there(w))
			w->beyond = TRC_BEYOND_ALL;
		t->n_threads_out += w->beyond == TRC_BEYOND_ALL;
		trc_column_add(&t->beyond, w->beyond);
		for (uint32_t s = TRC_STATE_ABSENT + 1; s < TRC_TRACK_STATES; s++) {
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
static void choose_merging(struct trc_track_walk *w, uint64_t intervals_max)
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
static void choose_step(struct trc_track_walk *w, uint64_t intervals_max)
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

static int walk_prepare(struct trc_track_walk *w)
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
	struct trc_track_walk *w = calloc(1, sizeof(*w));
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
