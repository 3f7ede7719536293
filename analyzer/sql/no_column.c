/*
 * no_column.c - what to say of a query that asks for a column which is not there.
 */
#include <stdio.h>
#include <string.h>
#include "sql.h"

/* The names of a table's columns behind the text, as far as there is room; false if there is no such table. */
static bool add_columns(sqlite3 *db, const char *table, size_t table_bytes, struct trc_error *error)
{
	static const char MORE[] = ", ...";
	size_t n = strlen(error->text), room = sizeof(error->text) - sizeof(MORE);
	sqlite3_stmt *stmt = NULL;
	bool is_table = false, is_full = false;

	if (sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?1)", -1, &stmt, NULL))
		return false;
	sqlite3_bind_text(stmt, 1, table, (int)table_bytes, SQLITE_STATIC);
	while (!is_full && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);
		size_t before = is_table ? 2 : table_bytes + strlen("; of  there are ");

		is_full = !name || n + before + strlen(name) > room;
		if (is_full)
			break;
		n += (size_t)(is_table ? sprintf(error->text + n, ", %s", name)
				       : sprintf(error->text + n, "; of %.*s there are %s",
						 (int)table_bytes, table, name));
		is_table = true;
	}
	if (is_full && is_table)
		strcpy(error->text + n, MORE);
	sqlite3_finalize(stmt);
	return is_table;
}

void trc_sql_tell_columns(sqlite3 *db, const char *sql, struct trc_error *error)
{
	static const char WORD[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	if (strncmp(error->text, "no such column: ", 16) != 0)
		return;
	/* The first word that is a table's name: what else a query says seldom is one. */
	for (sql += strcspn(sql, WORD); *sql; sql += strcspn(sql, WORD)) {
		size_t n = strspn(sql, WORD);

		if (add_columns(db, sql, n, error))
			return;
		sql += n;
	}
}
