/*
 * bench_heap_live.c - a program with much memory in use, at places of its own: bench_heap_live.
 *
 * Each place allocates objects of one size that nothing else has, and frees every second one again.  Large objects are
 * not written to: address space is enough.  Output, one line a place, separated by tabs: bytes of an object, how many
 * are in use.  It ends without freeing them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

/* Below what malloc() maps by itself: objects come from the heap, of which only headers are written. */
static const struct {
	size_t bytes;
	unsigned long live;
} PLACES[] = {
	{1009, 800000},
	{12007, 130000},
	{30011, 53000},
	{100003, 16000},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(PLACES) / sizeof(*PLACES); i++) {
		unsigned long live = 0;

		for (unsigned long n = 0; n < 2 * PLACES[i].live; n++) {
			void *volatile object = malloc(PLACES[i].bytes);

			if (!object)
				return 1;
			if (n % 2)
				free(object);
			else
				live++;
		}
		printf("%zu\t%lu\n", PLACES[i].bytes, live);
	}
	return 0;
}
