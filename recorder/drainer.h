/*
 * drainer.h - the thread that drains a process's own rings into a file, for trace_start().
 *
 * It has a descriptor table of its own, in which the trace's file lies: however the program
 * closes and reuses its descriptors, no byte of the trace lands in a file of the program's.
 * All signals are blocked in it, it records nothing, and it calls libc only where libc calls
 * the kernel and nothing else.
 */
#ifndef TRC_RECORDER_DRAINER_H
#define TRC_RECORDER_DRAINER_H

#include <stddef.h>
#include "layout.h"

/* Starts the thread and waits until its file is open.  0 or -errno with a sentence in error.
 * Context: any thread, may block; callers see to it that one runs at a time. */
int trc_drainer_start(struct trc_shared *shared, const char *path, char *error, size_t n_bytes);
/* Drains what is left, completes the file, ends the thread.  0, or the first thing that went
 * wrong since the start, with a sentence in error. */
int trc_drainer_stop(char *error, size_t n_bytes);
/* In a forked child: the thread is not there. */
void trc_drainer_forget(void);

#endif
