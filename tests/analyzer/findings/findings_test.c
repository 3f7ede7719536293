/* What is found wrong with a program (analyzer/findings/findings.h): which sentences, in which order. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/findings/findings.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

#define MODULES                                                                                    \
	"sync ticks=0 realtime=1700000000000000000\n"                                              \
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"              \
	"stack get 0x3011 0x3021\n"                                                                \
	"stack put 0x3041 0x3051\n"                                                                \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 name=\"worker 1\"\n"                                                     \
	"thread 3 tid=103 name=\"worker 2\"\n"
#define HOLDER_RAN "  why for 100.0%, main (101) held the lock and did not wait, up to server+0x40\n"
#define WAIT_1 "@1000000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
#define WAIT_2 "@2000000 thread=3 park reason=mutex object=0x7f10 holder=1 stack=get\n"
#define RESUMES                                                                                    \
	"@9000000 thread=2 resume reason=mutex object=0x7f10\n"                                    \
	"@9000000 thread=3 resume reason=mutex object=0x7f10\n"
#define RELEASE                                                                                    \
	"@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=2 stack=put\n" RESUMES
#define SPIN_WAIT  "@1000000 thread=2 park reason=spin object=0x7f10 holder=1 stack=get\n"
#define SPIN_FREE  "@2100000 thread=1 unlock reason=spin object=0x7f10 waiters=1 stack=put\n"
#define SPIN_TAKEN "@9000000 thread=2 resume reason=spin object=0x7f10\n"
/* Five waits of 73 years each: a sum does not hold them. */
#define FAR_WAIT(thread)                                                                           \
	"@1000 thread=" thread " park reason=mutex object=0x7f10 holder=1 stack=get\n"
#define FAR_RESUME(thread)                                                                         \
	"@2305843009213693951 thread=" thread " resume reason=mutex object=0x7f10\n"
#define FAR_TIMES                                                                                  \
	FAR_WAIT("2")                                                                              \
	FAR_WAIT("3")                                                                              \
	FAR_WAIT("4")                                                                              \
	FAR_WAIT("5")                                                                              \
	FAR_WAIT("6")                                                                              \
	"@2305843009213693950 thread=1 unlock reason=mutex object=0x7f10 waiters=5 stack=put\n"     \
	FAR_RESUME("2") FAR_RESUME("3") FAR_RESUME("4") FAR_RESUME("5") FAR_RESUME("6")
#define CONTENDED WAIT_1 WAIT_2 RELEASE
#define LOCK_FOUND_AND(share, more)                                                                \
	"lock cost 1000000-9000000 thread 2 park 1: server+0x40 caused 15.0 ms of the 15.0 ms "    \
	"that 2 threads waited for mutex 0x7f10, " share " of their time" more                         \
	"\n  cost 15000000\n" HOLDER_RAN
#define LOCK_FOUND(share) LOCK_FOUND_AND(share, "")
#define LOCK_FOUND_LOST(share)                                                                     \
	LOCK_FOUND_AND(share, " (of what was recorded: 5 events are lost)")
#define NOTHING_FOUND(locks, lacks)                                                                \
	"nothing note - thread 0 park 0: nothing stands out: " locks "; not recorded: " lacks "\n"
#define NO_LOCK "no thread waited for a lock"
#define NEITHER "scheduling, CPU samples"
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
#define LATE_END	"@200000000 thread=4 log category=\"c\" message=\"m\"\n"
#define WAIT_2_LATER	"@50000000 thread=3 park reason=mutex object=0x7f10 stack=get\n"
#define ON(at, thread)	"@" at " source=kernel thread=" thread " proc_start\n"
#define OFF(at, thread) "@" at " source=kernel thread=" thread " proc_stop preempted=1\n"
/* 92 us for a lock and at a place that no other wait is for. */
#define SHORT_WAIT(n, at)                                                                          \
	"stack place" n " 0x31" n "1\n"                                                            \
	"@" at "00000 thread=2 park reason=mutex object=0x80" n "0 stack=place" n "\n"               \
	"@" at "92000 thread=2 resume reason=mutex object=0x80" n "0\n"
