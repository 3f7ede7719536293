/* What the pprof builder promises (format/pprof.h), read back with protobuf-c. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "format/pprof.h"
#include "format/profile.pb-c.h"
#include "tests/suite.h"

/* Writes p to a file, reads that back and decodes it. */
static TrcProto__Profile *decoded(const struct trc_pprof *p)
{
	static uint8_t bytes[1 << 22];
	char path[] = "/tmp/profile_pprof_test.XXXXXX";
	int fd = mkstemp(path), n;
	TrcProto__Profile *profile;
	gzFile file;

	ck_assert_int_ge(fd, 0);
	unlink(path);
	ck_assert_int_eq(trc_pprof_write(p, fd), 0);
	lseek(fd, 0, SEEK_SET);
	ck_assert_int_eq(read(fd, bytes, 2), 2);
	ck_assert_mem_eq(bytes, "\x1f\x8b", 2); /* gzip, not bare protobuf */
	lseek(fd, 0, SEEK_SET);
	file = gzdopen(fd, "r");
	n = gzread(file, bytes, sizeof(bytes));
	gzclose(file);
	ck_assert_int_gt(n, 0);
	profile = trc_proto__profile__unpack(NULL, (size_t)n, bytes);
	ck_assert_ptr_nonnull(profile);
	return profile;
}

static const char *string_of(const TrcProto__Profile *profile, int64_t i)
{
	ck_assert_int_ge(i, 0);
	ck_assert_uint_lt((size_t)i, profile->n_string_table);
	return profile->string_table[i];
}

static struct trc_pprof *opened(void)
{
	struct trc_pprof *p;

	ck_assert_int_eq(trc_pprof_open(&p), 0);
	trc_pprof_sample_type(p, "contentions", "count");
	trc_pprof_sample_type(p, "delay", "nanoseconds");
	return p;
}

static uint32_t map(struct trc_pprof *p, uint64_t start, const char *path)
{
	const struct trc_pprof_mapping mapping = {
		start, start + 0x1000, 0x1000, path, (const uint8_t *)"\xde\xad\x0b", 3};

	return trc_pprof_mapping(p, &mapping);
}

