/* perf_by_hand.c - what is made of the kernel's records, written by hand. */
#include <stdlib.h>
#include <string.h>
#include "perf_fixture.h"

enum { CLOCK_ID = 77, CYCLES_ID = 78 };

/* A reader of two events, with nothing opened. */
static struct trc_perf *by_hand(void)
{
	static _Alignas(struct trc_perf) char
		memory[sizeof(struct trc_perf) + sizeof(struct trc_perf_buffer)];
	static struct trc_perf_id_pair pair[4];
	struct trc_perf *p = (struct trc_perf *)memory;
	char error[128];

	memset(memory, 0, sizeof(memory));
	memset(pair, 0, sizeof(pair));
	ck_assert_int_eq(trc_cpu_events_parse("cpu-clock:100000,cycles", 0, TRC_SAMPLE_BY_KERNEL,
					      p->event, error, sizeof(error)),
			 2);
	p->n_procs = 1;
	p->n_events = 2;
	p->chain_max = 127;
	p->id_bytes = sizeof(struct trc_perf_id) + sizeof(uint64_t);
	p->ids.pair = pair;
	p->ids.mask = 3;
	for (uint64_t id = CLOCK_ID; id <= CYCLES_ID; id++) {
		uint32_t i = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & 3;

		while (pair[i].id)
			i = (i + 1) & 3;
		pair[i] = (struct trc_perf_id_pair){id, (uint32_t)(id - CLOCK_ID)};
	}
	return p;
}

static bool read_words(struct trc_perf *p, uint32_t type, const uint64_t *word, size_t n_words,
		       struct trc_perf_record *r)
{
	struct perf_event_header header = {.type = type, .size = (uint16_t)(8 + 8 * n_words)};
	uint64_t bytes[256];

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + 1, word, n_words * sizeof(*word));
	return trc_perf_record_read(p, 0, (const char *)bytes, header.size, r);
}

static bool read_throttle(struct trc_perf *p, bool begins, uint64_t id, uint32_t tid,
			  uint64_t raw_ns, struct trc_perf_record *r)
{
	const uint64_t word[] = {raw_ns, id, id, (uint64_t)tid << 32 | 5, raw_ns, id};

	return read_words(p, begins ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, word,
			  sizeof(word) / sizeof(*word), r);
}

START_TEST(a_stopped_counter_is_a_loss_when_it_goes_on)
{
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	ck_assert(!read_throttle(p, true, CLOCK_ID, 100, 1000000000, &r));
	ck_assert(!read_throttle(p, true, CYCLES_ID, 100, 1000000000, &r));
	ck_assert(!read_throttle(p, false, CLOCK_ID, 101, 1000500000, &r)); /* another's */
	/* The same again: a record is read until it is old enough to be handed out. */
	for (int i = 0; i < 2; i++) {
		ck_assert(read_throttle(p, false, CLOCK_ID, 100, 1000500000, &r));
		ck_assert_int_eq(r.what, TRC_PERF_SAMPLES_LOST);
		ck_assert_uint_eq(r.event, 0);
		ck_assert_int_eq(r.cause, TRC_SAMPLE_LOSS_THROTTLED);
		ck_assert_uint_eq(r.lost, 5); /* half a millisecond, a tenth each */
		ck_assert_uint_eq(r.tid, 100);
	}
	ck_assert(read_throttle(p, false, CYCLES_ID, 100, 1000500000, &r));
	ck_assert_uint_eq(r.event, 1);
	ck_assert_uint_eq(r.lost, 1); /* how many cycles there were nobody knows */
	/* It was off the proc for most of the time: stopped for one tick. */
	ck_assert(!read_throttle(p, true, CLOCK_ID, 100, 2000000000, &r));
	ck_assert(read_throttle(p, false, CLOCK_ID, 100, 9000000000, &r));
	ck_assert_uint_le(r.lost, trc_cpu_tick_ns() / 100000);
	/* An id that is nobody's. */
	ck_assert(!read_throttle(p, true, 79, 100, 1000000000, &r));
}
END_TEST

