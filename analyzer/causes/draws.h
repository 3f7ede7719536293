/*
 * draws.h - which samples tell where running threads were, and how far that may be off.
 *
 * How long a thread ran is known: by its waits, and by switch records.  At which places it ran meanwhile its samples
 * tell: each stands for the time around it (steps.h).  Such a time is a draw, and its length is its weight.
 *
 *   draws:D1  a group's margin is that of margin.h, but without margin:A1: what is divided is known exactly
 *   draws:D2  a sample counts once in a group, with all that it stands for there, also where several threads waited
 *       for its thread at the same time
 *   draws:D3  threads with a single sample are taken as one: nothing else says how they differ
 */
#ifndef TRC_ANALYZER_CAUSES_DRAWS_H
#define TRC_ANALYZER_CAUSES_DRAWS_H

#include "analyzer/model/array.h"
#include "analyzer/model/model.h"

/* Begins as zeroes. */
struct trc_draws {
	struct trc_array rows;	/* struct trc_draw */
	struct trc_index index; /* by group and sample: the number of a row */
};

struct trc_draw {
	int64_t ns;
	uint32_t group;	 /* any number */
	uint32_t sample; /* row + 1 in the model's samples */
};

/* 0 or -ENOMEM. */
int trc_draws_add(struct trc_draws *draws, uint32_t group, uint32_t sample, int64_t ns);
/*
 * The margins of so many groups, in nanoseconds: margin[n_groups], 0 where no sample tells anything.
 * group_of[group]: in which of these a group counts; NULL = it is one of these itself.  0 or -ENOMEM.
 */
int trc_draws_margins(const struct trc_draws *draws, const struct trc_model *m,
		      const uint32_t *group_of, size_t n_groups, double *margin);
void trc_draws_free(struct trc_draws *draws);

#endif
