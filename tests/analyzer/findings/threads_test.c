/* Findings about threads that others wait for: slow stages, barriers, the last of a pool, one worker. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/findings/findings.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

enum { ROUNDS = 40, ROUND_NS = 250000 };

static int n_procs; /* that the threads are on, by turns */

struct made {
	char *text;
	size_t n;
	FILE *trace;
};

/* Main waits for the end of its threads all the time. */
static void begin(struct made *made)
{
	n_procs = 2;
	made->trace = open_memstream(&made->text, &made->n);
	ck_assert(made->trace);
	fputs("sync ticks=0 realtime=1700000000000000000\n"
	      "module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"
	      "stack put 0x3011 0x3021\nstack get 0x3041 0x3021\nstack start 0x3061\n"
	      "thread 1 tid=101 name=\"main\"\n"
	      "@0 proc=0 thread=1 park reason=join object=0x10 stack=start\n",
	      made->trace);
}

static void thread(struct made *made, int serial, const char *name)
{
	fprintf(made->trace,
		"thread %d tid=%d creator=1 name=\"%s\"\n"
		"@2 proc=0 thread=%d thread_start tid=%d creator=1 stack=start\n",
		serial, 100 + serial, name, serial, 100 + serial);
}

static void pool(struct made *made, int n)
{
	char name[16];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "pool-%d", i);
		thread(made, 10 + i, name);
	}
}

static void event(struct made *made, int ns, int thread, const char *what)
{
	fprintf(made->trace, "@%d proc=%d thread=%d %s\n", ns, thread % n_procs, thread, what);
}

/* Ends it, and compares; of each finding its kind, cost, thread, sentence and why. */
static void found_in(struct made *made, const char *expected)
{
	struct trc_error error = {""};
	struct trc_array found;
	struct text told = {.n = 0};
	struct trc_model *m;

	event(made, ROUNDS * ROUND_NS, 1, "resume reason=join object=0x10");
	fclose(made->trace);
	m = model_of(made->text, 0);
	ck_assert_msg(!trc_findings(m, &found, &error), "%s", error.text);
	for (size_t i = 0; i < found.n; i++) {
		const struct trc_finding *f = (const struct trc_finding *)found.row + i;

		add(&told, "%s %lld thread %u: %s\n", trc_finding_kind_name(f->kind),
		    (long long)f->cost_ns, f->thread, f->sentence);
		if (*f->why)
			add(&told, "  %s\n", f->why);
	}
	ck_assert_str_eq(told.at, expected);
	trc_array_free(&found);
	model_close(m);
	free(made->text);
}

/* The packer works all the time; the sender waits for its items, and the reader, too, for room. */
static void pipeline(struct made *made, bool reader_waits)
{
	thread(made, 2, "reader");
	thread(made, 3, "packer");
	thread(made, 4, "sender");
	for (int at = 1000; at < ROUNDS * ROUND_NS; at += ROUND_NS) {
		if (reader_waits)
			event(made, at + 40000, 2, "park reason=cond object=0x60 stack=put");
		event(made, at + 50000, 4, "park reason=sem object=0x70 stack=get");
		event(made, at + 230000, 3, "unpark reason=cond object=0x60 count=1 stack=get");
		if (reader_waits)
			event(made, at + 231000, 2, "resume reason=cond object=0x60");
		event(made, at + 240000, 3, "unpark reason=sem object=0x70 count=1 stack=put");
		event(made, at + 241000, 4, "resume reason=sem object=0x70");
	}
}

START_TEST(a_slow_stage)
{
	struct made made;

	begin(&made);
	pipeline(&made, true);
	found_in(&made, "slow_stage 15200000 thread 3: packer (103) is the slow stage: at work"
			" for 100.0% of the time, while 2 threads waited 15.2 ms for it, 76.0%"
			" of their time\n"
			"  waited for it: reader (102) 76.0% of its time, sender (104) 76.0% of"
			" its time\n");
}
END_TEST

/* 1.96 standard errors of 30 in 40 draws, with two more (margin:A3).  Of another event there may be any number of
 * samples, in its own unit. */
