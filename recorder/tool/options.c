/* options.c - what trace-record is asked for, and whether that can be. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"
#include "recorder/sampling/heap.h"
#include "recorder/shared/layout.h"
#include "recorder/shared/one_line.h"
#include "tool.h"

static const char usage[] =
	"usage: trace-record [OPTION...] [--] COMMAND [ARG...]\n"
	"       trace-record --flight [OPTION...] [--] COMMAND [ARG...]\n"
	"       trace-record --snapshot PID [-o FILE] [--window TIME] [--all]\n"
	"       trace-record --recover PID|RING [-o FILE] [--window TIME] [--all]\n"
	"       trace-record --list | --clean\n"
	"Run COMMAND and record what its threads wait for.\n"
	"\n"
	"  -o, --output FILE        write the trace to FILE (default dump.trc)\n"
	"      --ring-size SIZE     memory for events, per processor: 512K, 4M (default 4M)\n"
	"      --locks WHICH        contended (default), all or none\n"
	"      --on-full WHAT       when a ring is full: wait (default) or drop\n"
	"      --unwind HOW         auto (default), fp, libunwind or none\n"
	"      --sched, --no-sched  whether to record when threads are put on a processor and\n"
	"                           taken off it (default: yes, but not with --flight)\n"
	"  -e, --event LIST         sample: auto, cpu-clock, cycles:1000000, page-faults, ...\n"
	"  -F, --frequency HZ       sample the CPU time of each thread, so often a second\n"
	"      --sample-by WHO      signal, kernel or auto (default: as is best for the event)\n"
	"      --heap[=SIZE]        sample allocations: one in SIZE bytes, on average (default "
	"512K)\n"
	"      --http ADDRESS       serve profiles of it meanwhile, as pprof reads them: 6060,\n"
	"                           127.0.0.1:6060\n"
	"      --follow             record descendants as well, each into FILE with its PID:\n"
	"                           dump.PID.trc\n"
	"  -q, --quiet              no summary at the end\n"
	"\n"
	"      --flight             keep the latest in memory, and write it out as snapshots:\n"
	"                           dump.1.trc, dump.2.trc, ...\n"
	"      --window TIME        what a snapshot holds: 500ms, 30s (default 10s)\n"
	"      --max-size SIZE      memory for all of it (default 64M)\n"
	"      --snapshot-on COND   when: park>TIME, park:REASON,...>TIME, region:NAME>TIME,\n"
	"                           task:NAME>TIME, signal=NAME, exit; several times if you\n"
	"                           like; when it crashes in any case\n"
	"      --snapshot-max N     no more than N of them (default 10), but for exit and crash\n"
	"      --snapshot-every T   at least this long after the one before (default 10s)\n"
	"      --snapshot-after T   so long after the odd moment (default 0s)\n"
	"\n"
	"      --snapshot PID       of a process that is being recorded: write what is held of it\n"
	"      --recover PID|RING   the same of a process that is gone and left its ring behind\n"
	"      --all                also what is held from before the window\n"
	"      --list               show what is being recorded\n"
	"      --clean              remove what dead processes have left behind\n"
	"\n"
	"  -h, --help               print this and exit\n"
	"      --version            print the version and exit\n"
	"\n"
	"The exit status is COMMAND's, also when the recording went wrong while it ran (a line on\n"
	"standard error says so); 125 if trace-record fails before it starts, 126 if it cannot be\n"
	"run or recorded, 127 if it is not found.  Without a COMMAND it is 0, or 1 for failure.\n";

enum {
	OPT_RING_SIZE = 256,
	OPT_LOCKS,
	OPT_ON_FULL,
	OPT_UNWIND,
	OPT_SAMPLE_BY,
	OPT_HEAP,
	OPT_HTTP,
	OPT_FOLLOW,
	OPT_SCHED,
	OPT_NO_SCHED,
	OPT_FLIGHT,
	OPT_WINDOW,
	OPT_MAX_SIZE,
	OPT_ON,
	OPT_MAX,
	OPT_EVERY,
	OPT_AFTER,
	OPT_SNAPSHOT,
	OPT_RECOVER,
	OPT_ALL,
	OPT_LIST,
	OPT_CLEAN,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"ring-size", required_argument, NULL, OPT_RING_SIZE},
	{"locks", required_argument, NULL, OPT_LOCKS},
	{"on-full", required_argument, NULL, OPT_ON_FULL},
	{"unwind", required_argument, NULL, OPT_UNWIND},
	{"event", required_argument, NULL, 'e'},
	{"frequency", required_argument, NULL, 'F'},
	{"sample-by", required_argument, NULL, OPT_SAMPLE_BY},
	{"heap", optional_argument, NULL, OPT_HEAP},
	{"http", required_argument, NULL, OPT_HTTP},
	{"follow", no_argument, NULL, OPT_FOLLOW},
	{"sched", no_argument, NULL, OPT_SCHED},
	{"no-sched", no_argument, NULL, OPT_NO_SCHED},
	{"flight", no_argument, NULL, OPT_FLIGHT},
	{"window", required_argument, NULL, OPT_WINDOW},
	{"max-size", required_argument, NULL, OPT_MAX_SIZE},
	{"snapshot-on", required_argument, NULL, OPT_ON},
	{"snapshot-max", required_argument, NULL, OPT_MAX},
	{"snapshot-every", required_argument, NULL, OPT_EVERY},
	{"snapshot-after", required_argument, NULL, OPT_AFTER},
	{"snapshot", required_argument, NULL, OPT_SNAPSHOT},
	{"recover", required_argument, NULL, OPT_RECOVER},
	{"all", no_argument, NULL, OPT_ALL},
	{"list", no_argument, NULL, OPT_LIST},
	{"clean", no_argument, NULL, OPT_CLEAN},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

__attribute__((format(printf, 1, 2))) _Noreturn static void refuse(const char *format, ...)
{
	char text[768];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	trc_one_line(text);
	trc_tool_say("%s", text);
	exit(TRC_EXIT_TROUBLE);
}

/* ---- values ---------------------------------------------------------------------------- */

