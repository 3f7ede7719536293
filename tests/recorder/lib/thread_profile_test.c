/*
 * thread_profile_test.c - what every thread is doing, as threads tell it or their slots do.
 *
 * Without interposers: what they would record is recorded here, and threads wait by libc alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trc/labels.h>
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recorder/sampling/sample.h"
#include "tests/stolen.h"
#include "thread_profile_fixture.h"
#include "tests/suite.h"

START_TEST(while_nothing_records_there_is_none)
{
	ck_assert_int_eq(trc_thread_profile_take(&profile, 0), -EBUSY);
	ck_assert_ptr_null(profile);
}
END_TEST

START_TEST(a_parked_thread_has_told_its_stack_already)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, park);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
	ck_assert(!row->asked);
	ck_assert_uint_ne(row->serial, 0);
	ck_assert_uint_eq(row->reason, TRC_REASON_MUTEX);
	ck_assert_uint_eq(row->object, (uintptr_t)&lock_object);
	ck_assert_uint_eq(row->holder_tid, (uint32_t)getpid());
	ck_assert(row->has_wait_ns);
	ck_assert_uint_gt(row->wait_ns, 0);
	expect_function(row, park);
	worker_end(&w);
}
END_TEST

START_TEST(a_running_thread_answers_for_itself)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, burn);
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_RUNNING);
	ck_assert(row->asked);
	ck_assert_uint_ne(row->serial, 0);
	ck_assert_uint_gt(row->interrupted_ns, 0);
	ck_assert_uint_le(row->interrupted_ns, profile->longest_ns);
	expect_function(row, burn);
	worker_end(&w);
}
END_TEST

START_TEST(a_wait_without_a_recorded_stack_is_asked_for_it)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, wait_unannounced_and_hidden);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
	ck_assert(row->asked);
	ck_assert_uint_eq(row->reason, TRC_REASON_POLL);
	ck_assert_uint_eq(row->object, 77);
	ck_assert(row->has_wait_ns);
	expect_function(row, wait_unannounced_and_hidden);
	worker_end(&w);
}
END_TEST

/* Here recording begins after the thread does. */
START_TEST(a_thread_that_waits_since_before_recording_is_asked)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, wait_hidden);
	wait_until_it_sleeps(&w);
	thread_profile_set_up();
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
	ck_assert(row->asked);
	ck_assert(!row->has_wait_ns);
	ck_assert_uint_eq(row->reason, TRC_REASON_FUTEX);
	ck_assert_uint_ne(row->serial, 0);
	expect_function(row, wait_hidden);
	thread_profile_tear_down();
	worker_end(&w);
}
END_TEST

START_TEST(the_caller_has_a_row_and_own_threads_have_none)
{
	char dir[] = "/tmp/trc-threads-XXXXXX", path[64];
	const struct trc_thread_row *row;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
	ck_assert_msg(trace_start(path, NULL) == 0, "%s", trace_last_error());
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_rows, 1);
	row = expect_row((uint32_t)gettid(), TRC_THREAD_IS_RUNNING);
	ck_assert(!row->asked);
	ck_assert_uint_gt(row->n_frames, 0);
	ck_assert_int_eq(trace_stop(), 0);
	unlink(path);
	rmdir(dir);
}
END_TEST

static void belong_to_trc(struct worker *w)
{
	trc_sample_own_thread(true);
	wait_to_go_on(w);
	trc_sample_own_thread(false);
	wait_to_go_on(w);
}

/* As when many are connected. */
START_TEST(there_may_be_many_own_threads)
{
	enum { N = 100 };
	static struct worker w[N];

	for (int i = 0; i < N; i++)
		worker_start(&w[i], belong_to_trc);
	for (int i = 0; i < N; i++)
		wait_until_it_sleeps(&w[i]);
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_rows, 1);
	for (int i = 0; i < N; i++) {
		ck_assert(trc_sample_is_own_thread(w[i].tid));
		sem_post(&w[i].go_on);
		while (trc_sample_is_own_thread(w[i].tid))
			usleep(1000);
	}
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_rows, N + 1);
	for (int i = 0; i < N; i++)
		worker_end(&w[i]);
}
END_TEST

static void named_and_labelled(struct worker *w)
{
	const struct trace_label label = {"route", "/search", 0, NULL};
	const struct trace_labels *labels;

	pthread_setname_np(pthread_self(), "indexer");
	ck_assert_int_eq(trace_labels_create(&labels, NULL, &label, 1), 0);
	trace_labels_set(labels);
	burn(w);
	trace_labels_set(NULL);
	trace_labels_destroy(labels);
}

START_TEST(names_and_labels_are_told)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, named_and_labelled);
	usleep(20000); /* it is usually there; else the profile is older than the labels */
	for (;;) {
		take(LONG_NS);
		row = expect_row(w.tid, TRC_THREAD_IS_RUNNING);
		if (row->n_labels)
			break;
		usleep(1000);
	}
	ck_assert_str_eq(row->name, "indexer");
	ck_assert_uint_eq(row->n_labels, 1);
	ck_assert_mem_eq(row->label->key, "route", row->label->key_bytes);
	ck_assert_mem_eq(row->label->value, "/search", row->label->value_bytes);
	ck_assert_uint_eq(row->label->value_bytes, 7);
	worker_end(&w);
}
END_TEST

