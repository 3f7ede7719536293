/*
 * truth_futex.c - a lock of the program's own making on SYS_futex, as Rust's std has it, with an account of who
 * waited and who held it meanwhile; beside it a queue, a semaphore for two and a barrier, which are no locks.
 *
 * Output, separated by tabs: "waits", their total_ns twice; "hog", the part of that in which the thread `hog`
 * held the lock, at least and at most; "others", that in which another thread did.  A thread may lose its processor
 * between its clock and the release.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "truth.h"

enum { THREADS = 4, ROUNDS = 80, HELD_US = 300, HOG_HELD_US = 2000, POOL = 3, PERMITS = 2 };

struct span {
	uint64_t from_ns, to_ns;
};

/* A thread's waits for the lock, and its sections; its own until it has ended. */
struct account {
	struct span wait[ROUNDS], held[ROUNDS];
	uint64_t released_ns[ROUNDS];
	size_t n_waits;
	unsigned int held_us;
};

/* 0 = free, 1 = held, 2 = held, and others may wait. */
atomic_int the_lock;
/* Of the others: counts that only go up, or down to 0. */
atomic_int the_queue, the_permits = PERMITS, the_round, n_arrived;
static struct account account[THREADS];
static atomic_bool stop;

static long futex(atomic_int *word, int operation, int value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void lock_it(struct account *a)
{
	int seen = 0;
	uint64_t from_ns;

	if (atomic_compare_exchange_strong(&the_lock, &seen, 1))
		return;
	from_ns = now_ns();
	while (atomic_exchange(&the_lock, 2))
		futex(&the_lock, FUTEX_WAIT, 2);
	a->wait[a->n_waits++] = (struct span){from_ns, now_ns()};
}

static void unlock_it(void)
{
	if (atomic_exchange(&the_lock, 0) == 2)
		futex(&the_lock, FUTEX_WAKE, 1);
}

static void *worker(void *of)
{
	struct account *a = of;

	for (int i = 0; i < ROUNDS; i++) {
		lock_it(a);
		a->held[i].from_ns = now_ns();
		usleep(a->held_us);
		a->held[i].to_ns = now_ns();
		unlock_it();
		a->released_ns[i] = now_ns();
		usleep(50);
	}
	return NULL;
}

/* ---- what is no lock ---- */

/* Each takes what was put in, and puts in for another now and then. */
static void *taker(void *unused)
{
	for (int taken = 0; !stop; taken++) {
		int n = the_queue;

		if (!n) {
			futex(&the_queue, FUTEX_WAIT, 0);
		} else if (atomic_compare_exchange_strong(&the_queue, &n, n - 1)) {
			usleep(100);
			if (taken % 2) {
				the_queue++;
				futex(&the_queue, FUTEX_WAKE, 1);
			}
		}
	}
	return unused;
}

static void *permitted(void *unused)
{
	while (!stop) {
		int n = the_permits;

		if (!n) {
			futex(&the_permits, FUTEX_WAIT, 0);
		} else if (atomic_compare_exchange_strong(&the_permits, &n, n - 1)) {
			usleep(400);
			the_permits++;
			futex(&the_permits, FUTEX_WAKE, 1);
		}
	}
	return unused;
}

static void *arriver(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		int round = the_round;

		usleep(200);
		if (++n_arrived == POOL) {
			n_arrived = 0;
			the_round++;
			futex(&the_round, FUTEX_WAKE, POOL);
		}
		while (the_round == round)
			futex(&the_round, FUTEX_WAIT, round);
	}
	return unused;
}

/* ---- the account ---- */

static uint64_t common_ns(const struct span *a, const struct span *b)
{
	uint64_t from = a->from_ns > b->from_ns ? a->from_ns : b->from_ns;
	uint64_t to = a->to_ns < b->to_ns ? a->to_ns : b->to_ns;

	return to > from ? to - from : 0;
}

static void print_account(void)
{
	uint64_t waited_ns = 0, by_ns[2] = {0, 0}, by_most_ns[2] = {0, 0};

	for (int t = 0; t < THREADS; t++) {
		for (size_t i = 0; i < account[t].n_waits; i++) {
			waited_ns += account[t].wait[i].to_ns - account[t].wait[i].from_ns;
			for (int o = 0; o < THREADS; o++)
				for (int k = 0; k < ROUNDS; k++) {
					struct span most = {account[o].held[k].from_ns,
							    account[o].released_ns[k]};

					by_ns[o != 0] += common_ns(&account[t].wait[i],
								   &account[o].held[k]);
					by_most_ns[o != 0] += common_ns(&account[t].wait[i], &most);
				}
		}
	}
	printf("waits\t%" PRIu64 "\t%" PRIu64 "\n", waited_ns, waited_ns);
	for (int i = 0; i < 2; i++)
		printf("%s\t%" PRIu64 "\t%" PRIu64 "\n", i ? "others" : "hog", by_ns[i],
		       by_most_ns[i]);
}

int main(void)
{
	static void *(*const beside[])(void *) = {taker,     taker,   taker,   permitted, permitted,
						  permitted, permitted, arriver, arriver,   arriver};
	enum { BESIDE = sizeof(beside) / sizeof(*beside) };
	pthread_t thread[THREADS], other[BESIDE];

	for (int i = 0; i < BESIDE; i++)
		if (pthread_create(&other[i], NULL, beside[i], NULL))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		account[i].held_us = i ? HELD_US : HOG_HELD_US;
		if (pthread_create(&thread[i], NULL, worker, &account[i]))
			return 1;
		pthread_setname_np(thread[i], i ? "worker" : "hog");
	}
	for (int i = 0; i < ROUNDS; i++) {
		the_queue++;
		futex(&the_queue, FUTEX_WAKE, 1);
		usleep(1000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	stop = true;
	the_queue = the_permits = 1000;
	futex(&the_queue, FUTEX_WAKE, 1000);
	futex(&the_permits, FUTEX_WAKE, 1000);
	for (int i = 0; i < BESIDE; i++)
		pthread_join(other[i], NULL);
	print_account();
	return 0;
}
