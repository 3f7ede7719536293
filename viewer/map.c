/*
 * map.c - see map.h.  Open addressing, at most half full.
 */
#include "map.h"

#include <stdlib.h>

static uint32_t *map_find(const struct trc_map *map, uint64_t key)
{
	uint32_t mask = map->slots - 1;
	uint64_t hash = key * 0x9e3779b97f4a7c15;
	uint32_t i = (uint32_t)(hash >> 32) & mask;

	while (map->slot[i] && map->key[map->slot[i] - 1] != key)
		i = (i + 1) & mask;
	return &map->slot[i];
}

static bool map_grow(struct trc_map *map)
{
	uint32_t slots = map->slots ? map->slots * 2 : 256;
	uint64_t *key = realloc(map->key, slots / 2 * sizeof(*key));
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (key)
		map->key = key;
	if (!key || !slot || slots > UINT32_MAX / 2) {
		free(slot);
		return false;
	}
	free(map->slot);
	map->slot = slot;
	map->slots = slots;
	for (uint32_t i = 0; i < map->n; i++)
		*map_find(map, key[i]) = i + 1;
	return true;
}

uint32_t trc_map_put(struct trc_map *map, uint64_t key)
{
	uint32_t *slot;

	if (map->n >= map->slots / 2 && !map_grow(map))
		return 0;
	slot = map_find(map, key);
	if (!*slot) {
		map->key[map->n] = key;
		*slot = ++map->n;
	}
	return *slot;
}

uint32_t trc_map_get(const struct trc_map *map, uint64_t key)
{
	return map->slots ? *map_find(map, key) : 0;
}

void trc_map_free(struct trc_map *map)
{
	free(map->slot);
	free(map->key);
	*map = (struct trc_map){0};
}
