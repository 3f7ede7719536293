/*
 * unit_html.c - the page as a whole: what it holds, what it leaves out, and that hostile
 * text stays text.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_model.h"
#include "page_read.h"
#include "unit.h"
#include "viewer/html.h"

#define HOSTILE "</script><img src=x onerror=alert(1)>\"'&\xff\xe2\x80\xa8"

static char path[64];

static void path_make(void)
{
	snprintf(path, sizeof(path), "viewer-unit-%d.html", (int)getpid());
}

static void path_remove(void)
{
	unlink(path);
}

/* Writes the page and reads it back; the caller's. */
static char *write_page(struct trc_model *m, const struct trc_html_limits *limits)
{
	struct trc_error error = {""};
	size_t n;

	ck_assert_msg(!trc_html_write_limited(m, path, limits, &error), "%s", error.text);
	return page_read_file(path, &n);
}

static uint64_t at(const char *page, const char *name, size_t i)
{
	size_t n;
	uint64_t *values = page_read_column(page, name, &n), value;

	ck_assert_msg(i < n, "%s has %zu values", name, n);
	value = values[i];
	free(values);
	return value;
}

static size_t size_of(const char *page, const char *name)
{
	size_t n;

	free(page_read_column(page, name, &n));
	return n;
}

START_TEST(an_empty_trace_makes_a_page)
{
	struct trc_model m = {0};
	char *page = write_page(&m, NULL);

	ck_assert_int_eq((int)page_read_head(page, "span_ns"), 0);
	ck_assert_uint_eq(size_of(page, "park.id_by_start"), 0);
	ck_assert_ptr_nonnull(strstr(page, "</html>"));
	free(page);
}
END_TEST

static const struct trc_thread threads[] = {
	{.serial = 3, .tid = 103, .name = "main", .start_ns = TRC_NEVER, .end_ns = TRC_NEVER},
	{.serial = 9, .tid = 109, .creator = 3, .name = HOSTILE, .start_ns = 1100, .end_ns = 1900},
};
static const uint32_t no_stacks[] = {0, 0};
#define NO_STACKS                                                                                  \
	{                                                                                          \
		.n_stacks = 1, .stack_first = no_stacks                                            \
	}

