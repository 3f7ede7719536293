/* What the report says of deadlocks, of what threads are at, of ends and of snapshots. */
#include <check.h>
#include "report_fixture.h"

/* A hanging process: two that wait for each other, and one behind them. */
#define HANG                                                                                       \
	"@1000000 thread=1 park reason=mutex object=0x7f10 holder=2 stack=get\n"                   \
	"@2000000 thread=2 park reason=mutex object=0x7f20 holder=1 stack=put\n"                   \
	"@3000000 thread=3 park reason=join object=0x7000 holder=2 stack=idle\n"                   \
	"sync ticks=9000000 realtime=1700000000009000000\n"
#define TAKE_BOTH(at, thread, first, second)                                                       \
	"@" at "0 thread=" thread " acquire reason=mutex object=" first " stack=get\n"              \
	"@" at "1 thread=" thread " acquire reason=mutex object=" second " stack=put\n"             \
	"@" at "2 thread=" thread " release reason=mutex object=" second "\n"                       \
	"@" at "3 thread=" thread " release reason=mutex object=" first "\n"
#define READ(at, thread) \
	"@" at " thread=" thread " acquire reason=rwlock_read object=0x7f10 stack=get\n"
#define ONE_READER                                                                                 \
	READ("1000", "2")                                                                          \
	"@2000 thread=2 park reason=rwlock_write object=0x7f10 stack=put\n"
#define TWO_READERS                                                                                \
	READ("1000", "2")                                                                          \
	READ("1001", "3")                                                                          \
	"@2000 thread=2 park reason=rwlock_write object=0x7f10 stack=put\n"                        \
	"@2001 thread=3 park reason=rwlock_write object=0x7f10 stack=put\n"
#define WRITER_OF_TWO                                                                              \
	READ("1000", "2")                                                                          \
	READ("1001", "3")                                                                          \
	"@1002 thread=1 acquire reason=mutex object=0x7f20 stack=get\n"                            \
	"@2000 thread=2 park reason=mutex object=0x7f20 holder=1 stack=put\n"                      \
	"@2001 thread=3 park reason=mutex object=0x7f20 holder=1 stack=put\n"                      \
	"@2002 thread=1 park reason=rwlock_write object=0x7f10 stack=put\n"
/* What is left of a process that hung, and was killed: its newest records are those waits. */
#define LEFT_BEHIND                                                                                \
	"info snapshot \"recovered\"\ninfo recovered_ns \"5009000000\"\n"                          \
	"@10000 thread=3 park reason=mutex object=0x7f10 stack=idle\n"                             \
	"@500000 thread=3 resume reason=mutex object=0x7f10\n"                                     \
	"@1000000 thread=1 park reason=mutex object=0x7f10 holder=2 stack=get\n"                   \
	"@1010000 thread=2 park reason=mutex object=0x7f20 holder=1 stack=put\n"                   \
	"status thread=1 reason=mutex object=0x7f10 holder=2 since=1000000 stack=get\n"            \
	"status thread=2 reason=mutex object=0x7f20 holder=1 since=1010000 stack=put\n"            \
	"status thread=3 reason=read object=7 since=1020000\n"
#define LEFT_WINDOW "coverage proc=0 held=0 from=1000 to=1020000\n"

/* A snapshot of a second, an hour after the recording began. */
#define SNAPSHOT                                                                                   \
	"info snapshot \"trigger\"\ninfo trigger \"park>100ms: mutex\"\n"                         \
	"info ended \"killed by signal 11 (SIGSEGV)\"\ninfo window_ns \"10000000000\"\n"         \
	"@3600500000000 thread=1 resume reason=cond object=0x7f00\n"                               \
	"@3600600000000 thread=2 trigger condition=\"park>100ms: mutex 0x10, 132 ms\"\n"           \
	"@3600700000000 thread=3 signal signal=11 code=1 address=0x40 fatal=0\n"                   \
	"@3600800000000 thread=2 signal signal=11 code=2 address=0x44 fatal=1 stack=get\n"         \
	"@3600900000000 thread=1 park reason=cond object=0x7f00 stack=idle\n"                      \
	"status thread=1 reason=cond object=0x7f00 since=3600900000000 stack=idle\n"               \
	"status thread=2\nstatus thread=3 reason=read object=7 since=1000000000\n"                 \
	"open_region thread=2 type=\"handle\" task=7 since=3500000000000\n"                        \
	"open_region thread=2 depth=1 type=\"parse\" since=3500000000000\n"
