/*
 * rows.h - what the rows of a model's arrays are (model.h says what all rows keep: model:M1 to M5).
 */
#ifndef TRC_ANALYZER_MODEL_ROWS_H
#define TRC_ANALYZER_MODEL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "holds.h"

enum { TRC_NO_PROC = UINT32_MAX };
#define TRC_NEVER      INT64_MIN
#define TRC_PLACE_LAST UINT64_MAX
struct trc_thread {
	uint32_t serial, tid, creator, creator_stack;
	const char *name;	      /* never NULL; "" = not known */
	int64_t created_ns;	      /* just before its creation; TRC_NEVER: not known */
	int64_t start_ns;	      /* TRC_NEVER: before the trace */
	int64_t end_ns;		      /* TRC_NEVER: still there at the end */
	int64_t first_ns, last_ns;    /* of its own events; TRC_NEVER = none */
	int64_t parked_ns, on_cpu_ns; /* on_cpu_ns TRC_NEVER without scheduling records */
	uint64_t n_events, n_parks;
};

struct trc_park {
	int64_t start_ns, end_ns;
	uint64_t object;
	uint32_t thread, stack;
	uint32_t holder;	     /* thread; who held the lock at start_ns */
	uint32_t waker, waker_stack; /* thread and stack of the unlock or unpark that ended it */
	uint32_t unlock;	     /* id in unlocks, 0 = none or not a lock */
	uint32_t proc;
	uint8_t reason;
	uint8_t flags;	      /* TRC_PARK_* */
	int16_t result;	      /* errno of the end; -1 = unknown */
	int64_t wake_ns;      /* when the waker acted; TRC_NEVER = not known */
	uint64_t start_place; /* model:M5 */
	uint32_t descriptor;  /* what it was, if it is one: trc_model_descriptor(); 0 = not known */
};
enum {
	TRC_PARK_ABANDONED = 1, /* left by longjmp, cancellation or a lost resume: end_ns is the
				   next event of the thread that shows it running */
	TRC_PARK_OPEN = 2,	/* still in progress at the end of the trace */
	TRC_PARK_CUT = 4,	/* it began before the window: start_ns is where the window
				   begins, and end_ns - start_ns is a minimum */
	TRC_PARK_PIECE = 8,	/* only in the report: a further part of the wait before */
	TRC_PARK_NO_END = TRC_PARK_ABANDONED | TRC_PARK_OPEN,
};

/* A contended release, and the wait that its critical section caused. */
struct trc_unlock {
	int64_t ts_ns;
	int64_t taken_ns; /* TRC_NEVER = not known: taken when no thread waited for the lock */
	uint64_t object, waiters;
	uint32_t thread, stack, proc;
	uint8_t reason;
	uint32_t recorded_stack; /* where `stack` says more (tail_unlocks.c), what was recorded */
	uint32_t caused_waits;	 /* threads that waited while this holder held it */
	int64_t caused_ns;	 /* their waiting during this critical section, summed */
	uint64_t place;		 /* model:M5 */
};

struct trc_task {
	uint64_t task; /* the user's id; rows are sorted by begin */
	uint64_t parent;
	const char *type;
	int64_t start_ns, end_ns;
	uint32_t start_thread, end_thread;
	uint64_t start_place; /* model:M5 */
};

struct trc_region {
	uint64_t task;
	const char *type;
	uint32_t thread; /* where it began; if it began before the trace, where it ended */
	uint32_t depth;	 /* in its fiber; 0 = outermost */
	int64_t start_ns, end_ns;
	uint32_t fiber;	      /* row id in fibers; 0 = its thread's root fiber */
	uint64_t start_place; /* model:M5 */
};

struct trc_log {
	int64_t ts_ns;
	uint64_t task;
	uint32_t thread;
	const char *category, *message; /* zero-terminated copies; embedded zeros become U+FFFD */
	uint64_t place;			/* model:M5 */
};

struct trc_counter {
	int64_t ts_ns, value;
	const char *name;
	uint32_t thread;
	uint64_t place; /* model:M5 */
};

