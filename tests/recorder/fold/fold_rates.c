/* fold_rates.c - what a fold makes of samples and allocations, and of rates (fold:F5). */
#include <math.h>
#include <stdlib.h>
#include "recorder/fold/private.h"
#include "fold_fixture.h"

static const uint64_t lock = 0x1000;

/* ---- rates (fold:F5) ------------------------------------------------------------------------ */

/* Within 3 standard errors: fails for one seed in 370, and seeds are fixed. */
static void ck_near(int64_t got, double expected, double variance, const char *what)
{
	ck_assert_msg(fabs((double)got - expected) <= 3 * sqrt(variance) + 0.5,
		      "%s: %ld instead of %.0f, more than 3 times %.1f off", what, (long)got,
		      expected, sqrt(variance));
}

/* As Go's test for bias: many short waits and few long ones come to the same total. */
START_TEST(a_block_rate_keeps_long_waits_and_the_expected_total)
{
	enum { RATE = 1000, SHORT = 40000, LONG = 4000 };
	struct trc_view *whole = view_of(TRC_VIEW_BLOCK, 1, 0);
	struct trc_view *thin = view_of(TRC_VIEW_BLOCK, RATE, 0);
	struct trc_view *thinner = view_of(TRC_VIEW_BLOCK, 10 * RATE, 0);
	uint64_t time = 0;

	for (int i = 0; i < SHORT; i++, time += 200) {
		park(time, 1, TRC_REASON_SEM, lock, 0, 7);
		resume(time + RATE / 10, 1, TRC_REASON_SEM, lock, 0);
		trc_fold_pass(fold, time);
	}
	for (int i = 0; i < LONG; i++, time += 2000) {
		park(time, 1, TRC_REASON_SEM, lock, 0, 8);
		resume(time + RATE, 1, TRC_REASON_SEM, lock, 0);
		trc_fold_pass(fold, time);
	}
	copied(whole, time);
	ck_assert_int_eq(value_of(7, COUNT), SHORT);
	ck_assert_int_eq(value_of(7, DELAY), SHORT * RATE / 10);
	copied(thin, time);
	ck_assert_int_eq(value_of(8, COUNT), LONG);
	ck_assert_int_eq(value_of(8, DELAY), LONG * RATE);
	/* Kept with probability 1/10, as 10 waits and a delay of RATE. */
	ck_near(value_of(7, COUNT), SHORT, SHORT * 0.1 * 0.9 * 100, "short waits");
	ck_near(value_of(7, DELAY), SHORT * RATE / 10, SHORT * 0.09 * RATE * RATE, "short delay");
	copied(thinner, time);
	ck_near(value_of(7, COUNT), SHORT, SHORT * 0.01 * 0.99 * 10000, "of 1/100");
	ck_near(value_of(8, COUNT), LONG, LONG * 0.1 * 0.9 * 100, "of 1/10");
	ck_near(value_of(8, DELAY), LONG * RATE, LONG * 0.09 * 1e8, "their delay");
}
END_TEST

START_TEST(a_mutex_fraction_keeps_the_expected_total)
{
	enum { N = 30000, FRACTION = 7 };
	struct trc_view *whole = view_of(TRC_VIEW_MUTEX, 1, 0);
	struct trc_view *thin = view_of(TRC_VIEW_MUTEX, FRACTION, 0);
	double each = 100, q = 1.0 / FRACTION;
	uint64_t time = 0;

	for (int i = 0; i < N; i++, time += 300) {
		park(time, 1, TRC_REASON_MUTEX, lock, 9, 7);
		unlock(time + 100, 9, lock, 50, 0);
		resume(time + 110, 1, TRC_REASON_MUTEX, lock, 0);
		trc_fold_pass(fold, time);
	}
	copied(whole, time);
	ck_assert_int_eq(value_of(50, COUNT), N);
	ck_assert_int_eq(value_of(50, DELAY), 100 * N);
	copied(thin, time);
	ck_assert_int_eq(value_of(50, COUNT) % FRACTION, 0);
	ck_near(value_of(50, COUNT), N, N * (1 - q) / q, "unlocks");
	ck_near(value_of(50, DELAY), each * N, each * each * N * (1 - q) / q, "delay");
}
END_TEST

