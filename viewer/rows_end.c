/*
 * rows_end.c - signals and conditions that were met, the window, and deadlocks as columns of a
 * page.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/model/signal_names.h"
#include "rows.h"

enum mark_kind { MARK_SIGNAL = 1, MARK_FATAL, MARK_TRIGGER };

static void signal_text(char *text, size_t n_bytes, const struct trc_signal *s)
{
	const char *name = trc_signal_name(s->signal), *words;
	const char *code = trc_signal_code_name(s->signal, s->code, &words);
	char number[24], address[40] = "";

	snprintf(number, sizeof(number), "%" PRId64, s->code);
	if (trc_signal_has_address(s->signal, s->code))
		snprintf(address, sizeof(address), " (0x%" PRIx64 ")", s->address);
	snprintf(text, n_bytes, "SIG%s, %s%s%s%s", name ? name : "?", code ? code : number,
		 words ? ": " : "", words ? words : "", address);
}

static void write_marks(struct trc_rows *r)
{
	enum { TIME, THREAD, KIND, TEXT, STACK, N };
	struct trc_column c[N] = {
		[TIME] = trc_column_make("mark.time", TRC_COLUMN_DELTA),
		[THREAD] = trc_column_make("mark.thread", TRC_COLUMN_VARINT),
		[KIND] = trc_column_make("mark.kind", TRC_COLUMN_BYTES),
		[TEXT] = trc_column_make("mark.text", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("mark.stack", TRC_COLUMN_VARINT),
	};
	size_t n_signals, n_triggers;
	const struct trc_signal *s = trc_model_signals(r->m, &n_signals);
	const struct trc_trigger *t = trc_model_triggers(r->m, &n_triggers);
	char text[256];

	/* In order of time: so that those of a thread are. */
	while (n_signals || n_triggers) {
		bool is_signal = n_signals && (!n_triggers || s->ts_ns <= t->ts_ns);
		uint32_t thread = is_signal ? s->thread : t->thread;
		int64_t ts_ns = is_signal ? s->ts_ns : t->ts_ns;

		if (!trc_cut_overlaps(r->cut, thread, ts_ns, ts_ns)) {
			s += is_signal;
			t += !is_signal;
			n_signals -= is_signal;
			n_triggers -= !is_signal;
			continue;
		}
		trc_column_add(&c[TIME], trc_rows_time(r, ts_ns));
		trc_column_add(&c[THREAD], trc_rows_thread(r, thread));
		trc_column_add(&c[STACK], is_signal ? s->stack : 0);
		if (is_signal) {
			signal_text(text, sizeof(text), s);
			trc_column_add(&c[KIND], s->fatal ? MARK_FATAL : MARK_SIGNAL);
			trc_column_add(&c[TEXT], trc_texts_id(&r->texts, text));
			s++;
			n_signals--;
		} else {
			trc_column_add(&c[KIND], MARK_TRIGGER);
			trc_column_add(&c[TEXT], trc_texts_id(&r->texts, t->condition));
			t++;
			n_triggers--;
		}
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

/* Since when each stream is there at all; before that it may have had events as well. */
static void rows_write_coverage(struct trc_rows *r)
{
	enum { PROC, SOURCE, SINCE, N };
	struct trc_column c[N] = {
		[PROC] = trc_column_make("cover.proc", TRC_COLUMN_VARINT),
		[SOURCE] = trc_column_make("cover.source", TRC_COLUMN_BYTES),
		[SINCE] = trc_column_make("cover.since", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_coverage *row = trc_model_coverage(r->m, &n);

	for (size_t i = 0; i < n; i++, row++) {
		bool kernel = row->source == TRC_SOURCE_KERNEL;

		trc_column_add(&c[PROC], row->proc == TRC_NO_PROC ? 0 : row->proc + 1);
		trc_column_add(&c[SOURCE], row->source);
		trc_column_add(&c[SINCE],
			       trc_rows_time_or_never(r, kernel ? row->from_ns : row->held_ns));
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

/* The wait of a thread that is in a deadlock, as the page numbers it. */
static uint32_t open_park(const struct trc_rows *r, uint32_t thread)
{
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (now[i].thread == thread)
			return now[i].park ? r->park_idx[now[i].park - 1] : 0;
	return 0;
}

static void write_deadlocks(struct trc_rows *r)
{
	enum { NUMBER, THREAD, HOLDER, IN_CYCLE, CERTAIN, PARK, N };
	struct trc_column c[N] = {
		[NUMBER] = trc_column_make("dead.number", TRC_COLUMN_VARINT),
		[THREAD] = trc_column_make("dead.thread", TRC_COLUMN_VARINT),
		[HOLDER] = trc_column_make("dead.holder", TRC_COLUMN_VARINT),
		[IN_CYCLE] = trc_column_make("dead.cycle", TRC_COLUMN_BYTES),
		[CERTAIN] = trc_column_make("dead.certain", TRC_COLUMN_BYTES),
		[PARK] = trc_column_make("dead.park", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_deadlock *d = trc_model_deadlocks(r->m, &n);

	for (size_t i = 0; i < n; i++, d++) {
		trc_column_add(&c[NUMBER], d->deadlock);
		trc_column_add(&c[THREAD], trc_rows_thread(r, d->thread));
		trc_column_add(&c[HOLDER], trc_rows_thread(r, d->holder));
		trc_column_add(&c[IN_CYCLE], d->in_cycle);
		trc_column_add(&c[CERTAIN], d->certain);
		trc_column_add(&c[PARK], open_park(r, d->thread));
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

void trc_rows_end(struct trc_rows *r)
{
	write_marks(r);
	rows_write_coverage(r);
	write_deadlocks(r);
}
