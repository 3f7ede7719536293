/*
 * unit_html_derived.c - what was derived of a trace, in its page: fibers, samples, blame, paths, causes, memory.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_model.h"
#include "page_read.h"
#include "unit_html.h"
#include "viewer/html.h"

/* clang-format off */
static const struct trc_fiber fibers[] = {
	{.fiber = 4, .name = "acceptor", .creator_thread = 3, .create_stack = 0, .created_ns = TRC_NEVER,
	 .ended_ns = TRC_NEVER, .run_ns = 300, .n_runs = 2, .n_waits = 1, .waited_ns = 150,
	 .runnable_ns = 50, .state = TRC_FIBER_RUNNING},
	{.fiber = 0x500000007, .name = HOSTILE, .creator_thread = 9, .creator = 1, .created_ns = 1150,
	 .ended_ns = 1600, .run_ns = 100, .n_runs = 1, .state = TRC_FIBER_ENDED},
	{.fiber = 0x500000008, .name = "", .created_ns = 1900, .ended_ns = TRC_NEVER,
	 .state = TRC_FIBER_NEW},
};
static const struct trc_fiber_run fiber_runs[] = {
	{900, 1200, 1, 9, TRC_REASON_USER, TRC_FIBER_RUN_CUT},
	{1250, 1350, 2, 9, 0, TRC_FIBER_RUN_ENDED},
	{1400, TRC_NEVER, 1, 3, 0, TRC_FIBER_RUN_OPEN},
};
static const struct trc_fiber_wait fiber_waits[] = {
	{.start_ns = 1200, .ready_ns = 1350, .end_ns = 1400, .object = 0x77, .fiber = 1, .thread = 9,
	 .end_thread = 3, .stack = 1, .labels = 6, .waker_thread = 9, .waker_fiber = 2, .waker_stack = 2,
	 .reason = TRC_REASON_USER},
	{.start_ns = 1500, .ready_ns = TRC_NEVER, .end_ns = TRC_NEVER, .fiber = 2, .thread = 9,
	 .reason = TRC_REASON_SLEEP, .flags = TRC_FIBER_WAIT_OPEN},
};
/* clang-format on */
static const struct trc_region fiber_regions[] = {
	{.thread = 9, .fiber = 2, .type = "in a fiber", .start_ns = 1260, .end_ns = 1500},
	{.thread = 9, .type = "in none", .start_ns = 1360, .end_ns = 1500},
};
static const struct trc_model fibers_model = {.start_ns = 1000,
					      .end_ns = 2000,
					      .threads = threads,
					      .n_threads = 2,
					      .regions = fiber_regions,
					      .n_regions = 2,
					      .fibers = fibers,
					      .n_fibers = 3,
					      .fiber_runs = fiber_runs,
					      .n_fiber_runs = 3,
					      .fiber_waits = fiber_waits,
					      .n_fiber_waits = 2,
					      .stacks = NO_STACKS};

/* A column, and what it should hold. */
struct wanted_column {
	const char *name;
	size_t n;
	uint64_t value[3];
};

static void check_columns(const char *page, const struct wanted_column *c, size_t n_columns)
{
	for (; n_columns; n_columns--, c++) {
		ck_assert_msg(size_of(page, c->name) == c->n, "%s: %zu values", c->name,
			      size_of(page, c->name));
		for (size_t i = 0; i < c->n; i++)
			ck_assert_msg(at(page, c->name, i) == c->value[i], "%s[%zu] is %llu",
				      c->name, i, (unsigned long long)at(page, c->name, i));
	}
}

