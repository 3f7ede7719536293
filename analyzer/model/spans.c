/* spans.c - see spans.h. */
#include <errno.h>
#include "spans.h"

struct lost {
	int64_t since_ns, until_ns;
	uint32_t proc;
};

void trc_changes_init(struct trc_changes *c, const struct trc_model *m)
{
	c->changes.row_bytes = sizeof(struct trc_change);
	c->losses.row_bytes = sizeof(struct lost);
	c->window_ns = m->window_ns;
}

int trc_changes_add(struct trc_changes *c, const struct trc_change *change)
{
	struct trc_change *row = trc_array_add(&c->changes);

	if (row)
		*row = *change;
	return row ? 0 : -ENOMEM;
}

int trc_changes_gap(struct trc_changes *c, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *columns = span->columns;
	int64_t since_ns = (int64_t)TRC_ROW_ARG(columns, row, gap, since);
	struct lost *lost;

	if (span->block->source == TRC_SOURCE_KERNEL ||
	    !TRC_ROW_ARG(columns, row, gap, lost_events))
		return 0;
	lost = trc_array_add(&c->losses);
	if (!lost)
		return -ENOMEM;
	lost->until_ns = columns->time_ns[row];
	lost->since_ns = since_ns < lost->until_ns ? since_ns : lost->until_ns;
	lost->proc = columns->proc[row];
	return 0;
}

/* In order of their beginning, each with the latest end of all up to it, so that both ends of what
 * lies between two times are found by halving. */
static int losses_sort(struct trc_changes *c)
{
	int err = trc_array_sort(&c->losses, offsetof(struct lost, since_ns),
				 offsetof(struct lost, proc));
	struct lost *lost = c->losses.row;

	for (size_t i = 1; i < c->losses.n && !err; i++)
		if (lost[i].until_ns < lost[i - 1].until_ns)
			lost[i].until_ns = lost[i - 1].until_ns;
	return err;
}

/* How many losses begin before ts_ns; or, by_end, how many end before it and have none in front of
 * them that does not. */
