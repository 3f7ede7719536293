/* drain_ids.c - stacks, labels, strings and tables, from a mapping into a file. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "drain_fixture.h"
#include "recorder/drain/private.h"
#include "tests/often.h"

/* ---- ids ------------------------------------------------------------------------------- */

START_TEST(stacks_of_the_table_and_inline_ones_are_the_same_in_the_file)
{
	uint64_t frame[3] = {0x1000, 0x2000, 0x3000};
	uint64_t park[7] = {TRC_REASON_MUTEX, 0xabc, 0, 0, UINT64_C(0) << 32 | 3};
	struct trc_stack_view view;

	memcpy(park + 5, frame, 16);
	park[3] = fake_stack(&f, 5, 0, frame, 3);
	fake_put(&f, 0, 1, TRC_KIND_PARK, 0, 1, park, 4);
	fake_put(&f, 0, 2, TRC_KIND_PARK, 0, 1, park, 4); /* from the cache */
	park[3] = 0;
	park[4] = 2;
	fake_put(&f, 0, 3, TRC_KIND_PARK, TRC_REC_INLINE_STACK, 1, park, 7);
	park[4] = 0;
	fake_put(&f, 0, 4, TRC_KIND_PARK, TRC_REC_INLINE_STACK, 1, park, 5);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 0)->arg[3], row(TRC_KIND_PARK, 1)->arg[3]);
	ck_assert_int_eq(trc_reader_stack(file.r, (uint32_t)row(TRC_KIND_PARK, 0)->arg[3], &view),
			 0);
	ck_assert_uint_eq(view.n_frames, 3);
	ck_assert_mem_eq(view.frame, frame, sizeof(frame));
	ck_assert_int_eq(trc_reader_stack(file.r, (uint32_t)row(TRC_KIND_PARK, 2)->arg[3], &view),
			 0);
	ck_assert_uint_eq(view.n_frames, 2);
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
}
END_TEST

START_TEST(an_evicted_stack_reads_as_none_and_is_counted)
{
	uint64_t frame[1] = {0x1000}, other[1] = {0x9999};
	uint64_t park[4] = {TRC_REASON_MUTEX, 0xabc, 0, 0};
	struct trc_drain_totals totals;

	park[3] = fake_stack(&f, 5, 0, frame, 1);
	fake_stack(&f, 5, 0, other, 1);
	fake_put(&f, 0, 1, TRC_KIND_PARK, 0, 1, park, 4);
	park[3] = ~UINT64_C(0); /* no such place */
	fake_put(&f, 0, 2, TRC_KIND_PARK, 0, 1, park, 4);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	trc_drain_totals(f.drain, &totals);
	ck_assert_uint_eq(totals.evicted, 2);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 0)->arg[3], 0);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 1)->arg[3], 0);
}
END_TEST

static const char *string_of(uint64_t id)
{
	static char text[300];
	uint32_t n;
	const char *bytes = trc_reader_string(file.r, (uint32_t)id, &n);

	if (!bytes)
		return NULL;
	memcpy(text, bytes, n);
	text[n] = '\0';
	return text;
}

START_TEST(label_sets_of_the_table_and_inline_ones_are_the_same_in_the_file)
{
	uint64_t a = fake_labels(&f, 3, "tenant", "42"), b = fake_labels(&f, 4, "tenant", "43");
	uint64_t gone = a ^ 1; /* an entry that is another one's now */
	uint64_t change[2] = {a, b}, none[2] = {gone, 0}, carries[3 + 8] = {0, a};
	uint64_t sample[5] = {1, 10, 10, 0, b};
	struct trc_drain_totals totals;

	carries[2] = fake_labels_bytes((char *)(carries + 3), "tenant", "43");
	fake_put(&f, 0, 1, TRC_KIND_LABELS, 0, 5, change, 2);
	fake_put(&f, 0, 2, TRC_KIND_LABELS, TRC_REC_INLINE_LABELS, 5, carries,
		 3 + ((uint32_t)carries[2] + 7) / 8);
	fake_put(&f, 0, 3, TRC_KIND_SAMPLE, 0, 5, sample, 5);
	fake_put(&f, 0, 4, TRC_KIND_LABELS, 0, 5, none, 2);
	trc_drain_pass(f.drain);
	trc_drain_totals(f.drain, &totals);
	ck_assert_uint_eq(totals.evicted, 1);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_str_eq(fake_labels_text(&file, fake_row(&file, TRC_KIND_LABELS, 0)->arg[0]),
			 "tenant=42");
	ck_assert_str_eq(fake_labels_text(&file, fake_row(&file, TRC_KIND_LABELS, 0)->arg[1]),
			 "tenant=43");
	ck_assert_uint_eq(fake_row(&file, TRC_KIND_LABELS, 1)->arg[0],
			  fake_row(&file, TRC_KIND_LABELS, 0)->arg[1]);
	ck_assert_uint_eq(fake_row(&file, TRC_KIND_LABELS, 1)->arg[1],
			  fake_row(&file, TRC_KIND_LABELS, 0)->arg[0]);
	ck_assert_uint_eq(fake_row(&file, TRC_KIND_SAMPLE, 0)->arg[4],
			  fake_row(&file, TRC_KIND_LABELS, 0)->arg[1]);
	ck_assert_uint_eq(fake_row(&file, TRC_KIND_LABELS, 2)->arg[0], 0);
	ck_assert_uint_eq(trc_reader_label_sets(file.r), 3); /* 1, 2, and one beyond */
}
END_TEST

