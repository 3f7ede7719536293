/*
 * waits.c - threads and their waits: see private.h.
 *
 * format/waits/parks.h says what events begin and end.  Questions that only the end of a trace
 * decides are decided when a copy is made.  An open wait whose thread has gone on lasted until the
 * thread went on.
 */
#include "private.h"
#include "format/waits.h"

static struct trc_fold_park *fold_park_of(struct trc_open_park *open)
{
	return open ? (struct trc_fold_park *)(void *)((unsigned char *)open -
						       offsetof(struct trc_fold_park, open))
		    : NULL;
}

static struct trc_fold_park *top_of(const struct trc_fold_thread *t)
{
	return t ? fold_park_of(t->parks.top) : NULL;
}

static struct trc_fold_park *around_of(const struct trc_fold_park *park)
{
	return fold_park_of(park->open.around);
}

uint32_t trc_fold_labels_of(const struct trc_fold *f, uint32_t thread)
{
	const struct trc_fold_thread *t = trc_fold_table_find(&f->threads, thread);

	return t ? t->item.extra : 0;
}

bool trc_fold_is_blocked(unsigned int reason)
{
	enum trc_wait_class class = trc_wait_class(reason);

	return class == TRC_WAIT_LOCKS || class == TRC_WAIT_THREADS;
}

/* ---- the block profile ----------------------------------------------------------------- */

/* The innermost from this one outwards that the block profile has. */
static struct trc_fold_park *blocked_from(struct trc_fold_park *park)
{
	while (park && !park->blocked)
		park = around_of(park);
	return park;
}

static struct trc_fold_nest *nest_of(struct trc_fold *f, struct trc_fold_park *park)
{
	struct trc_fold_nest *nest = trc_fold_table_at(&f->nests, park->nest);

	if (nest || park->left_out)
		return nest;
	nest = trc_fold_table_add(&f->nests, ++f->numbers);
	if (nest)
		park->nest = trc_fold_table_id(&f->nests, nest);
	else
		park->left_out = true;
	return nest;
}

static bool in_doubt(const struct trc_fold *f, const struct trc_fold_park *park, uint64_t end)
{
	uint64_t start = park->open.start;

	return trc_fold_in_doubt(f, park->seen > start ? park->seen : start, end);
}

static bool in_window(const struct trc_view *view, uint64_t start, uint64_t end)
{
	return start >= view->begin || end > view->begin;
}

/* A fiber's wait has no reason. */
static bool park_counts(const struct trc_view *view, const struct trc_fold_park *park)
{
	return view->options.all_waits ? park->open.reason != 0 : park->blocked;
}

void trc_fold_leave_out_wait(struct trc_fold *f, bool blocked, bool of_thread, uint64_t time)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_BLOCK);

		if (view && time >= view->begin && (view->options.all_waits ? of_thread : blocked))
			view->left_out++;
	}
}

static void park_sum_up(struct trc_view *view, const struct trc_fold_park *park, uint64_t end,
			uint64_t within)
{
	uint64_t ticks = trc_view_clip(view, park->open.start, end);

	trc_view_add_wait(view, park->open.stack, park->labels, ticks > within ? ticks - within : 0,
			  trc_fold_mix(park->open.start) ^ park->thread);
}

/* The time of a wait within a wait is the inner one's only. */
void trc_fold_count_wait(struct trc_fold *f, const struct trc_fold_park *park, uint64_t end)
{
	struct trc_fold_park *around = park->blocked ? blocked_from(around_of(park)) : NULL;
	struct trc_fold_park *any = f->n_all_waits_views ? around_of(park) : NULL;
	struct trc_fold_nest *of_blocked = around ? nest_of(f, around) : NULL;
	struct trc_fold_nest *of_any = any ? nest_of(f, any) : NULL;
	const struct trc_fold_nest *own = trc_fold_table_at(&f->nests, park->nest);

	if (park->left_out || in_doubt(f, park, end)) {
		trc_fold_leave_out_wait(f, park->blocked, park->open.reason != 0, end);
		return;
	}
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_BLOCK);
		struct trc_fold_nest *nest;

		if (!view || !park_counts(view, park) || !in_window(view, park->open.start, end))
			continue;
		nest = view->options.all_waits ? of_any : of_blocked;
		park_sum_up(view, park, end, own ? own->ticks[i] : 0);
		if (nest)
			nest->ticks[i] += trc_view_clip(view, park->open.start, end);
	}
}

