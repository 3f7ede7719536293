/* test_snapshot.c - what a snapshot takes out of a ring, alive or dead, and what it leaves out. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "recorder/drain/perf_buffer.h"
#include "fake_ring.h"

static struct fake f;
static struct fake_file file;

static const struct trc_snapshot_options dead = {.window_ns = UINT64_MAX, .dead = true};
static const struct trc_snapshot_options live = {.window_ns = UINT64_MAX};
static const struct trc_snapshot_options dead_all = {
	.window_ns = UINT64_MAX, .all = true, .dead = true};

enum { RING_BYTES = 32768, RECORD_WORDS = 4, RECORDS_A_PAGE = 1024 / RECORD_WORDS };

static void set_up(void)
{
	fake_init_alone(&f, RING_BYTES); /* four pages of 1024 words */
	f.overwrite = true;
}

static void tear_down(void)
{
	fake_file_free(&file);
	fake_free(&f);
}

static void put_at(uint32_t proc, uint64_t after, uint64_t n)
{
	uint64_t words[2] = {n, 3 * n};

	ck_assert(fake_put(&f, proc, after, TRC_KIND_RELEASE, 0, 7, words, 2));
}

/* Records n, n + 1, ... at these times. */
static void put_many(uint32_t proc, uint64_t first, uint64_t n_records)
{
	for (uint64_t n = first; n < first + n_records; n++)
		put_at(proc, 100 + n, n);
}

static const struct fake_row *row(unsigned int kind, size_t i)
{
	const struct fake_row *r = fake_row(&file, kind, i);

	ck_assert_msg(r != NULL, "no event %zu of kind %u", i, kind);
	return r;
}

/* The events of a proc are first, first + 1, ... n_records of them. */
static void expect_run(uint32_t proc, uint64_t first, uint64_t n_records)
{
	uint64_t next = first;

	for (size_t i = 0; i < file.n_rows; i++) {
		const struct fake_row *r = &file.row[i];

		if (r->kind != TRC_KIND_RELEASE || r->proc != proc)
			continue;
		ck_assert_uint_eq(r->arg[0], next);
		ck_assert_uint_eq(r->arg[1], 3 * next);
		next++;
	}
	ck_assert_uint_eq(next - first, n_records);
}

static const struct trc_coverage_entry *coverage(uint8_t source, uint32_t proc)
{
	const struct trc_coverage_entry *entry;
	size_t n = trc_reader_coverage(file.r, &entry);

	for (size_t i = 0; i < n; i++)
		if (entry[i].source == source && entry[i].proc == proc)
			return &entry[i];
	return NULL;
}

static void expect_coverage(uint32_t proc, uint64_t held, uint64_t from, uint64_t to)
{
	const struct trc_coverage_entry *c = coverage(TRC_SOURCE_RING, proc);

	ck_assert_ptr_nonnull(c);
	ck_assert_uint_eq(c->held, held);
	ck_assert_uint_eq(c->from, from);
	ck_assert_uint_eq(c->to, to);
}

static const struct trc_thread_entry *thread(uint32_t serial)
{
	for (size_t i = 0; i < trc_reader_threads(file.r); i++)
		if (trc_reader_thread(file.r, i)->serial == serial)
			return trc_reader_thread(file.r, i);
	return NULL;
}

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
	put_at(1, 100 + first - 1, 8888); /* before it */
	put_at(1, 100 + first, 1);	  /* in it */
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
		put_at(n % 2 ? 1 : 0, 100 * n, n);
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
	put_at(0, 1, 1);
	put_at(0, 2, 2);
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

/* A drain over a copy, with a window of one's own choice. */
static void drain_open(const struct trc_drain_options *options)
{
	struct trc_writer_options wo = {.n_procs = FAKE_PROCS, .memory_bytes = 8 << 20};

	wo.clock = trc_clock_kind;
	wo.ticks_per_second = f.shared->ticks_per_second;
	ck_assert_int_eq(trc_writer_open(&f.w, &wo, fake_sink, &f), 0);
	ck_assert_int_eq(trc_drain_open(&f.drain, f.shared, f.mapped_bytes, f.w, options), 0);
	trc_writer_sync(f.w, &f.shared->start);
	trc_drain_copy(f.drain);
}

static void drain_finish(void)
{
	ck_assert_int_eq(trc_drain_copy_finish(f.drain), 0);
	ck_assert_int_eq(trc_writer_finish(f.w), 0);
	fake_read_back(&f, &file);
}

