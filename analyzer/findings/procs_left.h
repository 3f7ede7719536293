/* procs_left.h - when the program's threads had no procs left. */
#ifndef TRC_ANALYZER_FINDINGS_PROCS_LEFT_H
#define TRC_ANALYZER_FINDINGS_PROCS_LEFT_H

#include "analyzer/words/words.h"

/* From ts_ns to the next step. */
struct trc_procs_step {
	int64_t ts_ns;
	int64_t running;  /* threads on procs */
	int64_t waiting;  /* threads that could go on when they were taken off theirs */
	int64_t taken_ns; /* for so long, before ts_ns, no proc was left */
};

/*
 * No proc is left while threads run on all procs that any thread of the program ran on, and while a thread
 * that could go on is off its proc.
 */
struct trc_procs {
	struct trc_array steps; /* struct trc_procs_step; none without switch records */
	uint32_t n_procs;
};

/* Free with trc_procs_free(), also after a failure.  0 or -ENOMEM. */
int trc_procs_of(struct trc_procs *procs, const struct trc_report *r);
void trc_procs_free(struct trc_procs *procs);
/* The last step at or before this time; NULL = there is none. */
const struct trc_procs_step *trc_procs_step_at(const struct trc_procs *procs, int64_t ts_ns);
/* For how long of this time no proc was left. */
int64_t trc_procs_taken_ns(const struct trc_procs *procs, int64_t from_ns, int64_t to_ns);
/* For how long of this time more of the program's threads could run than there are procs. */
int64_t trc_procs_short_ns(const struct trc_procs *procs, int64_t from_ns, int64_t to_ns);

#endif
