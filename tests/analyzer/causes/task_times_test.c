/*
 * task_times_test.c - who worked for a task, and what that time went to, for traces that are written as text; and
 * that it is what --why has of the same time, and what --task selects.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/causes/causes.h"
#include "analyzer/causes/task_times.h"
#include "analyzer/model/selection.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 creator=1\n"                                                             \
	"thread 3 tid=103 creator=1\n"

/* A line for each row: "task t2 100-300", and "task t2 waiting mutex 50"; of no thread t0. */
static const struct times_case {
	const char *what, *text, *spans, *times;
} cases[] = {
	{"a task of one thread: what it waited for, and from when it was woken; the rest it did not wait",
	 THREADS "@1000 thread=1 task_begin task=7 type=\"t\"\n"
		 "@1100 thread=1 park reason=mutex object=0x10 holder=2\n"
		 "@1500 thread=2 unlock reason=mutex object=0x10 waiters=1\n"
		 "@1530 thread=1 resume reason=mutex object=0x10\n"
		 "@1600 thread=1 park reason=sleep\n"
		 "@1700 thread=1 resume reason=sleep\n"
		 "@2000 thread=1 task_end task=7\n",
	 "7 t1 1000-2000\n",
	 "7 t1 active 470\n"
	 "7 t1 waiting mutex 400\n"
	 "7 t1 waiting sleep 100\n"
	 "7 t1 woken mutex 30\n"},

	{"a wait is cut where the task begins and ends",
	 THREADS "@1000 thread=2 park reason=cond object=0x30\n"
		 "@1200 thread=1 task_begin task=7 type=\"t\"\n"
		 "@1300 thread=1 unpark reason=cond object=0x30 count=1\n"
		 "@1350 thread=2 resume reason=cond object=0x30\n"
		 "@1400 thread=2 park reason=sleep\n"
		 "@1500 thread=2 resume reason=sleep\n"
		 "@1500 thread=2 task_end task=7\n",
	 "7 t2 1200-1500\n",
	 "7 t2 active 50\n"
	 "7 t2 waiting cond 100\n"
	 "7 t2 waiting sleep 100\n"
	 "7 t2 woken cond 50\n"},

	{"with switch records: it ran, could have run, or was off its proc",
	 THREADS "@900 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000 proc=0 thread=1 task_begin task=7 type=\"t\"\n"
		 "@300000 proc=0 source=kernel thread=1 proc_stop preempted=1\n"
		 "@500000 proc=0 source=kernel thread=1 proc_start\n"
		 "@600000 proc=0 source=kernel thread=1 proc_stop preempted=0\n"
		 "@900000 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000000 proc=0 thread=1 task_end task=7\n",
	 "7 t1 1000-1000000\n",
	 "7 t1 running 499000\n"
	 "7 t1 runnable 200000\n"
	 "7 t1 off_cpu 300000\n"},

	{"nobody works for a task that is queued: who ends it had another one",
	 THREADS "@1000 thread=1 task_begin task=6 type=\"t\"\n"
		 "@1000 thread=1 task_begin task=7 type=\"t\"\n"
		 "@1400 thread=2 task_end task=6\n"
		 "@1500 thread=2 task_end task=7\n",
	 "6 t2 1000-1400\n"
	 "7 t2 1400-1500\n",
	 "6 t2 active 400\n"
	 "7 t2 active 100\n"
	 "7 t0 unworked 400\n"},

	{"threads that work for it at once, each with its own time; a child's are the task's as well",
	 THREADS "@1000 thread=1 task_begin task=7 type=\"t\"\n"
		 "@1100 thread=2 region_begin task=7 type=\"r\"\n"
		 "@1200 thread=3 task_begin task=8 parent=7 type=\"c\"\n"
		 "@1250 thread=3 park reason=sleep\n"
		 "@1260 thread=3 resume reason=sleep\n"
		 "@1300 thread=3 task_end task=8\n"
		 "@1400 thread=2 region_end\n"
		 "@2000 thread=1 task_end task=7\n",
	 "7 t1 1000-2000\n"
	 "7 t2 1100-1400\n"
	 "7 t3 1200-1300\n"
	 "8 t3 1200-1300\n",
	 "7 t1 active 1000\n"
	 "7 t2 active 300\n"
	 "7 t3 active 90\n"
	 "7 t3 waiting sleep 10\n"
	 "8 t3 active 90\n"
	 "8 t3 waiting sleep 10\n"},

	{"two children that one thread ended, which others began: each has the time since the last end of a "
	 "task that is not the family's",
	 THREADS "@1000 thread=1 task_begin task=7 type=\"t\"\n"
		 "@1010 thread=1 task_begin task=8 parent=7 type=\"c\"\n"
		 "@1020 thread=1 task_begin task=9 parent=7 type=\"c\"\n"
		 "@1100 thread=2 task_end task=8\n"
		 "@1200 thread=2 task_end task=9\n"
		 "@1300 thread=1 task_end task=7\n",
	 "7 t1 1000-1300\n"
	 "7 t2 1010-1200\n"
	 "8 t2 1010-1100\n"
	 "9 t2 1100-1200\n",
	 "7 t1 active 300\n"
	 "7 t2 active 190\n"
	 "8 t2 active 90\n"
	 "9 t2 active 100\n"
	 "9 t0 unworked 80\n"},

	{"a fiber works for a task as long as some thread runs it",
	 THREADS "@1000 thread=1 fiber_switch fiber=5 name=\"a\"\n"
		 "@1100 thread=1 task_begin task=7 type=\"t\"\n"
		 "@1200 thread=1 fiber_switch left=5\n"
		 "@1600 thread=2 fiber_switch fiber=5\n"
		 "@1700 thread=2 task_end task=7\n"
		 "@1800 thread=2 fiber_switch left=5\n",
	 "7 t1 1100-1200\n"
	 "7 t2 1600-1700\n",
	 "7 t1 active 100\n"
	 "7 t2 active 100\n"
	 "7 t0 unworked 400\n"},

	{"tasks that lie below themselves",
	 THREADS "@1000 thread=1 task_begin task=7 parent=8 type=\"t\"\n"
		 "@1010 thread=2 task_begin task=8 parent=7 type=\"c\"\n"
		 "@1100 thread=2 task_end task=8\n"
		 "@1300 thread=1 task_end task=7\n",
	 "7 t1 1000-1300\n"
	 "7 t2 1010-1100\n"
	 "8 t1 1010-1100\n"
	 "8 t2 1010-1100\n",
	 "7 t1 active 300\n"
	 "7 t2 active 90\n"
	 "8 t1 active 90\n"
	 "8 t2 active 90\n"},

	{"from before the trace, or up to its end",
	 THREADS "@1000 thread=2 task_end task=6\n"
		 "@1100 thread=1 task_begin task=7 type=\"t\"\n"
		 "@1500 thread=3 log message=\"x\"\n",
	 "6 t2 0-1000\n"
	 "7 t1 1100-1500\n",
	 "6 t2 active 1000\n"
	 "7 t1 active 400\n"},
};

