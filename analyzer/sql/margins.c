/*
 * margins.c - aggregate functions of queries: how far sums of samples may be off.
 *
 * The formulas are those of analyzer/model/margin.h.  A sum over samples needs the sum of all samples of the
 * event for each thread: over the whole trace, whatever the query asks for.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/array.h"
#include "analyzer/model/margin.h"
#include "parts.h"

/* What samples there are of an event and thread. */
struct row {
	uint32_t event, thread;
	struct trc_margin_part part;
};

struct rows {
	struct trc_index index; /* by event and thread */
	struct trc_array rows;	/* struct row */
};

/* What both functions are registered with; only samples_margin() uses more than the first. */
struct bound {
	struct trc_model *m;
	bool is_summed;
	struct rows all;
};

static void rows_free(struct rows *rows)
{
	trc_index_free(&rows->index);
	trc_array_free(&rows->rows);
}

static struct row *row_find(const struct rows *rows, uint32_t event, uint32_t thread)
{
	uint32_t at = trc_index_get(&rows->index, (uint64_t)event << 32 | thread);

	return at == TRC_INDEX_NONE ? NULL : (struct row *)rows->rows.row + at;
}

/* 0 or -ENOMEM. */
static int margin_rows_add(struct rows *rows, uint32_t event, uint32_t thread, uint64_t value)
{
	struct row *row = row_find(rows, event, thread);
	int err = 0;

	rows->rows.row_bytes = sizeof(*row);
	if (!row) {
		row = trc_array_add(&rows->rows);
		if (!row)
			return -ENOMEM;
		*row = (struct row){.event = event, .thread = thread};
		err = trc_index_put(&rows->index, (uint64_t)event << 32 | thread,
				    (uint32_t)(rows->rows.n - 1));
	}
	trc_margin_part_add(&row->part, value);
	return err;
}

/* 0, or -errno with a line in error. */
static int margins_sum_all(struct bound *bound, struct trc_error *error)
{
	int err = bound->is_summed ? 0 : trc_model_need(bound->m, TRC_PART_SAMPLES, error);
	size_t n;
	const struct trc_sample *sample = trc_model_samples(bound->m, &n);

	if (err || bound->is_summed)
		return err;
	for (size_t i = 0; !err && i < n; i++)
		err = margin_rows_add(&bound->all, sample[i].event, sample[i].thread,
				      sample[i].scaled);
	if (err)
		snprintf(error->text, sizeof(error->text), "out of memory");
	bound->is_summed = !err;
	return err;
}

/* ---- samples_margin(event, thread, value) ---- */

static void samples_step(sqlite3_context *context, int n, sqlite3_value **value)
{
	struct rows *group = sqlite3_aggregate_context(context, sizeof(*group));
	sqlite3_int64 amount = sqlite3_value_int64(value[2]);

	(void)n;
	if (!group || amount < 0 || sqlite3_value_type(value[2]) == SQLITE_NULL)
		return;
	if (margin_rows_add(group, (uint32_t)sqlite3_value_int64(value[0]),
			    (uint32_t)sqlite3_value_int64(value[1]), (uint64_t)amount))
		sqlite3_result_error_nomem(context);
}

static double samples_margin(const struct bound *bound, const struct rows *group)
{
	const struct row *row = group->rows.row;
	struct trc_margin margin = {0};

	for (size_t i = 0; i < group->rows.n; i++) {
		const struct row *whole = row_find(&bound->all, row[i].event, row[i].thread);

		if (trc_model_is_counted(bound->m, row[i].event))
			continue;
		trc_margin_add(&margin, &row[i].part, whole ? &whole->part : &row[i].part);
	}
	return trc_margin_value(&margin);
}

/* NULL of no samples. */
static void samples_final(sqlite3_context *context)
{
	struct bound *bound = sqlite3_user_data(context);
	struct rows *group = sqlite3_aggregate_context(context, 0);
	struct trc_error error;

	if (!group)
		return;
	if (group->rows.n && margins_sum_all(bound, &error))
		sqlite3_result_error(context, error.text, -1);
	else if (group->rows.n)
		sqlite3_result_int64(
			context, (sqlite3_int64)fmin(ceil(samples_margin(bound, group)), 0x1p62));
	rows_free(group);
}

