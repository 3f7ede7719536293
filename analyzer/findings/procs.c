/*
 * procs.c - threads could run, and had no proc.
 *
 * A turn is the time from when a thread is taken off its proc, though it could go on, until it is on one again.
 * The turns that are selected are the rows of kind `preempted` of the table sched_latency.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "parts.h"
#include "print.h"
#include "procs_left.h"

struct turns {
	int64_t *left_ns,
		*without_ns; /* by row of thread; left_ns: when a turn began, or TRC_NEVER */
	struct trc_index procs;
	uint32_t n_procs;
	int64_t ran_ns, sum_ns, longest_ns; /* sum_ns: of without_ns */
	struct trc_finding finding;
	/* For own_fault(). */
	struct trc_procs steps;
	double *own_before_ns; /* by step; see there */
	double own_ns;
	bool mostly_own; /* the program's threads ran on these procs meanwhile */
};

/* What is selected of a stretch of a thread's time, which has the labels of its begin. */
static int64_t selected_ns(const struct trc_report *r, uint32_t thread, int64_t from_ns,
			   int64_t to_ns)
{
	if (r->selection && r->selection->labels &&
	    !trc_selection_passes(r->selection, r->m,
				  trc_model_labels_at(r->m, thread, from_ns, TRC_PLACE_LAST)))
		return 0;
	return trc_selection_ns(r->selection, thread, from_ns, to_ns);
}

typedef void turn_fn(struct turns *t, const struct trc_report *r, uint32_t row, int64_t from_ns,
		     int64_t to_ns);

/* Of each turn that has ended. */
static void each_turn(struct turns *t, const struct trc_report *r, turn_fn *fn)
{
	size_t n;
	const struct trc_on_cpu *row = trc_model_on_cpu(r->m, &n);

	for (size_t i = 0; i < r->n_threads; i++)
		t->left_ns[i] = TRC_NEVER;
	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *thread = trc_model_thread(r->m, row[i].thread);
		int64_t end_ns = row[i].end_ns == TRC_NEVER ? r->end_ns : row[i].end_ns, *left_ns;

		if (!thread)
			continue;
		left_ns = &t->left_ns[thread - r->thread];
		if (*left_ns != TRC_NEVER && row[i].start_ns != TRC_NEVER &&
		    row[i].start_ns > *left_ns)
			fn(t, r, (uint32_t)(thread - r->thread), *left_ns, row[i].start_ns);
		*left_ns = row[i].preempted ? end_ns : TRC_NEVER;
	}
}

static void add_turn(struct turns *t, const struct trc_report *r, uint32_t row, int64_t from_ns,
		     int64_t to_ns)
{
	int64_t ns = selected_ns(r, r->thread[row].serial, from_ns, to_ns);

	trc_report_add(&t->without_ns[row], ns);
	trc_report_add(&t->sum_ns, ns);
	if (ns <= t->longest_ns)
		return;
	t->longest_ns = ns;
	t->finding.thread = r->thread[row].serial;
	t->finding.start_ns = trc_report_later_ns(r, from_ns);
	t->finding.end_ns = trc_report_earlier_ns(r, to_ns);
}

/* How long threads ran, and on how many procs. */
static int add_runs(struct turns *t, const struct trc_report *r)
{
	size_t n;
	const struct trc_on_cpu *row = trc_model_on_cpu(r->m, &n);

	for (size_t i = 0; i < n; i++) {
		int64_t end_ns = row[i].end_ns == TRC_NEVER ? r->end_ns : row[i].end_ns;

		if (!trc_model_thread(r->m, row[i].thread))
			continue;
		if (row[i].start_ns != TRC_NEVER && end_ns > row[i].start_ns)
			trc_report_add(&t->ran_ns,
				       selected_ns(r, row[i].thread, row[i].start_ns, end_ns));
		if (!trc_index_number(&t->procs, row[i].proc))
			return -ENOMEM;
	}
	t->n_procs = (uint32_t)t->procs.n;
	return 0;
}

/* Threads that waited next to nothing beside the others are none of those that are short of procs. */
static uint32_t count_short(const struct turns *t, const struct trc_report *r, int64_t *alive_ns)
{
	uint32_t n = 0, n_short = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		n += t->without_ns[i] > 0;
	for (size_t i = 0; i < r->n_threads; i++) {
		if (!t->without_ns[i] || t->without_ns[i] < t->sum_ns / n / 10)
			continue;
		n_short++;
		trc_report_add(alive_ns, trc_report_lifetime_ns(r, &r->thread[i]));
	}
	return n_short;
}

/* Those of which some time is wanted. */
static uint32_t count_wanted(const struct trc_report *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		n += !r->selection || trc_report_lifetime_ns(r, &r->thread[i]) > 0;
	return n;
}

/*
 * ---- who had the procs meanwhile ----
 *
 * If more of the program's threads could run than there are procs, so many wait whoever else runs.  Of a thread
 * that waits, its share of that counts: own_before_ns is what it would have by a step, if it waited all the time.
 */
static double own_share(const struct turns *t, const struct trc_procs_step *step)
{
	int64_t many = step->running + step->waiting - t->n_procs;

	if (many <= 0 || step->waiting <= 0)
		return 0;
	return many < step->waiting ? (double)many / (double)step->waiting : 1;
}

static double own_until_ns(const struct turns *t, int64_t ts_ns)
{
	const struct trc_procs_step *first = t->steps.steps.row;
	const struct trc_procs_step *step = trc_procs_step_at(&t->steps, ts_ns);

	if (!step)
		return 0;
	return t->own_before_ns[step - first] + own_share(t, step) * (double)(ts_ns - step->ts_ns);
}

