/*
 * held.c - what the holders of a lock did while others waited for it.
 *
 * The causes of these waits say what the holders did, one step down.  If a piece of a wait says that a
 * thread held the lock and slept, this is that thread's blocking, whatever it slept for.
 */
#include <errno.h>
#include <stdlib.h>
#include "parts.h"
#include "procs_left.h"
#include "analyzer/why/words.h"

/* Time of the waits, by what the thread did that they depended on. */
struct held {
	int64_t all_ns, blocked_ns, preempted_ns;
	int64_t handed_ns; /* nobody held the lock: who was to have it had to be woken first, */
	int64_t queued_ns; /* ... or had no proc */
	int64_t gone_ns;   /* the holder had ended, and never gave the lock back */
	bool spins; /* who waits is not woken: it takes a free lock at once, if it has a proc */
};

/* Who is woken and finds a proc runs sooner than that; who does not, if other programs have the procs. */
enum { LATE_NS = 1000000 };

/* Who spins has no need to be woken, and on a proc takes a free lock at once.  Nothing is known without switch records. */
static int64_t queued_ns_of(const struct trc_procs *procs, const struct trc_cause *row, int64_t ns)
{
	if (!procs->steps.n)
		return 0;
	if (ns >= LATE_NS || row->reason == TRC_REASON_SPIN)
		return ns;
	return trc_procs_taken_ns(procs, row->from_ns, row->to_ns);
}

static void held_add_times(int64_t *sum, int64_t ns, uint32_t times)
{
	if (__builtin_mul_overflow(ns, (int64_t)times, &ns))
		ns = INT64_MAX;
	trc_report_add(sum, ns);
}

/* A row of depth 1 of so many waits. */
static void count_row(struct held *held, const struct trc_procs *procs, const struct trc_cause *row,
		      uint32_t times)
{
	int64_t ns, taken_ns;

	if (__builtin_sub_overflow(row->to_ns, row->from_ns, &ns))
		ns = INT64_MAX;
	if (row->kind == TRC_CAUSE_FREE || row->kind == TRC_CAUSE_WAKING) {
		held->spins |= row->reason == TRC_REASON_SPIN;
		taken_ns = queued_ns_of(procs, row, ns);
		held_add_times(&held->queued_ns, taken_ns, times);
		held_add_times(&held->handed_ns, ns - taken_ns, times);
	} else if (row->kind == TRC_CAUSE_PREEMPTED) {
		held_add_times(&held->preempted_ns, ns, times);
	} else if (row->kind == TRC_CAUSE_GONE && !row->unlock) {
		held_add_times(&held->gone_ns, ns, times);
	} else if (row->reason && trc_wait_class(row->reason) != TRC_WAIT_LOCKS) {
		held_add_times(&held->blocked_ns, ns, times);
	}
}

static void count_wait(struct held *held, const struct trc_cause *head)
{
	int64_t ns;

	if (__builtin_sub_overflow(head->to_ns, head->from_ns, &ns))
		ns = INT64_MAX;
	trc_report_add(&held->all_ns, ns);
}

/* The largest; threads without a proc are one cause, whether they held the lock or were to have it. */
static uint8_t held_kind(const struct held *held)
{
	int64_t no_proc_ns = held->preempted_ns, other_ns = held->all_ns, most_ns, known_ns;
	int64_t nobody_ns = held->handed_ns;
	uint8_t kind = TRC_FINDING_LOCK;

	trc_report_add(&no_proc_ns, held->queued_ns);
	known_ns = no_proc_ns;
	trc_report_add(&known_ns, held->blocked_ns);
	trc_report_add(&known_ns, held->handed_ns);
	trc_report_add(&known_ns, held->gone_ns);
	other_ns -= known_ns; /* the holders ran */
	most_ns = other_ns;
	if (held->blocked_ns > most_ns) {
		kind = TRC_FINDING_LOCK_BLOCKING;
		most_ns = held->blocked_ns;
	}
	if (held->handed_ns > most_ns) {
		kind = TRC_FINDING_LOCK_CONVOY;
		most_ns = held->handed_ns;
	}
	if (held->gone_ns > most_ns) {
		kind = TRC_FINDING_ABANDONED_LOCK;
		most_ns = held->gone_ns;
	}
	if (no_proc_ns > most_ns)
		kind = held->preempted_ns >= held->queued_ns ? TRC_FINDING_LOCK_PREEMPTED
							     : TRC_FINDING_LOCK_PROCS;
	/* Nobody held it for most of the time, for two reasons: the larger of the two. */
	trc_report_add(&nobody_ns, held->queued_ns);
	if (kind == TRC_FINDING_LOCK && nobody_ns > other_ns)
		kind = held->handed_ns >= held->queued_ns ? TRC_FINDING_LOCK_CONVOY
							  : TRC_FINDING_LOCK_PROCS;
	return kind;
}

/* Of more rows of their causes than these, only some waits are followed, one by one, up to so many of them: a report must not
 * take as long as the table of all causes. */
enum { WAITS_FOLLOWED = 10000, ROWS_FOLLOWED = 2000000 };

struct followed {
	struct trc_why_tree tree; /* with what lies below its largest node */
	struct held held;
	struct trc_procs procs;
	size_t waits; /* of those that are explained */
};

/* ---- some waits, one by one ---- */

/* Every wait, or one in so many. */
static int follow_some(struct trc_report *r, const struct trc_array *waits,
		       struct followed *followed)
{
	const uint32_t *park = waits->row;
	size_t step = waits->n / WAITS_FOLLOWED + 1, n_rows = 0;
	int err = 0;

