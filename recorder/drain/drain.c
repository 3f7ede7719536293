/* drain.c - the passes of a drain over the rings, and the drain's end. */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <time.h>
#include "recorder/shared/clock.h"
#include "private.h"
#include "format/now.h"
#include "format/pages.h"
#include "format/raw.h"

enum {
	FLUSH_NS = 1000000000,
	FULL = 256,		  /* trc_drain_fullest() */
	CLOCK_SLACK_NS = 1000000, /* how far the counters of two procs may be apart */
};

uint64_t trc_drain_raw_ns(void)
{
	return trc_now_ns(CLOCK_MONOTONIC_RAW);
}

/* ---- a ring ---------------------------------------------------------------------------- */

void trc_drain_wake(_Atomic uint32_t *waiters, _Atomic uint32_t *space)
{
	/* seq_cst: see the stores of tail. */
	if (!atomic_load_explicit(waiters, memory_order_seq_cst))
		return;
	atomic_fetch_add_explicit(space, 1, memory_order_seq_cst);
	trc_raw3(SYS_futex, space, FUTEX_WAKE, INT32_MAX); /* not private: another process */
}

static void words_give_back(struct trc_drain *d, struct trc_drain_ring *r, struct trc_ring *ring)
{
	if (d->options.follow)
		return;
	/* seq_cst: the tail, then waiters; trc_wait_for_room() does the opposite, so that one of
	 * the two sees the other.  As a release: we are done with the words. */
	atomic_store_explicit(&ring->tail, r->pos, memory_order_seq_cst);
	trc_drain_wake(&ring->waiters, &ring->space);
}

/* Goes on at `pos`, which may not be reached yet. */
static void go_on_at(struct trc_drain_ring *r, uint64_t pos, uint64_t head)
{
	r->skip_to = pos;
	r->pos = pos < head ? pos : head;
}

void trc_drain_lose_page(struct trc_drain *d, struct trc_drain_ring *r, uint64_t page_end)
{
	d->totals.damaged++;
	trc_drain_gap(d, &r->stream, 1, 0, TRC_GAP_DAMAGED);
	go_on_at(r, page_end, r->head);
}

