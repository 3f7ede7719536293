/* Which threads the report calls idle, and what it says to record next. */
#include <check.h>
#include "report_fixture.h"

/* Two threads of a pool without work, and one that waits for a tenth of the time. */
#define IDLE_TRACE                                                                                 \
	MODULES THREADS                                                                            \
	"@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"                                  \
	"@0 thread=3 park reason=cond object=0x7f28 stack=idle\n"                                  \
	"@4000000 thread=1 park reason=cond object=0x7f30 stack=put\n"                             \
	"@5000000 thread=1 resume reason=cond object=0x7f30\n"                                     \
	"@9500000 thread=3 resume reason=cond object=0x7f28\n"                                     \
	"@9500000 thread=2 resume reason=cond object=0x7f20\n"                                     \
	"@10000000 thread=1 log message=\"end\"\n"

/* Two threads of which the second was created by `creator`; what the first waited for, and who woke it. */
#define MASTER(creator)                                                                            \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 creator=" #creator " name=\"worker 1\"\n"                                 \
	"@0 thread=2 log message=\"begin\"\n"
#define MASTER_WAITS                                                                               \
	"@0 thread=1 park reason=cond object=0x7f20 stack=idle\n"                                  \
	"@7000000 thread=1 resume reason=cond object=0x7f20 result=ETIMEDOUT\n"                    \
	"@7000000 thread=1 park reason=cond object=0x7f20 stack=idle\n"                            \
	"@10000000 thread=2 unpark reason=cond object=0x7f20 count=1 stack=put\n"                  \
	"@10000000 thread=1 resume reason=cond object=0x7f20\n"

/* A thread that waits for a queue for 6 of 10 ms, and for something else in between. */
#define TWO_PLACES(object, reason, result)                                                         \
	"@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"                                  \
	"@3000000 thread=2 resume reason=cond object=0x7f20\n"                                     \
	"@3000001 thread=2 park reason=" reason " object=" object " stack=get\n"                   \
	"@5000000 thread=2 resume reason=" reason " object=" object " result=" result "\n"         \
	"@5000001 thread=2 park reason=cond object=0x7f20 stack=idle\n"                            \
	"@8000000 thread=2 resume reason=cond object=0x7f20\n"                                     \
	"@8000001 thread=2 park reason=" reason " object=" object " stack=get\n"                   \
	"@10000000 thread=2 resume reason=" reason " object=" object " result=" result "\n"