START_TEST(fibers_are_as_in_the_model)
{
	static const struct wanted_column wanted[] = {
		{"fiber.low", 3, {4, 7, 8}},
		{"fiber.high", 3, {0, 5, 5}},
		{"fiber.thread", 3, {1, 2, 0}},
		{"fiber.creator", 3, {0, 1, 0}},
		{"fiber.created", 3, {0, 151, 901}},
		{"fiber.ended", 3, {0, 601, 0}},
		{"fiber.run", 3, {300, 100, 0}},
		{"fiber.runnable", 3, {50, 0, 0}},
		{"fiber.waited", 3, {150, 0, 0}},
		{"fiber.runs", 3, {2, 1, 0}},
		{"fiber.waits", 3, {1, 0, 0}},
		{"fiber.state", 3, {TRC_FIBER_RUNNING, TRC_FIBER_ENDED, TRC_FIBER_NEW}},
		{"frun.id", 3, {1, 2, 3}},
		{"frun.thread", 3, {2, 2, 1}},
		{"frun.start", 3, {0, 250, 400}}, /* what began before the trace begins with it */
		{"frun.length", 3, {200, 100, 600}},
		{"frun.fiber", 3, {1, 2, 1}},
		{"frun.reason", 3, {TRC_REASON_USER, 0, 0}},
		{"frun.flags", 3, {TRC_FIBER_RUN_CUT, TRC_FIBER_RUN_ENDED, TRC_FIBER_RUN_OPEN}},
		{"fwait.start", 2, {200, 500}},
		{"fwait.length", 2, {200, 500}},
		{"fwait.ready", 2, {351, 0}},
		{"fwait.fiber", 2, {1, 2}},
		{"fwait.reason", 2, {TRC_REASON_USER, TRC_REASON_SLEEP}},
		{"fwait.flags", 2, {0, TRC_FIBER_WAIT_OPEN}},
		{"fwait.thread", 2, {2, 2}},
		{"fwait.end_thread", 2, {1, 0}},
		{"fwait.stack", 2, {1, 0}},
		{"fwait.set", 2, {6, 0}},
		{"fwait.waker", 2, {2, 0}},
		{"fwait.waker_fiber", 2, {2, 0}},
		{"fwait.waker_stack", 2, {2, 0}},
		{"region.fiber", 2, {2, 0}},
		{"fiberwait.total", 2, {500, 200}}, /* what lasts, to the end */
		{"fiberwait.wait", 2, {2, 1}},
	};
	struct trc_model m = fibers_model;
	char *page = write_page(&m, NULL), *text;

	check_columns(page, wanted, sizeof(wanted) / sizeof(wanted[0]));
	ck_assert_uint_eq(at(page, "object.low", at(page, "fwait.object", 0) - 1), 0x77);
	ck_assert_uint_eq(at(page, "fwait.object", 1), 0);
	text = page_read_text(page, at(page, "fiber.name", 1));
	ck_assert_str_eq(text, HOSTILE);
	free(text);
	free(page);
}
END_TEST

/* A fiber that is left out takes its runs and waits with it. */
START_TEST(of_too_many_fibers_those_with_most_time_are_kept)
{
	static const struct wanted_column wanted[] = {
		{"fiber.low", 1, {4}},
		{"frun.id", 1, {3}},
		{"frun.fiber", 1, {1}},
		{"fwait.id", 1, {1}},
		{"fwait.waker_fiber", 1, {0}},
		{"region.fiber", 2, {0, 0}},
		{"fiberwait.total", 2, {500, 200}},
		{"fiberwait.wait", 2, {0, 1}},
	};
	struct trc_html_limits limits = {.fibers = 1, .fiber_runs = 1, .fiber_waits = 1};
	struct trc_model m = fibers_model;
	char *page = write_page(&m, &limits);

	check_columns(page, wanted, sizeof(wanted) / sizeof(wanted[0]));
	ck_assert_int_eq((int)page_read_head(page, "without_fibers"), 2);
	ck_assert_int_eq((int)page_read_head(page, "without_fiber_runs"), 2);
	ck_assert_int_eq((int)page_read_head(page, "without_fiber_waits"), 1);
	free(page);
}
END_TEST

