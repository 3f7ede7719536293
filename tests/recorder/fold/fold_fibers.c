/* fold_fibers.c - what a fold makes of fibers that wait (fold:F3, fold:F4, fold:F6). */
#include "format/waits.h"
#include "recorder/fold/private.h"
#include "fold_fixture.h"

enum { ROOT = 0 };
static const uint64_t lock = 0x1000;

/* The thread leaves one and runs another. */
static void run(uint64_t time, uint32_t thread, uint64_t fiber, uint64_t left, unsigned int reason,
		uint64_t stack)
{
	put_at(0, time, thread, TRC_KIND_FIBER_SWITCH,
	       (uint64_t[TRC_ARGS_MAX]){fiber, left, 0, reason, 0, stack_id(stack)});
}

static void end(uint64_t time, uint32_t thread, uint64_t fiber)
{
	put_at(0, time, thread, TRC_KIND_FIBER_END, (uint64_t[TRC_ARGS_MAX]){fiber});
}

START_TEST(a_fiber_waits_from_where_it_is_left_until_any_thread_runs_it)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	run(100, 1, 5, ROOT, 0, 0);
	run(110, 1, 6, 5, TRC_REASON_USER, 7);
	run(150, 2, 5, ROOT, 0, 0);
	run(160, 2, ROOT, 5, TRC_REASON_USER, 7);
	run(170, 1, 5, 6, 0, 0); /* which could go on */
	run(190, 2, 6, ROOT, 0, 0);
	ck_assert_uint_eq(copied(view, 1000)->left_out, 0);
	ck_assert_uint_eq(rows_copied(), 1);
	ck_assert_int_eq(value_of(7, COUNT), 2);
	ck_assert_int_eq(value_of(7, DELAY), 40 + 10);
}
END_TEST

START_TEST(fibers_wait_for_what_threads_wait_for)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	for (unsigned int reason = 0; reason < TRC_REASON_COUNT; reason++) {
		run(1000 * reason, 1, ROOT, 5, reason, reason + 1);
		run(1000 * reason + 10, 1, 5, ROOT, 0, 0);
	}
	copied(view, 100000);
	for (unsigned int reason = 0; reason < TRC_REASON_COUNT; reason++) {
		enum trc_wait_class class = trc_wait_class(reason);
		bool counts = class == TRC_WAIT_LOCKS || class == TRC_WAIT_THREADS;

		ck_assert_msg(value_of(reason + 1, DELAY) == (counts ? 10 : -1), "%s",
			      trc_reason_name(reason));
	}
}
END_TEST

/* A scheduler that leaves its root fiber runs another one. */
START_TEST(the_root_fiber_does_not_wait)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	run(100, 1, 5, ROOT, TRC_REASON_USER, 7);
	run(200, 1, ROOT, 5, 0, 0);
	run(300, 2, 6, ROOT, TRC_REASON_USER, 7);
	ck_assert_uint_eq(copied(view, 1000)->left_out, 0);
	ck_assert_uint_eq(rows_copied(), 0);
}
END_TEST

START_TEST(a_fiber_that_waits_counts_as_long_as_it_has)
{
	struct trc_view *early = view_of(TRC_VIEW_BLOCK, 1, 0), *late;

	run(100, 1, ROOT, 5, TRC_REASON_USER, 7);
	run(100, 2, ROOT, 6, TRC_REASON_USER, 8);
	copied(early, 150);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_int_eq(value_of(7, DELAY), 50);
	late = view_of(TRC_VIEW_BLOCK, 1, 150);
	end(180, 2, 5); /* not waiting any more, and never again */
	run(190, 2, 6, ROOT, 0, 0);
	copied(early, 1000);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_int_eq(value_of(7, DELAY), 80);
	ck_assert_int_eq(value_of(8, DELAY), 90);
	copied(late, 1000);
	ck_assert_int_eq(value_of(7, DELAY), 30);
	ck_assert_int_eq(value_of(8, DELAY), 40);
}
END_TEST

