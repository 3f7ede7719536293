/*
 * rows_user.c - the user's own annotations as columns of a page.
 */
#include <stdlib.h>

#include "rows.h"

uint64_t trc_rows_start(const struct trc_rows *r, int64_t start_ns, int64_t end_ns)
{
	int64_t window_ns = trc_model_window_ns(r->m);

	if (start_ns != TRC_NEVER)
		return trc_rows_time(r, start_ns);
	return window_ns != TRC_NEVER && end_ns >= window_ns ? trc_rows_time(r, window_ns) : 0;
}

uint64_t trc_rows_length(const struct trc_rows *r, int64_t start_ns, int64_t end_ns)
{
	uint64_t start = trc_rows_start(r, start_ns, end_ns), end = trc_rows_time(r, end_ns);

	return end > start ? end - start : 0;
}

/* The page's number of the task that the user calls `id`; 0 = none, or left out. */
static uint32_t user_task(const struct trc_rows *r, uint64_t id)
{
	uint32_t number = id ? trc_index_get(&r->tasks, id) : TRC_INDEX_NONE;

	return number != TRC_INDEX_NONE ? r->task_idx[number - 1] : 0;
}

/* rows:V4. */
static uint64_t thread_beside(uint32_t thread, uint32_t mostly)
{
	return thread == mostly ? 0 : (uint64_t)thread + 1;
}

/* The thread of a task; 0 = none. */
static uint32_t thread_of_task(const struct trc_rows *r, uint32_t task)
{
	return task ? r->task_shown[task - 1].thread : 0;
}

/* rows:V5: a time, less when its task begins. */
static uint64_t in_task(const struct trc_rows *r, uint32_t task, uint64_t time, uint64_t without)
{
	return trc_zigzag(time - (task ? r->task_shown[task - 1].start : without));
}

/* The same of an end. */
static uint64_t end_in_task(const struct trc_rows *r, uint32_t task, uint64_t end, uint64_t without)
{
	return trc_zigzag(end - (task ? r->task_shown[task - 1].end : without));
}

/* rows:V5: a column, or in place of it the one with differences. */
static void write_shorter(struct trc_rows *r, struct trc_column *c, struct trc_column *differences)
{
	struct trc_column derived = trc_column_make(c->name, TRC_COLUMN_DERIVED);

	derived.n = c->n;
	derived.max = c->max;
	if (trc_page_shorter(r->page, c, differences))
		trc_page_column(r->page, &derived);
}

/* Numbers the tasks that the page has.  A task id that is used again names its first task. */
static uint64_t user_choose_tasks(struct trc_rows *r, const struct trc_task *t, size_t n)
{
	uint64_t by_length[65] = {0}, from, n_wanted = 0;
	uint32_t n_kept = 0;

	r->task_idx = calloc(n + 1, sizeof(*r->task_idx));
	r->task_shown = calloc(n + 1, sizeof(*r->task_shown));
	if (!r->task_idx || !r->task_shown) {
		r->failed = true;
		return UINT64_MAX;
	}
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_TASKS, n) {
		by_length[trc_bits(trc_rows_length(r, t[i].start_ns, t[i].end_ns))]++;
		n_wanted++;
	}
	from = trc_rows_keep_from(by_length, r->limits.tasks);
	/* An id may come again: the one in the page is meant. */
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_TASKS, n) {
		size_t known = r->tasks.n;
		uint32_t number;

		number = trc_index_number(&r->tasks, t[i].task);
		if (trc_rows_length(r, t[i].start_ns, t[i].end_ns) < from)
			continue;
		n_kept++;
		if (number && number > known)
			r->task_idx[number - 1] = n_kept;
	}
	r->without_tasks = n_wanted - n_kept;
	return from;
}