/* Two waits for a semaphore, from 1 ms and from 5 ms on. */
#define TURNS(proc_and_thread, until, again_until)                                                 \
	"@1000000 " proc_and_thread " park reason=sem object=0x7f60 stack=get\n"                     \
	"@" until " " proc_and_thread " resume reason=sem object=0x7f60\n"                            \
	"@5000000 " proc_and_thread " park reason=sem object=0x7f60 stack=get\n"                     \
	"@" again_until " " proc_and_thread " resume reason=sem object=0x7f60\n"
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
	 NOTHING_FOUND(NO_LOCK, NEITHER)},
	{"a wait of less than a hundredth of the time is none",
	 MODULES "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
		 "@1090000 thread=2 resume reason=mutex object=0x7f10\n" END,
	 NOTHING_FOUND("threads waited 90.0 µs for locks, 0.3% of their time", NEITHER)},
	{"a lock, who caused the waits, and the longest wait", MODULES CONTENDED END,
	 LOCK_FOUND("75.0%")},
	{"a lock of which nobody knows who held it",
	 MODULES "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
		 "@3000000 thread=2 resume reason=mutex object=0x7f10\n" END,
	 "lock cost 1000000-3000000 thread 2 park 1: 1 thread waited 2.00 ms for mutex 0x7f10 at "
	 "server+0x10, 20.0% of its time\n  cost 2000000\n"},
	{"a lock that is waited for at several places is told once",
	 MODULES "stack other 0x3081\n" WAIT_1
		 "@2000000 thread=3 park reason=mutex object=0x7f10 holder=1 stack=other\n" RELEASE,
	 "lock cost 1000000-9000000 thread 2 park 1: 2 threads waited 15.0 ms for mutex 0x7f10 at 2 "
	 "places, 53.3% of it at server+0x10, 83.3% of their time\n  cost 15000000\n"
	 "  why for 53.3%, main (101) held the lock and did not wait, up to server+0x40\n"},
	{"what was waited for elsewhere is told with it, however little",
	 MODULES "stack other 0x3081\n"
		 "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
		 "@2000000 thread=3 park reason=mutex object=0x7f10 stack=other\n"
		 "@3000000 thread=3 resume reason=mutex object=0x7f10\n"
		 "@9000000 thread=2 resume reason=mutex object=0x7f10\n" END,
	 "lock cost 1000000-9000000 thread 2 park 1: 2 threads waited 9.00 ms for mutex 0x7f10 at 2 "
	 "places, 88.9% of it at server+0x10, 45.0% of their time\n  cost 9000000\n"},
	{"locks without names that share a place, or a third that does, are one finding",
	 MODULES "stack other 0x3081\nstack third 0x30a1\n"
		 "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
		 "@1000000 thread=3 park reason=mutex object=0x7f20 stack=get\n"
		 "@3000000 thread=3 resume reason=mutex object=0x7f20\n"
		 "@4000000 thread=2 resume reason=mutex object=0x7f10\n"
		 "@4000000 thread=3 park reason=mutex object=0x7f20 stack=other\n"
		 "@5000000 thread=2 park reason=mutex object=0x7f30 stack=other\n"
		 "@6000000 thread=3 resume reason=mutex object=0x7f20\n"
		 "@6000000 thread=3 park reason=mutex object=0x7f40 stack=third\n"
		 "@6300000 thread=3 resume reason=mutex object=0x7f40\n"
		 "@8000000 thread=2 resume reason=mutex object=0x7f30\n" END,
	 "lock cost 1000000-4000000 thread 2 park 1: 2 threads waited 10.0 ms for mutex,"
	 " 3 objects at 2 places, 50.0% of it at server+0x10, 50.0% of their time\n"
	 "  cost 10000000\n"
	 "lock cost 6000000-6300000 thread 3 park 5: 1 thread waited 300 µs for mutex"
	 " 0x7f40 at server+0xa0, 3.0% of its time\n"
	 "  cost 300000\n"},
	{"a lock that its holders, without a proc, had for less time than they ran with it",
	 MODULES ON("500000", "1") WAIT_1 OFF("6500000", "1")
		 ON("8500000",
		    "1") "@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
			 "@9000000 thread=2 resume reason=mutex object=0x7f10\n" END,
	 "lock cost 1000000-9000000 thread 2 park 1: server+0x40 caused 8.00 ms of the"
	 " 8.00 ms that 1 thread waited for mutex 0x7f10, 80.0% of its time\n"
	 "  cost 8000000\n"
	 "  why for 75.0%, main (101) held the lock and ran, up to server+0x40; for"
	 " 25.0%, holders had no processor\n"
	 "procs_taken cost 6500000-8500000 thread 1 park 0: other programs had the"
	 " procs: 1 of 3 threads on 1 proc waited 2.00 ms to run, 21.1% of the time that"
	 " it could\n"
	 "  cost 2000000\n"},
	{"a lock that is free while its next holder has no proc",
	 MODULES ON("500000", "1") WAIT_1 WAIT_2
	 "@2100000 thread=1 unlock reason=mutex object=0x7f10 waiters=2 stack=put\n" OFF(
		 "8900000", "1") ON("9000000", "2") RESUMES,
	 "lock_procs cost 1000000-9000000 thread 2 park 1: 2 threads waited 15.0 ms for"
	 " mutex 0x7f10 at server+0x10, 83.3% of their time\n"
	 "  cost 15000000\n"
	 "  why for 92.0%, nobody held the lock: who had been woken for it had no"
	 " processor\n"},
	{"a spin lock that is free: who spins has no proc, where switch records are there to say so",
	 MODULES ON("500000", "1") SPIN_WAIT SPIN_FREE OFF("8900000", "1") ON("9000000", "2") SPIN_TAKEN END,
	 "lock_procs cost 1000000-9000000 thread 2 park 1: 1 thread waited 8.00 ms for spin 0x7f10 at"
	 " server+0x10, 80.0% of its time\n"
	 "  cost 8000000\n"
	 "  why for 86.2%, nobody held the lock: who spun for it had no processor\n"},
	{"... and without them that is not claimed",
	 MODULES SPIN_WAIT SPIN_FREE SPIN_TAKEN END,
	 "lock_convoy cost 1000000-9000000 thread 2 park 1: 1 thread waited 8.00 ms for spin 0x7f10 at"
	 " server+0x10, 80.0% of its time\n"
	 "  cost 8000000\n"
	 "  why for 86.2%, nobody held the lock: who spun for it had not taken it yet\n"},
	{"times that no trace of a machine has are summed all the same", MODULES FAR_TIMES,
	 "lock cost 1000-2305843009213693951 thread 2 park 1: server+0x40 caused 2562047 h 47 min of the"
	 " 2562047 h 47 min that 5 threads waited for mutex 0x7f10, 100.0% of their time\n"
	 "  cost 9223372036854775807\n" HOLDER_RAN},
	{"a place with several locks is told, not each of them",
	 MODULES WAIT_1 "@2000000 thread=3 park reason=mutex object=0x7f20 stack=get\n"
			"@9000000 thread=2 resume reason=mutex object=0x7f10\n"
			"@9000000 thread=3 resume reason=mutex object=0x7f20\n" END,
	 "lock cost 1000000-9000000 thread 2 park 1: 2 threads waited 15.0 ms for mutex 0x7f10 and 1 "
	 "other at server+0x10, 75.0% of their time\n  cost 15000000\n"},
	{"many locks of which none stands out",
	 MODULES SHORT_WAIT("11", "10") SHORT_WAIT("12", "12") SHORT_WAIT("13", "13")
		 SHORT_WAIT("14", "14") SHORT_WAIT("15", "15") SHORT_WAIT("16", "16")
		 SHORT_WAIT("17", "17") SHORT_WAIT("18", "18") SHORT_WAIT("19", "19")
		 SHORT_WAIT("20", "20") SHORT_WAIT("21", "21") END,
	 "lock cost 1000000-1092000 thread 2 park 1: 1 thread waited 1.01 ms for 11 locks at 11 places, "
	 "10.1% of its time; none of them has much of it\n  cost 1012000\n"},
	{"lost events: that nothing was found is said of what was recorded", MODULES LOST END,
	 "nothing note - thread 0 park 0: nothing stands out in what was recorded: " NO_LOCK
	 "; not recorded: " NEITHER "\n" LOST_FOUND},
	{"several threads wait for most of their time for what is no lock: that stands out",
	 MODULES TURNS("thread=2", "4500000", "8500000") TURNS("proc=1 thread=3", "4500000", "8500000") END,
	 "nothing note - thread 0 park 0: 2 threads waited 14.0 ms, 70.0% of their time, for sem "
	 "0x7f60 at server+0x10; " NO_LOCK "; not recorded: " NEITHER "\n"},
	{"less than half of it does not",
	 MODULES TURNS("thread=2", "3000000", "7000000") TURNS("proc=1 thread=3", "3000000", "7000000") END,
	 NOTHING_FOUND(NO_LOCK "; threads waited 8.00 ms, 26.7% of their time, for other threads, "
			       "which may be as it should",
		       NEITHER)},
	{"one thread and a file",
	 MODULES "@1000000 thread=2 park reason=fsync object=5 stack=get\n"
		 "@9000000 thread=2 resume reason=fsync object=5\n" END,
	 "nothing note - thread 0 park 0: 1 thread waited 8.00 ms, 80.0% of its time, for fsync fd 5 "
	 "at server+0x10; " NO_LOCK "; not recorded: " NEITHER "\n"},
	{"a crash, in which thread and where", MODULES KILLED END,
	 "crash alarm 9600000-9600000 thread 2 park 0: CRASH: SIGSEGV, SEGV_MAPERR: address not "
	 "mapped (0x40) in worker 1 (102), at server+0x10\n"},
	{"a signal that the program handled is none",
	 MODULES "@9600000 thread=2 signal signal=11 code=1 address=0x40 fatal=0 stack=get\n" END,
	 NOTHING_FOUND(NO_LOCK, NEITHER)},
	{"a crash that only a note tells of",
	 MODULES "info ended \"killed by signal 6 (SIGABRT)\"\n"
		 "info signal \"6 (SIGABRT) code -6 at 0x0 in thread 4711\"\n" END,
	 "crash alarm - thread 0 park 0: CRASH: thread 4711: SIGABRT, SI_TKILL: sent by abort(), "
	 "raise() or tgkill()\n"},
	{"a kill that the process did not see",
	 MODULES "info ended \"killed by signal 9 (SIGKILL)\"\n" END,
	 "killed alarm - thread 0 park 0: ENDED: killed by signal 9 (SIGKILL)\n"},
	{"a fault that the process did not see",
	 MODULES "info ended \"killed by signal 11 (SIGSEGV)\"\n" END,
	 "crash alarm - thread 0 park 0: ENDED: killed by signal 11 (SIGSEGV)\n"},
	{"who is asked to end, and does, has not failed",
	 MODULES "info ended \"killed by signal 15 (SIGTERM)\"\n" END,
	 NOTHING_FOUND(NO_LOCK, NEITHER)
	 "killed note - thread 0 park 0: ended: killed by signal 15 (SIGTERM)\n"},
	{"a deadlock, from the wait that closed it", MODULES HANG END,
	 "deadlock alarm 9800000-10000000 thread 3 park 2: DEADLOCK: 2 threads wait for each "
	 "other\n"},
	{"what waits in a deadlock is not told again; what else was waited there is",
	 MODULES CONTENDED HANG END,
	 "deadlock alarm 9800000-10000000 thread 3 park 4: DEADLOCK: 2 threads wait for each "
	 "other\n"
	 "lock cost 1000000-9000000 thread 2 park 1: server+0x40 caused 15.0 ms of the 15.3 ms "
	 "that "
	 "3 threads waited for mutex 0x7f10 and 1 other, 51.0% of their time\n  cost 15000000\n"
	 "  why for 100.0%, main (101) held the lock and did not wait, up to "
	 "server+0x40\n"},
	{"a lock whose holder has ended: its waiters are told once, as an alarm",
	 MODULES WAIT_1 WAIT_2 "@3000000 thread=1 thread_exit\n" LATE_END,
	 "abandoned_lock alarm 1000000-200000000 thread 2 park 1: ABANDONED LOCK: 2 threads wait "
	 "for mutex 0x7f10, which main (101) held when it ended, 197 ms before the trace does; at "
	 "server+0x10\n  cost 397000000\n"},
	{"a lock whose holder has ended: waits that a time limit ended are its cost",
	 MODULES WAIT_1 "@2000000 thread=1 thread_exit\n"
			"@9000000 thread=2 resume reason=mutex object=0x7f10 result=ETIMEDOUT\n" LATE_END,
	 "abandoned_lock cost 1000000-9000000 thread 2 park 1: 1 thread waited 8.00 ms for mutex 0x7f10 "
	 "at server+0x10, 4.0% of its time\n  cost 8000000\n  why for 87.5%, main (101) had ended\n"},
	{"a lock that its holder gave back in its last functions is not abandoned",
	 MODULES WAIT_1 "@2000000 thread=1 thread_exit\n"
			"@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
			"@9000000 thread=2 resume reason=mutex object=0x7f10\n" LATE_END,
	 "lock cost 1000000-9000000 thread 2 park 1: server+0x40 caused 8.00 ms of the 8.00 ms that 1 "
	 "thread waited for mutex 0x7f10, 4.0% of its time\n  cost 8000000\n"
	 "  why for 87.5%, main (101) held the lock and had ended, up to server+0x40\n"},
	{"a lock that was given back before its holder ended",
	 MODULES CONTENDED "@9500000 thread=1 thread_exit\n" WAIT_2_LATER LATE_END,
	 "lock cost 50000000-200000000 thread 3 park 3: 2 threads waited 165 ms for mutex 0x7f10 at "
	 "server+0x10, 41.2% of their time\n  cost 165000000\n"},
	{"a thread that has just begun to end may still give its locks back",
	 MODULES WAIT_1 WAIT_2 "@9000000 thread=1 thread_exit\n" END,
	 "lock cost 1000000-10000000 thread 2 park 1: 2 threads waited 17.0 ms for mutex 0x7f10 at "
	 "server+0x10, 85.0% of their time\n  cost 17000000\n"},
	{"a holder that ended where events are missing: perhaps",
	 MODULES WAIT_1 "@3000000 thread=1 thread_exit\n" LOST LATE_END,
	 "abandoned_lock alarm 1000000-200000000 thread 2 park 1: perhaps an ABANDONED LOCK: 1 thread "
	 "waits for mutex 0x7f10, which main (101) held when it ended, 197 ms before the trace does; at "
	 "server+0x10\n  cost 199000000\n" LOST_FOUND},
	{"threads that take turns on a proc", MODULES BY_TURNS,
	 "procs cost 3000000-5000000 thread 1 park 0: 2 threads on 1 proc waited 4.00 ms to run, "
	 "33.3% of the time that they could\n  cost 4000000\n"
	 "  why for 100.0%, another of the program's threads ran on that proc\n"},
	{"threads that take turns on one of two procs: no other program had it",
	 MODULES "@100000 source=kernel proc=1 thread=3 proc_start\n"
		 "@200000 source=kernel proc=1 thread=3 proc_stop\n" BY_TURNS,
	 "procs cost 3000000-5000000 thread 1 park 0: 2 of 3 threads on 2 procs waited 4.00 ms to run, 33.1% of "
	 "the time that they could\n  cost 4000000\n"
	 "  why for 100.0%, another of the program's threads ran on that proc\n"},
	{"a thread that was on its proc before the trace is no shortage",
	 MODULES "@2000000 source=kernel thread=1 proc_stop preempted=1\n"
		 "@2000100 source=kernel thread=1 proc_start\n" END,
	 NOTHING_FOUND(NO_LOCK, "CPU samples")},
	{"one that gave up its proc could not run",
	 MODULES ON("1000000", "1") "@2000000 source=kernel thread=1 proc_stop\n" ON("8000000", "1")
		 END,
	 NOTHING_FOUND(NO_LOCK, "CPU samples")},
	{"a lock whose holder sleeps",
	 MODULES WAIT_1 WAIT_2 "@2100000 thread=1 park reason=sleep stack=put\n"
			       "@8900000 thread=1 resume reason=sleep\n" RELEASE,
	 "lock_blocking cost 1000000-9000000 thread 2 park 1: server+0x40 caused 15.0 ms of the 15.0 "
	 "ms that 2 threads waited for mutex 0x7f10, 83.3% of their time\n  cost 15000000\n"
	 "  why for 90.7%, main (101) held the lock and slept at server+0x40\n"},
	{"a lock whose holder waits for a file, then for a thread: what it blocks in does not matter",
	 MODULES WAIT_1 WAIT_2
	 "@2100000 thread=1 park reason=fsync object=5 stack=put\n"
	 "@5000000 thread=1 resume reason=fsync object=5\n"
	 "@5000000 thread=1 park reason=cond object=0x7f90 stack=get\n"
	 "@8900000 thread=1 resume reason=cond object=0x7f90\n" RELEASE,
	 "lock_blocking cost 1000000-9000000 thread 2 park 1: server+0x40 caused 15.0 ms of the 15.0 "
	 "ms that 2 threads waited for mutex 0x7f10, 83.3% of their time\n  cost 15000000\n"
	 "  why for 52.0%, main (101) held the lock and waited for cond 0x7f90; who ended that is not "
	 "known at server+0x10; in all for 90.7%, holders blocked\n"},
	{"a lock whose holder has no proc",
	 MODULES WAIT_1 WAIT_2 ON("500000", "1") OFF("2500000", "1") ON("8500000", "1") RELEASE,
	 "procs_taken cost 2500000-8500000 thread 1 park 0: other programs had the procs: 1 of 3 threads on 1 proc waited 6.00 ms to run, 70.6% "
	 "of the time that it could\n  cost 6000000\n"
	 "lock_preempted cost 1000000-9000000 thread 2 park 1: server+0x40 caused 15.0 ms of the 15.0 "
	 "ms that 2 threads waited for mutex 0x7f10, 83.3% of their time\n  cost 15000000\n"
	 "  why for 80.0%, main (101) held the lock and could have run, but had no processor, up to "
	 "server+0x40\n"},
	{"a lock that is free while those wait who were woken for it",
	 MODULES WAIT_1 WAIT_2 "@2100000 thread=1 unlock reason=mutex object=0x7f10 waiters=2 stack=put\n"
	 RESUMES,
	 "lock_convoy cost 1000000-9000000 thread 2 park 1: 2 threads waited 15.0 ms for mutex 0x7f10 at "
	 "server+0x10, 83.3% of their time\n  cost 15000000\n"
	 "  why for 92.0%, nobody held the lock: who had been woken for it did not run yet\n"},
	{"a lock that is free for most of the time, whether the woken had a proc or not",
	 MODULES WAIT_1 "@1050000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
	 "@1900000 thread=2 resume reason=mutex object=0x7f10\n" WAIT_2
	 "@2050000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
	 "@3550000 thread=3 resume reason=mutex object=0x7f10\n"
	 "@4000000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
	 "@6000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
	 "@6001000 thread=2 resume reason=mutex object=0x7f10\n" ON("7000000", "1") OFF("9000000", "1") END,
	 "lock_procs cost 4000000-6001000 thread 2 park 3: 2 threads waited 4.45 ms for mutex 0x7f10 at "
	 "server+0x10, 22.3% of their time\n  cost 4451000\n"
	 "  why for 52.8%, nobody held the lock: who had been woken for it did not run yet, or had no "
	 "processor\n"},
	{"lost events come last, however many; a crash comes first",
	 MODULES CONTENDED LOST KILLED END,
	 "crash alarm 9600000-9600000 thread 2 park 0: CRASH: SIGSEGV, SEGV_MAPERR: address not "
	 "mapped (0x40) in worker 1 (102), at server+0x10\n" LOCK_FOUND_LOST("75.0%") LOST_FOUND},
	{"waits inside an interpreter without names may be for its lock",
	 MODULES "module ruby path=\"/usr/lib/libruby-3.1.so.3.1.2\" start=0x8000 limit=0x9000 bias=0x8000\n"
		 "stack in_ruby 0x8011 0x8021\n"
		 "@1000000 thread=2 park reason=cond object=0x7f10 stack=in_ruby\n"
		 "@2000000 thread=3 park reason=cond object=0x7f20 stack=in_ruby\n"
		 "@5000000 thread=2 resume reason=cond object=0x7f10\n"
		 "@6000000 thread=3 resume reason=cond object=0x7f20\n" END,
	 NOTHING_FOUND(NO_LOCK "; threads waited 8.00 ms, 26.7% of their time, for other threads, "
			       "which may be as it should",
		       NEITHER)
	 "unnamed note 1000000-5000000 thread 2 park 1: 2 threads waited 8.00 ms in "
	 "libruby-3.1.so.3.1.2, at places without names: how much of it for Ruby's global VM lock is "
	 "not known\n"},
	{"a single thread of it does not wait for the others",
	 MODULES "module ruby path=\"/usr/bin/ruby3.1\" start=0x8000 limit=0x9000 bias=0x8000\n"
		 "stack in_ruby 0x8011 0x8021\n"
		 "@1000000 thread=2 park reason=cond object=0x7f10 stack=in_ruby\n"
		 "@3000000 thread=2 resume reason=cond object=0x7f10\n" END,
	 NOTHING_FOUND(NO_LOCK, NEITHER)},
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
	if (f->cost_ns)
		add(t, "  cost %lld\n", (long long)f->cost_ns);
	if (*f->why)
		add(t, "  why %s\n", f->why);
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

