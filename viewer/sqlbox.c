/*
 * sqlbox.c - see sqlbox.h: which tables a page has, and what each column is made from.
 */
#include "sqlbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sql/sql.h"
#include "analyzer/sql/table.h"

static const char OUTSIDE[] = "the others lie outside of the part of the trace that the page shows";

/* Of a page that is written. */
struct box {
	struct trc_rows *r;
	sqlite3 *db;
	FILE *head;
	struct trc_texts texts;
	struct trc_sqlbox_missing missing;
	bool any; /* a table was written */
	char *causes_why, *paths_why;
};

struct column {
	const struct trc_sqlbox_mapping *mapping; /* NULL = its values are written */
	bool is_sure;				  /* the page has them, and nobody asks SQLite */
	struct trc_sqlbox_values values;
};

/* A table that is being written. */
struct table {
	const char *name;
	const struct trc_sqlbox_map *map;	 /* or NULL */
	const struct trc_sql_table *description; /* or NULL: one for a kind of event */
	struct trc_sqlbox_some *some;		 /* or NULL */
	sqlite3_stmt *stmt;
	sqlite3_stmt *whole; /* of the table itself: its columns' names and types */
	struct column *column;
	int n_columns;
	bool narrowed; /* it has only what the page's part has */
	uint64_t n_rows, n_without, n_cut;
	bool with_extra; /* rows that the timeline does not draw are there as well */
	/* B1 */
	struct trc_sqlbox_values extra, exception_row, exception_column, exception;
};

static int lacks(struct box *b, const char *table, int64_t rows, const char *why)
{
	return trc_sqlbox_lacks(&b->missing, table, rows, why);
}

/* Rows that cannot be made, as those of a damaged trace: the page lacks that table, and has the others. */
static int lacks_made(struct box *b, const char *table)
{
	return lacks(b, table, -1, "it cannot be made of this trace: trace-analyze --sql says why");
}

