/*
 * derive_labels.c - which labels each thread had when: TRC_PART_LABELS.
 *
 * An event of the thread's says which labels it has from then on, and which it had until then.  The
 * file's table says which it had at the end: all there is of a thread that set none meanwhile.
 *
 *   B1  between two of its events a thread has the labels that the first one gave it
 *   B2  if the second one found others, an event in between is missing.  As long as it may have
 *       been recorded, from where the first gap in between begins to where the last one ends, its
 *       labels are not known, and given as none; then they are those that the second one found
 *   B3  before the window of a snapshot anything may be missing
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model_parts.h"

struct change {
	int64_t thread; /* what they are sorted by */
	int64_t ts_ns;	/* AT_END: from the file's table */
	uint32_t labels, before;
	uint32_t none; /* the second key: they keep their order */
};
#define AT_END INT64_MAX

struct lost {
	int64_t since_ns, until_ns;
	uint32_t proc;
};

struct labels {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_array changes; /* struct change */
	struct trc_array losses;  /* struct lost */
};

static int change_add(struct labels *l, uint32_t thread, int64_t ts_ns, uint32_t labels,
		      uint32_t before)
{
	struct change *c = trc_array_add(&l->changes);

	if (c)
		*c = (struct change){thread, ts_ns, labels, before, 0};
	return c ? 0 : -ENOMEM;
}

static int loss_add(struct labels *l, const struct trc_columns *c, uint32_t row)
{
	int64_t since_ns = (int64_t)trc_arg(c, row, TRC_A_GAP_SINCE);
	struct lost *lost;

	if (!trc_arg(c, row, TRC_A_GAP_LOST_EVENTS))
		return 0;
	lost = trc_array_add(&l->losses);
	if (!lost)
		return -ENOMEM;
	lost->until_ns = c->time_ns[row];
	lost->since_ns = since_ns < lost->until_ns ? since_ns : lost->until_ns;
	lost->proc = c->proc[row];
	return 0;
}

static int labels_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct labels *l = (struct labels *)derive;
	const struct trc_columns *c = span->columns;
	bool kernel = span->block->source == TRC_SOURCE_KERNEL;
	int err = 0;

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		if (c->kind[row] == TRC_KIND_LABELS && c->thread[row])
			err = change_add(l, c->thread[row], c->time_ns[row],
					 (uint32_t)trc_arg(c, row, TRC_A_LABELS_LABELS),
					 (uint32_t)trc_arg(c, row, TRC_A_LABELS_BEFORE));
		else if (c->kind[row] == TRC_KIND_GAP && !kernel)
			err = loss_add(l, c, row);
	}
	return err;
}

static int changes_from_table(struct labels *l)
{
	const struct trc_thread_labels_entry *e;
	size_t n = trc_reader_thread_labels(l->m->reader, &e);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (e[i].thread)
			err = change_add(l, e[i].thread, AT_END, e[i].labels, e[i].labels);
	return err;
}

/* In order of their beginning, each with the latest end of all up to it, so that both ends of what
 * lies between two times are found by halving. */
static int losses_sort(struct labels *l)
{
	int err = trc_array_sort(&l->losses, offsetof(struct lost, since_ns),
				 offsetof(struct lost, proc));
	struct lost *lost = l->losses.row;

	for (size_t i = 1; i < l->losses.n && !err; i++)
		if (lost[i].until_ns < lost[i - 1].until_ns)
			lost[i].until_ns = lost[i - 1].until_ns;
	return err;
}

/* How many losses begin before ts_ns; or, by_end, how many end before it and have none in front of
 * them that does not. */