/* ---- parks ----------------------------------------------------------------------------- */

static void fold_park_ended(void *context, struct trc_open_park *open, uint64_t end, int result)
{
	struct trc_fold *f = context;
	struct trc_fold_park *park = fold_park_of(open);
	struct trc_fold_nest *nest = trc_fold_table_at(&f->nests, park->nest);

	if (park->lock_wait)
		trc_fold_lock_end(f, park->lock_wait, end, result);
	if (park->blocked || f->n_all_waits_views)
		trc_fold_count_wait(f, park, end);
	if (nest)
		trc_fold_table_remove(&f->nests, nest);
	trc_fold_table_remove(&f->parks, park);
}

static bool stack_frames(void *context, uint32_t stack, const uint64_t **frame, uint32_t *n_frames)
{
	const struct trc_fold *f = context;
	uint32_t n_words, n_bytes;
	const uint64_t *word = trc_fold_content(&f->stacks, stack, &n_words, &n_bytes);

	if (!word)
		return false;
	*frame = word + 1; /* the first is the epoch */
	*n_frames = n_words - 1;
	return true;
}

static const struct trc_parks_owner owner = {stack_frames, fold_park_ended};

static struct trc_park_event as_park_event(const struct trc_fold_event *e)
{
	bool is_wait = e->kind == TRC_KIND_WAIT;

	return (struct trc_park_event){
		.time = e->time,
		.object = e->a,
		.since = is_wait && e->c < e->time ? e->c : e->time,
		.stack = e->stack,
		.result = is_wait || e->kind == TRC_KIND_RESUME ? (int)e->b : 0,
		.kind = e->kind,
		.reason = e->reason,
	};
}

/* When what tells that the thread went on began: a wait, or what the event is itself. */
static void note_next(struct trc_fold_park *park, const struct trc_park_event *e)
{
	uint64_t start = park->open.start;

	if (park->open.next || e->time < start)
		return;
	park->next_any = e->since > start ? e->since : start;
	park->next_since = trc_fold_is_blocked(e->reason) ? park->next_any : e->time;
}

static void park_leave_out(struct trc_fold *f, unsigned int reason, uint64_t time)
{
	trc_fold_leave_out_wait(f, trc_fold_is_blocked(reason), true, time);
	if (trc_reason_is_lock(reason))
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, time);
}

/* None of them ended, as far as anybody saw: no telling which it is in. */
static void forget_open(struct trc_fold *f, struct trc_fold_thread *t, uint64_t now)
{
	for (struct trc_fold_park *park = top_of(t); park; park = around_of(park))
		park->left_out = true;
	trc_parks_abandon(&t->parks, now, &owner, f);
}

static void fold_park_begin(struct trc_fold *f, struct trc_fold_thread *t,
			    const struct trc_fold_event *e)
{
	const struct trc_park_event event = as_park_event(e);
	struct trc_fold_park *park;

	if (t && t->parks.n_open == TRC_FOLD_OPEN_MAX)
		forget_open(f, t, e->time);
	park = t ? trc_fold_table_add(&f->parks, ++f->numbers) : NULL;
	if (!park) {
		park_leave_out(f, e->reason, e->time);
		return;
	}
	trc_park_begin(&t->parks, &park->open, &event);
	park->thread = e->thread;
	park->labels = t->item.extra;
	park->blocked = trc_fold_is_blocked(e->reason);
	if (trc_reason_is_lock(e->reason)) /* what came of it before a loss nobody knows */
		park->lock_wait =
			trc_fold_lock_begin(f, e->time < f->gap_time ? f->gap_time + 1 : e->time,
					    e->a, e->reason, (uint32_t)e->b);
}

