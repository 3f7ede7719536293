/* measures.c - what is compared of each item, and the test for one row. */
#include <math.h>
#include <string.h>
#include "measures.h"

/* How much runs of one program differ for reasons that no slice shows: where its memory lies,
 * what else the machine does.  A part of the value, as a standard deviation. */
#define RUN_NOISE	0.005
#define RUN_NOISE_ALONE 0.01 /* with one trace before nothing says more about it */
#define RUN_NOISE_CPU	0.03 /* of all CPU time: a busy machine is slower */
/* What the noise of the slices counts against the differences of runs, in degrees of freedom. */
#define SLICES_FREEDOM 3.0

void trc_diff_units(const struct trc_diff *diff, const struct trc_diff_sums *sums,
		    double units[TRC_DIFF_SLICES])
{
	const struct trc_diff_item *task =
		diff->task ? trc_diff_find(sums, TRC_DIFF_TASKS, diff->task) : NULL;

	for (size_t i = 0; i < TRC_DIFF_SLICES; i++)
		units[i] = task && task->events ? task->events[i]
						: trc_diff_seconds(sums) / TRC_DIFF_SLICES;
}

unsigned int trc_diff_measure_kind(unsigned int measure)
{
	switch ((enum trc_diff_measure)measure) {
	case TRC_DIFF_TASK_MEAN:
	case TRC_DIFF_TASK_P50:
	case TRC_DIFF_TASK_P95:
	case TRC_DIFF_TASK_P99:
		return TRC_DIFF_TASKS;
	case TRC_DIFF_LOCK_WAITED:
	case TRC_DIFF_LOCK_WAITS:
		return TRC_DIFF_LOCKS;
	case TRC_DIFF_SECTION_CAUSED:
	case TRC_DIFF_SECTION_HELD:
		return TRC_DIFF_SECTIONS;
	case TRC_DIFF_CPU_SHARE:
	case TRC_DIFF_CPU_ALL:
		return TRC_DIFF_CPU;
	case TRC_DIFF_THREADS_RAN:
		return TRC_DIFF_RAN;
	case TRC_DIFF_THREADS_ACTIVE:
		return TRC_DIFF_ACTIVE;
	case TRC_DIFF_THREADS_LOCKS:
		return TRC_DIFF_BLOCKED;
	case TRC_DIFF_HEAP_IN_USE:
		return TRC_DIFF_IN_USE;
	case TRC_DIFF_HEAP_ALLOCATED:
	case TRC_DIFF_HEAP_ALLOCATIONS:
		return TRC_DIFF_ALLOCATED;
	case TRC_DIFF_WAITED:
	case TRC_DIFF_MEASURES:
		break;
	}
	return TRC_DIFF_WAITS;
}

/* Sums by slice, whose ratio is the value. */
struct series {
	double x[TRC_DIFF_SLICES], u[TRC_DIFF_SLICES];
};

static void slices_copy(double to[TRC_DIFF_SLICES], const double *from)
{
	if (from)
		memcpy(to, from, TRC_DIFF_SLICES * sizeof(*to));
}

static void cpu_all(const struct trc_diff_sums *sums, double x[TRC_DIFF_SLICES])
{
	for (size_t i = 0; i < sums->items.n; i++) {
		const struct trc_diff_item *item = trc_diff_item(sums, i);

		for (size_t k = 0;
		     item->kind == TRC_DIFF_SAMPLED && item->amount && k < TRC_DIFF_SLICES; k++)
			x[k] += item->amount[k];
	}
}

const char *trc_diff_threads_of(const struct trc_diff *diff, const char *function)
{
	for (size_t t = 0; t <= diff->n_before; t++) {
		const struct trc_diff_sums *sums = trc_diff_trace(diff, t);
		const struct trc_diff_item *item = trc_diff_find(sums, TRC_DIFF_CPU, function);

		if (item)
			return trc_diff_item(sums, item->threads)->name;
	}
	return NULL;
}

static void take_off(double u[TRC_DIFF_SLICES], const struct trc_diff_item *item)
{
	for (size_t i = 0; item && item->amount && i < TRC_DIFF_SLICES; i++)
		u[i] = fmax(u[i] - item->amount[i], 0);
}

