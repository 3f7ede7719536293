/* Waiting sections of the report: a row for each object, with its places (report/group_objects.c). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/report/report.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

#define MODULES                                                                                    \
	"sync ticks=0 realtime=1700000000000000000\n"                                              \
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"              \
	"stack get 0x3011 0x3021\n"                                                                \
	"stack put 0x3041 0x3051\n"                                                                \
	"stack scan 0x3061\n"                                                                      \
	"stack once 0x3071\n"                                                                      \
	"stack twice 0x3081\n"                                                                     \
	"stack new 0x3091 0x3051\n"                                                                \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 name=\"worker 1\"\n"                                                     \
	"thread 3 tid=103 name=\"worker 2\"\n"

/* A wait from one millisecond to another. */
#define WAIT(from, to, thread, reason, object, stack)                                              \
	"@" #to "000000 thread=" #thread " wait reason=" reason " object=" object                  \
	" since=" #from "000000 stack=" stack "\n"
#define HELD(at, thread, object, stack)                                                            \
	"@" #at "000000 thread=" #thread " unlock reason=mutex object=" object                     \
	" waiters=1 stack=" stack "\n"

#define COLUMNS "     total  of time      waits      mean   longest  threads  for\n"

static const struct {
	const char *what, *trace, *section;
} SECTIONS[] = {
	{"a lock at two places is one row, the larger place first; a culprit of its own is told",
	 MODULES "@0 counter name=\"c\" value=1\n" WAIT(0, 10, 2, "mutex", "0x7f10", "get")
		 HELD(10, 1, "0x7f10", "put") WAIT(10, 40, 2, "mutex", "0x7f10", "scan")
			 HELD(40, 1, "0x7f10", "once") "@100000000 counter name=\"c\" value=1\n",
	 "Waiting for locks  40.0 ms in 2 waits  (of time: share of the waiting threads' lifetime)\n"
	 COLUMNS
	 "   40.0 ms    40.0%          2   20.0 ms   30.0 ms        1  mutex 0x7f10\n"
	 "             75.0%  server+0x60\n"
	 "             25.0%  server+0x10 < server+0x20\n"
	 "                    caused by server+0x40, in main (101)\n"
	 "            caused by server+0x70, 75.0% of it, in main (101)\n"
	 "\n"},
	{"what is little is summed, and nothing of it is lost",
	 MODULES WAIT(0, 1, 3, "mutex", "0x7f10", "scan") WAIT(1, 3, 3, "mutex", "0x7f10", "put")
		 WAIT(3, 10, 3, "mutex", "0x7f10", "once") WAIT(0, 90, 2, "mutex", "0x7f10", "get"),
	 "Waiting for locks  100 ms in 4 waits  (of time: share of the waiting threads' lifetime)\n"
	 COLUMNS
	 "    100 ms    55.6%          4   25.0 ms   90.0 ms        2  mutex 0x7f10\n"
	 "             90.0%  server+0x10 < server+0x20\n"
	 "              7.0%  server+0x70\n"
	 "              3.0%  at 2 more places\n"
	 "\n"},
	{"reading and writing are of one lock; each place says which it is",
	 MODULES WAIT(0, 30, 2, "rwlock_read", "0x7f10", "get")
		 WAIT(0, 70, 3, "rwlock_write", "0x7f10", "put"),
	 "Waiting for locks  100 ms in 2 waits  (of time: share of the waiting threads' lifetime)\n"
	 COLUMNS
	 "    100 ms    71.4%          2   50.0 ms   70.0 ms        2  rwlock 0x7f10\n"
	 "             70.0%  rwlock_write at server+0x40 < server+0x50\n"
	 "             30.0%  rwlock_read at server+0x10 < server+0x20\n"
	 "\n"},
	{"a mutex and a condition at one address are two objects",
	 MODULES WAIT(0, 30, 2, "mutex", "0x7f10", "get") WAIT(0, 70, 3, "cond", "0x7f10", "get")
		 "@140000000 counter name=\"c\" value=1\n",
	 "Waiting for locks  30.0 ms in 1 wait  (of time: share of the waiting threads' lifetime)\n"
	 COLUMNS
	 "   30.0 ms    21.4%          1   30.0 ms   30.0 ms        1  mutex 0x7f10\n"
	 "            server+0x10 < server+0x20\n"
	 "\n"
	 "Waiting for other threads  70.0 ms in 1 wait\n" COLUMNS
	 "   70.0 ms    50.0%          1   70.0 ms   70.0 ms        1  cond 0x7f10\n"
	 "            server+0x10 < server+0x20\n"
	 "\n"},
	{"locks without names at one place are alike: one row; none is told if none stands out",
	 MODULES WAIT(0, 10, 2, "mutex", "0x7f10", "get") WAIT(10, 20, 2, "mutex", "0x7f40", "get")
		 WAIT(20, 30, 2, "mutex", "0x7f80", "get"),
	 "Waiting for locks  30.0 ms in 3 waits  (of time: share of the waiting threads' lifetime)\n"
	 COLUMNS
	 "   30.0 ms   100.0%          3   10.0 ms   10.0 ms        1  mutex, 3 objects\n"
	 "            server+0x10 < server+0x20\n"
	 "\n"},
	{"one that stands out among them is told",
	 MODULES WAIT(0, 50, 2, "mutex", "0x7f10", "get") WAIT(50, 60, 2, "mutex", "0x7f40", "get"),
	 "Waiting for locks  60.0 ms in 2 waits  (of time: share of the waiting threads' lifetime)\n"
	 COLUMNS
	 "   60.0 ms   100.0%          2   30.0 ms   50.0 ms        1  mutex 0x7f10 and 1 other\n"
	 "            server+0x10 < server+0x20\n"
	 "\n"},
	{"one that was waited for there only briefly is not alike",
	 MODULES WAIT(0, 50, 2, "mutex", "0x7f10", "get") WAIT(50, 52, 2, "mutex", "0x7f40", "get")
		 WAIT(60, 98, 2, "mutex", "0x7f40", "scan"),
	 "Waiting for locks  90.0 ms in 3 waits  (of time: share of the waiting threads' lifetime)\n" COLUMNS
	 "   50.0 ms    51.0%          1   50.0 ms   50.0 ms        1  mutex 0x7f10\n"
	 "            server+0x10 < server+0x20\n"
	 "   40.0 ms    40.8%          2   20.0 ms   38.0 ms        1  mutex 0x7f40\n"
	 "             95.0%  server+0x60\n"
	 "              5.0%  server+0x10 < server+0x20\n"
	 "\n"},
	{"locks that are alike to a third are alike, with all their places",
	 MODULES WAIT(0, 50, 2, "mutex", "0x7f10", "get") WAIT(50, 60, 2, "mutex", "0x7f40", "get")
		 WAIT(60, 90, 2, "mutex", "0x7f40", "scan")
			 WAIT(90, 100, 2, "mutex", "0x7f80", "scan"),
	 "Waiting for locks  100 ms in 4 waits  (of time: share of the waiting threads' lifetime)\n" COLUMNS
	 "    100 ms   100.0%          4   25.0 ms   50.0 ms        1  mutex, 3 objects\n"
	 "             60.0%  server+0x10 < server+0x20\n"
	 "             40.0%  server+0x60\n"
	 "\n"},
	{"locks allocated at one place are alike wherever they are waited for",
	 MODULES "@0 thread=1 alloc sample=1 address=0x7f00 bytes=64 period=1 stack=new\n"
		 "@0 thread=1 alloc sample=2 address=0x7f40 bytes=64 period=1 stack=new\n"
		 WAIT(0, 50, 2, "mutex", "0x7f10", "get") WAIT(50, 100, 2, "mutex", "0x7f50", "scan"),
	 "Waiting for locks  100 ms in 2 waits  (of time: share of the waiting threads' lifetime)\n"
	 COLUMNS
	 "    100 ms   100.0%          2   50.0 ms   50.0 ms        1  mutex, 2 objects\n"
	 "            allocated at server+0x90 < server+0x50\n"
	 "             50.0%  server+0x10 < server+0x20\n"
	 "             50.0%  server+0x60\n"
	 "\n"},
	{"a wait for three sections of one place is one wait",
	 MODULES "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
		 "@3000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
		 "@5000000 thread=3 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
		 "@7000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
		 "@7100000 thread=2 resume reason=mutex object=0x7f10\n",
	 "    caused   to waits   sections      mean   longest  lock, released at\n"
	 "   6.00 ms          1          3   2.00 ms   2.00 ms  mutex 0x7f10, by main (101) and 1 other\n"},
	{"a process that executed another program has one first thread",
	 MODULES "info pid \"101\"\nthread 4 tid=101 name=\"new\"\n" WAIT(0, 10, 2, "mutex", "0x7f10", "get"),
	 "\n3 threads, 1 proc,"},
	{"the first thread is one also where nothing was recorded of the last program",
	 MODULES "info pid \"101\"\n" WAIT(0, 10, 2, "mutex", "0x7f10", "get")
		 "@20000000 thread=3 counter name=\"c\" value=1\n"
		 "@40000000 thread=0 process what=2 value=3\n",
	 "\n1 thread (and 2 of the programs before it), 1 proc,"},
	{"its later first thread is alive since the other program was executed, the earlier one until then",
	 MODULES "info pid \"101\"\nthread 4 tid=101 name=\"new\"\n"
		 "@0 thread=1 counter name=\"c\" value=1\n"
		 "@40000000 thread=0 process what=2 value=3\n"
		 "@50000000 thread=4 wait reason=mutex object=0x7f10 since=45000000 stack=get\n"
		 "@100000000 thread=4 counter name=\"c\" value=1\n",
	 "  new (101)                        60.0 ms       91.7%    8.3%\n"
	 "  main (101)                       40.0 ms      100.0%\n"},
	{"descriptors are reused: places stay apart",
	 MODULES WAIT(0, 60, 2, "read", "3", "get") WAIT(60, 100, 2, "read", "3", "put"),
	 "Waiting for files and sockets  100 ms in 2 waits  (of time: share of the waiting threads' "
	 "lifetime)\n" COLUMNS
	 "   60.0 ms    60.0%          1   60.0 ms   60.0 ms        1  read fd 3\n"
	 "            server+0x10 < server+0x20\n"
	 "   40.0 ms    40.0%          1   40.0 ms   40.0 ms        1  read fd 3\n"
	 "            server+0x40 < server+0x50\n"
	 "\n"},
};

