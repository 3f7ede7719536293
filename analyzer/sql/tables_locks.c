/* tables_locks.c - the table of the order in which threads take locks; see table.h. */
#include "columns.h"

CALL(lock_order_threads)
{
	const struct trc_lock_edge *edge = row;

	trc_sql_set_text(value, edge->several_threads ? "several" : "one");
}

CALL(lock_order_guard)
{
	const struct trc_lock_edge *edge = row;

	if (edge->n_guards)
		trc_sql_set_integer(value, (int64_t)edge->guard[0]);
}

static const void *lock_order_rows(const struct trc_model *m, size_t *n)
{
	return trc_model_lock_edges(m, n);
}

static const struct trc_sql_column lock_order_columns[] = {
	{"held", "INTEGER", TRC_FIELD_U64, F(lock_edge, held),
	 .doc = "address of the lock that the thread held"},
	{"held_reason", "TEXT", TRC_FIELD_REASON, F(lock_edge, held_reason),
	 .doc = "what kind of lock that is, and how it was held"},
	{"held_stack", "INTEGER", TRC_FIELD_ID32, F(lock_edge, held_stack),
	 .doc = "where it had been taken, the first time"},
	{"taken", "INTEGER", TRC_FIELD_U64, F(lock_edge, taken),
	 .doc = "address of the lock that the thread took meanwhile"},
	{"taken_reason", "TEXT", TRC_FIELD_REASON, F(lock_edge, taken_reason),
	 .doc = "what kind of lock that is, and how it was taken"},
	{"taken_stack", "INTEGER", TRC_FIELD_ID32, F(lock_edge, taken_stack),
	 .doc = "where it was taken, the first time"},
	{"thread", "INTEGER", TRC_FIELD_U32, F(lock_edge, thread),
	 .doc = "who did so the first time"},
	{"threads", "TEXT", TRC_FIELD_CALL, 0, lock_order_threads,
	 .doc = "one: only this thread did so; several"},
	{"times", "INTEGER", TRC_FIELD_U64, F(lock_edge, count), .doc = "how often"},
	{"first_ns", "INTEGER", TRC_FIELD_NS, F(lock_edge, first_ns), .doc = "the first time"},
	{"last_ns", "INTEGER", TRC_FIELD_NS, F(lock_edge, last_ns), .doc = "the last time"},
	{"guard", "INTEGER", TRC_FIELD_CALL, 0, lock_order_guard,
	 .doc = "address of a lock that was held each time, besides; NULL = there is none"},
	{"deadlock", "INTEGER", TRC_FIELD_ID32, F(lock_edge, deadlock),
	 .doc = "rows with the same number could be a deadlock; NULL = in none"},
};

const struct trc_sql_table trc_sql_lock_tables[] = {
	{"lock_order", "which locks threads took while they held which; with --locks=all",
	 TRC_PART_LOCK_ORDER, lock_order_columns, N(lock_order_columns),
	 sizeof(struct trc_lock_edge), lock_order_rows, NULL},
};
const size_t trc_sql_n_lock_tables = N(trc_sql_lock_tables);
