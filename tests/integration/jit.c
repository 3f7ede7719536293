/*
 * jit.c - makes code as a JIT compiler does, and names it in /tmp/perf-PID.map: two loops, of which the
 * second lies where another function lay before.
 *
 * Output: a line each, "cpu", the name, milliseconds of CPU time.  The file is removed by whoever
 * started the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { FUNCTION_BYTES = 64 };

/* mov $20000000, %ecx; dec %ecx; jnz; ret */
static const uint8_t loop[] = {0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void run(const char *name, uint8_t *code, double ms)
{
	double begin = cpu_ms();

	while (cpu_ms() - begin < ms)
		((void (*)(void))(uintptr_t)code)();
	printf("cpu\t%s\t%.1f\n", name, cpu_ms() - begin);
}

int main(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[40];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (code == MAP_FAILED || !map)
		return 77;
	memcpy(code, loop, sizeof(loop));
	memcpy(code + FUNCTION_BYTES, loop, sizeof(loop));
	fprintf(map, "%lx %x first loop:1\n", (unsigned long)(uintptr_t)code, FUNCTION_BYTES);
	fprintf(map, "%lx %x gone\n", (unsigned long)(uintptr_t)(code + FUNCTION_BYTES), FUNCTION_BYTES);
	fprintf(map, "not a line\n%lx %x second\n", (unsigned long)(uintptr_t)(code + FUNCTION_BYTES),
		FUNCTION_BYTES);
	fprintf(map, "%lx %x half a li", (unsigned long)(uintptr_t)code, FUNCTION_BYTES);
	fclose(map);
	run("first loop:1", code, 150);
	run("second", code + FUNCTION_BYTES, 100);
	return 0;
}
