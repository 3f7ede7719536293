/*
 * flight_trigger_test.c - snapshots that nobody calls for by hand: on request of a thread that goes
 * on at once, when something takes too long, at exit; and what becomes of the recorder by fork().
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "flight_fixture.h"
#include "tests/forks.h"
#include "trace_look.h"

static pthread_mutex_t fought_over = PTHREAD_MUTEX_INITIALIZER;

/* ---- triggers ---------------------------------------------------------------------------- */

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static struct trace_flight_options triggered(const char *const *on)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	o.trigger_on = on;
	o.trigger_path = odd;
	o.trigger_every_ns = 1;
	return o;
}

static void expect_trigger(int number, const char *text)
{
	struct trc_reader *reader;
	char name[160];

	snprintf(name, sizeof(name), "%s/odd.%d.trc", dir, number);
	wait_for_file(name);
	look_check(name);
	reader = look_open(name);
	ck_assert_str_eq(look_info(reader, "snapshot"), "trigger");
	ck_assert_msg(!strncmp(look_info(reader, "trigger"), text, strlen(text)), "trigger is %s",
		      look_info(reader, "trigger"));
	trc_reader_close(reader);
}

static void trigger_from_handler(int sig)
{
	(void)sig;
	if (trace_flight_trigger("from a signal handler"))
		abort();
}

START_TEST(a_trigger_has_a_snapshot_taken)
{
	struct trace_flight_options o = triggered(NULL);

	start(&o);
	errno = 77;
	ck_assert_int_eq(trace_flight_trigger("slow request"), 0);
	ck_assert_int_eq(errno, 77);
	expect_trigger(1, "slow request");
	signal(SIGUSR1, trigger_from_handler);
	raise(SIGUSR1);
	expect_trigger(2, "from a signal handler");
	stop();
}
END_TEST

START_TEST(without_a_trigger_path_it_is_an_event_and_there_is_no_thread)
{
	struct trc_reader *reader;

	start(NULL);
	ck_assert_int_eq(trace_flight_trigger("slow request"), -ENOTSUP);
	ck_assert_int_eq(count_files("/proc/self/task", NULL), 1);
	snapshot();
	reader = look_open(path);
	ck_assert_uint_eq(look_count(reader, TRC_KIND_TRIGGER), 1);
	trc_reader_close(reader);
	stop();
}
END_TEST

START_TEST(what_follows_the_odd_moment_is_kept_too)
{
	struct trace_flight_options o = triggered(NULL);
	struct trc_reader *reader;
	char name[160];

	o.trigger_after_ns = UINT64_C(3600000000000);
	start(&o);
	ck_assert_int_eq(trace_flight_trigger("odd"), 0);
	trace_log(0, "note", "after");
	stop(); /* ends the hour */
	expect_trigger(1, "odd");
	snprintf(name, sizeof(name), "%s/odd.1.trc", dir);
	reader = look_open(name);
	ck_assert(look_message(reader, "after"));
	trc_reader_close(reader);
}
END_TEST

START_TEST(only_so_many_are_taken)
{
	struct trace_flight_options o = triggered(NULL);

	o.trigger_max = 2;
	start(&o);
	ck_assert_int_eq(trace_flight_trigger("first"), 0);
	expect_trigger(1, "first");
	ck_assert_int_eq(trace_flight_trigger("second"), 0);
	expect_trigger(2, "second");
	ck_assert_int_eq(trace_flight_trigger("third"), 0);
	stop();
	ck_assert_int_eq(count_files(dir, NULL), 2);
}
END_TEST

static void *lock_it(void *arg)
{
	pthread_mutex_lock(&fought_over);
	pthread_mutex_unlock(&fought_over);
	return arg;
}

START_TEST(a_wait_that_does_not_end_is_noticed)
{
	static const char *const on[] = {"park:mutex>20ms", NULL};
	struct trace_flight_options o = triggered(on);
	pthread_t waiter;

	start(&o);
	pthread_mutex_lock(&fought_over);
	pthread_create(&waiter, NULL, lock_it, NULL);
	expect_trigger(1, "park:mutex>20ms: mutex 0x");
	pthread_mutex_unlock(&fought_over);
	pthread_join(waiter, NULL);
	stop();
	ck_assert_int_eq(count_files(dir, NULL), 1); /* its end is no news */
}
END_TEST

START_TEST(a_region_that_takes_too_long_is_noticed)
{
	static const char *const on[] = {"region:parse>1ms", "task:request>1ms", NULL};
	struct trace_flight_options o = triggered(on);
	trace_task task;

	start(&o);
	trace_region_begin(0, "parse");
	wait_ms(3);
	trace_region_end();
	expect_trigger(1, "region:parse>1ms: ");
	task = trace_task_begin("request", 0);
	wait_ms(3);
	trace_task_end(task);
	expect_trigger(2, "task:request>1ms: ");
	stop();
}
END_TEST

