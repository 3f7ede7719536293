/* fork.h - recording in a forked child. */
#ifndef TRC_RECORDER_GUEST_FORK_H
#define TRC_RECORDER_GUEST_FORK_H

#include <stdbool.h>

/* Called in a forked child after it has forgotten its parent's session; set once, at start.
 * Context: the child's only thread, with other threads' locks in any state: no malloc. */
extern __attribute__((visibility("hidden"))) void (*trc_child_hook)(void);

/* The program has set a seccomp filter under which no recording can begin (sandbox.c): its children
 * are not recorded. */
extern __attribute__((visibility("hidden"))) bool trc_start_is_forbidden;

#endif
