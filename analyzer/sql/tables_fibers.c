/* tables_fibers.c - the tables of fibers; see table.h.  They are named by their numbers. */
#include "columns.h"

/* end - start, where both are known. */
static void set_between(struct trc_sql_value *value, int64_t start_ns, int64_t end_ns)
{
	if (start_ns != TRC_NEVER && end_ns != TRC_NEVER)
		trc_sql_set_integer(value, end_ns - start_ns);
}

static int64_t until(const struct trc_model *m, int64_t end_ns)
{
	return end_ns == TRC_NEVER ? trc_model_end_ns(m) : end_ns;
}

CALL(fiber_creator)
{
	trc_sql_set_fiber(m, ((const struct trc_fiber *)row)->creator, value);
}

CALL(fiber_state)
{
	static const char *const name[] = {
		[TRC_FIBER_UNKNOWN] = "unknown", [TRC_FIBER_NEW] = "new",
		[TRC_FIBER_RUNNING] = "running", [TRC_FIBER_RUNNABLE] = "runnable",
		[TRC_FIBER_WAITING] = "waiting", [TRC_FIBER_ENDED] = "ended",
	};

	trc_sql_set_text(value, name[((const struct trc_fiber *)row)->state]);
}

ROWS(fibers)
static const struct trc_sql_column fibers_columns[] = {
	{"id", "INTEGER", TRC_FIELD_U64, F(fiber, fiber), IS_ID,
	 .doc = "its number in the process, never used again"},
	{"name", "TEXT", TRC_FIELD_TEXT, F(fiber, name), .indexed = true, .doc = "its name"},
	{"created_ns", "INTEGER", TRC_FIELD_NS, F(fiber, created_ns),
	 .doc = "when it was made; NULL = before recording began, or not known"},
	{"ended_ns", "INTEGER", TRC_FIELD_NS, F(fiber, ended_ns),
	 .doc = "when it ended; NULL = it did not, or not known"},
	{"creator_thread", "INTEGER", TRC_FIELD_ID32, F(fiber, creator_thread), .of = "threads",
	 .doc = "the thread that made it"},
	{"creator", "INTEGER", TRC_FIELD_CALL, 0, fiber_creator, .of = "fibers",
	 .doc = "the fiber that made it; NULL = the thread's root fiber, or not known"},
	{"create_stack", "INTEGER", TRC_FIELD_ID32, F(fiber, create_stack), .of = "stacks",
	 .doc = "where it was made"},
	{"runs", "INTEGER", TRC_FIELD_U32, F(fiber, n_runs), .doc = "its rows in fiber_runs"},
	{"run_ns", "INTEGER", TRC_FIELD_I64, F(fiber, run_ns),
	 .doc = "how long those were, up to the end of the trace"},
	{"runnable_ns", "INTEGER", TRC_FIELD_I64, F(fiber, runnable_ns),
	 .doc = "how long it could have run, and did not: from when it yielded, or was made ready, "
		"to when it ran"},
	{"waits", "INTEGER", TRC_FIELD_U32, F(fiber, n_waits), .doc = "its rows in fiber_waits"},
	{"waited_ns", "INTEGER", TRC_FIELD_I64, F(fiber, waited_ns),
	 .doc = "how long it waited, up to when it was made ready, where that is known"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, fiber_state,
	 .doc = "when the trace ends: new: made, never ran; running; runnable: it yielded, or was "
		"made ready; waiting; ended; unknown"},
};

CALL(run_fiber)
{
	trc_sql_set_fiber(m, ((const struct trc_fiber_run *)row)->fiber, value);
}

CALL(run_duration)
{
	const struct trc_fiber_run *run = row;

	set_between(value, run->start_ns, run->end_ns);
}

CALL(run_state)
{
	uint8_t flags = ((const struct trc_fiber_run *)row)->flags;

	trc_sql_set_text(value, flags & TRC_FIBER_RUN_OPEN    ? "open"
				: flags & TRC_FIBER_RUN_LOST  ? "lost"
				: flags & TRC_FIBER_RUN_ENDED ? "last"
							      : "left");
}

CALL(run_cut)
{
	const struct trc_fiber_run *run = row;

	trc_sql_set_integer(value, (run->flags & TRC_FIBER_RUN_CUT) != 0);
}

ROWS(fiber_runs)
static const struct trc_sql_column fiber_runs_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by start"},
	{"fiber", "INTEGER", TRC_FIELD_CALL, 0, run_fiber, .indexed = true, .of = "fibers",
	 .doc = "which fiber"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(fiber_run, thread), .indexed = true,
	 .of = "threads", .doc = "on which thread"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(fiber_run, start_ns), IN_ORDER,
	 .doc = "when it was switched to"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(fiber_run, end_ns),
	 .doc = "when it was left; NULL = still running at the end"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, run_duration, .doc = "end_ns - start_ns"},
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(fiber_run, reason),
	 .doc = "why it was left; NULL = it could go on, or not known"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, run_state,
	 .doc = "left; last: it did not run again until it ended; open: still running at the end; "
		"lost: the switch away from it is missing, end_ns is where the gap begins"},
	{"cut", "INTEGER", TRC_FIELD_CALL, 0, run_cut,
	 .doc = "1 = it began before start_ns, which is where the window of a snapshot begins, or a "
		"gap ends in which the switch to it was lost; or it may have: its "
		"thread was there before recording began, and that is when it was first seen"},
};