/* What the same threads did in functions that did not change; nothing, if only this one is left. */
static void other_cpu(const struct trc_diff *diff, const struct trc_diff_sums *sums,
		      const char *name, const struct trc_diff_taken *taken,
		      double u[TRC_DIFF_SLICES])
{
	const char *of = trc_diff_threads_of(diff, name);
	const struct trc_diff_item *threads = of ? trc_diff_find(sums, TRC_DIFF_SAMPLED, of) : NULL;

	memset(u, 0, TRC_DIFF_SLICES * sizeof(*u));
	if (!threads)
		return;
	slices_copy(u, threads->amount);
	take_off(u, trc_diff_find(sums, TRC_DIFF_CPU, name));
	for (size_t i = 0; i < taken->n; i++)
		if (!strcmp(of, trc_diff_threads_of(diff, taken->name[i])))
			take_off(u, trc_diff_find(sums, TRC_DIFF_CPU, taken->name[i]));
}

double trc_diff_without_proc(const struct trc_diff *diff)
{
	double before = 0;

	if (!diff->switches_compared)
		return 0;
	for (size_t i = 0; i < diff->n_before; i++)
		before += diff->before[i]->without_proc / (double)diff->n_before;
	return diff->after->without_proc - before;
}

static void measure_fill(const struct trc_diff *diff, size_t trace, unsigned int measure,
			 const char *name, const struct trc_diff_item *item,
			 const struct trc_diff_taken *taken, struct series *s)
{
	const struct trc_diff_sums *sums = trc_diff_trace(diff, trace);

	memset(s, 0, sizeof(*s));
	trc_diff_units(diff, sums, s->u);
	switch ((enum trc_diff_measure)measure) {
	case TRC_DIFF_TASK_MEAN:
		slices_copy(s->u, item ? item->events : NULL);
		break;
	case TRC_DIFF_LOCK_WAITS:
	case TRC_DIFF_HEAP_ALLOCATIONS:
		slices_copy(s->x, item ? item->events : NULL);
		return;
	case TRC_DIFF_CPU_ALL:
		cpu_all(sums, s->x);
		return;
	case TRC_DIFF_CPU_SHARE:
		slices_copy(s->x, item ? item->amount : NULL);
		other_cpu(diff, sums, name, taken, s->u);
		return;
	default:
		break;
	}
	slices_copy(s->x, item ? item->amount : NULL);
}

static double slices_sum(const double slice[TRC_DIFF_SLICES])
{
	double all = 0;

	for (size_t i = 0; i < TRC_DIFF_SLICES; i++)
		all += slice[i];
	return all;
}

/* False if there is nothing to divide by. */
static bool estimate(const struct series *s, struct trc_diff_estimate *e)
{
	double all_u = slices_sum(s->u);

	if (!(all_u > 0))
		return false;
	*e = (struct trc_diff_estimate){slices_sum(s->x) / all_u, trc_ratio_variance(s->x, s->u),
					all_u};
	return true;
}

/* How many percent of the tasks it does not exceed; 0 = the measure is no percentile. */
static unsigned int percent_of(unsigned int measure)
{
	return measure == TRC_DIFF_TASK_P50   ? 50
	       : measure == TRC_DIFF_TASK_P95 ? 95
	       : measure == TRC_DIFF_TASK_P99 ? 99
					      : 0;
}

/* A percentile needs tasks on both sides of it. */
static bool has_percentile(const struct trc_diff_item *item, unsigned int percent)
{
	enum { BEYOND = 10 };

	return item && item->n_spans * (100 - percent) >= (size_t)BEYOND * 100;
}

static bool enough(const struct trc_diff_item *item, unsigned int measure)
{
	return (measure != TRC_DIFF_TASK_MEAN && measure != TRC_DIFF_SECTION_HELD) ||
	       (item && item->n_spans >= TRC_DIFF_EVENTS);
}

/* A queue grows by more than what it waits for. */
static bool is_queue(unsigned int measure)
{
	return measure == TRC_DIFF_LOCK_WAITED || measure == TRC_DIFF_LOCK_WAITS ||
	       measure == TRC_DIFF_SECTION_CAUSED || measure == TRC_DIFF_THREADS_LOCKS;
}

