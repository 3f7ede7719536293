/*
 * finding_held.c - what the holders of a lock did while others waited for it.
 *
 * What they did is what the causes of these waits say, one step down: the piece of a wait in which a
 * thread held the lock and slept is that thread's blocking, whatever it slept for.
 */
#include "finding_parts.h"
#include "procs.h"
#include "why_words.h"

/* Time of the waits, by what the thread did that they depended on. */
struct held {
	int64_t all_ns, blocked_ns, preempted_ns;
	int64_t handed_ns; /* nobody held the lock: who was to have it had to be woken first, */
	int64_t queued_ns; /* ... or had no proc */
};

/* Who is woken and finds a proc runs sooner than that; who does not, if other programs have the procs. */
enum { LATE_NS = 1000000 };

static int64_t queued_ns_of(const struct trc_procs *procs, int64_t from_ns, int64_t to_ns)
{
	if (procs->steps.n && to_ns - from_ns >= LATE_NS)
		return to_ns - from_ns;
	return trc_procs_taken_ns(procs, from_ns, to_ns);
}

static void count_held(struct held *held, const struct trc_procs *procs,
		       const struct trc_cause *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t ns = row[i].to_ns - row[i].from_ns, taken_ns;

		if (!row[i].depth)
			trc_report_add(&held->all_ns, ns);
		if (row[i].depth != 1)
			continue;
		if (row[i].kind == TRC_CAUSE_FREE || row[i].kind == TRC_CAUSE_WAKING) {
			taken_ns = queued_ns_of(procs, row[i].from_ns, row[i].to_ns);
			trc_report_add(&held->queued_ns, taken_ns);
			trc_report_add(&held->handed_ns, ns - taken_ns);
		} else if (row[i].kind == TRC_CAUSE_PREEMPTED) {
			trc_report_add(&held->preempted_ns, ns);
		} else if (row[i].reason && trc_wait_class(row[i].reason) != TRC_WAIT_LOCKS) {
			trc_report_add(&held->blocked_ns, ns);
		}
	}
}

/* The largest; threads without a proc are one cause, whether they held the lock or were to have it. */
static uint8_t kind_of(const struct held *held)
{
	int64_t no_proc_ns = held->preempted_ns, other_ns = held->all_ns, most_ns;
	uint8_t kind = TRC_FINDING_LOCK;

	trc_report_add(&no_proc_ns, held->queued_ns);
	other_ns -= no_proc_ns + held->blocked_ns + held->handed_ns; /* the holders ran */
	most_ns = other_ns;
	if (held->blocked_ns > most_ns) {
		kind = TRC_FINDING_LOCK_BLOCKING;
		most_ns = held->blocked_ns;
	}
	if (held->handed_ns > most_ns) {
		kind = TRC_FINDING_LOCK_CONVOY;
		most_ns = held->handed_ns;
	}
	if (no_proc_ns > most_ns)
		kind = held->preempted_ns >= held->queued_ns ? TRC_FINDING_LOCK_PREEMPTED
							     : TRC_FINDING_LOCK_PROCS;
	return kind;
}

/* Of so many waits, and so many rows of their causes, no more than that are followed: a report must
 * not take as long as the table of all causes. */
enum { WAITS_FOLLOWED = 10000, ROWS_FOLLOWED = 2000000 };

struct followed {
	struct trc_why_tree tree;
	struct held held;
	struct trc_procs procs;
	size_t waits; /* of those that are explained */
};

/* Of a wait of the report, which may be a part of one. */
static int causes_of(const struct trc_report *r, struct trc_causes *causes, uint32_t park,
		     const struct trc_cause **row, size_t *n)
{
	if (trc_selection_has_all_time(r->selection))
		return trc_causes_of_wait(causes, trc_report_park_id(r, park), row, n);
	return trc_causes_of_thread(causes, r->park[park].thread,
				    trc_park_start_ns(r->m, &r->park[park]),
				    trc_park_end_ns(r->m, &r->park[park]), row, n);
}

