/*
 * vtab_events.c - events, and one table for each kind: a view into the file's blocks.
 *
 * Where no column is looked at but the kind, and nothing is compared, no block is decoded:
 * their headers say how many events of each kind they have.
 */
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/merge.h"
#include "analyzer/model/parts.h"
#include "vtab_events.h"

struct events_cursor {
	sqlite3_vtab_cursor base; /* first: the two share an address */
	int plan;
	unsigned int want; /* columns to decode, an enum trc_want */
	struct trc_kind_mask kinds;
	bool all_kinds;
	int64_t from_ns, until_ns, proc, thread;

	/* The events at hand: rows first <= row < limit of a block. */
	const struct trc_block_info *block;
	size_t block_idx;
	const struct trc_columns *columns;
	uint32_t row, limit;
	unsigned int kind; /* if nothing is decoded, and one kind is counted */
	bool eof;

	struct trc_merge *merge;   /* PLAN_BY_TIME */
	struct trc_columns *owned; /* otherwise */
	size_t next_block;
	size_t next_kind; /* PLAN_BY_KIND: index in by_name */
};

static struct events_vtab *vtab_of(const struct events_cursor *c)
{
	return (struct events_vtab *)c->base.pVtab;
}

static struct trc_model *model_of(const struct events_cursor *c)
{
	return vtab_of(c)->source->m;
}

/* --- connecting --- */

static char *events_schema(const struct trc_event_columns *columns)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (size_t i = 0; i < columns->n; i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", columns->column[i].name,
				    columns->column[i].type);
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}

/* Kinds in the order in which SQLite compares their names. */
static void sort_kinds(struct events_vtab *v)
{
	for (unsigned int kind = 1; kind <= TRC_KIND_MAX; kind++) {
		const char *name = trc_event_kind_name(v->source->m, kind);
		size_t i = v->n_kinds++;

		for (; i && strcmp(trc_event_kind_name(v->source->m, v->by_name[i - 1]), name) > 0;
		     i--)
			v->by_name[i] = v->by_name[i - 1];
		v->by_name[i] = (uint8_t)kind;
	}
}

static int events_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
			  sqlite3_vtab **out, char **error)
{
	const struct trc_vtab_source *source = context;
	struct events_vtab *v = sqlite3_malloc(sizeof(*v));
	char *schema;
	int rc;

	if (!v)
		return SQLITE_NOMEM;
	memset(v, 0, sizeof(*v));
	v->source = source;
	trc_event_columns_make(&v->columns, source->m, source->kind);
	sort_kinds(v);
	schema = events_schema(&v->columns);
	rc = schema ? sqlite3_declare_vtab(db, schema) : SQLITE_NOMEM;
	sqlite3_free(schema);
	if (rc) {
		sqlite3_free(v);
		return rc;
	}
	*out = &v->base;
	return SQLITE_OK;
}

static int events_disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

/* --- reading --- */

static int events_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct events_cursor *c = sqlite3_malloc(sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	*out = &c->base;
	return SQLITE_OK;
}

static void cursor_release(struct events_cursor *c)
{
	trc_merge_close(c->merge);
	c->merge = NULL;
	if (c->owned)
		trc_columns_free(c->owned);
	c->owned = NULL;
	c->columns = NULL;
}