/* The table may have no room for either: what was in force before is then in the record as well. */
START_TEST(both_label_sets_of_a_record_may_be_inline)
{
	uint64_t both[3 + 8 + 1 + 8] = {0, 0}, before[3 + 8], a = fake_labels(&f, 3, "tenant", "1");
	uint32_t words;

	both[2] = fake_labels_bytes((char *)(both + 3), "tenant", "42");
	words = 3 + ((uint32_t)both[2] + 7) / 8;
	both[words] = fake_labels_bytes((char *)(both + words + 1), "tenant", "43");
	fake_put(&f, 0, 1, TRC_KIND_LABELS, TRC_REC_INLINE_LABELS | TRC_REC_INLINE_BEFORE, 5, both,
		 words + 1 + ((uint32_t)both[words] + 7) / 8);
	before[0] = a;
	before[1] = 0;
	before[2] = fake_labels_bytes((char *)(before + 3), "tenant", "43");
	fake_put(&f, 0, 2, TRC_KIND_LABELS, TRC_REC_INLINE_BEFORE, 5, before,
		 3 + ((uint32_t)before[2] + 7) / 8);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_str_eq(fake_labels_text(&file, fake_row(&file, TRC_KIND_LABELS, 0)->arg[0]),
			 "tenant=42");
	ck_assert_str_eq(fake_labels_text(&file, fake_row(&file, TRC_KIND_LABELS, 0)->arg[1]),
			 "tenant=43");
	ck_assert_str_eq(fake_labels_text(&file, fake_row(&file, TRC_KIND_LABELS, 1)->arg[0]),
			 "tenant=1");
	ck_assert_uint_eq(fake_row(&file, TRC_KIND_LABELS, 1)->arg[1],
			  fake_row(&file, TRC_KIND_LABELS, 0)->arg[1]);
}
END_TEST

START_TEST(an_inline_label_set_that_is_none_is_no_labels)
{
	uint64_t lies[3 + 130] = {0, 0, 12, UINT64_MAX, UINT64_MAX}; /* lengths beyond its end */
	uint64_t sample[3] = {1, 2, 3};

	fake_put(&f, 0, 1, TRC_KIND_LABELS, TRC_REC_INLINE_LABELS, 5, lies, 5);
	fake_put(&f, 0, 2, TRC_KIND_RELEASE, 0, 5, sample, 2);
	lies[2] = TRC_LABELS_BYTES_MAX + 1;
	fake_put(&f, 0, 3, TRC_KIND_LABELS, TRC_REC_INLINE_LABELS, 5, lies, 3 + 126);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_LABELS), 1);
	ck_assert_uint_eq(fake_row(&file, TRC_KIND_LABELS, 0)->arg[0], 0);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 1);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_DAMAGED), 1);
}
END_TEST

START_TEST(the_labels_of_threads_at_the_end_are_told)
{
	uint64_t a = fake_labels(&f, 3, "tenant", "42"), b = fake_labels(&f, 4, "tenant", "43");
	const struct trc_thread_labels_entry *entry;

	atomic_store(&fake_slot(&f, 0, 30, 3030, "one")->labels, a);
	atomic_store(&fake_slot(&f, 1, 31, 3031, "two")->labels, b);
	fake_slot(&f, 2, 32, 3032, "none");
	fake_finish(&f, TRC_DRAIN_STOPPED, &file);
	ck_assert_uint_eq(trc_reader_thread_labels(file.r, &entry), 2);
	ck_assert_str_eq(fake_thread_labels(&file, 30), "tenant=42");
	ck_assert_str_eq(fake_thread_labels(&file, 31), "tenant=43");
}
END_TEST

START_TEST(the_fibers_of_threads_at_the_end_are_told)
{
	const struct trc_thread_fiber_entry *entry;
	uint64_t name = fake_string(&f, 3, "session");
	struct trc_slot *slot = fake_slot(&f, 0, 30, 3030, "one");

	atomic_store(&slot->fiber, UINT64_C(5) << 32);
	atomic_store(&slot->fiber_name, name);
	slot = fake_slot(&f, 1, 31, 3031, "two");
	atomic_store(&slot->fiber, 7);
	atomic_store(&slot->fiber_name, 0); /* no room for its name */
	fake_slot(&f, 2, 32, 3032, "root");
	fake_finish(&f, TRC_DRAIN_STOPPED, &file);
	ck_assert_uint_eq(trc_reader_thread_fibers(file.r, &entry), 2);
	ck_assert_str_eq(fake_thread_fiber(&file, 30), "21474836480 session");
	ck_assert_str_eq(fake_thread_fiber(&file, 31), "7 ");
}
END_TEST

