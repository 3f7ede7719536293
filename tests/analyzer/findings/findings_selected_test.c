/*
 * findings_selected_test.c - what is found in a part of a trace: which kinds, what each costs there, and that its query,
 * run on the same part, adds up to that.
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/selection.h"
#include "analyzer/findings/findings.h"
#include "analyzer/report/report.h"
#include "analyzer/sql/sql.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

#define NOT_ALL                                                                                    \
	"not looked for in what is selected: own_lock, slow_stage, late_thread, one_worker, herd, waited_for, lock_order"
#define NOT_WHOLE "not looked for in what is selected: own_lock, waited_for, lock_order"

/* ---- traces ---- */

struct made {
	char *text;
	size_t n;
	FILE *trace;
};

static void begin(struct made *made)
{
	made->trace = open_memstream(&made->text, &made->n);
	ck_assert(made->trace);
	fputs("sync ticks=0 realtime=1700000000000000000\n"
	      "module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"
	      "stack put 0x3011 0x3021\nstack get 0x3041 0x3021\nstack start 0x3061\n"
	      "labels acme tenant=\"acme\"\n"
	      "thread 1 tid=101 name=\"main\"\n"
	      "@0 proc=0 thread=1 park reason=join object=0x10 stack=start\n",
	      made->trace);
}

static void event(struct made *made, int us, int thread, const char *what)
{
	fprintf(made->trace, "@%d proc=%d thread=%d %s\n", us * 1000, thread % 4, thread, what);
}

static void thread(struct made *made, int serial, const char *name)
{
	char what[80];

	fprintf(made->trace, "thread %d tid=%d creator=1 name=\"%s\"\n", serial, 100 + serial,
		name);
	snprintf(what, sizeof(what), "thread_start tid=%d creator=1 stack=start", 100 + serial);
	event(made, 0, serial, what);
}

static void pool(struct made *made, int n)
{
	char name[16];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "pool-%d", i);
		thread(made, 10 + i, name);
	}
}

/* The pool's threads wait for one lock by turns, under labels, for tasks; and for others at the same place. */
static void locks(struct made *made)
{
	pool(made, 3);
	for (int i = 0; i < 20; i++) {
		int at = 500 * i + 10, t = 10 + i % 3;
		char what[80];

		snprintf(what, sizeof(what), "task_begin task=%d type=\"req\"", i + 1);
		event(made, at, t, what);
		if (i % 4 == 1)
			event(made, at + 1, t, "labels labels=acme");
		snprintf(what, sizeof(what), "park reason=mutex object=0x%d holder=1 stack=get",
			 60 + i % 2);
		event(made, at + 10, t, what);
		event(made, at + 200 + 10 * i, 1,
		      i % 2 ? "unlock reason=mutex object=0x61 waiters=1 stack=put"
			    : "unlock reason=mutex object=0x60 waiters=1 stack=put");
		snprintf(what, sizeof(what), "resume reason=mutex object=0x%d", 60 + i % 2);
		event(made, at + 210 + 10 * i, t, what);
		if (i % 4 == 1)
			event(made, at + 430, t, "labels labels=0");
		snprintf(what, sizeof(what), "task_end task=%d", i + 1);
		event(made, at + 440, t, what);
	}
}

/* Two threads by turns on one proc, 1 ms each. */
static void turns(struct made *made)
{
	thread(made, 2, "left");
	thread(made, 3, "right");
	for (int i = 0; i < 9; i++)
		fprintf(made->trace,
			"@%d proc=0 source=kernel thread=%d proc_start\n"
			"@%d proc=0 source=kernel thread=%d proc_stop preempted=1\n",
			1000000 * i + 1000, 2 + i % 2, 1000000 * (i + 1) + 1000, 2 + i % 2);
}

/* Four threads, of which the third comes last to a barrier each 250 us. */
static void barrier(struct made *made)
{
	pool(made, 4);
	for (int i = 0; i < 40; i++) {
		int at = 250 * i + 1;

		for (int t = 0; t < 4; t++)
			if (t != 2)
				event(made, at, 10 + t,
				      "park reason=barrier object=0x60 stack=get");
		event(made, at + 150, 12, "unpark reason=barrier object=0x60 count=~0 stack=get");
		for (int t = 0; t < 4; t++)
			if (t != 2)
				event(made, at + 151, 10 + t, "resume reason=barrier object=0x60");
	}
}

