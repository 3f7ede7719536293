/*
 * compare.c - the rows of all traces side by side, and which of them changed (diff:D3 to D6).
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "measures.h"

/* A row while it is compared. */
struct candidate {
	uint8_t measure;
	bool decided;
	const char *name;
	struct trc_diff_change change;
	double p;
	double before, after;
	bool logarithms;
};

struct comparing {
	struct trc_diff *diff;
	struct trc_array candidates;
	double spread[TRC_DIFF_MEASURES];
	struct trc_diff_taken taken;
};

static struct candidate *candidate_at(const struct comparing *c, size_t i)
{
	return (struct candidate *)c->candidates.row + i;
}

/* ---- which rows there are ---- */

static double part_of(const struct trc_diff_sums *sums, const struct trc_diff_item *item)
{
	double all = item ? sums->total[item->kind] : 0;

	return all > 0 ? item->total / all : 0;
}

/* diff:D6 */
static bool is_worth_it(const struct trc_diff *diff, unsigned int kind, const char *name)
{
	const double least = kind == TRC_DIFF_CPU ? 0.01 : 0.005;
	double n = 0, part = 0;
	const struct trc_diff_item *item = trc_diff_find(diff->after, kind, name);

	for (size_t i = 0; i < diff->n_before; i++) {
		const struct trc_diff_item *before = trc_diff_find(diff->before[i], kind, name);

		n += before ? (double)before->n / (double)diff->n_before : 0;
		part += part_of(diff->before[i], before) / (double)diff->n_before;
	}
	n = fmax(n, item ? (double)item->n : 0);
	part = fmax(part, part_of(diff->after, item));
	return n >= TRC_DIFF_EVENTS && (part >= least || kind == TRC_DIFF_TASKS);
}

static int add_candidate(struct comparing *c, unsigned int measure, const char *name)
{
	struct trc_diff_values v;
	struct candidate *candidate;

	if (!trc_diff_values_of(c->diff, measure, name, &c->taken, &v))
		return 0;
	candidate = trc_array_add(&c->candidates);
	if (!candidate)
		return -ENOMEM;
	candidate->measure = (uint8_t)measure;
	candidate->name = name;
	return 0;
}

/* Threads of other names than these wait for locks, too: else the rows of locks say it all. */
static bool others_blocked(const struct trc_diff *diff, const char *name)
{
	for (size_t t = 0; t <= diff->n_before; t++) {
		const struct trc_diff_sums *sums = trc_diff_trace(diff, t);

		for (size_t i = 0; i < sums->items.n; i++) {
			const struct trc_diff_item *item = trc_diff_item(sums, i);

			if (item->kind == TRC_DIFF_BLOCKED && strcmp(item->name, name) != 0 &&
			    is_worth_it(diff, TRC_DIFF_BLOCKED, item->name))
				return true;
		}
	}
	return false;
}

/* diff:D5, D8, D10 */
static bool is_compared(const struct trc_diff *diff, unsigned int measure, const char *name)
{
	switch ((enum trc_diff_measure)measure) {
	case TRC_DIFF_CPU_ALL:
		return false; /* no item's */
	case TRC_DIFF_CPU_SHARE:
		return diff->cpu_compared;
	case TRC_DIFF_LOCK_WAITED:
	case TRC_DIFF_LOCK_WAITS:
	case TRC_DIFF_SECTION_CAUSED:
		return diff->locks_compared;
	case TRC_DIFF_SECTION_HELD:
		return diff->held_compared;
	case TRC_DIFF_THREADS_RAN:
		return diff->n_before > 1 && diff->switches_compared;
	case TRC_DIFF_THREADS_ACTIVE:
		return diff->n_before > 1 && !diff->switches_compared && diff->locks_compared;
	case TRC_DIFF_THREADS_LOCKS:
		return diff->locks_compared && others_blocked(diff, name);
	case TRC_DIFF_HEAP_IN_USE:
		return diff->in_use_compared;
	case TRC_DIFF_HEAP_ALLOCATED:
	case TRC_DIFF_HEAP_ALLOCATIONS:
		return diff->heap_compared;
	default:
		return true;
	}
}

