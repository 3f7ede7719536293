/*
 * findings.h - what is wrong with a program, one sentence for each finding, most harmful first.  The report, the page and
 * SQL begin with the same list.
 *
 *   findings:G1  alarms come first: crashes and kills, then deadlocks and abandoned locks.  Then come risks, then costs, the
 *       largest first, and notes last.  If a lock's waits are due to a want of procs, the want of procs comes before them
 *   findings:G2  at most TRC_FINDINGS_MAX, of which TRC_FINDINGS_NOTES are for notes if there are any
 *   findings:G3  at most TRC_FINDINGS_LOCKS findings are of locks, the largest ones.  A cost is at least a hundredth of
 *       its base.  For locks, interpreters and procs the base is the lifetime of the threads that waited; for
 *       everything else it is the length of the trace
 *   findings:G4  threads without a proc are a finding if scheduling was recorded, and if the threads
 *       waited for a proc in a fifth of the time in which they could run.  The finding is of more threads than procs if
 *       one of two things holds for half of this waiting: more of the program's threads could run than it has procs; or
 *       another of its threads ran on the proc that the thread had been taken off.  Otherwise other programs had the procs
 *   findings:G5  a sentence has no control characters.  It is cut at TRC_FINDING_WIDTH columns, with a mark; this is enough
 *       for the names of C++.  A terminal shows less of it
 *   findings:G6  if there is no alarm, no risk and no cost, the finding "nothing" says so, and says what was not recorded
 *   findings:G7  if events were lost, the sentence of a cost says that the cost is of the recorded events
 *   findings:G8  with a selection, findings are of the selected part.  Kinds that need more than this part are not
 *       looked for.  Kinds that compare threads need the same time of all threads, as a window has it; the order of
 *       locks needs the whole trace.  A note names the kinds that were not looked for
 */
#ifndef TRC_ANALYZER_FINDINGS_FINDINGS_H
#define TRC_ANALYZER_FINDINGS_FINDINGS_H

#include <stddef.h>
#include <stdint.h>
#include "analyzer/model/array.h"
#include "analyzer/model/model.h"

enum trc_finding_kind {
	TRC_FINDING_CRASH = 1, /* a fault or abort() ended the process */
	TRC_FINDING_DEADLOCK,
	TRC_FINDING_KILLED, /* a signal ended the process that was sent to it */
	/* The holder of a lock that is waited for has ended; a cost if the waits have ended, by a time limit. */
	TRC_FINDING_ABANDONED_LOCK,
	TRC_FINDING_LOCK,	   /* waits for locks at one place, in which the holder ran */
	TRC_FINDING_LOCK_BLOCKING, /* ... in which the holder blocked: it slept, read, wrote, ... */
	TRC_FINDING_LOCK_PREEMPTED, /* ... in which the holder had no proc */
	TRC_FINDING_LOCK_CONVOY,    /* ... in which nobody held the lock, but somebody was woken */
	TRC_FINDING_LOCK_PROCS,	    /* ... who had no proc */
	TRC_FINDING_OWN_LOCK, /* threads wait for each other as for a lock, and there is none of a library */
	TRC_FINDING_INTERPRETER, /* waits for the global lock of an interpreter */
	TRC_FINDING_PROCS,	 /* threads could run, and had no proc */
	TRC_FINDING_PROCS_TAKEN, /* ... which other programs had */
	TRC_FINDING_SLOW_STAGE,	 /* threads of other pools wait for one that is always at work */
	TRC_FINDING_BARRIER_IMBALANCE, /* threads wait at a barrier for the last */
	TRC_FINDING_LATE_THREAD, /* others of its pool, or who joins them, wait for one thread */
	TRC_FINDING_WAITED_FOR,	 /* others wait for one thread, and for what it does at one place */
	TRC_FINDING_ONE_WORKER,	 /* one thread of a pool does its work */
	TRC_FINDING_POLL_LOOP,	 /* threads that ask again and again, after short sleeps */
	TRC_FINDING_HERD,	 /* many threads are woken, and most wait again at once */
	TRC_FINDING_TASK_TAIL,	 /* a few tasks of a type take far longer than the others */
	TRC_FINDING_LOCK_ORDER,	 /* locks that are taken in a circle: a deadlock that could be */
	TRC_FINDING_LOST,	 /* events that are not in the trace, by cause */
	TRC_FINDING_NOTHING,	 /* no alarm and no cost was found */
	TRC_FINDING_NARROWED,	 /* which kinds were not looked for (G8) */
	TRC_FINDING_UNNAMED,	 /* an interpreter without names: its lock is not known */
	TRC_FINDING_KINDS
};

enum trc_severity {
	TRC_SEVERITY_ALARM = 1, /* the program failed */
	TRC_SEVERITY_RISK,	/* it could have failed */
	TRC_SEVERITY_COST,	/* it lost time */
	TRC_SEVERITY_NOTE, /* the trace is not whole, somebody ended the program, or nothing is wrong */
};

enum {
	TRC_FINDINGS_MAX = 7,
	TRC_FINDINGS_NOTES = 2,
	TRC_FINDINGS_LOCKS = 3,
	TRC_FINDING_WIDTH = 2000,
	TRC_FINDING_BYTES = 4 * TRC_FINDING_WIDTH + 192,
	TRC_REMEDY_WIDTH = 400,
	TRC_REMEDY_BYTES = 4 * TRC_REMEDY_WIDTH + 192,
	TRC_FINDING_SQL_BYTES = 2048
};

struct trc_finding {
	uint8_t kind;		  /* enum trc_finding_kind */
	uint8_t severity;	  /* enum trc_severity */
	int64_t start_ns, end_ns; /* where to look; TRC_NEVER = not known */
	int64_t cost_ns;	  /* the threads' time that it took, summed; 0 = none is known */
	uint32_t thread;	  /* the one to look at; 0 = none */
	uint32_t park;		  /* of waits: the longest, its id; 0 = not known */
	char sentence[TRC_FINDING_BYTES];
	char why[TRC_FINDING_BYTES];	 /* what it was due to, or what shows it; "" = not known */
	char remedy[TRC_REMEDY_BYTES];	 /* what one would do, if it is not that of the kind; "" */
	char sql[TRC_FINDING_SQL_BYTES]; /* a query for the rows that show it; "" = there is none */
};

/* "crash", "deadlock" ... */
const char *trc_finding_kind_name(unsigned int kind);
const char *trc_severity_name(unsigned int severity);
/* The remedy for this finding, or else for its kind; NULL = no remedy is always right. */
const char *trc_finding_remedy(const struct trc_finding *f);

/* Derives what it needs; adds struct trc_finding to `out`, which is the caller's to free.  0 or
 * -errno with a line in error. */
int trc_findings(struct trc_model *m, struct trc_array *out, struct trc_error *error);

#endif
