/*
 * concurrent.c - ten functions that do the same, each on a thread of its own: 10 % each.
 *
 *   concurrent [THOUSANDS_OF_ROUNDS]    of each thread
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "work.h"
#include <pthread.h>

enum { THREADS = 10 };

WORK_FUNCTION(f1)
WORK_FUNCTION(f2)
WORK_FUNCTION(f3)
WORK_FUNCTION(f4)
WORK_FUNCTION(f5)
WORK_FUNCTION(f6)
WORK_FUNCTION(f7)
WORK_FUNCTION(f8)
WORK_FUNCTION(f9)
WORK_FUNCTION(f10)

static struct work work[THREADS] = {
	{"f1", f1, 0}, {"f2", f2, 0}, {"f3", f3, 0}, {"f4", f4, 0}, {"f5", f5, 0},
	{"f6", f6, 0}, {"f7", f7, 0}, {"f8", f8, 0}, {"f9", f9, 0}, {"f10", f10, 0},
};
static uint64_t rounds;

static void *run(void *arg)
{
	return (void *)(uintptr_t)(work_do(arg, 1, rounds) | 1);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	rounds = work_rounds(argc, argv, 200000);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, &work[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	work_print(work, THREADS);
	return 0;
}