START_TEST(references_are_rows_and_unknown_is_nothing)
{
	static const struct trc_park parks[] = {
		{.start_ns = 1200,
		 .end_ns = TRC_NEVER,
		 .thread = 9,
		 .reason = TRC_REASON_MUTEX,
		 .object = 0xfedcba9876543210,
		 .holder = 3,
		 .flags = TRC_PARK_OPEN,
		 .result = -1,
		 .proc = TRC_NO_PROC,
		 .wake_ns = TRC_NEVER},
		{.start_ns = 1300,
		 .end_ns = 1500,
		 .thread = 3,
		 .reason = TRC_REASON_MUTEX,
		 .waker = 9,
		 .holder = 77,
		 .unlock = 1,
		 .wake_ns = 1400,
		 .proc = 2,
		 .descriptor = 1,
		 .result = 110},
	};
	static const struct trc_unlock unlocks[] = {
		{.ts_ns = 1400,
		 .thread = 9,
		 .reason = TRC_REASON_MUTEX,
		 .caused_waits = 1,
		 .caused_ns = 100},
	};
	struct trc_model m = {.start_ns = 1000,
			      .end_ns = 2000,
			      .threads = threads,
			      .n_threads = 2,
			      .parks = parks,
			      .n_parks = 2,
			      .unlocks = unlocks,
			      .n_unlocks = 1};
	char *page = write_page(&m, NULL);
	/* Tracks are in thread order, so the second park comes first. */
	size_t main_park = 0, open_park = 1;

	ck_assert_uint_eq(at(page, "park.id_by_start", 0), 1);
	ck_assert_uint_eq(at(page, "park.id_by_start", 1), 2);
	ck_assert_uint_eq(at(page, "park.thread", main_park), 1);
	ck_assert_uint_eq(at(page, "park.waker", main_park), 2);
	ck_assert_uint_eq(at(page, "park.holder", main_park), 0); /* no such thread */
	ck_assert_uint_eq(at(page, "park.unlock", main_park), 1);
	ck_assert_uint_eq(at(page, "park.start", main_park), 300);
	ck_assert_uint_eq(at(page, "park.length", main_park), 200);
	ck_assert_uint_eq(at(page, "park.wake", main_park), 2 * 100 + 1);
	ck_assert_uint_eq(at(page, "park.proc", main_park), 3);
	ck_assert_uint_eq(at(page, "park.result", main_park), 111);
	ck_assert_uint_ne(at(page, "park.descriptor", main_park), 0);
	ck_assert_uint_eq(at(page, "park.descriptor", open_park), 0);
	/* A wait in progress lasts to the end; what is not known is 0. */
	ck_assert_uint_eq(at(page, "park.length", open_park), 800);
	ck_assert_uint_eq(at(page, "park.flags", open_park), TRC_PARK_OPEN);
	ck_assert_uint_eq(at(page, "park.holder", open_park), 1);
	ck_assert_uint_eq(at(page, "park.wake", open_park), 0);
	ck_assert_uint_eq(at(page, "park.proc", open_park), 0);
	ck_assert_uint_eq(at(page, "park.result", open_park), 0);

	uint64_t object = at(page, "park.object", open_park) - 1;

	ck_assert_uint_eq(at(page, "object.high", object), 0xfedcba98);
	ck_assert_uint_eq(at(page, "object.low", object), 0x76543210);
	ck_assert_uint_eq(at(page, "thread.start", 0), 0);
	ck_assert_uint_eq(at(page, "thread.start", 1), 101);
	/* The tables beside the timeline: the longest in total first. */
	ck_assert_uint_eq(at(page, "wait.total", 0), 1000);
	ck_assert_uint_eq(at(page, "wait.count", 0), 2);
	ck_assert_uint_eq(at(page, "wait.park", 0), open_park + 1);
	ck_assert_uint_eq(at(page, "hold.total", 0), 100);
	free(page);
}
END_TEST

/* Counts the script elements: a text that got out of its column would add one. */
static size_t count_of(const char *page, const char *what)
{
	size_t n = 0;

	for (const char *p = page; (p = strstr(p, what)); p++)
		n++;
	return n;
}

/* rows:V1: waits whose intervals say all, waits within waits, cut ones, woken ones, and ones that end when they begin. */
START_TEST(waits_are_told_as_they_are_whatever_their_intervals_say)
{
	static const struct trc_park parks[] = {
		{.start_ns = 900, .end_ns = 1100, .wake_ns = 1050, .reason = TRC_REASON_READ},
		{.start_ns = 1200, .end_ns = 1900, .wake_ns = 1850, .reason = TRC_REASON_MUTEX},
		{.start_ns = 1200, .end_ns = 1300, .wake_ns = TRC_NEVER, .reason = TRC_REASON_COND},
		{.start_ns = 1400, .end_ns = 1500, .wake_ns = 1500, .reason = TRC_REASON_SLEEP},
		{.start_ns = 1600, .end_ns = 1900, .wake_ns = 1600, .reason = TRC_REASON_COND},
		{.start_ns = 1910, .end_ns = 1920, .wake_ns = 1905, .reason = TRC_REASON_EPOLL},
		{.start_ns = 1930, .end_ns = TRC_NEVER, .wake_ns = TRC_NEVER, .reason = TRC_REASON_MUTEX},
	};
	enum { N = sizeof(parks) / sizeof(parks[0]), START = 1000, END = 2000 };
	struct trc_park own[N];
	struct trc_model m = {.start_ns = START,
			      .end_ns = END,
			      .threads = threads,
			      .n_threads = 1,
			      .parks = own,
			      .n_parks = N};
	char *page;

	memcpy(own, parks, sizeof(own));
	for (size_t i = 0; i < N; i++)
		own[i].thread = threads[0].serial;
	page = write_page(&m, NULL);
	ck_assert_uint_eq(size_of(page, "park.start"), N);
	ck_assert_uint_lt(size_of(page, "other.park"), N); /* or nothing followed */
	for (size_t i = 0; i < N; i++) {
		const struct trc_park *p = &parks[at(page, "park.id_by_start", i) - 1];
		int64_t start = p->start_ns < START ? START : p->start_ns;
		int64_t end = p->end_ns == TRC_NEVER ? END : p->end_ns;
		uint64_t after = (uint64_t)(p->wake_ns - p->start_ns);
		uint64_t wake = p->wake_ns == TRC_NEVER ? 0 : (after << 1 ^ (0 - (after >> 63))) + 1;
		size_t shown = 0;

		/* The page's order is that of first intervals: here a wait is known by what only it has. */
		while (shown < N && (at(page, "park.start", shown) != (uint64_t)(start - START) ||
				     at(page, "park.length", shown) != (uint64_t)(end - start)))
			shown++;
		ck_assert_uint_lt(shown, N);
		ck_assert_uint_eq(at(page, "park.reason", shown), p->reason);
		ck_assert_uint_eq(at(page, "park.wake", shown), wake);
	}
	free(page);
}
END_TEST

