/* array.c - see array.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "array.h"

static int rows_grow(struct trc_array *rows)
{
	size_t capacity = rows->capacity ? rows->capacity + rows->capacity / 2 : rows->n + 64;
	void *row;

	if (capacity > SIZE_MAX / rows->row_bytes)
		return -ENOMEM;
	row = realloc(rows->capacity ? rows->row : NULL, capacity * rows->row_bytes);
	if (!row)
		return -ENOMEM;
	if (!rows->capacity && rows->n) /* A4 */
		memcpy(row, rows->row, rows->n * rows->row_bytes);
	rows->row = row;
	rows->capacity = capacity;
	return 0;
}

void *trc_array_add(struct trc_array *rows)
{
	void *row;

	if (rows->n >= rows->capacity && rows_grow(rows))
		return NULL;
	row = (char *)rows->row + rows->n++ * rows->row_bytes;
	memset(row, 0, rows->row_bytes);
	return row;
}

void trc_array_trim(struct trc_array *rows)
{
	void *row;

	if (!rows->n || rows->n >= rows->capacity)
		return;
	row = realloc(rows->row, rows->n * rows->row_bytes);
	if (row) {
		rows->row = row;
		rows->capacity = rows->n;
	}
}

void trc_array_free(struct trc_array *rows)
{
	if (rows->capacity)
		free(rows->row);
	rows->row = NULL;
	rows->n = rows->capacity = 0;
}

static void keys_insertion_sort(struct trc_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct trc_key k = keys[i];
		size_t j = i;

		for (; j && keys[j - 1].key > k.key; j--)
			keys[j] = keys[j - 1];
		keys[j] = k;
	}
}

static bool keys_sorted(const struct trc_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i - 1].key > keys[i].key)
			return false;
	return true;
}

/* One pass over the byte at `shift`; false if all keys agree in it and nothing moved. */
static bool keys_radix_pass(const struct trc_key *from, struct trc_key *to, size_t n, int64_t min,
			    unsigned int shift)
{
	size_t at[256] = {0};
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		at[((uint64_t)from[i].key - (uint64_t)min) >> shift & 255]++;
	if (at[((uint64_t)from[0].key - (uint64_t)min) >> shift & 255] == n)
		return false;
	for (size_t b = 0; b < 256; b++) {
		size_t count = at[b];

		at[b] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[((uint64_t)from[i].key - (uint64_t)min) >> shift & 255]++] = from[i];
	return true;
}

void trc_keys_sort(struct trc_key *keys, struct trc_key *scratch, size_t n)
{
	struct trc_key *from = keys, *to = scratch;
	int64_t min, max;

	if (n < 64) {
		keys_insertion_sort(keys, n);
		return;
	}
	if (keys_sorted(keys, n))
		return;
	min = max = keys[0].key;
	for (size_t i = 1; i < n; i++) {
		min = keys[i].key < min ? keys[i].key : min;
		max = keys[i].key > max ? keys[i].key : max;
	}
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		if (((uint64_t)max - (uint64_t)min) >> shift == 0)
			break;
		if (keys_radix_pass(from, to, n, min, shift)) {
			struct trc_key *swap = from;

			from = to;
			to = swap;
		}
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}

static int64_t row_time_at(const struct trc_array *rows, size_t i, size_t off)
{
	int64_t time;

	memcpy(&time, (const char *)rows->row + i * rows->row_bytes + off, sizeof(time));
	return time;
}

static uint32_t row_thread_at(const struct trc_array *rows, size_t i, size_t off)
{
	uint32_t thread;

	memcpy(&thread, (const char *)rows->row + i * rows->row_bytes + off, sizeof(thread));
	return thread;
}

static bool rows_sorted(const struct trc_array *rows, size_t time_off, size_t thread_off)
{
	for (size_t i = 1; i < rows->n; i++) {
		int64_t before = row_time_at(rows, i - 1, time_off),
			now = row_time_at(rows, i, time_off);

		if (before > now || (before == now && row_thread_at(rows, i - 1, thread_off) >
							      row_thread_at(rows, i, thread_off)))
			return false;
	}
	return true;
}

/* Among rows of one time, by thread; such runs are short but for rows of unknown time. */
static void keys_sort_ties(struct trc_key *keys, struct trc_key *scratch,
			   const struct trc_array *rows, size_t thread_off)
{
	size_t first = 0;

	for (size_t i = 1; i <= rows->n; i++) {
		int64_t time = keys[first].key;

		if (i < rows->n && keys[i].key == time)
			continue;
		for (size_t j = first; j < i && i - first > 1; j++)
			keys[j].key = row_thread_at(rows, keys[j].row, thread_off);
		if (i - first > 1)
			trc_keys_sort(keys + first, scratch, i - first);
		first = i;
		/* The keys of a run are threads now; nobody looks at them as times again. */
	}
}

/* Puts row keys[i].row at place i, following each cycle once (A2). */
static void rows_permute(struct trc_array *rows, struct trc_key *keys, void *spare)
{
	char *row = rows->row;
	size_t bytes = rows->row_bytes;

	for (size_t i = 0; i < rows->n; i++) {
		size_t to = i;

		if (keys[i].row == i)
			continue;
		memcpy(spare, row + i * bytes, bytes);
		while (keys[to].row != i) {
			size_t from = keys[to].row;

			memcpy(row + to * bytes, row + from * bytes, bytes);
			keys[to].row = (uint32_t)to;
			to = from;
		}
		memcpy(row + to * bytes, spare, bytes);
		keys[to].row = (uint32_t)to;
	}
}