CALL(wait_fiber)
{
	trc_sql_set_fiber(m, ((const struct trc_fiber_wait *)row)->fiber, value);
}

CALL(wait_object)
{
	const struct trc_fiber_wait *wait = row;

	if (wait->reason)
		trc_sql_set_integer(value, (int64_t)wait->object);
}

CALL(wait_waker_fiber)
{
	trc_sql_set_fiber(m, ((const struct trc_fiber_wait *)row)->waker_fiber, value);
}

CALL(wait_duration)
{
	const struct trc_fiber_wait *wait = row;

	set_between(value, wait->start_ns, wait->end_ns);
}

CALL(wait_waited)
{
	const struct trc_fiber_wait *wait = row;

	set_between(value, wait->start_ns, until(m, wait->end_ns));
}

CALL(wait_latency)
{
	const struct trc_fiber_wait *wait = row;

	if (!(wait->flags & (TRC_FIBER_WAIT_ENDED | TRC_FIBER_WAIT_LOST)))
		set_between(value, wait->ready_ns, wait->end_ns);
}

CALL(wait_state)
{
	uint8_t flags = ((const struct trc_fiber_wait *)row)->flags;

	trc_sql_set_text(value, flags & TRC_FIBER_WAIT_OPEN    ? "open"
				: flags & TRC_FIBER_WAIT_LOST  ? "lost"
				: flags & TRC_FIBER_WAIT_ENDED ? "never ran"
							       : "ended");
}

CALL(wait_cut)
{
	const struct trc_fiber_wait *wait = row;

	trc_sql_set_integer(value, (wait->flags & TRC_FIBER_WAIT_CUT) != 0);
}

ROWS(fiber_waits)
static const struct trc_sql_column fiber_waits_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by start"},
	{"fiber", "INTEGER", TRC_FIELD_CALL, 0, wait_fiber, .indexed = true, .of = "fibers",
	 .doc = "the fiber that waits"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(fiber_wait, thread), .of = "threads",
	 .doc = "the thread that it was left on; NULL = not known: it is cut"},
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(fiber_wait, reason),
	 .doc = "what kind of wait: user: for another fiber or thread; sleep; poll; NULL = not "
		"known: it is cut"},
	{"object", "INTEGER", TRC_FIELD_CALL, 0, wait_object, .indexed = true, .of = "objects",
	 .doc = "what it waits for, as the program's scheduler said; NULL = not known: it is cut"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(fiber_wait, start_ns), IN_ORDER,
	 .doc = "when it was left"},
	{"ready_ns", "INTEGER", TRC_FIELD_NS, F(fiber_wait, ready_ns),
	 .doc = "when it was made ready; start_ns if that was before it was left; NULL = it was not, or "
		"the scheduler does not say"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(fiber_wait, end_ns),
	 .doc = "when it ran again; NULL = it did not until the end"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, wait_duration,
	 .doc = "end_ns - start_ns; NULL = it did not run until the end"},
	{"waited_ns", "INTEGER", TRC_FIELD_CALL, 0, wait_waited,
	 .doc = "the same, but up to the end of the trace if it did not run"},
	{"ready_latency_ns", "INTEGER", TRC_FIELD_CALL, 0, wait_latency,
	 .doc = "end_ns - ready_ns: how long it could have run already"},
	{"end_thread", "INTEGER", TRC_FIELD_ID32, F(fiber_wait, end_thread), .of = "threads",
	 .doc = "the thread that it ran on then"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(fiber_wait, stack), .indexed = true, .of = "stacks",
	 .doc = "where it waited"},
	{"labels", "INTEGER", TRC_FIELD_ID32, F(fiber_wait, labels), .indexed = true,
	 .of = "labels", .doc = "its label set"},
	{"waker_thread", "INTEGER", TRC_FIELD_ID32, F(fiber_wait, waker_thread), .of = "threads",
	 .doc = "the thread that made it ready"},
	{"waker_fiber", "INTEGER", TRC_FIELD_CALL, 0, wait_waker_fiber, .of = "fibers",
	 .doc = "the fiber that did; NULL = waker_thread's root fiber, or not known"},
	{"waker_stack", "INTEGER", TRC_FIELD_ID32, F(fiber_wait, waker_stack), .of = "stacks",
	 .doc = "where it did so"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, wait_state,
	 .doc = "ended; open: it did not run until the end of the trace; never ran: the fiber ended "
		"at end_ns instead; lost: it ran again unseen, in the gap that begins at end_ns"},
	{"cut", "INTEGER", TRC_FIELD_CALL, 0, wait_cut,
	 .doc = "1 = it began before the window of a snapshot: start_ns is where that begins, and the "
		"wait lasted longer than it says"},
};

#define TABLE(table, row, doc)                                                                     \
	{                                                                                          \
#table, doc, TRC_PART_FIBERS, table##_columns, N(table##_columns),                 \
			sizeof(struct trc_##row), table##_rows, NULL                               \
	}

const struct trc_sql_table trc_sql_fiber_tables[] = {
	TABLE(fibers, fiber, "the fibers of the program's own scheduler"),
	TABLE(fiber_runs, fiber_run, "when each fiber ran, and on which thread"),
	TABLE(fiber_waits, fiber_wait,
	      "what fibers waited for, from where they were left until they ran again"),
};
const size_t trc_sql_n_fiber_tables = N(trc_sql_fiber_tables);