/* Every wait, or one in so many. */
static int follow(struct trc_report *r, const struct trc_array *waits, struct followed *followed)
{
	const uint32_t *park = waits->row;
	size_t step = waits->n / WAITS_FOLLOWED + 1, n_rows = 0;
	struct trc_causes *causes;
	int err = trc_report_causes(r, &causes);

	for (size_t i = 0; i < waits->n && !err && n_rows < ROWS_FOLLOWED; i += step) {
		const struct trc_cause *row;
		size_t n;

		err = causes_of(r, causes, park[i], &row, &n);
		if (err)
			break;
		count_held(&followed->held, &followed->procs, row, n);
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
	case TRC_FINDING_LOCK_PROCS:
		*words = "nobody held the lock: who had been woken for it had no processor";
		return held->queued_ns;
	default:
		*words = "";
		return 0;
	}
}

/* What most of the waiting was due to: one thread at one place, if there is such a one; and what the
 * kind rests on, where that is more. */
static void set_why(struct trc_report *r, struct trc_finding *f, const struct followed *followed,
		    size_t n_waits)
{
	const struct held *held = &followed->held;
	const struct trc_why_tree *tree = &followed->tree;
	uint32_t waits = trc_why_tree_largest_below(tree, 1);
	bool nobody = f->kind == TRC_FINDING_LOCK_CONVOY || f->kind == TRC_FINDING_LOCK_PROCS;
	uint32_t first = nobody ? 0 : trc_why_tree_most_of(tree, waits);
	const char *words;
	int64_t kind_ns = of_kind(held, f->kind, &words);
	char some[TRC_NUMBER_BYTES], all[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!first && !*words && held->preempted_ns <= held->all_ns / 5)
		return;
	trc_finding_line(&line);
	if (followed->waits < n_waits)
		trc_line_add(&line,
			     "in %s of the %s waits: ", trc_text_count(some, followed->waits),
			     trc_text_count(all, n_waits));
	if (first)
		trc_finding_chain(r, &line, tree, waits);
	if (*words &&
	    (!first || kind_ns > trc_why_tree_node(tree, first)->total_ns + held->all_ns / 50))
		trc_line_add(&line, "%sfor %s, %s", first ? "; in all " : "",
			     trc_text_share(some, kind_ns, held->all_ns), words);
	/* What is not the largest part, and that other words would not tell. */
	if (f->kind != TRC_FINDING_LOCK_PREEMPTED && held->preempted_ns > held->all_ns / 5)
		trc_line_add(&line, "%sfor %s, holders had no processor",
			     first || *words ? "; " : "",
			     trc_text_share(some, held->preempted_ns, held->all_ns));
	trc_finding_set_why(f, &line);
}

int trc_finding_explain(struct trc_report *r, struct trc_finding *f, const struct trc_array *waits)
{
	struct followed followed = {0};
	int err = trc_why_tree_begin(&followed.tree, r);

	if (!err)
		err = trc_procs_of(&followed.procs, r);
	if (!err)
		err = follow(r, waits, &followed);
	if (!err && followed.held.all_ns > 0) {
		f->kind = kind_of(&followed.held);
		set_why(r, f, &followed, waits->n);
	}
	trc_why_tree_free(&followed.tree);
	trc_procs_free(&followed.procs);
	return err;
}

int trc_finding_follow(struct trc_report *r, struct trc_finding *f, const struct trc_array *waits)
{
	struct followed followed = {0};
	struct trc_line line;
	int err = trc_why_tree_begin(&followed.tree, r);

	if (!err)
		err = follow(r, waits, &followed);
	trc_finding_line(&line);
	if (!err && trc_finding_chain(r, &line, &followed.tree,
				      trc_why_tree_largest_below(&followed.tree, 1)))
		trc_finding_set_why(f, &line);
	trc_why_tree_free(&followed.tree);
	return err;
}
