/*
 * segments.c - a program with gaps between its segments: its functions lie in several of them, and
 * something is loaded and unloaded between rounds.
 *
 *   segments ROUNDS MS PLUGIN
 *
 * In each round two threads sleep once each, in segments_far_sleep(), and the main thread computes
 * for MS of CPU time in segments_far_work(), called by segments_near().  Prints two addresses: of
 * functions in two segments; then it waits for a byte of input, or its end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The linker is told to place it far from the rest, or it lies with the rest. */
#define FAR __attribute__((noinline, section(".far_text")))

/* Not static: their names are looked for. */
void segments_far_sleep(void);
void segments_far_work(uint64_t ms);
void segments_near(uint64_t ms);

static volatile uint64_t sink;

FAR void segments_far_sleep(void)
{
	struct timespec t = {0, 2000000};

	nanosleep(&t, NULL);
	sink++;
}

static uint64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

FAR void segments_far_work(uint64_t ms)
{
	uint64_t until = cpu_ms() + ms;

	do
		for (int i = 0; i < 100000; i++)
			sink += (uint64_t)i;
	while (cpu_ms() < until);
}

__attribute__((noinline)) void segments_near(uint64_t ms)
{
	segments_far_work(ms);
	sink++;
}

__attribute__((noinline)) static void *segments_thread(void *unused)
{
	segments_far_sleep();
	return unused;
}

static int round_of(uint64_t ms, const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	pthread_t thread[2];

	if (!plugin) {
		fprintf(stderr, "segments: %s\n", dlerror());
		return 1;
	}
	dlclose(plugin);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, segments_thread, NULL))
			return 1;
	segments_near(ms);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	char end;

	if (argc != 4)
		return 2;
	for (int i = atoi(argv[1]); i > 0; i--)
		if (round_of(strtoull(argv[2], NULL, 10), argv[3]))
			return 1;
	printf("%p %p\n", (void *)(uintptr_t)segments_far_work, (void *)(uintptr_t)segments_near);
	fflush(stdout);
	return read(0, &end, 1) < 0;
}
