/* test_writer_tables.c - a writer whose tables are full, and long ones (tables:B1 to tables:B3). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/wire.h"
#include "written.h"

/* tables:B2: more strings, stacks, label sets, modules and threads than there is room for. */
START_TEST(full_tables_give_0_and_are_counted)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_writer_totals totals;
	struct trc_reader *r;
	uint64_t refusals = 0, frame[64];
	uint32_t id = 0, last = 0;

	ck_assert_uint_eq(trc_writer_string(w, "k", 1), 1);
	for (uint32_t i = 0; i < 100000; i++) {
		char text[32];
		int n = sprintf(text, "%u", i);

		id = trc_writer_string(w, text, (uint32_t)n);
		refusals += !id;
		if (id)
			last = id;
	}
	ck_assert_uint_eq(id, 0);
	ck_assert_uint_gt(last, 1000);
	for (uint32_t i = 0; i < 30000; i++) {
		for (int f = 0; f < 64; f++)
			frame[f] = i;
		refusals += !trc_writer_stack(w, 0, frame, 64);
	}
	for (uint32_t i = 0; i < 30000; i++) {
		struct trc_label label = {
			.key = "k", .key_bytes = 1, .number = i, .is_number = true, .value = ""};

		/* Its string was there first. */
		refusals += !trc_writer_label_set(w, &label, 1);
	}
	for (uint32_t i = 0; i < 3000; i++) {
		struct trc_module_entry m = {.start = i, .path = "/usr/lib/a-module.so"};

		refusals += !trc_writer_module(w, &m);
	}
	for (uint32_t i = 1; i < 10000; i++) {
		struct trc_thread_entry t = {.serial = i, .tid = i};

		refusals += trc_writer_thread(w, &t) == -ENOMEM;
	}
	trc_writer_totals(w, &totals);
	ck_assert_uint_gt(refusals, 100000);
	ck_assert_uint_eq(totals.table_full, refusals);
	r = read_written(w, &b);
	ck_assert_uint_eq(trc_reader_info(r)->table_full, refusals);
	close_written(r, w, &b);
}
END_TEST

/* tables:B3: as many different ones as there are, if room is asked for. */
START_TEST(strings_stacks_and_label_sets_make_room)
{
	enum { N = 40000 };
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_sync_point zero = {0};
	struct trc_writer_totals totals;
	static uint32_t string[N], stack[N], set[N];
	const struct trc_label *read;
	struct trc_stack_view view;
	struct trc_reader *r;
	unsigned int made = 0;
	uint32_t n;

	trc_writer_sync(w, &zero);
	for (uint32_t i = 0; i < N; i++) {
		struct trc_event e = {.time = i + 1, .thread = 1};
		uint64_t frame[16] = {i + 1};
		char text[32];
		struct trc_label label = {.key = "request", .key_bytes = 7, .value = text};

		label.value_bytes = (uint32_t)sprintf(text, "%u", i);
		made |= trc_writer_make_room(w);
		string[i] = trc_writer_string(w, text, label.value_bytes);
		stack[i] = trc_writer_stack(w, 0, frame, 16);
		set[i] = trc_writer_label_set(w, &label, 1);
		e.kind = TRC_KIND_COUNTER;
		e.arg[0] = string[i];
		/* Some are made, and no event has them. */
		expect_same(i % 3 ? trc_writer_event(w, &e) : 0, 0);
		e.kind = TRC_KIND_SAMPLE;
		e.arg[0] = 1;
		e.arg[3] = stack[i];
		e.arg[4] = set[i];
		expect_same(i % 3 ? trc_writer_event(w, &e) : 0, 0);
	}
	trc_writer_totals(w, &totals);
	ck_assert_uint_eq(totals.table_full, 0);
	ck_assert_uint_eq(made, TRC_WRITER_STRINGS | TRC_WRITER_STACKS | TRC_WRITER_LABEL_SETS);
	r = read_written(w, &b);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
	for (uint32_t i = 0; i < N; i++) {
		const char *text;

		if (i % 3 == 0)
			continue;
		text = trc_reader_string(r, string[i], &n);
		expect(text && strtoul(strndupa(text, n), NULL, 10) == i);
		expect_same(trc_reader_stack(r, stack[i], &view), 0);
		expect_same(view.frame[0], i + 1);
		expect_same(trc_reader_label_set(r, set[i], &read, &n), 0);
		expect(strtoul(strndupa(read->value, read->value_bytes), NULL, 10) == i);
	}
	close_written(r, w, &b);
}
END_TEST

