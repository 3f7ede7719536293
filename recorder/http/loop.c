/* loop.c - the thread with the sockets; see server.h.  Context: trc-http */
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "format/raw.h"
#include "connection.h"
#include "server.h"

enum {
	WAKE_SIGNAL = SIGURG, /* server:Y4: blocked there, so it does not matter who handles it */
	IDLE_CONNECTION_SECONDS = 30,
	BACKLOG = 128,
	LOOK_MS = 1000,	  /* for whoever sends nothing more */
	RECOVER_MS = 100, /* from an accept() that failed */
	N_FD = 3,	  /* before those of exchanges */
};

struct loop {
	struct trc_http_server *server;
	struct MHD_Daemon *daemon;
	int listener, signals, epoll;
	struct trc_http_exchange *open; /* handed over */
	struct trc_http_connections connections;
	bool is_wanted;	     /* somebody waits to be accepted */
	uint64_t recover_ms; /* when to accept again */
	struct pollfd *fd;
};

void trc_http_wake(struct trc_http_server *s)
{
	/* acquire: pairs with the release of the server's thread, which stores its tid. */
	uint32_t tid = atomic_load_explicit(&s->tid, memory_order_acquire);

	if (tid)
		trc_raw3(SYS_tgkill, trc_raw1(SYS_getpid, 0), tid, WAKE_SIGNAL);
}

int trc_http_can_serve(char *why, size_t n_bytes)
{
	return 0;
}

/* ---- requests ---------------------------------------------------------------------------- */

/* The first that is heard of one; what it returns is libmicrohttpd's context of it. */
static void *request_begin(void *cls, const char *uri, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct loop *l = cls;
	struct trc_http_exchange *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->server = l->server;
	x->its = info ? info->socket_context : NULL;
	x->connection = connection;
	x->url = strdup(uri);
	if (!x->url) {
		free(x);
		return NULL;
	}
	return x;
}

static void loop_request_end(void *cls, struct MHD_Connection *connection, void **context,
			     enum MHD_RequestTerminationCode why)
{
	struct trc_http_exchange *x = *context;

	*context = NULL;
	if (!x)
		return;
	trc_http_reply_free(&x->reply);
	free(x->body);
	free(x->url);
	free(x);
}

static void loop_connection_notice(void *cls, struct MHD_Connection *connection, void **context,
				   enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct loop *l = cls;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		trc_http_connection_close(&l->connections, *context);
		*context = NULL;
	} else {
		*context = trc_http_connection_open(&l->connections, info ? info->connect_fd : -1);
	}
}

static void copy_header(const struct trc_http_exchange *x, const char *name, char *to,
			size_t n_bytes)
{
	const char *value = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);

	snprintf(to, n_bytes, "%s", value ? value : "");
}

static void request_header_read(struct trc_http_exchange *x, const char *method)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	x->socket = info ? info->connect_fd : -1;
	snprintf(x->method, sizeof(x->method), "%s", method);
	copy_header(x, "Host", x->host, sizeof(x->host));
	copy_header(x, "Authorization", x->authorization, sizeof(x->authorization));
	copy_header(x, "Origin", x->origin, sizeof(x->origin));
	copy_header(x, "Sec-Fetch-Site", x->fetch_site, sizeof(x->fetch_site));
	x->has_begun = true;
}

/* What is too large is read all the same: only then the other side reads what we say. */
static void read_body(struct trc_http_exchange *x, const char *bytes, size_t n_bytes)
{
	char *body;

	if (x->is_too_large || n_bytes > TRC_HTTP_REQUEST_BYTES_MAX - x->body_bytes) {
		x->is_too_large = true;
		return;
	}
	body = realloc(x->body, x->body_bytes + n_bytes);
	if (!body) {
		x->is_too_large = true;
		return;
	}
	memcpy(body + x->body_bytes, bytes, n_bytes);
	x->body = body;
	x->body_bytes += n_bytes;
}

/* ---- replies ----------------------------------------------------------------------------- */

