/*
 * api_test.c - <trc/trace.h> as a program uses it: what is annotated is in the file, errors are
 * told, and the program's descriptors, errno and children are left alone.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trc/trace.h>
#include "format/reader.h"
#include "tests/suite.h"

static char dir[64], path[512];

static void set_up(void)
{
	strcpy(dir, "/tmp/trc-api-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
}

static void tear_down(void)
{
	unlink(path);
	ck_assert_msg(rmdir(dir) == 0, "something was left in %s", dir);
}

static struct trc_reader *open_trace(void)
{
	struct trc_reader *reader;
	struct trc_error error;

	ck_assert_msg(trc_reader_open(&reader, path, &error) == 0, "%s", error.text);
	ck_assert_msg(trc_reader_warning(reader) == NULL, "%s", trc_reader_warning(reader));
	ck_assert(trc_reader_info(reader)->complete);
	return reader;
}

static uint64_t count_kind(const struct trc_reader *reader, enum trc_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < trc_reader_blocks(reader); i++)
		n += trc_reader_block(reader, i)->kind_count[kind];
	return n;
}

static void start(const struct trace_options *options)
{
	ck_assert_msg(trace_start(path, options) == 0, "%s", trace_last_error());
}

static void stop(void)
{
	ck_assert_msg(trace_stop() == 0, "%s", trace_last_error());
}

START_TEST(nothing_happens_while_nothing_records)
{
	errno = 77;
	ck_assert(!trace_enabled());
	ck_assert_uint_eq(trace_task_begin("request", 0), 0);
	trace_task_end(0);
	trace_region_begin(0, "parse");
	trace_region_end();
	trace_log(0, "category", "message");
	trace_logf(0, "category", "%d", 1);
	trace_counter_set("queue", 1);
	trace_thread_set_name("name");
	ck_assert_int_eq(errno, 77);
	ck_assert_int_eq(trace_stop(), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "no trace runs");
}
END_TEST

static void annotate(const char *computed)
{
	trace_task task = trace_task_begin("request", 0);
	trace_task part = trace_task_begin(computed, task);

	ck_assert_uint_ne(task, 0);
	ck_assert_uint_ne(part, task);
	for (int i = 0; i < 3; i++) {
		TRACE_REGION_OF(task, "parse");
		TRACE_REGION(computed);

		trace_counter_set("queue", -i);
		trace_counter_set(computed, i);
	}
	trace_log(task, "note", "a message");
	trace_logf(0, computed, "%s %d", "formatted", 42);
	trace_task_end(part);
	trace_task_end(task);
}

/* The message of log number `rank` of the block that holds logs. */
static void expect_message(const struct trc_reader *reader, uint32_t rank, const char *expected)
{
	for (size_t i = 0; i < trc_reader_blocks(reader); i++) {
		struct trc_columns *c;
		struct trc_error error;
		uint32_t off;

		if (trc_reader_block(reader, i)->kind_count[TRC_KIND_LOG] <= rank)
			continue;
		ck_assert_int_eq(trc_reader_load(reader, i, TRC_WANT_ALL, NULL, &c, &error), 0);
		off = c->text_off[TRC_KIND_LOG][rank];
		ck_assert_uint_eq(c->text_off[TRC_KIND_LOG][rank + 1] - off, strlen(expected));
		ck_assert_mem_eq(c->text[TRC_KIND_LOG] + off, expected, strlen(expected));
		trc_columns_free(c);
		return;
	}
	ck_abort_msg("no log %u", rank);
}

START_TEST(what_is_annotated_is_in_the_file)
{
	struct trc_reader *reader;

	start(NULL);
	ck_assert(trace_enabled());
	annotate("computed");
	stop();
	ck_assert(!trace_enabled());
	reader = open_trace();
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_TASK_BEGIN), 2);
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_TASK_END), 2);
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_REGION_BEGIN), 6);
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_REGION_END), 6);
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_COUNTER), 6);
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_LOG), 2);
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_GAP), 0);
	expect_message(reader, 0, "a message");
	expect_message(reader, 1, "formatted 42");
	trc_reader_close(reader);
}
END_TEST

static void *burn(void *arg)
{
	for (volatile int i = 0; i < 30000000; i++)
		;
	trace_counter_set("burnt", 1);
	return NULL;
}

/* Threads that were there before and threads that come later. */
START_TEST(the_kernel_tells_who_runs_or_the_trace_says_why_not)
{
	pthread_t before, later;
	struct trc_reader *reader;
	const char *sched;

	pthread_create(&before, NULL, burn, NULL);
	start(NULL);
	trace_counter_set("starter", 1);
	pthread_create(&later, NULL, burn, NULL);
	pthread_join(before, NULL);
	pthread_join(later, NULL);
	stop();
	reader = open_trace();
	sched = trc_reader_info_get(reader, "sched");
	ck_assert_ptr_nonnull(sched);
	if (strcmp(sched, "yes"))
		ck_assert_msg(!strncmp(sched, "no: ", 4), "sched is %s", sched);
	else
		ck_assert_uint_ge(count_kind(reader, TRC_KIND_PROC_STOP), 2);
	trc_reader_close(reader);
}
END_TEST

