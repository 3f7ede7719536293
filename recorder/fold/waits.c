/*
 * waits.c - threads, and what they wait for: see private.h.
 *
 * The same rules as in analyzer/derive/parks.h (parks:K1 to parks:K4), applied while events go by.
 * What is known only at the end of a trace is decided when a copy is made: a wait that is open, though its
 * thread has gone on, lasted until it did.
 */
#include "private.h"
#include "format/waits.h"

static struct trc_fold_park *park_at(const struct trc_fold *f, uint32_t id)
{
	return trc_fold_table_at(&f->parks, id);
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
static struct trc_fold_park *blocked_from(const struct trc_fold *f, uint32_t id)
{
	struct trc_fold_park *park = park_at(f, id);

	while (park && !park->blocked)
		park = park_at(f, park->item.extra);
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
	return trc_fold_in_doubt(f, park->seen > park->start ? park->seen : park->start, end);
}

static bool in_window(const struct trc_view *view, uint64_t start, uint64_t end)
{
	return start >= view->begin || end > view->begin;
}

/* A fiber's wait has no reason. */
static bool counts(const struct trc_view *view, const struct trc_fold_park *park)
{
	return view->options.all_waits ? park->reason != 0 : park->blocked;
}

void trc_fold_leave_out_wait(struct trc_fold *f, bool blocked, bool of_thread, uint64_t time)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_BLOCK);

		if (view && time >= view->begin && (view->options.all_waits ? of_thread : blocked))
			view->left_out++;
	}
}

static void sum_up(struct trc_view *view, const struct trc_fold_park *park, uint64_t end,
		   uint64_t within)
{
	uint64_t ticks = trc_view_clip(view, park->start, end);

	trc_view_add_wait(view, park->stack, park->labels, ticks > within ? ticks - within : 0,
			  trc_fold_mix(park->start) ^ park->thread);
}

/* The time of a wait within a wait is the inner one's only. */
void trc_fold_count_wait(struct trc_fold *f, const struct trc_fold_park *park, uint64_t end)
{
	struct trc_fold_park *around = park->blocked ? blocked_from(f, park->item.extra) : NULL;
	struct trc_fold_park *any = f->n_all_waits_views ? park_at(f, park->item.extra) : NULL;
	struct trc_fold_nest *of_blocked = around ? nest_of(f, around) : NULL;
	struct trc_fold_nest *of_any = any ? nest_of(f, any) : NULL;
	const struct trc_fold_nest *own = trc_fold_table_at(&f->nests, park->nest);

	if (park->left_out || in_doubt(f, park, end)) {
		trc_fold_leave_out_wait(f, park->blocked, park->reason != 0, end);
		return;
	}
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_BLOCK);
		struct trc_fold_nest *nest;

		if (!view || !counts(view, park) || !in_window(view, park->start, end))
			continue;
		nest = view->options.all_waits ? of_any : of_blocked;
		sum_up(view, park, end, own ? own->ticks[i] : 0);
		if (nest)
			nest->ticks[i] += trc_view_clip(view, park->start, end);
	}
}

/* ---- parks ----------------------------------------------------------------------------- */

static void end_innermost(struct trc_fold *f, struct trc_fold_thread *t, uint64_t end, int result)
{
	struct trc_fold_park *park = park_at(f, t->top);
	struct trc_fold_nest *nest = trc_fold_table_at(&f->nests, park->nest);

	end = end > park->start ? end : park->start;
	t->top = park->item.extra;
	t->n_open--;
	if (park->lock_wait)
		trc_fold_lock_end(f, park->lock_wait, end, result);
	if (park->blocked || f->n_all_waits_views)
		trc_fold_count_wait(f, park, end);
	if (nest)
		trc_fold_table_remove(&f->nests, nest);
	trc_fold_table_remove(&f->parks, park);
}

