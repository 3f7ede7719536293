/*
 * mc_load.c - a fixed load for memcached, which checks every answer.
 *
 * One thread drives all connections with poll(), each with a fixed number of requests in
 * flight.  A connection has keys of its own and memcached answers in order, so the client knows
 * the one right answer to each request: a wrong byte ends the run with status 1.
 *
 *   mc_load -s SOCKET | -p PORT  [-c CONNECTIONS] [-n OPERATIONS] [-d IN_FLIGHT]
 *           [-v VALUE_BYTES] [-k KEYS] [-g GET_PERCENT]
 *
 * Prints one line: operations, hits, seconds, operations per second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	CONNECTIONS_MAX = 256,
	DEPTH_MAX = 256,
	KEYS_MAX = 4096,
	VALUE_MAX = 4096,
	OUT_MAX = 1 << 16
};

static struct {
	const char *socket_path;
	uint16_t port;
	uint32_t connections, operations, depth, value_bytes, keys, get_percent;
} opt = {NULL, 0, 16, 200000, 16, 100, 256, 90};

struct pending {
	bool get;
	uint32_t key, version; /* version 0: not there yet */
};

struct connection {
	int fd;
	uint32_t number;
	uint32_t sent, answered, quota;
	uint32_t random;
	uint32_t *version;		   /* [keys], as it is after everything sent so far */
	struct pending pending[DEPTH_MAX]; /* [answered, sent), by number modulo DEPTH_MAX */
	char out[OUT_MAX];
	size_t out_from, out_to;
	char *in;
	size_t in_bytes, in_room;
};

static struct connection *connection[CONNECTIONS_MAX];
static uint64_t hits;
static uint32_t run_id; /* in every key: what an earlier run left behind is not ours */

static void die(const char *what)
{
	fprintf(stderr, "mc_load: %s: %s\n", what, errno ? strerror(errno) : "unexpected");
	exit(1);
}

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(addr.sun_path, path, strlen(path) + 1);
	return connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -1 : fd;
}

static int connect_loopback(uint16_t port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port)};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static struct connection *connection_open(uint32_t number)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		die("calloc");
	c->fd = opt.socket_path ? connect_unix(opt.socket_path) : connect_loopback(opt.port);
	if (c->fd < 0)
		die("connect");
	c->number = number;
	c->quota = opt.operations / opt.connections;
	c->random = number * 2654435761u + 1;
	c->version = calloc(opt.keys, sizeof(*c->version));
	c->in_room = 2u * DEPTH_MAX * (VALUE_MAX + 128);
	c->in = malloc(c->in_room);
	if (!c->version || !c->in)
		die("calloc");
	return c;
}

static uint32_t next_random(struct connection *c)
{
	c->random = c->random * 1664525u + 1013904223u;
	return c->random >> 8;
}

/* The value that version `version` of a key has: no two are alike. */
static size_t make_value(char *out, const struct connection *c, uint32_t key, uint32_t version)
{
	int n = snprintf(out, VALUE_MAX, "%u/%u/%u/", c->number, key, version);

	for (size_t i = (size_t)n; i < opt.value_bytes; i++)
		out[i] = (char)('a' + (i + version) % 26);
	return opt.value_bytes;
}

static void request_make(struct connection *c)
{
	struct pending *p = &c->pending[c->sent % DEPTH_MAX];
	char *out = c->out + c->out_to;
	size_t room = sizeof(c->out) - c->out_to;
	char value[VALUE_MAX];

	p->key = next_random(c) % opt.keys;
	p->get = next_random(c) % 100 < opt.get_percent;
	if (p->get) {
		p->version = c->version[p->key];
		c->out_to +=
			(size_t)snprintf(out, room, "get %x-%u-%u\r\n", run_id, c->number, p->key);
	} else {
		p->version = ++c->version[p->key];
		c->out_to += (size_t)snprintf(out, room, "set %x-%u-%u 0 0 %u\r\n%.*s\r\n", run_id,
					      c->number, p->key, opt.value_bytes,
					      (int)make_value(value, c, p->key, p->version), value);
	}
	c->sent++;
}

static void connection_fill(struct connection *c)
{
	if (c->out_from == c->out_to)
		c->out_from = c->out_to = 0;
	while (c->sent < c->quota && c->sent - c->answered < opt.depth &&
	       sizeof(c->out) - c->out_to > VALUE_MAX + 128)
		request_make(c);
}

