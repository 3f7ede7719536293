/* block_encode.c - rows to a BLOCK section; see block.h. */
#include <lz4.h>
#include "block.h"
#include "check.h"
#include "column.h"
#include "varint.h"

enum {
	HEAD_BYTES_MAX = 32 << 10,
	LZ4_BYTES_MIN = 64, /* shorter columns are left as they are */
	LZ4_PAUSE_MAX = 32, /* blocks that a column which LZ4 does not shrink is left alone */
	COLUMN_FIXED = 4,   /* kind, time, thread, proc */
};

/* How often to leave a column alone: doubles with each failure of LZ4 on it. */
struct lz4_habit {
	uint8_t pause, wait;
};

struct kind_columns {
	uint64_t *arg[TRC_ARGS_MAX];
	uint32_t n;
	uint8_t n_args;
	int8_t ticks_arg; /* the argument of type TICKS, -1 = none */
	int8_t text_arg;
};

struct trc_block_encoder {
	size_t words_max;
	uint64_t *time, *kind, *thread, *proc, *args;
	uint8_t *head;	  /* [HEAD_BYTES_MAX] */
	uint8_t *columns; /* behind room for the header of the section and the head */
	uint8_t *packed;
	size_t packed_bytes_max;
	void *lz4;
	int acceleration;
	struct trc_column_scratch *scratch;
	struct trc_tables *tables;
	struct kind_columns by_kind[TRC_KIND_MAX + 1];
	struct lz4_habit fixed_habit[COLUMN_FIXED + 1];
	struct lz4_habit habit[TRC_KIND_MAX + 1][TRC_ARGS_MAX + 1]; /* the last: of the text */
	/* While encoding: where the next column and its directory entry go. */
	uint8_t *pos, *directory;
	uint32_t n_columns;
};

static void encode_kinds_init(struct trc_block_encoder *enc)
{
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++) {
		const struct trc_kind_info *info = trc_kind_info(k);
		struct kind_columns *c = &enc->by_kind[k];

		c->n_args = info->n_args;
		c->ticks_arg = -1;
		c->text_arg = -1;
		for (int a = 0; a < info->n_args; a++) {
			if (info->arg[a].type == TRC_ARG_TICKS)
				c->ticks_arg = (int8_t)a;
			if (info->arg[a].type == TRC_ARG_TEXT)
				c->text_arg = (int8_t)a;
		}
	}
}

struct trc_block_encoder *trc_block_encoder_init(struct trc_arena *memory, uint32_t max_chunks,
						 void *lz4, int acceleration)
{
	struct trc_block_encoder *enc = trc_arena_take(memory, sizeof(*enc));
	size_t events = (size_t)max_chunks * TRC_CHUNK_EVENTS_MAX;
	size_t words = (size_t)max_chunks * TRC_CHUNK_WORDS, out_bytes;

	if (!enc)
		return NULL;
	if (events > TRC_BLOCK_EVENTS_MAX)
		events = TRC_BLOCK_EVENTS_MAX;
	enc->words_max = words;
	enc->time = trc_arena_take(memory, COLUMN_FIXED * events * 8);
	enc->args = trc_arena_take(memory, words * 8);
	enc->scratch = trc_arena_take(memory, sizeof(*enc->scratch));
	enc->head = trc_arena_take(memory, HEAD_BYTES_MAX);
	enc->packed_bytes_max = words * 8 + 64;
	enc->packed = trc_arena_take(memory, enc->packed_bytes_max);
	/* The words of text are columns of bytes instead: shorter. */
	out_bytes = TRC_SECTION_HEADER_BYTES + HEAD_BYTES_MAX +
		    12 * (COLUMN_FIXED * events + words) +
		    TRC_KIND_COUNT * (TRC_ARGS_MAX + 1) * trc_column_bytes_max(0);
	enc->columns = trc_arena_take(memory, out_bytes);
	if (!enc->time || !enc->args || !enc->scratch || !enc->head || !enc->packed ||
	    !enc->columns)
		return NULL;
	enc->kind = enc->time + events;
	enc->thread = enc->kind + events;
	enc->proc = enc->thread + events;
	enc->columns += TRC_SECTION_HEADER_BYTES + HEAD_BYTES_MAX;
	enc->lz4 = lz4;
	enc->acceleration = acceleration;
	encode_kinds_init(enc);
	return enc;
}

