/* test_row_index.c - rows found by their keys (format/row_index.h). */
#include <string.h>
#include "common.h"
#include "format/row_index.h"

struct row {
	uint64_t key[2];
	uint64_t n_found;
};

enum { N_KEYS = 5000, N_FINDS = 50000 };

START_TEST(a_row_is_found_by_its_key_however_many_there_are)
{
	struct trc_keyed_rows rows = {.row_bytes = sizeof(struct row), .key_bytes = 16};
	static uint64_t expected[N_KEYS];
	size_t n_different = 0;

	memset(expected, 0, sizeof(expected));
	for (int i = 0; i < N_FINDS; i++) {
		uint64_t k = random_next() % N_KEYS;
		/* Keys that differ in either half alone. */
		const uint64_t key[2] = {k % 50, k / 50};
		bool added;
		struct row *row = trc_keyed_rows_find(&rows, key, &added);

		ck_assert_ptr_nonnull(row);
		ck_assert_mem_eq(row->key, key, sizeof(key));
		ck_assert_uint_eq(row->n_found, expected[k]);
		ck_assert_int_eq(added, !expected[k]);
		n_different += !expected[k];
		row->n_found = ++expected[k];
	}
	ck_assert_uint_eq(rows.n, n_different);
	trc_keyed_rows_free(&rows);
}
END_TEST

static bool same_first_letter(const void *rows, uint32_t row, const void *key)
{
	return ((const char *const *)rows)[row - 1][0] == *(const char *)key;
}

/* Two rows of one hash are told apart by who knows the rows. */
START_TEST(rows_of_one_hash_are_told_apart)
{
	static const char *const rows[] = {"apple", "berry"};
	struct trc_row_index index = {0};

	for (uint32_t i = 0; i < 2; i++) {
		size_t slot;

		ck_assert_int_eq(trc_row_index_reserve(&index), 0);
		ck_assert_uint_eq(
			trc_row_index_find(&index, 7, same_first_letter, rows, rows[i], &slot), 0);
		trc_row_index_set(&index, slot, 7, i + 1);
	}
	for (uint32_t i = 0; i < 2; i++) {
		size_t slot;

		ck_assert_uint_eq(
			trc_row_index_find(&index, 7, same_first_letter, rows, rows[i], &slot),
			i + 1);
		ck_assert_uint_eq(
			trc_row_index_find(&index, 8, same_first_letter, rows, rows[i], &slot), 0);
	}
	trc_row_index_free(&index);
}
END_TEST

Suite *suite_row_index(void)
{
	Suite *s = suite_create("row index");
	TCase *t = tcase_create("row index");

	tcase_add_test(t, a_row_is_found_by_its_key_however_many_there_are);
	tcase_add_test(t, rows_of_one_hash_are_told_apart);
	suite_add_tcase(s, t);
	return s;
}