START_TEST(a_trace_without_fibers_has_no_columns_for_them)
{
	struct trc_model m = {.end_ns = 1000,
			      .threads = threads,
			      .n_threads = 2,
			      .regions = fiber_regions,
			      .n_regions = 2,
			      .stacks = NO_STACKS};
	char *page = write_page(&m, NULL);

	for (const char *const *name = (const char *const[]){"fiber.low", "frun.id", "fwait.id",
							     "fiberwait.total", NULL};
	     *name; name++) {
		char quoted[40];

		snprintf(quoted, sizeof(quoted), "[\"%s\",", *name);
		ck_assert_msg(!strstr(page, quoted), "there is %s", *name);
	}
	free(page);
}
END_TEST

/* Each event by itself, so that a rare one does not vanish behind another. */
START_TEST(of_too_many_samples_one_of_so_many_is_kept)
{
	enum { N = 100 };
	static struct trc_sample samples[N];
	static const struct trc_sample_event events[] = {
		{.event = 3,
		 .name = "cpu-clock",
		 .unit = "nanoseconds",
		 .note = "",
		 .n_samples = 80},
		{.event = 8, .name = "cache-misses", .unit = "count", .note = "", .n_samples = 20},
	};
	struct trc_model m = {.end_ns = 1000,
			      .threads = threads,
			      .n_threads = 2,
			      .samples = samples,
			      .n_samples = N,
			      .sample_events = events,
			      .n_sample_events = 2,
			      .stacks = NO_STACKS};
	struct trc_html_limits limits = {.samples = 50};
	size_t n_rare = 0;
	char *page;

	for (int64_t i = 0; i < N; i++)
		samples[i] = (struct trc_sample){.ts_ns = i,
						 .thread = 9,
						 .event = i % 5 ? 3 : 8,
						 .value = (uint64_t)i,
						 .labels = 4};
	page = write_page(&m, NULL);
	ck_assert_uint_eq(size_of(page, "sample.time"), N);
	ck_assert_int_eq((int)page_read_head(page, "sample_step"), 1);
	ck_assert_uint_eq(at(page, "sample.value", 99), 99);
	ck_assert_uint_eq(at(page, "sample.thread", 99), 2);
	ck_assert_uint_eq(at(page, "sample.set", 99), 4);
	ck_assert_uint_eq(at(page, "sampled.event", 1), 8);
	free(page);
	page = write_page(&m, &limits);
	ck_assert_uint_eq(size_of(page, "sample.time"), 50);
	ck_assert_int_eq((int)page_read_head(page, "sample_step"), 2);
	for (size_t i = 0; i < 50; i++)
		n_rare += at(page, "sample.event", i) == 2;
	ck_assert_uint_eq(n_rare, 10);
	free(page);
}
END_TEST

