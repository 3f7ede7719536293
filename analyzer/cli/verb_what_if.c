/* verb_what_if.c - trace-analyze --what-if CHANGE: what a change would bring. */
#include <stdio.h>
#include "cli.h"
#include "width.h"
#include "analyzer/why/whatif.h"

static int run_what_if(struct trc_cli *cli, const struct trc_request *request)
{
	const struct trc_report_options options = {.colour = cli->color,
						   .follows = cli->follows,
						   .width = trc_cli_width(),
						   .path = cli->path};
	struct trc_error error = {""};
	int err = trc_model_need(cli->model, TRC_PART_ALL | TRC_PART_OBJECTS, &error);

	trc_progress_clear();
	if (!err && cli->output == TRC_OUTPUT_JSON)
		err = trc_report_what_if_json(cli->model, stdout, request->arg, &error);
	else if (!err)
		err = trc_report_what_if(cli->model, stdout, &options, request->arg, &error);
	if (!err)
		return TRC_EXIT_OK;
	trc_cli_error(cli, "%s", error.text);
	return TRC_EXIT_FAILED;
}

const struct trc_verb trc_verb_what_if = {
	.name = "what-if",
	.arg_name = "CHANGE",
	.doc = "how long tasks would take: 'lock NAME * 0.5', 'no lock NAME', "
	       "'function NAME * 0.5', 'procs N'",
	.run = run_what_if,
	.outputs = TRC_CLI_TEXT | TRC_CLI_JSON,
};
