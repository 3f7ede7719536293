/* heap_table.c - see heap_table.h */
#include <errno.h>
#include <sys/mman.h>
#include "recorder/ring/hot.h"
#include "heap_table.h"
#include "recorder/ring/share.h"
#include "recorder/unwind/poison.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* As many places as levels up to this one have lines of eight: 4 Ki, 32 Ki, 256 Ki, 2 Mi. */
enum { LEVELS = 4, PLACES = 8, FIRST_LINE_BITS = 9, LEVEL_BITS = 3 };

struct value {
	_Atomic uint64_t sample, bytes, period;
};
/* The keys first: a search touches no more.  All of a line is on one page. */
struct line {
	_Alignas(256) _Atomic uint64_t key[PLACES];
	struct value value[PLACES];
};
_Static_assert(sizeof(struct line) == 256 && sizeof(struct trc_heap_filter) % 256 == 0,
	       "a key's address says where its line begins");

/* Together, for whoever comes here with cold caches. */
static _Alignas(64) struct {
	/* Stored by trc_heap_table_open() before the filter is published. */
	struct line *level[LEVELS];
	struct trc_heap_filter *filter;
	unsigned int n_levels;
	_Atomic uint32_t n_used;  /* levels that ever held anything */
	_Atomic uint32_t n_ended; /* places of objects that have ended; never too few, as n_used */
} table;
static void *memory;
static uint64_t memory_bytes;

static unsigned int line_bits(unsigned int level)
{
	return FIRST_LINE_BITS + level * LEVEL_BITS;
}

static uint64_t bytes_of(unsigned int n)
{
	uint64_t bytes = sizeof(struct trc_heap_filter);

	for (unsigned int i = 0; i < n; i++)
		bytes += sizeof(struct line) << line_bits(i);
	return bytes;
}

static void lay_out(char *at)
{
	table.filter = (struct trc_heap_filter *)at;
	at += sizeof(struct trc_heap_filter);
	for (unsigned int i = 0; i < table.n_levels; i++) {
		table.level[i] = (struct line *)at;
		at += sizeof(struct line) << line_bits(i);
	}
}

