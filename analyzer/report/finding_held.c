/*
 * finding_held.c - what the holders of a lock did while others waited for it.
 *
 * What they did is what the causes of these waits say, one step down: the piece of a wait in which a
 * thread held the lock and slept is that thread's blocking, whatever it slept for.
 */
#include "finding_parts.h"
#include "why_words.h"

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
		    size_t n_waits)
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
	trc_finding_set_why(f, &line);
}

int trc_finding_explain(struct trc_report *r, struct trc_finding *f, const struct trc_array *waits)
{
	struct followed followed = {0};
	int err = trc_why_tree_begin(&followed.tree, r);

	if (!err)
		err = follow(r, waits, &followed);
	if (!err && followed.held.all_ns > 0) {
		f->kind = kind_of(&followed.held);
		set_why(r, f, &followed, waits->n);
	}
	trc_why_tree_free(&followed.tree);
	return err;
}
