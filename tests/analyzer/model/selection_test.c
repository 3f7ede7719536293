/*
 * selection_test.c - what a selection has of a trace: of traces written by hand what is written beside them; of
 * random ones, that the parts of any division add up to the whole, in every profile.
 */
#include <check.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/selection.h"
#include "analyzer/profile/profile.h"
#include "analyzer/report/report.h"
#include "analyzer/sql/sql.h"
#include "model_fixture.h"
#include "tests/suite.h"

/* ---- what is asked for ---- */

static void ask(struct trc_selection *s, const char *asked, struct trc_error *error, int *err)
{
	static char text[400];
	char *save = NULL;

	*s = (struct trc_selection){0};
	*err = 0;
	snprintf(text, sizeof(text), "%s", asked);
	for (char *word = strtok_r(text, ";", &save); word && !*err;
	     word = strtok_r(NULL, ";", &save)) {
		if (!strncmp(word, "window ", 7))
			*err = trc_selection_ask_window(s, word + 7, error);
		else if (!strncmp(word, "thread ", 7))
			*err = trc_selection_ask_thread(s, word + 7, error);
		else if (!strncmp(word, "task ", 5))
			*err = trc_selection_ask_task(s, word + 5, error);
		else if (!strncmp(word, "slowest ", 8))
			*err = trc_selection_ask_slowest(s, word + 8, error);
		else
			*err = trc_label_filter_add(&s->labels, word, error);
	}
	if (!*err)
		*err = trc_selection_check(s, error);
}

static const char *const REFUSED[] = {
	"window 2s..1s",
	"window 1s..1s",
	"window 1s",
	"window 1..2",
	"window a..b",
	"window -1s..2s",
	"window nans..2s",
	"window infs..2s",
	"window 1e3s..2s",
	"window 0x1s..2s",
	"window 1s..2sx",
	"window task:",
	"window task:0",
	"window task:x",
	"window 1s..2s;window 1s..2s",
	"window 99999999999s..",
	"window +1s..2s",
	"window 1s..+0s",
	"window 1s..+",
	"window 11:47..11:48",
	"window 24:00:00..",
	"window 11:60:00..",
	"window 11:47:61..",
	"window 11:47:52...",
	"window 11:47:52.x..",
	"window 11:47:52s..",
	"window 11:47:52+01:00..",
	"window 1:47:52..",
	"window 2026-02-30 11:47:52..",
	"window 2026-13-01 11:47:52..",
	"window 2026-11-24..",
	"window 2026-11-24 ..",
	"window 2026-11-24T11:47:52..2026-11-24T11:47:51",
	"slowest 0;task a",
	"slowest 0%;task a",
	"slowest 101%;task a",
	"slowest nan%;task a",
	"slowest inf;task a",
	"slowest -1%;task a",
	"slowest %;task a",
	"slowest 1%%;task a",
	"slowest 1%",
	"slowest 1%;task 7",
};

START_TEST(test_refused)
{
	struct trc_error error = {""};
	struct trc_selection s;
	int err;

	ask(&s, REFUSED[_i], &error, &err);
	ck_assert_msg(err == -EINVAL, "%s: %d", REFUSED[_i], err);
	ck_assert_uint_gt(strlen(error.text), 0);
	ck_assert_ptr_null(strchr(error.text, '\n'));
	trc_selection_free(&s);
}
END_TEST

/* ---- what is inside ---- */

#define THREADS                                                                                    \
	"thread 1 tid=11 name=\"a\"\nthread 2 tid=12 name=\"b\"\nthread 3 tid=13 name=\"b\"\n"

#define NOON "sync ticks=0 realtime=1795693672000000000\n" /* 2026-11-26 11:47:52 */

