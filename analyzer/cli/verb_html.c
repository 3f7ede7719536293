/* verb_html.c - trace-analyze --html FILE. */
#include <errno.h>
#include "cli.h"
#include "viewer/html.h"
#include "viewer/sqlbox.h"

static int set_without_sql(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	cli->without_sql = true;
	return 0;
}

static const struct trc_cli_option html_options[] = {
	{"without-sql", '\0', NULL, "no SQL box in the page: 0.5 MB and more less",
	 set_without_sql},
	{0},
};

static int run_html(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_html_options options = {.sql = cli->without_sql ? NULL : trc_sqlbox_write};
	struct trc_error error = {""};

	if (!trc_html_write_as(cli->model, request->arg, &options, &error))
		return TRC_EXIT_OK;
	trc_cli_error(cli, "%s", error.text); /* names the file where that is at fault */
	return TRC_EXIT_FAILED;
}

/* What the page cannot show honestly: which part of a thread's time was for a task, or under a label. */
static int check_html(struct trc_cli *cli, const struct trc_request *request)
{
	const struct trc_selection *s = &cli->selection;

	if (!s->n_tasks && !s->labels)
		return 0;
	trc_cli_error(
		cli,
		"--%s shows a --window and --thread, not %s: the page's flame graph narrows by "
		"that itself",
		request->verb->name,
		s->labels	 ? "--label-filter"
		: s->slowest > 0 ? "--slowest"
				 : "--task");
	return -EINVAL;
}

const struct trc_verb trc_verb_html = {.name = "html",
				       .arg_name = "FILE",
				       .arg_is_file = true,
				       .doc = "write the timeline as one HTML page",
				       .selects = true,
				       .check = check_html,
				       .run = run_html,
				       .option = html_options};
