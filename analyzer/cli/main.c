/* main.c - trace-analyze: what a trace tells; see cli.h. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"
#include "analyzer/open/memory.h"
#include "analyzer/sql/sql.h"
#include "config.h"
#include "format/symbols.h"
#include "format/utf8.h"

static const struct trc_verb *const verbs[] = {
	&trc_verb_report,  &trc_verb_summary,	&trc_verb_why,	  &trc_verb_critical_path,
	&trc_verb_what_if, &trc_verb_diff,	&trc_verb_sql,	  &trc_verb_json,
	&trc_verb_shell,   &trc_verb_db,	&trc_verb_pprof,  &trc_verb_html,
	&trc_verb_check,   &trc_verb_check_all, &trc_verb_schema,
};
enum {
	N_VERBS = sizeof(verbs) / sizeof(verbs[0]),
	OPTIONS_MAX = 32,
	REQUESTS_MAX = 64,
	LINE_BYTES = 8192, /* of a trouble; longer ones are cut */
	/* What getopt_long() returns: a verb, an option by its index, or one of main's own. */
	VERB_BASE = 0x1000,
	OPTION_BASE = 0x2000,
	OPT_VERSION = 0x3000,
};

struct command {
	struct trc_cli cli;
	struct trc_request request[REQUESTS_MAX];
	size_t n_requests;
	const struct trc_cli_option *option[OPTIONS_MAX];
	size_t n_options;
	struct option getopt_long[N_VERBS + OPTIONS_MAX + 3];
	char getopt_short[2 * OPTIONS_MAX + 5];
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

void trc_cli_error(const struct trc_cli *cli, const char *format, ...)
{
	char text[LINE_BYTES], shown[LINE_BYTES], hint[160] = "";
	va_list args;
	int n;

	trc_progress_clear();
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < LINE_BYTES &&
	    (ends_with(text, "out of memory") || ends_with(text, strerror(ENOMEM))))
		trc_memory_hint(hint, sizeof(hint));
	fputs("trace-analyze: ", stderr);
	if (cli->path) {
		trc_utf8_escape(shown, sizeof(shown), cli->path, strlen(cli->path));
		fprintf(stderr, "%s: ", shown);
	}
	/* Names of the trace's and of files may be anything. */
	trc_utf8_escape(shown, sizeof(shown), text, strlen(text));
	fprintf(stderr, "%s%s\n", shown, hint);
}

static int set_memory(struct trc_cli *cli, struct trc_request *request, const char *arg)
{
	(void)request;
	cli->memory_bytes = trc_memory_parse(arg);
	if (cli->memory_bytes)
		return 0;
	trc_cli_error(cli, "--memory is a size such as 512M or 4G, not %s", arg);
	return -EINVAL;
}

/* Those that belong to no verb. */
static const struct trc_cli_option general_options[] = {
	{"memory", '\0', "SIZE", "take no more memory than that, K, M or G (default: what is fair)",
	 set_memory},
	{0},
};

static void collect_table(struct command *c, const struct trc_cli_option *o, size_t *n,
			  size_t *letters)
{
	for (; o && o->name && c->n_options < OPTIONS_MAX; o++) {
		c->getopt_long[(*n)++] =
			(struct option){o->name, o->arg_name ? required_argument : no_argument,
					NULL, OPTION_BASE + (int)c->n_options};
		c->option[c->n_options++] = o;
		if (o->letter) {
			c->getopt_short[(*letters)++] = o->letter;
			c->getopt_short[(*letters)++] = ':';
		}
	}
}

/* Collects every verb's options into what getopt_long() wants. */
static void collect_options(struct command *c)
{
	size_t n = 0, letters = 0;

	c->getopt_short[letters++] = ':'; /* a missing value is told from a mistyped name */
	c->getopt_short[letters++] = 'h';
	c->getopt_long[n++] = (struct option){"help", no_argument, NULL, 'h'};
	c->getopt_long[n++] = (struct option){"version", no_argument, NULL, OPT_VERSION};
	for (int v = 0; v < N_VERBS; v++) {
		c->getopt_long[n++] = (struct option){
			verbs[v]->name, verbs[v]->arg_name ? required_argument : no_argument, NULL,
			VERB_BASE + v};
		collect_table(c, verbs[v]->option, &n, &letters);
	}
	collect_table(c, trc_select_options, &n, &letters);
	collect_table(c, general_options, &n, &letters);
}