START_TEST(a_thread_that_ends_is_taken_off_its_proc)
{
	const uint64_t word[] = {(uint64_t)4 << 32 | 5,
				 (uint64_t)100 << 32 | 101,
				 1000000000,
				 (uint64_t)100 << 32 | 5,
				 1000000001,
				 CLOCK_ID};
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	ck_assert(!read_words(p, PERF_RECORD_EXIT, word, 6, &r)); /* nobody wants switches */
	p->switches = true;
	ck_assert(read_words(p, PERF_RECORD_EXIT, word, 6, &r));
	ck_assert_int_eq(r.what, TRC_PERF_SWITCH);
	ck_assert(r.out);
	ck_assert(!r.preempted);
	ck_assert_uint_eq(r.tid, 100);
	ck_assert_uint_eq(r.raw_ns, 1000000001);
	/* A thread that is made is not on a proc yet. */
	ck_assert(!read_words(p, PERF_RECORD_FORK, word, 6, &r));
}
END_TEST

START_TEST(a_sample_has_the_users_frames)
{
	const uint64_t word[] = {CYCLES_ID,
				 0xffffffff81000000,
				 UINT64_C(7) << 32 | 5,
				 123,
				 5,
				 (uint64_t)PERF_CONTEXT_USER,
				 0x1000,
				 0x2000,
				 0x3000,
				 (uint64_t)PERF_CONTEXT_KERNEL};
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 10, &r));
	ck_assert_int_eq(r.what, TRC_PERF_SAMPLE);
	ck_assert_uint_eq(r.event, 1);
	ck_assert_uint_eq(r.tid, 7);
	ck_assert_uint_eq(r.pid, 5);
	ck_assert_uint_eq(r.raw_ns, 123);
	ck_assert_uint_eq(r.period, 3000000);
	ck_assert_uint_eq(r.value, 3000000);
	ck_assert_uint_eq(r.n_frames, 3);
	ck_assert_uint_eq(r.frame[0], 0x1001); /* exact, where others are return addresses */
	ck_assert_uint_eq(r.frame[2], 0x3000);
	/* Cut behind its first frame: it says so of five. */
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 7, &r));
	ck_assert_uint_eq(r.n_frames, 2);
	ck_assert_uint_eq(r.frame[1], TRC_FRAMES_ELIDED);
	/* No frame at all: its address is kept. */
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 5, &r));
	ck_assert_uint_eq(r.n_frames, 1);
	ck_assert_uint_eq(r.frame[0], 0xffffffff81000001);
	/* Two thirds of the time another event had the counter. */
	p->share[1] = (struct trc_perf_share){900, 300, 900, 300};
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 10, &r));
	ck_assert_uint_eq(r.value, 9000000);
	ck_assert_uint_eq(r.period, 3000000);
	ck_assert_uint_eq(trc_perf_counted_percent(p, 1), 33);
	ck_assert_uint_eq(trc_perf_counted_percent(p, 0), 100);
	/* Too short, and of nobody. */
	ck_assert(!read_words(p, PERF_RECORD_SAMPLE, word, 4, &r));
	ck_assert(!read_words(p, PERF_RECORD_SAMPLE, word + 1, 6, &r));
}
END_TEST

START_TEST(what_a_counter_says_of_itself_is_no_frame)
{
	const uint64_t word[] = {CLOCK_ID,
				 0x1000,
				 UINT64_C(7) << 32 | 5,
				 123,
				 /* its value, what it lost */ 70000000,
				 0,
				 2,
				 0x1000,
				 0x2000};
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	p->count_bytes[0] = 16;
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 9, &r));
	ck_assert_uint_eq(r.period, 100000);
	ck_assert_uint_eq(r.value, 100000);
	ck_assert_uint_eq(r.n_frames, 2);
	ck_assert_uint_eq(r.frame[1], 0x2000);
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 8, &r)); /* cut */
	ck_assert_uint_eq(r.n_frames, 2);
	ck_assert_uint_eq(r.frame[1], TRC_FRAMES_ELIDED);
	ck_assert(!read_words(p, PERF_RECORD_SAMPLE, word, 6, &r));
}
END_TEST

