/* image_rows.c - the model's lists in an image (image.h). */
#include "image.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include "descriptors.h"
#include "parts.h"

/* Where texts are in rows. */
#define TEXTS(name, ...) static const size_t name[] = {__VA_ARGS__, TRC_IMAGE_NO_TEXT}
TEXTS(of_thread, offsetof(struct trc_thread, name));
TEXTS(of_task, offsetof(struct trc_task, type));
TEXTS(of_region, offsetof(struct trc_region, type));
TEXTS(of_log, offsetof(struct trc_log, category), offsetof(struct trc_log, message));
TEXTS(of_counter, offsetof(struct trc_counter, name));
TEXTS(of_trigger, offsetof(struct trc_trigger, condition));
TEXTS(of_label, offsetof(struct trc_set_label, key), offsetof(struct trc_set_label, value),
      offsetof(struct trc_set_label, unit));
TEXTS(of_context, offsetof(struct trc_context, trace_text),
      offsetof(struct trc_context, span_text));
TEXTS(of_sample_event, offsetof(struct trc_sample_event, name),
      offsetof(struct trc_sample_event, unit), offsetof(struct trc_sample_event, recorder_note),
      offsetof(struct trc_sample_event, note));
TEXTS(of_fiber, offsetof(struct trc_fiber, name));
TEXTS(of_open_region, offsetof(struct trc_open_region, type));
TEXTS(of_thread_now, offsetof(struct trc_thread_now, region));
TEXTS(of_object, offsetof(struct trc_object, name), offsetof(struct trc_object, symbol));
TEXTS(of_descriptor, offsetof(struct trc_descriptor_name, text),
      offsetof(struct trc_descriptor_name, kind), offsetof(struct trc_descriptor_name, name),
      offsetof(struct trc_descriptor_name, own), offsetof(struct trc_descriptor_name, peer));

/* What is no list.  Without padding, which would go into the file as it is. */
struct numbers {
	unsigned int have, contexts_cut;
	size_t n_label_sets, n_file_sets, n_context_labels;
	uint64_t lost_events, n_forks;
};

static void walk_numbers(struct trc_image *i, struct trc_model *m)
{
	/* Symbols keep files open: they are looked up again. */
	const struct numbers own = {
		.have = m->have & ~(unsigned int)TRC_PART_SYMBOLS,
		.contexts_cut = m->contexts_cut,
		.n_label_sets = m->n_label_sets,
		.n_file_sets = m->n_file_sets,
		.n_context_labels = m->n_context_labels,
		.lost_events = m->lost_events,
		.n_forks = m->n_forks,
	};
	size_t n = 1;
	const struct numbers *is = trc_image_rows(i, &own, &n, sizeof(own), NULL);

	if (!is || !trc_image_is_read(i))
		return;
	m->have = is->have;
	m->contexts_cut = is->contexts_cut != 0;
	m->n_label_sets = is->n_label_sets;
	m->n_file_sets = is->n_file_sets;
	m->n_context_labels = is->n_context_labels;
	m->lost_events = is->lost_events;
	m->n_forks = is->n_forks;
}

static void walk_spans(struct trc_image *i, struct trc_thread_spans *spans)
{
	trc_image_array(i, &spans->span, NULL);
	trc_image_array(i, &spans->moment, NULL);
}