/* 200 sleeps of 40 us, between them 10 us. */
static void polls(struct made *made)
{
	thread(made, 2, "poller");
	for (int i = 0; i < 200; i++) {
		event(made, 50 * i, 2, "park reason=sleep stack=get");
		event(made, 50 * i + 40, 2, "resume reason=sleep");
	}
}

/* The same sleeps, each of which ends with an item for another thread. */
static void feeder(struct made *made)
{
	thread(made, 2, "feeder");
	thread(made, 3, "eater");
	for (int i = 0; i < 200; i++) {
		event(made, 50 * i, 3, "park reason=cond object=0x50 stack=put");
		event(made, 50 * i, 2, "park reason=sleep stack=get");
		event(made, 50 * i + 40, 2, "resume reason=sleep");
		event(made, 50 * i + 41, 2, "unpark reason=cond object=0x50 count=1");
		event(made, 50 * i + 42, 3, "resume reason=cond object=0x50");
	}
}

/* Tasks of 10 us, 5 of 400 of them 1 ms. */
static void tails(struct made *made)
{
	char what[80];

	thread(made, 2, "worker");
	for (int i = 0; i < 400; i++) {
		int at = 12 * i + 990 * (i / 80), slow = i % 80 == 79;

		snprintf(what, sizeof(what), "task_begin task=%d type=\"it's\"", i + 1);
		event(made, at, 2, what);
		if (slow) {
			event(made, at + 1, 2, "park reason=sleep stack=get");
			event(made, at + 999, 2, "resume reason=sleep");
		}
		snprintf(what, sizeof(what), "task_end task=%d", i + 1);
		event(made, at + (slow ? 1000 : 10), 2, what);
	}
}

/* The packer works all the time; the sender waits for its items, and the reader for room. */
static void stage(struct made *made)
{
	thread(made, 2, "reader");
	thread(made, 3, "packer");
	thread(made, 4, "sender");
	for (int at = 1; at < 10000; at += 100) {
		event(made, at + 20, 2, "park reason=cond object=0x60 stack=put");
		event(made, at + 30, 4, "park reason=sem object=0x70 stack=get");
		event(made, at + 90, 3, "unpark reason=cond object=0x60 count=1 stack=get");
		event(made, at + 91, 2, "resume reason=cond object=0x60");
		event(made, at + 94, 3, "unpark reason=sem object=0x70 count=1 stack=put");
		event(made, at + 95, 4, "resume reason=sem object=0x70");
	}
}

/* Of four threads one works up to 8 ms; the others hardly do, from 100 us on. */
static void one_worker(struct made *made)
{
	pool(made, 4);
	for (int i = 0; i < 4; i++)
		event(made, i == 2 ? 8000 : 100, 10 + i, "park reason=cond object=0x50 stack=get");
}

/* The same, but one of the others has ended after 1.5 ms. */
static void one_has_left(struct made *made)
{
	pool(made, 4);
	for (int i = 0; i < 4; i++)
		event(made, i == 2 ? 8000 : 100, 10 + i, "park reason=cond object=0x50 stack=get");
	event(made, 1400, 13, "resume reason=cond object=0x50");
	event(made, 1500, 13, "thread_exit");
}

/* A broadcast each 100 us for four threads, of which one works for 80 us; the others wait again. */
static void herd(struct made *made)
{
	pool(made, 4);
	for (int t = 0; t < 4; t++)
		event(made, 0, 10 + t, "park reason=cond object=0x50 stack=get");
	for (int i = 0; i < 99; i++) {
		event(made, 100 * i + 10, 1, "unpark reason=cond object=0x50 count=~0 stack=put");
		for (int t = 0; t < 4; t++)
			event(made, 100 * i + 11, 10 + t, "resume reason=cond object=0x50");
		for (int t = 0; t < 4; t++)
			if (t != i % 4)
				event(made, 100 * i + 18, 10 + t,
				      "park reason=cond object=0x50 stack=get");
		event(made, 100 * i + 90, 10 + i % 4, "park reason=cond object=0x50 stack=get");
	}
}

/* Three of four threads end after 4 ms; main waits for the fourth up to 9 ms. */
static void late(struct made *made)
{
	pool(made, 4);
	for (int t = 0; t < 3; t++)
		event(made, 4000, 10 + t, "thread_exit");
	event(made, 4001, 1, "resume reason=join object=0x10");
	event(made, 4002, 1, "park reason=join object=0x20 holder=13 stack=start");
	event(made, 9000, 13, "thread_exit");
	event(made, 9001, 1, "resume reason=join object=0x20");
	event(made, 9002, 1, "park reason=join object=0x10 stack=start");
}