/* By default it is deadly: whoever made it a condition wanted a snapshot instead. */
START_TEST(a_signal_may_be_a_condition)
{
	static const char *const on[] = {"signal=USR2", NULL};
	struct trace_flight_options o = triggered(on);
	char ring[256];
	int status;
	pid_t pid;

	start(&o);
	raise(SIGUSR2);
	expect_trigger(1, "signal=USR2");
	signal(SIGUSR2, trigger_from_handler); /* the program's own handler runs as well */
	raise(SIGUSR2);
	stop();
	ck_assert_int_ge(count_files(dir, NULL), 2);
	signal(SIGUSR2, SIG_DFL);
	pid = fork();
	if (pid == 0) {
		start_trace(path);
		start_beside(&o);
		raise(SIGUSR2);
		stop();
		raise(SIGUSR2); /* no condition any more, though the trace goes on */
		_exit(0);
	}
	status = status_of(pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGUSR2);
	while (count_files(ring_dir, ring))
		unlink(ring); /* killed, it left its ring */
}
END_TEST

START_TEST(conditions_may_come_and_go_beside_a_trace)
{
	static const char *const on[] = {"region:parse>1ms", NULL};
	struct trace_flight_options o = triggered(on);
	struct trc_reader *reader;

	start_trace(path);
	start_beside(&o);
	trace_region_begin(0, "parse");
	wait_ms(3);
	trace_region_end();
	expect_trigger(1, "region:parse>1ms: ");
	stop();
	trace_region_begin(0, "parse");
	wait_ms(3);
	trace_region_end();
	ck_assert_int_eq(trace_stop(), 0);
	look_check(path);
	reader = look_open(path);
	ck_assert_uint_eq(look_count(reader, TRC_KIND_TRIGGER), 1);
	trc_reader_close(reader);
}
END_TEST

START_TEST(a_triggered_snapshot_that_cannot_be_written_is_told_in_the_end)
{
	struct trace_flight_options o = triggered(NULL);
	char gone[100], name[160];

	snprintf(gone, sizeof(gone), "%s/gone", dir);
	snprintf(name, sizeof(name), "%s/odd.trc", gone);
	mkdir(gone, 0700);
	o.trigger_path = name;
	start(&o);
	rmdir(gone);
	ck_assert_int_eq(trace_flight_trigger("odd"), 0);
	ck_assert_int_eq(trace_flight_stop(), -ENOENT);
	ck_assert_ptr_nonnull(strstr(trace_last_error(), "gone/odd.1.trc: No such file"));
	ck_assert(!trace_flight_enabled());
}
END_TEST

/* ---- exit, fork -------------------------------------------------------------------------- */

START_TEST(exit_takes_the_snapshot_that_was_asked_for_and_leaves_no_ring)
{
	static const char *const on[] = {"exit", NULL};
	struct trace_flight_options o = triggered(on);
	struct trc_reader *reader;
	char name[160];
	pid_t pid = fork();

	if (pid == 0) {
		start(&o);
		trace_log(0, "note", "the end");
		exit(3);
	}
	ck_assert_int_eq(WEXITSTATUS(status_of(pid)), 3);
	snprintf(name, sizeof(name), "%s/odd.1.trc", dir);
	look_check(name);
	reader = look_open(name);
	ck_assert_str_eq(look_info(reader, "snapshot"), "exit");
	ck_assert(look_message(reader, "the end"));
	trc_reader_close(reader);
	ck_assert_int_eq(count_files(ring_dir, NULL), 0);
}
END_TEST

START_TEST(a_process_that_is_killed_leaves_its_ring)
{
	char ring[256];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		start(NULL);
		trace_log(0, "note", "the end");
		kill(getpid(), SIGKILL);
	}
	status = status_of(pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(count_files(ring_dir, ring), 1);
	unlink(ring);
}
END_TEST

enum { BY_FORK, BY_SYSTEM_CALL, BY_TWO_FORKS, WAYS_TO_FORK };

