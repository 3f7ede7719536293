/* http_client.h - asks a server of this machine, in the words of HTTP or in none. */
#ifndef TRC_TESTS_RECORDER_HTTP_CLIENT_H
#define TRC_TESTS_RECORDER_HTTP_CLIENT_H

#include <stddef.h>

struct http_got {
	int status; /* 0 = the connection ended without any */
	char *head; /* its lines, \0-terminated */
	char *body;
	size_t body_bytes;
};

/* A connection to 127.0.0.1; fails the test if there is none. */
int http_connect(unsigned int port);
void http_send(int fd, const void *bytes, size_t n_bytes); /* as much as is taken */
/* Reads to the end of the connection, which it closes.  http_got_free() it. */
struct http_got http_read(int fd);
/* One request of any bytes. */
struct http_got http_raw(unsigned int port, const void *bytes, size_t n_bytes);
/* "METHOD target" with lines of header, "" or each with \r\n. */
struct http_got http_ask(unsigned int port, const char *method, const char *target,
			 const char *header);
/* The value of a line of the head, or NULL; valid until the next call. */
const char *http_header(const struct http_got *got, const char *name);
void http_got_free(struct http_got *got);

#endif
