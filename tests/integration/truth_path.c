/*
 * truth_path.c - requests that go through three threads, and wait behind a fourth, with an account of who had them when.
 *
 * `reader` begins a request, works and hands it to `worker` by a semaphore; `worker` works, waits for a lock that `keeper`
 * holds while it sleeps, works under it, and hands the request to `sender` by a condition variable; `sender` sleeps,
 * works, and ends it.  From when it has the request up to the signal `worker` is in a region of the request.  The next request begins then.  All write down when they did what: what a request comes down to, in
 * this order, whatever the machine's load.
 *
 * Output, separated by tabs: number of the request from 1 on, thread, what it did, ns; in the order of time.  Of its region the
 * number has an "r" before it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trc/trace.h>
#include <unistd.h>
#include "truth.h"

enum { REQUESTS = 30 };

struct request {
	trace_task task;
	uint64_t begun_ns, handed_ns;		  /* `reader` */
	uint64_t serves_ns, asks_ns;		  /* `worker` has it; and asks for the lock */
	uint64_t sleeps_ns, slept_ns, unlocks_ns; /* `keeper` */
	uint64_t signals_ns;			  /* `worker` */
	uint64_t sends_ns, sent_ns, ended_ns;	  /* `sender`: it sleeps meanwhile */
};

static struct request request_of[REQUESTS];
static sem_t to_worker;
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER, state = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t to_sender = PTHREAD_COND_INITIALIZER;
static bool is_ready;
static pthread_barrier_t turn;
static atomic_int stage; /* 1: the lock is kept; 2: the worker is about to ask for it */
static atomic_int worker_tid,
	sender_tid; /* 0 until it is about to wait for its part of the request */

static void work(uint64_t ns)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ns)
		;
}

static void pass(uint64_t ns)
{
	struct timespec ts = {0, (long)ns};

	nanosleep(&ts, NULL);
}

static void await_stage(int n)
{
	while (stage < n)
		sched_yield();
}

/* Until this thread sleeps in the wait that it was about to begin: whoever comes to it late, on a busy machine, works meanwhile. */
static void await_asleep(atomic_int *tid)
{
	char path[64], line[512] = "";
	FILE *stat;

	for (char is = 'R'; is != 'S'; pass(100000)) {
		if (!*tid)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", *tid);
		stat = fopen(path, "r");
		if (!stat || !fgets(line, sizeof(line), stat) || !strrchr(line, ')'))
			abort();
		fclose(stat);
		is = strrchr(line, ')')[2];
	}
	*tid = 0;
}

static void *reader(void *arg)
{
	for (struct request *r = request_of; r < request_of + REQUESTS; r++) {
		pthread_barrier_wait(&turn);
		await_stage(1);
		await_asleep(&worker_tid);
		await_asleep(&sender_tid);
		r->begun_ns = now_ns();
		r->task = trace_task_begin("request", 0);
		work(1500000);
		r->handed_ns = now_ns();
		sem_post(&to_worker);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *worker(void *arg)
{
	for (struct request *r = request_of; r < request_of + REQUESTS; r++) {
		pthread_barrier_wait(&turn);
		worker_tid = gettid();
		while (sem_wait(&to_worker))
			;
		r->serves_ns = now_ns();
		trace_region_begin(r->task, "serve");
		work(1000000);
		stage = 2;
		r->asks_ns = now_ns();
		pthread_mutex_lock(&kept);
		work(2000000);
		pthread_mutex_unlock(&kept);
		pthread_mutex_lock(&state);
		is_ready = true;
		pthread_mutex_unlock(&state);
		r->signals_ns = now_ns();
		trace_region_end();
		pthread_cond_signal(&to_sender);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *keeper(void *arg)
{
	for (struct request *r = request_of; r < request_of + REQUESTS; r++) {
		pthread_barrier_wait(&turn);
		pthread_mutex_lock(&kept);
		stage = 1;
		await_stage(2);
		work(500000);
		r->sleeps_ns = now_ns();
		pass(3000000);
		r->slept_ns = now_ns();
		work(700000);
		r->unlocks_ns = now_ns();
		pthread_mutex_unlock(&kept);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *sender(void *arg)
{
	for (struct request *r = request_of; r < request_of + REQUESTS; r++) {
		pthread_barrier_wait(&turn);
		pthread_mutex_lock(&state);
		sender_tid = gettid();
		while (!is_ready)
			pthread_cond_wait(&to_sender, &state);
		is_ready = false;
		pthread_mutex_unlock(&state);
		r->sends_ns = now_ns();
		pass(2500000);
		r->sent_ns = now_ns();
		work(800000);
		trace_task_end(r->task);
		r->ended_ns = now_ns();
		stage = 0;
		pthread_barrier_wait(&turn);
	}
	return arg;
}

struct piece {
	const char *thread, *what;
	uint64_t from_ns, to_ns;
};

static void tell_pieces(const char *before, const struct request *r, const struct piece *piece,
			size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%td\t%s\t%s\t%ju\n", before, r - request_of + 1, piece[i].thread,
		       piece[i].what, (uintmax_t)(piece[i].to_ns - piece[i].from_ns));
}

static void tell(const struct request *r)
{
	const struct piece piece[] = {
		{"reader", "worked", r->begun_ns, r->handed_ns},
		{"worker", "worked", r->handed_ns, r->asks_ns},
		{"keeper", "worked", r->asks_ns, r->sleeps_ns},
		{"keeper", "slept", r->sleeps_ns, r->slept_ns},
		{"keeper", "worked", r->slept_ns, r->unlocks_ns},
		{"worker", "worked", r->unlocks_ns, r->signals_ns},
		{"sender", "worked", r->signals_ns, r->sends_ns},
		{"sender", "slept", r->sends_ns, r->sent_ns},
		{"sender", "worked", r->sent_ns, r->ended_ns},
	};
	const struct piece of_region[] = {
		{"worker", "worked", r->serves_ns, r->asks_ns},
		{"keeper", "worked", r->asks_ns, r->sleeps_ns},
		{"keeper", "slept", r->sleeps_ns, r->slept_ns},
		{"keeper", "worked", r->slept_ns, r->unlocks_ns},
		{"worker", "worked", r->unlocks_ns, r->signals_ns},
	};

	tell_pieces("", r, piece, sizeof(piece) / sizeof(*piece));
	tell_pieces("r", r, of_region, sizeof(of_region) / sizeof(*of_region));
}

int main(void)
{
	void *(*const runs[])(void *) = {reader, worker, keeper, sender};
	const char *const names[] = {"reader", "worker", "keeper", "sender"};
	pthread_t thread[4];

	sem_init(&to_worker, 0, 0);
	pthread_barrier_init(&turn, NULL, 4);
	for (int i = 0; i < 4; i++) {
		if (pthread_create(&thread[i], NULL, runs[i], NULL))
			return 1;
		pthread_setname_np(thread[i], names[i]);
	}
	/* The program lasts as long as the thread that is joined first, which ends the requests. */
	for (int i = 3; i >= 0; i--)
		pthread_join(thread[i], NULL);
	for (const struct request *r = request_of; r < request_of + REQUESTS; r++)
		tell(r);
	return fflush(stdout) ? 1 : 0;
}
