/* trace_record.c - trace-record: options, and the order of things. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "config.h"
#include "layout.h"
#include "trace_record.h"

static const char usage[] =
	"usage: trace-record [OPTION...] [--] COMMAND [ARG...]\n"
	"Run COMMAND and record what its threads wait for.\n"
	"\n"
	"  -o, --output FILE        write the trace to FILE (default dump.trc)\n"
	"      --ring-size SIZE     memory for events, per processor: 512K, 4M (default 4M)\n"
	"      --locks WHICH        contended (default), all or none\n"
	"      --on-full WHAT       when a ring is full: wait (default) or drop\n"
	"      --unwind HOW         auto (default), fp, libunwind or none\n"
	"      --follow             record descendants as well, each into FILE with its PID:\n"
	"                           dump.PID.trc\n"
	"  -q, --quiet              no summary at the end\n"
	"  -h, --help               print this and exit\n"
	"      --version            print the version and exit\n"
	"\n"
	"The exit status is COMMAND's, also when the recording went wrong while it ran (a line on\n"
	"standard error says so); 125 if trace-record fails before it starts, 126 if it cannot be\n"
	"run or recorded, 127 if it is not found.\n";

void trc_tool_say(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "trace-record: %s\n", text);
}

/* ---- options --------------------------------------------------------------------------- */

enum { OPT_RING_SIZE = 256, OPT_LOCKS, OPT_ON_FULL, OPT_UNWIND, OPT_FOLLOW, OPT_VERSION };

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"ring-size", required_argument, NULL, OPT_RING_SIZE},
	{"locks", required_argument, NULL, OPT_LOCKS},
	{"on-full", required_argument, NULL, OPT_ON_FULL},
	{"unwind", required_argument, NULL, OPT_UNWIND},
	{"follow", no_argument, NULL, OPT_FOLLOW},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

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

static int check_word(const char *option, const char *text, const char *words)
{
	if (!text || is_word(text, words))
		return 0;
	trc_tool_say("--%s %s: not one of: %s", option, text, words);
	return -EINVAL;
}

static int check_ring_size(const char *text)
{
	struct trc_layout_options layout = {.n_procs = 1};
	struct trc_shared plan = {0};
	unsigned int shift = 0;
	unsigned long long n;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end && strchr("Kk", *end))
		shift = 10;
	else if (*end && strchr("Mm", *end))
		shift = 20;
	else if (*end && strchr("Gg", *end))
		shift = 30;
	end += shift != 0;
	layout.ring_bytes = n << shift;
	if (*text < '0' || *text > '9' || *end || errno || !n || n > UINT64_MAX >> 30 ||
	    trc_layout_plan(&plan, &layout)) {
		trc_tool_say("--ring-size %s: not a size between 8K and 16G", text);
		return -EINVAL;
	}
	return 0;
}

static int check_options(const struct trc_tool_options *o)
{
	int err = check_ring_size(o->ring_size);

	if (!err)
		err = check_word("locks", o->locks, "contended all none");
	if (!err)
		err = check_word("on-full", o->on_full, "wait drop");
	if (!err)
		err = check_word("unwind", o->unwind, "auto fp libunwind none");
	if (!err && !*o->output) {
		trc_tool_say("-o: a file name is needed");
		err = -EINVAL;
	}
	if (!err && !o->command[0]) {
		trc_tool_say("no command to record; trace-record -h tells how");
		err = -EINVAL;
	}
	return err;
}

/* True if there is a command to run; else exits by itself. */
static void parse_options(struct trc_tool_options *o, int argc, char **argv)
{
	int c;

	opterr = 0; /* getopt's messages name the program by its path */
	while ((c = getopt_long(argc, argv, "+:o:qh", long_options, NULL)) != -1) {
		switch (c) {
		case 'o':
			o->output = optarg;
			break;
		case OPT_RING_SIZE:
			o->ring_size = optarg;
			break;
		case OPT_LOCKS:
			o->locks = optarg;
			break;
		case OPT_ON_FULL:
			o->on_full = optarg;
			break;
		case OPT_UNWIND:
			o->unwind = optarg;
			break;
		case OPT_FOLLOW:
			o->follow = true;
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
			trc_tool_say("%s: %s; trace-record -h tells how", argv[optind - 1],
				     c == ':' ? "a value is missing" : "no such option");
			exit(TRC_EXIT_TROUBLE);
		}
	}
	o->command = argv + optind;
	if (check_options(o))
		exit(TRC_EXIT_TROUBLE);
}

/* ---- running --------------------------------------------------------------------------- */

static int exec_failed(const char *command, int err)
{
	trc_tool_say("%s: %s", command, strerror(err));
	return err == ENOENT ? TRC_EXIT_NOT_FOUND : TRC_EXIT_REFUSED;
}

static void start_failed(int err)
{
	struct rlimit files;

	if (err == -EMFILE && !getrlimit(RLIMIT_NOFILE, &files))
		trc_tool_say("no more than %llu files may be open (ulimit -n): too few to record",
			     (unsigned long long)files.rlim_cur);
	else
		trc_tool_say("fork: %s", strerror(-err));
}

/* Starts the command.  0, or an exit status; then nothing of it is left. */
static int start(struct trc_tool_session *s, struct trc_child *child,
		 const struct trc_tool_options *o, const char *preload)
{
	int err;

	trc_child_signals();
	err = trc_child_fork(child, o, trc_tool_session_dir(s), preload);
	if (err) {
		start_failed(err);
		return TRC_EXIT_TROUBLE;
	}
	if (trc_tool_session_begin(s, child->pid)) {
		trc_child_cancel(child);
		return TRC_EXIT_TROUBLE;
	}
	err = trc_child_go(child);
	return err ? exec_failed(o->command[0], err) : 0;
}

static int record(const struct trc_tool_options *o, struct trc_child *child)
{
	struct trc_tool_session *session = NULL;
	struct trc_tool_result result;
	char preload[PATH_MAX];
	int status = trc_target_check(o->command[0]);

	if (status)
		return status;
	if (trc_target_preload(preload) || trc_tool_session_open(&session, o))
		return TRC_EXIT_TROUBLE;
	status = start(session, child, o, preload);
	if (!status) {
		trc_tool_session_run(session, child);
		trc_tool_session_result(session, &result);
		if (!o->quiet && result.path)
			trc_tool_summary(&result);
	}
	trc_tool_session_close(session);
	return status;
}

int main(int argc, char **argv)
{
	struct trc_tool_options options = {.output = "dump.trc"};
	struct trc_child child = {.go_fd = -1, .result_fd = -1};
	int status;

	parse_options(&options, argc, argv);
	status = record(&options, &child);
	if (status)
		return status;
	trc_child_exit_like(&child); /* Y2 */
}
