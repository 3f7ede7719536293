/*
 * report.h - what a trace tells a person: the answer of a bare `trace-analyze dump.trc`.
 *
 *   report:P1  no line is wider than options.width columns; a section with nothing in it is left
 *       out
 *   report:P2  waits that are idle by nature (for requests, timers, children, signals) never stand
 *       among waits for locks, nor those for other threads' signals
 *   report:P3  names from the trace are data: control characters never reach the terminal
 *   report:P4  percentiles are exact: the smallest value that p% of all do not exceed
 */
#ifndef TRC_ANALYZER_REPORT_REPORT_H
#define TRC_ANALYZER_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include "analyzer/model/model.h"

struct trc_report_options {
	bool colour;
	bool full;			       /* stacks frame by frame */
	int width;			       /* columns; 0 = 100 */
	size_t top;			       /* rows of a section; 0 = 10 */
	const char *path;		       /* of the trace, as the user named it */
	const struct trc_selection *selection; /* of many traces: that of each; NULL = all */
	double slowest; /* --why: so many percent of the tasks, the slowest; 0 = all */
};

/* Derives what it needs.  0 or -errno with a line in error; a failed write is out's business. */
int trc_report_print(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		     struct trc_error *error);

enum { TRC_SUMMARY_LINES_MAX = 15 };
/* The same in at most TRC_SUMMARY_LINES_MAX lines, for the end of a recording. */
int trc_report_summary(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		       struct trc_error *error);

/* Which threads the report calls idle (idle.c): idle[i] of row i of the model's threads becomes 0 or 1.
 * None are if only a part of the trace is selected.  Derives what it needs.  0 or -errno with a line in
 * error. */
int trc_report_idle_threads(struct trc_model *m, uint8_t *idle, struct trc_error *error);

#endif
