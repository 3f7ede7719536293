/*
 * samples.c - where threads were when a counter or a timer of theirs ran over:
 * TRC_PART_SAMPLES.
 *
 *   samples:I1  a sample that does not carry labels has those that the thread had at that time: the
 *       kernel knows of none, and a set may have found no room in the ring's table
 *   samples:I2  an event that samples or losses name, and no table describes, has a row without a
 *       name
 *   samples:I3  if half of the samples of an event of the kernel's have only a few frames, the event's note says so:
 *       without frame pointers the kernel finds no callers, and does not say so
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"

struct samples {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_index event_row;
};

/* The row of a sampled event, added if need be; NULL without memory. */
static struct trc_sample_event *sampled_event_of(struct samples *s, uint32_t event)
{
	struct trc_array *rows = &s->m->sample_events;
	uint32_t at = trc_index_get(&s->event_row, event);
	struct trc_sample_event *row;

	if (at != TRC_INDEX_NONE)
		return (struct trc_sample_event *)rows->row + at;
	row = trc_array_add(rows);
	if (!row || trc_index_put(&s->event_row, event, (uint32_t)(rows->n - 1)))
		return NULL;
	row->event = event;
	row->name = row->unit = row->note = row->recorder_note = "";
	return row;
}

/* A number that no recorder gives is 0: not known. */
static uint32_t event_number(uint64_t event)
{
	return event <= UINT32_MAX ? (uint32_t)event : 0;
}

static int sample_add(struct samples *s, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	uint8_t source = span->block->source;
	struct trc_sample *sample = trc_array_add(&s->m->samples);
	struct trc_sample_event *event;

	if (!sample)
		return -ENOMEM;
	*sample = (struct trc_sample){
		.ts_ns = c->time_ns[row],
		.place = source == TRC_SOURCE_KERNEL ? TRC_PLACE_LAST : span->place + row,
		.value = TRC_ROW_ARG(c, row, sample, value),
		.period = TRC_ROW_ARG(c, row, sample, period),
		.thread = c->thread[row],
		.proc = c->proc[row],
		.stack = (uint32_t)TRC_ROW_ARG(c, row, sample, stack),
		.labels = (uint32_t)TRC_ROW_ARG(c, row, sample, labels),
		.event = event_number(TRC_ROW_ARG(c, row, sample, event)),
		.source = source,
	};
	event = sampled_event_of(s, sample->event);
	if (!event)
		return -ENOMEM;
	event->n_samples++;
	event->value += sample->value;
	return 0;
}

static int samples_lost_add(struct samples *s, const struct trc_columns *c, uint32_t row)
{
	struct trc_samples_lost *lost = trc_array_add(&s->m->samples_lost);
	uint64_t cause = TRC_ROW_ARG(c, row, samples_lost, cause);
	struct trc_sample_event *event;

	if (!lost)
		return -ENOMEM;
	*lost = (struct trc_samples_lost){
		.ts_ns = c->time_ns[row],
		.lost_samples = TRC_ROW_ARG(c, row, samples_lost, lost_samples),
		.event = event_number(TRC_ROW_ARG(c, row, samples_lost, event)),
		.thread = c->thread[row],
		.proc = c->proc[row],
		.cause = cause < UINT8_MAX ? (uint8_t)cause : UINT8_MAX,
	};
	if (!lost->event)
		return 0;
	event = sampled_event_of(s, lost->event);
	if (!event)
		return -ENOMEM;
	event->lost_samples += lost->lost_samples;
	return 0;
}

static int samples_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct samples *s = (struct samples *)derive;
	const struct trc_columns *c = span->columns;
	int err = 0;

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		if (c->kind[row] == TRC_KIND_SAMPLE)
			err = sample_add(s, span, row);
		else if (c->kind[row] == TRC_KIND_SAMPLES_LOST)
			err = samples_lost_add(s, c, row);
	}
	return err;
}

static int events_from_table(struct samples *s)
{
	const struct trc_sample_event_entry *e;
	size_t n = trc_reader_sample_events(s->m->reader, &e);

	for (size_t i = 0; i < n; i++, e++) {
		struct trc_sample_event *event = sampled_event_of(s, e->event);

		if (!event)
			return -ENOMEM;
		event->how = e->how;
		event->period = e->period;
		event->frequency_hz = e->frequency_hz;
		event->missing_threads = e->missing_threads;
		event->name = e->name;
		event->unit = e->unit;
		event->note = event->recorder_note = e->note;
	}
	return 0;
}

