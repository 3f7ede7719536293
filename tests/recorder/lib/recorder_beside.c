/* recorder_beside.c - recorders beside other recordings, and where the process forks or ends. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder_fixture.h"
#include "tests/forks.h"
#include "tests/turns.h"

/* ---- beside other recordings ----------------------------------------------------------- */

START_TEST(beside_a_trace_that_comes_and_goes)
{
	struct waits_recorders w;
	struct stat st;

	waits_begin(&w);
	contend();
	ck_good(trace_start(in_dir("a.trc"), NULL));
	contend();
	ck_good(trace_stop());
	ck_assert_int_eq(stat(in_dir("a.trc"), &st), 0);
	ck_fails(trace_start("/nonexistent/a.trc", NULL), -ENOENT, "/nonexistent");
	contend();
	waits_end(&w, 3);
	ck_assert(!trace_enabled());
}
END_TEST

/* Neither a wait in progress nor what happens meanwhile is missing. */
START_TEST(nothing_is_missing_where_a_trace_begins_or_ends)
{
	struct waits_recorders w;
	pthread_t thread;

	waits_begin(&w);
	thread = begin_contention();
	for (int i = 0; i < 3; i++) {
		ck_good(trace_start(in_dir("a.trc"), NULL));
		ck_good(trace_stop());
	}
	let_go_of_mutex();
	pthread_join(thread, NULL);
	ck_good(trace_start(in_dir("a.trc"), NULL));
	contend();
	ck_good(trace_stop());
	waits_end(&w, 2);
}
END_TEST

