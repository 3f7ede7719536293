/*
 * verb_json.c - trace-analyze --json: what the report says, for programs.
 *
 * Each part is a query: what is in it is what --sql says, and docs/schema.md has the queries.
 */
#include <stdio.h>
#include <string.h>
#include "cli.h"

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
	{"sched_latency",
	 "SELECT thread, name, kind, max(n) AS latencies, sum(latency_ns) AS total_ns, max(iif(k = (n * 50 "
	 "+ 99) / 100, latency_ns, NULL)) AS p50_ns, max(iif(k = (n * 99 + 99) / 100, latency_ns, NULL)) AS "
	 "p99_ns, max(latency_ns) AS max_ns, sum(own_ns) AS own_ns, sum(other_ns) AS other_ns FROM (SELECT "
	 "thread, kind, latency_ns, own_ns, other_ns, count(*) OVER (PARTITION BY thread, kind) AS n, "
	 "row_number() OVER (PARTITION BY thread, kind ORDER BY latency_ns) AS k FROM sched_latency) JOIN "
	 "threads ON threads.id = thread GROUP BY thread, kind ORDER BY total_ns DESC"},
	{"tasks",
	 "SELECT type, max(n) AS ended, sum(duration_ns) AS total_ns, max(iif(k = (n * 50 + 99) / 100, "
	 "duration_ns, NULL)) AS p50_ns, max(iif(k = (n * 95 + 99) / 100, duration_ns, NULL)) AS p95_ns, "
	 "max(iif(k = (n * 99 + 99) / 100, duration_ns, NULL)) AS p99_ns, max(duration_ns) AS max_ns FROM "
	 "(SELECT type, duration_ns, count(*) OVER (PARTITION BY type) AS n, row_number() OVER (PARTITION "
	 "BY type ORDER BY duration_ns) AS k FROM tasks WHERE duration_ns IS NOT NULL) GROUP BY type ORDER "
	 "BY total_ns DESC"},
	{"sample_events", "SELECT * FROM sample_events"},
	{"samples",
	 "SELECT event, chain(stack) AS place, sum(n) AS samples, sum(scaled) AS scaled_value FROM (SELECT "
	 "event, stack, count(*) AS n, sum(scaled_value) AS scaled FROM samples GROUP BY event, stack) "
	 "GROUP BY 1, 2 ORDER BY event, scaled_value DESC"},
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
	sqlite3 *db = trc_cli_sql(cli);
	int status = db ? TRC_EXIT_OK : TRC_EXIT_FAILED;

	(void)request;
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
	.selects = true,
};
