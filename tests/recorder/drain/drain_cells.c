/* drain_cells.c - the overflow stream, and how far a file is whole. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "drain_fixture.h"
#include "recorder/drain/private.h"

/* ---- the overflow stream --------------------------------------------------------------- */

static uint32_t tid_of_nobody(void)
{
	return 0x3ffffff0; /* beyond any pid_max */
}

START_TEST(cells_are_read_in_order_also_when_a_record_takes_many)
{
	uint64_t log[2 + 3 + 100] = {0, TRC_REC_WORD1(TRC_KIND_LOG, 0, 105, 4), 9, 0, 800};

	for (uint64_t n = 0; n < 300; n++) {
		uint64_t position;

		fake_cell_put(&f, 2 * n, 50, n, 0);
		log[0] = fake_time(&f, 2 * n + 1);
		position = fake_reserve(&f, 16);
		fake_commit(&f, position, 16, 1, 50, log, 105);
		trc_drain_pass(f.drain);
	}
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_LOG), 300);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 300);
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
	ck_assert_uint_eq(row(TRC_KIND_RELEASE, 299)->arg[0], 299);
	ck_assert_uint_eq(row(TRC_KIND_RELEASE, 0)->proc, 1);
	ck_assert_uint_eq(row(TRC_KIND_RELEASE, 0)->source, TRC_SOURCE_OVERFLOW);
	ck_assert_uint_eq(atomic_load(&fake_overflow(&f)->tail), 300 * 17);
}
END_TEST

START_TEST(a_claim_of_a_thread_that_is_gone_is_skipped_at_once)
{
	struct trc_drain_options options = {.pid = (uint32_t)getpid()};
	uint64_t position;

	fake_free(&f);
	fake_init(&f, 16384, &options);
	fake_cell_put(&f, 1, 50, 1, 0);
	position = fake_reserve(&f, 3);
	fake_claim(&f, position, 3, 0, tid_of_nobody());
	fake_cell_put(&f, 2, 50, 2, 0);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 2);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 1);
}
END_TEST

START_TEST(a_claim_of_a_thread_that_is_there_is_waited_for)
{
	struct trc_drain_options options = {.pid = (uint32_t)getpid()};
	uint64_t words[4] = {0, TRC_REC_WORD1(TRC_KIND_RELEASE, 0, 4, 1), 77, 0};
	uint64_t position;

	fake_free(&f);
	fake_init(&f, 16384, &options);
	words[0] = fake_time(&f, 1);
	position = fake_reserve(&f, 1);
	fake_claim(&f, position, 1, 0, (uint32_t)getpid());
	fake_cell_put(&f, 2, 50, 2, 0);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 0);
	fake_commit(&f, position, 1, 0, (uint32_t)getpid(), words, 4);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 2);
	/* And for 10 ms at the longest. */
	position = fake_reserve(&f, 2);
	fake_claim(&f, position, 2, 0, (uint32_t)getpid());
	fake_cell_put(&f, 5, 50, 3, 0);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 0);
	sleep_ms(12);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 1);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 1);
	ck_assert_uint_eq(row(TRC_KIND_RELEASE, 0)->arg[0], 77);
}
END_TEST

START_TEST(a_reservation_without_a_claim_reaches_to_the_next_one_with)
{
	fake_reserve(&f, 4);
	fake_cell_put(&f, 2, 50, 2, 0);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 0);
	sleep_ms(12);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 1);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 1);
}
END_TEST

START_TEST(each_claim_left_open_at_the_end_is_one_lost_event)
{
	for (uint32_t i = 1; i <= 20; i++) {
		uint64_t position = fake_reserve(&f, i);

		fake_claim(&f, position, i, 0, 50);
		fake_cell_put(&f, i, 50, i, 0);
	}
	fake_reserve(&f, 2);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 21);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 20);
}
END_TEST

