/*
 * joins_test.c - tables are joined by ids without walking one of them for each row of the other.
 *
 * Which columns are ids, and of what, is taken from the descriptions of the tables (`of` in table.h).  What is counted are steps
 * of SQLite's machine, not time: each row that a walk comes by is some.
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyzer/sql/sql.h"
#include "analyzer/sql/table.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

/* A trace of n threads, each of which does a little of everything. */
struct trace {
	struct trc_model *m;
	sqlite3 *db;
};

static void head_of_thread(FILE *out, unsigned int i)
{
	fprintf(out,
		"thread %u tid=%u creator=1 name=\"t\"\n"
		"stack s%u 0x%x 0x402000\n"
		"labels l%u id=%u\n",
		i, 1000 + i, i, 0x500000 + i * 16, i, i);
}

/* Ten waits, so that there is something to choose among the rows of one thread. */
static void waits_of_thread(FILE *out, unsigned int i, unsigned int at)
{
	for (unsigned int w = 0; w < 10; w++, at += 20) {
		fprintf(out, "@%u thread=%u park reason=mutex object=%u holder=1 stack=s%u\n", at,
			i, 4096 * i, i);
		fprintf(out,
			"@%u thread=1 unlock reason=mutex object=%u waiters=1 stack=s%u at=%u\n",
			at + 10, 4096 * i, i, at + 9);
		fprintf(out, "@%u thread=%u resume reason=mutex object=%u\n", at + 11, i, 4096 * i);
	}
}

/* Locks that are held while others are taken, memory, samples, a fiber. */
static void events_of_thread(FILE *out, unsigned int i, unsigned int at)
{
	fprintf(out, "@%u thread=%u acquire reason=mutex object=%u stack=s%u\n", at, i, 4096 * i,
		i);
	fprintf(out, "@%u thread=%u acquire reason=mutex object=%u stack=s%u\n", at + 1, i,
		4096 * i + 64, i);
	fprintf(out, "@%u thread=%u release reason=mutex object=%u\n", at + 2, i, 4096 * i + 64);
	fprintf(out, "@%u thread=%u release reason=mutex object=%u\n", at + 3, i, 4096 * i);
	fprintf(out, "@%u thread=%u log task=%u message=\"m\"\n", at + 4, i, i);
	fprintf(out, "@%u thread=%u counter name=\"c\" value=%u\n", at + 5, i, i);
	fprintf(out, "@%u thread=%u sample event=1 value=10 period=10 stack=s%u labels=l%u\n",
		at + 6, i, i, i);
	fprintf(out, "@%u thread=%u samples_lost event=1 lost_samples=1 cause=busy\n", at + 7, i);
	fprintf(out,
		"@%u thread=%u alloc sample=%u address=%u bytes=8 period=1 stack=s%u labels=l%u\n",
		at + 8, i, 2 * i, 64 * i, i, i);
	fprintf(out, "@%u thread=%u free sample=%u address=%u bytes=8 period=1\n", at + 9, i, 2 * i,
		64 * i);
	fprintf(out,
		"@%u thread=%u alloc sample=%u address=%u bytes=8 period=1 stack=s%u labels=l%u\n",
		at + 10, i, 2 * i + 1, 64 * i, i, i);
	fprintf(out, "@%u thread=%u fiber_create fiber=%u stack=s%u\n", at + 11, i, 7 * i, i);
	fprintf(out, "@%u thread=%u fiber_switch fiber=%u\n", at + 12, i, 7 * i);
	fprintf(out, "@%u thread=%u fiber_switch left=%u reason=user object=%u stack=s%u\n",
		at + 13, i, 7 * i, 4096 * i, i);
	fprintf(out, "@%u thread=1 fiber_ready fiber=%u stack=s%u\n", at + 14, 7 * i, i);
	fprintf(out, "@%u thread=%u fiber_switch fiber=%u\n", at + 15, i, 7 * i);
	fprintf(out, "@%u thread=%u fiber_switch left=%u\n", at + 16, i, 7 * i);
	fprintf(out, "@%u source=kernel thread=%u proc_stop preempted=1\n", at + 17, i);
	fprintf(out, "@%u source=kernel thread=%u proc_start\n", at + 18, i);
}

