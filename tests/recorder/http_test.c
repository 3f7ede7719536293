/* http_test.c - <trc/http.h>: every address, asked rightly and wrongly, by one and by many. */
#include <arpa/inet.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include "http_client.h"
#include "tests/forks.h"
#include "trc/http.h"
#include "trc/trace.h"

#define TEXT   "text/plain; charset=utf-8"
#define HTML   "text/html; charset=utf-8"
#define BINARY "application/octet-stream"

static unsigned int port;

static void start_server(void)
{
	ck_assert_msg(!trace_http_start("127.0.0.1:0"), "%s", trace_last_error());
	port = trace_http_port();
	ck_assert_uint_ne(port, 0);
}

static void stop_server(void)
{
	trace_http_stop();
	ck_assert_uint_eq(trace_http_port(), 0);
}

static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* ---- one by one --------------------------------------------------------------------------- */

static const struct row {
	const char *method, *target;
	int status;
	const char *type, *disposition; /* NULL = none */
	const char *body;		/* in it; NULL = anything */
} rows[] = {
	{"GET", "/debug/pprof/", 200, HTML, NULL, "Types of profiles available:"},
	{"GET", "/debug/pprof/?x=1", 200, HTML, NULL, "cmdline"},
	{"GET", "http://localhost/debug/pprof/", 200, HTML, NULL, "Types of profiles available:"},
	{"GET", "/debug/pprof", 301, TEXT, NULL, NULL},
	{"GET", "/debug/%70prof/cmdline", 200, TEXT, NULL, "http_test"},
	{"GET", "/debug/pprof/cmdline", 200, TEXT, NULL, "http_test"},
	{"GET", "/debug/pprof/symbol", 200, TEXT, NULL, "num_symbols: 1\n"},
	{"GET", "/debug/pprof/trace?seconds=0.1", 200, BINARY, "attachment; filename=\"trace\"",
	 "TRC"},
	{"HEAD", "/debug/pprof/trace?seconds=1000", 200, BINARY, "attachment; filename=\"trace\"",
	 ""},
	{"HEAD", "/debug/pprof/", 200, HTML, NULL, ""},
	{"GET", "/debug/pprof/flight", 409, TEXT, NULL, "no flight recorder runs\n"},

	{"GET", "/debug/pprof/<script>alert('no')</script>", 404, TEXT, NULL, "Unknown profile\n"},
	{"GET", "/debug/pprof/unknown?debug=1", 404, TEXT, NULL, "Unknown profile\n"},
	{"GET", "/debug/pprof/unknown?seconds=1", 404, TEXT, NULL, "Unknown profile\n"},
	{"GET", "/debug/pprof//cmdline", 404, TEXT, NULL, "Unknown profile\n"},
	{"GET", "/", 404, TEXT, NULL, NULL},
	{"GET", "/debug/pprofx/", 404, TEXT, NULL, NULL},
	{"GET", "/debug/", 404, TEXT, NULL, NULL},
	{"GET", "/debug/pprof/%zz", 404, TEXT, NULL, NULL},
	{"GET", "/debug/pprof/cmdline%00", 404, TEXT, NULL, NULL},

	{"GET", "/debug/pprof/../../etc/passwd", 404, TEXT, NULL, "Unknown profile\n"},
	{"GET", "/../../../../etc/passwd", 404, TEXT, NULL, NULL},
	{"GET", "/debug/pprof/..%2f..%2f..%2fetc%2fpasswd", 404, TEXT, NULL, "Unknown profile\n"},
	{"GET", "/debug/pprof/....//....//etc/passwd", 404, TEXT, NULL, "Unknown profile\n"},
	{"GET", "file:///etc/passwd", 404, TEXT, NULL, NULL},

	{"GET", "/debug/pprof/trace?seconds=x", 400, TEXT, NULL, "invalid value for \"seconds\""},
	{"GET", "/debug/pprof/trace?seconds=-1", 400, TEXT, NULL, "invalid value for \"seconds\""},
	{"GET", "/debug/pprof/trace?seconds=0", 400, TEXT, NULL, "invalid value for \"seconds\""},
	{"GET", "/debug/pprof/trace?seconds=1e3", 400, TEXT, NULL, "invalid value for \"seconds\""},
	{"GET", "/debug/pprof/trace?seconds=99999999999999999999", 400, TEXT, NULL,
	 "invalid value for \"seconds\""},
	{"GET", "/debug/pprof/trace?seconds=86401", 400, TEXT, NULL, "at most 86400"},
	{"HEAD", "/debug/pprof/trace?seconds=x", 400, TEXT, NULL, ""},

	{"GET", "/debug/pprof/block", 200, BINARY, "attachment; filename=\"block\"", "\x1f\x8b"},
	{"GET", "/debug/pprof/block?debug=0", 200, BINARY, "attachment; filename=\"block\"", NULL},
	{"GET", "/debug/pprof/block?debug=1", 200, TEXT, NULL, "--- contention:\n"},
	{"GET", "/debug/pprof/block?debug=7", 200, TEXT, NULL, "--- contention:\n"},
	{"GET", "/debug/pprof/block?seconds=1", 200, BINARY, "attachment; filename=\"block-delta\"",
	 NULL},
	{"GET", "/debug/pprof/mutex", 200, BINARY, "attachment; filename=\"mutex\"", NULL},
	{"GET", "/debug/pprof/mutex?debug=1", 200, TEXT, NULL, "--- mutex:\n"},
	{"GET", "/debug/pprof/mutex?seconds=1", 200, BINARY, "attachment; filename=\"mutex-delta\"",
	 NULL},
	{"GET", "/debug/pprof/threadcreate", 200, BINARY, "attachment; filename=\"threadcreate\"",
	 NULL},
	{"GET", "/debug/pprof/threadcreate?debug=1", 200, TEXT, NULL,
	 "threadcreate profile: total "},
	{"GET", "/debug/pprof/profile?seconds=1", 200, BINARY, "attachment; filename=\"profile\"",
	 NULL},
	{"GET", "/debug/pprof/profile?seconds=0.1&event=timer&period=1000000", 200, BINARY,
	 "attachment; filename=\"profile\"", NULL},
	{"GET", "/debug/pprof/heap", 200, BINARY, "attachment; filename=\"heap\"", NULL},
	{"GET", "/debug/pprof/heap?gc=1&debug=1", 200, TEXT, NULL, "heap profile: "},
	{"GET", "/debug/pprof/heap?seconds=1", 200, BINARY, "attachment; filename=\"heap-delta\"",
	 NULL},
	{"GET", "/debug/pprof/allocs", 200, BINARY, "attachment; filename=\"allocs\"", NULL},
	{"GET", "/debug/pprof/allocs?seconds=1", 200, BINARY,
	 "attachment; filename=\"allocs-delta\"", NULL},
	{"GET", "/debug/pprof/threads", 200, BINARY, "attachment; filename=\"threads\"", NULL},
	{"GET", "/debug/pprof/goroutine", 200, BINARY, "attachment; filename=\"goroutine\"", NULL},
	{"GET", "/debug/pprof/goroutine?debug=1", 200, TEXT, NULL, " profile: total "},
	{"GET", "/debug/pprof/threads?debug=2", 200, TEXT, NULL, "http_test"},
	{"GET", "/debug/pprof/threads?debug=3", 200, BINARY, "attachment; filename=\"threads\"",
	 NULL},
	{"GET", "/debug/pprof/threads?debug=4", 200, TEXT, NULL, "trc::thread_id"},
	{"GET", "/debug/pprof/threads?debug=5", 400, TEXT, NULL, "threads has 0 to 4\n"},
	{"GET", "/debug/pprof/threads?seconds=1", 400, TEXT, NULL, "not supported for threads\n"},
	{"HEAD", "/debug/pprof/block", 200, BINARY, "attachment; filename=\"block\"", ""},
	{"HEAD", "/debug/pprof/profile", 200, BINARY, "attachment; filename=\"profile\"", ""},
	{"HEAD", "/debug/pprof/block?seconds=1000", 200, BINARY,
	 "attachment; filename=\"block-delta\"", ""},

	{"GET", "/debug/pprof/block?seconds=1&debug=1", 400, TEXT, NULL,
	 "seconds and debug params are incompatible\n"},
	{"GET", "/debug/pprof/block?seconds=0", 400, TEXT, NULL, "must be a positive integer"},
	{"GET", "/debug/pprof/block?seconds=-1", 400, TEXT, NULL, "must be a positive integer"},
	{"GET", "/debug/pprof/block?seconds=1.5", 400, TEXT, NULL, "must be a positive integer"},
	{"GET", "/debug/pprof/block?seconds=", 400, TEXT, NULL, "must be a positive integer"},
	{"GET", "/debug/pprof/block?debug=x", 400, TEXT, NULL, "invalid value for \"debug\""},
	{"GET", "/debug/pprof/profile?seconds=x", 400, TEXT, NULL, "invalid value for \"seconds\""},
	{"GET", "/debug/pprof/profile?period=-1", 400, TEXT, NULL, "invalid value for \"period\""},
	{"GET", "/debug/pprof/profile?seconds=1&event=nonsense", 400, TEXT, NULL, "nonsense"},

	{"POST", "/debug/pprof/block", 405, TEXT, NULL, "Method Not Allowed\n"},
	{"POST", "/debug/pprof/", 405, TEXT, NULL, "Method Not Allowed\n"},
	{"POST", "/debug/pprof/trace?seconds=1", 405, TEXT, NULL, "Method Not Allowed\n"},
	{"DELETE", "/debug/pprof/cmdline", 405, TEXT, NULL, "Method Not Allowed\n"},
	{"PUT", "/debug/pprof/symbol", 405, TEXT, NULL, "Method Not Allowed\n"},
	{"OPTIONS", "/debug/pprof/", 405, TEXT, NULL, "Method Not Allowed\n"},
	{"TRACE", "/debug/pprof/", 405, TEXT, NULL, "Method Not Allowed\n"},
	{"GETS", "/debug/pprof/", 405, TEXT, NULL, "Method Not Allowed\n"},
};

