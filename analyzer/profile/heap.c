/*
 * heap.c - profiles of what was allocated; see profile.h.
 *
 * Estimates are added up as fractions and cut to whole numbers once, by stack, labels and size, as
 * Go does; so the count of a few large objects errs on the low side.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "analyzer/model/margin.h"
#include "parts.h"

/* What the samples of one row stand for. */
struct estimate {
	double allocated, in_use; /* objects */
};

static int estimate_add(struct trc_profile_sums *sums, struct trc_array *estimates,
			const struct trc_alloc *alloc)
{
	const struct trc_profile_sample key = {
		.stack = alloc->stack, .labels = alloc->labels, .bytes = alloc->bytes};
	struct trc_profile_sample *row = trc_profile_row(sums, &key);
	struct estimate *e;
	size_t at;

	if (!row)
		return -ENOMEM;
	at = (size_t)(row - (struct trc_profile_sample *)sums->rows.row);
	while (estimates->n <= at)
		if (!trc_array_add(estimates))
			return -ENOMEM;
	e = (struct estimate *)estimates->row + at;
	e->allocated += alloc->objects;
	e->in_use += alloc->lives ? alloc->objects : 0;
	return 0;
}

static int sum_allocs(struct trc_profile_sums *sums, struct trc_profile *p)
{
	struct trc_heap_margin allocated = {0}, in_use = {0};
	double allocated_bytes = 0, in_use_bytes = 0;
	struct trc_array estimates = {.row_bytes = sizeof(struct estimate)};
	struct trc_profile_sample *row;
	const struct estimate *e;
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(sums->m, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (trc_profile_passes(sums, alloc[i].labels) &&
		    trc_selection_has_time(sums->selection, alloc[i].thread, alloc[i].ts_ns))
			err = estimate_add(sums, &estimates, &alloc[i]);
		else
			continue;
		trc_heap_margin_add(&allocated, alloc[i].objects, (double)alloc[i].bytes);
		allocated_bytes += alloc[i].objects * (double)alloc[i].bytes;
		if (!alloc[i].lives)
			continue;
		trc_heap_margin_add(&in_use, alloc[i].objects, (double)alloc[i].bytes);
		in_use_bytes += alloc[i].objects * (double)alloc[i].bytes;
	}
	if (trc_heap_margin(&allocated) >= 1)
		trc_profile_comment(
			p,
			"in all %.0f bytes ±%.0f were allocated, and %.0f ±%.0f are in use "
			"(95 %% intervals)",
			allocated_bytes, trc_heap_margin(&allocated), in_use_bytes,
			trc_heap_margin(&in_use));
	row = sums->rows.row;
	e = estimates.row;
	for (size_t i = 0; i < estimates.n && !err; i++) {
		row[i].value[0] = trc_estimate_whole(e[i].allocated);
		row[i].value[1] = trc_estimate_whole(e[i].allocated * (double)row[i].bytes);
		row[i].value[2] = trc_estimate_whole(e[i].in_use);
		row[i].value[3] = trc_estimate_whole(e[i].in_use * (double)row[i].bytes);
	}
	trc_array_free(&estimates);
	return err;
}

/* The finest and the coarsest period that samples were drawn with. */
static void periods(const struct trc_model *m, uint64_t *finest, uint64_t *coarsest)
{
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(m, &n);

	*finest = *coarsest = n ? alloc[0].period : 0;
	for (size_t i = 0; i < n; i++) {
		*finest = alloc[i].period < *finest ? alloc[i].period : *finest;
		*coarsest = alloc[i].period > *coarsest ? alloc[i].period : *coarsest;
	}
}

static void comment_missing(const struct trc_model *m, struct trc_profile *p)
{
	size_t n, n_older = 0, n_lost = 0;
	const struct trc_free *end = trc_model_frees(m, &n);
	const struct trc_alloc *alloc;

	for (size_t i = 0; i < n; i++)
		n_older += !end[i].alloc;
	alloc = trc_model_allocs(m, &n);
	for (size_t i = 0; i < n; i++)
		n_lost += !alloc[i].lives && alloc[i].freed_ns == TRC_NEVER;
	if (n_older)
		trc_profile_comment(p,
				    "%zu sampled object%s freed that %s allocated before, "
				    "or whose allocation was lost",
				    n_older, n_older == 1 ? " was" : "s were",
				    n_older == 1 ? "was" : "were");
	if (n_lost)
		trc_profile_comment(p, "%zu sampled object%s freed when is not known", n_lost,
				    n_lost == 1 ? " was" : "s were");
	if (trc_model_window_ns(m) != TRC_NEVER)
		trc_profile_comment(p, "objects from before the snapshot's window are not in it");
}

static void heap_profile_describe(const struct trc_model *m, struct trc_profile *p, bool allocs)
{
	uint64_t finest, coarsest;

	periods(m, &finest, &coarsest);
	p->type[0] = (struct trc_profile_type){"alloc_objects", "count"};
	p->type[1] = (struct trc_profile_type){"alloc_space", "bytes"};
	p->type[2] = (struct trc_profile_type){"inuse_objects", "count"};
	p->type[3] = (struct trc_profile_type){"inuse_space", "bytes"};
	p->n_types = 4;
	p->main_type = allocs ? 1 : 3;
	p->period_type = (struct trc_profile_type){"space", "bytes"};
	p->period = trc_estimate_whole((double)finest);
	p->of_program = true;
	p->sized = true;
	if (finest == coarsest)
		trc_profile_comment(p, "one byte in %" PRIu64 " was sampled: numbers are estimates",
				    finest);
	else
		trc_profile_comment(p,
				    "one byte in %" PRIu64 " to %" PRIu64
				    " was sampled: numbers are estimates",
				    finest, coarsest);
	comment_missing(m, p);
}

bool trc_profile_has_heap(const struct trc_model *m)
{
	size_t n_allocs, n_frees;

	trc_model_allocs(m, &n_allocs);
	trc_model_frees(m, &n_frees);
	return n_allocs || n_frees;
}

int trc_profile_heap(struct trc_profile_sums *sums, struct trc_profile *p, bool allocs,
		     struct trc_error *error)
{
	if (!trc_profile_has_heap(sums->m)) {
		snprintf(error->text, sizeof(error->text),
			 "no allocations were sampled: trace-record --heap does");
		return -ENOENT;
	}
	heap_profile_describe(sums->m, p, allocs);
	return sum_allocs(sums, p);
}
