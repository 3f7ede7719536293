/*
 * draws_test.c - how often the interval of a time that samples divide contains the time that it is about.
 *
 * Programs are made up by a generator with a seed.  Threads hold locks for which others wait, and run meanwhile, now in one
 * function and now in the other.  They are sampled as the recorder samples, and what the trace says of the first function
 * is held against what the program did.  Where no sample came while a thread ran, the trace names no function, and
 * nothing is compared.
 */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/causes/blame_sums.h"
#include "analyzer/causes/causes.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/draws.h"
#include "tests/turns.h"
#include "tests/suite.h"

enum { RUNS = 400, PERIOD_NS = 1000000, WAITERS_MAX = 2, FIRST_HOLDER = 1 + WAITERS_MAX };
enum { STACK_OF_FUNCTION = 1 };

static uint64_t state;

/* Lengths are in periods. */
struct program {
	const char *name;
	int holders,
		sections; /* threads that hold locks; how often each does, one after the other */
	double length;	  /* of a section, on average */
	double stretch,
		share; /* of the function: how long the thread is in it at once, and of its time */
	int waiters;   /* that wait for it at the same time */
	double least, most; /* how often the interval has to be right */
};

static const struct program PROGRAMS[] = {
	{"long sections", 1, 4, 50, 0.05, 0.3, 1, 0.93, 0.975},
	{"sections shorter than a period", 1, 600, 0.3, 0.05, 0.3, 1, 0.93, 0.98},
	{"a small share", 2, 10, 20, 0.01, 0.03, 1, 0.93, 0.99},
	{"two wait at the same time", 1, 4, 50, 0.05, 0.3, 2, 0.93, 0.975},
	{"threads with a sample each", 120, 1, 0.9, 0.05, 0.5, 1, 0.93, 0.985},
	{"few samples", 1, 3, 2, 0.05, 0.4, 1, 0.93, 1},
};

struct run {
	const struct program *p;
	char *text;
	size_t n, n_bytes;
	int64_t now_ns;
	double truth_ns; /* of the function, while others waited and a sample told where */
	/* Of the thread that is at it. */
	double due_ns;	  /* its next sample, in its CPU time from now on */
	double change_ns; /* as long it stays in the function, or outside */
	bool in;
};

__attribute__((format(printf, 2, 3))) static void line(struct run *r, const char *format, ...)
{
	va_list args;

	if (r->n_bytes - r->n < 256) {
		r->n_bytes = 2 * r->n_bytes + 4096;
		r->text = realloc(r->text, r->n_bytes);
		ck_assert_ptr_nonnull(r->text);
	}
	va_start(args, format);
	r->n += (size_t)vsnprintf(r->text + r->n, r->n_bytes - r->n, format, args);
	va_end(args);
}

static void change(struct run *r)
{
	const struct program *p = r->p;

	r->in = !r->in;
	r->change_ns = PERIOD_NS *
		       exponential(&state, r->in ? p->stretch : p->stretch * (1 - p->share) / p->share);
}

/* The thread runs for so long; true if a sample came. */
static bool run_holder(struct run *r, int thread, double left_ns, double *in_ns)
{
	double at_ns = (double)r->now_ns;
	bool sampled = false;

	while (left_ns > 0) {
		double step_ns = fmin(fmin(r->change_ns, r->due_ns), left_ns);

		*in_ns += r->in ? step_ns : 0;
		at_ns += step_ns;
		left_ns -= step_ns;
		r->change_ns -= step_ns;
		r->due_ns -= step_ns;
		if (r->due_ns <= 0) {
			line(r, "@%.0f thread=%d sample event=1 value=%d stack=%s\n", floor(at_ns),
			     thread, PERIOD_NS, r->in ? "a" : "b");
			r->due_ns = PERIOD_NS;
			sampled = true;
		}
		if (r->change_ns <= 0)
			change(r);
	}
	return sampled;
}

/* The holder has slept before and sleeps after: each section is a piece of its time. */
static void run_section(struct run *r, int thread, int object)
{
	double length_ns = floor(PERIOD_NS * exponential(&state, r->p->length)) + 10, in_ns = 0;
	int64_t end_ns = r->now_ns + (int64_t)length_ns;

	for (int i = 1; i <= r->p->waiters; i++)
		line(r, "@%jd thread=%d park reason=mutex object=%d holder=%d\n",
		     (intmax_t)r->now_ns, i, object, thread);
	line(r, "@%jd thread=%d resume reason=sleep object=0\n", (intmax_t)r->now_ns, thread);
	if (run_holder(r, thread, length_ns, &in_ns))
		r->truth_ns += in_ns * r->p->waiters;
	line(r, "@%jd thread=%d unlock reason=mutex object=%d waiters=%d\n", (intmax_t)end_ns,
	     thread, object, r->p->waiters);
	line(r, "@%jd thread=%d park reason=sleep object=0\n", (intmax_t)end_ns, thread);
	for (int i = 1; i <= r->p->waiters; i++)
		line(r, "@%jd thread=%d resume reason=mutex object=%d\n", (intmax_t)end_ns, i,
		     object);
	r->now_ns = end_ns + 1000;
}