START_TEST(hostile_text_stays_data)
{
	static const char *const info[][2] = {{"command", HOSTILE}};
	static const struct trc_log logs[] = {
		{.ts_ns = 1500, .thread = 9, .category = HOSTILE, .message = NULL}};
	static const struct trc_region regions[] = {
		{.thread = 9, .type = HOSTILE, .start_ns = 1200, .end_ns = TRC_NEVER}};
	static const struct trc_frame frame[] = {{.function = HOSTILE, .file = NULL, .address = 1}};
	static const uint32_t first[] = {0, 0, 1}, frames[] = {1};
	struct trc_model m = {.start_ns = 1000,
			      .end_ns = 2000,
			      .threads = threads,
			      .n_threads = 2,
			      .logs = logs,
			      .n_logs = 1,
			      .regions = regions,
			      .n_regions = 1,
			      .info = info,
			      .n_info = 1,
			      .warning = HOSTILE,
			      .stacks = {2, first, frames, 1, frame, NULL}};
	struct trc_model plain = {.threads = threads, .n_threads = 1, .stacks = NO_STACKS};
	char *page = write_page(&m, NULL), *text;

	ck_assert_ptr_null(strstr(page, "<img"));
	ck_assert_ptr_null(strstr(page, "\xe2\x80\xa8"));
	ck_assert_ptr_null(strstr(page, "\xff"));
	ck_assert_uint_eq(count_of(page, "</script"), count_of(page, "<script"));
	text = page_read_text(page, at(page, "thread.name", 1));
	ck_assert_str_eq(text, HOSTILE); /* as it was, to the byte */
	free(text);
	text = page_read_text(page, at(page, "frame.function", 0));
	ck_assert_str_eq(text, HOSTILE);
	free(text);
	ck_assert_uint_eq(at(page, "log.message", 0), 0);
	ck_assert_uint_eq(at(page, "region.open", 0), 1);
	ck_assert_uint_eq(at(page, "region.length", 0), 800);
	free(page);

	/* Nothing runs but what the policy names by its hash. */
	page = write_page(&plain, NULL);
	ck_assert_ptr_nonnull(strstr(page, "default-src 'none'; script-src 'sha256-"));
	ck_assert_uint_eq(count_of(page, "<script>"), 1);
	free(page);
}
END_TEST

/* Rows without a beginning come first in the model, and in time. */
START_TEST(what_began_unseen_begins_with_the_window)
{
	static const struct trc_region regions[] = {
		{.thread = 3, .type = "", .start_ns = TRC_NEVER, .end_ns = 1150},
		{.thread = 3, .type = "", .start_ns = TRC_NEVER, .end_ns = 1500},
		{.thread = 3, .type = "whole", .start_ns = 1600, .end_ns = 1700},
	};
	static const struct trc_task tasks[] = {
		{.task = 1, .type = "", .start_ns = TRC_NEVER, .end_ns = 1400}};
	struct trc_model m = {.start_ns = 1000,
			      .window_ns = 1200,
			      .end_ns = 2000,
			      .threads = threads,
			      .n_threads = 2,
			      .tasks = tasks,
			      .n_tasks = 1,
			      .regions = regions,
			      .n_regions = 3,
			      .stacks = NO_STACKS};
	static const uint64_t starts[] = {0, 200, 600}, lengths[] = {150, 300, 100};
	char *page = write_page(&m, NULL);

	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(at(page, "region.start", i), starts[i]);
		ck_assert_uint_eq(at(page, "region.length", i), lengths[i]);
	}
	ck_assert_uint_eq(at(page, "task.start", 0), 200);
	ck_assert_uint_eq(at(page, "task.length", 0), 200);
	free(page);
}
END_TEST

