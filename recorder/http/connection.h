/*
 * connection.h - the server's open connections: how long each may take, and which connection is
 * dropped for a new one.  Each connection is for one request.
 *
 *	READING    until the request is whole; ten seconds at most, however it trickles
 *	ANSWERING  the workers have it, and it may take as long as was asked for
 *	SENDING    the reply; a minute, and as long as it takes at RATE_BYTES a second
 *
 * Context: trc-http, all functions.
 */
#ifndef TRC_RECORDER_HTTP_CONNECTION_H
#define TRC_RECORDER_HTTP_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

enum trc_http_phase { TRC_HTTP_PHASE_READING, TRC_HTTP_PHASE_ANSWERING, TRC_HTTP_PHASE_SENDING };

struct trc_http_connection {
	struct trc_http_connection *next, **link;
	enum trc_http_phase phase;
	int socket;		   /* libmicrohttpd's */
	uint64_t begin_ms, end_ms; /* of the phase; end 0 = none */
	bool is_dropped;	   /* shut down; libmicrohttpd will close it */
};

struct trc_http_connections {
	struct trc_http_connection *first, **last; /* in the order in which they came */
	unsigned int n;
};

uint64_t trc_http_now_ms(void);
void trc_http_connections_init(struct trc_http_connections *all);
/* NULL = no memory. */
struct trc_http_connection *trc_http_connection_open(struct trc_http_connections *all, int socket);
void trc_http_connection_close(struct trc_http_connections *all, struct trc_http_connection *c);

/* The workers have the request; or the workers are done, and the reply has so many bytes. */
void trc_http_connection_answering(struct trc_http_connection *c);
void trc_http_connection_sending(struct trc_http_connection *c, uint64_t reply_bytes);

/* Drops connections whose time is up.  Returns the time until the next connection's time is up; -1
 * = there is none. */
int trc_http_connections_late(struct trc_http_connections *all);
/* The connection to drop for a new one: the oldest connection whose request is not whole yet; else
 * the connection that has been reading its reply for longest, if for at least half a minute.  NULL
 * = none. */
struct trc_http_connection *trc_http_connections_idle(const struct trc_http_connections *all);
void trc_http_connection_drop(struct trc_http_connection *c);

/* ---- peer.c ---- */

/* Lets the kernel find out when the other side is gone without having closed the connection. */
void trc_http_peer_watch(int socket);
/* For a connection whose other side will send nothing more: true if the other side does not read
 * either.  This is known only for programs on this machine. */
bool trc_http_peer_is_gone(int socket);

#endif
