/* perf_fixture.h - two threads that take turns, and what the tests of perf's buffers share. */
#ifndef TRC_TESTS_PERF_FIXTURE_H
#define TRC_TESTS_PERF_FIXTURE_H

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/drain/perf_buffer_private.h"

enum { TURNS = 200, FLOOD_TURNS = 60000 };

/* Parts of the suite, in files of their own. */
void perf_samples(TCase *t);
void perf_by_hand(TCase *t);
void perf_deferred(TCase *t);

/* A thread that takes turns with its caller: both on one proc, so that each turn is a switch of
 * each of the two, however busy the machine is. */
extern sem_t ping, pong;
void players_init(void);
pthread_t start(uint32_t *tid);
void stop(pthread_t thread);
void play(int n);
/* What a proc had no room for is told with its next record that finds room: some for each proc. */
void play_on_every_proc(void);
/* The calling thread, and those that it creates from now on. */
void stay_on(size_t proc);

/* Of the proc that goes back least; 0 = all have everything. */
uint64_t oldest_of_any(const struct trc_perf *p);

#endif
