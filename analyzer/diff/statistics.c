/* statistics.c - see statistics.h. */
#include "statistics.h"

#include <float.h>
#include <math.h>

/* The variance of the sum of all residuals, by the sums over each batch of them that follow each
 * other. */
static double batches_variance(const double residual[TRC_DIFF_SLICES])
{
	enum { BATCH = 6 };
	const double n = TRC_DIFF_SLICES, m = BATCH;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < TRC_DIFF_SLICES; i++) {
		sum += residual[i];
		if (i >= BATCH)
			sum -= residual[i - BATCH];
		if (i + 1 >= BATCH)
			squares += sum * sum;
	}
	/* The residuals add up to 0, which makes them smaller than the errors that they stand
	 * for. */
	return squares / (n - m + 1) * (n / m) / (1 - m / n);
}

double trc_ratio_variance(const double x[TRC_DIFF_SLICES], const double u[TRC_DIFF_SLICES])
{
	double residual[TRC_DIFF_SLICES], sum_x = 0, sum_u = 0;

	for (size_t i = 0; i < TRC_DIFF_SLICES; i++) {
		sum_x += x[i];
		sum_u += u[i];
	}
	if (!(sum_u > 0))
		return 0;
	for (size_t i = 0; i < TRC_DIFF_SLICES; i++)
		residual[i] = x[i] - sum_x / sum_u * u[i];
	return batches_variance(residual) / (sum_u * sum_u);
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	enum { STEPS = 500 };
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
	result = d;
	for (int i = 1; i <= STEPS; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		double step;

		for (int half = 0; half < 2; half++) {
			double term = half ? odd : even;

			d = 1 + term * d;
			c = 1 + term / c;
			d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
			c = fabs(c) < DBL_MIN ? DBL_MIN : c;
			step = d * c;
			result *= step;
		}
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return result;
}

/* The regularized incomplete beta function, 0 < x < 1. */
static double beta(double a, double b, double x)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double trc_student_p(double t, double freedom)
{
	double x = freedom / (freedom + t * t);

	if (!(freedom > 0) || isnan(t) || x >= 1)
		return 1;
	return x > 0 ? beta(freedom / 2, 0.5, x) : 0;
}

double trc_student_t(double p, double freedom)
{
	double low = 0, high = 1e6;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (trc_student_p(middle, freedom) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}
