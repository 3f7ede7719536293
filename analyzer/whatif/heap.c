/* heap.c - see heap.h. */
#include "heap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int trc_heap_make(struct trc_heap *heap, size_t n_threads)
{
	*heap = (struct trc_heap){.entry = calloc(n_threads + 1, sizeof(*heap->entry))};
	return heap->entry ? 0 : -ENOMEM;
}

void trc_heap_free(struct trc_heap *heap)
{
	free(heap->entry);
}

static bool entry_is_before(const struct trc_heap_entry *a, const struct trc_heap_entry *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

void trc_heap_push(struct trc_heap *heap, int64_t key, uint32_t thread)
{
	struct trc_heap_entry entry = {key, heap->order++, thread};
	size_t i = heap->n++;

	while (i && entry_is_before(&entry, &heap->entry[(i - 1) / 2])) {
		heap->entry[i] = heap->entry[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap->entry[i] = entry;
}

uint32_t trc_heap_pop(struct trc_heap *heap)
{
	uint32_t top = heap->entry[0].thread;
	struct trc_heap_entry last = heap->entry[--heap->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= heap->n)
			break;
		if (child + 1 < heap->n &&
		    entry_is_before(&heap->entry[child + 1], &heap->entry[child]))
			child++;
		if (!entry_is_before(&heap->entry[child], &last))
			break;
		heap->entry[i] = heap->entry[child];
		i = child;
	}
	heap->entry[i] = last;
	return top;
}