static int box_failed(int rc)
{
	return rc == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

/* Frees the query. */
static int prepare_made(struct box *b, char *sql, sqlite3_stmt **stmt)
{
	int rc = sql ? sqlite3_prepare_v2(b->db, sql, -1, stmt, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc ? box_failed(rc) : 0;
}

/* A query of a table by the name t, or of the view of its rows that are selected; `what` is SQL.  some: NULL = all rows. */
static int box_prepare(struct box *b, const char *what, const char *table,
		       const struct trc_sqlbox_some *some, sqlite3_stmt **stmt)
{
	return prepare_made(b,
			    some ? sqlite3_mprintf("SELECT %s FROM %s", what, some->from)
				 : sqlite3_mprintf("SELECT %s FROM \"%w\" AS t", what, table),
			    stmt);
}

static int box_number(struct box *b, const char *what, const char *table,
		      const struct trc_sqlbox_some *some, int64_t *number)
{
	sqlite3_stmt *stmt = NULL;
	int err = box_prepare(b, what, table, some, &stmt);

	if (!err && sqlite3_step(stmt) != SQLITE_ROW)
		err = -EIO;
	if (!err)
		*number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return err;
}

/* Whether the table's name means a view of what the page's part has of it. */
static int is_narrowed(struct box *b, const char *table, bool *narrowed)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(b->db, "SELECT 1 FROM temp.sqlite_master WHERE name = ?", -1,
				    &stmt, NULL);

	if (!rc)
		rc = sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
	*narrowed = !rc && sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_finalize(stmt);
	return rc ? box_failed(rc) : 0;
}

/* The timeline's columns of a table; NULL = this page has none. */
static const struct trc_sqlbox_map *map_of(const struct box *b, const char *table)
{
	if (!strcmp(table, "on_cpu") && !b->r->with_on_cpu)
		return NULL;
	return trc_sqlbox_map(table);
}

/* --- one table --- */

/* NULL = the column's values are written: among others the times that a view cuts. */
static const struct trc_sqlbox_mapping *mapping_of(const struct box *b, const struct table *t,
						   const char *column)
{
	bool cut = !strcmp(column, "waited_ns") ||
		   (!strcmp(t->name, "on_cpu") && !strcmp(column, "duration_ns"));

	if (t->narrowed && cut)
		return NULL;
	return trc_sqlbox_mapping(b->r, t->map, column);
}

static bool is_sure(const struct box *b, const struct table *t, int column)
{
	const struct trc_sqlbox_mapping *mapping = t->column[column].mapping;

	if (!mapping || mapping->how == TRC_SQLBOX_FORMULA)
		return mapping;
	/* Of a row that is not drawn all values are exceptions. */
	return (t->map->rows == TRC_ROWS_TABLES || !b->r->n_left_out[t->map->rows]) &&
	       trc_sqlbox_is_sure(mapping, &t->description->column[column]);
}

static int choose_columns(struct box *b, struct table *t)
{
	int err = prepare_made(b, sqlite3_mprintf("SELECT * FROM main.\"%w\"", t->name), &t->whole);

	if (!err)
		err = is_narrowed(b, t->name, &t->narrowed);
	if (err)
		return err;
	t->n_columns = sqlite3_column_count(t->whole);
	t->column = calloc((size_t)t->n_columns, sizeof(*t->column));
	if (!t->column)
		return -ENOMEM;
	for (int i = 0; i < t->n_columns; i++) {
		trc_sqlbox_values_init(&t->column[i].values);
		if (t->map)
			t->column[i].mapping = mapping_of(b, t, sqlite3_column_name(t->whole, i));
		t->column[i].is_sure = is_sure(b, t, i);
	}
	return 0;
}

/* The last column of the query is the row's number; a view has it by this name. */
static int prepare_columns(struct box *b, struct table *t)
{
	sqlite3_str *sql = sqlite3_str_new(b->db);
	char *what;
	int err;

	for (int i = 0; i < t->n_columns; i++)
		sqlite3_str_appendf(sql, t->column[i].is_sure ? "NULL, " : "t.\"%w\", ",
				    sqlite3_column_name(t->whole, i));
	sqlite3_str_appendall(sql, "t.rowid");
	what = sqlite3_str_finish(sql);
	err = what ? box_prepare(b, what, t->name, t->some, &t->stmt) : -ENOMEM;
	sqlite3_free(what);
	return err;
}

static int box_table_begin(struct box *b, struct table *t)
{
	int err = choose_columns(b, t);

	trc_sqlbox_values_init(&t->extra);
	trc_sqlbox_values_init(&t->exception_row);
	trc_sqlbox_values_init(&t->exception_column);
	trc_sqlbox_values_init(&t->exception);
	return err ? err : prepare_columns(b, t);
}

static void table_end(struct table *t)
{
	for (int i = 0; t->column && i < t->n_columns; i++)
		trc_sqlbox_values_free(&t->column[i].values);
	free(t->column);
	trc_sqlbox_values_free(&t->extra);
	trc_sqlbox_values_free(&t->exception_row);
	trc_sqlbox_values_free(&t->exception_column);
	trc_sqlbox_values_free(&t->exception);
	sqlite3_finalize(t->stmt);
	sqlite3_finalize(t->whole);
}

/* `drawn`: the timeline has this row. */
static void table_add_row(struct box *b, struct table *t, bool drawn)
{
	struct trc_sqlbox_start start = {0};

	for (int i = 0; i < t->n_columns; i++) {
		struct column *c = &t->column[i];
		int type;

		if (c->is_sure)
			continue;
		type = sqlite3_column_type(t->stmt, i);
		t->n_cut += type == SQLITE_TEXT &&
			    sqlite3_column_bytes(t->stmt, i) > TRC_PAGE_TEXT_BYTES_MAX;
		if (!c->mapping) {
			trc_sqlbox_values_add(&c->values, &b->texts, t->stmt, i, type);
		} else if (!trc_sqlbox_is_told(b->r, c->mapping, t->stmt, i, type, &start) ||
			   !drawn) {
			trc_sqlbox_values_integer(&t->exception_row, (int64_t)t->n_rows);
			trc_sqlbox_values_integer(&t->exception_column, i);
			trc_sqlbox_values_add(&t->exception, &b->texts, t->stmt, i, type);
		}
	}
	if (!drawn)
		trc_sqlbox_values_integer(&t->extra, (int64_t)t->n_rows);
	t->n_rows++;
}

static int table_add_rows(struct box *b, struct table *t)
{
	enum trc_rows_table rows = t->map ? t->map->rows : TRC_ROWS_TABLES;
	int rc;

	while ((rc = sqlite3_step(t->stmt)) == SQLITE_ROW) {
		sqlite3_int64 id = sqlite3_column_int64(t->stmt, t->n_columns);
		bool drawn = rows == TRC_ROWS_TABLES || trc_rows_has(b->r, rows, (size_t)id - 1);

		if (drawn || t->with_extra)
			table_add_row(b, t, drawn);
		else
			t->n_without++;
	}
	return rc == SQLITE_DONE ? 0 : box_failed(rc);
}

static bool is_key(const struct table *t, int column)
{
	return !column && t->description && t->description->column[0].unique;
}

static void head_column(struct box *b, struct table *t, int i)
{
	struct column *c = &t->column[i];
	const char *type = sqlite3_column_decltype(t->whole, i);

	fputs(i ? ",\n[" : "\n[", b->head);
	trc_page_json_string(b->head, sqlite3_column_name(t->whole, i));
	fputc(',', b->head);
	trc_page_json_string(b->head, type);
	fprintf(b->head, ",%d,\"%s\"", is_key(t, i),
		trc_sqlbox_how_name(c->mapping ? c->mapping->how : TRC_SQLBOX_OWN));
	if (!c->mapping) {
		fputc(',', b->head);
		trc_sqlbox_values_write(&c->values, b->r->page, b->head);
	} else {
		fputc(',', b->head);
		trc_page_json_string(b->head, c->mapping->source);
		if (c->mapping->second) {
			fputc(',', b->head);
			trc_page_json_string(b->head, c->mapping->second);
		}
	}
	fputc(']', b->head);
}

static void head_table(struct box *b, struct table *t)
{
	fputs(b->any ? ",\n[" : "\n[", b->head);
	b->any = true;
	trc_page_json_string(b->head, t->name);
	fprintf(b->head, ",%" PRIu64 ",[", t->n_rows);
	for (int i = 0; i < t->n_columns; i++)
		head_column(b, t, i);
	fputs("],", b->head);
	if (t->exception.kind.n) {
		fprintf(b->head, "[%" PRIu64 ",", t->exception.kind.n);
		trc_sqlbox_values_write(&t->exception_row, b->r->page, b->head);
		fputc(',', b->head);
		trc_sqlbox_values_write(&t->exception_column, b->r->page, b->head);
		fputc(',', b->head);
		trc_sqlbox_values_write(&t->exception, b->r->page, b->head);
		fputs("],", b->head);
	} else {
		fputs("null,", b->head);
	}
	if (t->extra.kind.n) {
		fprintf(b->head, "[%" PRIu64 ",", t->extra.kind.n);
		trc_sqlbox_values_write(&t->extra, b->r->page, b->head);
		fputs("]]", b->head);
	} else {
		fputs("null]", b->head);
	}
}

/* How many rows the table of the whole trace has. */
static int count_whole(struct box *b, const struct table *t, int64_t *n)
{
	size_t rows;

	if (t->some && !t->some->is_counted)
		return box_number(b, "count(*)", t->name, NULL, n);
	if (t->narrowed)
		t->description->rows(b->r->m, &rows); /* these tables are arrays of the model */
	*n = (int64_t)(t->narrowed ? rows : t->some->n_whole);
	return 0;
}

/* What the trace has beyond the part of the table that the page has. */
static int lacks_whole(struct box *b, const struct table *t)
{
	int64_t inside = (int64_t)(t->n_rows + t->n_without), n = 0;
	int err = count_whole(b, t, &n);

	return err || n <= inside ? err : lacks(b, t->name, n - inside, OUTSIDE);
}

/* B3: at worst each column is written, and exceptions and rows that are not drawn beside them. */
static bool box_has_room(const struct box *b, const struct table *t)
{
	size_t wanted = TRC_SQLBOX_PARTS_MAX * ((size_t)t->n_columns + 4);

	return b->r->page->n_entries + wanted + TRC_SQLBOX_REST_COLUMNS <= b->r->limits.columns;
}

/* some: NULL = all rows. */
static int write_table(struct box *b, const char *name, const struct trc_sql_table *description,
		       struct trc_sqlbox_some *some)
{
	struct table t = {
		.name = name, .map = map_of(b, name), .description = description, .some = some};
	int err = box_table_begin(b, &t);

	if (!err && !box_has_room(b, &t)) {
		table_end(&t);
		return lacks(b, name, -1, "the page has no room for the columns of more tables");
	}
	if (t.map && t.map->rows != TRC_ROWS_TABLES)
		t.with_extra = b->r->n_left_out[t.map->rows] <= TRC_SQLBOX_EXTRA_MAX;
	if (!err)
		err = table_add_rows(b, &t);
	if (err == -EIO && description && description->make) {
		table_end(&t);
		return lacks_made(b, name);
	}
	if (!err)
		head_table(b, &t);
	if (!err && t.n_without)
		err = lacks(b, name, (int64_t)t.n_without,
			    b->r->cut->selection
				    ? "the page has a part of the trace, and limits in it"
				    : "the page has a limit");
	if (!err && (t.narrowed || (t.some && t.description->make)))
		err = lacks_whole(b, &t);
	if (!err && t.n_cut)
		err = lacks(b, name, 0, "some texts are cut after 4,096 bytes");
	table_end(&t);
	return err;
}

/* --- all of them --- */

/* Their rows are those of all tasks, whatever is selected; a model that keeps things has them. */
static bool is_of_tasks(const struct trc_sql_table *d)
{
	return d >= trc_sql_task_tables && d < trc_sql_task_tables + trc_sql_n_task_tables;
}

/* How many rows the page may have of a table, of which the timeline has nothing.  SQLite would count them one by one: that is not asked for where it
 * would count all of the trace. */
static int box_count_rows(struct box *b, const struct trc_sql_table *d,
			  const struct trc_sqlbox_some *some, int64_t *n)
{
	struct trc_model *m = b->r->m;
	struct trc_array made = {0};
	struct trc_error error;
	bool narrowed;
	size_t n_rows;
	int err;

	*n = (int64_t)some->n_rows;
	if (some->from)
		return some->is_counted ? 0 : box_number(b, "count(*)", NULL, some, n);
	err = is_narrowed(b, d->name, &narrowed);
	if (err || narrowed || !trc_model_kept(m, TRC_KEPT_TASK_SPANS) ||
	    (d->make && !is_of_tasks(d)))
		return err ? err : box_number(b, "count(*)", d->name, NULL, n);
	err = d->make ? d->make(m, &made, &error) : trc_model_need(m, d->parts, &error);
	if (err)
		return err;
	if (d->rows)
		d->rows(m, &n_rows);
	*n = (int64_t)(d->rows ? n_rows : made.n);
	trc_array_free(&made);
	return 0;
}

/* How many waits or tasks there are, in the trace and in the page's part of it, and of how many the page has rows. */
struct owners {
	size_t n_whole, n_part, n_here;
};

static struct owners owners_make(const struct box *b, enum trc_selected_table table, size_t n_whole,
				 size_t n_here)
{
	return (struct owners){n_whole, trc_cut_count(b->r->cut, table, n_whole), n_here};
}

/* A table of which the page has the rows of some waits or tasks only: it says of which, in `why`, if they are not all of the
 * page's part. */
static int box_write_some(struct box *b, const struct trc_sql_table *d,
			  struct trc_sqlbox_some *some, const struct owners *of, const char *why)
{
	size_t n_missing = b->missing.n;
	int err = why ? write_table(b, d->name, d, some) : -ENOMEM;

	sqlite3_free(some->from);
	/* If there was no room for it, that is said. */
	if (err || of->n_here == of->n_whole || b->missing.n != n_missing)
		return err;
	return lacks(b, d->name, -1, of->n_here == of->n_part ? OUTSIDE : why);
}

static int box_write_causes(struct box *b, const struct trc_sql_table *d)
{
	const struct trc_rows *r = b->r;
	struct trc_sqlbox_some some;
	struct owners of;
	size_t n;
	int err = trc_sqlbox_some_causes(&some, b->db, r);

	if (err)
		return err;
	trc_model_parks(r->m, &n);
	of = owners_make(b, TRC_SELECTED_PARKS, n, r->n_caused);
	if (asprintf(
		    &b->causes_why,
		    "the causes of %zu of %zu waits are here: of waits for locks and threads the %" PRIu64
		    " longest of each place",
		    of.n_here, of.n_part, r->limits.causes) < 0)
		b->causes_why = NULL;
	return box_write_some(b, d, &some, &of, b->causes_why);
}

static int box_write_paths(struct box *b, const struct trc_sql_table *d)
{
	const struct trc_rows *r = b->r;
	struct trc_sqlbox_some some;
	struct owners of;
	size_t n;
	int err = trc_sqlbox_some_paths(&some, b->db, r);

	if (err)
		return err;
	trc_model_tasks(r->m, &n);
	of = owners_make(b, TRC_SELECTED_TASKS, n, r->n_pathed);
	if (asprintf(&b->paths_why,
		     "the paths of %zu of %zu tasks are here: of each type the %" PRIu64 " slowest",
		     of.n_here, of.n_part, r->limits.paths) < 0)
		b->paths_why = NULL;
	return box_write_some(b, d, &some, &of, b->paths_why);
}

/* Any other table. */
static int write_rows(struct box *b, const struct trc_sql_table *d, struct trc_sqlbox_some *some)
{
	const bool is_mapped = map_of(b, d->name);
	int64_t n = 0;
	int err = trc_sqlbox_some(some, b->db, b->r, d->name);

	if (!err && !is_mapped)
		err = box_count_rows(b, d, some, &n);
	if (d->make && (err == -EIO || err == -EOVERFLOW))
		return lacks_made(b, d->name);
	if (err)
		return err;
	if (!is_mapped && n > TRC_SQLBOX_ROWS_MAX)
		return lacks(b, d->name, some->is_counted ? (int64_t)some->n_whole : n,
			     "it has more than 500,000 rows");
	return write_table(b, d->name, d, some->from ? some : NULL);
}

static int write_described(struct box *b)
{
	const struct trc_sql_table *d;
	int err = 0;

	for (size_t i = 0; !err && (d = trc_sql_table_at(i)); i++) {
		struct trc_sqlbox_some some;

		if (!strcmp(d->name, "causes")) {
			err = box_write_causes(b, d);
			continue;
		}
		if (!strcmp(d->name, "task_path")) {
			err = box_write_paths(b, d);
			continue;
		}
		if (!d->rows && !d->make) {
			err = lacks(b, d->name, -1,
				    "it is derived for each region that is asked for");
			continue;
		}
		err = write_rows(b, d, &some);
		sqlite3_free(some.from);
	}
	return err;
}

/* Tables for kinds of events of which there are not many; those of signals answer for a crash. */
static int box_write_events(struct box *b)
{
	sqlite3_stmt *kinds = NULL;
	int err = box_prepare(b, "name, events", "kinds", NULL, &kinds), rc = SQLITE_DONE;
	int64_t n = 0;

	if (!err)
		err = box_number(b, "sum(events)", "kinds", NULL, &n);
	if (!err)
		err = lacks(b, "events", n, "it would make the page several times as large");
	while (!err && (rc = sqlite3_step(kinds)) == SQLITE_ROW) {
		char table[96];

		if (sqlite3_column_type(kinds, 0) != SQLITE_TEXT)
			continue;
		snprintf(table, sizeof(table), "event_%s", sqlite3_column_text(kinds, 0));
		n = sqlite3_column_int64(kinds, 1);
		err = n > TRC_SQLBOX_EVENTS_MAX ? lacks(b, table, n, "it has more than 5,000 rows")
						: write_table(b, table, NULL, NULL);
	}
	if (!err && rc != SQLITE_DONE)
		err = box_failed(rc);
	sqlite3_finalize(kinds);
	return err;
}

/* What place() and chain() say of each stack. */
static int write_functions(struct box *b)
{
	struct trc_sqlbox_values place, chain;
	sqlite3_stmt *stmt = NULL;
	int err = box_prepare(b, "place(id), chain(id)", "stacks", NULL, &stmt), rc = SQLITE_DONE;

	trc_sqlbox_values_init(&place);
	trc_sqlbox_values_init(&chain);
	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		trc_sqlbox_values_add(&place, &b->texts, stmt, 0, sqlite3_column_type(stmt, 0));
		trc_sqlbox_values_add(&chain, &b->texts, stmt, 1, sqlite3_column_type(stmt, 1));
	}
	sqlite3_finalize(stmt);
	if (!err && rc != SQLITE_DONE)
		err = box_failed(rc);
	if (err) {
		trc_sqlbox_values_free(&place);
		trc_sqlbox_values_free(&chain);
		return err;
	}
	fprintf(b->head, ",\n\"stacks\":%" PRIu64 ",\"place\":", place.kind.n);
	trc_sqlbox_values_write(&place, b->r->page, b->head);
	fputs(",\"chain\":", b->head);
	trc_sqlbox_values_write(&chain, b->r->page, b->head);
	return 0;
}