static void run(struct run *r, const struct program *p)
{
	*r = (struct run){.p = p, .now_ns = 2000};
	line(r,
	     "stack a 0x300 0x200 0x1f\nstack b 0x310 0x210 0x1f\n"
	     "sample_event 1 name=\"cpu-clock\" how=signal period=%d unit=\"nanoseconds\"\n",
	     PERIOD_NS);
	for (int i = 1; i < FIRST_HOLDER + p->holders; i++)
		line(r, "thread %d tid=%d\n", i, 100 + i);
	for (int i = 0; i < p->holders; i++)
		line(r, "@1000 thread=%d park reason=sleep object=0\n", FIRST_HOLDER + i);
	for (int i = 0; i < p->holders; i++) {
		r->due_ns = PERIOD_NS * (1 - uniform(&state));
		r->in = uniform(&state) >= p->share; /* and changes at once */
		change(r);
		for (int j = 0; j < p->sections; j++)
			run_section(r, FIRST_HOLDER + i, 16 * (i + 1));
	}
}

/* What the trace says of the function, and how far that may be off. */
static void told(const struct trc_model *m, double *ns, double *margin_ns)
{
	struct trc_array rows = {0};
	struct trc_draws draws = {0};
	const struct trc_blame_row *row;
	uint32_t *group;
	double margin[3];

	ck_assert_int_eq(trc_blame_rows(m, NULL, NULL, &rows, &draws), 0);
	row = rows.row;
	group = calloc(rows.n + 1, sizeof(*group));
	*ns = 0;
	for (size_t i = 0; i < rows.n; i++) {
		bool of_sample = row[i].stack_of == TRC_CAUSE_STACK_SAMPLE;

		ck_assert_int_eq(row[i].margin_ns > 0, of_sample);
		group[row[i].number] = !of_sample ? 0 : row[i].stack == STACK_OF_FUNCTION ? 1 : 2;
		*ns += group[row[i].number] == 1 ? (double)row[i].ns : 0;
	}
	ck_assert_int_eq(trc_draws_margins(&draws, m, group, 3, margin), 0);
	*margin_ns = margin[1];
	free(group);
	trc_draws_free(&draws);
	trc_array_free(&rows);
}

/* The same by the causes of each wait. */
static double told_by_waits(const struct trc_model *m)
{
	struct trc_draws draws = {0};
	struct trc_causes *causes;
	const struct trc_cause *rows;
	double margin[3];
	size_t n, n_parks;

	trc_model_parks(m, &n_parks);
	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	for (uint32_t i = 1; i <= n_parks; i++) {
		if (!trc_blame_counts(trc_model_parks(m, &n) + i - 1))
			continue;
		ck_assert_int_eq(trc_causes_of_wait(causes, i, &rows, &n), 0);
		for (size_t j = 0; j < n; j++)
			ck_assert_int_eq(
				trc_causes_draws(causes, &rows[j], 1,
						 rows[j].stack == STACK_OF_FUNCTION ? 1 : 2,
						 &draws),
				0);
	}
	ck_assert_int_eq(trc_draws_margins(&draws, m, NULL, 3, margin), 0);
	trc_causes_close(causes);
	trc_draws_free(&draws);
	return margin[1];
}

START_TEST(test_coverage)
{
	const struct program *p = &PROGRAMS[_i];
	double right = 0, n_told = 0, bias = 0, truth = 0;

	if (!takes_turn((size_t)_i, 2))
		return;
	state = 1 + (uint64_t)_i;
	for (int i = 0; i < RUNS; i++) {
		double ns, margin_ns;
		struct trc_model *m;
		struct run r;

		run(&r, p);
		m = model_of(r.text, TRC_CAUSES_PARTS);
		told(m, &ns, &margin_ns);
		/* If no sample shows the function, the trace says nothing of it. */
		n_told += ns > 0;
		right += ns > 0 && fabs(ns - r.truth_ns) <= margin_ns;
		bias += ns - r.truth_ns;
		truth += r.truth_ns;
		if (!i)
			ck_assert_double_eq_tol(told_by_waits(m), margin_ns, 1);
		model_close(m);
		free(r.text);
	}
	right /= n_told;
	printf("%s: %.1f %% of the intervals are right, %+.2f %% off on average\n", p->name,
	       100 * right, 100 * bias / truth);
	ck_assert_msg(right >= p->least && right <= p->most, "%s: %g, not %g to %g", p->name, right,
		      p->least, p->most);
	ck_assert_msg(fabs(bias) <= 0.05 * truth, "%s: %g of %g", p->name, bias, truth);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("draws");
	TCase *tcase = tcase_create("draws");

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, test_coverage, 0, sizeof(PROGRAMS) / sizeof(*PROGRAMS));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
