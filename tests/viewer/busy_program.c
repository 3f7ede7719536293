/*
 * busy_program.c - what a page can show, in a fraction of a second: locks that are fought for, tasks,
 * regions within regions, logs and counters.  Its numbers: more types of tasks and more counters than a
 * screen has room for, regions deeper than one can read.  At its end it executes its arguments, or crashes.
 */
#define _GNU_SOURCE 1 /* pthread_setname_np() */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trc/trace.h>
#include <unistd.h>

enum { WORKERS = 4, ROUNDS = 40, TYPES = 40, COUNTERS = 40, DEPTH_MAX = 20 };

static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int unused[25];
	pthread_mutex_t lock;
} busy_table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void locked(pthread_mutex_t *lock, long us)
{
	pthread_mutex_lock(lock);
	nap(us);
	pthread_mutex_unlock(lock);
}

/* Regions in each other, each with a name of its own. */
static void nest(trace_task task, int depth, int deepest, int worker)
{
	char type[32];

	snprintf(type, sizeof(type), "region %d of %d", depth, worker);
	trace_region_begin(task, type);
	if (depth < deepest)
		nest(task, depth + 1, deepest, worker);
	else
		locked(&busy_lock, 100);
	trace_region_end();
}

static void round_of(int worker, int round)
{
	char name[32];
	trace_task task;

	snprintf(name, sizeof(name), "task %d", (worker * ROUNDS + round) % TYPES);
	task = trace_task_begin(name, 0);
	nest(task, 0, worker ? (round + worker) % 4 : DEPTH_MAX - 1, worker);
	trace_logf(task, "round", "worker %d did round %d", worker, round);
	locked(&busy_table.lock, 100);
	snprintf(name, sizeof(name), "counter %d", (worker * ROUNDS + round) % COUNTERS);
	trace_counter_set(name, round);
	trace_task_end(task);
}

static void *work(void *argument)
{
	int worker = *(int *)argument;

	for (int round = 0; round < ROUNDS; round++)
		round_of(worker, round);
	return NULL;
}

static __attribute__((noinline)) void busy_crash(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

int main(int argc, char **argv)
{
	pthread_t thread[WORKERS];
	int number[WORKERS];
	char name[16];

	for (int i = 0; i < WORKERS; i++) {
		number[i] = i;
		if (pthread_create(&thread[i], NULL, work, &number[i]))
			return 1;
		snprintf(name, sizeof(name), "worker-%d", i);
		pthread_setname_np(thread[i], name);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	if (argc > 1 && !strcmp(argv[1], "crash"))
		busy_crash();
	if (argc > 1)
		execvp(argv[1], argv + 1);
	return argc > 1;
}