START_TEST(a_slow_stage_is_where_its_time_went)
{
	struct made made;

	begin(&made);
	fputs("sample_event 1 name=\"timer\"\nsample_event 2 name=\"instructions\" unit=\"count\"\n",
	      made.trace);
	pipeline(&made, true);
	for (int i = 0; i < 40; i++)
		event(&made, 1000 + i, 3,
		      i % 4 ? "sample event=1 value=100 stack=put" : "sample event=1 value=100 stack=get");
	event(&made, 2000, 3, "sample event=2 value=900000 stack=get");
	found_in(&made, "slow_stage 15200000 thread 3: packer (103) is the slow stage: at work"
			" for 100.0% of the time, while 2 threads waited 15.2 ms for it, 76.0%"
			" of their time\n"
			"  waited for it: reader (102) 76.0% of its time, sender (104) 76.0% of"
			" its time; it was at server+0x10 in 75.0% ±15.3 of its samples\n");
}
END_TEST

START_TEST(stages_as_slow_as_each_other)
{
	struct made made;

	begin(&made);
	pipeline(&made, false);
	found_in(&made, "nothing 0 thread 0: nothing stands out: no thread waited for a lock;"
			" threads waited 17.6 ms, 44.1% of their time, for other threads, which"
			" may be as it should; not recorded: scheduling, CPU samples\n");
}
END_TEST

/* Four threads, of which `late` comes last; -1: each in its turn.  The others have waited for it. */
static void barrier(struct made *made, const char *reason, int late, int waited_ns)
{
	char park[80], unpark[120], resume[80];

	snprintf(park, sizeof(park), "park reason=%s object=0x60 stack=get", reason);
	snprintf(resume, sizeof(resume), "resume reason=%s object=0x60", reason);
	pool(made, 4);
	for (int i = 0; i < ROUNDS; i++) {
		int last = late < 0 ? i % 4 : late, at = i * ROUND_NS + 1000;

		for (int t = 0; t < 4; t++)
			if (t != last)
				event(made, at, 10 + t, park);
		/* It passes the barrier as the others do, and says afterwards that it woke them. */
		event(made, at + waited_ns - 500, 10 + last, park);
		event(made, at + waited_ns + 500, 10 + last, resume);
		snprintf(unpark, sizeof(unpark),
			 "unpark reason=%s object=0x60 count=~0 stack=get at=%d", reason,
			 at + waited_ns);
		event(made, at + waited_ns + 600, 10 + last, unpark);
		for (int t = 0; t < 4; t++)
			if (t != last)
				event(made, at + waited_ns + 1000, 10 + t, resume);
	}
}

START_TEST(one_comes_last_to_a_barrier)
{
	struct made made;

	begin(&made);
	barrier(&made, "barrier", 2, 150000);
	found_in(&made, "barrier_imbalance 18120000 thread 12: pool-2 (112) came last 40 of 40"
			" times to barrier 0x60 at server+0x40: 3 threads waited 18.1 ms for"
			" it, 60.4% of their time\n"
			"  for 98.8%, pool-2 (112) did not wait, up to server+0x40\n");
}
END_TEST

START_TEST(all_come_to_a_barrier_together)
{
	struct made made;

	begin(&made);
	barrier(&made, "barrier", -1, 10000);
	found_in(&made, "nothing 0 thread 0: nothing stands out: no thread waited for a lock;"
			" threads waited 11.4 ms, 22.7% of their time, for other threads, which"
			" may be as it should; not recorded: scheduling, CPU samples\n");
}
END_TEST

/* More threads than procs: who is last is who had no proc. */
START_TEST(each_comes_last_for_want_of_procs)
{
	struct made made;

	begin(&made);
	barrier(&made, "barrier", -1, 150000);
	found_in(&made, "nothing 0 thread 0: nothing stands out: no thread waited for a lock;"
			" threads waited 28.2 ms, 56.3% of their time, for other threads, which"
			" may be as it should; not recorded: scheduling, CPU samples\n");
}
END_TEST

