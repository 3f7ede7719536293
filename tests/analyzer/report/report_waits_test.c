/* What the report says of waits: what for, how long, by whom, which descriptors. */
#include <check.h>
#include "report_fixture.h"
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/selection.h"
#include "analyzer/text/line.h"

/* Made by main(): a wait of 11 ms that 5,000 releases cut, 1 us apart, and another one 6 ms later. */
static char starved[400000];

/* clang-format off */
static const struct report_line LINES[] = {
	{"a wait for any child is for no number",
	 MODULES THREADS "@1000 thread=1 park reason=child object=0xffffffffffffffff stack=idle\n"
			 "@5001000 thread=1 resume reason=child object=0xffffffffffffffff\n",
	 "   5.00 ms   100.0%          1   5.00 ms   5.00 ms        1  child\n"
	 "            server+0x60", false},
	{"a wait for one child is for its pid",
	 MODULES THREADS "@1000 thread=1 park reason=child object=4711 stack=idle\n"
			 "@5001000 thread=1 resume reason=child object=4711\n",
	 "   5.00 ms   100.0%          1   5.00 ms   5.00 ms        1  child 4711\n"
	 "            server+0x60", false},
	{"a wait for one of a process group is for that",
	 MODULES THREADS "@1000 thread=1 park reason=child object=0xffffffffffffffd6 stack=idle\n"
			 "@5001000 thread=1 resume reason=child object=0xffffffffffffffd6\n",
	 "   5.00 ms   100.0%          1   5.00 ms   5.00 ms        1  child of group 42\n"
	 "            server+0x60",
	 false},
	{"a wait for one of its own group says so",
	 MODULES THREADS "@1000 thread=1 park reason=child object=0 stack=idle\n"
			 "@5001000 thread=1 resume reason=child object=0\n",
	 "   5.00 ms   100.0%          1   5.00 ms   5.00 ms        1  child of its own group\n"
	 "            server+0x60",
	 false},
	{"a wait for the child of a pidfd says so",
	 MODULES THREADS "@1000 thread=1 park reason=child object=0x100000007 stack=idle\n"
			 "@5001000 thread=1 resume reason=child object=0x100000007\n",
	 "   5.00 ms   100.0%          1   5.00 ms   5.00 ms        1  child of pidfd 7\n"
	 "            server+0x60",
	 false},
	{"a wait in progress says so",
	 MODULES THREADS "@1000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
			 "@5001000 thread=1 counter name=\"c\" value=1\n",
	 "   5.00 ms     1.00 µs  worker 1 (102)              mutex 0x7f10, still waiting", false},
	{"... and who holds the lock, where nobody released it",
	 MODULES THREADS "@1000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
			 "@5001000 thread=1 counter name=\"c\" value=1\n",
	 "            held by main (101)", false},
	{"... and who holds it now, where it has changed hands meanwhile",
	 MODULES THREADS "@1000 thread=2 park reason=mutex object=0x7f10 holder=3 stack=get\n"
			 "@2000 thread=3 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
			 "@3000 thread=3 park reason=mutex object=0x7f10 holder=1 stack=get\n"
			 "@5001000 thread=1 counter name=\"c\" value=1\n",
	 "   5.00 ms     1.00 µs  worker 1 (102)              mutex 0x7f10, still waiting\n"
	 "            server+0x10 < server+0x20\n"
	 "            held by main (101)", false},
	{"objects of one stack are counted",
	 MODULES THREADS "@1000 thread=2 park reason=mutex object=0x10 stack=get\n"
			 "@2000 thread=2 resume reason=mutex object=0x10\n"
			 "@3000 thread=2 park reason=mutex object=0x20 stack=get\n"
			 "@6000 thread=2 resume reason=mutex object=0x20\n",
	 "   4.00 µs    66.7%          2   2.00 µs   3.00 µs        1  mutex 0x20 and 1 other",
	 false},
	{"a wait within an announced wait is in no sum twice",
	 MODULES THREADS "@1000 thread=2 park reason=user object=0x1 stack=put\n"
			 "@2000 thread=2 park reason=cond object=0x10 stack=idle\n"
			 "@6000 thread=2 resume reason=cond object=0x10\n"
			 "@11000 thread=2 resume reason=user object=0x1\n",
	 "Waiting for other threads  10.0 µs in 2 waits  (of time: share of the waiting threads' "
	 "lifetime)",
	 false},
	{"a wait for data has its stack and who wrote, as one for a lock has its holder",
	 MODULES THREADS "@1000 thread=2 park reason=read object=7 stack=get\n"
			 "@5000000 thread=1 unpark reason=read object=7 count=1 stack=put\n"
			 "@5001000 thread=2 resume reason=read object=7\n",
	 "   5.00 ms   100.0%          1   5.00 ms   5.00 ms        1  read fd 7\n"
	 "            server+0x10 < server+0x20\n"
	 "            woken by server+0x40, in main (101)",
	 false},
	{"who loses its proc in a write does not wait for the file",
	 MODULES THREADS "@0 source=kernel proc=0 thread=2 proc_start\n"
			 "@2000000 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
			 "@9000000 source=kernel proc=0 thread=2 proc_start\n"
			 "@11000000 thread=2 wait reason=write object=3 since=1000000 stack=get\n"
			 "@11500000 source=kernel proc=0 thread=2 proc_stop preempted=0\n",
	 "   10.0 ms    87.0%          1   10.0 ms   10.0 ms        1  write fd 3\n"
	 "            server+0x10 < server+0x20\n"
	 "            for 7.00 ms of it it could have run, but had no proc", false},
	{"... and counts as not parked meanwhile",
	 MODULES THREADS "@0 source=kernel proc=0 thread=2 proc_start\n"
			 "@2000000 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
			 "@9000000 source=kernel proc=0 thread=2 proc_start\n"
			 "@11000000 thread=2 wait reason=write object=3 since=1000000 stack=get\n"
			 "@20000000 source=kernel proc=0 thread=2 proc_stop preempted=0\n",
	 "  worker 1 (102)                   20.0 ms    65.0%       85.0%                   15.0%", false},
	{"... of waits within each other each without its own such time only",
	 "module server path=\"/none/server\" start=0x1000 limit=0x9000\n"
	 "stack get 0x1010 0x1020\nstack in 0x1110 0x1120\n"
	 THREADS "@0 source=kernel proc=0 thread=2 proc_start\n"
		 "@1000000 thread=2 park reason=write object=3 stack=get\n"
		 "@2000000 thread=2 park reason=read object=4 stack=in\n"
		 "@3000000 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
		 "@9000000 source=kernel proc=0 thread=2 proc_start\n"
		 "@10000000 thread=2 resume reason=read object=4\n"
		 "@10500000 thread=2 park reason=mutex object=0x40 stack=in\n"
		 "@10600000 thread=2 resume reason=mutex object=0x40\n"
		 "@11000000 thread=2 resume reason=write object=3\n"
		 "@20000000 source=kernel proc=0 thread=2 proc_stop preempted=0\n",
	 "  worker 1 (102)                   20.0 ms    70.0%       80.0%    0.5%           19.5%", false},
	{"... in its labels' time, too",
	 MODULES THREADS "labels acme tenant=\"acme\"\n"
			 "@0 source=kernel proc=0 thread=2 proc_start\n"
			 "@1 thread=2 labels labels=acme\n"
			 "@1000000 thread=2 park reason=write object=3 stack=get\n"
			 "@2000000 source=kernel proc=0 thread=2 proc_stop preempted=1\n"
			 "@9000000 source=kernel proc=0 thread=2 proc_start\n"
			 "@10000000 thread=2 resume reason=write object=3\n"
			 "@11000000 source=kernel proc=0 thread=2 proc_stop preempted=0\n",
	 "  tenant=acme                        11.0 ms     9.00 ms                          2.00 ms", false},
	{"... which one does that is put off its proc to wait",
	 MODULES THREADS "@0 source=kernel proc=0 thread=2 proc_start\n"
			 "@2000000 source=kernel proc=0 thread=2 proc_stop preempted=0\n"
			 "@9000000 source=kernel proc=0 thread=2 proc_start\n"
			 "@11000000 thread=2 wait reason=write object=3 since=1000000 stack=get\n"
			 "@11500000 source=kernel proc=0 thread=2 proc_stop preempted=0\n",
	 "could have run, but had no proc", true},
	{"a descriptor has the name that it had",
	 MODULES THREADS "@2000000 thread=2 wait reason=fsync object=3 since=1000000 stack=get "
			 "descriptor=\"/var/lib/x/wal\"\n",
	 "   1.00 ms    50.0%          1   1.00 ms   1.00 ms        1  fsync /var/lib/x/wal (fd 3)",
	 false},
	{"... in the longest waits as well",
	 MODULES THREADS "@2000000 thread=2 wait reason=recv object=12 since=1000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:80 127.0.0.1:51234\"\n",
	 "   1.00 ms     1.00 ms  worker 1 (102)              recv 127.0.0.1:51234 (fd 12)",
	 false},
	{"a number that is used again is each by itself",
	 MODULES THREADS "@2000000 thread=2 wait reason=read object=3 since=1000000 stack=get "
			 "descriptor=\"/a\"\n"
			 "@4000000 thread=2 wait reason=read object=3 since=3000000 stack=get "
			 "descriptor=\"/b\"\n"
			 "@6000000 thread=2 wait reason=read object=3 since=5000000 stack=get "
			 "descriptor=\"/b\"\n",
	 "   3.00 ms    50.0%          3   1.00 ms   1.00 ms        1  read /b and 1 other",
	 false},
	{"a server's connections are one line",
	 MODULES THREADS "@2000000 thread=2 wait reason=recv object=12 since=1000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:80 127.0.0.1:51234\"\n"
			 "@4000000 thread=2 wait reason=recv object=12 since=3000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:80 10.0.0.1:4\"\n"
			 "@6000000 thread=2 wait reason=recv object=13 since=5000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:80 10.0.0.2:4\"\n",
	 "   3.00 ms    50.0%          3   1.00 ms   1.00 ms        1  recv 3 connections of 127.0.0.1:80",
	 false},
	{"a client's, too",
	 MODULES THREADS "@2000000 thread=2 wait reason=recv object=12 since=1000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:1 10.0.0.9:80\"\n"
			 "@4000000 thread=2 wait reason=recv object=13 since=3000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:2 10.0.0.9:80\"\n",
	 "   2.00 ms    50.0%          2   1.00 ms   1.00 ms        1  recv 2 connections to 10.0.0.9:80",
	 false},
	{"what has no address in common is counted",
	 MODULES THREADS "@2000000 thread=2 wait reason=recv object=12 since=1000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:1 10.0.0.9:80\"\n"
			 "@4000000 thread=2 wait reason=recv object=13 since=3000000 stack=get "
			 "descriptor=\"tcp 127.0.0.1:2 10.0.0.9:81\"\n",
	 "   2.00 ms    50.0%          2   1.00 ms   1.00 ms        1  recv 10.0.0.9:80 and 1 other",
	 false},
	{"many descriptors of one thing",
	 MODULES THREADS "@2000000 thread=2 wait reason=recv object=12 since=1000000 stack=get "
			 "descriptor=\"unix at /run/x\"\n"
			 "@4000000 thread=2 wait reason=recv object=13 since=3000000 stack=get "
			 "descriptor=\"unix at /run/x\"\n",
	 "   2.00 ms    50.0%          2   1.00 ms   1.00 ms        1  recv /run/x (2 descriptors)",
	 false},
	{"a name that says nothing new is left out",
	 MODULES THREADS "@2000000 thread=2 wait reason=epoll object=4 since=1000000 stack=get "
			 "descriptor=\"anon_inode:[eventpoll]\"\n",
	 "   1.00 ms    50.0%          1   1.00 ms   1.00 ms        1  epoll fd 4",
	 false},
	{"of a long path both ends are shown",
	 MODULES THREADS "@2000000 thread=2 wait reason=read object=4 since=1000000 stack=get "
			 "descriptor=\"/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/end\"\n",
	 "   1.00 ms    50.0%          1   1.00 ms   1.00 ms        1  read /xxxxxxxxx…xxxxxx/end (fd 4)",
	 false},
	{"a path does nothing to the terminal",
	 MODULES THREADS "@2000000 thread=2 wait reason=read object=4 since=1000000 stack=get "
			 "descriptor=\"/a\\x1b[2Jb\"\n",
	 "   1.00 ms    50.0%          1   1.00 ms   1.00 ms        1  read /a?[2Jb (fd 4)",
	 false},
	{"of the longest waits, too, it is said that they timed out",
	 MODULES THREADS "@1000 thread=2 park reason=cond object=0x7f10 stack=get\n"
			 "@3001000 thread=2 resume reason=cond object=0x7f10 result=ETIMEDOUT\n"
			 "@4000000 thread=2 park reason=cond object=0x7f10 stack=get\n"
			 "@6000000 thread=2 resume reason=cond object=0x7f10\n"
			 "@10000000 thread=1 log message=\"end\"\n",
	 "    lasted    began at  thread                      for\n"
	 "   3.00 ms     1.00 µs  worker 1 (102)              cond 0x7f10, timed out\n"
	 "            server+0x10 < server+0x20\n"
	 "   2.00 ms     4.00 ms  worker 1 (102)              cond 0x7f10",
	 false},
	{"waits that timed out are told apart from those that were woken",
	 MODULES THREADS "@1000 thread=2 park reason=cond object=0x7f10 stack=get\n"
			 "@2000 thread=2 resume reason=cond object=0x7f10 result=ETIMEDOUT\n"
			 "@3000 thread=2 park reason=cond object=0x7f10 stack=get\n"
			 "@3500 thread=1 unpark reason=cond object=0x7f10 count=1 stack=put\n"
			 "@4000 thread=2 resume reason=cond object=0x7f10\n",
	 "            50.0% timed out; woken by server+0x40, 50.0% of it, in main (101)", false},
	{"... and where all did, nobody woke them",
	 MODULES THREADS "@1000 thread=2 park reason=cond object=0x7f10 stack=get\n"
			 "@2000 thread=2 resume reason=cond object=0x7f10 result=ETIMEDOUT\n"
			 "@3000 thread=2 park reason=cond object=0x7f10 stack=get\n"
			 "@4000 thread=2 resume reason=cond object=0x7f10 result=ETIMEDOUT\n",
	 "            all timed out", false},
	{"blame: a waiter that was woken and did not run is nobody's fault, until the lock is taken",
	 MODULES THREADS
	 "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
	 "@2000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
	 "@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 held=3000000 stack=idle\n"
	 "@11000000 thread=2 resume reason=mutex object=0x7f10\n",
	 "            caused by server+0x60, 30.0% of it, in main (101)", false},
	{"blame: ... of the first section that is known, too",
	 MODULES THREADS
	 "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n"
	 "@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 held=1000000 stack=put\n"
	 "@11000000 thread=2 resume reason=mutex object=0x7f10\n",
	 "            caused by server+0x40, 10.0% of it, in main (101)", false},
	{"blame: a wait that gives up is for who releases the lock later",
	 MODULES THREADS
	 "@1000000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
	 "@11000000 thread=2 resume reason=mutex object=0x7f10 result=ETIMEDOUT\n"
	 "@15000000 thread=1 unlock reason=mutex object=0x7f10 waiters=0 stack=put\n",
	 "            timed out; caused by server+0x40, in main (101)", false},
	{"blame: ... from when that one took it",
	 MODULES THREADS
	 "@1000000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
	 "@6000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=idle\n"
	 "@11000000 thread=2 resume reason=mutex object=0x7f10 result=ETIMEDOUT\n"
	 "@15000000 thread=3 unlock reason=mutex object=0x7f10 waiters=1 held=6000000 stack=put\n",
	 "            timed out; caused by server+0x60, 50.0% of it, in main (101) and 1 other", false},
	{"blame: of a wait that is cut thousands of times each piece counts", starved,
	 "            caused by server+0x40, 54.5% of it, in main (101) and 1 other", false},
	{"no waits: nothing is held up", "@1 counter name=\"c\" value=1\n", "In the end held up by",
	 true},
	{"waits for the outside alone: nor is it there", MODULES THREADS
	 "@1000 thread=1 park reason=epoll object=4\n@9000000 thread=1 resume reason=epoll object=4\n",
	 "In the end held up by", true},
	{"a chain: the end of it is told, not what is between",
	 MODULES THREADS
	 "@1000000 thread=1 park reason=sleep stack=get\n"
	 "@2000000 thread=2 park reason=mutex object=0x10 holder=1 stack=put\n"
	 "@3000000 thread=3 park reason=mutex object=0x20 holder=2 stack=put\n"
	 "@9000000 thread=1 resume reason=sleep\n"
	 "@9000000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=idle\n"
	 "@9000000 thread=2 resume reason=mutex object=0x10\n"
	 "@9000000 thread=2 unlock reason=mutex object=0x20 waiters=1 stack=idle\n"
	 "@9000000 thread=3 resume reason=mutex object=0x20\n",
	 "In the end held up by  13.0 ms of waiting for locks and threads\n"
	 "   13.0 ms   100.0%   main (101) slept\n"
	 "                        server+0x10 < server+0x20\n",
	 false},
	/* Pieces of 2 ms: 1.96 * sqrt(4 / 3 * (3 * 0.5^2 + 1.5^2) + 2 * 2^2) of 8 ms. */
	{"where samples tell at which places a thread ran, the shares are estimates",
	 MODULES THREADS
	 "sample_event 1 period=2000000\n"
	 "@1000000 thread=2 park reason=mutex object=0x10 holder=1 stack=put\n"
	 "@2000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get\n"
	 "@4000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get\n"
	 "@6000000 thread=1 sample event=1 value=2000000 period=2000000 stack=idle\n"
	 "@8000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get\n"
	 "@9000000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=put\n"
	 "@9400000 thread=2 resume reason=mutex object=0x10\n",
	 "In the end held up by  8.40 ms of waiting for locks and threads\n"
	 "   6.00 ms    71.4%  ±80.8   main (101) did not wait\n"
	 "                               server+0x10 < server+0x20\n"
	 "   2.00 ms    23.8%  ±80.8   main (101) did not wait\n"
	 "                               server+0x60\n"
	 "    400 µs     4.8%          worker 1 (102) had been woken, and did not run yet\n", false},
	{"who had been woken, and did not run yet, is one line, wherever it had waited",
	 MODULES THREADS
	 "@1000000 thread=2 park reason=mutex object=0x10 holder=1 stack=put\n"
	 "@1000000 thread=3 park reason=cond object=0x30 stack=idle\n"
	 "@6000000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=put\n"
	 "@6000000 thread=1 unpark reason=cond object=0x30 count=1 stack=put\n"
	 "@8000000 thread=2 resume reason=mutex object=0x10\n"
	 "@9000000 thread=3 resume reason=cond object=0x30\n"
	 "@9000000 thread=2 park reason=mutex object=0x20 holder=1 stack=get\n"
	 "@9000000 thread=1 unlock reason=mutex object=0x20 waiters=1 stack=put\n"
	 "@9500000 thread=2 resume reason=mutex object=0x20\n",
	 "In the end held up by  15.5 ms of waiting for locks and threads\n"
	 "   10.0 ms    64.5%   main (101) did not wait\n"
	 "                        up to server+0x40 < server+0x50\n"
	 "   5.50 ms    35.5%   2 threads had been woken, and did not run yet, longest worker 2 (103)\n",
	 false},
	{"what no thread is known of is not said of thread #0",
	 MODULES THREADS
	 "@1000000 thread=2 park reason=mutex object=0x10 stack=get\n"
	 "@2000000 thread=0 unlock reason=mutex object=0x10 waiters=1 stack=put\n"
	 "@2000000 thread=2 resume reason=mutex object=0x10\n"
	 "@3000000 thread=2 park reason=mutex object=0x10 stack=get\n"
	 "@6000000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=put\n"
	 "@6000000 thread=2 resume reason=mutex object=0x10\n",
	 "   1.00 ms    25.0%   an unknown thread did what is not known\n"
	 "                        server+0x40 < server+0x50", false},
	{"code that no file has and no map names: what would give it names",
	 MODULES THREADS "stack made 0x9010 0x3061 0x2031\n"
			 "@1000 thread=2 park reason=mutex object=0x10 stack=made\n"
			 "@2000 thread=2 resume reason=mutex object=0x10\n",
	 "No source lines for\n"
	 "  addresses in no file, as of code made by a virtual machine: no /tmp/perf-42.map\n"
	 "  java -XX:+DumpPerfMapAtExit and node --perf-basic-prof write it\n"
	 "  /none/server: not found\n", false},
	{"... which is not said where all code is of files",
	 MODULES THREADS "@1000 thread=2 park reason=mutex object=0x10 stack=get\n"
			 "@2000 thread=2 resume reason=mutex object=0x10\n",
	 "addresses in no file", true},
	{"no waits: no section for them", "@1 counter name=\"c\" value=1\n", "Critical sections",
	 true},
};

