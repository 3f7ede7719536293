/*
 * rows_labels.c - which labels threads had when, and what they consist of, as columns of a page.
 *
 * The page looks up the labels of anything by its thread and time, so that no other row has
 * a column for them.
 */
#include <stdlib.h>

#include "rows.h"

static void write_sets(struct trc_rows *r)
{
	enum { SET, KEY, VALUE, N };
	struct trc_column c[N] = {
		[SET] = trc_column_make("label.set", TRC_COLUMN_DELTA),
		[KEY] = trc_column_make("label.key", TRC_COLUMN_VARINT),
		[VALUE] = trc_column_make("label.value", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_set_label *l = trc_model_labels(r->m, &n);

	for (size_t i = 0; i < n; i++, l++) {
		trc_column_add(&c[SET], l->labels);
		trc_column_add(&c[KEY], trc_texts_id(&r->texts, l->key));
		trc_column_add(&c[VALUE], trc_texts_id(&r->texts, l->value));
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

/* Within the life of its thread. */
static void span_limits(const struct trc_rows *r, const struct trc_thread_span *s, uint64_t *start,
			uint64_t *end)
{
	const struct trc_thread *t = trc_model_thread(r->m, s->thread);
	int64_t start_ns = s->start_ns, end_ns = s->end_ns;

	if (t && t->start_ns != TRC_NEVER && t->start_ns > start_ns)
		start_ns = t->start_ns;
	if (t && t->end_ns != TRC_NEVER && (end_ns == TRC_NEVER || t->end_ns < end_ns))
		end_ns = t->end_ns;
	*start = start_ns == TRC_NEVER ? 0 : trc_rows_time(r, start_ns);
	*end = trc_rows_time(r, end_ns);
}

static uint64_t span_length(const struct trc_rows *r, const struct trc_thread_span *s)
{
	uint64_t start, end;

	span_limits(r, s, &start, &end);
	return end > start ? end - start : 0;
}

static uint64_t spans_from(struct trc_rows *r, const struct trc_thread_span *s, size_t n)
{
	uint64_t by_length[65] = {0};

	for (size_t i = 0; i < n; i++)
		if (s[i].value && trc_cut_has_set(r->cut, s[i].value) &&
		    trc_cut_overlaps(r->cut, s[i].thread, s[i].start_ns, s[i].end_ns))
			by_length[trc_bits(span_length(r, &s[i]))]++;
	return trc_rows_keep_from(by_length, r->limits.label_spans);
}

static void write_spans(struct trc_rows *r)
{
	enum { THREAD, START, LENGTH, SET, N };
	struct trc_column c[N] = {
		[THREAD] = trc_column_make("under.thread", TRC_COLUMN_DELTA),
		[START] = trc_column_make("under.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("under.length", TRC_COLUMN_VARINT),
		[SET] = trc_column_make("under.set", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_thread_span *s = trc_model_label_spans(r->m, &n);
	uint64_t from = spans_from(r, s, n), start, end;

	for (size_t i = 0; i < n; i++, s++) {
		if (!s->value || !trc_cut_has_set(r->cut, s->value) ||
		    !trc_cut_overlaps(r->cut, s->thread, s->start_ns, s->end_ns))
			continue;
		if (span_length(r, s) < from) {
			r->without_label_spans++;
			continue;
		}
		span_limits(r, s, &start, &end);
		trc_column_add(&c[THREAD], trc_rows_thread(r, s->thread));
		trc_column_add(&c[START], start);
		trc_column_add(&c[LENGTH], end > start ? end - start : 0);
		trc_column_add(&c[SET], s->value);
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

/* cut:A5.  What has no end lasts longer than the page: a sample may lie at the trace's very end. */
void trc_rows_selected(struct trc_rows *r)
{
	enum { FIBER, TRACK, START, LENGTH, N };
	struct trc_column c[N] = {
		[FIBER] = trc_column_make("selected.fiber", TRC_COLUMN_BYTES),
		[TRACK] = trc_column_make("selected.track", TRC_COLUMN_DELTA),
		[START] = trc_column_make("selected.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("selected.length", TRC_COLUMN_VARINT),
	};
	const struct trc_selection *s = r->cut->selection;
	const struct trc_selected_span *span = s && s->n_tasks ? s->spans.row : NULL;
	int64_t end_ns = trc_model_end_ns(r->m);

	for (size_t i = 0; span && i < s->spans.n; i++) {
		bool fiber = trc_track_is_fiber(span[i].track);
		uint32_t id = (uint32_t)span[i].track,
			 track = fiber ? trc_rows_fiber(r, id) : trc_rows_thread(r, id);
		uint64_t from = trc_rows_time(r, span[i].from_ns);

		if (!track)
			continue;
		trc_column_add(&c[FIBER], fiber);
		trc_column_add(&c[TRACK], track);
		trc_column_add(&c[START], from);
		trc_column_add(&c[LENGTH],
			       trc_rows_time(r, span[i].to_ns) + (span[i].to_ns > end_ns) - from);
	}
	trc_rows_columns(r, c, N);
}

void trc_rows_labels(struct trc_rows *r)
{
	write_sets(r);
	write_spans(r);
}
