/* What --why says (analyzer/why/why.h), to the letter, and what it says to what makes no sense. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/why/whatif.h"
#include "analyzer/report/report.h"
#include "analyzer/why/why.h"
#include "analyzer/why/window.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

/* Each of them stands in the text. */
static void expect_lines(const char *text, const char *const *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(strstr(text, line[i]) != NULL, "%snot:\n%s", text, line[i]);
}

/* Two requests by one worker, which each time waits for a lock that the reloader holds while it sleeps; the
 * second is woken by a signal besides. */
static const char TRACE[] =
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"
	"stack get 0x3011 0x3021\n"
	"stack put 0x3041 0x3051\n"
	"stack nap 0x3061 0x3051\n"
	"stack idle 0x3071\n"
	"thread 1 tid=101 name=\"main\"\n"
	"thread 2 tid=102 name=\"worker\"\n"
	"thread 3 tid=103 name=\"reloader\"\n"
	"@1000000 thread=1 task_begin task=1 type=\"request\"\n"
	"@1050000 thread=2 region_begin type=\"handle\" task=1\n"
	"@1100000 thread=2 park reason=mutex object=0x3f10 holder=3 stack=get\n"
	"@2000000 thread=3 park reason=sleep stack=nap\n"
	"@8000000 thread=3 resume reason=sleep\n"
	"@9000000 thread=3 unlock reason=mutex object=0x3f10 waiters=1 stack=put\n"
	"@9100000 thread=2 resume reason=mutex object=0x3f10\n"
	"@9500000 thread=2 region_end\n"
	"@10000000 thread=2 task_end task=1\n"
	"@11000000 thread=2 park reason=cond object=0x3f80 stack=idle\n"
	"@20000000 thread=1 task_begin task=2 type=\"request\"\n"
	"@24000000 thread=1 unpark reason=cond object=0x3f80 count=1 stack=put\n"
	"@24000000 thread=2 resume reason=cond object=0x3f80\n"
	"@29000000 thread=2 wait reason=recv object=4 since=25000000 stack=get "
	"descriptor=\"tcp 127.0.0.1:1 127.0.0.1:80\"\n"
	"@30000000 thread=2 task_end task=2\n";

static const struct why_case {
	const char *what;
	int err;
	const char *text;
} cases[] = {
	{"longest", 0,
	 "Why longest took  8.00 ms\n"
	 "   8.00 ms   100.0%   worker (102) waited for mutex 0x3f10\n"
	 "                        server+0x10 < server+0x20\n"
	 "   6.00 ms    75.0%     reloader (103) held the lock and slept\n"
	 "                          server+0x60 < server+0x50\n"
	 "   1.90 ms    23.8%     reloader (103) held the lock and did not wait, 2 times\n"
	 "                          up to server+0x40 < server+0x50\n"
	 "    100 µs     1.2%     worker (102) had been woken, and did not run yet\n"},

	{"task:2", 0,
	 "Why task:2 took  10.0 ms\n"
	 "   4.00 ms    40.0%   worker (102) waited for cond 0x3f80\n"
	 "                        server+0x70\n"
	 "   4.00 ms    40.0%     main (101) did not wait\n"
	 "                          up to server+0x40 < server+0x50\n"
	 "   4.00 ms    40.0%   worker (102) waited for recv 127.0.0.1:80 (fd 4)\n"
	 "                        server+0x10 < server+0x20\n"
	 "   2.00 ms    20.0%   worker (102) did not wait, 2 times\n"},

	{"region:handle", 0,
	 "Why region:handle took  8.45 ms\n"
	 "   8.00 ms    94.7%   worker (102) waited for mutex 0x3f10\n"
	 "                        server+0x10 < server+0x20\n"
	 "   6.00 ms    71.0%     reloader (103) held the lock and slept\n"},
	{"region:1", 0,
	 "Why region:1 took  8.45 ms\n"
	 "   8.00 ms    94.7%   worker (102) waited for mutex 0x3f10\n"},
	{"region:2", -ENOENT, "--why region:2: no region has this id or type"},
	{"program", 0, "Why program took  30.0 ms\n"},
	{"region:parse", -ENOENT, "--why region:parse: no region has this id or type"},
	{"thread:102", 0, NULL},
	{"thread:worker", 0, NULL},
	{"task:request", 0, NULL},
	{"wait:1", 0, NULL},
	{"1", 0, NULL},
	{"wait:99", -ENOENT, "--why wait:99: no such wait; their ids are those of the table parks"},
	{"0", -ENOENT, "--why 0: no such wait; their ids are those of the table parks"},
	{"task:response", -ENOENT, "--why task:response: no task has this id or type"},
	{"task:3", -ENOENT, "--why task:3: no task has this id or type"},
	{"thread:4711", -ENOENT, "--why thread:4711: no thread has this tid or name"},
	{"thread:", -ENOENT, "--why thread:: no thread has this tid or name"},
	{"18446744073709551616", -ENOENT,
	 "--why 18446744073709551616: it is longest, wait:ID, task:ID, task:TYPE, "
	 "region:ID, region:TYPE, thread:TID, thread:NAME, FROM..TO or program"},
	{"", -ENOENT,
	 "--why : it is longest, wait:ID, task:ID, task:TYPE, region:ID, region:TYPE, thread:TID, "
	 "thread:NAME, FROM..TO or program"},
	{"12ms..26ms", 0, "Why 12ms..26ms, back from main (101), which took  14.0 ms\n"},
	{"2ms..1ms", -EINVAL, "--why 2ms..1ms: 2ms..1ms ends before it begins"},
	{"1s..", -ENOENT, "--why 1s..: the trace lasts 30.0 ms"},
};

