/*
 * remote_stack.h - the stack of a thread of another process, from registers that the thread left
 * where it waits.
 *
 * The thread is neither stopped nor asked: its memory is read while it waits, by the unwind rules
 * of the modules as they are mapped there.
 *
 *   remote_stack:Q1  frames are true for as long as the thread is in that wait: who asks looks
 *       before and behind whether it is. What cannot be known ends them early
 *   remote_stack:Q2  what the process says is believed of its own stacks only: any bytes lead to an
 *       end, never beyond a buffer
 *
 * The kernel lets a parent read its children, unless they are another user's, or say that they are
 * not dumpable, or it is told otherwise (yama/ptrace_scope 2 and 3).
 * Context of all: any thread, may block.
 */
#ifndef TRC_RECORDER_DRAIN_REMOTE_STACK_H
#define TRC_RECORDER_DRAIN_REMOTE_STACK_H

#include <stdbool.h>
#include "recorder/shared/layout.h"

struct trc_remote; /* owned: trc_remote_close() it */

/* What is mapped in process `pid` now.  0 or -errno. */
int trc_remote_open(struct trc_remote **out, int pid);
void trc_remote_close(struct trc_remote *remote); /* accepts NULL */

/*
 * Return addresses, innermost first.  With `skip_module` those at its beginning that lie in the
 * same module as `from` are left out; fp 0 = not known.  Of deep stacks what is left out is as of
 * recorded ones (TRC_FRAMES_ELIDED).  Returns how many; 0 = nothing is known.
 */
uint32_t trc_remote_stack(struct trc_remote *remote, const struct trc_registers *from,
			  bool skip_module, uint64_t frame[TRC_STACK_DEPTH_MAX]);

#endif
