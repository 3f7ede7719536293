/*
 * annotate.h - records tasks, regions, logs and counters of the user or of the recorder.
 *
 * `site` remembers the id of the name at a place in the source; it is NULL if the name is no
 * literal. Annotations of a thread that does not record are counted as lost.
 * Context: traced thread, signal handlers.
 */
#ifndef TRC_RECORDER_RING_ANNOTATE_H
#define TRC_RECORDER_RING_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>
#include "trc/trace.h"

/* Returns the task's id; 0 = the task is not recorded. */
trace_task trc_annotate_task_begin(struct trace_site *site, const char *type, trace_task parent);
void trc_annotate_task_end(trace_task task);
void trc_annotate_region_begin(struct trace_site *site, trace_task task, const char *type);
void trc_annotate_region_end(void);
/* A message beyond TRC_TEXT_BYTES_MAX is cut. */
void trc_annotate_log(struct trace_site *site, trace_task task, const char *category,
		      const char *message, size_t message_bytes);
void trc_annotate_counter(struct trace_site *site, const char *counter, int64_t value);

#endif
