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
#include "unit_html.h"
#include "viewer/html.h"

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
char *write_page(struct trc_model *m, const struct trc_html_limits *limits)
{
	struct trc_error error = {""};
	size_t n;

	ck_assert_msg(!trc_html_write_limited(m, path, limits, &error), "%s", error.text);
	return page_read_file(path, &n);
}

uint64_t at(const char *page, const char *name, size_t i)
{
	size_t n;
	uint64_t *values = page_read_column(page, name, &n), value;

	ck_assert_msg(i < n, "%s has %zu values", name, n);
	value = values[i];
	free(values);
	return value;
}

size_t size_of(const char *page, const char *name)
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

const struct trc_thread threads[] = {
	{.serial = 3, .tid = 103, .name = "main", .start_ns = TRC_NEVER, .end_ns = TRC_NEVER},
	{.serial = 9, .tid = 109, .creator = 3, .name = HOSTILE, .start_ns = 1100, .end_ns = 1900},
};
const uint32_t no_stacks[] = {0, 0};

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
	/* All of that reason. */
	ck_assert_uint_eq(at(page, "waits.reason", 0), at(page, "wait.reason", 0));
	ck_assert_uint_eq(at(page, "waits.total", 0), 1000);
	ck_assert_uint_eq(at(page, "waits.count", 0), 2);
	ck_assert_uint_eq(at(page, "waits.max", 0), at(page, "wait.max", 0));
	ck_assert_uint_eq(at(page, "holds.total", 0), 100);
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
		{.start_ns = 1930,
		 .end_ns = TRC_NEVER,
		 .wake_ns = TRC_NEVER,
		 .reason = TRC_REASON_MUTEX},
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
		uint64_t wake =
			p->wake_ns == TRC_NEVER ? 0 : (after << 1 ^ (0 - (after >> 63))) + 1;
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

/* rows:V5: whether regions and logs lie at the ends of their tasks or anywhere, with and without a task, they come back. */
START_TEST(regions_and_logs_are_where_they_were)
{
	enum { N = 300 };
	static struct trc_region regions[2 * N];
	static struct trc_log logs[N];
	static struct trc_task tasks[N];
	struct trc_model m = {.start_ns = 1000,
			      .end_ns = 1 << 30,
			      .threads = threads,
			      .n_threads = 2,
			      .regions = regions,
			      .n_regions = 2 * N,
			      .tasks = tasks,
			      .n_tasks = N,
			      .logs = logs,
			      .n_logs = N,
			      .stacks = NO_STACKS};

	for (int is_near = 0; is_near < 2; is_near++) {
		for (int64_t i = 0; i < N; i++) {
			int64_t at = 1000 + 100000 * i + i * 7919 % 90000,
				ns = 5 + i * 7121 % 80000;
			int64_t off = is_near ? 0 : i * 6007 % 99991;

			tasks[i] = (struct trc_task){.task = (uint64_t)i + 1,
						     .type = "",
						     .start_ns = at,
						     .end_ns = at + ns};
			regions[2 * i] = (struct trc_region){.task = (uint64_t)i + 1,
							     .type = "",
							     .thread = 3,
							     .start_ns = at + off,
							     .end_ns = at + ns + 3 * off};
			regions[2 * i + 1] = regions[2 * i];
			regions[2 * i + 1].task = is_near && i % 5 ? (uint64_t)i + 1 : 0;
			logs[i] = (struct trc_log){.task = i % 9 ? (uint64_t)i + 1 : 0,
						   .ts_ns = at + off};
		}

		char *page = write_page(&m, NULL);
		size_t n_starts, n_lengths, n_times;
		uint64_t *starts = page_read_column(page, "region.start", &n_starts);
		uint64_t *lengths = page_read_column(page, "region.length", &n_lengths);
		uint64_t *times = page_read_column(page, "log.time", &n_times);

		/* By differences only where they are shorter. */
		ck_assert_int_eq(strstr(page, "[\"region.start\",\"derived\"") != NULL, is_near);
		ck_assert_int_eq(strstr(page, "[\"region.length\",\"derived\"") != NULL, is_near);
		ck_assert_int_eq(strstr(page, "[\"log.time\",\"derived\"") != NULL, is_near);
		ck_assert_uint_eq(n_starts, 2 * N);
		ck_assert_uint_eq(n_lengths, 2 * N);
		ck_assert_uint_eq(n_times, N);
		for (size_t i = 0; i < 2 * N; i++) {
			ck_assert_int_eq((int64_t)starts[i], regions[i].start_ns - 1000);
			ck_assert_int_eq((int64_t)lengths[i],
					 regions[i].end_ns - regions[i].start_ns);
		}
		for (size_t i = 0; i < N; i++)
			ck_assert_int_eq((int64_t)times[i], logs[i].ts_ns - 1000);
		free(starts);
		free(lengths);
		free(times);
		free(page);
	}
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
	for (uint32_t i = 0; i < 40; i++) { /* all over the time: one of each two or three */
		ck_assert_uint_ge(at(page, "log.time", i), (5 * i + 1) / 2);
		ck_assert_uint_lt(at(page, "log.time", i), (5 * i + 6) / 2);
	}
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
	tcase_add_test(t, regions_and_logs_are_where_they_were);
	tcase_add_test(t, what_is_left_out_is_counted);
	tcase_add_test(t, times_under_labels_lie_in_their_threads_lives);
	tcase_add_test(t, a_failure_leaves_the_old_page);
	tcase_add_test(t, trouble_is_named);
	unit_html_derived(t);
	return t;
}
