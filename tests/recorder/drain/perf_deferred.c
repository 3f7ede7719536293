/*
 * perf_deferred.c - user frames that come in records of their own (perf_buffer_deferred.c): buffers of two procs,
 * written by hand as the kernel would, and passes over them.
 */
#include <stdlib.h>
#include <string.h>
#include "perf_fixture.h"

enum {
	PROCS = 2,
	PAGE_BYTES = 4096,
	DATA_BYTES = 8192,
	EVENT_ID = 77,
	PID = 5,
	TID = 7,
	OTHER_TID = 8,
	SAMPLES_MAX = 64,
};
static const uint64_t context_user = (uint64_t)PERF_CONTEXT_USER;

static struct {
	_Alignas(struct trc_perf) char memory[sizeof(struct trc_perf) +
					      PROCS * sizeof(struct trc_perf_buffer)];
	_Alignas(PAGE_BYTES) char buffer[PROCS][PAGE_BYTES + DATA_BYTES];
	struct trc_perf_id_pair pair[2];
	char copy[PROCS][DATA_BYTES];
	uint32_t record_off[PROCS][DATA_BYTES / 8];
} made;

static struct trc_perf *p;

static void buffers_make(void)
{
	char error[128];

	memset(&made, 0, sizeof(made));
	p = (struct trc_perf *)made.memory;
	ck_assert_int_eq(trc_cpu_events_parse("cpu-clock:100000", 0, TRC_SAMPLE_BY_KERNEL, p->event,
					      error, sizeof(error)),
			 1);
	p->n_procs = PROCS;
	p->n_events = 1;
	p->chain_max = 127;
	p->page_bytes = PAGE_BYTES;
	p->data_bytes = DATA_BYTES;
	p->id_bytes = sizeof(struct trc_perf_id) + sizeof(uint64_t);
	p->ids.pair = made.pair;
	p->ids.mask = 1;
	made.pair[EVENT_ID * UINT64_C(0x9e3779b97f4a7c15) >> 32 & 1].id = EVENT_ID;
	for (int i = 0; i < PROCS; i++) {
		p->buffer[i].page = (struct perf_event_mmap_page *)made.buffer[i];
		p->buffer[i].fd = p->buffer[i].maps_fd = -1;
	}
	p->defers = true;
	ck_assert_int_eq(trc_perf_chains_open(&p->chains, PROCS, DATA_BYTES), 0);
}

static void write_words(int proc, uint32_t type, const uint64_t *word, size_t n)
{
	struct perf_event_header header = {.type = type, .size = (uint16_t)(8 + 8 * n)};
	struct perf_event_mmap_page *page = p->buffer[proc].page;
	uint64_t words[600];

	memcpy(words, &header, sizeof(header));
	memcpy(words + 1, word, n * sizeof(*word));
	for (size_t i = 0; i <= n; i++, page->data_head += sizeof(*word))
		memcpy(made.buffer[proc] + PAGE_BYTES + page->data_head % DATA_BYTES, words + i,
		       sizeof(*word));
}

static uint64_t pid_tid(uint32_t tid)
{
	return (uint64_t)tid << 32 | PID;
}

/* A sample whose user frames are to come. */
static void write_sample(int proc, uint32_t tid, uint64_t raw_ns, uint64_t cookie)
{
	const uint64_t word[] = {
		EVENT_ID, 0x9000, pid_tid(tid), raw_ns, 2, TRC_PERF_CONTEXT_DEFERRED, cookie};

	write_words(proc, PERF_RECORD_SAMPLE, word, sizeof(word) / sizeof(*word));
}

/* The frames: `first`, first + 0x1000, ... */
static void write_chain(int proc, uint32_t tid, uint64_t raw_ns, uint64_t cookie, uint64_t first,
			uint32_t n)
{
	uint64_t word[600] = {cookie, n + 1, context_user};
	size_t at = 3;

	for (uint32_t i = 0; i < n; i++)
		word[at++] = first + 0x1000 * i;
	word[at++] = pid_tid(tid);
	word[at++] = raw_ns;
	word[at++] = EVENT_ID + 1;
	write_words(proc, TRC_PERF_RECORD_CHAIN, word, at);
}

static struct {
	uint64_t raw_ns, frame[3], last;
	uint32_t tid, n_frames;
} seen[SAMPLES_MAX];
static uint32_t n_seen;

static void note(void *unused, const struct trc_perf_record *r)
{
	(void)unused;
	ck_assert_int_eq(r->what, TRC_PERF_SAMPLE);
	ck_assert_uint_lt(n_seen, SAMPLES_MAX);
	seen[n_seen].raw_ns = r->raw_ns;
	seen[n_seen].tid = r->tid;
	seen[n_seen].n_frames = r->n_frames;
	for (uint32_t i = 0; i < 3 && i < r->n_frames; i++)
		seen[n_seen].frame[i] = r->frame[i];
	seen[n_seen].last = r->frame[r->n_frames - 1];
	n_seen++;
}