/* The stacks differ in their eighth caller. */
#define CALLERS "server+0x10 < server+0x20 < server+0x30 < server+0x40 < server+0x50 < server+0x60 < server+0x70 < server+0x80"
#define ONE_CHAIN MODULES THREADS \
	"stack nine 0x1010 0x3011 0x3021 0x3031 0x3041 0x3051 0x3061 0x3071 0x3081 0x3091 0x2031\n" \
	"stack other 0x1010 0x3011 0x3021 0x3031 0x3041 0x3051 0x3061 0x3071 0x3081 0x30a1 0x2031\n" \
	"@1000 thread=2 park reason=mutex object=0x10 stack=nine\n" \
	"@2000 thread=2 resume reason=mutex object=0x10\n"
#define TWO_CHAINS ONE_CHAIN \
	"@3000 thread=2 park reason=mutex object=0x10 stack=other\n" \
	"@5000 thread=2 resume reason=mutex object=0x10\n"
/* The third of them is of another thread. */
#define THREE_CHAINS TWO_CHAINS \
	"stack third 0x1010 0x3011 0x3021 0x3031 0x3041 0x3051 0x3061 0x3071 0x3081 0x30b1 0x2031\n" \
	"@6000 thread=3 park reason=mutex object=0x10 stack=third\n" \
	"@9000 thread=3 resume reason=mutex object=0x10\n"
