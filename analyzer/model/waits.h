/*
 * waits.h - what kind of wait a park is, and how long it lasted by itself.
 */
#ifndef TRC_ANALYZER_MODEL_WAITS_H
#define TRC_ANALYZER_MODEL_WAITS_H

#include "model.h"
#include "format/waits.h"

/* When the wait ended; for a wait in progress, when the trace ended. */
int64_t trc_park_end_ns(const struct trc_model *m, const struct trc_park *park);
/* When the wait began, but not before the trace: a snapshot knows of waits that are older than its
 * window. */
int64_t trc_park_start_ns(const struct trc_model *m, const struct trc_park *park);
/* The reason that names the kind of object that such a wait is for: a condition wait's mutex is a
 * mutex; 0 = for no object in memory. */
uint8_t trc_wait_kind(unsigned int reason);
/* "mutex", "rwlock", "cond", ... */
const char *trc_wait_kind_name(uint8_t kind);
/* The labels that the thread had when the wait began, with those of its OpenTelemetry context; 0 =
 * none, or not known. */
uint32_t trc_park_labels(const struct trc_model *m, const struct trc_park *park);
/* The labels of the wait from which the thread was woken; without such a wait, its labels when it could run. */
uint32_t trc_latency_labels(const struct trc_model *m, const struct trc_latency *latency);

/*
 * Waits may lie within waits: a wait that the program announced may consist of other waits, and a
 * signal handler may wait while its thread waits.  Returns an array `outer`, to be freed by free():
 * outer[i] is the index + 1 of the park that was going on in the thread when park i began, 0 =
 * none. NULL without memory.
 */
uint32_t *trc_waits_nesting(const struct trc_model *m);

#endif
