/*
 * rust_lock.c - locks as Rust's std makes them, in functions with the linker's names of Rust's
 * std, in both of its ways to write them, and one as C++ has it for the initialization of a static variable: each is
 * held by one thread, and another one waits.
 * Beside them a count that a thread waits for in a function of the program's own, which is no
 * lock.
 *
 * Output, separated by tabs: the name of each lock, and for how long a thread waited for it by
 * its own clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "truth.h"

enum { ROUNDS = 40, HELD_US = 4000, BETWEEN_US = 1000 };

/* 0 = free, 1 = held, 2 = held, and others may wait. */
atomic_int table_lock, config_lock, static_guard, lazy_state;
atomic_int the_count;

void lock_contended(atomic_int *lock) __asm__(
	"_RNvMNtNtNtNtCs1_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended");
void write_contended(atomic_int *lock) __asm__(
	"_ZN3std3sys4sync6rwlock5futex6RwLock15write_contended17h0123456789abcdefE");

void guard_acquire(atomic_int *guard) __asm__("__cxa_guard_acquire");
void once_call(atomic_int *state) __asm__("_RNvMs_NtNtNtNtCs1_3std3sys4sync4once5futexNtB4_4Once4call");

static long futex(atomic_int *word, int operation, int value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

__attribute__((noinline)) void lock_contended(atomic_int *lock)
{
	while (atomic_exchange(lock, 2))
		futex(lock, FUTEX_WAIT, 2);
}

__attribute__((noinline)) void write_contended(atomic_int *lock)
{
	while (atomic_exchange(lock, 2))
		futex(lock, FUTEX_WAIT, 2);
}

__attribute__((noinline)) void guard_acquire(atomic_int *guard)
{
	while (atomic_exchange(guard, 2))
		futex(guard, FUTEX_WAIT, 2);
}

__attribute__((noinline)) void once_call(atomic_int *state)
{
	while (atomic_exchange(state, 2))
		futex(state, FUTEX_WAIT, 2);
}

static void lock_it(atomic_int *lock)
{
	int seen = 0;

	if (atomic_compare_exchange_strong(lock, &seen, 1))
		return;
	if (lock == &table_lock)
		lock_contended(lock);
	else if (lock == &static_guard)
		guard_acquire(lock);
	else if (lock == &lazy_state)
		once_call(lock);
	else
		write_contended(lock);
}

static void unlock_it(atomic_int *lock)
{
	if (atomic_exchange(lock, 0) == 2)
		futex(lock, FUTEX_WAKE, 1);
}

static void *holder(void *of)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock_it(of);
		usleep(HELD_US);
		unlock_it(of);
		usleep(BETWEEN_US);
	}
	return NULL;
}

/* Hardly holds the lock. */
static uint64_t want(atomic_int *lock)
{
	uint64_t waited_ns = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begin_ns = now_ns();

		lock_it(lock);
		waited_ns += now_ns() - begin_ns;
		unlock_it(lock);
		usleep(BETWEEN_US);
	}
	return waited_ns;
}

static void *wants_config(void *result)
{
	*(uint64_t *)result = want(&config_lock);
	return NULL;
}

static void *wants_static(void *result)
{
	*(uint64_t *)result = want(&static_guard);
	return NULL;
}

static void *wants_lazy(void *result)
{
	*(uint64_t *)result = want(&lazy_state);
	return NULL;
}

/* One thread counts, and another one waits for each number. */
static void *counts(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		usleep(BETWEEN_US);
		the_count++;
		futex(&the_count, FUTEX_WAKE, 1);
	}
	return unused;
}

static void *waits_for_count(void *unused)
{
	for (int seen = 0; seen < ROUNDS; seen = the_count)
		futex(&the_count, FUTEX_WAIT, seen);
	return unused;
}

int main(void)
{
	pthread_t thread[9];
	uint64_t table_ns, config_ns, static_ns, lazy_ns;

	if (pthread_create(&thread[0], NULL, holder, &table_lock) ||
	    pthread_create(&thread[1], NULL, holder, &config_lock) ||
	    pthread_create(&thread[2], NULL, wants_config, &config_ns) ||
	    pthread_create(&thread[5], NULL, holder, &static_guard) ||
	    pthread_create(&thread[6], NULL, wants_static, &static_ns) ||
	    pthread_create(&thread[7], NULL, holder, &lazy_state) ||
	    pthread_create(&thread[8], NULL, wants_lazy, &lazy_ns) ||
	    pthread_create(&thread[3], NULL, counts, NULL) ||
	    pthread_create(&thread[4], NULL, waits_for_count, NULL))
		return 1;
	table_ns = want(&table_lock);
	for (int i = 0; i < 9; i++)
		pthread_join(thread[i], NULL);
	printf("table_lock\t%" PRIu64 "\nconfig_lock\t%" PRIu64 "\nstatic_guard\t%" PRIu64 "\nlazy_state\t%" PRIu64 "\n",
	       table_ns, config_ns, static_ns, lazy_ns);
	return 0;
}
