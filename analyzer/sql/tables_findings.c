/* tables_findings.c - the table of what is wrong with the program; see table.h. */
#include "analyzer/findings/findings.h"
#include "columns.h"

static const struct trc_finding *finding_of(const void *row)
{
	return row;
}

CALL(finding_id)
{
	trc_sql_set_integer(value, (int64_t)i + 1);
}

CALL(finding_kind)
{
	trc_sql_set_text(value, trc_finding_kind_name(finding_of(row)->kind));
}

CALL(finding_severity)
{
	trc_sql_set_text(value, trc_severity_name(finding_of(row)->severity));
}

CALL(finding_cost)
{
	if (finding_of(row)->cost_ns > 0)
		trc_sql_set_integer(value, finding_of(row)->cost_ns);
}

CALL(finding_sentence)
{
	trc_sql_set_text(value, finding_of(row)->sentence);
}

CALL(finding_why)
{
	trc_sql_set_text(value, finding_of(row)->why);
}

CALL(finding_remedy)
{
	trc_sql_set_text(value, trc_finding_remedy(finding_of(row)));
}

CALL(finding_sql)
{
	trc_sql_set_text(value, finding_of(row)->sql);
}

static const struct trc_sql_column finding_columns[] = {
	{"id", "INTEGER", TRC_FIELD_CALL, 0, finding_id, .doc = "1, 2, ..., most harmful first"},
	{"kind", "TEXT", TRC_FIELD_CALL, 0, finding_kind,
	 .doc = "crash, killed, deadlock, abandoned_lock, lock, lock_blocking, lock_preempted, lock_convoy, lock_procs, "
		"own_lock, interpreter_lock, procs, procs_taken, slow_stage, barrier_imbalance, late_thread, waited_for, "
		"one_worker, poll_loop, herd, task_tail, lock_order, lost, nothing, narrowed or unnamed: what each is "
		"stands below the table in docs/schema.md"},
	{"severity", "TEXT", TRC_FIELD_CALL, 0, finding_severity,
	 .doc = "alarm: the program failed; risk: it could have failed; cost: it lost time; note"},
	{"cost_ns", "INTEGER", TRC_FIELD_CALL, 0, finding_cost,
	 .doc = "how much time of threads it took, summed; NULL = not known"},
	{"sentence", "TEXT", TRC_FIELD_CALL, 0, finding_sentence, .doc = "what it is"},
	{"why", "TEXT", TRC_FIELD_CALL, 0, finding_why,
	 .doc = "what it was due to; NULL = not known"},
	{"remedy", "TEXT", TRC_FIELD_CALL, 0, finding_remedy, .doc = "what one would do"},
	{"sql", "TEXT", TRC_FIELD_CALL, 0, finding_sql, .doc = "a query for the rows that show it"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(finding, start_ns),
	 .doc = "where to look: from when; NULL = not known"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(finding, end_ns), .doc = "until when"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(finding, thread), .of = "threads",
	 .doc = "at which thread"},
	{"park", "INTEGER", TRC_FIELD_ID32, F(finding, park), .of = "parks",
	 .doc = "the id in parks of the longest wait"},
};

const struct trc_sql_table trc_sql_finding_tables[] = {
	{"findings", "what is wrong with the program, most harmful first", 0, finding_columns,
	 N(finding_columns), sizeof(struct trc_finding), NULL, trc_findings},
};
const size_t trc_sql_n_finding_tables = N(trc_sql_finding_tables);
