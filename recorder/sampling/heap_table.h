/*
 * heap_table.h - the drawn objects that are live, by address.
 *
 * Levels, each eight times as large as the one before; a level is touched only when an object
 * found no place in the smaller ones.  In a level an address has two lines of eight places.
 *
 *   heap_table:T1  a key is 0 (free), TRC_HEAP_KEY_BUSY, or the address of the object of its place,
 *       with TRC_HEAP_KEY_ENDED if the object has ended and only its end is to be told: the address
 *       may be another object's by now
 *   heap_table:T2  the thread that makes a key busy owns the place until it stores another key; no
 *       thread waits for the place
 *   heap_table:T3  an address is in one place at most, as long as the program frees no object twice
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

/* False: there is no place for the object. */
bool trc_heap_table_put(uint64_t address, const struct trc_heap_object *object);
/* The key of the place that holds this address; the key is busy now, and *object is the object
 * there.  NULL = no such place. */
_Atomic uint64_t *trc_heap_table_take(uint64_t address, struct trc_heap_object *object);
/* trc_heap_table_take() for an object that had the address before, and has ended. */
_Atomic uint64_t *trc_heap_table_take_ended(uint64_t address, struct trc_heap_object *object);
/* The place that was taken is free, or holds `address` as before. */
void trc_heap_table_drop(_Atomic uint64_t *key, uint64_t address);
void trc_heap_table_back(_Atomic uint64_t *key, uint64_t address);
/* The place holds the same object as before, now as an ended object. */
void trc_heap_table_leave(_Atomic uint64_t *key, uint64_t address);
/* Reads the object of the place that was taken. */
void trc_heap_table_get(const _Atomic uint64_t *key, struct trc_heap_object *object);

#endif
