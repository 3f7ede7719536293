/*
 * selected.c - what the model's selection has of each table: the table `selected`, and views that
 * stand before the tables themselves.
 *
 * With a selection the name of a table in TABLES means a view of the rows that are selected, in
 * which the columns of time are those of what lies inside.  The table itself is main.TABLE.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/selection.h"
#include "analyzer/model/waits.h"
#include "columns.h"
#include "parts.h"

enum { N_TABLES = 13 };

struct selected {
	const struct trc_sql_table *table[N_TABLES]; /* by TABLES */
	const struct trc_model *m;
	const struct trc_selection *s;
	struct trc_selected_cause
		*caused; /* by row of unlocks; made when they are first asked for */
};

struct row {
	const char *kind;
	uint64_t id;
	int64_t ns; /* TRC_NEVER = it has a moment, or counts whole */
	uint32_t n; /* waits that it caused; else 1 */
};

/* Whether row i is selected; fills in ns and n, which are TRC_NEVER and 1. */
typedef bool selected_fn(const struct selected *c, size_t i, struct row *row);

static bool labels_pass(const struct selected *c, uint32_t thread, int64_t ts_ns, uint64_t place)
{
	return !c->s->labels ||
	       trc_selection_passes(c->s, c->m, trc_model_labels_at(c->m, thread, ts_ns, place));
}

static bool has_thread(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_thread *t = &trc_model_threads(c->m, &n)[i];

	row->id = t->serial;
	row->ns = trc_selection_thread_ns(c->s, c->m, t);
	return row->ns > 0;
}

static bool has_park(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_park *park = &trc_model_parks(c->m, &n)[i];
	int64_t end_ns = trc_park_end_ns(c->m, park);

	row->ns = trc_selection_ns(c->s, park->thread, park->start_ns, end_ns);
	return trc_selection_touches(c->s, park->thread, park->start_ns, end_ns) &&
	       (!c->s->labels || trc_selection_passes(c->s, c->m, trc_park_labels(c->m, park)));
}

static bool has_unlock(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_unlock *unlock = &trc_model_unlocks(c->m, &n)[i];

	row->ns = c->caused[i].caused_ns;
	row->n = c->caused[i].caused_waits;
	return row->n && labels_pass(c, unlock->thread, unlock->ts_ns, unlock->place);
}

static bool has_sample(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_sample *sample = &trc_model_samples(c->m, &n)[i];

	(void)row;
	return trc_selection_has_time(c->s, sample->thread, sample->ts_ns) &&
	       trc_selection_passes(c->s, c->m, sample->labels);
}

static bool has_alloc(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_alloc *alloc = &trc_model_allocs(c->m, &n)[i];

	(void)row;
	return trc_selection_has_time(c->s, alloc->thread, alloc->ts_ns) &&
	       trc_selection_passes(c->s, c->m, alloc->labels);
}

static bool has_task(const struct selected *c, size_t i, struct row *row)
{
	size_t n;

	row->id = trc_model_tasks(c->m, &n)[i].task;
	return trc_selection_has_task(c->s, c->m, i);
}

static bool has_region(const struct selected *c, size_t i, struct row *row)
{
	(void)row;
	return trc_selection_has_region(c->s, c->m, i);
}

static bool has_log(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_log *log = &trc_model_logs(c->m, &n)[i];

	(void)row;
	return trc_selection_has(c->s, c->m, log->thread, log->ts_ns, log->place);
}

static bool has_counter(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_counter *counter = &trc_model_counters(c->m, &n)[i];

	(void)row;
	return trc_selection_has(c->s, c->m, counter->thread, counter->ts_ns, counter->place);
}

static bool has_on_cpu(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_on_cpu *on_cpu = &trc_model_on_cpu(c->m, &n)[i];
	int64_t start_ns = on_cpu->start_ns, end_ns = on_cpu->end_ns;

	if (start_ns == TRC_NEVER)
		start_ns = trc_model_start_ns(c->m);
	if (end_ns == TRC_NEVER)
		end_ns = trc_model_end_ns(c->m);
	row->ns = trc_selection_ns(c->s, on_cpu->thread, start_ns, end_ns);
	return row->ns > 0 && labels_pass(c, on_cpu->thread, start_ns, TRC_PLACE_LAST);
}

static bool has_fiber_wait(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_fiber_wait *wait = &trc_model_fiber_waits(c->m, &n)[i];

	row->ns = trc_selection_fiber_ns(c->s, wait, wait->start_ns,
					 wait->end_ns == TRC_NEVER ? trc_model_end_ns(c->m)
								   : wait->end_ns);
	return trc_selection_has_fiber_wait(c->s, c->m, wait);
}

/* Whole, whatever part of it is inside (lock_sums:K1). */
static bool has_hold(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_hold *hold = &trc_model_holds(c->m, &n)[i];
	int64_t end_ns = hold->end_ns == TRC_NEVER ? trc_model_end_ns(c->m) : hold->end_ns;

	row->ns = trc_selection_ns(c->s, hold->thread, hold->start_ns, end_ns);
	return trc_selection_touches(c->s, hold->thread, hold->start_ns, end_ns) &&
	       labels_pass(c, hold->thread, hold->start_ns, TRC_PLACE_LAST);
}

