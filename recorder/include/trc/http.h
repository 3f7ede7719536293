/*
 * <trc/http.h> - profiles of this program over HTTP, where pprof and its like look for them.
 *
 * One call in main(), or TRC_HTTP=127.0.0.1:6060 in the environment of a program that is linked
 * with libtrc or has it preloaded; then
 *
 *	go tool pprof http://127.0.0.1:6060/debug/pprof/profile
 *
 * and a browser at http://127.0.0.1:6060/debug/pprof/ finds what else there is.  docs/http.md has
 * every address.
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
	/* Who asks has to show it: "Authorization: Bearer TOKEN", or as the password in
	 * http://any:TOKEN@host/.  NULL = $TRC_HTTP_TOKEN, and if that is not set anybody may; an
	 * empty one is an error */
	const char *token;
	unsigned int max_connections; /* at once; for more, the oldest that has not asked
					 * yet is closed, or they wait; 0 = 64 */
	/* false: what the profiles of waits, locks and memory show goes back to the start of the
	 * server, for which the program is recorded all the time.  true: to the first request for
	 * each, which finds it empty */
	bool on_demand;
	/* How much profiles without seconds= keep, and those with it that ask for no less, as
	 * rate_ns, fraction and sample_bytes of <trc/recorder.h>; 0 = $TRC_HTTP_BLOCK_RATE,
	 * $TRC_HTTP_MUTEX_FRACTION, $TRC_HTTP_HEAP, or the default; less = nothing */
	int64_t block_rate_ns, mutex_fraction, heap_bytes;
};
#define TRACE_HTTP_OPTIONS_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_http_options), NULL, 0, false, 0, 0, 0                         \
	}

/**
 * Serves this process's profiles at `address`: "PORT" or ":PORT" of 127.0.0.1, "localhost:PORT", or
 * "ADDRESS:PORT" with the number of a local address, IPv6 in brackets.  Port 0: any that is free.
 * Anybody who reaches the address can read what the program does, names of its functions and its
 * command line; so one that is not of this machine only has to be written out.
 * The server has threads of its own, which are in no profile, block all signals, and keep its
 * sockets out of the program's descriptors.  A forked child has no server, and may start one.
 * Returns 0; trace_last_error() then warns of an address that others reach.  -EBUSY: one runs
 * already; -EINVAL: no such address, the name of a machine instead of a number, or an empty token;
 * -EADDRINUSE and its like; -ENOTSUP: trc was built without libmicrohttpd; or another negative errno, with
 * trace_last_error().  Thread safe, not signal safe.
 */
TRC_API int trace_http_start(const char *address);
/** The same with options, which are only read during the call; NULL = the defaults. */
TRC_API int trace_http_start_with(const char *address, const struct trace_http_options *options);

/** The port that is being served; 0 = none.  Thread safe and signal safe. */
TRC_API unsigned int trace_http_port(void);

/**
 * Ends it: whoever is being answered is cut off, and waited for.  exit() does this too, but waits a
 * second at most.  Returns 0, or -EINVAL: none runs.  Thread safe, not signal safe.
 */
TRC_API int trace_http_stop(void);

/**
 * For a program that has its own server: answers one request.  `method` is "GET" or "HEAD", `url`
 * the request's target, "/debug/pprof/heap?debug=1".  *writer gets a whole reply of HTTP/1.1:
 * status line, header, empty line, body; the connection is to be closed behind it.  Who may ask is
 * the program's business. The calling thread does the work, and waits as long as the request says
 * ("seconds=30"). Returns 0, whatever the reply's status; or the negative errno of what could not
 * be written, or of why there is no reply at all.  Thread safe, not signal safe.
 */
TRC_API int trace_http_handle(const char *method, const char *url,
			      const struct trace_writer *writer);

/* A request with a body, which only "POST /debug/pprof/symbol" has, and its reply apart. Set up
 * with zeroes but for struct_bytes. */
struct trace_http_request {
	size_t struct_bytes;
	const char *method, *url;
	const void *body;
	size_t body_bytes;
};
struct trace_http_reply {
	size_t struct_bytes;
	unsigned int status; /* 200 */
	/* Lines "Name: value", each with "\r\n" at its end: of Content-Length, Content-Type and
	 * what else belongs to it */
	char header[512];
};
/**
 * The same for servers that make status line and header themselves: *reply is filled in before the
 * first byte of the body goes to *writer.  To HEAD there is none.
 */
TRC_API int trace_http_answer(const struct trace_http_request *request,
			      struct trace_http_reply *reply, const struct trace_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
