/*
 * fuzz_ring.c - ring files that somebody damaged, or made up: a libFuzzer target.
 *
 * A ring file is large and nearly all of it zeros, so an input is not the file: it says what a small
 * ring, made once, is to be changed to (tests/recorder/drain/fake_ring.h).  Its first byte is the options of the
 * snapshot; then, until it ends,
 *
 *   'r' proc kind flags serial time16 n  word...   a record is committed; a word is
 *            0 value8 | 1 value64 | 2 index (an id of a table) | 3 time16
 *   'c' tid n word...     the same as a record of the overflow stream, whose check is right
 *   'p' area off16 n byte...   bytes of an area of the file are replaced; behind all records
 *
 * It is read as trace-analyze and `trace-record --recover` read a ring, and the trace that comes of
 * it is read in full: what the drain lets through is a sound file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/drain/ring_file.h"
#include "tests/recorder/drain/fake_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum { RING_BYTES = 256 << 10, WORDS_MAX = 24, IDS = 8 };

static struct {
	struct fake fake;
	char path[64];
	void *pristine;
	uint64_t id[IDS];
} made;

struct input {
	const uint8_t *at, *end;
};

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static uint8_t take8(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static uint16_t take16(struct input *in)
{
	uint8_t low = take8(in);

	return (uint16_t)(low | take8(in) << 8);
}

static uint64_t take64(struct input *in)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value |= (uint64_t)take8(in) << 8 * i;
	return value;
}

/* ---- the ring ---------------------------------------------------------------------------- */

static void remove_ring(void)
{
	unlink(made.path);
}

/* A file: what has no name in a directory is refused. */
static int make_file(void)
{
	const char *dir = getenv("TRC_RING_DIR");
	int fd;

	snprintf(made.path, sizeof(made.path), "%s/fuzz-XXXXXX", dir ? dir : "/dev/shm");
	fd = mkstemp(made.path);
	promise(fd >= 0, "a file");
	atexit(remove_ring);
	return fd;
}

static void fill_tables(void)
{
	static const uint64_t stack[] = {0x401000, 0x402000, 0x403000};
	struct fake *f = &made.fake;

	made.id[0] = fake_stack(f, 1, 0, stack, 3);
	made.id[1] = fake_stack(f, 2, 0, stack + 1, 1);
	made.id[2] = fake_string(f, 1, "requests");
	made.id[3] = fake_string(f, 2, "parse");
	made.id[4] = fake_labels(f, 1, "tenant", "acme");
	made.id[5] = fake_labels(f, 2, "user", "\xff");
	made.id[6] = UINT64_MAX;
	fake_slot(f, 0, 1, 101, "main");
	fake_slot(f, 1, 2, 102, "worker");
	fake_module(f, 0, 0x400000, 0x500000, "/bin/program");
}

static void make_ring(void)
{
	const struct trc_layout_options options = {.n_procs = FAKE_PROCS, .max_bytes = RING_BYTES};
	const uint64_t wait[] = {TRC_REASON_MUTEX, 0x10, 2, 0};

	fake_init_in(&made.fake, make_file(), &options);
	fill_tables();
	fake_put(&made.fake, 0, 100, TRC_KIND_PARK, 0, 1, wait, 4);
	fake_put(&made.fake, 1, 200, TRC_KIND_RESUME, 0, 1, wait, 3);
	fake_cell_put(&made.fake, 300, 101, 1, 0x10);
	made.pristine = malloc(made.fake.mapped_bytes);
	promise(made.pristine, "memory");
	memcpy(made.pristine, made.fake.shared, made.fake.mapped_bytes);
}

/* ---- what an input changes --------------------------------------------------------------- */

static uint32_t take_words(struct input *in, uint64_t *words)
{
	uint32_t n = take8(in) % WORDS_MAX;

	for (uint32_t i = 0; i < n; i++) {
		switch (take8(in) & 3) {
		case 0:
			words[i] = take8(in);
			break;
		case 1:
			words[i] = take64(in);
			break;
		case 2:
			words[i] = made.id[take8(in) % IDS];
			break;
		case 3:
			words[i] = fake_time(&made.fake, take16(in));
			break;
		}
	}
	return n;
}

