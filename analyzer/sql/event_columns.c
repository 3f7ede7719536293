/*
 * event_columns.c - the columns of events and of the tables of single kinds.
 *
 * One column for each distinct name of an argument over all kinds, in the order in which
 * the schema has them; `stack` stands with the columns that every event has.
 */
#include <stdio.h>
#include <string.h>
#include "vtab.h"

const struct trc_kind_info *trc_event_kind(const struct trc_model *m, unsigned int kind)
{
	return m ? trc_reader_kind(trc_model_reader(m), kind) : trc_kind_info(kind);
}

const char *trc_event_kind_name(const struct trc_model *m, unsigned int kind)
{
	static char names[TRC_KIND_MAX + 1][12];
	const char *name = trc_event_kind(m, kind)->name;

	if (name)
		return name;
	if (!names[kind][0])
		snprintf(names[kind], sizeof(names[kind]), "kind_%u", kind);
	return names[kind];
}

static size_t column_find(struct trc_event_columns *columns, const char *name)
{
	size_t i = 0;

	while (i < columns->n && strcmp(columns->column[i].name, name) != 0)
		i++;
	return i;
}

static size_t column_add(struct trc_event_columns *columns, const char *name, const char *type,
			 const char *doc)
{
	size_t i = column_find(columns, name);
	struct trc_event_column *column = &columns->column[i];

	if (i == columns->n && columns->n < TRC_EVENT_COLUMNS_MAX) {
		snprintf(column->name, sizeof(column->name), "%s", name);
		column->type = type;
		column->doc = doc;
		columns->n++;
	}
	return i;
}

static bool shown_as_text(const struct trc_arg_info *arg)
{
	return arg->type == TRC_ARG_REASON || arg->type == TRC_ARG_STRING ||
	       arg->type == TRC_ARG_TEXT || trc_arg_type_is_enum(arg->type);
}

/* A time is in nanoseconds in SQL, whatever it is in the file: so says its name (schema:S4). */
static void column_name(const struct trc_arg_info *arg, char name[TRC_COLUMN_NAME_BYTES])
{
	bool is_time = arg->type == TRC_ARG_NS || arg->type == TRC_ARG_TICKS;

	snprintf(name, TRC_COLUMN_NAME_BYTES, "%s%s", arg->name, is_time ? "_ns" : "");
}

/* The names of an enum follow what its argument means. */
static void print_meaning(FILE *out, const struct trc_arg_info *arg)
{
	const char *name, *before = ": ";

	fputs(arg->doc, out);
	if (!trc_arg_type_is_enum(arg->type))
		return;
	for (uint64_t i = 1; *(name = trc_arg_value_name(arg->type, i)) != '?'; i++) {
		fprintf(out, "%s%s", before, name);
		before = ", ";
	}
}

/* The argument of `kind` that the column shows, if it has one. */
static const struct trc_arg_info *arg_of(const struct trc_event_columns *columns,
					 const struct trc_model *m, unsigned int kind,
					 size_t column)
{
	unsigned int a = columns->arg[kind][column];

	return a ? &trc_event_kind(m, kind)->arg[a - 1] : NULL;
}

static bool mean_the_same(const struct trc_arg_info *a, const struct trc_arg_info *b)
{
	return a && b && a->type == b->type && !strcmp(a->doc, b->doc);
}

/* "park, wait: what kind of wait; unlock: which kind of lock" */
static void print_by_kinds(FILE *out, const struct trc_event_columns *columns,
			   const struct trc_model *m, size_t column)
{
	bool told[TRC_KIND_MAX + 1] = {false};
	const char *before = "";

	for (unsigned int k = 1; k <= TRC_KIND_MAX; k++) {
		const struct trc_arg_info *arg = arg_of(columns, m, k, column);

		if (!arg || told[k])
			continue;
		fprintf(out, "%s%s", before, trc_event_kind_name(m, k));
		before = "; ";
		for (unsigned int other = k + 1; other <= TRC_KIND_MAX; other++) {
			if (!mean_the_same(arg, arg_of(columns, m, other, column)))
				continue;
			fprintf(out, ", %s", trc_event_kind_name(m, other));
			told[other] = true;
		}
		if (*arg->doc) {
			fputs(": ", out);
			print_meaning(out, arg);
		}
	}
}

void trc_event_column_print_doc(FILE *out, const struct trc_event_columns *columns,
				const struct trc_model *m, size_t column)
{
	if (columns->column[column].doc)
		fputs(columns->column[column].doc, out);
	else if (columns->kind)
		print_meaning(out, arg_of(columns, m, columns->kind, column));
	else
		print_by_kinds(out, columns, m, column);
}

static void arguments_add(struct trc_event_columns *columns, const struct trc_model *m,
			  unsigned int kind)
{
	const struct trc_kind_info *info = trc_event_kind(m, kind);

	for (unsigned int a = 0; info->name && a < info->n_args; a++) {
		const struct trc_arg_info *arg = &info->arg[a];
		char name[TRC_COLUMN_NAME_BYTES];
		size_t i;

		column_name(arg, name);
		i = column_add(columns, name, shown_as_text(arg) ? "TEXT" : "INTEGER", NULL);
		if (i < TRC_EVENT_COLUMNS_MAX)
			columns->arg[kind][i] = (uint8_t)(a + 1);
	}
}

void trc_event_columns_make(struct trc_event_columns *columns, const struct trc_model *m,
			    unsigned int kind)
{
	memset(columns, 0, sizeof(*columns));
	columns->kind = kind;
	column_add(columns, "ts_ns", "INTEGER", "when");
	column_add(columns, "proc", "INTEGER", "the proc that it was recorded on");
	column_add(columns, "thread", "INTEGER", "the thread that it is an event of");
	column_add(columns, "source", "TEXT",
		   "the stream that it comes from: ring, overflow, kernel");
	if (kind) {
		arguments_add(columns, m, kind);
		return;
	}
	column_add(columns, "kind", "TEXT", "what happened: a name in kinds");
	column_add(columns, "stack", "INTEGER", "where, of kinds that have a stack");
	for (unsigned int k = 1; k <= TRC_KIND_MAX; k++)
		arguments_add(columns, m, k);
}
