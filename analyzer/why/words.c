/* words.c - see words.h. */
#include "words.h"

enum { THREAD_WIDTH = 30 };

static void words_add_threads(struct trc_report *r, struct trc_line *line,
			      const struct trc_why_node *node)
{
	char number[TRC_NUMBER_BYTES];

	if (node->n_threads > 1)
		trc_line_add(line, "%s threads", trc_text_count(number, node->n_threads));
	else if (!node->key.thread)
		trc_line_add(line, "an unknown thread");
	else
		trc_report_thread(r, line, node->key.thread, THREAD_WIDTH);
}

/* Of one wait: the thread that is joined. */
static void add_joined(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);
	uint32_t i = node->key.park;

	if (node->n > 1 || !i || i > n || !park[i - 1].holder)
		return;
	trc_line_add(line, " ");
	trc_report_thread(r, line, park[i - 1].holder, THREAD_WIDTH);
}

/* In the call it ran, or had no proc, and waited for nobody: it came last to a barrier, or has not given the mutex of its condition
 * wait back yet. */
static bool is_in_call(const struct trc_cause *key)
{
	return (key->reason == TRC_REASON_BARRIER || key->reason == TRC_REASON_COND) &&
	       (key->kind == TRC_CAUSE_RUNNING || key->kind == TRC_CAUSE_ACTIVE ||
		key->kind == TRC_CAUSE_OFF);
}

static void words_add_wait(struct trc_report *r, struct trc_line *line,
			   const struct trc_why_node *node)
{
	const struct trc_cause *key = &node->key;

	/* timeline:P1: it was in the call, and waited for a proc. */
	trc_line_add(line, " %s %s",
		     key->kind == TRC_CAUSE_PREEMPTED || is_in_call(key) ? "in" : "for",
		     trc_reason_name(key->reason));
	if (key->reason == TRC_REASON_JOIN) {
		add_joined(r, line, node);
		return;
	}
	trc_report_waited(
		r, line,
		&(struct trc_waited){key->reason, key->object, key->stack, key->descriptor});
}

/* What the threads were in, after their names. */
static void add_state(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node)
{
	const struct trc_cause *key = &node->key;
	const char *words = trc_cause_words(key->kind);

	switch (key->kind) {
	case TRC_CAUSE_SLEEPING:
		if (key->reason == TRC_REASON_SLEEP) {
			trc_line_add(line, " slept");
			break;
		}
		trc_line_add(line, " waited up to a time limit");
		words_add_wait(r, line, node);
		break;
	case TRC_CAUSE_UNKNOWN:
	case TRC_CAUSE_LOST:
		trc_line_add(line, key->reason ? " waited" : " did what");
		if (key->reason)
			words_add_wait(r, line, node);
		trc_line_add(line,
			     !key->reason ? " %s"
			     : key->kind == TRC_CAUSE_LOST && trc_reason_is_lock(key->reason)
				     ? "; who held it %s"
				     : "; who ended that %s",
			     words);
		break;
	default:
		trc_line_add(line, " %s", words);
		if (key->reason)
			words_add_wait(r, line, node);
		/* It was in a call that waits. */
		if (key->reason == TRC_REASON_FUTEX && key->kind == TRC_CAUSE_ACTIVE)
			trc_line_add(line, ": it had changed already");
	}
}

void trc_why_words(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node)
{
	const struct trc_cause *key = &node->key;

	/* Who spins is not woken. */
	if (key->kind == TRC_CAUSE_FREE) {
		trc_line_add(line, "nobody held the lock: who %s had not taken it yet",
			     key->reason == TRC_REASON_SPIN ? "spun for it" : "had been woken");
		return;
	}
	if (key->kind == TRC_CAUSE_WAKING) {
		words_add_threads(r, line, node);
		trc_line_add(line, key->reason == TRC_REASON_SPIN
					   ? " spun, and had not taken the free lock yet"
					   : " had been woken, and did not run yet");
		return;
	}
	/* Of a lock, in sums over all that wait for it. */
	if (key->kind == TRC_CAUSE_LOST && !key->thread && node->n_threads <= 1) {
		trc_line_add(line, "who held the lock %s", trc_cause_words(key->kind));
		return;
	}
	words_add_threads(r, line, node);
	if (key->unlock)
		trc_line_add(line, " held the lock and");
	add_state(r, line, node);
}

void trc_why_instead(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node)
{
	char number[TRC_NUMBER_BYTES];

	if (node->key.kind != TRC_CAUSE_PREEMPTED)
		return;
	if (!node->n_instead) {
		if (node->n == 1 && !node->key.instead_ns)
			trc_line_add(line, "; no thread of the program ran there");
		return;
	}
	if (node->instead_ns < node->total_ns / 100 / node->n_instead) {
		trc_line_add(line, "; the program's threads ran there for less than 1%% of it");
		return;
	}
	trc_line_add(line, "; ");
	trc_report_thread(r, line, node->instead, THREAD_WIDTH);
	if (node->n_instead > 1)
		trc_line_add(line, " and %s other%s", trc_text_count(number, node->n_instead - 1),
			     node->n_instead > 2 ? "s" : "");
	trc_line_add(line, " ran instead");
	if (node->instead_ns < node->total_ns / 2)
		trc_line_add(line, "%s for %s of it", node->n_instead > 1 ? ", the first" : "",
			     trc_text_share(number, node->instead_ns, node->total_ns));
}

bool trc_why_has_place(const struct trc_why_node *node)
{
	return node->key.stack && node->key.kind != TRC_CAUSE_WAKING &&
	       node->key.kind != TRC_CAUSE_FREE;
}

void trc_why_share(struct trc_report *r, struct trc_line *line, const struct trc_why_tree *tree,
		   uint32_t id, int64_t whole_ns)
{
	const struct trc_why_node *node = trc_why_tree_node(tree, id);
	char number[TRC_NUMBER_BYTES], margin[TRC_NUMBER_BYTES];

	trc_text_margin(margin, node->margin_ns, whole_ns);
	trc_line_add(line, "%s%s%s, ", trc_text_share(number, node->total_ns, whole_ns),
		     *margin ? " " : "", margin);
	trc_why_words(r, line, node);
	if (trc_why_has_place(node)) {
		trc_line_add(line, node->key.stack_of == TRC_CAUSE_STACK_END ? ", up to " : " at ");
		trc_report_place(r, line, node->key.stack);
	}
	trc_why_instead(r, line, node);
}