/* Threads 2 and 3 wait for each other when the trace ends, 4 and 5, ... */
static void end_of_thread(FILE *out, unsigned int i, unsigned int at)
{
	const unsigned int other = i ^ 1;

	fprintf(out, "@%u thread=%u task_end task=%u\n", at, i, i);
	fprintf(out, "@%u thread=%u region_begin task=%u type=\"r\"\n", at + 1, i, i);
	fprintf(out, "@%u thread=%u park reason=mutex object=%u holder=%u stack=s%u\n", at + 2, i,
		4096 * other + 128, other, i);
}

static struct trace trace_of(unsigned int n)
{
	struct trc_error error = {""};
	struct trace trace;
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	fputs("header procs=2\nsample_event 1 how=timer period=10\nthread 1 tid=1000\n", out);
	for (unsigned int i = 2; i < n + 2; i++)
		head_of_thread(out, i);
	for (unsigned int i = 2; i < n + 2; i++) {
		fprintf(out, "@%u source=kernel thread=%u proc_start\n", i * 1000, i);
		fprintf(out, "@%u thread=%u labels labels=l%u\n", i * 1000 + 1, i, i);
		fprintf(out, "@%u thread=%u task_begin task=%u parent=%u type=\"t\"\n",
			i * 1000 + 2, i, i, i > 2 ? i - 1 : 0);
		fprintf(out, "@%u thread=%u region_begin task=%u type=\"r\"\n", i * 1000 + 3, i, i);
		waits_of_thread(out, i, i * 1000 + 10);
		events_of_thread(out, i, i * 1000 + 500);
		fprintf(out, "@%u thread=%u region_end\n", i * 1000 + 900, i);
		end_of_thread(out, i, i * 1000 + 901);
	}
	fclose(out);
	trace.m = model_of(text, 0);
	free(text);
	ck_assert_msg(!trc_sql_open(&trace.db, trace.m, &error), "%s", error.text);
	return trace;
}

static void trace_close(struct trace *trace)
{
	ck_assert_int_eq(sqlite3_close(trace->db), SQLITE_OK);
	model_close(trace->m);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;

	ck_assert_msg(!sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), "%s: %s", sql,
		      sqlite3_errmsg(db));
	return stmt;
}

/* The first column of the answer, of which there is one row; what it took is added to *steps. */
static int64_t number(sqlite3 *db, const char *sql, int *steps)
{
	sqlite3_stmt *stmt = prepare(db, sql);
	int64_t answer;

	ck_assert_msg(sqlite3_step(stmt) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
	answer = sqlite3_column_int64(stmt, 0);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_DONE);
	*steps += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0);
	sqlite3_finalize(stmt);
	return answer;
}

/* A column that is the id of something, of a table whose rows are there to be looked up. */
struct reference {
	const struct trc_sql_table *table;
	const struct trc_sql_column *column;
};
enum { REFERENCES_MAX = 400 };

static size_t references(struct reference *of)
{
	const struct trc_sql_table *table;
	size_t n = 0;

	for (size_t t = 0; (table = trc_sql_table_at(t)); t++) {
		for (size_t c = 0; c < table->n_columns && (table->rows || table->make); c++) {
			ck_assert_uint_lt(n, REFERENCES_MAX);
			if (table->column[c].of)
				of[n++] = (struct reference){table, &table->column[c]};
		}
	}
	return n;
}

static const char *id_of(const char *table)
{
	const struct trc_sql_table *t = trc_sql_table_named(table);

	ck_assert_msg(t, "no table %s", table);
	return t->column[0].name;
}

/* What EXPLAIN QUERY PLAN says of the table that is walked for each row of the other. */
static void assert_looked_up(sqlite3 *db, const char *sql, const char *column)
{
	char text[600], wanted[100], got[300] = "";
	sqlite3_stmt *stmt;

	snprintf(text, sizeof(text), "EXPLAIN QUERY PLAN %s", sql);
	snprintf(wanted, sizeof(wanted), ":%s=?", column);
	stmt = prepare(db, text);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		snprintf(got, sizeof(got), "%s", (const char *)sqlite3_column_text(stmt, 3));
	sqlite3_finalize(stmt);
	ck_assert_msg(strstr(got, wanted), "%s: %s", sql, got);
}

