/*
 * waits.c - threads, procs, gaps, parks, unlocks: TRC_PART_WAITS.
 *
 * Every event is looked at: its thread, its proc and its time.  Events that begin and end
 * waits go to parks.c.  Which thread ended which wait is found at the end, object by
 * object, by wakers.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "parks.h"

struct waits {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_park_rows parks;
	struct trc_array park_threads; /* struct trc_park_thread, by row in m->threads */
	struct trc_array unparks;      /* struct trc_unpark */
	struct trc_index proc_row;
	uint32_t serial; /* of the event before, and its row */
	uint32_t row;
	uint32_t highest_serial; /* of those that recorded an event */
	int64_t last_gap_ns;
	int64_t zero_ns; /* a time that was not given, 0 ticks, as trace time */
};

static const unsigned int waits_kinds[] = {
	TRC_KIND_GAP,	  TRC_KIND_THREAD_START, TRC_KIND_THREAD_NAME, TRC_KIND_PARK,
	TRC_KIND_RESUME,  TRC_KIND_WAIT,	 TRC_KIND_UNLOCK,      TRC_KIND_UNPARK,
	TRC_KIND_ACQUIRE, TRC_KIND_FIBER_READY,	 TRC_KIND_PROCESS,
};

/* The row of a thread in both arrays, or TRC_INDEX_NONE without memory. */
static uint32_t thread_row(struct waits *w, uint32_t serial)
{
	uint32_t row = trc_index_get(&w->m->thread_row, serial);

	if (row == TRC_INDEX_NONE) {
		if (!trc_model_thread_add(w->m, serial))
			return TRC_INDEX_NONE;
		row = (uint32_t)(w->m->threads.n - 1);
	}
	while (w->park_threads.n <= row) {
		struct trc_park_thread *t = trc_array_add(&w->park_threads);

		if (!t)
			return TRC_INDEX_NONE;
		t->last_start_ns = t->last_ns = TRC_NEVER;
		t->abandoned_place = TRC_PLACE_LAST;
	}
	return row;
}

static struct trc_thread *thread_at(struct waits *w, uint32_t serial)
{
	uint32_t row = thread_row(w, serial);

	return row == TRC_INDEX_NONE ? NULL : (struct trc_thread *)w->m->threads.row + row;
}

static struct trc_proc *proc_at(struct waits *w, uint32_t proc)
{
	uint32_t row = trc_index_get(&w->proc_row, proc);
	struct trc_proc *p;

	if (row != TRC_INDEX_NONE)
		return (struct trc_proc *)w->m->procs.row + row;
	p = trc_array_add(&w->m->procs);
	if (!p || trc_index_put(&w->proc_row, proc, (uint32_t)(w->m->procs.n - 1)))
		return NULL;
	*p = (struct trc_proc){.proc = proc, .first_ns = TRC_NEVER, .last_ns = TRC_NEVER};
	return p;
}

/* When it was done: a little before the event was recorded, if the event tells. */
static int64_t release_ns(const struct waits *w, const struct trc_columns *c, uint32_t row,
			  unsigned int at_arg)
{
	const uint64_t *const *arg = c->arg[c->kind[row]];
	int64_t at_ns;

	if (!arg || !arg[at_arg])
		return c->time_ns[row];
	at_ns = (int64_t)arg[at_arg][c->rank[row]];
	return at_ns != w->zero_ns && at_ns < c->time_ns[row] ? at_ns : c->time_ns[row];
}

static int thread_started(struct waits *w, const struct trc_columns *c, uint32_t row)
{
	struct trc_thread *thread;
	int64_t created_ns;

	if (!c->thread[row])
		return 0; /* the recorder's table had no room for it */
	thread = thread_at(w, c->thread[row]);
	if (!thread)
		return -ENOMEM;
	if (!thread->tid)
		thread->tid = (uint32_t)TRC_ROW_ARG(c, row, thread_start, tid);
	if (!thread->creator)
		thread->creator = (uint32_t)TRC_ROW_ARG(c, row, thread_start, creator);
	thread->creator_stack = (uint32_t)TRC_ROW_ARG(c, row, thread_start, stack);
	created_ns = release_ns(w, c, row, TRC_ARG_INDEX(thread_start, created));
	if (thread->creator && created_ns < c->time_ns[row])
		thread->created_ns = created_ns;
	/* One without a creator is not new, only seen for the first time. */
	if (thread->start_ns == TRC_NEVER && thread->creator)
		thread->start_ns = c->time_ns[row];
	return 0;
}