START_TEST(each_comes_last_now_and_then)
{
	struct made made;

	begin(&made);
	n_procs = 4;
	barrier(&made, "barrier", -1, 150000);
	found_in(&made, "barrier_imbalance 18120000 thread 0: 4 threads waited 18.1 ms for each"
			" other in 40 rounds of barrier 0x60 at server+0x40, 45.3% of their"
			" time; which of them comes last changes\n");
}
END_TEST

START_TEST(one_of_a_pool_keeps_the_others_waiting)
{
	struct made made;

	begin(&made);
	barrier(&made, "futex", 2, 150000);
	found_in(&made, "late_thread 17940000 thread 12: pool-2 (112) keeps the others of its"
			" pool waiting: 3 threads waited 17.9 ms for it, 59.8% of their time\n");
}
END_TEST

/* Three compress what the fourth reads, which waits for something else: one function made both pools, as in zstd. */
START_TEST(who_waits_for_something_else_is_of_no_pool)
{
	struct made made;

	begin(&made);
	pool(&made, 4);
	for (int i = 0; i < ROUNDS; i++) {
		int at = i * ROUND_NS + 1000;

		for (int t = 0; t < 3; t++)
			event(&made, at, 10 + t, "park reason=futex object=0x60 stack=get");
		event(&made, at + 150000, 13, "unpark reason=futex object=0x60 count=3 stack=get");
		for (int t = 0; t < 3; t++)
			event(&made, at + 151000, 10 + t, "resume reason=futex object=0x60");
		event(&made, at + 160000, 13, "park reason=futex object=0x61 stack=get");
		event(&made, at + 190000, 10, "unpark reason=futex object=0x61 count=1 stack=get");
		event(&made, at + 191000, 13, "resume reason=futex object=0x61");
	}
	found_in(&made, "waited_for 18000000 thread 13: pool-3 (113) keeps others waiting: 3"
			" threads waited 18.0 ms for it, 60.0% of their time\n"
			"  for 100.0%, pool-3 (113) did not wait, up to server+0x40\n");
}
END_TEST

/* Three end after 4 ms, main waits for the fourth for another 5 ms. */
static void last_of_pool(struct made *made, int last_us)
{
	pool(made, 4);
	for (int t = 0; t < 4; t++)
		event(made, 3990000, 10 + t, "park reason=cond object=0x60 stack=get");
	for (int t = 0; t < 4; t++)
		event(made, 3995000, 10 + t, "resume reason=cond object=0x60");
	for (int t = 0; t < 3; t++)
		event(made, 4000000 + t, 10 + t, "thread_exit");
	event(made, 4000010, 1, "resume reason=join object=0x10");
	event(made, 4000011, 1, "park reason=join object=0x20 holder=13 stack=start");
	event(made, last_us * 1000, 13, "thread_exit");
	event(made, last_us * 1000 + 1, 1, "resume reason=join object=0x20");
	event(made, last_us * 1000 + 2, 1, "park reason=join object=0x10 stack=start");
}

/* The others of the pool have had nothing to do: that one goes on then is a part of this. */
START_TEST(the_last_of_a_pool_had_all_the_work)
{
	struct made made;

	begin(&made);
	pool(&made, 4);
	for (int t = 0; t < 3; t++)
		event(&made, 1000, 10 + t, "park reason=cond object=0x60 stack=get");
	event(&made, 1500000, 13, "park reason=cond object=0x60 stack=get");
	event(&made, 1600000, 13, "resume reason=cond object=0x60");
	for (int t = 0; t < 3; t++) {
		event(&made, 3995000, 10 + t, "resume reason=cond object=0x60");
		event(&made, 4000000 + t, 10 + t, "thread_exit");
	}
	event(&made, 4000011, 1, "park reason=join object=0x20 holder=13 stack=start");
	event(&made, 9000000, 13, "thread_exit");
	event(&made, 9000001, 1, "resume reason=join object=0x20");
	event(&made, 9000002, 1, "park reason=join object=0x10 stack=start");
	found_in(&made, "one_worker 6671750 thread 13: 1 of 4 threads does 99.9% of their work: pool-3"
			" (113) did not wait for 8.90 ms, the other 3 13.0 µs together\n");
}
END_TEST

