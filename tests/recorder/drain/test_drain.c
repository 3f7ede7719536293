/* test_drain.c - what the drain makes of a mapping, kind and hostile ones. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "drain_fixture.h"
#include "recorder/shared/clock.h"
#include "recorder/drain/private.h"
#include "recorder/drain/perf_buffer.h"
#include "tests/often.h"
#include "tests/suite.h"

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

		expect_same(r->arg[0], next[r->proc]);
		expect_same(r->arg[1], 3 * next[r->proc]);
		expect_same(r->thread, 7);
		expect_same(r->source, TRC_SOURCE_RING);
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

static int64_t ns_of(uint64_t ticks)
{
	return (int64_t)((unsigned __int128)(ticks - f.shared->start.ticks) * 1000000000 /
			 f.shared->ticks_per_second);
}

/* What is written once a second has to be true if nothing follows. */
START_TEST(losses_that_go_on_lasted_up_to_the_last_look)
{
	struct trc_ring *ring = trc_ring_at(f.shared, 0);
	uint64_t gap[3] = {9, fake_time(&f, 50), TRC_GAP_RING_FULL}, before;

	put_counted(0, 10);
	trc_drain_pass(f.drain);
	atomic_store(&ring->lost_total, 7);
	atomic_store(&ring->lost_since, fake_time(&f, 50));
	usleep(1100000);
	before = trc_clock_ordered();
	trc_drain_pass(f.drain);
	fake_put(&f, 0, trc_clock_ordered() - f.shared->start.ticks, TRC_KIND_RELEASE, 0, 1, gap,
		 2);
	trc_drain_pass(f.drain);
	/* It is over: two more were lost.  The record of that is to come, and nothing told before. */
	atomic_store(&ring->lost_total, 9);
	atomic_store(&ring->lost_since, 0);
	usleep(1100000);
	trc_drain_pass(f.drain);
	fake_put(&f, 0, trc_clock_ordered() - f.shared->start.ticks, TRC_KIND_GAP, 0, 1, gap, 3);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_GAP), 2);
	ck_assert_uint_eq(row(TRC_KIND_GAP, 0)->arg[0], 7);
	ck_assert_int_ge(row(TRC_KIND_GAP, 0)->ns, ns_of(before) - 2000000);
	ck_assert_uint_eq(row(TRC_KIND_GAP, 1)->arg[0], 2);
	ck_assert_int_ge(row(TRC_KIND_GAP, 1)->ns - row(TRC_KIND_GAP, 0)->ns, 1000000000);
}
END_TEST

START_TEST(losses_up_to_the_end_lasted_up_to_the_last_look)
{
	struct trc_ring *ring = trc_ring_at(f.shared, 0);
	uint64_t before;

	put_counted(0, 10);
	trc_drain_pass(f.drain);
	trc_drain_pass(f.drain); /* which flushes: the last one does not */
	atomic_store(&ring->lost_total, 7);
	atomic_store(&ring->lost_since, fake_time(&f, 50));
	usleep(20000);
	before = trc_clock_ordered();
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_GAP), 1);
	ck_assert_uint_eq(row(TRC_KIND_GAP, 0)->arg[0], 7);
	ck_assert_int_ge(row(TRC_KIND_GAP, 0)->ns, ns_of(before) - 2000000);
	ck_assert_int_lt((int64_t)row(TRC_KIND_GAP, 0)->arg[1], row(TRC_KIND_GAP, 0)->ns);
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

/* ---- hostile mappings ------------------------------------------------------------------ */

