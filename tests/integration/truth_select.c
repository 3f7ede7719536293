/*
 * truth_select.c - requests of two threads, of which every tenth is slow, and what they did meanwhile.
 *
 * Each request sleeps, takes a lock that the other thread may have, and works.  The program writes down
 * when it did which, by its own clock, and in the end what of that lies in the slowest tenth of the requests,
 * in the time of one thread, in the slowest tenth of this thread's requests, and in a window: the task `window` of
 * the main thread.
 *
 * Output, separated by tabs: selection, what (sleep, mutex, cpu, requests), total_ns or count; and by how much
 * the least slow of the slowest requests took longer than the next one, of all requests and of the one thread's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdlib.h>
#include <trc/trace.h>
#include "truth.h"

enum { WORKERS = 2, REQUESTS = 60, SLOW_ONE_OF = 10, STEPS_MAX = 4 * REQUESTS };

enum what { SLEEP, MUTEX, CPU, N_WHAT };
static const char *const what_name[N_WHAT] = {"sleep", "mutex", "cpu"};

struct step {
	enum what what;
	uint64_t from_ns, to_ns;
	uint64_t ns; /* of CPU time what the thread got of it */
};

struct request {
	uint64_t from_ns, to_ns;
	bool slow;	  /* of all, it is one of the slowest */
	bool slow_of_own; /* of its thread's */
};

struct worker {
	struct request request[REQUESTS];
	struct step step[STEPS_MAX];
	int n_steps;
	int number;
};

static struct worker worker[WORKERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(struct worker *w, enum what what, uint64_t from_ns)
{
	uint64_t to_ns = now_ns();

	w->step[w->n_steps++] = (struct step){what, from_ns, to_ns, to_ns - from_ns};
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void pass_us(struct worker *w, long us)
{
	struct timespec ts = {0, us * 1000};
	uint64_t from_ns = now_ns();

	nanosleep(&ts, NULL);
	if (w)
		note(w, SLEEP, from_ns);
}

static void work(struct worker *w, uint64_t ns)
{
	uint64_t from_ns = now_ns(), cpu_from_ns = cpu_ns();

	while (now_ns() - from_ns < ns)
		;
	note(w, CPU, from_ns);
	w->step[w->n_steps - 1].ns = cpu_ns() - cpu_from_ns;
}

/* While it sleeps the other one may wait for the lock. */
static void hold(struct worker *w, long us)
{
	uint64_t from_ns = now_ns();

	pthread_mutex_lock(&lock);
	note(w, MUTEX, from_ns);
	pass_us(w, us);
	pthread_mutex_unlock(&lock);
}

static void serve(struct worker *w, int i)
{
	bool slow = i % SLOW_ONE_OF == SLOW_ONE_OF - 1;
	struct request *r = &w->request[i];
	trace_task task;

	r->from_ns = now_ns();
	task = trace_task_begin("request", 0);
	hold(w, slow ? 20000 : 1500);
	work(w, slow ? 20000000 : 1000000);
	trace_task_end(task);
	r->to_ns = now_ns();
	/* Work and waiting that belongs to no request. */
	pass_us(w, 500);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	char name[16];

	snprintf(name, sizeof(name), "worker %d", w->number);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < REQUESTS; i++)
		serve(w, i);
	return NULL;
}

/* ---- the account ---- */

static int longest_first(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a, *y = *(struct request *const *)b;
	uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	return (x_ns < y_ns) - (x_ns > y_ns);
}

/* Of the requests of the first so many workers.  `gap_ns`: the trace has other clocks' readings, and may choose
 * otherwise between two that differ by less. */
static int mark_slow(int n_workers, uint64_t *gap_ns)
{
	struct request *all[WORKERS * REQUESTS];
	int n = n_workers * REQUESTS, n_slow = n / SLOW_ONE_OF;

	for (int i = 0; i < n; i++)
		all[i] = &worker[i / REQUESTS].request[i % REQUESTS];
	qsort(all, (size_t)n, sizeof(*all), longest_first);
	for (int i = 0; i < n_slow; i++)
		*(n_workers == 1 ? &all[i]->slow_of_own : &all[i]->slow) = true;
	*gap_ns = all[n_slow - 1]->to_ns - all[n_slow - 1]->from_ns -
		  (all[n_slow]->to_ns - all[n_slow]->from_ns);
	return n_slow;
}

/* Of CPU time the same share as of the time. */
static uint64_t overlap(const struct step *step, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t length_ns = step->to_ns - step->from_ns;

	from_ns = step->from_ns > from_ns ? step->from_ns : from_ns;
	to_ns = step->to_ns < to_ns ? step->to_ns : to_ns;
	if (to_ns <= from_ns)
		return 0;
	return (uint64_t)((double)step->ns * (double)(to_ns - from_ns) / (double)length_ns);
}

/* Adds what the worker did in this time. */
static void add(uint64_t sum[N_WHAT], const struct worker *w, uint64_t from_ns, uint64_t to_ns)
{
	for (int i = 0; i < w->n_steps; i++)
		sum[w->step[i].what] += overlap(&w->step[i], from_ns, to_ns);
}

static void print(const char *selection, const uint64_t sum[N_WHAT], int n_requests)
{
	for (int what = 0; what < N_WHAT; what++)
		printf("%s\t%s\t%ju\n", selection, what_name[what], (uintmax_t)sum[what]);
	printf("%s\trequests\t%d\n", selection, n_requests);
}

static void account(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t slow[N_WHAT] = {0}, one[N_WHAT] = {0}, window[N_WHAT] = {0}, both[N_WHAT] = {0};
	uint64_t gap_ns, both_gap_ns;
	int n_slow = mark_slow(WORKERS, &gap_ns), n_both = mark_slow(1, &both_gap_ns), n_window = 0;

	for (int k = 0; k < WORKERS; k++) {
		for (int i = 0; i < REQUESTS; i++) {
			const struct request *r = &worker[k].request[i];

			n_window += r->from_ns < to_ns && from_ns < r->to_ns;
			if (r->slow)
				add(slow, &worker[k], r->from_ns, r->to_ns);
			if (r->slow_of_own)
				add(both, &worker[k], r->from_ns, r->to_ns);
		}
		add(window, &worker[k], from_ns, to_ns);
	}
	add(one, &worker[0], 0, UINT64_MAX);
	print("slowest", slow, n_slow);
	print("thread", one, REQUESTS);
	print("window", window, n_window);
	print("both", both, n_both);
	printf("slowest\tgap\t%ju\n", (uintmax_t)gap_ns);
	printf("both\tgap\t%ju\n", (uintmax_t)both_gap_ns);
}

int main(void)
{
	pthread_t thread[WORKERS];
	uint64_t from_ns, to_ns;
	trace_task task;

	for (int i = 0; i < WORKERS; i++) {
		worker[i].number = i;
		pthread_create(&thread[i], NULL, worker_main, &worker[i]);
	}
	pass_us(NULL, 150000);
	from_ns = now_ns();
	task = trace_task_begin("window", 0);
	pass_us(NULL, 200000);
	trace_task_end(task);
	to_ns = now_ns();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	account(from_ns, to_ns);
	return fflush(stdout) ? 1 : 0;
}
