/* test_versions.c - what newer versions may add, and what they may not (format.md, "Versions"). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/check.h"
#include "format/schema_wire.h"
#include "format/varint.h"
#include "format/wire.h"
#include "common.h"

static void set_version(struct bytes *b, uint16_t major, uint16_t minor)
{
	trc_put16(b->at + 4, major);
	trc_put16(b->at + 6, minor);
	trc_put64(b->at + 64, trc_check64(b->at, 64, 0));
}

static const struct {
	uint16_t major, minor;
	int err;
	const char *message;
} versions[] = {
	{1, 0, 0, ""},
	{1, 1, 0, ""},
	{1, 7, 0, ""},
	{2, 0, -ENOTSUP, "version 2.0 is newer than this trc, which reads 1.x"},
	{65535, 3, -ENOTSUP, "version 65535.3 is newer than this trc, which reads 1.x"},
	{0, 9, -ENOTSUP, "version 0.9 is older than this trc, which reads 1.x"},
};

START_TEST(major_versions_are_refused_by_name)
{
	struct bytes b = assembled(sample_trace);
	struct trc_error error = {""};
	struct trc_reader *r = NULL;

	set_version(&b, versions[_i].major, versions[_i].minor);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), versions[_i].err);
	ck_assert_str_eq(error.text, versions[_i].message);
	if (r)
		ck_assert_uint_eq(trc_reader_info(r)->minor, versions[_i].minor);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

START_TEST(a_longer_header_is_read_as_far_as_it_is_known)
{
	struct bytes b = assembled("@5 thread_exit\n"), longer = {0};
	uint8_t more[16] = {1, 2, 3};
	struct trc_error error;
	struct trc_reader *r;

	bytes_add(&longer, b.at, 64);
	bytes_add(&longer, more, 16);
	bytes_add(&longer, more, 8); /* room for the checksum */
	trc_put32(longer.at + 12, 88);
	trc_put64(longer.at + 80, trc_check64(longer.at, 80, 0));
	/* Without the index, which tells of offsets. */
	bytes_add(&longer, b.at + 72, section_find(&b, TRC_SECTION_INDEX) - 72);
	ck_assert_msg(!trc_reader_open_memory(&r, longer.at, longer.n, &error), "%s", error.text);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->n_events, 1);
	trc_reader_close(r);
	bytes_free(&longer);
	bytes_free(&b);
}
END_TEST

START_TEST(unknown_sections_are_skipped)
{
	struct bytes b = assembled("unfinished\n"), end = assembled("");
	size_t off = section_find(&end, TRC_SECTION_END);
	struct trc_error error;
	struct trc_reader *r;

	section_add(&b, 77, 0, "from the future", 15, 15);
	section_add(&b, TRC_SECTION_INFO, 0x8000, "with a flag of the future", 25, 25);
	section_add(&b, TRC_SECTION_INFO, 0, "\x01k\x01v", 4, 4);
	bytes_add(&b, end.at + off, section_bytes(&end, off));
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_unknown_sections(r), 2);
	ck_assert_str_eq(trc_reader_info_get(r, "k"), "v");
	trc_reader_close(r);
	bytes_free(&b);
	bytes_free(&end);
}
END_TEST

