/* test_snapshot.c - what a snapshot takes out of a ring, alive or dead, and what it leaves out. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "recorder/drain/perf_buffer.h"
#include "snapshot_fixture.h"
#include "tests/suite.h"

static const struct trc_snapshot_options live = {.window_ns = UINT64_MAX};
static const struct trc_snapshot_options dead_all = {
	.window_ns = UINT64_MAX, .all = true, .dead = true};

/* ---- the window ------------------------------------------------------------------------ */

START_TEST(a_ring_that_was_never_full_is_covered_from_its_birth)
{
	put_many(0, 0, 500);
	put_many(1, 500, 100);
	fake_snapshot(&f, &dead, &file);
	expect_run(0, 0, 500);
	expect_run(1, 500, 100);
	ck_assert_uint_eq(file.from, fake_time(&f, 0));
	ck_assert_uint_eq(file.cut, fake_time(&f, 699));
	expect_coverage(0, 0, file.from, file.cut);
	expect_coverage(1, 0, file.from, file.cut);
	ck_assert_ptr_null(coverage(TRC_SOURCE_OVERFLOW, UINT32_MAX));
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
}
END_TEST

START_TEST(an_overwritten_ring_begins_with_its_oldest_whole_page)
{
	put_many(0, 0, 10 * RECORDS_A_PAGE + 1);
	fake_snapshot(&f, &dead, &file);
	/* The page being written has taken the place of one more than fits. */
	expect_run(0, 7 * RECORDS_A_PAGE, 3 * RECORDS_A_PAGE + 1);
	ck_assert_uint_eq(file.from, fake_time(&f, 100 + 7 * RECORDS_A_PAGE));
	expect_coverage(0, file.from, file.from, file.cut);
	expect_coverage(1, 0, file.from, file.cut);
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
}
END_TEST

START_TEST(a_ring_full_to_the_last_word_keeps_all_of_its_pages)
{
	put_many(0, 0, 10 * RECORDS_A_PAGE);
	fake_snapshot(&f, &dead, &file);
	expect_run(0, 6 * RECORDS_A_PAGE, 4 * RECORDS_A_PAGE);
}
END_TEST

START_TEST(the_window_begins_where_the_last_of_the_full_rings_does)
{
	uint64_t first = 7 * RECORDS_A_PAGE;

	put_many(1, 0, 5 * RECORDS_A_PAGE + 1); /* full too, but it goes further back */
	put_many(0, 0, 10 * RECORDS_A_PAGE + 1);
	put_counted_at(1, 100 + first - 1, 8888); /* before it */
	put_counted_at(1, 100 + first, 1);	  /* in it */
	fake_snapshot(&f, &dead, &file);
	expect_run(0, first, 3 * RECORDS_A_PAGE + 1);
	expect_run(1, 1, 1);
	expect_coverage(1, fake_time(&f, 100 + 2 * RECORDS_A_PAGE), file.from, file.cut);
	ck_assert_uint_eq(file.from, fake_time(&f, 100 + first));
}
END_TEST

START_TEST(all_keeps_what_is_from_before_the_window)
{
	put_many(1, 0, 5 * RECORDS_A_PAGE + 1);
	put_many(0, 0, 10 * RECORDS_A_PAGE + 1);
	fake_snapshot(&f, &dead_all, &file);
	expect_run(0, 7 * RECORDS_A_PAGE, 3 * RECORDS_A_PAGE + 1);
	expect_run(1, 2 * RECORDS_A_PAGE, 3 * RECORDS_A_PAGE + 1);
	/* The coverage tells the window all the same. */
	ck_assert_uint_eq(file.from, fake_time(&f, 100 + 7 * RECORDS_A_PAGE));
	expect_coverage(1, fake_time(&f, 100 + 2 * RECORDS_A_PAGE), file.from, file.cut);
}
END_TEST

