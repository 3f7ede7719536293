/* snapshot_threads.c - which threads a snapshot knows, and what they were doing. */
#include <string.h>
#include "snapshot_fixture.h"

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
	put_counted_at(0, 150, 0);
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

void snapshot_threads(TCase *t)
{
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
}
