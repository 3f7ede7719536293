/*
 * truth_instead.c - pairs of threads that share one processor each, with an account of which of them ran while the other could have.
 *
 * Both threads of a pair compute all the time: what one of them ran, the other waited for the processor.  Each reads the other's CPU
 * time when it begins and when it ends, so that the truth holds whatever else the machine does.
 *
 * Output, separated by tabs: thread, who ran instead, ns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { PAIRS = 2, MS = 1500 };

struct member {
	const char *name;
	struct member *other;
	pthread_t thread;
	size_t cpu;
	uint64_t other_ran_ns;
};

static struct member member[2 * PAIRS] = {
	{.name = "first a"}, {.name = "first b"}, {.name = "second a"}, {.name = "second b"}};
static pthread_barrier_t ready;
static atomic_bool over;

static uint64_t ran_ns(pthread_t thread)
{
	struct timespec ts = {0, 0};
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *compute(void *arg)
{
	struct member *me = arg;
	cpu_set_t one;
	uint64_t begin_ns;

	pthread_setname_np(pthread_self(), me->name);
	CPU_ZERO(&one);
	CPU_SET(me->cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_barrier_wait(&ready);
	begin_ns = ran_ns(me->other->thread);
	while (!over)
		;
	me->other_ran_ns = ran_ns(me->other->thread) - begin_ns;
	pthread_barrier_wait(&ready); /* so that the other's clock is still there */
	return NULL;
}

/* The processors that it may use: how many, the first and the last. */
static size_t cpus(size_t *first, size_t *last)
{
	cpu_set_t may;
	size_t n = 0;

	if (sched_getaffinity(0, sizeof(may), &may))
		return 0;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &may))
			continue;
		*first = n++ ? *first : cpu;
		*last = cpu;
	}
	return n;
}

int main(void)
{
	struct timespec for_ms = {MS / 1000, MS % 1000 * 1000000L};
	size_t cpu[PAIRS] = {0}, n = cpus(&cpu[0], &cpu[1]);

	if (!n)
		return 77;
	n = 2 * (n < PAIRS ? n : PAIRS);
	pthread_barrier_init(&ready, NULL, (unsigned int)n);
	for (size_t i = 0; i < n; i++) {
		member[i].other = &member[i ^ 1];
		member[i].cpu = cpu[i / 2];
		if (pthread_create(&member[i].thread, NULL, compute, &member[i]))
			return 1;
	}
	nanosleep(&for_ms, NULL);
	over = true;
	for (size_t i = 0; i < n; i++)
		pthread_join(member[i].thread, NULL);
	for (size_t i = 0; i < n; i++)
		printf("%s\t%s\t%ju\n", member[i].name, member[i].other->name,
		       (uintmax_t)member[i].other_ran_ns);
	return fflush(stdout) ? 1 : 0;
}
