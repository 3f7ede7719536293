/*
 * drain_thread.h - the thread that drains a process's own rings: into a file, for trace_start(), into a
 * fold (fold.h), for recorders, or both.
 *
 * The trace's file lies in a descriptor table of its own (own_thread.h): however the program closes
 * and reuses its descriptors, no byte of the trace lands in a file of the program's.  The thread
 * calls libc only where libc calls the kernel and nothing else.
 */
#ifndef TRC_RECORDER_LIB_DRAIN_THREAD_H
#define TRC_RECORDER_LIB_DRAIN_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include "recorder/shared/layout.h"
#include "service.h"

enum trc_drainer_how {
	TRC_DRAINER_ALONE,
	TRC_DRAINER_JOINS, /* a flight recorder runs: the trace begins with what comes from now on
			    */
	TRC_DRAINER_JOINS_DROPPING, /* the same, and nobody waits for room */
};
/* Starts the thread and waits until its file is open.  `path` NULL = no file: events go to the fold
 * alone.  0 or -errno with a sentence in error.  Context: any thread, may block; callers see to it
 * that one runs at a time. */
int trc_drainer_start(struct trc_shared *shared, const char *path, enum trc_drainer_how how,
		      char *error, size_t n_bytes);
/* Drains the remaining events, completes the file, ends the thread.  With `goes_on` recording goes
 * on, for a flight recorder.  0, or the first error since the start, with a sentence in error. */
int trc_drainer_stop(bool goes_on, char *error, size_t n_bytes);
/* From now on drained events go to this fold, too, also from a drain thread that starts later; NULL
 * = to no fold.  After the return no thread touches the previous fold.  Context: as above. */
void trc_drainer_fold(struct trc_fold *fold);
/* As trc_service_call(), but the caller makes sure that one call runs at a time.  -ECANCELED: no
 * drain thread runs, or there is no fold. */
int trc_drainer_call(trc_service_fn *fn, void *context);
/* In a forked child, which does not have the thread. */
void trc_drainer_forget(void);

#endif
