/*
 * ring.h - a ring file in place of a trace.
 *
 * A ring outlives its process, and may be read while the process runs.  This is the one place where
 * the analyzer uses the recorder, since only the recorder knows how rings lie in memory.  The data that it reads
 * there become a trace in memory, and everything else is as with a file.
 */
#ifndef TRC_ANALYZER_OPEN_RING_H
#define TRC_ANALYZER_OPEN_RING_H

#include <stdbool.h>
#include <stdint.h>
#include "format/reader.h"

/* The trace that a reader reads while it is open. */
struct trc_ring_trace {
	void *bytes;
	size_t n_bytes;
};

/* True if the file begins as rings do. */
bool trc_is_ring(const char *path);
/* Opens what the ring holds now: *out is the caller's, and after it is closed so is *trace, for
 * trc_ring_trace_free().  0 or -errno with a line in error. */
int trc_ring_open(struct trc_reader **out, struct trc_ring_trace *trace, const char *path,
		  struct trc_error *error);
/* Writes the last window_ns of what the ring of a process holds to a file, as a trace: of its latest recording, a
 * snapshot if the process lives.  window_ns 0 = as the recorder was told, UINT64_MAX = all.  0 or -errno with a line
 * in error; -ESRCH: there is no ring. */
int trc_ring_write_pid(int fd, uint32_t pid, uint64_t window_ns, struct trc_error *error);
/* Whether the process has a ring that can be read: 0, or -errno with a line in error. */
int trc_ring_look_pid(uint32_t pid, struct trc_error *error);
void trc_ring_trace_free(struct trc_ring_trace *trace); /* accepts a zeroed one */

#endif