START_TEST(samples_are_thinned_from_the_period_in_force)
{
	enum { N = 30000 };
	const struct trc_view_options first_only = {.kind = TRC_VIEW_CPU, .sample_event = 1};
	struct trc_view *all = view_of(TRC_VIEW_CPU, 0, 0), *one = view_with(&first_only, 0);
	struct trc_view *thin = view_of(TRC_VIEW_CPU, 4000, 0);

	for (uint64_t i = 0; i < N; i++) {
		sample(10 * i, 1, 1, 1000, 1000, 7); /* finer than 4000 */
		sample(10 * i + 1, 1, 1, 4000, 4000, 8);
		sample(10 * i + 2, 1, 2, 9000, 9000, 9); /* coarser */
		trc_fold_pass(fold, 10 * i);
	}
	put_at(0, 10 * N, 1, TRC_KIND_SAMPLES_LOST, (uint64_t[TRC_ARGS_MAX]){1, 5, TRC_SAMPLE_LOSS_BUSY});
	put_at(0, 10 * N, 1, TRC_KIND_SAMPLES_LOST, (uint64_t[TRC_ARGS_MAX]){2, 7, TRC_SAMPLE_LOSS_BUSY});
	put_at(0, 10 * N, 0, TRC_KIND_SAMPLES_LOST, (uint64_t[TRC_ARGS_MAX]){0, 11, TRC_SAMPLE_LOSS_NO_ROOM});
	ck_assert_uint_eq(copied(all, 11 * N)->lost_samples, 23);
	ck_assert_uint_eq(copied(all, 11 * N)->lost_by_cause[TRC_SAMPLE_LOSS_BUSY], 12);
	ck_assert_uint_eq(copied(all, 11 * N)->lost_by_cause[TRC_SAMPLE_LOSS_NO_ROOM], 11);
	ck_assert_int_eq(value_of(7, COUNT), N);
	ck_assert_int_eq(value_of(9, 1), 9000 * N);
	ck_assert_uint_eq(copied(one, 11 * N)->lost_samples, 16);
	ck_assert_uint_eq(copied(one, 11 * N)->lost_value, 16 * 4000);
	ck_assert_uint_eq(copied(one, 11 * N)->alone_value, 0);
	ck_assert_int_eq(value_of(8, 1), 4000 * N);
	ck_assert_int_eq(value_of(9, 1), -1);
	put_at(0, 11 * N, 0, TRC_KIND_SAMPLES_LOST, (uint64_t[TRC_ARGS_MAX]){1, 3, TRC_SAMPLE_LOSS_NO_THREAD});
	ck_assert_uint_eq(copied(one, 12 * N)->lost_value, 19 * 4000);
	ck_assert_uint_eq(copied(one, 12 * N)->alone_value, 3 * 4000);
	copied(thin, 11 * N);
	ck_assert_int_eq(value_of(8, COUNT), N);
	ck_assert_int_eq(value_of(8, 1), 4000 * N);
	ck_assert_int_eq(value_of(9, 1), 9000 * N);
	ck_near(value_of(7, COUNT), N / 4.0, N * 0.25 * 0.75, "samples");
	ck_near(value_of(7, 1), 1000.0 * N, N * 0.25 * 0.75 * 4000 * 4000, "their value");
}
END_TEST

START_TEST(samples_without_labels_have_their_threads)
{
	struct trc_view *view = view_of(TRC_VIEW_CPU, 0, 0);
	uint64_t a = labels_id("tenant", "a"), b = labels_id("tenant", "b");

	put_at(0, 100, 1, TRC_KIND_LABELS, (uint64_t[TRC_ARGS_MAX]){a, 0});
	put_at(0, 110, 1, TRC_KIND_SAMPLE, (uint64_t[TRC_ARGS_MAX]){1, 10, 10, stack_id(7), 0});
	put_at(0, 120, 1, TRC_KIND_SAMPLE, (uint64_t[TRC_ARGS_MAX]){1, 10, 10, stack_id(7), b});
	put_at(0, 130, 2, TRC_KIND_SAMPLE, (uint64_t[TRC_ARGS_MAX]){1, 10, 10, 0, 0});
	ck_assert_uint_eq(copied(view, 200)->without_stack, 1);
	ck_assert_int_eq(labelled_value(7, "tenant=a", COUNT), 1);
	ck_assert_int_eq(labelled_value(7, "tenant=b", COUNT), 1);
	ck_assert_int_eq(labelled_value(0, "", COUNT), 1);
}
END_TEST

/* ---- allocations ----------------------------------------------------------------------- */

START_TEST(the_chance_is_that_of_the_exponential_distribution)
{
	for (double x = 1e-15; x < 100; x *= 1.01) {
		double expected = -expm1(-x), got = trc_fold_chance(x);

		ck_assert_msg(fabs(got - expected) <= 1e-13 * expected, "%g: %.17g, not %.17g", x,
			      got, expected);
	}
	ck_assert(trc_fold_chance(0) == 0);
	ck_assert(trc_fold_chance(1e300) == 1);
}
END_TEST

