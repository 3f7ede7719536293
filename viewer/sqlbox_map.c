/*
 * sqlbox_map.c - which columns of SQL's tables the timeline's columns have the values of, and for
 * which values that is not so; see sqlbox.h.
 */
#include <string.h>

#include "sqlbox.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

#define DURATION                                                                                   \
	{                                                                                          \
		"duration_ns", TRC_SQLBOX_FORMULA, "end_ns - start_ns", NULL                       \
	}

static const struct trc_sqlbox_mapping parks[] = {
	{"id", TRC_SQLBOX_VALUE, "park.id", NULL},
	{"thread", TRC_SQLBOX_THREAD, "park.thread", NULL},
	{"reason", TRC_SQLBOX_REASON, "park.reason", NULL},
	{"object", TRC_SQLBOX_OBJECT, "park.object", NULL},
	{"start_ns", TRC_SQLBOX_TIME, "park.start", NULL},
	{"end_ns", TRC_SQLBOX_END, "park.start", "park.length"},
	DURATION,
	{"waited_ns", TRC_SQLBOX_FORMULA, "coalesce(end_ns, TRACE_END_NS) - start_ns", NULL},
	{"stack", TRC_SQLBOX_ID, "park.stack", NULL},
	{"holder_thread", TRC_SQLBOX_THREAD, "park.holder", NULL},
	{"waker_thread", TRC_SQLBOX_THREAD, "park.waker", NULL},
	{"waker_stack", TRC_SQLBOX_ID, "park.waker_stack", NULL},
	{"wake_ns", TRC_SQLBOX_WAKE, "park.start", "park.wake"},
	{"wake_latency_ns", TRC_SQLBOX_FORMULA, "end_ns - wake_ns", NULL},
	{"unlock", TRC_SQLBOX_UNLOCK, "park.unlock", NULL},
	{"proc", TRC_SQLBOX_NEXT, "park.proc", NULL},
	{"result", TRC_SQLBOX_NEXT, "park.result", NULL},
	{"labels", TRC_SQLBOX_ID, "park.set", NULL},
};

static const struct trc_sqlbox_mapping unlocks[] = {
	{"id", TRC_SQLBOX_VALUE, "unlock.id", NULL},
	{"ts_ns", TRC_SQLBOX_TIME, "unlock.time", NULL},
	{"thread", TRC_SQLBOX_THREAD, "unlock.thread", NULL},
	{"reason", TRC_SQLBOX_REASON, "unlock.reason", NULL},
	{"object", TRC_SQLBOX_OBJECT, "unlock.object", NULL},
	{"waiters", TRC_SQLBOX_VALUE, "unlock.waiters", NULL},
	{"stack", TRC_SQLBOX_ID, "unlock.stack", NULL},
	{"caused_waits", TRC_SQLBOX_VALUE, "unlock.caused", NULL},
	{"caused_ns", TRC_SQLBOX_VALUE, "unlock.caused_ns", NULL},
};

static const struct trc_sqlbox_mapping tasks[] = {
	{"id", TRC_SQLBOX_WIDE, "task.low", "task.high"},
	{"type", TRC_SQLBOX_TEXT, "task.type", NULL},
	{"start_ns", TRC_SQLBOX_TIME, "task.start", NULL},
	{"end_ns", TRC_SQLBOX_END, "task.start", "task.length"},
	DURATION,
	{"start_thread", TRC_SQLBOX_THREAD, "task.thread", NULL},
	{"end_thread", TRC_SQLBOX_THREAD, "task.end_thread", NULL},
};

static const struct trc_sqlbox_mapping regions[] = {
	{"id", TRC_SQLBOX_VALUE, "region.row", NULL},
	{"thread", TRC_SQLBOX_THREAD, "region.thread", NULL},
	{"type", TRC_SQLBOX_TEXT, "region.type", NULL},
	{"depth", TRC_SQLBOX_VALUE, "region.depth", NULL},
	{"start_ns", TRC_SQLBOX_TIME, "region.start", NULL},
	{"end_ns", TRC_SQLBOX_END, "region.start", "region.length"},
	DURATION,
	{"fiber", TRC_SQLBOX_FIBER, "region.fiber", NULL},
};

