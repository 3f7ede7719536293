/*
 * lock_order.c - takes locks in orders of which some could be a deadlock; none ever is, as the threads of
 * a pair run one after the other, each until the other one has been there.
 *
 * Output: for each pair of locks that a thread took, one inside the other, how often: "HELD TAKEN TIMES".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "check_or_exit.h"

enum { TIMES = 5 };

/* Both orders, in two threads: the one that could be a deadlock. */
pthread_mutex_t both_a = PTHREAD_MUTEX_INITIALIZER, both_b = PTHREAD_MUTEX_INITIALIZER;
/* Both orders, behind a third lock. */
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, gated_a = PTHREAD_MUTEX_INITIALIZER,
		gated_b = PTHREAD_MUTEX_INITIALIZER;
/* Both orders, one of them by trylock. */
pthread_mutex_t tried_a = PTHREAD_MUTEX_INITIALIZER, tried_b = PTHREAD_MUTEX_INITIALIZER;
/* Both orders, all to read. */
pthread_rwlock_t read_a = PTHREAD_RWLOCK_INITIALIZER, read_b = PTHREAD_RWLOCK_INITIALIZER;
/* One to read, the other to write: could be a deadlock. */
pthread_rwlock_t mixed_a = PTHREAD_RWLOCK_INITIALIZER, mixed_b = PTHREAD_RWLOCK_INITIALIZER;
/* A circle of three threads. */
pthread_mutex_t ring_a = PTHREAD_MUTEX_INITIALIZER, ring_b = PTHREAD_MUTEX_INITIALIZER,
		ring_c = PTHREAD_MUTEX_INITIALIZER;
/* Both orders in one thread. */
pthread_mutex_t alone_a = PTHREAD_MUTEX_INITIALIZER, alone_b = PTHREAD_MUTEX_INITIALIZER;
/* One order before the thread of the other began. */
pthread_mutex_t early_a = PTHREAD_MUTEX_INITIALIZER, early_b = PTHREAD_MUTEX_INITIALIZER;
/* A recursive lock that is taken again inside of another. */
pthread_mutex_t again_a, again_b = PTHREAD_MUTEX_INITIALIZER;

static pthread_barrier_t all_there, all_done;

#define TAKE_IN(outer, inner)                                                                      \
	do {                                                                                       \
		pthread_mutex_lock(&outer);                                                        \
		pthread_mutex_lock(&inner);                                                        \
		pthread_mutex_unlock(&inner);                                                      \
		pthread_mutex_unlock(&outer);                                                      \
	} while (0)

static void take_one_way(void)
{
	TAKE_IN(both_a, both_b);
	pthread_mutex_lock(&gate);
	TAKE_IN(gated_a, gated_b);
	pthread_mutex_unlock(&gate);
	TAKE_IN(tried_a, tried_b);
	pthread_rwlock_rdlock(&read_a);
	pthread_rwlock_rdlock(&read_b);
	pthread_rwlock_unlock(&read_b);
	pthread_rwlock_unlock(&read_a);
	pthread_rwlock_rdlock(&mixed_a);
	pthread_rwlock_wrlock(&mixed_b);
	pthread_rwlock_unlock(&mixed_b);
	pthread_rwlock_unlock(&mixed_a);
	TAKE_IN(ring_a, ring_b);
	TAKE_IN(alone_a, alone_b);
	TAKE_IN(alone_b, alone_a);
	pthread_mutex_lock(&again_a);
	pthread_mutex_lock(&again_b);
	pthread_mutex_lock(&again_a);
	pthread_mutex_unlock(&again_a);
	pthread_mutex_unlock(&again_b);
	pthread_mutex_unlock(&again_a);
}

static void take_other_way(void)
{
	TAKE_IN(both_b, both_a);
	pthread_mutex_lock(&gate);
	TAKE_IN(gated_b, gated_a);
	pthread_mutex_unlock(&gate);
	pthread_mutex_lock(&tried_b);
	CHECK(!pthread_mutex_trylock(&tried_a));
	pthread_mutex_unlock(&tried_a);
	pthread_mutex_unlock(&tried_b);
	pthread_rwlock_rdlock(&read_b);
	pthread_rwlock_rdlock(&read_a);
	pthread_rwlock_unlock(&read_a);
	pthread_rwlock_unlock(&read_b);
	pthread_rwlock_rdlock(&mixed_b);
	pthread_rwlock_wrlock(&mixed_a);
	pthread_rwlock_unlock(&mixed_a);
	pthread_rwlock_unlock(&mixed_b);
	TAKE_IN(ring_b, ring_c);
	TAKE_IN(early_b, early_a);
	pthread_mutex_lock(&again_a);
	pthread_mutex_lock(&again_b);
	pthread_mutex_unlock(&again_b);
	pthread_mutex_unlock(&again_a);
}

static void take_third_way(void)
{
	TAKE_IN(ring_c, ring_a);
}

static void (*const WAYS[])(void) = {take_one_way, take_other_way, take_third_way};
enum { WAYS_N = 3 };

/* The threads take turns, all of them alive meanwhile. */
static void *thread_main(void *number)
{
	int own = *(const int *)number;

	pthread_barrier_wait(&all_there);
	for (int turn = 0; turn < TIMES * WAYS_N; turn++) {
		if (turn % WAYS_N == own)
			WAYS[own]();
		pthread_barrier_wait(&all_done);
	}
	return NULL;
}

static void tell(const char *pair, int times)
{
	printf("%s %d\n", pair, times);
}

int main(void)
{
	static const int number[WAYS_N] = {0, 1, 2};
	static const char *const pairs[] = {
		"both_a both_b",   "both_b both_a",   "gate gated_a",	"gate gated_b",
		"gated_a gated_b", "gated_b gated_a", "tried_a tried_b", "read_a read_b",
		"read_b read_a",   "mixed_a mixed_b", "mixed_b mixed_a", "ring_a ring_b",
		"ring_b ring_c",   "ring_c ring_a",   "alone_a alone_b", "alone_b alone_a",
		"early_b early_a",
	};
	pthread_mutexattr_t recursive;
	pthread_t thread[WAYS_N];

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&again_a, &recursive);
	pthread_barrier_init(&all_there, NULL, WAYS_N);
	pthread_barrier_init(&all_done, NULL, WAYS_N);
	TAKE_IN(early_a, early_b);
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	for (int i = 0; i < WAYS_N; i++)
		CHECK(!pthread_create(&thread[i], NULL, thread_main, (void *)&number[i]));
	for (int i = 0; i < WAYS_N; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		/* The gate is held twice in each round: once for each way. */
		tell(pairs[i], strncmp(pairs[i], "gate ", 5) ? TIMES : 2 * TIMES);
	tell("again_a again_b", 2 * TIMES);
	tell("early_a early_b", 1);
	return 0;
}
