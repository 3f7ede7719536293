/* test_drain.c - what the drain makes of a mapping, kind and hostile ones. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include "fake_ring.h"
#include "recorder/clock.h"
#include "recorder/drain_private.h"
#include "recorder/perf_buffer.h"

static struct fake f;
static struct fake_file file;

static void set_up(void)
{
	fake_init(&f, 16384, NULL); /* two pages of 1024 words */
}

static void tear_down(void)
{
	fake_file_free(&file);
	fake_free(&f);
}

static void put_counted(uint32_t proc, uint64_t n)
{
	uint64_t words[2] = {n, 3 * n};

	ck_assert(fake_put(&f, proc, 100 + n, TRC_KIND_RELEASE, 0, 7, words, 2));
}

static const struct fake_row *row(unsigned int kind, size_t i)
{
	const struct fake_row *r = fake_row(&file, kind, i);

	ck_assert_msg(r != NULL, "no event %zu of kind %u", i, kind);
	return r;
}

static void sleep_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}

/* ---- rings ----------------------------------------------------------------------------- */

START_TEST(records_of_both_procs_arrive_in_order_over_page_ends)
{
	enum { N = 5000 }; /* 20 pages each */

	for (uint64_t n = 0; n < N; n++) {
		put_counted(0, n);
		put_counted(1, N + n);
		if (n % 200 == 199)
			ck_assert_uint_eq(trc_drain_pass(f.drain), 400);
	}
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(file.n_rows, 2 * N);
	for (uint64_t i = 0, next[2] = {0, N}; i < file.n_rows; i++) {
		const struct fake_row *r = &file.row[i];

		ck_assert_uint_eq(r->arg[0], next[r->proc]);
		ck_assert_uint_eq(r->arg[1], 3 * next[r->proc]);
		ck_assert_uint_eq(r->thread, 7);
		ck_assert_uint_eq(r->source, TRC_SOURCE_RING);
		next[r->proc]++;
	}
}
END_TEST

START_TEST(a_pass_gives_all_room_back_and_wakes_who_waits)
{
	struct trc_ring *ring = trc_ring_at(f.shared, 0);
	uint64_t n = 0;
	uint64_t words[2] = {1, 2};

	while (fake_put(&f, 0, n++, TRC_KIND_RELEASE, 0, 1, words, 2))
		;
	atomic_store(&ring->waiters, 1);
	trc_drain_pass(f.drain);
	ck_assert_uint_eq(atomic_load(&ring->tail), atomic_load(&ring->head));
	ck_assert_uint_ge(atomic_load(&ring->space), 1);
	ck_assert(fake_put(&f, 0, n, TRC_KIND_RELEASE, 0, 1, words, 2));
	ck_assert_uint_eq(atomic_load(&f.shared->table_epoch), 1);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), n);
	ck_assert_uint_eq(fake_lost(&file, 0), 0);
}
END_TEST

START_TEST(gap_records_hold_totals_and_become_differences)
{
	uint64_t first[3] = {5, 0, TRC_GAP_RING_FULL}, second[3] = {12, 0, TRC_GAP_RING_FULL};

	first[1] = fake_time(&f, 50);
	second[1] = fake_time(&f, 150);
	atomic_store(&trc_ring_at(f.shared, 0)->lost_total, 15);
	put_counted(0, 1);
	fake_put(&f, 0, 102, TRC_KIND_GAP, 0, 7, first, 3);
	first[0] = 3; /* told by two threads at once, the later record with the earlier total */
	fake_put(&f, 0, 103, TRC_KIND_GAP, 0, 7, first, 3);
	put_counted(0, 10);
	trc_drain_pass(f.drain);
	fake_put(&f, 0, 200, TRC_KIND_GAP, 0, 7, second, 3);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_GAP), 3);
	ck_assert_uint_eq(row(TRC_KIND_GAP, 0)->arg[0], 5);
	ck_assert_uint_eq(row(TRC_KIND_GAP, 1)->arg[0], 7);
	/* Lost after the last gap record. */
	ck_assert_uint_eq(row(TRC_KIND_GAP, 2)->arg[0], 3);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_RING_FULL), 15);
}
END_TEST