/* Times are nanoseconds; `inside` lists the selected parts of 0..1000 of each thread. */
static const struct {
	const char *what, *events, *asked, *inside;
} CASES[] = {
	{"a window is of all threads", "", "window 100ns..200 ns", "1:100-200 2:100-200 3:100-200"},
	{"a window that ends with the trace has no end", "", "window 900ns..1000ns",
	 "1:900-1000 2:900-1000 3:900-1000"},
	{"a thread by its tid", "", "thread 12", "2:0-1000"},
	{"all threads of a name", "", "thread b;window ..5ns", "2:0-5 3:0-5"},
	{"a name that no thread has is that of numbered threads",
	 "@1 thread=1 thread_name named=1 name=\"w3x\"\n"
	 "@1 thread=1 thread_name named=2 name=\"w 1\"\n"
	 "@1 thread=1 thread_name named=3 name=\"w-2\"\n",
	 "thread w;window ..5ns", "2:0-5 3:0-5"},
	{"a name that a thread has is that thread's alone", "@1 thread=1 thread_name named=3 name=\"b1\"\n",
	 "thread b;window ..5ns", "2:0-5"},
	{"a pattern", "@1 thread=1 thread_name named=3 name=\"cb1\"\n", "thread [a-c]b*;window ..5ns", "3:0-5"},
	{"a task that begins and ends on a thread",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@300 thread=1 task_end task=7\n", "task 7",
	 "1:100-300"},
	{"task:ID, as for --why",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@300 thread=1 task_end task=7\n",
	 "task task:7", "1:100-300"},
	{"a window as long as a task",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@300 thread=1 task_end task=7\n",
	 "window task:7;thread 13", "3:100-300"},
	{"a task that is handed over is its last thread's",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@300 thread=2 task_end task=7\n", "task t",
	 "2:100-300"},
	{"but not while that thread had another one",
	 "@50 thread=1 task_begin task=6 type=\"t\"\n@100 thread=1 task_begin task=7 type=\"t\"\n"
	 "@200 thread=2 task_end task=6\n@300 thread=2 task_end task=7\n",
	 "task 7", "2:200-300"},
	{"a child that ended there is the task's own",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@150 thread=2 task_begin task=8 parent=7 type=\"c\"\n"
	 "@200 thread=2 task_end task=8\n@300 thread=2 task_end task=7\n",
	 "task 7", "2:100-300"},
	{"a region is work for the task, wherever it is",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@120 thread=3 region_begin task=7 type=\"r\"\n"
	 "@140 thread=3 region_end\n@300 thread=1 task_end task=7\n",
	 "task t", "1:100-300 3:120-140"},
	{"also if only that thread is asked for",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@120 thread=3 region_begin task=7 type=\"r\"\n"
	 "@140 thread=3 region_end\n@300 thread=1 task_end task=7\n",
	 "task t;thread 13", "3:120-140"},
	{"up to the end of the task",
	 "@100 thread=1 task_begin task=7 type=\"t\"\n@120 thread=3 region_begin task=7 type=\"r\"\n"
	 "@300 thread=1 task_end task=7\n@400 thread=3 region_end\n",
	 "task t", "1:100-300 3:120-300"},
	{"children of children count, and loops end",
	 "@100 thread=1 task_begin task=7 type=\"t\" parent=9\n@110 thread=2 task_begin task=8 parent=7 type=\"c\"\n"
	 "@120 thread=3 task_begin task=9 parent=8 type=\"c\"\n@130 thread=3 task_end task=9\n"
	 "@140 thread=2 task_end task=8\n@300 thread=1 task_end task=7\n",
	 "task 7", "1:100-300 2:110-140 3:120-130"},
	{"a task that is open lasts to the end", "@100 thread=1 task_begin task=7 type=\"t\"\n",
	 "task 7", "1:100-1000"},
	{"a task from before the trace", "@100 thread=2 task_end task=7\n", "task 7", "2:0-100"},
	{"the slowest are those that took longest",
	 "@100 thread=1 task_begin task=1 type=\"t\"\n@110 thread=1 task_end task=1\n"
	 "@200 thread=2 task_begin task=2 type=\"t\"\n@290 thread=2 task_end task=2\n"
	 "@300 thread=1 task_begin task=3 type=\"t\"\n@320 thread=1 task_end task=3\n",
	 "task t;slowest 34%", "1:300-320 2:200-290"},
	{"one at least",
	 "@100 thread=1 task_begin task=1 type=\"t\"\n@110 thread=1 task_end task=1\n"
	 "@200 thread=2 task_begin task=2 type=\"t\"\n@290 thread=2 task_end task=2\n",
	 "task t;slowest 0.1%", "2:200-290"},
	{"of those that the other options leave",
	 "@100 thread=1 task_begin task=1 type=\"t\"\n@110 thread=1 task_end task=1\n"
	 "@200 thread=2 task_begin task=2 type=\"t\"\n@290 thread=2 task_end task=2\n",
	 "slowest 1;task t;thread a", "1:100-110"},
	{"tasks of a thread that overlap are one time",
	 "@100 thread=1 task_begin task=1 type=\"t\"\n@150 thread=1 task_begin task=2 type=\"t\"\n"
	 "@200 thread=1 task_end task=1\n@250 thread=1 task_end task=2\n"
	 "@300 thread=1 task_begin task=3 type=\"t\"\n@350 thread=1 task_end task=3\n",
	 "task t;window 120ns..320ns", "1:120-250 1:300-320"},
	{"a fiber takes its task along",
	 "@100 thread=1 fiber_switch fiber=5\n@110 thread=1 task_begin task=7 type=\"t\"\n"
	 "@150 thread=1 fiber_switch left=5 reason=user\n@200 thread=2 fiber_switch fiber=5\n"
	 "@240 thread=2 task_end task=7\n@260 thread=2 fiber_end fiber=5\n",
	 "task t", "1:110-150 2:200-240"},
	{"a window that says how long it lasts", "", "window 100ns.. + 50 ns", "1:100-150 2:100-150 3:100-150"},
	{"from the begin on", "", "window ..+50ns", "1:0-50 2:0-50 3:0-50"},
	{"a window by the clock", NOON,
	 "window 2026-11-26T11:47:52.0000001Z..2026-11-26 11:47:52.000000250 UTC",
	 "1:100-250 2:100-250 3:100-250"},
	{"without a date; some logs have a comma", NOON, "window 11:47:52,0000001..+50ns",
	 "1:100-150 2:100-150 3:100-150"},
	{"it may begin before the trace", NOON, "window 11:47:50..11:47:52.0000004",
	 "1:0-400 2:0-400 3:0-400"},
	{"on the day before", "sync ticks=0 realtime=1795651200000000000\n",
	 "window 23:59:59..+1000000070ns", "1:0-70 2:0-70 3:0-70"},
	{"or the day after", "sync ticks=0 realtime=1795651199999999950\n",
	 "window 00:00:00.0000001..+50ns", "1:150-200 2:150-200 3:150-200"},
	{"a clock that was set meanwhile",
	 NOON "sync ticks=500 monotonic=500 raw=500 realtime=1795693690000000000\n",
	 "window 11:48:10.0000001..+50ns", "1:600-650 2:600-650 3:600-650"},
};

