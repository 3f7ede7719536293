/*
 * apply.h - makes changes to the programs of threads.
 *
 *   apply:C1  within the sections of a changed lock, all times are multiplied by the factor, except waits for
 *       locks and other threads: the simulation makes these anew
 *   apply:C2  a changed function's sleeps and waits for files and the outside are those with the function in
 *       their stacks.  Of the active time between two waits the function has its share of the samples there.  If
 *       there are few samples, all samples between waits at the same two places count together.  If there are none,
 *       the function has all of the time if both waits are in it, and nothing otherwise
 */
#ifndef TRC_ANALYZER_WHATIF_APPLY_H
#define TRC_ANALYZER_WHATIF_APPLY_H

#include "change.h"
#include "program.h"

struct trc_applied {
	bool *no_lock;		/* by row of locks; owned */
	uint32_t procs;		/* 0 = no change says so */
	int64_t changed_ns;	/* time that takes another time than recorded, over all threads */
	bool no_samples;	/* a function's share of active time is only assumed */
	uint64_t n_sampled;	/* samples in changed functions */
	double sampling_margin; /* of what they tell of a function's time (margin.h), relative */
};

/*
 * Changes p's operations.  0; -ENOENT: there is no such lock or function; or another -errno; all with a line in
 * error.  Free it in all cases.  Needs TRC_PART_ALL and TRC_PART_OBJECTS.
 */
int trc_changes_apply(struct trc_applied *applied, const struct trc_changes *changes,
		      struct trc_program *p, struct trc_error *error);
void trc_applied_free(struct trc_applied *applied);

#endif
