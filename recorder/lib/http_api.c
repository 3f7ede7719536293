/* http_api.c - the public functions of <trc/http.h>. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "trc/http.h"
#include "http_source.h"
#include "recorder/profile/part.h"
#include "recorder/ring/rec.h"
#include "recording.h"
#include "format/raw.h"

/* Guards server, its part and ends; nothing of the recording's is locked around it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trc_http_server *server; /* NULL = none runs */
static const struct trc_http_part *server_part;
static bool ends_at_exit;
static _Atomic unsigned int served_port;
static _Atomic uint32_t server_pid; /* whose threads the server's are */

/* Without `lock` (part.h). */
static const struct trc_http_part *part_open(char *why, size_t n_bytes)
{
	const struct trc_http_part *part;

	trc_self.quiet++;
	part = trc_part_open("libtrc-http.so", "trc_http_part", why, n_bytes);
	trc_self.quiet--;
	if (part && part->version != TRC_HTTP_PART_VERSION) {
		snprintf(why, n_bytes, "libtrc-http.so is of another version than libtrc");
		part = NULL;
	}
	return part;
}

/* False in a child that did not come by our fork(), also in one that runs in our memory. */
static bool server_is_ours(void)
{
	return atomic_load_explicit(&server_pid, memory_order_relaxed) ==
	       (uint32_t)trc_raw1(SYS_getpid, 0);
}

/* Behind it, what there is is this process's. */
static void server_lock(void)
{
	trc_recording_notice_fork();
	if (server && !server_is_ours())
		trc_http_forget();
	pthread_mutex_lock(&lock);
}

/* ---- start and stop ---------------------------------------------------------------------- */

static int part_server_stop(bool at_exit)
{
	bool has_ended;

	if (!server)
		return -EINVAL;
	trc_self.quiet++;
	has_ended = server_part->stop(server, at_exit);
	trc_self.quiet--;
	if (has_ended)
		trc_http_profiles_end();
	server = NULL;
	atomic_store_explicit(&served_port, 0, memory_order_relaxed);
	return 0;
}

/* Before destructors run, of the libraries that the server uses too. */
static void server_stop_at_exit(void)
{
	if (!server_is_ours())
		return;
	pthread_mutex_lock(&lock);
	part_server_stop(true);
	pthread_mutex_unlock(&lock);
}

static int part_server_start(const struct trc_http_part *part, const char *address,
			     const struct trace_http_options *o, char *why, size_t n_bytes)
{
	const struct trc_http_server_options options = {
		.address = address,
		.token = o->token ? o->token : secure_getenv("TRC_HTTP_TOKEN"),
		.max_connections = o->max_connections,
		.source = &trc_http_own,
		.host = &trc_http_own_host,
	};
	int err;

	if (server) {
		snprintf(why, n_bytes, "%s: a server runs already", address);
		return -EBUSY;
	}
	/* Nobody who sets one up wants everybody to be let in when it comes out empty. */
	if (options.token && !*options.token) {
		snprintf(why, n_bytes, "%s: the token is empty", address);
		return -EINVAL;
	}
	err = trc_http_profiles_rates(o, why, n_bytes);
	if (err)
		return err;
	trc_self.quiet++;
	err = part->start(&server, &options, why, n_bytes);
	trc_self.quiet--;
	if (err)
		return err;
	atomic_store_explicit(&server_pid, (uint32_t)trc_raw1(SYS_getpid, 0), memory_order_relaxed);
	server_part = part;
	/* What trace-record records has its profiles there. */
	if (!o->on_demand && !trc_elsewhere)
		trc_http_profiles_begin();
	atomic_store_explicit(&served_port, part->port(server), memory_order_relaxed);
	if (!ends_at_exit)
		ends_at_exit = !atexit(server_stop_at_exit);
	return 0;
}

