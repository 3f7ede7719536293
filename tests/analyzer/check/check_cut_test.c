/*
 * check_cut_test.c - --check of files that were cut off: what only the missing end could show is
 * not judged, everything else as strictly as in a whole file (check:V4).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/check/check.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

/* Everything from before 90 ms is in the file: 10 ms before its last SYNC. */
#define HEAD                                                                                       \
	"header procs=2\n"                                                                         \
	"sync ticks=1\n"                                                                           \
	"thread 1 tid=101 start=100\n"                                                             \
	"thread 2 tid=102 creator=1 start=200\n"
#define WHOLE_UNTIL_90_MS                                                                          \
	"flush\n"                                                                                  \
	"sync ticks=100000000\n"
#define REST                                                                                       \
	"@150000000 thread=2 log message=\"the last event of proc 0\"\n"                           \
	"@160000000 proc=1 thread=2 log message=\"the last of proc 1\"\n"

static const struct row {
	const char *what;
	const char *text;
	uint64_t violations, not_judged;
	const char *line; /* the first one that tells no cut; NULL = there is none */
} rows[] = {
	{"a resume may be missing when its thread exits behind the cut",
	 HEAD "@50000000 thread=1 park reason=mutex object=1\n" WHOLE_UNTIL_90_MS
	      "@120000000 thread=1 thread_exit\n" REST,
	 0, 1, NULL},
	{"it is not missing when the thread exits before",
	 HEAD "@50000000 thread=1 park reason=mutex object=1\n"
	      "@60000000 thread=1 thread_exit\n" WHOLE_UNTIL_90_MS REST,
	 1, 0, "thread 1: its park at 49999999 ns (mutex 0x1) has no resume"},
	{"a park before the resume may be missing behind the cut only",
	 HEAD "@50000000 thread=1 resume reason=cond object=1\n" WHOLE_UNTIL_90_MS
	      "@120000000 thread=1 resume reason=mutex object=1\n" REST,
	 1, 1, "thread 1: its resume at 49999999 ns (cond 0x1) has no park"},
	{"so may the begin of a region",
	 HEAD "@50000000 thread=1 region_end\n" WHOLE_UNTIL_90_MS
	      "@120000000 thread=1 region_end\n" REST,
	 1, 1, "thread 1: the region end at 49999999 ns has no begin"},
	{"and its end",
	 HEAD "@50000000 thread=1 region_begin type=\"r\"\n"
	      "@51000000 thread=2 region_begin type=\"r\"\n"
	      "@52000000 thread=2 thread_exit\n" WHOLE_UNTIL_90_MS
	      "@120000000 thread=1 thread_exit\n"
	      "@150000000 thread=3 log\n",
	 1, 1, "thread 2: its region \"r\" of 50999999 ns is open when it exits"},
	{"and the begin of a task that ends",
	 HEAD "@50000000 thread=1 task_end task=7\n" WHOLE_UNTIL_90_MS
	      "@120000000 thread=1 task_end task=8\n" REST,
	 1, 1, "task 7: ends at 49999999 ns without having begun"},
	{"or is only named",
	 HEAD "@50000000 thread=1 log task=7\n" WHOLE_UNTIL_90_MS
	      "@120000000 thread=1 log task=8\n" REST,
	 1, 1, "task 7: named at 49999999 ns but never begun"},
	{"no missing event makes a task begin twice",
	 HEAD "@120000000 thread=1 task_begin task=7\n"
	      "@130000000 thread=1 task_begin task=7\n" REST,
	 1, 0, "task 7: begins at 119999999 ns, and again at 129999999 ns"},
	{"nor end twice",
	 HEAD "@110000000 thread=1 task_begin task=7\n"
	      "@120000000 thread=1 task_end task=7\n"
	      "@130000000 thread=1 task_end task=7\n" REST,
	 1, 0, "task 7: ends at 119999999 ns, and again at 129999999 ns"},
	{"nor a thread go on after its exit",
	 HEAD "@120000000 thread=1 thread_exit\n"
	      "@130000000 thread=1 log\n" REST,
	 1, 0, "thread 1: log at 129999999 ns, after its exit at 119999999 ns"},
	{"nor begin late",
	 HEAD "@120000000 thread=1 log\n"
	      "@130000000 thread=1 thread_start\n" REST,
	 1, 0, "thread 1: starts at 129999999 ns, after an event at 119999999 ns"},
	{"without a later SYNC anything may be missing",
	 HEAD "@50000000 thread=1 park reason=mutex object=1\n"
	      "@60000000 thread=1 thread_exit\n" REST,
	 0, 1, NULL},
	{"where every stream has a later event, that one counts",
	 "header procs=1\n"
	 "@1000 thread=1 thread_start\n"
	 "@2000 thread=1 park reason=mutex object=1\n"
	 "@3000 thread=1 thread_exit\n"
	 "@5000 thread=2 log\n"
	 "@5000 source=overflow thread=2 log\n",
	 1, 0, "thread 1: its park at 2000 ns (mutex 0x1) has no resume"},
	{"an event at the very time of a stream's last may be missing",
	 "header procs=1\n"
	 "@1000 thread=1 thread_start\n"
	 "@2000 thread=1 park reason=mutex object=1\n"
	 "@5000 thread=1 thread_exit\n"
	 "@6000 source=overflow thread=2 log\n",
	 0, 1, NULL},
	{"lost events still explain what they explain",
	 HEAD "@50000000 thread=1 park reason=mutex object=1\n"
	      "@55000000 thread=2 gap lost_events=3 since=52000000 cause=ring_full\n"
	      "@60000000 thread=1 thread_exit\n" WHOLE_UNTIL_90_MS REST,
	 1, 0,
	 "thread 1: its park at 49999999 ns (mutex 0x1) has no resume (explained by the gap on "
	 "proc 0: 3 lost from 51999999 to 54999999 ns)"},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

struct lines {
	char first[512]; /* that tells no cut */
	char cuts[2048];
};

static void take_line(void *context, const char *text)
{
	struct lines *lines = context;

	if (!strncmp(text, "cut off: ", 9)) {
		strncat(lines->cuts, text + 9, sizeof(lines->cuts) - strlen(lines->cuts) - 1);
		strncat(lines->cuts, "\n", sizeof(lines->cuts) - strlen(lines->cuts) - 1);
	} else if (!lines->first[0]) {
		snprintf(lines->first, sizeof(lines->first), "%s", text);
	}
}

static struct trc_check_totals check_text(const char *text, const char *end, struct lines *lines)
{
	struct trc_check_totals totals;
	struct trc_error error;
	struct trc_model *m;
	char whole[4096];

	snprintf(whole, sizeof(whole), "%s%s", text, end);
	memset(lines, 0, sizeof(*lines));
	m = model_of(whole, 0);
	ck_assert_int_eq(trc_check(m, true, take_line, lines, &totals, &error), 0);
	model_close(m);
	return totals;
}

START_TEST(test_cut)
{
	const struct row *r = &rows[_i];
	struct lines lines;
	struct trc_check_totals totals = check_text(r->text, "unfinished\n", &lines);

	ck_assert_msg(totals.violations == r->violations, "%s: %s", r->what, lines.first);
	ck_assert_msg(totals.not_judged == r->not_judged, "%s: %d not judged", r->what,
		      (int)totals.not_judged);
	ck_assert_msg(totals.cut_off && lines.cuts[0], "%s", r->what);
	ck_assert_str_eq(lines.first, r->line ? r->line : "");
}
END_TEST

START_TEST(test_whole)
{
	const struct row *r = &rows[_i];
	struct lines lines;
	struct trc_check_totals totals = check_text(r->text, "", &lines);

	ck_assert_msg(totals.violations == r->violations + r->not_judged, "%s", r->what);
	ck_assert_uint_eq(totals.not_judged, 0);
	ck_assert(!totals.cut_off);
	ck_assert_str_eq(lines.cuts, "");
}
END_TEST

START_TEST(test_where)
{
	struct lines lines;

	check_text("header procs=3\n"
		   "sync ticks=1\n"
		   "@50000000 proc=1 log\n"
		   "@60000000 source=kernel thread=1 proc_start\n" WHOLE_UNTIL_90_MS
		   "@120000000 proc=0 log\n",
		   "unfinished\n", &lines);
	ck_assert_str_eq(lines.cuts,
			 "proc 1: events from 89999999 ns on may be missing\n"
			 "proc 0, the kernel's records: events from 59999999 ns on may be missing\n"
			 "proc 0: events from 119999999 ns on may be missing\n"
			 "streams that have no events: events from 89999999 ns on may be missing\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("check_cut");
	TCase *tcase = tcase_create("cut");

	tcase_add_loop_test(tcase, test_cut, 0, N_ROWS);
	tcase_add_loop_test(tcase, test_whole, 0, N_ROWS);
	tcase_add_test(tcase, test_where);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
