/*
 * cfi.c - see cfi.h.  The encodings are those of the Linux Standard Base
 * (.eh_frame, .eh_frame_hdr) and of DWARF 4, section 6.4.
 *
 *   cfi:C1  a cursor never moves past its end; a read that would do so makes the cursor bad, and
 *       from then on it reads zero
 *   cfi:C2  the effect of an instruction is kept only for the four places of a rule and the one
 *       register asked for
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "cfi.h"
#include "expr.h"
#include "poison.h"

/* The places, as indices while a program of CFA instructions runs. */
enum column { COL_CFA, COL_RA, COL_FP, COL_SP, COL_ASKED, COLS };

struct row {
	struct trc_place place[COLS];
};

enum {
	ROWS_REMEMBERED = 8,
	TABLE_SDATA4 = 0x3b, /* relative to the header, four bytes */
	TABLE_SDATA8 = 0x3c,
	ENC_PCREL = 0x10,
	ENC_ALIGNED = 0x50,
	ENC_APPLICATION = 0x70,
	ENC_INDIRECT = 0x80,
};

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t fde_encoding;
	bool augmented; /* FDEs have augmentation data, whose length they state */
	bool signal;
	struct trc_cursor program;
};

/* ---- encoded pointers ------------------------------------------------------------------- */

static uint64_t get_format(struct trc_cursor *from, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return trc_cursor_get(from, 8);
	case 0x01:
		return trc_cursor_uleb(from);
	case 0x09:
		return (uint64_t)trc_cursor_sleb(from);
	case 0x02:
		return trc_cursor_get(from, 2);
	case 0x0a:
		return (uint64_t)(int64_t)(int16_t)trc_cursor_get(from, 2);
	case 0x03:
		return trc_cursor_get(from, 4);
	case 0x0b:
		return (uint64_t)(int64_t)(int32_t)trc_cursor_get(from, 4);
	default:
		from->bad = true;
		return 0;
	}
}

static uint64_t get_pointer(struct trc_cursor *from, uint8_t encoding)
{
	uint64_t base = (encoding & ENC_APPLICATION) == ENC_PCREL ? (uintptr_t)from->at : 0;

	if ((encoding & ENC_APPLICATION) > ENC_PCREL || encoding & ENC_INDIRECT)
		from->bad = true;
	return base + get_format(from, encoding);
}

static void skip_pointer(struct trc_cursor *from, uint8_t encoding)
{
	if ((encoding & ENC_APPLICATION) == ENC_ALIGNED)
		from->bad = true;
	get_format(from, encoding);
}

/* ---- entries ---------------------------------------------------------------------------- */

/* The body of the entry at `at`, after its length. */
static int entry_open(const struct trc_cfi_bytes *bytes, uintptr_t at, struct trc_cursor *body)
{
	uintptr_t start = (uintptr_t)bytes->start, end = (uintptr_t)bytes->end;
	uint64_t length;

	if (at < start || at >= end)
		return -EBADMSG;
	*body = (struct trc_cursor){bytes->start + (at - start), bytes->end, false};
	length = trc_cursor_get(body, 4);
	if (length == 0xffffffff)
		return -ENOTSUP;
	if (body->bad || length > (uint64_t)(body->end - body->at))
		return -EBADMSG;
	body->end = body->at + length;
	return length ? 0 : -ENOENT;
}

/* The augmentation of a CIE: `letters` up to its NUL, the data in `data`. */
static void augmentation_read(struct trc_cursor letters, struct trc_cursor data, struct cie *cie)
{
	uint8_t letter;

	while ((letter = (uint8_t)trc_cursor_get(&letters, 1)) != 0) {
		if (letter == 'R') {
			cie->fde_encoding = (uint8_t)trc_cursor_get(&data, 1);
		} else if (letter == 'P') {
			skip_pointer(&data, (uint8_t)trc_cursor_get(&data, 1));
		} else if (letter == 'L') {
			trc_cursor_get(&data, 1);
		} else if (letter == 'S') {
			cie->signal = true;
		} else if (letter != 'B' && letter != 'G') {
			return; /* unknown: the length of the data leads past it */
		}
	}
	if (data.bad)
		cie->program.bad = true;
}

