/*
 * report.h - what a trace tells a person: the answer of a bare `trace-analyze dump.trc`.
 *
 *   report:P1  no line is wider than options.width columns; a section with nothing in it is left
 *       out
 *   report:P2  waits that are idle by nature (for requests, timers, children, signals) never stand
 *       among waits for locks, nor do waits for other threads' signals) never stand
 *       among waits for locks, nor those for other threads' signals
 *   report:P3  names from the trace are data: control characters never reach the terminal
 *   report:P4  percentiles are exact: the smallest value that p% of all do not exceed
 */
#ifndef TRC_ANALYZER_REPORT_REPORT_H
#define TRC_ANALYZER_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include "analyzer/model/array.h"
#include "analyzer/model/model.h"
#include "analyzer/words/report_options.h"
#include "format/waits.h"

/* Derives what it needs.  0 or -errno with a line in error; a failed write is out's business. */
int trc_report_print(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		     struct trc_error *error);

enum { TRC_SUMMARY_LINES_MAX = 15 };
/* The same in at most TRC_SUMMARY_LINES_MAX lines, for the end of a recording. */
int trc_report_summary(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		       struct trc_error *error);

/* A row of the section "Scheduling latency": threads whose names differ in digits only (latencies.c). */
struct trc_latency_group {
	uint32_t thread;    /* serial of the first */
	uint32_t n_threads; /* that had any */
	uint64_t n;
	int64_t alive_ns, total_ns, preempted_ns,
		own_ns; /* own_ns: meanwhile the program's threads ran */
	int64_t p50_ns, p99_ns, max_ns;
};

/* A row of the section "Labels" (labels.c). */
struct trc_label_time {
	const struct trc_set_label *label; /* the model's */
	uint64_t n_values;		   /* of its key, told or not */
	int64_t time_ns, class_ns[TRC_WAIT_CLASSES];
};

/* The rows of both sections, in their order.  All latencies are there, also those that the report leaves out; of labels there are as
 * many rows as in the report.  Arrays to be freed, also after an error.  Derives what it needs.  0 or -errno with a line in
 * error. */
int trc_report_times(struct trc_model *m, struct trc_array *latencies, struct trc_array *labels,
		     struct trc_error *error);

#endif
