/* model_merge_test.c - sorting, maps, and streams merged into one order. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/array.h"
#include "analyzer/model/merge.h"
#include "model_fixture.h"
#include "tests/suite.h"

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* --- sorting --- */

struct row {
	uint32_t thread;
	uint32_t place; /* before sorting */
	int64_t time;
};

static const struct {
	const char *what;
	size_t n;
	int64_t base;
	uint64_t range;
} sorts[] = {
	{"nothing", 0, 0, 1},
	{"one row", 1, 0, 1},
	{"few rows, by insertion", 40, -20, 30},
	{"many rows in a small range", 5000, 0, 200},
	{"times before the trace and after", 5000, -1000000, 3000000},
	{"a wide range", 5000, INT64_MIN / 2, UINT64_MAX / 2},
	{"all at one time", 500, 7, 1},
};
enum { N_SORTS = sizeof(sorts) / sizeof(sorts[0]) };

START_TEST(test_sort)
{
	struct trc_array array = {.row_bytes = sizeof(struct row)};
	const struct row *row;

	for (size_t i = 0; i < sorts[_i].n; i++) {
		struct row *r = trc_array_add(&array);

		r->thread = (uint32_t)(draw() % 4);
		r->place = (uint32_t)i;
		r->time = (int64_t)((uint64_t)sorts[_i].base + draw() % sorts[_i].range);
		if (i % 100 == 3)
			r->time = TRC_NEVER; /* not known: first */
	}
	ck_assert_int_eq(trc_array_sort(&array, offsetof(struct row, time),
					offsetof(struct row, thread)),
			 0);
	ck_assert_uint_eq(array.n, sorts[_i].n);
	row = array.row;
	for (size_t i = 1; i < array.n; i++) {
		const struct row *a = &row[i - 1], *b = &row[i];

		ck_assert_msg(a->time < b->time || (a->time == b->time && a->thread < b->thread) ||
				      (a->time == b->time && a->thread == b->thread &&
				       a->place < b->place),
			      "%s: row %zu", sorts[_i].what, i);
	}
	trc_array_free(&array);
}
END_TEST

START_TEST(test_map)
{
	struct trc_index map = {0};

	ck_assert_uint_eq(trc_index_get(&map, 1), TRC_INDEX_NONE);
	for (uint32_t i = 0; i < 3000; i++)
		ck_assert_int_eq(trc_index_put(&map, (uint64_t)i << 40, i), 0);
	ck_assert_int_eq(trc_index_put(&map, 5ull << 40, 77), 0);
	ck_assert_uint_eq(map.n, 3000);
	for (uint32_t i = 0; i < 3000; i++)
		ck_assert_uint_eq(trc_index_get(&map, (uint64_t)i << 40), i == 5 ? 77 : i);
	ck_assert_uint_eq(trc_index_get(&map, 1), TRC_INDEX_NONE);
	trc_index_free(&map);
}
END_TEST

START_TEST(test_numbers)
{
	struct trc_index map = {0};

	ck_assert_uint_eq(trc_index_get(&map, 7), TRC_INDEX_NONE);
	for (uint64_t i = 0; i < 3000; i++)
		ck_assert_uint_eq(trc_index_number(&map, i << 33), i + 1);
	for (uint64_t i = 0; i < 3000; i++)
		ck_assert_uint_eq(trc_index_get(&map, i << 33), i + 1);
	ck_assert_uint_eq(trc_index_number(&map, 0), 1);
	ck_assert_uint_eq(map.n, 3000);
	ck_assert_uint_eq(trc_index_get(&map, 1), TRC_INDEX_NONE);
	trc_index_free(&map);
}
END_TEST

/* --- merging --- */

/* Streams that overlap, with equal times, in blocks of a few events. */
static const char merge_text[] = "thread 1\n"
				 "@100 proc=0 log message=\"0\"\n"
				 "@300 proc=0 log message=\"3\"\n"
				 "@100 proc=1 log message=\"1\"\n"
				 "@200 proc=1 log message=\"2\"\n"
				 "@300 proc=1 log message=\"4\"\n"
				 "flush\n"
				 "@300 proc=0 counter value=1\n"
				 "@900 proc=0 log message=\"9\"\n"
				 "@350 proc=1 log message=\"6\"\n"
				 "flush\n"
				 "@400 proc=2 source=overflow log message=\"7\"\n"
				 "@500 proc=1 log message=\"8\"\n"
				 "@950 proc=0 log message=\"A\"\n";