/* As in Go's own test, but rounded: {1 object of 524288 bytes} at that rate is 1.58 objects. */
START_TEST(an_allocation_stands_for_those_that_were_not_sampled)
{
	struct trc_view *view = view_of(TRC_VIEW_HEAP, 0, 0);

	allocated(1, 1, 524288, 524288, 7);
	for (uint64_t i = 0; i < 4; i++)
		allocated(2 + i, 10 + i, 1024, 524288, 8);
	freed(50, 10);
	allocated(60, 100, 333, 1, 9); /* every allocation is a sample */
	copied(view, 100);
	ck_assert_int_eq(value_of(7, OBJECTS), 2);
	ck_assert_int_eq(value_of(7, BYTES), 829411);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), 829411);
	ck_assert_int_eq(value_of(8, OBJECTS), 2050);
	ck_assert_int_eq(value_of(8, BYTES), 2099201);		       /* .7 */
	ck_assert_int_eq(value_of(8, LIVE_OBJECTS), 1538);	       /* 1537.5 */
	ck_assert_int_le(llabs(value_of(8, LIVE_BYTES) - 1574400), 1); /* .5 */
	ck_assert_int_eq(value_of(9, OBJECTS), 1);
	ck_assert_int_eq(value_of(9, BYTES), 333);
}
END_TEST

START_TEST(freed_objects_leave_nothing_behind_at_any_rate)
{
	enum { N = 5000 };
	struct trc_view *whole = view_of(TRC_VIEW_HEAP, 0, 0);
	struct trc_view *thin = view_of(TRC_VIEW_HEAP, 65536, 0);
	struct trc_view *allocs = view_of(TRC_VIEW_ALLOC, 65536, 0);

	for (uint64_t i = 0; i < N; i++)
		allocated(i, i, 16 + i % 5000, 1024, 7 + i % 3);
	copied(thin, N);
	ck_assert_int_gt(value_of(7, LIVE_OBJECTS), 0);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), value_of(7, BYTES));
	for (uint64_t i = 0; i < N; i++)
		freed(N + i, i);
	freed(2 * N, 3); /* again, and one that nobody knows */
	freed(2 * N, 3 * N);
	copied(whole, 3 * N);
	ck_assert_int_eq(value_of(7, LIVE_OBJECTS), 0);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), 0);
	copied(thin, 3 * N);
	ck_assert_int_eq(value_of(8, LIVE_OBJECTS), 0);
	ck_assert_int_eq(value_of(8, LIVE_BYTES), 0);
	ck_assert_int_gt(value_of(8, BYTES), 0);
	copied(allocs, 3 * N);
	ck_assert_int_gt(value_of(8, BYTES), 0);
	ck_assert_int_eq(value_of(8, LIVE_BYTES), 0);
}
END_TEST

/* Sampled at 1000, thinned to 8000 and to 30000: the truth is N objects, as a Poisson process would
 * have sampled them. */
START_TEST(allocations_thin_to_any_rate_without_bias)
{
	enum { N = 200000, BYTES_EACH = 700 };
	static const uint64_t rates[] = {0, 8000, 30000};
	struct trc_view *view[3];
	uint64_t number = 0;

	for (int v = 0; v < 3; v++)
		view[v] = view_of(TRC_VIEW_ALLOC, rates[v], 0);
	srand48(4);
	for (uint64_t i = 0; i < N; i++) {
		if (drand48() < trc_fold_chance(BYTES_EACH / 1000.0))
			allocated(i, ++number, BYTES_EACH, 1000, 7);
		trc_fold_pass(fold, i);
	}
	for (int v = 0; v < 3; v++) {
		double rate = rates[v] ? (double)rates[v] : 1000;
		double q = trc_fold_chance(BYTES_EACH / rate), variance = N * (1 - q) / q;

		copied(view[v], N);
		ck_near(value_of(7, OBJECTS), N, variance, "objects");
		ck_near(value_of(7, BYTES), (double)N * BYTES_EACH,
			variance * BYTES_EACH * BYTES_EACH, "bytes");
	}
}
END_TEST

/* A window counts what it allocated; with `live` it begins with what there is, or was before. */
START_TEST(a_window_of_the_heap_is_what_leaked_in_it)
{
	const struct trc_view_options with_live = {.kind = TRC_VIEW_HEAP, .live = true},
				      with_old = {.kind = TRC_VIEW_HEAP,
						  .live = true,
						  .live_before = 11};
	struct trc_view *whole = view_of(TRC_VIEW_HEAP, 0, 0), *window, *live, *old;

	allocated(10, 1, 100, 1, 7);
	allocated(11, 2, 1000, 1, 7);
	trc_fold_pass(fold, 15);
	allocated(18, 5, 5000, 1, 9); /* not merged yet when the window begins */
	window = view_of(TRC_VIEW_HEAP, 0, 20);
	live = view_with(&with_live, 20);
	old = view_with(&with_old, 20);
	allocated(30, 3, 10, 1, 7);
	allocated(31, 4, 20, 1, 8);
	freed(40, 1);
	freed(41, 4);
	copied(whole, 50);
	ck_assert_int_eq(value_of(7, BYTES), 1110);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), 1010);
	copied(window, 50);
	ck_assert_int_eq(value_of(7, BYTES), 10);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), 10);
	ck_assert_int_eq(value_of(8, LIVE_BYTES), 0);
	ck_assert_int_eq(value_of(9, BYTES), -1);
	copied(live, 50);
	ck_assert_int_eq(value_of(7, BYTES), 1110);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), 1010);
	ck_assert_int_eq(value_of(9, BYTES), 5000);
	ck_assert_int_eq(value_of(9, LIVE_BYTES), 5000);
	copied(old, 50);
	ck_assert_int_eq(value_of(7, BYTES), 110);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), 10);
	ck_assert_int_eq(value_of(9, BYTES), -1);
}
END_TEST