START_TEST(longer_entries_are_read_as_far_as_they_are_known)
{
	struct bytes b = assembled("unfinished\n");
	struct trc_error error;
	struct trc_reader *r;

	/* serial 1, tid 2, creator 0, start 3, end 4, name "ab", and two bytes more */
	section_add(&b, TRC_SECTION_THREADS, 0,
		    "\x0a\x01\x02\x00\x03\x04\x02"
		    "ab\x63\x63",
		    11, 11);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_uint_eq(trc_reader_threads(r), 1);
	ck_assert_uint_eq(trc_reader_thread(r, 0)->end, 4);
	ck_assert_uint_eq(trc_reader_thread(r, 0)->name_bytes, 2);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* --- a file of a newer schema, put together by hand --- */

static void u8(struct bytes *b, uint8_t value)
{
	bytes_add(b, &value, 1);
}

static void varint(struct bytes *b, uint64_t value)
{
	uint8_t bytes[TRC_VARINT_BYTES_MAX];

	bytes_add(b, bytes, (size_t)(trc_varint_put(bytes, value) - bytes));
}

static void name(struct bytes *b, const char *text)
{
	varint(b, strlen(text));
	bytes_add(b, text, strlen(text));
}

/* A directory entry of a constant column, and the column. */
static void constant(struct bytes *directory, struct bytes *columns, uint8_t what, int kind,
		     int arg, uint64_t value)
{
	uint8_t check[4], bytes[TRC_VARINT_BYTES_MAX];
	size_t n_bytes = (size_t)(trc_varint_put(bytes, value) - bytes);

	u8(directory, what);
	if (kind) {
		u8(directory, (uint8_t)kind);
		u8(directory, (uint8_t)arg);
	}
	u8(directory, what == 100 ? 55 : TRC_CODING_CONSTANT);
	varint(directory, n_bytes);
	trc_put32(check, (uint32_t)trc_check64(bytes, n_bytes, 0));
	bytes_add(directory, check, 4);
	bytes_add(columns, bytes, n_bytes);
}

/* A schema of `park` with an argument more, and a kind 200 with seven. */
static void add_newer_schema(struct bytes *b)
{
	const struct trc_kind_info *park = trc_kind_info(TRC_KIND_PARK);
	struct bytes s = {0};

	varint(&s, 2);
	varint(&s, TRC_KIND_PARK);
	name(&s, "park");
	varint(&s, park->n_args + 1);
	for (unsigned int a = 0; a < park->n_args; a++) {
		varint(&s, (uint64_t)trc_arg_file_type(park->arg[a].type));
		name(&s, park->arg[a].name);
	}
	varint(&s, TRC_ARG_U64);
	name(&s, "patience");
	varint(&s, 200);
	name(&s, "novelty");
	varint(&s, 7);
	for (char a = 'a'; a < 'h'; a++) {
		char text[2] = {a, 0};

		varint(&s, a == 'a' ? 99 : TRC_ARG_NS); /* a type of the future, too */
		name(&s, text);
	}
	varint(&s, 1);
	varint(&s, 99);
	name(&s, "contemplation");
	section_add(b, TRC_SECTION_SCHEMA, 0, s.at, s.n, s.n);
	bytes_free(&s);
}

/* One park and one of kind 200, with a column of a sort that is not known. */
static void add_newer_block(struct bytes *b)
{
	struct bytes head = {0}, directory = {0}, columns = {0};
	static const uint8_t front[] = {0, 0, 0, 0, 0, 1, 2, 10, 0, 2, TRC_KIND_PARK, 1, 200, 1};

	bytes_add(&head, front, sizeof(front));
	/* Kinds: a dictionary of two, then one bit each. */
	u8(&directory, TRC_COLUMN_KIND);
	u8(&directory, TRC_CODING_DICTIONARY);
	varint(&directory, 6);
	{
		static const uint8_t kinds[] = {5, 2, 0, 0xc3, 0x01, 0x02};
		uint8_t check[4];

		trc_put32(check, (uint32_t)trc_check64(kinds, sizeof(kinds), 0));
		bytes_add(&directory, check, 4);
		bytes_add(&columns, kinds, sizeof(kinds));
	}
	constant(&directory, &columns, TRC_COLUMN_TIME, 0, 0, 10);
	constant(&directory, &columns, TRC_COLUMN_THREAD, 0, 0, 0);
	constant(&directory, &columns, 100, 200, 1, 12345);
	constant(&directory, &columns, TRC_COLUMN_ARG, TRC_KIND_PARK, 1, 0xaa);
	constant(&directory, &columns, TRC_COLUMN_ARG, TRC_KIND_PARK, 4, 0xbb);
	constant(&directory, &columns, TRC_COLUMN_ARG, 200, 0, 41);
	constant(&directory, &columns, TRC_COLUMN_ARG, 200, 6, 42);
	varint(&head, 8);
	trc_put32(head.at, (uint32_t)(head.n + directory.n));
	bytes_add(&head, directory.at, directory.n);
	directory.n = head.n; /* what the checksum covers */
	bytes_add(&head, columns.at, columns.n);
	section_add(b, TRC_SECTION_BLOCK, 0, head.at, head.n, directory.n);
	bytes_free(&head);
	bytes_free(&directory);
	bytes_free(&columns);
}

/* The header and the GENERATION of a file, without the schema that follows. */
static struct bytes bare_file(void)
{
	struct bytes b = assembled("unfinished\n");

	b.n = section_find(&b, TRC_SECTION_SCHEMA);
	return b;
}

START_TEST(newer_kinds_are_shown_by_the_files_own_schema)
{
	struct bytes b = bare_file();
	const struct trc_kind_info *info;
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;

	add_newer_schema(&b);
	add_newer_block(&b);
	ck_assert_msg(!trc_reader_open_memory(&r, b.at, b.n, &error), "%s", error.text);
	ck_assert_uint_eq(trc_reader_blocks(r), 1);
	info = trc_reader_kind(r, 200);
	ck_assert_str_eq(info->name, "novelty");
	ck_assert_uint_eq(info->n_args, TRC_ARGS_MAX);
	ck_assert_int_eq(info->arg[0].type, TRC_ARG_U64);
	ck_assert_int_eq(info->arg[1].type, TRC_ARG_NS);
	ck_assert_str_eq(trc_reader_kind(r, TRC_KIND_PARK)->arg[1].name, "object");
	ck_assert_uint_eq(trc_reader_kind(r, TRC_KIND_PARK)->n_args,
			  trc_kind_info(TRC_KIND_PARK)->n_args);
	ck_assert_str_eq(trc_reader_reason_name(r, 99), "contemplation");
	ck_assert_str_eq(trc_reader_reason_name(r, TRC_REASON_MUTEX), "mutex");
	ck_assert_str_eq(trc_reader_reason_name(r, 98), "?");
	ck_assert_msg(!trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), "%s", error.text);
	ck_assert_uint_eq(c->kind[0], TRC_KIND_PARK);
	ck_assert_uint_eq(c->kind[1], 200);
	ck_assert_uint_eq(c->arg[TRC_KIND_PARK][1][0], 0xaa);
	ck_assert_ptr_null(c->arg[TRC_KIND_PARK][0]);
	ck_assert_uint_eq(c->arg[200][0][0], 41);
	ck_assert_ptr_null(c->arg[200][1]);
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* The schema of an older version: kinds up to `last`. */
static void add_older_schema(struct bytes *b, unsigned int last)
{
	struct bytes s = {0};

	varint(&s, last);
	for (unsigned int k = 1; k <= last; k++) {
		const struct trc_kind_info *info = trc_kind_info(k);

		varint(&s, k);
		name(&s, info->name);
		varint(&s, info->n_args);
		for (unsigned int a = 0; a < info->n_args; a++) {
			varint(&s, (uint64_t)trc_arg_file_type(info->arg[a].type));
			name(&s, info->arg[a].name);
		}
	}
	varint(&s, 0);
	section_add(b, TRC_SECTION_SCHEMA, 0, s.at, s.n, s.n);
	bytes_free(&s);
}

/* Completes a bare file of version 1.`minor`, whose last kind was `last`, with what `whole` has. */
static void make_older(struct bytes *b, uint16_t minor, unsigned int last, const struct bytes *whole)
{
	size_t off = section_find(whole, TRC_SECTION_SCHEMA);

	set_version(b, 1, minor);
	add_older_schema(b, last);
	off += section_bytes(whole, off);
	/* Without the index, which tells of offsets. */
	bytes_add(b, whole->at + off, section_find(whole, TRC_SECTION_INDEX) - off);
}

START_TEST(a_file_of_1_1_is_read)
{
	struct bytes b = bare_file(), whole = assembled("@10 thread=1 park reason=mutex object=5\n"
							"coverage proc=0 held=1 from=2 to=30\n");
	const struct trc_sample_event_entry *event;
	const struct trc_thread_labels_entry *labels;
	const struct trc_coverage_entry *coverage;
	const struct trc_label *label;
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;
	uint32_t n;

	make_older(&b, 1, TRC_KIND_TRIGGER, &whole);
	ck_assert_msg(!trc_reader_open_memory(&r, b.at, b.n, &error), "%s", error.text);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->minor, 1);
	ck_assert_uint_eq(trc_reader_coverage(r, &coverage), 1);
	ck_assert_uint_eq(trc_reader_label_sets(r), 0);
	ck_assert_int_eq(trc_reader_label_set(r, 1, &label, &n), -ENOENT);
	ck_assert_uint_eq(trc_reader_sample_events(r, &event), 0);
	ck_assert_uint_eq(trc_reader_thread_labels(r, &labels), 0);
	ck_assert_msg(!trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), "%s", error.text);
	ck_assert_uint_eq(c->arg[TRC_KIND_PARK][1][0], 5);
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
	bytes_free(&whole);
}
END_TEST

