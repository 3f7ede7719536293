/*
 * test_open_waits.c - which waits in progress a round looks at.
 *
 * The process is this one, and its eight threads are made by hand: of places that lead nowhere no stack is found,
 * but each look is known by its finding.
 */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>
#include "fake_ring.h"
#include "recorder/drain/open_waits.h"
#include "tests/suite.h"

enum { SLOTS = 8 };

static struct fake f;
static struct trc_open_waits *waits;
static int mem_fd;

static void begin(void)
{
	fake_init_alone(&f, 8192);
	atomic_store(&f.shared->next_serial, SLOTS);
	atomic_store(&f.shared->ready_slots, SLOTS);
	mem_fd = trc_open_waits_memory(getpid());
	waits = trc_open_waits_new();
	ck_assert(mem_fd >= 0 && waits);
}

static void end(void)
{
	trc_open_waits_free(waits);
	close(mem_fd);
	fake_free(&f);
}

/* The thread of slot i begins a new wait. */
static struct trc_slot *wait_begin(uint32_t i, uint64_t after)
{
	struct trc_slot *slot = fake_slot(&f, i, i + 1, 100 + i, "waits");

	atomic_store(&slot->wait_reason, TRC_REASON_READ);
	atomic_store(&slot->wait_object, 0);
	atomic_store(&slot->wait_since, fake_time(&f, after));
	atomic_store(&slot->wait_pc, 16);
	return slot;
}

/* Waits from before 100 are old, those from before 200 young. */
static void look(uint32_t young_max)
{
	const struct trc_open_waits_at at = {.mapping = f.shared,
					     .fd = -1,
					     .header = f.shared,
					     .pid = getpid(),
					     .mem_fd = &mem_fd,
					     .young_until = fake_time(&f, 200),
					     .young_max = young_max};

	ck_assert(trc_open_waits_look(waits, &at, fake_time(&f, 100)));
}

/* "1" for each slot whose present wait was looked at. */
static const char *found(void)
{
	static char text[SLOTS + 1];
	struct trc_slot *slot = trc_slot_at(f.shared, 0);
	struct trc_wait_found what;

	for (uint32_t i = 0; i < SLOTS; i++)
		text[i] =
			trc_open_waits_find(waits, i, atomic_load(&slot[i].seq), &what) ? '1' : '-';
	return text;
}

START_TEST(old_waits_are_all_looked_at_and_young_ones_are_not)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		wait_begin(i, i % 2 ? 50 : 150);
	look(0);
	ck_assert_str_eq(found(), "-1-1-1-1");
}
END_TEST

START_TEST(of_young_waits_a_round_looks_at_so_many_besides_all_old_ones)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		wait_begin(i, i == 7 ? 50 : 150);
	look(3);
	ck_assert_str_eq(found(), "111----1");
	look(3);
	ck_assert_str_eq(found(), "111111-1");
	look(3);
	ck_assert_str_eq(found(), "11111111");
}
END_TEST

START_TEST(waits_that_are_younger_still_are_left_to_a_later_round)
{
	wait_begin(0, 250);
	wait_begin(1, 150);
	look(3);
	ck_assert_str_eq(found(), "-1------");
}
END_TEST

START_TEST(threads_that_wait_anew_before_each_round_keep_no_other_out)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		wait_begin(i, 150);
	for (int round = 0; round < 2; round++) {
		look(4);
		for (uint32_t i = 0; i < 4; i++)
			wait_begin(i, 150);
	}
	ck_assert_str_eq(found(), "----1111");
	/* All had their turn, and it begins again. */
	look(4);
	look(4);
	ck_assert_str_eq(found(), "11111111");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waits in progress");
	TCase *t = tcase_create("waits in progress");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, old_waits_are_all_looked_at_and_young_ones_are_not);
	tcase_add_test(t, of_young_waits_a_round_looks_at_so_many_besides_all_old_ones);
	tcase_add_test(t, waits_that_are_younger_still_are_left_to_a_later_round);
	tcase_add_test(t, threads_that_wait_anew_before_each_round_keep_no_other_out);
	suite_add_tcase(suite, t);
	return suite_run(suite);
}