/* Sample `number` lies at `address`. */
static void object(uint64_t time, unsigned int kind, uint64_t number, uint64_t address,
		   uint64_t stack)
{
	put_at(0, time, 1, kind,
	       (uint64_t[TRC_ARGS_MAX]){number, address, 100, 1, kind == TRC_KIND_ALLOC ? stack_id(stack) : 0,
			    0});
}

/* Its free was lost, or told to another drain; or comes later, from another thread. */
START_TEST(what_lies_where_something_else_lay_ends_that)
{
	struct trc_view *view = view_of(TRC_VIEW_HEAP, 0, 0), *window;

	object(10, TRC_KIND_ALLOC, 1, 0x1000, 7);
	object(11, TRC_KIND_ALLOC, 2, 0x2000, 8);
	trc_fold_pass(fold, 15);
	window = view_of(TRC_VIEW_HEAP, 0, 20);
	gap(25, 1);
	object(30, TRC_KIND_ALLOC, 3, 0x1000, 9);
	object(31, TRC_KIND_FREE, 1, 0x1000, 0);
	copied(view, 40);
	ck_assert_int_eq(value_of(7, BYTES), 100);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), 0);
	ck_assert_int_eq(value_of(8, LIVE_BYTES), 100);
	ck_assert_int_eq(value_of(9, LIVE_BYTES), 100);
	copied(window, 40);
	ck_assert_int_eq(value_of(7, LIVE_BYTES), -1);
	ck_assert_int_eq(value_of(9, LIVE_BYTES), 100);
	object(50, TRC_KIND_FREE, 3, 0x1000, 0);
	object(51, TRC_KIND_ALLOC, 4, 0x1000, 9);
	object(52, TRC_KIND_FREE, 2, 0x2000, 0);
	copied(view, 60);
	ck_assert_int_eq(value_of(8, LIVE_OBJECTS), 0);
	ck_assert_int_eq(value_of(9, OBJECTS), 2);
	ck_assert_int_eq(value_of(9, LIVE_OBJECTS), 1);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------- */

START_TEST(threads_count_where_they_were_created)
{
	struct trc_view *view = view_of(TRC_VIEW_THREADCREATE, 0, 15);

	put_at(0, 10, 2, TRC_KIND_THREAD_START, (uint64_t[TRC_ARGS_MAX]){2000, 1, stack_id(7)});
	put_at(0, 20, 3, TRC_KIND_THREAD_START, (uint64_t[TRC_ARGS_MAX]){3000, 1, stack_id(7)});
	put_at(0, 30, 4, TRC_KIND_THREAD_START, (uint64_t[TRC_ARGS_MAX]){4000, 3, stack_id(7)});
	put_at(0, 40, 1, TRC_KIND_THREAD_START, (uint64_t[TRC_ARGS_MAX]){1000, 0, 0}); /* first seen */
	copied(view, 100);
	ck_assert_uint_eq(rows_copied(), 1);
	ck_assert_int_eq(value_of(7, COUNT), 2);
}
END_TEST

TCase *fold_rates_case(void)
{
	TCase *t = tcase_create("rates");

	tcase_add_test(t, a_block_rate_keeps_long_waits_and_the_expected_total);
	tcase_add_test(t, a_mutex_fraction_keeps_the_expected_total);
	tcase_add_test(t, samples_are_thinned_from_the_period_in_force);
	tcase_add_test(t, samples_without_labels_have_their_threads);
	tcase_add_test(t, the_chance_is_that_of_the_exponential_distribution);
	tcase_add_test(t, an_allocation_stands_for_those_that_were_not_sampled);
	tcase_add_test(t, freed_objects_leave_nothing_behind_at_any_rate);
	tcase_add_test(t, allocations_thin_to_any_rate_without_bias);
	tcase_add_test(t, a_window_of_the_heap_is_what_leaked_in_it);
	tcase_add_test(t, what_lies_where_something_else_lay_ends_that);
	tcase_add_test(t, threads_count_where_they_were_created);
	return t;
}
