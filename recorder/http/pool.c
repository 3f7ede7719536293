/* pool.c - the threads that answer requests; see server.h */
#include <errno.h>
#include <string.h>
#include "format/now.h"
#include "server.h"

#define IDLE_NS UINT64_C(10000000000)

/* A trc_http_wait, of an exchange. */
static bool pool_wait(void *context, uint64_t ns)
{
	struct trc_http_exchange *x = context;
	struct trc_http_server *s = x->server;
	struct timespec until = trc_from_now(CLOCK_MONOTONIC, ns);
	bool goes_on;

	pthread_mutex_lock(&s->lock);
	while (!s->is_stopping && !x->is_cancelled &&
	       pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT)
		;
	goes_on = !s->is_stopping && !x->is_cancelled;
	pthread_mutex_unlock(&s->lock);
	return goes_on;
}

static void exchange_answer(struct trc_http_exchange *x)
{
	struct trc_http_request request = {.method = x->method,
					   .url = x->url,
					   .body = x->body,
					   .body_bytes = x->body_bytes,
					   .wait = {pool_wait, x}};

	if (x->is_too_large)
		trc_http_fail(&x->reply, 413, "a body of more than %d bytes",
			      TRC_HTTP_REQUEST_BYTES_MAX);
	else if (!pool_wait(x, 0))
		trc_http_fail(&x->reply, 503, "the server ends");
	else if (trc_http_access(x->server, x))
		trc_http_answer(x->server->source, &request, &x->reply);
}

static int create_worker(struct trc_http_server *s);

/* The next to do; NULL: end this thread.  Locked. */
static struct trc_http_exchange *exchange_next(struct trc_http_server *s)
{
	struct timespec until = trc_from_now(CLOCK_MONOTONIC, IDLE_NS);
	struct trc_http_exchange *x;

	s->n_idle++;
	while (!s->queue && !s->is_stopping) {
		/* One waits for good, the others for a while; which one, changes meanwhile. */
		if (s->n_idle == 1)
			pthread_cond_wait(&s->changed, &s->lock);
		else if (pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT &&
			 s->n_idle > 1)
			break;
	}
	s->n_idle--;
	x = s->queue;
	if (x) {
		s->queue = x->next;
		if (!s->queue)
			s->queue_end = &s->queue;
		x->state = TRC_HTTP_BUSY;
	}
	return x;
}

static void *worker_run(void *server)
{
	struct trc_http_server *s = server;
	struct trc_http_exchange *x;

	s->host->thread_begin("trc-http-work", false);
	pthread_mutex_lock(&s->lock);
	while ((x = exchange_next(s))) {
		if (!s->n_idle && s->n_workers < s->max_connections)
			create_worker(s); /* or the next one waits for us */
		pthread_mutex_unlock(&s->lock);
		exchange_answer(x);
		pthread_mutex_lock(&s->lock);
		x->state = TRC_HTTP_DONE;
		trc_http_wake(s);
	}
	s->n_workers--;
	s->host->thread_end();
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Locked. */
static int create_worker(struct trc_http_server *s)
{
	pthread_t thread;
	int err = s->host->thread_create(&thread, worker_run, s);

	if (err)
		return err;
	pthread_detach(thread);
	s->n_workers++;
	return 0;
}

int trc_http_pool_start(struct trc_http_server *s)
{
	int err;

	s->queue_end = &s->queue;
	pthread_mutex_lock(&s->lock);
	err = create_worker(s);
	pthread_mutex_unlock(&s->lock);
	return err;
}

void trc_http_pool_end(struct trc_http_server *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->n_workers || s->is_abandoned)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

bool trc_http_pool_put(struct trc_http_server *s, struct trc_http_exchange *x)
{
	bool is_taken;

	pthread_mutex_lock(&s->lock);
	is_taken = !s->is_stopping;
	if (is_taken) {
		x->state = TRC_HTTP_QUEUED;
		x->next = NULL;
		*s->queue_end = x;
		s->queue_end = &x->next;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return is_taken;
}
