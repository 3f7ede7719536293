/* tables_rows.c - the tables that are arrays of rows of the model; see table.h. */
#include <stdio.h>
#include "columns.h"
#include "analyzer/model/descriptors.h"
#include "analyzer/model/waits.h"

/* end - start, where both are known. */
static void set_duration(struct trc_sql_value *value, int64_t start_ns, int64_t end_ns)
{
	if (start_ns != TRC_NEVER && end_ns != TRC_NEVER)
		trc_sql_set_integer(value, end_ns - start_ns);
}

#define DURATION(name)                                                                             \
	static void name##_duration(const struct trc_model *m, size_t i, const void *row,          \
				    struct trc_sql_value *value)                                   \
	{                                                                                          \
		const struct trc_##name *r = row;                                                  \
                                                                                                   \
		set_duration(value, r->start_ns, r->end_ns);                                       \
	}
/* The labels that the row's thread had at the row's time and place. */
#define LABELS(name, thread_of, time_of, place_of)                                                 \
	static void name##_labels(const struct trc_model *m, size_t i, const void *row,            \
				  struct trc_sql_value *value)                                     \
	{                                                                                          \
		const struct trc_##name *r = row;                                                  \
		uint32_t labels = trc_model_labels_at(m, r->thread_of, r->time_of, r->place_of);   \
                                                                                                   \
		if (labels)                                                                        \
			trc_sql_set_integer(value, labels);                                        \
	}

/* --- threads and procs --- */

ROWS(threads)
static const struct trc_sql_column thread_columns[] = {
	{"id", "INTEGER", TRC_FIELD_U32, F(thread, serial), IS_ID,
	 .doc = "its serial number; never used again in the trace"},
	{"tid", "INTEGER", TRC_FIELD_ID32, F(thread, tid), .doc = "the kernel's thread id"},
	{"name", "TEXT", TRC_FIELD_TEXT, F(thread, name), .doc = "the name it had last"},
	{"creator", "INTEGER", TRC_FIELD_ID32, F(thread, creator), .of = "threads",
	 .doc = "the thread that created it"},
	{"creator_stack", "INTEGER", TRC_FIELD_ID32, F(thread, creator_stack), .of = "stacks",
	 .doc = "where it was created"},
	{"created_ns", "INTEGER", TRC_FIELD_NS, F(thread, created_ns),
	 .doc = "when, just before its creator asked for it; NULL = not known"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(thread, start_ns),
	 .doc = "when it began; NULL = before the trace"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(thread, end_ns),
	 .doc = "when it ended; NULL = still there at the end"},
	{"first_ns", "INTEGER", TRC_FIELD_NS, F(thread, first_ns), .doc = "its first event"},
	{"last_ns", "INTEGER", TRC_FIELD_NS, F(thread, last_ns), .doc = "its last event"},
	{"parked_ns", "INTEGER", TRC_FIELD_I64, F(thread, parked_ns),
	 .doc = "how long it waited, up to the end of the trace; a wait inside a wait counts once; with "
		"what it had no proc for in a read or write"},
	{"on_cpu_ns", "INTEGER", TRC_FIELD_NS, F(thread, on_cpu_ns),
	 .doc = "how long it was on a proc; NULL without scheduling records"},
	{"parks", "INTEGER", TRC_FIELD_U64, F(thread, n_parks), .doc = "its rows in parks"},
	{"events", "INTEGER", TRC_FIELD_U64, F(thread, n_events), .doc = "its rows in events"},
};

ROWS(procs)
static const struct trc_sql_column proc_columns[] = {
	{"id", "INTEGER", TRC_FIELD_U32, F(proc, proc), IS_ID,
	 .doc = "the kernel's number of the logical processor"},
	{"events", "INTEGER", TRC_FIELD_U64, F(proc, n_events), .doc = "events recorded on it"},
	{"lost_events", "INTEGER", TRC_FIELD_U64, F(proc, lost_events), .doc = "events lost on it"},
	{"first_ns", "INTEGER", TRC_FIELD_NS, F(proc, first_ns), .doc = "its first event"},
	{"last_ns", "INTEGER", TRC_FIELD_NS, F(proc, last_ns), .doc = "its last event"},
};

/* --- waits --- */

static void park_waited(const struct trc_model *m, size_t i, const void *row,
			struct trc_sql_value *value)
{
	const struct trc_park *park = row;

	set_duration(value, park->start_ns,
		     park->end_ns == TRC_NEVER ? trc_model_end_ns(m) : park->end_ns);
}