/* Makes room: the ends of threads that were not seen any more may have been among what was lost. */
static void evict_threads(struct trc_fold *f, uint64_t now)
{
	if (now < f->threads_evicted + f->gone_ticks / 8)
		return;
	f->threads_evicted = now;
	for (uint32_t id = 1; id <= f->threads.used; id++) {
		struct trc_fold_thread *t = trc_fold_table_at(&f->threads, id);

		if (!t || t->seen >= f->gap_time || t->seen + f->gone_ticks >= now)
			continue;
		forget_open(f, t, now);
		trc_fold_table_remove(&f->threads, t);
	}
}

struct trc_fold_thread *trc_fold_thread_get(struct trc_fold *f, uint32_t thread, uint64_t now)
{
	struct trc_fold_thread *t = trc_fold_table_find(&f->threads, thread);

	if (!t && f->threads.n == f->threads.max)
		evict_threads(f, now);
	if (!t)
		t = trc_fold_table_add(&f->threads, thread);
	if (t && t->seen < now)
		t->seen = now;
	return t;
}

void trc_fold_park_told(struct trc_fold *f, const struct trc_fold_event *e)
{
	struct trc_fold_thread *t = trc_fold_thread_get(f, e->thread, f->merged);
	struct trc_fold_park *park;

	if (!t)
		return;
	park = top_of(t);
	if (park && !in_doubt(f, park, f->merged))
		return;
	forget_open(f, t, f->merged);
	fold_park_begin(f, t, e);
	park = top_of(t);
	if (!park)
		return;
	park->told = true;
	park->seen = f->gap_time;
}

/* The thread waits for what it was told to wait for: this event is what began that wait, or ended
 * one before it. */
static bool park_is_told(const struct trc_fold_thread *t, const struct trc_fold_event *e)
{
	const struct trc_fold_park *park = top_of(t);

	if (!park || !park->told || park->open.reason != e->reason || park->open.object != e->a)
		return false;
	return e->kind == TRC_KIND_PARK ||
	       (e->kind == TRC_KIND_RESUME && e->time < park->open.start);
}

/* One that is told when it is over. */
static void fold_park_whole(struct trc_fold *f, const struct trc_fold_thread *t,
			    const struct trc_fold_event *e)
{
	const struct trc_park_event event = as_park_event(e);
	struct trc_fold_park park = {.open = {.start = event.since,
					      .object = e->a,
					      .stack = e->stack,
					      .reason = e->reason},
				     .thread = e->thread,
				     .labels = t ? t->item.extra : 0,
				     .blocked = trc_fold_is_blocked(e->reason)};
	uint32_t wait;

	park.open.around = t ? trc_park_around(&t->parks, &event) : NULL;
	if (park.blocked || f->n_all_waits_views)
		trc_fold_count_wait(f, &park, e->time);
	if (!trc_reason_is_lock(e->reason))
		return;
	wait = trc_fold_lock_begin(f, park.open.start, e->a, e->reason, 0);
	if (wait)
		trc_fold_lock_end(f, wait, e->time, (int)e->b);
}

/* Ends what the event ends.  False: a wait that began before anybody looked. */
static bool parks_event(struct trc_fold *f, struct trc_fold_thread *t,
			const struct trc_fold_event *e)
{
	const struct trc_park_event event = as_park_event(e);

	if (!t)
		return e->kind != TRC_KIND_RESUME;
	if (t->parks.top)
		note_next(top_of(t), &event);
	else if (!trc_parks_need(e->kind))
		return true;
	return trc_parks_event(&t->parks, &event, &owner, f);
}

/* ---- threads --------------------------------------------------------------------------- */

