/*
 * own_waits.h - for a snapshot that a process takes of itself: where its threads wait, and for which
 * file or peer, that have not recorded it (drain/open_waits.h: the same from outside).
 *
 * Nobody is asked: stacks are read as other threads have them, by copies that the kernel makes.
 * Context of all: a thread that records nothing meanwhile, may block; no malloc, no stdio, no
 * interposed libc function.
 *
 *   own_waits:Z1  what was found counts only if the slot has not changed from before the look until
 *       after, nor until the ring was copied: of a copy that is made later, by the slot's counter
 *   own_waits:Z2  a stack is read while no object can be unmapped (closing.h): its thread may go on, and close
 *       what it was in.  While one is being closed no stack is read
 */
#ifndef TRC_RECORDER_LIB_OWN_WAITS_H
#define TRC_RECORDER_LIB_OWN_WAITS_H

#include <stdbool.h>
#include "recorder/drain/drain.h"
#include "recorder/shared/layout.h"

struct trc_own_waits; /* owned: trc_own_waits_free() it */

/*
 * Before the ring is copied: modules that stacks lead to are noted in it.  `shared` is this
 * process's own mapping.  `asks_sockets`: the calling thread has the program's descriptors.  *out is
 * NULL without memory, or where nothing was found.
 */
void trc_own_waits_look(struct trc_own_waits **out, const struct trc_shared *shared,
			bool asks_sockets);
void trc_own_waits_free(struct trc_own_waits *waits); /* accepts NULL */

/* `context` is a struct trc_own_waits, or NULL. */
trc_wait_find_fn trc_own_waits_find;

#endif