static int cie_read(const struct trc_cfi_bytes *bytes, uintptr_t at, struct cie *cie)
{
	struct trc_cursor body, letters;
	uint64_t version, ra, length;
	int err = entry_open(bytes, at, &body);

	if (err)
		return err == -ENOENT ? -EBADMSG : err;
	if (trc_cursor_get(&body, 4) != 0)
		return -EBADMSG;
	version = trc_cursor_get(&body, 1);
	letters = body;
	while (trc_cursor_get(&body, 1) != 0) /* bad reads zero (C1) */
		;
	*cie = (struct cie){.code_align = trc_cursor_uleb(&body)};
	cie->data_align = trc_cursor_sleb(&body);
	ra = version == 1 ? trc_cursor_get(&body, 1) : trc_cursor_uleb(&body);
	if (body.bad)
		return -EBADMSG;
	if ((version != 1 && version != 3) || ra != TRC_REG_RA)
		return -ENOTSUP;
	if (*letters.at == 'z') {
		letters.at++;
		cie->augmented = true;
		length = trc_cursor_uleb(&body);
		if (body.bad || length > (uint64_t)(body.end - body.at))
			return -EBADMSG;
		augmentation_read(letters, (struct trc_cursor){body.at, body.at + length, false},
				  cie);
		body.at += length;
	} else if (*letters.at) {
		return -ENOTSUP;
	}
	body.bad = cie->program.bad;
	cie->program = body;
	return body.bad ? -EBADMSG : 0;
}

/* ---- the program ------------------------------------------------------------------------ */

/* Runs CFA instructions up to the row of an address. */
struct machine {
	const struct cie *cie;
	uintptr_t pc;
	uintptr_t loc;
	uint32_t asked; /* the register of COL_ASKED */
	uint32_t remembered;
	const struct row *initial; /* what `restore` goes back to; NULL while the CIE's run */
	struct row row;
	struct row memory[ROWS_REMEMBERED];
};

/* Where C2 keeps what is said of register `reg`; NULL = nowhere. */
static struct trc_place *register_place(struct machine *m, uint64_t reg)
{
	switch (reg) {
	case TRC_REG_RA:
		return &m->row.place[COL_RA];
	case TRC_REG_FP:
		return &m->row.place[COL_FP];
	case TRC_REG_SP:
		return &m->row.place[COL_SP];
	default:
		return reg == m->asked ? &m->row.place[COL_ASKED] : NULL;
	}
}

static struct trc_place place_make(enum trc_how how, uint64_t reg, int64_t off)
{
	if (reg >= TRC_REGS || off != (int32_t)off)
		return (struct trc_place){.how = TRC_HOW_UNKNOWN};
	return (struct trc_place){.how = (uint8_t)how, .reg = (uint8_t)reg, .off = (int32_t)off};
}

static void set_place(struct machine *m, uint64_t reg, struct trc_place value)
{
	struct trc_place *place = register_place(m, reg);

	if (place)
		*place = value;
}

static void set_offset(struct machine *m, uint64_t reg, enum trc_how how, int64_t factored)
{
	int64_t off;

	if (__builtin_mul_overflow(factored, m->cie->data_align, &off))
		off = INT64_MAX;
	set_place(m, reg, place_make(how, 0, off));
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->row.place[COL_CFA] = place_make(TRC_HOW_REG, reg, off);
}

static void restore(struct machine *m, uint64_t reg)
{
	struct trc_place *place = register_place(m, reg);

	if (place && m->initial)
		*place = m->initial->place[place - m->row.place];
}

