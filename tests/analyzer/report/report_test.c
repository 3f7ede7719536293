/* What the report says (analyzer/report/report.h), to the letter, and what always holds of it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/report/report.h"
#include "analyzer/text/line.h"
#include "tests/analyzer/model/model_fixture.h"

#define MODULES                                                                                    \
	"sync ticks=0 realtime=1700000000000000000\n"                                              \
	"info command \"./server --port 80\"\n"                                                    \
	"info hostname \"box\"\n"                                                                  \
	"info pid \"42\"\n"                                                                        \
	"info ended \"exit status 0\"\n"                                                           \
	"info sched \"no: perf_event_open is not permitted\"\n"                                    \
	"module trc path=\"/usr/lib/libtrc-preload.so.0\" start=0x1000 limit=0x2000 bias=0x1000\n" \
	"module libc path=\"/lib/libc.so.6\" start=0x2000 limit=0x3000 bias=0x2000\n"              \
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"              \
	"stack get 0x1010 0x3011 0x3021 0x2031\n"                                                  \
	"stack get_too 0x1110 0x2200 0x3011 0x3021 0x2031\n"                                       \
	"stack put 0x1020 0x3041 0x3051 0x2031\n"                                                  \
	"stack idle 0x1030 0x3061 0x2031\n"

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 name=\"worker 1\"\n"                                                     \
	"thread 3 tid=103 name=\"worker 2\"\n"

/* Two workers behind main; an idle one; a file; a request. */
static const char SERVER[] =
	MODULES THREADS "@0 thread=2 region_begin type=\"handle\"\n"
			"@1000000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
			"@2000000 thread=3 park reason=mutex object=0x7f10 holder=1 stack=get_too\n"
			"@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=2 stack=put\n"
			"@9100000 thread=2 resume reason=mutex object=0x7f10\n"
			"@9500000 thread=2 unlock reason=mutex object=0x7f10 waiters=1 stack=get\n"
			"@9600000 thread=3 resume reason=mutex object=0x7f10\n"
			"@9700000 thread=2 wait reason=fsync object=5 since=9600000 stack=put\n"
			"@10000000 thread=2 region_end\n"
			"@20000000 thread=3 park reason=cond object=0x7f20 stack=idle\n"
			"@80000000 thread=1 unpark reason=cond object=0x7f20 count=1 stack=put\n"
			"@80000000 thread=3 resume reason=cond object=0x7f20\n"
			"@80000000 thread=1 park reason=epoll object=4 stack=idle\n"
			"@90000000 thread=1 resume reason=epoll object=4\n"
			"@90000000 thread=1 log category=\"net\" message=\"hello\"\n"
			"@100000000 thread=1 counter name=\"queue\" value=-3\n";

