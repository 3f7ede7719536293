/* What the report says of tasks, counters and fibers. */
#include <check.h>
#include "report_fixture.h"

/* Two connections and one more: the first is readied by the second, the other two wait for ever. */
#define FIBERS                                                                                     \
	MODULES THREADS                                                                            \
	"labels acme tenant=\"acme\"\n"                                                            \
	"@1000 thread=2 fiber_create fiber=1 name=\"conn 17\" stack=idle\n"                        \
	"@2000 thread=2 fiber_create fiber=2 name=\"conn 8\" stack=idle\n"                         \
	"@3000 thread=2 fiber_create fiber=3 name=\"timer 1\" stack=idle\n"                        \
	"@500000 thread=2 labels labels=acme\n"                                                    \
	"@1000000 thread=2 fiber_switch fiber=1 name=\"conn 17\"\n"                                \
	"@3000000 thread=2 fiber_switch fiber=2 left=1 name=\"conn 8\" reason=user object=0x10 "   \
	"stack=get\n"                                                                              \
	"@3000100 thread=2 labels before=acme\n"                                                   \
	"@5000000 thread=2 fiber_ready fiber=1 stack=put\n"                                        \
	"@6000000 thread=2 fiber_switch fiber=3 left=2 name=\"timer 1\" reason=user stack=put\n"   \
	"@6500000 thread=2 fiber_switch left=3 reason=sleep stack=idle\n"                          \
	"@8000000 thread=1 fiber_switch fiber=1 name=\"conn 17\"\n"                                \
	"@9000000 thread=1 fiber_switch left=1\n@9000000 thread=1 fiber_end fiber=1\n"            \
	"@9500000 thread=3 fiber_ready fiber=2\n"

/* clang-format off */
static const struct report_line LINES[] = {
	{"percentiles are of nearest rank: p50 of four is the second",
	 "@1000 task_begin task=1 type=\"t\"\n@2000 task_end task=1\n"
	 "@3000 task_begin task=2 type=\"t\"\n@5000 task_end task=2\n"
	 "@6000 task_begin task=3 type=\"t\"\n@9000 task_end task=3\n"
	 "@10000 task_begin task=4 type=\"t\"\n@14000 task_end task=4\n"
	 "@15000 task_begin task=5 type=\"t\"\n",
	 "  t                                   5       1    10.0 µs   2.00 µs   4.00 µs   4.00 µs"
	 "   4.00 µs",
	 false},
	{"what the threads did while those of a type lasted that have ended",
	 THREADS "@1000 thread=1 task_begin task=1 type=\"t\"\n"
		 "@1200 thread=1 park reason=mutex object=0x10 holder=2\n"
		 "@1700 thread=2 unlock reason=mutex object=0x10 waiters=1\n"
		 "@1800 thread=1 resume reason=mutex object=0x10\n@2000 thread=1 task_end task=1\n"
		 "@3000 thread=1 task_begin task=2 type=\"t\"\n"
		 "@3000 thread=1 park reason=sleep\n@3600 thread=1 resume reason=sleep\n"
		 "@4000 thread=1 task_end task=2\n@5000 thread=1 task_begin task=3 type=\"t\"\n"
		 "@5000 thread=1 park reason=cond object=0x20\n"
		 "@9000 thread=1 resume reason=cond object=0x20\n",
	 "            40.0% did not wait, 30.0% waited for mutex, 30.0% slept", false},
	{"a task that never ended has no times",
	 "@1000 task_begin task=1 type=\"t\"\n@2000 counter name=\"c\" value=1\n",
	 "  t                                   1       1", false},
	{"a counter's extremes and its last value",
	 "@1 counter name=\"q\" value=5\n@2 counter name=\"q\" value=-7\n"
	 "@3 counter name=\"q\" value=2\n",
	 "  q                                   3                  -7                   5"
	 "                   2",
	 false},
	{"fibers by name, whatever the numbers in them; one alone has its own", FIBERS "@10000000 log\n",
	 "Fibers  3\n"
	 "  name                          fibers        runs       waits     running    runnable"
	 "     waiting\n"
	 "  conn #                             2           3           2     6.00 ms     3.50 ms"
	 "     5.50 ms\n"
	 "  timer 1                            1           1           1      500 µs        0 ns"
	 "     3.50 ms",
	 false},
	{"what a fiber waited for, who made it ready, how long it took to run, and its labels",
	 FIBERS "@10000000 log\n",
	 "Longest single waits of fibers\n"
	 "    lasted    began at  fiber                       for\n"
	 "   5.00 ms     3.00 ms  conn 17                     user 0x10\n"
	 "            server+0x10 < server+0x20\n"
	 "            made ready by server+0x40 in conn 8, ran 3.00 ms later\n"
	 "            under tenant=acme\n"
	 "   4.00 ms     6.00 ms  conn 8                      user, still to run\n"
	 "            server+0x40 < server+0x50\n"
	 "            made ready by worker 2 (103)\n"
	 "   3.50 ms     6.50 ms  timer 1                     sleep, still waiting\n"
	 "            server+0x60",
	 false},
	{"names are alike only in all but their numbers",
	 THREADS "@1000 thread=1 fiber_create fiber=1 name=\"a1\" stack=1\n"
		 "@1000 thread=1 fiber_create fiber=2 name=\"a1b\"\n"
		 "@1000 thread=1 fiber_create fiber=3 name=\"a#\"\n@2000 thread=1 fiber_create fiber=4\n",
	 "  (no name)                          1           0           0        0 ns        0 ns        "
	 "0 ns\n"
	 "  a#                                 2           0           0        0 ns        0 ns        "
	 "0 ns\n"
	 "  a1b                                1           0           0        0 ns        0 ns        "
	 "0 ns",
	 false},
	{"one that ended while it waited, one that ran unseen",
	 MODULES THREADS "@1000000 thread=2 fiber_switch left=1 reason=poll object=7\n"
			 "@3000000 thread=2 fiber_end fiber=1\n"
			 "@3000000 thread=2 fiber_switch left=2 reason=poll\n"
			 "@4600000 proc=3 thread=3 gap lost_events=3 since=4500000 cause=ring_full\n"
			 "@5000000 thread=2 fiber_switch left=2\n",
	 "   2.00 ms     1.00 ms  fiber 1                     poll 0x7, until it ended\n"
	 "            (no stack)\n"
	 " > 1.50 ms     3.00 ms  fiber 2                     poll\n"
	 "            (no stack)",
	 false},
	{"one from before a snapshot's window",
	 MODULES THREADS "info snapshot \"SIGUSR2\"\n"
			 "@2000000 thread=1 fiber_ready fiber=5\n"
			 "@2500000 thread=1 fiber_switch fiber=5 name=\"five\"\n"
			 "coverage proc=0 from=1000000 to=9000000\n",
	 " > 1.50 ms      before  five                        not known\n"
	 "            (no stack)\n"
	 "            made ready by main (101), ran 500 µs later",
	 false},
	{"a trace without fibers has no section on them", SERVER, "Fibers  0", true},
};
/* clang-format on */

START_TEST(lines)
{
	report_check_line(&LINES[_i]);
}
END_TEST

int main(void)
{
	return report_run("report_user", lines, sizeof(LINES) / sizeof(*LINES));
}
