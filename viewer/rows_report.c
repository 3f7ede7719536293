/*
 * rows_report.c - what the report tells of scheduling latencies and of labels, as columns of a page: exact, whatever rows the page
 * leaves out.
 */
#include "analyzer/report/report.h"
#include "rows.h"

static void rows_write_report_latencies(struct trc_rows *r, const struct trc_array *rows)
{
	enum { THREAD, THREADS, COUNT, ALIVE, TOTAL, PREEMPTED, OWN, P50, P99, MAX, N };
	struct trc_column c[N] = {
		[THREAD] = trc_column_make("late.thread", TRC_COLUMN_VARINT),
		[THREADS] = trc_column_make("late.threads", TRC_COLUMN_VARINT),
		[COUNT] = trc_column_make("late.count", TRC_COLUMN_VARINT),
		[ALIVE] = trc_column_make("late.alive", TRC_COLUMN_VARINT),
		[TOTAL] = trc_column_make("late.total", TRC_COLUMN_VARINT),
		[PREEMPTED] = trc_column_make("late.preempted", TRC_COLUMN_VARINT),
		[OWN] = trc_column_make("late.own", TRC_COLUMN_VARINT),
		[P50] = trc_column_make("late.p50", TRC_COLUMN_VARINT),
		[P99] = trc_column_make("late.p99", TRC_COLUMN_VARINT),
		[MAX] = trc_column_make("late.max", TRC_COLUMN_VARINT),
	};
	const struct trc_latency_group *group = rows->row;

	for (size_t i = 0; i < rows->n; i++, group++) {
		trc_column_add(&c[THREAD], trc_rows_thread(r, group->thread));
		trc_column_add(&c[THREADS], group->n_threads);
		trc_column_add(&c[COUNT], group->n);
		trc_column_add(&c[ALIVE], trc_rows_positive(group->alive_ns));
		trc_column_add(&c[TOTAL], trc_rows_positive(group->total_ns));
		trc_column_add(&c[PREEMPTED], trc_rows_positive(group->preempted_ns));
		trc_column_add(&c[OWN], trc_rows_positive(group->own_ns));
		trc_column_add(&c[P50], trc_rows_positive(group->p50_ns));
		trc_column_add(&c[P99], trc_rows_positive(group->p99_ns));
		trc_column_add(&c[MAX], trc_rows_positive(group->max_ns));
	}
	trc_rows_columns(r, c, N);
}

static void write_labels(struct trc_rows *r, const struct trc_array *rows)
{
	enum { KEY, VALUE, VALUES, TIME, LOCKS, THREADS, FILES, OUTSIDE, N };
	struct trc_column c[N] = {
		[KEY] = trc_column_make("bylabel.key", TRC_COLUMN_VARINT),
		[VALUE] = trc_column_make("bylabel.value", TRC_COLUMN_VARINT),
		[VALUES] = trc_column_make("bylabel.values", TRC_COLUMN_VARINT),
		[TIME] = trc_column_make("bylabel.time", TRC_COLUMN_VARINT),
		[LOCKS] = trc_column_make("bylabel.locks", TRC_COLUMN_VARINT),
		[THREADS] = trc_column_make("bylabel.threads", TRC_COLUMN_VARINT),
		[FILES] = trc_column_make("bylabel.files", TRC_COLUMN_VARINT),
		[OUTSIDE] = trc_column_make("bylabel.outside", TRC_COLUMN_VARINT),
	};
	const struct trc_label_time *row = rows->row;

	for (size_t i = 0; i < rows->n; i++, row++) {
		trc_column_add(&c[KEY], trc_texts_id(&r->texts, row->label->key));
		trc_column_add(&c[VALUE], trc_texts_id(&r->texts, row->label->value));
		trc_column_add(&c[VALUES], row->n_values);
		trc_column_add(&c[TIME], trc_rows_positive(row->time_ns));
		trc_column_add(&c[LOCKS], trc_rows_positive(row->class_ns[TRC_WAIT_LOCKS]));
		trc_column_add(&c[THREADS], trc_rows_positive(row->class_ns[TRC_WAIT_THREADS]));
		trc_column_add(&c[FILES], trc_rows_positive(row->class_ns[TRC_WAIT_FILES]));
		trc_column_add(&c[OUTSIDE], trc_rows_positive(row->class_ns[TRC_WAIT_OUTSIDE]));
	}
	trc_rows_columns(r, c, N);
}

void trc_rows_report(struct trc_rows *r)
{
	struct trc_array latencies, labels;
	struct trc_error error;

	if (trc_report_times(r->m, &latencies, &labels, &error)) {
		r->failed = true;
		latencies.n = labels.n = 0;
	}
	rows_write_report_latencies(r, &latencies);
	write_labels(r, &labels);
	trc_array_free(&latencies);
	trc_array_free(&labels);
}
