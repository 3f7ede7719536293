/*
 * server.h - listens on this machine alone, and answers (route.h).
 *
 *	libmicrohttpd's thread   sockets, requests, replies      its exchanges, the access, visitors
 *	the maker's thread       pages (maker.h)                 jobs, between put and done
 *	main                     looks, every so often           connections that are late, the end
 *
 *   serve:V5  a reply is complete before its first byte is sent: its status is true
 *   serve:V6  no request ends the server, and no request has to wait for another client
 */
#ifndef TRC_VIEWER_SERVE_SERVER_H
#define TRC_VIEWER_SERVE_SERVER_H

#include "source.h"

struct trc_server;

enum { TRC_ADDRESS_BYTES = 80 };

/* `source` is the server's while it runs.  port 0: the kernel chooses.  0 or -errno with a line in error. */
int trc_server_start(struct trc_server **out, struct trc_view_source *source, uint16_t port,
		     struct trc_error *error);
/* The address to print, or the one that works once. */
void trc_server_address(const struct trc_server *s, bool once, char text[TRC_ADDRESS_BYTES]);
/* To be called a few times a second.  Returns whether all pages that were opened are closed again. */
bool trc_server_look(struct trc_server *s);
void trc_server_stop(struct trc_server *s);

#endif
