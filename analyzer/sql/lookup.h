/*
 * lookup.h - which rows of a table have a value in one of its columns.
 *
 *   lookup:L1  rows with the same value come in the table's order: a column that is ordered in the table is ordered among
 *       these rows
 *   lookup:L2  making the lookup takes time and memory linear in the number of rows, whatever the values are; a look-up takes
 *       constant time
 */
#ifndef TRC_ANALYZER_SQL_LOOKUP_H
#define TRC_ANALYZER_SQL_LOOKUP_H

#include "table.h"

/* Zeroed memory is a lookup that has not been made. */
struct trc_sql_lookup {
	struct trc_index number; /* of each value: 1, 2, ... */
	uint32_t *
		first; /* by number - 1: where its rows begin in row[]; behind the last, where they end */
	uint32_t *row; /* from 0; rows where the value is NULL are in none */
};

/* Makes the lookup of a column of whole numbers; `rows` as table->rows() returned them.  0 or -ENOMEM. */
int trc_sql_lookup_make(struct trc_sql_lookup *lookup, const struct trc_model *m,
			const struct trc_sql_table *table, const struct trc_sql_column *column,
			const void *rows, size_t n);
/* The rows with this value: lookup->row[*first] up to, and not including, lookup->row[*limit]. */
void trc_sql_lookup_rows(const struct trc_sql_lookup *lookup, int64_t value, size_t *first,
			 size_t *limit);
void trc_sql_lookup_free(struct trc_sql_lookup *lookup);

#endif