static int thread_named(struct waits *w, const struct trc_columns *c, uint32_t row)
{
	uint32_t named = (uint32_t)TRC_ROW_ARG(c, row, thread_name, named);
	struct trc_thread *thread;
	size_t n_bytes;
	const char *bytes = trc_arg_text(c, row, &n_bytes);

	if (!named && !c->thread[row])
		return 0;
	thread = thread_at(w, named ? named : c->thread[row]);
	if (!thread)
		return -ENOMEM;
	thread->name = trc_pool_text(&w->m->text, bytes, n_bytes);
	return thread->name ? 0 : -ENOMEM;
}

static int gap_add(struct waits *w, const struct trc_columns *c, uint32_t row, uint8_t source)
{
	struct trc_gap *gap = trc_array_add(&w->m->gaps);
	struct trc_proc *proc = proc_at(w, c->proc[row]);

	if (!gap || !proc)
		return -ENOMEM;
	gap->ts_ns = c->time_ns[row];
	gap->since_ns = (int64_t)TRC_ROW_ARG(c, row, gap, since);
	gap->lost_events = TRC_ROW_ARG(c, row, gap, lost_events);
	gap->cause = (uint8_t)TRC_ROW_ARG(c, row, gap, cause);
	gap->proc = c->proc[row];
	gap->source = source;
	proc->lost_events += gap->lost_events;
	w->m->lost_events += gap->lost_events;
	w->last_gap_ns = gap->ts_ns;
	return 0;
}

static int unlock_add(struct waits *w, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	struct trc_unlock *unlock = trc_array_add(&w->m->unlocks);
	uint64_t held_ns;

	if (!unlock)
		return -ENOMEM;
	unlock->ts_ns = release_ns(w, c, row, TRC_ARG_INDEX(unlock, at));
	unlock->place = unlock->ts_ns == c->time_ns[row] ? span->place + row : TRC_PLACE_LAST;
	held_ns = TRC_ROW_ARG(c, row, unlock, held);
	unlock->taken_ns =
		held_ns && held_ns < INT64_MAX / 2 ? unlock->ts_ns - (int64_t)held_ns : TRC_NEVER;
	unlock->thread = c->thread[row];
	unlock->proc = c->proc[row];
	unlock->reason = (uint8_t)TRC_ROW_ARG(c, row, unlock, reason);
	unlock->object = TRC_ROW_ARG(c, row, unlock, object);
	unlock->waiters = TRC_ROW_ARG(c, row, unlock, waiters);
	unlock->stack = (uint32_t)TRC_ROW_ARG(c, row, unlock, stack);
	return 0;
}

static int unpark_add(struct waits *w, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	struct trc_unpark *unpark = trc_array_add(&w->unparks);

	if (!unpark)
		return -ENOMEM;
	unpark->ts_ns = release_ns(w, c, row, TRC_ARG_INDEX(unpark, at));
	unpark->taken_ns = TRC_NEVER;
	unpark->place = unpark->ts_ns == c->time_ns[row] ? span->place + row : TRC_PLACE_LAST;
	unpark->thread = c->thread[row];
	unpark->proc = c->proc[row];
	unpark->reason = (uint32_t)TRC_ROW_ARG(c, row, unpark, reason);
	unpark->object = TRC_ROW_ARG(c, row, unpark, object);
	unpark->count = TRC_ROW_ARG(c, row, unpark, count);
	unpark->stack = (uint32_t)TRC_ROW_ARG(c, row, unpark, stack);
	return 0;
}

static int event_by_kind(struct waits *w, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	struct trc_thread *thread;

	switch (c->kind[row]) {
	case TRC_KIND_GAP:
		return gap_add(w, c, row, span->block->source);
	case TRC_KIND_THREAD_START:
		return thread_started(w, c, row);
	case TRC_KIND_THREAD_EXIT:
		if (!c->thread[row])
			return 0;
		thread = thread_at(w, c->thread[row]);
		if (thread && thread->end_ns == TRC_NEVER)
			thread->end_ns = c->time_ns[row];
		return thread ? 0 : -ENOMEM;
	case TRC_KIND_THREAD_NAME:
		return thread_named(w, c, row);
	case TRC_KIND_UNLOCK:
		return unlock_add(w, span, row);
	case TRC_KIND_UNPARK:
		return unpark_add(w, span, row);
	case TRC_KIND_PROCESS:
		w->m->n_forks += TRC_ROW_ARG(c, row, process, what) == TRC_PROCESS_FORK;
		if (TRC_ROW_ARG(c, row, process, what) != TRC_PROCESS_EXEC)
			return 0;
		return trc_exec_add(w->m, c->time_ns[row], w->highest_serial);
	default:
		return 0;
	}
}

