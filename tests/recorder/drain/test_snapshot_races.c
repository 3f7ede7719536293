/*
 * test_snapshot_races.c - everything that can happen between two reads of a snapshot.
 *
 * The copying is compiled in here, with a step of the recorded process after each read in place of
 * the fence: so every order of the two is tried, not those that chance brings about.
 */
#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void step(void);
#undef atomic_thread_fence
#define atomic_thread_fence(order) step()
#include "recorder/drain/snapshot_copy.c"
#include "recorder/shared/clock.h"
#include "fake_ring.h"
#include "tests/turns.h"
#include "tests/suite.h"

enum { RING_BYTES = 32768, RECORDS_A_PAGE = 256, READS = 40 };

static struct fake f;
static struct fake_file file;
static int n_read, step_at; /* what happens after the step_at-th read */
static void (*happening)(void);
static uint64_t how_many, next_record;

static const struct trc_snapshot_options live_all = {.window_ns = UINT64_MAX, .all = true};

static void step(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (happening && n_read++ == step_at) {
		void (*what)(void) = happening;

		happening = NULL;
		what();
	}
}

static void set_up(void)
{
	fake_init_alone(&f, RING_BYTES); /* four pages */
	f.overwrite = true;
	next_record = 0;
	happening = NULL;
}

static void tear_down(void)
{
	fake_free(&f);
}

/* The snapshot of which the k-th read is followed by this. */
static void snapshot_with(int k, void (*what)(void))
{
	n_read = 0;
	step_at = k;
	happening = what;
	fake_snapshot(&f, &live_all, &file);
	happening = NULL;
}

/* ---- rings ----------------------------------------------------------------------------- */

static void put_records(void)
{
	for (uint64_t i = 0; i < how_many; i++, next_record++) {
		uint64_t words[2] = {next_record, 3 * next_record};

		ck_assert(fake_put(&f, 0, next_record, TRC_KIND_RELEASE, 0, 7, words, 2));
	}
}

static void put_cells(void)
{
	for (uint64_t i = 0; i < how_many; i++, next_record++)
		fake_cell_put(&f, next_record, 9, next_record, 3 * next_record);
}

/* One run of records, each of them whole, that holds all from `first` to `last`. */
static void expect_run_with(uint64_t first, uint64_t last, int k)
{
	ck_assert_uint_eq(file.totals.damaged, 0);
	ck_assert_uint_gt(file.n_rows, 0);
	for (size_t i = 0; i < file.n_rows; i++) {
		ck_assert_msg(file.row[i].kind == TRC_KIND_RELEASE, "read %d: a %u", k,
			      file.row[i].kind);
		ck_assert_uint_eq(file.row[i].arg[0], file.row[0].arg[0] + i);
		ck_assert_uint_eq(file.row[i].arg[1], 3 * file.row[i].arg[0]);
	}
	ck_assert_msg(file.row[0].arg[0] <= first && file.row[file.n_rows - 1].arg[0] >= last,
		      "read %d, %lu written: %lu to %lu is there, %lu to %lu should be", k,
		      how_many, file.row[0].arg[0], file.row[file.n_rows - 1].arg[0], first, last);
}

static const uint64_t amounts[] = {1, 255, 256, 257, 700, 1023, 1024, 1025, 5000};

START_TEST(a_ring_written_to_at_any_moment_is_whole_as_far_as_it_is_told)
{
	if (!takes_turn((size_t)_i, 3))
		return;
	how_many = amounts[_i];
	for (int k = 0; k < READS; k++) {
		uint64_t before, after, keeps = how_many + 2 * RECORDS_A_PAGE;

		tear_down();
		set_up();
		how_many = 3000;
		put_records();
		before = next_record;
		how_many = amounts[_i];
		snapshot_with(k, put_records);
		after = next_record;
		/* Up to the cut nothing is missing: what was there before, and is there still. */
		if (keeps < 1024 && after > before)
			expect_run_with(after - 1024 + RECORDS_A_PAGE, before - 1, k);
		else if (file.n_rows)
			expect_run_with(UINT64_MAX, 0, k);
		fake_file_free(&file);
	}
}
END_TEST

START_TEST(cells_written_to_at_any_moment_are_whole_as_far_as_they_are_told)
{
	uint64_t n_cells = f.shared->n_cells;

	if (!takes_turn((size_t)_i, 3))
		return;
	for (int k = 0; k < READS; k++) {
		uint64_t before, after;

		tear_down();
		set_up();
		how_many = 3 * n_cells / 2;
		put_cells();
		before = next_record;
		how_many = amounts[_i];
		snapshot_with(k, put_cells);
		after = next_record;
		if (how_many < n_cells && after > before)
			expect_run_with(after - n_cells, before - 1, k);
		else if (file.n_rows)
			expect_run_with(UINT64_MAX, 0, k);
		ck_assert_uint_eq(fake_lost(&file, 0), 0);
		fake_file_free(&file);
	}
}
END_TEST

