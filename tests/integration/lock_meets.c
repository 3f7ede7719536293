/*
 * lock_meets.c - waits for threads that could be deadlocks, and are none:
 *
 *   the main thread waits for the end of `saver` while it holds config_lock, which the saver has taken before;
 *   `painter` comes to the barrier frame while it holds canvas_lock, which `brush` has taken before it came there;
 *   and two that could not: the main thread waits for `reader`, which only tries config_lock, while it holds that, and for
 *   `saver` while it holds own_lock, which the saver never takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include "check_or_exit.h"

pthread_mutex_t config_lock = PTHREAD_MUTEX_INITIALIZER, own_lock = PTHREAD_MUTEX_INITIALIZER,
		canvas_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t frame;
static atomic_int joins; /* which thread the main thread is about to join, 0 = none */
enum { SAVER = 1, READER };
static atomic_int taken;

static void nap(void)
{
	const struct timespec ts = {0, 1000000};

	nanosleep(&ts, NULL);
}

/* Until the main thread waits for this one. */
static void until_joined(int which)
{
	char text[512];

	for (char state = 'R'; state != 'S'; nap()) {
		int fd;
		ssize_t n;

		if (joins != which)
			continue;
		snprintf(text, sizeof(text), "/proc/self/task/%d/stat", (int)getpid());
		fd = open(text, O_RDONLY);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		CHECK(n > 0);
		text[n] = '\0';
		state = strrchr(text, ')')[2];
	}
}

static void *saver(void *unused)
{
	pthread_setname_np(pthread_self(), "saver");
	pthread_mutex_lock(&config_lock);
	pthread_mutex_unlock(&config_lock);
	taken++;
	until_joined(SAVER);
	return unused;
}

static void *reader(void *unused)
{
	pthread_setname_np(pthread_self(), "reader");
	if (!pthread_mutex_trylock(&config_lock))
		pthread_mutex_unlock(&config_lock);
	taken++;
	until_joined(READER);
	return unused;
}

static void *brush(void *unused)
{
	pthread_setname_np(pthread_self(), "brush");
	pthread_mutex_lock(&canvas_lock);
	pthread_mutex_unlock(&canvas_lock);
	taken++;
	pthread_barrier_wait(&frame);
	return unused;
}

static void *painter(void *unused)
{
	pthread_setname_np(pthread_self(), "painter");
	while (taken < 3)
		nap();
	pthread_mutex_lock(&canvas_lock);
	pthread_barrier_wait(&frame);
	pthread_mutex_unlock(&canvas_lock);
	return unused;
}

__attribute__((noinline)) static void join_holding(pthread_mutex_t *lock, pthread_t thread, int which)
{
	pthread_mutex_lock(lock);
	joins = which;
	CHECK(!pthread_join(thread, NULL));
	joins = 0;
	pthread_mutex_unlock(lock);
}

static pthread_t begin(void *(*body)(void *))
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, body, NULL));
	return thread;
}

int main(void)
{
	pthread_t thread[5];

	CHECK(!pthread_barrier_init(&frame, NULL, 2));
	thread[0] = begin(saver);
	thread[1] = begin(reader);
	while (taken < 2)
		nap();
	join_holding(&config_lock, thread[0], SAVER);
	join_holding(&config_lock, thread[1], READER);
	thread[2] = begin(brush);
	thread[3] = begin(painter);
	CHECK(!pthread_join(thread[2], NULL) && !pthread_join(thread[3], NULL));
	taken = 0;
	thread[4] = begin(saver);
	while (!taken)
		nap();
	join_holding(&own_lock, thread[4], SAVER);
	return 0;
}
