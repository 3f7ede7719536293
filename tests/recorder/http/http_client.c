/* http_client.c - see http_client.h */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "http_client.h"

enum { PATIENCE_SECONDS = 120 };

int http_connect(unsigned int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {PATIENCE_SECONDS, 0};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

void http_send(int fd, const void *bytes, size_t n_bytes)
{
	const char *from = bytes;

	while (n_bytes) {
		ssize_t n = send(fd, from, n_bytes, MSG_NOSIGNAL);

		if (n <= 0)
			return; /* it may well refuse the rest */
		from += n;
		n_bytes -= (size_t)n;
	}
}

static char *read_all(int fd, size_t *n_bytes)
{
	size_t room = 65536, used = 0;
	char *text = malloc(room);
	ssize_t n;

	ck_assert_ptr_nonnull(text);
	while ((n = recv(fd, text + used, room - used - 1, 0)) > 0) {
		used += (size_t)n;
		if (room - used < 32768) {
			room *= 2;
			text = realloc(text, room);
			ck_assert_ptr_nonnull(text);
		}
	}
	ck_assert_msg(n == 0 || errno == ECONNRESET, "no end of the reply: %s", strerror(errno));
	text[used] = '\0';
	*n_bytes = used;
	return text;
}

struct http_got http_read(int fd)
{
	struct http_got got = {0};
	size_t n_bytes;
	char *end;

	got.head = read_all(fd, &n_bytes);
	close(fd);
	end = strstr(got.head, "\r\n\r\n");
	if (!end || sscanf(got.head, "HTTP/1.%*1[01] %d", &got.status) != 1)
		return got;
	got.body = end + 4;
	got.body_bytes = n_bytes - (size_t)(got.body - got.head);
	end[2] = '\0';
	return got;
}

struct http_got http_raw(unsigned int port, const void *bytes, size_t n_bytes)
{
	int fd = http_connect(port);

	http_send(fd, bytes, n_bytes);
	return http_read(fd);
}

struct http_got http_ask(unsigned int port, const char *method, const char *target,
			 const char *header)
{
	char text[8192];
	int n = snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\nHost: localhost:%u\r\n%s\r\n",
			 method, target, port, header);

	ck_assert_int_lt(n, (int)sizeof(text));
	return http_raw(port, text, (size_t)n);
}

const char *http_header(const struct http_got *got, const char *name)
{
	static char value[512];
	size_t length = strlen(name);

	for (const char *line = got->head; line && *line;) {
		const char *end = strstr(line, "\r\n");

		if (!end)
			break;
		if (!strncasecmp(line, name, length) && line[length] == ':') {
			snprintf(value, sizeof(value), "%.*s", (int)(end - line - (long)length - 2),
				 line + length + 2);
			return value;
		}
		line = end + 2;
	}
	return NULL;
}

void http_got_free(struct http_got *got)
{
	free(got->head);
	memset(got, 0, sizeof(*got));
}
