/*
 * recording.h - the one session of this process and its users: a trace, a flight recorder, the
 * service of recorders (service.h), or several of these.
 *
 *   recording:Q1  the first user opens the session, and the last user closes it
 *   recording:Q2  the first user decides what is recorded, and how much memory the session has
 *   recording:Q3  everything here is guarded by trc_recording_enter(), unless a comment says
 *       otherwise
 */
#ifndef TRC_RECORDER_LIB_RECORDING_H
#define TRC_RECORDER_LIB_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "recorder/guest/runtime.h"
#include "recorder/shared/layout.h"
#include "recorder/guest/session.h"

struct trc_recording {
	bool flight;
	bool service;
	char trace_path[256]; /* "" = no trace runs */
	pid_t pid;
	struct trc_session_options options; /* of the session; its dir is not kept */
};
extern TRC_HIDDEN struct trc_recording trc_recordings;

/* The runtime that records in place of this object: libtrc-preload under trace-record; NULL =
 * none. */
extern TRC_HIDDEN const struct trc_runtime *trc_elsewhere;
/* True if trc_elsewhere records now.  Any thread. */
bool trc_recorded_elsewhere(void);
/* The runtime that keeps the labels in force and the running fibers: this object (NULL), or
 * trc_elsewhere if that records. */
static inline const struct trc_runtime *trc_keeper(void)
{
	const struct trc_runtime *elsewhere = trc_elsewhere;

	if (__builtin_expect(!elsewhere, 1) || !elsewhere->enabled() ||
	    elsewhere->struct_bytes < sizeof(*elsewhere))
		return NULL;
	return elsewhere;
}

/* trc_keeper(), after handing the calling thread's labels and fiber over to the keeper (fiber:F6).
 * Signal handlers too. */
const struct trc_runtime *trc_keeper_of_two(void);
static inline const struct trc_runtime *trc_keeper_now(void)
{
	return __builtin_expect(!trc_elsewhere, 1) ? NULL : trc_keeper_of_two();
}

/* Sets the text of trace_last_error() for the calling thread: "WHAT: WHY".  Returns err.  Any
 * thread. */
int trc_api_fail(int err, const char *what, const char *why);
enum { TRC_API_ERROR_BYTES = 512 };
extern TRC_HIDDEN __thread char trc_api_error[TRC_API_ERROR_BYTES]
	__attribute__((tls_model("initial-exec")));
static inline void trc_api_clear(void)
{
	trc_api_error[0] = '\0';
}

/* Around each start and stop: one thread at a time is inside, and records nothing meanwhile. */
void trc_recording_enter(void);
void trc_recording_leave(void);
bool trc_recording_any(void);
/* Forgets the parent's session after a fork that did not go through our fork(), such as a system
 * call made directly. trc_recording_enter() does so too. */
void trc_recording_notice_fork(void);

/* The options that trace_start() and trace_flight_start() have in common.  -EINVAL if a value is
 * out of range, with trace_last_error(). */
int trc_recording_options(struct trc_session_options *o, uint32_t locks, uint32_t unwind,
			  uint64_t min_wait_ns, const char *ring_dir);
/* Copies the caller's options structure, which may be older or newer than this library.  The caller
 * fills `known` with the defaults before.  0, or -EINVAL with trace_last_error(). */
int trc_recording_copy(void *known, size_t known_bytes, const void *from, const char *init);

/* Q1.  Opens and publishes the session; recording is not turned on yet.  0 or -errno, with a
 * sentence in why.
 */
int trc_recording_open(const struct trc_session_options *o, char *why, size_t n_bytes);
/* trc_recording_open() for a session that a forked child has opened.  0 or -errno. */
int trc_recording_adopt(const struct trc_session_options *o);
/* A trace or flight recorder joins the session.  If only recorders used the session so far, the
 * newcomer's options decide what is sampled. */
void trc_recording_join(const struct trc_session_options *o);
/* Turns recording on, with the signals that the recorder watches, and samples if the session's
 * options have events to sample.  If sampling is not possible, trace_last_error() says why. */
void trc_recording_on(void);
void trc_recording_off(void);
/* The trace or the flight recorder wants the heap sampled, or with 0 no longer.  If sampling is not
 * possible, trace_last_error() says why. */
enum trc_recording_who { TRC_RECORDING_TRACE, TRC_RECORDING_FLIGHT, TRC_RECORDING_WHOS };
void trc_recording_heap(enum trc_recording_who who, uint64_t period_bytes);
/* Replaces the conditions while recording goes on. */
void trc_recording_conditions(const struct trc_trigger_spec *specs, unsigned int n);
/* One user has ended: closes the session if this was the last user. */
void trc_recording_close(void);

/* In a forked child, which has no session (fork.h). */
void trc_recording_forget(void);

/* ---- api.c ---- */

/* trace_stop(), of the trace into `path` and no other. */
int trc_trace_stop(const char *path);

/* ---- http_api.c ---- */

/* In a forked child, which does not have the parent's server. */
void trc_http_forget(void);

/* ---- flight.c ---- */

/* Starts a forked child's own flight recorder, if the options ask for one.  Context: the child's
 * only thread. */
void trc_flight_in_child(void);
/* In a forked child, which does not have the parent's flight recorder. */
void trc_flight_forget(void);
/* At exit: takes the snapshot for "exit" if "exit" is a condition, and ends the flight recorder. */
void trc_flight_exit(void);

#endif
