/*
 * <trc/http.h> - profiles of this program over HTTP, at the addresses that pprof knows.
 *
 * A program calls trace_http_start() once.  A program that is linked with libtrc, or has it
 * preloaded, needs no call: TRC_HTTP=127.0.0.1:6060 in its environment does the same.  Then
 *
 *	go tool pprof http://127.0.0.1:6060/debug/pprof/profile
 *
 * takes a CPU profile, and http://127.0.0.1:6060/debug/pprof/ lists the other profiles for a
 * browser.  docs/http.md describes every address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_HTTP_H
#define TRC_HTTP_H

#include <trc/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set up with TRACE_HTTP_OPTIONS_INIT: then programs keep working when fields are added. */
struct trace_http_options {
	size_t struct_bytes;
	/* A client has to send this token, as "Authorization: Bearer TOKEN" or as the password in
	 * http://any:TOKEN@host/.  NULL = $TRC_HTTP_TOKEN; if the variable is not set, every client
	 * is answered.  An empty token is an error */
	const char *token;
	/* Connections at the same time; 0 = 64, at most 1000.  For another connection, the server
	 * closes the oldest connection that has sent no request yet; if there is none, the new
	 * connection waits */
	unsigned int max_connections;
	/* false: the program is recorded from the start of the server on, and profiles of waits,
	 * locks and memory go back to that start.  true: recording for such a profile begins with
	 * the first request for the profile, and the first reply is empty */
	bool on_demand;
	/* How much is kept, unless a request with seconds= asks for less.  Units as rate_ns,
	 * fraction and sample_bytes of <trc/recorder.h>.  0 = $TRC_HTTP_BLOCK_RATE,
	 * $TRC_HTTP_MUTEX_FRACTION, $TRC_HTTP_HEAP, or the recorder's default; negative = nothing */
	int64_t block_rate_ns, mutex_fraction, heap_sample_bytes;
};
#define TRACE_HTTP_OPTIONS_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_http_options), NULL, 0, false, 0, 0, 0                         \
	}

/**
 * Starts a server for the profiles of this process.
 *
 * `address` is "PORT" or ":PORT" for 127.0.0.1, "localhost:PORT", or "ADDRESS:PORT" with the
 * numeric address of a local interface (IPv6 in brackets).  Port 0 is any free port:
 * trace_http_port() tells which.  `options` may be NULL for the defaults; both are only read during
 * the call.
 *
 * Whoever reaches the address can read names of functions, the command line and what the program
 * does.  An address that other machines reach is therefore only used if it is written out.
 *
 * The server has threads of its own.  They block all signals and are in no profile.  The sockets do
 * not use the program's descriptor numbers.  A forked child has no server, and may start its own.
 *
 * Returns 0; -EINVAL: an address that is not understood, a host name instead of a number, options
 * out of range, or an empty token; -EBUSY: a server runs already; -EADDRINUSE and other errors of
 * bind(); -ENOTSUP: libtrc-http.so cannot be loaded, or trc was built without libmicrohttpd; or
 * another negative errno.  trace_last_error() says why.  After success it warns if other machines
 * reach the address.
 * Thread safe, not signal safe.
 */
TRC_API int trace_http_start(const char *address, const struct trace_http_options *options);

/** The port of the server; 0 = no server runs.  Thread safe and signal safe. */
TRC_API unsigned int trace_http_port(void);

/**
 * Stops the server.  Replies that are being written are cut off, and the call waits for their
 * threads.  exit() stops the server too, but waits for a second at most.
 * Returns 0, or -EINVAL: no server runs.  Thread safe, not signal safe.
 */
TRC_API int trace_http_stop(void);

/* A request to a server of the program's own.  Set up with TRACE_HTTP_REQUEST_INIT. */
struct trace_http_request {
	size_t struct_bytes;
	const char *method; /* "GET", "HEAD" or "POST" */
	const char *url;    /* the request's target: "/debug/pprof/heap?debug=1" */
	const void *body;   /* only "POST /debug/pprof/symbol" has a body; NULL = none */
	size_t body_bytes;
};
#define TRACE_HTTP_REQUEST_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_http_request), NULL, NULL, NULL, 0                             \
	}

/* The head of a reply.  Set up with TRACE_HTTP_REPLY_INIT. */
struct trace_http_reply {
	size_t struct_bytes;
	unsigned int status; /* 200, 404 and so on */
	char header[512]; /* lines "Name: value\r\n", of Content-Length, Content-Type and others */
};
#define TRACE_HTTP_REPLY_INIT                                                                      \
	{                                                                                          \
		sizeof(struct trace_http_reply), 0, ""                                             \
	}

/**
 * Answers one request, for a program that has an HTTP server of its own.
 *
 * If `reply` is NULL, the whole reply is written to *writer: status line, header, empty line and
 * body.  The program closes the connection after it.  Otherwise *reply is filled in before the
 * first byte is written, and only the body goes to *writer.  The body of a reply to HEAD is empty.
 *
 * The program decides who may ask.  The calling thread does the work; a request with "seconds=30"
 * takes 30 seconds.  `request` is only read during the call.  *writer is finished before the call
 * returns.
 *
 * Returns 0 if a reply was written, whatever its status; -EINVAL: no method, no url, or a wrong
 * struct_bytes; -ENOTSUP: libtrc-http.so cannot be loaded; or the negative errno of the writer.
 * trace_last_error() says why.  Thread safe, not signal safe.
 */
TRC_API int trace_http_answer(const struct trace_http_request *request,
			      struct trace_http_reply *reply, const struct trace_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