/* clang-format off */
static const char SERVER_REPORT[] =
	"./server --port 80\n"
	"100 ms from 2023-11-14 22:13:20 UTC on box, pid 42, ended: exit status 0\n"
	"3 threads, 1 proc, 16 events in SIZE, none lost\n"
	"no scheduling intervals: perf_event_open is not permitted\n"
	"\n"
	"Findings\n"
	"  server+0x40 caused 15.0 ms of the 15.7 ms that 2 threads waited for mutex 0x7f10, 7.8% of their\n"
	"      time\n"
	"    for 95.5%, main (101) held the lock and did not wait, up to server+0x40\n"
	"    helps: hold the lock for less time, or split what it guards\n"
	"\n"
	"Waiting for locks  15.7 ms in 2 waits  (of time: share of the waiting threads' lifetime)\n"
	"     total  of time      waits      mean   longest  threads  for\n"
	"   15.7 ms     7.8%          2   7.85 ms   8.10 ms        2  mutex 0x7f10\n"
	"            server+0x10 < server+0x20\n"
	"            caused by server+0x40, 95.5% of it, in main (101)\n"
	"\n"
	"Waiting for other threads  60.0 ms in 1 wait\n"
	"     total  of time      waits      mean   longest  threads  for\n"
	"   60.0 ms    60.0%          1   60.0 ms   60.0 ms        1  cond 0x7f20\n"
	"            server+0x60\n"
	"            woken by server+0x40, in main (101)\n"
	"\n"
	"Waiting for files and sockets  100 µs in 1 wait\n"
	"     total  of time      waits      mean   longest  threads  for\n"
	"    100 µs     0.1%          1    100 µs    100 µs        1  fsync fd 5\n"
	"            server+0x40 < server+0x50\n"
	"\n"
	"Waiting for requests, timers and children  10.0 ms in 1 wait\n"
	"     total  of time      waits      mean   longest  threads  for\n"
	"   10.0 ms    10.0%          1   10.0 ms   10.0 ms        1  epoll fd 4\n"
	"            server+0x60\n"
	"\n"
	"Critical sections  15.5 ms of others' waiting, by who released the lock\n"
	"    caused   to waits   sections      mean   longest  lock, released at\n"
	"   15.0 ms          2          1   15.0 ms   15.0 ms  mutex 0x7f10, by main (101)\n"
	"            server+0x40 < server+0x50\n"
	"    500 µs          1          1    500 µs    500 µs  mutex 0x7f10, by worker 1 (102)\n"
	"            server+0x10 < server+0x20\n"
	"\n"
	"Longest single waits, for locks and files\n"
	"    lasted    began at  thread                      for\n"
	"   8.10 ms     1.00 ms  worker 1 (102)              mutex 0x7f10\n"
	"            server+0x10 < server+0x20\n"
	"            held and released by server+0x40 in main (101)\n"
	"   7.60 ms     2.00 ms  worker 2 (103)              mutex 0x7f10\n"
	"            server+0x10 < server+0x20\n"
	"            held by main (101), released by server+0x10 in worker 1 (102)\n"
	"    100 µs     9.60 ms  worker 1 (102)              fsync fd 5\n"
	"            server+0x40 < server+0x50\n"
	"\n"
	"Longest single waits, for other threads\n"
	"    lasted    began at  thread                      for\n"
	"   60.0 ms     20.0 ms  worker 2 (103)              cond 0x7f20\n"
	"            server+0x60\n"
	"            woken by server+0x40 in main (101)\n"
	"\n"
	"Threads  shares of the time that each was alive\n"
	"  thread                             alive  not parked   locks  others   files outside\n"
	"  worker 1 (102)                    100 ms       91.8%    8.1%            0.1%\n"
	"  worker 2 (103)                    100 ms       32.4%    7.6%   60.0%\n"
	"  main (101)                        100 ms       90.0%                           10.0%\n"
	"\n"
	"Regions\n"
	"  type                            count    open      total       p50       p95       p99       max\n"
	"  handle                              1            10.0 ms   10.0 ms   10.0 ms   10.0 ms   10.0 ms\n"
	"\n"
	"Logs\n"
	"  category                     messages\n"
	"  net                                 1\n"
	"\n"
	"Counters\n"
	"  name                           values               least                most                last\n"
	"  queue                               1                  -3                  -3                  -3\n"
	"\n"
	"No source lines for\n"
	"  /none/server: not found\n"
	"\n"
	"next: no wait explains 214 ms, 214.2% of one proc's time; trace-record -F 1000 samples where\n"
	"more: trace-analyze [--why longest | --html FILE | --pprof block -o FILE | --shell] dump.trc\n";

static const char SERVER_SUMMARY[] =
	"dump.trc: 100 ms, 3 threads, 16 events, SIZE, none lost\n"
	"   15.7 ms   7.8%  2 waits of 2 threads for mutex 0x7f10\n"
	"                   server+0x10 < server+0x20\n"
	"                   caused by server+0x40, 95.5% of it, in main (101)\n"
	"   60.0 ms  60.0%  1 wait of 1 thread for cond 0x7f20\n"
	"                   server+0x60\n"
	"                   woken by server+0x40, in main (101)\n"
	"next: trace-analyze dump.trc\n";
/* clang-format on */

typedef int print_fn(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		     struct trc_error *error);

/* What it prints; free() it. */
static char *printed(print_fn *print, const char *trace, const struct trc_report_options *options)
{
	struct trc_model *m = model_of(trace, 0);
	struct trc_error error;
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(print(m, out, options, &error), 0);
	fclose(out);
	model_close(m);
	return text;
}

/* How many bytes the file takes is not the report's business: "1.86 kB ..." becomes SIZE. */
static void hide_size(char *text)
{
	char *unit = strstr(text, " kB"), *from = unit, *end;

	ck_assert_ptr_nonnull(unit);
	while (from > text && (strchr("0123456789.", from[-1])))
		from--;
	end = unit + strlen(" kB");
	if (!strncmp(end, " (", 2))
		end = strchr(end, ')') + 1;
	memmove(from + 4, end, strlen(end) + 1);
	memcpy(from, "SIZE", 4);
}

static void compare(print_fn *print, const char *trace, const char *wanted)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	char *text = printed(print, trace, &options);

	hide_size(text);
	if (strcmp(text, wanted) != 0)
		printf("---- printed:\n%s----\n", text);
	ck_assert_str_eq(text, wanted);
	free(text);
}

START_TEST(report_of_a_server)
{
	compare(trc_report_print, SERVER, SERVER_REPORT);
}
END_TEST

START_TEST(summary_of_a_server)
{
	compare(trc_report_summary, SERVER, SERVER_SUMMARY);
}
END_TEST

