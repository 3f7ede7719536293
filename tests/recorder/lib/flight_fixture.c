/* flight_fixture.c - see flight_fixture.h */
#include <check.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "flight_fixture.h"

char dir[64], ring_dir[80], path[128], odd[128];

void set_up(void)
{
	strcpy(dir, "/tmp/trc-flight-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	/* Where files are memory, as the default is; a directory of the test's own. */
	strcpy(ring_dir, "/dev/shm/trc-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(ring_dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
	snprintf(odd, sizeof(odd), "%s/odd.trc", dir);
}

int count_files(const char *where, char name[256])
{
	DIR *d = opendir(where);
	const struct dirent *e;
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
			continue;
		if (name && !n)
			snprintf(name, 256, "%s/%s", where, e->d_name);
		n++;
	}
	closedir(d);
	return n;
}

static void remove_all(const char *where)
{
	char name[256];

	while (count_files(where, name))
		ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(rmdir(where), 0);
}

void tear_down(void)
{
	remove_all(dir);
	ck_assert_msg(!count_files(ring_dir, NULL), "a ring was left in %s", ring_dir);
	remove_all(ring_dir);
}

void start(const struct trace_flight_options *options)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	if (options)
		o = *options;
	if (!o.ring_dir)
		o.ring_dir = ring_dir;
	if (!o.max_bytes)
		o.max_bytes = 16 * MiB;
	ck_assert_msg(trace_flight_start(&o) == 0, "%s", trace_last_error());
}

void start_beside(const struct trace_flight_options *options)
{
	ck_assert_msg(trace_flight_start(options) == 0, "%s", trace_last_error());
}

void start_trace(const char *to)
{
	struct trace_options t = TRACE_OPTIONS_INIT;

	t.ring_dir = ring_dir;
	t.ring_bytes = 1 << 20;
	ck_assert_msg(trace_start(to, &t) == 0, "%s", trace_last_error());
}

void stop(void)
{
	ck_assert_msg(trace_flight_stop() == 0, "%s", trace_last_error());
}

void snapshot(void)
{
	ck_assert_msg(trace_flight_snapshot(path, NULL) == 0, "%s", trace_last_error());
}

void wait_ms(int ms)
{
	poll(NULL, 0, ms);
}

void wait_for_file(const char *name)
{
	while (access(name, F_OK))
		wait_ms(5);
}

int run_tests(const char *name, void (*add)(TCase *c))
{
#ifdef __SANITIZE_THREAD__
	puts("skipped: the thread sanitizer and libtrc both want to stand before pthread_create()");
	return 77;
#endif
	Suite *suite = suite_create(name);
	TCase *c = tcase_create(name);
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 120);
	add(c);
	suite_add_tcase(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