static void print_option(const char *text, const char *doc)
{
	printf("  %-28s %s\n", text, doc);
}

static void print_options(const struct trc_cli_option *o)
{
	char text[80];

	for (; o->name; o++) {
		snprintf(text, sizeof(text), "    --%s %s", o->name, o->arg_name);
		print_option(text, o->doc);
	}
}

static void command_print_help(void)
{
	char text[80];

	puts("usage: trace-analyze [OPTION...] TRACE...\n\n"
	     "Tells what a trace has to say: a report, unless one or more of these are given, which\n"
	     "are done in order:");
	for (int v = 0; v < N_VERBS; v++) {
		snprintf(text, sizeof(text), "--%s%s%s", verbs[v]->name,
			 verbs[v]->arg_name ? " " : "",
			 verbs[v]->arg_name ? verbs[v]->arg_name : "");
		print_option(text, verbs[v]->doc);
		for (const struct trc_cli_option *o = verbs[v]->option; o && o->name; o++) {
			char letter[8] = "    ";

			if (o->letter)
				snprintf(letter, sizeof(letter), "-%c, ", o->letter);
			snprintf(text, sizeof(text), "  %s--%s %s", letter, o->name,
				 o->arg_name ? o->arg_name : "");
			print_option(text, o->doc);
		}
	}
	puts("\nThese narrow whatever is told; several of them narrow it together:");
	print_options(trc_select_options);
	puts("");
	print_options(general_options);
	print_option("-h, --help", "print this");
	print_option("    --version", "print the version");
}

static int set_option(struct command *c, const struct trc_cli_option *option)
{
	struct trc_request *last = c->n_requests ? &c->request[c->n_requests - 1] : NULL;

	return option->set(&c->cli, last, optarg) ? TRC_EXIT_USAGE : TRC_EXIT_OK;
}

static int add_request(struct command *c, const struct trc_verb *verb)
{
	if (c->n_requests == REQUESTS_MAX) {
		trc_cli_error(&c->cli, "more than %d things to do", REQUESTS_MAX);
		return TRC_EXIT_USAGE;
	}
	c->request[c->n_requests++] = (struct trc_request){.verb = verb, .arg = optarg};
	return TRC_EXIT_OK;
}

/* What getopt_long() says no to: ':' for want of a value, and '?'.  `word` is the one before the
 * next, which is not yet that of a letter among others: optopt has the letter. */
static int refuse_option(const struct command *c, int got, const char *word)
{
	const char letter[] = {'-', (char)optopt, '\0'};
	const char *what = got == ':'		 ? "a value is missing"
			   : optopt >= VERB_BASE ? "it takes no value"
						 : "no such option";

	trc_cli_error(&c->cli, "%s: %s; try 'trace-analyze --help'",
		      optopt > 0 && optopt < VERB_BASE ? letter : word, what);
	return TRC_EXIT_USAGE;
}

static int take_letter(struct command *c, int letter, const char *word)
{
	for (size_t i = 0; i < c->n_options; i++)
		if (c->option[i]->letter == letter)
			return set_option(c, c->option[i]);
	return refuse_option(c, letter, word);
}

/* An exit status, or -1: go on. */
static int command_parse(struct command *c, int argc, char **argv)
{
	int got, status = TRC_EXIT_OK;

	opterr = 0; /* getopt's messages are two lines with ours, and name us by our path */
	while (status == TRC_EXIT_OK &&
	       (got = getopt_long(argc, argv, c->getopt_short, c->getopt_long, NULL)) != -1) {
		if (got == 'h') {
			command_print_help();
			return TRC_EXIT_OK;
		} else if (got == OPT_VERSION) {
			puts("trace-analyze (trc) " PACKAGE_VERSION);
			return TRC_EXIT_OK;
		} else if (got >= OPTION_BASE) {
			status = set_option(c, c->option[got - OPTION_BASE]);
		} else if (got >= VERB_BASE) {
			status = add_request(c, verbs[got - VERB_BASE]);
		} else {
			status = take_letter(c, got, argv[optind - 1]);
		}
	}
	return status == TRC_EXIT_OK ? -1 : status;
}

