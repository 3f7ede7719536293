/*
 * perf_buffer.h - the kernel's records about threads: when the kernel puts threads on procs and
 * takes threads off, and where threads are when a counter overflows.
 *
 * PERF_RECORD_SWITCH and PERF_RECORD_SAMPLE of one process and its descendants, in one mapped
 * buffer for each proc.  Switches come from software events that need no privilege at
 * perf_event_paranoid 2 or below. trc_cpu_events_settle() tells whether an event can be sampled.
 *
 *   perf_buffer:V1  times are CLOCK_MONOTONIC_RAW nanoseconds, and do not decrease in one buffer
 *   perf_buffer:V2  a record is handed out when it is old enough for the thread to have made itself
 *       known, or when its buffer fills up
 *   perf_buffer:V3  records for which the kernel had no room are handed out as a count, in their
 *       place
 *   perf_buffer:V4  in flight mode the kernel overwrites the oldest records, and wakes nobody.
 *       Reading means to copy the buffers, then to hand out the copy.  Records that are overwritten
 *       during the copy count as in V3
 *   perf_buffer:V5  each event has one counter for each proc.  New threads inherit the counter,
 *       which counts while they run on that proc: no new thread is missing or needs a descriptor
 *   perf_buffer:V6  a thread's counter goes on where it was when the thread last ran, if its period
 *       is longer than threads run at a time: else the kernel hands counters on from thread to
 *       thread, and the thread that gets the sample would be chance
 *   perf_buffer:V7  threads that exist already take a descriptor for each proc and event.  If
 *       events may be added later, switches leave some descriptors for these events, at most half
 *       of the descriptors that may be open.  Threads that get no descriptors are named as missing
 *   perf_buffer:V8  a thread that ends counts as taken off its proc when the kernel takes the
 *       thread's counters away (PERF_RECORD_EXIT): the last switch comes later, and is in no buffer
 */
#ifndef TRC_RECORDER_DRAIN_PERF_BUFFER_H
#define TRC_RECORDER_DRAIN_PERF_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/shared/cpu_event.h"
#include "format/writer.h"
#include "perf_maps.h"

struct trc_perf;

enum trc_perf_what {
	TRC_PERF_SWITCH,
	TRC_PERF_LOST, /* so many switches are missing here */
	TRC_PERF_SAMPLE,
	TRC_PERF_SAMPLES_LOST, /* so many samples are missing here, or were not even taken */
};
enum { TRC_PERF_ANY_EVENT = UINT32_MAX };

struct trc_perf_record {
	enum trc_perf_what what;
	uint64_t raw_ns;
	uint32_t pid, tid, proc; /* of a loss that may concern any process: pid 0 */

	bool out;	/* SWITCH: taken off the proc; else put on it */
	bool preempted; /* out, but it could have gone on */

	uint64_t lost;		    /* LOST, SAMPLES_LOST */
	bool mixed;		    /* LOST: samples may be among them */
	enum trc_sample_loss cause; /* SAMPLES_LOST */

	uint32_t event;		/* SAMPLE, SAMPLES_LOST: which of those that were asked for */
	uint64_t value, period; /* SAMPLE: as in the trace's event */
	/* SAMPLE: as in the trace's stacks; at least one.  Borrowed until the callback returns. */
	const uint64_t *frame;
	uint32_t n_frames;
	const struct trc_perf_maps *maps; /* NULL = nothing is known of them */
};
typedef void trc_perf_fn(void *context, const struct trc_perf_record *record);

struct trc_perf_options {
	int pid;
	/* Begin with the next exec of pid; else at once, and with all threads that it has now. */
	bool at_exec;
	bool switches; /* whether they are wanted */
	/* Those that are sampled, settled; copied. */
	const struct trc_cpu_event *event;
	uint32_t n_events;
	bool more_events; /* trc_perf_add_events() may follow */
	bool flight;	  /* V4 */
	/* In flight mode: what buffers take in all, or 16 KiB for each proc if that is more. */
	uint64_t max_bytes;
};