static void park_latency(const struct trc_model *m, size_t i, const void *row,
			 struct trc_sql_value *value)
{
	const struct trc_park *park = row;

	set_duration(value, park->wake_ns, park->end_ns);
}

static void park_state(const struct trc_model *m, size_t i, const void *row,
		       struct trc_sql_value *value)
{
	const struct trc_park *park = row;

	trc_sql_set_text(value, park->flags & TRC_PARK_OPEN	   ? "open"
				: park->flags & TRC_PARK_ABANDONED ? "abandoned"
								   : "ended");
}

CALL(park_descriptor)
{
	const struct trc_park *park = row;
	const struct trc_descriptor_name *name = trc_model_descriptor(m, park->descriptor);

	if (name)
		trc_sql_set_text(value, name->text);
}

static void park_cut_value(const struct trc_model *m, size_t i, const void *row,
			   struct trc_sql_value *value)
{
	const struct trc_park *park = row;

	trc_sql_set_integer(value, (park->flags & TRC_PARK_CUT) != 0);
}

ROWS(parks)
DURATION(park)
CALL(park_labels)
{
	uint32_t labels = trc_park_labels(m, row);

	if (labels)
		trc_sql_set_integer(value, labels);
}
FIBER(park, thread, start_ns, start_place)
static const struct trc_sql_column park_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by start"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(park, thread), .indexed = true, .of = "threads",
	 .doc = "the thread that waits"},
	{"reason", "TEXT", TRC_FIELD_REASON, F(park, reason), .doc = "what kind of wait"},
	{"object", "INTEGER", TRC_FIELD_U64, F(park, object), .indexed = true, .of = "objects",
	 .doc = "address of the lock, condition variable, ...; or the descriptor"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(park, start_ns), IN_ORDER,
	 .doc = "when the wait began"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(park, end_ns),
	 .doc = "when the thread ran again; NULL = still waiting at the end"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, park_duration,
	 .doc = "end_ns - start_ns; NULL = still waiting at the end"},
	{"waited_ns", "INTEGER", TRC_FIELD_CALL, 0, park_waited,
	 .doc = "the same, but up to the end of the trace if still waiting"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(park, stack), .indexed = true, .of = "stacks",
	 .doc = "where it waited"},
	{"holder_thread", "INTEGER", TRC_FIELD_ID32, F(park, holder), .of = "threads",
	 .doc = "who held the lock at start_ns, where the lock tells; of a join, who is joined"},
	{"waker_thread", "INTEGER", TRC_FIELD_ID32, F(park, waker), .of = "threads",
	 .doc = "who ended the wait by an unlock, signal, post, ..."},
	{"waker_stack", "INTEGER", TRC_FIELD_ID32, F(park, waker_stack), .of = "stacks",
	 .doc = "where it did so"},
	{"wake_ns", "INTEGER", TRC_FIELD_NS, F(park, wake_ns), .doc = "when it did so"},
	{"wake_latency_ns", "INTEGER", TRC_FIELD_CALL, 0, park_latency,
	 .doc = "end_ns - wake_ns; of a condition wait that includes taking the mutex again"},
	{"unlock", "INTEGER", TRC_FIELD_ID32, F(park, unlock), .indexed = true, .of = "unlocks",
	 .doc = "the id in unlocks that ended the wait"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(park, proc), .of = "procs",
	 .doc = "where the wait was recorded"},
	{"result", "INTEGER", TRC_FIELD_ERRNO, F(park, result),
	 .doc = "0, or the errno value that the wait ended with; NULL = not known"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, park_state,
	 .doc = "ended; open: still waiting at the end; abandoned: left by a jump, cancellation or "
		"a lost resume, end_ns is then the first event that shows the thread running"},
	{"cut", "INTEGER", TRC_FIELD_CALL, 0, park_cut_value,
	 .doc = "1 = it began before the window of a snapshot: start_ns is where that begins, and the "
		"wait lasted longer than it says"},
	{"labels", "INTEGER", TRC_FIELD_CALL, 0, park_labels, .of = "labels",
	 .doc = "the label set that the thread had when the wait began"},
	{"fiber", "INTEGER", TRC_FIELD_FIBER, 0, park_fiber, .of = "fibers",
	 .doc = "the fiber that it was in then; NULL = its root fiber, or not known"},
	{"descriptor", "TEXT", TRC_FIELD_CALL, 0, park_descriptor,
	 .doc = "what the descriptor was: a path, addresses; NULL = it is none, or not known"},
};

