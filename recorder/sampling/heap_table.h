/*
 * heap_table.h - the objects that were drawn and live: by their addresses.
 *
 * Levels, each eight times as large as the one before; a level is touched only when an object
 * found no place in the smaller ones.  In a level an address has two lines of eight places.
 *
 *   heap_table:T1  a key is 0 (free), TRC_HEAP_KEY_BUSY, or the address of the object of its place,
 *       with TRC_HEAP_KEY_ENDED if that is no more than to be told of: its address may be another's
 *       by now
 *   heap_table:T2  whoever makes a key busy owns the place until storing another key; nobody waits
 *       for it
 *   heap_table:T3  an address is in one place at most, as long as the program frees what it
 *       allocates once
 *   heap_table:T4  a byte of the filter's fine part, and a cell of its coarse part, count the places that
 *       hold an address like it; at 255 it has lost count, and stays
 *   heap_table:T5  a cell that counts one object has the mark of its address
 */
#ifndef TRC_RECORDER_SAMPLING_HEAP_TABLE_H
#define TRC_RECORDER_SAMPLING_HEAP_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "recorder/shared/layout.h"

/* Bits that no address has. */
enum { TRC_HEAP_KEY_BUSY = 1, TRC_HEAP_KEY_ENDED = 2 };

struct trc_heap_object {
	uint64_t sample, bytes, period;
};

/* Makes the table, or empties it. 0 or -ENOMEM.  Context: any thread, may block; nobody else
 * makes it. */
int trc_heap_table_open(void);
const struct trc_heap_filter *trc_heap_table_filter(void);

/* ---- Context: traced thread, signal handlers. ---- */

/* False: there is no place for it. */
bool trc_heap_table_put(uint64_t address, const struct trc_heap_object *object);
/* The key of the place that holds this address, busy now, and *object what it holds; NULL = none. */
_Atomic uint64_t *trc_heap_table_take(uint64_t address, struct trc_heap_object *object);
/* The same of an object that had it before, and has ended. */
_Atomic uint64_t *trc_heap_table_take_ended(uint64_t address, struct trc_heap_object *object);
/* The place that was taken is free, or holds `address` as before. */
void trc_heap_table_drop(_Atomic uint64_t *key, uint64_t address);
void trc_heap_table_back(_Atomic uint64_t *key, uint64_t address);
/* It holds the same as before, but as an object that has ended. */
void trc_heap_table_leave(_Atomic uint64_t *key, uint64_t address);
/* What the place that was taken holds. */
void trc_heap_table_get(const _Atomic uint64_t *key, struct trc_heap_object *object);

#endif