START_TEST(the_last_of_a_pool)
{
	struct made made;

	begin(&made);
	last_of_pool(&made, 9000);
	found_in(&made, "late_thread 4999989 thread 13: pool-3 (113) went on for 5.00 ms when"
			" the other 3 of its pool had ended, 55.6% of the time from the first's"
			" begin, while main (101) waited for its end\n");
}
END_TEST

START_TEST(a_pool_that_ends_together)
{
	struct made made;

	begin(&made);
	last_of_pool(&made, 4500);
	found_in(&made, "nothing 0 thread 0: nothing stands out: no thread waited for a lock;"
			" threads waited 10.0 ms, 37.8% of their time, for other threads, which"
			" may be as it should; not recorded: scheduling, CPU samples\n");
}
END_TEST

/* One computes; the others wait for something else, which it has nothing to do with. */
START_TEST(different_jobs_are_no_pool)
{
	struct made made;

	begin(&made);
	pool(&made, 4);
	for (int t = 0; t < 3; t++)
		event(&made, 10000, 10 + t, "park reason=cond object=0x60 stack=get");
	event(&made, 9000000, 13, "park reason=cond object=0x70 stack=put");
	found_in(&made, "nothing 0 thread 0: nothing stands out: no thread waited for a lock;"
			" threads waited 11.0 ms, 22.0% of their time, for other threads, which"
			" may be as it should; not recorded: scheduling, CPU samples\n");
}
END_TEST

/* ---- who is late ---- */

#define NOTHING                                                                                            \
	"nothing 0 thread 0: 3 threads waited 24.4 ms, 81.2% of their time, for cond 0x60 at server+0x40;" \
	" no thread waited for a lock; not recorded: scheduling, CPU samples\n"

/* Three clients wait for one thread, from `waits` to `goes_on` in each round.  It is asked in each round, seldom or never; and does `what` from
 * 20 us to 210 us of each round: it begins with that, and ends with the line behind it. */
static const struct late {
	const char *name, *begin, *end;
	int waits, goes_on;
	int asked; /* in each so many rounds; 0 = never */
	const char *found;
} LATE[] = {
	{"flusher", "", "wait reason=fsync object=5 since=%d stack=put", 10000, 213000, 1,
	 "waited_for 24240000 thread 9: flusher (109) keeps others waiting: 3 threads waited 24.2 ms for it,"
	 " 80.8% of their time\n"
	 "  for 94.1%, flusher (109) waited for fsync fd 5 at server+0x10\n"},
	{"sleeper", "park reason=sleep stack=put", "resume reason=sleep", 10000, 213000, 1,
	 "waited_for 24240000 thread 9: sleeper (109) keeps others waiting: 3 threads waited 24.2 ms for it,"
	 " 80.8% of their time\n"
	 "  for 94.1%, sleeper (109) slept at server+0x10\n"},
	{"syncer", "", "wait reason=fsync object=5 since=%d stack=put", 10000, 213000, 0,
	 "waited_for 22800000 thread 9: syncer (109) keeps others waiting: 3 threads waited 22.8 ms for it,"
	 " 76.0% of their time\n"
	 "  for 100.0%, syncer (109) waited for fsync fd 5 at server+0x10\n"},
	{"it sleeps before it hands out work (N2)", "park reason=sleep stack=put",
	 "resume reason=sleep", 10000, 213000, 0, NOTHING},
	{"it seldom waits for them, as for a lock (N2)", "park reason=sleep stack=put",
	 "resume reason=sleep", 10000, 213000, 10, NOTHING},
	{"it reads what comes from outside (N1)", "",
	 "wait reason=recv object=5 since=%d stack=put", 10000, 213000, 1, NOTHING},
	{"who waits is idle (N1)", "", "wait reason=fsync object=5 since=%d stack=put", 1000,
	 246000, 1,
	 "nothing 0 thread 0: 1 thread waited 7.60 ms, 76.0% of its time, for fsync fd 5 at server+0x10;"
	 " no thread waited for a lock; not recorded: scheduling, CPU samples\n"},
};

