/* contended.c - threads in each other's way: mutexes, a rwlock, waits that give up, condition
 * variables. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 6, ROUNDS = 3000, MUTEXES = 4 };

static pthread_mutex_t mutex[MUTEXES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
					 PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void work(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i++)
		;
}

static struct timespec soon(long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void lock_one(unsigned int i, unsigned int n)
{
	pthread_mutex_lock(&mutex[i]);
	work(n);
	pthread_mutex_unlock(&mutex[i]);
}

static void give_up(void)
{
	struct timespec t = soon(20000);

	if (pthread_mutex_timedlock(&mutex[MUTEXES - 1], &t))
		return;
	work(20000);
	pthread_mutex_unlock(&mutex[MUTEXES - 1]);
}

static void wait_for_others(unsigned int round)
{
	struct timespec t = soon(50000);

	pthread_mutex_lock(&mutex[2]);
	pthread_cond_timedwait(&cond, &mutex[2], &t);
	if (round % 3 == 0)
		pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex[2]);
}

static void *run(void *arg)
{
	unsigned int seed = (unsigned int)(size_t)arg;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		unsigned int what = (unsigned int)rand_r(&seed) % 8;

		if (what < 4) {
			lock_one(what % 3, (unsigned int)rand_r(&seed) % 3000);
		} else if (what < 6) {
			if (what == 4)
				pthread_rwlock_rdlock(&rwlock);
			else
				pthread_rwlock_wrlock(&rwlock);
			work(500);
			pthread_rwlock_unlock(&rwlock);
		} else if (what == 6) {
			give_up();
		} else {
			wait_for_others(round);
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
