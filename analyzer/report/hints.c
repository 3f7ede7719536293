/* hints.c - what to record next time, where the trace itself says that it lacks something. */
#include "parts.h"

/* How long threads were in no recorded wait, together. */
static int64_t not_waiting_ns(const struct trc_report *r)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < r->n_threads; i++) {
		int64_t ns = trc_report_lifetime_ns(r, &r->thread[i]);

		for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
			ns -= r->class_ns[i][class];
		trc_report_add(&sum_ns, ns > 0 ? ns : 0);
	}
	return sum_ns;
}

/* Waits explain a program that waits.  One that runs for half of the time or more of one processor
 * needs samples. */
static void print_samples(struct trc_report *r)
{
	int64_t ran_ns = trc_report_ran_ns(r), lasted_ns = r->end_ns - r->start_ns;
	bool known = ran_ns != TRC_NEVER;
	char time[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;
	size_t n_events;

	if (!known)
		ran_ns = not_waiting_ns(r);
	trc_model_sample_events(r->m, &n_events);
	if (n_events || r->selection || lasted_ns <= 0 || ran_ns < lasted_ns / 2)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line,
		     "next: %s %s, %s of one proc's time; trace-record -F 1000 "
		     "samples where",
		     known ? "threads ran for" : "no wait explains",
		     trc_text_duration(time, ran_ns), trc_text_share(share, ran_ns, lasted_ns));
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

void trc_report_hints(struct trc_report *r)
{
	print_samples(r);
}
