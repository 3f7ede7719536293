/*
 * rows_sched.c - who was on which proc, and who could run but had none, as columns of a page.
 *
 * A page has all of these rows of its part of the trace or none: of some of them alone nobody could tell how busy a proc was.
 * Without them the page makes the same, less exactly, from the states of its threads.
 */
#include "analyzer/model/holds.h"
#include "rows.h"

enum { SCHED_ROWS_MAX = 200000 };

/* The rows lie by start. */
static void write_on_cpu(struct trc_rows *r, const struct trc_on_cpu *all, size_t n)
{
	enum { THREAD, PROC, START, LENGTH, PREEMPTED, OPEN, N };
	struct trc_column c[N] = {
		[THREAD] = trc_column_make("cpu.thread", TRC_COLUMN_VARINT),
		[PROC] = trc_column_make("cpu.proc", TRC_COLUMN_VARINT),
		[START] = trc_column_make("cpu.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("cpu.length", TRC_COLUMN_VARINT),
		[PREEMPTED] = trc_column_make("cpu.preempted", TRC_COLUMN_BYTES),
		[OPEN] = trc_column_make("cpu.open", TRC_COLUMN_BYTES),
	};

	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_ON_CPU, n) {
		const struct trc_on_cpu *on = &all[i];
		uint64_t start = on->start_ns == TRC_NEVER ? 0 : trc_rows_time(r, on->start_ns);
		uint64_t end = trc_rows_time(r, on->end_ns == TRC_NEVER ? trc_model_end_ns(r->m)
									: on->end_ns);

		trc_column_add(&c[THREAD], trc_rows_thread(r, on->thread));
		trc_column_add(&c[PROC], on->proc);
		trc_column_add(&c[START], start);
		trc_column_add(&c[LENGTH], end > start ? end - start : 0);
		trc_column_add(&c[PREEMPTED], on->preempted);
		trc_column_add(&c[OPEN], on->end_ns == TRC_NEVER);
	}
	trc_rows_columns(r, c, N);
}

/* By when the thread could run. */
static void rows_write_latencies(struct trc_rows *r, const struct trc_latency *all, size_t n)
{
	enum { THREAD, START, LENGTH, N };
	struct trc_column c[N] = {
		[THREAD] = trc_column_make("ready.thread", TRC_COLUMN_VARINT),
		[START] = trc_column_make("ready.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("ready.length", TRC_COLUMN_VARINT),
	};

	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_LATENCIES, n) {
		const struct trc_latency *latency = &all[i];
		uint64_t start = trc_rows_time(r, latency->woken_ns);
		uint64_t end = trc_rows_time(r, latency->running_ns);

		trc_column_add(&c[THREAD], trc_rows_thread(r, latency->thread));
		trc_column_add(&c[START], start);
		trc_column_add(&c[LENGTH], end > start ? end - start : 0);
	}
	trc_rows_columns(r, c, N);
}

void trc_rows_sched(struct trc_rows *r)
{
	struct trc_error error;
	const struct trc_latency *latencies;
	const struct trc_on_cpu *on_cpu;
	size_t n_on_cpu, n_latencies;

	on_cpu = trc_model_on_cpu(r->m, &n_on_cpu);
	if (!n_on_cpu || trc_cut_count(r->cut, TRC_SELECTED_ON_CPU, n_on_cpu) > SCHED_ROWS_MAX)
		return;
	if (trc_model_need(r->m, TRC_PART_LATENCIES, &error)) {
		r->failed = true;
		return;
	}
	latencies = trc_model_latencies(r->m, &n_latencies);
	r->with_on_cpu = true;
	write_on_cpu(r, on_cpu, n_on_cpu);
	rows_write_latencies(r, latencies, n_latencies);
}