/* Two locks in both orders. */
static void order(struct made *made)
{
	static const char *const EVENTS[] = {
		"acquire reason=mutex object=0x60 stack=put",
		"acquire reason=mutex object=0x70 stack=get",
		"release reason=mutex object=0x70",
		"release reason=mutex object=0x60",
		"acquire reason=mutex object=0x70 stack=put",
		"acquire reason=mutex object=0x60 stack=get",
		"release reason=mutex object=0x60",
		"release reason=mutex object=0x70",
	};

	thread(made, 2, "left");
	thread(made, 3, "right");
	for (int i = 0; i < 8; i++)
		event(made, 100 * i + 100, i < 4 ? 2 : 3, EVENTS[i]);
}

/* Two threads wait for each other, and a third for a lock whose holder has ended, up to 200 ms. */
static void stuck(struct made *made)
{
	thread(made, 3, "clock");
	pool(made, 4);
	event(made, 1000, 10, "park reason=mutex object=0x60 holder=11 stack=get");
	event(made, 1000, 11, "park reason=mutex object=0x70 holder=10 stack=put");
	event(made, 1000, 12, "park reason=mutex object=0x80 holder=13 stack=get");
	event(made, 1100, 13, "thread_exit");
	event(made, 200000, 3, "log category=\"c\" message=\"m\"");
}

/* ---- selections ---- */

static void ask(struct trc_selection *s, const char *asked)
{
	static char text[200];
	struct trc_error error = {""};
	char *save = NULL;
	int err = 0;

	*s = (struct trc_selection){0};
	snprintf(text, sizeof(text), "%s", asked);
	for (char *word = strtok_r(text, ";", &save); word && !err;
	     word = strtok_r(NULL, ";", &save)) {
		if (!strncmp(word, "window ", 7))
			err = trc_selection_ask_window(s, word + 7, &error);
		else if (!strncmp(word, "thread ", 7))
			err = trc_selection_ask_thread(s, word + 7, &error);
		else if (!strncmp(word, "task ", 5))
			err = trc_selection_ask_task(s, word + 5, &error);
		else if (!strncmp(word, "slowest ", 8))
			err = trc_selection_ask_slowest(s, word + 8, &error);
		else
			err = trc_label_filter_add(&s->labels, word, &error);
	}
	ck_assert_msg(!err, "%s: %s", asked, error.text);
}

struct opened {
	struct trc_selection selection;
	struct trc_model *m;
	sqlite3 *db;
};

/* "" selects nothing. */
static void open_selected(struct opened *o, struct made *made, const char *asked)
{
	struct trc_error error = {""};

	event(made, 10000, 1, "resume reason=join object=0x10");
	fclose(made->trace);
	o->m = model_of(made->text, 0);
	ask(&o->selection, asked);
	if (*asked) {
		trc_model_select(o->m, &o->selection);
		ck_assert_msg(!trc_selection_find(&o->selection, o->m, &error), "%s: %s", asked,
			      error.text);
	}
	ck_assert_msg(!trc_sql_open(&o->db, o->m, &error), "%s", error.text);
}

static void close_selected(struct opened *o, struct made *made)
{
	sqlite3_close(o->db);
	trc_selection_free(&o->selection);
	model_close(o->m);
	free(made->text);
}

