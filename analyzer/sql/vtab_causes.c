/*
 * vtab_causes.c - the table of causes, and of critical paths, which are derived wait by wait, task by task, region by region, while
 * the table is read.
 *
 * Plan bits chosen by causes_best_index() and obeyed by causes_filter(); the arguments arrive in this order:
 *   PLAN_OF   the rows of one wait, task or region; else of all of them, one after the other
 *   PLAN_ID   only with PLAN_OF for one wait, task or region: the row with this id
 * A cursor keeps its rows for the case that it is asked for the same wait, task or region again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/causes.h"
#include "analyzer/text/json.h"
#include "columns.h"
#include "sql.h"
#include "vtab.h"

enum { PLAN_OF = 1 << 0, PLAN_ID = 1 << 1, ROWS_OF_ONE = 20 };

static void cause_duration(const struct trc_model *m, size_t i, const void *row,
			   struct trc_sql_value *value)
{
	const struct trc_cause *cause = row;

	trc_sql_set_integer(value, cause->to_ns - cause->from_ns);
}

/* 0 where a wait was for nothing that has a number, and of descriptor 0. */
CALL(cause_object)
{
	const struct trc_cause *cause = row;

	if (cause->reason)
		trc_sql_set_integer(value, (int64_t)cause->object);
}

CALL(cause_instead_ns)
{
	const struct trc_cause *cause = row;

	if (cause->kind == TRC_CAUSE_PREEMPTED && cause->instead_ns != TRC_NEVER)
		trc_sql_set_integer(value, cause->instead_ns);
}

CALL(cause_kind)
{
	trc_sql_set_text(value, trc_cause_name(((const struct trc_cause *)row)->kind));
}

CALL(cause_stack_of)
{
	trc_sql_set_text(value, trc_cause_stack_name(((const struct trc_cause *)row)->stack_of));
}

CALL(cause_margin)
{
	const struct trc_cause *cause = row;

	if (cause->stack_of == TRC_CAUSE_STACK_SAMPLE)
		trc_sql_set_integer(value, cause->margin_ns);
}

static const struct trc_sql_column cause_columns[] = {
	{"wait", "INTEGER", TRC_FIELD_ID32, F(cause, wait),
	 .doc = "the id in parks of the wait that is explained; ask for one: WHERE wait = ..."},
	{"id", "INTEGER", TRC_FIELD_U32, F(cause, id),
	 .doc = "1, 2, ... within the wait; each row before those that explain it"},
	{"parent", "INTEGER", TRC_FIELD_ID32, F(cause, parent),
	 .doc = "the id of the row that this one explains a part of; NULL = it is the wait itself"},
	{"depth", "INTEGER", TRC_FIELD_U32, F(cause, depth), .doc = "0 = the wait itself"},
	{"leaf", "INTEGER", TRC_FIELD_BOOL, F(cause, leaf),
	 .doc = "1 = it explains itself; the leaves of a wait add up to the wait"},
	{"cause", "TEXT", TRC_FIELD_CALL, 0, cause_kind,
	 .doc = "what the thread was in: waiting, its causes are other rows; or a leaf: running; "
		"active, in no recorded wait, without switch records; preempted; off_cpu, in no "
		"recorded wait; lock_free, who was woken for it had not taken it yet; waking, "
		"woken and not run yet; sleeping, or waiting up to a time limit; io, for data of a "
		"file, a pipe or a peer; outside, for a request, a signal, a child; unwoken, to the "
		"trace's end; starting, created and not run yet; thread_ended; deadlock; cycle, a "
		"chain that came back; events_lost; unknown; too_deep"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(cause, thread), .doc = "which thread"},
	{"from_ns", "INTEGER", TRC_FIELD_NS, F(cause, from_ns), .doc = "from when"},
	{"to_ns", "INTEGER", TRC_FIELD_NS, F(cause, to_ns), .doc = "until when"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, cause_duration, .doc = "to_ns - from_ns"},
	{"margin_ns", "INTEGER", TRC_FIELD_CALL, 0, cause_margin,
	 .doc = "how far duration_ns may be off where samples tell the stack, half of its 95 % interval; "
		"where few samples tell it, that may be several times duration_ns: then the row alone says "
		"little of this stack. NULL = it is exact"},
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(cause, reason),
	 .doc = "what kind of wait the thread was in; NULL = in none"},
	{"object", "INTEGER", TRC_FIELD_CALL, 0, cause_object,
	 .doc = "what that wait was for, as in parks"},
	{"park", "INTEGER", TRC_FIELD_ID32, F(cause, park), .doc = "the id of that wait in parks"},
	{"unlock", "INTEGER", TRC_FIELD_ID32, F(cause, unlock),
	 .doc = "the id in unlocks of the unlock that ended the section in which the others waited"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(cause, stack), .doc = "where the thread was"},
	{"stack_of", "TEXT", TRC_FIELD_CALL, 0, cause_stack_of,
	 .doc = "what the stack is of: wait, sample, or end: of the unlock or signal that ended the "
		"waiting for the thread"},
	{"instead_thread", "INTEGER", TRC_FIELD_ID32, F(cause, instead),
	 .doc = "of preempted: the program's thread that ran longest meanwhile on the proc that it "
		"was taken off; NULL = none, or not known"},
	{"instead_ns", "INTEGER", TRC_FIELD_CALL, 0, cause_instead_ns,
	 .doc = "for how long; 0 = no thread of the program ran there"},
};

