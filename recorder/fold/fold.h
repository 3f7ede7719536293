/*
 * fold.h - drained events, summed by stack and labels, for any number of profiles at once.
 *
 * A drainer feeds one fold: every event that the drainer hands to its writer, and after each pass
 * the time up to which the events are complete.  The fold merges the streams by time and follows
 * threads, locks and live allocations once; each wanted profile is a view: its own time window, its
 * own rate, its own random choice, its own sums.  The result of a view is copied out, and the copy
 * belongs to the caller.
 *
 *   fold:F1  nothing here calls malloc, stdio, or an interposed libc function: a fold may run
 *       inside other people's processes.  Memory is mapped when a fold is opened, or a view is
 *       added or copied.  Memory is bounded, and pages that are never needed are never touched
 *   fold:F2  one thread at a time for a fold and all its views.  A struct trc_folded refers to
 *       neither fold nor view: any thread may read and free it
 *   fold:F3  the waits of a block profile and the sums of a mutex profile are those that
 *       trace-analyze --pprof derives from the same events
 *   fold:F4  a view counts events whose time lies in its window.  A wait is cut where the window
 *       begins and ends: a wait in progress at the end counts for the time that it has lasted
 *   fold:F5  sums of thinned events have the right expectation, whatever other views want: each
 *       view decides by itself, event by event, from a hash of the event and the view's seed
 *   fold:F6  an entry that finds no room, or that a lost event may have changed, is left out, never
 *       guessed.  It is counted in the lost_* of each view in whose window it lies
 */
#ifndef TRC_RECORDER_FOLD_FOLD_H
#define TRC_RECORDER_FOLD_FOLD_H

#include <stdbool.h>
#include <stdint.h>
#include "format/writer.h"

struct trc_fold;
struct trc_view;
struct trc_folded;

/* ---- the fold -------------------------------------------------------------------------- */

struct trc_fold_options {
	uint64_t ticks_per_second; /* of the clock of events; not 0 */
	uint32_t n_procs;	   /* highest proc number + 1; not 0 */
	/* The fold's own memory, without views; 0 = 256 MiB.  At least 8 MiB are taken, and
	 * some for each proc.  What is touched grows with the number of threads, stacks and live
	 * samples. */
	uint64_t memory_bytes;
	/* How long an unlock may be recorded after it was done and still be put in its place among
	 * the waits for the lock; 0 = 20 ms. */
	uint64_t unlock_lag_ns;
	/* Which sampled event a number stands for, where one has several: that by which views know
	 * it.  Called as events come.  NULL: each number is an event. */
	uint32_t (*sample_event)(uint32_t number);
};

/* On success *out is the caller's: trc_fold_close() it.  0, -EINVAL or -ENOMEM. */
int trc_fold_open(struct trc_fold **out, const struct trc_fold_options *options);
/* Frees the fold and all its views.  Accepts NULL. */
void trc_fold_close(struct trc_fold *fold);

/*
 * One event, as handed to the writer.  The event's ids are ids of `tables`, which is asked for
 * their content before this returns.  Times are ticks, also times of the kernel's records.  Events
 * of one stream come in order.  An event that is earlier than the last merge (trc_fold_pass())
 * counts as if it had come at that merge.  Kinds that no view wants cost next to nothing.
 */
void trc_fold_event(struct trc_fold *fold, const struct trc_writer *tables,
		    const struct trc_event *event);
/* The labels of a thread that no event told of: called before the thread's first event of a new
 * drain. */
void trc_fold_thread_labels(struct trc_fold *fold, const struct trc_writer *tables, uint32_t thread,
			    uint32_t labels);
/*
 * A wait of a thread that no event told of: called before the first event of a drain that begins
 * while the thread waits, and after trc_fold_lost().  The park of this wait may still come, or even
 * the end of the wait before: both change nothing.  If the fold knows for sure of a wait of the
 * thread, that wait stays.
 */
