/*
 * fake_core.h - a stand-in for the recorder's core: counts what the interposers tell it.
 *
 * Programs under test are not linked with it.  They find it, if it is there, by
 * dlsym(RTLD_DEFAULT, "fake_core_count").
 */
#ifndef TRC_TESTS_INTERPOSE_FAKE_CORE_H
#define TRC_TESTS_INTERPOSE_FAKE_CORE_H

#include <dlfcn.h>
#include <stdio.h>
#include "format/schema.h"

enum fake_event {
	FAKE_PARK,
	FAKE_RESUME,
	FAKE_WAIT_BEGIN,
	FAKE_WAIT_END,
	FAKE_UNLOCKED,
	FAKE_UNPARKED,
	FAKE_ACQUIRED,
	FAKE_RELEASED,
	FAKE_EVENTS,
};

/* How often since the start. */
typedef unsigned int fake_core_count_fn(enum fake_event event, unsigned int reason);
/* The last one's: result (resume, wait_end), holder's tid (park), count (unparked), waiters
 * (unlocked). */
typedef unsigned long fake_core_last_fn(enum fake_event event, unsigned int reason);

/* What is not about a reason. */
enum fake_state {
	FAKE_LOCKS_HELD, /* trc_self.locks_held of the calling thread */
	FAKE_NO_WAIT,	 /* and so on */
	FAKE_QUIET,
	FAKE_THREADS_CREATED, /* counts from here on */
	FAKE_THREADS_STARTED,
	FAKE_THREADS_ENDED,
	FAKE_THREADS_NAMED,
	FAKE_FORKS_PREPARED,
	FAKE_FORKS_PARENT,
	FAKE_FORKS_CHILD,
	FAKE_MODULES_CHANGING,
	FAKE_MODULES_CHANGED,
	FAKE_PROCESS_EVENTS,
	FAKE_PROCS_CHANGED,
	FAKE_SIGNALS_HANDLED,
	FAKE_SIGNALS_FATAL,
	FAKE_SAMPLES,	 /* signals of FAKE_STORM_US that came */
	FAKE_QUIET_CALLS, /* calls that came while quiet: recorded nowhere */
	FAKE_STATES,
};
typedef unsigned int fake_core_state_fn(enum fake_state state);

/* What the calling thread is to the recorder: normally {gettid(), FAKE_SESSION, 0}. */
struct fake_self {
	unsigned int tid, session, quiet;
};
enum { FAKE_SESSION = 1 };
typedef void fake_core_pretend_fn(struct fake_self self);

/* With FAKE_STORM_US: as if the thread were sampled now.  FAKE_STORM_US=0 makes no others. */
typedef void fake_core_sample_fn(int tid);

/* 0 if every wait that began has ended, and this thread holds no lock; else says which.
 * Always 0 without the fake core. */
static inline int fake_core_unbalanced(void)
{
	fake_core_count_fn *count = (fake_core_count_fn *)dlsym(RTLD_DEFAULT, "fake_core_count");
	fake_core_state_fn *state = (fake_core_state_fn *)dlsym(RTLD_DEFAULT, "fake_core_state");
	unsigned int reason;
	int unbalanced = 0;

	for (reason = 1; count && reason < TRC_REASON_COUNT; reason++)
		if (count(FAKE_PARK, reason) != count(FAKE_RESUME, reason) ||
		    count(FAKE_WAIT_BEGIN, reason) != count(FAKE_WAIT_END, reason)) {
			fprintf(stderr, "reason %u: %u parks, %u resumes, %u begun, %u ended\n",
				reason, count(FAKE_PARK, reason), count(FAKE_RESUME, reason),
				count(FAKE_WAIT_BEGIN, reason), count(FAKE_WAIT_END, reason));
			unbalanced = 1;
		}
	if (state && (state(FAKE_LOCKS_HELD) || state(FAKE_NO_WAIT) || state(FAKE_QUIET))) {
		fprintf(stderr, "%u locks held, no_wait %u, quiet %u\n", state(FAKE_LOCKS_HELD),
			state(FAKE_NO_WAIT), state(FAKE_QUIET));
		unbalanced = 1;
	}
	return unbalanced;
}

#endif