/* A row of causes; of the other tables a leaf, and what it is a piece of.  What is made for a cause reads both. */
struct trc_path_row {
	struct trc_cause cause;
	uint64_t of;
};

#define PATH_COLUMNS                                                                                 \
	{"id", "INTEGER", TRC_FIELD_U32, F(path_row, cause.id),                                      \
	 .doc = "1, 2, ... in the order of time; each begins where the one before it ends"},         \
		{"cause", "TEXT",     TRC_FIELD_CALL,                                                \
		 0,	  cause_kind, .doc = "what the thread was in: one of the leaves of causes"}, \
		{"thread", "INTEGER", TRC_FIELD_ID32, F(path_row, cause.thread),                     \
		 .doc = "which thread it depended on"},                                              \
		{"from_ns", "INTEGER", TRC_FIELD_NS, F(path_row, cause.from_ns),                     \
		 .doc = "from when"},                                                                \
		{"to_ns", "INTEGER", TRC_FIELD_NS, F(path_row, cause.to_ns), .doc = "until when"},   \
		{"duration_ns",		  "INTEGER", TRC_FIELD_CALL, 0, cause_duration,              \
		 .doc = "to_ns - from_ns"},                                                          \
		{"margin_ns", "INTEGER",    TRC_FIELD_CALL,                                          \
		 0,	      cause_margin, .doc = "how far duration_ns may be off, as in causes"},  \
		{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(path_row, cause.reason),              \
		 .doc = "what kind of wait the thread was in; NULL = in none"},                      \
		{"object", "INTEGER",	 TRC_FIELD_CALL,                                             \
		 0,	   cause_object, .doc = "what that wait was for, as in parks"},              \
		{"park", "INTEGER", TRC_FIELD_ID32, F(path_row, cause.park),                         \
		 .doc = "the id of that wait in parks"},                                             \
		{"unlock", "INTEGER", TRC_FIELD_ID32, F(path_row, cause.unlock),                     \
		 .doc = "the id in unlocks of the unlock that ended the section in which the "       \
			"others waited"},                                                            \
		{"stack", "INTEGER", TRC_FIELD_ID32, F(path_row, cause.stack),                       \
		 .doc = "where the thread was"},                                                     \
		{"stack_of",	 "TEXT",                                                             \
		 TRC_FIELD_CALL, 0,                                                                  \
		 cause_stack_of, .doc = "what the stack is of, as in causes: wait, sample or end"},  \
		{"instead_thread", "INTEGER", TRC_FIELD_ID32, F(path_row, cause.instead),            \
		 .doc = "of preempted: the program's thread that ran longest meanwhile on the "      \
			"proc that it was taken off; NULL = none, or not known"},                    \
	{                                                                                            \
		"instead_ns", "INTEGER", TRC_FIELD_CALL, 0, cause_instead_ns,                        \
			.doc = "for how long; 0 = no thread of the program ran there"                \
	}

static const struct trc_sql_column task_path_columns[] = {
	{"task", "INTEGER", TRC_FIELD_U64, F(path_row, of),
	 .doc = "the task's id; ask for one: WHERE task = ..."},
	PATH_COLUMNS,
};

static const struct trc_sql_column region_path_columns[] = {
	{"region", "INTEGER", TRC_FIELD_U64, F(path_row, of),
	 .doc = "the region's id; ask for one: WHERE region = ..."},
	PATH_COLUMNS,
};

/* Places in the array below. */
enum of { OF_WAIT, OF_TASK, OF_REGION };
/* Columns of all of them. */
enum { COL_OF, COL_ID };

