/*
 * merge.h - the events of all streams of a trace in the order of their times.
 *
 * Each stream (a proc's ring, the overflow stream, the kernel's records) is ordered by itself; the
 * merge orders the events of all streams.  A block is decoded when the merge reaches the block's
 * begin, or a little earlier by a second thread.  So memory holds only the blocks that overlap the
 * present, and a few more.
 *
 *   merge:G1  spans come in order of time; among equal times the stream that comes first in
 *       the file goes first, and the events of one stream keep their order
 *   merge:G2  if a stream breaks its own order, its events still come once each
 *   merge:G3  an event's place is a number, not 0, that does not depend on what the options leave
 *       out.  Of two events with the same time the event with the lower place comes first
 */
#ifndef TRC_ANALYZER_MODEL_MERGE_H
#define TRC_ANALYZER_MODEL_MERGE_H

#include "format/reader.h"

/* Events first <= row < last of one block, that come before any event of another stream. */
struct trc_span {
	const struct trc_block_info *block;
	const struct trc_columns *columns;
	size_t block_idx;
	uint32_t first, last;
	uint64_t place; /* of the block's first event; places of later events follow (G3) */
};

struct trc_merge_options {
	unsigned int want;		   /* columns; time comes in any case */
	const struct trc_kind_mask *kinds; /* kinds whose arguments are wanted; without every_block
					      blocks without such kinds are left out; NULL = all */
	bool every_block;
	int64_t from_ns, until_ns; /* blocks wholly outside are left out */
	bool one_proc;
	uint32_t proc; /* if one_proc: rings of other procs are left out */
	bool ahead;    /* decode ahead in a second thread */
};
#define TRC_MERGE_EVERYTHING                                                                       \
	{                                                                                          \
		.want = TRC_WANT_ALL, .from_ns = INT64_MIN, .until_ns = INT64_MAX                  \
	}

struct trc_merge;

/* `options` and what it points to are copied.  On success *out is the caller's. 0 or -ENOMEM. */
int trc_merge_open(struct trc_merge **out, const struct trc_reader *reader,
		   const struct trc_merge_options *options);
/* 1: *span is the next span, valid until the next call.  0: there are no more spans.  Negative: a
 * block could not be decoded, as error says; the next call goes on behind the block. */
int trc_merge_next(struct trc_merge *merge, struct trc_span *span, struct trc_error *error);
/* The part of the blocks that has been merged, 0..1. */
double trc_merge_fraction(const struct trc_merge *merge);
void trc_merge_close(struct trc_merge *merge); /* accepts NULL */

/* True if the block holds an event of one of these kinds (NULL = of any). */
bool trc_block_has_kinds(const struct trc_block_info *block, const struct trc_kind_mask *kinds);
static inline bool trc_kind_mask_has(const struct trc_kind_mask *mask, unsigned int kind)
{
	return mask->bits[kind / 64] >> (kind % 64) & 1;
}
static inline void trc_kind_mask_add(struct trc_kind_mask *mask, unsigned int kind)
{
	mask->bits[kind / 64] |= (uint64_t)1 << (kind % 64);
}

#endif
