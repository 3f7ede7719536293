/*
 * follow.h - trace-record --flight --http: while somebody wants a profile, what is
 * recorded is read as it comes, by a drain that only looks (drain.h, `follow`).
 *
 *   follow:L1  the recorded process does not notice: nobody waits for us, and no snapshot has less
 *       in it, but for what the kernel has no room for while its newest records are copied, and
 *       counts
 *   follow:L2  what was overwritten before it was read is counted; and while a snapshot is being
 *       written nothing is read
 *   follow:L3  nobody wants anything: nothing is done, and no memory is held
 */
#ifndef TRC_RECORDER_TOOL_FOLLOW_H
#define TRC_RECORDER_TOOL_FOLLOW_H

#include "flight.h"

/* Context of all: the main thread. */

/* p->drain and p->w are there from now on, until the image ends or is replaced.  0, -EBUSY: it is
 * not recorded; or another negative errno. */
int trc_follow_begin(struct trc_process *p, struct trc_flight_session *f);
/* Accepts one that is not followed. */
void trc_follow_end(struct trc_process *p);
/* How many events; 0 if it is not followed. */
uint64_t trc_follow_pass(struct trc_process *p);
/* What the kernel samples is wanted as well: from now on. */
void trc_follow_kernel(struct trc_process *p);
/* Hands over what the kernel has recorded since the last time, up to now. */
void trc_follow_kernel_pass(struct trc_process *p);
/* As trc_drain_settled(), for p->drain of any process: with what the kernel samples, if that is
 * wanted. */
uint64_t trc_follow_settled(const struct trc_process *p);
/* Until the next pass. */
uint64_t trc_follow_sleep_ns(const struct trc_process *p);

#endif
