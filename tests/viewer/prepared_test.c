/*
 * prepared_test.c - what was derived from a trace, and kept in a file: pages that are made of the file are those that are made of the
 * trace, byte for byte, wherever the file is mapped; a file that is damaged, or of something else, is not used.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/model/selection.h"
#include "tests/format/assemble.h"
#include "viewer/html.h"
#include "viewer/prepared.h"
#include "viewer/sqlbox.h"
#include "tests/suite.h"

static const char key[] = "this trace, this program\n";

/* Rows of nearly all kinds, which the texts in files have not, or not together. */
static const char rich[] =
	"info command \"rich\"\n"
	"module lib path=\"/nowhere/lib.so\" start=0x400000 limit=0x500000\n"
	"stack a 0x401000 0x402000\n"
	"stack b 0x403000 0x402000\n"
	"labels acme size=512:bytes tenant=\"acme\"\n"
	"labels other tenant=\"other\"\n"
	"thread 1 tid=101 name=\"one\"\n"
	"thread 2 tid=102 creator=1 start=400 name=\"two\"\n"
	"thread 3 tid=103 creator=1 start=400 name=\"three\"\n"
	"sample_event 1 name=\"cpu-clock\" how=timer period=1000 note=\"noted\"\n"
	"@400 thread=1 labels labels=acme\n"
	"@500 proc=0 source=kernel thread=1 proc_start\n"
	"@600 thread=1 task_begin task=1 type=\"request\"\n"
	"@700 thread=1 region_begin task=1 type=\"parse\"\n"
	"@800 thread=1 alloc sample=1 address=0x10000 bytes=4096 period=512 stack=a\n"
	"@900 thread=1 alloc sample=2 address=0x20000 bytes=64 period=512 stack=b\n"
	"@1000 thread=1 counter name=\"depth\" value=8\n"
	"@1100 thread=1 acquire reason=mutex object=0x10010 stack=a\n"
	"@1200 proc=1 thread=2 park reason=mutex object=0x10010 holder=1 stack=b\n"
	"@1250 proc=1 source=kernel thread=2 proc_stop\n"
	"@1300 proc=2 thread=3 park reason=mutex object=0x10010 holder=1 stack=b\n"
	"@1500 thread=1 sample event=1 value=1000 period=1000 stack=a\n"
	"@1600 proc=0 source=kernel thread=1 proc_stop preempted=1\n"
	"@1800 proc=0 source=kernel thread=1 proc_start\n"
	"@2000 thread=1 release reason=mutex object=0x10010\n"
	"@2010 thread=1 unlock reason=mutex object=0x10010 waiters=2 at=2000 held=900 stack=a\n"
	"@2020 proc=1 source=kernel thread=2 proc_start\n"
	"@2100 proc=1 thread=2 resume reason=mutex object=0x10010\n"
	"@2500 proc=1 thread=2 unlock reason=mutex object=0x10010 waiters=1 at=2490 held=390 stack=b\n"
	"@2600 proc=2 thread=3 resume reason=mutex object=0x10010\n"
	"@2700 proc=2 thread=3 unlock reason=mutex object=0x10010 waiters=1 at=2690 held=90 stack=b\n"
	"@2800 thread=1 labels labels=other before=acme\n"
	"@2900 thread=1 log task=1 category=\"money\" message=\"paid\"\n"
	"@3000 thread=1 free sample=2 address=0x20000 bytes=64 period=512\n"
	"@3100 thread=1 region_end\n"
	"@3200 thread=1 task_end task=1\n"
	"@3300 proc=1 thread=2 wait reason=read object=5 since=2900\n"
	"@3400 proc=2 thread=3 samples_lost lost_samples=3 event=1\n"
	"@3500 proc=1 thread=2 region_begin type=\"open\"\n"
	"@3600 thread=1 signal signal=11 fatal=1 stack=a\n"
	"@3700 proc=2 gap lost_events=5 since=3600 cause=ring_full\n"
	"@3800 proc=2 thread=3 park reason=cond object=0x30000 stack=a\n"
	"@3900 proc=0 source=kernel thread=1 proc_stop preempted=0\n";

static const char *const files[] = {"contexts.txt", "deadlock.txt", "fibers.txt", "hostile.txt",
				    "nested.txt"};
