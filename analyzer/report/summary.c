/* summary.c - the few lines at the end of a recording. */
#include <errno.h>
#include <stdio.h>
#include "parts.h"
#include "analyzer/findings/print.h"

enum { TOP_WAITS = 3 };

static void print_summary_head(struct trc_report *r)
{
	const struct trc_file_info *file = trc_reader_info(r->reader);
	char time[TRC_NUMBER_BYTES], threads[TRC_NUMBER_BYTES], events[TRC_NUMBER_BYTES];
	char bytes[TRC_NUMBER_BYTES];
	uint64_t n_threads = trc_report_count_threads(r, TRC_THREAD_COUNTS);
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_data(&line, r->path, 40);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_add(&line, ": %s, %s thread%s, %s event%s, %s, ",
		     trc_text_duration(time, r->end_ns - r->start_ns),
		     trc_text_count(threads, n_threads), n_threads == 1 ? "" : "s",
		     trc_text_count(events, file->n_events), file->n_events == 1 ? "" : "s",
		     trc_text_bytes(bytes, file->file_bytes));
	trc_report_lost(r, &line);
	trc_report_line(r, &line);
}

static void print_summary_wait(struct trc_report *r, const struct trc_group_details *d)
{
	int64_t waited_ns = d->group->total_ns - d->group->no_proc_ns; /* timeline:P1 */
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES], waits[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 10, trc_text_duration(total, waited_ns));
	trc_line_right(&line, 7, trc_text_share(share, waited_ns, d->threads_ns));
	trc_line_add(&line, "  %s wait%s of %u thread%s for ",
		     trc_text_count(waits, d->group->waits), d->group->waits == 1 ? "" : "s",
		     d->n_threads, d->n_threads == 1 ? "" : "s");
	trc_report_what(r, &line, d);
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 19);
	if (d->n_places)
		trc_line_add(&line, "%s of it at ",
			     trc_text_share(share, d->place->group->total_ns, d->group->total_ns));
	trc_report_chain(r, &line, d->n_places ? d->place->group->stack : d->group->stack);
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 19);
	if (trc_report_blame(r, &line, d))
		trc_report_line(r, &line);
}

static bool group_is_told(const struct trc_groups *g, enum trc_wait_class class, size_t i,
			  int64_t least_ns)
{
	return i < g->n_of[class] && trc_groups_details(g, class)[i].group->total_ns >= least_ns;
}

/* Locks first, idling last.  The largest of each class, and only then the second, so that no class hides
 * another.  Only what takes more than a hundredth of the time: unless there is nothing like that. */
static size_t print_classes(struct trc_report *r, const struct trc_groups *g, int64_t least_ns)
{
	static const enum trc_wait_class ORDER[] = {TRC_WAIT_LOCKS, TRC_WAIT_THREADS,
						    TRC_WAIT_FILES, TRC_WAIT_OUTSIDE};
	enum { N_ORDER = sizeof(ORDER) / sizeof(*ORDER) };
	size_t n = 0, n_told[N_ORDER] = {0};

	for (size_t i = 0; i < TOP_WAITS; i++)
		for (size_t o = 0; o < N_ORDER && n < TOP_WAITS; o++) {
			if (!group_is_told(g, ORDER[o], i, least_ns) ||
			    (ORDER[o] == TRC_WAIT_OUTSIDE && n > n_told[o]))
				continue;
			n_told[o]++;
			n++;
		}
	for (size_t o = 0; o < N_ORDER; o++)
		for (size_t i = 0; i < n_told[o]; i++)
			print_summary_wait(r, &trc_groups_details(g, ORDER[o])[i]);
	return n;
}

static int print_waits(struct trc_report *r)
{
	struct trc_groups g;
	int err = trc_groups_of_objects(&g, r, TOP_WAITS);

	if (!err && !print_classes(r, &g, (r->end_ns - r->start_ns) / 100))
		print_classes(r, &g, 0);
	for (int class = 0; class < TRC_WAIT_CLASSES && !err; class ++)
		trc_report_idle_line(r, &g, (enum trc_wait_class) class);
	trc_groups_free(&g);
	return err;
}

int trc_report_summary(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		       struct trc_error *error)
{
	struct trc_report r;
	struct trc_line line;
	int err = trc_report_begin(&r, m, out, options, error);

	if (!err) {
		print_summary_head(&r);
		trc_report_full_lines(&r);
		trc_report_ring_line(&r);
		trc_report_unseen_lines(&r);
		trc_report_selection_lines(&r);
		err = trc_report_crash_line(&r);
		trc_report_deadlock_line(&r);
		if (!err)
			err = trc_report_abandoned_lines(&r);
		if (!err)
			err = trc_report_risk_lines(&r);
		if (!err)
			err = trc_report_procs_lines(&r);
		if (!err)
			err = print_waits(&r);
		if (err)
			snprintf(error->text, sizeof(error->text), "report: out of memory");
	}
	if (!err && trc_reader_warning(r.reader)) {
		trc_line_begin(&line, r.width, r.colour);
		trc_line_add(&line, "warning: %s", trc_reader_warning(r.reader));
		trc_report_line(&r, &line);
	}
	if (!err) {
		trc_line_begin(&line, r.width, r.colour);
		trc_line_add(&line, "next: trace-analyze");
		trc_selection_options(&line, r.selection);
		trc_line_add(&line, " ");
		trc_line_data(&line, r.path, 78);
		trc_report_line(&r, &line);
	}
	trc_report_end(&r);
	return err;
}
