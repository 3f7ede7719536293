/* table.c - entries by key: see private.h. */
#include <errno.h>
#include <string.h>
#include "private.h"

static uint32_t buckets_for(uint32_t max)
{
	uint32_t n = 16;

	while (n < max)
		n *= 2;
	return n;
}

size_t trc_fold_table_bytes(size_t item_bytes, uint32_t max)
{
	return max * item_bytes + (size_t)buckets_for(max) * sizeof(uint32_t) + 16;
}

int trc_fold_table_init(struct trc_fold_table *t, struct trc_arena *arena, size_t item_bytes,
			size_t n_bytes)
{
	size_t max = n_bytes / (item_bytes + 2 * sizeof(uint32_t));

	while (trc_fold_table_bytes(item_bytes, (uint32_t)max + 1) <= n_bytes)
		max++;
	t->max = max < INT32_MAX ? (uint32_t)max : INT32_MAX;
	t->item_bytes = (uint32_t)item_bytes;
	t->mask = buckets_for(t->max) - 1;
	t->item = trc_arena_take(arena, t->max * item_bytes);
	t->bucket = trc_arena_take(arena, (t->mask + (size_t)1) * sizeof(*t->bucket));
	return t->item && t->bucket ? 0 : -ENOMEM;
}

static struct trc_fold_item *item_at(const struct trc_fold_table *t, uint32_t id)
{
	return (struct trc_fold_item *)(void *)(t->item + (size_t)(id - 1) * t->item_bytes);
}

uint32_t trc_fold_table_id(const struct trc_fold_table *t, const void *item)
{
	return (uint32_t)((size_t)((const unsigned char *)item - t->item) / t->item_bytes) + 1;
}

void *trc_fold_table_at(const struct trc_fold_table *t, uint32_t id)
{
	struct trc_fold_item *item = id && id <= t->used ? item_at(t, id) : NULL;

	return item && item->key != TRC_FOLD_FREE ? item : NULL;
}

/* The first of this key from `id` on. */
static void *chain_find(const struct trc_fold_table *t, uint32_t id, uint64_t key)
{
	while (id && item_at(t, id)->key != key)
		id = item_at(t, id)->next;
	return id ? item_at(t, id) : NULL;
}

static uint32_t *table_bucket(const struct trc_fold_table *t, uint64_t key)
{
	return &t->bucket[(uint32_t)trc_fold_mix(key) & t->mask];
}

void *trc_fold_table_find(const struct trc_fold_table *t, uint64_t key)
{
	return chain_find(t, *table_bucket(t, key), key);
}

void *trc_fold_table_more(const struct trc_fold_table *t, const void *item)
{
	const struct trc_fold_item *i = item;

	return chain_find(t, i->next, i->key);
}

void *trc_fold_table_add(struct trc_fold_table *t, uint64_t key)
{
	uint32_t id = t->free ? t->free : t->used + 1, *bucket = table_bucket(t, key);
	struct trc_fold_item *item;

	if (id > t->max || key == TRC_FOLD_FREE)
		return NULL;
	item = item_at(t, id);
	if (t->free)
		t->free = item->next;
	else
		t->used++;
	memset(item, 0, t->item_bytes);
	item->key = key;
	item->next = *bucket;
	*bucket = id;
	t->n++;
	return item;
}

void trc_fold_table_remove(struct trc_fold_table *t, void *item)
{
	struct trc_fold_item *gone = item;
	uint32_t id = trc_fold_table_id(t, item), *at = table_bucket(t, gone->key);

	while (*at != id)
		at = &item_at(t, *at)->next;
	*at = gone->next;
	gone->key = TRC_FOLD_FREE;
	gone->next = t->free;
	t->free = id;
	t->n--;
}

void trc_fold_table_clear(struct trc_fold_table *t)
{
	memset(t->bucket, 0, (t->mask + (size_t)1) * sizeof(*t->bucket));
	t->n = t->used = t->free = 0;
}

void trc_fold_table_copy(struct trc_fold_table *to, const struct trc_fold_table *from)
{
	memcpy(to->item, from->item, (size_t)from->used * from->item_bytes);
	memcpy(to->bucket, from->bucket, (from->mask + (size_t)1) * sizeof(*from->bucket));
	to->n = from->n;
	to->used = from->used;
	to->free = from->free;
}