int trace_http_start(const char *address, const struct trace_http_options *options)
{
	struct trace_http_options known = TRACE_HTTP_OPTIONS_INIT;
	const struct trc_http_part *part;
	char why[400] = "";
	int err = 0;

	trc_api_clear();
	if (!address)
		return trc_api_fail(-EINVAL, "", "no address to serve at");
	if (options)
		err = trc_recording_copy(&known, sizeof(known), options, "TRACE_HTTP_OPTIONS_INIT");
	if (err)
		return err;
	if (known.max_connections > 1000)
		return trc_api_fail(-EINVAL, "max_connections", "at most 1000");
	part = part_open(why, sizeof(why));
	if (!part)
		return trc_api_fail(-ENOTSUP, "", why);
	server_lock();
	err = part_server_start(part, address, &known, why, sizeof(why));
	pthread_mutex_unlock(&lock);
	return *why ? trc_api_fail(err, "", why) : err;
}

unsigned int trace_http_port(void)
{
	return server_is_ours() ? atomic_load_explicit(&served_port, memory_order_relaxed) : 0;
}

int trace_http_stop(void)
{
	int err;

	trc_api_clear();
	server_lock();
	err = part_server_stop(false);
	pthread_mutex_unlock(&lock);
	return err ? trc_api_fail(err, "", "no server runs") : 0;
}

void trc_http_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
	server = NULL;
	atomic_store_explicit(&served_port, 0, memory_order_relaxed);
	trc_http_profiles_forget();
}

/* ---- one request ------------------------------------------------------------------------- */

static bool server_wait(void *context, uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
	return true;
}

struct header {
	char *text;
	size_t n_bytes, used;
	bool no_connection; /* that is the server's business */
};

static void server_add_line(void *context, const char *name, const char *value)
{
	struct header *h = context;
	int n;

	if (h->no_connection && !strcmp(name, "Connection"))
		return;
	n = snprintf(h->text + h->used, h->n_bytes - h->used, "%s: %s\r\n", name, value);
	if (n > 0 && (size_t)n < h->n_bytes - h->used)
		h->used += (size_t)n;
	else
		h->text[h->used] = '\0';
}

static int file_copy_to(const char *path, const struct trace_writer *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *chunk = malloc(65536);
	int err = fd < 0 ? -errno : chunk ? 0 : -ENOMEM;
	ssize_t n;

	while (!err && (n = read(fd, chunk, 65536)) != 0)
		err = n < 0 ? -errno : to->write(to->context, chunk, (size_t)n);
	free(chunk);
	if (fd >= 0)
		close(fd);
	return err;
}

static int server_write_body(const struct trc_http_reply *r, const struct trace_writer *to)
{
	if (r->path[0])
		return file_copy_to(r->path, to);
	return r->body_bytes ? to->write(to->context, r->body, r->body_bytes) : 0;
}

static int writer_finish(const struct trace_writer *to, int err)
{
	int finished = to->finish ? to->finish(to->context, err) : 0;

	return err ? err : finished;
}

/* The length of the body; false if nobody knows. */
static bool body_bytes(const struct trc_http_reply *r, unsigned long long *n_bytes)
{
	struct stat st;

	*n_bytes = r->body_bytes;
	if (r->path[0] && stat(r->path, &st))
		return false;
	if (r->path[0])
		*n_bytes = (unsigned long long)st.st_size;
	return !r->no_body;
}

static void make_header(const struct trc_http_part *part, const struct trc_http_reply *r,
			struct header *h)
{
	unsigned long long n_bytes;
	char text[32];

	if (body_bytes(r, &n_bytes)) {
		snprintf(text, sizeof(text), "%llu", n_bytes);
		server_add_line(h, "Content-Length", text);
	}
	part->headers(r, server_add_line, h);
}

/* Answers; 0, and *r is to be freed, or a negative errno. */
static int http_request_answer(const struct trc_http_part **part,
			       const struct trc_http_request *request, struct trc_http_reply *r)
{
	char why[300];

	memset(r, 0, sizeof(*r));
	if (!request->method || !request->url)
		return trc_api_fail(-EINVAL, "", "no method or no url");
	*part = part_open(why, sizeof(why));
	if (!*part)
		return trc_api_fail(-ENOTSUP, "", why);
	(*part)->answer(&trc_http_own, request, r);
	return 0;
}

