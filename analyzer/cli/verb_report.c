/* verb_report.c - trace-analyze [--report], what it prints when nothing else is asked for, and
 * --summary, which trace-record prints when a recording ends; --why. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "cli.h"
#include "width.h"
#include "analyzer/report/many.h"
#include "analyzer/report/report.h"
#include "analyzer/why/why.h"
#include "analyzer/sql/sql.h"

static struct trc_report_options options_of(const struct trc_cli *cli)
{
	return (struct trc_report_options){
		.colour = cli->color,
		.full = cli->full,
		.follows = cli->follows,
		.width = trc_cli_width(),
		.path = cli->path,
		.selection = cli->selects ? &cli->selection : NULL,
		.slowest = cli->slowest,
		.print_cause = cli->output == TRC_OUTPUT_JSON ? trc_sql_print_cause : NULL,
	};
}

/* An exit status. */
static int told(const struct trc_cli *cli, int err, const struct trc_error *error)
{
	if (!err)
		return TRC_EXIT_OK;
	trc_cli_error(cli, "%s", error->text);
	return TRC_EXIT_FAILED;
}

typedef int print_fn(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		     struct trc_error *error);

static int report_print(struct trc_cli *cli, print_fn *function)
{
	const struct trc_report_options options = options_of(cli);
	struct trc_error error = {""};
	int err = trc_model_need(cli->model, TRC_PART_ALL, &error);

	trc_progress_clear();
	return told(cli, err ? err : function(cli->model, stdout, &options, &error), &error);
}

/* Adds a trace.  One that cannot be read does not keep the others from being told. */
static int add_one(struct trc_cli *cli, struct trc_many *many, const char *path)
{
	struct trc_error error = {""};
	int status;

	cli->path = path;
	status = trc_cli_open(cli);
	if (status == TRC_EXIT_OK)
		status = told(cli, trc_many_add(many, cli->model, path, &error), &error);
	trc_progress_clear();
	if (status != TRC_EXIT_OK)
		trc_many_add_unread(many);
	trc_cli_close(cli);
	cli->path = NULL;
	return status;
}

/* A trace that is given twice would count twice. */
static bool report_is_again(struct trc_cli *cli, size_t i)
{
	struct stat one, other;

	if (stat(cli->paths[i], &one))
		return false;
	for (size_t k = 0; k < i; k++) {
		if (stat(cli->paths[k], &other) || one.st_dev != other.st_dev ||
		    one.st_ino != other.st_ino)
			continue;
		trc_cli_error(cli, "%s: the same file as %s: told once", cli->paths[i],
			      cli->paths[k]);
		return true;
	}
	return false;
}

typedef int print_many_fn(struct trc_many *many, FILE *out);

static int print_many(struct trc_cli *cli, print_many_fn *fn)
{
	const struct trc_report_options options = options_of(cli);
	struct trc_many *many = trc_many_open(&options);
	int status = TRC_EXIT_OK, err = many ? 0 : -ENOMEM;

	for (size_t i = 0; i < cli->n_paths && !err; i++) {
		int one = report_is_again(cli, i) ? TRC_EXIT_OK : add_one(cli, many, cli->paths[i]);

		status = one > status ? one : status;
	}
	if (!err)
		err = fn(many, stdout);
	if (err) {
		trc_cli_error(cli, "report: %s", strerror(-err));
		status = TRC_EXIT_FAILED;
	}
	trc_many_close(many);
	return status;
}

static int many_report(struct trc_many *many, FILE *out)
{
	return trc_many_print(many, out, false);
}

static int many_summary(struct trc_many *many, FILE *out)
{
	return trc_many_print(many, out, true);
}

int trc_cli_json_of_many(struct trc_cli *cli)
{
	return print_many(cli, trc_many_print_json);
}

static int set_full(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	(void)request;
	(void)arg;
	cli->full = true;
	return 0;
}

static const struct trc_cli_option report_options[] = {
	{"full", '\0', NULL, "with whole stacks, a line for each frame; of --why too", set_full},
	{0},
};

static int run_report(struct trc_cli *cli, const struct trc_request *request)
{
	return cli->n_paths > 1 ? print_many(cli, many_report)
				: report_print(cli, trc_report_print);
}

static int run_summary(struct trc_cli *cli, const struct trc_request *request)
{
	return cli->n_paths > 1 ? print_many(cli, many_summary)
				: report_print(cli, trc_report_summary);
}

const struct trc_verb trc_verb_report = {
	.name = "report",
	.doc = "print the report",
	.run = run_report,
	.tells_stacks = true,
	.takes_many = true,
	.selects = true,
	.outputs = TRC_CLI_TEXT,
	.option = report_options,
};

const struct trc_verb trc_verb_summary = {
	.name = "summary",
	.doc = "print the report in at most 15 lines",
	.run = run_summary,
	.takes_many = true,
	.selects = true,
	.outputs = TRC_CLI_TEXT,
};

typedef int tell_fn(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		    const char *what, struct trc_error *error);

static int report_tell(struct trc_cli *cli, const struct trc_request *request, tell_fn *fn)
{
	const struct trc_report_options options = options_of(cli);
	struct trc_error error = {""};
	int err = trc_model_need(cli->model, TRC_PART_ALL, &error);

	trc_progress_clear();
	if (!err)
		err = fn(cli->model, stdout, &options, request->arg, &error);
	return told(cli, err, &error);
}

static int run_why(struct trc_cli *cli, const struct trc_request *request)
{
	return report_tell(cli, request, trc_report_why);
}

static int run_critical_path(struct trc_cli *cli, const struct trc_request *request)
{
	return report_tell(cli, request, trc_report_critical_path);
}

const struct trc_verb trc_verb_why = {
	.name = "why",
	.arg_name = "WHAT",
	.doc = "why it lasted: longest, wait:ID, task:ID|TYPE, region:ID|TYPE, thread:TID|NAME, FROM..TO, program",
	.run = run_why,
	.tells_stacks = true,
	.selects = true,
	.outputs = TRC_CLI_TEXT | TRC_CLI_JSON,
};

const struct trc_verb trc_verb_critical_path = {
	.name = "critical-path",
	.arg_name = "WHAT",
	.doc = "what determined its end, in the order of time; WHAT as for --why",
	.run = run_critical_path,
	.tells_stacks = true,
	.selects = true,
	.outputs = TRC_CLI_TEXT | TRC_CLI_JSON,
};
