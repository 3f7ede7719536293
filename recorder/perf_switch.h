/*
 * perf_switch.h - when the kernel puts threads on procs and takes them off.
 *
 * PERF_RECORD_SWITCH of one process and its descendants, one mapped buffer for each proc, from
 * software events that need no privilege at perf_event_paranoid 2 or below.
 *
 *   V1  times are CLOCK_MONOTONIC_RAW nanoseconds, and do not decrease in one buffer
 *   V2  a record is handed out when it is old enough for the thread to have made itself known,
 *       or when its buffer fills up
 *   V3  what the kernel had no room for is handed out as a count, in its place
 *   V4  in flight mode the kernel overwrites the oldest, nobody is woken, and reading means: copy
 *       what there is, then hand out the copy.  What happens while it is copied counts as in V3
 */
#ifndef TRC_RECORDER_PERF_SWITCH_H
#define TRC_RECORDER_PERF_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_perf_switch;

struct trc_switch_record {
	uint64_t raw_ns;
	uint64_t lost; /* > 0: so many records are missing here, and there is nothing else */
	uint32_t pid, tid, proc;
	bool out;	/* taken off the proc; else put on it */
	bool preempted; /* out, but it could have gone on */
};
typedef void trc_switch_fn(void *context, const struct trc_switch_record *record);

/*
 * Begins with the next exec of `pid` if at_exec is set; else at once, and with all threads that
 * `pid` has now.  On success *out is the caller's.  Returns 0 or -errno; `sched` is filled in
 * either way, as it belongs into the trace: "yes", or
 * "no: perf_event_open: Permission denied (perf_event_paranoid is 3)".
 */
int trc_perf_switch_open(struct trc_perf_switch **out, int pid, bool at_exec, char *sched,
			 size_t n_bytes);
/* The same for flight mode: buffers take max_bytes in all, or 16 KiB for each proc if that is
 * more. */
int trc_perf_switch_open_flight(struct trc_perf_switch **out, int pid, bool at_exec,
				uint64_t max_bytes, char *sched, size_t n_bytes);
/* From now on the calling process gets SIGIO when half a buffer has come, and then for each half of
 * one.  Not in flight mode.  False: it gets none. */
bool trc_perf_switch_signal(struct trc_perf_switch *p);
/* Hands out what has come; with `all` also the latest.  In flight mode: what was copied last.  How
 * many records. */
uint64_t trc_perf_switch_pass(struct trc_perf_switch *p, bool all, trc_switch_fn *fn,
			      void *context);
/* Flight mode: copies what the buffers hold now.  0 or -ENOMEM. */
int trc_perf_switch_copy(struct trc_perf_switch *p);
/* The time of the oldest record of the copy if there were older ones; 0 = it has all of this proc
 * from the beginning. */
uint64_t trc_perf_switch_oldest_ns(const struct trc_perf_switch *p, uint32_t proc);
void trc_perf_switch_close(struct trc_perf_switch *p); /* accepts NULL */

#endif
