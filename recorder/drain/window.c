/*
 * window.c - drains one window of a private copy, once.
 *
 * Events from before the window are not handed on, but their threads become known.  Of these
 * threads, those that an event in the window names get entries.  A thread's status is the status at
 * the window's end.  The thread's slot was read later: where slot and events disagree, the events
 * are right.
 */
#include <string.h>
#include "private.h"
#include "format/pages.h"
#include "recorder/shared/slot_look.h"

enum { PAST_MIN = 1024 };

static uint32_t serial_hash(uint32_t serial)
{
	return (uint32_t)((uint64_t)serial * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* ---- threads that may turn out to be needed -------------------------------------------- */

static struct trc_drain_past *past_find(const struct trc_past_map *map, uint32_t serial)
{
	uint32_t i = serial_hash(serial) & map->mask;

	while (map->entry[i].thread.serial && map->entry[i].thread.serial != serial)
		i = (i + 1) & map->mask;
	return &map->entry[i];
}

/* Room for one more at least; false: no memory, and the thread stays without a name. */
static bool past_grow(struct trc_past_map *map)
{
	uint64_t n = map->entry ? map->mask + UINT64_C(1) : 0;
	struct trc_past_map larger = {.mask = n ? (uint32_t)(2 * n - 1) : PAST_MIN - 1,
				      .used = map->used};

	if (n && map->used < n / 4 * 3)
		return true;
	if (n > UINT32_MAX / 4)
		return false;
	larger.entry = trc_pages_map((larger.mask + UINT64_C(1)) * sizeof(*larger.entry));
	if (!larger.entry)
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (map->entry[i].thread.serial)
			*past_find(&larger, map->entry[i].thread.serial) = map->entry[i];
	trc_pages_unmap(map->entry, n * sizeof(*map->entry));
	*map = larger;
	return true;
}

/* The thread's place, its serial filled in; NULL if it has a slot, or there is no memory. */
static struct trc_drain_past *past_of(struct trc_drain *d, uint32_t serial)
{
	struct trc_drain_past *past;

	if (!serial || trc_drain_watch_find(d, serial)->serial || !past_grow(&d->past))
		return NULL;
	past = past_find(&d->past, serial);
	if (!past->thread.serial) {
		past->thread.serial = serial;
		d->past.used++;
	}
	return past;
}

void trc_drain_past_named(struct trc_drain *d, uint32_t serial)
{
	/* Its creator is named by its entry, and so on. */
	while (serial && d->past.used) {
		struct trc_drain_past *past = past_find(&d->past, serial);

		if (!past->thread.serial || past->told)
			return;
		past->told = true;
		trc_drain_thread_write(d, &past->thread, past->thread.end);
		serial = trc_drain_serial(d, past->thread.creator);
	}
}

static void past_started(struct trc_drain *d, struct trc_drain_past *past,
			 const struct trc_event *e)
{
	past->thread.tid = (uint32_t)e->args.thread_start.tid;
	past->thread.creator = trc_drain_serial(d, e->args.thread_start.creator);
	past->thread.start = e->time;
	trc_drain_tid_enter(d, past->thread.tid, e->thread, e->time, 0);
}

/* The thread e->thread began or ended in the window.  Nothing is written of a thread that has a
 * slot: the slot says the same.  The end is written because the writer may forget the thread then. */
static void life_event(struct trc_drain *d, const struct trc_event *e)
{
	struct trc_drain_past *past = past_of(d, e->thread);

	if (!past)
		return;
	if (e->kind == TRC_KIND_THREAD_START)
		past_started(d, past, e);
	else
		past->thread.end = e->time;
	past->told = true;
	trc_drain_thread_write(d, &past->thread, past->thread.end);
}

/* ---- records that are not wanted ------------------------------------------------------- */

static void started_outside(struct trc_drain *d, const struct trc_event *e)
{
	struct trc_drain_past *past = e->time < d->from ? past_of(d, e->thread) : NULL;

	if (past)
		past_started(d, past, e);
}

static void named_outside(struct trc_drain *d, const struct trc_event *e)
{
	uint32_t serial = trc_drain_thread_of(d, e->args.thread_name.named, e->time);
	struct trc_drain_past *past = e->time < d->from ? past_of(d, serial) : NULL;
	uint32_t n_bytes = e->text_bytes;

	if (!past)
		return;
	if (n_bytes > TRC_THREAD_NAME_BYTES)
		n_bytes = TRC_THREAD_NAME_BYTES;
	memcpy(past->thread.name, e->text, n_bytes);
	past->thread.name_bytes = n_bytes;
}

/* Losses are told by the record that follows them. */
static void lost_outside(struct trc_drain *d, struct trc_drain_stream *s, const struct trc_event *e)
{
	const struct trc_args_gap *gap = &e->args.gap;
	uint64_t lost = s->lost_known ? gap->lost_events - s->lost_seen : 1;

	if (gap->lost_events <= s->lost_seen)
		return;
	s->lost_seen = gap->lost_events;
	s->lost_known = true;
	/* Lost in the window, told behind it. */
	if (e->time > d->to && gap->since <= d->to && s->last_time <= d->to) {
		trc_drain_window_enter(d, s);
		trc_drain_gap(d, s, lost, gap->since, TRC_GAP_RING_FULL);
	}
}

void trc_drain_outside(struct trc_drain *d, struct trc_drain_stream *s, const struct trc_event *e)
{
	switch (e->kind) {
	case TRC_KIND_THREAD_START:
		started_outside(d, e);
		break;
	case TRC_KIND_THREAD_NAME:
		named_outside(d, e);
		break;
	case TRC_KIND_GAP:
		lost_outside(d, s, e);
		break;
	}
}

void trc_drain_window_enter(struct trc_drain *d, struct trc_drain_stream *s)
{
	uint64_t lost = s->lost_before;

	if (s->last_time < d->from)
		s->last_time = d->from;
	s->lost_before = 0;
	trc_drain_gap(d, s, lost, 0, TRC_GAP_DAMAGED);
}

/* ---- what threads do ------------------------------------------------------------------- */

struct trc_drain_watch *trc_drain_watch_find(struct trc_drain *d, uint32_t serial)
{
	uint32_t i = serial_hash(serial) & d->watch_mask;

	while (d->watch[i].serial && d->watch[i].serial != serial)
		i = (i + 1) & d->watch_mask;
	return &d->watch[i];
}

/* The last of its thread's counts; events do not come in the order of their times. */
static bool is_latest(uint64_t *latest_time, const struct trc_event *e)
{
	if (e->time < *latest_time)
		return false;
	*latest_time = e->time;
	return true;
}

static void watch_park(struct trc_drain_watch *watch, const struct trc_event *e)
{
	if (!is_latest(&watch->park_time, e))
		return;
	watch->reason = (uint32_t)e->args.park.reason;
	watch->object = e->args.park.object;
	watch->holder = (uint32_t)e->args.park.holder;
	watch->stack = (uint32_t)e->args.park.stack;
}

static void watch_thread(struct trc_drain_watch *watch, const struct trc_event *e)
{
	switch (e->kind) {
	case TRC_KIND_PARK:
		watch_park(watch, e);
		break;
	case TRC_KIND_RESUME:
	case TRC_KIND_WAIT:
		is_latest(&watch->wait_end_time, e);
		break;
	case TRC_KIND_LABELS:
		if (is_latest(&watch->labels_time, e))
			watch->labels = (uint32_t)e->args.labels.labels;
		break;
	case TRC_KIND_FIBER_SWITCH:
		if (is_latest(&watch->fiber_time, e)) {
			watch->fiber = e->args.fiber_switch.fiber;
			watch->fiber_name = (uint32_t)e->args.fiber_switch.name;
		}
		break;
	}
}

void trc_drain_watch_event(struct trc_drain *d, const struct trc_event *e)
{
	struct trc_drain_watch *watch;

	if (e->kind == TRC_KIND_THREAD_START || e->kind == TRC_KIND_THREAD_EXIT)
		life_event(d, e);
	if (!e->thread ||
	    (e->kind != TRC_KIND_PARK && e->kind != TRC_KIND_RESUME && e->kind != TRC_KIND_WAIT &&
	     e->kind != TRC_KIND_LABELS && e->kind != TRC_KIND_FIBER_SWITCH))
		return;
	watch = trc_drain_watch_find(d, e->thread);
	if (watch->serial)
		watch_thread(watch, e);
}

/* True if the thread was there when the window ended. */
static bool slot_is_there(const struct trc_drain *d, uint32_t state,
			  const struct trc_slot_copy *copy)
{
	return copy->start <= d->to && (state == TRC_SLOT_LIVE || copy->end > d->to);
}

/* A thread that ended before the window may still have its slot. */
static void window_slot_read(struct trc_drain *d, uint32_t state, const struct trc_slot_copy *copy)
{
	uint32_t serial = trc_drain_serial(d, copy->serial);
	struct trc_drain_past *past;

	if (!serial || copy->start > d->to)
		return;
	if (state == TRC_SLOT_LIVE || copy->end >= d->from) {
		trc_drain_watch_find(d, serial)->serial = serial;
		trc_drain_thread_write(d, copy, slot_is_there(d, state, copy) ? 0 : copy->end);
		return;
	}
	past = past_of(d, serial);
	if (past) {
		past->thread = *copy;
		past->thread.serial = serial;
		trc_drain_tid_enter(d, copy->tid, serial, copy->start, copy->end);
		trc_drain_tid_lacks(d, copy);
	}
}

/* Calls fn for each slot that is, or was, a thread's. */
static void each_slot(struct trc_drain *d, void (*fn)(struct trc_drain *d, uint32_t state,
						      const struct trc_slot_copy *copy))
{
	for (uint32_t i = 0; i < d->h.n_threads; i++) {
		/* relaxed: nobody else has the copy. */
		uint32_t state =
			atomic_load_explicit(&trc_slot_of(d, i)->state, memory_order_relaxed);
		struct trc_slot_copy copy;

		if (state != TRC_SLOT_LIVE && state != TRC_SLOT_ENDED)
			continue;
		trc_drain_slot_copy(d, i, &copy);
		fn(d, state, &copy);
	}
}

static void status_from_slot(struct trc_drain *d, struct trc_status_entry *e,
			     const struct trc_slot_copy *copy)
{
	e->reason = (uint8_t)copy->reason;
	e->holder = trc_drain_thread_argument(d, copy->holder, copy->since);
	e->object = copy->object;
	e->since = copy->since;
	e->stack = trc_drain_stack(d, copy->stack);
	trc_drain_status_found(d, e, copy);
}

static void status_from_park(struct trc_status_entry *e, const struct trc_drain_watch *watch)
{
	e->reason = (uint8_t)watch->reason;
	e->holder = watch->holder;
	e->object = watch->object;
	e->since = watch->park_time;
	e->stack = watch->stack;
}

static void window_add_status(struct trc_drain *d, uint32_t state, const struct trc_slot_copy *copy)
{
	uint32_t serial = trc_drain_serial(d, copy->serial);
	struct trc_status_entry *e = &d->status[d->n_status];
	const struct trc_drain_watch *watch;

	if (!serial || !slot_is_there(d, state, copy) || d->n_status == d->h.n_threads)
		return;
	watch = trc_drain_watch_find(d, serial);
	*e = (struct trc_status_entry){.thread = serial};
	d->n_status++;
	/* A wait that began before the window's end and was seen in the slot after it was in
	 * progress in between; unless its end was recorded, and the process killed before the slot
	 * said so. */
	if (copy->reason && copy->reason < TRC_REASON_COUNT && copy->since <= d->to &&
	    copy->since >= watch->wait_end_time)
		status_from_slot(d, e, copy);
	else if (watch->park_time > watch->wait_end_time && watch->reason < TRC_REASON_COUNT)
		status_from_park(e, watch);
}

/* Labels and fiber: what the thread's last change in the window says; without one, the slot as it
 * was before the window's end (snapshot_private:P4 in snapshot_private.h). */
static void add_at_end(struct trc_drain *d, uint32_t state, const struct trc_slot_copy *copy)
{
	uint32_t serial = trc_drain_serial(d, copy->serial);
	const struct trc_drain_watch *watch = trc_drain_watch_find(d, serial);

	(void)state;
	if (!serial || !watch->serial)
		return;
	trc_drain_thread_labels_add(
		d, serial, watch->labels_time ? watch->labels : trc_drain_labels(d, copy->labels));
	if (watch->fiber_time)
		trc_drain_thread_fiber_add(d, serial, watch->fiber, watch->fiber_name);
	else if (copy->fiber)
		trc_drain_thread_fiber_add(d, serial, trc_drain_fiber(d, copy->fiber),
					   trc_drain_string(d, copy->fiber_name));
}

/* ---- regions --------------------------------------------------------------------------- */

struct region_list {
	struct trc_open_region_entry *entry;
	size_t n, max;
};

static void window_add_regions(struct trc_drain *d, struct region_list *list, uint32_t i,
			       uint32_t serial)
{
	struct trc_slot *slot = trc_slot_of(d, i);
	uint32_t n = atomic_load_explicit(&slot->n_regions, memory_order_relaxed);

	for (uint32_t k = 0; k < n && k < TRC_OPEN_REGIONS && list->n < list->max; k++) {
		uint64_t since = atomic_load_explicit(&slot->region[k].since, memory_order_relaxed);
		uint64_t type = atomic_load_explicit(&slot->region[k].type, memory_order_relaxed);

		if (since > d->to)
			return;
		list->entry[list->n++] = (struct trc_open_region_entry){
			.thread = serial,
			.depth = k,
			.task = atomic_load_explicit(&slot->region[k].task, memory_order_relaxed),
			.type = trc_drain_string(d, type),
			.since = since,
		};
	}
}

/* False in a window if the regions that the slot tells are of another fiber than the one that the
 * thread ran at its end. */
static bool regions_are_of_the_end(struct trc_drain *d, uint32_t i,
				   const struct trc_slot_copy *copy)
{
	const struct trc_drain_watch *watch;
	uint64_t told, ran;

	if (!d->windowed)
		return true;
	watch = trc_drain_watch_find(d, trc_drain_serial(d, copy->serial));
	told = trc_drain_fiber(d, d->regions_fiber ? d->regions_fiber[i] : copy->fiber);
	ran = watch->fiber_time ? watch->fiber : trc_drain_fiber(d, copy->fiber);
	return told == ran;
}

/* One consistent look, as far as can be had: the thread may be going on. */
static void look_at_regions(struct trc_drain *d, struct region_list *list, uint32_t i,
			    uint32_t serial)
{
	struct trc_slot *slot = trc_slot_of(d, i);
	size_t before = list->n;

	for (int k = 0; k < TRC_SLOT_TRIES; k++) {
		uint32_t seq = trc_slot_look(slot);

		list->n = before;
		window_add_regions(d, list, i, serial);
		if (trc_slot_same(slot, seq))
			return;
	}
}

/* All of them are one table, and there may be many threads: in memory of its own. */
void trc_drain_open_regions(struct trc_drain *d)
{
	struct region_list list = {.max = (size_t)d->h.n_threads * TRC_OPEN_REGIONS};
	size_t n_bytes = list.max * sizeof(*list.entry);

	list.entry = trc_pages_map(n_bytes + 1);
	if (!list.entry)
		return;
	for (uint32_t i = 0; i < d->h.n_threads; i++) {
		uint32_t state =
			atomic_load_explicit(&trc_slot_of(d, i)->state, memory_order_relaxed);
		struct trc_slot_copy copy;

		if (state != TRC_SLOT_LIVE)
			continue;
		trc_drain_slot_copy(d, i, &copy);
		if (trc_drain_serial(d, copy.serial) && slot_is_there(d, state, &copy) &&
		    regions_are_of_the_end(d, i, &copy))
			look_at_regions(d, &list, i, copy.serial);
	}
	trc_writer_open_regions(d->w, list.entry, list.n);
	trc_pages_unmap(list.entry, n_bytes + 1);
}

/* ---- all of it ------------------------------------------------------------------------- */

static const uint64_t *words_at(const struct trc_drain *d, uint32_t proc, uint64_t pos)
{
	const uint64_t *data = trc_area(d->shared, d->h.data_off);

	return data + proc * d->h.ring_words + (pos & (d->h.ring_words - 1));
}

/* Up to the first record that is wanted; pages end at the same places as in the ring. */
static void ring_skip_past(struct trc_drain *d, struct trc_drain_ring *r, const uint64_t *word,
			   uint64_t n, uint64_t page_end)
{
	uint64_t i = 0;

	while (i < n && word[i] && word[i] < d->from) {
		uint32_t used = trc_drain_record(d, &r->stream, word + i, (uint32_t)(n - i));

		if (!used) {
			trc_drain_lose_page(d, r, page_end);
			return;
		}
		i += used;
	}
	if (i < n && !word[i]) /* R7 */
		r->pos = page_end < r->head ? page_end : r->head;
	else
		r->pos += i;
}

typedef void page_fn(struct trc_drain *d, struct trc_drain_ring *r, const uint64_t *word,
		     uint64_t n, uint64_t page_end);

/* Calls fn with what is left of each page; until it takes nothing. */
static void ring_pages(struct trc_drain *d, uint32_t proc, page_fn *fn)
{
	struct trc_drain_ring *r = &d->ring[proc];
	uint64_t page_words = d->h.page_words;

	while (r->pos < r->head) {
		uint64_t pos = r->pos;
		uint64_t page_end = pos / page_words * page_words + page_words;
		uint64_t end = page_end < r->head ? page_end : r->head;

		fn(d, r, words_at(d, proc, pos), end - pos, page_end);
		if (r->pos == pos)
			return;
	}
}

static void name_creator(struct trc_drain *d, uint32_t state, const struct trc_slot_copy *copy)
{
	if (slot_is_there(d, state, copy))
		trc_drain_past_named(d, trc_drain_serial(d, copy->creator));
}

void trc_drain_copy(struct trc_drain *d)
{
	const struct trc_overflow *o = trc_area(d->shared, d->h.overflow_off);

	trc_drain_look_at_epoch(d);
	trc_drain_modules(d);
	each_slot(d, window_slot_read);
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		struct trc_ring *ring = trc_ring_of(d, i);

		/* relaxed: nobody else has the copy. */
		if (atomic_load_explicit(&ring->state, memory_order_relaxed) == TRC_RING_READY)
			d->ring[i].head = atomic_load_explicit(&ring->head, memory_order_relaxed);
		ring_pages(d, i, ring_skip_past);
	}
	d->cells_head = atomic_load_explicit(&o->head, memory_order_relaxed);
	trc_drain_overflow(d);
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		ring_pages(d, i, trc_drain_words);
		trc_writer_flush(d->w);
	}
	each_slot(d, name_creator);
}

