/* lookup.c - see lookup.h. */
#include "lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number of each row's value, 0 = NULL, and at first[number] how many rows have it. */
static int lookup_count(struct trc_sql_lookup *l, const struct trc_model *m,
			const struct trc_sql_table *table, const struct trc_sql_column *column,
			const void *rows, uint32_t *number, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct trc_sql_value value;

		trc_sql_get(m, table, column, rows, i, &value);
		number[i] = 0;
		if (value.kind == TRC_SQL_NULL)
			continue;
		number[i] = trc_index_number(&l->number, (uint64_t)value.integer);
		if (!number[i])
			return -ENOMEM;
		l->first[number[i]]++;
	}
	return 0;
}

/* Each row to its place; first[number - 1] moves from the place of the number's first row to that behind its last. */
static void place(struct trc_sql_lookup *l, const uint32_t *number, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 1; i <= l->number.n; i++) {
		uint32_t rows = l->first[i];

		l->first[i - 1] = sum;
		sum += rows;
	}
	l->first[l->number.n] = sum;
	for (size_t i = 0; i < n; i++)
		if (number[i])
			l->row[l->first[number[i] - 1]++] = (uint32_t)i;
	memmove(l->first + 1, l->first, l->number.n * sizeof(*l->first));
	l->first[0] = 0;
}

int trc_sql_lookup_make(struct trc_sql_lookup *l, const struct trc_model *m,
			const struct trc_sql_table *table, const struct trc_sql_column *column,
			const void *rows, size_t n)
{
	uint32_t *number = n < UINT32_MAX ? malloc((n + 1) * sizeof(*number)) : NULL;
	void *smaller;
	int err;

	l->first = n < UINT32_MAX ? calloc(n + 2, sizeof(*l->first)) : NULL;
	l->row = n < UINT32_MAX ? malloc((n + 1) * sizeof(*l->row)) : NULL;
	err = number && l->first && l->row ? lookup_count(l, m, table, column, rows, number, n)
					   : -ENOMEM;
	if (err) {
		trc_sql_lookup_free(l);
	} else {
		place(l, number, n);
		smaller = realloc(l->first, (l->number.n + 1) * sizeof(*l->first));
		if (smaller)
			l->first = smaller;
	}
	free(number);
	return err;
}

void trc_sql_lookup_rows(const struct trc_sql_lookup *l, int64_t value, size_t *first,
			 size_t *limit)
{
	uint32_t number = trc_index_get(&l->number, (uint64_t)value);

	*first = number == TRC_INDEX_NONE ? 0 : l->first[number - 1];
	*limit = number == TRC_INDEX_NONE ? 0 : l->first[number];
}

void trc_sql_lookup_free(struct trc_sql_lookup *l)
{
	trc_index_free(&l->number);
	free(l->first);
	free(l->row);
	memset(l, 0, sizeof(*l));
}
