/* many_json.c - see many.h: the index and the findings as JSON. */
#include "many.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analyzer/text/json.h"
#include "many_rows.h"

static void json_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	if (text && *text)
		trc_json_text(out, text);
	else
		fputs("null", out);
}

static void json_number(FILE *out, const char *name, int64_t number)
{
	if (number == TRC_NEVER)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%" PRId64, name, number);
}

/* A lock's waits may have several reasons, which are of one kind. */
static const char *wait_kind(unsigned int reason)
{
	uint8_t kind = trc_wait_kind(reason);

	return kind ? trc_wait_kind_name(kind) : trc_reason_name(reason);
}

static const char *const TIME_NAME[TRC_MANY_TIMES] = {
	[TRC_MANY_CPU] = "cpu_ns",     [TRC_MANY_TO_RUN] = "to_run_ns",
	[TRC_MANY_LOCKS] = "locks_ns", [TRC_MANY_OTHERS] = "others_ns",
	[TRC_MANY_FILES] = "files_ns", [TRC_MANY_OUTSIDE] = "outside_ns",
};

static void json_row(FILE *out, const struct trc_many_row *row)
{
	fputs("{\"path\":", out);
	trc_json_text(out, row->path);
	json_text(out, "pid", row->pid);
	json_text(out, "command", row->command);
	json_text(out, "ended", row->ended);
	json_number(out, "lasted_ns", row->lasted_ns);
	json_number(out, "threads", (int64_t)row->n_threads);
	for (unsigned int i = 0; i < TRC_MANY_TIMES; i++)
		json_number(out, TIME_NAME[i], row->time_ns[i]);
	json_number(out, "events", (int64_t)row->n_events);
	json_number(out, "lost_events", (int64_t)row->lost_events);
	json_text(out, "incomplete", row->incomplete);
	json_text(out, "wait_kind", row->wait.what ? wait_kind(row->wait.reason) : NULL);
	json_text(out, "wait_for", row->wait.what);
	json_text(out, "wait_place", row->wait.place);
	json_number(out, "waits", row->wait.what ? (int64_t)row->wait.waits : TRC_NEVER);
	json_number(out, "waited_ns", row->wait.what ? row->wait.ns : TRC_NEVER);
	json_text(out, "task_type", row->tasks.type);
	json_number(out, "tasks", row->tasks.type ? (int64_t)row->tasks.n : TRC_NEVER);
	json_number(out, "task_p99_ns", row->tasks.type ? row->tasks.p99_ns : TRC_NEVER);
	json_number(out, "findings", (int64_t)row->n_findings);
	json_text(out, "worst", row->worst);
	putc('}', out);
}

static void json_finding(FILE *out, const struct trc_many_row *row,
			 const struct trc_finding *finding)
{
	fputs("{\"path\":", out);
	trc_json_text(out, row->path);
	json_text(out, "kind", trc_finding_kind_name(finding->kind));
	json_text(out, "severity", trc_severity_name(finding->severity));
	json_number(out, "cost_ns", finding->cost_ns);
	json_text(out, "sentence", finding->sentence);
	json_text(out, "why", finding->why);
	json_text(out, "remedy", trc_finding_remedy(finding));
	putc('}', out);
}

int trc_many_print_json(struct trc_many *many, FILE *out)
{
	const struct trc_many_row **order = trc_many_sorted(many);
	const struct trc_many_found *found = many->found.row;

	if (!order)
		return -ENOMEM;
	fprintf(out, "{\"unread\":%" PRIu64 ",\n\"traces\":\n[", many->n_unread);
	for (size_t i = 0; i < many->rows.n; i++) {
		fputs(i ? ",\n" : "", out);
		json_row(out, order[i]);
	}
	fputs("]\n,\"findings\":\n[", out);
	for (size_t i = 0; i < many->found.n; i++) {
		fputs(i ? ",\n" : "", out);
		json_finding(out, (const struct trc_many_row *)many->rows.row + found[i].row,
			     &found[i].finding);
	}
	fputs("]\n}\n", out);
	free(order);
	return 0;
}
