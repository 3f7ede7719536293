/*
 * truth_own_lock.c - threads that wait for each other behind condition variables, which say themselves how long.
 *
 *   truth_own_lock KIND
 *
 * "rows": a table says who owns each of a few rows; a thread that finds a row taken waits on a condition variable of its own, until
 * the owner gives the row on.  Each thread gets its next request further out.  "slots": the same with one condition variable for all, and
 * a number of free slots; "woken": all are woken for a free slot.  "tasks": rows, without requests, in tasks.  "named": rows, without requests, in functions whose names
 * say what they are.  None of these is a lock of a library.
 *
 * "pool" is no lock: its threads make new items for each other, and wait while there is none.  As many items are under way as there are
 * rows in "rows", and each takes as long.  "meet" is none either: all wait for the last, as at a barrier.
 * "neighbours" wait for two others each.  "lock_free" is a ring of stages, whose queue's functions have names that speak of a lock.
 *
 * Output, separated by tabs: "cost", nanoseconds, measured around the waits; "waits", how many.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <trc/trace.h>
#include "truth.h"

#define MS  1000000u
#define OWN __attribute__((noinline)) static

enum { THREADS = 6, ROWS = 2, ROUNDS = 60, HOT = 30, HOT_ROUNDS = 12 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn[HOT], any = PTHREAD_COND_INITIALIZER;
static int owner[ROWS];		/* thread + 1; 0 = nobody */
static int wants[HOT];		/* row + 1; 0 = it waits for none */
static unsigned int asked[HOT]; /* since when: who asked first is first */
static unsigned int reached[THREADS];
static unsigned int n_asked, n_free = ROWS, n_items, n_done;
static atomic_uint_fast64_t cost_ns, n_waits;
static atomic_uint n_calls; /* so that no call is the last thing that a function does */
static bool over;

static void pass(uint64_t ns)
{
	struct timespec ts = {0, (long)ns};

	nanosleep(&ts, NULL);
}

static void wait_for(pthread_cond_t *cond)
{
	uint64_t from = now_ns();

	pthread_cond_wait(cond, &guard);
	cost_ns += now_ns() - from;
	n_waits++;
}

/* ---- rows ---- */

static void take_row(int me, int row)
{
	pthread_mutex_lock(&guard);
	if (!owner[row]) {
		owner[row] = me + 1;
	} else {
		wants[me] = row + 1;
		asked[me] = n_asked++;
		while (owner[row] != me + 1)
			wait_for(&turn[me]);
	}
	pthread_mutex_unlock(&guard);
}

static void give_row(int row)
{
	int next = -1;

	pthread_mutex_lock(&guard);
	for (int i = 0; i < HOT; i++)
		if (wants[i] == row + 1 && (next < 0 || asked[i] < asked[next]))
			next = i;
	owner[row] = next + 1;
	if (next >= 0) {
		wants[next] = 0;
		pthread_cond_signal(&turn[next]);
	}
	pthread_mutex_unlock(&guard);
}

/* What a statement and the commit behind it do. */
SITE void site_get(int me, int row)
{
	take_row(me, row);
	n_calls++;
}

SITE void site_put(int row)
{
	give_row(row);
	n_calls++;
}

OWN void transact(int me, int row)
{
	site_get(me, row);
	pass(2 * MS);
	site_put(row);
	n_calls++;
}

SITE void site_request(void)
{
	pass(MS / 2);
}

static void *rows(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		site_request();
		transact((int)(intptr_t)arg, (i + (int)(intptr_t)arg) % ROWS);
	}
	return arg;
}

/* All of them the same row, and one has it at a time. */
static void *hot(void *arg)
{
	for (int i = 0; i < HOT_ROUNDS; i++) {
		site_request();
		transact((int)(intptr_t)arg, 0);
	}
	return arg;
}

/* Nothing is further out: the row is taken and given here. */
static void *tasks(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		trace_task task = trace_task_begin("change", 0);

		site_get((int)(intptr_t)arg, i % ROWS);
		pass(2 * MS);
		site_put(i % ROWS);
		trace_task_end(task);
	}
	return arg;
}

SITE void site_row_lock(int me, int row)
{
	take_row(me, row);
	n_calls += 2; /* or it would be one function with site_get() */
}

static void *named(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		site_row_lock((int)(intptr_t)arg, i % ROWS);
		pass(2 * MS);
		site_put(i % ROWS);
	}
	return arg;
}

/* ---- slots ---- */

SITE void site_enter(void)
{
	pthread_mutex_lock(&guard);
	while (!n_free)
		wait_for(&any);
	n_free--;
	pthread_mutex_unlock(&guard);
}

SITE void site_leave(void)
{
	pthread_mutex_lock(&guard);
	n_free++;
	pthread_cond_signal(&any);
	pthread_mutex_unlock(&guard);
}

OWN void query(void)
{
	site_enter();
	pass(2 * MS);
	site_leave();
	n_calls++;
}

static void *slots(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		site_request();
		query();
	}
	return arg;
}

