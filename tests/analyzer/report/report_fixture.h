/* report_fixture.h - traces that several tests of the report share, and what is printed of them. */
#ifndef TRC_TESTS_REPORT_FIXTURE_H
#define TRC_TESTS_REPORT_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include "analyzer/report/report.h"
#include "tests/analyzer/model/model_fixture.h"

/* clang-format off */
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
#define SERVER \
	MODULES THREADS "@0 thread=2 region_begin type=\"handle\"\n" \
			"@1000000 thread=2 park reason=mutex object=0x7f10 holder=1 stack=get\n" \
			"@2000000 thread=3 park reason=mutex object=0x7f10 holder=1 stack=get_too\n" \
			"@9000000 thread=1 unlock reason=mutex object=0x7f10 waiters=2 stack=put\n" \
			"@9100000 thread=2 resume reason=mutex object=0x7f10\n" \
			"@9500000 thread=2 unlock reason=mutex object=0x7f10 waiters=1 stack=get\n" \
			"@9600000 thread=3 resume reason=mutex object=0x7f10\n" \
			"@9700000 thread=2 wait reason=fsync object=5 since=9600000 stack=put\n" \
			"@10000000 thread=2 region_end\n" \
			"@20000000 thread=3 park reason=cond object=0x7f20 stack=idle\n" \
			"@80000000 thread=1 unpark reason=cond object=0x7f20 count=1 stack=put\n" \
			"@80000000 thread=3 resume reason=cond object=0x7f20\n" \
			"@80000000 thread=1 park reason=epoll object=4 stack=idle\n" \
			"@90000000 thread=1 resume reason=epoll object=4\n" \
			"@90000000 thread=1 log category=\"net\" message=\"hello\"\n" \
			"@100000000 thread=1 counter name=\"queue\" value=-3\n"
/* clang-format on */

typedef int report_print_fn(struct trc_model *m, FILE *out, const struct trc_report_options *options,
			    struct trc_error *error);

/* What it prints; free() it. */
char *report_printed(report_print_fn *print, const char *trace,
		     const struct trc_report_options *options);

struct report_line {
	const char *what, *trace, *line; /* which must be among those printed; may be several */
	bool absent;			 /* ... or must not be found, in no line */
};
void report_check_line(const struct report_line *row);
/* The same on a terminal so wide. */
void report_check_line_of(const struct report_line *row, int width);

/* Runs the test for each of n rows; what main() returns. */
int report_run(const char *suite, const TTest *lines, size_t n);

#endif
