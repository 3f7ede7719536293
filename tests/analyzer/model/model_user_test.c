/* model_user_test.c - tasks, regions, logs, counters, and stretches on a proc. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"
#include "format/clockmap.h"
#include "model_fixture.h"
#include "tests/suite.h"

#define THREADS                                                                                    \
	"thread 1 tid=101\n"                                                                       \
	"thread 2 tid=102 creator=1\n"

START_TEST(test_tasks)
{
	struct trc_model *m = model_of(
		THREADS "@1000 thread=1 task_begin task=7 type=\"request\"\n"
			"@1500 thread=1 task_begin task=8 parent=7 type=\"parse\"\n"
			"@2000 proc=1 thread=2 task_end task=7\n"
			"@2500 proc=1 thread=2 task_end task=99\n",
		TRC_PART_USER);
	size_t n;
	const struct trc_task *task = trc_model_tasks(m, &n);

	ck_assert_uint_eq(n, 3);
	/* One that began before the trace comes first. */
	ck_assert_uint_eq(task[0].task, 99);
	ck_assert_int_eq(task[0].start_ns, TRC_NEVER);
	ck_assert_int_eq(task[0].end_ns, 2500);
	ck_assert_str_eq(task[0].type, "");
	ck_assert_uint_eq(task[1].task, 7);
	ck_assert_str_eq(task[1].type, "request");
	ck_assert_int_eq(task[1].start_ns, 1000);
	ck_assert_int_eq(task[1].end_ns, 2000);
	ck_assert_uint_eq(task[1].start_thread, 1);
	ck_assert_uint_eq(task[1].end_thread, 2);
	ck_assert_uint_eq(task[2].parent, 7);
	ck_assert_int_eq(task[2].end_ns, TRC_NEVER);
	model_close(m);
}
END_TEST

/* What each region must be: sorted by start, those from before the trace first. */
static const struct {
	const char *type;
	uint32_t thread, depth;
	int64_t start_ns, end_ns;
} regions[] = {
	{"", 1, 1, TRC_NEVER, 1500},      /* two were open when the trace began, ... */
	{"", 1, 0, TRC_NEVER, 2500},
	{"in two", 1, 2, 1000, 1400},     /* ... so this one lay in both ... */
	{"in one", 1, 1, 2000, 2400},     /* ... and this one in the outer */
	{"outer", 1, 0, 3000, 6000},
	{"other", 2, 0, 3500, 9000},
	{"inner", 1, 1, 4000, 5000},
	{"left open", 1, 0, 7000, TRC_NEVER},
};

START_TEST(test_regions)
{
	struct trc_model *m =
		model_of(THREADS "@1000 thread=1 region_begin type=\"in two\"\n"
				 "@1400 thread=1 region_end\n"
				 "@1500 thread=1 region_end\n"
				 "@2000 thread=1 region_begin type=\"in one\"\n"
				 "@2400 thread=1 region_end\n"
				 "@2500 thread=1 region_end\n"
				 "@3000 thread=1 region_begin task=5 type=\"outer\"\n"
				 "@3500 proc=1 thread=2 region_begin type=\"other\"\n"
				 "@4000 thread=1 region_begin type=\"inner\"\n"
				 "@5000 thread=1 region_end\n"
				 "@6000 thread=1 region_end\n"
				 "@7000 thread=1 region_begin type=\"left open\"\n"
				 "@9000 proc=1 thread=2 region_end\n",
			 TRC_PART_USER);
	size_t n;
	const struct trc_region *region = trc_model_regions(m, &n);

	ck_assert_uint_eq(n, sizeof(regions) / sizeof(regions[0]));
	for (size_t i = 0; i < n; i++) {
		ck_assert_str_eq(region[i].type, regions[i].type);
		ck_assert_uint_eq(region[i].thread, regions[i].thread);
		ck_assert_uint_eq(region[i].depth, regions[i].depth);
		ck_assert_int_eq(region[i].start_ns, regions[i].start_ns);
		ck_assert_int_eq(region[i].end_ns, regions[i].end_ns);
	}
	ck_assert_uint_eq(region[4].task, 5);
	model_close(m);
}
END_TEST