static void set_expression(struct machine *m, struct trc_cursor *from, uint64_t reg, bool value)
{
	uint64_t length = trc_cursor_uleb(from);
	struct trc_place place;

	if (from->bad || length > (uint64_t)(from->end - from->at)) {
		from->bad = true;
		return;
	}
	place = trc_expr_place((struct trc_cursor){from->at, from->at + length, false}, m->pc);
	set_place(m, reg, value ? place : trc_place_deref(place));
	from->at += length;
}

static void set_cfa_expression(struct machine *m, struct trc_cursor *from)
{
	uint64_t length = trc_cursor_uleb(from);

	if (from->bad || length > (uint64_t)(from->end - from->at)) {
		from->bad = true;
		return;
	}
	m->row.place[COL_CFA] =
		trc_expr_place((struct trc_cursor){from->at, from->at + length, false}, m->pc);
	from->at += length;
}

static void remember_row(struct machine *m, struct trc_cursor *from)
{
	if (m->remembered == ROWS_REMEMBERED)
		from->bad = true;
	else
		m->memory[m->remembered++] = m->row;
}

static void restore_row(struct machine *m, struct trc_cursor *from)
{
	if (!m->remembered)
		from->bad = true;
	else
		m->row = m->memory[--m->remembered];
}

/* Returns false where the row of pc ends. */
static bool machine_advance(struct machine *m, uint64_t delta)
{
	m->loc += delta * m->cie->code_align;
	return m->loc <= m->pc;
}

/* The instructions that define the CFA.  Returns false if `op` is none of them. */
static bool run_cfa(struct machine *m, struct trc_cursor *from, uint64_t op)
{
	const struct trc_place *cfa = &m->row.place[COL_CFA];
	uint64_t reg;

	switch (op) {
	case 0x0c: /* def_cfa */
		reg = trc_cursor_uleb(from);
		set_cfa(m, reg, (int64_t)trc_cursor_uleb(from));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(m, trc_cursor_uleb(from), cfa->off);
		return true;
	case 0x0e: /* def_cfa_offset */
		set_cfa(m, cfa->reg, (int64_t)trc_cursor_uleb(from));
		return true;
	case 0x0f: /* def_cfa_expression */
		set_cfa_expression(m, from);
		return true;
	case 0x12: /* def_cfa_sf */
		reg = trc_cursor_uleb(from);
		set_cfa(m, reg, trc_cursor_sleb(from) * m->cie->data_align);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		set_cfa(m, cfa->reg, trc_cursor_sleb(from) * m->cie->data_align);
		return true;
	default:
		return false;
	}
}

/* The instructions that say where a register was saved.  Returns false if `op` is none. */
static bool run_register(struct machine *m, struct trc_cursor *from, uint64_t op)
{
	uint64_t reg;

	if (op < 0x05 || op == 0x0a || op == 0x0b || (op > 0x16 && op != 0x2f))
		return false;
	reg = trc_cursor_uleb(from);
	switch (op) {
	case 0x05: /* offset_extended */
		set_offset(m, reg, TRC_HOW_CFA_MEM, (int64_t)trc_cursor_uleb(from));
		return true;
	case 0x06: /* restore_extended */
		restore(m, reg);
		return true;
	case 0x07: /* undefined */
		set_place(m, reg, place_make(TRC_HOW_UNDEFINED, 0, 0));
		return true;
	case 0x08: /* same_value */
		set_place(m, reg, place_make(TRC_HOW_SAME, 0, 0));
		return true;
	case 0x09: /* register */
		set_place(m, reg, place_make(TRC_HOW_REG, trc_cursor_uleb(from), 0));
		return true;
	case 0x10: /* expression */
		set_expression(m, from, reg, false);
		return true;
	case 0x11: /* offset_extended_sf */
		set_offset(m, reg, TRC_HOW_CFA_MEM, trc_cursor_sleb(from));
		return true;
	case 0x14: /* val_offset */
		set_offset(m, reg, TRC_HOW_CFA, (int64_t)trc_cursor_uleb(from));
		return true;
	case 0x15: /* val_offset_sf */
		set_offset(m, reg, TRC_HOW_CFA, trc_cursor_sleb(from));
		return true;
	case 0x16: /* val_expression */
		set_expression(m, from, reg, true);
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		set_offset(m, reg, TRC_HOW_CFA_MEM, -(int64_t)trc_cursor_uleb(from));
		return true;
	default:
		return false;
	}
}

