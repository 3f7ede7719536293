/* window.h - what a time of the trace was spent on: followed back from its end, from the thread that was last at work. */
#ifndef TRC_ANALYZER_WHY_WINDOW_H
#define TRC_ANALYZER_WHY_WINDOW_H

#include "tree.h"

/*
 * Adds to the tree what the thread that was last at work, *thread, did in this time, and what it waited for: pieces that
 * add up to the time.  *thread is the thread whose last work, up to the end, ended last; of several such
 * threads the one that worked longest.  A thread that worked for less than a hundredth of the time, such as one that looks at a
 * clock each second, is not chosen if others worked longer; nor is a thread that was off its proc all the time.  If no selected
 * thread was there, *thread is 0, and nothing is added.  0 or -ENOMEM.
 */
int trc_why_add_window(struct trc_why_tree *tree, struct trc_causes *causes, int64_t from_ns,
		       int64_t to_ns, uint32_t *thread);

#endif
