/*
 * whatif.h - --what-if: how long tasks and the run would take after a change.
 */
#ifndef TRC_ANALYZER_WHY_WHATIF_H
#define TRC_ANALYZER_WHY_WHATIF_H

#include "analyzer/words/report_options.h"

/*
 * `change` as in analyzer/whatif/change.h.  0; -EINVAL: it is none; -ENOENT: what it changes is not in the trace;
 * or another -errno; all with a line in error.
 */
int trc_report_what_if(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		       const char *change, struct trc_error *error);
/* The same as one JSON object. */
int trc_report_what_if_json(struct trc_model *m, FILE *out, const char *change,
			    struct trc_error *error);

#endif
