/*
 * stress_workers.h - threads that record as fast as they can, under the worst that may happen to
 * them: migration, and signals whose handlers record too.
 */
#ifndef TRC_TESTS_STRESS_WORKERS_H
#define TRC_TESTS_STRESS_WORKERS_H

#include <stdbool.h>

/* Who records: thread i is source i, its signal handler is source STRESS_THREADS + i. */
enum { STRESS_THREADS = 4, STRESS_SOURCES = 2 * STRESS_THREADS };

struct stress_plan {
	void (*record)(int source);
	int records; /* by each thread, signal handlers not counted */
	bool signals, migration;
};

/* Starts them; the plan is used until stress_join(). */
void stress_start(const struct stress_plan *plan);
/* True until all have done their records. */
bool stress_running(void);
void stress_join(void);

#endif