static void walk_events(struct trc_image *i, struct trc_model *m)
{
	trc_image_array(i, &m->threads, of_thread);
	trc_image_array(i, &m->parks, NULL);
	trc_image_array(i, &m->unlocks, NULL);
	trc_image_array(i, &m->gaps, NULL);
	trc_image_array(i, &m->procs, NULL);
	trc_image_array(i, &m->tasks, of_task);
	trc_image_array(i, &m->regions, of_region);
	trc_image_array(i, &m->logs, of_log);
	trc_image_array(i, &m->counters, of_counter);
	trc_image_array(i, &m->on_cpu, NULL);
	trc_image_array(i, &m->execs, NULL);
	trc_image_array(i, &m->fibers, of_fiber);
	trc_image_array(i, &m->fiber_runs, NULL);
	trc_image_array(i, &m->fiber_waits, NULL);
	trc_image_array(i, &m->samples, NULL);
	trc_image_array(i, &m->sample_events, of_sample_event); /* texts: also of sample_notes */
	trc_image_array(i, &m->samples_lost, NULL);
	trc_image_array(i, &m->allocs, NULL);
	trc_image_array(i, &m->frees, NULL);
	trc_image_array(i, &m->heap, NULL);
	trc_image_array(i, &m->signals, NULL);
	trc_image_array(i, &m->triggers, of_trigger);
	trc_image_array(i, &m->threads_now, of_thread_now);
	trc_image_array(i, &m->open_regions, of_open_region);
	trc_image_array(i, &m->deadlocks, NULL);
	trc_image_array(i, &m->locks_held, NULL);
	trc_image_array(i, &m->lock_edges, NULL);
	trc_image_array(i, &m->holds, NULL);
	trc_image_array(i, &m->objects, of_object);
	trc_image_array(i, &m->descriptors, of_descriptor);
	trc_image_array(i, &m->preempted_sections, NULL);
	trc_image_array(i, &m->latencies, NULL);
}

static void walk_labels(struct trc_image *i, struct trc_model *m)
{
	size_t n = m->label_first ? m->n_label_sets + 1 : 0;

	trc_image_array(i, &m->labels, of_label);
	m->label_first = trc_image_rows(i, m->label_first, &n, sizeof(*m->label_first), NULL);
	trc_image_array(i, &m->contexts, of_context);
	trc_image_array(i, &m->context_sets, NULL);
	walk_spans(i, &m->label_spans);
	walk_spans(i, &m->context_spans);
	walk_spans(i, &m->fiber_spans);
}

static void walk_preempted(struct trc_image *i, struct trc_model *m)
{
	struct trc_preempted *p = &m->preempted;
	size_t n = p->first ? m->threads.n + 1 : 0;

	p->m = m;
	p->time.row_bytes = sizeof(struct trc_preempted_time);
	trc_image_array(i, &p->time, NULL);
	p->wait.row_bytes = sizeof(struct trc_preempted_wait);
	trc_image_array(i, &p->wait, NULL);
	p->first = trc_image_rows(i, p->first, &n, sizeof(*p->first), NULL);
}

/* ---- indexes, which each process has in an order of its own (array:A3) -------------------- */

static int index_spans(struct trc_thread_spans *spans)
{
	const struct trc_thread_span *span = spans->span.row;
	int err = 0;

	for (size_t i = 0; i < spans->span.n && !err; i++)
		if (!i || span[i].thread != span[i - 1].thread)
			err = trc_index_put(&spans->first, span[i].thread, (uint32_t)i);
	return err;
}

static int index_model(struct trc_model *m)
{
	const struct trc_thread *thread = m->threads.row;
	const struct trc_context_set *set = m->context_sets.row;
	int err = 0;

	for (size_t i = 0; i < m->threads.n && !err; i++)
		err = trc_index_put(&m->thread_row, thread[i].serial, (uint32_t)i);
	for (size_t i = 0; i < m->context_sets.n && !err; i++)
		err = trc_index_put(&m->context_set, trc_context_set_key(&set[i]), (uint32_t)i);
	if (!err)
		err = index_spans(&m->label_spans);
	if (!err)
		err = index_spans(&m->context_spans);
	return err ? err : index_spans(&m->fiber_spans);
}

int trc_model_walk(struct trc_image *i, struct trc_model *m)
{
	int err = 0;

	walk_numbers(i, m);
	walk_events(i, m);
	walk_labels(i, m);
	walk_preempted(i, m);
	if (!trc_image_error(i))
		err = trc_between_walk(i, m);
	if (!err && !trc_image_error(i))
		err = trc_unlocks_of_walk(i, m);
	if (!err)
		err = trc_image_error(i);
	if (!err && trc_image_is_read(i))
		err = index_model(m);
	return err;
}
