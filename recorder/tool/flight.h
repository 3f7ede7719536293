/*
 * flight.h - trace-record --flight: nobody drains; rings are watched, and copied out
 * when there is reason to.
 *
 *   flight:F1  while nothing happens trace-record sleeps: a request wakes it (layout.h,
 *       trigger_wake)
 *   flight:F2  a ring goes with its process once its snapshot is written; if that could not be, it
 *       stays, and where it is is said
 */
#ifndef TRC_RECORDER_TOOL_FLIGHT_H
#define TRC_RECORDER_TOOL_FLIGHT_H

#include "session.h"

/* What the processes of a session share. */
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
/* Whether snapshots can be written at all.  0 or -errno after saying why. */
int trc_flight_check_output(const struct trc_tool_options *options, const char *process_name);
/* This ring from now on: the process has begun, or executed another program.  0 or -errno after
 * saying why. */
int trc_flight_attach(struct trc_process *p, struct trc_flight_session *f, const char *ring_path,
		      uint32_t image);
/* Takes a snapshot if one is due.  `asked`: signals that were sent to trace-record, bit by bit. */
void trc_flight_pass(struct trc_process *p, struct trc_flight_session *f, uint64_t asked);
/* The word to sleep on, as it was before the last look; NULL = none. */
const _Atomic uint32_t *trc_flight_wake(const struct trc_process *p, uint32_t *seen);
uint64_t trc_flight_sleep_ns(const struct trc_process *p, uint64_t now_ns);
/* Writes what is held now to `path`; window_ns 0 = as it was asked for at the start.  0, -EBUSY:
 * nothing is; or -errno with a sentence in why. */
int trc_flight_write(struct trc_process *p, struct trc_flight_session *f, const char *path,
		     uint64_t window_ns, char *why, size_t n_bytes);
/* The process has ended, or nobody wants to wait for it. */
void trc_flight_finish(struct trc_process *p, struct trc_flight_session *f);
void trc_flight_free(struct trc_process *p);

#endif