static void expect_header(const struct http_got *got, const char *name, const char *value,
			  const char *what)
{
	const char *is = http_header(got, name);

	if (value)
		ck_assert_msg(is && !strcmp(is, value), "%s: %s is %s, not %s", what, name,
			      is ? is : "missing", value);
	else
		ck_assert_msg(!is, "%s: %s is %s", what, name, is);
}

static void expect(const struct row *row, const struct http_got *got)
{
	char what[300];

	snprintf(what, sizeof(what), "%s %s", row->method, row->target);
	ck_assert_msg(got->status == row->status, "%s: %d, not %d: %s", what, got->status,
		      row->status, got->body ? got->body : "");
	expect_header(got, "Content-Type", row->type, what);
	expect_header(got, "Content-Disposition", row->disposition, what);
	expect_header(got, "X-Content-Type-Options", "nosniff", what);
	expect_header(got, "X-Go-Pprof", row->status >= 400 ? "1" : NULL, what);
	expect_header(got, "Connection", "close", what);
	if (row->body && !*row->body)
		ck_assert_msg(!got->body_bytes, "%s: a body", what);
	else if (row->body)
		ck_assert_msg(strstr(got->body, row->body), "%s: %s", what, got->body);
}

START_TEST(each_address_answers_as_it_should)
{
	const struct row *row = &rows[_i];
	struct http_got got = http_ask(port, row->method, row->target, "");

	expect(row, &got);
	if (row->status == 405)
		expect_header(&got, "Allow",
			      strstr(row->target, "symbol") ? "GET, HEAD, POST" : "GET, HEAD",
			      row->target);
	http_got_free(&got);
}
END_TEST

/* ---- symbols ------------------------------------------------------------------------------- */