/* What is found in a trace that is written to `trace`, of so many bytes. */
struct made {
	char *text;
	size_t n;
	FILE *trace;
};

static void begin(struct made *made)
{
	made->trace = open_memstream(&made->text, &made->n);
	ck_assert(made->trace);
	fputs(MODULES, made->trace);
}

/* Ends it, and compares. */
static void found_in(struct made *made, const char *expected)
{
	struct trc_error error = {""};
	struct trc_array found;
	struct text told = {.n = 0};
	struct trc_model *m;

	fclose(made->trace);
	m = model_of(made->text, 0);
	ck_assert_msg(!trc_findings(m, &found, &error), "%s", error.text);
	for (size_t i = 0; i < found.n; i++)
		tell(&told, (const struct trc_finding *)found.row + i);
	ck_assert_str_eq(told.at, expected);
	trc_array_free(&found);
	model_close(m);
	free(made->text);
}

/* Ten locks cost ever more; the three that cost most are told, most first. */
START_TEST(of_many_locks_a_few)
{
	struct made made;

	begin(&made);
	for (int i = 0; i < 10; i++)
		fprintf(made.trace, "stack s%d 0x%x\n", i, 0x3101 + 16 * i);
	for (int i = 0; i < 10; i++)
		fprintf(made.trace,
			"@%d000000 thread=2 park reason=mutex object=0x7f%d0 stack=s%d\n"
			"@%d%d00000 thread=2 resume reason=mutex object=0x7f%d0\n",
			i + 1, i, i, i + 1, i / 2 + 1, i);
	found_in(&made,
		 "lock cost 9000000-9500000 thread 2 park 9: 1 thread waited 500 µs for mutex 0x7f80 "
		 "at server+0x180, 4.8% of its time\n  cost 500000\n"
		 "lock cost 10000000-10500000 thread 2 park 10: 1 thread waited 500 µs for mutex "
		 "0x7f90 at server+0x190, 4.8% of its time\n  cost 500000\n"
		 "lock cost 7000000-7400000 thread 2 park 7: 1 thread waited 400 µs for mutex 0x7f60 "
		 "at server+0x160, 3.8% of its time\n  cost 400000\n");
}
END_TEST

