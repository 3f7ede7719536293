/*
 * reload_plugin.c - what reload.c loads and unloads: one function, which is named by the build.
 */
#include <stdint.h>

uint64_t RUN(uint64_t n, void (*call)(void));

__attribute__((visibility("default"), noinline)) uint64_t RUN(uint64_t n, void (*call)(void))
{
	volatile uint64_t sum = 0;

	if (call)
		call();
	for (uint64_t i = 0; i < n; i++)
		sum += i;
	return sum;
}