/* The i-th event that is sampled, complete from now on. */
static struct trc_sample_event_slot *sampled_event(uint32_t i, const char *name)
{
	struct trc_sample_event_slot *slot = &f.shared->sample_event[i];

	slot->how = TRC_SAMPLE_TIMER;
	slot->period = 1000000;
	slot->frequency_hz = 1000;
	memset(slot->name, 'x', sizeof(slot->name)); /* hostile: without an end */
	memcpy(slot->name, name, strlen(name) + 1);
	strcpy(slot->unit, "nanoseconds");
	atomic_store(&slot->state, TRC_SAMPLE_EVENT_COMPLETE);
	return slot;
}

START_TEST(what_is_sampled_is_told_with_what_was_lost)
{
	struct trc_sample_event_slot *timer = sampled_event(0, "timer");
	const struct trc_sample_event_entry *entry;

	atomic_store(&f.shared->sample_event[1].state, TRC_SAMPLE_EVENT_FILLING);
	atomic_store(&timer->lost[TRC_SAMPLE_LOSS_BUSY], 3);
	trc_drain_pass(f.drain);
	atomic_store(&timer->lost[TRC_SAMPLE_LOSS_BUSY], 5);
	atomic_store(&timer->lost[TRC_SAMPLE_LOSS_NOT_OURS], 1);
	atomic_store(&timer->missing_threads, 2);
	memset(sampled_event(2, "")->name, 'n', sizeof(timer->name));
	fake_finish(&f, TRC_DRAIN_DEAD, &file);

	ck_assert_uint_eq(trc_reader_sample_events(file.r, &entry), 2);
	ck_assert_uint_eq(entry[0].event, 1);
	ck_assert_uint_eq(entry[0].how, TRC_SAMPLE_TIMER);
	ck_assert_uint_eq(entry[0].period, 1000000);
	ck_assert_uint_eq(entry[0].frequency_hz, 1000);
	ck_assert_uint_eq(entry[0].missing_threads, 2);
	ck_assert_str_eq(entry[0].name, "timer");
	ck_assert_str_eq(entry[0].unit, "nanoseconds");
	ck_assert_uint_eq(entry[1].event, 3);
	ck_assert_uint_eq(strlen(entry[1].name), sizeof(timer->name) - 1);

	ck_assert_uint_eq(fake_count(&file, TRC_KIND_SAMPLES_LOST), 3);
	ck_assert_uint_eq(row(TRC_KIND_SAMPLES_LOST, 0)->arg[0], 1);
	ck_assert_uint_eq(row(TRC_KIND_SAMPLES_LOST, 0)->arg[1], 3);
	ck_assert_uint_eq(row(TRC_KIND_SAMPLES_LOST, 0)->arg[2], TRC_SAMPLE_LOSS_BUSY);
	ck_assert_uint_eq(row(TRC_KIND_SAMPLES_LOST, 1)->arg[1], 2);
	ck_assert_uint_eq(row(TRC_KIND_SAMPLES_LOST, 2)->arg[1], 1);
	ck_assert_uint_eq(row(TRC_KIND_SAMPLES_LOST, 2)->arg[2], TRC_SAMPLE_LOSS_NOT_OURS);
}
END_TEST

static const struct damage {
	const char *what;
	uint64_t word0_add, word1, word2;
	uint32_t n_words;
} damages[] = {
	{"a kind that does not exist", 9, TRC_REC_WORD1(200, 0, 3, 1), 0, 3},
	{"kind 0", 9, TRC_REC_WORD1(0, 0, 3, 1), 0, 3},
	{"more words than were committed", 9, TRC_REC_WORD1(11, 0, 90, 1), 0, 4},
	{"fewer words than its kind has", 9, TRC_REC_WORD1(11, 0, 3, 1), 0, 3},
	{"fewer words than any record", 9, TRC_REC_WORD1(15, 0, 1, 1), 0, 2},
	{"more words than its kind has", 9, TRC_REC_WORD1(15, 0, 3, 1), 0, 3},
	{"a single word", 9, 0, 0, 1},
	{"a thread that was never numbered", 9, TRC_REC_WORD1(15, 0, 2, 5000), 0, 2},
	{"a time before the recording", (uint64_t)-5000, TRC_REC_WORD1(15, 0, 2, 1), 0, 2},
	{"a time far in the future", UINT64_C(1) << 60, TRC_REC_WORD1(15, 0, 2, 1), 0, 2},
	{"an unknown flag", 9, TRC_REC_WORD1(15, 64, 2, 1), 0, 2},
	{"an inline stack where no stack belongs", 9, TRC_REC_WORD1(15, 1, 3, 1), 0, 3},
	{"an inline string where no string belongs", 9, TRC_REC_WORD1(15, 2, 3, 1), 0, 3},
	{"a text longer than its record", 9, TRC_REC_WORD1(4, 0, 4, 1), 1, 4},
};

