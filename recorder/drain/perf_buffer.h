/*
 * perf_buffer.h - what the kernel writes down about threads: when it puts them on procs and takes
 * them off, and where they are when a counter overflows.
 *
 * PERF_RECORD_SWITCH and PERF_RECORD_SAMPLE of one process and its descendants, in one mapped
 * buffer for each proc.  Switches come from software events that need no privilege at
 * perf_event_paranoid 2 or below; whether what is sampled is to be had tells
 * trc_cpu_events_settle().
 *
 *   perf_buffer:V1  times are CLOCK_MONOTONIC_RAW nanoseconds, and do not decrease in one buffer
 *   perf_buffer:V2  a record is handed out when it is old enough for the thread to have made itself
 *       known, or when its buffer fills up
 *   perf_buffer:V3  what the kernel had no room for is handed out as a count, in its place
 *   perf_buffer:V4  in flight mode the kernel overwrites the oldest, nobody is woken, and reading
 *       means: copy what there is, then hand out the copy. What happens while it is copied counts
 *       as in V3
 *   perf_buffer:V5  each event has one counter for each proc, which threads inherit and which
 *       counts while they run on that proc: no thread is missing, and no descriptor is needed for a
 *       new one
 *   perf_buffer:V6  a thread's counter goes on where it was when the thread last ran, if its period
 *       is longer than threads run at a time: else the kernel hands counters on from thread to
 *       thread, and who gets the sample would be chance
 *   perf_buffer:V7  threads that are there already take a descriptor for each proc and
 *       event.  Where events may be added later, switches leave some descriptors for them, at most
 *       half of what may be open: threads beyond that are named as missing
 *   perf_buffer:V8  a thread that ends is taken off its proc when the kernel takes its counters
 *       away, as PERF_RECORD_EXIT tells: its last switch comes later, and is in no buffer
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
 * Samples these from now on as well, in all threads that there are and are to come; those
 * that were sampled before keep their numbers.  Not at_exec, not in flight mode.  0 or -errno with a sentence
 * in said: then none of them.
 */
int trc_perf_add_events(struct trc_perf *p, const struct trc_cpu_event *event, uint32_t n,
			char *said, size_t n_bytes);
/* Samples nothing any more.  What has been sampled is there for one more pass. */
void trc_perf_stop_events(struct trc_perf *p);
/* From now on the calling process gets SIGIO when half a buffer has come, and then for each half of
 * one.  Not in flight mode, and not reliably for samples.  False: it gets none. */
bool trc_perf_signal(struct trc_perf *p);
/* Within what time buffers that are empty now should be looked at, if threads are sampled as often
 * as was asked for; UINT64_MAX = it does not matter. */
uint64_t trc_perf_patience_ns(const struct trc_perf *p);
/* Hands out what has come; with `all` also the latest.  In flight mode: what was copied last.  How
 * many records. */
uint64_t trc_perf_pass(struct trc_perf *p, bool all, trc_perf_fn *fn, void *context);
/* The same up to this time.  With `room` a buffer that is more than half full is emptied all the same
 * (perf_buffer:V2).  Not in flight mode. */
uint64_t trc_perf_pass_until(struct trc_perf *p, uint64_t until_ns, bool room, trc_perf_fn *fn,
			     void *context);
/* How old a record is that V2 hands out. */
#define TRC_PERF_HOLD_NS UINT64_C(20000000)
/* Flight mode: takes note of what is mapped; to be done once a second or so. */
void trc_perf_look(struct trc_perf *p);
/* Flight mode: copies what the buffers hold now.  0 or -ENOMEM. */
int trc_perf_copy(struct trc_perf *p);
/*
 * Flight mode: the same of what came since the copy before alone, which holds the kernel up for as
 * much less.  head, of as many procs as there are: where the buffers were then, or by trc_perf_heads();
 * after the call, where they are.
 */
int trc_perf_copy_since(struct trc_perf *p, uint64_t *head);
void trc_perf_heads(const struct trc_perf *p, uint64_t *head);
/* The time of the oldest record of the copy if there were older ones; 0 = it has all of this proc
 * that was asked for. */
uint64_t trc_perf_oldest_ns(const struct trc_perf *p, uint32_t proc);
/* Of the copy, the time of the newest record of this process; 0 = there is none. */
uint64_t trc_perf_newest_ns(struct trc_perf *p, uint32_t pid);
/* How many threads that were there already are not sampled. */
uint64_t trc_perf_missing_threads(const struct trc_perf *p);
/* How many per cent of the time the event was counted; less than 100 where the processor has too few
 * counters for all.  Samples' values are what they would have been. */
uint32_t trc_perf_counted_percent(const struct trc_perf *p, uint32_t event);

/* What is, or was, sampled, as the trace tells of it (trc_drain_kernel_events()). */
struct trc_perf_table {
	struct trc_sample_event_entry entry[TRC_CPU_EVENTS_MAX];
	char note[TRC_CPU_EVENTS_MAX][256];
	uint32_t n;
};
/* As of now; t borrows from p.  p may be NULL: nothing. */
void trc_perf_table_fill(struct trc_perf_table *t, const struct trc_perf *p);
void trc_perf_close(struct trc_perf *p); /* accepts NULL */

#endif
