/*
 * drain.h - drains one shared mapping into one writer.
 *
 * Runs in trace-record, outside of the recorded process, or in a thread of the recorded process.
 * The mapping may contain anything: the process may have overwritten it.
 *
 *   drain:G1  data from the mapping is copied and checked before it is used.  A record that fails
 *       its check costs the rest of its page, and becomes a gap
 *   drain:G2  every record is either handed to the writer or counted in a gap event, once
 *   drain:G3  no function here calls malloc, stdio or an interposed libc function
 *   drain:G4  one thread at a time calls these functions for a drain.  A mapping has at most one
 *       drain, and any number of drains that only read (trc_drain_options, `follow`)
 */
#ifndef TRC_RECORDER_DRAIN_DRAIN_H
#define TRC_RECORDER_DRAIN_DRAIN_H

#include <stdbool.h>
#include <stdbool.h>
#include <stdint.h>
#include "format/writer.h"
#include "recorder/shared/layout.h"

struct trc_drain;
struct trc_perf_record;

/*
 * A process that executes another program goes on in the same trace with another mapping.  The new
 * mapping counts serials, tasks, fibers, module epochs and sampled allocations from the beginning:
 * the *_base options add what the mappings before it used.
 */
struct trc_drain_window;

/*
 * An observer sees all events that are handed to the writer, in the same order, whether or not the
 * writer takes them.  Ids are the writer's, to be looked up before the call returns.  Times are
 * ticks, also those of the kernel's records.  The draining thread calls the observer; G3 holds for
 * it as well.
 */
struct trc_drain_observer {
	void (*event)(void *context, const struct trc_writer *writer,
		      const struct trc_event *event);
	/* The labels that a thread has when observing begins, if any. */
	void (*thread_labels)(void *context, const struct trc_writer *writer, uint32_t thread,
			      uint32_t labels);
	void *context;
};

/* What was found out about a wait in progress that its thread has not recorded yet. */
struct trc_wait_found {
	uint32_t n_frames; /* 0 = its stack is not known */
	uint32_t n_bytes;  /* 0 = it is not known what the descriptor is */
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	char descriptor[256]; /* as in a wait event */
};
/* Finds out about the wait in slot number `slot` while the slot's counter is `seq`.  False: nothing
 * is known. */
typedef bool trc_wait_find_fn(void *context, uint32_t slot, uint32_t seq,
			      struct trc_wait_found *found);

struct trc_drain_options {
	uint32_t pid; /* as this process knows it, to ask whether a thread is gone; 0 = unknown */
	uint32_t serial_base;
	uint32_t epoch_base;
	uint64_t task_base;
	uint64_t sample_base; /* of allocations */
	uint64_t fiber_base;
	/* A flight recorder uses the mapping: earlier events do not belong to this trace, and
	 * recording may go on after this trace. */
	bool join;
	/* NULL, or with `join` a finished drain of the same mapping (TRC_DRAIN_LEFT): the new drain
	 * goes on where that drain ended, if everything since is still there; see
	 * trc_drain_goes_on().  Borrowed until trc_drain_open() returns. */
	const struct trc_drain *after;
	bool never_wait; /* writers never wait for room, whatever the mapping says */
	/* With `join`: the drain only reads.  It changes nothing, and the mapping may be read-only.
	 * A flight recorder overwrites what was not read in time; gaps and the totals say so.  A
	 * mapping may have any number of such drains, beside another drain.  They do not use
	 * trc_drain_finish() and trc_drain_sleep(). */
	bool follow;
	/* NULL = the mapping is recorded to; borrowed until trc_drain_open() returns. */
	const struct trc_drain_window *window;
	/* Asked at the end, of waits in progress; NULL = nothing was found out.  Its context is
	 * borrowed until trc_drain_close(). */
	trc_wait_find_fn *wait_find;
	void *wait_find_context;
};

