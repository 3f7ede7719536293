/* quantiles.c - percentiles of tasks, and how far off they may be. */
#include <math.h>
#include <stdlib.h>
#include "parts.h"

/* How many of the sorted tasks take no longer than that. */
static size_t item_rank(const struct trc_diff_item *item, double ns)
{
	size_t low = 0, high = item->n_spans;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((double)item->span[middle].ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct trc_diff_estimate trc_diff_beyond(const struct trc_diff_item *item, double ns)
{
	double beyond[TRC_DIFF_SLICES] = {0}, all[TRC_DIFF_SLICES] = {0};
	double n = (double)item->n_spans, share, binomial;
	size_t rank = item_rank(item, ns);

	for (size_t i = 0; i < item->n_spans; i++) {
		all[item->span[i].slice]++;
		beyond[item->span[i].slice] += i >= rank;
	}
	share = (n - (double)rank) / n;
	/* A trace in which none is beyond says little of how many could be. */
	binomial = fmax(share * (1 - share), 1 / n) / n;
	return (struct trc_diff_estimate){share, fmax(trc_ratio_variance(beyond, all), binomial),
					  n};
}

/* Those beyond either end count as much as the last before it (Tukey and McLaughlin's trimmed
 * mean). */
struct trc_diff_estimate trc_diff_typical(const struct trc_diff_item *item)
{
	const double left = 0.8;
	size_t n = item->n_spans, cut = n / 10;
	double sums[TRC_DIFF_SLICES] = {0}, all[TRC_DIFF_SLICES] = {0}, sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t as = i < cut ? cut : i < n - cut ? i : n - cut - 1;

		sums[item->span[i].slice] += (double)item->span[as].ns;
		all[item->span[i].slice]++;
		sum += as == i ? (double)item->span[i].ns : 0;
	}
	return (struct trc_diff_estimate){sum / (double)(n - 2 * cut),
					  trc_ratio_variance(sums, all) / (left * left), (double)n};
}

/* Between two tasks, so that ranks need not be whole. */
static double at_rank(const struct trc_diff_item *item, double rank)
{
	double last = (double)item->n_spans - 1, at = fmin(fmax(rank - 0.5, 0), last);
	size_t i = (size_t)at, next = i + 1 < item->n_spans ? i + 1 : i;
	double a = fmax((double)item->span[i].ns, 1), b = fmax((double)item->span[next].ns, 1);

	return log(a) + (at - (double)i) * (log(b) - log(a));
}

/* By Woodruff's interval: where the percentile lies if the share of those below it is off by its
 * noise. */
struct trc_diff_estimate trc_diff_quantile(const struct trc_diff_item *item, unsigned int percent)
{
	const double reach = 1.5;
	double n = (double)item->n_spans, share = percent / 100.0;
	size_t nearest = (item->n_spans * percent + 99) / 100;
	double value = log(fmax((double)item->span[nearest ? nearest - 1 : 0].ns, 1));
	double off = reach * sqrt(trc_diff_beyond(item, exp(value)).variance);
	double below = at_rank(item, (share - off) * n), above = at_rank(item, (share + off) * n);
	double deviation = fmax(fmax(value - below, above - value), (above - below) / 2) / reach;

	return (struct trc_diff_estimate){value, deviation * deviation, n};
}
