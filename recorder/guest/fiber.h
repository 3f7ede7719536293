/*
 * fiber.h - fibers in the recorded process: what a thread is told that it runs.
 *
 *   fiber:F1  a fiber has one number in a session: `number` is exchanged once for it, by whoever
 *       sees the fiber first there, and that one makes its FIBER_CREATE event
 *   fiber:F2  one thread at a time runs a fiber, in the program's own order: everything but the
 *       number and the name's id is that thread's, or while it does not run nobody's
 *   fiber:F3  `labels` is a reference while the fiber does not run; while it does, the thread holds
 *       that (labels:J4) and `labels` is NULL. What the thread's root fiber has is kept
 *       likewise
 *   fiber:F4  open regions are told by the slot of the thread that runs the fiber, and kept here
 *       meanwhile; those of another session are none
 *   fiber:F5  signal handlers look at the number and the name only
 *   fiber:F6  of two objects in a process (runtime.h) one keeps what a thread is in: the one that
 *       records. When that changes it is handed over, with the thread's next call
 *       (trc_keeper_now())
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
/* As in a thread's slot.  A type whose name is no literal may be evicted meanwhile, and is then not
 * known: it is never another's. */
struct trc_open_regions {
	uint32_t session; /* 0 = there are none */
	uint32_t n;
	struct trc_open_region region[TRC_OPEN_REGIONS];
};

/* Shared by the two objects of a recorded program: when it changes, so does TRC_RUNTIME_VERSION. */
struct trace_fiber {
	_Atomic uint64_t number;       /* F1: with the session in its upper bits; 0 = none yet */
	_Atomic uint64_t name_id;      /* its string id in `name_session`, stored before that */
	_Atomic uint32_t name_session; /* 0 = none yet */
	uint32_t name_bytes;
	const struct trace_labels *labels; /* F3 */
	struct trc_open_regions regions;   /* F4 */
	struct trc_range stack;		   /* empty: not known.  Constant from its first run on */
	char name[TRC_FIBER_NAME_BYTES];
};

/* What a thread is in, and the labels of its root fiber and those in force: references. */
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
/* It has just been made; it is about to be given back, and no thread runs it. */
void trc_fiber_made(struct trace_fiber *fiber);
void trc_fiber_ended(struct trace_fiber *fiber);
/* If the calling thread runs it, that is in its root fiber now. */
void trc_fiber_forget(const struct trace_fiber *fiber);
/*
 * When the other object keeps what threads are in from now on, or does not any more (F6): gives up
 * what the calling thread is in, false if that is its root fiber, and takes over that, in an
 * object where it is its root fiber.
 */
bool trc_fiber_give_up(struct trc_fiber_state *state);
void trc_fiber_take_over(const struct trc_fiber_state *state);
/* The thread has just become known to the session: so does what it runs.  Before
 * trc_labels_attach(). */
void trc_fiber_attach(void);
/* The thread ends: in its root fiber, whatever it ran. */
void trc_fiber_leave(void);

#endif
