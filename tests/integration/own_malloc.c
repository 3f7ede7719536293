/*
 * own_malloc.c - a program with a malloc() of its own, which says how a recorder of memory and a
 * trace with sampled allocations begin: own_malloc TRACE, or nothing for a program that does
 * neither.  With ANY_MALLOC it has none, and uses the one that it finds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trc/recorder.h"
#include "trc/trace.h"

#ifndef ANY_MALLOC

#define EXPORT __attribute__((visibility("default")))

/* Never given back, and with its size before it. */
static _Alignas(16) char arena[64 << 20];
static _Atomic size_t used;

EXPORT void *malloc(size_t n)
{
	size_t bytes = (n + 31) & ~(size_t)15;
	size_t at = __atomic_fetch_add((size_t *)&used, bytes, __ATOMIC_RELAXED);

	if (n > sizeof(arena) || at + bytes > sizeof(arena)) {
		errno = ENOMEM;
		return NULL;
	}
	*(size_t *)(arena + at) = n;
	return arena + at + 16;
}

EXPORT void free(void *object)
{
}

EXPORT void *calloc(size_t n, size_t each)
{
	return malloc(n * each); /* zero, as nothing was there before */
}

EXPORT void *realloc(void *object, size_t n)
{
	size_t was = object ? *(size_t *)((char *)object - 16) : 0;
	void *moved = malloc(n);

	if (moved && was)
		memcpy(moved, object, was < n ? was : n);
	return moved;
}

#endif

static int say(const char *what, int err)
{
	printf("%s: %d%s%s\n", what, err, *trace_last_error() ? ", " : "", trace_last_error());
	return 0;
}

int main(int argc, char **argv)
{
	struct trace_heap_options heap_options = TRACE_HEAP_OPTIONS_INIT;
	struct trace_options options = TRACE_OPTIONS_INIT;
	struct trace_writer_memory memory = {0};
	struct trace_writer w = trace_writer_to_memory(&memory);
	struct trace_recorder *r;

	if (argc < 2)
		return puts("that is all") < 0;
	say("made", trace_recorder_create_heap(&r, &heap_options));
	say("started", trace_recorder_start(r, &w));
	trace_recorder_destroy(r);
	options.heap_sample_bytes = 1;
	say("traced", trace_start(argv[1], &options));
	trace_stop();
	return 0;
}
