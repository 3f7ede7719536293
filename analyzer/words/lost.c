/* lost.c - which events were lost, and which options would have kept them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "words.h"

/* Of text that a record has inline, on average. */
enum { TEXT_WORDS = 8 };
/* The largest that trace-record takes. */
#define RING_BYTES_MAX (UINT64_C(16) << 30)

/* Of a file that has no end nobody counted what else is not in it. */
void trc_report_lost(const struct trc_report *r, struct trc_line *line)
{
	const struct trc_file_info *file = trc_reader_info(r->reader);
	uint64_t lost_events = trc_model_lost_events(r->m);
	char number[TRC_NUMBER_BYTES];

	if (!lost_events && file->complete && !file->table_full) {
		trc_line_add(line, "none lost");
		return;
	}
	trc_line_style(line, TRC_STYLE_ALARM);
	if (lost_events)
		trc_line_add(line, "%s lost", trc_text_count(number, lost_events));
	if (!file->complete)
		trc_line_add(line, "%s%s", lost_events ? ", " : "",
			     file->cut_off ? "its end is missing"
					   : "what follows damage is missing");
	else if (!lost_events)
		trc_line_add(line, "no event lost, but some details");
	trc_line_style(line, TRC_STYLE_PLAIN);
}

/* What the recorder's tables had no room for is 0 in events: a stack, a name, labels. */
void trc_report_full_lines(struct trc_report *r)
{
	uint64_t n = trc_reader_info(r->reader)->table_full;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!n)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "lost: %s time%s there was no room for a stack, name, thread or module",
		     trc_text_count(number, n), n == 1 ? "" : "s");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line,
		     "  such events are counted, but not by thread, name or place; a shorter "
		     "recording needs less room");
	trc_report_line(r, &line);
}

/* Bytes of a record in a ring, on average: its time, its head and its arguments. */
static double record_bytes(const struct trc_report *r)
{
	size_t n_blocks = trc_reader_blocks(r->reader);
	uint64_t words = 0, n = 0;

	for (size_t i = 0; i < n_blocks; i++) {
		const uint32_t *count = trc_reader_block(r->reader, i)->kind_count;

		for (unsigned int kind = 1; kind <= TRC_KIND_MAX; kind++) {
			const struct trc_kind_info *info = trc_reader_kind(r->reader, kind);
			uint32_t each = 2 + info->n_args;

			for (unsigned int a = 0; a < info->n_args; a++)
				each += info->arg[a].type == TRC_ARG_TEXT ? TEXT_WORDS : 0;
			words += (uint64_t)count[kind] * each;
			n += count[kind];
		}
	}
	return n ? 8 * (double)words / (double)n : 8 * 4;
}

/* The most events that a full ring cost one proc. */
static uint64_t worst_proc(const struct trc_report *r)
{
	size_t n, n_procs;
	const struct trc_gap *gap = trc_model_gaps(r->m, &n);
	const struct trc_proc *proc = trc_model_procs(r->m, &n_procs);
	uint64_t worst = 0;

	for (size_t p = 0; p < n_procs; p++) {
		uint64_t lost_events = 0;

		for (size_t i = 0; i < n; i++)
			if (gap[i].proc == proc[p].proc && gap[i].cause == TRC_GAP_RING_FULL &&
			    gap[i].source == TRC_SOURCE_RING)
				lost_events += gap[i].lost_events;
		worst = lost_events > worst ? lost_events : worst;
	}
	return worst;
}

/* "512K", "32M": of a power of two. */
static void size_text(uint64_t n_bytes, char text[32])
{
	if (n_bytes < UINT64_C(1) << 20)
		snprintf(text, 32, "%" PRIu64 "K", n_bytes >> 10);
	else if (n_bytes < UINT64_C(1) << 30)
		snprintf(text, 32, "%" PRIu64 "M", n_bytes >> 20);
	else
		snprintf(text, 32, "%" PRIu64 "G", n_bytes >> 30);
}

bool trc_report_ring_of(const struct trc_report *r, struct trc_ring_hint *ring)
{
	const char *text = trc_report_info(r, "ring_bytes");
	uint64_t worst = worst_proc(r);

	*ring = (struct trc_ring_hint){.now_bytes = text ? strtoull(text, NULL, 10) : 0,
				       .enough_bytes = 8192};
	/* A flight recorder is there to overwrite. */
	if (!worst || !ring->now_bytes || ring->now_bytes >= RING_BYTES_MAX ||
	    trc_report_info(r, "snapshot"))
		return false;
	/* At most all of them would have had to wait at a time, behind a ring that is full. */
	while (ring->enough_bytes < RING_BYTES_MAX &&
	       (double)ring->enough_bytes <
		       (double)ring->now_bytes + (double)worst * record_bytes(r))
		ring->enough_bytes *= 2;
	return true;
}

void trc_report_ring_words(struct trc_line *line, const struct trc_ring_hint *ring)
{
	char now[32], then[32];

	size_text(ring->now_bytes, now);
	size_text(ring->enough_bytes, then);
	trc_line_add(line, "with --ring-size %s instead of %s ", then, now);
	trc_line_add(line, ring->enough_bytes < RING_BYTES_MAX ? "the rings would have held them"
							       : "fewer would have been lost");
}

void trc_report_ring_line(struct trc_report *r)
{
	struct trc_ring_hint ring;
	struct trc_line line;

	if (!trc_report_ring_of(r, &ring))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_report_ring_words(&line, &ring);
	trc_report_line(r, &line);
}

void trc_report_lost_causes(const struct trc_report *r, struct trc_lost lost[TRC_LOST_CAUSES])
{
	size_t n;
	const struct trc_gap *gap = trc_model_gaps(r->m, &n);

	memset(lost, 0, TRC_LOST_CAUSES * sizeof(*lost));
	for (size_t i = 0; i < n; i++) {
		int64_t since_ns = gap[i].since_ns == TRC_NEVER ? gap[i].ts_ns : gap[i].since_ns;
		struct trc_lost *l = &lost[gap[i].cause];

		if (!l->events || since_ns < l->first_ns)
			l->first_ns = since_ns;
		if (!l->events || gap[i].ts_ns > l->last_ns)
			l->last_ns = gap[i].ts_ns;
		l->events += gap[i].lost_events;
	}
}

void trc_report_lost_cause(struct trc_line *line, unsigned int cause, const struct trc_lost *lost)
{
	char number[TRC_NUMBER_BYTES], since[TRC_NUMBER_BYTES], until[TRC_NUMBER_BYTES];

	trc_line_add(line, "lost: %s event%s, %s, between %s and %s",
		     trc_text_count(number, lost->events), lost->events == 1 ? "" : "s",
		     trc_gap_cause_name(cause), trc_text_duration(since, lost->first_ns),
		     trc_text_duration(until, lost->last_ns));
}

/* Which events were lost, by cause. */
void trc_report_lost_lines(struct trc_report *r)
{
	struct trc_lost lost[TRC_LOST_CAUSES];
	struct trc_line line;

	trc_report_lost_causes(r, lost);
	for (unsigned int cause = 0; cause < TRC_LOST_CAUSES; cause++) {
		if (!lost[cause].events)
			continue;
		trc_line_begin(&line, r->width, r->colour);
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_report_lost_cause(&line, cause, &lost[cause]);
		trc_line_style(&line, TRC_STYLE_PLAIN);
		trc_report_line(r, &line);
	}
	trc_report_ring_line(r);
	if (!trc_model_contexts_are_cut(r->m))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line,
		     "some OpenTelemetry contexts are no labels: there are too many of them");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}
