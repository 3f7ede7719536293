/*
 * overflow.c - the overflow stream: cells in order of position, which is order of time.
 *
 * A reservation that is never committed stops the stream at its first cell for 10 ms, or until its
 * owner is known to be gone; then it counts as one lost event (layout:O3).  If not even the claim
 * was stored, the reservation reaches to the next claimed cell.
 */
#include <errno.h>
#include "private.h"
#include "format/raw.h"

enum {
	CELL_WORDS = 7,
	CELL_SIZE_WORDS = sizeof(struct trc_cell) / 8,
	FIRST_WORDS = 6,
	CELLS_MAX = 1 + (TRC_REC_WORDS_MAX - FIRST_WORDS + CELL_WORDS - 1) / CELL_WORDS,
	STUCK_NS = 10000000,
};

enum cell_kind { CELL_OPEN, CELL_FIRST, CELL_MORE };

static struct trc_cell *cell_at(const struct trc_drain *d, uint64_t position)
{
	struct trc_cell *cells = trc_area(d->shared, d->h.cells_off);

	return &cells[position & (d->h.n_cells - 1)];
}

/* Copies the cell and tells what it is (layout:O1). */
static enum cell_kind cell_read(const struct trc_drain *d, uint64_t position,
				uint64_t word[CELL_WORDS])
{
	struct trc_cell *cell = cell_at(d, position);
	/* acquire: pairs with the release of the commit: a committed cell is complete. */
	uint64_t commit = atomic_load_explicit(&cell->commit, memory_order_acquire);

	for (int i = 0; i < CELL_WORDS; i++)
		word[i] = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
	if (commit == trc_cell_commit(position, 1, word))
		return CELL_FIRST;
	return commit == trc_cell_commit(position, 0, word) ? CELL_MORE : CELL_OPEN;
}

/* True if `claim` was made for this position (layout:O2). */
static bool claim_is_valid(const struct trc_drain *d, uint64_t claim, uint64_t position,
			   uint64_t head)
{
	uint32_t n = TRC_CLAIM_CELLS(claim);

	return TRC_CLAIM_TID(claim) && n >= 1 && n <= CELLS_MAX && n <= head - position &&
	       TRC_CLAIM_PROC(claim) < d->h.n_procs &&
	       TRC_CLAIM_LAP(claim) == ((position / d->h.n_cells) & 0xff);
}

static bool owner_is_gone(const struct trc_drain *d, uint64_t claim)
{
	return d->options.pid &&
	       trc_raw3(SYS_tgkill, d->options.pid, TRC_CLAIM_TID(claim), 0) == -ESRCH;
}

static void overflow_skip(struct trc_drain *d, uint64_t n_cells, enum trc_gap_cause cause)
{
	trc_drain_gap(d, &d->cells.stream, 1, 0, cause);
	d->cells.pos += n_cells;
	d->cells.stuck_since_ns = 0;
}

/* How many cells belong to a reservation without a claim: up to the next one with. */
static uint64_t unclaimed_cells(const struct trc_drain *d, uint64_t limit)
{
	uint64_t position = d->cells.pos + 1;
	uint64_t word[CELL_WORDS];

	for (; position < limit; position++)
		if (cell_read(d, position, word) == CELL_FIRST ||
		    claim_is_valid(d, word[0], position, limit))
			break;
	return position - d->cells.pos;
}

/* The cell at pos is not committed.  True if it was given up, false: come back later. */
static bool give_up(struct trc_drain *d, uint64_t claim, uint64_t head)
{
	struct trc_drain_cells *c = &d->cells;
	uint64_t now_ns = trc_drain_raw_ns();

	if (!c->stuck_since_ns) {
		c->stuck_since_ns = now_ns;
		c->stuck_head = head;
	}
	if (claim_is_valid(d, claim, c->pos, head)) {
		if (!d->final && now_ns - c->stuck_since_ns < STUCK_NS && !owner_is_gone(d, claim))
			return false;
		overflow_skip(d, TRC_CLAIM_CELLS(claim), TRC_GAP_UNCOMMITTED);
		return true;
	}
	if (!d->final && now_ns - c->stuck_since_ns < STUCK_NS)
		return false;
	overflow_skip(d, unclaimed_cells(d, d->final ? head : c->stuck_head), TRC_GAP_UNCOMMITTED);
	return true;
}