/* Counts the event for its thread and hands it on. */
static int event_of_thread(struct waits *w, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	uint32_t serial = c->thread[row];
	struct trc_thread *thread;

	if (serial != w->serial || w->row == TRC_INDEX_NONE) {
		w->row = thread_row(w, serial);
		w->serial = serial;
		if (w->row == TRC_INDEX_NONE)
			return -ENOMEM;
	}
	if (serial > w->highest_serial && span->block->source != TRC_SOURCE_KERNEL)
		w->highest_serial = serial;
	thread = (struct trc_thread *)w->m->threads.row + w->row;
	thread->n_events++;
	if (thread->first_ns == TRC_NEVER)
		thread->first_ns = c->time_ns[row];
	if (c->time_ns[row] > thread->last_ns)
		thread->last_ns = c->time_ns[row];
	return trc_park_rows_event(
		&w->parks, (struct trc_park_thread *)w->park_threads.row + w->row, span, row);
}

static int procs_count_events(struct waits *w, const struct trc_columns *c, uint32_t first,
			      uint32_t last)
{
	for (uint32_t row = first; row < last;) {
		struct trc_proc *proc = proc_at(w, c->proc[row]);
		uint32_t run = row;

		if (!proc)
			return -ENOMEM;
		while (run < last && c->proc[run] == proc->proc)
			run++;
		proc->n_events += run - row;
		if (proc->first_ns == TRC_NEVER)
			proc->first_ns = c->time_ns[row];
		if (c->time_ns[run - 1] > proc->last_ns)
			proc->last_ns = c->time_ns[run - 1];
		row = run;
	}
	return 0;
}

static int waits_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct waits *w = (struct waits *)derive;
	int err = procs_count_events(w, span->columns, span->first, span->last);

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		err = event_by_kind(w, span, row);
		if (!err && span->columns->thread[row])
			err = event_of_thread(w, span, row);
	}
	return err;
}

/* How long each thread was parked: parks may lie inside each other, and count once. */
static int threads_sum_parks(struct waits *w)
{
	struct trc_model *m = w->m;
	struct trc_park *park = m->parks.row;
	int64_t *covered_ns = malloc((m->threads.n + 1) * sizeof(*covered_ns));

	if (!covered_ns)
		return -ENOMEM;
	/* Waiting before the trace began is no part of the thread's time in it. */
	for (size_t i = 0; i < m->threads.n; i++)
		covered_ns[i] = m->start_ns;
	for (size_t i = 0; i < m->parks.n; i++) {
		uint32_t row = trc_index_get(&m->thread_row, park[i].thread);
		struct trc_thread *thread = (struct trc_thread *)m->threads.row + row;
		int64_t start_ns = park[i].start_ns, end_ns = park[i].end_ns;

		end_ns = end_ns == TRC_NEVER ? m->end_ns : end_ns;
		start_ns = start_ns > covered_ns[row] ? start_ns : covered_ns[row];
		thread->n_parks++;
		trc_add_ns(&thread->parked_ns, start_ns, end_ns);
		if (end_ns > start_ns)
			covered_ns[row] = end_ns;
	}
	free(covered_ns);
	return 0;
}

static int thread_by_serial(const void *a, const void *b)
{
	const struct trc_thread *left = a, *right = b;

	return (left->serial > right->serial) - (left->serial < right->serial);
}

/* Rows move: from here on trc_park_thread rows are of no use. */
static int threads_sort(struct waits *w)
{
	struct trc_model *m = w->m;
	struct trc_thread *thread = m->threads.row;

	if (m->threads.n)
		qsort(thread, m->threads.n, sizeof(*thread), thread_by_serial);
	for (size_t i = 0; i < m->threads.n; i++)
		if (trc_index_put(&m->thread_row, thread[i].serial, (uint32_t)i))
			return -ENOMEM;
	return 0;
}

static int proc_by_number(const void *a, const void *b)
{
	const struct trc_proc *left = a, *right = b;

	return (left->proc > right->proc) - (left->proc < right->proc);
}