/* CROSS JOIN keeps SQLite from choosing which table comes first. */
START_TEST(test_each_id_is_looked_up_from_both_sides)
{
	struct trace trace = trace_of(2);
	struct reference *of = calloc(REFERENCES_MAX, sizeof(*of));
	size_t n = references(of);
	char sql[500];

	ck_assert_uint_gt(n, 100);
	for (size_t i = 0; i < n; i++) {
		const char *table = of[i].table->name, *column = of[i].column->name;
		const char *to = of[i].column->of, *id = id_of(to);

		snprintf(sql, sizeof(sql),
			 "SELECT 1 FROM %s AS a CROSS JOIN %s AS b ON b.%s = a.%s", table, to, id,
			 column);
		assert_looked_up(trace.db, sql, id);
		snprintf(sql, sizeof(sql),
			 "SELECT 1 FROM %s AS b CROSS JOIN %s AS a ON b.%s = a.%s", to, table, id,
			 column);
		assert_looked_up(trace.db, sql, column);
	}
	free(of);
	trace_close(&trace);
}
END_TEST

/* What belongs to the same thread, task, stack, ... in two tables, or twice in one. */
START_TEST(test_ids_of_the_same_are_looked_up)
{
	struct trace trace = trace_of(2);
	struct reference *of = calloc(REFERENCES_MAX, sizeof(*of));
	size_t n = references(of);
	char sql[500];

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			if (strcmp(of[i].column->of, of[j].column->of) != 0)
				continue;
			snprintf(sql, sizeof(sql),
				 "SELECT 1 FROM %s AS a CROSS JOIN %s AS b ON b.%s = a.%s",
				 of[i].table->name, of[j].table->name, of[j].column->name,
				 of[i].column->name);
			assert_looked_up(trace.db, sql, of[j].column->name);
		}
	}
	free(of);
	trace_close(&trace);
}
END_TEST

/* A name means the same in all tables: who adds a table need not think of it, for this test does. */
START_TEST(test_no_id_was_forgotten)
{
	struct reference *of = calloc(REFERENCES_MAX, sizeof(*of));
	const struct trc_sql_table *table;
	size_t n = references(of);

	for (size_t t = 0; (table = trc_sql_table_at(t)); t++) {
		for (size_t c = 1; c < table->n_columns && (table->rows || table->make); c++) {
			const struct trc_sql_column *column = &table->column[c];
			bool is_id = false;

			for (size_t i = 0; i < n; i++)
				is_id |= !strcmp(of[i].column->name, column->name) &&
					 strcmp(column->name, "parent") != 0 &&
					 strcmp(column->name, "deadlock") != 0;
			ck_assert_msg(!is_id || column->of || strcmp(column->type, "INTEGER") != 0,
				      "%s.%s", table->name, column->name);
		}
	}
	free(of);
}
END_TEST

enum join_form { JOIN, LEFT_JOIN, LEFT_JOIN_OF_REFERENCES, N_JOIN_FORMS };
enum { THREADS = 24 };

static char *join(const struct reference *r, enum join_form form)
{
	const char *to = r->column->of;

	return sqlite3_mprintf(
		"SELECT count(*) + total(b.%s) + total(a.\"%s\") FROM %s AS %s %s %s AS %s ON b.%s = a.%s",
		id_of(to), r->table->column[0].name,
		form == LEFT_JOIN_OF_REFERENCES ? to : r->table->name,
		form == LEFT_JOIN_OF_REFERENCES ? "b" : "a", form == JOIN ? "JOIN" : "LEFT JOIN",
		form == LEFT_JOIN_OF_REFERENCES ? r->table->name : to,
		form == LEFT_JOIN_OF_REFERENCES ? "a" : "b", id_of(to), r->column->name);
}

/* Twice the threads, and twice the rows of each table, take twice the steps. */
START_TEST(test_joins_are_linear)
{
	struct trace small = trace_of(THREADS), large = trace_of(2 * THREADS);
	struct reference *of = calloc(REFERENCES_MAX, sizeof(*of));
	size_t n = references(of);

	for (size_t i = 0; i < n * N_JOIN_FORMS; i++) {
		char *sql = join(&of[i / N_JOIN_FORMS], i % N_JOIN_FORMS);
		int few = 0, many = 0;

		number(small.db, sql, &few);
		number(large.db, sql, &many);
		ck_assert_msg(many < 2.6 * few + 100, "%s: %d and %d steps", sql, few, many);
		sqlite3_free(sql);
	}
	free(of);
	trace_close(&small);
	trace_close(&large);
}
END_TEST

