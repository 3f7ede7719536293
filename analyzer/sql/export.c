/*
 * export.c - all tables as a plain SQLite database.
 *
 * The virtual tables are registered under names of their own, next to real tables of the
 * final ones, and copied by INSERT ... SELECT inside one transaction.  The tables of single
 * kinds become views of events.  Tables that are derived while they are read are left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sql.h"
#include "parts.h"
#include "format/file_sink.h"

#define PREFIX "trc_"

struct export
{
	sqlite3 *db;
	struct trc_model *m;
	struct trc_error *error;
};

/* Runs the statement and frees it. */
static int export_run(struct export *x, char *sql)
{
	int rc = sql ? sqlite3_exec(x->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	if (rc && !x->error->text[0])
		snprintf(x->error->text, sizeof(x->error->text), "%s",
			 sql ? sqlite3_errmsg(x->db) : "out of memory");
	sqlite3_free(sql);
	return rc ? -EIO : 0;
}

static int export_copy_rows(struct export *x, const char *table)
{
	return export_run(x, sqlite3_mprintf("INSERT INTO \"%w\" SELECT * FROM \"" PREFIX "%w\"",
					     table, table));
}

static int make_index(struct export *x, const char *table, const char *columns)
{
	return export_run(x, sqlite3_mprintf("CREATE INDEX \"%w_%w\" ON \"%w\"(%s)", table, columns,
					     table, columns));
}

static int export_table(struct export *x, const struct trc_sql_table *table)
{
	sqlite3_str *sql = sqlite3_str_new(x->db);
	int err;

	sqlite3_str_appendf(sql, "CREATE TABLE \"%w\"(", table->name);
	for (size_t i = 0; i < table->n_columns; i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s%s", i ? ", " : "", table->column[i].name,
				    table->column[i].type,
				    table->column[i].unique ? " PRIMARY KEY" : "");
	sqlite3_str_appendall(sql, ")");
	err = export_run(x, sqlite3_str_finish(sql));
	if (!err)
		err = export_copy_rows(x, table->name);
	for (size_t i = 0; !err && i < table->n_columns; i++)
		if (table->column[i].indexed && !table->column[i].unique)
			err = make_index(x, table->name, table->column[i].name);
	return err;
}

static int export_events(struct export *x, const struct trc_event_columns *columns)
{
	sqlite3_str *sql = sqlite3_str_new(x->db);
	int err;

	sqlite3_str_appendall(sql, "CREATE TABLE events(");
	for (size_t i = 0; i < columns->n; i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", columns->column[i].name,
				    columns->column[i].type);
	sqlite3_str_appendall(sql, ")");
	err = export_run(x, sqlite3_str_finish(sql));
	if (!err) /* sorted, so that a range of times is one stretch of the file */
		err = export_run(x, sqlite3_mprintf("INSERT INTO events SELECT * FROM " PREFIX
						    "events ORDER BY ts_ns"));
	if (!err)
		err = make_index(x, "events", "ts_ns");
	if (!err)
		err = make_index(x, "events", "kind, ts_ns");
	return err ? err : make_index(x, "events", "thread, ts_ns");
}

static int export_kind(struct export *x, const struct trc_event_columns *columns, const char *name)
{
	sqlite3_str *sql = sqlite3_str_new(x->db);

	sqlite3_str_appendf(sql, "CREATE VIEW \"event_%w\" AS SELECT ", name);
	for (size_t i = 0; i < columns->n; i++)
		sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", columns->column[i].name);
	sqlite3_str_appendf(sql, " FROM events WHERE kind = %Q", name);
	return export_run(x, sqlite3_str_finish(sql));
}

static int export_all_events(struct export *x)
{
	struct trc_event_columns *columns = malloc(sizeof(*columns));
	int err = columns ? 0 : -ENOMEM;

	if (!err) {
		trc_event_columns_make(columns, x->m, 0);
		err = export_events(x, columns);
	}
	for (unsigned int kind = 1; !err && kind <= TRC_KIND_MAX; kind++) {
		const char *name = trc_event_kind(x->m, kind)->name;

		if (!name)
			continue;
		trc_event_columns_make(columns, x->m, kind);
		err = export_kind(x, columns, name);
	}
	free(columns);
	return err;
}

static int export_everything(struct export *x)
{
	const struct trc_sql_table *table;
	int err = export_run(x, sqlite3_mprintf("PRAGMA journal_mode=OFF"));

	if (!err)
		err = export_run(x, sqlite3_mprintf("PRAGMA synchronous=OFF"));
	if (!err)
		err = export_run(x, sqlite3_mprintf("BEGIN"));
	for (size_t i = 0; !err && (table = trc_sql_table_at(i)); i++)
		err = table->rows || table->make ? export_table(x, table) : 0;
	if (!err)
		err = export_all_events(x);
	return err ? err : export_run(x, sqlite3_mprintf("COMMIT"));
}

/* The system's reason, where there is one: SQLite's own says only that it cannot open the file. */
static const char *why_not_open(const struct export *x, int rc)
{
	int err = x->db && rc == SQLITE_CANTOPEN ? sqlite3_system_errno(x->db) : 0;

	return err ? strerror(err) : sqlite3_errstr(rc);
}

static int export_to(struct trc_model *m, const char *path, struct trc_error *error)
{
	struct export x = {.m = m, .error = error};
	int err = 0, rc;

	rc = sqlite3_open_v2(path, &x.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (!rc)
		rc = trc_sql_add_tables(x.db, m, PREFIX, 0);
	if (rc) {
		snprintf(error->text, sizeof(error->text), "%s", why_not_open(&x, rc));
		err = -EIO;
	}
	if (!err)
		err = export_everything(&x);
	sqlite3_close(x.db);
	return err;
}

/* What is no database, and not empty, was somebody's work: a name given by mistake. */
static int check_replaced(const char *path, struct trc_error *error)
{
	static const char magic[16] = "SQLite format 3";
	char begins[sizeof(magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? 0 : read(fd, begins, sizeof(begins));

	if (fd >= 0)
		close(fd);
	if (n && (n != sizeof(begins) || memcmp(begins, magic, sizeof(magic)))) {
		snprintf(error->text, sizeof(error->text), "is no database; it is left as it is");
		return -EEXIST;
	}
	return 0;
}

/* SQLite opens its file by name: the sink only makes it, and puts it in its place. */
static int export_beside(struct trc_model *m, struct trc_file_sink *sink, struct trc_error *error)
{
	char named[TRC_FILE_PATH_BYTES + 128];
	int err = trc_file_sink_open(sink, named, sizeof(named));

	if (!err && sink->in_place)
		err = -EACCES; /* what is there may be written to, but no file made beside it */
	if (!err)
		err = export_to(m, sink->temporary, error);
	if (!err)
		err = trc_file_sink_commit(sink);
	if (err && !*error->text)
		snprintf(error->text, sizeof(error->text), "%s", strerror(-err));
	trc_file_sink_close(sink);
	return err;
}

int trc_sql_export(struct trc_model *m, const char *path, struct trc_error *error)
{
	char named[TRC_FILE_PATH_BYTES + 128];
	struct trc_file_sink sink;
	int err = trc_file_sink_plan(&sink, path, named, sizeof(named));

	snprintf(error->text, sizeof(error->text), "%s", err ? strerror(-err) : "");
	if (!err && sink.in_place) {
		snprintf(error->text, sizeof(error->text), "a database has to be a regular file");
		err = -EINVAL;
	}
	if (!err && sink.exists)
		err = check_replaced(sink.target, error);
	return err ? err : export_beside(m, &sink, error);
}