/* Nine threads crash, and events are lost for three causes: two of them are still told. */
START_TEST(seven_in_all_with_two_notes)
{
	struct made made;
	struct text expected = {.n = 0};

	begin(&made);
	for (int i = 0; i < 9; i++)
		fprintf(made.trace, "@%d00000 thread=2 signal signal=11 code=1 address=0x40 fatal=1\n",
			i + 1);
	fputs("@9100000 thread=1 gap lost_events=5 since=9000000 cause=ring_full\n"
	      "@9200000 thread=1 gap lost_events=5 since=9000000 cause=overwritten\n"
	      "@9300000 thread=1 gap lost_events=5 since=9000000 cause=3\n",
	      made.trace);
	for (int i = 0; i < 5; i++)
		add(&expected,
		    "crash alarm %d00000-%d00000 thread 2 park 0: CRASH: SIGSEGV, SEGV_MAPERR: "
		    "address not mapped (0x40) in worker 1 (102)\n",
		    i + 1, i + 1);
	add(&expected, "lost note 9000000-9100000 thread 0 park 0: lost: 5 events, ring_full, between "
		       "9.00 ms and 9.10 ms\n");
	add(&expected, "lost note 9000000-9200000 thread 0 park 0: lost: 5 events, overwritten, "
		       "between 9.00 ms and 9.20 ms\n");
	found_in(&made, expected.at);
}
END_TEST

