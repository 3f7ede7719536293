/* http_profiles.c - profiles over HTTP: of which time they are, and what they are begun with. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "http_client.h"
#include "http_fixture.h"
#include "tests/sanitized.h"
#include "trc/http.h"
#include "trc/trace.h"

#define NO_MORE "64 recorders and windows run already: there is room for no more"

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
	/* Of glibc's lock word 2 says that somebody waits. */
	for (int i = 0; i < 10000 && *(volatile int *)&contended != 2; i++)
		sleep_ms(1);
	sleep_ms(30);
	pthread_mutex_unlock(&contended);
	pthread_join(thread, NULL);
}

static atomic_bool answered;

static void *ask_for_delta(void *got)
{
	*(struct http_got *)got = http_ask(port, "GET", "/debug/pprof/block?seconds=1", "");
	atomic_store(&answered, true);
	return NULL;
}

START_TEST(a_delta_is_of_its_time_and_the_whole_of_all)
{
	struct http_got delta, whole;
	pthread_t asks;

	contend(waits_before);
	ck_assert_int_eq(pthread_create(&asks, NULL, ask_for_delta, &delta), 0);
	while (!atomic_load(&answered))
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

/* What the list says that there is of one. */
static int counted(const char *name)
{
	struct http_got got = http_ask(port, "GET", "/debug/pprof/", "");
	char link[100];
	const char *at;
	int n = -1;

	ck_assert_int_eq(got.status, 200);
	snprintf(link, sizeof(link), "</td><td><a href='%s", name);
	at = strstr(got.body, link);
	while (at && at > got.body && at[-1] >= '0' && at[-1] <= '9')
		at--;
	ck_assert_msg(at && sscanf(at, "%d", &n) == 1, "%s: %s", name, got.body);
	http_got_free(&got);
	return n;
}

static void *does_nothing(void *unused)
{
	return unused;
}

START_TEST(the_list_counts)
{
	pthread_t thread;

	ck_assert_int_eq(counted("threads"), 1); /* none of the server's */
	ck_assert_int_eq(counted("goroutine"), 1);
	ck_assert_int_eq(counted("threadcreate"), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, does_nothing, NULL), 0);
		pthread_join(thread, NULL);
	}
	ck_assert_int_eq(counted("threadcreate"), 3);
	ck_assert_int_eq(counted("cmdline"), 0);
	ck_assert_int_eq(counted("profile"), 0);
}
END_TEST

/* Not before it is asked for, if that was asked for. */
START_TEST(on_demand_is_from_the_first_request_on)
{
	struct trace_http_options options = TRACE_HTTP_OPTIONS_INIT;
	struct http_got got;

	options.on_demand = true;
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", &options), 0);
	port = trace_http_port();
	ck_assert(!trace_enabled());
	contend(waits_before);
	ck_assert_int_eq(counted("block"), 0);
	ck_assert_int_eq(counted("heap"), 0);
	ck_assert(!trace_enabled());
	got = http_ask(port, "GET", "/debug/pprof/block", "");
	ck_assert_int_eq(got.status, 200);
	ck_assert(!names(&got, "waits_before"));
	http_got_free(&got);
	ck_assert(trace_enabled());
	contend(waits_before);
	got = http_ask(port, "GET", "/debug/pprof/block", "");
	ck_assert(names(&got, "waits_before"));
	http_got_free(&got);
	ck_assert_int_ge(counted("block"), 1);
	stop_server();
	ck_assert(!trace_enabled());
}
END_TEST

static int ignore(void *context, const void *bytes, size_t n_bytes)
{
	return 0;
}

/* As many as can be, and one more that could not be started; how many. */
static int fill(struct trace_recorder *r[100])
{
	static const struct trace_writer nowhere = {.write = ignore};
	int err = 0, n = 0;

	while (!err && n < 100) {
		ck_assert_int_eq(trace_recorder_create_block(&r[n], NULL), 0);
		err = trace_recorder_start(r[n++], &nowhere);
	}
	ck_assert_int_eq(err, -ENOSPC);
	ck_assert_str_eq(trace_last_error(), "block: " NO_MORE);
	return n;
}

/* The program's own recorders and the windows of requests share what room there is. */
START_TEST(one_window_too_many_may_come_later)
{
	struct trace_recorder *r[100];
	struct http_got got;
	int n = fill(r);

	got = http_ask(port, "GET", "/debug/pprof/block?seconds=1", "");
	ck_assert_int_eq(got.status, 503);
	ck_assert_str_eq(got.body, "Could not take the profile: block: " NO_MORE "\n");
	http_got_free(&got);
	while (n)
		trace_recorder_destroy(r[--n]);
	got = http_ask(port, "GET", "/debug/pprof/block?seconds=1", "");
	ck_assert_int_eq(got.status, 200);
	http_got_free(&got);
}
END_TEST