static uint32_t check_labels_of(const struct trc_writer *w, uint32_t id, const char *text)
{
	struct trc_label label[TRC_LABELS_MAX];
	uint32_t n = trc_writer_label_set_of(w, id, label);

	if (!n)
		return 0;
	expect_same(n, 2);
	expect_same(label[0].key_bytes, 2);
	expect(!memcmp(label[0].key, "no", 2));
	expect(label[0].is_number);
	expect_same(label[0].number, -5);
	expect_same(label[0].value_bytes, 0);
	expect(!memcmp(label[1].key, "request", 7));
	expect(!label[1].is_number);
	expect_same(label[1].value_bytes, strlen(text));
	expect(!memcmp(label[1].value, text, strlen(text)));
	return n;
}

/* What ids stand for, with and without a file; until their table is emptied. */
START_TEST(ids_stand_for_what_they_were_made_of)
{
	enum { N = 20000 };
	struct trc_writer_options o = written_options;
	struct bytes b = {0};
	struct trc_writer *w;
	uint32_t first = 0, set = 0, stack = 0, epoch;
	unsigned int made;
	const uint64_t *frame;
	const char *bytes;

	o.discard = _i;
	ck_assert_int_eq(trc_writer_open(&w, &o, _i ? NULL : bytes_sink, &b), 0);
	for (uint32_t i = 0; i < N; i++) {
		char text[32];
		struct trc_label label[2] = {
			{.key = "no", .key_bytes = 2, .value = "", .number = -5, .is_number = true},
			{.key = "request", .key_bytes = 7, .value = text},
		};
		uint64_t frames[3] = {i + 1, 2, 3};

		label[1].value_bytes = (uint32_t)sprintf(text, "%u", i);
		made = trc_writer_make_room(w);
		if (made & TRC_WRITER_LABEL_SETS)
			ck_assert_uint_eq(check_labels_of(w, set, ""), 0);
		if (made & TRC_WRITER_STRINGS)
			ck_assert_uint_eq(trc_writer_string_of(w, first, &bytes), 0);
		set = trc_writer_label_set(w, label, 2);
		stack = trc_writer_stack(w, 7, frames, 3);
		first = first ? first : trc_writer_string(w, "0", 1);
		expect_same(check_labels_of(w, set, text), 2);
		expect_same(trc_writer_stack_of(w, stack, &epoch, &frame), 3);
		expect_same(epoch, 7);
		expect(!memcmp(frame, frames, sizeof(frames)));
	}
	ck_assert_uint_eq(trc_writer_string_of(w, 0, &bytes), 0);
	ck_assert_uint_eq(trc_writer_stack_of(w, 0, &epoch, &frame), 0);
	ck_assert_uint_eq(trc_writer_stack_of(w, stack + 1, &epoch, &frame), 0);
	ck_assert_uint_eq(trc_writer_stack_of(w, UINT64_MAX, &epoch, &frame), 0);
	ck_assert_uint_eq(trc_writer_label_set_of(w, set + 1, NULL), 0);
	trc_writer_close(w);
	bytes_free(&b);
}
END_TEST

START_TEST(threads_that_ended_make_room_for_others)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_reader *r;

	for (uint32_t i = 1; i <= 20000; i++) {
		struct trc_thread_entry t = {
			.serial = i, .tid = i + 1, .name = "x", .name_bytes = 1};

		expect_same(trc_writer_thread(w, &t), 0);
		t.end = i;
		expect_same(trc_writer_thread(w, &t), 0);
		if (i % 1000 == 0)
			ck_assert_int_eq(trc_writer_generation(w), 0);
	}
	r = read_written(w, &b);
	ck_assert_uint_eq(trc_reader_threads(r), 20000);
	for (uint32_t i = 0; i < 20000; i++) {
		expect_same(trc_reader_thread(r, i)->serial, i + 1);
		expect_same(trc_reader_thread(r, i)->tid, i + 2);
	}
	close_written(r, w, &b);
}
END_TEST