	for (size_t i = 0; i < waits->n && !err && n_rows < ROWS_FOLLOWED; i += step) {
		const struct trc_cause *row;
		size_t n;

		err = trc_report_causes_of_park(r, park[i], &row, &n);
		for (size_t j = 0; j < n && !err; j++) {
			if (!row[j].depth)
				count_wait(&followed->held, &row[j]);
			else if (row[j].depth == 1)
				count_row(&followed->held, &followed->procs, &row[j], 1);
		}
		if (!err)
			err = trc_why_tree_add(&followed->tree, row, n);
		followed->waits++;
		n_rows += n;
	}
	return err;
}

/* ---- all waits, together ---- */

static int add_together(void *context, const struct trc_cause *row,
			const struct trc_cause_times *times, size_t n)
{
	struct followed *followed = context;
	bool marked = false;

	for (size_t i = 1; i < n; i++) {
		marked |= times[i].n_marked > 0;
		if (row[i].depth == 1 && times[i].n)
			count_row(&followed->held, &followed->procs, &row[i], times[i].n);
	}
	return marked ? trc_why_tree_add_below(&followed->tree, row, times, n) : 0;
}

/* A chain begins at what most of the waits are for, and where: what is below other nodes nobody asks. */
static int mark_largest(struct followed *followed, struct trc_together *t, size_t n)
{
	uint32_t *node = calloc(n + 1, sizeof(*node)), largest;
	int err = node ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		struct trc_cause head;

		err = trc_together_head(t, i, &head);
		if (err)
			break;
		count_wait(&followed->held, &head);
		err = trc_why_tree_add(&followed->tree, &head, 1);
		node[i] = trc_why_tree_head(&followed->tree);
	}
	largest = err ? 0 : trc_why_tree_largest_below(&followed->tree, 1);
	for (size_t i = 0; i < n && largest; i++)
		if (node[i] == largest)
			trc_together_mark(t, i);
	free(node);
	return err;
}

static int follow_together(struct trc_report *r, struct followed *followed, const uint32_t *id,
			   size_t n)
{
	struct trc_causes *causes;
	struct trc_together *t = NULL;
	int err = trc_report_causes(r, &causes);

	if (!err)
		err = trc_together_open(&t, causes, id, n);
	if (!err)
		err = mark_largest(followed, t, n);
	if (!err)
		err = trc_together_rows(t, ROWS_FOLLOWED, add_together, followed);
	followed->waits = n;
	trc_together_close(t);
	return err;
}

static int follow_all(struct trc_report *r, const struct trc_array *waits,
		      struct followed *followed)
{
	const uint32_t *row = waits->row;
	uint32_t *id = calloc(waits->n + 1, sizeof(*id));
	int err;

	if (!id)
		return -ENOMEM;
	for (size_t i = 0; i < waits->n; i++)
		id[i] = trc_report_park_id(r, row[i]);
	err = follow_together(r, followed, id, waits->n);
	free(id);
	return err;
}

static int follow_waits(struct trc_report *r, const struct trc_array *waits,
			struct followed *followed)
{
	int err = -E2BIG;

	/* Parts of waits are followed one by one. */
	if (trc_selection_has_all_time(r->selection))
		err = follow_all(r, waits, followed);
	if (err != -E2BIG)
		return err;
	trc_why_tree_free(&followed->tree);
	followed->held = (struct held){0};
	followed->waits = 0;
	err = trc_why_tree_begin(&followed->tree, r);
	return err ? err : follow_some(r, waits, followed);
}

static int follow(struct trc_report *r, const struct trc_array *waits, struct followed *followed)
{
	int err = follow_waits(r, waits, followed);

	return err ? err : trc_why_tree_margins(&followed->tree);
}

/* What the kind rests on: how much of the waiting the holders were in it. */
static int64_t of_kind(const struct held *held, unsigned int kind, const char **words)
{
	int64_t nobody_ns = held->handed_ns;

	trc_report_add(&nobody_ns, held->queued_ns);
	if ((kind == TRC_FINDING_LOCK_CONVOY || kind == TRC_FINDING_LOCK_PROCS) &&
	    held->handed_ns > nobody_ns / 5 && held->queued_ns > nobody_ns / 5) {
		*words = held->spins
				 ? "nobody held the lock: who spun for it had not taken it yet, or "
				   "had no processor"
				 : "nobody held the lock: who had been woken for it did not run "
				   "yet, or had no processor";
		return nobody_ns;
	}
	switch (kind) {
	case TRC_FINDING_LOCK_BLOCKING:
		*words = "holders blocked";
		return held->blocked_ns;
	case TRC_FINDING_LOCK_PREEMPTED:
		*words = "holders could have run, but had no processor";
		return held->preempted_ns;
	case TRC_FINDING_LOCK_CONVOY:
		*words =
			held->spins
				? "nobody held the lock: who spun for it had not taken it yet"
				: "nobody held the lock: who had been woken for it did not run yet";
		return held->handed_ns;
	case TRC_FINDING_LOCK_PROCS:
		*words =
			held->spins
				? "nobody held the lock: who spun for it had no processor"
				: "nobody held the lock: who had been woken for it had no processor";
		return held->queued_ns;
	case TRC_FINDING_ABANDONED_LOCK:
		*words = "the lock's holder had ended without giving it back";
		return held->gone_ns;
	default:
		*words = "";
		return 0;
	}
}

/* What most of the waiting was due to: one thread at one place, if there is such a one; and what the
 * kind rests on, where that is more. */
static void held_set_why(struct trc_report *r, struct trc_finding *f,
			 const struct followed *followed, size_t n_waits)
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
	    (!first || kind_ns - held->all_ns / 50 > trc_why_tree_node(tree, first)->total_ns))
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
		f->kind = held_kind(&followed.held);
		held_set_why(r, f, &followed, waits->n);
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
