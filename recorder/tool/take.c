/* take.c - --snapshot and --recover: find a ring, and make a trace of it. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/file_sink.h"
#include "recorder/drain/ring_file.h"
#include "recorder/drain/snapshot.h"
#include "tool.h"

enum { ERROR_BYTES = PATH_MAX + 256 };

/* ---- which ring ------------------------------------------------------------------------ */

/* 0 = it is no pid. */
static uint32_t parse_pid(const char *text)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	return *text < '0' || *text > '9' || *end || errno || n > INT32_MAX ? 0 : (uint32_t)n;
}

/* 0 or -errno after saying why. */
static int open_ring(struct trc_ring_file *f, const struct trc_tool_options *o)
{
	char error[ERROR_BYTES] = "";
	uint32_t pid = parse_pid(o->target);
	int err;

	if (pid) {
		err = trc_ring_file_find(f, pid, error, sizeof(error));
		if (err == -ESRCH)
			trc_ring_missing(pid, error, sizeof(error));
		if (err)
			trc_tool_say("%s", error);
		return err;
	}
	if (o->verb == TRC_VERB_SNAPSHOT) {
		trc_tool_say("--snapshot %s: not a process id", o->target);
		return -EINVAL;
	}
	err = trc_ring_file_open(f, o->target, error, sizeof(error));
	if (err)
		trc_tool_say("%s: %s", o->target, error);
	return err;
}

/* The living give snapshots, the dead are recovered: who says the other may be wrong about it. */
static int check_owner(const struct trc_ring_file *f, const struct trc_tool_options *o)
{
	uint32_t pid = f->pid;

	if (o->verb == TRC_VERB_SNAPSHOT && f->owner == TRC_OWNER_DEAD) {
		trc_tool_say("process %" PRIu32 " is gone, its ring is not: trace-record --recover "
			     "%" PRIu32 " -o %s",
			     pid, pid, o->output);
		return -ESRCH;
	}
	if (o->verb == TRC_VERB_RECOVER && f->owner == TRC_OWNER_ALIVE) {
		trc_tool_say("process %" PRIu32 " is alive: trace-record --snapshot %" PRIu32
			     " -o %s",
			     pid, pid, o->output);
		return -EBUSY;
	}
	return 0;
}

/* ---- the trace ------------------------------------------------------------------------- */

/* 0 or -errno after saying why. */
static int take_write_trace(const struct trc_ring_file *f, const struct trc_tool_options *o,
			    struct trc_file_sink *sink)
{
	const struct trc_snapshot_options options = {
		.window_ns = o->window_ns ? o->window_ns
			     : o->all	  ? UINT64_MAX
					  : 0,
		.all = o->all,
		.dead = f->owner == TRC_OWNER_DEAD,
	};
	char error[ERROR_BYTES] = "";
	int err = trc_file_sink_plan(sink, o->output, error, sizeof(error));

	if (!err)
		err = trc_file_sink_open_waiting(sink, NULL, NULL, error, sizeof(error));
	if (err) {
		trc_tool_say("%s", error);
		return err;
	}
	err = trc_ring_file_to_trace(f, &options, trc_file_sink_write, sink, error, sizeof(error));
	if (!err)
		err = trc_file_sink_commit(sink);
	if (err)
		trc_tool_say("%s: %s", sink->error ? o->output : f->path,
			     *error ? error : strerror(-err));
	trc_file_sink_close(sink);
	return err;
}

int trc_tool_take(const struct trc_tool_options *o)
{
	struct trc_ring_file f;
	struct trc_file_sink sink;
	int err;

	signal(SIGXFSZ, SIG_IGN); /* a failed write is an error, and is told */
	signal(SIGPIPE, SIG_IGN);
	err = open_ring(&f, o);
	if (err)
		return 1;
	err = check_owner(&f, o);
	if (!err)
		err = take_write_trace(&f, o, &sink);
	if (!err && !o->quiet)
		trc_tool_say("%s: process %" PRIu32 "%s, %" PRIu64
			     " bytes; see it with: trace-analyze %s",
			     o->output, f.pid,
			     f.owner == TRC_OWNER_DEAD ? ", as it left its ring" : "",
			     sink.file_bytes, o->output);
	trc_ring_file_close(&f);
	return err ? 1 : 0;
}