/* Cuts args[] into columns that will just hold the arguments. */
static void columns_lay_out(struct trc_block_encoder *enc, const uint32_t *count)
{
	uint64_t *next = enc->args;

	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++) {
		struct kind_columns *c = &enc->by_kind[k];

		c->n = 0;
		for (int a = 0; a < c->n_args; a++) {
			c->arg[a] = next;
			next += count[k];
		}
	}
}

static inline void row_scatter(struct kind_columns *c, const uint64_t *row)
{
	uint32_t r = c->n++;

	switch (c->n_args) {
	case 6:
		c->arg[5][r] = row[7];
		__attribute__((fallthrough));
	case 5:
		c->arg[4][r] = row[6];
		__attribute__((fallthrough));
	case 4:
		c->arg[3][r] = row[5];
		__attribute__((fallthrough));
	case 3:
		c->arg[2][r] = row[4];
		__attribute__((fallthrough));
	case 2:
		c->arg[1][r] = row[3];
		__attribute__((fallthrough));
	case 1:
		c->arg[0][r] = row[2];
		__attribute__((fallthrough));
	default:
		break;
	}
	/* A time point is told by how long before the event it was. */
	if (c->ticks_arg >= 0)
		c->arg[c->ticks_arg][r] = row[0] - row[2 + c->ticks_arg];
}

static void rows_scatter(struct trc_block_encoder *enc, const struct trc_rows *rows)
{
	bool proc_per_event = rows->source == TRC_SOURCE_OVERFLOW;
	uint32_t i = 0;

	for (uint32_t c = 0; c < rows->n_chunks; c++) {
		const uint64_t *end = rows->chunk[c] + rows->words[c];

		for (const uint64_t *row = rows->chunk[c]; row < end; i++) {
			uint64_t word = row[1];

			enc->time[i] = row[0];
			enc->kind[i] = word & 255;
			enc->thread[i] = word >> 32;
			if (proc_per_event)
				enc->proc[i] = word >> 18 & (TRC_PROCS_MAX - 1);
			row_scatter(&enc->by_kind[word & 255], row);
			row += word >> 8 & 1023;
		}
	}
}

/* Puts the TEXT arguments of one kind at enc->pos, one after the other; returns their bytes. */
static size_t text_gather(struct trc_block_encoder *enc, const struct trc_rows *rows,
			  unsigned int kind)
{
	int at = 2 + enc->by_kind[kind].text_arg;
	size_t n_bytes = 0;

	for (uint32_t c = 0; c < rows->n_chunks; c++) {
		const uint64_t *end = rows->chunk[c] + rows->words[c];

		for (const uint64_t *row = rows->chunk[c]; row < end; row += row[1] >> 8 & 1023) {
			if ((row[1] & 255) != kind)
				continue;
			memcpy(enc->pos + n_bytes, row + at + 1, row[at]);
			n_bytes += row[at];
		}
	}
	return n_bytes;
}

static bool lz4_is_due(struct lz4_habit *habit)
{
	if (!habit->wait)
		return true;
	habit->wait--;
	return false;
}

static void lz4_learn(struct lz4_habit *habit, bool helped)
{
	if (helped)
		habit->pause = 0;
	else if (habit->pause < LZ4_PAUSE_MAX)
		habit->pause = (uint8_t)(2 * habit->pause + 1);
	habit->wait = habit->pause;
}

/* Packs the raw bytes at enc->pos in place if that saves a sixteenth; returns the bytes
 * that are there now. */