static void pool(struct made *made, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(made->trace, "thread %d tid=%d creator=1 name=\"pool-%d\"\n",
			10 + i, 110 + i, i);
}

/* Thread `thread` waits in cond all the time but busy_us of the 10 ms. */
static void pool_waits(struct made *made, int thread, int busy_us)
{
	fprintf(made->trace, "@%d thread=%d park reason=cond object=0x7f50 stack=get\n",
		1000 * busy_us, thread);
}

START_TEST(one_of_a_pool_works)
{
	struct made made;

	begin(&made);
	pool(&made, 4);
	for (int i = 0; i < 4; i++)
		if (i != 2)
			pool_waits(&made, 10 + i, 100);
	pool_waits(&made, 12, 8000);
	fputs(END, made.trace);
	found_in(&made, "one_worker cost 0-10000000 thread 12 park 0: 1 of 4 threads does 96.4% of "
			"their work: pool-2 (112) did not wait for 8.00 ms, the other 3 300 µs "
			"together\n  cost 5925000\n");
}
END_TEST

/* `thread` sleeps so often for so long, with 300 us between, and then waits as the others of its pool do. */
static void sleeps(struct made *made, int thread, int times, int us)
{
	for (int i = 0; i < times; i++)
		fprintf(made->trace,
			"@%d thread=%d park reason=sleep stack=put\n@%d thread=%d resume reason=sleep\n",
			1000 * (us + 300) * i + 100000, thread,
			1000 * ((us + 300) * i + us) + 100000, thread);
	pool_waits(made, thread, 9200);
}

