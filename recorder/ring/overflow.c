/*
 * overflow.c - the stream for threads that cannot use a proc's ring: no rseq, or sequences that
 * never complete.  Plain C atomics throughout, so that the thread sanitizer sees it all.
 */
#include <sched.h>
#include <string.h>
#include "rec.h"
#include "recorder/unwind/poison.h"

enum { FIRST_WORDS = 6, CELL_WORDS = 7, CHUNK_CELLS = 1024 };
#define MARK_PAGES ((UINT64_C(1) << 40) - 1)

static uint32_t cells_for(uint32_t words)
{
	return words <= FIRST_WORDS ? 1 : 1 + (words - FIRST_WORDS + CELL_WORDS - 1) / CELL_WORDS;
}

/* By the mapping that the writer began with: another session's may have other sizes. */
static struct trc_overflow *overflow_of(struct trc_shared *shared)
{
	return trc_area(shared, shared->overflow_off);
}

/* As in ring.c: the tables' epoch ends when the cells have all been overwritten in it (layout:T3).
 * The mark counts in halves of the cells; n_cells is at least 2. */
static void overflow_epoch_step(struct trc_shared *shared, uint64_t head)
{
	struct trc_overflow *o = overflow_of(shared);
	/* acquire: what was reserved when the epoch began lies below the mark. */
	uint64_t epoch = atomic_load_explicit(&shared->table_epoch, memory_order_acquire);
	uint64_t mark = atomic_load_explicit(&o->epoch_mark, memory_order_relaxed);
	uint64_t here;

	if (mark >> 40 == (epoch & 0xffffff) &&
	    head / (shared->n_cells / 2) <= (mark & MARK_PAGES) + 2)
		return;
	head = atomic_load_explicit(&o->head, memory_order_relaxed);
	here = TRC_EPOCH_MARK(epoch, head / (shared->n_cells / 2));
	if (mark >> 40 != here >> 40)
		atomic_compare_exchange_strong_explicit(&o->epoch_mark, &mark, here,
							memory_order_relaxed, memory_order_relaxed);
	else if (here - mark > 2)
		/* release: pairs with the acquire above, of who marks the next epoch. */
		atomic_compare_exchange_strong_explicit(&shared->table_epoch, &epoch, epoch + 1,
							memory_order_release, memory_order_relaxed);
}

/* Gives the cells below `end` memory, in the first round, a chunk at a time. */
static bool cells_grow(struct trc_shared *shared, struct trc_overflow *o, uint64_t end)
{
	struct trc_cell *cell = trc_area(shared, shared->cells_off);
	/* acquire: pairs with the release below. */
	uint64_t ready = atomic_load_explicit(&o->ready_cells, memory_order_acquire);
	uint64_t next = (end + CHUNK_CELLS - 1) / CHUNK_CELLS * CHUNK_CELLS;

	if (end <= ready || ready >= shared->n_cells)
		return true;
	if (next > shared->n_cells)
		next = shared->n_cells;
	if (!trc_grow(shared, &cell[ready], (next - ready) * sizeof(*cell)))
		return false;
	/* release: pairs with the acquire above: the cells below `ready` have memory.  acquire: as
	 * above, of what another thread stored. */
	while (ready < next &&
	       !atomic_compare_exchange_weak_explicit(&o->ready_cells, &ready, next,
						      memory_order_release, memory_order_acquire))
		;
	return true;
}