/* The labels of who is left are in force at the switch. */
START_TEST(a_fiber_waits_with_the_labels_that_it_was_left_with)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);
	uint64_t a = labels_id("tenant", "a"), b = labels_id("tenant", "b");

	trc_fold_thread_labels(fold, tables, 1, (uint32_t)a);
	run(100, 1, 6, 5, TRC_REASON_USER, 7);
	put_at(0, 101, 1, TRC_KIND_LABELS, (uint64_t[TRC_ARGS_MAX]){b, a});
	run(110, 1, ROOT, 6, TRC_REASON_USER, 7);
	put_at(0, 111, 1, TRC_KIND_LABELS, (uint64_t[TRC_ARGS_MAX]){0, b});
	run(130, 1, 5, ROOT, 0, 0);
	put_at(0, 131, 1, TRC_KIND_LABELS, (uint64_t[TRC_ARGS_MAX]){a, 0});
	copied(view, 200);
	ck_assert_uint_eq(rows_copied(), 2);
	ck_assert_int_eq(labelled_value(7, "tenant=a", DELAY), 30);
	ck_assert_int_eq(labelled_value(7, "tenant=b", DELAY), 90);
}
END_TEST

START_TEST(short_waits_of_fibers_are_thinned_and_weighted)
{
	enum { N = 20000, RATE = 100, LASTED = 10, EACH = 1000 };
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, RATE, 0);
	double share;

	for (uint64_t i = 0; i < N; i++) {
		run(i * EACH, 1, ROOT, 5 + i % 3, TRC_REASON_USER, 7);
		run(i * EACH + LASTED, 1, 5 + i % 3, ROOT, 0, 0);
	}
	run(N * EACH, 1, ROOT, 5, TRC_REASON_USER, 8);
	run(N * EACH + RATE, 1, 5, ROOT, 0, 0);
	copied(view, 2 * N * EACH);
	ck_assert_int_eq(value_of(8, COUNT), 1);
	ck_assert_int_eq(value_of(8, DELAY), RATE);
	share = (double)value_of(7, COUNT) / N;
	ck_assert_double_ge(share, 0.8); /* one in ten: 4 sigma are 0.085 */
	ck_assert_double_le(share, 1.2);
	ck_assert_int_eq(value_of(7, DELAY), LASTED * value_of(7, COUNT));
}
END_TEST

/* ---- threads that run them ------------------------------------------------------------- */

/* A thread's waits are its own, whatever stacks it is on, and a fiber's are in none of them. */
START_TEST(a_thread_waits_on_one_stack_after_the_other)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	run(100, 1, 5, ROOT, 0, 0);
	park(110, 1, TRC_REASON_MUTEX, lock, 0, 7);
	resume(120, 1, TRC_REASON_MUTEX, lock, 0);
	run(130, 1, 6, 5, TRC_REASON_USER, 9);
	park(140, 1, TRC_REASON_MUTEX, lock, 0, 8);
	resume(170, 1, TRC_REASON_MUTEX, lock, 0);
	run(180, 1, ROOT, 6, 0, 0);
	park(190, 1, TRC_REASON_COND, lock, 0, 10);
	run(200, 2, 5, ROOT, 0, 0);
	resume(230, 1, TRC_REASON_COND, lock, 0);
	ck_assert_uint_eq(copied(view, 1000)->left_out, 0);
	ck_assert_int_eq(value_of(7, DELAY), 10);
	ck_assert_int_eq(value_of(8, DELAY), 30);
	ck_assert_int_eq(value_of(9, DELAY), 70);
	ck_assert_int_eq(value_of(10, DELAY), 40);
}
END_TEST

/* parks:K3: stacks that have nothing in common disprove nothing; this does. */
START_TEST(a_thread_that_runs_another_fiber_has_left_its_wait)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 0, 7);
	run(120, 1, 5, 6, 0, 0);
	park(130, 1, TRC_REASON_MUTEX, 2 * lock, 0, 8);
	copied(view, 135);
	ck_assert_int_eq(value_of(7, DELAY), 20);
	ck_assert_int_eq(value_of(8, DELAY), 5);
	resume(140, 1, TRC_REASON_MUTEX, 2 * lock, 0);
	park(200, 2, TRC_REASON_USER, 1, 0, 9); /* made of others */
	run(210, 2, 6, ROOT, 0, 0);
	park(220, 2, TRC_REASON_SEM, 1, 0, 10);
	resume(230, 2, TRC_REASON_SEM, 1, 0);
	resume(240, 2, TRC_REASON_USER, 1, 0);
	ck_assert_uint_eq(copied(view, 1000)->left_out, 0);
	ck_assert_int_eq(value_of(7, DELAY), 20);
	ck_assert_int_eq(value_of(8, DELAY), 10);
	ck_assert_int_eq(value_of(9, DELAY), 40 - 10);
	ck_assert_int_eq(value_of(10, DELAY), 10);
}
END_TEST

