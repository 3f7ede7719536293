/*
 * heap_test.c - how far it is to the next sample, and the table of objects that live.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/sampling/heap.h"
#include "recorder/sampling/heap_draw.h"
#include "recorder/sampling/heap_table.h"
#include "recorder/ring/rec.h"
#include "tests/sanitized.h"
#include "tests/suite.h"

/* ---- distances --------------------------------------------------------------------------- */

/* Splitmix64: the same numbers in each run. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

START_TEST(logarithms_are_as_those_of_libm)
{
	uint64_t state = 1, random;

	for (int i = 0; i < 100000; i++) {
		random = next(&state) >> (i % 60);
		if (!random)
			continue;
		if (fabs((double)trc_heap_log2(random) / 4294967296.0 - 64 + log2((double)random)) >
		    1e-8)
			ck_abort_msg("-log2(%lu / 2^64)", (unsigned long)random);
	}
	ck_assert_uint_eq(trc_heap_log2(UINT64_C(1) << 63), UINT64_C(1) << 32);
	ck_assert_uint_eq(trc_heap_log2(1), UINT64_C(64) << 32);
}
END_TEST

/* s bytes hold the next one that is drawn with probability 1 - exp(-s / period). */
START_TEST(distances_are_exponential)
{
	static const uint64_t periods[] = {2, 7, 4096, 512 << 10, TRC_HEAP_PERIOD_MAX};
	const int n = 200000;

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		uint64_t period = periods[i], state = i;
		uint64_t bytes[] = {1, period / 10 + 1, period, 3 * period};
		int within[4] = {0};

		for (int k = 0; k < n; k++) {
			uint64_t distance = trc_heap_distance(next(&state), period);

			for (int j = 0; j < 4; j++)
				within[j] += distance && distance <= bytes[j];
		}
		for (int j = 0; j < 4; j++) {
			double p = 1 - exp(-(double)bytes[j] / (double)period);

			ck_assert_double_eq_tol(within[j], n * p, 4 * sqrt(n * p * (1 - p)) + 1);
		}
	}
}
END_TEST

START_TEST(a_period_of_one_leaves_nothing_out)
{
	uint64_t state = 5;

	for (int i = 0; i < 1000; i++)
		ck_assert_uint_eq(trc_heap_distance(next(&state), 1), 1);
	ck_assert_uint_ge(trc_heap_distance(0, TRC_HEAP_PERIOD_MAX), TRC_HEAP_PERIOD_MAX);
}
END_TEST

/* ---- the table --------------------------------------------------------------------------- */

static struct trc_heap_object object_of(uint64_t i)
{
	return (struct trc_heap_object){i, i * 3, i * 5};
}

static uint64_t address_of(uint64_t i)
{
	return UINT64_C(0x7f0000000000) + i * 48;
}

static bool filtered(uint64_t address)
{
	const void *object = (const void *)(uintptr_t)address;

	trc_switch.heap_filter = trc_heap_table_filter();
	if (!trc_heap_probably_knows(object))
		return false;
	/* Who asks this first misses none. */
	if (!trc_heap_may_know(object))
		ck_abort_msg("object at %lx is not known at first", (unsigned long)address);
	return true;
}

/* Takes and drops an object, which is there as it was put. */
static void end(uint64_t i)
{
	struct trc_heap_object was = {0};
	_Atomic uint64_t *key = trc_heap_table_take(address_of(i), &was);

	/* libcheck's own assertions are too slow for millions. */
	if (!key || was.sample != i || was.bytes != i * 3 || was.period != i * 5)
		ck_abort_msg("object %lu is not what it was", (unsigned long)i);
	trc_heap_table_drop(key, address_of(i));
}

static void put(uint64_t i)
{
	struct trc_heap_object object = object_of(i);

	if (!trc_heap_table_put(address_of(i), &object) || !filtered(address_of(i)))
		ck_abort_msg("no place for object %lu", (unsigned long)i);
}

