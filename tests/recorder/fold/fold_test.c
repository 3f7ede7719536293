/* fold_test.c - what a fold makes of waits and unlocks (fold:F3 and fold:F4). */
#include <errno.h>
#include <stdlib.h>
#include "format/waits.h"
#include "recorder/fold/private.h"
#include "fold_fixture.h"

static const uint64_t lock = 0x1000;

/* ---- which waits, and how long (fold:F3, fold:F4) ------------------------------------- */

START_TEST(a_wait_counts_at_the_stack_where_it_began)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 0, 7);
	resume(130, 1, TRC_REASON_MUTEX, lock, 0);
	park(200, 1, TRC_REASON_COND, lock, 0, 7);
	resume(201, 1, TRC_REASON_COND, lock, 0);
	park(300, 2, TRC_REASON_JOIN, 0, 0, 8);
	resume(400, 2, TRC_REASON_JOIN, 0, 0);
	copied(view, 1000);
	ck_assert_uint_eq(rows_copied(), 2);
	ck_assert_int_eq(value_of(7, COUNT), 2);
	ck_assert_int_eq(value_of(7, DELAY), 31);
	ck_assert_int_eq(value_of(8, COUNT), 1);
	ck_assert_int_eq(value_of(8, DELAY), 100);
}
END_TEST

static const struct trc_view_options all_waits = {
	.kind = TRC_VIEW_BLOCK, .rate = 1, .all_waits = true};

START_TEST(waits_for_the_outside_world_are_not_contention)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0), *all = view_with(&all_waits, 0);

	for (unsigned int reason = 1; reason < TRC_REASON_COUNT; reason++) {
		park(1000 * reason, 1, reason, lock, 0, reason);
		resume(1000 * reason + 10, 1, reason, lock, 0);
	}
	copied(view, 100000);
	for (unsigned int reason = 1; reason < TRC_REASON_COUNT; reason++) {
		enum trc_wait_class class = trc_wait_class(reason);
		bool counts = class == TRC_WAIT_LOCKS || class == TRC_WAIT_THREADS;

		ck_assert_msg(value_of(reason, DELAY) == (counts ? 10 : -1), "%s",
			      trc_reason_name(reason));
	}
	copied(all, 100000);
	for (unsigned int reason = 1; reason < TRC_REASON_COUNT; reason++)
		ck_assert_msg(value_of(reason, DELAY) == 10, "%s", trc_reason_name(reason));
}
END_TEST

START_TEST(a_wait_in_progress_counts_as_long_as_it_has_lasted)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 0, 7);
	copied(view, 150);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_int_eq(value_of(7, DELAY), 50);
	copied(view, 170);
	ck_assert_int_eq(value_of(7, DELAY), 70);
	resume(180, 1, TRC_REASON_MUTEX, lock, 0);
	copied(view, 200);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_int_eq(value_of(7, DELAY), 80);
}
END_TEST

static const struct {
	const char *what;
	uint64_t park, resume, begin, until;
	int64_t count, delay;
} cuts[] = {
	{"before the window", 10, 20, 100, 200, -1, -1},
	{"up to where it begins", 10, 100, 100, 200, -1, -1},
	{"into the window", 10, 120, 100, 200, 1, 20},
	{"from where it begins", 100, 120, 100, 200, 1, 20},
	{"inside of it", 110, 120, 100, 200, 1, 10},
	{"of no length", 110, 110, 100, 200, 1, 0},
	{"beyond its end", 190, 300, 100, 200, 1, 10},
	{"all over it", 10, 300, 100, 200, 1, 100},
	{"from where it ends", 200, 300, 100, 200, 1, 0},
	{"behind it", 201, 300, 100, 200, -1, -1},
};

START_TEST(a_wait_is_cut_where_the_window_is)
{
	struct trc_view *view;

	if (cuts[_i].park < 100)
		park(cuts[_i].park, 1, TRC_REASON_MUTEX, lock, 0, 7);
	if (cuts[_i].resume < 100)
		resume(cuts[_i].resume, 1, TRC_REASON_MUTEX, lock, 0);
	trc_fold_pass(fold, 99);
	view = view_of(TRC_VIEW_BLOCK, 1, cuts[_i].begin);
	if (cuts[_i].park >= 100)
		park(cuts[_i].park, 1, TRC_REASON_MUTEX, lock, 0, 7);
	if (cuts[_i].resume >= 100)
		resume(cuts[_i].resume, 1, TRC_REASON_MUTEX, lock, 0);
	ck_assert_uint_eq(copied(view, cuts[_i].until)->end, cuts[_i].until);
	ck_assert_msg(value_of(7, COUNT) == cuts[_i].count, "%s: %ld", cuts[_i].what,
		      (long)value_of(7, COUNT));
	ck_assert_msg(value_of(7, DELAY) == cuts[_i].delay, "%s: %ld", cuts[_i].what,
		      (long)value_of(7, DELAY));
}
END_TEST

