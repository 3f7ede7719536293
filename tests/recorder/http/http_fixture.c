/* http_fixture.c - what the tests of <trc/http.h> share. */
#include "http_fixture.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "http_client.h"
#include "trc/http.h"
#include "trc/trace.h"

unsigned int port;

void start_server(void)
{
	ck_assert_msg(!trace_http_start("127.0.0.1:0", NULL), "%s", trace_last_error());
	port = trace_http_port();
	ck_assert_uint_ne(port, 0);
}

void stop_server(void)
{
	trace_http_stop();
	ck_assert_uint_eq(trace_http_port(), 0);
}

void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static const char *ring_dir(void)
{
	const char *dir = getenv("TRC_RING_DIR");

	return dir ? dir : "/dev/shm";
}

int count_files_of(pid_t pid, char *last, size_t n_bytes)
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

int count_files(void)
{
	char last[400];

	return count_files_of(getpid(), last, sizeof(last));
}

void *ask_for_long(void *unused)
{
	struct http_got got = http_ask(port, "GET", "/debug/pprof/trace?seconds=1000", "");

	http_got_free(&got);
	return unused;
}

bool trace_runs(void)
{
	return count_files();
}

void wait_for_trace(bool runs)
{
	for (int i = 0; i < 2000 && trace_runs() != runs; i++)
		sleep_ms(10);
	ck_assert_int_eq(trace_runs(), runs);
}