START_TEST(test_inside)
{
	char *events, inside[400] = "";
	struct trc_error error = {""};
	struct trc_selection s;
	struct trc_model *m;
	size_t n = 0;
	bool syncs;
	int err;

	/* These stand before all events. */
	syncs = !strncmp(CASES[_i].events, "sync ", 5);
	ck_assert_int_gt(asprintf(&events,
				  THREADS "%s@0 thread=1 counter name=\"c\" value=1\n%s"
					  "@1000 thread=1 counter name=\"c\" value=1\n",
				  syncs ? CASES[_i].events : "", syncs ? "" : CASES[_i].events),
			 0);
	m = model_of(events, TRC_PART_WAITS);
	ask(&s, CASES[_i].asked, &error, &err);
	ck_assert_msg(!err, "%s: %s", CASES[_i].what, error.text);
	trc_model_select(m, &s);
	ck_assert_msg(!trc_selection_find(&s, m, &error), "%s: %s", CASES[_i].what, error.text);
	for (uint32_t thread = 1; thread <= 3; thread++) {
		int64_t at_ns = 0, from_ns, until_ns, sum_ns = 0;

		while (trc_selection_next(&s, thread, &at_ns, 1000, &from_ns, &until_ns)) {
			n += (size_t)snprintf(inside + n, sizeof(inside) - n, "%s%u:%d-%d",
					      n ? " " : "", thread, (int)from_ns, (int)until_ns);
			ck_assert(trc_selection_has_time(&s, thread, from_ns));
			ck_assert(trc_selection_has_time(&s, thread, until_ns - 1));
			sum_ns += until_ns - from_ns;
		}
		ck_assert_int_eq(trc_selection_ns(&s, thread, 0, 1000), sum_ns);
		/* Of any part of it. */
		for (int64_t from = 0; from < 1000; from += 37) {
			int64_t slow_ns = 0;

			for (int64_t t = from; t < from + 100; t++)
				slow_ns += trc_selection_has_time(&s, thread, t);
			ck_assert_int_eq(trc_selection_ns(&s, thread, from, from + 100), slow_ns);
		}
	}
	ck_assert_msg(!strcmp(inside, CASES[_i].inside), "%s: %s", CASES[_i].what, inside);
	trc_selection_free(&s);
	model_close(m);
	free(events);
}
END_TEST

