/*
 * limited.c - a program that says what it could have, for limits.sh.
 *
 *   limited arenas N   makes N threads that allocate nothing; prints how many arenas malloc has
 *   limited most N     makes up to N threads that live at the same time; prints how many it could,
 *                      and when they have ended how many pieces of 256 KiB it could map
 *   limited files      opens what it can; prints how many
 *   limited small      makes a thread with the smallest stack there may be
 */
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS_MAX = 1000, PIECE_BYTES = 256 << 10 };

static pthread_mutex_t closed = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t started;

static void *wait_until_open(void *meet)
{
	if (meet)
		pthread_barrier_wait(&started);
	pthread_mutex_lock(&closed);
	pthread_mutex_unlock(&closed);
	return NULL;
}

static int create(pthread_t *thread, int n, void *meet)
{
	int made = 0;

	while (made < n && !pthread_create(&thread[made], NULL, wait_until_open, meet))
		made++;
	return made;
}

static void join(pthread_t *thread, int n)
{
	pthread_mutex_unlock(&closed);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static int count_arenas(void)
{
	char text[64 << 10] = "";
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");
	int n = 0;

	if (!out || malloc_info(0, out))
		return -1;
	fclose(out);
	for (const char *at = text; (at = strstr(at, "<heap nr=")); at++)
		n++;
	return n;
}

static int arenas(pthread_t *thread, int n)
{
	pthread_barrier_init(&started, NULL, (unsigned int)n + 1);
	if (create(thread, n, &started) != n)
		return 1;
	pthread_barrier_wait(&started);
	printf("arenas %d\n", count_arenas());
	join(thread, n);
	return 0;
}

static int most(pthread_t *thread, int n)
{
	int made = create(thread, n, NULL), pieces = 0;

	join(thread, made);
	while (mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED)
		pieces++;
	printf("threads %d pieces %d\n", made, pieces);
	return 0;
}

static int files(void)
{
	int n = 0;

	while (open("/dev/null", O_RDONLY) >= 0)
		n++;
	printf("files %d\n", n);
	return 0;
}

static int small(pthread_t *thread)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	err = pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	if (!err)
		err = pthread_create(thread, &attr, wait_until_open, NULL);
	if (!err)
		join(thread, 1);
	printf("small %d\n", err);
	return err != 0;
}

int main(int argc, char **argv)
{
	static char output[256];
	static pthread_t thread[THREADS_MAX];
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	if (n < 1 || n > THREADS_MAX)
		return 2;
	pthread_mutex_lock(&closed);
	if (!strcmp(what, "files"))
		return files();
	if (!strcmp(what, "small"))
		return small(thread);
	return !strcmp(what, "arenas") ? arenas(thread, n) : most(thread, n);
}
