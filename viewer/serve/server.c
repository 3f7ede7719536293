/* server.c - see server.h. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connections.h"
#include "frame.h"
#include "maker.h"
#include "reply.h"
#include "route.h"
#include "visitors.h"

/* Longer than what connections.h gives: who reads slowly is not cut off before. */
enum { IDLE_SECONDS = 120, BACKLOG = 128 };

struct trc_server {
	struct MHD_Daemon *daemon;
	struct trc_maker *maker;
	struct trc_access access; /* libmicrohttpd's thread's, once it runs */
	struct trc_frame frame;
	struct trc_connections connections;
	pthread_mutex_t lock; /* guards visitors */
	struct trc_visitors visitors;
	uint16_t port;
	int listener; /* -1 = it is libmicrohttpd's to close, or there is none */
};

/* A request, from its header to the end of its reply. */
struct exchange {
	struct trc_job job; /* its beginning: see page_done() */
	struct MHD_Connection *connection;
	struct trc_connection *its; /* NULL = no memory for one */
	bool has_begun, is_done;
};

/* ---- replies ----------------------------------------------------------------------------- */

/* Destroys the reply, which may be NULL. */
static enum MHD_Result deliver(struct trc_server *s, struct exchange *x, unsigned int status,
			       struct MHD_Response *reply, uint64_t n_bytes)
{
	enum MHD_Result result;

	if (!reply)
		return MHD_NO;
	trc_connection_phase(&s->connections, x->its, TRC_PHASE_SENDING, n_bytes);
	result = MHD_queue_response(x->connection, status, reply);
	MHD_destroy_response(reply);
	return result;
}

/* The same with one more header. */
static enum MHD_Result deliver_with(struct trc_server *s, struct exchange *x, unsigned int status,
				    struct MHD_Response *reply, const char *name, const char *value)
{
	if (reply && !trc_reply_header(reply, name, value)) {
		MHD_destroy_response(reply);
		reply = NULL;
	}
	return deliver(s, x, status, reply, 0);
}

static enum MHD_Result deliver_start(struct trc_server *s, struct exchange *x)
{
	char to[TRC_TOKEN_BYTES + 2];

	snprintf(to, sizeof(to), "/%s/", s->access.token);
	return deliver_with(s, x, MHD_HTTP_SEE_OTHER, trc_reply_line("see there"), "Location", to);
}

static enum MHD_Result deliver_frame(struct trc_server *s, struct exchange *x)
{
	return deliver_with(s, x, MHD_HTTP_OK,
			    trc_reply_bytes(TRC_REPLY_HTML, s->frame.bytes, s->frame.n_bytes),
			    "Content-Security-Policy", s->frame.policy);
}