static const char *const NOTHING[] = {
	"thread nobody",
	"thread 99",
	"task nothing",
	"task 8",
	"window 1001ns..",
	"window 11:47:52..+1s",
	"window task:8",
	"slowest 1%;task nothing",
	"task 7;thread b",
	"task 7;window 500ns..600ns",
};

START_TEST(test_nothing)
{
	struct trc_error error = {""};
	struct trc_selection s;
	struct trc_model *m = model_of(
		THREADS
		"@100 thread=1 task_begin task=7 type=\"t\"\n@300 thread=1 task_end task=7\n"
		"@1000 thread=1 counter name=\"c\" value=1\n",
		TRC_PART_WAITS);
	int err;

	ask(&s, NOTHING[_i], &error, &err);
	ck_assert_int_eq(err, 0);
	err = trc_selection_find(&s, m, &error);
	ck_assert_msg(err == -ENOENT, "%s: %d", NOTHING[_i], err);
	ck_assert_uint_gt(strlen(error.text), 0);
	trc_selection_free(&s);
	model_close(m);
}
END_TEST

/* ---- random traces ---- */

enum { SEEDS = 60, EVENTS = 300, N_THREADS = 5, TEXT_BYTES = 64 * 1024 };

static uint64_t state;

static unsigned int draw(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)((state >> 33) % limit);
}

static size_t put_event(char *text, size_t room, unsigned int *depth)
{
	static const char *const reasons[] = {"mutex", "rwlock_read", "cond", "sem",
					      "sleep", "read",	      "user"};
	const char *reason = reasons[draw(7)];
	unsigned int object = draw(2) + 1, stack = draw(3) + 1, task = draw(20) + 1;

	switch (draw(12)) {
	case 0:
	case 1:
	case 2:
		return (size_t)snprintf(text, room, "park reason=%s object=%u holder=%u stack=s%u",
					reason, object, draw(N_THREADS), stack);
	case 3:
	case 4:
		return (size_t)snprintf(text, room, "resume reason=%s object=%u result=%u", reason,
					object, draw(4) ? 0 : 110);
	case 5:
	case 6:
		return (size_t)snprintf(text, room, "unlock reason=mutex object=%u stack=s%u at=%u",
					object, stack, draw(60) * 100);
	case 7:
		return (size_t)snprintf(text, room, "task_begin task=%u parent=%u type=\"t\"", task,
					draw(20));
	case 8:
		return (size_t)snprintf(text, room, "task_end task=%u", task);
	case 9:
		if (draw(2) || !*depth) {
			++*depth;
			return (size_t)snprintf(text, room, "region_begin task=%u type=\"r\"",
						task);
		}
		--*depth;
		return (size_t)snprintf(text, room, "region_end");
	case 10:
		return (size_t)snprintf(text, room, "labels labels=%s", draw(2) ? "acme" : "0");
	default:
		return (size_t)snprintf(text, room, "sample event=1 value=%u stack=s%u",
					1 + draw(1000), stack);
	}
}

