/*
 * verb_json.c - trace-analyze --json: what the report says, for programs.
 *
 * Each part is the answer of a query, as --sql gives it; docs/schema.md has the queries.
 */
#include <stdio.h>
#include <string.h>
#include "cli.h"

/* The values that so many percent do not exceed, of n values `ns` of which each has its rank k. */
#define P50 "max(iif(k = (n * 50 + 99) / 100, ns, NULL)) AS p50_ns, "
#define P95 "max(iif(k = (n * 95 + 99) / 100, ns, NULL)) AS p95_ns, "
#define P99 "max(iif(k = (n * 99 + 99) / 100, ns, NULL)) AS p99_ns, "
#define RANKED(value, by)                                                                          \
	value " AS ns, count(*) OVER (PARTITION BY " by ") AS n, "                                 \
	      "row_number() OVER (PARTITION BY " by " ORDER BY " value ") AS k"
/* How long threads waited for a proc, by these columns of the table; threads.name is that of `named`. */
#define LATENCIES(columns, by, named)                                                              \
	"SELECT " columns ", max(n) AS latencies, sum(ns) AS total_ns, " P50 P99                   \
	"max(ns) AS max_ns, sum(own_ns) AS own_ns, sum(other_ns) AS other_ns "                     \
	"FROM (SELECT *, " RANKED("latency_ns", by) " FROM sched_latency) "                        \
						    "LEFT JOIN threads ON threads.id = " named     \
						    " GROUP BY " by " ORDER BY total_ns DESC"
#define IN_STATE(state, name) "sum(iif(state = '" state "', times.ns, 0)) AS " name
/* How long what has a type and has ended took; and what the threads did meanwhile, by the table of times.  Ids of tasks
 * are in no order: a table of them by id is made once. */
/* clang-format off */
#define SPANS(table, times, id_of)                                                                 \
	"WITH named AS MATERIALIZED (SELECT id, type, duration_ns AS ns FROM " table               \
	" WHERE duration_ns IS NOT NULL) "                                                         \
	"SELECT type, ended, total_ns, p50_ns, p95_ns, p99_ns, max_ns, running_ns, active_ns, "    \
	"runnable_ns, off_cpu_ns, waiting_ns, woken_ns, absent_ns, unworked_ns FROM (SELECT "      \
	"type, max(n) AS ended, sum(ns) AS total_ns, " P50 P95 P99 "max(ns) AS max_ns FROM ("      \
	"SELECT type, " RANKED("named.ns", "type") " FROM named) GROUP BY type) AS spans "         \
	"LEFT JOIN (SELECT type AS of, "                                                           \
	IN_STATE("running", "running_ns") ", " IN_STATE("active", "active_ns") ", "                \
	IN_STATE("runnable", "runnable_ns") ", " IN_STATE("off_cpu", "off_cpu_ns") ", "            \
	IN_STATE("waiting", "waiting_ns") ", " IN_STATE("woken", "woken_ns") ", "                  \
	IN_STATE("absent", "absent_ns") ", " IN_STATE("unworked", "unworked_ns")                   \
	" FROM " times " AS times JOIN named ON named.id = times." id_of " GROUP BY type) "        \
	"ON of IS type ORDER BY total_ns DESC"
/* clang-format on */

