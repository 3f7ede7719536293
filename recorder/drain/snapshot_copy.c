/*
 * snapshot_copy.c - copies everything from a mapping that others go on writing to, as fast as
 * memory allows: looks at no word without need.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "recorder/shared/copy_racing.h"
#include "recorder/shared/slot_look.h"
#include "private.h"
#include "format/raw.h"
#include "snapshot_private.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
	READ_BYTES_MAX = 16 << 20,
	PIECE_WORDS = (2 << 20) / 8,
	CHUNK_ENTRIES = 128,
	OPEN_CELLS_NS = 10000000, /* layout:O3 */
	OPEN_CELLS_STEP_NS = 250000,
};

/* Never reached: a position that no ring gets to in the life of a machine. */
#define POSITION_MAX (UINT64_C(1) << 62)

/* ---- reading --------------------------------------------------------------------------- */

/* The kernel copies aligned words in one piece. */
static int file_copy(int fd, uint64_t off, char *to, uint64_t n_bytes)
{
	while (n_bytes) {
		uint64_t n = n_bytes < READ_BYTES_MAX ? n_bytes : READ_BYTES_MAX;
		long got = trc_raw4(SYS_pread64, fd, to, n, off);

		if (got == -EINTR)
			continue;
		if (got <= 0)
			return -EBADMSG;
		off += (uint64_t)got;
		to += got;
		n_bytes -= (uint64_t)got;
	}
	return 0;
}

/* What was never written to is not looked at (layout:L5). */
static void copy_grown(const struct trc_snapshot_source *source, uint64_t off, char *to,
		       uint64_t n_bytes)
{
	struct trc_shared *shared = (struct trc_shared *)(uintptr_t)source->mapping;

	while (n_bytes) {
		uint64_t n = TRC_AREA_BYTES - off % TRC_AREA_BYTES;

		n = n < n_bytes ? n : n_bytes;
		if (trc_page_is_grown(shared, off / TRC_AREA_BYTES))
			trc_copy_racing(to, source->mapping + off, n);
		else
			memset(to, 0, n);
		off += n;
		to += n;
		n_bytes -= n;
	}
}

int trc_snapshot_read(const struct trc_snapshot_source *source, uint64_t off, void *to,
		      uint64_t n_bytes)
{
	int err = 0;

	if (source->mapping && off >= source->grown_off && off < source->grown_limit)
		copy_grown(source, off, to, n_bytes);
	else if (source->mapping)
		trc_copy_racing(to, source->mapping + off, n_bytes);
	else
		err = file_copy(source->fd, off, to, n_bytes);
	/* acquire fence: later reads come later.  Pairs with the releases that commit records and
	 * publish entries (read first, then what they stand for), and with the barriers before
	 * words are overwritten (copied first, then floor, keys and counters again). */
	atomic_thread_fence(memory_order_acquire);
	return err;
}

/* The same bytes of the copy. */
static int copy_area(struct trc_snapshot *s, const struct trc_snapshot_source *source, uint64_t off,
		     uint64_t n_bytes)
{
	return trc_snapshot_read(source, off, trc_area(s->copy, off), n_bytes);
}

/* ---- rings ----------------------------------------------------------------------------- */

_Static_assert(CHUNK_ENTRIES *(sizeof(struct trc_entry_head) + 8 * TRC_STACK_DEPTH_MAX) <=
		       TRC_SNAPSHOT_SCRATCH_BYTES,
	       "a chunk of the largest entries fits");

#define LOAD(field)	    atomic_load_explicit(&(field), memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

static uint64_t page_at_least(const struct trc_snapshot *s, uint64_t pos)
{
	return (pos + s->h.page_words - 1) & ~(uint64_t)(s->h.page_words - 1);
}

/* Makes room in one step instead of one fault per page, where the kernel can; if not, there is one
 * fault per page. */
static void populate(struct trc_snapshot *s, uint64_t off, uint64_t n_bytes)
{
	uint64_t start = off & ~(uint64_t)(TRC_AREA_BYTES - 1);

	trc_raw3(SYS_madvise, trc_area(s->copy, start), off - start + n_bytes, MADV_POPULATE_WRITE);
}