static const char *random_text(void)
{
	static char text[TEXT_BYTES];
	unsigned int depth[N_THREADS] = {0};
	size_t n = (size_t)snprintf(
		text, sizeof(text),
		"stack s1 0x1 0x3\nstack s2 0x2 0x3\nstack s3 0x3\nlabels acme tenant=\"acme\"\n"
		"sample_event 1 how=timer name=\"timer\" unit=\"nanoseconds\" period=1000\n");

	for (unsigned int i = 1; i < N_THREADS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "thread %u tid=%u\n", i, 100 + i);
	for (unsigned int i = 0, time = 100; i < EVENTS; i++) {
		unsigned int thread = 1 + draw(N_THREADS - 1), kernel = !draw(10);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "@%u proc=%u thread=%u ", time,
				      kernel ? thread - 1 : draw(3), thread);
		n += kernel ? (size_t)snprintf(text + n, sizeof(text) - n, "source=kernel proc_%s",
					       draw(2) ? "start" : "stop")
			    : put_event(text + n, sizeof(text) - n, &depth[thread]);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
		time += draw(40);
	}
	ck_assert_uint_lt(n, sizeof(text));
	return text;
}

static const char *const PROFILES[] = {"block", "mutex", "blame", "offcpu", "cpu", "wall"};
enum { N_PROFILES = sizeof(PROFILES) / sizeof(*PROFILES) };

/* Adds the sum of a profile's nanoseconds of what is selected. */
static void add_profile(struct trc_model *m, const char *asked, size_t profile, int64_t *sum_ns)
{
	struct trc_error error = {""};
	struct trc_profile *p = NULL;
	struct trc_selection s;
	int err;

	ask(&s, asked, &error, &err);
	ck_assert_msg(!err, "%s", error.text);
	trc_model_select(m, *asked ? &s : NULL);
	err = trc_selection_find(&s, m, &error);
	if (!err)
		err = trc_profile_derive(&p, m, PROFILES[profile], &error);
	ck_assert_msg(!err || err == -ENOENT, "%s: %s", asked, error.text);
	for (size_t i = 0; p && i < p->n_samples; i++)
		*sum_ns += p->sample[i].value[p->main_type];
	trc_profile_free(p);
	trc_model_select(m, NULL);
	trc_selection_free(&s);
}

/* Any time, any threads: the parts add up to the whole. */
static void check_division(struct trc_model *m, size_t profile)
{
	int64_t start_ns = trc_model_start_ns(m), lasts_ns = trc_model_end_ns(m) - start_ns,
		sum_ns = 0, all_ns = 0;
	int half = (int)draw((unsigned int)lasts_ns - 1) + 1;
	char asked[80];

	add_profile(m, "", profile, &all_ns);
	snprintf(asked, sizeof(asked), "window ..%dns", half);
	add_profile(m, asked, profile, &sum_ns);
	snprintf(asked, sizeof(asked), "window %dns..%dns", half, (int)lasts_ns);
	add_profile(m, asked, profile, &sum_ns);
	ck_assert_msg(sum_ns == all_ns, "%s: 0..%d..%d has %lld of %lld", PROFILES[profile], half,
		      (int)lasts_ns, (long long)sum_ns, (long long)all_ns);
	sum_ns = 0;
	for (int i = 1; i < N_THREADS; i++) {
		snprintf(asked, sizeof(asked), "thread %d", 100 + i);
		add_profile(m, asked, profile, &sum_ns);
	}
	ck_assert_msg(sum_ns == all_ns, "%s: threads have %lld of %lld", PROFILES[profile],
		      (long long)sum_ns, (long long)all_ns);
}

/* The same of a part that is itself of tasks. */
static void check_division_of_tasks(struct trc_model *m, size_t profile)
{
	int64_t sum_ns = 0, all_ns = 0;

	add_profile(m, "task t", profile, &all_ns);
	for (int i = 1; i < N_THREADS; i++) {
		char asked[80];

		/* Not slowest: of which thread a task is would change what there is to choose from. */
		snprintf(asked, sizeof(asked), "task t;window %dns..%dns", i * 1000 - 1000,
			 i * 1000);
		add_profile(m, asked, profile, &sum_ns);
	}
	add_profile(m, "task t;window 4000ns..", profile, &sum_ns);
	ck_assert_msg(sum_ns == all_ns, "%s: tasks in windows have %lld of %lld", PROFILES[profile],
		      (long long)sum_ns, (long long)all_ns);
}

