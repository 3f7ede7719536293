/* What the report says of CPU time and of memory. */
#include <check.h>
#include "report_fixture.h"

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

/* trc began the thread, and twice recorded what it did. */
#define RECORDED                                                                                   \
	MODULES THREADS "stack work 0x3011 0x1010\n"                                               \
			"stack own 0x1030 0x1020 0x3011 0x1010\n"                                  \
			"sample_event 1 name=\"timer\" frequency=1000\n"                           \
			"@10000000 thread=1 sample event=1 value=20000000 stack=work\n"            \
			"@20000000 thread=1 sample event=1 value=10000000 stack=own\n"             \
			"@30000000 thread=1 sample event=1 value=10000000 stack=own\n"

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

/* One thread has 100 samples in a function, the other 100 in two others by turns. */
#define TEN(text) text text text text text text text text text text
#define FIVE(text) text text text text text
#define IN(thread, stack) "@1 thread=" thread " sample event=1 value=1000000 stack=" stack "\n"
#define EXCLUSIVE                                                                                  \
	MODULES THREADS "stack work 0x3011\n"                                                      \
			"stack one 0x3021\n"                                                       \
			"stack two 0x3041\n"                                                       \
			"sample_event 1 name=\"timer\" frequency=1000\n" TEN(TEN(IN("1", "work")))   \
				FIVE(TEN(IN("2", "one")) TEN(IN("2", "two")))

/* What has a label is in one function, what has none in another one. */
#define LABELLED                                                                                   \
	MODULES THREADS "stack one 0x3021\n"                                                       \
			"stack two 0x3041\n"                                                       \
			"labels acme tenant=\"acme\"\n"                                            \
			"labels zeta tenant=\"zeta\"\n"                                            \
			"sample_event 1 name=\"timer\" frequency=1000\n" TEN(                      \
				IN("1", "one labels=acme") IN("1", "one labels=zeta")              \
					IN("1", "two") IN("2", "two"))

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