/* Up to this time; how many were handed out. */
static uint32_t pass(uint64_t until_ns)
{
	n_seen = 0;
	trc_perf_pass_until(p, until_ns, false, note, NULL);
	return n_seen;
}

static bool is_used_up(int proc)
{
	return p->buffer[proc].page->data_tail == p->buffer[proc].page->data_head;
}

static void check(uint32_t i, uint64_t raw_ns, uint32_t n_frames, uint64_t first)
{
	ck_assert_uint_eq(seen[i].raw_ns, raw_ns);
	ck_assert_uint_eq(seen[i].n_frames, n_frames);
	ck_assert_uint_eq(seen[i].frame[0],
			  first + 1); /* exact, where others are return addresses */
	if (n_frames > 1)
		ck_assert_uint_eq(seen[i].frame[1], first + 0x1000);
}

START_TEST(samples_get_the_frames_that_came_later)
{
	buffers_make();
	write_sample(0, TID, 100, 1);
	write_sample(0, TID, 110, 1); /* in the same system call */
	write_sample(0, OTHER_TID, 120, 1);
	write_chain(0, TID, 130, 1, 0x10000, 3);
	write_chain(0, OTHER_TID, 140, 1, 0x20000, 2);
	ck_assert_uint_eq(pass(1000), 3);
	check(0, 100, 3, 0x10000);
	check(1, 110, 3, 0x10000);
	check(2, 120, 2, 0x20000);
	ck_assert(is_used_up(0));
	trc_perf_chains_close(&p->chains);
}
END_TEST

START_TEST(the_frames_may_be_in_another_procs_buffer)
{
	buffers_make();
	write_sample(1, TID, 100, 5);
	write_chain(0, TID, 200, 5, 0x10000, 3); /* proc 0 is read first */
	ck_assert_uint_eq(pass(1000), 1);
	check(0, 100, 3, 0x10000);
	ck_assert(is_used_up(0) && is_used_up(1));
	trc_perf_chains_close(&p->chains);
}
END_TEST

START_TEST(they_stay_as_long_as_a_sample_may_need_them)
{
	buffers_make();
	write_sample(1, TID, 100, 5);
	write_chain(0, TID, 200, 5, 0x10000, 3);
	ck_assert_uint_eq(pass(50), 0);
	ck_assert(!is_used_up(0));
	ck_assert_uint_eq(pass(150), 1); /* they have come, though later than that */
	check(0, 100, 3, 0x10000);
	ck_assert(!is_used_up(0));
	ck_assert_uint_eq(pass(250), 0);
	ck_assert(is_used_up(0));
	trc_perf_chains_close(&p->chains);
}
END_TEST

START_TEST(who_does_not_come_back_in_time_has_the_samples_address)
{
	buffers_make();
	write_sample(0, TID, 100, 1);
	write_chain(0, TID, 120, 2, 0x10000, 3);       /* another one's */
	write_chain(0, OTHER_TID, 130, 1, 0x20000, 3); /* another thread's */
	ck_assert_uint_eq(pass(1000), 1);
	check(0, 100, 1, 0x9000);
	write_chain(0, TID, 2000, 1, 0x30000, 3); /* too late */
	ck_assert_uint_eq(pass(5000), 0);
	ck_assert(is_used_up(0));
	/* A cookie that was used in an earlier pass is no match. */
	write_sample(0, TID, 6000, 2);
	ck_assert_uint_eq(pass(7000), 1);
	check(0, 6000, 1, 0x9000);
	trc_perf_chains_close(&p->chains);
}
END_TEST

START_TEST(records_go_round_the_end_of_a_buffer)
{
	buffers_make();
	for (uint64_t i = 1; i < 200; i++) {
		write_sample(1, TID, 1000 * i, i);
		write_chain(1, TID, 1000 * i + 1, i, 0x10000 * i, 2 + (uint32_t)i % 40);
		ck_assert_uint_eq(pass(1000 * i + 500), 1);
		check(0, 1000 * i, 2 + (uint32_t)i % 40, 0x10000 * i);
		ck_assert(is_used_up(1));
	}
	trc_perf_chains_close(&p->chains);
}
END_TEST

