/*
 * recording.h - the one session of this process and who uses it: a trace, a flight recorder, the
 * service of recorders (service.h), or several of these.
 *
 *   recording:Q1  the session is opened by the first of them and closed by the last
 *   recording:Q2  what is recorded, and the memory, is as the first asked
 *   recording:Q3  everything here is guarded by trc_recording_enter(), but for what says otherwise
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

/* Who records if this object does not: libtrc-preload under trace-record; NULL = nobody. */
extern TRC_HIDDEN const struct trc_runtime *trc_elsewhere;
/* True if it records now. Any thread. */
bool trc_recorded_elsewhere(void);
/* Who keeps which labels are in force and which fibers run: this object (NULL), or that one where it
 * records. */
static inline const struct trc_runtime *trc_keeper(void)
{
	const struct trc_runtime *elsewhere = trc_elsewhere;

	if (__builtin_expect(!elsewhere, 1) || !elsewhere->enabled() ||
	    elsewhere->struct_bytes < sizeof(*elsewhere))
		return NULL;
	return elsewhere;
}

/* The same, and what the calling thread is in has been handed over to it (fiber:F6).  Signal
 * handlers too. */
const struct trc_runtime *trc_keeper_of_two(void);
static inline const struct trc_runtime *trc_keeper_now(void)
{
	return __builtin_expect(!trc_elsewhere, 1) ? NULL : trc_keeper_of_two();
}

/* What trace_last_error() says to the calling thread: "WHAT: WHY".  Returns err. Any thread. */
int trc_api_fail(int err, const char *what, const char *why);
enum { TRC_API_ERROR_BYTES = 512 };
extern TRC_HIDDEN __thread char trc_api_error[TRC_API_ERROR_BYTES]
	__attribute__((tls_model("initial-exec")));
static inline void trc_api_clear(void)
{
	trc_api_error[0] = '\0';
}

/* Around whatever starts or stops: one thread at a time, which records nothing meanwhile. */
void trc_recording_enter(void);
void trc_recording_leave(void);
bool trc_recording_any(void);
/* Forgets the parent's, after a fork that did not come by our fork(): a system call made directly,
 * say.  trc_recording_enter() does so too. */
void trc_recording_notice_fork(void);

/* What trace_start() and trace_flight_start() have in common.  -EINVAL if out of range, with
 * trace_last_error(). */
int trc_recording_options(struct trc_session_options *o, uint32_t locks, uint32_t unwind,
			  uint64_t min_wait_ns, const char *ring_dir);
/* Copies an options structure of the caller's, which may be older or newer than this library:
 * `known` comes filled in with the defaults.  0, or -EINVAL with trace_last_error(). */
int trc_recording_copy(void *known, size_t known_bytes, const void *from, const char *init);

/* Q1.  Opens and publishes; recording is not turned on yet.  0 or -errno, with a sentence in why.
 */
int trc_recording_open(const struct trc_session_options *o, char *why, size_t n_bytes);
/* The same for one that a forked child has opened.  0 or -errno. */
int trc_recording_adopt(const struct trc_session_options *o);
/* A trace or flight recorder joins: if only recorders used the session so far, what is sampled is as
 * it asks. */
void trc_recording_join(const struct trc_session_options *o);
/* Recording itself, with the signals that it looks at, and samples if the session's options have
 * events for that.  If these cannot be had trace_last_error() says why. */
void trc_recording_on(void);
void trc_recording_off(void);
/* One of the two wants the heap sampled, or with 0 does not any more.  If that cannot be had
 * trace_last_error() says why. */
enum trc_recording_who { TRC_RECORDING_TRACE, TRC_RECORDING_FLIGHT, TRC_RECORDING_WHOS };
void trc_recording_heap(enum trc_recording_who who, uint64_t period_bytes);
/* Other conditions while it goes on. */
void trc_recording_conditions(const struct trc_trigger_spec *specs, unsigned int n);
/* One of them has ended: the session too if it was the last. */
void trc_recording_close(void);

/* In a forked child, which has nothing of this (fork.h). */
void trc_recording_forget(void);

/* ---- api.c ---- */

/* trace_stop(), of the trace into `path` and no other. */
int trc_trace_stop(const char *path);

/* ---- http_api.c ---- */

/* In a forked child: the parent's server is not there. */
void trc_http_forget(void);

/* ---- flight.c ---- */

/* Starts a forked child's own, if that was asked for. Context: the child's only thread. */
void trc_flight_in_child(void);
/* In a forked child: the parent's is not there. */
void trc_flight_forget(void);
/* At exit: the snapshot for "exit", if that was asked for, and the end. */
void trc_flight_exit(void);

#endif
