/* verb_check.c - trace-analyze --check. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/check.h"
#include "analyzer/cli.h"
#include "analyzer/output_text.h"

static void print_violation(void *context, const char *text)
{
	char *line = trc_text_printable(text, strlen(text));

	trc_progress_clear();
	puts(line ? line : text);
	free(line);
}

static int run_check(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_check_totals totals;
	struct trc_error error = {""};

	if (trc_check(cli->model, print_violation, NULL, &totals, &error)) {
		trc_cli_error(cli, "%s", error.text);
		return TRC_EXIT_FAILED;
	}
	trc_progress_clear();
	printf("%" PRIu64 " events checked: ", totals.events);
	if (!totals.violations) {
		puts("nothing is wrong");
		return TRC_EXIT_OK;
	}
	printf("%" PRIu64 " violation%s, %" PRIu64 " of them explained by lost events\n",
	       totals.violations, totals.violations == 1 ? "" : "s", totals.explained);
	return TRC_EXIT_FAILED;
}

const struct trc_verb trc_verb_check = {
	.name = "check", .doc = "list everything that is wrong with the trace", .run = run_check};