/* What was lost behind the cut nobody counted. */
START_TEST(a_cut_is_not_nothing_lost)
{
	static const char CUT[] = MODULES THREADS "@1000 thread=1 counter name=\"c\" value=1\n"
						  "unfinished\n";
	static const char GAP[] = MODULES THREADS
		"@1000 thread=1 gap lost_events=5 since=500 cause=ring_full\n"
		"unfinished\n";
	print_fn *const print[] = {trc_report_print, trc_report_summary};
	const struct trc_report_options options = {.path = "dump.trc"};

	for (size_t i = 0; i < sizeof(print) / sizeof(*print); i++) {
		char *cut = printed(print[i], CUT, &options);
		char *gap = printed(print[i], GAP, &options);

		ck_assert_ptr_null(strstr(cut, "none lost"));
		ck_assert_msg(strstr(cut, ", its end is missing\n"), "%s", cut);
		ck_assert_msg(strstr(gap, ", 5 lost, its end is missing\n"), "%s", gap);
		free(gap);
		free(cut);
	}
}
END_TEST

/* A hanging process: two that wait for each other, and one behind them. */
#define HANG                                                                                       \
	"@1000000 thread=1 park reason=mutex object=0x7f10 holder=2 stack=get\n"                   \
	"@2000000 thread=2 park reason=mutex object=0x7f20 holder=1 stack=put\n"                   \
	"@3000000 thread=3 park reason=join object=0x7000 holder=2 stack=idle\n"                   \
	"sync ticks=9000000 realtime=1700000000009000000\n"
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

/* Main works in get() for two tenants, and once in put(), which get() calls as well. */
#define SAMPLED                                                                                    \
	MODULES THREADS                                                                            \
	"stack work 0x3011 0x3021\n"                                                               \
	"stack work_put 0x3041 0x3011 0x3021\n"                                                    \
	"stack again 0x3021 0x3011 0x3021\n"                                                       \
	"labels acme tenant=\"acme\"\n"                                                            \
	"labels zeta tenant=\"zeta\"\n"                                                            \
	"sample_event 1 name=\"timer\" frequency=1000 missing=2 note=\"instead of cpu-clock\"\n"    \
	"sample_event 2 name=\"cache-misses\" unit=\"count\" how=kernel period=5000\n"             \
	"@10000000 thread=1 sample event=1 value=10000000 stack=work labels=acme\n"                \
	"@20000000 thread=1 sample event=1 value=20000000 stack=work labels=zeta\n"                \
	"@30000000 thread=1 sample event=1 value=10000000 stack=work_put\n"                        \
	"@40000000 thread=2 sample event=1 value=10000000 stack=again\n"                           \
	"@50000000 thread=2 samples_lost event=1 lost_samples=5 cause=busy\n"                      \
	"@60000000 thread=2 sample event=2 value=5000\n"

/* Two of a leaf and who called it, one of four functions. */
#define KERNEL_DEEP "@40000000 thread=1 sample event=1 value=10000000 stack=deep\n"
#define KERNEL_STACKS(how)                                                                         \
	MODULES THREADS "stack leaf 0x3011 0x3021\n"                                               \
			"stack deep 0x3041 0x3011 0x3021 0x3031\n"                                 \
			"sample_event 1 name=\"cpu-clock\" how=" how " frequency=10000\n"           \
			"@10000000 thread=1 sample event=1 value=10000000 stack=leaf\n"            \
			"@20000000 thread=1 sample event=1 value=10000000 stack=leaf\n"            \
			"@30000000 thread=1 sample event=1 value=10000000 stack=deep\n"

#define MUCH_LOST(n)                                                                               \
	MODULES THREADS "stack work 0x3011\n"                                                      \
			"labels acme tenant=\"acme\"\n"                                            \
			"sample_event 1 name=\"timer\" frequency=1000\n"                           \
			"@10000000 thread=1 sample event=1 value=10000000 stack=work labels=acme\n" \
			"@20000000 thread=2 samples_lost event=1 lost_samples=" n " cause=busy\n"

#define FEW_LOST                                                                                   \
	MODULES THREADS "stack work 0x3011 0x3021\n"                                               \
			"stack again 0x3021 0x3011\n"                                              \
			"sample_event 1 name=\"timer\" frequency=1000\n"                           \
			"@10000000 thread=1 sample event=1 value=30000000 stack=work\n"            \
			"@20000000 thread=1 sample event=1 value=10000000 stack=again\n"           \
			"@30000000 thread=1 samples_lost event=1 lost_samples=2 cause=busy\n"

