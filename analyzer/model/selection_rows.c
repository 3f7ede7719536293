/* selection_rows.c - see selection_rows.h. */
#include "selection_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "between.h"
#include "waits.h"

/* Whether row i is selected; fills in ns and n, which are TRC_NEVER and 1. */
typedef bool selected_fn(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row);

static bool rows_labels_pass(const struct trc_selected_rows *c, uint32_t thread, int64_t ts_ns,
			     uint64_t place)
{
	return !c->s->labels ||
	       trc_selection_passes(c->s, c->m, trc_model_labels_at(c->m, thread, ts_ns, place));
}

static bool rows_have_thread(const struct trc_selected_rows *c, size_t i,
			     struct trc_selected_row *row)
{
	size_t n;
	const struct trc_thread *t = &trc_model_threads(c->m, &n)[i];

	row->id = t->serial;
	row->ns = trc_selection_thread_ns(c->s, c->m, t);
	return row->ns > 0;
}

static bool has_park(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_park *park = &trc_model_parks(c->m, &n)[i];
	int64_t end_ns = trc_park_end_ns(c->m, park);

	row->ns = trc_selection_ns(c->s, park->thread, park->start_ns, end_ns);
	return trc_selection_touches(c->s, park->thread, park->start_ns, end_ns) &&
	       (!c->s->labels || trc_selection_passes(c->s, c->m, trc_park_labels(c->m, park)));
}

static bool has_unlock(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_unlock *unlock = &trc_model_unlocks(c->m, &n)[i];

	row->ns = c->caused[i].caused_ns;
	row->n = c->caused[i].caused_waits;
	return row->n && rows_labels_pass(c, unlock->thread, unlock->ts_ns, unlock->place);
}

static bool has_sample(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_sample *sample = &trc_model_samples(c->m, &n)[i];

	(void)row;
	return trc_selection_has_time(c->s, sample->thread, sample->ts_ns) &&
	       trc_selection_passes(c->s, c->m, sample->labels);
}

static bool has_alloc(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_alloc *alloc = &trc_model_allocs(c->m, &n)[i];

	(void)row;
	return trc_selection_has_time(c->s, alloc->thread, alloc->ts_ns) &&
	       trc_selection_passes(c->s, c->m, alloc->labels);
}

static bool has_task(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;

	row->id = trc_model_tasks(c->m, &n)[i].task;
	return trc_selection_has_task(c->s, c->m, i);
}

static bool has_region(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	(void)row;
	return trc_selection_has_region(c->s, c->m, i);
}

static bool has_log(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_log *log = &trc_model_logs(c->m, &n)[i];

	(void)row;
	return trc_selection_has(c->s, c->m, log->thread, log->ts_ns, log->place);
}

static bool has_counter(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_counter *counter = &trc_model_counters(c->m, &n)[i];

	(void)row;
	return trc_selection_has(c->s, c->m, counter->thread, counter->ts_ns, counter->place);
}

static bool has_on_cpu(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_on_cpu *on_cpu = &trc_model_on_cpu(c->m, &n)[i];
	int64_t start_ns = on_cpu->start_ns, end_ns = on_cpu->end_ns;

	if (start_ns == TRC_NEVER)
		start_ns = trc_model_start_ns(c->m);
	if (end_ns == TRC_NEVER)
		end_ns = trc_model_end_ns(c->m);
	row->ns = trc_selection_ns(c->s, on_cpu->thread, start_ns, end_ns);
	return row->ns > 0 && rows_labels_pass(c, on_cpu->thread, start_ns, TRC_PLACE_LAST);
}

static bool has_fiber_wait(const struct trc_selected_rows *c, size_t i,
			   struct trc_selected_row *row)
{
	size_t n;
	const struct trc_fiber_wait *wait = &trc_model_fiber_waits(c->m, &n)[i];

	row->ns = trc_selection_fiber_ns(c->s, wait, wait->start_ns,
					 wait->end_ns == TRC_NEVER ? trc_model_end_ns(c->m)
								   : wait->end_ns);
	return trc_selection_has_fiber_wait(c->s, c->m, wait);
}

/* Whole, whatever part of it is inside (lock_sums:K1). */
static bool has_hold(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_hold *hold = &trc_model_holds(c->m, &n)[i];
	int64_t end_ns = hold->end_ns == TRC_NEVER ? trc_model_end_ns(c->m) : hold->end_ns;

	row->ns = trc_selection_ns(c->s, hold->thread, hold->start_ns, end_ns);
	return trc_selection_touches(c->s, hold->thread, hold->start_ns, end_ns) &&
	       rows_labels_pass(c, hold->thread, hold->start_ns, TRC_PLACE_LAST);
}

