/* vtab.h - the virtual table modules; only the sql files include it. */
#ifndef TRC_ANALYZER_SQL_VTAB_H
#define TRC_ANALYZER_SQL_VTAB_H

#include <sqlite3.h>
#include <stdio.h>
#include "analyzer/model/model.h"
#include "table.h"

/* What a module needs for one table; lives as long as the connection. */
struct trc_vtab_source {
	struct trc_model *m;
	const struct trc_sql_table *table; /* NULL = of vtab_events.c */
	unsigned int kind;		   /* of vtab_events.c: 0 = all kinds */
	size_t cause_rows; /* of vtab_causes.c: the most at a time; 0 = any number */
};

extern const sqlite3_module trc_vtab_rows, trc_vtab_events, trc_vtab_causes;

/* The columns of events (kind 0) or of one kind's table. `m` may be NULL: what this library
 * knows. */
enum { TRC_EVENT_COLUMNS_MAX = 512, TRC_COLUMN_NAME_BYTES = 72 };
struct trc_event_column {
	char name[TRC_COLUMN_NAME_BYTES];
	const char *type;
	const char *doc; /* NULL: an argument's */
};
struct trc_event_columns {
	unsigned int kind;
	size_t n;
	struct trc_event_column column[TRC_EVENT_COLUMNS_MAX];
	/* Which argument of a kind a column shows: 1 + its position, 0 = none. */
	uint8_t arg[TRC_KIND_MAX + 1][TRC_EVENT_COLUMNS_MAX];
};
void trc_event_columns_make(struct trc_event_columns *columns, const struct trc_model *m,
			    unsigned int kind);
/* What a column means, of each kind that has it. */
void trc_event_column_print_doc(FILE *out, const struct trc_event_columns *columns,
				const struct trc_model *m, size_t column);
/* The description of a kind, the file's if `m` has one. */
const struct trc_kind_info *trc_event_kind(const struct trc_model *m, unsigned int kind);
/* Its name in SQL: "kind_200" if nobody has one. */
const char *trc_event_kind_name(const struct trc_model *m, unsigned int kind);

/* About how many rows a table has, known before anything is derived (sizes.c). */
double trc_sql_rows_guess(const struct trc_model *m, const struct trc_sql_table *table);
/* Tells SQLite which columns a table has.  An SQLite result code. */
int trc_vtab_declare(sqlite3 *db, const struct trc_sql_table *table);
/* The same with a hidden column behind the others: `more`; NULL = none. */
int trc_vtab_declare_with(sqlite3 *db, const struct trc_sql_table *table, const char *more);
/* Gives SQLite the value of a column in row i of `rows`. */
void trc_vtab_result(sqlite3_context *context, const struct trc_vtab_source *source, int column,
		     const void *rows, size_t i);
/* Tells SQLite what went wrong. */
int trc_vtab_fail(sqlite3_vtab *vtab, const char *text);

/*
 * A bound of a query on a column of whole numbers: column OP value.  Narrows [*from, *until]
 * to whole numbers that may satisfy it; what SQLite compares itself afterwards need not be
 * exact.  False if no number can (NULL).
 */
bool trc_vtab_narrow(int op, sqlite3_value *value, int64_t *from, int64_t *until);

#endif
