/*
 * snapshot.h - one snapshot of a process that is being recorded, or has just ended, as
 * a file.
 *
 *   snapshot:Z1  all or nothing: the file is there only if it has the complete snapshot
 */
#ifndef TRC_RECORDER_TOOL_SNAPSHOT_H
#define TRC_RECORDER_TOOL_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>
#include "format/file_sink.h"
#include "format/writer.h"
#include "recorder/drain/perf_buffer.h"
#include "recorder/drain/snapshot.h"
#include "procs.h"
#include "tids.h"

struct trc_tool_snapshot {
	/* What the trace says of it; NULL = nothing. */
	const char *what, *trigger, *ended, *title, *sched, *unwind;
	const char *asked;    /* as options of trace-record */
	const char *service;  /* what the process publishes (otel_service.h) */
	uint64_t passed_over; /* triggers that the limits did not allow */

	/* What the kernel knows of this pid, copied; NULL = nothing. */
	struct trc_perf *kernel;
	const struct trc_perf_table *sampled;
	uint32_t pid;
	struct trc_tids *tids; /* its threads: trc_tids_inside() */
	const struct trc_procs *procs;

	/* Filled in. */
	struct trc_writer_totals totals;
	uint64_t window_ns; /* that it covers */
	uint64_t samples;
	char error[TRC_FILE_PATH_BYTES + 256];
};

/* Writes the snapshot. 0, or -errno with a sentence in s->error. */
int trc_tool_snapshot_write(struct trc_tool_snapshot *s, struct trc_snapshot *snapshot,
			    const char *path);

#endif
