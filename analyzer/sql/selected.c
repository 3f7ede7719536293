/*
 * selected.c - what the model's selection has of each table: the table `selected`, and views that
 * stand before the tables themselves.
 *
 * With a selection the name of a table in TABLES means a view of the selected rows.  The view's
 * columns of time are of the part that lies inside.  The table itself is main.TABLE.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/selection_rows.h"
#include "columns.h"
#include "parts.h"

struct selected {
	const struct trc_sql_table *table[TRC_SELECTED_TABLES];
	struct trc_selected_rows rows;
};

struct row {
	const char *kind;
	struct trc_selected_row of;
};

static const struct {
	const char *name;
	const char *ns_column,
		*n_column; /* what of a view is that of what lies inside; NULL = nothing */
	bool view;
} TABLES[TRC_SELECTED_TABLES] = {
	[TRC_SELECTED_THREADS] = {"threads", NULL, NULL,
				  false}, /* whom rows of other tables refer to */
	[TRC_SELECTED_PARKS] = {"parks", "waited_ns", NULL, true},
	[TRC_SELECTED_UNLOCKS] = {"unlocks", "caused_ns", "caused_waits", true},
	[TRC_SELECTED_SAMPLES] = {"samples", NULL, NULL, true},
	[TRC_SELECTED_TASKS] = {"tasks", NULL, NULL, true},
	[TRC_SELECTED_REGIONS] = {"regions", NULL, NULL, true},
	[TRC_SELECTED_LOGS] = {"logs", NULL, NULL, true},
	[TRC_SELECTED_COUNTERS] = {"counters", NULL, NULL, true},
	[TRC_SELECTED_ON_CPU] = {"on_cpu", "duration_ns", NULL, true},
	[TRC_SELECTED_HOLDS] = {"holds", NULL, NULL, true},
	[TRC_SELECTED_LATENCIES] = {"sched_latency", "latency_ns", NULL, true},
	[TRC_SELECTED_ALLOCS] = {"allocs", NULL, NULL, true},
	[TRC_SELECTED_FIBER_WAITS] = {"fiber_waits", "waited_ns", NULL, true},
};

int trc_sql_selected_table(const struct trc_sql_table *table)
{
	for (int t = 0; t < TRC_SELECTED_TABLES; t++)
		if (TABLES[t].view && !strcmp(TABLES[t].name, table->name))
			return t;
	return -1;
}

static void selected_begin(struct selected *c, const struct trc_model *m)
{
	trc_selected_rows_begin(&c->rows, m);
	for (size_t t = 0; t < TRC_SELECTED_TABLES; t++)
		c->table[t] = trc_sql_table_named(TABLES[t].name);
}

static int need_caused(struct selected *c, size_t t)
{
	return t == TRC_SELECTED_UNLOCKS ? trc_selected_rows_need_caused(&c->rows) : 0;
}

/* ---- the table ---- */

static int make_rows_of(struct selected *c, struct trc_model *m, struct trc_array *rows, size_t t,
			struct trc_error *error)
{
	int err = trc_model_need(m, c->table[t]->parts, error);
	size_t n;

	if (!err)
		err = need_caused(c, t);
	if (err)
		return err;
	c->table[t]->rows(m, &n);
	for (size_t i = trc_selected_rows_next(&c->rows, (enum trc_selected_table)t, 0, n); i < n;
	     i = trc_selected_rows_next(&c->rows, (enum trc_selected_table)t, i + 1, n)) {
		struct row row = {.kind = TABLES[t].name}, *added;

		if (!trc_selected_rows_has(&c->rows, (enum trc_selected_table)t, i, &row.of))
			continue;
		added = trc_array_add(rows);
		if (!added)
			return -ENOMEM;
		*added = row;
	}
	return 0;
}

static int make_rows(struct trc_model *m, struct trc_array *rows, struct trc_error *error)
{
	struct selected c;
	int err = 0;

	selected_begin(&c, m);
	rows->row_bytes = sizeof(struct row);
	error->text[0] = '\0';
	for (size_t t = 0; t < TRC_SELECTED_TABLES && c.rows.s && !err; t++)
		err = make_rows_of(&c, m, rows, t, error);
	trc_selected_rows_free(&c.rows);
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "selected: %s", strerror(-err));
	return err;
}

