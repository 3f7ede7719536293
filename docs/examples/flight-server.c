/*
 * flight-server.c - a server that carries its flight recorder along.
 *
 * It answers lines on a TCP port of the loopback, one thread per connection:
 *
 *   put KEY VALUE	ok
 *   get KEY		the value; an unlucky one finds the store being compacted, and is slow
 *   trace		the last seconds of this server as a trace, then the connection is closed
 *
 * Requests that take longer than 50 ms have a snapshot taken, and so does a lock that anybody waits
 * for longer than 200 ms: in odd.1.trc, odd.2.trc and so on, in the working directory.
 *
 *   flight-server [PORT]		0, the default, is any free one; it is printed
 *   printf 'trace\n' | nc 127.0.0.1 PORT >now.trc; trace-analyze now.trc
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1 /* nanosleep() and others, with -std=c17 too */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <trc/trace.h>
#include <unistd.h>

enum { PLACES = 1024, COMPACT_EVERY = 1000, COMPACT_MS = 80, SLOW_NS = 50000000 };

static struct {
	pthread_mutex_t lock; /* guards all of this */
	struct {
		char key[32], value[96];
	} place[PLACES];
	unsigned int n_gets;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static unsigned int place_of(const char *key)
{
	unsigned int hash = 5381;

	while (*key)
		hash = hash * 33 + (unsigned char)*key++;
	return hash % PLACES;
}

static void put(const char *key, const char *value)
{
	unsigned int i = place_of(key);

	pthread_mutex_lock(&store.lock);
	snprintf(store.place[i].key, sizeof(store.place[i].key), "%s", key);
	snprintf(store.place[i].value, sizeof(store.place[i].value), "%s", value);
	pthread_mutex_unlock(&store.lock);
}

/* The odd moment: with the lock held. */
static void compact(void)
{
	const struct timespec t = {0, COMPACT_MS * 1000000L};
	TRACE_REGION("compact");

	nanosleep(&t, NULL);
}

static void get(const char *key, char *value, size_t n_bytes)
{
	unsigned int i = place_of(key);

	pthread_mutex_lock(&store.lock);
	if (++store.n_gets % COMPACT_EVERY == 0)
		compact();
	snprintf(value, n_bytes, "%s", strcmp(store.place[i].key, key) ? "" : store.place[i].value);
	pthread_mutex_unlock(&store.lock);
}

/* False: the connection is done. */
static int answer(FILE *to, char *line)
{
	char *rest, *verb = strtok_r(line, " \r\n", &rest);
	char *key = strtok_r(NULL, " \r\n", &rest), *value = strtok_r(NULL, "\r\n", &rest);
	struct trace_snapshot_options snapshot = TRACE_SNAPSHOT_OPTIONS_INIT;
	char found[96];

	if (verb && !strcmp(verb, "put") && key && value) {
		put(key, value);
		return fputs("ok\n", to) >= 0 && !fflush(to);
	}
	if (verb && !strcmp(verb, "get") && key) {
		get(key, found, sizeof(found));
		return fprintf(to, "%s\n", found) >= 0 && !fflush(to);
	}
	if (verb && !strcmp(verb, "trace")) {
		snapshot.fd = fileno(to);
		if (trace_flight_snapshot(NULL, &snapshot))
			fprintf(stderr, "flight-server: %s\n", trace_last_error());
		return 0;
	}
	return fputs("what?\n", to) >= 0 && !fflush(to);
}

/* One request: a task, and if it was slow a trigger. */
static int serve(FILE *to, char *line)
{
	trace_task request = trace_task_begin("request", 0);
	uint64_t began_ns = now_ns();
	int more;

	trace_log(request, "request", line);
	more = answer(to, line);
	trace_task_end(request);
	if (more && now_ns() - began_ns > SLOW_NS)
		trace_flight_trigger("slow request");
	return more;
}

static void *connection(void *arg)
{
	int fd = (int)(intptr_t)arg, also = dup(fd);
	FILE *from = fdopen(fd, "r"), *to = fdopen(also, "w");
	char line[160];

	pthread_detach(pthread_self());
	while (from && to && fgets(line, sizeof(line), from) && serve(to, line))
		;
	from ? fclose(from) : close(fd);
	to ? fclose(to) : close(also);
	return NULL;
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n_bytes = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64) ||
	    getsockname(fd, (struct sockaddr *)&at, &n_bytes)) {
		perror("flight-server");
		exit(1);
	}
	printf("listening on port %u\n", ntohs(at.sin_port));
	fflush(stdout);
	return fd;
}

static void start_recorder(void)
{
	static const char *const conditions[] = {"park:mutex>200ms", NULL};
	struct trace_flight_options options = TRACE_FLIGHT_OPTIONS_INIT;

	options.min_age_ns = UINT64_C(5000000000);
	options.trigger_path = "odd.trc";
	options.trigger_on = conditions;
	if (trace_flight_start(&options))
		fprintf(stderr, "flight-server: not recording: %s\n", trace_last_error());
	else if (*trace_last_error())
		fprintf(stderr, "flight-server: %s\n", trace_last_error());
}

int main(int argc, char **argv)
{
	int server = listen_on((uint16_t)(argc > 1 ? atoi(argv[1]) : 0));

	start_recorder();
	for (;;) {
		int fd = accept(server, NULL, NULL);
		pthread_t thread;

		if (fd >= 0 && pthread_create(&thread, NULL, connection, (void *)(intptr_t)fd))
			close(fd);
	}
}
