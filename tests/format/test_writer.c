/* test_writer.c - the writer's promises (writer:W1..W3). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "written.h"

static int fill_and_finish(struct trc_writer *w, uint32_t n_events)
{
	struct trc_sync_point zero = {0};

	trc_writer_info(w, "key", "value");
	trc_writer_sync(w, &zero);
	for (uint32_t i = 0; i < n_events; i++) {
		struct trc_event e = an_event(i);

		e.proc = i % 2;
		trc_writer_event(w, &e);
		if (i == n_events / 2)
			trc_writer_generation(w);
	}
	return trc_writer_finish(w);
}

/* writer:W3: n = 1, 2, 3 ... until a run completes. */
START_TEST(a_failing_sink_is_left_alone_and_events_are_counted)
{
	int err = -1;

	for (size_t n = 1; err; n++) {
		struct bytes b = {.fail_from = n};
		struct trc_writer_totals totals;
		struct trc_reader *r;
		struct trc_error error;
		struct trc_writer *w;
		uint64_t n_read = 0;

		err = trc_writer_open(&w, &written_options, bytes_sink, &b);
		if (err) {
			ck_assert_int_eq(err, -ENOSPC);
			ck_assert_uint_eq(b.calls, n);
			bytes_free(&b);
			continue;
		}
		err = fill_and_finish(w, 1000);
		trc_writer_totals(w, &totals);
		ck_assert_int_eq(totals.error, err);
		ck_assert_uint_eq(totals.events + totals.lost_events, 1000);
		if (err) {
			ck_assert_int_eq(err, -ENOSPC);
			ck_assert_msg(b.calls == n, "the sink was called again");
			ck_assert_int_eq(trc_writer_info(w, "a", "b"), -ENOSPC);
		} else {
			ck_assert_uint_eq(totals.lost_events, 0);
		}
		/* What went through before is readable. */
		if (trc_reader_open_memory(&r, b.at, b.n, &error) == 0) {
			n_read = trc_reader_info(r)->n_events;
			/* Only the index, the last section, is not missed. */
			if (!err)
				ck_assert_ptr_null(trc_reader_warning(r));
			else
				ck_assert(trc_reader_warning(r) || trc_reader_info(r)->complete);
			trc_reader_close(r);
		}
		ck_assert_uint_eq(n_read, totals.events);
		trc_writer_close(w);
		bytes_free(&b);
	}
}
END_TEST

static const struct {
	const char *what;
	struct trc_event event;
} refused[] = {
	{"no kind", {.kind = 0}},
	{"a kind that does not exist", {.kind = 200}},
	{"a proc that does not exist", {.kind = TRC_KIND_PARK, .proc = 2}},
	{"a source that does not exist", {.kind = TRC_KIND_PARK, .source = 3}},
	{"text where none belongs", {.kind = TRC_KIND_PARK, .text = "x", .text_bytes = 1}},
	{"too much text",
	 {.kind = TRC_KIND_LOG, .text = "x", .text_bytes = TRC_TEXT_BYTES_MAX + 1}},
};

START_TEST(impossible_events_are_refused_and_counted)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_writer_totals totals;

	ck_assert_msg(trc_writer_event(w, &refused[_i].event) == -EINVAL, "%s", refused[_i].what);
	trc_writer_totals(w, &totals);
	ck_assert_uint_eq(totals.lost_events, 1);
	ck_assert_uint_eq(totals.events, 0);
	trc_writer_close(w);
	bytes_free(&b);
}
END_TEST

static const struct {
	uint32_t n_procs;
	int err;
} proc_numbers[] = {{0, -EINVAL}, {1, 0}, {1024, 0}, {16384, 0}, {16385, -EINVAL}};

START_TEST(the_number_of_procs_is_checked)
{
	struct trc_writer_options o = written_options;
	struct trc_writer *w = NULL;
	struct bytes b = {0};

	o.n_procs = proc_numbers[_i].n_procs;
	ck_assert_int_eq(trc_writer_open(&w, &o, bytes_sink, &b), proc_numbers[_i].err);
	if (proc_numbers[_i].err)
		ck_assert_ptr_null(w);
	trc_writer_close(w);
	bytes_free(&b);
}
END_TEST

START_TEST(an_earlier_time_becomes_the_last_one)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_sync_point zero = {0};
	struct trc_writer_totals totals;
	struct trc_error error;
	struct trc_columns *c;
	struct trc_reader *r;

	trc_writer_sync(w, &zero);
	for (uint64_t time = 100; time > 97; time--) {
		struct trc_event e = an_event(time);

		ck_assert_int_eq(trc_writer_event(w, &e), 0);
	}
	ck_assert_int_eq(trc_writer_finish(w), 0);
	trc_writer_totals(w, &totals);
	ck_assert_uint_eq(totals.clamped_times, 2);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_int_eq(trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), 0);
	ck_assert_int_eq(c->time_ns[2], 100);
	trc_columns_free(c);
	close_written(r, w, &b);
}
END_TEST

