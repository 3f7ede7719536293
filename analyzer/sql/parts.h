/* parts.h - what sql.c and export.c share. */
#ifndef TRC_ANALYZER_SQL_PARTS_H
#define TRC_ANALYZER_SQL_PARTS_H

#include "vtab.h"

/* Registers all tables, each name with `prefix` before it; cause_rows as in sql.h, 0 = any number.  An SQLite result code. */
int trc_sql_add_tables(sqlite3 *db, struct trc_model *m, const char *prefix, size_t cause_rows);
/* The functions that queries have beside SQLite's.  An SQLite result code. */
int trc_sql_add_functions(sqlite3 *db, struct trc_model *m);
int trc_sql_add_margins(sqlite3 *db, struct trc_model *m);
/* With a selection: views before its tables (selected.c).  An SQLite result code. */
int trc_sql_add_selection(sqlite3 *db, struct trc_model *m);
/* The hidden column of tables of rows, always 1.  If a query asks for it, rows that are not selected may be passed over. */
#define TRC_SQL_SELECTED_COLUMN "trc_is_selected"
/* Its place in enum trc_selected_table, if it has such a view; else -1. */
int trc_sql_selected_table(const struct trc_sql_table *table);
/* A line for each. */
void trc_sql_print_functions(FILE *out);
void trc_sql_print_margins(FILE *out);

#endif
