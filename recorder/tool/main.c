/* main.c - trace-record: the order of things. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "format/utf8.h"
#include "http.h"

void trc_tool_say(const char *format, ...)
{
	char text[1024], shown[2 * sizeof(text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names of programs and files may be anything. */
	trc_utf8_escape(shown, sizeof(shown), text, strlen(text));
	fprintf(stderr, "trace-record: %s\n", shown);
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
static int command_start(struct trc_tool_session *s, struct trc_child *child,
			 const struct trc_tool_options *o, const char *preload)
{
	int err;

	trc_child_signals(o);
	err = trc_child_fork(child, o, trc_tool_session_dir(s), preload);
	if (err) {
		start_failed(err);
		return TRC_EXIT_TROUBLE;
	}
	if (trc_tool_session_begin(s, child->pid) || trc_tool_http_start(o)) {
		trc_child_cancel(child);
		return TRC_EXIT_TROUBLE;
	}
	err = trc_child_go(child);
	if (err)
		trc_tool_http_stop();
	return err ? exec_failed(o->command[0], err) : 0;
}

static int command_record(const struct trc_tool_options *o, struct trc_child *child)
{
	struct trc_tool_session *session = NULL;
	struct trc_tool_result result;
	char preload[PATH_MAX], sanitizer[TRC_SANITIZER_BYTES];
	char list[sizeof(sanitizer) + sizeof(preload)];
	int status;

	trc_child_begin();
	status = trc_target_check(o->command[0], sanitizer);
	if (status)
		return status;
	if (trc_target_preload(preload) || trc_tool_session_open(&session, o))
		return TRC_EXIT_TROUBLE;
	snprintf(list, sizeof(list), "%s%s%s", sanitizer, *sanitizer ? ":" : "", preload);
	status = command_start(session, child, o, list);
	if (!status) {
		trc_tool_session_run(session, child);
		trc_tool_session_result(session, &result);
		if (!o->quiet && o->flight)
			trc_tool_flight_summary(&result);
		else if (!o->quiet && result.path)
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

	trc_tool_options_parse(&options, argc, argv);
	switch (options.verb) {
	case TRC_VERB_SNAPSHOT:
	case TRC_VERB_RECOVER:
		return trc_tool_take(&options);
	case TRC_VERB_LIST:
		return trc_tool_list();
	case TRC_VERB_CLEAN:
		return trc_tool_clean();
	case TRC_VERB_RECORD:
		break;
	}
	status = command_record(&options, &child);
	if (status)
		return status;
	trc_child_exit_like(&child); /* tool:Y2 */
}