START_TEST(within_a_trace)
{
	struct waits_recorders w;

	ck_good(trace_start(in_dir("a.trc"), NULL));
	contend();
	waits_begin(&w);
	contend();
	waits_end(&w, 1);
	ck_assert(trace_enabled());
	waits_begin(&w);
	contend();
	ck_good(trace_stop());
	contend();
	waits_end(&w, 2);
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(beside_a_flight_recorder)
{
	struct trace_flight_options flight = TRACE_FLIGHT_OPTIONS_INIT;
	struct waits_recorders w;
	struct stat st;

	flight.max_bytes = 4 << 20;
	ck_good(trace_flight_start(&flight));
	contend();
	waits_begin(&w);
	contend();
	ck_good(trace_flight_snapshot(in_dir("a.trc"), NULL));
	ck_assert_int_eq(stat(in_dir("a.trc"), &st), 0);
	ck_good(trace_flight_stop());
	contend();
	waits_end(&w, 2);
	ck_assert(!trace_enabled());
	/* The other way round. */
	waits_begin(&w);
	flight.max_bytes = 1 << 30;
	ck_good(trace_flight_start(&flight));
	contend();
	ck_good(trace_flight_snapshot(in_dir("b.trc"), NULL));
	waits_end(&w, 1);
	ck_assert(trace_flight_enabled());
	ck_good(trace_flight_stop());
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(a_profile_of_the_program_is_not_recorders_business)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct trace_cpu_options options = TRACE_CPU_OPTIONS_INIT;
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;
	struct trace_recorder *r;

	options.event = event.name = "timer";
	ck_good(trace_recorder_create_cpu(&r, &options));
	ck_good(trace_recorder_start(r, &w));
	ck_fails(trace_sampling_start(&event, 1), -EINVAL, "trace");
	ck_good(trace_start(in_dir("a.trc"), NULL));
	ck_good(trace_sampling_start(&event, 1));
	ck_fails(trace_sampling_start(&event, 1), -EBUSY, "already");
	ck_good(trace_sampling_stop());
	ck_fails(trace_sampling_stop(), -EINVAL, "no CPU profile");
	ck_good(trace_sampling_start(&event, 1));
	ck_good(trace_stop());
	ck_good(trace_recorder_stop(r));
	trace_recorder_destroy(r);
	ck_assert_int_eq(c.finish_err, 0);
	ck_assert(!trace_enabled());
}
END_TEST

/* What a trace can tell of: sixteen periods, each of which may come again. */
START_TEST(a_seventeenth_period_is_refused)
{
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;

	event.name = "timer";
	ck_good(trace_start(in_dir("a.trc"), NULL));
	for (unsigned int i = 0; i < 32; i++) {
		event.period = 10000000 + i % 16;
		ck_good(trace_sampling_start(&event, 1));
		ck_good(trace_sampling_stop());
	}
	event.period = 9000000;
	ck_fails(trace_sampling_start(&event, 1), -ENOSPC, "more than 16 different events");
	event.period = 10000000;
	ck_good(trace_sampling_start(&event, 1));
	ck_good(trace_sampling_stop());
	/* The same period, by a preset and by a frequency. */
	event.period = 0;
	ck_good(trace_sampling_start(&event, 1));
	ck_good(trace_sampling_stop());
	event.frequency_hz = 100;
	ck_good(trace_sampling_start(&event, 1));
	ck_good(trace_stop());
}
END_TEST

/* ---- fork ------------------------------------------------------------------------------ */

/* In the child nothing runs, and what the parent started is its own there too. */
START_TEST(a_forked_child_begins_anew)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct trace_recorder *r;
	int status;
	pid_t child;

	ck_good(trace_recorder_create_block(&r, NULL));
	ck_good(trace_recorder_start(r, &w));
	child = fork();
	if (!child) {
		alarm(60);
		if (trace_recorder_stop(r) != -EINVAL || trace_enabled())
			_exit(1);
		if (trace_recorder_start(r, &w) || !trace_enabled()) {
			fprintf(stderr, "in the child: %s\n", trace_last_error());
			_exit(2);
		}
		if (trace_recorder_stop(r) || c.n_finishes != 1 || c.finish_err)
			_exit(3);
		trace_recorder_destroy(r);
		_exit(trace_enabled() ? 4 : 0);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(c.n_finishes, 1);
	trace_recorder_destroy(r);
}
END_TEST

/* What a thread does at the moment of a fork is left as it is, for ever, in the child. */
struct busy {
	_Atomic bool ends;
	struct trace_custom_profile *profile;
	struct trace_recorder *r; /* runs */
};

static void *enters_and_removes(void *context)
{
	struct busy *b = context;

	for (uintptr_t n = 1; !atomic_load(&b->ends); n = n % 3000 + 1) {
		trace_custom_profile_add(b->profile, (void *)n, 0);
		if (n % 3 && n > 1)
			trace_custom_profile_remove(b->profile, (void *)(n - 1));
	}
	return NULL;
}

static void *starts(void *context)
{
	struct busy *b = context;
	struct counting c = {0};
	const struct trace_writer w = counting_writer(&c);

	while (!atomic_load(&b->ends))
		trace_recorder_start(b->r, &w);
	return NULL;
}

/* 0, or what is wrong. */
static int child_of_the_busy(struct busy *b)
{
	struct trace_writer_memory memory = {0};
	struct trace_writer w = trace_writer_to_memory(&memory);
	size_t count = trace_custom_profile_count(b->profile);
	unsigned long total;

	alarm(120);
	if (trace_recorder_stop(b->r) != -EINVAL)
		return 1;
	if (trace_custom_profile_add(b->profile, b, 0) || trace_custom_profile_count(b->profile) != count + 1)
		return 2;
	if (trace_recorder_snapshot(b->r, &w) || w.write(w.context, "", 1))
		return 3;
	if (sscanf(memory.bytes, "busy profile: total %lu", &total) != 1 || total != count + 1)
		return 4;
	trace_custom_profile_remove(b->profile, b);
	free(memory.bytes);
	return trace_custom_profile_count(b->profile) == count ? 0 : 5;
}

START_TEST(a_fork_at_any_moment)
{
	struct trace_custom_options options = TRACE_CUSTOM_OPTIONS_INIT;
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct busy b = {.ends = false};
	pthread_t thread[2];

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_custom_profile_register(&b.profile, "busy"));
	ck_good(trace_recorder_create_custom(&b.r, b.profile, &options));
	ck_good(trace_recorder_snapshot(b.r, &w)); /* loads what that takes */
	ck_good(trace_recorder_start(b.r, &w));
	ck_assert_int_eq(pthread_create(&thread[0], NULL, enters_and_removes, &b), 0);
	ck_assert_int_eq(pthread_create(&thread[1], NULL, starts, &b), 0);
	for (int i = 0; i < 60 && !ALLOCATOR_NOT_FOR_FORKS; i++) {
		int status;
		pid_t child;

		if (!takes_turn((size_t)i, 4))
			continue;
		child = fork();
		if (!child)
			_exit(child_of_the_busy(&b));
		ck_assert_int_gt(child, 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
	atomic_store(&b.ends, true);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	ck_good(trace_recorder_stop(b.r));
	trace_recorder_destroy(b.r);
}
END_TEST

/* The ring's file goes with the process, whoever still records. */
START_TEST(exit_ends_recorders)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	static struct trace_recorder *r; /* still in reach at exit: it is no leak */
	int status;
	pid_t child;

	ck_assert_int_eq(setenv("TRC_RING_DIR", test_dir, 1), 0);
	child = fork();
	if (!child) {
		alarm(60);
		if (trace_recorder_create_block(&r, NULL) || trace_recorder_start(r, &w))
			_exit(1);
		exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(rmdir(test_dir), 0);
	ck_assert_int_eq(mkdir(test_dir, 0700), 0);
	unsetenv("TRC_RING_DIR");
}
END_TEST

TCase *recorder_beside(void)
{
	TCase *tc = recorder_case("beside");

	tcase_add_test(tc, beside_a_trace_that_comes_and_goes);
	tcase_add_test(tc, nothing_is_missing_where_a_trace_begins_or_ends);
	tcase_add_test(tc, within_a_trace);
	tcase_add_test(tc, beside_a_flight_recorder);
	tcase_add_test(tc, a_profile_of_the_program_is_not_recorders_business);
	tcase_add_test(tc, a_seventeenth_period_is_refused);
	tcase_add_test(tc, a_forked_child_begins_anew);
	tcase_add_test(tc, a_fork_at_any_moment);
	tcase_add_test(tc, exit_ends_recorders);
	return tc;
}
