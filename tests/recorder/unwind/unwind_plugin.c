/*
 * unwind_plugin.c - what unwind_storm.c loads and unloads: frames of its own below a callback.
 * Compiled twice, with frames of PLUGIN_BYTES: what was true of one is not of the other.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int plugin_run(int (*call)(int), uint32_t depth);

static int (*callback)(int);

static int compare(const void *a, const void *b)
{
	return callback(*(const int *)a) - callback(*(const int *)b);
}

__attribute__((noinline)) int plugin_run(int (*call)(int), uint32_t depth)
{
	volatile char frame[PLUGIN_BYTES];
	int number[16];
	int sum = 0;

	frame[depth] = 1;
	callback = call;
	for (int i = 0; i < 16; i++)
		number[i] = i * 7 % 16;
	if (depth)
		sum = plugin_run(call, depth - 1);
	qsort(number, 16, sizeof(number[0]), compare);
	return sum + number[depth % 16] + frame[depth];
}
