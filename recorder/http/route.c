/* route.c - which page a request asks for, with which parameters.
 *
 * Status codes, content types and dispositions are those of Go's net/http/pprof, as tools rely on
 * them.  One difference: where Go takes its default for an invalid value, the reply here is an
 * error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "format/raw.h"
#include "query.h"
#include "reply.h"

#define PREFIX "/debug/pprof/"
enum {
	SECONDS_MAX = 86400,
	CPU_SECONDS = 30,
	TRACE_SECONDS = 1,
};
#define SECOND_NS UINT64_C(1000000000)

/* ---- what was asked for ------------------------------------------------------------------ */

/* debug=: the number, or a reply that says what is wrong. */
static bool read_debug(const char *url, const struct trc_http_entry *entry,
		       struct trc_http_take *take, struct trc_http_reply *r)
{
	uint64_t debug = 0;
	bool good = !trc_http_number(url, "debug", UINT32_MAX, &debug);

	if (good && (debug <= 4 || !(entry->flags & TRC_HTTP_EACH))) {
		take->debug = (unsigned int)debug;
		return true;
	}
	if (good)
		trc_http_fail(r, 400, "invalid value for \"debug\" - %s has 0 to 4", entry->name);
	else
		trc_http_fail(r, 400, "invalid value for \"debug\" - must be a whole number");
	return false;
}

/* seconds= of a profile that there is without, too: a whole number, as pprof's tools have it. */
static bool read_window(const char *url, const struct trc_http_entry *entry,
			struct trc_http_take *take, struct trc_http_reply *r)
{
	char text[2];
	uint64_t seconds = 0;
	bool there = trc_http_value(url, "seconds", text, sizeof(text)) != -ENOENT;

	if (!there)
		return true;
	if (trc_http_number(url, "seconds", SECONDS_MAX, &seconds) || !seconds)
		trc_http_fail(
			r, 400,
			"invalid value for \"seconds\" - must be a positive integer, at most %d",
			SECONDS_MAX);
	else if (take->debug)
		trc_http_fail(r, 400, "seconds and debug params are incompatible");
	else if (!(entry->flags & TRC_HTTP_WINDOW))
		trc_http_fail(r, 400, "\"seconds\" parameter is not supported for %s", entry->name);
	else
		take->window_ns = seconds * SECOND_NS;
	return !r->is_error;
}

/* How much of it a window keeps: nobody else's profile changes with that. */
static bool read_rate(const char *url, const struct trc_http_entry *entry,
		      struct trc_http_take *take, struct trc_http_reply *r)
{
	uint64_t rate = 0;

	if (!entry->rate)
		return true;
	if (trc_http_number(url, entry->rate, INT64_MAX, &rate))
		trc_http_fail(r, 400, "invalid value for \"%s\" - must be a whole number",
			      entry->rate);
	else if (rate && !take->window_ns)
		trc_http_fail(r, 400, "\"%s\" is for a time to come: seconds is missing",
			      entry->rate);
	take->rate = (int64_t)rate;
	return !r->is_error;
}

/* seconds= of what takes time in any case. */
static bool read_seconds(const char *url, uint64_t *ns, struct trc_http_reply *r)
{
	if (!trc_http_seconds(url, SECONDS_MAX, ns))
		return true;
	trc_http_fail(r, 400,
		      "invalid value for \"seconds\" - must be a number above 0, at most %d",
		      SECONDS_MAX);
	return false;
}

static bool read_cpu(const char *url, struct trc_http_take *take, char *event, size_t n_bytes,
		     struct trc_http_reply *r)
{
	int err = trc_http_value(url, "event", event, n_bytes);

	take->window_ns = CPU_SECONDS * SECOND_NS;
	if (!read_seconds(url, &take->window_ns, r))
		return false;
	if (err == -EINVAL)
		trc_http_fail(r, 400, "invalid value for \"event\" - no event has that name");
	else if (trc_http_number(url, "period", INT64_MAX, &take->period))
		trc_http_fail(r, 400, "invalid value for \"period\" - must be a whole number");
	if (!err && *event)
		take->event = event;
	return !r->is_error;
}

/* ---- profiles ---------------------------------------------------------------------------- */

static unsigned int route_status(int err)
{
	switch (err) {
	case -ENOENT:
		return 404;
	case -EINVAL:
		return 400;
	case -EBUSY:
		return 409;
	case -ENOTSUP:
		return 501;
	case -ECANCELED:
		return 503;
	default:
		return 500;
	}
}

