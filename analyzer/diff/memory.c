/* memory.c - what was allocated at each place, and how much of it is in use (diff:D9). */
#include <errno.h>
#include <math.h>
#include "run.h"

/* The item of the place; 0 without memory. */
static uint32_t place_item(struct trc_diff_summing *s, unsigned int kind, uint32_t stack)
{
	const uint64_t key[3] = {kind, stack, 0};
	uint64_t hash;
	uint32_t id = trc_diff_seen(s, key, &hash);

	return id ? id : trc_diff_now_seen(s, hash, kind, trc_diff_function_name(&s->names, stack));
}

/* What is in use when each slice ends.  Of an object that is no more, and whose end is not known, nothing. */
static void add_in_use(struct trc_diff_summing *s, struct trc_diff_item *item,
		       const struct trc_alloc *alloc)
{
	double bytes = alloc->objects * (double)alloc->bytes;
	size_t end = TRC_DIFF_SLICES;

	if (!s->slices && alloc->lives) {
		item->n++;
		item->total += bytes;
		item->squares += bytes * bytes;
	}
	if (!s->slices || !item->amount || (!alloc->lives && alloc->freed_ns == TRC_NEVER))
		return;
	if (!alloc->lives)
		end = trc_diff_slice_at(s->sums, alloc->freed_ns);
	for (size_t i = trc_diff_slice_at(s->sums, alloc->ts_ns); i < end; i++)
		item->amount[i] += bytes;
}

int trc_diff_add_memory(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(s->names.m, &n);

	for (size_t i = 0; i < n; i++) {
		const struct trc_diff_amount a = {alloc[i].ts_ns, alloc[i].ts_ns,
						  alloc[i].objects * (double)alloc[i].bytes, -1,
						  alloc[i].objects};
		uint32_t allocated = place_item(s, TRC_DIFF_ALLOCATED, alloc[i].stack);
		uint32_t in_use = place_item(s, TRC_DIFF_IN_USE, alloc[i].stack);

		if (!allocated || !in_use)
			return -ENOMEM;
		trc_diff_item_add(s, allocated, &a);
		add_in_use(s, trc_diff_item(s->sums, in_use - 1), &alloc[i]);
	}
	return 0;
}

/* How far the amount is off a straight line through the last half of the trace. */
static double unsteadiness(const double amount[TRC_DIFF_SLICES])
{
	enum { FIRST = TRC_DIFF_SLICES / 2, N = TRC_DIFF_SLICES - FIRST };
	double mean = 0, slope = 0, squares = 0, apart = 0;

	for (size_t i = FIRST; i < TRC_DIFF_SLICES; i++)
		mean += amount[i] / N;
	for (size_t i = FIRST; i < TRC_DIFF_SLICES; i++) {
		double at = (double)i - FIRST - (N - 1) / 2.0;

		slope += at * amount[i];
		squares += at * at;
	}
	slope /= squares;
	for (size_t i = FIRST; i < TRC_DIFF_SLICES; i++) {
		double at = (double)i - FIRST - (N - 1) / 2.0;
		double off = amount[i] - mean - slope * at;

		apart += off * off;
	}
	return apart / (N - 2);
}

struct trc_diff_estimate trc_diff_in_use(const struct trc_diff_item *item)
{
	struct trc_diff_estimate e = {.per = 1};

	if (!item || !item->amount)
		return e;
	e.value = item->amount[TRC_DIFF_SLICES - 1];
	e.variance = fmax(item->squares, unsteadiness(item->amount));
	return e;
}