static const struct {
	const char *thread, *window; /* NULL = all */
	struct report_line row;
} SELECTED[] = {
	{"worker 2", NULL, {"a place of one caller in what is selected has this one", THREE_CHAINS,
	  "            " CALLERS " < server+0xb0", false}},
	{NULL, "2100ns..5500ns", {"... also where that is a time", THREE_CHAINS,
	  "            " CALLERS " < server+0xa0", false}},
	{"worker 1", NULL, {"... and of several says so", THREE_CHAINS,
	  "            " CALLERS " < (several callers)", false}},
};
static const struct {
	struct report_line row;
	int width;
} CHAINS[] = {
	{{"in a file a line has all callers", ONE_CHAIN, "            " CALLERS " < server+0x90", false}, TRC_WIDTH_MAX},
	{{"on a terminal those that it has room for", ONE_CHAIN,
	  "            server+0x10 < server+0x20 < server+0x30 < server+0x40 < server+0x50 < server+0x60 < ser\xe2\x80\xa6",
	  false}, 100},
	{{"... on a wide one all", ONE_CHAIN, "            " CALLERS " < server+0x90", false}, 160},
	{{"a place of several callers has what they share, and says so", TWO_CHAINS,
	  "            " CALLERS " < (several callers)", false}, TRC_WIDTH_MAX},
	{{"... each single wait has its own", TWO_CHAINS, "            " CALLERS " < server+0xa0", false}, TRC_WIDTH_MAX},
};
/* clang-format on */

