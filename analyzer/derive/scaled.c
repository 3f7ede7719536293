/*
 * scaled.c - what samples stand for once lost samples are compensated.
 *
 * A sample's value is what the recorder knew of it, including the expirations that came before a late sample.
 * A lost sample is a period that is in no sample's value: nothing is counted twice.
 *
 *   scaled:J1  if a thread lost less than a tenth, its samples stand for the loss, each in proportion to
 *       its value
 *   scaled:J2  if nobody knows which thread lost samples, and the reason may meet any thread, the loss is
 *       spread over all samples of the event in the same way
 *   scaled:J3  nothing is compensated if a tenth or more is missing, of the thread or of the
 *       event, nor for threads that have no sample: then the samples say nothing about the loss
 *   scaled:J4  the sums are exact, except for rounding when they are divided among threads
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"
#include "format/sampled.h"

/* Of one event. */
struct tally {
	uint64_t period;	/* 0 = not known */
	uint64_t sampled, lost; /* in the event's unit */
	uint64_t spread;	/* of J2 */
	uint64_t base;		/* what that is spread over */
	bool scaled;
};

/* Of one thread's samples of one event. */
struct share {
	size_t row; /* of event */
	uint64_t sampled, lost;
	uint64_t seen, given; /* so far, of `sampled` and of what that stands for */
};

struct scaling {
	struct trc_sample_event *event;
	struct trc_sample *sample;
	struct trc_samples_lost *lost;
	size_t n_events, n_samples, n_lost;
	struct tally *tally;	 /* by row of event */
	struct trc_array shares; /* struct share */
	struct trc_index share;	 /* by row of event and thread */
};

/* Sums stay below: their products fit in 128 bits. */
static const uint64_t SUM_MAX = INT64_MAX;

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a < SUM_MAX && b < SUM_MAX - a ? a + b : SUM_MAX;
}

static uint64_t times_n(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) || product > SUM_MAX ? SUM_MAX : product;
}

bool trc_samples_tell_all(uint64_t sampled, uint64_t lost)
{
	return !lost || sampled / (TRC_UNSEEN_PART - 1) > lost;
}

size_t trc_sample_event_row(const struct trc_sample_event *event, size_t n, uint32_t id)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (event[middle].event < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct trc_sample_event *sample_event_of(const struct trc_model *m, uint32_t id)
{
	size_t n;
	const struct trc_sample_event *event = trc_model_sample_events(m, &n);
	size_t row = trc_sample_event_row(event, n, id);

	return row < n && event[row].event == id ? &event[row] : NULL;
}

bool trc_model_is_clock_sample(const struct trc_model *m, const struct trc_sample *sample)
{
	const struct trc_sample_event *event = sample_event_of(m, sample->event);

	return event && trc_sample_event_is_clock(event);
}

bool trc_sample_event_is_counted(const struct trc_sample_event *event)
{
	return event->period == 1 && !event->frequency_hz && !event->lost_samples &&
	       event->value == event->n_samples;
}

bool trc_model_is_counted(const struct trc_model *m, uint32_t id)
{
	const struct trc_sample_event *event = sample_event_of(m, id);

	return event && trc_sample_event_is_counted(event);
}

uint64_t trc_sample_event_period(const struct trc_sample_event *event)
{
	if (event->period)
		return event->period;
	if (event->frequency_hz && trc_sample_event_is_clock(event))
		return UINT64_C(1000000000) / event->frequency_hz;
	return event->n_samples ? event->value / event->n_samples : 0;
}

/* Every event that is named has a row. */
static size_t scaling_row_of(const struct scaling *s, uint32_t event)
{
	return trc_sample_event_row(s->event, s->n_events, event);
}

static struct share *share_of(const struct scaling *s, size_t row, uint32_t thread)
{
	uint32_t at = trc_index_get(&s->share, (uint64_t)row << 32 | thread);

	return at == TRC_INDEX_NONE ? NULL : (struct share *)s->shares.row + at;
}

static int share_add(struct scaling *s, size_t row, uint32_t thread)
{
	struct share *share = trc_array_add(&s->shares);

	if (!share)
		return -ENOMEM;
	share->row = row;
	return trc_index_put(&s->share, (uint64_t)row << 32 | thread, (uint32_t)(s->shares.n - 1));
}

static int scaling_add_samples(struct scaling *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n_samples && !err; i++) {
		size_t row = scaling_row_of(s, s->sample[i].event);
		struct share *share = share_of(s, row, s->sample[i].thread);

		if (!share) {
			err = share_add(s, row, s->sample[i].thread);
			share = share_of(s, row, s->sample[i].thread);
		}
		if (err)
			break;
		share->sampled = plus(share->sampled, s->sample[i].value);
		s->tally[row].sampled = plus(s->tally[row].sampled, s->sample[i].value);
	}
	return err;
}

/* The row of the event that the loss is of; of any of several: n_events. */
static size_t row_of_loss(const struct scaling *s, const struct trc_samples_lost *lost)
{
	if (lost->event)
		return scaling_row_of(s, lost->event);
	return s->n_events == 1 ? 0 : s->n_events;
}