START_TEST(test_case)
{
	const struct why_case *test = &cases[_i];
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(TRACE, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_why(m, out, &options, test->what, &error), test->err);
	fclose(out);
	if (test->err) {
		ck_assert_str_eq(error.text, test->text);
		ck_assert_str_eq(text, "");
	} else if (test->text) {
		ck_assert_msg(!strncmp(text, test->text, strlen(test->text)), "%s:\n%snot:\n%s",
			      test->what, text, test->text);
	} else {
		ck_assert_uint_gt(n_bytes, 0);
	}
	free(text);
	model_close(m);
}
END_TEST

/* The tasks of a type are summed: their lengths are the whole. */
/* Each piece is there once, in the order of time: 9 ms of the first request, 10 ms of the second. */
static const struct why_case paths[] = {
	{"longest", 0,
	 "Critical path of longest  8.00 ms\n"
	 "       after        for\n"
	 "        0 ns     900 µs    11.2%  reloader (103) held the lock and did not wait\n"
	 "                                    up to server+0x40 < server+0x50\n"
	 "      900 µs    6.00 ms    75.0%  reloader (103) held the lock and slept\n"
	 "                                    server+0x60 < server+0x50\n"
	 "     6.90 ms    1.00 ms    12.5%  reloader (103) held the lock and did not wait\n"
	 "                                    up to server+0x40 < server+0x50\n"
	 "     7.90 ms     100 µs     1.2%  worker (102) had been woken, and did not run yet\n"},
	{"task:request", 0, "longest of 2"},
	{"task:2", 0, NULL},
	{"thread:worker", 0, NULL},
	{"task:3", -ENOENT, "--critical-path task:3: no task has this id or type"},
	{"wait", -ENOENT,
	 "--critical-path wait: it is longest, wait:ID, task:ID, task:TYPE, region:ID, region:TYPE, "
	 "thread:TID, thread:NAME, FROM..TO or program"},
};

START_TEST(critical_path)
{
	const struct why_case *c = &paths[_i];
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(TRACE, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_critical_path(m, out, &options, c->what, &error), c->err);
	fclose(out);
	if (c->err)
		ck_assert_str_eq(error.text, c->text);
	else if (c->text)
		ck_assert_msg(strstr(text, c->text) != NULL, "%s", text);
	else
		ck_assert_msg(strstr(text, "Critical path of ") != NULL, "%s", text);
	free(text);
	model_close(m);
}
END_TEST

/* Four samples of a thread that holds a lock for 8 ms, which stand for 2 ms each. */
static const char SAMPLED[] =
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"
	"stack get 0x3011 0x3021\n"
	"stack put 0x3041 0x3051\n"
	"thread 1 tid=101 name=\"main\"\n"
	"thread 2 tid=102 name=\"worker\"\n"
	"sample_event 1 period=2000000\n"
	"@1000000 thread=2 park reason=mutex object=0x3f10 holder=1 stack=put\n"
	"@2000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get\n"
	"@4000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get\n"
	"@6000000 thread=1 sample event=1 value=2000000 period=2000000 stack=put\n"
	"@8000000 thread=1 sample event=1 value=2000000 period=2000000 stack=get\n"
	"@9000000 thread=1 unlock reason=mutex object=0x3f10 waiters=1 stack=put\n"
	"@9100000 thread=2 resume reason=mutex object=0x3f10\n";

