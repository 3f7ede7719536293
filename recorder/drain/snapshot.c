/* snapshot.c - takes a snapshot, and chooses its window; see snapshot.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "recorder/shared/boot_id.h"
#include "recorder/shared/clock.h"
#include "recorder/shared/slot_look.h"
#include "format/pages.h"
#include "format/raw.h"
#include "snapshot_private.h"

enum {
	TAKES_MAX = 4,
	CLOCK_SLACK_NS = 1000000, /* how far the counters of two procs may be apart */
	YEARS_MAX = 10,
	/* A file of holes claims more than there is: beyond this, it has to show for it. */
	HOLES_BYTES_MAX = 1 << 30,
	PACKED_MAX = 16, /* what a file system that compresses may make of a ring */
	HUGE_BYTES = 2 << 20,
};

#define LOAD(field) atomic_load_explicit(&(field), memory_order_relaxed)

static uint64_t snapshot_ticks(const struct trc_snapshot *s, uint64_t ns)
{
	unsigned __int128 ticks = (unsigned __int128)ns * s->h.ticks_per_second / 1000000000;

	return ticks < UINT64_MAX / 2 ? (uint64_t)ticks : UINT64_MAX / 2;
}

/* ---- finding the ends of what was copied ----------------------------------------------- */

static bool time_is_sane(const struct trc_snapshot *s, uint64_t time)
{
	return time >= s->h.start.ticks && time <= s->now;
}

/* The words of the page that holds `pos`, and how many of them are below head. */
static const uint64_t *page_at(const struct trc_snapshot *s, uint32_t proc, uint64_t pos,
			       uint64_t *n)
{
	uint64_t start = pos & ~(uint64_t)(s->h.page_words - 1);
	uint64_t head = LOAD(trc_snapshot_ring(s, proc)->head);

	*n = head - start < s->h.page_words ? head - start : s->h.page_words;
	return trc_snapshot_words(s, proc) + (start & (s->h.ring_words - 1));
}

/* The time of the oldest record in the copy of the ring; 0 = there is none. */
static uint64_t ring_oldest(const struct trc_snapshot *s, uint32_t proc)
{
	const struct trc_ring *ring = trc_snapshot_ring(s, proc);
	uint64_t head = LOAD(ring->head), n;

	for (uint64_t pos = LOAD(ring->tail); pos < head; pos += s->h.page_words) {
		uint64_t time = page_at(s, proc, pos, &n)[0];

		if (time_is_sane(s, time))
			return time;
	}
	return 0;
}

static uint64_t page_newest(const struct trc_snapshot *s, const uint64_t *word, uint64_t n)
{
	uint64_t newest = 0;

	for (uint64_t i = 0; i + 1 < n && time_is_sane(s, word[i]);) {
		newest = word[i] > newest ? word[i] : newest;
		if (TRC_REC_WORDS(word[i + 1]) < 2)
			break;
		i += TRC_REC_WORDS(word[i + 1]);
	}
	return newest;
}

/* The time of the newest record; 0 = there is none. */
static uint64_t ring_newest(const struct trc_snapshot *s, uint32_t proc)
{
	const struct trc_ring *ring = trc_snapshot_ring(s, proc);
	uint64_t pos = LOAD(ring->head), newest = 0, n;

	while (!newest && pos > LOAD(ring->tail)) {
		const uint64_t *word = page_at(s, proc, pos - 1, &n);

		newest = page_newest(s, word, n);
		pos = (pos - 1) & ~(uint64_t)(s->h.page_words - 1);
	}
	return newest;
}

/* The time of the record whose first cell is at this position; 0 if there is none. */
static uint64_t cell_time(const struct trc_snapshot *s, uint64_t position)
{
	const struct trc_cell *cells = trc_area(s->copy, s->h.cells_off);
	const struct trc_cell *cell = &cells[position & (s->h.n_cells - 1)];
	uint64_t word[7];

	memcpy(word, (const void *)cell->word, sizeof(word));
	if (LOAD(cell->commit) != trc_cell_commit(position, 1, word))
		return 0;
	return time_is_sane(s, word[1]) ? word[1] : 0;
}

static uint64_t cells_oldest(const struct trc_snapshot *s)
{
	const struct trc_overflow *o = trc_snapshot_overflow(s);
	uint64_t time = 0;

	for (uint64_t pos = LOAD(o->tail); !time && pos < LOAD(o->head); pos++)
		time = cell_time(s, pos);
	return time;
}

static uint64_t cells_newest(const struct trc_snapshot *s)
{
	const struct trc_overflow *o = trc_snapshot_overflow(s);
	uint64_t time = 0;

	for (uint64_t pos = LOAD(o->head); !time && pos > LOAD(o->tail); pos--)
		time = cell_time(s, pos - 1);
	return time;
}

/* Of a stream that lost its beginning, when it begins; if nothing of it is left, after all else. */
static uint64_t held_from(const struct trc_snapshot *s, uint64_t tail, uint64_t oldest)
{
	if (!tail)
		return 0;
	return oldest ? oldest : s->now;
}