enum { N_TEXTS = 1 + sizeof(files) / sizeof(*files) };

static char trace[64], image[64];

static char *read_file(const char *path, size_t *n_bytes)
{
	FILE *in = fopen(path, "re");
	struct stat st;
	char *bytes;

	ck_assert_msg(in && !fstat(fileno(in), &st), "%s: %s", path, strerror(errno));
	*n_bytes = (size_t)st.st_size;
	bytes = calloc(*n_bytes + 1, 1);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_eq(fread(bytes, 1, *n_bytes, in), *n_bytes);
	fclose(in);
	return bytes;
}

static void write_file(const char *path, const void *bytes, size_t n_bytes)
{
	FILE *out = fopen(path, "we");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes, 1, n_bytes, out), n_bytes);
	ck_assert_int_eq(fclose(out), 0);
}

static void assemble(int number)
{
	char path[4096], *text = NULL;
	uint8_t *bytes;
	char error[256];
	size_t n;

	if (number) {
		snprintf(path, sizeof(path), "%s/tests/viewer/%s", getenv("top_srcdir"),
			 files[number - 1]);
		text = read_file(path, &n);
	}
	ck_assert_msg(!trc_assemble(text ? text : rich, &bytes, &n, error), "%s", error);
	write_file(trace, bytes, n);
	free(bytes);
	free(text);
}

static void set_up(void)
{
	snprintf(trace, sizeof(trace), "prepared-%d.trc", (int)getpid());
	snprintf(image, sizeof(image), "prepared-%d.image", (int)getpid());
}

static void clean_up(void)
{
	unlink(trace);
	unlink(image);
}

static struct trc_model *open_model(void)
{
	struct trc_error error;
	struct trc_model *m;

	ck_assert_msg(!trc_model_open(&m, trace, &error), "%s", error.text);
	trc_model_keep(m);
	return m;
}

static struct trc_model *prepare(void)
{
	struct trc_model *m = open_model();
	struct trc_error error;

	ck_assert_msg(!trc_html_prepare(m, &error), "%s", error.text);
	return m;
}

