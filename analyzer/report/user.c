/*
 * user.c - the user's tasks, regions, logs and counters, by type.
 *
 * Percentiles are of tasks and regions that have ended (report:P4); the others are counted as open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/words/user_types.h"
#include "user_times.h"

static void user_print_columns(struct trc_report *r)
{
	static const char *const NAME[] = {"p50", "p95", "p99", "max"};
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  type");
	trc_line_to(&line, 28);
	trc_line_right(&line, 11, "count");
	trc_line_right(&line, 8, "open");
	trc_line_right(&line, 11, "total");
	for (size_t i = 0; i < sizeof(NAME) / sizeof(*NAME); i++)
		trc_line_right(&line, 10, NAME[i]);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void print_type(struct trc_report *r, const struct trc_user_types *t,
		       const struct trc_user_type *type)
{
	static const unsigned int PERCENT[] = {50, 95, 99, 100};
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_line_data(&line, *type->name ? type->name : "(no type)", 26);
	trc_line_to(&line, 28);
	trc_line_right(&line, 11, trc_text_count(number, type->n));
	trc_line_right(&line, 8, type->open ? trc_text_count(number, type->open) : "");
	if (type->n_ended) {
		trc_line_right(&line, 11, trc_text_duration(number, type->total_ns));
		for (size_t i = 0; i < sizeof(PERCENT) / sizeof(*PERCENT); i++)
			trc_line_right(&line, 10,
				       trc_text_duration(number,
							 trc_user_percentile(t, type, PERCENT[i])));
	}
	trc_report_line(r, &line);
}

enum { SLOWEST_OF = 20 }; /* of fewer tasks no slowest ones are told */

static int print_spans(struct trc_report *r, const char *heading, trc_user_span_fn *span_at,
		       size_t n)
{
	struct trc_user_times times = {0};
	struct trc_user_types t;
	int err = trc_user_types_of_spans(&t, r, span_at, n);
	const struct trc_user_type *type = t.types.row;

	if (!err && t.types.n)
		err = trc_user_times_make(&times, r, &t, span_at == trc_user_region_span);
	if (!err && t.types.n) {
		trc_report_heading(r, heading, NULL);
		user_print_columns(r);
		for (size_t i = 0; i < t.types.n && i < r->top && !err; i++) {
			print_type(r, &t, &type[i]);
			trc_user_times_print(&times, r, i);
			if (span_at == trc_user_task_span && type[i].n_ended >= SLOWEST_OF)
				err = trc_report_slowest(r, type[i].name);
		}
		trc_report_more(r, t.types.n);
	}
	trc_user_times_free(&times);
	trc_user_types_free(&t);
	return err;
}

static int compare_by_count(const void *a, const void *b)
{
	const struct trc_user_type *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void print_logs_head(struct trc_report *r)
{
	struct trc_line line;

	trc_report_heading(r, "Logs", NULL);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  category");
	trc_line_to(&line, 28);
	trc_line_right(&line, 11, "messages");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static int print_logs(struct trc_report *r)
{
	size_t n;
	const struct trc_log *log = trc_model_logs(r->m, &n);
	struct trc_user_types t = {0};
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	struct trc_user_type *type;

	for (size_t i = 0; i < n; i++) {
		if (!trc_report_wanted(r, log[i].thread, log[i].ts_ns, log[i].place))
			continue;
		type = trc_user_type_find(&t, log[i].category ? log[i].category : "");
		if (!type) {
			trc_user_types_free(&t);
			return -ENOMEM;
		}
		type->n++;
	}
	if (t.types.n) {
		type = t.types.row;
		qsort(type, t.types.n, sizeof(*type), compare_by_count);
		print_logs_head(r);
		for (size_t i = 0; i < t.types.n && i < r->top; i++) {
			trc_line_begin(&line, r->width, r->colour);
			trc_line_add(&line, "  ");
			trc_line_data(&line, *type[i].name ? type[i].name : "(no category)", 26);
			trc_line_to(&line, 28);
			trc_line_right(&line, 11, trc_text_count(number, type[i].n));
			trc_report_line(r, &line);
		}
		trc_report_more(r, t.types.n);
	}
	trc_user_types_free(&t);
	return 0;
}

struct extremes {
	int64_t least, most, latest;
};

static void print_counter(struct trc_report *r, const struct trc_user_type *type,
			  const struct extremes *e)
{
	const int64_t value[] = {e->least, e->most, e->latest};
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_line_data(&line, *type->name ? type->name : "(no name)", 26);
	trc_line_to(&line, 28);
	trc_line_right(&line, 11, trc_text_count(number, type->n));
	for (size_t i = 0; i < sizeof(value) / sizeof(*value); i++) {
		snprintf(number, sizeof(number), "%" PRId64, value[i]);
		trc_line_right(&line, 20, number);
	}
	trc_report_line(r, &line);
}

static void print_counter_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_report_heading(r, "Counters", NULL);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  name");
	trc_line_to(&line, 28);
	trc_line_right(&line, 11, "values");
	trc_line_right(&line, 20, "least");
	trc_line_right(&line, 20, "most");
	trc_line_right(&line, 20, "last");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static int print_counters(struct trc_report *r)
{
	size_t n;
	const struct trc_counter *counter = trc_model_counters(r->m, &n);
	struct trc_user_types t = {0};
	struct trc_array extremes = {.row_bytes = sizeof(struct extremes)};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct trc_user_type *type;
		struct extremes *e;

		if (!trc_report_wanted(r, counter[i].thread, counter[i].ts_ns, counter[i].place))
			continue;
		type = trc_user_type_find(&t, counter[i].name ? counter[i].name : "");
		e = type && !type->n ? trc_array_add(&extremes) : extremes.row;
		if (!type || !e) {
			err = -ENOMEM;
			break;
		}
		e = (struct extremes *)extremes.row + (type - (struct trc_user_type *)t.types.row);
		if (!type->n++)
			e->least = e->most = counter[i].value;
		if (counter[i].value < e->least)
			e->least = counter[i].value;
		if (counter[i].value > e->most)
			e->most = counter[i].value;
		e->latest = counter[i].value;
	}
	if (t.types.n && !err)
		print_counter_columns(r);
	for (size_t i = 0; i < t.types.n && i < r->top && !err; i++)
		print_counter(r, (struct trc_user_type *)t.types.row + i,
			      (struct extremes *)extremes.row + i);
	if (!err)
		trc_report_more(r, t.types.n);
	trc_array_free(&extremes);
	trc_user_types_free(&t);
	return err;
}

int trc_report_user(struct trc_report *r)
{
	size_t n_tasks, n_regions;
	int err;

	trc_model_tasks(r->m, &n_tasks);
	trc_model_regions(r->m, &n_regions);
	err = print_spans(r, "Tasks", trc_user_task_span, n_tasks);
	if (!err)
		err = print_spans(r, "Regions", trc_user_region_span, n_regions);
	if (!err)
		err = print_logs(r);
	return err ? err : print_counters(r);
}
