/* tables_now.c - the tables of what is so when the trace ends; see table.h. */
#include "analyzer/model/descriptors.h"
#include "columns.h"

static void set_waited(const struct trc_model *m, int64_t since_ns, struct trc_sql_value *value)
{
	if (since_ns != TRC_NEVER)
		trc_sql_set_integer(value, trc_model_end_ns(m) - since_ns);
}

/* --- threads_now --- */

CALL(now_tid)
{
	const struct trc_thread *t =
		trc_model_thread(m, ((const struct trc_thread_now *)row)->thread);

	if (t && t->tid)
		trc_sql_set_integer(value, t->tid);
}

CALL(now_name)
{
	const struct trc_thread *t =
		trc_model_thread(m, ((const struct trc_thread_now *)row)->thread);

	if (t)
		trc_sql_set_text(value, t->name);
}

CALL(now_state)
{
	static const char *const name[] = {
		[TRC_THREAD_UNKNOWN] = "unknown",
		[TRC_THREAD_NOT_WAITING] = "not waiting",
		[TRC_THREAD_WAITING] = "waiting",
	};

	trc_sql_set_text(value, name[((const struct trc_thread_now *)row)->state]);
}

CALL(now_object)
{
	const struct trc_thread_now *now = row;

	if (now->reason)
		trc_sql_set_integer(value, (int64_t)now->object);
}

CALL(now_waited)
{
	set_waited(m, ((const struct trc_thread_now *)row)->since_ns, value);
}

CALL(now_labels)
{
	uint32_t labels = trc_model_labels_at(m, ((const struct trc_thread_now *)row)->thread,
					      INT64_MAX, TRC_PLACE_LAST);

	if (labels)
		trc_sql_set_integer(value, labels);
}

CALL(now_fiber)
{
	uint32_t thread = ((const struct trc_thread_now *)row)->thread;

	trc_sql_set_fiber(m, trc_model_fiber_at(m, thread, INT64_MAX, TRC_PLACE_LAST), value);
}

CALL(now_descriptor)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);
	uint32_t id = ((const struct trc_thread_now *)row)->park;
	const struct trc_descriptor_name *name =
		id && id <= n ? trc_model_descriptor(m, park[id - 1].descriptor) : NULL;

	if (name)
		trc_sql_set_text(value, name->text);
}

ROWS(threads_now)
static const struct trc_sql_column threads_now_columns[] = {
	{"thread", "INTEGER", TRC_FIELD_U32, F(thread_now, thread), IS_ID, .doc = "the thread",
	 .of = "threads"},
	{"tid", "INTEGER", TRC_FIELD_CALL, 0, now_tid, .doc = "the kernel's thread id"},
	{"name", "TEXT", TRC_FIELD_CALL, 0, now_name, .doc = "its name"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, now_state,
	 .doc = "waiting; not waiting: in no wait that is recorded; it runs, or waits for what is not; unknown"},
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(thread_now, reason),
	 .doc = "what kind of wait"},
	{"object", "INTEGER", TRC_FIELD_CALL, 0, now_object, .of = "objects",
	 .doc = "what it waits for: address of the lock, ...; or the descriptor"},
	{"since_ns", "INTEGER", TRC_FIELD_NS, F(thread_now, since_ns),
	 .doc = "when the wait began"},
	{"waited_ns", "INTEGER", TRC_FIELD_CALL, 0, now_waited, .doc = "how long that is ago"},
	{"holder", "INTEGER", TRC_FIELD_ID32, F(thread_now, holder), .of = "threads",
	 .doc = "the thread that holds the lock now; of a join, the one that is joined"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(thread_now, stack), .of = "stacks",
	 .doc = "where it waits; if it does not, or did not record where, the newest stack that it "
		"recorded"},
	{"stack_ns", "INTEGER", TRC_FIELD_NS, F(thread_now, stack_ns),
	 .doc = "when that stack was recorded"},
	{"open_regions", "INTEGER", TRC_FIELD_U32, F(thread_now, n_open_regions),
	 .doc = "how many regions its fiber is in, as far as known"},
	{"region", "TEXT", TRC_FIELD_TEXT, F(thread_now, region), .doc = "type of the innermost"},
	{"task", "INTEGER", TRC_FIELD_ID64, F(thread_now, task), .of = "tasks",
	 .doc = "task of the innermost open region that has one"},
	{"park", "INTEGER", TRC_FIELD_ID32, F(thread_now, park), .of = "parks",
	 .doc = "the wait's id in parks"},
	{"deadlock", "INTEGER", TRC_FIELD_ID32, F(thread_now, deadlock),
	 .doc = "the deadlock that it is in or waits for"},
	{"labels", "INTEGER", TRC_FIELD_CALL, 0, now_labels, .of = "labels",
	 .doc = "its label set"},
	{"fiber", "INTEGER", TRC_FIELD_CALL, 0, now_fiber, .of = "fibers",
	 .doc = "the fiber that it is in; NULL = its root fiber, or not known"},
	{"descriptor", "TEXT", TRC_FIELD_CALL, 0, now_descriptor,
	 .doc = "what the descriptor is that it waits for; NULL = it is none, or not known"},
};

