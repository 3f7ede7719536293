/*
 * cut.h - the part of a trace that a page shows: the selection of the model
 * (analyzer/model/selection.h), or the whole trace.
 *
 *   cut:A1  if the selection narrows a table, the page has the rows that SQL has, too.  These rows keep their times of
 *       begin and end, also outside of the part; sums are of the time inside
 *   cut:A2  of other tables the page has the rows of which a part lies inside
 *   cut:A3  the states of threads are cut at the edges of the part.  For each thread the page knows whether its first
 *       and its last state go on beyond the edges of the part; of each thread the page knows whether its first
 *       and its last state go on beyond the edge
 *   cut:A5  if tasks are selected, the page has the spans in which threads and fibers worked for them.  Lanes are blank
 *       elsewhere, and sums that the page itself makes are over these spans
 *   cut:A4  threads, stacks and label sets are all there, since rows refer to them
 */
#ifndef TRC_VIEWER_CUT_H
#define TRC_VIEWER_CUT_H

#include "analyzer/model/selection_rows.h"

struct trc_cut {
	const struct trc_model *m;
	const struct trc_selection *selection; /* NULL: the page shows everything */
	struct trc_selected_rows rows;
	int64_t from_ns, to_ns; /* of the page, within the trace */
	bool to_end;		/* what lies on its end is inside (selection:V6) */
};

/* The cut of the model's selection; parts as for trc_html_write().  0 or -ENOMEM and nothing to free. */
int trc_cut_make(struct trc_cut *cut, const struct trc_model *m);
void trc_cut_free(struct trc_cut *cut);

/* A1: whether the page may have row i of the table. */
bool trc_cut_has(const struct trc_cut *cut, enum trc_selected_table table, size_t i);
/* The same; how much of it is inside.  `row` is set only with a selection. */
bool trc_cut_row(const struct trc_cut *cut, enum trc_selected_table table, size_t i,
		 struct trc_selected_row *row);
/* A1: the first row from `i` on, of the table's n, that the page may have; n = there is none.  A loop over these rows takes
 * time in proportion to the part. */
size_t trc_cut_next(const struct trc_cut *cut, enum trc_selected_table table, size_t i, size_t n);
/* The first wait from `i` on that may lie in the time of the page, whatever else is asked for. */
size_t trc_cut_next_overlapping(const struct trc_cut *cut, size_t i, size_t n);
/* A loop over these rows. */
#define TRC_CUT_EACH(i, cut, table, n)                                                             \
	for (size_t i = trc_cut_next(cut, table, 0, n); i < (n);                                   \
	     i = trc_cut_next(cut, table, i + 1, n))
/* How many of the table's n rows. */
size_t trc_cut_count(const struct trc_cut *cut, enum trc_selected_table table, size_t n);
/* A2: a thread is in the page, 0 = none; TRC_NEVER = from before the trace, or up to its end. */
bool trc_cut_has_thread(const struct trc_cut *cut, uint32_t thread);
bool trc_cut_overlaps(const struct trc_cut *cut, uint32_t thread, int64_t start_ns, int64_t end_ns);
/* A5: whether a thread works for the tasks that are asked for, and until when that stays so; lowers *until_ns if need be. */
bool trc_cut_works_at(const struct trc_cut *cut, uint32_t thread, int64_t ts_ns, int64_t *until_ns);
/* Whether a thread is under labels that are asked for, and until when that stays so; lowers *until_ns if need be. */
bool trc_cut_labels_at(const struct trc_cut *cut, uint32_t thread, int64_t ts_ns,
		       int64_t *until_ns);
/* The same for a wait, by its own labels (selection:V5), and for a label set. */
bool trc_cut_has_labels_of(const struct trc_cut *cut, const struct trc_park *park);
bool trc_cut_has_set(const struct trc_cut *cut, uint32_t labels);
/* The page lacks some of the trace's time. */
bool trc_cut_has_window(const struct trc_cut *cut);

#endif
