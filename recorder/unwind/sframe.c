/*
 * sframe.c - see sframe.h.
 *
 * A section is a header, an index of functions sorted by address, and rows.  A row says where
 * the CFA, the return address and the frame pointer are to be found, from one address of its
 * function up to the next row's: by up to three offsets, or, in a "flexible" function of version 3,
 * by pairs of a control word and an offset.
 *
 *   sframe:F1  a cursor never moves past its end (expr.h); loops over rows end with their bytes
 *   sframe:F2  offsets of the header are checked against the section once, in section_open()
 */
#include <errno.h>
#include <stddef.h>
#include "expr.h"
#include "sframe.h"
#include "poison.h"

enum {
	MAGIC = 0xdee2,
	HEADER_BYTES = 28, /* without the auxiliary header */
	FLAG_SORTED = 1,
	FLAG_FRAME_POINTER = 2, /* version 2 alone */
	FLAG_START_AT_FIELD =
		4, /* a function's start counts from its field, else from the header */
	FUNCTION_BYTES_2 = 20,
	FUNCTION_BYTES_3 = 16,
	WORDS_MAX = 15,
#if defined(__x86_64__)
	ABI = 3,
#else
	ABI = 2, /* aarch64, little endian */
#endif
};

/* The bits of a function's and of a row's info. */
enum {
	INFO_ADDRESS = 0x0f, /* 0, 1, 2: rows begin with an address of 1, 2, 4 bytes */
	INFO_REPEATS =
		0x10,	    /* rows count within a block of code that repeats itself, as in a PLT */
	INFO_SIGNAL = 0x80, /* version 3 */
	INFO2_KIND = 0x1f,
	KIND_DEFAULT = 0,
	KIND_FLEXIBLE = 1,
	ROW_SP = 1, /* the CFA is sp + offset; else fp + offset */
	CONTROL_REGISTER = 1,
	CONTROL_MEMORY = 2,
	CONTROL_SHIFT = 3,
};

struct section {
	const uint8_t *start;
	struct trc_cursor index, rows;
	uint32_t version, functions;
	bool start_at_field;
	int8_t fp_off, ra_off; /* the same in all rows; 0 = each row tells */
};

/* ---- the header ------------------------------------------------------------------------- */

static bool flags_known(uint32_t version, uint32_t flags)
{
	uint32_t known = FLAG_SORTED | FLAG_START_AT_FIELD;

	return !(flags & ~(known | (version == 2 ? FLAG_FRAME_POINTER : 0u))) &&
	       flags & FLAG_SORTED;
}

static uint32_t function_bytes(const struct section *s)
{
	return s->version == 2 ? FUNCTION_BYTES_2 : FUNCTION_BYTES_3;
}

/* [off, off + bytes) of what follows the header (F2). */
static bool section_part(struct trc_cursor body, uint64_t off, uint64_t bytes,
			 struct trc_cursor *to)
{
	uint64_t all = (uint64_t)(body.end - body.at);

	if (off > all || bytes > all - off)
		return false;
	*to = (struct trc_cursor){body.at + off, body.at + off + bytes, false};
	return true;
}

static int section_open(const struct trc_sframe_bytes *bytes, struct section *s)
{
	struct trc_cursor at = {bytes->start, bytes->end, false};
	uint32_t magic = (uint32_t)trc_cursor_get(&at, 2), flags, abi, extra;
	uint64_t rows_bytes, index_off, rows_off;

	*s = (struct section){.start = bytes->start};
	s->version = (uint32_t)trc_cursor_get(&at, 1);
	flags = (uint32_t)trc_cursor_get(&at, 1);
	abi = (uint32_t)trc_cursor_get(&at, 1);
	s->fp_off = (int8_t)trc_cursor_get(&at, 1);
	s->ra_off = (int8_t)trc_cursor_get(&at, 1);
	extra = (uint32_t)trc_cursor_get(&at, 1);
	s->functions = (uint32_t)trc_cursor_get(&at, 4);
	trc_cursor_get(&at, 4); /* how many rows: functions tell theirs */
	rows_bytes = trc_cursor_get(&at, 4);
	index_off = trc_cursor_get(&at, 4);
	rows_off = trc_cursor_get(&at, 4);
	if (at.bad || magic != MAGIC)
		return -EBADMSG;
	if ((s->version != 2 && s->version != 3) || abi != ABI || !flags_known(s->version, flags))
		return -ENOTSUP;
	s->start_at_field = flags & FLAG_START_AT_FIELD;
	if (extra > (uint64_t)(at.end - at.at))
		return -EBADMSG;
	at.at += extra;
	if (!section_part(at, index_off, (uint64_t)s->functions * function_bytes(s), &s->index) ||
	    !section_part(at, rows_off, rows_bytes, &s->rows))
		return -EBADMSG;
	return 0;
}

