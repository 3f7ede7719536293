/*
 * block.h - many events of one stream as a BLOCK section (docs/format.md, "Blocks").
 *
 * The writer collects events as rows of words in chunks; the encoder turns rows into
 * columns.  A row:
 *
 *   word 0       time
 *   word 1       kind (bits 0-7), words of this row (8-17), proc (18-31), thread (32-63)
 *   word 2...    the arguments; a TEXT argument is its length in bytes, then the bytes
 *                padded with zeros to whole words
 */
#ifndef TRC_FORMAT_BLOCK_H
#define TRC_FORMAT_BLOCK_H

#include <stdint.h>
#include "pages.h"
#include "schema.h"
#include "tables.h"
#include "wire.h"

enum {
	TRC_ROW_WORDS_MIN = 2,
	TRC_CHUNK_WORDS = 8192,
	TRC_CHUNK_EVENTS_MAX = TRC_CHUNK_WORDS / TRC_ROW_WORDS_MIN,
	TRC_BLOCK_CHUNKS_MAX = 16,
};

static inline uint64_t trc_row_word(uint8_t kind, uint32_t n_words, uint32_t proc, uint32_t thread)
{
	return kind | n_words << 8 | (uint64_t)proc << 18 | (uint64_t)thread << 32;
}

/* The rows of a block to be. */
struct trc_rows {
	uint64_t *chunk[TRC_BLOCK_CHUNKS_MAX];
	uint32_t words[TRC_BLOCK_CHUNKS_MAX]; /* in use, in each */
	uint32_t n_chunks;
	uint32_t n_events; /* all kind_count[] together */
	uint32_t proc;
	uint8_t source;
	uint32_t kind_count[TRC_KIND_MAX + 1];
};

struct trc_block_encoder;

/* An encoder for blocks of up to max_chunks chunks, carved from `memory`; NULL if `memory` is
 * full. */
struct trc_block_encoder *trc_block_encoder_init(struct trc_arena *memory, uint32_t max_chunks,
						 void *lz4, int acceleration);
/*
 * Encodes rows as a whole section, *section[0..*n_bytes), borrowed until the next call, and
 * cites every id in them (tables:B1).  rows->n_events > 0.
 */
void trc_block_encode(struct trc_block_encoder *enc, const struct trc_rows *rows,
		      struct trc_tables *tables, const uint8_t **section, size_t *n_bytes);

#endif