START_TEST(what_is_left_out_is_counted)
{
	enum { N = 100 };
	static struct trc_region regions[N];
	static struct trc_task tasks[N];
	static struct trc_log logs[N];
	static struct trc_unlock unlocks[N];
	struct trc_html_limits limits = {.regions = 10, .tasks = 20, .unlocks = 30, .logs = 40};
	struct trc_model m = {.start_ns = 0,
			      .end_ns = 1 << 20,
			      .threads = threads,
			      .n_threads = 2,
			      .regions = regions,
			      .n_regions = N,
			      .tasks = tasks,
			      .n_tasks = N,
			      .logs = logs,
			      .n_logs = N,
			      .unlocks = unlocks,
			      .n_unlocks = N,
			      .stacks = NO_STACKS};

	for (int64_t i = 0; i < N; i++) {
		regions[i] = (struct trc_region){
			.start_ns = i, .end_ns = i + i * i, .thread = 3, .task = (uint64_t)i};
		tasks[i] =
			(struct trc_task){.task = (uint64_t)i, .start_ns = i, .end_ns = i + i * i};
		unlocks[i] = (struct trc_unlock){.ts_ns = i, .caused_waits = 2, .caused_ns = i * i};
		logs[i] = (struct trc_log){.ts_ns = i};
	}

	char *page = write_page(&m, &limits);

	/* Powers of two bound what is kept: never more than asked for, and the longest. */
	ck_assert_uint_le(size_of(page, "region.row"), 10);
	ck_assert_uint_le(size_of(page, "task.row"), 20);
	ck_assert_uint_le(size_of(page, "unlock.id"), 30);
	ck_assert_uint_gt(size_of(page, "unlock.id"), 5);
	ck_assert_uint_eq(size_of(page, "log.time"), 40);
	ck_assert_int_eq((int)page_read_head(page, "without_regions"),
			 N - (int)size_of(page, "region.row"));
	ck_assert_int_eq((int)page_read_head(page, "without_tasks"),
			 N - (int)size_of(page, "task.row"));
	ck_assert_int_eq((int)page_read_head(page, "without_unlocks"),
			 N - (int)size_of(page, "unlock.id"));
	ck_assert_int_eq((int)page_read_head(page, "without_logs"), 60);
	ck_assert_uint_eq(at(page, "task.row", size_of(page, "task.row") - 1), N);
	/* A region's task is the row of the page; one that was left out is none. */
	ck_assert_uint_eq(at(page, "hold.total", 0), 328350); /* all of them: 0 + 1 + 4 + ... */
	ck_assert_uint_eq(at(page, "hold.count", 0), N); /* sections, not who waited for them */
	free(page);
}
END_TEST