int trc_array_sort(struct trc_array *rows, size_t time_off, size_t thread_off)
{
	struct trc_key *keys;
	void *spare;

	if (rows_sorted(rows, time_off, thread_off))
		return 0;
	if (rows->n > UINT32_MAX)
		return -ENOMEM;
	keys = malloc(2 * rows->n * sizeof(*keys));
	spare = malloc(rows->row_bytes);
	if (keys && spare) {
		for (size_t i = 0; i < rows->n; i++) {
			keys[i].key = row_time_at(rows, i, time_off);
			keys[i].row = (uint32_t)i;
		}
		trc_keys_sort(keys, keys + rows->n, rows->n);
		keys_sort_ties(keys, keys + rows->n, rows, thread_off);
		rows_permute(rows, keys, spare);
	}
	free(spare);
	free(keys);
	return keys && spare ? 0 : -ENOMEM;
}

/* A3: set before main() begins. */
static uint64_t seed[2];

/* What the kernel drew for this process. */
__attribute__((constructor)) static void draw_seed(void)
{
	const void *drawn = (const void *)getauxval(AT_RANDOM);

	if (drawn)
		memcpy(seed, drawn, sizeof(seed));
	seed[0] ^= UINT64_C(0xd6e8feb86659fd93);
	seed[1] = (seed[1] ^ UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

static uint64_t key_mix(uint64_t key)
{
	unsigned __int128 product = (unsigned __int128)(key ^ seed[0]) * seed[1];

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t trc_index_key(uint64_t a, uint64_t b)
{
	return key_mix(key_mix(a) ^ b);
}

static size_t map_slot(const struct trc_index *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t i = (size_t)key_mix(key) & mask;

	while (map->value[i] != TRC_INDEX_NONE && map->key[i] != key)
		i = (i + 1) & mask;
	return i;
}

uint32_t trc_index_get(const struct trc_index *map, uint64_t key)
{
	return map->capacity ? map->value[map_slot(map, key)] : TRC_INDEX_NONE;
}

static int map_grow(struct trc_index *map)
{
	struct trc_index next = {.capacity = map->capacity ? map->capacity * 2 : 64};

	next.key = malloc(next.capacity * sizeof(*next.key));
	next.value = malloc(next.capacity * sizeof(*next.value));
	if (!next.key || !next.value) {
		trc_index_free(&next);
		return -ENOMEM;
	}
	memset(next.value, 0xff, next.capacity * sizeof(*next.value));
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->value[i] != TRC_INDEX_NONE) {
			size_t slot = map_slot(&next, map->key[i]);

			next.key[slot] = map->key[i];
			next.value[slot] = map->value[i];
		}
	}
	next.n = map->n;
	trc_index_free(map);
	*map = next;
	return 0;
}

int trc_index_put(struct trc_index *map, uint64_t key, uint32_t value)
{
	size_t slot;

	if (map->n >= map->capacity / 2 && map_grow(map))
		return -ENOMEM;
	slot = map_slot(map, key);
	map->n += map->value[slot] == TRC_INDEX_NONE;
	map->key[slot] = key;
	map->value[slot] = value;
	return 0;
}

uint32_t trc_index_number(struct trc_index *map, uint64_t key)
{
	size_t slot;

	if (map->n >= TRC_INDEX_NONE - 1 || (map->n >= map->capacity / 2 && map_grow(map)))
		return 0;
	slot = map_slot(map, key);
	if (map->value[slot] == TRC_INDEX_NONE) {
		map->key[slot] = key;
		map->value[slot] = (uint32_t)++map->n;
	}
	return map->value[slot];
}

void trc_index_free(struct trc_index *map)
{
	free(map->key);
	free(map->value);
	memset(map, 0, sizeof(*map));
}

struct trc_pool_chunk {
	struct trc_pool_chunk *next;
	size_t used, capacity;
	char bytes[];
};

void *trc_pool_take(struct trc_pool *arena, size_t n_bytes)
{
	struct trc_pool_chunk *c = arena->chunk;
	size_t capacity = n_bytes > 65536 ? n_bytes : 65536;
	void *taken;

	if (!c || c->capacity - c->used < n_bytes) {
		c = malloc(sizeof(*c) + capacity);
		if (!c)
			return NULL;
		*c = (struct trc_pool_chunk){.next = arena->chunk, .capacity = capacity};
		arena->chunk = c;
	}
	taken = c->bytes + c->used;
	c->used += n_bytes;
	return taken;
}

const char *trc_pool_text(struct trc_pool *arena, const char *bytes, size_t n_bytes)
{
	static const char mark[] = "\xef\xbf\xbd";
	size_t zeros = 0;
	char *text, *to;

	for (size_t i = 0; i < n_bytes; i++)
		zeros += !bytes[i];
	text = to = trc_pool_take(arena, n_bytes + 2 * zeros + 1);
	if (!text)
		return NULL;
	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i]) {
			*to++ = bytes[i];
		} else {
			memcpy(to, mark, 3);
			to += 3;
		}
	}
	*to = '\0';
	return text;
}

const struct trc_pool_chunk *trc_pool_next(const struct trc_pool *arena,
					   const struct trc_pool_chunk *before, const char **bytes,
					   size_t *n_bytes)
{
	const struct trc_pool_chunk *chunk = before ? before->next : arena->chunk;

	if (chunk) {
		*bytes = chunk->bytes;
		*n_bytes = chunk->used;
	}
	return chunk;
}

void trc_pool_free(struct trc_pool *arena)
{
	while (arena->chunk) {
		struct trc_pool_chunk *next = arena->chunk->next;

		free(arena->chunk);
		arena->chunk = next;
	}
}