/* A wait that the program announced is made of others: each view takes off what lies in its window.
 */
START_TEST(a_wait_within_a_wait_is_taken_off_the_outer_one)
{
	struct trc_view *early = view_of(TRC_VIEW_BLOCK, 1, 0), *late;
	struct trc_view *all = view_with(&all_waits, 0), *all_late;

	park(100, 1, TRC_REASON_USER, 1, 0, 7);
	park(110, 1, TRC_REASON_MUTEX, lock, 0, 8);
	resume(140, 1, TRC_REASON_MUTEX, lock, 0);
	park(150, 1, TRC_REASON_SLEEP, 2, 0, 9);
	park(155, 1, TRC_REASON_SEM, 3, 0, 10);
	trc_fold_pass(fold, 160);
	late = view_of(TRC_VIEW_BLOCK, 1, 160);
	all_late = view_with(&all_waits, 160);
	copied(early, 170);
	ck_assert_int_eq(value_of(7, DELAY), 70 - 30 - 15);
	ck_assert_int_eq(value_of(10, DELAY), 15);
	copied(all, 170);
	ck_assert_int_eq(value_of(7, DELAY), 70 - 30 - 20);
	ck_assert_int_eq(value_of(9, DELAY), 20 - 15);
	ck_assert_int_eq(value_of(10, DELAY), 15);
	resume(180, 1, TRC_REASON_SEM, 3, 0);
	resume(190, 1, TRC_REASON_SLEEP, 2, 0);
	resume(200, 1, TRC_REASON_USER, 1, 0);
	copied(early, 300);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_int_eq(value_of(7, DELAY), 100 - 30 - 25);
	ck_assert_int_eq(value_of(8, DELAY), 30);
	ck_assert_int_eq(value_of(9, DELAY), -1);
	ck_assert_int_eq(value_of(10, DELAY), 25);
	copied(late, 300);
	ck_assert_int_eq(value_of(7, DELAY), 40 - 20);
	ck_assert_int_eq(value_of(10, DELAY), 20);
	copied(all, 300);
	ck_assert_int_eq(value_of(7, DELAY), 100 - 30 - 40);
	ck_assert_int_eq(value_of(8, DELAY), 30);
	ck_assert_int_eq(value_of(9, DELAY), 40 - 25);
	ck_assert_int_eq(value_of(10, DELAY), 25);
	copied(all_late, 300);
	ck_assert_int_eq(value_of(7, DELAY), 40 - 30);
	ck_assert_int_eq(value_of(9, DELAY), 30 - 20);
	ck_assert_int_eq(value_of(10, DELAY), 20);
}
END_TEST

START_TEST(a_wait_told_when_it_is_over_counts_from_its_beginning)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 50), *all = view_with(&all_waits, 50);

	put_at(0, 90, 1, TRC_KIND_WAIT, (uint64_t[TRC_ARGS_MAX]){TRC_REASON_FLOCK, 3, 20, 0, stack_id(7)});
	put_at(0, 95, 1, TRC_KIND_WAIT, (uint64_t[TRC_ARGS_MAX]){TRC_REASON_READ, 3, 90, 0, stack_id(8)});
	copied(view, 100);
	ck_assert_int_eq(value_of(7, DELAY), 40);
	ck_assert_int_eq(value_of(8, DELAY), -1);
	copied(all, 100);
	ck_assert_int_eq(value_of(7, DELAY), 40);
	ck_assert_int_eq(value_of(8, DELAY), 5);
}
END_TEST

