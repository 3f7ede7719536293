/*
 * odd-moment.c - a server that is fine, except for 300 ms every now and then.
 *
 * Four workers answer requests, each of which looks something up in a cache.  Every few seconds
 * somebody evicts old entries, in cache_evict(), and holds the cache's lock for as long as it
 * takes.  The program knows nothing of trc; docs/odd-moment.md catches it in the act.
 *
 *   odd-moment [SECONDS [EVICT_EVERY_MS]]      default 10 and 3000
 *   odd-moment --deadlock                      two of its threads wait for each other, for ever
 *   odd-moment --crash                         reads through a pointer to nowhere after a second
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1 /* pthread_setname_np() */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, REQUEST_US = 500, EVICT_MS = 300 };

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t each_has_one; /* of the two locks */
static _Atomic uint64_t answered, slowest_ns;
static _Atomic bool stopping;
static unsigned int evict_every_ms = 3000;
static int *volatile nowhere;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void cache_lookup(void)
{
	pthread_mutex_lock(&cache_lock);
	usleep(10);
	pthread_mutex_unlock(&cache_lock);
}

static void request_answer(void)
{
	uint64_t began = now_ns(), took, slowest;

	usleep(REQUEST_US);
	cache_lookup();
	took = now_ns() - began;
	slowest = slowest_ns;
	while (took > slowest && !atomic_compare_exchange_weak(&slowest_ns, &slowest, took))
		;
	answered++;
}

static void *worker_main(void *unused)
{
	(void)unused;
	while (!stopping)
		request_answer();
	return NULL;
}

static void cache_evict(void)
{
	pthread_mutex_lock(&cache_lock);
	usleep(EVICT_MS * 1000);
	pthread_mutex_unlock(&cache_lock);
}

static void *evictor_main(void *unused)
{
	(void)unused;
	while (!stopping) {
		usleep(evict_every_ms * 1000);
		cache_evict();
	}
	return NULL;
}

/* ---- two ways to end badly --------------------------------------------------------------- */

static void *index_main(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&index_lock);
	pthread_barrier_wait(&each_has_one);
	cache_lookup(); /* cache after index; cache_reindex() does it the other way round */
	pthread_mutex_unlock(&index_lock);
	return NULL;
}

static void cache_reindex(void)
{
	pthread_mutex_lock(&cache_lock);
	pthread_barrier_wait(&each_has_one);
	pthread_mutex_lock(&index_lock);
	pthread_mutex_unlock(&index_lock);
	pthread_mutex_unlock(&cache_lock);
}

static void entry_free(void)
{
	sleep(1);
	*nowhere = 1;
}

static void start(pthread_t *thread, const char *name, void *(*main)(void *))
{
	pthread_create(thread, NULL, main, NULL);
	pthread_setname_np(*thread, name);
}

int main(int argc, char **argv)
{
	bool deadlock = argc > 1 && !strcmp(argv[1], "--deadlock");
	bool crash = argc > 1 && !strcmp(argv[1], "--crash");
	pthread_t worker[WORKERS], evictor, indexer;
	char name[16];

	if (argc > 2)
		evict_every_ms = (unsigned int)atoi(argv[2]);
	for (int i = 0; i < WORKERS; i++) {
		snprintf(name, sizeof(name), "worker %d", i);
		start(&worker[i], name, worker_main);
	}
	start(&evictor, "evictor", evictor_main);
	if (deadlock) {
		pthread_barrier_init(&each_has_one, NULL, 2);
		start(&indexer, "indexer", index_main);
		cache_reindex();
	}
	if (crash)
		entry_free();
	sleep(argc > 1 ? (unsigned int)atoi(argv[1]) : 10);
	stopping = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
	pthread_join(evictor, NULL);
	printf("%llu requests, the slowest took %.1f ms\n", (unsigned long long)answered,
	       (double)slowest_ns / 1e6);
	return 0;
}