START_TEST(times_under_labels_lie_in_their_threads_lives)
{
	static const struct trc_set_label labels[] = {
		{.labels = 2, .key = "tenant", .value = "acme", .unit = ""},
		{.labels = 5,
		 .key = HOSTILE,
		 .value = "7ms",
		 .unit = "ms",
		 .is_number = true,
		 .number = 7},
	};
	static const struct trc_thread_span spans[] = {
		{TRC_NEVER, 1200, 3, 0, 0},
		{1200, TRC_NEVER, 3, 5, 0},
		{TRC_NEVER, 1500, 9, 2, 0},
		{1500, TRC_NEVER, 9, 5, 0},
	};
	struct trc_model m = {.start_ns = 1000,
			      .end_ns = 2000,
			      .threads = threads,
			      .n_threads = 2,
			      .labels = labels,
			      .n_labels = 2,
			      .label_spans = spans,
			      .n_label_spans = 4,
			      .stacks = NO_STACKS};
	static const struct {
		uint64_t thread, start, length, set;
	} wanted[] = {{1, 200, 800, 5}, {2, 100, 400, 2}, {2, 500, 400, 5}};
	struct trc_html_limits limits = {.label_spans = 1};
	char *page = write_page(&m, NULL), *text;

	ck_assert_uint_eq(size_of(page, "under.set"), 3); /* without those that are none */
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(at(page, "under.thread", i), wanted[i].thread);
		ck_assert_uint_eq(at(page, "under.start", i), wanted[i].start);
		ck_assert_uint_eq(at(page, "under.length", i), wanted[i].length);
		ck_assert_uint_eq(at(page, "under.set", i), wanted[i].set);
	}
	ck_assert_uint_eq(at(page, "label.set", 1), 5);
	text = page_read_text(page, at(page, "label.key", 1));
	ck_assert_str_eq(text, HOSTILE);
	free(text);
	free(page);
	page = write_page(&m, &limits);
	ck_assert_uint_eq(size_of(page, "under.set"), 1);
	ck_assert_uint_eq(at(page, "under.length", 0), 800);
	ck_assert_int_eq((int)page_read_head(page, "without_label_spans"), 2);
	free(page);
}
END_TEST

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
	ck_assert_str_eq(text, "memory in use, estimated (bytes)");
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

START_TEST(a_failure_leaves_the_old_page)
{
	struct trc_model bad = {.need_result = -74}, good = {.stacks = NO_STACKS};
	struct trc_error error = {""};
	FILE *f = fopen(path, "w");
	size_t n;
	char *page;

	fputs("old", f);
	fclose(f);
	ck_assert_int_eq(trc_html_write(&bad, path, &error), -74);
	ck_assert_str_eq(error.text, "block 3: checksum mismatch");
	page = page_read_file(path, &n);
	ck_assert_str_eq(page, "old");
	free(page);
	ck_assert_int_eq(trc_html_write(&good, path, &error), 0);
	page = page_read_file(path, &n);
	ck_assert_ptr_nonnull(strstr(page, "</html>"));
	free(page);
}
END_TEST

START_TEST(trouble_is_named)
{
	struct trc_model m = {.stacks = NO_STACKS};
	struct trc_error error = {""};

	ck_assert_int_eq(trc_html_write(&m, "no/such/directory/x.html", &error), -2);
	ck_assert_str_eq(error.text, "no/such/directory/x.html: No such file or directory");
	ck_assert_int_eq(trc_html_write(&m, "/dev/full", &error), -28);
	ck_assert_str_eq(error.text, "/dev/full: No space left on device");
}
END_TEST

TCase *unit_html(void)
{
	TCase *t = tcase_create("html");

	path_make();
	tcase_add_unchecked_fixture(t, NULL, path_remove);
	tcase_add_test(t, an_empty_trace_makes_a_page);
	tcase_add_test(t, references_are_rows_and_unknown_is_nothing);
	tcase_add_test(t, waits_are_told_as_they_are_whatever_their_intervals_say);
	tcase_add_test(t, hostile_text_stays_data);
	tcase_add_test(t, what_began_unseen_begins_with_the_window);
	tcase_add_test(t, what_is_left_out_is_counted);
	tcase_add_test(t, times_under_labels_lie_in_their_threads_lives);
	tcase_add_test(t, fibers_are_as_in_the_model);
	tcase_add_test(t, of_too_many_fibers_those_with_most_time_are_kept);
	tcase_add_test(t, a_trace_without_fibers_has_no_columns_for_them);
	tcase_add_test(t, of_too_many_samples_one_of_so_many_is_kept);
	tcase_add_test(t, what_is_to_blame_lies_in_its_wait);
	tcase_add_test(t, allocations_are_as_in_the_model);
	tcase_add_test(t, memory_in_use_is_a_counter_of_its_own);
	tcase_add_test(t, a_failure_leaves_the_old_page);
	tcase_add_test(t, trouble_is_named);
	return t;
}
