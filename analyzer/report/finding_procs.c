/* finding_procs.c - threads could run, and had no proc. */
#include <errno.h>
#include <stdlib.h>
#include "finding_parts.h"
#include "procs.h"

/* Of a thread, by its row. */
struct turn {
	int64_t left_ns; /* when it was taken off its proc, though it could go on; or TRC_NEVER */
	int64_t without_ns;
};

struct turns {
	struct turn *turn;
	struct trc_index procs;
	uint32_t n_procs;
	int64_t ran_ns, without_ns, longest_ns;
	struct trc_finding finding;
};

static int add_turn(struct turns *t, struct turn *turn, const struct trc_on_cpu *row,
		    int64_t trace_end_ns)
{
	int64_t end_ns = row->end_ns == TRC_NEVER ? trace_end_ns : row->end_ns;

	if (turn->left_ns != TRC_NEVER && row->start_ns != TRC_NEVER &&
	    row->start_ns > turn->left_ns) {
		int64_t ns = row->start_ns - turn->left_ns;

		trc_report_add(&turn->without_ns, ns);
		trc_report_add(&t->without_ns, ns);
		if (ns > t->longest_ns) {
			t->longest_ns = ns;
			t->finding.thread = row->thread;
			t->finding.start_ns = turn->left_ns;
			t->finding.end_ns = row->start_ns;
		}
	}
	turn->left_ns = row->preempted ? end_ns : TRC_NEVER;
	if (row->start_ns != TRC_NEVER && end_ns > row->start_ns)
		trc_report_add(&t->ran_ns, end_ns - row->start_ns);
	if (trc_index_get(&t->procs, row->proc) != TRC_INDEX_NONE)
		return 0;
	return trc_index_put(&t->procs, row->proc, t->n_procs++);
}

static int add_turns(struct turns *t, const struct trc_report *r)
{
	size_t n;
	const struct trc_on_cpu *row = trc_model_on_cpu(r->m, &n);
	int err = 0;

	t->turn = calloc(r->n_threads + 1, sizeof(*t->turn));
	if (!t->turn)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_threads; i++)
		t->turn[i].left_ns = TRC_NEVER;
	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_thread *thread = trc_model_thread(r->m, row[i].thread);

		if (thread)
			err = add_turn(t, &t->turn[thread - r->thread], &row[i], r->end_ns);
	}
	return err;
}

/* Threads that waited next to nothing beside the others are none of those that are short of procs. */
static uint32_t count_short(const struct turns *t, const struct trc_report *r, int64_t *alive_ns)
{
	uint32_t n = 0, n_short = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		n += t->turn[i].without_ns > 0;
	for (size_t i = 0; i < r->n_threads; i++) {
		if (!t->turn[i].without_ns || t->turn[i].without_ns < t->without_ns / n / 10)
			continue;
		n_short++;
		trc_report_add(alive_ns, trc_report_lifetime_ns(r, &r->thread[i]));
	}
	return n_short;
}

/*
 * ---- who had the procs meanwhile ----
 *
 * If more of the program's threads could run than there are procs, so many wait whoever else runs.
 */
static int own_fault(const struct turns *t, const struct trc_report *r, int64_t *own_ns)
{
	struct trc_procs procs;
	int err = trc_procs_of(&procs, r);
	const struct trc_procs_step *step = procs.steps.row;

	*own_ns = 0;
	for (size_t i = 0; i + 1 < procs.steps.n && !err; i++) {
		int64_t ns = step[i + 1].ts_ns - step[i].ts_ns;
		int64_t many = step[i].running + step[i].waiting - t->n_procs, all_ns;

		if (many > step[i].waiting)
			many = step[i].waiting;
		if (many > 0 && ns > 0)
			trc_report_add(own_ns, __builtin_mul_overflow(ns, many, &all_ns) ? INT64_MAX
											 : all_ns);
	}
	trc_procs_free(&procs);
	return err;
}

static int find_short_procs(struct trc_report *r, struct trc_array *out)
{
	struct turns t = {.finding = {.kind = TRC_FINDING_PROCS, .severity = TRC_SEVERITY_COST}};
	int err = add_turns(&t, r);
	int64_t could_ns = t.ran_ns, alive_ns = 0, own_ns;
	uint32_t n_short = err ? 0 : count_short(&t, r, &alive_ns);
	char number[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_report_add(&could_ns, t.without_ns);
	/* G4, G3 */
	if (!err && t.without_ns > 0 && t.without_ns >= could_ns / 5 &&
	    t.without_ns >= alive_ns / 100) {
		err = own_fault(&t, r, &own_ns);
		trc_finding_line(&line);
		if (own_ns < t.without_ns / 2) {
			t.finding.kind = TRC_FINDING_PROCS_TAKEN;
			trc_line_add(&line, "other programs had the procs: ");
		}
		if (n_short <= t.n_procs && n_short < r->n_threads)
			trc_line_add(&line, "%u of ", n_short); /* what ran instead are others */
		trc_finding_threads(&line, n_short > t.n_procs ? n_short : r->n_threads);
		trc_line_add(&line, " on %u proc%s waited %s to run, %s of the time that %s could",
			     t.n_procs, t.n_procs == 1 ? "" : "s",
			     trc_text_duration(number, t.without_ns),
			     trc_text_share(share, t.without_ns, could_ns),
			     n_short == 1 ? "it" : "they");
		t.finding.cost_ns = t.without_ns;
		trc_finding_sql_add(
			&t.finding,
			"SELECT thread, sum(next_ns - end_ns) AS without_ns FROM "
			"(SELECT thread, end_ns, preempted, lead(start_ns) OVER "
			"(PARTITION BY thread ORDER BY start_ns) AS next_ns FROM on_cpu) "
			"WHERE preempted AND next_ns > end_ns GROUP BY thread ORDER BY 2 "
			"DESC");
		if (!err)
			err = trc_finding_add(out, &t.finding, &line);
	}
	trc_index_free(&t.procs);
	free(t.turn);
	return err;
}

/* Not of a part of the trace: the procs are all threads'. */
int trc_find_short_procs(struct trc_report *r, struct trc_array *out)
{
	return r->selection ? 0 : find_short_procs(r, out);
}