CALL(unlock_preempted)
{
	size_t n;
	const struct trc_preempted_section *section = trc_model_preempted_sections(m, &n);

	if (i < n)
		trc_sql_set_integer(value, section[i].preempted_ns);
}

CALL(unlock_preempted_waits)
{
	size_t n;
	const struct trc_preempted_section *section = trc_model_preempted_sections(m, &n);

	if (i < n)
		trc_sql_set_integer(value, section[i].preempted_waits_ns);
}

ROWS(unlocks)
LABELS(unlock, thread, ts_ns, place)
static const struct trc_sql_column unlock_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by time"},
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(unlock, ts_ns), IN_ORDER,
	 .doc = "when the lock was released"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(unlock, thread), .indexed = true, .of = "threads",
	 .doc = "who held and released it"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(unlock, proc), .of = "procs", .doc = "where"},
	{"reason", "TEXT", TRC_FIELD_REASON, F(unlock, reason), .doc = "what kind of lock"},
	{"object", "INTEGER", TRC_FIELD_U64, F(unlock, object), .indexed = true, .of = "objects",
	 .doc = "address of the lock"},
	{"waiters", "INTEGER", TRC_FIELD_U64, F(unlock, waiters),
	 .doc = "how many threads waited for it then, as far as the unlocker saw"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(unlock, stack), .indexed = true, .of = "stacks",
	 .doc = "where it was released"},
	{"caused_waits", "INTEGER", TRC_FIELD_U32, F(unlock, caused_waits),
	 .doc = "threads that waited during the critical section that ends here"},
	{"caused_ns", "INTEGER", TRC_FIELD_I64, F(unlock, caused_ns),
	 .doc = "their waiting during that section, summed"},
	{"taken_ns", "INTEGER", TRC_FIELD_NS, F(unlock, taken_ns),
	 .doc = "when that section began; NULL = not known: nobody waited for the lock then"},
	{"preempted_ns", "INTEGER", TRC_FIELD_PREEMPTED, 0, unlock_preempted,
	 .doc = "how long its holder could have run and had no proc, while others waited for the lock; "
		"NULL without switch records"},
	{"preempted_waits_ns", "INTEGER", TRC_FIELD_PREEMPTED, 0, unlock_preempted_waits,
	 .doc = "how long they waited meanwhile, summed: a part of caused_ns"},
	{"labels", "INTEGER", TRC_FIELD_CALL, 0, unlock_labels, .of = "labels",
	 .doc = "the label set of the thread that released it"},
};

CALL(object_kind)
{
	trc_sql_set_text(value, trc_object_kind(row));
}

CALL(object_offset)
{
	const struct trc_object *object = row;

	if (object->symbol)
		trc_sql_set_integer(value, (int64_t)object->offset_bytes);
}

ROWS(objects)
static const struct trc_sql_column object_columns[] = {
	{"address", "INTEGER", TRC_FIELD_U64, F(object, address), IN_ORDER,
	 .doc = "its address: the `object` of parks, unlocks, events"},
	{"kind", "TEXT", TRC_FIELD_CALL, 0, object_kind,
	 .doc = "mutex, rwlock, spin, cond, sem, barrier, once, futex, futex_lock, sem_lock"},
	{"name", "TEXT", TRC_FIELD_TEXT, F(object, name),
	 .doc = "its name in the report: `symbol` with its member, or with `+offset_bytes`; of "
		"stripped programs the section of the file that it lies in; or the address"},
	{"symbol", "TEXT", TRC_FIELD_TEXT, F(object, symbol),
	 .doc = "the variable that it is, or lies in; NULL = none that is known"},
	{"offset_bytes", "INTEGER", TRC_FIELD_CALL, 0, object_offset,
	 .doc = "how far into the variable"},
	{"allocated_at", "INTEGER", TRC_FIELD_ID32, F(object, allocated_at), .of = "stacks",
	 .doc = "the stack that allocated the memory that it lay in when it was last used; known of "
		"sampled allocations (`trace-record --heap`)"},
};

/* --- descriptors --- */

