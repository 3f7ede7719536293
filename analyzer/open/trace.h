/* trace.h - a model of what a file holds: a trace, or a ring in its place. */
#ifndef TRC_ANALYZER_OPEN_TRACE_H
#define TRC_ANALYZER_OPEN_TRACE_H

#include "analyzer/model/model.h"
#include "ring.h"

/* Opens a trace, or a ring, which *ring belongs to: trc_ring_trace_free() it after the model.  0 or -errno with
 * a line in error. */
int trc_open_model(struct trc_model **model, struct trc_ring_trace *ring, const char *path,
		   struct trc_error *error);

#endif
