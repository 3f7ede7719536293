/*
 * whatif.h - how long a program's tasks and the program itself would take after a change.
 *
 * The trace is replayed (replay.h) four times: without and with the change, each with the assumed sections
 * (sections.h, V5) and with the shortest sections that the trace allows.
 *
 *   whatif:W1  a prediction is the recorded figure times the ratio of the replay with the change to the replay without: an
 *       error that both replays have cancels out.  In two cases the prediction is the replay's own figure.  The first is
 *       a changed number of procs, since what else the machine did meanwhile is no part of the prediction.  The second
 *       are percentiles of a type whose tasks wait for a saturated lock: which thread got the lock next was chance, in
 *       the recording and in the replay
 *   whatif:W2  the uncertainty of a prediction has these parts: the error of the replay without a change; what the assumed
 *       sections change in the prediction; what the number of tasks leaves to chance; and for a changed function what
 *       the number of its samples leaves open.  It does not have what the model leaves out
 *   whatif:W3  figures of a type are of its tasks that both ended in the trace and end in each replay
 *   whatif:W4  what the number of tasks leaves to chance is a bound that holds in 19 of 20 pairs of runs, the recorded one
 *       and another.  The other run has other tasks, and the recorded one had those of one run.  A run's length varies as the
 *       sum of its tasks does.  Another run has other tasks beyond a percentile.  Their number varies as for independent tasks; or, if that is more, as it differs
 *       between batches of consecutive tasks.  If there are fewer tasks beyond a percentile than that, the percentile has
 *       no bound
 */
#ifndef TRC_ANALYZER_WHATIF_WHATIF_H
#define TRC_ANALYZER_WHATIF_WHATIF_H

#include "analyzer/model/model.h"
#include "analyzer/model/array.h"

struct trc_whatif_figure {
	int64_t recorded_ns, replayed_ns; /* replayed: without a change */
	int64_t predicted_ns, uncertain_ns;
	bool at_least; /* it is more uncertain: too few tasks lie beyond it to say by how much (W4) */
	bool from_replay; /* it is the replay's own: what changes is replayed_ns (W1) */
};

struct trc_whatif_type {
	const char *name; /* the model's */
	size_t n;
	bool by_chance; /* W1: tasks of it wait for a lock that is saturated */
	struct trc_whatif_figure mean, p50, p99;
};

struct trc_whatif {
	struct trc_whatif_figure length; /* of the run */
	struct trc_array types;		 /* struct trc_whatif_type, by name */
	size_t n_left_out;		 /* tasks: W3 */
	double error; /* of the replay without a change, the largest of length, means and p50s */
	uint64_t n_sections, n_assumed;
	bool all_locks; /* the trace has all acquisitions */
	uint64_t
		n_kept; /* waits for threads and locks that keep their length, and what they lasted */
	int64_t kept_ns;
	uint64_t n_forced;	/* waits that the replay had to end */
	int64_t changed_ns;	/* time of threads that the change scales */
	bool no_samples;	/* a function was changed, and there are none */
	uint64_t n_sampled;	/* samples in changed functions */
	double sampling_margin; /* what they leave open of these functions' time, relative (margin.h) */
	uint64_t saturated; /* the lock that is held nearly all the time, by turns; 0 = none is */
	double saturated_share;
	uint32_t procs; /* of the change; 0 = it is none to them */
	uint64_t lost_events;
	size_t n_fibers;
};

/*
 * `text` as in change.h.  Needs TRC_PART_ALL and TRC_PART_OBJECTS.  0; -EINVAL: the text is no change; -ENOENT:
 * what it changes is not in the trace; -ELOOP: the trace cannot be replayed; or another -errno; all with a
 * line in error.  Free it in all cases.
 */
int trc_whatif_make(struct trc_whatif *w, const struct trc_model *m, const char *text,
		    struct trc_error *error);
void trc_whatif_free(struct trc_whatif *w);

#endif