START_TEST(a_record_committed_in_part_is_lost_whole)
{
	uint64_t words[13] = {0, TRC_REC_WORD1(TRC_KIND_LOG, 0, 13, 1), 0, 0, 64};
	uint64_t position = fake_reserve(&f, 2);
	struct trc_cell *cells = trc_area(f.shared, f.shared->cells_off);

	words[0] = fake_time(&f, 1);
	fake_commit(&f, position, 2, 0, 50, words, 13);
	atomic_store(&cells[position + 1].commit, 0);
	fake_cell_put(&f, 2, 50, 2, 0);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_LOG), 0);
}
END_TEST

START_TEST(a_cell_of_the_lap_before_is_not_taken_for_a_new_one)
{
	uint32_t n_cells = f.shared->n_cells;
	uint64_t words[4] = {0, TRC_REC_WORD1(TRC_KIND_RELEASE, 0, 4, 1), 1, 0};

	for (uint64_t n = 0; n < n_cells; n++) {
		fake_cell_put(&f, n, 50, n, 0);
		trc_drain_pass(f.drain);
	}
	/* The same place again: what the last lap left there is complete, but not ours. */
	fake_reserve(&f, 1);
	fake_cell_put(&f, n_cells + 1, 50, 999, 0);
	sleep_ms(1);
	ck_assert_uint_eq(trc_drain_pass(f.drain), 0);
	/* Its late writer had reserved it a lap ago. */
	words[0] = fake_time(&f, 0);
	fake_commit(&f, 0, 1, 0, 50, words, 4);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), n_cells + 1);
}
END_TEST

START_TEST(a_claim_of_the_lap_before_says_nothing_about_this_one)
{
	uint64_t words[13] = {fake_time(&f, 0), TRC_REC_WORD1(TRC_KIND_LOG, 0, 13, 1), 0, 0, 64};
	uint32_t n_cells = f.shared->n_cells;

	fake_commit(&f, fake_reserve(&f, 2), 2, 0, 50, words, 13);
	for (uint64_t n = 2; n < n_cells; n++)
		fake_cell_put(&f, n, 50, n, 0);
	trc_drain_pass(f.drain);
	/* One cell is reserved where a claim for two still stands. */
	fake_reserve(&f, 1);
	fake_cell_put(&f, n_cells + 1, 50, 999, 0);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), n_cells - 2 + 1);
}
END_TEST

START_TEST(losses_of_the_overflow_stream_are_told_as_they_come)
{
	fake_cell_put(&f, 1, 50, 1, 0);
	atomic_store(&fake_overflow(&f)->lost_total, 4);
	atomic_store(&fake_overflow(&f)->lost_since, fake_time(&f, 5));
	trc_drain_pass(f.drain);
	trc_drain_pass(f.drain);
	atomic_store(&fake_overflow(&f)->lost_total, 6);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_GAP), 2);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_RING_FULL), 6);
}
END_TEST

/* Losses begin when all cells are taken: after the newest record that is there.  A gap that ended
 * with that record would end before it began, and explain nothing. */
START_TEST(losses_of_the_overflow_stream_end_where_the_pass_looked)
{
	const struct timespec pause = {0, 10 * 1000 * 1000};
	const struct fake_row *gap, *record;

	fake_cell_put(&f, trc_clock_ordered() - fake_time(&f, 0), 50, 1, 0);
	nanosleep(&pause, NULL);
	atomic_store(&fake_overflow(&f)->lost_since, trc_clock_ordered());
	atomic_store(&fake_overflow(&f)->lost_total, 4);
	nanosleep(&pause, NULL);
	trc_drain_pass(f.drain);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	gap = fake_row(&file, TRC_KIND_GAP, 0);
	record = fake_row(&file, TRC_KIND_RELEASE, 0);
	ck_assert_int_gt(gap->ns - record->ns, 2 * pause.tv_nsec - 2000000); /* less the slack */
}
END_TEST

/* ---- a file that is cut off ------------------------------------------------------------ */

/* A pass at which a flush is due.  What the file so far says it has whole, in ticks since the
 * beginning; its blocks are counted. */