/* Reserves `cells`; the clock is read between the load and the store of head (layout:O4). */
static bool reserve(struct trc_shared *shared, uint32_t cells, uint64_t *position, uint64_t *time)
{
	struct trc_overflow *o = overflow_of(shared);
	/* acquire: with the clock's barrier, the time is read after head. */
	uint64_t head = atomic_load_explicit(&o->head, memory_order_acquire);

	for (;;) {
		bool drained = trc_is_drained(shared);
		/* acquire: pairs with the drainer's release: it is done with those cells.  By
		 * now it may be beyond this head: then somebody has moved it. */
		uint64_t tail = atomic_load_explicit(&o->tail, memory_order_acquire);
		uint64_t used = head > tail ? head - tail : 0;

		if (trc_is_overwritten(shared))
			overflow_epoch_step(shared, head);
		if (!drained)
			; /* the oldest goes */
		else if (used > shared->n_cells / 2)
			trc_room_is_short(used, shared->n_cells, cells);
		else
			atomic_store_explicit(&o->dropping, 0, memory_order_relaxed);
		if (drained && (used + cells > shared->n_cells ||
				atomic_load_explicit(&o->dropping, memory_order_relaxed))) {
			if (!trc_wait_for_room(&o->dropping, &o->waiters, &o->space, &o->tail,
					       tail))
				return false;
			/* acquire: pairs with the acq_rel below: times go on from those of the cells below. */
			head = atomic_load_explicit(&o->head, memory_order_acquire);
			continue;
		}
		if (!cells_grow(shared, o, head + cells))
			return false;
		*time = trc_clock_ordered();
		*position = head;
		/* acq_rel: orders the reservations and the times that belong to them. */
		if (atomic_compare_exchange_weak_explicit(&o->head, &head, head + cells,
							  memory_order_acq_rel,
							  memory_order_acquire))
			return true;
	}
}

/* The words of a record one after the other, from its pieces. */
struct feed {
	uint64_t first[2];
	const struct trc_seg *seg;
	unsigned int n_segs;
	uint64_t at;
	int n_first;
};

static uint64_t feed_next(struct feed *f)
{
	uint64_t word = 0;

	if (f->n_first < 2)
		return f->first[f->n_first++];
	while (f->n_segs && f->at == f->seg->words) {
		f->seg++;
		f->n_segs--;
		f->at = 0;
	}
	if (f->n_segs)
		memcpy(&word, (const char *)f->seg->bytes + 8 * f->at++, sizeof(word));
	return word; /* beyond the record: zero (layout:O1) */
}

static void fill_cell(struct trc_cell *cell, uint64_t position, struct feed *f, uint64_t claim)
{
	uint64_t word[CELL_WORDS];
	int i = 0;

	if (claim)
		word[i++] = claim;
	for (; i < CELL_WORDS; i++)
		word[i] = feed_next(f);
	for (i = 0; i < CELL_WORDS; i++)
		atomic_store_explicit(&cell->word[i], word[i], memory_order_relaxed);
	/* release: pairs with the reader's acquire; a committed cell is complete (layout:O1). */
	atomic_store_explicit(&cell->commit, trc_cell_commit(position, claim != 0, word),
			      memory_order_release);
}

void trc_overflow_lost(void)
{
	struct trc_overflow *o = overflow_of(trc_rec.shared);

	trc_count_loss(&o->lost_total, &o->lost_since);
}

bool trc_overflow_record(uint64_t word1, const struct trc_seg *seg, unsigned int n_segs)
{
	struct trc_shared *shared = trc_rec.shared;
	struct trc_cell *cell = trc_area(shared, shared->cells_off);
	uint32_t cells = cells_for(TRC_REC_WORDS(word1));
	struct feed f = {{0, word1}, seg, n_segs, 0, 0};
	uint32_t mask = shared->n_cells - 1;
	uint64_t position, claim;
	int proc = sched_getcpu();

	if (!trc_self_is_of_session())
		return false;
	if (!reserve(shared, cells, &position, &f.first[0])) {
		trc_overflow_lost();
		return false;
	}
	claim = TRC_CLAIM(trc_self.tid, proc < 0 ? 0 : proc, position / shared->n_cells, cells);
	/* relaxed: layout:O2; a reader that meets the cell uncommitted checks the lap. */
	atomic_store_explicit(&cell[position & mask].word[0], claim, memory_order_relaxed);
	for (uint32_t i = 0; i < cells; i++)
		fill_cell(&cell[(position + i) & mask], position + i, &f, i ? 0 : claim);
	return true;
}
