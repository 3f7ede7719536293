/*
 * fibers.h - what the files that derive fibers share (fibers.c, fibers_finish.c, fiber_runs.c).
 */
#ifndef TRC_ANALYZER_DERIVE_FIBERS_H
#define TRC_ANALYZER_DERIVE_FIBERS_H

#include "analyzer/model/spans.h"

/* When threads ended, whose last fiber ends to run there. */
struct trc_thread_exits {
	struct trc_index row;	  /* by serial */
	struct trc_array ns;	  /* int64_t */
	struct trc_array exec_ns; /* int64_t, in order: all threads, by executing another program */
};

/* In the note of a change, beside its reason: the thread was first seen with it, and may have been
 * in the fiber before. */
#define TRC_FIBER_FIRST_SEEN 256u

/* Makes fiber_runs of the spans that were made of `changes`, whose notes are reasons, and adds them
 * up in fibers; the state of a fiber that runs in the end is set.  0 or -ENOMEM. */
int trc_derive_fiber_runs(struct trc_model *m, const struct trc_changes *changes,
			  const struct trc_thread_exits *exits);

/* ---- fibers.c and fibers_finish.c ---- */

enum phase {
	PHASE_UNSEEN, /* in the window */
	PHASE_NEW,
	PHASE_RUNS,
	PHASE_CAN_RUN,
	PHASE_WAITS,
	PHASE_ENDED,
};

/* Who made a fiber ready. */
struct waker {
	int64_t ns; /* when; TRC_NEVER = nobody did */
	uint64_t place;
	uint32_t thread, stack;
};
static const struct waker nobody = {.ns = TRC_NEVER};

/* What a fiber does while the events go by. */
struct fiber_now {
	int64_t number;	    /* the fiber's */
	int64_t since_ns;   /* if it can run: since when */
	uint32_t id;	    /* in the order of their coming */
	uint32_t wait;	    /* if it waits: the row's id in fiber_waits */
	struct waker early; /* since it runs (fibers:F4) */
	uint8_t phase;
};

struct fibers {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_changes changes; /* values are row ids, at first in the order of their coming */
	struct trc_index row;	    /* by number */
	struct trc_array now;	    /* struct fiber_now; as fibers, in the order of their coming */
	struct trc_thread_exits exits;
	uint64_t place;		/* of the event that is looked at */
	struct trc_index found; /* by serial: 1 = nobody created it; 0 = has switched since */
	size_t n_executed;	/* fibers of programs before the one that was executed last */
};

enum { WAIT_DROPPED = 128 }; /* of TRC_FIBER_WAIT_*: it was none */

static inline struct trc_fiber *fiber_at(struct fibers *f, uint32_t id)
{
	return (struct trc_fiber *)f->m->fibers.row + id - 1;
}

static inline struct fiber_now *now_at(struct fibers *f, uint32_t id)
{
	return (struct fiber_now *)f->now.row + id - 1;
}

static inline struct trc_fiber_wait *wait_at(struct fibers *f, const struct fiber_now *now)
{
	return (struct trc_fiber_wait *)f->m->fiber_waits.row + now->wait - 1;
}

/* Until trc_fibers_finish() ready_ns is when that was, even if the wait began later (fibers:F4). */
static inline void wait_readied(struct trc_fiber_wait *wait, const struct waker *waker)
{
	wait->ready_ns = waker->ns;
	wait->ready_place = waker->place;
	wait->waker_thread = waker->thread;
	wait->waker_stack = waker->stack;
}

/* It ran again unseen, at the latest now (fibers:F2).  Of a wait from before the window nothing is
 * left. */
static inline void wait_miss(struct trc_fiber_wait *wait, int64_t now_ns)
{
	wait->flags |= wait->flags & TRC_FIBER_WAIT_CUT ? WAIT_DROPPED : TRC_FIBER_WAIT_LOST;
	wait->end_ns = now_ns;
}

/* The row id of the fiber, added if need be; 0 without memory. */
uint32_t trc_fibers_row(struct fibers *f, uint64_t number);
/* 0 or -ENOMEM. */
int trc_fibers_set_name(struct fibers *f, uint32_t id, uint64_t string);
/* After the last event: sorts the fibers, and makes spans, runs and waits.  0 or -ENOMEM. */
int trc_fibers_finish(struct fibers *f);

#endif
