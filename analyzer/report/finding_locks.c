/*
 * finding_locks.c - waits for locks at one place, and what their holders did meanwhile.
 *
 * What they did is what the causes of these waits say, one step down: the piece of a wait in which a
 * thread held the lock and slept is that thread's blocking, whatever it slept for.
 */
#include <stdlib.h>
#include "finding_parts.h"
#include "why_words.h"

/* Such waits have their own finding. */
static bool is_deadlocked(const struct trc_report *r, const struct trc_park *park)
{
	size_t n;
	const struct trc_deadlock *row = trc_model_deadlocks(r->m, &n);

	if (park->end_ns != TRC_NEVER)
		return false;
	for (size_t i = 0; i < n; i++)
		if (row[i].thread == park->thread)
			return true;
	return false;
}

/* ---- what the holders did ---- */

/* Time of the waits, by what the thread did that they depended on. */
struct held {
	int64_t all_ns, blocked_ns, preempted_ns, handed_ns;
};

static void count_held(struct held *held, const struct trc_cause *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t ns = row[i].to_ns - row[i].from_ns;

		if (!row[i].depth)
			trc_report_add(&held->all_ns, ns);
		if (row[i].depth != 1)
			continue;
		if (row[i].kind == TRC_CAUSE_FREE || row[i].kind == TRC_CAUSE_WAKING)
			trc_report_add(&held->handed_ns, ns);
		else if (row[i].kind == TRC_CAUSE_PREEMPTED)
			trc_report_add(&held->preempted_ns, ns);
		else if (row[i].reason && trc_wait_class(row[i].reason) != TRC_WAIT_LOCKS)
			trc_report_add(&held->blocked_ns, ns);
	}
}

static uint8_t kind_of(const struct held *held)
{
	if (held->blocked_ns > held->all_ns / 2)
		return TRC_FINDING_LOCK_BLOCKING;
	if (held->preempted_ns > held->all_ns / 5)
		return TRC_FINDING_LOCK_PREEMPTED;
	if (held->handed_ns > held->all_ns / 2)
		return TRC_FINDING_LOCK_CONVOY;
	return TRC_FINDING_LOCK;
}

/* Of so many waits, and so many rows of their causes, no more than that are followed: a report must
 * not take as long as the table of all causes. */
enum { WAITS_FOLLOWED = 10000, ROWS_FOLLOWED = 2000000 };

struct followed {
	struct trc_why_tree tree;
	struct held held;
	uint64_t waits; /* of those of the group */
};

/* Every wait of the group, or one in so many. */
static int follow(struct trc_report *r, const struct trc_groups *g, const struct trc_group *group,
		  struct followed *followed)
{
	uint32_t id = (uint32_t)(group - (const struct trc_group *)g->groups.row) + 1;
	uint64_t step = group->waits / WAITS_FOLLOWED + 1, nth = 0;
	size_t n_rows = 0;
	struct trc_causes *causes;
	int err = trc_report_causes(r, &causes);

	for (size_t i = 0; i < r->n_parks && !err && n_rows < ROWS_FOLLOWED; i++) {
		const struct trc_cause *row;
		size_t n;

		if (g->of_row[i] != id || nth++ % step || is_deadlocked(r, &r->park[i]))
			continue;
		err = trc_causes_of_wait(causes, trc_report_park_id(r, i), &row, &n);
		if (err)
			break;
		count_held(&followed->held, row, n);
		err = trc_why_tree_add(&followed->tree, row, n);
		followed->waits++;
		n_rows += n;
	}
	return err;
}

/* What the kind rests on: how much of the waiting the holders were in it. */
static int64_t of_kind(const struct held *held, unsigned int kind, const char **words)
{
	switch (kind) {
	case TRC_FINDING_LOCK_BLOCKING:
		*words = "holders blocked";
		return held->blocked_ns;
	case TRC_FINDING_LOCK_PREEMPTED:
		*words = "holders could have run, but had no processor";
		return held->preempted_ns;
	case TRC_FINDING_LOCK_CONVOY:
		*words = "nobody held the lock: who had been woken for it did not run yet";
		return held->handed_ns;
	default:
		*words = "";
		return 0;
	}
}

/* What most of the waiting was due to: one thread at one place, if there is such a one; and what the
 * kind rests on, where that is more. */