static struct MHD_Response *file_response(struct trc_http_reply *r, uint64_t *n_bytes)
{
	int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct MHD_Response *response = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		*n_bytes = (uint64_t)st.st_size;
		response = MHD_create_response_from_fd64(*n_bytes, fd);
	}
	if (!response && fd >= 0)
		close(fd);
	if (!response)
		trc_http_fail(r, 500, "the file that was made is gone");
	return response;
}

static ssize_t no_more(void *cls, uint64_t pos, char *to, size_t n_bytes)
{
	return MHD_CONTENT_READER_END_OF_STREAM;
}

/* To HEAD, of a body that nobody has made: no length is told, as 0 would be taken for one, and no
 * encoding by chunks, of which libmicrohttpd would send the last. */
static struct MHD_Response *unknown_response(void)
{
	struct MHD_Response *response =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, no_more, NULL, NULL);

	if (response)
		MHD_set_response_options(response, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
	return response;
}

static struct MHD_Response *make_response(struct trc_http_reply *r, uint64_t *n_bytes)
{
	struct MHD_Response *response = r->path[0] ? file_response(r, n_bytes) : NULL;

	if (response)
		return response;
	*n_bytes = r->body_bytes;
	if (r->no_body && !r->is_error)
		return unknown_response();
	response = MHD_create_response_from_buffer(r->body_bytes, r->body, MHD_RESPMEM_MUST_FREE);
	if (response)
		r->body = NULL; /* it has it now */
	return response;
}

static void add_header(void *response, const char *name, const char *value)
{
	MHD_add_response_header(response, name, value);
}

static enum MHD_Result reply_deliver(struct trc_http_exchange *x)
{
	uint64_t reply_bytes = 0;
	struct MHD_Response *response = make_response(&x->reply, &reply_bytes);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	trc_http_connection_sending(x->its, reply_bytes);
	trc_http_headers(&x->reply, add_header, response);
	result = MHD_queue_response(x->connection, x->reply.status, response);
	MHD_destroy_response(response);
	return result;
}

static bool is_stopping(struct trc_http_server *s)
{
	bool is;

	pthread_mutex_lock(&s->lock);
	is = s->is_stopping;
	pthread_mutex_unlock(&s->lock);
	return is;
}

