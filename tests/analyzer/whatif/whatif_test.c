/*
 * whatif_test.c - what is predicted, for traces that are written as text.
 *
 * A line for the run and one for each type of task: what was recorded, what the replay without a change makes of
 * it, and the prediction; times of tasks are their means.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyzer/model/margin.h"
#include "analyzer/whatif/near.h"
#include "analyzer/whatif/whatif.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/draws.h"
#include "tests/turns.h"
#include "tests/suite.h"

#define PARTS (TRC_PART_ALL | TRC_PART_OBJECTS)

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102\n"                                                                       \
	"thread 3 tid=103\n"                                                                       \
	"stack a 0x300 0x200 0x1f\n"                                                               \
	"stack u 0x210 0x1f\n"                                                                     \
	"@0 thread=1 log message=\"begin\"\n"

/* Thread 1 waits for the lock that thread 2 holds, with all acquisitions and releases. */
#define ONE_LOCK                                                                                   \
	THREADS "@1000 thread=2 acquire reason=mutex object=0x10\n"                                \
		"@1500 thread=1 task_begin task=7 type=\"job\"\n"                                  \
		"@2000 thread=1 park reason=mutex object=0x10 holder=2\n"                          \
		"@5000 thread=2 release reason=mutex object=0x10\n"                                \
		"@5000 thread=2 unlock reason=mutex object=0x10 waiters=1\n"                       \
		"@5100 thread=1 resume reason=mutex object=0x10\n"                                 \
		"@5100 thread=1 acquire reason=mutex object=0x10\n"                                \
		"@7100 thread=1 release reason=mutex object=0x10\n"                                \
		"@8000 thread=1 task_end task=7\n"

/* The same with what is recorded otherwise: thread 2 sleeps in its section. */
#define SEEN_LOCK                                                                                  \
	THREADS "@1500 thread=1 task_begin task=7 type=\"job\"\n"                                  \
		"@1800 thread=2 park reason=sleep stack=a\n"                                       \
		"@2000 thread=1 park reason=mutex object=0x10 holder=2\n"                          \
		"@4800 thread=2 resume reason=sleep\n"                                             \
		"@5000 thread=2 unlock reason=mutex object=0x10 waiters=1 stack=u\n"               \
		"@5100 thread=1 resume reason=mutex object=0x10\n"                                 \
		"@5100 thread=1 task_end task=7\n"

/* Thread 2 makes a task, which thread 1 waits for, and works on. */
#define QUEUE                                                                                      \
	THREADS "@500 thread=1 park reason=cond object=0x30\n"                                     \
		"@1000 thread=2 acquire reason=mutex object=0x10\n"                                \
		"@3000 thread=2 release reason=mutex object=0x10\n"                                \
		"@3000 thread=2 task_begin task=7 type=\"job\"\n"                                  \
		"@3200 thread=2 unpark reason=cond object=0x30 count=1\n"                          \
		"@3300 thread=1 resume reason=cond object=0x30\n"                                  \
		"@3400 thread=1 acquire reason=mutex object=0x10\n"                                \
		"@4400 thread=1 release reason=mutex object=0x10\n"                                \
		"@5000 thread=1 task_end task=7\n"

/* Thread 1 finds the second task in the queue, without waiting for it. */
#define FOUND                                                                                      \
	THREADS "@1000 thread=2 task_begin task=1 type=\"job\"\n"                                  \
		"@1000 thread=2 unpark reason=cond object=0x30 count=1\n"                          \
		"@4000 thread=2 task_begin task=2 type=\"job\"\n"                                  \
		"@500 proc=1 thread=1 park reason=cond object=0x30\n"                              \
		"@1000 proc=1 thread=1 resume reason=cond object=0x30\n"                           \
		"@1000 proc=1 thread=1 acquire reason=mutex object=0x10\n"                         \
		"@5000 proc=1 thread=1 release reason=mutex object=0x10\n"                         \
		"@5000 proc=1 thread=1 task_end task=1\n"                                          \
		"@6000 proc=1 thread=1 task_end task=2\n"

/* A writer waits for two readers, and the third reader for nobody. */
#define READERS                                                                                    \
	THREADS "@1000 thread=1 acquire reason=rwlock_read object=0x10\n"                          \
		"@1000 thread=2 acquire reason=rwlock_read object=0x10\n"                          \
		"@1500 thread=3 park reason=rwlock_write object=0x10\n"                            \
		"@3000 thread=1 release reason=rwlock_read object=0x10\n"                          \
		"@5000 thread=2 release reason=rwlock_read object=0x10\n"                          \
		"@5000 thread=2 unlock reason=rwlock_read object=0x10 waiters=1\n"                 \
		"@5000 thread=3 resume reason=rwlock_write object=0x10\n"                          \
		"@5000 thread=3 acquire reason=rwlock_write object=0x10\n"                         \
		"@6000 thread=3 release reason=rwlock_write object=0x10\n"

