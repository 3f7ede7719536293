/*
 * fibers.h - what the files that derive fibers share (fibers.c, fiber_runs.c).
 */
#ifndef TRC_ANALYZER_DERIVE_FIBERS_H
#define TRC_ANALYZER_DERIVE_FIBERS_H

#include "analyzer/model/spans.h"

/* When threads ended, whose last fiber ends to run there. */
struct trc_thread_exits {
	struct trc_index row;	  /* by serial */
	struct trc_array ns;	  /* int64_t */
	struct trc_array exec_ns; /* int64_t, in order: all threads, by executing another program */
};

/* In the note of a change, beside its reason: the thread was first seen with it, and may have been
 * in the fiber before. */
#define TRC_FIBER_FIRST_SEEN 256u

/* Makes fiber_runs of the spans that were made of `changes`, whose notes are reasons, and adds them
 * up in fibers; the state of a fiber that runs in the end is set.  0 or -ENOMEM. */
int trc_derive_fiber_runs(struct trc_model *m, const struct trc_changes *changes,
			  const struct trc_thread_exits *exits);

#endif
