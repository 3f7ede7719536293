/*
 * truth_wait_times.c - waits at places of their own, each measured by the thread that waits.
 *
 *   truth_wait_times
 *
 * Prints a line for each wait: the function that it is in, its nanoseconds by the program's own clock, read just
 * before and just after the call, and how often the kernel took the thread's processor away meanwhile; separated by
 * tabs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>
#include "tests/bench/bench.h"

enum { ROUNDS = 400 };

/* What a wait is for: made true by the helper, a known time after the other thread is about to wait. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int pipe_fd[2];
static bool signalled;

/* Rounds: of the helper, once it holds the mutex; of the other thread, before it waits and after. */
static atomic_uint ready, going, done;

static void spin_us(uint64_t us)
{
	uint64_t until_ns = bench_now_ns() + us * 1000;

	while (bench_now_ns() < until_ns)
		;
}

static void spin_until(atomic_uint *word, unsigned int value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		sched_yield();
}

static void mutex_before(void)
{
	pthread_mutex_lock(&mutex);
}
static void mutex_after(void)
{
	pthread_mutex_unlock(&mutex);
}
static void nothing(void)
{
}
static void sem_after(void)
{
	sem_post(&sem);
}
static void pipe_after(void)
{
	while (write(pipe_fd[1], "x", 1) != 1)
		;
}
static void cond_after(void)
{
	pthread_mutex_lock(&mutex);
	signalled = true;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
}

/* Of the calling thread, until now: without its own waits. */
static long times_preempted(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

/* Each place of waiting.  The clock is read in the function that waits, right around the call. */
#define PLACE(name, prepare, call, finish)                                                         \
	__attribute__((noinline)) static uint64_t name(void)                                       \
	{                                                                                          \
		uint64_t from_ns, ns;                                                              \
                                                                                                   \
		prepare;                                                                           \
		from_ns = bench_now_ns();                                                          \
		call;                                                                              \
		ns = bench_now_ns() - from_ns;                                                     \
		finish;                                                                            \
		return ns;                                                                         \
	}

static void lock_and_go(void)
{
	pthread_mutex_lock(&mutex);
	signalled = false;
}
static char byte;

PLACE(site_mutex_20us, , pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
PLACE(site_mutex_100us, , pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
PLACE(site_mutex_1ms, , pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
PLACE(site_sem_20us, , sem_wait(&sem), )
PLACE(site_sem_100us, , sem_wait(&sem), )
PLACE(site_cond_100us, lock_and_go(), while (!signalled) pthread_cond_wait(&cond, &mutex),
      pthread_mutex_unlock(&mutex))
PLACE(site_read_20us, , while (read(pipe_fd[0], &byte, 1) != 1), )
PLACE(site_read_100us, , while (read(pipe_fd[0], &byte, 1) != 1), )
PLACE(site_sleep_60us, , nanosleep(&(struct timespec){0, 60000}, NULL), )
PLACE(site_sleep_1ms, , nanosleep(&(struct timespec){0, 1000000}, NULL), )
PLACE(site_poll_1ms, , poll(NULL, 0, 1), )

static const struct place {
	const char *name;
	uint64_t (*wait)(void);
	void (*before)(void), (*after)(void); /* by the helper; NULL: it has no part in it */
	uint64_t us;
} PLACES[] = {
	{"site_mutex_20us", site_mutex_20us, mutex_before, mutex_after, 20},
	{"site_mutex_100us", site_mutex_100us, mutex_before, mutex_after, 100},
	{"site_mutex_1ms", site_mutex_1ms, mutex_before, mutex_after, 1000},
	{"site_sem_20us", site_sem_20us, nothing, sem_after, 20},
	{"site_sem_100us", site_sem_100us, nothing, sem_after, 100},
	{"site_cond_100us", site_cond_100us, nothing, cond_after, 100},
	{"site_read_20us", site_read_20us, nothing, pipe_after, 20},
	{"site_read_100us", site_read_100us, nothing, pipe_after, 100},
	{"site_sleep_60us", site_sleep_60us, NULL, NULL, 0},
	{"site_sleep_1ms", site_sleep_1ms, NULL, NULL, 0},
	{"site_poll_1ms", site_poll_1ms, NULL, NULL, 0},
};

static void *help(void *arg)
{
	const struct place *place = arg;

	for (unsigned int round = 1; round <= ROUNDS; round++) {
		place->before();
		atomic_store_explicit(&ready, round, memory_order_release);
		spin_until(&going, round);
		spin_us(place->us);
		place->after();
		spin_until(&done, round);
	}
	return NULL;
}

static void measure(const struct place *place)
{
	static uint64_t ns[ROUNDS];
	static long preempted[ROUNDS];
	pthread_t helper;

	ready = going = done = 0;
	if (place->after && pthread_create(&helper, NULL, help, (void *)place))
		exit(1);
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		if (place->after)
			spin_until(&ready, round);
		atomic_store_explicit(&going, round, memory_order_release);
		preempted[round - 1] = times_preempted();
		ns[round - 1] = place->wait();
		preempted[round - 1] = times_preempted() - preempted[round - 1];
		atomic_store_explicit(&done, round, memory_order_release);
	}
	if (place->after)
		pthread_join(helper, NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		printf("%s\t%llu\t%ld\n", place->name, (unsigned long long)ns[i], preempted[i]);
}

int main(void)
{
	if (sem_init(&sem, 0, 0) || pipe(pipe_fd))
		return 1;
	for (size_t i = 0; i < sizeof(PLACES) / sizeof(*PLACES); i++)
		measure(&PLACES[i]);
	return 0;
}
