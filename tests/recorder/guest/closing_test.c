/*
 * closing_test.c - who reads another thread's stack keeps dlclose() waiting for that long, and nobody
 * waits for a thread that is gone (closing:Q1, closing:Q2).
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/guest/closing.h"
#include "tests/recorder/interpose/blocked.h"
#include "tests/suite.h"

static atomic_bool done;

static void *closes(void *unused)
{
	trc_closing_begin();
	done = true;
	trc_closing_end();
	return unused;
}

static void *looks(void *unused)
{
	ck_assert(trc_look_begin());
	done = true;
	trc_look_end();
	return unused;
}

static void *begins_a_look(void *unused)
{
	ck_assert(trc_look_begin());
	return unused;
}

static pthread_t started(void *(*run)(void *))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
	return thread;
}

static void joined(pthread_t thread)
{
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* Both that close and that look: they begin when the look has ended, and not before. */
START_TEST(a_look_is_waited_for)
{
	pthread_t thread;

	ck_assert(trc_look_begin());
	thread = started(_i ? closes : looks);
	await_others();
	ck_assert(!done);
	trc_look_end();
	joined(thread);
	ck_assert(done);
}
END_TEST

START_TEST(no_look_begins_while_an_object_is_closed)
{
	trc_closing_begin();
	trc_closing_begin();
	ck_assert(!trc_look_begin());
	trc_closing_end();
	ck_assert(!trc_look_begin());
	joined(started(closes)); /* nobody waits for that */
	trc_closing_end();
	ck_assert(trc_look_begin());
	trc_look_end();
}
END_TEST

/* In a handler of a signal that came meanwhile. */
START_TEST(a_thread_does_not_wait_for_itself)
{
	ck_assert(trc_look_begin());
	ck_assert(!trc_look_begin());
	trc_closing_begin();
	trc_closing_end();
	trc_look_end();
	joined(started(looks));
}
END_TEST

START_TEST(a_thread_that_is_gone_is_not_waited_for)
{
	joined(started(begins_a_look));
	joined(started(_i ? closes : looks));
	ck_assert(done);
}
END_TEST

static int status_of(pid_t child)
{
	int status;

	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

static void *holds_a_look(void *unused)
{
	ck_assert(trc_look_begin());
	for (done = true;;)
		pause();
	return unused;
}

/* As one that was left by siglongjmp(). */
START_TEST(a_look_without_an_end_is_not_waited_for)
{
	started(holds_a_look);
	while (!done)
		sched_yield();
	if (_i)
		ck_assert(!trc_look_begin());
	else
		closes(NULL);
}
END_TEST

/* Also in one that is forked past libc. */
START_TEST(a_child_does_not_wait_for_its_parents_threads)
{
	pid_t child;

	started(holds_a_look);
	while (!done)
		sched_yield();
	child = _i ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (!child) {
		if (!_i)
			trc_closing_forget();
		closes(NULL);
		_exit(!trc_look_begin());
	}
	ck_assert_int_eq(status_of(child), 0);
}
END_TEST

START_TEST(a_child_of_a_destructor_is_in_it)
{
	pid_t child;

	trc_closing_begin();
	child = fork();
	if (!child) {
		bool looked;

		trc_closing_forget();
		looked = trc_look_begin();
		trc_closing_end();
		_exit(looked || !trc_look_begin());
	}
	ck_assert_int_eq(status_of(child), 0);
	trc_closing_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("closing");
	TCase *c = tcase_create("closing");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, a_look_is_waited_for, 0, 2);
	tcase_add_test(c, no_look_begins_while_an_object_is_closed);
	tcase_add_test(c, a_thread_does_not_wait_for_itself);
	tcase_add_loop_test(c, a_thread_that_is_gone_is_not_waited_for, 0, 2);
	tcase_add_loop_test(c, a_look_without_an_end_is_not_waited_for, 0, 2);
	tcase_add_loop_test(c, a_child_does_not_wait_for_its_parents_threads, 0, 2);
	tcase_add_test(c, a_child_of_a_destructor_is_in_it);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
