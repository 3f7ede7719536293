/*
 * How often an interval (analyzer/model/margin.h) contains what it is about: programs are made up by a generator with a
 * seed, sampled as the recorder samples, and what the samples say is held against what the program did.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/margin.h"
#include "tests/draws.h"
#include "tests/turns.h"
#include "tests/suite.h"

enum { RUNS = 2000 };
#define ROUNDING 1e-6

static uint64_t state;

/* ---- CPU time ---- */

/* A program of threads that are alike, each now in one function and now in the other.  Times are in periods. */
struct program {
	const char *name;
	unsigned int threads;
	double length;	    /* of a thread */
	double stretch;	    /* of the function, on average; 0: a thread is in one function alone */
	double share;	    /* of the function */
	double tick;	    /* samples come at ticks, for all periods since; 0: at each period */
	double least, most; /* how often its interval has to be right */
};

static const struct program PROGRAMS[] = {
	{"short stretches", 1, 500, 0.05, 0.3, 0, 0.93, 0.975},
	{"stretches of a period: the interval is wider than need be", 4, 200, 1, 0.5, 0, 0.97, 1},
	{"long stretches: the interval is wider than need be", 4, 200, 30, 0.5, 0, 0.97, 1},
	{"a small share", 4, 500, 0.002, 0.01, 0, 0.93, 0.985},
	{"a large share", 4, 500, 0.1, 0.99, 0, 0.93, 0.985},
	{"few samples", 2, 6, 0.05, 0.3, 0, 0.93, 1},
	{"two samples a thread", 300, 2.4, 0.05, 0.3, 0, 0.93, 0.985},
	{"samples at ticks of four periods", 4, 400, 0.1, 0.3, 4, 0.93, 0.985},
	{"threads shorter than a period, of one function", 3000, 0.3, 0, 0.25, 0, 0.93, 0.99},
	{"threads shorter than a period, most of one function", 3000, 0.3, 0, 0.9, 0, 0.93, 0.99},
	{"threads of one function, to within a sample each", 10, 300, 0, 0.1, 0, 0.99, 1},
};

struct outcome {
	double truth, all_truth;	 /* of the function, and of all: in periods */
	struct trc_margin function, all; /* by samples */
};

/* Samples up to this time: how many periods have passed since the last. */
static void take(struct trc_margin_part *thread, struct trc_margin_part *part, uint64_t value,
		 bool in)
{
	if (!value)
		return;
	trc_margin_part_add(thread, value);
	if (in)
		trc_margin_part_add(part, value);
}

/* One thread: time goes on to whatever is next, the function's end or a sample. */
static void run_thread(const struct program *p, struct outcome *o)
{
	struct trc_margin_part thread = {0}, part = {0};
	bool in = uniform(&state) < p->share;
	double now = 0, first = 1 - uniform(&state), due = p->tick > 0 ? p->tick * first : first,
	       told = 0;
	double change = p->stretch > 0 ? 0 : INFINITY;

	while (now < p->length) {
		double next, expired;

		if (now >= change) {
			in = !in;
			change = now + exponential(&state, in ? p->stretch
						      : p->stretch * (1 - p->share) / p->share);
		}
		next = fmin(fmin(change, due), p->length);
		o->all_truth += next - now;
		o->truth += in ? next - now : 0;
		now = next;
		if (now < due || now >= p->length)
			continue;
		/* Expirations are at first, first + 1, ... of which those up to now were not told. */
		expired = floor(now - first + ROUNDING) + 1;
		take(&thread, &part, (uint64_t)(expired - told), in);
		told = expired;
		due += p->tick > 0 ? p->tick : 1;
	}
	if (!thread.n)
		return;
	trc_margin_add(&o->all, &thread, &thread);
	if (part.n)
		trc_margin_add(&o->function, &part, &thread);
}

static bool is_within(double estimate, double truth, double margin)
{
	return fabs(estimate - truth) <= margin;
}