static void *map_levels(unsigned int n)
{
	void *map;

	if (!trc_share_take(bytes_of(n)))
		return MAP_FAILED;
	map = mmap(NULL, bytes_of(n), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		trc_share_give(bytes_of(n));
	return map;
}

int trc_heap_table_open(void)
{
	void *map = MAP_FAILED;
	unsigned int n;

	if (memory) {
		atomic_store_explicit(&table.n_used, 0, memory_order_relaxed);
		atomic_store_explicit(&table.n_ended, 0, memory_order_relaxed);
		return madvise(memory, memory_bytes, MADV_DONTNEED) ? -errno : 0;
	}
	/* Touched as it is used; where address space is short, a smaller one. */
	for (n = LEVELS + 1; map == MAP_FAILED && --n;)
		map = map_levels(n);
	if (map == MAP_FAILED)
		return -ENOMEM;
	/* A child's objects are not in its own recording; nor does anybody want them in a core. */
	madvise(map, bytes_of(n), MADV_WIPEONFORK);
	madvise(map, bytes_of(n), MADV_DONTDUMP);
	/* Places are used at random: huge pages would be mostly empty. */
	madvise(map, bytes_of(n), MADV_NOHUGEPAGE);
	table.n_levels = n;
	memory = map;
	memory_bytes = bytes_of(n);
	lay_out(map);
	return 0;
}

const struct trc_heap_filter *trc_heap_table_filter(void)
{
	return table.filter;
}

/* ---- the filter (T4, T5) ---------------------------------------------------------------- */

static void fine_add(_Atomic uint8_t *count, int by)
{
	uint8_t was = atomic_load_explicit(count, memory_order_relaxed), is;

	do {
		if (was == UINT8_MAX || (by < 0 && !was))
			return;
		is = (uint8_t)(was + by);
		/* relaxed: who frees an object knows of it by the program's own order. */
	} while (!atomic_compare_exchange_weak_explicit(count, &was, is, memory_order_relaxed,
							memory_order_relaxed));
}

static void coarse_add(_Atomic uint16_t *cell, uint16_t mark, int by)
{
	uint16_t was = atomic_load_explicit(cell, memory_order_relaxed), is;

	do {
		if (was >= UINT16_MAX - TRC_HEAP_CELL_MARKS || (by < 0 && was < TRC_HEAP_CELL_ONE))
			return;
		is = (uint16_t)((was ^ mark) + by * TRC_HEAP_CELL_ONE);
		/* relaxed: as above. */
	} while (!atomic_compare_exchange_weak_explicit(cell, &was, is, memory_order_relaxed,
							memory_order_relaxed));
}

static void filter_add(uint64_t address, int by)
{
	coarse_add(&table.filter->coarse[trc_heap_coarse_index(address)], trc_heap_mark(address),
		   by);
	fine_add(&table.filter->fine[trc_heap_fine_index(address)], by);
}

/* ---- places ----------------------------------------------------------------------------- */

/* One of the two lines of an address. */
static struct line *heap_line_of(unsigned int level, uint64_t address, unsigned int which)
{
	static const uint64_t multiplier[2] = {UINT64_C(0x9e3779b97f4a7c15),
					       UINT64_C(0xd6e8feb86659fd93)};

	return &table.level[level][(address >> 3) * multiplier[which] >> (64 - line_bits(level))];
}

/* A place of the level whose key is `from`, and is `to` now. */
static _Atomic uint64_t *heap_place_exchange(unsigned int level, uint64_t address, uint64_t from,
					     uint64_t to)
{
	for (unsigned int i = 0; i < 2 * PLACES; i++) {
		_Atomic uint64_t *key = &heap_line_of(level, address, i / PLACES)->key[i % PLACES];
		uint64_t is = atomic_load_explicit(key, memory_order_relaxed);

		/* acquire: pairs with the release of who put the object, or left the place. */
		if (is == from && atomic_compare_exchange_strong_explicit(
					  key, &is, to, memory_order_acquire, memory_order_relaxed))
			return key;
	}
	return NULL;
}

static struct value *heap_value_of(const _Atomic uint64_t *key)
{
	uintptr_t off = (uintptr_t)key % sizeof(struct line);
	struct line *line = (struct line *)((uintptr_t)key - off);

	return &line->value[off / sizeof(*key)];
}

static void note_used(uint32_t n)
{
	uint32_t was = atomic_load_explicit(&table.n_used, memory_order_relaxed);

	/* relaxed: see fine_add(). */
	while (was < n &&
	       !atomic_compare_exchange_weak_explicit(&table.n_used, &was, n, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

bool trc_heap_table_put(uint64_t address, const struct trc_heap_object *object)
{
	_Atomic uint64_t *key = NULL;
	struct value *value;
	unsigned int i;

	if (address & (TRC_HEAP_KEY_BUSY | TRC_HEAP_KEY_ENDED))
		return false; /* no allocator's */
	for (i = 0; i < table.n_levels && !key; i++)
		key = heap_place_exchange(i, address, 0, TRC_HEAP_KEY_BUSY);
	if (!key)
		return false;
	note_used(i);
	value = heap_value_of(key);
	atomic_store_explicit(&value->sample, object->sample, memory_order_relaxed);
	atomic_store_explicit(&value->bytes, object->bytes, memory_order_relaxed);
	atomic_store_explicit(&value->period, object->period, memory_order_relaxed);
	filter_add(address, 1);
	/* release: pairs with the acquire in heap_place_exchange(). */
	atomic_store_explicit(key, address, memory_order_release);
	return true;
}

void trc_heap_table_get(const _Atomic uint64_t *key, struct trc_heap_object *object)
{
	const struct value *value = heap_value_of(key);

	object->sample = atomic_load_explicit(&value->sample, memory_order_relaxed);
	object->bytes = atomic_load_explicit(&value->bytes, memory_order_relaxed);
	object->period = atomic_load_explicit(&value->period, memory_order_relaxed);
}

static _Atomic uint64_t *heap_place_take(uint64_t address, uint64_t bits,
					 struct trc_heap_object *object)
{
	uint32_t n = atomic_load_explicit(&table.n_used, memory_order_relaxed);
	_Atomic uint64_t *key = NULL;

	if (!address || address & (TRC_HEAP_KEY_BUSY | TRC_HEAP_KEY_ENDED))
		return NULL;
	for (uint32_t i = 0; i < n && !key; i++)
		key = heap_place_exchange(i, address, address | bits, TRC_HEAP_KEY_BUSY);
	if (key)
		trc_heap_table_get(key, object);
	return key;
}

_Atomic uint64_t *trc_heap_table_take(uint64_t address, struct trc_heap_object *object)
{
	return heap_place_take(address, 0, object);
}

_Atomic uint64_t *trc_heap_table_take_ended(uint64_t address, struct trc_heap_object *object)
{
	_Atomic uint64_t *key;

	/* relaxed: see fine_add(). */
	if (!atomic_load_explicit(&table.n_ended, memory_order_relaxed))
		return NULL;
	key = heap_place_take(address, TRC_HEAP_KEY_ENDED, object);
	if (key)
		atomic_fetch_sub_explicit(&table.n_ended, 1, memory_order_relaxed);
	return key;
}

void trc_heap_table_drop(_Atomic uint64_t *key, uint64_t address)
{
	filter_add(address, -1);
	/* release: pairs with the acquire in heap_place_exchange(): we are done with the place. */
	atomic_store_explicit(key, 0, memory_order_release);
}

void trc_heap_table_back(_Atomic uint64_t *key, uint64_t address)
{
	atomic_store_explicit(key, address, memory_order_release);
}

void trc_heap_table_leave(_Atomic uint64_t *key, uint64_t address)
{
	/* Before anybody can take it. */
	atomic_fetch_add_explicit(&table.n_ended, 1, memory_order_relaxed);
	trc_heap_table_back(key, address | TRC_HEAP_KEY_ENDED);
}
