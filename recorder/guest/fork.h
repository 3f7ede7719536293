/* fork.h - what a forked child does about recording. */
#ifndef TRC_RECORDER_GUEST_FORK_H
#define TRC_RECORDER_GUEST_FORK_H

#include <stdbool.h>

/* Called in a forked child after it has forgotten its parent's session; set once, at start.
 * Context: the child's only thread, with other threads' locks in any state: no malloc. */
extern __attribute__((visibility("hidden"))) void (*trc_child_hook)(void);

/* The program has set a seccomp filter in which no recording can begin (sandbox.c): there will be
 * none in its children. */
extern __attribute__((visibility("hidden"))) bool trc_start_is_forbidden;

#endif