static int add_item(struct comparing *c, const struct trc_diff_item *item)
{
	int err = 0;

	bool by_threads = item->kind >= TRC_DIFF_RAN && item->kind <= TRC_DIFF_BLOCKED;

	if (!is_worth_it(c->diff, item->kind, item->name) ||
	    (item->kind != TRC_DIFF_TASKS && !by_threads && c->diff->only_tasks))
		return 0;
	for (unsigned int m = 0; m < TRC_DIFF_MEASURES && !err; m++)
		if (trc_diff_measure_kind(m) == item->kind && is_compared(c->diff, m, item->name))
			err = add_candidate(c, m, item->name);
	return err;
}

/* Items of the last trace, and those of others that the traces behind them do not have. */
static int add_candidates(struct comparing *c)
{
	const struct trc_diff *diff = c->diff;
	int err = 0;

	for (size_t t = diff->n_before + 1; t-- > 0;) {
		const struct trc_diff_sums *sums = trc_diff_trace(diff, t);

		for (size_t i = 0; i < sums->items.n && !err; i++) {
			const struct trc_diff_item *item = trc_diff_item(sums, i);
			bool had = !item->amount;

			for (size_t later = t + 1; later <= diff->n_before && !had; later++) {
				const struct trc_diff_item *same = trc_diff_find(
					trc_diff_trace(diff, later), item->kind, item->name);

				had = same && same->amount;
			}
			err = had ? 0 : add_item(c, item);
		}
	}
	/* A busy machine gives less of it: how much less only several runs tell. */
	if (!err && diff->cpu_compared && diff->after->sampled_clock && diff->n_before > 1)
		err = add_candidate(c, TRC_DIFF_CPU_ALL, "all functions");
	return err;
}

/* ---- testing ---- */

static double p_of(const struct trc_diff_change *change)
{
	double deviation = sqrt(change->variance);

	if (change->size == 0)
		return 1;
	return deviation > 0 ? trc_student_p(change->size / deviation, change->freedom) : 0;
}

/* Durations may have two or more humps, between which a percentile jumps: as many tasks more or
 * less have to be beyond a duration between the two percentiles. */
static double p_beyond(const struct comparing *c, const struct candidate *candidate)
{
	struct trc_diff_values v;
	struct trc_diff_change change;

	if (!trc_diff_values_beyond(c->diff, candidate->name,
				    sqrt(candidate->before * candidate->after), &v))
		return 1;
	change = trc_diff_change_of(&v, c->spread[candidate->measure]);
	return p_of(&change);
}

static bool is_percentile(unsigned int measure)
{
	return measure >= TRC_DIFF_TASK_P50 && measure <= TRC_DIFF_TASK_P99;
}

static double values_before(const struct trc_diff_values *v)
{
	double all = 0;

	for (size_t i = 0; i + 1 < v->n; i++)
		all += v->logarithms ? log(v->of[i].value) : v->of[i].value;
	all /= (double)(v->n - 1);
	return v->logarithms ? exp(all) : all;
}

/* The logarithm of a sum that has most from a single event says more than it knows: the values
 * themselves have to be as certain.  What a busier machine does is in the logarithms: by so much more or less of a value no change,
 * however large, would be certain. */
static double p_of_values(const struct comparing *c, const struct candidate *candidate,
			  struct trc_diff_values *v)
{
	struct trc_diff_change change;
	double scale = 0;

	if (!v->logarithms || is_percentile(candidate->measure))
		return 0;
	for (size_t i = 0; i < v->n; i++)
		scale = fmax(scale, v->of[i].value);
	for (size_t i = 0; i < v->n; i++) {
		v->tested[i] = v->of[i];
		v->tested[i].variance += v->least * scale * scale;
	}
	v->least *= scale * scale;
	v->machine = 0;
	change = trc_diff_change_of(v, c->spread[candidate->measure]);
	return p_of(&change);
}

static void test(struct comparing *c, struct candidate *candidate)
{
	struct trc_diff_values v;

	candidate->p = 2; /* not comparable any more */
	if (!trc_diff_values_of(c->diff, candidate->measure, candidate->name, &c->taken, &v))
		return;
	candidate->change = trc_diff_change_of(&v, c->spread[candidate->measure]);
	candidate->logarithms = v.logarithms;
	candidate->before = values_before(&v);
	candidate->after = v.of[v.n - 1].value;
	candidate->p = fmax(p_of(&candidate->change), p_of_values(c, candidate, &v));
	if (is_percentile(candidate->measure))
		candidate->p = fmax(candidate->p, p_beyond(c, candidate));
}

