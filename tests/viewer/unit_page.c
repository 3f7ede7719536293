/*
 * unit_page.c - columns, texts and JSON strings come out as they went in.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_read.h"
#include "tests/often.h"
#include "unit.h"
#include "viewer/page.h"

static char *page_made(struct trc_column *c, bool is_quick)
{
	struct trc_page page = {.is_quick = is_quick};
	char *text = NULL;
	size_t n = 0;

	page.out = open_memstream(&text, &n);
	trc_page_column(&page, c);
	fputs("<script id=\"head\">{\"columns\":", page.out);
	trc_page_directory(&page);
	fputs("}</script>", page.out);
	fclose(page.out);
	ck_assert_int_eq(page.error, 0);
	return text;
}

/* A page that holds only this column, as text. */
static char *page_of(struct trc_column *c)
{
	return page_made(c, false);
}

static const struct column_row {
	const char *what;
	enum trc_column_type type;
	uint64_t value[5];
	size_t n, raw_bytes;
} column_rows[] = {
	{"an empty column has no bytes", TRC_COLUMN_VARINT, {0}, 0, 0},
	{"127 takes a byte, 128 two", TRC_COLUMN_VARINT, {127, 128}, 2, 3},
	{"the largest number takes ten bytes", TRC_COLUMN_VARINT, {UINT64_MAX}, 1, 10},
	{"bytes are kept as they are", TRC_COLUMN_BYTES, {0, 255, 60}, 3, 3},
	{"small steps are short, either way", TRC_COLUMN_DELTA, {1000000, 1000001, 1000000}, 3, 5},
	{"a step may be the largest there is", TRC_COLUMN_DELTA, {UINT64_MAX, 0, UINT64_MAX}, 3, 3},
};