START_TEST(symbols_have_names)
{
	char target[200], pc[40], text[300];
	struct http_got got;
	int n;

	snprintf(pc, sizeof(pc), "%#lx", (unsigned long)(uintptr_t)trace_http_start + 1);
	snprintf(target, sizeof(target), "/debug/pprof/symbol?0x1+%s+nonsense", pc);
	got = http_ask(port, "GET", target, "");
	ck_assert_int_eq(got.status, 200);
	snprintf(text, sizeof(text), "num_symbols: 1\n%s trace_http_start\n", pc);
	ck_assert_str_eq(got.body, text);
	http_got_free(&got);

	n = snprintf(target, sizeof(target), "%s+%s", pc, pc);
	snprintf(text, sizeof(text),
		 "POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
		 "%d\r\n\r\n%s",
		 n, target);
	got = http_raw(port, text, strlen(text));
	ck_assert_int_eq(got.status, 200);
	snprintf(text, sizeof(text), "num_symbols: 1\n%s trace_http_start\n%s trace_http_start\n",
		 pc, pc);
	ck_assert_str_eq(got.body, text);
	http_got_free(&got);
}
END_TEST

START_TEST(a_body_that_is_too_large_is_refused)
{
	const size_t n_bytes = (64 << 10) + 1;
	char *bytes = malloc(n_bytes + 200);
	struct http_got got;
	int n = sprintf(bytes,
			"POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\n"
			"Content-Length: %zu\r\n\r\n",
			n_bytes);

	memset(bytes + n, '1', n_bytes);
	got = http_raw(port, bytes, (size_t)n + n_bytes);
	ck_assert_int_eq(got.status, 413);
	http_got_free(&got);
	free(bytes);
}
END_TEST

/* ---- profiles ------------------------------------------------------------------------------ */

