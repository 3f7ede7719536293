/*
 * between.h - which rows of a table may lie in a part of the trace, without looking at all of them.
 *
 * Rows are sorted by start, but some last long: a search for the first row that begins in the part would miss these.  So
 * each block of rows has two times, noted once for each table of a model: when its first row begins, and when its last row
 * ends.  Blocks outside of the part are passed over.
 *
 *   between:W1  a row that is passed over has nothing in the part, not even on its edges.  Rows that are not
 *       passed over may have nothing in it either
 */
#ifndef TRC_ANALYZER_MODEL_BETWEEN_H
#define TRC_ANALYZER_MODEL_BETWEEN_H

#include "model.h"

enum trc_between_table {
	TRC_BETWEEN_PARKS, /* with when its waker acted, which may be before it began */
	TRC_BETWEEN_ON_CPU,
	TRC_BETWEEN_SAMPLES,
	TRC_BETWEEN_TASKS,
	TRC_BETWEEN_REGIONS,
	TRC_BETWEEN_LOGS,
	TRC_BETWEEN_COUNTERS,
	TRC_BETWEEN_HOLDS,
	TRC_BETWEEN_LATENCIES,
	TRC_BETWEEN_ALLOCS,
	TRC_BETWEEN_FIBER_WAITS,
	TRC_BETWEEN_UNLOCKS, /* from when the lock was taken, as far as that is known */
	TRC_BETWEEN_TABLES,
};

/* The first row from `i` on that may have something in from_ns..to_ns (W1); the table's length = there is none. */
size_t trc_between_next(const struct trc_model *m, enum trc_between_table table, size_t i,
			int64_t from_ns, int64_t to_ns);

/* The blocks of a model, by table; zeroed memory may be freed. */
struct trc_between {
	const void *rows; /* that the notes are of */
	size_t n;
	struct trc_between_block *block; /* owned, unless they are an image's */
	bool is_mapped;
};
struct trc_image;
/* image.h */
int trc_between_walk(struct trc_image *image, struct trc_model *m);
void trc_between_free(struct trc_between table[TRC_BETWEEN_TABLES]);

#endif