static char *printed(const char *trace, bool full)
{
	const struct trc_report_options options = {.path = "dump.trc", .full = full};
	struct trc_error error = {""};
	struct trc_model *m = model_of(trace, 0);
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_print(m, out, &options, &error), 0);
	fclose(out);
	model_close(m);
	return text;
}

START_TEST(sections)
{
	char *text = printed(SECTIONS[_i].trace, false);

	ck_assert_msg(strstr(text, SECTIONS[_i].section) != NULL, "%s:\n%s\nin:\n%s",
		      SECTIONS[_i].what, SECTIONS[_i].section, text);
	free(text);
}
END_TEST

/* --full: each frame has a line of its own, below the first; libc's too, but not what starts a thread. */
START_TEST(whole_stacks)
{
	static const char WANTED[] =
		"   40.0 ms   100.0%          2   20.0 ms   30.0 ms        1  mutex 0x7f10\n"
		"             75.0%  libc.so.6+0x20\n"
		"                    server+0xa0\n"
		"             25.0%  server+0x10\n"
		"                    server+0x20\n"
		"\n";
	char *text = printed(
		MODULES "module libc path=\"/lib/libc.so.6\" start=0x8000 limit=0x9000 bias=0x8000\n"
			"stack in_libc 0x8021 0x30a1 0x8031\n"
			WAIT(0, 10, 2, "mutex", "0x7f10", "get")
				WAIT(10, 40, 2, "mutex", "0x7f10", "in_libc"),
		true);

	ck_assert_msg(strstr(text, WANTED) != NULL, "%s", text);
	free(text);
}
END_TEST