#define TO_THE_END "from=3600000000000 to=3601000000000\n"
#define COVERAGE                                                                                   \
	"coverage proc=0 held=3599000000000 " TO_THE_END                                           \
	"coverage proc=1 held=3600000000000 " TO_THE_END

/* clang-format off */
static const struct report_line LINES[] = {
	{"a deadlock is said first and plainly: who wants what, who holds what, who is behind it",
	 MODULES THREADS HANG,
	 "\nDEADLOCK: 2 threads wait for each other\n"
	 "  main (101) has waited 8.00 ms for mutex 0x7f10, held by worker 1 (102)\n"
	 "            server+0x10\n"
	 "            server+0x20\n"
	 "      holds mutex 0x7f20, for which 1 thread waits\n"
	 "            where it was taken was not recorded\n"
	 "  worker 1 (102) has waited 7.00 ms for mutex 0x7f20, held by main (101)\n"
	 "            server+0x40\n"
	 "            server+0x50\n"
	 "      holds mutex 0x7f10, for which 1 thread waits\n"
	 "            where it was taken was not recorded\n"
	 "  blocked by it: worker 2 (103), for 6.00 ms: the end of worker 1 (102)\n"
	 "  helps: take locks in the same order everywhere\n"
	 "    worker 1 (102), the last to wait, would take mutex 0x7f20 before mutex 0x7f10\n"
	 "\n"
	 "Threads now  when the trace ends: 3 waiting, 0 not in a recorded wait",
	 false},
	{"... and who is to take them otherwise: as most threads did, where that was recorded",
	 MODULES THREADS TAKE_BOTH("100", "3", "0x7f10", "0x7f20") TAKE_BOTH("200", "3", "0x7f10", "0x7f20")
		 TAKE_BOTH("300", "2", "0x7f20", "0x7f10") HANG,
	 "  helps: take locks in the same order everywhere\n"
	 "    main (101) would take mutex 0x7f10 before mutex 0x7f20, as threads did 2 times; the other way 1", false},
	{"... and of who waits for itself what else",
	 MODULES THREADS "@1000 thread=2 park reason=mutex object=0x7f10 holder=2 stack=get\n",
	 "  helps: release the lock before the thread takes it again, or make it recursive", false},
	{"... but only a mutex can be made recursive",
	 MODULES THREADS "@1000 thread=2 park reason=spin object=0x7f10 holder=2 stack=get\n",
	 "  helps: release the lock before the thread takes it again", false},
	{"... and a thread that waits for its own end needs another that does",
	 MODULES THREADS "@1000 thread=2 park reason=join object=0x7f10 holder=2 stack=get\n",
	 "  helps: let another thread wait for the end of this one", false},
	{"... nor have threads that wait for each other's ends a lock to give back",
	 MODULES THREADS "@1000 thread=2 park reason=join object=0x7f10 holder=3 stack=get\n"
			 "@1001 thread=3 park reason=join object=0x7f20 holder=2 stack=get\n",
	 "  helps: let one of these threads end without waiting for the end of another", false},
	{"of two readers that want to write, no order of locks helps", MODULES THREADS TWO_READERS,
	 "  helps: release the read lock before asking for the write lock, or take the write lock at once\n", false},
	{"... nor of one", MODULES THREADS ONE_READER,
	 "  helps: release the read lock before asking for the write lock, or take the write lock at once\n", false},
	{"of a writer and two readers that want what it holds, the two locks are named",
	 MODULES THREADS WRITER_OF_TWO,
	 "  helps: take locks in the same order everywhere\n"
	 "    main (101), the last to wait, would take rwlock_write 0x7f10 before mutex 0x7f20", false},
	{"a thread that waits for itself",
	 MODULES THREADS "@1000 thread=2 park reason=mutex object=0x7f10 holder=2 stack=get\n",
	 "\nDEADLOCK: worker 1 (102) waits for itself\n"
	 "  worker 1 (102) has waited 0 ns for mutex 0x7f10, which it holds itself\n"
	 "            server+0x10\n"
	 "            server+0x20\n"
	 "      holds mutex 0x7f10, for which 1 thread waits",
	 false},
	{"one that a timeout resolves says so",
	 MODULES THREADS "@100 thread=1 park reason=mutex object=0x7f10 holder=2 stack=get\n"
			 "@200 thread=1 resume reason=mutex object=0x7f10 result=ETIMEDOUT\n" HANG,
	 "DEADLOCK: 2 threads wait for each other (may end: timed wait)", false},
	{"with --locks=all, where each lock was taken",
	 MODULES THREADS "@500000 thread=1 acquire reason=mutex object=0x7f20 stack=idle\n" HANG,
	 "      holds mutex 0x7f20, for which 1 thread waits, for 8.50 ms now\n"
	 "            taken at server+0x60",
	 false},
	{"one in a trace that is cut off is doubted", MODULES THREADS HANG "unfinished\n",
	 "perhaps a DEADLOCK: 2 threads wait for each other", false},
	{"... and why",	MODULES THREADS HANG "unfinished\n",
	 "  not certain: the trace is cut off", false},
	{"what every thread is at: who is stuck, then who idles", MODULES THREADS HANG,
	 "  thread                        state           for  what, at\n"
	 "  main (101)                    waiting     8.00 ms  mutex 0x7f10, held by worker 1 (102)\n"
	 "            server+0x10 < server+0x20\n"
	 "  worker 1 (102)                waiting     7.00 ms  mutex 0x7f20, held by main (101)\n"
	 "            server+0x40 < server+0x50\n"
	 "  worker 2 (103)                waiting     6.00 ms  join worker 1 (102)\n"
	 "            server+0x60",
	 false},
	{"it is told of snapshots, whoever got the signal first",
	 MODULES THREADS SNAPSHOT COVERAGE,
	 "Threads now  when the trace ends: 2 waiting, 1 not in a recorded wait\n"
	 "  thread                        state           for  what, at\n"
	 "  worker 1 (102)                not in a recorded wait  got SIGSEGV\n"
	 "            200 ms before the end: server+0x10 < server+0x20\n"
	 "            in region parse, 2 deep, task 7\n"
	 "  worker 2 (103)                waiting 60 min 00 s  read fd 7\n"
	 "  main (101)                    waiting      100 ms  cond 0x7f00\n"
	 "            server+0x60",
	 false},
	{"not of recordings that ended in good order, unless something hangs", SERVER,
	 "Threads now  when the trace ends: 3 waiting, 0 not in a recorded wait", true},
	{"how the process ended: signal, code in words, address, stack; and what it got before",
	 MODULES THREADS SNAPSHOT COVERAGE,
	 "How it ended  killed by signal 11 (SIGSEGV)\n"
	 "  worker 1 (102) at 800 ms: SIGSEGV, SEGV_ACCERR: access not permitted (0x44)\n"
	 "            libtrc-preload.so.0+0xf\n"
	 "            server+0x10\n"
	 "            server+0x20\n"
	 "  worker 2 (103) at 700 ms: SIGSEGV, SEGV_MAPERR: address not mapped (0x40), handled by the "
	 "program",
	 false},
	{"as the process left it behind, where the event is not in the trace",
	 "info ended \"killed by signal 6 (SIGABRT)\"\n"
	 "info signal \"6 (SIGABRT) code -6 at 0x0 in thread 4711\"\n@1 counter name=\"c\"\n",
	 "How it ended  killed by signal 6 (SIGABRT)\n"
	 "  thread 4711: SIGABRT, SI_TKILL: sent by abort(), raise() or tgkill()",
	 false},
	{"a signal without a name, and a code without one",
	 "@1 thread=1 signal signal=99 code=77 fatal=0\n",
	 "  thread 0 at 1 ns: signal 99, code 77, handled by the program", false},
	{"signals of one kind that the program handled are one line, however many they are",
	 MODULES THREADS "@1000000 thread=1 signal signal=99 code=77 fatal=0\n"
			 "@2000000 thread=2 signal signal=99 code=77 fatal=0\n"
			 "@3000000 thread=2 signal signal=99 code=78 fatal=0\n"
			 "@4000000 thread=3 signal signal=99 code=77 fatal=0\n",
	 "Signals\n"
	 "  3 times, the last in worker 2 (103) at 4.00 ms: signal 99, code 77, handled by the program\n"
	 "  worker 1 (102) at 3.00 ms: signal 99, code 78, handled by the program\n", false},
	{"what a snapshot was taken for, and what it covers",
	 MODULES THREADS SNAPSHOT COVERAGE,
	 "Snapshot  trigger\n"
	 "  taken for park>100ms: mutex\n"
	 "  trigger at 600 ms in worker 1 (102): park>100ms: mutex 0x10, 132 ms\n"
	 "  covers the last 1.00 s of 2 procs in full\n"
	 "  warning: only 1.00 s of the 10.0 s asked for: proc 1 had no room for more",
	 false},
	{"one that could be longer only if the process had lived longer is not too short",
	 MODULES THREADS SNAPSHOT "coverage proc=0 " TO_THE_END,
	 "  covers the last 1.00 s of 1 proc in full; nothing has been overwritten yet", false},
	{"a recording of which only the kernel's records have a window",
	 MODULES THREADS "info window_ns \"10000000000\"\n@3599100000000 thread=1 log\n"
			 "coverage proc=0 source=kernel held=3600000000000 " TO_THE_END,
	 "Window\n"
	 "  covers all that was recorded, but for the kernel's records",
	 false},
	{"with all that was held, where a proc's history begins later than others'",
	 MODULES THREADS "@3599100000000 thread=1 log\n" SNAPSHOT COVERAGE,
	 "  covers the last 1.00 s of 2 procs in full, and parts of the 900 ms before\n"
	 "  warning: only 1.00 s of the 10.0 s asked for: proc 1 had no room for more\n"
	 "  warning: proc 1: nothing from the first 900 ms is known",
	 false},
	{"a wait that is older than the window", MODULES THREADS SNAPSHOT COVERAGE,
	 "  > 500 ms      before  main (101)                  cond 0x7f00", false},
	{"what is left of a process: the waits that it died in come first, and lasted longer",
	 MODULES THREADS LEFT_BEHIND LEFT_WINDOW,
	 "Longest single waits, for locks and files\n"
	 "    lasted    began at  thread                      for\n"
	 " > 20.0 µs      999 µs  main (101)                  mutex 0x7f10, still waiting\n"
	 "            server+0x10 < server+0x20\n"
	 "            held by worker 1 (102)\n"
	 " > 10.0 µs     1.01 ms  worker 1 (102)              mutex 0x7f20, still waiting\n"
	 "            server+0x40 < server+0x50\n"
	 "            held by main (101)\n"
	 "    > 0 ns     1.02 ms  worker 2 (103)              read fd 7, still waiting\n"
	 "            (no stack)\n"
	 "    490 µs     9.00 µs  worker 2 (103)              mutex 0x7f10\n"
	 "            server+0x60",
	 false},
	{"... as what each thread was at did", MODULES THREADS LEFT_BEHIND LEFT_WINDOW,
	 "  worker 2 (103)                waiting      > 0 ns  read fd 7", false},
	{"... and a deadlock", MODULES THREADS LEFT_BEHIND LEFT_WINDOW,
	 "  main (101) has waited > 20.0 µs for mutex 0x7f10, held by worker 1 (102)", false},
	{"... which is said once, with how much longer at most", MODULES THREADS LEFT_BEHIND LEFT_WINDOW,
	 "  the process may have lived up to 5.01 s longer, and its last waits lasted longer (\">\")",
	 false},
	{"... unless it is not known, or no number",
	 MODULES THREADS "info snapshot \"recovered\"\ninfo recovered_ns \"-9e99\"\n" LEFT_WINDOW,
	 "  the process may have lived longer, and its last waits lasted longer (\">\")", false},
	{"other snapshots know how long waits lasted", MODULES THREADS SNAPSHOT COVERAGE,
	 "  the process may have lived longer, and its last waits lasted longer (\">\")", true},
	{"no share is more than the whole", MODULES THREADS SNAPSHOT COVERAGE,
	 "  worker 2 (103)                    1.00 s        0.0%                  100.0%", false},
};
/* clang-format on */

START_TEST(lines)
{
	report_check_line(&LINES[_i]);
}
END_TEST

int main(void)
{
	return report_run("report_ended", lines, sizeof(LINES) / sizeof(*LINES));
}