void trc_fold_thread_wait(struct trc_fold *fold, const struct trc_writer *tables,
			  const struct trc_status_entry *wait);
/* From now on ids are another writer's, or another file's: a drain has ended, and another drain
 * begins.  Serials of threads keep their meaning. */
void trc_fold_new_tables(struct trc_fold *fold);
/* All events up to `upto` ticks have come: merges and counts them, except waits for locks of the
 * last unlock_lag_ns.  An `upto` earlier than before changes nothing. */
void trc_fold_pass(struct trc_fold *fold, uint64_t upto);
/*
 * Events of any thread may be missing from `since` to `until` (ticks): waits and labels that they
 * may have changed are in doubt (F6).  `events`: the number of missing events, 0 = not known.  Gap
 * events tell of losses by themselves; this function is for times without a drainer.
 */
void trc_fold_lost(struct trc_fold *fold, uint64_t since, uint64_t until, uint64_t events);

/* ---- views ----------------------------------------------------------------------------- */

enum trc_view_kind {
	TRC_VIEW_BLOCK,	       /* waits for other threads, at the waiter's stack */
	TRC_VIEW_MUTEX,	       /* waits that an unlock ends, at the unlocker's stack */
	TRC_VIEW_CPU,	       /* samples of one event */
	TRC_VIEW_ALLOC,	       /* allocations */
	TRC_VIEW_HEAP,	       /* allocations, and which of them have not been freed */
	TRC_VIEW_THREADCREATE, /* threads that began, at the stack that created them */
};

enum {
	TRC_VIEWS_MAX = 64, /* of one fold, at once */
	TRC_VIEW_VALUES = 4,
};

struct trc_view_options {
	enum trc_view_kind kind;
	/*
	 * BLOCK: nanoseconds.  A wait of at least this is kept as it is; a shorter one of d with
	 *   probability d/rate, and then counts rate/d times, with a delay of rate in all.
	 * MUTEX: one unlock in so many is kept, and counts so many times.
	 * CPU: mean distance of samples, in the unit of the event.  A sample that was drawn at a
	 *   smaller one is kept with probability period/rate, and its value counts rate/period
	 *   times; the number of samples is that of those kept.
	 * ALLOC, HEAP: mean bytes between samples.  A sample that was drawn at a smaller
	 *   distance is kept by the hash of its number, as likely as if it had been drawn at this
	 * one. 0 or 1: everything that was recorded.  THREADCREATE has no rate.
	 */
	uint64_t rate;
	/* CPU: its number in the table of sampled events, the first if it has several; 0 = all. */
	uint32_t sample_event;
	bool all_waits; /* BLOCK: whatever threads wait for, files and timers too; of fibers none */
	bool live;	/* HEAP: begins with what is live, as far as the fold knows (see below), all
			  of it allocated */
	uint64_t live_before; /* ... of that only what was allocated before, in ticks; 0 = all */
	uint64_t seed; /* of the random choice; views with different seeds choose independently */
	uint32_t rows_max; /* stacks with their labels; 0 = 65536 */
};

/*
 * Adds a view whose window begins at `now` ticks, or where the merge stands if
 * that is later.  On success *out is valid until trc_view_remove() or trc_fold_close().
 * 0, -EINVAL: no such kind; -ENOSPC: TRC_VIEWS_MAX are in use; -ENOMEM.
 *
 * The fold follows live allocations from the first HEAP view's addition to the last HEAP view's
 * removal.  A caller that wants to know later what is live keeps a HEAP view of its own, and copies
 * it.
 */
int trc_view_add(struct trc_fold *fold, struct trc_view **out,
		 const struct trc_view_options *options, uint64_t now);
/* The number of stacks, with their labels, at which the view has counted something; THREADCREATE:
 * the number of threads.  Waits that have not ended yet do not count. */
