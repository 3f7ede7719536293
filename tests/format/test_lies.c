/* test_lies.c - sections with right checksums and wrong contents (reader:D1, reader:D4). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/check.h"
#include "format/wire.h"
#include "common.h"
#include "repair.h"

static void varints_add(struct bytes *b, const uint64_t *value, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = value[i];

		do {
			uint8_t byte = (uint8_t)(v & 0x7f) | (v > 0x7f ? 0x80 : 0);

			bytes_add(b, &byte, 1);
			v >>= 7;
		} while (v);
	}
}

static const struct {
	const char *what;
	uint16_t type, flags;
	size_t n;
	uint64_t varint[8];
} lies[] = {
	{"a string id out of the blue", TRC_SECTION_STRINGS, 0, 2, {2000, 0}},
	{"string id 0", TRC_SECTION_STRINGS, 0, 2, {0, 0}},
	{"a string longer than its section", TRC_SECTION_STRINGS, 0, 2, {2, 1000}},
	{"a stack of a million frames", TRC_SECTION_STACKS, 0, 3, {2, 1, 1000000}},
	{"a stack with frames missing", TRC_SECTION_STACKS, 0, 3, {2, 1, 3}},
	{"a module id out of the blue", TRC_SECTION_MODULES, 0, 2, {1, 77}},
	{"a build id of 33 bytes", TRC_SECTION_MODULES, 0, 9, {8, 1, 0, 0, 0, 0, 0, 0}},
	{"a thread without a serial", TRC_SECTION_THREADS, 0, 7, {6, 0, 0, 0, 0, 0, 0}},
	{"an entry longer than its section", TRC_SECTION_THREADS, 0, 1, {100}},
	{"generation 9 after 1", TRC_SECTION_GENERATION, 0, 1, {9}},
	{"a sync point with parts missing", TRC_SECTION_SYNC, 0, 2, {1, 2}},
	{"an open region cut off", TRC_SECTION_OPEN_REGIONS, 0, 6, {0, 4, 1, 0, 0, 0}},
	{"an open region of a serial above 2^32",
	 TRC_SECTION_OPEN_REGIONS,
	 0,
	 7,
	 {0, 9, UINT64_C(1) << 32, 0, 0, 0, 0}},
	{"open regions without a beginning", TRC_SECTION_OPEN_REGIONS, 0, 0, {0}},
	{"coverage of a source that does not exist",
	 TRC_SECTION_COVERAGE,
	 0,
	 7,
	 {0, 5, 3, 1, 0, 1, 2}},
	{"coverage of a proc that does not exist",
	 TRC_SECTION_COVERAGE,
	 0,
	 7,
	 {0, 5, 0, 5, 0, 1, 2}},
	{"coverage that ends before it begins", TRC_SECTION_COVERAGE, 0, 7, {0, 5, 0, 1, 0, 2, 1}},
	{"coverage without an end", TRC_SECTION_COVERAGE, 0, 6, {0, 4, 0, 1, 0, 1}},
	{"a label set id out of the blue", TRC_SECTION_LABEL_SETS, 0, 6, {5, 77, 1, 0, 1, 0}},
	{"label set 0", TRC_SECTION_LABEL_SETS, 0, 6, {5, 0, 1, 0, 1, 0}},
	{"a label set without a number of labels", TRC_SECTION_LABEL_SETS, 0, 2, {1, 1}},
	{"a label set of 65 labels", TRC_SECTION_LABEL_SETS, 0, 3, {2, 1, 65}},
	{"a label set with labels missing", TRC_SECTION_LABEL_SETS, 0, 6, {5, 1, 2, 0, 1, 0}},
	{"a label without a value", TRC_SECTION_LABEL_SETS, 0, 5, {4, 1, 1, 0, 1}},
	{"a number without a unit", TRC_SECTION_LABEL_SETS, 0, 6, {5, 1, 1, 0, 2, 8}},
	{"a label set longer than its section", TRC_SECTION_LABEL_SETS, 0, 3, {90, 1, 0}},
	{"sampled events without a beginning", TRC_SECTION_SAMPLE_EVENTS, 0, 0, {0}},
	{"sampled event 0", TRC_SECTION_SAMPLE_EVENTS, 0, 8, {0, 8, 0, 1, 0, 0, 0, 0}},
	{"a sampled event without a note",
	 TRC_SECTION_SAMPLE_EVENTS,
	 0,
	 8,
	 {0, 6, 1, 1, 0, 0, 0, 0}},
	{"a sampled event taken in way 256", TRC_SECTION_SAMPLE_EVENTS, 0, 4, {0, 9, 1, 256}},
	{"threads' labels without a beginning", TRC_SECTION_THREAD_LABELS, 0, 0, {0}},
	{"threads' labels cut off", TRC_SECTION_THREAD_LABELS, 0, 3, {0, 1, 1}},
	{"labels of a serial above 2^32",
	 TRC_SECTION_THREAD_LABELS,
	 0,
	 4,
	 {0, 6, UINT64_C(1) << 32, 0}},
	{"threads' fibers without a beginning", TRC_SECTION_THREAD_FIBERS, 0, 0, {0}},
	{"threads' fibers cut off", TRC_SECTION_THREAD_FIBERS, 0, 4, {0, 2, 1, 7}},
	{"a thread's fiber longer than its section",
	 TRC_SECTION_THREAD_FIBERS,
	 0,
	 4,
	 {0, 90, 1, 7}},
	{"the fiber of a serial above 2^32",
	 TRC_SECTION_THREAD_FIBERS,
	 0,
	 5,
	 {0, 7, UINT64_C(1) << 32, 7, 0}},
	{"a fiber whose name is above 2^32",
	 TRC_SECTION_THREAD_FIBERS,
	 0,
	 5,
	 {0, 7, 1, 7, UINT64_C(1) << 32}},
	{"packed into less than its length", TRC_SECTION_INFO, TRC_SECTION_LZ4, 1, {1}},
	{"packed garbage", TRC_SECTION_INFO, TRC_SECTION_LZ4, 8, {9, 0, 0, 0, 255, 255, 255, 255}},
	{"unpacking to 4 GB",
	 TRC_SECTION_INFO,
	 TRC_SECTION_LZ4,
	 6,
	 {UINT64_C(0x0fffffff), 1, 1, 1, 1, 1}},
	{"a block that is only a length", TRC_SECTION_BLOCK, 0, 4, {4, 0, 0, 0}},
	{"a block without events", TRC_SECTION_BLOCK, 0, 10, {10, 0, 0, 0, 0, 1, 0, 0}},
};

START_TEST(lies_are_damage)
{
	struct bytes b = assembled("unfinished\n"), payload = {0};
	size_t n = lies[_i].n < 8 ? lies[_i].n : 8;
	struct trc_error error;
	struct trc_reader *r;
	size_t before = b.n;
	char expected[64];

	varints_add(&payload, lies[_i].varint, n);
	section_add(&b, lies[_i].type, lies[_i].flags, payload.at, payload.n, payload.n);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	snprintf(expected, sizeof(expected), "damaged at byte %zu: 0 blocks before it readable",
		 before);
	ck_assert_msg(trc_reader_warning(r) && !strcmp(trc_reader_warning(r), expected), "%s: %s",
		      lies[_i].what, trc_reader_warning(r));
	trc_reader_close(r);
	bytes_free(&payload);
	bytes_free(&b);
}
END_TEST

START_TEST(two_meanings_of_an_id_are_told)
{
	struct bytes b = assembled("unfinished\n");
	struct trc_error error;
	struct trc_reader *r;
	uint32_t n_bytes;

	section_add(&b, TRC_SECTION_STRINGS, 0,
		    "\x02\x01"
		    "a",
		    3, 3);
	section_add(&b, TRC_SECTION_STRINGS, 0,
		    "\x02\x01"
		    "b",
		    3, 3);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_str_eq(trc_reader_warning(r), "string 1 has two meanings: the first is taken");
	ck_assert_mem_eq(trc_reader_string(r, 1, &n_bytes), "a", 1);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* A file of three strings, "", "a" and "b", and what is told of them. */
