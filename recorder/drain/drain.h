/*
 * drain.h - from one shared mapping to one writer.
 *
 * Runs in trace-record, outside of the recorded process, or in a thread of that process.  What
 * is in the mapping may be anything: the process may have overwritten it.
 *
 *   drain:G1  nothing read from the mapping is used before it was copied and checked; a record that
 *       fails its check costs the rest of its page, and becomes a gap
 *   drain:G2  every record is either handed to the writer or counted in a gap event, once
 *   drain:G3  no function here calls malloc, stdio or an interposed libc function
 *   drain:G4  one thread at a time, and at most one drain for a mapping, but for those that only
 *       look (trc_drain_options, `follow`)
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
 * A process that executes another program goes on in the same trace with another mapping, which
 * counts serials, tasks, fibers, module epochs and sampled allocations from the beginning: what
 * the mappings before it used is added to them.
 */
struct trc_drain_window;

/*
 * Who sees what is handed to the writer, in the same order, whether or not the writer takes it.  Ids
 * are the writer's, to be looked up before the call returns; times are ticks, of the kernel's records
 * too.  Called by whoever drains; G3 holds for it as well.
 */
struct trc_drain_observer {
	void (*event)(void *context, const struct trc_writer *writer,
		      const struct trc_event *event);
	/* The labels that a thread has when observing begins, if any. */
	void (*thread_labels)(void *context, const struct trc_writer *writer, uint32_t thread,
			      uint32_t labels);
	void *context;
};

struct trc_drain_options {
	uint32_t pid; /* as this process knows it, to ask whether a thread is gone; 0 = unknown */
	uint32_t serial_base;
	uint32_t epoch_base;
	uint64_t task_base;
	uint64_t sample_base; /* of allocations */
	uint64_t fiber_base;
	/* A flight recorder uses the mapping: what was recorded before is not this trace's, and
	 * recording may go on after it. */
	bool join;
	/* NULL, or with `join` a drain of the same mapping that was finished (TRC_DRAIN_LEFT): this
	 * one goes on where that one ended, if all of it is still there; see trc_drain_goes_on().
	 * Borrowed until trc_drain_open() returns. */
	const struct trc_drain *after;
	bool never_wait; /* then: nobody waits for room, whatever the mapping says */
	/* With `join`: only looks.  Nobody is told, and the mapping may be read-only: a flight recorder
	 * overwrites what was not read in time, which is told by gaps and the totals.  Any number of
	 * these for a mapping, whoever else drains it; trc_drain_finish() and trc_drain_sleep() are not
	 * for them. */
	bool follow;
	/* NULL = a mapping that is recorded to; borrowed until trc_drain_open() returns. */
	const struct trc_drain_window *window;
};

/*
 * For a private copy of a mapping, of which one window is wanted (snapshot.h).  Nothing changes any
 * more: the drain neither waits nor gives room back, writes no sync points, and reads no clock.
 */
struct trc_drain_window {
	uint64_t from, to;	    /* ticks, both included */
	uint64_t now;		    /* ticks; no record is later */
	struct trc_sync_point sync; /* turns the kernel's times into ticks */
	/* [n_threads]: the fiber that each slot's open regions are of, where another one than the slot
	 * says may have run by the time they were looked at.  NULL = nowhere.  Borrowed until
	 * trc_drain_close(). */
	const uint64_t *regions_fiber;
};

enum trc_drain_end {
	TRC_DRAIN_STOPPED,  /* the process lives on, but records no more */
	TRC_DRAIN_LEFT,	    /* it goes on recording, for a flight recorder */
	TRC_DRAIN_REPLACED, /* it executed another program: its threads are gone */
	TRC_DRAIN_DEAD,
};

struct trc_drain_totals {
	uint64_t events;      /* handed to the writer, gaps not among them */
	uint64_t lost_events; /* told in gaps */
	uint64_t damaged;     /* pages and cells given up, also in lost_events */
	/* Stacks, strings and label sets that were gone when their record was read. */
	uint64_t evicted;
	uint64_t slots_full;		/* threads known by their events only */
	uint64_t samples, lost_samples; /* as events tell */
	/* Words of rings and the overflow stream: those that were read, and those that others had
	 * written over before. */
	uint64_t read_words, overwritten_words;
};

/*
 * Starts draining: from now on the recorded process may wait for room.  `shared` and `writer`
 * are borrowed until trc_drain_close(); *out is the caller's.  Without a window, trc_clock_kind
 * must be the mapping's.  0, -ENOMEM, -EBADMSG (see trc_layout_check()), -ENOTSUP: another clock.
 * Where the kernel's records come from is open already, if this mapping is recorded to by now.
 */
int trc_drain_open(struct trc_drain **out, struct trc_shared *shared, uint64_t mapped_bytes,
		   struct trc_writer *writer, const struct trc_drain_options *options);

/* Whether nothing is missing between the drain that it came after and this one. */
bool trc_drain_goes_on(const struct trc_drain *d);

