/*
 * tracks.h - what each thread was doing, as one run of intervals without overlap.
 *
 * A thread's track begins at trace time 0 and ends at the end of the trace; its
 * intervals follow each other without a hole.  Where waits lie within waits the inner one
 * is shown.  The end of a wait, from the wake-up on, is a state of its own.
 *
 *   tracks:T1  intervals of a thread touch, have a length above 0, and sum to the trace's length
 *   tracks:T2  if there are more than limits->intervals, a run of intervals shorter than `merged_below_ns` becomes one or two
 *       (TRC_STATE_MERGED), which count the run's intervals: the second has the waits for locks, the first all others.  A
 *       run ends after a step of the sketch (first.h), or after a longer step if the limit is small.  At most
 *       2 * limits->intervals + 2 are made for a thread
 *   tracks:T3  the time per thread and state is exact, whether intervals are merged or not
 */
#ifndef TRC_VIEWER_TRACKS_H
#define TRC_VIEWER_TRACKS_H

#include "analyzer/model/model.h"
#include "cut.h"
#include "first.h"
#include "page.h"

enum trc_state {
	TRC_STATE_ABSENT,	/* not born, or gone */
	TRC_STATE_RUNNING,	/* on a proc, says the kernel */
	TRC_STATE_RUNNABLE,	/* taken off its proc though it could have gone on */
	TRC_STATE_ACTIVE,	/* not in a wait that was recorded; scheduling is not known */
	TRC_STATE_OFF_PROC,	/* off its proc, not in a wait that was recorded */
	TRC_STATE_WOKEN,	/* its wait was ended, but it does not run yet */
	TRC_STATE_PARKED = 32,	/* + enum trc_reason */
	TRC_STATE_MERGED = 128, /* flag: several intervals, most of the time in this state */
};

/* Flags of what goes on beyond an edge of the page: a thread's first state, or its last.  TRC_BEYOND_ALL: all of the
 * thread's time lies beyond, and the thread is left out. */
enum { TRC_BEYOND_START = 1, TRC_BEYOND_END = 2, TRC_BEYOND_ALL = 4 };

/* A wait that the page shows, and what its intervals say of it.  Values that agree with the intervals need not be written
 * again.  Times since the start of the trace. */
struct trc_shown_park {
	uint64_t start_ns, end_ns; /* of its first interval, and of its last */
	uint64_t wake_ns;	   /* start of TRC_STATE_WOKEN; end_ns = there is none */
	uint32_t row;		   /* of the model's parks */
	uint8_t reason;		   /* 0 = it was woken all the time */
};

/* Whether a state, without flags, is a wait for a lock. */
bool trc_state_is_lock(unsigned int state);

struct trc_tracks {
	/* Columns, per interval in track order, threads in the model's order. */
	struct trc_column interval_count; /* per thread */
	struct trc_column duration, state;
	struct trc_column park;	  /* of a parked or woken one: index in shown, + 1 */
	struct trc_column proc;	  /* of a running one */
	struct trc_column merged; /* of a merged one: how many */
	struct trc_column time_thread, time_state, time_ns; /* T3 */
	struct trc_column beyond;			    /* per thread: TRC_BEYOND_* (cut:A3) */
	size_t n_threads_out;				    /* threads with TRC_BEYOND_ALL */

	struct trc_first first;
	struct trc_shown_park *shown; /* in the order of their first intervals; owned */
	uint32_t n_shown;
	uint64_t n_intervals, n_before_merging;
	int64_t merged_below_ns; /* 0 = nothing was merged */
};

/* 0, or -ENOMEM and nothing to free.  The parts WAITS and SCHED must be there. */
int trc_tracks_make(struct trc_tracks *t, const struct trc_cut *cut, uint64_t intervals_max);
void trc_tracks_free(struct trc_tracks *t);

enum { TRC_TRACKS_COLUMNS = 10 };
/* All columns, in the order in which a page has them. */
void trc_tracks_columns(struct trc_tracks *t, struct trc_column *column[TRC_TRACKS_COLUMNS]);

#endif