/* 1.96 * sqrt(4 / 3 * (3 * 0.5^2 + 1.5^2) + 2 * 2^2) is 6.79 ms.  A wait has none: its length is known. */
START_TEST(samples_are_estimates)
{
	static const char *const told[] = {
		"Why longest took  8.10 ms\n"
		"   8.10 ms   100.0%          worker (102) waited for mutex 0x3f10\n"
		"                               server+0x40 < server+0x50\n"
		"   6.00 ms    74.1%  ±83.8     main (101) held the lock and did not wait, 2 times\n"
		"                                 server+0x10 < server+0x20\n"
		"   2.00 ms    24.7%  ±83.8     main (101) held the lock and did not wait\n"
		"                                 server+0x40 < server+0x50\n"
		"    100 µs     1.2%            worker (102) had been woken, and did not run yet\n",
		/* Pieces of 4, 2 and 2 ms. */
		"       after        for\n"
		"        0 ns    4.00 ms    49.4%  ±88.4  main (101) held the lock and did not wait\n"
		"                                           server+0x10 < server+0x20\n"
		"     4.00 ms    2.00 ms    24.7%  ±83.8  main (101) held the lock and did not wait\n",
		("What it comes down to\n"
		 "   6.00 ms    74.1%  ±83.8   main (101) held the lock and did not wait, 2 times\n"),
	};
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(SAMPLED, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_why(m, out, &options, "longest", &error), 0);
	ck_assert_int_eq(trc_report_critical_path(m, out, &options, "longest", &error), 0);
	fclose(out);
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		ck_assert_msg(strstr(text, told[i]) != NULL, "%s\nis not in:\n%s", told[i], text);
	free(text);
	model_close(m);
}
END_TEST

/* The main thread joins; a thread reads and hands over to one that computes, which then waits for what nobody hands
 * over; another looks every millisecond whether there is something to do. */
static const char WINDOW_TRACE[] =
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"
	"stack put 0x3041 0x3051\n"
	"stack get 0x3061 0x3051\n"
	"thread 1 tid=101 name=\"main\"\n"
	"thread 2 tid=102 name=\"reader\"\n"
	"thread 3 tid=103 name=\"computer\"\n"
	"thread 4 tid=104 name=\"timer\"\n"
	"@0 thread=1 park reason=join holder=3\n"
	"@10 thread=3 park reason=cond object=0x3f80 stack=get\n"
	"@20 thread=4 park reason=sleep\n"
	"@10000000 thread=2 unpark reason=cond object=0x3f80 count=1 stack=put\n"
	"@10000000 thread=2 park reason=recv object=4\n"
	"@10000000 thread=3 resume reason=cond object=0x3f80\n"
	"@18000000 thread=3 park reason=cond object=0x3f80 stack=get\n"
	"@19500000 thread=4 resume reason=sleep\n"
	"@19510000 thread=4 park reason=sleep\n"
	"@30000000 thread=4 resume reason=sleep\n";

static const struct why_case windows[] = {
	/* The timer was the last to work, but for too little of the time. */
	{"2ms..20ms", 0,
	 "Critical path of 2ms..20ms, back from computer (103)  18.0 ms\n"
	 "       after        for\n"
	 "        0 ns    8.00 ms    44.4%  reader (102) did not wait\n"
	 "                                    up to server+0x40 < server+0x50\n"
	 "     8.00 ms    8.00 ms    44.4%  computer (103) did not wait\n"
	 "     16.0 ms    2.00 ms    11.1%  computer (103) waited, up to the trace's end, for cond 0x3f80\n"
	 "                                    server+0x60 < server+0x50\n"},
	/* Of two that work at its end the one that worked longer. */
	{"2ms..5ms", 0, "back from reader (102)  3.00 ms\n"},
	/* None works for a hundredth: the last. */
	{"18.5ms..29ms", 0, "back from timer (104)  10.5 ms\n"},
	{"..5ms", 0, "back from reader (102)  5.00 ms\n"},
	{"12ms..", 0, "back from computer (103)  18.0 ms\n"},
};