/* Rows that differ between runs for the same reasons. */
enum spread_group { OF_TIMES, OF_SHARES, OF_CPU_TIME, OF_MEMORY, SPREAD_GROUPS };

static enum spread_group spread_group(unsigned int measure)
{
	switch ((enum trc_diff_measure)measure) {
	case TRC_DIFF_CPU_SHARE:
		return OF_SHARES;
	case TRC_DIFF_CPU_ALL:
	case TRC_DIFF_THREADS_RAN:
	case TRC_DIFF_THREADS_ACTIVE:
		return OF_CPU_TIME;
	case TRC_DIFF_HEAP_IN_USE:
		return OF_MEMORY;
	default: /* what is allocated is for each task or second, as times are */
		return OF_TIMES;
	}
}

/*
 * How much larger the variance between runs is than their slices say.  All times share what
 * makes a run slower than another, so that they are asked together; shares of CPU do not, nor does
 * how long threads run, which do not wait then, nor memory in use.  One that is far off must not stand for all.
 */
static void find_spread(struct comparing *c)
{
	const double prior = 1, most = 50;
	double n[SPREAD_GROUPS], sum[SPREAD_GROUPS];
	struct trc_diff_values v;

	for (size_t g = 0; g < SPREAD_GROUPS; g++)
		n[g] = sum[g] = prior;
	for (size_t i = 0; i < c->candidates.n && c->diff->n_before > 1; i++) {
		const struct candidate *candidate = candidate_at(c, i);
		enum spread_group g = spread_group(candidate->measure);

		if (!trc_diff_values_of(c->diff, candidate->measure, candidate->name, &c->taken,
					&v))
			continue;
		n[g] += (double)c->diff->n_before - 1;
		sum[g] += ((double)c->diff->n_before - 1) * fmin(trc_diff_spread(&v), most);
	}
	for (unsigned int m = 0; m < TRC_DIFF_MEASURES; m++)
		c->spread[m] = sum[spread_group(m)] / n[spread_group(m)];
}

/* What a function takes per task or second, as a change; the larger of two is to blame if
 * nothing else tells which of them changed. */
static double per_unit_change(const struct trc_diff *diff, const char *name)
{
	double units[TRC_DIFF_SLICES], per_unit[2] = {0};

	for (size_t t = 0; t <= diff->n_before; t++) {
		const struct trc_diff_sums *sums = trc_diff_trace(diff, t);
		const struct trc_diff_item *item = trc_diff_find(sums, TRC_DIFF_CPU, name);
		double all = 0;

		trc_diff_units(diff, sums, units);
		for (size_t i = 0; i < TRC_DIFF_SLICES; i++)
			all += units[i];
		if (all > 0 && item)
			per_unit[t == diff->n_before] += item->total / all;
	}
	per_unit[0] /= (double)diff->n_before;
	return per_unit[0] > 0 && per_unit[1] > 0 ? fabs(log(per_unit[1] / per_unit[0])) : DBL_MAX;
}

static struct candidate *most_certain(struct comparing *c)
{
	const double alike = 1.5; /* two functions alone have the same p */
	struct candidate *best = NULL;

	for (size_t i = 0; i < c->candidates.n; i++) {
		struct candidate *one = candidate_at(c, i);

		if (!one->decided && one->p <= 1 && (!best || one->p < best->p))
			best = one;
	}
	if (!best || best->measure != TRC_DIFF_CPU_SHARE)
		return best;
	for (size_t i = 0, n = c->candidates.n; i < n; i++) {
		struct candidate *one = candidate_at(c, i);

		if (!one->decided && one->measure == TRC_DIFF_CPU_SHARE &&
		    one->p <= best->p * alike &&
		    per_unit_change(c->diff, one->name) > per_unit_change(c->diff, best->name))
			best = one;
	}
	return best;
}

/* ---- the rows ---- */

static double units_per_second(const struct trc_diff *diff)
{
	double units[TRC_DIFF_SLICES], all = 0;

	trc_diff_units(diff, diff->after, units);
	for (size_t i = 0; i < TRC_DIFF_SLICES; i++)
		all += units[i];
	return all / trc_diff_seconds(diff->after);
}

