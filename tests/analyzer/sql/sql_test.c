/*
 * sql_test.c - queries on traces written as text: rows, plans, refusals.
 *
 * Rows are compared as tsv without the heads.
 */
#include <check.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "analyzer/export/output.h"
#include "analyzer/sql/sql.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/suite.h"

static const char trace_text[] =
	"header procs=3\n"
	"info command \"server --fast\"\n"
	"module lib path=\"/lib/x.so\" start=0x400000 limit=0x500000 build_id=a1b2\n"
	"thread 1 tid=101 name=\"main\"\n"
	"thread 2 tid=102 creator=1 start=500 name=\"worker\"\n"
	"stack s1 0x401000 0x402000\n"
	"stack s2 0x403000\n"
	"@1000 proc=0 thread=1 task_begin task=7 type=\"request\"\n"
	"@1100 proc=0 thread=1 region_begin task=7 type=\"parse\"\n"
	"@2000 proc=1 thread=2 park reason=mutex object=0x10 holder=1 stack=s1\n"
	"@3000 proc=0 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s2 at=2900\n"
	"@3200 proc=1 thread=2 resume reason=mutex object=0x10\n"
	"@3300 proc=0 thread=1 region_end\n"
	"@3400 proc=0 thread=1 log task=7 category=\"net\" message=\"sent\"\n"
	"@3500 proc=1 thread=2 counter name=\"queue\" value=-4\n"
	"@3600 proc=0 thread=1 task_end task=7\n"
	"@4000 proc=2 source=overflow thread=2 park reason=cond object=0x30\n"
	"@4500 proc=0 thread=1 gap lost_events=2 since=4100 cause=ring_full\n"
	"@4600 proc=1 source=kernel thread=2 proc_start\n"
	"@4700 proc=1 source=kernel thread=2 proc_stop preempted=1\n"
	"flush\n"
	"@5000 proc=0 thread=1 log message=\"last\"\n"
	"@6000 proc=0 thread=1 process what=3 value=0\n";

static struct trc_model *model;
static sqlite3 *db;

static void open_trace(const char *text)
{
	struct trc_error error = {""};

	model = model_of(text, 0);
	ck_assert_msg(!trc_sql_open(&db, model, &error), "%s", error.text);
}

static void set_up(void)
{
	open_trace(trace_text);
}

static void tear_down(void)
{
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	model_close(model);
}

/* The answer as tsv without its head, or the error; the caller's. */
static char *answer(const char *sql, enum trc_output output)
{
	struct trc_error error = {""};
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);
	int err = trc_output_query(db, sql, output, out, &error);

	fclose(out);
	if (err) {
		free(text);
		return strdup(error.text);
	}
	if (output == TRC_OUTPUT_TSV && strchr(text, '\n'))
		memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n')));
	return text;
}