const struct trc_sql_table trc_sql_cause_tables[] = {
	[OF_WAIT] = {"causes", "why each wait lasted: what the threads did that it depended on",
		     TRC_CAUSES_PARTS, cause_columns, N(cause_columns), sizeof(struct trc_cause),
		     NULL, NULL},
	[OF_TASK] = {"task_path", "the critical path of each task: what determined when it ended",
		     TRC_CAUSES_PARTS | TRC_PART_USER, task_path_columns, N(task_path_columns),
		     sizeof(struct trc_path_row), NULL, NULL},
	[OF_REGION] = {"region_path",
		       "the critical path of each region: what determined when it ended",
		       TRC_CAUSES_PARTS | TRC_PART_USER, region_path_columns,
		       N(region_path_columns), sizeof(struct trc_path_row), NULL, NULL},
};
const size_t trc_sql_n_cause_tables = N(trc_sql_cause_tables);

void trc_sql_print_cause(FILE *out, const struct trc_model *m, const struct trc_cause *row)
{
	for (size_t i = 0; i < N(cause_columns); i++) {
		struct trc_sql_value value = {.kind = TRC_SQL_NULL};

		trc_sql_get(m, trc_sql_cause_tables, &cause_columns[i], row, 0, &value);
		fprintf(out, "%s\"%s\":", i ? "," : "", cause_columns[i].name);
		if (value.kind == TRC_SQL_INTEGER)
			fprintf(out, "%" PRId64, value.integer);
		else if (value.kind == TRC_SQL_TEXT)
			trc_json_text(out, value.text);
		else
			fputs("null", out);
	}
}

struct causes_vtab {
	sqlite3_vtab base; /* first: the two share an address */
	const struct trc_vtab_source *source;
	struct trc_causes *causes; /* NULL = nobody asked yet */
	uint32_t *task_at;	   /* the rows of tasks, by id */
};

/* Of waits and regions a place is an id, of tasks 1 + a place in task_at. */
struct causes_cursor {
	sqlite3_vtab_cursor base; /* first: the two share an address */
	size_t place, last;	  /* those that are left */
	struct trc_array
		rows; /* of the first of them: others read while this one does.  struct trc_path_row, of causes struct trc_cause */
	size_t n, at, end; /* at <= i < end of the n rows are left */
	size_t loaded;	   /* the place that they are of; 0 = none */
	bool has_margins;  /* they are set in the rows: only who asks for them pays for them */
	sqlite3_int64 rowid;
};

static enum of of(const struct causes_vtab *vtab)
{
	return (enum of)(vtab->source->table - trc_sql_cause_tables);
}

static int causes_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
			  sqlite3_vtab **out, char **error)
{
	const struct trc_vtab_source *source = context;
	struct causes_vtab *vtab = sqlite3_malloc(sizeof(*vtab));
	int rc = vtab ? trc_vtab_declare(db, source->table) : SQLITE_NOMEM;

	if (rc) {
		sqlite3_free(vtab);
		return rc;
	}
	memset(vtab, 0, sizeof(*vtab));
	vtab->source = source;
	*out = &vtab->base;
	return SQLITE_OK;
}

static int causes_disconnect(sqlite3_vtab *vtab)
{
	trc_causes_close(((struct causes_vtab *)vtab)->causes);
	free(((struct causes_vtab *)vtab)->task_at);
	sqlite3_free(vtab);
	return SQLITE_OK;
}

/* The first equality with this column; -1 = there is none. */
static int equality(const sqlite3_index_info *info, int column)
{
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (c->usable && c->iColumn == column && c->op == SQLITE_INDEX_CONSTRAINT_EQ)
			return i;
	}
	return -1;
}

static const char *causes_plan_text(const struct trc_sql_table *table, int plan)
{
	static const char *const text[][2] = {
		[OF_WAIT] = {"wait=?", "wait=? id=?"},
		[OF_TASK] = {"task=?", "task=? id=?"},
		[OF_REGION] = {"region=?", "region=? id=?"},
	};

	return plan & PLAN_OF ? text[table - trc_sql_cause_tables][plan & PLAN_ID ? 1 : 0] : "";
}

static int causes_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct trc_vtab_source *source = ((struct causes_vtab *)vtab)->source;
	const struct trc_sql_table *table = source->table;
	int one = equality(info, COL_OF), id = equality(info, COL_ID);
	double rows = ROWS_OF_ONE;

	if (one < 0) {
		const char *of = table == &trc_sql_cause_tables[OF_WAIT]   ? "parks"
				 : table == &trc_sql_cause_tables[OF_TASK] ? "tasks"
									   : "regions";

		rows *= 1 + trc_sql_rows_guess(source->m, trc_sql_table_named(of));
	} else {
		info->aConstraintUsage[one].argvIndex = 1;
		info->idxNum = PLAN_OF;
	}
	/* Deriving them takes as long, whichever is asked for. */
	info->estimatedCost = 2 * rows;
	if (one >= 0 && id >= 0) {
		info->aConstraintUsage[id].argvIndex = 2;
		info->idxNum |= PLAN_ID;
		rows = 1;
	}
	info->idxStr = (char *)causes_plan_text(table, info->idxNum);
	info->estimatedRows = (sqlite3_int64)rows;
	return SQLITE_OK;
}

