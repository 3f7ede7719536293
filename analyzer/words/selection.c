/* selection.c - what the report is narrowed to. */
#include "words.h"

static void print_no_set(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "nothing was: ");
	trc_label_filter_tell_keys(&line, r->m);
	trc_report_line(r, &line);
}

/* How much it is of the time that all threads lived. */
static void print_share(struct trc_report *r)
{
	char selected[TRC_NUMBER_BYTES], all[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	int64_t ns = 0, all_ns = 0;
	struct trc_line line;
	size_t n_threads = 0;

	for (size_t i = 0; i < r->n_threads; i++) {
		trc_report_add(&ns, r->selected[i].ns);
		n_threads += r->selected[i].ns > 0;
		trc_report_add(&all_ns, trc_selection_thread_ns(NULL, r->m, &r->thread[i]));
	}
	trc_line_begin(&line, r->width, r->colour);
	if (!ns && trc_model_has_contexts(r->m)) {
		trc_line_add(&line, "which is known of waits and samples, not of all that a thread "
				    "did");
		trc_report_line(r, &line);
		return;
	}
	trc_line_add(&line, "which is %s of %zu thread%s, %s of the %s of all threads",
		     trc_text_duration(selected, ns), n_threads, n_threads == 1 ? "" : "s",
		     trc_text_share(share, ns, all_ns), trc_text_duration(all, all_ns));
	trc_report_line(r, &line);
}

void trc_report_selection_lines(struct trc_report *r)
{
	bool only_labels = trc_selection_has_all_time(r->selection);
	struct trc_line line;

	if (!r->selection)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, "from here on only %s", only_labels ? "what was done " : "");
	trc_selection_tell(&line, r->selection);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
	if (!r->m) /* of many traces */
		return;
	if (trc_label_filter_any(r->selection->labels, r->m))
		print_share(r);
	else
		print_no_set(r);
}