/* The first value; -1 if there is no row. */
static long long value_of(sqlite3 *db, const char *query)
{
	sqlite3_stmt *stmt;
	long long value = -1;

	ck_assert_msg(!sqlite3_prepare_v2(db, query, -1, &stmt, NULL), "%s: %s", query,
		      sqlite3_errmsg(db));
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

/* ---- what is found, by its query ---- */

/* What of the query's rows adds up to the cost; of the others there are rows.  %s is the query. */
static const char *sum_of(const struct trc_finding *f, bool selected)
{
	switch (f->kind) {
	case TRC_FINDING_ONE_WORKER: /* beyond its share of what all did, where no switches are recorded */
		return selected
			       ? "SELECT max(selected_ns - parked_ns) - sum(selected_ns - parked_ns) / count(*) "
				 "FROM (%s)"
			       : NULL;
	case TRC_FINDING_LOCK:
	case TRC_FINDING_LOCK_BLOCKING:
	case TRC_FINDING_LOCK_PREEMPTED:
	case TRC_FINDING_LOCK_CONVOY:
	case TRC_FINDING_LOCK_PROCS:
		return "SELECT sum(waited_ns) FROM (%s)";
	case TRC_FINDING_PROCS:
	case TRC_FINDING_PROCS_TAKEN:
		return "SELECT sum(without_ns) FROM (%s)";
	case TRC_FINDING_BARRIER_IMBALANCE:
		return "SELECT max(waited_ns) FROM (%s)";
	case TRC_FINDING_TASK_TAIL:
		return "WITH t AS (SELECT duration_ns AS d, row_number() OVER (ORDER BY duration_ns) AS k, "
		       "count(*) OVER () AS n FROM (%s)) SELECT sum(d) - count(*) * (SELECT d FROM t WHERE k "
		       "= (n + 1) / 2) FROM t WHERE k > n - n / 100";
	default:
		return NULL;
	}
}

static void check_cost(struct opened *o, const struct trc_finding *f, const char *asked)
{
	const char *sum = sum_of(f, *asked);
	char *query;

	ck_assert_msg(*f->sql, "%s, %s: no query", asked, trc_finding_kind_name(f->kind));
	query = sqlite3_mprintf(sum ? sum : "SELECT count(*) FROM (%s)", f->sql);
	if (sum)
		ck_assert_msg(value_of(o->db, query) == f->cost_ns,
			      "%s, %s: %lld instead of %lld: %s", asked,
			      trc_finding_kind_name(f->kind), value_of(o->db, query),
			      (long long)f->cost_ns, query);
	else
		ck_assert_msg(value_of(o->db, query) > 0, "%s: no rows: %s", asked, query);
	sqlite3_free(query);
}

/* "lock 5000000; ..."; a note has its sentence. */
static void tell(struct text *told, const struct trc_finding *f)
{
	if (told->n)
		add(told, "; ");
	if (f->severity == TRC_SEVERITY_NOTE)
		add(told, "%s", f->sentence);
	else
		add(told, "%s %lld", trc_finding_kind_name(f->kind), (long long)f->cost_ns);
}

typedef void trace_fn(struct made *made);

/* *first_ns is the cost of the first. */
static void find(trace_fn *trace, const char *asked, struct text *told, long long *first_ns)
{
	struct trc_error error = {""};
	struct trc_array found;
	struct opened o;
	struct made made;

	told->n = 0;
	*told->at = '\0';
	begin(&made);
	trace(&made);
	open_selected(&o, &made, asked);
	ck_assert_msg(!trc_findings(o.m, &found, &error), "%s: %s", asked, error.text);
	ck_assert_uint_gt(found.n, 0);
	*first_ns = ((const struct trc_finding *)found.row)->cost_ns;
	for (size_t i = 0; i < found.n; i++) {
		const struct trc_finding *f = (const struct trc_finding *)found.row + i;

		tell(told, f);
		if (f->severity == TRC_SEVERITY_COST)
			check_cost(&o, f, asked);
	}
	trc_array_free(&found);
	close_selected(&o, &made);
}

static const struct {
	trace_fn *trace;
	const char *asked, *found;
} CASES[] = {
	{locks, "", "lock_blocking 5900000"},
	{locks, "window 2ms..5ms", "lock_blocking 1590000; " NOT_WHOLE},
	{locks, "thread pool-1", "lock_blocking 2100000; " NOT_ALL},
	{locks, "task req;slowest 10%", "lock_blocking 410000; " NOT_ALL},
	{locks, "task 3;window ..1150us", "lock_blocking 130000; " NOT_ALL},
	{locks, "tenant=acme", "lock_blocking 1450000; " NOT_ALL},
	{turns, "", "procs 7000000"},
	{turns, "window 2501us..4501us", "procs 2000000; " NOT_WHOLE},
	{turns, "thread right", "procs 3000000; " NOT_ALL},
	{barrier, "", "barrier_imbalance 18120000"},
	{barrier, "window 1ms..5100us", "barrier_imbalance 7545000; " NOT_WHOLE},
	{barrier, "thread pool-0", "barrier_imbalance 6040000; " NOT_ALL},
	{polls, "", "poll_loop 2000000"},
	{polls, "window 2ms..9ms", "poll_loop 1400000; " NOT_WHOLE},
	{polls, "thread poller", "poll_loop 2000000; " NOT_ALL},
	{tails, "", "task_tail 3960000"},
	{tails, "thread worker", "task_tail 3960000; " NOT_ALL},
	{tails, "window 1ms..", "task_tail 2970000; " NOT_WHOLE},
	{stage, "", "slow_stage 13400000"},
	{stage, "window 2ms..7ms", "slow_stage 6700000; " NOT_WHOLE},
	{one_worker, "", "one_worker 5925000"},
	{one_worker, "window 2ms..9ms", "one_worker 4500000; " NOT_WHOLE},
	{one_has_left, "window 2ms..9ms", "one_worker 4000000; " NOT_WHOLE},
	{herd, "", "herd 2079000"},
	{herd, "window 1ms..9ms", "herd 1680000; " NOT_WHOLE},
	{late, "", "late_thread 4998000"},
	{late, "window 3ms..9500us", "late_thread 4998000; " NOT_WHOLE},
	{order, "", "lock_order 0"},
	{stuck, "", "deadlock 0; abandoned_lock 199000000"},
	{stuck, "window 2ms..5ms", "deadlock 0; abandoned_lock 199000000; " NOT_WHOLE},
	{stuck, "thread pool-2;window 2ms..5ms", "deadlock 0; abandoned_lock 199000000; " NOT_ALL},
};

START_TEST(found)
{
	struct text told;
	long long ns;

	find(CASES[_i].trace, CASES[_i].asked, &told, &ns);
	ck_assert_msg(!strcmp(told.at, CASES[_i].found), "%d, \"%s\":\n%s\nnot\n%s", _i,
		      CASES[_i].asked, told.at, CASES[_i].found);
}
END_TEST

/* What needs all threads is not said of some; who wakes others does not ask, whoever they are. */
static const struct {
	trace_fn *trace;
	const char *asked, *absent;
} NOT_FOUND[] = {
	{stage, "thread sender", "slow_stage"},
	{one_worker, "thread pool-2", "one_worker"},
	{herd, "thread pool-1", "herd"},
	{late, "thread pool-3", "late_thread"},
	{late, "window 5ms..8ms", "late_thread"},
	{order, "window ..", "lock_order 0"},
	{feeder, "", "poll_loop"},
	{feeder, "thread feeder", "poll_loop"},
	{feeder, "thread feeder;window 1ms..", "poll_loop"},
};

START_TEST(not_found)
{
	struct text told;
	long long ns;

	find(NOT_FOUND[_i].trace, NOT_FOUND[_i].asked, &told, &ns);
	if (strcmp(NOT_FOUND[_i].absent, "lock_order 0") != 0 && strstr(told.at, "not looked"))
		*strstr(told.at, "not looked") = '\0';
	ck_assert_msg(!strstr(told.at, NOT_FOUND[_i].absent), "%d: %s", _i, told.at);
}
END_TEST

/* What is found in windows one after the other adds up to all of it. */
START_TEST(windows_add_up)
{
	static trace_fn *const TRACES[] = {locks, turns, barrier};
	struct text told;
	long long all_ns, sum_ns = 0;
	char asked[60];

	find(TRACES[_i], "", &told, &all_ns);
	for (int from = 0; from < 10; from += 5) {
		long long ns;

		snprintf(asked, sizeof(asked), from < 5 ? "window %dms..%dms" : "window %dms..",
			 from, from + 5);
		find(TRACES[_i], asked, &told, &ns);
		sum_ns += ns;
	}
	ck_assert_msg(sum_ns == all_ns, "%lld instead of %lld", sum_ns, all_ns);
}
END_TEST

/* The report's section begins with what was not looked for. */
START_TEST(the_report_says_it)
{
	const struct trc_report_options options = {.path = "dump.trc"};
	struct trc_error error = {""};
	struct opened o;
	struct made made;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	begin(&made);
	locks(&made);
	open_selected(&o, &made, "thread pool-1");
	ck_assert_msg(!trc_report_print(o.m, out, &options, &error), "%s", error.text);
	fclose(out);
	ck_assert_msg(
		strstr(text,
		       "\nFindings\n  not looked for in what is selected: own_lock, slow_stage, late_thread, "
		       "one_worker, herd,\n      waited_for, lock_order\n"),
		"%s", text);
	free(text);
	close_selected(&o, &made);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("findings_selected");
	TCase *tests = tcase_create("findings_selected");

	tcase_add_loop_test(tests, found, 0, sizeof(CASES) / sizeof(*CASES));
	tcase_add_loop_test(tests, not_found, 0, sizeof(NOT_FOUND) / sizeof(*NOT_FOUND));
	tcase_add_loop_test(tests, windows_add_up, 0, 3);
	tcase_add_test(tests, the_report_says_it);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
