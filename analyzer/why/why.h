/*
 * why.h - what a wait, a task or a thread waited for: --why, as a tree; --critical-path, in the order of
 * time.
 */
#ifndef TRC_ANALYZER_WHY_WHY_H
#define TRC_ANALYZER_WHY_WHY_H

#include "analyzer/words/report_options.h"

/*
 * `what` is
 *   "17", "wait:17"                    the wait with this id in parks
 *   "longest"                          the longest wait that another thread of the program ended
 *   "task:7", "task:request"           the task with this id; all tasks of this type
 *   "region:parse"                     all regions of this type
 *   "thread:4711", "thread:worker"     the thread with this tid; all threads with this name
 *   "program"                          the program's first thread; in a window, the thread that was last at work then
 *   "1.2s..1.5s"                       this time, back from the thread that was last at work
 * 0, -ENOENT if there is no such thing, or another -errno; both with a line in error.
 */
int trc_report_why(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		   const char *what, struct trc_error *error);

/*
 * --critical-path: what determined when it ended.  The pieces of the tree above that need no further cause, in the
 * order of time.  Of several tasks or threads the pieces are those of the longest, and sums are over all.
 * As above.
 */
int trc_report_critical_path(struct trc_model *m, FILE *out,
			     const struct trc_report_options *options, const char *what,
			     struct trc_error *error);

#endif
