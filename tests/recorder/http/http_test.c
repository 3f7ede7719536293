/* http_test.c - <trc/http.h>: every address, asked rightly and wrongly. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "http_client.h"
#include "http_fixture.h"
#include "tests/sanitized.h"
#include "trc/http.h"
#include "trc/trace.h"

#define TEXT   "text/plain; charset=utf-8"
#define HTML   "text/html; charset=utf-8"
#define BINARY "application/octet-stream"

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
	{"GET", "/debug/pprof/offcpu?seconds=0.1", 200, BINARY, "attachment; filename=\"offcpu\"",
	 NULL},
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
	{"GET", "/debug/pprof/threads?seconds=1", 200, BINARY,
	 "attachment; filename=\"threads-delta\"", NULL},
	{"HEAD", "/debug/pprof/goroutine?seconds=1", 200, BINARY,
	 "attachment; filename=\"goroutine-delta\"", ""},
	{"GET", "/debug/pprof/threads?seconds=1&debug=2", 400, TEXT, NULL,
	 "seconds and debug params are incompatible\n"},
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
	{"GET", "/debug/pprof/block?rate=10000", 400, TEXT, NULL, "\"rate\" is for a time to come"},
	{"GET", "/debug/pprof/block?seconds=1&rate=-1", 400, TEXT, NULL,
	 "invalid value for \"rate\""},
	{"GET", "/debug/pprof/mutex?seconds=1&fraction=1.5", 400, TEXT, NULL,
	 "invalid value for \"fraction\""},
	{"GET", "/debug/pprof/heap?seconds=1&bytes=524287", 400, TEXT, NULL,
	 "bytes: at least 524288, as who starts the server has it"},
	{"GET", "/debug/pprof/allocs?seconds=1&bytes=1048576", 200, BINARY,
	 "attachment; filename=\"allocs-delta\"", NULL},
	{"GET", "/debug/pprof/wall?seconds=1", 501, TEXT, NULL, "trace-analyze --pprof wall"},
	{"GET", "/debug/pprof/cpu?seconds=1", 404, TEXT, NULL,
	 "that of CPU time is /debug/pprof/profile"},
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

/* To HEAD: that of GET's body, or none if it is not known; 0 would be a promise. */
static void expect_length(const struct row *row, const struct http_got *got, const char *what)
{
	const char *length = http_header(got, "Content-Length");

	if (!strcmp(row->type, BINARY))
		ck_assert_msg(!length, "%s: Content-Length is %s", what, length);
	else
		ck_assert_msg(length && strtol(length, NULL, 10) > 10, "%s: Content-Length is %s",
			      what, length ? length : "missing");
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
	if (!strcmp(row->method, "HEAD"))
		expect_length(row, got, what);
	if (row->body && !*row->body)
		ck_assert_msg(!got->body_bytes, "%s: a body", what);
	else if (row->body)
		ck_assert_msg(strstr(got->body, row->body), "%s: %s", what, got->body);
}

static bool is_foreign(const struct row *row)
{
	return is_sanitized() && row->status == 200 &&
	       (strstr(row->target, "/heap") || strstr(row->target, "/allocs"));
}

START_TEST(each_address_answers_as_it_should)
{
	const struct row foreign = {rows[_i].method, rows[_i].target, 501, TEXT,
				    NULL,	     "comes before the recorder"};
	const struct row *row = is_foreign(&rows[_i]) ? &foreign : &rows[_i];
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

/* ---- traces -------------------------------------------------------------------------------- */

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

static int ask_whole(const char *method, const char *url, const struct trace_writer *to)
{
	struct trace_http_request request = TRACE_HTTP_REQUEST_INIT;

	request.method = method;
	request.url = url;
	return trace_http_answer(&request, NULL, to);
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

		ck_assert_int_eq(ask_whole(tries[i].method, tries[i].url, &to), 0);
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
	struct trace_http_request request = TRACE_HTTP_REQUEST_INIT;
	struct trace_http_reply reply = TRACE_HTTP_REPLY_INIT;
	struct kept kept = {0};
	const struct trace_writer to = {.write = keep, .context = &kept, .finish = kept_all};

	request.method = "POST";
	request.url = "/debug/pprof/symbol";
	request.body = "0x1+0x2";
	request.body_bytes = 7;
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

	ck_assert_int_eq(ask_whole("GET", "/debug/pprof/cmdline", &to), -EPIPE);
	ck_assert_int_eq(kept.finished, 1);
	ck_assert_int_eq(kept.finished_with, -EPIPE);
	ck_assert_int_eq(ask_whole("GET", NULL, &to), -EINVAL);
	ck_assert_int_eq(kept.finished, 2);
}
END_TEST

static void http_addresses(TCase *served, TCase *alone)
{
	tcase_add_loop_test(served, each_address_answers_as_it_should, 0,
			    sizeof(rows) / sizeof(*rows));
	tcase_add_test(served, symbols_have_names);
	tcase_add_test(served, a_body_that_is_too_large_is_refused);
	tcase_add_test(served, a_trace_is_whole_and_leaves_no_file);
	tcase_add_test(served, two_traces_at_once_are_one_too_many);
	tcase_add_test(served, the_flight_recorder_is_at_hand);
	tcase_add_test(alone, a_program_with_its_own_server_asks_directly);
	tcase_add_test(alone, its_reply_may_be_had_in_parts);
	tcase_add_test(alone, what_cannot_be_written_is_an_error);
}

static Suite *suite(void)
{
	Suite *s = suite_create("http");
	TCase *served = tcase_create("served"), *alone = tcase_create("alone");

	tcase_add_checked_fixture(served, start_server, stop_server);
	tcase_set_timeout(served, 60);
	tcase_set_timeout(alone, 60);
	http_addresses(served, alone);
	http_profiles(served, alone);
	http_access(served, alone);
	http_server(alone);
	suite_add_tcase(s, served);
	suite_add_tcase(s, alone);
	return s;
}

int main(void)
{
	const char *says = getenv("HTTP_TEST_SAYS"); /* of a server that was begun before this */
	SRunner *runner;
	int n_failed;

	if (says)
		return strncmp(trace_last_error(), says, *says ? strlen(says) : 1) ? EXIT_FAILURE
										: EXIT_SUCCESS;
	runner = srunner_create(suite());
	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