START_TEST(objects_are_found_once)
{
	struct trc_heap_object was;
	_Atomic uint64_t *key;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	ck_assert_ptr_null(trc_heap_table_take(address_of(1), &was));
	put(1);
	ck_assert_ptr_null(trc_heap_table_take(address_of(2), &was));
	ck_assert_ptr_null(trc_heap_table_take(0, &was));
	ck_assert_ptr_null(trc_heap_table_take(TRC_HEAP_KEY_BUSY, &was));
	key = trc_heap_table_take(address_of(1), &was);
	ck_assert_ptr_nonnull(key);
	/* While it is taken nobody else finds it (heap_table:T2); put back it is there again. */
	ck_assert_ptr_null(trc_heap_table_take(address_of(1), &was));
	trc_heap_table_back(key, address_of(1));
	end(1);
	ck_assert_ptr_null(trc_heap_table_take(address_of(1), &was));
	ck_assert(!filtered(address_of(1)));
}
END_TEST

START_TEST(one_that_is_left_has_ended)
{
	struct trc_heap_object was;
	_Atomic uint64_t *key;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	put(1);
	key = trc_heap_table_take(address_of(1), &was);
	ck_assert_ptr_null(trc_heap_table_take_ended(address_of(1), &was));
	trc_heap_table_leave(key, address_of(1));
	ck_assert(filtered(address_of(1)));
	/* Another one with its address has not, and is another. */
	ck_assert_ptr_null(trc_heap_table_take(address_of(1), &was));
	put(1);
	end(1);
	ck_assert(filtered(address_of(1)));
	key = trc_heap_table_take_ended(address_of(1), &was);
	ck_assert_ptr_nonnull(key);
	ck_assert(was.sample == 1 && was.bytes == 3 && was.period == 5);
	trc_heap_table_drop(key, address_of(1));
	ck_assert(!filtered(address_of(1)));
}
END_TEST

/* heap_table:T5: two addresses that have the same places in both parts of the filter. */
START_TEST(one_in_a_cell_is_told_from_others)
{
	const struct trc_heap_object object = object_of(1);
	const uint64_t one = address_of(1), other = one ^ UINT64_C(1) << 44;
	struct trc_heap_object was;

	ck_assert_uint_eq(trc_heap_coarse_index(one), trc_heap_coarse_index(other));
	ck_assert_uint_eq(trc_heap_fine_index(one), trc_heap_fine_index(other));
	ck_assert_uint_ne(trc_heap_mark(one), trc_heap_mark(other));
	ck_assert_int_eq(trc_heap_table_open(), 0);
	ck_assert(trc_heap_table_put(one, &object));
	ck_assert(filtered(one) && !filtered(other));
	ck_assert(trc_heap_table_put(other, &object));
	ck_assert(filtered(one) && filtered(other));
	trc_heap_table_drop(trc_heap_table_take(one, &was), one);
	ck_assert(!filtered(one) && filtered(other));
	trc_heap_table_drop(trc_heap_table_take(other, &was), other);
	ck_assert(!filtered(one) && !filtered(other));
}
END_TEST

/* More than a cell can count: none of them is missed, ever. */
START_TEST(a_cell_that_has_lost_count_misses_none)
{
	const struct trc_heap_object object = object_of(1);
	const uint64_t n = 300, apart = UINT64_C(1) << 28;
	struct trc_heap_object was;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t address = address_of(1) + i * apart;

		ck_assert_uint_eq(trc_heap_coarse_index(address),
				  trc_heap_coarse_index(address_of(1)));
		ck_assert(trc_heap_table_put(address, &object));
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t address = address_of(1) + i * apart;

		ck_assert(filtered(address));
		trc_heap_table_drop(trc_heap_table_take(address, &was), address);
	}
}
END_TEST