/* get() holds what it allocates, in both halves of the trace; put() gave everything back. */
#define ALLOCATED                                                                                  \
	MODULES THREADS                                                                            \
	"labels acme tenant=\"acme\"\n"                                                            \
	"@1000 thread=1 alloc sample=1 address=0x10 bytes=1000 period=1 stack=get labels=acme\n"   \
	"@2000 thread=1 alloc sample=2 address=0x20 bytes=500 period=1 stack=get_too\n"            \
	"@3000 thread=1 alloc sample=3 address=0x30 bytes=4000 period=1 stack=put labels=acme\n"   \
	"@8000 thread=2 free sample=3 address=0x30 bytes=4000 period=1\n"                          \
	"@9000 thread=2 alloc sample=4 address=0x40 bytes=2500 period=1 stack=get\n"               \
	"@9500 thread=2 alloc sample=5 address=0x50 bytes=1000 period=1 stack=idle\n"              \
	"@10000 thread=1 counter name=\"c\" value=1\n"

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

static const struct {
	const char *what, *trace, *line; /* which must be among those printed; may be several */
	bool absent;			 /* ... or must not be found, in no line */
} LINES[] = {
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
	{"lost events are said with their cause",
	 MODULES "@1000 thread=1 counter name=\"c\" value=1\n"
		 "@2000000 thread=1 gap lost_events=1234 since=1000000 cause=ring_full\n",
	 "lost: 1,234 events, ring_full, between 1.00 ms and 2.00 ms", false},
	{"one of a thing has no plural",
	 MODULES THREADS "@2000000 thread=1 gap lost_events=1 since=1000000 cause=ring_full\n",
	 "lost: 1 event, ring_full, between 1.00 ms and 2.00 ms", false},
	{"percentiles are of nearest rank: p50 of four is the second",
	 "@1000 task_begin task=1 type=\"t\"\n@2000 task_end task=1\n"
	 "@3000 task_begin task=2 type=\"t\"\n@5000 task_end task=2\n"
	 "@6000 task_begin task=3 type=\"t\"\n@9000 task_end task=3\n"
	 "@10000 task_begin task=4 type=\"t\"\n@14000 task_end task=4\n"
	 "@15000 task_begin task=5 type=\"t\"\n",
	 "  t                                   5       1    10.0 µs   2.00 µs   4.00 µs   4.00 µs"
	 "   4.00 µs",
	 false},
	{"a task that never ended has no times",
	 "@1000 task_begin task=1 type=\"t\"\n@2000 counter name=\"c\" value=1\n",
	 "  t                                   1       1", false},
	{"a counter's extremes and its last value",
	 "@1 counter name=\"q\" value=5\n@2 counter name=\"q\" value=-7\n"
	 "@3 counter name=\"q\" value=2\n",
	 "  q                                   3                  -7                   5"
	 "                   2",
	 false},
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
	{"what a name could do to a terminal it does not",
	 "info command \"\\x1b[2J\\x9b1m \\n\"\n@1 counter name=\"c\" value=1\n", "?[2J?1m ?",
	 false},
	{"rings that were full: how large they had to be, by the proc that lost most",
	 "info ring_bytes \"4194304\"\n@1 counter name=\"c\"\n"
	 "@2 gap lost_events=100000 since=1 cause=ring_full\n"
	 "@3 gap lost_events=100000 since=2 cause=ring_full\n"
	 "@2 proc=1 gap lost_events=90000 since=1 cause=ring_full\n",
	 "lost: 290,000 events, ring_full, between 1 ns and 3 ns\n"
	 "  with --ring-size 16M instead of 4M the rings would have held them",
	 false},
	{"what no ring could have held has no such line",
	 "info ring_bytes \"4194304\"\n@2 gap lost_events=100000 since=1 cause=sink_failed\n", "--ring-size",
	 true},
	{"nor has a flight recorder's, which is there to overwrite",
	 "info snapshot \"trigger\"\ninfo ring_bytes \"4194304\"\n"
	 "@2 gap lost_events=100000 since=1 cause=ring_full\n",
	 "--ring-size", true},
	{"what is not seen in a name is a question mark",
	 "info command \"a\xe2\x80\xae" "b\xf3\xa0\x81\x81" "c\xef\xb8\x8f\"\n@1 counter name=\"c\" value=1\n",
	 "a?b?c?", false},
	{"scheduling intervals that are there need no remark",
	 "info sched \"yes\"\n@1 counter name=\"c\" value=1\n", "no scheduling intervals: yes",
	 true},
	{"a deadlock is said first and plainly: who wants what, who holds what, who is behind it",
	 MODULES THREADS HANG,
	 "\nDEADLOCK: 2 threads wait for each other\n"
	 "  main (101) has waited 8.00 ms for mutex 0x7f10, held by worker 1 (102)\n"
	 "            server+0x10\n"
	 "            server+0x20\n"
	 "      holds mutex 0x7f20, for which 1 thread waits\n"
	 "  worker 1 (102) has waited 7.00 ms for mutex 0x7f20, held by main (101)\n"
	 "            server+0x40\n"
	 "            server+0x50\n"
	 "      holds mutex 0x7f10, for which 1 thread waits\n"
	 "  blocked by it: worker 2 (103), for 6.00 ms: the end of worker 1 (102)\n"
	 "\n"
	 "Threads now  when the trace ends: 3 waiting, 0 not in a recorded wait",
	 false},
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
	{"a wait for data has its stack and who wrote, as one for a lock has its holder",
	 MODULES THREADS "@1000 thread=2 park reason=read object=7 stack=get\n"
			 "@5000000 thread=1 unpark reason=read object=7 count=1 stack=put\n"
			 "@5001000 thread=2 resume reason=read object=7\n",
	 "   5.00 ms   100.0%          1   5.00 ms   5.00 ms        1  read fd 7\n"
	 "            server+0x10 < server+0x20\n"
	 "            woken by server+0x40, in main (101)",
	 false},
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
	{"idle threads come last, in one line, and cost nothing",
	 IDLE_TRACE,
	 "     total  of time      waits      mean   longest  threads  for\n"
	 "   1.00 ms    10.0%          1   1.00 ms   1.00 ms        1  cond 0x7f30\n"
	 "            server+0x40 < server+0x50\n"
	 "   19.0 ms  idle: 2 threads in cond at server+0x60",
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
	{"who waited at two places is idle at none",
	 MODULES THREADS "@0 thread=2 park reason=cond object=0x7f20 stack=idle\n"
			 "@5000000 thread=2 resume reason=cond object=0x7f20\n"
			 "@5000001 thread=2 park reason=cond object=0x7f20 stack=get\n"
			 "@10000000 thread=2 resume reason=cond object=0x7f20\n",
	 "idle:", true},
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
	{"CPU time by function, thread and label; recursion counts once", SAMPLED,
	 "CPU time  50.0 ms in 4 samples of timer, 1,000 per second, by timer\n"
	 "  instead of cpu-clock\n"
	 "  lost: 5 samples, busy\n"
	 "  2 threads were not sampled\n"
	 "            self                   total          function\n"
	 "         5.00 ms    9.1%                          (not sampled)\n"
	 "         30.0 ms   54.5%         50.0 ms   90.9%  server+0x10\n"
	 "         10.0 ms   18.2%         50.0 ms   90.9%  server+0x20\n"
	 "         10.0 ms   18.2%         10.0 ms   18.2%  server+0x40\n"
	 "  by thread: main (101) 72.7%, worker 1 (102) 18.2%\n"
	 "  by tenant: zeta 36.4%, acme 18.2%, none 36.4%",
	 false},
	{"a tenth not sampled: said at first", MUCH_LOST("100"),
	 "90.9% of the CPU time was not seen: threads blocked SIGPROF, or it came to them late\n"
	 "  the kernel samples such threads too: -e cpu-clock --sample-by kernel\n"
	 "no scheduling intervals: perf_event_open is not permitted",
	 false},
	{"... and shares are of all", MUCH_LOST("100"),
	 "          100 ms   90.9%                          (not sampled)\n"
	 "         10.0 ms    9.1%         10.0 ms    9.1%  server+0x10\n"
	 "  by thread: main (101) 9.1%\n"
	 "  by tenant: acme 9.1%",
	 false},
	{"less than a tenth is said where the samples are", MUCH_LOST("1"), "was not seen", true},
	{"... and its samples stand for what a thread lost, if that is less than a tenth", FEW_LOST,
	 "CPU time  42.0 ms in 2 samples of timer, 1,000 per second, by timer\n"
	 "  lost: 2 samples, busy\n"
	 "  made up for: 2.00 ms, in the values of the other samples\n"
	 "            self                   total          function\n"
	 "         31.5 ms   75.0%         42.0 ms  100.0%  server+0x10\n"
	 "         10.5 ms   25.0%         42.0 ms  100.0%  server+0x20",
	 false},
	{"a frequency that the kernel kept has a share that was not sampled, too", 
	 MODULES THREADS "sample_event 1 name=\"cycles\" unit=\"count\" how=kernel frequency=1000\n"
			 "@10000000 thread=1 sample event=1 value=700\n"
			 "@20000000 thread=1 samples_lost event=1 lost_samples=1 cause=throttled\n",
	 "50.0% of cycles was not seen: the kernel stopped the counters", false},
	{"nothing sampled at all", MODULES THREADS
	 "sample_event 1 name=\"timer\" period=1000000\n"
	 "@10000000 thread=1 samples_lost event=1 lost_samples=100 cause=no_room\n",
	 "100.0% of the CPU time was not seen: the kernel's buffer was full", false},
	{"another event in its own unit; a sample may have no stack", SAMPLED,
	 "Samples of cache-misses  5,000 in 1 sample, every 5,000, by kernel\n"
	 "            self                   total          function\n"
	 "           5,000  100.0%           5,000  100.0%  (no stack)\n"
	 "  by thread: worker 1 (102) 100.0%",
	 false},
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
	{"a server whose children do the work: they are elsewhere",
	 "@1 process what=1 value=5\n@2 process what=1 value=6\n@3 process what=2 value=1\n",
	 "2 forked processes are not in this trace: trace-record --follow records descendants", false},
	{"... or have traces of their own",
	 "info options \"-F 100 --follow\"\n@1 process what=1 value=5\n", "1 forked process", true},
	{"a module that is there twice, as a program that executes itself has it, is told of once",
	 MODULES THREADS
	 "module again path=\"/none/server\" start=0x5000 limit=0x6000 bias=0x5000\n"
	 "stack more 0x5011\n"
	 "@1000 thread=1 wait reason=sleep since=10 stack=get\n"
	 "@3000 thread=1 wait reason=sleep since=2000 stack=more\n",
	 "No source lines for\n  /none/server: not found\n", false},
	{"samples of the kernel without callers", KERNEL_STACKS("kernel"),
	 "  66.7% in stacks of at most 3 frames: the kernel needs frame pointers\n"
	 "    without them callers are missing; signals find them: --sample-by signal",
	 false},
	{"... less than half of them", KERNEL_STACKS("kernel") KERNEL_DEEP KERNEL_DEEP,
	 "of at most 3 frames", true},
	{"signals need no frame pointers", KERNEL_STACKS("signal"), "of at most 3 frames", true},
	{"names from the trace are data",
	 MODULES "sample_event 1 name=\"c\\x1b[31m\" how=signal period=1 note=\"n\\x07\"\n"
		 "@1 counter name=\"c\" value=1\n",
	 "CPU time  0 ns in 0 samples of c?[31m, every 1 ns, by signal\n"
	 "  n?",
	 false},
	{"memory by place: what is in use, how that grew, then what was allocated and is gone",
	 ALLOCATED,
	 "Memory  5.00 kB in use at the end, 9.00 kB allocated, from 5 samples: every allocation\n"
	 "    in use             objects     growth  allocated  where\n"
	 "   4.00 kB   80.0%           3   +2.50 kB    4.00 kB  server+0x10 < server+0x20\n"
	 "   1.00 kB   20.0%           1   +1.00 kB    1.00 kB  server+0x60\n"
	 "       0 B                       -4.00 kB    4.00 kB  server+0x40 < server+0x50\n"
	 "  by tenant: acme 20.0%, none 80.0%",
	 false},
	{"memory: samples stand for more than themselves",
	 MODULES THREADS
	 "@2 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 stack=get\n"
	 "@3 thread=1 gap lost_events=2 since=2 cause=ring_full\n",
	 "Memory  525 kB in use at the end, 525 kB allocated, from 1 sample, one byte in 524,288\n"
	 "  events were lost: some of what is in use may have been freed\n"
	 "    in use             objects     growth  allocated  where\n"
	 "    525 kB  100.0%         512    +525 kB     525 kB  server+0x10 < server+0x20",
	 false},
	{"memory: what is rounded is nobody's without labels",
	 MODULES THREADS
	 "labels acme tenant=\"acme\"\n"
	 "@2 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 labels=acme\n"
	 "@3 thread=1 alloc sample=2 address=0x20 bytes=1024 period=524288 labels=acme\n"
	 "@4 thread=1 alloc sample=3 address=0x30 bytes=1024 period=524288 labels=acme\n"
	 "@5 thread=1 alloc sample=4 address=0x40 bytes=1024 period=524288 labels=acme\n",
	 "  by tenant: acme 100.0%", false},
	{"nothing allocated: no section", MODULES THREADS "@1 counter name=\"c\" value=1\n",
	 "Memory", true},
	{"nothing sampled: no section", MODULES THREADS "@1 counter name=\"c\" value=1\n", "CPU time",
	 true},
	{"no waits: no section for them", "@1 counter name=\"c\" value=1\n", "Critical sections",
	 true},
};

START_TEST(lines)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	char *text = printed(trc_report_print, LINES[_i].trace, &options), *found;
	size_t n = strlen(LINES[_i].line);

	found = strstr(text, LINES[_i].line);
	while (found && !LINES[_i].absent &&
	       !((found == text || found[-1] == '\n') && found[n] == '\n'))
		found = strstr(found + 1, LINES[_i].line);
	ck_assert_msg(!found == LINES[_i].absent, "%s:\n%s\nin:\n%s", LINES[_i].what,
		      LINES[_i].line, text);
	free(text);
}
END_TEST

