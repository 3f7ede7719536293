/*
 * sql.h - a trace as SQL tables.
 *
 *   sql:S1  a query never changes anything: whatever is not reading is refused
 *   sql:S2  a part of the model is derived when a query first reads a table of it
 */
#ifndef TRC_ANALYZER_SQL_SQL_H
#define TRC_ANALYZER_SQL_SQL_H

#include <sqlite3.h>
#include <stdio.h>
#include "analyzer/model/model.h"

/* On success *out is the caller's: sqlite3_close() it before the model.  Every table of
 * trc_sql_schema() is there under its name. 0 or -errno. */
int trc_sql_open(sqlite3 **out, struct trc_model *m, struct trc_error *error);

/* The same for queries that may not take more than these bounds. */
struct trc_sql_bounds {
	int value_bytes;   /* a text, a blob, a row of a table that SQLite makes meanwhile */
	int pattern_bytes; /* of LIKE and GLOB: one comparison cannot be interrupted */
	size_t cause_rows; /* of one wait, task or region */
};
/* SQLite keeps temporary data in memory: the size of temporary files would be unbounded. */
int trc_sql_open_bounded(sqlite3 **out, struct trc_model *m, const struct trc_sql_bounds *bounds,
			 struct trc_error *error);

/* The tables as CREATE TABLE statements, with what each column means; only those named like
 * `pattern` (NULL = all).  `m` may be NULL; else kinds of events that only the file knows are
 * there, too. */
void trc_sql_print_schema(FILE *out, const struct trc_model *m, const char *pattern);

/* If the error is that a column is not there: adds the columns of the first table that the query names. */
void trc_sql_tell_columns(sqlite3 *db, const char *sql, struct trc_error *error);

/* The columns of a row of the table causes, as those of a JSON object, without its braces. */
struct trc_cause;
void trc_sql_print_cause(FILE *out, const struct trc_model *m, const struct trc_cause *row);

/* The tables' names, one a line. */
void trc_sql_print_names(FILE *out, const struct trc_model *m);

/* Writes all tables into a database of their own, with indices.  `path` is replaced when the
 * database is complete. 0 or -errno with a line in error. */
int trc_sql_export(struct trc_model *m, const char *path, struct trc_error *error);

#endif
