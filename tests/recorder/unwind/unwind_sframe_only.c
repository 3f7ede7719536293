/*
 * unwind_sframe_only.c - walks by rules through a function of a module.
 *
 *	unwind_sframe_only MODULE FRAMES
 *
 * The module's function sframe_only_calls() calls back.  So many frames must be found from there: one
 * where the module's function has no rules; where it has, at least so many, and the true ones.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/unwind/unwind.h"

enum { MAX = 64, OUTER = 1, MAIN = 2 };

static uint64_t frame[MAX];
static uint32_t frames;
static uint64_t outer_returns_to;

static __attribute__((noinline)) void capture(void)
{
	frames = trc_unwind(frame, MAX, 0);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void outer(void (*calls)(void (*)(void)))
{
	outer_returns_to = (uint64_t)(uintptr_t)__builtin_return_address(0);
	calls(capture);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	void *module = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *symbol = module ? dlsym(module, "sframe_only_calls") : NULL;
	uint32_t expected = argc == 3 ? (uint32_t)atoi(argv[2]) : 0;
	void (*calls)(void (*)(void));
	const char *note;

	if (!symbol) {
		fprintf(stderr, "unwind_sframe_only: %s\n", dlerror());
		return 1;
	}
	memcpy(&calls, &symbol, sizeof(calls));
	if (trc_unwind_setup(TRC_UNWIND_CFI, &note))
		return 1;
	outer(calls);
	printf("%" PRIu32 " frames through a module %s rules\n", frames,
	       expected == 1 ? "without" : "with");
	if (expected == 1)
		return frames != 1;
	/* frame[0] lies in the module. */
	return frames < expected || frame[OUTER] - (uint64_t)(uintptr_t)outer > 256 ||
	       frame[MAIN] != outer_returns_to;
}