static const struct trimming {
	const char *says;
	uint64_t asked_ns, header_ns;
	uint64_t ticks; /* what of the last is left, 0 = all */
} trimmings[] = {
	{"a window is trimmed to what was asked for", 1000, 0, 1000},
	{"0 is what the header says", 0, 1000, 1000},
	{"what was asked for goes before the header", 2000, 1000, 2000},
	{"neither: all there is", 0, 0, 0},
	{"no limit, whatever the header says", UINT64_MAX, 1000, 0},
	{"longer than there is: all there is", UINT64_MAX - 1, 0, 0},
};

START_TEST(the_window_is_as_long_as_asked_for)
{
	const struct trimming *t = &trimmings[_i];
	struct trc_snapshot_options o = dead;

	f.shared->ticks_per_second = 1000000000;
	f.shared->window_ns = t->header_ns;
	o.window_ns = t->asked_ns;
	for (uint64_t n = 0; n < 50; n++)
		put_counted_at(n % 2 ? 1 : 0, 100 * n, n);
	fake_snapshot(&f, &o, &file);
	ck_assert_msg(file.cut == fake_time(&f, 4900), "%s", t->says);
	ck_assert_msg(file.from == (t->ticks ? file.cut - t->ticks : fake_time(&f, 0)), "%s",
		      t->says);
	ck_assert_msg(fake_count(&file, TRC_KIND_RELEASE) == (t->ticks ? t->ticks / 100 + 1 : 50),
		      "%s", t->says);
}
END_TEST

static const struct last_wait {
	const char *says;
	uint32_t state, reason;
	uint64_t since;
	uint64_t cut; /* the newest record is at 110 */
} last_waits[] = {
	{"a wait that no record tells of is part of the window", TRC_SLOT_LIVE, TRC_REASON_READ,
	 5000, 5000},
	{"one from before the newest record changes nothing", TRC_SLOT_LIVE, TRC_REASON_READ, 105,
	 110},
	{"one that has ended is none", TRC_SLOT_LIVE, 0, 5000, 110},
	{"no reason that is known", TRC_SLOT_LIVE, TRC_REASON_COUNT, 5000, 110},
	{"a thread that has ended does not wait", TRC_SLOT_ENDED, TRC_REASON_READ, 5000, 110},
	{"nobody waits since the future", TRC_SLOT_LIVE, TRC_REASON_READ, UINT64_MAX / 2, 110},
};

START_TEST(a_dead_ring_is_covered_up_to_the_last_wait)
{
	const struct last_wait *l = &last_waits[_i];
	const struct trc_status_entry *status;
	struct trc_snapshot_options o = dead;
	struct trc_slot *slot = fake_slot(&f, 0, 7, 4007, "reader");
	bool waits = l->state == TRC_SLOT_LIVE && l->cut == (l->since > 110 ? l->since : 110) &&
		     l->reason;

	f.shared->ticks_per_second = 1000000000;
	o.window_ns = 1000;
	atomic_store(&slot->state, l->state);
	atomic_store(&slot->wait_reason, l->reason);
	atomic_store(&slot->wait_object, 5);
	atomic_store(&slot->wait_since, fake_time(&f, l->since));
	put_many(0, 0, 11);
	fake_snapshot(&f, &o, &file);
	ck_assert_msg(file.cut == fake_time(&f, l->cut), "%s", l->says);
	/* The window is that before the newest record, whatever came after it. */
	ck_assert_uint_eq(file.from, fake_time(&f, 0));
	expect_run(0, 0, 11);
	if (l->state != TRC_SLOT_LIVE)
		return;
	ck_assert_uint_eq(trc_reader_status(file.r, &status), 1);
	ck_assert_msg(status[0].reason == (waits ? l->reason : 0), "%s", l->says);
	ck_assert_msg(status[0].since == (waits ? fake_time(&f, l->since) : 0), "%s", l->says);
}
END_TEST

START_TEST(a_living_ring_is_covered_up_to_now)
{
	uint64_t before = trc_clock_ordered();

	put_many(0, 0, 10);
	fake_snapshot(&f, &live, &file);
	expect_run(0, 0, 10);
	ck_assert_uint_ge(file.cut, before);
	ck_assert_uint_le(file.cut, trc_clock_ordered());
	expect_coverage(0, 0, fake_time(&f, 0), file.cut);
}
END_TEST

