/*
 * ring_stress.c - every committed record is there exactly once and in order, whatever happens
 * to the threads that record: preemption, migration, signals whose handlers record too, rings
 * of one page, clocks that are no counter, and the path without restartable sequences.
 */
#include <check.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "recorder/ring/rec.h"
#include "recorder/ring/ring_inline.h"
#include "recorder/guest/session.h"
#include "ring_reader.h"
#include "stress_workers.h"
#include "tests/turns.h"
#include "tests/suite.h"

enum { SEEN_MAX = 1 << 22 };

struct row {
	const char *says;
	enum trc_ring_path path;
	enum trc_clock_kind clock;
	enum trc_on_full on_full;
	uint64_t ring_bytes, overflow_bytes;
	int records; /* by each thread, signal handlers not counted */
	bool signals, migration;
};

static const struct row rows[] = {
	{"plain", TRC_PATH_AUTO, 0, TRC_ON_FULL_WAIT, 1 << 20, 0, 200000, false, false},
	{"with signals", TRC_PATH_AUTO, 0, TRC_ON_FULL_WAIT, 1 << 20, 0, 200000, true, false},
	{"with migration", TRC_PATH_AUTO, 0, TRC_ON_FULL_WAIT, 1 << 20, 0, 100000, false, true},
	{"with both", TRC_PATH_AUTO, 0, TRC_ON_FULL_WAIT, 1 << 20, 0, 100000, true, true},
	{"rings of one page", TRC_PATH_AUTO, 0, TRC_ON_FULL_WAIT, 8192, 0, 50000, true, true},
	{"one page, dropping", TRC_PATH_AUTO, 0, TRC_ON_FULL_DROP, 8192, 0, 200000, true, true},
	{"by a clock that is no counter", TRC_PATH_AUTO, TRC_CLOCK_MONOTONIC_RAW,
	 TRC_ON_FULL_WAIT, 1 << 20, 0, 100000, true, true},
	{"overflow stream", TRC_PATH_OVERFLOW, 0, TRC_ON_FULL_WAIT, 8192, 1 << 20, 100000, true,
	 true},
	{"a small overflow stream", TRC_PATH_OVERFLOW, 0, TRC_ON_FULL_WAIT, 8192, 1, 20000, true,
	 true},
	{"a small one, dropping", TRC_PATH_OVERFLOW, 0, TRC_ON_FULL_DROP, 8192, 1, 100000, true,
	 true},
};

/* What each thread, and each thread's handler, did; the second half is the handlers'. */
static struct {
	_Alignas(64) uint64_t emitted, committed;
} source[STRESS_SOURCES];

/* Half of the records of the shortest form, half of the general one with a long tail. */
static void record_numbered(int from)
{
	uint64_t n = source[from].emitted++;
	uint64_t word[40] = {(uint64_t)from, n, ~n};
	uint32_t words = n % 2 ? 3 + (uint32_t)(n % 37) : 2;

	for (uint32_t i = 3; i < words; i++)
		word[i] = n + i;
	if (!trc_self_ready())
		return;
	if (words == 2)
		source[from].committed +=
			trc_record_two(TRC_REC_WORD1(TRC_KIND_COUNTER, 0, 4, trc_self.serial),
				       (uint64_t)from, n);
	else
		source[from].committed +=
			trc_record_args(TRC_REC_WORD1(TRC_KIND_LOG, 0, 2 + words, trc_self.serial),
					word, words);
}

static void run_workers(const struct row *row, struct ring_reader *reader)
{
	const struct stress_plan plan = {record_numbered, row->records, row->signals,
					 row->migration};

	stress_start(&plan);
	while (stress_running())
		if (!ring_reader_pass(reader, trc_session_shared()))
			sched_yield();
	stress_join();
	ring_reader_finish(reader, trc_session_shared());
}

