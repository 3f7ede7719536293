/* test_cpu_event.c - events as users write them: what they mean, what is refused, and what of them
 * there is here. */
#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/shared/cpu_event.h"

static struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
static char error[512];

static int parse(const char *list, uint64_t hz)
{
	return trc_cpu_events_parse(list, hz, TRC_SAMPLE_BY_AUTO, event, error, sizeof(error));
}

#define SW PERF_TYPE_SOFTWARE
#define HW PERF_TYPE_HARDWARE

static const struct {
	const char *sentence, *text;
	uint64_t hz;
	const char *name, *unit;
	uint32_t type;
	uint64_t config, period, frequency_hz;
} good[] = {
	{"a clock has a preset of 1 kHz", "cpu-clock", 0, "cpu-clock", "nanoseconds", SW,
	 PERF_COUNT_SW_CPU_CLOCK, 1000000, 0},
	{"a timer one that any kernel can keep", "timer", 0, "timer", "nanoseconds", 0, 0, 10000000,
	 0},
	{"a frequency", "task-clock", 250, "task-clock", "nanoseconds", SW,
	 PERF_COUNT_SW_TASK_CLOCK, 4000000, 250},
	{"the highest frequency", "cpu-clock", 100000, "cpu-clock", "nanoseconds", SW,
	 PERF_COUNT_SW_CPU_CLOCK, 10000, 100000},
	{"a frequency and no event is auto", NULL, 99, "auto", "nanoseconds", SW,
	 PERF_COUNT_SW_CPU_CLOCK, 10101010, 99},
	{"a period counts more than a frequency", "timer:4000000,cpu-clock", 99, "timer",
	 "nanoseconds", 0, 0, 4000000, 0},
	{"a counter with a period", "cycles:2400000", 0, "cycles", "count", HW,
	 PERF_COUNT_HW_CPU_CYCLES, 2400000, 0},
	{"a period of 0 is the preset", "cycles:0", 0, "cycles", "count", HW,
	 PERF_COUNT_HW_CPU_CYCLES, 3000000, 0},
	{"a frequency is not for counters", "cache-misses,cpu-clock", 99, "cache-misses", "count",
	 HW, PERF_COUNT_HW_CACHE_MISSES, 10000, 0},
	{"modifiers belong to the name, the period does not", "branches:7000:u", 0, "branches:u",
	 "count", HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 7000, 0},
	{"in any order", "branches:ppku:7000", 0, "branches:ukpp", "count", HW,
	 PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 7000, 0},
	{"a raw event", "r1A8:5000", 0, "r1A8", "count", PERF_TYPE_RAW, 0x1a8, 5000, 0},
	{"the longest raw event", "rfedcba9876543210", 0, "rfedcba9876543210", "count",
	 PERF_TYPE_RAW, 0xfedcba9876543210, 1000000, 0},
	{"faults", "page-faults:1", 0, "page-faults", "count", SW, PERF_COUNT_SW_PAGE_FAULTS, 1, 0},
};

START_TEST(understood)
{
	int n = parse(good[_i].text, good[_i].hz);

	ck_assert_msg(n >= 1, "%s: %s", good[_i].sentence, error);
	ck_assert_str_eq(event->name, good[_i].name);
	ck_assert_str_eq(event->unit, good[_i].unit);
	ck_assert_uint_eq(event->type, good[_i].type);
	ck_assert_uint_eq(event->config, good[_i].config);
	ck_assert_uint_eq(event->period, good[_i].period);
	ck_assert_uint_eq(event->frequency_hz, good[_i].frequency_hz);
	ck_assert_int_eq(event->is_timer, !strcmp(event->name, "timer"));
	ck_assert_int_eq(event->is_clock, !strcmp(event->unit, "nanoseconds"));
	if (!event->is_timer)
		ck_assert_int_eq(event->is_hardware, event->type != SW);
	ck_assert_str_eq(event->note, "");
}
END_TEST

START_TEST(lists)
{
	ck_assert_int_eq(parse(NULL, 0), 0);
	ck_assert_int_eq(parse("", 0), 0);
	ck_assert_int_eq(parse("cycles:1000000,cache-misses,timer", 0), 3);
	ck_assert_str_eq(event[1].name, "cache-misses");
	ck_assert_str_eq(event[2].name, "timer");
	/* The same counter in other modes counts something else. */
	ck_assert_int_eq(parse("cycles:u,cycles:k,cycles", 0), 3);
	ck_assert_int_eq(parse("r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd,re,rf,r10", 0), 16);
	ck_assert_int_eq(parse("auto,page-faults", 0), 2);
}
END_TEST