/* Who sleeps for 1 ms at a time may ask for work, and may work: it is no one worker, nor one of those that are idle. */
static const struct {
	int times, us, other_times, other_us;
	const char *found;
} SLEEPERS[] = {
	{3, 2700, 0, 0,
	 "one_worker cost 0-10000000 thread 12 park 0: 1 of 4 threads does 96.8% of their work: pool-2 (112) worked for "
	 "9.20 ms (8.10 ms of it in sleeps and waits for files), the other 3 300 µs together\n  cost 6825000\n"},
	{7, 1000, 0, 0, NOTHING_FOUND(NO_LOCK, NEITHER)},
	{3, 2700, 7, 1000, NOTHING_FOUND(NO_LOCK, NEITHER)},
};

START_TEST(one_of_a_pool_sleeps_at_its_work)
{
	struct made made;

	begin(&made);
	pool(&made, 4);
	pool_waits(&made, 10, 100);
	pool_waits(&made, 13, 100);
	if (SLEEPERS[_i].other_times)
		sleeps(&made, 11, SLEEPERS[_i].other_times, SLEEPERS[_i].other_us);
	else
		pool_waits(&made, 11, 100);
	sleeps(&made, 12, SLEEPERS[_i].times, SLEEPERS[_i].us);
	fputs(END, made.trace);
	found_in(&made, SLEEPERS[_i].found);
}
END_TEST

START_TEST(two_of_a_pool_are_not_one)
{
	struct made made;

	begin(&made);
	pool(&made, 4);
	pool_waits(&made, 10, 100);
	pool_waits(&made, 11, 100);
	pool_waits(&made, 12, 8000);
	pool_waits(&made, 13, 8000);
	fputs(END, made.trace);
	found_in(&made, NOTHING_FOUND(NO_LOCK, NEITHER));
}
END_TEST

/* 200 sleeps of 40 µs, 10 µs between them. */
START_TEST(asking_again_and_again)
{
	struct made made;

	begin(&made);
	for (int i = 0; i < 200; i++)
		fprintf(made.trace,
			"@%d thread=2 park reason=sleep stack=get\n@%d thread=2 resume reason=sleep\n",
			50000 * i, 50000 * i + 40000);
	fputs(END, made.trace);
	found_in(&made, "poll_loop cost 0-40000 thread 2 park 1: 1 thread waited 200 times for "
			"40.0 µs each, for nothing but time to pass, at server+0x10; between the "
			"waits it ran 2.00 ms\n  cost 2000000\n");
}
END_TEST

