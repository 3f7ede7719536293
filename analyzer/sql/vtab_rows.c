/*
 * vtab_rows.c - an array of the model, or rows that are made of it, as a read-only table.
 *
 * Plan chosen by rows_best_index() and obeyed by rows_filter(): up to PLAN_BOUNDS
 * comparisons.  The first may be the equality of a column that is not ordered, but looked up
 * (table:Q3); all others are with ordered columns (table:Q2), and each is found by halving, among the rows that were
 * looked up if there are such (lookup:L1).  idxNum has 8 bits for each, the column << 3 | an enum bound_op + 1, in the
 * order in which the arguments arrive; and
 *   PLAN_BACKWARDS  from the last row to the first: ORDER BY ... DESC
 *   PLAN_FIBERS     some column is asked for that fibers must be derived for
 *   PLAN_PREEMPTED  likewise, preempted times
 *   PLAN_SELECTED   a view of the selected rows asks (selected.c), by the hidden column SELECTED = 1: rows outside of the
 *                   window are passed over.  Others that are not selected still come, and the view leaves them out
 * idxStr says the same for people.
 */
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/selection_rows.h"
#include "lookup.h"
#include "parts.h"
#include "vtab.h"

enum {
	PLAN_BOUNDS = 3,
	PLAN_BACKWARDS = 1 << 24,
	PLAN_FIBERS = 1 << 25,
	PLAN_PREEMPTED = 1 << 26,
	PLAN_SELECTED = 1 << 27,
	COLUMN_MAX = 30,
	COLUMN_ROWID = 31, /* SQLite's -1 */
	LIKE_ROWS = 10,	   /* that have the same value in a column, if nothing is known */
};

enum bound_op { BOUND_EQ, BOUND_GT, BOUND_LE, BOUND_LT, BOUND_GE, N_BOUND_OPS };
static const struct {
	unsigned char sqlite;
	const char *sign;
} bound_ops[N_BOUND_OPS] = {
	[BOUND_EQ] = {SQLITE_INDEX_CONSTRAINT_EQ, "="},
	[BOUND_GT] = {SQLITE_INDEX_CONSTRAINT_GT, ">"},
	[BOUND_LE] = {SQLITE_INDEX_CONSTRAINT_LE, "<="},
	[BOUND_LT] = {SQLITE_INDEX_CONSTRAINT_LT, "<"},
	[BOUND_GE] = {SQLITE_INDEX_CONSTRAINT_GE, ">="},
};

struct rows_vtab {
	sqlite3_vtab base; /* first: the two share an address */
	const struct trc_vtab_source *source;
	struct trc_array made; /* of a table that makes its rows: when somebody first asks */
	bool is_made;
	double n_guess;			   /* -1 = nobody has asked yet */
	struct trc_sql_lookup *lookup;	   /* by column; NULL = none was made */
	struct trc_selected_rows selected; /* s = NULL: nobody has asked yet */
	int selected_table; /* enum trc_selected_table; -1 = no view is of this table */
};

struct rows_cursor {
	sqlite3_vtab_cursor base; /* first: the two share an address */
	const void *rows;
	size_t n;
	const uint32_t *row; /* the rows that were looked up; NULL = all */
	size_t first, limit; /* which of these are left: first <= i < limit */
	bool backwards;
	const struct trc_selected_rows *selected; /* NULL = all rows are asked for */
};

static int rows_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
			sqlite3_vtab **out, char **error)
{
	const struct trc_vtab_source *source = context;
	struct rows_vtab *vtab = sqlite3_malloc(sizeof(*vtab));
	int rc = vtab ? trc_vtab_declare_with(db, source->table, TRC_SQL_SELECTED_COLUMN)
		      : SQLITE_NOMEM;

	if (rc) {
		sqlite3_free(vtab);
		return rc;
	}
	memset(vtab, 0, sizeof(*vtab));
	vtab->source = source;
	vtab->n_guess = -1;
	vtab->selected_table = trc_sql_selected_table(source->table);
	*out = &vtab->base;
	return SQLITE_OK;
}

