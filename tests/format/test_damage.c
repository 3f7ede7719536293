/* test_damage.c - files cut short, with flipped bits, foreign; and no memory (reader:D1,
 * reader:D2). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "format/wire.h"
#include "common.h"
#include "tests/turns.h"

/* Makes the n-th allocation from now on fail; 0 = none.  See the --wrap options in local.mk. */
static size_t fail_at, allocations;

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t n_bytes);
void *__real_realloc(void *p, size_t n_bytes);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t n_bytes);
void *__wrap_realloc(void *p, size_t n_bytes);

static int fails(void)
{
	return fail_at && ++allocations == fail_at;
}

void *__wrap_malloc(size_t n_bytes)
{
	return fails() ? NULL : __real_malloc(n_bytes);
}

void *__wrap_calloc(size_t n, size_t n_bytes)
{
	return fails() ? NULL : __real_calloc(n, n_bytes);
}

void *__wrap_realloc(void *p, size_t n_bytes)
{
	return fails() ? NULL : __real_realloc(p, n_bytes);
}

/* Exactly these bytes, so that the sanitizer sees a step past the end. */
static uint8_t *copy_of(const uint8_t *bytes, size_t n_bytes)
{
	uint8_t *copy = malloc(n_bytes + !n_bytes);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, n_bytes);
	return copy;
}

static char *events_of(const struct bytes *b)
{
	struct trc_error error;
	struct trc_reader *r;
	char *events;

	ck_assert_int_eq(trc_reader_open_memory(&r, b->at, b->n, &error), 0);
	events = dump_events(r, &error);
	ck_assert_ptr_nonnull(events);
	trc_reader_close(r);
	return events;
}

static bool is_prefix(const char *prefix, const char *whole)
{
	return !strncmp(prefix, whole, strlen(prefix));
}

/* reader:D2: cut at every byte, the rows read are the first rows of the whole. */
START_TEST(a_file_cut_anywhere_is_readable_up_to_the_cut)
{
	struct bytes b = assembled(sample_trace);
	char *whole = events_of(&b);
	size_t last_bytes = 0;

	for (size_t n = 0; n < b.n; n++) {
		uint8_t *cut = copy_of(b.at, n);
		struct trc_error error = {""};
		struct trc_reader *r;
		char *events;
		int err = trc_reader_open_memory(&r, cut, n, &error);

		if (n < TRC_HEADER_BYTES) {
			ck_assert_int_eq(err, -EBADMSG);
			ck_assert_str_eq(error.text,
					 n ? "cut off inside the header" : "empty file");
			free(cut);
			continue;
		}
		ck_assert_msg(!err, "%zu bytes: %s", n, error.text);
		events = dump_events(r, &error);
		ck_assert_msg(events != NULL, "%zu bytes: %s", n, error.text);
		ck_assert_msg(is_prefix(events, whole), "%zu bytes: %s", n, events);
		ck_assert_msg(strlen(events) >= last_bytes, "%zu bytes: fewer rows", n);
		last_bytes = strlen(events);
		/* The index is optional: without it the file is complete. */
		ck_assert_msg(trc_reader_warning(r) || trc_reader_info(r)->complete,
			      "%zu bytes: no warning", n);
		ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
		free(events);
		trc_reader_close(r);
		free(cut);
	}
	ck_assert_uint_eq(last_bytes, strlen(whole));
	free(whole);
	bytes_free(&b);
}
END_TEST

/* What a file gives, all in one; NULL if anything tells of damage. */
static char *everything(const uint8_t *bytes, size_t n_bytes)
{
	struct trc_error error;
	struct trc_reader *r;
	char *events, *tables;

	if (trc_reader_open_memory(&r, bytes, n_bytes, &error) < 0) {
		ck_assert_uint_gt(strlen(error.text), 0);
		return NULL;
	}
	events = dump_events(r, &error);
	tables = dump_tables(r);
	if (trc_reader_warning(r)) {
		free(events);
		events = NULL;
	}
	if (events) {
		events = realloc(events, strlen(events) + strlen(tables) + 1);
		ck_assert_ptr_nonnull(events);
		strcat(events, tables);
	}
	free(tables);
	trc_reader_close(r);
	return events;
}

