/* whatif.c - see whatif.h. */
#include "whatif.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/order.h"
#include "apply.h"
#include "replay.h"
#include "waits.h"

/* What durations are of: as recorded, then of the replays. */
enum run { RECORDED, BASE, CHANGED, SHORT_BASE, SHORT_CHANGED, N_RUNS };

struct runs {
	struct trc_replay replay[N_RUNS]; /* [RECORDED]: the length only */
	struct trc_applied applied;
	struct trc_index saturated; /* by lock: 1 (W1) */
};

/* A task's durations. */
struct task {
	const char *type;
	size_t row;	/* in order of time */
	bool by_chance; /* it waited for a lock that is saturated */
	int64_t ns[N_RUNS];
};

static int whatif_no_memory(struct trc_error *error)
{
	snprintf(error->text, sizeof(error->text), "what if: out of memory");
	return -ENOMEM;
}

/* ---- replays ---- */

static int replay(struct trc_replay *out, const struct trc_program *p,
		  const struct trc_replay_options *options, struct trc_error *error)
{
	int err = trc_replay_run(out, p, options);

	if (err == -ELOOP)
		snprintf(
			error->text, sizeof(error->text),
			"the trace cannot be replayed: its threads wait for each other in circles");
	else if (err)
		return whatif_no_memory(error);
	return err;
}

/* How many procs threads were on. */
static int whatif_count_procs(const struct trc_model *m, uint32_t *n_procs)
{
	size_t n;
	const struct trc_on_cpu *on = trc_model_on_cpu(m, &n);
	struct trc_index procs = {0};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = trc_index_number(&procs, on[i].proc) ? 0 : -ENOMEM;
	*n_procs = procs.n ? (uint32_t)procs.n : 1;
	trc_index_free(&procs);
	return err;
}

static bool changes_procs(const struct trc_changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		if (changes->change[i].kind == TRC_CHANGE_PROCS)
			return true;
	return false;
}

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 1;
}

/* What is known of a lock's sections. */
struct use {
	int64_t held_ns; /* by writers */
	uint32_t thread; /* of the first */
	bool shared;	 /* another thread got the lock, too */
};

static void count_section(struct use *use, const struct trc_section *section)
{
	if (!use->thread)
		use->thread = section->thread;
	use->shared |= section->thread != use->thread;
	if (!section->reader)
		use->held_ns = trc_time_after(use->held_ns,
					      trc_time_between(section->begin_ns, section->end_ns));
}

/* Which thread gets such a lock next decides how long each one waits: nothing of that is in the trace.  A
 * lock that only one thread ever gets, one that has ended with it for instance, has no such next. */
static int note_saturated(struct trc_whatif *w, struct runs *runs, const struct trc_program *p)
{
	static const double SATURATED = 0.9;
	const struct trc_section *section = p->sections.sections.row;
	const uint64_t *lock = p->sections.locks.row;
	struct use *use = calloc(p->sections.locks.n + 1, sizeof(*use));
	int64_t length_ns = trc_replay_recorded_ns(p);
	int err = 0;

	if (!use)
		return -ENOMEM;
	for (size_t i = 0; i < p->sections.sections.n; i++)
		count_section(&use[section[i].lock], &section[i]);
	for (size_t i = 0; i < p->sections.locks.n && !err; i++) {
		double share = length_ns > 0 ? ratio(use[i].held_ns, length_ns) : 0;

		if (!use[i].shared || share < SATURATED)
			continue;
		err = trc_index_put(&runs->saturated, lock[i], 1);
		if (share <= w->saturated_share)
			continue;
		w->saturated = lock[i];
		w->saturated_share = share < 1 ? share : 1;
	}
	free(use);
	return err;
}

static void note_program(struct trc_whatif *w, const struct trc_program *p)
{
	w->n_sections = p->sections.sections.n;
	w->n_assumed = p->sections.n_assumed;
	w->all_locks = p->sections.all;
	w->n_kept = p->n_kept;
	w->kept_ns = p->kept_ns;
}