START_TEST(a_damaged_record_costs_its_page_and_is_told)
{
	const struct damage *d = &damages[_i];
	uint64_t words[4] = {fake_time(&f, d->word0_add), d->word1, d->word2, 4000};

	put_counted(0, 0);
	fake_put_raw(&f, 0, words, d->n_words);
	for (uint64_t n = 1; n < 300; n++) /* into the next page */
		put_counted(0, n);
	trc_drain_pass(f.drain);
	for (uint64_t n = 300; n < 400; n++)
		put_counted(0, n);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_msg(fake_lost(&file, TRC_GAP_DAMAGED) == 1, "%s: not told", d->what);
	ck_assert_uint_eq(row(TRC_KIND_RELEASE, 0)->arg[0], 0);
	/* All of the second page is there: 256 records of 4 words fit into the first, at most. */
	ck_assert_uint_ge(fake_count(&file, TRC_KIND_RELEASE), 400 - 256);
	ck_assert_uint_eq(row(TRC_KIND_RELEASE, fake_count(&file, TRC_KIND_RELEASE) - 1)->arg[0],
			  399);
}
END_TEST

START_TEST(a_damaged_page_is_not_looked_at_again_when_it_grows)
{
	uint64_t words[2] = {fake_time(&f, 9), TRC_REC_WORD1(200, 0, 2, 1)};

	fake_put_raw(&f, 0, words, 2);
	for (int i = 0; i < 5; i++) {
		trc_drain_pass(f.drain);
		put_counted(0, (uint64_t)i);
	}
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_GAP), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 0);
}
END_TEST

START_TEST(words_overwritten_before_the_drain_came_are_told)
{
	for (uint64_t n = 0; n < 500; n++)
		put_counted(0, n);
	/* As if nobody had drained and the writer had gone on: the first page is gone. */
	atomic_store(&trc_ring_at(f.shared, 0)->floor, 1024);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_OVERWRITTEN), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 500 - 256);
	ck_assert_uint_eq(row(TRC_KIND_RELEASE, 0)->arg[0], 256);
}
END_TEST

START_TEST(a_head_that_goes_back_ends_this_ring_and_no_other)
{
	put_counted(0, 1);
	put_counted(1, 1);
	trc_drain_pass(f.drain);
	atomic_store(&trc_ring_at(f.shared, 0)->head, 0);
	put_counted(1, 2);
	for (int i = 0; i < 3; i++)
		trc_drain_pass(f.drain);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_lost(&file, TRC_GAP_DAMAGED), 1);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE), 3);
}
END_TEST

START_TEST(a_head_out_of_reach_ends_somewhere)
{
	put_counted(0, 1);
	trc_drain_pass(f.drain);
	atomic_store(&trc_ring_at(f.shared, 0)->head, UINT64_MAX / 2);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_ge(fake_lost(&file, 0), 1);
}
END_TEST

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

/* ---- hostile mappings ------------------------------------------------------------------ */

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