static void write_texts(struct box *b)
{
	struct trc_page *page = b->r->page;

	fprintf(b->head, ",\n\"texts\":[%zu,%zu]", page->n_entries, page->n_entries + 1);
	b->texts.length.name = b->texts.bytes.name = "";
	trc_page_column(page, &b->texts.length);
	trc_page_column(page, &b->texts.bytes);
}

static int box_write_all(struct box *b)
{
	int err;

	fputs("{\"tables\":[", b->head);
	err = write_described(b);
	if (!err)
		err = box_write_events(b);
	fputs("]", b->head);
	if (!err)
		err = write_functions(b);
	trc_sqlbox_missing_write(&b->missing, b->head);
	if (!err && b->texts.failed)
		err = -ENOMEM;
	if (!err)
		write_texts(b);
	fputs("}", b->head);
	return err;
}

int trc_sqlbox_write(struct trc_rows *r)
{
	struct trc_error error;
	struct box b = {.r = r};
	size_t n_bytes;
	int err = trc_sql_open(&b.db, r->m, &error);

	if (err)
		return err;
	trc_texts_init(&b.texts);
	b.head = open_memstream(&r->sql_head, &n_bytes);
	err = b.head ? box_write_all(&b) : -ENOMEM;
	if (b.head && fclose(b.head))
		err = -ENOMEM;
	trc_texts_free(&b.texts);
	trc_sqlbox_missing_free(&b.missing);
	free(b.causes_why);
	free(b.paths_why);
	sqlite3_close(b.db);
	return err;
}