/* --- open_regions --- */

CALL(open_region_fiber)
{
	trc_sql_set_fiber(m, ((const struct trc_open_region *)row)->fiber, value);
}

ROWS(open_regions)
static const struct trc_sql_column open_regions_columns[] = {
	{"thread", "INTEGER", TRC_FIELD_U32, F(open_region, thread), IN_ORDER,
	 .doc = "the thread that is in its fiber; where it began, if none is", .of = "threads"},
	{"depth", "INTEGER", TRC_FIELD_U32, F(open_region, depth), .doc = "0 = outermost"},
	{"task", "INTEGER", TRC_FIELD_ID64, F(open_region, task), .of = "tasks",
	 .doc = "the task that it works for"},
	{"type", "TEXT", TRC_FIELD_TEXT, F(open_region, type), .doc = "its type"},
	{"since_ns", "INTEGER", TRC_FIELD_NS, F(open_region, since_ns), .doc = "when it began"},
	{"fiber", "INTEGER", TRC_FIELD_CALL, 0, open_region_fiber, .of = "fibers",
	 .doc = "whose region it is; NULL = the thread's root fiber, or not known"},
};

/* --- deadlocks and locks --- */

CALL(deadlock_waited)
{
	set_waited(m, ((const struct trc_deadlock *)row)->since_ns, value);
}

CALL(deadlock_role)
{
	trc_sql_set_text(value, ((const struct trc_deadlock *)row)->in_cycle ? "cycle" : "blocked");
}

ROWS(deadlocks)
static const struct trc_sql_column deadlocks_columns[] = {
	{"deadlock", "INTEGER", TRC_FIELD_U32, F(deadlock, deadlock), IN_ORDER,
	 .doc = "which one: 1, 2, ..."},
	{"thread", "INTEGER", TRC_FIELD_U32, F(deadlock, thread), .of = "threads",
	 .doc = "a thread that is kept by it"},
	{"role", "TEXT", TRC_FIELD_CALL, 0, deadlock_role,
	 .doc = "cycle: each of these waits for the next; blocked: it waits for one of those"},
	{"reason", "TEXT", TRC_FIELD_REASON, F(deadlock, reason), .doc = "what kind of wait"},
	{"object", "INTEGER", TRC_FIELD_U64, F(deadlock, object), .of = "objects",
	 .doc = "what it waits for"},
	{"holder", "INTEGER", TRC_FIELD_U32, F(deadlock, holder), .of = "threads",
	 .doc = "the thread that has it"},
	{"since_ns", "INTEGER", TRC_FIELD_NS, F(deadlock, since_ns), .doc = "when the wait began"},
	{"waited_ns", "INTEGER", TRC_FIELD_CALL, 0, deadlock_waited, .doc = "how long that is ago"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(deadlock, stack), .of = "stacks",
	 .doc = "where it waits"},
	{"certain", "INTEGER", TRC_FIELD_BOOL, F(deadlock, certain),
	 .doc = "0 = the holder may have let go since it was seen: what it did is not in the "
		"trace"},
	{"may_end", "INTEGER", TRC_FIELD_BOOL, F(deadlock, may_end),
	 .doc = "1 = the wait has a timeout: one at the same place timed out before"},
};

ROWS(locks_held)
static const struct trc_sql_column locks_held_columns[] = {
	{"thread", "INTEGER", TRC_FIELD_U32, F(lock_held, thread), IN_ORDER, .doc = "who holds it",
	 .of = "threads"},
	{"reason", "TEXT", TRC_FIELD_REASON, F(lock_held, reason), .doc = "what kind of lock"},
	{"object", "INTEGER", TRC_FIELD_U64, F(lock_held, object), .of = "objects",
	 .doc = "address of the lock"},
	{"since_ns", "INTEGER", TRC_FIELD_NS, F(lock_held, since_ns),
	 .doc = "when it was taken; known with --locks=all, or if the thread had waited for it and others still do since "
		"before then"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(lock_held, stack), .of = "stacks",
	 .doc = "where it was taken; likewise"},
	{"waiters", "INTEGER", TRC_FIELD_U32, F(lock_held, waiters),
	 .doc = "how many threads wait for it"},
};

#define TABLE(table, row, doc)                                                                     \
	{                                                                                          \
#table, doc, TRC_PART_NOW | TRC_PART_LABELS, table##_columns, N(table##_columns),  \
			sizeof(struct trc_##row), table##_rows, NULL                               \
	}

const struct trc_sql_table trc_sql_now_tables[] = {
	TABLE(threads_now, thread_now, "what each thread is doing when the trace ends"),
	TABLE(open_regions, open_region, "the regions that are open then"),
	TABLE(deadlocks, deadlock,
	      "threads that wait for each other, and those that wait for them"),
	TABLE(locks_held, lock_held, "the locks that are known to be held then"),
};
const size_t trc_sql_n_now_tables = N(trc_sql_now_tables);