/* True if everything that is asked for can be done without a trace. */
static bool trace_is_needed(const struct command *c)
{
	for (size_t i = 0; i < c->n_requests; i++)
		if (!c->request[i].verb->without_trace)
			return true;
	return !c->n_requests;
}

/* NULL if it writes none. */
static const char *file_of(const struct trc_request *request)
{
	return request->verb->arg_is_file ? request->arg : request->out_path;
}

/* Two in one file would leave only the last, or on stdout neither. */
static int command_check_file(const struct command *c, size_t i)
{
	const char *path = file_of(&c->request[i]), *other;

	for (size_t before = 0; before < i && path; before++) {
		other = file_of(&c->request[before]);
		if (!other || strcmp(path, other) != 0)
			continue;
		trc_cli_error(&c->cli, "%s: both --%s and --%s would write it", path,
			      c->request[before].verb->name, c->request[i].verb->name);
		return TRC_EXIT_USAGE;
	}
	return TRC_EXIT_OK;
}

/* What is written would replace what is read: the trace would be gone. */
static int check_trace_stays(const struct command *c, const char *trace)
{
	struct stat read, written;

	for (size_t i = 0; i < c->n_requests && trace; i++) {
		const char *path = file_of(&c->request[i]);

		if (!path || stat(path, &written) || stat(trace, &read) ||
		    read.st_dev != written.st_dev || read.st_ino != written.st_ino)
			continue;
		trc_cli_error(&c->cli, "%s: --%s would replace the trace itself", path,
			      c->request[i].verb->name);
		return TRC_EXIT_USAGE;
	}
	return TRC_EXIT_OK;
}

/* Options of the page alone say nothing to anybody else. */
static int check_page(const struct command *c)
{
	for (size_t i = 0; i < c->n_requests; i++)
		if (c->request[i].verb == &trc_verb_html)
			return TRC_EXIT_OK;
	if (!c->cli.of_page)
		return TRC_EXIT_OK;
	trc_cli_error(&c->cli, "%s is for --html, which was not given", c->cli.of_page);
	return TRC_EXIT_USAGE;
}

/* What prints text would print it as ever, and a program would wonder. */
static int check_output(const struct command *c, const struct trc_verb *verb)
{
	bool of_report = verb == &trc_verb_report || verb == &trc_verb_summary;
	const char *prints = "text only";

	if (!verb->outputs || verb->outputs >> c->cli.output & 1)
		return TRC_EXIT_OK;
	if (verb->outputs & TRC_CLI_JSON)
		prints = verb == &trc_verb_json ? "json only" : "text or json";
	trc_cli_error(&c->cli, "--output %s: --%s prints %s%s", trc_output_name(c->cli.output),
		      verb->name, prints,
		      of_report ? "; --json prints what the report says as JSON" : "");
	return TRC_EXIT_USAGE;
}

static int check_requests(struct command *c, int argc, char **argv)
{
	if (argc == optind && trace_is_needed(c)) {
		trc_cli_error(&c->cli, "no trace was named; try 'trace-analyze --help'");
		return TRC_EXIT_USAGE;
	}
	for (size_t i = 0; i < c->n_requests && argc - optind > 1; i++) {
		if (c->request[i].verb->takes_many)
			continue;
		trc_cli_error(&c->cli, "--%s takes one trace at a time, not %d",
			      c->request[i].verb->name, argc - optind);
		return TRC_EXIT_USAGE;
	}
	for (size_t i = 0; i < c->n_requests; i++) {
		const struct trc_request *request = &c->request[i];

		if (c->cli.selects && !request->verb->selects) {
			trc_cli_error(&c->cli,
				      "%s is for the report, SQL, profiles and pages, not --%s",
				      c->cli.selects, request->verb->name);
			return TRC_EXIT_USAGE;
		}
		if (c->cli.full && !request->verb->tells_stacks) {
			trc_cli_error(&c->cli, "--full is for the report, not --%s",
				      request->verb->name);
			return TRC_EXIT_USAGE;
		}
		if (check_output(c, request->verb))
			return TRC_EXIT_USAGE;
		if (request->verb->check && request->verb->check(&c->cli, request))
			return TRC_EXIT_USAGE;
		if (command_check_file(c, i))
			return TRC_EXIT_USAGE;
	}
	if (argc - optind > 1 && !trc_selection_has_all_time(&c->cli.selection)) {
		trc_cli_error(&c->cli, "%s is of one trace at a time", c->cli.selects);
		return TRC_EXIT_USAGE;
	}
	if (!c->n_requests && check_output(c, &trc_verb_report))
		return TRC_EXIT_USAGE;
	if (check_page(c) || trc_select_check(&c->cli) || check_trace_stays(c, argv[optind]))
		return TRC_EXIT_USAGE;
	c->cli.paths = argv + optind;
	c->cli.n_paths = (size_t)(argc - optind);
	c->cli.path = c->cli.n_paths > 1 ? NULL : argv[optind];
	return TRC_EXIT_OK;
}