/* A stretch during which a thread was on a proc, from kernel switch records. */
struct trc_on_cpu {
	int64_t start_ns, end_ns;
	uint32_t thread, proc;
	bool preempted; /* the thread could have gone on when it was taken off */
};

struct trc_gap {
	int64_t since_ns, ts_ns;
	uint64_t lost_events;
	uint32_t proc;
	uint8_t cause; /* enum trc_gap_cause */
	uint8_t source;
};

struct trc_proc {
	uint32_t proc;
	uint64_t n_events, lost_events;
	int64_t first_ns, last_ns;
};

/* Which part of a stream the trace has; a recording has everything, and no rows (format.md). */
struct trc_coverage {
	int64_t held_ns;	/* nothing is missing since then; TRC_NEVER: since the beginning */
	int64_t from_ns, to_ns; /* the window */
	uint32_t proc;		/* TRC_NO_PROC: the overflow stream */
	uint8_t source;		/* enum trc_stream_source */
};

/* A signal that reports a fault or ends the process. */
struct trc_signal {
	int64_t ts_ns, code;
	uint64_t address;
	uint32_t thread, stack, signal;
	bool fatal;
};

/* A condition for a snapshot was met. */
struct trc_trigger {
	int64_t ts_ns;
	uint32_t thread;
	const char *condition;
};

/* One label of a set; rows by set, then by key. */
struct trc_set_label {
	uint32_t labels; /* the set */
	bool is_number;
	const char *key, *value; /* a number is in decimal, with its unit: "42", "7ms" */
	const char *unit;	 /* "" = none, or no number */
	int64_t number;
};

/* A time during which a thread had the same label set.  Rows by thread, then by start.  The rows of
 * a thread that ever had labels follow each other without a hole. */
struct trc_thread_span {
	int64_t start_ns; /* TRC_NEVER: from before the trace */
	int64_t end_ns;	  /* TRC_NEVER: still at the end */
	uint32_t thread;
	uint32_t value;	      /* the label set; 0 = none, or not known: events are missing */
	uint64_t start_place; /* of the event at its begin; 0 = there is none (model:M5) */
};

/* A counter of the thread ran over, or a timer of its CPU time. */
struct trc_sample {
	int64_t ts_ns;
	uint64_t value;	 /* the amount of the event that it stands for, in the event's unit */
	uint64_t period; /* the amount between two samples at that time */
	uint32_t thread, proc, stack;
	uint32_t labels; /* label set; 0 = none */
	uint32_t event;	 /* in sample_events; 0 = not known */
	uint8_t source;	 /* enum trc_stream_source */
	uint64_t place;	 /* model:M5; TRC_PLACE_LAST for a sample of the kernel's */
	uint64_t scaled; /* the value, plus its part of the lost samples that are made up for */
};

/* What was sampled, and how; rows by event. */
enum { TRC_SHORT_STACK_FRAMES = 3 }; /* such stacks of the kernel's mean: no frame pointers */

struct trc_sample_event {
	uint32_t event;
	uint8_t how;		   /* enum trc_sample_how; 0 = not known */
	uint64_t period;	   /* 0 = the kernel adjusted it to the frequency */
	uint64_t frequency_hz;	   /* as asked for; 0 = a period was asked for */
	uint64_t missing_threads;  /* threads that were not sampled */
	const char *name, *unit;   /* "cycles:u", "count"; "" = not known */
	const char *recorder_note; /* "" = nothing */
	const char *note;	   /* recorder_note, and what the samples show */
	uint64_t n_samples, value; /* its rows in samples, and their values summed */
	uint64_t lost_samples;	   /* of its rows in samples_lost */
	uint64_t scaled;	   /* what its samples stand for, summed: trc_sample.scaled */
	uint64_t unseen;	   /* lost samples that no sample stands for */
};

/* Samples that were due, and were not taken or not kept. */
struct trc_samples_lost {
	int64_t ts_ns;
	uint64_t lost_samples;
	uint32_t event; /* 0 = of any */
	uint32_t thread, proc;
	uint8_t cause; /* enum trc_sample_loss */
	bool made_up;  /* other samples stand for it: trc_sample.scaled */
};

