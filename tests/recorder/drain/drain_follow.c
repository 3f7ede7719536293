/* drain_follow.c - a drain that only looks, while the rings go round. */
#include <string.h>
#include <sys/mman.h>
#include "drain_fixture.h"
#include "recorder/shared/clock.h"
#include "recorder/drain/private.h"

enum { RECORD_WORDS = 4 }; /* of put_counted() */

/* The numbers that came, and the gaps. */
static struct {
	uint64_t number[65536];
	size_t n;
	size_t n_gaps[TRC_GAP_CAUSE_COUNT];
} seen;

static void see(void *context, const struct trc_writer *writer, const struct trc_event *event)
{
	ck_assert_uint_lt(seen.n, sizeof(seen.number) / sizeof(*seen.number));
	if (event->kind == TRC_KIND_RELEASE)
		seen.number[seen.n++] = event->arg[0];
	else if (event->kind == TRC_KIND_GAP)
		seen.n_gaps[event->arg[2]]++;
}

static const struct trc_drain_observer observer = {.event = see};

/* Whatever it does to the mapping but read ends the test. */
static void only_to_be_read(bool so)
{
	ck_assert_int_eq(mprotect(f.shared, f.mapped_bytes, PROT_READ | (so ? 0 : PROT_WRITE)), 0);
}

static uint64_t look(void)
{
	uint64_t n;

	only_to_be_read(true);
	n = trc_drain_pass(f.drain);
	only_to_be_read(false);
	return n;
}

/* From now on a flight recorder's, and followed. */
static void follow(void)
{
	const struct trc_drain_options options = {.join = true, .never_wait = true, .follow = true};
	struct trc_writer_options wo = {.n_procs = FAKE_PROCS, .discard = true};

	memset(&seen, 0, sizeof(seen));
	f.overwrite = true;
	atomic_fetch_or(&f.shared->flags, TRC_SHARED_OVERWRITE);
	wo.clock = trc_clock_kind;
	wo.ticks_per_second = trc_clock_ticks_per_second();
	ck_assert_int_eq(trc_writer_open(&f.w, &wo, fake_sink, &f), 0);
	only_to_be_read(true);
	ck_assert_int_eq(trc_drain_open(&f.drain, f.shared, f.mapped_bytes, f.w, &options), 0);
	trc_drain_observe(f.drain, &observer);
	only_to_be_read(false);
}

static void set_up(void)
{
	fake_init_alone(&f, 16384);
	atomic_store(&f.shared->next_serial, 10);
}

static void tear_down(void)
{
	fake_free(&f);
}

static void put_numbers(uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		put_counted(0, i);
}

/* All numbers that came, which grow, and the last of them is `last`. */
static void expect_growing_to(uint64_t last)
{
	for (size_t i = 1; i < seen.n; i++)
		ck_assert_uint_gt(seen.number[i], seen.number[i - 1]);
	ck_assert_uint_gt(seen.n, 0);
	ck_assert_uint_eq(seen.number[seen.n - 1], last);
}

START_TEST(it_sees_what_comes_after_it_and_changes_nothing)
{
	struct trc_ring *ring = trc_ring_at(f.shared, 0);

	put_numbers(1, 10);
	follow();
	put_numbers(11, 100);
	fake_cell_put(&f, 600, 77, 500, 4);
	ck_assert_uint_eq(look(), 101);
	ck_assert_uint_eq(look(), 0);
	ck_assert_uint_eq(seen.n, 101);
	ck_assert_uint_eq(seen.number[0], 11);
	expect_growing_to(500);
	ck_assert_uint_eq(atomic_load(&ring->tail), 0);
	ck_assert_uint_eq(atomic_load(&fake_overflow(&f)->tail), 0);
	ck_assert_uint_eq(atomic_load(&f.shared->drain_state), TRC_DRAIN_NONE);
}
END_TEST

START_TEST(a_ring_that_goes_round_meanwhile_is_seen_whole_by_one_who_looks_often)
{
	struct trc_drain_totals totals;

	follow();
	for (uint64_t n = 1; n < 20000; n += 100) {
		put_numbers(n, 100);
		look();
	}
	trc_drain_totals(f.drain, &totals);
	ck_assert_uint_eq(totals.overwritten_words, 0);
	ck_assert_uint_eq(totals.lost_events, 0);
	ck_assert_uint_eq(seen.n, 20000);
	expect_growing_to(20000);
}
END_TEST

