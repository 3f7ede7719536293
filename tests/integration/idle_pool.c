/*
 * idle_pool.c - threads that wait at two places each.
 *
 *   two of a pool      wait for a job with a time limit, in get_job(), and look at a timer, in look_around(), by poll();
 *                      there never is a job
 *   one like these     whose poll, in take_input(), always finds something that the main thread has written: a
 *                      fourth of its time
 *   one that works     waits for a job for three fourths of its time, and then sleeps, in work()
 *
 * The main thread sleeps in between, and is idle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4, PART_MS = 100, POOL = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t job = PTHREAD_COND_INITIALIZER, other_job = PTHREAD_COND_INITIALIZER,
		      third_job = PTHREAD_COND_INITIALIZER;
static int input[2];

static struct timespec after_ms(clockid_t clock, long ms)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_nsec += ms * 1000000;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

/* Each call is one place: clang makes as many of these loops as they have rounds. */
#ifdef __clang__
#define ONE_BODY _Pragma("clang loop unroll(disable)")
#else
#define ONE_BODY
#endif

__attribute__((noinline)) static void get_job(pthread_cond_t *cond)
{
	struct timespec until = after_ms(CLOCK_REALTIME, PART_MS);

	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(cond, &mutex, &until);
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void look_around(void)
{
	poll(NULL, 0, PART_MS);
	__asm__ volatile("");
}

__attribute__((noinline)) static void take_input(void)
{
	struct pollfd fd = {.fd = input[0], .events = POLLIN};
	char byte;

	if (poll(&fd, 1, 100 * PART_MS) == 1 && read(input[0], &byte, 1) == 1)
		__asm__ volatile("");
}

__attribute__((noinline)) static void work(void)
{
	const struct timespec ts = {0, PART_MS * 1000000};

	nanosleep(&ts, NULL);
	__asm__ volatile("");
}

static void *pool(void *unused)
{
	ONE_BODY
	for (int i = 0; i < 2 * ROUNDS; i++) {
		get_job(&job);
		look_around();
	}
	return unused;
}

static void *reader(void *unused)
{
	ONE_BODY
	for (int i = 0; i < ROUNDS; i++) {
		get_job(&other_job);
		get_job(&other_job);
		get_job(&other_job);
		take_input();
	}
	return unused;
}

static void *worker(void *unused)
{
	ONE_BODY
	for (int i = 0; i < ROUNDS; i++) {
		get_job(&third_job);
		get_job(&third_job);
		get_job(&third_job);
		work();
	}
	return unused;
}

int main(void)
{
	static void *(*const BODY[])(void *) = {pool, pool, reader, worker};
	static const char *const NAMES[] = {"pool", "pool", "reader", "worker"};
	pthread_t thread[POOL + 2];

	if (pipe(input))
		return 1;
	for (int i = 0; i < POOL + 2; i++) {
		if (pthread_create(&thread[i], NULL, BODY[i], NULL))
			return 1;
		pthread_setname_np(thread[i], NAMES[i]);
	}
	ONE_BODY
	for (int i = 0; i < ROUNDS; i++) {
		/* The reader waits for input for less time than at each of its other places. */
		const struct timespec ts = {0, 36 * PART_MS / 10 * 1000000};

		nanosleep(&ts, NULL);
		if (write(input[1], "x", 1) != 1)
			return 1;
	}
	for (int i = 0; i < POOL + 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
