/*
 * source_program.c - for source.sh, which compiles it: two threads that count, and wait for each other's lock.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum { THREADS = 2, ROUNDS = 40, STEPS_MS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sum;

static int64_t cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static __attribute__((noinline)) void spin(void)
{
	int64_t until = cpu_ms() + STEPS_MS;

	while (cpu_ms() < until)
		for (int i = 0; i < 100000; i++)
			sum += (uint64_t)i; /* here the time goes */
}

static __attribute__((noinline)) void round_of(void)
{
	pthread_mutex_lock(&lock);
	spin();
	pthread_mutex_unlock(&lock);
}

static void *thread_main(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		round_of();
	return unused;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, thread_main, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