static unsigned int reply_status(int err)
{
	switch (err) {
	case -EINVAL:
		return MHD_HTTP_BAD_REQUEST;
	case -ENOENT:
	case -ENOTSUP:
		return MHD_HTTP_NOT_FOUND;
	case -ENOSPC:
		return MHD_HTTP_INSUFFICIENT_STORAGE;
	case -ESRCH:
		return MHD_HTTP_GONE;
	case -ECANCELED:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	default:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}

/* The file is the reply's from now on. */
static enum MHD_Result deliver_file(struct trc_server *s, struct exchange *x)
{
	const struct trc_served_page page = x->job.page;

	x->job.page.fd = -1;
	return deliver(s, x, MHD_HTTP_OK, trc_reply_page(&page), page.n_bytes);
}

/* To the page of the snapshot that was taken: its address says which it is. */
static enum MHD_Result deliver_taken(struct trc_server *s, struct exchange *x)
{
	char to[TRC_TOKEN_BYTES + 64];

	snprintf(to, sizeof(to), "/%s/page?snapshot=%" PRIu64 "%s", s->access.token,
		 x->job.snapshot, x->job.route.without_sql ? "&without=sql" : "");
	return deliver_with(s, x, MHD_HTTP_SEE_OTHER, trc_reply_line("see there"), "Location", to);
}

static enum MHD_Result deliver_done(struct trc_server *s, struct exchange *x)
{
	const struct trc_job *job = &x->job;

	if (job->err)
		return deliver(s, x, reply_status(job->err), trc_reply_line(job->error.text), 0);
	switch (job->route.wanted) {
	case TRC_WANTED_TAKE:
		return deliver_taken(s, x);
	case TRC_WANTED_KEEP:
		return deliver(s, x, MHD_HTTP_OK, trc_reply_line("kept"), 0);
	default:
		return deliver_file(s, x);
	}
}

static enum MHD_Result deliver_refusal(struct trc_server *s, struct exchange *x,
				       const struct trc_route *route)
{
	struct MHD_Response *reply = trc_reply_line(route->why);

	if (route->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		return deliver_with(s, x, route->status, reply, "Allow", "GET");
	return deliver(s, x, route->status, reply, 0);
}

/* ---- requests ---------------------------------------------------------------------------- */

/* Context: the maker's thread. */
static void page_done(struct trc_job *job)
{
	struct exchange *x = (struct exchange *)job;

	x->is_done = true;
	MHD_resume_connection(x->connection);
}

static enum MHD_Result ask_maker(struct trc_server *s, struct exchange *x,
				 const struct trc_route *route)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	x->job.route = *route;
	x->job.socket = info ? info->connect_fd : -1;
	trc_connection_phase(&s->connections, x->its, TRC_PHASE_ANSWERING, 0);
	/* Suspended first: the page may be there before this function returns. */
	MHD_suspend_connection(x->connection);
	if (trc_maker_put(s->maker, &x->job))
		return MHD_YES;
	x->job.err = -ECANCELED;
	snprintf(x->job.error.text, sizeof(x->job.error.text), "trace-view ends");
	page_done(&x->job);
	return MHD_YES;
}

static enum MHD_Result tell_visitors(struct trc_server *s, struct exchange *x,
				     const struct trc_route *route)
{
	pthread_mutex_lock(&s->lock);
	if (route->wanted == TRC_WANTED_ALIVE)
		trc_visitor_heard(&s->visitors, route->id, trc_view_now_ms());
	else
		trc_visitor_gone(&s->visitors, route->id, trc_view_now_ms());
	pthread_mutex_unlock(&s->lock);
	return deliver(s, x, MHD_HTTP_OK, trc_reply_line("yes"), 0);
}

static const char *find_argument(const struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result request_serve(struct trc_server *s, struct exchange *x, const char *method,
				     const char *path)
{
	const struct trc_asking asking = {
		.method = method,
		.path = path,
		.host = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Host"),
		.id = find_argument(x, "id"),
		.from = find_argument(x, "from"),
		.to = find_argument(x, "to"),
		.last = find_argument(x, "last"),
		.shown = find_argument(x, "shown"),
		.snapshot = find_argument(x, "snapshot"),
		.without = find_argument(x, "without"),
		.save = find_argument(x, "save"),
		.query = find_argument(x, "q"),
	};
	const struct trc_route route = trc_route_find(&s->access, &asking);

	switch (route.wanted) {
	case TRC_WANTED_NOTHING:
		return deliver_refusal(s, x, &route);
	case TRC_WANTED_START:
		return deliver_start(s, x);
	case TRC_WANTED_FRAME:
		return deliver_frame(s, x);
	case TRC_WANTED_PAGE:
	case TRC_WANTED_SNAPSHOT_PAGE:
	case TRC_WANTED_TAKE:
	case TRC_WANTED_KEEP:
	case TRC_WANTED_TRACE:
	case TRC_WANTED_SQL:
		return ask_maker(s, x, &route);
	case TRC_WANTED_ALIVE:
	case TRC_WANTED_GONE:
		return tell_visitors(s, x, &route);
	}
	return MHD_NO;
}

static struct exchange *exchange_new(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct exchange *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->job.err = -ECANCELED; /* nothing is done yet */
	x->job.page.fd = -1;
	x->connection = connection;
	x->its = info ? info->socket_context : NULL;
	return x;
}

/* Called with the header, then with each piece of a body, then at the end of the request, and again
 * when it was resumed. */
static enum MHD_Result view_request_handle(void *cls, struct MHD_Connection *connection,
					   const char *url, const char *method, const char *version,
					   const char *upload, size_t *upload_bytes, void **context)
{
	struct exchange *x = *context;
	struct trc_server *s = cls;

	(void)version;
	(void)upload;
	if (!x) {
		x = exchange_new(connection);
		*context = x;
		return x ? MHD_YES : MHD_NO;
	}
	if (*upload_bytes) { /* of no interest, but only then the other side reads what we say */
		*upload_bytes = 0;
		return MHD_YES;
	}
	return x->is_done ? deliver_done(s, x) : request_serve(s, x, method, url);
}

static void view_request_end(void *cls, struct MHD_Connection *connection, void **context,
			     enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *context;

	(void)cls;
	(void)connection;
	(void)why;
	*context = NULL;
	if (x && x->job.page.fd >= 0)
		close(x->job.page.fd);
	free(x);
}

static void view_connection_notice(void *cls, struct MHD_Connection *connection, void **context,
				   enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct trc_server *s = cls;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		trc_connection_close(&s->connections, *context);
		*context = NULL;
	} else {
		*context = trc_connection_open(&s->connections, info ? info->connect_fd : -1);
	}
}

/* ---- beginning and end ------------------------------------------------------------------- */

static int view_listen_at(struct trc_server *s, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t n_bytes = sizeof(at);
	int one = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener < 0)
		return -errno;
	setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s->listener, (struct sockaddr *)&at, sizeof(at)) || listen(s->listener, BACKLOG) ||
	    getsockname(s->listener, (struct sockaddr *)&at, &n_bytes))
		return -errno;
	s->port = ntohs(at.sin_port);
	return 0;
}

