/* test_charges.c - what becomes of the end of a wait for a lock (charges:C1 to charges:C4). */
#include <errno.h>
#include "format/waits/charges.h"
#include "tests/format/common.h"

enum { BETWEEN = 10, NONE = 0, NOT_TOLD = 0, HOLDER = 9, OTHER = 8 };

static const struct {
	const char *what;
	struct trc_charge_wait wait;
	int result;
	struct trc_charge_unlock last; /* at NONE: the lock was not unlocked yet */
	struct trc_charge_unlock next;
	enum trc_charge end;
	uint64_t since; /* of what is charged to next; NONE = nothing */
} row[] = {
	{"no end was seen: nothing is charged, though the holder unlocks",
	 {100, 200, HOLDER}, -1, {50, 0, HOLDER}, {300, 0, HOLDER}, TRC_CHARGE_NOBODY, NONE},

	{"the last unlock in the wait woke it",
	 {100, 200, HOLDER}, 0, {150, 0, OTHER}, {300, 0, HOLDER}, TRC_CHARGE_WOKEN, NONE},
	{"so does one when it began",
	 {100, 200, HOLDER}, 0, {100, 0, OTHER}, {300, 0, HOLDER}, TRC_CHARGE_WOKEN, NONE},

	{"an unlock of the holder just before explains a wait without one",
	 {100, 200, HOLDER}, 0, {90, 0, HOLDER}, {300, 0, HOLDER}, TRC_CHARGE_LAST, NONE},
	{"but not if it came too long before",
	 {100, 200, HOLDER}, 0, {89, 0, HOLDER}, {300, 0, HOLDER}, TRC_CHARGE_NOBODY, NONE},
	{"nor if it was another thread's",
	 {100, 200, HOLDER}, 0, {95, 0, OTHER}, {300, 0, HOLDER}, TRC_CHARGE_NOBODY, NONE},
	{"nor if the holder is not known",
	 {100, 200, NONE}, 0, {95, 0, NONE}, {300, 0, HOLDER}, TRC_CHARGE_NOBODY, NONE},
	{"a wait that ended before any unlock is charged to nobody",
	 {100, 200, HOLDER}, 0, {NONE, 0, NONE}, {300, 0, HOLDER}, TRC_CHARGE_NOBODY, NONE},

	{"who gave up is charged to the holder's next unlock",
	 {100, 200, HOLDER}, ETIMEDOUT, {NONE, 0, NONE}, {300, NOT_TOLD, HOLDER},
	 TRC_CHARGE_NEXT, 100},
	{"and not to another's",
	 {100, 200, HOLDER}, ETIMEDOUT, {NONE, 0, NONE}, {300, NOT_TOLD, OTHER},
	 TRC_CHARGE_NEXT, NONE},
	{"nor to anybody's if the holder is not known",
	 {100, 200, NONE}, ETIMEDOUT, {NONE, 0, NONE}, {300, NOT_TOLD, NONE},
	 TRC_CHARGE_NEXT, NONE},
	{"after an unlock in the wait the holder is another one",
	 {100, 200, HOLDER}, ETIMEDOUT, {150, 0, HOLDER}, {300, NOT_TOLD, HOLDER},
	 TRC_CHARGE_NEXT, NONE},
	{"also after one when it began",
	 {100, 200, HOLDER}, ETIMEDOUT, {100, 0, HOLDER}, {300, NOT_TOLD, HOLDER},
	 TRC_CHARGE_NEXT, NONE},
	{"an unlock before the wait says nothing of its holder",
	 {100, 200, HOLDER}, ETIMEDOUT, {99, 0, OTHER}, {300, NOT_TOLD, HOLDER},
	 TRC_CHARGE_NEXT, 100},

	{"a section that began in the wait is charged since then, whoever's it is",
	 {100, 200, HOLDER}, ETIMEDOUT, {150, 0, HOLDER}, {300, 160, OTHER},
	 TRC_CHARGE_NEXT, 160},
	{"so is one that began when the wait ended, with nothing",
	 {100, 200, HOLDER}, ETIMEDOUT, {150, 0, HOLDER}, {300, 200, OTHER},
	 TRC_CHARGE_NEXT, 200},
	{"one that began before the wait is charged with all of it",
	 {100, 200, HOLDER}, ETIMEDOUT, {40, 0, HOLDER}, {300, 60, OTHER},
	 TRC_CHARGE_NEXT, 100},
	{"one that began after the wait is not its cause, though it is the holder's",
	 {100, 200, HOLDER}, ETIMEDOUT, {NONE, 0, NONE}, {300, 201, HOLDER},
	 TRC_CHARGE_NEXT, NONE},
	{"a section cannot have begun before the last one ended: it is not believed",
	 {100, 200, HOLDER}, ETIMEDOUT, {150, 0, HOLDER}, {300, 140, OTHER},
	 TRC_CHARGE_NEXT, NONE},
	{"but the holder's is the holder's",
	 {100, 200, HOLDER}, ETIMEDOUT, {50, 0, OTHER}, {300, 40, HOLDER},
	 TRC_CHARGE_NEXT, 100},
};

START_TEST(what_is_left_of_a_wait)
{
	const struct trc_charge_unlock *last = row[_i].last.at ? &row[_i].last : NULL;
	uint64_t since;

	ck_assert_msg(trc_charge_end(&row[_i].wait, row[_i].result, last, BETWEEN) == row[_i].end,
		      "%s", row[_i].what);
	if (row[_i].end != TRC_CHARGE_NEXT)
		return;
	if (!trc_charge_to_next(&row[_i].wait, last, &row[_i].next, &since))
		since = NONE;
	ck_assert_msg(since == row[_i].since, "%s: since %llu", row[_i].what,
		      (unsigned long long)since);
}
END_TEST

Suite *suite_charges(void)
{
	Suite *suite = suite_create("charges");
	TCase *t = tcase_create("ends");

	tcase_add_loop_test(t, what_is_left_of_a_wait, 0, sizeof(row) / sizeof(row[0]));
	suite_add_tcase(suite, t);
	return suite;
}