START_TEST(header_says_what_the_values_are)
{
	struct trc_pprof *p = opened();
	TrcProto__Profile *profile;

	trc_pprof_default_type(p, "delay");
	trc_pprof_period(p, "contentions", "count", 1);
	trc_pprof_time(p, 1700000000000000000, 2500000000);
	trc_pprof_comment(p, "a remark");
	profile = decoded(p);
	ck_assert_str_eq(string_of(profile, 0), "");
	ck_assert_uint_eq(profile->n_sample_type, 2);
	ck_assert_str_eq(string_of(profile, profile->sample_type[0]->type), "contentions");
	ck_assert_str_eq(string_of(profile, profile->sample_type[1]->type), "delay");
	ck_assert_str_eq(string_of(profile, profile->sample_type[1]->unit), "nanoseconds");
	ck_assert_str_eq(string_of(profile, profile->default_sample_type), "delay");
	ck_assert_str_eq(string_of(profile, profile->period_type->type), "contentions");
	ck_assert_int_eq(profile->period, 1);
	ck_assert_int_eq(profile->time_nanos, 1700000000000000000);
	ck_assert_int_eq(profile->duration_nanos, 2500000000);
	ck_assert_uint_eq(profile->n_comment, 1);
	ck_assert_str_eq(string_of(profile, profile->comment[0]), "a remark");
	ck_assert_uint_eq(profile->n_sample, 0);
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

START_TEST(everything_is_kept_once)
{
	struct trc_pprof *p = opened();
	uint32_t mapping = map(p, 0x1000, "/bin/program");
	uint32_t f = trc_pprof_function(p, "f", NULL, "a.c", 3);
	uint32_t other_file = trc_pprof_function(p, "f", NULL, "b.c", 3);
	const struct trc_pprof_line line = {f, 7};
	uint32_t at = trc_pprof_location(p, mapping, 0x1010, &line, 1);
	TrcProto__Profile *profile;

	ck_assert_uint_ne(f, 0);
	ck_assert_uint_ne(f, other_file);
	ck_assert_uint_eq(trc_pprof_function(p, "f", "f", "a.c", 3), f);
	ck_assert_uint_eq(trc_pprof_location(p, mapping, 0x1010, &line, 1), at);
	ck_assert_uint_ne(trc_pprof_location(p, mapping, 0x1011, &line, 1), at);
	ck_assert_uint_ne(trc_pprof_location(p, 0, 0x1010, NULL, 0), at);
	profile = decoded(p);
	ck_assert_uint_eq(profile->n_function, 2);
	ck_assert_uint_eq(profile->n_location, 3);
	for (size_t i = 0; i < profile->n_string_table; i++)
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(profile->string_table[i], profile->string_table[j]);
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

START_TEST(samples_are_summed_by_stack_and_labels)
{
	struct trc_pprof *p = opened();
	const uint32_t location[] = {trc_pprof_location(p, 0, 0x10, NULL, 0),
				     trc_pprof_location(p, 0, 0x20, NULL, 0)};
	const struct trc_pprof_label label = {"who", "me", 0, NULL};
	const int64_t value[] = {1, 100};
	TrcProto__Profile *profile;

	trc_pprof_sample(p, location, 2, value, NULL, 0);
	trc_pprof_sample(p, location, 1, value, NULL, 0);
	trc_pprof_sample(p, location, 2, value, &label, 1);
	trc_pprof_sample(p, location, 2, value, NULL, 0);
	trc_pprof_sample(p, location, 2, value, &label, 1);
	trc_pprof_sample(p, location, 2, value, &label, 1);
	profile = decoded(p);
	ck_assert_uint_eq(profile->n_sample, 3);
	ck_assert_int_eq(profile->sample[0]->value[0], 2);
	ck_assert_int_eq(profile->sample[0]->value[1], 200);
	ck_assert_int_eq(profile->sample[1]->value[1], 100);
	ck_assert_uint_eq(profile->sample[1]->n_location_id, 1);
	ck_assert_int_eq(profile->sample[2]->value[1], 300);
	ck_assert_uint_eq(profile->sample[2]->n_label, 1);
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

START_TEST(ids_stay_right_when_there_are_many)
{
	struct trc_pprof *p = opened();
	uint32_t mapping = map(p, 0x1000, "/bin/program");
	TrcProto__Profile *profile;
	char name[32];

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			const int64_t value[] = {1, i};
			struct trc_pprof_line line = {0, i + 1};
			uint32_t location;

			snprintf(name, sizeof(name), "function_%u", i);
			line.function = trc_pprof_function(p, name, NULL, "x.c", i);
			location = trc_pprof_location(p, mapping, 0x1000 + i, &line, 1);
			ck_assert_uint_eq(line.function, i + 1);
			ck_assert_uint_eq(location, i + 1);
			trc_pprof_sample(p, &location, 1, value, NULL, 0);
		}
	profile = decoded(p);
	ck_assert_uint_eq(profile->n_sample, 5000);
	for (size_t i = 0; i < profile->n_sample; i++) {
		const TrcProto__Sample *sample = profile->sample[i];
		const TrcProto__Location *location = profile->location[sample->location_id[0] - 1];
		const TrcProto__Function *function =
			profile->function[location->line[0]->function_id - 1];

		snprintf(name, sizeof(name), "function_%u", (unsigned int)i);
		ck_assert_str_eq(string_of(profile, function->name), name);
		ck_assert_int_eq(sample->value[1], 2 * (int64_t)i);
		ck_assert_uint_eq(location->address, 0x1000 + i);
	}
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

START_TEST(inlined_lines_and_names_arrive_in_order)
{
	struct trc_pprof *p = opened();
	uint32_t mapping = map(p, 0x1000, "/bin/program");
	const struct trc_pprof_line line[] = {
		{trc_pprof_function(p, "inner", NULL, "a.c", 1), 2},
		{trc_pprof_function(p, "ns::outer", "_ZN2ns5outerEv", "a.c", 5), 6}};
	uint32_t location = trc_pprof_location(p, mapping, 0x1020, line, 2);
	const int64_t value[] = {3, 4000};
	TrcProto__Profile *profile;

	trc_pprof_sample(p, &location, 1, value, NULL, 0);
	profile = decoded(p);
	ck_assert_uint_eq(profile->location[0]->n_line, 2);
	ck_assert_int_eq(profile->location[0]->line[0]->line, 2);
	ck_assert_int_eq(profile->location[0]->line[1]->line, 6);
	ck_assert_str_eq(string_of(profile, profile->function[0]->system_name), "inner");
	ck_assert_str_eq(string_of(profile, profile->function[1]->name), "ns::outer");
	ck_assert_str_eq(string_of(profile, profile->function[1]->system_name), "_ZN2ns5outerEv");
	ck_assert_int_eq(profile->function[1]->start_line, 5);
	ck_assert_str_eq(string_of(profile, profile->mapping[0]->build_id), "dead0b");
	ck_assert_uint_eq(profile->mapping[0]->memory_start, 0x1000);
	ck_assert_uint_eq(profile->mapping[0]->memory_limit, 0x2000);
	ck_assert_uint_eq(profile->mapping[0]->file_offset, 0x1000);
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

static const struct {
	const char *when;
	int function, file, line; /* of one of its two locations */
	bool has_functions, has_filenames, has_line_numbers;
} FLAGS[] = {
	{"all is known", 1, 1, 1, true, true, true},
	{"one location has no line number", 1, 1, 0, true, true, false},
	{"one location has no file", 1, 0, 0, true, false, false},
	{"one location is an address only", 0, 0, 0, false, false, false},
};

START_TEST(mapping_claims_only_what_holds_for_all_of_it)
{
	struct trc_pprof *p = opened();
	uint32_t mapping = map(p, 0x1000, FLAGS[_i].when);
	struct trc_pprof_line line = {trc_pprof_function(p, "f", NULL, "a.c", 1), 2};
	TrcProto__Profile *profile;

	trc_pprof_location(p, mapping, 0x1020, &line, 1);
	line.function = trc_pprof_function(p, "g", NULL, FLAGS[_i].file ? "a.c" : NULL, 1);
	line.line = FLAGS[_i].line ? 9 : 0;
	trc_pprof_location(p, mapping, 0x1030, &line, FLAGS[_i].function ? 1 : 0);
	profile = decoded(p);
	ck_assert_int_eq(profile->mapping[0]->has_functions, FLAGS[_i].has_functions);
	ck_assert_int_eq(profile->mapping[0]->has_filenames, FLAGS[_i].has_filenames);
	ck_assert_int_eq(profile->mapping[0]->has_line_numbers, FLAGS[_i].has_line_numbers);
	ck_assert_int_eq(profile->mapping[0]->has_inline_frames, FLAGS[_i].has_line_numbers);
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

START_TEST(labels_are_text_or_numbers_with_units)
{
	struct trc_pprof *p = opened();
	const struct trc_pprof_label label[] = {{"route", "/index", 5, NULL},
						{"bytes", NULL, 4096, "bytes"},
						{"request", NULL, 17, NULL}};
	const int64_t value[] = {1, 2};
	TrcProto__Profile *profile;
	const TrcProto__Sample *sample;

	trc_pprof_sample(p, NULL, 0, value, NULL, 0);
	trc_pprof_sample(p, NULL, 0, value, label, 3);
	profile = decoded(p);
	ck_assert_uint_eq(profile->sample[0]->n_label, 0);
	sample = profile->sample[1];
	ck_assert_uint_eq(sample->n_label, 3);
	ck_assert_int_eq(sample->label[0]->num_unit, 0);
	ck_assert_str_eq(string_of(profile, sample->label[0]->key), "route");
	ck_assert_str_eq(string_of(profile, sample->label[0]->str), "/index");
	ck_assert_int_eq(sample->label[0]->num, 0);
	ck_assert_int_eq(sample->label[1]->str, 0);
	ck_assert_int_eq(sample->label[1]->num, 4096);
	ck_assert_str_eq(string_of(profile, sample->label[1]->num_unit), "bytes");
	ck_assert_int_eq(sample->label[2]->num, 17);
	ck_assert_str_eq(string_of(profile, sample->label[2]->num_unit), "count");
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

/* Whatever becomes a string: labels, names, paths, comments. */
START_TEST(what_is_not_utf8_is_escaped)
{
	static const char *const text[][2] = {
		{"caf\xc3\xa9 \xf0\x9f\x90\x8c", "caf\xc3\xa9 \xf0\x9f\x90\x8c"},
		{"a lone \xff byte", "a lone \\xff byte"},
		{"cut \xe2\x82", "cut \\xe2\\x82"},
		{"long zero \xc0\x80", "long zero \\xc0\\x80"},
		{"surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80"},
		{"beyond \xf4\x90\x80\x80", "beyond \\xf4\\x90\\x80\\x80"},
	};
	struct trc_pprof *p = opened();
	const struct trc_pprof_label label[] = {{text[_i][0], text[_i][0], 0, NULL}};
	const int64_t value[] = {1, 2};
	TrcProto__Profile *profile;

	map(p, 0x1000, text[_i][0]);
	trc_pprof_comment(p, text[_i][0]);
	trc_pprof_sample(p, NULL, 0, value, label, 1);
	profile = decoded(p);
	ck_assert_str_eq(string_of(profile, profile->sample[0]->label[0]->key), text[_i][1]);
	ck_assert_str_eq(string_of(profile, profile->sample[0]->label[0]->str), text[_i][1]);
	ck_assert_str_eq(string_of(profile, profile->mapping[0]->filename), text[_i][1]);
	ck_assert_str_eq(string_of(profile, profile->comment[0]), text[_i][1]);
	trc_proto__profile__free_unpacked(profile, NULL);
	trc_pprof_close(p);
}
END_TEST

START_TEST(failed_write_is_an_error)
{
	struct trc_pprof *p = opened();
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(full, 0);
	ck_assert_int_eq(trc_pprof_write(p, full), -ENOSPC);
	close(full);
	ck_assert_int_eq(trc_pprof_write(p, full), -EBADF);
	trc_pprof_close(p);
	trc_pprof_close(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pprof");
	TCase *tests = tcase_create("builder");

	tcase_add_test(tests, header_says_what_the_values_are);
	tcase_add_test(tests, everything_is_kept_once);
	tcase_add_test(tests, samples_are_summed_by_stack_and_labels);
	tcase_add_test(tests, ids_stay_right_when_there_are_many);
	tcase_add_test(tests, inlined_lines_and_names_arrive_in_order);
	tcase_add_loop_test(tests, mapping_claims_only_what_holds_for_all_of_it, 0,
			    sizeof(FLAGS) / sizeof(*FLAGS));
	tcase_add_test(tests, labels_are_text_or_numbers_with_units);
	tcase_add_loop_test(tests, what_is_not_utf8_is_escaped, 0, 6);
	tcase_add_test(tests, failed_write_is_an_error);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
