/*
 * session.h - a recording of this process: the shared mapping from its creation to its end.
 *
 *   session:N1  at most one session at a time; the switch is on only while the session is complete
 *   session:N2  the mapping's addresses stay mapped for ever: a thread that was stopped in the
 *       middle of recording finds memory there, whatever ended the session meanwhile
 *   session:N3  a forked child has no session, and nothing of its parent's mapping
 */
#ifndef TRC_RECORDER_GUEST_SESSION_H
#define TRC_RECORDER_GUEST_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/shared/cpu_event.h"
#include "recorder/shared/layout.h"
#include "recorder/shared/trigger.h"
#include "recorder/unwind/unwind.h"

struct trc_session_options {
	const char *dir;	   /* where the ring's file is made */
	bool shared_dir;	   /* other processes keep files there: names say whose a file is */
	uint64_t reader_namespace; /* the readers' pid namespace: trc_pid_name() */
	uint64_t ring_bytes, overflow_bytes; /* 0 = default */
	uint64_t min_wait_ns;
	enum trc_locks locks;
	enum trc_on_full on_full;
	enum trc_ring_path path;
	enum trc_unwind_mode unwind;
	enum trc_clock_kind clock; /* 0 = the best */
	uint64_t ticks_per_second; /* of the counter; 0 = not measured yet */
	uint32_t image;		   /* see struct trc_shared */
	/* Flight mode: the oldest records are overwritten while nobody drains. */
	bool flight;
	/* Populate all memory at once, so that none is missing later (layout:L5).  Forked children
	 * do not inherit this option. */
	bool eager;
	uint64_t max_bytes; /* of the whole mapping; 0 = ring_bytes counts */
	uint64_t window_ns; /* see struct trc_shared */
	bool crash;	    /* faults and deadly signals are recorded (interpose/signal.h) */
	bool no_otel;	    /* published OpenTelemetry contexts are not recorded (ring/otel.h) */
	struct trc_trigger_spec trigger[TRC_TRIGGER_SPECS_MAX];
	unsigned int n_triggers;
	/* The events of CPU profiles, settled; for trc_sample_start(). */
	struct trc_cpu_event cpu_event[TRC_CPU_EVENTS_MAX];
	unsigned int n_cpu_events;
	uint64_t heap_bytes; /* allocated between two samples of the heap; 0 = none.  For
				trc_heap_begin() */
};

/* "4096", "4K", "4M", "4G".  0 or -EINVAL. */
int trc_bytes_parse(const char *text, uint64_t *bytes);
/* The defaults, as changed by the TRC_ variables of the environment.  Returns 0, or -EINVAL, or for
 * events that are not available here another negative errno, with a sentence in error. */
int trc_session_options_init(struct trc_session_options *options, char *error, size_t n_bytes);

/* Sets flight mode.  Options that are 0 get its defaults: 64 MiB in all, a window of 10 s. */
void trc_session_flight(struct trc_session_options *options);

/* The next session gets the number after this one.  Both objects of a process remember things by a
 * session's number (label sets, fibers, places in the source).  As the numbers differ, neither
 * object takes the other's session for its own.  Called before the first session. */
enum { TRC_SESSIONS_OF_PRELOAD = 0x40080000 };
void trc_session_count_from(uint32_t number);

/*
 * Makes the mapping and everything in it; nothing records yet.  0 or -errno with a sentence in
 * error.  Context: any thread, may block; callers make sure that one call runs at a time.
 */
int trc_session_open(const struct trc_session_options *options, char *error, size_t n_bytes);
/* trc_session_open() in a forked child: does not use memory that another thread may have been
 * changing.  *why is a constant. */
int trc_session_open_in_child(const struct trc_session_options *options, const char **why);
struct trc_shared *trc_session_shared(void);
const char *trc_session_path(void);
/* Gives the file its final name (ring_file.h): readers may open it.  0 or -errno. */
int trc_session_publish(void);
/* A flight recorder joins the session of a trace, or leaves it to the trace.  window_ns as in the
 * options. */
void trc_session_overwrite(bool on, uint64_t window_ns);
/* Turns the switch on, or off. */
void trc_session_record(bool on);
/* The process has begun to exit by itself: a recovery of its ring will say so. */
void trc_session_exited(void);
/* After the drainer has taken everything: removes the file, gives the memory back (N2). */
void trc_session_close(void);
/* In a forked child: forgets the parent's session (N3). */
void trc_session_forget(void);

#endif