/* Waits of the same length that somebody ends are no poll loop. */
START_TEST(being_woken_is_not_asking)
{
	struct made made;

	begin(&made);
	for (int i = 0; i < 200; i++)
		fprintf(made.trace,
			"@%d thread=2 park reason=cond object=0x7f50 stack=get\n"
			"@%d thread=1 unpark reason=cond object=0x7f50 count=1\n"
			"@%d thread=2 resume reason=cond object=0x7f50\n",
			50000 * i, 50000 * i + 30000, 50000 * i + 40000);
	fputs(END, made.trace);
	found_in(&made,
		 NOTHING_FOUND(NO_LOCK "; threads waited 8.00 ms, 26.7% of their time, for other threads, "
				       "which may be as it should",
			       NEITHER));
}
END_TEST

/* A broadcast each 250 µs for four threads.  One works for 200 µs; the others wait again after 5 µs of running,
 * and 20 µs for the mutex. */
static void herd(struct made *made, int woken, bool one_works)
{
	static const struct {
		int ns;
		const char *event;
	} AGAIN[] = {
		{1000, "@%d thread=%d park reason=cond_mutex object=0x7f60 stack=put\n"},
		{21000, "@%d thread=%d resume reason=cond_mutex object=0x7f60\n"},
		{26000, "@%d thread=%d park reason=cond object=0x7f50 stack=get\n"},
	};

	pool(made, 4);
	for (int t = 0; t < woken; t++)
		pool_waits(made, 10 + t, 0);
	for (int i = 0; i < 40; i++) {
		int at = 250000 * i + 10000;

		fprintf(made->trace, "@%d thread=1 unpark reason=cond object=0x7f50 count=~0 stack=put\n",
			at);
		for (int t = 0; t < woken; t++)
			fprintf(made->trace, "@%d thread=%d resume reason=cond object=0x7f50\n",
				at + 1000, 10 + t);
		for (int step = 0; step < 3; step++)
			for (int t = 0; t < woken; t++)
				if (!one_works || t != i % woken)
					fprintf(made->trace, AGAIN[step].event, at + AGAIN[step].ns,
						10 + t);
		if (one_works)
			fprintf(made->trace,
				"@%d thread=%d park reason=cond object=0x7f50 stack=get\n",
				at + 201000, 10 + i % woken);
	}
	fputs(END, made->trace);
}

START_TEST(many_woken_for_one)
{
	struct made made;

	begin(&made);
	herd(&made, 4, true);
	found_in(&made,
		 "herd cost 11000-36000 thread 11 park 2: 120 of 160 wakings for cond 0x7f50 led to "
		 "nothing but the next wait, at server+0x10, after 3.00 ms in all; 4.0 "
		 "threads are woken at a time\n  cost 3000000\n"
		 "  why threads were woken at server+0x40\n"
		 "lock cost 11000-31000 thread 11 park 5: 4 threads waited 2.40 ms for cond_mutex "
		 "0x7f60 at server+0x40, 6.0% of their time\n  cost 2400000\n");
}
END_TEST

/* Each of them may have been woken to see something: nobody knows. */
START_TEST(all_woken_wait_again)
{
	struct made made;

	begin(&made);
	herd(&made, 4, false);
	found_in(&made,
		 "lock cost 11000-31000 thread 10 park 5: 4 threads waited 3.20 ms for cond_mutex "
		 "0x7f60 at server+0x40, 8.0% of their time\n  cost 3200000\n");
}
END_TEST

/* 200 sleeps of 40 µs, each of which ends with an item for another thread. */
START_TEST(who_wakes_others_does_not_ask)
{
	struct made made;

	begin(&made);
	for (int i = 0; i < 200; i++)
		fprintf(made.trace,
			"@%d thread=3 park reason=cond object=0x7f50 stack=put\n"
			"@%d thread=2 park reason=sleep stack=get\n"
			"@%d thread=2 resume reason=sleep\n"
			"@%d thread=2 unpark reason=cond object=0x7f50 count=1\n"
			"@%d thread=3 resume reason=cond object=0x7f50\n",
			50000 * i, 50000 * i, 50000 * i + 40000, 50000 * i + 41000,
			50000 * i + 42000);
	fputs(END, made.trace);
	found_in(&made,
		 NOTHING_FOUND(NO_LOCK "; threads waited 8.40 ms, 28.0% of their time, for other threads, "
				       "which may be as it should",
			       NEITHER));
}
END_TEST

/* Tasks of 10 µs, five of 300 of them 1 ms. */
START_TEST(a_few_tasks_take_long)
{
	struct made made;

	begin(&made);
	for (int i = 0; i < 300; i++) {
		int at = 20000 * i + 2000000 * (i / 60), slow = i % 60 == 59;

		fprintf(made.trace, "@%d thread=2 task_begin task=%d type=\"req\"\n", at, i + 1);
		if (slow)
			fprintf(made.trace,
				"@%d thread=2 park reason=sleep stack=get\n"
				"@%d thread=2 resume reason=sleep\n",
				at + 1000, at + 999000);
		fprintf(made.trace, "@%d thread=2 task_end task=%d\n",
			at + (slow ? 1000000 : 10000), i + 1);
	}
	found_in(&made,
		 "task_tail cost 1180000-2180000 thread 2 park 0: 1% of the tasks req took 1.00 ms or "
		 "more, 100 times the median, 10.0 µs\n  cost 2970000\n"
		 "  why the slowest 1%: for 99.8%, worker 1 (102) slept at server+0x10\n");
}
END_TEST