START_TEST(a_file_of_1_2_is_read)
{
	struct bytes b = bare_file(), whole = assembled("labels l tenant=\"acme\"\n"
							"@10 thread=1 sample event=1 value=7 period=7"
							" labels=l\nsample_event 1 period=7\n");
	const struct trc_sample_event_entry *event;
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;

	make_older(&b, 2, TRC_KIND_SAMPLES_LOST, &whole);
	ck_assert_msg(!trc_reader_open_memory(&r, b.at, b.n, &error), "%s", error.text);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->minor, 2);
	ck_assert_uint_eq(trc_reader_sample_events(r, &event), 1);
	ck_assert_uint_eq(trc_reader_label_sets(r), 2);
	ck_assert_uint_eq(trc_reader_block(r, 0)->kind_count[TRC_KIND_ALLOC], 0);
	ck_assert_msg(!trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), "%s", error.text);
	ck_assert_uint_eq(c->arg[TRC_KIND_SAMPLE][1][0], 7);
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
	bytes_free(&whole);
}
END_TEST

START_TEST(a_file_of_1_3_is_read)
{
	struct bytes b = bare_file(), whole = assembled("@10 thread=1 alloc sample=1 bytes=64\n");
	const struct trc_thread_fiber_entry *fiber;
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;

	make_older(&b, 3, TRC_KIND_FREE, &whole);
	ck_assert_msg(!trc_reader_open_memory(&r, b.at, b.n, &error), "%s", error.text);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->minor, 3);
	ck_assert_uint_eq(trc_reader_thread_fibers(r, &fiber), 0);
	ck_assert_uint_eq(trc_reader_block(r, 0)->kind_count[TRC_KIND_FIBER_SWITCH], 0);
	ck_assert_msg(!trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), "%s", error.text);
	ck_assert_uint_eq(c->arg[TRC_KIND_ALLOC][2][0], 64);
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
	bytes_free(&whole);
}
END_TEST