/* Whoever can write to the mapping says what they like. */
START_TEST(slots_that_lie_about_fibers_harm_nothing)
{
	struct trc_drain_totals totals;
	struct trc_slot *slot = fake_slot(&f, 0, 30, 3030, "one");

	atomic_store(&slot->fiber, UINT64_MAX);
	atomic_store(&slot->fiber_name, UINT64_MAX);
	slot = fake_slot(&f, 1, 31, 3031, "two");
	atomic_store(&slot->fiber, 8);
	atomic_store(&slot->fiber_name, fake_string(&f, 3, "session") ^ 1); /* gone */
	slot = fake_slot(&f, 2, 2000000, 3032, "nobody");
	atomic_store(&slot->fiber, 9);
	slot = fake_slot(&f, 3, 32, 3033, "root");
	atomic_store(&slot->fiber_name, UINT64_MAX);
	put_counted(0, 1);
	fake_finish(&f, TRC_DRAIN_STOPPED, &file);
	trc_drain_totals(f.drain, &totals);
	ck_assert_uint_eq(totals.evicted, 2);
	ck_assert_str_eq(fake_thread_fiber(&file, 30), "18446744073709551615 ");
	ck_assert_str_eq(fake_thread_fiber(&file, 31), "8 ");
	ck_assert_str_eq(fake_thread_fiber(&file, 32), "");
	ck_assert_str_eq(fake_thread_fiber(&file, 2000000), "");
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 1);
}
END_TEST

/* The words of a string, then those of a stack, as they lie inline; how many. */
static uint32_t inline_parts(uint64_t *word, const char *text, const uint64_t *frame, uint32_t n)
{
	uint32_t n_bytes = (uint32_t)strlen(text), n_words = (n_bytes + 7) / 8;

	word[0] = n_bytes;
	memcpy(word + 1, text, n_bytes);
	word[1 + n_words] = n;
	memcpy(word + 2 + n_words, frame, n * sizeof(*frame));
	return 2 + n_words + n;
}

static void expect_stack(uint64_t id, const uint64_t *frame, uint32_t n_frames)
{
	struct trc_stack_view view;

	ck_assert_int_eq(trc_reader_stack(file.r, (uint32_t)id, &view), 0);
	ck_assert_uint_eq(view.n_frames, n_frames);
	ck_assert_mem_eq(view.frame, frame, n_frames * sizeof(*frame));
}

START_TEST(events_of_fibers_with_ids)
{
	uint64_t frame[3] = {0x1000, 0x2000, 0x3000};
	uint64_t name = fake_string(&f, 3, "session"), stack = fake_stack(&f, 5, 0, frame, 3);
	uint64_t create[3] = {7, name, stack};
	uint64_t change[6] = {7, 6, name, TRC_REASON_USER, 0xabc, stack};
	uint64_t ready[2] = {7, stack}, end[1] = {7};

	fake_put(&f, 0, 1, TRC_KIND_FIBER_CREATE, 0, 5, create, 3);
	fake_put(&f, 0, 2, TRC_KIND_FIBER_SWITCH, 0, 5, change, 6);
	fake_put(&f, 0, 3, TRC_KIND_FIBER_READY, 0, 6, ready, 2);
	fake_put(&f, 0, 4, TRC_KIND_FIBER_END, 0, 5, end, 1);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_CREATE, 0)->arg[0], 7);
	ck_assert_str_eq(string_of(row(TRC_KIND_FIBER_CREATE, 0)->arg[1]), "session");
	expect_stack(row(TRC_KIND_FIBER_CREATE, 0)->arg[2], frame, 3);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[0], 7);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[1], 6);
	ck_assert_str_eq(string_of(row(TRC_KIND_FIBER_SWITCH, 0)->arg[2]), "session");
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[3], TRC_REASON_USER);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[4], 0xabc);
	expect_stack(row(TRC_KIND_FIBER_SWITCH, 0)->arg[5], frame, 3);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_READY, 0)->thread, 6);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_READY, 0)->arg[0], 7);
	expect_stack(row(TRC_KIND_FIBER_READY, 0)->arg[1], frame, 3);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_END, 0)->arg[0], 7);
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
}
END_TEST

START_TEST(events_of_fibers_with_all_of_it_inline)
{
	const unsigned int both = TRC_REC_INLINE_STRING | TRC_REC_INLINE_STACK;
	uint64_t frame[2] = {0x1000, 0x2000};
	uint64_t create[16] = {7}, change[16] = {7, 6, 0, TRC_REASON_USER, 0xabc};
	uint64_t ready[5] = {7, 0, 2, 0x1000, 0x2000}, unnamed[6] = {0, 7};
	uint32_t n = inline_parts(create + 3, "a session", frame, 2);

	fake_put(&f, 0, 1, TRC_KIND_FIBER_CREATE, both, 5, create, 3 + n);
	n = inline_parts(change + 6, "a session", frame, 2);
	fake_put(&f, 0, 2, TRC_KIND_FIBER_SWITCH, both, 5, change, 6 + n);
	fake_put(&f, 0, 3, TRC_KIND_FIBER_READY, TRC_REC_INLINE_STACK, 6, ready, 5);
	fake_put(&f, 0, 4, TRC_KIND_FIBER_SWITCH, 0, 5, unnamed, 6);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_str_eq(string_of(row(TRC_KIND_FIBER_CREATE, 0)->arg[1]), "a session");
	expect_stack(row(TRC_KIND_FIBER_CREATE, 0)->arg[2], frame, 2);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[1], 6);
	ck_assert_str_eq(string_of(row(TRC_KIND_FIBER_SWITCH, 0)->arg[2]), "a session");
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[3], TRC_REASON_USER);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[4], 0xabc);
	expect_stack(row(TRC_KIND_FIBER_SWITCH, 0)->arg[5], frame, 2);
	expect_stack(row(TRC_KIND_FIBER_READY, 0)->arg[1], frame, 2);
	for (int i = 2; i < 6; i++)
		ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 1)->arg[i], 0);
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
}
END_TEST

