/* trace_record_session.h - what the parts that deal with the session's processes share. */
#ifndef TRC_RECORDER_TRACE_RECORD_SESSION_H
#define TRC_RECORDER_TRACE_RECORD_SESSION_H

#include "drain.h"
#include "file_sink.h"
#include "perf_switch.h"
#include "trace_record.h"

/* One process, its mapping (of one image after the other), and its trace. */
struct trc_process {
	struct trc_process *next;
	const struct trc_tool_options *options;
	int pid, pidfd; /* pidfd -1 = the command's own process: waitpid() tells */
	uint32_t image;
	bool command; /* the one that trace-record started */
	bool ended;
	bool failed; /* there was something to record, and why it was not has been said */
	bool status_known;
	int status;

	struct trc_shared *shared; /* NULL = none now */
	uint64_t mapped_bytes;
	struct trc_drain *drain;
	struct trc_drain_options bases;

	struct trc_file_sink sink; /* of the command's: open before it starts */
	bool sink_open, closed;
	struct trc_writer *w;
	struct trc_writer_totals totals;
	uint64_t lost_events;
	char path[TRC_FILE_PATH_BYTES];
};

/* ---- trace_record_process.c ---- */

/* Opens the file that the process's trace goes to.  0 or -errno after saying why. */
int trc_process_open_file(struct trc_process *p, const struct trc_tool_options *options);
/* Maps a ring file and begins to drain it; `sched` is the info of that name.  An image that was
 * there before is finished.  0 or -errno after saying why. */
int trc_process_attach(struct trc_process *p, const char *ring_path, uint32_t image,
		       const char *sched);
uint64_t trc_process_pass(struct trc_process *p);
/* The process is gone, or if not: nobody wants to wait for it.  Completes the file. */
void trc_process_finish(struct trc_process *p);
void trc_process_free(struct trc_process *p);

#endif