static struct bytes label_file(const char *sets, size_t n_bytes)
{
	struct bytes b = assembled("unfinished\n");

	section_add(&b, TRC_SECTION_STRINGS, 0, "\x02\x00\x02\x01\x61\x02\x01\x62", 8, 8);
	section_add(&b, TRC_SECTION_LABEL_SETS, 0, sets, n_bytes, n_bytes);
	return b;
}

static const struct {
	const char *what;
	const char *bytes;
	size_t n_bytes;
	const char *found; /* keys and values of set 1; NULL: damage */
	uint64_t dangling_ids;
} label_sets[] = {
	{"keys that rise", "\x08\x01\x02\x02\x01\x03\x03\x01\x02", 9, "a=b b=a ", 0},
	{"no labels at all", "\x02\x01\x00", 3, "", 0},
	{"an empty value", "\x05\x01\x01\x02\x01\x00", 6, "a= ", 0},
	{"a number and its unit", "\x06\x01\x01\x02\x02\x09\x03", 7, "a=-5b ", 0},
	{"a newer version's fields behind the labels", "\x07\x01\x01\x02\x01\x03\x55\x55", 8,
	 "a=b ", 0},
	{"a newer version's kind of value: it and what follows is left out",
	 "\x0b\x01\x03\x02\x01\x03\x03\x09\xff\xff\xff\xff", 12, "a=b ", 0},
	{"keys that fall", "\x08\x01\x02\x03\x01\x03\x02\x01\x02", 9, NULL, 0},
	{"a key twice", "\x08\x01\x02\x02\x01\x03\x02\x01\x02", 9, NULL, 0},
	{"a key without an entry is left out", "\x08\x01\x02\x63\x01\x03\x03\x01\x02", 9, "b=a ",
	 1},
	{"key 0 is left out", "\x08\x01\x02\x00\x01\x03\x03\x01\x02", 9, "b=a ", 0},
	{"an empty key is left out", "\x08\x01\x02\x01\x01\x03\x03\x01\x02", 9, "b=a ", 0},
	{"a value without an entry is empty", "\x05\x01\x01\x02\x01\x63", 6, "a= ", 1},
	{"a unit without an entry is none", "\x06\x01\x01\x02\x02\x09\x63", 7, "a=-5 ", 1},
};