static double run_noise(const struct trc_diff *diff, unsigned int measure)
{
	double noise = diff->n_before == 1 ? RUN_NOISE_ALONE : RUN_NOISE;

	switch ((enum trc_diff_measure)measure) {
	case TRC_DIFF_CPU_ALL:
		return RUN_NOISE_CPU;
	case TRC_DIFF_THREADS_RAN: /* with several traces before, which say how runs differ (D8) */
	case TRC_DIFF_THREADS_ACTIVE:
		return RUN_NOISE_ALONE;
	case TRC_DIFF_CPU_SHARE: /* what is slower in a run as a whole is not in it */
		return RUN_NOISE;
	default:
		return is_queue(measure) ? 2 * noise : noise;
	}
}

/* A trace that has nothing of it may only be short: its noise is what others would have in as
 * short a time. */
static void doubt_zeros(struct trc_diff_values *v)
{
	double of_one = 0, n = 0;

	for (size_t i = 0; i < v->n; i++)
		if (v->of[i].value > 0) {
			of_one += v->of[i].variance * v->of[i].per;
			n++;
		}
	for (size_t i = 0; i < v->n && n > 0; i++)
		if (!(v->of[i].value > 0))
			v->of[i].variance = of_one / n / v->of[i].per;
}

/* The values as they are tested. */
static void set_tested(struct trc_diff_values *v, double noise)
{
	double scale = 0;

	v->logarithms = true;
	for (size_t i = 0; i < v->n; i++) {
		v->logarithms &= v->of[i].value > 0;
		scale = fmax(scale, v->of[i].value);
	}
	if (v->logarithms)
		scale = 1;
	else
		doubt_zeros(v);
	v->least = noise * noise * scale * scale;
	for (size_t i = 0; i < v->n; i++) {
		struct trc_diff_estimate *t = &v->tested[i];
		double value = v->of[i].value;

		*t = v->of[i];
		if (v->logarithms) {
			t->value = log(value);
			t->variance /= value * value;
		}
		t->variance += v->least;
	}
}

/* Where the machine was busier there is nothing of it. */
static bool is_gone_where_busier(const struct trc_diff_values *v, double without_proc)
{
	bool after = v->of[v->n - 1].value > 0, before = false;

	for (size_t i = 0; i + 1 < v->n; i++)
		before |= v->of[i].value > 0;
	return (!after && without_proc > 0) || (!before && without_proc < 0);
}

/* On a machine that was busier than before all takes longer, by nobody knows how much: about as
 * much as threads lacked procs more.  It does not make what took time take none. */
static void add_machine(const struct trc_diff *diff, unsigned int measure,
			struct trc_diff_values *v)
{
	double noise = trc_diff_without_proc(diff) * (is_queue(measure) ? 2 : 1), scale = 1;

	if (is_gone_where_busier(v, noise))
		return;

	for (size_t i = 0; i < v->n && !v->logarithms; i++)
		scale = fmax(i ? scale : 0, v->of[i].value);
	v->machine = noise * noise * scale * scale;
}

/* What is no time does not grow where procs lack, nor does time on a proc. */
static bool is_time(unsigned int measure)
{
	return measure != TRC_DIFF_CPU_SHARE && measure != TRC_DIFF_THREADS_RAN &&
	       trc_diff_measure_kind(measure) != TRC_DIFF_ALLOCATED &&
	       trc_diff_measure_kind(measure) != TRC_DIFF_IN_USE;
}

static bool percentiles_of(const struct trc_diff *diff, unsigned int percent, const char *name,
			   struct trc_diff_values *v)
{
	double noise = run_noise(diff, TRC_DIFF_TASK_P50);

	v->logarithms = true;
	v->least = noise * noise;
	for (size_t i = 0; i < v->n; i++) {
		const struct trc_diff_item *item =
			trc_diff_find(trc_diff_trace(diff, i), TRC_DIFF_TASKS, name);

		if (!has_percentile(item, percent))
			return false;
		v->tested[i] = trc_diff_quantile(item, percent);
		v->tested[i].variance += v->least;
		v->of[i].value = exp(v->tested[i].value);
	}
	add_machine(diff, TRC_DIFF_TASK_P50, v);
	return true;
}