/* R3: what does not fill its record exactly is damage, up to where the next page begins. */
START_TEST(an_event_of_a_fiber_that_is_cut_short_is_damage)
{
	uint64_t change[8] = {7, 6, 0, 0, 0, 0, 64, 0}; /* a name beyond its end */

	put_counted(0, 1);
	fake_put(&f, 0, 2, TRC_KIND_FIBER_SWITCH, TRC_REC_INLINE_STRING, 5, change, 8);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_FIBER_SWITCH), 0);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_DAMAGED), 1);
}
END_TEST

START_TEST(texts_and_strings_of_all_kinds)
{
	uint64_t log[3 + 2 + 1 + 2] = {41, 0, 10};
	uint64_t counter[2] = {0, 77};

	counter[0] = fake_string(&f, 3, "queue");
	fake_put(&f, 0, 1, TRC_KIND_COUNTER, 0, 1, counter, 2);
	memcpy(log + 3, "0123456789", 10);
	log[1] = counter[0];
	fake_put(&f, 0, 2, TRC_KIND_LOG, 0, 1, log, 5);
	log[1] = 0;
	log[5] = 9;
	memcpy(log + 6, "dynamic-1", 9);
	fake_put(&f, 0, 3, TRC_KIND_LOG, TRC_REC_INLINE_STRING, 1, log, 8);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_str_eq(string_of(row(TRC_KIND_COUNTER, 0)->arg[0]), "queue");
	ck_assert_uint_eq(row(TRC_KIND_COUNTER, 0)->arg[1], 77);
	ck_assert_str_eq(row(TRC_KIND_LOG, 0)->text, "0123456789");
	ck_assert_str_eq(string_of(row(TRC_KIND_LOG, 0)->arg[1]), "queue");
	ck_assert_str_eq(row(TRC_KIND_LOG, 1)->text, "0123456789");
	ck_assert_str_eq(string_of(row(TRC_KIND_LOG, 1)->arg[1]), "dynamic-1");
	ck_assert_uint_eq(row(TRC_KIND_LOG, 1)->arg[0], 41);
}
END_TEST

/* What records bring along. */
START_TEST(more_strings_and_stacks_come_than_the_writer_has_room_for)
{
	enum { N = 12000, WORDS = 6 + 1 + 25 + 1 + 100 };
	uint64_t wait[WORDS] = {TRC_REASON_READ}, *frame = wait + 6 + 1 + 25 + 1;
	char text[201], number[12];

	memset(text, 'x', 200);
	text[200] = '\0';
	wait[6] = 200;
	wait[6 + 1 + 25] = 100;
	for (uint32_t i = 0; i < N; i++) {
		memcpy(text, number, (size_t)sprintf(number, "%u", i));
		memcpy(wait + 7, text, 200);
		for (uint32_t k = 0; k < 100; k++)
			frame[k] = 0x1000 + 100 * i + k;
		fake_put(&f, 0, i + 1, TRC_KIND_WAIT, TRC_REC_INLINE_STRING | TRC_REC_INLINE_STACK,
			 1, wait, WORDS);
		trc_drain_pass(f.drain);
	}
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_gt(trc_reader_info(file.r)->n_generations, 2);
	ck_assert_uint_eq(file.n_rows, N);
	memset(text, 'x', 200);
	for (uint32_t i = 0; i < N; i++) {
		struct trc_stack_view stack;
		uint32_t stack_id = (uint32_t)file.row[i].arg[4];

		memcpy(text, number, (size_t)sprintf(number, "%u", i));
		ck_assert_str_eq(string_of(file.row[i].arg[5]), text);
		ck_assert_int_eq(trc_reader_stack(file.r, stack_id, &stack), 0);
		ck_assert_uint_eq(stack.frame[0], 0x1000 + 100 * i);
	}
}
END_TEST