/* Those inside of `last`, and with it that one itself: they ended unseen, at the latest now. */
static void abandon(struct trc_fold *f, struct trc_fold_thread *t, uint32_t last, bool itself,
		    uint64_t now)
{
	while (t->top && t->top != last)
		end_innermost(f, t, now, -1);
	if (t->top && itself)
		end_innermost(f, t, now, -1);
}

/* Events with a stack that a wait makes itself, where it is: as in analyzer/derive/parks.c. */
static bool is_of_park(const struct trc_fold_park *park, const struct trc_fold_event *e)
{
	if (e->kind == TRC_KIND_UNLOCK)
		return park->reason == TRC_REASON_COND;
	return e->kind == TRC_KIND_ACQUIRE && (park->reason == TRC_REASON_COND ||
					       (park->reason == e->reason && park->object == e->a));
}

static bool disproves(const struct trc_fold *f, const struct trc_fold_park *park,
		      const struct trc_fold_event *e)
{
	uint32_t n_parked, n_now, n_bytes;
	const uint64_t *a = trc_fold_content(&f->stacks, park->stack, &n_parked, &n_bytes);
	const uint64_t *b = trc_fold_content(&f->stacks, e->stack, &n_now, &n_bytes);

	/* A wait that the program announced is made of others. */
	if (!a || !b || park->reason == TRC_REASON_USER)
		return false;
	/* The first word is the epoch. */
	if (is_of_park(park, e) && trc_stack_is_same(a + 1, n_parked - 1, b + 1, n_now - 1))
		return false;
	return park->stack == e->stack ||
	       trc_stack_disproves_park(a + 1, n_parked - 1, b + 1, n_now - 1);
}

/* parks:K3 */
static void abandon_by_stack(struct trc_fold *f, struct trc_fold_thread *t,
			     const struct trc_fold_event *e)
{
	uint32_t outermost = 0;

	/* Taken again inside the condition wait, at its stack. */
	if (!e->stack || ((e->kind == TRC_KIND_PARK || e->kind == TRC_KIND_WAIT) &&
			  e->reason == TRC_REASON_COND_MUTEX))
		return;
	for (uint32_t id = t->top; id; id = park_at(f, id)->item.extra)
		if (disproves(f, park_at(f, id), e))
			outermost = id;
	if (outermost)
		abandon(f, t, outermost, true, e->time);
}

static bool has_own_stack(unsigned int kind)
{
	return kind == TRC_KIND_PARK || kind == TRC_KIND_WAIT || kind == TRC_KIND_UNLOCK ||
	       kind == TRC_KIND_UNPARK || kind == TRC_KIND_ACQUIRE || kind == TRC_KIND_FIBER_READY;
}

/* A park within a park is the outer one's next event: only the innermost may wait for one. */
static void check_open(struct trc_fold *f, struct trc_fold_thread *t,
		       const struct trc_fold_event *e)
{
	struct trc_fold_park *park = park_at(f, t->top);

	if (!park->next_time) {
		park->next_time = park->next_since = park->next_any = e->time;
		if (e->kind == TRC_KIND_WAIT && e->c < e->time)
			park->next_any = e->c > park->start ? e->c : park->start;
		if (trc_fold_is_blocked(e->reason))
			park->next_since = park->next_any;
	}
	if (has_own_stack(e->kind))
		abandon_by_stack(f, t, e);
}

static void leave_out(struct trc_fold *f, unsigned int reason, uint64_t time)
{
	trc_fold_leave_out_wait(f, trc_fold_is_blocked(reason), true, time);
	if (trc_reason_is_lock(reason))
		trc_fold_leave_out(f, TRC_VIEW_MUTEX, time);
}

/* None of them ended, as far as anybody saw: no telling which it is in. */
static void forget_open(struct trc_fold *f, struct trc_fold_thread *t, uint64_t now)
{
	for (uint32_t id = t->top; id; id = park_at(f, id)->item.extra)
		park_at(f, id)->left_out = true;
	abandon(f, t, 0, false, now);
}

