/* What is found wrong with a program (analyzer/report/findings.h): which sentences, in which order. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/report/findings.h"
#include "tests/analyzer/model/model_fixture.h"

#define MODULES                                                                                    \
	"sync ticks=0 realtime=1700000000000000000\n"                                              \
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"              \
	"stack get 0x3011 0x3021\n"                                                                \
	"stack put 0x3041 0x3051\n"                                                                \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 name=\"worker 1\"\n"                                                     \
	"thread 3 tid=103 name=\"worker 2\"\n"
#define CONTENDED                                                                                  \
	"@1000000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"                   \
	"@2000000 thread=3 park reason=mutex object=0x7f10 holder=1 stack=get\n"                   \
	"@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=2 stack=put\n"                \
	"@9000000 thread=2 resume reason=mutex object=0x7f10\n"                                    \
	"@9000000 thread=3 resume reason=mutex object=0x7f10\n"
#define LOCK_FOUND(share)                                                                          \
	"lock cost 1000000-9000000 thread 2 park 1: server+0x40 caused 15.0 ms of the 15.0 ms "    \
	"that 2 threads waited for mutex 0x7f10, " share " of their time\n"
#define LOST "@9500000 thread=1 gap lost_events=5 since=9400000 cause=ring_full\n"
#define LOST_FOUND                                                                                 \
	"lost note 9400000-9500000 thread 0 park 0: lost: 5 events, ring_full, between 9.40 ms "   \
	"and 9.50 ms\n"
#define KILLED                                                                                     \
	"info ended \"killed by signal 11 (SIGSEGV)\"\n"                                           \
	"@9600000 thread=2 signal signal=11 code=1 address=0x40 fatal=1 stack=get\n"
#define HANG                                                                                       \
	"@9700000 thread=1 park reason=mutex object=0x7f20 holder=3 stack=get\n"                   \
	"@9800000 thread=3 park reason=mutex object=0x7f30 holder=1 stack=put\n"
#define END		"@10000000 thread=2 log category=\"c\" message=\"m\"\n"
#define ON(at, thread)	"@" at " source=kernel thread=" thread " proc_start\n"
#define OFF(at, thread) "@" at " source=kernel thread=" thread " proc_stop preempted=1\n"
/* Two threads by turns on one proc, 2 ms each. */
#define BY_TURNS                                                                                   \
	ON("1000000", "1")                                                                         \
	OFF("3000000", "1") ON("3000000", "2") OFF("5000000", "2") ON("5000000", "1")              \
		OFF("7000000", "1") ON("7000000", "2") OFF("9000000", "2")

