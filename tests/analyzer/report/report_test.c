/* The whole report (analyzer/report/report.h) to the letter, its first lines, and what always holds of it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/text/line.h"
#include "report_fixture.h"
#include "tests/suite.h"

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
	"In the end held up by  75.7 ms of waiting for locks and threads\n"
	"   75.0 ms    99.1%   main (101) did not wait\n"
	"                        up to server+0x40 < server+0x50\n"
	"    400 µs     0.5%   worker 1 (102) did not wait\n"
	"                        up to server+0x10 < server+0x20\n"
	"    300 µs     0.4%   2 threads had been woken, and did not run yet, longest worker 1 (102)\n"
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
	"            81.0% waited for mutex, 18.0% did not wait, 1.0% waited for fsync\n"
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

static void compare(report_print_fn *print, const char *trace, const char *wanted)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	char *text = report_printed(print, trace, &options);

	hide_size(text);
	if (strcmp(text, wanted) != 0)
		printf("---- printed:\n%s----\n", text);
	ck_assert_str_eq(text, wanted);
	free(text);
}

/* Its first thread goes on, the others end with the program that they are of. */
START_TEST(threads_of_the_program_before)
{
	static const char TRACE[] =
		"info pid \"42\"\n"
		"thread 1 tid=42 name=\"sh\"\nthread 2 tid=43 creator=1\n"
		"thread 3 tid=42 name=\"server\"\nthread 4 tid=44 creator=3\nthread 5 tid=45 creator=3\n"
		"@0 thread=1 log message=\"begin\"\n@1000 thread=2 log message=\"helper\"\n"
		"@2000 thread=0 process what=2 value=1\n"
		"@3000 thread=3 log message=\"begin\"\n@4000 thread=4 log message=\"worker\"\n"
		"@5000 thread=5 log message=\"worker\"\n";
	const struct trc_report_options options = {.path = "dump.trc"};
	char *text = report_printed(trc_report_print, TRACE, &options);

	ck_assert_msg(strstr(text, "\n3 threads (and 1 of the programs before it), 1 proc, "), "%s", text);
	free(text);
	text = report_printed(trc_report_summary, TRACE, &options);
	ck_assert_msg(strstr(text, ", 3 threads, "), "%s", text);
	free(text);
}
END_TEST

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

/* Three locks do not hide the disk and the semaphore. */
START_TEST(summary_has_the_largest_of_each_class)
{
	static const char TRACE[] = MODULES THREADS
		"@1000000 thread=2 park reason=mutex object=0x7f10\n"
		"@3000000 thread=2 resume reason=mutex object=0x7f10\n"
		"@3000000 thread=2 park reason=mutex object=0x7f20\n"
		"@4000000 thread=2 resume reason=mutex object=0x7f20\n"
		"@4000000 thread=2 park reason=mutex object=0x7f30\n"
		"@5000000 thread=2 resume reason=mutex object=0x7f30\n"
		"@5000000 thread=2 park reason=fsync object=5\n"
		"@8000000 thread=2 resume reason=fsync object=5\n"
		"@1000000 proc=1 thread=3 park reason=sem object=0x7f40\n"
		"@8000000 proc=1 thread=3 resume reason=sem object=0x7f40\n";
	const struct trc_report_options options = {.path = "dump.trc"};
	char *text = report_printed(trc_report_summary, TRACE, &options);
	const char *locks = strstr(text, " for mutex 0x7f10\n"), *threads = strstr(text, " for sem "),
		   *files = strstr(text, " for fsync ");

	ck_assert_msg(locks && threads && files && locks < threads && threads < files, "%s", text);
	ck_assert_ptr_null(strstr(text, "mutex 0x7f20"));
	free(text);
}
END_TEST

/* A line of its own, before what threads waited for. */
START_TEST(summary_says_how_it_ended)
{
	static const struct {
		const char *trace, *line;
	} rows[] = {
		{"info ended \"killed by signal 9 (SIGKILL)\"\n@10 thread=1 log\n",
		 "\nENDED: killed by signal 9 (SIGKILL)\nnext: "},
		{"info ended \"killed by signal 2 (SIGINT)\"\n@10 thread=1 log\n",
		 "\nended: killed by signal 2 (SIGINT)\nnext: "},
		{"info ended \"killed by signal 11 (SIGSEGV)\"\nthread 1 tid=101\n"
		 "@10 thread=1 signal signal=11 code=1 address=0x40 fatal=1\n",
		 "\nCRASH: SIGSEGV, SEGV_MAPERR: address not mapped (0x40) in thread 101\nnext: "},
		{"thread 1 tid=101\n"
		 "@10 thread=1 signal signal=11 code=1 fatal=1\n"
		 "@20 thread=2 signal signal=6 code=-6 fatal=1\n",
		 " in thread 101, and 1 more\nnext: "},
		{"info ended \"without a last word: killed, or _exit()\"\n@10 thread=1 log\n",
		 "\nended: without a last word: killed, or _exit()\nnext: "},
		{"info ended \"exit 0\"\n@10 thread=1 log\n", ", none lost\nnext: "},
	};
	const struct trc_report_options options = {.path = "dump.trc"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = report_printed(trc_report_summary, rows[i].trace, &options);

		ck_assert_msg(strstr(text, rows[i].line), "%s: in: %s", rows[i].line, text);
		free(text);
	}
}
END_TEST