/* Words [pos, head) of the ring, piece by piece. */
static int snapshot_copy_words(struct trc_snapshot *s, const struct trc_snapshot_source *source,
			       uint32_t proc, uint64_t pos, uint64_t head)
{
	uint64_t words = s->h.ring_words;
	uint64_t off = s->h.data_off + proc * words * 8;
	int err = 0;

	while (!err && pos < head) {
		uint64_t at = pos & (words - 1);
		uint64_t n = head - pos < words - at ? head - pos : words - at;

		if (n > PIECE_WORDS)
			n = PIECE_WORDS;
		populate(s, off + at * 8, n * 8);
		err = copy_area(s, source, off + at * 8, n * 8);
		pos += n;
	}
	return err;
}

/* Where reading can begin, if the words below `floor` are gone (R5): snapshot_private:P1. */
static uint64_t ring_start(const struct trc_snapshot *s, uint64_t head, uint64_t floor)
{
	uint64_t start = head > s->h.ring_words ? head - s->h.ring_words : 0;

	if (start < floor)
		start = floor;
	start = start < head ? page_at_least(s, start) : head;
	return start < head ? start : head;
}

static int copy_ring(struct trc_snapshot *s, const struct trc_snapshot_source *source,
		     uint32_t proc)
{
	struct trc_ring *ring = trc_snapshot_ring(s, proc);
	uint64_t off = s->h.procs_off + proc * sizeof(*ring);
	uint64_t head, floor = 0, start;
	/* The fence of the read makes it an acquire of state and head (layout:L2, R2, R3). */
	int err = copy_area(s, source, off, sizeof(*ring));

	head = LOAD(ring->head);
	if (err || LOAD(ring->state) != TRC_RING_READY || head > POSITION_MAX) {
		STORE(ring->state, TRC_RING_EMPTY);
		return err;
	}
	start = ring_start(s, head, LOAD(ring->floor));
	err = snapshot_copy_words(s, source, proc, start, head);
	if (!err)
		err = trc_snapshot_read(source, off + offsetof(struct trc_ring, floor), &floor, 8);
	if (start < floor)
		start = ring_start(s, head, floor);
	STORE(ring->tail, start);
	return err;
}

/* ---- the overflow stream --------------------------------------------------------------- */

static uint64_t cell_off(const struct trc_snapshot *s, uint64_t position)
{
	return s->h.cells_off + (position & (s->h.n_cells - 1)) * sizeof(struct trc_cell);
}

static bool is_committed(const struct trc_cell *cell, uint64_t position)
{
	uint64_t commit = LOAD(cell->commit);
	uint64_t word[7];

	memcpy(word, (const void *)cell->word, sizeof(word));
	return commit == trc_cell_commit(position, 1, word) ||
	       commit == trc_cell_commit(position, 0, word);
}

/* Looks again at the cell, which was not committed: true if it is now. */
static bool copy_cell_again(struct trc_snapshot *s, const struct trc_snapshot_source *source,
			    uint64_t position)
{
	struct trc_cell cell;

	if (trc_snapshot_read(source, cell_off(s, position), &cell, sizeof(cell)) ||
	    !is_committed(&cell, position))
		return false;
	memcpy(trc_area(s->copy, cell_off(s, position)), &cell, sizeof(cell));
	return true;
}

/* The threads that reserved these cells are in the middle of filling them in: a moment more, and
 * they will have (layout:O3). */
static void wait_for_cells(struct trc_snapshot *s, const struct trc_snapshot_source *source,
			   uint64_t pos, uint64_t head)
{
	struct timespec step = {0, OPEN_CELLS_STEP_NS};

	for (uint64_t waited_ns = 0; pos < head; pos++) {
		const struct trc_cell *cell = trc_area(s->copy, cell_off(s, pos));

		if (is_committed(cell, pos))
			continue;
		while (!copy_cell_again(s, source, pos) && waited_ns < OPEN_CELLS_NS) {
			trc_raw2(SYS_nanosleep, &step, 0);
			waited_ns += OPEN_CELLS_STEP_NS;
		}
	}
}

static int copy_cells(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	struct trc_overflow *o = trc_snapshot_overflow(s);
	uint64_t n = s->h.n_cells, head, start, head_now = 0;
	int err = copy_area(s, source, s->h.overflow_off, sizeof(*o));

	head = LOAD(o->head);
	if (err || head > POSITION_MAX)
		head = 0;
	start = head > n ? head - n : 0;
	for (uint64_t pos = start; !err && pos < head;) {
		uint64_t at = pos & (n - 1);
		uint64_t n_cells = head - pos < n - at ? head - pos : n - at;

		err = copy_area(s, source, cell_off(s, pos), n_cells * sizeof(struct trc_cell));
		pos += n_cells;
	}
	if (!err)
		err = trc_snapshot_read(source, s->h.overflow_off, &head_now, 8);
	/* layout:O5, for the cells that were reserved while we copied. */
	if (head_now > n && head_now - n > start)
		start = head_now - n < head ? head_now - n : head;
	if (!err && !s->options.dead)
		wait_for_cells(s, source, start, head);
	/* How many of its losses a drain told of, it does not say. */
	if (LOAD(o->tail))
		STORE(o->lost_total, LOAD(o->lost_since) ? 1 : 0);
	STORE(o->head, head);
	STORE(o->tail, start);
	return err;
}

