/*
 * unit_rows.c - rows of a page that its tabs and tracks of procs are made from: who was on which proc, and what
 * threads do at the trace's end.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_model.h"
#include "page_read.h"
#include "unit.h"
#include "viewer/html.h"

static const uint32_t no_stack[2];
static const struct trc_thread threads[] = {
	{.serial = 3, .name = "first", .start_ns = TRC_NEVER, .end_ns = TRC_NEVER},
	{.serial = 9, .name = "second", .start_ns = TRC_NEVER, .end_ns = TRC_NEVER},
};

/* A model of two threads that ends at 1000 ns. */
static struct trc_model two_threads(void)
{
	return (struct trc_model){.end_ns = 1000,
				  .threads = threads,
				  .n_threads = 2,
				  .stacks = {.stack_first = (uint32_t *)no_stack}};
}

/* The page as text; the caller's. */
static char *page_of(struct trc_model *m)
{
	struct trc_error error = {""};
	char path[64], *page;
	size_t n;

	snprintf(path, sizeof(path), "viewer-unit-rows-%d.html", (int)getpid());
	ck_assert_msg(!trc_html_write(m, path, &error), "%s", error.text);
	page = page_read_file(path, &n);
	unlink(path);
	return page;
}

static void column_is(const char *page, const char *name, const uint64_t *wanted, size_t n_wanted)
{
	size_t n;
	uint64_t *values = page_read_column(page, name, &n);

	ck_assert_msg(n == n_wanted, "%s has %zu values", name, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(values[i] == wanted[i], "%s[%zu] is %lu", name, i,
			      (unsigned long)values[i]);
	free(values);
}

#define COLUMN_IS(page, name, ...)                                                                 \
	column_is(page, name, (const uint64_t[]){__VA_ARGS__},                                     \
		  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

START_TEST(stretches_on_procs_are_as_in_the_model)
{
	static const struct trc_on_cpu on_cpu[] = {
		{.start_ns = TRC_NEVER, .end_ns = 100, .thread = 9, .proc = 5},
		{.start_ns = 200, .end_ns = 450, .thread = 3, .proc = 0, .preempted = true},
		{.start_ns = 600, .end_ns = TRC_NEVER, .thread = 77, .proc = 5},
	};
	struct trc_model m = two_threads();
	char *page;

	m.on_cpu = on_cpu;
	m.n_on_cpu = 3;
	page = page_of(&m);
	COLUMN_IS(page, "cpu.thread", 2, 1, 0);
	COLUMN_IS(page, "cpu.proc", 5, 0, 5);
	COLUMN_IS(page, "cpu.start", 0, 200, 600);
	COLUMN_IS(page, "cpu.length", 100, 250, 400);
	COLUMN_IS(page, "cpu.preempted", 0, 1, 0);
	COLUMN_IS(page, "cpu.open", 0, 0, 1);
	free(page);
}
END_TEST

/* Thread 3 is number 1, thread 9 is number 2; thread 77 is none. */
START_TEST(threads_stand_beside_those_that_began_the_tasks)
{
	static const struct trc_task tasks[] = {
		{.task = 50, .start_ns = 10, .end_ns = 900, .start_thread = 9, .end_thread = 9},
		{.task = 60, .start_ns = 20, .end_ns = 900, .start_thread = 9, .end_thread = 3},
		{.task = 70, .start_ns = 30, .end_ns = TRC_NEVER, .start_thread = 77},
		{.task = 80, .start_ns = 40, .end_ns = 900, .start_thread = 3},
	};
	static const struct trc_region regions[] = {
		{.task = 50, .type = "", .thread = 9, .start_ns = 10, .end_ns = 20},
		{.task = 60, .type = "", .thread = 3, .start_ns = 30, .end_ns = 40},
		{.task = 70, .type = "", .thread = 3, .start_ns = 40, .end_ns = 50},
		{.task = 80, .type = "", .thread = 77, .start_ns = 50, .end_ns = 60},
		{.type = "", .thread = 9, .start_ns = 60, .end_ns = 70},
		{.type = "", .thread = 77, .start_ns = 70, .end_ns = 80},
		{.task = 12345, .type = "", .thread = 3, .start_ns = 80, .end_ns = 90},
	};
	static const struct trc_log logs[] = {
		{.task = 80, .ts_ns = 50, .thread = 3, .category = "", .message = ""},
		{.task = 80, .ts_ns = 51, .thread = 9, .category = "", .message = ""},
		{.ts_ns = 52, .thread = 9, .category = "", .message = ""},
	};
	struct trc_model m = two_threads();
	char *page;

	m.tasks = tasks;
	m.n_tasks = 4;
	m.regions = regions;
	m.n_regions = 7;
	m.logs = logs;
	m.n_logs = 3;
	page = page_of(&m);
	COLUMN_IS(page, "task.thread", 2, 2, 0, 1);
	COLUMN_IS(page, "task.end_beside", 0, 2, 0, 1);
	COLUMN_IS(page, "region.task", 1, 2, 3, 4, 0, 0, 0);
	COLUMN_IS(page, "region.thread_beside", 0, 2, 2, 1, 3, 0, 2);
	COLUMN_IS(page, "log.thread_beside", 0, 3, 3);
	free(page);
}
END_TEST

START_TEST(of_too_many_stretches_there_are_none)
{
	enum { MANY = 200001 };
	struct trc_on_cpu *on_cpu = calloc(MANY, sizeof(*on_cpu));
	struct trc_model m = two_threads();
	char *page;

	ck_assert_ptr_nonnull(on_cpu);
	for (int i = 0; i < MANY; i++)
		on_cpu[i] = (struct trc_on_cpu){10 * i, 10 * i + 5, 3, 0, false};
	m.end_ns = 10 * MANY;
	m.on_cpu = on_cpu;
	m.n_on_cpu = MANY;
	page = page_of(&m);
	column_is(page, "cpu.start", NULL, 0);
	ck_assert_int_eq((int)page_read_head(page, "has_sched"), 1);
	free(page);
	free(on_cpu);
}
END_TEST

START_TEST(threads_at_the_end_are_as_in_the_model)
{
	static const struct trc_thread_now now[] = {
		{.thread = 3,
		 .state = TRC_THREAD_NOT_WAITING,
		 .since_ns = TRC_NEVER,
		 .region = "r"},
		{.thread = 9,
		 .state = TRC_THREAD_WAITING,
		 .reason = TRC_REASON_MUTEX,
		 .object = 0x7f0000001000,
		 .since_ns = 40,
		 .holder = 3,
		 .region = "",
		 .deadlock = 2},
	};
	struct trc_model m = two_threads();
	char *page, *region;
	size_t n;
	uint64_t *regions;

	m.threads_now = now;
	m.n_threads_now = 2;
	page = page_of(&m);
	COLUMN_IS(page, "now.all", 2);
	COLUMN_IS(page, "now.thread", 1, 2);
	COLUMN_IS(page, "now.state", TRC_THREAD_NOT_WAITING, TRC_THREAD_WAITING);
	COLUMN_IS(page, "now.reason", 0, TRC_REASON_MUTEX);
	COLUMN_IS(page, "now.object", 0, 1);
	COLUMN_IS(page, "now.since", 0, 41);
	COLUMN_IS(page, "now.holder", 0, 1);
	COLUMN_IS(page, "now.park", 0, 0);
	COLUMN_IS(page, "now.deadlock", 0, 2);
	regions = page_read_column(page, "now.region", &n);
	region = page_read_text(page, regions[0]);
	ck_assert_str_eq(region, "r");
	free(region);
	free(regions);
	free(page);
}
END_TEST

/* A page has so many locks that are held, and says how many there are. */
START_TEST(of_too_many_held_locks_the_first_are_there)
{
	enum { SHOWN = 20000, MORE = 7 };
	struct trc_lock_held *held = calloc(SHOWN + MORE, sizeof(*held));
	struct trc_model m = two_threads();
	char *page;
	size_t n;

	ck_assert_ptr_nonnull(held);
	for (size_t i = 0; i < SHOWN + MORE; i++)
		held[i] = (struct trc_lock_held){.thread = 3,
						 .reason = TRC_REASON_MUTEX,
						 .object = 0x7f0000001000 + 64 * i,
						 .since_ns = TRC_NEVER};
	m.locks_held = held;
	m.n_locks_held = SHOWN + MORE;
	page = page_of(&m);
	COLUMN_IS(page, "held.all", SHOWN + MORE);
	free(page_read_column(page, "held.thread", &n));
	ck_assert_uint_eq(n, SHOWN);
	free(page);
	free(held);
}
END_TEST

/* Of a snapshot of the last seconds. */
START_TEST(a_wait_from_before_the_trace_tells_how_long_before)
{
	static const struct trc_thread_now now[] = {
		{.thread = 3,
		 .state = TRC_THREAD_WAITING,
		 .reason = TRC_REASON_COND,
		 .since_ns = -70,
		 .region = ""},
		{.thread = 9, .state = TRC_THREAD_NOT_WAITING, .since_ns = TRC_NEVER, .region = ""},
	};
	struct trc_model m = two_threads();
	char *page;

	m.threads_now = now;
	m.n_threads_now = 2;
	page = page_of(&m);
	COLUMN_IS(page, "now.since", 1, 0);
	COLUMN_IS(page, "now.earlier", 70, 0);
	free(page);
}
END_TEST

/* Those of one reason and stack stand together in the page (rows:V3). */
START_TEST(waits_of_several_kinds_keep_their_order)
{
#define WAIT(start, why, at, what, by)                                                             \
	{                                                                                          \
		.start_ns = start, .end_ns = start + 50, .thread = 3, .reason = TRC_REASON_##why,  \
		.stack = at, .object = what, .waker = by, .waker_stack = at + 1,                   \
		.wake_ns = TRC_NEVER, .result = at - 1                                             \
	}
	static const struct trc_park parks[] = {
		WAIT(0, COND, 2, 0x70000000, 9),    WAIT(100, MUTEX, 1, 0x71000000, 0),
		WAIT(200, COND, 1, 0x72000000, 3),  WAIT(300, COND, 2, 0x70000000, 0),
		WAIT(400, MUTEX, 2, 0x71000000, 9),
	};
	struct trc_model m = two_threads();
	char *page;

	m.parks = parks;
	m.n_parks = 5;
	page = page_of(&m);
	COLUMN_IS(page, "park.reason", TRC_REASON_COND, TRC_REASON_MUTEX, TRC_REASON_COND,
		  TRC_REASON_COND, TRC_REASON_MUTEX);
	COLUMN_IS(page, "park.stack", 2, 1, 1, 2, 2);
	COLUMN_IS(page, "park.object", 1, 2, 3, 1, 2);
	COLUMN_IS(page, "park.waker", 2, 0, 1, 0, 2);
	COLUMN_IS(page, "park.waker_stack", 3, 2, 2, 3, 3);
	COLUMN_IS(page, "park.result", 2, 1, 1, 2, 2);
	COLUMN_IS(page, "park.start", 0, 100, 200, 300, 400);
	free(page);
}
END_TEST

/* Waits, and the times between them, of lengths around each power of two: intervals:I2 and I3. */
START_TEST(lengths_of_any_magnitude_come_back)
{
	enum { MAGNITUDES = 50, EACH = 4, N = MAGNITUDES * EACH };
	static struct trc_park parks[N];
	static uint64_t starts[N], lengths[N];
	struct trc_model m = two_threads();
	int64_t at = 0;
	char *page;

	for (int i = 0; i < N; i++) {
		int64_t power = (int64_t)1 << i / EACH;
		int64_t own =
			power + (const int64_t[EACH]){-(power > 1), 0, 1, power / 3}[i % EACH];
		int64_t other = 1 + (own * 7919 ^ i * 104729) % ((int64_t)1 << (i * 13) % 31);

		at += i % 3 ? other : own;
		parks[i] = (struct trc_park){.start_ns = at,
					     .end_ns = at + (i % 3 ? own : other),
					     .thread = 3,
					     .reason = (uint8_t)(TRC_REASON_MUTEX + i % 2),
					     .wake_ns = TRC_NEVER};
		at = parks[i].end_ns;
		starts[i] = (uint64_t)parks[i].start_ns;
		lengths[i] = (uint64_t)(at - parks[i].start_ns);
	}
	m.parks = parks;
	m.n_parks = N;
	m.end_ns = at + 1;
	page = page_of(&m);
	column_is(page, "park.start", starts, N);
	column_is(page, "park.length", lengths, N);
	free(page);
}
END_TEST

TCase *unit_rows(void)
{
	TCase *t = tcase_create("rows");

	tcase_add_test(t, stretches_on_procs_are_as_in_the_model);
	tcase_add_test(t, threads_stand_beside_those_that_began_the_tasks);
	tcase_add_test(t, of_too_many_stretches_there_are_none);
	tcase_add_test(t, lengths_of_any_magnitude_come_back);
	tcase_add_test(t, threads_at_the_end_are_as_in_the_model);
	tcase_add_test(t, of_too_many_held_locks_the_first_are_there);
	tcase_add_test(t, a_wait_from_before_the_trace_tells_how_long_before);
	tcase_add_test(t, waits_of_several_kinds_keep_their_order);
	return t;
}