/*
 * For a private copy of a mapping, of which one window is wanted (snapshot.h).  The copy does not
 * change: the drain does not wait, gives no room back, writes no sync points, and reads no clock.
 */
struct trc_drain_window {
	uint64_t from, to;	    /* ticks, both included */
	uint64_t now;		    /* ticks; no record is later */
	struct trc_sync_point sync; /* turns the kernel's times into ticks */
	/* [n_threads]: the fiber to which each slot's open regions belong.  It differs from the
	 * slot's fiber if the thread ran another fiber when its regions were read.  NULL = it never
	 * differs. Borrowed until trc_drain_close(). */
	const uint64_t *regions_fiber;
};

enum trc_drain_end {
	TRC_DRAIN_STOPPED,  /* the process lives on, but records no more */
	TRC_DRAIN_LEFT,	    /* the process goes on recording, for a flight recorder */
	TRC_DRAIN_REPLACED, /* the process executed another program: its threads are gone */
	TRC_DRAIN_DEAD,
};

struct trc_drain_totals {
	uint64_t events;      /* handed to the writer, without gaps */
	uint64_t lost_events; /* as counted in gaps */
	uint64_t damaged;     /* pages and cells given up, also in lost_events */
	/* Stacks, strings and label sets that were gone when their record was read. */
	uint64_t evicted;
	uint64_t slots_full;		/* threads known by their events only */
	uint64_t samples, lost_samples; /* as events say */
	/* Words of rings and the overflow stream: words that were read, and words that had been
	 * overwritten before. */
	uint64_t read_words, overwritten_words;
};

/*
 * Starts draining: from now on the recorded process may wait for room.  `shared` and `writer`
 * are borrowed until trc_drain_close(); *out is the caller's.  Without a window, trc_clock_kind
 * must be the mapping's.  0, -ENOMEM, -EBADMSG (see trc_layout_check()), -ENOTSUP: another clock.
 * If this mapping is being recorded to, the kernel's buffers must be open already.
 */
int trc_drain_open(struct trc_drain **out, struct trc_shared *shared, uint64_t mapped_bytes,
		   struct trc_writer *writer, const struct trc_drain_options *options);

/* True if nothing is missing between the drain of the option `after` and this drain. */
bool trc_drain_goes_on(const struct trc_drain *d);

/*
 * Drains the records committed so far, gives the room back, and once a second makes the writer
 * write out its blocks.  Returns the number of events.  A failed writer takes no more events, and
 * counts them.  The rings are emptied all the same, and no thread waits for room any more.
 */
uint64_t trc_drain_pass(struct trc_drain *d);

/* Between two passes: from now on `observer` sees all events; NULL = no observer.  Borrowed until
 * the next call or trc_drain_close().  Not for a drain with a window. */
void trc_drain_observe(struct trc_drain *d, const struct trc_drain_observer *observer);
/* After trc_drain_observe(), before the next pass: tells of waits that have begun already.  A
 * wait's `since` may be later than events that are still to come.  Entries are borrowed during the
 * call. */
void trc_drain_tell_waits(struct trc_drain *d,
			  void (*tell)(void *context, const struct trc_writer *writer,
				       const struct trc_status_entry *wait),
			  void *context);
/* A thread that has not ended, as its slot says. */
struct trc_drain_thread {
	struct trc_status_entry status; /* what it waits for */
	struct trc_registers from;	/* for a wait without a stack: pc 0 = not known */
	uint32_t seq;			/* of its slot: differs if the slot has changed */
	uint32_t tid, creator;		/* a serial; 0 = not known */
	uint32_t last;			/* stack at which it was last seen; 0 = none */
	bool last_is_sample;		/* seen by a sample, else at the end of a wait */
	uint64_t last_ticks;		/* when it was last seen */
	uint32_t creation;		/* the stack at which it was created; 0 = not known */
	uint32_t labels;
	const char *name; /* not terminated */
	uint32_t name_bytes;
};
/* Between two passes: tells what every thread is doing now.  Ids are the writer's.  Entries, and
 * what their ids stand for, are borrowed during the call.  Not for a drain with a window. */