static const struct trc_sqlbox_mapping logs[] = {
	{"ts_ns", TRC_SQLBOX_TIME, "log.time", NULL},
	{"thread", TRC_SQLBOX_THREAD, "log.thread", NULL},
	{"category", TRC_SQLBOX_TEXT, "log.category", NULL},
	{"message", TRC_SQLBOX_STRING, "log.message", NULL},
};

static const struct trc_sqlbox_mapping counters[] = {
	{"ts_ns", TRC_SQLBOX_TIME, "counter.time", NULL},
	{"thread", TRC_SQLBOX_THREAD, "counter.thread", NULL},
	{"name", TRC_SQLBOX_TEXT, "counter.name", NULL},
	{"value", TRC_SQLBOX_SIGNED, "counter.value", NULL},
};

static const struct trc_sqlbox_mapping samples[] = {
	{"ts_ns", TRC_SQLBOX_TIME, "sample.time", NULL},
	{"thread", TRC_SQLBOX_THREAD, "sample.thread", NULL},
	{"event", TRC_SQLBOX_SAMPLED, "sample.event", NULL},
	{"value", TRC_SQLBOX_VALUE, "sample.value", NULL},
	{"stack", TRC_SQLBOX_ID, "sample.stack", NULL},
	{"labels", TRC_SQLBOX_ID, "sample.set", NULL},
};

static const struct trc_sqlbox_mapping allocs[] = {
	{"ts_ns", TRC_SQLBOX_TIME, "alloc.time", NULL},
	{"thread", TRC_SQLBOX_THREAD, "alloc.thread", NULL},
	{"bytes", TRC_SQLBOX_VALUE, "alloc.bytes", NULL},
	{"stack", TRC_SQLBOX_ID, "alloc.stack", NULL},
	{"labels", TRC_SQLBOX_ID, "alloc.set", NULL},
	{"freed_ns", TRC_SQLBOX_MAYBE, "alloc.freed", NULL},
	{"lifetime_ns", TRC_SQLBOX_FORMULA, "freed_ns - ts_ns", NULL},
};

static const struct trc_sqlbox_mapping fibers[] = {
	{"id", TRC_SQLBOX_WIDE, "fiber.low", "fiber.high"},
	{"name", TRC_SQLBOX_TEXT, "fiber.name", NULL},
	{"created_ns", TRC_SQLBOX_MAYBE, "fiber.created", NULL},
	{"ended_ns", TRC_SQLBOX_MAYBE, "fiber.ended", NULL},
	{"creator_thread", TRC_SQLBOX_THREAD, "fiber.thread", NULL},
	{"creator", TRC_SQLBOX_FIBER, "fiber.creator", NULL},
	{"create_stack", TRC_SQLBOX_ID, "fiber.stack", NULL},
	{"runs", TRC_SQLBOX_VALUE, "fiber.runs", NULL},
	{"run_ns", TRC_SQLBOX_VALUE, "fiber.run", NULL},
	{"runnable_ns", TRC_SQLBOX_VALUE, "fiber.runnable", NULL},
	{"waits", TRC_SQLBOX_VALUE, "fiber.waits", NULL},
	{"waited_ns", TRC_SQLBOX_VALUE, "fiber.waited", NULL},
};

static const struct trc_sqlbox_mapping fiber_runs[] = {
	{"id", TRC_SQLBOX_VALUE, "frun.id", NULL},
	{"fiber", TRC_SQLBOX_FIBER, "frun.fiber", NULL},
	{"thread", TRC_SQLBOX_THREAD, "frun.thread", NULL},
	{"start_ns", TRC_SQLBOX_TIME, "frun.start", NULL},
	{"end_ns", TRC_SQLBOX_END, "frun.start", "frun.length"},
	DURATION,
};