static int rows_disconnect(sqlite3_vtab *base)
{
	struct rows_vtab *vtab = (struct rows_vtab *)base;

	for (size_t i = 0; vtab->lookup && i < vtab->source->table->n_columns; i++)
		trc_sql_lookup_free(&vtab->lookup[i]);
	free(vtab->lookup);
	trc_array_free(&vtab->made);
	trc_selected_rows_free(&vtab->selected);
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int rows_op(unsigned char sqlite_op)
{
	for (int op = 0; op < N_BOUND_OPS; op++)
		if (bound_ops[op].sqlite == sqlite_op)
			return op;
	return -1;
}

/* ---- planning ---- */

static const struct trc_sql_column rowid_column = {"rowid", "INTEGER", TRC_FIELD_ROW_ID,
						   .ordered = true, .unique = true};

/* By its number in a plan. */
static const struct trc_sql_column *column_of(const struct trc_sql_table *table, int column)
{
	return column == COLUMN_ROWID ? &rowid_column : &table->column[column];
}

/* The number in a plan of the column that is compared, and of the comparison; false if there is none. */
static bool usable(const struct trc_sql_table *table, const struct sqlite3_index_constraint *c,
		   int *column, int *op)
{
	*op = rows_op(c->op);
	*column = c->iColumn < 0 ? COLUMN_ROWID : c->iColumn;
	return c->usable && *op >= 0 &&
	       (c->iColumn < 0 ||
		(c->iColumn <= COLUMN_MAX && (size_t)c->iColumn < table->n_columns));
}

/* About how many rows the table has. */
static double rows_guess(struct rows_vtab *vtab)
{
	if (vtab->is_made)
		return (double)vtab->made.n;
	if (vtab->n_guess < 0)
		vtab->n_guess = trc_sql_rows_guess(vtab->source->m, vtab->source->table);
	return vtab->n_guess;
}

/* About how many of n rows have the same value in a column. */
static double rows_alike(const struct rows_vtab *vtab, const struct trc_sql_column *column,
			 double n)
{
	double different;

	if (column->unique || n < 1)
		return 1;
	if (!column->of)
		return n < LIKE_ROWS ? n : LIKE_ROWS;
	different = trc_sql_rows_guess(vtab->source->m, trc_sql_table_named(column->of));
	return n <= different ? 1 : n / (different + 1);
}

/* Which equality of a column that is looked up leaves the fewest rows; -1 = none, or that of an ordered column does as well. */
static int best_lookup(struct rows_vtab *vtab, const sqlite3_index_info *info)
{
	const struct trc_sql_table *table = vtab->source->table;
	const double n = rows_guess(vtab);
	double best_rows = 0;
	int best = -1;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct trc_sql_column *column;
		double rows;
		int number, op;

		if (!usable(table, &info->aConstraint[i], &number, &op) || op != BOUND_EQ)
			continue;
		column = column_of(table, number);
		if (column->ordered)
			return -1;
		rows = rows_alike(vtab, column, n);
		if (!trc_sql_is_looked_up(column) || (best >= 0 && rows >= best_rows))
			continue;
		best = i;
		best_rows = rows;
	}
	return best;
}

/* Takes a constraint as the plan's next, and says how many rows it leaves. */
static void constraint_take(struct rows_vtab *vtab, sqlite3_index_info *info, int i, int *slot,
			    double *rows, sqlite3_str *plan)
{
	const struct trc_sql_table *table = vtab->source->table;
	int column, op;

	usable(table, &info->aConstraint[i], &column, &op);
	info->aConstraintUsage[i].argvIndex = *slot + 1;
	info->idxNum |= (column << 3 | (op + 1)) << (8 * *slot);
	sqlite3_str_appendf(plan, "%s%s%s?", *slot ? " " : "", column_of(table, column)->name,
			    bound_ops[op].sign);
	if (op == BOUND_EQ)
		*rows = rows_alike(vtab, column_of(table, column), *rows);
	else
		*rows /= 4;
	if (op == BOUND_EQ && column_of(table, column)->unique)
		info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
	++*slot;
}

static void rows_take_constraints(struct rows_vtab *vtab, sqlite3_index_info *info,
				  sqlite3_str *plan)
{
	const struct trc_sql_table *table = vtab->source->table;
	double rows = rows_guess(vtab) + 1;
	int slot = 0, lookup = best_lookup(vtab, info), column, op;

	if (lookup >= 0)
		constraint_take(vtab, info, lookup, &slot, &rows, plan);
	for (int i = 0; i < info->nConstraint && slot < PLAN_BOUNDS; i++)
		if (usable(table, &info->aConstraint[i], &column, &op) &&
		    column_of(table, column)->ordered)
			constraint_take(vtab, info, i, &slot, &rows, plan);
	if (rows < 1)
		rows = 1;
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = rows + (slot ? 2 : 0);
}

static void rows_take_order(const struct trc_sql_table *table, sqlite3_index_info *info)
{
	int column;

	if (info->nOrderBy != 1)
		return;
	column = info->aOrderBy[0].iColumn;
	if (column < 0 || (size_t)column >= table->n_columns || !table->column[column].ordered)
		return;
	info->orderByConsumed = 1;
	if (info->aOrderBy[0].desc)
		info->idxNum |= PLAN_BACKWARDS;
}

