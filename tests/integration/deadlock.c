/*
 * deadlock.c - programs that hang, or crash, in ways that are known.
 *
 *   deadlock HOW READY
 *
 * Writes its pid into the file READY once every thread is where it stays: asleep in the call that
 * it announced.  Then main waits for the first thread to end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 4 };

pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t lock_b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t lock_c = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static pthread_barrier_t everybody_has_one;
enum { GONE = -1 };
static _Atomic pid_t announced[THREADS_MAX]; /* tid, once it goes where it stays; or GONE */

/* Its name is to be found, whatever the optimizer thinks. */
#define NOINLINE __attribute__((noinline))

/* Behind a call that must not become a jump: the function is to be on the stack. */
#define STAY_ON_STACK() __asm__ volatile("")

/* The thread's tid for main, which looks whether it sleeps. */
static void announce(int i)
{
	atomic_store(&announced[i], gettid());
}

static NOINLINE void take(pthread_mutex_t *mutex)
{
	int err = pthread_mutex_lock(mutex);

	if (err)
		printf("lock: %s\n", strerror(err));
}

/* --- the threads --- */

static NOINLINE void a_then_b(int i)
{
	take(&lock_a);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_b);
	STAY_ON_STACK();
}

static NOINLINE void b_then_a(int i)
{
	take(&lock_b);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_a);
	STAY_ON_STACK();
}

static NOINLINE void b_then_c(int i)
{
	take(&lock_b);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_c);
	STAY_ON_STACK();
}

static NOINLINE void c_then_a(int i)
{
	take(&lock_c);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_a);
	STAY_ON_STACK();
}

static NOINLINE void queue_for_a(int i)
{
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_a);
	STAY_ON_STACK();
}

static NOINLINE void write_then_a(int i)
{
	pthread_rwlock_wrlock(&table);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_a);
	STAY_ON_STACK();
}

static NOINLINE void a_then_read(int i)
{
	take(&lock_a);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	pthread_rwlock_rdlock(&table);
	STAY_ON_STACK();
}

static NOINLINE void read_then_a(int i)
{
	pthread_rwlock_rdlock(&table);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_a);
	STAY_ON_STACK();
}

static NOINLINE void a_then_write(int i)
{
	take(&lock_a);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	pthread_rwlock_wrlock(&table);
	STAY_ON_STACK();
}

static NOINLINE void a_twice(int i)
{
	take(&lock_a);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	take(&lock_a);
	STAY_ON_STACK();
}

static NOINLINE void a_then_sleep(int i)
{
	take(&lock_a);
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	while (true)
		pause();
}

static volatile uintptr_t nowhere = 0x40; /* that the compiler does not see it coming */

static NOINLINE void touch(volatile int *address)
{
	*address = 1;
}

static NOINLINE void crash(int i)
{
	pthread_barrier_wait(&everybody_has_one);
	touch((volatile int *)nowhere);
	announce(i);
}

static NOINLINE void fail_an_assertion(int i)
{
	pthread_barrier_wait(&everybody_has_one);
	announce(i);
	abort();
}

static NOINLINE void want_a(int i)
{
	announce(i);
	take(&lock_a);
	STAY_ON_STACK();
}

static void tell_when_stuck(int i);

/* --- what there is to choose from --- */

struct role {
	const char *name;
	void (*run)(int i);
};

static void a_then_end(int i);

static const struct scene {
	const char *name;
	struct role role[THREADS_MAX];
} scenes[] = {
	{"two", {{"alice", a_then_b}, {"bob", b_then_a}, {"carol", queue_for_a}}},
	{"three", {{"alice", a_then_b}, {"bob", b_then_c}, {"carol", c_then_a}}},
	{"rwlock", {{"writer", write_then_a}, {"bob", a_then_read}}},
	{"readers", {{"reader", read_then_a}, {"bob", a_then_write}}},
	{"self", {{"alice", a_twice}}},
	{"join", {{"alice", want_a}, {"bob", tell_when_stuck}}},
	{"leave", {{"alice", a_then_end}, {"bob", queue_for_a}, {"carol", queue_for_a}}},
	{"none", {{"alice", a_then_sleep}, {"bob", queue_for_a}, {"carol", queue_for_a}}},
	{"segv", {{"faulty", crash}}},
	{"abort", {{"faulty", fail_an_assertion}}},
};

