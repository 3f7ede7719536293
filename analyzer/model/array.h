/*
 * array.h - growing arrays of rows, their sorting by time, and a map from ids to rows.
 *
 *   array:A1  no row is allocated by itself: arrays grow by half, so that growing is
 *       a few calls of realloc() for millions of rows
 *   array:A2  a sort is stable and moves each row at most once
 *   array:A3  each process draws how keys are spread: no file can choose keys that fall together
 *   array:A4  rows with capacity 0 belong to somebody else (image.h): the array neither changes nor frees them
 */
#ifndef TRC_ANALYZER_MODEL_ARRAY_H
#define TRC_ANALYZER_MODEL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array of rows of `row_bytes` each, all of one type.  Zeroed memory with row_bytes set is an
 * empty array. */
struct trc_array {
	void *row;
	size_t n, capacity, row_bytes;
};

/* Adds a zeroed row and returns it, valid until the next call; NULL without memory. */
void *trc_array_add(struct trc_array *rows);
/* Gives memory beyond the last row back. */
void trc_array_trim(struct trc_array *rows);
void trc_array_free(struct trc_array *rows);

/* Sorts by the int64_t at time_off, then by the uint32_t at thread_off.  0 or -ENOMEM. */
int trc_array_sort(struct trc_array *rows, size_t time_off, size_t thread_off);

struct trc_key {
	int64_t key;
	uint32_t row;
};
/* Sorts by key; `scratch` has room for n keys too. */
void trc_keys_sort(struct trc_key *keys, struct trc_key *scratch, size_t n);

/* A map from 64-bit keys to 32-bit values (all but TRC_INDEX_NONE); a zeroed map is empty. */
struct trc_index {
	uint64_t *key;
	uint32_t *value;
	size_t n, capacity;
};
enum { TRC_INDEX_NONE = UINT32_MAX };

/* Two numbers as one key, which differs from process to process (A3).  Different numbers may have the same
 * key, but rarely: the following key, which is tried next, is seldom taken. */
uint64_t trc_index_key(uint64_t a, uint64_t b);
uint32_t trc_index_get(const struct trc_index *map, uint64_t key);
/* Sets or replaces.  0 or -ENOMEM. */
int trc_index_put(struct trc_index *map, uint64_t key, uint32_t value);
/* For a map of dense numbers, which nothing else fills: the number of this key, which gets the
 * next of 1, 2, 3 ... if it has none.  `n` is the last number.  0 = no memory. */
uint32_t trc_index_number(struct trc_index *map, uint64_t key);
void trc_index_free(struct trc_index *map);

/* A pool of bytes that live as long as the pool; a zeroed pool is empty. */
struct trc_pool {
	struct trc_pool_chunk *chunk;
};
void *trc_pool_take(struct trc_pool *arena, size_t n_bytes);
/* The pool's parts, one after another: NULL begins, and ends.  What is taken later lies behind the bytes of a part, or in another
 * part. */
const struct trc_pool_chunk *trc_pool_next(const struct trc_pool *arena,
					   const struct trc_pool_chunk *before, const char **bytes,
					   size_t *n_bytes);
/* A zero-terminated copy in which embedded zeros became U+FFFD; NULL without memory. */
const char *trc_pool_text(struct trc_pool *arena, const char *bytes, size_t n_bytes);
void trc_pool_free(struct trc_pool *arena);

#endif