static const struct {
	const char *sentence;
	uint32_t chain_max, n_taken; /* as the kernel has them */
	uint32_t n_frames, n_innermost, n_outermost;
} chains[] = {
	{"a whole one", 127, 126, 126, 126, 0},
	{"as long as the kernel makes any", 127, 127, 128, 127, 0},
	{"the kernel's limit is raised: a whole one as long as there is room", 200, 128, 128, 128,
	 0},
	{"a whole one for which there is no room", 200, 129, 128, 111, 16},
	{"a longer one", 200, 199, 128, 111, 16},
	{"neither is it whole nor is there room", 200, 200, 128, 111, 15},
};

START_TEST(a_chain_that_is_not_whole_says_so)
{
	uint64_t word[5 + 1 + 200] = {CLOCK_ID, 1001, UINT64_C(7) << 32 | 5, 123};
	uint32_t n = chains[_i].n_taken, n_out = chains[_i].n_outermost;
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	p->chain_max = chains[_i].chain_max;
	word[4] = n + 1;
	word[5] = (uint64_t)PERF_CONTEXT_USER;
	for (uint32_t i = 0; i < n; i++)
		word[6 + i] = 100000 + i;
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 6 + n, &r));
	ck_assert_msg(r.n_frames == chains[_i].n_frames, "%s: %u frames", chains[_i].sentence,
		      r.n_frames);
	for (uint32_t i = 1; i < chains[_i].n_innermost; i++)
		ck_assert_uint_eq(r.frame[i], 100000 + i);
	for (uint32_t i = 0; i < n_out; i++)
		ck_assert_uint_eq(r.frame[112 + i], 100000 + n - 16 + i);
	for (uint32_t i = chains[_i].n_innermost; i < r.n_frames; i++)
		if (i < 112 || i >= 112 + n_out)
			ck_assert_uint_eq(r.frame[i], TRC_FRAMES_ELIDED);
}
END_TEST

static const struct {
	const char *sentence;
	uint64_t period, enabled_ns, running_ns, value;
} scales[] = {
	{"all of the time", 1000, 500, 500, 1000},
	{"a hair less is the clocks' doing", 1000, 1005, 1000, 1000},
	{"half of the time", 1000, 2000, 1000, 2000},
	{"nothing is known", 1000, 0, 0, 1000},
	{"never, and yet there is a sample", 1000, 5000, 0, 1000},
	{"no more than a number holds", UINT64_C(1) << 62, UINT64_C(1) << 40, 1, INT64_MAX},
};

START_TEST(values_are_scaled_by_the_time_that_was_counted)
{
	ck_assert_msg(trc_cpu_event_scaled(scales[_i].period, scales[_i].enabled_ns,
					   scales[_i].running_ns) == scales[_i].value,
		      "%s", scales[_i].sentence);
}
END_TEST

void perf_by_hand(TCase *t)
{
	tcase_add_test(t, a_stopped_counter_is_a_loss_when_it_goes_on);
	tcase_add_test(t, a_thread_that_ends_is_taken_off_its_proc);
	tcase_add_test(t, a_sample_has_the_users_frames);
	tcase_add_test(t, what_a_counter_says_of_itself_is_no_frame);
	tcase_add_loop_test(t, a_chain_that_is_not_whole_says_so, 0,
			    (int)(sizeof(chains) / sizeof(*chains)));
	tcase_add_loop_test(t, values_are_scaled_by_the_time_that_was_counted, 0,
			    (int)(sizeof(scales) / sizeof(*scales)));
}
