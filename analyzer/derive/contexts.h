/*
 * contexts.h - the OpenTelemetry contexts that threads published, as labels of waits and samples.
 *
 * An `otel_context` event says which context the thread had at its next wait or sample.  The thread
 * has this context at its later waits and samples, too, up to its next such event (spans:B1, spans:B2).  If
 * the context changed between two waits, the time of the change is not known: so contexts label waits and samples,
 * and nothing else.
 *
 * For each pair of a context and a label set that a thread had at the same time, the model has another
 * label set, which is in no file: it has the labels of both.
 *
 *   contexts:V1  these sets have no more than TRC_CONTEXT_LABELS_MAX labels together.  For any further pair, waits and
 *       samples have the labels of the label set alone, and the report says so
 */
#ifndef TRC_ANALYZER_DERIVE_CONTEXTS_H
#define TRC_ANALYZER_DERIVE_CONTEXTS_H

#include "analyzer/model/spans.h"

enum { TRC_CONTEXT_LABELS_MAX = 4 << 20 };

/* While the events go by. */
struct trc_contexts {
	struct trc_model *m;
	struct trc_changes changes;
	struct trc_index number; /* of contexts, by what is mixed from their ids */
	struct trc_index last;	 /* by thread: the context of its last event */
};

void trc_contexts_init(struct trc_contexts *c, struct trc_model *m);
/* A row of an otel_context event.  0 or -ENOMEM. */
int trc_contexts_event(struct trc_contexts *c, const struct trc_span *span, uint32_t row);
/* After the last event, when the threads' label spans are there: which sets there are besides those
 * of the file.  0 or -ENOMEM. */
int trc_contexts_end(struct trc_contexts *c);
void trc_contexts_free(struct trc_contexts *c);

#endif