static void add_losses(struct scaling *s)
{
	for (size_t i = 0; i < s->n_lost; i++) {
		const struct trc_samples_lost *lost = &s->lost[i];
		size_t one = row_of_loss(s, lost), first = one < s->n_events ? one : 0;
		size_t end = one < s->n_events ? one + 1 : s->n_events;
		struct share *share = one < s->n_events ? share_of(s, one, lost->thread) : NULL;

		for (size_t row = first; row < end; row++)
			s->tally[row].lost =
				plus(s->tally[row].lost,
				     times_n(lost->lost_samples, s->tally[row].period));
		if (share && lost->thread)
			share->lost = plus(share->lost,
					   times_n(lost->lost_samples, s->tally[one].period));
	}
	for (size_t row = 0; row < s->n_events; row++) {
		const struct tally *t = &s->tally[row];

		s->tally[row].scaled = t->lost && plus(t->sampled, t->lost) < SUM_MAX &&
				       trc_samples_tell_all(t->sampled, t->lost);
	}
}

static void choose_losses(struct scaling *s)
{
	for (size_t i = 0; i < s->n_lost; i++) {
		struct trc_samples_lost *lost = &s->lost[i];
		size_t row = row_of_loss(s, lost);
		const struct share *share;

		if (row == s->n_events || !s->tally[row].scaled)
			continue;
		if (lost->thread) { /* J1 */
			share = share_of(s, row, lost->thread);
			lost->made_up = share && trc_samples_tell_all(share->sampled, share->lost);
		} else if (trc_sample_loss_may_meet_any(lost->cause)) { /* J2 */
			lost->made_up = true;
			s->tally[row].spread =
				plus(s->tally[row].spread,
				     times_n(lost->lost_samples, s->tally[row].period));
		}
	}
}

/* What the samples of the share stand for without what is spread. */
static uint64_t share_stands_for(const struct share *share)
{
	bool made_up = trc_samples_tell_all(share->sampled, share->lost);

	return plus(share->sampled, made_up ? share->lost : 0);
}

/* a * b / c, of a <= c or not much more. */
static uint64_t part(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 all = (unsigned __int128)a * b;

	all = c ? all / c : a;
	return all < SUM_MAX ? (uint64_t)all : SUM_MAX;
}

static void sample_scale(struct scaling *s, struct trc_sample *sample)
{
	size_t row = scaling_row_of(s, sample->event);
	struct share *share = share_of(s, row, sample->thread);
	const struct tally *t = &s->tally[row];
	uint64_t all, upto;

	if (!t->scaled)
		return;
	all = share_stands_for(share);
	all = part(all, plus(t->base, t->spread), t->base);
	share->seen = plus(share->seen, sample->value);
	upto = part(share->seen, all, share->sampled);
	sample->scaled = upto - share->given;
	share->given = upto;
}

static void add_bases(struct scaling *s)
{
	const struct share *share = s->shares.row;

	for (size_t i = 0; i < s->shares.n; i++) {
		struct tally *t = &s->tally[share[i].row];

		t->base = plus(t->base, share_stands_for(&share[i]));
	}
}

static void scaling_sum_up(struct scaling *s)
{
	for (size_t i = 0; i < s->n_samples; i++) {
		struct trc_sample_event *event = &s->event[scaling_row_of(s, s->sample[i].event)];

		event->scaled = plus(event->scaled, s->sample[i].scaled);
	}
	for (size_t i = 0; i < s->n_lost; i++) {
		const struct trc_samples_lost *lost = &s->lost[i];
		size_t one = row_of_loss(s, lost), first = one < s->n_events ? one : 0;
		size_t end = one < s->n_events ? one + 1 : s->n_events;

		for (size_t row = first; row < end && !lost->made_up; row++)
			s->event[row].unseen =
				plus(s->event[row].unseen,
				     times_n(lost->lost_samples, s->tally[row].period));
	}
}

int trc_derive_scaled(struct trc_model *m)
{
	struct scaling s = {.event = m->sample_events.row,
			    .sample = m->samples.row,
			    .lost = m->samples_lost.row,
			    .n_events = m->sample_events.n,
			    .n_samples = m->samples.n,
			    .n_lost = m->samples_lost.n,
			    .shares = {.row_bytes = sizeof(struct share)}};
	int err = 0;

	for (size_t i = 0; i < s.n_samples; i++)
		s.sample[i].scaled = s.sample[i].value;
	s.tally = calloc(s.n_events + 1, sizeof(*s.tally));
	if (!s.tally)
		return -ENOMEM;
	for (size_t i = 0; i < s.n_events; i++)
		s.tally[i].period = trc_sample_event_period(&s.event[i]);
	if (s.n_lost) {
		err = scaling_add_samples(&s);
		if (!err) {
			add_losses(&s);
			choose_losses(&s);
			add_bases(&s);
		}
		for (size_t i = 0; i < s.n_samples && !err; i++)
			sample_scale(&s, &s.sample[i]);
	}
	if (!err)
		scaling_sum_up(&s);
	free(s.tally);
	trc_array_free(&s.shares);
	trc_index_free(&s.share);
	return err;
}