static size_t column_pack(struct trc_block_encoder *enc, size_t raw_bytes, struct lz4_habit *habit)
{
	size_t limit = raw_bytes - raw_bytes / 16;
	int packed_bytes;

	if (raw_bytes < LZ4_BYTES_MIN || !lz4_is_due(habit))
		return raw_bytes;
	if (limit > enc->packed_bytes_max)
		limit = enc->packed_bytes_max;
	packed_bytes =
		LZ4_compress_fast_extState(enc->lz4, (const char *)enc->pos, (char *)enc->packed,
					   (int)raw_bytes, (int)limit, enc->acceleration);
	lz4_learn(habit, packed_bytes > 0);
	if (packed_bytes <= 0)
		return raw_bytes;
	memcpy(enc->pos, enc->packed, (size_t)packed_bytes);
	return (size_t)packed_bytes;
}

/* Takes the raw bytes at enc->pos for a column: packs them, notes them in the directory. */
static void packed_column_add(struct trc_block_encoder *enc, enum trc_column_what what,
			      unsigned int kind, unsigned int arg, uint8_t coding, size_t raw_bytes,
			      struct lz4_habit *habit)
{
	size_t stored_bytes = column_pack(enc, raw_bytes, habit);
	uint8_t *p = enc->directory;
	bool packed = stored_bytes != raw_bytes;

	*p++ = (uint8_t)what;
	if (what >= TRC_COLUMN_ARG) {
		*p++ = (uint8_t)kind;
		*p++ = (uint8_t)arg;
	}
	*p++ = packed ? coding | TRC_CODING_LZ4 : coding;
	p = trc_varint_put(p, raw_bytes);
	if (packed)
		p = trc_varint_put(p, stored_bytes);
	trc_put32(p, (uint32_t)trc_check64(enc->pos, stored_bytes, 0));
	enc->directory = p + 4;
	enc->pos += stored_bytes;
	enc->n_columns++;
}

/* Cites low ids each once, without looking at the tables for each event; those from `limit`
 * on one by one. */
static void cite_low_ids(struct trc_block_encoder *enc, enum trc_arg_type type,
			 const uint64_t *value, uint32_t n)
{
	enum { LIMIT = 4096 };
	uint8_t *seen = enc->packed; /* not in use now */

	memset(seen, 0, LIMIT);
	for (uint32_t i = 0; i < n; i++) {
		if (value[i] < LIMIT)
			seen[value[i]] = 1;
		else
			trc_tables_cite(enc->tables, type, &value[i], 1);
	}
	for (uint64_t id = 0; id < LIMIT; id++)
		if (seen[id])
			trc_tables_cite(enc->tables, type, &id, 1);
}

static void cite_column(struct trc_block_encoder *enc, enum trc_arg_type type, uint8_t coding,
			const uint64_t *value, uint32_t n)
{
	if (!trc_tables_has(type))
		return;
	if (coding == TRC_CODING_DICTIONARY)
		trc_tables_cite(enc->tables, type, enc->scratch->distinct,
				enc->scratch->n_distinct);
	else if (coding == TRC_CODING_CONSTANT || n < 1024)
		trc_tables_cite(enc->tables, type, value, coding == TRC_CODING_CONSTANT ? 1 : n);
	else
		cite_low_ids(enc, type, value, n);
}

static void fixed_column(struct trc_block_encoder *enc, enum trc_column_what what,
			 const uint64_t *value, uint32_t n)
{
	uint8_t coding;
	size_t raw_bytes = trc_column_encode(enc->scratch, value, n, what == TRC_COLUMN_TIME,
					     enc->pos, &coding);

	if (what == TRC_COLUMN_THREAD)
		cite_column(enc, TRC_ARG_THREAD, coding, value, n);
	packed_column_add(enc, what, 0, 0, coding, raw_bytes, &enc->fixed_habit[what]);
}