/* ---- the function ----------------------------------------------------------------------- */

struct function {
	uintptr_t start;
	uint64_t code_bytes;
	uint32_t rows, info, kind, repeat_bytes;
	struct trc_cursor row; /* the first, and all that follow to the end of the section */
};

static const uint8_t *section_entry(const struct section *s, uint32_t i)
{
	return s->index.at + (size_t)i * function_bytes(s);
}

static uintptr_t entry_start(const struct section *s, uint32_t i)
{
	const uint8_t *field = section_entry(s, i);
	struct trc_cursor at = {field, s->index.end, false};
	int64_t off =
		s->version == 2 ? (int32_t)trc_cursor_get(&at, 4) : (int64_t)trc_cursor_get(&at, 8);

	return (uintptr_t)(s->start_at_field ? field : s->start) + (uintptr_t)off;
}

/* The last function that starts at or below pc; false: there is none. */
static bool entry_find_for(const struct section *s, uintptr_t pc, uint32_t *found)
{
	uint32_t low = 0, high = s->functions;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (entry_start(s, mid) <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	*found = low - 1;
	return low;
}

static int function_read(const struct section *s, uint32_t i, struct function *f)
{
	struct trc_cursor at = {section_entry(s, i), s->index.end, false}, *more = &at;
	uint64_t row_off;

	f->start = entry_start(s, i);
	trc_cursor_get(&at, s->version == 2 ? 4 : 8);
	f->code_bytes = trc_cursor_get(&at, 4);
	row_off = trc_cursor_get(&at, 4);
	if (!section_part(s->rows, row_off, 0, &f->row))
		return -EBADMSG;
	f->row.end = s->rows.end;
	if (s->version == 3) /* the rest lies before the rows */
		more = &f->row;
	f->rows = (uint32_t)trc_cursor_get(more, s->version == 2 ? 4 : 2);
	f->info = (uint32_t)trc_cursor_get(more, 1);
	f->kind = s->version == 3 ? trc_cursor_get(more, 1) & INFO2_KIND : (uint32_t)KIND_DEFAULT;
	f->repeat_bytes = (uint32_t)trc_cursor_get(more, 1);
	if (more->bad || (f->info & INFO_REPEATS && !f->repeat_bytes))
		return -EBADMSG;
	/* Of a signal frame .eh_frame says more: where all its registers lie. */
	if (f->kind > KIND_FLEXIBLE || (f->info & INFO_ADDRESS) > 2 ||
	    (s->version == 3 && f->info & INFO_SIGNAL))
		return -ENOTSUP;
	return 0;
}

/* ---- the row ---------------------------------------------------------------------------- */

struct row {
	uint32_t info, words, word_bytes;
	struct trc_cursor word; /* the next to be read */
};

/* Moves `at` past one row. */
static int row_read(struct trc_cursor *at, uint32_t address_bytes, uint64_t *start, struct row *row)
{
	uint32_t size;

	*start = trc_cursor_get(at, address_bytes);
	row->info = (uint32_t)trc_cursor_get(at, 1);
	row->words = row->info >> 1 & WORDS_MAX;
	size = row->info >> 5 & 3;
	if (at->bad || size > 2)
		return -EBADMSG;
	row->word_bytes = 1u << size;
	if (!section_part(*at, 0, (uint64_t)row->words * row->word_bytes, &row->word))
		return -EBADMSG;
	at->at = row->word.end;
	return 0;
}

/* The row of the address `off` bytes into the function. */
static int frame_row_find(const struct function *f, uint64_t off, struct row *row)
{
	struct trc_cursor at = f->row;
	int found = -ENOENT;

	if (f->info & INFO_REPEATS)
		off %= f->repeat_bytes;
	for (uint32_t i = 0; i < f->rows; i++) {
		struct row next;
		uint64_t start;
		int err = row_read(&at, 1u << (f->info & INFO_ADDRESS), &start, &next);

		if (err)
			return err;
		if (start > off)
			break;
		*row = next;
		found = 0;
	}
	return found;
}

static uint32_t word_unsigned(struct row *row)
{
	row->words--;
	return (uint32_t)trc_cursor_get(&row->word, row->word_bytes);
}

static int32_t word_signed(struct row *row)
{
	uint32_t shift = 32 - 8 * row->word_bytes;

	return (int32_t)(word_unsigned(row) << shift) >> shift;
}

/* ---- the rule --------------------------------------------------------------------------- */

static struct trc_place memory_at(int32_t off)
{
	return (struct trc_place){.how = TRC_HOW_CFA_MEM, .off = off};
}

/* What all rows of the section say of a register, or where none does, that it is unchanged. */
static struct trc_place fixed(int8_t off)
{
	return off ? memory_at(off) : (struct trc_place){.how = TRC_HOW_SAME};
}

static void rule_default(const struct section *s, struct row *row, struct trc_rule *rule)
{
	rule->cfa = (struct trc_place){.how = TRC_HOW_REG,
				       .reg = row->info & ROW_SP ? TRC_REG_SP : TRC_REG_FP,
				       .off = word_signed(row)};
	rule->ra = fixed(s->ra_off);
	if (!s->ra_off && row->words)
		rule->ra = memory_at(word_signed(row));
	rule->fp = fixed(s->fp_off);
	if (!s->fp_off && row->words)
		rule->fp = memory_at(word_signed(row));
}

static struct trc_place place_at_offset(uint32_t control, int32_t off)
{
	uint32_t reg = control >> CONTROL_SHIFT;
	bool memory = control & CONTROL_MEMORY;

	if (!(control & CONTROL_REGISTER))
		return (struct trc_place){.how = memory ? TRC_HOW_CFA_MEM : TRC_HOW_CFA,
					  .off = off};
	if (reg >= TRC_REGS)
		return (struct trc_place){.how = TRC_HOW_UNKNOWN};
	return (struct trc_place){
		.how = memory ? TRC_HOW_REG_MEM : TRC_HOW_REG, .reg = (uint8_t)reg, .off = off};
}

/* A pair, or one word of zero in its place: nothing is said. */
static void take_pair(struct row *row, struct trc_place *place)
{
	uint32_t control;

	if (row->words < 2)
		return;
	control = word_unsigned(row);
	if (control)
		*place = place_at_offset(control, word_signed(row));
}

static int rule_flexible(const struct section *s, struct row *row, struct trc_rule *rule)
{
	if (row->words < 2)
		return -EBADMSG;
	take_pair(row, &rule->cfa);
	if (rule->cfa.how != TRC_HOW_REG && rule->cfa.how != TRC_HOW_REG_MEM)
		return -EBADMSG;
	rule->ra = fixed(s->ra_off);
	take_pair(row, &rule->ra);
	rule->fp = fixed(s->fp_off);
	take_pair(row, &rule->fp);
	return 0;
}

static int frame_rule_make(const struct section *s, const struct function *f, struct row *row,
			   struct trc_rule *rule)
{
	int err = 0;

	*rule = (struct trc_rule){.kind = TRC_RULE_STEP};
	if (!row->words) { /* the return address is undefined */
		rule->kind = TRC_RULE_END;
		return 0;
	}
	if (f->kind == KIND_FLEXIBLE)
		err = rule_flexible(s, row, rule);
	else
		rule_default(s, row, rule);
	if (err || row->words || row->word.bad)
		return -EBADMSG;
#if defined(__x86_64__)
	if (rule->ra.how == TRC_HOW_SAME) /* in no register */
		return -EBADMSG;
#endif
	return 0;
}

int trc_sframe_rule(const struct trc_sframe_bytes *bytes, uintptr_t pc, struct trc_rule *rule)
{
	struct section s;
	struct function f;
	struct row row;
	uint32_t i;
	int err = section_open(bytes, &s);

	if (err)
		return err;
	if (!entry_find_for(&s, pc, &i))
		return -ENOENT;
	err = function_read(&s, i, &f);
	if (err)
		return err;
	if (pc - f.start >= f.code_bytes)
		return -ENOENT;
	err = frame_row_find(&f, pc - f.start, &row);
	return err ? err : frame_rule_make(&s, &f, &row, rule);
}
