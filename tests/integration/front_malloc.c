/*
 * front_malloc.c - a library with a malloc() that passes on to the next one, as profilers of memory
 * do: to be preloaded before the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

__attribute__((visibility("default"))) void *malloc(size_t n)
{
	static void *(*_Atomic next)(size_t);

	if (!next)
		next = (void *(*)(size_t))(uintptr_t)dlsym(RTLD_NEXT, "malloc");
	return next(n);
}
