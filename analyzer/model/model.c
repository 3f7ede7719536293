/* model.c - see model.h: opening, the pass over the events, and the tables' accessors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "descriptors.h"
#include "image.h"
#include "spans.h"

static void rows_set_up(struct trc_model *m)
{
	m->threads.row_bytes = sizeof(struct trc_thread);
	m->lock_edges.row_bytes = sizeof(struct trc_lock_edge);
	m->descriptors.row_bytes = sizeof(struct trc_descriptor_name);
	m->parks.row_bytes = sizeof(struct trc_park);
	m->unlocks.row_bytes = sizeof(struct trc_unlock);
	m->gaps.row_bytes = sizeof(struct trc_gap);
	m->procs.row_bytes = sizeof(struct trc_proc);
	m->tasks.row_bytes = sizeof(struct trc_task);
	m->regions.row_bytes = sizeof(struct trc_region);
	m->logs.row_bytes = sizeof(struct trc_log);
	m->counters.row_bytes = sizeof(struct trc_counter);
	m->on_cpu.row_bytes = sizeof(struct trc_on_cpu);
	m->execs.row_bytes = sizeof(struct trc_exec);
	m->labels.row_bytes = sizeof(struct trc_set_label);
	trc_thread_spans_init(&m->label_spans);
	m->contexts.row_bytes = sizeof(struct trc_context);
	m->context_sets.row_bytes = sizeof(struct trc_context_set);
	trc_thread_spans_init(&m->context_spans);
	m->fibers.row_bytes = sizeof(struct trc_fiber);
	m->fiber_runs.row_bytes = sizeof(struct trc_fiber_run);
	m->fiber_waits.row_bytes = sizeof(struct trc_fiber_wait);
	trc_thread_spans_init(&m->fiber_spans);
	m->samples.row_bytes = sizeof(struct trc_sample);
	m->sample_events.row_bytes = sizeof(struct trc_sample_event);
	m->sample_notes.row_bytes = sizeof(char *);
	m->samples_lost.row_bytes = sizeof(struct trc_samples_lost);
	m->allocs.row_bytes = sizeof(struct trc_alloc);
	m->frees.row_bytes = sizeof(struct trc_free);
	m->heap.row_bytes = sizeof(struct trc_heap_object);
	m->signals.row_bytes = sizeof(struct trc_signal);
	m->triggers.row_bytes = sizeof(struct trc_trigger);
	m->threads_now.row_bytes = sizeof(struct trc_thread_now);
	m->open_regions.row_bytes = sizeof(struct trc_open_region);
	m->deadlocks.row_bytes = sizeof(struct trc_deadlock);
	m->locks_held.row_bytes = sizeof(struct trc_lock_held);
	m->holds.row_bytes = sizeof(struct trc_hold);
	m->objects.row_bytes = sizeof(struct trc_object);
	m->latencies.row_bytes = sizeof(struct trc_latency);
	m->preempted_sections.row_bytes = sizeof(struct trc_preempted_section);
	m->coverage.row_bytes = sizeof(struct trc_coverage);
	m->stack_frame.row_bytes = sizeof(uint32_t);
	m->frame.row_bytes = sizeof(struct trc_frame);
	m->frame_origin.row_bytes = sizeof(struct trc_frame_origin);
}

/* The recorder notices the end of a process a little later, up to a tenth of a second: where the kernel tells of each thread's
 * exit, the last event is the end. */
static bool ends_with_last_event(const struct trc_reader *r)
{
	const char *ended = trc_reader_info_get(r, "ended");
	const char *sched = trc_reader_info_get(r, "sched");

	return trc_reader_info(r)->complete && !trc_reader_info_get(r, "snapshot") && sched &&
	       !strcmp(sched, "yes") && ended &&
	       (!strncmp(ended, "exit ", 5) || !strncmp(ended, "killed by ", 10));
}

