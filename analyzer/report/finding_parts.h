/*
 * finding_parts.h - what the files that find share; nobody else includes it.
 */
#ifndef TRC_ANALYZER_REPORT_FINDING_PARTS_H
#define TRC_ANALYZER_REPORT_FINDING_PARTS_H

#include "analyzer/causes/causes.h"
#include "findings.h"
#include "parts.h"
#include "why_tree.h"

/* Adds the finding with this sentence.  0 or -ENOMEM. */
int trc_finding_add(struct trc_array *out, const struct trc_finding *finding,
		    struct trc_line *sentence);
/* A line for `why`; and its text into the finding. */
void trc_finding_line(struct trc_line *line);
void trc_finding_set_why(struct trc_finding *f, struct trc_line *line);
/* "3 threads" */
void trc_finding_threads(struct trc_line *line, uint64_t n);
/* Says what the tree comes down to: "97.0%, ...; of which 90.2%, ...", beginning with what is most of the
 * node with this id, and as long as it is most of it.  False if nothing is. */
bool trc_finding_chain(struct trc_report *r, struct trc_line *line, const struct trc_why_tree *tree,
		       uint32_t id);
/* A query for waits of one reason at this place (canonical), or of this object if the place is
 * too many stacks. */
void trc_finding_sql_parks(const struct trc_report *r, struct trc_finding *f, unsigned int reason,
			   uint32_t place, uint64_t object);
/* Adds to the query; it becomes empty if it has no room. */
void trc_finding_sql_add(struct trc_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds "reason IN ('mutex', ...)", of the reasons whose bits are set. */
void trc_finding_sql_reasons(struct trc_finding *finding, uint64_t reasons);

/* Each adds what it finds.  0 or -ENOMEM. */
typedef int trc_find_fn(struct trc_report *r, struct trc_array *out);
trc_find_fn trc_find_crashes, trc_find_deadlocks;     /* finding_alarms.c */
trc_find_fn trc_find_lock_order;		      /* finding_order.c */
trc_find_fn trc_find_locks;			      /* finding_locks.c */
trc_find_fn trc_find_interpreters;		      /* finding_interpreters.c */
trc_find_fn trc_find_short_procs;		      /* finding_procs.c */
trc_find_fn trc_find_one_worker, trc_find_pollers;    /* finding_threads.c */
trc_find_fn trc_find_barriers, trc_find_last_of_pool; /* finding_barriers.c */
trc_find_fn trc_find_stages;			      /* finding_stages.c */
trc_find_fn trc_find_herds;			      /* finding_herds.c */
trc_find_fn trc_find_tails;			      /* finding_tails.c */
trc_find_fn trc_find_nothing, trc_find_lost;	      /* finding_notes.c; the last */

/* What the holders did in these waits, rows of r->park (uint32_t): the finding's kind and why.  0 or -ENOMEM.
 * finding_held.c */
int trc_finding_explain(struct trc_report *r, struct trc_finding *f, const struct trc_array *waits);
/* The same of any waits: what they were due to, as the finding's why. */
int trc_finding_follow(struct trc_report *r, struct trc_finding *f, const struct trc_array *waits);
/* The interpreter whose global lock a wait is for: "Python's", or NULL.  finding_interpreters.c */
const char *trc_interpreter_of(struct trc_report *r, const struct trc_park *park);

#endif
