/* report_options.h - how an answer in words is asked for. */
#ifndef TRC_ANALYZER_WORDS_REPORT_OPTIONS_H
#define TRC_ANALYZER_WORDS_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include "analyzer/model/model.h"

struct trc_cause;
/* Prints a row's columns as those of a JSON object, without its braces. */
typedef void trc_report_cause_fn(FILE *out, const struct trc_model *m, const struct trc_cause *row);

struct trc_report_options {
	bool colour;
	bool full;			       /* stacks frame by frame */
	bool follows;			       /* something was printed before */
	int width;			       /* columns; 0 = 100 */
	size_t top;			       /* rows of a section; 0 = 10 */
	const char *path;		       /* of the trace, as the user named it */
	const struct trc_selection *selection; /* of many traces: that of each; NULL = all */
	double slowest; /* --why: so many percent of the tasks, the slowest; 0 = all */
	trc_report_cause_fn *print_cause; /* --why, --critical-path: as JSON; NULL = as text */
};

/* Which threads the page folds as idle (idle.c): idle[i] of row i of the model's threads becomes 0 or 1.  `waits` says the same
 * of the model's parks; NULL: not wanted.  If only a part of the trace is selected, nothing is idle.  Derives what it needs.
 * 0 or -errno with a line in error. */
int trc_report_idle_threads(struct trc_model *m, uint8_t *idle, uint8_t *waits,
			    struct trc_error *error);

#endif
