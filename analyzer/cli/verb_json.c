/*
 * verb_json.c - trace-analyze --json: what the report says, for programs.
 *
 * Each part is a query: what is in it is what --sql says, and docs/schema.md has the queries.
 */
#include <stdio.h>
#include "cli.h"

#define LOCKS "('mutex', 'rwlock_read', 'rwlock_write', 'spin', 'cond_mutex', 'once', 'flock')"

/* What has a stack is summed by stack first: there are far more waits than stacks, and stacks become texts. */
static const struct {
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
	{"locks",
	 "SELECT reason, object, name, n AS waits, threads, ns AS waited_ns, longest AS longest_ns FROM "
	 "(SELECT reason, object, count(*) AS n, count(DISTINCT thread) AS threads, sum(waited_ns) AS ns, "
	 "max(waited_ns) AS longest FROM parks WHERE reason IN " LOCKS
	 " GROUP BY reason, object) LEFT "
	 "JOIN objects ON address = object ORDER BY waited_ns DESC"},
	{"descriptors",
	 "SELECT kind, name, own, peer, count(DISTINCT fd) AS numbers, sum(waits) AS waits, sum(waited_ns) "
	 "AS waited_ns FROM descriptors GROUP BY descriptor ORDER BY waited_ns DESC"},
	{"critical_sections",
	 "SELECT reason, chain(stack) AS place, sum(n) AS sections, sum(waits) AS caused_waits, sum(ns) AS "
	 "caused_ns, max(longest) AS longest_ns FROM (SELECT reason, stack, count(*) AS n, "
	 "sum(caused_waits) AS waits, sum(caused_ns) AS ns, max(caused_ns) AS longest FROM unlocks GROUP "
	 "BY reason, stack) GROUP BY 1, 2 ORDER BY caused_ns DESC"},
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
enum { N_PARTS = sizeof(PARTS) / sizeof(*PARTS) };

/* One object, which has an array of rows for each part. */
static int run_json(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_error error = {""};
	sqlite3 *db = trc_cli_sql(cli);

	(void)request;
	if (!db)
		return TRC_EXIT_FAILED;
	for (size_t i = 0; i < N_PARTS; i++) {
		printf("%s\"%s\":\n", i ? "," : "{", PARTS[i].name);
		if (!trc_output_query(db, PARTS[i].query, TRC_OUTPUT_JSON, stdout, &error))
			continue;
		fflush(stdout);
		trc_cli_error(cli, "%s", error.text);
		return TRC_EXIT_FAILED;
	}
	puts("}");
	return TRC_EXIT_OK;
}

const struct trc_verb trc_verb_json = {
	.name = "json",
	.doc = "print what the report says as one JSON object, for programs",
	.run = run_json,
};