/* One instruction with its own opcode.  Returns false where the row of pc ends. */
static bool run_extended(struct machine *m, struct trc_cursor *from, uint64_t op)
{
	switch (op) {
	case 0x00: /* nop */
	case 0x2c: /* AARCH64_negate_ra_state_with_pc */
	case 0x2d: /* AARCH64_negate_ra_state: signatures are stripped in any case */
		return true;
	case 0x01: /* set_loc */
		m->loc = get_pointer(from, m->cie->fde_encoding);
		return m->loc <= m->pc;
	case 0x02:
		return machine_advance(m, trc_cursor_get(from, 1));
	case 0x03:
		return machine_advance(m, trc_cursor_get(from, 2));
	case 0x04:
		return machine_advance(m, trc_cursor_get(from, 4));
	case 0x0a:
		remember_row(m, from);
		return true;
	case 0x0b:
		restore_row(m, from);
		return true;
	case 0x2e: /* GNU_args_size */
		trc_cursor_uleb(from);
		return true;
	default:
		if (!run_cfa(m, from, op) && !run_register(m, from, op))
			from->bad = true;
		return true;
	}
}

static void program_run(struct machine *m, struct trc_cursor from, bool *bad)
{
	bool more = true;

	while (more && !from.bad && from.at < from.end) {
		uint64_t op = trc_cursor_get(&from, 1);

		switch (op >> 6) {
		case 1:
			more = machine_advance(m, op & 0x3f);
			break;
		case 2:
			set_offset(m, op & 0x3f, TRC_HOW_CFA_MEM, (int64_t)trc_cursor_uleb(&from));
			break;
		case 3:
			restore(m, op & 0x3f);
			break;
		default:
			more = run_extended(m, &from, op);
		}
	}
	*bad |= from.bad;
}

/* Brings the machine to the row of its pc in a function that starts at `start`. */
static int machine_run(struct machine *m, struct trc_cursor program, uintptr_t start)
{
	struct row initial;
	bool bad = false;

	m->loc = start;
	m->row = (struct row){.place[COL_CFA].how = TRC_HOW_UNKNOWN};
	m->initial = NULL;
	m->remembered = 0;
	program_run(m, m->cie->program, &bad);
	initial = m->row;
	m->initial = &initial;
	m->loc = start;
	program_run(m, program, &bad);
	m->initial = NULL;
	return bad ? -EBADMSG : 0;
}

static void rule_take(const struct machine *m, struct trc_rule *rule)
{
	bool end = m->row.place[COL_RA].how == TRC_HOW_UNDEFINED;

	*rule = (struct trc_rule){
		.kind = end ? TRC_RULE_END : TRC_RULE_STEP,
		.exact = m->cie->signal,
		.cfa = m->row.place[COL_CFA],
		.ra = m->row.place[COL_RA],
		.fp = m->row.place[COL_FP],
		.sp = m->row.place[COL_SP],
	};
}

/* ---- from an address to its FDE --------------------------------------------------------- */

/* The FDE at `fde`: its CIE, its program and the code it is for. */
struct fde {
	struct cie cie;
	struct trc_cursor program;
	uintptr_t start;
	uint64_t length;
};

static int fde_read(const struct trc_cfi_bytes *bytes, uintptr_t at, struct fde *fde)
{
	struct trc_cursor body;
	uintptr_t cie_field;
	uint64_t cie_distance, skip;
	int err = entry_open(bytes, at, &body);

	if (err)
		return err;
	cie_field = (uintptr_t)body.at;
	cie_distance = trc_cursor_get(&body, 4);
	if (!cie_distance || body.bad)
		return -EBADMSG;
	err = cie_read(bytes, cie_field - cie_distance, &fde->cie);
	if (err)
		return err;
	fde->start = get_pointer(&body, fde->cie.fde_encoding);
	fde->length = get_format(&body, fde->cie.fde_encoding & 0x0f);
	skip = fde->cie.augmented ? trc_cursor_uleb(&body) : 0;
	if (body.bad || skip > (uint64_t)(body.end - body.at))
		return -EBADMSG;
	body.at += skip;
	fde->program = body;
	return 0;
}

