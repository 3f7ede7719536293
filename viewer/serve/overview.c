/* overview.c - see overview.h. */
#include "overview.h"

#include "format/schema.h"

/* The part in which a time lies. */
static size_t part_at(const struct trc_overview *o, int64_t ns)
{
	double part = (double)ns / (double)o->span_ns * TRC_OVERVIEW_PARTS;

	return part < 0 ? 0 : part >= TRC_OVERVIEW_PARTS ? TRC_OVERVIEW_PARTS - 1 : (size_t)part;
}

/* Locks that nobody waited for are most of a trace with all locks, and nothing is drawn of them. */
static uint64_t drawn_in(const struct trc_block_info *b)
{
	return b->n_events - b->kind_count[TRC_KIND_ACQUIRE] - b->kind_count[TRC_KIND_RELEASE];
}

static void overview_add_block(struct trc_overview *o, const struct trc_block_info *b,
			       int64_t start_ns)
{
	size_t from = part_at(o, b->first_ns - start_ns), to = part_at(o, b->last_ns - start_ns);
	uint64_t n_parts = to < from ? 1 : to - from + 1, left = drawn_in(b);

	o->n_events += left;
	for (uint64_t i = 0; i < n_parts; i++) {
		uint64_t n = left / (n_parts - i);

		o->count[from + i] += n;
		left -= n;
	}
}

static void choose_first(struct trc_overview *o, uint64_t n_wanted)
{
	uint64_t n_whole = n_wanted < UINT64_MAX / 2 ? 2 * n_wanted : UINT64_MAX, sum = 0;
	size_t part = 0;

	if (!n_wanted) {
		n_whole = TRC_OVERVIEW_WHOLE_MAX;
		n_wanted = TRC_OVERVIEW_FIRST;
	}
	if (o->n_events <= n_whole)
		return;
	while (part < TRC_OVERVIEW_PARTS && sum < n_wanted)
		sum += o->count[part++];
	o->first.to_ns = (int64_t)((double)o->span_ns / TRC_OVERVIEW_PARTS * (double)part);
}

void trc_overview_make(struct trc_overview *o, const struct trc_reader *reader, int64_t start_ns,
		       int64_t end_ns, uint64_t n_wanted)
{
	*o = (struct trc_overview){.span_ns = end_ns - start_ns};
	if (o->span_ns <= 0) {
		o->span_ns = 0;
		return;
	}
	for (size_t i = 0; i < trc_reader_blocks(reader); i++)
		overview_add_block(o, trc_reader_block(reader, i), start_ns);
	choose_first(o, n_wanted);
}