static bool has_latency(const struct trc_selected_rows *c, size_t i, struct trc_selected_row *row)
{
	size_t n;
	const struct trc_latency *latency = &trc_model_latencies(c->m, &n)[i];

	row->ns = trc_selection_ns(c->s, latency->thread, latency->woken_ns, latency->running_ns);
	return trc_selection_touches(c->s, latency->thread, latency->woken_ns,
				     latency->running_ns) &&
	       (!c->s->labels ||
		trc_selection_passes(c->s, c->m, trc_latency_labels(c->m, latency)));
}

static selected_fn *const has[TRC_SELECTED_TABLES] = {
	[TRC_SELECTED_THREADS] = rows_have_thread,
	[TRC_SELECTED_PARKS] = has_park,
	[TRC_SELECTED_UNLOCKS] = has_unlock,
	[TRC_SELECTED_SAMPLES] = has_sample,
	[TRC_SELECTED_TASKS] = has_task,
	[TRC_SELECTED_REGIONS] = has_region,
	[TRC_SELECTED_LOGS] = has_log,
	[TRC_SELECTED_COUNTERS] = has_counter,
	[TRC_SELECTED_ON_CPU] = has_on_cpu,
	[TRC_SELECTED_HOLDS] = has_hold,
	[TRC_SELECTED_LATENCIES] = has_latency,
	[TRC_SELECTED_ALLOCS] = has_alloc,
	[TRC_SELECTED_FIBER_WAITS] = has_fiber_wait,
};

void trc_selected_rows_begin(struct trc_selected_rows *rows, const struct trc_model *m)
{
	*rows = (struct trc_selected_rows){.m = m, .s = trc_model_selection(m)};
}

int trc_selected_rows_need_caused(struct trc_selected_rows *rows)
{
	if (!rows->caused)
		rows->caused = trc_selection_caused_in(rows->s, rows->m, NULL, &rows->caused_in);
	return rows->caused ? 0 : -ENOMEM;
}

bool trc_selected_rows_has(const struct trc_selected_rows *rows, enum trc_selected_table table,
			   size_t i, struct trc_selected_row *row)
{
	*row = (struct trc_selected_row){i + 1, TRC_NEVER, 1};
	return has[table](rows, i, row);
}

static size_t next_unlock(const struct trc_selected_rows *rows, size_t i, size_t n)
{
	if (rows->caused && i < rows->caused_in.first)
		i = rows->caused_in.first;
	return rows->caused && i >= rows->caused_in.end ? n : i;
}

size_t trc_selected_rows_next(const struct trc_selected_rows *rows, enum trc_selected_table table,
			      size_t i, size_t n)
{
	static const enum trc_between_table between[TRC_SELECTED_TABLES] = {
		[TRC_SELECTED_PARKS] = TRC_BETWEEN_PARKS,
		[TRC_SELECTED_SAMPLES] = TRC_BETWEEN_SAMPLES,
		[TRC_SELECTED_TASKS] = TRC_BETWEEN_TASKS,
		[TRC_SELECTED_REGIONS] = TRC_BETWEEN_REGIONS,
		[TRC_SELECTED_LOGS] = TRC_BETWEEN_LOGS,
		[TRC_SELECTED_COUNTERS] = TRC_BETWEEN_COUNTERS,
		[TRC_SELECTED_ON_CPU] = TRC_BETWEEN_ON_CPU,
		[TRC_SELECTED_HOLDS] = TRC_BETWEEN_HOLDS,
		[TRC_SELECTED_LATENCIES] = TRC_BETWEEN_LATENCIES,
		[TRC_SELECTED_ALLOCS] = TRC_BETWEEN_ALLOCS,
		[TRC_SELECTED_FIBER_WAITS] = TRC_BETWEEN_FIBER_WAITS,
	};

	if (table == TRC_SELECTED_UNLOCKS)
		return next_unlock(rows, i, n);
	if (table == TRC_SELECTED_THREADS || i >= n)
		return i < n ? i : n;
	i = trc_between_next(rows->m, between[table], i, rows->s->from_ns, rows->s->to_ns);
	return i < n ? i : n;
}

void trc_selected_rows_free(struct trc_selected_rows *rows)
{
	free(rows->caused);
	*rows = (struct trc_selected_rows){0};
}