static const struct trc_sqlbox_mapping fiber_waits[] = {
	{"id", TRC_SQLBOX_VALUE, "fwait.id", NULL},
	{"fiber", TRC_SQLBOX_FIBER, "fwait.fiber", NULL},
	{"thread", TRC_SQLBOX_THREAD, "fwait.thread", NULL},
	{"object", TRC_SQLBOX_OBJECT, "fwait.object", NULL},
	{"start_ns", TRC_SQLBOX_TIME, "fwait.start", NULL},
	{"ready_ns", TRC_SQLBOX_MAYBE, "fwait.ready", NULL},
	{"end_ns", TRC_SQLBOX_END, "fwait.start", "fwait.length"},
	DURATION,
	{"waited_ns", TRC_SQLBOX_FORMULA, "coalesce(end_ns, TRACE_END_NS) - start_ns", NULL},
	{"end_thread", TRC_SQLBOX_THREAD, "fwait.end_thread", NULL},
	{"stack", TRC_SQLBOX_ID, "fwait.stack", NULL},
	{"labels", TRC_SQLBOX_ID, "fwait.set", NULL},
	{"waker_thread", TRC_SQLBOX_THREAD, "fwait.waker", NULL},
	{"waker_fiber", TRC_SQLBOX_FIBER, "fwait.waker_fiber", NULL},
	{"waker_stack", TRC_SQLBOX_ID, "fwait.waker_stack", NULL},
};

static const struct trc_sqlbox_mapping on_cpu[] = {
	{"thread", TRC_SQLBOX_THREAD, "cpu.thread", NULL},
	{"proc", TRC_SQLBOX_VALUE, "cpu.proc", NULL},
	{"start_ns", TRC_SQLBOX_TIME, "cpu.start", NULL},
	{"end_ns", TRC_SQLBOX_END, "cpu.start", "cpu.length"},
	DURATION,
	{"preempted", TRC_SQLBOX_VALUE, "cpu.preempted", NULL},
};

static const struct trc_sqlbox_mapping stack_frames[] = {
	{"stack", TRC_SQLBOX_STACK, "stack.count", NULL},
	{"depth", TRC_SQLBOX_DEPTH, "stack.count", NULL},
	{"frame", TRC_SQLBOX_VALUE, "stack.frame", NULL},
};

static const struct trc_sqlbox_mapping frames[] = {
	{"function", TRC_SQLBOX_TEXT, "frame.function", NULL},
	{"file", TRC_SQLBOX_TEXT, "frame.file", NULL},
	{"line", TRC_SQLBOX_ID, "frame.line", NULL},
	{"inlined", TRC_SQLBOX_VALUE, "frame.inlined", NULL},
};

static const struct trc_sqlbox_mapping causes[] = {
	{"wait", TRC_SQLBOX_VALUE, "cause.wait", NULL},
	{"id", TRC_SQLBOX_VALUE, "cause.id", NULL},
	{"parent", TRC_SQLBOX_ID, "cause.parent", NULL},
	{"depth", TRC_SQLBOX_VALUE, "cause.depth", NULL},
	{"leaf", TRC_SQLBOX_FORMULA, "cause <> 'waiting'", NULL},
	{"thread", TRC_SQLBOX_THREAD, "cause.thread", NULL},
	{"from_ns", TRC_SQLBOX_TIME, "cause.start", NULL},
	{"to_ns", TRC_SQLBOX_END, "cause.start", "cause.length"},
	{"duration_ns", TRC_SQLBOX_FORMULA, "to_ns - from_ns", NULL},
	{"reason", TRC_SQLBOX_REASON, "cause.reason", NULL},
	{"unlock", TRC_SQLBOX_ID, "cause.unlock", NULL},
	{"stack", TRC_SQLBOX_ID, "cause.stack", NULL},
	{"instead_thread", TRC_SQLBOX_THREAD, "cause.instead", NULL},
	{"instead_ns", TRC_SQLBOX_NEXT, "cause.instead_ns", NULL},
};

