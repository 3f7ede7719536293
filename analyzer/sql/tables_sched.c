/* tables_sched.c - the table of how long threads waited for a proc; see table.h. */
#include "columns.h"

CALL(latency_ns)
{
	const struct trc_latency *latency = row;

	trc_sql_set_integer(value, latency->running_ns - latency->woken_ns);
}

CALL(latency_kind)
{
	const struct trc_latency *latency = row;

	trc_sql_set_text(value, latency->kind == TRC_LATENCY_WOKEN ? "woken"
				: latency->kind == TRC_LATENCY_NEW ? "new"
								   : "preempted");
}

CALL(latency_other)
{
	const struct trc_latency *latency = row;

	trc_sql_set_integer(value, latency->running_ns - latency->woken_ns - latency->own_ns);
}

ROWS(latencies)
static const struct trc_sql_column latency_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by woken_ns"},
	{"thread", "INTEGER", TRC_FIELD_U32, F(latency, thread), .indexed = true, .of = "threads",
	 .doc = "the thread that could run"},
	{"kind", "TEXT", TRC_FIELD_CALL, 0, latency_kind,
	 .doc = "woken: another thread ended its wait; new: it was created; preempted: it was taken off its "
		"proc, and could have gone on"},
	{"woken_ns", "INTEGER", TRC_FIELD_NS, F(latency, woken_ns), IN_ORDER,
	 .doc = "since when it could run"},
	{"running_ns", "INTEGER", TRC_FIELD_NS, F(latency, running_ns), .doc = "when it ran"},
	{"latency_ns", "INTEGER", TRC_FIELD_CALL, 0, latency_ns, .doc = "running_ns - woken_ns"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(latency, proc), .of = "procs", .doc = "where it ran"},
	{"waker_thread", "INTEGER", TRC_FIELD_ID32, F(latency, waker), .of = "threads",
	 .doc = "who ended its wait, or created it; NULL = it was preempted"},
	{"park", "INTEGER", TRC_FIELD_ID32, F(latency, park), .indexed = true, .of = "parks",
	 .doc = "that wait's id in parks"},
	{"instead_proc", "INTEGER", TRC_FIELD_PROC, F(latency, instead_proc), .of = "procs",
	 .doc = "the proc that the next columns look at: where it was taken off; of others, where it ran "
		"then"},
	{"own_ns", "INTEGER", TRC_FIELD_I64, F(latency, own_ns),
	 .doc = "how much of latency_ns that proc ran threads of the program"},
	{"other_ns", "INTEGER", TRC_FIELD_CALL, 0, latency_other,
	 .doc = "the rest: other programs had it, or the kernel, or it was idle"},
	{"instead_thread", "INTEGER", TRC_FIELD_ID32, F(latency, instead), .of = "threads",
	 .doc = "the program's thread that it ran longest meanwhile; NULL = none"},
	{"instead_ns", "INTEGER", TRC_FIELD_NS, F(latency, instead_ns), .doc = "for how long"},
};

const struct trc_sql_table trc_sql_sched_tables[] = {
	{"sched_latency", "from when threads could run until they ran", TRC_PART_LATENCIES,
	 latency_columns, N(latency_columns), sizeof(struct trc_latency), latencies_rows, NULL},
};
const size_t trc_sql_n_sched_tables = N(trc_sql_sched_tables);
