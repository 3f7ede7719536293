/*
 * starts.c - threads that found no slot: only the event of their start tells their kernel's id.
 *
 * Streams are drained one after the other: an event that names such a thread by its id may be
 * drained before the thread's start.  So a pass that may have new starts searches for the starts
 * first.
 */
#include "private.h"

enum {
	HEAD_WORDS = 2,
	TID_WORD = HEAD_WORDS + TRC_ARG_INDEX(thread_start, tid),
	START_WORDS = TID_WORD + 1,
};

static uint64_t word_at(const struct trc_drain *d, uint32_t proc, uint64_t pos)
{
	const _Atomic uint64_t *data = trc_area(d->shared, d->h.data_off);

	/* relaxed: committed before the head that this pass has seen. */
	return atomic_load_explicit(&data[proc * d->h.ring_words + (pos & (d->h.ring_words - 1))],
				    memory_order_relaxed);
}

/* From r->pos on.  What is damaged is told when it is drained. */
static void ring_starts(struct trc_drain *d, uint32_t proc)
{
	const struct trc_drain_ring *r = &d->ring[proc];
	uint64_t page_words = d->h.page_words, pos = r->pos, n_words, first, head;

	for (; pos + START_WORDS <= r->head; pos += n_words) {
		first = word_at(d, proc, pos);
		head = word_at(d, proc, pos + 1);
		n_words = TRC_REC_WORDS(head);
		if (!first || n_words < HEAD_WORDS) { /* R7 */
			n_words = page_words - pos % page_words;
			continue;
		}
		if (TRC_REC_KIND(head) == TRC_KIND_THREAD_START && n_words >= START_WORDS)
			trc_drain_tid_enter(d, (uint32_t)word_at(d, proc, pos + TID_WORD),
					    trc_drain_serial(d, TRC_REC_SERIAL(head)), first, 0);
	}
}

void trc_drain_starts(struct trc_drain *d)
{
	/* relaxed: a thread that counts itself now has its start in the next pass. */
	uint32_t full = atomic_load_explicit(&d->shared->slots_full, memory_order_relaxed);
	bool look = full != d->slots_full_before; /* one that had, in this */

	d->slots_full_before = d->slots_full;
	d->slots_full = full;
	if (!look)
		return;
	for (uint32_t i = 0; i < d->h.n_procs; i++)
		if (d->ring[i].pos >= d->ring[i].skip_to &&
		    d->ring[i].head - d->ring[i].pos <= d->h.ring_words)
			ring_starts(d, i);
}