static int model_set_up(struct trc_model *m)
{
	const struct trc_file_info *info = trc_reader_info(m->reader);

	rows_set_up(m);
	m->indexes = calloc(1, sizeof(*m->indexes));
	if (!m->indexes)
		return -ENOMEM;
	m->start_ns = info->n_events && info->first_ns < 0 ? info->first_ns : 0;
	m->end_ns = info->n_events && info->last_ns > m->start_ns ? info->last_ns : m->start_ns;
	if (info->last_sync_ns > m->end_ns && !ends_with_last_event(m->reader))
		m->end_ns = info->last_sync_ns;
	if (trc_model_read_coverage(m))
		return -ENOMEM;
	m->string = calloc(trc_reader_strings(m->reader) + 1, sizeof(*m->string));
	return m->string ? 0 : -ENOMEM;
}

int trc_model_open(struct trc_model **out, const char *path, struct trc_error *error)
{
	struct trc_reader *reader;
	int err = trc_reader_open(&reader, path, error);

	return err ? err : trc_model_open_reader(out, reader, error);
}

int trc_model_open_reader(struct trc_model **out, struct trc_reader *reader,
			  struct trc_error *error)
{
	struct trc_model *m = calloc(1, sizeof(*m));

	if (m)
		m->reader = reader;
	if (!m || model_set_up(m)) {
		snprintf(error->text, sizeof(error->text), "out of memory");
		if (!m)
			trc_reader_close(reader);
		trc_model_close(m);
		return -ENOMEM;
	}
	*out = m;
	return 0;
}

/* Forgets these parts: the trace is being closed, or they could not be made whole. */
static void rows_drop(struct trc_model *m, unsigned int parts)
{
	if (parts & TRC_PART_WAITS) {
		trc_array_free(&m->threads);
		trc_index_free(&m->thread_row);
		trc_array_free(&m->parks);
		trc_array_free(&m->unlocks);
		trc_array_free(&m->gaps);
		trc_array_free(&m->procs);
		trc_array_free(&m->execs);
		m->lost_events = 0;
		m->n_forks = 0;
	}
	if (parts & TRC_PART_USER) {
		trc_array_free(&m->tasks);
		trc_array_free(&m->regions);
		trc_array_free(&m->logs);
		trc_array_free(&m->counters);
	}
	if (parts & TRC_PART_SCHED) {
		struct trc_thread *thread = m->threads.row;

		trc_array_free(&m->on_cpu);
		for (size_t i = 0; i < m->threads.n; i++)
			thread[i].on_cpu_ns = TRC_NEVER; /* whoever derives them again adds to it */
	}
	if (parts & TRC_PART_LABELS) {
		m->n_context_labels = 0;
		m->contexts_cut = false;
		trc_array_free(&m->labels);
		trc_thread_spans_free(&m->label_spans);
		trc_array_free(&m->contexts);
		trc_array_free(&m->context_sets);
		trc_thread_spans_free(&m->context_spans);
		trc_index_free(&m->context_set);
		if (!trc_image_has(m, m->label_first))
			free(m->label_first);
		m->label_first = NULL;
	}
	if (parts & TRC_PART_FIBERS) {
		trc_array_free(&m->fibers);
		trc_array_free(&m->fiber_runs);
		trc_array_free(&m->fiber_waits);
		trc_thread_spans_free(&m->fiber_spans);
	}
	if (parts & TRC_PART_SAMPLES) {
		trc_array_free(&m->samples);
		for (size_t i = 0; i < m->sample_notes.n; i++)
			free(((char **)m->sample_notes.row)[i]);
		trc_array_free(&m->sample_notes);
		trc_array_free(&m->sample_events);
		trc_array_free(&m->samples_lost);
	}
	if (parts & TRC_PART_HEAP) {
		trc_array_free(&m->allocs);
		trc_array_free(&m->frees);
		trc_array_free(&m->heap);
	}
	if (parts & TRC_PART_LOCK_ORDER)
		trc_array_free(&m->lock_edges);
	if (parts & TRC_PART_HOLDS)
		trc_array_free(&m->holds);
	if (parts & TRC_PART_NOW) {
		trc_array_free(&m->signals);
		trc_array_free(&m->triggers);
		trc_array_free(&m->threads_now);
		trc_array_free(&m->open_regions);
		trc_array_free(&m->deadlocks);
		trc_array_free(&m->locks_held);
	}
}