/* The lock is the writer's when the last reader leaves, though the writer runs later than a reader that comes. */
#define HANDED_OVER                                                                                \
	THREADS "@1000 thread=1 acquire reason=rwlock_read object=0x10\n"                          \
		"@1500 thread=3 park reason=rwlock_write object=0x10\n"                            \
		"@5000 thread=1 release reason=rwlock_read object=0x10\n"                          \
		"@5000 thread=1 unlock reason=rwlock_read object=0x10 waiters=1\n"                 \
		"@5100 thread=2 park reason=rwlock_read object=0x10\n"                             \
		"@5200 thread=3 resume reason=rwlock_write object=0x10\n"                          \
		"@5200 thread=3 acquire reason=rwlock_write object=0x10\n"                         \
		"@6200 thread=3 release reason=rwlock_write object=0x10\n"                         \
		"@6200 thread=3 unlock reason=rwlock_write object=0x10 waiters=1\n"                \
		"@6200 thread=2 resume reason=rwlock_read object=0x10\n"                           \
		"@6200 thread=2 acquire reason=rwlock_read object=0x10\n"                          \
		"@8200 thread=2 release reason=rwlock_read object=0x10\n"

/* A reader comes while another reads and a writer waits, and two writers go first: the lock prefers writers. */
#define WRITERS_FIRST                                                                              \
	THREADS "thread 4 tid=104\n"                                                               \
		"@1000 thread=1 acquire reason=rwlock_read object=0x10\n"                          \
		"@1500 thread=3 park reason=rwlock_write object=0x10\n"                            \
		"@2000 thread=2 park reason=rwlock_read object=0x10\n"                             \
		"@2500 thread=4 park reason=rwlock_write object=0x10\n"                            \
		"@5000 thread=1 release reason=rwlock_read object=0x10\n"                          \
		"@5000 thread=1 unlock reason=rwlock_read object=0x10 waiters=3\n"                 \
		"@5000 thread=3 resume reason=rwlock_write object=0x10\n"                          \
		"@5000 thread=3 acquire reason=rwlock_write object=0x10\n"                         \
		"@6000 thread=3 release reason=rwlock_write object=0x10\n"                         \
		"@6000 thread=3 unlock reason=rwlock_write object=0x10 waiters=2\n"                \
		"@6000 thread=4 resume reason=rwlock_write object=0x10\n"                          \
		"@6000 thread=4 acquire reason=rwlock_write object=0x10\n"                         \
		"@7000 thread=4 release reason=rwlock_write object=0x10\n"                         \
		"@7000 thread=4 unlock reason=rwlock_write object=0x10 waiters=1\n"                \
		"@7000 thread=2 resume reason=rwlock_read object=0x10\n"                           \
		"@7000 thread=2 acquire reason=rwlock_read object=0x10\n"                          \
		"@8000 thread=2 release reason=rwlock_read object=0x10\n"

/* A reader that only tries while a writer has the lock does not have it, and gives nothing back. */
#define TRIED_TO_READ                                                                              \
	THREADS "thread 4 tid=104\n"                                                               \
		"@1000 thread=3 acquire reason=rwlock_write object=0x10\n"                         \
		"@2000 thread=3 release reason=rwlock_write object=0x10\n"                         \
		"@3000 thread=2 acquire reason=rwlock_read object=0x10 tried=1\n"                  \
		"@4000 thread=1 acquire reason=rwlock_read object=0x10\n"                          \
		"@6500 thread=2 release reason=rwlock_read object=0x10\n"                          \
		"@7000 thread=4 park reason=rwlock_write object=0x10\n"                            \
		"@8000 thread=1 release reason=rwlock_read object=0x10\n"                          \
		"@8000 thread=1 unlock reason=rwlock_read object=0x10 waiters=1\n"                 \
		"@8000 thread=4 resume reason=rwlock_write object=0x10\n"                          \
		"@8000 thread=4 acquire reason=rwlock_write object=0x10\n"                         \
		"@8100 thread=4 release reason=rwlock_write object=0x10\n"                         \
		"@8100 thread=4 log message=\"x\"\n"