static enum MHD_Result loop_request_handle(void *cls, struct MHD_Connection *connection,
					   const char *url, const char *method, const char *version,
					   const char *upload, size_t *upload_bytes, void **context)
{
	struct trc_http_exchange *x = *context;
	struct loop *l = cls;

	if (!x)
		return MHD_NO; /* no memory: the connection ends */
	if (!x->has_begun) {
		request_header_read(x, method);
		return MHD_YES;
	}
	if (*upload_bytes) {
		read_body(x, upload, *upload_bytes);
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (x->state == TRC_HTTP_DONE)
		return reply_deliver(x);
	if (!trc_http_pool_put(l->server, x))
		return MHD_NO; /* nobody would answer, or resume it */
	/* However soon it is answered: only this thread resumes (server:Y1). */
	MHD_suspend_connection(connection);
	trc_http_connection_answering(x->its);
	x->next_open = l->open;
	l->open = x;
	return MHD_YES;
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void resume_done(struct loop *l)
{
	struct trc_http_exchange **link = &l->open, *x;

	pthread_mutex_lock(&l->server->lock);
	while ((x = *link)) {
		if (x->state == TRC_HTTP_DONE) {
			*link = x->next_open;
			MHD_resume_connection(x->connection);
		} else {
			link = &x->next_open;
		}
	}
	pthread_mutex_unlock(&l->server->lock);
}

static void exchange_cancel(struct trc_http_exchange *x)
{
	pthread_mutex_lock(&x->server->lock);
	x->is_cancelled = true;
	pthread_cond_broadcast(&x->server->changed);
	pthread_mutex_unlock(&x->server->lock);
}

/* -1 = never. */
static int least_ms(int a_ms, int b_ms)
{
	return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* Those who wait to be let in, as many as there is room for.  If there is none somebody idle makes
 * it: silence shuts nobody out. */
static void accept_all(struct loop *l)
{
	struct trc_http_connection *idle = NULL;
	struct sockaddr_storage from;
	socklen_t n_bytes;
	int fd;

	if (l->connections.n >= l->server->max_connections)
		idle = trc_http_connections_idle(&l->connections);
	if (idle) {
		trc_http_connection_drop(idle);
		MHD_run(l->daemon);
	}
	while (l->connections.n < l->server->max_connections) {
		n_bytes = sizeof(from);
		fd = accept4(l->listener, (struct sockaddr *)&from, &n_bytes,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			    errno == ENOMEM)
				l->recover_ms = trc_http_now_ms() + RECOVER_MS;
			return;
		}
		trc_http_peer_watch(fd);
		/* It closes what it does not take. */
		MHD_add_connection(l->daemon, fd, (struct sockaddr *)&from, n_bytes);
	}
}

/* Whoever waits for an answer may have gone: libmicrohttpd does not look while it is suspended.  A
 * client that sends nothing more may wait all the same: it is looked at from time to time. */
static void look_for(struct trc_http_exchange *x, short revents)
{
	if (revents & (POLLERR | POLLHUP))
		exchange_cancel(x);
	else if (revents)
		x->sends_no_more = true;
	if (!x->sends_no_more || x->is_cancelled || trc_http_now_ms() < x->look_ms)
		return;
	x->look_ms = trc_http_now_ms() + LOOK_MS;
	if (trc_http_peer_is_gone(x->socket))
		exchange_cancel(x);
}

static bool may_accept(const struct loop *l)
{
	return l->connections.n < l->server->max_connections ||
	       trc_http_connections_idle(&l->connections);
}

static unsigned int poll_set(struct loop *l, int *ms)
{
	bool recovers = l->recover_ms > trc_http_now_ms();
	unsigned int n = N_FD;

	if (recovers)
		*ms = least_ms(*ms, RECOVER_MS);
	l->fd[0] = (struct pollfd){.fd = l->signals, .events = POLLIN};
	l->fd[1] = (struct pollfd){.fd = l->epoll, .events = POLLIN};
	l->fd[2] = (struct pollfd){.fd = may_accept(l) && !recovers ? l->listener : -1,
				   .events = POLLIN};
	for (struct trc_http_exchange *x = l->open; x; x = x->next_open) {
		l->fd[n++] = (struct pollfd){.fd = x->is_cancelled ? -1 : x->socket,
					     .events = x->sends_no_more ? 0 : POLLRDHUP};
		if (x->sends_no_more && !x->is_cancelled)
			*ms = least_ms(*ms, LOOK_MS);
	}
	return n;
}

static void wait_for_something(struct loop *l)
{
	struct signalfd_siginfo unused[8];
	MHD_UNSIGNED_LONG_LONG timeout_ms;
	unsigned int n, i = N_FD;
	int ms = trc_http_connections_late(&l->connections);

	if (MHD_get_timeout(l->daemon, &timeout_ms) == MHD_YES)
		ms = least_ms(ms, timeout_ms < 60000 ? (int)timeout_ms : 60000);
	if (l->connections.n >= l->server->max_connections)
		ms = least_ms(ms, LOOK_MS); /* somebody may become idle by waiting */
	n = poll_set(l, &ms);
	l->is_wanted = false;
	if (poll(l->fd, n, ms) < 0)
		return;
	if (l->fd[0].revents && read(l->signals, unused, sizeof(unused)) < 0)
		return;
	l->is_wanted = l->fd[2].revents;
	for (struct trc_http_exchange *x = l->open; x; x = x->next_open)
		look_for(x, l->fd[i++].revents);
}

/* What has been sent is read before anybody is dropped for not having sent it. */
static void loop_run(struct loop *l)
{
	MHD_run(l->daemon);
	if (l->is_wanted)
		accept_all(l);
}

/* ---- beginning and end ------------------------------------------------------------------- */

static int server_fail(struct trc_http_server *s, int err, const char *what)
{
	snprintf(s->why, sizeof(s->why), "%s: %s", what, strerror(-err));
	return err;
}

static int loop_listen_at(struct loop *l)
{
	struct trc_http_server *s = l->server;
	struct sockaddr_storage is;
	socklen_t n_bytes = sizeof(is);
	int one = 1;

	l->listener = socket(s->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->listener < 0)
		return server_fail(s, -errno, "a socket");
	setsockopt(l->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(l->listener, (struct sockaddr *)&s->address, s->address_bytes) ||
	    listen(l->listener, BACKLOG) ||
	    getsockname(l->listener, (struct sockaddr *)&is, &n_bytes))
		return server_fail(s, -errno, "cannot listen there");
	s->port = ntohs(is.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&is)->sin6_port
						 : ((struct sockaddr_in *)&is)->sin_port);
	return 0;
}

static int loop_start_daemon(struct loop *l)
{
	const union MHD_DaemonInfo *info;
	const unsigned int flags =
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;

	l->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, loop_request_handle, l, MHD_OPTION_CONNECTION_LIMIT,
		l->server->max_connections, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)IDLE_CONNECTION_SECONDS, MHD_OPTION_NOTIFY_COMPLETED,
		loop_request_end, l, MHD_OPTION_NOTIFY_CONNECTION, loop_connection_notice, l,
		MHD_OPTION_URI_LOG_CALLBACK, request_begin, l, MHD_OPTION_END);
	if (!l->daemon)
		return server_fail(l->server, -ENOMEM, "libmicrohttpd does not start");
	info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	l->epoll = info ? info->epoll_fd : -1;
	return l->epoll < 0 ? server_fail(l->server, -ENOTSUP, "libmicrohttpd has no epoll") : 0;
}

