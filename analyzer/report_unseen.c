/*
 * report_unseen.c - what no sample was taken of, where that is much.
 *
 *   N1  with a tenth or more not sampled the report says so in its first lines, and shares are of all,
 *       not of what was sampled
 */
#include <string.h>
#include "analyzer/report_parts.h"

enum { MUCH = 10 }; /* one part in so many */

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
	default:
		return "why is not known";
	}
}

static uint64_t sampled(const struct trc_report *r, uint32_t event)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(r->m, &n);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (sample[i].event == event && __builtin_add_overflow(sum, sample[i].value, &sum))
			return UINT64_MAX;
	return sum;
}

/* Of the event, or of any. */
static uint64_t lost(const struct trc_report *r, uint32_t event, unsigned int *most)
{
	size_t n;
	const struct trc_samples_lost *row = trc_model_samples_lost(r->m, &n);
	uint64_t by_cause[UINT8_MAX + 1] = {0}, sum = 0;

	*most = 0;
	for (size_t i = 0; i < n; i++) {
		if (row[i].event && row[i].event != event)
			continue;
		if (__builtin_add_overflow(sum, row[i].lost_samples, &sum))
			return UINT64_MAX;
		by_cause[row[i].cause] += row[i].lost_samples;
		if (by_cause[row[i].cause] > by_cause[*most])
			*most = row[i].cause;
	}
	return sum;
}

static uint64_t period_of(const struct trc_sample_event *event)
{
	if (event->period || !event->frequency_hz || strcmp(event->unit, "nanoseconds") != 0)
		return event->period;
	return UINT64_C(1000000000) / event->frequency_hz;
}

int64_t trc_report_unseen(const struct trc_report *r, const struct trc_sample_event *event,
			  unsigned int *cause)
{
	uint64_t seen, unseen, n = lost(r, event->event, cause), period = period_of(event);

	if (!n || !period)
		return 0;
	if (__builtin_mul_overflow(n, period, &unseen) || unseen > INT64_MAX)
		unseen = INT64_MAX;
	seen = sampled(r, event->event);
	return seen / (MUCH - 1) > unseen ? 0 : (int64_t)unseen;
}

static void print_unseen(struct trc_report *r, const struct trc_sample_event *event)
{
	unsigned int cause;
	int64_t unseen = trc_report_unseen(r, event, &cause), all = unseen;
	uint64_t seen = sampled(r, event->event);
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!unseen)
		return;
	trc_report_add(&all, seen < INT64_MAX ? (int64_t)seen : INT64_MAX);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "%s of ", trc_text_share(share, unseen, all));
	if (!strcmp(event->unit, "nanoseconds"))
		trc_line_add(&line, "the CPU time");
	else
		trc_line_data(&line, event->name, 28);
	trc_line_add(&line, " was not seen: %s", why(cause));
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

void trc_report_unseen_lines(struct trc_report *r)
{
	size_t n;
	const struct trc_sample_event *event = trc_model_sample_events(r->m, &n);

	for (size_t i = 0; i < n; i++)
		print_unseen(r, &event[i]);
}