START_TEST(an_event_of_a_thread_that_made_room_keeps_its_entry)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_event e = an_event(1);
	struct trc_reader *r;

	for (uint32_t i = 1; i <= 10000; i++) {
		struct trc_thread_entry t = {.serial = i, .tid = i + 1, .end = 1};

		expect_same(trc_writer_thread(w, &t), 0);
		if (i % 1000 == 0)
			ck_assert_int_eq(trc_writer_generation(w), 0);
	}
	e.thread = 5;
	ck_assert_int_eq(trc_writer_event(w, &e), 0);
	r = read_written(w, &b);
	ck_assert_uint_eq(trc_reader_thread(r, 4)->serial, 5);
	ck_assert_uint_eq(trc_reader_thread(r, 4)->tid, 6);
	close_written(r, w, &b);
}
END_TEST

/* More threads than the table has room for, each with an event of its own, and no generation but
 * those that the writer begins by itself: a few at a time live. */
START_TEST(short_threads_in_one_generation_lose_nothing)
{
	enum { N = 20000, LIVE = 50 };
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_sync_point zero = {0};
	struct trc_writer_totals totals;
	struct trc_error error;
	struct trc_columns *c;
	struct trc_reader *r;
	uint32_t n_seen = 0;

	trc_writer_sync(w, &zero);
	for (uint32_t i = 1; i <= N + LIVE; i++) {
		struct trc_thread_entry t = {.serial = i, .tid = i + 1, .start = i};
		struct trc_event e = an_event(i);

		if (i <= N)
			expect_same(trc_writer_thread(w, &t), 0);
		if (i <= LIVE)
			continue;
		t = (struct trc_thread_entry){
			.serial = i - LIVE, .tid = i - LIVE + 1, .start = i - LIVE, .end = i};
		e.thread = t.serial;
		expect_same(trc_writer_event(w, &e), 0);
		expect_same(trc_writer_thread(w, &t), 0);
	}
	trc_writer_totals(w, &totals);
	ck_assert_uint_eq(totals.table_full, 0);
	ck_assert_uint_eq(totals.lost_events, 0);
	ck_assert_uint_gt(totals.generations, 1);
	r = read_written(w, &b);
	ck_assert_uint_eq(trc_reader_threads(r), N);
	for (uint32_t i = 0; i < N; i++) {
		const struct trc_thread_entry *t = trc_reader_thread(r, i);

		expect(t->serial == i + 1 && t->tid == i + 2 && t->start == i + 1 &&
			  t->end == i + 1 + LIVE);
	}
	for (size_t i = 0; i < trc_reader_blocks(r); i++) {
		ck_assert_int_eq(trc_reader_load(r, i, TRC_WANT_ALL, NULL, &c, &error), 0);
		for (uint32_t row = 0; row < c->n_events; row++)
			expect_same(c->thread[row], ++n_seen);
		trc_columns_free(c);
	}
	ck_assert_uint_eq(n_seen, N);
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
	close_written(r, w, &b);
}
END_TEST

START_TEST(overlong_things_are_cut)
{
	static char huge[100000];
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_thread_entry t = {.serial = 1, .tid = 1, .name = huge, .name_bytes = 5000};
	struct trc_module_entry m = {.start = 1, .path = huge};
	struct trc_event e = {.kind = TRC_KIND_COUNTER, .thread = 1};
	struct trc_reader *r;
	uint32_t n_bytes;

	memset(huge, 'x', sizeof(huge) - 1);
	e.arg[0] = trc_writer_string(w, huge, 90000);
	ck_assert_uint_eq(trc_writer_module(w, &m), 1);
	ck_assert_int_eq(trc_writer_thread(w, &t), 0);
	ck_assert_int_eq(trc_writer_info(w, huge, huge), 0);
	ck_assert_int_eq(trc_writer_event(w, &e), 0);
	r = read_written(w, &b);
	ck_assert_ptr_nonnull(trc_reader_string(r, 1, &n_bytes));
	ck_assert_uint_eq(n_bytes, 8192);
	ck_assert_uint_eq(strlen(trc_reader_module(r, 1)->path), 4095);
	ck_assert_uint_eq(trc_reader_thread(r, 0)->name_bytes, 127);
	close_written(r, w, &b);
}
END_TEST