/* ---- what always holds ---- */

/* Names as long as they get, thousands of places. */
static char *huge_trace(void)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	fprintf(out,
		"info command \"%0300d\"\ninfo hostname \"%0300d\"\ninfo ended \"%0300d\"\n"
		"info sched \"%0300d\"\n",
		1, 2, 3, 4);
	fprintf(out, "module m path=\"/%0250d.so\" start=0x10000 limit=0x90000 bias=0\n", 7);
	for (int i = 1; i <= 30; i++)
		fprintf(out, "thread %d tid=%d name=\"%060d\"\n", i, 4000000 + i, i);
	for (int i = 0; i < 40; i++)
		fprintf(out, "stack s%d 0x%x 0x%x 0x%x 0x%x\n", i, 0x10000 + i, 0x20000,
			0x30000 + i, 0x40000);
	for (int i = 0; i < 2000; i++) {
		static const char *const REASON[] = {"mutex", "cond", "epoll", "fsync",
						     "rwlock_write"};
		const char *reason = REASON[i % 5];
		long at = 1000000000000L * i;
		int thread = 1 + i % 29;

		fprintf(out,
			"@%ld thread=%d park reason=%s object=0x7fffffff%04x holder=30 stack=s%d\n",
			at, thread, reason, i, i % 40);
		if (i % 5 == 2)
			fprintf(out,
				"@%ld thread=30 alloc sample=%d address=%d bytes=%ld period=524288 "
				"stack=s%d\n",
				at, i, i, at, i % 40);
		if (i % 5 == 0)
			fprintf(out,
				"@%ld thread=30 unlock reason=mutex object=0x7fffffff%04x "
				"waiters=1 stack=s%d\n",
				at + 5000 * i, i, i % 7);
		if (i % 5 == 1)
			fprintf(out,
				"@%ld thread=30 unpark reason=cond object=0x7fffffff%04x "
				"count=1 stack=s%d\n",
				at + 5000 * i, i, i % 7);
		fprintf(out, "@%ld thread=%d resume reason=%s object=0x7fffffff%04x\n",
			at + 100000000L * i, thread, reason, i);
		fprintf(out, "@%ld thread=%d counter name=\"%0200d\" value=-9223372036854775807\n",
			at + 100000000L * i, thread, i % 50);
		fprintf(out, "@%ld thread=%d log category=\"%0200d\" message=\"m\"\n",
			at + 100000000L * i, thread, i % 50);
		fprintf(out, "@%ld thread=%d task_begin task=%d type=\"%0200d\"\n",
			at + 100000000L * i, thread, i + 1, i % 50);
	}
	fprintf(out, "info snapshot \"%0200d\"\ninfo trigger \"%0200d\"\ninfo window_ns \"1%0200d\"\n",
		1, 2, 0);
	for (int i = 1; i <= 29; i++)
		fprintf(out,
			"@2300000000000000 thread=%d trigger condition=\"%0200d\"\n"
			"@2300000000000000 thread=%d signal signal=11 code=1 address=%d stack=s1\n",
			i, i, i, i);
	for (int i = 1; i <= 29; i++)
		fprintf(out,
			"status thread=%d reason=mutex holder=%d object=0x7fffffffffff%02x "
			"since=1000 stack=s%d\n",
			i, i % 20 + 1, i, i);
	for (int i = 1; i <= 40; i++)
		fprintf(out,
			"@2300000000000000 thread=%d fiber_switch left=%d name=\"%0200d\" "
			"reason=user object=0x7fffffffffff%02x stack=s%d\n"
			"@2300000000000000 thread=%d fiber_ready fiber=%d stack=s%d\n",
			i % 29 + 1, i, i, i, i % 7, i % 29 + 1, i, i % 7);
	for (int i = 1; i <= 29; i++)
		fprintf(out, "open_region thread=%d type=\"%0200d\" task=%d\n", i, i, i);
	fprintf(out, "coverage proc=1 held=900 from=1000 to=2300000000000000\n");
	fclose(out);
	return text;
}