START_TEST(modes)
{
	struct perf_event_attr attr;

	ck_assert_int_eq(parse("cycles:20000:uhppp,cycles,instructions:k", 0), 3);
	trc_cpu_event_attr(&event[0], &attr);
	ck_assert_uint_eq(attr.sample_period, 20000);
	ck_assert_uint_eq(attr.precise_ip, 3);
	ck_assert(!attr.exclude_user && attr.exclude_kernel && !attr.exclude_hv);
	ck_assert(attr.disabled && !attr.freq);
	trc_cpu_event_attr(&event[1], &attr);
	ck_assert(!attr.exclude_user && !attr.exclude_kernel && !attr.exclude_hv);
	trc_cpu_event_attr(&event[2], &attr);
	ck_assert(attr.exclude_user && !attr.exclude_kernel && attr.exclude_hv);
}
END_TEST

static const struct {
	const char *sentence, *text;
	uint64_t hz;
	const char *says;
} bad[] = {
	{"an unknown name lists what there is", "cpu", 0,
	 "cpu: no such event; there are auto, timer, cpu-clock, task-clock, page-faults, "
	 "context-switches, cycles, instructions, cache-references, cache-misses, branches, "
	 "branch-misses and rHEX"},
	{"capital letters", "Cycles", 0, "Cycles: no such event"},
	{"nothing between commas", "cycles,,timer", 0,
	 "cycles,,timer: an event is missing; there are auto"},
	{"nothing after a comma", "cycles,", 0, "cycles,: an event is missing"},
	{"a comma alone", ",", 0, ",: an event is missing"},
	{"a raw event without a number", "r", 0, "r: not an event such as r1a8"},
	{"a raw event that is not hexadecimal", "r1g", 0, "r1g: not an event such as r1a8"},
	{"a raw event of 17 digits", "r12345678123456781", 0, "up to 16 hexadecimal digits"},
	{"twice the same lists what there is", "cycles,timer,cycles", 0,
	 "cycles: twice the same event; there are auto, timer, cpu-clock, task-clock, "},
	{"auto twice", "auto,auto", 0, "auto: twice the same event"},
	{"twice with other periods", "cycles:100000,cycles:200000", 0,
	 "cycles:200000: twice the same event"},
	{"twice by other names", "ra0:u,r0A0:u", 0, "r0A0:u: twice the same event"},
	{"twice but for the hypervisor", "cpu-clock:uk,cpu-clock", 0,
	 "cpu-clock: twice the same event; there are "},
	{"twice but for how exactly", "cycles,cycles:p", 0,
	 "cycles:p: twice the same event, which p, pp and ppp make no other"},
	{"auto beside what it may be", "cpu-clock,auto", 0, "auto is cpu-clock or timer"},
	{"auto beside the other", "auto,timer", 0, "timer: auto is cpu-clock or timer"},
	{"17 events", "r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd,re,rf,r10,r11", 0,
	 "r11: one too many: at most 16"},
	{"a period that is none", "cycles:1e6", 0, "1e6: not a period"},
	{"a period below 0", "cycles:-5", 0, "-5: not a period, nor modifiers"},
	{"a period that would stop the program", "cycles:10", 0,
	 "10: this period is too short: 10000 at least"},
	{"a period beyond all numbers", "cycles:99999999999999999999", 0, "too long"},
	{"a clock faster than there is", "cpu-clock:9999", 0, "too short: 10000 at least"},
	{"two periods", "cycles:20000:30000", 0, "two periods"},
	{"modifiers twice", "cycles:u:p", 0, "modifiers twice"},
	{"a colon and nothing", "cycles:", 0, "a period or modifiers are missing"},
	{"an unknown modifier", "cycles:x", 0, "x: not a period, nor modifiers"},
	{"more precise than precise", "cycles:pppp", 0, "not more than ppp"},
	{"a precise clock", "cpu-clock:p", 0, "only the processor's events have p"},
	{"a timer with modifiers", "timer:u", 0, "a timer has a period, but no modifiers"},
	{"switches in user mode", "context-switches:u", 0, "it happens in the kernel"},
	{"the event is told, not only what is wrong in it", "timer,cycles:u:q", 0,
	 "cycles:u:q: modifiers twice"},
	{"and with a period", "timer,cpu-clock:1", 0, "cpu-clock:1: this period is too short"},
	{"no name", "timer,:1000", 0, ":1000: no such event; there are auto"},
	{"a line's end", "foo\nbar", 0, "foo?bar: no such event; there are auto"},
	{"what a terminal obeys", "cycles:\033[31m\177", 0, "cycles:?[31m?: not a period"},
	{"a frequency that nothing uses", "cycles,timer:10000000", 99,
	 "a frequency is for clocks without a period"},
	{"a frequency that is too high", "cpu-clock", 100001, "100001: this frequency is too high"},
};

