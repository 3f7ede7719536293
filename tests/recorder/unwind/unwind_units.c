/*
 * unwind_units.c - the unwinder's parts: numbers, expressions, CFA programs, short rules, and what
 * damaged unwind tables can do (nothing).
 */
#include <check.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "recorder/unwind/unwind.h"
#include "recorder/unwind/cache.h"
#include "recorder/unwind/cfi.h"
#include "recorder/unwind/expr.h"
#include "recorder/unwind/memory.h"
#include "recorder/unwind/walk.h"

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define SP         TRC_REG_SP
#define FP         TRC_REG_FP
#define RA         TRC_REG_RA

/* ---- numbers ---------------------------------------------------------------------------- */

static const struct {
	const char *says;
	const uint8_t *byte;
	size_t bytes;
	bool bad;
	uint64_t u;
	int64_t s;
} numbers[] = {
	{"one byte", BYTES(0x3f), false, 63, 63},
	{"bit 6 is the sign", BYTES(0x7f), false, 127, -1},
	{"low bits come first", BYTES(0x80, 0x01), false, 128, 128},
	{"padding is allowed", BYTES(0x80, 0x80, 0x00), false, 0, 0},
	{"64 bits fit",
	 BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), false, UINT64_MAX, -1},
	{"a number without end is bad", BYTES(0x80, 0x80), true, 0, 0},
	{"an eleventh byte is bad",
	 BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00), true, 0, 0},
};

START_TEST(numbers_are_read)
{
	struct trc_cursor u = {numbers[_i].byte, numbers[_i].byte + numbers[_i].bytes, false};
	struct trc_cursor s = u;

	ck_assert_msg(trc_cursor_uleb(&u) == numbers[_i].u, "%s", numbers[_i].says);
	ck_assert_msg(trc_cursor_sleb(&s) == numbers[_i].s, "%s", numbers[_i].says);
	ck_assert_msg(u.bad == numbers[_i].bad && s.bad == numbers[_i].bad, "%s",
		      numbers[_i].says);
}
END_TEST

/* ---- places as text --------------------------------------------------------------------- */

static const char *reg_name(uint32_t reg)
{
	static char name[16];

	if (reg == SP)
		return "sp";
	if (reg == FP)
		return "fp";
	snprintf(name, sizeof(name), "r%u", (unsigned)reg);
	return name;
}

static void place_text(char *to, size_t bytes, const struct trc_place *place)
{
	const char *base = place->how == TRC_HOW_CFA || place->how == TRC_HOW_CFA_MEM ?
				   "cfa" : reg_name(place->reg);

	switch ((enum trc_how)place->how) {
	case TRC_HOW_SAME:
		snprintf(to, bytes, "same");
		break;
	case TRC_HOW_UNDEFINED:
		snprintf(to, bytes, "lost");
		break;
	case TRC_HOW_CFA:
	case TRC_HOW_REG:
		snprintf(to, bytes, "%s%+d", base, place->off);
		break;
	case TRC_HOW_CFA_MEM:
	case TRC_HOW_REG_MEM:
		if (place->add)
			snprintf(to, bytes, "[%s%+d]%+d", base, place->off, place->add);
		else
			snprintf(to, bytes, "[%s%+d]", base, place->off);
		break;
	default:
		snprintf(to, bytes, "?");
	}
}

/* ---- expressions ------------------------------------------------------------------------ */

#define BREG(n) (0x70 + (n))

