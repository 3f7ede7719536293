/*
 * check_window_test.c - --check of snapshots: what an event from before the window may settle is no
 * violation, everything else is found as in a recording (check:V5).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/check/check.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

/* Thread 1 is older than the window, which begins at 1000; thread 2 is not. */
#define HEAD                                                                                       \
	"thread 1 tid=101 start=100\n"                                                             \
	"thread 2 tid=102 creator=1 start=1100\n"                                                  \
	"coverage proc=0 held=500 from=1000 to=9000\n"                                             \
	"coverage proc=1 held=1000 from=1000 to=9000\n"

static const struct row {
	const char *what;
	const char *text;
	const char *line; /* the only violation; NULL = there is none */
} rows[] = {
	{"a wait may have begun before the window",
	 HEAD "@1500 thread=1 resume reason=mutex object=1\n", NULL},
	{"not if its thread has done something in the window before",
	 HEAD "@1400 thread=1 log message=\"here\"\n@1500 thread=1 resume reason=mutex object=1\n",
	 "thread 1: its resume at 1500 ns (mutex 0x1) has no park"},
	{"nor if the thread began in the window",
	 HEAD "@1500 thread=2 resume reason=mutex object=1\n",
	 "thread 2: its resume at 1500 ns (mutex 0x1) has no park"},
	{"a fiber may have been gone over to before the window",
	 HEAD "@500 thread=1 fiber_switch fiber=5\n@1500 thread=1 fiber_switch left=6\n", NULL},
	{"not in it",
	 HEAD "@1200 thread=1 fiber_switch fiber=5\n@1500 thread=1 fiber_switch left=6\n",
	 "thread 1: until 1500 ns it ran fiber 6, but at 1200 ns it went over to fiber 5"},
	{"a region of a fiber from before the window may have begun before it",
	 HEAD "@1200 thread=1 fiber_switch fiber=5\n@1500 thread=1 region_end\n", NULL},
	{"taking the lock is part of the wait for it",
	 HEAD "@1400 thread=1 acquire reason=mutex object=1\n"
	      "@1500 thread=1 resume reason=mutex object=1\n",
	 NULL},
	{"and so are giving back and taking a mutex of a condition wait",
	 HEAD "@1100 thread=1 release reason=mutex object=1\n"
	      "@1200 thread=1 unlock reason=mutex object=1 waiters=1\n"
	      "@1400 thread=1 acquire reason=mutex object=1\n"
	      "@1500 thread=1 resume reason=cond object=2\n",
	 NULL},
	{"and waiting for that mutex",
	 HEAD "@1200 thread=1 unlock reason=mutex object=1 waiters=1\n"
	      "@1400 thread=1 wait reason=cond_mutex object=1 since=1300\n"
	      "@1450 thread=1 acquire reason=mutex object=1\n"
	      "@1500 thread=1 resume reason=cond object=2\n",
	 NULL},
	{"but no other wait",
	 HEAD "@1400 thread=1 wait reason=read object=1 since=1300\n"
	      "@1500 thread=1 resume reason=cond object=2\n",
	 "thread 1: its resume at 1500 ns (cond 0x2) has no park"},
	{"of which the window may show the last alone",
	 HEAD "@1400 thread=1 acquire reason=mutex object=1\n"
	      "@1500 thread=1 resume reason=cond object=2\n",
	 NULL},
	{"or, where takings are not recorded, the first",
	 HEAD "@1200 thread=1 unlock reason=mutex object=1 waiters=1\n"
	      "@1500 thread=1 resume reason=cond object=2\n",
	 NULL},
	{"taking another lock is not",
	 HEAD "@1400 thread=1 acquire reason=mutex object=2\n"
	      "@1500 thread=1 resume reason=mutex object=1\n",
	 "thread 1: its resume at 1500 ns (mutex 0x1) has no park"},
	{"nor taking one in another way",
	 HEAD "@1400 thread=1 acquire reason=rwlock_read object=1\n"
	      "@1500 thread=1 resume reason=rwlock_write object=1\n",
	 "thread 1: its resume at 1500 ns (rwlock_write 0x1) has no park"},
	{"nor anything else of a lock in a wait for it",
	 HEAD "@1400 thread=1 release reason=mutex object=1\n"
	      "@1500 thread=1 resume reason=mutex object=1\n",
	 "thread 1: its resume at 1500 ns (mutex 0x1) has no park"},
	{"nor giving back what was taken",
	 HEAD "@1300 thread=1 acquire reason=mutex object=1\n"
	      "@1400 thread=1 release reason=mutex object=1\n"
	      "@1500 thread=1 resume reason=cond object=2\n",
	 "thread 1: its resume at 1500 ns (cond 0x2) has no park"},
	{"nor giving back one mutex and taking another",
	 HEAD "@1300 thread=1 release reason=mutex object=1\n"
	      "@1400 thread=1 acquire reason=mutex object=3\n"
	      "@1500 thread=1 resume reason=cond object=2\n",
	 "thread 1: its resume at 1500 ns (cond 0x2) has no park"},
	{"and there is one such wait",
	 HEAD "@1200 thread=1 acquire reason=mutex object=1\n"
	      "@1300 thread=1 resume reason=mutex object=1\n"
	      "@1400 thread=1 acquire reason=mutex object=1\n"
	      "@1500 thread=1 resume reason=mutex object=1\n",
	 "thread 1: its resume at 1500 ns (mutex 0x1) has no park"},
	{"none of a thread that began in the window",
	 HEAD "@1400 thread=2 acquire reason=mutex object=1\n"
	      "@1500 thread=2 resume reason=mutex object=1\n",
	 "thread 2: its resume at 1500 ns (mutex 0x1) has no park"},
	{"what another stream held of the thread from before does not tell when it parked",
	 HEAD "@600 thread=1 log message=\"\"\n"
	      "@1400 proc=1 thread=1 acquire reason=mutex object=1\n"
	      "@1500 proc=1 thread=1 resume reason=mutex object=1\n",
	 NULL},
	{"a park in the window has its resume there",
	 HEAD "@1500 thread=1 park reason=mutex object=1\n@1600 thread=1 thread_exit\n",
	 "thread 1: its park at 1500 ns (mutex 0x1) has no resume"},
	{"a wait may be in progress when the window ends",
	 HEAD "@1500 thread=1 park reason=mutex object=1\n", NULL},
	{"that it was sampled is nothing that the thread did",
	 HEAD "@1400 thread=1 sample event=1\n@1500 thread=1 resume reason=mutex object=1\n"
	      "sample_event 1 how=timer\n",
	 NULL},
	{"labels may have changed before the window",
	 HEAD "labels a tenant=\"acme\"\n@600 thread=1 labels labels=a\n"
	      "@1500 thread=1 labels labels=a\n",
	 NULL},
	{"but not unseen within it",
	 HEAD "labels a tenant=\"acme\"\n@1400 thread=1 labels labels=a\n"
	      "@1500 thread=1 labels labels=a\n",
	 "thread 1: until 1500 ns it had label set 0, but at 1400 ns it was given set 1"},
	{"regions may have begun before the window, any number of them",
	 HEAD "@1500 thread=1 region_end\n@1600 thread=1 region_begin type=\"r\"\n"
	      "@1700 thread=1 region_end\n@1800 thread=1 region_end\n",
	 NULL},
	{"not those of a thread that began in it", HEAD "@1500 thread=2 region_end\n",
	 "thread 2: the region end at 1500 ns has no begin"},
	{"a region that began in the window ends before its thread",
	 HEAD "@1500 thread=1 region_begin type=\"r\"\n@1600 thread=1 thread_exit\n",
	 "thread 1: its region \"r\" of 1500 ns is open when it exits"},
	{"a task may have begun before the window",
	 HEAD "@1500 thread=1 task_end task=7\n@1600 thread=1 log task=8 message=\"\"\n", NULL},
	{"but it ends once",
	 HEAD "@1500 thread=1 task_end task=7\n@1600 thread=2 task_end task=7\n",
	 "task 7: ends at 1500 ns, and again at 1600 ns"},
	{"and begins once",
	 HEAD "@1500 thread=1 task_begin task=7\n@1600 thread=2 task_begin task=7\n",
	 "task 7: begins at 1500 ns, and again at 1600 ns"},
	{"nothing follows an exit",
	 HEAD "@1500 thread=1 thread_exit\n@1600 thread=1 log message=\"\"\n",
	 "thread 1: log at 1600 ns, after its exit at 1500 ns"},
	{"what one stream still held from before the window may miss what others did not",
	 HEAD "@600 thread=1 park reason=mutex object=1\n"
	      "@700 thread=1 region_begin type=\"r\"\n"
	      "@1500 proc=1 thread=1 resume reason=cond object=2\n"
	      "@1600 proc=1 thread=1 thread_exit\n",
	 NULL},
	{"but is judged by what is there",
	 HEAD "@600 thread=1 thread_exit\n@700 thread=1 log message=\"\"\n",
	 "thread 1: log at 700 ns, after its exit at 600 ns"},
	{"what is freed may be from before, and what is allocated may stay",
	 HEAD "@1400 thread=1 free sample=1 address=1 bytes=8 period=512\n"
	      "@1500 thread=1 alloc sample=2 address=1 bytes=8 period=512\n",
	 NULL},
	{"from another thread, too",
	 HEAD "@1400 thread=1 alloc sample=1 address=1 bytes=8 period=512\n"
	      "@1500 thread=2 free sample=1 address=1 bytes=8 period=512\n",
	 NULL},
	{"but it is allocated once",
	 HEAD "@1400 thread=1 alloc sample=1 address=1 bytes=8 period=512\n"
	      "@1500 thread=2 alloc sample=1 address=2 bytes=8 period=512\n",
	 "sample 1: allocated at 1400 ns, and again at 1500 ns"},
	{"and freed once",
	 HEAD "@1400 thread=1 free sample=1 address=1 bytes=8 period=512\n"
	      "@1500 thread=2 free sample=1 address=1 bytes=8 period=512\n",
	 "sample 1: freed at 1400 ns, and again at 1500 ns"},
	{"as it was allocated",
	 HEAD "@1400 thread=1 alloc sample=1 address=1 bytes=8 period=512\n"
	      "@1500 thread=2 free sample=1 address=1 bytes=9 period=512\n",
	 "sample 1: its alloc is of 8 bytes at 0x1, one in 512; its free at 1500 ns of 9 at 0x1, "
	 "one in 512"},
	{"and after it",
	 HEAD "@1400 thread=1 free sample=1 address=1 bytes=8 period=512\n"
	      "@1500 thread=2 alloc sample=1 address=1 bytes=8 period=512\n",
	 "sample 1: its free at 1400 ns comes before its alloc at 1500 ns"},
};

struct told {
	uint64_t n;
	char line[512];
};

static void take(void *context, const char *text)
{
	struct told *told = context;

	if (!told->n++)
		strncpy(told->line, text, sizeof(told->line) - 1);
}

START_TEST(windows)
{
	const struct row *row = &rows[_i];
	struct trc_model *m = model_of(row->text, 0);
	struct trc_check_totals totals;
	struct trc_error error;
	struct told told = {0};

	ck_assert_int_eq(trc_check(m, true, take, &told, &totals, &error), 0);
	ck_assert_msg(totals.violations == (row->line != NULL) && told.n == totals.violations,
		      "%s: %s", row->what, told.line);
	ck_assert_msg(!row->line || !strcmp(told.line, row->line), "%s: %s", row->what, told.line);
	ck_assert(!totals.cut_off);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("check_window");
	TCase *tcase = tcase_create("windows");

	tcase_add_loop_test(tcase, windows, 0, sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