START_TEST(columns_come_back)
{
	const struct column_row *row = &column_rows[_i];
	struct trc_column c = trc_column_make("x.y", row->type);
	size_t n;

	for (size_t i = 0; i < row->n; i++)
		trc_column_add(&c, row->value[i]);
	ck_assert_msg(c.bytes.n_bytes == row->raw_bytes, "%s: %zu bytes", row->what,
		      c.bytes.n_bytes);

	char *page = page_of(&c);
	uint64_t *values = page_read_column(page, "x.y", &n);

	ck_assert_msg(n == row->n, "%s: %zu values", row->what, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(values[i] == row->value[i], "%s: value %zu", row->what, i);
	free(values);
	free(page);
}
END_TEST

START_TEST(columns_of_zeros_have_no_bytes)
{
	struct trc_column c = trc_column_make("x.y", TRC_COLUMN_VARINT);
	size_t n;

	for (size_t i = 0; i < 1000; i++)
		trc_column_add(&c, 0);

	char *page = page_of(&c);
	uint64_t *values = page_read_column(page, "x.y", &n);

	ck_assert_uint_eq(n, 1000);
	ck_assert_ptr_nonnull(strstr(page, "[\"x.y\",\"zero\",1000,0,0,0]"));
	for (size_t i = 0; i < n; i++)
		expect_same(values[i], 0);
	free(values);
	free(page);
}
END_TEST

/* Whatever the last digits stand for (page:P4). */
START_TEST(columns_of_any_number_of_bytes_come_back)
{
	for (size_t n = 1; n < 60; n++) {
		struct trc_column c = trc_column_make("x.y", TRC_COLUMN_BYTES);
		size_t n_read;

		for (size_t i = 0; i < n; i++)
			trc_column_add(&c, 255 - i * 37 % 256);

		char *page = page_of(&c);
		uint64_t *values = page_read_column(page, "x.y", &n_read);

		ck_assert_uint_eq(n_read, n);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(values[i], 255 - i * 37 % 256);
		free(values);
		free(page);
	}
}
END_TEST

/* Noise does not deflate, so 0.6 MB of it need two elements of at most 512 KB (page:P1). */
START_TEST(large_columns_are_cut_into_elements)
{
	struct trc_column c = trc_column_make("noise", TRC_COLUMN_BYTES);
	uint32_t random = 1;
	size_t n = 600000, n_read, wrong = 0;

	for (size_t i = 0; i < n; i++)
		trc_column_add(&c, (random = random * 1664525 + 1013904223) >> 24);

	char *page = page_of(&c);
	const char *second = strstr(page, "id=\"c0-1\"");

	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_null(strstr(page, "id=\"c0-2\""));
	ck_assert_int_le(second - page, (512 << 10) + 200);

	uint64_t *values = page_read_column(page, "noise", &n_read);

	ck_assert_uint_eq(n_read, n);
	random = 1;
	for (size_t i = 0; i < n; i++)
		wrong += values[i] != (random = random * 1664525 + 1013904223) >> 24;
	ck_assert_uint_eq(wrong, 0);
	free(values);
	free(page);
}
END_TEST

static uint32_t random_state = 1;

static uint32_t random_next(void)
{
	return (random_state = random_state * 1664525 + 1013904223) >> 8;
}

/* page:P5.  Numbers of all magnitudes, and the largest. */
static const struct split_row {
	const char *what, *type;
	enum trc_column_type of;
	bool as_bytes;
	unsigned int bits_most;
} split_rows[] = {
	{"noise of all magnitudes is split", "split", TRC_COLUMN_VARINT, false, 63},
	{"and so are noisy differences", "splitdelta", TRC_COLUMN_DELTA, false, 30},
	{"numbers of a byte each are not", "varint", TRC_COLUMN_VARINT, false, 6},
	{"neither is a column of which the bytes are read", "varint", TRC_COLUMN_VARINT, true, 63},
};

START_TEST(columns_of_noise_are_split)
{
	enum { N = 5000 };
	const struct split_row *row = &split_rows[_i];
	struct trc_column c = trc_column_make("x.y", row->of);
	static uint64_t wanted[N];
	char type[32];
	size_t n;

	c.as_bytes = row->as_bytes;
	for (size_t i = 0; i < N; i++) {
		uint64_t noise = (uint64_t)random_next() << 40 ^ (uint64_t)random_next() << 20 ^
				 random_next();

		wanted[i] = noise >> (63 - random_next() % (row->bits_most + 1));
		if (i < 9 && row->bits_most > 6)
			wanted[i] = (uint64_t[]){0, UINT64_MAX, 7, 8, 15, 16, 1, UINT64_MAX, 0}[i];
		trc_column_add(&c, wanted[i]);
	}

	char *page = page_of(&c);
	uint64_t *values = page_read_column(page, "x.y", &n);

	snprintf(type, sizeof(type), "[\"x.y\",\"%s\",", row->type);
	ck_assert_msg(strstr(page, type), "%s", row->what);
	ck_assert_uint_eq(n, N);
	ck_assert_mem_eq(values, wanted, sizeof(wanted));
	free(values);
	free(page);
}
END_TEST

/* The same numbers, some thousand of them, as noise and as what repeats: in more bytes, and in one way. */
START_TEST(a_quick_page_has_the_same_columns)
{
	enum { N = 5000 };
	static uint64_t wanted[N];
	struct trc_column c = trc_column_make("x.y", TRC_COLUMN_VARINT), again = c;
	char *pages[2];

	for (size_t i = 0; i < N; i++) {
		wanted[i] = _i ? random_next() : i % 7 * 1000;
		trc_column_add(&c, wanted[i]);
		trc_column_add(&again, wanted[i]);
	}
	pages[0] = page_of(&c);
	pages[1] = page_made(&again, true);
	ck_assert_ptr_nonnull(strstr(pages[1], "[\"x.y\",\"varint\","));
	ck_assert_uint_gt(strlen(pages[1]), strlen(pages[0]));
	for (size_t i = 0; i < 2; i++) {
		size_t n;
		uint64_t *values = page_read_column(pages[i], "x.y", &n);

		ck_assert_uint_eq(n, N);
		ck_assert_mem_eq(values, wanted, sizeof(wanted));
		free(values);
		free(pages[i]);
	}
}
END_TEST

/* What is written of two columns; nothing of one that is all zeros is shorter than anything. */
START_TEST(the_shorter_of_two_columns_is_written)
{
	for (int shorter = 0; shorter < 2; shorter++) {
		struct trc_column c[2] = {trc_column_make("a.a", TRC_COLUMN_VARINT),
					  trc_column_make("b.b", TRC_COLUMN_DELTA)};
		struct trc_page page = {0};
		char *text = NULL;
		size_t n = 0;

		for (size_t i = 0; i < 3000; i++) {
			trc_column_add(&c[shorter], 0);
			trc_column_add(&c[!shorter], random_next());
		}
		page.out = open_memstream(&text, &n);
		ck_assert_int_eq(trc_page_shorter(&page, &c[0], &c[1]), shorter);
		trc_page_directory(&page);
		fclose(page.out);
		ck_assert_int_eq(page.error, 0);
		ck_assert_str_eq(text, shorter ? "[[\"b.b\",\"zero\",3000,0,0,0]]"
					       : "[[\"a.a\",\"zero\",3000,0,0,0]]");
		free(text);
	}
}
END_TEST

/* Noise of 8, 2 and 5 bits: n values of each, one after the other, as streams are. */
static uint32_t stream_next(size_t i, size_t n)
{
	static const uint32_t limits[] = {255, 3, 31};

	return random_next() >> 4 & limits[i / n];
}

/* deflate:D1. */
START_TEST(pieces_that_differ_have_codes_of_their_own)
{
	static const size_t sizes[] = {1, 1365, 1366, 1367, 4096, 30000, 70000};

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct trc_column c = trc_column_make("x.y", TRC_COLUMN_BYTES);
		size_t n = sizes[k], n_read, n_bits = n * (8 + 2 + 5);

		random_state = 7;
		for (size_t i = 0; i < 3 * n; i++)
			trc_column_add(&c, stream_next(i, n));

		char *page = page_of(&c);
		uint64_t *values = page_read_column(page, "x.y", &n_read);

		ck_assert_uint_eq(n_read, 3 * n);
		random_state = 7;
		for (size_t i = 0; i < 3 * n; i++)
			expect_same(values[i], stream_next(i, n));
		/* P4: 15 characters for 13 bytes.  One code for all takes a tenth more. */
		if (n >= 30000)
			ck_assert_uint_le(strlen(page), n_bits / 8 * 15 / 13 * 103 / 100 + 1000);
		free(values);
		free(page);
	}
}
END_TEST

