/*
 * soak.c - a busy program that counts what it records, for as long as it is told to.
 *
 *   soak SECONDS TRACE    records itself into TRACE, with small rings
 *
 * Threads come and go; each counts, logs, nests regions and fights for two locks, while a timer's
 * signal handler counts as well.  Prints what was emitted, one line a kind: "counters", "logs",
 * "regions", "tasks", "threads", each with its number; and "rss_kb" early and at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <trc/trace.h>

enum { WORKERS = 6, ROUNDS = 200, LOGS_EVERY = 16, RING_BYTES = 1 << 20 };

static atomic_uint_fast64_t counters, logs, regions, tasks, threads;
static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile uint64_t shared[2]; /* each guarded by its lock */
static atomic_bool stopping;

static void on_signal(int sig)
{
	(void)sig;
	trace_counter_set("from a signal handler", 1);
	counters++;
}

static void round_of(uint32_t number)
{
	TRACE_REGION("round");
	trace_task task = trace_task_begin("round", 0);
	uint32_t which = number % 2;

	regions++;
	tasks++;
	pthread_mutex_lock(&lock[which]);
	for (int i = 0; i < 3000; i++)
		shared[which] += number;
	pthread_mutex_unlock(&lock[which]);
	trace_counter_set("rounds", number);
	counters++;
	if (number % LOGS_EVERY == 0) {
		trace_logf(task, "soak", "round %u", number);
		logs++;
	}
	trace_task_end(task);
}

static void *worker_main(void *arg)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		round_of(i);
	return arg;
}

/* A worker slot: one short-lived thread after the other. */
static void *slot_main(void *arg)
{
	while (!stopping) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, worker_main, NULL))
			exit(1);
		threads++;
		pthread_join(thread, NULL);
	}
	return arg;
}

static long rss_kb(void)
{
	long kb = -1;
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kb;
}

static void signals_begin(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 1000}, {0, 1000}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void signals_end(void)
{
	struct itimerval never;

	memset(&never, 0, sizeof(never));
	setitimer(ITIMER_REAL, &never, NULL);
}

static void run_for(unsigned int seconds)
{
	struct timespec ts = {.tv_sec = seconds};
	pthread_t slot[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		if (pthread_create(&slot[i], NULL, slot_main, NULL))
			exit(1);
	}
	signals_begin();
	while (nanosleep(&ts, &ts))
		;
	signals_end();
	stopping = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(slot[i], NULL);
}

int main(int argc, char **argv)
{
	struct trace_options options = TRACE_OPTIONS_INIT;
	int seconds = argc == 3 ? atoi(argv[1]) : 0;
	long early_kb;

	if (seconds < 2) {
		fprintf(stderr, "usage: soak SECONDS TRACE (at least 2 seconds)\n");
		return 2;
	}
	options.ring_bytes = RING_BYTES;
	if (trace_start(argv[2], &options)) {
		fprintf(stderr, "soak: %s\n", trace_last_error());
		return 1;
	}
	run_for(1);
	early_kb = rss_kb();
	stopping = false;
	run_for((unsigned int)seconds - 1);
	printf("rss_kb\t%ld\t%ld\n", early_kb, rss_kb());
	if (trace_stop()) {
		fprintf(stderr, "soak: %s\n", trace_last_error());
		return 1;
	}
	printf("counters\t%ju\nlogs\t%ju\nregions\t%ju\ntasks\t%ju\nthreads\t%ju\n",
	       (uintmax_t)counters, (uintmax_t)logs, (uintmax_t)regions, (uintmax_t)tasks,
	       (uintmax_t)threads);
	return 0;
}