static const struct {
	const char *what;
	uint64_t kind;
	const char *name, *arg;
	uint64_t type;
	const char *message;
} contradictions[] = {
	{"another name", TRC_KIND_TASK_END, "nap", "task", TRC_ARG_TASK,
	 "in this file, event kind 13 has \"nap\" where this trc knows \"task_end\""},
	{"another argument", TRC_KIND_TASK_END, "task_end", "duty", TRC_ARG_TASK,
	 "in this file, event kind 13 has \"duty\" where this trc knows \"task\""},
	{"another type", TRC_KIND_TASK_END, "task_end", "task", TRC_ARG_U64,
	 "in this file, event kind 13 has \"task\" where this trc knows \"task\""},
};

START_TEST(a_schema_that_contradicts_ours_is_refused)
{
	struct bytes b = bare_file(), s = {0};
	struct trc_error error;
	struct trc_reader *r = NULL;

	varint(&s, 1);
	varint(&s, contradictions[_i].kind);
	name(&s, contradictions[_i].name);
	varint(&s, 1);
	varint(&s, contradictions[_i].type);
	name(&s, contradictions[_i].arg);
	varint(&s, 0);
	section_add(&b, TRC_SECTION_SCHEMA, 0, s.at, s.n, s.n);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), -ENOTSUP);
	ck_assert_str_eq(error.text, contradictions[_i].message);
	bytes_free(&s);
	bytes_free(&b);
}
END_TEST

START_TEST(the_schema_in_the_file_is_ours)
{
	struct bytes b = assembled("unfinished\n");
	struct trc_error error;
	struct trc_reader *r;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		ck_assert_ptr_eq(trc_reader_kind(r, k)->name, trc_kind_info(k)->name);
	ck_assert_uint_eq(trc_reader_info(r)->schema_hash, trc_schema_hash());
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

Suite *suite_versions(void)
{
	Suite *s = suite_create("versions");
	TCase *t = tcase_create("versions");

	tcase_add_loop_test(t, major_versions_are_refused_by_name, 0,
			    sizeof(versions) / sizeof(versions[0]));
	tcase_add_test(t, a_longer_header_is_read_as_far_as_it_is_known);
	tcase_add_test(t, unknown_sections_are_skipped);
	tcase_add_test(t, longer_entries_are_read_as_far_as_they_are_known);
	tcase_add_test(t, a_file_of_1_1_is_read);
	tcase_add_test(t, a_file_of_1_2_is_read);
	tcase_add_test(t, a_file_of_1_3_is_read);
	tcase_add_test(t, newer_kinds_are_shown_by_the_files_own_schema);
	tcase_add_loop_test(t, a_schema_that_contradicts_ours_is_refused, 0,
			    sizeof(contradictions) / sizeof(contradictions[0]));
	tcase_add_test(t, the_schema_in_the_file_is_ours);
	suite_add_tcase(s, t);
	return s;
}