START_TEST(label_sets_are_checked)
{
	struct bytes b = label_file(label_sets[_i].bytes, label_sets[_i].n_bytes);
	const char *what = label_sets[_i].what;
	const struct trc_label *l = NULL;
	struct trc_error error;
	struct trc_reader *r;
	char found[200] = "";
	uint32_t n = 0;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(trc_reader_label_set(r, 1, &l, &n) == (label_sets[_i].found ? 0 : -ENOENT),
		      "%s", what);
	ck_assert_int_eq(trc_reader_label_set(r, 0, &l, &n), -ENOENT);
	ck_assert_int_eq(trc_reader_label_set(r, 2, &l, &n), -ENOENT);
	for (uint32_t i = 0; i < n; i++) {
		char number[32] = "";

		if (l[i].is_number)
			snprintf(number, sizeof(number), "%lld", (long long)l[i].number);
		sprintf(found + strlen(found), "%.*s=%s%.*s ", (int)l[i].key_bytes, l[i].key,
			number, (int)l[i].value_bytes, l[i].value);
	}
	ck_assert_msg(!label_sets[_i].found || !strcmp(found, label_sets[_i].found), "%s: %s", what,
		      found);
	ck_assert_msg(!strncmp(trc_reader_warning(r), "damaged", 7) == !label_sets[_i].found,
		      "%s: %s", what, trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, label_sets[_i].dangling_ids);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

START_TEST(two_meanings_of_a_label_set_are_told)
{
	struct bytes b = label_file("\x05\x01\x01\x02\x01\x03\x05\x01\x01\x02\x01\x02", 12);
	const struct trc_label *l;
	struct trc_error error;
	struct trc_reader *r;
	uint32_t n;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_str_eq(trc_reader_warning(r), "label set 1 has two meanings: the first is taken");
	ck_assert_int_eq(trc_reader_label_set(r, 1, &l, &n), 0);
	ck_assert_mem_eq(l->value, "b", 1);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

START_TEST(a_thread_of_no_known_label_set_has_none)
{
	struct bytes b = label_file("\x05\x01\x01\x02\x01\x03", 6);
	const struct trc_thread_labels_entry *entry;
	struct trc_error error;
	struct trc_reader *r;

	section_add(&b, TRC_SECTION_THREAD_LABELS, 0, "\0\2\7\1\2\10\2\2\11\0", 10, 10);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_uint_eq(trc_reader_thread_labels(r, &entry), 3);
	ck_assert(entry[0].thread == 7 && entry[0].labels == 1);
	ck_assert(entry[1].thread == 8 && entry[1].labels == 0);
	ck_assert(entry[2].thread == 9 && entry[2].labels == 0);
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 1);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

START_TEST(a_fiber_of_no_known_name_has_none)
{
	struct bytes b = label_file("", 0);
	const struct trc_thread_fiber_entry *entry;
	struct trc_error error;
	struct trc_reader *r;

	section_add(&b, TRC_SECTION_THREAD_FIBERS, 0, "\0\3\7\5\2\3\x8\6\3\3\x9\6\4\5\xa\7\0\1\2",
		    19, 19);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_ptr_null(strstr(trc_reader_warning(r), "damaged"));
	ck_assert_uint_eq(trc_reader_thread_fibers(r, &entry), 4);
	ck_assert(entry[0].thread == 7 && entry[0].fiber == 5 && entry[0].name == 2);
	ck_assert(entry[1].thread == 8 && entry[1].fiber == 6 && entry[1].name == 3);
	ck_assert(entry[2].thread == 9 && entry[2].fiber == 6 && entry[2].name == 0);
	/* With fields of a newer version. */
	ck_assert(entry[3].thread == 10 && entry[3].fiber == 7 && entry[3].name == 0);
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 1);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* reader:D4: the tables of a file taken out, ids stand for nothing. */
START_TEST(ids_without_an_entry_become_0)
{
	struct bytes b = assembled("stack s 0x10 0x20\n@10 thread=1 park reason=mutex object=5 "
				   "holder=7 stack=s\n@20 thread=1 counter name=\"n\" value=3\n"
				   "labels few a=1\n@30 thread=1 labels labels=few before=9\n"
				   "flush\nthread_labels thread=1 labels=few\n"
				   "thread_fiber thread=1 fiber=7 name=\"n\"\n");
	static const uint16_t tables[] = {TRC_SECTION_STRINGS, TRC_SECTION_STACKS,
					  TRC_SECTION_THREADS, TRC_SECTION_LABEL_SETS};
	const struct trc_thread_labels_entry *thread_labels;
	const struct trc_thread_fiber_entry *thread_fiber;
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		size_t off = section_find(&b, tables[i]);

		/* An unknown type instead, with the checksum that goes with it. */
		trc_put16(b.at + off, 1000);
		trc_put64(b.at + off + 8,
			  trc_check64(b.at + off + TRC_SECTION_HEADER_BYTES,
				      trc_get32(b.at + off + 4), trc_get64(b.at + off)));
	}
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_uint_eq(trc_reader_unknown_sections(r), 4);
	ck_assert_uint_eq(trc_reader_thread_labels(r, &thread_labels), 1);
	ck_assert_uint_eq(thread_labels->labels, 0);
	ck_assert_uint_eq(trc_reader_thread_fibers(r, &thread_fiber), 1);
	ck_assert_uint_eq(thread_fiber->fiber, 7);
	ck_assert_uint_eq(thread_fiber->name, 0);
	for (int twice = 0; twice < 2; twice++) {
		ck_assert_int_eq(trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), 0);
		ck_assert_uint_eq(c->thread[0], 0);
		ck_assert_uint_eq(c->arg[TRC_KIND_PARK][1][0], 5);
		ck_assert_uint_eq(c->arg[TRC_KIND_PARK][2][0], 0);
		ck_assert_uint_eq(c->arg[TRC_KIND_PARK][3][0], 0);
		ck_assert_uint_eq(c->arg[TRC_KIND_COUNTER][0][0], 0);
		ck_assert_uint_eq(c->arg[TRC_KIND_COUNTER][1][0], 3);
		ck_assert_uint_eq(c->arg[TRC_KIND_LABELS][0][0], 0);
		ck_assert_uint_eq(c->arg[TRC_KIND_LABELS][1][0], 0);
		trc_columns_free(c);
	}
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 10);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* --- blocks: one byte of the worked example's, everything else as it was --- */

