/*
 * wait_stacks.h - where threads of a living process wait that have not recorded it: a call that may
 * or may not wait (read, recv, poll) leaves three registers in its thread's slot, and no stack.
 *
 *   wait_stacks:Z1  a stack counts only if the slot has not changed from before it was read until
 *       after.  It is told of the wait of that counter alone: of no later one, and no earlier one
 */
#ifndef TRC_RECORDER_TOOL_WAIT_STACKS_H
#define TRC_RECORDER_TOOL_WAIT_STACKS_H

#include "recorder/drain/drain.h"
#include "recorder/shared/layout.h"

struct trc_wait_stacks; /* owned: trc_wait_stacks_free() it */

/*
 * Reads those of process `pid`.  `shared` is its mapping, which is not trusted; `header` is the
 * checked copy of its header.  *out is NULL where there are none, or none can be read.
 */
void trc_wait_stacks_take(struct trc_wait_stacks **out, struct trc_shared *shared,
			  const struct trc_shared *header, int pid);
void trc_wait_stacks_free(struct trc_wait_stacks *stacks); /* accepts NULL */

/* `context` is a struct trc_wait_stacks, or NULL. */
trc_wait_stack_fn trc_wait_stacks_find;

#endif
