/* http_connection_test.c - how long a connection may take, and which connection makes room for
 * another one: by a clock that the test moves ahead. */
#define _GNU_SOURCE 1
#include <check.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "recorder/http/connection.h"

enum { N = 3 };

static time_t ahead_s; /* 0 again at the end of a test: check takes its time by this clock too */
static struct trc_http_connections all;
static struct trc_http_connection *c[N];
static int client[N];

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	long result = syscall(SYS_clock_gettime, clock, t);

	t->tv_sec += ahead_s;
	return (int)result;
}

static void connect_all(void)
{
	trc_http_connections_init(&all);
	for (int i = 0; i < N; i++) {
		int pair[2];

		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		client[i] = pair[1];
		c[i] = trc_http_connection_open(&all, pair[0]);
		ck_assert_ptr_nonnull(c[i]);
	}
}

static void close_all(void)
{
	for (int i = 0; i < N; i++) {
		close(c[i]->socket);
		close(client[i]);
		trc_http_connection_close(&all, c[i]);
	}
	ck_assert_uint_eq(all.n, 0);
}

/* As its client sees it. */
static bool is_open(int i)
{
	char byte;

	return recv(client[i], &byte, 1, MSG_DONTWAIT) < 0;
}

START_TEST(a_request_has_ten_seconds)
{
	trc_http_connection_answering(c[1]);
	ck_assert_int_le(trc_http_connections_late(&all), 10000);
	ahead_s += 9;
	trc_http_connections_late(&all);
	ck_assert(is_open(0) && is_open(1) && is_open(2));
	ahead_s += 2;
	ck_assert_int_eq(trc_http_connections_late(&all), -1);
	ck_assert(!is_open(0) && !is_open(2));
	ahead_s += 86400; /* it may take as long as was asked for */
	trc_http_connections_late(&all);
	ck_assert(is_open(1));
	ahead_s = 0;
}
END_TEST

START_TEST(a_reply_has_a_minute_and_a_second_for_each_16_kib)
{
	trc_http_connection_sending(c[0], 0);
	trc_http_connection_sending(c[1], 1 << 20);
	trc_http_connection_sending(c[2], UINT64_C(256) << 20);
	ahead_s += 59;
	trc_http_connections_late(&all);
	ck_assert(is_open(0));
	ahead_s += 2;
	trc_http_connections_late(&all);
	ck_assert(!is_open(0) && is_open(1));
	ahead_s += 62; /* 123 */
	trc_http_connections_late(&all);
	ck_assert(is_open(1));
	ahead_s += 2;
	trc_http_connections_late(&all);
	ck_assert(!is_open(1));
	ahead_s += 16384 - 3600;
	trc_http_connections_late(&all);
	ck_assert(is_open(2));
	ahead_s += 3600;
	trc_http_connections_late(&all);
	ck_assert(!is_open(2));
	ahead_s = 0;
}
END_TEST

START_TEST(whoever_has_not_asked_makes_room_first_then_the_slowest_reader)
{
	ck_assert_ptr_eq(trc_http_connections_idle(&all), c[0]);
	trc_http_connection_answering(c[0]);
	ck_assert_ptr_eq(trc_http_connections_idle(&all), c[1]);
	trc_http_connection_sending(c[1], 1 << 20);
	ahead_s += 5;
	trc_http_connection_sending(c[0], 1 << 20);
	ck_assert_ptr_eq(trc_http_connections_idle(&all), c[2]);
	trc_http_connection_drop(c[2]);
	ck_assert(!is_open(2));
	ahead_s += 24; /* one reads for 29 s, one for 24 */
	ck_assert_ptr_null(trc_http_connections_idle(&all));
	ahead_s += 2;
	ck_assert_ptr_eq(trc_http_connections_idle(&all), c[1]);
	trc_http_connection_drop(c[1]);
	ck_assert_ptr_null(trc_http_connections_idle(&all));
	ahead_s += 5;
	ck_assert_ptr_eq(trc_http_connections_idle(&all), c[0]);
	ahead_s = 0;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http connections");
	TCase *limits = tcase_create("limits");
	SRunner *runner;
	int n_failed;

	tcase_add_checked_fixture(limits, connect_all, close_all);
	tcase_add_test(limits, a_request_has_ten_seconds);
	tcase_add_test(limits, a_reply_has_a_minute_and_a_second_for_each_16_kib);
	tcase_add_test(limits, whoever_has_not_asked_makes_room_first_then_the_slowest_reader);
	suite_add_tcase(suite, limits);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