START_TEST(long_status_tables_take_several_sections)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_status_entry *entry = calloc(20000, sizeof(*entry));
	const struct trc_status_entry *read;
	struct trc_reader *r;

	ck_assert_ptr_nonnull(entry);
	for (uint32_t i = 0; i < 20000; i++)
		entry[i] = (struct trc_status_entry){i + 1, TRC_REASON_READ, 0, i, 77, 0, 0};
	ck_assert_int_eq(trc_writer_status(w, entry, 3), 0);
	ck_assert_int_eq(trc_writer_status(w, entry, 20000), 0);
	r = read_written(w, &b);
	ck_assert_uint_eq(trc_reader_status(r, &read), 20000);
	ck_assert_uint_eq(read[19999].thread, 20000);
	ck_assert_uint_eq(read[12345].object, 12345);
	close_written(r, w, &b);
	free(entry);
}
END_TEST

START_TEST(long_tables_of_open_regions_and_coverage_take_several_sections)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_open_region_entry *open = calloc(20000, sizeof(*open));
	struct trc_coverage_entry *coverage = calloc(20000, sizeof(*coverage));
	const struct trc_open_region_entry *read_open;
	const struct trc_coverage_entry *read_coverage;
	struct trc_error error;
	struct trc_reader *r;

	ck_assert(open && coverage);
	for (uint32_t i = 0; i < 20000; i++) {
		open[i] = (struct trc_open_region_entry){i + 1, i % 9, UINT64_MAX, 0, i};
		coverage[i] =
			(struct trc_coverage_entry){i % 2, TRC_SOURCE_RING, i, i, UINT64_MAX - i};
	}
	ck_assert_int_eq(trc_writer_open_regions(w, open, 5), 0);
	ck_assert_int_eq(trc_writer_open_regions(w, open, 20000), 0);
	ck_assert_int_eq(trc_writer_coverage(w, coverage, 20000), 0);
	ck_assert_int_eq(trc_writer_finish(w), 0);
	ck_assert_int_eq(trc_writer_open_regions(w, open, 1), -EBADF);
	ck_assert_int_eq(trc_writer_coverage(w, coverage, 1), -EBADF);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_open_regions(r, &read_open), 20000);
	ck_assert_uint_eq(trc_reader_coverage(r, &read_coverage), 20000);
	for (uint32_t i = 0; i < 20000; i++) {
		expect_same(read_open[i].thread, i + 1);
		expect_same(read_open[i].depth, i % 9);
		expect_same(read_open[i].task, UINT64_MAX);
		expect_same(read_open[i].since, i);
		expect_same(read_coverage[i].proc, i % 2);
		expect_same(read_coverage[i].source, TRC_SOURCE_RING);
		expect_same(read_coverage[i].held, i);
		expect_same(read_coverage[i].from, i);
		expect_same(read_coverage[i].to, UINT64_MAX - i);
	}
	close_written(r, w, &b);
	free(open);
	free(coverage);
}
END_TEST