/* A region may begin on one thread and end on another; that ends no wait. */
START_TEST(regions_of_fibers_end_no_wait_of_a_thread)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	put_at(0, 100, 1, TRC_KIND_REGION_BEGIN, (uint64_t[TRC_ARGS_MAX]){0, 0});
	run(110, 1, ROOT, 5, 0, 0);
	park(120, 1, TRC_REASON_USER, 1, 0, 7);
	put_at(0, 130, 1, TRC_KIND_REGION_BEGIN, (uint64_t[TRC_ARGS_MAX]){0, 0});
	put_at(0, 140, 1, TRC_KIND_REGION_END, NULL);
	resume(150, 1, TRC_REASON_USER, 1, 0);
	run(160, 2, 5, ROOT, 0, 0);
	put_at(0, 170, 2, TRC_KIND_REGION_END, NULL);
	run(180, 2, ROOT, 5, 0, 0);
	park(190, 2, TRC_REASON_SEM, 1, 0, 8);
	resume(200, 2, TRC_REASON_SEM, 1, 0);
	copied(view, 1000);
	ck_assert_int_eq(value_of(7, DELAY), 30);
	ck_assert_int_eq(value_of(8, DELAY), 10);
}
END_TEST

/* ---- what was not seen (fold:F6) ------------------------------------------------------------ */

START_TEST(a_wait_of_a_fiber_that_a_lost_event_may_have_ended_is_left_out)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	run(100, 1, ROOT, 5, TRC_REASON_USER, 7);
	run(110, 1, ROOT, 6, TRC_REASON_USER, 7);
	gap(150, 3);
	run(160, 1, ROOT, 8, TRC_REASON_USER, 9);
	ck_assert_uint_eq(copied(view, 170)->left_out, 2); /* so far */
	ck_assert_uint_eq(copied(view, 170)->lost_events, 3);
	run(180, 1, 5, ROOT, 0, 0);
	run(190, 1, 8, 5, 0, 0);
	ck_assert_uint_eq(copied(view, 1000)->left_out, 2);
	ck_assert_int_eq(value_of(7, COUNT), -1);
	ck_assert_int_eq(value_of(9, DELAY), 30);
}
END_TEST

/* Its number is there again as that of one that ran: whatever it did in between. */
START_TEST(a_wait_of_a_fiber_that_ended_unseen_is_left_out)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	run(100, 1, ROOT, 5, TRC_REASON_USER, 7);
	run(200, 1, ROOT, 5, TRC_REASON_USER, 8);
	run(230, 1, 5, ROOT, 0, 0);
	run(300, 1, ROOT, 5, TRC_REASON_USER, 7);
	run(310, 1, ROOT, 5, 0, 0);
	run(320, 1, 5, ROOT, 0, 0);
	ck_assert_uint_eq(copied(view, 1000)->left_out, 2);
	ck_assert_uint_eq(rows_copied(), 1);
	ck_assert_int_eq(value_of(8, DELAY), 30);
}
END_TEST

/* It could have gone on, or slept, or been new: nothing tells of a wait. */
START_TEST(a_fiber_that_runs_for_the_first_time_did_not_wait_as_far_as_is_known)
{
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);

	run(100, 1, 5, ROOT, 0, 0);
	end(110, 1, 6);
	ck_assert_uint_eq(copied(view, 1000)->left_out, 0);
	ck_assert_uint_eq(rows_copied(), 0);
}
END_TEST