/* Two threads at one address, one after the other; two messages, of which a thread of the program sent one, on two
 * connections to one server; two sleeps that differ in the seventh frame. */
static const char ALIKE[] =
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"
	"stack end 0x3041 0x3051\n"
	"stack one 0x3011 0x3021 0x3031 0x3041 0x3051 0x3061 0x3071\n"
	"stack other 0x3011 0x3021 0x3031 0x3041 0x3051 0x3061 0x3081\n"
	"thread 1 tid=101 name=\"main\"\nthread 2 tid=102 name=\"one\"\nthread 3 tid=103 name=\"other\"\n"
	"@0 thread=2 log message=\"begin\"\n@0 thread=3 log message=\"begin\"\n"
	"@0 thread=1 park reason=join object=0x7000 holder=2 stack=end\n"
	"@10000000 thread=2 thread_exit\n@10000000 thread=1 resume reason=join object=0x7000\n"
	"@10000000 thread=1 park reason=join object=0x7000 holder=3 stack=end\n"
	"@20000000 thread=3 thread_exit\n@20000000 thread=1 resume reason=join object=0x7000\n"
	"@30000000 thread=1 wait reason=recv object=4 since=20000000 stack=end descriptor=\"tcp 127.0.0.1:5001 10.0.0.1:80\"\n"
	"@40000000 thread=1 wait reason=recv object=4 since=30000000 stack=end descriptor=\"tcp 127.0.0.1:5002 10.0.0.1:80\"\n"
	"@50000000 thread=1 wait reason=sleep since=40000000 stack=one\n"
	"@60000000 thread=1 wait reason=sleep since=50000000 stack=other\n";

START_TEST(alike_is_told_once)
{
	static const char *const LINES[] = {
		"   20.0 ms    33.3%   main (101) waited for join, 2 times\n",
		"   20.0 ms    33.3%   main (101) waited for recv 10.0.0.1:80 (fd 4), 2 times\n",
		"   20.0 ms    33.3%   main (101) slept, 2 times\n",
	};
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(ALIKE, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_why(m, out, &options, "program", &error), 0);
	fclose(out);
	expect_lines(text, LINES, sizeof(LINES) / sizeof(*LINES));
	free(text);
	model_close(m);
}
END_TEST

/* A thread without a processor, while another one has it: all the time, for a part of it, and hardly. */
static const char INSTEAD[] = "thread 1 tid=101 name=\"main\"\nthread 2 tid=102 name=\"other\"\n"
			      "@0 source=kernel proc=0 thread=1 proc_start\n"
			      "@1000000 source=kernel proc=0 thread=1 proc_stop preempted=1\n"
			      "@1000000 source=kernel proc=0 thread=2 proc_start\n"
			      "@4000000 source=kernel proc=0 thread=2 proc_stop\n"
			      "@4000000 source=kernel proc=0 thread=1 proc_start\n"
			      "@5000000 source=kernel proc=0 thread=1 proc_stop preempted=1\n"
			      "@6000000 source=kernel proc=0 thread=2 proc_start\n"
			      "@7000000 source=kernel proc=0 thread=2 proc_stop\n"
			      "@9000000 source=kernel proc=0 thread=1 proc_start\n"
			      "@10000000 source=kernel proc=0 thread=1 proc_stop preempted=1\n"
			      "@11000000 source=kernel proc=0 thread=2 proc_start\n"
			      "@11010000 source=kernel proc=0 thread=2 proc_stop\n"
			      "@14000000 source=kernel proc=0 thread=1 proc_start\n"
			      "@15000000 thread=1 log message=\"end\"\n"
			      "@15000000 source=kernel proc=0 thread=1 proc_stop\n";

START_TEST(path_tells_who_ran_instead)
{
	static const char *const LINES[] = {
		("3.00 ms    20.0%  main (101) could have run, but had no processor; "
		 "other (102) ran instead\n"),
		("4.00 ms    26.7%  main (101) could have run, but had no processor; "
		 "other (102) ran instead for 25.0% of it\n"),
		("4.00 ms    26.7%  main (101) could have run, but had no processor; "
		 "the program's threads ran there for less than 1% of it\n"),
	};
	const struct trc_report_options options = {.path = "dump.trc", .width = 160};
	struct trc_model *m = model_of(INSTEAD, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_critical_path(m, out, &options, "thread:main", &error), 0);
	fclose(out);
	expect_lines(text, LINES, sizeof(LINES) / sizeof(*LINES));
	free(text);
	model_close(m);
}
END_TEST

