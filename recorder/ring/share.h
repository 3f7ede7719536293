/*
 * share.h - how much address space the recorder takes in a program with a limit on address space.
 *
 * The limit is the smaller of RLIMIT_AS and RLIMIT_DATA when a session is opened.  Without a limit
 * everything has its usual size.
 *
 *   share:Y1  a ring is at most a 32nd of the limit, and all other tables together are a 16th.
 *       Rings and tables are made smaller for this; events that do not fit are not recorded, but
 *       counted
 *   share:Y2  each table takes at most half of what is left of the tables' share
 */
#ifndef TRC_RECORDER_RING_SHARE_H
#define TRC_RECORDER_RING_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the limits.  Context: any thread; no thread calls trc_share_take() meanwhile. */
void trc_share_setup(void);
/* The most bytes that a ring may have; 0 = no limit. */
uint64_t trc_share_of_ring(void);

/* The bytes for writing a trace inside the process, while it is written; 0 = as much as usual. */
uint64_t trc_share_of_trace(void);

/* The most that trc_share_take() would give now; UINT64_MAX = no limit.  Context, this and the
 * following: any thread, signal handlers. */
uint64_t trc_share_left(void);
/* Takes n_bytes of the share: true if so many may be mapped, private to the process. */
bool trc_share_take(uint64_t n_bytes);
/* Gives n_bytes back after they were unmapped. */
void trc_share_give(uint64_t n_bytes);

#endif
