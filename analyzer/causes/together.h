/*
 * together.h - the causes of many waits, each row once with the number of waits that have it.
 *
 * All that wait for a lock while a thread holds it wait for the same: what the thread does is derived once for each section of the
 * lock, and not for each wait.  The rows are those of causes.h, with these exceptions:
 *
 *   together:T1  the rows of a wait of which this is not true are derived for it alone: where it begins and where it ends, and
 *       where it is in its own chain (causes:Q4)
 *   together:T2  of a wait for a lock that was free twice without a section between, there are two rows instead of one
 *
 * This takes time linear in the number of waits, of the locks' sections and of the rows below each section.
 */
#ifndef TRC_ANALYZER_CAUSES_TOGETHER_H
#define TRC_ANALYZER_CAUSES_TOGETHER_H

#include "causes.h"

struct trc_together;

/* How many of the waits have a row, and how many of those that are marked. */
struct trc_cause_times {
	uint32_t n, n_marked;
};

/* 0 or -ENOMEM.  park: ids of different waits, as long as *out is there.  *out is the caller's. */
int trc_together_open(struct trc_together **out, struct trc_causes *causes, const uint32_t *park,
		      size_t n);
/* A part of a wait, which takes time. */
struct trc_together_part {
	uint32_t park;
	int64_t from_ns, to_ns;
};
/* The same of parts of waits, also of several of one wait: all of these but one are derived alone (T1). */
int trc_together_open_parts(struct trc_together **out, struct trc_causes *causes,
			    const struct trc_together_part *part, size_t n);
void trc_together_close(struct trc_together *t); /* accepts NULL */
/* The row of the i-th wait itself, its depth 0.  0 or -ENOMEM. */
int trc_together_head(struct trc_together *t, size_t i, struct trc_cause *head);
/* The i-th wait is marked from now on. */
void trc_together_mark(struct trc_together *t, size_t i);

/*
 * Called with rows that lie below those of the waits themselves: row[0] is one of these, a marked one if a wait that has the others
 * is marked; times[0] counts for nothing.  0 or -errno, which ends it.
 */
typedef int trc_together_fn(void *context, const struct trc_cause *row,
			    const struct trc_cause_times *times, size_t n);
/* 0, -ENOMEM, -E2BIG if there are more than rows_max rows, or what `add` returned. */
int trc_together_rows(struct trc_together *t, size_t rows_max, trc_together_fn *add, void *context);

#endif
