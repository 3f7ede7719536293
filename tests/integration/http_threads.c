/*
 * http_threads.c - threads that wait, each in a function that it is named for, and one that runs.
 * Prints a line when all are there, and ends when its input does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1
#include <alloca.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "check_or_exit.h"

#define NOT_INLINED __attribute__((noinline))

#if defined(__x86_64__)
static void raw_pause(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(SYS_pause) : "rcx", "r11", "memory");
}
#else
static void raw_pause(void)
{
	register long call __asm__("x8") = SYS_ppoll;
	register long x0 __asm__("x0") = 0, x1 __asm__("x1") = 0, x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(call), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
}
#endif

enum { DEEP = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static int never_written[2];
static volatile unsigned long sum; /* never ULONG_MAX */

static NOT_INLINED void wait_by_sleep(void)
{
	sem_post(&ready);
	while (sum + 1 != 0)
		sleep(1000);
}

static NOT_INLINED void wait_by_nanosleep(void)
{
	struct timespec long_time = {1000, 0};

	sem_post(&ready);
	for (;;)
		nanosleep(&long_time, NULL);
}

static NOT_INLINED void wait_by_poll(void)
{
	struct pollfd fd = {never_written[0], POLLIN, 0};

	sem_post(&ready);
	for (;;)
		poll(&fd, 1, -1);
}

static NOT_INLINED void wait_by_read(void)
{
	char byte;

	sem_post(&ready);
	while (read(never_written[0], &byte, 1) != 0)
		;
}

static NOT_INLINED void wait_by_lock(void)
{
	sem_post(&ready);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static NOT_INLINED void wait_by_cond(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&own);
	sem_post(&ready);
	for (;;)
		pthread_cond_wait(&cond, &own);
}

/* A frame whose size is known only when it runs. */
static NOT_INLINED void wait_in_wide(void)
{
	volatile size_t n_bytes = 777;
	char *bytes = alloca(n_bytes);

	memset(bytes, 1, n_bytes);
	wait_by_sleep();
	sum += (unsigned char)bytes[n_bytes - 1];
}

static NOT_INLINED void wait_in_deep(int depth)
{
	if (depth == 0)
		wait_by_sleep();
	else
		wait_in_deep(depth - 1);
	sum++; /* this is no loop */
}

static void deep_begin(void)
{
	wait_in_deep(DEEP);
	sum++;
}

static void on_signal(int number)
{
	wait_by_sleep();
	sum += (unsigned long)number; /* this is no tail */
}

static NOT_INLINED void wait_in_handler(void)
{
	raise(SIGUSR1);
	sum++;
}

/* Never in one wait for long. */
static NOT_INLINED void wait_often(void)
{
	struct timespec short_time = {0, 3000000};

	sem_post(&ready);
	for (;;)
		nanosleep(&short_time, NULL);
}

/* The recorder sees no such call. */
static NOT_INLINED void wait_unseen(void)
{
	sem_post(&ready);
	while (sum + 1 != 0)
		raw_pause();
}

static NOT_INLINED void run(void)
{
	sem_post(&ready);
	for (;;)
		sum++;
}

static const struct {
	const char *name;
	void (*function)(void);
} thread[] = {
	{"wait_by_sleep", wait_by_sleep},     {"wait_by_nanoslp", wait_by_nanosleep},
	{"wait_by_poll", wait_by_poll},	      {"wait_by_read", wait_by_read},
	{"wait_by_lock", wait_by_lock},	      {"wait_by_cond", wait_by_cond},
	{"wait_in_wide", wait_in_wide},	      {"deep_begin", deep_begin},
	{"wait_in_handler", wait_in_handler}, {"wait_often", wait_often},
	{"wait_unseen", wait_unseen},	      {"run", run},
};
enum { THREADS = sizeof(thread) / sizeof(thread[0]) };

static void *begin(void *arg)
{
	size_t i = (size_t)arg;

	pthread_setname_np(pthread_self(), thread[i].name);
	thread[i].function();
	return NULL;
}

int main(void)
{
	pthread_t id;
	char byte;

	signal(SIGUSR1, on_signal);
	CHECK(pipe(never_written) == 0);
	CHECK(sem_init(&ready, 0, 0) == 0);
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&id, NULL, begin, (void *)i) == 0);
	for (size_t i = 0; i < THREADS; i++)
		sem_wait(&ready);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