START_TEST(a_long_one_is_cut_and_says_so)
{
	uint64_t word[3] = {9, 127, context_user};

	buffers_make();
	write_sample(0, TID, 100, 9);
	write_chain(0, TID, 200, 9, 0x10000, 127); /* where others are cut */
	ck_assert_uint_eq(pass(1000), 1);
	ck_assert_uint_eq(seen[0].n_frames, 127);
	ck_assert_uint_eq(seen[0].last, 0x10000 + 126 * 0x1000);
	write_sample(0, TID, 1100, 9);
	write_chain(0, TID, 1200, 9, 0x10000, 509);
	ck_assert_uint_eq(pass(1500), 1);
	ck_assert_uint_eq(seen[0].n_frames, TRC_STACK_DEPTH_MAX);
	ck_assert_uint_eq(seen[0].last, 0x10000 + 508 * 0x1000); /* frames between are elided */
	write_sample(0, TID, 1600, 9);
	write_chain(0, TID, 1700, 9, 0x10000,
		    TRC_PERF_CHAIN_MAX); /* as long as the kernel makes any */
	ck_assert_uint_eq(pass(1800), 1);
	check(0, 1600, TRC_STACK_DEPTH_MAX, 0x10000);
	ck_assert_uint_eq(seen[0].last, TRC_FRAMES_ELIDED);
	/* One that says more than it has, and one too short for what it is. */
	write_sample(0, TID, 2000, 9);
	write_words(0, TRC_PERF_RECORD_CHAIN, word, 2);
	write_sample(0, TID, 2100, 10);
	{
		const uint64_t liar[] = {10,	  1000,		context_user, 0x10000,
					 0x11000, pid_tid(TID), 2200,	      EVENT_ID + 1};

		write_words(0, TRC_PERF_RECORD_CHAIN, liar, sizeof(liar) / sizeof(*liar));
	}
	ck_assert_uint_eq(pass(5000), 2);
	check(0, 2000, 1, 0x9000);
	ck_assert_uint_eq(seen[1].n_frames, 3);
	ck_assert_uint_eq(seen[1].frame[2], TRC_FRAMES_ELIDED);
	ck_assert(is_used_up(0));
	trc_perf_chains_close(&p->chains);
}
END_TEST

/* A sample of a copy is read before the first pass, for its time: nothing has been noted then, and a free place
 * ends the search. */
START_TEST(before_the_first_pass_there_is_none)
{
	uint64_t n, room;

	buffers_make();
	ck_assert_ptr_null(trc_perf_chain_find(p, 0, 0, &n, &room));
	ck_assert_ptr_null(trc_perf_chain_find(p, TID, 1, &n, &room));
	ck_assert_uint_ne(p->chains.pass, p->chains.chain[0].pass);
	trc_perf_chains_close(&p->chains);
}
END_TEST

/* In flight mode, of copies: from the newest to the oldest. */
START_TEST(copies_are_looked_through_as_well)
{
	buffers_make();
	p->flight = true;
	write_chain(0, TID, 200, 5, 0x10000, 3);
	write_sample(1, TID, 100, 5);
	for (int i = 0; i < PROCS; i++) {
		memcpy(made.copy[i], made.buffer[i] + PAGE_BYTES, DATA_BYTES);
		p->buffer[i].copy = made.copy[i];
		p->buffer[i].record_off = made.record_off[i];
		p->buffer[i].n_records = 1;
	}
	n_seen = 0;
	ck_assert_uint_eq(trc_perf_pass(p, true, note, NULL), 1);
	check(0, 100, 3, 0x10000);
	trc_perf_chains_close(&p->chains);
}
END_TEST

/* This kernel takes it, or refuses it: nothing else.  What it gave was given back. */
START_TEST(the_kernel_is_asked)
{
	struct perf_event_attr dummy = {.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.size = sizeof(dummy),
					.exclude_kernel = 1},
			       clock = {.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.size = sizeof(clock),
					.sample_period = 1000000,
					.sample_type = PERF_SAMPLE_CALLCHAIN,
					.exclude_kernel = 1},
			       asked = dummy;
	bool may = trc_perf_may_defer(&dummy, &clock);

	ck_assert_int_eq(trc_perf_may_defer(&dummy, &clock), may);
	ck_assert_int_eq(setenv("TRC_DEFERRED", "off", 1), 0);
	ck_assert(!trc_perf_may_defer(&dummy, &clock));
	unsetenv("TRC_DEFERRED");
	/* The bits are where the kernel has them: next to those that headers do name. */
	asked.sigtrap = 1;
	trc_perf_defer(&asked, true);
	trc_perf_defer(&asked, false);
	{
		uint64_t flags;

		memcpy(&flags, (char *)&asked + 40, sizeof(flags));
		ck_assert_uint_eq(flags >> 37, 7);
	}
}
END_TEST

void perf_deferred(TCase *t)
{
	tcase_add_test(t, samples_get_the_frames_that_came_later);
	tcase_add_test(t, the_frames_may_be_in_another_procs_buffer);
	tcase_add_test(t, they_stay_as_long_as_a_sample_may_need_them);
	tcase_add_test(t, who_does_not_come_back_in_time_has_the_samples_address);
	tcase_add_test(t, records_go_round_the_end_of_a_buffer);
	tcase_add_test(t, a_long_one_is_cut_and_says_so);
	tcase_add_test(t, before_the_first_pass_there_is_none);
	tcase_add_test(t, copies_are_looked_through_as_well);
	tcase_add_test(t, the_kernel_is_asked);
}