void trc_drain_each_thread(struct trc_drain *d,
			   void (*tell)(void *context, const struct trc_writer *writer,
					const struct trc_drain_thread *thread),
			   void *context);
/* How full the fullest ring was when the last pass began: 256 is a whole ring. */
uint32_t trc_drain_fullest(const struct trc_drain *d);
/*
 * Ticks up to which the process's events have been handed over, as of the last pass.  Two
 * exceptions: a thread that was stopped in the middle of a record may still commit an earlier
 * record, and the kernel's buffers may hold earlier records back.
 */
uint64_t trc_drain_settled(const struct trc_drain *d);

/* The last pass, the last gaps, and what each thread is doing.  From here on no thread waits for
 * room. The writer is left open.  0, or the writer's error. */
int trc_drain_finish(struct trc_drain *d, enum trc_drain_end how);
void trc_drain_close(struct trc_drain *d); /* accepts NULL */

void trc_drain_totals(const struct trc_drain *d, struct trc_drain_totals *totals);
/* Sets the *_base options for the mapping after this one. */
void trc_drain_next(const struct trc_drain *d, struct trc_drain_options *options);

/*
 * In place of passes, for a drain with a window: drains each stream from its tail to its head.  A
 * thread that events in the window only name is made known from the records before the window.
 */
void trc_drain_copy(struct trc_drain *d);
/* In place of trc_drain_finish(): the last gaps, and what each thread was doing when the window
 * ended, with the regions that it had open.  0, or the writer's error. */
int trc_drain_copy_finish(struct trc_drain *d);
/* Tells the drain that this proc's kernel records from before this time were overwritten. */
void trc_drain_kernel_held(struct trc_drain *d, uint32_t proc, uint64_t raw_ns);
/* True if kernel records of this proc were handed over, wanted or not.  *held is the time, in
 * ticks, from which on none is missing; 0 = from the beginning. */
bool trc_drain_kernel_seen(const struct trc_drain *d, uint32_t proc, uint64_t *held);

/* Sleeps until writers want pages back, a signal arrives, or timeout_ns have passed. */
void trc_drain_sleep(struct trc_drain *d, uint64_t timeout_ns);

/* The serial (in the file) of the thread that had this tid at that time; 0 = not known. */
uint32_t trc_drain_thread(struct trc_drain *d, uint32_t tid, uint64_t ticks);
/* What a process that has ended used in all, before trc_drain_finish(): the part of it that nothing
 * sampled is told.  Context: as that of the drain. */
void trc_drain_used(struct trc_drain *d, uint64_t used_ns);
/* Adds a record of the kernel's, in order for each proc.  Records of threads that have not made
 * themselves known are left out; their samples are counted as lost. */
void trc_drain_kernel(struct trc_drain *d, const struct trc_perf_record *record);
/* How much more samples of the kernel's event and losses of such samples stand for, in the trace, than
 * the records that came: by the first samples that threads take themselves. */
int64_t trc_drain_first_ns(const struct trc_drain *d, uint32_t event);
/* Sets the events that the kernel samples: event i of perf_buffer.h is entry[i]; this function
 * gives them numbers.  Borrowed until trc_drain_close(). */
void trc_drain_kernel_events(struct trc_drain *d, const struct trc_sample_event_entry *entry,
			     uint32_t n);
/* Adds an event: the process may use this many procs from now on.  In one order with the kernel's
 * records of proc 0. */
void trc_drain_procs(struct trc_drain *d, uint64_t raw_ns, uint32_t procs);
/* Converts a recent time of CLOCK_MONOTONIC_RAW to ticks. */
uint64_t trc_drain_ticks(const struct trc_drain *d, uint64_t raw_ns);

#endif