START_TEST(a_header_is_checked_before_it_is_used)
{
	static const struct {
		size_t off, n_bytes;
	} fields[] = {
#define FIELD(name) {offsetof(struct trc_shared, name), sizeof(((struct trc_shared *)0)->name)}
		FIELD(magic),	     FIELD(layout_version), FIELD(schema_hash), FIELD(total_bytes),
		FIELD(n_procs),	     FIELD(page_words),	    FIELD(ring_words),	FIELD(procs_off),
		FIELD(overflow_off), FIELD(threads_off),    FIELD(stacks_off),	FIELD(strings_off),
		FIELD(labels_off),   FIELD(label_sets),
		FIELD(modules_off),  FIELD(heap_off),	    FIELD(heap_bytes),	FIELD(cells_off),
		FIELD(data_off),     FIELD(n_threads),	    FIELD(n_modules),	FIELD(n_cells),
		FIELD(stack_sets),   FIELD(string_sets),    FIELD(clock),
	};
	static const struct trc_drain_options none;
	struct trc_drain *d = NULL;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		char *field = (char *)f.shared + fields[i].off;
		char saved[64];

		memcpy(saved, field, fields[i].n_bytes);
		memset(field, 0x7f, fields[i].n_bytes);
		ck_assert_int_lt(trc_drain_open(&d, f.shared, f.mapped_bytes, f.w, &none), 0);
		ck_assert_ptr_null(d);
		memcpy(field, saved, fields[i].n_bytes);
	}
	ck_assert_int_eq(trc_drain_open(&d, f.shared, f.mapped_bytes - 1, f.w, &none), -EBADMSG);
	ck_assert_int_eq(trc_drain_open(&d, f.shared, 10, f.w, &none), -EBADMSG);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
}
END_TEST

START_TEST(a_header_overwritten_later_changes_nothing)
{
	uint64_t frame[1] = {0x1000};
	uint64_t park[4] = {TRC_REASON_MUTEX, 0xabc, 0, 0};
	size_t skip = offsetof(struct trc_shared, schema_hash);

	park[3] = fake_stack(&f, 5, 0, frame, 1);
	fake_put(&f, 0, 1, TRC_KIND_PARK, 0, 1, park, 4);
	memset((char *)f.shared + skip, 0xff, offsetof(struct trc_shared, next_serial) - skip);
	trc_drain_pass(f.drain);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_ne(row(TRC_KIND_PARK, 0)->arg[3], 0);
}
END_TEST

/* Random bytes over everything behind the header, or over single words of it. */
static void scramble(unsigned int seed)
{
	uint64_t *word = (uint64_t *)((char *)f.shared + TRC_AREA_BYTES);
	size_t n = (f.mapped_bytes - TRC_AREA_BYTES) / 8;
	uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	unsigned int every = seed % 3 ? 1 + seed % 97 : 1;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (i % every == 0)
			word[i] = x >> (x % 64);
	}
	for (uint32_t p = 0; p < FAKE_PROCS; p++) { /* some of it is to be read */
		atomic_store(&trc_ring_at(f.shared, p)->state, TRC_RING_READY);
		atomic_store(&trc_ring_at(f.shared, p)->head, x % 10000);
		atomic_store(&trc_ring_at(f.shared, p)->floor, 0);
	}
}

START_TEST(no_content_of_the_mapping_makes_the_drain_fail)
{
	for (uint64_t n = 0; n < 400; n++)
		put_counted(0, n);
	for (unsigned int i = 0; i < 3; i++) {
		scramble((unsigned int)(3 * _i) + i);
		trc_drain_pass(f.drain);
	}
	fake_finish(&f, _i % 2 ? TRC_DRAIN_DEAD : TRC_DRAIN_REPLACED, &file);
	ck_assert_uint_ge(fake_lost(&file, 0), 1);
}
END_TEST

START_TEST(a_failed_sink_ends_waiting_and_not_draining)
{
	uint64_t n = 0;

	f.sink_error = -ENOSPC;
	for (; n < 200000; n++) {
		put_counted(0, n);
		if (n % 100 == 0)
			trc_drain_pass(f.drain);
	}
	ck_assert_uint_eq(atomic_load(&f.shared->drain_state), TRC_DRAIN_FAILED);
	ck_assert_int_eq(trc_drain_finish(f.drain, TRC_DRAIN_DEAD), -ENOSPC);
	ck_assert_uint_eq(atomic_load(&f.shared->drain_state), TRC_DRAIN_NONE);
	f.sink_error = 0;
	fake_free(&f);
	set_up();
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
}
END_TEST

/* ---- who looks on ---------------------------------------------------------------------- */

static struct seen {
	struct trc_event event[4096];
	size_t n;
	char labels[8][64]; /* "thread key=value" */
	size_t n_labels;
} seen;

static void see_event(void *context, const struct trc_writer *writer, const struct trc_event *event)
{
	ck_assert_ptr_eq(context, &seen);
	ck_assert_ptr_eq(writer, f.w);
	ck_assert_uint_lt(seen.n, sizeof(seen.event) / sizeof(*seen.event));
	seen.event[seen.n++] = *event;
}

