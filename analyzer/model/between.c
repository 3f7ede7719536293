/* between.c - see between.h. */
#include "between.h"

#include <stdlib.h>
#include "image.h"
#include "parts.h"

enum { BLOCK_ROWS = 256 };

struct trc_between_block {
	int64_t first_ns, last_ns;
};

struct span {
	int64_t start_ns, end_ns;
};

/* Of what has no begin or no end in the trace all time counts. */
static struct span span_of(int64_t start_ns, int64_t end_ns)
{
	return (struct span){start_ns, end_ns == TRC_NEVER ? INT64_MAX : end_ns};
}

static const void *table_rows(const struct trc_model *m, enum trc_between_table table, size_t *n)
{
	switch (table) {
	case TRC_BETWEEN_PARKS:
		return trc_model_parks(m, n);
	case TRC_BETWEEN_ON_CPU:
		return trc_model_on_cpu(m, n);
	case TRC_BETWEEN_SAMPLES:
		return trc_model_samples(m, n);
	case TRC_BETWEEN_TASKS:
		return trc_model_tasks(m, n);
	case TRC_BETWEEN_REGIONS:
		return trc_model_regions(m, n);
	case TRC_BETWEEN_LOGS:
		return trc_model_logs(m, n);
	case TRC_BETWEEN_COUNTERS:
		return trc_model_counters(m, n);
	case TRC_BETWEEN_HOLDS:
		return trc_model_holds(m, n);
	case TRC_BETWEEN_LATENCIES:
		return trc_model_latencies(m, n);
	case TRC_BETWEEN_ALLOCS:
		return trc_model_allocs(m, n);
	case TRC_BETWEEN_FIBER_WAITS:
		return trc_model_fiber_waits(m, n);
	case TRC_BETWEEN_UNLOCKS:
		return trc_model_unlocks(m, n);
	case TRC_BETWEEN_TABLES:
		break;
	}
	*n = 0;
	return NULL;
}

static struct span span_of_park(const struct trc_park *park)
{
	struct span span = span_of(park->start_ns, park->end_ns);

	if (park->wake_ns != TRC_NEVER && park->wake_ns < span.start_ns)
		span.start_ns = park->wake_ns;
	if (park->wake_ns > span.end_ns)
		span.end_ns = park->wake_ns;
	return span;
}

static struct span span_of_unlock(const struct trc_unlock *unlock)
{
	return (struct span){unlock->taken_ns == TRC_NEVER ? unlock->ts_ns : unlock->taken_ns,
			     unlock->ts_ns};
}

#define SPAN(type, start, end)                                                                     \
	span_of(((const struct type *)rows)[i].start, ((const struct type *)rows)[i].end)

static struct span span_at(const void *rows, enum trc_between_table table, size_t i)
{
	switch (table) {
	case TRC_BETWEEN_PARKS:
		return span_of_park((const struct trc_park *)rows + i);
	case TRC_BETWEEN_ON_CPU:
		return SPAN(trc_on_cpu, start_ns, end_ns);
	case TRC_BETWEEN_SAMPLES:
		return SPAN(trc_sample, ts_ns, ts_ns);
	case TRC_BETWEEN_TASKS:
		return SPAN(trc_task, start_ns, end_ns);
	case TRC_BETWEEN_REGIONS:
		return SPAN(trc_region, start_ns, end_ns);
	case TRC_BETWEEN_LOGS:
		return SPAN(trc_log, ts_ns, ts_ns);
	case TRC_BETWEEN_COUNTERS:
		return SPAN(trc_counter, ts_ns, ts_ns);
	case TRC_BETWEEN_HOLDS:
		return SPAN(trc_hold, start_ns, end_ns);
	case TRC_BETWEEN_LATENCIES:
		return SPAN(trc_latency, woken_ns, running_ns);
	case TRC_BETWEEN_ALLOCS:
		return SPAN(trc_alloc, ts_ns, ts_ns);
	case TRC_BETWEEN_FIBER_WAITS:
		return SPAN(trc_fiber_wait, start_ns, end_ns);
	case TRC_BETWEEN_UNLOCKS:
		return span_of_unlock((const struct trc_unlock *)rows + i);
	case TRC_BETWEEN_TABLES:
		break;
	}
	return (struct span){INT64_MIN, INT64_MAX};
}

static struct trc_between_block block_of(const void *rows, enum trc_between_table table, size_t i,
					 size_t end)
{
	struct trc_between_block block = {INT64_MAX, INT64_MIN};

	for (; i < end; i++) {
		const struct span span = span_at(rows, table, i);

		/* An end before the begin: a broken trace, or clocks. */
		block.first_ns = span.start_ns < block.first_ns ? span.start_ns : block.first_ns;
		block.first_ns = span.end_ns < block.first_ns ? span.end_ns : block.first_ns;
		block.last_ns = span.end_ns > block.last_ns ? span.end_ns : block.last_ns;
		block.last_ns = span.start_ns > block.last_ns ? span.start_ns : block.last_ns;
	}
	return block;
}

/* Notes the blocks, if that is not done yet; without memory nothing is passed over. */
static void note(struct trc_between *b, const void *rows, enum trc_between_table table, size_t n)
{
	size_t n_blocks = n / BLOCK_ROWS + 1;

	if (b->block && b->rows == rows && b->n == n)
		return;
	if (!b->is_mapped)
		free(b->block);
	*b = (struct trc_between){rows, n, malloc(n_blocks * sizeof(*b->block)), false};
	for (size_t k = 0; b->block && k < n_blocks; k++) {
		size_t end = (k + 1) * BLOCK_ROWS;

		b->block[k] = block_of(rows, table, k * BLOCK_ROWS, end < n ? end : n);
	}
}

size_t trc_between_next(const struct trc_model *m, enum trc_between_table table, size_t i,
			int64_t from_ns, int64_t to_ns)
{
	size_t n;
	const void *rows = table_rows(m, table, &n);
	struct trc_between *b;

	if (i >= n || (from_ns == INT64_MIN && to_ns == INT64_MAX))
		return i < n ? i : n;
	b = &m->indexes->between[table];
	note(b, rows, table, n);
	while (b->block && i < n) {
		const struct trc_between_block *block = &b->block[i / BLOCK_ROWS];

		if (block->last_ns >= from_ns && block->first_ns <= to_ns)
			return i;
		i = (i / BLOCK_ROWS + 1) * BLOCK_ROWS;
	}
	return i < n ? i : n;
}

void trc_between_free(struct trc_between table[TRC_BETWEEN_TABLES])
{
	for (size_t i = 0; table && i < TRC_BETWEEN_TABLES; i++)
		if (!table[i].is_mapped)
			free(table[i].block);
}

int trc_between_walk(struct trc_image *image, struct trc_model *m)
{
	for (unsigned int t = 0; t < TRC_BETWEEN_TABLES; t++) {
		struct trc_between *b = &m->indexes->between[t];
		size_t n, n_blocks = 0;
		const void *rows = table_rows(m, t, &n);
		struct trc_between_block *block;

		if (!trc_image_is_read(image)) {
			note(b, rows, t, n);
			n_blocks = b->block ? n / BLOCK_ROWS + 1 : 0;
		}
		block = trc_image_rows(image, b->block, &n_blocks, sizeof(*block), NULL);
		if (trc_image_is_read(image) && block && n_blocks == n / BLOCK_ROWS + 1)
			*b = (struct trc_between){rows, n, block, true};
	}
	return 0;
}
