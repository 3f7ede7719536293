/*
 * cut.c - see cut.h.
 */
#include "cut.h"

#include "analyzer/model/waits.h"

static void cut_find_window(struct trc_cut *cut)
{
	const struct trc_selection *s = cut->selection;

	if (s->from_ns > cut->from_ns)
		cut->from_ns = s->from_ns < cut->to_ns ? s->from_ns : cut->to_ns;
	if (s->to_ns < cut->to_ns) {
		cut->to_ns = s->to_ns > cut->from_ns ? s->to_ns : cut->from_ns;
		cut->to_end = false;
	}
}

int trc_cut_make(struct trc_cut *cut, const struct trc_model *m)
{
	int err;

	*cut = (struct trc_cut){
		.m = m,
		.selection = trc_model_selection(m),
		.from_ns = trc_model_start_ns(m),
		.to_ns = trc_model_end_ns(m),
		.to_end = true,
	};
	if (!cut->selection)
		return 0;
	trc_selected_rows_begin(&cut->rows, m);
	err = trc_selected_rows_need_caused(&cut->rows);
	if (err)
		return err;
	cut_find_window(cut);
	return 0;
}

void trc_cut_free(struct trc_cut *cut)
{
	if (cut->selection)
		trc_selected_rows_free(&cut->rows);
}

bool trc_cut_has(const struct trc_cut *cut, enum trc_selected_table table, size_t i)
{
	struct trc_selected_row row;

	return trc_cut_row(cut, table, i, &row);
}

bool trc_cut_row(const struct trc_cut *cut, enum trc_selected_table table, size_t i,
		 struct trc_selected_row *row)
{
	return !cut->selection || trc_selected_rows_has(&cut->rows, table, i, row);
}

size_t trc_cut_next(const struct trc_cut *cut, enum trc_selected_table table, size_t i, size_t n)
{
	if (!cut->selection)
		return i < n ? i : n;
	do
		i = trc_selected_rows_next(&cut->rows, table, i, n);
	while (i < n && !trc_cut_has(cut, table, i) && i++ < n);
	return i;
}

size_t trc_cut_next_overlapping(const struct trc_cut *cut, size_t i, size_t n)
{
	return cut->selection ? trc_selected_rows_next(&cut->rows, TRC_SELECTED_PARKS, i, n) : i;
}

size_t trc_cut_count(const struct trc_cut *cut, enum trc_selected_table table, size_t n)
{
	size_t n_in = 0;

	if (!cut->selection)
		return n;
	TRC_CUT_EACH (i, cut, table, n)
		n_in++;
	return n_in;
}

bool trc_cut_has_thread(const struct trc_cut *cut, uint32_t thread)
{
	return !cut->selection || !cut->selection->n_threads ||
	       trc_index_get(&cut->selection->in, thread) != TRC_INDEX_NONE;
}

/* A5, of a row that is in the page's time. */
static bool is_for_tasks(const struct trc_cut *cut, uint32_t thread, int64_t start_ns,
			 int64_t end_ns)
{
	if (!thread || !cut->selection || !cut->selection->n_tasks)
		return true;
	return trc_selection_touches(cut->selection, thread,
				     start_ns == TRC_NEVER ? cut->from_ns : start_ns,
				     end_ns == TRC_NEVER ? INT64_MAX : end_ns);
}

bool trc_cut_overlaps(const struct trc_cut *cut, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	if (thread && !trc_cut_has_thread(cut, thread))
		return false;
	if (!is_for_tasks(cut, thread, start_ns, end_ns))
		return false;
	if (end_ns != TRC_NEVER &&
	    (end_ns < cut->from_ns || (end_ns == cut->from_ns && start_ns < end_ns)))
		return cut->from_ns == trc_model_start_ns(cut->m);
	return start_ns < cut->to_ns || cut->to_end;
}

bool trc_cut_works_at(const struct trc_cut *cut, uint32_t thread, int64_t ts_ns, int64_t *until_ns)
{
	int64_t change_ns;
	bool inside;

	if (!cut->selection || !cut->selection->n_tasks)
		return true;
	inside = trc_selection_at(cut->selection, thread, ts_ns, &change_ns);
	if (change_ns < *until_ns)
		*until_ns = change_ns;
	return inside;
}

bool trc_cut_has_set(const struct trc_cut *cut, uint32_t labels)
{
	return !cut->selection || trc_selection_passes(cut->selection, cut->m, labels);
}

bool trc_cut_has_labels_of(const struct trc_cut *cut, const struct trc_park *park)
{
	return !cut->selection || !cut->selection->labels ||
	       trc_cut_has_set(cut, trc_park_labels(cut->m, park));
}

/* How many of the spans begin at or before this time. */
static size_t cut_spans_before(const struct trc_thread_span *span, size_t n, int64_t ts_ns)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (span[middle].start_ns <= ts_ns) /* TRC_NEVER is earlier */
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool trc_cut_labels_at(const struct trc_cut *cut, uint32_t thread, int64_t ts_ns, int64_t *until_ns)
{
	const struct trc_thread_span *span;
	size_t n, before;

	if (!cut->selection || !cut->selection->labels)
		return true;
	span = trc_model_label_spans_of(cut->m, thread, &n);
	before = cut_spans_before(span, n, ts_ns);
	if (before < n && span[before].start_ns < *until_ns)
		*until_ns = span[before].start_ns;
	if (!before || (span[before - 1].end_ns != TRC_NEVER && span[before - 1].end_ns <= ts_ns))
		return trc_cut_has_set(cut, 0);
	if (span[before - 1].end_ns != TRC_NEVER && span[before - 1].end_ns < *until_ns)
		*until_ns = span[before - 1].end_ns;
	return trc_cut_has_set(cut, span[before - 1].value);
}

bool trc_cut_has_window(const struct trc_cut *cut)
{
	return cut->from_ns > trc_model_start_ns(cut->m) || !cut->to_end;
}
