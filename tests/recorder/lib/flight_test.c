/*
 * flight_test.c - the flight recorder of <trc/trace.h> as a program uses it: the last of what it
 * did is in the snapshot, errors are told, and the program is left alone.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "flight_fixture.h"
#include "flight_parts.h"
#include "trace_look.h"

static int snapshot_to_fd(int fd)
{
	struct trace_snapshot_options o = TRACE_SNAPSHOT_OPTIONS_INIT;

	o.fd = fd;
	return trace_flight_snapshot(NULL, &o);
}

static int snapshot_of_window(const char *to, uint64_t window_ns)
{
	struct trace_snapshot_options o = TRACE_SNAPSHOT_OPTIONS_INIT;

	o.window_ns = window_ns;
	return trace_flight_snapshot(to, &o);
}

/* ---- start and stop ---------------------------------------------------------------------- */

START_TEST(without_a_recorder_there_is_nothing_to_take)
{
	errno = 77;
	ck_assert(!trace_flight_enabled());
	ck_assert_int_eq(trace_flight_snapshot(path, NULL), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "no flight recorder runs");
	ck_assert_int_eq(snapshot_to_fd(2), -EINVAL);
	ck_assert_int_eq(trace_flight_trigger("odd"), -EINVAL);
	ck_assert_int_eq(trace_flight_stop(), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "no flight recorder runs");
	ck_assert_int_eq(errno, 77);
	ck_assert_int_eq(count_files(dir, NULL), 0);
}
END_TEST

START_TEST(a_program_may_start_it_again_and_again)
{
	for (int i = 0; i < 20; i++) {
		struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

		o.max_bytes = (uint64_t)(2 + i % 3) * MiB;
		start(&o);
		ck_assert(trace_flight_enabled());
		ck_assert(trace_enabled());
		ck_assert_int_eq(count_files(ring_dir, NULL), 1);
		ck_assert_int_eq(trace_flight_start(NULL), -EBUSY);
		ck_assert_str_eq(trace_last_error(), "a flight recorder runs already");
		ck_assert(trace_flight_enabled());
		stop();
		ck_assert(!trace_flight_enabled());
		ck_assert(!trace_enabled());
		ck_assert_int_eq(count_files(ring_dir, NULL), 0);
	}
}
END_TEST

static const char *const one[] = {"park>100ms", NULL};
static const char *const nonsense[] = {"park>100", NULL};
static const char *const crash[] = {"exit", "crash", NULL};

static const struct wrong {
	const char *says;
	struct trace_flight_options options;
	int result;
} wrongs[] = {
	{"options: struct_bytes is wrong: use TRACE_FLIGHT_OPTIONS_INIT",
	 {.struct_bytes = 0},
	 -EINVAL},
	{"options: a value that is not in its list",
	 {.struct_bytes = sizeof(struct trace_flight_options), .locks = (enum trace_locks)7},
	 -EINVAL},
	{NULL, {.struct_bytes = sizeof(struct trace_flight_options), .max_bytes = 1000}, -EINVAL},
	{"/nonexistent: No such file or directory",
	 {.struct_bytes = sizeof(struct trace_flight_options), .ring_dir = "/nonexistent"},
	 -ENOENT},
	{"trigger_on: no trigger_path to write to",
	 {.struct_bytes = sizeof(struct trace_flight_options), .trigger_on = one},
	 -EINVAL},
	{NULL,
	 {.struct_bytes = sizeof(struct trace_flight_options),
	  .trigger_on = nonsense,
	  .trigger_path = "/tmp/odd.trc"},
	 -EINVAL},
	{NULL,
	 {.struct_bytes = sizeof(struct trace_flight_options),
	  .trigger_on = crash,
	  .trigger_path = "/tmp/odd.trc"},
	 -EINVAL},
	{"/nonexistent/odd.trc: No such file or directory",
	 {.struct_bytes = sizeof(struct trace_flight_options),
	  .trigger_path = "/nonexistent/odd.trc"},
	 -ENOENT},
};