static void take_columns(const struct trc_sql_table *table, sqlite3_index_info *info)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		if (!(info->colUsed >> (i < 63 ? i : 63) & 1))
			continue;
		if (table->column[i].field == TRC_FIELD_FIBER)
			info->idxNum |= PLAN_FIBERS;
		if (table->column[i].field == TRC_FIELD_PREEMPTED)
			info->idxNum |= PLAN_PREEMPTED;
	}
}

/* The hidden column is compared by SQLite, too: its value is 1. */
static void take_selected(const struct rows_vtab *vtab, sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (c->usable && c->op == SQLITE_INDEX_CONSTRAINT_EQ && vtab->selected_table >= 0 &&
		    c->iColumn == (int)vtab->source->table->n_columns)
			info->idxNum |= PLAN_SELECTED;
	}
}

static int rows_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct trc_vtab_source *source = ((struct rows_vtab *)vtab)->source;
	sqlite3_str *plan = sqlite3_str_new(NULL);
	bool bounds;

	info->idxNum = 0;
	rows_take_constraints((struct rows_vtab *)vtab, info, plan);
	bounds = info->idxNum != 0;
	rows_take_order(source->table, info);
	take_columns(source->table, info);
	take_selected((struct rows_vtab *)vtab, info);
	if (info->idxNum & PLAN_BACKWARDS)
		sqlite3_str_appendall(plan, bounds ? " backwards" : "backwards");
	if (info->idxNum & PLAN_FIBERS)
		sqlite3_str_appendall(plan, sqlite3_str_length(plan) ? " fibers" : "fibers");
	if (info->idxNum & PLAN_PREEMPTED)
		sqlite3_str_appendall(plan, sqlite3_str_length(plan) ? " preempted" : "preempted");
	if (info->idxNum & PLAN_SELECTED)
		sqlite3_str_appendall(plan, sqlite3_str_length(plan) ? " selected" : "selected");
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct rows_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*out = &cursor->base;
	return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static const struct trc_vtab_source *source_of(const struct rows_cursor *c)
{
	return ((struct rows_vtab *)c->base.pVtab)->source;
}

/* ---- reading ---- */

/* Which row of the table is at this place of the cursor's. */
static size_t row_at(const struct rows_cursor *c, size_t place)
{
	return c->row ? c->row[place] : place;
}