/* ---- tables ---------------------------------------------------------------------------- */

static uint64_t old_stack, old_string;

/* The first half of replacing an entry: layout:T2. */
static void evict_half(struct trc_entry_head *e)
{
	uint64_t *word = (uint64_t *)(e + 1);

	atomic_store(&e->key, TRC_KEY_BUSY);
	word[0] = 0x6161616161616161;
}

static void begin_to_evict(void)
{
	evict_half(trc_stack_entry(f.shared, old_stack));
	evict_half(trc_string_entry(f.shared, old_string));
}

static void put_old_entries(void)
{
	uint64_t frame[3] = {0x1000, 0x2000, 0x3000};

	old_stack = fake_stack(&f, 5, 0, frame, 3);
	old_string = fake_string(&f, 5, "the old");
}

static void evict(void)
{
	uint64_t frame[3] = {0xa, 0xb, 0xc};

	begin_to_evict();
	fake_stack(&f, 5, 0, frame, 3);
	fake_string(&f, 5, "another one");
}

static void expect_old_or_none(int k)
{
	const struct fake_row *park = fake_row(&file, TRC_KIND_PARK, 0);
	const struct fake_row *counter = fake_row(&file, TRC_KIND_COUNTER, 0);
	struct trc_stack_view view;
	uint32_t n_bytes;

	ck_assert_ptr_nonnull(park);
	ck_assert_ptr_nonnull(counter);
	if (park->arg[3]) {
		ck_assert_int_eq(trc_reader_stack(file.r, (uint32_t)park->arg[3], &view), 0);
		ck_assert_msg(view.n_frames == 3 && view.frame[0] == 0x1000 &&
				      view.frame[1] == 0x2000 && view.frame[2] == 0x3000,
			      "read %d: another stack", k);
	}
	if (counter->arg[0]) {
		const char *text = trc_reader_string(file.r, (uint32_t)counter->arg[0], &n_bytes);

		ck_assert_msg(n_bytes == 7 && !memcmp(text, "the old", 7),
			      "read %d: another string", k);
	}
}

START_TEST(an_entry_evicted_at_any_moment_is_the_old_one_or_none)
{
	bool seen = false, gone = false;

	if (!takes_turn((size_t)_i, 2))
		return;
	/* Far enough to get through all of the tables. */
	for (int k = 0; k < 600; k += k < READS ? 1 : 7) {
		uint64_t park[4] = {TRC_REASON_MUTEX, 6, 0, 0}, counter[2] = {0, 17};

		tear_down();
		set_up();
		put_old_entries();
		park[3] = old_stack;
		counter[0] = old_string;
		fake_put(&f, 0, 10, TRC_KIND_PARK, 0, 7, park, 4);
		fake_put(&f, 0, 11, TRC_KIND_COUNTER, 0, 7, counter, 2);
		snapshot_with(k, _i ? evict : begin_to_evict);
		expect_old_or_none(k);
		seen = seen || fake_row(&file, TRC_KIND_PARK, 0)->arg[3];
		gone = gone || !fake_row(&file, TRC_KIND_PARK, 0)->arg[3];
		fake_file_free(&file);
	}
	ck_assert(seen && gone); /* or this tests nothing */
}
END_TEST

static struct trc_slot *slot;

static void go_on_to_change_slot(void)
{
	atomic_store(&slot->tid, 3031);
	atomic_store(&slot->wait_reason, TRC_REASON_COND);
	atomic_store(&slot->wait_object, 31);
	atomic_store(&slot->wait_since, fake_time(&f, 31));
	atomic_fetch_add(&slot->seq, 1);
}

static void change_slot(void)
{
	atomic_fetch_add(&slot->seq, 1);
	atomic_store(&slot->serial, 31);
	step_at = n_read; /* the rest after the next read */
	happening = go_on_to_change_slot;
}