START_TEST(wrong_options_are_refused)
{
	const struct wrong *w = &wrongs[_i];

	ck_assert_int_eq(trace_flight_start(&w->options), w->result);
	ck_assert_str_ne(trace_last_error(), "");
	if (w->says)
		ck_assert_str_eq(trace_last_error(), w->says);
	ck_assert(!trace_flight_enabled());
	/* ... and nothing is in the way of one that is right. */
	start(NULL);
	stop();
}
END_TEST

START_TEST(an_older_program_gets_defaults_for_what_it_does_not_know)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	o.struct_bytes = offsetof(struct trace_flight_options, trigger_on);
	o.trigger_on = nonsense;
	start(&o);
	stop();
}
END_TEST

/* ---- what is in a snapshot --------------------------------------------------------------- */

START_TEST(what_was_done_last_is_in_it)
{
	struct trc_reader *reader;

	start(NULL);
	for (int i = 0; i < 100; i++) {
		char text[32];

		snprintf(text, sizeof(text), "number %d", i);
		trace_log(0, "note", text);
		snapshot();
		reader = look_open(path);
		ck_assert(look_message(reader, text));
		trc_reader_close(reader);
	}
	look_check(path);
	reader = look_open(path);
	ck_assert_str_eq(look_info(reader, "mode"), "flight");
	ck_assert_str_eq(look_info(reader, "snapshot"), "on request");
	ck_assert_str_eq(look_info(reader, "ended"), "still running");
	ck_assert_int_eq(strncmp(look_info(reader, "sched"), "no: ", 4), 0);
	trc_reader_close(reader);
	stop();
}
END_TEST

/* As OTEP 4719 says: in a mapping of this name a header, which leads to the attributes. */
static void service_publish(void)
{
	static const char ng[] = "\x0a\x14\x0a\x0cservice.name\x12\x04\x0a\x02ng";
	struct {
		char signature[8];
		uint32_t version, payload_bytes;
		uint64_t published_ns;
		const void *payload;
	} *h;
	char *payload = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("OTEL_CTX", 0);

	ck_assert(payload != MAP_FAILED && !ftruncate(fd, 4096));
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(h != MAP_FAILED);
	close(fd);
	memcpy(payload, ng, sizeof(ng));
	h->version = 2;
	h->payload = payload;
	h->payload_bytes = sizeof(ng) - 1;
	h->published_ns = 1;
	memcpy(h->signature, "OTEL_CTX", 8);
}

START_TEST(the_name_of_the_service_is_in_it)
{
	struct trc_reader *reader;

	start(NULL);
	snapshot();
	reader = look_open(path);
	ck_assert_str_eq(look_info(reader, "otel_service"), "");
	trc_reader_close(reader);
	service_publish();
	snapshot();
	reader = look_open(path);
	ck_assert_str_eq(look_info(reader, "otel_service"), "ng");
	trc_reader_close(reader);
	stop();
}
END_TEST

START_TEST(the_oldest_is_overwritten_and_the_rest_is_whole)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;
	static const char *const name = "up";
	struct look_counters up;
	struct trc_reader *reader;

	o.max_bytes = 4 * MiB;
	start(&o);
	for (int i = 0; i < 1000000; i++)
		trace_counter_set("up", i);
	snapshot();
	stop();
	look_check(path);
	reader = look_open(path);
	look_counters(reader, &name, 1, &up);
	ck_assert_uint_gt(up.n[0], 1000);
	ck_assert_uint_lt(up.n[0], 4 * MiB / 32);
	ck_assert_int_eq(up.value[0][up.n[0] - 1], 999999);
	ck_assert_int_eq(up.value[0][0], 1000000 - (int64_t)up.n[0]);
	ck_assert_uint_eq(look_lost(reader), 0);
	look_counters_free(&up);
	trc_reader_close(reader);
}
END_TEST

