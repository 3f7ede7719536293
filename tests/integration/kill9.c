/*
 * kill9.c - a program that knows what it has recorded, to be killed at any instant.
 *
 *   kill9 run FILE MAX_BYTES    starts a flight recorder and counts in four threads, each event
 *                               first recorded, then noted in FILE, which outlives the program
 *   kill9 show FILE             prints what was noted: thread, number, time in ns since 1970
 *
 * Now and then a thread takes a lock that all share, or opens a region, so that the trace has
 * waits and spans cut by the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <trc/trace.h>

enum { THREADS = 4 };

struct noted {
	_Alignas(64) _Atomic uint64_t n; /* events of this thread that are committed */
	_Atomic uint64_t realtime_ns;    /* not before the last of them */
};
static struct noted *noted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct noted *map(const char *path, int flags)
{
	int fd = open(path, flags, 0600);
	void *at;

	if (fd < 0 || (flags & O_CREAT && ftruncate(fd, THREADS * sizeof(*noted)))) {
		perror(path);
		exit(1);
	}
	at = mmap(NULL, THREADS * sizeof(*noted), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	close(fd);
	return at;
}

static uint64_t realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *count(void *arg)
{
	struct noted *mine = arg;
	char name[16];

	snprintf(name, sizeof(name), "t%d", (int)(mine - noted));
	trace_thread_set_name(name);
	for (uint64_t n = 1;; n++) {
		bool span = n % 1024 < 16;

		if (span)
			trace_region_begin(0, "span");
		if (n % 512 == 0)
			pthread_mutex_lock(&lock);
		trace_counter_set("n", (int64_t)n);
		/* release: who sees the number knows that the event is committed. */
		atomic_store_explicit(&mine->n, n, memory_order_release);
		atomic_store_explicit(&mine->realtime_ns, realtime_ns(), memory_order_relaxed);
		if (n % 512 == 0)
			pthread_mutex_unlock(&lock);
		if (span)
			trace_region_end();
	}
	return NULL;
}

static int run(const char *path, const char *max_bytes)
{
	struct trace_flight_options options = TRACE_FLIGHT_OPTIONS_INIT;
	pthread_t thread;

	noted = map(path, O_RDWR | O_CREAT | O_TRUNC);
	options.max_bytes = strtoull(max_bytes, NULL, 10);
	if (trace_flight_start(&options)) {
		fprintf(stderr, "kill9: %s\n", trace_last_error());
		return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, count, &noted[i]);
	for (int i = 0; i < THREADS; i++)
		while (!atomic_load(&noted[i].n))
			usleep(1000);
	puts("counting");
	fflush(stdout);
	pthread_join(thread, NULL);
	return 0;
}

static int show(const char *path)
{
	noted = map(path, O_RDWR);
	for (int i = 0; i < THREADS; i++)
		printf("t%d %" PRIu64 " %" PRIu64 "\n", i, noted[i].n, noted[i].realtime_ns);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "run"))
		return run(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "show"))
		return show(argv[2]);
	fprintf(stderr, "usage: kill9 run FILE MAX_BYTES | show FILE\n");
	return 2;
}
