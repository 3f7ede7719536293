/* test_codings.c - varints and columns (docs/format.md, "Integers" and "Codings"). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/column.h"
#include "format/varint.h"
#include "common.h"

static const struct {
	const char *what;
	const char *bytes;
	size_t n_bytes;
	int err;
	uint64_t value;
} varints[] = {
	{"0 takes a byte", "\x00", 1, 0, 0},
	{"127 takes one byte", "\x7f", 1, 0, 127},
	{"128 takes two bytes, low bits first", "\x80\x01", 2, 0, 128},
	{"16383 is the last of two bytes", "\xff\x7f", 2, 0, 16383},
	{"16384 is the first of three bytes", "\x80\x80\x01", 3, 0, 16384},
	{"2^63 takes ten bytes", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, 0,
	 UINT64_C(1) << 63},
	{"all 64 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 0, UINT64_MAX},
	{"a 65th bit is refused", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, -EOVERFLOW, 0},
	{"an 11th byte is refused", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11, -EOVERFLOW,
	 0},
	{"padding is refused", "\x80\x00", 2, -EBADMSG, 0},
	{"longer padding is refused", "\xff\x80\x00", 3, -EBADMSG, 0},
	{"nothing is no number", "", 0, -ENODATA, 0},
	{"a number that goes on past the end", "\x80", 1, -ENODATA, 0},
	{"even a long one", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9, -ENODATA, 0},
};

START_TEST(varints_are_read)
{
	const uint8_t *start = (const uint8_t *)varints[_i].bytes, *pos = start;
	uint64_t value = 4711;
	int err = trc_varint_get(&pos, start + varints[_i].n_bytes, &value);

	ck_assert_msg(err == varints[_i].err, "%s: %d", varints[_i].what, err);
	if (err) {
		ck_assert_msg(pos == start && value == 4711, "%s: changed", varints[_i].what);
	} else {
		ck_assert_msg(value == varints[_i].value, "%s: value", varints[_i].what);
		ck_assert_msg(pos == start + varints[_i].n_bytes, "%s: place", varints[_i].what);
	}
}
END_TEST

START_TEST(varints_are_written_as_they_are_read)
{
	uint8_t bytes[TRC_VARINT_BYTES_MAX];
	size_t n_bytes;

	if (varints[_i].err)
		return;
	n_bytes = (size_t)(trc_varint_put(bytes, varints[_i].value) - bytes);
	ck_assert_uint_eq(n_bytes, varints[_i].n_bytes);
	ck_assert_uint_eq(n_bytes, trc_varint_bytes(varints[_i].value));
	ck_assert_mem_eq(bytes, varints[_i].bytes, n_bytes);
}
END_TEST

START_TEST(a_cursor_that_went_bad_stays_bad)
{
	static const uint8_t bytes[] = {5, 0x80};
	struct trc_cursor c = {bytes, bytes + sizeof(bytes), false};

	ck_assert_uint_eq(trc_cursor_varint(&c), 5);
	ck_assert(!c.bad);
	ck_assert_uint_eq(trc_cursor_varint(&c), 0);
	ck_assert(c.bad);
	ck_assert_uint_eq(trc_cursor_u8(&c), 0);
	ck_assert_ptr_null(trc_cursor_take(&c, 0));
}
END_TEST

START_TEST(an_entry_ends_where_it_says)
{
	static const uint8_t bytes[] = {2, 7, 8, 9};
	struct trc_cursor c = {bytes, bytes + sizeof(bytes), false};
	struct trc_cursor entry = trc_cursor_entry(&c);

	ck_assert_uint_eq(trc_cursor_varint(&entry), 7);
	ck_assert_uint_eq(trc_cursor_varint(&entry), 8);
	ck_assert_uint_eq(trc_cursor_varint(&entry), 0);
	ck_assert(entry.bad);
	ck_assert_uint_eq(trc_cursor_varint(&c), 9);
	entry = trc_cursor_entry(&c);
	ck_assert_msg(entry.bad && c.bad, "there is none left");
}
END_TEST

/* --- columns --- */

static uint64_t all_equal(uint32_t i)
{
	(void)i;
	return UINT64_MAX;
}
static uint64_t counting(uint32_t i)
{
	return 1000 + i;
}
static uint64_t falling(uint32_t i)
{
	return UINT64_MAX - i * 3;
}
static uint64_t extremes(uint32_t i)
{
	return i & 1 ? UINT64_MAX : 0;
}
static uint64_t few(uint32_t i)
{
	return (uint64_t[]){7, 0x7fff12345678, 9}[i * i % 3];
}
static uint64_t long_runs(uint32_t i)
{
	return i / 500 * 77;
}
static uint64_t small_random(uint32_t i)
{
	(void)i;
	return random_next() % 1000;
}
static uint64_t any_random(uint32_t i)
{
	(void)i;
	return random_next();
}
static uint64_t wide_random(uint32_t i)
{
	(void)i;
	return random_wide();
}
static uint64_t times(uint32_t i)
{
	return ((uint64_t)i << 12) + random_next() % 4096;
}
static uint64_t rare_outlier(uint32_t i)
{
	return i % 1000 == 999 ? random_next() : i % 7;
}
static uint64_t bits_56(uint32_t i)
{
	return i ? random_next() >> 8 : 0;
}