/* parks:K3, parks:K4. */
START_TEST(a_wait_that_was_left_ended_when_that_showed)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 0, 7);
	put_at(0, 120, 1, TRC_KIND_THREAD_EXIT, NULL);
	park(200, 2, TRC_REASON_MUTEX, lock, 0, 8); /* and again at the same place: longjmp() */
	park(210, 2, TRC_REASON_MUTEX, lock, 0, 8);
	resume(215, 2, TRC_REASON_MUTEX, lock, 0);
	put_at(0, 300, 3, TRC_KIND_REGION_BEGIN, (uint64_t[TRC_ARGS_MAX]){0, 0});
	park(310, 3, TRC_REASON_SEM, 3, 0, 9);
	put_at(0, 330, 3, TRC_KIND_REGION_END, NULL);
	park(400, 4, TRC_REASON_SEM, 3, 0, 10); /* the thread has gone on, somehow */
	put_at(0, 440, 4, TRC_KIND_ACQUIRE, (uint64_t[TRC_ARGS_MAX]){1, 2, 0});
	copied(view, 500);
	ck_assert_int_eq(value_of(7, DELAY), 20);
	ck_assert_int_eq(value_of(8, COUNT), 2);
	ck_assert_int_eq(value_of(8, DELAY), 15);
	ck_assert_int_eq(value_of(9, DELAY), 20);
	ck_assert_int_eq(value_of(10, DELAY), 40);
	ck_assert_uint_eq(copied(view, 500)->left_out, 0);
}
END_TEST

/* It is recorded when the wait has begun (recorder/interpose/cond.c). */
START_TEST(a_wait_for_a_condition_gives_up_its_mutex_and_goes_on)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	park(100, 1, TRC_REASON_COND, 2 * lock, 0, 7);
	unlock(101, 1, lock, 7, 99);
	resume(150, 1, TRC_REASON_COND, 2 * lock, 0);
	park(200, 1, TRC_REASON_SEM, lock, 0, 8); /* and left, as this was done there again */
	unlock(210, 1, lock, 8, 0);
	ck_assert_uint_eq(copied(view, 500)->left_out, 0);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_int_eq(value_of(7, DELAY), 50);
	ck_assert_int_eq(value_of(8, DELAY), 10);
}
END_TEST

static void told(uint64_t since, uint32_t thread, unsigned int reason, uint32_t holder,
		 uint64_t stack)
{
	const struct trc_status_entry wait = {.thread = thread,
					      .reason = (uint8_t)reason,
					      .holder = holder,
					      .object = lock,
					      .since = since,
					      .stack = (uint32_t)stack_id(stack)};

	trc_fold_thread_wait(fold, tables, &wait);
}

/* Who waits when a drain begins to be looked at: also for ever. */
START_TEST(waits_that_are_told_count_as_if_their_park_had_been_seen)
{
	struct trc_view *block = view_of(TRC_VIEW_BLOCK, 1, 100);
	struct trc_view *mutex = view_of(TRC_VIEW_MUTEX, 1, 100);

	told(50, 1, TRC_REASON_MUTEX, 9, 7);
	told(120, 2, TRC_REASON_MUTEX, 9, 8);
	told(60, 3, TRC_REASON_SEM, 0, 10);
	resume(110, 2, TRC_REASON_MUTEX, lock, 0);  /* of a wait before */
	park(121, 2, TRC_REASON_MUTEX, lock, 9, 8); /* that told of the same one */
	unlock(200, 9, lock, 50, 0);
	resume(210, 1, TRC_REASON_MUTEX, lock, 0);
	park(220, 1, TRC_REASON_MUTEX, lock, 0, 7);
	resume(230, 1, TRC_REASON_MUTEX, lock, 0);
	ck_assert_uint_eq(copied(block, 300)->left_out, 0);
	told(225, 2, TRC_REASON_SEM, 9, 7); /* another is known */
	copied(block, 300);
	ck_assert_int_eq(value_of(7, COUNT), 2);
	ck_assert_int_eq(value_of(7, DELAY), 110 + 10);
	ck_assert_int_eq(value_of(8, COUNT), 1);
	ck_assert_int_eq(value_of(8, DELAY), 180);
	ck_assert_int_eq(value_of(10, DELAY), 200);
	copied(mutex, 300);
	ck_assert_int_eq(value_of(50, COUNT), 2);
	ck_assert_int_eq(value_of(50, DELAY), 100 + 80);
}
END_TEST

