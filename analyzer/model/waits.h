/*
 * waits.h - what kind of wait a park is, and how long it lasted by itself.
 */
#ifndef TRC_ANALYZER_MODEL_WAITS_H
#define TRC_ANALYZER_MODEL_WAITS_H

#include "model.h"
#include "format/waits.h"

/* When it ended, or for a wait in progress when the trace did. */
int64_t trc_park_end_ns(const struct trc_model *m, const struct trc_park *park);
/* Since when it lies in the trace: a snapshot knows of waits that are older than itself. */
int64_t trc_park_start_ns(const struct trc_model *m, const struct trc_park *park);
/* The labels that the thread had when it began; 0 = none, or not known. */
uint32_t trc_park_labels(const struct trc_model *m, const struct trc_park *park);

/*
 * Waits within waits: a wait that the program announced is made of others, and a signal
 * handler may wait while its thread does.  outer[i] is the index + 1 of the park
 * that was going on in the thread when park i began, 0 = none; free() it.  NULL without memory.
 */
uint32_t *trc_waits_nesting(const struct trc_model *m);

#endif