static void short_lived(struct worker *w)
{
}

static void *keep_taking(void *arg)
{
	for (int i = 0; i < 30; i++) {
		struct trc_thread_profile *p;

		ck_assert_int_eq(trc_thread_profile_take(&p, LONG_NS), 0);
		ck_assert_uint_ge(p->n_rows, 1);
		ck_assert_uint_eq(p->n_silent, 0);
		trc_thread_profile_free(p);
	}
	return NULL;
}

START_TEST(threads_come_and_go_meanwhile)
{
	pthread_t taker[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&taker[i], NULL, keep_taking, NULL);
	for (int i = 0; i < 300; i++) {
		struct worker w;

		worker_start(&w, short_lived);
		worker_end(&w);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(taker[i], NULL);
}
END_TEST

START_TEST(a_forked_child_has_none)
{
	struct worker w;
	pid_t child;
	int status;

	worker_start(&w, burn);
	take(LONG_NS);
	child = fork();
	if (!child) {
		struct trc_thread_profile *p = NULL;

		_exit(trc_thread_profile_take(&p, 0) == -EBUSY && !p ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	worker_end(&w);
}
END_TEST

START_TEST(a_snapshot_during_a_window_is_of_an_instant)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	struct trc_taken now = {.n_folded = 0}, change = {.n_folded = 0};
	char why[TRC_RECORDER_WHY_BYTES] = "";
	struct trace_recorder *r;

	options.deadline_ns = LONG_NS;
	ck_assert_msg(trace_recorder_create_thread(&r, &options) == 0, "%s", trace_last_error());
	trc_self.quiet++;
	ck_assert_msg(trc_recorders_begin(&r, 1, why) == 0, "%s", why);
	usleep(1000);
	ck_assert_msg(trc_recorders_take(&r, 1, &now, true, false, why) == 0, "%s", why);
	ck_assert_int_eq(now.duration_ns, 0);
	ck_assert_int_ne(now.begin_realtime_ns, r->begin_realtime_ns);
	ck_assert_msg(trc_recorders_take(&r, 1, &change, true, true, why) == 0, "%s", why);
	ck_assert_int_ge(change.duration_ns, 1000000);
	ck_assert_int_eq(change.begin_realtime_ns, r->begin_realtime_ns);
	trc_self.quiet--;
	trc_taken_free(&now);
	trc_taken_free(&change);
	trace_recorder_destroy(r);
}
END_TEST

/* ---- without threads -------------------------------------------------------------------- */

START_TEST(creators_and_holders_are_named_by_their_tids)
{
	struct trc_thread_row row[] = {
		{.tid = 100, .serial = 3}, {.tid = 200, .serial = 1}, {.tid = 300}};
	struct trc_thread_profile p = {.row = row, .n_rows = 3};
	const uint32_t creator[] = {1, 0, 7};
	const uint64_t holder[] = {TRC_THREAD_IS_TID | 4711, 3, 0};

	ck_assert_int_eq(trc_thread_profile_resolve(&p, creator, holder), 0);
	ck_assert_uint_eq(row[0].creator_tid, 200);
	ck_assert_uint_eq(row[0].holder_tid, 4711);
	ck_assert_uint_eq(row[1].creator_tid, 0);
	ck_assert_uint_eq(row[1].holder_tid, 100);
	/* 7 has no row, and 0 is nobody, although that is the serial of 300. */
	ck_assert_uint_eq(row[2].creator_tid, 0);
	ck_assert_uint_eq(row[2].holder_tid, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_profile");
	TCase *alone = tcase_create("before recording"), *rest = tcase_create("recording");

	tcase_set_timeout(alone, 120);
	tcase_add_test(alone, while_nothing_records_there_is_none);
	tcase_add_test(alone, a_thread_that_waits_since_before_recording_is_asked);
	tcase_add_test(alone, a_snapshot_during_a_window_is_of_an_instant);
	tcase_add_test(alone, creators_and_holders_are_named_by_their_tids);
	thread_profile_looks_before(alone);
	suite_add_tcase(suite, alone);
	tcase_set_timeout(rest, 120);
	tcase_add_checked_fixture(rest, thread_profile_set_up, thread_profile_tear_down);
	tcase_add_test(rest, a_parked_thread_has_told_its_stack_already);
	tcase_add_test(rest, a_running_thread_answers_for_itself);
	tcase_add_test(rest, a_wait_without_a_recorded_stack_is_asked_for_it);
	tcase_add_test(rest, the_caller_has_a_row_and_own_threads_have_none);
	tcase_add_test(rest, there_may_be_many_own_threads);
	tcase_add_test(rest, names_and_labels_are_told);
	tcase_add_test(rest, threads_come_and_go_meanwhile);
	tcase_add_test(rest, a_forked_child_has_none);
	thread_profile_asks(rest);
	thread_profile_looks(rest);
	suite_add_tcase(suite, rest);
	return suite_run(suite);
}