/* Nobody looked for a while; then it is seen to go on. */
START_TEST(a_wait_that_is_seen_after_a_loss_is_in_no_doubt)
{
	struct trc_view *block = view_of(TRC_VIEW_BLOCK, 1, 0);
	struct trc_view *mutex = view_of(TRC_VIEW_MUTEX, 1, 0);

	park(50, 1, TRC_REASON_MUTEX, lock, 9, 7);
	park(60, 2, TRC_REASON_MUTEX, lock, 9, 8);
	trc_fold_pass(fold, 100);
	trc_fold_lost(fold, 100, 110, 0);
	told(50, 1, TRC_REASON_MUTEX, 9, 7);
	unlock(200, 9, lock, 50, 0);
	resume(210, 1, TRC_REASON_MUTEX, lock, 0);
	copied(block, 300);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_int_eq(value_of(7, DELAY), 160);
	ck_assert_int_eq(value_of(8, COUNT), -1);
	copied(mutex, 300);
	ck_assert_int_eq(value_of(50, COUNT), 1);
	ck_assert_int_eq(value_of(50, DELAY), 200 - 111);
}
END_TEST

START_TEST(streams_are_merged_by_time)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	/* The thread moves from proc to proc; the last one is drained first. */
	put_at(2, 400, 1, TRC_KIND_RESUME, (uint64_t[TRC_ARGS_MAX]){TRC_REASON_MUTEX, lock, 0});
	put_at(1, 200, 1, TRC_KIND_RESUME, (uint64_t[TRC_ARGS_MAX]){TRC_REASON_MUTEX, lock, 0});
	put_at(1, 300, 1, TRC_KIND_PARK, (uint64_t[TRC_ARGS_MAX]){TRC_REASON_MUTEX, lock, 0, stack_id(8)});
	trc_fold_pass(fold, 50);
	put_at(0, 100, 1, TRC_KIND_PARK, (uint64_t[TRC_ARGS_MAX]){TRC_REASON_MUTEX, lock, 0, stack_id(7)});
	trc_fold_pass(fold, 350);
	ck_assert_uint_eq(copied(view, 500)->left_out, 0);
	ck_assert_int_eq(value_of(7, DELAY), 100);
	ck_assert_int_eq(value_of(8, DELAY), 100);
}
END_TEST

START_TEST(waits_have_the_labels_that_their_thread_had_when_they_began)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);
	uint64_t a = labels_id("tenant", "a"), b = labels_id("tenant", "b");

	trc_fold_thread_labels(fold, tables, 1, (uint32_t)a);
	park(100, 1, TRC_REASON_MUTEX, lock, 0, 7);
	resume(110, 1, TRC_REASON_MUTEX, lock, 0);
	put_at(0, 120, 1, TRC_KIND_LABELS, (uint64_t[TRC_ARGS_MAX]){b, a});
	park(130, 1, TRC_REASON_MUTEX, lock, 0, 7);
	put_at(0, 140, 1, TRC_KIND_LABELS, (uint64_t[TRC_ARGS_MAX]){0, b});
	resume(150, 1, TRC_REASON_MUTEX, lock, 0);
	park(160, 1, TRC_REASON_MUTEX, lock, 0, 7);
	resume(190, 1, TRC_REASON_MUTEX, lock, 0);
	copied(view, 200);
	ck_assert_uint_eq(rows_copied(), 3);
	ck_assert_int_eq(labelled_value(7, "tenant=a", DELAY), 10);
	ck_assert_int_eq(labelled_value(7, "tenant=b", DELAY), 20);
	ck_assert_int_eq(labelled_value(7, "", DELAY), 30);
}
END_TEST

/* ---- unlocks --------------------------------------------------------------------------- */

/* Two wait while the holder changes: each piece goes to who let go at its end. */
START_TEST(each_unlock_is_charged_with_the_waiting_since_the_one_before)
{
	struct trc_view *view = view_of(TRC_VIEW_MUTEX, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 9, 7);
	park(120, 2, TRC_REASON_MUTEX, lock, 9, 7);
	unlock(200, 9, lock, 50, 0);
	resume(205, 1, TRC_REASON_MUTEX, lock, 0);
	unlock(300, 1, lock, 51, 0);
	resume(310, 2, TRC_REASON_MUTEX, lock, 0);
	unlock(400, 2, lock, 52, 0); /* nobody waits any more */
	copied(view, 1000);
	ck_assert_int_eq(value_of(50, COUNT), 2);
	ck_assert_int_eq(value_of(50, DELAY), 100 + 80);
	ck_assert_int_eq(value_of(51, COUNT), 1);
	ck_assert_int_eq(value_of(51, DELAY), 100);
	ck_assert_int_eq(value_of(52, COUNT), -1);
	ck_assert_int_eq(value_of(7, COUNT), -1);
}
END_TEST

