/*
 * column.h - one column of a block: numbers to bytes and back (docs/format.md, "Codings").
 *
 * A column is n 64-bit numbers; n comes from the head of the block.  The encoder
 * picks a coding by a scan and a sample of the column, not by trying them all.
 */
#ifndef TRC_FORMAT_COLUMN_H
#define TRC_FORMAT_COLUMN_H

#include <stddef.h>
#include <stdint.h>
#include "wire.h"

/* No coding makes n numbers longer than this. */
static inline size_t trc_column_bytes_max(size_t n)
{
	return 12 * n + 64;
}

/* The encoder's memory for the time of one call.  All zero is a fresh scratch. */
struct trc_column_scratch {
	struct {
		uint64_t value;
		uint32_t stamp; /* the slot is in use if it equals `stamp` below */
		uint32_t index;
	} slot[2 * TRC_DICTIONARY_MAX];
	uint32_t stamp;
	uint32_t n_distinct; /* of the last column, where coding is DICTIONARY */
	uint64_t distinct[TRC_DICTIONARY_MAX];
	uint16_t index[TRC_BLOCK_EVENTS_MAX];
};

/* Encodes value[0..n), n > 0, into out[trc_column_bytes_max(n)].  `rising`: the numbers are known
 * never to fall.  Returns the bytes written, and in *coding an enum trc_coding.  The encoder
 * estimates which coding is shortest: the choice may be poor, the bytes are always right. */
size_t trc_column_encode(struct trc_column_scratch *scratch, const uint64_t *value, uint32_t n,
			 bool rising, uint8_t *out, uint8_t *coding);
/* trc_column_encode() with a given coding, for tests. 0 if the column cannot be coded like this. */
size_t trc_column_encode_as(struct trc_column_scratch *scratch, const uint64_t *value, uint32_t n,
			    uint8_t *out, enum trc_coding coding);

/*
 * Decodes n > 0 numbers from exactly n_bytes bytes.  0, or -EBADMSG if the bytes are not a
 * valid column of n numbers in this coding; value[] is then unspecified.
 */
int trc_column_decode(enum trc_coding coding, const uint8_t *bytes, size_t n_bytes, uint64_t *value,
		      uint32_t n);

#endif