START_TEST(a_program_may_record_again_and_again)
{
	for (int i = 0; i < 20; i++) {
		struct trc_reader *reader;

		start(NULL);
		annotate("computed");
		stop();
		reader = open_trace();
		ck_assert_uint_eq(count_kind(reader, TRC_KIND_COUNTER), 6);
		trc_reader_close(reader);
	}
}
END_TEST

START_TEST(a_second_trace_is_refused_and_the_first_named)
{
	start(NULL);
	ck_assert_int_eq(trace_start("/tmp/other.trc", NULL), -EBUSY);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), path));
	stop();
}
END_TEST

static const struct refusal {
	const char *path;
	int result;
	const char *says;
} refusals[] = {
	{"/nonexistent/t.trc", -ENOENT, "/nonexistent/t.trc: No such file or directory"},
	{"/tmp", -EISDIR, "/tmp: Is a directory"},
	{"", -EINVAL, "no path to record into"},
	{NULL, -EINVAL, "no path to record into"},
	{"/proc/t.trc", -ENOENT, NULL},
};

START_TEST(a_path_that_cannot_be_written_is_refused)
{
	const struct refusal *r = &refusals[_i];

	ck_assert_int_eq(trace_start(r->path, NULL), r->result);
	if (r->says)
		ck_assert_str_eq(trace_last_error(), r->says);
	ck_assert(!trace_enabled());
	/* ... and nothing is in the way of a trace that can be. */
	start(NULL);
	stop();
	trc_reader_close(open_trace());
}
END_TEST

START_TEST(wrong_options_are_refused)
{
	struct trace_options o = TRACE_OPTIONS_INIT;

	o.struct_bytes = 0;
	ck_assert_int_eq(trace_start(path, &o), -EINVAL);
	o = (struct trace_options)TRACE_OPTIONS_INIT;
	o.ring_bytes = UINT64_C(1) << 60;
	ck_assert_int_eq(trace_start(path, &o), -EINVAL);
	o = (struct trace_options)TRACE_OPTIONS_INIT;
	o.ring_dir = "/nonexistent";
	ck_assert_int_eq(trace_start(path, &o), -ENOENT);
	ck_assert_str_eq(trace_last_error(), "/nonexistent: No such file or directory");
	start(NULL);
	stop();
	trc_reader_close(open_trace());
}
END_TEST

START_TEST(an_older_trace_stays_until_there_is_a_new_one)
{
	struct stat st;
	FILE *old = fopen(path, "w");

	fputs("an older trace", old);
	fclose(old);
	start(NULL);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 14);
	stop();
	trc_reader_close(open_trace());
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

static const char *const link_texts[] = {"behind.trc", "chain", "/behind.trc"};

START_TEST(a_link_stays_and_the_trace_lies_where_it_leads)
{
	char behind[128], chain[128], text[128];
	struct stat st;

	snprintf(behind, sizeof(behind), "%s/behind.trc", dir);
	snprintf(chain, sizeof(chain), "%s/chain", dir);
	snprintf(text, sizeof(text), "%s%s", _i == 2 ? dir : "", link_texts[_i]);
	ck_assert_int_eq(symlink("behind.trc", chain), 0);
	ck_assert_int_eq(symlink(text, path), 0);
	for (int i = 0; i < 2; i++) { /* first the target is not there, then it is */
		start(NULL);
		stop();
		ck_assert_int_eq(lstat(path, &st), 0);
		ck_assert(S_ISLNK(st.st_mode));
		ck_assert_int_eq(lstat(behind, &st), 0);
		ck_assert(S_ISREG(st.st_mode));
		trc_reader_close(open_trace());
	}
	unlink(chain);
	unlink(behind);
}
END_TEST