/* True if `text` is one of the words, which are separated by spaces. */
static bool is_word(const char *text, const char *words)
{
	size_t n = strlen(text);

	for (const char *at = words; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (n && strcspn(at, " ") == n && !strncmp(at, text, n))
			return true;
	}
	return false;
}

static void check_word(const char *option, const char *text, const char *words)
{
	if (text && !is_word(text, words))
		refuse("--%s %s: not one of: %s", option, text, words);
}

/* 512K, 4M; 0 = not a size. */
static uint64_t parse_size(const char *text)
{
	unsigned int shift = 0;
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end && strchr("Kk", *end))
		shift = 10;
	else if (*end && strchr("Mm", *end))
		shift = 20;
	else if (*end && strchr("Gg", *end))
		shift = 30;
	end += shift != 0;
	if (*text < '0' || *text > '9' || *end || errno || n > UINT64_MAX >> 30)
		return 0;
	return n << shift;
}

static void check_ring_size(const char *text)
{
	struct trc_layout_options layout = {.n_procs = 1};
	struct trc_shared plan = {0};

	if (!text)
		return;
	layout.ring_bytes = parse_size(text);
	if (layout.ring_bytes < TRC_PAGE_WORDS_MIN * 8 || trc_layout_plan(&plan, &layout))
		refuse("--ring-size %s: not a size between 8K and 16G", text);
}

static uint64_t heap_bytes(const char *text)
{
	uint64_t n = text ? parse_size(text) : 0;

	if (text && (!n || n > TRC_HEAP_PERIOD_MAX))
		refuse("--heap=%s: not a size between 1 and 1024G", text);
	return n;
}

