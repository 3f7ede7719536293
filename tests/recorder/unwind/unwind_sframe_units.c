/*
 * unwind_sframe_units.c - rows of .sframe become rules, and what damaged sections can do (nothing).
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "recorder/unwind/sframe.h"

#if defined(__x86_64__)
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

enum {
	CODE_OFF = 0x1000, /* of the function, from the section */
	CODE_BYTES = 0x40,
	HEADER_BYTES = 28,
	SECTION_BYTES = 256,
	FIELD = 4,    /* flags: sorted, and starts count from their field */
	SIGNAL = 128, /* of a function's info */
	MASK = 16,
	FLEXIBLE = 1,
};

/* ---- a section of one function ---------------------------------------------------------- */

struct section {
	uint8_t byte[SECTION_BYTES];
	size_t bytes;
	size_t index_off, rows_off; /* where functions and rows begin */
};

static void put(struct section *s, int64_t value, size_t bytes)
{
	memcpy(s->byte + s->bytes, &value, bytes);
	s->bytes += bytes;
}

/* How a section differs from the usual: version 3, starts from the section, fp not fixed. */
struct shape {
	uint8_t version, flags, info, info2, repeat_bytes, rows;
	int8_t fp_off, ra_off;
	uint8_t extra; /* bytes of the auxiliary header */
};

static void section_make(struct section *s, const struct shape *shape, const uint8_t *rows,
			 size_t bytes)
{
	size_t more = shape->version == 2 ? 0 : 5;

	memset(s, 0, sizeof(*s));
	put(s, 0xdee2, 2);
	put(s, shape->version, 1);
	put(s, 1 | shape->flags, 1);
	put(s, 3, 1);
	put(s, shape->fp_off, 1);
	put(s, shape->ra_off, 1);
	put(s, shape->extra, 1);
	put(s, 1, 4);
	put(s, shape->rows, 4);
	put(s, (int64_t)(bytes + more), 4);
	put(s, 0, 4);
	put(s, shape->version == 2 ? 20 : 16, 4);
	s->bytes += shape->extra;
	s->index_off = s->bytes;
	put(s, shape->flags & FIELD ? CODE_OFF - (int64_t)s->bytes : CODE_OFF,
	    shape->version == 2 ? 4 : 8);
	put(s, CODE_BYTES, 4);
	put(s, 0, 4);
	if (shape->version == 2)
		put(s, shape->rows, 4);
	s->rows_off = shape->version == 2 ? s->bytes + 4 : s->bytes;
	if (shape->version != 2)
		put(s, shape->rows, 2);
	put(s, shape->info, 1);
	put(s, shape->info2, shape->version == 2 ? 0 : 1);
	put(s, shape->repeat_bytes, shape->version == 2 ? 3 : 1);
	memcpy(s->byte + s->bytes, rows, bytes);
	s->bytes += bytes;
}

static int section_rule(const struct section *s, int64_t off, struct trc_rule *rule)
{
	struct trc_sframe_bytes bytes = {s->byte, s->byte + s->bytes};

	return trc_sframe_rule(&bytes, (uintptr_t)s->byte + CODE_OFF + (uintptr_t)off, rule);
}

/* ---- rules as text ---------------------------------------------------------------------- */

static void place_text(char *to, size_t bytes, const struct trc_place *place)
{
	static const char *const name[TRC_REGS] = {
		[TRC_REG_FP] = "fp", [TRC_REG_SP] = "sp", [10] = "r10", [16] = "r16"};
	const char *reg = name[place->reg] ? name[place->reg] : "r?";

	switch ((enum trc_how)place->how) {
	case TRC_HOW_SAME:
		snprintf(to, bytes, "same");
		return;
	case TRC_HOW_CFA:
		snprintf(to, bytes, "cfa%+d", place->off);
		return;
	case TRC_HOW_CFA_MEM:
		snprintf(to, bytes, "[cfa%+d]", place->off);
		return;
	case TRC_HOW_REG:
		snprintf(to, bytes, "%s%+d", reg, place->off);
		return;
	case TRC_HOW_REG_MEM:
		snprintf(to, bytes, "[%s%+d]", reg, place->off);
		return;
	case TRC_HOW_UNDEFINED:
	case TRC_HOW_CONST:
	case TRC_HOW_UNKNOWN:
		snprintf(to, bytes, "?");
	}
}