/* A line for each row: "r1 t2 waiting mutex 50"; of no thread t0. */
static const struct region_case {
	const char *what, *text, *times;
} regions[] = {
	{"regions within each other: what the thread did, up to where each ends",
	 THREADS "@1000 thread=1 region_begin type=\"outer\"\n"
		 "@1100 thread=1 park reason=mutex object=0x10 holder=2\n"
		 "@1500 thread=2 unlock reason=mutex object=0x10 waiters=1\n"
		 "@1530 thread=1 resume reason=mutex object=0x10\n"
		 "@1600 thread=1 region_begin type=\"inner\"\n"
		 "@1620 thread=1 park reason=sleep\n"
		 "@1700 thread=1 resume reason=sleep\n"
		 "@1800 thread=1 region_end\n"
		 "@2000 thread=1 region_end\n",
	 "r1 t1 active 490\n"
	 "r1 t1 waiting mutex 400\n"
	 "r1 t1 waiting sleep 80\n"
	 "r1 t1 woken mutex 30\n"
	 "r2 t1 active 120\n"
	 "r2 t1 waiting sleep 80\n"},

	{"a wait is cut where the region begins and ends; with switch records it ran, or could not",
	 THREADS "@900 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000 proc=0 thread=1 region_begin type=\"r\"\n"
		 "@300000 proc=0 source=kernel thread=1 proc_stop preempted=1\n"
		 "@500000 proc=0 source=kernel thread=1 proc_start\n"
		 "@1000000 proc=0 thread=1 region_end\n",
	 "r1 t1 running 799000\n"
	 "r1 t1 runnable 200000\n"},

	{"a fiber's: of the threads that ran it; else nobody did",
	 THREADS "@1000 thread=1 fiber_switch fiber=5 name=\"a\"\n"
		 "@1100 thread=1 region_begin type=\"r\"\n"
		 "@1200 thread=1 fiber_switch left=5\n"
		 "@1300 thread=1 park reason=sleep\n"
		 "@1400 thread=1 resume reason=sleep\n"
		 "@1600 thread=2 fiber_switch fiber=5\n"
		 "@1700 thread=2 region_end\n"
		 "@1800 thread=2 fiber_switch left=5\n",
	 "r1 t1 active 100\n"
	 "r1 t2 active 100\n"
	 "r1 t0 unworked 400\n"},

	{"from before the trace, or up to its end",
	 THREADS "@1000 thread=2 region_end\n"
		 "@1100 thread=1 region_begin type=\"r\"\n"
		 "@1500 thread=3 log message=\"x\"\n",
	 "r1 t2 active 1000\n"
	 "r2 t1 active 400\n"},
};

