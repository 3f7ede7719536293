/*
 * labels.c - which labels each thread had when: TRC_PART_LABELS.  See spans:B1 to spans:B3.
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/spans.h"
#include "contexts.h"

struct labels {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_changes changes;
	struct trc_contexts contexts;
};

static int change_add(struct labels *l, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	struct trc_change change = {
		.thread = c->thread[row],
		.ts_ns = c->time_ns[row],
		.place = span->place + row,
		.value = (uint32_t)TRC_ROW_ARG(c, row, labels, labels),
		.before = (uint32_t)TRC_ROW_ARG(c, row, labels, before),
	};

	return change.thread ? trc_changes_add(&l->changes, &change) : 0;
}

static int label_gap_add(struct labels *l, const struct trc_span *span, uint32_t row)
{
	int err = trc_changes_gap(&l->changes, span, row);

	return err ? err : trc_changes_gap(&l->contexts.changes, span, row);
}

static int labels_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct labels *l = (struct labels *)derive;
	const struct trc_columns *c = span->columns;
	int err = 0;

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		if (c->kind[row] == TRC_KIND_LABELS)
			err = change_add(l, span, row);
		else if (c->kind[row] == TRC_KIND_OTEL_CONTEXT)
			err = trc_contexts_event(&l->contexts, span, row);
		else if (c->kind[row] == TRC_KIND_GAP)
			err = label_gap_add(l, span, row);
	}
	return err;
}

static int changes_from_table(struct labels *l)
{
	const struct trc_thread_labels_entry *e;
	size_t n = trc_reader_thread_labels(l->m->reader, &e);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct trc_change change = {.thread = e[i].thread,
					    .ts_ns = TRC_CHANGE_AT_END,
					    .value = e[i].labels,
					    .before = e[i].labels};

		if (e[i].thread)
			err = trc_changes_add(&l->changes, &change);
	}
	return err;
}

static int labels_end(struct trc_derive *derive)
{
	struct labels *l = (struct labels *)derive;
	int err = changes_from_table(l);

	if (!err)
		err = trc_changes_make_spans(&l->changes, &l->m->label_spans);
	if (!err)
		err = trc_contexts_end(&l->contexts);
	return err ? err : trc_model_read_labels(l->m);
}

static void labels_free(struct trc_derive *derive)
{
	struct labels *l = (struct labels *)derive;

	trc_changes_free(&l->changes);
	trc_contexts_free(&l->contexts);
	free(l);
}

int trc_derive_labels(struct trc_derive **out, struct trc_model *m)
{
	struct labels *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->m = m;
	trc_changes_init(&l->changes, m);
	trc_contexts_init(&l->contexts, m);
	l->derive = (struct trc_derive){.part = TRC_PART_LABELS,
					.span = labels_span,
					.end = labels_end,
					.free = labels_free};
	trc_kind_mask_add(&l->derive.kinds, TRC_KIND_LABELS);
	trc_kind_mask_add(&l->derive.kinds, TRC_KIND_OTEL_CONTEXT);
	trc_kind_mask_add(&l->derive.kinds, TRC_KIND_GAP);
	*out = &l->derive;
	return 0;
}

uint32_t trc_model_labels_at(const struct trc_model *m, uint32_t thread, int64_t ts_ns,
			     uint64_t place)
{
	return trc_thread_spans_at(&m->label_spans, thread, ts_ns, place);
}

const struct trc_thread_span *trc_model_label_spans(const struct trc_model *m, size_t *n)
{
	*n = m->have & TRC_PART_LABELS ? m->label_spans.span.n : 0;
	return *n ? m->label_spans.span.row : NULL;
}

const struct trc_thread_span *trc_model_label_spans_of(const struct trc_model *m, uint32_t thread,
						       size_t *n)
{
	uint32_t first = TRC_INDEX_NONE;
	const struct trc_thread_span *span = m->label_spans.span.row;

	*n = 0;
	if (m->have & TRC_PART_LABELS)
		first = trc_index_get(&m->label_spans.first, thread);
	if (first == TRC_INDEX_NONE)
		return NULL;
	while (first + *n < m->label_spans.span.n && span[first + *n].thread == thread)
		++*n;
	return span + first;
}