static const struct json_row {
	const char *what, *text, *json;
} json_rows[] = {
	{"no text is an empty one", NULL, "\"\""},
	{"plain text stays", "a b", "\"a b\""},
	{"an end tag cannot be spelled", "</script>", "\"\\u003c/script\\u003e\""},
	{"quotes and backslashes", "\"\\'", "\"\\u0022\\u005c\\u0027\""},
	{"control characters", "\n\x7f", "\"\\u000a\\ufffd\""},
	{"UTF-8", "\xc3\xa9\xe2\x82\xac", "\"\\u00e9\\u20ac\""},
	{"a line separator, which old scripts take for a line's end", "\xe2\x80\xa8",
	 "\"\\ufffd\""},
	{"what is not seen and turns the direction of writing", "a\xe2\x80\xaez", "\"a\\ufffdz\""},
	{"beyond 16 bits: a pair", "\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\""},
	{"bytes that are not UTF-8", "a\xff\xfe z", "\"a\\ufffd\\ufffd z\""},
	{"a sequence cut short", "\xe2\x82", "\"\\ufffd\\ufffd\""},
	{"an overlong slash", "\xc0\xaf", "\"\\ufffd\\ufffd\""},
	{"a surrogate", "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
};

START_TEST(json_strings_are_safe_in_a_script_element)
{
	char *json = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&json, &n);

	trc_page_json_string(out, json_rows[_i].text);
	fclose(out);
	ck_assert_msg(!strcmp(json, json_rows[_i].json), "%s: %s", json_rows[_i].what, json);
	free(json);
}
END_TEST

START_TEST(texts_are_kept_once)
{
	struct trc_texts t;
	char name[32], longer[TRC_PAGE_TEXT_BYTES_MAX + 10];

	trc_texts_init(&t);
	ck_assert_uint_eq(trc_texts_id(&t, NULL), 0);
	ck_assert_uint_eq(trc_texts_id(&t, ""), 0);
	for (uint32_t i = 1; i < 5000; i++) {
		snprintf(name, sizeof(name), "text %u", i);
		expect_same(trc_texts_id(&t, name), i);
	}
	ck_assert_uint_eq(trc_texts_id(&t, "text 1"), 1);
	ck_assert_uint_eq(trc_texts_id(&t, "text 4999"), 4999);
	ck_assert_uint_eq(t.length.n, 5000);
	memset(longer, 'x', sizeof(longer));
	longer[TRC_PAGE_TEXT_BYTES_MAX] = 0;
	ck_assert_uint_eq(trc_texts_id(&t, longer), 5000);
	ck_assert_uint_eq(t.length.max, TRC_PAGE_TEXT_BYTES_MAX);
	trc_texts_free(&t);
}
END_TEST

/* A character lies across the limit. */
START_TEST(texts_that_are_too_long_say_so)
{
	static const char mark[] = "\u2026 (4106 bytes in all)";
	size_t n = strlen(mark), kept = TRC_PAGE_TEXT_BYTES_MAX - 1;
	char longer[TRC_PAGE_TEXT_BYTES_MAX + 11];
	struct trc_texts t;

	memset(longer, 'x', sizeof(longer));
	memcpy(longer + kept, "\u00e9", 2);
	longer[sizeof(longer) - 1] = 0;
	trc_texts_init(&t);
	ck_assert_uint_eq(trc_texts_id(&t, longer), 1);
	ck_assert_uint_eq(t.length.max, kept + n);
	ck_assert_mem_eq(t.bytes.bytes.data, longer, kept);
	ck_assert_mem_eq(t.bytes.bytes.data + kept, mark, n);
	trc_texts_free(&t);
}
END_TEST

TCase *unit_page(void)
{
	TCase *t = tcase_create("page");

	tcase_add_loop_test(t, columns_come_back, 0, sizeof(column_rows) / sizeof(column_rows[0]));
	tcase_add_test(t, columns_of_zeros_have_no_bytes);
	tcase_add_test(t, columns_of_any_number_of_bytes_come_back);
	tcase_add_test(t, large_columns_are_cut_into_elements);
	tcase_add_loop_test(t, columns_of_noise_are_split, 0,
			    sizeof(split_rows) / sizeof(split_rows[0]));
	tcase_add_loop_test(t, a_quick_page_has_the_same_columns, 0, 2);
	tcase_add_test(t, the_shorter_of_two_columns_is_written);
	tcase_add_test(t, pieces_that_differ_have_codes_of_their_own);
	tcase_add_loop_test(t, json_strings_are_safe_in_a_script_element, 0,
			    sizeof(json_rows) / sizeof(json_rows[0]));
	tcase_add_test(t, texts_are_kept_once);
	tcase_add_test(t, texts_that_are_too_long_say_so);
	tcase_set_timeout(t, 60);
	return t;
}