/* What is in the ring's table: as many at a time as there is room for. */
START_TEST(more_strings_come_one_after_the_other_than_the_writer_has_room_for)
{
	enum { ROUNDS = 190, ENTRIES = 1024, PASS = 256 };
	uint64_t counter[2] = {0, 0};
	char text[16];

	for (uint32_t i = 0; i < ROUNDS * ENTRIES; i++) {
		/* Its first byte makes it another entry than the one that was there before. */
		sprintf(text, "%c%u", (char)(' ' + i / ENTRIES), i);
		counter[0] = fake_string(&f, i % ENTRIES, text);
		fake_put(&f, 0, i + 1, TRC_KIND_COUNTER, 0, 1, counter, 2);
		if (i % PASS == PASS - 1)
			trc_drain_pass(f.drain);
	}
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_gt(trc_reader_info(file.r)->n_generations, 1);
	ck_assert_uint_eq(file.n_rows, ROUNDS * ENTRIES);
	for (uint32_t i = 0; i < ROUNDS * ENTRIES; i++) {
		sprintf(text, "%c%u", (char)(' ' + i / ENTRIES), i);
		expect_msg(!strcmp(string_of(file.row[i].arg[0]), text), "%u is not %s", i, text);
	}
}
END_TEST

START_TEST(a_tid_becomes_the_thread_that_had_it_at_the_time)
{
	struct trc_slot *slot = fake_slot(&f, 0, 5, 333, "first");
	uint64_t park[4] = {TRC_REASON_MUTEX, 0xabc, TRC_THREAD_IS_TID | 333, 0};

	fake_put(&f, 0, 500, TRC_KIND_PARK, 0, 1, park, 4);
	trc_drain_pass(f.drain);
	atomic_store(&slot->end, fake_time(&f, 1000));
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	slot = fake_slot(&f, 3, 9, 333, "second");
	atomic_store(&slot->start, fake_time(&f, 2000));
	fake_put(&f, 0, 900, TRC_KIND_PARK, 0, 1, park, 4);
	fake_put(&f, 0, 2500, TRC_KIND_PARK, 0, 1, park, 4);
	park[2] = TRC_THREAD_IS_TID | 444;
	fake_put(&f, 0, 2600, TRC_KIND_PARK, 0, 1, park, 4);
	park[2] = 12;
	fake_put(&f, 0, 2700, TRC_KIND_PARK, 0, 1, park, 4);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 0)->arg[2], 5);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 1)->arg[2], 5);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 2)->arg[2], 9);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 3)->arg[2], 0);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 4)->arg[2], 12);
}
END_TEST

/* Created, waited for, drained, and only then in its slot. */
START_TEST(a_thread_that_makes_itself_known_after_the_drain_is_who_was_waited_for)
{
	uint64_t park[4] = {TRC_REASON_JOIN, 0xabc, TRC_THREAD_IS_TID | 333, 0};
	struct trc_slot *slot;

	fake_put(&f, 0, 500, TRC_KIND_PARK, 0, 1, park, 4);
	trc_drain_pass(f.drain);
	slot = fake_slot(&f, 0, 5, 333, "late");
	atomic_store(&slot->start, fake_time(&f, 600));
	trc_drain_pass(f.drain);
	fake_put(&f, 0, 700, TRC_KIND_PARK, 0, 1, park, 4);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 0)->arg[2], 5);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 1)->arg[2], 5);
}
END_TEST

/* Its tid was another's, which had ended. */
START_TEST(a_thread_that_is_not_known_yet_is_not_the_one_that_had_its_tid_before)
{
	uint64_t park[4] = {TRC_REASON_JOIN, 0xabc, TRC_THREAD_IS_TID | 333, 0};
	struct trc_slot *slot = fake_slot(&f, 0, 5, 333, "first");

	atomic_store(&slot->end, fake_time(&f, 1000));
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	fake_put(&f, 0, 9000, TRC_KIND_PARK, 0, 1, park, 4);
	trc_drain_pass(f.drain);
	slot = fake_slot(&f, 1, 6, 333, "second");
	atomic_store(&slot->start, fake_time(&f, 9100));
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 0)->arg[2], 6);
}
END_TEST

/* Whichever ring is drained first. */
START_TEST(a_thread_without_a_slot_is_named_by_its_tid)
{
	uint64_t name[3] = {TRC_THREAD_IS_TID | 333, 6}, start[4] = {333, 1, 0, 0};

	memcpy(&name[2], "helper", 6);
	put_counted(0, 1);
	trc_drain_pass(f.drain);
	atomic_store(&f.shared->slots_full, 2);
	for (uint32_t i = 0; i < 2; i++) {
		start[0] = name[0] = 333 + i;
		name[0] |= TRC_THREAD_IS_TID;
		fake_put(&f, i, 10, TRC_KIND_THREAD_START, 0, 5 + i, start, 4);
		fake_put(&f, !i, 20, TRC_KIND_THREAD_NAME, 0, 1, name, 3);
	}
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_THREAD_NAME), 2);
	ck_assert_uint_eq(row(TRC_KIND_THREAD_NAME, 0)->arg[0] +
				  row(TRC_KIND_THREAD_NAME, 1)->arg[0],
			  5 + 6);
	ck_assert_uint_ne(row(TRC_KIND_THREAD_NAME, 0)->arg[0], 0);
	ck_assert_uint_ne(row(TRC_KIND_THREAD_NAME, 1)->arg[0], 0);
}
END_TEST

/* ---- tables ---------------------------------------------------------------------------- */

