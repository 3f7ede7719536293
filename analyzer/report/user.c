/*
 * user.c - the user's tasks, regions, logs and counters, by type.
 *
 * Percentiles are of those that have ended (report:P4); what has not is counted as open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/causes/causes.h"

struct type {
	const char *name;
	uint64_t n, open;
	size_t first, n_ended; /* of its part of the durations */
	int64_t total_ns;
};

/* Types by name; the model hands out one pointer for each name, or a few. */
struct types {
	struct trc_array types; /* struct type */
	struct trc_index by_pointer;
};

static struct type *type_find(struct types *t, const char *name)
{
	uint32_t at = trc_index_get(&t->by_pointer, (uint64_t)(uintptr_t)name);
	struct type *type = t->types.row;

	if (at != TRC_INDEX_NONE)
		return type + at;
	for (at = 0; at < t->types.n && strcmp(type[at].name, name) != 0; at++)
		;
	if (at == t->types.n) {
		t->types.row_bytes = sizeof(*type);
		type = trc_array_add(&t->types);
		if (!type)
			return NULL;
		type->name = name;
	}
	if (trc_index_put(&t->by_pointer, (uint64_t)(uintptr_t)name, at))
		return NULL;
	return (struct type *)t->types.row + at;
}

static void types_free(struct types *t)
{
	trc_array_free(&t->types);
	trc_index_free(&t->by_pointer);
}

/* One task or region, wherever it comes from. */
struct span {
	const char *type;
	int64_t start_ns, end_ns;
	uint32_t thread; /* that began it */
	uint64_t start_place;
};
typedef struct span span_fn(const struct trc_report *r, size_t i);

static struct span task_span(const struct trc_report *r, size_t i)
{
	size_t n;
	const struct trc_task *task = &trc_model_tasks(r->m, &n)[i];

	return (struct span){task->type, task->start_ns, task->end_ns, task->start_thread,
			     task->start_place};
}

static struct span region_span(const struct trc_report *r, size_t i)
{
	size_t n;
	const struct trc_region *region = &trc_model_regions(r->m, &n)[i];

	return (struct span){region->type, region->start_ns, region->end_ns, region->thread,
			     region->start_place};
}

static bool span_wanted(const struct trc_report *r, const struct span *span)
{
	return trc_report_wanted(r, span->thread, span->start_ns, span->start_place);
}

static bool span_ended(const struct span *span)
{
	return span->start_ns != TRC_NEVER && span->end_ns != TRC_NEVER;
}

static int count_spans(struct types *t, const struct trc_report *r, span_fn *span_at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct span span = span_at(r, i);
		struct type *type;

		if (!span_wanted(r, &span))
			continue;
		type = type_find(t, span.type ? span.type : "");
		if (!type)
			return -ENOMEM;
		type->n++;
		if (span_ended(&span))
			type->n_ended++;
		else
			type->open++;
	}
	return 0;
}

/* Durations, type by type, each in its own part of the array. */
static void place_spans(struct types *t, const struct trc_report *r, span_fn *span_at, size_t n,
			int64_t *ns)
{
	struct type *type = t->types.row;
	size_t first = 0;

	for (size_t i = 0; i < t->types.n; i++) {
		type[i].first = first;
		first += type[i].n_ended;
		type[i].n_ended = 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct span span = span_at(r, i);
		struct type *of;

		if (!span_ended(&span) || !span_wanted(r, &span))
			continue;
		of = type_find(t, span.type ? span.type : "");
		if (!of)
			continue;
		ns[of->first + of->n_ended++] = span.end_ns - span.start_ns;
		of->total_ns += span.end_ns - span.start_ns;
	}
}

static int compare_ns(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int compare_types(const void *a, const void *b)
{
	const struct type *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Nearest rank: of n sorted values, number ceil(n * percent / 100). */
static int64_t percentile(const int64_t *sorted, size_t n, unsigned int percent)
{
	size_t rank = (n * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

static void print_columns(struct trc_report *r)
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

static void print_type(struct trc_report *r, const struct type *type, const int64_t *sorted)
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
				       trc_text_duration(number, percentile(sorted, type->n_ended,
									    PERCENT[i])));
	}
	trc_report_line(r, &line);
}

static void print_more(struct trc_report *r, size_t n)
{
	struct trc_line line;

	if (n <= r->top)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    and %zu more", n - r->top);
	trc_report_line(r, &line);
}

enum { SLOWEST_OF = 20 }; /* of fewer tasks no slowest ones are told */

static int print_spans(struct trc_report *r, const char *heading, span_fn *span_at, size_t n)
{
	struct trc_causes *causes = NULL;
	struct types t = {0};
	int64_t *ns = calloc(n + 1, sizeof(*ns));
	struct type *type;
	int err = ns ? count_spans(&t, r, span_at, n) : -ENOMEM;

	if (!err && t.types.n) {
		place_spans(&t, r, span_at, n, ns);
		type = t.types.row;
		qsort(type, t.types.n, sizeof(*type), compare_types);
		trc_report_heading(r, heading, NULL);
		print_columns(r);
		for (size_t i = 0; i < t.types.n && i < r->top && !err; i++) {
			if (type[i].n_ended)
				qsort(ns + type[i].first, type[i].n_ended, sizeof(*ns), compare_ns);
			print_type(r, &type[i], ns + type[i].first);
			if (span_at == task_span && type[i].n_ended >= SLOWEST_OF)
				err = trc_report_slowest(r, &causes, type[i].name);
		}
		print_more(r, t.types.n);
	}
	trc_causes_close(causes);
	free(ns);
	types_free(&t);
	return err;
}

static int compare_by_count(const void *a, const void *b)
{
	const struct type *x = a, *y = b;

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
	struct types t = {0};
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	struct type *type;

	for (size_t i = 0; i < n; i++) {
		if (!trc_report_wanted(r, log[i].thread, log[i].ts_ns, log[i].place))
			continue;
		type = type_find(&t, log[i].category ? log[i].category : "");
		if (!type) {
			types_free(&t);
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
		print_more(r, t.types.n);
	}
	types_free(&t);
	return 0;
}

struct extremes {
	int64_t least, most, latest;
};

static void print_counter(struct trc_report *r, const struct type *type, const struct extremes *e)
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
	struct types t = {0};
	struct trc_array extremes = {.row_bytes = sizeof(struct extremes)};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct type *type;
		struct extremes *e;

		if (!trc_report_wanted(r, counter[i].thread, counter[i].ts_ns, counter[i].place))
			continue;
		type = type_find(&t, counter[i].name ? counter[i].name : "");
		e = type && !type->n ? trc_array_add(&extremes) : extremes.row;
		if (!type || !e) {
			err = -ENOMEM;
			break;
		}
		e = (struct extremes *)extremes.row + (type - (struct type *)t.types.row);
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
		print_counter(r, (struct type *)t.types.row + i,
			      (struct extremes *)extremes.row + i);
	if (!err)
		print_more(r, t.types.n);
	trc_array_free(&extremes);
	types_free(&t);
	return err;
}

int trc_report_user(struct trc_report *r)
{
	size_t n_tasks, n_regions;
	int err;

	trc_model_tasks(r->m, &n_tasks);
	trc_model_regions(r->m, &n_regions);
	err = print_spans(r, "Tasks", task_span, n_tasks);
	if (!err)
		err = print_spans(r, "Regions", region_span, n_regions);
	if (!err)
		err = print_logs(r);
	return err ? err : print_counters(r);
}
