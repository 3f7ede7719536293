/* procs_left.c - see procs_left.h. */
#include "procs_left.h"

#include <errno.h>
#include <stdlib.h>

static int compare_steps(const void *a, const void *b)
{
	const struct trc_procs_step *x = a, *y = b;

	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

/* So many threads more run, or wait, from from_ns to until_ns. */
static int add_stretch(struct trc_array *steps, int64_t from_ns, int64_t until_ns, bool runs)
{
	struct trc_procs_step *step;

	if (from_ns >= until_ns)
		return 0;
	step = trc_array_add(steps);
	if (step)
		*step = (struct trc_procs_step){from_ns, runs, !runs, 0};
	step = step ? trc_array_add(steps) : NULL;
	if (step)
		*step = (struct trc_procs_step){until_ns, -(int)runs, -(int)!runs, 0};
	return step ? 0 : -ENOMEM;
}

static int add_stretches(struct trc_procs *procs, const struct trc_report *r, int64_t *left_ns,
			 struct trc_index *seen)
{
	size_t n;
	const struct trc_on_cpu *row = trc_model_on_cpu(r->m, &n);
	int err = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		left_ns[i] = TRC_NEVER;
	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_thread *thread = trc_model_thread(r->m, row[i].thread);
		int64_t end_ns = row[i].end_ns == TRC_NEVER ? r->end_ns : row[i].end_ns;
		int64_t start_ns = row[i].start_ns == TRC_NEVER ? r->start_ns : row[i].start_ns;
		int64_t *left = thread ? &left_ns[thread - r->thread] : NULL;

		if (!left)
			continue;
		if (!trc_index_number(seen, row[i].proc))
			err = -ENOMEM;
		if (!err && *left != TRC_NEVER && row[i].start_ns != TRC_NEVER)
			err = add_stretch(&procs->steps, *left, start_ns, false);
		*left = row[i].preempted ? end_ns : TRC_NEVER;
		if (!err)
			err = add_stretch(&procs->steps, start_ns, end_ns, true);
	}
	procs->n_procs = (uint32_t)seen->n;
	return err;
}

/* Makes differences to sums. */
static void procs_sum_up(struct trc_procs *procs)
{
	struct trc_procs_step *step = procs->steps.row;

	if (procs->steps.n)
		qsort(step, procs->steps.n, sizeof(*step), compare_steps);
	for (size_t i = 1; i < procs->steps.n; i++) {
		const struct trc_procs_step *before = &step[i - 1];

		step[i].running += before->running;
		step[i].waiting += before->waiting;
		step[i].taken_ns = before->taken_ns;
		if (before->waiting > 0 || before->running >= procs->n_procs)
			trc_report_add(&step[i].taken_ns, step[i].ts_ns - before->ts_ns);
	}
}

int trc_procs_of(struct trc_procs *procs, const struct trc_report *r)
{
	int64_t *left_ns = calloc(r->n_threads + 1, sizeof(*left_ns));
	struct trc_index seen = {0};
	int err;

	*procs = (struct trc_procs){.steps = {.row_bytes = sizeof(struct trc_procs_step)}};
	err = left_ns ? add_stretches(procs, r, left_ns, &seen) : -ENOMEM;
	if (!err)
		procs_sum_up(procs);
	trc_index_free(&seen);
	free(left_ns);
	return err;
}

void trc_procs_free(struct trc_procs *procs)
{
	trc_array_free(&procs->steps);
}

const struct trc_procs_step *trc_procs_step_at(const struct trc_procs *procs, int64_t ts_ns)
{
	const struct trc_procs_step *step = procs->steps.row;
	size_t first = 0, end = procs->steps.n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (step[middle].ts_ns <= ts_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first ? &step[first - 1] : NULL;
}

/* Up to this time. */
static int64_t taken_until_ns(const struct trc_procs *procs, int64_t ts_ns)
{
	const struct trc_procs_step *step = trc_procs_step_at(procs, ts_ns);
	int64_t taken_ns;

	if (!step)
		return 0;
	taken_ns = step->taken_ns;
	if (step->waiting > 0 || step->running >= procs->n_procs)
		trc_report_add(&taken_ns, ts_ns - step->ts_ns);
	return taken_ns;
}

int64_t trc_procs_taken_ns(const struct trc_procs *procs, int64_t from_ns, int64_t to_ns)
{
	return to_ns > from_ns ? taken_until_ns(procs, to_ns) - taken_until_ns(procs, from_ns) : 0;
}

int64_t trc_procs_short_ns(const struct trc_procs *procs, int64_t from_ns, int64_t to_ns)
{
	const struct trc_procs_step *step = procs->steps.row;
	int64_t ns = 0;

	for (size_t i = 0; i + 1 < procs->steps.n; i++) {
		int64_t start_ns = step[i].ts_ns > from_ns ? step[i].ts_ns : from_ns;
		int64_t end_ns = step[i + 1].ts_ns < to_ns ? step[i + 1].ts_ns : to_ns;

		if (step[i].running + step[i].waiting > procs->n_procs && end_ns > start_ns)
			trc_report_add(&ns, end_ns - start_ns);
	}
	return ns;
}
