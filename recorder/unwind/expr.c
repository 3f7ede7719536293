/*
 * expr.c - see expr.h.  Operations: DWARF 4, section 2.5.
 */
#include <stddef.h>
#include "expr.h"
#include "poison.h"

enum { DEPTH_MAX = 8 };

/* A trc_place wide enough for a program counter. */
struct value {
	enum trc_how how; /* CONST, REG or REG_MEM, CFA or CFA_MEM, UNKNOWN */
	uint8_t reg;
	int64_t off; /* also the constant */
	int64_t add;
};

struct stack {
	uint32_t depth;
	bool failed;
	struct value value[DEPTH_MAX];
};

uint64_t trc_cursor_uleb(struct trc_cursor *from)
{
	uint64_t value = 0, byte;
	uint32_t shift = 0;

	do {
		byte = trc_cursor_get(from, 1);
		if (shift > 63 || (shift == 63 && byte > 1)) {
			from->bad = true;
			return 0;
		}
		value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

int64_t trc_cursor_sleb(struct trc_cursor *from)
{
	uint64_t value = 0, byte;
	uint32_t shift = 0;

	do {
		byte = trc_cursor_get(from, 1);
		if (shift > 63) {
			from->bad = true;
			return 0;
		}
		value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return (int64_t)value;
}

static void push(struct stack *s, struct value value)
{
	if (s->depth == DEPTH_MAX)
		s->failed = true;
	else
		s->value[s->depth++] = value;
}

static void push_const(struct stack *s, uint64_t value)
{
	push(s, (struct value){.how = TRC_HOW_CONST, .off = (int64_t)value});
}

static struct value pop(struct stack *s)
{
	if (!s->depth) {
		s->failed = true;
		return (struct value){.how = TRC_HOW_UNKNOWN};
	}
	return s->value[--s->depth];
}

static void push_register(struct stack *s, uint64_t reg, int64_t off, uintptr_t pc)
{
#if defined(__x86_64__)
	if (reg == TRC_REG_RA) {
		push_const(s, pc + (uint64_t)off);
		return;
	}
#else
	(void)pc;
#endif
	if (reg >= TRC_REGS)
		s->failed = true;
	else
		push(s, (struct value){.how = TRC_HOW_REG, .reg = (uint8_t)reg, .off = off});
}

static void deref(struct stack *s)
{
	struct value v = pop(s);

	if (v.how == TRC_HOW_REG)
		v.how = TRC_HOW_REG_MEM;
	else if (v.how == TRC_HOW_CFA)
		v.how = TRC_HOW_CFA_MEM;
	else
		s->failed = true;
	push(s, v);
}

/* Adds a constant to what may be a register's value or a fetched one. */
static void add_const(struct stack *s, struct value v, int64_t add)
{
	int64_t *sum = v.how == TRC_HOW_REG_MEM || v.how == TRC_HOW_CFA_MEM ? &v.add : &v.off;

	*sum = (int64_t)((uint64_t)*sum + (uint64_t)add);
	push(s, v);
}

static void expr_add(struct stack *s)
{
	struct value top = pop(s), below = pop(s);

	if (top.how == TRC_HOW_CONST)
		add_const(s, below, top.off);
	else if (below.how == TRC_HOW_CONST)
		add_const(s, top, below.off);
	else
		s->failed = true;
}

/* Two operands, of which a register is allowed only as the left of a difference. */
static void binary(struct stack *s, uint64_t op)
{
	struct value top = pop(s), below = pop(s);
	uint64_t a = (uint64_t)below.off, b = (uint64_t)top.off;

	if (op == 0x1c && top.how == TRC_HOW_CONST) {
		add_const(s, below, (int64_t)(0 - b));
		return;
	}
	if (top.how != TRC_HOW_CONST || below.how != TRC_HOW_CONST) {
		s->failed = true;
		return;
	}
	switch (op) {
	case 0x1a: /* and */
		push_const(s, a & b);
		break;
	case 0x21: /* or */
		push_const(s, a | b);
		break;
	case 0x24: /* shl */
		push_const(s, b < 64 ? a << b : 0);
		break;
	case 0x25: /* shr */
		push_const(s, b < 64 ? a >> b : 0);
		break;
	case 0x29: /* eq */
		push_const(s, a == b);
		break;
	case 0x2a: /* ge */
		push_const(s, below.off >= top.off);
		break;
	case 0x2b: /* gt */
		push_const(s, below.off > top.off);
		break;
	case 0x2c: /* le */
		push_const(s, below.off <= top.off);
		break;
	case 0x2d: /* lt */
		push_const(s, below.off < top.off);
		break;
	default:
		s->failed = true;
	}
}

/* The operations that push a constant.  Returns false if `op` is none of them. */
static bool constant(struct stack *s, struct trc_cursor *from, uint64_t op)
{
	switch (op) {
	case 0x08: /* const1u */
		push_const(s, trc_cursor_get(from, 1));
		return true;
	case 0x09:
		push_const(s, (uint64_t)(int64_t)(int8_t)trc_cursor_get(from, 1));
		return true;
	case 0x0a: /* const2u */
		push_const(s, trc_cursor_get(from, 2));
		return true;
	case 0x0b:
		push_const(s, (uint64_t)(int64_t)(int16_t)trc_cursor_get(from, 2));
		return true;
	case 0x0c: /* const4u */
		push_const(s, trc_cursor_get(from, 4));
		return true;
	case 0x0d:
		push_const(s, (uint64_t)(int64_t)(int32_t)trc_cursor_get(from, 4));
		return true;
	case 0x10: /* constu */
		push_const(s, trc_cursor_uleb(from));
		return true;
	case 0x11: /* consts */
		push_const(s, (uint64_t)trc_cursor_sleb(from));
		return true;
	default:
		if (op < 0x30 || op > 0x4f)
			return false;
		push_const(s, op - 0x30); /* lit0 .. lit31 */
		return true;
	}
}

static void operation(struct stack *s, struct trc_cursor *from, uint64_t op, uintptr_t pc)
{
	uint64_t reg;

	if (constant(s, from, op))
		return;
	if (op >= 0x70 && op <= 0x8f) { /* breg0 .. breg31 */
		push_register(s, op - 0x70, trc_cursor_sleb(from), pc);
	} else if (op == 0x92) { /* bregx */
		reg = trc_cursor_uleb(from);
		push_register(s, reg, trc_cursor_sleb(from), pc);
	} else if (op == 0x06) {
		deref(s);
	} else if (op == 0x22) {
		expr_add(s);
	} else if (op == 0x23) { /* plus_uconst */
		add_const(s, pop(s), (int64_t)trc_cursor_uleb(from));
	} else if (op != 0x96) { /* nop */
		binary(s, op);
	}
}

struct trc_place trc_expr_place(struct trc_cursor from, uintptr_t pc)
{
	const struct trc_place unknown = {.how = TRC_HOW_UNKNOWN};
	/* An expression for a register starts with the CFA; one for the CFA does not use it. */
	struct stack s = {.depth = 1, .value[0].how = TRC_HOW_CFA};
	struct value v;

	while (!from.bad && !s.failed && from.at < from.end)
		operation(&s, &from, trc_cursor_get(&from, 1), pc);
	v = pop(&s);
	if (from.bad || s.failed || v.how == TRC_HOW_CONST || v.how == TRC_HOW_UNKNOWN ||
	    v.off != (int32_t)v.off || v.add != (int32_t)v.add)
		return unknown;
	return (struct trc_place){
		.how = (uint8_t)v.how, .reg = v.reg, .off = (int32_t)v.off, .add = (int32_t)v.add};
}

struct trc_place trc_place_deref(struct trc_place place)
{
	if (place.how == TRC_HOW_REG)
		place.how = TRC_HOW_REG_MEM;
	else if (place.how == TRC_HOW_CFA)
		place.how = TRC_HOW_CFA_MEM;
	else
		place.how = TRC_HOW_UNKNOWN;
	return place;
}