static size_t losses_before(const struct trc_changes *c, int64_t ts_ns, bool by_end)
{
	const struct lost *lost = c->losses.row;
	size_t low = 0, high = c->losses.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((by_end ? lost[middle].until_ns : lost[middle].since_ns) < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool trc_changes_may_miss(const struct trc_changes *c, int64_t *from_ns, int64_t *until_ns)
{
	const struct lost *lost = c->losses.row;
	size_t first = losses_before(c, *from_ns, true), end = losses_before(c, *until_ns, false);
	int64_t since_ns = *until_ns, last_ns = TRC_NEVER;

	if (first < end) {
		since_ns = lost[first].since_ns;
		last_ns = lost[end - 1].until_ns;
	}
	if (*from_ns < c->window_ns) { /* B3 */
		since_ns = *from_ns;
		last_ns = last_ns > c->window_ns ? last_ns : c->window_ns;
	}
	if (last_ns == TRC_NEVER)
		return false;
	*from_ns = since_ns > *from_ns ? since_ns : *from_ns;
	*until_ns = last_ns < *until_ns ? last_ns : *until_ns;
	return true;
}

/* What the thread had from the end of its span before on; `first` is its first row. */
static int thread_span_put(struct trc_array *spans, size_t first,
			   const struct trc_thread_span *span)
{
	struct trc_thread_span *last = NULL;

	if (span->end_ns != TRC_NEVER && span->start_ns >= span->end_ns)
		return 0;
	if (spans->n > first)
		last = (struct trc_thread_span *)spans->row + spans->n - 1;
	if (last && last->value == span->value) {
		last->end_ns = span->end_ns;
		return 0;
	}
	last = trc_array_add(spans);
	if (last)
		*last = *span;
	return last ? 0 : -ENOMEM;
}

/* What it had from one event to another of the same time: no span, but there are events in between
 * (B4). */
static int moment_put(struct trc_array *moments, const struct trc_thread_span *span,
		      const struct trc_change *c)
{
	struct trc_thread_moment *moment;

	if (!span->start_place || span->start_ns != c->ts_ns)
		return 0;
	moment = trc_array_add(moments);
	if (!moment)
		return -ENOMEM;
	*moment = (struct trc_thread_moment){c->ts_ns, span->start_place, c->place, span->thread,
					     span->value};
	return 0;
}

/* Goes on to the change: the span that it ends, and the one before that if an event is missing. */
static int span_end(const struct trc_changes *changes, struct trc_thread_spans *to, size_t first,
		    struct trc_thread_span *span, const struct trc_change *c)
{
	int64_t from_ns = span->start_ns, until_ns = c->ts_ns;
	struct trc_array *spans = &to->span;
	int err = 0;

	if (span->value != c->before && trc_changes_may_miss(changes, &from_ns, &until_ns)) {
		span->end_ns = from_ns;
		err = thread_span_put(spans, first, span);
		if (from_ns != span->start_ns)
			span->start_place = 0;
		*span = (struct trc_thread_span){from_ns, until_ns, span->thread, 0,
						 span->start_place};
		if (!err)
			err = thread_span_put(spans, first, span);
		if (until_ns != from_ns)
			span->start_place = 0;
		span->start_ns = until_ns;
		span->end_ns = TRC_NEVER;
		span->value = c->before;
	} else if (c->ts_ns != TRC_CHANGE_AT_END) {
		err = moment_put(&to->moment, span, c);
	}
	if (err || c->ts_ns == TRC_CHANGE_AT_END)
		return err;
	span->end_ns = c->ts_ns;
	err = thread_span_put(spans, first, span);
	*span = (struct trc_thread_span){c->ts_ns, TRC_NEVER, span->thread, c->value, c->place};
	return err;
}

/* All changes of one thread. */
static int thread_put(const struct trc_changes *changes, struct trc_thread_spans *spans,
		      const struct trc_change *c, size_t n)
{
	struct trc_array *rows = &spans->span;
	size_t first = rows->n;
	struct trc_thread_span span = {TRC_NEVER, TRC_NEVER, (uint32_t)c->thread, c->before, 0};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = span_end(changes, spans, first, &span, &c[i]);
	if (!err)
		err = thread_span_put(rows, first, &span);
	if (err)
		return err;
	span = *((struct trc_thread_span *)rows->row + first);
	if (rows->n == first + 1 && !span.value) { /* it never had any */
		rows->n--;
		return 0;
	}
	return trc_index_put(&spans->first, (uint64_t)c->thread, (uint32_t)first);
}

int trc_changes_make_spans(struct trc_changes *changes, struct trc_thread_spans *spans)
{
	int err = trc_array_sort(&changes->changes, offsetof(struct trc_change, thread),
				 offsetof(struct trc_change, none));
	const struct trc_change *c = changes->changes.row;

	if (!err)
		err = losses_sort(changes);
	for (size_t i = 0, n; i < changes->changes.n && !err; i += n) {
		for (n = 1; i + n < changes->changes.n && c[i + n].thread == c[i].thread; n++)
			;
		err = thread_put(changes, spans, &c[i], n);
	}
	return err;
}

void trc_changes_free(struct trc_changes *c)
{
	trc_array_free(&c->changes);
	trc_array_free(&c->losses);
}

/* The moment of the thread that this lies in, NULL = none. */
static const struct trc_thread_moment *moment_at(const struct trc_thread_spans *spans,
						 uint32_t thread, int64_t ts_ns, uint64_t place)
{
	const struct trc_thread_moment *moment = spans->moment.row, *m;
	size_t low = 0, high = spans->moment.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		m = &moment[middle];
		if (m->thread < thread ||
		    (m->thread == thread &&
		     (m->ts_ns < ts_ns || (m->ts_ns == ts_ns && m->start_place <= place))))
			low = middle + 1;
		else
			high = middle;
	}
	m = low ? &moment[low - 1] : NULL;
	return m && m->thread == thread && m->ts_ns == ts_ns && place < m->end_place ? m : NULL;
}

static bool has_begun(const struct trc_thread_span *span, int64_t ts_ns, uint64_t place)
{
	return span->start_ns < ts_ns || (span->start_ns == ts_ns && span->start_place <= place);
}

uint32_t trc_thread_spans_at(const struct trc_thread_spans *spans, uint32_t thread, int64_t ts_ns,
			     uint64_t place)
{
	uint32_t first = trc_index_get(&spans->first, thread);
	const struct trc_thread_moment *moment = moment_at(spans, thread, ts_ns, place);
	const struct trc_thread_span *span = spans->span.row;
	size_t low = first, high = spans->span.n;

	if (moment)
		return moment->value;
	if (first == TRC_INDEX_NONE)
		return 0;
	/* The first begins before everything: low is always a row of the thread's. */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (span[middle].thread == thread && has_begun(&span[middle], ts_ns, place))
			low = middle;
		else
			high = middle;
	}
	return span[low].value;
}

void trc_thread_spans_init(struct trc_thread_spans *spans)
{
	spans->span.row_bytes = sizeof(struct trc_thread_span);
	spans->moment.row_bytes = sizeof(struct trc_thread_moment);
}

void trc_thread_spans_free(struct trc_thread_spans *spans)
{
	trc_array_free(&spans->span);
	trc_array_free(&spans->moment);
	trc_index_free(&spans->first);
}
