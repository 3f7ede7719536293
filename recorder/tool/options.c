/* options.c - the options of trace-record, and whether they can be met. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
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
	"       trace-record --list | --clean | --self-test\n"
	"Run COMMAND and record what its threads wait for.\n";

static const char exit_statuses[] =
	"\n"
	"The exit status is COMMAND's, also when the recording went wrong while it ran (a line on\n"
	"standard error says so); 125 if trace-record fails before it starts, 126 if it cannot be\n"
	"run or recorded, 127 if it is not found.  Without a COMMAND it is 0, or 1 for failure.\n";

__attribute__((format(printf, 1, 2))) _Noreturn static void options_refuse(const char *format, ...)
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
static bool is_word_of(const char *text, const char *words)
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
	if (text && !is_word_of(text, words))
		options_refuse("--%s %s: not one of: %s", option, text, words);
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
		options_refuse("--ring-size %s: not a size between 8K and 16G", text);
}

static uint64_t heap_bytes(const char *text)
{
	uint64_t n = text ? parse_size(text) : 0;

	if (text && (!n || n > TRC_HEAP_PERIOD_MAX))
		options_refuse("--heap=%s: not a size between 1 and 1024G", text);
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
		options_refuse("--max-size %s: not a size such as 64M", o->max_size);
	if (!trc_layout_plan(&plan, &layout))
		return;
	if (layout.max_bytes > least_max_bytes(layout))
		options_refuse("--max-size %s: too much", o->max_size);
	options_refuse("--max-size %s: not enough for %u processors: %" PRIu64 "K is",
		       o->max_size ? o->max_size : "64M", layout.n_procs,
		       least_max_bytes(layout) >> 10);
}

static uint64_t duration_parse(const char *option, const char *text, uint64_t otherwise_ns)
{
	uint64_t ns = otherwise_ns;

	if (text && trc_duration_parse(text, &ns))
		options_refuse("--%s %s: not a time such as 500ms or 10s", option, text);
	return ns;
}

static uint64_t count_parse(const char *option, const char *text, uint64_t otherwise)
{
	unsigned long long n;
	char *end;

	if (!text)
		return otherwise;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end)
		options_refuse("--%s %s: not a number", option, text);
	if (errno)
		options_refuse("--%s %s: too large", option, text);
	return n;
}

static void add_condition(struct trc_tool_options *o, const char *text)
{
	char error[256];

	if (o->n_specs == TRC_TRIGGER_SPECS_MAX) /* crash is one in any case */
		options_refuse("--snapshot-on: more than %d conditions", TRC_TRIGGER_SPECS_MAX - 1);
	if (trc_trigger_parse(&o->spec[o->n_specs], text, error, sizeof(error)))
		options_refuse("--snapshot-on: %s", error);
	o->n_specs++;
}

static void add_events(struct trc_tool_options *o, const char *list)
{
	if (!*list)
		options_refuse("-e: an event is needed, such as auto or cycles:1000000");
	if (trc_sampling_add(&o->sampling, list))
		options_refuse("-e: more than %zu bytes of events", sizeof(o->sampling.events) - 1);
}

static void check_sampling(struct trc_sampling *s)
{
	char error[640];

	s->frequency_hz = count_parse("frequency", s->frequency, 0);
	if (s->frequency && !s->frequency_hz)
		options_refuse("--frequency %s: not a frequency", s->frequency);
	if (s->sample_by && !trc_sample_by_parse(s->sample_by, &s->by))
		options_refuse("--sample-by %s: not one of: auto signal kernel", s->sample_by);
	if (trc_sampling_settle(s, error, sizeof(error)))
		options_refuse("%s", error);
	if (s->sample_by && !s->n_events)
		options_refuse("--sample-by needs -e or -F");
}

/* ---- what goes with what --------------------------------------------------------------- */

static void check_flight(struct trc_tool_options *o)
{
	bool crash = false;

	if (o->ring_size)
		options_refuse(
			"--ring-size does not go with --flight: there, --max-size is for all");
	if (o->on_full)
		options_refuse(
			"--on-full does not go with --flight: there, the oldest is overwritten");
	check_max_size(o);
	for (unsigned int i = 0; i < o->n_specs; i++)
		crash |= o->spec[i].kind == TRC_TRIGGER_CRASH;
	if (!crash)
		add_condition(o, "crash");
	o->limits.max = count_parse("snapshot-max", o->snapshot_max, TRC_TRIGGER_MAX_DEFAULT);
	o->limits.every_ns =
		duration_parse("snapshot-every", o->snapshot_every, TRC_TRIGGER_EVERY_NS_DEFAULT);
	o->limits.after_ns = duration_parse("snapshot-after", o->snapshot_after, 0);
}