START_TEST(a_flipped_bit_is_noticed_or_does_not_matter)
{
	struct bytes b = assembled(sample_trace);
	char *whole = everything(b.at, b.n);
	size_t harmless = 0;

	ck_assert_ptr_nonnull(whole);
	for (size_t i = 0; i < b.n * 8; i++) {
		char *found;

		if (!takes_turn(i, 8))
			continue;
		b.at[i / 8] ^= (uint8_t)(1u << i % 8);
		found = everything(b.at, b.n);
		ck_assert_msg(!found || !strcmp(found, whole), "byte %zu, bit %zu", i / 8, i % 8);
		harmless += found != NULL;
		free(found);
		b.at[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	/* Only padding is not covered by a checksum: at most 7 bytes for a section. */
	ck_assert_uint_lt(harmless, b.n * 8 / 8);
	free(whole);
	bytes_free(&b);
}
END_TEST

START_TEST(what_comes_before_the_damage_is_delivered)
{
	struct bytes b = assembled(sample_trace);
	char *whole = events_of(&b), *events;
	struct trc_error error;
	struct trc_reader *r;

	/* The first byte of the second generation's schema, far behind the first blocks. */
	size_t off = section_find(&b, TRC_SECTION_BLOCK);

	while (trc_get16(b.at + off) != TRC_SECTION_SCHEMA)
		off += section_bytes(&b, off);
	b.at[off + TRC_SECTION_HEADER_BYTES] ^= 1;
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	events = dump_events(r, &error);
	ck_assert_ptr_nonnull(events);
	ck_assert(is_prefix(events, whole));
	ck_assert_uint_gt(strlen(events), 500);
	ck_assert_ptr_nonnull(trc_reader_warning(r));
	ck_assert_msg(!strncmp(trc_reader_warning(r), "damaged at byte ", 16), "%s",
		      trc_reader_warning(r));
	trc_reader_close(r);
	free(events);
	free(whole);
	bytes_free(&b);
}
END_TEST

START_TEST(a_damaged_column_is_told_by_its_block)
{
	struct bytes b = assembled(sample_trace);
	struct trc_error error;
	struct trc_columns *c;
	struct trc_reader *r;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	/* The last byte of the block before padding belongs to a column. */
	b.at[trc_reader_block(r, 1)->file_off + trc_reader_block(r, 1)->file_bytes - 1] ^= 0x10;
	ck_assert_int_eq(trc_reader_load(r, 1, TRC_WANT_ALL, NULL, &c, &error), -EBADMSG);
	ck_assert_str_eq(error.text, "block 1: checksum mismatch");
	ck_assert_int_eq(trc_reader_load(r, 1, TRC_WANT_TIME, NULL, &c, &error), 0);
	trc_columns_free(c);
	ck_assert_int_eq(trc_reader_load(r, 2, TRC_WANT_ALL, NULL, &c, &error), 0);
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

static void expect_gap(const struct trc_reader *r, size_t i, uint64_t lost_events, int64_t since_ns)
{
	const struct trc_block_info *block = trc_reader_block(r, i);
	struct trc_error error;
	struct trc_columns *c;

	ck_assert(block->damaged);
	ck_assert_uint_eq(block->n_events, 1);
	ck_assert_uint_eq(block->kind_count[TRC_KIND_GAP], 1);
	ck_assert_int_eq(trc_reader_load(r, i, TRC_WANT_ALL, NULL, &c, &error), 0);
	ck_assert_uint_eq(c->n_events, 1);
	ck_assert_uint_eq(c->kind[0], TRC_KIND_GAP);
	ck_assert_int_eq(c->time_ns[0], block->last_ns);
	ck_assert_uint_eq(c->arg[TRC_KIND_GAP][TRC_ARG_INDEX(gap, lost_events)][0], lost_events);
	ck_assert_int_eq((int64_t)c->arg[TRC_KIND_GAP][TRC_ARG_INDEX(gap, since)][0], since_ns);
	ck_assert_uint_eq(c->arg[TRC_KIND_GAP][TRC_ARG_INDEX(gap, cause)][0], TRC_GAP_DAMAGED);
	trc_columns_free(c);
}

/* reader:D5 */
START_TEST(what_a_damaged_block_had_counts_as_lost)
{
	struct bytes b = assembled(sample_trace);
	struct trc_error error;
	struct trc_block_info was[8];
	uint64_t n_events;
	size_t n;
	struct trc_reader *r;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	n = trc_reader_blocks(r);
	n_events = trc_reader_info(r)->n_events;
	ck_assert_uint_ge(n, 3);
	ck_assert_uint_le(n, 8);
	ck_assert_ptr_null(trc_reader_warning(r));
	for (size_t i = 0; i < n; i++)
		was[i] = *trc_reader_block(r, i);
	trc_reader_close(r);

	b.at[was[1].file_off + was[1].file_bytes - 1] ^= 0x10;
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(!strncmp(trc_reader_warning(r), "block 1: checksum mismatch: its ", 32), "%s",
		      trc_reader_warning(r));
	ck_assert(trc_reader_info(r)->complete);
	ck_assert_uint_eq(trc_reader_blocks(r), n);
	ck_assert_uint_eq(trc_reader_info(r)->n_events, n_events - was[1].n_events + 1);
	expect_gap(r, 1, was[1].n_events, was[1].first_ns);
	for (size_t i = 0; i < n; i++)
		ck_assert(trc_reader_block(r, i)->damaged == (i == 1));
	trc_reader_close(r);

	b.at[was[2].file_off + was[2].file_bytes - 1] ^= 0x10;
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(!strncmp(trc_reader_warning(r), "block 1 and 1 more: checksum mismatch", 37),
		      "%s", trc_reader_warning(r));
	expect_gap(r, 1, was[1].n_events, was[1].first_ns);
	expect_gap(r, 2, was[2].n_events, was[2].first_ns);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* A trace of as many counters as make it this long, cut there. */
static void expect_cut(size_t n_bytes, const char *size)
{
	struct bytes b = {0};
	const struct trc_writer_options options = {
		.clock = TRC_CLOCK_MONOTONIC_RAW, .ticks_per_second = 1000000000, .n_procs = 1};
	struct trc_event e = {.kind = TRC_KIND_RELEASE};
	char wanted[100];
	struct trc_error error;
	struct trc_reader *r;
	struct trc_writer *w;

	ck_assert_int_eq(trc_writer_open(&w, &options, bytes_sink, &b), 0);
	for (e.time = 1; b.n < n_bytes; e.time++) {
		for (int a = 0; a < 2; a++) /* nothing that compression can make short */
			e.arg[a] = (e.arg[a] + e.time) * 6364136223846793005u;
		expect_same(trc_writer_event(w, &e), 0);
		if (e.time % 5000 == 0)
			ck_assert_int_eq(trc_writer_flush(w), 0);
	}
	ck_assert_int_eq(trc_writer_finish(w), 0);
	trc_writer_close(w);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, n_bytes, &error), 0);
	snprintf(wanted, sizeof(wanted), "cut off after %s: %zu block%s readable, end missing",
		 size, trc_reader_blocks(r), trc_reader_blocks(r) == 1 ? "" : "s");
	ck_assert_str_eq(trc_reader_warning(r), wanted);
	trc_reader_close(r);
	bytes_free(&b);
}

START_TEST(a_cut_says_what_is_left)
{
	struct bytes b = assembled(sample_trace);
	size_t cut = section_find(&b, TRC_SECTION_END);
	struct trc_error error;
	struct trc_reader *r;
	char wanted[100];

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, cut, &error), 0);
	snprintf(wanted, sizeof(wanted), "cut off after %zu bytes: 7 blocks readable, end missing",
		 cut);
	ck_assert_str_eq(trc_reader_warning(r), wanted);
	ck_assert(!trc_reader_info(r)->complete);
	trc_reader_close(r);
	bytes_free(&b);
	expect_cut(9999, "9999 bytes");
	expect_cut(64872, "64.9 kB");
	expect_cut(1500000, "1.5 MB");
}
END_TEST