static int events_close(sqlite3_vtab_cursor *cursor)
{
	cursor_release((struct events_cursor *)cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static bool kind_wanted(const struct events_cursor *c, unsigned int kind)
{
	return c->all_kinds || trc_kind_mask_has(&c->kinds, kind);
}

static bool row_wanted(const struct events_cursor *c)
{
	const struct trc_columns *columns = c->columns;

	if (!columns)
		return true; /* nothing to compare: the header counted what is wanted */
	if (c->want & TRC_WANT_KIND && !kind_wanted(c, columns->kind[c->row]))
		return false;
	if (c->plan & PLAN_PROC && columns->proc[c->row] != c->proc)
		return false;
	if (c->plan & PLAN_THREAD && columns->thread[c->row] != c->thread)
		return false;
	return !(c->plan & (PLAN_FROM | PLAN_UNTIL)) ||
	       (columns->time_ns[c->row] >= c->from_ns && columns->time_ns[c->row] <= c->until_ns);
}

static int cursor_fail(struct events_cursor *c, const struct trc_error *error)
{
	c->eof = true;
	return trc_vtab_fail(c->base.pVtab, error->text);
}

static int cursor_next_span(struct events_cursor *c)
{
	struct trc_error error = {""};
	struct trc_span span;
	int got = trc_merge_next(c->merge, &span, &error);

	if (got < 0)
		return cursor_fail(c, &error);
	c->eof = !got;
	if (got) {
		c->block = span.block;
		c->block_idx = span.block_idx;
		c->columns = span.columns;
		c->row = span.first;
		c->limit = span.last;
	}
	return SQLITE_OK;
}

static bool cursor_block_wanted(const struct events_cursor *c, const struct trc_block_info *b)
{
	if (b->last_ns < c->from_ns || b->first_ns > c->until_ns)
		return false;
	if (c->plan & PLAN_PROC && b->proc != c->proc && b->proc != TRC_PROC_PER_EVENT)
		return false;
	return trc_block_has_kinds(b, c->all_kinds ? NULL : &c->kinds);
}

/* How many events of the wanted kinds the block's header announces. */
static uint32_t block_count(const struct events_cursor *c, const struct trc_block_info *b)
{
	uint32_t n = 0;

	if (c->all_kinds)
		return b->n_events;
	for (unsigned int word = 0; word < 4; word++) {
		for (uint64_t bits = c->kinds.bits[word]; bits; bits &= bits - 1)
			n += b->kind_count[word * 64 + (unsigned int)__builtin_ctzll(bits)];
	}
	return n;
}

static int load_block(struct events_cursor *c, size_t i)
{
	const struct trc_reader *r = trc_model_reader(model_of(c));
	struct trc_error error = {""};

	c->block_idx = i;
	c->block = trc_reader_block(r, i);
	c->row = 0;
	if (c->owned)
		trc_columns_free(c->owned);
	c->owned = NULL;
	c->columns = NULL;
	if (!c->want) {
		c->limit = block_count(c, c->block);
		return SQLITE_OK;
	}
	if (trc_reader_load(r, i, c->want, c->all_kinds ? NULL : &c->kinds, &c->owned, &error)) {
		c->owned = NULL;
		return cursor_fail(c, &error);
	}
	c->columns = c->owned;
	c->limit = c->columns->n_events;
	return SQLITE_OK;
}

/* The next kind that the query may want; false after the last. */
static bool next_kind(struct events_cursor *c)
{
	const struct events_vtab *v = vtab_of(c);

	if (c->next_kind == v->n_kinds)
		return false;
	c->kind = v->by_name[c->next_kind++];
	memset(&c->kinds, 0, sizeof(c->kinds));
	trc_kind_mask_add(&c->kinds, c->kind);
	c->next_block = 0;
	return true;
}

static int next_block(struct events_cursor *c)
{
	const struct trc_reader *r = trc_model_reader(model_of(c));
	size_t n = trc_reader_blocks(r);

	for (;;) {
		while (c->next_block < n &&
		       !cursor_block_wanted(c, trc_reader_block(r, c->next_block)))
			c->next_block++;
		if (c->next_block < n)
			return load_block(c, c->next_block++);
		if (!(c->plan & PLAN_BY_KIND) || !next_kind(c)) {
			c->eof = true;
			return SQLITE_OK;
		}
	}
}

/* Goes on to the next event that is wanted, this one included. */
static int find_row(struct events_cursor *c)
{
	int rc;

	for (;;) {
		while (c->row < c->limit) {
			if (row_wanted(c))
				return SQLITE_OK;
			c->row++;
		}
		rc = c->plan & PLAN_BY_TIME ? cursor_next_span(c) : next_block(c);
		if (rc || c->eof)
			return rc;
	}
}

/* What to decode for these columns of SQL and this plan. */
static unsigned int want_of(const struct events_vtab *v, int plan, unsigned long long used)
{
	unsigned int want = 0;

	if (used & 1ull << COL_TIME || plan & (PLAN_FROM | PLAN_UNTIL | PLAN_BY_TIME))
		want |= TRC_WANT_TIME;
	if (used & 1ull << COL_PROC || plan & PLAN_PROC)
		want |= TRC_WANT_PROC;
	if (used & 1ull << COL_THREAD || plan & PLAN_THREAD)
		want |= TRC_WANT_THREAD;
	if (used >> (v->source->kind ? COL_KIND : COL_KIND + 1))
		want |= TRC_WANT_ARGS;
	if (!v->source->kind && used & 1ull << COL_KIND && !(plan & (PLAN_BY_KIND | PLAN_KIND)))
		want |= TRC_WANT_KIND;
	return want ? want | TRC_WANT_KIND : 0;
}

/* The kind with this name; 0 = none. */
static unsigned int kind_named(const struct events_vtab *v, sqlite3_value *value)
{
	const char *name = (const char *)sqlite3_value_text(value);

	for (unsigned int kind = 1; name && kind <= TRC_KIND_MAX; kind++)
		if (!strcmp(trc_event_kind_name(v->source->m, kind), name))
			return kind;
	return 0;
}

/* A number that a column is compared with; false if no number equals it. */
static bool equal_to(sqlite3_value *value, int64_t *number)
{
	int64_t from = INT64_MIN, until = INT64_MAX;

	if (!trc_vtab_narrow(SQLITE_INDEX_CONSTRAINT_EQ, value, &from, &until) || from != until)
		return false;
	*number = from;
	return true;
}

/* Takes one argument of an `equal` bit of the plan.  A text may stand for a number: then the
 * bit is dropped, and SQLite compares. */
static bool take_equal(struct events_cursor *c, int bit, sqlite3_value *value, int64_t *number)
{
	int type = sqlite3_value_type(value);

	if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
		c->plan &= ~bit;
		return true;
	}
	return equal_to(value, number);
}

static bool take_kind(struct events_cursor *c, sqlite3_value *value)
{
	c->kind = kind_named(vtab_of(c), value);
	trc_kind_mask_add(&c->kinds, c->kind);
	c->all_kinds = false;
	return c->kind != 0;
}

/* Takes the arguments in the order of plan bits; false if no event can satisfy them. */
static bool take_arguments(struct events_cursor *c, sqlite3_value **argv)
{
	int plan = c->plan;
	bool possible = true;

	c->from_ns = INT64_MIN;
	c->until_ns = INT64_MAX;
	if (plan & PLAN_KIND)
		possible &= take_kind(c, *argv++);
	if (plan & PLAN_PROC)
		possible &= take_equal(c, PLAN_PROC, *argv++, &c->proc);
	if (plan & PLAN_THREAD)
		possible &= take_equal(c, PLAN_THREAD, *argv++, &c->thread);
	if (plan & PLAN_FROM)
		possible &= trc_vtab_narrow(SQLITE_INDEX_CONSTRAINT_GE, *argv++, &c->from_ns,
					    &c->until_ns);
	if (plan & PLAN_UNTIL)
		possible &= trc_vtab_narrow(SQLITE_INDEX_CONSTRAINT_LE, *argv++, &c->from_ns,
					    &c->until_ns);
	return possible;
}

static int merge_begin(struct events_cursor *c)
{
	struct trc_merge_options options = {.want = c->want,
					    .kinds = c->all_kinds ? NULL : &c->kinds,
					    .from_ns = c->from_ns,
					    .until_ns = c->until_ns,
					    .one_proc = c->plan & PLAN_PROC,
					    .proc = (uint32_t)c->proc,
					    .ahead = true};

	return trc_merge_open(&c->merge, trc_model_reader(model_of(c)), &options) ? SQLITE_NOMEM
										  : SQLITE_OK;
}

static int events_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
			 sqlite3_value **argv)
{
	struct events_cursor *c = (struct events_cursor *)cursor;
	const struct events_vtab *v = vtab_of(c);
	const char *columns = strstr(text, "columns=");
	int rc = SQLITE_OK;

	cursor_release(c);
	memset(&c->kinds, 0, sizeof(c->kinds));
	c->plan = plan;
	c->want = want_of(v, plan, strtoull(columns + strlen("columns="), NULL, 16));
	c->kind = v->source->kind;
	c->all_kinds = !c->kind;
	if (c->kind)
		trc_kind_mask_add(&c->kinds, c->kind);
	c->next_block = c->next_kind = 0;
	c->row = c->limit = 0;
	c->eof = !take_arguments(c, argv);
	if (c->eof)
		return SQLITE_OK;
	if (plan & PLAN_KIND)
		c->plan &= ~PLAN_BY_KIND; /* one kind is grouped */
	if (c->plan & PLAN_BY_KIND) {
		c->all_kinds = false;
		next_kind(c);
	}
	if (plan & PLAN_BY_TIME)
		rc = merge_begin(c);
	return rc ? rc : find_row(c);
}

