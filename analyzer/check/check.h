/*
 * check.h - what is wrong with a trace, line by line.
 *
 * Blocks: each can be decoded (checksum, times in order, ids in their tables), and the blocks of each
 * stream follow each other.  Threads: parks and resumes match; regions nest and are closed
 * when their thread exits; nothing comes before a thread's start or after its exit; no thread is
 * on procs for longer than it lives; a thread's labels are those that it was given last, and
 * its labels at the end are told once.  Fibers: each runs on one thread at a time; no event names a fiber after
 * its end; a thread leaves the fiber that it switched to; regions nest within their
 * fiber and are closed when the fiber ends.  Tasks begin once, end once, and exist where they are named.  Samples are
 * of events in their table.  A sampled allocation is made once and freed once, as it was made.  The causes of a
 * wait add up to the wait, and to what the unlocks in it caused.  If every acquire was recorded, most waits for
 * mutexes have wakers.
 *
 *   check:V1  damage to one block keeps nothing else from being checked
 *   check:V2  a violation that lost events explain says so.  Violations of one kind, explained by losses
 *       for one cause, are summed up as an example and their number, unless all are asked for
 *   check:V3  what began before the trace did is no violation
 *   check:V4  a file that was cut off lacks the last events of its streams.  The check tells where each stream is
 *       cut, and does not judge what the missing events might settle
 *   check:V5  likewise, the check does not judge what an event from before the window of a snapshot might settle.  It
 *       does not say so, since every snapshot is like this
 */
#ifndef TRC_ANALYZER_CHECK_CHECK_H
#define TRC_ANALYZER_CHECK_CHECK_H

#include <stdbool.h>
#include "analyzer/model/model.h"

struct trc_check_totals {
	uint64_t events, violations, explained;
	uint64_t not_judged; /* V4 */
	bool cut_off;	     /* events are missing at the end */
};

/* `text` is one line, valid during the call. */
typedef void trc_check_fn(void *context, const char *text);

/* Reports every violation, or sums up those that are explained (V2), and where streams are cut.  0,
 * or -ENOMEM with a line in error. */
int trc_check(struct trc_model *m, bool all, trc_check_fn *report, void *context,
	      struct trc_check_totals *totals, struct trc_error *error);

#endif
