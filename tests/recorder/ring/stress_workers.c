/* stress_workers.c - see stress_workers.h */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "stress_workers.h"

static const struct stress_plan *plan;
static __thread int thread_number = -1;
static pthread_t worker[STRESS_THREADS], pest;
static _Atomic int running;

static void on_signal(int sig)
{
	if (thread_number >= 0)
		plan->record(STRESS_THREADS + thread_number);
}

static void move_somewhere(unsigned int *seed)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)rand_r(seed) % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *work(void *arg)
{
	int number = (int)(intptr_t)arg;
	unsigned int seed = (unsigned int)number;

	thread_number = number;
	for (int i = 0; i < plan->records; i++) {
		plan->record(number);
		if (plan->migration && i % 64 == 0)
			move_somewhere(&seed);
	}
	thread_number = -1;
	running--;
	return NULL;
}

/* Signals every worker as fast as it can. */
static void *pester(void *arg)
{
	while (running > 0) {
		const struct timespec pause = {0, 20000};

		for (int i = 0; i < STRESS_THREADS; i++)
			pthread_kill(worker[i], SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

void stress_start(const struct stress_plan *wanted)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	plan = wanted;
	sigaction(SIGUSR1, &action, NULL);
	running = STRESS_THREADS;
	for (int i = 0; i < STRESS_THREADS; i++)
		pthread_create(&worker[i], NULL, work, (void *)(intptr_t)i);
	if (plan->signals)
		pthread_create(&pest, NULL, pester, NULL);
}

bool stress_running(void)
{
	return running > 0;
}

void stress_join(void)
{
	if (plan->signals)
		pthread_join(pest, NULL);
	for (int i = 0; i < STRESS_THREADS; i++)
		pthread_join(worker[i], NULL);
}
