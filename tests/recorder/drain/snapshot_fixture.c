/* snapshot_fixture.c - see snapshot_fixture.h. */
#include "snapshot_fixture.h"
#include "recorder/shared/clock.h"

struct fake f;
struct fake_file file;

const struct trc_snapshot_options dead = {.window_ns = UINT64_MAX, .dead = true};

void snapshot_set_up(void)
{
	fake_init_alone(&f, RING_BYTES); /* four pages of 1024 words */
	f.overwrite = true;
}

void snapshot_tear_down(void)
{
	fake_file_free(&file);
	fake_free(&f);
}

void put_counted_at(uint32_t proc, uint64_t after, uint64_t n)
{
	uint64_t words[2] = {n, 3 * n};

	ck_assert(fake_put(&f, proc, after, TRC_KIND_RELEASE, 0, 7, words, 2));
}

/* Records n, n + 1, ... at these times. */
void put_many(uint32_t proc, uint64_t first, uint64_t n_records)
{
	for (uint64_t n = first; n < first + n_records; n++)
		put_counted_at(proc, 100 + n, n);
}

const struct fake_row *row(unsigned int kind, size_t i)
{
	const struct fake_row *r = fake_row(&file, kind, i);

	ck_assert_msg(r != NULL, "no event %zu of kind %u", i, kind);
	return r;
}

/* The events of a proc are first, first + 1, ... n_records of them. */
void expect_run(uint32_t proc, uint64_t first, uint64_t n_records)
{
	uint64_t next = first;

	for (size_t i = 0; i < file.n_rows; i++) {
		const struct fake_row *r = &file.row[i];

		if (r->kind != TRC_KIND_RELEASE || r->proc != proc)
			continue;
		ck_assert_uint_eq(r->arg[0], next);
		ck_assert_uint_eq(r->arg[1], 3 * next);
		next++;
	}
	ck_assert_uint_eq(next - first, n_records);
}

const struct trc_coverage_entry *coverage(uint8_t source, uint32_t proc)
{
	const struct trc_coverage_entry *entry;
	size_t n = trc_reader_coverage(file.r, &entry);

	for (size_t i = 0; i < n; i++)
		if (entry[i].source == source && entry[i].proc == proc)
			return &entry[i];
	return NULL;
}

void expect_coverage(uint32_t proc, uint64_t held, uint64_t from, uint64_t to)
{
	const struct trc_coverage_entry *c = coverage(TRC_SOURCE_RING, proc);

	ck_assert_ptr_nonnull(c);
	ck_assert_uint_eq(c->held, held);
	ck_assert_uint_eq(c->from, from);
	ck_assert_uint_eq(c->to, to);
}

const struct trc_thread_entry *thread(uint32_t serial)
{
	for (size_t i = 0; i < trc_reader_threads(file.r); i++)
		if (trc_reader_thread(file.r, i)->serial == serial)
			return trc_reader_thread(file.r, i);
	return NULL;
}

/* A drain over a copy, with a window of one's own choice. */
void drain_open(const struct trc_drain_options *options)
{
	struct trc_writer_options wo = {.n_procs = FAKE_PROCS, .memory_bytes = 8 << 20};

	wo.clock = trc_clock_kind;
	wo.ticks_per_second = f.shared->ticks_per_second;
	ck_assert_int_eq(trc_writer_open(&f.w, &wo, fake_sink, &f), 0);
	ck_assert_int_eq(trc_drain_open(&f.drain, f.shared, f.mapped_bytes, f.w, options), 0);
	trc_writer_sync(f.w, &f.shared->start);
	trc_drain_copy(f.drain);
}

void drain_finish(void)
{
	ck_assert_int_eq(trc_drain_copy_finish(f.drain), 0);
	ck_assert_int_eq(trc_writer_finish(f.w), 0);
	fake_read_back(&f, &file);
}

void drain_window(uint64_t from, uint64_t to)
{
	struct trc_drain_window window = {.from = fake_time(&f, from),
					  .to = fake_time(&f, to),
					  .now = fake_time(&f, 1000000),
					  .sync = f.shared->start};
	struct trc_drain_options options = {.window = &window};

	drain_open(&options);
	drain_finish();
}
