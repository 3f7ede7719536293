/* no_loop.c - in place of loop.c where trc is built without libmicrohttpd. */
#include <errno.h>
#include <stdio.h>
#include "server.h"

int trc_http_can_serve(char *why, size_t n_bytes)
{
	snprintf(why, n_bytes, "trc was built without libmicrohttpd");
	return -ENOTSUP;
}

void trc_http_wake(struct trc_http_server *s)
{
}

void *trc_http_loop(void *server)
{
	return NULL;
}
