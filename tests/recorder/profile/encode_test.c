/* encode_test.c - what libtrc-profile.so makes of samples (recorder/profile/encode.h). */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/profile/encode.h"

extern const struct trc_encode_module trc_encode_module;
static const struct trc_encode_module *const M = &trc_encode_module;

/* What samples lie in: this very program. */
static struct trc_module_list list;
static struct trc_names *names;

__attribute__((noinline)) static int inner_function(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}
__attribute__((noinline)) static int outer_function(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 7;
}

/* An address within, as if a call there returned to it. */
static uint64_t within(int (*function)(int))
{
	return (uint64_t)(uintptr_t)function + 2;
}

static void setup(void)
{
	ck_assert_int_eq(inner_function(1) + outer_function(1), 10);
	ck_assert_int_eq(trc_module_list(&list, false), 0);
	ck_assert_uint_gt(list.n_modules, 1);
	ck_assert_ptr_nonnull(strstr(list.module[0].path, "encode_test"));
	list.module[0].first_epoch = 2;
	ck_assert_int_eq(M->names_open(&names, list.module, list.n_modules), 0);
}

static void teardown(void)
{
	M->names_close(names);
	free(list.module);
}

/* ---- files that change ------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	static char bytes[65536];
	size_t n;

	ck_assert_ptr_nonnull(in);
	ck_assert_ptr_nonnull(out);
	while ((n = fread(bytes, 1, sizeof(bytes), in)))
		ck_assert_uint_eq(fwrite(bytes, 1, n, out), n);
	fclose(in);
	ck_assert_int_eq(fclose(out), 0);
}

/* Pages that are cut off from a file that is mapped are a SIGBUS for the whole program. */
START_TEST(a_file_that_is_cut_short_while_it_is_read)
{
	char path[] = "/tmp/trc-encode-XXXXXX";
	struct trc_module_entry copy = list.module[0];
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	struct trc_names *of_copy;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	copy_file("/proc/self/exe", path);
	copy.path = path;
	copy.first_epoch = 0;
	ck_assert_int_eq(M->names_open(&of_copy, &copy, 1), 0);
	ck_assert_uint_ge(M->names_find(of_copy, 0, within(inner_function), symbol, NULL), 1);
	ck_assert_str_eq(symbol[0].function, "inner_function");
	ck_assert_int_eq(truncate(path, 4096), 0);
	/* Of most there are no lines any more; which, is the libraries' business. */
	for (uint64_t at = copy.start; at < copy.limit; at += 64)
		M->names_find(of_copy, 0, at + 1, symbol, NULL);
	M->names_close(of_copy);
	unlink(path);
}
END_TEST

/* ---- what is written ------------------------------------------------------------------- */

struct output {
	char *bytes;
	size_t n_bytes;
	int n_calls, fail;
};

static int take(void *context, const void *bytes, size_t n_bytes)
{
	struct output *o = context;

	o->n_calls++;
	if (o->fail)
		return o->fail;
	o->bytes = realloc(o->bytes, o->n_bytes + n_bytes + 1);
	ck_assert_ptr_nonnull(o->bytes);
	memcpy(o->bytes + o->n_bytes, bytes, n_bytes);
	o->n_bytes += n_bytes;
	o->bytes[o->n_bytes] = '\0';
	return 0;
}

static const struct trc_pprof_label LABELS[] = {
	{.key = "bytes", .number = 7, .unit = "bytes"},
	{.key = "tenant", .text = "a\"b"},
};

/* Two of one stack, one of another, which is more. */
static void add_samples(struct trc_encoder *e)
{
	const uint64_t one[] = {within(inner_function), within(outer_function)};
	const uint64_t other[] = {within(outer_function)};
	const int64_t small[] = {1, 10, 1, 10}, large[] = {5, 500, 5, 500};
	struct trc_encode_sample s = {.frame = one,
				      .n_frames = 2,
				      .epoch = 3,
				      .value = small,
				      .label = LABELS,
				      .n_labels = 2};

	M->sample(e, &s);
	M->sample(e, &s);
	s = (struct trc_encode_sample){.frame = other, .n_frames = 1, .epoch = 3, .value = large};
	M->sample(e, &s);
}

static struct trc_encode_info info_of(enum trc_encode_style style, uint32_t n_types)
{
	struct trc_encode_info info = {.names = names,
				       .text = true,
				       .style = style,
				       .name = "things",
				       .type = {{"contentions", "count"},
						{"delay", "nanoseconds"},
						{"third", "count"},
						{"fourth", "bytes"}},
				       .n_types = n_types,
				       .period_type = {"contentions", "count"},
				       .period = 9};

	return info;
}