static void drain_window(uint64_t from, uint64_t to)
{
	struct trc_drain_window window = {.from = fake_time(&f, from),
					  .to = fake_time(&f, to),
					  .now = fake_time(&f, 1000000),
					  .sync = f.shared->start};
	struct trc_drain_options options = {.window = &window};

	drain_open(&options);
	drain_finish();
}

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
			put_at(0, 50, 1);
	}
	put_at(0, 100, 1);
	put_at(0, 210, 2);
	for (int i = 0; i < 2; i++)
		if (l->gap[i].after)
			put_gap(l->gap[i].after, l->gap[i].total, l->gap[i].since);
	if (l->gap[0].after > 300)
		put_at(0, 320, 3);
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

/* ---- threads --------------------------------------------------------------------------- */

static void put_start(uint64_t after, uint32_t serial, uint32_t tid, uint32_t creator)
{
	uint64_t words[4] = {tid, creator, 0, 0};

	ck_assert(fake_put(&f, 0, after, TRC_KIND_THREAD_START, 0, serial, words, 4));
}

static void put_name(uint64_t after, uint32_t serial, const char *name)
{
	uint64_t words[4] = {serial, strlen(name)};

	memcpy(words + 2, name, strlen(name));
	ck_assert(fake_put(&f, 0, after, TRC_KIND_THREAD_NAME, 0, serial, words,
			   2 + (uint32_t)(strlen(name) + 7) / 8));
}

START_TEST(who_is_named_in_the_window_is_known_from_before)
{
	uint64_t words[2] = {1, 3};

	put_start(10, 20, 2020, 19);
	put_start(11, 21, 2021, 20);
	put_start(12, 22, 2022, 21);
	put_name(13, 21, "old hand");
	put_at(0, 150, 0);
	fake_put(&f, 1, 250, TRC_KIND_RELEASE, 0, 21, words, 2);
	drain_window(200, 300);
	ck_assert_uint_eq(file.n_rows, 1);
	ck_assert_uint_eq(file.row[0].thread, 21);
	ck_assert_uint_eq(thread(21)->tid, 2021);
	ck_assert_uint_eq(thread(21)->creator, 20);
	ck_assert_uint_eq(thread(21)->start, fake_time(&f, 11));
	ck_assert_int_eq(memcmp(thread(21)->name, "old hand", 8), 0);
	/* Its creator too, and so on; but nobody whom nothing names. */
	ck_assert_uint_eq(thread(20)->tid, 2020);
	ck_assert_ptr_null(thread(22));
}
END_TEST

START_TEST(a_thread_of_which_only_the_serial_is_left_is_in_the_table)
{
	put_many(0, 0, 1);
	fake_snapshot(&f, &dead, &file);
	ck_assert_ptr_nonnull(thread(7));
	ck_assert_uint_eq(thread(7)->tid, 0);
}
END_TEST

START_TEST(a_slot_of_a_thread_that_ended_before_the_window_is_told_if_it_is_named)
{
	struct trc_slot *slot = fake_slot(&f, 0, 30, 3030, "gone");
	uint64_t words[4] = {TRC_REASON_JOIN, 77, 30, 0};

	atomic_store(&slot->end, fake_time(&f, 120));
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	slot = fake_slot(&f, 1, 31, 3031, "gone too");
	atomic_store(&slot->end, fake_time(&f, 120));
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	slot = fake_slot(&f, 2, 32, 3032, "ends in it");
	atomic_store(&slot->end, fake_time(&f, 220));
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	slot = fake_slot(&f, 3, 33, 3033, "ends after it");
	atomic_store(&slot->end, fake_time(&f, 320));
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	slot = fake_slot(&f, 4, 34, 3034, "starts after it");
	atomic_store(&slot->start, fake_time(&f, 320));
	fake_put(&f, 0, 250, TRC_KIND_PARK, 0, 33, words, 4);
	drain_window(200, 300);
	ck_assert_uint_eq(thread(30)->tid, 3030);
	ck_assert_uint_eq(thread(30)->end, fake_time(&f, 120));
	ck_assert_ptr_null(thread(31));
	ck_assert_uint_eq(thread(32)->end, fake_time(&f, 220));
	ck_assert_uint_eq(thread(33)->end, 0);
	ck_assert_ptr_null(thread(34));
}
END_TEST