static void rule_text(char *to, size_t bytes, const struct trc_rule *rule)
{
	char cfa[32], ra[32], fp[32];

	place_text(cfa, sizeof(cfa), &rule->cfa);
	place_text(ra, sizeof(ra), &rule->ra);
	place_text(fp, sizeof(fp), &rule->fp);
	if (rule->kind == TRC_RULE_END)
		snprintf(to, bytes, "end");
	else
		snprintf(to, bytes, "%s %s %s", cfa, ra, fp);
}

/* ---- rows ------------------------------------------------------------------------------- */

#define PLAIN(n)                                                                                   \
	{                                                                                          \
		.version = 3, .rows = (n), .ra_off = -8                                            \
	}
#define FLEX(n)                                                                                    \
	{                                                                                          \
		.version = 3, .rows = (n), .ra_off = -8, .info2 = FLEXIBLE                         \
	}
/* Of a row: the info, by words and bytes of each (0, 1, 2: one, two, four). */
#define SP_ROW(words, size) (1 | (words) << 1 | (size) << 5)
#define FP_ROW(words, size) ((words) << 1 | (size) << 5)
#define PUSH_ROWS	    0, SP_ROW(1, 0), 8, 1, SP_ROW(2, 0), 16, 0xf0, 4, FP_ROW(2, 0), 16, 0xf0