static const struct {
	uint64_t window_ns;
	bool old;
} windows[] = {
	{1000000, false},
	{UINT64_C(3600000000000), true},
	{TRACE_WINDOW_COMPLETE, true},
	{TRACE_WINDOW_ALL, true},
	{0, false},
};

START_TEST(each_snapshot_may_have_a_window_of_its_own)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	o.min_age_ns = 20000000;
	start(&o);
	trace_log(0, "note", "old");
	wait_ms(60);
	trace_log(0, "note", "new");
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		struct trc_reader *reader;

		ck_assert_int_eq(snapshot_of_window(path, windows[i].window_ns), 0);
		look_check(path);
		reader = look_open(path);
		ck_assert_int_eq(look_message(reader, "old"), windows[i].old);
		if (windows[i].old)
			ck_assert(look_message(reader, "new"));
		trc_reader_close(reader);
	}
	stop();
}
END_TEST

/* ---- where it goes ----------------------------------------------------------------------- */

START_TEST(the_file_is_private_and_appears_when_it_is_complete)
{
	struct stat before, after;
	FILE *old = fopen(path, "w");

	fputs("an older one", old);
	fclose(old);
	stat(path, &before);
	start(NULL);
	snapshot();
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_ne(before.st_ino, after.st_ino);
	ck_assert_uint_eq(after.st_mode & 0777, 0600);
	ck_assert_int_eq(count_files(dir, NULL), 1);
	stop();
}
END_TEST

static const struct {
	const char *path;
	int result;
	const char *says;
} refusals[] = {
	{"/nonexistent/t.trc", -ENOENT, "/nonexistent/t.trc: No such file or directory"},
	{"/tmp", -EISDIR, "/tmp: Is a directory"},
	{"", -EINVAL, "no path to write to"},
	{NULL, -EINVAL, "no path to write to"},
};

START_TEST(a_path_that_cannot_be_written_is_told_and_nothing_is_lost)
{
	struct trc_reader *reader;

	start(NULL);
	trace_log(0, "note", "before");
	ck_assert_int_eq(trace_flight_snapshot(refusals[_i].path, NULL), refusals[_i].result);
	ck_assert_str_eq(trace_last_error(), refusals[_i].says);
	snapshot();
	ck_assert_str_eq(trace_last_error(), "");
	reader = look_open(path);
	ck_assert(look_message(reader, "before"));
	trc_reader_close(reader);
	stop();
}
END_TEST

volatile sig_atomic_t n_signals;

void count_signal(int sig)
{
	(void)sig;
	n_signals++;
}

void make_noise(void)
{
	unsigned int seed = 1;

	for (int i = 0; i < 100000; i++)
		trace_counter_set("noise", (int64_t)rand_r(&seed) * rand_r(&seed));
}

START_TEST(a_full_disk_is_told_and_the_older_file_stays)
{
	struct rlimit before, small = {8192, RLIM_INFINITY};
	struct stat st;
	int err;
	FILE *old = fopen(path, "w");

	fputs("an older one", old);
	fclose(old);
	signal(SIGXFSZ, count_signal);
	start(NULL);
	make_noise();
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &small);
	err = trace_flight_snapshot(path, NULL);
	setrlimit(RLIMIT_FSIZE, &before);
	ck_assert_int_eq(err, -EFBIG);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "File too large"));
	ck_assert_int_eq(n_signals, 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 12);
	ck_assert_int_eq(count_files(dir, NULL), 1);
	snapshot();
	look_check(path);
	stop();
}
END_TEST

struct copier {
	int from, to;
	bool slow;
};

static void *copy_to_file(void *arg)
{
	const struct copier *c = arg;
	char buffer[4096];
	ssize_t n;

	while ((n = read(c->from, buffer, sizeof(buffer))) > 0) {
		ck_assert_int_eq(write(c->to, buffer, (size_t)n), n);
		if (c->slow)
			sched_yield();
	}
	return NULL;
}

