/* margin.c - how far an estimate from samples may be off; see margin.h. */
#include <math.h>
#include "margin.h"

/* Within so many standard deviations lie 95 % of a normal distribution. */
#define DEVIATIONS 1.959964
/* A3 */
#define MORE_SAMPLES 2.0

void trc_margin_part_add(struct trc_margin_part *part, uint64_t value)
{
	part->value += (double)value;
	part->squares += (double)value * (double)value;
	part->n++;
}

/* A sample's value, squared: of the mean sample where they differ. */
static double sample_squared(double value, double squares)
{
	return value > 0 ? squares / value * (squares / value) : 0;
}

/*
 * The variance of what a thread used in all.  Of a thread of n + f periods, 0 <= f < 1, there are
 * n or n + 1 samples: f (1 - f) of a sample squared, at most a quarter.  Of threads with one sample
 * there may be any number that had none: as many as had one, on average, is the most.
 */
static double ends_variance(const struct trc_margin_part *thread)
{
	double squared = sample_squared(thread->value, thread->squares);

	return thread->n > 1 ? squared / 4 : squared;
}

/* Of a part that is the share p of its thread: the sum of (w (y - p))^2 over the thread's samples,
 * where y is 1 in the part and 0 elsewhere. */
static double within_variance(const struct trc_margin_part *part,
			      const struct trc_margin_part *thread, double p)
{
	double n = (double)thread->n, sum;

	if (thread->n < 2)
		return 0;
	sum = part->squares * (1 - 2 * p) + thread->squares * p * p;
	return sum > 0 ? sum * n / (n - 1) : 0;
}

void trc_margin_add(struct trc_margin *group, const struct trc_margin_part *part,
		    const struct trc_margin_part *thread)
{
	double p = thread->value > 0 ? part->value / thread->value : 0;
	double ends = ends_variance(thread);

	group->value += part->value;
	group->squares += part->squares;
	group->variance += within_variance(part, thread, p) + ends * p * p;
	group->ends += ends * p;
}

void trc_margin_add_known(struct trc_margin *group, const struct trc_margin_part *part,
			  const struct trc_margin_part *thread)
{
	group->value += part->value;
	group->squares += part->squares;
	group->variance +=
		within_variance(part, thread, thread->value > 0 ? part->value / thread->value : 0);
}

void trc_margin_join(struct trc_margin *group, const struct trc_margin *other)
{
	group->value += other->value;
	group->squares += other->squares;
	group->variance += other->variance;
	group->ends += other->ends;
}

void trc_margin_take_off(struct trc_margin *group, const struct trc_margin *some)
{
	group->value -= some->value;
	group->squares -= some->squares;
	group->variance -= some->variance;
	group->ends -= some->ends;
}

static double half_width(double variance)
{
	return variance > 0 ? DEVIATIONS * sqrt(variance) : 0;
}

static double with_more(const struct trc_margin *group, double variance)
{
	return half_width(variance + MORE_SAMPLES * sample_squared(group->value, group->squares));
}

double trc_margin_value(const struct trc_margin *group)
{
	return with_more(group, group->variance);
}

/* A thread that used more than was known adds to the group and to all: its end counts by how far
 * its own share is from the share p of all, (p_thread - p)^2. */
double trc_margin_share(const struct trc_margin *group, const struct trc_margin *all)
{
	double p = all->value > 0 ? group->value / all->value : 0;

	return with_more(group, group->variance - 2 * p * group->ends + p * p * all->ends);
}

void trc_heap_margin_add(struct trc_heap_margin *group, double objects, double amount)
{
	double variance = objects * (objects - 1) * amount * amount;

	group->variance += variance;
	group->fourths += variance * variance;
}

void trc_heap_margin_join(struct trc_heap_margin *group, const struct trc_heap_margin *other)
{
	group->variance += other->variance;
	group->fourths += other->fourths;
}

static double heap_half_width(double variance, double fourths)
{
	return half_width(variance + (variance > 0 ? MORE_SAMPLES * fourths / variance : 0));
}

double trc_heap_margin(const struct trc_heap_margin *group)
{
	return heap_half_width(group->variance, group->fourths);
}

double trc_heap_margin_share(const struct trc_heap_margin *group, const struct trc_heap_margin *all,
			     double share)
{
	double variance = group->variance * (1 - 2 * share) + all->variance * share * share;

	return heap_half_width(
		variance, group->variance > 0 ? variance / group->variance * group->fourths : 0);
}
