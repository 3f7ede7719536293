/*
 * unseen.c - CPU time without samples, where it is much.
 *
 *   unseen:N1  with a tenth or more not sampled the report says so in its first lines, and shares
 *       are of all, not of what was sampled
 */
#include "parts.h"

static const char *why(unsigned int cause)
{
	switch (cause) {
	case TRC_SAMPLE_LOSS_BUSY:
		return "threads blocked SIGPROF, or it came to them late";
	case TRC_SAMPLE_LOSS_NOT_OURS:
		return "the program closed the counters";
	case TRC_SAMPLE_LOSS_NO_ROOM:
		return "the kernel's buffer was full";
	case TRC_SAMPLE_LOSS_THROTTLED:
		return "the kernel stopped the counters";
	case TRC_SAMPLE_LOSS_NO_THREAD:
		return "threads had ended when their samples came, or were not known";
	case TRC_SAMPLE_LOSS_SHORT:
		return "threads ran for less than a period";
	case TRC_SAMPLE_LOSS_UNARMED:
		return "threads used it before they were sampled, and after";
	default:
		return "why is not known";
	}
}

/* Why most of it was lost: of the event, or of any. */
static unsigned int loss_cause_of(const struct trc_report *r, uint32_t event)
{
	size_t n;
	const struct trc_samples_lost *row = trc_model_samples_lost(r->m, &n);
	uint64_t by_cause[UINT8_MAX + 1] = {0};
	unsigned int most = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t *sum = &by_cause[row[i].cause];

		if (row[i].event && row[i].event != event)
			continue;
		if (__builtin_add_overflow(*sum, row[i].lost_samples, sum))
			*sum = UINT64_MAX;
		if (*sum > by_cause[most])
			most = row[i].cause;
	}
	return most;
}

/* Who blocks the signal by a system call of its own, or takes it for itself as gprof does. */
static void print_unseen_remedy(struct trc_report *r, const struct trc_sample_event *event)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  the kernel samples such threads too: %s--sample-by kernel",
		     event->how == TRC_SAMPLE_TIMER ? "-e cpu-clock " : "");
	trc_report_line(r, &line);
}

static void print_event_unseen(struct trc_report *r, const struct trc_sample_event *event)
{
	unsigned int cause = loss_cause_of(r, event->event);
	int64_t unseen = trc_report_int64(event->unseen), all = unseen;
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (trc_samples_tell_all(event->scaled, event->unseen))
		return;
	trc_report_add(&all, trc_report_int64(event->scaled));
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "%s of ", trc_text_share(share, unseen, all));
	if (trc_sample_event_is_clock(event))
		trc_line_add(&line, "the CPU time");
	else
		trc_line_data(&line, event->name, 28);
	trc_line_add(&line, " was not seen: %s", why(cause));
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
	if (cause == TRC_SAMPLE_LOSS_BUSY && event->how != TRC_SAMPLE_KERNEL)
		print_unseen_remedy(r, event);
}

void trc_report_unseen_lines(struct trc_report *r)
{
	size_t n;
	const struct trc_sample_event *event = trc_model_sample_events(r->m, &n);

	for (size_t i = 0; i < n; i++)
		print_event_unseen(r, &event[i]);
}
