/*
 * follow.h - trace-record --flight --http: while a client wants a profile, events are read as they
 * come, by a drain that only reads (drain.h, `follow`).
 *
 *   follow:L1  the recorded process does not notice: none of its threads waits for us, and
 *       snapshots lose nothing. One exception: records for which the kernel has no room while its
 *       newest records are copied; the kernel counts them
 *   follow:L2  events that were overwritten before they were read are counted. While a snapshot is
 *       being written, nothing is read
 *   follow:L3  while no client wants a profile, nothing is done, and no memory is held
 */
#ifndef TRC_RECORDER_TOOL_FOLLOW_H
#define TRC_RECORDER_TOOL_FOLLOW_H

#include "flight.h"

/* Context of all: the main thread. */

/* p->drain and p->w are there from now on, until the image ends or is replaced. 0, -EBUSY: the
 * process is not recorded; or another negative errno. */
int trc_follow_begin(struct trc_process *p, struct trc_flight_session *f);
/* Accepts a process that is not followed. */
void trc_follow_end(struct trc_process *p);
/* Returns the number of events; 0 if the process is not followed. */
uint64_t trc_follow_pass(struct trc_process *p);
/* From now on the kernel's samples are wanted as well. */
void trc_follow_kernel(struct trc_process *p);
/* Hands over the kernel's records since the last call, up to now. */
void trc_follow_kernel_pass(struct trc_process *p);
/* As trc_drain_settled(), for p->drain of any process; includes the kernel's samples, if they are
 * wanted. */
uint64_t trc_follow_settled(const struct trc_process *p);
/* The time until the next pass. */
uint64_t trc_follow_sleep_ns(const struct trc_process *p);

#endif