/* 0 in the child (or grandchild), whose status is the parent's to wait for. */
static pid_t fork_by(int way)
{
	pid_t pid = way == BY_SYSTEM_CALL ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	int status;

	if (pid || way != BY_TWO_FORKS)
		return pid;
	pid = fork();
	if (!pid)
		return 0;
	status = status_of(pid);
	if (trace_flight_enabled())
		trace_flight_stop(); /* _exit() would leave its ring */
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static int in_child(void)
{
	char own[160];
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	snprintf(own, sizeof(own), "%s.child", path);
	trace_log(0, "note", "child");
	if (trace_flight_enabled() || trace_enabled())
		return 1;
	if (trace_flight_snapshot(own, NULL) != -EINVAL || trace_flight_trigger("odd") != -EINVAL ||
	    trace_flight_stop() != -EINVAL)
		return 2;
	o.ring_dir = ring_dir;
	o.max_bytes = 4 * MiB;
	if (trace_flight_start(&o))
		return 3;
	trace_log(0, "note", "child");
	return trace_flight_snapshot(own, NULL) ? 4 : trace_flight_stop() ? 5 : 0;
}

START_TEST(a_forked_child_has_no_recorder_until_it_starts_one)
{
	struct trace_flight_options o = triggered(NULL);
	struct trc_reader *reader;
	char own[160];
	pid_t pid;

	start(&o);
	trace_log(0, "note", "parent");
	pid = fork_by(_i);
	if (pid == 0)
		_exit(in_child());
	ck_assert_int_eq(status_of(pid), 0);
	trace_log(0, "note", "parent again");
	ck_assert_int_eq(trace_flight_trigger("still there"), 0);
	expect_trigger(1, "still there");
	snapshot();
	stop();
	look_check(path);
	reader = look_open(path);
	ck_assert(look_message(reader, "parent"));
	ck_assert(look_message(reader, "parent again"));
	ck_assert(!look_message(reader, "child"));
	trc_reader_close(reader);
	snprintf(own, sizeof(own), "%s.child", path);
	look_check(own);
	reader = look_open(own);
	ck_assert(look_message(reader, "child"));
	ck_assert(!look_message(reader, "parent"));
	trc_reader_close(reader);
}
END_TEST

static pid_t *child_pid; /* in memory that both see */

static int in_own_child(int way)
{
	trace_log(0, "note", "child");
	if (way == BY_SYSTEM_CALL) /* nobody saw that fork: the first call does */
		trace_stop();
	*child_pid = getpid();
	return !trace_flight_enabled()		      ? 1
	       : trace_flight_trigger("in the child") ? 2
	       : trace_flight_stop()		      ? 3
						      : 0;
}

START_TEST(a_forked_child_has_one_of_its_own_if_that_was_asked_for)
{
	struct trace_flight_options o = triggered(NULL);
	char name[160];
	struct trc_reader *reader;
	pid_t pid;

	child_pid = mmap(NULL, sizeof(*child_pid), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(child_pid, MAP_FAILED);
	o.children = true;
	start(&o);
	trace_log(0, "note", "parent");
	pid = fork_by(_i);
	if (pid == 0)
		_exit(in_own_child(_i));
	ck_assert_int_eq(status_of(pid), 0);
	snprintf(name, sizeof(name), "%s/odd.%d.1.trc", dir, (int)*child_pid);
	look_check(name);
	reader = look_open(name);
	ck_assert(look_message(reader, "child") || _i == BY_SYSTEM_CALL);
	ck_assert(!look_message(reader, "parent"));
	ck_assert_int_eq(atoi(look_info(reader, "pid")), *child_pid);
	trc_reader_close(reader);
	ck_assert_int_eq(trace_flight_trigger("in the parent"), 0);
	expect_trigger(1, "in the parent");
	stop();
}
END_TEST

static void add_tests(TCase *c)
{
	tcase_add_test(c, a_trigger_has_a_snapshot_taken);
	tcase_add_test(c, without_a_trigger_path_it_is_an_event_and_there_is_no_thread);
	tcase_add_test(c, what_follows_the_odd_moment_is_kept_too);
	tcase_add_test(c, only_so_many_are_taken);
	tcase_add_test(c, a_wait_that_does_not_end_is_noticed);
	tcase_add_test(c, a_region_that_takes_too_long_is_noticed);
	tcase_add_test(c, a_signal_may_be_a_condition);
	tcase_add_test(c, conditions_may_come_and_go_beside_a_trace);
	tcase_add_test(c, a_triggered_snapshot_that_cannot_be_written_is_told_in_the_end);
	tcase_add_test(c, exit_takes_the_snapshot_that_was_asked_for_and_leaves_no_ring);
	tcase_add_test(c, a_process_that_is_killed_leaves_its_ring);
	if (ALLOCATOR_NOT_FOR_FORKS)
		return;
	tcase_add_loop_test(c, a_forked_child_has_no_recorder_until_it_starts_one, 0, WAYS_TO_FORK);
	tcase_add_loop_test(c, a_forked_child_has_one_of_its_own_if_that_was_asked_for, 0,
			    WAYS_TO_FORK);
}

int main(void)
{
	return run_tests("flight_trigger", add_tests);
}