static void park_begin(struct trc_fold *f, struct trc_fold_thread *t,
		       const struct trc_fold_event *e)
{
	struct trc_fold_park *park;

	if (t && t->n_open == TRC_FOLD_OPEN_MAX)
		forget_open(f, t, e->time);
	park = t ? trc_fold_table_add(&f->parks, ++f->numbers) : NULL;
	if (!park) {
		leave_out(f, e->reason, e->time);
		return;
	}
	park->item.extra = t->top;
	park->start = e->time;
	park->object = e->a;
	park->thread = e->thread;
	park->stack = e->stack;
	park->labels = t->item.extra;
	park->region_depth = t->region_depth;
	park->reason = e->reason;
	park->blocked = trc_fold_is_blocked(e->reason);
	t->top = trc_fold_table_id(&f->parks, park);
	t->n_open++;
	if (trc_reason_is_lock(e->reason)) /* what came of it before a loss nobody knows */
		park->lock_wait = trc_fold_lock_begin(
			f, e->time < f->gap_time ? f->gap_time + 1 : e->time, e->a, (uint32_t)e->b);
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
	park = park_at(f, t->top);
	if (park && !in_doubt(f, park, f->merged))
		return;
	forget_open(f, t, f->merged);
	park_begin(f, t, e);
	park = park_at(f, t->top);
	if (!park)
		return;
	park->told = true;
	park->seen = f->gap_time;
}

/* The thread waits for what it was told to wait for: this event is what began that wait, or ended
 * one before it. */
static bool is_told(const struct trc_fold *f, const struct trc_fold_thread *t,
		    const struct trc_fold_event *e)
{
	const struct trc_fold_park *park = t ? park_at(f, t->top) : NULL;

	if (!park || !park->told || park->reason != e->reason || park->object != e->a)
		return false;
	return e->kind == TRC_KIND_PARK || (e->kind == TRC_KIND_RESUME && e->time < park->start);
}

/* parks:K2.  Without a park: it began before anybody looked. */
static void park_resume(struct trc_fold *f, struct trc_fold_thread *t,
			const struct trc_fold_event *e)
{
	uint32_t id = t ? t->top : 0;
	uint64_t woken;

	while (id && (park_at(f, id)->reason != e->reason || park_at(f, id)->object != e->a))
		id = park_at(f, id)->item.extra;
	if (!id) {
		leave_out(f, e->reason, e->time);
		return;
	}
	abandon(f, t, id, false, e->time);
	woken = park_at(f, id)->woken;
	end_innermost(f, t, woken ? woken : e->time, (int)e->b);
}

/* One that is told when it is over. */
static void park_whole(struct trc_fold *f, const struct trc_fold_thread *t,
		       const struct trc_fold_event *e)
{
	struct trc_fold_park park = {.start = e->c < e->time ? e->c : e->time,
				     .object = e->a,
				     .thread = e->thread,
				     .stack = e->stack,
				     .reason = e->reason,
				     .blocked = trc_fold_is_blocked(e->reason)};
	struct trc_fold_park *around = t ? park_at(f, t->top) : NULL;
	uint32_t wait;

	park.item.extra = t ? t->top : 0;
	if (e->reason == TRC_REASON_COND_MUTEX && around && around->reason == TRC_REASON_COND) {
		around->woken = park.start; /* parks:K7: it had ended by then */
		park.item.extra = around->item.extra;
	}
	park.labels = t ? t->item.extra : 0;
	if (park.blocked || f->n_all_waits_views)
		trc_fold_count_wait(f, &park, e->time);
	if (!trc_reason_is_lock(e->reason))
		return;
	wait = trc_fold_lock_begin(f, park.start, e->a, 0);
	if (wait)
		trc_fold_lock_end(f, wait, e->time, (int)e->b);
}

/* parks:K3: it is on another stack now.  A region may end on another thread: depths must not add
 * up. */
