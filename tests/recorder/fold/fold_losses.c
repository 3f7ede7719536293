/* fold_losses.c - a fold that has not seen all, has no room, or is told nonsense (fold:F6). */
#include <errno.h>
#include <stdlib.h>
#include "recorder/fold/private.h"
#include "fold_fixture.h"

static const uint64_t lock = 0x1000;

START_TEST(a_wait_that_a_lost_event_may_have_ended_is_left_out_and_counted)
{
	struct trc_view *block = view_of(TRC_VIEW_BLOCK, 1, 0);
	struct trc_view *mutex = view_of(TRC_VIEW_MUTEX, 1, 0);

	park(100, 1, TRC_REASON_MUTEX, lock, 9, 7);
	gap(150, 3);
	park(160, 2, TRC_REASON_MUTEX, lock, 9, 8);
	unlock(180, 9, lock, 50, 0);
	resume(190, 1, TRC_REASON_MUTEX, lock, 0);
	resume(195, 2, TRC_REASON_MUTEX, lock, 0);
	ck_assert_uint_eq(copied(block, 300)->lost_events, 3);
	ck_assert_uint_eq(copied(block, 300)->left_out, 1);
	ck_assert_int_eq(value_of(7, COUNT), -1);
	ck_assert_int_eq(value_of(8, DELAY), 35);
	ck_assert_uint_eq(copied(mutex, 300)->left_out, 1);
	ck_assert_int_eq(value_of(50, COUNT), 1);
	ck_assert_int_eq(value_of(50, DELAY), 20);
}
END_TEST

START_TEST(losses_are_told_to_those_in_whose_window_they_lie)
{
	struct trc_view *early = view_of(TRC_VIEW_BLOCK, 1, 0), *late;

	gap(100, 3);
	trc_fold_pass(fold, 150);
	late = view_of(TRC_VIEW_BLOCK, 1, 150);
	trc_fold_lost(fold, 160, 170, 0);
	ck_assert_uint_eq(copied(early, 300)->lost_events, 4);
	ck_assert_uint_eq(copied(late, 300)->lost_events, 1);
}
END_TEST

START_TEST(a_resume_without_a_park_is_left_out)
{
	struct trc_view *block = view_of(TRC_VIEW_BLOCK, 1, 0);
	struct trc_view *mutex = view_of(TRC_VIEW_MUTEX, 1, 0);

	resume(100, 1, TRC_REASON_MUTEX, lock, 0);
	resume(110, 2, TRC_REASON_COND, lock, 0);
	resume(120, 2, TRC_REASON_SLEEP, 0, 0);
	ck_assert_uint_eq(copied(block, 300)->left_out, 2);
	ck_assert_uint_eq(copied(mutex, 300)->left_out, 1);
	ck_assert_uint_eq(rows_copied(), 0);
}
END_TEST

START_TEST(rows_without_room_are_left_out)
{
	const struct trc_view_options options = {.kind = TRC_VIEW_BLOCK, .rows_max = 16};
	struct trc_view *view = view_with(&options, 0);

	for (uint64_t i = 0; i < 40; i++) {
		park(100 * i + 1, 1, TRC_REASON_SEM, lock, 0, i + 1);
		resume(100 * i + 11, 1, TRC_REASON_SEM, lock, 0);
	}
	copied(view, 10000);
	ck_assert_uint_eq(rows_copied(), 16);
	ck_assert_uint_eq(copied(view, 10000)->left_out, 40 - rows_copied());
	ck_assert_int_eq(value_of(1, DELAY), 10);
}
END_TEST

/* Nobody says up to when events are complete: at some point there is no room. */
START_TEST(events_without_room_are_lost_and_counted)
{
	enum { N = 200000 };
	struct trc_view *view;
	const struct trc_folded_head *head;
	uint64_t counted;

	fold_tear_down();
	fold_set_up_small(8 << 20);
	view = view_of(TRC_VIEW_BLOCK, 1, 0);
	for (uint64_t i = 0; i < N; i++) {
		park(100 * i + 1, 1, TRC_REASON_SEM, lock, 0, 7);
		resume(100 * i + 11, 1, TRC_REASON_SEM, lock, 0);
	}
	head = copied(view, 100 * N);
	ck_assert_uint_gt(head->lost_events, 0);
	/* What came before the first loss is in no doubt. */
	ck_assert_int_gt(value_of(7, COUNT), 1000);
	ck_assert_int_eq(value_of(7, DELAY), 10 * value_of(7, COUNT));
	counted = 2 * ((uint64_t)value_of(7, COUNT) + head->left_out) + head->lost_events;
	ck_assert(counted == 2 * N || counted == 2 * N + 1); /* the last one's end may be lost */
	park(101 * N, 1, TRC_REASON_SEM, lock, 0, 8);
	resume(102 * N, 1, TRC_REASON_SEM, lock, 0);
	copied(view, 103 * N);
	ck_assert_int_eq(value_of(8, DELAY), N);
}
END_TEST

