/*
 * plugin.c - is dlopened, takes locks in its constructor, destructor and when it works.
 */
#include <pthread.h>
#include <semaphore.h>

int plugin_work(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int count;

__attribute__((constructor)) static void load(void)
{
	pthread_mutex_lock(&mutex);
	count = 1;
	pthread_mutex_unlock(&mutex);
}

__attribute__((destructor)) static void unload(void)
{
	pthread_rwlock_wrlock(&rwlock);
	count = 0;
	pthread_rwlock_unlock(&rwlock);
}

static void *worker(void *unused)
{
	pthread_mutex_lock(&mutex);
	count++;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

__attribute__((visibility("default"))) int plugin_work(void)
{
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	if (pthread_create(&thread, NULL, worker, NULL))
		return -1;
	while (count == 1)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	return count;
}
