/*
 * why.h - what a wait, a task or a thread waited for: --why, as a tree; --critical-path, in the order of
 * time.
 */
#ifndef TRC_ANALYZER_WHY_WHY_H
#define TRC_ANALYZER_WHY_WHY_H

#include "analyzer/words/report_options.h"

/*
 * `what` is "17" or "wait:17", a wait by its id in parks; "longest", of the waits that other threads
 * of the program end the longest; "task:7" by its id or "task:request", all of that type; "region:parse",
 * all of that type; "thread:4711" by its tid or "thread:worker", all with that name; "program", its first
 * thread, but in a window who was last at work then; "1.2s..1.5s", that time, back from who was last at work.  0, -ENOENT if there is no such thing, or another
 * -errno; both with a line in error.
 */
int trc_report_why(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		   const char *what, struct trc_error *error);

/*
 * --critical-path: what determined when it ended.  The pieces of the tree above that explain themselves, in the
 * order of time; of several tasks or threads those of the one that took longest, and sums over all.
 * As above.
 */
int trc_report_critical_path(struct trc_model *m, FILE *out,
			     const struct trc_report_options *options, const char *what,
			     struct trc_error *error);

#endif
