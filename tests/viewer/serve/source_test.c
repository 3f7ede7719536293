/*
 * source_test.c - what was kept of a large trace is used by whatever is asked for first: then nothing is derived again.  Where it
 * cannot be, trace-view says why.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/format/assemble.h"
#include "viewer/serve/source.h"
#include "tests/suite.h"

static const char text[] =
	"info command \"large\"\n"
	"stack a 0x401000 0x402000\n"
	"thread 1 tid=101 name=\"one\"\n"
	"thread 2 tid=102 creator=1 start=400 name=\"two\"\n"
	"@1000 thread=1 acquire reason=mutex object=0x10010 stack=a\n"
	"@1200 proc=1 thread=2 park reason=mutex object=0x10010 holder=1 stack=a\n"
	"@2000 thread=1 release reason=mutex object=0x10010\n"
	"@2010 thread=1 unlock reason=mutex object=0x10010 waiters=1 at=2000 "
	"held=900 stack=a\n"
	"@2100 proc=1 thread=2 resume reason=mutex object=0x10010\n"
	"@2900 thread=1 log category=\"money\" message=\"paid\"\n"
	"@3000 proc=1 thread=2 log category=\"money\" message=\"paid\"\n";

static char dir[] = "/tmp/trc-source-XXXXXX", trace[64];
/* The trace is large beside so many events. */
static struct trc_view_options options = {.target = trace, .n_events = 1};

static void set_up(void)
{
	char error[256];
	uint8_t *bytes;
	size_t n;
	FILE *out;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(setenv("XDG_CACHE_HOME", dir, 1), 0);
	snprintf(trace, sizeof(trace), "%s/large.trc", dir);
	ck_assert_msg(!trc_assemble(text, &bytes, &n, error), "%s", error);
	out = fopen(trace, "we");
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes, 1, n, out), n);
	ck_assert_int_eq(fclose(out), 0);
	free(bytes);
}

static void clean_up(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static struct trc_view_source *open_source(void)
{
	struct trc_view_source *source;
	struct trc_error error;

	ck_assert_msg(!trc_view_source_open(&source, &options, &error), "%s", error.text);
	return source;
}

static void make_page(struct trc_view_source *source, int64_t to_ns)
{
	const struct trc_window window = {.to_ns = to_ns};
	struct trc_served_page page;
	struct trc_error error = {""};

	ck_assert_msg(!trc_view_source_page(source, &window, false, &page, &error), "%s",
		      error.text);
	close(page.fd);
}

static void ask(struct trc_view_source *source)
{
	const struct trc_query query = {.sql = "SELECT count(*) FROM parks"};
	const struct trc_window all = {0};
	struct trc_served_page answer;
	struct trc_error error = {""};

	ck_assert_msg(!trc_view_source_query(source, 0, &all, &query, &answer, &error), "%s",
		      error.text);
	close(answer.fd);
}

/* Whether this process has what was kept mapped. */
static bool maps_kept(void)
{
	FILE *in = fopen("/proc/self/maps", "re");
	bool maps = false;
	char line[512];

	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in))
		maps = maps || strstr(line, ".model\n");
	fclose(in);
	return maps;
}

static void keep_all(void)
{
	struct trc_view_source *source = open_source();

	ck_assert(!trc_view_source_is_kept(source));
	trc_view_source_prepare(source);
	make_page(source, 0);
	ck_assert(!maps_kept());
	trc_view_source_keep_prepared(source, NULL, NULL);
	ck_assert(maps_kept());
	trc_view_source_close(source);
	ck_assert(!maps_kept());
}

START_TEST(a_part_that_is_asked_for_first_uses_what_was_kept)
{
	struct trc_view_source *source;

	keep_all();
	source = open_source();
	ck_assert(trc_view_source_is_kept(source));
	ck_assert(!maps_kept());
	make_page(source, 1500);
	ck_assert(maps_kept());
	trc_view_source_close(source);
}
END_TEST

START_TEST(a_query_that_is_asked_first_uses_what_was_kept)
{
	struct trc_view_source *source;

	keep_all();
	source = open_source();
	ck_assert(trc_view_source_is_kept(source));
	ask(source);
	ck_assert(maps_kept());
	trc_view_source_close(source);
}
END_TEST

/* What this process has read in all. */
static unsigned long long read_bytes(void)
{
	unsigned long long n = 0;
	FILE *in = fopen("/proc/self/io", "re");

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(fscanf(in, "rchar: %llu", &n), 1);
	fclose(in);
	return n;
}