static int event_by_number(const void *a, const void *b)
{
	const struct trc_sample_event *left = a, *right = b;

	return (left->event > right->event) - (left->event < right->event);
}

static void samples_label(struct trc_model *m) /* I1 */
{
	struct trc_sample *sample = m->samples.row;

	for (size_t i = 0; i < m->samples.n; i++) {
		if (!sample[i].labels)
			sample[i].labels = trc_model_labels_at(m, sample[i].thread, sample[i].ts_ns,
							       sample[i].place);
		if (sample[i].place != TRC_PLACE_LAST)
			sample[i].labels =
				trc_model_labels_in_context(m, sample[i].labels, sample[i].thread,
							    sample[i].ts_ns, sample[i].place);
	}
}

/* What an event's samples with a stack stand for, and those with a short one. */
struct stack_shares {
	double any, few;
};

static int event_note(struct trc_model *m, struct trc_sample_event *event,
		      const struct stack_shares *shares)
{
	const char *before = event->recorder_note;
	char **text;

	if (event->how != TRC_SAMPLE_KERNEL || shares->few <= 0 || 2 * shares->few < shares->any)
		return 0;
	text = trc_array_add(&m->sample_notes);
	if (!text)
		return -ENOMEM;
	if (asprintf(text,
		     "%s%s%.1f %% in stacks of at most %d frames: the kernel needs frame pointers, "
		     "without them callers are missing; signals find them: --sample-by signal",
		     before, *before ? "; " : "", 100 * shares->few / shares->any,
		     TRC_SHORT_STACK_FRAMES) < 0) {
		*text = NULL;
		return -ENOMEM;
	}
	event->note = *text;
	return 0;
}

static int events_note(struct samples *s) /* I3 */
{
	struct trc_model *m = s->m;
	struct trc_sample_event *event = m->sample_events.row;
	const struct trc_sample *sample = m->samples.row;
	struct stack_shares *shares = calloc(m->sample_events.n + 1, sizeof(*shares));
	struct trc_stack_view view;
	int err = shares ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < m->samples.n; i++) {
		uint32_t row = trc_index_get(&s->event_row, sample[i].event);

		if (!sample[i].stack || trc_reader_stack(m->reader, sample[i].stack, &view) ||
		    !view.n_frames)
			continue;
		shares[row].any += (double)sample[i].value;
		if (view.n_frames <= TRC_SHORT_STACK_FRAMES)
			shares[row].few += (double)sample[i].value;
	}
	for (size_t i = 0; !err && i < m->sample_events.n; i++)
		err = event_note(m, &event[i], &shares[i]);
	free(shares);
	return err;
}

static int samples_end(struct trc_derive *derive)
{
	struct samples *s = (struct samples *)derive;
	struct trc_model *m = s->m;
	int err = trc_array_sort(&m->samples, offsetof(struct trc_sample, ts_ns),
				 offsetof(struct trc_sample, thread));

	if (!err)
		err = trc_array_sort(&m->samples_lost, offsetof(struct trc_samples_lost, ts_ns),
				     offsetof(struct trc_samples_lost, thread));
	if (!err)
		err = events_note(s); /* while event_row tells rows */
	if (m->sample_events.n)
		qsort(m->sample_events.row, m->sample_events.n, m->sample_events.row_bytes,
		      event_by_number);
	samples_label(m);
	return err ? err : trc_derive_scaled(m);
}

static void samples_free(struct trc_derive *derive)
{
	struct samples *s = (struct samples *)derive;

	trc_index_free(&s->event_row);
	free(s);
}

int trc_derive_samples(struct trc_derive **out, struct trc_model *m)
{
	struct samples *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->m = m;
	s->derive = (struct trc_derive){.part = TRC_PART_SAMPLES,
					.span = samples_span,
					.end = samples_end,
					.free = samples_free};
	trc_kind_mask_add(&s->derive.kinds, TRC_KIND_SAMPLE);
	trc_kind_mask_add(&s->derive.kinds, TRC_KIND_SAMPLES_LOST);
	if (events_from_table(s)) {
		samples_free(&s->derive);
		return -ENOMEM;
	}
	*out = &s->derive;
	return 0;
}
