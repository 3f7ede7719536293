/* sql.c - see sql.h: the connection, what it refuses, and the schema as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sql.h"
#include "parts.h"

static bool pragma_only_reads(const char *name)
{
	static const char *const readers[] = {"table_info",    "table_xinfo",	 "table_list",
					      "function_list", "module_list",	 "pragma_list",
					      "database_list", "collation_list", "compile_options"};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		if (!sqlite3_stricmp(name, readers[i]))
			return true;
	return false;
}

/* S1.  Deciding by what is allowed, not by what is not. */
static int authorize(void *context, int action, const char *a, const char *b, const char *database,
		     const char *trigger)
{
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && !sqlite3_stricmp(b, "load_extension") ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_UPDATE:
		/* So SQLite asks when a virtual table is declared; a query cannot write there:
		 * the connection is SQLITE_DBCONFIG_DEFENSIVE. */
		return a && !strcmp(a, "sqlite_master") ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return a && pragma_only_reads(a) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* One vtab source for each table; freed with the last module that uses them. */
static int add_table(sqlite3 *db, const struct trc_vtab_source *of, const char *prefix,
		     const char *name)
{
	struct trc_vtab_source *source = malloc(sizeof(*source));
	const struct trc_sql_table *table = of->table;
	char *full = sqlite3_mprintf("%s%s", prefix, name);
	int rc = SQLITE_NOMEM;

	if (source && full) {
		*source = *of;
		/* Frees source, also on failure. */
		rc = sqlite3_create_module_v2(db, full,
					      !table			   ? &trc_vtab_events
					      : table->rows || table->make ? &trc_vtab_rows
									   : &trc_vtab_causes,
					      source, free);
	} else {
		free(source);
	}
	sqlite3_free(full);
	return rc;
}

int trc_sql_add_tables(sqlite3 *db, struct trc_model *m, const char *prefix, size_t cause_rows)
{
	struct trc_vtab_source of = {.m = m, .cause_rows = cause_rows};
	int rc = add_table(db, &of, prefix, "events");

	for (size_t i = 0; !rc && (of.table = trc_sql_table_at(i)); i++)
		rc = add_table(db, &of, prefix, of.table->name);
	of.table = NULL;
	for (unsigned int kind = 1; !rc && kind <= TRC_KIND_MAX; kind++) {
		char name[80];

		if (!trc_event_kind(m, kind)->name)
			continue;
		snprintf(name, sizeof(name), "event_%s", trc_event_kind(m, kind)->name);
		of.kind = kind;
		rc = add_table(db, &of, prefix, name);
	}
	return rc;
}

/* First of all: a pragma is refused later, and this one would drop the views of what is selected. */
static int set_bounds(sqlite3 *db, const struct trc_sql_bounds *bounds)
{
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, bounds->value_bytes);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, bounds->pattern_bytes);
	return sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
}

int trc_sql_open(sqlite3 **out, struct trc_model *m, struct trc_error *error)
{
	return trc_sql_open_bounded(out, m, NULL, error);
}

int trc_sql_open_bounded(sqlite3 **out, struct trc_model *m, const struct trc_sql_bounds *bounds,
			 struct trc_error *error)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(":memory:", &db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (!rc && bounds)
		rc = set_bounds(db, bounds);
	if (!rc)
		rc = trc_sql_add_tables(db, m, "", bounds ? bounds->cause_rows : 0);
	if (!rc)
		rc = trc_sql_add_functions(db, m);
	if (!rc)
		rc = trc_sql_add_margins(db, m);
	if (!rc)
		rc = trc_sql_add_selection(db, m);
	if (!rc)
		rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (!rc)
		rc = sqlite3_set_authorizer(db, authorize, NULL);
	if (rc) {
		snprintf(error->text, sizeof(error->text), "SQLite: %s", sqlite3_errstr(rc));
		sqlite3_close(db);
		return rc == SQLITE_NOMEM ? -ENOMEM : -EIO;
	}
	*out = db;
	return 0;
}

/* --- the schema as text --- */

/* All but what it means. */
static void print_column(FILE *out, const char *name, const char *type, bool last)
{
	char head[TRC_COLUMN_NAME_BYTES + 16];

	snprintf(head, sizeof(head), "%s%s%s%s", name, *type ? " " : "", type, last ? "" : ",");
	fprintf(out, "  %-26s -- ", head);
}

static void print_table(FILE *out, const struct trc_sql_table *table)
{
	fprintf(out, "-- %s\nCREATE TABLE %s(\n", table->doc, table->name);
	for (size_t i = 0; i < table->n_columns; i++) {
		print_column(out, table->column[i].name, table->column[i].type,
			     i + 1 == table->n_columns);
		fprintf(out, "%s\n", table->column[i].doc);
	}
	fputs(");\n", out);
}

static void print_events(FILE *out, const struct trc_model *m, const char *name, unsigned int kind,
			 const char *doc)
{
	struct trc_event_columns *columns = malloc(sizeof(*columns));

	if (!columns)
		return;
	trc_event_columns_make(columns, m, kind);
	fprintf(out, "-- %s\nCREATE TABLE %s(\n", doc ? doc : "", name);
	for (size_t i = 0; i < columns->n; i++) {
		print_column(out, columns->column[i].name, columns->column[i].type,
			     i + 1 == columns->n);
		trc_event_column_print_doc(out, columns, m, i);
		fputc('\n', out);
	}
	fputs(");\n", out);
	free(columns);
}

static bool like(const char *name, const char *pattern)
{
	return !pattern || !sqlite3_strlike(pattern, name, 0);
}

void trc_sql_print_schema(FILE *out, const struct trc_model *m, const char *pattern)
{
	const struct trc_sql_table *table;

	if (like("events", pattern))
		print_events(out, m, "events", 0,
			     "every event; a column that its kind does not have is NULL");
	for (size_t i = 0; (table = trc_sql_table_at(i)); i++)
		if (like(table->name, pattern))
			print_table(out, table);
	for (unsigned int kind = 1; kind <= TRC_KIND_MAX; kind++) {
		const struct trc_kind_info *info = trc_event_kind(m, kind);
		char name[80];

		if (!info->name)
			continue;
		snprintf(name, sizeof(name), "event_%s", info->name);
		if (like(name, pattern))
			print_events(out, m, name, kind, info->doc);
	}
	if (pattern)
		return;
	trc_sql_print_functions(out);
	trc_sql_print_margins(out);
}

void trc_sql_print_names(FILE *out, const struct trc_model *m)
{
	const struct trc_sql_table *table;

	fputs("events\n", out);
	for (size_t i = 0; (table = trc_sql_table_at(i)); i++)
		fprintf(out, "%s\n", table->name);
	for (unsigned int kind = 1; kind <= TRC_KIND_MAX; kind++)
		if (trc_event_kind(m, kind)->name)
			fprintf(out, "event_%s\n", trc_event_kind(m, kind)->name);
}