static int open_image(int flags)
{
	int fd = open(image, flags | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void write_image(struct trc_model *m)
{
	const struct trc_image_writing writing = {.key = key, .most_bytes = UINT64_MAX};
	int fd = open_image(O_RDWR | O_CREAT | O_TRUNC);

	ck_assert_int_eq(trc_prepared_write(m, fd, &writing), 0);
	close(fd);
}

/* NULL: it is not used. */
static struct trc_model *map_image(const char *wanted)
{
	struct trc_model *m = open_model();
	int fd = open_image(O_RDONLY),
	    err = trc_prepared_map(m, fd, wanted, &(struct trc_image_pause){0});

	close(fd);
	if (!err)
		return m;
	ck_assert_int_eq(err, -ENOENT);
	trc_model_close(m);
	return NULL;
}

/* The page of this window, of all if it is NULL. */
static char *page_of(struct trc_model *m, const char *window, size_t *n)
{
	const struct trc_html_options options = {.sql = trc_sqlbox_write};
	struct trc_selection selection = {0};
	struct trc_error error = {""};
	char *page = NULL;
	FILE *out = open_memstream(&page, n);

	ck_assert_ptr_nonnull(out);
	if (window) {
		ck_assert_int_eq(trc_selection_ask_window(&selection, window, &error), 0);
		trc_model_select(m, &selection);
		ck_assert_msg(!trc_selection_find(&selection, m, &error), "%s", error.text);
	}
	ck_assert_msg(!trc_html_print(m, out, &options, &error), "%s", error.text);
	ck_assert_int_eq(fclose(out), 0);
	trc_model_select(m, NULL);
	trc_selection_free(&selection);
	return page;
}

static void are_same_pages(struct trc_model *a, struct trc_model *b, const char *what)
{
	static const char *const windows[] = {NULL, "1us..3us", "2us..2500ns", NULL};

	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		size_t n_a, n_b;
		char *of_a = page_of(a, windows[i], &n_a), *of_b = page_of(b, windows[i], &n_b);

		ck_assert_msg(n_a == n_b && !memcmp(of_a, of_b, n_a), "%s: another page of %s",
			      what, windows[i] ? windows[i] : "all");
		free(of_a);
		free(of_b);
	}
}

START_TEST(pages_are_those_of_the_trace)
{
	struct trc_model *m, *mapped;

	assemble(_i);
	m = prepare();
	write_image(m);
	mapped = map_image(key);
	ck_assert_ptr_nonnull(mapped);
	are_same_pages(m, mapped, _i ? files[_i - 1] : "rich");
	trc_model_close(m); /* nothing is the other one's */
	m = prepare();
	are_same_pages(m, mapped, "the file alone");
	trc_model_close(m);
	trc_model_close(mapped);
}
END_TEST

/* image:G1: two models map one file, and only one of them where it wants to be. */
START_TEST(pointers_are_moved)
{
	struct trc_model *m, *first, *second;

	assemble(_i);
	m = prepare();
	write_image(m);
	first = map_image(key);
	second = map_image(key);
	ck_assert(first && second);
	ck_assert_ptr_ne(trc_model_threads(first, &(size_t){0}),
			 trc_model_threads(second, &(size_t){0}));
	are_same_pages(m, second, "moved");
	trc_model_close(first);
	are_same_pages(m, second, "moved, the other gone");
	trc_model_close(second);
	trc_model_close(m);
}
END_TEST

/* What is mapped is not derived again. */
START_TEST(rows_are_those_of_the_file)
{
	static const unsigned int all =
		TRC_PART_ALL | TRC_PART_OBJECTS | TRC_PART_PREEMPTED | TRC_PART_LATENCIES;
	struct trc_model *m, *mapped;
	struct trc_error error;
	const void *parks, *logs;
	size_t n;

	assemble(0);
	m = prepare();
	write_image(m);
	mapped = map_image(key);
	ck_assert_ptr_nonnull(mapped);
	parks = trc_model_parks(mapped, &n);
	ck_assert_uint_eq(n, 4);
	logs = trc_model_logs(mapped, &n);
	ck_assert(trc_image_has(mapped, parks) && trc_image_has(mapped, logs));
	ck_assert_int_eq(trc_model_need(mapped, all, &error), 0);
	ck_assert_ptr_eq(trc_model_parks(mapped, &n), parks);
	ck_assert_ptr_eq(trc_model_logs(mapped, &n), logs);
	trc_model_close(mapped);
	trc_model_close(m);
}
END_TEST

/* G2: whichever byte it is. */
START_TEST(a_damaged_file_is_not_used)
{
	struct trc_model *m;
	size_t n;
	char *bytes;

	assemble(0);
	m = prepare();
	write_image(m);
	trc_model_close(m);
	bytes = read_file(image, &n);
	for (size_t i = 0; i < 200; i++) {
		size_t at = i < 100 ? i : i * (n - 1) / 199;

		bytes[at] = (char)(bytes[at] ^ 4);
		write_file(image, bytes, n);
		/* What lies between the head and the page's end says nothing. */
		if (at < 16 + 4 * 8 || at >= 4096)
			ck_assert_msg(!map_image(key), "byte %zu", at);
		bytes[at] = (char)(bytes[at] ^ 4);
	}
	for (size_t shorter = 0; shorter < 3; shorter++) {
		write_file(image, bytes, shorter == 2 ? 0 : n - 1 - shorter * n / 2);
		ck_assert_ptr_null(map_image(key));
	}
	write_file(image, bytes, n);
	ck_assert_ptr_null(map_image("another trace, this program\n"));
	ck_assert_ptr_null(map_image(""));
	m = map_image(key);
	ck_assert_ptr_nonnull(m);
	trc_model_close(m);
	free(bytes);
}
END_TEST

struct asked {
	struct trc_model *m;
	char *page;
	size_t n;
	bool stops;
};

static int make_page_meanwhile(void *context)
{
	struct asked *asked = context;

	free(asked->page);
	asked->page = page_of(asked->m, "1us..3us", &asked->n);
	return asked->stops;
}

/* Whether it is written to its end or not, the model goes on. */
START_TEST(pages_are_made_meanwhile)
{
	struct asked asked = {.stops = _i};
	const struct trc_image_writing writing = {
		.key = key, .most_bytes = UINT64_MAX, .pause = {make_page_meanwhile, &asked}};
	struct trc_model *m, *mapped;
	size_t n;
	char *page;
	int fd = open_image(O_RDWR | O_CREAT | O_TRUNC);

	assemble(0);
	m = asked.m = prepare();
	page = page_of(m, "1us..3us", &n);
	ck_assert_int_eq(trc_prepared_write(m, fd, &writing), _i ? -ECANCELED : 0);
	close(fd);
	ck_assert(asked.n == n && !memcmp(asked.page, page, n));
	mapped = map_image(key);
	ck_assert(_i ? !mapped : mapped != NULL);
	if (mapped)
		are_same_pages(m, mapped, "written meanwhile");
	write_image(m);
	trc_model_close(mapped);
	trc_model_close(m);
	free(asked.page);
	free(page);
}
END_TEST

static int stop(void *n_asked)
{
	++*(int *)n_asked;
	return 1;
}

/* Three tasks one after another, each with a region and a wait; the part has the second one. */
static const char tasks[] = "stack a 0x401000\n"
			    "thread 1 tid=101 name=\"one\"\n"
			    "@100 thread=1 task_begin task=30 type=\"request\"\n"
			    "@110 thread=1 region_begin task=30 type=\"parse\"\n"
			    "@190 thread=1 region_end\n"
			    "@200 thread=1 task_end task=30\n"
			    "@400 thread=1 task_begin task=10 type=\"request\"\n"
			    "@410 thread=1 region_begin task=10 type=\"parse\"\n"
			    "@450 thread=1 wait reason=read object=5 since=420\n"
			    "@490 thread=1 region_end\n"
			    "@500 thread=1 task_end task=10\n"
			    "@700 thread=1 task_begin task=20 type=\"request\"\n"
			    "@710 thread=1 region_begin task=20 type=\"parse\"\n"
			    "@750 thread=1 wait reason=read object=5 since=720\n"
			    "@790 thread=1 region_end\n"
			    "@800 thread=1 task_end task=20\n";

/* sqlbox:B2.  Of a model that keeps its lists, and of one that does not: a page of the part has the rows of the part's tasks, and says how
 * many it lacks. */
START_TEST(a_part_has_the_times_of_its_tasks)
{
	static const char *const has[] = {"[\"task_spans\",1,",
					  "[\"task_times\",2,",
					  "[\"region_times\",2,",
					  "[\"task_spans\",2,\"the others lie outside of ",
					  "[\"task_times\",3,\"the others lie outside of ",
					  "[\"region_times\",3,\"the others lie outside of "};
	static const char *const whole[] = {"[\"task_spans\",3,", "[\"task_times\",5,",
					    "[\"region_times\",5,"};
	struct trc_error error;
	struct trc_model *m;
	uint8_t *bytes;
	char text[256], *page;
	size_t n;

	ck_assert_msg(!trc_assemble(tasks, &bytes, &n, text), "%s", text);
	write_file(trace, bytes, n);
	free(bytes);
	if (_i)
		m = prepare();
	else
		ck_assert_msg(!trc_model_open(&m, trace, &error), "%s", error.text);
	page = page_of(m, "350ns..600ns", &n);
	for (size_t i = 0; i < sizeof(has) / sizeof(*has); i++)
		ck_assert_msg(strstr(page, has[i]), "%s", has[i]);
	free(page);
	page = page_of(m, NULL, &n);
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		ck_assert_msg(strstr(page, whole[i]), "%s", whole[i]);
	free(page);
	trc_model_close(m);
}
END_TEST

/* Nothing is used of which the checksum is not known. */
START_TEST(looking_at_the_checksum_is_given_up)
{
	struct trc_model *m;
	int fd, n_asked = 0;

	assemble(0);
	m = prepare();
	write_image(m);
	trc_model_close(m);
	m = open_model();
	fd = open_image(O_RDONLY);
	ck_assert_int_eq(trc_prepared_map(m, fd, key, &(struct trc_image_pause){stop, &n_asked}),
			 -ENOENT);
	ck_assert_int_eq(n_asked, 1);
	close(fd);
	trc_model_close(m);
}
END_TEST

/* Who waits is asked for before anything else is made. */
START_TEST(writing_is_given_up_at_once)
{
	int fd = open_image(O_RDWR | O_CREAT | O_TRUNC), n_asked = 0;
	const struct trc_image_writing writing = {
		.key = key, .most_bytes = UINT64_MAX, .pause = {stop, &n_asked}};
	struct trc_model *m;
	struct stat st;

	assemble(0);
	m = prepare();
	ck_assert_int_eq(trc_prepared_write(m, fd, &writing), -ECANCELED);
	ck_assert_int_eq(n_asked, 1);
	ck_assert_ptr_null(trc_model_kept(m, TRC_KEPT_TASK_SPANS)->thing);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq((int)st.st_size, 0);
	close(fd);
	trc_model_close(m);
}
END_TEST

static int count(void *n_asked)
{
	++*(int *)n_asked;
	return 0;
}

/* Nobody waits for more than some thousand tasks. */
START_TEST(the_times_of_many_tasks_are_kept)
{
	enum { TASKS = 300001, LINE_BYTES = 64, AT_ONCE = 4096 };
	static const enum trc_kept_kind kinds[] = {TRC_KEPT_TASK_SPANS, TRC_KEPT_TASK_TIMES,
						   TRC_KEPT_REGION_TIMES};
	int fd = open_image(O_RDWR | O_CREAT | O_TRUNC), n_asked = 0;
	const struct trc_image_writing writing = {
		.key = key, .most_bytes = UINT64_MAX, .pause = {count, &n_asked}};
	char *text = malloc((size_t)TASKS * LINE_BYTES), *at = text, error[256];
	struct trc_model *m;
	uint8_t *bytes;
	size_t n;

	ck_assert_ptr_nonnull(text);
	at += sprintf(at, "thread 1 tid=101 name=\"one\"\n");
	for (int i = 1; i <= TASKS; i++)
		at += sprintf(at, "@%d thread=1 task_begin task=%d type=\"request\"\n", i * 10, i);
	ck_assert_msg(!trc_assemble(text, &bytes, &n, error), "%s", error);
	write_file(trace, bytes, n);
	free(bytes);
	free(text);
	m = prepare();
	ck_assert_int_eq(trc_prepared_write(m, fd, &writing), 0);
	ck_assert_int_ge(n_asked, 2 * TASKS / AT_ONCE);
	close(fd);
	trc_model_close(m);
	m = map_image(key);
	ck_assert_ptr_nonnull(m);
	for (size_t i = 0; i < 3; i++)
		ck_assert_ptr_nonnull(trc_model_kept(m, kinds[i])->thing);
	trc_model_close(m);
}
END_TEST

START_TEST(a_file_that_would_be_too_large_is_not_begun)
{
	struct trc_image_writing writing = {.key = key, .most_bytes = 1000};
	struct trc_model *m;
	struct stat st;
	int fd = open_image(O_RDWR | O_CREAT | O_TRUNC);

	assemble(0);
	m = prepare();
	ck_assert_int_eq(trc_prepared_write(m, fd, &writing), -EFBIG);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq((int)st.st_size, 0);
	close(fd);
	trc_model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("prepared");
	TCase *tests = tcase_create("prepared");

	tcase_add_checked_fixture(tests, set_up, clean_up);
	tcase_set_timeout(tests, 300);
	tcase_add_loop_test(tests, pages_are_those_of_the_trace, 0, N_TEXTS);
	tcase_add_loop_test(tests, pointers_are_moved, 0, N_TEXTS);
	tcase_add_test(tests, rows_are_those_of_the_file);
	tcase_add_test(tests, a_damaged_file_is_not_used);
	tcase_add_loop_test(tests, pages_are_made_meanwhile, 0, 2);
	tcase_add_loop_test(tests, a_part_has_the_times_of_its_tasks, 0, 2);
	tcase_add_test(tests, looking_at_the_checksum_is_given_up);
	tcase_add_test(tests, writing_is_given_up_at_once);
	tcase_add_test(tests, the_times_of_many_tasks_are_kept);
	tcase_add_test(tests, a_file_that_would_be_too_large_is_not_begun);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
