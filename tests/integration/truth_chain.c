/*
 * truth_chain.c - a wait behind a wait behind a wait, each with an account of what it was for.
 *
 * In each round thread `last` waits for a lock that `middle` holds, which waits for a lock that `first`
 * holds, which waits for a condition that `source` signals, after a sleep and some work.  All write down
 * when they did what; at the end the program cuts the waits of `last` by that: the truth about
 * their causes, whatever the machine's load.
 *
 *   truth_chain [rounds]
 *
 * Output, separated by tabs: thread, what it did, total_ns within the waits of `last`.  By rounds: of each, with when `last` asked and
 * had the lock (CLOCK_MONOTONIC) before that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "truth.h"

enum { ROUNDS = 60, PARTS = 5 };

/* Of a round: what `last` waited for, in the order in which it was. */
struct round {
	uint64_t asked_ns;			    /* `last` asks for the lock */
	uint64_t sleeps_ns, slept_ns, signalled_ns; /* `source` */
	uint64_t first_ns;			    /* `first` unlocks */
	uint64_t middle_ns;			    /* `middle` unlocks */
	uint64_t had_ns;			    /* `last` has the lock */
};

static struct round round_of[ROUNDS];
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static bool is_ready;
static pthread_barrier_t turn;
static atomic_int stage;

static void work(uint64_t ns)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ns)
		;
}

static void await_stage(int n)
{
	while (stage < n)
		sched_yield();
}

static void *first(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		pthread_mutex_lock(&inner);
		pthread_mutex_lock(&state);
		stage = 1;
		while (!is_ready)
			pthread_cond_wait(&ready, &state);
		is_ready = false;
		pthread_mutex_unlock(&state);
		work(1000000);
		round_of[i].first_ns = now_ns();
		pthread_mutex_unlock(&inner);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *middle(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		await_stage(1);
		pthread_mutex_lock(&outer);
		stage = 2;
		pthread_mutex_lock(&inner);
		work(1500000);
		pthread_mutex_unlock(&inner);
		round_of[i].middle_ns = now_ns();
		pthread_mutex_unlock(&outer);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *last(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		await_stage(2);
		usleep(500);
		stage = 3;
		round_of[i].asked_ns = now_ns();
		pthread_mutex_lock(&outer);
		round_of[i].had_ns = now_ns();
		pthread_mutex_unlock(&outer);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *source(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		await_stage(3);
		work(300000);
		round_of[i].sleeps_ns = now_ns();
		usleep(3000);
		round_of[i].slept_ns = now_ns();
		work(2000000);
		pthread_mutex_lock(&state);
		is_ready = true;
		pthread_mutex_unlock(&state);
		round_of[i].signalled_ns = now_ns();
		pthread_cond_signal(&ready);
		pthread_barrier_wait(&turn);
		stage = 0;
	}
	return arg;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What of from..to lies in the wait of the round. */
static uint64_t within(const struct round *r, uint64_t from, uint64_t to)
{
	from = later(from, r->asked_ns);
	to = to < r->had_ns ? to : r->had_ns;
	return to > from ? to - from : 0;
}

/* What each did within the wait, and until when nobody else had. */
static void account(const struct round *r, uint64_t ns[PARTS])
{
	ns[0] += within(r, r->sleeps_ns, r->slept_ns);
	ns[1] += within(r, 0, r->sleeps_ns) + within(r, r->slept_ns, r->signalled_ns);
	ns[2] += within(r, r->signalled_ns, r->first_ns);
	ns[3] += within(r, r->first_ns, r->middle_ns);
	ns[4] += within(r, r->middle_ns, r->had_ns);
}

static void print(const char *before, const uint64_t ns[PARTS])
{
	static const char *const what[PARTS] = {"source\tslept", "source\tworked", "first\tworked",
						"middle\tworked", "last\tworked"};

	for (int i = 0; i < PARTS; i++)
		printf("%s%s\t%ju\n", before, what[i], (uintmax_t)ns[i]);
}

static void print_rounds(void)
{
	char before[64];

	for (const struct round *r = round_of; r < round_of + ROUNDS; r++) {
		uint64_t ns[PARTS] = {0};

		account(r, ns);
		snprintf(before, sizeof(before), "%ju\t%ju\t", (uintmax_t)r->asked_ns,
			 (uintmax_t)r->had_ns);
		print(before, ns);
	}
}

int main(int argc, char **argv)
{
	void *(*const runs[])(void *) = {first, middle, last, source};
	const char *const names[] = {"first", "middle", "last", "source"};
	uint64_t ns[PARTS] = {0};
	pthread_t thread[4];

	pthread_barrier_init(&turn, NULL, 4);
	for (int i = 0; i < 4; i++) {
		if (pthread_create(&thread[i], NULL, runs[i], NULL))
			return 1;
		pthread_setname_np(thread[i], names[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (const struct round *r = round_of; r < round_of + ROUNDS; r++)
		account(r, ns);
	if (argc > 1 && !strcmp(argv[1], "rounds"))
		print_rounds();
	else
		print("", ns);
	return fflush(stdout) ? 1 : 0;
}
