/* maker.c - see maker.h. */
#include "maker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trc_maker {
	struct trc_view_source *source;
	void (*done)(struct trc_job *job);
	pthread_t thread;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	struct trc_job *first, **last;
	bool is_stopping;
};

/* Who reloads a page leaves the one before; making that would have the new one wait. */
static bool peer_has_left(int socket)
{
	struct pollfd fd = {.fd = socket, .events = POLLRDHUP};

	return poll(&fd, 1, 0) > 0;
}

static bool is_job_left(void *job)
{
	return peer_has_left(((const struct trc_job *)job)->socket);
}

static int ask_source(struct trc_view_source *source, struct trc_job *job)
{
	const struct trc_route *route = &job->route;
	const struct trc_view_take take = {route->last_ns, route->id, route->snapshot};
	const struct trc_query query = {route->query, is_job_left, job};
	int err;

	switch (route->wanted) {
	case TRC_WANTED_TAKE:
		return trc_view_source_take(source, &take, &job->snapshot, &job->error);
	case TRC_WANTED_KEEP:
		return trc_view_source_keep(source, route->snapshot, &job->error);
	case TRC_WANTED_TRACE:
		return trc_view_source_snapshot_trace(source, route->snapshot, &job->page,
						      &job->error);
	case TRC_WANTED_SNAPSHOT_PAGE:
		return trc_view_source_snapshot_page(source, route->snapshot, route->without_sql,
						     &job->page, &job->error);
	case TRC_WANTED_SQL:
		return trc_view_source_query(source, route->snapshot, &route->window, &query,
					     &job->page, &job->error);
	default:
		err = trc_view_source_page(source, &route->window, route->without_sql, &job->page,
					   &job->error);
		if (!err && route->saves)
			trc_view_source_name_page(source, &route->window, &job->page);
		return err;
	}
}

static void job_make(struct trc_maker *m, struct trc_job *job, bool wanted)
{
	job->err = -ECANCELED;
	snprintf(job->error.text, sizeof(job->error.text), "nobody waits for this page");
	if (wanted && !peer_has_left(job->socket)) {
		job->error.text[0] = '\0';
		job->err = ask_source(m->source, job);
		if (job->err)
			job->page.fd = -1;
	}
	if (job->err && !job->error.text[0])
		snprintf(job->error.text, sizeof(job->error.text), "%s", strerror(-job->err));
	m->done(job);
}

/* Makes the next page that somebody waits for; false: nobody does.  The lock is held, but for the making. */
static bool make_next(struct trc_maker *m)
{
	struct trc_job *job = m->first;
	bool wanted = !m->is_stopping;

	if (!job)
		return false;
	m->first = job->next;
	if (!m->first)
		m->last = &m->first;
	pthread_mutex_unlock(&m->lock);
	job_make(m, job, wanted);
	pthread_mutex_lock(&m->lock);
	return true;
}

/* While something is kept that takes seconds: nobody waits for that. */
static int make_meanwhile(void *maker)
{
	struct trc_maker *m = maker;
	bool is_stopping;

	pthread_mutex_lock(&m->lock);
	while (make_next(m))
		;
	is_stopping = m->is_stopping;
	pthread_mutex_unlock(&m->lock);
	return is_stopping;
}

static void *maker_run(void *maker)
{
	struct trc_maker *m = maker;
	bool is_prepared = !trc_view_source_is_kept(m->source), is_kept = false;

	if (is_prepared)
		trc_view_source_prepare(m->source); /* meanwhile the browser starts */
	pthread_mutex_lock(&m->lock);
	while (!m->is_stopping || m->first) {
		bool has_made = make_next(m);

		if (!m->is_stopping && !is_prepared && has_made) {
			pthread_mutex_unlock(&m->lock);
			trc_view_source_prepare(m->source); /* somebody looks at the whole */
			pthread_mutex_lock(&m->lock);
			is_prepared = true;
		}
		if (m->first || m->is_stopping)
			continue;
		if (is_prepared && !is_kept) {
			pthread_mutex_unlock(&m->lock);
			trc_view_source_keep_prepared(m->source, make_meanwhile, m);
			pthread_mutex_lock(&m->lock);
			is_kept = true;
			continue;
		}
		pthread_cond_wait(&m->changed, &m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

int trc_maker_start(struct trc_maker **out, struct trc_view_source *source,
		    void (*done)(struct trc_job *job))
{
	struct trc_maker *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	*m = (struct trc_maker){.source = source, .done = done, .last = &m->first};
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	err = pthread_create(&m->thread, NULL, maker_run, m);
	if (err)
		trc_maker_free(m);
	else
		*out = m;
	return -err;
}

bool trc_maker_put(struct trc_maker *m, struct trc_job *job)
{
	bool is_taken;

	pthread_mutex_lock(&m->lock);
	is_taken = !m->is_stopping;
	if (is_taken) {
		job->next = NULL;
		*m->last = job;
		m->last = &job->next;
		pthread_cond_signal(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
	return is_taken;
}

void trc_maker_stop(struct trc_maker *m)
{
	pthread_mutex_lock(&m->lock);
	m->is_stopping = true;
	pthread_cond_signal(&m->changed);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
}

void trc_maker_free(struct trc_maker *m)
{
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
