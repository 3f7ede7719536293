/*
 * offproc_test.c - whether marks tell that a thread left its proc is tried out (offproc:K4), here
 * with sleeps after which the mark is as another kernel leaves it.
 */
#include <check.h>
#include <sys/syscall.h>
#include <time.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/ring_inline.h"
#include "tests/suite.h"

static bool keeps_mark; /* as kernels from Linux 6.19 on do */
static int sleeps;

static long sleep_on_another_kernel(long number, const void *time, void *rest)
{
	long result = trc_raw2(number, time, rest);

	sleeps++;
	if (keeps_mark)
		rseq_mark();
	else
		rseq_unmark();
	return result;
}

#undef trc_raw2
#define trc_raw2(number, time, rest) sleep_on_another_kernel(number, time, rest)
#include "recorder/ring/offproc.c"

static void set_up(void)
{
	trc_rseq_setup(TRC_PATH_AUTO);
}

START_TEST(where_sleeps_remove_the_mark_it_tells)
{
	if (!trc_rseq_usable)
		return;
	trc_mark_setup();
	ck_assert(trc_mark_tells);
	trc_mark_set();
	ck_assert(trc_mark_take());
	ck_assert(!trc_mark_take()); /* K2 */
}
END_TEST

START_TEST(where_a_sleep_leaves_the_mark_none_is_set)
{
	keeps_mark = true;
	if (!trc_rseq_usable)
		return;
	trc_mark_setup();
	ck_assert(!trc_mark_tells);
	rseq_unmark();
	trc_mark_set();
	ck_assert(!trc_mark_take());
}
END_TEST

START_TEST(what_the_kernel_does_is_tried_out_once)
{
	int before;

	if (!trc_rseq_usable)
		return;
	keeps_mark = true;
	trc_mark_setup();
	before = sleeps;
	ck_assert_int_gt(before, 0);
	keeps_mark = false;
	trc_mark_setup();
	ck_assert_int_eq(sleeps, before);
	ck_assert(!trc_mark_tells);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("offproc");
	TCase *t = tcase_create("offproc");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, where_sleeps_remove_the_mark_it_tells);
	tcase_add_test(t, where_a_sleep_leaves_the_mark_none_is_set);
	tcase_add_test(t, what_the_kernel_does_is_tried_out_once);
	suite_add_tcase(suite, t);
	return suite_run(suite);
}