START_TEST(a_slot_is_of_one_thread_or_the_other)
{
	for (int k = 0; k < READS; k++) {
		const struct trc_status_entry *status;
		const struct trc_thread_entry *thread;

		tear_down();
		set_up();
		slot = fake_slot(&f, 0, 30, 3030, "");
		atomic_store(&slot->wait_reason, TRC_REASON_MUTEX);
		atomic_store(&slot->wait_object, 30);
		atomic_store(&slot->wait_since, fake_time(&f, 30));
		snapshot_with(k, change_slot);
		ck_assert_uint_eq(trc_reader_status(file.r, &status), 1);
		thread = trc_reader_thread(file.r, 0);
		ck_assert_uint_eq(status->thread, thread->serial);
		ck_assert_uint_eq(status->object, thread->serial);
		ck_assert_uint_eq(thread->tid, 3000 + thread->serial);
		ck_assert_uint_eq(status->since, fake_time(&f, thread->serial));
		ck_assert_uint_eq(status->reason,
				  thread->serial == 30 ? TRC_REASON_MUTEX : TRC_REASON_COND);
		fake_file_free(&file);
	}
}
END_TEST

/* The change is made now, and not at a time of the fake's: it is before the cut or behind it. */
static uint64_t old_labels, new_labels;

static void change_labels(void)
{
	uint64_t change[2] = {new_labels, old_labels};

	fake_put(&f, 0, trc_clock_ordered() - f.shared->start.ticks, TRC_KIND_LABELS, 0, 30, change,
		 2);
	atomic_store(&slot->labels, new_labels);
}

START_TEST(labels_changed_at_any_moment_are_those_that_the_events_say)
{
	bool before = false, behind = false;

	for (int k = 0; k < READS; k++) {
		bool told;

		tear_down();
		set_up();
		old_labels = fake_labels(&f, 3, "tenant", "42");
		new_labels = fake_labels(&f, 4, "tenant", "43");
		slot = fake_slot(&f, 0, 30, 3030, "");
		atomic_store(&slot->labels, old_labels);
		snapshot_with(k, change_labels);
		told = fake_count(&file, TRC_KIND_LABELS) == 1;
		before |= told;
		behind |= !told && atomic_load(&slot->labels) == new_labels;
		ck_assert_str_eq(fake_thread_labels(&file, 30), told ? "tenant=43" : "tenant=42");
		fake_file_free(&file);
	}
	ck_assert(before && behind); /* or this tests nothing */
}
END_TEST

/* Fibers 7 and 8 have each been in a region for long: of task 7 or 8. */
static void run_fiber(uint64_t fiber)
{
	atomic_fetch_add(&slot->seq, 1);
	atomic_store(&slot->fiber, fiber);
	atomic_store(&slot->fiber_name, fake_string(&f, (uint32_t)fiber, fiber == 7 ? "A" : "B"));
	atomic_store(&slot->n_regions, 1);
	atomic_store(&slot->region[0].task, fiber);
	atomic_store(&slot->region[0].since, fake_time(&f, 1));
	atomic_fetch_add(&slot->seq, 1);
}

static void switch_fiber(void)
{
	uint64_t change[6] = {8, 7, fake_string(&f, 8, "B")};

	fake_put(&f, 0, trc_clock_ordered() - f.shared->start.ticks, TRC_KIND_FIBER_SWITCH, 0, 30,
		 change, 6);
	run_fiber(8);
}

START_TEST(fibers_switched_at_any_moment_are_those_that_the_events_say)
{
	bool before = false, behind = false;

	for (int k = 0; k < READS; k++) {
		const struct trc_open_region_entry *region;
		bool told;

		tear_down();
		set_up();
		slot = fake_slot(&f, 0, 30, 3030, "");
		run_fiber(7);
		snapshot_with(k, switch_fiber);
		told = fake_count(&file, TRC_KIND_FIBER_SWITCH) == 1;
		before |= told;
		behind |= !told && atomic_load(&slot->fiber) == 8;
		ck_assert_str_eq(fake_thread_fiber(&file, 30), told ? "8 B" : "7 A");
		/* And no region of the other one. */
		if (trc_reader_open_regions(file.r, &region))
			ck_assert_uint_eq(region[0].task, told ? 8 : 7);
		fake_file_free(&file);
	}
	ck_assert(before && behind); /* or this tests nothing */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("snapshot races");
	TCase *t = tcase_create("snapshot races");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, a_ring_written_to_at_any_moment_is_whole_as_far_as_it_is_told, 0,
			    sizeof(amounts) / sizeof(*amounts));
	tcase_add_loop_test(t, cells_written_to_at_any_moment_are_whole_as_far_as_they_are_told, 0,
			    sizeof(amounts) / sizeof(*amounts));
	tcase_add_loop_test(t, an_entry_evicted_at_any_moment_is_the_old_one_or_none, 0, 2);
	tcase_add_test(t, a_slot_is_of_one_thread_or_the_other);
	tcase_add_test(t, labels_changed_at_any_moment_are_those_that_the_events_say);
	tcase_add_test(t, fibers_switched_at_any_moment_are_those_that_the_events_say);
	suite_add_tcase(suite, t);
	return suite_run(suite);
}
