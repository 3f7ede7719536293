/*
 * heap.h - which thread is next: the thread with the lowest key; of equal keys the key that came first.
 */
#ifndef TRC_ANALYZER_WHATIF_HEAP_H
#define TRC_ANALYZER_WHATIF_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct trc_heap_entry {
	int64_t key;
	uint64_t order;
	uint32_t thread;
};

/* A heap with room for every thread, each of which is in it at most once. */
struct trc_heap {
	struct trc_heap_entry *entry;
	size_t n;
	uint64_t order;
};

/* 0 or -ENOMEM; free it in both cases. */
int trc_heap_make(struct trc_heap *heap, size_t n_threads);
void trc_heap_free(struct trc_heap *heap);
void trc_heap_push(struct trc_heap *heap, int64_t key, uint32_t thread);
/* The heap must not be empty. */
uint32_t trc_heap_pop(struct trc_heap *heap);

#endif