static int causes_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct causes_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*out = &cursor->base;
	return SQLITE_OK;
}

static int causes_close(sqlite3_vtab_cursor *cursor)
{
	trc_array_free(&((struct causes_cursor *)cursor)->rows);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* ---- what is at a place ---- */

static int derive(const struct causes_vtab *vtab, size_t place, const struct trc_cause **rows,
		  size_t *n)
{
	const struct trc_model *m = vtab->source->m;
	size_t n_all;

	switch (of(vtab)) {
	case OF_TASK:
		return trc_causes_of_task(vtab->causes,
					  &trc_model_tasks(m, &n_all)[vtab->task_at[place - 1]],
					  rows, n);
	case OF_REGION:
		return trc_causes_of_region(vtab->causes, &trc_model_regions(m, &n_all)[place - 1],
					    rows, n);
	case OF_WAIT:
		break;
	}
	return trc_causes_of_wait(vtab->causes, (uint32_t)place, rows, n);
}

static uint64_t id_at(const struct causes_vtab *vtab, size_t place)
{
	size_t n;

	return of(vtab) == OF_TASK
		       ? trc_model_tasks(vtab->source->m, &n)[vtab->task_at[place - 1]].task
		       : place;
}

/* Of a path the leaves. */
static int copy_leaves(struct causes_cursor *c, const struct causes_vtab *vtab,
		       const struct trc_cause *rows, size_t n)
{
	c->rows.row_bytes = sizeof(struct trc_path_row);
	c->rows.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct trc_path_row *row = rows[i].leaf ? trc_array_add(&c->rows) : NULL;

		if (rows[i].leaf && !row)
			return SQLITE_NOMEM;
		if (row) {
			*row = (struct trc_path_row){rows[i], id_at(vtab, c->place)};
			row->cause.id = (uint32_t)c->rows.n;
		}
	}
	return SQLITE_OK;
}

static int cursor_keep_rows(struct causes_cursor *c, struct causes_vtab *vtab,
			    const struct trc_cause *rows, size_t n)
{
	int rc = SQLITE_OK;

	if (of(vtab) == OF_WAIT)
		trc_causes_swap(vtab->causes, &c->rows);
	else
		rc = copy_leaves(c, vtab, rows, n);
	c->n = rc ? 0 : c->rows.n;
	return rc;
}

static int causes_too_many(struct causes_vtab *vtab, size_t place)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "%s: %s %" PRIu64 " has more than %zu causes; trace-analyze --sql has no limit",
		 vtab->source->table->name, vtab->source->table->column[0].name, id_at(vtab, place),
		 vtab->source->cause_rows);
	return trc_vtab_fail(&vtab->base, text);
}

/* The rows of the first that is left and has any. */
static int cursor_load(struct causes_cursor *c)
{
	struct causes_vtab *vtab = (struct causes_vtab *)c->base.pVtab;
	const struct trc_cause *rows;
	int rc = SQLITE_OK, err;
	size_t n;

	for (; c->place <= c->last && !rc; c->place++) {
		if (c->loaded == c->place && c->n)
			break;
		c->n = c->loaded = 0;
		c->has_margins = false;
		err = derive(vtab, c->place, &rows, &n);
		if (err)
			return err == -E2BIG ? causes_too_many(vtab, c->place) : SQLITE_NOMEM;
		rc = cursor_keep_rows(c, vtab, rows, n);
		c->loaded = c->place;
		if (c->n)
			break;
	}
	c->at = 0;
	c->end = c->n;
	return rc;
}

/* ---- which places ---- */

static int tasks_by_id(const void *a, const void *b, void *tasks)
{
	const struct trc_task *task = tasks;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (task[x].task != task[y].task)
		return (int64_t)task[x].task < (int64_t)task[y].task ? -1 : 1;
	return (x > y) - (x < y);
}

static int sort_tasks(struct causes_vtab *vtab)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(vtab->source->m, &n);

	vtab->task_at = malloc((n + 1) * sizeof(*vtab->task_at));
	if (!vtab->task_at)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < n; i++)
		vtab->task_at[i] = (uint32_t)i;
	if (n)
		qsort_r(vtab->task_at, n, sizeof(*vtab->task_at), tasks_by_id, (void *)task);
	return SQLITE_OK;
}

