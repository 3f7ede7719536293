/* connections.c - see connections.h. */
#include "connections.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "format/now.h"

enum {
	READING_MS = 10000,
	SENDING_MS = 60000,
	RATE_BYTES = 16 << 10,
	ROOM = TRC_CONNECTIONS_MAX / 4, /* that is made at a time */
};

uint64_t trc_view_now_ms(void)
{
	return trc_now_ns(CLOCK_MONOTONIC) / 1000000;
}

void trc_connections_init(struct trc_connections *all)
{
	*all = (struct trc_connections){.last = &all->first};
	pthread_mutex_init(&all->lock, NULL);
}

struct trc_connection *trc_connection_open(struct trc_connections *all, int socket)
{
	struct trc_connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->socket = socket;
	c->end_ms = trc_view_now_ms() + READING_MS;
	pthread_mutex_lock(&all->lock);
	c->link = all->last;
	*all->last = c;
	all->last = &c->next;
	all->n++;
	pthread_mutex_unlock(&all->lock);
	return c;
}

void trc_connection_close(struct trc_connections *all, struct trc_connection *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&all->lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	else
		all->last = c->link;
	all->n--;
	pthread_mutex_unlock(&all->lock);
	free(c);
}

void trc_connection_phase(struct trc_connections *all, struct trc_connection *c,
			  enum trc_phase phase, uint64_t reply_bytes)
{
	if (!c)
		return;
	pthread_mutex_lock(&all->lock);
	c->phase = phase;
	c->end_ms = phase == TRC_PHASE_SENDING ? trc_view_now_ms() + SENDING_MS +
							 reply_bytes * 1000 / (uint64_t)RATE_BYTES
					       : 0;
	pthread_mutex_unlock(&all->lock);
}

static void connection_close(struct trc_connection *c)
{
	c->is_dropped = true;
	shutdown(c->socket, SHUT_RDWR); /* libmicrohttpd finds its end */
}

void trc_connections_look(struct trc_connections *all)
{
	uint64_t now_ms = trc_view_now_ms();
	unsigned int room = 0;

	pthread_mutex_lock(&all->lock);
	if (all->n >= TRC_CONNECTIONS_MAX)
		room = ROOM;
	for (struct trc_connection *c = all->first; c; c = c->next) {
		if (c->is_dropped)
			continue;
		if (c->end_ms && c->end_ms <= now_ms) {
			connection_close(c);
		} else if (room && c->phase == TRC_PHASE_READING) {
			connection_close(c);
			room--;
		}
	}
	pthread_mutex_unlock(&all->lock);
}

bool trc_connections_are_busy(struct trc_connections *all)
{
	bool busy = false;

	pthread_mutex_lock(&all->lock);
	for (struct trc_connection *c = all->first; c; c = c->next)
		busy |= !c->is_dropped && c->phase != TRC_PHASE_READING;
	pthread_mutex_unlock(&all->lock);
	return busy;
}