void trc_model_close(struct trc_model *m)
{
	if (!m)
		return;
	if (m->indexes) {
		trc_between_free(m->indexes->between);
		trc_unlocks_of_free(m->indexes->unlocks_of);
		for (int i = 0; i < TRC_KEPT_KINDS; i++)
			if (m->indexes->kept[i].thing)
				m->indexes->kept[i].free(m->indexes->kept[i].thing);
		free(m->indexes);
	}
	trc_derive_symbols_free(m);
	rows_drop(m, TRC_PART_EVENTS);
	trc_array_free(&m->objects);
	trc_array_free(&m->preempted_sections);
	trc_array_free(&m->latencies);
	trc_preempted_free(&m->preempted);
	trc_array_free(&m->descriptors);
	trc_index_free(&m->descriptor_row);
	trc_array_free(&m->coverage);
	free(m->string);
	trc_pool_free(&m->text);
	trc_reader_close(m->reader);
	trc_image_close(m->image);
	free(m);
}

void trc_model_keep(struct trc_model *m)
{
	m->indexes->keeps = true;
}

struct trc_kept *trc_model_kept(const struct trc_model *m, enum trc_kept_kind kind)
{
	return m->indexes->keeps ? &m->indexes->kept[kind] : NULL;
}

void trc_model_select(struct trc_model *m, const struct trc_selection *selection)
{
	m->selection = selection;
}

const struct trc_selection *trc_model_selection(const struct trc_model *m)
{
	return m->selection;
}

void trc_model_progress(struct trc_model *m, trc_progress_fn *fn, void *context)
{
	m->progress = fn;
	m->progress_context = context;
}

void trc_model_report_progress(struct trc_model *m, const char *what, double fraction)
{
	if (m->progress)
		m->progress(m->progress_context, what, fraction);
}

const char *trc_model_string(struct trc_model *m, uint64_t id)
{
	uint32_t n_bytes;
	const char *bytes;

	if (id >= trc_reader_strings(m->reader))
		return "";
	if (!m->string[id]) {
		bytes = trc_reader_string(m->reader, (uint32_t)id, &n_bytes);
		m->string[id] = bytes ? trc_pool_text(&m->text, bytes, n_bytes) : "";
	}
	return m->string[id];
}

struct trc_thread *trc_model_thread_add(struct trc_model *m, uint32_t serial)
{
	uint32_t row = trc_index_get(&m->thread_row, serial);
	struct trc_thread *thread;

	if (row != TRC_INDEX_NONE)
		return (struct trc_thread *)m->threads.row + row;
	thread = trc_array_add(&m->threads);
	if (!thread || trc_index_put(&m->thread_row, serial, (uint32_t)(m->threads.n - 1)))
		return NULL;
	*thread = (struct trc_thread){.serial = serial,
				      .name = "",
				      .created_ns = TRC_NEVER,
				      .start_ns = TRC_NEVER,
				      .end_ns = TRC_NEVER,
				      .first_ns = TRC_NEVER,
				      .last_ns = TRC_NEVER,
				      .on_cpu_ns = TRC_NEVER};
	return thread;
}

bool trc_model_has_kinds(const struct trc_model *m, const struct trc_kind_mask *kinds)
{
	for (size_t i = 0; i < trc_reader_blocks(m->reader); i++)
		if (trc_block_has_kinds(trc_reader_block(m->reader, i), kinds))
			return true;
	return false;
}

typedef int derive_make(struct trc_derive **out, struct trc_model *m);

static const struct derivation {
	unsigned int part;
	derive_make *make;
} derivations[] = {
	{TRC_PART_LABELS, trc_derive_labels}, /* the end of others may ask for labels */
	{TRC_PART_FIBERS, trc_derive_fibers}, /* and for fibers */
	{TRC_PART_WAITS, trc_derive_waits},   {TRC_PART_USER, trc_derive_user},
	{TRC_PART_SCHED, trc_derive_sched},   {TRC_PART_SAMPLES, trc_derive_samples},
	{TRC_PART_HEAP, trc_derive_heap},     {TRC_PART_LOCK_ORDER, trc_derive_lock_order},
	{TRC_PART_HOLDS, trc_derive_holds},   {TRC_PART_NOW, trc_derive_now},
};
enum { N_DERIVATIONS = sizeof(derivations) / sizeof(derivations[0]) };

static int pass_span(struct trc_derive **derive, size_t n, const struct trc_span *span)
{
	for (size_t i = 0; i < n; i++) {
		int err = derive[i]->span(derive[i], span);

		if (err)
			return err;
	}
	return 0;
}