static struct trc_model *model_of_case(const struct times_case *test, struct trc_array *spans,
				       struct trc_array *times)
{
	struct trc_model *m =
		model_of(test->text, TRC_CAUSES_PARTS | TRC_PART_USER | TRC_PART_FIBERS);
	struct trc_error error = {""};

	*spans = *times = (struct trc_array){0};
	ck_assert_msg(!trc_task_spans_list(m, spans, &error), "%s", error.text);
	ck_assert_msg(!trc_task_times_list(m, times, &error), "%s", error.text);
	return m;
}

START_TEST(test_case)
{
	struct trc_array spans, times;
	struct trc_model *m = model_of_case(&cases[_i], &spans, &times);
	struct text told = {.n = 0};

	for (size_t i = 0; i < spans.n; i++) {
		const struct trc_task_span *span = (struct trc_task_span *)spans.row + i;

		add(&told, "%" PRIu64 " t%" PRIu32 " %" PRId64 "-%" PRId64 "\n", span->task,
		    span->thread, span->from_ns, span->to_ns);
	}
	ck_assert_msg(!strcmp(told.at, cases[_i].spans), "%s:\n%snot:\n%s", cases[_i].what, told.at,
		      cases[_i].spans);
	told = (struct text){.n = 0};
	for (size_t i = 0; i < times.n; i++) {
		const struct trc_task_time *time = (struct trc_task_time *)times.row + i;

		add(&told, "%" PRIu64 " t%" PRIu32 " %s", time->task, time->thread,
		    trc_task_state_name(time->state));
		if (time->reason)
			add(&told, " %s",
			    trc_reader_reason_name(trc_model_reader(m), time->reason));
		add(&told, " %" PRId64 "\n", time->ns);
	}
	ck_assert_msg(!strcmp(told.at, cases[_i].times), "%s:\n%snot:\n%s", cases[_i].what, told.at,
		      cases[_i].times);
	trc_array_free(&spans);
	trc_array_free(&times);
	model_close(m);
}
END_TEST

START_TEST(test_region)
{
	const struct region_case *test = &regions[_i];
	struct trc_model *m =
		model_of(test->text, TRC_CAUSES_PARTS | TRC_PART_USER | TRC_PART_FIBERS);
	struct trc_array times = {0};
	struct trc_error error = {""};
	struct text told = {.n = 0};

	ck_assert_msg(!trc_region_times_list(m, &times, &error), "%s", error.text);
	for (size_t i = 0; i < times.n; i++) {
		const struct trc_task_time *time = (struct trc_task_time *)times.row + i;

		add(&told, "r%" PRIu64 " t%" PRIu32 " %s", time->task, time->thread,
		    trc_task_state_name(time->state));
		if (time->reason)
			add(&told, " %s",
			    trc_reader_reason_name(trc_model_reader(m), time->reason));
		add(&told, " %" PRId64 "\n", time->ns);
	}
	ck_assert_msg(!strcmp(told.at, test->times), "%s:\n%snot:\n%s", test->what, told.at,
		      test->times);
	trc_array_free(&times);
	model_close(m);
}
END_TEST

/* What the thread's rows of the table say of a reason, or 0: of no wait. */
static int64_t told_ns(const struct trc_array *times, uint64_t task, uint32_t thread,
		       unsigned int reason)
{
	const struct trc_task_time *time = times->row;
	int64_t ns = 0;

	for (size_t i = 0; i < times->n; i++)
		if (time[i].task == task && time[i].thread == thread && time[i].reason == reason)
			ns += time[i].ns;
	return ns;
}