START_TEST(test_logs_and_counters)
{
	struct trc_model *m = model_of(
		THREADS "@1000 thread=1 log task=3 category=\"net\" message=\"a\\x00b\"\n"
			"@2000 proc=1 thread=2 log message=\"\"\n"
			"@3000 thread=1 counter name=\"queue\" value=-5\n",
		TRC_PART_USER);
	size_t n;
	const struct trc_log *log = trc_model_logs(m, &n);
	const struct trc_counter *counter;

	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(log[0].message, "a\xef\xbf\xbd" "b");
	ck_assert_str_eq(log[0].category, "net");
	ck_assert_uint_eq(log[0].task, 3);
	ck_assert_str_eq(log[1].message, "");
	ck_assert_uint_eq(log[1].thread, 2);
	counter = trc_model_counters(m, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(counter->name, "queue");
	ck_assert_int_eq(counter->value, -5);
	model_close(m);
}
END_TEST

static const struct {
	const char *what;
	const char *text;
	struct {
		uint32_t thread, proc;
		int64_t start_ns, end_ns;
		bool preempted;
	} row[4];
	int64_t on_cpu_ns; /* of thread 1 */
} sched[] = {
	{"on and off",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@5000 source=kernel thread=1 proc_stop preempted=1\n"
	 "@6000 source=kernel proc=1 thread=1 proc_start\n"
	 "@7000 source=kernel proc=1 thread=1 proc_stop\n",
	 {{1, 0, 1000, 5000, true}, {1, 1, 6000, 7000, false}},
	 5000},
	{"on its proc before the trace, and still there when it ends",
	 "@2000 source=kernel thread=1 proc_stop\n"
	 "@6000 source=kernel thread=1 proc_start\n"
	 "@9000 thread=1 log\n",
	 {{1, 0, TRC_NEVER, 2000, false}, {1, 0, 6000, TRC_NEVER, false}},
	 5000},
	{"an event just after the stop moves it; one long before a start moves that",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@5000 source=kernel thread=1 proc_stop\n"
	 "@5400 thread=1 log\n"
	 "@900000 thread=1 log\n"
	 "@900500 source=kernel thread=1 proc_start\n"
	 "@901000 source=kernel thread=1 proc_stop\n",
	 {{1, 0, 1000, 5400, false}, {1, 0, 900000, 901000, false}},
	 5400},
	{"a thread that ended is on no proc any more",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@2000 source=kernel thread=1 proc_stop\n"
	 "@300000 source=kernel thread=1 proc_start\n"
	 "@304000 thread=1 thread_exit\n"
	 "@900000 thread=2 log\n",
	 {{1, 0, 1000, 2000, false}, {1, 0, 300000, 304000, false}},
	 5000},
	{"a stop without a start, of a thread that is younger than the trace: from its start on",
	 "thread 1 tid=101 start=3000\n"
	 "@3000 thread=1 thread_start tid=101\n"
	 "@5000 source=kernel thread=1 proc_stop\n"
	 "@6000 source=kernel thread=1 proc_start\n"
	 "@6500 source=kernel thread=1 proc_stop\n",
	 {{1, 0, 3000, 5000, false}, {1, 0, 6000, 6500, false}},
	 2500},
	{"a start that was lost between two stops: nobody knows how long that was",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@2000 source=kernel thread=1 proc_stop\n"
	 "@500000 source=kernel proc=1 thread=1 proc_stop\n",
	 {{1, 0, 1000, 2000, false}, {1, 1, 500000, 500000, false}},
	 1000},
	{"a stop that was lost ends with the next start",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@4000 source=kernel proc=1 thread=1 proc_start\n"
	 "@5000 source=kernel proc=1 thread=1 proc_stop\n",
	 {{1, 0, 1000, 4000, false}, {1, 1, 4000, 5000, false}},
	 4000},
	{"a thread that ends leaves its proc as its last record says, whatever the trace goes on with",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@2000 thread=1 thread_exit\n"
	 "@3000 source=kernel thread=1 proc_stop\n"
	 "@5000 source=kernel proc=1 thread=2 proc_start\n"
	 "@900000000 source=kernel proc=1 thread=2 proc_stop\n",
	 {{1, 0, 1000, 3000, false}, {2, 1, 5000, 900000000, false}},
	 2000},
	{"a stop that was lost, as a dying thread's was by older recorders: when another one is put on its proc",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@2000 source=kernel proc=1 thread=2 proc_start\n"
	 "@4000 source=kernel thread=2 proc_start\n"
	 "@9000 source=kernel thread=2 proc_stop\n",
	 {{1, 0, 1000, 4000, false}, {2, 1, 2000, 4000, false}, {2, 0, 4000, 9000, false}},
	 3000},
	{"... and not later than it ended",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@2000 thread=1 thread_exit\n"
	 "@9000 source=kernel thread=2 proc_start\n"
	 "@9500 source=kernel thread=2 proc_stop\n",
	 {{1, 0, 1000, 2000, false}, {2, 0, 9000, 9500, false}},
	 1000},
	{"... and if it was put there once more after that, nobody knows how long",
	 "@2000 thread=1 thread_exit\n"
	 "@5000 source=kernel thread=1 proc_start\n"
	 "@9000 source=kernel thread=2 proc_start\n"
	 "@9500 source=kernel thread=2 proc_stop\n",
	 {{1, 0, 5000, 5000, false}, {2, 0, 9000, 9500, false}},
	 0},
	{"a stretch in which another program is executed ends with the new one's stop",
	 "thread 9 tid=101 start=2000\n"
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@2000 thread=0 process what=2 value=8\n"
	 "@3000 source=kernel thread=9 proc_stop\n"
	 "@9000 source=kernel thread=9 proc_start\n"
	 "@9500 source=kernel thread=9 proc_stop\n",
	 {{1, 0, 1000, 2000, false}, {9, 0, 2000, 3000, false}, {9, 0, 9000, 9500, false}},
	 1000},
	{"a kernel's clock that is out of this world goes as far as others",
	 "@1000 source=kernel thread=1 proc_start\n"
	 "@4000 source=kernel thread=1 proc_stop\n"
	 "@5000 source=kernel thread=1 proc_start\n"
	 "@18446744073709551615 source=kernel thread=1 proc_stop\n",
	 {{1, 0, 1000, 4000, false}, {1, 0, 5000, TRC_TIME_NS_MAX, false}},
	 3000 + TRC_TIME_NS_MAX - 5000},
};
enum { N_SCHED = sizeof(sched) / sizeof(sched[0]) };

START_TEST(test_sched)
{
	char text[1024];
	struct trc_model *m;
	const struct trc_on_cpu *row;
	size_t n;

	snprintf(text, sizeof(text), "%s%s", THREADS, sched[_i].text);
	m = model_of(text, TRC_PART_SCHED);
	row = trc_model_on_cpu(m, &n);
	ck_assert_msg(n == (sched[_i].row[2].thread ? 3 : 2), "%s: %zu rows", sched[_i].what, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(row[i].start_ns == sched[_i].row[i].start_ns, "%s: start %lld",
			      sched[_i].what, (long long)row[i].start_ns);
		ck_assert_msg(row[i].end_ns == sched[_i].row[i].end_ns, "%s: end %lld",
			      sched[_i].what, (long long)row[i].end_ns);
		ck_assert_uint_eq(row[i].thread, sched[_i].row[i].thread);
		ck_assert_uint_eq(row[i].proc, sched[_i].row[i].proc);
		ck_assert_int_eq(row[i].preempted, sched[_i].row[i].preempted);
	}
	ck_assert_int_eq(trc_model_thread(m, 1)->on_cpu_ns, sched[_i].on_cpu_ns);
	model_close(m);
}
END_TEST

/* What times are added up with; a clock that goes back can make stretches overlap, without end. */
static const struct {
	const char *what;
	int64_t sum, from_ns, until_ns, expected;
} sums[] = {
	{"a time", 5, 100, 130, 35},
	{"none", 5, 100, 100, 5},
	{"nothing is taken off", 5, 130, 100, 5},
	{"the largest that fits", 1, 0, INT64_MAX - 1, INT64_MAX},
	{"one more does not", 2, 0, INT64_MAX - 1, INT64_MAX},
	{"nor anything later", INT64_MAX, 0, 1, INT64_MAX},
	{"a time that is none", 0, INT64_MIN + 1, INT64_MAX, INT64_MAX},
};
enum { N_SUMS = sizeof(sums) / sizeof(sums[0]) };

START_TEST(test_sums)
{
	int64_t sum = sums[_i].sum;

	trc_add_ns(&sum, sums[_i].from_ns, sums[_i].until_ns);
	ck_assert_msg(sum == sums[_i].expected, "%s: %lld", sums[_i].what, (long long)sum);
}
END_TEST

START_TEST(test_parts_come_when_needed)
{
	struct trc_error error;
	struct trc_model *m = model_of(THREADS "@1000 thread=1 task_begin task=7\n"
					       "@2000 thread=1 park reason=cond object=1\n",
				       TRC_PART_WAITS);
	size_t n;

	trc_model_tasks(m, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(trc_model_need(m, TRC_PART_WAITS | TRC_PART_USER, &error), 0);
	trc_model_tasks(m, &n);
	ck_assert_uint_eq(n, 1);
	/* Not derived twice. */
	trc_model_parks(m, &n);
	ck_assert_uint_eq(n, 1);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_user");
	TCase *tcase = tcase_create("user");

	tcase_add_test(tcase, test_tasks);
	tcase_add_test(tcase, test_regions);
	tcase_add_test(tcase, test_logs_and_counters);
	tcase_add_loop_test(tcase, test_sched, 0, N_SCHED);
	tcase_add_loop_test(tcase, test_sums, 0, N_SUMS);
	tcase_add_test(tcase, test_parts_come_when_needed);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
