/*
 * offproc.h - was the calling thread taken off its proc between two places in its code?
 *
 * When the kernel has taken a thread off its proc, or made the thread run a signal handler, outside
 * of the sequence that rseq_cs names, it sets rseq_cs to NULL (linux/rseq.h).  A mark in rseq_cs is
 * the address of a descriptor of a sequence that never runs.  So the mark stays as long as the
 * thread stays on its proc.
 *
 *   offproc:K1  if the mark stayed, the thread was on its proc all the time.  If the mark is gone,
 *       the thread may have left its proc.  A recording sequence, a signal, another wait in
 *       between, and work that the kernel gives threads on their way back to the program also
 *       remove the mark
 *   offproc:K2  code that finds the mark removes it: so a signal handler that waits leaves no mark
 *       of its own to the wait that it interrupted
 *   offproc:K3  a mark left behind is harmless: the kernel reads the descriptor, finds the thread
 *       outside of the sequence and forgets the mark.  But the descriptor must stay mapped, as
 *       those of the recording sequences must: libtrc and libtrc-preload are linked with -z
 *       nodelete
 *   offproc:K4  kernels from Linux 6.19 on leave rseq_cs alone when a thread sleeps in a system
 *       call and comes back on the same proc.  trc_mark_setup() tries this out.  On such a kernel
 *       no mark is ever set, and it is never known whether a thread left its proc
 *
 * A vfork child does not record, and so sets no mark in the memory that it shares with its parent.
 */
#ifndef TRC_RECORDER_RING_OFFPROC_H
#define TRC_RECORDER_RING_OFFPROC_H

#include "ring_inline.h"

/* Marks are set, and are reliable (K4).  Constant while something records. */
extern TRC_HIDDEN bool trc_mark_tells;

/* After trc_rseq_setup().  Sleeps for some tens of microseconds, once in a process.
 * Context: any thread, at set-up. */
void trc_mark_setup(void);

/* Context: traced thread, signal handlers. */
static inline void trc_mark_set(void)
{
	if (__builtin_expect(trc_mark_tells, 1))
		rseq_mark();
}

/* True if the thread has not left its proc since trc_mark_set(); removes the mark (K2). */
static inline bool trc_mark_take(void)
{
	if (!rseq_mark_stayed())
		return false;
	rseq_unmark();
	return true;
}

#endif