/* What --why has of these spans, which are those of one thread for one task: the rows that no row explains. */
static void compare_with_why(struct trc_causes *causes, const struct trc_task_span *span, size_t n,
			     const struct trc_array *times)
{
	int64_t ns[TRC_REASON_COUNT] = {0};

	for (size_t i = 0; i < n; i++) {
		const struct trc_cause *row;
		size_t n_rows;

		ck_assert_int_eq(trc_causes_of_thread(causes, span[i].thread, span[i].from_ns,
						      span[i].to_ns, &row, &n_rows),
				 0);
		for (size_t j = 0; j < n_rows; j++)
			if (!row[j].depth)
				ns[row[j].reason] += row[j].to_ns - row[j].from_ns;
	}
	for (unsigned int reason = 0; reason < TRC_REASON_COUNT; reason++)
		ck_assert_msg(ns[reason] == told_ns(times, span->task, span->thread, reason),
			      "task %" PRIu64 ", thread %" PRIu32 ", reason %u: --why has %" PRId64,
			      span->task, span->thread, reason, ns[reason]);
}

START_TEST(as_why)
{
	struct trc_array spans, times;
	struct trc_model *m = model_of_case(&cases[_i], &spans, &times);
	const struct trc_task_span *span = spans.row;
	struct trc_causes *causes;
	size_t n;

	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	for (size_t i = 0; i < spans.n; i += n) {
		for (n = 1; i + n < spans.n && span[i + n].task == span[i].task &&
			    span[i + n].thread == span[i].thread;
		     n++)
			;
		compare_with_why(causes, &span[i], n, &times);
	}
	trc_causes_close(causes);
	trc_array_free(&spans);
	trc_array_free(&times);
	model_close(m);
}
END_TEST

/* The time of a thread that --task ID leaves is that of its spans. */
START_TEST(as_selected)
{
	struct trc_array spans, times;
	struct trc_model *m = model_of_case(&cases[_i], &spans, &times);
	const struct trc_task_span *span = spans.row;
	size_t n_tasks;
	const struct trc_task *task = trc_model_tasks(m, &n_tasks);

	for (size_t t = 0; t < n_tasks; t++) {
		struct trc_selection s = {0};
		struct trc_error error;
		char id[32];

		snprintf(id, sizeof(id), "%" PRIu64, task[t].task);
		ck_assert_int_eq(trc_selection_ask_task(&s, id, &error), 0);
		ck_assert_int_eq(trc_selection_find(&s, m, &error), 0);
		for (uint32_t thread = 1; thread <= 3; thread++) {
			int64_t ns = 0;

			for (size_t i = 0; i < spans.n; i++)
				if (span[i].task == task[t].task && span[i].thread == thread)
					ns += span[i].to_ns - span[i].from_ns;
			ck_assert_int_eq(ns, trc_selection_ns(&s, thread, trc_model_start_ns(m),
							      trc_model_end_ns(m)));
		}
		trc_selection_free(&s);
	}
	trc_array_free(&spans);
	trc_array_free(&times);
	model_close(m);
}
END_TEST

/* Each task lies in the one before: 64 generations behind it are the task's, and no more. */
START_TEST(a_chain_of_tasks)
{
	enum { DEPTH = 500, GENERATIONS = 64 };
	char *text = malloc(DEPTH * 200 + 1000);
	struct trc_array spans = {0}, times = {0};
	struct trc_error error = {""};
	const struct trc_task_span *span;
	struct trc_model *m;
	size_t n = 0;

	ck_assert_ptr_nonnull(text);
	n += (size_t)sprintf(text, "thread 1 tid=101 name=\"main\"\n");
	for (int i = 1; i <= DEPTH; i++)
		n += (size_t)sprintf(text + n, "thread %d tid=%d creator=1\n", 1 + i, 101 + i);
	for (int i = 1; i <= DEPTH; i++)
		n += (size_t)sprintf(text + n,
				     "@%d thread=%d task_begin task=%d parent=%d type=\"t\"\n", i,
				     1 + i, i, i - 1);
	sprintf(text + n, "@9000 thread=1 log message=\"x\"\n");
	m = model_of(text, TRC_PART_ALL);
	ck_assert_int_eq(trc_task_spans_list(m, &spans, &error), 0);
	ck_assert_int_eq(trc_task_times_list(m, &times, &error), 0);
	span = spans.row;
	for (n = 0; n < spans.n && span[n].task == 1; n++)
		ck_assert_uint_eq(span[n].thread, n + 2);
	ck_assert_uint_eq(n, GENERATIONS + 1);
	ck_assert_uint_le(spans.n, (size_t)DEPTH * (GENERATIONS + 1));
	trc_array_free(&spans);
	trc_array_free(&times);
	model_close(m);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task times");
	TCase *tcase = tcase_create("task times");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, test_case, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tcase, test_region, 0, sizeof(regions) / sizeof(regions[0]));
	tcase_add_loop_test(tcase, as_why, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tcase, as_selected, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, a_chain_of_tasks);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