static const struct {
	const char *says;
	struct shape shape;
	const uint8_t *row;
	size_t bytes;
	int64_t off;
	int err;
	const char *rule; /* CFA, return address, frame pointer */
} rows[] = {
	{"before a push", PLAIN(3), BYTES(PUSH_ROWS), 0, 0, "sp+8 [cfa-8] same"},
	{"after it", PLAIN(3), BYTES(PUSH_ROWS), 1, 0, "sp+16 [cfa-8] [cfa-16]"},
	{"up to the next row", PLAIN(3), BYTES(PUSH_ROWS), 3, 0, "sp+16 [cfa-8] [cfa-16]"},
	{"a frame pointer", PLAIN(3), BYTES(PUSH_ROWS), 4, 0, "fp+16 [cfa-8] [cfa-16]"},
	{"up to the function's end", PLAIN(3), BYTES(PUSH_ROWS), CODE_BYTES - 1, 0,
	 "fp+16 [cfa-8] [cfa-16]"},
	{"beyond it", PLAIN(3), BYTES(PUSH_ROWS), CODE_BYTES, -ENOENT, ""},
	{"before it", PLAIN(3), BYTES(PUSH_ROWS), -1, -ENOENT, ""},
	{"starts count from their field",
	 {.version = 3, .flags = FIELD, .rows = 3, .ra_off = -8},
	 BYTES(PUSH_ROWS),
	 1,
	 0,
	 "sp+16 [cfa-8] [cfa-16]"},
	{"version 2",
	 {.version = 2, .rows = 3, .ra_off = -8},
	 BYTES(PUSH_ROWS),
	 1,
	 0,
	 "sp+16 [cfa-8] [cfa-16]"},
	{"version 2, from their field",
	 {.version = 2, .flags = FIELD, .rows = 3, .ra_off = -8},
	 BYTES(PUSH_ROWS),
	 1,
	 0,
	 "sp+16 [cfa-8] [cfa-16]"},
	{"version 2 may say that all keep a frame pointer",
	 {.version = 2, .flags = 2, .rows = 3, .ra_off = -8},
	 BYTES(PUSH_ROWS),
	 1,
	 0,
	 "sp+16 [cfa-8] [cfa-16]"},
	{"version 3 may not",
	 {.version = 3, .flags = 2, .rows = 3, .ra_off = -8},
	 BYTES(PUSH_ROWS),
	 1,
	 -ENOTSUP,
	 ""},
	{"a header that has grown",
	 {.version = 3, .extra = 8, .rows = 3, .ra_off = -8},
	 BYTES(PUSH_ROWS),
	 1,
	 0,
	 "sp+16 [cfa-8] [cfa-16]"},
	{"a frame pointer always at one place",
	 {.version = 3, .rows = 1, .ra_off = -8, .fp_off = -16},
	 BYTES(0, SP_ROW(1, 0), 16),
	 0,
	 0,
	 "sp+16 [cfa-8] [cfa-16]"},
	{"a return address that rows tell of",
	 {.version = 3, .rows = 1},
	 BYTES(0, SP_ROW(3, 0), 48, 0xf8, 0xf0),
	 0,
	 0,
	 "sp+48 [cfa-8] [cfa-16]"},
	{"words of two bytes", PLAIN(1), BYTES(0, SP_ROW(2, 1), 0, 1, 0xf0, 0xff), 0, 0,
	 "sp+256 [cfa-8] [cfa-16]"},
	{"words of four", PLAIN(1), BYTES(0, SP_ROW(2, 2), 0, 0, 1, 0, 0xf0, 0xff, 0xff, 0xff), 0,
	 0, "sp+65536 [cfa-8] [cfa-16]"},
	{"addresses of two bytes",
	 {.version = 3, .info = 1, .rows = 2, .ra_off = -8},
	 BYTES(0, 0, SP_ROW(1, 0), 8, 2, 0, SP_ROW(1, 0), 16),
	 2,
	 0,
	 "sp+16 [cfa-8] same"},
	{"addresses of four",
	 {.version = 3, .info = 2, .rows = 2, .ra_off = -8},
	 BYTES(0, 0, 0, 0, SP_ROW(1, 0), 8, 2, 0, 0, 0, SP_ROW(1, 0), 16),
	 1,
	 0,
	 "sp+8 [cfa-8] same"},
	{"a row without words is the outermost frame", PLAIN(1), BYTES(0, SP_ROW(0, 0)), 0, 0,
	 "end"},
	{"before the first row", PLAIN(1), BYTES(4, SP_ROW(1, 0), 8), 3, -ENOENT, ""},
	{"a function without rows", PLAIN(0), BYTES(0), 0, -ENOENT, ""},
	{"code that repeats itself",
	 {.version = 3, .info = MASK, .repeat_bytes = 16, .rows = 2, .ra_off = -8},
	 BYTES(0, SP_ROW(1, 0), 8, 11, SP_ROW(1, 0), 16),
	 0x2b,
	 0,
	 "sp+16 [cfa-8] same"},
	{"in version 2",
	 {.version = 2, .info = MASK, .repeat_bytes = 16, .rows = 2, .ra_off = -8},
	 BYTES(0, SP_ROW(1, 0), 8, 11, SP_ROW(1, 0), 16),
	 0x2a,
	 0,
	 "sp+8 [cfa-8] same"},
	{"every no bytes",
	 {.version = 3, .info = MASK, .rows = 1, .ra_off = -8},
	 BYTES(0, SP_ROW(1, 0), 8),
	 0,
	 -EBADMSG,
	 ""},
	{"flexible: a CFA from any register", FLEX(1), BYTES(0, SP_ROW(2, 0), 10 << 3 | 1, 0), 0, 0,
	 "r10+0 [cfa-8] same"},
	{"a CFA that was saved", FLEX(1), BYTES(0, SP_ROW(2, 0), 6 << 3 | 3, 0xf8), 0, 0,
	 "[fp-8] [cfa-8] same"},
	{"a frame pointer saved relative to itself, nothing of the return address", FLEX(1),
	 BYTES(0, SP_ROW(5, 0), 6 << 3 | 3, 0xf8, 0, 6 << 3 | 3, 0), 0, 0, "[fp-8] [cfa-8] [fp+0]"},
	{"all three", FLEX(1), BYTES(0, SP_ROW(6, 0), 7 << 3 | 1, 16, 16 << 3 | 1, 0, 2, 0xf0), 0,
	 0, "sp+16 r16+0 [cfa-16]"},
	{"a register that is none", FLEX(1), BYTES(0, SP_ROW(4, 0), 7 << 3 | 1, 16, 31 << 3 | 1, 0),
	 0, 0, "sp+16 ? same"},
	{"a CFA relative to itself", FLEX(1), BYTES(0, SP_ROW(2, 0), 2, 8), 0, -EBADMSG, ""},
	{"half a pair", FLEX(1), BYTES(0, SP_ROW(1, 0), 7 << 3 | 1), 0, -EBADMSG, ""},
	{"words of no meaning", PLAIN(1), BYTES(0, SP_ROW(3, 0), 8, 0xf0, 0), 0, -EBADMSG, ""},
	{"words of an unknown size", PLAIN(1), BYTES(0, SP_ROW(1, 3), 8), 0, -EBADMSG, ""},
	{"words beyond the end", PLAIN(1), BYTES(0, SP_ROW(2, 2), 8, 0), 0, -EBADMSG, ""},
	{"more rows than bytes", PLAIN(9), BYTES(PUSH_ROWS), 4, -EBADMSG, ""},
	{"damage after the row of interest does not matter", PLAIN(3),
	 BYTES(0, SP_ROW(1, 0), 8, 4, SP_ROW(1, 0), 16, 5, SP_ROW(1, 3)), 1, 0,
	 "sp+8 [cfa-8] same"},
	{"no return address",
	 {.version = 3, .rows = 1},
	 BYTES(0, SP_ROW(1, 0), 8),
	 0,
	 -EBADMSG,
	 ""},
	{"of a signal frame .eh_frame says more",
	 {.version = 3, .info = SIGNAL, .rows = 1, .ra_off = -8},
	 BYTES(0, SP_ROW(1, 0), 8),
	 0,
	 -ENOTSUP,
	 ""},
	{"functions of an unknown kind",
	 {.version = 3, .info2 = 2, .rows = 1, .ra_off = -8},
	 BYTES(0, SP_ROW(1, 0), 8),
	 0,
	 -ENOTSUP,
	 ""},
	{"addresses of an unknown size",
	 {.version = 3, .info = 3, .rows = 1, .ra_off = -8},
	 BYTES(0, SP_ROW(1, 0), 8),
	 0,
	 -ENOTSUP,
	 ""},
};