START_TEST(a_cut_says_until_when_all_is_there)
{
	struct bytes b = assembled("sync ticks=1000\n"
				   "@2000 thread_start tid=1\n"
				   "flush\n"
				   "sync ticks=50001000\n"
				   "@60000000 thread_exit\n");
	struct trc_error error;
	struct trc_reader *r;
	size_t index = section_find(&b, TRC_SECTION_INDEX);
	static const struct {
		const char *what;
		uint16_t cut_at; /* the first section of this type, and 4 bytes of it */
		bool complete;
		int64_t whole_until_ns;
	} cut[] = {
		{"before any SYNC nothing is certain", TRC_SECTION_SYNC, false, INT64_MIN},
		{"one SYNC at 0 says nothing of what is later", TRC_SECTION_BLOCK, false,
		 -10000000},
		{"the last SYNC in the file counts, less 10 ms", TRC_SECTION_END, false, 40000000},
		{"what is behind END is no loss", TRC_SECTION_INDEX, true, INT64_MAX},
	};

	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		ck_assert_int_eq(trc_reader_open_memory(
					 &r, b.at, section_find(&b, cut[i].cut_at) + 4, &error),
				 0);
		ck_assert_msg(trc_reader_info(r)->cut_off, "%s", cut[i].what);
		ck_assert_msg(trc_reader_info(r)->complete == cut[i].complete, "%s", cut[i].what);
		ck_assert_msg(trc_reader_info(r)->whole_until_ns == cut[i].whole_until_ns,
			      "%s: %lld", cut[i].what,
			      (long long)trc_reader_info(r)->whole_until_ns);
		ck_assert_int_eq(!strcmp(trc_reader_warning(r),
					 "cut off inside the index: no event is missing"),
				 cut[i].complete);
		trc_reader_close(r);
	}
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, index, &error), 0);
	ck_assert_ptr_null(trc_reader_warning(r));
	ck_assert(!trc_reader_info(r)->cut_off);
	trc_reader_close(r);
	b.at[section_find(&b, TRC_SECTION_END) + TRC_SECTION_HEADER_BYTES] ^= 1;
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert(!trc_reader_info(r)->cut_off);
	ck_assert_int_eq(trc_reader_info(r)->whole_until_ns, 40000000);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

