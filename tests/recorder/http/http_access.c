/* http_access.c - who may ask, many at once, slowly, or for nonsense. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "http_client.h"
#include "http_fixture.h"
#include "trc/http.h"
#include "trc/trace.h"

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
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", &options), 0);
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
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", &options), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "the token is empty"));
	setenv("TRC_HTTP_TOKEN", "", 1);
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", NULL), -EINVAL);
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
		int err = trace_http_start(tries[i].address, NULL);

		ck_assert_msg(err == tries[i].err, "%s: %s", tries[i].address, strerror(-err));
		ck_assert_msg(*tries[i].says ? !!strstr(trace_last_error(), tries[i].says)
					     : !*trace_last_error(),
			      "%s: %s", tries[i].address, trace_last_error());
		ck_assert_int_eq(trace_http_stop(), err ? -EINVAL : 0);
	}
	ck_assert_int_eq(trace_http_start(NULL, NULL), -EINVAL);
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
	ck_assert_int_eq(trace_http_start("127.0.0.1:0", &options), 0);
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

/* ---- silent, half closed -------------------------------------------------------------------- */

static const struct {
	const char *sent;
	bool closes;
} silences[] = {
	{"", false},
	{"", true},
	{"G", false},
	{"GET /debug/pprof/cmdline HTTP/1.1\r\nHost: local", false},
	{"GET /debug/pprof/cmdline HTTP/1.1\r\nHost: local", true},
	{"POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n0x",
	 false},
	{"POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n0x",
	 true},
};

/* Whether it neither has ended nor has anything been said. */
static bool is_open(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* As many as may be connected.  Not by their time did the oldest go: the newest has been let be. */
START_TEST(silence_shuts_nobody_out)
{
	enum { N = 64, NEWEST = N - 1 };
	const char *sent = silences[_i].sent;
	struct http_got got;
	int fd[N];

	for (int i = 0; i < N; i++) {
		fd[i] = http_connect(port);
		http_send(fd[i], sent, strlen(sent));
		if (silences[_i].closes && i < NEWEST)
			close(fd[i]);
	}
	for (int i = 0; i < 3; i++) {
		got = http_ask(port, "GET", "/debug/pprof/cmdline", "");
		ck_assert_int_eq(got.status, 200);
		http_got_free(&got);
	}
	ck_assert(is_open(fd[NEWEST]));
	ck_assert(silences[_i].closes || !is_open(fd[0]));
	for (int i = silences[_i].closes ? NEWEST : 0; i < N; i++)
		close(fd[i]);
}
END_TEST

/* By a request that never ends, byte by byte, header or body: each byte is a sign of life. */
START_TEST(a_request_has_to_end)
{
	static const char *const begin[] = {
		"GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\nX: ",
		"POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
		"60000\r\n\r\n",
	};
	enum { N = sizeof(begin) / sizeof(*begin) };
	int fd[N], n_open = N;

	for (int i = 0; i < N; i++) {
		fd[i] = http_connect(port);
		http_send(fd[i], begin[i], strlen(begin[i]));
	}
	for (int ms = 0; n_open && ms < 40000; ms += 200) {
		sleep_ms(200);
		n_open = 0;
		for (int i = 0; i < N; i++) {
			http_send(fd[i], "x", 1);
			n_open += is_open(fd[i]);
		}
	}
	ck_assert_int_eq(n_open, 0);
	for (int i = 0; i < N; i++)
		close(fd[i]);
}
END_TEST

/* As `nc -N` has it: no more will be sent, and the reply is waited for. */
START_TEST(who_sends_no_more_is_answered)
{
	static const char *const targets[] = {
		"/debug/pprof/cmdline",
		"/debug/pprof/block?seconds=2",
		"/debug/pprof/trace?seconds=0.3",
	};
	char text[200];
	int fd = http_connect(port);
	struct http_got got;

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", targets[_i]);
	http_send(fd, text, strlen(text));
	shutdown(fd, SHUT_WR);
	got = http_read(fd);
	ck_assert_msg(got.status == 200, "%d: %s", got.status, got.body);
	ck_assert_uint_gt(got.body_bytes, 0);
	http_got_free(&got);
}
END_TEST

/* Both, one after the other. */
START_TEST(who_sends_no_more_may_go_away_later)
{
	static const char request[] =
		"GET /debug/pprof/trace?seconds=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = http_connect(port);

	http_send(fd, request, strlen(request));
	shutdown(fd, SHUT_WR);
	wait_for_trace(true);
	sleep_ms(1500);
	ck_assert(trace_runs());
	close(fd);
	wait_for_trace(false);
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

void http_access(TCase *served, TCase *alone)
{
	tcase_add_test(served, pages_of_the_world_cannot_have_a_browser_ask);
	tcase_add_test(served, pages_of_other_origins_cannot_either);
	tcase_add_test(served, only_the_address_given_is_served);
	tcase_add_test(served, fifty_at_once_are_all_answered);
	tcase_add_test(served, a_request_in_pieces_holds_nobody_up);
	tcase_add_test(served, a_slow_reader_holds_nobody_up);
	tcase_add_test(served, who_goes_away_is_not_waited_for);
	tcase_add_loop_test(served, silence_shuts_nobody_out, 0,
			    sizeof(silences) / sizeof(*silences));
	tcase_add_test(served, a_request_has_to_end);
	tcase_add_loop_test(served, who_sends_no_more_is_answered, 0, 3);
	tcase_add_test(served, who_sends_no_more_may_go_away_later);
	tcase_add_test(served, no_request_takes_the_program_down);
	tcase_add_test(served, targets_of_any_length);
	tcase_add_test(alone, a_token_has_to_be_shown);
	tcase_add_test(alone, an_empty_token_is_none_that_could_be_shown);
	tcase_add_test(alone, addresses_are_of_this_machine_unless_written_out);
	tcase_add_test(alone, more_than_fit_wait_their_turn);
}