static void see_labels(void *context, const struct trc_writer *writer, uint32_t thread,
		       uint32_t labels)
{
	struct trc_label label[TRC_LABELS_MAX];

	ck_assert_ptr_eq(context, &seen);
	ck_assert_uint_eq(trc_writer_label_set_of(writer, labels, label), 1);
	snprintf(seen.labels[seen.n_labels++], sizeof(*seen.labels), "%u %.*s=%.*s", thread,
		 (int)label->key_bytes, label->key, (int)label->value_bytes, label->value);
}

static const struct trc_drain_observer observer = {see_event, see_labels, &seen};

static void put_some_of_all(void)
{
	uint64_t frame[2] = {0x1000, 0x2000}, log[3 + 1] = {41, 0, 3};
	uint64_t park[4] = {TRC_REASON_MUTEX, 0xabc, 0, 0};
	uint64_t gap[3] = {5, fake_time(&f, 1), TRC_GAP_RING_FULL};
	struct trc_perf_record lost = {.what = TRC_PERF_LOST, .lost = 3};

	park[3] = fake_stack(&f, 5, 0, frame, 2);
	memcpy(log + 3, "abc", 3);
	for (uint64_t n = 1; n <= 20; n++) {
		put_counted(0, 10 * n);
		fake_put(&f, 1, 100 + 10 * n, TRC_KIND_PARK, 0, 7, park, 4);
		fake_put(&f, 0, 100 + 10 * n + 1, TRC_KIND_LOG, 0, 9, log, 4);
	}
	fake_put(&f, 1, 500, TRC_KIND_GAP, 0, 7, gap, 3);
	fake_cell_put(&f, 600, 77, 3, 4);
	lost.raw_ns = f.shared->start.monotonic_raw_ns + 1000000;
	trc_drain_pass(f.drain);
	trc_drain_kernel(f.drain, &lost);
	trc_drain_procs(f.drain, lost.raw_ns + 1, 2);
}

static bool is_row(const struct trc_event *e, const struct fake_row *r)
{
	return e->kind == r->kind && e->source == r->source && e->thread == r->thread &&
	       e->proc == r->proc;
}

/* Of each stream the same events in the same order, with the ids that the file has. */
START_TEST(an_observer_sees_what_the_writer_is_given)
{
	memset(&seen, 0, sizeof(seen));
	trc_drain_observe(f.drain, &observer);
	put_some_of_all();
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(seen.n, file.n_rows);
	ck_assert_uint_ge(fake_count(&file, TRC_KIND_GAP), 2);
	for (size_t i = 0; i < file.n_rows; i++) {
		const struct fake_row *r = &file.row[i];
		const struct trc_kind_info *info = trc_kind_info(r->kind);
		struct trc_event *e = seen.event;
		int64_t ns;

		while (e < seen.event + seen.n && (!e->kind || !is_row(e, r)))
			e++;
		ck_assert_msg(e < seen.event + seen.n, "event %zu (%s) was not seen", i,
			      info->name);
		for (unsigned int a = 0; a < info->n_args; a++)
			if (info->arg[a].type != TRC_ARG_TEXT && info->arg[a].type != TRC_ARG_TICKS)
				ck_assert_uint_eq(e->arg[a], r->arg[a]);
		/* The file's clock is set by its sync points. */
		ns = (int64_t)trc_clock_ticks_to_ns(e->time - fake_time(&f, 0));
		ck_assert_int_le(llabs(ns - r->ns), 2000 + r->ns / 10);
		e->kind = 0; /* the next one is the next row's */
	}
}
END_TEST

START_TEST(an_observer_sees_what_a_failed_sink_does_not)
{
	size_t n;

	memset(&seen, 0, sizeof(seen));
	f.sink_error = -ENOSPC;
	ck_assert_int_eq(trc_writer_generation(f.w), -ENOSPC);
	put_some_of_all();
	ck_assert_uint_eq(seen.n, 0);
	trc_drain_observe(f.drain, &observer);
	put_some_of_all();
	n = seen.n;
	ck_assert_uint_ge(n, 60);
	trc_drain_observe(f.drain, NULL);
	put_some_of_all();
	ck_assert_uint_eq(seen.n, n);
}
END_TEST

