/* block_head.c - what a BLOCK section announces, checked; see format.md, "Blocks". */
#include <errno.h>
#include <string.h>
#include "block_head.h"
#include "column.h"

/* Kinds rise, none has 0 events, all together have n_events. */
static void take_counts(struct trc_cursor *c, struct trc_block_head *h)
{
	uint64_t n_kinds = trc_cursor_varint_max(c, TRC_KIND_MAX);
	uint64_t total = 0;
	unsigned int last = 0;

	memset(h->count, 0, sizeof(h->count));
	for (uint64_t i = 0; i < n_kinds && !c->bad; i++) {
		unsigned int kind = trc_cursor_u8(c);
		uint64_t n = trc_cursor_varint_max(c, TRC_BLOCK_EVENTS_MAX);

		if (kind <= last || !n)
			c->bad = true;
		h->count[kind] = (uint32_t)n;
		total += n;
		last = kind;
	}
	if (total != h->n_events)
		c->bad = true;
}

void trc_block_take_head(struct trc_cursor *c, struct trc_block_head *h)
{
	uint64_t proc, span;

	h->head_bytes = trc_cursor_u32(c);
	h->source = trc_cursor_u8(c);
	proc = trc_cursor_varint_max(c, TRC_PROCS_MAX);
	h->proc = proc ? (uint32_t)proc - 1 : TRC_PROC_PER_EVENT;
	h->n_events = (uint32_t)trc_cursor_varint_max(c, TRC_BLOCK_EVENTS_MAX);
	h->first = trc_cursor_varint(c);
	span = trc_cursor_varint(c);
	h->last = h->first + span;
	if (h->last < h->first || !h->n_events || h->source > TRC_SOURCE_KERNEL)
		c->bad = true;
	take_counts(c, h);
	h->n_columns = (uint32_t)trc_cursor_varint_max(c, TRC_BLOCK_COLUMNS_MAX);
}

void trc_block_take_column(struct trc_cursor *c, struct trc_block_column *column)
{
	memset(column, 0, sizeof(*column));
	column->what = trc_cursor_u8(c);
	if (column->what >= TRC_COLUMN_ARG) {
		column->kind = trc_cursor_u8(c);
		column->arg = trc_cursor_u8(c);
	}
	column->coding = trc_cursor_u8(c);
	column->packed = column->coding & TRC_CODING_LZ4;
	column->coding &= (uint8_t)~TRC_CODING_LZ4;
	column->raw_bytes = (uint32_t)trc_cursor_varint_max(c, TRC_SECTION_BYTES_MAX);
	column->stored_bytes = column->raw_bytes;
	if (column->packed)
		column->stored_bytes = (uint32_t)trc_cursor_varint_max(c, TRC_SECTION_BYTES_MAX);
	column->check = trc_cursor_u32(c);
}

/* How many numbers the column holds; 0 for bytes, and for what we do not know. */
static uint32_t column_values(const struct trc_block_head *h, const struct trc_block_column *column)
{
	switch ((enum trc_column_what)column->what) {
	case TRC_COLUMN_KIND:
	case TRC_COLUMN_TIME:
	case TRC_COLUMN_THREAD:
	case TRC_COLUMN_PROC:
		return h->n_events;
	case TRC_COLUMN_ARG:
		return h->count[column->kind];
	case TRC_COLUMN_TEXT:
		break;
	}
	return 0;
}

/* Whether its sizes are possible at all: before anything is allocated for it. */
static bool column_is_sane(const struct trc_block_head *h, const struct trc_block_column *column,
			   uint64_t *text_bytes)
{
	uint32_t n = column_values(h, column);

	if (column->packed &&
	    (!column->stored_bytes || column->raw_bytes / TRC_LZ4_RATIO_MAX > column->stored_bytes))
		return false;
	if (n && column->raw_bytes > trc_column_bytes_max(n))
		return false;
	if (column->what == TRC_COLUMN_TEXT)
		*text_bytes += column->raw_bytes;
	return *text_bytes <= TRC_BLOCK_TEXT_BYTES_MAX;
}

/* Walks the directory; the columns must fill the payload behind the head exactly. */
static bool check_directory(struct trc_cursor *c, const struct trc_block_head *h,
			    size_t payload_bytes)
{
	uint64_t off = h->head_bytes, text_bytes = 0;
	unsigned int seen = 0;

	for (uint32_t i = 0; i < h->n_columns; i++) {
		struct trc_block_column column;

		trc_block_take_column(c, &column);
		if (c->bad || !column_is_sane(h, &column, &text_bytes))
			return false;
		off += column.stored_bytes;
		if (column.what < TRC_COLUMN_ARG)
			seen |= 1u << column.what;
	}
	if (!(seen & 1u << TRC_COLUMN_KIND) || !(seen & 1u << TRC_COLUMN_TIME) ||
	    !(seen & 1u << TRC_COLUMN_THREAD))
		return false;
	if (h->proc == TRC_PROC_PER_EVENT && !(seen & 1u << TRC_COLUMN_PROC))
		return false;
	return off == payload_bytes && !c->bad && !trc_cursor_left(c);
}

int trc_reader_parse_block(struct trc_reader *r, const uint8_t *payload, size_t n_bytes,
			   uint64_t file_off, uint64_t file_bytes)
{
	struct trc_cursor c = {payload, payload + n_bytes, false};
	struct trc_block *b;
	struct trc_block_head h;

	trc_block_take_head(&c, &h);
	if (c.bad || h.head_bytes > n_bytes || h.head_bytes > TRC_BLOCK_HEAD_BYTES_MAX ||
	    h.head_bytes < (size_t)(c.pos - payload))
		return -EBADMSG;
	if (h.proc != TRC_PROC_PER_EVENT && h.proc >= r->info.n_procs)
		return -EBADMSG;
	c.end = payload + h.head_bytes;
	if (!check_directory(&c, &h, n_bytes) ||
	    trc_reader_check_events(r, r->info.n_events + h.n_events))
		return -EBADMSG;
	if (TRC_RESERVE(r->blocks, 1) || TRC_RESERVE(r->kind_counts, TRC_KIND_MAX + 1))
		return -ENOMEM;
	memcpy(r->kind_counts.at + r->kind_counts.n, h.count, sizeof(h.count));
	r->kind_counts.n += TRC_KIND_MAX + 1;
	b = &r->blocks.at[r->blocks.n++];
	memset(b, 0, sizeof(*b));
	b->info.proc = h.proc;
	b->info.source = h.source;
	b->info.generation = (uint32_t)r->info.n_generations;
	b->info.n_events = h.n_events;
	b->info.file_off = file_off;
	b->info.file_bytes = file_bytes;
	b->payload = payload;
	b->payload_bytes = n_bytes;
	b->first = h.first;
	b->last = h.last;
	r->info.n_events += h.n_events;
	return 0;
}
