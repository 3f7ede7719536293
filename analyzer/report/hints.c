/* hints.c - what to record next time, where the trace itself says that it lacks something. */
#include <string.h>
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
static void find_samples(const struct trc_report *r, struct trc_hints *hints)
{
	int64_t ran_ns = trc_report_ran_ns(r), lasted_ns = r->end_ns - r->start_ns;
	size_t n_events;

	hints->ran_is_known = ran_ns != TRC_NEVER;
	if (!hints->ran_is_known)
		ran_ns = not_waiting_ns(r);
	trc_model_sample_events(r->m, &n_events);
	if (!n_events && !r->selection && lasted_ns > 0 && ran_ns >= lasted_ns / 2)
		hints->ran_ns = ran_ns;
	hints->lasted_ns = lasted_ns;
}

void trc_report_hints_of(const struct trc_report *r, struct trc_hints *hints)
{
	const char *options = trc_report_info(r, "options");

	*hints = (struct trc_hints){0};
	find_samples(r, hints);
	if (!options || !strstr(options, "--follow"))
		hints->n_forks = trc_model_forks(r->m);
	hints->ring_was_full = trc_report_ring_of(r, &hints->ring);
}

void trc_report_hint_samples(struct trc_line *line, const struct trc_hints *hints)
{
	char time[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	trc_line_add(line, "%s %s, %s of one proc's time",
		     hints->ran_is_known ? "threads ran for" : "no wait explains",
		     trc_text_duration(time, hints->ran_ns),
		     trc_text_share(share, hints->ran_ns, hints->lasted_ns));
}

void trc_report_hints(struct trc_report *r)
{
	struct trc_hints hints;
	struct trc_line line;

	trc_report_hints_of(r, &hints);
	if (!hints.ran_ns)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "next: ");
	trc_report_hint_samples(&line, &hints);
	trc_line_add(&line, "; trace-record -F 1000 samples where");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}
