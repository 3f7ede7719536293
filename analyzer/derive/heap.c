/*
 * heap.c - allocations that were sampled, and their ends: TRC_PART_HEAP.
 *
 *   heap:O1  an allocation and its free belong together by the sample's number; the free may come
 *       from any thread. Of two with one number (no recorder makes them) the first counts
 *   heap:O2  if another sampled object lies later at an object's address, the earlier object has ended, even if its
 *       free is missing.  When it ended is not known
 *   heap:O3  an allocation of s bytes, drawn with one in p bytes, was drawn with probability
 *       1 - exp(-s/p): it stands for the inverse of this probability in objects.  With a p of 0 or 1
 *       every object is drawn, and each stands for itself
 *   heap:O4  an allocation that does not carry labels has those that its thread had at that time
 *   heap:O5  what lives when the process executes another program ends then
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"

struct heap {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_array execs; /* struct exec */
};

struct exec {
	int64_t ts_ns;
	uint32_t thread;
};

static double objects_of(uint64_t bytes, uint64_t period) /* O3 */
{
	if (period <= 1 || !bytes)
		return 1;
	return -1 / expm1(-(double)bytes / (double)period);
}

static int alloc_add(struct trc_model *m, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *c = span->columns;
	struct trc_alloc *alloc = trc_array_add(&m->allocs);

	if (!alloc)
		return -ENOMEM;
	*alloc = (struct trc_alloc){
		.ts_ns = c->time_ns[row],
		.freed_ns = TRC_NEVER,
		.place = span->place + row,
		.sample = TRC_ROW_ARG(c, row, alloc, sample),
		.address = TRC_ROW_ARG(c, row, alloc, address),
		.bytes = TRC_ROW_ARG(c, row, alloc, bytes),
		.period = TRC_ROW_ARG(c, row, alloc, period),
		.thread = c->thread[row],
		.proc = c->proc[row],
		.stack = (uint32_t)TRC_ROW_ARG(c, row, alloc, stack),
		.labels = (uint32_t)TRC_ROW_ARG(c, row, alloc, labels),
		.lives = true,
	};
	alloc->objects = objects_of(alloc->bytes, alloc->period);
	return 0;
}

static int free_add(struct trc_model *m, const struct trc_columns *c, uint32_t row)
{
	struct trc_free *end = trc_array_add(&m->frees);

	if (!end)
		return -ENOMEM;
	*end = (struct trc_free){
		.ts_ns = c->time_ns[row],
		.sample = TRC_ROW_ARG(c, row, free, sample),
		.address = TRC_ROW_ARG(c, row, free, address),
		.bytes = TRC_ROW_ARG(c, row, free, bytes),
		.period = TRC_ROW_ARG(c, row, free, period),
		.thread = c->thread[row],
		.proc = c->proc[row],
	};
	end->objects = objects_of(end->bytes, end->period);
	return 0;
}

static int exec_add(struct heap *h, const struct trc_columns *c, uint32_t row)
{
	struct exec *exec;

	if (TRC_ROW_ARG(c, row, process, what) != TRC_PROCESS_EXEC)
		return 0;
	exec = trc_array_add(&h->execs);
	if (!exec)
		return -ENOMEM;
	*exec = (struct exec){c->time_ns[row], c->thread[row]};
	return 0;
}

static int heap_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct trc_model *m = ((struct heap *)derive)->m;
	const struct trc_columns *c = span->columns;
	int err = 0;

	if (!trc_block_has_kinds(span->block, &derive->kinds))
		return 0;
	for (uint32_t row = span->first; row < span->last && !err; row++) {
		if (c->kind[row] == TRC_KIND_ALLOC)
			err = alloc_add(m, span, row);
		else if (c->kind[row] == TRC_KIND_FREE)
			err = free_add(m, c, row);
		else if (c->kind[row] == TRC_KIND_PROCESS)
			err = exec_add((struct heap *)derive, c, row);
	}
	return err;
}

/* ---- once all are known ---- */

static void free_link(struct trc_model *m, const struct trc_index *by_sample, uint32_t i)
{
	struct trc_free *end = (struct trc_free *)m->frees.row + i;
	uint32_t at = trc_index_get(by_sample, end->sample);
	struct trc_alloc *alloc = (struct trc_alloc *)m->allocs.row + at;

	if (at == TRC_INDEX_NONE || alloc->free)
		return;
	end->alloc = at + 1;
	alloc->free = i + 1;
	alloc->freed_ns = end->ts_ns > alloc->ts_ns ? end->ts_ns : alloc->ts_ns;
	alloc->lives = false;
}