/* The sorted table that follows the header's four fields. */
struct table {
	const uint8_t *entry;
	uint64_t count;
	uint32_t half; /* bytes of each of an entry's two fields */
};

static int table_open(const struct trc_cfi_bytes *bytes, struct table *table)
{
	struct trc_cursor hdr = {bytes->hdr, bytes->end, false};
	uint8_t frame_encoding, count_encoding, encoding;

	if (bytes->hdr < bytes->start || bytes->hdr >= bytes->end)
		return -EBADMSG;
	if (trc_cursor_get(&hdr, 1) != 1)
		return hdr.bad ? -EBADMSG : -ENOTSUP;
	frame_encoding = (uint8_t)trc_cursor_get(&hdr, 1);
	count_encoding = (uint8_t)trc_cursor_get(&hdr, 1);
	encoding = (uint8_t)trc_cursor_get(&hdr, 1);
	if (encoding != TABLE_SDATA4 && encoding != TABLE_SDATA8)
		return -ENOTSUP;
	skip_pointer(&hdr, frame_encoding);
	table->count = get_pointer(&hdr, count_encoding);
	table->entry = hdr.at;
	table->half = encoding == TABLE_SDATA4 ? 4 : 8;
	if (hdr.bad || table->count > (uint64_t)(hdr.end - hdr.at) / (2 * table->half))
		return -EBADMSG;
	return 0;
}

/* Field 0 (the code's address) or 1 (its FDE's) of an entry. */
static uintptr_t table_field(const struct trc_cfi_bytes *bytes, const struct table *table,
			     uint64_t i, uint32_t field)
{
	const uint8_t *at = table->entry + (2 * i + field) * table->half;
	int32_t narrow;
	int64_t wide;

	if (table->half == 4) {
		memcpy(&narrow, at, sizeof(narrow));
		wide = narrow;
	} else {
		memcpy(&wide, at, sizeof(wide));
	}
	return (uintptr_t)bytes->hdr + (uintptr_t)wide;
}

/* The FDE that the table has for `pc`: the last that starts at or below it. */
static int header_table_find(const struct trc_cfi_bytes *bytes, uintptr_t pc, uintptr_t *fde)
{
	struct table table;
	uint64_t low = 0, high;
	int err = table_open(bytes, &table);

	if (err)
		return err;
	high = table.count; /* entries before low start at or below pc, from high on above it */
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (table_field(bytes, &table, mid, 0) <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return -ENOENT;
	*fde = table_field(bytes, &table, low - 1, 1);
	return 0;
}

int trc_cfi_register(const struct trc_cfi_bytes *bytes, uintptr_t pc, uint32_t reg,
		     struct trc_rule *rule, struct trc_place *place)
{
	struct fde fde;
	struct machine m;
	uintptr_t at;
	int err = header_table_find(bytes, pc, &at);

	if (!err)
		err = fde_read(bytes, at, &fde);
	if (err)
		return err;
	if (pc - fde.start >= fde.length)
		return -ENOENT;
	m.cie = &fde.cie;
	m.pc = pc;
	m.asked = reg;
	err = machine_run(&m, fde.program, fde.start);
	if (err)
		return err;
	rule_take(&m, rule);
	*place = m.row.place[COL_ASKED];
	return 0;
}

int trc_cfi_rule(const struct trc_cfi_bytes *bytes, uintptr_t pc, struct trc_rule *rule)
{
	struct trc_place none;

	return trc_cfi_register(bytes, pc, TRC_REGS, rule, &none);
}