static bool has_latency(const struct selected *c, size_t i, struct row *row)
{
	size_t n;
	const struct trc_latency *latency = &trc_model_latencies(c->m, &n)[i];

	row->ns = trc_selection_ns(c->s, latency->thread, latency->woken_ns, latency->running_ns);
	return trc_selection_touches(c->s, latency->thread, latency->woken_ns,
				     latency->running_ns) &&
	       (!c->s->labels ||
		trc_selection_passes(c->s, c->m, trc_latency_labels(c->m, latency)));
}

static const struct {
	const char *name;
	selected_fn *has;
	const char *ns_column,
		*n_column; /* what of a view is that of what lies inside; NULL = nothing */
	bool view;
} TABLES[N_TABLES] = {
	{"threads", has_thread, NULL, NULL, false}, /* whom rows of other tables refer to */
	{"parks", has_park, "waited_ns", NULL, true},
	{"unlocks", has_unlock, "caused_ns", "caused_waits", true},
	{"samples", has_sample, NULL, NULL, true},
	{"tasks", has_task, NULL, NULL, true},
	{"regions", has_region, NULL, NULL, true},
	{"logs", has_log, NULL, NULL, true},
	{"counters", has_counter, NULL, NULL, true},
	{"on_cpu", has_on_cpu, "duration_ns", NULL, true},
	{"holds", has_hold, NULL, NULL, true},
	{"sched_latency", has_latency, "latency_ns", NULL, true},
	{"allocs", has_alloc, NULL, NULL, true},
	{"fiber_waits", has_fiber_wait, "waited_ns", NULL, true},
};
static const struct trc_sql_table *table_named(const char *name)
{
	const struct trc_sql_table *table;
	size_t i = 0;

	while ((table = trc_sql_table_at(i++)) && strcmp(table->name, name) != 0)
		;
	return table;
}

static void begin(struct selected *c, const struct trc_model *m)
{
	*c = (struct selected){.m = m, .s = trc_model_selection(m)};
	for (size_t t = 0; t < N_TABLES; t++)
		c->table[t] = table_named(TABLES[t].name);
}

static int need_caused(struct selected *c, selected_fn *has)
{
	if (has != has_unlock || c->caused)
		return 0;
	c->caused = trc_selection_caused(c->s, c->m, NULL);
	return c->caused ? 0 : -ENOMEM;
}

/* ---- the table ---- */

static int make_rows_of(struct selected *c, struct trc_model *m, struct trc_array *rows, size_t t,
			struct trc_error *error)
{
	int err = trc_model_need(m, c->table[t]->parts, error);
	size_t n;

	if (!err)
		err = need_caused(c, TABLES[t].has);
	if (err)
		return err;
	c->table[t]->rows(m, &n);
	for (size_t i = 0; i < n; i++) {
		struct row row = {TABLES[t].name, i + 1, TRC_NEVER, 1}, *added;

		if (!TABLES[t].has(c, i, &row))
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

	begin(&c, m);
	rows->row_bytes = sizeof(struct row);
	error->text[0] = '\0';
	for (size_t t = 0; t < N_TABLES && c.s && !err; t++)
		err = make_rows_of(&c, m, rows, t, error);
	free(c.caused);
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "selected: %s", strerror(-err));
	return err;
}

static const struct trc_sql_column selected_columns[] = {
	{"kind", "TEXT", TRC_FIELD_TEXT, offsetof(struct row, kind),
	 .doc = "the table that has the row"},
	{"id", "INTEGER", TRC_FIELD_U64, offsetof(struct row, id), .indexed = true,
	 .doc = "its id there; in a table without ids its rowid"},
	{"ns", "INTEGER", TRC_FIELD_NS, offsetof(struct row, ns),
	 .doc = "how much of it lies inside; of unlocks, what they caused to what lies inside of waits; "
		"NULL for what has only a moment, and for tasks and regions, which count whole"},
	{"waits", "INTEGER", TRC_FIELD_U32, offsetof(struct row, n),
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
	struct row row = {.ns = TRC_NEVER, .n = 1};
	size_t n;

	(void)argc;
	if (!what || t < 0 || t >= N_TABLES)
		return;
	c->table[t]->rows(c->m, &n);
	if (need_caused(c, TABLES[t].has)) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (id < 1 || (sqlite3_uint64)id > n || !TABLES[t].has(c, (size_t)id - 1, &row))
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

	free(c->caused);
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
		sql, "rowid FROM main.\"%w\" WHERE trc_selected('row', %d, rowid) IS NOT NULL",
		table->name, (int)t);
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
	begin(c, m);
	/* Frees c, also on failure. */
	rc = sqlite3_create_function_v2(db, "trc_selected", 3, SQLITE_UTF8, c, selected_of, NULL,
					NULL, free_selected);
	for (size_t t = 0; t < N_TABLES && !rc; t++)
		if (TABLES[t].view)
			rc = add_view(db, c->table[t], t);
	return rc;
}
