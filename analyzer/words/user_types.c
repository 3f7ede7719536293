/* user_types.c - see user_types.h. */
#include "user_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/order.h"

struct trc_user_type *trc_user_type_find(struct trc_user_types *t, const char *name)
{
	uint32_t at = trc_index_get(&t->by_pointer, (uint64_t)(uintptr_t)name);
	struct trc_user_type *type = t->types.row;

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
	return (struct trc_user_type *)t->types.row + at;
}

void trc_user_types_free(struct trc_user_types *t)
{
	free(t->duration_ns);
	trc_array_free(&t->types);
	trc_index_free(&t->by_pointer);
}

struct trc_user_span trc_user_task_span(const struct trc_report *r, size_t i)
{
	size_t n;
	const struct trc_task *task = &trc_model_tasks(r->m, &n)[i];

	return (struct trc_user_span){task->type, task->start_ns, task->end_ns, task->start_thread,
				      trc_selection_has_task(r->selection, r->m, i)};
}

struct trc_user_span trc_user_region_span(const struct trc_report *r, size_t i)
{
	size_t n;
	const struct trc_region *region = &trc_model_regions(r->m, &n)[i];

	return (struct trc_user_span){region->type, region->start_ns, region->end_ns,
				      region->thread,
				      trc_selection_has_region(r->selection, r->m, i)};
}

static bool span_ended(const struct trc_user_span *span)
{
	return span->start_ns != TRC_NEVER && span->end_ns != TRC_NEVER;
}

/* The first from `i` on that may be wanted. */
static size_t next_span(const struct trc_report *r, trc_user_span_fn *span_at, size_t i)
{
	return trc_report_next_row(
		r, span_at == trc_user_region_span ? TRC_BETWEEN_REGIONS : TRC_BETWEEN_TASKS, i);
}

static int count_spans(struct trc_user_types *t, const struct trc_report *r,
		       trc_user_span_fn *span_at, size_t n)
{
	for (size_t i = next_span(r, span_at, 0); i < n; i = next_span(r, span_at, i + 1)) {
		struct trc_user_span span = span_at(r, i);
		struct trc_user_type *type;

		if (!span.wanted)
			continue;
		type = trc_user_type_find(t, span.type ? span.type : "");
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
static void place_spans(struct trc_user_types *t, const struct trc_report *r,
			trc_user_span_fn *span_at, size_t n, int64_t *ns)
{
	struct trc_user_type *type = t->types.row;
	size_t first = 0;

	for (size_t i = 0; i < t->types.n; i++) {
		type[i].first = first;
		first += type[i].n_ended;
		type[i].n_ended = 0;
	}
	for (size_t i = next_span(r, span_at, 0); i < n; i = next_span(r, span_at, i + 1)) {
		struct trc_user_span span = span_at(r, i);
		struct trc_user_type *of;

		if (!span_ended(&span) || !span.wanted)
			continue;
		of = trc_user_type_find(t, span.type ? span.type : "");
		if (!of)
			continue;
		ns[of->first + of->n_ended++] = span.end_ns - span.start_ns;
		of->total_ns += span.end_ns - span.start_ns;
	}
}

static int compare_types(const void *a, const void *b)
{
	const struct trc_user_type *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

int trc_user_types_of_spans(struct trc_user_types *t, const struct trc_report *r,
			    trc_user_span_fn *span_at, size_t n)
{
	struct trc_user_type *type;
	int err;

	*t = (struct trc_user_types){.duration_ns = calloc(n + 1, sizeof(*t->duration_ns))};
	err = t->duration_ns ? count_spans(t, r, span_at, n) : -ENOMEM;
	if (err || !t->types.n)
		return err;
	place_spans(t, r, span_at, n, t->duration_ns);
	type = t->types.row;
	for (size_t i = 0; i < t->types.n; i++)
		if (type[i].n_ended)
			qsort(t->duration_ns + type[i].first, type[i].n_ended,
			      sizeof(*t->duration_ns), trc_compare_ns);
	qsort(type, t->types.n, sizeof(*type), compare_types);
	return 0;
}

int64_t trc_user_percentile(const struct trc_user_types *t, const struct trc_user_type *type,
			    unsigned int percent)
{
	size_t rank = (type->n_ended * percent + 99) / 100;

	return t->duration_ns[type->first + (rank ? rank - 1 : 0)];
}