/* What a compressed profile holds, strings and all. */
static char *unpack(const struct http_got *got, size_t *n_bytes)
{
	enum { ROOM = 4 << 20 };
	char *out = malloc(ROOM);
	z_stream z = {.next_in = (void *)got->body,
		      .avail_in = (unsigned int)got->body_bytes,
		      .next_out = (void *)out,
		      .avail_out = ROOM};

	ck_assert_int_eq(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	*n_bytes = z.total_out;
	inflateEnd(&z);
	return out;
}

static bool names(const struct http_got *got, const char *function)
{
	size_t n_bytes;
	char *text = unpack(got, &n_bytes);
	bool is = memmem(text, n_bytes, function, strlen(function));

	free(text);
	return is;
}

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void *waits_before(void *unused)
{
	pthread_mutex_lock(&contended);
	pthread_mutex_unlock(&contended);
	return unused;
}

static __attribute__((noinline)) void *waits_during(void *unused)
{
	pthread_mutex_lock(&contended);
	pthread_mutex_unlock(&contended);
	return (char *)unused + 1; /* or the two would be one */
}

static void contend(void *(*waits)(void *))
{
	pthread_t thread;

	pthread_mutex_lock(&contended);
	ck_assert_int_eq(pthread_create(&thread, NULL, waits, NULL), 0);
	sleep_ms(30);
	pthread_mutex_unlock(&contended);
	pthread_join(thread, NULL);
}

static void *ask_for_delta(void *got)
{
	*(struct http_got *)got = http_ask(port, "GET", "/debug/pprof/block?seconds=1", "");
	return NULL;
}

START_TEST(a_delta_is_of_its_time_and_the_whole_of_all)
{
	struct http_got delta, whole;
	pthread_t asks;

	contend(waits_before);
	ck_assert_int_eq(pthread_create(&asks, NULL, ask_for_delta, &delta), 0);
	for (int i = 0; i < 50; i++)
		contend(waits_during);
	pthread_join(asks, NULL);
	ck_assert_int_eq(delta.status, 200);
	ck_assert(names(&delta, "waits_during"));
	ck_assert(!names(&delta, "waits_before"));
	whole = http_ask(port, "GET", "/debug/pprof/block", "");
	ck_assert(names(&whole, "waits_during"));
	ck_assert(names(&whole, "waits_before"));
	http_got_free(&delta);
	http_got_free(&whole);
}
END_TEST

/* Not before it is asked for, if that was asked for. */
START_TEST(on_demand_is_from_the_first_request_on)
{
	struct trace_http_options options = TRACE_HTTP_OPTIONS_INIT;
	struct http_got got;

	options.on_demand = true;
	ck_assert_int_eq(trace_http_start_with("127.0.0.1:0", &options), 0);
	port = trace_http_port();
	ck_assert(!trace_enabled());
	contend(waits_before);
	got = http_ask(port, "GET", "/debug/pprof/block", "");
	ck_assert_int_eq(got.status, 200);
	ck_assert(!names(&got, "waits_before"));
	http_got_free(&got);
	ck_assert(trace_enabled());
	contend(waits_before);
	got = http_ask(port, "GET", "/debug/pprof/block", "");
	ck_assert(names(&got, "waits_before"));
	http_got_free(&got);
	stop_server();
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(profiles_of_the_programs_own_are_served)
{
	trace_profile *profile;
	struct http_got got;
	int key;

	ck_assert_int_eq(trace_profile_new(&profile, "connections.open"), 0);
	ck_assert_int_eq(trace_profile_add(profile, &key, 0), 0);
	got = http_ask(port, "GET", "/debug/pprof/", "");
	ck_assert_msg(strstr(got.body, "<td>1</td><td><a href='connections.open?debug=1'>"
				       "connections.open</a>"),
		      "%s", got.body);
	http_got_free(&got);
	got = http_ask(port, "GET", "/debug/pprof/connections.open", "");
	ck_assert_int_eq(got.status, 200);
	ck_assert_str_eq(http_header(&got, "Content-Disposition"),
			 "attachment; filename=\"connections.open\"");
	ck_assert(names(&got, "profiles_of_the_programs_own"));
	http_got_free(&got);
	got = http_ask(port, "GET", "/debug/pprof/connections.open?debug=1", "");
	ck_assert_ptr_nonnull(strstr(got.body, "total 1\n"));
	http_got_free(&got);
	got = http_ask(port, "GET", "/debug/pprof/connections.open?seconds=1", "");
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
}
END_TEST

/* ---- traces -------------------------------------------------------------------------------- */

static const char *ring_dir(void)
{
	const char *dir = getenv("TRC_RING_DIR");

	return dir ? dir : "/dev/shm";
}

/* How many directories of a server's lie about; `last` gets one of them. */
static int count_files_of(pid_t pid, char *last, size_t n_bytes)
{
	DIR *d = opendir(ring_dir());
	struct dirent *e;
	char mine[40];
	int n = 0;

	ck_assert_ptr_nonnull(d);
	snprintf(mine, sizeof(mine), "-%u.http-", (unsigned int)pid);
	while ((e = readdir(d))) {
		if (!strstr(e->d_name, mine))
			continue;
		snprintf(last, n_bytes, "%s/%s", ring_dir(), e->d_name);
		n++;
	}
	closedir(d);
	return n;
}

static int count_files(void)
{
	char last[400];

	return count_files_of(getpid(), last, sizeof(last));
}

START_TEST(a_trace_is_whole_and_leaves_no_file)
{
	struct http_got got = http_ask(port, "GET", "/debug/pprof/trace?seconds=0.2", "");
	char length[32];

	ck_assert_int_eq(got.status, 200);
	ck_assert_uint_gt(got.body_bytes, 100);
	snprintf(length, sizeof(length), "%zu", got.body_bytes);
	ck_assert_str_eq(http_header(&got, "Content-Length"), length);
	ck_assert_mem_eq(got.body, "TRC", 4);
	http_got_free(&got);
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

START_TEST(two_traces_at_once_are_one_too_many)
{
	char path[] = "/tmp/trc-http-test-XXXXXX";
	struct http_got got;

	close(mkstemp(path));
	ck_assert_int_eq(trace_start(path, NULL), 0);
	got = http_ask(port, "GET", "/debug/pprof/trace?seconds=1", "");
	ck_assert_int_eq(got.status, 409);
	ck_assert_ptr_nonnull(strstr(got.body, "Could not enable tracing: "));
	http_got_free(&got);
	ck_assert_int_eq(trace_stop(), 0);
	ck_assert_int_eq(count_files(), 0);
	unlink(path);
}
END_TEST

START_TEST(the_flight_recorder_is_at_hand)
{
	struct http_got got;

	if (trace_flight_start(NULL))
		ck_abort_msg("%s", trace_last_error());
	got = http_ask(port, "GET", "/debug/pprof/flight?seconds=2", "");
	ck_assert_int_eq(got.status, 200);
	ck_assert_str_eq(http_header(&got, "Content-Disposition"),
			 "attachment; filename=\"flight\"");
	ck_assert_mem_eq(got.body, "TRC", 4);
	http_got_free(&got);
	ck_assert_int_eq(trace_flight_stop(), 0);
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

/* ---- who may ask --------------------------------------------------------------------------- */

START_TEST(a_token_has_to_be_shown)
{
	static const struct {
		const char *header;
		int status;
	} tries[] = {
		{"", 401},
		{"Authorization: Bearer secret\r\n", 200},
		{"Authorization: bearer secret\r\n", 200},
		{"Authorization: Bearer secre\r\n", 401},
		{"Authorization: Bearer secrets\r\n", 401},
		{"Authorization: Bearer \r\n", 401},
		{"Authorization: secret\r\n", 401},
		{"Authorization: Basic YW55OnNlY3JldA==\r\n", 200}, /* any:secret */
		{"Authorization: Basic YW55Ondyb25n\r\n", 401},	    /* any:wrong */
		{"Authorization: Basic !!!\r\n", 401},
	};
	struct trace_http_options options = TRACE_HTTP_OPTIONS_INIT;

	options.token = "secret";
	ck_assert_int_eq(trace_http_start_with("127.0.0.1:0", &options), 0);
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct http_got got =
			http_ask(trace_http_port(), "GET", "/debug/pprof/cmdline", tries[i].header);

		ck_assert_msg(got.status == tries[i].status, "%s: %d", tries[i].header, got.status);
		if (got.status == 401)
			ck_assert_ptr_nonnull(http_header(&got, "WWW-Authenticate"));
		http_got_free(&got);
	}
	stop_server();
}
END_TEST

START_TEST(an_empty_token_is_none_that_could_be_shown)
{
	struct trace_http_options options = TRACE_HTTP_OPTIONS_INIT;

	options.token = "";
	ck_assert_int_eq(trace_http_start_with("127.0.0.1:0", &options), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "the token is empty"));
	setenv("TRC_HTTP_TOKEN", "", 1);
	ck_assert_int_eq(trace_http_start("127.0.0.1:0"), -EINVAL);
	unsetenv("TRC_HTTP_TOKEN");
	ck_assert_uint_eq(trace_http_port(), 0);
	start_server();
	stop_server();
}
END_TEST

START_TEST(pages_of_the_world_cannot_have_a_browser_ask)
{
	static const struct {
		const char *host;
		int status;
	} tries[] = {
		{"localhost", 200},	    {"LOCALHOST:1", 200},   {"127.0.0.1:6060", 200},
		{"[::1]:6060", 200},	    {"10.1.2.3", 200},	    {"example.com", 403},
		{"localhost.example", 403}, {"127.0.0.1.nip", 403},
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		char text[200];
		struct http_got got;

		snprintf(text, sizeof(text),
			 "GET /debug/pprof/cmdline HTTP/1.1\r\nHost: %s\r\n\r\n", tries[i].host);
		got = http_raw(port, text, strlen(text));
		ck_assert_msg(got.status == tries[i].status, "%s: %d", tries[i].host, got.status);
		http_got_free(&got);
	}
}
END_TEST

START_TEST(pages_of_other_origins_cannot_either)
{
	static const struct {
		const char *before_port, *behind; /* NULL = the header ends before it */
		int status;
	} tries[] = {
		{"Origin: http://localhost:", "\r\n", 200},
		{"Origin: https://localhost:", "\r\nSec-Fetch-Site: same-origin\r\n", 200},
		{"Sec-Fetch-Site: none\r\n", NULL, 200},
		{"Sec-Fetch-Site: cross-site\r\n", NULL, 403},
		{"Origin: http://localhost:", "0\r\n", 403},
		{"Origin: http://example.com:", "\r\n", 403},
		{"Origin: null\r\n", NULL, 403},
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct http_got got;
		char header[200];

		snprintf(header, sizeof(header), "%s", tries[i].before_port);
		if (tries[i].behind)
			snprintf(header, sizeof(header), "%s%u%s", tries[i].before_port, port,
				 tries[i].behind);
		got = http_ask(port, "GET", "/debug/pprof/cmdline", header);
		ck_assert_msg(got.status == tries[i].status, "%s: %d", header, got.status);
		http_got_free(&got);
	}
}
END_TEST

START_TEST(addresses_are_of_this_machine_unless_written_out)
{
	static const struct {
		const char *address;
		int err;
		const char *says;
	} tries[] = {
		{"0", 0, ""},
		{":0", 0, ""},
		{"localhost:0", 0, ""},
		{"127.0.0.1:0", 0, ""},
		{"0.0.0.0:0", 0, "reached from other machines"},
		{"example.com:6060", -EINVAL, "a name may lead anywhere"},
		{"*:6060", -EINVAL, "a name may lead anywhere"},
		{"127.0.0.1", -EINVAL, "no address like"},
		{"", -EINVAL, "no address like"},
		{":65536", -EINVAL, "no address like"},
		{":-1", -EINVAL, "no address like"},
		{"::1:6060", -EINVAL, "no address like"},
		{"127.0.0.1:60a", -EINVAL, "no address like"},
		{"192.0.2.1:0", -EADDRNOTAVAIL, "cannot listen there"},
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		int err = trace_http_start(tries[i].address);

		ck_assert_msg(err == tries[i].err, "%s: %s", tries[i].address, strerror(-err));
		ck_assert_msg(*tries[i].says ? !!strstr(trace_last_error(), tries[i].says)
					     : !*trace_last_error(),
			      "%s: %s", tries[i].address, trace_last_error());
		ck_assert_int_eq(trace_http_stop(), err ? -EINVAL : 0);
	}
	ck_assert_int_eq(trace_http_start(NULL), -EINVAL);
}
END_TEST

/* Nobody but who reaches the loopback interface gets in: its own address is not served. */
START_TEST(only_the_address_given_is_served)
{
	struct sockaddr_in other = {.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(0x7f000002)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&other, sizeof(other)), -1);
	ck_assert_int_eq(errno, ECONNREFUSED);
	close(fd);
}
END_TEST

/* ---- starting and stopping ----------------------------------------------------------------- */

START_TEST(one_server_at_a_time_and_the_port_is_free_again)
{
	char address[40];

	ck_assert_int_eq(trace_http_stop(), -EINVAL);
	start_server();
	ck_assert_int_eq(trace_http_start("127.0.0.1:0"), -EBUSY);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "already"));
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	stop_server();
	for (int i = 0; i < 10; i++) {
		ck_assert_msg(!trace_http_start(address), "%s", trace_last_error());
		stop_server();
	}
}
END_TEST