static inline bool trc_sample_event_is_clock(const struct trc_sample_event *event)
{
	return !strcmp(event->unit, "nanoseconds");
}

/* Each occurrence of the event has a sample, and none is lost: sums of these are exact. */
bool trc_sample_event_is_counted(const struct trc_sample_event *event);
/* The row of the event with this id, of n that are sorted by id; if there is none, where it would
 * be. */
size_t trc_sample_event_row(const struct trc_sample_event *event, size_t n, uint32_t id);
/* The amount that one lost sample of the event stands for; the mean, if the kernel adjusted the
 * period.  0 = not known. */
uint64_t trc_sample_event_period(const struct trc_sample_event *event);
/* If one part in so many, or more, was lost, the samples do not represent the whole. */
enum { TRC_UNSEEN_PART = 10 };
bool trc_samples_tell_all(uint64_t sampled, uint64_t lost);

/* An allocation that was sampled. */
struct trc_alloc {
	int64_t ts_ns;
	int64_t freed_ns; /* TRC_NEVER: it lives at the end, or its end is not known.
				* Without a free: another program was executed at freed_ns */
	uint64_t sample;  /* its number in the process */
	uint64_t address, bytes;
	uint64_t period; /* bytes between two samples then, on average; 0 or 1: all were sampled */
	double objects;	 /* the estimated number of allocations that it stands for */
	uint32_t thread, proc, stack;
	uint32_t labels; /* label set; 0 = none */
	uint32_t free;	 /* id in frees; 0 = the free is not in the trace */
	bool lives;	 /* at the end of the trace, as far as is known */
	uint64_t place;	 /* model:M5 */
};

/* An estimate without its fraction, at most INT64_MAX. */
static inline int64_t trc_estimate_whole(double estimate)
{
	return estimate < (double)INT64_MAX ? (int64_t)estimate : INT64_MAX;
}

/* The end of a sampled allocation; bytes, period and objects are those of the allocation. */
struct trc_free {
	int64_t ts_ns;
	uint64_t sample, address, bytes, period;
	double objects;
	uint32_t thread, proc;
	uint32_t alloc; /* id in allocs; 0 = not in the trace: from before the trace, or lost */
};

/* ---- fibers: what the program's own scheduler runs on its threads ---- */

enum trc_fiber_state {
	TRC_FIBER_UNKNOWN, /* only its existence is known */
	TRC_FIBER_NEW,	   /* made, has not run yet */
	TRC_FIBER_RUNNING,
	TRC_FIBER_RUNNABLE, /* could run: yielded, or made ready */
	TRC_FIBER_WAITING,
	TRC_FIBER_ENDED,
};

/* A fiber; rows by number.  Root fibers, the threads themselves, have no row. */
struct trc_fiber {
	uint64_t fiber;	    /* its number in the process, never used again */
	const char *name;   /* never NULL; "" = not known */
	int64_t created_ns; /* TRC_NEVER: before recording began, or not known */
	int64_t ended_ns;   /* TRC_NEVER: it lives, or not known */
	int64_t run_ns;	    /* its rows in fiber_runs, summed; an open run up to the trace's end */
	int64_t runnable_ns; /* from when it could go on (it yielded, was made ready) to its running */
	int64_t waited_ns; /* its rows in fiber_waits, to when it was made ready or ran */
	uint32_t creator_thread, create_stack; /* 0 = not known, both */
	uint32_t creator; /* row id in fibers of the fiber that made it; 0 = a root fiber */
	uint32_t n_runs, n_waits;
	uint8_t state;		/* enum trc_fiber_state; when the trace ends */
	uint64_t created_place; /* model:M5 */
};

/* A time during which a fiber ran on a thread, by the program's scheduler.  The thread may have
 * waited, or been preempted, meanwhile. */
