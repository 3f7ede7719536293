/*
 * expr.h - a cursor over untrusted bytes, and DWARF expressions as places.
 */
#ifndef TRC_RECORDER_UNWIND_EXPR_H
#define TRC_RECORDER_UNWIND_EXPR_H

#include <string.h>
#include "rule.h"

/* Reads [at, end).  A read beyond end makes the cursor bad, for good, and yields zero. */
struct trc_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

/* The next 1, 2, 4 or 8 bytes, low byte first. */
static inline uint64_t trc_cursor_get(struct trc_cursor *from, uint32_t bytes)
{
	uint64_t value = 0;

	if (from->bad || (uint64_t)(from->end - from->at) < bytes) {
		from->bad = true;
		return 0;
	}
	memcpy(&value, from->at, bytes);
	from->at += bytes;
	return value;
}

/* LEB128 numbers; bits beyond the 64th are bad. */
uint64_t trc_cursor_uleb(struct trc_cursor *from);
int64_t trc_cursor_sleb(struct trc_cursor *from);

/*
 * The expression's value in terms of registers, found once, when the rule is made: nothing is left
 * to evaluate at capture.  `pc` is a constant, as the rule is for that address alone (so the PLT's
 * expression becomes rsp + 8 or rsp + 16).  Only sums of one register and constants, and one fetch
 * from such an address, are supported; UNKNOWN for anything else.
 */
struct trc_place trc_expr_place(struct trc_cursor expression, uintptr_t pc);

/* The value in memory at a place, or UNKNOWN. */
struct trc_place trc_place_deref(struct trc_place place);

#endif
