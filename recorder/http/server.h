/*
 * server.h - inside the server: the thread that has the sockets, and the threads that answer.
 *
 *	trc-http       descriptors of its own; libmicrohttpd's loop      exchanges: READING, DONE
 *	trc-http-work  the program's descriptors (timers and counters    exchanges: QUEUED, BUSY
 *	               of samples belong there); one for each request
 *	               that is being answered, and one that waits for the next
 *
 *   server:Y1  no thread but trc-http touches a descriptor of the server's or calls libmicrohttpd
 *   server:Y2  everything else in the server is guarded by `lock`.  A thread that holds `lock`
 *       waits only for `changed`
 *   server:Y3  an exchange that is QUEUED or BUSY belongs to the workers, except `is_cancelled`;
 *       else the exchange belongs to trc-http
 *   server:Y4  trc-http is woken by a signal sent to that very thread, which has it blocked and
 *       reads it from a signalfd: a descriptor's number means something else to other threads
 */
#ifndef TRC_RECORDER_HTTP_SERVER_H
#define TRC_RECORDER_HTTP_SERVER_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include "http.h"
#include "connection.h"
#include "reply.h"

enum {
	TRC_HTTP_REQUEST_BYTES_MAX = 64 << 10, /* of a body */
	TRC_HTTP_CONNECTIONS_MAX = 64,	       /* unless it is said otherwise */
};

enum trc_http_state { TRC_HTTP_READING, TRC_HTTP_QUEUED, TRC_HTTP_BUSY, TRC_HTTP_DONE };

struct trc_http_exchange {
	struct trc_http_server *server;
	struct trc_http_exchange *next;	     /* queued */
	struct trc_http_exchange *next_open; /* trc-http's list of all that it has handed over */
	enum trc_http_state state;
	bool has_begun;	   /* its header has been read */
	bool is_too_large; /* its body is */
	bool is_cancelled;
	bool sends_no_more; /* the other side; it may still read.  These two are trc-http's */
	uint64_t look_ms;   /* when to find out */
	void *connection;   /* libmicrohttpd's */
	struct trc_http_connection *its; /* NULL = no memory for one */
	int socket;
	char *url;
	char method[16];
	char host[256], authorization[1024], origin[256], fetch_site[16];
	char *body;
	size_t body_bytes;
	struct trc_http_reply reply;
};

struct trc_http_server {
	const struct trc_http_source *source;
	const struct trc_http_host *host;
	char *token; /* NULL = anybody may */
	unsigned int max_connections;
	struct sockaddr_storage address;
	socklen_t address_bytes;
	bool is_loopback;
	unsigned int port;

	pthread_t thread;
	_Atomic uint32_t tid; /* of trc-http; 0 = none */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_ready, is_stopping;
	bool is_abandoned; /* exit() waits no longer: trc-http leaves everything as it is */
	bool has_ended;	   /* trc-http, but for its return */
	int err;
	char why[300];
	struct trc_http_exchange *queue, **queue_end;
	unsigned int n_workers, n_idle;
};

/* ---- address.c ---- */

/* 0; or -EINVAL with a sentence in why. */
int trc_http_address(struct trc_http_server *s, const char *text, char *why, size_t n_bytes);
/* True if this exchange may be answered; else the exchange's reply says why not. */
bool trc_http_access(const struct trc_http_server *s, struct trc_http_exchange *x);

/* ---- pool.c ---- */

/* The first worker; it makes the others.  0 or -errno. */
int trc_http_pool_start(struct trc_http_server *s);
/* Waits until all workers have ended; s->is_stopping is set. */
void trc_http_pool_end(struct trc_http_server *s);
/* Hands an exchange over; false: the server ends, and no worker will answer.  All exchanges handed
 * over are DONE when trc_http_pool_end() returns.  Context: trc-http. */
bool trc_http_pool_put(struct trc_http_server *s, struct trc_http_exchange *x);

/* ---- loop.c, or no_loop.c without libmicrohttpd ---- */

/* The function of the thread trc-http.  Sets `s->is_ready` when the thread listens, or cannot
 * listen. */
void *trc_http_loop(void *server);
void trc_http_wake(struct trc_http_server *s);
/* 0 or -ENOTSUP with a sentence in why. */
int trc_http_can_serve(char *why, size_t n_bytes);

#endif
