/*
 * between_test.c - what a part of a large trace has is found without looking at all of the trace: nothing of it is missing, the parts
 * add up to the whole, and rows far away are not looked at.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/blame.h"
#include "analyzer/causes/causes.h"
#include "analyzer/model/between.h"
#include "analyzer/model/selection_rows.h"
#include "model_fixture.h"

enum { EVENTS = 12000, N_THREADS = 6, STEP_NS = 20, TEXT_BYTES = 120 * EVENTS, WINDOWS = 40 };

static uint64_t state;

static unsigned int draw(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)((state >> 33) % limit);
}

/* What a thread waits for: 0 = nothing, 9 = a condition, else that mutex. */
static unsigned int waits_for[N_THREADS + 1];

/* Who waits goes on at its next event. */
static size_t put_event(char *text, size_t room, unsigned int *object)
{
	const char *reason = *object == 9 ? "cond" : "mutex";
	unsigned int was = *object;

	*object = 0;
	if (was)
		return (size_t)snprintf(text, room, "resume reason=%s object=%u", reason, was);
	switch (draw(6)) {
	case 0:
	case 1:
		*object = draw(3) + 1;
		return (size_t)snprintf(text, room, "park reason=mutex object=%u holder=%u stack=s1",
					*object, draw(N_THREADS));
	case 2:
		*object = 9;
		return (size_t)snprintf(text, room, "park reason=cond object=9 stack=s2");
	case 3:
		return (size_t)snprintf(text, room, "unlock reason=mutex object=%u stack=s2",
					draw(3) + 1);
	case 4:
		return (size_t)snprintf(text, room,
					draw(2) ? "task_begin task=%u type=\"t\"" : "task_end task=%u",
					draw(400) + 1);
	default:
		return (size_t)snprintf(text, room, "sample event=1 value=7 stack=s1");
	}
}

/* A thread that waits all the time, since its wait is the first row and lies in every part; and others that do a lot. */
static struct trc_model *random_model(void)
{
	char *text = malloc(TEXT_BYTES);
	struct trc_model *m;
	size_t n;

	ck_assert_ptr_nonnull(text);
	memset(waits_for, 0, sizeof(waits_for));
	n = (size_t)snprintf(text, TEXT_BYTES,
			     "stack s1 0x1 0x3\nstack s2 0x2 0x3\n"
			     "sample_event 1 how=timer name=\"timer\" unit=\"nanoseconds\" period=1000\n");
	for (unsigned int i = 1; i <= N_THREADS; i++)
		n += (size_t)snprintf(text + n, TEXT_BYTES - n, "thread %u tid=%u\n", i, 100 + i);
	n += (size_t)snprintf(text + n, TEXT_BYTES - n,
			      "@1 proc=0 thread=%u park reason=sem object=7 stack=s1\n", N_THREADS);
	for (unsigned int i = 0; i < EVENTS; i++) {
		unsigned int thread = 1 + draw(N_THREADS - 1);

		n += (size_t)snprintf(text + n, TEXT_BYTES - n, "@%u proc=0 thread=%u ", 2 + i * STEP_NS,
				      thread);
		n += put_event(text + n, TEXT_BYTES - n, &waits_for[thread]);
		text[n++] = '\n';
		ck_assert_uint_lt(n, TEXT_BYTES - 200);
	}
	n += (size_t)snprintf(text + n, TEXT_BYTES - n,
			      "@%u proc=0 thread=%u resume reason=sem object=7\n", EVENTS * STEP_NS + 10,
			      N_THREADS);
	m = model_of(text, TRC_PART_ALL);
	free(text);
	return m;
}

static size_t rows_in(const struct trc_model *m, enum trc_selected_table table)
{
	size_t n = 0;

	switch (table) {
	case TRC_SELECTED_PARKS:
		trc_model_parks(m, &n);
		break;
	case TRC_SELECTED_UNLOCKS:
		trc_model_unlocks(m, &n);
		break;
	case TRC_SELECTED_SAMPLES:
		trc_model_samples(m, &n);
		break;
	case TRC_SELECTED_TASKS:
		trc_model_tasks(m, &n);
		break;
	default:
		break;
	}
	return n;
}

static const enum trc_selected_table TABLES[] = {TRC_SELECTED_PARKS, TRC_SELECTED_UNLOCKS,
						 TRC_SELECTED_SAMPLES, TRC_SELECTED_TASKS};

static struct trc_selection window_of(int64_t from_ns, int64_t to_ns)
{
	return (struct trc_selection){.window = "", .from_ns = from_ns, .to_ns = to_ns};
}

static void select_begin(struct trc_selected_rows *rows, struct trc_model *m,
			 const struct trc_selection *s)
{
	trc_model_select(m, s);
	trc_selected_rows_begin(rows, m);
	ck_assert_int_eq(trc_selected_rows_need_caused(rows), 0);
}

