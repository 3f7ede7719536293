/*
 * cond_pool.c - a pool of 64 threads at one condition is given jobs one at a time; once all are idle
 * again the pool's mutex, which nobody wants, is taken and given back 1,000 times in alone().  Prints
 * how many jobs were done.
 *
 * Then, while the pool waits for its condition and 8 more threads for the mutex, a child is forked,
 * which has none of them: it takes the mutex 1,000 times.  Prints its number.
 *
 * More threads wait than a condition has places (recorder/guest/signalled.c), so that other threads are
 * woken than those that were marked.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static void *want(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* Until all but the calling thread are asleep. */
static void until_asleep(void)
{
	char path[64], line[256];
	int tid, running = 2;
	struct dirent *e;
	DIR *tasks;

	for (; running > 1; usleep(1000)) {
		running = 0;
		tasks = opendir("/proc/self/task");
		while (tasks && (e = readdir(tasks))) {
			FILE *stat;

			tid = atoi(e->d_name);
			snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
			stat = tid ? fopen(path, "r") : NULL;
			if (stat && fgets(line, sizeof(line), stat))
				running += strrchr(line, ')')[2] != 'S';
			if (stat)
				fclose(stat);
		}
		if (tasks)
			closedir(tasks);
	}
}

static __attribute__((noinline)) void child(void)
{
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		used++;
		pthread_mutex_unlock(&mutex);
	}
}

static void fork_among_waiters(void)
{
	pthread_t thread[8];
	int status;
	pid_t pid;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, want, NULL);
	until_asleep();
	pid = fork();
	if (!pid) {
		child();
		exit(0);
	}
	printf("%d\n", (int)pid);
	waitpid(pid, &status, 0);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
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
	fflush(stdout);
	fork_among_waiters();
	return 0;
}