/* Zigzag, as the page has it. */
static int64_t counter_at(const char *page, size_t i)
{
	uint64_t value = at(page, "counter.value", i);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

START_TEST(what_is_to_blame_lies_in_its_wait)
{
	static const struct trc_park parks[] = {
		{.start_ns = 100, .end_ns = 200, .thread = 3, .reason = TRC_REASON_MUTEX},
		{.start_ns = 300, .end_ns = 900, .thread = 3, .reason = TRC_REASON_READ},
		{.start_ns = 1200, .end_ns = TRC_NEVER, .thread = 9, .reason = TRC_REASON_COND},
	};
	static const struct trc_blame blame[] = {
		{.from_ns = 1500, .to_ns = 1600, .stack = 4, .labels = 3, .kind = 2},
		{.from_ns = 100, .to_ns = 140, .stack = 5, .labels = 1, .kind = 1},
		{.from_ns = 350, .to_ns = 400, .stack = 8, .labels = 2, .kind = 1},
		{.from_ns = 140, .to_ns = 160, .stack = 5, .labels = 1, .kind = 1},
		{.from_ns = 160, .to_ns = 200, .stack = 5, .labels = 1, .kind = 7, .reason = 2},
		{.from_ns = 1600, .to_ns = 2000, .stack = 6, .labels = 3, .kind = 2},
	};
	static const uint64_t gap[] = {0, 0, 300, 0}, length[] = {60, 0, 100, 0};
	static const uint64_t stack[] = {5, 5, 4, 6}, kind[] = {1, 7, 2, 2};
	struct trc_model m = {.end_ns = 2000,
			      .threads = threads,
			      .n_threads = 2,
			      .parks = parks,
			      .n_parks = 3,
			      .blame = blame,
			      .n_blame = 6,
			      .stacks = NO_STACKS};
	struct trc_html_limits one = {.blamed_waits = 1};
	char *page = write_page(&m, NULL);

	/* A wait for a file is nobody's fault; pieces that follow each other are one. */
	ck_assert_uint_eq(size_of(page, "blame.park"), 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(at(page, "park.start", at(page, "blame.park", i) - 1),
				  i < 2 ? 100 : 1200);
		ck_assert_uint_eq(at(page, "blame.gap", i), gap[i]);
		ck_assert_uint_eq(at(page, "blame.length", i), length[i]);
		ck_assert_uint_eq(at(page, "blame.stack", i), stack[i]);
		ck_assert_uint_eq(at(page, "blame.kind", i), kind[i]);
	}
	ck_assert_uint_eq(at(page, "blame.reason", 1), 2);
	free(page);

	/* The longest are kept. */
	page = write_page(&m, &one);
	ck_assert_uint_eq(size_of(page, "blame.park"), 2);
	ck_assert_uint_eq(at(page, "blame.stack", 0), 4);
	ck_assert_int_gt((int)page_read_head(page, "blame_from_ns"), 100);
	free(page);
}
END_TEST

/* Each cause of a wait is one piece, as long as all that it caused, in the order in which they began. */
START_TEST(causes_of_a_wait_are_summed_up_where_pieces_are_too_many)
{
	static const struct trc_park parks[] = {
		{.start_ns = 100, .end_ns = 2100, .thread = 3, .reason = TRC_REASON_MUTEX},
		{.start_ns = 3000, .end_ns = 9000, .thread = 3, .reason = TRC_REASON_MUTEX},
	};
	enum { N = 40 };
	struct trc_blame blame[N];
	struct trc_model m = {.end_ns = 9000,
			      .threads = threads,
			      .n_threads = 2,
			      .parks = parks,
			      .n_parks = 2,
			      .blame = blame,
			      .n_blame = N,
			      .stacks = NO_STACKS};
	struct trc_html_limits few = {.blame_pieces = 1};
	static const uint64_t park_of[] = {1, 1, 2, 2}, length[] = {950, 0, 3000, 0},
			      stack[] = {5, 4, 5, 4}, kind[] = {1, 2, 1, 2};
	char *page;

	/* Two causes take turns: of the first wait the second one begins with 50 ns less of the first. */
	for (uint32_t i = 0; i < N; i++) {
		uint32_t park = i / 20, turn = i % 20;
		int64_t begin = parks[park].start_ns, step = park ? 300 : 100;

		blame[i] = (struct trc_blame){.from_ns = begin + turn * step,
					      .to_ns = begin + (turn + 1) * step,
					      .stack = turn % 2 ? 4 : 5,
					      .labels = park + 1,
					      .kind = turn % 2 ? 2 : 1};
	}
	blame[0].to_ns -= 50;
	blame[1].from_ns -= 50;

	page = write_page(&m, NULL);
	ck_assert_uint_eq(size_of(page, "blame.park"), N);
	ck_assert_int_eq((int)page_read_head(page, "blame_summed"), 0);
	free(page);

	page = write_page(&m, &few);
	ck_assert_int_eq((int)page_read_head(page, "blame_summed"), 1);
	ck_assert_int_eq((int)page_read_head(page, "without_blame"), 0);
	ck_assert_uint_eq(size_of(page, "blame.park"), 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(at(page, "blame.park", i), park_of[i]);
		ck_assert_uint_eq(at(page, "blame.gap", i), 0);
		ck_assert_uint_eq(at(page, "blame.length", i), length[i]);
		ck_assert_uint_eq(at(page, "blame.stack", i), stack[i]);
		ck_assert_uint_eq(at(page, "blame.kind", i), kind[i]);
	}
	free(page);
}
END_TEST

/* Of each type the slowest; pieces that are alike and follow each other are one. */
START_TEST(paths_are_those_of_the_slowest_tasks)
{
	static const struct trc_task tasks[] = {
		{.task = 7, .type = "a", .start_ns = 100, .end_ns = 200, .start_thread = 3},
		{.task = 8,
		 .type = "b",
		 .start_ns = 300,
		 .end_ns = 400,
		 .start_thread = 3,
		 .end_thread = 9},
		{.task = 9, .type = "a", .start_ns = 500, .end_ns = 900, .start_thread = 9},
		{.task = 10, .type = "a", .start_ns = 950, .end_ns = 950, .start_thread = 9},
	};
	static const struct trc_cause causes[] = {
		{.from_ns = 100, .to_ns = 200, .thread = 3, .leaf = true},
		{.from_ns = 300, .to_ns = 400, .thread = 9, .kind = TRC_CAUSE_WAITING},
		{.from_ns = 300,
		 .to_ns = 320,
		 .thread = 3,
		 .kind = 1,
		 .stack = 2,
		 .unlock = 1,
		 .leaf = true},
		{.from_ns = 320,
		 .to_ns = 350,
		 .thread = 3,
		 .kind = 1,
		 .stack = 2,
		 .unlock = 1,
		 .leaf = true},
		{.from_ns = 350, .to_ns = 400, .thread = 3, .kind = 1, .stack = 2, .leaf = true},
		{.from_ns = 500,
		 .to_ns = 900,
		 .thread = 9,
		 .kind = TRC_CAUSE_IO,
		 .reason = TRC_REASON_READ,
		 .object = 5,
		 .leaf = true},
	};
	static const struct trc_unlock unlocks[] = {
		{.ts_ns = 350, .thread = 3, .reason = TRC_REASON_MUTEX}};
	static const uint64_t task[] = {2, 2, 3}, length[] = {50, 50, 400}, thread[] = {1, 1, 2};
	static const uint64_t times[] = {2, 1, 1}, unlock[] = {2, 0, 0};
	struct trc_model m = {.end_ns = 1000,
			      .threads = threads,
			      .n_threads = 2,
			      .tasks = tasks,
			      .n_tasks = 4,
			      .unlocks = unlocks,
			      .n_unlocks = 1,
			      .causes = causes,
			      .n_causes = 6,
			      .stacks = NO_STACKS};
	struct trc_html_limits one = {.paths = 1};
	char *page = write_page(&m, NULL);

	ck_assert_uint_eq(size_of(page, "path.task"), 4);
	ck_assert_int_eq((int)page_read_head(page, "paths"), 100);
	free(page);
	page = write_page(&m, &one);
	ck_assert_uint_eq(size_of(page, "path.task"), 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(at(page, "path.task", i), task[i]);
		ck_assert_uint_eq(at(page, "path.length", i), length[i]);
		ck_assert_uint_eq(at(page, "path.thread", i), thread[i]);
		ck_assert_uint_eq(at(page, "path.times", i), times[i]);
		ck_assert_uint_eq(at(page, "path.unlock", i), unlock[i]);
	}
	ck_assert_uint_eq(at(page, "path.reason", 2), TRC_REASON_READ);
	ck_assert_uint_eq(at(page, "object.low", at(page, "path.object", 2) - 1), 5);
	free(page);
}
END_TEST

/* Of each place the longest, in the order of ids. */
START_TEST(causes_are_those_of_the_longest_waits)
{
	static const struct trc_park parks[] = {
		{.thread = 3,
		 .start_ns = 1100,
		 .end_ns = 1150,
		 .reason = TRC_REASON_MUTEX,
		 .stack = 1},
		{.thread = 9,
		 .start_ns = 1110,
		 .end_ns = 1190,
		 .reason = TRC_REASON_MUTEX,
		 .stack = 1},
		{.thread = 3,
		 .start_ns = 1200,
		 .end_ns = 1210,
		 .reason = TRC_REASON_COND,
		 .stack = 1},
		{.thread = 9, .start_ns = 1300, .end_ns = 1900, .reason = TRC_REASON_SLEEP},
	};
	static const struct trc_cause causes[] = {
		{.wait = 1, .id = 1, .from_ns = 1100, .to_ns = 1150, .thread = 3, .leaf = true},
		{.wait = 2,
		 .id = 1,
		 .from_ns = 1110,
		 .to_ns = 1190,
		 .thread = 9,
		 .park = 2,
		 .reason = TRC_REASON_MUTEX,
		 .kind = TRC_CAUSE_WAITING},
		{.wait = 2,
		 .id = 2,
		 .parent = 1,
		 .depth = 1,
		 .from_ns = 1110,
		 .to_ns = 1190,
		 .thread = 3,
		 .kind = TRC_CAUSE_PREEMPTED,
		 .instead = 9,
		 .instead_ns = 7,
		 .leaf = true},
		{.wait = 3, .id = 1, .from_ns = 1200, .to_ns = 1210, .thread = 3, .leaf = true},
	};
	static const uint64_t wait[] = {2, 2, 3}, id[] = {1, 2, 1}, parent[] = {0, 1, 0};
	static const uint64_t thread[] = {2, 1, 1}, start[] = {110, 110, 200};
	static const uint64_t length[] = {80, 80, 10}, instead[] = {0, 2, 0},
			      instead_ns[] = {0, 8, 0};
	struct trc_model m = {.start_ns = 1000,
			      .end_ns = 2000,
			      .threads = threads,
			      .n_threads = 2,
			      .parks = parks,
			      .n_parks = 4,
			      .causes = causes,
			      .n_causes = 4,
			      .stacks = NO_STACKS};
	struct trc_html_limits one = {.causes = 1};
	char *page = write_page(&m, NULL);

	ck_assert_uint_eq(size_of(page, "cause.wait"), 4);
	ck_assert_int_eq((int)page_read_head(page, "caused"), 100);
	free(page);
	page = write_page(&m, &one);
	ck_assert_uint_eq(size_of(page, "cause.wait"), 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(at(page, "cause.wait", i), wait[i]);
		ck_assert_uint_eq(at(page, "cause.id", i), id[i]);
		ck_assert_uint_eq(at(page, "cause.parent", i), parent[i]);
		ck_assert_uint_eq(at(page, "cause.thread", i), thread[i]);
		ck_assert_uint_eq(at(page, "cause.start", i), start[i]);
		ck_assert_uint_eq(at(page, "cause.length", i), length[i]);
		ck_assert_uint_eq(at(page, "cause.instead", i), instead[i]);
		ck_assert_uint_eq(at(page, "cause.instead_ns", i), instead_ns[i]);
	}
	free(page);
}
END_TEST

START_TEST(allocations_are_as_in_the_model)
{
	static const struct trc_alloc allocs[] = {
		{.ts_ns = 100,
		 .freed_ns = 400,
		 .bytes = 1000,
		 .objects = 2.5,
		 .thread = 9,
		 .stack = 2},
		{.ts_ns = 500,
		 .freed_ns = TRC_NEVER,
		 .bytes = 16,
		 .objects = 1,
		 .thread = 3,
		 .lives = true},
		{.ts_ns = 600, .freed_ns = TRC_NEVER, .bytes = 8, .objects = 1e300, .thread = 3},
	};
	struct trc_model m = {.end_ns = 2000,
			      .threads = threads,
			      .n_threads = 2,
			      .allocs = allocs,
			      .n_allocs = 3,
			      .stacks = NO_STACKS};
	struct trc_html_limits two = {.allocs = 2};
	char *page = write_page(&m, NULL);

	ck_assert_uint_eq(size_of(page, "alloc.time"), 3);
	ck_assert_uint_eq(at(page, "alloc.time", 1), 500);
	ck_assert_uint_eq(at(page, "alloc.thread", 0), 2);
	ck_assert_uint_eq(at(page, "alloc.freed", 0), 401);
	ck_assert_uint_eq(at(page, "alloc.freed", 1), 0);
	ck_assert_uint_eq(at(page, "alloc.lives", 1), 1);
	ck_assert_uint_eq(at(page, "alloc.space", 0), 2500);
	ck_assert_uint_eq(at(page, "alloc.space", 2), INT64_MAX);
	ck_assert_uint_eq(at(page, "alloc.stack", 0), 2);
	free(page);
	page = write_page(&m, &two);
	ck_assert_uint_eq(size_of(page, "alloc.time"), 2);
	ck_assert_int_eq((int)page_read_head(page, "alloc_step"), 2);
	free(page);
}
END_TEST

START_TEST(memory_in_use_is_a_counter_of_its_own)
{
	static const struct trc_counter counters[] = {{.ts_ns = 500, .value = -3, .name = "queue"}};
	static const struct trc_alloc allocs[] = {
		{.ts_ns = 100, .bytes = 1000, .objects = 2.5, .thread = 9, .free = 1},
		/* Its end is not known. */
		{.ts_ns = 200, .bytes = 77, .objects = 1, .thread = 9, .freed_ns = TRC_NEVER},
		/* It ends when another program is executed. */
		{.ts_ns = 250, .bytes = 20, .objects = 1, .thread = 9, .freed_ns = 350},
		{.ts_ns = 300, .bytes = 50, .objects = 1, .thread = 9, .lives = true},
	};
	static const struct trc_free frees[] = {
		{.ts_ns = 50, .bytes = 8, .objects = 1, .thread = 9}, /* from before */
		{.ts_ns = 400, .bytes = 1000, .objects = 2.5, .thread = 9, .alloc = 1},
	};
	static const int64_t TIME[] = {500, 100, 250, 300, 350, 400};
	static const int64_t VALUE[] = {-3, 2500, 2520, 2570, 2550, 50};
	struct trc_model m = {.end_ns = 1000,
			      .threads = threads,
			      .n_threads = 2,
			      .counters = counters,
			      .n_counters = 1,
			      .allocs = allocs,
			      .n_allocs = 4,
			      .frees = frees,
			      .n_frees = 2,
			      .stacks = NO_STACKS};
	struct trc_html_limits limits = {.counters = 4};
	char *page = write_page(&m, NULL), *text;

	ck_assert_uint_eq(size_of(page, "counter.time"), 6);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_uint_eq(at(page, "counter.time", i), (uint64_t)TIME[i]);
		ck_assert_int_eq(counter_at(page, i), VALUE[i]);
	}
	ck_assert_uint_eq(at(page, "counter.thread", 3), 2);
	text = page_read_text(page, at(page, "counter.name", 1));
	ck_assert_str_eq(text, "memory in use, estimated [bytes]");
	free(text);
	free(page);
	/* Every second step, and the last. */
	page = write_page(&m, &limits);
	ck_assert_uint_eq(size_of(page, "counter.time"), 4);
	ck_assert_int_eq(counter_at(page, 1), 2500);
	ck_assert_int_eq(counter_at(page, 2), 2570);
	ck_assert_int_eq(counter_at(page, 3), 50);
	free(page);
}
END_TEST

void unit_html_derived(TCase *t)
{
	tcase_add_test(t, fibers_are_as_in_the_model);
	tcase_add_test(t, of_too_many_fibers_those_with_most_time_are_kept);
	tcase_add_test(t, a_trace_without_fibers_has_no_columns_for_them);
	tcase_add_test(t, of_too_many_samples_one_of_so_many_is_kept);
	tcase_add_test(t, what_is_to_blame_lies_in_its_wait);
	tcase_add_test(t, causes_of_a_wait_are_summed_up_where_pieces_are_too_many);
	tcase_add_test(t, paths_are_those_of_the_slowest_tasks);
	tcase_add_test(t, causes_are_those_of_the_longest_waits);
	tcase_add_test(t, allocations_are_as_in_the_model);
	tcase_add_test(t, memory_in_use_is_a_counter_of_its_own);
}