/* Who spins is not woken, and a futex that has changed is not waited for. */
static const char UNWOKEN[] =
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"
	"stack here 0x3041 0x3051\n"
	"thread 1 tid=101 name=\"main\"\nthread 2 tid=102 name=\"other\"\n"
	"@0 thread=1 park reason=spin object=0x7000 stack=here\n"
	"@4000000 thread=2 unlock reason=spin object=0x7000 waiters=1 stack=here\n"
	"@10000000 thread=2 unlock reason=spin object=0x7000 waiters=1 held=3000000 stack=here\n"
	"@13000000 thread=1 resume reason=spin object=0x7000\n"
	"@13000000 thread=1 park reason=futex object=0x7100 stack=here\n"
	"@15000000 thread=1 resume reason=futex object=0x7100 result=EAGAIN\n";

START_TEST(who_is_not_woken)
{
	static const char *const LINES[] = {
		"   3.00 ms    20.0%     nobody held the lock: who spun for it had not taken it yet\n",
		"   3.00 ms    20.0%     main (101) spun, and had not taken the free lock yet\n",
		"   2.00 ms    13.3%   main (101) did not wait for futex 0x7100: it had changed already\n",
	};
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(UNWOKEN, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_why(m, out, &options, "program", &error), 0);
	fclose(out);
	expect_lines(text, LINES, sizeof(LINES) / sizeof(*LINES));
	ck_assert_msg(!strstr(text, "woken"), "%s", text);
	free(text);
	model_close(m);
}
END_TEST

static char *critical_path_of(struct trc_model *m, const char *what)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_critical_path(m, out, &options, what, &error), 0);
	fclose(out);
	return text;
}

/* The answer itself says so, before all else: not only standard error. */
START_TEST(a_cut_trace_gives_an_incomplete_answer)
{
	static const char BEGIN[] = "Incomplete: the trace is cut off";
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_error error = {""};
	char text_of_trace[sizeof(TRACE) + 20], *text = NULL, *path;
	struct trc_model *m;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	snprintf(text_of_trace, sizeof(text_of_trace), "%sunfinished\n", TRACE);
	m = model_of(text_of_trace, TRC_PART_ALL);
	ck_assert_int_eq(trc_report_why(m, out, &options, "longest", &error), 0);
	fclose(out);
	ck_assert_msg(!strncmp(text, BEGIN, sizeof(BEGIN) - 1), "%s", text);
	path = critical_path_of(m, "task:1");
	ck_assert_msg(!strncmp(path, BEGIN, sizeof(BEGIN) - 1), "%s", path);
	free(path);
	free(text);
	model_close(m);
}
END_TEST

START_TEST(of_a_window)
{
	struct trc_model *m = model_of(WINDOW_TRACE, TRC_PART_ALL);
	char *text = critical_path_of(m, windows[_i].what);

	ck_assert_msg(strstr(text, windows[_i].text) != NULL, "%s:\n%s", windows[_i].what, text);
	free(text);
	model_close(m);
}
END_TEST

/* With --window the program's path is that of the window. */
START_TEST(of_the_program_in_a_window)
{
	struct trc_model *m = model_of(WINDOW_TRACE, TRC_PART_ALL);
	struct trc_selection s = {0};
	struct trc_error error = {""};
	char *whole = critical_path_of(m, "program"), *text;

	ck_assert_msg(strstr(whole, "Critical path of program  30.0 ms\n") != NULL, "%s", whole);
	ck_assert_int_eq(trc_selection_ask_window(&s, "2ms..20ms", &error), 0);
	ck_assert_int_eq(trc_selection_find(&s, m, &error), 0);
	trc_model_select(m, &s);
	text = critical_path_of(m, "program");
	ck_assert_msg(
		strstr(text, "Critical path of program, back from computer (103)  18.0 ms\n") !=
			NULL,
		"%s", text);
	free(text);
	free(whole);
	trc_model_select(m, NULL);
	trc_selection_free(&s);
	model_close(m);
}
END_TEST