static const struct trc_thread_entry *thread(uint32_t serial)
{
	for (size_t i = 0; i < trc_reader_threads(file.r); i++)
		if (trc_reader_thread(file.r, i)->serial == serial)
			return trc_reader_thread(file.r, i);
	ck_abort_msg("no thread %u", serial);
	return NULL;
}

START_TEST(slots_become_threads_and_ended_ones_are_freed)
{
	struct trc_slot *slot = fake_slot(&f, 2, 5, 333, "worker");

	trc_drain_pass(f.drain);
	fake_slot(&f, 2, 5, 333, "worker-renamed");
	trc_drain_pass(f.drain);
	atomic_store(&slot->end, fake_time(&f, 1000));
	atomic_store(&slot->state, TRC_SLOT_ENDED);
	trc_drain_pass(f.drain);
	ck_assert_uint_eq(atomic_load(&slot->state), TRC_SLOT_FREE);
	fake_slot(&f, 1, 6, 334, "stays");
	put_counted(0, 1);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(thread(5)->end, fake_time(&f, 1000));
	ck_assert_uint_eq(thread(5)->tid, 333);
	ck_assert_mem_eq(thread(5)->name, "worker-renamed", 14);
	ck_assert_uint_eq(thread(6)->end, 0);
}
END_TEST

/* Between the look at how many serials there are and that at the slots. */
START_TEST(a_thread_that_comes_during_a_pass_is_known_after_the_next)
{
	atomic_store(&f.shared->next_serial, 4);
	fake_slot(&f, 2, 5, 333, "late");
	trc_drain_pass(f.drain);
	atomic_store(&f.shared->next_serial, 5);
	trc_drain_pass(f.drain);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(thread(5)->tid, 333);
	ck_assert_mem_eq(thread(5)->name, "late", 4);
}
END_TEST

START_TEST(what_a_thread_waits_for_at_the_end_is_in_the_status)
{
	struct trc_slot *slot = fake_slot(&f, 2, 5, 333, "worker");
	uint64_t frame[2] = {0x1000, 0x2000};
	const struct trc_status_entry *status;

	fake_slot(&f, 3, 6, 334, "holder");
	atomic_store(&slot->wait_reason, TRC_REASON_MUTEX);
	atomic_store(&slot->wait_object, 0xdead);
	atomic_store(&slot->wait_since, fake_time(&f, 700));
	atomic_store(&slot->wait_holder, TRC_THREAD_IS_TID | 334);
	atomic_store(&slot->wait_stack, fake_stack(&f, 1, 0, frame, 2));
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(trc_reader_status(file.r, &status), 2);
	ck_assert_uint_eq(status[0].thread, 5);
	ck_assert_uint_eq(status[0].reason, TRC_REASON_MUTEX);
	ck_assert_uint_eq(status[0].object, 0xdead);
	ck_assert_uint_eq(status[0].holder, 6);
	ck_assert_uint_ne(status[0].stack, 0);
	ck_assert_uint_eq(status[0].since, fake_time(&f, 700));
	ck_assert_uint_eq(status[1].reason, 0);
}
END_TEST

START_TEST(modules_with_their_end)
{
	struct trc_module_slot *slot =
		(struct trc_module_slot *)trc_area(f.shared, f.shared->modules_off);

	fake_module(&f, 0, 0x10000, 0x20000, "/usr/bin/program");
	fake_module(&f, 1, 0x30000, 0x40000, "/usr/lib/plugin.so");
	trc_drain_pass(f.drain);
	atomic_store(&slot[1].last_epoch, 4);
	/* One that is being filled in is left for later. */
	atomic_store(&f.shared->n_modules_used, 3);
	atomic_store(&slot[2].state, TRC_MODULE_FILLING);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(trc_reader_modules(file.r), 3);
	ck_assert_str_eq(trc_reader_module(file.r, 1)->path, "/usr/bin/program");
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->last_epoch, UINT32_MAX);
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->build_id_bytes, 20);
	ck_assert_uint_eq(trc_reader_module(file.r, 2)->last_epoch, 4);
}
END_TEST

/* As a process does it that has unloaded the module and has no other entry left. */
static void take_again(struct trc_module_slot *slot, uint32_t epoch, const char *path)
{
	char *heap = trc_area(f.shared, f.shared->heap_off);

	atomic_store(&slot->first_epoch, epoch);
	atomic_store(&slot->last_epoch, UINT32_MAX);
	strcpy(heap + slot->path_off, path);
	atomic_fetch_add(&slot->state, TRC_MODULE_STATES);
}

