/*
 * closing.h - shared objects stay mapped while a thread reads the objects that another thread's
 * stack leads to.
 *
 * A thread that unwinds its own stack is in the objects that it reads: nobody unmaps these objects.
 * Objects on another thread's stack may be unmapped at any time: the other thread may return, and
 * close an object that it was in.
 *
 *   closing:Q1  a look begins only while no dlclose() is under way, and a dlclose() that begins later
 *       unmaps nothing before the look has ended
 *   closing:Q2  a dlclose() waits for at most one look at one stack.  A thread that looks takes no
 *       lock, and waits for no dlclose().  Nobody waits for a thread that is gone or, in a forked
 *       child, for a thread of the parent's.  Nobody waits longer than about three seconds: a
 *       thread may have left its look by siglongjmp()
 *   closing:Q3  a close that does not go through the interposed dlclose() (with RTLD_DEEPBIND, by
 *       libc itself) is not seen
 */
#ifndef TRC_RECORDER_GUEST_CLOSING_H
#define TRC_RECORDER_GUEST_CLOSING_H

#include <stdbool.h>

/* True if the calling thread looks now, until trc_look_end(); false if an object is being closed.
 * Context: any thread, may block for as long as another look takes. */
bool trc_look_begin(void);
void trc_look_end(void);

/* Around the real dlclose(); calls may be nested.  Context: any thread, may block for as long as a
 * look takes. */
void trc_closing_begin(void);
void trc_closing_end(void);

/* Context: a forked child. */
void trc_closing_forget(void);

#endif
