/*
 * statistics.h - the noise of what was summed over slices of time, and Student's distribution.
 */
#ifndef TRC_ANALYZER_DIFF_STATISTICS_H
#define TRC_ANALYZER_DIFF_STATISTICS_H

#include <stddef.h>

/* Slices of a trace, all of the same length. */
enum { TRC_DIFF_SLICES = 64 };

/* Degrees of freedom of trc_ratio_variance(): of overlapping batches of a tenth of the slices. */
#define TRC_RATIO_FREEDOM 15.0

/*
 * The variance of sum(x) / sum(u), each summed over the slices.  By overlapping batch means:
 * slices that follow each other are not independent: what is compared is the sums over batches
 * of them.
 */
double trc_ratio_variance(const double x[TRC_DIFF_SLICES], const double u[TRC_DIFF_SLICES]);

/* The probability that Student's t with so many degrees of freedom is as far from 0, on either
 * side. */
double trc_student_p(double t, double freedom);
/* The t of which this is the probability, 0 < p < 1. */
double trc_student_t(double p, double freedom);

#endif