/* Without all acquisitions: thread 2 sleeps, joins thread 1 though a writer waits, and sleeps in its section. */
#define JOINED                                                                                     \
	THREADS "stack b 0x300 0x250 0x1f\n"                                                       \
		"@1000 thread=2 park reason=sleep stack=b\n"                                       \
		"@1400 thread=1 log message=\"x\"\n"                                               \
		"@1500 thread=3 park reason=rwlock_write object=0x10\n"                            \
		"@3000 thread=2 resume reason=sleep\n"                                             \
		"@3000 thread=2 park reason=sleep stack=a\n"                                       \
		"@5000 thread=1 unlock reason=rwlock_read object=0x10 waiters=1 stack=u\n"         \
		"@7000 thread=2 resume reason=sleep\n"                                             \
		"@7000 thread=2 unlock reason=rwlock_read object=0x10 waiters=1 stack=u\n"         \
		"@7000 thread=3 resume reason=rwlock_write object=0x10\n"                          \
		"@7000 thread=3 log message=\"x\"\n"

/* Two threads, each on a proc of its own. */
#define PROCS                                                                                      \
	THREADS "@0 proc=0 source=kernel thread=1 proc_start\n"                                    \
		"@0 proc=1 source=kernel thread=2 proc_start\n"                                    \
		"@0 proc=0 thread=1 task_begin task=1 type=\"job\"\n"                              \
		"@0 proc=1 thread=2 task_begin task=2 type=\"job\"\n"                              \
		"@4000 proc=0 thread=1 task_end task=1\n"                                          \
		"@4000 proc=1 thread=2 task_end task=2\n"                                          \
		"@4000 proc=0 source=kernel thread=1 proc_stop preempted=0\n"                      \
		"@4000 proc=1 source=kernel thread=2 proc_stop preempted=0\n"

/* Thread 2 is woken first, finds that thread 4 was quicker, and waits on behind thread 3. */
#define OVERTAKEN                                                                                  \
	THREADS "thread 4 tid=104\n"                                                               \
		"@100 thread=1 acquire reason=mutex object=0x10\n"                                 \
		"@200 thread=2 task_begin task=7 type=\"job\"\n"                                   \
		"@500 thread=2 park reason=mutex object=0x10 holder=1\n"                           \
		"@600 thread=3 park reason=mutex object=0x10 holder=1\n"                           \
		"@1000 thread=1 release reason=mutex object=0x10\n"                                \
		"@1000 thread=1 unlock reason=mutex object=0x10 waiters=2\n"                       \
		"@1050 thread=4 acquire reason=mutex object=0x10\n"                                \
		"@2000 thread=4 release reason=mutex object=0x10\n"                                \
		"@2000 thread=4 unlock reason=mutex object=0x10 waiters=2\n"                       \
		"@2100 thread=3 resume reason=mutex object=0x10\n"                                 \
		"@2100 thread=3 acquire reason=mutex object=0x10\n"                                \
		"@3000 thread=3 release reason=mutex object=0x10\n"                                \
		"@3000 thread=3 unlock reason=mutex object=0x10 waiters=1\n"                       \
		"@3100 thread=2 resume reason=mutex object=0x10\n"                                 \
		"@3100 thread=2 acquire reason=mutex object=0x10\n"                                \
		"@4000 thread=2 release reason=mutex object=0x10\n"                                \
		"@4000 thread=2 task_end task=7\n"