static const struct row_case {
	const char *sql, *rows;
} rows[] = {
	/* every event, once, whatever the order asked for */
	{"SELECT count(*) FROM events", "15\n"},
	{"SELECT count(*) FROM (SELECT * FROM events ORDER BY ts_ns)", "15\n"},
	{"SELECT kind, count(*) FROM events GROUP BY kind",
	 "counter\t1\ngap\t1\nlog\t2\npark\t2\nproc_start\t1\nproc_stop\t1\nprocess\t1\n"
	 "region_begin\t1\nregion_end\t1\nresume\t1\ntask_begin\t1\ntask_end\t1\nunlock\t1\n"},
	/* what the shortcut must leave alone */
	{"SELECT kind, count(*) FROM events WHERE thread = 2 GROUP BY kind",
	 "counter\t1\npark\t2\nproc_start\t1\nproc_stop\t1\nresume\t1\n"},
	{"SELECT kind, count(*), min(ts_ns) FROM events WHERE ts_ns < 2001 GROUP BY kind",
	 "park\t1\t2000\nregion_begin\t1\t1100\ntask_begin\t1\t1000\n"},
	{"SELECT count(DISTINCT kind) FROM events WHERE proc = 1", "5\n"},
	{"SELECT kind, count(*) FROM events WHERE kind IN ('log', 'park', 'nothing') GROUP BY kind",
	 "log\t2\npark\t2\n"},
	{"SELECT source, count(*) FROM events GROUP BY source", "kernel\t2\noverflow\t1\nring\t12\n"},
	/* streams are merged */
	{"SELECT ts_ns, proc FROM events WHERE ts_ns BETWEEN 2000 AND 4000 ORDER BY ts_ns",
	 "2000\t1\n3000\t0\n3200\t1\n3300\t0\n3400\t0\n3500\t1\n3600\t0\n4000\t2\n"},
	{"SELECT ts_ns FROM events WHERE kind = 'log' ORDER BY ts_ns DESC", "5000\n3400\n"},
	/* bounds of every type */
	{"SELECT count(*) FROM events WHERE ts_ns > 3500", "7\n"},
	{"SELECT count(*) FROM events WHERE ts_ns >= 3500", "8\n"},
	{"SELECT count(*) FROM events WHERE ts_ns > 3499.5", "8\n"},
	{"SELECT count(*) FROM events WHERE ts_ns < 1.1e3", "1\n"},
	{"SELECT count(*) FROM events WHERE ts_ns = 3500", "1\n"},
	{"SELECT count(*) FROM events WHERE ts_ns > NULL", "0\n"},
	{"SELECT count(*) FROM events WHERE ts_ns > 'x'", "0\n"},
	{"SELECT count(*) FROM events WHERE proc = '1'", "5\n"},
	{"SELECT count(*) FROM events WHERE proc = 1.5", "0\n"},
	{"SELECT count(*) FROM events WHERE proc = -1", "0\n"},
	{"SELECT count(*) FROM events WHERE proc = 4294967297", "0\n"},
	{"SELECT count(*) FROM events WHERE kind = NULL", "0\n"},
	{"SELECT count(*) FROM events WHERE kind = 'LOG'", "0\n"},
	{"SELECT count(*) FROM events WHERE kind = 'LOG' COLLATE NOCASE", "2\n"},
	/* arguments, each in its column; what a kind does not have is NULL */
	{"SELECT reason, object, holder, stack, message FROM events WHERE kind = 'park' AND proc = 1",
	 "mutex\t16\t1\t1\t\\N\n"},
	{"SELECT thread, reason, object, waiters, stack, at_ns FROM event_unlock",
	 "1\tmutex\t16\t1\t2\t2900\n"},
	{"SELECT ts_ns, cause, since_ns, lost_events FROM event_gap", "4500\tring_full\t4100\t2\n"},
	{"SELECT name, value FROM event_counter", "queue\t-4\n"},
	{"SELECT category, message, task FROM event_log ORDER BY ts_ns",
	 "net\tsent\t7\n\\N\tlast\t\\N\n"},
	{"SELECT what, value FROM event_process", "end\t0\n"},
	{"SELECT count(*) FROM event_acquire", "0\n"},
	/* derived tables */
	{"SELECT id, thread, reason, object, start_ns, end_ns, duration_ns, stack, holder_thread, "
	 "waker_thread, waker_stack, wake_ns, wake_latency_ns, unlock, proc, result, state FROM parks",
	 "1\t2\tmutex\t16\t2000\t3200\t1200\t1\t1\t1\t2\t2900\t300\t1\t1\t0\tended\n"
	 "2\t2\tcond\t48\t4000\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t2\t\\N\topen\n"},
	{"SELECT waited_ns FROM parks WHERE id = 2", "2000\n"},
	{"SELECT id, ts_ns, thread, proc, reason, object, waiters, stack, caused_waits, caused_ns FROM "
	 "unlocks",
	 "1\t2900\t1\t0\tmutex\t16\t1\t2\t1\t900\n"},
	/* how often it was held nobody recorded */
	{"SELECT waits, holds_from, holds, held_ns, read_holds FROM locks", "1\t\\N\t\\N\t\\N\t\\N\n"},
	{"SELECT id, tid, name, creator, start_ns, end_ns, parks FROM threads",
	 "1\t101\tmain\t\\N\t\\N\t\\N\t0\n2\t102\tworker\t1\t500\t\\N\t2\n"},
	{"SELECT on_cpu_ns FROM threads", "\\N\n100\n"},
	{"SELECT thread, proc, start_ns, end_ns, duration_ns, preempted FROM on_cpu",
	 "2\t1\t4600\t4700\t100\t1\n"},
	{"SELECT id, events, lost_events FROM procs", "0\t9\t2\n1\t5\t0\n2\t1\t0\n"},
	{"SELECT id, parent, type, start_ns, end_ns, duration_ns, start_thread, end_thread FROM tasks",
	 "7\t\\N\trequest\t1000\t3600\t2600\t1\t1\n"},
	{"SELECT thread, task, type, depth, start_ns, end_ns, duration_ns FROM regions",
	 "1\t7\tparse\t0\t1100\t3300\t2200\n"},
	{"SELECT ts_ns, thread, task, category, message FROM logs",
	 "3400\t1\t7\tnet\tsent\n5000\t1\t\\N\t\\N\tlast\n"},
	{"SELECT ts_ns, thread, name, value FROM counters", "3500\t2\tqueue\t-4\n"},
	{"SELECT ts_ns, since_ns, proc, source, cause, lost_events FROM gaps",
	 "4500\t4100\t0\tring\tring_full\t2\n"},
	{"SELECT id, addresses FROM stacks", "1\t2\n2\t1\n"},
	{"SELECT stack, depth, frame, address FROM stack_frames JOIN frames ON id = frame",
	 "1\t0\t1\t4198399\n1\t1\t2\t4202495\n2\t0\t3\t4206591\n"},
	{"SELECT depth FROM stack_frames WHERE stack = 2", "0\n"},
	{"SELECT id, path, build_id, start_address, limit_address, last_epoch FROM modules",
	 "1\t/lib/x.so\ta1b2\t4194304\t5242880\t\\N\n"},
	{"SELECT module FROM frames", "1\n1\n1\n"},
	{"SELECT value FROM trace_info WHERE key = 'command'", "server --fast\n"},
	{"SELECT value FROM trace_info WHERE key = 'events'", "15\n"},
	{"SELECT events FROM kinds WHERE name = 'log'", "2\n"},
	/* ordered columns of arrays: found by halving, walked both ways */
	{"SELECT id FROM parks WHERE start_ns >= 2001", "2\n"},
	{"SELECT id FROM parks WHERE start_ns > 2000 AND start_ns < 4000", ""},
	{"SELECT id FROM parks WHERE start_ns < 4000.5 ORDER BY start_ns DESC", "2\n1\n"},
	{"SELECT id FROM parks WHERE id = 1.5", ""},
	{"SELECT id FROM parks WHERE id = NULL", ""},
	{"SELECT id FROM parks WHERE id = '2'", "2\n"},
	{"SELECT id FROM threads WHERE id = 2", "2\n"},
	/* from a wait to the frames where it was, and of who ended it */
	{"SELECT depth, address FROM parks JOIN stack_frames USING (stack) JOIN frames ON frames.id "
	 "= frame WHERE parks.id = 1 ORDER BY depth",
	 "0\t4198399\n1\t4202495\n"},
	/* nothing to answer */
	{"-- nothing", ""},
	{"SELECT 1; SELECT 2", "1\n2\n2\n"},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

START_TEST(test_rows)
{
	char *got = answer(rows[_i].sql, TRC_OUTPUT_TSV);

	ck_assert_msg(!strcmp(got, rows[_i].rows), "%s\ngot:\n%swanted:\n%s", rows[_i].sql, got,
		      rows[_i].rows);
	free(got);
}
END_TEST

/* What EXPLAIN QUERY PLAN must say. */
static const struct {
	const char *sql, *plan;
} plans[] = {
	{"SELECT kind, count(*) FROM events GROUP BY kind",
	 "SCAN events VIRTUAL TABLE INDEX 64:by kind columns=10\n"},
	{"SELECT kind, count(*) FROM events WHERE kind = 'park' GROUP BY kind",
	 "SCAN events VIRTUAL TABLE INDEX 65:kind=? by kind columns=10\n"},
	{"SELECT count(*) FROM events", "SCAN events VIRTUAL TABLE INDEX 0:columns=0\n"},
	{"SELECT ts_ns FROM events ORDER BY ts_ns",
	 "SCAN events VIRTUAL TABLE INDEX 32:by ts_ns columns=1\n"},
	{"SELECT thread FROM events WHERE proc = 1 AND ts_ns >= 5 AND ts_ns < 9",
	 "SCAN events VIRTUAL TABLE INDEX 26:proc=? ts_ns>=? ts_ns<=? columns=7\n"},
	{"SELECT message FROM event_log WHERE thread = 1",
	 "SCAN event_log VIRTUAL TABLE INDEX 4:thread=? columns=44\n"},
	{"SELECT id FROM parks WHERE start_ns > 5", "SCAN parks VIRTUAL TABLE INDEX 34:start_ns>?\n"},
	{"SELECT thread FROM parks ORDER BY start_ns DESC",
	 "SCAN parks VIRTUAL TABLE INDEX 16777216:backwards\n"},
	{"SELECT thread FROM parks WHERE id = 7", "SCAN parks VIRTUAL TABLE INDEX 1:id=?\n"},
	{"SELECT frame FROM stack_frames WHERE stack = 7",
	 "SCAN stack_frames VIRTUAL TABLE INDEX 1:stack=?\n"},
	{"SELECT fiber FROM parks", "SCAN parks VIRTUAL TABLE INDEX 33554432:fibers\n"},
	{"SELECT id FROM parks WHERE id > 7 AND fiber = 5 ORDER BY id DESC",
	 "SCAN parks VIRTUAL TABLE INDEX 50332321:fiber=? id>? backwards fibers\n"},
	/* a look-up of an id, and bounds among its rows; nobody looks up what is in order already, or no id */
	{"SELECT id FROM parks WHERE start_ns > 5 AND thread = 1",
	 "SCAN parks VIRTUAL TABLE INDEX 8713:thread=? start_ns>?\n"},
	{"SELECT thread FROM parks WHERE object = 16 AND id = 2", "SCAN parks VIRTUAL TABLE INDEX 1:id=?\n"},
	{"SELECT id FROM parks WHERE proc = 1 AND rowid = 1", "SCAN parks VIRTUAL TABLE INDEX 249:rowid=?\n"},
	{"SELECT id FROM parks WHERE waited_ns = 1 OR reason = 'cond'", "SCAN parks VIRTUAL TABLE INDEX 0:\n"},
	/* no order that is consumed by mistake */
	{"SELECT ts_ns FROM events ORDER BY ts_ns DESC",
	 "SCAN events VIRTUAL TABLE INDEX 0:columns=1\nUSE TEMP B-TREE FOR ORDER BY\n"},
	{"SELECT 1 FROM events GROUP BY kind, thread",
	 "SCAN events VIRTUAL TABLE INDEX 0:columns=14\nUSE TEMP B-TREE FOR GROUP BY\n"},
	{"SELECT id FROM parks ORDER BY thread",
	 "SCAN parks VIRTUAL TABLE INDEX 0:\nUSE TEMP B-TREE FOR ORDER BY\n"},
};
enum { N_PLANS = sizeof(plans) / sizeof(plans[0]) };

START_TEST(test_plans)
{
	char got[1024] = "", sql[512];
	sqlite3_stmt *stmt;

	snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", plans[_i].sql);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		strcat(got, (const char *)sqlite3_column_text(stmt, 3));
		strcat(got, "\n");
	}
	sqlite3_finalize(stmt);
	ck_assert_msg(!strcmp(got, plans[_i].plan), "%s\ngot:\n%swanted:\n%s", plans[_i].sql, got,
		      plans[_i].plan);
}
END_TEST