/* It was done before the waiter went on, and recorded after. */
START_TEST(an_unlock_counts_when_it_was_done)
{
	struct trc_view *view = view_of(TRC_VIEW_MUTEX, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 9, 7);
	resume(205, 1, TRC_REASON_MUTEX, lock, 0);
	unlock(300, 1, lock, 51, 290);
	trc_fold_pass(fold, 300);
	unlock(20000200, 9, lock, 50, 200);
	park(20000300, 2, TRC_REASON_MUTEX, lock, 9, 7);
	trc_fold_pass(fold, 21000000);
	copied(view, 30000000);
	ck_assert_int_eq(value_of(50, COUNT), 1);
	ck_assert_int_eq(value_of(50, DELAY), 100);
	ck_assert_int_eq(value_of(51, COUNT), -1);
}
END_TEST

START_TEST(an_unlock_that_comes_too_late_is_taken_as_if_done_after_the_last)
{
	struct trc_view *view = view_of(TRC_VIEW_MUTEX, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 9, 7);
	park(210, 2, TRC_REASON_MUTEX, lock, 9, 7);
	unlock(300, 9, lock, 51, 300);
	trc_fold_pass(fold, 100000000);
	unlock(100000001, 8, lock, 50, 200);
	resume(100000002, 1, TRC_REASON_MUTEX, lock, 0);
	resume(100000003, 2, TRC_REASON_MUTEX, lock, 0);
	copied(view, 200000000);
	ck_assert_int_eq(value_of(51, COUNT), 2);
	ck_assert_int_eq(value_of(51, DELAY), 200 + 90);
	ck_assert_int_eq(value_of(50, COUNT), 2);
	ck_assert_int_eq(value_of(50, DELAY), 0);
}
END_TEST

/* Who parks between the unlock and its record has none in its wait; who gives up neither. */
START_TEST(waits_without_an_unlock_are_charged_as_the_analyzer_does)
{
	struct trc_view *view = view_of(TRC_VIEW_MUTEX, 1, 0);

	unlock(100, 9, lock, 50, 0);
	park(150, 1, TRC_REASON_MUTEX, lock, 9, 7);
	resume(170, 1, TRC_REASON_MUTEX, lock, 0);
	park(180, 1, TRC_REASON_MUTEX, lock, 8, 7); /* not of this holder */
	resume(190, 1, TRC_REASON_MUTEX, lock, 0);
	park(200, 2, TRC_REASON_MUTEX, lock, 9, 7);
	resume(230, 2, TRC_REASON_MUTEX, lock, ETIMEDOUT);
	unlock(300, 9, lock, 51, 0);
	park(310, 2, TRC_REASON_MUTEX, lock, 9, 7);
	resume(350, 2, TRC_REASON_MUTEX, lock, ETIMEDOUT);
	unlock(400, 8, lock, 52, 0); /* not by the holder */
	copied(view, 1000);
	ck_assert_int_eq(value_of(50, COUNT), 1);
	ck_assert_int_eq(value_of(50, DELAY), 20);
	ck_assert_int_eq(value_of(51, COUNT), 1);
	ck_assert_int_eq(value_of(51, DELAY), 30);
	ck_assert_int_eq(value_of(52, COUNT), -1);
}
END_TEST

START_TEST(nobody_is_charged_while_nobody_holds_the_lock)
{
	struct trc_view *view = view_of(TRC_VIEW_MUTEX, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 9, 7);
	park(120, 2, TRC_REASON_MUTEX, lock, 9, 7);
	unlock(200, 9, lock, 50, 0);
	park(260, 3, TRC_REASON_MUTEX, lock, 9, 7);
	unlock_held(300, 8, lock, 51, 50); /* from 250 on */
	resume(310, 1, TRC_REASON_MUTEX, lock, 0);
	resume(320, 2, TRC_REASON_MUTEX, lock, ETIMEDOUT);
	resume(330, 3, TRC_REASON_MUTEX, lock, ETIMEDOUT);
	unlock_held(340, 1, lock, 52, 30); /* from 310 on: two gave up meanwhile */
	copied(view, 1000);
	ck_assert_int_eq(value_of(50, DELAY), 100 + 80);
	ck_assert_int_eq(value_of(51, COUNT), 3);
	ck_assert_int_eq(value_of(51, DELAY), 50 + 50 + 40);
	ck_assert_int_eq(value_of(52, COUNT), 2);
	ck_assert_int_eq(value_of(52, DELAY), 10 + 20);
}
END_TEST