int trc_snapshot_copy_streams(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->h.n_procs; i++)
		err = copy_ring(s, source, i);
	return err ? err : copy_cells(s, source);
}

/* ---- tables ---------------------------------------------------------------------------- */

/*
 * layout:T2, for many entries at once: the keys are read again after the content.  Before it is not
 * needed: what a copied record or slot cites was published before that was copied (layout:L4).
 */
static int copy_entries(struct trc_snapshot *s, const struct trc_snapshot_source *source,
			uint64_t off, uint64_t n_entries, size_t entry_bytes)
{
	char *again = trc_area(s->copy, s->h.total_bytes); /* behind the copy */
	int err = 0;

	while (!err && n_entries) {
		uint64_t n = n_entries < CHUNK_ENTRIES ? n_entries : CHUNK_ENTRIES;
		char *here = trc_area(s->copy, off);

		err = trc_snapshot_read(source, off, here, n * entry_bytes);
		if (!err)
			err = trc_snapshot_read(source, off, again, n * entry_bytes);
		for (uint64_t i = 0; i < n; i++) {
			struct trc_entry_head *e = (void *)(here + i * entry_bytes);
			struct trc_entry_head *a = (void *)(again + i * entry_bytes);

			if (!trc_key_same(LOAD(a->key), LOAD(e->key)))
				STORE(e->key, 0);
		}
		off += n * entry_bytes;
		n_entries -= n;
	}
	return err;
}

static int copy_interned(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	uint64_t off = s->h.stacks_off;
	int err = 0;

	for (unsigned int c = 0; !err && c < TRC_STACK_CLASSES; c++) {
		uint64_t n = (uint64_t)s->h.stack_sets[c] * TRC_SET_WAYS;

		err = copy_entries(s, source, off, n, trc_stack_entry_bytes(c));
		off += n * trc_stack_entry_bytes(c);
	}
	off = s->h.strings_off;
	for (unsigned int c = 0; !err && c < TRC_STRING_CLASSES; c++) {
		uint64_t n = (uint64_t)s->h.string_sets[c] * TRC_SET_WAYS;

		err = copy_entries(s, source, off, n, trc_string_entry_bytes(c));
		off += n * trc_string_entry_bytes(c);
	}
	off = s->h.labels_off;
	for (unsigned int c = 0; !err && c < TRC_LABELS_CLASSES; c++) {
		uint64_t n = (uint64_t)s->h.label_sets[c] * TRC_SET_WAYS;

		err = copy_entries(s, source, off, n, trc_labels_entry_bytes(c));
		off += n * trc_labels_entry_bytes(c);
	}
	return err;
}

/* Once more, until nothing changed meanwhile; a thread that was stopped in the middle of a change
 * is taken as it stands. */
static int copy_slot(struct trc_snapshot *s, const struct trc_snapshot_source *source, uint64_t off)
{
	struct trc_slot *slot = trc_area(s->copy, off);
	int err = 0;

	for (int i = 0; !err && i < TRC_SLOT_TRIES; i++) {
		uint64_t before, after; /* state and seq, in one word */

		err = trc_snapshot_read(source, off, &before, 8);
		if (!err)
			err = copy_area(s, source, off, sizeof(*slot));
		if (!err)
			err = trc_snapshot_read(source, off, &after, 8);
		if (!err && before == after && !(LOAD(slot->seq) & 1))
			break;
	}
	return err;
}

static int copy_slots(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	uint64_t off = s->h.threads_off;
	int err = copy_area(s, source, off, s->h.n_threads * sizeof(struct trc_slot));

	for (uint32_t i = 0; !err && i < s->h.n_threads; i++, off += sizeof(struct trc_slot)) {
		const struct trc_slot *slot = trc_area(s->copy, off);

		if (LOAD(slot->state) != TRC_SLOT_FREE)
			err = copy_slot(s, source, off);
	}
	return err;
}

