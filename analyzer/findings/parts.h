/*
 * parts.h - what the files that look for findings share; nobody else includes it.
 */
#ifndef TRC_ANALYZER_FINDINGS_PARTS_H
#define TRC_ANALYZER_FINDINGS_PARTS_H

#include "analyzer/causes/causes.h"
#include "findings.h"
#include "analyzer/words/words.h"
#include "analyzer/why/tree.h"

/* What is known of a candidate for a finding; there can be very many candidates. */
struct trc_finding_at {
	int64_t start_ns, end_ns, cost_ns;
	uint32_t thread, park;
};

static inline struct trc_finding trc_finding_of(unsigned int kind, const struct trc_finding_at *at)
{
	return (struct trc_finding){
		.kind = (uint8_t)kind,
		.severity = TRC_SEVERITY_COST,
		.start_ns = at->start_ns,
		.end_ns = at->end_ns,
		.cost_ns = at->cost_ns,
		.thread = at->thread,
		.park = at->park,
	};
}

/* Adds the finding with this sentence.  If many findings were added, it or the finding with the smallest cost is
 * dropped; more are kept than are ever told.  0 or -ENOMEM. */
int trc_finding_add(struct trc_array *out, const struct trc_finding *finding,
		    struct trc_line *sentence);
/* A line for `why`; and its text into the finding. */
void trc_finding_line(struct trc_line *line);
void trc_finding_set_why(struct trc_finding *f, struct trc_line *line);
/* "3 threads" */
void trc_finding_threads(struct trc_line *line, uint64_t n);
/* Sums the tree up in a line: "for 97.0%, ...; of which for 90.2%, ...".  It begins with the largest part of
 * the node with this id, and goes on as long as a part is most of its node.  The first share is of the whole tree,
 * each other share of the part before it.  False if no part is most of the node. */
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
trc_find_fn trc_find_crashes, trc_find_deadlocks, trc_find_request; /* alarms.c */
trc_find_fn trc_find_abandoned;					    /* abandoned.c */
trc_find_fn trc_find_lock_order;				    /* order.c */
trc_find_fn trc_find_locks;					    /* locks.c */
trc_find_fn trc_find_own_locks;					    /* own_locks.c */
trc_find_fn trc_find_interpreters, trc_find_unnamed;		    /* interpreters.c */
trc_find_fn trc_find_short_procs;				    /* procs.c */
trc_find_fn trc_find_one_worker, trc_find_pollers;		    /* threads.c */
trc_find_fn trc_find_spinners;					    /* spins.c */
trc_find_fn trc_find_barriers, trc_find_last_of_pool;		    /* barriers.c */
trc_find_fn trc_find_stages;					    /* stages.c */
trc_find_fn trc_find_herds;					    /* herds.c */
trc_find_fn trc_find_waited_for;				    /* late.c */
trc_find_fn trc_find_tails;					    /* tails.c */
trc_find_fn trc_find_nothing, trc_find_lost;			    /* notes.c; the last */
trc_find_fn trc_find_narrowed;					    /* findings.c */
/* Calls `find`, unless its kinds are not looked for in a selection (G8). */
int trc_finding_seek(struct trc_report *r, trc_find_fn *find, struct trc_array *out);

/* A wait in progress for an abandoned lock.  abandoned.c */
bool trc_report_is_abandoned(const struct trc_report *r, const struct trc_park *park);

/* What the holders did in these waits, rows of r->park (uint32_t): the finding's kind and why.  0 or -ENOMEM.
 * held.c */
int trc_finding_explain(struct trc_report *r, struct trc_finding *f, const struct trc_array *waits);
/* The same for any waits: their causes become the finding's why. */
int trc_finding_follow(struct trc_report *r, struct trc_finding *f, const struct trc_array *waits);
/* The interpreter whose global lock a wait is for: "Python's", or NULL.  interpreters.c */
const char *trc_interpreter_of(struct trc_report *r, const struct trc_park *park);

#endif