/* A name of the program's own may hold anything. */
static void set_file_name(struct trc_http_reply *r, const char *name, const char *suffix)
{
	snprintf(r->file_name, sizeof(r->file_name), "%s%s", name, suffix);
	for (char *c = r->file_name; *c; c++)
		if (*c <= ' ' || *c >= 127 || strchr("\"\\/;%", *c))
			*c = '_';
}

struct lookup {
	const char *name;
	struct trc_http_entry found;
	bool is_found;
};

static void entry_look(void *context, const struct trc_http_entry *entry)
{
	struct lookup *l = context;

	if (strcmp(entry->name, l->name))
		return;
	l->found = *entry;
	l->is_found = true;
}

static void take_profile(const struct trc_http_source *source, const struct trc_http_entry *entry,
			 struct trc_http_take *take, bool is_text, bool is_head,
			 struct trc_http_reply *r)
{
	struct trace_writer writer = trc_http_writer(r);
	bool is_delta = take->window_ns && entry->flags & TRC_HTTP_CUMULATIVE;
	char why[512] = "";
	int err = 0;

	if (is_head)
		r->no_body = true;
	else
		err = source->take(take, &writer, why, sizeof(why));
	if (err) { /* no profile needs the disk: it is room to count that is used up */
		trc_http_fail(r, err == -ENOSPC ? 503 : route_status(err),
			      "Could not take the profile: %s", *why ? why : strerror(-err));
		return;
	}
	r->type = is_text ? TRC_HTTP_TEXT : TRC_HTTP_BINARY;
	if (!is_text)
		set_file_name(r, take->name, is_delta ? "-delta" : "");
}

/* Those of trace-analyze have the same names, but for these. */
static void fail_unknown(const char *name, struct trc_http_reply *r)
{
	if (!strcmp(name, "wall"))
		trc_http_fail(r, 501,
			      "Could not take the profile: wall is made of a whole trace, of the "
			      "kernel's switches too: trace-analyze --pprof wall makes it of what "
			      "%strace?seconds=5 or trace-record wrote",
			      PREFIX);
	else if (!strcmp(name, "cpu"))
		trc_http_fail(r, 404, "Unknown profile: that of CPU time is %sprofile", PREFIX);
	else
		trc_http_fail(r, 404, "Unknown profile");
}

static void answer_profile(const struct trc_http_source *source, const char *name,
			   const struct trc_http_request *request, bool is_head,
			   struct trc_http_reply *r)
{
	struct lookup l = {.name = name};
	struct trc_http_take take = {.name = name, .wait = &request->wait};
	char event[64];
	bool good;

	source->each(entry_look, &l);
	if (!l.is_found) {
		fail_unknown(name, r);
		return;
	}
	good = read_debug(request->url, &l.found, &take, r);
	if (good && l.found.flags & TRC_HTTP_CUMULATIVE)
		good = read_window(request->url, &l.found, &take, r) &&
		       read_rate(request->url, &l.found, &take, r);
	else if (good)
		good = read_cpu(request->url, &take, event, sizeof(event), r);
	if (good)
		take_profile(source, &l.found, &take,
			     take.debug && !(l.found.flags & TRC_HTTP_EACH && take.debug == 3),
			     is_head, r);
}

/* ---- traces ------------------------------------------------------------------------------ */

/* A file in a new directory that nobody else may look into: others may well write beside that, and
 * make links of names that they foresee.  Its name tells `trace-record --clean` whose it is. */
static bool make_file(const struct trc_http_source *source, struct trc_http_reply *r)
{
	static const char file[] = "/trace.trc";
	struct stat st;
	size_t room = sizeof(r->path) - sizeof(file);
	int n, err = 0;

	if (stat("/proc/self/ns/pid", &st))
		st.st_ino = 0;
	n = snprintf(r->path, room, "%s/trc-%u-%u.http-%llu-XXXXXX", source->dir(),
		     (unsigned int)getuid(), (unsigned int)trc_raw1(SYS_getpid, 0),
		     (unsigned long long)st.st_ino);
	if (n >= (int)room)
		err = ENAMETOOLONG;
	else if (!mkdtemp(r->path))
		err = errno;
	if (!err) {
		strcpy(r->path + n, file);
		return true;
	}
	r->path[0] = '\0';
	trc_http_fail(r, 500, "%s: a directory to write into: %s", source->dir(), strerror(err));
	return false;
}

