/* test_density.c - small files cannot ask for much memory (format.md, "Density"). */
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include "format/wire.h"
#include "common.h"

/* What compresses to next to nothing: an entry, over and over (format.md, "Density"). */
static const struct {
	const char *what, *refused;
	uint16_t type;
	size_t head_bytes, entry_bytes, zeros; /* entry: its bytes, then zeros */
	const char *bytes;
} dense[] = {
	{"empty strings", "entries of tables", TRC_SECTION_STRINGS, 0, 1, 1, "\x02"},
	{"stacks without frames", "entries of tables", TRC_SECTION_STACKS, 0, 1, 2, "\x02"},
	{"stacks of equal frames", "frames and labels", TRC_SECTION_STACKS, 0, 4, 128,
	 "\x02\x00\x80\x01"},
	{"a thread again and again", "entries of tables", TRC_SECTION_THREADS, 0, 2, 5, "\x06\x01"},
	{"a module again and again", "entries of tables", TRC_SECTION_MODULES, 0, 2, 8, "\x09\x01"},
	{"a label set again and again", "entries of tables", TRC_SECTION_LABEL_SETS, 0, 3, 0,
	 "\x02\x01\x00"},
	{"label sets full of nothing", "frames and labels", TRC_SECTION_LABEL_SETS, 0, 3, 0, NULL},
	{"a status of nobody", "entries of tables", TRC_SECTION_STATUS, 1, 1, 6, "\x06"},
	{"the labels of nobody", "entries of tables", TRC_SECTION_THREAD_LABELS, 1, 1, 2, "\x02"},
};

/* A label set of 64 labels without a key: they are looked at, and left out. */
static size_t dense_entry(int i, uint8_t entry[256])
{
	size_t n = dense[i].entry_bytes;

	memset(entry, 0, 256);
	if (dense[i].bytes) {
		memcpy(entry, dense[i].bytes, n);
		return n + dense[i].zeros;
	}
	memcpy(entry, "\xc2\x01\x01\x40", 4);
	for (size_t label = 0; label < 64; label++)
		entry[4 + 3 * label + 1] = TRC_LABEL_STRING;
	return 4 + 3 * 64;
}

START_TEST(small_files_cannot_ask_for_much_memory)
{
	struct bytes raw = {0}, packed = {0}, b = assembled("unfinished\n");
	uint8_t entry[256];
	size_t n = dense_entry(_i, entry);
	struct trc_error error;
	struct trc_reader *r;
	uint32_t raw_bytes;
	int n_packed;

	bytes_add(&raw, "\0\0\0\0", dense[_i].head_bytes);
	while (raw.n + n <= TRC_SECTION_BYTES_MAX / 4)
		bytes_add(&raw, entry, n);
	packed.at = malloc(4 + (size_t)LZ4_compressBound((int)raw.n));
	n_packed = LZ4_compress_default((const char *)raw.at, (char *)packed.at + 4, (int)raw.n,
					LZ4_compressBound((int)raw.n));
	ck_assert_int_gt(n_packed, 0);
	raw_bytes = (uint32_t)raw.n;
	memcpy(packed.at, &raw_bytes, 4);
	section_add(&b, dense[_i].type, TRC_SECTION_LZ4, packed.at, (size_t)n_packed + 4,
		    (size_t)n_packed + 4);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(strstr(trc_reader_warning(r), dense[_i].refused) != NULL, "%s: %s",
		      dense[_i].what, trc_reader_warning(r));
	trc_reader_close(r);
	bytes_free(&raw);
	bytes_free(&packed);
	bytes_free(&b);
}
END_TEST

/* Events that are all alike are next to no bytes. */
START_TEST(small_files_cannot_tell_of_many_events)
{
	enum { EVENTS = 400000 };
	static const char line[] = "@1000 thread=1 task_end task=7\n";
	struct bytes text = {0}, b;
	const struct trc_file_info *info;
	struct trc_error error;
	struct trc_reader *r;

	for (int i = 0; i < EVENTS; i++)
		bytes_add(&text, line, sizeof(line) - 1);
	bytes_add(&text, "", 1);
	b = assembled((const char *)text.at);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	info = trc_reader_info(r);
	ck_assert_uint_gt(info->n_events, 0);
	ck_assert_uint_le(info->n_events, TRC_DENSE_FREE + TRC_EVENTS_PER_BYTE * b.n);
	ck_assert_ptr_nonnull(strstr(trc_reader_warning(r), "more events than"));
	trc_reader_close(r);
	bytes_free(&text);
	bytes_free(&b);
}
END_TEST

Suite *suite_density(void)
{
	Suite *s = suite_create("density");
	TCase *t = tcase_create("density");

	tcase_add_loop_test(t, small_files_cannot_ask_for_much_memory, 0,
			    sizeof(dense) / sizeof(dense[0]));
	tcase_add_test(t, small_files_cannot_tell_of_many_events);
	suite_add_tcase(s, t);
	return s;
}