static void connection_write(struct connection *c)
{
	while (c->out_from < c->out_to) {
		ssize_t n = send(c->fd, c->out + c->out_from, c->out_to - c->out_from,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			die("send");
		c->out_from += (size_t)n;
	}
}

/* What the answer to `p` has to be. */
static size_t answer_expected(char *out, size_t room, const struct connection *c,
			      const struct pending *p)
{
	char value[VALUE_MAX];

	if (!p->get)
		return (size_t)snprintf(out, room, "STORED\r\n");
	if (!p->version)
		return (size_t)snprintf(out, room, "END\r\n");
	return (size_t)snprintf(out, room, "VALUE %x-%u-%u 0 %u\r\n%.*s\r\nEND\r\n", run_id,
				c->number, p->key, opt.value_bytes,
				(int)make_value(value, c, p->key, p->version), value);
}

static void connection_parse(struct connection *c)
{
	char expected[VALUE_MAX + 256];
	size_t from = 0;

	while (c->answered < c->sent) {
		const struct pending *p = &c->pending[c->answered % DEPTH_MAX];
		size_t n = answer_expected(expected, sizeof(expected), c, p);
		size_t have = c->in_bytes - from;

		if (memcmp(c->in + from, expected, have < n ? have : n) != 0) {
			fprintf(stderr, "mc_load: connection %u: wrong answer to request %u\n",
				c->number, c->answered);
			exit(1);
		}
		if (have < n)
			break;
		from += n;
		hits += p->get && p->version;
		c->answered++;
	}
	memmove(c->in, c->in + from, c->in_bytes - from);
	c->in_bytes -= from;
}

static void connection_read(struct connection *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_bytes, c->in_room - c->in_bytes, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		errno = n ? errno : ECONNRESET;
		die("recv");
	}
	c->in_bytes += (size_t)n;
	connection_parse(c);
}

static bool step(struct pollfd *pfd)
{
	bool open = false;

	for (uint32_t i = 0; i < opt.connections; i++) {
		struct connection *c = connection[i];

		connection_fill(c);
		connection_write(c);
		pfd[i].fd = c->answered < c->quota ? c->fd : -1;
		pfd[i].events = (short)(POLLIN | (c->out_from < c->out_to ? POLLOUT : 0));
		open |= c->answered < c->quota;
	}
	if (!open)
		return false;
	if (poll(pfd, opt.connections, 10000) <= 0)
		die("no answer in 10 s");
	for (uint32_t i = 0; i < opt.connections; i++) {
		if (pfd[i].fd >= 0 && pfd[i].revents & (POLLIN | POLLHUP | POLLERR))
			connection_read(connection[i]);
	}
	return true;
}

static uint32_t number(const char *text, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || value < min || value > max) {
		fprintf(stderr, "mc_load: %s is not a number from %u to %u\n", text, min, max);
		exit(2);
	}
	return (uint32_t)value;
}

static void parse_options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "s:p:c:n:d:v:k:g:")) != -1) {
		switch (o) {
		case 's':
			opt.socket_path = optarg;
			break;
		case 'p':
			opt.port = (uint16_t)number(optarg, 1, 65535);
			break;
		case 'c':
			opt.connections = number(optarg, 1, CONNECTIONS_MAX);
			break;
		case 'n':
			opt.operations = number(optarg, 1, UINT32_MAX);
			break;
		case 'd':
			opt.depth = number(optarg, 1, DEPTH_MAX);
			break;
		case 'v':
			opt.value_bytes = number(optarg, 40, VALUE_MAX - 1);
			break;
		case 'k':
			opt.keys = number(optarg, 1, KEYS_MAX);
			break;
		case 'g':
			opt.get_percent = number(optarg, 0, 100);
			break;
		default:
			exit(2);
		}
	}
	if (!opt.socket_path && !opt.port) {
		fprintf(stderr, "usage: mc_load -s SOCKET | -p PORT [-c N] [-n N] [-d N] [-v N] "
				"[-k N] [-g N]\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct pollfd pfd[CONNECTIONS_MAX];
	uint64_t operations = 0;
	double start;

	parse_options(argc, argv);
	for (uint32_t i = 0; i < opt.connections; i++)
		connection[i] = connection_open(i);
	run_id = (uint32_t)getpid() ^ (uint32_t)time(NULL) << 12;
	start = now_seconds();
	while (step(pfd))
		;
	start = now_seconds() - start;
	for (uint32_t i = 0; i < opt.connections; i++)
		operations += connection[i]->answered;
	printf("%llu\t%llu\t%.6f\t%.0f\n", (unsigned long long)operations, (unsigned long long)hits,
	       start, (double)operations / start);
	return 0;
}
