/*
 * flight_write.h - a snapshot that a process takes of its own ring, on its way out.
 *
 * Context of all: any thread that records nothing meanwhile, may block; no malloc, no stdio but to
 * put sentences together, no interposed libc function.
 */
#ifndef TRC_RECORDER_LIB_FLIGHT_WRITE_H
#define TRC_RECORDER_LIB_FLIGHT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/file_sink.h"
#include "recorder/shared/layout.h"
#include "recorder/drain/snapshot.h"

/* One snapshot. A job is about 9 KB, so it lies in memory of its own and not on a stack. */
struct trc_flight_job {
	const char *snapshot; /* what it is, for trace_info: "on request", "trigger", "exit" */
	const char *trigger;  /* why, or NULL */
	const char *ended;    /* how, or NULL = the process goes on */
	uint64_t passed_over; /* triggers that the limits did not allow */
	int fd;		      /* where to, -1 = the file */
	struct trc_file_sink file;
	bool broken_pipe, too_large; /* a signal is pending because of us */
};

/* NULL without memory.  trc_flight_job_free() it. */
struct trc_flight_job *trc_flight_job_new(const char *snapshot, const char *trigger);
void trc_flight_job_free(struct trc_flight_job *job); /* accepts NULL */

/* Sets the file to write to: creates the temporary file beside it, before anything is copied. 0 or
 * -errno with a sentence in why. */
int trc_flight_job_open(struct trc_flight_job *job, const char *path, char *why, size_t n_bytes);

/* Writes the snapshot; a file is written whole or not at all. 0 or -errno with a sentence in
 * why. */
int trc_flight_job_write(struct trc_flight_job *job, struct trc_snapshot *s, char *why,
			 size_t n_bytes);

#endif
