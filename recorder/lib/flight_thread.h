/*
 * flight_thread.h - trc-flight, the thread that takes triggered snapshots of a process's own ring.
 *
 * The thread sleeps on trigger_wake, and wakes to look whether a recorded thread waits too long
 * already (trigger_watch.h). own_thread.h says how the thread keeps out of the program's way.
 */
#ifndef TRC_RECORDER_LIB_FLIGHT_THREAD_H
#define TRC_RECORDER_LIB_FLIGHT_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/file_sink.h"
#include "recorder/shared/layout.h"
#include "recorder/drain/trigger_watch.h"

struct trc_flight_triggers {
	struct trc_trigger_spec spec[TRC_TRIGGER_SPECS_MAX];
	unsigned int n_specs;
	struct trc_trigger_limits limits;
	uint64_t window_ns;
	uint32_t child_pid;		/* goes into the names; 0 = none */
	char path[TRC_FILE_PATH_BYTES]; /* absolute, before numbers are put in; "" = no triggers */
};

/* Starts the thread; *triggers stays the caller's, and must not change until the thread ends.
 * Requests made before the start are ignored.  0 or -errno with a sentence in error.  Context: any
 * thread that records nothing meanwhile, may block; callers see to it that one runs at a time. */
int trc_flight_thread_start(const struct trc_flight_triggers *triggers, struct trc_shared *shared,
			    char *error, size_t n_bytes);
/* Takes pending snapshots, and with at_exit the snapshot for "exit" if "exit" is a condition; ends
 * the thread.  0, or the first error since the start, with a sentence in error. */
int trc_flight_thread_stop(bool at_exit, char *error, size_t n_bytes);
/* In a forked child, which does not have the thread. */
void trc_flight_thread_forget(void);

#endif
