/*
 * own_thread.h - threads of trc's own in the program: small, with all signals blocked, recording
 * nothing, and with a descriptor table of their own, so that no file of theirs is in the program's
 * way and no byte of theirs lands in files of the program.
 */
#ifndef TRC_RECORDER_GUEST_OWN_THREAD_H
#define TRC_RECORDER_GUEST_OWN_THREAD_H

#include <pthread.h>

/* Creates it.  0 or -errno.  Context: any thread that records nothing meanwhile, may block. */
int trc_own_thread_create(pthread_t *thread, void *(*run)(void *), void *arg);
/* First thing in it: its name, and its descriptors, of which none is open.  0 or -errno. */
int trc_own_thread_begin(const char *name);
/* The same for one that leaves the program's descriptors in place, because it does what a thread of
 * the program might (arming timers and counters, say), and keeps none open. */
void trc_own_thread_begin_here(const char *name);
/* Last thing in it, however it began. */
void trc_own_thread_end(void);

#endif
