/*
 * map.h - 64-bit keys to dense numbers 1, 2, 3 ... in the order of first use.
 */
#ifndef TRC_VIEWER_MAP_H
#define TRC_VIEWER_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct trc_map {
	uint32_t *slot; /* number, by hash; 0 = free; owned */
	uint64_t *key;	/* key[number - 1]; owned */
	uint32_t n, slots;
};

/* The number of this key, which is given one if it has none.  0 = out of memory. */
uint32_t trc_map_put(struct trc_map *map, uint64_t key);
/* The same, but 0 for a key without a number. */
uint32_t trc_map_get(const struct trc_map *map, uint64_t key);
void trc_map_free(struct trc_map *map);

#endif