/*
 * On success *out is the caller's.  Returns 0 or -errno; `said` is filled in either way: "yes", or
 * "yes, but not of 3 threads (101, 102, 103): ...", or why not: with events, a sentence on the event that is in the
 * way; without, as it belongs into the trace's info `sched`: "no: perf_event_open: Permission
 * denied (perf_event_paranoid is 3)".
 */
int trc_perf_open(struct trc_perf **out, const struct trc_perf_options *options, char *said,
		  size_t n_bytes);
/*
 * Samples these events from now on as well, in all present and future threads; earlier events keep
 * their numbers.  Not at_exec, not in flight mode.  0, or -errno with a sentence in said: then none
 * of these events is sampled.
 */
int trc_perf_add_events(struct trc_perf *p, const struct trc_cpu_event *event, uint32_t n,
			char *said, size_t n_bytes);
/* Stops sampling.  The samples taken so far are there for one more pass. */
void trc_perf_stop_events(struct trc_perf *p);
/* From now on the calling process gets SIGIO for each half of a buffer that fills up.  Not in
 * flight mode, and not reliably for samples.  False: the process gets no SIGIO. */
bool trc_perf_signal(struct trc_perf *p);
/* The time within which buffers that are empty now should be read, if threads are sampled as often
 * as asked for; UINT64_MAX = any time will do. */
uint64_t trc_perf_patience_ns(const struct trc_perf *p);
/* Hands out the records that are old enough, with `all` also the latest; in flight mode the records
 * copied last.  Returns the number of records. */
uint64_t trc_perf_pass(struct trc_perf *p, bool all, trc_perf_fn *fn, void *context);
/* trc_perf_pass() up to this time.  With `room` a buffer that is more than half full is emptied
 * even beyond this time (perf_buffer:V2).  Not in flight mode. */
uint64_t trc_perf_pass_until(struct trc_perf *p, uint64_t until_ns, bool room, trc_perf_fn *fn,
			     void *context);
/* The age at which V2 hands out a record. */
#define TRC_PERF_HOLD_NS UINT64_C(20000000)
/* Flight mode: takes note of the mappings of processes; to be called once a second or so. */
void trc_perf_look(struct trc_perf *p);
/* Flight mode: copies the present content of the buffers.  0 or -ENOMEM. */
int trc_perf_copy(struct trc_perf *p);
/*
 * Flight mode: copies only the records since the copy before, and so holds the kernel up for less
 * time. head[], one for each proc: the buffers' heads at the copy before, or from trc_perf_heads().
 * The call stores the present heads.
 */
int trc_perf_copy_since(struct trc_perf *p, uint64_t *head);
void trc_perf_heads(const struct trc_perf *p, uint64_t *head);
/* The time of the oldest record in the copy if older records are missing; 0 = the copy has all
 * records of this proc that were asked for. */
uint64_t trc_perf_oldest_ns(const struct trc_perf *p, uint32_t proc);
/* The time of the newest record of this process in the copy; 0 = there is none. */
uint64_t trc_perf_newest_ns(struct trc_perf *p, uint32_t pid);
/* The number of threads that existed before opening and are not sampled. */
uint64_t trc_perf_missing_threads(const struct trc_perf *p);
/* The share of the time, in per cent, in which the event was counted: less than 100 if the
 * processor has too few counters for all events.  The values of samples are scaled to the whole
 * time. */
uint32_t trc_perf_counted_percent(const struct trc_perf *p, uint32_t event);

/* The table of sampled events for the trace, present and past (trc_drain_kernel_events()). */
struct trc_perf_table {
	struct trc_sample_event_entry entry[TRC_CPU_EVENTS_MAX];
	char note[TRC_CPU_EVENTS_MAX][256];
	uint32_t n;
};
/* Fills the table with the present state; t borrows from p. p may be NULL: the table is empty. */
void trc_perf_table_fill(struct trc_perf_table *t, const struct trc_perf *p);
void trc_perf_close(struct trc_perf *p); /* accepts NULL */

#endif
