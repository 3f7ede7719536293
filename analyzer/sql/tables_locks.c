/*
 * tables_locks.c - the tables of locks, of when they were held, and of the order in which threads take
 * them; see table.h.
 */
#include "analyzer/model/descriptors.h"
#include "analyzer/model/lock_sums.h"
#include "analyzer/model/preempted.h"
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
	{"held", "INTEGER", TRC_FIELD_U64, F(lock_edge, held), .of = "objects",
	 .doc = "address of the lock that the thread held"},
	{"held_reason", "TEXT", TRC_FIELD_REASON, F(lock_edge, held_reason),
	 .doc = "what kind of lock that is, and how it was held"},
	{"held_stack", "INTEGER", TRC_FIELD_ID32, F(lock_edge, held_stack), .of = "stacks",
	 .doc = "where it had been taken, the first time"},
	{"taken", "INTEGER", TRC_FIELD_U64, F(lock_edge, taken), .of = "objects",
	 .doc = "address of the lock that the thread took meanwhile"},
	{"taken_reason", "TEXT", TRC_FIELD_REASON, F(lock_edge, taken_reason),
	 .doc = "what kind of lock that is, and how it was taken"},
	{"taken_stack", "INTEGER", TRC_FIELD_ID32, F(lock_edge, taken_stack), .of = "stacks",
	 .doc = "where it was taken, the first time"},
	{"thread", "INTEGER", TRC_FIELD_U32, F(lock_edge, thread), .of = "threads",
	 .doc = "who did so the first time"},
	{"threads", "TEXT", TRC_FIELD_CALL, 0, lock_order_threads,
	 .doc = "one: only this thread did so; several"},
	{"times", "INTEGER", TRC_FIELD_U64, F(lock_edge, count), .doc = "how often"},
	{"first_ns", "INTEGER", TRC_FIELD_NS, F(lock_edge, first_ns), .doc = "the first time"},
	{"last_ns", "INTEGER", TRC_FIELD_NS, F(lock_edge, last_ns), .doc = "the last time"},
	{"guard", "INTEGER", TRC_FIELD_CALL, 0, lock_order_guard, .of = "objects",
	 .doc = "address of a lock that was held each time, besides; NULL = there is none"},
	{"deadlock", "INTEGER", TRC_FIELD_ID32, F(lock_edge, deadlock),
	 .doc = "rows with the same number could be a deadlock; NULL = in none"},
	{"held_life", "INTEGER", TRC_FIELD_U32, F(lock_edge, held_life),
	 .doc = "of locks that lay at the held one's address one after the other, as far as allocations were "
		"sampled, which one it is"},
	{"taken_life", "INTEGER", TRC_FIELD_U32, F(lock_edge, taken_life),
	 .doc = "of those at the taken one's address"},
};

/* --- holds --- */

CALL(hold_duration)
{
	const struct trc_hold *hold = row;
	int64_t ns;

	if (hold->end_ns != TRC_NEVER && !__builtin_sub_overflow(hold->end_ns, hold->start_ns, &ns))
		trc_sql_set_integer(value, ns);
}

CALL(hold_preempted)
{
	const struct trc_hold *hold = row;
	const struct trc_preempted *preempted = trc_model_preempted(m);
	int64_t end_ns = hold->end_ns == TRC_NEVER ? trc_model_end_ns(m) : hold->end_ns;

	if (trc_preempted_known(preempted))
		trc_sql_set_integer(
			value, trc_preempted_ns(preempted, hold->thread, hold->start_ns, end_ns));
}

ROWS(holds)
static const struct trc_sql_column hold_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by start"},
	{"thread", "INTEGER", TRC_FIELD_U32, F(hold, thread), .indexed = true, .of = "threads",
	 .doc = "who held the lock"},
	{"reason", "TEXT", TRC_FIELD_REASON, F(hold, reason),
	 .doc = "what kind of lock, and how it was held"},
	{"object", "INTEGER", TRC_FIELD_U64, F(hold, object), .indexed = true, .of = "objects",
	 .doc = "address of the lock"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(hold, start_ns), IN_ORDER,
	 .doc = "when it was taken"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(hold, end_ns),
	 .doc = "when it was given back; NULL = not in the trace"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, hold_duration, .doc = "end_ns - start_ns"},
	{"preempted_ns", "INTEGER", TRC_FIELD_PREEMPTED, 0, hold_preempted,
	 .doc = "how long its holder could have run and had no proc; NULL without switch records"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(hold, stack), .indexed = true, .of = "stacks",
	 .doc = "where it was taken"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(hold, proc), .of = "procs", .doc = "on which proc"},
	{"tried", "INTEGER", TRC_FIELD_BOOL, F(hold, tried),
	 .doc = "1 = by a call that would not have waited"},
};

/* --- locks --- */

static const struct trc_object *row_lock_object(const struct trc_model *m, const void *row)
{
	const struct trc_lock_sum *sum = row;

	return trc_model_object(m, sum->kind, sum->object);
}

CALL(lock_kind)
{
	trc_sql_set_text(value, trc_lock_sum_kind(row));
}