/* --full: the circles in the order of locks, and latencies by who woke the thread and by proc; not without it. */
START_TEST(full_sections)
{
	static const char TRACE[] =
		MODULES
		"stack a 0x3011 0x3021\nstack b 0x3041 0x3051\n"
		"@1000 proc=0 source=kernel thread=2 proc_start\n"
		"@1000 proc=1 source=kernel thread=3 proc_start\n"
		"@1100 proc=0 thread=2 acquire reason=mutex object=0x60 stack=a\n"
		"@1200 proc=0 thread=2 acquire reason=mutex object=0x70 stack=b\n"
		"@1300 proc=0 thread=2 release reason=mutex object=0x70\n"
		"@1400 proc=0 thread=2 release reason=mutex object=0x60\n"
		"@2000 proc=0 thread=2 park reason=sem object=0x90 stack=a\n"
		"@2001 proc=0 source=kernel thread=2 proc_stop\n"
		"@2500 proc=1 thread=3 unpark reason=sem object=0x90 count=1\n"
		"@2800 proc=0 source=kernel thread=2 proc_start\n"
		"@2810 proc=0 thread=2 resume reason=sem object=0x90\n"
		"@3000 proc=1 source=kernel thread=3 proc_stop preempted=1\n"
		"@3600 proc=0 source=kernel thread=2 proc_stop preempted=1\n"
		"@3700 proc=0 source=kernel thread=2 proc_start\n"
		"@3900 proc=1 source=kernel thread=3 proc_start\n"
		"@4000 proc=1 thread=3 acquire reason=mutex object=0x70 stack=b\n"
		"@4100 proc=1 thread=3 acquire reason=mutex object=0x60 stack=a\n";
	static const char *const WANTED[] = {
		"Locks in a circle, 1 of 1  held while another is taken, the first time\n"
		"  worker 1 (102) takes mutex 0x70 while it holds mutex 0x60, 1 time\n"
		"    held:   server+0x10\n"
		"            server+0x20\n"
		"    taken:  server+0x40\n"
		"            server+0x50\n"
		"  worker 2 (103) takes mutex 0x60 while it holds mutex 0x70, 1 time\n"
		"    held:   server+0x40\n"
		"            server+0x50\n"
		"    taken:  server+0x10\n"
		"            server+0x20\n"
		"\n",
		"     total               times       p50       p99   longest  woken or created by\n"
		"   1.00 µs                   2    100 ns    900 ns    900 ns  nobody: they were preempted\n"
		"    300 ns                   1    300 ns    300 ns    300 ns  worker 2 (103)\n"
		"     total               times       p50       p99   longest  where they ran then\n"
		"    900 ns                   1    900 ns    900 ns    900 ns  proc 1\n"
		"    400 ns                   2    100 ns    300 ns    300 ns  proc 0\n"
		"\n",
		"   1.30 µs    15.9%          3    300 ns    900 ns    900 ns  worker 1 (102) and 1 other\n",
	};
	char *text = printed(TRACE, true), *less = printed(TRACE, false);

	for (size_t i = 0; i < sizeof(WANTED) / sizeof(*WANTED); i++)
		ck_assert_msg(strstr(text, WANTED[i]) != NULL, "%s", text);
	ck_assert_msg(!strstr(less, "Locks in a circle") && !strstr(less, "where they ran then"), "%s",
		      less);
	free(text);
	free(less);
}
END_TEST

/* A thread could run from when it was created, before its first event: the shares are of that time, and never more than all of it. */
START_TEST(latencies_of_new_threads)
{
	static const char TRACE[] =
		MODULES
		"@1000 proc=0 source=kernel thread=1 proc_start\n"
		"@1000000 proc=1 source=kernel thread=4 proc_start\n"
		"@1000100 proc=1 thread=4 thread_start tid=104 creator=1 created=200000\n"
		"@1200100 proc=1 thread=4 thread_exit\n";
	/* 800 of 1000 us */
	static const char WANTED[] = "    800 µs    80.0%          1    800 µs    800 µs    800 µs  thread 104\n";
	char *text = printed(TRACE, true);

	ck_assert_msg(strstr(text, WANTED) != NULL, "%s", text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_objects");
	TCase *tcase = tcase_create("sections");

	tcase_add_loop_test(tcase, sections, 0, sizeof(SECTIONS) / sizeof(*SECTIONS));
	tcase_add_test(tcase, whole_stacks);
	tcase_add_test(tcase, full_sections);
	tcase_add_test(tcase, latencies_of_new_threads);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