static const struct {
	const char *what;
	uint64_t (*value)(uint32_t i);
} patterns[] = {
	{"all equal", all_equal},
	{"counting", counting},
	{"falling", falling},
	{"0 and 2^64-1 in turn", extremes},
	{"few distinct", few},
	{"long runs", long_runs},
	{"small random", small_random},
	{"any random", any_random},
	{"of any length", wide_random},
	{"times", times},
	{"rare outliers", rare_outlier},
	{"56 bits", bits_56},
};
enum { N_PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

static const uint32_t lengths[] = {1, 2, 3, 7, 8, 255, 256, 257, 1000, 65536};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static struct trc_column_scratch scratch;
static uint64_t value[TRC_BLOCK_EVENTS_MAX], decoded[TRC_BLOCK_EVENTS_MAX];

static void fill(uint32_t n, int pattern)
{
	for (uint32_t i = 0; i < n; i++)
		value[i] = patterns[pattern].value(i);
}

/* A copy in memory of exactly its length, so that the sanitizer sees any step outside. */
static int decode_exactly(enum trc_coding coding, const uint8_t *bytes, size_t n_bytes, uint32_t n)
{
	uint8_t *copy = malloc(n_bytes + !n_bytes);
	int err;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, n_bytes);
	memset(decoded, 0x55, n * sizeof(*decoded));
	err = trc_column_decode(coding, copy, n_bytes, decoded, n);
	free(copy);
	return err;
}

/* _i: pattern and coding. */
START_TEST(every_coding_gives_back_what_it_was_given)
{
	int pattern = _i / TRC_CODING_COUNT;
	enum trc_coding coding = (enum trc_coding)(_i % TRC_CODING_COUNT);
	uint8_t *out = malloc(trc_column_bytes_max(TRC_BLOCK_EVENTS_MAX));

	ck_assert_ptr_nonnull(out);
	for (int l = 0; l < N_LENGTHS && coding != TRC_CODING_BYTES; l++) {
		uint32_t n = lengths[l];
		size_t n_bytes;

		fill(n, pattern);
		n_bytes = trc_column_encode_as(&scratch, value, n, out, coding);
		if (!n_bytes)
			continue;
		ck_assert_uint_le(n_bytes, trc_column_bytes_max(n));
		ck_assert_msg(decode_exactly(coding, out, n_bytes, n) == 0, "%s, coding %d, %u",
			      patterns[pattern].what, (int)coding, n);
		ck_assert_mem_eq(decoded, value, n * sizeof(*value));
	}
	free(out);
}
END_TEST

START_TEST(a_column_has_no_byte_too_few_or_too_many)
{
	int pattern = _i / TRC_CODING_COUNT;
	enum trc_coding coding = (enum trc_coding)(_i % TRC_CODING_COUNT);
	uint8_t *out = malloc(trc_column_bytes_max(1000) + 1);
	size_t n_bytes;

	ck_assert_ptr_nonnull(out);
	fill(1000, pattern);
	n_bytes = coding == TRC_CODING_BYTES
			  ? 0
			  : trc_column_encode_as(&scratch, value, 1000, out, coding);
	if (n_bytes) {
		for (size_t cut = 1; cut < n_bytes; cut = cut * 2 + 1)
			ck_assert_int_eq(decode_exactly(coding, out, n_bytes - cut, 1000),
					 -EBADMSG);
		out[n_bytes] = 0;
		ck_assert_int_eq(decode_exactly(coding, out, n_bytes + 1, 1000), -EBADMSG);
	}
	free(out);
}
END_TEST

START_TEST(every_coding_can_be_used)
{
	static const int fits[TRC_CODING_COUNT] = {
		[TRC_CODING_CONSTANT] = 0, [TRC_CODING_PACKED] = 11, [TRC_CODING_DICTIONARY] = 4,
		[TRC_CODING_VARINT] = 3,   [TRC_CODING_RISING] = 3,  [TRC_CODING_ZIGZAG] = 3,
		[TRC_CODING_RUNS] = 3,	   [TRC_CODING_RICE] = 3,
	};
	uint8_t out[12 * 100 + 64];

	fill(100, fits[_i]);
	ck_assert_uint_gt(trc_column_encode_as(&scratch, value, 100, out, (enum trc_coding)_i), 0);
}
END_TEST

/* What the choice comes to, in bits a number, for a whole block's column. */
static const struct {
	int pattern;
	double bits_max;
} chosen[] = {
	{0, 0.01}, /* a constant costs nothing */
	{1, 2.01}, /* steps of one */
	{2, 8.01}, /* steps of minus three: always the same byte, for LZ4 */
	{4, 2.01}, /* three values, wherever they lie */
	{5, 0.1},  /* runs */
	{6, 10.1}, /* thousand values: ten bits */
	{7, 80.1}, /* noise costs not much more than itself */
	{9, 14},   /* steps of 4096 on the average */
	{10, 4.5}, /* a few outliers do not spoil a column */
};