/* Four at a time: a compiler does not put loads of atomics together. */
static void ring_load_words(uint64_t *to, const _Atomic uint64_t *from, uint64_t n)
{
	uint64_t i = 0;

	for (; i + 4 <= n; i += 4) {
		to[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
		to[i + 1] = atomic_load_explicit(&from[i + 1], memory_order_relaxed);
		to[i + 2] = atomic_load_explicit(&from[i + 2], memory_order_relaxed);
		to[i + 3] = atomic_load_explicit(&from[i + 3], memory_order_relaxed);
	}
	for (; i < n; i++)
		to[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
}

/* Copies the words [pos, end), which lie in one page.  False if they have been overwritten. */
static bool ring_copy_words(struct trc_drain *d, struct trc_ring *ring, uint32_t proc, uint64_t pos,
			    uint64_t end)
{
	_Atomic uint64_t *data = trc_area(d->shared, d->h.data_off);
	data += proc * d->h.ring_words + (pos & (d->h.ring_words - 1));
	ring_load_words(d->words, data, end - pos);
	/* acquire fence: the copy comes before the look at floor; pairs with the barrier
	 * between moving floor and the words that overwrite (R5). */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&ring->floor, memory_order_relaxed) <= pos;
}

void trc_drain_words(struct trc_drain *d, struct trc_drain_ring *r, const uint64_t *word,
		     uint64_t n, uint64_t page_end)
{
	uint64_t i = 0;

	while (i < n) {
		uint32_t used;

		if (!word[i]) { /* R7 */
			go_on_at(r, page_end, r->head);
			return;
		}
		used = trc_drain_record(d, &r->stream, word + i, (uint32_t)(n - i));
		if (!used) {
			trc_drain_lose_page(d, r, page_end);
			return;
		}
		i += used;
	}
	r->pos += n;
}

/* Words were overwritten before they could be read: only while nobody drained. */
static void skip_overwritten(struct trc_drain *d, struct trc_drain_ring *r, struct trc_ring *ring)
{
	uint64_t page = d->h.page_words;
	/* acquire: pairs with the store of floor in ring_next_page(): it comes before the words below
	 * floor are overwritten (R5).  `head` is older: what lies from floor up to it is whole. */
	uint64_t floor = atomic_load_explicit(&ring->floor, memory_order_acquire);
	uint64_t oldest = r->head > d->h.ring_words ? r->head - d->h.ring_words : 0;

	if (floor < oldest)
		floor = oldest;
	floor = (floor + page - 1) / page * page;
	trc_drain_gap(d, &r->stream, 1, 0, TRC_GAP_OVERWRITTEN);
	d->totals.overwritten_words += floor - r->pos;
	go_on_at(r, floor, r->head);
}

static void ring_drain(struct trc_drain *d, uint32_t proc)
{
	struct trc_drain_ring *r = &d->ring[proc];
	struct trc_ring *ring = trc_ring_of(d, proc);
	uint64_t page_words = d->h.page_words;

	if (r->pos < r->skip_to)
		go_on_at(r, r->skip_to, r->head);
	if (r->head - r->pos > d->h.ring_words)
		skip_overwritten(d, r, ring);
	while (r->pos < r->head) {
		uint64_t page_end = r->pos / page_words * page_words + page_words;
		uint64_t end = page_end < r->head ? page_end : r->head;

		if (ring_copy_words(d, ring, proc, r->pos, end)) {
			d->totals.read_words += end - r->pos;
			trc_drain_words(d, r, d->words, end - r->pos, page_end);
		} else {
			skip_overwritten(d, r, ring);
		}
		words_give_back(d, r, ring);
	}
}

static void see_how_full(struct trc_drain *d, uint64_t waiting, uint64_t room)
{
	uint64_t share = waiting < room ? waiting * FULL / room : FULL;

	if (share > d->fullest)
		d->fullest = (uint32_t)share;
}

uint32_t trc_drain_fullest(const struct trc_drain *d)
{
	return d->fullest;
}

bool trc_drain_ring_look(struct trc_drain *d, uint32_t proc)
{
	struct trc_drain_ring *r = &d->ring[proc];
	struct trc_ring *ring = trc_ring_of(d, proc);

	/* acquire: layout:L2. */
	if (r->broken ||
	    atomic_load_explicit(&ring->state, memory_order_acquire) != TRC_RING_READY) {
		r->head = r->pos;
		return false;
	}
	/* relaxed: losses that come a moment later are told with the next. */
	r->lost = atomic_load_explicit(&ring->lost_total, memory_order_relaxed);
	/* acquire: pairs with the commit: every word below head has been written (R2, R3). */
	r->head = atomic_load_explicit(&ring->head, memory_order_acquire);
	if (r->head < r->pos) { /* it never goes back */
		r->broken = true;
		r->head = r->pos;
		d->totals.damaged++;
		trc_drain_gap(d, &r->stream, 1, 0, TRC_GAP_DAMAGED);
	}
	see_how_full(d, r->head - r->pos, d->h.ring_words);
	return r->head != r->pos;
}

/* ---- a pass ---------------------------------------------------------------------------- */

static void drain_look_at_all(struct trc_drain *d)
{
	struct trc_overflow *o = trc_area(d->shared, d->h.overflow_off);
	uint64_t slack =
		(uint64_t)((unsigned __int128)CLOCK_SLACK_NS * d->h.ticks_per_second / 1000000000);

	/* Before the heads: what is later may not be committed yet. */
	d->looked = trc_clock_ordered() - slack;
	d->fullest = 0;
	for (uint32_t i = 0; i < d->h.n_procs; i++)
		trc_drain_ring_look(d, i);
	/* acquire: pairs with trc_count_loss(): the cells that were in the way are below head. */
	d->cells_lost = atomic_load_explicit(&o->lost_total, memory_order_acquire);
	/* acquire: cells below head are reserved; each is then looked at by itself. */
	d->cells_head = atomic_load_explicit(&o->head, memory_order_acquire);
	see_how_full(d, d->cells_head - d->cells.pos, d->h.n_cells);
	/* After the heads: what the records cite was there before them (layout:L4). */
	d->now = trc_clock_ordered() + slack;
	trc_drain_see_serials(d);
}

/* R6: losses after the last gap record. */
static void drain_last_gap(struct trc_drain *d, struct trc_drain_stream *s, uint64_t lost,
			   uint64_t since)
{
	if (lost <= s->lost_seen)
		return;
	trc_drain_gap(d, s, lost - s->lost_seen, since, TRC_GAP_RING_FULL);
	s->lost_seen = lost;
}

/*
 * In the middle of a recording: they go on, and have lasted up to where this pass has looked; what
 * the ring holds by now is later.  Those that are over have a gap record there.
 */
static void gaps_so_far(struct trc_drain *d)
{
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		struct trc_drain_ring *r = &d->ring[i];
		struct trc_ring *ring = trc_ring_of(d, i);
		uint64_t since = atomic_load_explicit(&ring->lost_since, memory_order_relaxed);

		if (!since || r->lost <= r->stream.lost_seen)
			continue;
		if (r->stream.last_time < d->looked)
			r->stream.last_time = d->looked;
		drain_last_gap(d, &r->stream, r->lost, since);
	}
}

