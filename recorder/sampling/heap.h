/*
 * heap.h - samples of the program's allocations: their users, and how fine the samples are.
 *
 * Among all allocated bytes, one byte in `period` is drawn at random, on average.  The allocation
 * of a drawn byte becomes an ALLOC event, and the allocation's end a FREE event (heap.c).  So an
 * allocation of s bytes is drawn with probability p = 1 - exp(-s / period), and stands for 1 / p
 * allocations.  With a period of 1 all allocations are drawn.
 *
 *   heap:U1  samples are as fine as the finest user asks for; other users thin their samples by the
 *       sample's number (format.md)
 *   heap:U2  drawn objects are known to the end of the session, whichever user asked for them:
 *       their ends are told even if nothing more is drawn
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
 * Adds a user, which wants a sample every period_bytes on average (1 to TRC_HEAP_PERIOD_MAX); the
 * user's number goes to *user.  Events are made while a session records, as all events are.
 * Returns 0; -EINVAL: a period out of range; -ENOMEM: no memory for the table of live objects;
 * -EBUSY: there are 64 users already; -ENOTSUP: the program's malloc() is not the interposed
 * malloc(), so nothing would be seen.  Context: any thread, may block.
 */
int trc_heap_begin(uint64_t period_bytes, unsigned int *user);
/* A sentence for an error of trc_heap_begin().  Context: any thread, may block. */
void trc_heap_why(int err, char *why, size_t n_bytes);
/* Says in the trace, as a log message, that the heap is not sampled.  Context: any thread, may
 * block; recording. */
void trc_heap_tell(const char *why);
/*
 * True if the program's calls of malloc() do not reach the interposed malloc(); `whose` gets the
 * path of the object that has the program's malloc().  Only while allocations are sampled, or
 * TRC_HEAP_PROBED is the period.  The function is missing where nothing is interposed.  Context:
 * any thread, may block.
 */
bool trc_malloc_is_foreign(char *whose, size_t n_bytes);
/* The user asks for another period. 0 or -EINVAL. */
int trc_heap_rate(unsigned int user, uint64_t period_bytes);
/* The user is gone. */
void trc_heap_end(unsigned int user);
/* The period in force: bytes between two samples, on average; 0 = nothing is sampled. */
uint64_t trc_heap_period(void);
/* The number of drawn objects that found no place in the table of live objects: in the trace such
 * objects end where they begin.  Whenever the number has doubled, it is told as a counter. */
uint64_t trc_heap_unplaced(void);
/* Tells of objects that ended where nothing is recorded.  Context: any thread; while recording. */
void trc_heap_settle(void);
/* A session begins to record, or has ended. */
void trc_heap_session(bool on);
/* In a forked child, where the heap has no users.  Context: the child's only thread. */
void trc_heap_forget(void);

#endif
