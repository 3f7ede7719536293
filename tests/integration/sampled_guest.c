/*
 * sampled_guest.c - programs that close what samples are made with.
 *
 *   sampled_guest closefrom|close_range|close
 *                                 a second's work in two threads, most of it after all
 *                                 descriptors were closed: which one comes next
 *   sampled_guest setrlimit       half a second's work in a thread that begins when there may be
 *                                 far fewer descriptors than before
 *
 * What it prints is the same however it is run.  Status 1 and what was wrong on stderr otherwise.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static uint64_t step(uint64_t x)
{
	return x * UINT64_C(6364136223846793005) + 1442695040888963407;
}

/* ---- descriptors ------------------------------------------------------------------------ */

static volatile uint64_t sink;

static void burn(unsigned int ms)
{
	struct timespec t;
	uint64_t until_ms = 0, now_ms;

	do {
		for (int i = 0; i < 10000; i++)
			sink = step(sink);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
		until_ms = until_ms ? until_ms : now_ms + ms;
	} while (now_ms < until_ms);
}

static void *half_a_second(void *unused)
{
	burn(500);
	return unused;
}

/* The low ones are the tests' own: standard input and output. */
static void close_all(const char *how)
{
	if (!strcmp(how, "closefrom"))
		closefrom(3);
	else if (!strcmp(how, "close_range"))
		CHECK(!close_range(3, ~0U, 0));
	else
		for (int fd = 3; fd < sysconf(_SC_OPEN_MAX) && fd < 10000; fd++)
			close(fd);
}

static int closes(const char *how)
{
	pthread_t other;
	int fd;

	CHECK(!pthread_create(&other, NULL, half_a_second, NULL));
	burn(20);
	close_all(how);
	fd = dup(0);
	printf("the next one is %d\n", fd);
	burn(480);
	CHECK(!pthread_join(other, NULL));
	return 0;
}

static int sets_limit(void)
{
	struct rlimit limit = {256, 256};
	pthread_t other;

	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	CHECK(!pthread_create(&other, NULL, half_a_second, NULL));
	CHECK(!pthread_join(other, NULL));
	printf("the next one is %d\n", dup(0));
	return 0;
}

/* ----------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	const char *what = argc >= 2 ? argv[1] : "";

	if (!strncmp(what, "close", 5))
		return closes(what);
	if (!strcmp(what, "setrlimit"))
		return sets_limit();
	return 99;
}