static void write_tasks(struct trc_rows *r)
{
	enum { ROW, LOW, HIGH, PARENT, TYPE, START, LENGTH, OPEN, THREAD, END_THREAD, N };
	struct trc_column c[N] = {
		[ROW] = trc_column_make("task.row", TRC_COLUMN_DELTA),
		[LOW] = trc_column_make("task.low", TRC_COLUMN_DELTA),
		[HIGH] = trc_column_make("task.high", TRC_COLUMN_VARINT),
		[PARENT] = trc_column_make("task.parent", TRC_COLUMN_VARINT),
		[TYPE] = trc_column_make("task.type", TRC_COLUMN_VARINT),
		[START] = trc_column_make("task.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("task.length", TRC_COLUMN_VARINT),
		[OPEN] = trc_column_make("task.open", TRC_COLUMN_BYTES),
		[THREAD] = trc_column_make("task.thread", TRC_COLUMN_VARINT),
		[END_THREAD] = trc_column_make("task.end_beside", TRC_COLUMN_VARINT),
	};
	size_t n, k = 0;
	const struct trc_task *all = trc_model_tasks(r->m, &n);
	uint64_t from = user_choose_tasks(r, all, n);

	if (r->failed)
		n = 0;
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_TASKS, n) {
		const struct trc_task *t = &all[i];
		uint64_t length = trc_rows_length(r, t->start_ns, t->end_ns);
		uint64_t start = trc_rows_start(r, t->start_ns, t->end_ns);
		uint32_t thread = trc_rows_thread(r, t->start_thread);

		if (length < from) {
			trc_rows_leave_out(r, TRC_ROWS_TASKS, i, n);
			continue;
		}
		trc_column_add(&c[ROW], i + 1);
		trc_column_add(&c[LOW], (uint32_t)t->task);
		trc_column_add(&c[HIGH], t->task >> 32);
		trc_column_add(&c[PARENT], user_task(r, t->parent));
		trc_column_add(&c[TYPE], trc_texts_id(&r->texts, t->type));
		trc_column_add(&c[START], start);
		trc_column_add(&c[LENGTH], length);
		trc_column_add(&c[OPEN], t->end_ns == TRC_NEVER);
		trc_column_add(&c[THREAD], thread);
		trc_column_add(&c[END_THREAD],
			       thread_beside(trc_rows_thread(r, t->end_thread), thread));
		r->task_shown[k++] = (struct trc_shown_task){start, start + length, thread};
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
}

static void write_regions(struct trc_rows *r)
{
	enum { ROW, THREAD, DEPTH, TYPE, TASK, OPEN, FIBER, N };
	struct trc_column c[N] = {
		[ROW] = trc_column_make("region.row", TRC_COLUMN_DELTA),
		[THREAD] = trc_column_make("region.thread_beside", TRC_COLUMN_VARINT),
		[DEPTH] = trc_column_make("region.depth", TRC_COLUMN_VARINT),
		[TYPE] = trc_column_make("region.type", TRC_COLUMN_VARINT),
		[TASK] = trc_column_make("region.task", TRC_COLUMN_DELTA),
		[OPEN] = trc_column_make("region.open", TRC_COLUMN_BYTES),
		[FIBER] = trc_column_make("region.fiber", TRC_COLUMN_VARINT),
	};
	struct trc_column start = trc_column_make("region.start", TRC_COLUMN_DELTA);
	struct trc_column beside = trc_column_make("region.start_in_task", TRC_COLUMN_VARINT);
	struct trc_column lengths = trc_column_make("region.length", TRC_COLUMN_VARINT);
	struct trc_column ends = trc_column_make("region.end_in_task", TRC_COLUMN_VARINT);
	uint64_t by_length[65] = {0}, from, before = 0;
	size_t n;
	const struct trc_region *all = trc_model_regions(r->m, &n);

	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_REGIONS, n)
		by_length[trc_bits(trc_rows_length(r, all[i].start_ns, all[i].end_ns))]++;
	from = trc_rows_keep_from(by_length, r->limits.regions);
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_REGIONS, n) {
		const struct trc_region *g = &all[i];
		uint64_t length = trc_rows_length(r, g->start_ns, g->end_ns);
		uint64_t at = trc_rows_start(r, g->start_ns, g->end_ns);
		uint32_t task = user_task(r, g->task);

		if (length < from) {
			trc_rows_leave_out(r, TRC_ROWS_REGIONS, i, n);
			r->without_regions++;
			continue;
		}
		trc_column_add(&c[ROW], i + 1);
		trc_column_add(&c[THREAD], thread_beside(trc_rows_thread(r, g->thread),
							 thread_of_task(r, task)));
		trc_column_add(&c[DEPTH], g->depth);
		trc_column_add(&c[TYPE], trc_texts_id(&r->texts, g->type));
		trc_column_add(&c[TASK], task);
		trc_column_add(&start, at);
		trc_column_add(&beside, in_task(r, task, at, before));
		trc_column_add(&lengths, length);
		trc_column_add(&ends, end_in_task(r, task, at + length, at));
		before = at;
		trc_column_add(&c[OPEN], g->end_ns == TRC_NEVER);
		trc_column_add(&c[FIBER], trc_rows_fiber(r, g->fiber));
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
	write_shorter(r, &start, &beside);
	write_shorter(r, &lengths, &ends);
}