static const char example[] =
	"header procs=2\n"
	"sync ticks=1000 raw=5000\n"
	"stack s 0x400100 0x400230\n"
	"@2000 proc=1 thread=1 park reason=sem object=0x7fff10 stack=s\n"
	"@2500 proc=1 thread=1 resume reason=sem object=0x7fff10\n"
	"@2700 proc=1 thread=1 log task=9 category=\"net\" message=\"ready\"\n"
	"@2900 proc=1 thread=1 log task=9 category=\"net\" message=\"go\"\n"
	"@3100 proc=1 thread=1 log task=9 category=\"net\" message=\"stop\"\n";

/* Offsets into the payload as in docs/format.md, "A worked example". */
static const struct {
	const char *what;
	size_t off;
	uint8_t from, to;
	const char *message; /* NULL: the block is damage already when the file is opened */
} block_lies[] = {
	{"a head longer than the block", 1, 0x00, 0x01, NULL},
	{"a head that ends inside its directory", 0, 0x8b, 0x8a, NULL},
	{"a source that does not exist", 4, 0, 3, NULL},
	{"a proc that does not exist", 5, 2, 3, NULL},
	{"procs per event without a column of procs", 5, 2, 0, NULL},
	{"no events", 6, 5, 0, NULL},
	{"more events than its kinds", 6, 5, 6, NULL},
	{"kinds that do not rise", 12, 5, 6, NULL},
	{"kind 0", 12, 5, 0, NULL},
	{"a kind without events", 13, 1, 0, NULL},
	{"a column fewer than there are", 18, 14, 13, NULL},
	{"a column more than there are", 18, 14, 15, NULL},
	{"times instead of kinds", 19, 1, 2, NULL},
	{"kinds instead of threads", 33, 3, 1, NULL},
	{"a column longer than stored", 21, 5, 6, NULL},
	{"kinds in another coding", 20, 5, 1, "block 0: a column does not decode"},
	{"kinds in no coding", 20, 5, 99, "block 0: a column does not decode"},
	{"other kinds", 139, 5, 4, "block 0: its kinds are not those that it announces"},
	{"kinds beyond 127", 142, 0, 100, "block 0: its kinds are not those that it announces"},
	{"a later first time", 7, 0xd0, 0xd1, "block 0: its times are not those that it announces"},
	{"an earlier last time", 9, 0xcc, 0xcb,
	 "block 0: its times are not those that it announces"},
	{"text longer than its bytes", 170, 10, 12, "block 0: text is shorter than announced"},
	{"text of negative length", 170, 10, 2, "block 0: text is shorter than announced"},
	{"text shorter than its bytes", 172, 4, 2, "block 0: text is longer than announced"},
	{"text coded as numbers", 133, 0, 1, "block 0: text is longer than announced"},
	{"text that is no text but something newer", 130, 6, 7, ""},
	{"an argument that this library does not know", 42, 0, 9, ""},
};

