/* connection.c - see connection.h */
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include "format/now.h"
#include "connection.h"

enum {
	READING_MS = 10000,
	SENDING_MS = 60000,
	RATE_BYTES = 16 << 10,
	PATIENCE_MS = 30000, /* with whoever reads a reply, where others wait */
};

uint64_t trc_http_now_ms(void)
{
	return trc_now_ns(CLOCK_MONOTONIC) / 1000000;
}

void trc_http_connections_init(struct trc_http_connections *all)
{
	*all = (struct trc_http_connections){.last = &all->first};
}

static void phase_enter(struct trc_http_connection *c, enum trc_http_phase phase, uint64_t ms)
{
	c->phase = phase;
	c->begin_ms = trc_http_now_ms();
	c->end_ms = ms ? c->begin_ms + ms : 0;
}

struct trc_http_connection *trc_http_connection_open(struct trc_http_connections *all, int socket)
{
	struct trc_http_connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->socket = socket;
	c->link = all->last;
	*all->last = c;
	all->last = &c->next;
	all->n++;
	phase_enter(c, TRC_HTTP_PHASE_READING, READING_MS);
	return c;
}

void trc_http_connection_close(struct trc_http_connections *all, struct trc_http_connection *c)
{
	if (!c)
		return;
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	else
		all->last = c->link;
	all->n--;
	free(c);
}

void trc_http_connection_answering(struct trc_http_connection *c)
{
	if (c)
		phase_enter(c, TRC_HTTP_PHASE_ANSWERING, 0);
}

void trc_http_connection_sending(struct trc_http_connection *c, uint64_t reply_bytes)
{
	if (c)
		phase_enter(c, TRC_HTTP_PHASE_SENDING,
			    SENDING_MS + reply_bytes * 1000 / (uint64_t)RATE_BYTES);
}

void trc_http_connection_drop(struct trc_http_connection *c)
{
	c->is_dropped = true;
	shutdown(c->socket, SHUT_RDWR); /* libmicrohttpd finds its end */
}

int trc_http_connections_late(struct trc_http_connections *all)
{
	uint64_t now_ms = trc_http_now_ms(), next_ms = UINT64_MAX;

	for (struct trc_http_connection *c = all->first; c; c = c->next) {
		if (c->is_dropped || !c->end_ms)
			continue;
		if (c->end_ms <= now_ms)
			trc_http_connection_drop(c);
		else if (c->end_ms < next_ms)
			next_ms = c->end_ms;
	}
	if (next_ms == UINT64_MAX)
		return -1;
	return next_ms - now_ms < 60000 ? (int)(next_ms - now_ms) : 60000;
}

struct trc_http_connection *trc_http_connections_idle(const struct trc_http_connections *all)
{
	uint64_t now_ms = trc_http_now_ms();
	struct trc_http_connection *slow = NULL;

	for (struct trc_http_connection *c = all->first; c; c = c->next) {
		if (c->is_dropped || c->phase == TRC_HTTP_PHASE_ANSWERING)
			continue;
		if (c->phase == TRC_HTTP_PHASE_READING)
			return c;
		if (now_ms - c->begin_ms >= PATIENCE_MS && (!slow || c->begin_ms < slow->begin_ms))
			slow = c;
	}
	return slow;
}
