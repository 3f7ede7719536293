/* trace_info.h - what a trace says about the process and the machine that it comes from. */
#ifndef TRC_RECORDER_DRAIN_TRACE_INFO_H
#define TRC_RECORDER_DRAIN_TRACE_INFO_H

#include "format/writer.h"
#include "recorder/shared/layout.h"

/*
 * Writes command, argv0, exe, pid, hostname, kernel, cpu, page_bytes, recorder, start_time, ring_bytes,
 * procs, locks and on_full.  `shared` may be hostile.  0 or the writer's error.  Context: drainer.
 */
int trc_trace_info(struct trc_writer *w, const struct trc_shared *shared);
/* The same without hostname, kernel, cpu and page_bytes, which describe this machine: a ring may be
 * of another machine. */
int trc_trace_info_process(struct trc_writer *w, const struct trc_shared *shared);

#endif