static const struct whatif_case {
	const char *what, *text, *change, *lines;
} cases[] = {
	{"the holder lets go earlier, and the section of who waited is shorter, too", ONE_LOCK,
	 "lock 0x10 * 0.5", "run 8000 8000 5000\njob 6500 6500 3500\n"},
	{"sections that take longer make others wait longer", ONE_LOCK, "lock 0x10 * 2",
	 "run 8000 8000 14000\njob 6500 6500 12500\n"},
	{"sections that take no time", ONE_LOCK, "lock 0x10 * 0",
	 "run 8000 8000 2900\njob 6500 6500 1400\n"},
	{"without the lock the section stays, and the wait goes", ONE_LOCK, "no lock 0x10",
	 "run 8000 8000 5000\njob 6500 6500 3400\n"},
	{"who is woken and finds the lock taken is the last of the queue", OVERTAKEN,
	 "lock 0x10 * 1", "run 4000 4000 4000\njob 3800 3800 3800\n"},
	{"of several changes each counts", ONE_LOCK, "no lock 0x10; lock 0x10 * 0.5",
	 "run 8000 8000 3900\njob 6500 6500 2400\n"},
	{"a wait that the holder was in when others began to wait lies in its section", SEEN_LOCK,
	 "lock 0x10 * 0.5", "run 5100 5100 3500\njob 3600 3600 2000\n"},
	{"who is woken waits until the other has come to the signal", QUEUE, "lock 0x10 * 0.5",
	 "run 5000 5000 3500\njob 2000 2000 1500\n"},
	{"a task that has not begun cannot be worked on", FOUND, "lock 0x10 * 0",
	 "run 6000 6000 5000\njob 3000 3000 500\n"},
	{"who only tries does not wait",
	 THREADS "@1000 thread=1 acquire reason=mutex object=0x10\n"
		 "@2000 thread=1 release reason=mutex object=0x10\n"
		 "@3000 thread=2 acquire reason=mutex object=0x10 tried=1\n"
		 "@4000 thread=2 release reason=mutex object=0x10\n"
		 "@4000 thread=2 log message=\"x\"\n",
	 "lock 0x10 * 3", "run 4000 4000 6000\n"},
	{"readers share, and a writer comes after the last", READERS, "lock 0x10 * 0.5",
	 "run 6000 6000 3500\n"},
	{"a writer waits for nobody without the lock", READERS, "no lock 0x10",
	 "run 6000 6000 5000\n"},
	{"a writer has the lock before it runs", HANDED_OVER, "lock 0x10 * 0.5",
	 "run 8200 8200 6100\n"},
	{"of a lock that prefers writers these go first", WRITERS_FIRST, "lock 0x10 * 0.5",
	 "run 8000 8000 4500\n"},
	{"who tried to read in vain gives nothing back", TRIED_TO_READ, "lock 0x10 * 3",
	 "run 8100 8100 16300\n"},
	{"a reader joins another though a writer waits", JOINED, "lock 0x10 * 0.5",
	 "run 7000 7000 5000\n"},
	{"what ends with a semicolon is one change", ONE_LOCK, "lock 0x10 * 0.5; ",
	 "run 8000 8000 5000\njob 6500 6500 3500\n"},
	/* Neither turn is over before its thread is: the second begins its task when it has the proc. */
	{"one proc for two threads", PROCS, "procs 1", "run 4000 4000 8000\njob 4000 4000 4000\n"},
	{"more procs than threads change nothing", PROCS, "procs 7",
	 "run 4000 4000 4000\njob 4000 4000 4000\n"},
	{"threads that wait for each other for ever still do",
	 THREADS "@1000 thread=1 park reason=mutex object=0x20 holder=2\n"
		 "@2000 thread=2 park reason=mutex object=0x10 holder=1\n"
		 "@9000 thread=3 log message=\"x\"\n"
		 "status thread=1 reason=mutex object=0x20 since=1000 holder=2\n"
		 "status thread=2 reason=mutex object=0x10 since=2000 holder=1\n",
	 "no lock 0x10", "run 9000 9000 9000\n"},
	{"what gave up waited on purpose",
	 THREADS "@1000 thread=1 task_begin task=7 type=\"job\"\n"
		 "@1000 thread=1 park reason=mutex object=0x10 holder=2\n"
		 "@3000 thread=1 resume reason=mutex object=0x10 result=ETIMEDOUT\n"
		 "@4000 thread=1 task_end task=7\n"
		 "@5000 thread=2 unlock reason=mutex object=0x10\n",
	 "no lock 0x10", "run 5000 5000 5000\njob 3000 3000 3000\n"},
	{"a thread begins when its creator has come so far",
	 "thread 1 tid=101\nthread 2 tid=102 creator=1 start=5000\n"
	 "@0 thread=1 log message=\"begin\"\n"
	 "@1000 thread=1 acquire reason=mutex object=0x10\n"
	 "@4000 thread=1 release reason=mutex object=0x10\n"
	 "@5000 thread=2 task_begin task=7 type=\"job\"\n"
	 "@6000 thread=2 task_end task=7\n"
	 "@6000 thread=1 log message=\"x\"\n",
	 "lock 0x10 * 0", "run 6000 6000 3000\njob 1000 1000 1000\n"},
};

static void add_figure(struct text *t, const char *name, const struct trc_whatif_figure *f)
{
	add(t, "%s %" PRId64 " %" PRId64 " %" PRId64 "\n", name, f->recorded_ns, f->replayed_ns,
	    f->predicted_ns);
}

START_TEST(test_case)
{
	const struct whatif_case *test = &cases[_i];
	struct trc_model *m = model_of(test->text, PARTS);
	const struct trc_whatif_type *type;
	struct trc_error error = {""};
	struct text text = {.n = 0};
	struct trc_whatif w;

	ck_assert_msg(!trc_whatif_make(&w, m, test->change, &error), "%s: %s", test->what,
		      error.text);
	add_figure(&text, "run", &w.length);
	type = w.types.row;
	for (size_t i = 0; i < w.types.n; i++)
		add_figure(&text, type[i].name, &type[i].mean);
	ck_assert_msg(!strcmp(text.at, test->lines), "%s:\n%snot:\n%s", test->what, text.at,
		      test->lines);
	ck_assert_uint_eq(w.n_forced, 0);
	trc_whatif_free(&w);
	model_close(m);
}
END_TEST

