/* written.c - what the tests of the writer share. */
#include "written.h"

const struct trc_writer_options written_options = {
	.clock = TRC_CLOCK_MONOTONIC_RAW,
	.ticks_per_second = 1000000000,
	.n_procs = 2,
	.memory_bytes = 8 << 20,
};

struct trc_writer *open_writer(struct bytes *b)
{
	struct trc_writer *w;

	ck_assert_int_eq(trc_writer_open(&w, &written_options, bytes_sink, b), 0);
	return w;
}

struct trc_event an_event(uint64_t time)
{
	struct trc_event e = {.time = time, .thread = 1, .kind = TRC_KIND_RELEASE, .arg = {1, 2}};

	return e;
}

struct trc_reader *read_written(struct trc_writer *w, const struct bytes *b)
{
	struct trc_error error;
	struct trc_reader *r;

	ck_assert_int_eq(trc_writer_finish(w), 0);
	ck_assert_msg(!trc_reader_open_memory(&r, b->at, b->n, &error), "%s", error.text);
	return r;
}

void close_written(struct trc_reader *r, struct trc_writer *w, struct bytes *b)
{
	trc_reader_close(r);
	trc_writer_close(w);
	bytes_free(b);
}
