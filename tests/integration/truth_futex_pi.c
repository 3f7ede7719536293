/*
 * truth_futex_pi.c - a lock of the program's own making with priority inheritance, FUTEX_LOCK_PI, with an account
 * of who waited for whom.
 *
 * In each round one of two threads holds the lock until the kernel says that the other waits for it.  Output, a line
 * for each round, separated by tabs: who waited, who held the lock, for how many nanoseconds it waited at least
 * (from when the kernel has said so up to the release) and at most (the call).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 24, HELD_US = 2000 };

/* 0 = free; the owner's thread id; the kernel adds FUTEX_WAITERS. */
_Atomic uint32_t the_lock;
static atomic_int holds_now = -1; /* the round in which the lock is held */
static pthread_barrier_t round_ended;

static struct round {
	uint32_t waiter, holder;
	uint64_t waits_ns, released_ns, from_ns, to_ns;
} rounds[ROUNDS];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static bool lock_it(void)
{
	uint32_t seen = 0;

	return atomic_compare_exchange_strong(&the_lock, &seen, own_tid()) ||
	       syscall(SYS_futex, &the_lock, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0) == 0;
}

static bool unlock_it(void)
{
	uint32_t seen = own_tid();

	return atomic_compare_exchange_strong(&the_lock, &seen, 0) ||
	       syscall(SYS_futex, &the_lock, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0) == 0;
}

/* In no order that a reader could guess. */
static bool first_holds(int i)
{
	return 0x5c936a >> i & 1;
}

static bool hold(int i)
{
	struct round *r = &rounds[i];

	r->holder = own_tid();
	if (!lock_it())
		return false;
	holds_now = i;
	while (!(the_lock & FUTEX_WAITERS))
		sched_yield();
	r->waits_ns = now_ns();
	usleep(HELD_US);
	r->released_ns = now_ns();
	return unlock_it();
}

static bool wait_for(int i)
{
	struct round *r = &rounds[i];

	while (holds_now != i)
		sched_yield();
	r->waiter = own_tid();
	r->from_ns = now_ns();
	if (!lock_it())
		return false;
	r->to_ns = now_ns();
	return unlock_it();
}

/* A thread that failed would keep the other one waiting. */
static void *play(void *is_first)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (!(first_holds(i) == (is_first != NULL) ? hold(i) : wait_for(i)))
			exit(3);
		pthread_barrier_wait(&round_ended);
	}
	return NULL;
}

/* What is no address is refused as by the kernel alone. */
static bool refused(const void *word)
{
	errno = 0;
	return syscall(SYS_futex, word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0) == -1 &&
	       errno != 0;
}

int main(void)
{
	static int first;
	pthread_t thread;

	if (!refused((void *)8) || !refused((void *)(uintptr_t)-8) ||
	    !refused((char *)&the_lock + 1))
		return 2;
	pthread_barrier_init(&round_ended, NULL, 2);
	if (pthread_create(&thread, NULL, play, NULL))
		return 1;
	play(&first);
	pthread_join(thread, NULL);
	for (int i = 0; i < ROUNDS; i++)
		printf("%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\n", rounds[i].waiter,
		       rounds[i].holder, rounds[i].released_ns - rounds[i].waits_ns,
		       rounds[i].to_ns - rounds[i].from_ns);
	return 0;
}
