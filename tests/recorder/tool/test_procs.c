/* test_procs.c - lists of procs and quotas, as the kernel writes them. */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>
#include "recorder/tool/procs.h"
#include "tests/suite.h"

static const struct {
	const char *sentence, *list, *other;
	uint32_t common;
} lists[] = {
	{"all of one", "0", "0", 1},
	{"the newline of a file", "0-3\n", "0-3\n", 4},
	{"the lesser of two ranges", "0-7", "2-3", 2},
	{"the other way round", "2-3", "0-7", 2},
	{"ranges that overlap", "0-5", "4-9", 2},
	{"ranges that touch", "0-4", "4-9", 1},
	{"nothing in common", "0-3", "4-7", 0},
	{"several ranges", "0-1,4,6-9", "1-7", 4},
	{"several in both", "0-1,4,6-9,12", "0,4-6,9-12", 5},
	{"an empty list", "", "0-3", 0},
	{"a range that is none", "3-1", "0-7", 0},
	{"garbage behind", "0-1,x", "0-7", 2},
	{"numbers beyond all procs", "0-99999999999", "0-7", 0},
};

START_TEST(common)
{
	ck_assert_msg(trc_procs_common(lists[_i].list, lists[_i].other) == lists[_i].common, "%s",
		      lists[_i].sentence);
}
END_TEST

static const struct {
	const char *sentence, *cpu_max;
	uint32_t procs;
} quotas[] = {
	{"two procs", "200000 100000\n", 2},
	{"a part of one is one", "50000 100000", 1},
	{"a little more than one is two", "100001 100000", 2},
	{"no quota, version 2", "max 100000\n", 0},
	{"no quota, version 1", "-1 100000", 0},
	{"no period", "100000", 0},
	{"a period of nothing", "100000 0", 0},
	{"nothing", "", 0},
	{"more than there can be", "9000000000000000000 1", 0},
};

START_TEST(quota)
{
	ck_assert_msg(trc_procs_quota(quotas[_i].cpu_max) == quotas[_i].procs, "%s",
		      quotas[_i].sentence);
}
END_TEST

static void look(struct trc_procs *p, uint64_t *now_ns)
{
	*now_ns += 1000000000;
	trc_procs_look(p, getpid(), NULL, *now_ns, false);
}

START_TEST(what_stays_the_same_is_not_told)
{
	struct trc_procs p = {0};
	uint64_t now_ns = 1;

	for (int i = 0; i < 3; i++)
		look(&p, &now_ns);
	ck_assert_uint_gt(p.now, 0);
	ck_assert_uint_eq(p.n_changes, 0);
}
END_TEST

START_TEST(a_change_is_told_once_with_its_time)
{
	struct trc_procs p = {0};
	uint64_t now_ns = 1;

	look(&p, &now_ns);
	p.now += 5; /* as if there had been more */
	trc_procs_look(&p, getpid(), NULL, now_ns + 999999999, false);
	ck_assert_uint_eq(p.n_changes, 0); /* too soon */
	look(&p, &now_ns);
	look(&p, &now_ns);
	ck_assert_uint_eq(p.n_changes, 1);
	ck_assert_uint_eq(p.change[0].procs, p.now);
	ck_assert_uint_eq(p.change[0].raw_ns, now_ns - 1000000000);
}
END_TEST

START_TEST(what_the_process_tells_itself_is_not_told_again)
{
	struct trc_procs p = {0};
	_Atomic uint64_t told = 0;

	trc_procs_look(&p, getpid(), &told, 1, true);
	told = UINT64_C(1) << 32 | p.now;
	p.now += 5;
	trc_procs_look(&p, getpid(), &told, 2, true);
	ck_assert_uint_eq(p.n_changes, 0);
	/* The same number again, but from elsewhere. */
	p.now += 5;
	trc_procs_look(&p, getpid(), &told, 3, true);
	ck_assert_uint_eq(p.n_changes, 1);
}
END_TEST

START_TEST(of_many_changes_the_latest_are_kept)
{
	struct trc_procs p = {0};

	trc_procs_look(&p, getpid(), NULL, 1, true);
	for (uint64_t i = 0; i < TRC_PROCS_CHANGES + 10; i++) {
		p.now += 5;
		trc_procs_look(&p, getpid(), NULL, 10 + i, true);
	}
	ck_assert_uint_eq(p.n_changes, TRC_PROCS_CHANGES);
	ck_assert_uint_eq(p.change[0].raw_ns, 20);
	trc_procs_drop(&p, TRC_PROCS_CHANGES - 1);
	ck_assert_uint_eq(p.n_changes, 1);
	ck_assert_uint_eq(p.change[0].raw_ns, 10 + TRC_PROCS_CHANGES + 9);
}
END_TEST

START_TEST(of_a_process_that_is_gone_nothing_is_known)
{
	struct trc_procs p = {0};

	trc_procs_look(&p, 0x3ffffff0, NULL, 1, true);
	ck_assert_uint_eq(p.now, 0);
	p.now = 2;
	trc_procs_look(&p, 0x3ffffff0, NULL, 2, true);
	ck_assert_uint_eq(p.n_changes, 0);
}
END_TEST

#define N(array) (int)(sizeof(array) / sizeof(*(array)))

int main(void)
{
	Suite *suite = suite_create("procs");
	TCase *tests = tcase_create("procs");

	tcase_add_loop_test(tests, common, 0, N(lists));
	tcase_add_loop_test(tests, quota, 0, N(quotas));
	tcase_add_test(tests, what_stays_the_same_is_not_told);
	tcase_add_test(tests, a_change_is_told_once_with_its_time);
	tcase_add_test(tests, what_the_process_tells_itself_is_not_told_again);
	tcase_add_test(tests, of_many_changes_the_latest_are_kept);
	tcase_add_test(tests, of_a_process_that_is_gone_nothing_is_known);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
