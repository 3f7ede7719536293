/*
 * http.h - requests and replies, for any server that carries them and any source of profiles.
 *
 *	libtrc (lib/http_source.c): what there is     libtrc-http.so: how it is asked for
 *	      struct trc_http_source   <------   route.c, index.c, symbol.c
 *	      struct trc_http_host     <------   http_server.c, pool.c
 *
 * libtrc-http.so is opened on request (part.h), and depends on no library of trc's: a program with
 * a source of its own can use it, as trace-record does (tool/http.h).
 *
 *   http:W1  no request makes the process do more than its own API allows: sources check, and a
 *       thread of trc's own does the work
 *   http:W2  a reply is complete before its first byte is sent: the status is true, and a slow
 *       client holds up only its own connection
 */
#ifndef TRC_RECORDER_HTTP_HTTP_H
#define TRC_RECORDER_HTTP_HTTP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "trc/recorder.h"

struct trc_http_names; /* a source's own */

/* ---- what there is to serve ------------------------------------------------------------- */

/* Waits; false: the client is gone, or the server ends. */
struct trc_http_wait {
	bool (*wait)(void *context, uint64_t ns);
	void *context;
};

enum {
	TRC_HTTP_COUNTED = 1,	 /* `count` is known */
	TRC_HTTP_CUMULATIVE = 2, /* there is one without seconds=, too */
	TRC_HTTP_WINDOW = 4,	 /* there is one with seconds= */
	TRC_HTTP_EACH = 8,	 /* debug= goes up to 4 */
	/* With TRC_HTTP_CUMULATIVE: there might be, but take() refuses it here. */
	TRC_HTTP_NEEDS_SECONDS = 16,
};
struct trc_http_entry {
	const char *name;
	const char *what; /* a sentence or two; NULL = one of the program's own */
	unsigned int flags;
	uint64_t count;
	const char *rate; /* the parameter that has a window keep less; NULL = none has */
};
typedef void trc_http_each_fn(void *context, const struct trc_http_entry *entry);

struct trc_http_take {
	const char *name;
	unsigned int debug;
	uint64_t window_ns; /* 0 = of all the time, or of now */
	const char *event;  /* CPU only; NULL, 0 = the default */
	uint64_t period;
	int64_t rate; /* of a window, by the entry's parameter; 0 = as without */
	const struct trc_http_wait *wait;
};

/* Each function may be called by several threads at once.  Functions that return int return 0, or a
 * negative errno with a sentence in why; -ENOENT, -EINVAL, -EBUSY and -ENOTSUP have an HTTP status
 * of their own.
 */
struct trc_http_source {
	/* Calls fn for each profile, in the order of their names. */
	void (*each)(trc_http_each_fn *fn, void *context);
	/* How many records it has by now, at no cost if nothing records it; for those that are not
	 * TRC_HTTP_COUNTED.  NULL = nobody knows. */
	uint64_t (*count)(const char *name);
	/* Writes one; finishes *writer in any case.  -ENOSPC: as many are being taken as can be. */
	int (*take)(const struct trc_http_take *take, const struct trace_writer *writer, char *why,
		    size_t n_bytes);
	/* Into a new file, which is the caller's to remove. */
	int (*trace)(const char *path, uint64_t duration_ns, const struct trc_http_wait *wait,
		     char *why, size_t n_bytes);
	/* window_ns 0 = as it was set up. */
	int (*flight)(const char *path, uint64_t window_ns, char *why, size_t n_bytes);
	/* Where directories for such files are made. */
	const char *(*dir)(void);
	/* Arguments, each with its \0; how many bytes, or a negative errno. */
	long (*cmdline)(char *out, size_t n_bytes);
	/* Names of functions, for addresses as pprof has them: of a call, not behind it. NULL =
	 * none are to be had.  names_close() what was opened. */
	struct trc_http_names *(*names_open)(void);
	void (*names_close)(struct trc_http_names *names);
	/* Valid until the names are closed; NULL = not known. */
	const char *(*name)(struct trc_http_names *names, uint64_t address);
};

/* ---- one request ------------------------------------------------------------------------ */

struct trc_http_request {
	const char *method, *url;
	const void *body;
	size_t body_bytes;
	struct trc_http_wait wait;
};

struct trc_http_reply {
	unsigned int status;
	const char *type;			     /* Content-Type */
	char file_name[80];			     /* of the disposition; "" = none */
	const char *allow, *location, *authenticate; /* NULL = none */
	bool is_error;
	bool no_body; /* to HEAD, where the body would be work */
	void *body;   /* malloc'ed */
	size_t body_bytes, room_bytes;
	char path[256]; /* instead: a file that is to be removed, and its directory; "" = none */
};

/* Always fills in *reply, which the caller has zeroed; trc_http_reply_free() it.  Context: any
 * thread, may block. */
void trc_http_answer(const struct trc_http_source *source, const struct trc_http_request *request,
		     struct trc_http_reply *reply);
/* Frees the body and removes the file with its directory. */
void trc_http_reply_free(struct trc_http_reply *reply);
const char *trc_http_status_text(unsigned int status);
/* Calls fn for each line of the header but Content-Length. */
void trc_http_headers(const struct trc_http_reply *reply,
		      void (*fn)(void *context, const char *name, const char *value),
		      void *context);

/* ---- the server ------------------------------------------------------------------------- */

/* How threads of trc's own begin and end in this process (own_thread.h). */
struct trc_http_host {
	int (*thread_create)(pthread_t *thread, void *(*run)(void *), void *arg);
	int (*thread_begin)(const char *name, bool own_descriptors);
	void (*thread_end)(void);
};

struct trc_http_server_options {
	const char *address, *token; /* token NULL = anybody may */
	unsigned int max_connections;
	const struct trc_http_source *source;
	const struct trc_http_host *host;
};
struct trc_http_server;

/* What libtrc-http.so exports: `trc_http_part`. */
struct trc_http_part {
	uint32_t version;
	/* 0, with a warning in why or ""; or a negative errno with a sentence there. */
	int (*start)(struct trc_http_server **out, const struct trc_http_server_options *options,
		     char *why, size_t n_bytes);
	unsigned int (*port)(const struct trc_http_server *server);
	/* at_exit: waits a second for what is being answered.  false: threads are still at it, and
	 * neither the server nor what it serves may be freed. */
	bool (*stop)(struct trc_http_server *server, bool at_exit);
	void (*answer)(const struct trc_http_source *source, const struct trc_http_request *request,
		       struct trc_http_reply *reply);
	void (*reply_free)(struct trc_http_reply *reply);
	const char *(*status_text)(unsigned int status);
	void (*headers)(const struct trc_http_reply *reply,
			void (*fn)(void *context, const char *name, const char *value),
			void *context);
};
#define TRC_HTTP_PART_VERSION 4

#endif