/* What has a stack is summed by stack first: there are far more waits than stacks, and stacks become texts. */
static const struct part {
	const char *name, *query;
} PARTS[] = {
	{"trace", "SELECT * FROM trace_info"},
	{"gaps", "SELECT * FROM gaps"},
	{"findings", "SELECT * FROM findings"},
	{"threads", "SELECT * FROM threads"},
	{"waits",
	 "SELECT reason, chain(stack) AS place, sum(n) AS waits, sum(ns) AS waited_ns, max(longest) AS "
	 "longest_ns FROM (SELECT reason, stack, count(*) AS n, sum(waited_ns) AS ns, max(waited_ns) AS "
	 "longest FROM parks GROUP BY reason, stack) GROUP BY 1, 2 ORDER BY waited_ns DESC"},
	{"locks", "SELECT *, wait_max_ns AS longest_ns FROM locks"},
	{"descriptors",
	 "SELECT kind, name, own, peer, numbers, waits, waited_ns FROM (SELECT descriptor, count(DISTINCT "
	 "object) AS numbers, count(*) AS waits, sum(waited_ns) AS waited_ns FROM parks WHERE descriptor IS "
	 "NOT NULL GROUP BY descriptor) JOIN (SELECT descriptor, kind, name, own, peer FROM descriptors GROUP "
	 "BY descriptor) USING (descriptor) ORDER BY waited_ns DESC"},
	{"critical_sections",
	 "SELECT reason, chain(stack) AS place, sum(n) AS sections, sum(waits) AS caused_waits, sum(ns) AS "
	 "caused_ns, max(longest) AS longest_ns, sum(preempted) AS preempted_ns, sum(preempted_waits) AS "
	 "preempted_waits_ns FROM (SELECT reason, stack, count(*) AS n, sum(caused_waits) AS waits, "
	 "sum(caused_ns) AS ns, max(caused_ns) AS longest, sum(preempted_ns) AS preempted, "
	 "sum(preempted_waits_ns) AS preempted_waits FROM unlocks GROUP BY reason, stack) GROUP BY 1, 2 "
	 "ORDER BY caused_ns DESC"},
	{"blame",
	 "SELECT cause, reason, thread, name, place, stack_of, sum(ns) AS blamed_ns, blame_margin(labels, margin_ns) AS "
	 "blamed_margin_ns FROM blame LEFT JOIN (SELECT stack, chain(stack) AS place FROM (SELECT DISTINCT stack FROM "
	 "blame)) USING (stack) LEFT JOIN threads ON id = thread GROUP BY 1, 2, 3, 5, 6 ORDER BY blamed_ns DESC"},
	{"sched_latency", LATENCIES("thread, name, kind", "thread, kind", "thread")},
	{"sched_latency_wakers", LATENCIES("waker_thread, name", "waker_thread", "waker_thread")},
	{"sched_latency_instead",
	 "SELECT l.thread, t.name, instead_thread, i.name AS instead_name, latencies, l.instead_ns, longest_ns FROM (SELECT "
	 "thread, instead_thread, count(*) AS latencies, sum(instead_ns) AS instead_ns, max(instead_ns) AS longest_ns FROM "
	 "sched_latency GROUP BY 1, 2) AS l LEFT JOIN threads AS t ON t.id = l.thread LEFT JOIN threads AS i ON i.id = "
	 "instead_thread ORDER BY l.instead_ns DESC"},
	{"sched_latency_procs", LATENCIES("proc", "proc", "thread")},
	{"tasks", SPANS("tasks", "task_times", "task")},
	{"regions", SPANS("regions", "region_times", "region")},
	{"labels",
	 "SELECT key, value, sum(n) AS waits, sum(ns) AS waited_ns FROM (SELECT labels, count(*) AS n, "
	 "sum(waited_ns) AS ns FROM parks WHERE labels IS NOT NULL GROUP BY labels) JOIN labels USING "
	 "(labels) GROUP BY key, value ORDER BY waited_ns DESC"},
	{"fiber_waits",
	 "SELECT name, reason, count(DISTINCT fiber) AS fibers, count(*) AS waits, sum(ns) AS waited_ns, "
	 "max(ns) AS longest_ns FROM (SELECT fiber, reason, waited_ns AS ns FROM fiber_waits) LEFT JOIN "
	 "(SELECT id, name FROM fibers) ON id = fiber GROUP BY name, reason ORDER BY waited_ns DESC"},
	{"deadlocks", "SELECT *, chain(stack) AS place FROM deadlocks"},
	{"lock_order",
	 "SELECT *, chain(held_stack) AS held_place, chain(taken_stack) AS taken_place FROM lock_order"},
	{"threads_now", "SELECT *, chain(stack) AS place FROM threads_now"},
	{"sample_events", "SELECT * FROM sample_events"},
	{"samples",
	 "WITH places AS MATERIALIZED (SELECT stack, chain(stack) AS place FROM (SELECT DISTINCT stack FROM "
	 "samples)) SELECT event, place, count(*) AS samples, sum(scaled_value) AS scaled_value, "
	 "samples_margin(event, thread, scaled_value) AS scaled_value_margin FROM samples LEFT JOIN places "
	 "USING (stack) GROUP BY event, place ORDER BY event, 4 DESC"},
	{"heap",
	 "WITH places AS MATERIALIZED (SELECT stack, chain(stack) AS place FROM (SELECT DISTINCT stack FROM "
	 "allocs)), a AS (SELECT stack, objects, bytes, iif(state = 'live', bytes, 0) AS live FROM allocs) "
	 "SELECT place, count(*) AS samples, CAST(sum(objects * live) AS INTEGER) AS in_use_bytes, "
	 "CAST(heap_margin(objects, live) AS INTEGER) AS in_use_margin_bytes, CAST(sum(objects * bytes) AS "
	 "INTEGER) AS allocated_bytes, CAST(heap_margin(objects, bytes) AS INTEGER) AS "
	 "allocated_margin_bytes FROM a LEFT JOIN places USING (stack) GROUP BY place ORDER BY in_use_bytes "
	 "DESC, allocated_bytes DESC"},
};
/* With a selection: one more, and one instead of the one above.  All others ask for the same tables, which
 * then have what is selected. */
