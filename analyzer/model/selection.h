/*
 * selection.h - which part of a trace is asked for: what every output is narrowed to.
 *
 * A model has one selection or none (trc_model_select()); profiles and the report take it from there.
 */
#ifndef TRC_ANALYZER_MODEL_SELECTION_H
#define TRC_ANALYZER_MODEL_SELECTION_H

#include "label_filter.h"
#include "model.h"

struct trc_selection {
	struct trc_label_filter *labels; /* NULL = whatever labels */
};

/* Frees what the selection owns, not the selection. */
void trc_selection_free(struct trc_selection *s);
/* Whether what was done under these labels is asked for.  Without a selection everything is. */
bool trc_selection_passes(const struct trc_selection *s, const struct trc_model *m,
			  uint32_t labels);
/* Whether what a thread did at a time and place (model:M5) is asked for. */
bool trc_selection_has(const struct trc_selection *s, const struct trc_model *m, uint32_t thread,
		       int64_t ts_ns, uint64_t place);

#endif
