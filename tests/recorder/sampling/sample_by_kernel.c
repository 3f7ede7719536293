/* sample_by_kernel.c - CPU profiles that the kernel takes, in the trace of a program's own. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sample_fixture.h"

enum { KERNEL_EVENT = 17 /* the number of the first */ };

static const struct trace_sampling_event by_kernel = {sizeof(by_kernel), "cpu-clock", 1000000, 0,
						      TRACE_SAMPLING_BY_KERNEL};

/* Skips the rest where perf allows no counters, or no memory for what they write. */
static bool start_by_kernel(void)
{
	int err = trace_sampling_start(&by_kernel, 1);

	ck_assert_msg(!err || strstr(trace_last_error(), "what works: ") ||
			      strstr(trace_last_error(), "none of the kernel's records"),
		      "%s", trace_last_error());
	return !err;
}

/* CPU time in profiles. */
struct used {
	uint64_t known_ns, unknown_ns; /* of threads that made themselves known, and of others */
};

static void *unknown(void *used_ns)
{
	burn(300);
	*(uint64_t *)used_ns = cpu_ns();
	return NULL;
}

/* One profile of a thread that is there and of two that come, and one of this thread.  False: the
 * kernel samples nothing here. */
static bool sample_by_kernel_twice(struct used *used)
{
	uint64_t known_ns, unknown_ns;
	pthread_t there;

	pthread_create(&there, NULL, unknown, &used->unknown_ns);
	start_trace();
	if (!start_by_kernel()) {
		pthread_join(there, NULL);
		stop_trace();
		return false;
	}
	known_ns = used_ns();
	unknown_ns = used_so_far_ns(there);
	ck_assert_int_eq(trace_sampling_start(&by_kernel, 1), -EBUSY);
	burn_in_threads(2, 100);
	pthread_join(there, NULL);
	used->unknown_ns -= unknown_ns;
	used->known_ns = used_ns() - known_ns;
	ck_assert_int_eq(trace_sampling_stop(), 0);
	ck_assert_int_eq(trace_sampling_stop(), -EINVAL);
	burn(200); /* in between */
	ck_assert(start_by_kernel());
	known_ns = used_ns();
	burn(100);
	expect_nothing_left();
	used->known_ns += used_ns() - known_ns;
	stop_trace(); /* ends it as well */
	return true;
}

START_TEST(the_kernel_samples_threads_that_are_there_and_those_to_come)
{
	struct runs runs = {0};
	struct used used;

	while (another_run(&runs) && sample_by_kernel_twice(&used)) {
		uint64_t all_ns = used.known_ns + used.unknown_ns;
		struct sampled s = look();

		ck_assert_uint_eq(s.n_events, 1);
		ck_assert_str_eq(s.name[0], "cpu-clock");
		ck_assert_uint_eq(s.event[0].event, KERNEL_EVENT);
		ck_assert_uint_eq(s.event[0].how, TRC_SAMPLE_KERNEL);
		ck_assert_uint_eq(s.event[0].missing_threads, 0);
		expect_at_least(&runs, s.value[KERNEL_EVENT], used.known_ns / 100 * 95);
		/* Samples of a thread that never made itself known are lost, and said so. */
		expect_percent(&runs, s.value[KERNEL_EVENT] + s.lost * by_kernel.period, all_ns, 90,
			       107);
	}
	start_trace(); /* nothing goes on by itself */
	burn(50);
	stop_trace();
	ck_assert_uint_eq(look().n_events, 0);
}
END_TEST

START_TEST(the_kernel_leaves_forked_children_out)
{
	struct runs runs = {0};
	struct sampled s;
	pid_t pid;
	int status;

	while (another_run(&runs)) {
		start_trace();
		if (!start_by_kernel()) {
			stop_trace();
			return;
		}
		pid = fork();
		if (!pid) {
			burn(150);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		stop_trace();
		s = look();
		expect_at_most(&runs, s.value[KERNEL_EVENT], 100000000);
		expect_at_most(&runs, s.lost, 50);
	}
}
END_TEST

START_TEST(the_kernel_and_signals_sample_together)
{
	const struct trace_sampling_event both[] = {timer, by_kernel};
	struct runs runs = {0};

	while (another_run(&runs)) {
		uint64_t sampled_ns;
		struct sampled s;

		start_trace();
		if (trace_sampling_start(both, 2)) {
			ck_assert_int_eq(trace_sampling_stop(), -EINVAL);
			stop_trace();
			return;
		}
		sampled_ns = used_ns();
		burn(200);
		sampled_ns = used_ns() - sampled_ns;
		ck_assert_int_eq(trace_sampling_stop(), 0);
		expect_nothing_left();
		stop_trace();
		s = look();
		ck_assert_uint_eq(s.n_events, 2);
		expect_percent(&runs, s.value[1], sampled_ns, 60, 115);
		expect_percent(&runs, s.value[KERNEL_EVENT], sampled_ns, 60, 115);
	}
}
END_TEST

/* Of a quarter of a period each.  After 32 of them the others sample themselves (sample:S9). */
START_TEST(threads_shorter_than_a_period_have_their_share)
{
	enum { THREADS = 640, BEFORE = 32 };
	static const struct trace_sampling_event every_4_ms = {
		sizeof(every_4_ms), "cpu-clock", 4000000, 0, TRACE_SAMPLING_BY_KERNEL};
	struct runs runs = {0};

	while (another_run(&runs)) {
		uint64_t worked_ns;
		struct sampled s;

		start_trace();
		if (trace_sampling_start(&every_4_ms, 1)) {
			stop_trace();
			return;
		}
		worked_ns = used_ns() - cpu_ns();
		for (int i = 0; i < THREADS; i++)
			burn_in_threads(1, 1);
		worked_ns = (used_ns() - cpu_ns() - worked_ns) / THREADS * (THREADS - BEFORE);
		ck_assert_int_eq(trace_sampling_stop(), 0);
		expect_nothing_left();
		stop_trace();
		s = look();
		ck_assert_uint_eq(s.n_events, 1);
		/* Four standard errors of 150 samples. */
		expect_percent(&runs, s.value[KERNEL_EVENT], worked_ns, 67, 145);
	}
}
END_TEST

START_TEST(a_flight_recorder_has_nobody_who_takes_what_the_kernel_samples)
{
	ck_assert_int_eq(trace_flight_start(NULL), 0);
	ck_assert_int_lt(trace_sampling_start(&by_kernel, 1), 0);
	ck_assert_msg(strstr(trace_last_error(), "what works: ") != NULL, "%s", trace_last_error());
	ck_assert_int_eq(trace_flight_stop(), 0);
}
END_TEST

void sample_by_kernel(TCase *t)
{
	tcase_add_test(t, the_kernel_samples_threads_that_are_there_and_those_to_come);
	tcase_add_test(t, the_kernel_leaves_forked_children_out);
	tcase_add_test(t, the_kernel_and_signals_sample_together);
	tcase_add_test(t, threads_shorter_than_a_period_have_their_share);
	tcase_add_test(t, a_flight_recorder_has_nobody_who_takes_what_the_kernel_samples);
}
