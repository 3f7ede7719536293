/*
 * service.h - the fold that recorders look into (fold.h), and the drainer that fills the fold.
 *
 *   service:V1  while the service has a user, the process is recorded.  If a trace runs, the
 *       trace's drainer feeds the fold as well.  Else a drainer that writes no file feeds the fold,
 *       from the flight recorder's session or from a session of the service's own.  No thread ever
 *       waits for room because of the service
 *   service:V2  a trace or flight recorder that begins or ends meanwhile changes nothing for the
 *       fold, except the count of lost events if events were lost meanwhile
 *   service:V3  the fold, and views of it, are only touched in trc_service_call()
 *   service:V4  a forked child has no users, and no fold
 */
#ifndef TRC_RECORDER_LIB_SERVICE_H
#define TRC_RECORDER_LIB_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_fold;

/* Adds a user of the service, or removes one: V1. 0, or a negative errno with a sentence in why;
 * -EBUSY: trace-record records this process.  Context: any thread, may block; not within
 * trc_recording_enter(). */
int trc_service_begin(char *why, size_t n_bytes);
void trc_service_end(void);

/*
 * Runs in the draining thread, after a pass over everything that was recorded before the call.
 * `now` is the time, in ticks, up to which the fold has all events.  The function allocates only
 * from the kernel, calls no interposed function, and takes microseconds.
 */
typedef int trc_service_fn(void *context, struct trc_fold *fold, uint64_t now);
/* Calls fn in the draining thread and waits for its end.  Returns fn's result, or -ECANCELED: no
 * thread drains, because the caller is no user or there was a fork.  Context: any thread that is a
 * user, may block. */
int trc_service_call(trc_service_fn *fn, void *context);

/* ---- for recording.c and api.c ---- */

/* A trace has ended: goes on draining for the service alone.  0 or -errno with a sentence in why.
 * Context: within trc_recording_enter(). */
int trc_service_drain(char *why, size_t n_bytes);
/* At exit: the service has no users any more. */
void trc_service_exit(void);
/* In a forked child: V4. */
void trc_service_forget(void);

#endif