static size_t losses_before(const struct labels *l, int64_t ts_ns, bool by_end)
{
	const struct lost *lost = l->losses.row;
	size_t low = 0, high = l->losses.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((by_end ? lost[middle].until_ns : lost[middle].since_ns) < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Narrows from..until to the part in which an event may be missing; false if there is none (B2). */
static bool may_be_missing(const struct labels *l, int64_t *from_ns, int64_t *until_ns)
{
	const struct lost *lost = l->losses.row;
	size_t first = losses_before(l, *from_ns, true), end = losses_before(l, *until_ns, false);
	int64_t window_ns = l->m->window_ns, since_ns = *until_ns, last_ns = TRC_NEVER;

	if (first < end) {
		since_ns = lost[first].since_ns;
		last_ns = lost[end - 1].until_ns;
	}
	if (*from_ns < window_ns) { /* B3 */
		since_ns = *from_ns;
		last_ns = last_ns > window_ns ? last_ns : window_ns;
	}
	if (last_ns == TRC_NEVER)
		return false;
	*from_ns = since_ns > *from_ns ? since_ns : *from_ns;
	*until_ns = last_ns < *until_ns ? last_ns : *until_ns;
	return true;
}

/* What the thread had from the end of its span before on; `first` is its first row. */
static int span_put(struct trc_model *m, size_t first, const struct trc_label_span *span)
{
	struct trc_label_span *last = NULL;

	if (span->end_ns != TRC_NEVER && span->start_ns >= span->end_ns)
		return 0;
	if (m->label_spans.n > first)
		last = (struct trc_label_span *)m->label_spans.row + m->label_spans.n - 1;
	if (last && last->labels == span->labels) {
		last->end_ns = span->end_ns;
		return 0;
	}
	last = trc_array_add(&m->label_spans);
	if (last)
		*last = *span;
	return last ? 0 : -ENOMEM;
}

/* Goes on to the change: the span that it ends, and the one before that if an event is missing. */
static int span_end(const struct labels *l, size_t first, struct trc_label_span *span,
		    const struct change *c)
{
	int64_t from_ns = span->start_ns, until_ns = c->ts_ns;
	int err = 0;

	if (span->labels != c->before && may_be_missing(l, &from_ns, &until_ns)) {
		span->end_ns = from_ns;
		err = span_put(l->m, first, span);
		*span = (struct trc_label_span){from_ns, until_ns, span->thread, 0};
		if (!err)
			err = span_put(l->m, first, span);
		*span = (struct trc_label_span){until_ns, TRC_NEVER, span->thread, c->before};
	}
	if (err || c->ts_ns == AT_END)
		return err;
	span->end_ns = c->ts_ns;
	err = span_put(l->m, first, span);
	*span = (struct trc_label_span){c->ts_ns, TRC_NEVER, span->thread, c->labels};
	return err;
}

/* All changes of one thread. */
static int thread_put(const struct labels *l, const struct change *c, size_t n)
{
	struct trc_model *m = l->m;
	size_t first = m->label_spans.n;
	struct trc_label_span span = {TRC_NEVER, TRC_NEVER, (uint32_t)c->thread, c->before};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = span_end(l, first, &span, &c[i]);
	if (!err)
		err = span_put(m, first, &span);
	if (err)
		return err;
	span = *((struct trc_label_span *)m->label_spans.row + first);
	if (m->label_spans.n == first + 1 && !span.labels) { /* it never had any */
		m->label_spans.n--;
		return 0;
	}
	return trc_index_put(&m->label_thread, (uint64_t)c->thread, (uint32_t)first);
}

static int spans_make(const struct labels *l)
{
	const struct change *c = l->changes.row;
	int err = 0;

	for (size_t i = 0, n; i < l->changes.n && !err; i += n) {
		for (n = 1; i + n < l->changes.n && c[i + n].thread == c[i].thread; n++)
			;
		err = thread_put(l, &c[i], n);
	}
	return err;
}

static int labels_end(struct trc_derive *derive)
{
	struct labels *l = (struct labels *)derive;
	int err = changes_from_table(l);

	if (!err)
		err = trc_array_sort(&l->changes, offsetof(struct change, thread),
				     offsetof(struct change, none));
	if (!err)
		err = losses_sort(l);
	if (!err)
		err = spans_make(l);
	return err ? err : trc_model_read_labels(l->m);
}

static void labels_free(struct trc_derive *derive)
{
	struct labels *l = (struct labels *)derive;

	trc_array_free(&l->changes);
	trc_array_free(&l->losses);
	free(l);
}

int trc_derive_labels(struct trc_derive **out, struct trc_model *m)
{
	struct labels *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->m = m;
	l->changes.row_bytes = sizeof(struct change);
	l->losses.row_bytes = sizeof(struct lost);
	l->derive = (struct trc_derive){.part = TRC_PART_LABELS,
					.span = labels_span,
					.end = labels_end,
					.free = labels_free};
	trc_kind_mask_add(&l->derive.kinds, TRC_KIND_LABELS);
	trc_kind_mask_add(&l->derive.kinds, TRC_KIND_GAP);
	*out = &l->derive;
	return 0;
}

uint32_t trc_model_labels_at(const struct trc_model *m, uint32_t thread, int64_t ts_ns)
{
	uint32_t first = trc_index_get(&m->label_thread, thread);
	const struct trc_label_span *span = m->label_spans.row;
	size_t low = first, high = m->label_spans.n;

	if (first == TRC_INDEX_NONE)
		return 0;
	/* The first begins before everything: low is always a row of the thread's. */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (span[middle].thread == thread && span[middle].start_ns <= ts_ns)
			low = middle;
		else
			high = middle;
	}
	return span[low].labels;
}