/* ---- the window ------------------------------------------------------------------------ */

/* Notes what each stream holds; the latest beginning, and the newest record. */
static void look_at_streams(struct trc_snapshot *s, uint64_t *held, uint64_t *newest)
{
	const struct trc_overflow *o = trc_snapshot_overflow(s);

	*held = *newest = s->h.start.ticks;
	for (uint32_t i = 0; i < s->h.n_procs; i++) {
		const struct trc_ring *ring = trc_snapshot_ring(s, i);

		s->held[i] = 0;
		if (LOAD(ring->state) != TRC_RING_READY)
			continue;
		s->held[i] = held_from(s, LOAD(ring->tail), ring_oldest(s, i));
		*held = trc_snapshot_later(*held, s->held[i]);
		*newest = trc_snapshot_later(*newest, ring_newest(s, i));
	}
	s->held_cells = held_from(s, LOAD(o->tail), cells_oldest(s));
	*held = trc_snapshot_later(*held, s->held_cells);
	*newest = trc_snapshot_later(*newest, cells_newest(s));
}

/* When the last thread that still waits began to: not every wait is recorded before it ends.  0 if
 * there is none. */
static uint64_t waits_newest(const struct trc_snapshot *s)
{
	uint64_t newest = 0;

	for (uint32_t i = 0; i < s->h.n_threads; i++) {
		struct trc_slot_wait wait;

		trc_slot_wait_load(trc_slot_at(s->copy, i), &wait);
		if (trc_slot_waits(&wait) && time_is_sane(s, wait.since))
			newest = trc_snapshot_later(newest, wait.since);
	}
	return newest;
}

/* 0 if it is not known, or cannot be compared. */
static uint64_t kernel_newest(const struct trc_snapshot *s)
{
	uint64_t age_ns = s->sync.monotonic_raw_ns - s->options.kernel_newest_ns;
	uint64_t ticks = snapshot_ticks(s, age_ns);

	if (!s->has_sync || !s->options.kernel_newest_ns ||
	    s->options.kernel_newest_ns > s->sync.monotonic_raw_ns || ticks > s->sync.ticks)
		return 0;
	return s->sync.ticks - ticks;
}

/* H3.  False: a ring was overwritten whole while it was copied, and nothing is left to show. */
static bool choose_window(struct trc_snapshot *s)
{
	uint64_t held, newest, window_ns = s->options.window_ns;
	uint64_t ticks;
	bool good;

	look_at_streams(s, &held, &newest);
	if (s->options.dead) {
		newest = trc_snapshot_later(newest, kernel_newest(s));
		s->cut = trc_snapshot_later(newest, waits_newest(s));
	}
	if (newest > s->cut)
		newest = s->cut;
	if (!window_ns)
		window_ns = s->h.window_ns;
	ticks = window_ns && window_ns != UINT64_MAX ? snapshot_ticks(s, window_ns) : UINT64_MAX;
	s->from = trc_snapshot_later(s->h.start.ticks, newest > ticks ? newest - ticks : 0);
	s->from = trc_snapshot_later(s->from, held);
	good = s->from <= s->cut;
	if (!good)
		s->from = s->cut;
	return good;
}

/* ---- clocks ---------------------------------------------------------------------------- */

/* The time now, if it can be told: a dead ring may be another machine's. */
static int look_at_clock(struct trc_snapshot *s)
{
	enum trc_clock_kind kind = (enum trc_clock_kind)s->h.clock;

	s->has_sync = (!s->options.dead || trc_boot_is(s->h.boot_id)) &&
		      !trc_clock_sync_of(kind, &s->sync) && s->sync.ticks >= s->h.start.ticks;
	if (!s->has_sync) {
		s->sync = s->h.start;
		s->now = s->h.start.ticks +
			 snapshot_ticks(s, YEARS_MAX * UINT64_C(31557600000000000));
	}
	return s->has_sync || s->options.dead ? 0 : -ENOTSUP;
}

static void note_now(struct trc_snapshot *s)
{
	uint64_t ticks;

	if (s->has_sync && !trc_clock_now_of((enum trc_clock_kind)s->h.clock, &ticks))
		s->now = ticks + snapshot_ticks(s, CLOCK_SLACK_NS);
}

/* ---- taking one ------------------------------------------------------------------------ */

static const char *header_trouble(const struct trc_shared *h, uint64_t file_bytes)
{
	const char *why;

	if (trc_layout_check(h, file_bytes, &why))
		return why;
	if (LOAD(h->state) != TRC_SHARED_LIVE && LOAD(h->state) != TRC_SHARED_CLOSED)
		return "it is only half made";
	if (h->clock < TRC_CLOCK_TSC || h->clock > TRC_CLOCK_MONOTONIC_RAW ||
	    !h->ticks_per_second || h->start.ticks > UINT64_MAX / 4)
		return "its header is damaged";
	return NULL;
}