/* The same, but 0.6 ms of each is for a lock whose holder sleeps for nine tenths of that. */
START_TEST(a_few_tasks_wait_long_for_a_lock)
{
	struct made made;

	begin(&made);
	for (int i = 0; i < 300; i++) {
		int at = 20000 * i + 2000000 * (i / 60), slow = i % 60 == 59;

		fprintf(made.trace, "@%d thread=2 task_begin task=%d type=\"req\"\n", at, i + 1);
		if (slow)
			fprintf(made.trace,
				"@%d thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
				"@%d thread=1 park reason=sleep stack=put\n"
				"@%d thread=1 resume reason=sleep\n"
				"@%d thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
				"@%d thread=2 resume reason=mutex object=0x7f10\n",
				at + 1000, at + 1000, at + 541000, at + 601000, at + 601000);
		fprintf(made.trace, "@%d thread=2 task_end task=%d\n",
			at + (slow ? 1000000 : 10000), i + 1);
	}
	found_in(&made,
		 "lock_blocking cost 1181000-1781000 thread 2 park 2: server+0x40 caused 3.00 ms of the "
		 "3.00 ms that 1 thread waited for mutex 0x7f10, 20.0% of its time\n  cost 3000000\n"
		 "  why for 90.0%, main (101) held the lock and slept at server+0x40\n"
		 "task_tail cost 1180000-2180000 thread 2 park 0: 1% of the tasks req took 1.00 ms or "
		 "more, 100 times the median, 10.0 µs\n  cost 2970000\n"
		 "  why the slowest 1%: for 60.0%, worker 1 (102) waited for mutex 0x7f10 at server+0x10; "
		 "of which for 90.0%, main (101) held the lock and slept at server+0x40\n");
}
END_TEST

/* A function's name may be as long as those of C++ are; a terminal is shown a part of it. */
START_TEST(long_names)
{
	static const char LAST[] = "the_last_of_it";
	char name[600];
	struct trc_error error = {""};
	struct trc_array found;
	struct trc_model *m;
	struct made made;
	const struct trc_finding *f;

	memset(name, 'n', sizeof(name));
	snprintf(name + sizeof(name) - sizeof(LAST), sizeof(LAST), "%s", LAST);
	begin(&made);
	fprintf(made.trace, "thread 7 tid=107 name=\"t\"\n");
	for (int i = 0; i < 300; i++) {
		int at = 1000 * i + 5000 * (i / 60), slow = i % 60 == 59;

		fprintf(made.trace,
			"@%d thread=7 task_begin task=%d type=\"%s\"\n@%d thread=7 task_end task=%d\n",
			at, i + 1, name, at + (slow ? 5000 : 10), i + 1);
	}
	fclose(made.trace);
	m = model_of(made.text, 0);
	ck_assert_msg(!trc_findings(m, &found, &error), "%s", error.text);
	f = found.row;
	ck_assert_uint_eq(found.n, 1);
	ck_assert_msg(strstr(f->sentence, name) && !strstr(f->sentence, "\xe2\x80\xa6"), "%s", f->sentence);
	trc_array_free(&found);
	model_close(m);
	free(made.text);
}
END_TEST

/* SQL has addresses as signed numbers. */
START_TEST(abandoned_locks_are_asked_for_as_sql_has_them)
{
	struct trc_error error = {""};
	const struct trc_finding *f;
	struct trc_array found;
	struct trc_model *m;
	struct made made;

	begin(&made);
	fputs("@1000000 thread=2 park reason=mutex object=0xffffffffffffff10 holder=1\n"
	      "@1500000 thread=3 park reason=mutex object=0x7f10 holder=1\n"
	      "@3000000 thread=1 thread_exit\n" LATE_END,
	      made.trace);
	fclose(made.trace);
	m = model_of(made.text, 0);
	ck_assert_msg(!trc_findings(m, &found, &error), "%s", error.text);
	f = found.row;
	ck_assert_uint_ge(found.n, 2);
	ck_assert_uint_eq(f[0].kind, TRC_FINDING_ABANDONED_LOCK);
	ck_assert_uint_eq(f[1].kind, TRC_FINDING_ABANDONED_LOCK);
	ck_assert_str_eq(f[0].sql, "SELECT * FROM threads_now WHERE object = -240 AND holder = 1");
	ck_assert_str_eq(f[1].sql, "SELECT * FROM threads_now WHERE object = 32528 AND holder = 1");
	trc_array_free(&found);
	model_close(m);
	free(made.text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("findings");
	TCase *tests = tcase_create("findings");

	tcase_add_loop_test(tests, findings, 0, sizeof(FINDINGS) / sizeof(*FINDINGS));
	tcase_add_test(tests, of_many_locks_a_few);
	tcase_add_test(tests, seven_in_all_with_two_notes);
	tcase_add_test(tests, one_of_a_pool_works);
	tcase_add_loop_test(tests, one_of_a_pool_sleeps_at_its_work, 0,
			    sizeof(SLEEPERS) / sizeof(*SLEEPERS));
	tcase_add_test(tests, two_of_a_pool_are_not_one);
	tcase_add_test(tests, asking_again_and_again);
	tcase_add_test(tests, being_woken_is_not_asking);
	tcase_add_test(tests, many_woken_for_one);
	tcase_add_test(tests, all_woken_wait_again);
	tcase_add_test(tests, who_wakes_others_does_not_ask);
	tcase_add_test(tests, a_few_tasks_take_long);
	tcase_add_test(tests, a_few_tasks_wait_long_for_a_lock);
	tcase_add_test(tests, long_names);
	tcase_add_test(tests, abandoned_locks_are_asked_for_as_sql_has_them);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