START_TEST(threads_by_the_thousand_are_told_apart)
{
	enum { N = 3000 };
	uint64_t words[2] = {1, 3};

	fake_free(&f);
	fake_init_alone(&f, 1 << 20);
	for (uint32_t i = 0; i < N; i++)
		put_start(10 + i, 100 + i, 5000 + i % 100, 0);
	atomic_store(&f.shared->next_serial, 100000);
	for (uint32_t i = 0; i < N; i++) { /* more than the writer has room for at once */
		fake_put(&f, 1, 10000 + 2 * i, TRC_KIND_RELEASE, 0, 100 + i, words, 2);
		fake_put(&f, 1, 10001 + 2 * i, TRC_KIND_THREAD_EXIT, 0, 100 + i, NULL, 0);
	}
	drain_window(10000, 20000);
	for (uint32_t i = 0; i < N; i++) {
		ck_assert_uint_eq(row(TRC_KIND_RELEASE, i)->thread, 100 + i);
		ck_assert_uint_eq(thread(100 + i)->tid, 5000 + i % 100);
		ck_assert_uint_eq(thread(100 + i)->start, fake_time(&f, 10 + i));
	}
}
END_TEST

/* ---- what threads were doing ----------------------------------------------------------- */

struct doing {
	const char *says;
	uint64_t slot_since;   /* the slot says: waiting for 5 since then; 0 = running */
	uint64_t park, resume; /* events: for 6; 0 = none */
	uint64_t since;	       /* of the status, 0 = it ran */
	uint64_t object;
};
static const struct doing doings[] = {
	{"a wait that began long ago goes on", 50, 0, 0, 50, 5},
	{"a wait that began in the window goes on", 251, 252, 0, 251, 5},
	{"a wait that began behind the window is none yet", 310, 0, 0, 0, 0},
	{"a thread that does not wait runs", 0, 0, 0, 0, 0},
	{"a wait that ended after the window was one at its end", 0, 260, 310, 260, 6},
	{"a wait that ended in the window is over", 0, 260, 270, 0, 0},
	{"killed between the event and the slot: its end counts", 255, 256, 270, 0, 0},
	{"killed between the event and the slot: its beginning counts", 0, 260, 0, 260, 6},
	{"waiting again by the time of the look: the first counts", 320, 260, 310, 260, 6},
};

START_TEST(a_status_is_that_at_the_end_of_the_window)
{
	const struct doing *d = &doings[_i];
	struct trc_slot *slot = fake_slot(&f, 0, 40, 4040, "worker");
	const struct trc_status_entry *status;
	uint64_t frame[2] = {0x1000, 0x2000};
	uint64_t stack = fake_stack(&f, 3, 0, frame, 2);
	uint64_t park[4] = {TRC_REASON_MUTEX, 6, 41, stack}, resume[3] = {TRC_REASON_MUTEX, 6, 0};

	fake_slot(&f, 1, 41, 4041, "holder");
	if (d->slot_since) {
		atomic_store(&slot->wait_reason, TRC_REASON_MUTEX);
		atomic_store(&slot->wait_object, 5);
		atomic_store(&slot->wait_holder, TRC_THREAD_IS_TID | 4041);
		atomic_store(&slot->wait_since, fake_time(&f, d->slot_since));
		atomic_store(&slot->wait_stack, stack);
	}
	if (d->park)
		fake_put(&f, 0, d->park, TRC_KIND_PARK, 0, 40, park, 4);
	if (d->resume)
		fake_put(&f, 1, d->resume, TRC_KIND_RESUME, 0, 40, resume, 3);
	drain_window(200, 300);
	ck_assert_uint_eq(trc_reader_status(file.r, &status), 2);
	ck_assert_uint_eq(status[0].thread, 40);
	ck_assert_msg(status[0].reason == (d->since ? TRC_REASON_MUTEX : 0), "%s", d->says);
	ck_assert_msg(status[0].since == (d->since ? fake_time(&f, d->since) : 0), "%s", d->says);
	ck_assert_msg(status[0].object == d->object, "%s", d->says);
	ck_assert_msg(status[0].holder == (d->since ? 41 : 0), "%s", d->says);
	ck_assert_msg((status[0].stack != 0) == (d->since != 0), "%s", d->says);
}
END_TEST

static const struct working {
	const char *says;
	uint64_t at[3]; /* changes: from 42 to 43, to 44, to 45; 0 = none */
	char slot;	/* the last digit of what the slot says; 0 = nothing */
	const char *labels;
} workings[] = {
	{"no change: the slot", {0}, '2', "tenant=42"},
	{"no labels", {0}, 0, ""},
	{"a change before the window", {150}, '3', "tenant=43"},
	{"a change in the window", {250}, '3', "tenant=43"},
	{"the last one in the window", {250, 270}, '4', "tenant=44"},
	{"one behind the window is not yet", {250, 270, 310}, '5', "tenant=44"},
	{"killed between the event and the slot", {250, 270}, '3', "tenant=44"},
};