/* One lock was held since long before it was given back. */
START_TEST(a_section_lies_where_the_lock_was_taken)
{
	enum { N_UNLOCKS = 1200, APART_NS = 100, LONG = 900, LINE_BYTES = 100 };
	char *text = malloc((size_t)N_UNLOCKS * LINE_BYTES), *at = text;
	struct trc_model *m;
	size_t n, i;

	ck_assert_ptr_nonnull(text);
	at += sprintf(at, "stack s 0x1\nthread 1 tid=101\n");
	for (int k = 1; k <= N_UNLOCKS; k++)
		at += sprintf(at,
			      "@%d thread=1 unlock reason=mutex object=1 at=%d held=%d stack=s\n",
			      k * APART_NS, k * APART_NS, k == LONG + 1 ? LONG * APART_NS : 10);
	m = model_of(text, TRC_PART_ALL);
	free(text);
	ck_assert_int_eq(trc_model_unlocks(m, &n)[LONG].taken_ns, APART_NS);
	ck_assert_uint_eq(n, N_UNLOCKS);
	ck_assert_uint_eq(trc_between_next(m, TRC_BETWEEN_UNLOCKS, 0, 1000, 2000), 0);
	i = trc_between_next(m, TRC_BETWEEN_UNLOCKS, LONG / 2, 1000, 2000);
	ck_assert_uint_gt(i, LONG / 2); /* something is passed over */
	ck_assert_uint_le(i, LONG);
	ck_assert_uint_eq(trc_between_next(m, TRC_BETWEEN_UNLOCKS, LONG, 1000, 2000), LONG);
	trc_model_close(m);
}
END_TEST

START_TEST(nothing_selected_is_passed_over)
{
	struct trc_model *m;
	size_t n_selected = 0;

	state = 0x9e3779b97f4a7c15u;
	m = random_model();
	for (int w = 0; w < WINDOWS; w++) {
		int64_t from_ns = draw(EVENTS * STEP_NS), to_ns = from_ns + 1 + draw(2000);
		const struct trc_selection s = window_of(from_ns, to_ns);
		struct trc_selected_rows rows;
		struct trc_selected_row row;

		select_begin(&rows, m, &s);
		for (size_t t = 0; t < sizeof(TABLES) / sizeof(*TABLES); t++) {
			size_t n = rows_in(m, TABLES[t]);

			for (size_t i = 0; i < n; i++) {
				if (!trc_selected_rows_has(&rows, TABLES[t], i, &row))
					continue;
				n_selected++;
				ck_assert_uint_eq(trc_selected_rows_next(&rows, TABLES[t], i, n), i);
			}
			ck_assert_uint_eq(trc_selected_rows_next(&rows, TABLES[t], n, n), n);
		}
		trc_selected_rows_free(&rows);
	}
	ck_assert_uint_gt(n_selected, 1000);
	trc_model_select(m, NULL);
	model_close(m);
}
END_TEST

START_TEST(rows_far_away_are_not_looked_at)
{
	struct trc_model *m;

	state = 0x9e3779b97f4a7c15u;
	m = random_model();
	for (int w = 0; w < WINDOWS; w++) {
		int64_t from_ns = draw(EVENTS * STEP_NS);
		const struct trc_selection s = window_of(from_ns, from_ns + EVENTS * STEP_NS / 1000);
		struct trc_selected_rows rows;

		select_begin(&rows, m, &s);
		for (size_t t = 0; t < sizeof(TABLES) / sizeof(*TABLES); t++) {
			size_t n = rows_in(m, TABLES[t]), looked_at = 0, i;

			if (TABLES[t] == TRC_SELECTED_TASKS)
				continue; /* some have no end, and lie in each part */
			for (i = trc_selected_rows_next(&rows, TABLES[t], 0, n); i < n;
			     i = trc_selected_rows_next(&rows, TABLES[t], i + 1, n))
				looked_at++;
			ck_assert_uint_gt(n, 700);
			/* Some blocks of 256 rows: those of the part, and of waits without an end. */
			ck_assert_msg(looked_at <= n / 2, "table %zu: %zu of %zu rows", t, looked_at, n);
		}
		trc_selected_rows_free(&rows);
	}
	trc_model_select(m, NULL);
	model_close(m);
}
END_TEST