enum { A_PIPE, A_SLOW_PIPE, A_SOCKET, A_FILE, DESCRIPTORS };

START_TEST(any_descriptor_will_do)
{
	struct copier copier = {.to = open(path, O_RDWR | O_CREAT, 0600)};
	struct trc_reader *reader;
	pthread_t thread;
	int fd[2] = {-1, copier.to};

	if (_i == A_PIPE)
		ck_assert_int_eq(pipe(fd), 0);
	if (_i == A_SLOW_PIPE)
		ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	if (_i == A_SLOW_PIPE)
		fcntl(fd[0], F_SETFL, 0);
	if (_i == A_SOCKET)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	copier.from = fd[0];
	copier.slow = _i == A_SLOW_PIPE;
	start(NULL);
	make_noise();
	trace_log(0, "note", "the last");
	if (_i != A_FILE)
		pthread_create(&thread, NULL, copy_to_file, &copier);
	ck_assert_msg(snapshot_to_fd(fd[1]) == 0, "%s", trace_last_error());
	if (_i != A_FILE) {
		close(fd[1]);
		pthread_join(thread, NULL);
		close(fd[0]);
	}
	close(copier.to);
	stop();
	look_check(path);
	reader = look_open(path);
	ck_assert(look_message(reader, "the last"));
	trc_reader_close(reader);
}
END_TEST

static void (*const dispositions[])(int) = {SIG_DFL, SIG_IGN, count_signal};

START_TEST(a_pipe_that_nobody_reads_is_an_error_and_no_signal)
{
	struct sigaction action;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	close(fd[0]);
	signal(SIGPIPE, dispositions[_i]);
	start(NULL);
	make_noise();
	ck_assert_int_eq(snapshot_to_fd(fd[1]), -EPIPE);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "Broken pipe"));
	ck_assert_int_eq(n_signals, 0);
	sigaction(SIGPIPE, NULL, &action);
	ck_assert_ptr_eq(action.sa_handler, dispositions[_i]);
	signal(SIGPIPE, count_signal); /* and one of the program's own arrives as ever */
	ck_assert_int_eq(write(fd[1], "x", 1), -1);
	ck_assert_int_eq(n_signals, 1);
	close(fd[1]);
	stop();
}
END_TEST

START_TEST(a_descriptor_that_cannot_be_written_is_told)
{
	struct trace_snapshot_options both = TRACE_SNAPSHOT_OPTIONS_INIT;
	struct trace_snapshot_options old = TRACE_SNAPSHOT_OPTIONS_INIT;
	int fd = open("/dev/null", O_RDONLY);

	start(NULL);
	ck_assert_int_eq(snapshot_to_fd(-1), -EBADF);
	ck_assert_int_eq(snapshot_to_fd(fd), -EBADF);
	ck_assert_int_eq(snapshot_to_fd(1000), -EBADF);
	both.fd = 1;
	ck_assert_int_eq(trace_flight_snapshot(path, &both), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "a path and a descriptor"));
	old.struct_bytes = 0;
	ck_assert_int_eq(trace_flight_snapshot(path, &old), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "TRACE_SNAPSHOT_OPTIONS_INIT"));
	snapshot();
	close(fd);
	stop();
}
END_TEST

/* ---- many at once ------------------------------------------------------------------------ */

enum { WRITERS = 8, TAKERS = 8, EACH = 4 };

static _Atomic bool stopping;
static pthread_mutex_t fought_over = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "w%d", *(int *)arg);
	trace_thread_set_name(name);
	for (int64_t i = 0; !stopping; i++) {
		trace_task task = trace_task_begin("request", 0);
		TRACE_REGION_OF(task, "handle");

		trace_counter_set(name, i);
		pthread_mutex_lock(&fought_over);
		trace_log(task, "note", "inside");
		pthread_mutex_unlock(&fought_over);
		trace_task_end(task);
	}
	return NULL;
}