/* A query that would change something is refused, in one line. */
static const char *const refused[] = {
	"CREATE TABLE t(a)",
	"CREATE TEMP TABLE t(a)",
	"CREATE VIEW v AS SELECT 1",
	"INSERT INTO parks(id) VALUES (1)",
	"UPDATE parks SET id = 2",
	"DELETE FROM events",
	"DROP TABLE parks",
	"ATTACH '/tmp/other.db' AS other",
	"VACUUM INTO '/tmp/other.db'",
	"PRAGMA journal_mode = off",
	"PRAGMA user_version = 3",
	"PRAGMA writable_schema = 1",
	"SELECT load_extension('x')",
	"BEGIN",
	"ANALYZE",
	"UPDATE sqlite_master SET name = 'x'",
	"DELETE FROM sqlite_master",
	"CREATE VIRTUAL TABLE v USING parks",
	"SELECT 1; DELETE FROM parks",
};
enum { N_REFUSED = sizeof(refused) / sizeof(refused[0]) };

START_TEST(test_refused)
{
	struct trc_error error = {""};
	FILE *out = fopen("/dev/null", "w");

	ck_assert_msg(trc_output_query(db, refused[_i], TRC_OUTPUT_TSV, out, &error), "%s",
		      refused[_i]);
	ck_assert_ptr_null(strchr(error.text, '\n'));
	ck_assert_uint_gt(strlen(error.text), 0);
	fclose(out);
}
END_TEST

