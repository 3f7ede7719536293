/* vtab_events_plan.c - which constraints a query of events uses, and its cost: vtab_events.h. */
#include <string.h>
#include "analyzer/model/parts.h"
#include "vtab_events.h"

static int plan_bit(const struct events_vtab *v, const struct sqlite3_index_constraint *c)
{
	bool equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;

	if (!c->usable)
		return 0;
	switch (c->iColumn) {
	case COL_TIME:
		if (c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT)
			return PLAN_FROM;
		return c->op == SQLITE_INDEX_CONSTRAINT_LE || c->op == SQLITE_INDEX_CONSTRAINT_LT
			       ? PLAN_UNTIL
			       : 0;
	case COL_PROC:
		return equal ? PLAN_PROC : 0;
	case COL_THREAD:
		return equal ? PLAN_THREAD : 0;
	case COL_KIND:
		return equal && !v->source->kind ? PLAN_KIND : 0;
	default:
		return 0;
	}
}

/* Takes the first constraint for each bit; numbers the arguments in the order of bits. */
static int events_take_constraints(const struct events_vtab *v, sqlite3_index_info *info)
{
	int plan = 0, arg = 0;

	for (int bit = PLAN_KIND; bit <= PLAN_UNTIL; bit <<= 1) {
		for (int i = 0; i < info->nConstraint && !(plan & bit); i++) {
			if (plan_bit(v, &info->aConstraint[i]) != bit)
				continue;
			if (bit == PLAN_KIND && strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
				continue;
			plan |= bit;
			info->aConstraintUsage[i].argvIndex = ++arg;
		}
	}
	return plan;
}

static int events_take_order(const struct events_vtab *v, const sqlite3_index_info *info)
{
	if (info->nOrderBy != 1 || info->aOrderBy[0].desc)
		return 0;
	if (info->aOrderBy[0].iColumn == COL_TIME)
		return PLAN_BY_TIME;
	return info->aOrderBy[0].iColumn == COL_KIND && !v->source->kind ? PLAN_BY_KIND : 0;
}

static char *events_plan_text(int plan, sqlite3_uint64 columns)
{
	return sqlite3_mprintf(
		"%s%s%s%s%s%s%scolumns=%llx", plan & PLAN_KIND ? "kind=? " : "",
		plan & PLAN_PROC ? "proc=? " : "", plan & PLAN_THREAD ? "thread=? " : "",
		plan & PLAN_FROM ? "ts_ns>=? " : "", plan & PLAN_UNTIL ? "ts_ns<=? " : "",
		plan & PLAN_BY_TIME ? "by ts_ns " : "", plan & PLAN_BY_KIND ? "by kind " : "",
		columns);
}

/* How many events there are of the table's kind, and how many lie in blocks that have it. */
static void count_events(const struct events_vtab *v, double *events, double *in_blocks)
{
	const struct trc_reader *r = trc_model_reader(v->source->m);

	*events = *in_blocks = 10;
	for (size_t b = 0; b < trc_reader_blocks(r); b++) {
		const struct trc_block_info *block = trc_reader_block(r, b);
		uint32_t n = v->source->kind ? block->kind_count[v->source->kind] : block->n_events;

		*events += n;
		*in_blocks += n ? block->n_events : 0;
	}
}

/* Blocks are passed over by kind, proc and time; within a block each event is looked at. */
int trc_events_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct events_vtab *v = (const struct events_vtab *)vtab;
	const struct trc_reader *r = trc_model_reader(v->source->m);
	int plan = events_take_constraints(v, info);
	int order = events_take_order(v, info);
	double rows, looked_at;

	count_events(v, &rows, &looked_at);
	rows /= plan & PLAN_KIND ? 10 : 1;
	rows /= plan & PLAN_THREAD ? (double)trc_reader_threads(r) + 1 : 1;
	for (int bit = PLAN_PROC; bit <= PLAN_UNTIL; bit <<= 1) {
		rows /= plan & bit && bit != PLAN_THREAD ? 4 : 1;
		looked_at /= plan & bit && bit != PLAN_THREAD ? 4 : 1;
	}
	info->orderByConsumed = order != 0;
	info->idxNum = plan | order;
	info->idxStr = events_plan_text(info->idxNum, info->colUsed);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = looked_at / 8 + rows * 2;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
