/*
 * own_thread.h - trc's own threads in the program.
 *
 * Such a thread is small, has all signals blocked, and records nothing.  It has a descriptor table
 * of its own: so its files are not in the program's way, and it cannot write into files of the
 * program.
 */
#ifndef TRC_RECORDER_GUEST_OWN_THREAD_H
#define TRC_RECORDER_GUEST_OWN_THREAD_H

#include <pthread.h>

/* Creates the thread.  0 or -errno; -EPERM where the program's filter forbids it (sandbox:V5).  Context: any thread that records nothing meanwhile, may
 * block. */
int trc_own_thread_create(pthread_t *thread, void *(*run)(void *), void *arg);
/* First call in the thread: sets its name, and makes its descriptor table, which is empty.  0 or
 * -errno. */
int trc_own_thread_begin(const char *name);
/* trc_own_thread_begin() for a thread that keeps the program's descriptor table, because it acts as
 * a thread of the program might (arming timers and counters, say).  Such a thread keeps no
 * descriptor open. */
void trc_own_thread_begin_here(const char *name);
/* Last call in the thread, however it began. */
void trc_own_thread_end(void);

#endif