static const struct part SELECTED = {
	"selected",
	"SELECT kind, count(*) AS n, sum(ns) AS ns FROM selected GROUP BY kind ORDER BY kind"};
static const struct part SELECTED_THREADS = {
	"threads",
	"SELECT threads.id, tid, name, ns AS selected_ns, waited_ns FROM selected JOIN threads USING (id) LEFT "
	"JOIN (SELECT thread, sum(waited_ns) AS waited_ns FROM parks GROUP BY thread) ON thread = threads.id "
	"WHERE kind = 'threads' ORDER BY threads.id"};
enum { N_PARTS = sizeof(PARTS) / sizeof(*PARTS) };

/* An exit status. */
static int print_part(const struct trc_cli *cli, sqlite3 *db, const struct part *part, char before)
{
	struct trc_error error = {""};

	printf("%c\"%s\":\n", before, part->name);
	if (!trc_output_query(db, part->query, TRC_OUTPUT_JSON, stdout, &error))
		return TRC_EXIT_OK;
	fflush(stdout);
	trc_cli_error(cli, "%s", error.text);
	return TRC_EXIT_FAILED;
}

/* One object, which has an array of rows for each part. */
static int run_json(struct trc_cli *cli, const struct trc_request *request)
{
	sqlite3 *db;
	int status;

	(void)request;
	if (cli->n_paths > 1)
		return trc_cli_json_of_many(cli);
	db = trc_cli_sql(cli);
	status = db ? TRC_EXIT_OK : TRC_EXIT_FAILED;
	for (size_t i = 0; i < N_PARTS && status == TRC_EXIT_OK; i++) {
		const struct part *part = &PARTS[i];

		if (cli->selects && !strcmp(part->name, SELECTED_THREADS.name))
			part = &SELECTED_THREADS;
		status = print_part(cli, db, part, i ? ',' : '{');
	}
	if (status == TRC_EXIT_OK && cli->selects)
		status = print_part(cli, db, &SELECTED, ',');
	if (status == TRC_EXIT_OK)
		puts("}");
	return status;
}

const struct trc_verb trc_verb_json = {
	.name = "json",
	.doc = "print what the report says as one JSON object, for programs",
	.run = run_json,
	.takes_many = true,
	.selects = true,
	.outputs = TRC_CLI_TEXT | TRC_CLI_JSON,
};