/* fold:F1: stacks and labels that nothing cites make room for others. */
START_TEST(memory_is_bounded_and_used_again)
{
	enum { ROUNDS = 40, EACH = 5000 };
	struct trc_view *view;
	uint64_t time = 1;

	fold_tear_down();
	fold_set_up_small(8 << 20);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		view = view_of(TRC_VIEW_BLOCK, 1, time);
		for (uint64_t i = 1; i <= EACH; i++, time += 100) {
			park(time, 1, TRC_REASON_SEM, lock, 0, round * EACH + i);
			resume(time + 10, 1, TRC_REASON_SEM, lock, 0);
			if (i % 100 == 0)
				trc_fold_pass(fold, time + 10);
		}
		ck_assert_uint_eq(copied(view, time)->left_out, 0);
		ck_assert_uint_eq(copied(view, time)->without_stack, 0);
		ck_assert_uint_eq(rows_copied(), EACH);
		ck_assert_int_eq(value_of(round * EACH + 1, DELAY), 10);
		ck_assert_int_eq(value_of(round * EACH + EACH, DELAY), 10);
		trc_view_remove(fold, view);
	}
}
END_TEST

/* A park of which no stack is known is not disproved by anything. */
START_TEST(parks_that_never_end_do_not_pile_up)
{
	enum { N = 1000 };
	struct trc_view *view = view_of(TRC_VIEW_BLOCK, 1, 0);
	const struct trc_folded_head *head;

	for (uint64_t i = 0; i < N; i++)
		park(100 * i, 1, TRC_REASON_SEM, lock, 0, 0);
	park(100 * N, 1, TRC_REASON_SEM, lock, 0, 7);
	resume(100 * N + 10, 1, TRC_REASON_SEM, lock, 0);
	head = copied(view, 200 * N);
	ck_assert_int_eq(value_of(7, DELAY), 10);
	ck_assert_uint_ge(head->left_out, N - TRC_FOLD_OPEN_MAX);
}
END_TEST

/* More than there is room for, whose ends were lost: they make room, those seen since do not. */
START_TEST(threads_whose_end_was_lost_do_not_pile_up)
{
	enum { N = 10000, LATE = N + 10, SECOND = 1000000000 };
	struct trc_view *view;
	uint64_t time = 1, old[2] = {0}, later[2] = {0}; /* and what was before: nothing */

	fold_tear_down();
	fold_set_up_small(8 << 20);
	old[0] = labels_id("who", "old");
	later[0] = labels_id("who", "later");
	view = view_of(TRC_VIEW_CPU, 0, 0);
	for (uint32_t i = 1; i <= N; i++, time++)
		put_at(0, time, i, TRC_KIND_LABELS, old);
	put_at(0, time, LATE, TRC_KIND_LABELS, later); /* no room, and nothing was lost */
	sample(time + 1, LATE, 1, 1, 0, 7);
	time += SECOND;
	gap(time, 3);
	put_at(0, time + 1, 1, TRC_KIND_LABELS, old);
	time += 20 * (uint64_t)SECOND;
	put_at(0, time, LATE, TRC_KIND_LABELS, later);
	sample(time + 1, LATE, 1, 1, 0, 8);
	sample(time + 1, 1, 1, 1, 0, 8);
	sample(time + 1, 2, 1, 1, 0, 8);
	copied(view, time + 2);
	ck_assert_int_eq(labelled_value(7, "", COUNT), 1);
	ck_assert_int_eq(labelled_value(8, "who=later", COUNT), 1);
	ck_assert_int_eq(labelled_value(8, "who=old", COUNT), 1);
	ck_assert_int_eq(labelled_value(8, "", COUNT), 1);
}
END_TEST

/* The unlock that they would be charged to never comes; another lock's does. */
START_TEST(waits_that_were_given_up_do_not_pile_up)
{
	enum { N = 20000, EACH = 100000 };
	struct trc_view *view;
	const struct trc_folded_head *head;
	uint64_t time = EACH;

	fold_tear_down();
	fold_set_up_small(8 << 20);
	view = view_of(TRC_VIEW_MUTEX, 1, 0);
	for (uint64_t i = 0; i < N; i++, time += EACH) {
		park(time, 1, TRC_REASON_MUTEX, lock, 2, 7);
		resume(time + 10, 1, TRC_REASON_MUTEX, lock, ETIMEDOUT);
		if (i % 100 == 0)
			trc_fold_pass(fold, time);
	}
	park(time, 1, TRC_REASON_MUTEX, lock + 64, 2, 7);
	unlock(time + 50, 2, lock + 64, 8, time + 40);
	resume(time + 60, 1, TRC_REASON_MUTEX, lock + 64, 0);
	head = copied(view, time + 70);
	ck_assert_int_eq(value_of(8, COUNT), 1);
	ck_assert_int_eq(value_of(8, DELAY), 40);
	ck_assert_uint_gt(head->left_out, 0);
	/* Those that are left are charged as ever: none is missing that is not told. */
	unlock(time + 80, 2, lock, 9, time + 80);
	head = copied(view, time + 100);
	ck_assert_int_gt(value_of(9, COUNT), 100);
	ck_assert_int_eq(value_of(9, DELAY), 10 * value_of(9, COUNT));
	ck_assert_uint_eq((uint64_t)value_of(9, COUNT) + head->left_out, N);
}
END_TEST