/* Entries that were taken by other modules meanwhile are nobody's in the window (layout:X2). */
static int drop_changed_modules(struct trc_snapshot *s, const struct trc_snapshot_source *source,
				uint32_t n)
{
	struct trc_module_slot *seen = trc_area(s->copy, s->h.modules_off);
	uint64_t off = s->h.modules_off;
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++, off += sizeof(*seen)) {
		uint32_t now[2];

		if (TRC_MODULE_STATE(LOAD(seen[i].state)) != TRC_MODULE_READY)
			continue;
		err = trc_snapshot_read(source, off, now, sizeof(now));
		if (now[0] != LOAD(seen[i].state))
			STORE(seen[i].state, TRC_MODULE_FREE);
	}
	return err;
}

/* Each is whole, as it was at some time (layout:X1). */
static int copy_modules(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	const struct trc_module_slot *seen = trc_area(s->copy, s->h.modules_off);
	uint64_t off = s->h.modules_off;
	uint32_t n = LOAD(s->copy->n_modules_used);
	int err = copy_area(s, source, off, s->h.n_modules * sizeof(*seen));

	if (n > s->h.n_modules)
		n = s->h.n_modules;
	for (uint32_t i = 0; !err && i < n; i++, off += sizeof(*seen))
		if (TRC_MODULE_STATE(LOAD(seen[i].state)) == TRC_MODULE_READY)
			err = copy_area(s, source, off, sizeof(*seen));
	if (!err)
		err = copy_area(s, source, s->h.epochs_off,
				s->h.n_epochs * sizeof(struct trc_epoch_slot));
	if (!err)
		err = copy_area(s, source, s->h.heap_off, s->h.heap_bytes);
	return err ? err : drop_changed_modules(s, source, n);
}

/* The counters in the header, behind what was checked; a crash block that is not complete is none.
 */
static int copy_counters(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	uint64_t off = offsetof(struct trc_shared, next_serial);
	uint64_t crash_off = offsetof(struct trc_shared, crash);
	uint32_t crash_state;
	int err = copy_area(s, source, off, sizeof(s->h) - off);

	crash_state = LOAD(s->copy->crash.state);
	if (!err)
		err = copy_area(s, source, crash_off, sizeof(s->h.crash));
	STORE(s->copy->crash.state, crash_state);
	return err;
}

int trc_snapshot_copy_slots(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	int err = copy_slots(s, source);

	for (uint32_t i = 0; !err && i < s->h.n_threads; i++) {
		const struct trc_slot *slot = trc_slot_at(s->copy, i);
		uint32_t state = LOAD(slot->state);
		bool is_thread = state == TRC_SLOT_LIVE || state == TRC_SLOT_ENDED;

		s->before_cut[i] = (struct trc_snapshot_slot){
			.labels = LOAD(slot->labels),
			.fiber = LOAD(slot->fiber),
			.fiber_name = LOAD(slot->fiber_name),
			.serial = is_thread ? LOAD(slot->serial) : 0,
		};
	}
	return err;
}

/* snapshot_private:P4.  A thread that has come since has events that tell. */
static void restore_from_before_cut(struct trc_snapshot *s)
{
	const struct trc_snapshot_slot nothing = {0};

	for (uint32_t i = 0; i < s->h.n_threads; i++) {
		struct trc_slot *slot = trc_slot_at(s->copy, i);
		const struct trc_snapshot_slot *before = &s->before_cut[i];

		if (before->serial != LOAD(slot->serial))
			before = &nothing;
		STORE(slot->labels, before->labels);
		STORE(slot->fiber, before->fiber);
		STORE(slot->fiber_name, before->fiber_name);
	}
}

static void note_regions_fibers(struct trc_snapshot *s)
{
	for (uint32_t i = 0; i < s->h.n_threads; i++)
		s->regions_fiber[i] = LOAD(trc_slot_at(s->copy, i)->fiber);
}

int trc_snapshot_copy_tables(struct trc_snapshot *s, const struct trc_snapshot_source *source)
{
	int err = copy_counters(s, source);

	if (!err)
		err = copy_slots(s, source);
	if (!err)
		note_regions_fibers(s);
	if (!err && !s->options.dead)
		restore_from_before_cut(s);
	if (!err)
		err = copy_interned(s, source);
	return err ? err : copy_modules(s, source);
}

void trc_snapshot_wait_find(struct trc_snapshot *s, trc_wait_find_fn *wait_find, void *context)
{
	s->wait_find = wait_find;
	s->wait_find_context = context;
}
