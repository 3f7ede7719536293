/* sample_refusals.c - which CPU profiles are refused, and which recordings may have one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sample_fixture.h"

static const struct refused {
	const char *what;
	struct trace_sampling_event event[2];
	size_t n;
	const char *why;
} refused[] = {
#define EVENT(name, period, hz, by)                                                                \
	{                                                                                          \
		sizeof(struct trace_sampling_event), name, period, hz, by                               \
	}
	{"a name that is none", {EVENT("cpu", 0, 0, 0)}, 1, "cpu: no such event; there are auto"},
	{"no name", {EVENT(NULL, 0, 0, 0)}, 1, "an event needs a name"},
	{"no name among others",
	 {EVENT("page-faults", 0, 0, 0), EVENT("", 0, 0, 0)},
	 2,
	 "event 2: an event needs a name"},
	{"two names", {EVENT("timer,page-faults", 0, 0, 0)}, 1, "one only"},
	{"one twice",
	 {EVENT("timer", 0, 0, 0), EVENT("timer", 0, 0, 0)},
	 2,
	 "twice the same event"},
	{"auto and what it may be",
	 {EVENT("auto", 0, 0, 0), EVENT("timer", 0, 0, 0)},
	 2,
	 "auto is"},
	{"a malformed number", {EVENT("rxyz", 0, 0, 0)}, 1, "rxyz: not an event such as"},
	{"too many", {EVENT("timer", 0, 0, 0)}, 17, "at most 16"},
	{"a name of two lines", {EVENT("foo\nbar", 0, 0, 0)}, 1, "foo?bar: no such event"},
	{"a period that is given apart",
	 {EVENT("page-faults", 0, 0, 0), EVENT("timer", 1, 0, 0)},
	 2,
	 "timer:1: this period is too short"},
	{"period and frequency", {EVENT("timer", 5000000, 100, 0)}, 1, "either a period or"},
	{"two periods", {EVENT("timer:1000000", 5000000, 0, 0)}, 1, "two periods"},
	{"a frequency of no clock",
	 {EVENT("page-faults", 0, 100, 0)},
	 1,
	 "a frequency is for clocks"},
	{"too high a frequency", {EVENT("timer", 0, 100001, 0)}, 1, "at most 100000"},
	{"too short a period", {EVENT("timer", 1, 0, 0)}, 1, "too short"},
	{"a timer by the kernel",
	 {EVENT("timer", 0, 0, TRACE_SAMPLING_BY_KERNEL)},
	 1,
	 "not by the kernel"},
	{"another way", {EVENT("timer", 0, 0, (enum trace_sampling_by)7)}, 1, "not in its list"},
	{"no structure", {{0, "timer", 0, 0, TRACE_SAMPLING_BY_AUTO}}, 1, "TRACE_SAMPLING_EVENT_INIT"},
};

START_TEST(what_is_refused)
{
	const struct refused *r = &refused[_i];

	start_trace();
	ck_assert_msg(trace_sampling_start(r->event, r->n) == -EINVAL, "%s", r->what);
	ck_assert_msg(strstr(trace_last_error(), r->why) != NULL, "%s: %s", r->what,
		      trace_last_error());
	expect_nothing_left();
	ck_assert_int_eq(trace_sampling_stop(), -EINVAL);
	stop_trace();
}
END_TEST

/* They would never end: each makes a switch, and that the next one. */
START_TEST(no_signal_for_each_switch)
{
	const struct trace_sampling_event each =
		EVENT("context-switches", 1, 0, TRACE_SAMPLING_BY_SIGNAL);
	int err;

	start_trace();
	err = trace_sampling_start(&each, 1);
	ck_assert_int_lt(err, 0);
	if (err == -EINVAL)
		ck_assert_msg(strstr(trace_last_error(), "context-switches:1: ") &&
				      strstr(trace_last_error(), "by signals 2 at least"),
			      "%s", trace_last_error());
	expect_nothing_left();
	stop_trace();
}
END_TEST

START_TEST(one_profile_in_a_recording)
{
	start_trace();
	ck_assert_int_eq(trace_sampling_start(NULL, 1), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "events is NULL, and n is not 0");
	stop_trace();
	ck_assert_int_eq(trace_sampling_start(NULL, 0), -EINVAL);
	ck_assert_msg(strstr(trace_last_error(), "nothing records"), "%s", trace_last_error());
	ck_assert_int_eq(trace_sampling_stop(), -EINVAL);
	start_trace();
	ck_assert_int_eq(trace_sampling_start(&timer, 1), 0);
	ck_assert_int_eq(trace_sampling_start(&timer, 1), -EBUSY);
	ck_assert_str_eq(trace_last_error(), "a CPU profile runs already");
	ck_assert_int_eq(trace_sampling_stop(), 0);
	ck_assert_str_eq(trace_last_error(), "");
	ck_assert_int_eq(trace_sampling_stop(), -EINVAL);
	stop_trace();
}
END_TEST

START_TEST(a_flight_recorder_has_profiles_too)
{
	struct runs runs = {0};
	struct sampled s;

	while (another_run(&runs)) {
		ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
		ck_assert_int_eq(trace_sampling_start(&timer, 1), 0);
		burn(100);
		ck_assert_int_eq(trace_flight_snapshot(path, NULL), 0);
		s = look();
		ck_assert_uint_eq(s.n_events, 1);
		expect_at_least(&runs, s.value[1], 80000000);
		ck_assert_int_eq(trace_flight_stop(), 0);
		expect_nothing_left();
	}
}
END_TEST

START_TEST(the_environment_asks_for_samples)
{
	struct runs runs = {0};
	struct sampled s;

	setenv("TRC_CPU_EVENTS", "timer", 1);
	setenv("TRC_CPU_FREQUENCY", "50", 1);
	while (another_run(&runs)) {
		start_trace();
		ck_assert_int_eq(trace_sampling_start(NULL, 0), -EBUSY);
		ck_assert_int_eq(trace_sampling_stop(), -EINVAL);
		burn(100);
		stop_trace();
		s = look();
		ck_assert_uint_eq(s.event[0].period, 20000000);
		ck_assert_uint_eq(s.event[0].frequency_hz, 50);
		expect_at_least(&runs, s.value[1], 80000000);
	}
	setenv("TRC_CPU_EVENTS", "luck", 1);
	ck_assert_int_eq(trace_start(path, NULL), -EINVAL);
	ck_assert_msg(strstr(trace_last_error(), "luck: no such event"), "%s", trace_last_error());
}
END_TEST

void sample_refusals(TCase *t)
{
	tcase_add_loop_test(t, what_is_refused, 0, sizeof(refused) / sizeof(*refused));
	tcase_add_test(t, no_signal_for_each_switch);
	tcase_add_test(t, one_profile_in_a_recording);
	tcase_add_test(t, a_flight_recorder_has_profiles_too);
	tcase_add_test(t, the_environment_asks_for_samples);
}