START_TEST(what_was_overwritten_before_it_looked_is_told)
{
	struct trc_ring *ring = trc_ring_at(f.shared, 0);
	struct trc_drain_totals totals;
	uint64_t head;

	follow();
	put_numbers(1, 100);
	look();
	put_numbers(101, 3000);
	look();
	put_numbers(3101, 100);
	look();
	head = atomic_load(&ring->head);
	trc_drain_totals(f.drain, &totals);
	ck_assert_uint_eq(seen.n_gaps[TRC_GAP_OVERWRITTEN], 1);
	ck_assert_uint_eq(totals.damaged, 0);
	expect_growing_to(3200);
	/* Of what was there between its looks a ring holds this much. */
	ck_assert_uint_ge(seen.n, 200 + 1024 / RECORD_WORDS);
	ck_assert_uint_le(seen.n, 200 + 2048 / RECORD_WORDS);
	ck_assert_uint_eq(totals.read_words + totals.overwritten_words, head);
}
END_TEST

START_TEST(cells_that_were_overwritten_before_it_looked_are_told)
{
	uint64_t n_cells = f.shared->n_cells;
	struct trc_drain_totals totals;

	follow();
	for (uint64_t n = 1; n <= 3 * n_cells; n++)
		fake_cell_put(&f, n, 77, n, 0);
	look();
	trc_drain_totals(f.drain, &totals);
	ck_assert_uint_eq(seen.n, n_cells);
	expect_growing_to(3 * n_cells);
	ck_assert_uint_eq(seen.n_gaps[TRC_GAP_OVERWRITTEN], 1);
	ck_assert_uint_eq(totals.damaged, 0);
	ck_assert_uint_eq(totals.overwritten_words, 2 * totals.read_words);
}
END_TEST

START_TEST(it_tells_how_much_was_waiting)
{
	follow();
	look();
	ck_assert_uint_eq(trc_drain_fullest(f.drain), 0);
	put_numbers(1, 1024 / RECORD_WORDS);
	look();
	ck_assert_uint_eq(trc_drain_fullest(f.drain), 128);
	put_numbers(1000, 2000);
	look();
	ck_assert_uint_eq(trc_drain_fullest(f.drain), 256);
}
END_TEST

/* Its owner may write anything into it. */
START_TEST(a_mapping_of_another_kind_is_not_written_to_either)
{
	struct trc_slot *slot;

	follow();
	atomic_fetch_and(&f.shared->flags, ~(uint32_t)TRC_SHARED_OVERWRITE);
	put_numbers(1, 100);
	slot = fake_slot(&f, 3, 77, 477, "gone");
	atomic_store(&slot->end, atomic_load(&slot->start) + 1);
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	look();
	look();
	ck_assert_uint_eq(atomic_load(&slot->state), TRC_SLOT_ENDED);
	expect_growing_to(100);
}
END_TEST

START_TEST(losses_that_nobody_else_was_told_of_stay_to_be_told)
{
	struct trc_overflow *o = fake_overflow(&f);

	follow();
	atomic_store(&o->lost_total, 5);
	atomic_store(&o->lost_since, fake_time(&f, 50));
	look();
	look();
	ck_assert_uint_eq(seen.n_gaps[TRC_GAP_RING_FULL], 1);
	ck_assert_uint_eq(atomic_load(&o->lost_since), fake_time(&f, 50));
}
END_TEST

TCase *drain_follow(void)
{
	TCase *t = tcase_create("follow");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, it_sees_what_comes_after_it_and_changes_nothing);
	tcase_add_test(t, a_ring_that_goes_round_meanwhile_is_seen_whole_by_one_who_looks_often);
	tcase_add_test(t, what_was_overwritten_before_it_looked_is_told);
	tcase_add_test(t, cells_that_were_overwritten_before_it_looked_are_told);
	tcase_add_test(t, it_tells_how_much_was_waiting);
	tcase_add_test(t, a_mapping_of_another_kind_is_not_written_to_either);
	tcase_add_test(t, losses_that_nobody_else_was_told_of_stay_to_be_told);
	return t;
}