START_TEST(rows_and_events_come_to_the_same)
{
	struct bytes by_event = {0}, by_row = {0};

	for (int rows = 0; rows < 2; rows++) {
		struct trc_writer *w = open_writer(rows ? &by_row : &by_event);

		for (uint64_t i = 0; i < 20000; i++) {
			struct trc_event e = an_event(i * 7);
			uint64_t *arg;

			e.arg[1] = i % 5;
			if (!rows) {
				expect_same(trc_writer_event(w, &e), 0);
				continue;
			}
			arg = trc_writer_row(w, e.source, e.proc, e.kind, e.thread, e.time);
			expect(arg);
			arg[0] = e.arg[0];
			arg[1] = e.arg[1];
		}
		ck_assert_ptr_null(trc_writer_row(w, 0, 0, TRC_KIND_LOG, 1, 1));
		ck_assert_ptr_null(trc_writer_row(w, 0, 0, 0, 1, 1));
		ck_assert_int_eq(trc_writer_finish(w), 0);
		trc_writer_close(w);
	}
	ck_assert_uint_eq(by_event.n, by_row.n);
	ck_assert_mem_eq(by_event.at, by_row.at, by_row.n);
	bytes_free(&by_event);
	bytes_free(&by_row);
}
END_TEST

START_TEST(a_finished_writer_takes_nothing_more)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_event e = an_event(1);
	size_t n;

	ck_assert_int_eq(trc_writer_finish(w), 0);
	n = b.n;
	ck_assert_int_eq(trc_writer_event(w, &e), -EBADF);
	ck_assert_int_eq(trc_writer_flush(w), -EBADF);
	ck_assert_int_eq(trc_writer_finish(w), -EBADF);
	ck_assert_int_eq(trc_writer_status(w, NULL, 0), -EBADF);
	ck_assert_uint_eq(b.n, n);
	trc_writer_close(w);
	bytes_free(&b);
}
END_TEST

START_TEST(what_nobody_wants_is_counted_and_goes_nowhere)
{
	struct trc_writer_options o = written_options;
	struct bytes b = {.fail_from = 1};
	struct trc_writer_totals totals;
	struct trc_writer *w;

	o.discard = true;
	ck_assert_int_eq(trc_writer_open(&w, &o, bytes_sink, &b), 0);
	ck_assert_int_eq(fill_and_finish(w, 1000), 0);
	trc_writer_totals(w, &totals);
	ck_assert_uint_eq(totals.events, 1000);
	ck_assert_uint_eq(totals.lost_events, 0);
	ck_assert_uint_eq(totals.blocks, 0);
	ck_assert_uint_eq(totals.file_bytes, 0);
	ck_assert_uint_eq(b.calls, 0);
	trc_writer_close(w);
}
END_TEST

START_TEST(coverage_of_what_cannot_be_is_refused)
{
	struct trc_coverage_entry proc = {.proc = 99}, source = {.source = 3};
	struct trc_coverage_entry backwards = {.proc = 0, .from = 7, .to = 3};
	const struct trc_coverage_entry *read;
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_reader *r;

	ck_assert_int_eq(trc_writer_coverage(w, &proc, 1), -EINVAL);
	ck_assert_int_eq(trc_writer_coverage(w, &source, 1), -EINVAL);
	ck_assert_int_eq(trc_writer_coverage(w, &backwards, 1), 0);
	r = read_written(w, &b);
	ck_assert_uint_eq(trc_reader_coverage(r, &read), 1);
	ck_assert_uint_eq(read->from, 7);
	ck_assert_uint_eq(read->to, 7);
	close_written(r, w, &b);
}
END_TEST

/* Many procs on little memory: blocks become small, nothing is lost. */
START_TEST(streams_share_the_memory)
{
	struct trc_writer_options o = written_options;
	struct trc_writer_totals totals;
	struct trc_writer *w;
	struct bytes b = {0};

	o.n_procs = 200;
	ck_assert_int_eq(trc_writer_open(&w, &o, bytes_sink, &b), 0);
	for (uint64_t i = 0; i < 400000; i++) {
		struct trc_event e = an_event(i);

		e.proc = (uint32_t)(i * 2654435761 % 200);
		e.source = i % 3 ? TRC_SOURCE_RING : TRC_SOURCE_KERNEL;
		expect_same(trc_writer_event(w, &e), 0);
	}
	ck_assert_int_eq(trc_writer_finish(w), 0);
	trc_writer_totals(w, &totals);
	ck_assert_uint_eq(totals.events, 400000);
	trc_writer_close(w);
	bytes_free(&b);
}
END_TEST

START_TEST(a_later_value_of_a_key_counts)
{
	struct bytes b = assembled("info a \"1\"\ninfo b \"2\"\ninfo a \"3\"\n");
	struct trc_error error;
	struct trc_reader *r;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_uint_eq(trc_reader_info_count(r), 2);
	ck_assert_str_eq(trc_reader_info_get(r, "a"), "3");
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

Suite *suite_writer(void)
{
	Suite *s = suite_create("writer");
	TCase *t = tcase_create("writer");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_failing_sink_is_left_alone_and_events_are_counted);
	tcase_add_loop_test(t, impossible_events_are_refused_and_counted, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(t, the_number_of_procs_is_checked, 0,
			    sizeof(proc_numbers) / sizeof(proc_numbers[0]));
	tcase_add_test(t, an_earlier_time_becomes_the_last_one);
	tcase_add_test(t, rows_and_events_come_to_the_same);
	tcase_add_test(t, a_finished_writer_takes_nothing_more);
	tcase_add_test(t, what_nobody_wants_is_counted_and_goes_nowhere);
	tcase_add_test(t, coverage_of_what_cannot_be_is_refused);
	tcase_add_test(t, streams_share_the_memory);
	tcase_add_test(t, a_later_value_of_a_key_counts);
	suite_add_tcase(s, t);
	suite_add_tcase(s, writer_tables());
	return s;
}