START_TEST(labels_are_those_at_the_end_of_the_window)
{
	const struct working *w = &workings[_i];
	struct trc_slot *slot = fake_slot(&f, 0, 40, 4040, "worker");
	uint64_t id[4];

	for (unsigned int i = 0; i < 4; i++) {
		char value[3] = {'4', (char)('2' + i), '\0'};

		id[i] = fake_labels(&f, 3 + i, "tenant", value);
	}
	if (w->slot)
		atomic_store(&slot->labels, id[w->slot - '2']);
	for (unsigned int i = 0; i < 3 && w->at[i]; i++) {
		uint64_t change[2] = {id[i + 1], id[i]};

		fake_put(&f, i % 2, w->at[i], TRC_KIND_LABELS, 0, 40, change, 2);
	}
	drain_window(200, 300);
	ck_assert_msg(!strcmp(fake_thread_labels(&file, 40), w->labels), "%s: %s", w->says,
		      fake_thread_labels(&file, 40));
}
END_TEST

static const struct running {
	const char *says;
	uint64_t at[3]; /* switches: from fiber 2 to 3, to 4, to 5; 0 = none */
	uint64_t slot;	/* what the slot says; 0 = its root fiber */
	const char *fiber;
} runnings[] = {
	{"no switch: the slot", {0}, 2, "2 two"},
	{"the root fiber", {0}, 0, ""},
	{"a switch before the window", {150}, 3, "3 three"},
	{"a switch in the window", {250}, 3, "3 three"},
	{"the last one in the window", {250, 270}, 4, "4 four"},
	{"one behind the window is not yet", {250, 270, 310}, 5, "4 four"},
	{"killed between the event and the slot", {250, 270}, 3, "4 four"},
	{"killed before its slot said that it left its root fiber", {250}, 0, "3 three"},
};

START_TEST(fibers_are_those_at_the_end_of_the_window)
{
	static const char *const names[] = {"two", "three", "four", "five"};
	const struct running *w = &runnings[_i];
	struct trc_slot *slot = fake_slot(&f, 0, 40, 4040, "worker");
	uint64_t name[4];

	for (unsigned int i = 0; i < 4; i++)
		name[i] = fake_string(&f, 3 + i, names[i]);
	atomic_store(&slot->fiber, w->slot);
	atomic_store(&slot->fiber_name, w->slot ? name[w->slot - 2] : 0);
	for (unsigned int i = 0; i < 3 && w->at[i]; i++) {
		uint64_t change[6] = {3 + i, 2 + i, name[i + 1]};

		fake_put(&f, i % 2, w->at[i], TRC_KIND_FIBER_SWITCH, 0, 40, change, 6);
	}
	drain_window(200, 300);
	ck_assert_msg(!strcmp(fake_thread_fiber(&file, 40), w->fiber), "%s: %s", w->says,
		      fake_thread_fiber(&file, 40));
}
END_TEST

START_TEST(a_thread_that_goes_back_to_its_root_fiber_is_in_none)
{
	uint64_t change[6] = {0, 2};
	struct trc_slot *slot = fake_slot(&f, 0, 40, 4040, "worker");

	atomic_store(&slot->fiber, 2);
	fake_put(&f, 0, 250, TRC_KIND_FIBER_SWITCH, 0, 40, change, 6);
	drain_window(200, 300);
	ck_assert_str_eq(fake_thread_fiber(&file, 40), "");
}
END_TEST

START_TEST(a_dead_ring_says_which_fibers_its_threads_ran)
{
	uint64_t change[6] = {7, 0, fake_string(&f, 3, "seven")};
	struct trc_slot *slot = fake_slot(&f, 0, 40, 4040, "worker");

	atomic_store(&slot->fiber, 6);
	atomic_store(&slot->fiber_name, fake_string(&f, 4, "six"));
	fake_slot(&f, 1, 41, 4041, "switched");
	fake_put(&f, 0, 10, TRC_KIND_FIBER_SWITCH, 0, 41, change, 6);
	slot = fake_slot(&f, 2, 42, 4042, "lies");
	atomic_store(&slot->fiber, UINT64_MAX);
	atomic_store(&slot->fiber_name, UINT64_MAX);
	fake_snapshot(&f, &dead, &file);
	ck_assert_str_eq(fake_thread_fiber(&file, 40), "6 six");
	ck_assert_str_eq(fake_thread_fiber(&file, 41), "7 seven");
	ck_assert_str_eq(fake_thread_fiber(&file, 42), "18446744073709551615 ");
}
END_TEST

