/* measures.h - what is compared of each item, and the test for one row; only files of this
 * folder include it. */
#ifndef TRC_ANALYZER_DIFF_MEASURES_H
#define TRC_ANALYZER_DIFF_MEASURES_H

#include "parts.h"

/* One row in all traces: first the traces before, then the trace after. */
struct trc_diff_values {
	size_t n; /* with the one after */
	struct trc_diff_estimate of[TRC_DIFF_BASELINES_MAX + 1];
	/* What the test compares: logarithms if all values are above 0, else the values
	 * themselves. */
	struct trc_diff_estimate tested[TRC_DIFF_BASELINES_MAX + 1];
	bool logarithms;
	double machine; /* variance that a busier machine adds to the change */
	double least;	/* variance that any two runs have */
};

/* What is known of a change: its size, and the variance of its noise. */
struct trc_diff_change {
	double size, variance, freedom;
};

/* Functions that changed: others are compared without them (diff:D5). */
struct trc_diff_taken {
	const char **name;
	size_t n;
};

/* The i-th trace, those before first. */
static inline const struct trc_diff_sums *trc_diff_trace(const struct trc_diff *diff, size_t i)
{
	return i < diff->n_before ? diff->before[i] : diff->after;
}
/* How many tasks or seconds each slice has. */
void trc_diff_units(const struct trc_diff *diff, const struct trc_diff_sums *sums,
		    double units[TRC_DIFF_SLICES]);
/* The kind of item that the measure is of. */
unsigned int trc_diff_measure_kind(unsigned int measure);
/* The values of the measure for this name in every trace.  False if they cannot be compared. */
bool trc_diff_values_of(const struct trc_diff *diff, unsigned int measure, const char *name,
			const struct trc_diff_taken *taken, struct trc_diff_values *values);
/* For percentiles: the shares of the tasks that took longer than `ns`, a duration between those before and after. */
bool trc_diff_values_beyond(const struct trc_diff *diff, const char *name, double ns,
			    struct trc_diff_values *values);
/* The variance among the traces before, in units of their own; at least three traces. */
double trc_diff_spread(const struct trc_diff_values *values);
/* `spread`: how much larger the variance between runs is than the slices say. */
struct trc_diff_change trc_diff_change_of(const struct trc_diff_values *values, double spread);
/* How much more or less, of the time in which they could run, threads had no proc. */
double trc_diff_without_proc(const struct trc_diff *diff);
/* The item of the threads that ran this function, in a trace that knows the function; NULL =
 * none does. */
const char *trc_diff_threads_of(const struct trc_diff *diff, const char *function);

#endif
