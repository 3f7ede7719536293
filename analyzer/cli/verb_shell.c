/* verb_shell.c - trace-analyze --shell: a prompt for queries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"
#include "analyzer/sql/sql.h"
#include "format/utf8.h"
#include "config.h"
#ifdef HAVE_READLINE
#include <readline/history.h>
#include <readline/readline.h>
#endif

struct shell {
	struct trc_cli *cli;
	sqlite3 *db;
	bool interactive;
	int status;
};

static char *read_plain(bool interactive, const char *prompt)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (interactive) {
		fputs(prompt, stdout);
		fflush(stdout);
	}
	n = getline(&line, &room, stdin);
	if (n < 0) {
		free(line);
		return NULL;
	}
	if (n && line[n - 1] == '\n')
		line[n - 1] = '\0';
	return line;
}

/* The next line, the caller's; NULL at the end. */
static char *read_line(const struct shell *s, const char *prompt)
{
#ifdef HAVE_READLINE
	if (s->interactive) {
		char *line = readline(prompt);

		if (line && *line)
			add_history(line);
		return line;
	}
#endif
	return read_plain(s->interactive, prompt);
}

static void shell_print_help(void)
{
	puts("A query ends with a semicolon.\n"
	     ".tables           the tables that can be asked\n"
	     ".schema [TABLE]   their columns; % stands for any letters\n"
	     ".output FORMAT    table, csv, tsv or json\n"
	     ".help             this\n"
	     ".quit             leave");
}

static void print_unknown(const char *line)
{
	char shown[256];

	trc_utf8_escape(shown, sizeof(shown), line, strlen(line));
	fprintf(stderr, "not known: %s; try .help\n", shown);
}

/* A line that begins with a dot; false = leave. */
static bool run_command(struct shell *s, const char *line)
{
	char word[16] = "", arg[64] = "";

	if (sscanf(line, "%15s %63s", word, arg) < 1)
		return true;
	if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
		return false;
	if (!strcmp(word, ".tables"))
		trc_sql_print_names(stdout, s->cli->model);
	else if (!strcmp(word, ".schema"))
		trc_sql_print_schema(stdout, s->cli->model, *arg ? arg : NULL);
	else if (!strcmp(word, ".help"))
		shell_print_help();
	else if (strcmp(word, ".output") != 0 || trc_output_parse(arg, &s->cli->output))
		print_unknown(line);
	return true;
}

static void run_query(struct shell *s, const char *sql)
{
	struct trc_error error = {""};

	if (trc_output_query(s->db, sql, s->cli->output, stdout, &error)) {
		fflush(stdout);
		trc_sql_tell_columns(s->db, sql, &error);
		trc_cli_error(s->cli, "%s", error.text);
		/* A script that fails says so; a person has seen it. */
		s->status = s->interactive ? s->status : TRC_EXIT_FAILED;
	}
	trc_progress_clear();
	fflush(stdout);
}

/* Adds a line to the query begun; NULL without memory. */
static char *append_line(char *query, const char *line)
{
	size_t n = query ? strlen(query) : 0;
	char *longer = realloc(query, n + strlen(line) + 2);

	if (!longer) {
		free(query);
		return NULL;
	}
	sprintf(longer + n, "%s%s", n ? "\n" : "", line);
	return longer;
}

static void shell_loop(struct shell *s)
{
	char *query = NULL, *line;

	while ((line = read_line(s, query ? "...> " : "trc> "))) {
		bool go_on = true;

		if (!query && *line == '.') {
			go_on = run_command(s, line);
		} else if (query || strspn(line, " \t") != strlen(line)) {
			query = append_line(query, line);
			if (query && sqlite3_complete(query)) {
				run_query(s, query);
				free(query);
				query = NULL;
			}
		}
		free(line);
		if (!go_on)
			break;
	}
	/* What is left at the end needs no semicolon. */
	if (query)
		run_query(s, query);
	free(query);
}

static int run_shell(struct trc_cli *cli, const struct trc_request *request)
{
	struct shell s = {.cli = cli, .db = trc_cli_sql(cli), .interactive = isatty(STDIN_FILENO)};

	if (!s.db)
		return TRC_EXIT_FAILED;
	if (s.interactive)
		puts("SQL on the tables of the trace; .help tells more.");
	shell_loop(&s);
	return s.status;
}

const struct trc_verb trc_verb_shell = {
	.name = "shell", .doc = "ask for queries at a prompt", .run = run_shell, .selects = true};
