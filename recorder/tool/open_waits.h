/*
 * open_waits.h - where threads of a living process wait, and for which file or peer, that have not
 * recorded it: a call that may or may not wait (read, recv, poll) leaves three registers in its
 * thread's slot, and neither a stack nor a name.
 *
 *   open_waits:Z1  what was found counts only if the slot has not changed from before the look until
 *       after.  It is told of the wait of that counter alone: of no later one, and no earlier one
 */
#ifndef TRC_RECORDER_TOOL_OPEN_WAITS_H
#define TRC_RECORDER_TOOL_OPEN_WAITS_H

#include "recorder/drain/drain.h"
#include "recorder/shared/layout.h"

struct trc_open_waits; /* owned: trc_open_waits_free() it */

/*
 * Looks at those of process `pid`.  `shared` is its mapping, which is not trusted; `header` is the
 * checked copy of its header.  *out is NULL without memory.
 */
void trc_open_waits_take(struct trc_open_waits **out, struct trc_shared *shared,
			 const struct trc_shared *header, int pid);
void trc_open_waits_free(struct trc_open_waits *waits); /* accepts NULL */

/* `context` is a struct trc_open_waits, or NULL. */
trc_wait_find_fn trc_open_waits_find;

#endif
