/*
 * heap.c - what --check says of sampled allocations; see check.h.
 *
 * A free without its allocation is no violation: the object may be older than a window, or
 * older than a trace that began while something else sampled already.  An allocation without a free is no violation
 * either, even where another object lies later: while nobody samples, no free is recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include "parts.h"

/* Two events of one sample: from the earlier to the later nothing must be missing. */
static void free_agrees(struct trc_check *check, const struct trc_alloc *alloc,
			const struct trc_free *end)
{
	if (end->ts_ns < alloc->ts_ns)
		trc_check_violation(check, end->ts_ns, alloc->ts_ns,
				    "sample %" PRIu64 ": its free at %" PRId64
				    " ns comes before its alloc at %" PRId64 " ns",
				    end->sample, end->ts_ns, alloc->ts_ns);
	if (end->address != alloc->address || end->bytes != alloc->bytes ||
	    end->period != alloc->period)
		trc_check_violation(check, alloc->ts_ns, end->ts_ns,
				    "sample %" PRIu64 ": its alloc is of %" PRIu64
				    " bytes at 0x%" PRIx64 ", one in %" PRIu64
				    "; its free at %" PRId64 " ns of %" PRIu64 " at 0x%" PRIx64
				    ", one in %" PRIu64,
				    end->sample, alloc->bytes, alloc->address, alloc->period,
				    end->ts_ns, end->bytes, end->address, end->period);
}

static int allocs_once(struct trc_check *check)
{
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(check->m, &n);
	struct trc_index first = {0};
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		uint32_t before = trc_index_get(&first, alloc[i].sample);

		if (before == TRC_INDEX_NONE)
			err = trc_index_put(&first, alloc[i].sample, i);
		else
			trc_check_violation(check, alloc[before].ts_ns, alloc[i].ts_ns,
					    "sample %" PRIu64 ": allocated at %" PRId64
					    " ns, and again at %" PRId64 " ns",
					    alloc[i].sample, alloc[before].ts_ns, alloc[i].ts_ns);
	}
	trc_index_free(&first);
	return err;
}

static int frees_once(struct trc_check *check)
{
	size_t n;
	const struct trc_free *end = trc_model_frees(check->m, &n);
	struct trc_index first = {0};
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		uint32_t before = trc_index_get(&first, end[i].sample);

		if (before == TRC_INDEX_NONE)
			err = trc_index_put(&first, end[i].sample, i);
		else
			trc_check_violation(check, end[before].ts_ns, end[i].ts_ns,
					    "sample %" PRIu64 ": freed at %" PRId64
					    " ns, and again at %" PRId64 " ns",
					    end[i].sample, end[before].ts_ns, end[i].ts_ns);
	}
	trc_index_free(&first);
	return err;
}

int trc_check_heap(struct trc_check *check)
{
	struct trc_error ignored; /* damaged blocks have been reported */
	int err = trc_model_need(check->m, TRC_PART_HEAP, &ignored);
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(check->m, &n);
	const struct trc_free *end;

	if (err)
		return err == -ENOMEM ? err : 0;
	end = trc_model_frees(check->m, &n);
	for (size_t i = 0; i < n; i++)
		if (end[i].alloc)
			free_agrees(check, &alloc[end[i].alloc - 1], &end[i]);
	err = allocs_once(check);
	return err ? err : frees_once(check);
}
