/* check_parts.h - what check.c and check_events.c share. */
#ifndef TRC_ANALYZER_CHECK_PARTS_H
#define TRC_ANALYZER_CHECK_PARTS_H

#include "analyzer/check.h"
#include "analyzer/model_parts.h"

struct trc_check {
	struct trc_model *m;
	trc_check_fn *report;
	void *context;
	struct trc_check_totals totals;
	struct trc_array gaps; /* struct trc_gap, in no order */
};

/* A violation that has to do with what happened from from_ns to until_ns: explained if events
 * were lost in between. */
void trc_check_violation(struct trc_check *check, int64_t from_ns, int64_t until_ns,
			 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* All that needs events in order.  0 or -ENOMEM. */
int trc_check_events(struct trc_check *check);

#endif