/* Waits are long because of that. */
START_TEST(summary_of_a_program_without_procs)
{
	static const char TRACE[] = MODULES THREADS
		"@500000 proc=0 source=kernel thread=1 proc_start\n"
		"@1000000 proc=1 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n"
		"@2500000 proc=0 source=kernel thread=1 proc_stop preempted=1\n"
		"@8500000 proc=0 source=kernel thread=1 proc_start\n"
		"@9000000 proc=0 thread=1 unlock reason=mutex object=0x7f10 waiters=1 stack=put\n"
		"@9100000 proc=1 thread=2 resume reason=mutex object=0x7f10\n"
		"@9500000 proc=0 source=kernel thread=1 proc_stop preempted=0\n";
	const struct trc_report_options options = {.path = "dump.trc"};
	char *text = report_printed(trc_report_summary, TRACE, &options);

	ck_assert_msg(strstr(text, ", none lost\nother programs had the procs: 1 of 3 threads on "), "%s",
		      text);
	ck_assert_ptr_nonnull(strstr(text, " waited 6.00 ms to run, "));
	free(text);
}
END_TEST

/* Of so many and so long latencies those that come last are not counted. */
START_TEST(who_ran_instead_is_not_guessed)
{
	enum { THREADS_OFF = 800, STRETCHES = 3000 };
	const struct trc_report_options options = {.path = "dump.trc"};
	char *trace = NULL, *text, *late;
	size_t n_bytes;
	FILE *out = open_memstream(&trace, &n_bytes);
	int at = 1000;

	fputs("thread 1 tid=101 name=\"main\"\nthread 2 tid=102 name=\"busy\"\n", out);
	for (int i = 0; i < THREADS_OFF; i++, at += 10)
		fprintf(out,
			"thread %d tid=%d name=\"%s\"\n@%d source=kernel thread=%d proc_start\n"
			"@%d source=kernel thread=%d proc_stop preempted=1\n",
			10 + i, 200 + i, i < THREADS_OFF - 1 ? "early" : "late", at, 10 + i, at + 5,
			10 + i);
	for (int i = 0; i < STRETCHES; i++, at += 1000)
		fprintf(out,
			"@%d source=kernel thread=2 proc_start\n"
			"@%d source=kernel thread=2 proc_stop preempted=0\n",
			at, at + 900);
	for (int i = 0; i < THREADS_OFF; i++, at += 10)
		fprintf(out,
			"@%d source=kernel thread=%d proc_start\n"
			"@%d source=kernel thread=%d proc_stop preempted=0\n",
			at, 10 + i, at + 5, 10 + i);
	fclose(out);
	text = report_printed(trc_report_print, trace, &options);
	late = strstr(text, "  late (");
	ck_assert_msg(late != NULL, "%s", text);
	ck_assert_msg(!strncmp(strchr(late, '\n') + 1, "            100.0% of it preempted; for 89", 41), "%s", late);
	ck_assert_msg(strstr(late, " the program's threads ran instead\n") != NULL, "%s", late);
	ck_assert_msg(strstr(text, " ran instead, most of it busy (1") != NULL, "%s", text);
	free(text);
	free(trace);
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
	report_print_fn *const print[] = {trc_report_print, trc_report_summary};
	const struct trc_report_options options = {.path = "dump.trc"};

	for (size_t i = 0; i < sizeof(print) / sizeof(*print); i++) {
		char *cut = report_printed(print[i], CUT, &options);
		char *gap = report_printed(print[i], GAP, &options);

		ck_assert_ptr_null(strstr(cut, "none lost"));
		ck_assert_msg(strstr(cut, ", its end is missing\n"), "%s", cut);
		ck_assert_msg(strstr(gap, ", 5 lost, its end is missing\n"), "%s", gap);
		free(gap);
		free(cut);
	}
}
END_TEST

/* clang-format off */
static const struct report_line LINES[] = {
	{"lost events are said with their cause",
	 MODULES "@1000 thread=1 counter name=\"c\" value=1\n"
		 "@2000000 thread=1 gap lost_events=1234 since=1000000 cause=ring_full\n",
	 "lost: 1,234 events, ring_full, between 1.00 ms and 2.00 ms", false},
	{"one of a thing has no plural",
	 MODULES THREADS "@2000000 thread=1 gap lost_events=1 since=1000000 cause=ring_full\n",
	 "lost: 1 event, ring_full, between 1.00 ms and 2.00 ms", false},
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
};
/* clang-format on */

START_TEST(lines)
{
	report_check_line(&LINES[_i]);
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
	text = report_printed(trc_report_print, trace, &options);
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
	char *report = report_printed(trc_report_print, trace, &options);
	char *summary = report_printed(trc_report_summary, trace, &options);

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
		char *text = report_printed(trc_report_summary, trace[i] ? trace[i] : huge, &options);
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
	char *plain = report_printed(trc_report_print, SERVER, &options), *colour, *to;

	options.colour = true;
	colour = to = report_printed(trc_report_print, SERVER, &options);
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

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, report_of_a_server);
	tcase_add_test(tests, threads_of_the_program_before);
	tcase_add_test(tests, summary_of_a_server);
	tcase_add_test(tests, summary_has_the_largest_of_each_class);
	tcase_add_test(tests, summary_says_how_it_ended);
	tcase_add_test(tests, summary_of_a_program_without_procs);
	tcase_add_test(tests, who_ran_instead_is_not_guessed);
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
	return suite_run(suite);
}
