/* record.c - records one command, from its start to the trace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "http.h"

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

int trc_tool_record(const struct trc_tool_options *o, struct trc_child *child)
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