START_TEST(long_tables_of_sampled_events_and_labels_take_several_sections)
{
	enum { N_EVENTS = 1000, N_THREADS = 20000 };
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_sample_event_entry *event = calloc(N_EVENTS, sizeof(*event));
	struct trc_thread_labels_entry *labels = calloc(N_THREADS, sizeof(*labels));
	const struct trc_sample_event_entry *read_event;
	const struct trc_thread_labels_entry *read_labels;
	struct trc_label label = {.key = "k", .key_bytes = 1, .is_number = true, .value = ""};
	char note[1000];
	struct trc_error error;
	struct trc_reader *r;

	ck_assert(event && labels);
	memset(note, 'x', sizeof(note) - 1);
	note[sizeof(note) - 1] = 0;
	for (uint32_t i = 0; i < N_EVENTS; i++)
		event[i] = (struct trc_sample_event_entry){
			UINT32_MAX - i, TRC_SAMPLE_KERNEL, UINT64_MAX, i,
			i + 1,		"cycles:u",	   note,       note};
	for (uint32_t i = 0; i < N_THREADS; i++) {
		label.number = i % 3000;
		labels[i] =
			(struct trc_thread_labels_entry){i + 1, trc_writer_label_set(w, &label, 1)};
	}
	ck_assert_int_eq(trc_writer_sample_events(w, event, 5), 0);
	ck_assert_int_eq(trc_writer_sample_events(w, event, N_EVENTS), 0);
	ck_assert_int_eq(trc_writer_thread_labels(w, labels, 7), 0);
	ck_assert_int_eq(trc_writer_thread_labels(w, labels, N_THREADS), 0);
	event[3].event = 0;
	ck_assert_int_eq(trc_writer_sample_events(w, event, 4), -EINVAL);
	ck_assert_int_eq(trc_writer_finish(w), 0);
	ck_assert_int_eq(trc_writer_sample_events(w, event, 1), -EBADF);
	ck_assert_int_eq(trc_writer_thread_labels(w, labels, 1), -EBADF);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_sample_events(r, &read_event), N_EVENTS);
	ck_assert_uint_eq(trc_reader_thread_labels(r, &read_labels), N_THREADS);
	for (uint32_t i = 0; i < N_EVENTS; i++) {
		ck_assert_uint_eq(read_event[i].event, UINT32_MAX - i);
		ck_assert_uint_eq(read_event[i].how, TRC_SAMPLE_KERNEL);
		ck_assert_uint_eq(read_event[i].period, UINT64_MAX);
		ck_assert_uint_eq(read_event[i].frequency_hz, i);
		ck_assert_uint_eq(read_event[i].missing_threads, i + 1);
		ck_assert_str_eq(read_event[i].name, "cycles:u");
		ck_assert_uint_eq(strlen(read_event[i].unit), 255);
		ck_assert_uint_eq(strlen(read_event[i].note), 255);
	}
	for (uint32_t i = 0; i < N_THREADS; i++) {
		expect_same(read_labels[i].thread, i + 1);
		expect_same(read_labels[i].labels, i % 3000 + 1);
	}
	close_written(r, w, &b);
	free(event);
	free(labels);
}
END_TEST

START_TEST(long_tables_of_fibers_take_several_sections)
{
	enum { N = 20000 };
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_thread_fiber_entry *fiber = calloc(N, sizeof(*fiber));
	const struct trc_thread_fiber_entry *read_fiber;
	struct trc_error error;
	struct trc_reader *r;
	uint32_t n_bytes;

	ck_assert(fiber);
	for (uint32_t i = 0; i < N; i++) {
		char name[16];
		uint32_t name_bytes = (uint32_t)snprintf(name, sizeof(name), "fiber %u", i % 3000);

		fiber[i] = (struct trc_thread_fiber_entry){i + 1, UINT64_MAX - i,
							   trc_writer_string(w, name, name_bytes)};
	}
	ck_assert_int_eq(trc_writer_thread_fibers(w, fiber, 7), 0);
	/* The strings are told again in a generation that refers to them. */
	ck_assert_int_eq(trc_writer_generation(w), 0);
	ck_assert_int_eq(trc_writer_thread_fibers(w, fiber, N), 0);
	ck_assert_int_eq(trc_writer_finish(w), 0);
	ck_assert_int_eq(trc_writer_thread_fibers(w, fiber, 1), -EBADF);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
	ck_assert_uint_eq(trc_reader_thread_fibers(r, &read_fiber), N);
	for (uint32_t i = 0; i < N; i++) {
		expect_same(read_fiber[i].thread, i + 1);
		expect_same(read_fiber[i].fiber, UINT64_MAX - i);
		expect_same(read_fiber[i].name, i % 3000 + 1);
	}
	ck_assert_mem_eq(trc_reader_string(r, 3000, &n_bytes), "fiber 2999", 10);
	close_written(r, w, &b);
	free(fiber);
}
END_TEST