static const struct {
	const char *what;
	const char *bytes;
	size_t n_bytes;
	const char *message;
} foreign[] = {
	{"nothing at all", "", 0, "empty file"},
	{"a text", "hello, world, this is no trace but a text of some length.", 57,
	 "not a trc trace"},
	{"one byte of something else", "x", 1, "not a trc trace"},
	{"an ELF file",
	 "\x7f"
	 "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
	 16, "not a trc trace"},
	{"TRC without its zero", "TRC1\0\0\0\0\0\0\0\0\0\0\0\0", 16, "not a trc trace"},
	{"only the beginning of the magic", "TR", 2, "cut off inside the header"},
	{"zeros", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, "not a trc trace"},
	{"a header of nothing", "TRC\0\1\0\0\0\0\0\0\0\0\0\0\0", 16, "the header is damaged"},
};

START_TEST(foreign_files_are_refused_by_name)
{
	uint8_t *copy = copy_of((const uint8_t *)foreign[_i].bytes, foreign[_i].n_bytes);
	struct trc_reader *r = NULL;
	struct trc_error error;

	ck_assert_int_eq(trc_reader_open_memory(&r, copy, foreign[_i].n_bytes, &error), -EBADMSG);
	ck_assert_str_eq(error.text, foreign[_i].message);
	ck_assert_ptr_null(r);
	free(copy);
}
END_TEST