#define DESCRIPTOR_TEXT(field)                                                                     \
	CALL(descriptor_##field)                                                                   \
	{                                                                                          \
		const struct trc_descriptor *r = row;                                              \
		const char *text = trc_model_descriptor(m, r->number)->field;                      \
                                                                                                   \
		if (text)                                                                          \
			trc_sql_set_text(value, text);                                             \
	}
DESCRIPTOR_TEXT(kind)
DESCRIPTOR_TEXT(name)
DESCRIPTOR_TEXT(own)
DESCRIPTOR_TEXT(peer)
DESCRIPTOR_TEXT(text)

static int descriptors_make(struct trc_model *m, struct trc_array *rows, struct trc_error *error)
{
	int err = trc_model_descriptors(m, rows);

	if (err)
		snprintf(error->text, sizeof(error->text), "descriptors: out of memory");
	return err;
}

static const struct trc_sql_column descriptor_columns[] = {
	{"fd", "INTEGER", TRC_FIELD_U64, F(descriptor, fd), .indexed = true,
	 .doc = "its number: the `object` of parks and events"},
	{"from_ns", "INTEGER", TRC_FIELD_NS, F(descriptor, from_ns), IN_ORDER,
	 .doc = "when the first wait for it began"},
	{"to_ns", "INTEGER", TRC_FIELD_NS, F(descriptor, to_ns), .doc = "when the last one ended"},
	{"kind", "TEXT", TRC_FIELD_CALL, 0, descriptor_kind,
	 .doc = "file, a FIFO by its path too; memfd, pipe, tcp, udp, unix, socket, epoll, eventfd, "
		"timerfd, ..., other"},
	{"name", "TEXT", TRC_FIELD_CALL, 0, descriptor_name,
	 .doc = "its name in the report: the path; of a socket the peer's address, else its own"},
	{"own", "TEXT", TRC_FIELD_CALL, 0, descriptor_own, .doc = "a socket's own address"},
	{"peer", "TEXT", TRC_FIELD_CALL, 0, descriptor_peer, .doc = "its peer's address"},
	{"waits", "INTEGER", TRC_FIELD_U64, F(descriptor, waits), .doc = "how many waits"},
	{"waited_ns", "INTEGER", TRC_FIELD_I64, F(descriptor, waited_ns),
	 .doc = "how long they lasted together"},
	{"descriptor", "TEXT", TRC_FIELD_CALL, 0, descriptor_text,
	 .doc = "all of it as recorded: the `descriptor` of parks and events"},
};

/* --- the user's annotations --- */

ROWS(tasks)
DURATION(task)
LABELS(task, start_thread, start_ns, start_place)
FIBER(task, start_thread, start_ns, start_place)
static const struct trc_sql_column task_columns[] = {
	{"id", "INTEGER", TRC_FIELD_U64, F(task, task), .indexed = true, .doc = "the task's id"},
	{"parent", "INTEGER", TRC_FIELD_ID64, F(task, parent), .indexed = true, .of = "tasks",
	 .doc = "the task that it is a part of"},
	{"type", "TEXT", TRC_FIELD_TEXT, F(task, type), .doc = "its type"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(task, start_ns), IN_ORDER,
	 .doc = "when it began; NULL = before the trace"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(task, end_ns),
	 .doc = "when it ended; NULL = not yet"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, task_duration, .doc = "end_ns - start_ns"},
	{"start_thread", "INTEGER", TRC_FIELD_ID32, F(task, start_thread), .of = "threads",
	 .doc = "who began it"},
	{"end_thread", "INTEGER", TRC_FIELD_ID32, F(task, end_thread), .of = "threads",
	 .doc = "who ended it"},
	{"labels", "INTEGER", TRC_FIELD_CALL, 0, task_labels, .of = "labels",
	 .doc = "the label set of start_thread when it began"},
	{"fiber", "INTEGER", TRC_FIELD_FIBER, 0, task_fiber, .of = "fibers",
	 .doc = "the fiber that start_thread was in then; NULL = its root fiber, or not known"},
};

static void region_fiber(const struct trc_model *m, size_t i, const void *row,
			 struct trc_sql_value *value)
{
	trc_sql_set_fiber(m, ((const struct trc_region *)row)->fiber, value);
}

ROWS(regions)
DURATION(region)
LABELS(region, thread, start_ns, start_place)
static const struct trc_sql_column region_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by start"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(region, thread), .indexed = true, .of = "threads",
	 .doc = "where it began; its fiber may have ended it on another. Of one from before the trace, "
		"where it ended"},
	{"task", "INTEGER", TRC_FIELD_ID64, F(region, task), .indexed = true, .of = "tasks",
	 .doc = "the task that it works for"},
	{"type", "TEXT", TRC_FIELD_TEXT, F(region, type), .doc = "its type"},
	{"depth", "INTEGER", TRC_FIELD_U32, F(region, depth),
	 .doc = "within its fiber; 0 = outermost"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(region, start_ns), IN_ORDER,
	 .doc = "when it began; NULL = before the trace"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(region, end_ns),
	 .doc = "when it ended; NULL = not yet, or not before its thread or fiber did"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, region_duration, .doc = "end_ns - start_ns"},
	{"labels", "INTEGER", TRC_FIELD_CALL, 0, region_labels, .of = "labels",
	 .doc = "the label set that the thread had when it began"},
	{"fiber", "INTEGER", TRC_FIELD_CALL, 0, region_fiber, .of = "fibers",
	 .doc = "whose span it is; NULL = the thread's root fiber, or not known"},
};

