/*
 * profile.h - a profile: samples by stack, from any derivation, on its way to pprof or a report.
 *
 * block: the waiter's stack, contentions/count and delay/nanoseconds; a wait in
 * progress counts up to the end of the trace.  mutex: the unlocker's stack, and the wait
 * that its critical section caused to all waiters.  Frames of trc itself and of libc's
 * locking above the program's own call are left out at the top.
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
void trc_profile_free(struct trc_profile *p);
/* The gzip-compressed pprof protobuf, to an open file. 0 or -errno. */
int trc_profile_write_pprof(const struct trc_profile *p, struct trc_model *m, int fd,
			    struct trc_error *error);
/* Index of the first frame of this stack that is the program's own (trc's and libc's waiting
 * functions skipped): into trc_stacks.stack_frame, relative to the stack's first. */
size_t trc_profile_skip(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack);

#endif
