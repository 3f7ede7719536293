/* parts.h - what sql.c and export.c share. */
#ifndef TRC_ANALYZER_SQL_PARTS_H
#define TRC_ANALYZER_SQL_PARTS_H

#include "vtab.h"

/* Registers all tables, each name with `prefix` before it.  An SQLite result code. */
int trc_sql_add_tables(sqlite3 *db, struct trc_model *m, const char *prefix);

#endif
