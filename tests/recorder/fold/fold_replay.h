/*
 * fold_replay.h - a trace through a fold, beside what the analyzer makes of it.
 */
#ifndef TRC_TESTS_FOLD_REPLAY_H
#define TRC_TESTS_FOLD_REPLAY_H

#include <stdio.h>
#include "analyzer/model/model.h"

/*
 * Hands the trace's events to a fold, stream by stream, in passes of pass_ns; and looks whether its
 * block and mutex profiles have the same stacks and labels with the same counts and
 * nanoseconds as the analyzer's.  Says on `out` what differs.  How many rows there are in both, or
 * -1: they differ, or the trace cannot be read.
 */
long fold_replay_compare(struct trc_model *m, uint64_t pass_ns, uint64_t unlock_lag_ns, FILE *out);

#endif