START_TEST(blocks_that_lie_are_found_out)
{
	struct bytes b = assembled(example);
	uint8_t *byte = b.at + section_find(&b, TRC_SECTION_BLOCK) + TRC_SECTION_HEADER_BYTES +
			block_lies[_i].off;
	const char *message = block_lies[_i].message, *what = block_lies[_i].what;
	struct trc_error error = {""};
	struct trc_columns *c;
	struct trc_reader *r;
	int err;

	ck_assert_msg(*byte == block_lies[_i].from, "%s: %02x", what, *byte);
	*byte = block_lies[_i].to;
	trc_repair(b.at, b.n);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(trc_reader_blocks(r) == (message != NULL), "%s: %s", what,
		      trc_reader_warning(r));
	ck_assert_msg(!trc_reader_warning(r) == (message != NULL), "%s", what);
	if (message) {
		err = trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error);
		ck_assert_msg(err == (*message ? -EBADMSG : 0), "%s: %d", what, err);
		ck_assert_msg(!strcmp(error.text, message), "%s: %s", what, error.text);
		if (!err)
			trc_columns_free(c);
	}
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

START_TEST(a_repaired_file_is_as_it_was)
{
	struct bytes b = assembled(sample_trace), again = assembled(sample_trace);

	trc_repair(again.at, again.n);
	ck_assert_mem_eq(b.at, again.at, b.n);
	bytes_free(&b);
	bytes_free(&again);
}
END_TEST

