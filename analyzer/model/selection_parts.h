/* selection_parts.h - what the files that make a selection share; no other file includes it. */
#ifndef TRC_ANALYZER_MODEL_SELECTION_PARTS_H
#define TRC_ANALYZER_MODEL_SELECTION_PARTS_H

#include "selection.h"

/* The tasks that are asked for, and the time that belongs to them (selection:V7).  0 or -errno with
 * a line in error; -ENOMEM without. */
int trc_selection_find_tasks(struct trc_selection *s, const struct trc_model *m,
			     struct trc_error *error);
/* trc_selection_next() on a track, whatever threads are asked for. */
bool trc_selection_track_next(const struct trc_selection *s, uint64_t track, int64_t *at_ns,
			      int64_t to_ns, int64_t *from_ns, int64_t *until_ns);

#endif