/* The least power of two that is a --max-size for so many processors. */
static uint64_t least_max_bytes(struct trc_layout_options layout)
{
	struct trc_shared plan = {0};

	layout.max_bytes = 64 << 10;
	while (trc_layout_plan(&plan, &layout) && layout.max_bytes < UINT64_MAX / 2)
		layout.max_bytes <<= 1;
	return layout.max_bytes;
}

static void check_max_size(struct trc_tool_options *o)
{
	struct trc_layout_options layout = {0};
	struct trc_shared plan = {0};
	long n = sysconf(_SC_NPROCESSORS_CONF);

	layout.n_procs = n < 1 ? 1 : n > TRC_PROCS_MAX ? TRC_PROCS_MAX : (uint32_t)n;
	layout.max_bytes = o->max_bytes = parse_size(o->max_size ? o->max_size : "64M");
	if (!layout.max_bytes)
		refuse("--max-size %s: not a size such as 64M", o->max_size);
	if (!trc_layout_plan(&plan, &layout))
		return;
	if (layout.max_bytes > least_max_bytes(layout))
		refuse("--max-size %s: too much", o->max_size);
	refuse("--max-size %s: not enough for %u processors: %" PRIu64 "K is",
	       o->max_size ? o->max_size : "64M", layout.n_procs, least_max_bytes(layout) >> 10);
}

static uint64_t duration(const char *option, const char *text, uint64_t otherwise_ns)
{
	uint64_t ns = otherwise_ns;

	if (text && trc_duration_parse(text, &ns))
		refuse("--%s %s: not a time such as 500ms or 10s", option, text);
	return ns;
}

static uint64_t count(const char *option, const char *text, uint64_t otherwise)
{
	unsigned long long n;
	char *end;

	if (!text)
		return otherwise;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end)
		refuse("--%s %s: not a number", option, text);
	if (errno)
		refuse("--%s %s: too large", option, text);
	return n;
}

static void add_condition(struct trc_tool_options *o, const char *text)
{
	char error[256];

	if (o->n_specs == TRC_TRIGGER_SPECS_MAX) /* crash is one in any case */
		refuse("--snapshot-on: more than %d conditions", TRC_TRIGGER_SPECS_MAX - 1);
	if (trc_trigger_parse(&o->spec[o->n_specs], text, error, sizeof(error)))
		refuse("--snapshot-on: %s", error);
	o->n_specs++;
}

static void add_events(struct trc_tool_options *o, const char *list)
{
	if (!*list)
		refuse("-e: an event is needed, such as auto or cycles:1000000");
	if (trc_sampling_add(&o->sampling, list))
		refuse("-e: more than %zu bytes of events", sizeof(o->sampling.events) - 1);
}

static void check_sampling(struct trc_sampling *s)
{
	char error[640];

	s->frequency_hz = count("frequency", s->frequency, 0);
	if (s->frequency && !s->frequency_hz)
		refuse("--frequency %s: not a frequency", s->frequency);
	if (s->sample_by && !trc_sample_by_parse(s->sample_by, &s->by))
		refuse("--sample-by %s: not one of: auto signal kernel", s->sample_by);
	if (trc_sampling_settle(s, error, sizeof(error)))
		refuse("%s", error);
	if (s->sample_by && !s->n_events)
		refuse("--sample-by needs -e or -F");
}

/* ---- what goes with what --------------------------------------------------------------- */

static void check_flight(struct trc_tool_options *o)
{
	bool crash = false;

	if (o->ring_size)
		refuse("--ring-size does not go with --flight: there, --max-size is for all");
	if (o->on_full)
		refuse("--on-full does not go with --flight: there, the oldest is overwritten");
	check_max_size(o);
	for (unsigned int i = 0; i < o->n_specs; i++)
		crash |= o->spec[i].kind == TRC_TRIGGER_CRASH;
	if (!crash)
		add_condition(o, "crash");
	o->limits.max = count("snapshot-max", o->snapshot_max, TRC_TRIGGER_MAX_DEFAULT);
	o->limits.every_ns =
		duration("snapshot-every", o->snapshot_every, TRC_TRIGGER_EVERY_NS_DEFAULT);
	o->limits.after_ns = duration("snapshot-after", o->snapshot_after, 0);
}