struct trc_fiber_run {
	int64_t start_ns, end_ns; /* end_ns TRC_NEVER = open */
	uint32_t fiber;		  /* row id in fibers */
	uint32_t thread;
	uint8_t reason; /* why the fiber was left; 0 = it could go on, or not known */
	uint8_t flags;	/* TRC_FIBER_RUN_* */
};
enum {
	TRC_FIBER_RUN_ENDED = 1, /* the fiber's last run: it ended without running again */
	TRC_FIBER_RUN_OPEN = 2,	 /* still running at the end of the trace */
	TRC_FIBER_RUN_CUT = 4,	 /* it began before start_ns, where the window begins, or where the
				    gap ends in which the switch to it was lost; or it may have
				    begun before, if the thread is older than the recording and was
				    first seen at start_ns */
	TRC_FIBER_RUN_LOST = 8,	 /* it ended after end_ns, where the gap begins in which the switch
				    away from it was lost */
};

/* A time during which a fiber waited: from a switch away from it, with a reason, to a switch to
 * it. */
struct trc_fiber_wait {
	int64_t start_ns;
	int64_t ready_ns; /* when it was made ready; start_ns if it was made ready before;
			     TRC_NEVER = not made ready, or not known */
	int64_t end_ns;	  /* when it ran again; TRC_NEVER = open */
	uint64_t object;
	uint32_t fiber;			    /* row id in fibers */
	uint32_t thread;		    /* where it was left */
	uint32_t end_thread;		    /* where it ran again; 0 = it did not, or unseen */
	uint32_t stack;			    /* where it waited */
	uint32_t labels;		    /* label set under which it waited; 0 = none */
	uint32_t waker_thread, waker_stack; /* thread and stack that made it ready; 0 = not known */
	uint32_t waker_fiber; /* row id in fibers of the waker's fiber; 0 = a root fiber */
	uint8_t reason;	      /* 0 = not known, since the wait is cut */
	uint8_t flags;	      /* TRC_FIBER_WAIT_* */
	uint64_t start_place,
		ready_place; /* model:M5; ready_place: of the event that made it ready */
};
enum {
	TRC_FIBER_WAIT_ENDED = 1, /* the fiber ended at end_ns without running again */
	TRC_FIBER_WAIT_OPEN = 2,  /* it did not run again until the end of the trace */
	TRC_FIBER_WAIT_CUT = 4,	  /* it began before the window: start_ns is the window's begin, and
				     where and why the wait began is not known */
	TRC_FIBER_WAIT_LOST = 8,  /* the fiber ran again in a gap that begins at end_ns: the wait
				     lasted at least up to end_ns */
};

/* ---- the state at the end of the trace ---- */

/* A sampled object that lives; rows by the time of its allocation. */
struct trc_heap_object {
	struct trc_alloc alloc;
	uint32_t id; /* in allocs */
};

/* A region that is open; rows by thread, then by fiber, outermost first. */
struct trc_open_region {
	int64_t since_ns;
	uint64_t task;
	const char *type;
	uint32_t thread; /* the thread that is in the fiber; if none is, where the region began */
	uint32_t depth;
	uint32_t fiber; /* row id in fibers; 0 = the thread's root fiber */
};

enum trc_thread_state {
	TRC_THREAD_UNKNOWN,
	TRC_THREAD_NOT_WAITING, /* in no recorded wait */
	TRC_THREAD_WAITING,
};

/* What a thread that has not ended is doing; rows by thread. */
struct trc_thread_now {
	uint32_t thread;
	uint8_t state;	/* enum trc_thread_state */
	uint8_t reason; /* of its wait; 0 = it does not wait */
	uint64_t object;
	int64_t since_ns; /* when the wait began; TRC_NEVER = it does not wait, or not known */
	uint32_t park;	  /* id in parks */
	uint32_t holder;  /* thread that holds the lock now, or that is joined; 0 = not known */
	/* Where it waits.  If it does not wait, or its wait has no stack, the stack of its newest
	 * event with a stack. */
	uint32_t stack;
	int64_t stack_ns;	 /* when the stack was taken; TRC_NEVER = no stack */
	uint32_t n_open_regions; /* of the fiber that it is in */
	const char *region;	 /* type of the innermost region; "" = none, or not known */
	uint64_t task;		 /* of the innermost open region that has one; 0 = none */
	uint32_t deadlock;	 /* the deadlock that blocks it; 0 = none */
};