START_TEST(a_thread_that_others_wait_for)
{
	const struct late *late = &LATE[_i];
	char line[120];
	struct made made;

	begin(&made);
	for (int t = 2; t < 5; t++) {
		snprintf(line, sizeof(line), "client-%d", t);
		thread(&made, t, line);
	}
	thread(&made, 9, strstr(late->found, late->name) ? late->name : "late");
	for (int round = 0; round < ROUNDS; round++) {
		int at = 1000 + round * ROUND_NS;

		if (late->asked && round % late->asked == 0) {
			event(&made, at + 500, 2,
			      "unpark reason=cond object=0x70 count=1 stack=get");
			event(&made, at + 600, 9, "resume reason=cond object=0x70");
		}
		for (int t = 2; t < 5; t++)
			event(&made, at + late->waits, t, "park reason=cond object=0x60 stack=get");
		if (*late->begin)
			event(&made, at + 20000, 9, late->begin);
		snprintf(line, sizeof(line), late->end, at + 20000);
		event(&made, at + 210000, 9, line);
		event(&made, at + late->goes_on - 1000, 9,
		      "unpark reason=cond object=0x60 count=3 stack=put");
		for (int t = 2; t < 5; t++)
			event(&made, at + late->goes_on, t, "resume reason=cond object=0x60");
		if (late->asked && (round + 1) % late->asked == 0)
			event(&made, at + 247000, 9, "park reason=cond object=0x70 stack=start");
	}
	found_in(&made, late->found);
}
END_TEST

/* Three threads, one of which works in each round, while the others wait for it. */
START_TEST(threads_that_take_turns)
{
	char unpark[80], park[80], resume[80];
	struct made made;

	begin(&made);
	thread(&made, 2, "reader");
	thread(&made, 3, "packer");
	thread(&made, 4, "sender");
	for (int i = 0; i < ROUNDS; i++) {
		int at = i * ROUND_NS + 1000, works = 2 + i % 3;

		for (int t = 2; t < 5; t++) {
			snprintf(park, sizeof(park), "park reason=cond object=0x%d stack=get",
				 60 + t);
			if (t != works)
				event(&made, at, t, park);
		}
		for (int t = 2; t < 5; t++) {
			snprintf(unpark, sizeof(unpark),
				 "unpark reason=cond object=0x%d count=1 stack=put", 60 + t);
			snprintf(resume, sizeof(resume), "resume reason=cond object=0x%d", 60 + t);
			if (t == works)
				continue;
			event(&made, at + 240000 + t, works, unpark);
			event(&made, at + 241000, t, resume);
		}
	}
	found_in(
		&made,
		"nothing 0 thread 0: 3 threads waited 19.3 ms, 64.3% of their time, for cond, 3 objects at "
		"server+0x40; no thread waited for a lock; not recorded: scheduling, CPU samples\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("finding_threads");
	TCase *tests = tcase_create("finding_threads");

	tcase_add_test(tests, a_slow_stage);
	tcase_add_test(tests, a_slow_stage_is_where_its_time_went);
	tcase_add_test(tests, stages_as_slow_as_each_other);
	tcase_add_test(tests, one_comes_last_to_a_barrier);
	tcase_add_test(tests, who_waits_for_something_else_is_of_no_pool);
	tcase_add_test(tests, all_come_to_a_barrier_together);
	tcase_add_test(tests, each_comes_last_for_want_of_procs);
	tcase_add_test(tests, each_comes_last_now_and_then);
	tcase_add_test(tests, one_of_a_pool_keeps_the_others_waiting);
	tcase_add_test(tests, the_last_of_a_pool);
	tcase_add_test(tests, the_last_of_a_pool_had_all_the_work);
	tcase_add_test(tests, a_pool_that_ends_together);
	tcase_add_test(tests, different_jobs_are_no_pool);
	tcase_add_loop_test(tests, a_thread_that_others_wait_for, 0, sizeof(LATE) / sizeof(*LATE));
	tcase_add_test(tests, threads_that_take_turns);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