START_TEST(a_header_is_checked_before_it_is_used)
{
	static const struct {
		size_t off, n_bytes;
	} fields[] = {
#define FIELD(name) {offsetof(struct trc_shared, name), sizeof(((struct trc_shared *)0)->name)}
		FIELD(magic),	     FIELD(layout_version), FIELD(schema_hash), FIELD(total_bytes),
		FIELD(n_procs),	     FIELD(page_words),	    FIELD(ring_words),	FIELD(procs_off),
		FIELD(overflow_off), FIELD(threads_off),    FIELD(stacks_off),	FIELD(strings_off),
		FIELD(labels_off),   FIELD(label_sets),	    FIELD(modules_off), FIELD(heap_off),
		FIELD(heap_bytes),   FIELD(cells_off),	    FIELD(data_off),	FIELD(n_threads),
		FIELD(n_modules),    FIELD(n_cells),	    FIELD(stack_sets),	FIELD(string_sets),
		FIELD(n_epochs),     FIELD(epochs_off),	    FIELD(clock),
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
	drain_set_up();
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
}
END_TEST

/* ---- one drain after another ------------------------------------------------------------ */

/* How much of a stream the file says that it has. */
static const struct trc_coverage_entry *covered(unsigned int source, uint32_t proc)
{
	const struct trc_coverage_entry *entry;
	size_t n = trc_reader_coverage(file.r, &entry);

	for (size_t i = 0; i < n; i++)
		if (entry[i].source == source && entry[i].proc == proc)
			return &entry[i];
	ck_abort_msg("no coverage of stream %u of proc %u", source, proc);
}

/* The kernel's records are those of one drain: what came while nobody drained is in no file. */
START_TEST(where_a_drain_goes_on_the_kernels_records_begin_anew)
{
	struct trc_perf_record lost = {.what = TRC_PERF_LOST, .lost = 3, .proc = 1};
	const struct trc_coverage_entry *ring, *kernel;

	put_counted(1, 0);
	fake_go_on(&f);
	put_counted(1, 1);
	lost.raw_ns = trc_drain_raw_ns();
	trc_drain_kernel(f.drain, &lost);
	fake_finish(&f, TRC_DRAIN_STOPPED, &file);
	ring = covered(TRC_SOURCE_RING, 1);
	kernel = covered(TRC_SOURCE_KERNEL, 1);
	ck_assert_uint_lt(ring->from, f.went_on.ticks);
	ck_assert_uint_ge(kernel->from, f.went_on.ticks);
	ck_assert_uint_eq(kernel->held, kernel->from);
	ck_assert_uint_eq(kernel->to, ring->to);
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

	tcase_add_checked_fixture(t, drain_set_up, drain_tear_down);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, records_of_both_procs_arrive_in_order_over_page_ends);
	tcase_add_test(t, a_pass_gives_all_room_back_and_wakes_who_waits);
	tcase_add_test(t, gap_records_hold_totals_and_become_differences);
	tcase_add_test(t, losses_that_go_on_lasted_up_to_the_last_look);
	tcase_add_test(t, losses_up_to_the_end_lasted_up_to_the_last_look);
	tcase_add_test(t, what_is_sampled_is_told_with_what_was_lost);
	tcase_add_loop_test(t, a_damaged_record_costs_its_page_and_is_told, 0,
			    sizeof(damages) / sizeof(*damages));
	tcase_add_test(t, a_damaged_page_is_not_looked_at_again_when_it_grows);
	tcase_add_test(t, words_overwritten_before_the_drain_came_are_told);
	tcase_add_test(t, a_head_that_goes_back_ends_this_ring_and_no_other);
	tcase_add_test(t, a_head_out_of_reach_ends_somewhere);
	tcase_add_test(t, a_header_is_checked_before_it_is_used);
	tcase_add_test(t, a_header_overwritten_later_changes_nothing);
	tcase_add_loop_test(t, no_content_of_the_mapping_makes_the_drain_fail, 0, 30);
	tcase_add_test(t, a_failed_sink_ends_waiting_and_not_draining);
	tcase_add_test(t, where_a_drain_goes_on_the_kernels_records_begin_anew);
	tcase_add_test(t, recorded_and_lost_are_what_was_emitted);
	drain_ids(t);
	drain_modules(t);
	drain_cells(t);
	drain_first(t);
	drain_observers(t);
	suite_add_tcase(suite, t);
	suite_add_tcase(suite, drain_follow());
	return suite;
}

int main(void)
{
	return suite_run(drain_suite());
}