static const struct bound_case {
	const char *sql, *answer;
} bound_cases[] = {
	{"PRAGMA temp_store", "query refused"},
	{"SELECT count(*) FROM parks", "2\n"},
	{"SELECT length(zeroblob(1000))", "1000\n"},
	{"SELECT zeroblob(1001)", "string or blob too big"},
	{"SELECT 'a' LIKE '%aaaaaaaaaaa'", "LIKE or GLOB pattern too complex"},
	{"SELECT count(*) FROM causes WHERE wait = 1",
	 "causes: wait 1 has more than 1 causes; trace-analyze --sql has no limit"},
};

START_TEST(test_bounds)
{
	const struct bound_case *test = &bound_cases[_i];
	const struct trc_sql_bounds bounds = {1000, 10, 1};
	struct trc_error error = {""};
	char *got;

	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	ck_assert_msg(!trc_sql_open_bounded(&db, model, &bounds, &error), "%s", error.text);
	got = answer(test->sql, TRC_OUTPUT_TSV);
	ck_assert_msg(strstr(got, test->answer), "%s: %s", test->sql, got);
	free(got);
}
END_TEST

START_TEST(test_reading_pragmas_are_allowed)
{
	char *got = answer("SELECT name FROM pragma_table_info('gaps') LIMIT 2", TRC_OUTPUT_TSV);

	ck_assert_str_eq(got, "ts_ns\nsince_ns\n");
	free(got);
}
END_TEST

