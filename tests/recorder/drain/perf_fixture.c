/* perf_fixture.c - two threads that take turns. */
#include "perf_fixture.h"
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

sem_t ping, pong;
static _Atomic int turns;
static _Atomic uint32_t partner_tid;

void players_init(void)
{
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
}

/* Wakes and is woken. */
static void *partner(void *arg)
{
	atomic_store(&partner_tid, (uint32_t)gettid());
	while (sem_wait(&ping) == 0 && atomic_load(&turns) > 0)
		sem_post(&pong);
	return NULL;
}

void play(int n)
{
	for (atomic_store(&turns, n); atomic_load(&turns) > 0; atomic_fetch_sub(&turns, 1)) {
		sem_post(&ping);
		sem_wait(&pong);
	}
}

void stay_on(size_t proc)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(proc, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static cpu_set_t all_procs; /* empty: nobody plays yet */

static size_t first_proc(void)
{
	size_t proc = 0;

	while (proc < CPU_SETSIZE && !CPU_ISSET(proc, &all_procs))
		proc++;
	return proc;
}

void play_on_every_proc(void)
{
	for (size_t proc = 0; proc < CPU_SETSIZE; proc++) {
		if (!CPU_ISSET(proc, &all_procs))
			continue;
		stay_on(proc);
		play(TURNS);
	}
	stay_on(first_proc());
}

pthread_t start(uint32_t *tid)
{
	pthread_t thread;

	if (!CPU_COUNT(&all_procs))
		ck_assert_int_eq(sched_getaffinity(0, sizeof(all_procs), &all_procs), 0);
	stay_on(first_proc()); /* the new thread too */
	atomic_store(&partner_tid, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, partner, NULL), 0);
	while (!(*tid = atomic_load(&partner_tid)))
		sched_yield();
	return thread;
}

void stop(pthread_t thread)
{
	atomic_store(&turns, 0);
	sem_post(&ping);
	pthread_join(thread, NULL);
}

uint64_t oldest_of_any(const struct trc_perf *p)
{
	uint64_t oldest_ns = 0;

	for (uint32_t proc = 0; proc < 64; proc++)
		if (trc_perf_oldest_ns(p, proc) > oldest_ns)
			oldest_ns = trc_perf_oldest_ns(p, proc);
	return oldest_ns;
}