/* ---- the options ----------------------------------------------------------------------- */

/* What an option means nothing without. */
enum need { NEEDS_NOTHING, NEEDS_COMMAND, NEEDS_FLIGHT, NEEDS_SNAPSHOT, NEEDS_WINDOW };

/* Its value goes where `text` is, or to `set`, or what is at `flag` becomes true. */
struct row {
	const char *name;
	char letter;	   /* '\0' = none */
	const char *value; /* as the usage has it; in brackets: it may be missing */
	const char *doc;   /* lines of it */
	size_t text, flag; /* offsets in struct trc_tool_options; 0 = none */
	void (*set)(struct trc_tool_options *o, const char *value);
	enum need needs;
	bool ends_group;
};

#define AT(field) offsetof(struct trc_tool_options, field)

static void set_verb(struct trc_tool_options *o, enum trc_tool_verb verb, const char *target)
{
	if (o->verb != TRC_VERB_RECORD)
		options_refuse(
			"one of --snapshot, --recover, --list, --clean, --self-test at a time");
	o->verb = verb;
	o->target = target;
}

static void set_snapshot(struct trc_tool_options *o, const char *pid)
{
	set_verb(o, TRC_VERB_SNAPSHOT, pid);
}

static void set_recover(struct trc_tool_options *o, const char *target)
{
	set_verb(o, TRC_VERB_RECOVER, target);
}

static void set_list(struct trc_tool_options *o, const char *none)
{
	set_verb(o, TRC_VERB_LIST, none);
}

static void set_clean(struct trc_tool_options *o, const char *none)
{
	set_verb(o, TRC_VERB_CLEAN, none);
}

static void set_self_test(struct trc_tool_options *o, const char *none)
{
	set_verb(o, TRC_VERB_SELF_TEST, none);
}

/* Of the two the last one counts. */
static void set_sched(struct trc_tool_options *o, const char *none)
{
	(void)none;
	o->sched = true;
	o->no_sched = false;
}

static void set_no_sched(struct trc_tool_options *o, const char *none)
{
	(void)none;
	o->sched = false;
	o->no_sched = true;
}

static void set_heap(struct trc_tool_options *o, const char *bytes)
{
	o->heap = bytes ? bytes : "512K";
}

static void print_usage(struct trc_tool_options *o, const char *none);

static void print_version(struct trc_tool_options *o, const char *none)
{
	(void)o;
	(void)none;
	exit(puts("trace-record (trc) " PACKAGE_VERSION) < 0 || fflush(stdout) ? TRC_EXIT_TROUBLE
									       : 0);
}

