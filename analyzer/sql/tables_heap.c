/* tables_heap.c - the tables of what was allocated; see table.h. */
#include "columns.h"

/* What allocations and frees have in common; `in` is the path to it. */
#define OBJECT_COLUMNS(row, in)                                                                                  \
	{"sample",	    "INTEGER",	     TRC_FIELD_U64,                                                      \
	 F(row, in sample), .indexed = true, .doc = "the sample's number in the process"},                       \
		{"address",	     "INTEGER",	      TRC_FIELD_U64,                                             \
		 F(row, in address), .indexed = true, .doc = "where the memory lies"},                           \
		{"bytes", "INTEGER", TRC_FIELD_U64, F(row, in bytes),                                            \
		 .doc = "how much was asked for"},                                                               \
		{"period", "INTEGER", TRC_FIELD_U64, F(row, in period),                                          \
		 .doc = "bytes between two samples then, on average"},                                           \
	{                                                                                                        \
		"objects", "REAL", TRC_FIELD_DOUBLE, F(row, in objects),                                         \
			.doc = "how many allocations of this size it stands for: 1 / (1 - exp(-bytes / period))" \
	}

CALL(alloc_state)
{
	const struct trc_alloc *alloc = row;

	trc_sql_set_text(value, alloc->lives		       ? "live"
				: alloc->freed_ns != TRC_NEVER ? "freed"
							       : "lost");
}

CALL(alloc_lifetime)
{
	const struct trc_alloc *alloc = row;

	if (alloc->freed_ns != TRC_NEVER)
		trc_sql_set_integer(value, alloc->freed_ns - alloc->ts_ns);
}

ROWS(allocs)
static const struct trc_sql_column allocs_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by time"},
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(alloc, ts_ns), IN_ORDER, .doc = "when"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(alloc, proc), .of = "procs",
	 .doc = "where the thread ran"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(alloc, thread), .indexed = true, .of = "threads",
	 .doc = "who allocated it"},
	OBJECT_COLUMNS(alloc, ),
	{"stack", "INTEGER", TRC_FIELD_ID32, F(alloc, stack), .indexed = true, .of = "stacks",
	 .doc = "where it was allocated"},
	{"labels", "INTEGER", TRC_FIELD_ID32, F(alloc, labels), .indexed = true, .of = "labels",
	 .doc = "the label set that the thread had"},
	{"state", "TEXT", TRC_FIELD_CALL, 0, alloc_state,
	 .doc = "live: at the end of the trace; freed, or gone when the process executed another "
		"program; lost: its free is missing, but something else lies there later"},
	{"freed_ns", "INTEGER", TRC_FIELD_NS, F(alloc, freed_ns),
	 .doc = "when it was given back; NULL = not, or not known"},
	{"lifetime_ns", "INTEGER", TRC_FIELD_CALL, 0, alloc_lifetime, .doc = "freed_ns - ts_ns"},
	{"free", "INTEGER", TRC_FIELD_ID32, F(alloc, free), .indexed = true, .of = "frees",
	 .doc = "the id in frees"},
};

ROWS(frees)
static const struct trc_sql_column frees_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ... by time"},
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(free, ts_ns), IN_ORDER, .doc = "when"},
	{"proc", "INTEGER", TRC_FIELD_PROC, F(free, proc), .of = "procs",
	 .doc = "where the thread ran"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(free, thread), .indexed = true, .of = "threads",
	 .doc = "who gave it back"},
	OBJECT_COLUMNS(free, ),
	{"alloc", "INTEGER", TRC_FIELD_ID32, F(free, alloc), .indexed = true, .of = "allocs",
	 .doc = "the id in allocs; NULL = it was allocated before the trace or its window, or lost"},
};

CALL(object_age)
{
	const struct trc_heap_object *object = row;

	trc_sql_set_integer(value, trc_model_end_ns(m) - object->alloc.ts_ns);
}

ROWS(heap)
static const struct trc_sql_column heap_columns[] = {
	{"alloc", "INTEGER", TRC_FIELD_U32, F(heap_object, id), IS_ID, .doc = "the id in allocs",
	 .of = "allocs"},
	{"ts_ns", "INTEGER", TRC_FIELD_NS, F(heap_object, alloc.ts_ns), IN_ORDER,
	 .doc = "when it was allocated"},
	{"age_ns", "INTEGER", TRC_FIELD_CALL, 0, object_age,
	 .doc = "how long before the trace's end"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(heap_object, alloc.thread), .indexed = true,
	 .of = "threads", .doc = "who allocated it"},
	OBJECT_COLUMNS(heap_object, alloc.),
	{"stack", "INTEGER", TRC_FIELD_ID32, F(heap_object, alloc.stack), .indexed = true,
	 .of = "stacks", .doc = "where it was allocated"},
	{"labels", "INTEGER", TRC_FIELD_ID32, F(heap_object, alloc.labels), .indexed = true,
	 .of = "labels", .doc = "the label set that the thread had"},
};

#define TABLE(table, row, doc)                                                                     \
	{                                                                                          \
#table, doc, TRC_PART_HEAP, table##_columns, N(table##_columns),                   \
			sizeof(struct trc_##row), table##_rows, NULL                               \
	}

const struct trc_sql_table trc_sql_heap_tables[] = {
	TABLE(allocs, alloc, "allocations that were sampled"),
	TABLE(frees, free, "the ends of sampled allocations"),
	TABLE(heap, heap_object, "sampled allocations that live at the end of the trace"),
};
const size_t trc_sql_n_heap_tables = N(trc_sql_heap_tables);