/* Zeroed memory for the copy, of which only what is copied is touched. */
static int snapshot_memory_take(struct trc_snapshot **out, const struct trc_shared *h)
{
	uint64_t n_bytes = sizeof(struct trc_snapshot) + h->n_procs * sizeof(uint64_t) +
			   h->n_threads * (sizeof(struct trc_snapshot_slot) + sizeof(uint64_t));
	struct trc_snapshot *s = trc_pages_map(n_bytes);

	if (!s)
		return -ENOMEM;
	s->h = *h;
	s->memory_bytes = n_bytes;
	s->held = (uint64_t *)(s + 1);
	s->regions_fiber = s->held + h->n_procs;
	s->before_cut = (struct trc_snapshot_slot *)(s->regions_fiber + h->n_threads);
	s->copy = trc_pages_map(h->total_bytes + TRC_SNAPSHOT_SCRATCH_BYTES);
	if (!s->copy) {
		trc_snapshot_free(s);
		return -ENOMEM;
	}
	/* Fewer, larger pages: an optimisation, and no matter if it is refused. */
	if (h->ring_words * 8 >= HUGE_BYTES)
		trc_raw3(SYS_madvise, trc_area(s->copy, h->data_off), h->total_bytes - h->data_off,
			 MADV_HUGEPAGE);
	*(struct trc_shared *)s->copy = *h;
	*out = s;
	return 0;
}

static int take_streams(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	int err = look_at_clock(s);

	for (int i = 0; !err && i < TAKES_MAX; i++) {
		err = trc_snapshot_copy_slots(s, source);
		/* The cut comes first, and then all that is copied is there up to it. */
		if (!s->options.dead)
			trc_clock_now_of((enum trc_clock_kind)s->h.clock, &s->cut);
		if (!err)
			err = trc_snapshot_copy_streams(s, source);
		note_now(s);
		if (!err && choose_window(s))
			break;
	}
	return err;
}

static int snapshot_take_from(struct trc_snapshot **out, struct trc_snapshot_source *source,
			      uint64_t file_bytes, const struct trc_snapshot_options *options,
			      const char **why)
{
	struct trc_shared h;
	struct trc_snapshot *s = NULL;
	int err = -EBADMSG;

	*why = "it is cut short";
	if (file_bytes >= sizeof(h))
		err = trc_snapshot_read(source, 0, &h, sizeof(h));
	if (err)
		return err;
	*why = header_trouble(&h, file_bytes);
	if (*why)
		return -EBADMSG;
	source->grown_off = h.threads_off;
	source->grown_limit = h.cells_off;
	err = snapshot_memory_take(&s, &h);
	if (err) {
		*why = "no memory for a copy";
		return err;
	}
	s->options = *options;
	err = take_streams(s, source);
	if (!err)
		err = trc_snapshot_copy_tables(s, source);
	if (err) {
		*why = err == -ENOTSUP ? "its clock is not this machine's" : "it is cut short";
		trc_snapshot_free(s);
		return -EBADMSG;
	}
	*out = s;
	return 0;
}

int trc_snapshot_take(struct trc_snapshot **out, const struct trc_shared *shared,
		      uint64_t mapped_bytes, const struct trc_snapshot_options *options,
		      const char **why)
{
	struct trc_snapshot_source source = {.mapping = (const char *)shared, .fd = -1};

	return snapshot_take_from(out, &source, mapped_bytes, options, why);
}

int trc_snapshot_take_file(struct trc_snapshot **out, int fd,
			   const struct trc_snapshot_options *options, const char **why)
{
	struct trc_snapshot_source source = {.fd = fd};
	uint64_t file_bytes, held_bytes;
	struct stat st;

	if (fstat(fd, &st)) {
		*why = "it cannot be looked at";
		return -EBADMSG;
	}
	file_bytes = (uint64_t)st.st_size;
	held_bytes = (uint64_t)st.st_blocks * 512;
	if (file_bytes > HOLES_BYTES_MAX && file_bytes / PACKED_MAX > held_bytes) {
		*why = "it claims to be larger than what it holds";
		return -EBADMSG;
	}
	return snapshot_take_from(out, &source, file_bytes, options, why);
}

void trc_snapshot_free(struct trc_snapshot *s)
{
	if (!s)
		return;
	trc_pages_unmap(s->copy, s->h.total_bytes + TRC_SNAPSHOT_SCRATCH_BYTES);
	trc_pages_unmap(s, s->memory_bytes);
}

const struct trc_shared *trc_snapshot_header(const struct trc_snapshot *s)
{
	return s->copy;
}

void trc_snapshot_window(const struct trc_snapshot *s, uint64_t *from, uint64_t *cut)
{
	*from = s->from;
	*cut = s->cut;
}

void trc_snapshot_totals(const struct trc_snapshot *s, struct trc_drain_totals *totals)
{
	*totals = s->totals;
}