/* At the end: of losses without a later record nobody knows when they ended, up to the last look. */
static void drain_last_gaps(struct trc_drain *d)
{
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		struct trc_drain_stream *s = &d->ring[i].stream;
		struct trc_ring *ring = trc_ring_of(d, i);
		uint64_t lost = atomic_load_explicit(&ring->lost_total, memory_order_relaxed);
		uint64_t since = atomic_load_explicit(&ring->lost_since, memory_order_relaxed);

		if (since && lost > s->lost_seen && s->last_time < d->looked)
			s->last_time = d->looked;
		drain_last_gap(d, s, lost, since);
	}
}

/* True once a second, if there is something to flush.  The clocks are read before the rings are
 * looked at: when the flush is done everything from before then is in the file. */
static bool flush_begin(struct trc_drain *d)
{
	if (!d->unflushed || trc_drain_raw_ns() - d->flushed_ns < FLUSH_NS)
		return false;
	trc_clock_sync(&d->sync);
	return true;
}

static void flush_end(struct trc_drain *d)
{
	gaps_so_far(d);
	trc_writer_flush(d->w);
	/* Unless the overflow stream waits for somebody in the middle of a record. */
	if (d->cells.pos == d->cells_head)
		trc_writer_sync(d->w, &d->sync);
	d->flushed_ns = trc_drain_raw_ns();
	d->unflushed = 0;
}

static void check_sink(struct trc_drain *d)
{
	struct trc_writer_totals totals;
	uint32_t active = TRC_DRAIN_ACTIVE;

	trc_writer_totals(d->w, &totals);
	if (totals.error && !d->options.follow)
		/* relaxed: whoever waits now gives up at its next look. */
		atomic_compare_exchange_strong_explicit(&d->shared->drain_state, &active,
							TRC_DRAIN_FAILED, memory_order_relaxed,
							memory_order_relaxed);
}

uint64_t trc_drain_pass(struct trc_drain *d)
{
	uint64_t events = d->totals.events;
	bool flush = flush_begin(d);

	drain_look_at_all(d);
	trc_drain_look_at_epoch(d);
	trc_drain_modules(d);
	trc_drain_slots(d);
	trc_drain_starts(d);
	for (uint32_t i = 0; i < d->h.n_procs; i++)
		if (d->ring[i].head != d->ring[i].pos || d->ring[i].pos < d->ring[i].skip_to)
			ring_drain(d, i);
	trc_drain_overflow(d);
	trc_drain_sample_events(d);
	trc_drain_service(d, false);
	/* release: what the tables held for the records of this pass has been read (layout:T3).  In
	 * flight mode snapshots want it longer, and the writers count. */
	if (!d->options.follow && !trc_is_overwritten(d->shared))
		atomic_fetch_add_explicit(&d->shared->table_epoch, 1, memory_order_release);
	events = d->totals.events - events;
	d->unflushed += events;
	if (flush)
		flush_end(d);
	check_sink(d);
	return events;
}

void trc_drain_observe(struct trc_drain *d, const struct trc_drain_observer *observer)
{
	d->observer = observer;
	if (!observer || !observer->thread_labels)
		return;
	trc_drain_make_room(d);
	trc_drain_look_at_threads(d);
	for (uint32_t i = 0; i < d->n_thread_labels; i++)
		observer->thread_labels(observer->context, d->w, d->thread_labels[i].thread,
					d->thread_labels[i].labels);
}

uint64_t trc_drain_settled(const struct trc_drain *d)
{
	uint64_t cells = d->cells.stream.last_time;

	/* Somebody is in the middle of a record, not earlier than the one before it. */
	return d->cells.stuck_since_ns && cells < d->looked ? cells : d->looked;
}

/* ---- the end --------------------------------------------------------------------------- */

/* The process lives: somebody may be in the middle of a record. */
static void wait_for_the_last(struct trc_drain *d)
{
	trc_drain_pass(d);
	for (int i = 0; i < 3 && d->cells.stuck_since_ns; i++) {
		struct timespec t = {0, 5000000};

		trc_raw2(SYS_nanosleep, &t, 0);
		trc_drain_pass(d);
	}
}

static void nobody_drains(struct trc_drain *d)
{
	atomic_store_explicit(&d->shared->drain_state, TRC_DRAIN_NONE, memory_order_relaxed);
}

