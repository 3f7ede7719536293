/*
 * <trc/fiber.h> - tell of fibers: the coroutines, green threads or tasks that a scheduler of the
 * program's own runs on its threads.
 *
 * Labels and regions then belong to the fiber that has them, whatever thread it runs on; and the
 * trace tells how long each fiber ran, could have run, and waited, where and for whom.  A fiber
 * begins with the labels that its creator has in force.  What a thread runs when it has not been
 * told of any fiber is its root fiber: NULL.
 *
 * The scheduler of the program says what it does:
 *
 *	static void wait_for(struct channel *c)
 *	{
 *		trace_fiber_switch(NULL, TRACE_FIBER_WAIT, c);
 *		swapcontext(&self->context, &scheduler);
 *	}
 *
 *	trace_fiber_ready(f->fiber);                            who ends the wait
 *	trace_fiber_switch(f->fiber, TRACE_FIBER_YIELD, NULL);  who runs it again
 *	swapcontext(&scheduler, &f->context);
 *
 * All of this works whether anything records or not, as labels do; a recording that begins later
 * sees which fiber each thread is in.  trace_labels_do() must not be left by a switch: it belongs to
 * its thread.  TRACE_LABELS and regions may be open across switches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_FIBER_H
#define TRC_FIBER_H

#include <trc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A fiber.  NULL is the root fiber of whatever thread it is said of. */
struct trace_fiber;

/** How a fiber is left. */
enum trace_fiber_leave {
	TRACE_FIBER_YIELD = 0, /* it could go on */
	TRACE_FIBER_WAIT = 1,  /* it waits for another fiber or thread; in block profiles */
	TRACE_FIBER_SLEEP = 2, /* it waits for a time to pass */
	TRACE_FIBER_IO = 3,    /* it waits for a descriptor */
};

/**
 * A fiber that has not run yet.  Its name, of at most 63 bytes, is copied (what is longer is cut
 * there); NULL is none.  It begins with the labels that are in force for the caller.
 * Returns NULL if there is no memory: what it does then counts as its threads' root fibers'.
 * Thread safe, not signal safe.
 */
TRC_API struct trace_fiber *trace_fiber_create(const char *name);

/**
 * The stack that the fiber runs on: `bytes` from `lowest` on, all of them mapped for as long as it
 * runs.  Said once, before its first run, if at all.  Where it is not said the recorder does not know
 * where the stack ends, and has the kernel copy what lies above the innermost frames: some
 * microseconds a wait or sample instead of a fraction of one.  NULL is fine.  Thread safe.
 */
TRC_API void trace_fiber_stack(struct trace_fiber *fiber, const void *lowest, size_t bytes);

/**
 * The calling thread leaves the fiber that it is in and runs this one, until the next call; NULL:
 * its root fiber.  Call it next to the change of stacks, while still on the stack of what is left,
 * as that is where a wait is said to be.  `how` is said of what is left, and `object` what that
 * waits for: an address to tell things of a kind apart by, or a descriptor; NULL = nothing.
 * Labels in force and open regions are those of the fiber from now on.  While something records this
 * takes up to 4 KiB of the stack, 8 KiB where stacks are followed by libunwind.
 * Returns the fiber that was left, so that whoever runs one inside another can go back.  A fiber
 * may run on any thread, on one at a time: leaving it comes before entering it elsewhere, by the
 * program's own order.  To the fiber that runs already: nothing happens.
 * Thread safe, not signal safe.
 */
TRC_API struct trace_fiber *trace_fiber_switch(struct trace_fiber *to, enum trace_fiber_leave how,
					       const void *object);

/**
 * What this fiber waits for has happened: it may go on as soon as a thread runs it.  The trace says
 * then who ended the wait, and how long the fiber was kept from running after that.  NULL is fine.
 * Tell that a fiber is left before others can find it to make it ready; where it is made ready
 * first, that counts from the moment that it is left.
 * Thread safe and signal safe.
 */
TRC_API void trace_fiber_ready(struct trace_fiber *fiber);

/**
 * The fiber will not run again, and nothing may be said of it any more.  If it is what the calling
 * thread is in, that is in its root fiber from now on.  NULL is fine.  Thread safe, not signal safe.
 */
TRC_API void trace_fiber_destroy(struct trace_fiber *fiber);

#ifdef __cplusplus
}
#endif

#endif