static void fiber_switch(struct trc_fold *f, struct trc_fold_thread *t, uint64_t now)
{
	uint32_t outermost = 0;

	for (uint32_t id = t->top; id; id = park_at(f, id)->item.extra)
		if (park_at(f, id)->reason != TRC_REASON_USER)
			outermost = id;
	if (outermost)
		abandon(f, t, outermost, true, now);
	if (!t->top)
		t->region_depth = 0;
}

static void region_end(struct trc_fold *f, struct trc_fold_thread *t, uint64_t now)
{
	uint32_t outermost = 0;

	t->region_depth--;
	for (uint32_t id = t->top; id; id = park_at(f, id)->item.extra)
		if (park_at(f, id)->region_depth > t->region_depth)
			outermost = id;
	if (outermost)
		abandon(f, t, outermost, true, now);
}

/* ---- threads --------------------------------------------------------------------------- */

static void known_thread(struct trc_fold *f, struct trc_fold_thread *t,
			 const struct trc_fold_event *e)
{
	switch (e->kind) {
	case TRC_KIND_LABELS:
		t->item.extra = e->labels;
		break;
	case TRC_KIND_REGION_BEGIN:
		t->region_depth++;
		break;
	case TRC_KIND_REGION_END:
		region_end(f, t, e->time);
		break;
	case TRC_KIND_THREAD_EXIT:
		abandon(f, t, 0, false, e->time);
		trc_fold_table_remove(&f->threads, t);
		break;
	default:
		break;
	}
}

void trc_fold_thread_event(struct trc_fold *f, const struct trc_fold_event *e)
{
	bool begins = e->kind == TRC_KIND_PARK || e->kind == TRC_KIND_LABELS;
	struct trc_fold_thread *t = begins ? trc_fold_thread_get(f, e->thread, e->time)
					   : trc_fold_table_find(&f->threads, e->thread);

	if (t && t->seen < e->time)
		t->seen = e->time;
	if (is_told(f, t, e))
		return;
	if (t && t->top && e->time >= park_at(f, t->top)->start)
		check_open(f, t, e);
	switch (e->kind) {
	case TRC_KIND_PARK:
		park_begin(f, t, e);
		break;
	case TRC_KIND_RESUME:
		park_resume(f, t, e);
		break;
	case TRC_KIND_WAIT:
		park_whole(f, t, e);
		break;
	case TRC_KIND_UNLOCK:
		trc_fold_lock_unlock(f, e);
		break;
	case TRC_KIND_FIBER_SWITCH:
		if (t)
			fiber_switch(f, t, e->time);
		trc_fold_fiber_switch(f, e);
		break;
	case TRC_KIND_FIBER_END:
		trc_fold_fiber_end(f, e->a, e->time);
		break;
	default:
		if (t)
			known_thread(f, t, e);
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
	uint64_t end = open ? copy->end : park->next_time;
	uint64_t inside = *within + (nest ? nest->ticks[copy->number] : 0);
	uint64_t next = copy->options.all_waits ? park->next_any : park->next_since;

	if (!counts(copy, park) || !in_window(copy, park->start, end))
		return true;
	if (park->left_out || in_doubt(f, park, end))
		return false;
	/* What came after it had ended is not inside of it, but of what is around it. */
	sum_up(copy, park, end, open ? inside : trc_view_clip(copy, next, end));
	*within = trc_view_clip(copy, park->start, end) + (open ? 0 : inside);
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

	for (uint32_t id = t->top; id; id = park_at(f, id)->item.extra) {
		const struct trc_fold_park *park = park_at(f, id);

		open |= !park->next_time; /* parks:K4; what is around an open one is open */
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
		const struct trc_fold_park *park = park_at(f, id);

		if (!park)
			continue;
		trc_fold_intern_mark(&f->stacks, park->stack);
		trc_fold_intern_mark(&f->label_sets, park->labels);
	}
}