CALL(lock_name)
{
	const struct trc_lock_sum *sum = row;
	const struct trc_descriptor_name *file = trc_model_descriptor(m, sum->descriptor);
	const struct trc_object *object = row_lock_object(m, row);

	if (object)
		trc_sql_set_text(value, object->name);
	else if (file)
		trc_sql_set_text(value, file->name);
}

CALL(lock_symbol)
{
	const struct trc_object *object = row_lock_object(m, row);

	if (object)
		trc_sql_set_text(value, object->symbol);
}

CALL(lock_allocated)
{
	const struct trc_object *object = row_lock_object(m, row);

	if (object && object->allocated_at)
		trc_sql_set_integer(value, object->allocated_at);
}

CALL(lock_holds_from)
{
	static const char *const NAME[] = {
		[TRC_HOLDS_NONE] = NULL,
		[TRC_HOLDS_ALL] = "all",
		[TRC_HOLDS_CONTENDED] = "contended",
	};
	const struct trc_lock_sum *sum = row;

	trc_sql_set_text(value, NAME[sum->holds_from]);
}

static bool is_rwlock(const void *row)
{
	return ((const struct trc_lock_sum *)row)->kind == TRC_REASON_RWLOCK_READ;
}

#define OF_RWLOCK(name, known, expression)                                                         \
	CALL(lock_##name)                                                                          \
	{                                                                                          \
		const struct trc_lock_sum *sum = row;                                              \
                                                                                                   \
		if (is_rwlock(row) && (known))                                                     \
			trc_sql_set_integer(value, (int64_t)(expression));                         \
	}
OF_RWLOCK(read_waits, true, sum->waits.n - sum->write_waits)
OF_RWLOCK(write_waits, true, sum->write_waits)
OF_RWLOCK(read_waited, true, sum->waits.total_ns - sum->write_waited_ns)
OF_RWLOCK(write_waited, true, sum->write_waited_ns)
OF_RWLOCK(read_holds, sum->holds.n, sum->holds.n - sum->write_holds)
OF_RWLOCK(write_holds, sum->holds.n, sum->write_holds)
OF_RWLOCK(read_held, sum->holds.n, sum->holds.total_ns - sum->write_held_ns)
OF_RWLOCK(write_held, sum->holds.n, sum->write_held_ns)

/* Of holds: if none is known they are not 0. */
#define OF_HOLDS(name, expression)                                                                 \
	CALL(lock_##name)                                                                          \
	{                                                                                          \
		const struct trc_lock_sum *sum = row;                                              \
                                                                                                   \
		if (sum->holds.n && (int64_t)(expression) != TRC_NEVER)                            \
			trc_sql_set_integer(value, (int64_t)(expression));                         \
	}
OF_HOLDS(holds, (int64_t)sum->holds.n)
OF_HOLDS(held, sum->holds.total_ns)
OF_HOLDS(holds_preempted, sum->holds_preempted_ns)

#define OF_CONVOY(name)                                                                            \
	CALL(lock_##name)                                                                          \
	{                                                                                          \
		const struct trc_lock_sum *sum = row;                                              \
                                                                                                   \
		if (sum->convoy_handovers)                                                         \
			trc_sql_set_integer(value, (int64_t)sum->name);                            \
	}
OF_CONVOY(convoy_start_ns)
OF_CONVOY(convoy_ns)
OF_CONVOY(convoy_handovers)

static int make_locks(struct trc_model *m, struct trc_array *rows, struct trc_error *error)
{
	struct trc_lock_sums sums;
	int err = trc_model_need(m, TRC_PART_OBJECTS, error);

	if (err)
		return err;
	err = trc_lock_sums_make(&sums, m, true, error);
	trc_index_free(&sums.index);
	*rows = sums.rows; /* the caller's to free, also after a failure */
	return err;
}

#define L(member) F(lock_sum, member)
static const struct trc_sql_column lock_columns[] = {
	{"object", "INTEGER", TRC_FIELD_U64, L(object), .of = "objects",
	 .doc = "its address; of a file lock the descriptor: the object of parks, unlocks, holds"},
	{"kind", "TEXT", TRC_FIELD_CALL, 0, lock_kind,
	 .doc = "mutex, rwlock, spin, once, flock, futex_lock, sem_lock"},
	{"name", "TEXT", TRC_FIELD_CALL, 0, lock_name,
	 .doc = "its name in the report: the variable with the member, or the address; a file's path"},
	{"symbol", "TEXT", TRC_FIELD_CALL, 0, lock_symbol,
	 .doc = "the variable that it is, or lies in; NULL = none that is known"},
	{"allocated_at", "INTEGER", TRC_FIELD_CALL, 0, lock_allocated, .of = "stacks",
	 .doc = "the stack that allocated its memory; known of sampled allocations"},
	{"waits", "INTEGER", TRC_FIELD_U64, L(waits.n), .doc = "how many waits for it"},
	{"threads", "INTEGER", TRC_FIELD_U32, L(threads), .doc = "how many threads waited"},
	{"waited_ns", "INTEGER", TRC_FIELD_I64, L(waits.total_ns),
	 .doc = "how long they waited, summed, up to the end of the trace"},
	{"wait_p50_ns", "INTEGER", TRC_FIELD_NS, L(waits.p50_ns),
	 .doc = "half of the waits were no longer"},
	{"wait_p99_ns", "INTEGER", TRC_FIELD_NS, L(waits.p99_ns),
	 .doc = "99 % of the waits were no longer"},
	{"wait_max_ns", "INTEGER", TRC_FIELD_NS, L(waits.max_ns), .doc = "the longest wait"},
	{"timed_out", "INTEGER", TRC_FIELD_U64, L(timed_out), .doc = "waits that ended so"},
	{"woken_ns", "INTEGER", TRC_FIELD_I64, L(woken_ns),
	 .doc = "of waited_ns: nobody held the lock, and the thread that had been woken for it, or spun, had "
		"not taken it yet"},
	{"read_waits", "INTEGER", TRC_FIELD_CALL, 0, lock_read_waits,
	 .doc = "of a rwlock: waits to read"},
	{"write_waits", "INTEGER", TRC_FIELD_CALL, 0, lock_write_waits, .doc = "waits to write"},
	{"read_waited_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_read_waited,
	 .doc = "how long threads waited to read"},
	{"write_waited_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_write_waited,
	 .doc = "how long threads waited to write"},
	{"holds_from", "TEXT", TRC_FIELD_CALL, 0, lock_holds_from,
	 .doc = "what the next columns count: all, each time that it was held (--locks=all); contended, "
		"sections that tell when they began; NULL = nothing is known"},
	{"holds", "INTEGER", TRC_FIELD_CALL, 0, lock_holds, .doc = "how many; NULL = not known"},
	{"held_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_held, .doc = "how long, summed"},
	{"hold_p50_ns", "INTEGER", TRC_FIELD_NS, L(holds.p50_ns),
	 .doc = "half of the holds were no longer"},
	{"hold_p99_ns", "INTEGER", TRC_FIELD_NS, L(holds.p99_ns),
	 .doc = "99 % of the holds were no longer"},
	{"hold_max_ns", "INTEGER", TRC_FIELD_NS, L(holds.max_ns), .doc = "the longest"},
	{"read_holds", "INTEGER", TRC_FIELD_CALL, 0, lock_read_holds,
	 .doc = "of a rwlock: how often readers held it"},
	{"write_holds", "INTEGER", TRC_FIELD_CALL, 0, lock_write_holds,
	 .doc = "how often writers held it"},
	{"read_held_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_read_held,
	 .doc = "how long readers held it, each counted"},
	{"write_held_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_write_held,
	 .doc = "how long writers held it"},
	{"holds_preempted_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_holds_preempted,
	 .doc = "how much of held_ns its holders could have run and had no proc; NULL without switch "
		"records"},
	{"sections", "INTEGER", TRC_FIELD_U64, L(sections),
	 .doc = "its rows in unlocks that made others wait"},
	{"caused_waits", "INTEGER", TRC_FIELD_U64, L(caused_waits), .doc = "theirs, summed"},
	{"caused_ns", "INTEGER", TRC_FIELD_I64, L(caused_ns), .doc = "theirs, summed"},
	{"preempted_ns", "INTEGER", TRC_FIELD_NS, L(preempted_ns),
	 .doc = "theirs, summed: its holders had no proc while others waited; NULL without switch "
		"records"},
	{"preempted_waits_ns", "INTEGER", TRC_FIELD_NS, L(preempted_waits_ns),
	 .doc = "theirs, summed: how much of caused_ns fell into that"},
	{"convoys", "INTEGER", TRC_FIELD_U64, L(convoys),
	 .doc = "stretches in which it was handed from waiter to waiter, twice or more in a row"},
	{"convoy_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_convoy_ns,
	 .doc = "how long the longest one lasted"},
	{"convoy_handovers", "INTEGER", TRC_FIELD_CALL, 0, lock_convoy_handovers,
	 .doc = "how often the lock was handed over in that one"},
	{"convoy_start_ns", "INTEGER", TRC_FIELD_CALL, 0, lock_convoy_start_ns,
	 .doc = "when that one began"},
};

const struct trc_sql_table trc_sql_lock_tables[] = {
	{"locks", "each lock's waits, holds and convoys", 0, lock_columns, N(lock_columns),
	 sizeof(struct trc_lock_sum), NULL, make_locks},
	{"holds", "when threads held locks; with --locks=all", TRC_PART_HOLDS, hold_columns,
	 N(hold_columns), sizeof(struct trc_hold), holds_rows, NULL},
	{"lock_order", "which locks threads took while they held which; with --locks=all",
	 TRC_PART_LOCK_ORDER, lock_order_columns, N(lock_order_columns),
	 sizeof(struct trc_lock_edge), lock_order_rows, NULL},
};
const size_t trc_sql_n_lock_tables = N(trc_sql_lock_tables);
