/* at_work.h - when threads had work at hand: in a region, or between begin and end of a task. */
#ifndef TRC_ANALYZER_WORDS_AT_WORK_H
#define TRC_ANALYZER_WORDS_AT_WORK_H

#include "words.h"

/*
 * Adds the times to r->at_work, disjoint, by thread and time.  A task that one thread begins and another thread ends may lie in a
 * queue: so it is not work at hand of either thread at all times.  What fibers do is not their threads' work.  Asked again it
 * does nothing.  0 or -ENOMEM.
 */
int trc_report_at_work_init(struct trc_report *r);
bool trc_report_is_at_work(const struct trc_report *r, uint32_t thread, int64_t ts_ns);

#endif
