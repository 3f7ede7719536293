/*
 * cond_pool.c - a pool of 64 threads at one condition is given jobs one at a time; once all are idle
 * again the pool's mutex, which nobody wants, is taken and given back 1,000 times in alone().  Prints
 * how many jobs were done.
 *
 * More threads wait than a condition has places (recorder/signalled.c), so that other threads are
 * woken than those that were marked.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 64, JOBS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int jobs, done, idle;
static volatile int used;

static void *work(void *unused)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		idle++;
		while (!jobs)
			pthread_cond_wait(&cond, &mutex);
		jobs--;
		idle--;
		done++;
	}
	return unused;
}

static int look(const int *at)
{
	int value;

	pthread_mutex_lock(&mutex);
	value = *at;
	pthread_mutex_unlock(&mutex);
	return value;
}

static void until(const int *at, int value)
{
	while (look(at) != value)
		usleep(100);
}

static __attribute__((noinline)) void alone(void)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		used++;
		pthread_mutex_unlock(&mutex);
	}
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, NULL);
	until(&idle, THREADS);
	for (int i = 1; i <= JOBS; i++) {
		pthread_mutex_lock(&mutex);
		jobs++;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
		until(&done, i);
	}
	until(&idle, THREADS);
	usleep(50000); /* the last one is asleep */
	alone();
	printf("%d\n", look(&done));
	return 0;
}
