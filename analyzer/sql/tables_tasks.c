/* tables_tasks.c - the tables of who worked for tasks, and how that time was spent, and that of regions; see table.h. */
#include "analyzer/causes/task_times.h"
#include "columns.h"

CALL(span_duration)
{
	const struct trc_task_span *span = row;

	trc_sql_set_integer(value, span->to_ns - span->from_ns);
}

CALL(time_state)
{
	trc_sql_set_text(value, trc_task_state_name(((const struct trc_task_time *)row)->state));
}

static const struct trc_sql_column span_columns[] = {
	{"task", "INTEGER", TRC_FIELD_U64, F(task_span, task), .indexed = true, .of = "tasks",
	 .doc = "the task's id"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(task_span, thread), .indexed = true,
	 .of = "threads", .doc = "who worked for it, or for its children"},
	{"from_ns", "INTEGER", TRC_FIELD_NS, F(task_span, from_ns), .doc = "from when"},
	{"to_ns", "INTEGER", TRC_FIELD_NS, F(task_span, to_ns), .doc = "until when"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, span_duration, .doc = "to_ns - from_ns"},
};

static const struct trc_sql_column time_columns[] = {
	{"task", "INTEGER", TRC_FIELD_U64, F(task_time, task), .indexed = true, .of = "tasks",
	 .doc = "the task's id"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(task_time, thread), .of = "threads",
	 .doc = "who worked for it; NULL = nobody did"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, time_state,
	 .doc = "running; runnable, without a proc; active, in no recorded wait, without switch "
		"records; off_cpu, in no recorded wait; waiting, until it was woken; woken, from then "
		"until the wait was over; absent, it had not begun or had ended; unworked, no thread "
		"worked for the task"},
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(task_time, reason),
	 .doc = "of waiting and woken: what kind of wait it was; else NULL"},
	{"ns", "INTEGER", TRC_FIELD_I64, F(task_time, ns), .doc = "for how long, summed"},
};

static const struct trc_sql_column region_time_columns[] = {
	{"region", "INTEGER", TRC_FIELD_U64, F(task_time, task), .indexed = true, .of = "regions",
	 .doc = "the region's id"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(task_time, thread), .of = "threads",
	 .doc = "who was in it; NULL = no thread ran its fiber"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, time_state,
	 .doc = "as in task_times; unworked: no thread ran its fiber"},
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(task_time, reason),
	 .doc = "of waiting and woken: what kind of wait it was; else NULL"},
	{"ns", "INTEGER", TRC_FIELD_I64, F(task_time, ns), .doc = "for how long, summed"},
};

const struct trc_sql_table trc_sql_task_tables[] = {
	{"task_spans", "when which thread worked for which task", 0, span_columns, N(span_columns),
	 sizeof(struct trc_task_span), NULL, trc_task_spans_list},
	{"task_times", "how the threads that worked for a task spent that time", 0, time_columns,
	 N(time_columns), sizeof(struct trc_task_time), NULL, trc_task_times_list},
	{"region_times", "how the threads that were in a region spent that time", 0,
	 region_time_columns, N(region_time_columns), sizeof(struct trc_task_time), NULL,
	 trc_region_times_list},
};
const size_t trc_sql_n_task_tables = N(trc_sql_task_tables);
