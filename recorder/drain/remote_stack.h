/*
 * remote_stack.h - the stack of a waiting thread of another process, from the registers that the
 * thread left when its wait began.
 *
 * The thread is neither stopped nor asked: its memory is read while it waits, by the unwind rules
 * of the modules as they are mapped there.
 *
 *   remote_stack:Q1  frames are true only while the thread is in that wait: the caller checks
 *       before and after the walk that the wait goes on.  A frame that cannot be found ends the
 *       walk early
 *   remote_stack:Q2  data from the process is believed for the process's own stacks only: whatever
 *       the data is, the walk ends and stays within its buffers
 *
 * The kernel lets a parent read its children.  Exceptions: children of another user, children that
 * are not dumpable, and yama/ptrace_scope 2 and 3.  Context of all: any thread, may block.
 */
#ifndef TRC_RECORDER_DRAIN_REMOTE_STACK_H
#define TRC_RECORDER_DRAIN_REMOTE_STACK_H

#include <stdbool.h>
#include "recorder/shared/layout.h"

struct trc_remote; /* owned: trc_remote_close() it */

/* Reads the present mappings of process `pid`. 0 or -errno. */
int trc_remote_open(struct trc_remote **out, int pid);
void trc_remote_close(struct trc_remote *remote); /* accepts NULL */

/*
 * Return addresses, innermost first.  With `skip_module` the innermost frames in the same module as
 * `from` are left out; fp 0 = not known.  Deep stacks are shortened as recorded stacks are
 * (TRC_FRAMES_ELIDED).  Returns the number of frames; 0 = nothing is known.
 */
uint32_t trc_remote_stack(struct trc_remote *remote, const struct trc_registers *from,
			  bool skip_module, uint64_t frame[TRC_STACK_DEPTH_MAX]);

#endif