/* Of the runs in which the function has a sample: a function without one is not told of. */
START_TEST(cpu)
{
	const struct program *p = &PROGRAMS[_i];
	unsigned int told = 0, share_right = 0, value_right = 0;
	double width = 0;

	if (!takes_turn((size_t)_i, 2))
		return;
	state = 16 + (uint64_t)_i;
	for (unsigned int run = 0; run < RUNS; run++) {
		struct outcome o = {0};

		for (unsigned int i = 0; i < p->threads; i++)
			run_thread(p, &o);
		if (o.function.value <= 0)
			continue;
		told++;
		share_right += is_within(o.function.value / o.all.value, o.truth / o.all_truth,
					 trc_margin_share(&o.function, &o.all) / o.all.value);
		/* What a thread used that no tick told of is not the samples' to know. */
		value_right += is_within(o.function.value, o.truth, trc_margin_value(&o.function));
		width += trc_margin_share(&o.function, &o.all) / o.all.value / RUNS;
	}
	printf("%s: the share is within %.1f %%, the value within %.1f %% of intervals, +-%.4f\n",
	       p->name, 100.0 * share_right / told, 100.0 * value_right / told, width);
	ck_assert_msg(share_right >= p->least * told && share_right <= p->most * told,
		      "%s: share: %u of %u", p->name, share_right, told);
	if (p->tick <= 0)
		ck_assert_msg(value_right >= 0.93 * told, "%s: value: %u of %u", p->name,
			      value_right, told);
}
END_TEST

/* ---- allocations ---- */

/* Objects of sizes between two, alike on a logarithmic scale; a share of them has the label. */
struct memory {
	const char *name;
	unsigned int objects;
	double from, to; /* bytes */
	double share;
	double least, most;
};

static const struct memory MEMORIES[] = {
	{"small objects", 200000, 16, 1024, 0.3, 0.93, 0.985},
	{"objects up to twice the period", 2000, 64, 1 << 20, 0.3, 0.93, 0.985},
	{"a few large ones", 60, 1 << 17, 1 << 20, 0.5, 0.93, 0.99},
	{"few samples", 20000, 16, 1024, 0.5, 0.93, 1},
};

static const double PERIOD = 524288;

struct heap_outcome {
	double truth, label_truth, estimate, label_estimate;
	struct trc_heap_margin all, label;
};

static void allocate(const struct memory *m, struct heap_outcome *o)
{
	double bytes = floor(m->from * pow(m->to / m->from, uniform(&state)));
	bool labelled = uniform(&state) < m->share;
	double drawn = -expm1(-bytes / PERIOD);

	o->truth += bytes;
	o->label_truth += labelled ? bytes : 0;
	if (uniform(&state) >= drawn)
		return;
	o->estimate += bytes / drawn;
	trc_heap_margin_add(&o->all, 1 / drawn, bytes);
	if (!labelled)
		return;
	o->label_estimate += bytes / drawn;
	trc_heap_margin_add(&o->label, 1 / drawn, bytes);
}

START_TEST(heap)
{
	const struct memory *m = &MEMORIES[_i];
	unsigned int told = 0, right = 0, label_right = 0;

	if (!takes_turn((size_t)_i, 2))
		return;
	state = 61 + (uint64_t)_i;
	for (unsigned int run = 0; run < RUNS / 4; run++) {
		struct heap_outcome o = {0};
		double share;

		for (unsigned int i = 0; i < m->objects; i++)
			allocate(m, &o);
		if (o.label_estimate <= 0)
			continue;
		told++;
		share = o.label_estimate / o.estimate;
		right += is_within(o.estimate, o.truth, trc_heap_margin(&o.all));
		label_right +=
			is_within(share, o.label_truth / o.truth,
				  trc_heap_margin_share(&o.label, &o.all, share) / o.estimate);
	}
	printf("%s: the sum is within %.1f %%, the share within %.1f %% of intervals\n", m->name,
	       100.0 * right / told, 100.0 * label_right / told);
	ck_assert_msg(right >= m->least * told && right <= m->most * told, "%s: sum: %u of %u",
		      m->name, right, told);
	ck_assert_msg(label_right >= m->least * told && label_right <= m->most * told,
		      "%s: share: %u of %u", m->name, label_right, told);
}
END_TEST

START_TEST(all_drawn_is_exact)
{
	struct trc_heap_margin all = {0};

	for (int i = 0; i < 10; i++)
		trc_heap_margin_add(&all, 1, 1000);
	ck_assert_double_eq(trc_heap_margin(&all), 0);
	ck_assert_double_eq(trc_heap_margin_share(&all, &all, 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("margin");
	TCase *tcase = tcase_create("coverage");

	tcase_set_timeout(tcase, 0);
	tcase_add_loop_test(tcase, cpu, 0, sizeof(PROGRAMS) / sizeof(*PROGRAMS));
	tcase_add_loop_test(tcase, heap, 0, sizeof(MEMORIES) / sizeof(*MEMORIES));
	tcase_add_test(tcase, all_drawn_is_exact);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