static int pass_events(struct trc_model *m, struct trc_derive **derive, size_t n,
		       struct trc_merge *merge, struct trc_error *error)
{
	struct trc_span span;
	double told = 0;
	int got, err = 0;

	while (!err && (got = trc_merge_next(merge, &span, error)) != 0) {
		if (got < 0)
			return got;
		err = pass_span(derive, n, &span);
		if (trc_merge_fraction(merge) > told + 0.01) {
			told = trc_merge_fraction(merge);
			trc_model_report_progress(m, "reading events", told);
		}
	}
	for (size_t i = 0; i < n && !err; i++)
		err = derive[i]->end(derive[i]);
	if (err)
		snprintf(error->text, sizeof(error->text), "%s",
			 err == -ENOMEM ? "out of memory" : strerror(-err));
	return err;
}

/* One pass over the events for all these derivations. */
static int pass(struct trc_model *m, struct trc_derive **derive, size_t n, struct trc_error *error)
{
	struct trc_merge_options options = TRC_MERGE_EVERYTHING;
	struct trc_kind_mask kinds = {{0}};
	struct trc_merge *merge;
	bool all = false;
	int err;

	for (size_t i = 0; i < n; i++) {
		for (unsigned int word = 0; word < 4; word++)
			kinds.bits[word] |= derive[i]->kinds.bits[word];
		all |= derive[i]->part == TRC_PART_WAITS;
	}
	/* The waits look at every event: any of them may show that a thread runs. */
	options.kinds = &kinds;
	options.every_block = all;
	options.ahead = true;
	err = trc_merge_open(&merge, m->reader, &options);
	if (err) {
		snprintf(error->text, sizeof(error->text), "out of memory");
		return err;
	}
	err = pass_events(m, derive, n, merge, error);
	trc_merge_close(merge);
	return err;
}

static int derive_from_events(struct trc_model *m, unsigned int parts, struct trc_error *error)
{
	struct trc_derive *derive[N_DERIVATIONS];
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < N_DERIVATIONS && !err; i++) {
		if (!(parts & derivations[i].part))
			continue;
		err = derivations[i].make(&derive[n], m);
		if (err)
			snprintf(error->text, sizeof(error->text), "out of memory");
		else
			n++;
	}
	if (!err && n)
		err = pass(m, derive, n, error);
	for (size_t i = 0; i < n; i++)
		derive[i]->free(derive[i]);
	return err;
}

/* What is made of rows of other parts, once these are there. */
static int derive_from_rows(struct trc_model *m, unsigned int parts, struct trc_error *error)
{
	static const struct {
		unsigned int part;
		int (*make)(struct trc_model *m, struct trc_error *error);
	} MAKERS[] = {
		{TRC_PART_SYMBOLS, trc_derive_symbols},
		{TRC_PART_OBJECTS, trc_derive_objects},
		{TRC_PART_PREEMPTED, trc_derive_sections},
		{TRC_PART_LATENCIES, trc_derive_latencies},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(MAKERS) / sizeof(*MAKERS) && !err; i++) {
		if (!(parts & MAKERS[i].part & ~m->have))
			continue;
		err = MAKERS[i].make(m, error);
		if (!err)
			m->have |= MAKERS[i].part;
	}
	return err;
}

int trc_model_need(struct trc_model *m, unsigned int parts, struct trc_error *error)
{
	unsigned int missing;
	int err = 0;

	if (parts & TRC_PART_OBJECTS)
		parts |= TRC_PART_NOW | TRC_PART_HEAP | TRC_PART_LOCK_ORDER | TRC_PART_HOLDS |
			 TRC_PART_SYMBOLS;
	if (parts & (TRC_PART_PREEMPTED | TRC_PART_LATENCIES))
		parts |= TRC_PART_SCHED;
	/* Scheduling is added to the threads' rows. */
	if (parts & TRC_PART_SCHED)
		parts |= TRC_PART_WAITS;
	if (parts & TRC_PART_NOW)
		parts |= TRC_PART_WAITS | TRC_PART_USER;
	if (parts & TRC_PART_USER) /* regions nest within fibers */
		parts |= TRC_PART_FIBERS;
	if (parts & (TRC_PART_SAMPLES | TRC_PART_HEAP | TRC_PART_FIBERS))
		parts |= TRC_PART_LABELS;
	missing = parts & ~m->have & TRC_PART_EVENTS;
	if (missing)
		err = derive_from_events(m, missing, error);
	if (err) {
		rows_drop(m, missing);
		return err;
	}
	m->have |= missing;
	return derive_from_rows(m, parts, error);
}

