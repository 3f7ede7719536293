/* test_locks.c - what each unlock of a lock is charged with while threads wait for it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "format/waits/locks.h"
#include "tests/format/common.h"

enum { STEPS = 10, WAITERS = 4, BETWEEN = 10, HOLDER = 9, OTHER = 8 };

enum step { NONE, BEGIN, END, UNLOCK };

static const struct {
	const char *what;
	struct {
		enum step step;
		uint64_t at;
		unsigned int who; /* BEGIN, END: which waiter; UNLOCK: which thread */
		uint64_t more;	  /* BEGIN: holder; END: result; UNLOCK: when it was taken */
	} s[STEPS];
	uint64_t from;
	/* Of each unlock "waiters:sum", each that gave up before it "+" and what it is charged with
	 * of that; of each end W woken, L charged to the last unlock, - neither, ? kept. */
	const char *then;
} row[] = {
	{"an unlock is charged with all that waits",
	 {{BEGIN, 100, 0, 0}, {BEGIN, 110, 1, 0}, {UNLOCK, 150, HOLDER, 0}}, 0, "2:90 "},
	{"the next one with what they waited since",
	 {{BEGIN, 100, 0, 0}, {BEGIN, 110, 1, 0}, {UNLOCK, 150, HOLDER, 0}, {END, 155, 0, 0},
	  {UNLOCK, 170, OTHER, 0}, {END, 180, 1, 0}}, 0, "2:90 W1:20 W"},
	{"what a waiter waited before the section began is charged to nobody",
	 {{BEGIN, 100, 0, 0}, {BEGIN, 130, 1, 0}, {UNLOCK, 150, HOLDER, 120}}, 0, "2:50 "},
	{"a section cannot have begun before the last one ended",
	 {{BEGIN, 100, 0, 0}, {UNLOCK, 120, HOLDER, 0}, {UNLOCK, 150, OTHER, 110}}, 0, "1:20 1:30 "},
	{"nor after it ended itself",
	 {{BEGIN, 100, 0, 0}, {UNLOCK, 120, HOLDER, 130}}, 0, "1:20 "},
	{"of a window only what lies in it; those that wait are counted",
	 {{BEGIN, 100, 0, 0}, {BEGIN, 145, 1, 0}, {UNLOCK, 150, HOLDER, 0}}, 140, "2:15 "},
	{"who has ended is charged to nobody any more, in whatever order they end",
	 {{BEGIN, 100, 0, 0}, {BEGIN, 101, 1, 0}, {BEGIN, 102, 2, 0}, {END, 110, 1, 0},
	  {UNLOCK, 120, HOLDER, 0}, {END, 130, 2, 0}, {END, 140, 0, 0}, {UNLOCK, 150, OTHER, 0}},
	 0, "-2:38 WW0:0 "},
	{"a wait that is told late comes to its place",
	 {{BEGIN, 110, 0, 0}, {BEGIN, 100, 1, 0}, {UNLOCK, 120, HOLDER, 105}}, 0, "2:25 "},
	{"what was charged before it was told stays",
	 {{UNLOCK, 100, HOLDER, 0}, {BEGIN, 90, 0, 0}, {UNLOCK, 120, HOLDER, 0}}, 0, "0:0 1:20 "},
	{"an unlock that is told late does not count those that came after it",
	 {{BEGIN, 100, 0, 0}, {BEGIN, 130, 1, 0}, {UNLOCK, 120, HOLDER, 0}, {UNLOCK, 140, OTHER, 0}},
	 0, "1:20 2:30 "},
	{"a wait in which nobody unlocked is the holder's who unlocked just before",
	 {{UNLOCK, 95, HOLDER, 0}, {BEGIN, 100, 0, HOLDER}, {END, 110, 0, 0}}, 0, "0:0 L"},
	{"who gave up is kept for the next unlock",
	 {{BEGIN, 100, 0, HOLDER}, {BEGIN, 105, 1, OTHER}, {END, 120, 0, ETIMEDOUT},
	  {END, 125, 1, ETIMEDOUT}, {UNLOCK, 140, HOLDER, 0}, {UNLOCK, 150, HOLDER, 0}},
	 0, "??0:0+0+20 0:0 "},
	{"much that waits long does not overflow",
	 {{BEGIN, 1, 0, 0}, {BEGIN, 1, 1, 0}, {BEGIN, 1, 2, 0}, {UNLOCK, UINT64_MAX, HOLDER, 0}},
	 0, "3:55340232221128654842 "},
};

static FILE *said;

static void say_sum(uint64_t n, unsigned __int128 sum)
{
	const uint64_t part = 10000000000;

	fprintf(said, "%" PRIu64 ":", n);
	if (sum >= part)
		fprintf(said, "%" PRIu64 "%010" PRIu64, (uint64_t)(sum / part), (uint64_t)(sum % part));
	else
		fprintf(said, "%" PRIu64, (uint64_t)sum);
}

static void unlock(struct trc_waited_lock *lock, const struct trc_charge_unlock *by, uint64_t from)
{
	const struct trc_lock_waiter *waiter;
	unsigned __int128 sum;
	uint64_t n = trc_lock_waited(lock, by, from, &sum), since;
	bool charged;

	say_sum(n, sum);
	while ((waiter = trc_lock_take_gave_up(lock, by, &charged, &since)))
		fprintf(said, "+%" PRIu64, charged ? waiter->wait.end - since : 0);
	fputc(' ', said);
	trc_lock_unlocks(lock, by);
}

START_TEST(what_unlocks_are_charged_with)
{
	struct trc_lock_waiter waiter[WAITERS] = {{.newer = NULL}};
	struct trc_waited_lock lock = {.newest = NULL};
	char text[100] = "";

	said = fmemopen(text, sizeof(text), "w");
	for (unsigned int i = 0; i < STEPS && row[_i].s[i].step; i++) {
		uint64_t at = row[_i].s[i].at, more = row[_i].s[i].more;
		unsigned int who = row[_i].s[i].who;

		switch (row[_i].s[i].step) {
		case BEGIN:
			waiter[who].wait.start = at;
			waiter[who].wait.holder = (uint32_t)more;
			trc_lock_wait_begins(&lock, &waiter[who]);
			break;
		case END:
			waiter[who].wait.end = at;
			fputc("-WL?"[trc_lock_wait_ends(&lock, &waiter[who], (int)more, BETWEEN)],
			      said);
			break;
		default:
			unlock(&lock, &(struct trc_charge_unlock){at, more, who}, row[_i].from);
		}
	}
	fclose(said);
	ck_assert_msg(!strcmp(text, row[_i].then), "%s: %s, not %s", row[_i].what, text,
		      row[_i].then);
}
END_TEST

Suite *suite_locks(void)
{
	Suite *suite = suite_create("locks");
	TCase *t = tcase_create("locks");

	tcase_add_loop_test(t, what_unlocks_are_charged_with, 0, sizeof(row) / sizeof(row[0]));
	suite_add_tcase(suite, t);
	return suite;
}