#define ALL_TIMES .want = TRC_WANT_ALL, .from_ns = INT64_MIN, .until_ns = INT64_MAX
static const struct trc_kind_mask counters = {{(uint64_t)1 << TRC_KIND_COUNTER}};

static const struct {
	const char *what;
	struct trc_merge_options options;
	const char *order; /* by the logs' messages; c = the counter */
} merges[] = {
	{"by time, then by stream", TRC_MERGE_EVERYTHING, "0123c46789A"},
	{"with blocks decoded ahead", {ALL_TIMES, .ahead = true}, "0123c46789A"},
	{"blocks that end too early or begin too late are left out",
	 {.want = TRC_WANT_ALL, .from_ns = 310, .until_ns = 450},
	 "c679"},
	{"the rings of other procs are left out, the overflow stream is not",
	 {ALL_TIMES, .one_proc = true, .proc = 1},
	 "124678"},
	{"blocks without a kind are left out", {ALL_TIMES, .kinds = &counters}, "c9"},
	{"but not if every block is wanted",
	 {ALL_TIMES, .kinds = &counters, .every_block = true},
	 "0123c46789A"},
};
enum { N_MERGES = sizeof(merges) / sizeof(merges[0]) };

/* A letter for the event; logs whose text was not asked for are told by their time. */
static char letter_of(const struct trc_columns *c, uint32_t row)
{
	static const struct {
		int64_t time_ns;
		uint32_t proc;
		char letter;
	} logs[] = {{100, 0, '0'}, {100, 1, '1'}, {200, 1, '2'}, {300, 0, '3'}, {300, 1, '4'},
		    {350, 1, '6'}, {400, 2, '7'}, {500, 1, '8'}, {900, 0, '9'}, {950, 0, 'A'}};

	if (c->kind[row] == TRC_KIND_COUNTER)
		return 'c';
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
		if (logs[i].time_ns == c->time_ns[row] && logs[i].proc == c->proc[row])
			return logs[i].letter;
	return '?';
}

START_TEST(test_merge)
{
	struct trc_model *m = model_of(merge_text, 0);
	struct trc_error error;
	struct trc_merge *merge;
	struct trc_span span;
	char order[64] = "";
	size_t n = 0;

	ck_assert_int_eq(trc_merge_open(&merge, trc_model_reader(m), &merges[_i].options), 0);
	while (trc_merge_next(merge, &span, &error) > 0) {
		ck_assert_uint_lt(span.first, span.last);
		for (uint32_t row = span.first; row < span.last; row++)
			order[n++] = letter_of(span.columns, row);
	}
	ck_assert_msg(!strcmp(order, merges[_i].order), "%s: %s", merges[_i].what, order);
	ck_assert(trc_merge_fraction(merge) == 1);
	trc_merge_close(merge);
	model_close(m);
}
END_TEST

/* Closing in the middle stops the thread that decodes ahead. */
START_TEST(test_merge_stops)
{
	struct trc_merge_options options = {ALL_TIMES, .ahead = true};
	struct trc_model *m = model_of(merge_text, 0);
	struct trc_error error;
	struct trc_merge *merge;
	struct trc_span span;

	ck_assert_int_eq(trc_merge_open(&merge, trc_model_reader(m), &options), 0);
	ck_assert_int_eq(trc_merge_next(merge, &span, &error), 1);
	trc_merge_close(merge);
	trc_merge_close(NULL);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_merge");
	TCase *tcase = tcase_create("merge");

	tcase_add_loop_test(tcase, test_sort, 0, N_SORTS);
	tcase_add_test(tcase, test_map);
	tcase_add_test(tcase, test_numbers);
	tcase_add_loop_test(tcase, test_merge, 0, N_MERGES);
	tcase_add_test(tcase, test_merge_stops);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