/* clang-format off */
static const struct report_line LINES[] = {
	{"what was sampled in trc is one row, and nothing where it began the thread", RECORDED,
	 "         self                      total                function\n"
	 "      20.0 ms   50.0%  ±100      40.0 ms  100.0%  ±100  server+0x10\n"
	 "      20.0 ms   50.0%  ±100      20.0 ms   50.0%  ±100  trc, recording", false},
	{"CPU time by function, thread and label; recursion counts once", SAMPLED,
	 "CPU time  50.0 ms ±45.9 ms in 4 samples of timer, 1,000 per second, by timer\n"
	 "  instead of cpu-clock\n"
	 "  lost: 5 samples, busy\n"
	 "  2 threads were not sampled\n"
	 "         self                      total                function\n"
	 "      5.00 ms    9.1%                                   (not sampled)\n"
	 "      30.0 ms   54.5% ±95.9      50.0 ms   90.9% ±70.6  server+0x10\n"
	 "      10.0 ms   18.2% ±58.1      50.0 ms   90.9% ±70.6  server+0x20\n"
	 "      10.0 ms   18.2% ±65.3      10.0 ms   18.2% ±65.3  server+0x40\n"
	 "  by thread: main (101) 72.7% ±81.0, worker 1 (102) 18.2% ±58.1\n"
	 "  by tenant: zeta 36.4% ±100, acme 18.2% ±65.3, none 36.4% ±68.4",
	 false},
	{"what has no label is as far off as the function that it is", LABELLED,
	 "      20.0 ms   50.0% ±14.7      20.0 ms   50.0% ±14.7  server+0x20\n"
	 "      20.0 ms   50.0% ±14.7      20.0 ms   50.0% ±14.7  server+0x40",
	 false},
	{"... of all threads, those without any label, too", LABELLED,
	 "  by tenant: acme 25.0% ±14.6, zeta 25.0% ±14.6, none 50.0% ±14.7", false},
	{"what has a sample for each occurrence is exact",
	 MODULES THREADS "sample_event 1 name=\"page-faults\" unit=\"count\" how=kernel period=1\n"
	 "@1000 thread=1 sample event=1 value=1 period=1 stack=get\n"
	 "@2000 thread=1 sample event=1 value=1 period=1 stack=get\n"
	 "@3000 thread=1 sample event=1 value=1 period=1 stack=put\n", "±", true},
	{"a tenth not sampled: said at first", MUCH_LOST("100"),
	 "90.9% of the CPU time was not seen: threads blocked SIGPROF, or it came to them late\n"
	 "  the kernel samples such threads too: -e cpu-clock --sample-by kernel\n"
	 "no scheduling intervals: perf_event_open is not permitted",
	 false},
	{"... and shares are of all", MUCH_LOST("100"),
	 "       100 ms   90.9%                                   (not sampled)\n"
	 "      10.0 ms    9.1% ±25.2      10.0 ms    9.1% ±25.2  server+0x10\n"
	 "  by thread: main (101) 9.1% ±25.2\n"
	 "  by tenant: acme 9.1% ±25.2",
	 false},
	{"less than a tenth is said where the samples are", MUCH_LOST("1"), "was not seen", true},
	{"... and its samples stand for what a thread lost, if that is less than a tenth", FEW_LOST,
	 "CPU time  42.0 ms ±77.2 ms in 2 samples of timer, 1,000 per second, by timer\n"
	 "  lost: 2 samples, busy\n"
	 "  made up for: 2.00 ms, in the values of the other samples\n"
	 "         self                      total                function\n"
	 "      31.5 ms   75.0%  ±100      42.0 ms  100.0%  ±100  server+0x10\n"
	 "      10.5 ms   25.0%  ±100      42.0 ms  100.0%  ±100  server+0x20",
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
	 "Samples of cache-misses  5,000 ±16,973 in 1 sample, every 5,000, by kernel\n"
	 "         self                      total                function\n"
	 "        5,000  100.0%  ±100        5,000  100.0%  ±100  (no stack)\n"
	 "  by thread: worker 1 (102) 100.0% ±100\n",
	 false},
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
	 "    in use           objects    growth  allocated  where\n"
	 "   4.00 kB  80.0%          3  +2.50 kB    4.00 kB  server+0x10 < server+0x20\n"
	 "   1.00 kB  20.0%          1  +1.00 kB    1.00 kB  server+0x60\n"
	 "       0 B                    -4.00 kB    4.00 kB  server+0x40 < server+0x50\n"
	 "  by tenant: acme 20.0%, none 80.0%",
	 false},
	{"memory: what has no label is as far off as all that has one",
	 MODULES THREADS
	 "labels acme tenant=\"acme\"\n"
	 "@2 thread=1 alloc sample=1 address=0x10 bytes=1024 period=400 stack=get labels=acme\n"
	 "@3 thread=1 alloc sample=2 address=0x20 bytes=1024 period=400 stack=get\n",
	 "  by tenant: acme 50.0% ±43.1, none 50.0% ±43.1", false},
	{"memory: samples stand for more than themselves",
	 MODULES THREADS
	 "@2 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 stack=get\n"
	 "@3 thread=1 gap lost_events=2 since=2 cause=ring_full\n",
	 "Memory  525 kB ±1.78 MB in use at the end, 525 kB ±1.78 MB allocated,\n"
	 "  from 1 sample, one byte in 524,288\n"
	 "  events were lost: some of what is in use may have been freed\n"
	 "    in use                    objects    growth           allocated  where\n"
	 "    525 kB ±1.78 MB 100.0%        512   +525 kB ±1.78 MB     525 kB  server+0x10 < server+0x20",
	 false},
	{"memory: what is rounded is nobody's without labels",
	 MODULES THREADS
	 "labels acme tenant=\"acme\"\n"
	 "@2 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 labels=acme\n"
	 "@3 thread=1 alloc sample=2 address=0x20 bytes=1024 period=524288 labels=acme\n"
	 "@4 thread=1 alloc sample=3 address=0x30 bytes=1024 period=524288 labels=acme\n"
	 "@5 thread=1 alloc sample=4 address=0x40 bytes=1024 period=524288 labels=acme\n",
	 "  by tenant: acme 100.0%", false},
	{"a thread that does nothing else: its share is known to a few samples, whatever others do", EXCLUSIVE,
	 "       100 ms   50.0%  ±1.4       100 ms   50.0%  ±1.4  server+0x10\n"
	 "      50.0 ms   25.0%  ±5.1      50.0 ms   25.0%  ±5.1  server+0x20\n"
	 "      50.0 ms   25.0%  ±5.1      50.0 ms   25.0%  ±5.1  server+0x40", false},
	{"nothing allocated: no section", MODULES THREADS "@1 counter name=\"c\" value=1\n",
	 "Memory", true},
	{"nothing sampled: no section", MODULES THREADS "@1 counter name=\"c\" value=1\n", "CPU time",
	 true},
};

/* In lines of 200 columns. */
static const struct report_line LONG_LINES[] = {
	{"memory: lines that have room for it tell how far objects and what was allocated may be off",
	 MODULES THREADS
	 "@2 thread=1 alloc sample=1 address=0x10 bytes=1024 period=524288 stack=get\n",
	 "    525 kB ±1.78 MB 100.0%        512   ±1,738   +525 kB ±1.78 MB     525 kB ±1.78 MB  server+0x10 < server+0x20",
	 false},
};
/* clang-format on */

enum { N_LINES = sizeof(LINES) / sizeof(*LINES), N_LONG = sizeof(LONG_LINES) / sizeof(*LONG_LINES) };

START_TEST(lines)
{
	if (_i < N_LINES)
		report_check_line(&LINES[_i]);
	else
		report_check_line_of(&LONG_LINES[_i - N_LINES], 200);
}
END_TEST

int main(void)
{
	return report_run("report_samples", lines, N_LINES + N_LONG);
}
