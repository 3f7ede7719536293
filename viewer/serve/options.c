/* options.c - see options.h. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/open/memory.h"
#include "config.h"
#include "format/utf8.h"

enum {
	OPT_VERSION = 0x100,
	OPT_PORT,
	OPT_NO_BROWSER,
	OPT_KEEP,
	OPT_WITHOUT_SQL,
	OPT_SOURCE,
	OPT_EVENTS,
	OPT_MEMORY
};

static const struct option known[] = {
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{"port", required_argument, NULL, OPT_PORT},
	{"no-browser", no_argument, NULL, OPT_NO_BROWSER},
	{"keep", no_argument, NULL, OPT_KEEP},
	{"without-sql", no_argument, NULL, OPT_WITHOUT_SQL},
	{"source", no_argument, NULL, OPT_SOURCE},
	{"events", required_argument, NULL, OPT_EVENTS},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{0},
};

static const char help[] =
	"usage: trace-view [OPTION...] TRACE|PID\n\n"
	"Shows a trace in a browser, or follows a process that is being recorded: serves the page of\n"
	"'trace-analyze --html' on this machine, to whoever has the address that it prints, until the\n"
	"last page is closed.\n\n"
	"  --port N         listen on this port (default: one that is free)\n"
	"  --no-browser     print the address, open no browser\n"
	"  --keep           go on when the last page is closed\n"
	"  --without-sql    no SQL box in the page: 0.5 MB and more less\n"
	"  --source         put lines of source code into the page\n"
	"  --events N       of a trace with more than twice as many, show about N events at first\n"
	"                   (default: 100000, if there are more than 4000000)\n"
	"  --memory SIZE    take no more memory than that, K, M or G (default: what is fair)\n"
	"  -h, --help       print this\n"
	"  --version        print the version\n";

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

static bool parse_number(const char *text, unsigned long most, unsigned long *number)
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

	if (!parse_number(text, UINT16_MAX, &n)) {
		trc_view_say("--port is a number up to 65535, not %s", text);
		return TRC_VIEW_USAGE;
	}
	o->port = (uint16_t)n;
	return TRC_VIEW_OK;
}

static int take_events(struct trc_view_options *o, const char *text)
{
	unsigned long n;

	if (!parse_number(text, ULONG_MAX, &n) || !n) {
		trc_view_say("--events is a number from 1, not %s", text);
		return TRC_VIEW_USAGE;
	}
	o->n_events = n;
	return TRC_VIEW_OK;
}

static int take_memory(struct trc_view_options *o, const char *text)
{
	o->memory_bytes = trc_memory_parse(text);
	if (o->memory_bytes)
		return TRC_VIEW_OK;
	trc_view_say("--memory is a size such as 512M or 4G, not %s", text);
	return TRC_VIEW_USAGE;
}

static int refuse(int got, int option, const char *word)
{
	const char letter[] = {'-', (char)option, '\0'};

	trc_view_say("%s: %s; try 'trace-view --help'",
		     option > 0 && option < 0x100 ? letter : word,
		     got == ':'	  ? "a value is missing"
		     : option > 0 ? "it takes no value, or is not known"
				  : "no such option");
	return TRC_VIEW_USAGE;
}

static int take_option(struct trc_view_options *o, int got, const char *word)
{
	switch (got) {
	case OPT_PORT:
		return take_port(o, optarg);
	case OPT_EVENTS:
		return take_events(o, optarg);
	case OPT_MEMORY:
		return take_memory(o, optarg);
	case OPT_NO_BROWSER:
		o->no_browser = true;
		return TRC_VIEW_OK;
	case OPT_KEEP:
		o->keep = true;
		return TRC_VIEW_OK;
	case OPT_SOURCE:
		o->source = true;
		return TRC_VIEW_OK;
	case OPT_WITHOUT_SQL:
		o->without_sql = true;
		return TRC_VIEW_OK;
	default:
		return refuse(got, optopt, word);
	}
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
	if (parse_number(o->target, INT32_MAX, &pid))
		o->pid = (uint32_t)pid;
	return TRC_VIEW_OK;
}

int trc_view_options_parse(struct trc_view_options *o, int argc, char **argv)
{
	int got, status = TRC_VIEW_OK;

	*o = (struct trc_view_options){0};
	opterr = 0;
	while (!status && (got = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		if (got == 'h' || got == OPT_VERSION) {
			fputs(got == 'h' ? help : "trace-view (trc) " PACKAGE_VERSION "\n", stdout);
			return fclose(stdout) ? TRC_VIEW_FAILED : TRC_VIEW_OK;
		}
		status = take_option(o, got, argv[optind - 1]);
	}
	if (!status)
		status = take_target(o, argc - optind, argv + optind);
	return status ? status : -1;
}