/* How many of n places have an id below this one. */
static size_t places_below(const struct causes_vtab *vtab, size_t n, int64_t id)
{
	size_t first = 0, end = n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if ((int64_t)id_at(vtab, middle + 1) < id)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static size_t n_places(const struct causes_vtab *vtab)
{
	size_t n;

	if (of(vtab) == OF_WAIT)
		trc_model_parks(vtab->source->m, &n);
	else if (of(vtab) == OF_TASK)
		trc_model_tasks(vtab->source->m, &n);
	else
		trc_model_regions(vtab->source->m, &n);
	return n;
}

static int causes_prepare(struct causes_vtab *vtab)
{
	struct trc_error error = {""};

	if (trc_model_need(vtab->source->m, vtab->source->table->parts, &error))
		return trc_vtab_fail(&vtab->base, error.text);
	if (!vtab->causes && trc_causes_open(&vtab->causes, vtab->source->m))
		return SQLITE_NOMEM;
	trc_causes_limit(vtab->causes, vtab->source->cause_rows);
	return of(vtab) == OF_TASK && !vtab->task_at ? sort_tasks(vtab) : SQLITE_OK;
}

/* Of the rows that were loaded. */
static void take_id(struct causes_cursor *c, sqlite3_value *value)
{
	int64_t from = 1, until = (int64_t)c->n;

	if (!trc_vtab_narrow(SQLITE_INDEX_CONSTRAINT_EQ, value, &from, &until) || from > until) {
		c->place = c->last + 1;
		return;
	}
	c->at = (size_t)from - 1;
	c->end = (size_t)until;
}

static int causes_filter(sqlite3_vtab_cursor *cursor, int plan, const char *plan_text, int argc,
			 sqlite3_value **argv)
{
	struct causes_cursor *c = (struct causes_cursor *)cursor;
	struct causes_vtab *vtab = (struct causes_vtab *)cursor->pVtab;
	int64_t from = INT64_MIN, until = INT64_MAX;
	int rc = causes_prepare(vtab);

	if (rc)
		return rc;
	c->rowid = 1;
	c->place = 1;
	c->last = n_places(vtab);
	if (argc && !trc_vtab_narrow(SQLITE_INDEX_CONSTRAINT_EQ, argv[0], &from, &until)) {
		c->last = 0;
	} else if (argc) {
		c->place = places_below(vtab, c->last, from) + 1;
		if (until < INT64_MAX)
			c->last = places_below(vtab, c->last, until + 1);
	}
	rc = cursor_load(c);
	if (!rc && plan & PLAN_ID && c->place == c->last)
		take_id(c, argv[1]);
	return rc;
}

static int causes_next(sqlite3_vtab_cursor *cursor)
{
	struct causes_cursor *c = (struct causes_cursor *)cursor;

	c->rowid++;
	if (++c->at < c->end)
		return SQLITE_OK;
	c->place++;
	return cursor_load(c);
}

static int causes_eof(sqlite3_vtab_cursor *cursor)
{
	const struct causes_cursor *c = (const struct causes_cursor *)cursor;

	return c->place > c->last;
}

static int need_margins(struct causes_cursor *c)
{
	struct trc_causes *causes = ((struct causes_vtab *)c->base.pVtab)->causes;

	if (!c->has_margins &&
	    trc_causes_margins(causes, c->rows.row, c->rows.n, c->rows.row_bytes))
		return SQLITE_NOMEM;
	c->has_margins = true;
	return SQLITE_OK;
}

static int causes_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	struct causes_cursor *c = (struct causes_cursor *)cursor;
	const struct trc_vtab_source *source = ((struct causes_vtab *)cursor->pVtab)->source;

	if (source->table->column[column].call == cause_margin && need_margins(c))
		return SQLITE_NOMEM;
	trc_vtab_result(context, source, column, c->rows.row, c->at);
	return SQLITE_OK;
}

static int causes_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = ((const struct causes_cursor *)cursor)->rowid;
	return SQLITE_OK;
}

const sqlite3_module trc_vtab_causes = {
	.xConnect = causes_connect,
	.xBestIndex = causes_best_index,
	.xDisconnect = causes_disconnect,
	.xOpen = causes_open,
	.xClose = causes_close,
	.xFilter = causes_filter,
	.xNext = causes_next,
	.xEof = causes_eof,
	.xColumn = causes_column,
	.xRowid = causes_rowid,
};
