/* window.c - what of the time the trace covers; see format.md, "COVERAGE". */
#include <errno.h>
#include "parts.h"

static int coverage_row_add(struct trc_model *m, const struct trc_coverage_entry *e)
{
	struct trc_coverage *row = trc_array_add(&m->coverage);

	if (!row)
		return -ENOMEM;
	*row = (struct trc_coverage){
		.held_ns = e->held ? trc_reader_ns(m->reader, e->held) : TRC_NEVER,
		.from_ns = trc_reader_ns(m->reader, e->from),
		.to_ns = trc_reader_ns(m->reader, e->to),
		.proc = e->source == TRC_SOURCE_OVERFLOW ? TRC_NO_PROC : e->proc,
		.source = e->source,
	};
	return 0;
}

/* The trace begins with the window, or with what it has from before, and not at time 0, which may
 * be hours earlier. */
static void model_trim(struct trc_model *m)
{
	const struct trc_file_info *info = trc_reader_info(m->reader);
	const struct trc_coverage *c = m->coverage.row;

	for (size_t i = 0; i < m->coverage.n; i++) {
		if (c[i].source != TRC_SOURCE_KERNEL && c[i].from_ns > m->window_ns)
			m->window_ns = c[i].from_ns;
		if (c[i].to_ns > m->end_ns)
			m->end_ns = c[i].to_ns;
	}
	if (m->window_ns == TRC_NEVER)
		return;
	m->start_ns = m->window_ns;
	if (info->n_events && info->first_ns < m->start_ns)
		m->start_ns = info->first_ns;
	if (m->end_ns < m->start_ns)
		m->end_ns = m->start_ns;
}

int trc_model_read_coverage(struct trc_model *m)
{
	const struct trc_coverage_entry *entry;
	size_t n = trc_reader_coverage(m->reader, &entry);
	int err = 0;

	m->window_ns = TRC_NEVER;
	for (size_t i = 0; i < n && !err; i++)
		err = coverage_row_add(m, &entry[i]);
	if (!err)
		model_trim(m);
	return err;
}

int64_t trc_model_since_ns(const struct trc_model *m, uint64_t ticks)
{
	int64_t since_ns = trc_reader_ns(m->reader, ticks);
	int64_t first_ns = m->start_ns < 0 ? m->start_ns : 0;

	return since_ns > first_ns ? since_ns : first_ns;
}

int64_t trc_model_kernel_from_ns(const struct trc_model *m, uint32_t proc)
{
	const struct trc_coverage *c = m->coverage.row;
	int64_t from_ns = m->start_ns;

	for (size_t i = 0; i < m->coverage.n; i++)
		if (c[i].source == TRC_SOURCE_KERNEL && c[i].proc == proc && c[i].from_ns > from_ns)
			from_ns = c[i].from_ns;
	return from_ns;
}

const struct trc_coverage *trc_model_coverage(const struct trc_model *m, size_t *n)
{
	*n = m->coverage.n;
	return m->coverage.row;
}

int64_t trc_model_window_ns(const struct trc_model *m)
{
	return m->window_ns;
}
