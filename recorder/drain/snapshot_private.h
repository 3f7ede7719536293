/* snapshot_private.h - declarations that copying, choosing the window and writing share. */
#ifndef TRC_RECORDER_DRAIN_SNAPSHOT_PRIVATE_H
#define TRC_RECORDER_DRAIN_SNAPSHOT_PRIVATE_H

#include "snapshot.h"

/* Which labels a slot's thread had, and which fiber it ran, before the cut. */
struct trc_snapshot_slot {
	uint64_t labels, fiber, fiber_name;
	uint32_t serial; /* 0 = the slot was no thread's */
};

/*
 * The copy has the layout of the mapping that it was made of.  In the copy,
 *
 *   snapshot_private:P1  a ring that is of no use has the state TRC_RING_EMPTY.  In any other ring
 *       [tail, head) are the words that were copied whole, and tail is where a page begins
 *   snapshot_private:P2  in the overflow stream [tail, head) are the cells that no thread wrote to
 *       after the copy of an earlier lap was made
 *   snapshot_private:P3  slots, modules and entries of tables are whole, or free
 *   snapshot_private:P4  a slot's labels and fiber are those that its thread had before the cut.
 *       The slot's other members were read later, when the thread ran the fiber of regions_fiber[]
 */
struct trc_snapshot {
	struct trc_shared h; /* checked */
	struct trc_shared *copy;
	struct trc_snapshot_options options;
	struct trc_sync_point sync; /* a reading at the time of the copy */
	bool has_sync;		    /* the clock is this machine's, and still runs */
	uint64_t now;		    /* ticks; nothing in the copy is later */
	uint64_t from, cut;
	uint64_t *held; /* [n_procs]: time of the oldest record; 0 = all since its birth */
	uint64_t held_cells;
	struct trc_snapshot_slot *before_cut; /* [n_threads]: P4 */
	uint64_t *regions_fiber;	      /* [n_threads]: P4 */
	trc_wait_find_fn *wait_find;
	void *wait_find_context;
	struct trc_drain_totals totals;
	uint64_t memory_bytes; /* of this structure and the arrays behind it */
};

/* What lies behind the copy, for copying tables. */
enum { TRC_SNAPSHOT_SCRATCH_BYTES = 144 << 10 };

/* A mapping, or a file that its process may cut short while it is read. */
struct trc_snapshot_source {
	const char *mapping; /* NULL: the file */
	int fd;
	uint64_t grown_off, grown_limit; /* where layout:L5 holds */
};

/* ---- snapshot_copy.c ---- */

/* Copies n_bytes from offset `off`, before anything that a later call reads.  0 or -EBADMSG. */
int trc_snapshot_read(const struct trc_snapshot_source *source, uint64_t off, void *to,
		      uint64_t n_bytes);
/* Copies the slots of threads, and notes which labels they have and which fibers they run before
 * the cut.  0 or -errno. */
int trc_snapshot_copy_slots(struct trc_snapshot *s, const struct trc_snapshot_source *source);
/* Copies rings and overflow stream; a second call copies them again. 0 or -errno. */
int trc_snapshot_copy_streams(struct trc_snapshot *s, const struct trc_snapshot_source *source);
/* Copies everything else, after the records that refer to it (layout:L4). */
int trc_snapshot_copy_tables(struct trc_snapshot *s, const struct trc_snapshot_source *source);

static inline uint64_t trc_snapshot_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline struct trc_ring *trc_snapshot_ring(const struct trc_snapshot *s, uint32_t proc)
{
	return (struct trc_ring *)trc_area(s->copy, s->h.procs_off) + proc;
}

static inline struct trc_overflow *trc_snapshot_overflow(const struct trc_snapshot *s)
{
	return trc_area(s->copy, s->h.overflow_off);
}

static inline const uint64_t *trc_snapshot_words(const struct trc_snapshot *s, uint32_t proc)
{
	return (const uint64_t *)trc_area(s->copy, s->h.data_off) + proc * s->h.ring_words;
}

#endif