static void *sleeps(void *unused)
{
	while (!atomic_load(&answered))
		sleep_ms(20);
	return unused;
}

/* A window of all waits has those that block leaves out, and block stays as it is. */
START_TEST(offcpu_has_whatever_is_waited_for)
{
	struct http_got off, block;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, sleeps, NULL), 0);
	off = http_ask(port, "GET", "/debug/pprof/offcpu?seconds=1&debug=1", "");
	block = http_ask(port, "GET", "/debug/pprof/block?debug=1", "");
	atomic_store(&answered, true);
	pthread_join(thread, NULL);
	ck_assert_int_eq(off.status, 200);
	ck_assert_msg(strstr(off.body, "sleeps"), "%s", off.body);
	ck_assert_msg(!strstr(block.body, "sleeps"), "%s", block.body);
	http_got_free(&off);
	http_got_free(&block);
}
END_TEST

/* The reply as text. */
static void expect_text(const char *target, const char *text)
{
	struct http_got got = http_ask(port, "GET", target, "");

	ck_assert_int_eq(got.status, 200);
	ck_assert_msg(strstr(got.body, text), "%s: %s", target, got.body);
	http_got_free(&got);
}

static void contend_and_ask(const char *block, const char *mutex, const char *heap)
{
	void *volatile object = malloc(777);

	contend(waits_before);
	expect_text("/debug/pprof/block?debug=1", block);
	expect_text("/debug/pprof/mutex?debug=1", mutex);
	if (!is_sanitized())
		expect_text("/debug/pprof/heap?debug=1", heap);
	stop_server();
	free(object);
}

/* By options, or by the environment; a window may have less, nobody more. */
START_TEST(how_much_is_kept_is_for_who_starts_it)
{
	struct trace_http_options options = TRACE_HTTP_OPTIONS_INIT;
	struct http_got got;

	start_server();
	contend_and_ask("waits_before", "contend", "heap profile: ");

	options.block_rate_ns = options.mutex_fraction = -1;
	options.heap_sample_bytes = 1;
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", &options), 0);
	port = trace_http_port();
	got = http_ask(port, "GET", "/debug/pprof/heap?seconds=1&bytes=1", "");
	ck_assert_int_eq(got.status, is_sanitized() ? 501 : 200);
	http_got_free(&got);
	contend_and_ask("--- contention:\ncycles/second=1000000000\n", "--- mutex:\n",
			"\n1: 777 [1: 777] @ ");

	setenv("TRC_HTTP_HEAP", "1", 1);
	setenv("TRC_HTTP_BLOCK_RATE", "0", 1);
	start_server();
	contend_and_ask("--- contention:\ncycles/second=1000000000\n", "contend",
			"\n1: 777 [1: 777] @ ");
	setenv("TRC_HTTP_MUTEX_FRACTION", "many", 1);
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", NULL), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "TRC_HTTP_MUTEX_FRACTION: not a number of at most 1T");
}
END_TEST

/* What a server would have begun by itself is named once as well. */
START_TEST(what_cannot_be_begun_on_demand_is_told)
{
	struct trace_http_options options = TRACE_HTTP_OPTIONS_INIT;
	struct trace_recorder *r[100];
	struct http_got got;
	int n;

	options.on_demand = true;
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", &options), 0);
	port = trace_http_port();
	n = fill(r);
	ck_assert_int_eq(n, 65);
	got = http_ask(port, "GET", "/debug/pprof/mutex", "");
	ck_assert_int_eq(got.status, 503);
	ck_assert_str_eq(got.body, "Could not take the profile: mutex: " NO_MORE "\n");
	http_got_free(&got);
	while (n)
		trace_recorder_destroy(r[--n]);
	stop_server();
}
END_TEST

START_TEST(profiles_of_the_programs_own_are_served)
{
	struct trace_custom_profile *profile;
	struct http_got got;
	int key;

	ck_assert_int_eq(trace_custom_profile_register(&profile, "connections.open"), 0);
	ck_assert_int_eq(trace_custom_profile_add(profile, &key, 0), 0);
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

void http_profiles(TCase *served, TCase *alone)
{
	tcase_add_test(served, a_delta_is_of_its_time_and_the_whole_of_all);
	tcase_add_test(served, the_list_counts);
	tcase_add_test(served, offcpu_has_whatever_is_waited_for);
	tcase_add_test(served, one_window_too_many_may_come_later);
	tcase_add_test(served, profiles_of_the_programs_own_are_served);
	tcase_add_test(alone, on_demand_is_from_the_first_request_on);
	tcase_add_test(alone, what_cannot_be_begun_on_demand_is_told);
	tcase_add_test(alone, how_much_is_kept_is_for_who_starts_it);
}