static int events_next(sqlite3_vtab_cursor *cursor)
{
	struct events_cursor *c = (struct events_cursor *)cursor;

	c->row++;
	/* Counting: there is nothing to look at. */
	if (!c->columns && c->row < c->limit)
		return SQLITE_OK;
	return find_row(c);
}

static int events_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct events_cursor *)cursor)->eof;
}

/* --- values --- */

static void result_id(sqlite3_context *context, uint64_t id)
{
	if (id)
		sqlite3_result_int64(context, (sqlite3_int64)id);
	else
		sqlite3_result_null(context);
}

static void result_static(sqlite3_context *context, const char *text)
{
	sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

static void result_text(struct events_cursor *c, sqlite3_context *context)
{
	size_t n_bytes;
	const char *bytes = trc_arg_text(c->columns, c->row, &n_bytes);

	sqlite3_result_text64(context, bytes, n_bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void result_string(struct events_cursor *c, sqlite3_context *context, uint64_t id)
{
	const char *text = id ? trc_model_string(model_of(c), id) : "";

	if (!text)
		sqlite3_result_error_nomem(context);
	else if (!id)
		sqlite3_result_null(context);
	else
		result_static(context, text);
}

static void result_number(sqlite3_context *context, enum trc_arg_type type, uint64_t value)
{
	const char *name = trc_arg_value_name(type, value);

	if (name)
		result_static(context, name);
	else
		sqlite3_result_int64(context, (sqlite3_int64)value);
}

static void result_argument(struct events_cursor *c, sqlite3_context *context, unsigned int kind,
			    unsigned int arg)
{
	const struct trc_reader *r = trc_model_reader(model_of(c));
	enum trc_arg_type type = trc_reader_kind(r, kind)->arg[arg].type;
	const uint64_t *const *args = c->columns->arg[kind];
	uint64_t value;

	if (type == TRC_ARG_TEXT) {
		result_text(c, context);
		return;
	}
	/* Younger than the file. */
	if (!args || !args[arg])
		return;
	value = args[arg][c->columns->rank[c->row]];
	if (type == TRC_ARG_STRING)
		result_string(c, context, value);
	else if (type == TRC_ARG_REASON && !value)
		sqlite3_result_null(context);
	else if (type == TRC_ARG_REASON)
		result_static(context, trc_reader_reason_name(r, (unsigned int)value));
	else if (type == TRC_ARG_STACK || type == TRC_ARG_THREAD || type == TRC_ARG_TASK ||
		 type == TRC_ARG_LABELS)
		result_id(context, value);
	else if (type == TRC_ARG_TICKS && (int64_t)value == trc_reader_ns(r, 0))
		sqlite3_result_null(context); /* a time that was not given */
	else
		result_number(context, type, value);
}

static unsigned int kind_now(const struct events_cursor *c)
{
	return c->columns && c->columns->kind ? c->columns->kind[c->row] : c->kind;
}

static int events_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	struct events_cursor *c = (struct events_cursor *)cursor;
	const struct events_vtab *v = vtab_of(c);
	unsigned int kind, arg;

	switch (column) {
	case COL_TIME:
		sqlite3_result_int64(context, c->columns->time_ns[c->row]);
		return SQLITE_OK;
	case COL_PROC:
		sqlite3_result_int64(context, c->columns->proc[c->row]);
		return SQLITE_OK;
	case COL_THREAD:
		result_id(context, c->columns->thread[c->row]);
		return SQLITE_OK;
	case COL_SOURCE:
		result_static(context, trc_source_name(c->block->source));
		return SQLITE_OK;
	}
	kind = kind_now(c);
	if (column == COL_KIND && !v->source->kind) {
		result_static(context, trc_event_kind_name(v->source->m, kind));
		return SQLITE_OK;
	}
	arg = v->columns.arg[kind][column];
	if (arg)
		result_argument(c, context, kind, arg - 1);
	return SQLITE_OK;
}

static int events_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	const struct events_cursor *c = (const struct events_cursor *)cursor;

	*rowid = (sqlite3_int64)c->block_idx << 32 | c->row;
	return SQLITE_OK;
}

const sqlite3_module trc_vtab_events = {
	.xConnect = events_connect,
	.xBestIndex = trc_events_best_index,
	.xDisconnect = events_disconnect,
	.xOpen = events_open,
	.xClose = events_close,
	.xFilter = events_filter,
	.xNext = events_next,
	.xEof = events_eof,
	.xColumn = events_column,
	.xRowid = events_rowid,
};