START_TEST(a_process_stuck_for_longer_than_the_window_shows_what_it_did_before)
{
	struct trc_snapshot_options o = {.window_ns = 1000};
	/* A machine that has just been booted has no hour to go back. */
	uint64_t stuck_ticks = f.shared->start.ticks / 2;

	f.shared->start.ticks -= stuck_ticks;
	put_counted_at(0, 1, 1);
	put_counted_at(0, 2, 2);
	fake_snapshot(&f, &o, &file);
	expect_run(0, 1, 2);
	ck_assert_uint_le(file.from, fake_time(&f, 1));
	ck_assert_uint_gt(file.cut - file.from, stuck_ticks / 10 * 9);
}
END_TEST

START_TEST(what_a_drain_has_taken_is_there_still)
{
	put_many(0, 0, 400);
	atomic_store(&trc_ring_at(f.shared, 0)->tail, 400 * RECORD_WORDS);
	fake_snapshot(&f, &dead, &file);
	expect_run(0, 0, 400);
}
END_TEST

START_TEST(nothing_recorded_is_a_trace_of_nothing)
{
	fake_snapshot(&f, &dead, &file);
	ck_assert_uint_eq(file.n_rows, 0);
	ck_assert_uint_eq(file.cut, fake_time(&f, 0));
	expect_coverage(0, 0, file.cut, file.cut);
}
END_TEST

START_TEST(a_ring_without_memory_is_not_covered)
{
	atomic_store(&trc_ring_at(f.shared, 1)->state, TRC_RING_EMPTY);
	put_many(0, 0, 3);
	fake_snapshot(&f, &dead, &file);
	expect_run(0, 0, 3);
	ck_assert_ptr_nonnull(coverage(TRC_SOURCE_RING, 0));
	ck_assert_ptr_null(coverage(TRC_SOURCE_RING, 1));
}
END_TEST

START_TEST(both_ends_of_a_window_belong_to_it)
{
	put_many(0, 0, 1000);
	fake_cell_put(&f, 199, 9, 1, 1);
	fake_cell_put(&f, 200, 9, 2, 6);
	fake_cell_put(&f, 300, 9, 3, 9);
	fake_cell_put(&f, 301, 9, 4, 12);
	drain_window(200, 300);
	expect_run(0, 100, 101);
	expect_run(1, 2, 2); /* cells of proc 1 */
	ck_assert_uint_eq(file.n_rows, 103);
}
END_TEST

START_TEST(kernel_records_are_covered_as_far_as_they_were_kept)
{
	struct trc_drain_window window = {.from = fake_time(&f, 200),
					  .to = fake_time(&f, 300),
					  .now = fake_time(&f, 1000000),
					  .sync = f.shared->start};
	struct trc_drain_options options = {.window = &window};
	struct trc_perf_record r = {.tid = 4711, .proc = 0};
	uint64_t held;

	f.shared->ticks_per_second = 1000000000;
	fake_slot(&f, 0, 30, 4711, "runs");
	drain_open(&options);
	for (uint64_t ns = 150; ns < 400; ns += 50) {
		r.raw_ns = f.shared->start.monotonic_raw_ns + ns;
		trc_drain_kernel(f.drain, &r);
	}
	ck_assert(trc_drain_kernel_seen(f.drain, 0, &held) && !held);
	ck_assert(!trc_drain_kernel_seen(f.drain, 1, &held));
	trc_drain_kernel_held(f.drain, 0, f.shared->start.monotonic_raw_ns + 150);
	ck_assert(trc_drain_kernel_seen(f.drain, 0, &held));
	ck_assert_uint_eq(held, fake_time(&f, 150));
	drain_finish();
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_PROC_START), 3); /* 200, 250, 300 */
}
END_TEST

/* ---- losses ---------------------------------------------------------------------------- */

static void put_gap(uint64_t after, uint64_t total, uint64_t since)
{
	uint64_t words[3] = {total, fake_time(&f, since), TRC_GAP_RING_FULL};

	ck_assert(fake_put(&f, 0, after, TRC_KIND_GAP, 0, 7, words, 3));
}

