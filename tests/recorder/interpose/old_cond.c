/*
 * old_cond.c - a program from before glibc 2.3.2: its condition variables are pointers to the
 * new ones, made at first use.  An interposer that took them for new ones would corrupt memory.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* Elsewhere there are no such programs. */
#ifdef __x86_64__
#define OLD "GLIBC_2.2.5"
__asm__(".symver pthread_cond_wait,pthread_cond_wait@" OLD);
__asm__(".symver pthread_cond_timedwait,pthread_cond_timedwait@" OLD);
__asm__(".symver pthread_cond_signal,pthread_cond_signal@" OLD);
__asm__(".symver pthread_cond_broadcast,pthread_cond_broadcast@" OLD);
#endif

/* The old type was smaller: what follows the pointer must stay as it is. */
static union {
	pthread_cond_t as_new;
	unsigned char bytes[sizeof(pthread_cond_t)];
} cond;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stage;

static void *waker(void *unused)
{
	pthread_mutex_lock(&mutex);
	stage = 1;
	pthread_cond_signal(&cond.as_new);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	struct timespec past = {.tv_sec = 1};
	pthread_t thread;
	size_t i;

	memset(cond.bytes + sizeof(void *), 0xa5, sizeof(cond) - sizeof(void *));
	pthread_mutex_lock(&mutex);
	if (pthread_cond_timedwait(&cond.as_new, &mutex, &past) != ETIMEDOUT)
		return 1;
	if (pthread_create(&thread, NULL, waker, NULL))
		return 2;
	while (!stage)
		pthread_cond_wait(&cond.as_new, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	pthread_cond_broadcast(&cond.as_new);
	for (i = sizeof(void *); i < sizeof(cond); i++)
		if (cond.bytes[i] != 0xa5)
			return 3;
	return 0;
}
