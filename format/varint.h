/*
 * varint.h - integers of one to ten bytes (docs/format.md, "Integers").
 *
 * Seven bits a byte, low bits first, the top bit set on all but the last byte.
 * A value has one encoding only: the shortest.
 */
#ifndef TRC_FORMAT_VARINT_H
#define TRC_FORMAT_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire.h"

enum { TRC_VARINT_BYTES_MAX = 10 };

/* How many bytes trc_varint_put() takes. */
static inline unsigned int trc_varint_bytes(uint64_t value)
{
	return (trc_bits(value | 1) + 6) / 7;
}

/* Writes `value`; there must be room for ten bytes.  Returns the byte after it. */
static inline uint8_t *trc_varint_put(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

/*
 * Reads one varint from [*pos, end).
 *
 *   0           *value is set and *pos has moved past it
 *   -ENODATA    the input ends inside the value
 *   -EBADMSG    the encoding is longer than it needs to be
 *   -EOVERFLOW  the value does not fit in 64 bits
 */
int trc_varint_get(const uint8_t **pos, const uint8_t *end, uint64_t *value);

/*
 * A stretch of bytes that is read from the front.  Reading past the end, or anything
 * malformed, sets `bad`; from then on every read gives 0 or NULL.
 */
struct trc_cursor {
	const uint8_t *pos, *end;
	bool bad;
};

static inline size_t trc_cursor_left(const struct trc_cursor *c)
{
	return (size_t)(c->end - c->pos);
}

/* The next n bytes, or NULL. */
const uint8_t *trc_cursor_take(struct trc_cursor *c, uint64_t n_bytes);
uint8_t trc_cursor_u8(struct trc_cursor *c);
uint32_t trc_cursor_u32(struct trc_cursor *c);
uint64_t trc_cursor_u64(struct trc_cursor *c);
uint64_t trc_cursor_varint(struct trc_cursor *c);
/* A varint that must not exceed max. */
uint64_t trc_cursor_varint_max(struct trc_cursor *c, uint64_t max);
/* Reads an entry: a varint with the entry's length, then the entry's bytes, as a cursor of their
 * own.  A newer minor version may have made the entry longer. */
struct trc_cursor trc_cursor_entry(struct trc_cursor *c);

#endif