/* A trace that began on a ring in use says so: what was going on then has no beginning in it.  One
 * that goes on after another drain has the rings since that one left; the kernel's records, which
 * are its own, since it was opened. */
static void drain_write_coverage(struct trc_drain *d)
{
	size_t n_bytes = (2 * (size_t)d->h.n_procs + 1) * sizeof(struct trc_coverage_entry);
	struct trc_coverage_entry *entry = trc_pages_map(n_bytes);
	const struct trc_coverage_entry all = {
		.held = d->joined, .from = d->joined, .to = d->sync.ticks};
	size_t n = 0;

	if (!entry)
		return;
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		uint64_t held;

		entry[n] = all;
		entry[n].source = TRC_SOURCE_RING;
		entry[n++].proc = i;
		if (!trc_drain_kernel_seen(d, i, &held))
			continue;
		entry[n] = all;
		entry[n].source = TRC_SOURCE_KERNEL;
		entry[n].held = entry[n].from = d->opened;
		entry[n++].proc = i;
	}
	entry[n] = all;
	entry[n].source = TRC_SOURCE_OVERFLOW;
	entry[n++].proc = UINT32_MAX;
	trc_writer_coverage(d->w, entry, n);
	trc_pages_unmap(entry, n_bytes);
}

int trc_drain_finish(struct trc_drain *d, enum trc_drain_end how)
{
	struct trc_writer_totals totals;

	if (how != TRC_DRAIN_LEFT)
		nobody_drains(d);
	trc_drain_look_at_threads(d);
	trc_drain_service(d, true);
	if (how == TRC_DRAIN_STOPPED || how == TRC_DRAIN_LEFT)
		wait_for_the_last(d);
	/* What is being committed in one that is left is for the drain that goes on. */
	d->final = how != TRC_DRAIN_LEFT;
	trc_clock_sync(&d->left);
	trc_drain_pass(d);
	if (how == TRC_DRAIN_LEFT) /* not before: then the rings are overwritten */
		nobody_drains(d);
	drain_last_gaps(d);
	trc_writer_flush(d->w);
	trc_clock_sync(&d->sync);
	trc_writer_sync(d->w, &d->sync);
	if (how == TRC_DRAIN_REPLACED) {
		trc_drain_threads_end(d);
		trc_drain_modules_end(d);
	} else {
		trc_drain_status(d);
		trc_drain_threads_at_end(d);
	}
	if (d->joined) {
		d->to = d->sync.ticks;
		trc_drain_open_regions(d);
		drain_write_coverage(d);
	}
	trc_writer_totals(d->w, &totals);
	return totals.error;
}

/* ---- for the caller's loop ------------------------------------------------------------- */

void trc_drain_sleep(struct trc_drain *d, uint64_t timeout_ns)
{
	struct timespec t = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
	_Atomic uint32_t *word = &d->shared->drain_wake;

	/* relaxed: a writer that misses it is seen after the timeout. */
	atomic_store_explicit(word, 1, memory_order_relaxed);
	trc_raw4(SYS_futex, word, FUTEX_WAIT, 1, &t);
	atomic_store_explicit(word, 0, memory_order_relaxed);
}

void trc_drain_totals(const struct trc_drain *d, struct trc_drain_totals *totals)
{
	*totals = d->totals;
	totals->slots_full = atomic_load_explicit(&d->shared->slots_full, memory_order_relaxed);
}

void trc_drain_next(const struct trc_drain *d, struct trc_drain_options *options)
{
	uint64_t tasks = atomic_load_explicit(&d->shared->next_task, memory_order_relaxed);
	uint64_t fibers = atomic_load_explicit(&d->shared->next_fiber, memory_order_relaxed);
	uint32_t epoch = atomic_load_explicit(&d->shared->module_epoch, memory_order_relaxed);

	*options = d->options;
	options->serial_base += d->max_serial;
	options->sample_base += d->max_sample;
	options->task_base += tasks < INT64_MAX / 2 ? tasks : 0;
	options->fiber_base += fibers < INT64_MAX / 2 ? fibers : 0;
	options->epoch_base += (epoch < INT32_MAX ? epoch : 0) + 1;
}

uint64_t trc_drain_ticks(const struct trc_drain *d, uint64_t raw_ns)
{
	__int128 delta = (__int128)raw_ns - d->sync.monotonic_raw_ns;

	return d->sync.ticks + (uint64_t)(int64_t)(delta * d->h.ticks_per_second / 1000000000);
}
