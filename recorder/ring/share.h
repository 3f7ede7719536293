/*
 * share.h - how much address space the recorder takes of a program's that has a limit on it.
 *
 * The limit is the smaller of RLIMIT_AS and RLIMIT_DATA when a session is opened.  Without one
 * everything has its usual size.
 *
 *   share:Y1  a ring is at most a 32nd of the limit, and all other tables together are a 16th: they
 *       are made smaller, and what does not fit into them is not recorded, and counted
 *   share:Y2  what takes from the tables' share takes half of what is left of it at most
 */
#ifndef TRC_RECORDER_RING_SHARE_H
#define TRC_RECORDER_RING_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Looks at the limits.  Context: any thread; nobody takes meanwhile. */
void trc_share_setup(void);
/* The most bytes that a ring may have; 0 = no limit. */
uint64_t trc_share_of_ring(void);

/* For who writes a trace inside the process, as long as that takes; 0 = as much as usual. */
uint64_t trc_share_of_trace(void);

/* The most that trc_share_take() would give now; UINT64_MAX = no limit.  Context, this and the
 * following: any thread, signal handlers. */
uint64_t trc_share_left(void);
/* True if n_bytes may be mapped, private to the process. */
bool trc_share_take(uint64_t n_bytes);
/* They have been unmapped. */
void trc_share_give(uint64_t n_bytes);

#endif
