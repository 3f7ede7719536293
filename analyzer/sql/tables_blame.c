/* tables_blame.c - the table of what in the end held threads up that waited; see table.h. */
#include <stdio.h>
#include <string.h>
#include "analyzer/causes/blame_sums.h"
#include "analyzer/causes/causes.h"
#include "columns.h"

CALL(blame_kind)
{
	trc_sql_set_text(value, trc_cause_name(((const struct trc_blame_row *)row)->kind));
}

CALL(blame_stack_of)
{
	trc_sql_set_text(value,
			 trc_cause_stack_name(((const struct trc_blame_row *)row)->stack_of));
}

/* Whatever sample tells the place of a thread that ran leaves open how far it may be off. */
CALL(blame_margin)
{
	const struct trc_blame_row *blame = row;

	if (blame->stack_of == TRC_CAUSE_STACK_SAMPLE)
		trc_sql_set_integer(value, blame->margin_ns);
}

static const struct trc_sql_column blame_columns[] = {
	{"cause", "TEXT", TRC_FIELD_CALL, 0, blame_kind,
	 .doc = "what the thread was in, as in causes: one of its leaves"},
	{"thread", "INTEGER", TRC_FIELD_ID32, F(blame_row, thread), .of = "threads",
	 .doc = "which thread; NULL = not known, or nobody held the lock"},
	{"reason", "TEXT", TRC_FIELD_REASON_OR_NONE, F(blame_row, reason),
	 .doc = "what kind of wait it was in itself; NULL = in none"},
	{"stack", "INTEGER", TRC_FIELD_ID32, F(blame_row, stack), .of = "stacks",
	 .doc = "where it was"},
	{"stack_of", "TEXT", TRC_FIELD_CALL, 0, blame_stack_of,
	 .doc = "what the stack is of, as in causes: wait, sample or end"},
	{"labels", "INTEGER", TRC_FIELD_ID32, F(blame_row, labels), .of = "labels",
	 .doc = "the label set of those that waited, when they began to"},
	{"ns", "INTEGER", TRC_FIELD_I64, F(blame_row, ns),
	 .doc = "for how long they waited because of that, summed"},
	{"margin_ns", "INTEGER", TRC_FIELD_CALL, 0, blame_margin,
	 .doc = "how far ns may be off where samples tell the stack, half of its 95 % interval; NULL = ns "
		"is exact. Of sums: blame_margin()"},
};

static int blame_make(struct trc_model *m, struct trc_array *rows, struct trc_error *error)
{
	int err = trc_model_need(m, TRC_CAUSES_PARTS, error);

	if (err)
		return err;
	err = trc_blame_rows(m, NULL, NULL, rows, NULL);
	if (err)
		snprintf(error->text, sizeof(error->text), "blame: %s", strerror(-err));
	return err;
}

const struct trc_sql_table trc_sql_blame_tables[] = {
	{"blame", "what in the end held up the threads that waited for locks and for each other", 0,
	 blame_columns, N(blame_columns), sizeof(struct trc_blame_row), NULL, blame_make},
};
const size_t trc_sql_n_blame_tables = N(trc_sql_blame_tables);