static void trace_done(struct trc_http_reply *r, int err, const char *doing, const char *why,
		       const char *name)
{
	if (err) {
		trc_http_fail(r, route_status(err), "Could not %s: %s", doing,
			      *why ? why : strerror(-err));
		return;
	}
	r->type = TRC_HTTP_BINARY;
	set_file_name(r, name, "");
}

static void answer_trace(const struct trc_http_source *source,
			 const struct trc_http_request *request, bool is_head,
			 struct trc_http_reply *r)
{
	uint64_t ns = TRACE_SECONDS * SECOND_NS;
	char why[512] = "";
	int err = 0;

	if (!read_seconds(request->url, &ns, r))
		return;
	if (is_head) {
		r->no_body = true;
	} else {
		if (!make_file(source, r))
			return;
		err = source->trace(r->path, ns, &request->wait, why, sizeof(why));
	}
	trace_done(r, err, "enable tracing", why, "trace");
}

static void answer_flight(const struct trc_http_source *source,
			  const struct trc_http_request *request, bool is_head,
			  struct trc_http_reply *r)
{
	uint64_t ns = 0;
	char why[512] = "";
	int err = 0;

	if (!read_seconds(request->url, &ns, r))
		return;
	if (is_head) {
		r->no_body = true;
	} else {
		if (!make_file(source, r))
			return;
		err = source->flight(r->path, ns, why, sizeof(why));
	}
	trace_done(r, err == -EINVAL ? -EBUSY : err, "take a snapshot", why, "flight");
}

/* ---- the rest ---------------------------------------------------------------------------- */

static void answer_cmdline(const struct trc_http_source *source, struct trc_http_reply *r)
{
	enum { CMDLINE_BYTES_MAX = 1 << 21 }; /* no kernel has longer ones */
	char *text = malloc(CMDLINE_BYTES_MAX);
	long n = text ? source->cmdline(text, CMDLINE_BYTES_MAX) : -ENOMEM;

	if (n > 0) /* separated by \0, not ended */
		n = trc_http_add(r, text, (size_t)n - !text[n - 1]);
	free(text);
	if (n < 0)
		trc_http_fail(r, route_status((int)n), "Could not read the command line: %s",
			      n == -ECANCELED ? "the process has ended" : strerror((int)-n));
}

static void answer_symbol(const struct trc_http_source *source,
			  const struct trc_http_request *request, struct trc_http_reply *r)
{
	const char *query = trc_http_query(request->url);

	if (!strcmp(request->method, "POST"))
		trc_http_symbols(source, request->body, request->body_bytes, &request->wait, r);
	else
		trc_http_symbols(source, query, strlen(query), &request->wait, r);
}

static bool is_allowed(const struct trc_http_request *request, const char *name,
		       struct trc_http_reply *r)
{
	bool posts = !strcmp(name, "symbol");

	if (!strcmp(request->method, "GET") || !strcmp(request->method, "HEAD") ||
	    (posts && !strcmp(request->method, "POST")))
		return true;
	trc_http_fail(r, 405, "Method Not Allowed");
	r->allow = posts ? "GET, HEAD, POST" : "GET, HEAD";
	return false;
}

static void answer_page(const struct trc_http_source *source, const char *name,
			const struct trc_http_request *request, struct trc_http_reply *r)
{
	bool is_head = !strcmp(request->method, "HEAD");

	if (!is_allowed(request, name, r))
		return;
	if (!*name)
		trc_http_index(source, r);
	else if (!strcmp(name, "cmdline"))
		answer_cmdline(source, r);
	else if (!strcmp(name, "symbol"))
		answer_symbol(source, request, r);
	else if (!strcmp(name, "trace"))
		answer_trace(source, request, is_head, r);
	else if (!strcmp(name, "flight"))
		answer_flight(source, request, is_head, r);
	else
		answer_profile(source, name, request, is_head, r);
}

void trc_http_answer(const struct trc_http_source *source, const struct trc_http_request *request,
		     struct trc_http_reply *r)
{
	char path[256];

	r->status = 200;
	r->type = TRC_HTTP_TEXT;
	if (trc_http_path(request->url, path, sizeof(path)))
		trc_http_fail(r, 404, "404 page not found");
	else if (!strncmp(path, PREFIX, strlen(PREFIX)))
		answer_page(source, path + strlen(PREFIX), request, r);
	else if (strlen(path) + 1 == strlen(PREFIX) && !strncmp(path, PREFIX, strlen(path))) {
		trc_http_fail(r, 301, "Moved to " PREFIX);
		r->location = PREFIX;
		r->is_error = false;
	} else {
		trc_http_fail(r, 404, "404 page not found: profiles are at " PREFIX);
	}
}