#define KEY(k) .key = (k), .key_bytes = sizeof(k) - 1, .value = ""
static const struct {
	const char *what;
	uint32_t n;
	struct trc_label label[3];
} no_label_sets[] = {
	{"nothing", 0, {{KEY("a")}}},
	{"too many", TRC_LABELS_MAX + 1, {{KEY("a")}}},
	{"a key twice", 2, {{KEY("a")}, {KEY("a")}}},
	{"not in order", 3, {{KEY("a")}, {KEY("c")}, {KEY("b")}}},
	{"a longer key before its beginning", 2, {{KEY("ab")}, {KEY("a")}}},
	{"signed order", 2, {{KEY("\xc3")}, {KEY("z")}}},
	{"an empty key", 2, {{KEY("")}, {KEY("a")}}},
};

START_TEST(what_is_no_label_set_has_id_0)
{
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_writer_totals totals;

	ck_assert_msg(!trc_writer_label_set(w, no_label_sets[_i].label, no_label_sets[_i].n), "%s",
		      no_label_sets[_i].what);
	trc_writer_totals(w, &totals);
	ck_assert_msg(!totals.table_full, "it is no matter of room");
	trc_writer_close(w);
	bytes_free(&b);
}
END_TEST

START_TEST(the_largest_label_set_reads_back)
{
	static char text[TRC_LABELS_MAX][3];
	struct trc_label label[TRC_LABELS_MAX] = {0};
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_event e = {.kind = TRC_KIND_LABELS, .thread = 1};
	const struct trc_label *read;
	struct trc_reader *r;
	uint32_t n;

	for (uint32_t i = 0; i < TRC_LABELS_MAX; i++) {
		sprintf(text[i], "%02u", i);
		label[i] = (struct trc_label){.key = text[i],
					      .key_bytes = 2,
					      .value = text[i],
					      .value_bytes = 2,
					      .is_number = true};
		label[i].number = i % 2 ? INT64_MIN + i : INT64_MAX - i;
	}
	e.arg[0] = trc_writer_label_set(w, label, TRC_LABELS_MAX);
	ck_assert_uint_eq(e.arg[0], 1);
	ck_assert_int_eq(trc_writer_event(w, &e), 0);
	r = read_written(w, &b);
	ck_assert_int_eq(trc_reader_label_set(r, 1, &read, &n), 0);
	ck_assert_uint_eq(n, TRC_LABELS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_mem_eq(read[i].key, text[i], 2);
		ck_assert_mem_eq(read[i].value, text[i], 2);
		ck_assert_int_eq(read[i].number, label[i].number);
	}
	close_written(r, w, &b);
}
END_TEST

/* tables:B1: a generation is readable by itself, and its label sets come with their strings. */
START_TEST(label_sets_come_again_in_each_generation_behind_their_strings)
{
	struct bytes b = assembled("labels few tenant=\"acme\"\n@10 labels labels=few\n"
				   "generation\n@20 labels labels=few\ngeneration\n"
				   "@30 thread_exit\n");
	static const uint16_t expected[] = {TRC_SECTION_STRINGS, TRC_SECTION_LABEL_SETS};
	unsigned int generation = 0, seen[4] = {0};

	for (size_t off = TRC_HEADER_BYTES; off < b.n; off += section_bytes(&b, off)) {
		uint16_t type = trc_get16(b.at + off);

		if (type == TRC_SECTION_GENERATION) {
			generation++;
		} else if (type == TRC_SECTION_STRINGS || type == TRC_SECTION_LABEL_SETS) {
			ck_assert_uint_lt(seen[generation], 2);
			ck_assert_uint_eq(type, expected[seen[generation]++]);
		} else if (type == TRC_SECTION_BLOCK) {
			ck_assert_uint_eq(seen[generation], generation < 3 ? 2 : 0);
		}
	}
	ck_assert_uint_eq(generation, 3);
	bytes_free(&b);
}
END_TEST