/* What is in the trace, so that the test above has something to count. */
START_TEST(test_tables_have_rows_to_join)
{
	static const char *const may_be_empty[] = {"coverage", "gaps", "selected", "modules",
						   "descriptors"};
	struct trace trace = trace_of(THREADS);
	const struct trc_sql_table *table;
	int steps = 0;

	for (size_t t = 0; (table = trc_sql_table_at(t)); t++) {
		char *sql = sqlite3_mprintf("SELECT count(*) FROM %s", table->name);
		bool may_be = false;

		for (size_t i = 0; i < sizeof(may_be_empty) / sizeof(may_be_empty[0]); i++)
			may_be |= !strcmp(may_be_empty[i], table->name);
		ck_assert_msg(may_be || number(trace.db, sql, &steps) > 0, "%s has no rows",
			      table->name);
		sqlite3_free(sql);
	}
	trace_close(&trace);
}
END_TEST

/* Bounds and orders beside a look-up, and values that are no whole numbers. */
static const char *const queries[] = {
	"SELECT group_concat(id) FROM (SELECT id FROM parks WHERE thread = 5 ORDER BY start_ns DESC)",
	"SELECT group_concat(id) FROM (SELECT id FROM parks WHERE thread = 5 ORDER BY id)",
	"SELECT group_concat(id) FROM (SELECT id FROM parks WHERE thread = 5 AND start_ns >= 5050 "
	"AND start_ns < 5110 ORDER BY id DESC)",
	"SELECT group_concat(id) FROM (SELECT id FROM parks WHERE thread IN (7, 3, 99) AND id > 12 "
	"ORDER BY id)",
	"SELECT count(*) FROM parks WHERE thread = '5'",
	"SELECT count(*) FROM parks WHERE thread = 5.0",
	"SELECT count(*) FROM parks WHERE thread = 5.5",
	"SELECT count(*) FROM parks WHERE thread = NULL",
	"SELECT count(*) FROM parks WHERE thread = 'x'",
	"SELECT count(*) FROM parks WHERE thread = -1",
	"SELECT count(*) FROM parks WHERE thread = 9223372036854775807",
	"SELECT count(*) FROM parks WHERE unlock IS NULL",
	"SELECT count(*) FROM parks WHERE unlock = 0",
	"SELECT count(*) FROM parks WHERE thread = 5 AND object = 20480 AND stack = 4",
	"SELECT count(*) FROM parks WHERE thread = 5 AND labels = 4",
	"SELECT count(*) FROM parks AS a JOIN parks AS b ON b.thread = a.thread AND b.start_ns > a.start_ns",
	"SELECT count(*) FROM tasks AS a LEFT JOIN tasks AS b ON b.parent = a.id WHERE b.id IS NULL",
	"SELECT count(*) FROM tasks WHERE id = 5 OR id = 6 OR parent = 6",
	"SELECT type FROM regions WHERE rowid = 3",
	"SELECT count(*) FROM samples WHERE rowid >= 3 AND rowid < 9 AND thread = 6",
	"SELECT sum(duration_ns) FROM regions AS r WHERE EXISTS (SELECT 1 FROM parks AS p WHERE "
	"p.thread = r.thread AND p.start_ns BETWEEN r.start_ns AND r.end_ns)",
};
enum { N_QUERIES = sizeof(queries) / sizeof(queries[0]) };

static char *text_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = prepare(db, sql);
	char *text;

	ck_assert_msg(sqlite3_step(stmt) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
	text = strdup(sqlite3_column_text(stmt, 0) ? (const char *)sqlite3_column_text(stmt, 0)
						   : "NULL");
	sqlite3_finalize(stmt);
	return text;
}

static void assert_same(sqlite3 *a, sqlite3 *b, const char *sql)
{
	char *got = text_of(a, sql), *wanted = text_of(b, sql);

	ck_assert_msg(!strcmp(got, wanted), "%s\ngot: %s\nwanted: %s", sql, got, wanted);
	free(got);
	free(wanted);
}

