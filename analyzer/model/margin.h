/*
 * margin.h - how far an estimate from samples may be off: half the width of its 95 % interval.
 *
 *   margin:A1  what a thread used in all is known to within a sample at each end of its life: the
 *       samples are a period apart, and only the first one comes at random
 *   margin:A2  how a thread divided what it used is known as from independent draws, each with the
 *       sample's value as its weight.  For code that is long at one thing this is too wide; it is
 *       too narrow only for code that keeps step with the sampling
 *   margin:A3  two samples more, as large as those of the group: they make up for the normal
 *       distribution, which is too narrow for few samples (Agresti and Coull)
 *   margin:A4  an allocation that was drawn with probability p stands for w = 1 / p of its like: its
 *       part of the variance is w (w - 1) (Horvitz and Thompson, for independent draws)
 */
#ifndef TRC_ANALYZER_MODEL_MARGIN_H
#define TRC_ANALYZER_MODEL_MARGIN_H

#include <stdint.h>

/* Samples of one event and thread: all of them, or those of a group. */
struct trc_margin_part {
	double value, squares; /* sums of the samples' values, and of their squares */
	uint64_t n;
};

/* What a group of samples, of any threads, adds up to.  Begins as zeroes. */
struct trc_margin {
	double value, squares;
	double variance; /* of value, without A3 */
	double ends;	 /* the part of A1 in it, by the group's share of each thread */
};

void trc_margin_part_add(struct trc_margin_part *part, uint64_t value);
/* Adds what the group has of one thread.  Each thread is added once. */
void trc_margin_add(struct trc_margin *group, const struct trc_margin_part *part,
		    const struct trc_margin_part *thread);
/* Of the group's value, in the event's unit. */
double trc_margin_value(const struct trc_margin *group);
/* Of what the group's share of `all` amounts to, in the event's unit: `all` is the group of which
 * each thread is a whole part. */
double trc_margin_share(const struct trc_margin *group, const struct trc_margin *all);

/* What sampled allocations add up to.  Begins as zeroes. */
struct trc_heap_margin {
	double variance, fourths; /* sums of the variances (A4), and of their squares */
};

/* `objects`: w; `amount`: of one such object. */
void trc_heap_margin_add(struct trc_heap_margin *group, double objects, double amount);
double trc_heap_margin(const struct trc_heap_margin *group);
/* Of what the group's share of `all` amounts to. */
double trc_heap_margin_share(const struct trc_heap_margin *group, const struct trc_heap_margin *all,
			     double share);

#endif
