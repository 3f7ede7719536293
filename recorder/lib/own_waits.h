/*
 * own_waits.h - waits in progress that their threads have not recorded: where each thread waits,
 * and for which file or peer.  For a snapshot that a process takes of itself (drain/open_waits.h:
 * the same from outside).
 *
 * No thread is interrupted: the kernel copies the stacks of the other threads.  Context of all: a
 * thread that records nothing meanwhile, may block; no malloc, no stdio, no interposed libc
 * function.
 *
 *   own_waits:Z1  a finding counts only if the slot did not change during the look, nor until the
 *       ring was copied; for the later copy the slot's counter tells this
 *   own_waits:Z2  a stack is read while no object can be unmapped (closing.h): the thread may go
 *       on, and close the object that it was in.  While an object is being closed, no stack is read
 */
#ifndef TRC_RECORDER_LIB_OWN_WAITS_H
#define TRC_RECORDER_LIB_OWN_WAITS_H

#include <stdbool.h>
#include "recorder/drain/drain.h"
#include "recorder/shared/layout.h"

struct trc_own_waits; /* owned: trc_own_waits_free() it */

/*
 * Called before the ring is copied: notes the modules of the stacks in the ring.  `shared` is this
 * process's own mapping.  `asks_sockets`: the calling thread has the program's descriptors. *out is
 * NULL without memory, or where nothing was found.
 */
void trc_own_waits_look(struct trc_own_waits **out, const struct trc_shared *shared,
			bool asks_sockets);
void trc_own_waits_free(struct trc_own_waits *waits); /* accepts NULL */

/* `context` is a struct trc_own_waits, or NULL. */
trc_wait_find_fn trc_own_waits_find;

#endif