/* ---- heap_margin(objects, amount) ---- */

static void heap_step(sqlite3_context *context, int n, sqlite3_value **value)
{
	struct trc_heap_margin *group = sqlite3_aggregate_context(context, sizeof(*group));

	(void)n;
	if (group && sqlite3_value_type(value[0]) != SQLITE_NULL)
		trc_heap_margin_add(group, sqlite3_value_double(value[0]),
				    sqlite3_value_double(value[1]));
}

/* NULL of no allocations. */
static void heap_final(sqlite3_context *context)
{
	const struct trc_heap_margin *group = sqlite3_aggregate_context(context, 0);

	if (group)
		sqlite3_result_double(context, trc_heap_margin(group));
}

/* ---- blame_margin(labels, margin_ns) ---- */

/* The squares of the margins, by label set. */
struct squares {
	struct trc_index index;
	struct trc_array rows; /* double */
};

static void blame_step(sqlite3_context *context, int n, sqlite3_value **value)
{
	struct squares *group = sqlite3_aggregate_context(context, sizeof(*group));
	double margin = sqlite3_value_double(value[1]), *sum;
	uint32_t number;

	(void)n;
	if (!group || sqlite3_value_type(value[1]) == SQLITE_NULL)
		return;
	group->rows.row_bytes = sizeof(*sum);
	number = trc_index_number(&group->index, (uint64_t)sqlite3_value_int64(value[0]));
	sum = number > group->rows.n ? trc_array_add(&group->rows)
				     : (double *)group->rows.row + number - 1;
	if (!number || !sum)
		sqlite3_result_error_nomem(context);
	else
		*sum += margin * margin;
}

/* Rows of one label set have different samples: their variances add up.  Rows of several label sets may have the same
 * samples: there the margins do.  NULL of rows that are exact. */
static void blame_final(sqlite3_context *context)
{
	struct squares *group = sqlite3_aggregate_context(context, 0);
	double margin = 0;

	if (!group)
		return;
	for (size_t i = 0; i < group->rows.n; i++)
		margin += sqrt(((const double *)group->rows.row)[i]);
	if (group->rows.n)
		sqlite3_result_int64(context, (sqlite3_int64)fmin(ceil(margin), 0x1p62));
	trc_index_free(&group->index);
	trc_array_free(&group->rows);
}

/* ---- what they are called ---- */

static const struct function {
	const char *name, *arguments, *doc;
	int n_arguments;
	void (*step)(sqlite3_context *context, int n, sqlite3_value **value);
	void (*final)(sqlite3_context *context);
} FUNCTIONS[] = {
	{"samples_margin", "event, thread, scaled_value",
	 "of many rows of samples: how far sum(scaled_value) may be off, half of its 95 % interval",
	 3, samples_step, samples_final},
	{"blame_margin", "labels, margin_ns",
	 "of many rows of blame: how far sum(ns) may be off at most, half of its 95 % interval", 2,
	 blame_step, blame_final},
	{"heap_margin", "objects, bytes",
	 "of many rows of allocs, frees or heap: the same of sum(objects * bytes)", 2, heap_step,
	 heap_final},
};
enum { N_FUNCTIONS = sizeof(FUNCTIONS) / sizeof(*FUNCTIONS) };

static void bound_free(void *pointer)
{
	struct bound *bound = pointer;

	rows_free(&bound->all);
	free(bound);
}

int trc_sql_add_margins(sqlite3 *db, struct trc_model *m)
{
	int rc = 0;

	for (size_t i = 0; i < N_FUNCTIONS && !rc; i++) {
		const struct function *f = &FUNCTIONS[i];
		struct bound *bound = calloc(1, sizeof(*bound));

		if (!bound)
			return SQLITE_NOMEM;
		bound->m = m;
		/* Frees it, also on failure. */
		rc = sqlite3_create_function_v2(db, f->name, f->n_arguments,
						SQLITE_UTF8 | SQLITE_DETERMINISTIC, bound, NULL,
						f->step, f->final, bound_free);
	}
	return rc;
}

void trc_sql_print_margins(FILE *out)
{
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		fprintf(out, "-- %s(%s): %s\n", FUNCTIONS[i].name, FUNCTIONS[i].arguments,
			FUNCTIONS[i].doc);
}