START_TEST(paths_that_are_no_file_are_refused)
{
	char path[] = "/tmp/trc-test-XXXXXX", fifo[64];
	struct trc_reader *r = NULL;
	struct trc_error error;

	ck_assert_int_eq(trc_reader_open(&r, "/nonexistent/x.trc", &error), -ENOENT);
	ck_assert_str_eq(error.text, "No such file or directory");
	ck_assert_int_eq(trc_reader_open(&r, "/tmp", &error), -EISDIR);
	ck_assert_ptr_nonnull(mkdtemp(path));
	snprintf(fifo, sizeof(fifo), "%s/fifo", path);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(trc_reader_open(&r, fifo, &error), -EINVAL);
	ck_assert_str_eq(error.text, "not a regular file");
	ck_assert_ptr_null(r);
	unlink(fifo);
	rmdir(path);
}
END_TEST

START_TEST(a_file_is_mapped_and_read)
{
	struct bytes b = assembled(sample_trace);
	char path[] = "/tmp/trc-test-XXXXXX";
	int fd = mkstemp(path);
	struct trc_reader *r;
	struct trc_error error;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(trc_reader_open(&r, path, &error), -EBADMSG);
	ck_assert_str_eq(error.text, "empty file");
	ck_assert_int_eq(write(fd, b.at, b.n), (ssize_t)b.n);
	close(fd);
	ck_assert_int_eq(trc_reader_open(&r, path, &error), 0);
	ck_assert_uint_eq(trc_reader_info(r)->n_events, 26);
	trc_reader_close(r);
	trc_reader_close(NULL);
	unlink(path);
	bytes_free(&b);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	struct bytes b = assembled(sample_trace);
	int err = -ENOMEM;
	size_t n;

	for (n = 1; err; n++) {
		struct trc_reader *r = NULL;
		struct trc_columns *c = NULL;
		struct trc_error error = {""};

		allocations = 0;
		fail_at = n;
		err = trc_reader_open_memory(&r, b.at, b.n, &error);
		if (!err)
			err = trc_reader_load(r, 2, TRC_WANT_ALL, NULL, &c, &error);
		fail_at = 0;
		ck_assert_msg(!err || err == -ENOMEM, "allocation %zu: %s", n, error.text);
		if (err)
			ck_assert_str_eq(error.text, "out of memory");
		trc_columns_free(c);
		trc_reader_close(r);
	}
	ck_assert_uint_gt(n, 15);
	bytes_free(&b);
}
END_TEST

Suite *suite_damage(void)
{
	Suite *s = suite_create("damage");
	TCase *t = tcase_create("damage");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_file_cut_anywhere_is_readable_up_to_the_cut);
	tcase_add_test(t, a_flipped_bit_is_noticed_or_does_not_matter);
	tcase_add_test(t, what_comes_before_the_damage_is_delivered);
	tcase_add_test(t, a_damaged_column_is_told_by_its_block);
	tcase_add_test(t, what_a_damaged_block_had_counts_as_lost);
	tcase_add_test(t, a_cut_says_what_is_left);
	tcase_add_test(t, a_cut_says_until_when_all_is_there);
	tcase_add_loop_test(t, foreign_files_are_refused_by_name, 0,
			    sizeof(foreign) / sizeof(foreign[0]));
	tcase_add_test(t, paths_that_are_no_file_are_refused);
	tcase_add_test(t, a_file_is_mapped_and_read);
	tcase_add_test(t, every_allocation_may_fail);
	suite_add_tcase(s, t);
	return s;
}
