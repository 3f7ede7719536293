/*
 * flight.h - trace-record --flight: rings are not drained, but watched, and copied out when a
 * snapshot is due.
 *
 *   flight:F1  while nothing happens trace-record sleeps: a request wakes it (layout.h,
 *       trigger_wake)
 *   flight:F2  the ring of an ended process is removed once its snapshot is written.  If the
 *       snapshot could not be written, the ring stays, and a message says where
 */
#ifndef TRC_RECORDER_TOOL_FLIGHT_H
#define TRC_RECORDER_TOOL_FLIGHT_H

#include "session.h"

/* The state that the processes of a session share. */
struct trc_flight_session {
	const struct trc_tool_options *options;
	struct trc_perf *kernel; /* borrowed; NULL = sched says why */
	const char *sched;
	struct trc_perf_table sampled;
	struct trc_tool_dir *dir;

	struct trc_tool_taken *first, **last; /* the snapshots, in order */
	uint64_t passed_over;		      /* triggers, of processes that are gone */
	bool any_failed;		      /* to be written */
};

void trc_flight_session_init(struct trc_flight_session *f, const struct trc_tool_options *options);
void trc_flight_session_free(struct trc_flight_session *f);

/* 0 or -ENOMEM. */
int trc_flight_open(struct trc_process *p);
/* Checks that snapshots can be written at all.  0 or -errno after saying why. */
int trc_flight_check_output(const struct trc_tool_options *options, const char *process_name);
/* Watches this ring from now on: the process has begun, or has executed another program.  0 or
 * -errno after saying why. */
int trc_flight_attach(struct trc_process *p, struct trc_flight_session *f, const char *ring_path,
		      uint32_t image);
/* Takes a snapshot if one is due.  `asked`: signals that were sent to trace-record, bit by bit. */
void trc_flight_pass(struct trc_process *p, struct trc_flight_session *f, uint64_t asked);
/* The word to sleep on, as it was before the last look; NULL = none. */
const _Atomic uint32_t *trc_flight_wake(const struct trc_process *p, uint32_t *seen);
uint64_t trc_flight_sleep_ns(const struct trc_process *p, uint64_t now_ns);
/* Writes the present content of the ring to `path`; window_ns 0 = the window of the options.  0,
 * -EBUSY: there is no ring; or -errno with a sentence in why. */
int trc_flight_write(struct trc_process *p, struct trc_flight_session *f, const char *path,
		     uint64_t window_ns, char *why, size_t n_bytes);
/* The process has ended, or nobody wants to wait for it. */
void trc_flight_finish(struct trc_process *p, struct trc_flight_session *f);
void trc_flight_free(struct trc_process *p);

#endif
