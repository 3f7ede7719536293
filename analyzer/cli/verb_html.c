/* verb_html.c - trace-analyze --html FILE. */
#include <errno.h>
#include <string.h>
#include "cli.h"
#include "format/path.h"
#include "viewer/html.h"
#include "viewer/sqlbox.h"

static void note_of_page(struct trc_cli *cli, const char *option)
{
	if (!cli->of_page)
		cli->of_page = option;
}

static int set_without_sql(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	note_of_page(cli, "--without-sql");
	cli->without_sql = true;
	return 0;
}

static int set_source(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	note_of_page(cli, "--source");
	cli->source = true;
	return 0;
}

static int set_source_map(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	if (!strchr(arg, '=')) {
		trc_cli_error(cli, "--source-map is FROM=TO, not %s", arg);
		return -EINVAL;
	}
	if (cli->n_source_maps == TRC_CLI_SOURCE_MAPS_MAX) {
		trc_cli_error(cli, "--source-map: no more than %d of them",
			      TRC_CLI_SOURCE_MAPS_MAX);
		return -EINVAL;
	}
	note_of_page(cli, "--source-map");
	cli->source = true;
	cli->source_map[cli->n_source_maps++] = arg;
	return 0;
}

static const struct trc_cli_option html_options[] = {
	{"source", '\0', NULL, "put lines of source code into the page", set_source},
	{"source-map", '\0', "FROM=TO", "and look for paths that begin with FROM below TO",
	 set_source_map},
	{"without-sql", '\0', NULL, "no SQL box in the page: 0.5 MB and more less",
	 set_without_sql},
	{0},
};

static void add_maps(struct trc_html_source *source, const struct trc_cli *cli)
{
	for (size_t i = 0; i < cli->n_source_maps && i < TRC_SOURCE_MAPS_MAX; i++) {
		const char *from = cli->source_map[i], *equals = strchr(from, '=');

		source->map[source->n_maps++] =
			(struct trc_source_map){from, equals + 1, (size_t)(equals - from)};
	}
}

/* Once, whatever is missing. */
static void tell_source(const struct trc_cli *cli, const struct trc_html_source *source)
{
	if (source->n_missing)
		trc_cli_error(cli, "--source: %zu of %zu source files are not here, such as %s",
			      source->n_missing,
			      source->n_missing + source->n_refused + source->n_files,
			      source->missing);
	if (source->n_refused)
		trc_cli_error(cli, "--source: %zu source files are no text files of up to %d MB",
			      source->n_refused, TRC_SOURCE_FILE_BYTES_MAX >> 20);
}

static int run_html(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_html_source source = {0};
	struct trc_html_options options = {.sql = cli->without_sql ? NULL : trc_sqlbox_write,
					   .source = cli->source ? &source : NULL,
					   .trace = trc_path_name(cli->path)};
	struct trc_error error = {""};

	add_maps(&source, cli);
	if (!trc_html_write_as(cli->model, request->arg, &options, &error)) {
		tell_source(cli, &source);
		return TRC_EXIT_OK;
	}
	trc_cli_error(cli, "%s", error.text); /* names the file where that is at fault */
	return TRC_EXIT_FAILED;
}

const struct trc_verb trc_verb_html = {.name = "html",
				       .arg_name = "FILE",
				       .arg_is_file = true,
				       .doc = "write the timeline as one HTML page",
				       .selects = true,
				       .run = run_html,
				       .option = html_options};