/* Whether row k of n is one of those that are wanted, if they are fewer.  They are all over the table: one of each few rows, at a
 * place by chance, since rows of several names may take turns. */
static bool row_is_chosen(uint64_t k, uint64_t n, uint64_t wanted)
{
	uint64_t few, first, behind;

	if (n <= wanted)
		return true;
	few = k * wanted / n;
	first = (few * n + wanted - 1) / wanted;
	behind = ((few + 1) * n + wanted - 1) / wanted;
	return k - first == (few * 0x9e3779b97f4a7c15 >> 33) % (behind - first);
}

static void write_logs(struct trc_rows *r)
{
	enum { THREAD, TASK, CATEGORY, MESSAGE, N };
	struct trc_column c[N] = {
		[THREAD] = trc_column_make("log.thread_beside", TRC_COLUMN_VARINT),
		[TASK] = trc_column_make("log.task", TRC_COLUMN_DELTA),
		[CATEGORY] = trc_column_make("log.category", TRC_COLUMN_VARINT),
		[MESSAGE] = trc_column_make("log.message", TRC_COLUMN_VARINT),
	};
	struct trc_column times = trc_column_make("log.time", TRC_COLUMN_DELTA);
	struct trc_column beside = trc_column_make("log.time_in_task", TRC_COLUMN_VARINT);
	uint64_t before = 0;
	size_t n, k = 0, n_in;
	const struct trc_log *all = trc_model_logs(r->m, &n);

	n_in = trc_cut_count(r->cut, TRC_SELECTED_LOGS, n);
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_LOGS, n) {
		const struct trc_log *l = &all[i];
		uint64_t at = trc_rows_time(r, l->ts_ns);
		uint32_t task = user_task(r, l->task);

		if (!row_is_chosen(k++, n_in, r->limits.logs)) {
			trc_rows_leave_out(r, TRC_ROWS_LOGS, i, n);
			r->without_logs++;
			continue;
		}
		trc_column_add(&times, at);
		trc_column_add(&beside, in_task(r, task, at, before));
		before = at;
		trc_column_add(&c[THREAD], thread_beside(trc_rows_thread(r, l->thread),
							 thread_of_task(r, task)));
		trc_column_add(&c[TASK], task);
		trc_column_add(&c[CATEGORY], trc_texts_id(&r->texts, l->category));
		trc_column_add(&c[MESSAGE], trc_texts_id(&r->texts, l->message));
	}
	for (size_t i = 0; i < N; i++)
		trc_page_column(r->page, &c[i]);
	write_shorter(r, &times, &beside);
}

/* Memory in use over time, from sampled allocations and what ended them; all three by time. */
struct memory {
	const struct trc_alloc *alloc;
	const struct trc_free *end;
	const struct trc_alloc *gone; /* when another program was executed */
	size_t n_allocs, n_frees, n_gone;
	double in_use; /* bytes */
	int64_t ts_ns; /* of the last step */
	uint32_t thread;
};

static bool ended_by_exec(const struct trc_alloc *alloc)
{
	return !alloc->lives && !alloc->free && alloc->freed_ns != TRC_NEVER;
}

/* Those whose end is not known are in no step, and neither are frees of what was there before. */
static void memory_skip(struct memory *m)
{
	for (; m->n_allocs && !m->alloc->lives && !m->alloc->free && !ended_by_exec(m->alloc);
	     m->n_allocs--)
		m->alloc++;
	for (; m->n_frees && !m->end->alloc; m->n_frees--)
		m->end++;
	for (; m->n_gone && !ended_by_exec(m->gone); m->n_gone--)
		m->gone++;
}

static bool memory_goes_on(const struct memory *m)
{
	return m->n_allocs || m->n_frees || m->n_gone;
}

static void memory_add(struct memory *m, int64_t ts_ns, uint32_t thread, double bytes)
{
	m->in_use += bytes;
	m->ts_ns = ts_ns;
	m->thread = thread;
}

