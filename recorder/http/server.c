/* server.c - the server from its start to its end, and what libtrc-http.so exports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "format/now.h"
#include "server.h"

#define EXIT_NS UINT64_C(1000000000)

static void free_server(struct trc_http_server *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->token);
	free(s);
}

static struct trc_http_server *new_server(const struct trc_http_server_options *o)
{
	struct trc_http_server *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s)
		return NULL;
	s->source = o->source;
	s->host = o->host;
	s->max_connections = o->max_connections ? o->max_connections : TRC_HTTP_CONNECTIONS_MAX;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (o->token && *o->token) {
		s->token = strdup(o->token);
		if (!s->token) {
			free_server(s);
			return NULL;
		}
	}
	return s;
}

/* Says to all threads that this is the end. */
static void stop_threads(struct trc_http_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_stopping = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	trc_http_wake(s);
}

/* False: it takes longer than anybody wants to wait who has called exit().  Names of functions are
 * looked for, as a rule: nothing interrupts the search for one. */
static bool wait_at_exit(struct trc_http_server *s)
{
	struct timespec until = trc_from_now(CLOCK_MONOTONIC, EXIT_NS);
	bool has_ended;

	pthread_mutex_lock(&s->lock);
	while (!s->has_ended && pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT)
		;
	has_ended = s->has_ended;
	s->is_abandoned = !has_ended;
	pthread_mutex_unlock(&s->lock);
	return has_ended;
}

static bool http_server_stop(struct trc_http_server *s, bool at_exit)
{
	stop_threads(s);
	if (at_exit && !wait_at_exit(s))
		return false;
	pthread_join(s->thread, NULL);
	trc_http_pool_end(s);
	free_server(s);
	return true;
}

static int start_threads(struct trc_http_server *s, char *why, size_t n_bytes)
{
	int err = trc_http_pool_start(s);

	if (!err)
		err = s->host->thread_create(&s->thread, trc_http_loop, s);
	if (err) {
		snprintf(why, n_bytes, "threads to serve with: %s", strerror(-err));
		stop_threads(s);
		trc_http_pool_end(s);
		return err;
	}
	pthread_mutex_lock(&s->lock);
	while (!s->is_ready)
		pthread_cond_wait(&s->changed, &s->lock);
	err = s->err;
	pthread_mutex_unlock(&s->lock);
	if (err) {
		snprintf(why, n_bytes, "%s", s->why);
		stop_threads(s);
		pthread_join(s->thread, NULL);
		trc_http_pool_end(s);
	}
	return err;
}

static int http_server_start(struct trc_http_server **out, const struct trc_http_server_options *o,
			     char *why, size_t n_bytes)
{
	struct trc_http_server *s = new_server(o);
	char reason[300] = "no memory";
	int err = s ? trc_http_can_serve(reason, sizeof(reason)) : -ENOMEM;

	if (!err)
		err = trc_http_address(s, o->address, why, n_bytes);
	else
		snprintf(why, n_bytes, "%s", reason);
	if (!err) {
		err = start_threads(s, reason, sizeof(reason));
		if (err)
			snprintf(why, n_bytes, "%s: %s", o->address, reason);
	}
	if (err) {
		free_server(s);
		return err;
	}
	*why = '\0';
	if (!s->is_loopback)
		snprintf(why, n_bytes, "%s is reached from other machines%s", o->address,
			 s->token ? "" : ", and anybody there may read what this program does");
	*out = s;
	return 0;
}

static unsigned int server_port(const struct trc_http_server *s)
{
	return s->port;
}

extern const struct trc_http_part trc_http_part;
__attribute__((visibility("default"))) const struct trc_http_part trc_http_part = {
	.version = TRC_HTTP_PART_VERSION,
	.start = http_server_start,
	.port = server_port,
	.stop = http_server_stop,
	.answer = trc_http_answer,
	.reply_free = trc_http_reply_free,
	.status_text = trc_http_status_text,
	.headers = trc_http_headers,
};