/* As a daemon does: all descriptors go, and their numbers come back as files of its own. */
START_TEST(no_byte_of_the_trace_lands_in_files_of_the_program)
{
	char own[128];
	struct stat st;
	pid_t pid;
	int status;

	pid = fork();
	if (pid == 0) {
		snprintf(own, sizeof(own), "%s/own", dir);
		start(NULL);
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
		for (int i = 0; i < 100; i++)
			open(own, O_RDWR | O_CREAT, 0600);
		for (int i = 0; i < 100000; i++)
			trace_counter_set("queue", i);
		_exit(trace_stop() == 0 && stat(own, &st) == 0 && st.st_size == 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	snprintf(own, sizeof(own), "%s/own", dir);
	unlink(own);
	trc_reader_close(open_trace());
}
END_TEST

/* Counts to n_events in a trace whose file may have so many bytes, which are too few. */
static void record_with_room_for(rlim_t n_bytes, int n_events)
{
	struct rlimit before, small = {n_bytes, RLIM_INFINITY};
	unsigned int seed = 1;

	getrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	start(NULL);
	/* The ring is made by now; what is limited is the trace. */
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < n_events; i++)
		trace_counter_set("queue", (int64_t)rand_r(&seed) * rand_r(&seed));
	ck_assert_int_eq(trace_stop(), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
}

static uint64_t told_to_be_missing(void)
{
	const char *told = strstr(trace_last_error(), "ends early, ");

	ck_assert_ptr_nonnull(told);
	return strtoull(told + strlen("ends early, "), NULL, 10);
}

START_TEST(a_failing_disk_is_reported_and_the_file_can_be_read)
{
	struct trc_reader *reader;
	struct trc_error error;
	uint64_t n_all;

	record_with_room_for(2000000, 400000);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "File too large: the trace ends early"));
	n_all = told_to_be_missing();
	ck_assert_msg(trc_reader_open(&reader, path, &error) == 0, "%s", error.text);
	ck_assert_ptr_nonnull(trc_reader_warning(reader));
	ck_assert_uint_gt(trc_reader_info(reader)->n_events, 0);
	n_all += count_kind(reader, TRC_KIND_COUNTER);
	trc_reader_close(reader);
	ck_assert_uint_ge(n_all, 400000); /* and the kernel's, which are missing as well */
	ck_assert_uint_lt(n_all, 600000);
}
END_TEST

START_TEST(what_is_missing_is_told_behind_a_long_path)
{
	char parent[240];
	uint64_t n;

	snprintf(parent, sizeof(parent), "%s/%0150d", dir, 1);
	ck_assert_int_eq(mkdir(parent, 0700), 0);
	snprintf(path, sizeof(path), "%s/%0150d.trc", parent, 2);
	record_with_room_for(2000000, 400000);
	n = told_to_be_missing();
	ck_assert_uint_gt(n, 0);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), " events are not in it"));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(parent), 0);
}
END_TEST

START_TEST(a_trace_that_cannot_have_its_name_is_not_one_that_ends_early)
{
	char told[sizeof(path) + 60];

	start(NULL);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	trace_counter_set("queue", 1);
	ck_assert_int_eq(trace_stop(), -EISDIR);
	snprintf(told, sizeof(told), "%s: Is a directory: nothing was kept of ", path);
	ck_assert_int_eq(strncmp(trace_last_error(), told, strlen(told)), 0);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

START_TEST(a_disk_that_is_full_at_once_leaves_an_older_trace)
{
	static const char says[] = ": File too large: nothing was kept of ";
	struct stat st;
	FILE *old = fopen(path, "w");
	const char *told;

	fputs("an older trace", old);
	fclose(old);
	record_with_room_for(0, 1000);
	told = strstr(trace_last_error(), says);
	ck_assert_ptr_nonnull(told);
	ck_assert_uint_ge(strtoull(told + strlen(says), NULL, 10), 1000);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 14);
}
END_TEST

enum { BY_FORK, BY_SYSTEM_CALL, WAYS_TO_FORK };

START_TEST(a_forked_child_records_nothing_until_it_starts_a_trace)
{
	struct trc_reader *reader;
	int status;
	pid_t pid;

	start(NULL);
	trace_counter_set("parent", 1);
	pid = _i == BY_FORK ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		char own[sizeof(path) + 16];

		snprintf(own, sizeof(own), "%s.child", path);
		trace_counter_set("child", 1);
		if (trace_enabled() || trace_start(own, NULL))
			_exit(1);
		trace_counter_set("child", 2);
		_exit(trace_stop() || unlink(own) ? 2 : 0);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	trace_counter_set("parent", 2);
	stop();
	reader = open_trace();
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_COUNTER), 2);
	trc_reader_close(reader);
}
END_TEST

START_TEST(exit_completes_the_trace)
{
	struct trc_reader *reader;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		start(NULL);
		trace_counter_set("queue", 1);
		exit(0);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	reader = open_trace();
	ck_assert_uint_eq(count_kind(reader, TRC_KIND_COUNTER), 1);
	trc_reader_close(reader);
}
END_TEST

enum { WRITERS = 3, EACH = 200000 };

static void *count_up(void *arg)
{
	for (int i = 0; i < EACH; i++)
		trace_counter_set("up", i);
	return NULL;
}

