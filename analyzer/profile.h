/*
 * profile.h - a profile: samples by stack, from any derivation, on its way to pprof or a report.
 *
 * block: the waiter's stack, contentions/count and delay/nanoseconds.
 * mutex: the unlocker's stack, and the wait that its critical section caused to all
 * waiters; a contention is one waiter that waited during one section.
 *
 *   L1  the block profile has the waits that other threads of the program end: locks of every
 *       kind (file locks too), condition variables, semaphores, barriers, join,
 *       message queues, futexes, and waits that the program announced.  Not in
 *       it, as in Go's: sleep, poll and epoll, child processes and signals, and
 *       reading, writing, receiving, sending, accepting, connecting, opening and fsync
 *   L2  a wait in progress counts, up to the end of the trace: a deadlock shows
 *   L3  time is counted once: a wait within a wait is taken off the outer one, if both
 *       are in the profile
 *   L4  the innermost frames that are trc's or the C library's are left out
 *       (trc_profile_skip())
 */
#ifndef TRC_ANALYZER_PROFILE_H
#define TRC_ANALYZER_PROFILE_H

#include "analyzer/model.h"

enum trc_profile_kind {
	TRC_PROFILE_BLOCK,
	TRC_PROFILE_MUTEX,
};

struct trc_profile_sample {
	uint32_t stack;
	uint64_t count;
	int64_t delay_ns;
};

struct trc_profile {
	enum trc_profile_kind kind;
	struct trc_profile_sample *sample; /* by delay, largest first; one per stack */
	size_t n_samples;
};

/* On success *out is the caller's: trc_profile_free() it. */
int trc_profile_derive(struct trc_profile **out, struct trc_model *m, enum trc_profile_kind kind,
		       struct trc_error *error);
void trc_profile_free(struct trc_profile *p); /* accepts NULL */
/* The gzip-compressed pprof protobuf, to an open file. 0 or -errno. */
int trc_profile_write_pprof(const struct trc_profile *p, struct trc_model *m, int fd,
			    struct trc_error *error);
/*
 * Index of the first frame of this stack that is the program's own, relative to the stack's
 * first in trc_stacks.stack_frame: frames in trc's objects, libc, the dynamic
 * linker and the C++ library are passed over.  Where there are no others, only
 * trc's are; where those are all there is, none.
 */
size_t trc_profile_skip(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack);
/* Index after the last frame that is the program's own, so that how its threads are started is
 * left out too; all frames where there is none. */
size_t trc_profile_limit(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack);

#endif