/* What anything prints is not to land in somebody's connection. */
static void keep_standard_numbers(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd < 2);
	if (fd > 2)
		close(fd);
}

static int loop_set_up(struct loop *l)
{
	struct trc_http_server *s = l->server;
	sigset_t wake;
	int err;

	l->listener = l->signals = -1;
	trc_http_connections_init(&l->connections);
	err = s->host->thread_begin("trc-http", true);
	if (err)
		return server_fail(s, err, "a descriptor table of its own");
	keep_standard_numbers();
	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	l->signals = signalfd(-1, &wake, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0)
		return server_fail(s, -errno, "a signalfd");
	l->fd = calloc(s->max_connections + N_FD, sizeof(*l->fd));
	if (!l->fd)
		return server_fail(s, -ENOMEM, "memory");
	err = loop_listen_at(l);
	if (!err)
		err = loop_start_daemon(l);
	return err;
}

static void loop_tear_down(struct loop *l)
{
	if (l->daemon)
		MHD_stop_daemon(l->daemon);
	if (l->listener >= 0)
		close(l->listener);
	if (l->signals >= 0)
		close(l->signals);
	free(l->fd);
	l->server->host->thread_end();
}

static void tell_ready(struct trc_http_server *s, int err)
{
	pthread_mutex_lock(&s->lock);
	s->err = err;
	s->is_ready = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void *trc_http_loop(void *server)
{
	struct loop l = {.server = server};
	struct trc_http_server *s = server;
	int err;

	/* release: pairs with the acquire in trc_http_wake(). */
	atomic_store_explicit(&s->tid, (uint32_t)trc_raw1(SYS_gettid, 0), memory_order_release);
	err = loop_set_up(&l);
	tell_ready(s, err);
	while (!err && !is_stopping(s)) {
		wait_for_something(&l);
		resume_done(&l);
		loop_run(&l);
	}
	if (!err) { /* what is being answered is, or is cut short; then nothing is suspended */
		trc_http_pool_end(s);
		resume_done(&l);
		loop_run(&l);
	}
	loop_tear_down(&l);
	pthread_mutex_lock(&s->lock);
	s->has_ended = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