START_TEST(an_observer_is_told_which_labels_threads_have)
{
	atomic_store(&fake_slot(&f, 0, 30, 3030, "one")->labels,
		     fake_labels(&f, 3, "tenant", "42"));
	fake_slot(&f, 1, 31, 3031, "none");
	memset(&seen, 0, sizeof(seen));
	trc_drain_observe(f.drain, &observer);
	ck_assert_uint_eq(seen.n_labels, 1);
	ck_assert_str_eq(seen.labels[0], "30 tenant=42");
}
END_TEST

static void see_wait(void *context, const struct trc_writer *writer,
		     const struct trc_status_entry *wait)
{
	ck_assert_ptr_eq(writer, f.w);
	*(struct trc_status_entry *)context = *wait;
}

START_TEST(what_threads_wait_for_is_told_to_who_begins_to_look)
{
	uint64_t frame[1] = {0x1000};
	struct trc_slot *slot = fake_slot(&f, 0, 30, 3030, "waits");
	struct trc_status_entry seen_wait = {0};
	const uint64_t *stack;
	uint32_t epoch;

	fake_slot(&f, 1, 31, 3031, "runs");
	atomic_store(&slot->wait_reason, TRC_REASON_SEM);
	atomic_store(&slot->wait_object, 0xabc);
	atomic_store(&slot->wait_since, fake_time(&f, 77));
	atomic_store(&slot->wait_stack, fake_stack(&f, 5, 0, frame, 1));
	trc_drain_tell_waits(f.drain, see_wait, &seen_wait);
	ck_assert_uint_eq(seen_wait.thread, 30);
	ck_assert_uint_eq(seen_wait.reason, TRC_REASON_SEM);
	ck_assert_uint_eq(seen_wait.object, 0xabc);
	ck_assert_uint_eq(seen_wait.since, fake_time(&f, 77));
	ck_assert_uint_eq(trc_writer_stack_of(f.w, seen_wait.stack, &epoch, &stack), 1);
	ck_assert_uint_eq(stack[0], 0x1000);
}
END_TEST

/* A record that is begun and not committed keeps back what is later than the one before it. */
START_TEST(what_is_settled_has_been_handed_over)
{
	uint64_t before = trc_clock_now(), settled, position, now;

	fake_cell_put(&f, 1, 77, 3, 4);
	sleep_ms(5);
	trc_drain_pass(f.drain);
	settled = trc_drain_settled(f.drain);
	ck_assert_uint_gt(settled, before);
	now = trc_clock_now();
	ck_assert_uint_lt(settled, now);
	position = fake_reserve(&f, 1);
	fake_claim(&f, position, 1, 0, (uint32_t)getpid());
	trc_drain_pass(f.drain);
	ck_assert_uint_eq(trc_drain_settled(f.drain), fake_time(&f, 1));
}
END_TEST

/* ---- at the same time ------------------------------------------------------------------ */

enum { EMITTED = 150000 };

/* A writer that drops what does not fit, as a signal handler does. */
static void *drop_and_count(void *arg)
{
	struct trc_ring *ring = trc_ring_at(f.shared, 0);
	uint64_t lost = 0;

	for (uint64_t n = 0; n < EMITTED; n++) {
		uint64_t words[2] = {n, 0}, gap[3] = {lost, fake_time(&f, n), TRC_GAP_RING_FULL};

		if (lost != atomic_load(&ring->lost_reported) &&
		    fake_put(&f, 0, n, TRC_KIND_GAP, 0, 1, gap, 3))
			atomic_store(&ring->lost_reported, lost);
		if (!fake_put(&f, 0, n, TRC_KIND_RELEASE, 0, 1, words, 2))
			atomic_store(&ring->lost_total, ++lost);
	}
	return NULL;
}

START_TEST(recorded_and_lost_are_what_was_emitted)
{
	pthread_t writer;
	uint64_t last = 0, emitted = 0;

	ck_assert_int_eq(pthread_create(&writer, NULL, drop_and_count, NULL), 0);
	while (atomic_load(&f.shared->table_epoch) < 200 || emitted == 0) {
		trc_drain_pass(f.drain);
		emitted++;
		sched_yield();
	}
	pthread_join(writer, NULL);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_RELEASE) + fake_lost(&file, 0), EMITTED);
	for (size_t i = 0; i < file.n_rows; i++) {
		if (file.row[i].kind != TRC_KIND_RELEASE)
			continue;
		ck_assert(!i || file.row[i].arg[0] >= last);
		last = file.row[i].arg[0];
	}
}
END_TEST