/* Both replays of one program: out[0], out[1]. */
static int replay_both(struct runs *runs, enum run first, const struct trc_changes *changes,
		       struct trc_program *p, struct trc_error *error)
{
	struct trc_replay_options base = {0}, changed = {0};
	int err = changes_procs(changes) ? whatif_count_procs(p->m, &base.procs) : 0;

	if (err)
		return whatif_no_memory(error);
	runs->replay[RECORDED].length_ns = trc_replay_recorded_ns(p);
	err = replay(&runs->replay[first], p, &base, error);
	trc_applied_free(&runs->applied);
	runs->applied = (struct trc_applied){0};
	if (!err)
		err = trc_changes_apply(&runs->applied, changes, p, error);
	changed.procs = runs->applied.procs;
	changed.no_lock = runs->applied.no_lock;
	return err ? err : replay(&runs->replay[first + 1], p, &changed, error);
}

static int replay_all(struct trc_whatif *w, struct runs *runs, const struct trc_model *m,
		      const struct trc_changes *changes, struct trc_error *error)
{
	struct trc_program p;
	int err = trc_program_make(&p, m, false, error);

	if (!err)
		err = replay_both(runs, SHORT_BASE, changes, &p, error);
	trc_program_free(&p);
	if (err)
		return err;
	err = trc_program_make(&p, m, true, error);
	if (!err)
		err = replay_both(runs, BASE, changes, &p, error);
	note_program(w, &p);
	if (!err && note_saturated(w, runs, &p))
		err = whatif_no_memory(error);
	trc_program_free(&p);
	return err;
}

/* ---- figures ---- */

static int64_t whole_ns_of(double ns)
{
	return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

static double apart(double a, double b)
{
	return a > b ? a - b : b - a;
}

/* W1. */
static double predict(const int64_t ns[N_RUNS], enum run base, bool by_ratio)
{
	if (ns[base] <= 0 || !by_ratio)
		return (double)ns[base + 1];
	return (double)ns[RECORDED] * ratio(ns[base + 1], ns[base]);
}

/* Equal runs of a program differ by that much, whatever a simulation says. */
#define RUNS_DIFFER 0.02

/* What a figure may be off by, as the tasks are a matter of chance (W4). */
struct chance {
	double ns;
	bool at_least;
};

/* The tasks of all types. */
struct tasks_sum {
	double ns, variance; /* with the change; variance of ns between runs */
};

static double not_less(double value, double least)
{
	return value < least ? least : value;
}

static struct trc_whatif_figure figure(const struct trc_whatif *w, const int64_t ns[N_RUNS],
				       struct chance chance, bool by_ratio)
{
	double predicted = predict(ns, BASE, by_ratio);
	double error = apart(ratio(ns[BASE], ns[RECORDED]), 1) * predicted;
	double sampling =
		w->sampling_margin * apart(predicted, (double)(by_ratio ? ns[RECORDED] : ns[BASE]));

	return (struct trc_whatif_figure){
		.recorded_ns = ns[RECORDED],
		.replayed_ns = ns[BASE],
		.predicted_ns = whole_ns_of(predicted),
		.uncertain_ns = whole_ns_of(
			not_less(error + chance.ns + sampling +
					 apart(predict(ns, SHORT_BASE, by_ratio), predicted),
				 predicted * RUNS_DIFFER)),
		.at_least = chance.at_least,
		.from_replay = !by_ratio,
	};
}

static void note_error(struct trc_whatif *w, const struct trc_whatif_figure *f)
{
	double error = apart(ratio(f->replayed_ns, f->recorded_ns), 1);

	if (error > w->error)
		w->error = error;
}

/* ---- tasks ---- */

static bool duration(int64_t *ns, int64_t begin_ns, int64_t end_ns)
{
	*ns = trc_time_between(begin_ns, end_ns);
	return begin_ns != TRC_NEVER && end_ns != TRC_NEVER;
}

/* Of saturated locks, by thread. */
struct chances {
	struct trc_array waits; /* struct trc_park, by begin */
	struct trc_by_thread by;
};

static int chances_make(struct chances *c, const struct trc_model *m, const struct runs *runs)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);

	*c = (struct chances){.waits = {.row_bytes = sizeof(*park)}};
	for (size_t i = 0; runs->saturated.n && i < n; i++) {
		struct trc_park *wait;

		if (!trc_reason_is_lock(park[i].reason) ||
		    trc_index_get(&runs->saturated, park[i].object) == TRC_INDEX_NONE)
			continue;
		wait = trc_array_add(&c->waits);
		if (!wait)
			return -ENOMEM;
		*wait = park[i];
	}
	return trc_by_thread_make(&c->by, m, c->waits.row, c->waits.n, sizeof(*park),
				  trc_thread_of_park);
}