static const struct refused_case {
	const char *change;
	int err;
	const char *error;
} refused[] = {
	{"", -EINVAL, "a change is empty: 'lock NAME * 0.5', for example"},
	{";", -EINVAL, "a change is empty: 'lock NAME * 0.5', for example"},
	{"procs 2;;", -EINVAL, "a change is empty: 'lock NAME * 0.5', for example"},
	{"faster", -EINVAL,
	 "'faster' is no change: 'lock NAME * 0.5', 'function NAME * 0.5', 'no lock NAME' or "
	 "'procs N'"},
	{"no function f", -EINVAL, "'no function f' is no change; only a lock can be left out"},
	{"lock 0x10", -EINVAL, "'lock 0x10' has no factor, such as '* 0.5'"},
	{"lock * 0.5", -EINVAL, "'lock * 0.5' has no name"},
	{"lock 0x10 * -1", -EINVAL,
	 "'lock 0x10 * -1' has a factor that is no number from 0 to 100"},
	{"lock 0x10 * 1e9", -EINVAL,
	 "'lock 0x10 * 1e9' has a factor that is no number from 0 to 100"},
	{"lock 0x10 * nan", -EINVAL,
	 "'lock 0x10 * nan' has a factor that is no number from 0 to 100"},
	{"lock 0x10 * 0.5x", -EINVAL,
	 "'lock 0x10 * 0.5x' has a factor that is no number from 0 to 100"},
	{"procs 2; procs 1", -EINVAL,
	 "'procs 1' changes what a change before it does: give one of them"},
	{"lock 0x10 * 0.5; lock 0x10 * 0.5", -EINVAL,
	 "'lock 0x10 * 0.5' changes what a change before it does: give one of them"},
	{"function f * 0.5; procs 1; function f * 2", -EINVAL,
	 "'function f * 2' changes what a change before it does: give one of them"},
	{"lock 0x10 * 0.5; lock 0x010 * 0.5", -EINVAL,
	 "lock 0x010 is changed already, by another name"},
	{"procs 0", -EINVAL, "'procs 0' does not say how many, from 1 to 65536"},
	{"procs 1.5", -EINVAL, "'procs 1.5' does not say how many, from 1 to 65536"},
	{"procs", -EINVAL, "'procs' does not say how many, from 1 to 65536"},
	{"procs 1", -ENOENT, "procs: the trace does not say when threads had a processor"},
	{"no lock 0x11", -ENOENT,
	 "no lock 0x11 in the trace; the report and the table objects have the names"},
	{"no lock settings", -ENOENT,
	 "no lock settings in the trace; the report and the table objects have the names"},
	{"function f * 0.5", -ENOENT,
	 "no function f in any stack of the trace; try trace-record -F 1000"},
};

START_TEST(test_refused)
{
	const struct refused_case *test = &refused[_i];
	struct trc_model *m = model_of(ONE_LOCK, PARTS);
	struct trc_error error = {""};
	struct trc_whatif w;

	ck_assert_int_eq(trc_whatif_make(&w, m, test->change, &error), test->err);
	ck_assert_str_eq(error.text, test->error);
	trc_whatif_free(&w);
	model_close(m);
}
END_TEST

static const struct near_case {
	const char *wanted, *names[3], *best;
} near_names[] = {
	{"m", {"x", "ns::m", "db.m"}, "ns::m"},
	{"m", {"x", "om", "mm"}, NULL},
	{"settings", {"settigns", "setting", "listings"}, "setting"},
	{"settings", {NULL, "server", "sittings"}, "sittings"},
	{"0x11", {"0x10", "a.0x11", NULL}, NULL},
	{"", {"", "a", NULL}, NULL},
};

START_TEST(test_near)
{
	const struct near_case *test = &near_names[_i];
	struct trc_near near = trc_near_to(test->wanted);

	for (int i = 0; i < 3; i++)
		trc_near_add(&near, test->names[i]);
	ck_assert_pstr_eq(near.best, test->best);
}
END_TEST

/* Two threads each take two locks, in opposite orders: in the trace one after the other, and with sections that last
 * longer at the same time.  The replay goes on, and says so. */
START_TEST(test_circle)
{
	struct trc_model *m = model_of(THREADS "@1000 thread=1 acquire reason=mutex object=0x10\n"
					       "@2000 thread=1 acquire reason=mutex object=0x20\n"
					       "@2100 thread=1 release reason=mutex object=0x20\n"
					       "@2100 thread=1 release reason=mutex object=0x10\n"
					       "@2500 thread=2 acquire reason=mutex object=0x20\n"
					       "@3500 thread=2 acquire reason=mutex object=0x10\n"
					       "@3600 thread=2 release reason=mutex object=0x10\n"
					       "@3600 thread=2 release reason=mutex object=0x20\n",
				       PARTS);
	struct trc_error error = {""};
	struct trc_whatif w;

	ck_assert_int_eq(trc_whatif_make(&w, m, "lock 0x10 * 10", &error), 0);
	ck_assert_uint_eq(w.n_forced, 1);
	ck_assert_int_eq(w.length.recorded_ns, 3600);
	trc_whatif_free(&w);
	model_close(m);
}
END_TEST