/* caused:F1, caused:F2 */
START_TEST(what_parts_caused_adds_up)
{
	const struct trc_unlock *unlock;
	int64_t end_ns = EVENTS * STEP_NS + 100, *sum_ns;
	struct trc_selected_range range;
	struct trc_model *m;
	size_t n;

	state = 0x9e3779b97f4a7c15u + (uint64_t)_i;
	m = random_model();
	unlock = trc_model_unlocks(m, &n);
	sum_ns = calloc(n, sizeof(*sum_ns));
	ck_assert_ptr_nonnull(sum_ns);
	for (int64_t from_ns = 0, to_ns; from_ns < end_ns; from_ns = to_ns) {
		struct trc_selection s;
		struct trc_selected_cause *caused;

		to_ns = from_ns + 1 + draw(3 * EVENTS);
		s = window_of(from_ns ? from_ns : INT64_MIN, to_ns < end_ns ? to_ns : INT64_MAX);
		caused = trc_selection_caused_in(&s, m, NULL, &range);
		ck_assert_ptr_nonnull(caused);
		for (size_t i = 0; i < n; i++) {
			sum_ns[i] += caused[i].caused_ns;
			if (caused[i].caused_waits)
				ck_assert(range.first <= i && i < range.end);
		}
		free(caused);
	}
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(sum_ns[i], unlock[i].caused_ns);
	free(sum_ns);
	model_close(m);
}
END_TEST

/* A wait with two unlocks in it, the lock's last ones; and one for the next lock, from before its first unlock. */
START_TEST(one_lock_takes_nothing_from_the_next)
{
	struct trc_model *m = model_of("stack s1 0x1 0x3\nthread 1 tid=11\nthread 2 tid=12\nthread 3 tid=13\nthread 4 tid=14\n"
				       "@10 thread=1 park reason=mutex object=1 stack=s1\n"
				       "@15 thread=4 park reason=mutex object=2 stack=s1\n"
				       "@20 thread=2 unlock reason=mutex object=1 stack=s1\n"
				       "@30 thread=3 unlock reason=mutex object=1 stack=s1\n"
				       "@31 thread=1 resume reason=mutex object=1 result=0\n"
				       "@40 thread=2 unlock reason=mutex object=2 stack=s1\n"
				       "@41 thread=4 resume reason=mutex object=2 result=0\n",
				       TRC_PART_ALL);
	const struct trc_selection s = window_of(INT64_MIN, INT64_MAX);
	struct trc_selected_range range;
	struct trc_selected_cause *caused = trc_selection_caused_in(&s, m, NULL, &range);
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);

	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_nonnull(caused);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(caused[i].caused_ns, unlock[i].caused_ns);
		ck_assert_uint_eq(caused[i].caused_waits, unlock[i].caused_waits);
	}
	ck_assert_int_gt(caused[2].caused_ns, 0);
	free(caused);
	model_close(m);
}
END_TEST

static bool every_wait(void *context, const struct trc_park *park, uint32_t *labels)
{
	(void)context;
	(void)park;
	*labels = 0;
	return true;
}

struct blamed {
	int64_t ns, first_ns, last_ns;
};

static int add_blame(void *context, const struct trc_blame *blame)
{
	struct blamed *b = context;

	b->ns += blame->ns;
	b->first_ns = blame->from_ns < b->first_ns ? blame->from_ns : b->first_ns;
	b->last_ns = blame->to_ns > b->last_ns ? blame->to_ns : b->last_ns;
	return 0;
}

static struct blamed blame_in(const struct trc_model *m, int64_t from_ns, int64_t to_ns)
{
	struct blamed b = {0, INT64_MAX, INT64_MIN};
	const struct trc_blame_target target = {.wanted = every_wait,
						.charge = add_blame,
						.context = &b,
						.from_ns = from_ns,
						.to_ns = to_ns};

	ck_assert_int_eq(trc_blame_sum(m, &target), 0);
	return b;
}

/* With and without a model that keeps what is the same for all parts. */
START_TEST(blame_of_parts_adds_up)
{
	int64_t end_ns, sum_ns = 0;
	struct trc_model *m;
	struct blamed all;

	state = 0x9e3779b97f4a7c15u;
	m = random_model();
	end_ns = trc_model_end_ns(m);
	all = blame_in(m, 0, 0);
	ck_assert_int_gt(all.ns, EVENTS * STEP_NS);
	if (_i)
		trc_model_keep(m);
	for (int64_t from_ns = trc_model_start_ns(m), to_ns; from_ns < end_ns; from_ns = to_ns) {
		struct blamed part;

		to_ns = from_ns + 1 + draw(3 * EVENTS);
		to_ns = to_ns < end_ns ? to_ns : end_ns;
		part = blame_in(m, from_ns, to_ns);
		if (part.ns)
			ck_assert(part.first_ns >= from_ns && part.last_ns <= to_ns);
		sum_ns += part.ns;
	}
	ck_assert_int_eq(sum_ns, all.ns);
	ck_assert_int_eq(blame_in(m, 0, 0).ns, all.ns);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("between");
	TCase *tcase = tcase_create("between");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, a_section_lies_where_the_lock_was_taken);
	tcase_add_test(tcase, nothing_selected_is_passed_over);
	tcase_add_test(tcase, rows_far_away_are_not_looked_at);
	tcase_add_loop_test(tcase, what_parts_caused_adds_up, 0, 4);
	tcase_add_test(tcase, one_lock_takes_nothing_from_the_next);
	tcase_add_loop_test(tcase, blame_of_parts_adds_up, 0, 2);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
