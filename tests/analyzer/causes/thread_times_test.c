/*
 * thread_times_test.c - how long a thread was in each state in spans of any length: of short ones, which are walked, and of long
 * ones, which are told from sums between (thread_times:Y2).
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/thread_times.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

enum { WAITS = 3000, STEP_NS = 100, END_NS = WAITS * STEP_NS };

/* In each 100 ns the thread waits for one of some reasons, from 10 on for so long, is woken 5 ns before the end, and goes on. */
static const char *const REASONS[] = {"mutex", "cond", "read", "sleep", "sem", "poll", "recv"};

static int wait_ns(int i)
{
	return 6 + i * 7 % 80;
}

static char *text_make(void)
{
	char *text;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_ptr_nonnull(out);
	fprintf(out, "thread 1 tid=11\nthread 2 tid=12\n@0 thread=2 counter name=\"n\" value=1\n");
	for (int i = 0; i < WAITS; i++) {
		const char *reason = REASONS[i % 7];
		int at = i * STEP_NS + 10, end = at + wait_ns(i);

		fprintf(out, "@%d thread=1 park reason=%s object=0x10\n", at, reason);
		if (!strcmp(reason, "cond"))
			fprintf(out, "@%d thread=2 unpark reason=cond object=0x10 count=1\n",
				end - 5);
		fprintf(out, "@%d thread=1 resume reason=%s object=0x10\n", end, reason);
	}
	fprintf(out, "@%d thread=2 counter name=\"n\" value=2\n", END_NS);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

/* By the rules of text_make(), at one moment. */
static unsigned int cell_at(int64_t ts_ns)
{
	static const unsigned int REASON[] = {TRC_REASON_MUTEX, TRC_REASON_COND, TRC_REASON_READ,
					      TRC_REASON_SLEEP, TRC_REASON_SEM,	 TRC_REASON_POLL,
					      TRC_REASON_RECV};
	int i = (int)(ts_ns / STEP_NS), in = (int)(ts_ns % STEP_NS) - 10;
	bool woken = i % 7 == 1 && in >= wait_ns(i) - 5;

	if (in < 0 || in >= wait_ns(i))
		return TRC_TASK_ACTIVE * TRC_REASON_COUNT;
	return (woken ? 0U + TRC_TASK_WOKEN : 0U + TRC_TASK_WAITING) * TRC_REASON_COUNT +
	       REASON[i % 7];
}

struct fixture {
	struct trc_model *m;
	struct trc_thread_times times;
	int64_t (*before_ns)[TRC_STATE_CELLS]; /* by hundreds of ns, of each cell before */
};

static void fixture_open(struct fixture *f)
{
	char *text = text_make();

	f->m = model_of(text, TRC_CAUSES_PARTS);
	free(text);
	ck_assert_int_eq(trc_thread_times_open(&f->times, f->m), 0);
	f->before_ns = calloc(WAITS + 1, sizeof(*f->before_ns));
	ck_assert_ptr_nonnull(f->before_ns);
	for (int64_t ns = 0; ns < END_NS; ns++) {
		if (ns % STEP_NS == 0)
			memcpy(f->before_ns[ns / STEP_NS + 1], f->before_ns[ns / STEP_NS],
			       sizeof(*f->before_ns));
		f->before_ns[ns / STEP_NS + 1][cell_at(ns)]++;
	}
}

static void fixture_close(struct fixture *f)
{
	trc_thread_times_close(&f->times);
	model_close(f->m);
	free(f->before_ns);
}

static int64_t expected_before(const struct fixture *f, int64_t ts_ns, unsigned int cell)
{
	int64_t sum = f->before_ns[ts_ns / STEP_NS][cell];

	for (int64_t ns = ts_ns / STEP_NS * STEP_NS; ns < ts_ns; ns++)
		sum += cell_at(ns) == cell;
	return sum;
}

static void span_is(struct fixture *f, int64_t from_ns, int64_t to_ns)
{
	static struct trc_state_sums sums;
	size_t n = 0;

	ck_assert_int_eq(trc_thread_times_add(&f->times, 0, from_ns, to_ns, &sums), 0);
	for (unsigned int cell = 0; cell < TRC_STATE_CELLS; cell++) {
		int64_t ns = expected_before(f, to_ns, cell) - expected_before(f, from_ns, cell);

		ck_assert_msg(sums.ns[cell] == ns,
			      "%" PRId64 "..%" PRId64 ": cell %u has %" PRId64 ", not %" PRId64,
			      from_ns, to_ns, cell, sums.ns[cell], ns);
		n += ns > 0;
	}
	ck_assert_uint_eq(sums.n, n);
	trc_state_sums_sort(&sums);
	for (size_t i = 1; i < sums.n; i++)
		ck_assert_uint_lt(sums.cell[i - 1], sums.cell[i]);
	trc_state_sums_clear(&sums);
	for (unsigned int cell = 0; cell < TRC_STATE_CELLS; cell++)
		ck_assert_int_eq(sums.ns[cell], 0);
}

/* Forwards, backwards and anywhere: the place of the span before is where the next one is looked for first. */
START_TEST(spans_of_any_length)
{
	static const int64_t LENGTHS[] = {1,	5,    99,   100,   101,	   1000,
					  6399, 6400, 6401, 20000, 150000, END_NS};
	struct fixture f;
	uint64_t draw = 1;

	fixture_open(&f);
	for (size_t i = 0; i < sizeof(LENGTHS) / sizeof(*LENGTHS); i++) {
		int64_t last = END_NS - LENGTHS[i];

		for (int64_t from = 0; from <= last; from += last / 40 + 1)
			span_is(&f, from, from + LENGTHS[i]);
		for (int64_t from = last; from >= 0; from -= last / 40 + 1)
			span_is(&f, from, from + LENGTHS[i]);
		for (int k = 0; k < 40; k++) {
			int64_t from;

			draw = draw * 6364136223846793005 + 1442695040888963407;
			from = (int64_t)(draw >> 33) % (last + 1);
			span_is(&f, from, from + LENGTHS[i]);
		}
	}
	fixture_close(&f);
}
END_TEST

/* Spans of one thread add up, until they are taken. */
START_TEST(spans_add_up)
{
	static struct trc_state_sums sums;
	struct fixture f;

	fixture_open(&f);
	for (int64_t at = 0; at < END_NS; at += 30)
		ck_assert_int_eq(trc_thread_times_add(&f.times, 0, at, at + 30, &sums), 0);
	for (unsigned int cell = 0; cell < TRC_STATE_CELLS; cell++)
		ck_assert_int_eq(sums.ns[cell], expected_before(&f, END_NS, cell));
	trc_state_sums_clear(&sums);
	ck_assert_int_eq(trc_thread_times_add(&f.times, 1, 10, 10, &sums), 0);
	ck_assert_uint_eq(sums.n, 0);
	ck_assert_int_eq(trc_thread_times_add(&f.times, 1, 10, 25, &sums), 0);
	ck_assert_uint_eq(sums.n, 1);
	ck_assert_int_eq(sums.ns[TRC_TASK_ACTIVE * TRC_REASON_COUNT], 15);
	fixture_close(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_times");
	TCase *tcase = tcase_create("thread_times");

	tcase_add_test(tcase, spans_of_any_length);
	tcase_add_test(tcase, spans_add_up);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