/* The sum of all gap events. */
static uint64_t lost_events(const struct trc_reader *reader)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < trc_reader_blocks(reader); i++) {
		uint32_t gaps = trc_reader_block(reader, i)->kind_count[TRC_KIND_GAP];
		struct trc_columns *c;
		struct trc_error error;

		if (!gaps)
			continue;
		ck_assert_int_eq(trc_reader_load(reader, i, TRC_WANT_ALL, NULL, &c, &error), 0);
		for (uint32_t g = 0; g < gaps; g++)
			lost += c->arg[TRC_KIND_GAP][0][g];
		trc_columns_free(c);
	}
	return lost;
}

static const struct flood {
	const char *says;
	enum trace_on_full on_full;
	uint64_t ring_bytes;
} floods[] = {
	{"waiting loses nothing", TRACE_ON_FULL_WAIT, 1 << 20},
	{"dropping counts what it loses", TRACE_ON_FULL_DROP, 16 << 10},
};

START_TEST(recorded_and_lost_make_emitted)
{
	struct trace_options o = TRACE_OPTIONS_INIT;
	struct trc_reader *reader;
	pthread_t thread[WRITERS];
	uint64_t recorded, lost;

	o.on_full = floods[_i].on_full;
	o.ring_bytes = floods[_i].ring_bytes;
	start(&o);
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&thread[i], NULL, count_up, NULL);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	stop();
	reader = open_trace();
	recorded = count_kind(reader, TRC_KIND_COUNTER);
	lost = lost_events(reader);
	/* Among the lost may be the start and the end of each thread, and the waits for them. */
	ck_assert_uint_ge(recorded + lost, WRITERS * EACH);
	ck_assert_uint_le(recorded + lost, WRITERS * EACH + 4 * WRITERS + 1);
	trc_reader_close(reader);
}
END_TEST

enum { ROUNDS = 4 /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc */ };
static pthread_key_t rounds_key;

/* In the last round, the recorder's own destructor has come before the program's. */
static void count_round(void *value)
{
	trace_counter_set("round", 1);
	pthread_setspecific(rounds_key, value);
}

static void *count_rounds(void *arg)
{
	pthread_setspecific(rounds_key, &rounds_key);
	return arg;
}

START_TEST(what_comes_behind_the_end_of_a_thread_is_counted)
{
	struct trc_reader *reader;
	pthread_t thread;
	uint64_t recorded;

	pthread_key_create(&rounds_key, count_round);
	start(NULL);
	pthread_create(&thread, NULL, count_rounds, NULL);
	pthread_join(thread, NULL);
	stop();
	reader = open_trace();
	recorded = count_kind(reader, TRC_KIND_COUNTER);
	ck_assert_uint_ge(recorded, ROUNDS - 1);
	ck_assert_uint_eq(recorded + lost_events(reader), ROUNDS);
	trc_reader_close(reader);
}
END_TEST

int main(void)
{
#ifdef __SANITIZE_THREAD__
	puts("skipped: the thread sanitizer and libtrc both want to stand before pthread_create()");
	return 77;
#endif
	Suite *suite = suite_create("api");
	TCase *c = tcase_create("api");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, nothing_happens_while_nothing_records);
	tcase_add_test(c, what_is_annotated_is_in_the_file);
	tcase_add_test(c, the_kernel_tells_who_runs_or_the_trace_says_why_not);
	tcase_add_test(c, a_program_may_record_again_and_again);
	tcase_add_test(c, a_second_trace_is_refused_and_the_first_named);
	tcase_add_loop_test(c, a_path_that_cannot_be_written_is_refused, 0,
			    (int)(sizeof(refusals) / sizeof(refusals[0])));
	tcase_add_test(c, wrong_options_are_refused);
	tcase_add_test(c, an_older_trace_stays_until_there_is_a_new_one);
	tcase_add_loop_test(c, a_link_stays_and_the_trace_lies_where_it_leads, 0,
			    (int)(sizeof(link_texts) / sizeof(link_texts[0])));
	tcase_add_test(c, no_byte_of_the_trace_lands_in_files_of_the_program);
	tcase_add_test(c, a_failing_disk_is_reported_and_the_file_can_be_read);
	tcase_add_test(c, what_is_missing_is_told_behind_a_long_path);
	tcase_add_test(c, a_trace_that_cannot_have_its_name_is_not_one_that_ends_early);
	tcase_add_test(c, a_disk_that_is_full_at_once_leaves_an_older_trace);
	tcase_add_loop_test(c, a_forked_child_records_nothing_until_it_starts_a_trace, 0,
			    WAYS_TO_FORK);
	tcase_add_test(c, exit_completes_the_trace);
	tcase_add_test(c, what_comes_behind_the_end_of_a_thread_is_counted);
	tcase_add_loop_test(c, recorded_and_lost_make_emitted, 0,
			    (int)(sizeof(floods) / sizeof(floods[0])));
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
