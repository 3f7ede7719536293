/*
 * margin.h - how far an estimate from samples may be off: half the width of its 95 % interval.
 *
 *   margin:A1  the total that a thread used is known to within a sample at each end of its life: the
 *       samples are a period apart, and only the first sample comes at random
 *   margin:A2  a thread's samples count as independent draws from what the thread used, each with the
 *       sample's value as its weight.  If code stays at one thing for long, the margin is too wide.  It is
 *       too narrow only if code keeps step with the sampling
 *   margin:A3  two samples are added to a group, as large as the group's own.  They compensate that the normal
 *       distribution is too narrow for few samples (Agresti and Coull)
 *   margin:A4  an allocation that was drawn with probability p stands for w = 1 / p allocations like it.  It
 *       contributes w (w - 1) to the variance (Horvitz and Thompson, for independent draws)
 */
#ifndef TRC_ANALYZER_MODEL_MARGIN_H
#define TRC_ANALYZER_MODEL_MARGIN_H

#include <stdint.h>

/* Samples of one event and thread: all samples of the thread, or its samples in a group. */
struct trc_margin_part {
	double value, squares; /* sums of the samples' values, and of their squares */
	uint64_t n;
};

/* The sums of a group of samples, of any threads.  Begins as zeroes. */
struct trc_margin {
	double value, squares;
	double variance; /* of value, without A3 */
	double ends;	 /* the part of A1 in it, by the group's share of each thread */
};

void trc_margin_part_add(struct trc_margin_part *part, uint64_t value);
/* Adds a thread's samples in the group.  Each thread is added once. */
void trc_margin_add(struct trc_margin *group, const struct trc_margin_part *part,
		    const struct trc_margin_part *thread);
/* The same where all that the thread used is known exactly: without A1. */
void trc_margin_add_known(struct trc_margin *group, const struct trc_margin_part *part,
			  const struct trc_margin_part *thread);
/* Of threads of which none is in both groups: those of both; and those of the first without the second's. */
void trc_margin_join(struct trc_margin *group, const struct trc_margin *other);
void trc_margin_take_off(struct trc_margin *group, const struct trc_margin *some);
/* The margin of the group's value, in the event's unit. */
double trc_margin_value(const struct trc_margin *group);
/* The margin of the group's share of `all`, as an amount in the event's unit.  `all` is a group that has all samples
 * of each of its threads. */
double trc_margin_share(const struct trc_margin *group, const struct trc_margin *all);

/* The sums of sampled allocations.  Begins as zeroes. */
struct trc_heap_margin {
	double variance, fourths; /* sums of the variances (A4), and of their squares */
};

/* `objects`: w; `amount`: of one such object. */
void trc_heap_margin_add(struct trc_heap_margin *group, double objects, double amount);
/* The allocations of both, none of which is in both. */
void trc_heap_margin_join(struct trc_heap_margin *group, const struct trc_heap_margin *other);
double trc_heap_margin(const struct trc_heap_margin *group);
/* The margin of the group's share of `all`, as an amount. */
double trc_heap_margin_share(const struct trc_heap_margin *group, const struct trc_heap_margin *all,
			     double share);

#endif