uint64_t trc_view_count(const struct trc_view *view);
/* Accepts NULL. */
void trc_view_remove(struct trc_fold *fold, struct trc_view *view);
/*
 * What the view has counted from the beginning of its window to `until` ticks, waits in progress
 * included.  The view goes on: a snapshot is a copy; the end of a recorder is a copy and a removal.
 * Events handed over so far are merged up to `until` first, as by trc_fold_pass(), without the lag.
 * If nothing may be missing, the caller first makes passes until events are complete up to `until`.
 * If passes went beyond `until`, the window ends where the last pass did: the head tells.  On
 * success *out is the caller's: trc_folded_free() it.  0 or -ENOMEM.
 */
int trc_view_copy(struct trc_fold *fold, struct trc_view *view, uint64_t until,
		  struct trc_folded **out);

/*
 * HEAP: copies the live objects that the fold knows, and the allocations in the window of `since`,
 * with earlier allocations that are still live. since NULL: only the live objects.  As
 * trc_view_copy(), for up to two copies; copies that were made are the caller's in any case.
 */
int trc_heap_copy(struct trc_fold *fold, struct trc_view *since, uint64_t rate, uint64_t until,
		  struct trc_folded *out[2], unsigned int *n);

/* ---- what was counted ------------------------------------------------------------------ */

struct trc_folded_head {
	struct trc_view_options options; /* as the view was added */
	uint64_t begin, end;		 /* the window, in ticks */
	uint64_t duration_ns;
	/* Events that were lost in the window, of any kind: a wait or an unlock may have been among
	 * them.  Counted at least: losses of an unknown number count 1. */
	uint64_t lost_events;
	uint64_t lost_samples; /* CPU: of this event, or of any, as samples_lost tells */
	uint64_t lost_by_cause[TRC_SAMPLE_LOSS_COUNT]; /* the same; of NONE: for another cause */
	/* What the lost samples would have stood for, in the unit of the event; and how much of
	 * that is of threads that ended, or were left, before a sample came. */
	uint64_t lost_value, alone_value;
	/* Waits, unlocks, samples, allocations that were recorded and are not in the sums: no room
	 * was left, or an event that was lost may have changed them. */
	uint64_t left_out;
	/* ... and those that are in the sums with no stack: none was taken, or a table was full. */
	uint64_t without_stack;
};

/* One sum.  Pointers are into the struct trc_folded. */
struct trc_folded_row {
	const uint64_t *frame; /* frame[0] is the innermost; return addresses, not adjusted */
	uint32_t n_frames;     /* 0 = the stack is not known */
	uint32_t epoch;	       /* of the list of modules, as in trc_writer_stack() */
	uint32_t n_labels;     /* of trc_folded_labels() */
	uint32_t labels_idx;
	/*
	 * BLOCK, MUTEX: contentions, delay in nanoseconds.  CPU: samples, value in the unit of the
	 * event.  ALLOC: objects and bytes allocated.  HEAP: the same, then objects and bytes that
	 * were allocated in the window and are live at its end; with `live` also those from before
	 * it, which are not in the first two.  THREADCREATE: threads.
	 * Estimates are rounded to whole numbers here and nowhere else.
	 */
	int64_t value[TRC_VIEW_VALUES];
};

void trc_folded_head(const struct trc_folded *folded, struct trc_folded_head *head);
uint32_t trc_folded_rows(const struct trc_folded *folded);
/* Row i < trc_folded_rows(), in no particular order; each stack with its labels has one row. */
void trc_folded_row(const struct trc_folded *folded, uint32_t i, struct trc_folded_row *row);
/* The labels of a row, sorted by key; returns their number, row->n_labels.  Texts are borrowed from
 * the struct trc_folded. */
uint32_t trc_folded_labels(const struct trc_folded *folded, const struct trc_folded_row *row,
			   struct trc_label label[TRC_LABELS_MAX]);
/* Any thread.  Accepts NULL. */
void trc_folded_free(struct trc_folded *folded);

#endif
