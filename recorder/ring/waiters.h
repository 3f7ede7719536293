/* waiters.h - the functions of the table of waiters that emit.c and signalled.c need besides
 * hot.h. */
#ifndef TRC_RECORDER_RING_WAITERS_H
#define TRC_RECORDER_RING_WAITERS_H

#include "hot.h"

/* Once, before the first session. */
void trc_waiters_setup(void);
void trc_conds_setup(void);
/* trc_waiters_setup() for waits for descriptors (wakers.c). */
void trc_io_setup(void);
/* A session of this process is to be recorded; from here on waiters are counted. */
void trc_waiters_start(uint32_t session);

/* A thread begins to wait, and waits no more (`result` as for trc_resume()). */
void trc_waiter_enter(struct trc_wait *wait);
void trc_waiter_leave(struct trc_wait *wait, int result);
/* True if trc_waiter_leave() is due: the wait was counted, in this process. */
bool trc_waiter_is_counted(const struct trc_wait *wait);

/* A waiter of the lock gave up, and should be counted until the lock is released. True if the
 * waiter stays counted. */
bool trc_lock_gave_up(uint64_t lock);
/* The lock was released: true if a waiter that had given up was counted. */
bool trc_lock_forget_gave_up(uint64_t lock);

/* True if the lock was released later than `since`, in ticks, while a thread waited. */
bool trc_lock_released_since(uint64_t lock, uint64_t since);

#endif