static int view_start_daemon(struct trc_server *s)
{
	const unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;

	s->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, view_request_handle, s, MHD_OPTION_LISTEN_SOCKET, s->listener,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)TRC_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
		MHD_OPTION_NOTIFY_COMPLETED, view_request_end, s, MHD_OPTION_NOTIFY_CONNECTION,
		view_connection_notice, s, MHD_OPTION_END);
	if (!s->daemon)
		return -ENOMEM;
	s->listener = -1;
	return 0;
}

static int start_parts(struct trc_server *s, struct trc_view_source *source, uint16_t port,
		       struct trc_error *error)
{
	const char *what = "a random token";
	struct trc_overview overview;
	int err = trc_access_init(&s->access);

	if (!err) {
		what = "the frame of the page";
		trc_view_source_overview(source, &overview);
		err = trc_frame_make(&s->frame, trc_view_source_name(source),
				     trc_view_source_pid(source), trc_view_source_has_sql(source),
				     &overview);
	}
	if (!err) {
		what = "a thread that makes pages";
		err = trc_maker_start(&s->maker, source, page_done);
	}
	if (!err) {
		what = "cannot listen on 127.0.0.1";
		err = view_listen_at(s, port);
	}
	if (!err) {
		what = "libmicrohttpd does not start";
		err = view_start_daemon(s);
	}
	if (err)
		snprintf(error->text, sizeof(error->text), "%s: %s", what, strerror(-err));
	return err;
}

int trc_server_start(struct trc_server **out, struct trc_view_source *source, uint16_t port,
		     struct trc_error *error)
{
	struct trc_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		snprintf(error->text, sizeof(error->text), "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	s->listener = -1;
	trc_connections_init(&s->connections);
	pthread_mutex_init(&s->lock, NULL);
	err = start_parts(s, source, port, error);
	if (err)
		trc_server_stop(s);
	else
		*out = s;
	return err;
}

void trc_server_address(const struct trc_server *s, bool once, char text[TRC_ADDRESS_BYTES])
{
	snprintf(text, TRC_ADDRESS_BYTES, "http://127.0.0.1:%u/%s%s", s->port,
		 once ? s->access.key : s->access.token, once ? "" : "/");
}

bool trc_server_look(struct trc_server *s)
{
	bool over;

	trc_connections_look(&s->connections);
	pthread_mutex_lock(&s->lock);
	over = trc_visitors_are_over(&s->visitors, trc_view_now_ms());
	pthread_mutex_unlock(&s->lock);
	return over && !trc_connections_are_busy(&s->connections);
}

void trc_server_stop(struct trc_server *s)
{
	if (s->maker)
		trc_maker_stop(s->maker); /* it resumes what is suspended */
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	if (s->listener >= 0)
		close(s->listener);
	if (s->maker)
		trc_maker_free(s->maker);
	trc_frame_free(&s->frame);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->connections.lock);
	free(s);
}