static bool memory_step(struct memory *m)
{
	int64_t alloc_ns, free_ns, gone_ns;

	memory_skip(m);
	if (!memory_goes_on(m))
		return false;
	alloc_ns = m->n_allocs ? m->alloc->ts_ns : INT64_MAX;
	free_ns = m->n_frees ? m->end->ts_ns : INT64_MAX;
	gone_ns = m->n_gone ? m->gone->freed_ns : INT64_MAX;
	if (m->n_allocs && alloc_ns <= free_ns && alloc_ns <= gone_ns) {
		memory_add(m, alloc_ns, m->alloc->thread,
			   m->alloc->objects * (double)m->alloc->bytes);
		m->n_allocs--;
		m->alloc++;
	} else if (m->n_frees && free_ns <= gone_ns) {
		memory_add(m, free_ns, m->end->thread, -m->end->objects * (double)m->end->bytes);
		m->n_frees--;
		m->end++;
	} else {
		memory_add(m, gone_ns, m->gone->thread, -m->gone->objects * (double)m->gone->bytes);
		m->n_gone--;
		m->gone++;
	}
	memory_skip(m);
	return true;
}

/* A step in the part that the page shows, or the last one before it. */
static bool memory_is_in(const struct trc_rows *r, const struct memory *m)
{
	struct memory next = *m;

	if (m->ts_ns >= r->cut->from_ns)
		return m->ts_ns <= r->cut->to_ns;
	return !memory_step(&next) || next.ts_ns >= r->cut->from_ns;
}

enum { COUNTER_TIME, COUNTER_THREAD, COUNTER_NAME, COUNTER_VALUE, N_COUNTER_COLUMNS };

static void add_counter(struct trc_rows *r, struct trc_column *c, int64_t ts_ns, uint32_t thread,
			const char *name, int64_t signed_value)
{
	uint64_t value = (uint64_t)signed_value;

	trc_column_add(&c[COUNTER_TIME], trc_rows_time(r, ts_ns));
	trc_column_add(&c[COUNTER_THREAD], trc_rows_thread(r, thread));
	trc_column_add(&c[COUNTER_NAME], trc_texts_id(&r->texts, name));
	trc_column_add(&c[COUNTER_VALUE], value << 1 ^ (0 - (value >> 63))); /* trc_zigzag */
}

/* As a counter of its own.  Of so many steps that a page could not hold them, one in some. */
static void add_memory(struct trc_rows *r, struct trc_column *c)
{
	struct memory m = {0};
	size_t i = 0, n_in = 0;
	struct memory ahead;

	m.alloc = trc_model_allocs(r->m, &m.n_allocs);
	m.end = trc_model_frees(r->m, &m.n_frees);
	m.gone = m.alloc;
	m.n_gone = m.n_allocs;
	for (ahead = m; memory_step(&ahead);)
		n_in += memory_is_in(r, &ahead);
	while (i < n_in && memory_step(&m)) {
		if (!memory_is_in(r, &m))
			continue;
		if (i % (n_in / r->limits.counters + 1) == 0 || i + 1 == n_in)
			add_counter(r, c, m.ts_ns, m.thread, "memory in use, estimated [bytes]",
				    trc_estimate_whole(m.in_use));
		i++;
	}
}

static void write_counters(struct trc_rows *r)
{
	struct trc_column c[N_COUNTER_COLUMNS] = {
		[COUNTER_TIME] = trc_column_make("counter.time", TRC_COLUMN_DELTA),
		[COUNTER_THREAD] = trc_column_make("counter.thread", TRC_COLUMN_VARINT),
		[COUNTER_NAME] = trc_column_make("counter.name", TRC_COLUMN_VARINT),
		[COUNTER_VALUE] = trc_column_make("counter.value", TRC_COLUMN_VARINT),
	};
	size_t n, k = 0, n_in;
	const struct trc_counter *all = trc_model_counters(r->m, &n);

	n_in = trc_cut_count(r->cut, TRC_SELECTED_COUNTERS, n);
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_COUNTERS, n) {
		const struct trc_counter *t = &all[i];

		if (!row_is_chosen(k++, n_in, r->limits.counters)) {
			trc_rows_leave_out(r, TRC_ROWS_COUNTERS, i, n);
			r->without_counters++;
			continue;
		}
		add_counter(r, c, t->ts_ns, t->thread, t->name, t->value);
	}
	add_memory(r, c);
	for (size_t i = 0; i < N_COUNTER_COLUMNS; i++)
		trc_page_column(r->page, &c[i]);
}

void trc_rows_user(struct trc_rows *r)
{
	write_tasks(r);
	write_regions(r);
	write_logs(r);
	write_counters(r);
}