static char *written(const struct trc_encode_info *info, size_t *n_bytes)
{
	struct output o = {.bytes = NULL};
	struct trc_encoder *e;

	ck_assert_int_eq(M->open(&e, info), 0);
	add_samples(e);
	ck_assert_int_eq(M->write(e, take, &o), 0);
	M->close(e);
	if (n_bytes)
		*n_bytes = o.n_bytes;
	return o.bytes;
}

/* ---- text ------------------------------------------------------------------------------ */

static const struct style_row {
	const char *what;
	enum trc_encode_style style;
	uint32_t n_types;
	const char *head, *large, *small;
} STYLES[] = {
	{"a style of any values", TRC_STYLE_VALUES, 2,
	 "things: contentions/count delay/nanoseconds\n", "\n5 500 @ 0x", "\n2 20 @ 0x"},
	{"counts", TRC_STYLE_COUNTS, 1, "things profile: total 7\n", "\n5 @ 0x", "\n2 @ 0x"},
	{"contention", TRC_STYLE_CONTENTION, 2, "--- contention:\ncycles/second=1000000000\n",
	 "\n500 5 @ 0x", "\n20 2 @ 0x"},
	{"mutex says its period", TRC_STYLE_MUTEX, 2,
	 "--- mutex:\ncycles/second=1000000000\nsampling period=9\n", "\n500 5 @ 0x",
	 "\n20 2 @ 0x"},
	{"the heap", TRC_STYLE_HEAP, 4, "heap profile: 7: 520 [7: 520] @ heap/2\n",
	 "\n5: 500 [5: 500] @ 0x", "\n2: 20 [2: 20] @ 0x"},
};

START_TEST(text_is_in_its_style)
{
	const struct style_row *row = &STYLES[_i];
	struct trc_encode_info info = info_of(row->style, row->n_types);
	char *text = written(&info, NULL);
	const char *large = strstr(text, row->large), *small = strstr(text, row->small);

	ck_assert_msg(!strncmp(text, row->head, strlen(row->head)), "%s: %s", row->what, text);
	ck_assert_msg(large && small && large < small, "%s: largest first: %s", row->what, text);
	ck_assert_msg(strstr(small, "# labels: {\"bytes\": 7 bytes, \"tenant\": \"a\\\"b\"}\n"),
		      "%s: labels: %s", row->what, text);
	ck_assert_msg(strstr(small, "\tinner_function+0x2"), "%s: a name: %s", row->what, text);
	ck_assert_msg(strstr(small, "outer_function"), "%s: its caller: %s", row->what, text);
	free(text);
}
END_TEST

/* Between two profiles of one thread an object may have been closed. */
START_TEST(a_stack_is_the_same_as_long_as_its_modules_are)
{
	const struct trc_encode_info info = info_of(TRC_STYLE_COUNTS, 1);
	const uint64_t frame = within(inner_function);
	const struct {
		uint32_t epoch;
		int64_t value;
	} at[] = {{1, 100}, {2, -10}, {5, 30}, {7, 1}, {8, 2}}; /* there from 2 to 6 */
	struct output o = {.bytes = NULL};
	struct trc_encoder *e;

	list.module[0].last_epoch = 6;
	ck_assert_int_eq(M->open(&e, &info), 0);
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		M->sample(e, &(struct trc_encode_sample){.frame = &frame,
							 .n_frames = 1,
							 .epoch = at[i].epoch,
							 .value = &at[i].value});
	ck_assert_int_eq(M->write(e, take, &o), 0);
	M->close(e);
	ck_assert_ptr_nonnull(strstr(o.bytes, "\n100 @ 0x"));
	ck_assert_ptr_nonnull(strstr(o.bytes, "\n20 @ 0x"));
	ck_assert_ptr_nonnull(strstr(o.bytes, "\n3 @ 0x"));
	ck_assert_msg(strstr(o.bytes, "inner_function") > strstr(o.bytes, "\n20 @"), "%s", o.bytes);
	ck_assert_msg(!strstr(strstr(o.bytes, "\n3 @"), "inner_function"), "%s", o.bytes);
	free(o.bytes);
}
END_TEST

/* Of what is no place there are words, apart from what has no stack. */
START_TEST(words_stand_for_frames)
{
	const struct trc_encode_info info = info_of(TRC_STYLE_VALUES, 2);
	const int64_t some[] = {1, 10}, more[] = {0, 50};
	struct output o = {.bytes = NULL};
	struct trc_encoder *e;

	ck_assert_int_eq(M->open(&e, &info), 0);
	M->sample(e, &(struct trc_encode_sample){.value = some});
	M->sample(e, &(struct trc_encode_sample){.value = more, .words = "(not sampled)"});
	M->sample(e, &(struct trc_encode_sample){.value = some});
	ck_assert_int_eq(M->write(e, take, &o), 0);
	M->close(e);
	ck_assert_ptr_nonnull(strstr(o.bytes, "\n0 50 @\n#\t(not sampled)\n\n2 20 @\n\n"));
	free(o.bytes);
}
END_TEST