/* tables:B1: the table comes in a generation that has told the names before. */
START_TEST(names_of_fibers_come_before_the_table_that_refers_to_them)
{
	struct bytes b =
		assembled("@10 thread=1 fiber_switch fiber=7 name=\"session\"\ngeneration\n"
			  "@20 thread_exit\n"
			  "thread_fiber thread=1 fiber=7 name=\"session\"\n");
	unsigned int generation = 0;
	bool strings = false, told = false;

	for (size_t off = TRC_HEADER_BYTES; off < b.n; off += section_bytes(&b, off)) {
		uint16_t type = trc_get16(b.at + off);

		if (type == TRC_SECTION_GENERATION) {
			generation++;
			strings = false;
		} else if (type == TRC_SECTION_STRINGS) {
			strings = true;
		} else if (type == TRC_SECTION_THREAD_FIBERS) {
			ck_assert_uint_eq(generation, 2);
			ck_assert(strings);
			told = true;
		}
	}
	ck_assert(told);
	bytes_free(&b);
}
END_TEST

/* So many sets, with strings of their own, that their sections are cut in between. */
START_TEST(many_label_sets_stay_behind_their_strings)
{
	enum { N = 4000 };
	struct bytes b = {0};
	struct trc_writer *w = open_writer(&b);
	struct trc_sync_point zero = {0};
	struct trc_label label[] = {{KEY("a"), .is_number = true, .number = INT64_MAX},
				    {KEY("b"), .is_number = true, .number = INT64_MIN},
				    {KEY("c"), .is_number = true, .number = INT64_MIN},
				    {KEY("request")}};
	const struct trc_label *read;
	struct trc_reader *r;
	uint32_t n;

	trc_writer_sync(w, &zero);
	for (uint32_t i = 1; i <= N; i++) {
		struct trc_event e = {.time = i, .kind = TRC_KIND_LABELS, .thread = 1};
		char text[64];

		label[3].value_bytes = (uint32_t)sprintf(text, "%040u", i);
		label[3].value = text;
		e.arg[0] = trc_writer_label_set(w, label, 4);
		e.arg[1] = i - 1;
		expect_same(e.arg[0], i);
		expect_same(trc_writer_event(w, &e), 0);
	}
	r = read_written(w, &b);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
	ck_assert_uint_eq(trc_reader_label_sets(r), N + 1);
	for (uint32_t i = 1; i <= N; i++) {
		expect_same(trc_reader_label_set(r, i, &read, &n), 0);
		expect(n == 4 && read[3].value_bytes == 40);
		expect_same(strtoul(strndupa(read[3].value, 40), NULL, 10), i);
	}
	close_written(r, w, &b);
}
END_TEST

TCase *writer_tables(void)
{
	TCase *t = tcase_create("tables");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, full_tables_give_0_and_are_counted);
	tcase_add_test(t, strings_stacks_and_label_sets_make_room);
	tcase_add_loop_test(t, ids_stand_for_what_they_were_made_of, 0, 2);
	tcase_add_test(t, threads_that_ended_make_room_for_others);
	tcase_add_test(t, an_event_of_a_thread_that_made_room_keeps_its_entry);
	tcase_add_test(t, short_threads_in_one_generation_lose_nothing);
	tcase_add_test(t, overlong_things_are_cut);
	tcase_add_test(t, long_status_tables_take_several_sections);
	tcase_add_test(t, long_tables_of_open_regions_and_coverage_take_several_sections);
	tcase_add_test(t, long_tables_of_sampled_events_and_labels_take_several_sections);
	tcase_add_test(t, long_tables_of_fibers_take_several_sections);
	tcase_add_loop_test(t, what_is_no_label_set_has_id_0, 0,
			    sizeof(no_label_sets) / sizeof(no_label_sets[0]));
	tcase_add_test(t, the_largest_label_set_reads_back);
	tcase_add_test(t, label_sets_come_again_in_each_generation_behind_their_strings);
	tcase_add_test(t, names_of_fibers_come_before_the_table_that_refers_to_them);
	tcase_add_test(t, many_label_sets_stay_behind_their_strings);
	return t;
}