START_TEST(a_port_that_is_taken_is_an_error)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n_bytes = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char address[40];

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &n_bytes), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(at.sin_port));
	ck_assert_int_eq(trace_http_start(address), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), address));
	close(fd);
}
END_TEST

/* Descriptors of this thread's table: the server's are in none of the program's. */
static int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Checks nothing: libcheck's own descriptors are closed. */
static bool is_served(void)
{
	static const char request[] = "GET /debug/pprof/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[13] = "";
	bool is = fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
		  send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) &&
		  recv(fd, text, 12, MSG_WAITALL) == 12 && !strcmp(text, "HTTP/1.1 200");

	close(fd);
	return is;
}

START_TEST(the_program_has_no_descriptor_of_the_server)
{
	int before = count_descriptors(), status;
	pid_t pid;

	start_server();
	ck_assert_int_eq(count_descriptors(), before);
	stop_server();
	pid = fork();
	if (!pid) { /* a daemon that closes whatever it does not know */
		start_server();
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		_exit(is_served() && !trace_http_stop() ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void *ask_for_long(void *arg)
{
	struct http_got got = http_ask(port, "GET", "/debug/pprof/trace?seconds=1000", "");

	http_got_free(&got);
	return NULL;
}

/* Its file says so: something else may record as well. */
static bool trace_runs(void)
{
	return count_files();
}

static void wait_for_trace(bool runs)
{
	for (int i = 0; i < 2000 && trace_runs() != runs; i++)
		sleep_ms(10);
	ck_assert_int_eq(trace_runs(), runs);
}

START_TEST(the_end_cuts_off_whoever_waits)
{
	pthread_t thread;

	start_server();
	ck_assert_int_eq(pthread_create(&thread, NULL, ask_for_long, NULL), 0);
	wait_for_trace(true);
	stop_server();
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(!trace_runs());
}
END_TEST

static atomic_bool asks_on;

static void *ask_on(void *unused)
{
	while (atomic_load(&asks_on))
		is_served();
	return unused;
}

START_TEST(the_end_may_come_at_any_moment_of_a_request)
{
	enum { N = 3, TIMES = 40 };
	pthread_t thread[N];

	start_server();
	atomic_store(&asks_on, true);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, ask_on, NULL), 0);
	for (int i = 0; i < TIMES; i++) {
		char address[40];

		sleep_ms(i % 5);
		snprintf(address, sizeof(address), "127.0.0.1:%u", port);
		stop_server();
		ck_assert_msg(!trace_http_start(address), "%s", trace_last_error());
	}
	atomic_store(&asks_on, false);
	for (int i = 0; i < N; i++)
		pthread_join(thread[i], NULL);
	stop_server();
}
END_TEST

/* Others may make links of any name in the directory of the rings. */
START_TEST(a_trace_is_written_where_nobody_else_can)
{
	pthread_t thread;
	char dir[400];
	struct stat st;

	start_server();
	ck_assert_int_eq(pthread_create(&thread, NULL, ask_for_long, NULL), 0);
	wait_for_trace(true);
	ck_assert_int_eq(count_files_of(getpid(), dir, sizeof(dir)), 1);
	ck_assert_int_eq(lstat(dir, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
	stop_server();
	pthread_join(thread, NULL);
	ck_assert_int_eq(lstat(dir, &st), -1);
}
END_TEST

START_TEST(what_a_kill_leaves_behind_can_be_cleaned)
{
	char rings[] = "/tmp/trc-http-test-XXXXXX", dir[400], command[600];
	const char *build = getenv("top_builddir");
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(rings));
	setenv("TRC_RING_DIR", rings, 1);
	pid = fork();
	if (!pid) {
		if (trace_http_start("127.0.0.1:0"))
			_exit(2);
		port = trace_http_port();
		ask_for_long(NULL);
		_exit(3);
	}
	for (int i = 0; i < 3000 && !count_files_of(pid, dir, sizeof(dir)); i++)
		sleep_ms(10);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(count_files_of(pid, dir, sizeof(dir)), 1);
	snprintf(command, sizeof(command), "'%s/recorder/trace-record' --clean",
		 build ? build : ".");
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(count_files_of(pid, dir, sizeof(dir)), 0);
	snprintf(command, sizeof(command), "rm -r %s", rings);
	ck_assert_int_eq(system(command), 0);
	unsetenv("TRC_RING_DIR");
}
END_TEST

START_TEST(exit_ends_the_server_too)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		if (trace_http_start("127.0.0.1:0"))
			_exit(2);
		port = trace_http_port();
		if (pthread_create(&thread, NULL, ask_for_long, NULL))
			_exit(3);
		wait_for_trace(true);
		exit(7);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

enum { BY_FORK, BY_SYSTEM_CALL };
/* No allocator is seen to in a system call. */
enum { WAYS_TO_FORK = ALLOCATOR_NOT_FOR_FORKS ? 1 : 2 };

static pid_t fork_by(int way)
{
	if (way == BY_SYSTEM_CALL)
		sleep_ms(200); /* what the server's threads begin with is done, most likely */
	return way == BY_FORK ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* 0; and 1: not ended within a minute, 2: by something else than exit(0). */
static int outcome(pid_t pid)
{
	int status;

	for (int i = 0; i < 6000; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status ? 2 : 0;
		sleep_ms(10);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 1;
}

/* Nothing is waited for that only the parent has. */
START_TEST(a_child_may_call_exit)
{
	struct http_got got;
	pid_t pid;

	start_server();
	pid = fork_by(_i);
	if (!pid) {
		if (trace_http_port())
			_exit(2);
		exit(0);
	}
	ck_assert_int_eq(outcome(pid), 0);
	got = http_ask(port, "GET", "/debug/pprof/cmdline", "");
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
	stop_server();
}
END_TEST

static void *ask_for_names(void *unused)
{
	static char text[70000];
	size_t used =
		(size_t)sprintf(text, "POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\n"
				      "Content-Length: 60000\r\n\r\n");
	struct http_got got;

	while (used + 40 < 60000)
		used += (size_t)sprintf(text + used, "%#lx+",
					(unsigned long)(uintptr_t)trace_http_start + used % 64);
	memset(text + used, '0', sizeof(text) - used);
	got = http_raw(port, text, sizeof(text));
	http_got_free(&got);
	return unused;
}

START_TEST(exit_does_not_wait_for_names)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		if (trace_http_start("127.0.0.1:0"))
			_exit(2);
		port = trace_http_port();
		if (pthread_create(&thread, NULL, ask_for_names, NULL))
			_exit(3);
		sleep_ms(50);
		exit(0);
	}
	ck_assert_int_eq(outcome(pid), 0);
}
END_TEST

START_TEST(a_child_has_no_server_and_may_start_one)
{
	struct http_got got;
	int status;
	pid_t pid;

	start_server();
	pid = fork_by(_i);
	if (!pid) {
		if (trace_http_port() || trace_http_stop() != -EINVAL)
			_exit(2);
		if (trace_http_start("127.0.0.1:0") || !trace_http_port())
			_exit(3);
		_exit(trace_http_stop() ? 4 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	got = http_ask(port, "GET", "/debug/pprof/cmdline", "");
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
	stop_server();
}
END_TEST

/* Runs this program, which tests nothing, with TRC_HTTP=`address`. */
static void run_at(const char *address, const char *file)
{
	pid_t pid = fork();

	if (!pid) {
		setenv("TRC_HTTP", address, 1);
		setenv("TRC_HTTP_FILE", file, 1);
		setenv("CK_RUN_CASE", "none", 1);
		execl("/proc/self/exe", "http_test", NULL);
		_exit(9);
	}
	ck_assert_int_eq(outcome(pid), 0);
}

static void expect_beginning(const char *file, const char *text)
{
	char is[100] = "";
	FILE *f = fopen(file, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(is, sizeof(is), f));
	fclose(f);
	ck_assert_msg(!strncmp(is, text, strlen(text)), "%s", is);
}

START_TEST(the_first_one_says_where_it_is)
{
	char dir[] = "/tmp/trc-http-test-XXXXXX", file[60];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/served", dir);
	run_at("127.0.0.1:0", file);
	expect_beginning(file, "port: ");
	run_at("nonsense", file);
	expect_beginning(file, "port: ");
	ck_assert_int_eq(unlink(file), 0);
	run_at("nonsense", file);
	expect_beginning(file, "error: nonsense: no address like");
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* ---- many, slow, gone ---------------------------------------------------------------------- */

START_TEST(fifty_at_once_are_all_answered)
{
	enum { N = 50 };
	int fd[N];
	static const char request[] =
		"GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n";

	for (int i = 0; i < N; i++)
		fd[i] = http_connect(port);
	for (int i = 0; i < N; i++)
		http_send(fd[i], request, strlen(request));
	for (int i = N - 1; i >= 0; i--) {
		struct http_got got = http_read(fd[i]);

		ck_assert_int_eq(got.status, 200);
		http_got_free(&got);
	}
}
END_TEST

/* More than may be connected: the others wait their turn. */
START_TEST(more_than_fit_wait_their_turn)
{
	enum { N = 20 };
	struct trace_http_options options = TRACE_HTTP_OPTIONS_INIT;
	static const char request[] =
		"GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd[N];

	options.max_connections = 3;
	ck_assert_int_eq(trace_http_start_with("127.0.0.1:0", &options), 0);
	port = trace_http_port();
	for (int i = 0; i < N; i++) {
		fd[i] = http_connect(port);
		http_send(fd[i], request, strlen(request));
	}
	for (int i = 0; i < N; i++) {
		struct http_got got = http_read(fd[i]);

		ck_assert_int_eq(got.status, 200);
		http_got_free(&got);
	}
	stop_server();
}
END_TEST

START_TEST(a_request_in_pieces_holds_nobody_up)
{
	static const char request[] =
		"GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int slow = http_connect(port);
	struct http_got got;

	for (size_t i = 0; i < strlen(request); i++) {
		http_send(slow, request + i, 1);
		if (i % 16)
			continue;
		got = http_ask(port, "GET", "/debug/pprof/symbol", "");
		ck_assert_int_eq(got.status, 200);
		http_got_free(&got);
	}
	got = http_read(slow);
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
}
END_TEST

START_TEST(a_slow_reader_holds_nobody_up)
{
	static const char request[] =
		"GET /debug/pprof/trace?seconds=0.1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = http_connect(port), few = 1;
	struct http_got got;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
	http_send(fd, request, strlen(request));
	for (int i = 0; i < 20; i++) {
		got = http_ask(port, "GET", "/debug/pprof/cmdline", "");
		ck_assert_int_eq(got.status, 200);
		http_got_free(&got);
		sleep_ms(20);
	}
	got = http_read(fd);
	ck_assert_int_eq(got.status, 200);
	ck_assert_mem_eq(got.body, "TRC", 4);
	http_got_free(&got);
}
END_TEST

START_TEST(who_goes_away_is_not_waited_for)
{
	static const char request[] =
		"GET /debug/pprof/trace?seconds=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n";

	for (int i = 0; i < 3; i++) {
		int fd = http_connect(port);

		http_send(fd, request, strlen(request));
		wait_for_trace(true);
		close(fd);
		wait_for_trace(false);
	}
}
END_TEST

/* ---- nonsense ------------------------------------------------------------------------------ */

static uint32_t random_state;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* A request that some bytes of were changed, taken away or put in. */
static size_t mutate(char *out, size_t room)
{
	static const char *const seeds[] = {
		"GET /debug/pprof/trace?seconds=0.01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /debug/pprof/?debug=1&seconds=1&a=%20+b HTTP/1.0\r\n\r\n",
		"POST /debug/pprof/symbol HTTP/1.1\r\nHost: [::1]:1\r\nContent-Length: 7\r\n\r\n"
		"0x1+0x2",
		"POST /debug/pprof/symbol HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\n0x1\r\n0\r\n\r\n",
		"HEAD /debug/pprof/flight?seconds=1.5 HTTP/1.1\r\nHost: localhost\r\n"
		"Authorization: Basic YTpi\r\nConnection: keep-alive\r\n\r\n",
	};
	const char *seed = seeds[next_random() % (sizeof(seeds) / sizeof(*seeds))];
	size_t used = strlen(seed);

	memcpy(out, seed, used);
	for (uint32_t n = next_random() % 8; n; n--) {
		size_t at = next_random() % used;

		switch (next_random() % 3) {
		case 0:
			out[at] = (char)next_random();
			break;
		case 1:
			if (used > 1)
				memmove(out + at, out + at + 1, --used - at);
			break;
		default:
			if (used < room) {
				memmove(out + at + 1, out + at, used++ - at);
				out[at] = "\r\n %&=?/\0\xff:"[next_random() % 12];
			}
		}
	}
	return used;
}

START_TEST(no_request_takes_the_program_down)
{
	struct http_got got;
	char text[1024];

	random_state = 1;
	for (int i = 0; i < 500; i++) {
		size_t n_bytes = mutate(text, sizeof(text));
		int fd = http_connect(port);

		http_send(fd, text, n_bytes);
		if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 200) != 1) {
			close(fd); /* the server waits for more */
			continue;
		}
		got = http_read(fd);
		ck_assert_msg(!got.status || (got.status >= 100 && got.status < 600),
			      "try %d: status %d", i, got.status);
		http_got_free(&got);
	}
	got = http_ask(port, "GET", "/debug/pprof/", "");
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

START_TEST(targets_of_any_length)
{
	for (size_t n_bytes = 100; n_bytes <= 100000; n_bytes *= 10) {
		char *text = malloc(n_bytes + 100);
		struct http_got got;
		int n = sprintf(text, "GET /debug/pprof/");

		memset(text + n, 'a', n_bytes);
		strcpy(text + n + n_bytes, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
		got = http_raw(port, text, strlen(text));
		ck_assert_msg(got.status == 404 || got.status == 414 || got.status == 413 ||
				      got.status == 431 || !got.status,
			      "%zu bytes: %d", n_bytes, got.status);
		http_got_free(&got);
		free(text);
	}
}
END_TEST

/* ---- without a server of ours --------------------------------------------------------------- */

struct kept {
	char text[65536];
	size_t n_bytes;
	int err, finished, finished_with;
};

static int keep(void *context, const void *bytes, size_t n_bytes)
{
	struct kept *k = context;

	if (k->err)
		return k->err;
	ck_assert_uint_lt(n_bytes, sizeof(k->text) - k->n_bytes);
	memcpy(k->text + k->n_bytes, bytes, n_bytes);
	k->n_bytes += n_bytes;
	return 0;
}

static int kept_all(void *context, int err)
{
	struct kept *k = context;

	k->finished++;
	k->finished_with = err;
	return 0;
}

START_TEST(a_program_with_its_own_server_asks_directly)
{
	static const struct {
		const char *method, *url, *head, *body;
	} tries[] = {
		{"GET", "/debug/pprof/cmdline", "HTTP/1.1 200 OK\r\nContent-Length: ", "http_test"},
		{"GET", "/debug/pprof/trace?seconds=0.05", "HTTP/1.1 200 OK\r\n", "TRC"},
		{"GET", "/debug/pprof/nothing", "HTTP/1.1 404 Not Found\r\n", "Unknown profile\n"},
		{"PUT", "/debug/pprof/", "HTTP/1.1 405 Method Not Allowed\r\n", "Method"},
		{"HEAD", "/debug/pprof/", "HTTP/1.1 200 OK\r\n", ""},
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct kept kept = {0};
		const struct trace_writer to = {
			.write = keep, .context = &kept, .finish = kept_all};
		char *body;

		ck_assert_int_eq(trace_http_handle(tries[i].method, tries[i].url, &to), 0);
		ck_assert_int_eq(kept.finished, 1);
		body = strstr(kept.text, "\r\n\r\n");
		ck_assert_msg(body && !strncmp(kept.text, tries[i].head, strlen(tries[i].head)),
			      "%s: %s", tries[i].url, kept.text);
		ck_assert_msg(!strncmp(body + 4, tries[i].body, strlen(tries[i].body)) ||
				      strstr(body + 4, tries[i].body),
			      "%s: %s", tries[i].url, body);
		ck_assert(*tries[i].body || !body[4]);
	}
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

START_TEST(its_reply_may_be_had_in_parts)
{
	struct trace_http_request request = {.struct_bytes = sizeof(request),
					     .method = "POST",
					     .url = "/debug/pprof/symbol",
					     .body = "0x1+0x2",
					     .body_bytes = 7};
	struct trace_http_reply reply = {.struct_bytes = sizeof(reply)};
	struct kept kept = {0};
	const struct trace_writer to = {.write = keep, .context = &kept, .finish = kept_all};

	ck_assert_int_eq(trace_http_answer(&request, &reply, &to), 0);
	ck_assert_uint_eq(reply.status, 200);
	ck_assert_str_eq(reply.header, "Content-Length: 15\r\nContent-Type: " TEXT "\r\n"
				       "X-Content-Type-Options: nosniff\r\n"
				       "Cache-Control: no-store\r\n");
	ck_assert_str_eq(kept.text, "num_symbols: 1\n");
	reply.struct_bytes = 3;
	ck_assert_int_eq(trace_http_answer(&request, &reply, &to), -EINVAL);
}
END_TEST

START_TEST(what_cannot_be_written_is_an_error)
{
	struct kept kept = {.err = -EPIPE};
	const struct trace_writer to = {.write = keep, .context = &kept, .finish = kept_all};

	ck_assert_int_eq(trace_http_handle("GET", "/debug/pprof/cmdline", &to), -EPIPE);
	ck_assert_int_eq(kept.finished, 1);
	ck_assert_int_eq(kept.finished_with, -EPIPE);
	ck_assert_int_eq(trace_http_handle("GET", NULL, &to), -EINVAL);
	ck_assert_int_eq(kept.finished, 2);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("http");
	TCase *served = tcase_create("served"), *alone = tcase_create("alone");

	tcase_add_checked_fixture(served, start_server, stop_server);
	tcase_set_timeout(served, 60);
	tcase_add_loop_test(served, each_address_answers_as_it_should, 0,
			    sizeof(rows) / sizeof(*rows));
	tcase_add_test(served, symbols_have_names);
	tcase_add_test(served, a_delta_is_of_its_time_and_the_whole_of_all);
	tcase_add_test(served, profiles_of_the_programs_own_are_served);
	tcase_add_test(served, a_body_that_is_too_large_is_refused);
	tcase_add_test(served, a_trace_is_whole_and_leaves_no_file);
	tcase_add_test(served, two_traces_at_once_are_one_too_many);
	tcase_add_test(served, the_flight_recorder_is_at_hand);
	tcase_add_test(served, pages_of_the_world_cannot_have_a_browser_ask);
	tcase_add_test(served, pages_of_other_origins_cannot_either);
	tcase_add_test(served, only_the_address_given_is_served);
	tcase_add_test(served, fifty_at_once_are_all_answered);
	tcase_add_test(served, a_request_in_pieces_holds_nobody_up);
	tcase_add_test(served, a_slow_reader_holds_nobody_up);
	tcase_add_test(served, who_goes_away_is_not_waited_for);
	tcase_add_test(served, no_request_takes_the_program_down);
	tcase_add_test(served, targets_of_any_length);
	suite_add_tcase(s, served);
	tcase_set_timeout(alone, 60);
	tcase_add_test(alone, on_demand_is_from_the_first_request_on);
	tcase_add_test(alone, a_token_has_to_be_shown);
	tcase_add_test(alone, an_empty_token_is_none_that_could_be_shown);
	tcase_add_test(alone, addresses_are_of_this_machine_unless_written_out);
	tcase_add_test(alone, one_server_at_a_time_and_the_port_is_free_again);
	tcase_add_test(alone, a_port_that_is_taken_is_an_error);
	tcase_add_test(alone, the_program_has_no_descriptor_of_the_server);
	tcase_add_test(alone, the_end_cuts_off_whoever_waits);
	tcase_add_test(alone, the_end_may_come_at_any_moment_of_a_request);
	tcase_add_test(alone, a_trace_is_written_where_nobody_else_can);
	tcase_add_test(alone, what_a_kill_leaves_behind_can_be_cleaned);
	tcase_add_test(alone, exit_ends_the_server_too);
	tcase_add_test(alone, exit_does_not_wait_for_names);
	if (!ALLOCATOR_NOT_FOR_FORKS) /* which takes what a child forgets for a leak, at exit() */
		tcase_add_loop_test(alone, a_child_may_call_exit, 0, WAYS_TO_FORK);
	tcase_add_loop_test(alone, a_child_has_no_server_and_may_start_one, 0, WAYS_TO_FORK);
	tcase_add_test(alone, the_first_one_says_where_it_is);
	tcase_add_test(alone, more_than_fit_wait_their_turn);
	tcase_add_test(alone, a_program_with_its_own_server_asks_directly);
	tcase_add_test(alone, its_reply_may_be_had_in_parts);
	tcase_add_test(alone, what_cannot_be_written_is_an_error);
	suite_add_tcase(s, alone);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int n_failed;

	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
