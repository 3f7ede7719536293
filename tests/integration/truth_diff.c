/*
 * truth_diff.c - a program one part of which can be made slower, for comparisons of traces.
 *
 *   truth_diff SEED MILLISECONDS lock|task|order|function|thread|memory PERCENT
 *
 * Four workers do tasks, which sleep, and then take a lock in turn and sleep under it.  For
 * `function` one thread computes instead, in four functions by turns.  How long each sleeps or
 * computes is random, and differs from run to run with the seed.  `lock` makes what is done
 * under the lock so much longer, `task` what the task does besides, `order` both and so all of each task, `function` what
 * one of the functions does; 0 nothing.  For `thread` another thread, flusher 1, computes now and then, so much
 * more; for `memory` each task keeps some blocks for good, so many more.
 *
 * Output: how long a section took on average, what tasks did besides, how long they took in all, and the rounds of the
 * function for each of another one's, as the program itself counts them; the CPU time of the flusher by its
 * own clock for each time that it ran and for each task, and how many bytes each task and all of them kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Another build, in which every line has another number. */
#ifdef TRUTH_DIFF_MOVED
#line 1000
#endif
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trc/trace.h>
#include "tests/draws.h"
#include "truth.h"

enum { WORKERS = 4, SECTION_US = 2000, APART_US = 6000, ROUNDS = 50000, KEPT_BLOCKS = 200, BLOCK_BYTES = 256 };

static pthread_mutex_t orders = PTHREAD_MUTEX_INITIALIZER;
static uint64_t until_ns, seed;
static bool computes, flushes, keeps;
static double lock_factor = 1, task_factor = 1, function_factor = 1, thread_factor = 1, memory_factor = 1;
static atomic_uint_fast64_t kept_bytes;
static uint64_t flushed_ns, flushes_done;
static atomic_uint_fast64_t held_ns, sections, apart_ns, task_ns, tasks;
static uint64_t rounds[4];

/* Give or take 30 %. */
static uint64_t about(uint64_t mean, uint64_t *state)
{
	return (uint64_t)((double)mean * (0.7 + 0.6 * uniform(state)));
}

static void nap(uint64_t us)
{
	const struct timespec ts = {0, (long)us * 1000};

	nanosleep(&ts, NULL);
}

SITE void order_book(uint64_t *state)
{
	uint64_t from_ns;

	pthread_mutex_lock(&orders);
	from_ns = now_ns();
	nap((uint64_t)(lock_factor * (double)about(SECTION_US, state)));
	held_ns += now_ns() - from_ns;
	sections++;
	pthread_mutex_unlock(&orders);
	atomic_signal_fence(memory_order_seq_cst);
}

SITE void order_ship(uint64_t *state)
{
	uint64_t from_ns = now_ns();

	nap((uint64_t)(task_factor * (double)about(APART_US, state)));
	apart_ns += now_ns() - from_ns;
	tasks++;
}

/* What is kept for good. */
SITE void order_keep(uint64_t *state)
{
	static _Thread_local void *last;
	uint64_t n = (uint64_t)(memory_factor * (double)about(KEPT_BLOCKS, state));

	for (uint64_t i = 0; i < n; i++) {
		void **block = malloc(BLOCK_BYTES);

		if (!block)
			abort();
		*block = last;
		last = block;
	}
	kept_bytes += n * BLOCK_BYTES;
}

static void *worker(void *argument)
{
	uint64_t state = seed * 16 + (uintptr_t)argument;

	trace_thread_set_name("worker");
	uniform(&state);
	while (now_ns() < until_ns) {
		trace_task order = trace_task_begin("order", 0);
		uint64_t from_ns = now_ns();

		order_ship(&state);
		order_book(&state);
		if (keeps)
			order_keep(&state);
		task_ns += now_ns() - from_ns;
		trace_task_end(order);
	}
	return NULL;
}

/* Work that no compiler leaves out. */
#define COMPUTE(name)                                                                              \
	SITE void name(uint64_t n, volatile uint64_t *sink)                                        \
	{                                                                                          \
		for (uint64_t i = 0; i < n; i++)                                                   \
			*sink = *sink * 6364136223846793005u + i;                                  \
	}
COMPUTE(parse)
COMPUTE(price)
COMPUTE(sign)
COMPUTE(pack)

static void *computer(void *argument)
{
	static void (*const step[4])(uint64_t, volatile uint64_t *) = {parse, price, sign, pack};
	uint64_t state = seed * 16 + 15;
	volatile uint64_t sink = 0;

	trace_thread_set_name("computer");
	uniform(&state);
	while (now_ns() < until_ns)
		for (unsigned int i = 0; i < 4; i++) {
			uint64_t n = about(ROUNDS, &state);

			rounds[i] += n;
			if (i == 1)
				n = (uint64_t)((double)n * function_factor);
			step[i](n, &sink);
		}
	return argument;
}

static void *flusher(void *argument)
{
	uint64_t state = seed * 16 + 14;
	volatile uint64_t sink = 0;
	struct timespec used;

	trace_thread_set_name("flusher 1");
	uniform(&state);
	for (; now_ns() < until_ns; flushes_done++) {
		nap(about(4000, &state));
		pack((uint64_t)(thread_factor * (double)about(4 * ROUNDS, &state)), &sink);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	flushed_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
	return argument;
}

static bool take_arguments(int argc, char **argv)
{
	double factor;

	if (argc != 5)
		return false;
	seed = strtoull(argv[1], NULL, 10) + 1;
	until_ns = now_ns() + strtoull(argv[2], NULL, 10) * 1000000u;
	factor = 1 + strtod(argv[4], NULL) / 100;
	if (!strcmp(argv[3], "lock"))
		lock_factor = factor;
	else if (!strcmp(argv[3], "task"))
		task_factor = factor;
	else if (!strcmp(argv[3], "order"))
		lock_factor = task_factor = factor;
	else if (!strcmp(argv[3], "function"))
		function_factor = factor, computes = true;
	else if (!strcmp(argv[3], "thread"))
		thread_factor = factor, flushes = true;
	else if (!strcmp(argv[3], "memory"))
		memory_factor = factor, keeps = true;
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	pthread_t thread[WORKERS], another;
	unsigned int n;

	if (!take_arguments(argc, argv))
		return 2;
	n = computes ? 1 : WORKERS;
	for (uintptr_t i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, computes ? computer : worker, (void *)i))
			return 1;
	if (flushes && (pthread_create(&another, NULL, flusher, NULL) || pthread_join(another, NULL)))
		return 1;
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	if (computes)
		printf("rounds\t%.3f\n", 3 * function_factor * (double)rounds[1] /
						 (double)(rounds[0] + rounds[2] + rounds[3]));
	else
		printf("held_ns\t%.0f\napart_ns\t%.0f\ntask_ns\t%.0f\nflushed_ns\t%.0f\nflushed_per_task_ns\t%.0f\n"
		       "kept_bytes\t%.0f\nkept_in_all_bytes\t%.0f\n",
		       (double)held_ns / (double)sections, (double)apart_ns / (double)tasks,
		       (double)task_ns / (double)tasks,
		       flushes ? (double)flushed_ns / (double)flushes_done : 0,
		       (double)flushed_ns / (double)tasks, (double)kept_bytes / (double)tasks,
		       (double)kept_bytes);
	return 0;
}