/* A thread that is in a deadlock, or waits for a thread in a deadlock.  By deadlock, threads in the
 * cycle first: each waits for the next. */
struct trc_deadlock {
	uint32_t deadlock; /* 1, 2, ... */
	uint32_t thread;
	uint32_t holder; /* the thread that it waits for */
	uint8_t reason;
	uint64_t object;
	int64_t since_ns;
	uint32_t stack;
	bool in_cycle;
	bool certain; /* the events prove that the holder still holds the object */
	bool may_end; /* a wait at this place gave up before, by its timeout */
};

/* A lock that a thread holds; by thread, then object.  Known of locks that other threads wait for,
 * and of every lock with --locks=all. */
struct trc_lock_held {
	uint32_t thread;
	uint8_t reason;
	uint64_t object;
	int64_t since_ns; /* TRC_NEVER = not known */
	uint32_t stack;	  /* where it was taken */
	uint32_t waiters; /* threads that wait for this thread to release it */
};

enum { TRC_LOCK_GUARDS_MAX = 4 };

/*
 * The order of locks: a thread took one lock while it held another; rows by first_ns.  Known with
 * --locks=all, up to TRC_LOCK_EDGES_MAX.  Ways to hold and to take a read-write lock are told apart.
 */
struct trc_lock_edge {
	uint64_t held, taken;		   /* addresses */
	uint32_t held_life, taken_life;	   /* which of the locks that lay there (derive/remade.h) */
	uint8_t held_reason, taken_reason; /* how */
	bool several_threads;		   /* did so; else only `thread` */
	uint8_t n_guards;		   /* locks that were held each time, alone, besides */
	uint64_t guard[TRC_LOCK_GUARDS_MAX];
	uint64_t count;
	int64_t first_ns, last_ns;
	uint32_t thread;      /* the first time: who, */
	uint32_t held_stack;  /* where it had taken the lock that it held, */
	uint32_t taken_stack; /* and where it took the other */
	uint32_t deadlock;    /* edges with the same number could be a deadlock; 0 = in none */
};
enum { TRC_LOCK_EDGES_MAX = 1 << 18 };

/* A lock, condition variable or their like, for which a thread waited, or which one holds at the
 * trace's end; rows by address as a signed number.  An address has a row for each kind of object
 * and each variable that lay there. */
struct trc_object {
	uint64_t address;
	const char *name;      /* the variable with the member or the offset, or the address: as in
				* the report */
	const char *symbol;    /* the variable; NULL = not known */
	uint64_t offset_bytes; /* into the variable */
	int64_t last_ns;       /* when it was last used, as far as recorded */
	uint32_t allocated_at; /* stack that allocated its memory; 0 = not known, or not sampled */
	uint32_t next;	       /* of objects.c */
	uint8_t kind;
};
/* "mutex", "rwlock", "cond", ... */
const char *trc_object_kind(const struct trc_object *object);

struct trc_frame {
	uint64_t address;     /* as in the stack, minus 1 for callers: inside the call */
	const char *function; /* readable; NULL = not known */
	const char *file;     /* NULL = not known */
	uint32_t line;	      /* 0 = not known */
	uint32_t module;      /* id in the module table, 0 = none */
	bool inlined;	      /* inlined into the next frame outwards */
};

/* The fields of a frame's function that only exports need. */
struct trc_frame_origin {
	const char *linkage; /* the function's linker name; NULL = the same as `function` */
	const char
		*directory;  /* what a relative name of its file is relative to; NULL = not known */
	uint32_t start_line; /* 0 = not known */
	/* Where a function without a name begins, in the process; 0 = not known. */
	uint64_t start;
};

/* The frames of stack s are frame ids stack_frame[stack_first[s] .. stack_first[s + 1]),
 * innermost first.  Inlined functions are frames of their own. */
struct trc_stacks {
	size_t n_stacks; /* highest id + 1 */
	const uint32_t *stack_first;
	const uint32_t *stack_frame;
	size_t n_frames;
	const struct trc_frame *frame;	       /* by frame id - 1 */
	const struct trc_frame_origin *origin; /* by frame id - 1 */
};

#endif