START_TEST(rows_become_rules)
{
	struct trc_rule rule = {0};
	struct section s;
	char text[128];
	int err;

	section_make(&s, &rows[_i].shape, rows[_i].row, rows[_i].bytes);
	err = section_rule(&s, rows[_i].off, &rule);
	ck_assert_msg(err == rows[_i].err, "%s: %d", rows[_i].says, err);
	if (err)
		return;
	rule_text(text, sizeof(text), &rule);
	ck_assert_msg(strcmp(text, rows[_i].rule) == 0, "%s: %s, not %s", rows[_i].says, text,
		      rows[_i].rule);
	ck_assert(!rule.exact && rule.sp.how == TRC_HOW_SAME);
}
END_TEST

START_TEST(functions_are_found_by_address)
{
	struct trc_sframe_bytes bytes;
	struct trc_rule rule;
	struct section s;

	/* Three functions of 16 bytes, 32 apart, whose CFAs lie 8, 16 and 24 above sp. */
	section_make(&s, &(struct shape){.version = 3, .ra_off = -8}, BYTES(0));
	s.bytes = s.index_off;
	for (int i = 0; i < 3; i++) {
		put(&s, CODE_OFF + 32 * i, 8);
		put(&s, 16, 4);
		put(&s, 8 * i, 4);
	}
	for (int i = 0; i < 3; i++) {
		put(&s, 1, 2);
		put(&s, 0, 3);
		put(&s, SP_ROW(1, 0) << 8, 2);
		put(&s, 8 + 8 * i, 1);
	}
	memcpy(s.byte + 8, &(uint32_t){3}, 4);
	memcpy(s.byte + 16, &(uint32_t){24}, 4);
	memcpy(s.byte + 24, &(uint32_t){48}, 4);
	bytes = (struct trc_sframe_bytes){s.byte, s.byte + s.bytes};
	for (int off = -1; off < 96; off++) {
		int err = trc_sframe_rule(&bytes, (uintptr_t)s.byte + CODE_OFF + (uintptr_t)off,
					  &rule);

		ck_assert_int_eq(err, off < 0 || off % 32 >= 16 ? -ENOENT : 0);
		if (!err)
			ck_assert_int_eq(rule.cfa.off, 8 + 8 * (off / 32));
	}
}
END_TEST

/* ---- damage ----------------------------------------------------------------------------- */