static const struct row rows[] = {
	{"output", 'o', "FILE", "write the trace to FILE (default dump.trc)", .text = AT(output)},
	{"ring-size", 0, "SIZE", "memory for events, per processor: 512K, 4M (default 4M)",
	 .text = AT(ring_size)},
	{"locks", 0, "WHICH", "contended (default), all or none", .text = AT(locks)},
	{"on-full", 0, "WHAT", "when a ring is full: wait (default) or drop", .text = AT(on_full)},
	{"unwind", 0, "HOW", "auto (default), fp, libunwind or none", .text = AT(unwind)},
	{"sched", 0, NULL,
	 "record when threads are put on a processor and taken off it\n"
	 "(default, but not with --flight)",
	 .flag = AT(sched), .set = set_sched},
	{"no-sched", 0, NULL, "do not record that", .flag = AT(no_sched), .set = set_no_sched},
	{"event", 'e', "LIST", "sample: auto, cpu-clock, cycles:1000000, page-faults, ...",
	 .set = add_events, .needs = NEEDS_COMMAND},
	{"frequency", 'F', "HZ", "sample the CPU time of each thread, so often a second",
	 .text = AT(sampling.frequency), .needs = NEEDS_COMMAND},
	{"sample-by", 0, "WHO", "signal, kernel or auto (default: as is best for the event)",
	 .text = AT(sampling.sample_by), .needs = NEEDS_COMMAND},
	{"heap", 0, "[=SIZE]", "sample allocations: one in SIZE bytes, on average (default 512K)",
	 .text = AT(heap), .set = set_heap, .needs = NEEDS_COMMAND},
	{"http", 0, "ADDRESS",
	 "serve profiles of it meanwhile, as pprof reads them: 6060,\n127.0.0.1:6060",
	 .text = AT(http), .needs = NEEDS_COMMAND},
	{"follow", 0, NULL,
	 "record descendants as well, each into FILE with its PID:\ndump.PID.trc",
	 .flag = AT(follow), .needs = NEEDS_COMMAND},
	{"quiet", 'q', NULL, "no summary at the end", .flag = AT(quiet), .ends_group = true},

	{"flight", 0, NULL,
	 "keep the latest in memory, and write it out as snapshots:\ndump.1.trc, dump.2.trc, ...",
	 .flag = AT(flight)},
	{"window", 0, "TIME", "what a snapshot holds: 500ms, 30s (default 10s)", .text = AT(window),
	 .needs = NEEDS_WINDOW},
	{"max-size", 0, "SIZE", "memory for all of it (default 64M)", .text = AT(max_size),
	 .needs = NEEDS_FLIGHT},
	{"snapshot-on", 0, "COND",
	 "when: park>TIME, park:REASON,...>TIME, region:NAME>TIME,\n"
	 "task:NAME>TIME, signal=NAME, exit; several times if you\n"
	 "like; when it crashes in any case",
	 .set = add_condition, .needs = NEEDS_FLIGHT},
	{"snapshot-max", 0, "N", "no more than N of them (default 10), but for exit and crash",
	 .text = AT(snapshot_max), .needs = NEEDS_FLIGHT},
	{"snapshot-every", 0, "T", "at least this long after the one before (default 10s)",
	 .text = AT(snapshot_every), .needs = NEEDS_FLIGHT},
	{"snapshot-after", 0, "T", "so long after the odd moment (default 0s)",
	 .text = AT(snapshot_after), .needs = NEEDS_FLIGHT, .ends_group = true},

	{"snapshot", 0, "PID", "of a process that is being recorded: write what is held of it",
	 .set = set_snapshot},
	{"recover", 0, "PID|RING", "the same of a process that is gone and left its ring behind",
	 .set = set_recover},
	{"all", 0, NULL, "also what is held from before the window", .flag = AT(all),
	 .needs = NEEDS_SNAPSHOT},
	{"list", 0, NULL, "show what is being recorded", .set = set_list},
	{"clean", 0, NULL, "remove what dead processes have left behind", .set = set_clean},
	{"self-test", 0, NULL, "record a program of its own, and say what this machine can",
	 .set = set_self_test, .ends_group = true},

	{"help", 'h', NULL, "print this and exit", .set = print_usage},
	{"version", 0, NULL, "print the version and exit", .set = print_version},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), ROW_BASE = 256 };

static const char **option_text(const struct trc_tool_options *o, const struct row *row)
{
	return (const char **)((char *)(uintptr_t)o + row->text);
}

static bool *flag_of(const struct trc_tool_options *o, const struct row *row)
{
	return (bool *)((char *)(uintptr_t)o + row->flag);
}

static void option_print(const struct row *row)
{
	enum { DOC_COLUMN = 27 };
	const char *line = row->doc;
	int column = row->letter ? printf("  -%c, --%s", row->letter, row->name)
				 : printf("      --%s", row->name);

	if (row->value)
		column += printf("%s%s", *row->value == '[' ? "" : " ", row->value);
	while (line) {
		const char *end = strchr(line, '\n');

		printf("%*s%.*s\n", DOC_COLUMN - column, "", end ? (int)(end - line) : 80, line);
		column = 0;
		line = end ? end + 1 : NULL;
	}
	if (row->ends_group)
		putchar('\n');
}

static void print_usage(struct trc_tool_options *o, const char *none)
{
	(void)o;
	(void)none;
	puts(usage);
	for (size_t i = 0; i < N_ROWS; i++)
		option_print(&rows[i]);
	fputs(exit_statuses, stdout);
	exit(fflush(stdout) || ferror(stdout) ? TRC_EXIT_TROUBLE : 0);
}

/* ---- what goes with what --------------------------------------------------------------- */

static bool is_given(const struct trc_tool_options *o, const struct row *row)
{
	if (row->set == add_events)
		return *o->sampling.events;
	if (row->set == add_condition)
		return o->n_specs;
	return row->text ? *option_text(o, row) != NULL : row->flag && *flag_of(o, row);
}

/* NULL = it is there. */
static const char *need_missing(const struct trc_tool_options *o, enum need need)
{
	bool takes = o->verb == TRC_VERB_SNAPSHOT || o->verb == TRC_VERB_RECOVER;

	switch (need) {
	case NEEDS_COMMAND:
		return o->verb == TRC_VERB_RECORD ? NULL : "a command";
	case NEEDS_FLIGHT:
		return o->flight ? NULL : "--flight";
	case NEEDS_SNAPSHOT:
		return takes ? NULL : "--snapshot or --recover";
	case NEEDS_WINDOW:
		return o->flight || takes ? NULL : "--flight, --snapshot or --recover";
	case NEEDS_NOTHING:
		break;
	}
	return NULL;
}

