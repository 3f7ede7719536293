/*
 * connections.h - the open connections: how long each may take.  Each is for one request.
 *
 *	READING    until the request is whole; ten seconds at most, however it trickles
 *	ANSWERING  a page is made for it; the connection may take as long as this takes
 *	SENDING    the reply; a minute, and as long as it takes at RATE_BYTES a second
 *
 * If the most connections are open, the connection that has been READING longest makes room: silent clients
 * shut nobody out.
 *
 * Context: any thread, all functions.
 */
#ifndef TRC_VIEWER_SERVE_CONNECTIONS_H
#define TRC_VIEWER_SERVE_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { TRC_CONNECTIONS_MAX = 64 };

enum trc_phase { TRC_PHASE_READING, TRC_PHASE_ANSWERING, TRC_PHASE_SENDING };

struct trc_connection {
	struct trc_connection *next, **link;
	enum trc_phase phase;
	int socket;	 /* libmicrohttpd's, which closes it */
	uint64_t end_ms; /* of the phase; 0 = none */
	bool is_dropped; /* shut down */
};

struct trc_connections {
	pthread_mutex_t lock;		      /* guards all, and what is in the list */
	struct trc_connection *first, **last; /* in the order in which they came */
	unsigned int n;
};

uint64_t trc_view_now_ms(void);
void trc_connections_init(struct trc_connections *all);
/* NULL = no memory. */
struct trc_connection *trc_connection_open(struct trc_connections *all, int socket);
/* Both accept NULL. */
void trc_connection_close(struct trc_connections *all, struct trc_connection *c);
void trc_connection_phase(struct trc_connections *all, struct trc_connection *c,
			  enum trc_phase phase, uint64_t reply_bytes);
/* Shuts down connections whose time is up, and makes room. */
void trc_connections_look(struct trc_connections *all);
/* Whether somebody is being answered. */
bool trc_connections_are_busy(struct trc_connections *all);

#endif
