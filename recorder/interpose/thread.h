/*
 * thread.h - the end of a thread, and functions that pthread and C11 threads share.
 */
#ifndef TRC_RECORDER_INTERPOSE_THREAD_H
#define TRC_RECORDER_INTERPOSE_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "libc.h"

/* Once, while this object is loaded. */
void trc_thread_prepare(void);

/* From now on the calling thread will call trc_thread_ended() as the last thing, whether it
 * returns, exits or is cancelled.  Idempotent; signal handlers too.  False if this is not
 * possible. */
bool trc_thread_arm(void);

/* What a creator hands to the thread that it creates. */
struct trc_handoff;
/* True if the calling thread has something to hand over. */
bool trc_handoff_wanted(void);
/* Exactly one of the two routines is set; attr may be NULL.  NULL: create the thread without us. */
struct trc_handoff *trc_handoff_make(const pthread_attr_t *attr, void *(*start)(void *),
				     thrd_start_t c11_start, void *arg);
/* The thread could not be created. */
void trc_handoff_drop(struct trc_handoff *handoff);
/* Start routines; the argument is a struct trc_handoff. */
void *trc_thread_run(void *handoff);
int trc_thread_run_c11(void *handoff);

struct trc_span;
/* The tid of a thread that was not joined yet; 0 = it has ended.  No system call. */
uint32_t trc_tid_of(pthread_t thread);
/* Before the real join of a thread with that tid: ends with trc_span_end(). */
void trc_join_begin(struct trc_span *span, pthread_t thread, uint32_t tid);

#endif
