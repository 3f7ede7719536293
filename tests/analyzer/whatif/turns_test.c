/*
 * turns_test.c - which thread has a proc when, and how long turns are in a trace.
 *
 * A thread here works and sleeps in turn: `work` and `sleep` are how long, `times` how often.  What it did is a line
 * "thread: work since..until" each time.  A turn is 4 long.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/whatif/turns.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/often.h"
#include "tests/suite.h"

enum { THREADS_MAX = 4, TURN = 4 };

struct worker {
	int64_t begin, work, sleep;
	int times;
};

struct turns_case {
	const char *what;
	uint32_t procs;
	struct worker worker[THREADS_MAX];
	const char *lines;
};

static const struct turns_case turns_cases[] = {
	{"a proc for each", 2, {{0, 10, 0, 1}, {1, 4, 0, 1}}, "B 1..5\nA 0..10\n"},
	{"two take turns on one", 1, {{0, 10, 0, 1}, {1, 4, 0, 1}}, "B 1..8\nA 0..14\n"},
	{"three on two",
	 2,
	 {{0, 8, 0, 1}, {0, 8, 0, 1}, {0, 8, 0, 1}},
	 "A 0..8\nB 0..12\nC 0..12\n"},
	{"who asks for more at once keeps its proc up to the end of its turn",
	 1,
	 {{0, 1, 0, 8}, {0, 6, 0, 1}},
	 "A 0..1\nA 1..2\nA 2..3\nA 3..4\nA 4..9\nA 9..10\nA 10..11\nA 11..12\nB 0..14\n"},
	{"who sleeps a lot goes before those who have had more",
	 1,
	 {{0, 40, 0, 1}, {0, 40, 0, 1}, {17, 1, 20, 2}},
	 "C 17..25\nC 45..46\nA 0..78\nB 0..82\n"},
	{"and has not saved up what it did not need",
	 1,
	 {{0, 60, 0, 1}, {50, 30, 0, 1}},
	 "A 0..68\nB 50..90\n"},
	{"a thread that needs nothing still needs its turn",
	 1,
	 {{0, 9, 0, 1}, {1, 0, 0, 1}},
	 "B 1..4\nA 0..9\n"},
};

struct play {
	const struct turns_case *test;
	struct trc_turns turns;
	struct trc_heap timers;
	int64_t since[THREADS_MAX];
	int times[THREADS_MAX];
	struct text text;
};

static void need(struct play *p, uint32_t thread, int64_t now)
{
	p->since[thread] = now;
	trc_turns_need(&p->turns, now, thread, p->test->worker[thread].work);
}

/* The thread has worked: it works again, sleeps, or is done. */
static void worked(struct play *p, uint32_t thread, int64_t now)
{
	const struct worker *worker = &p->test->worker[thread];

	add(&p->text, "%c %" PRId64 "..%" PRId64 "\n", 'A' + (int)thread, p->since[thread], now);
	if (++p->times[thread] < worker->times) {
		if (worker->sleep)
			trc_heap_push(&p->timers, now + worker->sleep, thread);
		else
			need(p, thread, now);
	}
	trc_turns_leave(&p->turns, now);
}

static void play(struct play *p)
{
	for (;;) {
		int64_t next = trc_turns_next_ns(&p->turns);
		uint32_t thread;

		if (p->timers.n && p->timers.entry[0].key <= next) {
			int64_t now = p->timers.entry[0].key;

			need(p, trc_heap_pop(&p->timers), now);
		} else if (next == INT64_MAX) {
			return;
		} else if (trc_turns_next(&p->turns, &thread)) {
			worked(p, thread, next);
		}
	}
}

START_TEST(test_turns)
{
	struct play p = {.test = &turns_cases[_i]};

	ck_assert(!trc_turns_make(&p.turns, THREADS_MAX, p.test->procs, TURN, 1000));
	ck_assert(!trc_heap_make(&p.timers, THREADS_MAX));
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		if (p.test->worker[i].times)
			trc_heap_push(&p.timers, p.test->worker[i].begin, i);
	play(&p);
	ck_assert_msg(!strcmp(p.text.at, p.test->lines), "%s:\n%snot:\n%s", p.test->what, p.text.at,
		      p.test->lines);
	trc_turns_free(&p.turns);
	trc_heap_free(&p.timers);
}
END_TEST

/* Times of a hostile file: turns are as long as it takes for them to be few. */
START_TEST(test_absurd_times)
{
	struct trc_turns t;
	uint32_t thread, n_over = 0;
	uint64_t n = 0;

	ck_assert(!trc_turns_make(&t, 2, 1, TURN, INT64_MAX));
	trc_turns_need(&t, 0, 0, INT64_MAX);
	trc_turns_need(&t, INT64_MAX / 2, 1, INT64_MAX);
	while (trc_turns_next_ns(&t) != INT64_MAX || t.running.n) {
		int64_t now = trc_turns_next_ns(&t);

		if (trc_turns_next(&t, &thread)) {
			n_over++;
			trc_turns_leave(&t, now);
		}
		expect(n++ < 100000000);
	}
	ck_assert_uint_eq(n_over, 2);
	trc_turns_free(&t);
}
END_TEST

/* alternating(N, TURN_NS, IDLE_NS): two threads on one proc, each N times for TURN_NS, with so much between two turns. */
static int64_t measured(int n, int64_t turn_ns, int64_t idle_ns, int preempted)
{
	size_t n_bytes = 200 + (size_t)n * 400;
	char *text = malloc(n_bytes);
	size_t used = (size_t)snprintf(text, n_bytes,
				       "thread 1 tid=101\nthread 2 tid=102\n"
				       "@0 thread=1 log message=\"begin\"\n");
	int64_t ns = 1000, got = 0;
	struct trc_model *m;

	for (int i = 0; i < 2 * n; i++, ns += turn_ns + idle_ns)
		used += (size_t)snprintf(text + used, n_bytes - used,
					 "@%" PRId64 " proc=0 source=kernel thread=%d proc_start\n"
					 "@%" PRId64
					 " proc=0 source=kernel thread=%d proc_stop preempted=%d\n",
					 ns, 1 + i % 2, ns + turn_ns, 1 + i % 2, preempted);
	m = model_of(text, TRC_PART_ALL);
	ck_assert(!trc_turn_measure(&got, m));
	model_close(m);
	free(text);
	return got;
}

START_TEST(test_measured)
{
	ck_assert_int_eq(measured(20, 1400000, 2000, 1), 1400000);
	/* Too few, nobody else wanted the proc at once, or nobody was interrupted. */
	ck_assert_int_eq(measured(5, 1400000, 2000, 1), 4000000);
	ck_assert_int_eq(measured(20, 1400000, 200000, 1), 4000000);
	ck_assert_int_eq(measured(20, 1400000, 2000, 0), 4000000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("turns");
	TCase *tc = tcase_create("turns");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_turns, 0, sizeof(turns_cases) / sizeof(*turns_cases));
	tcase_add_test(tc, test_absurd_times);
	tcase_add_test(tc, test_measured);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
