/*
 * table.h - the tables of SQL that are arrays of the model, as descriptions.
 *
 * One description serves the virtual table, --schema, --db and the test that compares
 * docs/schema.md.  A column says where a row's value comes from: a field, or a function.
 *
 *   table:Q1  unknown is NULL: a time that is TRC_NEVER, an id that is 0, a text
 *       that is "" unless it is known to be
 *   table:Q2  values of an `ordered` column never decrease from row to row; NULL comes first
 *   table:Q3  rows are found without a walk over the table in two cases: by each column that is `ordered`; and by
 *       equality with an INTEGER column that is `indexed`, or that is the id of something (`of`)
 */
#ifndef TRC_ANALYZER_SQL_TABLE_H
#define TRC_ANALYZER_SQL_TABLE_H

#include "analyzer/model/array.h"
#include "analyzer/model/model.h"

enum trc_sql_kind { TRC_SQL_NULL, TRC_SQL_INTEGER, TRC_SQL_REAL, TRC_SQL_TEXT };

struct trc_sql_value {
	enum trc_sql_kind kind;
	int64_t integer;
	double real;
	const char *text; /* zero-terminated; as old as the model, or `buffer` */
	char buffer[2 * TRC_BUILD_ID_BYTES_MAX + 1];
};

/* How a field is read; the C type that goes with it, and what is NULL. */
enum trc_sql_field {
	TRC_FIELD_ROW_ID,	  /* none: the row's index + 1 */
	TRC_FIELD_NS,		  /* int64_t, TRC_NEVER */
	TRC_FIELD_I64,		  /* int64_t */
	TRC_FIELD_U64,		  /* uint64_t */
	TRC_FIELD_U32,		  /* uint32_t */
	TRC_FIELD_ID32,		  /* uint32_t, 0 */
	TRC_FIELD_ID64,		  /* uint64_t, 0 */
	TRC_FIELD_PROC,		  /* uint32_t, TRC_NO_PROC */
	TRC_FIELD_BOOL,		  /* bool */
	TRC_FIELD_ERRNO,	  /* int16_t, -1 */
	TRC_FIELD_REASON,	  /* uint8_t; as text */
	TRC_FIELD_CAUSE,	  /* uint8_t, an enum trc_gap_cause; as text */
	TRC_FIELD_SOURCE,	  /* uint8_t, an enum trc_stream_source; as text */
	TRC_FIELD_TEXT,		  /* const char *, "" and NULL */
	TRC_FIELD_STRING,	  /* const char *, NULL: what somebody said, which may be "" */
	TRC_FIELD_DOUBLE,	  /* double */
	TRC_FIELD_REASON_OR_NONE, /* uint8_t, 0; as text */
	TRC_FIELD_CALL,		  /* as the function says */
	TRC_FIELD_FIBER,     /* likewise; with TRC_PART_FIBERS, which the table need not name */
	TRC_FIELD_PREEMPTED, /* likewise; with TRC_PART_PREEMPTED */
};

typedef void trc_sql_call(const struct trc_model *m, size_t i, const void *row,
			  struct trc_sql_value *value);

struct trc_sql_column {
	const char *name;
	const char *type; /* INTEGER, REAL, TEXT, or "": any */
	enum trc_sql_field field;
	size_t off;
	trc_sql_call *call;
	bool ordered; /* Q2 */
	bool unique;
	bool indexed; /* --db makes an index of it */
	const char *doc;
	const char *of; /* the table whose first column it refers to; NULL = none */
};

struct trc_sql_table {
	const char *name;
	const char *doc;
	unsigned int parts; /* enum trc_part that it needs, whatever columns are asked for */
	const struct trc_sql_column *column;
	size_t n_columns;
	size_t row_bytes;
	/* The rows once the parts are there; it may return NULL if every column is a call.  NULL: see `make`, or the
	 * rows are derived while they are read (vtab_causes.c), and --db leaves them out. */
	const void *(*rows)(const struct trc_model *m, size_t *n);
	/* Instead: makes the rows, once for a connection, into an array that is the caller's to free.
	 * 0 or -errno with a line in error. */
	int (*make)(struct trc_model *m, struct trc_array *rows, struct trc_error *error);
};

/* Tables over the model's arrays of rows: tables_rows.c. */
extern const struct trc_sql_table trc_sql_row_tables[];
extern const size_t trc_sql_n_row_tables;
/* Tables of what is so when the trace ends: tables_now.c. */
extern const struct trc_sql_table trc_sql_lock_tables[];
extern const size_t trc_sql_n_lock_tables;
extern const struct trc_sql_table trc_sql_now_tables[];
extern const size_t trc_sql_n_now_tables;
/* Tables of samples: tables_samples.c. */
extern const struct trc_sql_table trc_sql_sample_tables[];
extern const size_t trc_sql_n_sample_tables;
/* Tables of scheduling: tables_sched.c. */
extern const struct trc_sql_table trc_sql_sched_tables[];
extern const size_t trc_sql_n_sched_tables;
/* Tables of what was allocated: tables_heap.c. */
extern const struct trc_sql_table trc_sql_heap_tables[];
extern const size_t trc_sql_n_heap_tables;
/* Tables of fibers: tables_fibers.c. */
extern const struct trc_sql_table trc_sql_fiber_tables[];
extern const size_t trc_sql_n_fiber_tables;
/* Tables of why waits lasted: vtab_causes.c. */
extern const struct trc_sql_table trc_sql_cause_tables[];
extern const size_t trc_sql_n_cause_tables;
/* Tables of what in the end held threads up: tables_blame.c. */
extern const struct trc_sql_table trc_sql_blame_tables[];
extern const size_t trc_sql_n_blame_tables;
/* Tables of who worked for tasks: tables_tasks.c. */
extern const struct trc_sql_table trc_sql_task_tables[];
extern const size_t trc_sql_n_task_tables;
/* What is wrong with the program: tables_findings.c. */
extern const struct trc_sql_table trc_sql_finding_tables[];
extern const size_t trc_sql_n_finding_tables;
/* The selected parts of the tables: selected.c. */
extern const struct trc_sql_table trc_sql_selected_tables[];
extern const size_t trc_sql_n_selected_tables;
/* Tables over what the file says of itself and the program's code: tables_code.c. */
extern const struct trc_sql_table trc_sql_code_tables[];
extern const size_t trc_sql_n_code_tables;

/* All of them, i = 0, 1, ...; NULL after the last. */
const struct trc_sql_table *trc_sql_table_at(size_t i);
/* NULL = there is none of this name. */
const struct trc_sql_table *trc_sql_table_named(const char *name);
/* Q3, of a column that is not ordered. */
bool trc_sql_is_looked_up(const struct trc_sql_column *column);

/* The value of a column in row i of n; `rows` as table->rows() returned it. */
void trc_sql_get(const struct trc_model *m, const struct trc_sql_table *table,
		 const struct trc_sql_column *column, const void *rows, size_t i,
		 struct trc_sql_value *value);

/* Functions by which calls set their value; a text that is NULL or "" is not known. */
void trc_sql_set_integer(struct trc_sql_value *value, int64_t integer);
void trc_sql_set_text(struct trc_sql_value *value, const char *text);
/* The number of the fiber with this row id; 0 is none. */
void trc_sql_set_fiber(const struct trc_model *m, uint32_t fiber, struct trc_sql_value *value);

const char *trc_source_name(unsigned int source);

#endif