/* Options that mean nothing without another. */
static void check_lonely(const struct trc_tool_options *o)
{
	bool takes = o->verb == TRC_VERB_SNAPSHOT || o->verb == TRC_VERB_RECOVER;
	const struct {
		const char *option;
		bool given, fits;
		const char *needs;
	} rows[] = {
		{"--window", o->window, o->flight || takes, "--flight, --snapshot or --recover"},
		{"--all", o->all, takes, "--snapshot or --recover"},
		{"--max-size", o->max_size, o->flight, "--flight"},
		{"--snapshot-on", o->n_specs, o->flight, "--flight"},
		{"--snapshot-max", o->snapshot_max, o->flight, "--flight"},
		{"--snapshot-every", o->snapshot_every, o->flight, "--flight"},
		{"--snapshot-after", o->snapshot_after, o->flight, "--flight"},
		{"-e", *o->sampling.events, o->verb == TRC_VERB_RECORD, "a command"},
		{"-F", o->sampling.frequency, o->verb == TRC_VERB_RECORD, "a command"},
		{"--sample-by", o->sampling.sample_by, o->verb == TRC_VERB_RECORD, "a command"},
		{"--heap", o->heap, o->verb == TRC_VERB_RECORD, "a command"},
		{"--http", o->http, o->verb == TRC_VERB_RECORD, "a command"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].given && !rows[i].fits)
			refuse("%s needs %s", rows[i].option, rows[i].needs);
}

static void check_options(struct trc_tool_options *o)
{
	if (o->verb != TRC_VERB_RECORD && o->flight)
		refuse("--flight runs a command: it does not go with --snapshot, --recover, --list "
		       "or --clean");
	check_lonely(o);
	check_ring_size(o->ring_size);
	o->heap_bytes = heap_bytes(o->heap);
	check_word("locks", o->locks, "contended all none");
	check_word("on-full", o->on_full, "wait drop");
	check_word("unwind", o->unwind, "auto fp libunwind none");
	o->window_ns = duration("window", o->window, 0);
	if (o->window && !o->window_ns)
		refuse("--window %s: a window has some length", o->window);
	if (o->flight)
		check_flight(o);
	check_sampling(&o->sampling);
	if (!*o->output)
		refuse("-o: a file name is needed");
	if (o->verb == TRC_VERB_RECORD && !o->command[0])
		refuse("no command to record; trace-record -h tells how");
	if (o->verb != TRC_VERB_RECORD && o->command[0])
		refuse("%s: no command is run with --snapshot, --recover, --list or --clean",
		       o->command[0]);
}

/* ---- parsing --------------------------------------------------------------------------- */

static void set_verb(struct trc_tool_options *o, enum trc_tool_verb verb, const char *target)
{
	if (o->verb != TRC_VERB_RECORD)
		refuse("one of --snapshot, --recover, --list, --clean at a time");
	o->verb = verb;
	o->target = target;
}

/* Where the value of an option goes as it is; NULL = another one. */
static const char **text_of(struct trc_tool_options *o, int c)
{
	switch (c) {
	case 'o':
		return &o->output;
	case OPT_RING_SIZE:
		return &o->ring_size;
	case OPT_LOCKS:
		return &o->locks;
	case OPT_ON_FULL:
		return &o->on_full;
	case OPT_UNWIND:
		return &o->unwind;
	case 'F':
		return &o->sampling.frequency;
	case OPT_SAMPLE_BY:
		return &o->sampling.sample_by;
	case OPT_HTTP:
		return &o->http;
	case OPT_WINDOW:
		return &o->window;
	case OPT_MAX_SIZE:
		return &o->max_size;
	case OPT_MAX:
		return &o->snapshot_max;
	case OPT_EVERY:
		return &o->snapshot_every;
	case OPT_AFTER:
		return &o->snapshot_after;
	default:
		return NULL;
	}
}