/* The pieces follow each other and are the window, wherever it lies. */
START_TEST(pieces_are_the_window)
{
	const char *trace = _i ? WINDOW_TRACE : TRACE;
	struct trc_model *m = model_of(trace, TRC_PART_ALL);
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_error error = {""};
	struct trc_report r;
	struct trc_causes *causes;

	ck_assert_int_eq(trc_report_begin(&r, m, NULL, &options, &error), 0);
	ck_assert_int_eq(trc_report_causes(&r, &causes), 0);
	for (int64_t from_ns = 0; from_ns < r.end_ns; from_ns += 777777)
		for (int64_t to_ns = from_ns + 1; to_ns <= r.end_ns; to_ns += 999999) {
			struct trc_why_tree tree;
			uint32_t thread;
			int64_t at_ns = from_ns;

			ck_assert_int_eq(trc_why_tree_begin(&tree, &r), 0);
			tree.keeps_path = true;
			ck_assert_int_eq(trc_why_add_window(&tree, causes, from_ns, to_ns, &thread),
					 0);
			ck_assert_uint_gt(thread, 0);
			for (size_t i = 0; i < tree.path.n; i++) {
				const struct trc_cause *piece =
					(struct trc_cause *)tree.path.row + i;

				ck_assert_int_eq(piece->from_ns, at_ns);
				ck_assert_int_gt(piece->to_ns, at_ns);
				at_ns = piece->to_ns;
			}
			ck_assert_int_eq(at_ns, to_ns);
			ck_assert_int_eq(tree.path_ns, to_ns - from_ns);
			trc_why_tree_free(&tree);
		}
	trc_report_end(&r);
	model_close(m);
}
END_TEST

/* A path of more pieces than are shown: the longest are, and between them how many are not. */
START_TEST(a_long_path_is_told_by_its_longest_pieces)
{
	static char trace[20000];
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_error error = {""};
	struct trc_model *m;
	char *text = NULL;
	size_t n_bytes, n = 0;
	FILE *out;

	n += (size_t)snprintf(trace, sizeof(trace),
			      "thread 1 tid=101 name=\"main\"\n"
			      "@0 thread=1 task_begin task=1 type=\"t\"\n");
	/* Of 1 to 100 us, a microsecond apart. */
	for (int i = 1, at = 1000; i <= 100; at += (i + 1) * 1000, i++)
		n += (size_t)snprintf(
			trace + n, sizeof(trace) - n,
			"@%d thread=1 park reason=sleep\n@%d thread=1 resume reason=sleep\n", at,
			at + i * 1000);
	snprintf(trace + n, sizeof(trace) - n, "@5200000 thread=1 task_end task=1\n");
	m = model_of(trace, TRC_PART_ALL);
	out = open_memstream(&text, &n_bytes);
	ck_assert_int_eq(trc_report_critical_path(m, out, &options, "task:1", &error), 0);
	fclose(out);
	/* The longest 50 are the waits of 51 us and more. */
	ck_assert_ptr_nonnull(strstr(text, "    1.33 ms    25.5%  in 101 shorter pieces\n"
					   "     1.33 ms    51.0 µs     1.0%  main (101) slept\n"));
	ck_assert_ptr_null(strstr(text, "50.0 µs     1.0%  main (101) slept\n"));
	free(text);
	model_close(m);
}
END_TEST

START_TEST(tasks_of_a_type_are_summed)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(TRACE, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_why(m, out, &options, "task:request", &error), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "Why task:request (2) took  19.0 ms\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "   8.00 ms    42.1%   worker (102) waited for mutex 0x3f10\n"));
	free(text);
	model_close(m);
}
END_TEST

/* Of many tasks those that took longest, and in the report a line that says where their time went. */
START_TEST(the_slowest_tasks)
{
	static char trace[16384];
	const struct trc_report_options options = {.path = "dump.trc", .slowest = 5};
	struct trc_error error = {""};
	struct trc_model *m;
	char *text = NULL;
	size_t n_bytes, n;
	FILE *out;

	n = (size_t)snprintf(trace, sizeof(trace), "%s", TRACE);
	/* The first lasts 9 ms because of the lock, the second 10 ms; these a millisecond each. */
	for (int i = 0; i < 38; i++)
		n += (size_t)snprintf(trace + n, sizeof(trace) - n,
				      "@%d thread=2 task_begin task=%d type=\"request\"\n"
				      "@%d thread=2 task_end task=%d\n",
				      40000000 + 2000000 * i, 10 + i, 41000000 + 2000000 * i,
				      10 + i);
	ck_assert_uint_lt(n, sizeof(trace));
	m = model_of(trace, TRC_PART_ALL);
	out = open_memstream(&text, &n_bytes);
	ck_assert_int_eq(trc_report_why(m, out, &options, "task:request", &error), 0);
	ck_assert_int_eq(
		trc_report_print(m, out, &(struct trc_report_options){.path = "dump.trc"}, &error),
		0);
	fclose(out);
	ck_assert_ptr_nonnull(
		strstr(text, "Why task:request, the slowest 5%, (2) took  19.0 ms\n"));
	ck_assert_msg(strstr(text,
			     "slowest 1%, from 10.0 ms on: 40.0%, worker (102) waited for recv "
			     "127.0.0.1:80 (fd 4) ") != NULL,
		      "%s", text);
	free(text);
	model_close(m);
}
END_TEST