/* --- columns that LZ4 has packed --- */

static struct bytes packed_trace(void)
{
	char *text = malloc(1 << 20), *p = text;
	struct bytes b;

	ck_assert_ptr_nonnull(text);
	for (int i = 0; i < 3000; i++)
		p += sprintf(p, "@%d log task=%d category=\"c\" message=\"the same text, again\"\n",
			     1000 + i, i * i % 7);
	b = assembled(text);
	free(text);
	return b;
}

START_TEST(packed_columns_read_back)
{
	struct bytes b = packed_trace();
	struct trc_error error;
	struct trc_columns *c;
	struct trc_reader *r;

	ck_assert_uint_lt(b.n, 4000);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_int_eq(trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		ck_assert_uint_eq(c->arg[TRC_KIND_LOG][0][i], i * i % 7);
		ck_assert_uint_eq(c->text_off[TRC_KIND_LOG][i], i * 20);
		ck_assert_mem_eq(c->text[TRC_KIND_LOG] + i * 20, "the same text, again", 20);
	}
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* Any one byte of the block changed, checksums repaired: never more than an error. */
START_TEST(packed_columns_do_no_harm)
{
	struct bytes b = packed_trace();
	size_t off = section_find(&b, TRC_SECTION_BLOCK);
	size_t end = off + section_bytes(&b, off);
	size_t n_unpack = 0;

	for (; off < end; off++) {
		uint8_t *changed = malloc(b.n);
		struct trc_error error = {""};
		struct trc_columns *c;
		struct trc_reader *r;

		ck_assert_ptr_nonnull(changed);
		memcpy(changed, b.at, b.n);
		changed[off] = (uint8_t)(changed[off] + 1);
		trc_repair(changed, b.n);
		ck_assert_int_eq(trc_reader_open_memory(&r, changed, b.n, &error), 0);
		if (trc_reader_blocks(r) && !trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error))
			trc_columns_free(c);
		n_unpack += !strcmp(error.text, "block 0: a column does not unpack");
		trc_reader_close(r);
		free(changed);
	}
	ck_assert_uint_gt(n_unpack, 5);
	bytes_free(&b);
}
END_TEST

/* --- the end --- */