START_TEST(the_choice_is_a_good_one)
{
	uint8_t *out = malloc(trc_column_bytes_max(TRC_BLOCK_EVENTS_MAX));
	uint8_t coding;
	size_t n_bytes;

	ck_assert_ptr_nonnull(out);
	fill(TRC_BLOCK_EVENTS_MAX, chosen[_i].pattern);
	n_bytes = trc_column_encode(&scratch, value, TRC_BLOCK_EVENTS_MAX, false, out, &coding);
	ck_assert_msg((double)n_bytes * 8 <= chosen[_i].bits_max * TRC_BLOCK_EVENTS_MAX,
		      "%s: %.3f bits, coding %u", patterns[chosen[_i].pattern].what,
		      (double)n_bytes * 8 / TRC_BLOCK_EVENTS_MAX, coding);
	ck_assert_int_eq(
		decode_exactly((enum trc_coding)coding, out, n_bytes, TRC_BLOCK_EVENTS_MAX), 0);
	ck_assert_mem_eq(decoded, value, sizeof(value));
	free(out);
}
END_TEST

/* Bytes that no encoder makes. */
static const struct {
	const char *what;
	enum trc_coding coding;
	const char *bytes;
	size_t n_bytes;
	uint32_t n;
} bad_columns[] = {
	{"no coding 0 for numbers", TRC_CODING_BYTES, "\x01", 1, 1},
	{"no coding 99", (enum trc_coding)99, "\x01", 1, 1},
	{"57 bits are too many", TRC_CODING_PACKED, "\x00\x39\0\0\0\0\0\0\0\0", 10, 1},
	{"an empty dictionary", TRC_CODING_DICTIONARY, "\x00\x00", 2, 1},
	{"a dictionary of 4097", TRC_CODING_DICTIONARY, "\x00\x81\x20", 3, 1},
	{"an index outside the dictionary", TRC_CODING_DICTIONARY, "\x00\x03\x01\x02\x03\x0f", 6,
	 2},
	{"a run longer than the column", TRC_CODING_RUNS, "\x00\x05\x03", 3, 3},
	{"a padded varint", TRC_CODING_VARINT, "\x00\x80\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01",
	 12, 2},
	{"steps of steps", TRC_CODING_RICE, "\x02\x00\x00\x00", 4, 1},
	{"41 low bits are too many", TRC_CODING_RICE, "\x00\x29\x00\0\0\0\0\0\0", 9, 1},
	{"thirteen ones, then a number that should be short", TRC_CODING_RICE,
	 "\x00\x02\x00\xff\x2f\x00\x00", 7, 1},
};

START_TEST(malformed_columns_are_refused)
{
	ck_assert_msg(decode_exactly(bad_columns[_i].coding, (const uint8_t *)bad_columns[_i].bytes,
				     bad_columns[_i].n_bytes, bad_columns[_i].n) == -EBADMSG,
		      "%s", bad_columns[_i].what);
}
END_TEST

START_TEST(random_bytes_do_no_harm)
{
	uint8_t bytes[64];

	for (int i = 0; i < 20000; i++) {
		size_t n_bytes = random_next() % sizeof(bytes);

		for (size_t b = 0; b < n_bytes; b++)
			bytes[b] = (uint8_t)random_wide();
		decode_exactly((enum trc_coding)(random_next() % TRC_CODING_COUNT), bytes, n_bytes,
			       1 + (uint32_t)(random_next() % 100));
	}
}
END_TEST

Suite *suite_codings(void)
{
	Suite *s = suite_create("codings");
	TCase *t = tcase_create("varint");

	tcase_add_loop_test(t, varints_are_read, 0, sizeof(varints) / sizeof(varints[0]));
	tcase_add_loop_test(t, varints_are_written_as_they_are_read, 0,
			    sizeof(varints) / sizeof(varints[0]));
	tcase_add_test(t, a_cursor_that_went_bad_stays_bad);
	tcase_add_test(t, an_entry_ends_where_it_says);
	suite_add_tcase(s, t);
	t = tcase_create("column");
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, every_coding_gives_back_what_it_was_given, 0,
			    N_PATTERNS * TRC_CODING_COUNT);
	tcase_add_loop_test(t, a_column_has_no_byte_too_few_or_too_many, 0,
			    N_PATTERNS * TRC_CODING_COUNT);
	tcase_add_loop_test(t, every_coding_can_be_used, TRC_CODING_CONSTANT, TRC_CODING_COUNT);
	tcase_add_loop_test(t, the_choice_is_a_good_one, 0, sizeof(chosen) / sizeof(chosen[0]));
	tcase_add_loop_test(t, malformed_columns_are_refused, 0,
			    sizeof(bad_columns) / sizeof(bad_columns[0]));
	tcase_add_test(t, random_bytes_do_no_harm);
	suite_add_tcase(s, t);
	return s;
}
