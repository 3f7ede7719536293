/*
 * flame_program.c - what a flame graph can be of, in a second: functions that burn CPU time, wait for a lock
 * that others hold while they sleep or compute, allocate, and work for tasks and under labels.
 *
 * Tasks of type "handed" begin on the main thread and end on a worker; of the others some have a child.
 */
#define _GNU_SOURCE 1 /* pthread_setname_np() */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trc/labels.h>
#include <trc/trace.h>

enum { WORKERS = 4, ROUNDS = 24 };

static pthread_mutex_t flame_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_cond = PTHREAD_COND_INITIALIZER;
static trace_task queue[WORKERS * ROUNDS];
static int n_queued, n_taken;
static void *kept[WORKERS * ROUNDS];
static volatile double sink;

static __attribute__((noinline)) void burn(long us)
{
	struct timespec now;
	long until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	until = now.tv_sec * 1000000 + now.tv_nsec / 1000 + us;
	do {
		for (int i = 0; i < 500; i++)
			sink += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000000 + now.tv_nsec / 1000 < until);
}

static __attribute__((noinline)) void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Calls itself: it must count once. */
static __attribute__((noinline)) void descend(int depth, long us)
{
	if (depth)
		descend(depth - 1, us);
	else
		burn(us);
	sink += depth;
}

static __attribute__((noinline)) void hold_and_sleep(void)
{
	pthread_mutex_lock(&flame_lock);
	nap(1500);
	pthread_mutex_unlock(&flame_lock);
}

static __attribute__((noinline)) void hold_and_compute(void)
{
	pthread_mutex_lock(&flame_lock);
	descend(3, 1500);
	pthread_mutex_unlock(&flame_lock);
}

static __attribute__((noinline)) void *make_buffer(size_t n_bytes)
{
	return malloc(n_bytes);
}

static void round_of(int worker, int round)
{
	trace_task task = trace_task_begin(round % 4 ? "quick" : "slow", 0), child;

	if (round % 4) {
		hold_and_compute();
	} else {
		child = trace_task_begin("part", task);
		hold_and_sleep();
		trace_task_end(child);
		burn(2000 + 500 * round);
	}
	kept[worker * ROUNDS + round] = make_buffer(20000);
	free(make_buffer(70000));
	trace_task_end(task);
}

static trace_task take(void)
{
	trace_task task;

	pthread_mutex_lock(&queue_lock);
	while (n_taken == n_queued)
		pthread_cond_wait(&queue_cond, &queue_lock);
	task = queue[n_taken++];
	pthread_mutex_unlock(&queue_lock);
	return task;
}

static void *work(void *argument)
{
	int worker = *(int *)argument;

	for (int round = 0; round < ROUNDS; round++) {
		trace_task task = take();
		struct trace_label label = {.key = "tenant", .value = round % 3 ? "acme" : "other"};
		struct trace_labels_scope scope = trace_labels_enter(&label, 1);

		round_of(worker, round);
		trace_labels_leave(&scope);
		trace_task_end(task);
	}
	return NULL;
}

static void hand_out(void)
{
	for (int i = 0; i < WORKERS * ROUNDS; i++) {
		trace_task task = trace_task_begin("handed", 0);

		pthread_mutex_lock(&queue_lock);
		queue[n_queued++] = task;
		pthread_cond_signal(&queue_cond);
		pthread_mutex_unlock(&queue_lock);
		nap(2000);
	}
}

int main(void)
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
	hand_out();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < WORKERS * ROUNDS; i++)
		free(i % 2 ? kept[i] : NULL);
	return 0;
}