/*
 * Drains what is committed now, gives the room back, and once a second has the writer write out
 * what it holds.  Returns the number of events.  A failed writer takes nothing more (and
 * counts it); the rings are emptied all the same, and nobody waits any more.
 */
uint64_t trc_drain_pass(struct trc_drain *d);

/* Between two passes: from now on `observer` sees all; NULL = nobody does.  Borrowed until the next call
 * or trc_drain_close().  Not for a drain with a window. */
void trc_drain_observe(struct trc_drain *d, const struct trc_drain_observer *observer);
/* After that, before the next pass: what threads wait for since before then; `since` may be later
 * than events that come yet.  Entries are borrowed during the call. */
void trc_drain_tell_waits(struct trc_drain *d,
			  void (*tell)(void *context, const struct trc_writer *writer,
				       const struct trc_status_entry *wait),
			  void *context);
/* A thread that has not ended, as its slot says. */
struct trc_drain_thread {
	struct trc_status_entry status; /* what it waits for */
	struct trc_registers from;	/* of a wait that tells no stack: pc 0 = not known */
	uint32_t seq;			/* of its slot: another one, if that has changed */
	uint32_t tid, creator;		/* a serial; 0 = not known */
	uint32_t last;			/* stack at which it was seen before; 0 = none */
	bool last_is_sample;		/* or at the end of a wait */
	uint64_t last_ticks;		/* then */
	uint32_t creation;		/* the stack at which it was created; 0 = not known */
	uint32_t labels;
	const char *name; /* not terminated */
	uint32_t name_bytes;
};
/* Between two passes: what every thread is doing now.  Ids are the writer's.  Entries, and what
 * their ids stand for, are borrowed during the call.  Not for a drain with a window. */
void trc_drain_each_thread(struct trc_drain *d,
			   void (*tell)(void *context, const struct trc_writer *writer,
					const struct trc_drain_thread *thread),
			   void *context);
/* How much was waiting when the last pass began, where it was most: 256 is a whole ring. */
uint32_t trc_drain_fullest(const struct trc_drain *d);
/*
 * Ticks up to which the process's events have been handed over, as of the last pass.  A thread that
 * was stopped in the middle of a record may still come with an earlier one, and the kernel's records
 * may be later by what its buffers hold back.
 */
uint64_t trc_drain_settled(const struct trc_drain *d);

/* The last pass, the last gaps, and what each thread is doing.  Nobody waits for room from here
 * on.  The writer is left open.  0, or the writer's error. */
int trc_drain_finish(struct trc_drain *d, enum trc_drain_end how);
void trc_drain_close(struct trc_drain *d); /* accepts NULL */

void trc_drain_totals(const struct trc_drain *d, struct trc_drain_totals *totals);
/* What to add for the mapping after this one. */
void trc_drain_next(const struct trc_drain *d, struct trc_drain_options *options);

/*
 * In place of passes, for a drain with a window: what lies in it, from where each stream's tail
 * stands to its head.  Threads that are only named are made known by what is left of their past.
 */
void trc_drain_copy(struct trc_drain *d);
/* In place of trc_drain_finish(): the last gaps, and what each thread was doing when the window
 * ended, with the regions that it had open.  0, or the writer's error. */
int trc_drain_copy_finish(struct trc_drain *d);
/* Tells that of this proc's kernel records those before this time were overwritten. */
void trc_drain_kernel_held(struct trc_drain *d, uint32_t proc, uint64_t raw_ns);
/* True if kernel records of this proc were handed over, wanted or not; *held is the oldest time of
 * which there were all, in ticks, 0 = from the beginning. */
bool trc_drain_kernel_seen(const struct trc_drain *d, uint32_t proc, uint64_t *held);

/* Sleeps until writers want pages back, a signal arrives, or timeout_ns have passed. */
void trc_drain_sleep(struct trc_drain *d, uint64_t timeout_ns);

/* The serial (in the file) of the thread that had this tid at that time; 0 = not known. */
uint32_t trc_drain_thread(struct trc_drain *d, uint32_t tid, uint64_t ticks);
/* Adds what the kernel recorded of this process, in order for each proc.  Threads that have not
 * made themselves known are left out; their samples are counted as lost. */
void trc_drain_kernel(struct trc_drain *d, const struct trc_perf_record *record);
/* What the kernel samples: perf_buffer.h's event i is entry[i], numbers are given here.  Borrowed
 * until trc_drain_close(). */
void trc_drain_kernel_events(struct trc_drain *d, const struct trc_sample_event_entry *entry,
			     uint32_t n);
/* Adds that the process may use this many procs from now on, in one order with the kernel's records of
 * proc 0. */
void trc_drain_procs(struct trc_drain *d, uint64_t raw_ns, uint32_t procs);
/* Ticks of a CLOCK_MONOTONIC_RAW time not long ago. */
uint64_t trc_drain_ticks(const struct trc_drain *d, uint64_t raw_ns);

#endif