/* The wait of every thread that the last status table says to be waiting. */
static int status_map(struct waits *w, struct trc_index *status_row)
{
	const struct trc_status_entry *entry;
	size_t n = trc_reader_status(w->m->reader, &entry);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (entry[i].reason && thread_row(w, entry[i].thread) != TRC_INDEX_NONE)
			err = trc_index_put(status_row, entry[i].thread, (uint32_t)i);
	return err;
}

static int finish_threads(struct waits *w)
{
	const struct trc_status_entry *entry;
	struct trc_index status_row = {0};
	int err = status_map(w, &status_row);

	trc_reader_status(w->m->reader, &entry);
	for (size_t i = 0; i < w->park_threads.n && !err; i++) {
		struct trc_thread *thread = (struct trc_thread *)w->m->threads.row + i;
		uint32_t s = trc_index_get(&status_row, thread->serial);

		err = trc_park_rows_finish(&w->parks,
					   (struct trc_park_thread *)w->park_threads.row + i,
					   s == TRC_INDEX_NONE ? NULL : &entry[s], w->last_gap_ns);
	}
	trc_index_free(&status_row);
	return err ? err : threads_sort(w);
}

static int waits_end(struct trc_derive *derive)
{
	struct waits *w = (struct waits *)derive;
	struct trc_model *m = w->m;
	int err = finish_threads(w);

	if (!err)
		trc_exec_lives(m);
	if (m->procs.n)
		qsort(m->procs.row, m->procs.n, m->procs.row_bytes, proc_by_number);
	if (!err)
		err = trc_array_sort(&m->parks, offsetof(struct trc_park, start_ns),
				     offsetof(struct trc_park, thread));
	if (!err)
		err = trc_array_sort(&m->unlocks, offsetof(struct trc_unlock, ts_ns),
				     offsetof(struct trc_unlock, thread));
	if (!err)
		err = trc_array_sort(&w->unparks, offsetof(struct trc_unpark, ts_ns),
				     offsetof(struct trc_unpark, thread));
	if (!err)
		err = trc_array_sort(&m->gaps, offsetof(struct trc_gap, ts_ns),
				     offsetof(struct trc_gap, proc));
	if (!err)
		err = threads_sum_parks(w);
	if (!err)
		err = trc_derive_locks(m, &w->unparks);
	if (!err)
		err = trc_derive_tail_unlocks(m);
	return err ? err : trc_derive_wakers(m, &w->unparks);
}

static void waits_free(struct trc_derive *derive)
{
	struct waits *w = (struct waits *)derive;

	trc_park_rows_free(&w->parks);
	trc_array_free(&w->park_threads);
	trc_array_free(&w->unparks);
	trc_index_free(&w->proc_row);
	free(w);
}

/* The thread table; events may tell more. */
static int threads_from_table(struct waits *w)
{
	const struct trc_reader *r = w->m->reader;

	for (size_t i = 0; i < trc_reader_threads(r); i++) {
		const struct trc_thread_entry *entry = trc_reader_thread(r, i);
		struct trc_thread *thread = thread_at(w, entry->serial);

		if (!thread)
			return -ENOMEM;
		thread->tid = entry->tid;
		thread->creator = entry->creator;
		if (entry->start)
			thread->start_ns = trc_reader_ns(r, entry->start);
		if (entry->end)
			thread->end_ns = trc_reader_ns(r, entry->end);
		thread->name = trc_pool_text(&w->m->text, entry->name, entry->name_bytes);
		if (!thread->name)
			return -ENOMEM;
	}
	return 0;
}

int trc_derive_waits(struct trc_derive **out, struct trc_model *m)
{
	struct waits *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->m = w->parks.m = m;
	w->row = TRC_INDEX_NONE;
	w->last_gap_ns = TRC_NEVER;
	w->zero_ns = trc_reader_ns(m->reader, 0);
	w->park_threads.row_bytes = sizeof(struct trc_park_thread);
	w->unparks.row_bytes = sizeof(struct trc_unpark);
	w->derive = (struct trc_derive){
		.part = TRC_PART_WAITS, .span = waits_span, .end = waits_end, .free = waits_free};
	for (size_t i = 0; i < sizeof(waits_kinds) / sizeof(waits_kinds[0]); i++)
		trc_kind_mask_add(&w->derive.kinds, waits_kinds[i]);
	if (threads_from_table(w)) {
		waits_free(&w->derive);
		return -ENOMEM;
	}
	*out = &w->derive;
	return 0;
}
