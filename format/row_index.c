/* row_index.c - see row_index.h. */
#include "row_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

static size_t slot_free(const struct trc_row_slot *slot, size_t mask, uint64_t hash)
{
	size_t at = hash & mask;

	while (slot[at].row)
		at = (at + 1) & mask;
	return at;
}

static int index_grow(struct trc_row_index *index)
{
	size_t n_slots = index->n_slots ? 2 * index->n_slots : 64;
	struct trc_row_slot *grown = calloc(n_slots, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < index->n_slots; i++)
		if (index->slot[i].row)
			grown[slot_free(grown, n_slots - 1, index->slot[i].hash)] = index->slot[i];
	free(index->slot);
	index->slot = grown;
	index->n_slots = n_slots;
	return 0;
}

int trc_row_index_reserve(struct trc_row_index *index)
{
	return 2 * (index->n + 1) <= index->n_slots ? 0 : index_grow(index);
}

uint32_t trc_row_index_find(const struct trc_row_index *index, uint64_t hash, trc_row_same_fn *same,
			    const void *rows, const void *key, size_t *slot)
{
	size_t mask = index->n_slots - 1, at = hash & mask;

	for (; index->slot[at].row; at = (at + 1) & mask)
		if (index->slot[at].hash == hash && same(rows, index->slot[at].row, key))
			return index->slot[at].row;
	*slot = at;
	return 0;
}

void trc_row_index_set(struct trc_row_index *index, size_t slot, uint64_t hash, uint32_t row)
{
	index->slot[slot] = (struct trc_row_slot){hash, row};
	index->n++;
}

void trc_row_index_free(struct trc_row_index *index)
{
	free(index->slot);
	*index = (struct trc_row_index){0};
}

/* ---- keyed rows ---- */

static void *keyed_row_at(const struct trc_keyed_rows *rows, uint32_t row)
{
	return (char *)rows->row + (row - 1) * rows->row_bytes;
}

static bool same_key(const void *rows, uint32_t row, const void *key)
{
	const struct trc_keyed_rows *all = rows;

	return !memcmp(keyed_row_at(all, row), key, all->key_bytes);
}

/* NULL = no memory, or as many as have numbers. */
static void *keyed_row_add(struct trc_keyed_rows *rows)
{
	if (rows->n == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 64;
		void *grown =
			room < UINT32_MAX ? reallocarray(rows->row, room, rows->row_bytes) : NULL;

		if (!grown)
			return NULL;
		rows->row = grown;
		rows->room = room;
	}
	return memset(keyed_row_at(rows, (uint32_t)++rows->n), 0, rows->row_bytes);
}

void *trc_keyed_rows_find(struct trc_keyed_rows *rows, const void *key, bool *added)
{
	uint64_t hash = trc_check64(key, rows->key_bytes, 0);
	size_t slot = 0;
	uint32_t found;
	void *row;

	*added = false;
	if (trc_row_index_reserve(&rows->index))
		return NULL;
	found = trc_row_index_find(&rows->index, hash, same_key, rows, key, &slot);
	if (found)
		return keyed_row_at(rows, found);
	row = keyed_row_add(rows);
	if (!row)
		return NULL;
	memcpy(row, key, rows->key_bytes);
	trc_row_index_set(&rows->index, slot, hash, (uint32_t)rows->n);
	*added = true;
	return row;
}

void trc_keyed_rows_free(struct trc_keyed_rows *rows)
{
	free(rows->row);
	trc_row_index_free(&rows->index);
	rows->row = NULL;
	rows->n = rows->room = 0;
}
