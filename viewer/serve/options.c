/* options.c - see options.h. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/open/memory.h"
#include "config.h"
#include "format/utf8.h"

void trc_view_say(const char *format, ...)
{
	enum { LINE_BYTES = 8192 };
	char text[LINE_BYTES], shown[LINE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names of the trace's and of files may be anything. */
	trc_utf8_escape(shown, sizeof(shown), text, strlen(text));
	fprintf(stderr, "trace-view: %s\n", shown);
}

static bool view_number_parse(const char *text, unsigned long most, unsigned long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return !*end && !errno && *number <= most;
}

static int take_port(struct trc_view_options *o, const char *text)
{
	unsigned long n;

	if (!view_number_parse(text, UINT16_MAX, &n)) {
		trc_view_say("--port is a number up to 65535, not %s", text);
		return TRC_VIEW_USAGE;
	}
	o->port = (uint16_t)n;
	return TRC_VIEW_OK;
}

static int take_events(struct trc_view_options *o, const char *text)
{
	unsigned long n;

	if (!view_number_parse(text, ULONG_MAX, &n) || !n) {
		trc_view_say("--events is a number from 1, not %s", text);
		return TRC_VIEW_USAGE;
	}
	o->n_events = n;
	return TRC_VIEW_OK;
}

static int memory_take(struct trc_view_options *o, const char *text)
{
	o->memory_bytes = trc_memory_parse(text);
	if (o->memory_bytes)
		return TRC_VIEW_OK;
	trc_view_say("--memory is a size such as 512M or 4G, not %s", text);
	return TRC_VIEW_USAGE;
}

/* An option: what --help prints of it, and what takes it.  One with `take` has a value. */
struct option_row {
	const char *name;
	const char *value; /* as --help names it; NULL = it has none */
	const char *help;  /* a line, or several */
	int (*take)(struct trc_view_options *o, const char *text);
	size_t flag_off; /* without `take`: the bool that it sets */
};

#define FLAG(field) .flag_off = offsetof(struct trc_view_options, field)

static const struct option_row rows[] = {
	{"port", "N", "listen on this port (default: one that is free)", .take = take_port},
	{"no-browser", NULL, "print the address, open no browser", FLAG(no_browser)},
	{"keep", NULL, "go on when the last page is closed", FLAG(keep)},
	{"without-sql", NULL, "no SQL box in the page: 0.5 MB and more less", FLAG(without_sql)},
	{"source", NULL, "put lines of source code into the page", FLAG(source)},
	{"events", "N",
	 "of a trace with more than twice as many, show the whole with short intervals\n"
	 "merged, and parts of about N events (default: 100000, if there are more\n"
	 "than 4000000)",
	 .take = take_events},
	{"without-cache", NULL,
	 "make that page of the whole anew, and do not keep it in ~/.cache/trc",
	 FLAG(without_cache)},
	{"memory", "SIZE", "take no more memory than that, K, M or G (default: what is fair)",
	 .take = memory_take},
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows), ROW = 0x100, GOT_VERSION = ROW + N_ROWS };

static const char usage[] =
	"usage: trace-view [OPTION...] TRACE|PID\n\n"
	"Shows a trace in a browser, or follows a process that is being recorded: serves the page of\n"
	"'trace-analyze --html' on this machine, to whoever has the address that it prints, until the\n"
	"last page is closed.\n\n";

/* As getopt_long() wants them; a row's number is ROW and its place. */
static void known_fill(struct option known[N_ROWS + 3])
{
	for (int i = 0; i < N_ROWS; i++)
		known[i] = (struct option){rows[i].name,
					   rows[i].value ? required_argument : no_argument, NULL,
					   ROW + i};
	known[N_ROWS] = (struct option){"help", no_argument, NULL, 'h'};
	known[N_ROWS + 1] = (struct option){"version", no_argument, NULL, GOT_VERSION};
	known[N_ROWS + 2] = (struct option){0};
}

static void help_line(const char *option, const char *text)
{
	size_t n;

	printf("  %-16s ", option);
	for (n = strcspn(text, "\n"); text[n]; text += n + 1, n = strcspn(text, "\n"))
		printf("%.*s\n%19s", (int)n, text, "");
	printf("%s\n", text);
}

static void help(void)
{
	char option[32];

	fputs(usage, stdout);
	for (int i = 0; i < N_ROWS; i++) {
		snprintf(option, sizeof(option), "--%s%s%s", rows[i].name, rows[i].value ? " " : "",
			 rows[i].value ? rows[i].value : "");
		help_line(option, rows[i].help);
	}
	help_line("-h, --help", "print this");
	help_line("--version", "print the version");
}

static int view_options_refuse(int got, int option, const char *word)
{
	const char letter[] = {'-', (char)option, '\0'};

	trc_view_say("%s: %s; try 'trace-view --help'",
		     option > 0 && option < 0x100 ? letter : word,
		     got == ':'	  ? "a value is missing"
		     : option > 0 ? "it takes no value, or is not known"
				  : "no such option");
	return TRC_VIEW_USAGE;
}

static int view_option_take(struct trc_view_options *o, int got, const char *word)
{
	const struct option_row *row = &rows[got >= ROW ? got - ROW : 0];

	if (got < ROW || got >= ROW + N_ROWS)
		return view_options_refuse(got, optopt, word);
	if (row->take)
		return row->take(o, optarg);
	*(bool *)((char *)o + row->flag_off) = true;
	return TRC_VIEW_OK;
}

static int take_target(struct trc_view_options *o, int n, char **words)
{
	unsigned long pid;

	if (n != 1) {
		trc_view_say(n ? "one trace or process at a time, not %d; try 'trace-view --help'"
			       : "no trace and no process was named; try 'trace-view --help'",
			     n);
		return TRC_VIEW_USAGE;
	}
	o->target = words[0];
	/* A file of such a name is ./1234. */
	if (view_number_parse(o->target, INT32_MAX, &pid))
		o->pid = (uint32_t)pid;
	return TRC_VIEW_OK;
}

int trc_view_options_parse(struct trc_view_options *o, int argc, char **argv)
{
	struct option known[N_ROWS + 3];
	int got, status = TRC_VIEW_OK;

	known_fill(known);
	*o = (struct trc_view_options){0};
	opterr = 0;
	while (!status && (got = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		if (got == 'h' || got == GOT_VERSION) {
			if (got == 'h')
				help();
			else
				puts("trace-view (trc) " PACKAGE_VERSION);
			return fclose(stdout) ? TRC_VIEW_FAILED : TRC_VIEW_OK;
		}
		status = view_option_take(o, got, argv[optind - 1]);
	}
	if (!status)
		status = take_target(o, argc - optind, argv + optind);
	return status ? status : -1;
}