/* Texts that formats must not let through as they are. */
static const struct {
	enum trc_output output;
	const char *sql, *text;
} outputs[] = {
	{TRC_OUTPUT_CSV, "SELECT 'a,b' AS \"x\"\"y\", 'say \"hi\"' AS b, char(10) AS c, NULL AS d, '' AS e",
	 "\"x\"\"y\",b,c,d,e\n\"a,b\",\"say \"\"hi\"\"\",\"\n\",,\"\"\n"},
	{TRC_OUTPUT_CSV, "SELECT 1, 1.5, -9223372036854775808, x'00ff'",
	 "1,1.5,-9223372036854775808,x'00ff'\n1,1.5,-9223372036854775808,00FF\n"},
	{TRC_OUTPUT_TSV, "SELECT 1 AS a, char(9) || 'x' || char(10, 13) || '\\' AS b, NULL AS c",
	 "1\t\\tx\\n\\r\\\\\t\\N\n"},
	{TRC_OUTPUT_JSON,
	 "SELECT 9007199254740993 AS a, 1.5 AS b, NULL AS c, char(10, 1, 34, 92) AS d, 1e999 AS e",
	 "[{\"a\":9007199254740993,\"b\":1.5,\"c\":null,\"d\":\"\\n\\u0001\\\"\\\\\",\"e\":null}]\n"},
	{TRC_OUTPUT_JSON, "SELECT 1 AS a UNION ALL SELECT 2", "[{\"a\":1},\n {\"a\":2}]\n"},
	{TRC_OUTPUT_JSON, "SELECT 1 AS a WHERE 0", "[]\n"},
	{TRC_OUTPUT_JSON, "SELECT CAST(x'41ff42' AS TEXT) AS a", "[{\"a\":\"A\xef\xbf\xbd" "B\"}]\n"},
	{TRC_OUTPUT_JSON, "SELECT char(127, 128, 155, 160) AS a", "[{\"a\":\"\\u007f\\u0080\\u009b\u00a0\"}]\n"},
	/* a file gets the data */
	{TRC_OUTPUT_CSV, "SELECT char(27) || '[31m' AS a, CAST(x'41ff' AS TEXT) AS b",
	 "a,b\n\x1b[31m,A\xff\n"},
	{TRC_OUTPUT_TSV, "SELECT char(27) || '[31m' AS a, CAST(x'41ff' AS TEXT) AS b",
	 "\x1b[31m\tA\xff\n"},
	{TRC_OUTPUT_TABLE, "SELECT 1 AS n, 'ab' AS text UNION ALL SELECT 100, NULL",
	 "  n  text\n---  ----\n  1  ab\n100  NULL\n"},
	/* a terminal is not spoken to by a trace */
	{TRC_OUTPUT_TABLE, "SELECT char(27) || '[31m' || char(10) || char(155) || 'é' AS t",
	 "t\n-------------------\n\\x1b[31m\\n\\xc2\\x9bé\n"},
	{TRC_OUTPUT_TABLE, "SELECT CAST(x'41ff' AS TEXT) AS t", "t\n-----\nA\\xff\n"},
	/* nor do people see what is not there */
	{TRC_OUTPUT_TABLE, "SELECT 'user' || char(8238) || 'nimda' AS t",
	 "t\n---------------------\nuser\\xe2\\x80\\xaenimda\n"},
	{TRC_OUTPUT_TABLE, "SELECT char(173, 847, 1564, 4447, 6158, 8203, 8233) AS t",
	 "t\n------------------------------------------------------------------------\n"
	 "\\xc2\\xad\\xcd\\x8f\\xd8\\x9c\\xe1\\x85\\x9f\\xe1\\xa0\\x8e\\xe2\\x80\\x8b\\xe2\\x80\\xa9\n"},
	{TRC_OUTPUT_TABLE, "SELECT char(8297, 12644, 65039, 65279, 65531, 917569) AS t",
	 "t\n----------------------------------------------------------------------------\n"
	 "\\xe2\\x81\\xa9\\xe3\\x85\\xa4\\xef\\xb8\\x8f\\xef\\xbb\\xbf\\xef\\xbf\\xbb\\xf3\\xa0\\x81\\x81\n"},
	{TRC_OUTPUT_TABLE, "SELECT char(1536, 8208, 8240, 57344, 128512) AS t",
	 "t\n-----\n\u0600\u2010\u2030\ue000\U0001f600\n"},
	{TRC_OUTPUT_JSON, "SELECT char(8238, 8232, 917505, 128512) AS a",
	 "[{\"a\":\"\\u202e\\u2028\\udb40\\udc01\U0001f600\"}]\n"},
};
enum { N_OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };

START_TEST(test_outputs)
{
	char *got = answer(outputs[_i].sql, outputs[_i].output);

	ck_assert_msg(!strcmp(got, outputs[_i].text), "%s\ngot:\n%swanted:\n%s", outputs[_i].sql,
		      got, outputs[_i].text);
	free(got);
}
END_TEST

static const struct {
	enum trc_output output;
	const char *sql, *text;
} on_terminal[] = {
	{TRC_OUTPUT_CSV,
	 "SELECT char(27) || '[31m' AS \"\a\", 'two' || char(10) || 'lines' AS b, NULL AS c, '' AS d, 'é'",
	 "\\x07,b,c,d,'é'\n\\x1b[31m,\"two\\nlines\",,\"\",é\n"},
	{TRC_OUTPUT_CSV, "SELECT CAST(x'41ff00' AS TEXT) AS a, char(155) AS b, 7 AS c",
	 "a,b,c\n\"A\\xff\\x00\",\\xc2\\x9b,7\n"},
	{TRC_OUTPUT_TSV, "SELECT char(27, 9, 92) AS a, NULL AS b", "a\tb\n\\x1b\\t\\\\\t\\N\n"},
	{TRC_OUTPUT_JSON, "SELECT char(27, 155) AS a", "[{\"a\":\"\\u001b\\u009b\"}]\n"},
	{TRC_OUTPUT_TABLE, "SELECT char(27, 155) AS a", "a\n------------\n\\x1b\\xc2\\x9b\n"},
};
enum { N_ON_TERMINAL = sizeof(on_terminal) / sizeof(on_terminal[0]) };

/* Both ends of a terminal that changes nothing. */
static FILE *terminal_open(int *other_end)
{
	struct termios raw;
	FILE *out;
	int fd;

	*other_end = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ge(*other_end, 0);
	ck_assert_int_eq(grantpt(*other_end) | unlockpt(*other_end), 0);
	fd = open(ptsname(*other_end), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tcgetattr(fd, &raw), 0);
	cfmakeraw(&raw);
	ck_assert_int_eq(tcsetattr(fd, TCSANOW, &raw), 0);
	out = fdopen(fd, "w");
	ck_assert_ptr_nonnull(out);
	return out;
}