START_TEST(tables_that_were_full_are_told)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	char *trace = NULL, *text;
	size_t n_bytes;
	FILE *out = open_memstream(&trace, &n_bytes);

	for (int i = 1; i < 10000; i++)
		fprintf(out, "@%d thread=1 counter name=\"c%d\" value=1\n", i, i);
	fclose(out);
	text = printed(trc_report_print, trace, &options);
	ck_assert_ptr_nonnull(strstr(text, " times there was no room for a stack, name, thread or "
					   "module\n"));
	free(text);
	free(trace);
}
END_TEST

static const int WIDTHS[] = {60, 80, 100, 132};

static void check_widths(const char *text, int width)
{
	while (*text) {
		char *line = strndup(text, strcspn(text, "\n"));

		ck_assert_msg(trc_line_width(line) <= width, "%d columns, wanted %d: %s",
			      trc_line_width(line), width, line);
		ck_assert_msg(!*line || line[strlen(line) - 1] != ' ', "blanks at the end: \"%s\"",
			      line);
		text += strlen(line);
		text += *text == '\n';
		free(line);
	}
}

START_TEST(no_line_is_too_wide)
{
	const struct trc_report_options options = {.width = WIDTHS[_i], .path = "/a/b/c/d/e.trc"};
	char *trace = huge_trace();
	char *report = printed(trc_report_print, trace, &options);
	char *summary = printed(trc_report_summary, trace, &options);

	check_widths(report, WIDTHS[_i]);
	check_widths(summary, WIDTHS[_i]);
	ck_assert_ptr_nonnull(strstr(report, "more places"));
	free(summary);
	free(report);
	free(trace);
}
END_TEST

