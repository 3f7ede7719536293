/*
 * heap.h - samples of what the program allocates: who asks for them, and how fine.
 *
 * A byte in so many, on average, is drawn at random among all bytes that are allocated; the
 * allocation that it belongs to becomes an ALLOC event, and its end a FREE event (heap.c).  So one
 * of s bytes is drawn with probability 1 - exp(-s / period), and stands for the inverse of that
 * many.  With a period of 1 all are.
 *
 *   heap:U1  what is drawn is as fine as the finest of its users asks for; the others thin theirs
 *       by the sample's number (format.md)
 *   heap:U2  objects that were drawn are known to the end of the session, whoever asked for them:
 *       what becomes of them is told even if nothing more is drawn
 *   heap:U3  users stay from one session to the next; a forked child has none
 */
#ifndef TRC_RECORDER_SAMPLING_HEAP_H
#define TRC_RECORDER_SAMPLING_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/shared/layout.h"

#define TRC_HEAP_PERIOD_DEFAULT (UINT64_C(512) << 10)
#define TRC_HEAP_PERIOD_MAX	(UINT64_C(1) << 40)
/* In place of a period: allocations are counted, and none is drawn. */
#define TRC_HEAP_PROBED (TRC_HEAP_PERIOD_MAX + 1)

/*
 * One more user, who wants a sample every period_bytes on average (1 to TRC_HEAP_PERIOD_MAX): its
 * number goes to *user.  Events are made while a session records, as all events are.
 * Returns 0; -EINVAL: a period out of range; -ENOMEM: no memory for the table of live objects;
 * -EBUSY: there are 64 users already; -ENOTSUP: the program's malloc() is not the one that is
 * interposed, nothing would be seen.  Context: any thread, may block.
 */
int trc_heap_begin(uint64_t period_bytes, unsigned int *user);
/* A sentence for what that returned.  Context: any thread, may block. */
void trc_heap_why(int err, char *why, size_t n_bytes);
/* Says in the trace, as a log message, that the heap is not sampled.  Context: any thread, may
 * block; recording. */
void trc_heap_tell(const char *why);
/*
 * True if the program's malloc() does not come to the one that is interposed; the path of the object
 * whose it is goes to `whose`.  While allocations are sampled, or TRC_HEAP_PROBED is the period.
 * Where nothing is interposed there is no such function.  Context: any thread, may block.
 */
bool trc_malloc_is_foreign(char *whose, size_t n_bytes);
/* The user asks for another period. 0 or -EINVAL. */
int trc_heap_rate(unsigned int user, uint64_t period_bytes);
/* The user is gone. */
void trc_heap_end(unsigned int user);
/* What is in force: bytes between two samples, on average; 0 = nothing is sampled. */
uint64_t trc_heap_period(void);
/* Objects that were drawn and not known afterwards, as there was no place for them among those
 * that live: in the trace they end where they begin.  It tells how many there were, as a counter:
 * whenever their number has doubled. */
uint64_t trc_heap_unplaced(void);
/* Tells what has ended where nothing is recorded.  Context: any thread; while recording. */
void trc_heap_settle(void);
/* A session begins to record, or has ended. */
void trc_heap_session(bool on);
/* In a forked child: nobody uses it.  Context: its only thread. */
void trc_heap_forget(void);

#endif