static void chances_free(struct chances *c)
{
	trc_array_free(&c->waits);
	trc_by_thread_free(&c->by);
}

/* Whether the thread waits for one in from_ns..to_ns: waits for locks follow each other. */
static bool waits_by_chance(const struct chances *c, const struct trc_model *m, uint32_t thread,
			    int64_t from_ns, int64_t to_ns)
{
	size_t n, row;
	const struct trc_thread *t = thread ? trc_model_thread(m, thread) : NULL;
	const struct trc_park *wait = c->waits.row, *last;
	uint32_t first, low, high;

	if (!t || !c->waits.n)
		return false;
	row = (size_t)(t - trc_model_threads(m, &n));
	first = low = c->by.first[row];
	high = c->by.first[row + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (wait[c->by.row[middle]].start_ns < to_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return false;
	last = &wait[c->by.row[low - 1]];
	return last->end_ns == TRC_NEVER || last->end_ns > from_ns;
}

/* Returns how many there are; the others are counted. */
static size_t collect_tasks(struct trc_whatif *w, const struct trc_model *m,
			    const struct runs *runs, const struct chances *chances,
			    struct task *out)
{
	size_t n_tasks, n = 0;
	const struct trc_task *task = trc_model_tasks(m, &n_tasks);

	for (size_t i = 0; i < n_tasks; i++) {
		struct task t = {.type = task[i].type ? task[i].type : "", .row = i};
		bool ended = duration(&t.ns[RECORDED], task[i].start_ns, task[i].end_ns);

		for (int r = BASE; ended && r < N_RUNS; r++)
			ended = duration(&t.ns[r], runs->replay[r].task_begin_ns[i],
					 runs->replay[r].task_end_ns[i]);
		if (!ended)
			continue;
		t.by_chance = waits_by_chance(chances, m, task[i].start_thread, task[i].start_ns,
					      task[i].end_ns) ||
			      waits_by_chance(chances, m, task[i].end_thread, task[i].start_ns,
					      task[i].end_ns);
		out[n++] = t;
	}
	w->n_left_out = n_tasks - n;
	return n;
}

static int task_compare_types(const struct task *a, const struct task *b)
{
	return strcmp(a->type, b->type);
}

/* Those of one type in order of time. */
static int tasks_by_type(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	int order = task_compare_types(x, y);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* The smallest that so many percent do not exceed. */
static size_t percentile_at(size_t n, unsigned int percent)
{
	size_t rank = (n * percent + 99) / 100;

	return rank ? rank - 1 : 0;
}

/* Standard deviations of a run: 2.13, as 16 batches tell them, times the root of 2.  The tasks of the run that was
 * recorded are as much a matter of chance as those of the run that is predicted (W4).  Sums of slow tasks that come in
 * bursts lie to one side: that takes a little more. */
#define REACH	      3.0
#define REACH_OF_SUMS 3.2

/* The variance of a sum over all tasks: of how many take longer than so many nanoseconds, or of by how much they
 * do.  By batches of tasks in order of time: slow ones come together.  0 = there are too few. */
static double task_batches_variance(const struct task *task, size_t n, double ns, bool count)
{
	enum { BATCHES = 16, TASKS_LEAST = 10 };
	double sum[BATCHES] = {0}, all = 0, squares = 0;

	if (n < (size_t)BATCHES * TASKS_LEAST)
		return 0;
	for (size_t i = 0; i < n; i++) {
		double more = (double)task[i].ns[CHANGED] - ns;

		sum[i * BATCHES / n] += count ? more > 0 : more;
		all += count ? more > 0 : more;
	}
	for (size_t i = 0; i < BATCHES; i++)
		squares += (sum[i] - all / BATCHES) * (sum[i] - all / BATCHES);
	return squares * BATCHES / (BATCHES - 1);
}

static double more_of(double a, double b)
{
	return a > b ? a : b;
}

/* Of another n tasks like these the percentile would be one of those around it. */
static struct chance percentile_chance(const struct task *task, const int64_t *sorted, size_t n,
				       unsigned int percent)
{
	size_t at = percentile_at(n, percent), low, high;
	double binomial = (double)n * percent * (100 - percent) / 1e4;
	double variance =
		more_of(binomial, task_batches_variance(task, n, (double)sorted[at], true));
	size_t ranks = (size_t)ceil(REACH * sqrt(variance));
	struct chance chance = {.at_least = at + ranks >= n};

	low = at > ranks ? at - ranks : 0;
	high = chance.at_least ? n - 1 : at + ranks;
	chance.ns = more_of((double)sorted[at] - (double)sorted[low],
			    (double)sorted[high] - (double)sorted[at]);
	return chance;
}

/* Of the sum over all tasks. */
static double sum_variance(const struct task *task, size_t n, double mean)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares +=
			((double)task[i].ns[CHANGED] - mean) * ((double)task[i].ns[CHANGED] - mean);
	return more_of(squares, task_batches_variance(task, n, mean, false));
}

/* A run is as much longer or shorter as its tasks are, summed; tasks that do not fill it make less of a difference. */
static struct chance length_chance(const struct tasks_sum *sum, double length_ns)
{
	double part = sum->ns > length_ns ? length_ns / sum->ns : 1;

	return (struct chance){REACH_OF_SUMS * sqrt(sum->variance) * part, false};
}

struct summary {
	double variance, sum_ns; /* of CHANGED, of the tasks' sum */
	int64_t mean[N_RUNS], p50[N_RUNS], p99[N_RUNS];
	struct chance mean_chance, p50_chance, p99_chance; /* of CHANGED */
};

static void summarize(struct summary *s, enum run r, const struct task *task, int64_t *ns, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		ns[i] = task[i].ns[r];
		sum += (double)ns[i];
	}
	qsort(ns, n, sizeof(*ns), trc_compare_ns);
	s->mean[r] = whole_ns_of(sum / (double)n);
	s->p50[r] = ns[percentile_at(n, 50)];
	s->p99[r] = ns[percentile_at(n, 99)];
	if (r != CHANGED)
		return;
	s->sum_ns = sum;
	s->variance = sum_variance(task, n, sum / (double)n);
	s->mean_chance = (struct chance){REACH_OF_SUMS * sqrt(s->variance) / (double)n, false};
	s->p50_chance = percentile_chance(task, ns, n, 50);
	s->p99_chance = percentile_chance(task, ns, n, 99);
}

/* n tasks of one type, at least one; scratch has room for n. */
static int add_type(struct trc_whatif *w, const struct task *task, size_t n, int64_t *scratch,
		    struct tasks_sum *sum)
{
	struct trc_whatif_type *type = trc_array_add(&w->types);
	bool by_chance = false, percentiles_by_ratio; /* W1 */
	struct summary s;

	if (!type)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		by_chance |= task[i].by_chance;
	percentiles_by_ratio = !w->procs && !by_chance;
	for (int r = 0; r < N_RUNS; r++)
		summarize(&s, (enum run)r, task, scratch, n);
	sum->ns += s.sum_ns;
	sum->variance += s.variance;
	*type = (struct trc_whatif_type){
		.name = task->type,
		.n = n,
		.by_chance = by_chance,
		.mean = figure(w, s.mean, s.mean_chance, !w->procs),
		.p50 = figure(w, s.p50, s.p50_chance, percentiles_by_ratio),
		.p99 = figure(w, s.p99, s.p99_chance, percentiles_by_ratio),
	};
	note_error(w, &type->mean);
	note_error(w, &type->p50);
	return 0;
}

static int make_types(struct trc_whatif *w, const struct trc_model *m, const struct runs *runs,
		      struct tasks_sum *sum)
{
	size_t n_tasks, n;
	struct task *task;
	struct chances chances;
	int64_t *scratch;
	int err;

	trc_model_tasks(m, &n_tasks);
	task = calloc(n_tasks + 1, sizeof(*task));
	scratch = calloc(n_tasks + 1, sizeof(*scratch));
	err = chances_make(&chances, m, runs);
	if (!task || !scratch)
		err = -ENOMEM;
	n = err ? 0 : collect_tasks(w, m, runs, &chances, task);
	if (n)
		qsort(task, n, sizeof(*task), tasks_by_type);
	for (size_t i = 0, first = 0; i < n && !err; i++) {
		if (i + 1 < n && !task_compare_types(&task[i], &task[i + 1]))
			continue;
		err = add_type(w, &task[first], i + 1 - first, scratch, sum);
		first = i + 1;
	}
	chances_free(&chances);
	free(task);
	free(scratch);
	return err;
}

static int make_figures(struct trc_whatif *w, const struct trc_model *m, const struct runs *runs,
			struct trc_error *error)
{
	int64_t length_ns[N_RUNS];
	struct tasks_sum sum = {0};

	w->procs = runs->applied.procs;
	w->n_sampled = runs->applied.n_sampled;
	w->sampling_margin = runs->applied.sampling_margin;
	for (int r = 0; r < N_RUNS; r++)
		length_ns[r] = runs->replay[r].length_ns;
	w->n_forced = runs->replay[BASE].n_forced + runs->replay[CHANGED].n_forced;
	w->changed_ns = runs->applied.changed_ns;
	w->no_samples = runs->applied.no_samples;
	w->lost_events = trc_model_lost_events(m);
	trc_model_fibers(m, &w->n_fibers);
	if (make_types(w, m, runs, &sum))
		return whatif_no_memory(error);
	w->length =
		figure(w, length_ns, length_chance(&sum, (double)length_ns[CHANGED]), !w->procs);
	note_error(w, &w->length);
	return 0;
}

int trc_whatif_make(struct trc_whatif *w, const struct trc_model *m, const char *text,
		    struct trc_error *error)
{
	struct trc_changes *changes = malloc(sizeof(*changes));
	struct runs runs = {0};
	int err;

	*w = (struct trc_whatif){.types = {.row_bytes = sizeof(struct trc_whatif_type)}};
	*error->text = '\0';
	err = changes ? trc_changes_parse(changes, text, error) : whatif_no_memory(error);
	if (!err)
		err = replay_all(w, &runs, m, changes, error);
	if (!err)
		err = make_figures(w, m, &runs, error);
	for (int r = 0; r < N_RUNS; r++)
		trc_replay_free(&runs.replay[r]);
	trc_applied_free(&runs.applied);
	trc_index_free(&runs.saturated);
	free(changes);
	return err;
}

void trc_whatif_free(struct trc_whatif *w)
{
	trc_array_free(&w->types);
}