START_TEST(summary_has_few_lines)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	const char *const trace[] = {SERVER, "@1 counter name=\"c\" value=1\n", NULL};
	char *huge = huge_trace();

	for (int i = 0; i < 3; i++) {
		char *text = printed(trc_report_summary, trace[i] ? trace[i] : huge, &options);
		int n_lines = 0;

		for (const char *at = text; *at; at++)
			n_lines += *at == '\n';
		ck_assert_int_le(n_lines, TRC_SUMMARY_LINES_MAX);
		ck_assert_int_ge(n_lines, 2);
		free(text);
	}
	free(huge);
}
END_TEST

START_TEST(colour_changes_nothing_but_colour)
{
	struct trc_report_options options = {.path = "dump.trc"};
	char *plain = printed(trc_report_print, SERVER, &options), *colour, *to;

	options.colour = true;
	colour = to = printed(trc_report_print, SERVER, &options);
	ck_assert_ptr_nonnull(strchr(colour, '\033'));
	for (const char *from = colour; *from; from++) {
		if (*from == '\033')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = 0;
	ck_assert_str_eq(plain, colour);
	free(plain);
	free(colour);
}
END_TEST

/* ---- numbers ---- */

static const struct {
	int64_t ns;
	const char *text;
} DURATIONS[] = {
	{0, "0 ns"},
	{999, "999 ns"},
	{1000, "1.00 µs"},
	{12340, "12.3 µs"},
	{999499, "999 µs"},
	{999500, "1.00 ms"},
	{80300000, "80.3 ms"},
	{999999999, "1.00 s"},
	{1250000000, "1.25 s"},
	{99960000000, "100 s"},
	{119400000000, "119 s"},
	{125000000000, "2 min 05 s"},
	{7380000000000, "2 h 03 min"},
	{-5, "-5 ns"},
};

START_TEST(durations)
{
	char text[TRC_NUMBER_BYTES];

	ck_assert_str_eq(trc_text_duration(text, DURATIONS[_i].ns), DURATIONS[_i].text);
}
END_TEST

START_TEST(counts_and_bytes)
{
	char text[TRC_NUMBER_BYTES];

	ck_assert_str_eq(trc_text_count(text, 0), "0");
	ck_assert_str_eq(trc_text_count(text, 999), "999");
	ck_assert_str_eq(trc_text_count(text, 1000), "1,000");
	ck_assert_str_eq(trc_text_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
	ck_assert_str_eq(trc_text_bytes(text, 999), "999 B");
	ck_assert_str_eq(trc_text_bytes(text, 97904), "97.9 kB");
	ck_assert_str_eq(trc_text_bytes(text, 2500000000), "2.50 GB");
	ck_assert_str_eq(trc_text_share(text, 1, 8), "12.5%");
	ck_assert_str_eq(trc_text_share(text, 1, 0), "");
}
END_TEST

START_TEST(long_names_lose_their_middle)
{
	struct trc_line line;

	trc_line_begin(&line, 100, false);
	trc_line_data(&line, "µ_abcdefgh", 7);
	ck_assert_mem_eq(line.text, "µ_a…fgh", line.n_bytes);
	ck_assert_int_eq(line.width, 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tests = tcase_create("report");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, report_of_a_server);
	tcase_add_test(tests, summary_of_a_server);
	tcase_add_test(tests, a_cut_is_not_nothing_lost);
	tcase_add_loop_test(tests, lines, 0, sizeof(LINES) / sizeof(*LINES));
	tcase_add_test(tests, tables_that_were_full_are_told);
	tcase_add_loop_test(tests, no_line_is_too_wide, 0, sizeof(WIDTHS) / sizeof(*WIDTHS));
	tcase_add_test(tests, summary_has_few_lines);
	tcase_add_test(tests, colour_changes_nothing_but_colour);
	tcase_add_loop_test(tests, durations, 0, sizeof(DURATIONS) / sizeof(*DURATIONS));
	tcase_add_test(tests, counts_and_bytes);
	tcase_add_test(tests, long_names_lose_their_middle);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
