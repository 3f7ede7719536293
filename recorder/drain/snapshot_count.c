/* snapshot_count.c - how much a snapshot holds, without writing it. */
#include "snapshot_private.h"

/* The records that begin in word[0..n), which ends where the page does, or at head. */
static uint64_t count_words(const uint64_t *word, uint64_t n)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i + 1 < n && word[i]; count++) {
		uint32_t n_words = TRC_REC_WORDS(word[i + 1]);

		if (n_words < 2 || n_words > n - i)
			break; /* damaged: as in the drain, it costs the rest of its page */
		i += n_words;
	}
	return count;
}

static uint64_t count_ring(const struct trc_snapshot *s, uint32_t proc)
{
	const struct trc_ring *ring = trc_snapshot_ring(s, proc);
	const uint64_t *data = trc_snapshot_words(s, proc);
	/* relaxed: the copy is nobody else's. */
	uint64_t pos = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), count = 0;

	while (pos < head) {
		uint64_t end = (pos | (s->h.page_words - 1)) + 1;

		end = end < head ? end : head;
		count += count_words(data + (pos & (s->h.ring_words - 1)), end - pos);
		pos = end;
	}
	return count;
}

static uint64_t count_cells(const struct trc_snapshot *s)
{
	const struct trc_overflow *o = trc_snapshot_overflow(s);
	const struct trc_cell *cells = trc_area(s->copy, s->h.cells_off);
	uint64_t pos = atomic_load_explicit(&o->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&o->head, memory_order_relaxed), count = 0;

	for (; pos < head; pos++) {
		const struct trc_cell *cell = &cells[pos & (s->h.n_cells - 1)];
		uint64_t word[7];

		for (int i = 0; i < 7; i++)
			word[i] = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
		count += atomic_load_explicit(&cell->commit, memory_order_relaxed) ==
			 trc_cell_commit(pos, 1, word);
	}
	return count;
}

/* Events per second of a stream that holds so many since a time; 0 = since its birth. */
static uint64_t rate(const struct trc_snapshot *s, uint64_t events, uint64_t since)
{
	uint64_t begin = since > s->h.start.ticks ? since : s->h.start.ticks;

	if (s->cut <= begin)
		return 0;
	return (uint64_t)((unsigned __int128)events * s->h.ticks_per_second / (s->cut - begin));
}

void trc_snapshot_rate(const struct trc_snapshot *s, uint64_t *events_per_second,
		       uint64_t *lost_events)
{
	*events_per_second = rate(s, count_cells(s), s->held_cells);
	*lost_events =
		atomic_load_explicit(&trc_snapshot_overflow(s)->lost_total, memory_order_relaxed);
	for (uint32_t i = 0; i < s->h.n_procs; i++) {
		const struct trc_ring *ring = trc_snapshot_ring(s, i);

		*lost_events += atomic_load_explicit(&ring->lost_total, memory_order_relaxed);
		if (atomic_load_explicit(&ring->state, memory_order_relaxed) == TRC_RING_READY)
			*events_per_second += rate(s, count_ring(s, i), s->held[i]);
	}
}