void trc_fold_thread_event(struct trc_fold *f, const struct trc_fold_event *e)
{
	bool begins = e->kind == TRC_KIND_PARK || e->kind == TRC_KIND_LABELS;
	struct trc_fold_thread *t = begins ? trc_fold_thread_get(f, e->thread, e->time)
					   : trc_fold_table_find(&f->threads, e->thread);

	if (t && t->seen < e->time)
		t->seen = e->time;
	if (park_is_told(t, e))
		return;
	if (!parks_event(f, t, e))
		park_leave_out(f, e->reason, e->time);
	switch (e->kind) {
	case TRC_KIND_PARK:
		fold_park_begin(f, t, e);
		break;
	case TRC_KIND_WAIT:
		fold_park_whole(f, t, e);
		break;
	case TRC_KIND_UNLOCK:
		trc_fold_lock_unlock(f, e);
		break;
	case TRC_KIND_FIBER_SWITCH:
		trc_fold_fiber_switch(f, e);
		break;
	case TRC_KIND_FIBER_END:
		trc_fold_fiber_end(f, e->a, e->time);
		break;
	case TRC_KIND_LABELS:
		if (t)
			t->item.extra = e->labels;
		break;
	case TRC_KIND_THREAD_EXIT:
		if (t)
			trc_fold_table_remove(&f->threads, t);
		break;
	default:
		break;
	}
}

/* ---- for a copy ------------------------------------------------------------------------ */

/* One that is open, or ended when its thread went on; *within: how long those inside of it lasted
 * that are open as well.  False: it is in doubt. */
static bool park_so_far(const struct trc_fold *f, const struct trc_fold_park *park, bool open,
			struct trc_view *copy, uint64_t *within)
{
	const struct trc_fold_nest *nest = trc_fold_table_at(&f->nests, park->nest);
	uint64_t end = open ? copy->end : park->open.next;
	uint64_t inside = *within + (nest ? nest->ticks[copy->number] : 0);
	uint64_t next = copy->options.all_waits ? park->next_any : park->next_since;

	if (!park_counts(copy, park) || !in_window(copy, park->open.start, end))
		return true;
	if (park->left_out || in_doubt(f, park, end))
		return false;
	/* What came after it had ended is not inside of it, but of what is around it. */
	park_sum_up(copy, park, end, open ? inside : trc_view_clip(copy, next, end));
	*within = trc_view_clip(copy, park->open.start, end) + (open ? 0 : inside);
	return true;
}

void trc_fold_open_so_far(const struct trc_fold *f, const struct trc_fold_park *park,
			  struct trc_view *copy)
{
	uint64_t within = 0;

	copy->left_out += !park_so_far(f, park, true, copy, &within);
}

static void thread_so_far(const struct trc_fold *f, const struct trc_fold_thread *t,
			  struct trc_view *copy)
{
	uint64_t within = 0;
	bool open = false;

	for (const struct trc_fold_park *park = top_of(t); park; park = around_of(park)) {
		open = trc_park_goes_on(&park->open, open, 0); /* what was lost: in_doubt() */
		copy->left_out += !park_so_far(f, park, open, copy, &within);
	}
}

void trc_fold_waits_so_far(struct trc_fold *f, struct trc_view *copy)
{
	for (uint32_t id = 1; id <= f->threads.used; id++) {
		const struct trc_fold_thread *t = trc_fold_table_at(&f->threads, id);

		if (t)
			thread_so_far(f, t, copy);
	}
}

void trc_fold_waits_mark(struct trc_fold *f)
{
	for (uint32_t id = 1; id <= f->threads.used; id++) {
		const struct trc_fold_thread *t = trc_fold_table_at(&f->threads, id);

		if (t)
			trc_fold_intern_mark(&f->label_sets, t->item.extra);
	}
	for (uint32_t id = 1; id <= f->parks.used; id++) {
		const struct trc_fold_park *park = trc_fold_table_at(&f->parks, id);

		if (!park)
			continue;
		trc_fold_intern_mark(&f->stacks, park->open.stack);
		trc_fold_intern_mark(&f->label_sets, park->labels);
	}
}