#define MAP(table, rows, with_fibers)                                                              \
	{                                                                                          \
#table, rows, with_fibers, table, N(table)                                         \
	}

static const struct trc_sqlbox_map maps[] = {
	MAP(parks, TRC_ROWS_PARKS, false),
	MAP(unlocks, TRC_ROWS_UNLOCKS, false),
	MAP(tasks, TRC_ROWS_TASKS, false),
	MAP(regions, TRC_ROWS_REGIONS, false),
	MAP(logs, TRC_ROWS_LOGS, false),
	MAP(counters, TRC_ROWS_COUNTERS, false),
	MAP(samples, TRC_ROWS_SAMPLES, false),
	MAP(allocs, TRC_ROWS_ALLOCS, false),
	MAP(fibers, TRC_ROWS_FIBERS, true),
	MAP(fiber_runs, TRC_ROWS_FIBER_RUNS, true),
	MAP(fiber_waits, TRC_ROWS_FIBER_WAITS, true),
	MAP(on_cpu, TRC_ROWS_TABLES, false),
	MAP(causes, TRC_ROWS_TABLES, false),
	MAP(stack_frames, TRC_ROWS_TABLES, false),
	MAP(frames, TRC_ROWS_TABLES, false),
};

const struct trc_sqlbox_map *trc_sqlbox_map(const char *table)
{
	for (size_t i = 0; i < N(maps); i++)
		if (!strcmp(maps[i].table, table))
			return &maps[i];
	return NULL;
}

const struct trc_sqlbox_mapping *
trc_sqlbox_mapping(const struct trc_rows *r, const struct trc_sqlbox_map *map, const char *column)
{
	if (map->with_fibers && !r->n_fibers)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (!strcmp(map->mapping[i].column, column))
			/* One that is left out would read as none. */
			return map->mapping[i].how == TRC_SQLBOX_FIBER && r->without_fibers
				       ? NULL
				       : &map->mapping[i];
	return NULL;
}

const char *trc_sqlbox_how_name(enum trc_sqlbox_how how)
{
	static const char *const name[] = {
		[TRC_SQLBOX_OWN] = "own",	  [TRC_SQLBOX_VALUE] = "value",
		[TRC_SQLBOX_ID] = "id",		  [TRC_SQLBOX_NEXT] = "next",
		[TRC_SQLBOX_SIGNED] = "signed",	  [TRC_SQLBOX_WIDE] = "wide",
		[TRC_SQLBOX_THREAD] = "thread",	  [TRC_SQLBOX_FIBER] = "fiber",
		[TRC_SQLBOX_UNLOCK] = "unlock",	  [TRC_SQLBOX_SAMPLED] = "sampled",
		[TRC_SQLBOX_OBJECT] = "object",	  [TRC_SQLBOX_REASON] = "reason",
		[TRC_SQLBOX_TEXT] = "text",	  [TRC_SQLBOX_STRING] = "string",
		[TRC_SQLBOX_TIME] = "time",	  [TRC_SQLBOX_MAYBE] = "maybe",
		[TRC_SQLBOX_END] = "end",	  [TRC_SQLBOX_WAKE] = "wake",
		[TRC_SQLBOX_STACK] = "stack",	  [TRC_SQLBOX_DEPTH] = "depth",
		[TRC_SQLBOX_FORMULA] = "formula",
	};

	return name[how];
}

/* --- B1 --- */

static bool is_in_trace(const struct trc_rows *r, int64_t ns)
{
	return ns >= trc_model_start_ns(r->m) && ns <= trc_model_end_ns(r->m);
}