static void set_why(struct trc_report *r, struct trc_finding *f, const struct followed *followed,
		    const struct trc_group *group)
{
	const struct held *held = &followed->held;
	const struct trc_why_tree *tree = &followed->tree;
	uint32_t waits = trc_why_tree_largest_below(tree, 1);
	uint32_t first = f->kind == TRC_FINDING_LOCK_CONVOY ? 0 : trc_why_tree_most_of(tree, waits);
	const char *words;
	int64_t kind_ns = of_kind(held, f->kind, &words);
	char some[TRC_NUMBER_BYTES], all[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!first && !*words)
		return;
	trc_finding_line(&line);
	if (followed->waits < group->waits)
		trc_line_add(&line,
			     "in %s of the %s waits: ", trc_text_count(some, followed->waits),
			     trc_text_count(all, group->waits));
	if (first)
		trc_finding_chain(r, &line, tree, waits);
	if (*words &&
	    (!first || kind_ns > trc_why_tree_node(tree, first)->total_ns + held->all_ns / 50))
		trc_line_add(&line, "%sfor %s, %s", first ? "; in all " : "",
			     trc_text_share(some, kind_ns, held->all_ns), words);
	trc_finding_set_why(f, &line);
}

static int explain(struct trc_report *r, const struct trc_groups *g, const struct trc_group *group,
		   struct trc_finding *f)
{
	struct followed followed = {0};
	int err = trc_why_tree_begin(&followed.tree, r);

	if (!err)
		err = follow(r, g, group, &followed);
	if (!err && followed.held.all_ns > 0) {
		f->kind = kind_of(&followed.held);
		set_why(r, f, &followed, group);
	}
	trc_why_tree_free(&followed.tree);
	return err;
}

/* ---- the sentence ---- */

/* Range, thread and id of the group's longest wait.  Returns how long its threads waited in
 * deadlocks. */
static int64_t find_longest(const struct trc_report *r, const struct trc_groups *g,
			    const struct trc_group_details *d, struct trc_finding *f)
{
	uint32_t id = (uint32_t)(d->group - (const struct trc_group *)g->groups.row) + 1;
	int64_t longest_ns = -1, deadlocked_ns = 0;

	for (size_t i = 0; i < r->n_parks; i++) {
		int64_t start_ns, end_ns;

		if (g->of_row[i] != id)
			continue;
		start_ns = trc_park_start_ns(r->m, &r->park[i]);
		end_ns = trc_park_end_ns(r->m, &r->park[i]);
		if (is_deadlocked(r, &r->park[i])) {
			deadlocked_ns += end_ns - start_ns;
			continue;
		}
		if (end_ns - start_ns <= longest_ns)
			continue;
		longest_ns = end_ns - start_ns;
		f->thread = r->park[i].thread;
		f->start_ns = start_ns;
		f->end_ns = end_ns;
		f->park = trc_report_park_id(r, i);
	}
	return deadlocked_ns;
}

static void lock_sentence(struct trc_report *r, struct trc_line *line,
			  const struct trc_group_details *d)
{
	int64_t total_ns = d->group->total_ns;
	int64_t caused_ns = d->by_stack ? d->by_stack_ns : d->by_thread_ns;
	char total[TRC_NUMBER_BYTES], caused[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	trc_text_duration(total, total_ns);
	if (d->n_by_threads) {
		if (d->by_stack)
			trc_report_place(r, line, d->by_stack);
		else
			trc_report_thread(r, line, d->by_thread, 30);
		trc_line_add(line, " caused %s of the %s that ",
			     trc_text_duration(caused, caused_ns), total);
		trc_finding_threads(line, d->n_threads);
		trc_line_add(line, " waited for ");
		trc_report_what(r, line, d);
	} else {
		trc_finding_threads(line, d->n_threads);
		trc_line_add(line, " waited %s for ", total);
		trc_report_what(r, line, d);
		trc_line_add(line, " at ");
		trc_report_place(r, line, d->group->stack);
	}
	trc_line_add(line, ", %s of %s time", trc_text_share(share, total_ns, d->threads_ns),
		     d->n_threads == 1 ? "its" : "their");
}

static bool is_of_interpreter(struct trc_report *r, const struct trc_finding *f)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);

	return f->park && trc_interpreter_of(r, &park[f->park - 1]);
}

int trc_find_locks(struct trc_report *r, struct trc_array *out)
{
	struct trc_groups g;
	int err = trc_groups_of_parks(&g, r, TRC_FINDINGS_LOCKS);

	for (size_t i = 0; !err && i < g.n_of[TRC_WAIT_LOCKS]; i++) {
		const struct trc_group_details *d = trc_groups_details(&g, TRC_WAIT_LOCKS) + i;
		struct trc_finding f = {.kind = TRC_FINDING_LOCK, .severity = TRC_SEVERITY_COST};
		struct trc_line line;

		f.cost_ns = d->group->total_ns - find_longest(r, &g, d, &f);
		if (f.cost_ns <= 0 || f.cost_ns < d->threads_ns / 100) /* G3 */
			continue;
		if (is_of_interpreter(r, &f))
			continue;
		err = explain(r, &g, d->group, &f);
		if (err)
			break;
		trc_finding_sql_parks(r, &f, d->group->reason, d->group->stack, d->object);
		trc_finding_line(&line);
		lock_sentence(r, &line, d);
		err = trc_finding_add(out, &f, &line);
	}
	trc_groups_free(&g);
	return err;
}