START_TEST(test_on_terminal)
{
	struct trc_error error;
	char got[256];
	size_t n_wanted = strlen(on_terminal[_i].text), n = 0;
	int other_end;
	FILE *out = terminal_open(&other_end);

	ck_assert_int_eq(trc_output_query(db, on_terminal[_i].sql, on_terminal[_i].output, out,
					  &error),
			 0);
	fflush(out);
	while (n < n_wanted) {
		ssize_t more = read(other_end, got + n, sizeof(got) - 1 - n);

		ck_assert_int_gt(more, 0);
		n += (size_t)more;
	}
	got[n] = '\0';
	ck_assert_str_eq(got, on_terminal[_i].text);
	fclose(out);
	close(other_end);
}
END_TEST

/* More rows than are held back to align them. */
START_TEST(test_long_tables)
{
	char *got = answer("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
			   "1000) SELECT i FROM n",
			   TRC_OUTPUT_TABLE);
	size_t lines = 0;

	for (const char *p = got; *p; p++)
		lines += *p == '\n';
	ck_assert_uint_eq(lines, 1002);
	ck_assert_ptr_nonnull(strstr(got, "\n1000\n"));
	free(got);
}
END_TEST

/* Fibers are told by their numbers, whatever their rows. */
static const char fiber_text[] =
	"thread 1 tid=101 name=\"main\"\nthread 2 tid=102 creator=1\nstack s1 0x401000\n"
	"@100 thread=1 fiber_create fiber=50 name=\"f\" stack=s1\n"
	"@200 thread=1 fiber_switch fiber=50 name=\"f\"\n"
	"@210 thread=1 region_begin type=\"r\"\n@215 thread=1 log message=\"x\"\n"
	"@216 thread=1 task_begin task=1\n"
	"@220 thread=1 sample event=1 value=1000000 period=1000000 stack=s1\n"
	"@230 thread=1 park reason=mutex object=0x10 stack=s1\n"
	"@250 thread=1 resume reason=mutex object=0x10\n"
	"@260 thread=1 fiber_create fiber=60 stack=s1\n"
	"@300 thread=1 fiber_switch left=50 reason=user object=0x40 stack=s1\n"
	"@310 thread=1 log message=\"y\"\n"
	"@390 proc=1 thread=2 fiber_switch fiber=60\n"
	"@400 proc=1 thread=2 fiber_ready fiber=50 stack=s1\n"
	"@500 proc=1 thread=2 fiber_switch fiber=50 left=60 name=\"f\"\n"
	"@600 proc=1 thread=2 region_end\n@610 proc=1 thread=2 region_begin type=\"q\"\n"
	"@620 proc=1 thread=2 log\n";

static const struct row_case fiber_rows[] = {
	{"SELECT id, name, created_ns, ended_ns, creator_thread, creator, create_stack, runs, "
	 "run_ns, runnable_ns, waits, waited_ns, state FROM fibers",
	 "50\tf\t100\t\\N\t1\t\\N\t1\t2\t220\t100\t1\t100\trunning\n"
	 "60\t\\N\t260\t\\N\t1\t50\t1\t1\t110\t120\t0\t0\trunnable\n"},
	{"SELECT fiber, thread, start_ns, end_ns, duration_ns, reason, state, cut FROM fiber_runs",
	 "50\t1\t200\t300\t100\tuser\tleft\t0\n60\t2\t390\t500\t110\t\\N\tleft\t0\n"
	 "50\t2\t500\t\\N\t\\N\t\\N\topen\t0\n"},
	{"SELECT fiber, thread, reason, object, start_ns, ready_ns, end_ns, duration_ns, waited_ns, "
	 "ready_latency_ns, end_thread, stack, waker_thread, waker_fiber, waker_stack, state, cut "
	 "FROM fiber_waits",
	 "50\t1\tuser\t64\t300\t400\t500\t200\t200\t100\t2\t1\t2\t60\t1\tended\t0\n"},
	{"SELECT type, thread, fiber FROM regions", "r\t1\t50\nq\t2\t50\n"},
	{"SELECT ts_ns, fiber FROM logs", "215\t50\n310\t\\N\n620\t50\n"},
	{"SELECT fiber FROM samples", "50\n"},
	{"SELECT fiber FROM parks", "50\n"},
	{"SELECT fiber FROM tasks", "50\n"},
	{"SELECT thread, region, fiber FROM threads_now", "1\t\\N\t\\N\n2\tq\t50\n"},
	{"SELECT thread, type, fiber FROM open_regions", "2\tq\t50\n"},
	{"SELECT f.name, w.reason FROM fiber_waits AS w JOIN fibers AS f ON f.id = w.fiber",
	 "f\tuser\n"},
};
enum { N_FIBER_ROWS = sizeof(fiber_rows) / sizeof(fiber_rows[0]) };

START_TEST(test_fibers)
{
	char *got;

	tear_down();
	open_trace(fiber_text);
	got = answer(fiber_rows[_i].sql, TRC_OUTPUT_TSV);
	ck_assert_msg(!strcmp(got, fiber_rows[_i].rows), "%s\n%s", fiber_rows[_i].sql, got);
	free(got);
}
END_TEST

