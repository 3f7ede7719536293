/*
 * left_waits.cc - waits that do not end by the return of the call.
 *
 *   once       a thread waits for an initialization, which fails by an exception: the thread is at it
 *              itself then, and fails as well; it waits at a semaphore afterwards
 *   locks      threads that may be cancelled at any time are, in waits for locks and the like
 *   calls      threads are cancelled in calls that are cancellation points
 *
 * Prints how many waits were left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdexcept>
#include <unistd.h>

static volatile pid_t waiter_tid;
static int empty_pipe[2];

/* The waiter sleeps in the kernel. */
static void wait_until_it_sleeps()
{
	char path[64], line[512] = "";

	while (!waiter_tid)
		usleep(1000);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)waiter_tid);
	do {
		usleep(1000);
		FILE *file = fopen(path, "r");
		if (!file || !fgets(line, sizeof(line), file))
			exit(1);
		fclose(file);
	} while (!strstr(line, ") S "));
}

/* ---- an initialization that fails --------------------------------------------------------- */

static std::once_flag flag;
static sem_t go_on;

static void *fails_too(void *unused)
{
	waiter_tid = gettid();
	try {
		std::call_once(flag, [] { throw std::runtime_error("again"); });
	} catch (const std::runtime_error &) {
	}
	sem_wait(&go_on);
	return unused;
}

static int once()
{
	pthread_t thread;

	try {
		std::call_once(flag, [&] {
			pthread_create(&thread, nullptr, fails_too, nullptr);
			wait_until_it_sleeps();
			throw std::runtime_error("first");
		});
	} catch (const std::runtime_error &) {
	}
	usleep(20000);
	sem_post(&go_on);
	pthread_join(thread, nullptr);
	return 1;
}

/* ---- cancelled ---------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once_control = PTHREAD_ONCE_INIT;

static void never()
{
	exit(1);
}

static void locks_mutex()
{
	pthread_mutex_lock(&mutex);
}

static void locks_rwlock_to_read()
{
	pthread_rwlock_rdlock(&rwlock);
}

static void locks_rwlock_to_write()
{
	pthread_rwlock_wrlock(&rwlock);
}

static void waits_at_barrier()
{
	pthread_barrier_wait(&barrier);
}

static void waits_once()
{
	pthread_once(&once_control, never);
}

__attribute__((noinline)) static void sleeps()
{
	sleep(1000);
	asm volatile(""); /* no tail call */
}

__attribute__((noinline)) static void reads()
{
	char byte;

	if (read(empty_pipe[0], &byte, 1) != 1)
		exit(1);
}

__attribute__((noinline)) static void polls()
{
	struct pollfd fd = {empty_pipe[0], POLLIN, 0};

	poll(&fd, 1, -1);
	asm volatile("");
}

static int cancel_type;

static void *waits(void *what)
{
	pthread_setcanceltype(cancel_type, nullptr);
	waiter_tid = gettid();
	reinterpret_cast<void (*)()>(what)();
	return nullptr;
}

/* 1 if it was in the wait. */
static int cancelled_in(void (*what)())
{
	pthread_t thread;
	void *value;

	waiter_tid = 0;
	if (pthread_create(&thread, nullptr, waits, reinterpret_cast<void *>(what)))
		exit(1);
	wait_until_it_sleeps();
	pthread_cancel(thread);
	pthread_join(thread, &value);
	return value == PTHREAD_CANCELED;
}

static int n_in_locks;

static void in_initialization()
{
	n_in_locks += cancelled_in(waits_once);
}

static int locks()
{
	cancel_type = PTHREAD_CANCEL_ASYNCHRONOUS;
	pthread_barrier_init(&barrier, nullptr, 2);
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	for (auto what :
	     {locks_mutex, locks_rwlock_to_read, locks_rwlock_to_write, waits_at_barrier})
		n_in_locks += cancelled_in(what);
	pthread_once(&once_control, in_initialization);
	return n_in_locks;
}

static int calls()
{
	int n = 0;

	cancel_type = PTHREAD_CANCEL_DEFERRED;
	for (auto what : {sleeps, reads, polls})
		n += cancelled_in(what);
	return n;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (pipe(empty_pipe))
		return 1;
	printf("%d\n", !strcmp(what, "once")	? once()
		       : !strcmp(what, "locks") ? locks()
		       : !strcmp(what, "calls") ? calls()
						: -1);
	return 0;
}
