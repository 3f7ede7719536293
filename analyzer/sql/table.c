/* table.c - see table.h. */
#include <string.h>
#include "table.h"

void trc_sql_set_integer(struct trc_sql_value *value, int64_t integer)
{
	value->kind = TRC_SQL_INTEGER;
	value->integer = integer;
}

void trc_sql_set_text(struct trc_sql_value *value, const char *text)
{
	value->kind = text && *text ? TRC_SQL_TEXT : TRC_SQL_NULL;
	value->text = text;
}

void trc_sql_set_fiber(const struct trc_model *m, uint32_t fiber, struct trc_sql_value *value)
{
	size_t n;
	const struct trc_fiber *row = trc_model_fibers(m, &n);

	if (fiber && fiber <= n)
		trc_sql_set_integer(value, (int64_t)row[fiber - 1].fiber);
}

const char *trc_source_name(unsigned int source)
{
	static const char *const name[] = {
		[TRC_SOURCE_RING] = "ring",
		[TRC_SOURCE_OVERFLOW] = "overflow",
		[TRC_SOURCE_KERNEL] = "kernel",
	};

	return source < sizeof(name) / sizeof(name[0]) ? name[source] : "?";
}

/* An integer field that is `unknown` when it is not known. */
static void set_known(struct trc_sql_value *value, int64_t integer, int64_t unknown)
{
	trc_sql_set_integer(value, integer);
	if (integer == unknown)
		value->kind = TRC_SQL_NULL;
}

#define READ(type, from)                                                                           \
	({                                                                                         \
		type read_value;                                                                   \
		memcpy(&read_value, from, sizeof(read_value));                                     \
		read_value;                                                                        \
	})

static void get_field(const struct trc_model *m, enum trc_sql_field field, const char *from,
		      struct trc_sql_value *value)
{
	switch (field) {
	case TRC_FIELD_NS:
		set_known(value, READ(int64_t, from), TRC_NEVER);
		break;
	case TRC_FIELD_I64:
	case TRC_FIELD_U64:
		trc_sql_set_integer(value, READ(int64_t, from));
		break;
	case TRC_FIELD_U32:
		trc_sql_set_integer(value, READ(uint32_t, from));
		break;
	case TRC_FIELD_ID32:
		set_known(value, READ(uint32_t, from), 0);
		break;
	case TRC_FIELD_ID64:
		set_known(value, READ(int64_t, from), 0);
		break;
	case TRC_FIELD_PROC:
		set_known(value, READ(uint32_t, from), TRC_NO_PROC);
		break;
	case TRC_FIELD_DOUBLE:
		value->kind = TRC_SQL_REAL;
		value->real = READ(double, from);
		break;
	case TRC_FIELD_BOOL:
		trc_sql_set_integer(value, READ(bool, from));
		break;
	case TRC_FIELD_ERRNO:
		set_known(value, READ(int16_t, from), -1);
		break;
	case TRC_FIELD_REASON:
		trc_sql_set_text(value,
				 trc_reader_reason_name(trc_model_reader(m), READ(uint8_t, from)));
		break;
	case TRC_FIELD_REASON_OR_NONE:
		if (READ(uint8_t, from))
			get_field(m, TRC_FIELD_REASON, from, value);
		break;
	case TRC_FIELD_CAUSE:
		trc_sql_set_text(value, trc_gap_cause_name(READ(uint8_t, from)));
		break;
	case TRC_FIELD_SOURCE:
		trc_sql_set_text(value, trc_source_name(READ(uint8_t, from)));
		break;
	case TRC_FIELD_TEXT:
		trc_sql_set_text(value, READ(const char *, from));
		break;
	case TRC_FIELD_STRING:
		value->text = READ(const char *, from);
		value->kind = value->text ? TRC_SQL_TEXT : TRC_SQL_NULL;
		break;
	case TRC_FIELD_ROW_ID:
	case TRC_FIELD_CALL:
	case TRC_FIELD_FIBER:
	case TRC_FIELD_PREEMPTED:
		break;
	}
}

void trc_sql_get(const struct trc_model *m, const struct trc_sql_table *table,
		 const struct trc_sql_column *column, const void *rows, size_t i,
		 struct trc_sql_value *value)
{
	const char *row = rows ? (const char *)rows + i * table->row_bytes : NULL;

	value->kind = TRC_SQL_NULL;
	if (column->field == TRC_FIELD_ROW_ID)
		trc_sql_set_integer(value, (int64_t)i + 1);
	else if (column->field == TRC_FIELD_CALL || column->field == TRC_FIELD_FIBER ||
		 column->field == TRC_FIELD_PREEMPTED)
		column->call(m, i, row, value);
	else
		get_field(m, column->field, row + column->off, value);
}

const struct trc_sql_table *trc_sql_table_at(size_t i)
{
	const struct {
		const struct trc_sql_table *table;
		size_t n;
	} group[] = {
		{trc_sql_row_tables, trc_sql_n_row_tables},
		{trc_sql_finding_tables, trc_sql_n_finding_tables},
		{trc_sql_cause_tables, trc_sql_n_cause_tables},
		{trc_sql_blame_tables, trc_sql_n_blame_tables},
		{trc_sql_task_tables, trc_sql_n_task_tables},
		{trc_sql_now_tables, trc_sql_n_now_tables},
		{trc_sql_lock_tables, trc_sql_n_lock_tables},
		{trc_sql_sched_tables, trc_sql_n_sched_tables},
		{trc_sql_sample_tables, trc_sql_n_sample_tables},
		{trc_sql_heap_tables, trc_sql_n_heap_tables},
		{trc_sql_fiber_tables, trc_sql_n_fiber_tables},
		{trc_sql_selected_tables, trc_sql_n_selected_tables},
		{trc_sql_code_tables, trc_sql_n_code_tables},
	};

	for (size_t g = 0; g < sizeof(group) / sizeof(group[0]); g++) {
		if (i < group[g].n)
			return &group[g].table[i];
		i -= group[g].n;
	}
	return NULL;
}

const struct trc_sql_table *trc_sql_table_named(const char *name)
{
	const struct trc_sql_table *table;
	size_t i = 0;

	while ((table = trc_sql_table_at(i++)) && strcmp(table->name, name) != 0)
		;
	return table;
}

bool trc_sql_is_looked_up(const struct trc_sql_column *column)
{
	return (column->indexed || column->of) && !strcmp(column->type, "INTEGER");
}