START_TEST(refused)
{
	ck_assert_msg(parse(bad[_i].text, bad[_i].hz) == -EINVAL, "%s", bad[_i].sentence);
	ck_assert_msg(strstr(error, bad[_i].says) != NULL, "%s: %s", bad[_i].sentence, error);
}
END_TEST

/* What is possible is the end of the sentence. */
START_TEST(long_names)
{
	char name[600];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(trc_cpu_events_parse(name, 0, TRC_SAMPLE_BY_AUTO, event, error, 400),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "xxx...: no such event; there are auto, timer, "));
	ck_assert_ptr_nonnull(strstr(error, "branch-misses and rHEX"));
}
END_TEST

START_TEST(how)
{
	enum trc_sample_by by;

	ck_assert(trc_sample_by_parse("kernel", &by) && by == TRC_SAMPLE_BY_KERNEL);
	ck_assert(trc_sample_by_parse("signal", &by) && by == TRC_SAMPLE_BY_SIGNAL);
	ck_assert(trc_sample_by_parse("auto", &by) && by == TRC_SAMPLE_BY_AUTO);
	ck_assert(!trc_sample_by_parse("", &by) && !trc_sample_by_parse("signals", &by));
	ck_assert_int_eq(
		trc_cpu_events_parse("timer", 0, TRC_SAMPLE_BY_KERNEL, event, error, sizeof(error)),
		-EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "timer: a timer sends a signal"));
}
END_TEST

/* ---- on this machine ------------------------------------------------------------------- */

static int settle(const char *list, enum trc_sample_by by, bool can_kernel)
{
	int n = trc_cpu_events_parse(list, 0, by, event, error, sizeof(error));

	ck_assert_int_ge(n, 1);
	return trc_cpu_events_settle(event, (unsigned int)n, can_kernel, error, sizeof(error));
}