/* ---- the lock of which who gets it next decides ---- */

#define LONG_LOCK                                                                                  \
	"@50 thread=1 task_begin task=1 type=\"waits\"\n"                                             \
	"@60 thread=3 task_begin task=2 type=\"apart\"\n"                                             \
	"@100 thread=2 acquire reason=mutex object=0x20\n"                                         \
	"@2000 thread=1 park reason=mutex object=0x20 holder=2\n"

static const struct {
	const char *what, *text;
	uint64_t lock;
} SATURATED[] = {
	{"two threads have it by turns",
	 THREADS LONG_LOCK "@5000 thread=2 release reason=mutex object=0x20\n"
			   "@5000 thread=2 unlock reason=mutex object=0x20 waiters=1\n"
			   "@5000 thread=1 resume reason=mutex object=0x20\n"
			   "@5000 thread=1 acquire reason=mutex object=0x20\n"
			   "@9900 thread=1 release reason=mutex object=0x20\n",
	 0x20},
	{"a thread has ended with it, and nobody gets it next",
	 THREADS LONG_LOCK "@3000 thread=2 thread_exit\n"
			   "@9900 thread=1 resume reason=mutex object=0x20 result=ETIMEDOUT\n",
	 0},
};

START_TEST(test_saturated)
{
	char text[2000];
	const struct trc_whatif_type *type;
	struct trc_error error = {""};
	struct trc_whatif w;
	struct trc_model *m;

	snprintf(text, sizeof(text),
		 "%s@9950 thread=3 acquire reason=mutex object=0x10\n"
		 "@9960 thread=3 release reason=mutex object=0x10\n"
		 "@9970 thread=1 task_end task=1\n"
		 "@10000 thread=3 task_end task=2\n",
		 SATURATED[_i].text);
	m = model_of(text, PARTS);
	ck_assert_msg(!trc_whatif_make(&w, m, "lock 0x10 * 2", &error), "%s", error.text);
	ck_assert_msg(w.saturated == SATURATED[_i].lock, "%s: 0x%" PRIx64, SATURATED[_i].what,
		      w.saturated);
	ck_assert_uint_eq(w.types.n, 2);
	type = w.types.row;
	ck_assert_str_eq(type[0].name, "apart");
	ck_assert_msg(!type[0].by_chance, "%s: who never waits for it", SATURATED[_i].what);
	ck_assert_msg(type[1].by_chance == (SATURATED[_i].lock != 0), "%s", SATURATED[_i].what);
	trc_whatif_free(&w);
	model_close(m);
}
END_TEST

/* ---- what tasks leave to chance (whatif:W4) ---- */

/* Tasks of one thread after the other, and a lock that nothing depends on.  `burst` tasks in a row are slow, each
 * burst as slow as it happens to be; 0: each task is as slow as it happens to be. */
static char *tasks_text(uint64_t seed, unsigned int n, unsigned int burst)
{
	uint64_t state = seed * 2 + 1;
	double at_us = 1, slow_us = 0;
	size_t n_bytes;
	char *text;
	FILE *out = open_memstream(&text, &n_bytes);

	for (int i = 0; i < 8; i++)
		uniform(&state);
	fputs(THREADS "@100 thread=2 acquire reason=mutex object=0x10\n"
		      "@200 thread=2 release reason=mutex object=0x10\n",
	      out);
	for (unsigned int i = 0; i < n; i++) {
		double us = exponential(&state, 1);

		if (burst && i % burst == 0)
			slow_us = uniform(&state) < 0.05 ? 100 + 100 * uniform(&state) : 0;
		us = burst ? 10 + slow_us : us * 1000;
		fprintf(out, "@%lld thread=1 task_begin task=%u type=\"job\"\n", (long long)(at_us * 1e3), i + 1);
		at_us += us;
		fprintf(out, "@%lld thread=1 task_end task=%u\n", (long long)(at_us * 1e3), i + 1);
	}
	fclose(out);
	return text;
}

static struct trc_whatif_type type_of_run(uint64_t seed, unsigned int n, unsigned int burst,
					  struct trc_whatif_figure *length)
{
	char *text = tasks_text(seed, n, burst);
	struct trc_model *m = model_of(text, PARTS);
	struct trc_error error = {""};
	struct trc_whatif_type type;
	struct trc_whatif w;