START_TEST(lines)
{
	report_check_line(&LINES[_i]);
}
END_TEST

START_TEST(chains)
{
	report_check_line_of(&CHAINS[_i].row, CHAINS[_i].width);
}
END_TEST

static int selected_row;

static int print_selected(struct trc_model *m, FILE *out, const struct trc_report_options *options,
			  struct trc_error *error)
{
	struct trc_selection s = {0};
	const char *thread = SELECTED[selected_row].thread, *window = SELECTED[selected_row].window;
	int err;

	if (thread)
		ck_assert_int_eq(trc_selection_ask_thread(&s, thread, error), 0);
	if (window)
		ck_assert_int_eq(trc_selection_ask_window(&s, window, error), 0);
	ck_assert_int_eq(trc_selection_find(&s, m, error), 0);
	trc_model_select(m, &s);
	err = trc_report_print(m, out, options, error);
	trc_model_select(m, NULL);
	trc_selection_free(&s);
	return err;
}

START_TEST(selected)
{
	const struct trc_report_options options = {.path = "dump.trc", .width = TRC_WIDTH_MAX};
	const struct report_line *row = &SELECTED[_i].row;
	char *text;

	selected_row = _i;
	text = report_printed(print_selected, row->trace, &options);
	ck_assert_msg(strstr(text, row->line), "%s:\n%s\nin:\n%s", row->what, row->line, text);
	ck_assert_msg(!strstr(row->line, "several") == !strstr(text, "several callers"), "%s:\n%s",
		      row->what, text);
	free(text);
}
END_TEST

static void make_starved(void)
{
	FILE *out = fmemopen(starved, sizeof(starved), "w");

	fputs(MODULES THREADS "@1000000 thread=2 park reason=mutex object=0x7f10 stack=get\n", out);
	for (unsigned int i = 1; i <= 5000; i++)
		fprintf(out,
			"@%u thread=3 unlock reason=mutex object=0x7f10 waiters=1 stack=idle\n",
			1000000 + 1000 * i);
	fputs("@12000000 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
	      "@12000000 thread=2 resume reason=mutex object=0x7f10\n",
	      out);
	fclose(out);
}

int main(void)
{
	int failed;

	make_starved();
	failed = report_run("report_waits", lines, sizeof(LINES) / sizeof(*LINES));
	failed |= report_run("report_selected", selected, sizeof(SELECTED) / sizeof(*SELECTED));
	return report_run("report_chains", chains, sizeof(CHAINS) / sizeof(*CHAINS)) || failed;
}