static int64_t flushed_until_ns(size_t *n_blocks)
{
	struct trc_error error;
	struct trc_reader *r;
	int64_t until_ns;

	f.drain->flushed_ns = 0;
	trc_drain_pass(f.drain);
	ck_assert_int_eq(trc_reader_open_memory(&r, f.file, f.file_bytes, &error), 0);
	ck_assert(trc_reader_info(r)->cut_off);
	*n_blocks = trc_reader_blocks(r);
	until_ns = trc_reader_info(r)->whole_until_ns;
	trc_reader_close(r);
	return until_ns;
}

START_TEST(a_sync_point_follows_everything_from_before_it)
{
	size_t n_blocks;
	int64_t before_ns, until_ns;

	put_counted(0, 1);
	trc_drain_pass(f.drain);
	sleep_ms(50);
	put_counted(1, 2);
	before_ns = flushed_until_ns(&n_blocks);
	ck_assert_uint_eq(n_blocks, 2);
	ck_assert_int_ge(before_ns, 39000000); /* less 10 ms: format.md, "SYNC" */
	until_ns = flushed_until_ns(&n_blocks);
	ck_assert_int_eq(until_ns, before_ns); /* nothing new, nothing written */
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 2);
}
END_TEST

START_TEST(a_claim_that_is_open_keeps_the_sync_point_back)
{
	size_t n_blocks;
	int64_t before_ns;
	uint64_t position;

	fake_cell_put(&f, 100, (uint32_t)gettid(), 1, 2);
	trc_drain_pass(f.drain);
	sleep_ms(50);
	before_ns = flushed_until_ns(&n_blocks);
	ck_assert_int_ge(before_ns, 39000000);
	put_counted(0, 1);
	trc_drain_pass(f.drain);
	position = fake_reserve(&f, 1);
	fake_claim(&f, position, 1, 0, (uint32_t)gettid());
	f.drain->cells.stuck_since_ns = 0;
	ck_assert_int_eq(flushed_until_ns(&n_blocks), before_ns);
	ck_assert_uint_eq(n_blocks, 2);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
}
END_TEST

START_TEST(losses_are_told_with_the_next_flush)
{
	struct trc_ring *ring = trc_ring_of(f.drain, 1);
	size_t n_blocks;

	put_counted(0, 1);
	trc_drain_pass(f.drain);
	atomic_store(&ring->lost_total, 5);
	atomic_store(&ring->lost_since, fake_time(&f, 200));
	flushed_until_ns(&n_blocks);
	ck_assert_uint_eq(n_blocks, 2); /* the gap is in a block of proc 1 */
	atomic_store(&ring->lost_total, 7);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_GAP), 2);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_RING_FULL), 7);
}
END_TEST

void drain_cells(TCase *t)
{
	tcase_add_test(t, cells_are_read_in_order_also_when_a_record_takes_many);
	tcase_add_test(t, a_claim_of_a_thread_that_is_gone_is_skipped_at_once);
	tcase_add_test(t, a_claim_of_a_thread_that_is_there_is_waited_for);
	tcase_add_test(t, a_reservation_without_a_claim_reaches_to_the_next_one_with);
	tcase_add_test(t, each_claim_left_open_at_the_end_is_one_lost_event);
	tcase_add_test(t, a_record_committed_in_part_is_lost_whole);
	tcase_add_test(t, a_cell_of_the_lap_before_is_not_taken_for_a_new_one);
	tcase_add_test(t, a_claim_of_the_lap_before_says_nothing_about_this_one);
	tcase_add_test(t, losses_of_the_overflow_stream_are_told_as_they_come);
	tcase_add_test(t, losses_of_the_overflow_stream_end_where_the_pass_looked);
	tcase_add_test(t, a_sync_point_follows_everything_from_before_it);
	tcase_add_test(t, a_claim_that_is_open_keeps_the_sync_point_back);
	tcase_add_test(t, losses_are_told_with_the_next_flush);
}