static uint64_t resident_bytes(void)
{
	unsigned long size, resident;
	FILE *file = fopen("/proc/self/statm", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%lu %lu", &size, &resident), 2);
	fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

START_TEST(a_million_fit_in_100_megabytes)
{
	const uint64_t n = 1000000;
	uint64_t before;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	before = resident_bytes();
	for (uint64_t i = 1; i <= n; i++)
		put(i);
	if (!is_sanitized())
		ck_assert_uint_lt(resident_bytes() - before, 100000000);
	for (uint64_t i = 1; i <= n; i++)
		end(i);
	/* No count is lost, as none came near 255. */
	for (uint64_t i = 1; i <= n; i += 97)
		ck_assert(!filtered(address_of(i)));
}
END_TEST

START_TEST(a_few_take_little)
{
	uint64_t before;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	before = resident_bytes();
	for (uint64_t i = 1; i <= 1000; i++)
		put(i * 1000);
	if (!is_sanitized())
		ck_assert_uint_lt(resident_bytes() - before, 2000000);
}
END_TEST

START_TEST(full_is_said_and_passes)
{
	struct trc_heap_object object;
	uint64_t n = 0, i;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	do {
		object = object_of(++n);
	} while (trc_heap_table_put(address_of(n), &object) && n < 4000000);
	ck_assert_uint_gt(n, 1500000);
	ck_assert_uint_lt(n, 4000000);
	for (i = 1; i < n; i++)
		end(i);
	put(n);
	end(n);
}
END_TEST

START_TEST(opened_again_it_is_empty)
{
	struct trc_heap_object was;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	for (uint64_t i = 1; i <= 10000; i++)
		put(i);
	ck_assert_int_eq(trc_heap_table_open(), 0);
	ck_assert(!filtered(address_of(1)));
	for (uint64_t i = 1; i <= 10000; i++)
		ck_assert_ptr_null(trc_heap_table_take(address_of(i), &was));
}
END_TEST

/* Each thread has objects of its own, and hands every second one to its neighbour to end. */
enum { THREADS = 4, EACH = 20000 };
static _Atomic uint64_t handed[THREADS];

static void *hammer(void *argument)
{
	uint64_t me = (uint64_t)(uintptr_t)argument, got;

	for (uint64_t i = 0; i < EACH; i++) {
		put(1 + i * THREADS + me);
		if (i % 2) {
			end(1 + i * THREADS + me);
			continue;
		}
		/* acq_rel: the neighbour finds what was put; and the other way round. */
		got = atomic_exchange_explicit(&handed[(me + 1) % THREADS], 1 + i * THREADS + me,
					       memory_order_acq_rel);
		if (got)
			end(got);
	}
	return NULL;
}

START_TEST(threads_end_what_others_began)
{
	pthread_t thread[THREADS];

	ck_assert_int_eq(trc_heap_table_open(), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, hammer, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; i < THREADS; i++)
		end(handed[i]);
	for (uint64_t i = 1; i <= (uint64_t)EACH * THREADS; i++)
		if (filtered(address_of(i)))
			ck_abort_msg("object %lu is counted", (unsigned long)i);
}
END_TEST

START_TEST(a_forked_child_has_none)
{
	struct trc_heap_object was;
	int status = -1;
	pid_t child;

	ck_assert_int_eq(trc_heap_table_open(), 0);
	put(1);
	child = fork();
	if (!child)
		_exit(trc_heap_table_take(address_of(1), &was) != NULL || filtered(address_of(1)));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	end(1);
}
END_TEST

/* ---- users ------------------------------------------------------------------------------- */

START_TEST(the_finest_is_in_force)
{
	unsigned int a, b, c;

	trc_heap_session(true);
	ck_assert_uint_eq(trc_heap_period(), 0);
	ck_assert_int_eq(trc_heap_begin(4096, &a), 0);
	ck_assert_int_eq(trc_heap_begin(512, &b), 0);
	ck_assert_int_eq(trc_heap_begin(1 << 20, &c), 0);
	ck_assert_uint_eq(trc_heap_period(), 512);
	trc_heap_end(b);
	ck_assert_uint_eq(trc_heap_period(), 4096);
	ck_assert_int_eq(trc_heap_rate(c, 64), 0);
	ck_assert_uint_eq(trc_heap_period(), 64);
	ck_assert_int_eq(trc_heap_rate(b, 64), -EINVAL);
	/* heap:U3: only a session makes events, but users stay. */
	trc_heap_session(false);
	ck_assert_uint_eq(trc_heap_period(), 0);
	trc_heap_session(true);
	ck_assert_uint_eq(trc_heap_period(), 64);
	trc_heap_end(a);
	trc_heap_end(c);
	ck_assert_uint_eq(trc_heap_period(), 0);
	/* heap:U2 */
	ck_assert_ptr_nonnull((const void *)trc_switch.heap_filter);
	trc_heap_session(false);
	ck_assert_ptr_null((const void *)trc_switch.heap_filter);
}
END_TEST

/* However much was asked for: the next sample is as far away as any, and no further. */
START_TEST(what_failed_counts_for_nothing_afterwards)
{
	static const size_t asked[] = {0, 1000, SIZE_MAX / 2 + 1, SIZE_MAX - 5, SIZE_MAX};
	const uint64_t period = 4096, furthest = 45 * period; /* 64 * ln 2 */
	struct trc_heap_count before;
	unsigned int user;

	trc_heap_session(true);
	ck_assert_int_eq(trc_heap_begin(period, &user), 0);
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		before = trc_heap_counted();
		if (!trc_heap_passes(asked[i]))
			trc_heap_due(NULL, asked[i]);
		ck_assert(trc_heap_counted_since(before));
		ck_assert_uint_gt(trc_self.heap_left, 0);
		ck_assert_uint_le(trc_self.heap_left, furthest);
	}
	trc_self.heap_left = 100;
	trc_heap_allocated(NULL, 40);
	ck_assert_uint_eq(trc_self.heap_left, 100);
	trc_heap_allocated(asked, 40);
	ck_assert_uint_eq(trc_self.heap_left, 60);
	trc_heap_end(user);
	trc_heap_session(false);
}
END_TEST

/* How often 100 bytes are due, with `quiet_bytes` of the recorder's own between them. */
static int times_due(size_t quiet_bytes, int n)
{
	int n_due = 0;

	for (int i = 0; i < n; i++) {
		trc_self.quiet++;
		if (quiet_bytes && !trc_heap_passes(quiet_bytes))
			trc_heap_due(&n, quiet_bytes);
		trc_self.quiet--;
		if (trc_heap_passes(100))
			continue;
		n_due++;
		trc_heap_due(NULL, 100);
	}
	return n_due;
}

/* What the recorder allocates is not charged to who comes next. */
START_TEST(quiet_allocations_do_not_count)
{
	const int n = 400000;
	const double p = 1 - exp(-100.0 / 16384);
	unsigned int user;

	trc_heap_session(true);
	ck_assert_int_eq(trc_heap_begin(16384, &user), 0);
	trc_self.heap_period = 0;
	trc_self.heap_random = 4711; /* the same in each run */
	ck_assert_double_eq_tol(times_due(0, n), n * p, 4 * sqrt(n * p));
	ck_assert_double_eq_tol(times_due(200, n), n * p, 4 * sqrt(n * p));
	trc_heap_end(user);
	trc_heap_session(false);
}
END_TEST

START_TEST(bad_users_are_refused)
{
	unsigned int user[65];

	ck_assert_int_eq(trc_heap_begin(0, &user[0]), -EINVAL);
	ck_assert_int_eq(trc_heap_begin(TRC_HEAP_PERIOD_MAX + 1, &user[0]), -EINVAL);
	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(trc_heap_begin(1, &user[i]), 0);
	ck_assert_int_eq(trc_heap_begin(1, &user[64]), -EBUSY);
	ck_assert_int_eq(trc_heap_rate(64, 1), -EINVAL);
	trc_heap_end(64);
	for (int i = 0; i < 64; i++)
		trc_heap_end(user[i]);
	ck_assert_int_eq(trc_heap_rate(user[0], 1), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("heap");
	TCase *tc = tcase_create("heap");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, logarithms_are_as_those_of_libm);
	tcase_add_test(tc, distances_are_exponential);
	tcase_add_test(tc, a_period_of_one_leaves_nothing_out);
	tcase_add_test(tc, objects_are_found_once);
	tcase_add_test(tc, one_that_is_left_has_ended);
	tcase_add_test(tc, one_in_a_cell_is_told_from_others);
	tcase_add_test(tc, a_cell_that_has_lost_count_misses_none);
	tcase_add_test(tc, a_million_fit_in_100_megabytes);
	tcase_add_test(tc, a_few_take_little);
	tcase_add_test(tc, full_is_said_and_passes);
	tcase_add_test(tc, opened_again_it_is_empty);
	tcase_add_test(tc, threads_end_what_others_began);
	tcase_add_test(tc, a_forked_child_has_none);
	tcase_add_test(tc, the_finest_is_in_force);
	tcase_add_test(tc, what_failed_counts_for_nothing_afterwards);
	tcase_add_test(tc, quiet_allocations_do_not_count);
	tcase_add_test(tc, bad_users_are_refused);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