static const struct trc_sql_column selected_columns[] = {
	{"kind", "TEXT", TRC_FIELD_TEXT, offsetof(struct row, kind),
	 .doc = "the table that has the row"},
	{"id", "INTEGER", TRC_FIELD_U64, offsetof(struct row, of.id), .indexed = true,
	 .doc = "its id there; in a table without ids its rowid"},
	{"ns", "INTEGER", TRC_FIELD_NS, offsetof(struct row, of.ns),
	 .doc = "how much of it lies inside; of unlocks, what they caused to what lies inside of waits; "
		"NULL for what has only a moment, and for tasks and regions, which count whole"},
	{"waits", "INTEGER", TRC_FIELD_U32, offsetof(struct row, of.n),
	 .doc = "of unlocks, how many selected waits they caused; else 1"},
};

const struct trc_sql_table trc_sql_selected_tables[] = {
	{"selected",
	 "what --window, --thread, --task, --slowest and --label-filter leave; else empty", 0,
	 selected_columns, N(selected_columns), sizeof(struct row), NULL, make_rows},
};
const size_t trc_sql_n_selected_tables = N(trc_sql_selected_tables);

/* ---- the views ---- */

/* trc_selected(WHAT, TABLE, ROWID): 'ns' or 'waits', NULL for a row that is not selected; 'row': 1
 * if it is. */
static void selected_of(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct selected *c = sqlite3_user_data(context);
	const char *what = (const char *)sqlite3_value_text(argv[0]);
	int t = sqlite3_value_int(argv[1]);
	sqlite3_int64 id = sqlite3_value_int64(argv[2]);
	struct trc_selected_row row;
	size_t n;

	(void)argc;
	if (!what || t < 0 || t >= TRC_SELECTED_TABLES)
		return;
	c->table[t]->rows(c->rows.m, &n);
	if (need_caused(c, (size_t)t)) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (id < 1 || (sqlite3_uint64)id > n ||
	    !trc_selected_rows_has(&c->rows, (enum trc_selected_table)t, (size_t)id - 1, &row))
		return;
	if (*what == 'r')
		sqlite3_result_int(context, 1);
	else if (*what == 'w')
		sqlite3_result_int64(context, row.n);
	else if (row.ns != TRC_NEVER)
		sqlite3_result_int64(context, row.ns);
}

static void free_selected(void *context)
{
	struct selected *c = context;

	trc_selected_rows_free(&c->rows);
	free(c);
}

static void add_column(sqlite3_str *sql, size_t t, const char *name)
{
	bool ns = TABLES[t].ns_column && !strcmp(name, TABLES[t].ns_column);
	bool n = TABLES[t].n_column && !strcmp(name, TABLES[t].n_column);

	if (ns || n)
		sqlite3_str_appendf(sql, "trc_selected('%s', %d, rowid) AS ", ns ? "ns" : "waits",
				    (int)t);
	sqlite3_str_appendf(sql, "\"%w\", ", name);
}

static int add_view(sqlite3 *db, const struct trc_sql_table *table, size_t t)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;
	int rc;

	sqlite3_str_appendf(sql, "CREATE TEMP VIEW \"%w\" AS SELECT ", table->name);
	for (size_t i = 0; i < table->n_columns; i++)
		add_column(sql, t, table->column[i].name);
	sqlite3_str_appendf(
		sql,
		"rowid FROM main.\"%w\" WHERE \"%w\" = 1 AND trc_selected('row', %d, rowid) IS NOT NULL",
		table->name, TRC_SQL_SELECTED_COLUMN, (int)t);
	text = sqlite3_str_finish(sql);
	rc = text ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	return rc;
}

int trc_sql_add_selection(sqlite3 *db, struct trc_model *m)
{
	struct selected *c;
	int rc;

	if (!trc_model_selection(m))
		return SQLITE_OK;
	c = calloc(1, sizeof(*c));
	if (!c)
		return SQLITE_NOMEM;
	selected_begin(c, m);
	/* Frees c, also on failure. */
	rc = sqlite3_create_function_v2(db, "trc_selected", 3, SQLITE_UTF8, c, selected_of, NULL,
					NULL, free_selected);
	for (size_t t = 0; t < TRC_SELECTED_TABLES && !rc; t++)
		if (TABLES[t].view)
			rc = add_view(db, c->table[t], t);
	return rc;
}