static int link_by_sample(struct trc_model *m) /* O1 */
{
	const struct trc_alloc *alloc = m->allocs.row;
	struct trc_index by_sample = {0};
	int err = 0;

	for (uint32_t i = 0; i < m->allocs.n && !err; i++)
		if (trc_index_get(&by_sample, alloc[i].sample) == TRC_INDEX_NONE)
			err = trc_index_put(&by_sample, alloc[i].sample, i);
	for (uint32_t i = 0; i < m->frees.n && !err; i++)
		free_link(m, &by_sample, i);
	trc_index_free(&by_sample);
	return err;
}

static int end_by_address(struct trc_model *m) /* O2 */
{
	struct trc_alloc *alloc = m->allocs.row;
	struct trc_index by_address = {0};
	int err = 0;

	for (uint32_t i = 0; i < m->allocs.n && !err; i++) {
		uint32_t before = trc_index_get(&by_address, alloc[i].address);

		if (before != TRC_INDEX_NONE)
			alloc[before].lives = false;
		err = trc_index_put(&by_address, alloc[i].address, i);
	}
	trc_index_free(&by_address);
	return err;
}

static int end_by_exec(struct heap *h) /* O5 */
{
	struct trc_alloc *alloc = h->m->allocs.row;
	int err = trc_array_sort(&h->execs, offsetof(struct exec, ts_ns),
				 offsetof(struct exec, thread));
	const struct exec *exec = h->execs.row;
	size_t at = 0;

	for (size_t i = 0; i < h->execs.n && !err; i++) {
		for (; at < h->m->allocs.n && alloc[at].ts_ns < exec[i].ts_ns; at++) {
			if (!alloc[at].lives)
				continue;
			alloc[at].lives = false;
			alloc[at].freed_ns = exec[i].ts_ns;
		}
	}
	return err;
}

static int collect_live(struct trc_model *m)
{
	const struct trc_alloc *alloc = m->allocs.row;

	for (uint32_t i = 0; i < m->allocs.n; i++) {
		struct trc_heap_object *object;

		if (!alloc[i].lives)
			continue;
		object = trc_array_add(&m->heap);
		if (!object)
			return -ENOMEM;
		object->id = i + 1;
		object->alloc = alloc[i];
	}
	return 0;
}

static void allocs_label(struct trc_model *m) /* O4 */
{
	struct trc_alloc *alloc = m->allocs.row;

	for (size_t i = 0; i < m->allocs.n; i++)
		if (!alloc[i].labels)
			alloc[i].labels = trc_model_labels_at(m, alloc[i].thread, alloc[i].ts_ns,
							      alloc[i].place);
}

static int heap_end(struct trc_derive *derive)
{
	struct trc_model *m = ((struct heap *)derive)->m;
	int err = trc_array_sort(&m->allocs, offsetof(struct trc_alloc, ts_ns),
				 offsetof(struct trc_alloc, thread));

	if (!err)
		err = trc_array_sort(&m->frees, offsetof(struct trc_free, ts_ns),
				     offsetof(struct trc_free, thread));
	if (!err)
		err = link_by_sample(m);
	if (!err)
		err = end_by_address(m);
	if (!err)
		err = end_by_exec((struct heap *)derive);
	allocs_label(m);
	return err ? err : collect_live(m);
}

static void heap_free(struct trc_derive *derive)
{
	trc_array_free(&((struct heap *)derive)->execs);
	free(derive);
}

int trc_derive_heap(struct trc_derive **out, struct trc_model *m)
{
	struct heap *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->m = m;
	h->execs.row_bytes = sizeof(struct exec);
	h->derive = (struct trc_derive){
		.part = TRC_PART_HEAP, .span = heap_span, .end = heap_end, .free = heap_free};
	trc_kind_mask_add(&h->derive.kinds, TRC_KIND_ALLOC);
	trc_kind_mask_add(&h->derive.kinds, TRC_KIND_FREE);
	trc_kind_mask_add(&h->derive.kinds, TRC_KIND_PROCESS);
	*out = &h->derive;
	return 0;
}
