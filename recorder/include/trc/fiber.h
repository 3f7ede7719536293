/*
 * <trc/fiber.h> - tell trc about fibers: coroutines, green threads or tasks that the program's own
 * scheduler runs on its threads.
 *
 * Labels and regions then belong to a fiber, whatever thread the fiber runs on.  The trace says
 * how long each fiber ran, was ready to run, and waited: where, for what, and who ended the wait.
 * A fiber begins with the labels that are in force for its creator.  A thread that runs none of
 * these fibers runs its root fiber, written NULL.
 *
 * The program's scheduler reports what it does:
 *
 *	static void wait_for(struct channel *c)
 *	{
 *		trace_fiber_switch(NULL, TRACE_FIBER_WAIT, c);
 *		swapcontext(&self->context, &scheduler);
 *	}
 *
 *	trace_fiber_ready(f->fiber);                            whoever ends the wait
 *	trace_fiber_switch(f->fiber, TRACE_FIBER_YIELD, NULL);  the scheduler, before f runs again
 *	swapcontext(&scheduler, &f->context);
 *
 * Call these functions whether anything records or not: labels follow the fibers in any case, and a
 * recording that begins later knows the fiber of each thread.  A fiber must not be left inside
 * trace_labels_do(), which belongs to its thread.  TRACE_LABELS and regions may be open across
 * switches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_FIBER_H
#define TRC_FIBER_H

#include <trc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A fiber.  NULL is the root fiber of the thread in question. */
struct trace_fiber;

/** Why a thread leaves a fiber. */
enum trace_fiber_leave {
	TRACE_FIBER_YIELD = 0, /* the fiber could go on, or has ended */
	TRACE_FIBER_WAIT = 1,  /* the fiber waits for another fiber or thread; in block profiles */
	TRACE_FIBER_SLEEP = 2, /* the fiber waits for a time to pass */
	TRACE_FIBER_IO = 3,    /* the fiber waits for a descriptor */
};

/**
 * Makes a fiber that has not run yet.  It begins with the labels that are in force for the
 * caller.  `name` is copied, at most 63 bytes of it; NULL = no name.
 * Returns the caller's fiber, to be given back by trace_fiber_destroy(); or NULL: no memory.  A
 * program may go on with NULL: all functions here accept it, and what the fiber does then counts
 * for the root fibers.
 * Thread safe, not signal safe.
 */
TRC_API struct trace_fiber *trace_fiber_create(const char *name);

/**
 * Gives a fiber back.  The fiber will not run again, and the pointer must not be used again.  If
 * the calling thread is in the fiber, the thread is in its root fiber from now on.  NULL does
 * nothing.
 * Thread safe, not signal safe.
 */
TRC_API void trace_fiber_destroy(struct trace_fiber *fiber);

/**
 * Sets the stack of a fiber: `bytes` bytes from the address `lowest` on.  They have to stay mapped
 * while the fiber may run.  Call it at most once, before the fiber runs.  NULL does nothing.
 * The call is optional.  Without it the recorder does not know where the stack ends, and has the
 * kernel copy the outer frames: a wait or sample then takes some microseconds more.
 * Thread safe, not signal safe.
 */
TRC_API void trace_fiber_set_stack(struct trace_fiber *fiber, const void *lowest, size_t bytes);

/**
 * The calling thread leaves its present fiber, and runs `to` until the next call; NULL = the root
 * fiber.  If `to` is the present fiber, nothing happens.
 *
 * `how` says why the present fiber is left.  `object` is what the present fiber waits for: an
 * address by which waits for one object are told from others, or a descriptor; NULL = nothing.
 *
 * Call it just before the change of stacks, still on the stack of the fiber that is left: this
 * stack is recorded as the place of the wait.  While something records, the call takes up to 4 KiB
 * of that stack (8 KiB with TRACE_UNWIND_LIBUNWIND).  Afterwards the labels and regions of `to`
 * are in force.
 *
 * A fiber may run on any thread, but on one at a time: the program orders the call that leaves a
 * fiber before the call that enters it on another thread.
 *
 * Returns the fiber that was left, so that a caller can switch back to it.
 * Thread safe, not signal safe.
 */
TRC_API struct trace_fiber *trace_fiber_switch(struct trace_fiber *to, enum trace_fiber_leave how,
					       const void *object);

/**
 * Says that the event that `fiber` waits for has happened: the fiber is ready to run.  The trace
 * then says who ended the wait, and how long the ready fiber had to wait for a thread.  NULL does
 * nothing.
 *
 * Call trace_fiber_switch() before other threads can find the fiber and make it ready.  If the
 * fiber is made ready earlier, it counts as ready from the moment it is left.
 * Thread safe and signal safe.
 */
TRC_API void trace_fiber_ready(struct trace_fiber *fiber);

#ifdef __cplusplus
}
#endif

#endif