static void *take(void *arg)
{
	char own[160];

	for (int i = 0; i < EACH; i++) {
		snprintf(own, sizeof(own), "%s/s%d-%d.trc", dir, *(int *)arg, i);
		ck_assert_msg(trace_flight_snapshot(own, NULL) == 0, "%s", trace_last_error());
	}
	return NULL;
}

START_TEST(snapshots_at_the_same_time_all_succeed)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;
	pthread_t writer[WRITERS], taker[TAKERS];
	int number[WRITERS];

	o.max_bytes = 4 * MiB;
	start(&o);
	for (int i = 0; i < WRITERS; i++) {
		number[i] = i;
		pthread_create(&writer[i], NULL, work, &number[i]);
	}
	for (int i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, take, &number[i]);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(taker[i], NULL);
	stopping = true;
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writer[i], NULL);
	stop();
	for (int i = 0; i < TAKERS * EACH; i++) {
		char own[160];

		snprintf(own, sizeof(own), "%s/s%d-%d.trc", dir, i / EACH, i % EACH);
		look_check(own);
		trc_reader_close(look_open(own));
	}
}
END_TEST

/* All write the same file: it is one of theirs, whole. */
static void *take_into_one(void *arg)
{
	for (int i = 0; i < 10; i++)
		ck_assert_msg(trace_flight_snapshot(path, NULL) == 0, "%s", trace_last_error());
	return arg;
}

START_TEST(snapshots_into_one_file_do_not_mix)
{
	pthread_t taker[TAKERS];

	start(NULL);
	for (int i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, take_into_one, NULL);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(taker[i], NULL);
	look_check(path);
	trc_reader_close(look_open(path));
	ck_assert_int_eq(count_files(dir, NULL), 1);
	stop();
}
END_TEST

/* ---- beside a trace ---------------------------------------------------------------------- */

START_TEST(a_trace_may_begin_and_end_while_it_runs)
{
	struct trc_reader *reader;

	start(NULL);
	trace_thread_set_name("the only one");
	trace_log(0, "note", "before");
	for (int i = 0; i < 5; i++) {
		ck_assert_msg(trace_start(odd, NULL) == 0, "%s", trace_last_error());
		ck_assert_int_eq(trace_start(odd, NULL), -EBUSY);
		trace_log(0, "note", "meanwhile");
		snapshot();
		ck_assert_int_eq(trace_stop(), 0);
		ck_assert(trace_flight_enabled());
		trace_log(0, "note", "after");
		look_check(odd);
		reader = look_open(odd);
		ck_assert(!look_message(reader, "before"));
		ck_assert(look_message(reader, "meanwhile"));
		ck_assert(!look_message(reader, "after"));
		ck_assert_uint_eq(trc_reader_threads(reader), 1);
		ck_assert_mem_eq(trc_reader_thread(reader, 0)->name, "the only one", 12);
		trc_reader_close(reader);
		look_check(path);
		reader = look_open(path);
		ck_assert(look_message(reader, "before"));
		ck_assert(look_message(reader, "meanwhile"));
		trc_reader_close(reader);
	}
	snapshot();
	look_check(path);
	reader = look_open(path);
	ck_assert(look_message(reader, "after"));
	trc_reader_close(reader);
	stop();
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(it_may_begin_and_end_while_a_trace_runs)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;
	struct trc_reader *reader;

	start_trace(odd);
	trace_log(0, "note", "before");
	for (int i = 0; i < 5; i++) {
		start_beside(&o);
		ck_assert_int_eq(trace_flight_start(NULL), -EBUSY);
		trace_log(0, "note", "meanwhile");
		snapshot();
		stop();
		ck_assert_int_eq(trace_flight_stop(), -EINVAL);
		ck_assert(trace_enabled());
		look_check(path);
		reader = look_open(path);
		ck_assert(look_message(reader, "meanwhile"));
		trc_reader_close(reader);
	}
	trace_log(0, "note", "after");
	ck_assert_int_eq(trace_stop(), 0);
	ck_assert(!trace_enabled());
	look_check(odd);
	reader = look_open(odd);
	ck_assert(look_message(reader, "before"));
	ck_assert(look_message(reader, "meanwhile"));
	ck_assert(look_message(reader, "after"));
	trc_reader_close(reader);
}
END_TEST

