/* verb_sql.c - trace-analyze --sql, --db and --schema. */
#include <errno.h>
#include <stdio.h>
#include "cli.h"
#include "analyzer/sql/sql.h"

static int set_output(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	if (!trc_output_parse(arg, &cli->output))
		return 0;
	trc_cli_error(cli, "--output is table, csv, tsv or json, not %s", arg);
	return -EINVAL;
}

static const struct trc_cli_option sql_options[] = {
	{"output", '\0', "FORMAT",
	 "of --sql and --diff: table, csv, tsv or json; of --why, --critical-path and --what-if json",
	 set_output},
	{0},
};

static int run_sql(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_error error = {""};
	sqlite3 *db = trc_cli_sql(cli);

	if (!db)
		return TRC_EXIT_FAILED;
	if (trc_output_query(db, request->arg, cli->output, stdout, &error)) {
		fflush(stdout);
		trc_sql_tell_columns(db, request->arg, &error);
		trc_cli_error(cli, "%s", error.text);
		return TRC_EXIT_FAILED;
	}
	return TRC_EXIT_OK;
}

const struct trc_verb trc_verb_sql = {.name = "sql",
				      .arg_name = "QUERY",
				      .doc = "answer a query; see --schema for the tables",
				      .run = run_sql,
				      .selects = true,
				      .option = sql_options};

static int run_db(struct trc_cli *cli, const struct trc_request *request)
{
	struct trc_error error = {""};

	if (!trc_sql_export(cli->model, request->arg, &error))
		return TRC_EXIT_OK;
	trc_cli_error(cli, "%s: %s", request->arg, error.text);
	return TRC_EXIT_FAILED;
}

const struct trc_verb trc_verb_db = {.name = "db",
				     .arg_name = "FILE",
				     .arg_is_file = true,
				     .doc = "write all tables as an SQLite database",
				     .run = run_db,
				     .selects = true};

static int run_schema(struct trc_cli *cli, const struct trc_request *request)
{
	trc_sql_print_schema(stdout, cli->model, NULL);
	return TRC_EXIT_OK;
}

const struct trc_verb trc_verb_schema = {.name = "schema",
					 .doc = "print the tables that --sql can ask",
					 .without_trace = true,
					 .selects = true,
					 .run = run_schema};