static const struct loss {
	const char *says;
	struct {
		uint64_t after, total, since;
	} gap[2];			  /* records; at 0 none */
	uint64_t at_end, reported, since; /* in the ring's counters */
	bool overwritten;		  /* nothing is known of what was before */
	uint64_t lost;			  /* in the window 200..300 */
} losses[] = {
	{"a loss in the window is told", {{250, 5, 240}}, 5, 5, 0, false, 5},
	{"a loss from before is not", {{150, 5, 140}}, 5, 5, 0, false, 0},
	{"of a total, what was lost before does not count",
	 {{150, 5, 140}, {250, 8, 240}},
	 8,
	 8,
	 0,
	 false,
	 3},
	{"a loss that was told behind the window, and began in it",
	 {{310, 5, 290}},
	 5,
	 5,
	 0,
	 false,
	 5},
	{"a loss behind the window is not told", {{310, 5, 305}}, 5, 5, 0, false, 0},
	{"if the gap record before is gone, one at least was lost",
	 {{250, 500, 240}},
	 500,
	 500,
	 0,
	 true,
	 1},
	{"losses that no record tells of", {{0}}, 7, 0, 280, false, 7},
	{"of these, what was told is not told again", {{250, 5, 240}}, 7, 5, 280, false, 7},
	{"losses after the window", {{0}}, 7, 0, 310, false, 0},
	{"losses told long ago, by a record that is gone", {{0}}, 500, 500, 0, true, 0},
	{"losses since then", {{0}}, 502, 500, 280, true, 2},
};

START_TEST(losses_are_those_of_the_window)
{
	const struct loss *l = &losses[_i];
	struct trc_ring *ring = trc_ring_at(f.shared, 0);

	if (l->overwritten) {
		for (int n = 0; n < 10 * RECORDS_A_PAGE; n++)
			put_counted_at(0, 50, 1);
	}
	put_counted_at(0, 100, 1);
	put_counted_at(0, 210, 2);
	for (int i = 0; i < 2; i++)
		if (l->gap[i].after)
			put_gap(l->gap[i].after, l->gap[i].total, l->gap[i].since);
	if (l->gap[0].after > 300)
		put_counted_at(0, 320, 3);
	atomic_store(&ring->tail, atomic_load(&ring->floor));
	atomic_store(&ring->lost_total, l->at_end);
	atomic_store(&ring->lost_reported, l->reported);
	atomic_store(&ring->lost_since, l->since ? fake_time(&f, l->since) : 0);
	drain_window(200, 300);
	ck_assert_msg(fake_lost(&file, 0) == l->lost, "%s: %lu", l->says,
		      (unsigned long)fake_lost(&file, 0));
	for (size_t i = 0; i < fake_count(&file, TRC_KIND_GAP); i++)
		ck_assert_uint_eq(row(TRC_KIND_GAP, i)->arg[2], TRC_GAP_RING_FULL);
}
END_TEST

/* ---- the overflow stream --------------------------------------------------------------- */

START_TEST(cells_begin_with_the_first_whole_record)
{
	uint64_t n_cells = f.shared->n_cells, words[4 + 16] = {0}, position;

	/* A record of three cells at the end of a lap, of which the next lap takes the first. */
	for (uint64_t n = 0; n < n_cells - 3; n++)
		fake_cell_put(&f, 100 + n, 9, n, 3 * n);
	words[0] = fake_time(&f, 100 + n_cells);
	words[1] = TRC_REC_WORD1(TRC_KIND_LOG, 0, 5 + 15, 1);
	words[4] = 15 * 8;
	position = fake_reserve(&f, 3);
	fake_commit(&f, position, 3, 1, 9, words, 20);
	for (uint64_t n = 0; n < n_cells - 2; n++)
		fake_cell_put(&f, 10000 + n, 9, n, 3 * n);
	put_counted_at(0, 10, 1); /* before the cells begin */
	fake_snapshot(&f, &dead, &file);
	ck_assert_uint_eq(file.from, fake_time(&f, 10000));
	expect_run(1, 0, n_cells - 2);
	expect_run(0, 0, 0);
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
	ck_assert_uint_eq(coverage(TRC_SOURCE_OVERFLOW, UINT32_MAX)->held, fake_time(&f, 10000));
}
END_TEST