/* Losses that no record tells of: they are the last thing that happened to a stream. */
static void window_last_gap(struct trc_drain *d, struct trc_drain_stream *s, uint64_t lost_total,
			    uint64_t lost_reported, uint64_t since)
{
	uint64_t seen = lost_reported > s->lost_seen ? lost_reported : s->lost_seen;

	if (s->last_time <= d->to)
		trc_drain_window_enter(d, s);
	if (lost_total <= seen || !since || since > d->to)
		return;
	if (s->last_time < since)
		s->last_time = since;
	trc_drain_gap(d, s, lost_total - seen, since, TRC_GAP_RING_FULL);
}

static void window_last_gaps(struct trc_drain *d)
{
	const struct trc_overflow *o = trc_area(d->shared, d->h.overflow_off);
#define LOAD(field) atomic_load_explicit(&(field), memory_order_relaxed)
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		const struct trc_ring *ring = trc_ring_of(d, i);

		window_last_gap(d, &d->ring[i].stream, LOAD(ring->lost_total),
				LOAD(ring->lost_reported), LOAD(ring->lost_since));
	}
	window_last_gap(d, &d->cells.stream, LOAD(o->lost_total), 0, LOAD(o->lost_since));
#undef LOAD
}

int trc_drain_copy_finish(struct trc_drain *d)
{
	struct trc_writer_totals totals;

	window_last_gaps(d);
	d->n_status = 0;
	each_slot(d, window_add_status);
	trc_writer_status(d->w, d->status, d->n_status);
	each_slot(d, add_at_end);
	trc_drain_threads_at_end(d);
	trc_drain_sample_events(d);
	trc_drain_open_regions(d);
	trc_writer_totals(d->w, &totals);
	return totals.error;
}
