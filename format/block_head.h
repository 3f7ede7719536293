/* block_head.h - the head of a BLOCK section, as it is read. */
#ifndef TRC_FORMAT_BLOCK_HEAD_H
#define TRC_FORMAT_BLOCK_HEAD_H

#include "reader_private.h"

/* An entry of the directory. */
struct trc_block_column {
	uint8_t what, kind, arg, coding;
	bool packed;
	uint32_t raw_bytes, stored_bytes, check;
	const uint8_t *bytes;
};

/* What comes before the directory. */
struct trc_block_head {
	uint32_t head_bytes, proc, n_events, n_columns;
	uint8_t source;
	uint64_t first, last;
	uint32_t count[TRC_KIND_MAX + 1];
};

/* Each reads the next bytes of c; c->bad if they cannot be. */
void trc_block_take_head(struct trc_cursor *c, struct trc_block_head *h);
void trc_block_take_column(struct trc_cursor *c, struct trc_block_column *column);

/* Finds the blocks that have changed since they were written, after the times of blocks are known. */
void trc_reader_find_damage(struct trc_reader *r);
/* Of such a block: trc_reader_load(). */
int trc_block_load_damaged(const struct trc_block *b, struct trc_columns **out,
			   struct trc_error *error);

#endif