START_TEST(cells_that_a_dead_process_left_open_are_lost_events)
{
	uint64_t words[4] = {0};
	uint64_t position;

	fake_cell_put(&f, 100, 9, 0, 0);
	position = fake_reserve(&f, 1);
	fake_claim(&f, position, 1, 1, 9);
	fake_cell_put(&f, 102, 9, 1, 3);
	position = fake_reserve(&f, 2);
	fake_commit(&f, position, 1, 1, 9, words, 4); /* one of two */
	fake_claim(&f, position, 2, 1, 9);
	fake_snapshot(&f, &dead, &file);
	expect_run(1, 0, 2);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_UNCOMMITTED), 2);
}
END_TEST

static void *commit_late(void *arg)
{
	uint64_t words[4] = {fake_time(&f, 101), TRC_REC_WORD1(TRC_KIND_RELEASE, 0, 4, 1), 1, 3};
	struct timespec t = {0, 2000000};

	nanosleep(&t, NULL);
	fake_commit(&f, *(uint64_t *)arg, 1, 1, 9, words, 4);
	return NULL;
}

START_TEST(a_thread_in_the_middle_of_a_record_gets_a_moment)
{
	uint64_t position;
	pthread_t late;

	fake_cell_put(&f, 100, 9, 0, 0);
	position = fake_reserve(&f, 1);
	fake_claim(&f, position, 1, 1, 9);
	fake_cell_put(&f, 102, 9, 2, 6);
	pthread_create(&late, NULL, commit_late, &position);
	fake_snapshot(&f, &live, &file);
	pthread_join(late, NULL);
	/* It may come too late on a busy machine: then it is told as lost. */
	ck_assert_uint_eq(
		fake_count(&file, TRC_KIND_RELEASE) + fake_lost(&file, TRC_GAP_UNCOMMITTED), 3);
}
END_TEST

/* ---- what the trace says --------------------------------------------------------------- */

static const char *info(const char *key)
{
	const char *value = trc_reader_info_get(file.r, key);

	return value ? value : "";
}

START_TEST(a_ring_of_another_boot_is_read_without_this_machines_clock)
{
	memset(f.shared->boot_id, 0xee, sizeof(f.shared->boot_id));
	f.shared->clock = TRC_CLOCK_CNTVCT == trc_clock_kind ? TRC_CLOCK_TSC : TRC_CLOCK_CNTVCT;
	f.shared->ticks_per_second = 1000000000;
	f.shared->start.ticks = UINT64_C(1) << 60; /* no clock of ours is there yet */
	put_many(0, 0, 100);
	fake_snapshot(&f, &dead, &file);
	expect_run(0, 0, 100);
	ck_assert_int_eq(row(TRC_KIND_RELEASE, 50)->ns, 150);
	ck_assert_str_eq(info("hostname"), "");
	ck_assert_uint_eq(trc_reader_info(file.r)->start_realtime_ns, f.shared->start.realtime_ns);
}
END_TEST

START_TEST(a_crash_is_told_once_it_is_complete)
{
	struct trc_crash *c = &f.shared->crash;

	atomic_store(&c->signal, 11);
	atomic_store(&c->code, 1);
	atomic_store(&c->tid, 4711);
	atomic_store(&c->address, 0xdead0);
	atomic_store(&c->state, TRC_CRASH_FILLING);
	fake_snapshot(&f, &dead, &file);
	ck_assert_str_eq(info("signal"), "");
	ck_assert_str_eq(info("mode"), "recording");
	fake_file_free(&file);
	atomic_store(&c->state, TRC_CRASH_COMPLETE);
	f.shared->flags |= TRC_SHARED_OVERWRITE;
	fake_snapshot(&f, &dead, &file);
	ck_assert_str_eq(info("signal"), "11 (SIGSEGV) code 1 at 0xdead0 in thread 4711");
	ck_assert_str_eq(info("mode"), "flight");
}
END_TEST

