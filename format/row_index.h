/*
 * row_index.h - finds rows by their keys, in arrays that only grow.
 *
 * A row index is an open-addressed table of hashes and row numbers.  The rows belong to the caller,
 * and the caller's function decides whether a row has the key.  Keyed rows are an index together
 * with its rows, for keys of a fixed size.  Not thread-safe.
 */
#ifndef TRC_FORMAT_ROW_INDEX_H
#define TRC_FORMAT_ROW_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_row_slot {
	uint64_t hash;
	uint32_t row; /* from 1; 0 = free */
};

/* Zeroed memory is an empty index.  At most half full. */
struct trc_row_index {
	struct trc_row_slot *slot;
	size_t n, n_slots;
};

/* Is `row` (from 1) of these rows the one with this key? */
typedef bool trc_row_same_fn(const void *rows, uint32_t row, const void *key);

/* Makes room for one more row.  Call this before trc_row_index_find() if a missing row is then
 * added.  0 or -ENOMEM. */
int trc_row_index_reserve(struct trc_row_index *index);
/* The number of the row with this key, from 1. 0 = no row has the key; trc_row_index_set() then
 * puts the new row into *slot.  Only after a reserve. */
uint32_t trc_row_index_find(const struct trc_row_index *index, uint64_t hash, trc_row_same_fn *same,
			    const void *rows, const void *key, size_t *slot);
/* With the slot of the find just before. */
void trc_row_index_set(struct trc_row_index *index, size_t slot, uint64_t hash, uint32_t row);
void trc_row_index_free(struct trc_row_index *index);

/* Rows of row_bytes each, which begin with a key of key_bytes, compared as bytes: a key has no
 * padding.  Zeroed memory with both sizes set has no rows. */
struct trc_keyed_rows {
	size_t row_bytes, key_bytes;
	void *row; /* [n] */
	size_t n, room;
	struct trc_row_index index;
};

/* The row with this key; a new one is zero behind its key, and sets *added.  Valid until the next
 * row is added.  NULL = no memory. */
void *trc_keyed_rows_find(struct trc_keyed_rows *rows, const void *key, bool *added);
/* Memory that rows point to is the caller's: free such memory before this call. */
void trc_keyed_rows_free(struct trc_keyed_rows *rows);

#endif
