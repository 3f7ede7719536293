/*
 * cond.h - functions that the interposers of pthread and C11 condition variables share.
 */
#ifndef TRC_RECORDER_INTERPOSE_COND_H
#define TRC_RECORDER_INTERPOSE_COND_H

#include "mutex.h"

#define TRC_WAKE_ALL (~UINT64_C(0))

/* Around the real wait. `result` is 0 or a positive errno. */
void trc_cond_wait_begin(struct trc_span *span, const void *cond, const pthread_mutex_t *mutex);
void trc_cond_wait_end(struct trc_span *span, const pthread_mutex_t *mutex, int result);
/* Around the real signal, of `count` waiters; the condition variable may be gone after it. */
void trc_cond_waking(struct trc_release *release, const void *cond, uint64_t count);
void trc_cond_woken(const struct trc_release *release, uint64_t count);

#endif
