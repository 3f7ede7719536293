/*
 * service.h - the fold that recorders look into (fold.h), and whoever drains events into it.
 *
 *   service:V1  while it has a user the process is recorded: by the trace that runs, whose drainer
 *       feeds the fold as well; else by a session of the service's own, or beside a flight
 *       recorder, with a drainer that writes no file. Nobody ever waits for room because of the
 *       service
 *   service:V2  a trace or flight recorder that begins or ends meanwhile changes nothing for the
 *       fold but, if events were lost over that, its count of these
 *   service:V3  the fold, and views of it, are only touched in trc_service_call()
 *   service:V4  a forked child has no users, and no fold
 */
#ifndef TRC_RECORDER_LIB_SERVICE_H
#define TRC_RECORDER_LIB_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_fold;

/* One user more, or one less: V1.  0, -EBUSY: trace-record records this process; or another
 * negative errno; with a sentence in why.  Context: any thread, may block; not within
 * trc_recording_enter(). */
int trc_service_begin(char *why, size_t n_bytes);
void trc_service_end(void);

/*
 * In the draining thread, after a pass over everything that was recorded before the call: `now` is
 * the time, in ticks, up to which the fold has it all.  Allocates nothing but from the kernel,
 * calls nothing that is interposed, takes microseconds.
 */
typedef int trc_service_fn(void *context, struct trc_fold *fold, uint64_t now);
/* Calls fn there and waits for it.  What it returns, or -ECANCELED: nobody drains, because the
 * caller is no user or there was a fork.  Context: any thread that is a user, may block. */
int trc_service_call(trc_service_fn *fn, void *context);

/* ---- for recording.c and api.c ---- */

/* A trace has ended: drains on for the service alone.  0 or -errno with a sentence in why.
 * Context: within trc_recording_enter(). */
int trc_service_drain(char *why, size_t n_bytes);
/* At exit: it has no users any more. */
void trc_service_exit(void);
/* In a forked child: V4. */
void trc_service_forget(void);

#endif