ROWS(logs)
LABELS(log, thread, ts_ns, place)
FIBER(log, thread, ts_ns, place)
static const struct trc_sql_column log_columns[] = {
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(log, ts_ns), IN_ORDER, .doc = "when"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(log, thread), .of = "threads",
	 .doc = "whose message"},
	{"task", "INTEGER", TRC_FIELD_ID64, F(log, task), .indexed = true, .of = "tasks",
	 .doc = "the task that it belongs to"},
	{"category", "TEXT", TRC_FIELD_TEXT, F(log, category), .doc = "the user's category"},
	{"message", "TEXT", TRC_FIELD_STRING, F(log, message), .doc = "the message"},
	{"labels", "INTEGER", TRC_FIELD_CALL, 0, log_labels, .of = "labels",
	 .doc = "the label set that the thread had"},
	{"fiber", "INTEGER", TRC_FIELD_FIBER, 0, log_fiber, .of = "fibers",
	 .doc = "the fiber that it was in; NULL = its root fiber, or not known"},
};

ROWS(counters)
static const struct trc_sql_column counter_columns[] = {
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(counter, ts_ns), IN_ORDER, .doc = "when"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(counter, thread), .of = "threads",
	 .doc = "who set it"},
	{"name", "TEXT", TRC_FIELD_TEXT, F(counter, name), .indexed = true, .doc = "whose value"},
	{"value", "INTEGER", TRC_FIELD_I64, F(counter, value), .doc = "the value from then on"},
};

/* --- labels --- */

static void set_label_number(const struct trc_model *m, size_t i, const void *row,
			     struct trc_sql_value *value)
{
	const struct trc_set_label *label = row;

	if (label->is_number)
		trc_sql_set_integer(value, label->number);
}

ROWS(labels)
static const struct trc_sql_column set_label_columns[] = {
	{"labels", "INTEGER", TRC_FIELD_U32, F(set_label, labels), IN_ORDER,
	 .doc = "the label set: the `labels` of parks, unlocks, ..."},
	{"key", "TEXT", TRC_FIELD_TEXT, F(set_label, key), .indexed = true,
	 .doc = "the label's key"},
	{"value", "TEXT", TRC_FIELD_STRING, F(set_label, value),
	 .doc = "its value; of a number in decimal, its unit behind it: 42, 7ms"},
	{"number", "INTEGER", TRC_FIELD_CALL, 0, set_label_number,
	 .doc = "the value, if it is a number"},
	{"unit", "TEXT", TRC_FIELD_TEXT, F(set_label, unit),
	 .doc = "the unit of the number; NULL = it has none"},
};

ROWS(label_spans)
DURATION(thread_span)
static const struct trc_sql_column thread_span_columns[] = {
	{"thread", "INTEGER", TRC_FIELD_U32, F(thread_span, thread), IN_ORDER, .doc = "the thread",
	 .of = "threads"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(thread_span, start_ns),
	 .doc = "since when; NULL = from before the trace"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(thread_span, end_ns),
	 .doc = "until when; NULL = still at the end"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, thread_span_duration,
	 .doc = "end_ns - start_ns"},
	{"labels", "INTEGER", TRC_FIELD_ID32, F(thread_span, value), .indexed = true,
	 .of = "labels",
	 .doc = "its label set; NULL = none, or not known since events are missing"},
};

/* --- scheduling and losses --- */