/* The whole reply, as it goes over the connection. */
static int write_reply(const struct trc_http_part *part, const struct trc_http_reply *r,
		       const struct trace_writer *to)
{
	char text[1024];
	struct header h = {text, sizeof(text), 0, false};

	h.used = (size_t)snprintf(text, sizeof(text), "HTTP/1.1 %u %s\r\n", r->status,
				  part->status_text(r->status));
	make_header(part, r, &h);
	memcpy(text + h.used, "\r\n", 2);
	return to->write(to->context, text, h.used + 2);
}

static void fill_reply(const struct trc_http_part *part, const struct trc_http_reply *r,
		       struct trace_http_reply *reply)
{
	struct header h = {reply->header, sizeof(reply->header), 0, true};

	reply->status = r->status;
	reply->header[0] = '\0';
	make_header(part, r, &h);
}

int trace_http_answer(const struct trace_http_request *from, struct trace_http_reply *reply,
		      const struct trace_writer *writer)
{
	struct trace_http_request known = TRACE_HTTP_REQUEST_INIT;
	struct trc_http_request request = {.wait = {server_wait, NULL}};
	const struct trc_http_part *part;
	struct trc_http_reply r;
	int err;

	trc_api_clear();
	err = trc_recording_copy(&known, sizeof(known), from, "TRACE_HTTP_REQUEST_INIT");
	if (!err && reply && reply->struct_bytes < sizeof(*reply))
		err = trc_api_fail(-EINVAL, "reply",
				   "struct_bytes is wrong: use TRACE_HTTP_REPLY_INIT");
	request.method = known.method;
	request.url = known.url;
	request.body = known.body;
	request.body_bytes = known.body_bytes;
	if (!err)
		err = http_request_answer(&part, &request, &r);
	if (err)
		return writer_finish(writer, err);
	if (reply)
		fill_reply(part, &r, reply);
	else
		err = write_reply(part, &r, writer);
	if (!err && strcmp(known.method, "HEAD"))
		err = server_write_body(&r, writer);
	part->reply_free(&r);
	return writer_finish(writer, err);
}

/* ---- programs that know nothing of it ----------------------------------------------------- */

/* TRC_HTTP_FILE gets what came of TRC_HTTP: the address that is served, or why none is.  It
 * appears when it is complete, and stays: programs that this one runs have the same environment,
 * and an address or none of their own. */
static void outcome_tell(const char *path, int err)
{
	char temporary[512], text[600];
	int fd, n = err ? snprintf(text, sizeof(text), "error: %s\n", trace_last_error())
			: snprintf(text, sizeof(text), "port: %u\n%s%s", trace_http_port(),
				   trace_last_error(), *trace_last_error() ? "\n" : "");

	if (snprintf(temporary, sizeof(temporary), "%s.%u.tmp", path, (unsigned int)getpid()) >=
	    (int)sizeof(temporary))
		return;
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	if (write(fd, text, (size_t)n) != n || link(temporary, path))
		n = 0; /* no room, or somebody was first: either way nothing is to be done */
	unlink(temporary);
	close(fd);
}

/* Nothing is printed into the program.  trace_last_error() says what came of it to the program's first
 * thread, until its next call. */
__attribute__((constructor)) static void start_by_environment(void)
{
	const char *address = secure_getenv("TRC_HTTP");
	const char *file = secure_getenv("TRC_HTTP_FILE");
	int saved_errno = errno;
	char why[200];

	/* For trace_http_answer(); who starts a server is told what is wrong with them. */
	trc_http_profiles_rates(NULL, why, sizeof(why));
	if (address && *address) {
		int err = trace_http_start(address, NULL);

		if (file && *file)
			outcome_tell(file, err);
	}
	errno = saved_errno;
}