static bool is_reason(const char *name)
{
	for (unsigned int i = 1; name && i < TRC_REASON_COUNT; i++)
		if (!strcmp(trc_reason_name(i), name))
			return true;
	return false;
}

static bool is_unlock(const struct trc_rows *r, int64_t id)
{
	size_t n;

	trc_model_unlocks(r->m, &n);
	return id > 0 && (uint64_t)id <= n && r->unlock_idx[id - 1];
}

static bool is_sampled(const struct trc_rows *r, int64_t id)
{
	size_t n;
	const struct trc_sample_event *e = trc_model_sample_events(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (e[i].event == id)
			return true;
	return false;
}

/* Of a value that is known. */
static bool known_is_told(const struct trc_rows *r, enum trc_sqlbox_how how, int64_t value,
			  const struct trc_sqlbox_start *start)
{
	const int64_t exact_max = (int64_t)1 << 53;

	switch (how) {
	case TRC_SQLBOX_VALUE:
		return value >= 0 && value <= exact_max;
	case TRC_SQLBOX_SIGNED:
		return value >= -exact_max / 2 && value <= exact_max / 2;
	case TRC_SQLBOX_ID:
		return value > 0 && value <= exact_max;
	case TRC_SQLBOX_NEXT:
		return value >= 0 && value < exact_max;
	case TRC_SQLBOX_THREAD:
		return value > 0 && value <= UINT32_MAX && trc_rows_thread(r, (uint32_t)value);
	case TRC_SQLBOX_UNLOCK:
		return is_unlock(r, value);
	case TRC_SQLBOX_SAMPLED:
		return is_sampled(r, value);
	case TRC_SQLBOX_TIME:
	case TRC_SQLBOX_MAYBE:
		return is_in_trace(r, value);
	case TRC_SQLBOX_END:
		return start->known && is_in_trace(r, start->ns) && is_in_trace(r, value) &&
		       value >= start->ns;
	case TRC_SQLBOX_WAKE:
		return start->known && is_in_trace(r, start->ns);
	default:
		return true;
	}
}

/* Whether the page makes NULL of what is not known. */
static bool null_is_told(enum trc_sqlbox_how how)
{
	switch (how) {
	case TRC_SQLBOX_ID:
	case TRC_SQLBOX_NEXT:
	case TRC_SQLBOX_THREAD:
	case TRC_SQLBOX_FIBER:
	case TRC_SQLBOX_UNLOCK:
	case TRC_SQLBOX_SAMPLED:
	case TRC_SQLBOX_REASON:
	case TRC_SQLBOX_TEXT:
	case TRC_SQLBOX_MAYBE:
	case TRC_SQLBOX_WAKE:
		return true;
	default:
		return false;
	}
}

bool trc_sqlbox_is_told(const struct trc_rows *r, const struct trc_sqlbox_mapping *mapping,
			sqlite3_stmt *stmt, int column, int type, struct trc_sqlbox_start *start)
{
	bool known = type != SQLITE_NULL;
	int64_t value = sqlite3_column_int64(stmt, column);

	if (mapping->how == TRC_SQLBOX_TIME)
		*start = (struct trc_sqlbox_start){known, value};
	if (!known)
		return null_is_told(mapping->how);
	if (mapping->how == TRC_SQLBOX_REASON)
		return is_reason((const char *)sqlite3_column_text(stmt, column));
	return known_is_told(r, mapping->how, value, start);
}

bool trc_sqlbox_is_sure(const struct trc_sqlbox_mapping *mapping,
			const struct trc_sql_column *column)
{
	switch (mapping->how) {
	case TRC_SQLBOX_VALUE:
		return column->field == TRC_FIELD_U32 || column->field == TRC_FIELD_ROW_ID ||
		       column->field == TRC_FIELD_BOOL;
	case TRC_SQLBOX_ID:
		return column->field == TRC_FIELD_ID32;
	default:
		return false;
	}
}
