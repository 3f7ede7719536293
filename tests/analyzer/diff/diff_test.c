/*
 * What --diff calls changed (analyzer/diff/diff.h): how often it is wrong about traces of equal
 * runs, and how often it finds what is 10 % slower.  The runs are made up by a generator with a
 * seed: four workers do tasks, for part of which they take a lock by turns; a fifth thread
 * computes in four functions; a sixth allocates a table, and then memory that it soon frees, and
 * sleeps in between.
 */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/diff/diff.h"
#include "analyzer/diff/statistics.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/draws.h"
#include "tests/turns.h"
#include "tests/suite.h"

enum { WORKERS = 4, SHORT_MS = 1000, LONG_MS = 3000 };

/* What is slower by which factor; and how much a whole run is. */
struct run {
	uint64_t seed;
	double lock, task, function, all;
	double length_ms;
	double flush, table,
		buffers; /* the sixth thread: how long it runs, how much it allocates */
};

/* ---- made-up runs ---- */

struct event {
	int64_t ts_ns;
	unsigned int order;
	char text[96];
};
struct events {
	struct event *event;
	unsigned int n, capacity;
};

static void say(struct events *e, double ms, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void say(struct events *e, double ms, const char *format, ...)
{
	struct event *event;
	va_list args;

	if (e->n == e->capacity) {
		e->capacity = e->capacity ? 2 * e->capacity : 1024;
		e->event = realloc(e->event, e->capacity * sizeof(*e->event));
		ck_assert_ptr_nonnull(e->event);
	}
	event = &e->event[e->n];
	event->ts_ns = (int64_t)(ms * 1e6);
	event->order = e->n++;
	va_start(args, format);
	vsnprintf(event->text, sizeof(event->text), format, args);
	va_end(args);
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* The workers: a task is some work, then a section under the lock, which is had in the order of
 * coming. */
static void work(struct events *e, const struct run *run, uint64_t *state)
{
	double begins[WORKERS] = {0}, comes[WORKERS], free_ms = 0;
	unsigned int holder = 0, task = 0, number[WORKERS];

	for (unsigned int i = 0; i < WORKERS; i++) {
		number[i] = ++task;
		comes[i] = run->all * run->task * (0.5 + exponential(state, 1));
	}
	for (;;) {
		unsigned int first = 0, thread;
		double ends;

		for (unsigned int i = 1; i < WORKERS; i++)
			if (comes[i] < comes[first])
				first = i;
		thread = first + 2;
		if (comes[first] > run->length_ms)
			return;
		say(e, begins[first], "thread=%u task_begin task=%u type=\"order\"", thread,
		    number[first]);
		if (comes[first] < free_ms) {
			say(e, comes[first],
			    "thread=%u park reason=mutex object=0x7f10 holder=%u stack=take",
			    thread, holder);
			say(e, free_ms,
			    "thread=%u unlock reason=mutex object=0x7f10 waiters=1 stack=give",
			    holder);
			say(e, free_ms, "thread=%u resume reason=mutex object=0x7f10", thread);
		}
		ends = fmax(comes[first], free_ms) +
		       run->all * run->lock * 0.4 * (0.5 + uniform(state));
		free_ms = ends;
		holder = thread;
		say(e, ends + 0.01, "thread=%u task_end task=%u", thread, number[first]);
		begins[first] = ends + 0.02;
		number[first] = ++task;
		comes[first] = begins[first] + run->all * run->task * (0.5 + exponential(state, 1));
	}
}

/* Samples of every 0.25 ms: parse, price, sign, pack, 5 ms each, and so on. */
static void compute(struct events *e, const struct run *run, uint64_t *state)
{
	static const char *const FUNCTION[4] = {"parse", "price", "sign", "pack"};
	double until_ms = 0, at_ms = 0.1;

	for (unsigned int i = 0; until_ms < run->length_ms; i = (i + 1) % 4) {
		until_ms += 2.5 * (0.75 + 0.5 * uniform(state)) * (i == 1 ? run->function : 1);
		for (; at_ms < until_ms && at_ms < run->length_ms; at_ms += 0.25)
			say(e, at_ms, "thread=6 sample event=1 value=250000 stack=%s", FUNCTION[i]);
	}
}

/* A table of objects of its own in use to the end, made at the start; and every 4 ms some buffers, which
 * live for about 40 ms.  One byte in 512 is sampled. */
static void flush(struct events *e, const struct run *run, uint64_t *state)
{
	const double drawn = 1 - exp(-512 / 512.0);
	unsigned int sample = 0;
	double at_ms = 3;

	for (unsigned int i = 0; i < 14000 * run->table; i++)
		if (uniform(state) < drawn && ++sample)
			say(e, 1 + i * 1e-4,
			    "thread=7 alloc sample=%u address=%u bytes=512 period=512 stack=fill",
			    sample, 0x100000 + 512 * sample);
	while (at_ms + 2 < run->length_ms) {
		double ran_ms = run->all * run->flush * (0.75 + 0.5 * uniform(state));

		say(e, at_ms, "proc=3 thread=7 source=kernel proc_start");
		for (unsigned int i = 0; i < 16; i++) {
			double freed_ms = at_ms + 0.5 + 40 * exponential(state, 1);

			if (uniform(state) >= drawn * run->buffers)
				continue;
			sample++;
			say(e, at_ms + 0.01 * i,
			    "thread=7 alloc sample=%u address=%u bytes=512 period=512 stack=format",
			    sample, 0x100000 + 512 * sample);
			if (freed_ms < run->length_ms)
				say(e, freed_ms,
				    "thread=6 free sample=%u address=%u bytes=512 period=512",
				    sample, 0x100000 + 512 * sample);
		}
		say(e, at_ms + ran_ms, "thread=7 park reason=sleep stack=format");
		say(e, at_ms + ran_ms, "proc=3 thread=7 source=kernel proc_stop");
		at_ms += 4;
		say(e, at_ms, "thread=7 resume reason=sleep");
	}
}

#define HEAD                                                                                       \
	"sync ticks=0 realtime=1700000000000000000\n"                                              \
	"module parse path=\"/none/parse\" start=0x1000 limit=0x2000 bias=0x1000\n"                \
	"module price path=\"/none/price\" start=0x2000 limit=0x3000 bias=0x2000\n"                \
	"module sign path=\"/none/sign\" start=0x3000 limit=0x4000 bias=0x3000\n"                  \
	"module pack path=\"/none/pack\" start=0x4000 limit=0x5000 bias=0x4000\n"                  \
	"module take path=\"/none/take\" start=0x5000 limit=0x6000 bias=0x5000\n"                  \
	"module give path=\"/none/give\" start=0x6000 limit=0x7000 bias=0x6000\n"                  \
	"module fill path=\"/none/fill\" start=0x7000 limit=0x8000 bias=0x7000\n"                  \
	"module format path=\"/none/format\" start=0x8000 limit=0x9000 bias=0x8000\n"              \
	"stack fill 0x7011\nstack format 0x8011\nthread 7 tid=107 name=\"flusher 1\"\n"            \
	"stack parse 0x1011\nstack price 0x2011\nstack sign 0x3011\nstack pack 0x4011\n"           \
	"stack take 0x5011\nstack give 0x6011\n"                                                   \
	"thread 2 tid=102 name=\"w\"\nthread 3 tid=103 name=\"w\"\nthread 4 tid=104 name=\"w\"\n"  \
	"thread 5 tid=105 name=\"w\"\nthread 6 tid=106 name=\"c\"\n"                               \
	"sample_event 1 name=\"cpu-clock\" how=signal period=250000\n"

static struct trc_diff_sums *sums_of_text(const char *text, const char *path)
{
	struct trc_model *m = model_of(text, TRC_PART_WAITS);
	struct trc_error error = {""};
	struct trc_diff_sums *sums = NULL;

	ck_assert_msg(!trc_diff_sum(&sums, m, path, true, &error), "%s", error.text);
	model_close(m);
	return sums;
}

static struct trc_diff_sums *sums_of(const struct run *run)
{
	struct events e = {NULL, 0, 0};
	uint64_t state = run->seed * 2 + 1;
	struct trc_diff_sums *sums;
	size_t n_bytes;
	char *text;
	FILE *out = open_memstream(&text, &n_bytes);

	for (int i = 0; i < 4; i++)
		uniform(&state);
	work(&e, run, &state);
	compute(&e, run, &state);
	flush(&e, run, &state);
	qsort(e.event, e.n, sizeof(*e.event), compare_events);
	fputs(HEAD, out);
	for (unsigned int i = 0; i < e.n; i++)
		fprintf(out, "@%lld %s\n", (long long)e.event[i].ts_ns, e.event[i].text);
	fclose(out);
	sums = sums_of_text(text, "made-up.trc");
	free(text);
	free(e.event);
	return sums;
}

/* ---- comparing them ---- */

struct verdict {
	bool any, right; /* any row changed; the one that was looked for did, and became larger */
};

static bool is_looked_for(const struct trc_diff_row *row, const struct run *run)
{
	if (run->lock > 1)
		return row->measure == TRC_DIFF_LOCK_WAITED ||
		       row->measure == TRC_DIFF_SECTION_CAUSED ||
		       row->measure == TRC_DIFF_SECTION_HELD;
	if (run->flush > 1)
		return row->measure == TRC_DIFF_THREADS_RAN && !strcmp(row->name, "flusher *");
	if (run->table > 1)
		return row->measure == TRC_DIFF_HEAP_IN_USE && strstr(row->name, "fill");
	if (run->buffers > 1)
		return (row->measure == TRC_DIFF_HEAP_ALLOCATED ||
			row->measure == TRC_DIFF_HEAP_ALLOCATIONS) &&
		       strstr(row->name, "format");
	if (run->task > 1)
		return row->measure == TRC_DIFF_TASK_MEAN || row->measure == TRC_DIFF_TASK_P50;
	return row->measure == TRC_DIFF_CPU_SHARE && strstr(row->name, "price");
}

/* `sums` are of the runs before. */
static struct verdict compare_with(struct trc_diff_sums *const *sums, size_t n_before,
				   const struct run *after)
{
	struct trc_diff_sums *sums_after = sums_of(after);
	struct verdict verdict = {false, false};
	const struct trc_diff_row *row;
	struct trc_diff *diff;
	size_t n;

	ck_assert(!trc_diff_compare(&diff, sums, n_before, sums_after));
	row = trc_diff_rows(diff, &n);
	ck_assert_uint_gt(n, 8);
	for (size_t i = 0; i < n; i++) {
		verdict.any |= row[i].changed;
		verdict.right |=
			row[i].changed && row[i].change > 0 && is_looked_for(&row[i], after);
		if (row[i].changed && getenv("DIFF_TEST_VERBOSE"))
			printf("%s %s %s %g %g p %g\n", trc_diff_row_kind(&row[i]), row[i].name,
			       trc_diff_row_measure(&row[i]), row[i].before, row[i].after,
			       row[i].p);
	}
	trc_diff_free(diff);
	trc_diff_sums_free(sums_after);
	return verdict;
}

static struct verdict compare(const struct run *before, size_t n_before, const struct run *after)
{
	struct trc_diff_sums *sums[TRC_DIFF_BASELINES_MAX];
	struct verdict verdict;

	for (size_t i = 0; i < n_before; i++)
		sums[i] = sums_of(&before[i]);
	verdict = compare_with(sums, n_before, after);
	for (size_t i = 0; i < n_before; i++)
		trc_diff_sums_free(sums[i]);
	return verdict;
}

static const struct run USUAL = {0, 1, 1, 1, 1, SHORT_MS, 1, 1, 1};

/* Of this sweep and the next two a run with a seed does one, and of that every second pair. */
START_TEST(equal_runs)
{
	enum { PAIRS = 200 };
	unsigned int alarms = 0, pairs = 0;

	if (!takes_turn(0, 3))
		return;
	for (unsigned int i = 0; i < PAIRS; i++) {
		struct run before = USUAL, after = USUAL;

		if (!takes_turn(i, 2))
			continue;
		pairs++;
		before.seed = 2 * i;
		after.seed = 2 * i + 1;
		alarms += compare(&before, 1, &after).any;
	}
	printf("%u false alarms in %u pairs of equal runs\n", alarms, pairs);
	ck_assert_uint_le(alarms, pairs / 20);
}
END_TEST

/* Runs that differ as a whole by 3 %, as on a machine that does other things, before and after. */
START_TEST(equal_runs_that_differ)
{
	enum { PAIRS = 60, BEFORE = 4 };
	unsigned int alarms = 0, pairs = 0;

	if (!takes_turn(1, 3))
		return;
	for (unsigned int i = 0; i < PAIRS; i++) {
		struct run run[BEFORE + 1];
		uint64_t state = i + 1;

		if (!takes_turn(i, 2))
			continue;
		pairs++;
		for (unsigned int k = 0; k <= BEFORE; k++) {
			run[k] = USUAL;
			run[k].seed = 100000 + (BEFORE + 1) * i + k;
			run[k].all = 1 + 0.03 * sqrt(3) * (2 * uniform(&state) - 1);
		}
		alarms += compare(run, BEFORE, &run[BEFORE]).any;
	}
	printf("%u false alarms in %u runs, each against %d\n", alarms, pairs, BEFORE);
	ck_assert_uint_le(alarms, pairs / 20);
}
END_TEST

static const struct {
	const char *what;
	struct run run;
	unsigned int n_before;
} SLOWER[] = {
	/* what tasks do besides waiting is two thirds of them */
	{"a critical section", {0, 1.1, 1, 1, 1, LONG_MS, 1, 1, 1}, 1},
	{"tasks", {0, 1, 1.15, 1, 1, LONG_MS, 1, 1, 1}, 1},
	{"a function", {0, 1, 1, 1.1, 1, LONG_MS, 1, 1, 1}, 1},
	{"threads", {0, 1, 1, 1, 1, LONG_MS, 1.1, 1, 1}, 4},
	{"memory in use", {0, 1, 1, 1, 1, LONG_MS, 1, 1.1, 1}, 1},
	{"memory allocated", {0, 1, 1, 1, 1, LONG_MS, 1, 1, 1.1}, 1},
};

/* One set of runs before for all that may be slower. */
START_TEST(ten_percent_slower)
{
	enum { PAIRS = 40, BEFORE_MAX = 4, N = sizeof(SLOWER) / sizeof(*SLOWER) };
	unsigned int found[N] = {0}, pairs = 0;

	if (!takes_turn(2, 3))
		return;
	for (unsigned int i = 0; i < PAIRS; i++) {
		struct trc_diff_sums *before[BEFORE_MAX];
		struct run run = USUAL;

		if (!takes_turn(i, 2))
			continue;
		pairs++;
		run.length_ms = LONG_MS;
		for (unsigned int k = 0; k < BEFORE_MAX; k++) {
			run.seed = 10000 + (BEFORE_MAX + 1) * i + k;
			before[k] = sums_of(&run);
		}
		for (unsigned int k = 0; k < N; k++) {
			run = SLOWER[k].run;
			run.seed = 10000 + (BEFORE_MAX + 1) * i + BEFORE_MAX;
			found[k] += compare_with(before, SLOWER[k].n_before, &run).right;
		}
		for (unsigned int k = 0; k < BEFORE_MAX; k++)
			trc_diff_sums_free(before[k]);
	}
	for (unsigned int k = 0; k < N; k++) {
		printf("%s, 10 %% slower: found in %u of %u pairs\n", SLOWER[k].what, found[k],
		       pairs);
		ck_assert_uint_ge(found[k], pairs * 95 / 100);
	}
}
END_TEST

/* 200 sleeps, `ns` apart. */
static struct trc_diff_sums *sleeps(int n, int ns, const char *ended)
{
	struct trc_diff_sums *sums;
	size_t n_bytes;
	char *text;
	FILE *out = open_memstream(&text, &n_bytes);

	fprintf(out, "info ended \"%s\"\nthread 1 tid=101\n", ended);
	for (int i = 0; i < n; i++)
		fprintf(out, "@%d thread=1 park reason=sleep\n@%d thread=1 resume reason=sleep\n",
			i * ns, i * ns + ns / 2);
	fclose(out);
	sums = sums_of_text(text, "made-up.trc");
	free(text);
	return sums;
}

static const struct {
	int n, ns;
	const char *ended;
	const char *line; /* NULL = nothing is told of the work */
} WORK[] = {
	{200, 2000, "exit 0",
	 "perhaps the same work, by the number of waits (200): the run took 2.00 times as long as before\n"},
	{203, 1000, "exit 0", "(203): the run took 1.02 times"},
	{210, 1000, "exit 0", NULL},
	{200, 2000, "killed by signal 15 (SIGTERM)", NULL},
};

START_TEST(the_same_work)
{
	struct trc_diff_sums *before = sleeps(200, 1000, "exit 0");
	struct trc_diff_sums *after = sleeps(WORK[_i].n, WORK[_i].ns, WORK[_i].ended);
	struct trc_diff *diff;
	char *text;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert(!trc_diff_compare(&diff, &before, 1, after));
	trc_diff_print(diff, out, 0, false);
	fclose(out);
	ck_assert_msg(WORK[_i].line ? strstr(text, WORK[_i].line) != NULL
				    : !strstr(text, "same work"),
		      "%s", text);
	free(text);
	trc_diff_free(diff);
	trc_diff_sums_free(before);
	trc_diff_sums_free(after);
}
END_TEST

/* A thread that is put on a proc every 1000 ns, and `preempted` or not after 500 ns; that it was on one when
 * the trace began is known from its leaving.  While it is on the proc it waits for a file. */
static struct trc_diff_sums *switches(int n, int preempted, int waited_ns)
{
	struct trc_diff_sums *sums;
	size_t n_bytes;
	char *text;
	FILE *out = open_memstream(&text, &n_bytes);

	fprintf(out, "thread 1 tid=101\n@0 thread=1 log message=\"x\"\n"
		     "@100 source=kernel thread=1 proc_stop preempted=0\n");
	for (int i = 1; i <= n; i++) {
		fprintf(out, "@%d source=kernel thread=1 proc_start\n", i * 1000);
		if (waited_ns)
			fprintf(out,
				"@%d thread=1 park reason=fsync object=5\n"
				"@%d thread=1 resume reason=fsync object=5\n",
				i * 1000 + 20, i * 1000 + 20 + waited_ns);
		fprintf(out, "@%d source=kernel thread=1 proc_stop preempted=%d\n", i * 1000 + 500,
			preempted);
	}
	fclose(out);
	sums = sums_of_text(text, "made-up.trc");
	free(text);
	return sums;
}

/* Lines of traces that are compared, one before. */
static char *lines_of(struct trc_diff_sums *before, struct trc_diff_sums *after)
{
	struct trc_diff *diff;
	char *text;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert(!trc_diff_compare(&diff, &before, 1, after));
	trc_diff_print(diff, out, 0, false);
	fclose(out);
	trc_diff_free(diff);
	trc_diff_sums_free(before);
	trc_diff_sums_free(after);
	return text;
}

START_TEST(busier_machine)
{
	char *text = lines_of(switches(100, 0, 0), switches(100, 1, 0));

	ck_assert_msg(strstr(text,
			     "the machine was busier: threads that could run had no proc for 49."
			     "7% of that time, before 0.0%") != NULL,
		      "%s", text);
	free(text);
	/* Without switch records in one of them nobody knows. */
	text = lines_of(sleeps(200, 1000, "exit 0"), switches(100, 1, 0));
	ck_assert_msg(!strstr(text, "the machine was"), "%s", text);
	free(text);
}
END_TEST

/* 200 sleeps of so many ns, 1000 ns apart. */
static struct trc_diff_sums *sleeps_of(int slept_ns)
{
	struct trc_diff_sums *sums;
	size_t n_bytes;
	char *text;
	FILE *out = open_memstream(&text, &n_bytes);

	fprintf(out, "thread 1 tid=101\n");
	for (int i = 0; i < 200; i++)
		fprintf(out, "@%d thread=1 park reason=sleep\n@%d thread=1 resume reason=sleep\n", i * 1000,
			i * 1000 + slept_ns);
	fclose(out);
	sums = sums_of_text(text, "made-up.trc");
	free(text);
	return sums;
}

/* How large a change had to be is said in words that mean something, however much the runs before differ. */
static const struct {
	int before_ns[2];
	const char *line;
} NOISE[] = {
	{{500, 520}, "half of the rows that did not change would have been told from a change of "},
	{{2, 900}, "half of the rows that did not change would only have been told from "},
};

START_TEST(noise_of_the_rest)
{
	struct trc_diff_sums *before[2] = {sleeps_of(NOISE[_i].before_ns[0]), sleeps_of(NOISE[_i].before_ns[1])};
	struct trc_diff_sums *after = sleeps_of(NOISE[_i].before_ns[0]);
	struct trc_diff *diff;
	char *text;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert(!trc_diff_compare(&diff, before, 2, after));
	trc_diff_print(diff, out, 0, false);
	fclose(out);
	ck_assert_msg(strstr(text, NOISE[_i].line) != NULL, "%s", text);
	free(text);
	trc_diff_free(diff);
	trc_diff_sums_free(before[0]);
	trc_diff_sums_free(before[1]);
	trc_diff_sums_free(after);
}
END_TEST

/* In how long the waits are that a machine explains on which threads had no proc for half of the time. */
static const struct {
	const char *what;
	int preempted_before, waited_before_ns, preempted, waited_ns;
	const char *line; /* NULL = it did not change beyond noise */
} BUSIER[] = {
	{"longer waits may be the machine's", 0, 150, 1, 300, NULL},
	{"that there are none is not", 0, 200, 1, 0, "gone  certain      waited: fsync"},
	{"nor that there were none, when it was busier", 1, 0, 0, 200,
	 "new  certain      waited: fsync"},
	{"waits where there were none may be", 0, 0, 1, 200, NULL},
	{"what is a small part of what it was is not", 0, 440, 1, 6, "waited: fsync"},
	{"nor many times as much", 1, 6, 0, 440, "waited: fsync"},
};

START_TEST(beyond_a_busier_machine)
{
	char *text =
		lines_of(switches(100, BUSIER[_i].preempted_before, BUSIER[_i].waited_before_ns),
			 switches(100, BUSIER[_i].preempted, BUSIER[_i].waited_ns));

	if (BUSIER[_i].line)
		ck_assert_msg(strstr(text, BUSIER[_i].line) != NULL, "%s: %s", BUSIER[_i].what,
			      text);
	else
		ck_assert_msg(strstr(text, "nothing changed beyond noise: 1 row") != NULL, "%s: %s",
			      BUSIER[_i].what, text);
	free(text);
}
END_TEST

/* What was recorded in other ways is said first. */
static const struct {
	const char *before, *after, *line;
} DIFFERENT[] = {
	{"info locks \"contended\"", "info locks \"contended\"", NULL},
	{"info locks \"contended\"", "info locks \"all\"",
	 "recorded differently: made-up.trc has --locks=all, made-up.trc --locks=contended: how long locks "
	 "were held is not compared\n"},
	{"info locks \"none\"", "info locks \"contended\"", "locks are not compared\n"},
	{"info hostname \"a\"", "info hostname \"b\"",
	 "recorded differently: made-up.trc is of the host b, made-up.trc of a\n"},
	{"info cpu \"old\"\ninfo procs \"2\"", "info cpu \"new\"\ninfo procs \"4\"",
	 "recorded differently: other processors: new, before old; made-up.trc had 4 procs, made-up.trc 2\n"},
	{"info locks \"all\"", "", NULL}, /* an old trace does not say */
};

START_TEST(recorded_differently)
{
	char *text = lines_of(sums_of_text(DIFFERENT[_i].before, "made-up.trc"),
			      sums_of_text(DIFFERENT[_i].after, "made-up.trc"));

	ck_assert_msg(DIFFERENT[_i].line ? strstr(text, DIFFERENT[_i].line) != NULL
					 : !strstr(text, "differently"),
		      "%s", text);
	free(text);
}
END_TEST

START_TEST(students_distribution)
{
	/* From tables: the quantiles of 97.5 % and 99.95 %. */
	static const struct {
		double freedom, t_95, t_999;
	} ROWS[] = {{1, 12.706, 636.62},
		    {5, 2.5706, 6.8688},
		    {15, 2.1314, 4.0728},
		    {1e6, 1.96, 3.2905}};

	for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
		ck_assert_double_eq_tol(trc_student_t(0.05, ROWS[i].freedom), ROWS[i].t_95, 2e-3);
		ck_assert_double_eq_tol(trc_student_t(0.001, ROWS[i].freedom) / ROWS[i].t_999, 1,
					1e-4);
		ck_assert_double_eq_tol(trc_student_p(ROWS[i].t_95, ROWS[i].freedom), 0.05, 1e-4);
	}
	ck_assert(trc_student_p(0, 5) >= 1);
	ck_assert(trc_student_p(NAN, 5) >= 1);
}
END_TEST

/* Batches of sums that are independent, and of some that follow those before them. */
START_TEST(variance_of_ratios)
{
	enum { TIMES = 2000 };

	for (int alike = 0; alike < 2; alike++) {
		double told = 0, squares = 0;
		uint64_t state = 7;

		for (int i = 0; i < TIMES; i++) {
			double x[TRC_DIFF_SLICES], u[TRC_DIFF_SLICES], sum = 0, last = 0;

			for (int k = 0; k < TRC_DIFF_SLICES; k++) {
				last = alike * 0.4 * last + uniform(&state) - 0.5;
				u[k] = 1;
				x[k] = 10 + last;
				sum += last;
			}
			told += trc_ratio_variance(x, u) / TIMES;
			sum /= TRC_DIFF_SLICES;
			squares += sum * sum / TIMES;
		}
		/* Rather too large than too small. */
		ck_assert_double_ge(told / squares, 0.7);
		ck_assert_double_le(told / squares, 1.5);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff");
	TCase *t = tcase_create("statistics");

	tcase_add_test(t, students_distribution);
	tcase_add_loop_test(t, the_same_work, 0, sizeof(WORK) / sizeof(*WORK));
	tcase_add_test(t, variance_of_ratios);
	tcase_add_test(t, busier_machine);
	tcase_add_loop_test(t, noise_of_the_rest, 0, sizeof(NOISE) / sizeof(*NOISE));
	tcase_add_loop_test(t, beyond_a_busier_machine, 0, sizeof(BUSIER) / sizeof(*BUSIER));
	tcase_add_loop_test(t, recorded_differently, 0, sizeof(DIFFERENT) / sizeof(*DIFFERENT));
	suite_add_tcase(s, t);
	t = tcase_create("runs");
	tcase_set_timeout(t, 600);
	tcase_add_test(t, equal_runs);
	suite_add_tcase(s, t);
	t = tcase_create("several");
	tcase_set_timeout(t, 600);
	tcase_add_test(t, equal_runs_that_differ);
	suite_add_tcase(s, t);
	t = tcase_create("slower");
	tcase_set_timeout(t, 600);
	tcase_add_test(t, ten_percent_slower);
	suite_add_tcase(s, t);
	return suite_run(s);
}
