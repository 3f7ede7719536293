/*
 * vtab_causes.c - the table of causes, which are derived wait by wait, while the table is read.
 *
 * Plan chosen by causes_best_index() and obeyed by causes_filter(): 1 = the causes of one wait, the
 * argument; 0 = those of all waits, one after the other.
 */
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/causes.h"
#include "columns.h"
#include "vtab.h"

static void cause_duration(const struct trc_model *m, size_t i, const void *row,
			   struct trc_sql_value *value)
{
	const struct trc_cause *cause = row;

	trc_sql_set_integer(value, cause->to_ns - cause->from_ns);
}

CALL(cause_kind)
{
	trc_sql_set_text(value, trc_cause_name(((const struct trc_cause *)row)->kind));
}

CALL(cause_stack_of)
{
	trc_sql_set_text(value, trc_cause_stack_name(((const struct trc_cause *)row)->stack_of));
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
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(cause, reason),
	 .doc = "what kind of wait the thread was in; NULL = in none"},
	{"object", "INTEGER", TRC_FIELD_ID64, F(cause, object),
	 .doc = "what that wait was for, as in parks"},
	{"park", "INTEGER", TRC_FIELD_ID32, F(cause, park), .doc = "the id of that wait in parks"},
	{"unlock", "INTEGER", TRC_FIELD_ID32, F(cause, unlock),
	 .doc = "the id in unlocks of the unlock that ended the section in which the others waited"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(cause, stack), .doc = "where the thread was"},
	{"stack_of", "TEXT", TRC_FIELD_CALL, 0, cause_stack_of,
	 .doc = "what the stack is of: wait, sample, or end: of the unlock or signal that ended the "
		"waiting for the thread"},
};

const struct trc_sql_table trc_sql_cause_tables[] = {
	{"causes", "why each wait lasted: what the threads did that it depended on",
	 TRC_CAUSES_PARTS, cause_columns, N(cause_columns), sizeof(struct trc_cause), NULL, NULL},
};
const size_t trc_sql_n_cause_tables = N(trc_sql_cause_tables);

struct causes_vtab {
	sqlite3_vtab base; /* first: the two share an address */
	const struct trc_vtab_source *source;
	struct trc_causes *causes; /* NULL = nobody asked yet */
};

struct causes_cursor {
	sqlite3_vtab_cursor base; /* first: the two share an address */
	size_t wait, last;	  /* ids of the waits that are left */
	struct trc_cause *row;	  /* of the first of them: others read while this one does */
	size_t n, at;
	sqlite3_int64 rowid;
};

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
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int causes_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct trc_vtab_source *source = ((struct causes_vtab *)vtab)->source;

	info->estimatedCost = (double)trc_reader_info(trc_model_reader(source->m))->n_events + 100;
	info->estimatedRows = (sqlite3_int64)info->estimatedCost;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (!c->usable || c->iColumn != 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->idxStr = (char *)"wait=?";
		info->estimatedCost = 20;
		info->estimatedRows = 20;
		break;
	}
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
	free(((struct causes_cursor *)cursor)->row);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* The causes of the first wait that is left. */
static int load(struct causes_cursor *c)
{
	struct causes_vtab *vtab = (struct causes_vtab *)c->base.pVtab;
	const struct trc_cause *rows;
	struct trc_cause *copy;

	c->n = c->at = 0;
	if (c->wait > c->last)
		return SQLITE_OK;
	if (trc_causes_of_wait(vtab->causes, (uint32_t)c->wait, &rows, &c->n))
		return SQLITE_NOMEM;
	copy = realloc(c->row, (c->n + 1) * sizeof(*copy));
	if (!copy)
		return SQLITE_NOMEM;
	memcpy(copy, rows, c->n * sizeof(*copy));
	c->row = copy;
	return SQLITE_OK;
}

static int causes_filter(sqlite3_vtab_cursor *cursor, int plan, const char *plan_text, int argc,
			 sqlite3_value **argv)
{
	struct causes_cursor *c = (struct causes_cursor *)cursor;
	struct causes_vtab *vtab = (struct causes_vtab *)cursor->pVtab;
	int64_t from = INT64_MIN, until = INT64_MAX;
	struct trc_error error = {""};
	size_t n;

	if (trc_model_need(vtab->source->m, TRC_CAUSES_PARTS, &error))
		return trc_vtab_fail(cursor->pVtab, error.text);
	if (!vtab->causes && trc_causes_open(&vtab->causes, vtab->source->m))
		return SQLITE_NOMEM;
	trc_model_parks(vtab->source->m, &n);
	c->rowid = 1;
	c->wait = 1;
	c->last = n;
	if (argc) {
		if (!trc_vtab_narrow(SQLITE_INDEX_CONSTRAINT_EQ, argv[0], &from, &until) ||
		    until < 1 || from > (int64_t)n)
			c->last = 0;
		c->wait = from > 1 ? (size_t)from : 1;
		if (until < (int64_t)c->last)
			c->last = (size_t)(until > 0 ? until : 0);
	}
	return load(c);
}

static int causes_next(sqlite3_vtab_cursor *cursor)
{
	struct causes_cursor *c = (struct causes_cursor *)cursor;

	c->rowid++;
	if (++c->at < c->n)
		return SQLITE_OK;
	c->wait++;
	return load(c);
}

static int causes_eof(sqlite3_vtab_cursor *cursor)
{
	const struct causes_cursor *c = (const struct causes_cursor *)cursor;

	return c->wait > c->last;
}

static int causes_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	const struct causes_cursor *c = (const struct causes_cursor *)cursor;
	const struct trc_vtab_source *source = ((struct causes_vtab *)cursor->pVtab)->source;

	trc_vtab_result(context, source, column, c->row, c->at);
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
