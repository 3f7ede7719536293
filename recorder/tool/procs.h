/*
 * procs.h - the number of procs that a process may use, and its changes: by affinity, by procs that
 * go on- or offline, by the quota of the cgroup.
 *
 *   procs:E1  trace-record looks at the number at most once a second.  A change has the time of the look
 *       that found it.  Two changes between two looks are recorded as one, or, if the second undoes
 *       the first, not at all
 *   procs:E2  a change that the process itself has recorded (trc_shared.procs_told) is not recorded
 *       again
 */
#ifndef TRC_RECORDER_TOOL_PROCS_H
#define TRC_RECORDER_TOOL_PROCS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TRC_PROCS_CHANGES = 64 };

struct trc_procs {
	uint32_t now;	  /* 0 = not known */
	uint64_t told;	  /* procs_told as of the last look */
	uint64_t seen_ns; /* CLOCK_MONOTONIC_RAW of the last look; 0 = none yet */
	/* The latest changes that are to be told, oldest first. */
	struct trc_procs_change {
		uint64_t raw_ns;
		uint32_t procs;
	} change[TRC_PROCS_CHANGES];
	unsigned int n_changes;
};

/* Looks, unless the last look is less than a second old and `force` is not set.  `told` is
 * procs_told in the mapping, NULL without one. */
void trc_procs_look(struct trc_procs *p, int pid, const _Atomic uint64_t *told, uint64_t now_ns,
		    bool force);
/* Drops the first n changes, which are in the trace. */
void trc_procs_drop(struct trc_procs *p, unsigned int n);

/* The parts, for tests.  The first: the number of procs that two lists such as "0-3,8" have in
 * common.  The second: the procs that a quota allows, rounded up; 0 = any number. */
uint32_t trc_procs_common(const char *list, const char *other);
uint32_t trc_procs_quota(const char *cpu_max);

#endif
