/*
 * http.c - a server that answers for its profiles itself, beside what it serves.
 *
 * It speaks HTTP on a port of the loopback, one thread for each connection, and hands whatever is
 * asked for below /debug/pprof/ to trace_http_answer(): there is no second server, and no second
 * port.
 *
 *   GET /			how many visitors there were; every tenth makes others wait
 *   GET /debug/pprof/...	profiles of this server; a list of them for a browser
 *
 *   http [PORT]			0, the default, is any free one; it is printed
 *   go tool pprof 'http://127.0.0.1:PORT/debug/pprof/block?seconds=10'
 *
 * A program without a server of its own calls trace_http_start() instead, and needs none of this.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1 /* nanosleep() and others, with -std=c17 too */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <trc/http.h>
#include <unistd.h>

#define PROFILES "/debug/pprof/"
enum { REQUEST_BYTES_MAX = 4096, SLOW_EVERY = 10, SLOW_MS = 20 };

static pthread_mutex_t visitors_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int n_visitors; /* guarded by it */

static void reply(int fd, const char *status, const char *text)
{
	char out[300];
	int n = snprintf(out, sizeof(out),
			 "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
			 "Connection: close\r\n\r\n%s",
			 status, strlen(text), text);

	send(fd, out, (size_t)n, MSG_NOSIGNAL);
}

static void be_slow(void)
{
	const struct timespec t = {0, SLOW_MS * 1000000L};

	nanosleep(&t, NULL);
}

static void welcome(int fd)
{
	char text[60];

	pthread_mutex_lock(&visitors_lock);
	snprintf(text, sizeof(text), "welcome, visitor %u\n", ++n_visitors);
	if (n_visitors % SLOW_EVERY == 0)
		be_slow();
	pthread_mutex_unlock(&visitors_lock);
	reply(fd, "200 OK", text);
}

/* Who may ask is this program's business: whoever uses this machine may, but not a page of somebody
 * else's that has a browser ask here by a name of its own. */
static int may_ask(const char *head)
{
	const char *host = strcasestr(head, "\r\nHost:");

	if (!host)
		return 0;
	host += strlen("\r\nHost:");
	host += strspn(host, " \t");
	return !strncmp(host, "127.0.0.1", 9) || !strncasecmp(host, "localhost", 9);
}

static void profiles(int fd, const char *method, const char *target, const char *head)
{
	const struct trace_writer to = trace_writer_to_fd(fd);
	struct trace_http_request request = TRACE_HTTP_REQUEST_INIT;

	request.method = method;
	request.url = target;
	if (!may_ask(head))
		reply(fd, "403 Forbidden", "not by this name\n");
	else if (trace_http_answer(&request, NULL, &to))
		fprintf(stderr, "http: %s: %s\n", target, trace_last_error());
}

/* The first line and the header; 0 = there is no more to come. */
static size_t read_head(int fd, char *head)
{
	size_t n = 0;
	ssize_t more;

	while (n < REQUEST_BYTES_MAX - 1) {
		more = recv(fd, head + n, REQUEST_BYTES_MAX - 1 - n, 0);
		if (more <= 0)
			return 0;
		n += (size_t)more;
		head[n] = '\0';
		if (strstr(head, "\r\n\r\n"))
			return n;
	}
	return 0;
}

static void answer(int fd)
{
	char head[REQUEST_BYTES_MAX], method[8], target[1000];

	if (!read_head(fd, head))
		return;
	if (sscanf(head, "%7s %999s HTTP/1.", method, target) != 2)
		reply(fd, "400 Bad Request", "what?\n");
	else if (!strncmp(target, PROFILES, strlen(PROFILES)))
		profiles(fd, method, target, head);
	else if (!strcmp(target, "/"))
		welcome(fd);
	else
		reply(fd, "404 Not Found", "there is / and " PROFILES "\n");
}

static void *connection(void *arg)
{
	int fd = (int)(intptr_t)arg;

	pthread_detach(pthread_self());
	answer(fd);
	close(fd);
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
		perror("http");
		exit(1);
	}
	printf("listening on port %u\n", ntohs(at.sin_port));
	fflush(stdout);
	return fd;
}

int main(int argc, char **argv)
{
	int server = listen_on((uint16_t)(argc > 1 ? atoi(argv[1]) : 0));

	for (;;) {
		int fd = accept(server, NULL, NULL);
		pthread_t thread;

		if (fd >= 0 && pthread_create(&thread, NULL, connection, (void *)(intptr_t)fd))
			close(fd);
	}
}
