/*
 * blame_sums.h - what in the end held threads up that waited for locks and for each other, summed (blame.h).
 *
 * The blame profile, the table blame and the report's section have these rows: their sums are the same.
 */
#ifndef TRC_ANALYZER_CAUSES_BLAME_SUMS_H
#define TRC_ANALYZER_CAUSES_BLAME_SUMS_H

#include "analyzer/model/array.h"
#include "analyzer/model/model.h"
#include "draws.h"

struct trc_blame_row {
	int64_t ns;
	int64_t margin_ns; /* how far ns may be off, if samples tell the stack (draws.h); else 0 */
	uint32_t number;   /* of the row, from 1 on, in no order */
	uint32_t thread;   /* as in struct trc_blame */
	uint32_t stack;	   /* 0 = not known */
	uint32_t labels;   /* of those that waited; with `mark` what that says */
	uint8_t kind;	   /* enum trc_cause_kind */
	uint8_t reason;	   /* of the wait of who is charged; 0 = it was in none */
	uint8_t stack_of;  /* enum trc_cause_stack */
};

/* The value for `labels` in the rows that a wait is summed in. */
typedef uint32_t trc_blame_mark_fn(void *context, const struct trc_park *park);

/* A wait for a lock or for another thread. */
bool trc_blame_counts(const struct trc_park *park);
/*
 * Adds the rows to an empty array, largest first; the array is the caller's to free.  They are of the waits that
 * trc_blame_counts(), as far as the model's selection has these.  mark: NULL = the labels of the wait.
 * draws: gets the draws of the rows, each of the group that is the row's number, and is the caller's to free; NULL = they are
 * not wanted.  TRC_CAUSES_PARTS must have been derived.  0 or -ENOMEM.
 */
int trc_blame_rows(const struct trc_model *m, trc_blame_mark_fn *mark, void *context,
		   struct trc_array *rows, struct trc_draws *draws);

#endif
