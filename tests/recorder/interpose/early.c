/*
 * early.c - a library that uses locks and memory before anybody should: in an IFUNC resolver, which
 * runs while the loader relocates, and in a constructor.  Preloaded before and after the
 * interposers.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int early_answer(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised, resolved;

static void initialise(void)
{
	initialised++;
}

/* By pointers: a resolver runs before the calls of its own object can be made. */
#define POINTER(name) static __typeof__(name) *volatile early_##name = name
POINTER(pthread_mutex_lock);
POINTER(pthread_mutex_trylock);
POINTER(pthread_mutex_unlock);
POINTER(pthread_rwlock_rdlock);
POINTER(pthread_rwlock_unlock);
POINTER(pthread_cond_signal);
POINTER(reallocarray);
POINTER(free);

/* Everything here works while an object is relocated, for libc is relocated first. */
static int use_locks(void)
{
	int errors = 0;

	errors += early_pthread_mutex_lock(&mutex) != 0;
	errors += early_pthread_mutex_trylock(&mutex) == 0;
	errors += early_pthread_mutex_unlock(&mutex) != 0;
	errors += early_pthread_mutex_lock(&recursive) != 0;
	errors += early_pthread_mutex_lock(&recursive) != 0;
	errors += early_pthread_mutex_unlock(&recursive) != 0;
	errors += early_pthread_mutex_unlock(&recursive) != 0;
	errors += early_pthread_rwlock_rdlock(&rwlock) != 0;
	errors += early_pthread_rwlock_unlock(&rwlock) != 0;
	errors += early_pthread_cond_signal(&cond) != 0;
	return errors;
}

static int use_memory(void)
{
	char *text = early_reallocarray(NULL, 3, 5), *longer;

	if (!text)
		return 1;
	text[14] = 'e';
	longer = early_reallocarray(text, 300, 500);
	if (!longer || longer[14] != 'e')
		return 1;
	early_free(longer);
	return 0;
}

static int answer_42(void)
{
	return 42;
}

__attribute__((used)) static int (*resolve(void))(void)
{
	resolved = use_locks() || use_memory() ? -1 : 1;
	return answer_42;
}
__attribute__((visibility("default"), ifunc("resolve"))) int early_answer(void);

__attribute__((constructor)) static void start(void)
{
	int errors = use_locks() + use_memory();
	char buffer[1];
	sem_t sem;
	int fd;

	errors += resolved != 1;
	errors += pthread_once(&once, initialise) != 0 || initialised != 1;
	sem_init(&sem, 0, 1);
	errors += sem_wait(&sem) != 0;
	fd = open("/dev/zero", O_RDONLY);
	errors += read(fd, buffer, 1) != 1;
	close(fd);
	errors += early_answer() != 42;
	errors += dlsym(RTLD_NEXT, "pthread_mutex_lock") == NULL;
	if (errors) {
		fprintf(stderr, "early: %d errors\n", errors);
		exit(70);
	}
}