static const struct {
	const char *says;
	const uint8_t *byte;
	size_t bytes;
	uintptr_t pc;
	const char *place;
} expressions[] = {
	{"a register and an offset", BYTES(BREG(FP), 0x08), 0, "fp+8"},
	{"what lies there", BYTES(BREG(FP), 0x78, 0x06), 0, "[fp-8]"},
	{"an offset from what lies there", BYTES(BREG(SP), 0x10, 0x06, 0x23, 0x08), 0,
	 "[sp+16]+8"},
	{"a register named in full", BYTES(0x92, SP, 0x08), 0, "sp+8"},
	{"a difference", BYTES(BREG(SP), 0x20, 0x38, 0x1c), 0, "sp+24"},
	{"constants of each width",
	 BYTES(BREG(SP), 0, 0x08, 1, 0x22, 0x0a, 1, 0, 0x22, 0x0c, 1, 0, 0, 0, 0x22, 0x10, 1, 0x22,
	       0x11, 0x7f, 0x22), 0, "sp+3"},
	{"relative to the CFA, which a register's expression starts from", BYTES(0x23, 0x08), 0,
	 "cfa+8"},
	{"memory of memory is beyond us", BYTES(BREG(SP), 0, 0x06, 0x06), 0, "?"},
	{"a sum of two registers is beyond us", BYTES(BREG(SP), 0, BREG(FP), 0, 0x22), 0, "?"},
	{"a bare constant is no place", BYTES(0x38), 0, "?"},
	{"an unknown operation", BYTES(0xe0), 0, "?"},
	{"more than the stack holds",
	 BYTES(0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30), 0, "?"},
	{"less than the operation takes", BYTES(0x22, 0x22), 0, "?"},
	{"an operand that is cut off", BYTES(0x0c, 1, 2), 0, "?"},
	{"an offset too large for a place", BYTES(BREG(SP), 0x80, 0x80, 0x80, 0x80, 0x10), 0, "?"},
#if defined(__x86_64__)
	{"a PLT entry before its push",
	 BYTES(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0x1000a, "sp+8"},
	{"a PLT entry after its push",
	 BYTES(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0x1000b, "sp+16"},
#endif
};

START_TEST(expressions_become_places)
{
	const uint8_t *byte = expressions[_i].byte;
	struct trc_place place = trc_expr_place(
		(struct trc_cursor){byte, byte + expressions[_i].bytes, false}, expressions[_i].pc);
	char text[64];

	place_text(text, sizeof(text), &place);
	ck_assert_msg(strcmp(text, expressions[_i].place) == 0, "%s: %s, not %s",
		      expressions[_i].says, text, expressions[_i].place);
}
END_TEST

/* ---- CFA programs ----------------------------------------------------------------------- */

enum {
	CODE_OFF = 0x1000, /* of the function, from the header of the table */
	CODE_BYTES = 0x100,
	TABLE_BYTES = 512,
};

/* A header with a table of one, a CIE and an FDE for [hdr + CODE_OFF, + CODE_BYTES). */
struct table {
	uint8_t byte[TABLE_BYTES];
	size_t bytes;
	size_t cie_off, fde_off;
};

static void put(struct table *t, const void *from, size_t bytes)
{
	memcpy(t->byte + t->bytes, from, bytes);
	t->bytes += bytes;
}

static void put32(struct table *t, int64_t value)
{
	int32_t word = (int32_t)value;

	put(t, &word, 4);
}

/* Pads the entry that starts at `from` and states its length. */
static void entry_close(struct table *t, size_t from)
{
	uint32_t length;

	while (t->bytes % 8 != 4)
		t->byte[t->bytes++] = 0;
	length = (uint32_t)(t->bytes - from - 4);
	memcpy(t->byte + from, &length, 4);
}

static void table_make(struct table *t, const char *augmentation, const uint8_t *program,
		       size_t bytes)
{
	static const uint8_t header[] = {1, 0x1b, 0x03, 0x3b};
#if defined(__x86_64__)
	static const uint8_t initial[] = {0x0c, SP, 8, 0x80 | RA, 1};
#else
	static const uint8_t initial[] = {0x0c, SP, 0, 0, 0};
#endif
	memset(t, 0, sizeof(*t));
	put(t, header, 4);
	put32(t, 16); /* .eh_frame, from here */
	put32(t, 1);  /* entries */
	put32(t, CODE_OFF);
	put32(t, 0); /* set below */
	t->cie_off = t->bytes;
	put32(t, 0);
	put32(t, 0);
	put(t, "\x01", 1);
	put(t, augmentation, strlen(augmentation) + 1);
	put(t, (uint8_t[]){1, 0x78, RA, 1, 0x1b}, 5); /* factors 1 and -8; FDEs in pcrel sdata4 */
	put(t, initial, sizeof(initial));
	entry_close(t, t->cie_off);
	t->fde_off = t->bytes;
	memcpy(t->byte + 16, &(uint32_t){(uint32_t)t->fde_off}, 4);
	put32(t, 0);
	put32(t, (int64_t)(t->bytes - t->cie_off));
	put32(t, CODE_OFF - (int64_t)t->bytes);
	put32(t, CODE_BYTES);
	put(t, "", 1); /* no augmentation data */
	put(t, program, bytes);
	entry_close(t, t->fde_off);
}

static int table_rule(const struct table *t, uint32_t code_off, struct trc_rule *rule)
{
	struct trc_cfi_bytes bytes = {t->byte, t->byte + t->bytes, t->byte};

	return trc_cfi_rule(&bytes, (uintptr_t)t->byte + CODE_OFF + code_off, rule);
}

static const struct {
	const char *says;
	const uint8_t *byte;
	size_t bytes;
	uint32_t code_off;
	int err;
	const char *rule; /* cfa, return address, frame pointer, stack pointer */
} programs[] = {
#if defined(__x86_64__)
	{"before a push", BYTES(0x41, 0x0e, 16, 0x86, 2), 0, 0, "sp+8 [cfa-8] same same"},
	{"after it", BYTES(0x41, 0x0e, 16, 0x86, 2), 1, 0, "sp+16 [cfa-8] [cfa-16] same"},
	{"a frame pointer", BYTES(0x0e, 16, 0x86, 2, 0x43, 0x0d, FP), 9, 0,
	 "fp+16 [cfa-8] [cfa-16] same"},
	{"advance by one, two and four bytes",
	 BYTES(0x02, 2, 0x0e, 16, 0x03, 2, 0, 0x0e, 24, 0x04, 2, 0, 0, 0, 0x0e, 32), 5, 0,
	 "sp+24 [cfa-8] same same"},
	{"remembered and restored",
	 BYTES(0x0e, 16, 0x0a, 0x41, 0x0e, 64, 0x86, 3, 0x41, 0x0b), 2, 0,
	 "sp+16 [cfa-8] same same"},
	{"back to the initial rule of a register", BYTES(0x90, 3, 0x86, 2, 0xd0, 0xc6), 0, 0,
	 "sp+8 [cfa-8] same same"},
	{"same again", BYTES(0x86, 2, 0x08, FP), 0, 0, "sp+8 [cfa-8] same same"},
	{"lost", BYTES(0x07, FP), 0, 0, "sp+8 [cfa-8] lost same"},
	{"in another register", BYTES(0x09, FP, 12), 0, 0, "sp+8 [cfa-8] r12+0 same"},
	{"the outermost frame", BYTES(0x07, RA), 0, 0, "end"},
	{"a CFA that was saved", BYTES(0x0f, 3, 0x76, 0x78, 0x06), 0, 0,
	 "[fp-8] [cfa-8] same same"},
	{"a frame pointer saved relative to itself", BYTES(0x10, FP, 2, 0x76, 0), 0, 0,
	 "sp+8 [cfa-8] [fp+0] same"},
	{"a register's value by expression", BYTES(0x16, SP, 2, 0x76, 8), 0, 0,
	 "sp+8 [cfa-8] same fp+8"},
	{"signed and factored", BYTES(0x12, SP, 0x7e, 0x11, FP, 2, 0x15, SP, 1), 0, 0,
	 "sp+16 [cfa-8] [cfa-16] cfa-8"},
	{"another register as the base", BYTES(0x0c, 10, 0), 0, 0, "r10+0 [cfa-8] same same"},
	{"arguments pushed change nothing", BYTES(0x2e, 16), 0, 0, "sp+8 [cfa-8] same same"},
	{"what is said of other registers is of no interest", BYTES(0x83, 2, 0x07, 12), 0, 0,
	 "sp+8 [cfa-8] same same"},
	{"an offset too large is not cut", BYTES(0x0e, 0x80, 0x80, 0x80, 0x80, 0x10), 0, 0,
	 "? [cfa-8] same same"},
#else
	{"a frame record", BYTES(0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3), 4, 0,
	 "sp+32 [cfa-24] [cfa-32] same"},
	{"a leaf", BYTES(0x44, 0x0e, 32), 4, 0, "sp+32 same same same"},
	{"a signed return address", BYTES(0x2d, 0x44, 0x0e, 16, 0x9d, 2, 0x9e, 1), 4, 0,
	 "sp+16 [cfa-8] [cfa-16] same"},
#endif
	{"an unknown instruction", BYTES(0x3f), 0, -EBADMSG, ""},
	{"an operand that is cut off", BYTES(0x0f, 0x7f, 0x76), 0, -EBADMSG, ""},
	{"restored without remembered", BYTES(0x0b), 0, -EBADMSG, ""},
	{"remembered without end",
	 BYTES(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a), 0, -EBADMSG, ""},
	{"damage after the row of interest does not matter", BYTES(0x41, 0x07, RA, 0x41, 0x3f), 1,
	 0, "end"},
	{"an address beyond the function", BYTES(0), CODE_BYTES, -ENOENT, ""},
	{"an address before the first function", BYTES(0), (uint32_t)-CODE_OFF, -ENOENT, ""},
};

static void rule_text(char *to, size_t bytes, const struct trc_rule *rule)
{
	char cfa[32], ra[32], fp[32], sp[32];

	place_text(cfa, sizeof(cfa), &rule->cfa);
	place_text(ra, sizeof(ra), &rule->ra);
	place_text(fp, sizeof(fp), &rule->fp);
	place_text(sp, sizeof(sp), &rule->sp);
	if (rule->kind == TRC_RULE_END)
		snprintf(to, bytes, "end");
	else
		snprintf(to, bytes, "%s %s %s %s", cfa, ra, fp, sp);
}

START_TEST(programs_become_rules)
{
	struct trc_rule rule = {0};
	struct table t;
	char text[160];
	int err;

	table_make(&t, "zR", programs[_i].byte, programs[_i].bytes);
	err = table_rule(&t, programs[_i].code_off, &rule);
	ck_assert_msg(err == programs[_i].err, "%s: %d", programs[_i].says, err);
	if (err)
		return;
	rule_text(text, sizeof(text), &rule);
	ck_assert_msg(strcmp(text, programs[_i].rule) == 0, "%s: %s, not %s", programs[_i].says,
		      text, programs[_i].rule);
}
END_TEST

START_TEST(a_signal_frame_is_told_by_its_augmentation)
{
	struct trc_rule rule;
	struct table t;

	table_make(&t, "zR", BYTES(0));
	ck_assert_int_eq(table_rule(&t, 0, &rule), 0);
	ck_assert(!rule.exact);
	table_make(&t, "zRS", BYTES(0));
	ck_assert_int_eq(table_rule(&t, 0, &rule), 0);
	ck_assert(rule.exact);
}
END_TEST

START_TEST(any_register_can_be_asked_for)
{
	struct trc_cfi_bytes bytes;
	struct trc_place place;
	struct trc_rule rule;
	struct table t;
	char text[32];

	table_make(&t, "zR", BYTES(0x80 | 12, 3));
	bytes = (struct trc_cfi_bytes){t.byte, t.byte + t.bytes, t.byte};
	ck_assert_int_eq(trc_cfi_register(&bytes, (uintptr_t)t.byte + CODE_OFF, 12, &rule, &place),
			 0);
	place_text(text, sizeof(text), &place);
	ck_assert_str_eq(text, "[cfa-24]");
	ck_assert_int_eq(trc_cfi_register(&bytes, (uintptr_t)t.byte + CODE_OFF, 13, &rule, &place),
			 0);
	place_text(text, sizeof(text), &place);
	ck_assert_str_eq(text, "same");
}
END_TEST

static const struct {
	const char *says;
	size_t off; /* byte of the table that is changed */
	bool in_cie, in_fde;
	uint8_t value;
	int err;
} damages[] = {
	{"another version of the header", 0, false, false, 2, -ENOTSUP},
	{"a table in another encoding", 3, false, false, 0x1b, -ENOTSUP},
	{"no table", 3, false, false, 0xff, -ENOTSUP},
	{"more entries than bytes", 9, false, false, 1, -EBADMSG},
	{"no entries", 8, false, false, 0, -ENOENT},
	{"an FDE outside", 17, false, false, 0x7f, -EBADMSG},
	{"an FDE before the start", 19, false, false, 0x80, -EBADMSG},
	{"a CIE where an FDE should be", 16, false, false, 20, -EBADMSG},
	{"a length beyond the end", 1, false, true, 0xff, -EBADMSG},
	{"an empty entry ends the table", 0, false, true, 0, -ENOENT},
	{"a CIE outside", 5, false, true, 0xff, -EBADMSG},
	{"an FDE for its CIE", 4, true, false, 1, -EBADMSG},
	{"another version of the CIE", 8, true, false, 9, -ENOTSUP},
	{"another augmentation", 9, true, false, 'e', -ENOTSUP},
	{"another return address column", 14, true, false, 3, -ENOTSUP},
	{"augmentation data beyond the end", 15, true, false, 0x7f, -EBADMSG},
	{"an indirect pointer", 16, true, false, 0x9b, -EBADMSG},
	{"a pointer relative to what we do not know", 16, true, false, 0x2b, -EBADMSG},
};

START_TEST(damage_is_refused)
{
	static const uint8_t zero4[4];
	struct trc_rule rule;
	struct table t;
	size_t off = damages[_i].off;

	table_make(&t, "zR", BYTES(0));
	off += damages[_i].in_cie ? t.cie_off : damages[_i].in_fde ? t.fde_off : 0;
	t.byte[off] = damages[_i].value;
	if (damages[_i].err == -ENOENT && damages[_i].in_fde)
		memcpy(t.byte + off, zero4, 4);
	ck_assert_msg(table_rule(&t, 0, &rule) == damages[_i].err, "%s: %d", damages[_i].says,
		      table_rule(&t, 0, &rule));
}
END_TEST

/* ---- short rules ------------------------------------------------------------------------ */

START_TEST(rules_keep_their_meaning_when_short)
{
	static const int32_t cfa_bytes[] = {16, 32, 4096, 32000, 131056, 131072, 1 << 20};

	for (uint32_t i = 0; i < sizeof(cfa_bytes) / sizeof(cfa_bytes[0]); i++) {
		for (int32_t fp_words = 2; fp_words < 300; fp_words++) {
			struct trc_rule rule = {
				.cfa = {.how = TRC_HOW_REG, .reg = fp_words % 2 ? SP : FP,
					.off = cfa_bytes[i]},
				.ra = {.how = TRC_HOW_CFA_MEM, .off = -8},
				.fp = {.how = TRC_HOW_CFA_MEM, .off = -8 * fp_words},
			};
			uint32_t brief;
			struct trc_slots at;

#if defined(__aarch64__)
			rule.ra.off = rule.fp.off + 8;
#endif
			brief = trc_short_make(&rule);
			if (!brief) { /* only what does not fit */
				ck_assert(cfa_bytes[i] >= 131072 || fp_words >= 256 ||
					  TRC_SHORT_CFA_UNIT == 16);
				continue;
			}
			at = trc_short_slots(brief, 1 << 24, 1 << 25);
			ck_assert_uint_eq(at.cfa, (uintptr_t)(fp_words % 2 ? 1 << 24 : 1 << 25) +
							  (uintptr_t)cfa_bytes[i]);
			ck_assert_uint_eq(at.fp, at.cfa - 8ul * (uintptr_t)fp_words);
			ck_assert_uint_eq(at.ra, at.cfa + (uintptr_t)(intptr_t)rule.ra.off);
			ck_assert(at.fp_saved);
		}
	}
}
END_TEST

START_TEST(the_cache_gives_back_what_was_put)
{
	struct trc_rule odd = {.kind = TRC_RULE_END};
	struct trc_rule even = {.cfa = {.how = TRC_HOW_REG, .reg = SP, .off = 64},
				.ra = {.how = TRC_HOW_CFA_MEM, .off = -8},
				.fp = {.how = TRC_HOW_CFA_MEM, .off = -16}};
	_Atomic uint64_t *words;
	uint32_t epoch, hits = 0;

	ck_assert_int_eq(trc_cache_setup(), 0);
	words = atomic_load(&trc_cache.word);
	epoch = trc_cache_epoch();
	/* Twice as many as there is room for, some of them at 48-bit addresses. */
	for (uintptr_t i = 1; i <= 2 * TRC_CACHE_WORDS; i++)
		trc_cache_put(i * 0x7f4ab31 % (TRC_CACHE_ADDRESS_MAX - 1), epoch,
			      i % 2 ? &odd : &even);
	for (uintptr_t i = 1; i <= 2 * TRC_CACHE_WORDS; i++) {
		uintptr_t at = i * 0x7f4ab31 % (TRC_CACHE_ADDRESS_MAX - 1);
		uint32_t brief = trc_cache_get(words, at, epoch), kind = trc_short_kind(brief);

		ck_assert(!kind || kind == (i % 2 ? TRC_SHORT_WIDE : TRC_SHORT_SP));
		ck_assert(kind != TRC_SHORT_WIDE ||
			  trc_cache_wide(brief)->kind == TRC_RULE_END);
		hits += kind != 0;
		ck_assert_uint_eq(trc_short_kind(trc_cache_get(words, at, epoch ^ 1)), 0);
	}
	ck_assert_uint_gt(hits, TRC_CACHE_WORDS / 2);
	trc_cache_forget();
	ck_assert_uint_ne(trc_cache_epoch(), epoch);
	for (uintptr_t i = 1; i <= 2 * TRC_CACHE_WORDS; i++)
		ck_assert_uint_eq(trc_cache_get(words, i * 0x7f4ab31, epoch), 0);
}
END_TEST

/* ---- memory ----------------------------------------------------------------------------- */

START_TEST(only_readable_memory_is_reached)
{
	const size_t page = 65536; /* the largest there is */
	uint8_t *map = mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t at = (uintptr_t)map, value;
	struct trc_copied_few few;
	struct trc_range range = {0, 0, false, trc_copied_begin(&few)};

	ck_assert(map != MAP_FAILED);
	mprotect(map + page, page, PROT_NONE);
	munmap(map + 3 * page, page);
	errno = 4711;
	ck_assert(trc_range_read(&range, at, &value));
	ck_assert(trc_range_read(&range, at + page - 8, &value));
	ck_assert(!trc_range_read(&range, at + page, &value));
	ck_assert(!trc_range_read(&range, at + page - 4, &value));
	ck_assert(trc_range_read(&range, at + 2 * page, &value));
	ck_assert(!trc_range_read(&range, at + 3 * page, &value));
	ck_assert(!trc_range_read(&range, 0, &value));
	ck_assert(!trc_range_read(&range, ~(uintptr_t)7, &value));
	ck_assert_int_eq(errno, 4711);
	munmap(map, 3 * page);
}
END_TEST

/* Each page is another copy. */
START_TEST(so_many_copies_are_made_and_no_more)
{
	const size_t pages = TRC_COPIES_MAX + 2, page = 4096;
	uint8_t *map = mmap(NULL, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t at = (uintptr_t)map, value;
	struct trc_copied_few few;
	struct trc_range range = {0, 0, false, trc_copied_begin(&few)};

	ck_assert(map != MAP_FAILED);
	for (size_t i = 0; i < TRC_COPIES_MAX; i++) {
		ck_assert(!trc_copied_gave_up(range.copied));
		ck_assert_msg(trc_range_read(&range, at + i * page, &value), "copy %zu", i);
		ck_assert(trc_range_read(&range, at + i * page + 8, &value));
	}
	ck_assert(trc_copied_gave_up(range.copied));
	ck_assert(!trc_range_read(&range, at + TRC_COPIES_MAX * page, &value));
	ck_assert(!trc_range_read(&range, at, &value));
	ck_assert_uint_eq(range.copied->n_copies, TRC_COPIES_MAX);

	trc_copied_begin(&few); /* for another walk */
	ck_assert(trc_range_read(&range, at + TRC_COPIES_MAX * page, &value));
	munmap(map, pages * page);
}
END_TEST

/* ---- damage at random ------------------------------------------------------------------- */

struct own {
	const uint8_t *start, *end, *hdr;
	uintptr_t code;
	size_t code_bytes;
};

static int own_find(struct dl_phdr_info *info, size_t bytes, void *to)
{
	struct own *own = to;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			own->hdr = (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const uint8_t *start = (const uint8_t *)info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && own->hdr >= start && own->hdr < start + ph->p_filesz) {
			own->start = start;
			own->end = start + ph->p_filesz;
		}
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X) {
			own->code = (uintptr_t)start;
			own->code_bytes = ph->p_filesz;
		}
	}
	return 1; /* the first is this program */
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Not memcpy(): the sanitizers guard what lies between the variables of a segment. */
static TRC_NO_SANITIZE void segment_copy(volatile uint8_t *to, const volatile uint8_t *from,
					 size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = from[i];
}

START_TEST(damaged_tables_do_no_harm)
{
	struct own own = {0};
	size_t bytes, pages;
	uint8_t *map, *copy;
	struct trc_cfi_bytes view;
	struct trc_rule rule;
	struct trc_place place;
	uint32_t good = 0;

	dl_iterate_phdr(own_find, &own);
	bytes = (size_t)(own.end - own.start);
	pages = (bytes + 0xffff) & ~(size_t)0xffff;
	map = mmap(NULL, pages + 0x20000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(map + 0x10000, pages, PROT_READ | PROT_WRITE);
	copy = map + 0x10000 + pages - bytes; /* no byte between its end and the abyss */
	view = (struct trc_cfi_bytes){copy, copy + bytes, copy + (own.hdr - own.start)};
	for (uint32_t round = 0; round < 1000; round++) {
		segment_copy(copy, own.start, bytes);
		for (uint64_t i = random_next() % 64; i > 0 && round; i--) {
			uint8_t *at = copy + random_next() % bytes;

			*at = (uint8_t)(random_next() % 2 ? random_next()
							  : *at ^ 1ull << random_next() % 8);
		}
		for (uint32_t i = 0; i < 100; i++) {
			uintptr_t pc = own.code - (uintptr_t)own.start + (uintptr_t)copy +
				       random_next() % own.code_bytes;
			int err = trc_cfi_register(&view, pc, 3, &rule, &place);

			good += !err;
			ck_assert(!err || err == -ENOENT || err == -EBADMSG || err == -ENOTSUP);
			ck_assert(err || (rule.cfa.reg < TRC_REGS && rule.ra.reg < TRC_REGS &&
					  rule.fp.reg < TRC_REGS && place.reg < TRC_REGS));
		}
	}
	ck_assert_uint_gt(good, 5000);
	munmap(map, pages + 0x20000);
}
END_TEST

START_TEST(modes_have_names)
{
	static const char *const names[] = {"auto", "fp", "libunwind", "cfi", "none"};
	enum trc_unwind_mode mode = TRC_UNWIND_NONE;

	for (uint32_t i = 0; i < 5; i++) {
		ck_assert(trc_unwind_mode_parse(names[i], &mode));
		ck_assert_uint_eq(mode, i);
		ck_assert_str_eq(trc_unwind_mode_name(mode), names[i]);
	}
	mode = TRC_UNWIND_FP;
	ck_assert(!trc_unwind_mode_parse("dwarf", &mode));
	ck_assert_uint_eq(mode, TRC_UNWIND_FP);
}
END_TEST

START_TEST(without_setup_nothing_is_captured)
{
	uint64_t frame[4];

	ck_assert_uint_eq(trc_unwind(frame, 4, 0), 0);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
	Suite *suite = suite_create("unwind");
	TCase *tests = tcase_create("parts");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tests);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, numbers_are_read, 0, ROWS(numbers));
	tcase_add_loop_test(tests, expressions_become_places, 0, ROWS(expressions));
	tcase_add_loop_test(tests, programs_become_rules, 0, ROWS(programs));
	tcase_add_test(tests, a_signal_frame_is_told_by_its_augmentation);
	tcase_add_test(tests, any_register_can_be_asked_for);
	tcase_add_loop_test(tests, damage_is_refused, 0, ROWS(damages));
	tcase_add_test(tests, rules_keep_their_meaning_when_short);
	tcase_add_test(tests, the_cache_gives_back_what_was_put);
	tcase_add_test(tests, only_readable_memory_is_reached);
	tcase_add_test(tests, so_many_copies_are_made_and_no_more);
	tcase_add_test(tests, damaged_tables_do_no_harm);
	tcase_add_test(tests, modes_have_names);
	tcase_add_test(tests, without_setup_nothing_is_captured);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