START_TEST(comments_stand_at_the_end)
{
	const char *comment[] = {"one", "two"};
	struct trc_encode_info info = info_of(TRC_STYLE_COUNTS, 1);
	char *text;

	info.comment = comment;
	info.n_comments = 2;
	text = written(&info, NULL);
	ck_assert_str_eq(strstr(text, "# one"), "# one\n# two\n");
	free(text);
}
END_TEST

/* ---- names ------------------------------------------------------------------------------ */

START_TEST(an_address_has_a_name_in_the_epochs_of_its_module)
{
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	const struct trc_module_entry *m;
	uint64_t address = within(inner_function);

	for (int twice = 0; twice < 2; twice++) {
		ck_assert_uint_eq(M->names_find(names, 3, address, symbol, &m), 1);
		ck_assert_str_eq(symbol[0].function, "inner_function");
		ck_assert_ptr_eq(m, list.module);
	}
	ck_assert_uint_eq(M->names_find(names, 0, address, symbol, NULL), 1);
	ck_assert_uint_eq(M->names_find(names, 1, address, symbol, &m), 0);
	ck_assert_ptr_null(m);
	ck_assert_uint_eq(M->names_find(names, 3, 0, symbol, &m), 0);
	ck_assert_uint_eq(M->names_find(names, 3, UINT64_C(5), symbol, &m), 0);
}
END_TEST

/* ---- pprof ----------------------------------------------------------------------------- */

START_TEST(pprof_is_compressed_and_complete_without_samples)
{
	struct trc_encode_info info = info_of(TRC_STYLE_VALUES, 2);
	struct output o = {.bytes = NULL};
	struct trc_encoder *e;

	info.text = false;
	ck_assert_int_eq(M->open(&e, &info), 0);
	ck_assert_int_eq(M->write(e, take, &o), 0);
	M->close(e);
	ck_assert_uint_gt(o.n_bytes, 20);
	ck_assert_mem_eq(o.bytes, "\x1f\x8b", 2);
	free(o.bytes);
}
END_TEST

START_TEST(a_failed_sink_is_not_called_again)
{
	struct trc_encode_info info = info_of(TRC_STYLE_COUNTS, 1);
	struct trc_encoder *e;

	for (int text = 0; text < 2; text++) {
		struct output o = {.fail = -28};

		info.text = text;
		ck_assert_int_eq(M->open(&e, &info), 0);
		add_samples(e);
		ck_assert_int_eq(M->write(e, take, &o), -28);
		ck_assert_int_eq(o.n_calls, 1);
		M->close(e);
	}
}
END_TEST

/* Wanted for as many names as *left says. */
static bool is_wanted(void *left)
{
	return (*(int *)left)-- > 0;
}

/* Whoever asked has gone: what is left is not looked for, and nothing is written. */
START_TEST(names_that_nobody_wants_any_more)
{
	const int64_t one = 1;
	const struct trc_encode_info info = {
		.names = names,
		.name = "waits",
		.style = TRC_STYLE_COUNTS,
		.text = _i,
		.type = {{"contentions", "count"}},
		.n_types = 1,
		.period_type = {"contentions", "count"},
	};
	int left = 1;
	const struct trc_encode_wanted wanted = {is_wanted, &left};
	uint64_t frame[] = {within(inner_function), within(outer_function)};
	struct trc_encode_sample sample = {
		.frame = frame, .n_frames = 2, .epoch = 3, .value = &one};
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	struct trc_encoder *e;
	struct output o = {0};

	M->names_while(names, &wanted);
	ck_assert_int_eq(M->open(&e, &info), 0);
	M->sample(e, &sample);
	ck_assert_int_eq(M->write(e, take, &o), -ECANCELED);
	ck_assert_int_eq(o.n_calls, 0);
	ck_assert_int_eq(left, -1); /* it is not asked again */
	ck_assert_uint_eq(M->names_find(names, 3, frame[1], symbol, NULL), 0);
	M->close(e);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode");
	TCase *tc = tcase_create("encode");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, text_is_in_its_style, 0, sizeof(STYLES) / sizeof(*STYLES));
	tcase_add_test(tc, a_file_that_is_cut_short_while_it_is_read);
	tcase_add_loop_test(tc, names_that_nobody_wants_any_more, 0, 2);
	tcase_add_test(tc, a_stack_is_the_same_as_long_as_its_modules_are);
	tcase_add_test(tc, comments_stand_at_the_end);
	tcase_add_test(tc, words_stand_for_frames);
	tcase_add_test(tc, an_address_has_a_name_in_the_epochs_of_its_module);
	tcase_add_test(tc, pprof_is_compressed_and_complete_without_samples);
	tcase_add_test(tc, a_failed_sink_is_not_called_again);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