/* All are woken, one comes in, and the others wait again. */
SITE void site_leave_to_all(void)
{
	pthread_mutex_lock(&guard);
	n_free++;
	pthread_cond_broadcast(&any);
	pthread_mutex_unlock(&guard);
}

OWN void query_alone(void)
{
	site_enter();
	pass(2 * MS);
	site_leave_to_all();
	n_calls++;
}

static void *woken(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		site_request();
		query_alone();
	}
	return arg;
}

/* ---- no lock ---- */

/* Until all have come. */
SITE void site_meet(void)
{
	unsigned int round;

	pthread_mutex_lock(&guard);
	round = n_done;
	if (++n_asked % THREADS == 0) {
		n_done++;
		pthread_cond_broadcast(&any);
	}
	while (round == n_done)
		wait_for(&any);
	pthread_mutex_unlock(&guard);
	n_calls += 3;
}

OWN void step(unsigned int i)
{
	pass(MS / 2 * (i % THREADS));
	site_meet();
	n_calls++;
}

static void *meet(void *arg)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		site_request();
		step(i + (unsigned int)(intptr_t)arg);
	}
	return arg;
}

/* Until both neighbours have come as far. */
SITE void site_exchange(unsigned int me, unsigned int round)
{
	pthread_mutex_lock(&guard);
	reached[me] = round;
	pthread_cond_broadcast(&any);
	while (reached[(me + 1) % THREADS] < round || reached[(me + THREADS - 1) % THREADS] < round)
		wait_for(&any);
	pthread_mutex_unlock(&guard);
	n_calls += 3;
}

OWN void compute(unsigned int me, unsigned int round)
{
	pass(MS / 2 * ((me * 5 + round * 3) % THREADS));
	site_exchange(me, round);
	n_calls++;
}

static void *neighbours(void *arg)
{
	for (unsigned int i = 1; i <= 2 * ROUNDS; i++) {
		site_request();
		compute((unsigned int)(intptr_t)arg, i);
	}
	return arg;
}

OWN bool lock_free_take(int stage)
{
	bool some;

	pthread_mutex_lock(&guard);
	while (!wants[stage] && !over)
		wait_for(&turn[stage]);
	some = wants[stage] > 0;
	wants[stage] -= some;
	pthread_mutex_unlock(&guard);
	return some;
}

OWN void lock_free_give(int stage)
{
	pthread_mutex_lock(&guard);
	wants[stage]++;
	over |= ++n_done >= THREADS * ROUNDS;
	for (int i = 0; i < THREADS; i++)
		if (over || i == stage)
			pthread_cond_signal(&turn[i]);
	pthread_mutex_unlock(&guard);
}

static void *lock_free(void *arg)
{
	int stage = (int)(intptr_t)arg;

	if (!stage)
		lock_free_give(1);
	while (lock_free_take(stage)) {
		pass(2 * MS);
		lock_free_give((stage + 1) % THREADS);
		n_calls++;
	}
	return arg;
}

OWN bool pop(void)
{
	bool some;

	pthread_mutex_lock(&guard);
	while (!n_items && !over)
		wait_for(&any);
	some = n_items > 0;
	n_items -= some;
	pthread_mutex_unlock(&guard);
	return some;
}

OWN void push(void)
{
	pthread_mutex_lock(&guard);
	n_items++;
	over = ++n_done >= THREADS * ROUNDS;
	if (over)
		pthread_cond_broadcast(&any);
	else
		pthread_cond_signal(&any);
	pthread_mutex_unlock(&guard);
}

/* It makes the next. */
OWN void run_item(void)
{
	pass(2 * MS);
	push();
	n_calls++;
}

static void *pool(void *arg)
{
	while (!over && pop())
		run_item();
	return arg;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int threads;
		void *(*run)(void *);
	} KINDS[] = {{"rows", THREADS, rows},
		     {"slots", THREADS, slots},
		     {"tasks", THREADS, tasks},
		     {"named", THREADS, named},
		     {"hot", HOT, hot},
		     {"pool", THREADS, pool},
		     {"woken", THREADS, woken},
		     {"meet", THREADS, meet},
		     {"neighbours", THREADS, neighbours},
		     {"lock_free", THREADS, lock_free}};
	const char *kind = argc == 2 ? argv[1] : "";
	pthread_t thread[HOT];
	size_t k = 0;

	while (k < sizeof(KINDS) / sizeof(*KINDS) && strcmp(kind, KINDS[k].name) != 0)
		k++;
	if (k == sizeof(KINDS) / sizeof(*KINDS)) {
		fputs("usage: truth_own_lock KIND\n", stderr);
		return 2;
	}
	truth_begin();
	n_items = ROWS;
	for (int i = 0; i < HOT; i++)
		pthread_cond_init(&turn[i], NULL);
	for (int i = 0; i < KINDS[k].threads; i++)
		if (pthread_create(&thread[i], NULL, KINDS[k].run, (void *)(intptr_t)i))
			return 1;
	for (int i = 0; i < KINDS[k].threads; i++)
		pthread_join(thread[i], NULL);
	printf("cost\t%ju\nwaits\t%ju\n", (uintmax_t)cost_ns, (uintmax_t)n_waits);
	return fflush(stdout) ? 1 : 0;
}