START_TEST(it_goes_on_when_the_trace_that_began_first_ends)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;
	struct trc_reader *reader;

	start_trace(odd);
	start_beside(&o);
	trace_log(0, "note", "both");
	ck_assert_int_eq(trace_stop(), 0);
	/* Several times what the ring holds: nobody drains it now. */
	for (int i = 0; i < 300000; i++)
		trace_counter_set("up", i);
	trace_log(0, "note", "alone");
	snapshot();
	stop();
	look_check(odd);
	look_check(path);
	reader = look_open(path);
	ck_assert(look_message(reader, "alone"));
	ck_assert_uint_eq(look_lost(reader), 0);
	trc_reader_close(reader);
	reader = look_open(odd);
	ck_assert(look_message(reader, "both"));
	ck_assert(!look_message(reader, "alone"));
	trc_reader_close(reader);
}
END_TEST

START_TEST(a_trace_with_more_memory_than_max_bytes_is_in_the_way)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	start_trace(odd);
	o.max_bytes = MiB;
	ck_assert_int_eq(trace_flight_start(&o), -EFBIG);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "max_bytes is 1024 KiB"));
	o.max_bytes = 0; /* the trace's memory will do */
	start_beside(&o);
	stop();
	ck_assert_int_eq(trace_stop(), 0);
}
END_TEST

static void add_tests(TCase *c)
{
#define ADD_ROWS(test, table)                                                                      \
	tcase_add_loop_test(c, test, 0, (int)(sizeof(table) / sizeof((table)[0])))
	tcase_add_test(c, without_a_recorder_there_is_nothing_to_take);
	tcase_add_test(c, a_program_may_start_it_again_and_again);
	ADD_ROWS(wrong_options_are_refused, wrongs);
	tcase_add_test(c, an_older_program_gets_defaults_for_what_it_does_not_know);
	tcase_add_test(c, what_was_done_last_is_in_it);
	tcase_add_test(c, the_name_of_the_service_is_in_it);
	tcase_add_test(c, the_oldest_is_overwritten_and_the_rest_is_whole);
	tcase_add_test(c, each_snapshot_may_have_a_window_of_its_own);
	tcase_add_test(c, the_file_is_private_and_appears_when_it_is_complete);
	ADD_ROWS(a_path_that_cannot_be_written_is_told_and_nothing_is_lost, refusals);
	tcase_add_test(c, a_full_disk_is_told_and_the_older_file_stays);
	tcase_add_loop_test(c, any_descriptor_will_do, 0, DESCRIPTORS);
	ADD_ROWS(a_pipe_that_nobody_reads_is_an_error_and_no_signal, dispositions);
	tcase_add_test(c, a_descriptor_that_cannot_be_written_is_told);
	tcase_add_test(c, snapshots_at_the_same_time_all_succeed);
	tcase_add_test(c, snapshots_into_one_file_do_not_mix);
	flight_memory(c);
	tcase_add_test(c, a_trace_may_begin_and_end_while_it_runs);
	tcase_add_test(c, it_may_begin_and_end_while_a_trace_runs);
	tcase_add_test(c, it_goes_on_when_the_trace_that_began_first_ends);
	tcase_add_test(c, a_trace_with_more_memory_than_max_bytes_is_in_the_way);
#undef ADD_ROWS
}

int main(void)
{
	return run_tests("flight", add_tests);
}