	ck_assert_msg(!trc_whatif_make(&w, m, "lock 0x10 * 2", &error), "%s", error.text);
	ck_assert_uint_eq(w.types.n, 1);
	type = *(const struct trc_whatif_type *)w.types.row;
	*length = w.length;
	trc_whatif_free(&w);
	model_close(m);
	free(text);
	return type;
}

static struct trc_whatif_type type_of(uint64_t seed, unsigned int n, unsigned int burst)
{
	struct trc_whatif_figure length;

	return type_of_run(seed, n, burst, &length);
}

static bool covers(const struct trc_whatif_figure *f, double truth_ns)
{
	return f->at_least || fabs((double)f->predicted_ns - truth_ns) <= (double)f->uncertain_ns;
}

/* How often the true figure is in the interval.  Slow tasks come by chance in both, alone or in bursts. */
static const struct {
	const char *what;
	unsigned int n, burst;
	double p50_ns, p99_ns;
	unsigned int p50_least, p99_least; /* of 100 runs */
} CHANCES[] = {
	{"tasks that know nothing of each other", 1000, 0, 693147, 4605170, 90, 90},
	/* 5 % of the tasks are slow, evenly from 110 to 210 µs */
	{"bursts of 5 slow tasks", 4000, 5, 10000, 190000, 90, 85},
};

START_TEST(test_chance)
{
	enum { RUNS = 100 };
	unsigned int p50 = 0, p99 = 0, open = 0;

	if (!takes_turn((size_t)_i, 2))
		return;
	for (unsigned int i = 0; i < RUNS; i++) {
		struct trc_whatif_type type =
			type_of(1000u * (unsigned int)_i + i, CHANCES[_i].n, CHANCES[_i].burst);

		p50 += covers(&type.p50, CHANCES[_i].p50_ns);
		p99 += covers(&type.p99, CHANCES[_i].p99_ns);
		open += type.p99.at_least;
	}
	printf("%s: p50 is in its interval in %u, p99 in %u of %d runs, %u of them without a bound\n",
	       CHANCES[_i].what, p50, p99, RUNS, open);
	ck_assert_uint_ge(p50, CHANCES[_i].p50_least);
	ck_assert_uint_ge(p99, CHANCES[_i].p99_least);
	ck_assert_uint_le(open, RUNS / 2);
}
END_TEST

/* How often the figure of another run is in the interval: that run's tasks are as much a matter of chance. */
START_TEST(test_chance_of_another)
{
	enum { RUNS = 300, LEAST = 281 }; /* of 285, 19 of 20, one standard deviation less */
	unsigned int mean = 0, p50 = 0, p99 = 0, length = 0;

	if (!takes_turn((size_t)_i, 2))
		return;
	for (unsigned int i = 0; i < RUNS; i++) {
		unsigned int seed = 100000 + 2 * i;
		struct trc_whatif_figure of_run, of_another;
		struct trc_whatif_type type = type_of_run(seed, CHANCES[_i].n, CHANCES[_i].burst, &of_run),
				       another = type_of_run(seed + 1, CHANCES[_i].n,
							     CHANCES[_i].burst, &of_another);

		mean += covers(&type.mean, (double)another.mean.recorded_ns);
		p50 += covers(&type.p50, (double)another.p50.recorded_ns);
		p99 += covers(&type.p99, (double)another.p99.recorded_ns);
		length += covers(&of_run, (double)of_another.recorded_ns);
	}
	printf("%s: of another run the mean is in its interval in %u, p50 in %u, p99 in %u, the length in %u of %d\n",
	       CHANCES[_i].what, mean, p50, p99, length, RUNS);
	ck_assert_uint_ge(mean, LEAST);
	ck_assert_uint_ge(p50, LEAST);
	ck_assert_uint_ge(p99, LEAST);
	ck_assert_uint_ge(length, LEAST);
}
END_TEST

START_TEST(test_too_few)
{
	struct trc_whatif_type few = type_of(1, 100, 0), many = type_of(1, 2000, 0);

	ck_assert(few.p99.at_least && !few.p50.at_least && !few.mean.at_least);
	ck_assert(!many.p99.at_least);
}
END_TEST

/* ---- samples of a clock, and of a counter ---- */

static __attribute__((noinline)) void sampled_function(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop");
}

/* The build id of the program, in hexadecimal. */
static void build_id(const struct dl_phdr_info *program, char text[129])
{
	text[0] = '\0';
	for (int i = 0; i < program->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &program->dlpi_phdr[i];
		const char *at = (const char *)(program->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
			const unsigned char *id = (const unsigned char *)(note + 1) + (note->n_namesz + 3) / 4 * 4;

			for (unsigned int k = 0; note->n_type == NT_GNU_BUILD_ID && k < note->n_descsz && k < 64; k++)
				snprintf(text + 2 * k, 3, "%02x", id[k]);
			at = (const char *)id + (note->n_descsz + 3) / 4 * 4;
		}
	}
}