ROWS(on_cpu)
DURATION(on_cpu)
static const struct trc_sql_column on_cpu_columns[] = {
	{"thread", "INTEGER", TRC_FIELD_ID32, F(on_cpu, thread), .indexed = true, .of = "threads",
	 .doc = "which thread"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(on_cpu, proc), .of = "procs", .doc = "on which proc"},
	{"start_ns", "INTEGER", TRC_FIELD_NS, F(on_cpu, start_ns), IN_ORDER,
	 .doc = "when it was put there; NULL = before the trace"},
	{"end_ns", "INTEGER", TRC_FIELD_NS, F(on_cpu, end_ns),
	 .doc = "when it was taken off; NULL = still there at the end"},
	{"duration_ns", "INTEGER", TRC_FIELD_CALL, 0, on_cpu_duration, .doc = "end_ns - start_ns"},
	{"preempted", "INTEGER", TRC_FIELD_BOOL, F(on_cpu, preempted),
	 .doc = "1 = it could have gone on when it was taken off"},
};

ROWS(gaps)
static const struct trc_sql_column gap_columns[] = {
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(gap, ts_ns), IN_ORDER,
	 .doc = "when events were recorded again"},
	{"since_ns", "INTEGER", TRC_FIELD_NS, F(gap, since_ns),
	 .doc = "when the first one was lost"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(gap, proc), .of = "procs", .doc = "on which proc"},
	{"source", "TEXT", TRC_FIELD_SOURCE, F(gap, source),
	 .doc = "of which stream: ring, overflow, kernel"},
	{"cause", "TEXT", TRC_FIELD_CAUSE, F(gap, cause), .doc = "why"},
	{"lost_events", "INTEGER", TRC_FIELD_U64, F(gap, lost_events), .doc = "how many, exactly"},
};

ROWS(coverage)
static const struct trc_sql_column coverage_columns[] = {
	{"proc", "INTEGER", TRC_FIELD_PROC, F(coverage, proc), .of = "procs",
	 .doc = "the proc; NULL = the overflow stream, which is of all"},
	{"source", "TEXT", TRC_FIELD_SOURCE, F(coverage, source),
	 .doc = "which stream: ring, overflow, kernel"},
	{"held_ns", "INTEGER", TRC_FIELD_NS, F(coverage, held_ns),
	 .doc = "since when the ring held everything; NULL = since its beginning"},
	{"from_ns", "INTEGER", TRC_FIELD_NS, F(coverage, from_ns),
	 .doc = "where the window begins"},
	{"to_ns", "INTEGER", TRC_FIELD_NS, F(coverage, to_ns), .doc = "where it ends"},
};

#define TABLE(table, row, parts, doc)                                                              \
	{                                                                                          \
#table, doc, parts, row##_columns, N(row##_columns), sizeof(struct trc_##row),     \
			table##_rows, NULL                                                         \
	}

const struct trc_sql_table trc_sql_row_tables[] = {
	TABLE(threads, thread, TRC_PART_WAITS | TRC_PART_SCHED, "the threads of the program"),
	TABLE(procs, proc, TRC_PART_WAITS, "the procs that events were recorded on"),
	TABLE(parks, park, TRC_PART_WAITS | TRC_PART_LABELS,
	      "every wait, from its beginning until the thread ran again"),
	TABLE(unlocks, unlock, TRC_PART_WAITS | TRC_PART_LABELS,
	      "releases of locks for which others waited, and what the critical section cost them"),
	TABLE(objects, object, TRC_PART_OBJECTS,
	      "locks, condition variables and their like, by address, with their names"),
	{"descriptors", "what descriptors were while threads waited for them", TRC_PART_WAITS,
	 descriptor_columns, N(descriptor_columns), sizeof(struct trc_descriptor), NULL,
	 descriptors_make},
	TABLE(tasks, task, TRC_PART_USER | TRC_PART_LABELS, "the program's operations"),
	TABLE(regions, region, TRC_PART_USER | TRC_PART_LABELS,
	      "the program's spans, each within one fiber"),
	TABLE(logs, log, TRC_PART_USER | TRC_PART_LABELS, "the program's messages"),
	TABLE(counters, counter, TRC_PART_USER, "the program's values over time"),
	TABLE(labels, set_label, TRC_PART_LABELS, "what each label set consists of"),
	TABLE(label_spans, thread_span, TRC_PART_LABELS,
	      "which labels each thread had, from when until when"),
	TABLE(on_cpu, on_cpu, TRC_PART_SCHED, "when each thread was on a proc"),
	TABLE(gaps, gap, TRC_PART_WAITS, "events that were lost, counted exactly"),
	TABLE(coverage, coverage, 0, "what of each stream a snapshot has"),
};
const size_t trc_sql_n_row_tables = N(trc_sql_row_tables);