/* What a wait from before the window was for is not known. */
START_TEST(test_cut_fiber_wait)
{
	char *got;

	tear_down();
	open_trace("thread 1 tid=101\n@2000 thread=1 fiber_ready fiber=5\n"
		   "@3000 thread=1 fiber_switch fiber=5\ncoverage proc=0 from=1000 to=9000\n");
	got = answer("SELECT fiber, thread, reason, object, start_ns, ready_ns, end_ns, stack, cut FROM fiber_waits",
		     TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "5\t\\N\t\\N\t\\N\t1000\t2000\t3000\t\\N\t1\n");
	free(got);
}
END_TEST

/* Fibers are derived for who asks for them, and for regions, which nest in them. */
static const struct {
	const char *sql;
	bool derived;
} fiber_needs[] = {
	{"SELECT count(*) FROM parks", false},
	{"SELECT id, thread, reason, start_ns, end_ns, labels FROM parks WHERE id = 1", false},
	{"SELECT ts_ns, stack, labels FROM samples ORDER BY value", false},
	{"SELECT * FROM sample_events", false},
	{"SELECT * FROM samples_lost", false},
	{"SELECT fiber FROM parks", true},
	{"SELECT id FROM parks WHERE fiber = 50", true},
	{"SELECT id FROM parks ORDER BY fiber", true},
	{"SELECT * FROM parks", true},
	{"SELECT p.id FROM threads AS t JOIN parks AS p ON p.thread = t.id AND p.fiber IS NULL", true},
	{"SELECT fiber, count(*) FROM samples GROUP BY 1", true},
	{"SELECT type FROM regions", true},
};
enum { N_FIBER_NEEDS = sizeof(fiber_needs) / sizeof(fiber_needs[0]) };

START_TEST(test_fibers_derived)
{
	size_t n;

	tear_down();
	open_trace(fiber_text);
	free(answer(fiber_needs[_i].sql, TRC_OUTPUT_TSV));
	trc_model_fibers(model, &n);
	ck_assert_msg((n > 0) == fiber_needs[_i].derived, "%s", fiber_needs[_i].sql);
}
END_TEST

static const char objects_text[] =
	"thread 1 tid=101\n"
	"thread 2 tid=102\n"
	"stack s1 0x401000\n"
	"stack s2 0x403000\n"
	"@100 thread=1 alloc sample=1 address=0x5000 bytes=256 period=1 stack=s1\n"
	"@200 thread=2 wait reason=mutex object=0x5010 since=150 stack=s1\n"
	"@300 thread=1 free sample=1 address=0x5000 bytes=256 period=1\n"
	"@400 thread=1 alloc sample=2 address=0x5000 bytes=256 period=1 stack=s2\n"
	"@500 thread=2 wait reason=cond object=0x5010 since=450 stack=s1\n"
	"@600 thread=2 wait reason=cond_mutex object=0x5010 since=550 stack=s1\n"
	"@700 thread=2 wait reason=rwlock_read object=0x6000 since=650 stack=s2\n"
	"@800 thread=1 wait reason=rwlock_write object=0x6000 since=750 stack=s1\n"
	"@900 thread=1 unlock reason=spin object=0x20 waiters=1 stack=s1\n"
	"@950 thread=1 wait reason=read object=7 since=910 stack=s1\n"
	"@960 thread=1 wait reason=sem object=0x51ff since=955\n"
	"@970 thread=1 wait reason=sem object=0 since=965\n"
	"@980 thread=1 free sample=2 address=0x5000 bytes=256 period=1\n"
	"@990 thread=1 wait reason=once object=0x50ff since=985\n"
	"@995 thread=1 wait reason=mutex object=0xffffffffffffff00 since=994\n";

/* One row per object and kind, by address; what is no object in memory is not there. */
START_TEST(test_objects)
{
	char *got;

	tear_down();
	open_trace(objects_text);
	got = answer("SELECT printf('%x', address), kind, name, symbol, offset_bytes, allocated_at "
		      "FROM objects ORDER BY address, kind",
		      TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "ffffffffffffff00\tmutex\t0xffffffffffffff00\t\\N\t\\N\t\\N\n"
			       "20\tspin\t0x20\t\\N\t\\N\t\\N\n"
			       "5010\tcond\t0x5010\t\\N\t\\N\t2\n"
			       "5010\tmutex\t0x5010\t\\N\t\\N\t2\n"
			       "50ff\tonce\t0x50ff\t\\N\t\\N\t\\N\n"
			       "51ff\tsem\t0x51ff\t\\N\t\\N\t\\N\n"
			       "6000\trwlock\t0x6000\t\\N\t\\N\t\\N\n");
	free(got);
	got = answer("SELECT kind FROM objects WHERE address = 0x6000", TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "rwlock\n");
	free(got);
}
END_TEST

