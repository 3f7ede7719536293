/*
 * tail_unlocks_test.c - at which stack a lock was released, if the function that released it ended with a jump to the
 * unlock, and so is not on the stack that was recorded.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model_fixture.h"
#include "tests/suite.h"

/* A pool's thread calls a task at 0x200; tasks take locks at 0x900 and 0x910, or through a function of their own, at 0xa00. */
#define STACKS                                                                                     \
	"thread 1 tid=101\nthread 2 tid=102\nthread 3 tid=103\n"                                   \
	"stack run 0x200 0x100\n"                                                                  \
	"stack deposit 0x900 0x200 0x100\n"                                                        \
	"stack withdraw 0x910 0x200 0x100\n"                                                       \
	"stack wrapped 0xa00 0x920 0x200 0x100\n"                                                  \
	"stack other 0x900 0x210 0x100\n"                                                          \
	"stack own 0x920 0x200 0x100\n"

static const struct {
	const char *what, *text;
	const char *released; /* the innermost frames of the unlocks' stacks */
} cases[] = {
	{"it has the frame of the function that had waited for the lock",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 holder=1 stack=deposit\n"
		"@2000 thread=2 resume reason=mutex object=0x10\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=run\n",
	 " 900"},
	{"... of each task the one that was at work then",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=deposit\n"
		"@2000 thread=2 resume reason=mutex object=0x10\n"
		"@2500 thread=3 park reason=mutex object=0x10 stack=withdraw\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=run\n"
		"@3100 thread=3 resume reason=mutex object=0x10\n"
		"@3500 thread=2 park reason=mutex object=0x10 stack=deposit\n"
		"@4000 thread=3 unlock reason=mutex object=0x10 held=900 stack=run\n"
		"@4100 thread=2 resume reason=mutex object=0x10\n"
		"@5000 thread=2 unlock reason=mutex object=0x10 held=900 stack=run\n",
	 " 900 910 900"},
	{"what it took without waiting, it did not take by an earlier wait, of whose release nobody is told",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=deposit\n"
		"@2000 thread=2 resume reason=mutex object=0x10\n"
		"@3500 thread=3 park reason=mutex object=0x10 stack=withdraw\n"
		"@4000 thread=2 unlock reason=mutex object=0x10 stack=run\n"
		"@4100 thread=3 resume reason=mutex object=0x10\n",
	 " 200"},
	{"who did not wait may be in a function that never waits for this lock: nothing says which",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 holder=1 stack=deposit\n"
		"@2000 thread=1 unlock reason=mutex object=0x10 stack=run\n"
		"@2100 thread=2 resume reason=mutex object=0x10\n",
	 " 200"},
	{"a wait before an earlier release is not how it was taken",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=deposit\n"
		"@2000 thread=2 resume reason=mutex object=0x10\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=run\n"
		"@3500 thread=3 park reason=mutex object=0x10 stack=withdraw\n"
		"@4000 thread=2 unlock reason=mutex object=0x10 stack=run\n"
		"@4100 thread=3 resume reason=mutex object=0x10\n",
	 " 900 200"},
	{"a wait that gave up did not take it",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=deposit\n"
		"@2000 thread=2 resume reason=mutex object=0x10 result=ETIMEDOUT\n"
		"@2500 thread=3 park reason=mutex object=0x10 stack=withdraw\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=run\n"
		"@3100 thread=3 resume reason=mutex object=0x10\n",
	 " 200"},
	{"a function that takes locks for others has returned: it is none that released it",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=wrapped\n"
		"@2000 thread=2 resume reason=mutex object=0x10\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=run\n",
	 " 200"},
	{"a release that has its function is where it is, and so is one behind another call",
	 STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=deposit\n"
		"@2000 thread=2 resume reason=mutex object=0x10\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=own\n"
		"@3500 thread=2 park reason=mutex object=0x10 stack=other\n"
		"@3600 thread=2 resume reason=mutex object=0x10\n"
		"@4000 thread=2 unlock reason=mutex object=0x10 held=400 stack=run\n",
	 " 920 200"},
	{"a wait for a condition there is for no lock",
	 STACKS "@1000 thread=2 park reason=cond object=0x10 stack=deposit\n"
		"@2000 thread=2 resume reason=cond object=0x10\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 stack=run\n",
	 " 200"},
	{"a stack that was made again when a library had been loaded is the same",
	 STACKS "stack run_again epoch=1 0x200 0x100\n"
		"@500 thread=2 unlock reason=mutex object=0x30 stack=run\n"
		"@1000 thread=2 park reason=mutex object=0x10 stack=deposit\n"
		"@2000 thread=2 resume reason=mutex object=0x10\n"
		"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=run_again\n",
	 " 200 900"},
};

START_TEST(test_released)
{
	struct trc_model *m = model_of(cases[_i].text, TRC_PART_WAITS);
	struct trc_stack_view view;
	struct text t = {.n = 0};
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);

	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(trc_reader_stack(trc_model_reader(m), unlock[i].stack, &view), 0);
		add(&t, " %" PRIx64, view.frame[0]);
	}
	ck_assert_msg(!strcmp(t.at, cases[_i].released), "%s: released at%s, not at%s",
		      cases[_i].what, t.at, cases[_i].released);
	model_close(m);
}
END_TEST

/* Who waited then was let in from there. */
START_TEST(test_waker)
{
	struct trc_model *m =
		model_of(STACKS "@1000 thread=2 park reason=mutex object=0x10 stack=deposit\n"
				"@2000 thread=2 resume reason=mutex object=0x10\n"
				"@2500 thread=3 park reason=mutex object=0x10 stack=own\n"
				"@3000 thread=2 unlock reason=mutex object=0x10 held=1000 stack=run\n"
				"@3100 thread=3 resume reason=mutex object=0x10\n",
			 TRC_PART_WAITS);

	ck_assert_uint_eq(park_of(m, 3, 2500)->waker_stack, park_of(m, 2, 1000)->stack);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tail_unlocks");
	TCase *tcase = tcase_create("stacks");

	tcase_add_loop_test(tcase, test_released, 0, sizeof(cases) / sizeof(*cases));
	tcase_add_test(tcase, test_waker);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