/* By stream as read: times of a stream never decrease, and of a proc's ring they grow. */
static void check_streams(const struct ring_reader *r)
{
	static uint64_t last[TRC_PROCS_MAX + 1];

	for (int i = 0; i <= TRC_PROCS_MAX; i++)
		last[i] = 0;
	for (size_t i = 0; i < r->n_seen; i++) {
		const struct seen *s = &r->seen[i];
		uint64_t *newest =
			&last[s->stream == STREAM_OVERFLOW ? TRC_PROCS_MAX : s->stream];

		ck_assert_msg(s->time >= *newest, "record %zu of stream %u goes back in time", i,
			      s->stream);
		*newest = s->time;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Over all streams: the numbers of each source come in order, none twice. */
static void check_numbers(const struct ring_reader *r)
{
	int64_t last[STRESS_SOURCES];
	uint64_t count[STRESS_SOURCES] = {0};

	for (int i = 0; i < STRESS_SOURCES; i++)
		last[i] = -1;
	for (size_t i = 0; i < r->n_seen; i++) {
		const struct seen *s = &r->seen[i];

		if (s->kind != TRC_KIND_COUNTER && s->kind != TRC_KIND_LOG)
			continue;
		ck_assert_uint_lt(s->a, STRESS_SOURCES);
		ck_assert_msg((int64_t)s->b > last[s->a], "source %llu: %llu after %lld",
			      (unsigned long long)s->a, (unsigned long long)s->b,
			      (long long)last[s->a]);
		if (s->kind == TRC_KIND_LOG)
			ck_assert_uint_eq(s->c, ~s->b);
		last[s->a] = (int64_t)s->b;
		count[s->a]++;
	}
	for (int i = 0; i < STRESS_SOURCES; i++)
		ck_assert_uint_eq(count[i], source[i].committed);
}

START_TEST(every_record_once_and_in_order)
{
	const struct row *row = &rows[_i];
	struct trc_session_options o;
	struct ring_reader reader;
	uint64_t emitted = 0, committed = 0;
	char error[256] = "";

	if (!takes_turn((size_t)_i, 2))
		return;
	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.ring_bytes = row->ring_bytes;
	o.overflow_bytes = row->overflow_bytes;
	o.path = getenv("TRC_RING_PATH") ? o.path : row->path;
	o.clock = row->clock;
	o.on_full = row->on_full;
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	ring_reader_init(&reader, trc_session_shared(), SEEN_MAX);
	trc_session_record(true);
	run_workers(row, &reader);
	trc_session_record(false);
	for (int i = 0; i < STRESS_SOURCES; i++) {
		emitted += source[i].emitted;
		committed += source[i].committed;
	}
	ck_assert_uint_eq(reader.damaged, 0);
	check_streams(&reader);
	qsort(reader.seen, reader.n_seen, sizeof(*reader.seen), by_time);
	check_numbers(&reader);
	/* A THREAD_START may be lost as well. */
	ck_assert_uint_ge(committed + reader.lost, emitted);
	ck_assert_uint_le(committed + reader.lost, emitted + STRESS_THREADS);
	/* Who waits gives up after PATIENCE_NS and not before: the reader was away for longer, without a
	 * processor.  A thread that gives up may count its record only after the reader is back. */
	if (row->on_full == TRC_ON_FULL_WAIT && !row->signals)
		ck_assert_msg(reader.lost_soon <= STRESS_THREADS * reader.absences &&
				      (!reader.lost || reader.absences),
			      "of %" PRIu64 " lost %" PRIu64 " had a reader; it was away for too long "
			      "%" PRIu64 " times, for %" PRIu64 " us at most",
			      reader.lost, reader.lost_soon, reader.absences,
			      reader.away_ns / 1000);
	printf("%-32s %9llu emitted, %8llu lost, %llu in handlers, the reader away for %llu us\n",
	       row->says, (unsigned long long)emitted, (unsigned long long)reader.lost,
	       (unsigned long long)(source[STRESS_THREADS].emitted + source[STRESS_THREADS + 1].emitted),
	       (unsigned long long)reader.away_ns / 1000);
	ring_reader_free(&reader);
	trc_session_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring_stress");
	TCase *stress = tcase_create("stress");

	tcase_set_timeout(stress, 120);
	tcase_add_loop_test(stress, every_record_once_and_in_order, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	suite_add_tcase(suite, stress);
	return suite_run(suite);
}