static const char descriptors_text[] =
	"thread 1 tid=101\n"
	"thread 2 tid=102\n"
	"@200 thread=1 wait reason=fsync object=3 since=100 descriptor=\"/var/a b\"\n"
	"@300 thread=1 wait reason=recv object=4 since=200 "
	"descriptor=\"tcp 127.0.0.1:80 [::1]:9\"\n"
	"@400 thread=1 wait reason=fsync object=3 since=310 descriptor=\"/var/a b\"\n"
	"@500 thread=2 wait reason=read object=3 since=450 descriptor=\"anon_inode:[eventfd]\"\n"
	"@600 thread=2 wait reason=accept object=5 since=510 descriptor=\"udp listening 0.0.0.0:1\"\n"
	"@700 thread=2 wait reason=recv object=6 since=610 descriptor=\"unix at /run/a b\"\n"
	"@800 thread=2 wait reason=recv object=6 since=710 descriptor=\"unix to @x\"\n"
	"@810 thread=2 wait reason=read object=7 since=801\n"
	"@820 thread=2 wait reason=read object=8 since=811 descriptor=\"anon_inode:[\"\n"
	"@830 thread=2 wait reason=read object=8 since=821 descriptor=\"tcp \"\n"
	"@840 thread=2 wait reason=read object=8 since=831 descriptor=\"unix \"\n"
	"@850 thread=2 wait reason=read object=8 since=841 descriptor=\"gone\"\n"
	"@860 thread=1 wait reason=fsync object=3 since=851 descriptor=\"/var/a b\"\n";

/* A row for as long as a number is the same; one that is not known has none. */
START_TEST(test_descriptors)
{
	char *got;

	tear_down();
	open_trace(descriptors_text);
	got = answer("SELECT fd, from_ns, to_ns, kind, name, own, peer, waits, waited_ns "
		     "FROM descriptors",
		     TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "3\t100\t400\tfile\t/var/a b\t\\N\t\\N\t2\t190\n"
			      "4\t200\t300\ttcp\t[::1]:9\t127.0.0.1:80\t[::1]:9\t1\t100\n"
			      "3\t450\t500\teventfd\teventfd\t\\N\t\\N\t1\t50\n"
			      "5\t510\t600\tudp\t0.0.0.0:1\t0.0.0.0:1\t\\N\t1\t90\n"
			      "6\t610\t700\tunix\t/run/a b\t/run/a b\t\\N\t1\t90\n"
			      "6\t710\t800\tunix\t@x\t\\N\t@x\t1\t90\n"
			      "8\t811\t820\t[\t[\t\\N\t\\N\t1\t9\n"
			      "8\t821\t830\ttcp\t\\N\t\\N\t\\N\t1\t9\n"
			      "8\t831\t840\tunix\tunix \t\\N\t\\N\t1\t9\n"
			      "8\t841\t850\tother\tgone\t\\N\t\\N\t1\t9\n"
			      "3\t851\t860\tfile\t/var/a b\t\\N\t\\N\t1\t9\n");
	free(got);
	got = answer("SELECT count(*), count(descriptor), min(descriptor) FROM parks",
		     TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "13\t12\t/var/a b\n");
	free(got);
	got = answer("SELECT d.waits FROM parks AS p JOIN descriptors AS d ON d.fd = p.object AND "
		     "d.descriptor = p.descriptor WHERE p.reason = 'recv' AND p.object = 4",
		     TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "1\n");
	free(got);
}
END_TEST

/* Descriptor 0 is one that threads wait for; what is in no wait has none. */
START_TEST(test_descriptor_0)
{
	char *got;

	tear_down();
	open_trace("thread 1 tid=101\nthread 2 tid=102\n"
		   "@100 thread=1 park reason=read object=0\n@200 thread=1 resume reason=read object=0\n"
		   "@300 thread=1 park reason=read object=0\n@400 thread=2 counter name=\"c\" value=1\n");
	got = answer("SELECT reason, object FROM causes WHERE wait = 1 AND depth = 0 UNION ALL "
		     "SELECT reason, object FROM threads_now",
		     TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "read\t0\nread\t0\n\\N\t\\N\n");
	free(got);
	got = answer("SELECT count(*) FROM causes AS c JOIN parks AS p ON p.id = c.park AND p.object = c.object "
		     "WHERE c.reason IS NOT NULL",
		     TRC_OUTPUT_TSV);
	ck_assert_str_eq(got, "2\n");
	free(got);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sql");
	TCase *tcase = tcase_create("sql");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, test_rows, 0, N_ROWS);
	tcase_add_loop_test(tcase, test_plans, 0, N_PLANS);
	tcase_add_loop_test(tcase, test_refused, 0, N_REFUSED);
	tcase_add_loop_test(tcase, test_bounds, 0,
			    (int)(sizeof(bound_cases) / sizeof(*bound_cases)));
	tcase_add_test(tcase, test_reading_pragmas_are_allowed);
	tcase_add_loop_test(tcase, test_outputs, 0, N_OUTPUTS);
	tcase_add_loop_test(tcase, test_on_terminal, 0, N_ON_TERMINAL);
	tcase_add_test(tcase, test_long_tables);
	tcase_add_test(tcase, test_objects);
	tcase_add_test(tcase, test_descriptors);
	tcase_add_test(tcase, test_descriptor_0);
	tcase_add_test(tcase, test_cut_fiber_wait);
	tcase_add_loop_test(tcase, test_fibers, 0, N_FIBER_ROWS);
	tcase_add_loop_test(tcase, test_fibers_derived, 0, N_FIBER_NEEDS);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
