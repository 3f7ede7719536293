/*
 * findings.h - what is wrong with a program, a sentence each, most harmful first: report and page
 * lead with the same list.
 *
 *   findings:G1  crashes, deadlocks, locks, procs, lost events: in this order, whatever they cost
 *   findings:G2  of locks at most TRC_FINDINGS_LOCKS, largest first, and none that takes less than
 *       a hundredth of the lifetime of the threads that waited
 *   findings:G3  threads without a proc are a finding if scheduling was recorded, and if they
 *       waited for a fifth of the time in which they could run
 *   findings:G4  a sentence has no control characters, and is cut with a mark if it is too long
 */
#ifndef TRC_ANALYZER_REPORT_FINDINGS_H
#define TRC_ANALYZER_REPORT_FINDINGS_H

#include <stddef.h>
#include <stdint.h>
#include "analyzer/model/array.h"
#include "analyzer/model/model.h"

enum trc_finding_kind {
	TRC_FINDING_CRASH = 1, /* a signal ended the process */
	TRC_FINDING_DEADLOCK,
	TRC_FINDING_LOCK,  /* waits for locks at one place */
	TRC_FINDING_PROCS, /* threads could run, and had no proc */
	TRC_FINDING_LOST,  /* events that are not in the trace, by cause */
	TRC_FINDING_KINDS
};

enum trc_severity {
	TRC_SEVERITY_ALARM = 1, /* the program failed */
	TRC_SEVERITY_COST,	/* it lost time */
	TRC_SEVERITY_NOTE,	/* the trace is not whole */
};

enum { TRC_FINDINGS_LOCKS = 3, TRC_FINDING_WIDTH = 200, TRC_FINDING_BYTES = 1024 };

struct trc_finding {
	uint8_t kind;		  /* enum trc_finding_kind */
	uint8_t severity;	  /* enum trc_severity */
	int64_t start_ns, end_ns; /* where to look; TRC_NEVER = not known */
	uint32_t thread;	  /* the one to look at; 0 = none */
	uint32_t park; /* of locks and deadlocks: the longest wait, its id; 0 = not known */
	char sentence[TRC_FINDING_BYTES];
};

/* "crash", "deadlock" ... */
const char *trc_finding_kind_name(unsigned int kind);
const char *trc_severity_name(unsigned int severity);

/* Derives what it needs; adds struct trc_finding to `out`, which is the caller's to free.  0 or
 * -errno with a line in error. */
int trc_findings(struct trc_model *m, struct trc_array *out, struct trc_error *error);

#endif