/* fold:F1; what a loss has put in doubt makes room, the others do not. */
START_TEST(more_fibers_than_there_is_room_for_are_left_out)
{
	enum { N = 20000 };
	struct trc_view *view;
	const struct trc_folded_head *head;
	uint64_t left_out, time = 1;

	fold_tear_down();
	fold_set_up_small(8 << 20);
	view = view_of(TRC_VIEW_BLOCK, 1, 0);
	for (uint64_t i = 1; i <= N; i++, time++) {
		run(time, 1, ROOT, i, TRC_REASON_USER, 7);
		if (i % 100 == 0)
			trc_fold_pass(fold, time);
	}
	head = copied(view, time);
	left_out = head->left_out;
	ck_assert_int_gt(value_of(7, COUNT), 1000);
	ck_assert_uint_eq((uint64_t)value_of(7, COUNT) + left_out, N);
	run(++time, 1, 1, ROOT, 0, 0); /* which is known, and now there is room for one */
	run(++time, 1, ROOT, N + 1, TRC_REASON_USER, 8);
	copied(view, time + 5);
	ck_assert_int_eq(value_of(8, DELAY), 5);
	gap(time += 10, 1);
	run(++time, 1, ROOT, N + 2, TRC_REASON_USER, 9);
	run(time += 10, 1, N + 2, ROOT, 0, 0);
	head = copied(view, time);
	ck_assert_int_eq(value_of(9, DELAY), 10);
	ck_assert_int_eq(value_of(7, COUNT), 1);
	ck_assert_uint_eq(head->left_out, N); /* all but fiber 1, and N + 1 */
}
END_TEST

/* Their stacks and labels are kept when there is little room. */
START_TEST(fibers_keep_their_stacks)
{
	enum { N = 300000 };
	struct trc_view *view;
	uint64_t time = 1;

	fold_tear_down();
	fold_set_up_small(8 << 20);
	view = view_of(TRC_VIEW_CPU, 0, 0);
	trc_fold_thread_labels(fold, tables, 1, (uint32_t)labels_id("who", "waits"));
	run(time++, 1, ROOT, 5, TRC_REASON_USER, 7);
	put_at(0, time++, 1, TRC_KIND_LABELS, (uint64_t[TRC_ARGS_MAX]){0, 0});
	for (uint64_t i = 0; i < N; i++, time++) {
		park(time, 2, TRC_REASON_SLEEP, 0, 0, 100 + i);
		resume(time, 2, TRC_REASON_SLEEP, 0, 0);
		if (i % 100 == 0)
			trc_fold_pass(fold, time);
	}
	trc_view_remove(fold, view);
	view = view_of(TRC_VIEW_BLOCK, 1, time);
	ck_assert_uint_eq(copied(view, time + 10)->without_stack, 0);
	ck_assert_int_eq(labelled_value(7, "who=waits", DELAY), 10);
}
END_TEST

TCase *fold_fibers_case(void)
{
	TCase *t = tcase_create("fibers");

	tcase_add_test(t, a_fiber_waits_from_where_it_is_left_until_any_thread_runs_it);
	tcase_add_test(t, fibers_wait_for_what_threads_wait_for);
	tcase_add_test(t, the_root_fiber_does_not_wait);
	tcase_add_test(t, a_fiber_that_waits_counts_as_long_as_it_has);
	tcase_add_test(t, a_fiber_waits_with_the_labels_that_it_was_left_with);
	tcase_add_test(t, short_waits_of_fibers_are_thinned_and_weighted);
	tcase_add_test(t, a_thread_waits_on_one_stack_after_the_other);
	tcase_add_test(t, a_thread_that_runs_another_fiber_has_left_its_wait);
	tcase_add_test(t, regions_of_fibers_end_no_wait_of_a_thread);
	tcase_add_test(t, a_wait_of_a_fiber_that_a_lost_event_may_have_ended_is_left_out);
	tcase_add_test(t, a_wait_of_a_fiber_that_ended_unseen_is_left_out);
	tcase_add_test(t, a_fiber_that_runs_for_the_first_time_did_not_wait_as_far_as_is_known);
	tcase_add_test(t, more_fibers_than_there_is_room_for_are_left_out);
	tcase_add_test(t, fibers_keep_their_stacks);
	return t;
}