/* The plain tables of --db, which SQLite searches by itself. */
START_TEST(test_answers_are_those_of_plain_tables)
{
	char path[] = "/tmp/joins_test_XXXXXX";
	struct trace trace = trace_of(THREADS);
	struct reference *of = calloc(REFERENCES_MAX, sizeof(*of));
	size_t n = references(of);
	struct trc_error error = {""};
	int fd = mkstemp(path);
	sqlite3 *plain;

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_msg(!trc_sql_export(trace.m, path, &error), "%s", error.text);
	ck_assert_int_eq(sqlite3_open(path, &plain), SQLITE_OK);
	for (size_t i = 0; i < N_QUERIES; i++)
		assert_same(trace.db, plain, queries[i]);
	for (size_t i = 0; i < n * N_JOIN_FORMS; i++) {
		char *sql = join(&of[i / N_JOIN_FORMS], i % N_JOIN_FORMS);

		assert_same(trace.db, plain, sql);
		sqlite3_free(sql);
	}
	free(of);
	sqlite3_close(plain);
	unlink(path);
	trace_close(&trace);
}
END_TEST

/* Tables that are derived while they are read are no tables of --db. */
START_TEST(test_causes)
{
	struct trace small = trace_of(THREADS), large = trace_of(2 * THREADS);
	static const char *const of_parents =
		"SELECT count(*) FROM causes AS c JOIN causes AS p ON p.wait = c.wait AND p.id = c.parent";
	static const char *const of_waits =
		"SELECT count(*) FROM causes AS c JOIN parks AS p ON p.id = c.wait";
	int few = 0, many = 0, steps = 0;

	ck_assert_int_gt(number(small.db, of_parents, &few), THREADS);
	ck_assert_int_eq(number(small.db, of_parents, &steps),
			 number(small.db, "SELECT count(parent) FROM causes", &steps));
	ck_assert_int_eq(number(small.db, of_waits, &few),
			 number(small.db, "SELECT count(*) FROM causes", &steps));
	number(large.db, of_parents, &many);
	number(large.db, of_waits, &many);
	ck_assert_msg(many < 2.6 * few, "%d and %d steps", few, many);
	assert_looked_up(small.db,
			 "SELECT 1 FROM parks AS p CROSS JOIN causes AS c ON c.wait = p.id",
			 "wait");
	assert_looked_up(small.db,
			 "SELECT 1 FROM tasks AS t CROSS JOIN task_path AS p ON p.task = t.id",
			 "task");
	assert_looked_up(
		small.db,
		"SELECT 1 FROM regions AS r CROSS JOIN region_path AS p ON p.region = r.id",
		"region");
	/* an id that is none, and one that may be several */
	ck_assert_int_eq(
		number(small.db, "SELECT count(*) FROM causes WHERE wait = 1 AND id = 0", &steps),
		0);
	ck_assert_int_eq(
		number(small.db, "SELECT count(*) FROM causes WHERE wait = 1 AND id = 1", &steps),
		1);
	ck_assert_int_eq(
		number(small.db, "SELECT count(*) FROM causes WHERE wait = '1' AND id = 1", &steps),
		1);
	ck_assert_int_eq(
		number(small.db, "SELECT count(*) FROM causes WHERE wait = 1 AND id = 1.5", &steps),
		0);
	ck_assert_int_eq(number(small.db,
				"SELECT count(*) FROM causes WHERE wait = 1 AND id = NULL", &steps),
			 0);
	trace_close(&small);
	trace_close(&large);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("joins");
	TCase *tcase = tcase_create("joins");

	tcase_set_timeout(tcase, 600);
	tcase_add_test(tcase, test_each_id_is_looked_up_from_both_sides);
	tcase_add_test(tcase, test_ids_of_the_same_are_looked_up);
	tcase_add_test(tcase, test_no_id_was_forgotten);
	tcase_add_test(tcase, test_tables_have_rows_to_join);
	tcase_add_test(tcase, test_joins_are_linear);
	tcase_add_test(tcase, test_answers_are_those_of_plain_tables);
	tcase_add_test(tcase, test_causes);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
