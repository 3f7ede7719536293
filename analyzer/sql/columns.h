/* columns.h - the words that tables of SQL are described in (table.h). */
#ifndef TRC_ANALYZER_SQL_COLUMNS_H
#define TRC_ANALYZER_SQL_COLUMNS_H

#include <stddef.h>
#include "table.h"

/* Where a member lies in a row of the model's. */
#define F(row, member) offsetof(struct trc_##row, member)
#define N(columns)     (sizeof(columns) / sizeof(columns[0]))
/* For a column whose values never decrease (table:Q2), and for a column in which no value comes twice. */
#define IN_ORDER .ordered = true, .indexed = true
#define IS_ID	 IN_ORDER, .unique = true
/* The rows of a table that has the same name as in the model. */
#define ROWS(name)                                                                                 \
	static const void *name##_rows(const struct trc_model *m, size_t *n)                       \
	{                                                                                          \
		return trc_model_##name(m, n);                                                     \
	}
/* The fiber that the row's thread was in at the row's time and place. */
#define FIBER(name, thread_of, time_of, place_of)                                                  \
	static void name##_fiber(const struct trc_model *m, size_t i, const void *row,             \
				 struct trc_sql_value *value)                                      \
	{                                                                                          \
		const struct trc_##name *r = row;                                                  \
                                                                                                   \
		trc_sql_set_fiber(m, trc_model_fiber_at(m, r->thread_of, r->time_of, r->place_of), \
				  value);                                                          \
	}
/* The head of a column's function. */
#define CALL(name)                                                                                 \
	static void name(const struct trc_model *m, size_t i, const void *row,                     \
			 struct trc_sql_value *value)

#endif
