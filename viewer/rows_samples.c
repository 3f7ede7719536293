/*
 * rows_samples.c - samples of what ran, and of which events they are, as columns of a page.
 *
 * Of more samples than a page holds, one of so many is kept, of each event by itself: what
 * the page sums up is then an estimate, which is what samples are.
 */
#include "rows.h"

static void rows_write_sample_events(struct trc_rows *r)
{
	enum { EVENT, NAME, UNIT, HOW, NOTE, PERIOD, RATE, COUNT, LOST, MISSING, UNSEEN, EXACT, N };
	struct trc_column c[N] = {
		[EVENT] = trc_column_make("sampled.event", TRC_COLUMN_VARINT),
		[NAME] = trc_column_make("sampled.name", TRC_COLUMN_VARINT),
		[UNIT] = trc_column_make("sampled.unit", TRC_COLUMN_VARINT),
		[HOW] = trc_column_make("sampled.how", TRC_COLUMN_VARINT),
		[NOTE] = trc_column_make("sampled.note", TRC_COLUMN_VARINT),
		[PERIOD] = trc_column_make("sampled.period", TRC_COLUMN_VARINT),
		[RATE] = trc_column_make("sampled.rate", TRC_COLUMN_VARINT),
		[COUNT] = trc_column_make("sampled.count", TRC_COLUMN_VARINT),
		[LOST] = trc_column_make("sampled.lost", TRC_COLUMN_VARINT),
		[MISSING] = trc_column_make("sampled.missing", TRC_COLUMN_VARINT),
		[UNSEEN] = trc_column_make("sampled.unseen", TRC_COLUMN_VARINT),
		[EXACT] = trc_column_make("sampled.counted", TRC_COLUMN_BYTES),
	};
	size_t n;
	const struct trc_sample_event *e = trc_model_sample_events(r->m, &n);

	for (size_t i = 0; i < n; i++, e++) {
		trc_column_add(&c[EVENT], e->event);
		trc_column_add(&c[NAME], trc_texts_id(&r->texts, e->name));
		trc_column_add(&c[UNIT], trc_texts_id(&r->texts, e->unit));
		trc_column_add(&c[HOW],
			       trc_texts_id(&r->texts, e->how ? trc_sample_how_name(e->how) : ""));
		trc_column_add(&c[NOTE], trc_texts_id(&r->texts, e->note));
		trc_column_add(&c[PERIOD], e->period);
		trc_column_add(&c[RATE], e->frequency_hz);
		trc_column_add(&c[COUNT], e->n_samples);
		trc_column_add(&c[LOST], e->lost_samples);
		trc_column_add(&c[MISSING], e->missing_threads);
		trc_column_add(&c[UNSEEN], e->unseen);
		trc_column_add(&c[EXACT], trc_sample_event_is_counted(e));
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

/* Row + 1 of the event among the sampled ones; 0 = none. */
static uint32_t sample_event_row(const struct trc_rows *r, uint32_t event)
{
	size_t n;
	const struct trc_sample_event *e = trc_model_sample_events(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (e[i].event == event)
			return (uint32_t)i + 1;
	return 0;
}

static void write_samples(struct trc_rows *r)
{
	enum { TIME, THREAD, EVENT, VALUE, MADE_UP, STACK, SET, N, SEEN = 64 };
	struct trc_column c[N] = {
		[TIME] = trc_column_make("sample.time", TRC_COLUMN_DELTA),
		[THREAD] = trc_column_make("sample.thread", TRC_COLUMN_VARINT),
		[EVENT] = trc_column_make("sample.event", TRC_COLUMN_VARINT),
		[VALUE] = trc_column_make("sample.value", TRC_COLUMN_VARINT),
		[MADE_UP] = trc_column_make("sample.made_up", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("sample.stack", TRC_COLUMN_VARINT),
		[SET] = trc_column_make("sample.set", TRC_COLUMN_VARINT),
	};
	uint64_t seen[SEEN] = {0};
	size_t n;
	const struct trc_sample *all = trc_model_samples(r->m, &n);
	size_t n_in = trc_cut_count(r->cut, TRC_SELECTED_SAMPLES, n);
	uint64_t step = n_in ? (n_in - 1) / r->limits.samples + 1 : 1;

	r->sample_step = step;
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_SAMPLES, n) {
		const struct trc_sample *s = &all[i];
		uint32_t event = sample_event_row(r, s->event);

		if (seen[event % SEEN]++ % step) {
			trc_rows_leave_out(r, TRC_ROWS_SAMPLES, i, n);
			continue;
		}
		trc_column_add(&c[TIME], trc_rows_time(r, s->ts_ns));
		trc_column_add(&c[THREAD], trc_rows_thread(r, s->thread));
		trc_column_add(&c[EVENT], event);
		trc_column_add(&c[VALUE], s->value);
		trc_column_add(&c[MADE_UP], s->scaled > s->value ? s->scaled - s->value : 0);
		trc_column_add(&c[STACK], s->stack);
		trc_column_add(&c[SET], s->labels);
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

void trc_rows_samples(struct trc_rows *r)
{
	rows_write_sample_events(r);
	write_samples(r);
}