START_TEST(an_unlock_is_charged_with_what_lies_in_the_window)
{
	struct trc_view *view;

	park(10, 1, TRC_REASON_MUTEX, lock, 9, 7);
	park(90, 2, TRC_REASON_MUTEX, lock, 9, 7);
	trc_fold_pass(fold, 100);
	view = view_of(TRC_VIEW_MUTEX, 1, 100);
	park(110, 3, TRC_REASON_MUTEX, lock, 9, 7);
	unlock(130, 9, lock, 50, 0);
	resume(131, 1, TRC_REASON_MUTEX, lock, 0);
	unlock(150, 1, lock, 51, 0);
	unlock(170, 1, 2 * lock, 52, 0);
	copied(view, 140);
	ck_assert_int_eq(value_of(50, COUNT), 3);
	ck_assert_int_eq(value_of(50, DELAY), 30 + 30 + 20);
	ck_assert_int_eq(value_of(51, COUNT), -1); /* still holds it: charged to nobody yet */
	copied(view, 160);
	ck_assert_int_eq(value_of(51, DELAY), 20 + 20);
}
END_TEST

START_TEST(an_unlock_before_the_window_is_not_in_it)
{
	struct trc_view *view;

	park(10, 1, TRC_REASON_MUTEX, lock, 9, 7);
	unlock(120, 9, lock, 50, 90); /* recorded in the window, done before it */
	trc_fold_pass(fold, 80);
	view = view_of(TRC_VIEW_MUTEX, 1, 100);
	resume(125, 1, TRC_REASON_MUTEX, lock, 0);
	copied(view, 200);
	ck_assert_uint_eq(rows_copied(), 0);
}
END_TEST

static TCase *waits_case(void)
{
	TCase *t = tcase_create("waits");

	tcase_add_test(t, a_wait_counts_at_the_stack_where_it_began);
	tcase_add_test(t, waits_for_the_outside_world_are_not_contention);
	tcase_add_test(t, a_wait_in_progress_counts_as_long_as_it_has_lasted);
	tcase_add_loop_test(t, a_wait_is_cut_where_the_window_is, 0,
			    sizeof(cuts) / sizeof(cuts[0]));
	tcase_add_test(t, a_wait_within_a_wait_is_taken_off_the_outer_one);
	tcase_add_test(t, a_wait_told_when_it_is_over_counts_from_its_beginning);
	tcase_add_test(t, a_wait_that_was_left_ended_when_that_showed);
	tcase_add_test(t, a_wait_for_a_condition_gives_up_its_mutex_and_goes_on);
	tcase_add_test(t, waits_that_are_told_count_as_if_their_park_had_been_seen);
	tcase_add_test(t, a_wait_that_is_seen_after_a_loss_is_in_no_doubt);
	tcase_add_test(t, streams_are_merged_by_time);
	tcase_add_test(t, waits_have_the_labels_that_their_thread_had_when_they_began);
	tcase_add_test(t, each_unlock_is_charged_with_the_waiting_since_the_one_before);
	tcase_add_test(t, an_unlock_counts_when_it_was_done);
	tcase_add_test(t, an_unlock_that_comes_too_late_is_taken_as_if_done_after_the_last);
	tcase_add_test(t, waits_without_an_unlock_are_charged_as_the_analyzer_does);
	tcase_add_test(t, nobody_is_charged_while_nobody_holds_the_lock);
	tcase_add_test(t, an_unlock_is_charged_with_what_lies_in_the_window);
	tcase_add_test(t, an_unlock_before_the_window_is_not_in_it);
	return t;
}

int main(void)
{
	TCase *cases[] = {waits_case(), fold_fibers_case(), fold_losses_case(), fold_rates_case()};
	Suite *suite = suite_create("fold");
	SRunner *runner;
	int failed;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tcase_add_checked_fixture(cases[i], fold_set_up, fold_tear_down);
		tcase_set_timeout(cases[i], 120);
		suite_add_tcase(suite, cases[i]);
	}
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