/* It has a name only if it was waited for. */
START_TEST(what_if_a_lock_has_no_name)
{
	static const char HELD[] = "thread 1 tid=101 name=\"main\"\n"
				   "thread 2 tid=102\n"
				   "@0 thread=1 acquire reason=spin object=0x3f10\n"
				   "@9000000 thread=1 release reason=spin object=0x3f10\n"
				   "@9000000 thread=2 acquire reason=spin object=0x3f10\n"
				   "@9001000 thread=2 release reason=spin object=0x3f10\n";
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(HELD, 0);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_what_if(m, out, &options, "lock 0x3f10 * 0.5", &error), 0);
	fclose(out);
	ck_assert_msg(strstr(text, "\n  the lock 0x3f10 is held for 100% of the run: who"), "%s",
		      text);
	free(text);
	model_close(m);
}
END_TEST

/* A process that only waits for others' answers has no such wait, and is told what to ask. */
START_TEST(there_is_no_lock)
{
	static const char ANSWER[] = "thread 1 tid=101 name=\"main\"\n"
				     "@1000 thread=1 park reason=epoll object=3\n"
				     "@9000 thread=1 resume reason=epoll object=3\n";
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_model *m = model_of(ANSWER, TRC_PART_ALL);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_why(m, out, &options, "longest", &error), -ENOENT);
	fclose(out);
	ck_assert_str_eq(
		error.text,
		"--why longest: no thread waited for a lock; thread:NAME, wait:ID or FROM..TO "
		"tell of other waits");
	ck_assert_str_eq(text, "");
	free(text);
	model_close(m);
}
END_TEST

START_TEST(what_if_leaves_one_of_each)
{
	static const char ONE[] = "thread 1 tid=101 name=\"main\"\n"
				  "thread 2 tid=102\n"
				  "@0 thread=1 acquire reason=mutex object=0x3f10\n"
				  "@1000 thread=2 task_begin task=7 type=\"job\"\n"
				  "@2000 thread=2 park reason=cond object=0x3f90\n"
				  "@4000 thread=2 resume reason=cond object=0x3f90\n"
				  "@5000 thread=1 release reason=mutex object=0x3f10\n"
				  "@6000 thread=2 log message=\"end\"\n";
	const struct trc_report_options options = {.path = "dump.trc", .width = 200};
	struct trc_model *m = model_of(ONE, 0);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_what_if(m, out, &options, "lock 0x3f10 * 0.5", &error), 0);
	fclose(out);
	ck_assert_msg(
		strstr(text,
		       "\n  1 wait for a lock or a thread, 2.00 \xc2\xb5s, keeps its length:"),
		"%s", text);
	ck_assert_msg(
		strstr(text, "\n  1 task that did not end in the trace or in the replay is left"),
		"%s", text);
	free(text);
	model_close(m);
}
END_TEST

/* Who waits for nobody there, and the wait that is explained. */
static const struct in_call {
	const char *trace, *wait, *words;
} in_calls[] = {
	{"thread 1 tid=101 name=\"main\"\nthread 2 tid=102 name=\"late\"\n"
	 "@1000 thread=1 park reason=barrier object=0x61\n"
	 "@2000 thread=2 park reason=barrier object=0x61\n"
	 "@8000 thread=2 unpark reason=barrier object=0x61 count=18446744073709551615\n"
	 "@8100 thread=2 resume reason=barrier object=0x61\n"
	 "@8200 thread=1 resume reason=barrier object=0x61\n",
	 "wait:1", " late (102) did not wait in barrier"},
	{"thread 1 tid=101 name=\"main\"\nthread 2 tid=102 name=\"late\"\nstack a 0x300 0x200 0x1f\n"
	 "@1000 thread=2 park reason=cond object=0x61 stack=a\n"
	 "@1100 thread=1 park reason=mutex object=0x70 holder=2\n"
	 "@8100 thread=2 unlock reason=mutex object=0x70 at=8000 waiters=1 stack=a\n"
	 "@8200 thread=1 resume reason=mutex object=0x70\n"
	 "@9000 thread=1 unpark reason=cond object=0x61 count=1\n"
	 "@9100 thread=2 resume reason=cond object=0x61\n",
	 "wait:2", " late (102) held the lock and did not wait in cond"},
};