static int select_part(struct trc_cli *cli)
{
	struct trc_error error = {""};

	if (!cli->selects)
		return TRC_EXIT_OK;
	trc_model_select(cli->model, &cli->selection);
	if (!trc_selection_find(&cli->selection, cli->model, &error))
		return TRC_EXIT_OK;
	trc_cli_error(cli, "%s", error.text);
	return TRC_EXIT_FAILED;
}

int trc_cli_open(struct trc_cli *cli)
{
	struct trc_error error = {""};

	if (trc_open_model(&cli->model, &cli->ring, cli->path, &error)) {
		trc_cli_error(cli, "%s", error.text);
		return TRC_EXIT_FAILED;
	}
	trc_model_share_symbols(cli->model, &cli->symbols);
	trc_progress_watch(cli->model);
	if (trc_reader_warning(trc_model_reader(cli->model)))
		trc_cli_error(cli, "warning: %s", trc_reader_warning(trc_model_reader(cli->model)));
	return select_part(cli);
}

void trc_cli_close(struct trc_cli *cli)
{
	sqlite3_close(cli->db);
	trc_model_close(cli->model);
	trc_ring_trace_free(&cli->ring);
	cli->db = NULL;
	cli->model = NULL;
	cli->ring = (struct trc_ring_trace){0};
}

sqlite3 *trc_cli_sql(struct trc_cli *cli)
{
	struct trc_error error = {""};

	if (!cli->db && trc_sql_open(&cli->db, cli->model, &error))
		trc_cli_error(cli, "%s", error.text);
	return cli->db;
}

/* All of them, even if one fails. */
static int run_requests(struct command *c)
{
	int status = TRC_EXIT_OK;

	for (size_t i = 0; i < c->n_requests; i++) {
		int one = c->request[i].verb->run(&c->cli, &c->request[i]);

		c->cli.follows = true;
		status = one > status ? one : status;
		trc_progress_clear();
	}
	return status;
}

static bool colors_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

/* A failed write is a failure (cli:X2). */
static int close_stdout(const struct trc_cli *cli, int status)
{
	bool failed = ferror(stdout);

	if (fclose(stdout) || failed) {
		trc_cli_error(cli, "writing the answer: %s", strerror(errno));
		return status > TRC_EXIT_FAILED ? status : TRC_EXIT_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	static struct command c;
	int status;

	c.cli.color = colors_wanted();
	collect_options(&c);
	status = command_parse(&c, argc, argv);
	if (status >= 0)
		return close_stdout(&c.cli, status);
	status = check_requests(&c, argc, argv);
	if (status == TRC_EXIT_OK && !c.n_requests)
		c.request[c.n_requests++] = (struct trc_request){.verb = &trc_verb_report};
	trc_memory_bound(c.cli.memory_bytes);
	if (status == TRC_EXIT_OK && c.cli.path)
		status = trc_cli_open(&c.cli);
	if (status == TRC_EXIT_OK)
		status = run_requests(&c);
	trc_cli_close(&c.cli);
	trc_symbols_close(c.cli.symbols);
	trc_selection_free(&c.cli.selection);
	return close_stdout(&c.cli, status);
}