static const struct {
	const char *what, *trace, *found; /* kind, severity, range, thread, park: sentence */
} FINDINGS[] = {
	{"nothing is wrong",
	 MODULES "@1000000 thread=2 park reason=epoll object=4\n"
		 "@9000000 thread=2 resume reason=epoll object=4\n" END,
	 ""},
	{"a wait of less than a hundredth of the time is none",
	 MODULES "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
		 "@1090000 thread=2 resume reason=mutex object=0x7f10\n" END,
	 ""},
	{"a lock, who caused the waits, and the longest wait", MODULES CONTENDED END,
	 LOCK_FOUND("75.0%")},
	{"a lock of which nobody knows who held it",
	 MODULES "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
		 "@3000000 thread=2 resume reason=mutex object=0x7f10\n" END,
	 "lock cost 1000000-3000000 thread 2 park 1: 1 thread waited 2.00 ms for mutex 0x7f10 at "
	 "server+0x10, 20.0% of its time\n"},
	{"lost events", MODULES LOST END, LOST_FOUND},
	{"a crash, in which thread and where", MODULES KILLED END,
	 "crash alarm 9600000-9600000 thread 2 park 0: CRASH: SIGSEGV, SEGV_MAPERR: address not "
	 "mapped (0x40) in worker 1 (102), at server+0x10\n"},
	{"a signal that the program handled is none",
	 MODULES "@9600000 thread=2 signal signal=11 code=1 address=0x40 fatal=0 stack=get\n" END,
	 ""},
	{"a crash that only a note tells of",
	 MODULES "info ended \"killed by signal 6 (SIGABRT)\"\n"
		 "info signal \"6 (SIGABRT) code -6 at 0x0 in thread 4711\"\n" END,
	 "crash alarm - thread 0 park 0: CRASH: thread 4711: SIGABRT, SI_TKILL: sent by abort(), "
	 "raise() or tgkill()\n"},
	{"a kill that the process did not see",
	 MODULES "info ended \"killed by signal 9 (SIGKILL)\"\n" END,
	 "crash alarm - thread 0 park 0: ENDED: killed by signal 9 (SIGKILL)\n"},
	{"a deadlock, from the wait that closed it", MODULES HANG END,
	 "deadlock alarm 9800000-10000000 thread 3 park 2: DEADLOCK: 2 threads wait for each "
	 "other\n"},
	{"what waits in a deadlock is not told again; what else was waited there is",
	 MODULES CONTENDED HANG END,
	 "deadlock alarm 9800000-10000000 thread 3 park 4: DEADLOCK: 2 threads wait for each "
	 "other\n"
	 "lock cost 1000000-9000000 thread 2 park 1: server+0x40 caused 15.0 ms of the 15.3 ms "
	 "that "
	 "3 threads waited for mutex 0x7f10 and 1 other, 51.0% of their time\n"},
	{"threads that take turns on a proc", MODULES BY_TURNS,
	 "procs cost 3000000-5000000 thread 1 park 0: 2 threads on 1 proc waited 4.00 ms to run, "
	 "33.3% of the time that they could\n"},
	{"a thread that was on its proc before the trace is no shortage",
	 MODULES "@2000000 source=kernel thread=1 proc_stop preempted=1\n"
		 "@2000100 source=kernel thread=1 proc_start\n" END,
	 ""},
	{"one that gave up its proc could not run",
	 MODULES ON("1000000", "1") "@2000000 source=kernel thread=1 proc_stop\n" ON("8000000", "1")
		 END,
	 ""},
	{"lost events come last, however many; a crash comes first",
	 MODULES CONTENDED LOST KILLED END,
	 "crash alarm 9600000-9600000 thread 2 park 0: CRASH: SIGSEGV, SEGV_MAPERR: address not "
	 "mapped (0x40) in worker 1 (102), at server+0x10\n" LOCK_FOUND("75.0%") LOST_FOUND},
	{"what a name has in it cannot leave its line",
	 MODULES "thread 9 tid=109 name=\"a\x1b[2Jb\"\n"
		 "@9600000 thread=9 signal signal=11 code=1 address=0x40 fatal=1\n",
	 "crash alarm 9600000-9600000 thread 9 park 0: CRASH: SIGSEGV, SEGV_MAPERR: address not "
	 "mapped (0x40) in a?[2Jb (109)\n"},
};

static void tell(struct text *t, const struct trc_finding *f)
{
	add(t, "%s %s ", trc_finding_kind_name(f->kind), trc_severity_name(f->severity));
	if (f->start_ns == TRC_NEVER)
		add(t, "-");
	else
		add(t, "%lld-%lld", (long long)f->start_ns, (long long)f->end_ns);
	add(t, " thread %u park %u: %s\n", f->thread, f->park, f->sentence);
}

START_TEST(findings)
{
	struct trc_model *m = model_of(FINDINGS[_i].trace, 0);
	struct trc_error error = {""};
	struct trc_array found;
	struct text told = {.n = 0};

	ck_assert_msg(!trc_findings(m, &found, &error), "%s: %s", FINDINGS[_i].what, error.text);
	for (size_t i = 0; i < found.n; i++)
		tell(&told, (const struct trc_finding *)found.row + i);
	ck_assert_msg(!strcmp(told.at, FINDINGS[_i].found), "%s:\n%snot\n%s", FINDINGS[_i].what,
		      told.at, FINDINGS[_i].found);
	trc_array_free(&found);
	model_close(m);
}
END_TEST

/* Ten locks cost the same; three are told. */
START_TEST(of_many_locks_a_few)
{
	struct text trace = {.n = 0};
	struct trc_error error;
	struct trc_array found;
	struct trc_model *m;

	add(&trace, MODULES);
	for (int i = 0; i < 10; i++)
		add(&trace, "stack s%d 0x%x\n", i, 0x3101 + 16 * i);
	for (int i = 0; i < 10; i++)
		add(&trace,
		    "@%d000000 thread=2 park reason=mutex object=0x7f%d0 stack=s%d\n"
		    "@%d500000 thread=2 resume reason=mutex object=0x7f%d0\n",
		    i + 1, i, i, i + 1, i);
	m = model_of(trace.at, 0);
	ck_assert_int_eq(trc_findings(m, &found, &error), 0);
	ck_assert_uint_eq(found.n, TRC_FINDINGS_LOCKS);
	trc_array_free(&found);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("findings");
	TCase *tests = tcase_create("findings");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, findings, 0, sizeof(FINDINGS) / sizeof(*FINDINGS));
	tcase_add_test(tests, of_many_locks_a_few);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