static uint64_t random_word(void)
{
	uint64_t n = (uint64_t)mrand48() << 32 ^ (uint64_t)mrand48();

	switch (lrand48() % 4) {
	case 0:
		return n;
	case 1:
		return UINT64_MAX - n % 3;
	case 2:
		return n % 4;
	default:
		return n % 100000;
	}
}

/* What lies in a mapping may be anything. */
START_TEST(events_that_make_no_sense_do_no_harm)
{
	struct trc_view *view[6];

	fold_tear_down();
	fold_set_up_small(8 << 20);
	srand48(_i + 1);
	for (int kind = 0; kind < 6; kind++)
		view[kind] = view_of((enum trc_view_kind)kind, random_word() % 3000, 0);
	for (uint64_t i = 0; i < 20000; i++) {
		struct trc_event e = {.time = lrand48() % 8 ? 10 * i : random_word(),
				      .thread = lrand48() % 8 ? (uint32_t)lrand48() % 20
							      : (uint32_t)random_word(),
				      .proc = (uint32_t)random_word() % 9,
				      .kind = (uint8_t)(lrand48() % (TRC_KIND_COUNT + 2)),
				      .source = (uint8_t)(lrand48() % 4)};

		for (int a = 0; a < TRC_ARGS_MAX; a++)
			e.arg[a] = random_word();
		trc_fold_event(fold, tables, &e);
		if (i % 100 == 0)
			trc_fold_pass(fold, 10 * i);
		if (i % 5000 == 0)
			copied(view[i / 5000], 10 * i);
	}
	for (int kind = 0; kind < 6; kind++)
		copied(view[kind], kind ? UINT64_MAX : 200000);
	trc_view_remove(fold, view[TRC_VIEW_HEAP]);
	trc_fold_lost(fold, 0, UINT64_MAX, UINT64_MAX);
	copied(view[TRC_VIEW_BLOCK], 0);
}
END_TEST

START_TEST(views_are_refused_when_there_are_too_many)
{
	const struct trc_view_options options = {.kind = TRC_VIEW_CPU};
	const struct trc_view_options none = {.kind = (enum trc_view_kind)99};
	struct trc_view *view[TRC_VIEWS_MAX], *more;

	for (int i = 0; i < TRC_VIEWS_MAX; i++)
		view[i] = view_with(&options, 0);
	ck_assert_int_eq(trc_view_add(fold, &more, &options, 0), -ENOSPC);
	trc_view_remove(fold, view[5]);
	ck_assert_int_eq(trc_view_add(fold, &more, &none, 0), -EINVAL);
	ck_assert_int_eq(trc_view_add(fold, &more, &options, 0), 0);
	trc_view_remove(fold, NULL);
}
END_TEST

START_TEST(what_cannot_be_folded_is_refused)
{
	struct trc_fold_options options = {.ticks_per_second = 0, .n_procs = 1};
	struct trc_fold *f = NULL;

	ck_assert_int_eq(trc_fold_open(&f, &options), -EINVAL);
	options = (struct trc_fold_options){.ticks_per_second = 1};
	ck_assert_int_eq(trc_fold_open(&f, &options), -EINVAL);
	options.n_procs = 16385;
	ck_assert_int_eq(trc_fold_open(&f, &options), -EINVAL);
	ck_assert_ptr_null(f);
	options = (struct trc_fold_options){
		.ticks_per_second = 1, .n_procs = 16384, .memory_bytes = 1};
	ck_assert_int_eq(trc_fold_open(&f, &options), 0);
	trc_fold_close(f);
	trc_fold_close(NULL);
}
END_TEST

TCase *fold_losses_case(void)
{
	TCase *t = tcase_create("losses");

	tcase_add_test(t, a_wait_that_a_lost_event_may_have_ended_is_left_out_and_counted);
	tcase_add_test(t, losses_are_told_to_those_in_whose_window_they_lie);
	tcase_add_test(t, a_resume_without_a_park_is_left_out);
	tcase_add_test(t, rows_without_room_are_left_out);
	tcase_add_test(t, events_without_room_are_lost_and_counted);
	tcase_add_test(t, memory_is_bounded_and_used_again);
	tcase_add_test(t, parks_that_never_end_do_not_pile_up);
	tcase_add_test(t, threads_whose_end_was_lost_do_not_pile_up);
	tcase_add_test(t, waits_that_were_given_up_do_not_pile_up);
	tcase_add_loop_test(t, events_that_make_no_sense_do_no_harm, 0, 20);
	tcase_add_test(t, views_are_refused_when_there_are_too_many);
	tcase_add_test(t, what_cannot_be_folded_is_refused);
	return t;
}
