/*
 * noted_waits.h - where threads of a recorded process wait, for waits that the threads have not
 * recorded yet.  The waits are noted while the process lives, for the end of its trace: after the
 * process has died, it is too late to look.
 *
 *   noted_waits:N1  four times a second all waits that have lasted for a second are looked at, and 25 of those
 *       that have lasted for a tenth of a second, each wait once.  The process does not notice: its memory is
 *       read, and no thread is asked
 *   noted_waits:N2  draining comes first.  A look lasts about a millisecond, and there is no look
 *       while a ring fills up.  All looks at all processes take a twentieth of a processor at most.
 *       Where the looks of a round take more than 2.5 ms, the next round comes a hundred times as long after, but
 *       within a second.  A process that cannot be looked at so quickly, such as one of very many mappings, is
 *       looked at no more
 *   noted_waits:N3  before a signal that ends programs is passed on to the command, its process is looked at for
 *       10 ms at most.  Signals that come while trace-record is busy do not wait
 */
#ifndef TRC_RECORDER_TOOL_NOTED_WAITS_H
#define TRC_RECORDER_TOOL_NOTED_WAITS_H

#include "session.h"

/* Context of all: the main thread. */

/* Begins for the image of p->shared, whose header `h` has been checked; called before the image's
 * drain is opened.  Without memory nothing is noted. */
void trc_noted_waits_begin(struct trc_process *p, const struct trc_shared *h);
/* After a pass of the drain. */
void trc_noted_waits_pass(struct trc_process *p);
/* Until the next look is due; UINT64_MAX = any pass will do. */
uint64_t trc_noted_waits_sleep_ns(const struct trc_process *p, uint64_t now_ns);
/* The process lives on, and is recorded no more: looks at all waits now, also the youngest. */
void trc_noted_waits_last(struct trc_process *p);
/* A signal is going to be passed on to the process, and may end it: the same, within 10 ms. */
void trc_noted_waits_ending(struct trc_process *p);
/* After the image's drain was closed. */
void trc_noted_waits_end(struct trc_process *p);

#endif