/* How much of the threads' time changed, in nanoseconds per second of the trace. */
static double importance(const struct trc_diff *diff, const struct candidate *c)
{
	static const double OF_TASK[] = {1, 0.5, 0.05, 0.01};
	const struct trc_diff_sums *sums = diff->after;
	const struct trc_diff_item *item =
		trc_diff_find(sums, trc_diff_measure_kind(c->measure), c->name);
	double change = fabs(c->after - c->before), seconds = trc_diff_seconds(sums);
	double n = item ? (double)item->n : 0;

	switch ((enum trc_diff_measure)c->measure) {
	case TRC_DIFF_TASK_MEAN:
	case TRC_DIFF_TASK_P50:
	case TRC_DIFF_TASK_P95:
	case TRC_DIFF_TASK_P99:
		return change * n / seconds * OF_TASK[c->measure];
	case TRC_DIFF_SECTION_HELD:
		return change * n / seconds;
	case TRC_DIFF_LOCK_WAITS:
		return n > 0 ? change * units_per_second(diff) * item->total / n / 2 : 0;
	case TRC_DIFF_CPU_SHARE:
		return item ? change / (c->after > 0 ? c->after : 1) * item->total / seconds
			    : change;
	case TRC_DIFF_HEAP_IN_USE:
		return change;
	case TRC_DIFF_HEAP_ALLOCATIONS:
		return item && n > 0 ? change * units_per_second(diff) * item->total / n / 2 : 0;
	default:
		return change * units_per_second(diff);
	}
}

/* Of CPU the share of the threads' samples is told, and not that of the functions that did not
 * change. */
static void tell_share(const struct trc_diff *diff, struct trc_diff_row *row, double *each)
{
	const char *of = trc_diff_threads_of(diff, row->name);

	row->before = row->after = 0;
	for (size_t t = 0; t <= diff->n_before && of; t++) {
		const struct trc_diff_sums *sums = trc_diff_trace(diff, t);
		const struct trc_diff_item *item = trc_diff_find(sums, TRC_DIFF_CPU, row->name);
		const struct trc_diff_item *all = trc_diff_find(sums, TRC_DIFF_SAMPLED, of);
		double part = item && all && all->total > 0 ? item->total / all->total : 0;

		if (t == diff->n_before)
			row->after = part;
		else
			row->before += part / (double)diff->n_before;
		if (t < diff->n_before)
			each[t] = part;
	}
}

static void tell_each(struct comparing *c, const struct candidate *candidate, double *each)
{
	struct trc_diff_values v;

	if (!trc_diff_values_of(c->diff, candidate->measure, candidate->name, &c->taken, &v))
		return;
	for (size_t i = 0; i < c->diff->n_before; i++)
		each[i] = v.of[i].value;
}