static void add_own(struct turns *t, const struct trc_report *r, uint32_t row, int64_t from_ns,
		    int64_t to_ns)
{
	uint32_t thread = r->thread[row].serial;
	int64_t at_ns = from_ns, start_ns, end_ns;

	if (!selected_ns(r, thread, from_ns, to_ns))
		return;
	while (trc_selection_next(r->selection, thread, &at_ns, to_ns, &start_ns, &end_ns))
		t->own_ns += own_until_ns(t, end_ns) - own_until_ns(t, start_ns);
}

static int own_fault(struct turns *t, const struct trc_report *r)
{
	int err = trc_procs_of(&t->steps, r);
	const struct trc_procs_step *step = t->steps.steps.row;

	t->own_before_ns = calloc(t->steps.steps.n + 1, sizeof(*t->own_before_ns));
	if (err || !t->own_before_ns)
		return -ENOMEM;
	for (size_t i = 1; i < t->steps.steps.n; i++)
		t->own_before_ns[i] =
			t->own_before_ns[i - 1] +
			own_share(t, &step[i - 1]) * (double)(step[i].ts_ns - step[i - 1].ts_ns);
	each_turn(t, r, add_own);
	return 0;
}

/* ---- the finding ---- */

/* Who ran instead, as the table sched_latency has it: of the rows that are selected as a whole. */
static int turns_set_why(struct trc_report *r, struct turns *t)
{
	size_t n;
	const struct trc_latency *latency;
	struct trc_error error;
	int64_t own_ns = 0, sum_ns = 0;
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err = trc_model_need(r->m, TRC_PART_LATENCIES, &error);

	if (err)
		return err;
	latency = trc_model_latencies(r->m, &n);
	for (size_t i = 0; i < n; i++) {
		int64_t ns = latency[i].running_ns - latency[i].woken_ns;

		if (latency[i].kind != TRC_LATENCY_PREEMPTED ||
		    selected_ns(r, latency[i].thread, latency[i].woken_ns, latency[i].running_ns) !=
			    ns)
			continue;
		trc_report_add(&own_ns, latency[i].own_ns);
		trc_report_add(&sum_ns, ns);
	}
	if (!own_ns)
		return 0;
	trc_finding_line(&line);
	trc_line_add(&line, "for %s, another of the program's threads ran on that proc%s",
		     trc_text_share(share, own_ns, sum_ns),
		     own_ns < sum_ns ? "; else other programs or the kernel did" : "");
	trc_finding_set_why(&t->finding, &line);
	t->mostly_own = own_ns >= sum_ns / 2;
	return 0;
}

/* How many the machine has; 0 = not known.  The threads may be kept to fewer, or were on fewer by chance. */
static uint64_t procs_of_machine(const struct trc_report *r)
{
	const char *text = trc_reader_info_get(r->reader, "procs");

	return text ? strtoull(text, NULL, 10) : 0;
}

static int turns_tell(struct turns *t, struct trc_report *r, struct trc_array *out,
		      uint32_t n_short, int64_t could_ns)
{
	uint32_t n_threads = count_wanted(r);
	char number[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;
	char of[24] = "";
	uint64_t n_procs;
	int err = own_fault(t, r);

	if (!err)
		err = turns_set_why(r, t);
	trc_finding_line(&line);
	if (t->own_ns < (double)t->sum_ns / 2 && !t->mostly_own) {
		t->finding.kind = TRC_FINDING_PROCS_TAKEN;
		trc_line_add(&line, "other programs had the procs: ");
	}
	if (n_short <= t->n_procs && n_short < n_threads)
		trc_line_add(&line, "%u of ", n_short); /* what ran instead are others */
	trc_finding_threads(&line, n_short > t->n_procs ? n_short : n_threads);
	n_procs = procs_of_machine(r);
	if (t->n_procs < n_procs)
		snprintf(of, sizeof(of), " of %" PRIu64, n_procs);
	trc_line_add(&line, " on %u%s proc%s waited %s to run, %s of the time that %s could",
		     t->n_procs, of, t->n_procs == 1 && !*of ? "" : "s",
		     trc_text_duration(number, t->sum_ns),
		     trc_text_share(share, t->sum_ns, could_ns), n_short == 1 ? "it" : "they");
	t->finding.cost_ns = t->sum_ns;
	trc_finding_sql_add(&t->finding,
			    "SELECT thread, sum(latency_ns) AS without_ns FROM sched_latency WHERE "
			    "kind = 'preempted' GROUP BY thread ORDER BY 2 DESC");
	return err ? err : trc_finding_add(out, &t->finding, &line);
}

int trc_find_short_procs(struct trc_report *r, struct trc_array *out)
{
	struct turns t = {.finding = {.kind = TRC_FINDING_PROCS, .severity = TRC_SEVERITY_COST}};
	int64_t could_ns, alive_ns = 0;
	uint32_t n_short;
	int err;

	t.left_ns = calloc(r->n_threads + 1, sizeof(*t.left_ns));
	t.without_ns = calloc(r->n_threads + 1, sizeof(*t.without_ns));
	err = t.left_ns && t.without_ns ? add_runs(&t, r) : -ENOMEM;
	if (!err)
		each_turn(&t, r, add_turn);
	could_ns = t.ran_ns;
	trc_report_add(&could_ns, t.sum_ns);
	n_short = !err && t.sum_ns > 0 ? count_short(&t, r, &alive_ns) : 0;
	/* G4, G3 */
	if (n_short && t.sum_ns >= could_ns / 5 && t.sum_ns >= alive_ns / 100)
		err = turns_tell(&t, r, out, n_short, could_ns);
	trc_index_free(&t.procs);
	trc_procs_free(&t.steps);
	free(t.own_before_ns);
	free(t.left_ns);
	free(t.without_ns);
	return err;
}
