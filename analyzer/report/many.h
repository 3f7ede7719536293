/*
 * many.h - one report over the traces of several processes: an index, and the findings of all.
 *
 *   many:N1  one model is open at a time.  After it is closed, a line of each trace stays, and of all traces together the
 *       TRC_FINDINGS_MAX most harmful findings
 */
#ifndef TRC_ANALYZER_REPORT_MANY_H
#define TRC_ANALYZER_REPORT_MANY_H

#include "report.h"

struct trc_many;

/* `options` is borrowed; its path is not looked at.  NULL = no memory. */
struct trc_many *trc_many_open(const struct trc_report_options *options);
void trc_many_close(struct trc_many *many); /* accepts NULL */
/* Adds this trace; nothing refers to it afterwards.  0 or -errno with a line in error. */
int trc_many_add(struct trc_many *many, struct trc_model *m, const char *path,
		 struct trc_error *error);
/* Counts one that could not be read: the first line says that it is not in the report. */
void trc_many_add_unread(struct trc_many *many);
/* In at most TRC_SUMMARY_LINES_MAX lines with `summary`.  0 or -ENOMEM. */
int trc_many_print(struct trc_many *many, FILE *out, bool summary);
/* The index and the findings as one JSON object.  0 or -ENOMEM. */
int trc_many_print_json(struct trc_many *many, FILE *out);

#endif