static void put_record(struct input *in)
{
	uint32_t proc = take8(in) % FAKE_PROCS;
	unsigned int kind = take8(in), flags = take8(in);
	uint32_t serial = take8(in);
	uint64_t after = take16(in), words[WORDS_MAX];
	uint32_t n = take_words(in, words);

	fake_put(&made.fake, proc, after, kind, flags, serial, words, n);
}

static void put_cells(struct input *in)
{
	uint32_t tid = take8(in);
	uint64_t words[WORDS_MAX];
	uint32_t n = take_words(in, words), n_cells = 1;

	if (!n)
		return;
	if (n > 6) /* the first cell holds the claim, too */
		n_cells += (n - 6 + 6) / 7;
	fake_commit(&made.fake, fake_reserve(&made.fake, n_cells), n_cells, 1, tid, words, n);
}

static void patch(struct input *in, bool apply)
{
	const struct trc_shared *h = made.pristine;
	const uint64_t area[] = {0,
				 h->procs_off,
				 h->overflow_off,
				 h->threads_off,
				 h->stacks_off,
				 h->strings_off,
				 h->labels_off,
				 h->modules_off,
				 h->epochs_off,
				 h->heap_off,
				 h->cells_off,
				 h->data_off,
				 h->total_bytes};
	uint8_t which = take8(in) % 12;
	uint64_t off = area[which] + take16(in) % (area[which + 1] - area[which]);

	for (uint32_t n = take8(in) % 64; n && off < h->total_bytes; n--, off++) {
		uint8_t value = take8(in);

		if (apply)
			((uint8_t *)made.fake.shared)[off] = value;
	}
}

static void change(struct input in, bool patches)
{
	uint64_t words[WORDS_MAX];

	while (in.at < in.end) {
		uint8_t what = take8(&in);

		if (what == 'p') {
			patch(&in, patches);
		} else if (what == 'r' && !patches) {
			put_record(&in);
		} else if (what == 'c' && !patches) {
			put_cells(&in);
		} else if (what == 'r' || what == 'c') {
			for (int i = what == 'r' ? 6 : 1; i; i--)
				take8(&in);
			take_words(&in, words);
		}
	}
}

/* ---- reading ----------------------------------------------------------------------------- */

static void check_trace(void)
{
	struct trc_error error = {""};
	struct trc_reader *r;
	struct trc_columns *c;

	promise(!trc_reader_open_memory(&r, made.fake.file, made.fake.file_bytes, &error),
		error.text);
	promise(!trc_reader_warning(r), "a file without a warning");
	promise(trc_reader_info(r)->complete, "a complete file");
	promise(!trc_reader_info(r)->dangling_ids, "every id is in its table");
	for (size_t i = 0; i < trc_reader_blocks(r); i++) {
		promise(!trc_reader_load(r, i, TRC_WANT_ALL, NULL, &c, &error), error.text);
		trc_columns_free(c);
	}
	trc_reader_close(r);
}

static void read_ring(uint8_t how)
{
	const struct trc_snapshot_options options = {
		.all = how & 1, .window_ns = how & 2 ? UINT64_MAX : how & 4 ? 50 : 0, .dead = how & 8};
	struct trc_ring_file f;
	char error[300] = "";

	made.fake.file_bytes = 0;
	if (trc_ring_file_open(&f, made.path, error, sizeof(error))) {
		promise(*error, "an error has a text");
		return;
	}
	if (trc_ring_file_to_trace(&f, &options, fake_sink, &made.fake, error, sizeof(error)))
		promise(*error, "an error has a text");
	else
		check_trace();
	trc_ring_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct input in = {bytes, bytes + n_bytes};
	uint8_t how;

	if (!made.pristine)
		make_ring();
	how = take8(&in);
	change(in, false);
	change(in, true);
	read_ring(how);
	memcpy(made.fake.shared, made.pristine, made.fake.mapped_bytes);
	return 0;
}