/* caused:F1 */
static void check_caused(struct trc_model *m)
{
	struct trc_selection s = {.window = "..", .from_ns = INT64_MIN, .to_ns = INT64_MAX};
	struct trc_selected_cause *caused = trc_selection_caused(&s, m, NULL);
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);

	ck_assert_ptr_nonnull(caused);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(caused[i].caused_ns, unlock[i].caused_ns);
		ck_assert_uint_eq(caused[i].caused_waits, unlock[i].caused_waits);
	}
	free(caused);
}

static int64_t asked_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *query;
	int64_t value;

	ck_assert_msg(!sqlite3_prepare_v2(db, sql, -1, &query, NULL), "%s: %s", sql,
		      sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(query), SQLITE_ROW);
	value = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return value;
}

/* The report can be made of anything, SQL's views are its table, and profiles agree with both. */
static void check_outputs(struct trc_model *m, const char *asked)
{
	struct trc_report_options options = {.top = 100};
	struct trc_error error = {""};
	struct trc_selection s;
	char *text = NULL;
	int64_t mutex_ns = 0;
	size_t n_bytes;
	FILE *out;
	sqlite3 *db;
	int err;

	ask(&s, asked, &error, &err);
	ck_assert_int_eq(err, 0);
	trc_model_select(m, &s);
	err = trc_selection_find(&s, m, &error);
	if (!err) {
		out = open_memstream(&text, &n_bytes);
		ck_assert_int_eq(trc_report_print(m, out, &options, &error), 0);
		ck_assert_int_eq(trc_report_summary(m, out, &options, &error), 0);
		ck_assert_int_eq(fclose(out), 0);
		for (const char *at = text; (at = strchr(at, '-')); at++)
			ck_assert_msg(at == text || at[-1] != ' ' || at[1] < '0' || at[1] > '9',
				      "%s: %.80s", asked, at - text > 40 ? at - 40 : text);
		free(text);
		ck_assert_int_eq(trc_sql_open(&db, m, &error), 0);
		ck_assert_int_eq(
			asked_of(db, "SELECT total(waited_ns) FROM parks"),
			asked_of(db, "SELECT total(ns) FROM selected WHERE kind = 'parks'"));
		ck_assert_int_eq(
			asked_of(db, "SELECT count(*) FROM samples"),
			asked_of(db, "SELECT count(*) FROM selected WHERE kind = 'samples'"));
		ck_assert_int_eq(
			asked_of(db,
				 "SELECT count(*) FROM parks JOIN main.parks AS whole USING (id) "
				 "WHERE parks.waited_ns > whole.waited_ns"),
			0);
		mutex_ns = asked_of(db, "SELECT total(caused_ns) FROM unlocks");
		sqlite3_close(db);
	}
	trc_model_select(m, NULL);
	trc_selection_free(&s);
	add_profile(m, asked, 1, &(int64_t){0});
	if (!err) {
		int64_t profile_ns = 0;

		add_profile(m, asked, 1, &profile_ns);
		ck_assert_int_eq(profile_ns, mutex_ns);
	}
}

START_TEST(test_random)
{
	static const char *const asked[] = {"task t",
					    "slowest 10%;task t",
					    "task 3;window 500ns..2000ns",
					    "thread 102",
					    "tenant;window 1us..3us",
					    "tenant",
					    "task t;tenant;thread 101"};
	struct trc_model *m;

	state = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);
	m = model_of(random_text(), TRC_PART_ALL);
	check_caused(m);
	for (size_t profile = 0; profile < N_PROFILES; profile++) {
		check_division(m, profile);
		check_division_of_tasks(m, profile);
	}
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		check_outputs(m, asked[i]);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("selection");
	TCase *tcase = tcase_create("selection");

	tcase_add_loop_test(tcase, test_refused, 0, (int)(sizeof(REFUSED) / sizeof(*REFUSED)));
	tcase_add_loop_test(tcase, test_inside, 0, (int)(sizeof(CASES) / sizeof(*CASES)));
	tcase_add_loop_test(tcase, test_nothing, 0, (int)(sizeof(NOTHING) / sizeof(*NOTHING)));
	tcase_add_loop_test(tcase, test_random, 0, SEEDS);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