/* clang-format off */
static const struct report_line LINES[] = {
	{"what the kernel has of a thread before its first event and after its last is no more than all of its time",
	 "thread 1 tid=101 name=\"main\"\n"
	 "@0 thread=1 log message=\"begin\"\n"
	 "thread 2 tid=102 creator=1 start=1000000 end=1010000 name=\"short\"\n"
	 "@995000 source=kernel proc=1 thread=2 proc_start\n"
	 "@1000000 proc=1 thread=2 thread_start tid=102 creator=1\n"
	 "@1010000 proc=1 thread=2 thread_exit\n"
	 "@1020000 source=kernel proc=1 thread=2 proc_stop\n"
	 "@10000000 thread=1 log message=\"end\"\n",
	 "  short (102)                      10.0 µs   100.0%      100.0%",
	 false},
	{"a process ends with its last thread, not when the recorder sees that it has ended",
	 "sync ticks=0\nsync ticks=100000000\n"
	 "info sched \"yes\"\ninfo ended \"exit 3\"\n"
	 "thread 1 tid=101 name=\"main\"\n"
	 "@0 proc=0 thread=1 log message=\"begin\"\n"
	 "@0 source=kernel proc=0 thread=1 proc_start\n"
	 "@20000000 source=kernel proc=0 thread=1 proc_stop\n",
	 "  main (101)                       20.0 ms   100.0%      100.0%",
	 false},
	{"... if it has: nothing was recorded then of one that goes on",
	 "sync ticks=0\nsync ticks=100000000\n"
	 "info sched \"yes\"\ninfo ended \"still running\"\n"
	 "thread 1 tid=101 name=\"main\"\n"
	 "@0 proc=0 thread=1 log message=\"begin\"\n"
	 "@0 source=kernel proc=0 thread=1 proc_start\n"
	 "@20000000 source=kernel proc=0 thread=1 proc_stop\n",
	 "  main (101)                        100 ms    20.0%      100.0%",
	 false},
	{"idle threads come last, in one line, and cost nothing",
	 IDLE_TRACE,
	 "     total  of time      waits      mean   longest  threads  for\n"
	 "   1.00 ms    10.0%          1   1.00 ms   1.00 ms        1  cond 0x7f30\n"
	 "            server+0x40 < server+0x50\n"
	 "   19.0 ms  idle: 2 threads in cond at server+0x60",
	 false},
	{"idle threads at one place, which several functions call, are told once",
	 MODULES THREADS "stack called 0x1030 0x3061 0x3071 0x2031\n"
			 "stack also_called 0x1030 0x3061 0x3081 0x2031\n"
			 "@0 thread=2 park reason=cond object=0x7f20 stack=called\n"
			 "@0 thread=3 park reason=cond object=0x7f28 stack=also_called\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "   20.0 ms  idle: 2 threads in cond at server+0x60", false},
	{"shares of what held threads up are of the waiting of those that were not idle",
	 IDLE_TRACE,
	 "In the end held up by  20.0 ms of waiting for locks and threads, 1.00 ms of it not idle: 100%\n"
	 "   1.00 ms   100.0%   main (101) waited for cond; who ended that is not known",
	 false},
	{"the longest waits are not those of idle threads",
	 IDLE_TRACE,
	 "Longest single waits, for other threads\n"
	 "    lasted    began at  thread                      for\n"
	 "   1.00 ms     4.00 ms  main (101)                  cond 0x7f30",
	 false},
	{"who always waits for a lock is not idle",
	 MODULES THREADS "@0 thread=2 park reason=mutex object=0x7f20 stack=idle\n"
			 "@9900000 thread=2 resume reason=mutex object=0x7f20\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "idle:", true},
	{"who waited at two places, for different things, is idle at none",
	 MODULES THREADS TWO_PLACES("0x7f28", "cond", "0"),
	 "idle:", true},
	{"who waited at two places for the same thing is idle",
	 MODULES THREADS TWO_PLACES("0x7f20", "cond", "0"),
	 "   10.0 ms  idle: 1 thread in cond at server+0x60", false},
	{"who waited for something else in vain is idle",
	 MODULES THREADS TWO_PLACES("0x7f28", "cond", "ETIMEDOUT"),
	 "   10.0 ms  idle: 1 thread in cond at server+0x60", false},
	{"who takes the mutex of such a wait again for long is idle; the wait for the mutex is told with the locks",
	 MODULES THREADS "@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@8000000 thread=2 resume reason=cond object=0x7f20\n"
			 "@8000001 thread=2 park reason=cond_mutex object=0x7f28 stack=idle\n"
			 "@9800000 thread=2 resume reason=cond_mutex object=0x7f28\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "   8.00 ms  idle: 1 thread in cond at server+0x60", false},
	{"... but not who takes the mutex for far longer than it waits: somebody keeps it",
	 MODULES THREADS "@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@4000000 thread=2 resume reason=cond object=0x7f20\n"
			 "@4000001 thread=2 park reason=cond_mutex object=0x7f28 stack=idle\n"
			 "@9800000 thread=2 resume reason=cond_mutex object=0x7f28\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "idle:", true},
	{"... nor who waits for another mutex, or at another place",
	 MODULES THREADS "@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@8000000 thread=2 resume reason=cond object=0x7f20\n"
			 "@8000001 thread=2 park reason=mutex object=0x7f28 stack=idle\n"
			 "@9000000 thread=2 resume reason=mutex object=0x7f28\n"
			 "@9000001 thread=2 park reason=cond_mutex object=0x7f28 stack=get\n"
			 "@9800000 thread=2 resume reason=cond_mutex object=0x7f28\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "idle:", true},
	{"each section has what is its own of that: here the queue,",
	 MODULES THREADS TWO_PLACES("0x7fff00", "poll", "ETIMEDOUT"),
	 "   6.00 ms  idle: 1 thread in cond at server+0x60", false},
	{"... and here the timer",
	 MODULES THREADS TWO_PLACES("0x7fff00", "poll", "ETIMEDOUT"),
	 "   4.00 ms  idle: 1 thread in poll at server+0x10", false},
	{"a poll that found something is no idle wait: the thread works on it",
	 MODULES THREADS TWO_PLACES("0x7fff00", "poll", "0"),
	 "idle:", true},
	{"a sleep besides another wait may be work",
	 MODULES THREADS TWO_PLACES("0", "sleep", "0"),
	 "idle:", true},
	{"... also if it sleeps longer than it waits in vain",
	 MODULES THREADS "@0 thread=2 park reason=sleep stack=idle\n"
			 "@6000000 thread=2 resume reason=sleep\n"
			 "@6000001 thread=2 park reason=cond object=0x7f20 stack=get\n"
			 "@10000000 thread=2 resume reason=cond object=0x7f20 result=ETIMEDOUT\n",
	 "idle:", true},
	{"what is in progress at the end, at a place that is not known, is as before",
	 MODULES THREADS "@0 thread=2 wait reason=epoll object=7 since=0 stack=idle\n"
			 "@6000000 thread=2 wait reason=epoll object=7 since=1 stack=idle\n"
			 "@10000000 thread=1 log message=\"end\"\n"
			 "status thread=2 reason=epoll object=7 since=6000001\n",
	 "   10.0 ms  idle: 1 thread in epoll at server+0x60", false},
	{"who waits in a region has work at hand",
	 MODULES THREADS "@0 thread=2 region_begin type=\"handle\"\n"
			 "@0 thread=2 park reason=epoll object=7 stack=idle\n"
			 "@5000000 thread=2 resume reason=epoll object=7\n"
			 "@5000000 thread=2 region_end\n"
			 "@5000000 thread=2 region_begin type=\"handle\"\n"
			 "@5000001 thread=2 park reason=epoll object=7 stack=idle\n"
			 "@9999999 thread=2 resume reason=epoll object=7\n"
			 "@10000000 thread=2 region_end\n",
	 "idle:", true},
	{"... and so has who waits between begin and end of a task,",
	 MODULES THREADS "@0 thread=2 task_begin task=5 type=\"request\"\n"
			 "@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@10000000 thread=2 resume reason=cond object=0x7f20\n"
			 "@10000000 thread=2 task_end task=5\n",
	 "idle:", true},
	{"... but not who begins a task that another thread ends: it may lie in a queue",
	 MODULES THREADS "@0 thread=2 task_begin task=5 type=\"request\"\n"
			 "@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@10000000 thread=2 resume reason=cond object=0x7f20\n"
			 "@10000000 thread=3 task_end task=5\n",
	 "   10.0 ms  idle: 1 thread in cond at server+0x60", false},
	{"who waits for most of the time without work is idle, and what it waits for within work is told",
	 MODULES THREADS "@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@9700000 thread=2 resume reason=cond object=0x7f20\n"
			 "@9700001 thread=2 region_begin type=\"handle\"\n"
			 "@9700001 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@9900000 thread=2 resume reason=cond object=0x7f20\n"
			 "@9900001 thread=2 region_end\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "    200 µs     2.0%          1    200 µs    200 µs        1  cond 0x7f20\n"
	 "            server+0x60\n"
	 "   9.70 ms  idle: 1 thread in cond at server+0x60", false},
	{"who lived for less than half of the trace is not idle",
	 MODULES THREADS "@0 thread=1 log message=\"begin\"\n"
			 "@1000 thread=4 thread_start\n"
			 "@2000 thread=4 park reason=cond object=0x7f20 stack=idle\n"
			 "@4000000 thread=4 resume reason=cond object=0x7f20\n"
			 "@4000001 thread=4 thread_exit\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "idle:", true},
	{"who waits for its own workers, while these work, is not idle: also where it looks at times",
	 MODULES MASTER(1) MASTER_WAITS,
	 "   10.0 ms   100.0%          2   5.00 ms   7.00 ms        1  cond 0x7f20\n"
	 "            server+0x60\n"
	 "            50.0% timed out; woken by server+0x40, 30.0% of it, in worker 1 (102)",
	 false},
	{"... of workers of its workers, too", 
	 MODULES MASTER(3) "thread 3 tid=103 creator=1 name=\"helper\"\n" MASTER_WAITS,
	 "idle:", true},
	{"... but is, if the workers hardly work",
	 MODULES MASTER(1) "@0 thread=1 park reason=cond object=0x7f20 stack=idle\n"
			   "@6000000 thread=2 wait reason=read object=7 since=0 stack=get\n"
			   "@10000000 thread=2 unpark reason=cond object=0x7f20 count=1 stack=put\n"
			   "@10000000 thread=1 resume reason=cond object=0x7f20\n",
	 "   10.0 ms  idle: 1 thread in cond at server+0x60", false},
	{"... or if who wakes it is none of its workers: it is one itself",
	 MODULES MASTER(0) MASTER_WAITS,
	 "   10.0 ms  idle: 1 thread in cond at server+0x60", false},
	{"... or if nothing ever was done: all its waits timed out",
	 MODULES MASTER(1) "@0 thread=1 park reason=cond object=0x7f20 stack=idle\n"
			      "@10000000 thread=1 resume reason=cond object=0x7f20 result=ETIMEDOUT\n",
	 "   10.0 ms  idle: 1 thread in cond at server+0x60", false},
	{"... or if threads were created in a circle, as no trace should have it",
	 MODULES MASTER(2) MASTER_WAITS,
	 "   10.0 ms  idle: 1 thread in cond at server+0x60", false},
	{"where the kernel does not tell who ran, what no wait explains may have run",
	 MODULES THREADS "@0 thread=1 log message=\"begin\"\n"
			 "@2000000 thread=1 park reason=read object=7 stack=get\n"
			 "@5000000 thread=1 resume reason=read object=7\n"
			 "@5000000 thread=2 wait reason=read object=7 since=0 stack=get\n"
			 "@5000000 thread=3 wait reason=read object=7 since=0 stack=get\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "next: no wait explains 17.0 ms, 170.0% of one proc's time; trace-record -F 1000 "
	 "samples where",
	 false},
	{"... and a program that waits needs no samples",
	 MODULES THREADS "@0 thread=1 log message=\"begin\"\n"
			 "@9900000 thread=1 wait reason=read object=7 since=0 stack=get\n"
			 "@9900000 thread=2 wait reason=read object=7 since=0 stack=get\n"
			 "@9900000 thread=3 wait reason=read object=7 since=0 stack=get\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "next:", true},
	{"who ran and was not sampled is told how to sample",
	 MODULES THREADS "@1000 proc=0 source=kernel thread=1 proc_start\n"
			 "@9000000 proc=0 source=kernel thread=1 proc_stop\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "next: threads ran for 9.00 ms, 90.0% of one proc's time; trace-record -F 1000 samples where",
	 false},
	{"who hardly ran is not",
	 MODULES THREADS "@1000 proc=0 source=kernel thread=1 proc_start\n"
			 "@4000000 proc=0 source=kernel thread=1 proc_stop\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "next:", true},
	{"nor who was sampled",
	 "sample_event 1 period=1000000\n" MODULES THREADS
			 "@1000 proc=0 source=kernel thread=1 proc_start\n"
			 "@5000000 thread=1 sample event=1 value=1000000 period=1000000 stack=put\n"
			 "@9000000 proc=0 source=kernel thread=1 proc_stop\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "next:", true},
};
/* clang-format on */

START_TEST(lines)
{
	report_check_line(&LINES[_i]);
}
END_TEST

int main(void)
{
	return report_run("report_threads", lines, sizeof(LINES) / sizeof(*LINES));
}