static const struct {
	const char *what;
	uint16_t type;
	size_t off; /* of the payload */
	uint8_t to;
	const char *warning;
} end_lies[] = {
	{"an event too many", TRC_SECTION_END, 0, 6,
	 "5 events in 1 blocks found, but 6 in 1 were written"},
	{"a block too many", TRC_SECTION_END, 1, 2,
	 "5 events in 1 blocks found, but 5 in 2 were written"},
	{"a generation elsewhere", TRC_SECTION_INDEX, 1, 0x50, "the index does not match the file"},
	{"a generation less", TRC_SECTION_INDEX, 0, 0, "the index does not match the file"},
	{"an index that is somewhere else", TRC_SECTION_INDEX, 8, 1, /* never: 8 divides it */
	 "the index does not match the file"},
};

START_TEST(totals_and_index_are_compared)
{
	struct bytes b = assembled(example);
	struct trc_error error;
	struct trc_reader *r;

	b.at[section_find(&b, end_lies[_i].type) + TRC_SECTION_HEADER_BYTES + end_lies[_i].off] =
		end_lies[_i].to;
	trc_repair(b.at, b.n);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(trc_reader_warning(r) && !strcmp(trc_reader_warning(r), end_lies[_i].warning),
		      "%s: %s", end_lies[_i].what, trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->n_events, 5);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

START_TEST(a_header_of_too_many_procs_is_refused)
{
	struct bytes b = assembled(example);
	struct trc_reader *r = NULL;
	struct trc_error error;

	trc_put32(b.at + 44, 16385);
	trc_repair(b.at, b.n);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), -EBADMSG);
	ck_assert_str_eq(error.text, "the header tells of 16385 procs");
	bytes_free(&b);
}
END_TEST

START_TEST(serials_may_be_of_any_size)
{
	struct bytes b = assembled("thread 4294967295 tid=7\nthread 3000000000 tid=8\n"
				   "@5 thread=4294967295 thread_exit\n"
				   "@6 thread=3000000000 thread_exit\n@7 thread=2 thread_exit\n");
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_uint_eq(trc_reader_threads(r), 3);
	ck_assert_uint_eq(trc_reader_thread(r, 2)->tid, 7);
	ck_assert_int_eq(trc_reader_load(r, 0, TRC_WANT_ALL, NULL, &c, &error), 0);
	ck_assert_uint_eq(c->thread[0], UINT32_MAX);
	ck_assert_uint_eq(c->thread[1], 3000000000);
	ck_assert_uint_eq(c->thread[2], 2);
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

Suite *suite_lies(void)
{
	Suite *s = suite_create("lies");
	TCase *t = tcase_create("lies");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, lies_are_damage, 0, sizeof(lies) / sizeof(lies[0]));
	tcase_add_test(t, two_meanings_of_an_id_are_told);
	tcase_add_loop_test(t, label_sets_are_checked, 0,
			    sizeof(label_sets) / sizeof(label_sets[0]));
	tcase_add_test(t, two_meanings_of_a_label_set_are_told);
	tcase_add_test(t, a_thread_of_no_known_label_set_has_none);
	tcase_add_test(t, a_fiber_of_no_known_name_has_none);
	tcase_add_test(t, ids_without_an_entry_become_0);
	tcase_add_loop_test(t, blocks_that_lie_are_found_out, 0,
			    sizeof(block_lies) / sizeof(block_lies[0]));
	tcase_add_test(t, a_repaired_file_is_as_it_was);
	tcase_add_test(t, packed_columns_read_back);
	tcase_add_test(t, packed_columns_do_no_harm);
	tcase_add_loop_test(t, totals_and_index_are_compared, 0,
			    sizeof(end_lies) / sizeof(end_lies[0]));
	tcase_add_test(t, a_header_of_too_many_procs_is_refused);
	tcase_add_test(t, serials_may_be_of_any_size);
	suite_add_tcase(s, t);
	return s;
}
