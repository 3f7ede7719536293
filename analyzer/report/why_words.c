/* why_words.c - see why_words.h. */
#include "why_words.h"

enum { THREAD_WIDTH = 30 };

static void add_threads(struct trc_report *r, struct trc_line *line,
			const struct trc_why_node *node)
{
	char number[TRC_NUMBER_BYTES];

	if (node->n_threads > 1)
		trc_line_add(line, "%s threads", trc_text_count(number, node->n_threads));
	else
		trc_report_thread(r, line, node->key.thread, THREAD_WIDTH);
}

static void add_wait(struct trc_report *r, struct trc_line *line, const struct trc_cause *key)
{
	trc_line_add(line, " for %s", trc_reason_name(key->reason));
	trc_report_waited(
		r, line,
		&(struct trc_waited){key->reason, key->object, key->stack, key->descriptor});
}

/* What the threads were in, after their names. */
static void add_state(struct trc_report *r, struct trc_line *line, const struct trc_cause *key)
{
	static const char *const state[TRC_CAUSE_KINDS] = {
		[TRC_CAUSE_WAITING] = "waited",
		[TRC_CAUSE_RUNNING] = "ran",
		[TRC_CAUSE_ACTIVE] = "did not wait",
		[TRC_CAUSE_PREEMPTED] = "could have run, but had no processor",
		[TRC_CAUSE_OFF] = "was off the processor, in no recorded wait",
		[TRC_CAUSE_SLEEPING] = "slept",
		[TRC_CAUSE_IO] = "waited",
		[TRC_CAUSE_OUTSIDE] = "waited",
		[TRC_CAUSE_UNWOKEN] = "waited, up to the trace's end,",
		[TRC_CAUSE_STARTING] = "had been created, and did not run yet",
		[TRC_CAUSE_GONE] = "had ended",
		[TRC_CAUSE_DEADLOCK] = "waits in turn for what is above, a deadlock:",
		[TRC_CAUSE_CYCLE] = "waited in turn for what is above:",
		[TRC_CAUSE_LOST] = "is not known: events were lost",
		[TRC_CAUSE_UNKNOWN] = "is not known",
		[TRC_CAUSE_DEEP] = "depends on more threads than are followed",
	};

	switch (key->kind) {
	case TRC_CAUSE_SLEEPING:
		if (key->reason == TRC_REASON_SLEEP) {
			trc_line_add(line, " slept");
			break;
		}
		trc_line_add(line, " waited up to its time limit");
		add_wait(r, line, key);
		break;
	case TRC_CAUSE_UNKNOWN:
	case TRC_CAUSE_LOST:
		trc_line_add(line, key->reason ? " waited" : " did what");
		if (key->reason)
			add_wait(r, line, key);
		trc_line_add(line, key->reason ? "; who ended that %s" : " %s", state[key->kind]);
		break;
	default:
		trc_line_add(line, " %s", state[key->kind]);
		if (key->reason)
			add_wait(r, line, key);
	}
}

void trc_why_words(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node)
{
	const struct trc_cause *key = &node->key;

	if (key->kind == TRC_CAUSE_FREE) {
		trc_line_add(line, "nobody held the lock: who had been woken had not taken it yet");
		return;
	}
	if (key->kind == TRC_CAUSE_WAKING) {
		add_threads(r, line, node);
		trc_line_add(line, " had been woken, and did not run yet");
		return;
	}
	add_threads(r, line, node);
	if (key->unlock)
		trc_line_add(line, " held the lock and");
	add_state(r, line, key);
}

bool trc_why_has_place(const struct trc_why_node *node)
{
	return node->key.stack && node->key.kind != TRC_CAUSE_WAKING &&
	       node->key.kind != TRC_CAUSE_FREE;
}

void trc_why_share(struct trc_report *r, struct trc_line *line, const struct trc_why_tree *tree,
		   uint32_t id)
{
	const struct trc_why_node *node = trc_why_tree_node(tree, id);
	char number[TRC_NUMBER_BYTES];

	trc_line_add(line, "%s, ", trc_text_share(number, node->total_ns, tree->total_ns));
	trc_why_words(r, line, node);
	if (!trc_why_has_place(node))
		return;
	trc_line_add(line, node->key.stack_of == TRC_CAUSE_STACK_END ? ", up to " : " at ");
	trc_report_place(r, line, node->key.stack);
}