/* The first place in [first, limit) where the value in this ordered column is at least `key`. */
static size_t rows_find(const struct rows_cursor *c, const struct trc_sql_column *column,
			int64_t key)
{
	size_t low = c->first, high = c->limit;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct trc_sql_value value;

		trc_sql_get(source_of(c)->m, source_of(c)->table, column, c->rows,
			    row_at(c, middle), &value);
		if (value.kind == TRC_SQL_NULL || value.integer < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The look-up of a column, which it makes first if nobody has asked yet; NULL without memory. */
static const struct trc_sql_lookup *lookup_of(const struct rows_cursor *c, unsigned int column)
{
	const struct trc_sql_table *table = source_of(c)->table;
	struct rows_vtab *vtab = (struct rows_vtab *)c->base.pVtab;

	if (!vtab->lookup)
		vtab->lookup = calloc(table->n_columns, sizeof(*vtab->lookup));
	if (!vtab->lookup)
		return NULL;
	if (!vtab->lookup[column].row &&
	    trc_sql_lookup_make(&vtab->lookup[column], source_of(c)->m, table,
				&table->column[column], c->rows, c->n))
		return NULL;
	return &vtab->lookup[column];
}

/* The rows with a value.  A text may stand for a number: then all rows, for SQLite compares.  An SQLite result code. */
static int rows_look_up(struct rows_cursor *c, unsigned int column, int64_t from, int64_t until)
{
	const struct trc_sql_lookup *lookup;

	if (from == INT64_MIN && until == INT64_MAX)
		return SQLITE_OK;
	if (from != until) { /* between two whole numbers */
		c->limit = c->first;
		return SQLITE_OK;
	}
	lookup = lookup_of(c, column);
	if (!lookup)
		return SQLITE_NOMEM;
	c->row = lookup->row;
	trc_sql_lookup_rows(lookup, from, &c->first, &c->limit);
	return SQLITE_OK;
}

static int rows_bound(struct rows_cursor *c, unsigned int code, sqlite3_value *value)
{
	const struct trc_sql_column *column = column_of(source_of(c)->table, (int)(code >> 3));
	int64_t from = INT64_MIN, until = INT64_MAX;

	if (!trc_vtab_narrow(bound_ops[(code & 7) - 1].sqlite, value, &from, &until)) {
		c->limit = c->first;
		return SQLITE_OK;
	}
	if (!column->ordered)
		return rows_look_up(c, code >> 3, from, until);
	if (from != INT64_MIN)
		c->first = rows_find(c, column, from);
	if (until != INT64_MAX)
		c->limit = rows_find(c, column, until + 1);
	return SQLITE_OK;
}

/* The rows of a table, which it may have to make.  An SQLite result code. */
static int rows_load(struct rows_cursor *c)
{
	const struct trc_vtab_source *source = source_of(c);
	struct rows_vtab *vtab = (struct rows_vtab *)c->base.pVtab;
	struct trc_error error = {""};

	if (source->table->rows) {
		c->rows = source->table->rows(source->m, &c->n);
		return SQLITE_OK;
	}
	if (!vtab->is_made && source->table->make(source->m, &vtab->made, &error)) {
		trc_array_free(&vtab->made);
		return trc_vtab_fail(c->base.pVtab, error.text);
	}
	vtab->is_made = true;
	c->rows = vtab->made.row;
	c->n = vtab->made.n;
	return SQLITE_OK;
}

/* The first row that a view wants in [first, limit); limit = none. */
static size_t next_selected(const struct rows_cursor *c, size_t first, size_t limit)
{
	const struct rows_vtab *vtab = (const struct rows_vtab *)c->base.pVtab;

	return trc_selected_rows_next(c->selected, (enum trc_selected_table)vtab->selected_table,
				      first, limit);
}

/* Passes over rows that are not asked for. */
static void pass_over(struct rows_cursor *c)
{
	if (!c->selected || c->backwards)
		return;
	if (!c->row)
		c->first = next_selected(c, c->first, c->limit);
	while (c->row && c->first < c->limit) {
		size_t row = row_at(c, c->first);

		if (next_selected(c, row, row + 1) == row)
			break;
		c->first++;
	}
}

/* Which rows of the table a view wants.  An SQLite result code. */
static int begin_selected(struct rows_cursor *c)
{
	struct rows_vtab *vtab = (struct rows_vtab *)c->base.pVtab;
	struct trc_selected_rows *rows = &vtab->selected;

	if (!rows->s && trc_model_selection(vtab->source->m))
		trc_selected_rows_begin(rows, vtab->source->m);
	if (!rows->s)
		return SQLITE_OK;
	if (vtab->selected_table == TRC_SELECTED_UNLOCKS && trc_selected_rows_need_caused(rows))
		return SQLITE_NOMEM;
	c->selected = rows;
	return SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int plan, const char *plan_text, int argc,
		       sqlite3_value **argv)
{
	struct rows_cursor *c = (struct rows_cursor *)cursor;
	const struct trc_vtab_source *source = source_of(c);
	unsigned int parts = source->table->parts | (plan & PLAN_FIBERS ? TRC_PART_FIBERS : 0) |
			     (plan & PLAN_PREEMPTED ? TRC_PART_PREEMPTED : 0);
	struct trc_error error = {""};
	int rc;

	if (parts && trc_model_need(source->m, parts, &error))
		return trc_vtab_fail(cursor->pVtab, error.text);
	rc = rows_load(c);
	if (rc)
		return rc;
	c->first = 0;
	c->limit = c->n;
	c->backwards = plan & PLAN_BACKWARDS;
	c->selected = NULL;
	c->row = NULL;
	for (int i = 0; i < argc && !rc; i++)
		rc = rows_bound(c, (unsigned int)plan >> (8 * i) & 255, argv[i]);
	if (!rc && plan & PLAN_SELECTED)
		rc = begin_selected(c);
	pass_over(c);
	return rc;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
	struct rows_cursor *c = (struct rows_cursor *)cursor;

	if (c->backwards)
		c->limit--;
	else
		c->first++;
	pass_over(c);
	return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
	const struct rows_cursor *c = (const struct rows_cursor *)cursor;

	return c->first >= c->limit;
}

static size_t row_now(const struct rows_cursor *c)
{
	return row_at(c, c->backwards ? c->limit - 1 : c->first);
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	const struct rows_cursor *c = (const struct rows_cursor *)cursor;

	if ((size_t)column >= source_of(c)->table->n_columns) {
		sqlite3_result_int(context, 1);
		return SQLITE_OK;
	}
	trc_vtab_result(context, source_of(c), column, c->rows, row_now(c));
	return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)row_now((const struct rows_cursor *)cursor) + 1;
	return SQLITE_OK;
}

/* Without xCreate: the table is there without being created, and cannot be. */
const sqlite3_module trc_vtab_rows = {
	.xConnect = rows_connect,
	.xBestIndex = rows_best_index,
	.xDisconnect = rows_disconnect,
	.xOpen = rows_open,
	.xClose = rows_close,
	.xFilter = rows_filter,
	.xNext = rows_next,
	.xEof = rows_eof,
	.xColumn = rows_column,
	.xRowid = rows_rowid,
};
