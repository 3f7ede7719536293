/*
 * sizes.c - about how many rows a table has, for SQLite's planner, which asks before anything is derived.
 *
 * Headers of the file's blocks say how many events of each kind there are, and most tables have a row for each event of some
 * kind.  The planner only needs to know which of two tables is larger, and by what power of ten.
 */
#include <string.h>
#include "vtab.h"

#define KIND(name) (UINT64_C(1) << TRC_KIND_##name)

static const struct size {
	const char *table;
	uint64_t kinds;	  /* a row for each of these events */
	const char *like; /* or so many for each row of this table */
	unsigned int times;
} sizes[] = {
	{.table = "parks", .kinds = KIND(PARK) | KIND(WAIT)},
	{.table = "unlocks", .kinds = KIND(UNLOCK)},
	{.table = "tasks", .kinds = KIND(TASK_BEGIN)},
	{.table = "regions", .kinds = KIND(REGION_BEGIN)},
	{.table = "logs", .kinds = KIND(LOG)},
	{.table = "counters", .kinds = KIND(COUNTER)},
	{.table = "on_cpu", .kinds = KIND(PROC_START)},
	{.table = "sched_latency", .kinds = KIND(PROC_START)},
	{.table = "holds", .kinds = KIND(ACQUIRE)},
	{.table = "samples", .kinds = KIND(SAMPLE)},
	{.table = "samples_lost", .kinds = KIND(SAMPLES_LOST)},
	{.table = "allocs", .kinds = KIND(ALLOC)},
	{.table = "frees", .kinds = KIND(FREE)},
	{.table = "heap", .kinds = KIND(ALLOC)},
	{.table = "fibers", .kinds = KIND(FIBER_CREATE)},
	{.table = "fiber_runs", .kinds = KIND(FIBER_SWITCH)},
	{.table = "fiber_waits", .kinds = KIND(FIBER_SWITCH)},
	{.table = "labels", .kinds = KIND(LABELS) | KIND(OTEL_CONTEXT)},
	{.table = "label_spans", .kinds = KIND(LABELS)},
	{.table = "gaps", .kinds = KIND(GAP)},
	{.table = "task_spans", .like = "tasks", .times = 2},
	{.table = "task_times", .like = "tasks", .times = 4},
	{.table = "region_times", .like = "regions", .times = 4},
	{.table = "selected", .like = "parks", .times = 1},
	{.table = "stack_frames", .like = "stacks", .times = 16},
	{.table = "frames", .like = "stacks", .times = 2},
	{.table = "blame", .like = "stacks", .times = 4},
	{.table = "threads_now", .like = "threads", .times = 1},
	{.table = "open_regions", .like = "threads", .times = 1},
	{.table = "locks_held", .like = "threads", .times = 1},
	{.table = "objects", .like = "threads", .times = 4},
	{.table = "locks", .like = "threads", .times = 4},
};

static const struct size *size_of(const struct trc_sql_table *table)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!strcmp(sizes[i].table, table->name))
			return &sizes[i];
	return NULL;
}

static uint64_t events_of(const struct trc_reader *r, uint64_t kinds)
{
	uint64_t n = 0;

	for (size_t b = 0; b < trc_reader_blocks(r); b++)
		for (uint64_t bits = kinds; bits; bits &= bits - 1)
			n += trc_reader_block(r, b)->kind_count[__builtin_ctzll(bits)];
	return n;
}

double trc_sql_rows_guess(const struct trc_model *m, const struct trc_sql_table *table)
{
	const struct trc_reader *r = trc_model_reader(m);
	const struct size *size = size_of(table);
	size_t n = 0;

	if (table->rows)
		table->rows(m, &n);
	if (n)
		return (double)n;
	if (!strcmp(table->name, "threads"))
		return (double)trc_reader_threads(r);
	if (size && size->like)
		return size->times * trc_sql_rows_guess(m, trc_sql_table_named(size->like));
	return size ? (double)events_of(r, size->kinds) : 0;
}