/* By a start of which a part is asked for. */
static unsigned long long read_by_a_part(void)
{
	struct trc_view_source *source = open_source();
	unsigned long long before = read_bytes(), n;

	ck_assert(trc_view_source_is_kept(source));
	make_page(source, 1500);
	n = read_bytes() - before;
	ck_assert(maps_kept());
	trc_view_source_close(source);
	return n;
}

static unsigned long long model_bytes(void)
{
	char command[128];
	unsigned long long n = 0;
	FILE *out;

	snprintf(command, sizeof(command), "cat %s/trc/*.model | wc -c", dir);
	out = popen(command, "re");
	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(fscanf(out, "%llu", &n), 1);
	ck_assert_int_eq(pclose(out), 0);
	return n;
}

/* Not by each start: of a large trace that takes seconds. */
START_TEST(the_checksum_of_what_was_kept_is_computed_once)
{
	unsigned long long with, without, after;
	char command[128];

	keep_all();
	without = read_by_a_part();
	snprintf(command, sizeof(command), "rm %s/trc/*.checked", dir);
	ck_assert_int_eq(system(command), 0);
	with = read_by_a_part();
	after = read_by_a_part();
	ck_assert_uint_gt(model_bytes(), 8192);
	ck_assert_uint_gt(with, without + model_bytes() / 2);
	ck_assert_uint_gt(with, after + model_bytes() / 2);
}
END_TEST

/* It does not wait for the checksum of what parts need. */
START_TEST(the_page_of_the_whole_uses_none_of_it)
{
	struct trc_view_source *source;

	keep_all();
	source = open_source();
	ck_assert(trc_view_source_is_kept(source));
	make_page(source, 0);
	ck_assert(!maps_kept());
	trc_view_source_prepare(source);
	ck_assert(maps_kept());
	trc_view_source_close(source);
}
END_TEST

/* What was said on stderr since the test began. */
static void said(const char *wanted)
{
	char path[64], line[1024];
	bool is_said = false;
	FILE *in;

	fflush(stderr);
	snprintf(path, sizeof(path), "%s/said", dir);
	in = fopen(path, "re");
	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in)) {
		ck_assert_msg(wanted && strstr(line, wanted), "said: %s", line);
		is_said = true;
	}
	fclose(in);
	ck_assert_msg(is_said == (wanted != NULL), "nothing of \"%s\"", wanted);
}

static void listen_to_stderr(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/said", dir);
	ck_assert_ptr_nonnull(freopen(path, "we", stderr));
}

/* Of the file that was kept. */
static void damage(void)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "cd %s/trc && printf x | dd of=\"$(ls *.model)\" bs=1 seek=5000 conv=notrunc "
		 "status=none",
		 dir);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(why_what_was_kept_is_not_used_is_said)
{
	struct trc_view_source *source;

	listen_to_stderr();
	keep_all();
	said(NULL);
	if (_i)
		/* As who writes it does. */
		ck_assert_int_eq(
			utimensat(AT_FDCWD, trace, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
	else
		damage();
	source = open_source();
	make_page(source, 1500);
	ck_assert(!maps_kept());
	said(_i ? "the trace has changed" : "is damaged");
	trc_view_source_close(source);
}
END_TEST

START_TEST(why_nothing_is_kept_is_said)
{
	struct trc_view_source *source;
	char path[64];
	FILE *out;

	listen_to_stderr();
	snprintf(path, sizeof(path), "%s/trc", dir);
	out = fopen(path, "we"); /* in the place of the directory */
	ck_assert_ptr_nonnull(out);
	fclose(out);
	source = open_source();
	trc_view_source_prepare(source);
	said(NULL);
	trc_view_source_keep_prepared(source, NULL, NULL);
	said("its directory, trc in XDG_CACHE_HOME or ~/.cache, cannot be opened");
	trc_view_source_close(source);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *tests = tcase_create("source");

	tcase_add_checked_fixture(tests, set_up, clean_up);
	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, a_part_that_is_asked_for_first_uses_what_was_kept);
	tcase_add_test(tests, a_query_that_is_asked_first_uses_what_was_kept);
	tcase_add_test(tests, the_checksum_of_what_was_kept_is_computed_once);
	tcase_add_test(tests, the_page_of_the_whole_uses_none_of_it);
	tcase_add_loop_test(tests, why_what_was_kept_is_not_used_is_said, 0, 2);
	tcase_add_test(tests, why_nothing_is_kept_is_said);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