const struct trc_reader *trc_model_reader(const struct trc_model *m)
{
	return m->reader;
}

int64_t trc_model_start_ns(const struct trc_model *m)
{
	return m->start_ns;
}

int64_t trc_model_end_ns(const struct trc_model *m)
{
	return m->end_ns;
}

uint64_t trc_model_lost_events(const struct trc_model *m)
{
	return m->lost_events;
}

uint64_t trc_model_forks(const struct trc_model *m)
{
	return m->n_forks;
}

const struct trc_thread *trc_model_thread(const struct trc_model *m, uint32_t serial)
{
	uint32_t row = trc_index_get(&m->thread_row, serial);

	return row == TRC_INDEX_NONE ? NULL : (const struct trc_thread *)m->threads.row + row;
}

static const void *part_rows(const struct trc_model *m, unsigned int part,
			     const struct trc_array *rows, size_t *n)
{
	*n = m->have & part ? rows->n : 0;
	return *n ? rows->row : NULL;
}

#define ACCESSOR(type, name, part)                                                                 \
	const struct trc_##type *trc_model_##name(const struct trc_model *m, size_t *n)            \
	{                                                                                          \
		return part_rows(m, part, &m->name, n);                                            \
	}
ACCESSOR(thread, threads, TRC_PART_WAITS)
ACCESSOR(park, parks, TRC_PART_WAITS)
ACCESSOR(unlock, unlocks, TRC_PART_WAITS)
ACCESSOR(gap, gaps, TRC_PART_WAITS)
ACCESSOR(proc, procs, TRC_PART_WAITS)
ACCESSOR(task, tasks, TRC_PART_USER)
ACCESSOR(region, regions, TRC_PART_USER)
ACCESSOR(log, logs, TRC_PART_USER)
ACCESSOR(counter, counters, TRC_PART_USER)
ACCESSOR(on_cpu, on_cpu, TRC_PART_SCHED)
ACCESSOR(set_label, labels, TRC_PART_LABELS)
ACCESSOR(fiber, fibers, TRC_PART_FIBERS)
ACCESSOR(fiber_run, fiber_runs, TRC_PART_FIBERS)
ACCESSOR(fiber_wait, fiber_waits, TRC_PART_FIBERS)
ACCESSOR(sample, samples, TRC_PART_SAMPLES)
ACCESSOR(sample_event, sample_events, TRC_PART_SAMPLES)
ACCESSOR(samples_lost, samples_lost, TRC_PART_SAMPLES)
ACCESSOR(alloc, allocs, TRC_PART_HEAP)
ACCESSOR(free, frees, TRC_PART_HEAP)
ACCESSOR(heap_object, heap, TRC_PART_HEAP)
ACCESSOR(signal, signals, TRC_PART_NOW)
ACCESSOR(trigger, triggers, TRC_PART_NOW)
ACCESSOR(thread_now, threads_now, TRC_PART_NOW)
ACCESSOR(open_region, open_regions, TRC_PART_NOW)
ACCESSOR(deadlock, deadlocks, TRC_PART_NOW)
ACCESSOR(lock_held, locks_held, TRC_PART_NOW)
ACCESSOR(lock_edge, lock_edges, TRC_PART_LOCK_ORDER)
ACCESSOR(hold, holds, TRC_PART_HOLDS)
ACCESSOR(object, objects, TRC_PART_OBJECTS)
ACCESSOR(latency, latencies, TRC_PART_LATENCIES)
ACCESSOR(preempted_section, preempted_sections, TRC_PART_PREEMPTED)

const struct trc_preempted *trc_model_preempted(const struct trc_model *m)
{
	return m->have & TRC_PART_PREEMPTED ? &m->preempted : NULL;
}

const struct trc_stacks *trc_model_stacks(const struct trc_model *m)
{
	return &m->stacks;
}