START_TEST(timers_are_everywhere)
{
	uint64_t tick_ns = trc_cpu_tick_ns();

	ck_assert(tick_ns >= 100000 && tick_ns <= 10000000);
	ck_assert_int_eq(settle("timer", TRC_SAMPLE_BY_AUTO, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_TIMER);
	ck_assert_str_eq(event->note, "");
	ck_assert_int_eq(settle("timer:20000", TRC_SAMPLE_BY_AUTO, true), 0);
	/* From the beginning of each thread. */
	ck_assert_int_eq(strncmp(event->note, "at most ", 8), 0);
	ck_assert_ptr_nonnull(strstr(event->note, "samples a second"));
}
END_TEST

START_TEST(auto_is_something)
{
	ck_assert_int_eq(settle("auto", TRC_SAMPLE_BY_AUTO, true), 0);
	ck_assert(!event->is_auto);
	if (event->is_timer) {
		ck_assert_str_eq(event->name, "timer");
		ck_assert_int_eq(event->how, TRC_SAMPLE_TIMER);
		ck_assert_uint_eq(event->period, 10000000);
		ck_assert_ptr_nonnull(strstr(event->note, "timer instead of cpu-clock: "));
	} else {
		ck_assert_str_eq(event->name, "cpu-clock");
		ck_assert_int_eq(event->how, 4 * 1000000 >= trc_cpu_tick_ns() ? TRC_SAMPLE_TIMER
									      : TRC_SAMPLE_SIGNAL);
		ck_assert_uint_eq(event->period, 1000000);
	}
}
END_TEST

/* A timer as long as a sample stands for four periods at most, and nobody asked for the kernel. */
START_TEST(auto_by_rate)
{
	char list[48], note[160];

	ck_assert_int_eq(settle("auto", TRC_SAMPLE_BY_AUTO, true), 0);
	if (event->is_timer)
		return;
	snprintf(list, sizeof(list), "auto:%llu", (unsigned long long)trc_cpu_tick_ns() / 4);
	ck_assert_int_eq(settle(list, TRC_SAMPLE_BY_AUTO, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_TIMER);
	ck_assert_str_eq(event->name, "cpu-clock");
	snprintf(note, sizeof(note),
		 "counters for each thread's first %llu ms, then timers: at most %llu "
		 "samples a second",
		 (unsigned long long)trc_cpu_tick_ns() / 10000,
		 1000000000 / (unsigned long long)trc_cpu_tick_ns());
	ck_assert_str_eq(event->note, note);
	ck_assert_int_eq(settle(list, TRC_SAMPLE_BY_SIGNAL, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_TIMER);
	ck_assert_int_eq(settle(list, TRC_SAMPLE_BY_KERNEL, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_KERNEL);
	snprintf(list, sizeof(list), "auto:%llu", (unsigned long long)trc_cpu_tick_ns() / 4 - 1);
	ck_assert_int_eq(settle(list, TRC_SAMPLE_BY_AUTO, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_SIGNAL);
}
END_TEST

START_TEST(by_rate)
{
	if (settle("cpu-clock:200000", TRC_SAMPLE_BY_AUTO, true)) {
		ck_assert_ptr_nonnull(strstr(error, "what works: timer"));
		return;
	}
	ck_assert_int_eq(event->how, TRC_SAMPLE_SIGNAL);
	ck_assert_int_eq(settle("cpu-clock:100000", TRC_SAMPLE_BY_AUTO, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_KERNEL);
	ck_assert_int_eq(settle("cpu-clock:100000", TRC_SAMPLE_BY_AUTO, false), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_SIGNAL);
	ck_assert_int_eq(settle("cpu-clock:100000", TRC_SAMPLE_BY_SIGNAL, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_SIGNAL);
	ck_assert_int_eq(settle("cpu-clock", TRC_SAMPLE_BY_KERNEL, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_KERNEL);
	ck_assert_int_lt(settle("cpu-clock", TRC_SAMPLE_BY_KERNEL, false), 0);
	ck_assert_ptr_nonnull(
		strstr(error, "cpu-clock: nobody here can take what the kernel samples"));
}
END_TEST

/* A signal that wakes a thread makes a switch of its own. */
START_TEST(switches)
{
	if (settle("context-switches:1", TRC_SAMPLE_BY_AUTO, true)) {
		ck_assert_ptr_nonnull(strstr(error, "what works: timer"));
		return;
	}
	ck_assert_int_eq(event->how, TRC_SAMPLE_KERNEL);
	ck_assert_int_eq(settle("context-switches", TRC_SAMPLE_BY_AUTO, true), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_KERNEL);
	ck_assert_int_eq(settle("context-switches:1", TRC_SAMPLE_BY_SIGNAL, true), -EINVAL);
	ck_assert_str_eq(error, "context-switches:1: a sample's signal makes one more switch: by "
				"signals 2 at least, by the kernel 1");
	ck_assert_int_eq(settle("context-switches:1", TRC_SAMPLE_BY_AUTO, false), -EINVAL);
	ck_assert_int_eq(settle("context-switches:2", TRC_SAMPLE_BY_AUTO, false), 0);
	ck_assert_int_eq(event->how, TRC_SAMPLE_SIGNAL);
	ck_assert_int_eq(settle("context-switches", TRC_SAMPLE_BY_AUTO, false), 0);
	/* Two take turns. */
	ck_assert_int_eq(
		settle("context-switches:3,timer,context-switches:k:9", TRC_SAMPLE_BY_SIGNAL, true),
		-EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "context-switches:3: "));
	ck_assert_ptr_nonnull(strstr(error, "by signals 4 at least with so many of them"));
	ck_assert_int_eq(
		settle("context-switches:4,timer,context-switches:k:9", TRC_SAMPLE_BY_SIGNAL, true),
		0);
}
END_TEST

/* What nobody may have in the kernel is what was asked for in user mode, or auto is. */
START_TEST(twice_after_all)
{
	int clock = settle("cpu-clock", TRC_SAMPLE_BY_AUTO, true);
	bool user_only = event->exclude_kernel;

	if (clock)
		return;
	ck_assert_int_eq(settle("cpu-clock,cpu-clock:u", TRC_SAMPLE_BY_AUTO, true),
			 user_only ? -EINVAL : 0);
	if (user_only)
		ck_assert_str_eq(error, "cpu-clock:u: twice the same event: here, cpu-clock is no "
					"other");
	ck_assert_int_eq(settle(user_only ? "auto,cpu-clock:u" : "auto,cpu-clock:uk",
				TRC_SAMPLE_BY_AUTO, true),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, ": twice the same event: here, cpu-clock is no other"));
}
END_TEST

/* Either there is such a counter, or the sentence says why not. */
START_TEST(counters)
{
	if (!settle("cycles", TRC_SAMPLE_BY_AUTO, true)) {
		ck_assert_int_eq(event->how, TRC_SAMPLE_SIGNAL);
		return;
	}
	ck_assert_ptr_nonnull(strstr(error, "cycles: "));
	ck_assert_ptr_nonnull(strstr(error, "; what works: timer"));
}
END_TEST

static const struct {
	const char *event;
	int err;
	const char *says;
} reasons[] = {
	{"cycles", -ENOENT, "cycles: no hardware counters (PMU) here"},
	{"cycles", -EOPNOTSUPP, "cycles: no hardware counters (PMU) here"},
	{"rffff", -EINVAL, "rffff: the processor's counters know no such event"},
	{"cpu-clock:u", -EPERM, "cpu-clock:u: "},
	{"cpu-clock:u", -EPERM, "perf_event_paranoid is "},
	{"auto", -ENOSYS, "cpu-clock: no perf in this kernel, or hidden by a seccomp filter"},
	{"page-faults", -EMFILE, "page-faults: Too many open files"},
	{"page-faults", -EMFILE, "; what works: timer"},
};

START_TEST(explained)
{
	ck_assert_int_eq(parse(reasons[_i].event, 0), 1);
	trc_cpu_event_explain(event, reasons[_i].err, error, sizeof(error));
	ck_assert_msg(strstr(error, reasons[_i].says) != NULL, "%s", error);
}
END_TEST

/* Forbidden in the kernel, or not that precise: but there is none at all. */
START_TEST(the_reason_that_decides)
{
	bool counts = !settle("cycles:u", TRC_SAMPLE_BY_AUTO, true);
	static const struct {
		const char *event;
		int err;
	} first[] = {{"cycles:ppp", -EOPNOTSUPP}, {"cycles", -EACCES}, {"cycles:k", -EACCES}};

	if (strstr(error, "forbidden by a seccomp filter"))
		return;
	for (unsigned int i = 0; i < sizeof(first) / sizeof(*first); i++) {
		ck_assert_int_eq(parse(first[i].event, 0), 1);
		trc_cpu_event_explain(event, first[i].err, error, sizeof(error));
		ck_assert_msg(!strstr(error, "no hardware counters (PMU) here") == counts, "%s",
			      error);
	}
	ck_assert_int_eq(parse("cycles:ppp", 0), 1);
	trc_cpu_event_explain(event, -EOPNOTSUPP, error, sizeof(error));
	ck_assert_msg(!strstr(error, "tells the place that precisely") == !counts, "%s", error);
}
END_TEST

START_TEST(short_errors)
{
	char text[9] = "12345678";

	ck_assert_int_eq(trc_cpu_events_parse("cpu", 0, TRC_SAMPLE_BY_AUTO, event, text, 6),
			 -EINVAL);
	ck_assert_str_eq(text, "cpu: ");
	ck_assert_int_eq(text[6], '7');
	ck_assert_int_eq(parse("cycles", 0), 1);
	trc_cpu_event_explain(event, -ENOENT, text, 6);
	ck_assert_str_eq(text, "cycle");
	ck_assert_int_eq(text[6], '7');
}
END_TEST

/* ---- what trace-record tells the recorded process of clocks that the kernel samples ----- */

/* Settles as a process does that perf allows all modes, or user mode alone. */
static void settle_as(struct trc_cpu_event *e, bool all_modes)
{
	e->first_by_signal = e->is_clock;
	if (!all_modes && !e->said_modes)
		e->exclude_kernel = e->exclude_hv = true;
}

static const struct {
	const char *events;
	bool records_all, runs_all; /* what trace-record may count, and the process */
	const char *told;
	const char *same; /* those whose first samples the process takes; 0 or 1 for each */
} kernel_events[] = {
	{"cpu-clock", true, true, "cpu-clock:1000000", "1"},
	{"cpu-clock", false, false, "user;cpu-clock:1000000", "1"},
	{"cpu-clock", true, false, "cpu-clock:1000000", "0"},
	{"cpu-clock", false, true, "user;cpu-clock:1000000", "0"},
	{"cpu-clock:u", true, true, "cpu-clock:u:1000000", "1"},
	{"cpu-clock:u", true, false, "cpu-clock:u:1000000", "1"},
	{"cpu-clock:u", false, false, "cpu-clock:u:1000000", "1"},
	{"cpu-clock:20000,task-clock:u", false, false, "user;cpu-clock:20000,task-clock:u:1000000",
	 "11"},
	{"task-clock:u,cpu-clock:20000", false, false, "user;task-clock:u:1000000,cpu-clock:20000",
	 "11"},
	{"task-clock:u,cpu-clock", false, true, "user;task-clock:u:1000000,cpu-clock:1000000",
	 "10"},
	{"task-clock:u,cpu-clock", true, false, "task-clock:u:1000000,cpu-clock:1000000", "10"},
	{"task-clock,cpu-clock", false, false, "user;task-clock:1000000,cpu-clock:1000000", "11"},
	{"page-faults", true, true, "page-faults:10", "0"},
};

START_TEST(first_samples_of_the_same_clock_alone)
{
	char list[128] = "";
	bool user_only;
	int n = parse(kernel_events[_i].events, 0);

	ck_assert_int_ge(n, 1);
	for (int i = 0; i < n; i++) {
		settle_as(&event[i], kernel_events[_i].records_all);
		trc_kernel_events_add(list, sizeof(list), &event[i]);
	}
	ck_assert_str_eq(list, kernel_events[_i].told);
	ck_assert_int_eq(trc_kernel_events_parse(list, event, &user_only, error, sizeof(error)), n);
	for (int i = 0; i < n; i++) {
		settle_as(&event[i], kernel_events[_i].runs_all);
		ck_assert_int_eq(event[i].by, TRC_SAMPLE_BY_KERNEL);
		ck_assert_int_eq(trc_kernel_event_is_same(&event[i], user_only),
				 kernel_events[_i].same[i] == '1');
	}
}
END_TEST

START_TEST(no_kernel_events)
{
	static const char *const wrong[] = {"user;cpu", "user;user;cpu-clock", "user",
					    "kernel;cpu-clock"};
	char list[20] = "";
	bool user_only = true;

	ck_assert_int_eq(trc_kernel_events_parse(NULL, event, &user_only, error, sizeof(error)), 0);
	ck_assert(!user_only);
	ck_assert_int_eq(trc_kernel_events_parse("user;", event, &user_only, error, sizeof(error)),
			 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert_int_eq(
			trc_kernel_events_parse(wrong[i], event, &user_only, error, sizeof(error)),
			-EINVAL);
	/* Cut, and not written beyond. */
	ck_assert_int_eq(parse("cpu-clock", 0), 1);
	settle_as(event, false);
	trc_kernel_events_add(list, 12, event);
	ck_assert_str_eq(list, "user;cpu-cl");
	trc_kernel_events_add(list, 12, event);
	ck_assert_str_eq(list, "user;cpu-cl");
}
END_TEST

#define N(array) (int)(sizeof(array) / sizeof(*(array)))

int main(void)
{
	Suite *suite = suite_create("cpu_event");
	TCase *tcase = tcase_create("cpu_event");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, understood, 0, N(good));
	tcase_add_test(tcase, lists);
	tcase_add_test(tcase, modes);
	tcase_add_loop_test(tcase, refused, 0, N(bad));
	tcase_add_test(tcase, long_names);
	tcase_add_test(tcase, how);
	tcase_add_test(tcase, timers_are_everywhere);
	tcase_add_test(tcase, auto_is_something);
	tcase_add_test(tcase, auto_by_rate);
	tcase_add_test(tcase, by_rate);
	tcase_add_test(tcase, switches);
	tcase_add_test(tcase, twice_after_all);
	tcase_add_test(tcase, counters);
	tcase_add_loop_test(tcase, explained, 0, N(reasons));
	tcase_add_test(tcase, the_reason_that_decides);
	tcase_add_test(tcase, short_errors);
	tcase_add_loop_test(tcase, first_samples_of_the_same_clock_alone, 0, N(kernel_events));
	tcase_add_test(tcase, no_kernel_events);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