static const struct scene *scene;

static void *thread_main(void *arg)
{
	int i = (int)(size_t)arg;

	pthread_setname_np(pthread_self(), scene->role[i].name);
	scene->role[i].run(i);
	return NULL;
}

/* Its state as the kernel has it; S = asleep. */
static char thread_state(pid_t tid)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	state = strrchr(line, ')');
	return state ? state[2] : '?';
}

static void wait_until_stuck(int n)
{
	for (int i = 0; i < n;) {
		pid_t tid = atomic_load(&announced[i]);

		if (tid == GONE || (tid && thread_state(tid) == 'S'))
			i++;
		else
			usleep(1000);
	}
}

/* Ends with the lock, once the others wait for it. */
static void a_then_end(int i)
{
	take(&lock_a);
	pthread_barrier_wait(&everybody_has_one);
	while (thread_state(atomic_load(&announced[1])) != 'S' ||
	       thread_state(atomic_load(&announced[2])) != 'S')
		usleep(1000);
	atomic_store(&announced[i], GONE);
}

static int say_ready(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file)) {
		perror(path);
		return 1;
	}
	return 0;
}

/* --- main holds what the thread wants that it joins as soon as it has created it --- */

static const char *ready_path;

static void tell_when_stuck(int i)
{
	while (thread_state(getpid()) != 'S' || !atomic_load(&announced[0]))
		usleep(1000);
	wait_until_stuck(1);
	say_ready(ready_path);
	announce(i);
	pause();
}

static void *helper(void *arg)
{
	take(&lock_b);
	pthread_mutex_unlock(&lock_b);
	return arg;
}

/* More than the recorder knows the kernel's ids of at a time. */
enum { HELPERS = 5000 };

/* Threads that are named by who created them, as soon as they are there. */
static void name_helpers(void)
{
	for (int i = 0; i < HELPERS; i++) {
		pthread_t thread;

		take(&lock_b);
		pthread_create(&thread, NULL, helper, NULL);
		pthread_setname_np(thread, "helper");
		pthread_mutex_unlock(&lock_b);
		pthread_join(thread, NULL);
	}
}

/* More than the recorder has places for, at the same time. */
enum { CROWD = 1500 };

static void name_crowd(void)
{
	static pthread_t thread[CROWD];

	take(&lock_b);
	for (int i = 0; i < CROWD; i++) {
		if (pthread_create(&thread[i], NULL, helper, NULL))
			abort();
		pthread_setname_np(thread[i], "crowd");
	}
	pthread_mutex_unlock(&lock_b);
	for (int i = 0; i < CROWD; i++)
		pthread_join(thread[i], NULL);
}

static int join_and_hold(void)
{
	pthread_t alice, bob;

	name_helpers();
	name_crowd();
	take(&lock_a);
	pthread_create(&bob, NULL, thread_main, (void *)1);
	pthread_create(&alice, NULL, thread_main, (void *)0);
	pthread_join(alice, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int n = 0;

	for (size_t i = 0; argc > 2 && i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (!strcmp(scenes[i].name, argv[1]))
			scene = &scenes[i];
	if (!scene) {
		fprintf(stderr, "usage: deadlock HOW READY\n");
		return 2;
	}
	ready_path = argv[2];
	if (!strcmp(scene->name, "join"))
		return join_and_hold();
	while (n < THREADS_MAX && scene->role[n].name)
		n++;
	pthread_barrier_init(&everybody_has_one, NULL, (unsigned int)n);
	for (int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, thread_main, (void *)(size_t)i);
	wait_until_stuck(n);
	if (say_ready(argv[2]))
		return 1;
	pthread_join(thread[atomic_load(&announced[0]) == GONE ? n - 1 : 0], NULL);
	return 0;
}