START_TEST(an_entry_that_is_taken_again_is_another_module)
{
	struct trc_module_slot *slot =
		(struct trc_module_slot *)trc_area(f.shared, f.shared->modules_off);

	fake_module(&f, 0, 0x30000, 0x40000, "/usr/lib/one.so");
	trc_drain_pass(f.drain);
	atomic_store(&slot[0].last_epoch, 4);
	trc_drain_pass(f.drain);
	take_again(&slot[0], 6, "/usr/lib/two.so");
	trc_drain_pass(f.drain);
	atomic_store(&f.shared->module_epoch, 10);
	trc_drain_pass(f.drain);
	/* Its end has not been seen: it was there up to where the next begins. */
	take_again(&slot[0], 9, "/usr/lib/three.so");
	atomic_store(&f.shared->modules_full, 3);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(trc_reader_modules(file.r), 4);
	ck_assert_str_eq(trc_reader_module(file.r, 1)->path, "/usr/lib/one.so");
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->last_epoch, 4);
	ck_assert_str_eq(trc_reader_module(file.r, 2)->path, "/usr/lib/two.so");
	ck_assert_uint_eq(trc_reader_module(file.r, 2)->first_epoch, 6);
	ck_assert_uint_eq(trc_reader_module(file.r, 2)->last_epoch, 8);
	ck_assert_str_eq(trc_reader_module(file.r, 3)->path, "/usr/lib/three.so");
	ck_assert_uint_eq(trc_reader_module(file.r, 3)->first_epoch, 9);
	ck_assert_uint_eq(trc_reader_module(file.r, 3)->last_epoch, UINT32_MAX);
	ck_assert_uint_eq(trc_reader_info(file.r)->table_full, 3);
}
END_TEST

START_TEST(a_module_that_was_not_seen_to_end_is_told_as_far_as_it_was_seen)
{
	struct trc_module_slot *slot =
		(struct trc_module_slot *)trc_area(f.shared, f.shared->modules_off);

	fake_module(&f, 0, 0x30000, 0x40000, "/usr/lib/one.so");
	atomic_store(&slot[0].first_epoch, 2);
	atomic_store(&f.shared->module_epoch, 2);
	trc_drain_pass(f.drain);
	atomic_store(&f.shared->module_epoch, 4);
	trc_drain_pass(f.drain);
	/* Another one has its place in epoch 6. */
	fake_module(&f, 1, 0x30000, 0x40000, "/usr/lib/two.so");
	atomic_store(&slot[1].first_epoch, 6);
	atomic_store(&f.shared->module_epoch, 20);
	take_again(&slot[0], 20, "/usr/lib/three.so");
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(trc_reader_modules(file.r), 4);
	ck_assert_str_eq(trc_reader_module(file.r, 1)->path, "/usr/lib/one.so");
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->last_epoch, 4);
	ck_assert_uint_eq(trc_reader_module(file.r, 2)->first_epoch, 20);
}
END_TEST

START_TEST(fibers_of_a_second_image_are_others)
{
	struct trc_drain *first = f.drain;
	uint64_t create[3] = {3, 0, 0}, change[6] = {3, 2, 0, 0, 0, 0}, root[6] = {0, 3};
	uint64_t ready[2] = {3, 0}, end[1] = {3};
	struct trc_drain_options next;
	struct trc_slot *slot = fake_slot(&f, 0, 5, 333, "main");

	fake_put(&f, 0, 1, TRC_KIND_FIBER_CREATE, 0, 5, create, 3);
	atomic_store(&slot->fiber, 3);
	atomic_store(&f.shared->next_fiber, 40);
	trc_drain_finish(f.drain, TRC_DRAIN_REPLACED);
	trc_drain_next(f.drain, &next);
	ck_assert_uint_eq(next.fiber_base, 40);
	ck_assert_int_eq(trc_drain_open(&f.drain, f.shared, f.mapped_bytes, f.w, &next), 0);
	trc_drain_close(first);
	fake_put(&f, 0, 5000, TRC_KIND_FIBER_CREATE, 0, 5, create, 3);
	fake_put(&f, 0, 5001, TRC_KIND_FIBER_SWITCH, 0, 5, change, 6);
	fake_put(&f, 0, 5002, TRC_KIND_FIBER_READY, 0, 5, ready, 2);
	fake_put(&f, 0, 5003, TRC_KIND_FIBER_SWITCH, 0, 5, root, 6);
	fake_put(&f, 0, 5004, TRC_KIND_FIBER_END, 0, 5, end, 1);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_CREATE, 0)->arg[0], 3);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_CREATE, 1)->arg[0], 43);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[0], 43);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 0)->arg[1], 42);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_READY, 0)->arg[0], 43);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 1)->arg[0], 0);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_SWITCH, 1)->arg[1], 43);
	ck_assert_uint_eq(row(TRC_KIND_FIBER_END, 0)->arg[0], 43);
	ck_assert_str_eq(fake_thread_fiber(&file, 5), "");
	ck_assert_str_eq(fake_thread_fiber(&file, 1005), "43 ");
}
END_TEST

