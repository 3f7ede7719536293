/* tables_samples.c - the tables of what was sampled; see table.h. */
#include "columns.h"

FIBER(sample, thread, ts_ns, place)
ROWS(samples)
static const struct trc_sql_column samples_columns[] = {
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(sample, ts_ns), IN_ORDER, .doc = "when"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(sample, proc), .of = "procs",
	 .doc = "where the thread ran"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(sample, thread), .indexed = true, .of = "threads",
	 .doc = "the thread whose counter or timer it was"},
	{"event", "INTEGER", TRC_FIELD_ID32, F(sample, event), .indexed = true,
	 .of = "sample_events", .doc = "what was sampled: an id in sample_events"},
	{"value", "INTEGER", TRC_FIELD_U64, F(sample, value),
	 .doc = "how much of that this sample stands for, in its unit"},
	{"scaled_value", "INTEGER", TRC_FIELD_U64, F(sample, scaled),
	 .doc = "value, and its part of those that were lost and are made up for"},
	{"period", "INTEGER", TRC_FIELD_U64, F(sample, period),
	 .doc = "how much of it lay between two samples then"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(sample, stack), .indexed = true, .of = "stacks",
	 .doc = "where the thread was"},
	{"labels", "INTEGER", TRC_FIELD_ID32, F(sample, labels), .indexed = true, .of = "labels",
	 .doc = "the label set that it had"},
	{"source", "TEXT", TRC_FIELD_SOURCE, F(sample, source),
	 .doc = "who took it: ring, overflow: the thread itself; kernel: the kernel"},
	{"fiber", "INTEGER", TRC_FIELD_FIBER, 0, sample_fiber, .of = "fibers",
	 .doc = "the fiber that the thread was in; NULL = its root fiber, or not known"},
};

CALL(event_how)
{
	const struct trc_sample_event *event = row;

	if (event->how)
		trc_sql_set_text(value, trc_sample_how_name(event->how));
}

ROWS(sample_events)
static const struct trc_sql_column sample_events_columns[] = {
	{"id", "INTEGER", TRC_FIELD_U32, F(sample_event, event), IS_ID,
	 .doc = "its number; of two profiles in one trace each has its own"},
	{"name", "TEXT", TRC_FIELD_TEXT, F(sample_event, name),
	 .doc = "as it was asked for: cpu-clock, cycles:u, ..."},
	{"unit", "TEXT", TRC_FIELD_TEXT, F(sample_event, unit), .doc = "nanoseconds, or count"},
	{"how", "TEXT", TRC_FIELD_CALL, 0, event_how,
	 .doc = "timer: by a timer of each thread's CPU time, of cpu-clock after a counter (see note); "
		"signal: by a counter that signals "
		"the thread; kernel: by the kernel itself"},
	{"period", "INTEGER", TRC_FIELD_ID64, F(sample_event, period),
	 .doc = "how much of it lies between two samples; NULL = adjusted to the frequency"},
	{"frequency_hz", "INTEGER", TRC_FIELD_ID64, F(sample_event, frequency_hz),
	 .doc = "samples per second of CPU time that were asked for; NULL = a period was"},
	{"samples", "INTEGER", TRC_FIELD_U64, F(sample_event, n_samples),
	 .doc = "its rows in samples"},
	{"value", "INTEGER", TRC_FIELD_U64, F(sample_event, value),
	 .doc = "the values of those, summed: how much of it there was"},
	{"scaled_value", "INTEGER", TRC_FIELD_U64, F(sample_event, scaled),
	 .doc = "the same of their scaled_value"},
	{"unseen_value", "INTEGER", TRC_FIELD_U64, F(sample_event, unseen),
	 .doc = "how much of it no sample stands for: of all there was this and scaled_value"},
	{"lost_samples", "INTEGER", TRC_FIELD_U64, F(sample_event, lost_samples),
	 .doc = "how many are missing; samples_lost tells why"},
	{"missing_threads", "INTEGER", TRC_FIELD_U64, F(sample_event, missing_threads),
	 .doc = "threads that were not sampled: there were no descriptors or memory left"},
	{"note", "TEXT", TRC_FIELD_TEXT, F(sample_event, note),
	 .doc = "what is worth knowing: why it was not another event, that callers are missing, ..."},
};

CALL(lost_cause)
{
	trc_sql_set_text(value,
			 trc_sample_loss_name(((const struct trc_samples_lost *)row)->cause));
}

ROWS(samples_lost)
static const struct trc_sql_column samples_lost_columns[] = {
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(samples_lost, ts_ns), IN_ORDER,
	 .doc = "when it was noticed"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(samples_lost, proc), .of = "procs",
	 .doc = "on which proc"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(samples_lost, thread), .of = "threads",
	 .doc = "whose samples; NULL = not known, or of several"},
	{"event", "INTEGER", TRC_FIELD_ID32, F(samples_lost, event), .of = "sample_events",
	 .doc = "of which event: an id in sample_events; NULL = of any"},
	{"lost_samples", "INTEGER", TRC_FIELD_U64, F(samples_lost, lost_samples),
	 .doc = "how many"},
	{"made_up", "INTEGER", TRC_FIELD_BOOL, F(samples_lost, made_up),
	 .doc = "1 = the scaled_value of samples has them; 0 = no sample stands for them"},
	{"cause", "TEXT", TRC_FIELD_CALL, 0, lost_cause,
	 .doc = "busy: the thread was being sampled or recording, or blocked SIGPROF, or a system call "
		"went on; not_ours: the program closed the counter; no_room: the kernel's buffer was full; throttled: the kernel stopped the "
		"counter; no_thread: the thread never "
		"recorded anything, or ended before its sample came; short: of CPU time that came to "
		"no sample of the kernel's, mostly in threads shorter than a period; unarmed: "
		"used as threads began and ended, where nothing samples them yet or any more"},
};

#define TABLE(table, row, doc)                                                                     \
	{                                                                                          \
#table, doc, TRC_PART_SAMPLES, table##_columns, N(table##_columns),                \
			sizeof(struct trc_##row), table##_rows, NULL                               \
	}

const struct trc_sql_table trc_sql_sample_tables[] = {
	TABLE(samples, sample,
	      "where threads were when they had used up another share of CPU time, "
	      "or of what else was counted"),
	TABLE(sample_events, sample_event, "what was sampled, and how"),
	TABLE(samples_lost, samples_lost, "samples that were due, and were not taken or not kept"),
};
const size_t trc_sql_n_sample_tables = N(trc_sql_sample_tables);