/* ---- while somebody writes ------------------------------------------------------------- */

static _Atomic bool stop_writing;

/* Flat out; record n is also the time n. */
static void *write_on(void *arg)
{
	uint32_t proc = (uint32_t)(uintptr_t)arg;

	for (uint64_t n = 0; !atomic_load_explicit(&stop_writing, memory_order_relaxed); n++)
		put_counted_at(proc, n, n);
	return NULL;
}

START_TEST(what_is_being_overwritten_is_left_out)
{
	pthread_t writer[2];
	uint64_t taken = 0;

	f.from_file = _i;
	atomic_store(&stop_writing, false);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&writer[i], NULL, write_on, (void *)i);
	for (int i = 0; i < 50; i++) {
		uint64_t next[2] = {0};

		fake_snapshot(&f, &live, &file);
		for (size_t k = 0; k < file.n_rows; k++) {
			const struct fake_row *r = &file.row[k];

			ck_assert_uint_eq(r->kind, TRC_KIND_RELEASE);
			ck_assert(!next[r->proc] || r->arg[0] == next[r->proc]);
			ck_assert_uint_eq(r->arg[1], 3 * r->arg[0]);
			next[r->proc] = r->arg[0] + 1;
		}
		ck_assert_uint_eq(file.totals.damaged, 0);
		taken += file.n_rows;
		fake_file_free(&file);
	}
	atomic_store(&stop_writing, true);
	for (int i = 0; i < 2; i++)
		pthread_join(writer[i], NULL);
	fake_snapshot(&f, &dead, &file);
	taken += file.n_rows;
	ck_assert_uint_gt(taken, 0);
}
END_TEST

static Suite *snapshot_suite(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *t = tcase_create("snapshot");

	tcase_add_checked_fixture(t, snapshot_set_up, snapshot_tear_down);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_ring_that_was_never_full_is_covered_from_its_birth);
	tcase_add_test(t, an_overwritten_ring_begins_with_its_oldest_whole_page);
	tcase_add_test(t, a_ring_full_to_the_last_word_keeps_all_of_its_pages);
	tcase_add_test(t, the_window_begins_where_the_last_of_the_full_rings_does);
	tcase_add_test(t, all_keeps_what_is_from_before_the_window);
	tcase_add_loop_test(t, the_window_is_as_long_as_asked_for, 0,
			    sizeof(trimmings) / sizeof(*trimmings));
	tcase_add_loop_test(t, a_dead_ring_is_covered_up_to_the_last_wait, 0,
			    sizeof(last_waits) / sizeof(*last_waits));
	tcase_add_test(t, a_living_ring_is_covered_up_to_now);
	tcase_add_test(t, a_process_stuck_for_longer_than_the_window_shows_what_it_did_before);
	tcase_add_test(t, what_a_drain_has_taken_is_there_still);
	tcase_add_test(t, nothing_recorded_is_a_trace_of_nothing);
	tcase_add_test(t, a_ring_without_memory_is_not_covered);
	tcase_add_test(t, both_ends_of_a_window_belong_to_it);
	tcase_add_test(t, kernel_records_are_covered_as_far_as_they_were_kept);
	tcase_add_loop_test(t, losses_are_those_of_the_window, 0, sizeof(losses) / sizeof(*losses));
	tcase_add_test(t, cells_begin_with_the_first_whole_record);
	tcase_add_test(t, cells_that_a_dead_process_left_open_are_lost_events);
	tcase_add_test(t, a_thread_in_the_middle_of_a_record_gets_a_moment);
	tcase_add_test(t, a_ring_of_another_boot_is_read_without_this_machines_clock);
	tcase_add_test(t, a_crash_is_told_once_it_is_complete);
	tcase_add_loop_test(t, what_is_being_overwritten_is_left_out, 0, 2); /* mapping, file */
	snapshot_threads(t);
	suite_add_tcase(suite, t);
	return suite;
}

int main(void)
{
	return suite_run(snapshot_suite());
}