static Suite *drain_suite(void)
{
	Suite *suite = suite_create("drain");
	TCase *t = tcase_create("drain");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, records_of_both_procs_arrive_in_order_over_page_ends);
	tcase_add_test(t, a_pass_gives_all_room_back_and_wakes_who_waits);
	tcase_add_test(t, gap_records_hold_totals_and_become_differences);
	tcase_add_test(t, what_is_sampled_is_told_with_what_was_lost);
	tcase_add_loop_test(t, a_damaged_record_costs_its_page_and_is_told, 0,
			    sizeof(damages) / sizeof(*damages));
	tcase_add_test(t, a_damaged_page_is_not_looked_at_again_when_it_grows);
	tcase_add_test(t, words_overwritten_before_the_drain_came_are_told);
	tcase_add_test(t, a_head_that_goes_back_ends_this_ring_and_no_other);
	tcase_add_test(t, a_head_out_of_reach_ends_somewhere);
	tcase_add_test(t, stacks_of_the_table_and_inline_ones_are_the_same_in_the_file);
	tcase_add_test(t, an_evicted_stack_reads_as_none_and_is_counted);
	tcase_add_test(t, label_sets_of_the_table_and_inline_ones_are_the_same_in_the_file);
	tcase_add_test(t, an_inline_label_set_that_is_none_is_no_labels);
	tcase_add_test(t, the_labels_of_threads_at_the_end_are_told);
	tcase_add_test(t, texts_and_strings_of_all_kinds);
	tcase_add_test(t, a_tid_becomes_the_thread_that_had_it_at_the_time);
	tcase_add_test(t, slots_become_threads_and_ended_ones_are_freed);
	tcase_add_test(t, a_thread_that_comes_during_a_pass_is_known_after_the_next);
	tcase_add_test(t, what_a_thread_waits_for_at_the_end_is_in_the_status);
	tcase_add_test(t, modules_with_their_end);
	tcase_add_test(t, a_second_image_adds_to_what_the_first_used);
	tcase_add_test(t, an_observer_sees_what_the_writer_is_given);
	tcase_add_test(t, an_observer_sees_what_a_failed_sink_does_not);
	tcase_add_test(t, an_observer_is_told_which_labels_threads_have);
	tcase_add_test(t, what_threads_wait_for_is_told_to_who_begins_to_look);
	tcase_add_test(t, what_is_settled_has_been_handed_over);
	tcase_add_test(t, cells_are_read_in_order_also_when_a_record_takes_many);
	tcase_add_test(t, a_claim_of_a_thread_that_is_gone_is_skipped_at_once);
	tcase_add_test(t, a_claim_of_a_thread_that_is_there_is_waited_for);
	tcase_add_test(t, a_reservation_without_a_claim_reaches_to_the_next_one_with);
	tcase_add_test(t, each_claim_left_open_at_the_end_is_one_lost_event);
	tcase_add_test(t, a_record_committed_in_part_is_lost_whole);
	tcase_add_test(t, a_cell_of_the_lap_before_is_not_taken_for_a_new_one);
	tcase_add_test(t, a_claim_of_the_lap_before_says_nothing_about_this_one);
	tcase_add_test(t, losses_of_the_overflow_stream_are_told_as_they_come);
	tcase_add_test(t, a_sync_point_follows_everything_from_before_it);
	tcase_add_test(t, a_claim_that_is_open_keeps_the_sync_point_back);
	tcase_add_test(t, losses_are_told_with_the_next_flush);
	tcase_add_test(t, a_header_is_checked_before_it_is_used);
	tcase_add_test(t, a_header_overwritten_later_changes_nothing);
	tcase_add_loop_test(t, no_content_of_the_mapping_makes_the_drain_fail, 0, 30);
	tcase_add_test(t, a_failed_sink_ends_waiting_and_not_draining);
	tcase_add_test(t, recorded_and_lost_are_what_was_emitted);
	suite_add_tcase(suite, t);
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(drain_suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
