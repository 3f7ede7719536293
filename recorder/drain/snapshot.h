/*
 * snapshot.h - copies what a ring holds now, then writes the copy as a trace.
 *
 * The ring may be the process's own, or belong to another process, which may be stopped, wedged or
 * dead.
 *
 *   snapshot:H1  the ring is only read; no recording thread waits for a snapshot, and any number of
 *       snapshots may be taken at once
 *   snapshot:H2  only copying has to be quick: checking, encoding and writing work on the copy
 *   snapshot:H3  a snapshot covers one window, [from, cut].  `cut` is a time chosen before copying;
 *       for a dead process it is the newest record, of its ring or the kernel's, or the beginning
 *       of the newest wait in progress.  `from` is the latest start among the rings that have been
 *       overwritten.  If the newest record less the window asked for is later, `from` is that time:
 *       so a process that has been stopped or stuck for longer shows what it did before.  Within
 *       the window nothing is missing; events outside are left out
 *   snapshot:H4  the content of the ring is not trusted (drain:G1)
 *   snapshot:H5  no function here calls malloc, stdio or an interposed libc function
 */
#ifndef TRC_RECORDER_DRAIN_SNAPSHOT_H
#define TRC_RECORDER_DRAIN_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include "drain.h"
#include "format/writer.h"
#include "recorder/shared/layout.h"

struct trc_snapshot;

struct trc_snapshot_options {
	uint64_t window_ns; /* 0 = as the ring's header says; UINT64_MAX = no limit */
	bool all;	    /* also keep what the rings hold from before the window */
	bool dead;	    /* the process is gone: nothing changes any more, all is committed */
	bool found_dead;    /* dead since an unknown time: the trace ends with the cut, too */
	/* The kernel's newest record of the process, CLOCK_MONOTONIC_RAW; 0 = not known.  The
	 * window of a dead process includes this record. */
	uint64_t kernel_newest_ns;
};

/*
 * Copies what the mapping holds.  `shared` may be mapped read-only; it is not used after this
 * returns.  *out is the caller's.  0, -ENOMEM, or -EBADMSG with a reason in *why.
 */
int trc_snapshot_take(struct trc_snapshot **out, const struct trc_shared *shared,
		      uint64_t mapped_bytes, const struct trc_snapshot_options *options,
		      const char **why);
/* The same for a file.  If the file is cut short meanwhile, the result is -EBADMSG, too. */
int trc_snapshot_take_file(struct trc_snapshot **out, int fd,
			   const struct trc_snapshot_options *options, const char **why);
/* The checked copy of the header, with its counters, triggers and crash block as of the copy. */
const struct trc_shared *trc_snapshot_header(const struct trc_snapshot *s);
/* Ticks of both ends of the window. */
void trc_snapshot_window(const struct trc_snapshot *s, uint64_t *from, uint64_t *cut);
/* Where the trace ends; if the process has ended, the time at which this was noticed. */
uint64_t trc_snapshot_end(const struct trc_snapshot *s);

/* Sets the function that is asked about waits in progress while the snapshot is written. */
void trc_snapshot_wait_find(struct trc_snapshot *s, trc_wait_find_fn *wait_find, void *context);

/*
 * Writes events, tables, what every thread is doing, and the coverage.  The writer was opened for
 * this header's clock and procs (trc_snapshot_writer_options()) and is left open: the caller may
 * add infos before and after.  `kernel`, if not NULL, is called in between: it may hand switch
 * records to the drain (trc_drain_kernel()), in order for each proc.  Once per snapshot.
 * 0 or the writer's error.
 */
int trc_snapshot_write(struct trc_snapshot *s, struct trc_writer *w,
		       void (*kernel)(void *context, struct trc_drain *drain), void *context);
/* Writes the trace's infos: the process and its options, "mode", "signal" if a signal was seen to
 * end the process, and "recovered_ns" if the process was found dead (writer.h; see
 * trc_trace_info()). 0 or the writer's error. */
int trc_snapshot_info(const struct trc_snapshot *s, struct trc_writer *w);
void trc_snapshot_writer_options(const struct trc_snapshot *s, struct trc_writer_options *options);
void trc_snapshot_totals(const struct trc_snapshot *s, struct trc_drain_totals *totals);
/* The events per second in what the ring holds, and the events that the ring has lost since its
 * birth. */
void trc_snapshot_rate(const struct trc_snapshot *s, uint64_t *events_per_second,
		       uint64_t *lost_events);
void trc_snapshot_free(struct trc_snapshot *s); /* accepts NULL */

#endif
