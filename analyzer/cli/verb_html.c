/* verb_html.c - trace-analyze --html FILE. */
#include "cli.h"
#include "viewer/html.h"

static int run_html(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_error error = {""};

	if (!trc_html_write(cli->model, request->arg, &error))
		return TRC_EXIT_OK;
	trc_cli_error(cli, "%s", error.text); /* names the file where that is at fault */
	return TRC_EXIT_FAILED;
}

const struct trc_verb trc_verb_html = {
	.name = "html",
	.arg_name = "FILE",
	.arg_is_file = true,
	.doc = "write the timeline as one HTML page",
	.select_instead =
		"the page's filter takes names and key=value, and its address #range=START,LENGTH in ns",
	.run = run_html};
