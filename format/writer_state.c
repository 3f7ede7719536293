/* writer_state.c - the tables of the state at the end of a trace: see writer.h. */
#include <errno.h>
#include "writer_private.h"

enum {
	SAMPLE_TEXT_BYTES_MAX = 255, /* of a sampled event's name, unit and note each */
	ENTRY_BYTES_MAX = 1024,	     /* of an entry of any table */
};

/* Puts the fields of one entry; the first byte behind them. */
typedef uint8_t *put_fields_fn(uint8_t *p, const void *entry);

/* A table in as many sections as it takes. */
static int table_write(struct trc_writer *w, enum trc_section_type type, const void *entries,
		       size_t entry_bytes, size_t n, put_fields_fn *put_fields)
{
	uint8_t *limit = trc_writer_payload(w) + w->section.room_bytes - 2 * ENTRY_BYTES_MAX;
	const char *entry = entries;
	uint8_t part = 0; /* the first section of a table; 1: more of the same */

	for (size_t i = 0; i < n || !part; part = 1) {
		uint8_t fields[ENTRY_BYTES_MAX], *p = trc_writer_payload(w);

		*p++ = part;
		for (; i < n && p < limit; i++) {
			uint8_t *end = put_fields(fields, entry + i * entry_bytes);

			p = trc_put_counted(p, (const char *)fields, (size_t)(end - fields));
		}
		trc_writer_payload_write(w, p, type);
	}
	return w->out.error;
}

static uint8_t *put_status(uint8_t *p, const void *entry)
{
	const struct trc_status_entry *e = entry;

	p = trc_varint_put(p, e->thread);
	p = trc_varint_put(p, e->reason);
	p = trc_varint_put(p, e->holder);
	p = trc_varint_put(p, e->object);
	p = trc_varint_put(p, e->since);
	p = trc_varint_put(p, e->stack);
	return trc_varint_put(p, e->descriptor);
}

static void status_cite(struct trc_writer *w, const struct trc_status_entry *e)
{
	uint64_t thread[2] = {e->thread, e->holder}, stack = e->stack, text = e->descriptor;

	trc_tables_cite(&w->tables, TRC_ARG_THREAD, thread, 2);
	trc_tables_cite(&w->tables, TRC_ARG_STACK, &stack, 1);
	trc_tables_cite(&w->tables, TRC_ARG_STRING, &text, 1);
}

int trc_writer_status(struct trc_writer *w, const struct trc_status_entry *entries, size_t n)
{
	if (w->out.closed)
		return w->out.closed;
	for (size_t i = 0; i < n; i++)
		status_cite(w, &entries[i]);
	trc_tables_flush(&w->tables);
	return table_write(w, TRC_SECTION_STATUS, entries, sizeof(*entries), n, put_status);
}

/* What an entry refers to, of a table of threads. */
static void entry_cite(struct trc_writer *w, uint32_t thread, enum trc_arg_type type, uint32_t id)
{
	uint64_t serial = thread, cited = id;

	trc_tables_cite(&w->tables, TRC_ARG_THREAD, &serial, 1);
	trc_tables_cite(&w->tables, type, &cited, 1);
}

static uint8_t *put_open_region(uint8_t *p, const void *entry)
{
	const struct trc_open_region_entry *e = entry;

	p = trc_varint_put(p, e->thread);
	p = trc_varint_put(p, e->depth);
	p = trc_varint_put(p, e->task);
	p = trc_varint_put(p, e->type);
	return trc_varint_put(p, e->since);
}

int trc_writer_open_regions(struct trc_writer *w, const struct trc_open_region_entry *entries,
			    size_t n)
{
	if (w->out.closed)
		return w->out.closed;
	for (size_t i = 0; i < n; i++)
		entry_cite(w, entries[i].thread, TRC_ARG_STRING, entries[i].type);
	trc_tables_flush(&w->tables);
	return table_write(w, TRC_SECTION_OPEN_REGIONS, entries, sizeof(*entries), n,
			   put_open_region);
}

static uint8_t *put_coverage(uint8_t *p, const void *entry)
{
	const struct trc_coverage_entry *e = entry;

	p = trc_varint_put(p, e->source);
	p = trc_varint_put(p, (uint64_t)(uint32_t)(e->proc + 1));
	p = trc_varint_put(p, e->held);
	p = trc_varint_put(p, e->from);
	return trc_varint_put(p, e->to < e->from ? e->from : e->to);
}

int trc_writer_coverage(struct trc_writer *w, const struct trc_coverage_entry *entries, size_t n)
{
	if (w->out.closed)
		return w->out.closed;
	for (size_t i = 0; i < n; i++)
		if (entries[i].source > TRC_SOURCE_KERNEL ||
		    (entries[i].proc >= w->n_procs && entries[i].proc != UINT32_MAX))
			return -EINVAL;
	return table_write(w, TRC_SECTION_COVERAGE, entries, sizeof(*entries), n, put_coverage);
}

static uint8_t *put_sample_event(uint8_t *p, const void *entry)
{
	const struct trc_sample_event_entry *e = entry;

	p = trc_varint_put(p, e->event);
	p = trc_varint_put(p, e->how);
	p = trc_varint_put(p, e->period);
	p = trc_varint_put(p, e->frequency_hz);
	p = trc_varint_put(p, e->missing_threads);
	p = trc_put_counted(p, e->name, strnlen(e->name, SAMPLE_TEXT_BYTES_MAX));
	p = trc_put_counted(p, e->unit, strnlen(e->unit, SAMPLE_TEXT_BYTES_MAX));
	return trc_put_counted(p, e->note, strnlen(e->note, SAMPLE_TEXT_BYTES_MAX));
}

int trc_writer_sample_events(struct trc_writer *w, const struct trc_sample_event_entry *entries,
			     size_t n)
{
	if (w->out.closed)
		return w->out.closed;
	for (size_t i = 0; i < n; i++)
		if (!entries[i].event)
			return -EINVAL;
	return table_write(w, TRC_SECTION_SAMPLE_EVENTS, entries, sizeof(*entries), n,
			   put_sample_event);
}

static uint8_t *put_thread_labels(uint8_t *p, const void *entry)
{
	const struct trc_thread_labels_entry *e = entry;

	return trc_varint_put(trc_varint_put(p, e->thread), e->labels);
}

int trc_writer_thread_labels(struct trc_writer *w, const struct trc_thread_labels_entry *entries,
			     size_t n)
{
	if (w->out.closed)
		return w->out.closed;
	for (size_t i = 0; i < n; i++)
		entry_cite(w, entries[i].thread, TRC_ARG_LABELS, entries[i].labels);
	trc_tables_flush(&w->tables);
	return table_write(w, TRC_SECTION_THREAD_LABELS, entries, sizeof(*entries), n,
			   put_thread_labels);
}

static uint8_t *put_thread_fiber(uint8_t *p, const void *entry)
{
	const struct trc_thread_fiber_entry *e = entry;

	return trc_varint_put(trc_varint_put(trc_varint_put(p, e->thread), e->fiber), e->name);
}

int trc_writer_thread_fibers(struct trc_writer *w, const struct trc_thread_fiber_entry *entries,
			     size_t n)
{
	if (w->out.closed)
		return w->out.closed;
	for (size_t i = 0; i < n; i++)
		entry_cite(w, entries[i].thread, TRC_ARG_STRING, entries[i].name);
	trc_tables_flush(&w->tables);
	return table_write(w, TRC_SECTION_THREAD_FIBERS, entries, sizeof(*entries), n,
			   put_thread_fiber);
}
