/*
 * print.h - findings as lines of a report.
 */
#ifndef TRC_ANALYZER_FINDINGS_PRINT_H
#define TRC_ANALYZER_FINDINGS_PRINT_H

#include "analyzer/words/words.h"

/* The findings as a section.  0 or -ENOMEM. */
int trc_report_findings_section(struct trc_report *r);
/* With --full, the circles in the order of locks. */
int trc_report_lock_order(struct trc_report *r);
/* A line that the process crashed or was killed; none if it did not.  0 or -ENOMEM. */
int trc_report_crash_line(struct trc_report *r);

/* struct trc_finding to *out, which is the caller's to free, also after a failure.  0 or -ENOMEM. */
int trc_report_findings(struct trc_report *r, struct trc_array *out);
struct trc_finding;
/* Prints the finding with its cause and what helps; "who: " stands before the sentence. */
void trc_finding_print(struct trc_report *r, const struct trc_finding *f, const char *who);
/* If a part is selected: which kinds were not looked for. */
int trc_finding_print_narrowed(struct trc_report *r);
/* The sentence alone, in one line. */
void trc_finding_print_line(struct trc_report *r, const struct trc_finding *f, const char *who);

/* A line for each order of locks that could be a deadlock; none without any.  0 or -ENOMEM. */
int trc_report_abandoned_lines(struct trc_report *r);
int trc_report_risk_lines(struct trc_report *r);
/* The same for threads that could run and had no proc: then a lack of procs makes waits long. */
int trc_report_procs_lines(struct trc_report *r);

#endif