static void check_needs(const struct trc_tool_options *o)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		const char *needs = need_missing(o, rows[i].needs);
		const char letter[] = {rows[i].letter, '\0'};

		if (needs && is_given(o, &rows[i]))
			options_refuse("%s%s needs %s", rows[i].letter ? "-" : "--",
				       rows[i].letter ? letter : rows[i].name, needs);
	}
}

static void check_options(struct trc_tool_options *o)
{
	if (o->verb != TRC_VERB_RECORD && o->flight)
		options_refuse(
			"--flight runs a command: it does not go with --snapshot, --recover, "
			"--list, --clean or --self-test");
	check_needs(o);
	check_ring_size(o->ring_size);
	o->heap_bytes = heap_bytes(o->heap);
	check_word("locks", o->locks, "contended all none");
	check_word("on-full", o->on_full, "wait drop");
	check_word("unwind", o->unwind, "auto fp libunwind none");
	o->window_ns = duration_parse("window", o->window, 0);
	if (o->window && !o->window_ns)
		options_refuse("--window %s: a window has some length", o->window);
	if (o->flight)
		check_flight(o);
	check_sampling(&o->sampling);
	if (!*o->output)
		options_refuse("-o: a file name is needed");
	if (o->verb == TRC_VERB_RECORD && !o->command[0])
		options_refuse("no command to record; trace-record -h tells how");
	if (o->verb != TRC_VERB_RECORD && o->command[0])
		options_refuse(
			"%s: no command is run with --snapshot, --recover, --list, --clean or "
			"--self-test",
			o->command[0]);
}

/* ---- parsing --------------------------------------------------------------------------- */

/* What getopt_long() wants; a row is ROW_BASE and its number, also by its letter. */
static void getopt_tables(struct option names[N_ROWS + 1], char letters[2 * N_ROWS + 3])
{
	*letters++ = '+'; /* what follows the command is the command's */
	*letters++ = ':';
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];

		names[i] = (struct option){row->name,
					   !row->value		? no_argument
					   : *row->value == '[' ? optional_argument
								: required_argument,
					   NULL, ROW_BASE + (int)i};
		if (row->letter) {
			*letters++ = row->letter;
			if (row->value)
				*letters++ = ':';
		}
	}
	names[N_ROWS] = (struct option){0};
	*letters = '\0';
}

/* NULL = none. */
static const struct row *option_row(int c)
{
	if (c >= ROW_BASE)
		return &rows[c - ROW_BASE];
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].letter && rows[i].letter == c)
			return &rows[i];
	return NULL;
}

static void option_take(struct trc_tool_options *o, const struct row *row, const char *value)
{
	if (row->set)
		row->set(o, value);
	else if (row->text)
		*option_text(o, row) = value;
	else
		*flag_of(o, row) = true;
}

void trc_tool_options_parse(struct trc_tool_options *o, int argc, char **argv)
{
	struct option names[N_ROWS + 1];
	char letters[2 * N_ROWS + 3];
	int c;

	getopt_tables(names, letters);
	opterr = 0; /* getopt's messages name the program by its path */
	while ((c = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		const struct row *row = option_row(c);

		if (!row)
			options_refuse("%s: %s; trace-record -h tells how", argv[optind - 1],
				       c == ':' ? "a value is missing" : "no such option");
		option_take(o, row, optarg);
	}
	o->command = argv + optind;
	check_options(o);
}

/* Those that have no part in what is recorded are left out. */
static bool row_is_told(const struct row *row)
{
	return row->text != AT(output) && row->flag != AT(quiet) && row->flag != AT(all);
}

void trc_tool_options_text(const struct trc_tool_options *o, char *text, size_t n_bytes)
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < N_ROWS && n < n_bytes; i++) {
		const struct row *row = &rows[i];
		const char *value = row->set == add_events ? o->sampling.events
				    : row->text		   ? *option_text(o, row)
							   : "";
		const char letter[] = {row->letter, '\0'};

		if (row->set == add_condition || !row_is_told(row) || !is_given(o, row))
			continue;
		n += (size_t)snprintf(text + n, n_bytes - n, "%s%s%s%s%s", n ? " " : "",
				      row->letter ? "-" : "--", row->letter ? letter : row->name,
				      !*value		   ? ""
				      : *row->value == '[' ? "="
							   : " ",
				      value);
	}
	for (unsigned int i = 0; i < o->n_specs && n < n_bytes; i++)
		n += (size_t)snprintf(text + n, n_bytes - n, "%s--snapshot-on '%s'", n ? " " : "",
				      o->spec[i].text);
}