START_TEST(who_waits_for_nobody_is_in_the_call)
{
	const struct in_call *c = &in_calls[_i];
	const struct trc_report_options options = {.path = "dump.trc", .width = 200};
	struct trc_model *m = model_of(c->trace, 0);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_why(m, out, &options, c->wait, &error), 0);
	fclose(out);
	ck_assert_msg(strstr(text, c->words), "%s", text);
	ck_assert_msg(!strstr(text, "in turn") && !strstr(text, "had changed"), "%s", text);
	free(text);
	model_close(m);
}
END_TEST

/* Of fibers it is not known which would run next: that comes before all figures. */
START_TEST(what_if_there_are_fibers)
{
	static const char FIBER[] = "thread 1 tid=101 name=\"main\"\n"
				    "thread 2 tid=102\n"
				    "@0 thread=1 acquire reason=mutex object=0x3f10\n"
				    "@1000 thread=2 fiber_switch fiber=5\n"
				    "@2000 thread=2 park reason=mutex object=0x3f10 holder=1\n"
				    "@5000 thread=1 release reason=mutex object=0x3f10\n"
				    "@5000 thread=1 unlock reason=mutex object=0x3f10 waiters=1\n"
				    "@5100 thread=2 resume reason=mutex object=0x3f10\n"
				    "@5100 thread=2 acquire reason=mutex object=0x3f10\n"
				    "@6000 thread=2 release reason=mutex object=0x3f10\n"
				    "@7000 thread=2 fiber_switch left=5\n";
	static const char FIRST[] =
		"Rough: the program has 1 fiber, and each thread is replayed with those that it ran, in that order\n"
		"What if lock 0x3f10 * 0.5\n";
	const struct trc_report_options options = {.path = "dump.trc", .width = 200};
	struct trc_model *m = model_of(FIBER, 0);
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(trc_report_what_if(m, out, &options, "lock 0x3f10 * 0.5", &error), 0);
	fclose(out);
	ck_assert_msg(!strncmp(text, FIRST, strlen(FIRST)), "%s", text);
	free(text);
	out = open_memstream(&text, &n_bytes);
	ck_assert_int_eq(trc_report_what_if_json(m, out, "lock 0x3f10 * 0.5", &error), 0);
	fclose(out);
	ck_assert_msg(strstr(text, ",\"fibers\":1,"), "%s", text);
	free(text);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("why");
	TCase *tcase = tcase_create("why");

	tcase_add_test(tcase, samples_are_estimates);
	tcase_add_test(tcase, alike_is_told_once);
	tcase_add_test(tcase, path_tells_who_ran_instead);
	tcase_add_test(tcase, who_is_not_woken);
	tcase_add_test(tcase, what_if_a_lock_has_no_name);
	tcase_add_test(tcase, what_if_leaves_one_of_each);
	tcase_add_loop_test(tcase, who_waits_for_nobody_is_in_the_call, 0,
			    sizeof(in_calls) / sizeof(in_calls[0]));
	tcase_add_test(tcase, what_if_there_are_fibers);
	tcase_add_test(tcase, there_is_no_lock);
	tcase_add_loop_test(tcase, test_case, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tcase, critical_path, 0, sizeof(paths) / sizeof(paths[0]));
	tcase_add_test(tcase, a_cut_trace_gives_an_incomplete_answer);
	tcase_add_loop_test(tcase, of_a_window, 0, sizeof(windows) / sizeof(windows[0]));
	tcase_add_test(tcase, of_the_program_in_a_window);
	tcase_add_loop_test(tcase, pieces_are_the_window, 0, 2);
	tcase_add_test(tcase, a_long_path_is_told_by_its_longest_pieces);
	tcase_add_test(tcase, tasks_of_a_type_are_summed);
	tcase_add_test(tcase, the_slowest_tasks);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