static const struct {
	const char *says;
	size_t off; /* byte that is changed */
	bool in_index, in_rows;
	uint8_t value;
	int err;
} damages[] = {
	{"no section", 0, false, false, 0, -EBADMSG},
	{"version 1", 2, false, false, 1, -ENOTSUP},
	{"version 4", 2, false, false, 4, -ENOTSUP},
	{"functions out of order", 3, false, false, 0, -ENOTSUP},
	{"an unknown flag", 3, false, false, 9, -ENOTSUP},
	{"another processor", 4, false, false, 4, -ENOTSUP},
	{"a header beyond the end", 7, false, false, 255, -EBADMSG},
	{"more functions than bytes", 8, false, false, 9, -EBADMSG},
	{"far more", 11, false, false, 0xff, -EBADMSG},
	{"no functions", 8, false, false, 0, -ENOENT},
	{"more bytes of rows than there are", 17, false, false, 1, -EBADMSG},
	{"functions beyond the end", 21, false, false, 1, -EBADMSG},
	{"rows beyond the end", 27, false, false, 0x80, -EBADMSG},
	{"a function far away", 7, true, false, 0x7f, -ENOENT},
	{"an empty function", 8, true, false, 0, -ENOENT},
	{"its rows beyond the end", 15, true, false, 0xff, -EBADMSG},
	{"no more than its rows' end", 12, true, false, 16, -EBADMSG},
	{"no rows", 0, false, true, 0, -ENOENT},
};

START_TEST(damage_is_refused)
{
	static const struct shape shape = PLAIN(3);
	size_t off = damages[_i].off;
	struct trc_rule rule;
	struct section s;
	int err;

	section_make(&s, &shape, BYTES(PUSH_ROWS));
	off += damages[_i].in_index ? s.index_off : damages[_i].in_rows ? s.rows_off : 0;
	s.byte[off] = damages[_i].value;
	err = section_rule(&s, 0, &rule);
	ck_assert_msg(err == damages[_i].err, "%s: %d", damages[_i].says, err);
}
END_TEST

/* Bytes changed at random, and sections cut anywhere; what follows their end cannot be read. */
START_TEST(nothing_is_read_beyond_the_end)
{
	static const struct shape shapes[] = {
		PLAIN(3),
		FLEX(3),
		{.version = 2, .rows = 3, .ra_off = -8},
		{.version = 3, .rows = 3, .info = MASK, .repeat_bytes = 16}};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t found = 0;

	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(mprotect(map + page, page, PROT_NONE), 0);
	srand(1);
	for (uint32_t i = 0; i < 400000; i++) {
		struct trc_sframe_bytes bytes = {.end = map + page};
		struct trc_rule rule;
		struct section s;

		section_make(&s, &shapes[i % 4], BYTES(PUSH_ROWS));
		for (int n = rand() % 4; n; n--)
			s.byte[(size_t)rand() % s.bytes] = (uint8_t)rand();
		if (rand() % 4 == 0)
			s.bytes = (size_t)rand() % s.bytes;
		bytes.start = bytes.end - s.bytes;
		memcpy(map + page - s.bytes, s.byte, s.bytes);
		found += trc_sframe_rule(&bytes,
					 (uintptr_t)bytes.start + CODE_OFF + (uintptr_t)rand() % 64,
					 &rule) == 0;
	}
	ck_assert_uint_gt(found, 1000);
	munmap(map, 2 * page);
}
END_TEST
#else
START_TEST(a_section_of_another_processor_is_refused)
{
	static const uint8_t amd64[28] = {0xe2, 0xde, 3, 1, 3};
	struct trc_sframe_bytes bytes = {amd64, amd64 + sizeof(amd64)};
	struct trc_rule rule;

	ck_assert_int_eq(trc_sframe_rule(&bytes, (uintptr_t)amd64, &rule), -ENOTSUP);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("sframe");
	TCase *c = tcase_create("sframe");
	SRunner *runner;
	int failed;

	tcase_set_timeout(c, 60);
#if defined(__x86_64__)
	tcase_add_loop_test(c, rows_become_rules, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(c, functions_are_found_by_address);
	tcase_add_loop_test(c, damage_is_refused, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(c, nothing_is_read_beyond_the_end);
#else
	tcase_add_test(c, a_section_of_another_processor_is_refused);
#endif
	suite_add_tcase(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