static void kind_columns_add(struct trc_block_encoder *enc, const struct trc_rows *rows,
			     unsigned int kind)
{
	const struct trc_kind_info *info = trc_kind_info(kind);
	struct kind_columns *c = &enc->by_kind[kind];

	for (unsigned int a = 0; a < c->n_args; a++) {
		uint8_t coding;
		size_t n_bytes =
			trc_column_encode(enc->scratch, c->arg[a], c->n, false, enc->pos, &coding);

		cite_column(enc, info->arg[a].type, coding, c->arg[a], c->n);
		packed_column_add(enc, TRC_COLUMN_ARG, kind, a, coding, n_bytes,
				  &enc->habit[kind][a]);
	}
	if (c->text_arg >= 0) {
		packed_column_add(enc, TRC_COLUMN_TEXT, kind, (unsigned int)c->text_arg,
				  TRC_CODING_BYTES, text_gather(enc, rows, kind),
				  &enc->habit[kind][TRC_ARGS_MAX]);
	}
}

/* The head up to the directory, which is already there: see columns_add(). */
static uint8_t *head_put(uint8_t *p, const struct trc_block_encoder *enc,
			 const struct trc_rows *rows, const uint32_t *count)
{
	bool proc_per_event = rows->source == TRC_SOURCE_OVERFLOW;
	uint32_t n_kinds = 0;

	*p++ = rows->source;
	p = trc_varint_put(p, proc_per_event ? 0 : (uint64_t)rows->proc + 1);
	p = trc_varint_put(p, rows->n_events);
	p = trc_varint_put(p, enc->time[0]);
	p = trc_varint_put(p, enc->time[rows->n_events - 1] - enc->time[0]);
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		n_kinds += count[k] != 0;
	p = trc_varint_put(p, n_kinds);
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++) {
		if (!count[k])
			continue;
		*p++ = (uint8_t)k;
		p = trc_varint_put(p, count[k]);
	}
	return trc_varint_put(p, enc->n_columns);
}

static void columns_add(struct trc_block_encoder *enc, const struct trc_rows *rows,
			const uint32_t *count)
{
	enc->pos = enc->columns;
	enc->directory = enc->head;
	enc->n_columns = 0;
	fixed_column(enc, TRC_COLUMN_KIND, enc->kind, rows->n_events);
	fixed_column(enc, TRC_COLUMN_TIME, enc->time, rows->n_events);
	fixed_column(enc, TRC_COLUMN_THREAD, enc->thread, rows->n_events);
	if (rows->source == TRC_SOURCE_OVERFLOW)
		fixed_column(enc, TRC_COLUMN_PROC, enc->proc, rows->n_events);
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		if (count[k])
			kind_columns_add(enc, rows, k);
}

void trc_block_encode(struct trc_block_encoder *enc, const struct trc_rows *rows,
		      struct trc_tables *tables, const uint8_t **section, size_t *n_bytes)
{
	const uint32_t *count = rows->kind_count;
	uint8_t front[64 + 4 * (TRC_KIND_MAX + 1)];
	size_t front_bytes, directory_bytes, head_bytes;
	uint8_t *base;

	enc->tables = tables;
	columns_lay_out(enc, count);
	rows_scatter(enc, rows);
	columns_add(enc, rows, count);

	front_bytes = (size_t)(head_put(front + 4, enc, rows, count) - front);
	directory_bytes = (size_t)(enc->directory - enc->head);
	head_bytes = front_bytes + directory_bytes;
	trc_put32(front, (uint32_t)head_bytes);
	base = enc->columns - head_bytes - TRC_SECTION_HEADER_BYTES;
	memcpy(base + TRC_SECTION_HEADER_BYTES, front, front_bytes);
	memcpy(base + TRC_SECTION_HEADER_BYTES + front_bytes, enc->head, directory_bytes);
	*section = base;
	*n_bytes = trc_section_seal(base, TRC_SECTION_BLOCK, 0,
				    head_bytes + (size_t)(enc->pos - enc->columns), head_bytes);
}
