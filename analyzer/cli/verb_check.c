/* verb_check.c - trace-analyze --check. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/check/check.h"
#include "cli.h"
#include "analyzer/export/output_text.h"

static void check_print_line(void *context, const char *text)
{
	char *line = trc_text_printable(text, strlen(text));

	trc_progress_clear();
	puts(line ? line : text);
	free(line);
}

static int print_totals(const struct trc_check_totals *t)
{
	printf("%" PRIu64 " event%s checked: ", t->events, t->events == 1 ? "" : "s");
	if (!t->violations)
		fputs("nothing is wrong", stdout);
	else
		printf("%" PRIu64 " violation%s, %" PRIu64 " of them explained by lost events",
		       t->violations, t->violations == 1 ? "" : "s", t->explained);
	if (t->cut_off)
		printf("; the end is missing, %" PRIu64 " thing%s that it may settle %s not judged",
		       t->not_judged, t->not_judged == 1 ? "" : "s",
		       t->not_judged == 1 ? "was" : "were");
	putchar('\n');
	return t->violations ? TRC_EXIT_FAILED : TRC_EXIT_OK;
}

static int check(struct trc_cli *cli, bool all)
{
	struct trc_check_totals totals;
	struct trc_error error = {""};

	if (trc_check(cli->model, all, check_print_line, NULL, &totals, &error)) {
		trc_cli_error(cli, "%s", error.text);
		return TRC_EXIT_FAILED;
	}
	trc_progress_clear();
	return print_totals(&totals);
}

static int run_check(struct trc_cli *cli, const struct trc_request *request)
{
	(void)request;
	return check(cli, false);
}

static int run_check_all(struct trc_cli *cli, const struct trc_request *request)
{
	(void)request;
	return check(cli, true);
}

const struct trc_verb trc_verb_check = {
	.name = "check", .doc = "list what is wrong with the trace", .run = run_check};

const struct trc_verb trc_verb_check_all = {
	.name = "check-all",
	.doc = "the same, with each violation that lost events explain",
	.run = run_check_all};