/* The standard deviation, as a part of the mean. */
static double spread_between(const double *each, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += each[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (each[i] - mean) * (each[i] - mean);
	return n > 1 && mean > 0 ? sqrt(squares / (double)(n - 1)) / mean : NAN;
}

static int compared_add_row(struct comparing *c, const struct candidate *candidate, double p,
			    bool changed)
{
	const struct trc_diff_change *change = &candidate->change;
	struct trc_diff_row *row = trc_array_add(&c->diff->rows);
	double *each = calloc(c->diff->n_before + 1, sizeof(*each));
	double deviation = sqrt(change->variance), reach;

	if (!row || !each) {
		c->diff->rows.n -= row != NULL;
		free(each);
		return -ENOMEM;
	}
	*row = (struct trc_diff_row){.measure = candidate->measure,
				     .name = candidate->name,
				     .before = candidate->before,
				     .after = candidate->after,
				     .each = each,
				     .change = NAN,
				     .low = NAN,
				     .high = NAN,
				     .p = p,
				     .sure_from = NAN,
				     .changed = changed};
	row->importance = importance(c->diff, candidate);
	if (candidate->logarithms) {
		reach = trc_student_t(0.05, change->freedom) * deviation;
		row->change = expm1(change->size);
		row->low = expm1(change->size - reach);
		row->high = expm1(change->size + reach);
		reach = trc_student_t(TRC_DIFF_ALARM / (double)c->candidates.n, change->freedom);
		row->sure_from = expm1(reach * deviation);
	}
	if (candidate->measure == TRC_DIFF_CPU_SHARE)
		tell_share(c->diff, row, each);
	else
		tell_each(c, candidate, each);
	row->between = spread_between(each, c->diff->n_before);
	return 0;
}

/* By Holm: the most certain row first, as long as its p, times the number of rows that are left,
 * is small enough.  After a function has changed all others are tested again. */
static int decide(struct comparing *c)
{
	size_t left = c->candidates.n;
	bool changed = true;
	double p = 0;
	int err = 0;

	c->taken.name = calloc(left + 1, sizeof(*c->taken.name));
	err = c->taken.name ? 0 : -ENOMEM;
	for (size_t i = 0; i < c->candidates.n && !err; i++)
		test(c, candidate_at(c, i));
	while (left && !err) {
		struct candidate *best = most_certain(c);

		if (!best)
			break;
		best->decided = true;
		p = fmax(p, fmin(best->p * (double)left--, 1));
		changed &= p <= TRC_DIFF_ALARM;
		c->diff->n_changed += changed;
		err = compared_add_row(c, best, p, changed);
		if (!changed || best->measure != TRC_DIFF_CPU_SHARE)
			continue;
		c->taken.name[c->taken.n++] = best->name;
		for (size_t i = 0; i < c->candidates.n; i++)
			if (!candidate_at(c, i)->decided &&
			    candidate_at(c, i)->measure == TRC_DIFF_CPU_SHARE)
				test(c, candidate_at(c, i));
	}
	return err;
}

/* Bytes are no times.  What is no lock may be how threads wait for work. */
static int place_in_list(const struct trc_diff_row *row)
{
	if (row->measure >= TRC_DIFF_HEAP_IN_USE)
		return row->measure == TRC_DIFF_HEAP_IN_USE ? 1 : 2;
	return row->measure == TRC_DIFF_WAITED ? 3 : 0;
}

static int compared_compare_rows(const void *a, const void *b)
{
	const struct trc_diff_row *x = a, *y = b;

	if (x->changed != y->changed)
		return x->changed ? -1 : 1;
	if (place_in_list(x) != place_in_list(y))
		return place_in_list(x) < place_in_list(y) ? -1 : 1;
	if (x->importance < y->importance || x->importance > y->importance)
		return x->importance > y->importance ? -1 : 1;
	if (x->measure != y->measure)
		return x->measure < y->measure ? -1 : 1;
	return strcmp(x->name, y->name);
}

int trc_diff_compare(struct trc_diff **out, struct trc_diff_sums *const *before, size_t n_before,
		     const struct trc_diff_sums *after)
{
	struct comparing c = {
		.diff = calloc(1, sizeof(*c.diff)),
		.candidates = {.row_bytes = sizeof(struct candidate)},
	};
	int err = c.diff ? 0 : -ENOMEM;

	if (!err) {
		*c.diff = (struct trc_diff){.before = before,
					    .n_before = n_before,
					    .after = after,
					    .rows = {.row_bytes = sizeof(struct trc_diff_row)}};
		trc_diff_find_incomplete(c.diff);
		trc_diff_find_differences(c.diff);
		err = trc_diff_choose_unit(c.diff);
	}
	if (!err)
		err = add_candidates(&c);
	if (!err) {
		find_spread(&c);
		err = decide(&c);
	}
	free(c.taken.name);
	trc_array_free(&c.candidates);
	if (err) {
		trc_diff_free(c.diff);
		return err;
	}
	if (c.diff->rows.n)
		qsort(c.diff->rows.row, c.diff->rows.n, sizeof(struct trc_diff_row),
		      compared_compare_rows);
	*out = c.diff;
	return 0;
}

void trc_diff_free(struct trc_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->rows.n; i++)
		free(((struct trc_diff_row *)diff->rows.row)[i].each);
	trc_array_free(&diff->rows);
	free(diff->unit_bytes);
	free(diff->unit_allocations);
	free(diff->unit);
	free(diff->unit_waits);
	free(diff);
}

const struct trc_diff_row *trc_diff_rows(const struct trc_diff *diff, size_t *n)
{
	*n = diff->rows.n;
	return diff->rows.row;
}

size_t trc_diff_n_before(const struct trc_diff *diff)
{
	return diff->n_before;
}
