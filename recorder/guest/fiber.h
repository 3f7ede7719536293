/*
 * fiber.h - fibers in the recorded process: the program says which fiber a thread runs.
 *
 *   fiber:F1  a fiber has one number in a session.  The first thread that sees the fiber in the
 *       session exchanges `number` once, and makes the fiber's FIBER_CREATE event
 *   fiber:F2  one thread at a time runs a fiber, in the program's own order.  All members but the
 *       number and the name's id belong to that thread; while the fiber does not run, to no thread
 *   fiber:F3  while the fiber does not run, `labels` is a reference.  While the fiber runs, its
 *       thread holds the reference (labels:J4) and `labels` is NULL. The labels of the thread's
 *       root fiber are kept in the same way
 *   fiber:F4  while the fiber runs, its open regions are in the slot of its thread; otherwise they
 *       are kept in `regions`.  Regions of another session do not count
 *   fiber:F5  signal handlers read only the number and the name
 *   fiber:F6  if two objects of trc are in a process (runtime.h), the object that records keeps
 *       which fiber each thread is in.  When another object begins to record, the thread's next
 *       call hands its fiber over (trc_keeper_now())
 */
#ifndef TRC_RECORDER_GUEST_FIBER_H
#define TRC_RECORDER_GUEST_FIBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "recorder/shared/layout.h"
#include "recorder/unwind/memory.h"
#include "trc/fiber.h"

struct trace_labels;

enum { TRC_FIBER_NAME_BYTES = 64 };

struct trc_open_region {
	uint64_t task, type, since;
};
/* Open regions as in a thread's slot.  A type whose name is no literal may be evicted meanwhile,
 * and is then not known; it is never mistaken for another type. */
struct trc_open_regions {
	uint32_t session; /* 0 = there are none */
	uint32_t n;
	struct trc_open_region region[TRC_OPEN_REGIONS];
};

/* Shared by the two objects of a recorded program: if this structure changes, so does
 * TRC_RUNTIME_VERSION. */
struct trace_fiber {
	_Atomic uint64_t number;       /* F1: with the session in its upper bits; 0 = none yet */
	_Atomic uint64_t name_id;      /* string id in `name_session`, stored before name_session */
	_Atomic uint32_t name_session; /* 0 = none yet */
	uint32_t name_bytes;
	const struct trace_labels *labels; /* F3 */
	struct trc_open_regions regions;   /* F4 */
	struct trc_range stack;		   /* empty: not known.  Constant from the first run on */
	char name[TRC_FIBER_NAME_BYTES];
};

/* The fiber that a thread is in, and references to the labels of its root fiber and to the labels
 * in force. */
struct trc_fiber_state {
	struct trace_fiber *current;
	const struct trace_labels *labels, *in_force;
};

/* ---- fiber.c.  Context: any thread, may block. ---- */

/* As trace_fiber_create(), trace_fiber_set_stack() and trace_fiber_destroy(). */
struct trace_fiber *trc_fiber_create(const char *name);
void trc_fiber_stack(struct trace_fiber *fiber, const void *lowest, size_t bytes);
void trc_fiber_destroy(struct trace_fiber *fiber);

/* ---- fiber_switch.c.  Context: traced thread; errno is kept. ---- */

/* As trace_fiber_switch(). */
struct trace_fiber *trc_fiber_switch(struct trace_fiber *to, enum trace_fiber_leave how,
				     const void *object);
/* As trace_fiber_ready().  Signal handlers too. */
void trc_fiber_ready(struct trace_fiber *fiber);
/* The fiber has just been made; the fiber is about to be given back, and no thread runs it. */
void trc_fiber_made(struct trace_fiber *fiber);
void trc_fiber_ended(struct trace_fiber *fiber);
/* If the calling thread runs the fiber, the thread is in its root fiber from now on. */
void trc_fiber_forget(const struct trace_fiber *fiber);
/*
 * Hands the calling thread's fiber from one object to the other (F6).  trc_fiber_give_up() gives up
 * the fiber that the calling thread is in, false if that is its root fiber.  trc_fiber_take_over()
 * takes the state over, in an object where the thread is in its root fiber.
 */
bool trc_fiber_give_up(struct trc_fiber_state *state);
void trc_fiber_take_over(const struct trc_fiber_state *state);
/* The thread has just become known to the session: makes its fiber known, too.  Before
 * trc_labels_attach(). */
void trc_fiber_attach(void);
/* The thread ends: it goes back to its root fiber, whatever it ran. */
void trc_fiber_leave(void);

#endif