bool trc_diff_values_of(const struct trc_diff *diff, unsigned int measure, const char *name,
			const struct trc_diff_taken *taken, struct trc_diff_values *v)
{
	unsigned int percent = percent_of(measure), kind = trc_diff_measure_kind(measure);
	struct series s;

	v->n = diff->n_before + 1;
	v->machine = v->least = 0;
	if (percent)
		return percentiles_of(diff, percent, name, v);
	for (size_t i = 0; i < v->n; i++) {
		const struct trc_diff_item *item =
			trc_diff_find(trc_diff_trace(diff, i), kind, name);

		if (!enough(item, measure))
			return false;
		if (measure == TRC_DIFF_SECTION_HELD || measure == TRC_DIFF_HEAP_IN_USE) {
			v->of[i] = measure == TRC_DIFF_SECTION_HELD ? trc_diff_typical(item)
								    : trc_diff_in_use(item);
			continue;
		}
		measure_fill(diff, i, measure, name, item, taken, &s);
		if (!estimate(&s, &v->of[i]))
			return false;
	}
	set_tested(v, run_noise(diff, measure));
	if (is_time(measure))
		add_machine(diff, measure, v);
	return true;
}

bool trc_diff_values_beyond(const struct trc_diff *diff, const char *name, double ns,
			    struct trc_diff_values *v)
{
	v->n = diff->n_before + 1;
	v->logarithms = false;
	v->machine = v->least = 0;
	for (size_t i = 0; i < v->n; i++) {
		const struct trc_diff_item *item =
			trc_diff_find(trc_diff_trace(diff, i), TRC_DIFF_TASKS, name);

		if (!item || !item->n_spans)
			return false;
		v->of[i] = v->tested[i] = trc_diff_beyond(item, ns);
	}
	return true;
}

static double mean_before(const struct trc_diff_values *v)
{
	double all = 0;

	for (size_t i = 0; i + 1 < v->n; i++)
		all += v->tested[i].value;
	return all / (double)(v->n - 1);
}

static double between_runs(const struct trc_diff_values *v)
{
	double mean = mean_before(v), squares = 0;

	for (size_t i = 0; i + 1 < v->n; i++)
		squares += (v->tested[i].value - mean) * (v->tested[i].value - mean);
	return squares / (double)(v->n - 2);
}

static double within_runs(const struct trc_diff_values *v)
{
	double all = 0;

	for (size_t i = 0; i < v->n; i++)
		all += v->tested[i].variance;
	return all / (double)v->n;
}

double trc_diff_spread(const struct trc_diff_values *v)
{
	double within = within_runs(v);

	return within > 0 ? between_runs(v) / within : 1;
}

/* By Satterthwaite, as of two samples with variances of their own. */
static struct trc_diff_change change_of_two(const struct trc_diff_values *v)
{
	double before = v->tested[0].variance, after = v->tested[1].variance, all = before + after;

	return (struct trc_diff_change){.variance = all,
					.freedom =
						all > 0 ? TRC_RATIO_FREEDOM * all * all /
								  (before * before + after * after)
							: TRC_RATIO_FREEDOM};
}

struct trc_diff_change trc_diff_change_of(const struct trc_diff_values *v, double spread)
{
	double n = (double)(v->n - 1), run;
	struct trc_diff_change change = {0};

	if (v->n == 2) {
		change = change_of_two(v);
	} else {
		/* The differences of a few runs alone are a poor measure: that of the slices,
		 * corrected by how much they are off for all rows, counts as some more. */
		change.freedom = SLICES_FREEDOM + n - 1;
		run = (SLICES_FREEDOM * spread * within_runs(v) + (n - 1) * between_runs(v)) /
		      change.freedom;
		change.variance = fmax(run, v->least) * (1 + 1 / n);
	}
	change.size = v->tested[v->n - 1].value - mean_before(v);
	change.variance += v->machine;
	return change;
}