/* Those of a fiber that it ran earlier, or later, are not the thread's at the end. */
START_TEST(open_regions_are_those_of_the_fiber_at_the_end_of_the_window)
{
	uint64_t change[6] = {7, 6};
	const struct trc_open_region_entry *region;
	struct trc_slot *slot = fake_slot(&f, 0, 50, 5050, "was seen before it switched");

	for (uint32_t i = 0; i < 2; i++) {
		if (i)
			slot = fake_slot(&f, 1, 51, 5051, "was seen behind that");
		atomic_store(&slot->fiber, 6 + i);
		atomic_store(&slot->n_regions, 1);
		atomic_store(&slot->region[0].task, 60 + i);
		atomic_store(&slot->region[0].since, fake_time(&f, 10));
		fake_put(&f, 0, 250, TRC_KIND_FIBER_SWITCH, 0, 50 + i, change, 6);
	}
	drain_window(200, 300);
	ck_assert_uint_eq(trc_reader_open_regions(file.r, &region), 1);
	ck_assert_uint_eq(region[0].thread, 51);
	ck_assert_uint_eq(region[0].task, 61);
}
END_TEST

START_TEST(open_regions_are_those_at_the_end_of_the_window)
{
	struct trc_slot *slot = fake_slot(&f, 0, 50, 5050, "worker");
	const struct trc_open_region_entry *region;
	uint64_t since[3] = {10, 250, 310};
	const char *text;
	uint32_t n_bytes;

	atomic_store(&slot->n_regions, 3);
	for (uint32_t i = 0; i < 3; i++) {
		atomic_store(&slot->region[i].task, 60 + i);
		atomic_store(&slot->region[i].type, fake_string(&f, i, i ? "inner" : "outer"));
		atomic_store(&slot->region[i].since, fake_time(&f, since[i]));
	}
	slot = fake_slot(&f, 1, 51, 5051, "deep");
	atomic_store(&slot->n_regions, 1000); /* more than are told */
	drain_window(200, 300);
	ck_assert_uint_eq(trc_reader_open_regions(file.r, &region), 2 + TRC_OPEN_REGIONS);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(region[i].thread, 50);
		ck_assert_uint_eq(region[i].depth, i);
		ck_assert_uint_eq(region[i].task, 60 + i);
		ck_assert_uint_eq(region[i].since, fake_time(&f, since[i]));
		text = trc_reader_string(file.r, region[i].type, &n_bytes);
		ck_assert_uint_eq(n_bytes, 5);
		ck_assert_int_eq(memcmp(text, i ? "inner" : "outer", 5), 0);
	}
	ck_assert_uint_eq(region[2].thread, 51);
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
	put_at(0, 10, 1); /* before the cells begin */
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
		put_at(proc, n, n);
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

	tcase_add_checked_fixture(t, set_up, tear_down);
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
	tcase_add_test(t, who_is_named_in_the_window_is_known_from_before);
	tcase_add_test(t, a_thread_of_which_only_the_serial_is_left_is_in_the_table);
	tcase_add_test(t, a_slot_of_a_thread_that_ended_before_the_window_is_told_if_it_is_named);
	tcase_add_test(t, threads_by_the_thousand_are_told_apart);
	tcase_add_loop_test(t, a_status_is_that_at_the_end_of_the_window, 0,
			    sizeof(doings) / sizeof(*doings));
	tcase_add_loop_test(t, fibers_are_those_at_the_end_of_the_window, 0,
			    sizeof(runnings) / sizeof(*runnings));
	tcase_add_test(t, a_thread_that_goes_back_to_its_root_fiber_is_in_none);
	tcase_add_test(t, a_dead_ring_says_which_fibers_its_threads_ran);
	tcase_add_test(t, open_regions_are_those_of_the_fiber_at_the_end_of_the_window);
	tcase_add_loop_test(t, labels_are_those_at_the_end_of_the_window, 0,
			    sizeof(workings) / sizeof(*workings));
	tcase_add_test(t, open_regions_are_those_at_the_end_of_the_window);
	tcase_add_test(t, cells_begin_with_the_first_whole_record);
	tcase_add_test(t, cells_that_a_dead_process_left_open_are_lost_events);
	tcase_add_test(t, a_thread_in_the_middle_of_a_record_gets_a_moment);
	tcase_add_test(t, a_ring_of_another_boot_is_read_without_this_machines_clock);
	tcase_add_test(t, a_crash_is_told_once_it_is_complete);
	tcase_add_loop_test(t, what_is_being_overwritten_is_left_out, 0, 2); /* mapping, file */
	suite_add_tcase(suite, t);
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(snapshot_suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