START_TEST(a_second_image_adds_to_what_the_first_used)
{
	struct trc_drain_options next;
	struct trc_drain *first = f.drain;
	uint64_t task[3] = {3, 2, 0}, park[4] = {TRC_REASON_MUTEX, 1, 4, 0};
	uint64_t alloc[6] = {7, 0x100, 48, 1, 0, 0}, end[4] = {9, 0x100, 25, 1};
	uint64_t frame[1] = {0x5000};
	struct trc_stack_view view;

	fake_slot(&f, 0, 5, 333, "main");
	fake_module(&f, 0, 0x1000, 0x8000, "/bin/sh");
	put_counted(0, 1);
	fake_put(&f, 0, 3000, TRC_KIND_ALLOC, 0, 5, alloc, 6);
	fake_put(&f, 0, 3001, TRC_KIND_FREE, 0, 5, end, 4); /* of one that was lost */
	atomic_store(&f.shared->next_task, 10);
	atomic_store(&f.shared->module_epoch, 2);
	trc_drain_finish(f.drain, TRC_DRAIN_REPLACED);
	trc_drain_next(f.drain, &next);
	ck_assert_uint_eq(next.serial_base, 1000);
	ck_assert_uint_eq(next.task_base, 10);
	ck_assert_uint_eq(next.epoch_base, 3);
	ck_assert_uint_eq(next.sample_base, 9);
	ck_assert_int_eq(trc_drain_open(&f.drain, f.shared, f.mapped_bytes, f.w, &next), 0);
	trc_drain_close(first);
	park[3] = fake_stack(&f, 5, 0, frame, 1);
	fake_put(&f, 0, 5000, TRC_KIND_TASK_BEGIN, 0, 5, task, 3);
	fake_put(&f, 0, 5001, TRC_KIND_PARK, 0, 5, park, 4);
	fake_put(&f, 0, 5002, TRC_KIND_ALLOC, 0, 5, alloc, 6);
	fake_put(&f, 0, 5003, TRC_KIND_FREE, 0, 5, alloc, 4);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_TASK_BEGIN, 0)->arg[0], 13);
	ck_assert_uint_eq(row(TRC_KIND_TASK_BEGIN, 0)->arg[1], 12);
	ck_assert_uint_eq(row(TRC_KIND_TASK_BEGIN, 0)->thread, 1005);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 0)->arg[2], 1004);
	ck_assert_uint_eq(row(TRC_KIND_ALLOC, 0)->arg[0], 7);
	ck_assert_uint_eq(row(TRC_KIND_FREE, 0)->arg[0], 9);
	ck_assert_uint_eq(row(TRC_KIND_ALLOC, 1)->arg[0], 16);
	ck_assert_uint_eq(row(TRC_KIND_FREE, 1)->arg[0], 16);
	ck_assert_uint_eq(row(TRC_KIND_PROCESS, 0)->arg[0], TRC_PROCESS_EXEC);
	ck_assert_uint_eq(row(TRC_KIND_PROCESS, 0)->thread, 0);
	trc_reader_stack(file.r, (uint32_t)row(TRC_KIND_PARK, 0)->arg[3], &view);
	ck_assert_uint_eq(view.epoch, 3);
	ck_assert_uint_ne(thread(5)->end, 0); /* gone with its image */
	ck_assert_uint_eq(thread(1005)->end, 0);
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->last_epoch, 2);
	ck_assert_uint_eq(trc_reader_module(file.r, 2)->first_epoch, 3);
}
END_TEST

void drain_ids(TCase *t)
{
	tcase_add_test(t, stacks_of_the_table_and_inline_ones_are_the_same_in_the_file);
	tcase_add_test(t, an_evicted_stack_reads_as_none_and_is_counted);
	tcase_add_test(t, label_sets_of_the_table_and_inline_ones_are_the_same_in_the_file);
	tcase_add_test(t, both_label_sets_of_a_record_may_be_inline);
	tcase_add_test(t, an_inline_label_set_that_is_none_is_no_labels);
	tcase_add_test(t, the_labels_of_threads_at_the_end_are_told);
	tcase_add_test(t, the_fibers_of_threads_at_the_end_are_told);
	tcase_add_test(t, slots_that_lie_about_fibers_harm_nothing);
	tcase_add_test(t, events_of_fibers_with_ids);
	tcase_add_test(t, events_of_fibers_with_all_of_it_inline);
	tcase_add_test(t, an_event_of_a_fiber_that_is_cut_short_is_damage);
	tcase_add_test(t, texts_and_strings_of_all_kinds);
	tcase_add_test(t, more_strings_and_stacks_come_than_the_writer_has_room_for);
	tcase_add_test(t, more_strings_come_one_after_the_other_than_the_writer_has_room_for);
	tcase_add_test(t, a_tid_becomes_the_thread_that_had_it_at_the_time);
	tcase_add_test(t, a_thread_that_makes_itself_known_after_the_drain_is_who_was_waited_for);
	tcase_add_test(t, a_thread_that_is_not_known_yet_is_not_the_one_that_had_its_tid_before);
	tcase_add_test(t, a_thread_without_a_slot_is_named_by_its_tid);
	tcase_add_test(t, slots_become_threads_and_ended_ones_are_freed);
	tcase_add_test(t, a_thread_that_comes_during_a_pass_is_known_after_the_next);
	tcase_add_test(t, what_a_thread_waits_for_at_the_end_is_in_the_status);
	tcase_add_test(t, modules_with_their_end);
	tcase_add_test(t, an_entry_that_is_taken_again_is_another_module);
	tcase_add_test(t, a_module_that_was_not_seen_to_end_is_told_as_far_as_it_was_seen);
	tcase_add_test(t, fibers_of_a_second_image_are_others);
	tcase_add_test(t, a_second_image_adds_to_what_the_first_used);
}