/* False if it is neither of them. */
static bool set_verb_option(struct trc_tool_options *o, int c)
{
	switch (c) {
	case OPT_SNAPSHOT:
		set_verb(o, TRC_VERB_SNAPSHOT, optarg);
		return true;
	case OPT_RECOVER:
		set_verb(o, TRC_VERB_RECOVER, optarg);
		return true;
	case OPT_LIST:
		set_verb(o, TRC_VERB_LIST, NULL);
		return true;
	case OPT_CLEAN:
		set_verb(o, TRC_VERB_CLEAN, NULL);
		return true;
	default:
		return false;
	}
}

static void set_option(struct trc_tool_options *o, int c, const char *word)
{
	switch (c) {
	case OPT_FOLLOW:
		o->follow = true;
		break;
	case OPT_SCHED:
		o->sched = true;
		o->no_sched = false;
		break;
	case OPT_NO_SCHED:
		o->sched = false;
		o->no_sched = true;
		break;
	case OPT_FLIGHT:
		o->flight = true;
		break;
	case OPT_HEAP:
		o->heap = optarg ? optarg : "512K";
		break;
	case OPT_ALL:
		o->all = true;
		break;
	case OPT_ON:
		add_condition(o, optarg);
		break;
	case 'e':
		add_events(o, optarg);
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'h':
		exit(fputs(usage, stdout) < 0 || fflush(stdout) ? TRC_EXIT_TROUBLE : 0);
	case OPT_VERSION:
		exit(puts("trace-record (trc) " PACKAGE_VERSION) < 0 || fflush(stdout)
			     ? TRC_EXIT_TROUBLE
			     : 0);
	default:
		refuse("%s: %s; trace-record -h tells how", word,
		       c == ':' ? "a value is missing" : "no such option");
	}
}

void trc_tool_options_parse(struct trc_tool_options *o, int argc, char **argv)
{
	int c;

	opterr = 0; /* getopt's messages name the program by its path */
	while ((c = getopt_long(argc, argv, "+:o:e:F:qh", long_options, NULL)) != -1) {
		const char **text = text_of(o, c);

		if (text)
			*text = optarg;
		else if (!set_verb_option(o, c))
			set_option(o, c, argv[optind - 1]);
	}
	o->command = argv + optind;
	check_options(o);
}

void trc_tool_options_text(const struct trc_tool_options *o, char *text, size_t n_bytes)
{
	size_t n = 0;
	const struct {
		const char *name, *value;
	} given[] = {{"--flight", o->flight ? "" : NULL},
		     {"--ring-size ", o->ring_size},
		     {"--max-size ", o->max_size},
		     {"--window ", o->window},
		     {"--locks ", o->locks},
		     {"--on-full ", o->on_full},
		     {"--unwind ", o->unwind},
		     {"-e ", *o->sampling.events ? o->sampling.events : NULL},
		     {"-F ", o->sampling.frequency},
		     {"--sample-by ", o->sampling.sample_by},
		     {"--heap=", o->heap},
		     {"--http ", o->http},
		     {"--snapshot-max ", o->snapshot_max},
		     {"--snapshot-every ", o->snapshot_every},
		     {"--snapshot-after ", o->snapshot_after},
		     {"--sched", o->sched ? "" : NULL},
		     {"--no-sched", o->no_sched ? "" : NULL},
		     {"--follow", o->follow ? "" : NULL}};

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(given) / sizeof(*given) && n < n_bytes; i++)
		if (given[i].value)
			n += (size_t)snprintf(text + n, n_bytes - n, "%s%s%s", n ? " " : "",
					      given[i].name, given[i].value);
	for (unsigned int i = 0; i < o->n_specs && n < n_bytes; i++)
		n += (size_t)snprintf(text + n, n_bytes - n, "%s--snapshot-on '%s'", n ? " " : "",
				      o->spec[i].text);
}