/* The record whose first cell is in word[0..7): all of it, or 0 if a cell is still open. */
static uint32_t gather(const struct trc_drain *d, uint32_t n_cells, uint64_t *word)
{
	for (uint32_t i = 1; i < n_cells; i++)
		if (cell_read(d, d->cells.pos + i, word + i * CELL_WORDS) != CELL_MORE)
			return 0;
	return n_cells * CELL_WORDS - 1;
}

/* One step at pos < head.  False: nothing more to be done in this pass. */
static bool overflow_step(struct trc_drain *d, uint64_t head)
{
	struct trc_drain_cells *c = &d->cells;
	uint64_t word[CELLS_MAX * CELL_WORDS];
	uint64_t claim;
	uint32_t n_words;

	switch (cell_read(d, c->pos, word)) {
	case CELL_OPEN:
		return give_up(d, word[0], head);
	case CELL_MORE:
		if (c->lost_begin) { /* of a record whose beginning was overwritten */
			c->pos++;
			return true;
		}
		d->totals.damaged++;
		overflow_skip(d, unclaimed_cells(d, head), TRC_GAP_DAMAGED);
		return true;
	case CELL_FIRST:
		c->lost_begin = false;
		break;
	}
	claim = word[0];
	if (!claim_is_valid(d, claim, c->pos, head)) {
		d->totals.damaged++;
		overflow_skip(d, 1, TRC_GAP_DAMAGED);
		return true;
	}
	n_words = gather(d, TRC_CLAIM_CELLS(claim), word);
	if (!n_words)
		return give_up(d, claim, head);
	c->stream.proc = TRC_CLAIM_PROC(claim);
	if (!trc_drain_record(d, &c->stream, word + 1, n_words)) {
		d->totals.damaged++;
		overflow_skip(d, 0, TRC_GAP_DAMAGED);
	}
	c->pos += TRC_CLAIM_CELLS(claim);
	c->stuck_since_ns = 0;
	return true;
}

/*
 * Threads that found no room leave a count only: nothing tells in the stream itself.  What was in
 * their way lies below cells_head, and what comes after their loss begins where this pass looked:
 * that is where the gap belongs, once all before it is drained.
 */
static void tell_overflow_losses(struct trc_drain *d, struct trc_overflow *o)
{
	struct trc_drain_stream *s = &d->cells.stream;
	uint64_t since;

	if (d->cells_lost <= s->lost_seen || d->cells.pos != d->cells_head ||
	    d->windowed) /* there, at the end: trc_drain_copy_finish() */
		return;
	/* relaxed: it was stored before the count that was seen. */
	since = d->options.follow
			? atomic_load_explicit(&o->lost_since, memory_order_relaxed)
			: atomic_exchange_explicit(&o->lost_since, 0, memory_order_relaxed);
	if (s->last_time < d->looked)
		s->last_time = d->looked;
	trc_drain_gap(d, s, d->cells_lost - s->lost_seen, since, TRC_GAP_RING_FULL);
	s->lost_seen = d->cells_lost;
}

uint64_t trc_drain_overflow(struct trc_drain *d)
{
	struct trc_overflow *o = trc_area(d->shared, d->h.overflow_off);
	struct trc_drain_cells *c = &d->cells;
	uint64_t events = d->totals.events;
	uint64_t head = d->cells_head, pos;

	if (head - c->pos > d->h.n_cells) { /* nobody held it back: not while somebody drains */
		d->totals.damaged += !d->options.follow;
		d->totals.overwritten_words += (head - d->h.n_cells - c->pos) * CELL_SIZE_WORDS;
		c->pos = head - d->h.n_cells;
		c->lost_begin = true;
		overflow_skip(d, 0, TRC_GAP_OVERWRITTEN);
	}
	pos = c->pos;
	while (c->pos != head && overflow_step(d, head))
		;
	d->totals.read_words += (c->pos - pos) * CELL_SIZE_WORDS;
	tell_overflow_losses(d, o);
	if (!d->windowed && !d->options.follow &&
	    c->pos != atomic_load_explicit(&o->tail, memory_order_relaxed)) {
		/* seq_cst: the tail, then waiters (trc_wait_for_room() does the opposite); and
		 * as a release: we are done with the cells. */
		atomic_store_explicit(&o->tail, c->pos, memory_order_seq_cst);
		trc_drain_wake(&o->waiters, &o->space);
	}
	return d->totals.events - events;
}