static int find_program(struct dl_phdr_info *info, size_t n_bytes, void *out)
{
	(void)n_bytes;
	*(struct dl_phdr_info *)out = *info;
	return 1; /* the first is the program */
}

/*
 * Thread 1 is active for 8 µs, in which a clock took 8 samples, 2 of them in sampled_function(); and a counter 40 more
 * there, which say nothing of time.
 */
static char *sampled_text(void)
{
	struct dl_phdr_info program;
	char path[4096] = "", id[129], *text;
	unsigned long function = (unsigned long)(uintptr_t)sampled_function + 1;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	sampled_function();
	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	dl_iterate_phdr(find_program, &program);
	build_id(&program, id);
	for (int i = 0; i < program.dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &program.dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			fprintf(out, "module me path=\"%s\" start=%#lx limit=%#lx offset=%lu bias=%#lx build_id=%s\n", path,
				(unsigned long)(program.dlpi_addr + p->p_vaddr),
				(unsigned long)(program.dlpi_addr + p->p_vaddr + p->p_memsz),
				(unsigned long)p->p_offset, (unsigned long)program.dlpi_addr, id);
	}
	fprintf(out, "stack in %#lx\nstack out 0x300 0x200 0x1f\n", function);
	fputs("sample_event 1 name=\"cpu-clock\" how=signal period=1000\n"
	      "sample_event 2 name=\"cycles\" unit=\"count\" how=signal period=1000\n"
	      "thread 1 tid=101\n@0 thread=1 task_begin task=7 type=\"job\"\n",
	      out);
	for (int i = 0; i < 8; i++) {
		fprintf(out, "@%d thread=1 sample event=1 value=1000 period=1000 stack=%s\n", 500 + 1000 * i,
			i < 2 ? "in" : "out");
		for (int j = 0; j < 5; j++)
			fprintf(out, "@%d thread=1 sample event=2 value=1000 period=1000 stack=in\n",
				600 + 1000 * i + j);
	}
	fputs("@8000 thread=1 task_end task=7\n", out);
	fclose(out);
	return text;
}

/* The half width of the 95 % interval of two samples' share of eight, relative. */
static double margin_of_two_in_eight(void)
{
	struct trc_margin_part in = {2000, 2e6, 2}, whole = {8000, 8e6, 8};
	struct trc_margin group = {0}, all = {0};

	trc_margin_add(&group, &in, &whole);
	trc_margin_add(&all, &whole, &whole);
	return trc_margin_share(&group, &all) / 2000;
}

START_TEST(test_clock_samples)
{
	char *text = sampled_text();
	struct trc_model *m = model_of(text, PARTS);
	struct trc_error error = {""};
	const struct trc_whatif_type *type;
	struct trc_whatif w;

	ck_assert_msg(!trc_whatif_make(&w, m, "function sampled_function * 0", &error), "%s", error.text);
	type = w.types.row;
	ck_assert_uint_eq(w.types.n, 1);
	ck_assert_uint_eq(w.n_sampled, 2);
	/* As the report has it: a standard error is 0.61. */
	ck_assert_double_eq_tol(w.sampling_margin, margin_of_two_in_eight(), 1e-9);
	ck_assert_double_gt(w.sampling_margin, 0.9);
	/* A fourth of the time, and not 42 of 48 samples. */
	ck_assert_int_eq(type->mean.predicted_ns, 6000);
	trc_whatif_free(&w);
	model_close(m);
	free(text);
}
END_TEST

/* A trace without events. */
START_TEST(test_empty)
{
	struct trc_model *m = model_of("thread 1 tid=1\n", PARTS);
	struct trc_error error = {""};
	struct trc_whatif w;

	ck_assert_int_eq(trc_whatif_make(&w, m, "no lock x", &error), -ENOENT);
	trc_whatif_free(&w);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("whatif");
	TCase *tc = tcase_create("whatif");

	tcase_add_loop_test(tc, test_case, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, test_refused, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(tc, test_near, 0, sizeof(near_names) / sizeof(near_names[0]));
	tcase_add_loop_test(tc, test_saturated, 0, sizeof(SATURATED) / sizeof(*SATURATED));
	tcase_add_test(tc, test_circle);
	tcase_add_test(tc, test_empty);
	tcase_add_test(tc, test_too_few);
	tcase_add_test(tc, test_clock_samples);
	suite_add_tcase(suite, tc);
	tc = tcase_create("chance");
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, test_chance, 0, sizeof(CHANCES) / sizeof(*CHANCES));
	tcase_add_loop_test(tc, test_chance_of_another, 0, sizeof(CHANCES) / sizeof(*CHANCES));
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
